// What the lines about launches have in common as JSON.
#pragma once

#include <array>
#include <string>

#include <nlohmann/json.hpp>

#include "core/base/launch.h"

namespace tilescope::launched {

inline nlohmann::json to_array(const Dim3& size) { return nlohmann::json::array({size.x, size.y, size.z}); }

inline Dim3 dim3_of(const nlohmann::json& array) {
    const auto all = array.get<std::array<uint32_t, 3>>();
    return {all[0], all[1], all[2]};
}

// One line. Names of kernels and files may hold any bytes.
inline std::string written(const nlohmann::json& value) {
    return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace tilescope::launched
