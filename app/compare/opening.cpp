#include "app/compare/opening.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/compare/panels.h"
#include "kernels/run/record.h"

namespace tilescope::compare {
namespace {

using session::MadeRecording;
using session::Recording;
using session::Session;
using session::Totals;

// A pair is opened by one job, so that both appear together.
MadeRecording open_part(const ComparePreset::Part& part,
                        const std::vector<kernels::ShippedRecording>& recordings,
                        const std::atomic<bool>* stop) {
    if (part.shipped) {
        const auto found = std::find_if(
            recordings.begin(), recordings.end(), [&](const kernels::ShippedRecording& recording) {
                const kernels::Shape& s = part.shape;
                return recording.kernel == part.kernel && recording.m == s.m && recording.k == s.k &&
                       recording.n == s.n && recording.tile == s.tile;
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
    auto a_totals = session::totals_of(**a), b_totals = session::totals_of(**b);
    if (!a_totals) return a_totals.error();
    if (!b_totals) return b_totals.error();
    return Pair{*a, *b, *a_totals, *b_totals};
}

void forget_block(State& state) {
    state.block = nullptr;
    state.faults = nullptr;
    state.cursor = {};
    state.a.strip_of = state.b.strip_of = nullptr;
}

void show_pair(State& state, Session& session, Result<Pair> pair) {
    if (!pair) {
        state.message = pair.error().message;
        state.choosing = true;
        return;
    }
    session::show(session, std::move(pair->a), std::move(pair->a_totals));
    state.other = std::move(pair->b);
    state.totals = std::move(pair->b_totals);
    forget_block(state);
}

// What the maps say of M and N.
std::vector<LoadsSummary> maps_of(const Recording& recording, const Totals& totals) {
    const trace::Trace& trace = *recording.trace;
    std::vector<LoadsSummary> maps;
    for (size_t at = 0; at < trace.launch.arrays.size(); ++at) {
        const Array& array = trace.launch.arrays[at];
        const std::vector<uint32_t>& all = totals.loads[at];
        maps.push_back(
            array.space != Space::Global || !array.reads() ? LoadsSummary{}
            : all.empty() ? loads_summary(trace, recording.product, at, totals.windows[at].loads,
                                          totals.windows[at].box)
                          : loads_summary(trace, recording.product, at, all, {0, array.rows, 0, array.cols}));
    }
    return maps;
}

// Brings what is known up to the recording. True while it is counted.
bool know(Known& known, session::Jobs& jobs, const std::shared_ptr<const Recording>& recording,
          const Totals* totals, bool wait) {
    if (known.serial != recording->serial) {
        known.counting.stop();
        known = {};
        known.serial = recording->serial;
    }
    if (totals != nullptr && known.maps.empty()) known.maps = maps_of(*recording, *totals);
    if (known.tally) return false;
    if (auto tally = known.counting.take()) {
        known.tally = std::move(*tally);
        return false;
    }
    if (wait || recording->trace->steps() <= session::kCountedAtOnce) {
        known.tally = std::make_shared<const Tally>(tally_of(*recording->trace));
        return false;
    }
    if (!known.counting.begun())
        known.counting = jobs.start([trace = recording->trace](session::Control&) {
            return std::make_shared<const Tally>(tally_of(*trace));
        });
    return true;
}

// B's totals, as the session has A's.
bool count(State& state, Session& session, bool wait) {
    if (auto totals = state.counting.take(wait)) {
        if (*totals && (**totals)->serial == state.other->serial) state.totals = **totals;
        if (!*totals) state.message = totals->error().message;
    }
    if (state.totals) return false;
    const bool now = wait || state.other->trace->steps() <= session::kCountedAtOnce;
    if (!state.counting.begun())
        state.counting = session.jobs->start(
            [recording = state.other](session::Control&) { return session::totals_of(*recording); });
    return now ? count(state, session, true) : true;
}

// The index of B's block, and its faults. True while they are made.
bool ready_other_block(State& state, Session& session, uint32_t block, bool wait) {
    if (state.block && state.block->block != block) state.block = nullptr;
    if (!state.block) state.faults = nullptr;
    if (state.block && state.faults) return false;
    const session::MadeBlock made =
        state.blocks.get(*session.jobs, state.other, block, session::Blocks::Ask::Faults, wait);
    if (!state.block) state.block = made.index;
    if (made.values) state.faults = made.values->faults;
    return !state.faults;
}

void swap_now(State& state, Session& session) {
    state.swap = false;
    if (!state.other || !session.recording) return;
    const playback::Cursor there = state.cursor;
    const look::Pick pin = look::same_pick(session.trace(), *state.other->trace, session.pin);
    auto other = std::exchange(state.other, session.recording);
    auto totals = std::exchange(state.totals, session.totals);
    session::show(session, std::move(other), std::move(totals));
    session.cursor = there;
    session.pin = pin;
    std::swap(state.a, state.b);
    forget_block(state);
}

// One that holds nothing cannot be stood in; the list says so.
void refuse_empty(State& state, const Session& session) {
    for (const char letter : {'A', 'B'}) {
        const Recording& one = letter == 'A' ? *session.recording : *state.other;
        if (one.trace->steps() > 0) continue;
        state.message = fmt::format("{} ({}) holds no step; choose another recording.", letter, one.origin);
        state.choosing = true;
    }
}

}  // namespace

void set_beside(State& state, std::shared_ptr<const Recording> other) {
    state.preset = -1;
    state.choosing = false;
    state.message.clear();
    state.other = std::move(other);
    state.totals = nullptr;
    state.counting.stop();
    forget_block(state);
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
    if (!state.other || !session.recording) return coming;
    state.other = session::worded(state.other, session.wording);
    state.block = session::worded(state.block, state.other->notation);
    refuse_empty(state, session);
    // Another recording was opened as A: the pair is not the one that was chosen.
    if (state.a.serial != 0 && state.a.serial != session.recording->serial && !coming) state.preset = -1;
    coming = count(state, session, wait) || coming;
    coming = know(state.a, *session.jobs, session.recording, session.totals.get(), wait) || coming;
    coming = know(state.b, *session.jobs, state.other, state.totals.get(), wait) || coming;
    if (!state.a.tally || !state.b.tally || !session.block || state.other->trace->blocks.empty())
        return coming;
    const Run a{session.trace(), *state.a.tally}, b{*state.other->trace, *state.b.tally};
    const uint32_t block = partner_block(state.lock, a, session.cursor, b);
    coming = ready_other_block(state, session, block, wait) || coming;
    if (!state.block) return true;
    state.cursor = {block, partner_step(state.lock, a, *session.block, session.cursor, b, *state.block)};
    return coming;
}

}  // namespace tilescope::compare
