// What can be compared: pairs that teach one thing each, launches of the program that is open, and any two
// recordings; how what is chosen is opened, and B kept where the lock has it.
#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "app/compare/panels.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "kernels/run/record.h"
#include "kernels/textbook/shipped.h"

namespace tilescope::compare {

using input::along, input::Key, session::MadeRecording, session::Recording, session::Session, session::Totals;
namespace {

constexpr kernels::Shape kT16{64, 64, 64, 16}, kT32{64, 64, 64, 32}, kRagged{20, 20, 20, 8};

using Part = ComparePreset::Part;
constexpr ComparePreset pair(const char* title, const char* about, Part a, Part b) {
    return {title, about, a, b};
}
constexpr ComparePreset kPresets[] = {
    pair("Untiled or tiled", "Tiles of T \u00d7 T bring every element n/T times instead of n.",
         {"untiled", kT16}, {"tiled", kT16}),
    pair("Mapping swapped, untiled",
         "Neighbouring threads walk a row, or down a column: few sectors a request, or many.",
         {"untiled", kT16}, {"untiled_swapped", kT16}),
    pair("Mapping swapped, tiled", "The same swap with tiles: what it costs in global and in shared memory.",
         {"tiled", kT16}, {"tiled_swapped", kT16}),
    pair("T = 16 or 32", "Twice the tile's width, half the loads of global memory.", {"tiled", kT16},
         {"tiled", kT32}),
    pair("Transposed or padded tile",
         "A column of shared memory in one bank, and the one column more that spreads it over all.",
         {"tiled_transposed", kT32}, {"tiled_padded", kT32}),
    pair("No barrier, or the barriers", "The same requests, and a result that depends on who comes first.",
         {"tiled_no_barrier", kT16}, {"tiled", kT16}),
    pair("Stale values, or zeros",
         "Zeros left out at the edge: values of the phase before are multiplied again.",
         {"tiled_stale_edge", kRagged}, {"tiled", kRagged}),
    pair("GPU and CPU",
         "One launch, on a GPU and in lockstep on the CPU: the same accesses in another order.",
         {"tiled", kT16, true}, {"tiled", kT16}),
};

MadeRecording open_part(const ComparePreset::Part& part,
                        const std::vector<kernels::ShippedRecording>& recordings,
                        const std::atomic<bool>* stop) {
    if (part.shipped) {
        const auto found = std::ranges::find_if(recordings, [&](const kernels::ShippedRecording& one) {
            return one.kernel == part.kernel && kernels::Shape{one.m, one.k, one.n, one.tile} == part.shape;
        });
        if (found == recordings.end())
            return Error{
                fmt::format("No recording of {} from a GPU ships with this program; record it on a GPU "
                            "with 'tilescope record' and open it with 'tilescope render --with'",
                            part_name(part))};
        return session::make_recording(kernels::open_shipped(*found), found->label);
    }
    auto plan = kernels::plan(part.kernel, part.shape);
    if (!plan) return plan.error();
    kernels::RecordOptions options;
    options.stop = stop;
    return session::make_recording(kernels::record_cpu(*plan, options), "recorded now, on the CPU");
}

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

// Brings what is known up to the recording that is shown. True while it is counted.
bool know(Known& known, const session::Shown& shown, session::Jobs& jobs, bool wait) {
    if (known.serial != shown.recording->serial) {
        known.counting.stop();
        known = {};
        known.serial = shown.recording->serial;
    }
    if (shown.totals && known.maps.empty()) known.maps = maps_of(*shown.recording, *shown.totals);
    if (!known.no_tally.empty()) return false;
    if (!known.tally && !known.counting.begun())
        known.counting = jobs.start(
            [recording = shown.recording](session::Control& control) -> Result<std::shared_ptr<const Tally>> {
                auto tally = tally_of(*recording, {&control.stop});
                if (!tally) return tally.error();
                return std::make_shared<const Tally>(std::move(*tally));
            });
    const bool at_once = wait || shown.trace().steps() <= session::kCountedAtOnce;
    auto tally = known.counting.take(at_once);
    if (!tally) return !known.tally;
    if (*tally)
        known.tally = std::move(**tally);
    else
        known.no_tally = tally->error().message;
    return false;
}

// Both sides of a pair, so that they appear together.
Result<Pair> open_both(MadeRecording a, const std::function<MadeRecording()>& open_b) {
    if (!a) return a.error();
    MadeRecording b = open_b();
    if (!b) return b.error();
    return Pair{*a, *b};
}

void begin_opening(State& state, Session& session) {
    state.wanted = state.choosing = false;
    state.message.clear();
    state.opening.stop();
    if (state.launches) {
        std::string of;
        if (session.program) session.program->opened = state.launches->a, of = session.program->name;
        state.opening = session.jobs->start([pair = *state.launches, of](session::Control&) {
            const auto read = [&](const std::string& path, uint64_t number) {
                return session::read_recording(path, fmt::format("{}, launch {}", of, grouped(number)));
            };
            return open_both(read(pair.path_a, pair.a), [&] { return read(pair.path_b, pair.b); });
        });
        return;
    }
    state.opening =
        session.jobs->start([&preset = compare_presets()[static_cast<size_t>(state.preset)],
                             recordings = session.assets.recordings()](session::Control& control) {
            return open_both(open_part(preset.a, recordings, &control.stop),
                             [&] { return open_part(preset.b, recordings, &control.stop); });
        });
}

// Pairs of the list that stand before those that ship.
int own_pairs(const Session& session) { return launch_pair(session) ? 1 : 0; }

bool are_two(const State& state, const Session& session) {
    return state.other.recording && session.recording;
}

void swap_now(State& state, Session& session) {
    state.swap = false;
    if (!are_two(state, session)) return;
    const session::Shown a = session, b = state.other;
    const look::Pick pin = look::same_pick(a.trace(), b.trace(), session.pin);
    session::show(session, b.recording, b.totals);
    session.cursor = b.cursor;
    session.pin = pin;
    std::swap(state.a, state.b);
    session::set(state.other, a.recording, a.totals);
}

// One that holds nothing cannot be stood in; the list says so.
void refuse_empty(State& state, const Session& session) {
    for (const char letter : {'A', 'B'}) {
        const Recording& one = letter == 'A' ? *session.recording : *state.other.recording;
        if (one.trace->steps() > 0) continue;
        state.message = fmt::format("{} ({}) holds no step; choose another recording.", letter, one.origin);
        state.choosing = true;
    }
}

// The comparison that is so many further on in the list.
template <int by>
void next_comparison(State& state, Session& session) {
    const auto count = static_cast<int>(compare_presets().size());
    state.launches.reset();
    state.preset = state.preset < 0 ? (by > 0 ? 0 : count - 1) : (state.preset + by + count) % count;
    state.wanted = true;
    session.screen = kScreen.option;
}

void next_lock(State& state) {
    state.lock = static_cast<Lock>((static_cast<size_t>(state.lock) + 1) % std::size(kLockNames));
}

// The list of pairs, or back from it.
void choose_comparison(State& state, Session& session) {
    const bool shown = session.screen == kScreen.option && choosing(state, session);
    state.choosing = !shown || !state.other.recording;
    if (state.preset >= 0) state.chosen = state.preset + own_pairs(session);
    session.screen = kScreen.option;
}

void open_beside(Session& session) { session.ask(session::wish::OpenBeside{}); }

}  // namespace

std::span<const ComparePreset> compare_presets() { return kPresets; }

std::optional<LaunchPair> launch_pair(const Session& session) {
    const auto all = session::recorded_launches(session);
    if (all.size() < 2) return std::nullopt;
    const auto opened = std::ranges::find(all, session.program->opened, &launched::LaunchLine::number);
    const size_t a = opened == all.end() ? 0 : static_cast<size_t>(opened - all.begin());
    size_t b = (a + 1) % all.size();
    for (size_t on = 1; on < all.size(); ++on)
        if (const size_t at = (a + on) % all.size(); all[at]->kernel != all[a]->kernel) {
            b = at;
            break;
        }
    const auto name = [&](size_t at) {
        return fmt::format("launch {}: {}", grouped(all[at]->number), one_line(all[at]->kernel));
    };
    return LaunchPair{fmt::format("Launches {} and {} of {}", grouped(all[a]->number),
                                  grouped(all[b]->number), session.program->name),
                      all[a]->number,
                      all[b]->number,
                      name(a),
                      name(b),
                      all[a]->recorded,
                      all[b]->recorded,
                      session.program->folders};
}

std::string part_name(const ComparePreset::Part& part) {
    return fmt::format("{}{}  {}×{}×{}", part.kernel, kernels::tile_text(part.shape.tile, " T="),
                       part.shape.m, part.shape.k, part.shape.n);
}

void set_beside(State& state, std::shared_ptr<const Recording> other) {
    if (!state.wanted) state.preset = -1, state.launches.reset();  // a pair that was asked for comes after it
    state.choosing = false;
    state.message.clear();
    session::set(state.other, std::move(other));
}

void grant(State& state, Session& session, const session::Wish& wish) {
    const auto* const beside = std::get_if<session::wish::SetBeside>(&wish);
    if (beside == nullptr) return;
    set_beside(state, beside->recording);
    session.screen = kScreen.option;
}

bool ready(State& state, Session& session, bool wait) {
    if (state.swap) swap_now(state, session);
    if (state.wanted) begin_opening(state, session);
    const auto pair = state.opening.take(wait);
    if (pair && *pair) {
        session::show(session, (*pair)->a);
        session::set(state.other, (*pair)->b);
    } else if (pair) {
        state.message = pair->error().message;
        state.choosing = true;
    }
    bool coming = state.opening.begun() || (session.opening && session.opening->beside);
    coming = session::update(session, wait) || coming;  // of a recording that has just come
    if (!are_two(state, session)) return coming;
    refuse_empty(state, session);
    // Another recording was opened as A: the pair is not the one that was chosen.
    if (state.a.serial != 0 && state.a.serial != session.recording->serial && !coming)
        state.preset = -1, state.launches.reset();
    coming = session::count(state.other, *session.jobs, wait, state.message) || coming;
    session::Shown& other = state.other;
    coming = know(state.a, session, *session.jobs, wait) || coming;
    coming = know(state.b, other, *session.jobs, wait) || coming;
    for (const Known* known : {&state.a, &state.b})
        if (!known->no_tally.empty()) state.message = known->no_tally + ".", state.choosing = true;
    if (!state.a.tally || !state.b.tally || !session.block || other.trace().blocks.empty()) return coming;
    const Run a{*session.recording, *state.a.tally}, b{*other.recording, *state.b.tally};
    other.cursor = {partner_block(state.lock, a, session.cursor, b), 0};
    coming = session::ready_block(other, *session.jobs, session::ShownBlocks::Ask::Faults, session.wording,
                                  wait) ||
             coming;
    if (!other.block) return true;
    for (const look::BlockIndex* index : {session.block.get(), other.block.get()})
        if (!index->why_not.empty()) state.message = index->why_not + ".", state.choosing = true;
    other.cursor.step = partner_step(state.lock, a, *session.block, session.cursor, b, *other.block);
    return coming;
}

bool choosing(const State& state, const Session& session) {
    return state.choosing || !are_two(state, session);
}

void swap_sides(State& state, Session& session) {
    if (session.screen == kScreen.option && !choosing(state, session)) state.swap = true;
}

void take_choice(State& state, Session& session, int chosen) {
    const std::optional<LaunchPair> own = launch_pair(session);
    const int before = own_pairs(session), pairs = before + static_cast<int>(compare_presets().size());
    state.chosen = std::clamp(chosen, 0, pairs + 1);
    if (state.chosen < pairs) {
        state.preset = state.chosen - before;  // -1: the launches
        state.launches = state.chosen < before ? own : std::nullopt;
        state.wanted = true;
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
        if (!are_two(state, session)) return false;
        state.choosing = false;
        return true;
    }
    const int by = along(key, Key::Left, Key::Right) + state.columns * along(key, Key::Up, Key::Down);
    const int last = own_pairs(session) + static_cast<int>(compare_presets().size()) + 1,
              next = state.chosen + by;
    if (next >= 0 && next <= last) state.chosen = next;
    return by != 0;
}

const input::Actions<State>& actions() {
    using input::key, input::shift, input::control;
    static const input::Actions<State> all = input::under<State>(
        "Compare", {
                       {"lock", "lock by step, phase or share", "K", key(Key::K), next_lock},
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
