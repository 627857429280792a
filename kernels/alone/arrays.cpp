#include "kernels/alone/arrays.h"

#include <cstring>
#include <memory>
#include <vector>

#include "core/base/contents.h"

namespace tilescope::kernels {

Array array_of(const GivenArgument& argument) {
    Array array;
    array.type = argument.type;
    const std::vector<uint64_t>& extents = argument.extents;
    array.rank = static_cast<uint8_t>(extents.size());
    array.cols = static_cast<uint32_t>(extents.back());
    if (extents.size() > 1) array.rows = static_cast<uint32_t>(extents[extents.size() - 2]);
    if (extents.size() > 2) array.slices = static_cast<uint32_t>(extents[0]);
    if (extents.size() == 1) array.extents = ExtentSource::Flat;
    return array;
}

void put_contents(Array& array, const GivenContents& contents, uint32_t stream) {
    using Fill = GivenContents::Kind;
    const auto stored = [&](const auto& bits_at) {
        auto bytes = std::make_shared<std::vector<std::byte>>(array.bytes());
        const uint32_t size = array.element_bytes();
        for (uint64_t i = 0; i < array.elements(); ++i) {
            const uint64_t bits = bits_at(i);
            std::memcpy(bytes->data() + i * size, &bits, size);
        }
        array.contents = {Contents::Kind::Stored, 0, 0, std::move(bytes)};
    };
    switch (contents.kind) {
        case Fill::Zeros:
            array.contents = {};
            return;
        case Fill::Guessed:
        case Fill::Random:
            array.contents = {Contents::Kind::SmallIntegers, 1, stream, nullptr};
            return;
        case Fill::Iota:
            return stored([&](uint64_t i) { return bits_of(array.type, static_cast<double>(i)); });
        case Fill::Ones:
            return stored([&](uint64_t) { return bits_of(array.type, 1.0); });
        case Fill::Number:
            return stored([&](uint64_t) { return bits_in(array.type, contents.number); });
    }
}

}  // namespace tilescope::kernels
