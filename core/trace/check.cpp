// Whether a trace that was read is consistent, so that later code need not check an index again.
#include <algorithm>
#include <functional>
#include <tuple>

#include <fmt/core.h>

#include "core/trace/format.h"

namespace tilescope::trace {

namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr uint32_t kMaxThreads = 1024;

Result<void> check_sizes(const Launch& launch) {
    const Dim3 grid = launch.grid, block = launch.block;
    const auto outside = [](uint32_t value, uint32_t highest) { return value == 0 || value > highest; };
    if (outside(block.x, kMaxThreads) || outside(block.y, kMaxThreads) || outside(block.z, 64) ||
        block.count() > kMaxThreads) {
        return Error{
            fmt::format("its block of {} x {} x {} threads cannot be launched", block.x, block.y, block.z)};
    }
    if (outside(grid.x, 0x7FFF'FFFF) || outside(grid.y, 65535) || outside(grid.z, 65535)) {
        return Error{
            fmt::format("its grid of {} x {} x {} blocks cannot be launched", grid.x, grid.y, grid.z)};
    }
    return {};
}

Result<void> check_result(const Trace& trace) {
    const Meta& meta = trace.meta;
    const Dim3 grid = trace.launch.grid, block = trace.launch.block;
    const Verification& result = meta.result;
    if (result.array != kNoArray && result.array >= trace.launch.arrays.size())
        return Error{"its result is of an array that it does not have"};
    const uint64_t elements = result.array == kNoArray ? 0 : trace.launch.arrays[result.array].elements();
    const bool first_wrong_outside =
        result.first_wrong >= 0 && static_cast<uint64_t>(result.first_wrong) >= elements;
    const std::vector<uint64_t>& wrong = result.wrong_elements;
    if (wrong.size() > result.wrong ||
        std::adjacent_find(wrong.begin(), wrong.end(), std::greater_equal<>()) != wrong.end() ||
        (!wrong.empty() && wrong.back() >= elements))
        return Error{"its wrong elements of the result lie outside it, or not in order"};
    const BarrierFault& fault = meta.barrier_fault;
    if (fault.is &&
        (fault.x >= grid.x || fault.y >= grid.y || fault.z >= grid.z || fault.thread >= block.count()))
        return Error{"its fault at a barrier is of no thread of the launch"};
    if (meta.window.x0 > meta.window.x1 || meta.window.y0 > meta.window.y1 || first_wrong_outside)
        return Error{"its window of blocks or its result lies outside the launch"};
    return {};
}

Result<void> check_arrays(const Launch& launch) {
    if (launch.arrays.size() >= kNoArray)
        return Error{fmt::format("it names {} arrays, more than there can be", launch.arrays.size())};
    for (const Array& array : launch.arrays) {
        const uint64_t most = kMaxArrayBytes / array.element_bytes();
        const bool sized = array.rank >= 1 && array.slices > 0 && array.rows > 0 && array.cols > 0 &&
                           uint64_t{array.rows} * array.cols <= most / array.slices &&
                           (array.rank >= 3 || array.slices == 1) && (array.rank >= 2 || array.rows == 1);
        if (!sized || array.base + array.bytes() < array.base ||
            (array.space == Space::Shared) != (array.role == ArrayRole::Shared) ||
            (array.space == Space::Shared && array.contents.kind != Contents::Kind::Zeros)) {
            return Error{fmt::format("its array '{}' of {} x {} elements cannot be", array.name, array.rows,
                                     array.cols)};
        }
        if (array.contents.kind == Contents::Kind::Stored && array.bytes() > kMaxContentsBytes)
            return Error{fmt::format("its array '{}' stores more than a recording can", array.name)};
    }
    for (const Argument& argument : launch.arguments) {
        if (argument.array < 0) continue;
        const auto at = static_cast<size_t>(argument.array);
        if (at >= launch.arrays.size() || launch.arrays[at].space != Space::Global ||
            argument.offset > launch.arrays[at].bytes())
            return Error{fmt::format("its argument '{}' points to no array of the launch", argument.name)};
    }
    return {};
}

Result<void> check_sites(const Trace& trace) {
    for (const ptx::Site& site : trace.sites)
        if ((site.kind == ptx::SiteKind::Barrier) != (site.bytes == 0))
            return Error{fmt::format("its site {} touches {} bytes", site.id, site.bytes)};
    return {};
}

int64_t offset_of(const Trace& trace, const Form& form, int lane) {
    if (form.irregular < 0)
        return int64_t{form.stride} * (lane % form.width) + int64_t{form.stride2} * (lane / form.width);
    const int32_t low = trace.irregular[form.irregular][lane];
    if (!form.wide) return low;
    const int32_t high = trace.irregular[form.irregular + 1][lane];
    return static_cast<int64_t>(uint64_t{static_cast<uint32_t>(high)} << 32 | static_cast<uint32_t>(low));
}

StepCheck::Allowed allowed_in_array(const Trace& trace, const Form& form) {
    StepCheck::Allowed allowed{0, 0, form.mask, true};
    const int first = std::countr_zero(form.mask);
    const int64_t start = form.irregular < 0 ? offset_of(trace, form, first) : 0;
    int64_t low = 0, high = 0;
    for (int lane = first; lane < kWarpSize; ++lane) {
        if (form.mask >> lane & 1) {
            const int64_t offset = offset_of(trace, form, lane);
            constexpr int64_t kFar = int64_t{kMaxArrayBytes};
            if (offset > kFar || offset < -kFar) return allowed;
            low = std::min(low, offset - start);
            high = std::max(high, offset - start);
        }
    }
    const auto size = static_cast<int64_t>(trace.launch.arrays[form.array].bytes());
    const int64_t window = int64_t{form.base_high} << 32;
    const int64_t least = std::max(-low - window, int64_t{0});
    const int64_t most = std::min(size - trace.sites[form.site].bytes - high - window, int64_t{0xFFFF'FFFF});
    if (least <= most) {
        allowed.lowest = static_cast<uint32_t>(least);
        allowed.span = static_cast<uint32_t>(most - least);
        allowed.none = false;
    }
    return allowed;
}

Result<void> check_forms(const Trace& trace, std::vector<StepCheck::Allowed>& allowed) {
    for (const Form& form : trace.forms) {
        const auto rows = static_cast<int64_t>(trace.irregular.size());
        const bool indexes = form.site < trace.sites.size() &&
                             (form.array == kNoArray || form.array < trace.launch.arrays.size()) &&
                             form.mask != 0 && form.width >= 1 && form.width <= kWarpSize &&
                             form.irregular >= -1 &&
                             form.irregular < rows - (form.wide ? 1 : 0) + (form.irregular < 0 ? 1 : 0) &&
                             (form.irregular >= 0 || !form.wide);
        if (!indexes) {
            return Error{fmt::format("its form {} of {} points to nothing", &form - trace.forms.data(),
                                     trace.forms.size())};
        }
        const bool barrier = trace.sites[form.site].kind == ptx::SiteKind::Barrier;
        const bool placed = form.array != kNoArray;
        if (placed && (barrier || trace.launch.arrays[form.array].space != form.space)) {
            return Error{fmt::format("its form {} names an array that its site cannot touch",
                                     &form - trace.forms.data())};
        }
        if (placed)
            allowed.push_back(allowed_in_array(trace, form));
        else
            allowed.push_back({0, barrier ? 0 : UINT32_MAX, form.mask, false});
    }
    return {};
}

// Clocks since the block's first step go forwards.
Result<void> check_times(const Trace& trace) {
    for (const Block& block : trace.blocks) {
        const auto first = trace.time.begin() + static_cast<std::ptrdiff_t>(block.first);
        if (!std::is_sorted(first, first + static_cast<std::ptrdiff_t>(block.count))) {
            return Error{
                fmt::format("the times of its block ({},{},{}) go backwards", block.x, block.y, block.z)};
        }
    }
    return {};
}

}  // namespace

Result<void> check_launch(const Trace& trace) {
    if (auto ok = check_sizes(trace.launch); !ok) return ok;
    return check_arrays(trace.launch);
}

Result<StepCheck> check_tables(const Trace& trace) {
    StepCheck steps;
    steps.allowed_.reserve(trace.forms.size());
    if (auto ok = check_launch(trace); !ok) return ok.error();
    if (auto ok = check_result(trace); !ok) return ok.error();
    if (auto ok = check_sites(trace); !ok) return ok.error();
    if (auto ok = check_forms(trace, steps.allowed_); !ok) return ok.error();
    const uint64_t threads = trace.launch.block.count();
    steps.warps_ = static_cast<uint32_t>((threads + kWarpSize - 1) / kWarpSize);
    steps.beyond_ = threads % kWarpSize == 0 ? 0 : ~uint32_t{0} << threads % kWarpSize;
    return steps;
}

Result<void> StepCheck::operator()(const Trace& trace, uint64_t first, uint64_t end) const {
    for (uint64_t step = first; step < end; ++step) {
        const uint32_t form = trace.key[step] & 0xFF'FFFF, warp = trace.warp_of(step);
        if (form >= allowed_.size() || warp >= warps_) {
            return Error{fmt::format("its step {} names form {} and warp {}, which do not exist", step + 1,
                                     form, warp)};
        }
        const Allowed& a = allowed_[form];
        if (a.none || trace.base[step] - a.lowest > a.span)
            return Error{fmt::format("its step {} reaches outside its array", step + 1)};
        if (warp + 1 == warps_ && (a.mask & beyond_) != 0)
            return Error{fmt::format("its step {} has active lanes that have no thread", step + 1)};
    }
    return {};
}

Result<void> check_blocks(const Trace& trace) {
    const Meta& meta = trace.meta;
    uint64_t next = 0, dropped = 0;
    const Block* previous = nullptr;
    for (const Block& block : trace.blocks) {
        const bool ordered = !previous || std::tie(previous->z, previous->y, previous->x) <
                                              std::tie(block.z, block.y, block.x);
        if (!ordered || block.x >= trace.launch.grid.x || block.y >= trace.launch.grid.y ||
            block.z >= trace.launch.grid.z || !meta.window.contains(block.x, block.y)) {
            return Error{fmt::format("its block ({},{},{}) is not one of the launch, or not in order",
                                     block.x, block.y, block.z)};
        }
        if (block.first != next || block.count > trace.steps() - next)
            return Error{"the steps of its blocks do not follow one another"};
        next += block.count;
        dropped |= block.dropped;
        previous = &block;
    }
    if (next != trace.steps() || trace.base.size() != trace.steps() ||
        (!trace.time.empty() && trace.time.size() != trace.steps()))
        return Error{"its columns of steps are not equally long"};
    const uint64_t columns = std::min(meta.window.x1, trace.launch.grid.x) -
                             uint64_t{std::min(meta.window.x0, trace.launch.grid.x)};
    const uint64_t rows = std::min(meta.window.y1, trace.launch.grid.y) -
                          uint64_t{std::min(meta.window.y0, trace.launch.grid.y)};
    if (meta.complete && (dropped != 0 || trace.blocks.size() != columns * rows * trace.launch.grid.z))
        return Error{"it says that it is complete and lacks blocks or requests"};
    return trace.time.empty() ? Result<void>{} : check_times(trace);
}

Result<void> check(const Trace& trace) {
    const auto steps = check_tables(trace);
    if (!steps) return steps.error();
    if (auto ok = check_blocks(trace); !ok) return ok;
    return (*steps)(trace, 0, trace.steps());
}

}  // namespace tilescope::trace
