#include "kernels/launched/tensor_maps.h"

#include <algorithm>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "kernels/launched/describe.h"

namespace tilescope::launched {

namespace {

// The array that holds the tensor, with its shape where it is the tensor and nothing more.
void add_tensor(Launch& launch, KnownMemory& memory, const ptx::TensorMap& map, const std::string& name) {
    const Allocation* const holds = memory.find(map.address);
    if (!holds || !add_array(launch, *holds, name, ptx::element_of(map.type))) return;
    const auto tensor = tensor_of(map);
    const auto array = std::ranges::find_if(launch.arrays, [&](const Array& one) {
        return one.space == Space::Global && one.base == holds->base;
    });
    if (!tensor || array == launch.arrays.end() || array->extents == ExtentSource::Known ||
        array->base != map.address || array->bytes() != tensor->bytes())
        return;
    Array shaped = *tensor;
    shaped.name = array->name, shaped.role = array->role, shaped.symbol = array->symbol;
    shaped.contents = array->contents;
    *array = std::move(shaped);
}

}  // namespace

const ptx::TensorMap* DriverMaps::find(const ptx::TensorMapBytes& bytes) const {
    const auto known = maps_.find(bytes);
    return known == maps_.end() ? nullptr : &known->second;
}

std::vector<FoundMap> maps_in(std::span<const std::byte> bytes, const DriverMaps& known) {
    std::vector<FoundMap> found;
    ptx::TensorMapBytes one;
    for (size_t at = 0; at + one.size() <= bytes.size(); at += ptx::kTensorMapAlignment) {
        std::memcpy(one.data(), bytes.data() + at, one.size());
        if (const auto own = ptx::decode(one))
            found.push_back({at, *own, true});
        else if (const ptx::TensorMap* const map = known.find(one))
            found.push_back({at, *map, false});
    }
    return found;
}

void write_own(std::span<std::byte> bytes, std::span<const FoundMap> found) {
    for (const FoundMap& one : found) std::ranges::copy(ptx::encode(one.map), bytes.data() + one.at);
}

PlacedMap placed_map(uint64_t address, const ptx::TensorMap& map) {
    const ptx::TensorMapBytes own = ptx::encode(map);
    return {address, false, {own.begin(), own.end()}};
}

// Dimensions by how far apart they lie: those within a row fill it side by side, rows lie a pitch apart, slices some rows.
std::optional<Array> tensor_of(const ptx::TensorMap& map) {
    struct Dimension {
        uint64_t stride = 0, extent = 0;  // bytes, elements
    };
    const uint64_t element = ptx::size_of(map.type);
    if (element == 0 || map.rank == 0) return std::nullopt;
    std::vector<Dimension> within = {{element, map.extent[0]}}, above;
    uint64_t pitch = 0, rows = 1;
    for (size_t i = 1; i < map.rank; ++i) {
        const Dimension one{map.stride[i - 1], map.extent[i]};
        if (one.extent == 1) continue;
        if (pitch == 0)
            pitch = one.stride, rows = one.extent;
        else
            (one.stride < pitch ? within : above).push_back(one);
    }
    std::ranges::sort(within, {}, &Dimension::stride);
    std::ranges::sort(above, {}, &Dimension::stride);
    uint64_t row = element;  // bytes of a row
    for (const Dimension& one : within) {
        if (one.stride != row) return std::nullopt;
        row *= one.extent;
    }
    if (pitch == 0) pitch = row;
    if (pitch % element != 0 || pitch < row) return std::nullopt;
    uint64_t slices = 1;
    if (!above.empty()) {
        if (above.front().stride % pitch != 0 || above.front().stride / pitch < rows) return std::nullopt;
        rows = above.front().stride / pitch;
    }
    for (const Dimension& one : above) {
        if (one.stride != rows * pitch * slices) return std::nullopt;
        slices *= one.extent;
    }
    const uint64_t cols = pitch / element;
    if (cols > UINT32_MAX || rows > UINT32_MAX || slices > UINT32_MAX || cols * rows > UINT32_MAX / slices)
        return std::nullopt;  // elements are counted in 32 bits
    Array array;
    array.base = map.address;
    array.type = ptx::element_of(map.type);
    array.rank = slices > 1 ? 3 : rows > 1 ? 2 : 1;
    array.cols = static_cast<uint32_t>(cols);
    array.rows = static_cast<uint32_t>(rows);
    array.slices = static_cast<uint32_t>(slices);
    array.extents = ExtentSource::Known;
    return array;
}

void take_maps(Launch& launch, KnownMemory& memory, const DriverMaps& known) {
    for (Argument& argument : launch.arguments) {
        const auto found = maps_in(argument.object, known);
        write_own(argument.object, found);
        for (const FoundMap& one : found)
            add_tensor(launch, memory, one.map,
                       one.at == 0 && argument.object.size() == ptx::kTensorMapBytes
                           ? argument.name
                           : fmt::format("{}+{}", argument.name, one.at));
    }
    const size_t pointed = launch.arrays.size();  // those that maps add hold none
    for (size_t i = 0; i < pointed; ++i) {
        const Array array = launch.arrays[i];
        Allocation* const one = array.space == Space::Global ? memory.find(array.base) : nullptr;
        const std::byte* const bytes = one ? memory.bytes(*one) : nullptr;
        if (bytes == nullptr) continue;
        for (const FoundMap& map :
             maps_in({bytes, static_cast<size_t>(std::min(one->bytes, kMapsBehindPointer))}, known)) {
            if (!map.own) launch.maps.push_back(placed_map(array.base + map.at, map.map));
            add_tensor(launch, memory, map.map,
                       map.at == 0 ? "*" + array.name : fmt::format("*{}+{}", array.name, map.at));
        }
    }
}

}  // namespace tilescope::launched
