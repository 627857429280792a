// A recording, read the slow and obvious way from trace::decode, its sites and its launch alone: none of the
// program's own sums is used. What its requests cost, its phases, and what its blocks do to values.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/contents.h"
#include "core/trace/trace.h"
#include "tests/twin/latest.h"
#include "tests/twin/request.h"
#include "tests/twin/tensor_box.h"

namespace tilescope::twin {

enum Kind { kGlobalLoad, kGlobalStore, kSharedLoad, kSharedStore, kBarrier, kExchange, kSignal, kKinds };

// A request as it was recorded, and what it costs (request.h). Of other memory than global and shared it is
// counted as of shared memory: `space` says which it is.
struct Request {
    Kind kind = kBarrier;
    Space space = Space::Global;
    bool load = false, copy = false;  // copy: by cp.async, half of it
    uint32_t site = 0, line = 0, warp = 0, mask = 0, lanes = 0, bytes = 0;
    uint8_t array = trace::kNoArray;
    Addresses at{};  // bytes in the array
    // Of a box of a tensor: each element of it that lies in the array, by the lane that asks.
    std::vector<std::pair<uint32_t, uint64_t>> box{};
    bool is_box = false;
    uint64_t base = 0;             // of the array
    bool counted = false;          // what follows is
    uint64_t cost = 0, least = 0;  // sectors, or wavefronts
    GlobalCost global;
    SharedCost shared;
    bool active(uint32_t lane) const { return (mask >> lane & 1) != 0; }
};

struct Tally {
    uint64_t requests = 0, lanes = 0, bytes = 0, cost = 0, least = 0;
    void operator+=(const Tally& other) {
        requests += other.requests, lanes += other.lanes, bytes += other.bytes;
        cost += other.cost, least += other.least;
    }
};

// A cell of shared memory, and what is known of where its value came from.
struct Cell {
    bool written = false;
    double value = std::numeric_limits<double>::quiet_NaN();  // what it holds before anything is stored
    int64_t source = -1;                                      // element of M or N; -1 a zero
    uint8_t source_array = trace::kNoArray;
    std::pair<uint8_t, uint64_t> at{};  // array and element
    uint32_t thread = 0, step = 0, load_step = 0, reads = 0;
};
struct Sum {
    double value = 0;
    uint32_t products = 0;
};
struct Played {
    std::map<std::pair<uint8_t, uint64_t>, Cell> cells;
    std::vector<Cell> fillings{};   // each cell once for every store to it, with the reads until the next
    std::vector<Sum> sums;          // by thread
    std::vector<uint32_t> added{};  // products by thread, by the last step alone
};

inline constexpr uint32_t kAfterPhases = ~0u;

class Recording {
public:
    explicit Recording(std::shared_ptr<const trace::Trace> of) : held_(std::move(of)), trace(*held_) {
        for (uint64_t step = 0; step < trace.steps(); ++step) all_.push_back(read(step));
        for (const trace::Block& block : trace.blocks) {
            std::map<uint32_t, uint32_t> arrivals;  // by warp
            for (uint64_t step = block.first; step < block.first + block.count; ++step) {
                passed_.push_back(arrivals[all_[step].warp]);
                arrivals[all_[step].warp] += all_[step].kind == kBarrier;
            }
        }
        for (uint8_t i = 0; i < trace.launch.arrays.size(); ++i) names_[trace.launch.arrays[i].name] = i;
        if (!names_.contains("M") || !names_.contains("N") || !names_.contains("P")) return;
        m = array("M").rows, k = array("M").cols, n = array("N").cols, T = trace.launch.block.x;
    }
    const std::shared_ptr<const trace::Trace>& shared() const { return held_; }
    bool product() const { return T > 0; }
    bool tiled() const { return names_.contains("Mds"); }
    const Array& array(const std::string& name) const { return trace.launch.arrays[names_.at(name)]; }
    uint8_t number(const std::string& name) const { return names_.at(name); }
    uint32_t steps(size_t block) const { return static_cast<uint32_t>(trace.blocks[block].count); }
    const Request& at(size_t block, uint32_t step) const { return at(trace.blocks[block].first + step); }
    const Request& decoded(uint64_t step) const { return all_[step]; }  // which may not be counted yet
    const Request& at(uint64_t step) const {
        if (!all_[step].counted) count(all_[step]);
        return all_[step];
    }

    // Of steps [first, end) of the recording.
    Tally tally(Kind kind, uint64_t first, uint64_t end) const {
        Tally sum;
        for (uint64_t step = first; step < end; ++step)
            if (all_[step].kind == kind) {
                const Request& r = at(step);
                sum += Tally{1, r.lanes, uint64_t{r.lanes} * r.bytes, r.cost, r.least};
            }
        return sum;
    }
    Tally so_far(Kind kind, size_t block, uint32_t step) const {
        const uint64_t first = trace.blocks[block].first;
        return tally(kind, first, first + step + 1);
    }
    Tally whole(Kind kind) const { return tally(kind, 0, all_.size()); }

    // visit(lane, element)
    template <class Visit>
    void elements(const Request& r, Visit visit) const {
        if (r.array == trace::kNoArray || r.kind >= kBarrier) return;
        if (r.is_box) {
            for (const auto& [lane, element] : r.box) visit(lane, element);
            return;
        }
        const uint64_t width = trace.launch.arrays[r.array].element_bytes();
        for (uint32_t lane = 0; lane < 32; ++lane)
            if (r.active(lane))
                for (uint64_t e = r.at[lane] / width; e <= (r.at[lane] + r.bytes - 1) / width; ++e)
                    visit(lane, e);
    }
    // By element, how often lanes of all recorded blocks loaded it.
    std::map<uint64_t, uint64_t> loads(uint8_t of) const {
        std::map<uint64_t, uint64_t> count;
        for (const Request& r : all_)
            if (r.kind == kGlobalLoad && r.array == of)
                elements(r, [&](uint32_t, uint64_t element) { ++count[element]; });
        return count;
    }
    // What the recorded blocks touched of an array, as rows and columns: {row0, row1, col0, col1}, half open.
    using Box = std::array<uint64_t, 4>;
    template <class Which>
    Box box(uint8_t of, Which which) const {
        const uint64_t cols = std::max(trace.launch.arrays[of].cols, 1u);
        Box b{~0ull, 0, ~0ull, 0};
        for (uint64_t step = 0; step < all_.size(); ++step)
            if (all_[step].array == of && which(step))
                elements(all_[step], [&](uint32_t, uint64_t e) {
                    b = {std::min(b[0], e / cols), std::max(b[1], e / cols + 1), std::min(b[2], e % cols),
                         std::max(b[3], e % cols + 1)};
                });
        return b;
    }

    // --- phases
    uint32_t warps() const { return static_cast<uint32_t>((trace.launch.block.count() + 31) / 32); }
    uint32_t passed(size_t block, uint32_t step) const {  // barriers, by the step's warp before it
        return passed_[trace.blocks[block].first + step];
    }
    uint32_t phases(size_t block) const {
        if (product()) return tiled() ? (k + T - 1) / T : k;
        uint32_t most = 0;
        for (uint32_t s = 0; s < steps(block); ++s)
            if (const uint32_t p = phase(block, s); p != kAfterPhases) most = std::max(most, p + 1);
        return most;
    }
    // Of a product with tiles by the barriers that its warp has passed; without tiles, and of any kernel that
    // has loops and no barriers, how often the first active lane has been at that line and array before.
    uint32_t phase(size_t block, uint32_t step) const {
        const Request& r = at(block, step);
        if (product() && r.kind == kGlobalStore) return kAfterPhases;
        if (product() && tiled()) {
            const bool one = trace.meta.kernel == "tiled_no_barrier";  // barrier a phase
            const uint32_t before = passed(block, step);
            return one ? before - (r.kind == kSharedLoad ? 1 : 0) : before / 2;
        }
        uint32_t count = 0;
        for (uint32_t s = 0; s < steps(block); ++s) {
            const Request& other = at(block, s);
            if (other.kind == kBarrier) return 0;
            count += s < step && other.warp == r.warp && other.line == r.line && other.kind == r.kind &&
                     other.array == r.array && other.active(static_cast<uint32_t>(std::countr_zero(r.mask)));
        }
        return count;
    }

    // --- values: the block's steps again, up to and with `step`. What a lane stores to shared memory it
    // loaded just before from global memory, of a product from the matrix of that tile; else it is a zero.
    const Played& play(size_t block, uint32_t step) const {
        return played_.answer({block, step}, [&] { return play_anew(block, step); });
    }
    Played play_anew(size_t block, uint32_t step) const {
        struct Load {
            uint8_t array = trace::kNoArray;
            uint64_t element = 0;
            uint32_t step = 0;
        };
        struct Thread {
            std::array<std::optional<Load>, 2> loaded;  // of M, of N
            std::array<std::deque<double>, 2> factors;
        };
        std::vector<Thread> threads(trace.launch.block.count());
        Played made;
        made.sums.resize(threads.size());
        for (uint32_t s = 0; s <= step && s < steps(block); ++s) {
            const Request& r = at(block, s);
            made.added.assign(threads.size(), 0);
            if (r.kind == kBarrier || r.kind == kGlobalStore || r.array == trace::kNoArray) continue;
            const size_t side = product() && trace.launch.arrays[r.array].name[0] == 'N' ? 1 : 0;
            elements(r, [&](uint32_t lane, uint64_t e) {
                const uint32_t number = r.warp * 32 + lane;
                Thread& thread = threads[number];
                if (r.kind == kGlobalLoad) thread.loaded[side] = {r.array, e, s};
                if (r.kind == kGlobalLoad && product() && !tiled())
                    thread.factors[side].push_back(value(r.array, e));
                if (r.kind == kSharedStore) {
                    const auto from = std::exchange(thread.loaded[side], std::nullopt);
                    Cell& cell = made.cells[{r.array, e}];
                    if (cell.written) made.fillings.push_back(cell);
                    cell = {true, 0, -1, trace::kNoArray, {r.array, e}, number, s, 0, 0};
                    if (from) {
                        cell.value = value(from->array, from->element), cell.load_step = from->step;
                        cell.source = static_cast<int64_t>(from->element), cell.source_array = from->array;
                    }
                }
                if (r.kind == kSharedLoad) {
                    Cell& cell = made.cells[{r.array, e}];
                    ++cell.reads;
                    thread.factors[side].push_back(cell.value);
                }
                while (product() && !thread.factors[0].empty() && !thread.factors[1].empty()) {
                    made.sums[number].value += thread.factors[0].front() * thread.factors[1].front();
                    ++made.sums[number].products, ++made.added[number];
                    thread.factors[0].pop_front(), thread.factors[1].pop_front();
                }
            });
        }
        for (const auto& [where, cell] : made.cells)
            if (cell.written) made.fillings.push_back(cell);
        return made;
    }
    double value(uint8_t of, uint64_t element) const {
        return number_of(initial_value(trace.launch.arrays[of], element));
    }
    double expected(uint64_t element) const {
        const auto [kept, anew] = expected_.try_emplace(element);
        if (!anew) return kept->second;
        const Array &of_m = array("M"), &of_n = array("N");
        double sum = 0;
        for (uint64_t i = 0; i < k; ++i)
            sum += number_of(initial_value(of_m, element / n * k + i)) *
                   number_of(initial_value(of_n, i * n + element % n));
        return kept->second = sum;
    }
    // The thread of the block that stores an element, the last time.
    std::optional<std::pair<uint32_t, uint32_t>> stores(size_t block, uint8_t of, uint64_t element) const {
        std::optional<std::pair<uint32_t, uint32_t>> found;  // thread, step
        for (uint32_t s = 0; s < steps(block); ++s)
            if (at(block, s).kind == kGlobalStore && at(block, s).array == of)
                elements(at(block, s), [&](uint32_t lane, uint64_t e) {
                    if (e == element) found = {at(block, s).warp * 32 + lane, s};
                });
        return found;
    }

    uint32_t m = 0, k = 0, n = 0, T = 0;  // of a product

private:
    std::shared_ptr<const trace::Trace> held_;
    mutable std::map<uint64_t, double> expected_;  // by element, of those that were asked for

public:
    const trace::Trace& trace;

private:
    Request read(uint64_t step) const {
        const trace::Access access = trace::decode(trace, step);
        const ptx::Site& site = trace.sites[access.site];
        Request r;
        r.site = access.site, r.warp = access.warp, r.mask = access.mask, r.array = access.array;
        r.line = trace.meta.source.empty() ? site.ptx_line : site.line;
        r.lanes = static_cast<uint32_t>(std::popcount(r.mask));
        if (site.kind == ptx::SiteKind::Exchange) r.kind = kExchange, r.at = access.offset;
        if (site.kind == ptx::SiteKind::Signal)
            r.kind = kSignal;  // at a barrier in memory, waits for one too
        if (!ptx::asks_memory(site.kind)) return r;
        r.space = trace.form_of(step).space;
        r.load = site.kind == ptx::SiteKind::Load, r.copy = site.copy;
        const bool global = r.space == Space::Global;
        r.kind = global ? (r.load ? kGlobalLoad : kGlobalStore) : (r.load ? kSharedLoad : kSharedStore);
        r.bytes = site.bytes, r.at = access.offset;
        r.base = r.array == trace::kNoArray ? 0 : trace.launch.arrays[r.array].base;
        if (site.box == ptx::Box::Tensor && r.array != trace::kNoArray) read_box(r, step);
        return r;
    }
    // Element by element: where each lies in global memory, or where its swizzle puts it in shared memory.
    void read_box(Request& r, uint64_t step) const {
        r.is_box = true;
        const Array& array = trace.launch.arrays[r.array];
        const bool global = r.space == Space::Global;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            if (!r.active(lane)) continue;
            auto copy = trace::tensor_copy(trace, trace::words_of(trace, step, lane));
            if (!copy) continue;
            if (!global) copy->box.shared = static_cast<uint32_t>(r.base + r.at[lane]);
            for (const test::BoxElement& one : test::box_elements(copy->map, copy->box)) {
                if (global && one.outside) continue;
                const uint64_t at = global ? one.global : test::swizzled_byte(copy->map.swizzle, one.shared);
                r.box.emplace_back(lane, (at - r.base) / array.element_bytes());
            }
        }
    }
    void count(Request& r) const {
        r.counted = true;
        if (r.kind >= kBarrier) return;
        if (r.is_box) {  // what a copy in bulk costs in shared memory is not modelled
            const uint64_t width = trace.launch.arrays[r.array].element_bytes();
            std::set<uint64_t> sectors;
            for (const auto& [lane, element] : r.box) sectors.insert((r.base + element * width) / 32);
            r.global.bytes = r.box.size() * width;
            if (r.space == Space::Global) r.cost = sectors.size(), r.least = (r.global.bytes + 31) / 32;
            return;
        }
        Addresses address = r.at;
        for (uint64_t& one : address) one += r.base;
        if (r.space == Space::Global) {
            r.global = global_cost(address, r.mask, r.bytes, trace.launch.block.x, r.warp * 32);
            r.cost = r.global.sectors, r.least = r.global.least;
        } else {
            r.shared = shared_cost(address, r.mask, r.bytes, r.load);
            r.cost = r.shared.wavefronts, r.least = r.shared.least;
        }
    }
    mutable std::vector<Request> all_;
    std::vector<uint32_t> passed_;
    std::map<std::string, uint8_t> names_;
    mutable Latest<std::pair<size_t, uint32_t>, Played> played_;
};

// --- what loads of shared cells found, in the order of the recording

// An access of a thread to a shared cell; value: what was stored, or read.
struct CellAccess {
    uint32_t step = 0, thread = 0, line = 0, phase = 0, interval = 0;
    bool store = false;
    double value = std::numeric_limits<double>::quiet_NaN();
    bool operator==(const CellAccess&) const = default;
};
using Accesses = std::vector<CellAccess>;  // of a cell, by step
inline std::map<std::pair<uint8_t, uint64_t>, Accesses> accesses_of(const Recording& f, size_t block) {
    std::map<std::pair<uint8_t, uint64_t>, Accesses> all;
    if (f.steps(block) == 0) return all;
    std::map<std::tuple<uint32_t, uint32_t, uint8_t, uint64_t>, double> stored;  // by step, thread and cell
    for (const Cell& cell : f.play(block, f.steps(block) - 1).fillings)
        stored[{cell.step, cell.thread, cell.at.first, cell.at.second}] = cell.value;
    std::map<std::pair<uint8_t, uint64_t>, double> held;
    for (uint32_t step = 0; step < f.steps(block); ++step) {
        const Request& q = f.at(block, step);
        if (q.kind != kSharedLoad && q.kind != kSharedStore) continue;
        f.elements(q, [&](uint32_t lane, uint64_t e) {
            CellAccess one{step, q.warp * 32 + lane, q.line, f.phase(block, step), f.passed(block, step)};
            one.store = q.kind == kSharedStore;
            if (one.store) held[{q.array, e}] = stored[{step, one.thread, q.array, e}];
            if (const auto at = held.find({q.array, e}); at != held.end()) one.value = at->second;
            all[{q.array, e}].push_back(one);
        });
    }
    return all;
}

// The latest store before a load in the order of the recording.
inline std::optional<CellAccess> store_before(const Accesses& of, const CellAccess& load) {
    std::optional<CellAccess> last;
    for (const CellAccess& one : of)
        if (one.store && one.step < load.step) last = one;
    return last;
}

}  // namespace tilescope::twin
