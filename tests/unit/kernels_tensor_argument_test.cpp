// Tensor maps as arguments of a kernel alone: in words, said again, refused; and a kernel that copies a box by one.
#include <gtest/gtest.h>

#include "kernels/alone/guess.h"
#include "tests/recorded.h"
#include "tests/tensor_kernel.h"
#include "tests/twin/tensor_box.h"

namespace tilescope::kernels {
namespace {

std::string tensor_problem(const std::string& text) {
    const auto parsed = parse_argument(text);
    return parsed ? "" : parsed.error().message;
}

TEST(TensorArgument, IsReadAndSaidAgain) {
    const auto map =
        parse_argument("map = tensor( half [ 128, 64 ] : iota , box = 64x32, swizzle=128B , fill=nan)");
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_EQ(map->name, "map");
    EXPECT_EQ(map->kind, GivenKind::Tensor);
    EXPECT_EQ(map->type, ElementType::F16);
    EXPECT_EQ(map->extents, (std::vector<uint64_t>{128, 64}));
    EXPECT_EQ(map->contents.kind, GivenFill::Iota);
    EXPECT_EQ(map->box, (std::vector<uint64_t>{64, 32}));
    EXPECT_EQ(map->swizzle, "128B");
    EXPECT_TRUE(map->fills_with_nan);
    EXPECT_EQ(value_text(*map), "tensor(half[128,64]:iota,box=64x32,swizzle=128B,fill=nan)");
    const auto named = parse_argument("m=tensor(in,box=8X4,fill=zeros)");
    ASSERT_TRUE(named) << named.error().message;
    EXPECT_EQ(named->tensor_of, "in");
    EXPECT_EQ(value_text(*named), "tensor(in,box=8x4)");
    for (const char* text :
         {"tensor(float[7],box=4)", "tensor(in,box=1)", "m=tensor(u8[2,3,64]:ones,box=1x2x16,swizzle=32B)",
          "m=tensor(unsigned char[64]:-2,box=64,fill=nan)",
          "m=tensor(float4[8,16]:random,box=8x64,swizzle=64B)",
          "m=tensor(b64[4,4],box=2x2,swizzle=128B_ATOM_32B)"}) {
        const auto given = parse_argument(text);
        ASSERT_TRUE(given) << given.error().message;
        const auto again =
            parse_argument((given->name.empty() ? "" : given->name + "=") + value_text(*given));
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_EQ(*again, *given) << text;
    }
    // In a call beside others.
    Description description;
    ASSERT_TRUE(add_call(description, "k(tensor(float[8,8], box=4x4), 7, in=tensor(out, box=2))"));
    ASSERT_EQ(description.arguments.size(), 3u);
    EXPECT_EQ(description.arguments[2].tensor_of, "out");
}

TEST(TensorArgument, WhatIsNoneIsRefused) {
    const std::string ask = "; give a value as 512, float[512,512]:random or bytes:HEX";
    EXPECT_EQ(tensor_problem("tensor(float[8,8])"),
              "'tensor(float[8,8])' says no box=, such as box=64x64" + ask);
    EXPECT_EQ(tensor_problem("tensor(float[8,8],box=4)"),
              "'tensor(float[8,8],box=4)' has a box with more or fewer sides than its array" + ask);
    EXPECT_EQ(tensor_problem("tensor(float[8],box=257)"),
              "'tensor(float[8],box=257)' has a box '257', whose sides must be 1 to 256" + ask);
    EXPECT_EQ(
        tensor_problem("tensor(float[8],box=4,swizzle=48B)"),
        "'tensor(float[8],box=4,swizzle=48B)' has a swizzle '48B', which is none of none, 32B, 64B and 128B" +
            ask);
    EXPECT_EQ(
        tensor_problem("tensor(float[8],box=4,stride=2)"),
        "'tensor(float[8],box=4,stride=2)' has 'stride=2', where a tensor map has box=, swizzle= and fill=" +
            ask);
    EXPECT_EQ(tensor_problem("tensor(a b,box=4)"),
              "'tensor(a b,box=4)' names no array of its own, and no argument, whose tensor map it is" + ask);
    EXPECT_EQ(tensor_problem("tensor(float[8],box=4,box=8)"),
              "'tensor(float[8],box=4,box=8)' says box= twice" + ask);
    for (const char* text :
         {"tensor(", "tensor()", "tensor(,box=4)", "tensor(float[8],box=)", "tensor(float[8],box=4x)",
          "tensor(float[8],box=x4)", "tensor(float[8],box=0)", "tensor(float[8],box=-4)",
          "tensor(float[8],fill=2,box=4)", "tensor(float[8],box=4,)", "tensor(float[],box=4)",
          "tensor(flaot[8],box=4)", "tensor(float[8]:noise,box=4)", "tensor(float[8],4)",
          "tensor(tensor(float[8],box=4),box=4)"})
        EXPECT_NE(tensor_problem(text), "") << text;
}

// float[20,64], of which a box of 8 rows of 32 is read to the tile, and the tile to `words`.
Alone tensor_kernel(const ptx::TensorMap& map, const ptx::TensorBox& box) {
    return {tilescope::test::box_kernel(map, box, true), "box.ptx", "", ""};
}

TEST(TensorArgument, AKernelAloneCopiesABoxOfIt) {
    ptx::TensorMap map;
    map.type = ptx::TensorType::F32, map.rank = 2, map.extent = {64, 20, 1, 1, 1},
    map.stride = {256, 0, 0, 0};
    map.box = {32, 8, 1, 1, 1}, map.swizzle = ptx::Swizzle::B128;
    ptx::TensorBox box;
    box.at = {48, 15}, box.shared = 1024;
    for (const bool named : {false, true}) {
        Description said;
        std::vector<std::string> words{"--kernel", "box", "--grid", "1",
                                       "--block",  "32",  "--arg",  "arg2=float[8192]:zeros"};
        const std::string own = "arg1=tensor(float[20,64]:iota,box=8x32,swizzle=128B)",
                          of = "arg1=tensor(arg2,box=8x32,swizzle=128B)";
        words.insert(words.end(), {"--arg", own});
        if (named)
            words = {"--kernel", "box", "--grid", "1", "--block", "32", "--arg", "arg2=float[128,64]:iota",
                     "--arg",    of};
        ASSERT_TRUE(add_options(said, words));
        const auto launch = guess_launch(tensor_kernel(map, box), said);
        ASSERT_TRUE(launch) << launch.error().message;
        ASSERT_EQ(launch->problem, "");
        simt::GlobalMemory after;
        const trace::Trace trace = recorded(launch->plan, 1, &after);
        ASSERT_EQ(trace.launch.maps.size(), 1u);
        ptx::TensorMapBytes bytes;
        ASSERT_EQ(trace.launch.maps[0].bytes.size(), bytes.size());
        std::ranges::copy(trace.launch.maps[0].bytes, bytes.begin());
        const auto used = ptx::decode(bytes);
        ASSERT_TRUE(used);
        const auto tensor = std::ranges::find_if(trace.launch.arrays,
                                                 [&](const Array& a) { return a.base == used->address; });
        ASSERT_NE(tensor, trace.launch.arrays.end());
        EXPECT_EQ(tensor->rows, named ? 128u : 20u);
        // The rows 15 to 19, or all of them, and the columns 48 to 63 are inside; iota says which.
        size_t written = 0;
        for (size_t i = 0; i < trace.launch.arrays.size(); ++i)
            written = trace.launch.arrays[i].writes() ? i : written;
        const std::vector<float> tile = values_in<float>(after, written);
        for (const auto& element : tilescope::test::box_elements(*used, box)) {
            const float expected =
                element.outside ? 0.f : static_cast<float>((element.global - used->address) / 4);
            const uint32_t at = tilescope::test::swizzled_byte(map.swizzle, element.shared);
            EXPECT_EQ(tile.at(at / 4), expected) << at;
        }
        // The command says it again.
        const auto again = words_of(command_of("f.ptx", launch->whole));
        ASSERT_TRUE(again);
        Description repeated;
        ASSERT_TRUE(add_options(repeated, {again->begin() + 3, again->end()}));
        EXPECT_EQ(repeated, launch->whole);
    }
}

TEST(TensorArgument, AMapThatDoesNotFitIsRefused) {
    ptx::TensorMap map;
    map.type = ptx::TensorType::F32, map.rank = 2, map.box = {32, 8, 1, 1, 1};
    const Alone alone = tensor_kernel(map, {});
    const auto refusal = [&](const std::string& argument) {
        Description said;
        EXPECT_TRUE(add_options(said, {"--kernel", "box", "--grid", "1", "--block", "32", "--arg",
                                       "arg2=float[8192]", "--arg", argument}));
        const auto launch = guess_launch(alone, said);
        return launch ? "" : launch.error().message;
    };
    EXPECT_EQ(refusal("arg1=tensor(float[20,63],box=8x32)"),
              "'tensor(float[20,63],box=8x32)' is refused: globalStrides[0] is 252; it must be a multiple of "
              "16 below 2^40");
    EXPECT_EQ(refusal("arg1=tensor(float[20,64],box=8x64,swizzle=128B)"),
              "'tensor(float[20,64],box=8x64,swizzle=128B)' is refused: boxDim[0] makes rows of 256 bytes; "
              "swizzle 128B "
              "allows 128");
    EXPECT_EQ(refusal("arg1=tensor(other,box=8x32)"),
              "'tensor(other,box=8x32)' is of an argument 'other' that is no array; give that one as --arg "
              "'other=float[64,64]', or the array in its place");
    EXPECT_EQ(refusal("arg1=tensor(arg2,box=8x32)"),
              "'tensor(arg2,box=8x32)' has a box with more or fewer sides than its array");
    EXPECT_EQ(refusal("arg1=7"),
              "parameter 'arg1' is a struct: give its bytes as bytes:HEX, and '7' was given");
    EXPECT_NE(refusal("arg2=tensor(float[20,64],box=8x32)"), "");
}

}  // namespace
}  // namespace tilescope::kernels
