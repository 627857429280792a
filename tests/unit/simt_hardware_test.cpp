// The interpreter's arithmetic against a real GPU's: tests/data/hardware/arithmetic.txt holds what an H200
// gave for special values (zeros, infinities, NaNs, subnormals, ends of integer ranges) through the PTX
// instructions named there (tests/gpu/probes). Every result must be equal, bit for bit.
#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "core/simt/interpreter.h"
#include "tests/launches.h"

namespace tilescope::simt {
namespace {

constexpr uint64_t kArgumentA = 0x10000, kArgumentB = 0x20000, kArgumentOut = 0x30000;

struct Shape {
    int operands = 2;
    const char* in = "f32";
    const char* out = "f32";
};

Shape shape_of(const std::string& op) {
    if (op.starts_with("cvt.rzi.f32") || op == "cvt.rni.f32.f32") return {1, "f32", "f32"};
    if (op.starts_with("cvt.rzi.s32") || op.starts_with("cvt.rni.s32") || op.starts_with("cvt.rzi.u32"))
        return {1, "f32", "b32"};
    if (op.starts_with("cvt.rzi.u64") || op.starts_with("cvt.rzi.s64")) return {1, "f32", "b64"};
    if (op.starts_with("cvt.f64")) return {1, "f32", "f64"};
    if (op.starts_with("neg") || op.starts_with("abs") || op.starts_with("sqrt") || op.starts_with("rcp"))
        return {1, "f32", "f32"};
    if (op.ends_with("f32")) return {2, "f32", "f32"};
    return {2, "b32", "b32"};
}

// One thread an element: out[i] = op(a[i], b[i]); fma takes b twice, as the probe does.
std::string ptx_for(const std::string& op, const Shape& shape) {
    const std::string in = shape.in, out = shape.out;
    const int bytes = out.ends_with("64") ? 8 : 4;
    std::string text =
        R"ptx(.version 6.0
.target sm_70
.address_size 64
.visible .entry probe(
.param .u64 probe_param_0,
.param .u64 probe_param_1,
.param .u64 probe_param_2
)
{
)ptx";
    text += ".reg .b64 %rd<8>;\n.reg .b32 %r<4>;\n.reg ." + in + " %a;\n.reg ." + in + " %b;\n.reg ." + out +
            " %o;\n";
    text +=
        R"ptx(ld.param.u64 %rd1, [probe_param_0];
ld.param.u64 %rd2, [probe_param_1];
ld.param.u64 %rd3, [probe_param_2];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd4, %r1, 4;
add.s64 %rd5, %rd1, %rd4;
add.s64 %rd6, %rd2, %rd4;
)ptx";
    text += "mul.wide.u32 %rd7, %r1, " + std::to_string(bytes) + ";\nadd.s64 %rd7, %rd3, %rd7;\n";
    text += "ld.global." + in + " %a, [%rd5];\nld.global." + in + " %b, [%rd6];\n";
    text +=
        op + " %o, %a" + (shape.operands == 2 ? ", %b" : "") + (op.starts_with("fma") ? ", %b" : "") + ";\n";
    text += "st.global." + out + " [%rd7], %o;\nret;\n}\n";
    return text;
}

Buffer buffer_of(const char* name, uint64_t base, const std::vector<uint32_t>& words, size_t bytes) {
    Buffer buffer{name, base, Bytes(bytes)};
    if (!words.empty()) std::memcpy(buffer.bytes.data(), words.data(), std::min(bytes, words.size() * 4));
    return buffer;
}

TEST(ArithmeticHardware, EveryResultIsTheGpusBitForBit) {
    std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/data/hardware/arithmetic.txt");
    ASSERT_TRUE(file) << "tests/data/hardware/arithmetic.txt is missing";
    std::map<std::string, std::vector<uint32_t>> operands;
    int ops = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream in(line);
        std::string op;
        in >> op >> std::hex;
        std::vector<uint64_t> numbers;
        for (uint64_t x = 0; in >> x;) numbers.push_back(x);
        if (op == "float" || op == "int") {
            operands[op].assign(numbers.begin(), numbers.end());
            continue;
        }
        const Shape shape = shape_of(op);
        const auto& v = operands[std::string(shape.in) == "f32" ? "float" : "int"];
        const size_t n = v.size();
        std::vector<uint32_t> a, b;
        for (size_t i = 0; i < numbers.size(); ++i) {
            a.push_back(shape.operands == 2 ? v[i / n] : v[i]);
            b.push_back(shape.operands == 2 ? v[i % n] : 0);
        }
        const std::string text = ptx_for(op, shape);
        const auto module = ptx::parse(text, op);
        ASSERT_TRUE(module) << module.error().message;
        const auto program = prepare(*module, "probe");
        ASSERT_TRUE(program) << program.error().message;
        const size_t width = std::string(shape.out).ends_with("64") ? 8 : 4;
        GlobalMemory memory;
        memory.buffers = {buffer_of("a", kArgumentA, a, a.size() * 4),
                          buffer_of("b", kArgumentB, b, b.size() * 4),
                          buffer_of("out", kArgumentOut, {}, a.size() * width)};
        Launch launch;
        launch.block = {static_cast<uint32_t>(a.size()), 1, 1};
        launch.arguments = test_arguments({kArgumentA, kArgumentB, kArgumentOut});
        const auto outcome = run(**program, launch, memory, {}, [](const BlockId&) { return nullptr; });
        ASSERT_TRUE(outcome) << outcome.error().message;
        ASSERT_TRUE(outcome->complete) << op;
        for (size_t i = 0; i < numbers.size(); ++i) {
            uint64_t got = 0;
            std::memcpy(&got, memory.buffers[2].bytes.data() + i * width, width);
            EXPECT_EQ(got, numbers[i]) << std::hex << op << " " << a[i] << " " << b[i] << ": got " << got
                                       << ", the GPU gave " << numbers[i];
        }
        ++ops;
    }
    EXPECT_EQ(ops, 28);
}

}  // namespace
}  // namespace tilescope::simt
