#include "app/look/request.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include <fmt/format.h>

#include "app/look/timeline.h"
#include "core/base/cluster.h"
#include "core/ptx/matrix.h"
#include "core/trace/access.h"

namespace tilescope::look {
namespace {

// The request's array; null where its addresses lie in none.
const Array* array_of(const trace::Trace& trace, const RequestView& view) {
    return view.array == trace::kNoArray ? nullptr : &trace.launch.arrays[view.array];
}
uint64_t base_of(const Array* array) { return array == nullptr ? 0 : array->base; }
uint32_t element_bytes(const Array* array) {
    return array == nullptr ? 4 : std::max(array->element_bytes(), 1u);
}

void lay_out_pieces(const trace::Trace& trace, uint64_t step, const trace::Access& access,
                    RequestView& view) {
    const Array* const array = array_of(trace, view);
    trace::for_pieces(trace, step, access, [&](uint32_t lane, uint64_t offset, uint64_t bytes) {
        if (bytes == 0) return;
        view.pieces.push_back({lane, offset, bytes});
        LaneView& of = view.lanes[lane];
        if (view.box && of.bytes == 0) {  // a box's own address may be that of its map
            of.offset = offset;
            of.index = offset / element_bytes(array);
        }
        of.bytes += bytes;
        ++of.pieces;
        view.bytes = std::max(view.bytes, static_cast<uint32_t>(of.bytes));
        if (array == nullptr) return;
        const uint64_t last = (offset + bytes - 1) / element_bytes(array);  // of several elements
        view.touched.include(position_of(*array, static_cast<int64_t>(offset / element_bytes(array))));
        view.touched.include(position_of(*array, static_cast<int64_t>(last)));
    });
}

trace::PlaceElsewhere place_of_lane(const trace::Trace& trace, const BlockIndex& index, uint64_t address) {
    const trace::Block& block = trace.blocks[index.block];
    return trace::place_elsewhere(trace, {block.x, block.y, block.z}, address);
}

// Sectors and lines of a global request, lanes that straddle two sectors counted in both.
void lay_out_sectors(const trace::Trace& trace, RequestView& view) {
    // Sectors are numbered from the array's start; arrays begin on a 256-byte boundary.
    const uint64_t skew = base_of(array_of(trace, view)) % analysis::kLineBytes;
    std::vector<std::pair<uint64_t, const PieceView*>> touched;  // by sector
    for (const PieceView& piece : view.pieces) {
        const uint64_t first = (piece.offset + skew) / analysis::kSectorBytes,
                       last = (piece.offset + skew + piece.bytes - 1) / analysis::kSectorBytes;
        for (uint64_t sector = first; sector <= last; ++sector) touched.emplace_back(sector, &piece);
    }
    std::ranges::sort(touched);  // pieces stand in the order of the lanes
    uint32_t used = 0;           // bytes of a sector, a bit each
    for (const auto& [number, piece] : touched) {
        if (view.sectors.empty() || view.sectors.back().number != number) {
            view.sectors.push_back({number, 0, 0});
            const uint64_t line = number / 4;
            if (view.lines.empty() || view.lines.back().number != line)
                view.lines.push_back({line, {-1, -1, -1, -1}});
            view.lines.back().sector[number % 4] = static_cast<int32_t>(view.sectors.size() - 1);
            used = 0;
        }
        SectorView& sector = view.sectors.back();
        sector.lanes |= 1u << piece->lane;
        const uint64_t from = piece->offset + skew;
        for (uint64_t byte = std::max(from, number * 32);
             byte < std::min(from + piece->bytes, number * 32 + 32); ++byte)
            used |= 1u << byte % 32;
        sector.bytes_used = static_cast<uint32_t>(std::popcount(used));
        if ((view.lanes[piece->lane].offset + skew) / 32 == number)
            view.lanes[piece->lane].sector = static_cast<uint32_t>(view.sectors.size() - 1);
    }
}

// The sectors of a request to local memory: word w of lane l is the 32-bit word 32 w + l of the warp's.
void lay_out_local(RequestView& view) {
    constexpr uint64_t kWord = 4, kRow = kWord * kWarpSize;
    std::map<uint64_t, SectorView> sectors;  // by number
    for_lanes(view.mask, [&](uint32_t lane) {
        const uint64_t from = view.lanes[lane].offset, end = from + view.bytes;
        for (uint64_t word = from / kWord; word * kWord < end; ++word) {
            SectorView& sector = sectors[(word * kRow + lane * kWord) / analysis::kSectorBytes];
            sector.lanes |= 1u << lane;
            sector.bytes_used +=
                static_cast<uint32_t>(std::min(end, (word + 1) * kWord) - std::max(from, word * kWord));
        }
    });
    for (auto& [number, sector] : sectors) {
        sector.number = number;
        if (view.lines.empty() || view.lines.back().number != number / 4)
            view.lines.push_back({number / 4, {-1, -1, -1, -1}});
        view.lines.back().sector[number % 4] = static_cast<int32_t>(view.sectors.size());
        for_lanes(sector.lanes, [&](uint32_t lane) {
            const uint64_t first = view.lanes[lane].offset / kWord * kRow + lane * kWord;
            if (first / analysis::kSectorBytes == number)
                view.lanes[lane].sector = static_cast<uint32_t>(view.sectors.size());
        });
        view.sectors.push_back(sector);
    }
}

void lay_out_addresses(RequestView& view) {
    std::map<uint64_t, uint32_t> lanes;  // that meet at an address
    for_lanes(view.mask, [&](uint32_t lane) { lanes[view.lanes[lane].offset] |= 1u << lane; });
    for (const auto& [address, of] : lanes) view.addresses.push_back({address, of});
}

std::string mask_note(const RequestView& view, uint64_t threads) {
    if (view.matrices != 0)
        return fmt::format("{} a row of 16 bytes each; all 32 {}.",
                           view.matrices == 4 ? "All lanes point to"
                                              : fmt::format("Lanes 0 to {} point to", 8 * view.matrices - 1),
                           is_load(view.kind) ? "get the words" : "give the words");
    if (view.mask == 0xFFFF'FFFFu) return "";
    const int active = std::popcount(view.mask);
    const uint64_t first = uint64_t{view.warp} * kWarpSize;
    const uint64_t here = threads > first ? std::min<uint64_t>(threads - first, kWarpSize) : 0;
    if (here < kWarpSize && static_cast<uint64_t>(active) == here) {
        return fmt::format("The block has only {} in this warp; its other {} idle.", counted(here, "thread"),
                           here == 31 ? "lane is" : fmt::format("{} lanes are", kWarpSize - here));
    }
    return fmt::format("{} of {} active; {} switched off by a branch.", active, counted(here, "lane"),
                       here - static_cast<uint64_t>(active));
}

// By ptx::Atomic: what one lane does to a word, and several.
struct AtomicVerb {
    const char *one, *many;
};
constexpr AtomicVerb kAtomicVerbs[] = {{"updates", "update"},
                                       {"adds to", "add to"},
                                       {"clears bits of", "clear bits of"},
                                       {"sets bits of", "set bits of"},
                                       {"flips bits of", "flip bits of"},
                                       {"lowers", "lower"},
                                       {"raises", "raise"},
                                       {"counts up", "count up"},
                                       {"counts down", "count down"},
                                       {"exchanges", "exchange"},
                                       {"compares and swaps", "compare and swap"}};
const AtomicVerb& verb_of(ptx::Atomic atomic) { return kAtomicVerbs[static_cast<size_t>(atomic)]; }

// The different elements that a request touches, and how they lie.
struct LanePattern {
    std::vector<uint64_t> elements;  // ascending, distinct
    uint32_t bytes = 4;              // of an element
    uint32_t repeats = 0;            // lanes per element where all have as many, else 0
    uint32_t runs = 0;               // stretches of neighbours
    uint32_t run_length = 0;         // where all are as long, else 0
    uint64_t run_sectors = 0;        // that the stretches would need if each began at a sector's edge
    bool one_column = false;         // elements of one column, at least two
    bool even_rows = false;          // ... in rows one apart
};

LanePattern pattern_of(const trace::Trace& trace, const RequestView& view) {
    LanePattern pattern;
    const Array* const array = array_of(trace, view);
    const uint32_t cols = array != nullptr && array->rank > 1 ? std::max(array->cols, 1u) : 1;
    pattern.bytes = element_bytes(array);
    std::map<uint64_t, uint32_t> lanes;  // that touch an element
    for_lanes(view.mask, [&](uint32_t lane) {
        const LaneView& of = view.lanes[lane];
        for (uint64_t at = of.index; at <= (of.offset + view.bytes - 1) / pattern.bytes; ++at) ++lanes[at];
    });
    for (const auto& [element, count] : lanes) {
        pattern.repeats = pattern.elements.empty() || pattern.repeats == count ? count : 0;
        pattern.elements.push_back(element);
    }
    const auto& elements = pattern.elements;
    size_t begin = 0;
    for (size_t at = 1; at <= elements.size(); ++at) {
        // Neighbours in memory; the end of one row and the start of the next are neighbours too.
        if (at < elements.size() && elements[at] == elements[at - 1] + 1) continue;
        const auto length = static_cast<uint32_t>(at - begin);
        pattern.run_length = pattern.runs == 0 || pattern.run_length == length ? length : 0;
        ++pattern.runs;
        pattern.run_sectors += (uint64_t{length} * pattern.bytes + 31) / 32;
        begin = at;
    }
    pattern.one_column = elements.size() > 1 && cols > 1;
    pattern.even_rows = true;
    for (size_t at = 1; at < elements.size(); ++at) {
        if (elements[at] % cols != elements[0] % cols) pattern.one_column = false;
        if (elements[at] - elements[at - 1] != cols) pattern.even_rows = false;
    }
    return pattern;
}

std::string each_times(const LanePattern& pattern) {
    if (pattern.repeats == 1) return "";
    if (pattern.repeats == 2) return ", each twice";
    if (pattern.repeats > 2) return fmt::format(", each {} times", pattern.repeats);
    return ", some more than once";
}

// "32 lanes read", "1 lane writes"
std::string who(const RequestView& view) {
    const bool load = is_load(view.kind);
    const int lanes = std::popcount(view.mask);
    if (is_atomic(view.kind))
        return fmt::format("{} {}", counted(static_cast<uint64_t>(lanes), "lane"),
                           lanes == 1 ? verb_of(view.atomic).one : verb_of(view.atomic).many);
    return fmt::format("{} {}{}", counted(static_cast<uint64_t>(lanes), "lane"), load ? "read" : "write",
                       lanes == 1 ? "s" : "");
}

// What is touched in global memory, without its cost.
std::string global_places(const trace::Trace& trace, const RequestView& view, const LanePattern& pattern) {
    const size_t count = pattern.elements.size();
    const Array* const array = array_of(trace, view);
    const std::string of = array != nullptr ? " of " + view.array_name : "";
    if (count == 1) return (pattern.repeats == 1 ? "one element" : "one and the same element") + of;
    if (pattern.one_column && array != nullptr) {
        const std::string apart =
            fmt::format("a row ({}) apart", counted(uint64_t{array->cols} * array->element_bytes(), "byte"));
        const std::string what = pattern.even_rows && pattern.repeats == 1
                                     ? fmt::format("one column{}", of)
                                     : fmt::format("{} elements of one column{}", count, of);
        return fmt::format("{}, {}{}", what, apart, each_times(pattern));
    }
    if (pattern.runs == 1)
        return fmt::format("{} neighbours{}{}", count, each_times(pattern),
                           view.good ? "" : ", not starting at a sector's edge");
    if (pattern.run_length > 1) {
        const analysis::SectorCost& cost = view.cost.global;
        const char* why = "";
        if (view.good)
            why = "";
        else if (cost.sectors > pattern.run_sectors)
            why = ", not starting at a sector's edge";
        else if (cost.sectors > cost.ideal_sectors)
            why = pattern.run_length * pattern.bytes < 32 ? ", each shorter than a sector"
                                                          : ", each ending inside a sector";
        const bool flat = array != nullptr && array->rank == 1;
        return fmt::format("{} {} of {} neighbours{}{}", pattern.runs, flat ? "stretches" : "rows",
                           pattern.run_length, each_times(pattern), why);
    }
    if (pattern.run_length == 0)
        return fmt::format("{} elements in {} stretches{}", count, pattern.runs, each_times(pattern));
    return fmt::format("{} elements{}, no two of them neighbours{}", count, of, each_times(pattern));
}

std::string global_cost(const analysis::SectorCost& cost, uint64_t rows_of_threads) {
    if (cost.sectors <= cost.ideal_sectors)
        return fmt::format("{} of {} needed", counted(cost.sectors, "sector"), cost.ideal_sectors);
    if (cost.sectors <= cost.block_sectors)
        return fmt::format("{} for {} rows of threads, {} at best", counted(cost.sectors, "sector"),
                           rows_of_threads, cost.ideal_sectors);
    return fmt::format("{} where {} would do", counted(cost.sectors, "sector"), cost.ideal_sectors);
}

std::string shared_cost(const analysis::BankCost& cost) {
    const std::string taken = counted(cost.wavefronts, "wavefront");
    return cost.conflicts() == 0 ? taken : fmt::format("{} where {} would do", taken, cost.ideal_wavefronts);
}

// What is touched in shared memory, and its cost.
std::string shared_places(const RequestView& view, const LanePattern& pattern) {
    size_t words = 0, banks = 0;
    for (const auto& bank : view.banks) words += bank.size(), banks += bank.empty() ? 0 : 1;
    const auto worst = std::ranges::max_element(view.banks, {}, [](const auto& bank) { return bank.size(); });
    const std::string price = shared_cost(view.cost.shared), repeats = each_times(pattern);
    if (words == 1)
        return fmt::format("one word: {}{}", std::has_single_bit(view.mask) ? "" : "a broadcast, ", price);
    // 8 or 16 bytes a lane go by halves or quarters of a warp, each for itself.
    if (const uint32_t groups = view.cost.shared.ideal_wavefronts; view.bytes > 4 && groups > 1)
        return fmt::format("{} words in {} groups of lanes{}{}: {}", words, groups, repeats,
                           view.cost.shared.conflicts() == 0 ? "" : ", which meet in banks", price);
    if (worst->size() == 1)
        return fmt::format("{} words in {} different banks{}: {}{}", words, banks, repeats,
                           repeats.empty() ? "" : "broadcasts, ", price);
    if (banks == 1)
        return fmt::format("{} different words of bank {}{}: {}", words, worst - view.banks.begin(), repeats,
                           price);
    return fmt::format("{} words in only {} banks, up to {} in one{}: {}", words, banks, worst->size(),
                       repeats, price);
}

// "add to 3 words: one is hit 17 times, 17 turns; 2 sectors of 1 needed": what lanes at one address wait for.
std::string atomic_places(const RequestView& view) {
    const analysis::AddressCost& cost = view.cost.addresses;
    const int lanes = std::popcount(view.mask);
    std::string text;
    if (lanes == 1)
        text = "one word";
    else if (cost.addresses == 1)
        text = fmt::format("one and the same word, one after the other: {} turns", cost.most_lanes);
    else if (cost.most_lanes == 1)
        text = fmt::format("{} different words, none twice", cost.addresses);
    else
        text = fmt::format("{} words: one is hit {}, in as many turns", cost.addresses,
                           times_in_words(cost.most_lanes));
    if (view.kind == StepKind::GlobalAtomic)
        return fmt::format("{}; {}", text, global_cost(view.cost.global, 1));
    return view.cost.shared.conflicts() == 0
               ? text
               : fmt::format("{}; up to {} of the words in one bank", text, view.cost.shared.wavefronts);
}

std::string local_places(const RequestView& view) {
    std::set<uint64_t> offsets;
    for_lanes(view.mask, [&](uint32_t lane) { offsets.insert(view.lanes[lane].offset); });
    const std::string price = global_cost(view.cost.global, 1);
    const bool alone = std::has_single_bit(view.mask);
    if (offsets.size() == 1)
        return fmt::format("byte {} of {} own local memory: {}", grouped(*offsets.begin()),
                           alone ? "its" : "their", price);
    return fmt::format("{} different places of their own local memory: {}", offsets.size(), price);
}

std::string constant_places(const RequestView& view) {
    const uint32_t addresses = view.cost.addresses.addresses;
    if (addresses > 1)
        return fmt::format("{} different addresses: {} passes where 1 would do", addresses, addresses);
    return std::has_single_bit(view.mask) ? "one constant: 1 pass" : "one constant: a broadcast, 1 pass";
}

// "4 lanes ask for 3,072 bytes together in bulk: 96 sectors of 96 needed"
std::string bulk_verdict(const RequestView& view) {
    const bool one = std::has_single_bit(view.mask), load = is_load(view.kind);
    const bool global = space_of(view.kind) == Space::Global;
    const char* const verb = global && load ? (one ? "asks for" : "ask for")
                             : load         ? (one ? "sends" : "send")
                             : global       ? (one ? "stores" : "store")
                                            : (one ? "fills" : "fill");
    const std::string text =
        fmt::format("{} {} {}{} in bulk", counted(static_cast<uint64_t>(std::popcount(view.mask)), "lane"),
                    verb, counted(view.cost.bytes, "byte"), one ? "" : " together");
    if (global) return fmt::format("{}: {}", text, global_cost(view.cost.global, 1));
    return text + ". What that takes of the banks is not modelled";
}

// "tile of block(1)", where all lanes are there; "other blocks' shared memory".
std::string elsewhere_name(const trace::Trace& trace, const BlockIndex& index, const trace::Access& access) {
    std::optional<trace::PlaceElsewhere> first;
    bool same = true;
    for_lanes(access.mask, [&](uint32_t lane) {
        const auto place = place_of_lane(trace, index, access.offset[lane]);
        if (!first) first = place;
        same = same && place.block == first->block && place.array == first->array;
    });
    if (!same) return "shared memory of several blocks";
    const std::string block = block_name(trace.launch.grid, first->block, index.notation);
    return first->array == trace::kNoArray
               ? fmt::format("shared memory of {}", block)
               : fmt::format("{} of {}", name_in(index.notation, trace.launch.arrays[first->array]), block);
}

// "32 lanes read 128 bytes of another block's shared memory. What that takes is not modelled"
std::string elsewhere_verdict(const RequestView& view) {
    const bool one = std::has_single_bit(view.mask);
    const std::string verb = is_atomic(view.kind) ? (one ? "updates" : "update")
                             : is_load(view.kind) ? (one ? "reads" : "read")
                                                  : (one ? "stores" : "store");
    return fmt::format("{} {} {} of another block's shared memory. What that takes is not modelled",
                       who(view), verb, counted(view.cost.bytes, "byte"));
}

// The verdict on a memory request whose lanes, sectors, banks and cost are filled in.
std::string request_verdict(const trace::Trace& trace, const RequestView& view) {
    if (view.box) return bulk_verdict(view);
    if (view.elsewhere) return elsewhere_verdict(view);
    if (is_atomic(view.kind)) return who(view) + " " + atomic_places(view);
    if (space_of(view.kind) == Space::Local) return who(view) + " " + local_places(view);
    if (space_of(view.kind) == Space::Const) return who(view) + " " + constant_places(view);
    const LanePattern pattern = pattern_of(trace, view);
    if (space_of(view.kind) == Space::Shared) return who(view) + " " + shared_places(view, pattern);
    // Rows of the block that have an active lane.
    std::set<uint64_t> rows;
    for_lanes(view.mask, [&](uint32_t lane) {
        rows.insert(view.lanes[lane].thread / std::max(trace.launch.block.x, 1u));
    });
    return fmt::format("{} {}: {}", who(view), global_places(trace, view, pattern),
                       global_cost(view.cost.global, rows.size()));
}

std::string barrier_verdict(const BlockIndex& index, uint32_t step) {
    const uint32_t interval = step < index.phases.interval.size() ? index.phases.interval[step] : 0;
    if (interval >= index.arrivals.size()) return "";
    const auto& arrivals = index.arrivals[interval];
    if (arrivals.size() == 1) return "The block is a single warp: it goes straight on.";
    const auto arrived = std::ranges::upper_bound(arrivals, step) - arrivals.begin();
    if (static_cast<size_t>(arrived) == arrivals.size())
        return fmt::format("The last of {} warps arrives: the block goes on.", arrivals.size());
    return fmt::format("{} of {} warps {} arrived; the block waits for the others.", arrived, arrivals.size(),
                       arrived == 1 ? "has" : "have");
}

}  // namespace

RequestView request_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step,
                         const playback::BlockReplay* replay) {
    RequestView view;
    if (step >= index.steps) return view;
    const trace::Access access = trace::decode(trace, index.first + step);
    const ptx::Site& site = trace.sites[access.site];
    view.kind = kind_of(trace, index.first + step);
    view.step = step;
    view.site = access.site;
    view.line = shown_line(trace, site);
    view.warp = access.warp;
    view.mask = access.mask;
    view.box = site.box != ptx::Box::None;
    view.bytes = view.box ? 0 : site.bytes;
    view.array = access.array;
    const Array* const array = array_of(trace, view);
    if (array != nullptr) view.array_bytes = array->elements() * array->element_bytes();
    view.notation = index.notation;
    view.atomic = site.atomic;
    view.matrices = site.matrices, view.transposed = site.transposed;
    const bool named = !asks_memory(view.kind) || space_of(view.kind) == Space::Global ||
                       space_of(view.kind) == Space::Shared;
    view.array_name = array != nullptr ? name_in(index.notation, *array)
                      : named          ? "no array"
                                       : fmt::format("{} memory", name_of(space_of(view.kind)));

    view.elsewhere = trace::is_elsewhere(trace, trace.form_of(index.first + step)) && asks_memory(view.kind);
    if (view.elsewhere) view.array_name = elsewhere_name(trace, index, access);

    const char* const verb = site.past_registers()
                                 ? (site.kind == ptx::SiteKind::Load ? "copies from" : "copies to")
                             : is_atomic(view.kind) ? verb_of(view.atomic).one
                                                    : analysis::row_of(view.kind).verb;
    const uint64_t threads = trace.launch.block.count();
    for (uint32_t lane = 0; lane < 32; ++lane) {
        LaneView& to = view.lanes[lane];
        to.thread = access.warp * kWarpSize + lane;
        to.exists = to.thread < threads;
        to.active = (access.mask >> lane & 1) != 0;
        if (!to.active || !asks_memory(view.kind)) continue;
        to.offset = access.offset[lane];
        to.index = to.offset / element_bytes(array);
    }
    if (asks_memory(view.kind)) lay_out_pieces(trace, index.first + step, access, view);
    if (view.kind == StepKind::Barrier) {
        const auto cluster = trace::at_cluster_barrier(trace, site);
        if (cluster != trace::ClusterBarrier::None) {
            const bool arrives = cluster == trace::ClusterBarrier::Arrives;
            view.title =
                fmt::format("Warp {} {} at the cluster's barrier", view.warp, arrives ? "arrives" : "waits");
            view.verdict = arrives ? "It goes on, and will wait for the threads of all blocks of the cluster."
                                   : "It goes on when the threads of all blocks of the cluster have arrived.";
            return view;
        }
        view.title = fmt::format("Warp {} at the barrier", view.warp);
        view.verdict = barrier_verdict(index, step);
        if (const BarrierTimes* barrier = barrier_of_step(index, step))
            view.mask_note = wait_words(trace, *barrier, view.warp);
        return view;
    }
    if (view.kind == StepKind::Exchange) {
        view.exchange = exchange_view(trace, index, replay, step);
        view.title = fmt::format("Warp {} {}", view.warp, exchange_title(view.exchange));
        view.verdict = exchange_verdict(view.exchange);
        view.mask_note = mask_note(view, threads);
        view.good = view.exchange.absent == 0;
        return view;
    }
    if (is_of_mbarrier(view.kind)) {
        view.signal = signal_view(trace, index, step);
        view.pipeline = pipeline_view(trace, index, step);
        view.title = view.signal.title, view.verdict = view.signal.verdict;
        const std::string length = wait_length(trace, index, step);
        view.mask_note = length.empty() ? mask_note(view, threads) : length;
        return view;
    }
    view.cost = analysis::cost_of(trace, index.first + step);
    switch (space_of(view.kind)) {
        case Space::Global:
            lay_out_sectors(trace, view);
            view.good = view.cost.global.sectors <= view.cost.global.block_sectors;
            view.least = view.cost.global.sectors <= view.cost.global.ideal_sectors;
            break;
        case Space::Shared:
            if (view.box || view.elsewhere) break;
            lay_out_banks(trace, view);
            view.good = view.cost.shared.wavefronts <= view.cost.shared.ideal_wavefronts;
            break;
        case Space::Local:
            lay_out_local(view);
            view.good = view.cost.global.sectors <= view.cost.global.block_sectors;
            break;
        case Space::Const: view.good = view.cost.addresses.addresses <= 1; break;
    }
    if (analysis::has_addresses(space_of(view.kind), site.kind)) lay_out_addresses(view);
    if (is_atomic(view.kind)) view.good = view.good && view.cost.addresses.most_lanes == 1;
    view.title = fmt::format("Warp {} {} {}", view.warp, verb, view.array_name);
    if (view.matrices != 0)
        view.title =
            fmt::format("Warp {} {} {} {} {}", view.warp, is_load(view.kind) ? "reads" : "writes",
                        matrices_text(view.matrices), is_load(view.kind) ? "of" : "to", view.array_name);
    if (view.box) {
        const bool tile = site.box == ptx::Box::Tile;
        view.title = tile ? fmt::format("Warp {} reads a tile of {}", view.warp, view.array_name)
                          : fmt::format("Warp {} copies in bulk {} {}", view.warp,
                                        is_load(view.kind) ? "from" : "to", view.array_name);
        view.lies = box_view(trace, index.first + step);
        view.counted_by = barrier_of_copy(trace, index, step);
        view.pipeline = pipeline_view(trace, index, step);
    }
    view.mask_note = mask_note(view, threads);
    view.verdict = request_verdict(trace, view);
    if (view.lies) view.verdict = view.lies->verdict;
    if (view.lies && !view.lies->note.empty()) view.mask_note = view.lies->note;
    return view;
}

bool is_judged(const RequestView& request) {
    return asks_memory(request.kind) && !request.elsewhere &&
           !(request.box && space_of(request.kind) == Space::Shared);
}

std::string bulk_caption(const trace::Trace& trace, const BlockIndex& index, const RequestView& request,
                         const CopyView& copy, const std::string& where) {
    const bool load = is_load(request.kind), global = space_of(request.kind) == Space::Global;
    const std::string lanes = counted(static_cast<uint64_t>(std::popcount(request.mask)), "lane");
    std::string text = fmt::format("Warp {} copies {}{}", request.warp, load ? "" : "to ", where);
    if (load && copy.to != trace::kNoArray)
        text += " to " + name_in(index.notation, trace.launch.arrays[copy.to]);
    text += fmt::format(" in bulk: {}, {}", lanes, counted(request.cost.bytes, "byte"));
    if (global) text += ", " + counted(request.cost.global.sectors, "sector");
    if (load) return text + ".";
    if (!request.counted_by.empty()) text += fmt::format(", which {} counts", request.counted_by);
    return text + (copy.behind ? fmt::format(". They are there before step {}.", grouped(*copy.behind + 1))
                               : ". No wait follows that says when they are there.");
}

void lay_out_banks(const trace::Trace& trace, RequestView& request) {
    const uint64_t base = base_of(array_of(trace, request));
    std::array<uint64_t, kWarpSize> address{};
    request.banks = {};
    for_lanes(request.mask, [&](uint32_t lane) {
        address[lane] = base + request.lanes[lane].offset;
        const uint64_t first = address[lane] / analysis::kBankBytes;
        const uint64_t last = (address[lane] + request.bytes - 1) / analysis::kBankBytes;
        request.lanes[lane].bank = static_cast<uint32_t>(first % analysis::kBanks);
        request.lanes[lane].word = first;
        for (uint64_t word = first; word <= last; ++word) {
            auto& bank = request.banks[word % analysis::kBanks];
            const auto found = std::ranges::find(bank, word, &WordView::number);
            if (found != bank.end())
                found->lanes |= 1u << lane;
            else
                bank.push_back({word, 1u << lane});
        }
    });
    const bool keeps_groups = !is_load(request.kind) || request.matrices != 0;
    const analysis::LaneGroups groups(address.data(), request.mask, request.bytes, keeps_groups);
    request.groups.assign(groups.masks().begin(), groups.masks().end());
    request.group_lanes = groups.lanes();
    request.cost.shared = analysis::bank_cost(address.data(), request.mask, request.bytes, keeps_groups);
}

std::vector<WordView> stack_of(const RequestView& request, uint32_t group, size_t bank) {
    std::vector<WordView> stack;
    for (const WordView& word : request.banks[bank])
        if ((word.lanes & group) != 0) stack.push_back({word.number, word.lanes & group});
    return stack;
}

size_t tallest_of_group(const RequestView& request, uint32_t group) {
    size_t tallest = 0;
    for (size_t bank = 0; bank < request.banks.size(); ++bank)
        tallest = std::max(tallest, stack_of(request, group, bank).size());
    return tallest;
}

size_t tallest_of_bank(const RequestView& request, size_t bank) {
    size_t tallest = 0;
    for (const uint32_t group : request.groups)
        tallest = std::max(tallest, stack_of(request, group, bank).size());
    return tallest;
}

std::string matrices_text(uint32_t count) {
    return fmt::format("{} {}", count, count == 1 ? "matrix" : "matrices");
}

MovedElement moved_element(const RequestView& request, uint32_t lane, uint32_t matrix, uint32_t element) {
    const ptx::MovedPlace at = ptx::moved_place(lane, element, request.transposed);
    return {8 * matrix + at.row, at.column};
}

std::string moved_text(const RequestView& request, uint32_t lane) {
    std::vector<uint32_t> pointers;
    uint32_t columns[2] = {};
    for (uint32_t matrix = 0; matrix < request.matrices; ++matrix)
        for (const uint32_t element : {0u, 1u}) {
            const MovedElement moved = moved_element(request, lane, matrix, element);
            columns[element] = moved.column;
            if (pointers.empty() || pointers.back() != moved.pointer) pointers.push_back(moved.pointer);
        }
    std::string lanes;
    for (size_t i = 0; i < pointers.size(); ++i)
        lanes += fmt::format("{}{}", i == 0 ? "" : i + 1 == pointers.size() ? " and " : ", ", pointers[i]);
    return fmt::format("{} {} of the row{} of lane{} {}", is_load(request.kind) ? "gets" : "gives",
                       columns[0] == columns[1] ? fmt::format("element {}", columns[0])
                                                : fmt::format("elements {} and {}", columns[0], columns[1]),
                       pointers.size() == 1 ? "" : "s", pointers.size() == 1 ? "" : "s", lanes);
}

std::string lane_text(const trace::Trace& trace, const RequestView& request, uint32_t lane) {
    const LaneView& view = request.lanes[lane];
    if (!view.exists) return fmt::format("lane {}: the block has no thread here", lane);
    const std::string thread = thread_name(trace.launch.block, view.thread, request.notation);
    if (request.kind == StepKind::Barrier)
        return thread + (view.active ? ": arrives with its warp" : ": has left the kernel");
    if (!view.active && request.matrices != 0)
        return fmt::format("{}: gives no address; {}", thread, moved_text(request, lane));
    if (!view.active) return thread + ": switched off in this request";
    if (request.kind == StepKind::Exchange) return thread + ": " + exchange_of_lane(request.exchange, lane);
    if (is_of_mbarrier(request.kind)) return fmt::format("{}: {}", thread, request.signal.verdict);
    const Space space = space_of(request.kind);
    const std::string place = analysis::has_sectors(space)
                                  ? fmt::format(", sector {}", grouped(request.sectors[view.sector].number))
                              : space == Space::Shared && is_judged(request)
                                  ? fmt::format(", bank {}", view.bank)
                                  : "";
    if (request.array == trace::kNoArray) {
        if (space == Space::Local)
            return fmt::format("{}: byte {} of its local memory{} of the warp's", thread,
                               grouped(view.offset), place);
        if (space == Space::Const)
            return fmt::format("{}: byte {} of constant memory", thread, grouped(view.offset));
        if (request.elsewhere) {
            const trace::PlaceElsewhere at = trace::place_elsewhere(trace, {}, view.offset);
            const std::string name =
                at.array == trace::kNoArray
                    ? fmt::format("byte {}", grouped(at.offset))
                    : element_name(
                          trace.launch.arrays[at.array],
                          static_cast<int64_t>(at.offset / element_bytes(&trace.launch.arrays[at.array])),
                          request.notation);
            if (!is_of_other_block(view.offset)) return fmt::format("{}: {} of its own block", thread, name);
            return fmt::format("{}: {} of the block of rank {} in the cluster", thread, name,
                               rank_of_address(view.offset));
        }
        return fmt::format("{}: address {}, in no array", thread, view.offset);
    }
    const Array& array = trace.launch.arrays[request.array];
    if (request.box)
        return fmt::format("{}: {}{} from {} on = byte {} of {}{}", thread, counted(view.bytes, "byte"),
                           view.pieces > 1 ? fmt::format(" in {} pieces", grouped(view.pieces)) : "",
                           element_name(array, view.index, request.notation), grouped(view.offset),
                           request.array_name, place);
    return fmt::format("{}: {}{} = byte {} of {}{}{}", thread, request.matrices != 0 ? "points to " : "",
                       element_name(array, view.index, request.notation), grouped(view.offset),
                       request.array_name, place,
                       request.matrices != 0 ? "; " + moved_text(request, lane) : "");
}

std::vector<std::string> lane_formula(const trace::Trace& trace, const RequestView& request, uint32_t lane) {
    const LaneView& view = request.lanes[lane];
    if (!view.active || request.array == trace::kNoArray || !asks_memory(request.kind)) return {};
    const Array& array = trace.launch.arrays[request.array];
    const Position at = position_of(array, static_cast<int64_t>(view.index));
    std::vector<std::string> lines;
    if (array.rank == 2)
        lines.push_back(fmt::format("{}\u00b7{} + {} = {}", at.row, array.cols, at.col, view.index));
    if (array.rank == 3)
        lines.push_back(fmt::format("({}\u00b7{} + {})\u00b7{} + {} = {}", at.slice, array.rows, at.row,
                                    array.cols, at.col, view.index));
    lines.push_back(fmt::format("{}\u00b7{} = byte {}", view.index, array.element_bytes(), view.offset));
    const uint64_t word = (array.base + view.offset) / analysis::kBankBytes;
    if (array.space == Space::Global)
        lines.push_back(fmt::format("{}/32 = sector {}", view.offset, request.sectors[view.sector].number));
    if (array.space == Space::Shared && !request.box)
        lines.push_back(fmt::format("word {} mod 32 = bank {}", word, view.bank));
    return lines;
}

}  // namespace tilescope::look
