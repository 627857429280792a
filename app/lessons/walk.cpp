#include "app/lessons/walk.h"

#include <algorithm>
#include <utility>

#include "kernels/run/record.h"

namespace tilescope::lessons {
namespace {

using session::Session;

bool same_recording(const LessonStop& a, const LessonStop& b) {
    return a.kernel == b.kernel && a.recording == b.recording && a.shape == b.shape;
}

// The block that a stop stands in; the first where the recording has none of that place.
uint32_t block_of(const trace::Trace& trace, const LessonStop& stop) {
    const auto found = std::ranges::find_if(trace.blocks, [&](const trace::Block& block) {
        return block.x == stop.block_x && block.y == stop.block_y;
    });
    return found == trace.blocks.end() ? 0 : static_cast<uint32_t>(found - trace.blocks.begin());
}

std::string words_of(const session::Recording& recording, const analysis::Summary& sums,
                     const LessonStop& stop) {
    const trace::Trace& trace = *recording.trace;
    const auto index =
        session::worded(look::index_block(trace, recording.rule, recording.product, block_of(trace, stop)),
                        recording.notation);
    return said(trace, sums, *index, find_step(trace, *index, stop).value_or(0), stop.say);
}

// The recording that a stop is shown on is there already: nothing to record again.
bool shows(const Session& session, const LessonStop& stop) {
    if (!session.recording || stop.kernel.empty()) return false;
    const trace::Trace& trace = session.trace();
    const auto& product = session.recording->product;
    return trace.meta.kernel == stop.kernel && product && kernels::shape_of(*product) == stop.shape &&
           trace.meta.backend == trace::Backend::Cpu && trace.meta.complete &&
           trace.blocks.size() == trace.launch.grid.count();
}

// Brings the stop's recording. True while it is opened.
bool open_stop(State& state, Session& session, const LessonStop& stop, bool wait) {
    if (!stop.recording.empty()) {
        if (!state.opening) session::open_shipped(session, stop.recording);
        state.opening = session.opening.has_value();
        if (state.opening && wait) {
            session::update(session, true);
            state.opening = false;
        }
        return state.opening;
    }
    session.message.clear();
    if (shows(session, stop)) return false;
    if (auto recording = record_stop(stop))
        session::show(session, std::move(*recording));
    else
        session.message = recording.error().message;
    return false;
}

void stand_at(State& state, Session& session, const LessonStop& stop) {
    const trace::Trace& trace = session.trace();
    session.cursor = {block_of(trace, stop), 0};
    session.block =
        look::index_block(trace, session.recording->rule, session.recording->product, session.cursor.block);
    session.replay = nullptr;
    session.faults = nullptr;
    session.no_values.clear();
    session.pin = session.hover = {};
    ++session.framing;
    const auto step = find_step(trace, *session.block, stop);
    if (!step) state.note = "This recording has no such step; it stands at the first one.";
    session.cursor.step = step.value_or(0);
    session.screen = stop.screen;
}

}  // namespace

void go_to_stop(State& state, Session& session, size_t lesson, size_t stop) {
    state.opening = false;
    if (lesson >= lesson_list().size() || stop >= lesson_list()[lesson].stops.size()) {
        session.walk.running = false;  // beyond the last stop: back to the list
        session.screen = kScreen.option;
        return;
    }
    session.walk.running = true;
    state.lesson = state.listed = lesson;
    state.stop = stop;
    state.note.clear();
    session.playback.playing = false;
    state.wanted = true;
}

bool update(State& state, Session& session, bool wait) {
    const int by = std::exchange(session.walk.by, 0);
    if (by > 0) go_to_stop(state, session, state.lesson, state.stop + 1);
    if (by < 0 && state.stop > 0) go_to_stop(state, session, state.lesson, state.stop - 1);
    if (!session.walk.running || !state.wanted) return false;
    const LessonStop& stop = lesson_list()[state.lesson].stops[state.stop];
    if (open_stop(state, session, stop, wait)) return true;
    state.wanted = false;
    if (!session.message.empty() || !session.recording)
        session.walk.running = false;
    else
        stand_at(state, session, stop);
    return false;
}

session::MadeRecording record_stop(const LessonStop& stop) {
    const auto plan = kernels::plan(stop.kernel, stop.shape);
    if (!plan) return plan.error();
    auto trace = kernels::record_cpu(*plan, {});
    if (!trace) return trace.error();
    return session::make_recording(std::move(*trace), "recorded for the lesson, on the CPU");
}

bool work_out_words(State& state, size_t lesson, bool all) {
    state.said.resize(lesson_list().size());
    state.notations.resize(lesson_list().size());
    const std::vector<LessonStop>& stops = lesson_list()[lesson].stops;
    std::vector<std::string>& words = state.said[lesson];
    while (words.size() < stops.size()) {
        const LessonStop& first = stops[words.size()];
        std::shared_ptr<const session::Recording> recording;
        std::shared_ptr<const session::Totals> totals;
        if (first.recording.empty()) {
            if (auto made = record_stop(first)) recording = session::worded(std::move(*made), state.wording);
            if (recording)
                if (auto counted = session::totals_of(*recording)) totals = std::move(*counted);
        }
        while (words.size() < stops.size() && same_recording(stops[words.size()], first)) {
            const bool known = totals && !recording->trace->blocks.empty();
            state.notations[lesson].push_back(recording ? recording->notation : Notation{});
            words.push_back(known ? words_of(*recording, totals->summary, stops[words.size()]) : "");
        }
        if (!all) break;
    }
    return words.size() < stops.size();
}

}  // namespace tilescope::lessons
