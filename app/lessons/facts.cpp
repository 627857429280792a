// The facts of lessons, a row each: name, noun, what hides it, what it means, and how it is worked out. All
// of them are read off the recording at one step. Questions (questions.cpp) and docs/lessons.md are made of
// these rows; tests/twin/lesson_facts.h works each out again.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "app/draw/sheet.h"
#include "app/lessons/questions.h"
#include "app/look/request.h"
#include "app/look/shared_cells.h"
#include "app/look/sums.h"
#include "app/look/time_words.h"
#include "app/look/timeline.h"
#include "core/ptx/matrix.h"
#include "core/ptx/parse.h"
#include "kernels/run/record.h"
#include "kernels/textbook/timings.h"

namespace tilescope::lessons {
namespace {

using Number = std::optional<uint64_t>;

kernels::Shape shape_of(const Scene& scene) {
    return scene.index.product ? kernels::shape_of(*scene.index.product) : kernels::Shape{0, 0, 0, 0};
}

const analysis::Summary& sums_of(Scene& scene) {
    if (!scene.sums) {
        auto counted = analysis::summarize(scene.recording);
        scene.sums = std::make_shared<analysis::Summary>(counted ? std::move(*counted) : analysis::Summary{});
    }
    return *scene.sums;
}

// Reuse of all inputs together.
analysis::Reuse reuse_of(Scene& scene) {
    analysis::Reuse all{"", 0, 0, UINT64_MAX, 0};
    for (const analysis::Reuse& of : sums_of(scene).reuse) {
        all.elements += of.elements;
        all.loads += of.loads;
        all.min = std::min(all.min, of.min);
        all.max = std::max(all.max, of.max);
    }
    return all;
}

template <auto Extent>
Number of_shape(Scene& scene) {
    return shape_of(scene).*Extent;
}
template <auto Count>
Number of_reuse(Scene& scene) {
    return reuse_of(scene).*Count;
}

uint64_t recorded(const Scene& scene) { return scene.index.first + scene.step; }
bool is_global(StepKind kind) { return kind == StepKind::GlobalLoad || kind == StepKind::GlobalStore; }
bool is_shared(StepKind kind) { return kind == StepKind::SharedLoad || kind == StepKind::SharedStore; }

look::RequestView request_of(const Scene& scene) {
    return look::request_view(scene.trace, scene.index, scene.step);
}
Number lanes(Scene& scene) { return static_cast<uint64_t>(std::popcount(form_of(scene).mask)); }

// A fact of a request that fits: what(RequestView); none of any other step.
template <bool (*Fits)(StepKind), class What>
Number of_request(const Scene& scene, What what) {
    if (!Fits(kind_of(scene))) return std::nullopt;
    return static_cast<uint64_t>(what(request_of(scene)));
}
bool is_request(StepKind kind) { return asks_memory(kind); }

template <auto Count>
Number global_cost(Scene& scene) {
    return of_request<is_global>(scene, [](const look::RequestView& r) { return r.cost.global.*Count; });
}
template <auto Count>
Number shared_cost(Scene& scene) {
    return of_request<is_shared>(scene, [](const look::RequestView& r) { return r.cost.shared.*Count; });
}

// Lanes of the request's warp that are off: in rows of the block that have no lane on, or in others.
uint64_t outside(const Scene& scene, const look::RequestView& request, bool whole_rows) {
    const uint32_t across = scene.trace.launch.block.x;
    uint64_t lanes = 0;
    for (const look::LaneView& lane : request.lanes) {
        const bool row_on = std::ranges::any_of(request.lanes, [&](const look::LaneView& other) {
            return other.active && other.thread / across == lane.thread / across;
        });
        if (lane.exists && !lane.active && row_on != whole_rows) ++lanes;
    }
    return lanes;
}

Number warps_here(Scene& s) {
    std::set<uint32_t> warps;
    for (const uint32_t at : s.index.steps_of_site[form_of(s).site])
        if (s.index.phase_at(at) == s.index.phase_at(s.step))
            warps.insert(s.trace.warp_of(s.index.first + at));
    return warps.size();
}

Number still_reading(Scene& s) {
    std::set<uint32_t> warps;
    for (uint32_t at = s.step + 1; at < s.index.steps; ++at)
        if (look::kind_of(s.trace, s.index.first + at) == StepKind::SharedLoad &&
            s.index.phase_at(at) < s.index.phase_at(s.step))
            warps.insert(s.trace.warp_of(s.index.first + at));
    return warps.size();
}

Number unfilled(Scene& s) {
    std::set<std::pair<uint8_t, uint64_t>> cells;
    for (uint32_t at = s.index.steps; at-- > 0;) {  // what is stored later, less what is stored already
        if (s.index.phase_at(at) != s.index.phase_at(s.step)) continue;
        if (look::kind_of(s.trace, s.index.first + at) != StepKind::SharedStore) continue;
        const trace::Access access = trace::decode(s.trace, s.index.first + at);
        look::for_elements(s.trace, s.index.first + at, access, [&](uint32_t, uint64_t cell) {
            if (at > s.step)
                cells.emplace(access.array, cell);
            else
                cells.erase({access.array, cell});
        });
    }
    return cells.size();
}

Number by_luck(Scene& s) {
    if (kind_of(s) != StepKind::SharedLoad) return std::nullopt;
    struct Store {
        uint32_t warp = 0;
        uint64_t barriers = 0;  // that the warp had come to
    };
    std::map<uint32_t, uint64_t> barriers;  // that each warp has come to
    std::map<std::pair<uint8_t, uint64_t>, Store> stored;
    for (uint32_t at = 0; at < s.step; ++at) {
        const StepKind kind = look::kind_of(s.trace, s.index.first + at);
        const uint32_t warp = s.trace.warp_of(s.index.first + at);
        if (kind == StepKind::Barrier) ++barriers[warp];
        if (kind != StepKind::SharedStore) continue;
        const trace::Access access = trace::decode(s.trace, s.index.first + at);
        look::for_elements(s.trace, s.index.first + at, access, [&](uint32_t, uint64_t cell) {
            stored[{access.array, cell}] = {warp, barriers[warp]};
        });
    }
    const uint32_t warp = s.trace.warp_of(recorded(s));
    std::set<uint32_t> lanes;
    const trace::Access access = trace::decode(s.trace, recorded(s));
    look::for_elements(s.trace, recorded(s), access, [&](uint32_t lane, uint64_t cell) {
        const auto store = stored.find({access.array, cell});
        if (store != stored.end() && store->second.warp != warp && store->second.barriers >= barriers[warp])
            lanes.insert(lane);
    });
    return lanes.size();
}

// Counts the cells of all shared arrays for which what(cell) holds.
template <class What>
Number cells(Scene& scene, What what) {
    if (replay_of(scene) == nullptr) return std::nullopt;
    uint64_t count = 0;
    for (const uint8_t array : scene.index.shared) {
        const draw::Sheet sheet(scene.trace.launch.arrays[array]);
        const auto view = look::shared_view(scene.trace, scene.index, scene.replay.get(), array, scene.step,
                                            {0, sheet.rows, 0, sheet.cols});
        count += static_cast<uint64_t>(std::ranges::count_if(view.cells, what));
    }
    return count;
}

// The steps at which warps arrive at the barrier of this step; null of any other step.
const std::vector<uint32_t>* arrivals_of(const Scene& scene) {
    if (kind_of(scene) != StepKind::Barrier) return nullptr;
    const uint32_t interval = scene.index.phases.interval[scene.step];
    return interval < scene.index.arrivals.size() ? &scene.index.arrivals[interval] : nullptr;
}
Number arrived(Scene& scene) {
    const auto* const all = arrivals_of(scene);
    if (all == nullptr) return std::nullopt;
    return static_cast<uint64_t>(std::ranges::upper_bound(*all, scene.step) - all->begin());
}
Number awaited(Scene& scene) {
    const auto* const all = arrivals_of(scene);
    return all == nullptr ? Number() : all->size() - *arrived(scene);
}

template <class What>
Number of_barrier(const Scene& scene, What what) {
    if (kind_of(scene) != StepKind::Barrier) return std::nullopt;
    const look::BarrierTimes* const barrier = look::barrier_of_step(scene.index, scene.step);
    return barrier == nullptr ? Number() : what(*barrier);
}

uint64_t orders(const Scene& scene) {
    std::set<std::vector<uint32_t>> orders;
    for (const look::BarrierTimes& barrier : scene.index.barriers) {
        std::vector<uint32_t> warps;
        for (const auto& arrival : barrier.arrivals) warps.push_back(arrival.warp);
        orders.insert(std::move(warps));
    }
    return orders.size();
}

// The bank of which a group of lanes asks for most words.
size_t worst_bank(const look::RequestView& request) {
    size_t worst = 0;
    for (size_t bank = 1; bank < request.banks.size(); ++bank)
        if (tallest_of_bank(request, bank) > tallest_of_bank(request, worst)) worst = bank;
    return worst;
}

// Loads by lanes that go on to shared memory through no register: those of cp.async.
Number copied(Scene& scene) {
    const trace::Trace& trace = scene.trace;
    uint64_t loads = 0;
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const ptx::Site& site = trace.sites[trace.form_of(step).site];
        if (site.past_registers() && ptx::reads(site.kind))
            look::for_elements(trace, step, [&](uint32_t, uint64_t) { ++loads; });
    }
    return loads;
}

// Requests that read shared memory between a copy and the step behind which its block has waited for it.
Number read_meanwhile(Scene& scene) {
    const auto copy = look::copy_of(scene.trace, scene.index, scene.step);
    if (!copy || !copy->behind) return std::nullopt;
    uint64_t requests = 0;
    for (uint32_t at = scene.step + 1; at < *copy->behind; ++at)
        requests += look::kind_of(scene.trace, scene.index.first + at) == StepKind::SharedLoad ? 1 : 0;
    return requests;
}

// A fact of an exchange that fits: what(ExchangeView); none of any other step.
template <class Fits, class What>
Number of_exchange(const Scene& scene, Fits fits, What what) {
    if (kind_of(scene) != StepKind::Exchange) return std::nullopt;
    const look::ExchangeView view = look::exchange_view(scene.trace, scene.index, nullptr, scene.step);
    return fits(view.what) ? Number(what(view)) : std::nullopt;
}

// The matrices that a request moves, whose rows lanes point to; 0 where each lane moves what it asks for.
uint64_t matrices_of(const Scene& scene) {
    return is_shared(kind_of(scene)) ? scene.trace.sites[form_of(scene).site].matrices : 0;
}

// A fact of a step that multiplies matrices: what(MatrixForm); none of any other step.
template <class What>
Number of_product(const Scene& scene, What what) {
    const ptx::Site& site = scene.trace.sites[form_of(scene).site];
    if (site.exchange != ptx::Exchange::Multiply) return std::nullopt;
    const auto module = trace::module_of(scene.trace);
    const ptx::Kernel* const kernel = module ? ptx::find_kernel(**module, scene.trace.launch.entry) : nullptr;
    if (kernel == nullptr || site.instruction >= kernel->instructions.size()) return std::nullopt;
    const auto form = ptx::matrix_form(kernel->instructions[site.instruction]);
    return form ? Number(what(*form)) : std::nullopt;
}

// --- the rows

using session::Hide;
using S = Scene;
using R = look::RequestView;

// What is kept from view while a fact is asked for.
constexpr uint16_t kMask = Hide::Lanes | Hide::Elements | kCost,
                   kCells = Hide::Values | Hide::Elements | Hide::Numbers,
                   kWaits = Hide::Waits | Hide::Numbers, kArrivals = Hide::Lines | kWaits,
                   kShape = Hide::Shape | Hide::Numbers, kTrips = Hide::Phases | Hide::Numbers,
                   kLoads = Hide::Loads | kTrips, kStanding = Hide::Standing | Hide::Numbers;

constexpr Fact kOfLaunch[] = {
    {"m", "", kShape, "rows of M and P", of_shape<&kernels::Shape::m>},
    {"k", "", kShape, "columns of M, rows of N", of_shape<&kernels::Shape::k>},
    {"n", "", kShape, "columns of N and P", of_shape<&kernels::Shape::n>},
    {"products", "", kShape, "m\u00b7k\u00b7n",
     [](S& s) -> Number {
         const kernels::Shape of = shape_of(s);
         return uint64_t{of.m} * of.k * of.n;
     }},
    {"tile", "", kShape, "T, the width of a tile", of_shape<&kernels::Shape::tile>},
    {"patch", "", kShape, "elements of the output that a thread owns",
     [](S& s) { return s.index.product ? Number(s.index.product->patch) : std::nullopt; }},
    {"threads", "thread", kShape | Hide::Warps | Hide::Waits, "threads of a block",
     [](S& s) -> Number { return s.trace.launch.block.count(); }},
    {"blocks", "block", kShape, "blocks, as many as are recorded",
     [](S& s) -> Number { return s.trace.blocks.size(); }},
    {"grid_threads", "thread", kShape, "threads of all blocks",
     [](S& s) -> Number { return s.trace.launch.grid.count() * s.trace.launch.block.count(); }},
};

constexpr Fact kOfBlock[] = {
    {"warps", "warp", Hide::Warps | kWaits, "warps of a block", [](S& s) -> Number { return s.index.warps; }},
    {"phases", "phase", kTrips, "phases of the block", [](S& s) -> Number { return s.index.phases.phases; }},
    {"last_phase", "", kTrips, "the last of them",
     [](S& s) -> Number { return std::max(s.index.phases.phases, 1u) - 1; }},
    {"barriers", "barrier", Hide::Waits | kTrips, "barriers that each warp passes",
     [](S& s) -> Number { return s.index.phases.barriers; }},
    {"stages", "stage", kShape | Hide::Waits, "stages of its ring, which copies fill by mbarriers",
     [](S& s) { return s.index.pipeline ? Number(s.index.pipeline->stages.size()) : std::nullopt; }},
};

constexpr Fact kOfRecording[] = {
    {"elements", "element", kNumbers, "different elements of the inputs that are loaded",
     of_reuse<&analysis::Reuse::elements>},
    {"loads", "load", kLoads, "loads of them, by lanes", of_reuse<&analysis::Reuse::loads>},
    {"least_loads", "load", kLoads, "loads of the element that is loaded least often",
     of_reuse<&analysis::Reuse::min>},
    {"most_loads", "load", kLoads, "loads of the element that is loaded most often",
     of_reuse<&analysis::Reuse::max>},
    {"load_sectors", "sector", kNumbers, "sectors of all global loads",
     [](S& s) -> Number { return sums_of(s)[StepKind::GlobalLoad].sectors; }},
    {"least_load_sectors", "sector", kNumbers, "sectors that they would need at least",
     [](S& s) -> Number { return sums_of(s)[StepKind::GlobalLoad].ideal_sectors; }},
    {"shared_reads", "read", kNumbers, "loads from shared memory, by lanes",
     [](S& s) -> Number { return sums_of(s)[StepKind::SharedLoad].lanes; }},
    {"copied", "load", kNumbers, "loads that go to shared memory through no register, by `cp.async`", copied},
    {"wrong", "element", Hide::Result | Hide::Numbers,
     "wrong elements of the output, where its result was checked: that of a program of your own is not",
     [](S& s) -> Number {
         const auto& result = s.trace.meta.result;
         return result.checked ? Number(result.wrong) : std::nullopt;
     }},
    {"speed", "", kNumbers, "speed of the kernel in per cent of its rival's, by the times that ship",
     [](S& s) -> Number {
         const auto times = look::rival_times(s.trace.meta, s.index.product, kernels::shipped_timings());
         if (!times || times->overlap) return std::nullopt;
         return static_cast<uint64_t>(std::llround(100 * times->rival_ms / times->own_ms));
     }},
};

constexpr Fact kOfStep[] = {
    {"step", "", Hide::Phases | kStanding, "its number in the block, from 1",
     [](S& s) -> Number { return uint64_t{s.step} + 1; }},
    {"line", "", kStanding, "its line of the source", [](S& s) -> Number { return request_of(s).line; }},
    {"phase", "", Hide::Phases | Hide::Elements | kStanding, "its phase",
     [](S& s) -> Number { return s.index.phase_at(s.step); }},
    {"warp", "", Hide::Waits | Hide::Lanes | kStanding, "its warp",
     [](S& s) -> Number { return s.trace.warp_of(recorded(s)); }},
    {"lanes", "lane", kMask, "its active lanes", lanes},
    {"idle", "lane", kMask, "the other lanes of the warp",
     [](S& s) -> Number { return kWarpSize - *lanes(s); }},
    {"still_reading", "warp", kWaits, "warps that have yet to read shared memory for an earlier phase",
     still_reading},
    {"unfilled", "cell", kCells, "shared cells still to be stored in this phase", unfilled},
    {"by_luck", "lane", kCells,
     "lanes of the load that read what another warp has stored, with no barrier between", by_luck},
    {"stale", "cell", kCells, "shared cells that are marked stale beside the step",
     [](S& s) { return cells(s, [](const auto& cell) { return cell.marked_stale(); }); }},
    {"zeros", "cell", kCells, "shared cells that are marked as filled with zero beside the step",
     [](S& s) { return cells(s, [](const auto& cell) { return cell.marked_zero(); }); }},
};

constexpr Fact kOfRequest[] = {
    {"touched", "element", Hide::Elements | kCost, "different elements that it touches",
     [](S& s) -> Number { return elements_of(s).size(); }},
    {"row_words", "word", Hide::Shape | kCost, "words of 4 bytes in a row of its array",
     [](S& s) {
         return of_request<is_request>(s, [&](const R& r) {
             if (r.array == trace::kNoArray) return 0u;
             const Array& array = s.trace.launch.arrays[r.array];
             return array.cols * array.element_bytes() / 4;
         });
     }},
    {"lane_bytes", "byte", kCost, "bytes that each lane moves",
     [](S& s) { return of_request<is_request>(s, [](const R& r) { return r.bytes; }); }},
    {"outside_by_row", "lane", kMask, "lanes switched off in rows of the block that are off as a whole",
     [](S& s) { return of_request<is_request>(s, [&](const R& r) { return outside(s, r, true); }); }},
    {"outside_by_column", "lane", kMask, "lanes switched off whose row of the block goes on",
     [](S& s) { return of_request<is_request>(s, [&](const R& r) { return outside(s, r, false); }); }},
    {"warps_here", "warp", kWaits, "warps that make this request in this phase", warps_here},
};

constexpr Fact kOfGlobal[] = {
    {"sectors", "sector", kCost, "sectors that it needs", global_cost<&analysis::SectorCost::sectors>},
    {"least_sectors", "sector", kCost, "sectors that its bytes would need, packed closely",
     global_cost<&analysis::SectorCost::ideal_sectors>},
    {"fetched", "byte", kCost, "bytes of its sectors",
     [](S& s) {
         return of_request<is_global>(
             s, [](const R& r) { return r.cost.global.sectors * analysis::kSectorBytes; });
     }},
    {"used", "byte", kCost, "bytes of them that lanes asked for",
     [](S& s) {
         return of_request<is_global>(s, [](const R& r) {
             uint64_t bytes = 0;
             for (const look::SectorView& sector : r.sectors) bytes += sector.bytes_used;
             return bytes;
         });
     }},
};

constexpr Fact kOfShared[] = {
    {"wavefronts", "wavefront", kCost, "wavefronts that it needs",
     shared_cost<&analysis::BankCost::wavefronts>},
    {"least_wavefronts", "wavefront", kCost, "wavefronts that it needs at least",
     shared_cost<&analysis::BankCost::ideal_wavefronts>},
    {"words", "word", kCost, "different words of 4 bytes that it touches",
     [](S& s) {
         return of_request<is_shared>(s, [](const R& r) {
             size_t words = 0;
             for (const auto& bank : r.banks) words += bank.size();
             return words;
         });
     }},
    {"banks", "bank", kCost, "different banks that they lie in",
     [](S& s) {
         return of_request<is_shared>(s, [](const R& r) {
             return std::ranges::count_if(r.banks, [](const auto& bank) { return !bank.empty(); });
         });
     }},
    {"bank", "", kCost, "the bank that has most of them",
     [](S& s) { return of_request<is_shared>(s, worst_bank); }},
    {"stale_read", "cell", kCells, "stale cells that it loads",
     [](S& s) -> Number {
         if (kind_of(s) != StepKind::SharedLoad) return std::nullopt;
         return cells(s, [](const auto& cell) { return cell.lanes != 0 && cell.stale; });
     }},
    {"overwritten", "cell", kCells, "cells that it loads after a later phase stored to them",
     [](S& s) -> Number {
         if (kind_of(s) != StepKind::SharedLoad) return std::nullopt;
         return cells(s, [&](const auto& cell) {
             return cell.lanes != 0 && cell.held.written &&
                    s.index.phase_at(cell.held.step) > s.index.phase_at(s.step);
         });
     }},
};

constexpr uint64_t kAsked = 5;  // the lane that questions about matrices ask about: no end of a row or column

constexpr Fact kOfMatrices[] = {
    {"matrices", "matrix", kMask, "matrices of 8 rows of 16 bytes that it moves",
     [](S& s) -> Number { return matrices_of(s) > 0 ? Number(matrices_of(s)) : std::nullopt; }},
    {"pointer", "", kNumbers, "lane 5",
     [](S& s) -> Number { return matrices_of(s) > 0 ? Number(kAsked) : std::nullopt; }},
    {"receiver", "", kMask, "the first lane that gets a part of the row that lane 5 points to",
     [](S& s) -> Number {
         if (matrices_of(s) == 0) return std::nullopt;
         const uint64_t row =
             kAsked % 8;  // of which lanes get two elements each, of their row or their column
         return s.trace.sites[form_of(s).site].transposed ? row / 2 : 4 * row;
     }},
};

constexpr Fact kOfCopy[] = {
    {"read_meanwhile", "request", kNumbers,
     "requests of the block that read shared memory until its threads have waited for the copy",
     read_meanwhile},
};

constexpr uint64_t kGetter = 3;  // the lane that questions ask about: not the first, as most do

constexpr Fact kOfExchange[] = {
    {"getter", "", kNumbers, "lane 3, of a shuffle",
     [](S& s) { return of_exchange(s, ptx::is_shuffle, [](const auto&) { return kGetter; }); }},
    {"distance", "lane", kNumbers, "by how many lanes it goes, of a shuffle up, down or by xor",
     [](S& s) -> Number {
         if (kind_of(s) != StepKind::Exchange) return std::nullopt;
         const auto distance = look::exchange_view(s.trace, s.index, nullptr, s.step).distance();
         return distance ? Number(*distance) : std::nullopt;
     }},
    {"giver", "", kMask, "the lane that gives to lane 3, of a shuffle",
     [](S& s) {
         return of_exchange(s, ptx::is_shuffle,
                            [](const auto& view) { return uint64_t{view.from[kGetter]}; });
     }},
    {"moved", "lane", kMask, "lanes that get the value of another, of a shuffle",
     [](S& s) {
         return of_exchange(s, ptx::is_shuffle, [](const auto& view) {
             return static_cast<uint64_t>(std::popcount(view.moved()));
         });
     }},
    {"votes", "lane", kMask, "lanes that vote for it, of a vote",
     [](S& s) {
         return of_exchange(s, ptx::is_vote,
                            [](const auto& view) { return static_cast<uint64_t>(std::popcount(view.yes)); });
     }},
};

using Form = ptx::MatrixForm;
ptx::MatrixPlace first_held(const Form& form) {
    return ptx::place_of(form, ptx::MatrixRole::D, {.lane = static_cast<uint8_t>(kAsked)});
}
constexpr Fact kOfProduct[] = {
    {"product_rows", "", kNumbers, "rows of the left matrix and of the sums",
     [](S& s) { return of_product(s, [](const Form& form) { return form.m; }); }},
    {"product_columns", "", kNumbers, "columns of the right matrix and of the sums",
     [](S& s) { return of_product(s, [](const Form& form) { return form.n; }); }},
    {"product_depth", "", kNumbers, "columns of the left matrix, rows of the right one",
     [](S& s) { return of_product(s, [](const Form& form) { return form.k; }); }},
    {"multiply_adds", "multiply-add", kNumbers,
     "multiplications that the warp's instruction makes, each with an addition",
     [](S& s) { return of_product(s, [](const Form& form) { return form.flop() / 2; }); }},
    {"held", "sum", kMask | Hide::Elements, "sums that each lane holds",
     [](S& s) {
         return of_product(s, [](const Form& form) {
             return form.registers(ptx::MatrixRole::D) * form.elements(ptx::MatrixRole::D);
         });
     }},
    {"holder", "", kNumbers, "lane 5",
     [](S& s) { return of_product(s, [](const Form&) { return kAsked; }); }},
    {"held_row", "", kMask | Hide::Elements, "the row of the first sum that lane 5 holds",
     [](S& s) { return of_product(s, [](const Form& form) { return first_held(form).row; }); }},
    {"held_column", "", kMask | Hide::Elements, "the column of that sum",
     [](S& s) { return of_product(s, [](const Form& form) { return first_held(form).column; }); }},
};

constexpr Fact kOfBarrier[] = {
    {"barrier", "", Hide::Waits | kTrips, "barriers that its warp passed before",
     [](S& s) -> Number {
         return kind_of(s) == StepKind::Barrier ? Number(s.index.phases.interval[s.step]) : std::nullopt;
     }},
    {"arrived", "warp", kArrivals, "warps that have come", arrived},
    {"awaited", "warp", kArrivals, "warps that are still to come", awaited},
};

using Times = look::BarrierTimes;
constexpr Fact kOfClockedBarrier[] = {
    {"first_warp", "", kArrivals, "the warp that comes first",
     [](S& s) { return of_barrier(s, [](const Times& b) -> Number { return b.arrivals.front().warp; }); }},
    {"last_warp", "", kArrivals, "the warp that comes last",
     [](S& s) { return of_barrier(s, [](const Times& b) -> Number { return b.last_warp; }); }},
    {"first_wait", "clock", kArrivals, "clocks that the first one waits",
     [](S& s) { return of_barrier(s, [](const Times& b) -> Number { return b.opens - b.first; }); }},
    {"orders", "order", kArrivals, "different orders of arrival at the barriers of the block",
     [](S& s) { return of_barrier(s, [&](const Times&) -> Number { return orders(s); }); }},
};

constexpr FactGroup kFirstGroups[] = {{"the launch", kOfLaunch},
                                      {"the block", kOfBlock},
                                      {"all recorded blocks", kOfRecording},
                                      {"the step", kOfStep},
                                      {"a request", kOfRequest},
                                      {"a global request", kOfGlobal},
                                      {"a shared request", kOfShared},
                                      {"a request for matrices (`ldmatrix`)", kOfMatrices},
                                      {"a copy by `cp.async`", kOfCopy},
                                      {"an exchange among lanes", kOfExchange},
                                      {"a product of matrices (`mma`)", kOfProduct},
                                      {"a barrier", kOfBarrier},
                                      {"a barrier with clocks", kOfClockedBarrier}};

// The first or the last active lane of the step.
uint32_t lane_of(const Scene& scene, bool first) {
    const uint32_t mask = form_of(scene).mask;
    return static_cast<uint32_t>(first ? std::countr_zero(mask) : 31 - std::countl_zero(mask)) % kWarpSize;
}
std::string thread_of_lane(const Scene& scene, bool first) {
    const uint32_t warp = scene.trace.warp_of(recorded(scene));
    return thread_name(scene.trace.launch.block, warp * kWarpSize + lane_of(scene, first),
                       scene.index.notation);
}
std::string element_of_lane(const Scene& scene, bool first) {
    const trace::Access access = trace::decode(scene.trace, recorded(scene));
    if (access.array == trace::kNoArray) return "";
    const Array& array = scene.trace.launch.arrays[access.array];
    return element_name(
        array,
        static_cast<int64_t>(access.offset[lane_of(scene, first)] / std::max(array.element_bytes(), 1u)),
        scene.index.notation);
}

std::string mark_words(const draw::CellMark& mark) { return fmt::format("{} ({})", mark.looks, mark.means); }

constexpr FactWord kWords[] = {
    {"array", "the array of the request",
     [](const S& s) {
         const uint8_t array = form_of(s).array;
         return array == trace::kNoArray ? "" : name_in(s.index.notation, s.trace.launch.arrays[array]);
     }},
    {"thread", "the thread of its first active lane", [](const S& s) { return thread_of_lane(s, true); }},
    {"element", "and the element that it touches", [](const S& s) { return element_of_lane(s, true); }},
    {"last_thread", "the thread of its last active lane",
     [](const S& s) { return thread_of_lane(s, false); }},
    {"last_element", "and the element that it touches", [](const S& s) { return element_of_lane(s, false); }},
    {"rival", "the kernel that times are compared with",
     [](const S& s) { return std::string(look::rival_of(s.trace.meta.kernel)); }},
    {"device", "what it was recorded on", [](const S& s) { return s.trace.meta.device; }},
    {"fault", "why the recording is not whole", [](const S& s) { return s.trace.meta.incomplete_reason; }},
    {"result", "what the program's check says",
     [](const S& s) { return look::result_text(s.trace, s.index.notation); }},
    {"mark_stale", "what stale cells look like, and what the legend calls them",
     [](const S&) { return mark_words(draw::kStaleMark); }},
    {"mark_zero", "the same of cells that are filled with zero",
     [](const S&) { return mark_words(draw::kZeroMark); }},
};

}  // namespace

const trace::Form& form_of(const Scene& scene) { return scene.trace.form_of(recorded(scene)); }
StepKind kind_of(const Scene& scene) { return look::kind_of(scene.trace, recorded(scene)); }

std::set<uint64_t> elements_of(const Scene& scene) {
    std::set<uint64_t> elements;
    look::for_elements(scene.trace, recorded(scene),
                       [&](uint32_t, uint64_t element) { elements.insert(element); });
    return elements;
}

const playback::BlockReplay* replay_of(Scene& scene) {
    if (!scene.replay) {
        auto replayer = kernels::Replayer::of(scene.trace);
        auto replay = std::make_shared<playback::BlockReplay>(scene.trace, scene.index.block);
        if (!replayer || !replayer->replay(scene.trace, scene.index.block, *replay)) return nullptr;
        replay->finish();
        scene.replay = std::move(replay);
    }
    return scene.replay.get();
}

std::span<const FactGroup> fact_groups() {
    static const std::vector<FactGroup> groups = [] {
        std::vector<FactGroup> all(std::begin(kFirstGroups), std::end(kFirstGroups));
        all.insert(all.end(), ring_fact_groups().begin(), ring_fact_groups().end());
        return all;
    }();
    return groups;
}
std::span<const FactWord> fact_words() { return kWords; }

const Fact* find_fact(std::string_view name) {
    for (const FactGroup& group : fact_groups())
        if (const auto found = std::ranges::find(group.facts, name, &Fact::name); found != group.facts.end())
            return &*found;
    return nullptr;
}

bool can_say(std::string_view name) {
    return find_fact(name) != nullptr || std::ranges::find(kWords, name, &FactWord::name) != std::end(kWords);
}

Number number_at(Scene& scene, std::string_view name) {
    const Fact* const fact = find_fact(name);
    return fact == nullptr ? std::nullopt : fact->at(scene);
}

std::string filled(Scene& scene, std::string_view name) {
    const auto word = std::ranges::find(kWords, name, &FactWord::name);
    if (word != std::end(kWords)) return word->at(scene);
    const Number number = scene.step < scene.index.steps ? number_at(scene, name) : Number();
    if (!number) return "";
    const bool phase = name == "phase" || name == "last_phase";
    return grouped(*number + (phase && scene.index.notation.phases_from_1 ? 1 : 0));
}

}  // namespace tilescope::lessons
