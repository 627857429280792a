#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "app/compare/panels.h"
#include "app/compare/state.h"
#include "kernels/run/record.h"
#include "kernels/textbook/shipped.h"

namespace tilescope::compare {

using input::Key, session::MadeRecording, session::Recording, session::Session, session::Totals;
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

// A pair is opened by one job, so that both appear together.
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
        auto trace = kernels::open_shipped(*found);
        if (!trace) return trace.error();
        return session::make_recording(std::move(*trace), found->label);
    }
    auto plan = kernels::plan(part.kernel, part.shape);
    if (!plan) return plan.error();
    kernels::RecordOptions options;
    options.stop = stop;
    auto trace = kernels::record_cpu(*plan, options);
    if (!trace) return trace.error();
    return session::make_recording(std::move(*trace), "recorded now, on the CPU");
}

Result<Pair> open_pair(const ComparePreset& preset, const std::vector<kernels::ShippedRecording>& recordings,
                       const std::atomic<bool>* stop) {
    auto a = open_part(preset.a, recordings, stop);
    if (!a) return a.error();
    auto b = open_part(preset.b, recordings, stop);
    if (!b) return b.error();
    return Pair{*a, *b};
}

void show_other(State& state, std::shared_ptr<const Recording> other,
                std::shared_ptr<const Totals> totals = nullptr) {
    session::set(state.other, std::move(other), std::move(totals));
    state.a.strip_of = state.b.strip_of = nullptr;
}

void show_pair(State& state, Session& session, Result<Pair> pair) {
    if (!pair) {
        state.message = pair.error().message;
        state.choosing = true;
        return;
    }
    session::show(session, std::move(pair->a));
    show_other(state, std::move(pair->b));
}

// What the maps say of the inputs.
std::vector<LoadsSummary> maps_of(const Recording& recording, const Totals& totals) {
    const trace::Trace& trace = *recording.trace;
    std::vector<LoadsSummary> maps;
    for (size_t at = 0; at < trace.launch.arrays.size(); ++at) {
        const Array& array = trace.launch.arrays[at];
        const session::LoadsWindow& window = totals.windows[at];
        const bool whole = !totals.loads[at].empty();
        maps.emplace_back();
        if (array.space == Space::Global && array.reads())
            maps.back() = loads_summary(trace, recording.product, at, whole ? totals.loads[at] : window.loads,
                                        whole ? CellRect{0, array.rows, 0, array.cols} : window.box);
    }
    return maps;
}

bool at_once(const Recording& recording) { return recording.trace->steps() <= session::kCountedAtOnce; }

// Brings what is known up to the recording. True while it is counted.
bool know(Known& known, session::Jobs& jobs, const std::shared_ptr<const Recording>& recording,
          const Totals* totals, bool wait) {
    if (known.serial != recording->serial) {
        known.counting.stop();
        known = {};
        known.serial = recording->serial;
    }
    if (totals != nullptr && known.maps.empty()) known.maps = maps_of(*recording, *totals);
    if (!known.tally && !known.counting.begun())
        known.counting = jobs.start([trace = recording->trace](session::Control&) {
            return std::make_shared<const Tally>(tally_of(*trace));
        });
    if (auto tally = known.counting.take(wait || at_once(*recording))) known.tally = std::move(*tally);
    return !known.tally;
}

void swap_now(State& state, Session& session) {
    state.swap = false;
    if (!state.other.recording || !session.recording) return;
    const session::Shown a = session, b = state.other;
    const look::Pick pin = look::same_pick(a.trace(), b.trace(), session.pin);
    session::show(session, b.recording, b.totals);
    session.cursor = b.cursor;
    session.pin = pin;
    std::swap(state.a, state.b);
    show_other(state, a.recording, a.totals);
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

}  // namespace

std::span<const ComparePreset> compare_presets() { return kPresets; }

std::string part_name(const ComparePreset::Part& part) {
    return fmt::format("{} T={}  {}x{}x{}", part.kernel, part.shape.tile, part.shape.m, part.shape.k,
                       part.shape.n);
}

void set_beside(State& state, std::shared_ptr<const Recording> other) {
    state.preset = -1;
    state.choosing = false;
    state.message.clear();
    show_other(state, std::move(other));
}

bool update(State& state, Session& session, bool) {
    if (!session.beside) return false;
    set_beside(state, std::exchange(session.beside, nullptr));
    session.screen = kScreen.option;
    return false;
}

bool ready(State& state, Session& session, bool wait) {
    if (state.swap) swap_now(state, session);
    if (state.wanted) {
        state.wanted = state.choosing = false;
        state.message.clear();
        state.opening.stop();
        state.opening =
            session.jobs->start([&preset = compare_presets()[static_cast<size_t>(state.preset)],
                                 recordings = session.assets.recordings()](session::Control& control) {
                return open_pair(preset, recordings, &control.stop);
            });
    }
    if (auto pair = state.opening.take(wait)) show_pair(state, session, std::move(*pair));
    bool coming = state.opening.begun() || (session.opening && session.opening->beside);
    coming = session::update(session, wait) || coming;  // of a recording that has just come
    if (!state.other.recording || !session.recording) return coming;
    refuse_empty(state, session);
    // Another recording was opened as A: the pair is not the one that was chosen.
    if (state.a.serial != 0 && state.a.serial != session.recording->serial && !coming) state.preset = -1;
    coming = session::count(state.other, *session.jobs, wait, state.message) || coming;
    coming = know(state.a, *session.jobs, session.recording, session.totals.get(), wait) || coming;
    coming = know(state.b, *session.jobs, state.other.recording, state.other.totals.get(), wait) || coming;
    session::Shown& other = state.other;
    if (!state.a.tally || !state.b.tally || !session.block || other.trace().blocks.empty()) return coming;
    const Run a{session.trace(), *state.a.tally}, b{other.trace(), *state.b.tally};
    other.cursor = {partner_block(state.lock, a, session.cursor, b), 0};
    coming =
        session::ready_block(other, *session.jobs, session::Blocks::Ask::Faults, session.wording, wait) ||
        coming;
    if (!other.block) return true;
    other.cursor.step = partner_step(state.lock, a, *session.block, session.cursor, b, *other.block);
    return coming;
}

namespace {

// The comparison that is so many further on in the list.
template <int by>
void next_comparison(State& state, Session& session) {
    const auto count = static_cast<int>(compare_presets().size());
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
    if (state.preset >= 0) state.chosen = state.preset;
    session.screen = kScreen.option;
}

void open_beside(Session& session) { session.wants_beside = true; }

}  // namespace

bool choosing(const State& state, const Session& session) {
    return state.choosing || !state.other.recording || !session.recording;
}

void swap_sides(State& state, Session& session) {
    if (session.screen == kScreen.option && !choosing(state, session)) state.swap = true;
}

void take_choice(State& state, Session& session, int chosen) {
    const auto pairs = static_cast<int>(compare_presets().size());
    state.chosen = std::clamp(chosen, 0, pairs + 1);
    if (state.chosen < pairs) {
        state.preset = state.chosen;
        state.wanted = true;
    } else if (state.chosen == pairs) {
        session.asked.emplace_back("open");
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
        if (!state.choosing || !state.other.recording || !session.recording) return false;
        state.choosing = false;
        return true;
    }
    const int by = key.key == Key::Left    ? -1
                   : key.key == Key::Right ? 1
                   : key.key == Key::Up    ? -state.columns
                   : key.key == Key::Down  ? state.columns
                                           : 0;
    const int last = static_cast<int>(compare_presets().size()) + 1, next = state.chosen + by;
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
