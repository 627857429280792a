// Arrays, arguments and launches written by hand, for tests.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/base/launch.h"

namespace tilescope {

// A matrix of floats.
inline Array test_array(std::string name, Space space, ArrayRole role, uint32_t rows, uint32_t cols,
                        uint64_t base, std::string symbol = "") {
    Array array;
    array.name = std::move(name);
    array.space = space;
    array.role = role;
    array.rows = rows;
    array.cols = cols;
    array.base = base;
    array.symbol = std::move(symbol);
    return array;
}

// Parameters by their bits alone.
inline std::vector<Argument> test_arguments(std::initializer_list<uint64_t> bits) {
    std::vector<Argument> arguments;
    for (const uint64_t value : bits) arguments.push_back({"", ElementType::U64, value, -1, 0});
    return arguments;
}

inline Launch test_launch(std::vector<Array> arrays, const Dim3& grid = {}, const Dim3& block = {}) {
    Launch launch;
    launch.grid = grid;
    launch.block = block;
    launch.arrays = std::move(arrays);
    // The global arrays are the arguments, in their order.
    for (size_t i = 0; i < launch.arrays.size(); ++i) {
        const Array& array = launch.arrays[i];
        if (array.space == Space::Global)
            launch.arguments.push_back({array.name, ElementType::U64, 0, static_cast<int32_t>(i), 0});
    }
    return launch;
}

}  // namespace tilescope
