#include "app/platform/png.h"

#include <cstdio>
#include <cstring>

#include <fmt/format.h>
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#include <unistd.h>

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

    const std::string temporary = fmt::format("{}.tmp{}", path, getpid());
    std::FILE* file = std::fopen(temporary.c_str(), "wb");
    bool good = file && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    int why = good ? 0 : errno;
    if (file && std::fclose(file) != 0 && good) good = false, why = errno;
    if (good && std::rename(temporary.c_str(), path.c_str()) != 0) good = false, why = errno;
    if (good) return {};
    if (file) std::remove(temporary.c_str());
    return Error{fmt::format("The picture '{}' could not be written ({}); choose another place with -o.",
                             path, std::strerror(why))};
}

Result<Image> read_png(const std::string& path) {
    Image image;
    int channels = 0;
    stbi_uc* pixels = stbi_load(path.c_str(), &image.width, &image.height, &channels, 4);
    if (!pixels)
        return Error{fmt::format("The picture '{}' could not be read: {}.", path, stbi_failure_reason())};
    image.rgba.assign(
        pixels, pixels + size_t{4} * static_cast<size_t>(image.width) * static_cast<size_t>(image.height));
    stbi_image_free(pixels);
    return image;
}

}  // namespace tilescope::platform
