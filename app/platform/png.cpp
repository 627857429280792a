#include "app/platform/png.h"

#include <fmt/format.h>
#include <stb/stb_image_write.h>

#include "core/base/write_whole.h"

namespace tilescope::platform {

std::string encode_png(const Image& image) {
    std::string bytes;
    auto append = [](void* to, void* data, int size) {
        static_cast<std::string*>(to)->append(static_cast<const char*>(data), static_cast<size_t>(size));
    };
    const bool good = stbi_write_png_to_func(append, &bytes, image.width, image.height, 4, image.rgba.data(),
                                             image.width * 4) != 0;
    return good ? bytes : "";
}

Result<void> write_png(const Image& image, const std::string& path) {
    const std::string bytes = encode_png(image);
    if (bytes.empty())
        return Error{fmt::format(
            "The picture for '{}' could not be compressed; there may be too little memory.", path)};

    const std::string why = write_whole(path, bytes);
    if (why.empty()) return {};
    return Error{
        fmt::format("The picture '{}' could not be written ({}); choose another place with -o.", path, why)};
}

}  // namespace tilescope::platform
