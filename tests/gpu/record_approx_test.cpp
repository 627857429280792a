// The approximate functions on a real GPU: within the errors that the PTX ISA states, which the interpreter
// keeps too, but for what ApproxFunction::of_a_gpu says of a GPU; and never further apart from the
// interpreter's than those errors allow of two results.
#include <fmt/format.h>

#include "tests/approx_functions.h"
#include "tests/gpu/record_driver.h"
#include "tests/unit/simt_lanes_check.h"

namespace tilescope::gpu {
namespace {

// d[i] = the function of a[i] and b[i], a thread an element.
std::string kernel_of(const std::string& line) {
    std::string ptx = R"(
.version 7.0
.target sm_75
.address_size 64

.visible .entry approx(.param .u64 d, .param .u64 a, .param .u64 b, .param .u32 n) {
    .reg .pred %out;
    .reg .b32 %i, %n, %size, %block;
    .reg .b64 %d, %a, %b, %offset;
    .reg .f32 %D, %A, %B;
    ld.param.u64 %d, [d];
    ld.param.u64 %a, [a];
    ld.param.u64 %b, [b];
    ld.param.u32 %n, [n];
    mov.u32 %block, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %i, %tid.x;
    mad.lo.u32 %i, %block, %size, %i;
    setp.ge.u32 %out, %i, %n;
    @%out ret;
    mul.wide.u32 %offset, %i, 4;
    add.u64 %d, %d, %offset;
    add.u64 %a, %a, %offset;
    add.u64 %b, %b, %offset;
    ld.global.f32 %A, [%a];
    ld.global.f32 %B, [%b];
)";
    return ptx + "    " + line + "\n    st.global.f32 [%d], %D;\n    ret;\n}\n";
}

float by_interpreter(const std::string& line, uint32_t a, uint32_t b) {
    using namespace simt;
    const LaneOp op =
        find_lane_op(test::instruction_of(line, "f32", "f32", "f32", "f32"), LaneVersion::Portable);
    test::Column A{}, B{}, D{}, E{};
    A.set(4, 0, a), B.set(4, 0, b);
    op.full(D.bytes, E.bytes, A.bytes, B.bytes, A.bytes, ~0u);
    return std::bit_cast<float>(static_cast<uint32_t>(D.get(4, 0)));
}

class RecordApprox : public RecordDriver {};

TEST_F(RecordApprox, TheDeviceAndTheInterpreterKeepTheManualsErrors) {
    for (const ApproxFunction& function : approx_functions()) {
        const std::vector<uint32_t> a = function.operands(), b(a.rbegin(), a.rend());
        const auto count = static_cast<uint32_t>(a.size());
        const Memory to = words(count), first = words(count), second = words(count);
        ASSERT_TRUE(device->upload(first, 0, a.data(), count * 4));
        ASSERT_TRUE(device->upload(second, 0, b.data(), count * 4));
        const auto kernel = device->load(kernel_of(function.line), "approx.ptx", "approx");
        ASSERT_TRUE(kernel) << function.line << ": " << kernel.error().message;
        const auto time = device->launch(*kernel, {(count + 255) / 256}, {256},
                                         {to.address(), first.address(), second.address(), count});
        ASSERT_TRUE(time) << time.error().message;
        std::vector<float> got(count);
        ASSERT_TRUE(device->download(got.data(), to, 0, count * 4));
        size_t same = 0;
        long double farthest = 0;  // from the exact result, as a share of what is allowed
        for (uint32_t i = 0; i < count; ++i) {
            const long double want = function.exact(std::bit_cast<float>(a[i]), std::bit_cast<float>(b[i]));
            const long double stated = function.allowed(want), allowed = stated * function.of_a_gpu;
            const long double off = std::abs(got[i] - want);
            const float ours = by_interpreter(function.line, a[i], b[i]);
            ASSERT_LE(off, allowed) << function.line << " of " << std::bit_cast<float>(a[i]);
            ASSERT_LE(std::abs(static_cast<long double>(got[i]) - ours),
                      allowed + function.allowed_to_us(want))
                << function.line;
            same += got[i] == ours;
            farthest = std::max(farthest, stated > 0 ? off / stated : 0);
        }
        fmt::print("{:<34} {} of {} the same as the interpreter's, at most {:.2f} of the stated error\n",
                   function.line, same, count, static_cast<double>(farthest));
    }
}

}  // namespace
}  // namespace tilescope::gpu
