#include "core/trace/claims.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "core/base/cluster.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "core/trace/meta_fields.h"

namespace tilescope::trace {

namespace {

struct Bound {
    Claim claim;
    const char* what;  // "its ... has VALUE UNIT"
    uint64_t most;
    const char* unit;
    const char* why;  // "more than the MOST ..."
};

constexpr const char* kCuda = "that CUDA allows";
constexpr const char* kHeld = "that a recording can hold";

// Of grid and block also the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability";
// memory: what a base of 40 bits can reach, more than a GPU has; arguments: of one byte each.
constexpr Bound kBounds[] = {
    {Claim::BlockX, "block", 1024, "threads in x", kCuda},
    {Claim::BlockY, "block", 1024, "threads in y", kCuda},
    {Claim::BlockZ, "block", 64, "threads in z", kCuda},
    {Claim::BlockThreads, "block", 1024, "threads", kCuda},
    {Claim::GridX, "grid", 0x7FFF'FFFF, "blocks in x", kCuda},
    {Claim::GridY, "grid", 65535, "blocks in y", kCuda},
    {Claim::GridZ, "grid", 65535, "blocks in z", kCuda},
    {Claim::SharedBytes, "block", kMostSharedBytes, "bytes of shared memory", kCuda},
    {Claim::ConstantBytes, "launch", kMostConstantBytes, "bytes of constant memory", kCuda},
    {Claim::GlobalBytes, "launch", 1ull << 40, "bytes in its global arrays", kHeld},
    {Claim::Arrays, "launch", kNoArray - 1, "arrays", kHeld},
    {Claim::Arguments, "launch", kMostParameterBytes, "arguments", kCuda},
    {Claim::NameBytes, "longest name", 1u << 14, "bytes", kHeld},
    {Claim::ReasonBytes, "reason for being incomplete", 1u << 16, "bytes", kHeld},
    {Claim::MetaBytes, "description", 4u << 20, "bytes", kHeld},
    {Claim::SourceBytes, "source text", 4u << 20, "bytes", kHeld},
    {Claim::SourceLines, "source text", 200'000, "lines", kHeld},
    {Claim::PtxBytes, "PTX", 4u << 20, "bytes", kHeld},
    {Claim::PtxLines, "PTX", 200'000, "lines", kHeld},
    {Claim::BlockSteps, "largest block", 0xFFFF'FFFE, "steps", kHeld},
    {Claim::Dropped, "block", 1ull << 40, "dropped requests", kHeld},
    {Claim::ClockMhz, "clock", 1'000'000, "MHz", "that a GPU can have"},
    {Claim::Milliseconds, "recording", 1'000'000'000, "milliseconds", "that it can have taken"},
};

constexpr bool in_order() {
    for (size_t i = 0; i < std::size(kBounds); ++i)
        if (kBounds[i].claim != static_cast<Claim>(i)) return false;
    return std::size(kBounds) == static_cast<size_t>(Claim::Milliseconds) + 1;
}
static_assert(in_order());

// The first error of several checks.
class All {
public:
    All& operator<<(Result<void> next) {
        if (first_) first_ = std::move(next);
        return *this;
    }
    // An Error of that sentence unless it holds.
    template <class Say>
    All& demand(bool is, Say say) {
        if (first_ && !is) first_ = Error{say()};
        return *this;
    }
    Result<void> result() && { return std::move(first_); }

private:
    Result<void> first_;
};

Result<void> check_sizes(const Launch& launch) {
    const Dim3 grid = launch.grid, block = launch.block;
    const auto some = [](const Dim3& size) { return size.x > 0 && size.y > 0 && size.z > 0; };
    All all;
    const std::string no_clusters = why_not_in_clusters(grid, launch.cluster);
    all.demand(some(block) && some(grid), [&] {
        return fmt::format("its grid of {} × {} × {} blocks of {} × {} × {} threads cannot be launched",
                           grid.x, grid.y, grid.z, block.x, block.y, block.z);
    });
    all.demand(no_clusters.empty(), [&] { return no_clusters; });
    all << within(Claim::BlockX, block.x) << within(Claim::BlockY, block.y) << within(Claim::BlockZ, block.z)
        << within(Claim::BlockThreads, block.count()) << within(Claim::GridX, grid.x)
        << within(Claim::GridY, grid.y) << within(Claim::GridZ, grid.z)
        << within(Claim::SharedBytes, launch.dynamic_shared) << within(Claim::Arrays, launch.arrays.size())
        << within(Claim::Arguments, launch.arguments.size());
    return std::move(all).result();
}

// The longest text of the fields of each claim.
struct LongestTexts {
    size_t name = 0, reason = 0;

    bool has(const char*, bool told) { return told; }
    void put(const auto&, auto) {}
    void operator()(const char*, const std::string& text, Claim claim = Claim::NameBytes) {
        size_t& longest = claim == Claim::NameBytes ? name : reason;
        longest = std::max(longest, text.size());
    }
    template <class T>
    void operator()(const char*, const std::vector<T>& list) {
        for (const T& one : list) fields_of(*this, one);
    }
    void operator()(const auto&...) {}
};

Result<void> check_names(const Meta& meta, const Launch& launch) {
    LongestTexts longest;
    fields_of(longest, meta);
    fields_of(longest, launch);
    All all;
    all << within(Claim::NameBytes, longest.name) << within(Claim::ReasonBytes, longest.reason);
    return std::move(all).result();
}

Result<void> check_array(const Array& array) {
    const uint64_t most = most_of(Claim::GlobalBytes) / array.element_bytes();
    const bool sized = array.rank >= 1 && array.rank <= 3 && array.slices > 0 && array.rows > 0 &&
                       array.cols > 0 && uint64_t{array.rows} * array.cols <= most / array.slices &&
                       (array.rank >= 3 || array.slices == 1) && (array.rank >= 2 || array.rows == 1);
    if (!sized || array.base + array.bytes() < array.base ||
        (array.space == Space::Shared) != (array.role == ArrayRole::Shared) ||
        (array.space == Space::Shared && array.contents.kind != Contents::Kind::Zeros) ||
        array.space == Space::Local || (array.space == Space::Const && array.role != ArrayRole::Input)) {
        return Error{
            fmt::format("its array '{}' of {} × {} elements cannot be", array.name, array.rows, array.cols)};
    }
    const uint64_t end = array.base + array.bytes();
    return array.space == Space::Shared  ? within(Claim::SharedBytes, end)
           : array.space == Space::Const ? within(Claim::ConstantBytes, end)
                                         : Result<void>{};
}

// Memory belongs to one array.
Result<void> check_apart(const Launch& launch) {
    std::vector<const Array*> arrays;
    for (const Array& array : launch.arrays) arrays.push_back(&array);
    std::ranges::stable_sort(arrays, {}, [](const Array* a) { return std::pair(a->space, a->base); });
    for (size_t i = 1; i < arrays.size(); ++i) {
        const Array &before = *arrays[i - 1], &after = *arrays[i];
        if (before.space == after.space && after.base - before.base < before.bytes())
            return Error{
                fmt::format("its arrays '{}' and '{}' lie in the same memory", before.name, after.name)};
    }
    return {};
}

Result<void> check_arrays(const Launch& launch) {
    All all;
    uint64_t global = 0;
    for (const Array& array : launch.arrays) {
        all << check_array(array);
        if (array.space == Space::Global) global += array.bytes();
    }
    all << within(Claim::GlobalBytes, global) << check_apart(launch);
    for (const Argument& argument : launch.arguments) {
        if (argument.array < 0) continue;
        const auto at = static_cast<size_t>(argument.array);
        all.demand(
            at < launch.arrays.size() && launch.arrays[at].space == Space::Global &&
                argument.offset <= launch.arrays[at].bytes(),
            [&] { return fmt::format("its argument '{}' points to no array of the launch", argument.name); });
    }
    return std::move(all).result();
}

Result<void> check_result(const Verification& result, const Launch& launch) {
    const bool named = result.array != kNoArray;
    if (named && result.array >= launch.arrays.size())
        return Error{"its result is of an array that it does not have"};
    const Array* const array = named ? &launch.arrays[result.array] : nullptr;
    const uint64_t elements = array ? array->elements() : 0;
    const std::vector<uint64_t>& wrong = result.wrong_elements;
    All all;
    all.demand(result.first_wrong < 0 || static_cast<uint64_t>(result.first_wrong) < elements,
               [] { return "its first wrong element lies outside the launch's array"; });
    all.demand(wrong.size() <= result.wrong && std::ranges::is_sorted(wrong, std::less_equal{}) &&
                   (wrong.empty() || wrong.back() < elements),
               [] { return "its wrong elements of the result lie outside it, or not in order"; });
    all.demand(!result.verified || result.wrong == 0, [&] {
        return fmt::format("it says that its result is verified and that {} of it are wrong",
                           counted(result.wrong, "element"));
    });
    all.demand(!result.verified || result.checked,
               [] { return "it says that its result is verified and that nobody checked it"; });
    all.demand(result.wrong <= elements && (result.first_wrong >= 0) == (result.wrong > 0) &&
                   (wrong.empty() || wrong.front() == static_cast<uint64_t>(result.first_wrong)),
               [&] {
                   return fmt::format("its {} of the result are not those that it names",
                                      counted(result.wrong, "wrong element"));
               });
    all.demand(!result.checked || result.verified || result.wrong > 0,
               [] { return "it says that its result is wrong and names no wrong element"; });
    all.demand(!result.checked || (array && array->writes()),
               [] { return "it checked a result that no output array of the launch holds"; });
    return std::move(all).result();
}

Result<void> check_meta(const Meta& meta, const Launch& launch) {
    const Dim3 grid = launch.grid, block = launch.block;
    const BarrierFault& fault = meta.barrier_fault;
    All all;
    all << check_result(meta.result, launch);
    all.demand(!fault.is ||
                   (fault.x < grid.x && fault.y < grid.y && fault.z < grid.z && fault.thread < block.count()),
               [] { return "its fault at a barrier is of no thread of the launch"; });
    all.demand(blocks_of_window(meta, launch) > 0,
               [] { return "its window of blocks lies outside the launch, or holds no block"; });
    all.demand(meta.findings.size() <= kMostFindings, [&] {
        return fmt::format("it has {} findings, more than the {} that are kept",
                           grouped(meta.findings.size()), kMostFindings);
    });
    all.demand(!meta.complete || (meta.incomplete_reason.empty() && !fault.is),
               [] { return "it says that it is complete, and why it is not"; });
    all.demand(meta.complete || !meta.result.checked,
               [] { return "it says that its result was checked and that it is not complete"; });
    const Price& price = meta.price;
    const auto whole = [](double value) { return static_cast<uint64_t>(std::clamp(value, 0.0, 1e18)); };
    all << within(Claim::Milliseconds, whole(price.plain_ms))
        << within(Claim::Milliseconds, whole(price.recorded_ms))
        << within(Claim::ClockMhz, whole(price.clock_mhz));
    all.demand(price.clock_mhz == 0 || price.clock_mhz >= 1,
               [] { return "its clock is slower than a GPU's can be"; });
    return std::move(all).result();
}

}  // namespace

uint64_t most_of(Claim claim) { return kBounds[static_cast<size_t>(claim)].most; }

Result<void> within(Claim claim, uint64_t value) {
    const Bound& bound = kBounds[static_cast<size_t>(claim)];
    if (value <= bound.most) return {};
    return Error{fmt::format("its {} has {} {}, more than the {} {}", bound.what, grouped(value), bound.unit,
                             grouped(bound.most), bound.why)};
}

Result<uint64_t> memory_limit() {
    constexpr double kGigabyte = 1e9;
    const char* const given = std::getenv("TILESCOPE_MAX_MEMORY");
    if (!given) return static_cast<uint64_t>(kGigabyte);
    const std::string_view text = given;
    const std::optional<double> gigabytes = real_number(text);
    if (!gigabytes || !(*gigabytes >= 0.001 && *gigabytes <= 1e6)) {
        return Error{fmt::format(
            "TILESCOPE_MAX_MEMORY is '{}', which is not a number of gigabytes; set it to one, such as 4",
            text)};
    }
    return static_cast<uint64_t>(*gigabytes * kGigabyte);
}

namespace {

uint64_t known_limit() {
    const auto limit = memory_limit();
    return limit ? *limit : uint64_t{1'000'000'000};
}

}  // namespace

uint64_t memory_left(const Trace& trace) {
    const uint64_t limit = known_limit(), trace_bytes = bytes_of(trace);
    const uint64_t taken = trace_bytes + trace.beside + limit / 8;
    return std::max(std::max(limit, trace_bytes) / 8, limit - std::min(limit, taken));
}

uint64_t most_lane_accesses() { return known_limit() / 100 * 40; }

Error more_work(std::string_view what) {
    return Error{
        fmt::format("{} takes more than the {} lane accesses that are looked at; record a smaller "
                    "window of blocks, or set TILESCOPE_MAX_MEMORY to more gigabytes",
                    what, grouped(most_lane_accesses()))};
}

Error more_memory(std::string_view what) {
    return Error{
        fmt::format("{} takes more memory than the {:g} GB that are allowed; set TILESCOPE_MAX_MEMORY to "
                    "more gigabytes",
                    what, static_cast<double>(known_limit()) / 1e9)};
}

uint64_t most_unpacked(uint64_t limit, uint64_t stored, uint64_t beside) {
    const uint64_t by_size = stored > limit / 16 ? limit * 4 : stored * 64;
    return std::max(limit / 4 * 3 - std::min(limit / 4 * 3, beside), by_size);
}

uint64_t most_unpacked_by_zstd(uint64_t stored) {
    constexpr uint64_t kMostOfBlock = 128 * 1024, kLeastStored = 4;
    return (stored / kLeastStored + 1) * kMostOfBlock;
}

uint64_t blocks_of_window(const Meta& meta, const Launch& launch) {
    const auto length = [](uint32_t first, uint32_t end, uint32_t most) {
        return std::min(end, most) - uint64_t{std::min({first, end, most})};
    };
    const BlockWindow& window = meta.window;
    return length(window.x0, window.x1, launch.grid.x) * length(window.y0, window.y1, launch.grid.y) *
           launch.grid.z;
}

Result<void> check_claims(const Meta& meta, const Launch& launch) {
    All all;
    all << check_sizes(launch);
    all << check_names(meta, launch);
    if (auto sized = std::move(all).result(); !sized) return sized;
    if (auto placed = check_arrays(launch); !placed) return placed;
    return check_meta(meta, launch);
}

}  // namespace tilescope::trace
