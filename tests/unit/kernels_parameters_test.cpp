// Names, types and uses of kernel parameters: from mangled names, from declarations in many spellings, and
// from the loads and stores of the PTX; and what else is read from a source's text.
#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "kernels/run/parameters.h"
#include "kernels/run/source_text.h"

namespace tilescope::kernels {
namespace {

using enum ElementType;

// A kernel with these parameters (PTX types) and this body, whose registers are declared.
ptx::Module module_of(const std::string& entry, const std::vector<std::string>& types,
                      const std::string& body = "") {
    std::string text = R"ptx(.version 7.0
.target sm_70
.address_size 64
.visible .entry )ptx" + entry +
                       "(";
    for (size_t i = 0; i < types.size(); ++i)
        text +=
            (i ? ", .param ." : ".param .") + types[i] + (types[i][0] == 'a' ? "" : " p" + std::to_string(i));
    text += R"ptx()
{
.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<19>; .reg .b16 %h<4>; .reg .f64 %fd<4>; .reg .pred %q<2>;
)ptx" + body +
            "ret;\n}\n";
    auto module = ptx::parse(text, "test.ptx");
    EXPECT_TRUE(module) << module.error().message;
    return module ? std::move(*module) : ptx::Module{};
}

std::vector<KernelParameter> parameters(const ptx::Module& module, std::string_view source = "") {
    return parameters_of(module, module.kernels.at(0), source);
}

std::vector<std::string> names(const std::vector<KernelParameter>& parameters) {
    std::vector<std::string> names;
    for (const KernelParameter& parameter : parameters) names.push_back(parameter.name);
    return names;
}

using Names = std::vector<std::string>;

TEST(Parameters, AMangledNameTellsTypes) {
    const auto made = parameters(module_of("_Z3fooPKfPdPhS2_PKxPsifd",
                                           {"u64", "u64", "u64", "u64", "u64", "u64", "u32", "f32", "f64"}));
    const ElementType types[] = {F32, F64, U8, U8, S64, S16, S32, F32, F64};
    ASSERT_EQ(made.size(), std::size(types));
    for (size_t i = 0; i < made.size(); ++i) {
        EXPECT_EQ(made[i].type, types[i]) << i;
        EXPECT_EQ(made[i].pointer, i < 6) << i;
        EXPECT_EQ(made[i].name, "arg" + std::to_string(i + 1));
    }
    EXPECT_EQ(made[0].bytes, 8u);
    EXPECT_EQ(made[6].bytes, 4u);
}

TEST(Parameters, AnInstanceOfATemplateHasItsTypes) {
    // void copy<float, 16>(float*, float const*, int), and the same in a namespace.
    for (const char* entry : {"_Z4copyIfLi16EEvPT_PKS0_i", "_ZN2ns4copyIfLi16EEEvPT_PKS1_i"}) {
        const auto module = module_of(entry, {"u64", "u64", "u32"});
        const auto made = parameters(module, R"(
template <typename T, int TILE = (4 > 3 ? 16 : 8)>
__global__ void copy(T *out, const T *in, int n) { out[0] = in[0]; })");
        EXPECT_EQ(names(made), (Names{"out", "in", "n"})) << entry;
        EXPECT_EQ(made[0].type, F32);
        EXPECT_TRUE(made[1].pointer);
        EXPECT_EQ(plain_name(entry), "copy");
    }
    EXPECT_EQ(plain_name("plain"), "plain");
    EXPECT_EQ(plain_name("_Z3fooPKf"), "foo");
    EXPECT_EQ(plain_name("_ZN12_GLOBAL__N_13fooEPf"), "foo");
    // Too long to be taken apart whole, as kernels of CUTLASS are.
    std::string arguments = "I";
    for (int i = 0; i < 300; ++i) arguments += "NS_1aES" + std::to_string(i) + "_";
    EXPECT_EQ(plain_name("_ZN7cutlass13device_kernel" + arguments + "EEvNT_6ParamsE"), "device_kernel");
    EXPECT_EQ(plain_name("_Z11gemm_device" + arguments + "EEvT_"), "gemm_device");
    EXPECT_EQ(plain_name("_Znonsense"), "_Znonsense");
}

TEST(Parameters, ManySpellingsOfADeclaration) {
    struct Case {
        const char* source;
        Names names;
    };
    const Case cases[] = {
        {"__global__ void foo(const float *a, float *b, int n) {}", {"a", "b", "n"}},
        {"__global__ void foo(const float* __restrict__ a, float* __restrict__ b, const int n)\n{}",
         {"a", "b", "n"}},
        {"extern \"C\" __global__ void __launch_bounds__(256, 2)\nfoo(float const *a,\n    float *b,\n  "
         "unsigned "
         "int n = 3)\n{}",
         {"a", "b", "n"}},
        {"__global__ __launch_bounds__(TILE * (TILE)) void foo(float a[], float b[16][16], size_t n) {}",
         {"a", "b", "n"}},
        {"static __global__ void foo(float*a,float*b,int n){}", {"a", "b", "n"}},
        {"__global__ void foo(float *, float *, int);\n// foo(x, y, z) {\n__global__ void foo(float *a /* in "
         "*/, "
         "float *b, // out, of n\n int n) { }",
         {"a", "b", "n"}},
        {"__global__ void foo(float *a, float *b, int n);\nint main() { foo<<<1, 2>>>(x, y, z); }",
         {"a", "b", "n"}},
        {"__global__ void foo(int x) {}\n__global__ void foo(float *a, float *b, int n) {}", {"a", "b", "n"}},
        {"#define KERNEL __global__\n__global__ void\nfoo (float *a, float *b, struct Pair n)\n{ }",
         {"a", "b", "n"}},
        {"__global__ void foo(float *, float *, unsigned int) {}", {"arg1", "arg2", "arg3"}},
        {"__global__ void foo(thing<int, 4> *a, float (*b)(int, int), int &n) {}", {"a", "b", "n"}},
        {"__global__ void foo(const __grid_constant__ Pair a, float *half, unsigned long long n) {}",
         {"a", "half", "n"}},
        {"__global__ void fooled(float *x, float *y, int z) {}", {"arg1", "arg2", "arg3"}},
        {"void foo(float *x, float *y, int z) {}", {"arg1", "arg2", "arg3"}},
        {"", {"arg1", "arg2", "arg3"}},
        {"__global__ void foo(", {"arg1", "arg2", "arg3"}},
    };
    const auto module = module_of("foo", {"u64", "u64", "u64"});
    for (const Case& c : cases) EXPECT_EQ(names(parameters(module, c.source)), c.names) << c.source;
}

TEST(Parameters, WithoutMangledTypesTheSourceTellsThem) {
    const auto module = module_of("foo", {"u64", "u64", "u64", "u32", "u64"});
    const auto made = parameters(module, R"(
typedef unsigned char byte;
using real = double;
#define elem float4
extern "C" __global__ void foo(const byte *a, real *b, elem *c, int n, std::size_t m) {})");
    EXPECT_EQ(made[0].type, U8);
    EXPECT_EQ(made[1].type, F64);
    EXPECT_EQ(made[2].type, F32);
    EXPECT_EQ(made[3].type, S32);
    EXPECT_EQ(made[4].type, U64);
    EXPECT_TRUE(made[2].pointer);
    EXPECT_FALSE(made[3].pointer);
    EXPECT_FALSE(made[4].pointer);
}

// in[i + offset] to out, and to a third that is only added to; offset is a number of 64 bits.
constexpr const char* kBody = R"(
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    ld.param.u64 %rd3, [p2];
    ld.param.u32 %r1, [p3];
    cvta.to.global.u64 %rd4, %rd1;
    cvta.to.global.u64 %rd5, %rd2;
    mov.u32 %r2, %tid.x;
    mad.lo.s32 %r3, %r2, %r1, %r1;
    mul.wide.s32 %rd6, %r3, 4;
    add.s64 %rd7, %rd4, %rd6;
    add.s64 %rd8, %rd7, %rd3;
    ld.global.f32 %f1, [%rd8];
    add.s64 %rd9, %rd5, %rd6;
    st.global.f32 [%rd9+4], %f1;
)";

TEST(Parameters, ThePtxTellsPointersTypesAndUses) {
    const auto made = parameters(module_of("foo", {"u64", "u64", "u64", "u32"}, kBody));
    EXPECT_TRUE(made[0].pointer && made[0].reads && !made[0].writes);
    EXPECT_TRUE(made[1].pointer && !made[1].reads && made[1].writes);
    EXPECT_FALSE(made[2].pointer) << "a number that is added to an address is none";
    EXPECT_FALSE(made[3].pointer);
    EXPECT_EQ(made[0].type, F32);
    EXPECT_EQ(made[1].type, F32);
    EXPECT_EQ(made[3].type, U32);
    // What is declared comes first.
    const auto declared = parameters(module_of("_Z3fooPKiPilj", {"u64", "u64", "u64", "u32"}, kBody), "");
    EXPECT_EQ(declared[0].type, S32);
    EXPECT_FALSE(declared[2].pointer);
    EXPECT_EQ(declared[2].type, S64);
}

TEST(Parameters, APointerThatIsChosenIsAllThatItMayBe) {
    const auto made = parameters(module_of("foo", {"u64", "u64"}, R"(
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %q1, %r1, 16;
    selp.b64 %rd3, %rd1, %rd2, %q1;
LOOP:
    atom.global.add.u32 %r2, [%rd3], 1;
    add.s64 %rd3, %rd3, 4;
    @%q1 bra LOOP;
)"));
    for (const KernelParameter& parameter : made) {
        EXPECT_TRUE(parameter.pointer && parameter.reads && parameter.writes);
        EXPECT_EQ(parameter.type, U32);
    }
}

TEST(Parameters, StructsAreBitsOfWhatIsLoaded) {
    // foo(Pair*, Quad const*): floats beside words; doubles and words.
    const auto made = parameters(module_of("_Z3fooP4PairPK4Quad", {"u64", "u64"}, R"(
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    ld.f32 %f1, [%rd1];
    ld.u32 %r1, [%rd1+4];
    ld.global.f64 %fd1, [%rd2];
    ld.global.u16 %h1, [%rd2+8];
)"));
    EXPECT_EQ(made[0].type, B32);
    EXPECT_EQ(made[1].type, B16);
    EXPECT_TRUE(made[0].pointer && made[1].pointer);
}

TEST(Parameters, BitsAreOfTheTypeThatTheyAreUsedAs) {
    const auto made = parameters(module_of("foo", {"u64", "u64", "u64"}, R"(
    ld.param.u64 %rd1, [p0];
    ld.param.u64 %rd2, [p1];
    ld.param.u64 %rd3, [p2];
    ld.global.b32 %r1, [%rd1];
    ld.global.b32 %r2, [%rd2];
    add.s32 %r3, %r1, %r1;
    st.global.b32 [%rd1], %r3;
    st.global.b32 [%rd3], %r2;
)"));
    EXPECT_EQ(made[0].type, S32);
    EXPECT_EQ(made[1].type, B32);
    EXPECT_EQ(made[2].type, B32);
}

TEST(Parameters, AStructByValueIsNoPointer) {
    const auto made =
        parameters(module_of("_Z3foo6ConfigPf", {"align 8 .b8 p0[8]", "u64"}),
                   "struct Config { float *data; };\n__global__ void foo(Config c, float *out) {}");
    EXPECT_EQ(names(made), (Names{"c", "out"}));
    EXPECT_FALSE(made[0].pointer);
    EXPECT_EQ(made[0].bytes, 8u);
    EXPECT_TRUE(made[1].pointer);
}

TEST(Parameters, NamesThatUnpackToMuchAreNotUnpacked) {
    std::string entry = "_Z3foo";
    for (int i = 0; i < 40; ++i) entry += "1aIS_S_E";
    const auto made = parameters(module_of(entry, {"u64"}));
    EXPECT_EQ(made.size(), 1u);
    EXPECT_EQ(plain_name(entry), "foo");
}

TEST(SourceText, ConstantsAreWorkedOut) {
    const char* source = R"(
#define RADIUS 3
#  define BLOCK (1 << 7) // threads
static const int kWidth = BLOCK + 2*RADIUS;
constexpr unsigned kTile = 0x10u;
enum { kBins = 64 };
int n = 5;
#define LOOP LOOP
)";
    EXPECT_EQ(constant_in(source, "BLOCK + 2 * RADIUS"), 134u);
    EXPECT_EQ(constant_in(source, "kWidth/2"), 67u);
    EXPECT_EQ(constant_in(source, "(kTile+1)*kBins - 4 % 3"), 17u * 64 - 1);
    for (const char* unknown :
         {"n", "LOOP", "", "kTile +", "1 - 2", "4 / 0", "sizeof(int)", "1 2", "1 << 99"})
        EXPECT_FALSE(constant_in(source, unknown)) << unknown;
}

TEST(SourceText, TypesAreReadInAnyOrderOfWords) {
    const char* source = "typedef struct { int a; } Pair; typedef float real; using loop = loop;";
    EXPECT_EQ(held_type(source, "const unsigned long long int"), (HeldType{U64, 1}));
    EXPECT_EQ(held_type(source, "long unsigned"), (HeldType{U64, 1}));
    EXPECT_EQ(held_type(source, "signed char"), (HeldType{S8, 1}));
    EXPECT_EQ(held_type(source, "char"), (HeldType{S8, 1}));
    EXPECT_EQ(held_type(source, "unsigned"), (HeldType{U32, 1}));
    EXPECT_EQ(held_type(source, "short int"), (HeldType{S16, 1}));
    EXPECT_EQ(held_type(source, "volatile real"), (HeldType{F32, 1}));
    EXPECT_EQ(held_type(source, "double2"), (HeldType{F64, 2}));
    EXPECT_EQ(held_type(source, "__nv_bfloat16"), (HeldType{BF16, 1}));
    for (const char* unknown : {"Pair", "T", "void", "", "loop", "float *", "std::vector<int>", "float5"})
        EXPECT_FALSE(held_type(source, unknown)) << unknown;
}

TEST(SourceText, CommentsAndTextAreBlank) {
    const std::string code = code_of("a/*b\nc*/d\"e//\"('\"')//h\n1'000 i");
    EXPECT_EQ(code, "a   \n   d     (   )   \n1'000 i");
    EXPECT_EQ(code_of("x /* never closed"), "x                ");
    EXPECT_EQ(code_of("\"open\\"), "      ");
}

}  // namespace
}  // namespace tilescope::kernels
