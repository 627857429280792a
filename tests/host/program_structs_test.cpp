// Layouts of structs as clang prints them, in comments of the PTX.
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "core/base/process.h"
#include "core/ptx/structs.h"
#include "kernels/program/compile.h"
#include "kernels/program/struct_layouts.h"
#include "tests/temp_folder.h"

namespace tilescope::program {
namespace {

const std::string kLayouts = R"(
*** Dumping AST Record Layout
         0 | struct P
         0 |   float x
         4 |   int y
           | [sizeof=8, dsize=8, align=4,
           |  nvsize=8, nvalign=4]

*** Dumping AST Record Layout
         0 | struct Base
         0 |   float mass
           | [sizeof=4, dsize=4, align=4,
           |  nvsize=4, nvalign=4]

*** Dumping AST Record Layout
         0 | struct n::Body
         0 |   (Body vtable pointer)
         8 |   struct Base (base)
         8 |     float mass
        12 |   struct P pos
        12 |     float x
        16 |     int y
        24 |   double[2][2] m
        56 |   const float * where
    64:0-2 |   unsigned int low
    64:3-9 |   unsigned int high
        68 |   union n::Body::(anonymous at f.cu:7:90) 
        68 |     struct P first
        68 |       float x
        72 |       int y
        68 |     float[2] second
        76 |   struct P[2] ends
        92 |   enum Color color
        96 |   enum Small small
        97 |   _Bool on
        98 |   struct Empty none (empty)
       100 |   void (*)(int) call
       108 |   int (*)[4] rows
       116 |   struct __half h
       116 |     unsigned short bits
           | [sizeof=120, dsize=120, align=4,
           |  nvsize=120, nvalign=4]

*** Dumping IRgen Record Layout
Record: CXXRecordDecl 0x1 <f.cu:1:1> struct P definition
*** Dumping AST Record Layout
         0 | struct Arr<float, 4>
         0 |   float[4] v
           | [sizeof=16, dsize=16, align=4,
           |  nvsize=16, nvalign=4]

*** Dumping AST Record Layout
         0 | struct Arr<float, 2>
         0 |   float[2] v
           | [sizeof=8, dsize=8, align=4,
           |  nvsize=8, nvalign=4]

*** Dumping AST Record Layout
         0 | struct Local
         0 |   int a
           | [sizeof=4, dsize=4, align=4,
           |  nvsize=4, nvalign=4]

*** Dumping AST Record Layout
         0 | struct Local
         0 |   float b
           | [sizeof=4, dsize=4, align=4,
           |  nvsize=4, nvalign=4]

*** Dumping AST Record Layout
         0 | struct Large
         0 |   int[257] a
           | [sizeof=1028, dsize=1028, align=4,
           |  nvsize=1028, nvalign=4]
)";

const std::string kIr = R"(
@bodies = dso_local addrspace(4) externally_initialized global [2 x [3 x %"struct.n::Body"]] zeroinitializer, align 8
@one = dso_local addrspace(1) externally_initialized constant %struct.P { float 1.0, i32 2 }, align 4
@_ZZ1fvE4tile = internal addrspace(3) global [32 x %struct.P] undef, align 4
@several = dso_local addrspace(4) externally_initialized global %struct.Arr zeroinitializer, align 4
@plain = dso_local addrspace(4) externally_initialized global [4 x float] zeroinitializer, align 4
@host = dso_local global %struct.P zeroinitializer, align 4
)";

// Kernels f(P*, Arr<float, 4u>*, float*, int), g(Local*, Large*, P**) and k, of which the source alone says types.
const std::string kPtx = R"(
.visible .entry _Z1fP1PP3ArrIfLj4EEPfi(
	.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 d
)
{ ret; }
.visible .entry _Z1gP5LocalP5LargePP1P(
	.param .u64 a, .param .u64 b, .param .u64 c
)
{ ret; }
.visible .entry k(
	.param .u64 a, .param .u32 b
)
{ ret; }
)";
const std::string kSource =
    "enum Color { Red, Green };\nenum class Small : unsigned char { A };\n"
    "extern \"C\" __global__ void k(const struct P* __restrict__ p, int n) { p[0]; }\n";

TEST(StructLayouts, AreFlattenedAndSaidOfWhatIsMadeOfThem) {
    EXPECT_EQ(
        struct_comments(kLayouts, kIr, kPtx, kSource),
        "//.struct P = 8; 0 f32 x; 4 s32 y\n"
        "//.struct Arr<float, 4> = 16; 0 f32 v[0]; 4 f32 v[1]; 8 f32 v[2]; 12 f32 v[3]\n"
        "//.struct n::Body = 120; 8 f32 mass; 12 f32 pos.x; 16 s32 pos.y; 24 f64 m[0][0]; 32 f64 m[0][1]; "
        "40 f64 m[1][0]; 48 f64 m[1][1]; 56 b64 where; 64 b16 low..high; 68 b32 first.x; 72 b32 first.y; "
        "76 f32 ends[0].x; 80 s32 ends[0].y; 84 f32 ends[1].x; 88 s32 ends[1].y; 92 s32 color; 96 u8 small; "
        "97 u8 on; 100 b64 call; 108 b64 rows; 116 f16 h\n"
        "//.elements _Z1fP1PP3ArrIfLj4EEPfi 0 = P\n"
        "//.elements _Z1fP1PP3ArrIfLj4EEPfi 1 = Arr<float, 4>\n"
        "//.elements k 0 = P\n"
        "//.elements bodies = n::Body\n"
        "//.elements one = P\n"
        "//.elements _ZZ1fvE4tile = P\n");
    EXPECT_EQ(struct_comments("", kIr, kPtx, kSource), "");
    EXPECT_EQ(struct_comments(kLayouts, "", "", ""), "");
}

// What clang prints of one struct.
std::string layout_of(const std::string& lines, int bytes) {
    const std::string size = std::to_string(bytes);
    return "*** Dumping AST Record Layout\n" + lines + "           | [sizeof=" + size + ", dsize=" + size +
           ", align=8,\n           |  nvsize=" + size + ", nvalign=8]\n\n";
}
std::string said_of(const std::string& layouts, const std::string& entry, const std::string& source) {
    return struct_comments(layouts, "", ".entry " + entry + "(\n .param .u64 a\n)\n", source);
}

TEST(StructLayouts, WhatIsNotCertainIsNotSaid) {
    const std::string p = layout_of("         0 | struct P\n         0 |   int a\n         4 |   int b\n", 8);
    const std::string kernel = "extern \"C\" __global__ void k(P* p) {}";
    EXPECT_NE(said_of(p, "_Z1kP1P", ""), "");
    EXPECT_NE(said_of(p, "k", kernel), "");
    // The source's P may be this one or that one; the mangled name says which.
    const std::string other = layout_of("         0 | struct n::P\n         0 |   float c\n", 4);
    EXPECT_EQ(said_of(p + other, "k", kernel), "");
    EXPECT_NE(said_of(p + other, "_Z1kP1P", ""), "");
    // What points to a P may point to a Q.
    const std::string derived = layout_of(
        "         0 | struct Q\n         0 |   struct P (base)\n         0 |     int a\n         4 |     int "
        "b\n"
        "         8 |   int c\n",
        12);
    EXPECT_EQ(said_of(p + derived, "_Z1kP1P", ""), "");
    EXPECT_NE(said_of(p + derived, "_Z1kP1Q", ""), "");
    // A head before elements that the struct does not count.
    for (const char* last : {"float[] data", "float[0] data", "float[1] data"})
        EXPECT_EQ(
            said_of(layout_of(std::string("         0 | struct H\n         0 |   int n\n         4 |   ") +
                                  last + "\n",
                              8),
                    "_Z1kP1H", ""),
            "")
            << last;
    EXPECT_NE(said_of(layout_of("         0 | struct H\n         0 |   float[1] v\n", 4), "_Z1kP1H", ""), "");
    // Enums are as wide as the source says; members of unknown types have no name.
    const std::string kinds = layout_of(
        "         0 | struct K\n         0 |   enum n::A a\n         4 |   enum B b\n         8 |   C c\n"
        "        12 |   enum D d\n        16 |   struct Held<float *> h\n        16 |     float * first\n"
        "        24 |     int second\n        32 |   void (P::*)(int) m\n        48 |   int x\n",
        56);
    EXPECT_EQ(said_of(kinds, "_Z1kP1K",
                      "enum class A : unsigned short { X };\nenum B { Y };\ntypedef enum { Z } C;\n"),
              "//.struct K = 56; 0 u16 a; 4 s32 b; 8 s32 c; 16 b64 h.first; 24 s32 h.second; 48 s32 x\n"
              "//.elements _Z1kP1K 0 = K\n");
}

TEST(StructLayouts, DamagedTextDoesNoHarm) {
    std::mt19937 random(5);
    for (int i = 0; i < 2000; ++i) {
        std::string layouts = kLayouts, ir = kIr, ptx = kPtx;
        for (std::string* text : {&layouts, &ir, &ptx}) {
            for (int k = 0; k < 4; ++k)
                (*text)[random() % text->size()] = static_cast<char>(random() % 96 + 32);
            if (i % 2) text->resize(random() % text->size());
        }
        struct_comments(layouts, ir, ptx, kSource);
    }
}

class StructComments : public OwnCache {
protected:
    static std::string comments_of(const std::string& path) {
        Complaint complaint;
        const auto ptx = compile_device(path, {"", "", false}, &complaint);
        EXPECT_TRUE(ptx) << ptx.error().message << complaint.said;
        EXPECT_EQ(complaint.said, "");
        std::istringstream lines(ptx ? *ptx : "");
        std::string text;
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("//.")) text += line + "\n";
        return text;
    }
};

TEST_F(StructComments, AreTheSameByEveryClang) {
    for (const char* compiler : {"clang++-14", "clang++-19", "clang++-22"}) {
        if (find_program(compiler).empty()) continue;
        setenv("TILESCOPE_CLANG", compiler, 1);
        const std::string said = comments_of(TILESCOPE_SOURCE_DIR "/tests/data/programs/structs.cu");
        for (const char* line :
             {"//.struct P = 8; 0 f32 x; 4 s32 y\n",
              "//.struct Body = 64; 0 f32 mass; 16 f32 pos.x; 20 f32 pos.y; 24 f32 pos.z; 28 f32 pos.w; "
              "32 f64 energy; 40 s16 tags[0]; 42 s16 tags[1]; 44 s16 tags[2]; 46 b8 low..high; 48 b32 "
              "either.whole\n",
              "//.struct Arr<int, 4> = 32; 0 s32 v[0]; 4 s32 v[1]; 8 s32 v[2]; 12 s32 v[3]; 16 f32 "
              "ends[0].x; "
              "20 s32 ends[0].y; 24 f32 ends[1].x; 28 s32 ends[1].y\n",
              "//.struct Vec = 12; 0 f32 x; 4 f32 y; 8 f32 z\n", "//.elements origin = P\n",
              "//.elements axes = Vec\n", "//.elements sun = Body\n", "//.elements shifted 0 = P\n",
              "//.elements _ZZ7shiftedE4tile = P\n"})
            EXPECT_NE(said.find(line), std::string::npos) << compiler << ": " << line << said;
        EXPECT_NE(said.find("Tagged = 16; 0 f64 d; 8 s32 kind\n"), std::string::npos) << compiler << said;
    }
}

// PTX of programs without structs is the compiler's, and nothing more.
TEST_F(StructComments, ProgramsWithoutStructsHaveNone) {
    for (const char* example : {"matrix_multiply", "blur", "memory_spaces"})
        EXPECT_EQ(comments_of(std::string(TILESCOPE_SOURCE_DIR "/kernels/examples/") + example + ".cu"), "");
}

}  // namespace
}  // namespace tilescope::program
