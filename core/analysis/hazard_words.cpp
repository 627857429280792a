// Findings in plain sentences.
#include <fmt/format.h>

#include "core/analysis/hazards.h"
#include "core/base/words.h"

namespace tilescope::analysis {
namespace {

// Names what a finding is about, in a notation.
struct Speaker {
    const trace::Trace& trace;
    const Notation& notation;

    std::string thread(const HazardSide& side) const {
        return thread_name(trace.launch.block, side.thread, notation);
    }
    std::string block(uint32_t block) const {
        const trace::Block& b = trace.blocks[block];
        return block_name(trace.launch.grid, b.x, b.y, b.z);
    }
    std::string cell(const HazardExample& e) const {
        if (e.array >= trace.launch.arrays.size()) return fmt::format("byte {}", e.element);
        return element_name(trace.launch.arrays[e.array], static_cast<int64_t>(e.element), notation);
    }
    uint32_t line(const HazardSide& side) const { return trace.sites[side.site].line; }
    std::string_view verb(const HazardSide& side) const {
        return trace.sites[side.site].kind == ptx::SiteKind::Store ? "stores" : "reads";
    }
    std::string phase(uint32_t phase) const {
        return phase == kAfter ? "after the last phase" : "in " + phase_name(phase, notation);
    }

    std::string race(const HazardExample& e) const {
        const bool same_phase = e.a.phase == e.b.phase, behind = e.b.phase < e.a.phase;
        return fmt::format("{}: {} stores at line {}{} while {} {}{} at line {}{} {}{}", cell(e), thread(e.a),
                           line(e.a), same_phase ? "" : " " + phase(e.a.phase), thread(e.b),
                           behind ? "still " : "", verb(e.b), line(e.b), same_phase ? "," : "",
                           phase(e.b.phase) + (same_phase ? "" : ",") + " with no barrier between",
                           e.a.thread / kWarpSize == e.b.thread / kWarpSize ? ", both in one warp" : "");
    }
};

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

std::string sentence_of(const trace::Trace& trace, HazardKind kind, const HazardExample& e,
                        const Notation& notation) {
    const Speaker say{trace, notation};
    switch (kind) {
        case HazardKind::Race:
            return say.race(e);
        case HazardKind::GridRace:
            return fmt::format(
                "{}: {} of {} stores at line {} and {} of {} {} at line {}, and nothing orders blocks",
                say.cell(e), say.thread(e.a), say.block(e.a.block), say.line(e.a), say.thread(e.b),
                say.block(e.b.block), say.verb(e.b), say.line(e.b));
        case HazardKind::Uninitialised:
            return fmt::format("{}: {} reads at line {} {}, and nothing was stored there before", say.cell(e),
                               say.thread(e.a), say.line(e.a), say.phase(e.a.phase));
        case HazardKind::Stale:
            return fmt::format(
                "{}: {} reads at line {} {} what {} stored at line {} {}, as nothing was stored there since",
                say.cell(e), say.thread(e.a), say.line(e.a), say.phase(e.a.phase), say.thread(e.b),
                say.line(e.b), say.phase(e.b.phase));
        case HazardKind::BarrierDivergence:
            return fmt::format(
                "barrier at line {}: {} of {} waits there and {} does not come{}", say.line(e.a),
                say.thread(e.a), say.block(e.a.block), say.thread(e.b),
                e.b.site == kNoSite ? "" : fmt::format(" (its last step is at line {})", say.line(e.b)));
        case HazardKind::RedundantBarrier:
            return fmt::format("barrier at line {}: passed {}, it keeps no two accesses of {} apart",
                               say.line(e.a), say.phase(e.a.phase), say.block(e.a.block));
    }
    return "";
}

}  // namespace tilescope::analysis
