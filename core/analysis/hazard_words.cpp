// Findings in plain sentences.
#include <fmt/format.h>

#include "core/analysis/hazards.h"
#include "core/base/words.h"

namespace tilescope::analysis {
namespace {

std::string thread_text(const trace::Trace& trace, const HazardSide& side) {
    return thread_name(trace.launch.block, side.thread);
}

std::string block_text(const trace::Trace& trace, uint32_t block) {
    const trace::Block& b = trace.blocks[block];
    return block_name(trace.launch.grid, b.x, b.y, b.z);
}

std::string cell_text(const trace::Trace& trace, const HazardExample& e) {
    if (e.array >= trace.launch.arrays.size()) return fmt::format("byte {}", e.element);
    return element_name(trace.launch.arrays[e.array], static_cast<int64_t>(e.element));
}

uint32_t line_of(const trace::Trace& trace, const HazardSide& side) { return trace.sites[side.site].line; }

bool stores(const trace::Trace& trace, const HazardSide& side) {
    return trace.sites[side.site].kind == ptx::SiteKind::Store;
}

std::string phase_text(uint32_t phase) {
    return phase == kAfter ? "after the last phase" : fmt::format("in phase {}", phase);
}

std::string race(const trace::Trace& trace, const HazardExample& e) {
    const std::string_view other = stores(trace, e.b) ? "stores" : "reads";
    const bool same_phase = e.a.phase == e.b.phase, behind = e.b.phase < e.a.phase;
    return fmt::format("{}: {} stores at line {}{} while {} {}{} at line {}{} {}{}", cell_text(trace, e),
                       thread_text(trace, e.a), line_of(trace, e.a),
                       same_phase ? "" : " " + phase_text(e.a.phase), thread_text(trace, e.b),
                       behind ? "still " : "", other, line_of(trace, e.b), same_phase ? "," : "",
                       phase_text(e.b.phase) + (same_phase ? "" : ",") + " with no barrier between",
                       e.a.thread / kWarpSize == e.b.thread / kWarpSize ? ", both in one warp" : "");
}

}  // namespace

const char* name_of(HazardKind kind) {
    switch (kind) {
        case HazardKind::Race:
            return "race";
        case HazardKind::GridRace:
            return "race between blocks";
        case HazardKind::Uninitialised:
            return "uninitialised load";
        case HazardKind::Stale:
            return "stale load";
        case HazardKind::BarrierDivergence:
            return "barrier that not all threads come to";
        case HazardKind::RedundantBarrier:
            return "redundant barrier";
    }
    return "";
}

const char* key_of(HazardKind kind) {
    switch (kind) {
        case HazardKind::Race:
            return "race";
        case HazardKind::GridRace:
            return "grid_race";
        case HazardKind::Uninitialised:
            return "uninitialised";
        case HazardKind::Stale:
            return "stale";
        case HazardKind::BarrierDivergence:
            return "barrier_divergence";
        case HazardKind::RedundantBarrier:
            return "redundant_barrier";
    }
    return "";
}

std::string sentence_of(const trace::Trace& trace, HazardKind kind, const HazardExample& e) {
    switch (kind) {
        case HazardKind::Race:
            return race(trace, e);
        case HazardKind::GridRace:
            return fmt::format(
                "{}: {} of {} stores at line {} and {} of {} {} at line {}, and nothing orders blocks",
                cell_text(trace, e), thread_text(trace, e.a), block_text(trace, e.a.block),
                line_of(trace, e.a), thread_text(trace, e.b), block_text(trace, e.b.block),
                stores(trace, e.b) ? "stores" : "reads", line_of(trace, e.b));
        case HazardKind::Uninitialised:
            return fmt::format("{}: {} reads at line {} {}, and nothing was stored there before",
                               cell_text(trace, e), thread_text(trace, e.a), line_of(trace, e.a),
                               phase_text(e.a.phase));
        case HazardKind::Stale:
            return fmt::format(
                "{}: {} reads at line {} {} what {} stored at line {} {}, as nothing was stored there since",
                cell_text(trace, e), thread_text(trace, e.a), line_of(trace, e.a), phase_text(e.a.phase),
                thread_text(trace, e.b), line_of(trace, e.b), phase_text(e.b.phase));
        case HazardKind::BarrierDivergence:
            return fmt::format(
                "barrier at line {}: {} of {} waits there and {} does not come{}", line_of(trace, e.a),
                thread_text(trace, e.a), block_text(trace, e.a.block), thread_text(trace, e.b),
                e.b.site == kNoSite ? ""
                                    : fmt::format(" (its last step is at line {})", line_of(trace, e.b)));
        case HazardKind::RedundantBarrier:
            return fmt::format("barrier at line {}: passed {}, it keeps no two accesses of {} apart",
                               line_of(trace, e.a), phase_text(e.a.phase), block_text(trace, e.a.block));
    }
    return "";
}

}  // namespace tilescope::analysis
