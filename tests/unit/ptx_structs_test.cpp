// Members of structs: what comments of PTX say of them, damaged ones among them, and what the elements of arrays are
// called and have for types then.
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "core/base/contents.h"
#include "core/base/words.h"
#include "core/ptx/structs.h"

namespace tilescope::ptx {
namespace {

using enum ElementType;

const Members kBody{
    "n::Body<float, 2>",
    32,
    {{0, F32, "mass"}, {4, F32, "pos[0]"}, {8, F32, "pos[1]"}, {16, F64, "d"}, {24, S32, "id"}}};
const Members kPair{"Pair", 8, {{0, F32, "x"}, {4, S32, "y"}}};

// A launch of kernel f whose first argument points to an array of so many bytes.
Launch launch_of(uint64_t bytes, ElementType type = B32) {
    Launch launch;
    launch.entry = "f";
    Array& p = launch.arrays.emplace_back();
    p.name = "p";
    p.rank = 1;
    p.type = type;
    p.extents = ExtentSource::Flat;
    p.cols = static_cast<uint32_t>(bytes / size_of(type));
    launch.arguments.push_back({"p", U64, 0, 0, 0, {}});
    return launch;
}

TEST(Structs, WhatIsWrittenIsReadAgain) {
    const std::string text = "ld.param.u64 %rd1, [f_param_0];\n" + struct_line(kBody) + struct_line(kPair) +
                             elements_line("bodies", kBody) + elements_line(parameter_key("f", 0), kPair);
    const Structs structs = structs_in(text);
    ASSERT_EQ(structs.size(), 2u);
    EXPECT_EQ(*structs.at("bodies"), kBody);
    EXPECT_EQ(*structs.at("f 0"), kPair);
}

TEST(Structs, DamagedLinesSayNothing) {
    const auto none = [](const std::string& line) {
        return structs_in(line + "\n//.elements v = P\n").empty();
    };
    EXPECT_FALSE(none("//.struct P = 8; 0 f32 x; 4 s32 y"));
    for (const char* line :
         {"//.struct P = 8", "//.struct P = 0; 0 f32 x", "//.struct P = 8; 4 s32 y; 0 f32 x",
          "//.struct P = 8; 0 f32 x; 2 s32 y", "//.struct P = 8; 0 f32 x; 6 s32 y",
          "//.struct P = 8; 0 f33 x", "//.struct P = 8; 0 float x", "//.struct P = 8; 0 f32",
          "//.struct P = 8; 0 f32 ", "//.struct P = 8; -4 f32 x", "//.struct P = 8; 4294967295 f32 x",
          "//.struct P = 99999999; 0 f32 x", "//.struct P = 8; 0 f32 a b", "//.struct P = 8;0 f32 x",
          "//.struct  = 8; 0 f32 x", "  //.struct P = 8; 0 f32 x", "//.struct Q = 8; 0 f32 x", "//.struct P"})
        EXPECT_TRUE(none(line)) << line;
    // Whatever is cut out or changed: what is read are structs whose members lie in them, side by side.
    const std::string whole = struct_line(kBody) + elements_line("v", kBody);
    std::mt19937 random(7);
    for (int i = 0; i < 3000; ++i) {
        std::string text = whole;
        for (int k = 0; k < 3; ++k) text[random() % text.size()] = static_cast<char>(random() % 96 + 32);
        for (const auto& [of, members] : structs_in(text.substr(0, random() % (text.size() + 1)))) {
            uint32_t end = 0;
            for (const Member& member : members->members) {
                EXPECT_GE(member.offset, end) << text;
                end = member.offset + size_of(member.type);
                EXPECT_LE(end, members->bytes) << text;
            }
        }
    }
}

TEST(Structs, AnArrayOfThemIsARowEach) {
    Launch launch = launch_of(4 * 32);
    shape_by_members(launch, structs_in(struct_line(kBody) + elements_line("f 0", kBody)));
    const Array& p = launch.arrays[0];
    EXPECT_EQ(p.type, B32);
    EXPECT_EQ(p.rows, 4u);
    EXPECT_EQ(p.cols, 8u);
    EXPECT_EQ(array_text(p), "n::Body<float, 2>[4]");
    EXPECT_EQ(element_name(p, 8), "p[1].mass");
    EXPECT_EQ(element_name(p, 10), "p[1].pos[1]");
    EXPECT_EQ(element_name(p, 11), "p[1]+12");
    EXPECT_EQ(element_name(p, 12), "p[1].d");
    EXPECT_EQ(element_name(p, 13), "p[1].d+4");
    EXPECT_EQ(element_name(p, 32), "p[4].mass");  // behind the last
    EXPECT_EQ(element_name(p, -2), "p[-1].id");
    EXPECT_EQ(index_text(p, 14), "[1].id");
    EXPECT_EQ(elements_text(p, {{0, 0, 2}, {0, 3, 2}}), "p[0..3].pos[1]");
    EXPECT_EQ(elements_text(p, {{0, 1, 0}, {0, 3, 2}}), "p[1..3]");
    EXPECT_EQ(elements_text(p, {{0, 2, 4}, {0, 2, 5}}), "p[2].d");
    EXPECT_EQ(type_at(p, 8, 4), F32);
    EXPECT_EQ(type_at(p, 14, 4), S32);
    EXPECT_EQ(type_at(p, 12, 8), F64);
    EXPECT_EQ(type_at(p, 12, 4), B32);  // half of it
    EXPECT_EQ(type_at(p, 13, 8), B32);
    Array plain = p;
    plain.members = {};
    EXPECT_EQ(plain, p);  // names are derived
}

TEST(Structs, ValuesAreOfTheMembersTypes) {
    Launch launch = launch_of(2 * 32);
    shape_by_members(launch, structs_in(struct_line(kBody) + elements_line("f 0", kBody)));
    Array& p = launch.arrays[0];
    auto bytes = std::make_shared<std::vector<std::byte>>(64);
    const double d = -2.5;
    const float x = 1.5f;
    const int id = -7;
    std::memcpy(bytes->data() + 32, &x, 4);
    std::memcpy(bytes->data() + 48, &d, 8);
    std::memcpy(bytes->data() + 56, &id, 4);
    p.contents = {Contents::Kind::Stored, 0, 0, bytes};
    EXPECT_EQ(value_text(initial_value(p, 8)), "1.5");
    EXPECT_EQ(value_text(initial_value(p, 12)), "-2.5");
    EXPECT_EQ(value_text(initial_value(p, 14)), "-7");
}

TEST(Structs, MembersOfOneTypeAreElementsOfIt) {
    const Members vec{"Vec", 12, {{0, F32, "x"}, {4, F32, "y"}, {8, F32, "z"}}};
    const Members vector{"float4", 16, {{0, F32, "x"}, {4, F32, "y"}, {8, F32, "z"}, {12, F32, "w"}}};
    const Members flags{"Flags", 6, {{0, S16, "a"}, {2, U8, "on"}, {4, S16, "b"}}};
    const auto shaped = [](const Members& members) {
        Launch launch = launch_of(members.bytes * 8, B8);
        shape_by_members(launch, structs_in(struct_line(members) + elements_line("f 0", members)));
        return launch.arrays[0];
    };
    EXPECT_EQ(shaped(vec).type, F32);
    EXPECT_EQ(shaped(vec).cols, 3u);
    EXPECT_EQ(element_name(shaped(vec), 5), "p[1].z");
    // CUDA's vectors stay rows of numbers, whose extents the accesses tell.
    Array rows = shaped(vector);
    EXPECT_EQ(rows.rank, 1);
    EXPECT_EQ(element_name(rows, 5), "p[1].y");
    rows.rank = 2, rows.rows = 4, rows.cols = 8;
    EXPECT_EQ(element_name(rows, 13), "p[1,5]");
    EXPECT_EQ(shaped(flags).type, B8);
    EXPECT_EQ(element_name(shaped(flags), 11), "p[1].b+1");
}

TEST(Structs, WhatDoesNotFitStaysAsItIs) {
    const std::string structs = struct_line(kPair) + struct_line(kBody) + elements_line("f 0", kPair) +
                                elements_line("f 1", kBody) + elements_line("c", kPair);
    Launch wide = launch_of(64, F64);  // elements wider than a member
    name_members(wide, structs_in(structs));
    EXPECT_EQ(element_name(wide.arrays[0], 1), "p[1]");
    Launch two = launch_of(64);  // the kernel takes it for two things
    two.arguments.push_back({"q", U64, 0, 0, 0, {}});
    name_members(two, structs_in(structs));
    EXPECT_EQ(element_name(two.arrays[0], 1), "p[1]");
    Launch inside = launch_of(64);  // not from a struct's first byte
    inside.arguments[0].offset = 4;
    name_members(inside, structs_in(structs));
    EXPECT_EQ(element_name(inside.arrays[0], 1), "p[1]");
    Launch odd = launch_of(68);  // a last one that is not whole
    shape_by_members(odd, structs_in(structs));
    EXPECT_EQ(element_name(odd.arrays[0], 1), "p[1]");
    Launch held =
        launch_of(64);  // a struct that is an argument has a pointer into it, and may mean other things
    held.arrays[0].base = 0x1000;
    held.arguments.push_back({"all", B8, 0, -1, 0, {}});
    for (const uint64_t word : {uint64_t{7}, uint64_t{0x1020}})
        for (int byte = 0; byte < 8; ++byte)
            held.arguments[1].object.push_back(static_cast<std::byte>(word >> 8 * byte & 0xff));
    shape_by_members(held, structs_in(structs));
    EXPECT_EQ(element_name(held.arrays[0], 1), "p[1]");
    held.arguments[1].object.resize(8);
    shape_by_members(held, structs_in(structs));
    EXPECT_EQ(element_name(held.arrays[0], 1), "p[0].y");
    Launch pitched = launch_of(1024);  // rows of another length
    name_members(pitched, structs_in(structs));
    pitched.arrays[0].rank = 2, pitched.arrays[0].rows = 2, pitched.arrays[0].cols = 128;
    EXPECT_EQ(element_name(pitched.arrays[0], 1), "p[0,1]");
    EXPECT_EQ(type_at(pitched.arrays[0], 1, 4), B32);
    Launch one = launch_of(8);
    one.arrays[0].symbol = "c";
    name_members(one, structs_in(structs));
    EXPECT_EQ(element_name(one.arrays[0], 1), "p.y");  // a variable that is one struct
}

}  // namespace
}  // namespace tilescope::ptx
