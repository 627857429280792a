// What can be compared, as the list of pairs and keys choose it (session/pair.h opens it); and how B is kept
// where the lock has it.
#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "app/compare/panels.h"

namespace tilescope::compare {

using input::along, input::Key, session::Pair, session::Recording, session::Session, session::Totals;
namespace {

// What the maps say of the inputs.
std::vector<LoadsSummary> maps_of(const Recording& recording, const Totals& totals) {
    const trace::Trace& trace = *recording.trace;
    std::vector<LoadsSummary> maps;
    for (size_t at = 0; at < trace.launch.arrays.size(); ++at) {
        const Array& array = trace.launch.arrays[at];
        maps.emplace_back();
        if (array.space == Space::Global && array.reads())
            maps.back() =
                loads_summary(trace, recording.product, at, loads_of(totals, draw::Sheet(array), at));
    }
    return maps;
}

// Pairs of the list that stand before those that ship.
int own_pairs(const Session& session) { return session::launch_pair(session) ? 1 : 0; }

// What is known of the recording that is shown.
void know(Known& known, const session::Shown& shown) {
    if (known.serial != shown.recording->serial) {
        known = {};
        known.serial = shown.recording->serial;
    }
    if (shown.totals && known.maps.empty()) known.maps = maps_of(*shown.recording, *shown.totals);
    if (shown.totals && !known.so_far)
        known.so_far = std::make_shared<look::LoadsSoFar>(shown.recording->trace,
                                                          counted_parts(shown.trace(), *shown.totals));
}

// Steps that are counted in a frame: about a millisecond.
constexpr uint64_t kCountedAFrame = 10'000;

// Brings the loads so far to where a recording stands: of its block alone, or of the whole run up to there. True
// while some are still to come.
bool count_loads(Known& known, const session::Shown& shown, bool of_run, bool wait) {
    if (!known.so_far || !shown.block) return true;
    const look::BlockIndex& index = *shown.block;
    const uint64_t most = wait ? UINT64_MAX : kCountedAFrame;
    known.counted = false;
    if (!of_run && known.block != index.block) {  // first to its end, where the scale ends
        if (!known.so_far->go(index.first, index.first + index.steps, most)) return true;
        known.most = 0;
        for (size_t at = 0; at < shown.trace().launch.arrays.size(); ++at)
            known.most = std::max(known.most, known.so_far->range(at).most);
        known.block = index.block;
    }
    known.counted = known.so_far->go(of_run ? 0 : index.first, index.first + shown.cursor.step + 1, most);
    if (known.ranges_of != known.so_far->version()) {
        known.ranges.clear();
        for (size_t at = 0; at < shown.trace().launch.arrays.size(); ++at)
            known.ranges.push_back(known.so_far->range(at));
        known.ranges_of = known.so_far->version();
    }
    return !known.counted;
}

// Another pair is shown where one is looked at, in the race too.
void show_pair(Session& session) {
    if (session.screen != session::kRaceScreen) session.screen = kScreen.option;
}

// The comparison that is so many further on in the list.
template <int by>
void next_comparison(Session& session) {
    const auto count = static_cast<int>(session::compare_presets().size());
    Pair& pair = session.pair;
    pair.launches.reset();
    pair.preset = pair.preset < 0 ? (by > 0 ? 0 : count - 1) : (pair.preset + by + count) % count;
    pair.wanted = true;
    show_pair(session);
}

void change_span(State& state, Session& session) {
    state.whole_run = !state.whole_run;
    session.screen = kScreen.option;
}

void next_lock(State& state) {
    state.lock = static_cast<Lock>((static_cast<size_t>(state.lock) + 1) % std::size(kLockNames));
}

// The list of pairs, or back from it.
void choose_comparison(State& state, Session& session) {
    const bool shown = session.screen == kScreen.option && choosing(state, session);
    state.choosing = !shown || !session.pair.other.recording;
    if (session.pair.preset >= 0) state.chosen = session.pair.preset + own_pairs(session);
    session.screen = kScreen.option;
}

void open_beside(Session& session) { session.ask(session::wish::OpenBeside{}); }

}  // namespace

void grant(State& state, Session& session, const session::Wish& wish) {
    const auto* const beside = std::get_if<session::wish::SetBeside>(&wish);
    if (beside == nullptr) return;
    session::set_beside(session, beside->recording);
    state.choosing = false;
    show_pair(session);
}

bool ready(State& state, Session& session, bool wait) {
    Pair& pair = session.pair;
    if (pair.wanted) state.choosing = false;
    bool coming = session::ready_pair(session, wait);
    if (std::exchange(pair.refused, false)) state.choosing = true;
    if (!session::are_two(session)) return coming;
    session::Shown& other = pair.other;
    know(state.a, session);
    know(state.b, other);
    if (!session::are_tallied(session) || !session.block || other.trace().blocks.empty()) return coming;
    const Run a{*session.recording, *pair.a.tally}, b{*other.recording, *pair.b.tally};
    other.cursor = {partner_block(state.lock, a, session.cursor, b), 0};
    coming = session::ready_block(other, *session.jobs, session::ShownBlocks::Ask::Faults, session.wording,
                                  wait) ||
             coming;
    if (!other.block) return true;
    for (const look::BlockIndex* index : {session.block.get(), other.block.get()})
        if (!index->why_not.empty()) pair.message = index->why_not + ".", state.choosing = true;
    other.cursor.step = partner_step(state.lock, a, *session.block, session.cursor, b, *other.block);
    if (state.whole_run) return coming;
    const bool of_run = state.lock == Lock::Share;
    coming = count_loads(state.a, session, of_run, wait) || coming;
    return count_loads(state.b, other, of_run, wait) || coming;
}

bool choosing(const State& state, const Session& session) {
    return state.choosing || !session::are_two(session);
}

void swap_sides(State& state, Session& session) {
    const bool here = session.screen == kScreen.option && !choosing(state, session);
    if (here || session.screen == session::kRaceScreen) session.pair.swap = true;
}

void take_choice(State& state, Session& session, int chosen) {
    const std::optional<session::LaunchPair> own = session::launch_pair(session);
    const int before = own_pairs(session),
              pairs = before + static_cast<int>(session::compare_presets().size());
    state.chosen = std::clamp(chosen, 0, pairs + 1);
    if (state.chosen < pairs) {
        session.pair.preset = state.chosen - before;  // -1: the launches
        session.pair.launches = state.chosen < before ? own : std::nullopt;
        session.pair.wanted = true;
    } else if (state.chosen == pairs) {
        session.ask_to("open");
    } else {
        open_beside(session);
    }
}

bool press(State& state, Session& session, const platform::KeyPress& key) {
    if (!choosing(state, session)) return false;
    if (key.key == Key::Enter) {
        take_choice(state, session, state.chosen);
        return true;
    }
    if (key.key == Key::Escape) {
        if (!session::are_two(session)) return false;
        state.choosing = false;
        return true;
    }
    const int by = along(key, Key::Left, Key::Right) + state.columns * along(key, Key::Up, Key::Down);
    const int last = own_pairs(session) + static_cast<int>(session::compare_presets().size()) + 1,
              next = state.chosen + by;
    if (next >= 0 && next <= last) state.chosen = next;
    return by != 0;
}

const input::Actions<State>& actions() {
    using input::key, input::shift, input::control;
    static const input::Actions<State> all = input::under<State>(
        "Compare", {
                       {"lock", "lock by step, phase or share", "K", key(Key::K), next_lock},
                       {"whole_run", "counts so far or of the whole run", "H", key(Key::H), change_span},
                       {"next_comparison", "compare the next pair", "N", key(Key::N), next_comparison<1>},
                       {"previous_comparison", "compare the pair before", "Shift + N", shift(Key::N),
                        next_comparison<-1>},
                       {"choose_comparison", "choose what to compare", "V", key(Key::V), choose_comparison},
                       {"open_beside", "open another as B", "Ctrl + B", control(Key::B), open_beside},
                       {"swap_sides", "A and B change places", "Tab", key(Key::Tab), swap_sides},
                   });
    return all;
}

}  // namespace tilescope::compare
