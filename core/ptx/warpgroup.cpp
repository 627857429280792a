#include "core/ptx/warpgroup.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include <fmt/format.h>

namespace tilescope::ptx {
namespace {

using M = MatrixType;

bool one_of(MatrixType type, std::initializer_list<MatrixType> among) {
    for (const MatrixType other : among)
        if (type == other) return true;
    return false;
}

// One warp's 16 rows, as mma holds them: A of its own k, D in tiles of 8 columns.
MatrixForm tile_of(const MatrixForm& form) {
    MatrixForm tile = form;
    tile.m = 16, tile.n = 8;
    return tile;
}

constexpr Swizzle kDescriptorSwizzles[] = {Swizzle::None, Swizzle::B128, Swizzle::B64, Swizzle::B32};
constexpr uint64_t kField = 0x3FFF;  // 14 bits, in units of 16 bytes

}  // namespace

uint32_t k_of_warpgroup(MatrixType factor, bool sparse) {
    return 8 * kBytesAlongK / bits_of(factor) * (sparse ? 2 : 1);
}

std::optional<MatrixForm> warpgroup_form(uint32_t n, MatrixType d, MatrixType a, MatrixType b, bool sparse) {
    const bool fp8 = one_of(a, {M::E4M3, M::E5M2}) && one_of(b, {M::E4M3, M::E5M2});
    const bool bytes = one_of(a, {M::S8, M::U8}) && one_of(b, {M::S8, M::U8});
    const bool bits = a == M::B1 && b == M::B1 && !sparse;
    const bool sums = (a == M::F16 && b == M::F16) || fp8 ? one_of(d, {M::F16, M::F32})
                      : one_of(a, {M::BF16, M::TF32})     ? a == b && d == M::F32
                      : bytes || bits                     ? d == M::S32
                                                          : false;
    if (!sums || n == 0 || n % 8 != 0 || n > kMostColumns) return {};
    // Of integers fewer widths are there: 8, 24, and multiples of 16.
    if (d == M::S32 && n % 16 != 0 && n != 8 && n != 24) return {};
    MatrixForm form;
    form.m = kWarpgroupRows, form.n = static_cast<uint16_t>(n);
    form.k = static_cast<uint16_t>(k_of_warpgroup(a, sparse));
    form.types = {a, b, d, d};
    form.sparse = sparse;
    form.both = bits;
    return form;
}

std::optional<MatrixForm> warpgroup_form(const Instruction& instruction) {
    M types[3] = {};
    size_t known = 0;
    const std::string* shape = nullptr;
    for (const std::string& word : instruction.suffixes) {
        if (word.starts_with("m64n")) shape = &word;
        const M type = matrix_type_named(word);
        if (type != M::None && known < 3) types[known++] = type;
    }
    if (shape == nullptr || known < 3) return {};
    const bool sparse = instruction.op == Op::WgmmaSp;
    const auto n = static_cast<uint32_t>(std::strtoul(shape->c_str() + 4, nullptr, 10));
    auto form = warpgroup_form(n, types[0], types[1], types[2], sparse);
    if (!form || *shape != fmt::format("m64n{}k{}", n, form->k)) return {};
    const auto has = [&](std::string_view word) { return std::ranges::count(instruction.suffixes, word); };
    form->satfinite = has("satfinite") > 0;
    const bool bytes = types[0] == M::S32 && types[1] != M::B1;
    if (has("satfinite") > (bytes ? 1 : 0) || (has("popc") > 0) != (types[1] == M::B1)) return {};
    return form;
}

bool may_be_transposed(const MatrixForm& form) { return bits_of(form.type(MatrixRole::A)) == 16; }

uint32_t warpgroup_registers(const MatrixForm& form, MatrixRole role) {
    const MatrixForm tile = tile_of(form);
    return role == MatrixRole::A ? tile.registers(role) : form.n / 8u * tile.registers(role);
}

MatrixPlace warpgroup_place(const MatrixForm& form, MatrixRole role, uint32_t warp,
                            const FragmentPlace& held) {
    const MatrixForm tile = tile_of(form);
    const uint32_t registers = tile.registers(role),
                   which = role == MatrixRole::A ? 0 : held.index / registers;
    FragmentPlace in_tile = held;
    in_tile.index = static_cast<uint8_t>(held.index - which * registers);
    MatrixPlace place = place_of(tile, role, in_tile);
    place.row = static_cast<uint16_t>(place.row + 16 * warp);
    place.column = static_cast<uint16_t>(place.column + 8 * which);
    return place;
}

WarpgroupHolder warpgroup_holder(const MatrixForm& form, MatrixRole role, const MatrixPlace& place) {
    const MatrixForm tile = tile_of(form);
    const uint32_t which = role == MatrixRole::A ? 0 : place.column / 8u;
    MatrixPlace in_tile = place;
    in_tile.row = place.row % 16;
    in_tile.column = static_cast<uint16_t>(place.column - 8 * which);
    WarpgroupHolder holder{static_cast<uint8_t>(place.row / 16), {}};
    if (const auto held = holder_of(tile, role, in_tile)) holder.held = *held;
    holder.held.index = static_cast<uint8_t>(holder.held.index + which * tile.registers(role));
    return holder;
}

MatrixDescriptor matrix_descriptor(uint64_t bits) {
    const auto field = [&](uint32_t from) { return static_cast<uint32_t>(bits >> from & kField) << 4; };
    return {field(0), field(16), field(32), static_cast<uint8_t>(bits >> 49 & 7),
            kDescriptorSwizzles[bits >> 62]};
}

uint64_t bits_of(const MatrixDescriptor& descriptor) {
    const auto field = [](uint32_t bytes, uint32_t at) { return (uint64_t{bytes} >> 4 & kField) << at; };
    uint64_t swizzle = 0;
    while (kDescriptorSwizzles[swizzle] != descriptor.swizzle && swizzle < 3) ++swizzle;
    return field(descriptor.address, 0) | field(descriptor.leading, 16) | field(descriptor.stride, 32) |
           uint64_t{descriptor.base_offset} << 49 | swizzle << 62;
}

uint32_t address_of_element(const MatrixDescriptor& descriptor, bool transposed, uint32_t bits, uint32_t row,
                            uint32_t k) {
    const uint32_t span = rule_of(descriptor.swizzle).span, along_k = k * bits / 8,
                   along_row = row * bits / 8;
    uint32_t at = 0;
    if (!transposed && span == 0)
        at = 16 * (row % 8) + descriptor.stride * (row / 8) + descriptor.leading * (along_k / 16) +
             along_k % 16;
    else if (!transposed)
        at = span * (row % 8) + descriptor.stride * (row / 8) + along_k;
    else if (span == 0)
        at = 16 * (k % 8) + descriptor.leading * (k / 8) + descriptor.stride * (along_row / 16) +
             along_row % 16;
    else
        at = span * (k % 8) + descriptor.stride * (k / 8) + descriptor.leading * (along_row / span) +
             along_row % span;
    return swizzled(descriptor.swizzle, descriptor.address + at, descriptor.base_offset);
}

}  // namespace tilescope::ptx
