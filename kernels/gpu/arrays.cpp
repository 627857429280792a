#include "kernels/gpu/arrays.h"

#include <algorithm>
#include <cstring>

namespace tilescope::gpu {

namespace {

constexpr uint64_t kFourGiB = uint64_t{1} << 32;
constexpr uint64_t kAlignment = 256;  // of cudaMalloc, which sectors and lines are judged by
constexpr uint64_t kGap = 4096;       // so that an index past an end meets no other array's element

uint64_t rounded(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool is_variable(const Array& array) { return array.space == Space::Global && !array.symbol.empty(); }

// Allocates what has no place, and gives it addresses within 4 GiB.
Result<void> allocate(Device& device, const std::vector<Array>& arrays, DeviceArrays& placed) {
    uint64_t total = 0;
    const auto lies_here = [](const Array& array) {
        return array.space == Space::Global && array.symbol.empty();
    };
    for (const Array& array : arrays) total += lies_here(array) ? rounded(array.bytes()) + kGap : 0;
    if (total == 0) return {};
    // In twice the bytes there is always a piece that does not cross a multiple of 4 GiB.
    const bool fits = total <= kFourGiB;
    auto memory = device.allocate(fits ? 2 * total : total, "the arrays");
    if (!memory) return memory.error();
    placed.memory = *memory;
    uint64_t at = memory->address();
    if (fits && at / kFourGiB != (at + total - 1) / kFourGiB) at = (at / kFourGiB + 1) * kFourGiB;
    for (size_t i = 0; i < arrays.size(); ++i) {
        if (!lies_here(arrays[i])) continue;
        placed.base[i] = at;
        at += rounded(arrays[i].bytes()) + kGap;
    }
    return {};
}

// Whether all global arrays lie within one 4 GiB, and which.
void find_high(const std::vector<Array>& arrays, DeviceArrays& placed) {
    placed.same_high = true;
    bool first = true;
    for (size_t i = 0; i < arrays.size(); ++i) {
        if (arrays[i].space != Space::Global) continue;
        const uint64_t begin = placed.base[i], last = begin + std::max<uint64_t>(arrays[i].bytes(), 1) - 1;
        if (first) placed.high = static_cast<uint32_t>(begin >> 32);
        first = false;
        placed.same_high = placed.same_high && !is_variable(arrays[i]) && begin >> 32 == placed.high &&
                           last >> 32 == placed.high;
    }
}

const simt::Buffer& buffer(const kernels::ReadyLaunch& ready, size_t array) {
    return ready.memory.buffers[kernels::buffer_of(ready.launch.arrays, array)];
}

bool is_kept(const DeviceArrays& placed, size_t array) {
    return array < placed.places.size() && placed.places[array].kept;
}

std::byte* host_of(const DeviceArrays& placed, size_t array) {
    return array < placed.places.size() ? placed.places[array].host : nullptr;
}

// The array of global memory that holds an address of the launch; none for others.
std::optional<size_t> array_at(const std::vector<Array>& arrays, uint64_t address) {
    for (size_t i = 0; i < arrays.size(); ++i)
        if (arrays[i].space == Space::Global && address - arrays[i].base < arrays[i].bytes()) return i;
    return std::nullopt;
}

// Tensor maps as Tilescope encodes them become those of the driver, with the addresses that their tensors have here.
Result<void> encode_maps(Device& device, const std::vector<Array>& arrays, const DeviceArrays& placed,
                         std::vector<std::byte>& object) {
    ptx::TensorMapBytes bytes;
    for (size_t at = 0; at + bytes.size() <= object.size(); at += ptx::kTensorMapAlignment) {
        std::memcpy(bytes.data(), object.data() + at, bytes.size());
        auto map = ptx::decode(bytes);
        if (!map) continue;
        if (const auto array = array_at(arrays, map->address))
            map->address += placed.base[*array] - arrays[*array].base;
        const auto made = device.tensor_map(*map);
        if (!made) return made.error();
        std::memcpy(object.data() + at, made->data(), made->size());
    }
    return {};
}

}  // namespace

std::optional<PlacedMap> map_in_launch(const Launch& launch, const std::vector<uint64_t>& parameters,
                                       uint64_t address, bool in_parameters) {
    const auto map_at = [&](const std::byte* from) {
        return PlacedMap{address, in_parameters, std::vector<std::byte>(from, from + ptx::kTensorMapBytes)};
    };
    const auto holds = [](uint64_t at, uint64_t bytes) {
        return bytes >= ptx::kTensorMapBytes && at <= bytes - ptx::kTensorMapBytes;
    };
    for (const PlacedMap& known : launch.maps)
        if (known.address == address && known.in_parameters == in_parameters) return known;
    if (!in_parameters) {
        const auto array = array_at(launch.arrays, address);
        const auto& contents = array ? launch.arrays[*array].contents.bytes : nullptr;
        if (!contents || !holds(address - launch.arrays[*array].base, contents->size())) return std::nullopt;
        return map_at(contents->data() + (address - launch.arrays[*array].base));
    }
    for (size_t i = 0; i < launch.arguments.size() && i < parameters.size(); ++i) {
        const std::vector<std::byte>& object = launch.arguments[i].object;
        if (address >= parameters[i] && holds(address - parameters[i], object.size()))
            return map_at(object.data() + (address - parameters[i]));
    }
    return std::nullopt;
}

Result<DeviceArrays> place_arrays(Device& device, const kernels::ReadyLaunch& ready,
                                  const std::vector<ArrayPlace>& places) {
    const auto& arrays = ready.launch.arrays;
    DeviceArrays placed;
    placed.places = places;
    placed.base.resize(arrays.size());
    if (places.empty()) {
        if (auto ok = allocate(device, arrays, placed); !ok) return ok.error();
    } else {
        for (size_t i = 0; i < std::min(places.size(), arrays.size()); ++i)
            if (arrays[i].space == Space::Global) placed.base[i] = places[i].address;
    }
    find_high(arrays, placed);
    for (const Argument& argument : ready.launch.arguments) {
        uint64_t value = argument.array < 0
                             ? argument.value
                             : placed.base[static_cast<size_t>(argument.array)] + argument.offset;
        if (!argument.object.empty()) {
            std::memcpy(&value, argument.object.data(), std::min(sizeof value, argument.object.size()));
            std::vector<std::byte>& object = placed.objects[placed.parameters.size()] = argument.object;
            if (auto ok = encode_maps(device, arrays, placed, object); !ok) return ok.error();
        }
        placed.parameters.push_back(value);
    }
    if (auto ok = upload_arrays(device, placed, ready); !ok) return ok.error();
    return placed;
}

Result<void> place_variables(Device& device, DeviceArrays& placed, const std::shared_ptr<void>& module,
                             const kernels::ReadyLaunch& ready) {
    for (size_t i = 0; i < ready.launch.arrays.size(); ++i) {
        const Array& array = ready.launch.arrays[i];
        const bool constant = array.space == Space::Const && array.contents.bytes;
        if (!constant && !is_variable(array)) continue;
        const auto variable = device.variable_of(module, array.symbol);
        if (!variable) return variable.error();
        if (!constant) placed.base[i] = variable->address;
        const std::byte* const from = constant ? array.contents.bytes->data() : buffer(ready, i).bytes.data();
        const uint64_t bytes = constant ? array.contents.bytes->size() : array.bytes();
        if (auto ok = device.write(variable->address, from, std::min(bytes, variable->bytes)); !ok) return ok;
    }
    return {};
}

Result<void> upload_arrays(Device& device, const DeviceArrays& placed, const kernels::ReadyLaunch& ready) {
    for (size_t i = 0; i < ready.launch.arrays.size(); ++i) {
        if (ready.launch.arrays[i].space != Space::Global || placed.base[i] == 0 || is_kept(placed, i))
            continue;
        const auto& bytes = buffer(ready, i).bytes;
        if (std::byte* const host = host_of(placed, i))
            std::memcpy(host, bytes.data(), bytes.size());
        else if (auto ok = device.write(placed.base[i], bytes.data(), bytes.size()); !ok)
            return ok;
    }
    return {};
}

Result<void> download_outputs(Device& device, const DeviceArrays& placed, kernels::ReadyLaunch& ready) {
    for (size_t i = 0; i < ready.launch.arrays.size(); ++i) {
        if (!ready.launch.arrays[i].writes() || is_kept(placed, i)) continue;
        auto& bytes = ready.memory.buffers[kernels::buffer_of(ready.launch.arrays, i)].bytes;
        if (const std::byte* const host = host_of(placed, i))
            std::memcpy(bytes.data(), host, bytes.size());
        else if (auto ok = device.read(bytes.data(), placed.base[i], bytes.size()); !ok)
            return ok;
    }
    return {};
}

}  // namespace tilescope::gpu
