// The slow, obvious twin of a box of a tensor: element by element, each with where it lies in both memories.
//
// Source: PTX ISA, "Tensors"; what an H200 does with the ends of rows, tests/gpu/tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/tensor_map.h"

namespace tilescope::test {

struct BoxElement {
    bool moved = true;  // of a store: it is written
    bool outside = false;
    uint64_t global = 0;  // where it is not outside, or is written though it is
    uint32_t shared = 0;  // of its first byte, before the swizzle
};

// In the order in which they are copied.
inline std::vector<BoxElement> box_elements(const ptx::TensorMap& map, const ptx::TensorBox& box) {
    const int64_t size = ptx::size_of(map.type);
    const int64_t in_row = map.im2col ? map.channels : map.box[0];
    std::vector<std::vector<int64_t>> rows;  // by dimension from 1 on: where each row of the box lies
    if (map.im2col) {
        std::vector<int64_t> at(box.at.begin() + 1, box.at.begin() + map.rank);
        const size_t last = at.size() - 1;
        for (uint32_t pixel = 0; pixel < map.pixels; ++pixel) {
            rows.push_back(at);
            for (size_t i = 0; i < last; ++i) rows.back()[i] += box.offset[i];
            for (size_t i = 0; i <= last; ++i) {
                at[i] += map.element_stride[i + 1];
                if (i == last || at[i] < static_cast<int64_t>(map.extent[i + 1]) + map.upper_corner[i]) break;
                at[i] = map.lower_corner[i];
            }
        }
    } else if (box.gathers) {
        for (size_t row = 1; row <= 4; ++row) rows.push_back({box.at[row]});
    } else {
        rows.push_back({});
        for (size_t i = 1; i < map.rank; ++i) {  // the innermost runs fastest
            std::vector<std::vector<int64_t>> more;
            for (uint32_t index = 0; index < map.box[i]; index += map.element_stride[i])
                for (const std::vector<int64_t>& row : rows) {
                    more.push_back(row);
                    more.back().push_back(box.at[i] + index);
                }
            rows = more;
        }
    }
    std::vector<BoxElement> elements;
    const int64_t span = ptx::rule_of(map.swizzle).span, pitch = std::max(span, in_row * size);
    for (size_t row = 0; row < rows.size(); ++row)
        for (int64_t x = 0; x < in_row; ++x) {
            BoxElement element;
            int64_t at = static_cast<int64_t>(map.address) + (box.at[0] + x) * size;
            const auto extent = static_cast<int64_t>(map.extent[0]);
            bool inside = true;
            for (size_t i = 0; i + 1 < map.rank; ++i) {
                inside =
                    inside && rows[row][i] >= 0 && rows[row][i] < static_cast<int64_t>(map.extent[i + 1]);
                at += rows[row][i] * static_cast<int64_t>(map.stride[i]);
            }
            element.outside = !inside || box.at[0] + x < 0 || box.at[0] + x >= extent;
            // A store writes whole chunks of 16 bytes that begin in the tensor.
            const int64_t chunk = box.at[0] + x * size / 16 * 16 / size;
            element.moved = !box.stores || (inside && chunk < extent);
            element.global = static_cast<uint64_t>(at);
            element.shared = box.shared + static_cast<uint32_t>(static_cast<int64_t>(row) * pitch + x * size);
            elements.push_back(element);
        }
    return elements;
}

// The byte of shared memory that a byte lies at, by the bits that the PTX ISA exchanges.
inline uint32_t swizzled_byte(ptx::Swizzle swizzle, uint32_t at) {
    const auto bits = [&](uint32_t from, uint32_t count) { return at >> from & ((1u << count) - 1); };
    switch (swizzle) {
        case ptx::Swizzle::None: return at;
        case ptx::Swizzle::B32: return at ^ bits(7, 1) << 4;
        case ptx::Swizzle::B64: return at ^ bits(7, 2) << 4;
        case ptx::Swizzle::B128: return at ^ bits(7, 3) << 4;
        case ptx::Swizzle::B128Atom32: return at ^ bits(7, 2) << 5;
        case ptx::Swizzle::B128Atom32Flip8: return at ^ bits(7, 2) << 5 ^ bits(7, 1) << 3;
        case ptx::Swizzle::B128Atom64: return at ^ bits(7, 1) << 6;
    }
    return at;
}

}  // namespace tilescope::test
