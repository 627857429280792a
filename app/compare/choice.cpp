// What can be compared, as the list of pairs and keys choose it (session/pair.h opens it); and how B is kept
// where the lock has it.
#include <algorithm>
#include <filesystem>
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
int pairs_before(const Session& session) { return static_cast<int>(session::own_pairs(session).size()); }

// By array, what is counted so far: the part of an input that the whole run loads; of one that is never loaded all.
std::vector<draw::CellRect> loaded_parts(const trace::Trace& trace, const std::vector<LoadsSummary>& maps) {
    std::vector<draw::CellRect> parts(maps.size());
    for (size_t at = 0; at < maps.size(); ++at) {
        const Array& array = trace.launch.arrays[at];
        if (array.space != Space::Global || !array.reads()) continue;
        const draw::Sheet sheet(array);
        const bool all = maps[at].box.empty() || array.rank == 3;  // with the gaps between slices
        parts[at] = all ? draw::CellRect{0, sheet.rows, 0, sheet.cols} : maps[at].box;
    }
    return parts;
}

// What is known of the recording that is shown.
void know(Known& known, const session::Shown& shown) {
    if (known.serial != shown.recording->serial) {
        known = {};
        known.serial = shown.recording->serial;
    }
    if (shown.totals && known.maps.empty()) known.maps = maps_of(*shown.recording, *shown.totals);
    if (shown.totals && !known.so_far)
        known.so_far = std::make_shared<look::LoadsSoFar>(shown.recording->trace,
                                                          loaded_parts(shown.trace(), known.maps));
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
    if (session.pair.preset >= 0) state.chosen = session.pair.preset + pairs_before(session);
    session.screen = kScreen.option;
}

// What is shown, beside the one that was shown before it, or the launch before it.
void compare_before(Session& session) {
    session::look_into_folder(session);
    const std::vector<session::LaunchPair> own = session::own_pairs(session);
    if (own.empty()) {
        session.message =
            "No recording was shown before this one, and no other launch lies beside it; open another (Ctrl "
            "+ O), or "
            "choose a pair (V).";
        return;
    }
    session.pair.preset = -1;
    session.pair.launches = own.front();
    session.pair.wanted = true;
    show_pair(session);
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
    session::look_into_folder(session);
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
        if (!index->why_not.empty() && !pair.opening.begun())
            session::refuse(pair, index->why_not + "."), state.choosing = true;
    other.cursor.step = partner_step(state.lock, a, *session.block, session.cursor, b, *other.block);
    if (state.whole_run || !session.totals || !other.totals) return coming;
    const bool of_run = state.lock == Lock::Share;
    coming = count_loads(state.a, session, of_run, wait) || coming;
    return count_loads(state.b, other, of_run, wait) || coming;
}

namespace {

constexpr uint64_t kMostRead = 8 << 20;  // bytes of a file that is read for a picture

std::optional<Sketch> sketch_of_both(const Result<session::BothRecordings>& both) {
    return both ? sketch_of(*both->a, *both->b) : std::nullopt;
}

// Of one's own pair; what is not there yet is read, where it is small.
std::optional<Sketch> sketch_of_own(const session::LaunchPair& pair) {
    const auto open = [](const std::shared_ptr<const Recording>& there,
                         const std::string& path) -> std::shared_ptr<const Recording> {
        std::error_code error;
        if (there) return there;
        if (const auto bytes = std::filesystem::file_size(path, error); error || bytes > kMostRead)
            return nullptr;
        auto read = session::read_recording(path, path);
        return read ? *read : nullptr;
    };
    const auto a = open(pair.there_a, pair.path_a), b = open(pair.there_b, pair.path_b);
    return a && b ? sketch_of(*a, *b) : std::nullopt;
}

}  // namespace

bool sketch(State& state, Session& session, bool wait) {
    if (state.sketches.empty() && !state.sketching.begun())
        state.sketching = session.jobs->start(
            [recordings = session.assets.recordings()](session::Control& control) -> Result<Sketches> {
                Sketches made;
                // One block of each tells enough, unless blocks are not alike: of a small product wrong elements may lie
                // in any, and what ships from a GPU has all of its blocks.
                for (const session::ComparePreset& preset : session::compare_presets()) {
                    const auto& [title, about, a, b] = preset;
                    const bool one = a.shape.m > 32 && a.shape == b.shape && !a.shipped && !b.shipped;
                    made.push_back(sketch_of_both(session::open_preset(
                        preset, recordings, &control.stop, one ? BlockWindow{0, 1, 0, 1} : BlockWindow{})));
                }
                return made;
            });
    if (auto made = state.sketching.take(wait)) {
        state.sketches = *made ? std::move(**made) : Sketches(session::compare_presets().size());
    }
    const std::vector<session::LaunchPair> own = session::own_pairs(session);
    std::erase_if(state.own,
                  [&](const State::Own& one) { return std::ranges::find(own, one.of) == own.end(); });
    bool coming = state.sketches.empty();
    for (const session::LaunchPair& pair : own) {
        auto known = std::ranges::find(state.own, pair, &State::Own::of);
        if (known == state.own.end()) {
            state.own.push_back({pair});
            known = state.own.end() - 1;
            known->job = session.jobs->start(
                [pair](session::Control&) -> Result<std::optional<Sketch>> { return sketch_of_own(pair); });
        }
        if (auto made = known->job.take(wait); made && *made) known->sketch = std::move(**made);
        coming = coming || known->job.begun();
    }
    return coming;
}

bool choosing(const State& state, const Session& session) {
    return state.choosing || !session::are_two(session);
}

void swap_sides(State& state, Session& session) {
    const bool here = session.screen == kScreen.option && !choosing(state, session);
    if (here || session.screen == session::kRaceScreen) session.pair.swap = true;
}

void take_choice(State& state, Session& session, int chosen) {
    const std::vector<session::LaunchPair> own = session::own_pairs(session);
    const int before = static_cast<int>(own.size()),
              pairs = before + static_cast<int>(session::compare_presets().size());
    state.chosen = std::clamp(chosen, 0, pairs + 1);
    if (state.chosen < pairs) {
        session.pair.preset = std::max(state.chosen - before, -1);  // -1: one's own
        session.pair.launches.reset();
        if (state.chosen < before) session.pair.launches = own[static_cast<size_t>(state.chosen)];
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
    const int last = pairs_before(session) + static_cast<int>(session::compare_presets().size()) + 1,
              next = state.chosen + by;
    if (next >= 0 && next <= last) state.chosen = next;
    return by != 0;
}

const input::Actions<State>& actions() {
    using input::key, input::shift, input::control;
    static const input::Actions<State> all = input::under<State>(
        "Compare",
        {
            {"lock", "lock by step, phase or share", "K", key(Key::K), next_lock},
            {"whole_run", "counts so far or of the whole run", "H", key(Key::H), change_span},
            {"next_comparison", "compare the next pair", "N", key(Key::N), next_comparison<1>},
            {"previous_comparison", "compare the pair before", "Shift + N", shift(Key::N),
             next_comparison<-1>},
            {"choose_comparison", "choose what to compare", "V", key(Key::V), choose_comparison},
            {"compare_before", "compare with the one before", "Shift + V", shift(Key::V), compare_before},
            {"open_beside", "open another as B", "Ctrl + B", control(Key::B), open_beside},
            {"swap_sides", "A and B change places", "Tab", key(Key::Tab), swap_sides},
        });
    return all;
}

}  // namespace tilescope::compare
