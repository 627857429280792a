// Launches that were written down: what launch.json says becomes the launch, tensors with strides become arrays as they
// lie in memory, and whatever is wrong with a field is one sentence.
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/contents.h"
#include "core/trace/file.h"
#include "kernels/alone/guess.h"
#include "kernels/alone/written.h"
#include "kernels/run/record.h"

namespace tilescope::kernels {
namespace {

using nlohmann::json;

// out[i] = x[i] + y[i], as Triton writes a kernel: pointers that are marked, predicated accesses of one element in
// braces, two pointers to scratch memory at the end.
constexpr const char* kAdd = R"(
.version 8.7
.target sm_90a
.address_size 64
.visible .entry add_kernel(
	.param .u64 .ptr .global .align 1 add_kernel_param_0,
	.param .u64 .ptr .global .align 1 add_kernel_param_1,
	.param .u64 .ptr .global .align 1 add_kernel_param_2,
	.param .u32 add_kernel_param_3,
	.param .u64 .ptr .global .align 1 add_kernel_param_4,
	.param .u64 .ptr .global .align 1 add_kernel_param_5
)
.reqntid 32
{
	.reg .pred %p<2>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	ld.param.b64 %rd1, [add_kernel_param_0];
	ld.param.b64 %rd2, [add_kernel_param_1];
	ld.param.b64 %rd3, [add_kernel_param_2];
	ld.param.b32 %r1, [add_kernel_param_3];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r2, 32, %r3;
	setp.lt.s32 %p1, %r4, %r1;
	mul.wide.s32 %rd4, %r4, 4;
	add.s64 %rd5, %rd1, %rd4;
	add.s64 %rd6, %rd2, %rd4;
	add.s64 %rd7, %rd3, %rd4;
	mov.u32 %r5, 0x0;
	@%p1 ld.global.b32 { %r5 }, [ %rd5 + 0 ];
	mov.u32 %r6, 0x0;
	@%p1 ld.global.b32 { %r6 }, [ %rd6 + 0 ];
	add.f32 %r7, %r5, %r6;
	@%p1 st.global.b32 [ %rd7 + 0 ], { %r7 };
	ret;
}
)";

using WrittenFiles = std::map<std::string, std::string>;

Result<WrittenLaunch> parse(const json& launch, const WrittenFiles& files = {}) {
    return parse_written(launch.dump(), [&](const std::string& name, uint64_t most) -> Result<std::string> {
        const auto found = files.find(name);
        if (found == files.end()) return Error{"cannot read " + name};
        if (found->second.size() > most) return Error{name + " is too large"};
        return found->second;
    });
}

json tensor(const std::string& name, json shape, json strides, const std::string& dtype = "float32") {
    return {{"name", name}, {"dtype", dtype}, {"shape", std::move(shape)}, {"strides", std::move(strides)}};
}
json number(const std::string& name, const std::string& type, json value) {
    return {{"name", name}, {"type", type}, {"value", std::move(value)}};
}
json launch(json arguments) {
    return {{"schema", "tilescope.launch/1"},
            {"number", 3},
            {"kernel", "add_kernel"},
            {"ptx", "add_kernel.ptx"},
            {"grid", {2}},
            {"block", {32}},
            {"shared", 0},
            {"source", "add.py"},
            {"arguments", std::move(arguments)}};
}

// The extents of an array that one tensor makes.
std::vector<uint64_t> extents(const json& one) {
    const auto written = parse(launch(json::array({one})));
    EXPECT_TRUE(written) << written.error().message;
    return written ? written->said.arguments.at(0).extents : std::vector<uint64_t>{};
}
using Extents = std::vector<uint64_t>;

TEST(Written, TensorsAreArraysAsTheyLieInMemory) {
    EXPECT_EQ(extents(tensor("x", {64, 500}, {500, 1})), (Extents{64, 500}));
    EXPECT_EQ(extents(tensor("x", {64, 500}, {512, 1})), (Extents{64, 512})) << "rows with a pitch";
    EXPECT_EQ(extents(tensor("x", {64, 500}, {1, 64})), (Extents{500, 64})) << "transposed";
    EXPECT_EQ(extents(tensor("x", {2, 3, 4}, {12, 4, 1})), (Extents{2, 3, 4}));
    EXPECT_EQ(extents(tensor("x", {5, 2, 3, 4}, {24, 12, 4, 1})), (Extents{10, 3, 4}))
        << "outer ones together";
    EXPECT_EQ(extents(tensor("x", {2, 3, 4}, {64, 8, 1})), (Extents{2, 8, 8}))
        << "pitches of rows and slices";
    EXPECT_EQ(extents(tensor("x", {7}, {1})), (Extents{7}));
    EXPECT_EQ(extents(tensor("x", {7}, {10})), (Extents{7, 10})) << "a column";
    EXPECT_EQ(extents(tensor("x", json::array(), json::array())), (Extents{1})) << "a number in memory";
    EXPECT_EQ(extents(tensor("x", {64, 1, 500}, {500, 500, 1})), (Extents{64, 500})) << "an extent of one";
    EXPECT_EQ(extents(tensor("x", {64, 500}, {0, 1})), (Extents{500})) << "a row that is repeated";
    EXPECT_EQ(extents(tensor("x", {10, 4}, {1, 1})), (Extents{13})) << "windows that overlap are one row";
    EXPECT_EQ(extents(tensor("x", {4, 5}, {5, 1}, "complex64")), (Extents{4, 5, 2}));
    json contiguous = tensor("x", {6, 7}, {});
    contiguous.erase("strides");
    EXPECT_EQ(extents(contiguous), (Extents{6, 7}));
}

TEST(Written, AddressesKeepTheirPlaceInTheirSector) {
    json column = tensor("x", {8, 10}, {512, 1});
    column["offset"] = 3;
    const auto written = parse(launch(json::array({column})));
    ASSERT_TRUE(written);
    EXPECT_EQ(written->said.arguments[0].extents, (Extents{8, 512}));
    EXPECT_EQ(written->said.arguments[0].offset, 12u) << "x[:,3:] begins in the first row";
    json aligned = tensor("x", {8, 10}, {10, 1});
    aligned["offset"] = 6400;  // 25,600 bytes: 100 times 256
    EXPECT_EQ(extents(aligned), (Extents{8, 10}));
    for (const int offset : {1, 7, 640, 5001, 77777}) {
        json one = tensor("x", {8, 10}, {10, 1});
        one["offset"] = offset;
        const auto moved = parse(launch(json::array({one})));
        ASSERT_TRUE(moved);
        EXPECT_EQ(moved->said.arguments[0].offset % 256, static_cast<uint64_t>(offset) * 4 % 256) << offset;
        EXPECT_EQ(moved->said.arguments[0].extents[1], 10u);
    }
    json backwards = tensor("x", {10}, {-1});
    backwards["offset"] = 9;
    const auto reversed = parse(launch(json::array({backwards})));
    ASSERT_TRUE(reversed);
    EXPECT_EQ(reversed->said.arguments[0].extents, (Extents{10}));
    EXPECT_EQ(reversed->said.arguments[0].offset, 36u);
}

TEST(Written, TensorsThatShareMemoryAreOneArray) {
    json q = tensor("q", {8, 4}, {12, 1}), k = tensor("k", {8, 4}, {12, 1}),
         apart = tensor("apart", {4}, {1});
    q["storage"] = k["storage"] = apart["storage"] = 5;
    k["offset"] = 4;
    apart["offset"] = 1000;
    const auto written = parse(launch(json::array({k, q, apart, tensor("own", {8, 4}, {12, 1})})));
    ASSERT_TRUE(written) << written.error().message;
    const auto& arguments = written->said.arguments;
    EXPECT_EQ(arguments[0].extents, (Extents{8, 12}));
    EXPECT_EQ(arguments[0].offset, 16u);
    EXPECT_EQ(arguments[1].shares, 0);
    EXPECT_EQ(arguments[1].offset, 0u);
    EXPECT_EQ(arguments[2].shares, -1);
    EXPECT_EQ(arguments[3].shares, -1);
}

std::string floats(const std::vector<float>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

struct RecordedLaunch {
    Plan plan;
    trace::Trace trace;
};
RecordedLaunch recorded(const json& written, const WrittenFiles& files) {
    const auto parsed = parse(written, files);
    EXPECT_TRUE(parsed) << parsed.error().message;
    if (!parsed) return {};
    auto guessed = guess_launch({kAdd, "add_kernel.ptx", "", "add.py"}, parsed->said);
    EXPECT_TRUE(guessed) << guessed.error().message;
    if (!guessed) return {};
    guessed->plan.check = check_of(*parsed);
    auto trace = record_cpu(guessed->plan, {});
    EXPECT_TRUE(trace) << trace.error().message;
    if (!trace) return {};
    return {guessed->plan, *trace};
}

TEST(Written, TheLaunchIsTheOneThatTookPlace) {
    std::vector<float> x(40), y(40), sum(40);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = 0.5F * static_cast<float>(i);
        y[i] = 100.0F;
        sum[i] = x[i] + y[i];
    }
    json first = tensor("x", {40}, {1}), second = tensor("y", {40}, {1}),
         out = tensor("out", {4, 10}, {10, 1});
    first["contents"] = "x.bin";
    second["contents"] = "y.bin";
    out["result"] = "out.after";
    second["result"] = "y.after";  // all that a launch could have written is written down, unchanged too
    const json written = launch(json::array({first, second, out, number("n", "i32", 40)}));
    WrittenFiles files{
        {"x.bin", floats(x)}, {"y.bin", floats(y)}, {"y.after", floats(y)}, {"out.after", floats(sum)}};
    const RecordedLaunch made = recorded(written, files);
    const Launch& launch = made.trace.launch;
    EXPECT_EQ(launch.grid, (Dim3{2, 1, 1}));
    EXPECT_EQ(launch.block, (Dim3{32, 1, 1}));
    ASSERT_EQ(launch.arrays.size(), 3u);
    EXPECT_EQ(launch.arrays[0].name, "x");
    EXPECT_EQ(launch.arrays[0].extents, ExtentSource::Known) << "also a row is what the tensor was";
    EXPECT_EQ(launch.arrays[2].rows, 4u);
    EXPECT_EQ(launch.arrays[2].role, ArrayRole::Output);
    EXPECT_EQ(initial_value(launch.arrays[0], 3).bits, value_of(1.5F).bits);
    ASSERT_EQ(launch.arguments.size(), 6u);
    EXPECT_EQ(launch.arguments[3].name, "n");
    EXPECT_EQ(launch.arguments[3].value, 40u);
    EXPECT_EQ(launch.arguments[5].array, -1) << "scratch memory is not there";
    EXPECT_TRUE(made.trace.meta.result.checked);
    EXPECT_TRUE(made.trace.meta.result.verified);
    EXPECT_EQ(made.trace.meta.result.array, 2);
    EXPECT_TRUE(trace::deserialize(trace::serialize(made.trace), "add.tsc"));

    // What the launch does not reach is as it was, and right.
    json longer = written;
    longer["arguments"][2]["shape"] = {5, 10};
    longer["arguments"][2]["contents"] = "out.bin";
    std::vector<float> before(50, 7.0F), after = before;
    std::ranges::copy(sum, after.begin());
    files["out.bin"] = floats(before), files["out.after"] = floats(after);
    const RecordedLaunch part = recorded(longer, files);
    EXPECT_TRUE(part.trace.meta.result.verified);
    EXPECT_TRUE(trace::deserialize(trace::serialize(part.trace), "add.tsc"));

    sum[17] += 0.25F;  // far more than float can be off by
    files["out.after"] = floats(sum);
    const trace::Verification wrong = recorded(written, files).trace.meta.result;
    EXPECT_FALSE(wrong.verified);
    EXPECT_EQ(wrong.wrong, 1u);
    EXPECT_EQ(wrong.first_wrong, 17);
    EXPECT_EQ(wrong.array, 2);
}

TEST(Written, InPlaceIsOneArray) {
    json x = tensor("x", {40}, {1}), out = tensor("out", {40}, {1});
    x["storage"] = out["storage"] = 0;
    const RecordedLaunch made =
        recorded(launch(json::array({x, tensor("y", {40}, {1}), out, number("n", "i32", 40)})), {});
    ASSERT_EQ(made.trace.launch.arrays.size(), 2u);
    EXPECT_EQ(made.trace.launch.arrays[0].role, ArrayRole::InOut);
    EXPECT_EQ(made.trace.launch.arguments[2].array, 0);
}

TEST(Written, NumbersAreOfTheirTypes) {
    const auto value = [](const json& one) {
        json three = json::array({{{"null", true}}, {{"null", true}}, {{"null", true}}});
        three.push_back(one);
        const auto parsed = parse(launch(three));
        EXPECT_TRUE(parsed) << parsed.error().message;
        const auto guessed = guess_launch({kAdd, "add_kernel.ptx", "", ""}, parsed->said);
        EXPECT_TRUE(guessed) << guessed.error().message;
        return guessed ? guessed->plan.launch.arguments[3].value : 0;
    };
    EXPECT_EQ(value(number("n", "i32", -9)), 0xFFFF'FFF7u);
    EXPECT_EQ(value(number("n", "fp32", 1.5)), value_of(1.5F).bits);
    EXPECT_EQ(value(number("n", "float32", 2)), value_of(2.0F).bits);
    EXPECT_EQ(value(number("n", "fp16", 1.5)), value_of(1.5F).bits) << "handed on as a float";
    EXPECT_EQ(value(number("n", "fp32", "-inf")), 0xFF80'0000u);
    EXPECT_EQ(value(number("n", "i1", true)), 1u);
}

// One sentence, and none where the launch is read all the same.
void expect_a_sentence(const json& damaged, const std::string& what) {
    const auto parsed = parse(damaged, {{"x.bin", floats({1, 2, 3, 4})}});
    if (parsed) return;
    const std::string& message = parsed.error().message;
    EXPECT_NE(message, "") << what;
    EXPECT_EQ(message.find('\n'), std::string::npos) << what;
    EXPECT_EQ(message.find("exception"), std::string::npos) << what;
    EXPECT_LT(message.size(), 400u) << what;
}

TEST(Written, AFieldThatIsMissingOrWrongIsASentence) {
    json x = tensor("x", {4}, {1});
    x["contents"] = "x.bin";
    x["offset"] = 0;
    x["storage"] = 1;
    const json whole = launch(json::array({x, number("n", "i32", 4), {{"name", "s"}, {"bytes", "00ff"}}}));
    ASSERT_TRUE(parse(whole, {{"x.bin", floats({1, 2, 3, 4})}}));
    const json values[] = {nullptr,        true, -1,           1.5,    1e300,     UINT64_MAX,
                           INT64_MIN,      "",   "x",          "../x", "a\nb",    json::array(),
                           json::object(), {0},  {1, 2, 3, 4}, {-1},   {nullptr}, {{{"a", 1}}}};
    for (const auto& [key, value] : whole.items()) {
        json damaged = whole;
        damaged.erase(key);
        const bool optional = key == "number" || key == "source" || key == "shared";
        EXPECT_EQ(static_cast<bool>(parse(damaged, {{"x.bin", floats({1, 2, 3, 4})}})), optional) << key;
        expect_a_sentence(damaged, key);
        for (const json& other : values) {
            damaged[key] = other;
            expect_a_sentence(damaged, key + " = " + other.dump());
        }
    }
    for (size_t i = 0; i < whole["arguments"].size(); ++i) {
        for (const auto& [key, value] : whole["arguments"][i].items()) {
            json damaged = whole;
            damaged["arguments"][i].erase(key);
            expect_a_sentence(damaged, key);
            for (const json& other : values) {
                damaged["arguments"][i][key] = other;
                expect_a_sentence(damaged, key + " = " + other.dump());
            }
        }
    }
}

std::string written_problem(const json& argument) {
    const auto parsed = parse(launch(json::array({argument})));
    return parsed ? "" : parsed.error().message;
}

TEST(Written, SentencesNameTheArgumentAndWhatToDo) {
    EXPECT_EQ(
        written_problem(tensor("x", {4}, {1}, "float12")),
        "argument 'x' of launch.json has the dtype 'float12'; choose one such as float32, float16, bfloat16, "
        "int64 or uint8");
    EXPECT_EQ(written_problem(tensor("x", {4}, {1, 1})),
              "argument 'x' of launch.json has another number of strides than its shape has extents");
    EXPECT_EQ(written_problem(tensor("x", {1 << 20, 1 << 20}, {1 << 20, 1})),
              "argument 'x' of launch.json spans more than 2^31 elements");
    EXPECT_EQ(written_problem(number("n", "i32", 1.5)),
              "argument 'n' of launch.json has the type 'i32' and a value that is not whole");
    EXPECT_EQ(written_problem({{"name", "n"}}),
              "argument 'n' of launch.json must have one of 'dtype', 'value', 'bytes' and 'null'");
    json stray = tensor("x", {4}, {1});
    stray["contents"] = "/etc/hostname";
    EXPECT_EQ(written_problem(stray),
              "argument 'x' of launch.json names the file '/etc/hostname'; name one in the same folder, "
              "without a path");
    stray["contents"] = "x.bin";
    const auto parsed = parse(launch(json::array({stray})), {{"x.bin", "12345"}});
    ASSERT_FALSE(parsed);
    EXPECT_EQ(
        parsed.error().message,
        "'x.bin' has 5 bytes, and argument 'x' spans 16 bytes; write its memory from the first to the last "
        "element");
}

TEST(Written, ArgumentsFitTheKernel) {
    const auto problem = [](const json& arguments) {
        const auto parsed = parse(launch(arguments));
        EXPECT_TRUE(parsed);
        const auto guessed = guess_launch({kAdd, "add_kernel.ptx", "", ""}, parsed->said);
        return guessed ? "" : guessed.error().message;
    };
    const json x = tensor("x", {4}, {1}), y = tensor("y", {4}, {1}), out = tensor("out", {4}, {1});
    EXPECT_EQ(problem({x, y, out}), "kernel 'add_kernel' takes 6 arguments and was given 3");
    EXPECT_NE(problem({x, y, number("n", "i32", 4), out}), "");
    EXPECT_EQ(problem({x, y, out, number("n", "i32", 4)}), "");
}

TEST(Written, MetadataOfTritonsCacheSaysTheBlock) {
    const Description said =
        described_by_metadata(R"({"name": "k", "num_warps": 8, "shared": 4096, "num_stages": 3})");
    EXPECT_EQ(said.block, (Dim3{256, 1, 1}));
    EXPECT_EQ(said.shared, 4096u);
    for (const char* other : {"", "[]", "{}", R"({"num_warps": 4})", R"({"num_warps": -4, "shared": 0})",
                              R"({"num_warps": 4000, "shared": 0})"})
        EXPECT_EQ(described_by_metadata(other), Description{}) << other;
}

TEST(Written, PointersOfTritonAreKnownByTheirMark) {
    const auto guessed = guess_launch({kAdd, "add_kernel.ptx", "", ""}, {});
    ASSERT_TRUE(guessed) << guessed.error().message;
    EXPECT_EQ(guessed->problem, "");
    const Launch& launch = guessed->plan.launch;
    EXPECT_EQ(launch.block, (Dim3{32, 1, 1}));
    ASSERT_EQ(launch.arrays.size(), 3u);
    for (const Array& array : launch.arrays) EXPECT_EQ(array.type, ElementType::F32);
    EXPECT_EQ(launch.arrays[2].role, ArrayRole::Output);
    EXPECT_EQ(launch.arguments[4].array, -1);
    EXPECT_EQ(launch.arguments[5].value, 0u);
}

// out[c,r] = x[r,c] + x[r,c] of tiles of 32 by 32, of which a thread has two elements. Value and address of the first
// go to other lanes through shared memory, as Triton exchanges them.
constexpr const char* kTiles = R"(
.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 16 .b8 global_smem[];
.visible .entry tiles(
	.param .u64 .ptr .global .align 1 tiles_param_0,
	.param .u64 .ptr .global .align 1 tiles_param_1,
	.param .u32 tiles_param_2,
	.param .u32 tiles_param_3
)
.reqntid 32
{
	.reg .b32 %r<29>;
	.reg .b64 %rd<19>;
	ld.param.b64 %rd1, [tiles_param_0];
	ld.param.b64 %rd2, [tiles_param_1];
	ld.param.b32 %r1, [tiles_param_2];
	ld.param.b32 %r2, [tiles_param_3];
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ctaid.y;
	mov.u32 %r5, %tid.x;
	shl.b32 %r6, %r3, 5;
	add.s32 %r7, %r6, %r5;
	shl.b32 %r8, %r4, 5;
	add.s32 %r9, %r8, 31;
	mad.lo.s32 %r10, %r7, %r2, %r8;
	mul.wide.s32 %rd3, %r10, 4;
	add.s64 %rd4, %rd1, %rd3;
	ld.global.b32 %r11, [%rd4];
	add.f32 %r12, %r11, %r11;
	mad.lo.s32 %r13, %r8, %r1, %r7;
	mul.wide.s32 %rd5, %r13, 4;
	add.s64 %rd6, %rd2, %rd5;
	mov.b32 %r14, global_smem;
	shl.b32 %r15, %r5, 4;
	add.s32 %r16, %r14, %r15;
	st.shared.b64 [%r16], %rd6;
	st.shared.b32 [%r16+8], %r12;
	bar.sync 0;
	ld.shared.b64 %rd7, [%r16];
	ld.shared.b32 %r17, [%r16+8];
	st.global.b32 [%rd7], %r17;
	mad.lo.s32 %r18, %r9, %r1, %r7;
	mul.wide.s32 %rd8, %r18, 4;
	add.s64 %rd9, %rd2, %rd8;
	st.global.b32 [%rd9], %r17;
	ret;
}
)";

TEST(Written, TilesAndWhatGoesThroughSharedMemoryAreGuessed) {
    const auto guessed = guess_launch({kTiles, "tiles.ptx", "", ""}, {});
    ASSERT_TRUE(guessed) << guessed.error().message;
    EXPECT_EQ(guessed->problem, "");
    const Launch& launch = guessed->plan.launch;
    EXPECT_EQ(launch.grid, (Dim3{2, 2, 1})) << "64 x 64 in tiles of 32 x 32";
    ASSERT_EQ(launch.arrays.size(), 2u);
    EXPECT_EQ(launch.arrays[1].role, ArrayRole::Output);
    EXPECT_EQ(launch.arrays[1].type, ElementType::F32);
    EXPECT_EQ(launch.arrays[1].elements(), 64u * 64u);
}

}  // namespace
}  // namespace tilescope::kernels
