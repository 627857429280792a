// Pictures as PNG files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace tilescope::platform {

struct Image {
    int width = 0, height = 0;
    std::vector<uint8_t> rgba;  // [height][width][4], top row first
    const uint8_t* at(int x, int y) const {
        return rgba.data() + (size_t{4} * static_cast<size_t>(width) * static_cast<size_t>(y) +
                              size_t{4} * static_cast<size_t>(x));
    }
};

// The bytes of a PNG file; empty where there is too little memory.
std::string encode_png(const Image& image);

// The file is there whole or not at all.
Result<void> write_png(const Image& image, const std::string& path);

}  // namespace tilescope::platform
