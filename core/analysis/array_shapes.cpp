// A sample of the blocks is walked: the first two, and the last, along each axis of the grid. array_shapes.h
// says what is looked for.
#include "core/analysis/array_shapes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/ptx/parse.h"

namespace tilescope::analysis {
namespace {

constexpr uint64_t kMostSteps = 1u << 19;  // that are walked
constexpr uint64_t kMostRuns = 1u << 18;
constexpr size_t kMostSites = 128;
constexpr uint64_t kNarrow = 8;  // numbers below it are often something else: a stride, a radius
constexpr uint32_t kThreads = 1024;
constexpr int64_t kUnseen = INT64_MIN;

// Distances, and how often each was seen.
struct Votes {
    std::map<int64_t, uint64_t> counts;
    uint64_t all = 0;
    void add(int64_t distance) {
        if (counts.size() < 64 || counts.count(distance) != 0) ++counts[distance];
        ++all;
    }
    // The one that three in four agree on: at the edge of a grid, threads may do something else.
    std::optional<int64_t> agreed() const {
        for (const auto& [distance, count] : counts)
            if (count * 4 >= all * 3) return distance;
        return std::nullopt;
    }
};

struct Span {
    uint64_t first = UINT64_MAX, last = 0;
    void add(uint64_t begin, uint64_t end) { first = std::min(first, begin), last = std::max(last, end); }
};

// What the threads of a row (or of a column) of the block, in a row (or a column) of blocks, come to over all
// trips: four ways to take them together, of which one may follow the rows of an array.
struct Spans {
    std::array<std::vector<Span>, 4> ways;
    // blocks, threads: positions along x and y, with z in them; `stride` is more than any of the threads'.
    void add(const std::array<size_t, 2>& blocks, const std::array<size_t, 2>& threads, size_t stride,
             uint64_t begin, uint64_t end) {
        for (size_t way = 0; way < 4; ++way) {
            std::vector<Span>& spans = ways[way];
            if (spans.empty()) spans.resize(9 * stride);
            spans[blocks[way / 2] * stride + threads[way % 2]].add(begin, end);
        }
    }
};

struct SiteSeen {
    uint8_t array = trace::kNoArray;
    bool several = false;       // it accesses more than one array
    Votes thread[3], block[3];  // for a step of 1 along x, y, z
    Votes warp;                 // from a thread to that of the next warp: blocks of one dimension
    Spans spans;
    std::vector<int64_t> offset;  // elements, by thread: a thread's first access in the block
};

struct ArraySeen {
    bool loads = false, stores = false, odd = false;  // odd: an access that is not of whole elements
    Votes trips;
    Spans spans;
    std::set<std::pair<uint64_t, uint64_t>> runs;  // first and last element
};

struct Evidence {
    uint64_t distance = 0;
    bool trip = false;  // else between threads or blocks
    bool weak = false;  // it may be the threads before it going on
    bool along_z = false;
};

class Survey {
public:
    explicit Survey(trace::Trace& trace)
        : trace_(trace),
          arrays_(trace.launch.arrays.size()),
          sites_(std::min(trace.sites.size(), kMostSites)),
          last_(arrays_.size()) {}

    void walk() {
        uint64_t steps = 0;
        const auto sampled = sample();
        for (const trace::Block* block : sampled) {
            for (SiteSeen& site : sites_) site.offset.clear();
            for (auto& last : last_) last.clear();
            for (uint64_t step = block->first; step < block->first + block->count; ++step) {
                const trace::Form& form = trace_.form_of(step);
                const Array* const array = trace_.array_of(form);
                if (!array || array->space != Space::Global || steps > kMostSteps) continue;
                if (form.site >= sites_.size()) continue;
                ++steps;
                see(*block, step, form);
            }
            finish(*block);
        }
    }

    void infer_shapes() {
        const std::set<uint64_t> numbers = numbers_given();
        std::vector<uint64_t> widths(arrays_.size());
        for (size_t i = 0; i < arrays_.size(); ++i)
            if (open(i)) widths[i] = own_width(i, numbers);
        // A width that another array has, and that a distance of this one is.
        for (size_t i = 0; i < arrays_.size(); ++i) {
            if (!open(i) || widths[i] != 0) continue;
            std::set<uint64_t> found;
            for (const Evidence& evidence : evidence_of(i))
                for (size_t j = 0; j < arrays_.size(); ++j)
                    if (widths[j] == evidence.distance && widths[j] > 1 && !evidence.weak &&
                        whole_rows(i, widths[j]))
                        found.insert(widths[j]);
            if (found.size() == 1) widths[i] = *found.begin();
        }
        for (size_t i = 0; i < arrays_.size(); ++i)
            if (open(i) && widths[i] != 0) set_shape(i, widths[i], numbers);
    }

private:
    bool open(size_t array) const {
        const Array& a = trace_.launch.arrays[array];
        return a.space == Space::Global && a.extents == ExtentSource::Flat && !arrays_[array].odd;
    }

    std::vector<const trace::Block*> sample() {
        low_ = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, high_ = {0, 0, 0};
        for (const trace::Block& block : trace_.blocks) {
            low_ = {std::min(low_.x, block.x), std::min(low_.y, block.y), std::min(low_.z, block.z)};
            high_ = {std::max(high_.x, block.x), std::max(high_.y, block.y), std::max(high_.z, block.z)};
        }
        std::vector<const trace::Block*> sampled;
        for (const trace::Block& block : trace_.blocks)
            if (place(block.x, low_.x, high_.x) < 3 && place(block.y, low_.y, high_.y) < 3 &&
                place(block.z, low_.z, high_.z) < 3)
                sampled.push_back(&block);
        return sampled;
    }
    static uint32_t place(uint32_t at, uint32_t low, uint32_t high) {
        return at - low < 2 ? at - low : at == high ? 2 : 3;
    }

    void see(const trace::Block& block, uint64_t step, const trace::Form& form) {
        const trace::Access access = trace::decode(trace_, step);
        const Array& array = trace_.launch.arrays[form.array];
        const ptx::Site& site = trace_.sites[form.site];
        SiteSeen& seen = sites_[form.site];
        ArraySeen& all = arrays_[form.array];
        const uint64_t size = array.element_bytes(), elements = std::max<uint64_t>(1, site.bytes / size);
        seen.several = seen.several || (seen.array != trace::kNoArray && seen.array != form.array);
        seen.array = form.array;
        if (seen.offset.empty()) seen.offset.assign(kThreads, kUnseen);
        auto& last = last_[form.array];
        if (last.empty()) last.assign(kThreads, kUnseen);
        const Dim3& shape = trace_.launch.block;
        const uint32_t warp = trace_.warp_of(step);
        const size_t by_z = place(block.z, low_.z, high_.z) * size_t{3};
        const std::array<size_t, 2> blocks = {by_z + place(block.x, low_.x, high_.x),
                                              by_z + place(block.y, low_.y, high_.y)};
        const size_t stride = size_t{std::max(shape.x, shape.y)} * shape.z;
        bool first_lane = true;
        Span run;
        uint32_t run_thread = UINT32_MAX;
        const auto end_run = [&] {
            if (run_thread != UINT32_MAX && run.first != run.last && all.runs.size() < kMostRuns)
                all.runs.emplace(run.first, run.last);
        };
        for_lanes(access.mask, [&](uint32_t lane) {
            const uint32_t thread = warp * kWarpSize + lane;
            if (thread >= std::min<uint64_t>(shape.count(), kThreads)) return;
            all.odd = all.odd || access.offset[lane] % size != 0 || site.bytes % size != 0;
            const uint64_t begin = access.offset[lane] / size, end = begin + elements - 1;
            const uint32_t x = thread % shape.x, y = thread / shape.x % shape.y,
                           z = thread / shape.x / shape.y;
            if (seen.offset[thread] == kUnseen) seen.offset[thread] = static_cast<int64_t>(begin);
            if (first_lane && last[thread] != kUnseen)
                all.trips.add(static_cast<int64_t>(begin) - last[thread]);
            first_lane = false;
            last[thread] = static_cast<int64_t>(begin);
            const std::array<size_t, 2> threads = {x + size_t{z} * shape.x, y + size_t{z} * shape.y};
            seen.spans.add(blocks, threads, stride, begin, end);
            all.spans.add(blocks, threads, stride, begin, end);
            const bool goes_on = thread == run_thread + 1 && x != 0 && begin == run.last + 1;
            if (!goes_on) {
                end_run();
                run = {begin, end};
            }
            run.last = end;
            run_thread = thread;
        });
        end_run();
    }

    // From thread to thread and from block to block, once all of a block is known.
    void finish(const trace::Block& block) {
        const Dim3& shape = trace_.launch.block;
        const auto threads = static_cast<uint32_t>(std::min<uint64_t>(shape.count(), kThreads));
        const uint32_t next[3] = {1, shape.x, shape.x * shape.y};
        for (size_t s = 0; s < sites_.size(); ++s) {
            SiteSeen& site = sites_[s];
            if (site.offset.empty()) continue;
            for (uint32_t t = 0; t < threads; ++t) {
                if (site.offset[t] == kUnseen) continue;
                const uint32_t at[3] = {t % shape.x, t / shape.x % shape.y, t / shape.x / shape.y};
                const uint32_t extent[3] = {shape.x, shape.y, shape.z};
                for (size_t axis = 0; axis < 3; ++axis)
                    if (at[axis] + 1 < extent[axis]) vote(site.thread[axis], site, t, t + next[axis]);
                if (t + kWarpSize < threads) vote(site.warp, site, t, t + kWarpSize);
            }
            const std::vector<int64_t> first(site.offset.begin(), site.offset.begin() + kWarpSize);
            const std::tuple<size_t, uint32_t, uint32_t, uint32_t> before[3] = {
                {s, block.x - 1, block.y, block.z},
                {s, block.x, block.y - 1, block.z},
                {s, block.x, block.y, block.z - 1}};
            for (size_t axis = 0; axis < 3; ++axis) {
                const auto found = first_warp_.find(before[axis]);
                if (found == first_warp_.end()) continue;
                for (size_t lane = 0; lane < kWarpSize; ++lane)
                    if (first[lane] != kUnseen && found->second[lane] != kUnseen)
                        site.block[axis].add(first[lane] - found->second[lane]);
            }
            first_warp_[{s, block.x, block.y, block.z}] = first;
        }
    }
    static void vote(Votes& votes, const SiteSeen& site, uint32_t from, uint32_t to) {
        if (site.offset[to] != kUnseen) votes.add(site.offset[to] - site.offset[from]);
    }

    // Whole numbers that the kernel is given, alone or in a struct.
    std::set<uint64_t> numbers_given() const {
        std::set<uint64_t> numbers;
        const auto take = [&](uint64_t value) {
            if (value >= 2 && value < uint64_t{1} << 31) numbers.insert(value);
        };
        for (const Argument& argument : trace_.launch.arguments) {
            if (argument.array >= 0) continue;
            for (size_t at = 0; at + 4 <= std::min<size_t>(argument.object.size(), 256); at += 4) {
                uint32_t word = 0;
                std::memcpy(&word, argument.object.data() + at, sizeof word);
                take(word);
            }
            if (argument.object.empty() && !is_float(argument.type)) take(argument.value);
        }
        return numbers;
    }

    std::vector<Evidence> evidence_of(size_t array) const {
        std::vector<Evidence> found;
        const Dim3 &block = trace_.launch.block, &grid = trace_.launch.grid;
        const auto add = [&](std::optional<int64_t> distance, Evidence evidence) {
            evidence.distance = distance ? static_cast<uint64_t>(std::abs(*distance)) : 0;
            if (evidence.distance > 1) found.push_back(evidence);
        };
        for (const SiteSeen& site : sites_) {
            if (site.array != array || site.several) continue;
            const auto x = site.thread[0].agreed(), y = site.thread[1].agreed(), z = site.thread[2].agreed();
            const int64_t unit = x.value_or(1), width = block.x, area = width * block.y;
            const auto block_x = site.block[0].agreed(), block_y = site.block[1].agreed();
            add(x, {});
            // Blocks that go on where all threads of the one before ended have no rows.
            if (block.y > 1 && block_x == unit * area && unit != 0) continue;
            // Threads numbered through, thread[y+1,0] behind thread[y,last]: a row of that width where the
            // grid does not go on the same way.
            add(y, {0, false, y == unit * width && (grid.x > 1 || x != 1), false});
            add(z, {0, false, z == unit * area, true});
            if (!x && block.y == 1) add(site.warp.agreed(), {});
            if (block_x != unit * width && block_x != unit * area) add(block_x, {});
            if (!y || block_y != *y * block.y) add(block_y, {});
            if (block.z == 1) add(site.block[2].agreed(), {0, false, false, true});
        }
        const Votes& trips = arrays_[array].trips;
        const bool line = block.y == 1 && grid.y == 1;
        for (const auto& [distance, count] : trips.counts) {
            const auto length = static_cast<uint64_t>(std::abs(distance));
            bool strides_on = false;  // over the block or the grid, for one to four elements a thread
            for (const uint64_t each : {1, 2, 4})
                strides_on = strides_on || length == each * block.x || length == each * block.x * grid.x;
            strides_on = strides_on && line;
            if (count * 10 >= trips.all) add(distance, {0, true, strides_on, false});
        }
        return found;
    }

    bool whole_rows(size_t array, uint64_t width) const {
        const uint64_t elements = trace_.launch.arrays[array].elements();
        if (width < 2 || elements % width != 0 || elements / width < 2) return false;
        for (const auto& [first, last] : arrays_[array].runs)
            if (first / width != last / width) return false;
        return true;
    }

    // Whether threads that are taken together one way stay in a row of that width each, and some come to all
    // of it: at each site, or in all of the array's sites together.
    bool covered(size_t array, uint64_t width) const {
        std::vector<const Spans*> sites;
        for (const SiteSeen& site : sites_)
            if (site.array == array) sites.push_back(&site.spans);
        for (size_t way = 0; way < 4; ++way)
            if (rows_of(sites, way, width) ||
                (width < kNarrow && rows_of({&arrays_[array].spans}, way, width)))
                return true;
        return false;
    }
    static bool rows_of(const std::vector<const Spans*>& all, size_t way, uint64_t width) {
        bool whole = false;
        for (const Spans* spans : all)
            for (const Span& span : spans->ways[way]) {
                if (span.first > span.last) continue;
                if (span.first / width != span.last / width) return false;
                whole = whole || span.last - span.first + 1 == width;
            }
        return whole;
    }

    // 0 where none is found, or two are as good.
    uint64_t own_width(size_t array, const std::set<uint64_t>& numbers) const {
        const std::vector<Evidence> evidence = evidence_of(array);
        const uint64_t size = trace_.launch.arrays[array].element_bytes();
        const uint64_t elements = trace_.launch.arrays[array].elements();
        std::set<uint64_t> candidates = numbers;
        for (const Evidence& e : evidence) candidates.insert(e.distance);
        int best = 0;
        uint64_t width = 0;
        for (const uint64_t candidate : candidates) {
            bool exact = false, strong = false, multiple = false;
            for (const Evidence& e : evidence) {
                exact = exact || e.distance == candidate;
                strong = strong || (e.distance == candidate && !e.weak);
                multiple = multiple || (e.distance % candidate == 0 && !e.weak);
            }
            const bool said = numbers.count(candidate) != 0;
            // Threads that may only be going on need both extents.
            const bool both = said && numbers.count(elements / candidate) != 0;
            if (!(multiple || (exact && both)) || !whole_rows(array, candidate)) continue;
            const bool whole = covered(array, candidate), pitch = numbers.count(candidate * size) != 0;
            exact = strong || (exact && both);
            const int rank = candidate < kNarrow && !whole ? 0
                             : exact && said               ? 4 + whole
                             : whole && said               ? 3
                             : strong && pitch             ? 2
                             : multiple && both            ? 2
                             : strong && whole             ? 1
                                                           : 0;
            if (rank == 0 || rank < best) continue;
            width = rank > best ? candidate : 0;
            best = rank;
        }
        return width;
    }

    void set_shape(size_t i, uint64_t width, const std::set<uint64_t>& numbers) {
        Array& array = trace_.launch.arrays[i];
        const uint64_t elements = array.elements(), rows = elements / width;
        if (width > UINT32_MAX || rows > UINT32_MAX) return;
        std::set<uint64_t> heights;
        const Dim3 &block = trace_.launch.block, &grid = trace_.launch.grid;
        for (const Evidence& e : evidence_of(i)) {
            if (e.weak || e.distance % width != 0) continue;
            const uint64_t height = e.distance / width;
            if (height < 2 || rows % height != 0 || rows / height < 2) continue;
            const bool said = numbers.count(height) != 0;
            const bool fits = (height + block.y - 1) / block.y == grid.y;
            // From slice to slice in a loop: all three extents are given.
            const bool three = said && numbers.count(width) != 0 && numbers.count(rows / height) != 0;
            if ((e.along_z && (said || fits)) || (e.trip && three && height != rows / height))
                heights.insert(height);
        }
        array.extents = ExtentSource::Inferred;
        array.rank = 2;
        array.rows = static_cast<uint32_t>(rows);
        array.cols = static_cast<uint32_t>(width);
        if (heights.size() != 1) return;
        array.rank = 3;
        array.rows = static_cast<uint32_t>(*heights.begin());
        array.slices = static_cast<uint32_t>(rows / *heights.begin());
    }

    trace::Trace& trace_;
    std::vector<ArraySeen> arrays_;
    std::vector<SiteSeen> sites_;
    std::vector<std::vector<int64_t>> last_;  // elements, by array and thread: the access before
    std::map<std::tuple<size_t, uint32_t, uint32_t, uint32_t>, std::vector<int64_t>> first_warp_;
    Dim3 low_, high_;
};

// Which sites accessed which arrays, by forms: each form is of a recorded step.
void infer_roles(trace::Trace& trace) {
    std::vector<Array>& arrays = trace.launch.arrays;
    std::vector<bool> loads(arrays.size()), stores(arrays.size());
    for (const trace::Form& form : trace.forms) {
        const ptx::SiteKind kind = trace.sites[form.site].kind;
        if (form.array == trace::kNoArray || !ptx::asks_memory(kind)) continue;
        if (kind != ptx::SiteKind::Store) loads[form.array] = true;
        if (kind != ptx::SiteKind::Load) stores[form.array] = true;  // an atomic does both
    }
    for (size_t i = 0; i < arrays.size(); ++i)
        if (arrays[i].space == Space::Global && (loads[i] || stores[i]))
            arrays[i].role = !stores[i] ? ArrayRole::Input : loads[i] ? ArrayRole::InOut : ArrayRole::Output;
}

// What all accesses of an array take its elements for; nothing where they differ.
std::vector<std::optional<ElementType>> types_accessed(const trace::Trace& trace) {
    std::vector<std::optional<ElementType>> types(trace.launch.arrays.size());
    const auto module = trace::module_of(trace);
    const ptx::Kernel* const kernel = module ? ptx::find_kernel(**module, trace.launch.entry) : nullptr;
    if (!kernel) return types;
    std::vector<bool> differ(types.size());
    for (const trace::Form& form : trace.forms) {
        if (form.array == trace::kNoArray) continue;
        const ptx::Site& site = trace.sites[form.site];
        if (!ptx::asks_memory(site.kind) || site.box != ptx::Box::None ||
            site.instruction >= kernel->instructions.size())
            continue;
        const ElementType type = kernel->instructions[site.instruction].type;
        auto& known = types[form.array];
        if (!lies_in_memory(type) || (known && *known != type)) differ[form.array] = true;
        if (!known && lies_in_memory(type)) known = type;
    }
    for (size_t i = 0; i < types.size(); ++i)
        if (differ[i]) types[i].reset();
    return types;
}

// Bits become what they are accessed as; and a buffer of bytes that holds floats becomes floats.
void infer_types(trace::Trace& trace) {
    std::vector<Array>& arrays = trace.launch.arrays;
    std::vector<bool> wider(arrays.size());
    bool any = false;
    for (const trace::Form& form : trace.forms)
        if (form.array != trace::kNoArray && trace.sites[form.site].bytes > 0)
            wider[form.array] =
                wider[form.array] || trace.sites[form.site].bytes != arrays[form.array].element_bytes();
    for (size_t i = 0; i < arrays.size(); ++i) any = any || wider[i] || is_bits(arrays[i].type);
    if (!any) return;
    const auto types = types_accessed(trace);
    for (size_t i = 0; i < arrays.size(); ++i) {
        Array& array = arrays[i];
        if (array.space != Space::Global || array.extents != ExtentSource::Flat || !types[i]) continue;
        if (array.contents.kind == Contents::Kind::SmallIntegers) continue;  // made for its type
        if (array.members.of) continue;                                      // its words' types are known
        if (is_bits(*types[i])) continue;
        const bool same_size = size_of(*types[i]) == array.element_bytes();
        if ((same_size && !is_bits(array.type)) || array.bytes() % size_of(*types[i]) != 0) continue;
        const uint64_t elements = array.bytes() / size_of(*types[i]);
        if (elements > UINT32_MAX) continue;
        array.type = *types[i];
        array.cols = static_cast<uint32_t>(elements);
    }
}

}  // namespace

void infer_arrays(trace::Trace& trace) {
    infer_roles(trace);
    infer_types(trace);
    Survey survey(trace);
    survey.walk();
    survey.infer_shapes();
}

}  // namespace tilescope::analysis
