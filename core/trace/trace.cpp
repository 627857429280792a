#include "core/trace/trace.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

namespace tilescope::trace {

Access decode(const Trace& trace, uint64_t step) {
    assert(step < trace.steps());
    Access access = decode_form(trace, trace.key[step] & 0xFF'FFFF, trace.base[step]);
    access.warp = trace.warp_of(step);
    return access;
}

Access decode_form(const Trace& trace, uint32_t number, uint32_t base_low) {
    const Form& form = trace.forms[number];
    Access access;
    access.site = form.site;
    access.mask = form.mask;
    access.array = form.array;
    if (trace.sites[form.site].kind == ptx::SiteKind::Barrier) return access;
    const uint64_t base = uint64_t{form.base_high} << 32 | base_low;
    if (form.irregular >= 0) {
        const auto& low = trace.irregular[form.irregular];
        for (int lane = 0; lane < kWarpSize; ++lane) {
            uint64_t offset = static_cast<uint64_t>(int64_t{low[lane]});
            if (form.wide) {
                const auto& high = trace.irregular[form.irregular + 1];
                offset = uint64_t{static_cast<uint32_t>(high[lane])} << 32 | static_cast<uint32_t>(low[lane]);
            }
            access.offset[lane] = (form.mask >> lane & 1) ? base + offset : 0;
        }
        return access;
    }
    const int width = form.width;
    const int first = std::countr_zero(form.mask);
    const int64_t start = int64_t{form.stride} * (first % width) + int64_t{form.stride2} * (first / width);
    for (int lane = 0; lane < kWarpSize; ++lane) {
        const int64_t offset =
            int64_t{form.stride} * (lane % width) + int64_t{form.stride2} * (lane / width) - start;
        access.offset[lane] = (form.mask >> lane & 1) ? base + static_cast<uint64_t>(offset) : 0;
    }
    return access;
}

uint64_t returned_bytes(const Trace& trace, const Form& form) {
    const ptx::Site& site = trace.sites[form.site];
    const auto lanes = static_cast<uint64_t>(std::popcount(form.mask));
    if (site.words != 0) return sizeof(uint32_t) * site.words * lanes;
    return site.kind == ptx::SiteKind::Atomic && form.space == Space::Global ? site.bytes * lanes : 0;
}

bool has_words(const Trace& trace) {
    return std::ranges::any_of(trace.sites, [](const ptx::Site& site) { return site.words != 0; });
}

void index_returned(Trace& trace) {
    trace.returned_at.clear();
    if (!has_words(trace)) return;
    uint64_t bytes = 0;
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        if (step % kReturnedStride == 0) trace.returned_at.push_back(bytes);
        bytes += returned_bytes(trace, trace.form_of(step));
    }
}

StepWords::StepWords(const Trace& trace, uint64_t step) {
    const Form& form = trace.form_of(step);
    uint64_t at = trace.returned_at[step / kReturnedStride];
    for (uint64_t before = step / kReturnedStride * kReturnedStride; before < step; ++before)
        at += returned_bytes(trace, trace.form_of(before));
    first_ = trace.returned.data() + at;
    mask_ = form.mask;
    bytes_ = sizeof(uint32_t) * trace.sites[form.site].words;
}

std::array<uint32_t, ptx::kMostStepWords> StepWords::of(uint32_t lane) const {
    std::array<uint32_t, ptx::kMostStepWords> words{};
    const auto before = static_cast<size_t>(std::popcount(mask_ & ((1u << lane) - 1)));
    std::memcpy(words.data(), first_ + bytes_ * before, bytes_);
    return words;
}

std::optional<TensorCopy> tensor_copy(const Trace& trace,
                                      const std::array<uint32_t, ptx::kMostStepWords>& words) {
    const bool parameter = words[3] == ptx::kMapInParameters;
    const uint64_t address = parameter ? words[2] : uint64_t{words[3]} << 32 | words[2];
    for (const PlacedMap& placed : trace.launch.maps) {
        if (placed.address != address || placed.in_parameters != parameter ||
            placed.bytes.size() != ptx::kTensorMapBytes)
            continue;
        ptx::TensorMapBytes bytes;
        std::ranges::copy(placed.bytes, bytes.begin());
        const auto map = ptx::decode(bytes);
        if (!map) return std::nullopt;
        TensorCopy copy{*map, {}};
        for (size_t i = 0; i < copy.box.at.size(); ++i) copy.box.at[i] = static_cast<int32_t>(words[4 + i]);
        copy.box.offset = {static_cast<uint16_t>(words[9]), static_cast<uint16_t>(words[9] >> 16),
                           static_cast<uint16_t>(words[10])};
        copy.box.gathers = words[10] >> 16 & 1;
        copy.box.stores = words[1] == ptx::kNoBarrier;
        return copy;
    }
    return std::nullopt;
}

uint32_t block_of(const Trace& trace, uint64_t step) {
    assert(step < trace.steps());
    // The last block whose first step is not after this one; blocks without steps come before it.
    const auto after =
        std::upper_bound(trace.blocks.begin(), trace.blocks.end(), step,
                         [](uint64_t value, const Block& block) { return value < block.first; });
    return static_cast<uint32_t>(after - trace.blocks.begin()) - 1;
}

uint64_t bytes_of(const Trace& trace) {
    const uint64_t words = trace.base.size() + trace.key.size() + trace.time.size();
    return words * sizeof(uint32_t) + trace.forms.size() * sizeof(Form) +
           trace.irregular.size() * sizeof(trace.irregular[0]) + trace.blocks.size() * sizeof(Block) +
           trace.returned.size() + trace.returned_at.size() * sizeof(uint64_t) +
           trace.arrival.size() * sizeof(uint32_t);
}

uint64_t dropped_of(const Trace& trace) {
    uint64_t dropped = 0;
    for (const Block& block : trace.blocks) dropped += block.dropped;
    return dropped;
}

}  // namespace tilescope::trace
