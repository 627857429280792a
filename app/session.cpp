#include "app/session.h"

#include <algorithm>
#include <utility>

namespace tilescope::app {

Result<Session> session_of(std::shared_ptr<const trace::Trace> trace, std::string origin) {
    auto summary = analysis::summarize(*trace);
    if (!summary) return summary.error();
    auto rule = analysis::phase_rule(*trace);
    if (!rule) return rule.error();
    return Session{std::move(trace), std::move(*summary), std::move(*rule), std::move(origin)};
}

State state_of(Session session) {
    State state;
    const trace::Meta& meta = session.trace->meta;
    state.form.kernel = meta.kernel;
    state.form.shape = {meta.m, meta.k, meta.n, meta.tile};
    state.session = std::move(session);
    return state;
}

playback::Cursor cursor_at(const trace::Trace& trace, uint64_t step) {
    if (trace.steps() == 0) return {};
    step = std::min(step, trace.steps() - 1);
    uint32_t block = trace::block_of(trace, step);
    return {block, static_cast<uint32_t>(step - trace.blocks[block].first)};
}

}  // namespace tilescope::app
