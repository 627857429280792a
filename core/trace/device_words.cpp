#include "core/trace/device_words.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "core/ptx/warpgroup.h"

namespace tilescope::trace {

bool WordReader::read(const DeviceRecord& record, WordStep& step) {
    const SiteFacts& facts = layout_->sites[record.site];
    step.mask = record.mask;
    step.maps.clear();
    const std::byte* from = record.addresses;
    for_lanes(record.mask, [&](uint32_t lane) {
        std::memcpy(&step.address[lane], from, sizeof step.address[lane]);
        std::memcpy(step.of_lane(lane), from + sizeof step.address[lane], sizeof(uint32_t) * facts.words);
        from += ptx::words_lane_bytes(facts.words);
    });
    const bool copies = facts.box == ptx::Box::Row || facts.box == ptx::Box::Tensor;
    if (copies) place_barriers(step);
    // A descriptor has no room for a block of the cluster: it is of its own block's memory.
    if (facts.box == ptx::Box::Tile)
        for_lanes(step.mask, [&](uint32_t lane) { step.address[lane] |= uint64_t{rank_} << kRankShift; });
    const bool by_map = facts.box == ptx::Box::Tensor;
    if (by_map && !read_maps(facts.space, step)) return false;
    if (!by_map || facts.space == Space::Shared) place(*layout_, rank_, step.mask, facts.space, step.address);
    if (facts.box == ptx::Box::Tile) place_descriptors(step);
    return true;
}

// Of a tile: the address in its descriptor, as that of the step was moved.
void WordReader::place_descriptors(WordStep& step) const {
    for_lanes(step.mask, [&](uint32_t lane) {
        uint32_t* const words = step.of_lane(lane);
        ptx::MatrixDescriptor descriptor = ptx::matrix_descriptor(uint64_t{words[1]} << 32 | words[0]);
        const uint64_t before = ptx::bits_of(descriptor);
        descriptor.address = static_cast<uint32_t>(step.address[lane]);
        // Bits that mean nothing stay as they are.
        words[0] ^= static_cast<uint32_t>(before ^ ptx::bits_of(descriptor));
    });
}

// The second word of a copy in bulk.
void WordReader::place_barriers(WordStep& step) const {
    Addresses barrier{};
    uint32_t told = 0;  // lanes whose copy is of no group
    for_lanes(step.mask, [&](uint32_t lane) {
        barrier[lane] = step.of_lane(lane)[1];
        if (barrier[lane] != ptx::kNoBarrier) told |= 1u << lane;
    });
    if (told != 0) place(*layout_, rank_, told, Space::Shared, barrier);
    for_lanes(told, [&](uint32_t lane) { step.of_lane(lane)[1] = static_cast<uint32_t>(barrier[lane]); });
}

// Also moves the address of a map in global memory.
const WordReader::KnownMap* WordReader::map_of(uint32_t* words) {
    const bool parameter = words[3] == ptx::kMapInParameters;
    uint64_t address = parameter ? words[2] : uint64_t{words[3]} << 32 | words[2];
    if (!parameter) {
        const AddressShift* const move = move_of(layout_->moves[static_cast<size_t>(Space::Global)], address);
        address += move ? move->shift : 0;
        words[2] = static_cast<uint32_t>(address), words[3] = static_cast<uint32_t>(address >> 32);
    }
    const auto [known, added] = maps_.try_emplace({parameter, address});
    if (added && options_->map_at) {
        auto placed = options_->map_at(address, parameter);
        ptx::TensorMapBytes bytes;
        if (placed && placed->bytes.size() == bytes.size()) {
            std::ranges::copy(placed->bytes, bytes.begin());
            if (const auto map = ptx::decode(bytes)) known->second = KnownMap{std::move(*placed), *map};
        }
    }
    if (known->second) return &*known->second;
    problem = parameter ? fmt::format(
                              "a copy uses a tensor map {} bytes behind the kernel's first parameter, where "
                              "the launch has none; give the map to the launch",
                              address)
                        : fmt::format(
                              "a copy uses a tensor map at address {:#x}, where the launch has none; give "
                              "the map to the launch",
                              address);
    return nullptr;
}

// The bytes of a box, and in global memory the tensor's address.
bool WordReader::read_maps(Space space, WordStep& step) {
    for (uint32_t left = step.mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(left));
        uint32_t* const words = step.of_lane(lane);
        const KnownMap* const known = map_of(words);
        if (known == nullptr) return false;
        words[0] = static_cast<uint32_t>(ptx::box_bytes(known->map, (words[10] >> 16 & 1) != 0));
        if (space == Space::Global) step.address[lane] = known->map.address;
        step.maps.push_back(known->placed);
    }
    return true;
}

}  // namespace tilescope::trace
