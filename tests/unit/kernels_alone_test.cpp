// Launches that are described in words: values, calls, comments; any damage ends in a sentence. And what is
// guessed of the others.
#include <random>

#include <gtest/gtest.h>

#include "core/base/contents.h"
#include "core/base/file.h"
#include "core/trace/claims.h"
#include "kernels/alone/guess.h"
#include "kernels/run/record.h"

namespace tilescope::kernels {
namespace {

using Kind = GivenKind;
using Fill = GivenFill;

GivenArgument argument(const std::string& text) {
    auto parsed = parse_argument(text);
    EXPECT_TRUE(parsed) << text;
    return parsed ? *parsed : GivenArgument{};
}

std::string problem_with(const std::string& text) {
    const auto parsed = parse_argument(text);
    return parsed ? "" : parsed.error().message;
}

Description call(const std::string& text) {
    Description description;
    EXPECT_TRUE(add_call(description, text)) << text;
    return description;
}

TEST(Described, NumbersKeepTheirBits) {
    EXPECT_EQ(bits_in(ElementType::S32, *parse_given_number("-9")), 0xFFFF'FFF7u);
    EXPECT_EQ(bits_in(ElementType::U64, *parse_given_number("18446744073709551615")), UINT64_MAX);
    EXPECT_EQ(bits_in(ElementType::U32, *parse_given_number("0x1F")), 31u);
    EXPECT_EQ(bits_in(ElementType::F32, *parse_given_number("2.5f")), 0x4020'0000u);
    EXPECT_EQ(bits_in(ElementType::F64, *parse_given_number("3")), 0x4008'0000'0000'0000u);
    EXPECT_EQ(bits_in(ElementType::F16, *parse_given_number("-1.5")), 0xBE00u);
    EXPECT_EQ(bits_in(ElementType::U8, *parse_given_number("true")), 1u);
    for (const char* text : {"", "-", "--1", "1x", "0x", "1 2", "n", "1e", "0x1.5", "+-1"})
        EXPECT_FALSE(parse_given_number(text)) << text;
}

TEST(Described, ArraysHaveTypeExtentsAndContents) {
    const GivenArgument array = argument("in = const float [ 512, 256 ] : random");
    EXPECT_EQ(array.name, "in");
    EXPECT_EQ(array.kind, Kind::Array);
    EXPECT_EQ(array.type, ElementType::F32);
    EXPECT_EQ(array.extents, (std::vector<uint64_t>{512, 256}));
    EXPECT_EQ(array.contents.kind, Fill::Random);
    EXPECT_EQ(argument("float4[8,16]").extents, (std::vector<uint64_t>{8, 64}));
    EXPECT_EQ(argument("unsigned char[7]:3").type, ElementType::U8);
    EXPECT_EQ(argument("unsigned char[7]:3").contents.number.value, 3);
    EXPECT_EQ(argument("long long[7]:iota").type, ElementType::S64);
    EXPECT_EQ(argument("half[7]:ones").type, ElementType::F16);
    EXPECT_EQ(argument("x=f64[1]").contents.kind, Fill::Guessed);
    EXPECT_EQ(argument("p=bytes:00fF12").object,
              (std::vector<std::byte>{std::byte{0}, std::byte{0xFF}, std::byte{0x12}}));
    EXPECT_EQ(argument("scratch=null").kind, Kind::Null);
}

TEST(Described, WhatIsNoValueIsRefused) {
    for (const char* text :
         {"n=", "in=float[", "in=float[]", "in=float[0]", "in=float[1,2,3,4]", "in=flaot[4]",
          "in=float[4]:noise", "in=float[4]random", "in=float[99999999999]", "p=bytes:0",
          "p=bytes:", "p=bytes:xy", "in=float[65536,65536]", "in]=float[", "=5"})
        EXPECT_NE(problem_with(text), "") << text;
    EXPECT_EQ(
        problem_with("in=flaot[4]"),
        "'flaot' is not a type of elements; choose one such as float, double, int, unsigned, char, short, "
        "half or float4");
}

TEST(Described, ACallNamesKernelAndArguments) {
    const Description description = call("solve<32, float>(A=float[10,20]:iota, 512, eps=1e-3)");
    EXPECT_EQ(description.kernel, "solve<32, float>");
    ASSERT_EQ(description.arguments.size(), 3u);
    EXPECT_EQ(description.arguments[0].extents.size(), 2u);
    EXPECT_EQ(description.arguments[1].name, "");
    EXPECT_EQ(description.arguments[1].number.whole, 512u);
    EXPECT_EQ(description.arguments[2].number.value, 1e-3);
    EXPECT_TRUE(call("k()").arguments.empty());
    Description none;
    for (const char* text : {"", "k", "(1)", "k(1", "k(1) 2", "k(a=)"})
        EXPECT_FALSE(add_call(none, text)) << text;
}

TEST(Described, SizesAreOneToThreeExtents) {
    EXPECT_EQ(parse_size("4"), (Dim3{4, 1, 1}));
    EXPECT_EQ(parse_size("16x8"), (Dim3{16, 8, 1}));
    EXPECT_EQ(parse_size("4, 2, 3"), (Dim3{4, 2, 3}));
    for (const char* text : {"", "0", "4,", ",4", "4,0", "1,2,3,4", "-1", "4294967296", "a"})
        EXPECT_FALSE(parse_size(text)) << text;
}

TEST(Described, CommentsOfTheSourceSayTheSame) {
    const std::string source =
        "// tilescope: --kernel add --grid 4 --arg 'in=float[8, 8]'\n"
        "int x;  // not tilescope: --grid 9\n"
        "/* tilescope: --kernel scale --grid 7 */\n"
        "   // tilescope: --block 32 --arg in=int[3]\n";
    EXPECT_TRUE(has_description(source));
    EXPECT_FALSE(has_description("// about tilescope: all of it"));
    const auto first = described_in(source, "");
    ASSERT_TRUE(first);
    EXPECT_EQ(first->kernel, "add");
    EXPECT_EQ(first->grid, (Dim3{4, 1, 1}));
    EXPECT_EQ(first->block, (Dim3{32, 1, 1}));
    ASSERT_EQ(first->arguments.size(), 1u);  // the later line's
    EXPECT_EQ(first->arguments[0].type, ElementType::S32);
    const auto second = described_in(source, "scale");
    ASSERT_TRUE(second);
    EXPECT_EQ(second->grid, (Dim3{7, 1, 1}));
    EXPECT_FALSE(described_in("// tilescope: --grod 4", ""));
    EXPECT_FALSE(described_in("// tilescope: --grid", ""));
    EXPECT_FALSE(described_in("// tilescope: --grid '4", ""));
    Description said;
    said.grid = Dim3{2, 1, 1};
    EXPECT_EQ(joined(*first, said).grid, (Dim3{2, 1, 1}));
}

TEST(Described, WhatIsSaidAgainIsTheSame) {
    for (const char* text : {"n=512", "n=-9", "x=2.5", "x=1e-05", "in=float[512,256]:random", "in=double[7]",
                             "b=u8[7]:3", "b=s64[7]:-2.5", "x=3.0", "x=-0", "b=s32[3]:-0.f", "x=-0x1F",
                             "x=1e30f", "p=bytes:00ff12", "s=null", "in=f16[1]:iota"}) {
        const GivenArgument given = argument(text);
        const GivenArgument again = argument(given.name + "=" + value_text(given));
        EXPECT_EQ(again, given) << text;
        // Zero equals minus zero, but their bits differ.
        EXPECT_EQ(value_text(again), value_text(given)) << text;
        EXPECT_EQ(bits_in(ElementType::F32, again.number), bits_in(ElementType::F32, given.number)) << text;
    }
}

TEST(Described, AnyWordSurvivesItsQuotes) {
    std::mt19937 random(1);
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::string> words(1 + random() % 3);
        std::string text;
        for (std::string& word : words) {
            for (size_t i = random() % 8; i > 0; --i) word += "a'\"\\ \n$[*\x80"[random() % 10];
            text += shell_word(word) + " ";
        }
        const auto again = words_of(text);
        ASSERT_TRUE(again) << text;
        EXPECT_EQ(*again, words) << text;
    }
}

TEST(Described, AnyDamageEndsInASentence) {
    const std::string whole =
        "// tilescope: --call 'solve<2>(A=float4[8, 16]:iota, 0x1F, b=bytes:00ff, x=-2.5e-3f, s=null)' "
        "--grid "
        "4,2 --block 16x16 --shared 4096 --arg in=unsigned char[7]:3\n";
    std::mt19937 random(2);
    size_t refused = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text = whole;
        for (size_t edits = 1 + random() % 4; edits > 0; --edits) {
            const size_t at = random() % text.size();
            const auto byte =
                static_cast<char>(random() % 3 == 0 ? random() : whole[random() % whole.size()]);
            if (random() % 3 == 0)
                text.erase(at, 1 + random() % 9);
            else if (random() % 2 == 0)
                text.insert(at, 1, byte);
            else
                text[at] = byte;
            if (text.empty()) text = "x";
        }
        const auto described = described_in(text, "");
        if (described) continue;
        ++refused;
        ASSERT_EQ(described.error().message.find('\n'), std::string::npos);
        ASSERT_LT(described.error().message.size(), 1500u);
    }
    EXPECT_GT(refused, 1000u);
    EXPECT_LT(refused, 20000u);
}

std::string text_of(const std::string& path) {
    auto text = read_whole(TILESCOPE_SOURCE_DIR "/" + path, 1 << 26);
    EXPECT_TRUE(text) << path;
    return text ? *text : "";
}

Alone shipped_launch(const std::string& name) {
    return {text_of("tests/data/launches/" + name + ".ptx"), name + ".ptx",
            text_of("tests/data/launches/" + name + ".cu"), name + ".cu"};
}

GuessedLaunch guessed(const Alone& alone, const Description& said = {}) {
    auto launch = guess_launch(alone, said);
    EXPECT_TRUE(launch) << (launch ? "" : launch.error().message);
    return launch ? *launch : GuessedLaunch{};
}

std::string refusal(const Alone& alone, const std::vector<std::string>& words) {
    Description said;
    EXPECT_TRUE(add_options(said, words));
    const auto launch = guess_launch(alone, said);
    return launch ? "" : launch.error().message;
}

TEST(Guessed, AVectorSumTakesAThousandElementsOfEach) {
    const GuessedLaunch launch = guessed(shipped_launch("vector_add"));
    EXPECT_EQ(launch.problem, "");
    EXPECT_EQ(
        command_of("add.ptx", launch.whole),
        "tilescope record add.ptx --kernel vector_add --grid 4 --block 256 --arg 'a=double[1024]:random' "
        "--arg 'b=double[1024]:random' --arg 'c=double[1024]:zeros' --arg n=1024");
    const auto trace = record_cpu(launch.plan, {});
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_TRUE(trace->meta.complete) << trace->meta.incomplete_reason;
    EXPECT_EQ(trace->steps(), 4u * 8 * 3);
}

// More PTX than a recording holds: the one kernel that is meant is in it, by its name in the source too.
TEST(Guessed, OneKernelOfALargeModuleIsReadAlone) {
    Alone alone = shipped_launch("vector_add");
    const size_t first = alone.ptx.find(".visible .entry"), end = alone.ptx.find("\n}\n", first) + 3;
    const std::string one = alone.ptx.substr(first, end - first), entry = "vector_add";
    for (int i = 0; i < 4000; ++i) {
        const std::string name = "other" + std::to_string(i);
        std::string other = one;
        for (size_t at = 0; (at = other.find(entry, at)) != std::string::npos; at += name.size())
            other.replace(at, entry.size(), name);
        alone.ptx += other;
    }
    ASSERT_GT(alone.ptx.size(), trace::most_of(trace::Claim::PtxBytes));
    Description said;
    said.kernel = "vector_add";
    for (const Description& how : {Description{}, said}) {
        const GuessedLaunch launch = guessed(alone, how);
        EXPECT_EQ(launch.problem, "");
        EXPECT_LT(launch.plan.ptx.size(), size_t{1} << 20);
        const auto trace = record_cpu(launch.plan, {});
        ASSERT_TRUE(trace) << trace.error().message;
        EXPECT_EQ(trace->steps(), 4u * 8 * 3);
    }
    EXPECT_NE(refusal(alone, {"--kernel", "nothing"}).find("holds no kernel 'nothing'"), std::string::npos);
}

TEST(Guessed, WhatIsSaidLeadsTheRest) {
    Description said;
    ASSERT_TRUE(add_options(said, {"--arg", "n=100", "--block", "64"}));
    const GuessedLaunch launch = guessed(shipped_launch("vector_add"), said);
    EXPECT_EQ(launch.plan.launch.grid, (Dim3{2, 1, 1}));
    for (const Array& array : launch.plan.launch.arrays) EXPECT_EQ(array.elements(), 100u) << array.name;
    Description array;
    ASSERT_TRUE(add_options(array, {"--call", "vector_add(double[70]:iota, double[70]:2)"}));
    const GuessedLaunch other = guessed(shipped_launch("vector_add"), array);
    EXPECT_EQ(other.problem, "");
    EXPECT_EQ(other.plan.launch.arguments[3].value, 70u);
    EXPECT_EQ(initial_value(other.plan.launch.arrays[0], 69), value_of(69.0));
    EXPECT_EQ(initial_value(other.plan.launch.arrays[1], 69), value_of(2.0));
    EXPECT_EQ(other.plan.launch.arrays[2].elements(), 70u);
}

TEST(Guessed, EveryDimensionIsCovered) {
    const GuessedLaunch launch = guessed(shipped_launch("stencil"));
    EXPECT_EQ(launch.problem, "");
    const Launch& made = launch.plan.launch;
    ASSERT_EQ(made.arrays.size(), 2u);
    const uint64_t points = made.arguments[2].value * made.arguments[3].value * made.arguments[4].value;
    EXPECT_EQ(made.arrays[0].elements(), points);
    EXPECT_EQ(made.arrays[1].elements(), points);
    EXPECT_GE(made.grid.count() * made.block.count(), points);
    EXPECT_EQ(made.arrays[0].role, ArrayRole::Input);
    EXPECT_EQ(made.arrays[1].role, ArrayRole::Output);
}

TEST(Guessed, TheCommandRepeatsTheLaunch) {
    for (const char* name : {"vector_add", "stencil", "histogram", "pairs", "reverse", "untiled"}) {
        const GuessedLaunch first = guessed(shipped_launch(name));
        EXPECT_EQ(first.problem, "") << name;
        const auto words = words_of(command_of("f.ptx", first.whole));
        ASSERT_TRUE(words);
        Description said;
        ASSERT_TRUE(add_options(said, {words->begin() + 3, words->end()})) << name;
        EXPECT_EQ(said, first.whole) << name;
        const GuessedLaunch second = guessed(shipped_launch(name), said);
        EXPECT_EQ(second.problem, "") << name;
        EXPECT_EQ(second.plan.launch.grid, first.plan.launch.grid) << name;
        EXPECT_EQ(second.plan.launch.arrays, first.plan.launch.arrays) << name;
        EXPECT_EQ(second.plan.launch.arguments, first.plan.launch.arguments) << name;
    }
}

TEST(Guessed, ADescriptionThatDoesNotFitIsRefused) {
    const Alone alone = shipped_launch("vector_add");
    EXPECT_EQ(refusal(alone, {"--kernel", "add"}),
              "vector_add.ptx holds no kernel 'add'; choose one of vector_add");
    EXPECT_EQ(refusal(alone, {"--arg", "m=4"}),
              "kernel 'vector_add' has no parameter 'm'; its parameters are a, b, c, n");
    EXPECT_EQ(refusal(alone, {"--arg", "a=4"}),
              "parameter 'a' is a pointer: give it an array, such as float[1024], and '4' was given");
    EXPECT_NE(refusal(alone, {"--arg", "n=float[4]"}), "");
    EXPECT_NE(refusal(alone, {"--arg", "n=bytes:00"}), "");
    EXPECT_NE(refusal(alone, {"--block", "2000"}), "");
    EXPECT_NE(refusal(alone, {"--call", "vector_add(null, null, null, 1, 2)"}), "");
}

TEST(Guessed, AnArrayThatIsSaidDoesNotGrow) {
    Description said;
    ASSERT_TRUE(add_options(said, {"--arg", "a=double[10]", "--arg", "n=11"}));
    const GuessedLaunch launch = guessed(shipped_launch("vector_add"), said);
    EXPECT_NE(launch.problem.find("outside a's 10 elements"), std::string::npos) << launch.problem;
}

}  // namespace
}  // namespace tilescope::kernels
