// The kinds of step: a memory space and what a warp does there, its arrival at a barrier, or an exchange among its
// lanes. One row says
// what a kind is called, how a sentence says that a warp does it, what it is judged by and how loud it is;
// whatever names, adds up, judges or draws a kind asks its row. How its mark is drawn, app/pictures/pictures.h
// says (ink_of and sign).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/trace/trace.h"

namespace tilescope::analysis {

// The kinds that ask for memory come first: sums are kept by them (summary.h).
enum class StepKind : uint8_t {
    GlobalLoad,
    GlobalStore,
    SharedLoad,
    SharedStore,
    GlobalAtomic,
    SharedAtomic,
    LocalLoad,
    LocalStore,
    ConstantLoad,
    Barrier,
    Exchange,
    Signal,
    SignalWait,
};
inline constexpr size_t kStepKinds = static_cast<size_t>(StepKind::SignalWait) + 1;
inline constexpr size_t kMemoryKinds = static_cast<size_t>(StepKind::Barrier);

// What a request costs, and is compared by: the sectors or wavefronts that it needs, the different words that
// it reads one after the other, or the turns that the lanes of one address take.
enum class JudgedBy : uint8_t { Sectors, Wavefronts, Words, Turns, Nothing };

struct StepKindRow {
    StepKind kind;
    Space space;         // meaningless for barriers and exchanges
    ptx::SiteKind done;  // what the site does
    const char* name;    // for people and in the files of lessons
    const char* plural;
    const char* key;   // in JSON
    const char* verb;  // what a warp does, in front of what it does it to
    JudgedBy judged_by;
    uint8_t loudness;  // from 1: of several kinds in one column of a timeline the loudest is drawn
};

inline constexpr std::array<StepKindRow, kStepKinds> kStepKindRows = [] {
    using enum ptx::SiteKind;
    using enum JudgedBy;
    using K = StepKind;
    return std::array<StepKindRow, kStepKinds>{{
        {K::GlobalLoad, Space::Global, Load, "global load", "global loads", "global_load", "loads from",
         Sectors, 6},
        {K::GlobalStore, Space::Global, Store, "global store", "global stores", "global_store", "stores to",
         Sectors, 9},
        {K::SharedLoad, Space::Shared, Load, "shared load", "shared loads", "shared_load", "reads",
         Wavefronts, 3},
        {K::SharedStore, Space::Shared, Store, "shared store", "shared stores", "shared_store", "fills",
         Wavefronts, 7},
        {K::GlobalAtomic, Space::Global, Atomic, "global atomic", "global atomics", "global_atomic",
         "updates", Turns, 11},
        {K::SharedAtomic, Space::Shared, Atomic, "shared atomic", "shared atomics", "shared_atomic",
         "updates", Turns, 10},
        {K::LocalLoad, Space::Local, Load, "local load", "local loads", "local_load", "reads", Sectors, 5},
        {K::LocalStore, Space::Local, Store, "local store", "local stores", "local_store", "stores to",
         Sectors, 8},
        {K::ConstantLoad, Space::Const, Load, "constant load", "constant loads", "constant_load", "reads",
         Words, 2},
        // Its wait stands beside it in a timeline.
        {K::Barrier, Space::Global, Barrier, "barrier", "barriers", "barrier", "arrives at", Nothing, 1},
        {K::Exchange, Space::Global, Exchange, "exchange", "exchanges", "exchange", "exchanges values",
         Nothing, 4},
        {K::Signal, Space::Shared, Signal, "mbarrier signal", "mbarrier signals", "signal", "signals",
         Nothing, 12},
        {K::SignalWait, Space::Shared, Signal, "mbarrier wait", "mbarrier waits", "signal_wait",
         "has waited for", Nothing, 13},
    }};
}();
static_assert([] {
    for (size_t at = 0; at < kStepKinds; ++at)
        if (kStepKindRows[at].kind != static_cast<StepKind>(at)) return false;
    return true;
}());

// The kinds that ask for memory.
inline constexpr std::span<const StepKindRow> kMemoryKindRows{kStepKindRows.data(), kMemoryKinds};

constexpr const StepKindRow& row_of(StepKind kind) { return kStepKindRows[static_cast<size_t>(kind)]; }
constexpr Space space_of(StepKind kind) { return row_of(kind).space; }
constexpr bool asks_memory(StepKind kind) { return ptx::asks_memory(row_of(kind).done); }
constexpr bool is_load(StepKind kind) { return row_of(kind).done == ptx::SiteKind::Load; }
constexpr bool is_atomic(StepKind kind) { return row_of(kind).done == ptx::SiteKind::Atomic; }
// As a mark of it is explained: "global load", "arrives at a barrier".
constexpr const char* words_of(StepKind kind) {
    return kind == StepKind::Barrier      ? "arrives at a barrier"
           : kind == StepKind::Exchange   ? "exchange among lanes"
           : kind == StepKind::Signal     ? "signals an mbarrier"
           : kind == StepKind::SignalWait ? "has waited for an mbarrier"
                                          : row_of(kind).name;
}
constexpr bool is_of_mbarrier(StepKind kind) {
    return kind == StepKind::Signal || kind == StepKind::SignalWait;
}

// In the order in which a kernel with tiles makes them, for tables of sums and legends; local memory is
// written before it is read.
inline constexpr std::array<StepKind, kMemoryKinds> kOrderOfSums = {
    StepKind::GlobalLoad,  StepKind::SharedStore,  StepKind::SharedLoad,
    StepKind::GlobalStore, StepKind::GlobalAtomic, StepKind::SharedAtomic,
    StepKind::LocalLoad,   StepKind::LocalStore,   StepKind::ConstantLoad};
inline constexpr std::array<StepKind, kMemoryKinds> kOrderOfLegend = {
    StepKind::GlobalLoad,  StepKind::SharedStore,  StepKind::SharedLoad,
    StepKind::GlobalStore, StepKind::GlobalAtomic, StepKind::SharedAtomic,
    StepKind::LocalStore,  StepKind::LocalLoad,    StepKind::ConstantLoad};

// What a site of that kind does to a space; where no row says so (no kernel can), the last one of the space.
constexpr StepKind kind_of(Space space, ptx::SiteKind done) {
    if (done == ptx::SiteKind::Barrier) return StepKind::Barrier;
    if (done == ptx::SiteKind::Exchange) return StepKind::Exchange;
    if (done == ptx::SiteKind::Signal) return StepKind::Signal;
    StepKind found = StepKind::GlobalLoad;
    for (const StepKindRow& row : kMemoryKindRows) {
        if (row.space != space) continue;
        found = row.kind;
        if (row.done == done) break;
    }
    return found;
}
// A generic address shows only in the run which memory it leads to: the form says so, not the site.
inline StepKind kind_of(const trace::Trace& trace, const trace::Form& form) {
    const ptx::Site& site = trace.sites[form.site];
    return site.signal == ptx::Signal::Wait ? StepKind::SignalWait : kind_of(form.space, site.kind);
}
inline StepKind kind_of(const trace::Trace& trace, uint64_t step) {
    return kind_of(trace, trace.form_of(step));
}

}  // namespace tilescope::analysis
