// Whether a trace that was read is consistent, so that later code need not check an index again.
#include <algorithm>
#include <cstring>
#include <tuple>

#include <fmt/core.h>

#include "core/base/cluster.h"
#include "core/base/words.h"
#include "core/trace/access.h"
#include "core/trace/claims.h"
#include "core/trace/format.h"

namespace tilescope::trace {

namespace {

// What is done to a barrier in memory has the words of its signal, a box those of its shape, all others none.
Result<void> check_words(const ptx::Site& site) {
    const bool signal = site.kind == ptx::SiteKind::Signal;
    const uint32_t words =
        signal ? ptx::words_of(site.signal)
               : ptx::words_of(site.box) + (ptx::is_multicast(site.box, site.words) ? 1u : 0u);
    if (signal == (site.signal != ptx::Signal::None) && (!signal || site.box == ptx::Box::None) &&
        site.words == words && (site.box == ptx::Box::None || ptx::asks_memory(site.kind)))
        return {};
    return Error{fmt::format("its site {} has {} words beside its address, which none of its kind has",
                             site.id, site.words)};
}

Result<void> check_sites(const Trace& trace) {
    for (const ptx::Site& site : trace.sites) {
        const bool atomic = site.kind == ptx::SiteKind::Atomic;
        const bool exchange = site.kind == ptx::SiteKind::Exchange;
        if (ptx::has_addresses(site.kind) != (site.bytes != 0) ||
            (atomic && site.bytes != 2 && site.bytes != 4 && site.bytes != 8))
            return Error{fmt::format("its site {} touches {} bytes", site.id, site.bytes)};
        if (exchange != (site.exchange != ptx::Exchange::None))
            return Error{fmt::format("its site {} is {}", site.id,
                                     exchange ? "an exchange among lanes, and does not say which one"
                                              : "no exchange among lanes, and names one")};
        const bool computes = atomic || site.exchange == ptx::Exchange::Reduce;
        const bool may_compute = site.past_registers() && site.box != ptx::Box::None;  // cp.reduce.async.bulk
        if (!may_compute && computes != (site.atomic != ptx::Atomic::None))
            return Error{fmt::format(
                "its site {} is {}", site.id,
                computes ? "an atomic or an exchange that reduces, and does not say what it does"
                         : "neither an atomic nor an exchange that reduces, and says what one does")};
        if (auto ok = check_words(site); !ok) return ok;
        if (!site.past_registers()) continue;
        // A cp.async is a load of global memory with a store to shared memory behind it; one in bulk may go either way.
        const auto is_half = [](const ptx::Site& half, ptx::SiteKind kind, Space space) {
            return half.kind == kind && (half.space == space || half.box != ptx::Box::None) &&
                   (half.bytes == 4 || half.bytes == 8 || half.bytes == 16);
        };
        const bool load = site.kind == ptx::SiteKind::Load;
        const size_t other = load ? size_t{site.id} + 1 : size_t{site.id} - 1;
        if (other >= trace.sites.size() || trace.sites[other].bytes != site.bytes ||
            trace.sites[other].box != site.box || !trace.sites[other].past_registers() ||
            !goes_on(trace.sites[load ? site.id : other], trace.sites[load ? other : site.id]) ||
            !is_half(site, load ? ptx::SiteKind::Load : ptx::SiteKind::Store,
                     load ? Space::Global : Space::Shared))
            return Error{fmt::format("its site {} is half of a copy and has no other half", site.id)};
    }
    return {};
}

// Constant memory is read only, and atomics are of memory that threads share.
bool can_go_to(ptx::SiteKind kind, Space space) {
    return kind == ptx::SiteKind::Signal ? space == Space::Shared || space == Space::Global
           : !ptx::asks_memory(kind)     ? space == Space::Global
           : space == Space::Const       ? kind == ptx::SiteKind::Load
           : space == Space::Local       ? kind != ptx::SiteKind::Atomic
                                         : true;
}

int64_t offset_of(const Trace& trace, const Form& form, int lane) {
    if (form.irregular < 0)
        return int64_t{form.stride} * (lane % form.width) + int64_t{form.stride2} * (lane / form.width);
    const int32_t low = trace.irregular[form.irregular][lane];
    if (!form.wide) return low;
    const int32_t high = trace.irregular[form.irregular + 1][lane];
    return static_cast<int64_t>(uint64_t{static_cast<uint32_t>(high)} << 32 | static_cast<uint32_t>(low));
}

// Of a form whose lanes lie in the first `size` bytes of something, `bytes` each.
StepCheck::Allowed allowed_in(const Trace& trace, const Form& form, int64_t size, uint32_t bytes) {
    StepCheck::Allowed allowed{.none = true};
    const int first = std::countr_zero(form.mask);
    const int64_t start = form.irregular < 0 ? offset_of(trace, form, first) : 0;
    int64_t low = 0, high = 0;
    for (int lane = first; lane < kWarpSize; ++lane) {
        if (form.mask >> lane & 1) {
            const int64_t offset = offset_of(trace, form, lane);
            const auto kFar = static_cast<int64_t>(most_of(Claim::GlobalBytes));
            if (offset > kFar || offset < -kFar) return allowed;
            low = std::min(low, offset - start);
            high = std::max(high, offset - start);
        }
    }
    const int64_t window = int64_t{form.base_high} << 32;
    const int64_t least = std::max(-low - window, int64_t{0});
    const int64_t most = std::min(size - bytes - high - window, int64_t{0xFFFF'FFFF});
    if (least <= most) {
        allowed.lowest = static_cast<uint32_t>(least);
        allowed.span = static_cast<uint32_t>(most - least);
        allowed.none = false;
    }
    return allowed;
}

// Rows of offsets that a form has.
uint64_t rows_of(const Form& form) { return form.irregular < 0 ? 0 : form.wide ? 2 : 1; }

Result<void> check_forms(const Trace& trace, std::vector<StepCheck::Allowed>& allowed) {
    uint64_t rows = 0;
    for (const Form& form : trace.forms) {
        rows += rows_of(form);
        const bool indexes = form.site < trace.sites.size() &&
                             (form.array == kNoArray || form.array < trace.launch.arrays.size()) &&
                             form.mask != 0 && form.width >= 1 && form.width <= kWarpSize &&
                             form.irregular >= -1 && (form.irregular >= 0 || !form.wide) &&
                             (form.irregular < 0 || static_cast<uint64_t>(form.irregular) + rows_of(form) <=
                                                        trace.irregular.size());
        if (!indexes) {
            return Error{fmt::format("its form {} of {} points to nothing", &form - trace.forms.data(),
                                     trace.forms.size())};
        }
        const ptx::Site& site = trace.sites[form.site];
        const bool barrier = site.kind == ptx::SiteKind::Barrier;
        const bool exchange = site.kind == ptx::SiteKind::Exchange;
        const bool placed = form.array != kNoArray;
        if (exchange && (placed || !can_go_to(site.kind, form.space))) {
            return Error{fmt::format(
                "its form {} is of an exchange among lanes, which touches no memory, and names {}",
                &form - trace.forms.data(),
                placed ? "an array" : std::string(name_of(form.space)) + " memory")};
        }
        if (!barrier && !can_go_to(site.kind, form.space)) {
            return Error{fmt::format("its form {} goes to {} memory, which its site cannot touch",
                                     &form - trace.forms.data(), name_of(form.space))};
        }
        if (placed && (barrier || trace.launch.arrays[form.array].space != form.space)) {
            return Error{fmt::format("its form {} names an array that its site cannot touch",
                                     &form - trace.forms.data())};
        }
        if (placed)
            allowed.push_back(allowed_in(
                trace, form, static_cast<int64_t>(trace.launch.arrays[form.array].bytes()), site.bytes));
        else if (exchange)
            allowed.push_back(allowed_in(trace, form, int64_t{ptx::most_of(site.exchange)} + 1, 1));
        else
            allowed.push_back({.span = barrier ? 0 : UINT32_MAX});
    }
    if (rows != trace.irregular.size()) {
        return Error{
            fmt::format("it has {} rows of offsets and its forms have {}", trace.irregular.size(), rows)};
    }
    return {};
}

// As many bytes as the atomics of global memory have lanes, and sites with words have for them, each block's behind
// those of the one before.
Result<void> check_returned(const Trace& trace) {
    if (trace.returned.empty() && !has_words(trace)) return {};
    const std::vector<uint64_t> before = returned_before(trace);
    for (size_t i = 0; i < trace.blocks.size(); ++i)
        if (trace.blocks[i].first_returned != before[i])
            return Error{"what its atomics found is not in the order of its blocks"};
    if (before.back() == trace.returned.size()) return {};
    if (has_words(trace))
        return Error{fmt::format("its steps have {} bytes beside their addresses, and it holds {} of them",
                                 before.back(), trace.returned.size())};
    return Error{fmt::format("its atomics found {} bytes, and it holds {} of them", before.back(),
                             trace.returned.size())};
}

}  // namespace

namespace {

using LaneWords = std::array<uint32_t, ptx::kMostStepWords>;

// What is wrong with bytes side by side that a lane moves, or with the box of a tensor; "" for nothing. array: null outside
// of all arrays; offset: in the array.
std::string wrong_row(const LaneWords& words, const Array* array, uint64_t offset) {
    const uint64_t bytes = words[0];
    if (bytes == 0) return "moves 0 bytes, and a copy in bulk moves some";
    // Shared memory is on one of its two sides.
    if (array == nullptr && bytes > most_of(Claim::SharedBytes))
        return fmt::format("moves {} bytes, more than shared memory holds", grouped(bytes));
    const bool inside = array == nullptr || (bytes <= array->bytes() && offset <= array->bytes() - bytes);
    return inside ? "" : "moves more bytes than its array has";
}

std::string wrong_box(const Trace& trace, const Form& form, const LaneWords& words, const Array* array,
                      uint64_t offset) {
    auto copy = tensor_copy(trace, words);
    if (!copy) return "";  // nothing is known of it
    if (form.space == Space::Shared)
        copy->box.shared = static_cast<uint32_t>(offset_of_address(offset + (array ? array->base : 0)));
    const auto runs = ptx::runs_here(copy->map), ok = ptx::check(copy->map, copy->box);
    if (runs && ok) return "";
    return "copies a box of a tensor: " + (runs ? ok : runs).error().message;
}

}  // namespace

// Rows that are moved in bulk and boxes of tensors lie in their arrays, and are such as a GPU would copy.
Result<void> check_rows(const Trace& trace) {
    const auto is_looked_at = [](const ptx::Site& site) {
        return site.box == ptx::Box::Row || site.box == ptx::Box::Tensor;
    };
    if (std::ranges::none_of(trace.sites, is_looked_at)) return {};
    uint64_t at = 0;
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const Form& form = trace.form_of(step);
        const ptx::Site& site = trace.sites[form.site];
        const uint8_t* lane_words = trace.returned.data() + at;
        at += returned_bytes(trace, form);
        if (!is_looked_at(site)) continue;
        const Access access = decode(trace, step);
        const Array* const array = trace.array_of(form);
        std::string wrong;
        for_lanes(form.mask, [&](uint32_t lane) {
            LaneWords words{};
            std::memcpy(words.data(), lane_words, sizeof(uint32_t) * site.words);
            lane_words += sizeof(uint32_t) * site.words;
            if (!wrong.empty()) return;
            wrong = site.box == ptx::Box::Row ? wrong_row(words, array, access.offset[lane])
                                              : wrong_box(trace, form, words, array, access.offset[lane]);
        });
        if (array != nullptr && site.box == ptx::Box::Tensor && wrong.empty())
            AccessView(trace, step).for_pieces([&](uint32_t, uint64_t address, uint64_t bytes) {
                const uint64_t offset = address - array->base;
                if (bytes > array->bytes() || offset > array->bytes() - bytes)
                    wrong = "moves more bytes than its array has";
            });
        if (!wrong.empty()) return Error{fmt::format("its step {} {}", step + 1, wrong)};
    }
    return {};
}

// Where copies arrived: behind the step that asked for them, in their block.
Result<void> check_arrivals(const Trace& trace) {
    const std::vector<uint64_t> before = arrivals_before(trace);
    if (before.back() != trace.arrival.size())
        return Error{
            fmt::format("it has {} copies, and says where {} arrived", before.back(), trace.arrival.size())};
    for (size_t i = 0; i < trace.blocks.size(); ++i) {
        const Block& block = trace.blocks[i];
        if (block.first_arrival != before[i])
            return Error{"where its copies arrived is not in the order of its blocks"};
        if (before[i] == before[i + 1]) continue;
        uint64_t number = before[i];
        for (uint32_t step = 0; step < block.count; ++step) {
            if (!lands_later(trace, block.first + step)) continue;
            const uint32_t arrival = trace.arrival[number++];
            if (arrival != kNeverWaited && (arrival <= step || arrival > block.count))
                return Error{
                    fmt::format("the copy of its step {} arrives before it is asked for, or behind "
                                "its block's last step",
                                block.first + step + 1)};
        }
    }
    return {};
}

namespace {

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

std::vector<uint64_t> returned_before(const Trace& trace) {
    std::vector<uint32_t> of_form;
    for (const Form& form : trace.forms)
        of_form.push_back(static_cast<uint32_t>(returned_bytes(trace, form)));
    std::vector<uint64_t> before;
    uint64_t bytes = 0;
    for (const Block& block : trace.blocks) {
        before.push_back(bytes);
        for (uint64_t step = block.first; step < block.first + block.count; ++step)
            bytes += of_form[trace.key[step] & 0xFF'FFFF];
    }
    before.push_back(bytes);
    return before;
}

std::vector<uint64_t> arrivals_before(const Trace& trace) {
    std::vector<uint64_t> before;
    uint64_t count = 0;
    const bool copies = has_arrivals(trace);
    for (const Block& block : trace.blocks) {
        before.push_back(count);
        for (uint64_t step = block.first; copies && step < block.first + block.count; ++step)
            count += lands_later(trace, step);
    }
    before.push_back(count);
    return before;
}

Result<StepCheck> check_tables(const Trace& trace) {
    StepCheck steps;
    steps.allowed_.reserve(trace.forms.size());
    if (auto ok = check_claims(trace.meta, trace.launch); !ok) return ok.error();
    if (auto ok = check_sites(trace); !ok) return ok.error();
    if (auto ok = check_forms(trace, steps.allowed_); !ok) return ok.error();
    const uint64_t threads = trace.launch.block.count();
    steps.warps_ = static_cast<uint32_t>((threads + kWarpSize - 1) / kWarpSize);
    const uint32_t beyond = threads % kWarpSize == 0 ? 0 : ~uint32_t{0} << threads % kWarpSize;
    const Verification& result = trace.meta.result;
    for (size_t i = 0; i < trace.forms.size(); ++i) {
        const Form& form = trace.forms[i];
        StepCheck::Allowed& allowed = steps.allowed_[i];
        allowed.warps = allowed.none ? 0 : steps.warps_ - ((form.mask & beyond) != 0);
        allowed.stores = result.verified && form.array == result.array &&
                         ptx::writes(trace.sites[form.site].kind) &&
                         trace.sites[form.site].box == ptx::Box::None;
    }
    return steps;
}

Result<void> StepCheck::operator()(const Trace& trace, uint64_t first, uint64_t end,
                                   std::vector<uint32_t>* stores) const {
    static_assert(kMaxSteps <= uint64_t{UINT32_MAX} + 1);
    const uint32_t* const keys = trace.key.data();
    const uint32_t* const bases = trace.base.data();
    const Allowed* const allowed = allowed_.data();
    const size_t forms = allowed_.size();
    for (uint64_t step = first; step < end; ++step) {
        const uint32_t key = keys[step], form = key & 0xFF'FFFF;
        if (form >= forms) return fault_of(trace, step);
        const Allowed& a = allowed[form];
        if (key >> 24 >= a.warps || bases[step] - a.lowest > a.span) return fault_of(trace, step);
        if (a.stores && stores) stores->push_back(static_cast<uint32_t>(step));
    }
    return {};
}

Error StepCheck::fault_of(const Trace& trace, uint64_t step) const {
    const uint32_t form = trace.key[step] & 0xFF'FFFF, warp = trace.warp_of(step);
    if (form >= allowed_.size() || warp >= warps_) {
        return Error{
            fmt::format("its step {} names form {} and warp {}, which do not exist", step + 1, form, warp)};
    }
    const Allowed& a = allowed_[form];
    if (trace.sites[trace.forms[form].site].kind == ptx::SiteKind::Exchange &&
        (a.none || trace.base[step] - a.lowest > a.span))
        return Error{fmt::format("its step {} exchanges with lanes that do not exist", step + 1)};
    if (a.none || trace.base[step] - a.lowest > a.span)
        return Error{fmt::format("its step {} reaches outside its array", step + 1)};
    return Error{fmt::format("its step {} has active lanes that have no thread", step + 1)};
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
        if (auto ok = within(Claim::BlockSteps, block.count); !ok) return ok;
        if (auto ok = within(Claim::Dropped, block.dropped); !ok) return ok;
        if (block.first != next || block.count > trace.steps() - next)
            return Error{"the steps of its blocks do not follow one another"};
        next += block.count;
        dropped |= block.dropped;
        previous = &block;
    }
    if (next != trace.steps() || trace.base.size() != trace.steps() ||
        (!trace.time.empty() && trace.time.size() != trace.steps()))
        return Error{"its columns of steps are not equally long"};
    if (auto ok = check_returned(trace); !ok) return ok;
    if (auto ok = check_arrivals(trace); !ok) return ok;
    if (meta.complete && (dropped != 0 || trace.blocks.size() != blocks_of_window(meta, trace.launch)))
        return Error{"it says that it is complete and lacks blocks or requests"};
    return trace.time.empty() ? Result<void>{} : check_times(trace);
}

Result<void> check(const Trace& trace) {
    const auto steps = check_tables(trace);
    if (!steps) return steps.error();
    if (auto ok = check_blocks(trace); !ok) return ok;
    if (auto ok = (*steps)(trace, 0, trace.steps()); !ok) return ok;
    return check_rows(trace);
}

}  // namespace tilescope::trace
