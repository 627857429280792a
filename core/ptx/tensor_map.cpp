#include "core/ptx/tensor_map.h"

#include <bit>
#include <cstring>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

namespace tilescope::ptx {
namespace {

struct TypeRow {
    const char* name;
    uint8_t bytes;
    bool floats;
    ElementType element;
};
constexpr TypeRow kTypes[] = {
    {"UINT8", 1, false, ElementType::U8},         {"UINT16", 2, false, ElementType::U16},
    {"UINT32", 4, false, ElementType::U32},       {"INT32", 4, false, ElementType::S32},
    {"UINT64", 8, false, ElementType::U64},       {"INT64", 8, false, ElementType::S64},
    {"FLOAT16", 2, true, ElementType::F16},       {"FLOAT32", 4, true, ElementType::F32},
    {"FLOAT64", 8, true, ElementType::F64},       {"BFLOAT16", 2, true, ElementType::BF16},
    {"FLOAT32_FTZ", 4, true, ElementType::F32},   {"TFLOAT32", 4, true, ElementType::F32},
    {"TFLOAT32_FTZ", 4, true, ElementType::F32},  {"16U4_ALIGN8B", 0, false, ElementType::B8},
    {"16U4_ALIGN16B", 0, false, ElementType::B8}, {"16U6_ALIGN16B", 0, false, ElementType::B8},
};
static_assert(std::size(kTypes) == kTensorTypes);
const TypeRow& row_of(TensorType type) { return kTypes[static_cast<size_t>(type)]; }

constexpr uint64_t kMostExtent = uint64_t{1} << 32, kStrideEnd = uint64_t{1} << 40;
constexpr uint32_t kMostBox = 256, kMostElementStride = 8, kMostPixels = 1024;
constexpr uint64_t kGlobalAlignment = 16;
constexpr uint32_t kSharedAlignment = 128;
constexpr uint32_t kChunk = 16;                            // bytes that are moved at least
constexpr uint64_t kMostBoxBytes = 228 << 10;              // shared memory of an SM of sm_90
constexpr uint32_t kFirstWithMaps = 9, kFirstPacked = 10;  // major compute capability

// What a corner of im2col may be, by the tensor's dimensions: in 16, 8 or 5 bits.
constexpr int32_t most_of_corner(uint8_t rank) { return rank == 3 ? 32767 : rank == 4 ? 127 : 15; }

bool is_packed(TensorType type) { return size_of(type) == 0; }

// A sentence, where something is wrong.
using Wrong = std::optional<std::string>;

Wrong wrong_box(const TensorMap& map) {
    for (size_t i = 0; i < map.rank; ++i)
        if (map.box[i] == 0 || map.box[i] > kMostBox)
            return fmt::format("boxDim[{}] is {}; it must be 1 to {}", i, map.box[i], kMostBox);
    return {};
}

Wrong wrong_column(const TensorMap& map) {
    if (map.channels == 0 || map.channels > kMostBox)
        return fmt::format("channelsPerPixel is {}; it must be 1 to {}", map.channels, kMostBox);
    if (map.pixels == 0 || map.pixels > kMostPixels)
        return fmt::format("pixelsPerColumn is {}; it must be 1 to {}", map.pixels, kMostPixels);
    const int32_t most = most_of_corner(map.rank);
    for (size_t i = 0; i + 2 < map.rank; ++i) {
        for (const auto& [name, corner] : {std::pair{"pixelBoxLowerCorner", map.lower_corner[i]},
                                           std::pair{"pixelBoxUpperCorner", map.upper_corner[i]}})
            if (corner < -most - 1 || corner > most)
                return fmt::format("{}[{}] is {}; with {} dimensions it must be {} to {}", name, i, corner,
                                   map.rank, -most - 1, most);
        if (static_cast<int64_t>(map.extent[i + 1]) + map.upper_corner[i] <= map.lower_corner[i])
            return fmt::format(
                "between pixelBoxLowerCorner[{}] = {} and pixelBoxUpperCorner[{}] = {} nothing is "
                "left of globalDim[{}] = {}",
                i, map.lower_corner[i], i, map.upper_corner[i], i + 1, map.extent[i + 1]);
    }
    return {};
}

// Rows, and the whole box.
Wrong wrong_size(const TensorMap& map) {
    if (is_packed(map.type)) return {};
    const char* const name = map.im2col ? "channelsPerPixel" : "boxDim[0]";
    const uint32_t bytes = row_elements(map) * size_of(map.type), span = rule_of(map.swizzle).span;
    if (bytes % kChunk != 0)
        return fmt::format("{} makes rows of {} bytes; they must be a multiple of {}", name, bytes, kChunk);
    if (map.interleave == 0 && span != 0 && bytes > span)
        return fmt::format("{} makes rows of {} bytes; swizzle {} allows {}", name, bytes,
                           name_of(map.swizzle), span);
    if (box_bytes(map) > kMostBoxBytes)
        return fmt::format("{} makes a box of {} bytes; shared memory holds {}",
                           map.im2col ? "pixelsPerColumn" : "boxDim", box_bytes(map), kMostBoxBytes);
    return {};
}

// What GPUs of this major compute capability do not have.
Wrong wrong_for(const TensorMap& map, uint32_t major) {
    if (major < kFirstWithMaps) return fmt::format("tensor maps need sm_{}0", kFirstWithMaps);
    if (is_packed(map.type) && major < kFirstPacked)
        return fmt::format("tensorDataType is {}, which needs sm_{}0", name_of(map.type), kFirstPacked);
    if (rule_of(map.swizzle).first_major > major)
        return fmt::format("swizzle is {}, which needs sm_{}0", name_of(map.swizzle),
                           rule_of(map.swizzle).first_major);
    return {};
}

Wrong wrong(const TensorMap& map, uint32_t major) {
    if (static_cast<size_t>(map.type) >= kTensorTypes)
        return fmt::format("tensorDataType is {}, which is no type", static_cast<unsigned>(map.type));
    const uint8_t least_rank = map.im2col || map.interleave != 0 ? 3 : 1;
    if (map.rank < least_rank || map.rank > kMostDimensions)
        return fmt::format("tensorRank is {}; it must be {} to {}", map.rank, least_rank, kMostDimensions);
    if (map.interleave > 2) return fmt::format("interleave is {}, which is no layout", map.interleave);
    if (static_cast<size_t>(map.swizzle) >= kSwizzles)
        return fmt::format("swizzle is {}, which is no mode", static_cast<unsigned>(map.swizzle));
    if (map.l2_promotion > 3) return fmt::format("l2Promotion is {}, which is no size", map.l2_promotion);
    if (const Wrong missing = wrong_for(map, major)) return missing;
    const bool wide =
        map.interleave == 2 || map.type == TensorType::U4x16Padded || map.type == TensorType::U6x16Padded;
    const uint64_t alignment = wide ? 2 * kGlobalAlignment : kGlobalAlignment;
    if (map.address % alignment != 0)
        return fmt::format("globalAddress is {:#x}; it must be a multiple of {}", map.address, alignment);
    for (size_t i = 0; i < map.rank; ++i)
        if (map.extent[i] == 0 || map.extent[i] > kMostExtent)
            return fmt::format("globalDim[{}] is {}; it must be 1 to 2^32", i, map.extent[i]);
    for (size_t i = 0; i + 1 < map.rank; ++i)
        if (map.stride[i] % alignment != 0 || map.stride[i] >= kStrideEnd)
            return fmt::format("globalStrides[{}] is {}; it must be a multiple of {} below 2^40", i,
                               map.stride[i], alignment);
    for (size_t i = 0; i < map.rank; ++i)
        if (map.element_stride[i] == 0 || map.element_stride[i] > kMostElementStride)
            return fmt::format("elementStrides[{}] is {}; it must be 1 to {}", i, map.element_stride[i],
                               kMostElementStride);
    if (const Wrong box = map.im2col ? wrong_column(map) : wrong_box(map)) return box;
    if (const Wrong size = wrong_size(map)) return size;
    if (map.fills_with_nan && !is_float(map.type))
        return fmt::format("oobFill asks for NaNs, which {} has not", name_of(map.type));
    return {};
}

// Little-endian fields, one behind the other.
class Packed {
public:
    explicit Packed(TensorMapBytes& bytes) : bytes_(bytes) {}
    void put(uint64_t value, size_t size) {
        for (size_t i = 0; i < size; ++i) bytes_[at_++] = static_cast<std::byte>(value >> 8 * i & 0xFF);
    }
    uint64_t take(size_t size) {
        uint64_t value = 0;
        for (size_t i = 0; i < size; ++i) value |= std::to_integer<uint64_t>(bytes_[at_++]) << 8 * i;
        return value;
    }

private:
    TensorMapBytes& bytes_;
    size_t at_ = 0;
};

constexpr uint64_t kMark = 0x7061'4D72'6F73'6E54;  // "TnsorMap"
constexpr size_t kSumAt = kTensorMapBytes - 8;

// FNV-1a of the bytes before the sum.
uint64_t sum_of(const TensorMapBytes& bytes) {
    uint64_t sum = 0xCBF2'9CE4'8422'2325;
    for (size_t i = 0; i < kSumAt; ++i) sum = (sum ^ std::to_integer<uint64_t>(bytes[i])) * 0x100'0000'01B3;
    return sum;
}

// Each field of a map with its bytes: fn(field, bytes).
template <class Map, class Fn>
void each_field(Map& map, Fn fn) {
    fn(map.type, 1), fn(map.rank, 1), fn(map.interleave, 1), fn(map.l2_promotion, 1), fn(map.swizzle, 1);
    fn(map.fills_with_nan, 1), fn(map.im2col, 1);
    fn(map.address, 8);
    for (auto& extent : map.extent) fn(extent, 5);
    for (auto& stride : map.stride) fn(stride, 5);
    for (auto& box : map.box) fn(box, 2);
    for (auto& stride : map.element_stride) fn(stride, 1);
    for (auto& corner : map.lower_corner) fn(corner, 2);
    for (auto& corner : map.upper_corner) fn(corner, 2);
    fn(map.channels, 2), fn(map.pixels, 2);
}

}  // namespace

const char* name_of(TensorType type) { return row_of(type).name; }
uint32_t size_of(TensorType type) { return row_of(type).bytes; }
bool is_float(TensorType type) { return row_of(type).floats; }
ElementType element_of(TensorType type) { return row_of(type).element; }

std::optional<TensorType> tensor_type_of(ElementType element) {
    for (size_t i = 0; i < kTensorTypes; ++i)
        if (const auto type = static_cast<TensorType>(i); element_of(type) == element && size_of(type) != 0)
            return type;
    if (is_float(element)) return std::nullopt;
    // Signs and names of bits are nothing to a copy.
    for (const TensorType type : {TensorType::U8, TensorType::U16, TensorType::U32, TensorType::U64})
        if (size_of(type) == tilescope::size_of(element)) return type;
    return std::nullopt;
}

TensorMap map_of(const TensorMapArguments& given) {
    const auto byte = [](uint32_t value) {
        return static_cast<uint8_t>(std::min(value, uint32_t{UINT8_MAX}));
    };
    TensorMap map;
    map.type = static_cast<TensorType>(byte(given.type));
    map.rank = static_cast<uint8_t>(given.rank);
    map.address = given.address;
    std::copy_n(given.extents, map.rank, map.extent.begin());
    if (map.rank > 1) std::copy_n(given.strides, map.rank - 1, map.stride.begin());
    std::copy_n(given.element_strides, map.rank, map.element_stride.begin());
    map.interleave = byte(given.interleave);
    map.swizzle = static_cast<Swizzle>(byte(given.swizzle));
    map.l2_promotion = byte(given.promotion);
    map.fills_with_nan = given.fill != 0;
    return map;
}

Result<void> check(const TensorMap& map, uint32_t major) {
    if (Wrong what = wrong(map, major)) return Error{std::move(*what)};
    return {};
}

Result<void> check(const TensorMap& map, const TensorBox& box) {
    const int64_t first = int64_t{box.at[0]} * size_of(map.type);
    if (first % kChunk != 0)
        return Error{
            fmt::format("the first coordinate is {}, {} bytes from the tensor's begin; a box must begin at a "
                        "multiple of {} bytes",
                        box.at[0], first, kChunk)};
    if (box.shared % kSharedAlignment != 0)
        return Error{fmt::format("the box's address in shared memory is {:#x}; it must be a multiple of {}",
                                 box.shared, kSharedAlignment)};
    if (box.gathers && (map.rank != 2 || map.im2col))
        return Error{
            fmt::format("four rows are gathered from a tensor map of 2 dimensions, not of {}", map.rank)};
    if (box.stores)
        for (size_t i = 0; i < map.rank && !box.gathers; ++i)
            if (box.at[i] < 0)
                return Error{fmt::format(
                    "coordinate {} of a box that is stored is {}; it must not be negative", i, box.at[i])};
    for (size_t i = 1; map.im2col && i + 1 < map.rank; ++i) {
        const int64_t low = map.lower_corner[i - 1],
                      end = static_cast<int64_t>(map.extent[i]) + map.upper_corner[i - 1];
        if (box.at[i] < low || box.at[i] >= end)
            return Error{fmt::format(
                "coordinate {} of an im2col box is {}; between the map's corners there are {} to {}", i,
                box.at[i], low, end - 1)};
    }
    return {};
}

Result<void> runs_here(const TensorMap& map) {
    if (map.interleave != 0)
        return Error{
            "a tensor map with an interleaved layout can be recorded on a GPU only; use "
            "CU_TENSOR_MAP_INTERLEAVE_NONE"};
    if (is_packed(map.type))
        return Error{
            fmt::format("a tensor map of type {} can be recorded on a GPU only; use UINT8 for its bytes",
                        name_of(map.type))};
    return {};
}

TensorMapBytes encode(const TensorMap& map) {
    TensorMapBytes bytes{};
    Packed packed(bytes);
    packed.put(kMark, 8);
    each_field(map, [&](auto field, size_t size) { packed.put(static_cast<uint64_t>(field), size); });
    const uint64_t sum = sum_of(bytes);
    for (size_t i = 0; i < 8; ++i) bytes[kSumAt + i] = static_cast<std::byte>(sum >> 8 * i & 0xFF);
    return bytes;
}

std::optional<TensorMap> decode(const TensorMapBytes& given) {
    TensorMapBytes bytes = given;
    Packed packed(bytes);
    if (packed.take(8) != kMark) return {};
    TensorMap map;
    each_field(map, [&]<class Field>(Field& field, size_t size) {
        const uint64_t value = packed.take(size);
        // Corners alone are signed.
        if constexpr (std::is_same_v<Field, int32_t>)
            field = static_cast<int16_t>(value);
        else
            field = static_cast<Field>(value);
    });
    uint64_t sum = 0;
    for (size_t i = 0; i < 8; ++i) sum |= std::to_integer<uint64_t>(bytes[kSumAt + i]) << 8 * i;
    if (sum != sum_of(bytes) || !check(map, kFirstPacked)) return {};
    return map;
}

uint32_t row_elements(const TensorMap& map) { return map.im2col ? map.channels : map.box[0]; }

uint64_t row_count(const TensorMap& map, bool gathers) {
    if (map.im2col) return map.pixels;
    if (gathers) return 4;
    uint64_t rows = 1;
    for (size_t i = 1; i < map.rank; ++i)
        rows *= (map.box[i] + map.element_stride[i] - 1) / map.element_stride[i];
    return rows;
}

uint64_t box_bytes(const TensorMap& map, bool gathers) {
    return row_count(map, gathers) * row_elements(map) * size_of(map.type);
}

uint32_t row_pitch(const TensorMap& map) {
    return std::max<uint32_t>(rule_of(map.swizzle).span, row_elements(map) * size_of(map.type));
}

TensorRows::TensorRows(const TensorMap& map, const TensorBox& box)
    : map_(map), box_(box), left_(row_count(map, box.gathers)), shared_(box.shared) {
    for (size_t i = 0; i < map.rank; ++i) position_[i] = box.at[i];
}

bool TensorRows::next(TensorRow& row) {
    if (left_ == 0) return false;
    --left_;
    const auto element = static_cast<int64_t>(size_of(map_.type));
    row = {};
    row.shared = shared_, row.bytes = row_elements(map_) * static_cast<uint32_t>(element);
    shared_ += row_pitch(map_);
    bool inside = true;
    uint64_t global = map_.address;
    for (size_t i = 1; i < map_.rank; ++i) {
        const int64_t at = position_[i] + (map_.im2col && i + 1 < map_.rank ? box_.offset[i - 1] : 0);
        inside = inside && at >= 0 && static_cast<uint64_t>(at) < map_.extent[i];
        global += static_cast<uint64_t>(at) * map_.stride[i - 1];
    }
    const int64_t first = std::max<int64_t>(position_[0], 0);
    const int64_t end =
        std::min<int64_t>(position_[0] + row_elements(map_), static_cast<int64_t>(map_.extent[0]));
    if (inside && first < end) {
        row.inside = static_cast<uint32_t>((first - position_[0]) * element);
        row.inside_bytes = static_cast<uint32_t>((end - first) * element);
        if (box_.stores)
            row.inside_bytes =
                std::min((row.inside_bytes + kChunk - 1) / kChunk * kChunk, row.bytes - row.inside);
        row.global = global + static_cast<uint64_t>(first * element);
    }
    if (box_.gathers) {
        const uint64_t done = 4 - left_;
        if (left_ != 0) position_[1] = box_.at[done + 1];
        return true;
    }
    for (size_t i = 1; i < map_.rank; ++i) {
        position_[i] += map_.element_stride[i];
        if (!map_.im2col) {
            if ((index_[i] += map_.element_stride[i]) < map_.box[i]) break;
            index_[i] = 0;
            position_[i] = box_.at[i];
        } else {
            if (i + 1 == map_.rank) break;
            if (position_[i] < static_cast<int64_t>(map_.extent[i]) + map_.upper_corner[i - 1]) break;
            position_[i] = map_.lower_corner[i - 1];
        }
    }
    return true;
}

uint16_t filled(const TensorMap& map) { return map.fills_with_nan ? 0x7FF7 : 0; }

uint32_t loaded(TensorType type, uint32_t bits) {
    if (type != TensorType::TF32 && type != TensorType::TF32Ftz) return bits;
    constexpr uint32_t kCut = 13, kInfinite = 0x7F80'0000, kNaN = 0x7FFF'E000;
    if ((bits & 0x7FFF'FFFF) > kInfinite) return kNaN;
    const uint32_t odd = bits >> kCut & 1;
    return (bits + (1u << (kCut - 1)) - 1 + odd) >> kCut << kCut;
}

}  // namespace tilescope::ptx
