// Findings in plain sentences.

#include "core/base/words.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/hazards/hazards.h"

namespace tilescope::analysis {
namespace {

const std::string kNoBarrier = ", with no barrier between";

// Names what a finding is about, in a notation.
struct Speaker {
    const trace::Trace& trace;
    const Notation& notation;

    std::string thread(const HazardSide& side) const {
        return thread_name(trace.launch.block, side.thread, notation);
    }
    std::string block(uint32_t block) const {
        const trace::Block& b = trace.blocks[block];
        return block_name(trace.launch.grid, {b.x, b.y, b.z}, notation);
    }
    std::string cell(const HazardExample& e) const {
        if (e.array >= trace.launch.arrays.size()) return fmt::format("byte {}", e.element);
        return element_name(trace.launch.arrays[e.array], static_cast<int64_t>(e.element), notation);
    }
    uint32_t line(const HazardSide& side) const { return trace.sites[side.site].line; }
    bool copies(const HazardSide& side) const { return trace.sites[side.site].past_registers(); }
    std::string_view verb(const HazardSide& side) const {
        const ptx::SiteKind kind = trace.sites[side.site].kind;
        if (copies(side)) return kind == ptx::SiteKind::Store ? "copies to it" : "copies from it";
        return kind == ptx::SiteKind::Atomic ? "updates" : kind == ptx::SiteKind::Store ? "stores" : "reads";
    }
    std::string phase(uint32_t phase) const {
        return phase == kAfter ? "after the last phase" : "in " + phase_name(phase, notation);
    }
    std::string of_warp(const HazardSide& side) const {
        return fmt::format("{} of warp {}", thread(side), side.thread / kWarpSize);
    }
    // "phase 1's 4"
    std::string held(const HazardExample::HeldValue& held) const {
        const std::string value = value_text(held.value);
        if (!held.stored) return fmt::format("the {} that was there before", value);
        return held.phase == kAfter ? fmt::format("the {} stored after the last phase", value)
                                    : fmt::format("{}'s {}", phase_name(held.phase, notation), value);
    }

    // A store and a load, in the order that the recording has them.
    std::string read(const HazardExample& e) const {
        const std::string what = cell(e), store = of_warp(e.a), load = of_warp(e.b);
        const uint32_t stored = line(e.a), loaded = line(e.b);
        const bool values = e.read.known, both = values && e.other.known, differ = reads_other_value(e);
        const std::string got = held(e.read), other = both ? held(e.other) : "";
        const std::string luck = both && !differ ? ", by luck the same value" : "";
        if (e.order == ReadOrder::Overwritten && values)
            return fmt::format("{} overwrote {} at line {}; {} now reads {} at line {}{}{}", store, what,
                               stored, load, got, loaded, both ? " instead of " + other : "", luck);
        if (e.order == ReadOrder::Overwritten)
            return fmt::format("{} overwrote {} at line {} {}; {} reads it at line {} after that, {}{}",
                               store, what, stored, phase(e.a.phase), load, loaded, phase(e.b.phase),
                               kNoBarrier);
        if (e.order == ReadOrder::Early && both)
            return fmt::format(
                "{} now reads {} from {} at line {} instead of {}, which {} stores later at line {}{}", load,
                got, what, loaded, other, store, stored, luck);
        const bool load_first = e.b.step < e.a.step;
        if (e.order == ReadOrder::Right && both && load_first)
            return fmt::format(
                "{} reads {} from {} at line {} before {} stores {} at line {}: right by luck, another order "
                "reads the {}",
                load, got, what, loaded, store, other, stored, value_text(e.other.value));
        if (e.order == ReadOrder::Right && both)
            return fmt::format(
                "{} stores {} to {} at line {} before {} reads it at line {}: right by luck, another order "
                "reads {}",
                store, got, what, stored, load, loaded, other);
        std::string text =
            load_first ? fmt::format("{} reads {} at line {} {} before {} stores to it at line {} {}", load,
                                     what, loaded, phase(e.b.phase), store, stored, phase(e.a.phase))
                       : fmt::format("{} stores to {} at line {} {} before {} reads it at line {} {}", store,
                                     what, stored, phase(e.a.phase), load, loaded, phase(e.b.phase));
        if (e.order == ReadOrder::Early) return text + kNoBarrier;
        text += ", which no barrier ensures";
        if (both) text += fmt::format(": it read {}, in another order it reads {}", got, other);
        return text;
    }

    // A load, and the copy that may write the cell at that time.
    std::string read_before_wait(const HazardExample& e) const {
        const std::string load =
            fmt::format("{}: {} reads at line {} {} ", cell(e), thread(e.a), line(e.a), phase(e.a.phase));
        const std::string found = e.read.known && trace.meta.backend == trace::Backend::Cpu
                                      ? fmt::format(": {} in this run", value_text(e.read.value))
                                      : "";
        if (e.a.thread == e.b.thread)
            return fmt::format("{}before it waits for its own copy there of line {}{}", load, line(e.b),
                               found);
        if (e.missing == Missing::Order)
            return fmt::format("{}what {} copies there at line {}, and nothing orders that behind its wait{}",
                               load, thread(e.b), line(e.b), found);
        if (e.a.step < e.b.step)
            return fmt::format("{}and {} copies to it at line {} {}, with no barrier between{}", load,
                               thread(e.b), line(e.b), phase(e.b.phase), found);
        return fmt::format("{}what {} copies there at line {}, before a barrier behind that thread's wait{}",
                           load, thread(e.b), line(e.b), found);
    }

    // What a barrier in memory tells of a copy, or does not.
    std::string read_before_phase(const HazardExample& e) const {
        const std::string load = fmt::format("{}: {} {} at line {} {}", cell(e), of_warp(e.a), verb(e.a),
                                             line(e.a), phase(e.a.phase));
        const std::string copy = fmt::format("what {} copies there at line {}", thread(e.b), line(e.b));
        const std::string barrier =
            shared_name(trace.launch.arrays, e.barrier, ptx::kBarrierBytes, "mbarrier", notation);
        if (e.missing == Missing::Bytes)
            return fmt::format(
                "{} {}, but phase {} of {} may end before that has landed: it expects {}, and {} are copied "
                "for it",
                load, copy, e.barrier_phase, barrier, counted(e.expected, "byte"), grouped(e.brought));
        return fmt::format(
            "{} {}, without having waited for the end of phase {} of {}, with which that has landed", load,
            copy, e.barrier_phase, barrier);
    }

    // Two sides that nothing orders where threads wait for each other by more than barriers.
    std::string unordered(const HazardExample& e) const {
        const auto does = [&](const HazardSide& side) {
            const std::string at_phase = e.a.phase == e.b.phase ? "" : " " + phase(side.phase);
            return fmt::format("{} {} at line {}{}", of_warp(side), verb(side), line(side), at_phase);
        };
        switch (e.missing) {
            case Missing::ReadWait:
                return fmt::format(
                    "{}: {} while the copy that {} asks for at line {} may still read it, for which no "
                    "cp.async.bulk.wait_group has waited",
                    cell(e), does(e.a), of_warp(e.b), line(e.b));
            case Missing::ProxyFence:
                return fmt::format(
                    "{}: {} and {}, with no fence.proxy.async between: the copy may read what was there "
                    "before",
                    cell(e), does(e.a), does(e.b));
            default: {
                const bool first = e.a.step <= e.b.step;
                return fmt::format("{}: {} before {}, and nothing orders the two", cell(e),
                                   does(first ? e.a : e.b), does(first ? e.b : e.a));
            }
        }
    }

    // Both sides, each with its block where they are two.
    std::string both(const HazardExample& e, const char* between) const {
        const bool blocks = e.a.block != e.b.block;
        const auto who = [&](const HazardSide& side) {
            return blocks ? fmt::format("{} of {}", thread(side), block(side.block)) : thread(side);
        };
        return fmt::format("{}: {} {} at line {} {} {} {} at line {}", cell(e), who(e.a), verb(e.a),
                           line(e.a), between, who(e.b), verb(e.b), line(e.b));
    }

    std::string race(const HazardExample& e) const {
        if (e.missing != Missing::Barrier) return unordered(e);
        if (e.order != ReadOrder::Unknown) return read(e);
        const bool one_warp = e.a.thread / kWarpSize == e.b.thread / kWarpSize;
        const bool same_phase = e.a.phase == e.b.phase;
        return fmt::format("{}: {} {} at line {}{} while {} {} at line {} {}{}{}", cell(e), thread(e.a),
                           verb(e.a), line(e.a), same_phase ? "" : " " + phase(e.a.phase), thread(e.b),
                           verb(e.b), line(e.b), phase(e.b.phase), kNoBarrier,
                           one_warp ? ", both in one warp" : "");
    }
};

}  // namespace

const char* name_of(HazardKind kind) {
    switch (kind) {
        case HazardKind::Race: return "race";
        case HazardKind::GridRace: return "race between blocks";
        case HazardKind::Uninitialised: return "uninitialised load";
        case HazardKind::Stale: return "stale load";
        case HazardKind::ReadBeforeWait: return "read before wait";
        case HazardKind::BarrierDivergence: return "barrier that not all threads come to";
        case HazardKind::RedundantBarrier: return "redundant barrier";
        case HazardKind::SameValue: return "stores of one value";
        case HazardKind::Unfilled: return "read of memory that nobody filled";
        case HazardKind::AbsentLanes: return "lanes that do not come";
        case HazardKind::OneAddress: return "two shared arrays at one address";
    }
    return "";
}

const char* key_of(HazardKind kind) {
    switch (kind) {
        case HazardKind::Race: return "race";
        case HazardKind::GridRace: return "grid_race";
        case HazardKind::Uninitialised: return "uninitialised";
        case HazardKind::Stale: return "stale";
        case HazardKind::ReadBeforeWait: return "read_before_wait";
        case HazardKind::BarrierDivergence: return "barrier_divergence";
        case HazardKind::RedundantBarrier: return "redundant_barrier";
        case HazardKind::SameValue: return "same_value";
        case HazardKind::Unfilled: return "unfilled";
        case HazardKind::AbsentLanes: return "absent_lanes";
        case HazardKind::OneAddress: return "one_address";
    }
    return "";
}

const char* name_of(Severity severity) {
    constexpr const char* kNames[] = {"fault", "remark", "Tilescope cannot tell"};
    return kNames[static_cast<size_t>(severity)];
}

const char* key_of(Severity severity) {
    constexpr const char* kKeys[] = {"fault", "remark", "cannot_tell"};
    return kKeys[static_cast<size_t>(severity)];
}

bool Hazards::faulty() const {
    return std::ranges::any_of(found, [](const Hazard& h) { return h.severity == Severity::Fault; });
}

std::string sentence_of(const trace::Trace& trace, HazardKind kind, const HazardExample& e,
                        const Notation& notation, Severity severity) {
    const Speaker say{trace, notation};
    if (severity == Severity::CannotTell)
        return say.both(e, "and") +
               "; Tilescope cannot tell whether the fences, atomics and __syncwarp beside them order the two";
    switch (kind) {
        case HazardKind::Race: return say.race(e);
        case HazardKind::GridRace: return say.both(e, "and") + ", and nothing orders blocks";
        case HazardKind::SameValue:
            return say.both(e, "and") + ", all of them the same value: harmless, whichever comes last";
        case HazardKind::Uninitialised:
            // The CPU fills what is not stored with NaN; what a GPU read there is not recorded.
            return fmt::format("{}: {} {} at line {} {}, and nothing was stored there before{}", say.cell(e),
                               say.thread(e.a), say.verb(e.a), say.line(e.a), say.phase(e.a.phase),
                               e.read.known && trace.meta.backend == trace::Backend::Cpu
                                   ? fmt::format(": {} in this run", value_text(e.read.value))
                                   : "");
        case HazardKind::Stale:
            if (e.read.known)
                return fmt::format("{}: {} reads {} at line {} {}, stored by {} at line {} and not since",
                                   say.cell(e), say.thread(e.a), say.held(e.read), say.line(e.a),
                                   say.phase(e.a.phase), say.thread(e.b), say.line(e.b));
            return fmt::format(
                "{}: {} reads at line {} {} what {} stored at line {} {}, as nothing was stored there since",
                say.cell(e), say.thread(e.a), say.line(e.a), say.phase(e.a.phase), say.thread(e.b),
                say.line(e.b), say.phase(e.b.phase));
        case HazardKind::ReadBeforeWait:
            if (e.missing == Missing::Phase || e.missing == Missing::Bytes) return say.read_before_phase(e);
            return say.read_before_wait(e);
        case HazardKind::BarrierDivergence:
            return fmt::format(
                "barrier at line {}: {} of {} waits there and {} does not come{}", say.line(e.a),
                say.thread(e.a), say.block(e.a.block), say.thread(e.b),
                e.b.site == kNoSite ? "" : fmt::format(" (its last step is at line {})", say.line(e.b)));
        case HazardKind::Unfilled:
        case HazardKind::AbsentLanes:
        case HazardKind::OneAddress: return "";  // the run has said them
        case HazardKind::RedundantBarrier:
            return fmt::format("barrier at line {}: passed {}, it keeps no two accesses of {} apart",
                               say.line(e.a), say.phase(e.a.phase), say.block(e.a.block));
    }
    return "";
}

}  // namespace tilescope::analysis
