// Tensor maps of a launch: those that a driver has made, in bytes that nobody can read, and those of the stand-in.
#include <array>
#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "kernels/launched/tensor_maps.h"

namespace tilescope::launched {
namespace {

ptx::TensorMap map_at(const void* address) {
    ptx::TensorMap map;
    map.type = ptx::TensorType::F16;
    map.rank = 2;
    map.address = reinterpret_cast<uintptr_t>(address);
    map.extent = {60, 16};
    map.stride = {128};
    map.box = {8, 8};
    return map;
}

// As a driver's bytes are: nothing of the map can be seen in them.
ptx::TensorMapBytes driver_bytes(unsigned seed) {
    ptx::TensorMapBytes bytes;
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(seed * 37 + i * i * 11 + 5);
    return bytes;
}

class LaunchedMaps : public testing::Test {
protected:
    LaunchedMaps() {
        for (auto* array : {&a_, &b_}) {
            Allocation one;
            one.base = reinterpret_cast<uintptr_t>(array->data()), one.bytes = sizeof *array;
            EXPECT_NE(memory_.add(one), nullptr);
        }
        Allocation pointed;
        pointed.base = reinterpret_cast<uintptr_t>(in_memory_.data()), pointed.bytes = sizeof in_memory_;
        EXPECT_NE(memory_.add(pointed), nullptr);
    }

    alignas(256) std::array<uint16_t, 16 * 64> a_{}, b_{};
    alignas(128) std::array<std::byte, 512> in_memory_{};
    KnownMemory memory_;
};

TEST_F(LaunchedMaps, AMapInAStructBecomesOurOwnAndItsTensorAnArray) {
    DriverMaps known;
    known.made(driver_bytes(1), map_at(a_.data()));
    Launch launch;
    Argument& argument = launch.arguments.emplace_back();
    argument.name = "params";
    argument.object.resize(64 + ptx::kTensorMapBytes + 8, std::byte{7});
    std::ranges::copy(driver_bytes(1), argument.object.data() + 64);
    take_maps(launch, memory_, known);
    ptx::TensorMapBytes now;
    std::memcpy(now.data(), argument.object.data() + 64, now.size());
    EXPECT_EQ(ptx::decode(now), map_at(a_.data()));
    EXPECT_EQ(argument.object.front(), std::byte{7});
    EXPECT_EQ(argument.object.back(), std::byte{7});
    EXPECT_TRUE(launch.maps.empty()) << "an argument has its own bytes";
    ASSERT_EQ(launch.arrays.size(), 1u);
    const Array& tensor = launch.arrays.front();
    EXPECT_EQ(tensor.name, "params+64");
    EXPECT_EQ(tensor.type, ElementType::F16);
    EXPECT_EQ(tensor.rows, 16u);
    EXPECT_EQ(tensor.cols, 64u) << "its rows lie 128 bytes apart";
    EXPECT_EQ(tensor.bytes(), sizeof a_);
    EXPECT_EQ(tensor.extents, ExtentSource::Known);
}

TEST_F(LaunchedMaps, AMapInMemoryStaysThereAndTheLaunchSaysWhatItIs) {
    DriverMaps known;
    known.made(driver_bytes(1), map_at(a_.data()));
    known.made(driver_bytes(2), map_at(b_.data()));
    std::ranges::copy(driver_bytes(2), in_memory_.data() + 128);
    const auto before = in_memory_;
    Launch launch;
    Array array;
    array.name = "maps", array.type = ElementType::B8, array.rank = 1, array.cols = sizeof in_memory_;
    array.base = reinterpret_cast<uintptr_t>(in_memory_.data());
    array.extents = ExtentSource::Flat;
    launch.arrays.push_back(array);
    take_maps(launch, memory_, known);
    EXPECT_EQ(in_memory_, before);
    ASSERT_EQ(launch.maps.size(), 1u) << "the one that lies there";
    EXPECT_EQ(launch.maps.front().address, array.base + 128);
    ASSERT_EQ(launch.arrays.size(), 2u);
    EXPECT_EQ(launch.arrays.back().name, "*maps+128");
    EXPECT_EQ(launch.arrays.back().base, reinterpret_cast<uintptr_t>(b_.data()));
}

TEST_F(LaunchedMaps, OurOwnBytesNeedNoDriver) {
    const ptx::TensorMapBytes own = ptx::encode(map_at(b_.data()));
    Launch launch;
    Argument& argument = launch.arguments.emplace_back();
    argument.name = "map";
    argument.object.assign(own.begin(), own.end());
    take_maps(launch, memory_, DriverMaps{});
    EXPECT_TRUE(std::ranges::equal(argument.object, own));
    ASSERT_EQ(launch.arrays.size(), 1u);
    EXPECT_EQ(launch.arrays.front().name, "map");
}

// Each tensor's elements lie in the array where the strides of its map put them.
TEST(TensorOf, HasTheRowsThatTheStridesSay) {
    ptx::TensorMap map = map_at(nullptr);
    map.rank = 4;
    map.extent = {30, 3, 5, 2};
    map.stride = {64, 256, 1280};  // a gap of a row behind each slice
    const auto tensor = tensor_of(map);
    ASSERT_TRUE(tensor);
    for (uint64_t n = 0; n < 2; ++n)
        for (uint64_t z = 0; z < 5; ++z)
            for (uint64_t y = 0; y < 3; ++y)
                for (uint64_t x : {0, 29}) {
                    const uint64_t element =
                        (n * map.stride[2] + z * map.stride[1] + y * map.stride[0]) / 2 + x;
                    const Position at = position_of(*tensor, static_cast<int64_t>(element));
                    EXPECT_EQ(at, (Position{static_cast<int64_t>(n * 5 + z), static_cast<int64_t>(y),
                                            static_cast<int64_t>(x)}));
                }
    // As ThunderKittens makes them: 64 columns, rows, so many times 64 columns, and outer dimensions of one element.
    ptx::TensorMap tiles = map_at(nullptr);
    tiles.rank = 5;
    tiles.extent = {64, 32, 4, 1, 1};
    tiles.stride = {512, 128, 16384, 16384};
    const auto matrix = tensor_of(tiles);
    ASSERT_TRUE(matrix);
    EXPECT_EQ(matrix->rank, 2);
    EXPECT_EQ(matrix->rows, 32u);
    EXPECT_EQ(matrix->cols, 256u);
    map.stride[2] = 1536;  // slices that lie farther apart than the others
    EXPECT_FALSE(tensor_of(map));
    map.rank = 2, map.type = ptx::TensorType::U4x16;
    EXPECT_FALSE(tensor_of(map)) << "packed";
}

}  // namespace
}  // namespace tilescope::launched
