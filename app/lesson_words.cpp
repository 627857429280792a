#include "app/lesson_words.h"

#include <memory>
#include <utility>

#include "app/session.h"
#include "kernels/record.h"

namespace tilescope::app {
namespace {

bool same_recording(const view::LessonStop& a, const view::LessonStop& b) {
    return a.kernel == b.kernel && a.recording == b.recording && a.shape.m == b.shape.m &&
           a.shape.k == b.shape.k && a.shape.n == b.shape.n && a.shape.tile == b.shape.tile;
}

std::string words_of(const Session& session, const view::LessonStop& stop) {
    const trace::Trace& trace = *session.trace;
    uint32_t block = 0;
    for (uint32_t at = 0; at < trace.blocks.size(); ++at) {
        if (trace.blocks[at].x == stop.block_x && trace.blocks[at].y == stop.block_y) block = at;
    }
    const auto index = view::index_block(trace, session.rule, block);
    return view::said(session, *index, view::find_step(trace, *index, stop).value_or(0), stop.say);
}

}  // namespace

Result<Session> record_stop(const view::LessonStop& stop) {
    const auto plan = kernels::plan(stop.kernel, stop.shape);
    if (!plan) return plan.error();
    auto trace = kernels::record_cpu(*plan, {});
    if (!trace) return trace.error();
    return make_session(std::make_shared<const trace::Trace>(std::move(*trace)),
                        "recorded for the lesson, on the CPU");
}

bool work_out_words(State& state, size_t lesson, bool all) {
    auto& said = state.teach.lesson.said;
    said.resize(view::lessons().size());
    const std::vector<view::LessonStop>& stops = view::lessons()[lesson].stops;
    std::vector<std::string>& words = said[lesson];
    while (words.size() < stops.size()) {
        const view::LessonStop& first = stops[words.size()];
        std::optional<Session> session;
        if (first.recording.empty()) {
            if (auto made = record_stop(first)) session = std::move(*made);
        }
        while (words.size() < stops.size() && same_recording(stops[words.size()], first)) {
            const view::LessonStop& stop = stops[words.size()];
            words.push_back(session && !session->trace->blocks.empty() ? words_of(*session, stop) : "");
        }
        if (!all) break;
    }
    return words.size() < stops.size();
}

}  // namespace tilescope::app
