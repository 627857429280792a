// Kernels that store through pointers from memory are told from those that store at indices from memory.
#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "kernels/capture/loaded_pointers.h"

namespace tilescope::capture {
namespace {

bool stores_so(const std::string& body) {
    const auto module = ptx::parse(
        ".version 7.0\n.target sm_70\n.address_size 64\n.global .align 8 .b64 where;\n"
        ".visible .entry k(.param .u64 a, .param .align 8 .b8 s[16])\n{\n.reg .b32 %r<8>;\n.reg .b64 "
        "%rd<8>;\n"
        ".shared .align 8 .b8 kept[64];\n"
        "ld.param.u64 %rd1, [a];\n" +
            body + "ret;\n}\n",
        "k.ptx");
    EXPECT_TRUE(module) << (module ? "" : module.error().message);
    return module && stores_through_loaded_pointers(*ptx::find_kernel(*module, "k"));
}

TEST(CapturePointers, OnesFromMemoryAreSeen) {
    EXPECT_TRUE(stores_so("ld.global.u64 %rd2, [%rd1];\nst.global.u32 [%rd2+4], %r1;\n"));
    EXPECT_TRUE(
        stores_so("ld.global.u64 %rd2, [%rd1];\nadd.s64 %rd3, %rd2, 8;\ncvta.to.global.u64 %rd4, %rd3;\n"
                  "atom.global.add.u32 %r1, [%rd4], 1;\n"));
    EXPECT_TRUE(stores_so("ld.global.u64 %rd2, [where];\nred.global.add.u32 [%rd2], 1;\n"));
    EXPECT_TRUE(
        stores_so("ld.global.v2.u32 {%r1, %r2}, [%rd1];\nmov.b64 %rd2, {%r1, %r2};\nst.u32 [%rd2], %r1;\n"));
    EXPECT_TRUE(
        stores_so("ld.global.u64 %rd2, [%rd1];\nst.shared.u64 [kept], %rd2;\nld.shared.u64 %rd3, [kept];\n"
                  "st.global.u32 [%rd3], %r1;\n"));
}

TEST(CapturePointers, IndicesFromMemoryAreNone) {
    EXPECT_FALSE(stores_so("st.global.u32 [%rd1], %r1;\n"));
    EXPECT_FALSE(stores_so("ld.param.u64 %rd2, [s+8];\nst.global.u32 [%rd2], %r1;\n"));
    EXPECT_FALSE(
        stores_so("ld.global.u32 %r1, [%rd1];\nmul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                  "st.global.u32 [%rd3], %r1;\n"));
    EXPECT_FALSE(stores_so("ld.global.u64 %rd2, [%rd1];\nst.global.u64 [where], %rd2;\n"));
    EXPECT_FALSE(
        stores_so("ld.global.u64 %rd2, [%rd1];\nld.global.u32 %r1, [%rd2];\nst.global.u32 [%rd1], %r1;\n"));
    EXPECT_FALSE(
        stores_so("st.shared.u64 [kept], %rd1;\nld.shared.u64 %rd3, [kept];\nst.global.u32 [%rd3], %r1;\n"));
}

}  // namespace
}  // namespace tilescope::capture
