// A kernel with atomic operations is refused, whatever would record it: nothing is left out in silence.
#include <gtest/gtest.h>

#include "kernels/run/ready.h"
#include "kernels/run/record.h"
#include "kernels/textbook/reference.h"

namespace tilescope::kernels {
namespace {

constexpr uint64_t kMemory = 1'000'000'000;

// The shipped kernel with one instruction more before its last.
TextbookPlan with(const std::string& instruction) {
    auto made = plan("untiled", {8, 8, 8, 4});
    EXPECT_TRUE(made);
    const size_t at = made->ptx.rfind("ret;");
    EXPECT_NE(at, std::string::npos);
    made->ptx.insert(at, instruction + "\n");
    return *made;
}

TEST(Atomics, AreRefusedBeforeAnythingRuns) {
    for (const auto& [instruction, name] : {std::pair{"red.global.add.u32 [%rd1], 1;", "red"},
                                            std::pair{"atom.global.add.u32 %r1, [%rd1], 1;", "atom"},
                                            std::pair{"red.shared.add.u32 [%r1], 1;", "red"}}) {
        const TextbookPlan changed = with(instruction);
        const auto ready = make_ready(changed, kMemory, "a test");  // what both backends begin with
        ASSERT_FALSE(ready) << instruction;
        const std::string& said = ready.error().message;
        EXPECT_NE(said.find(std::string("kernel untiled updates memory with ") + name), std::string::npos)
            << said;
        EXPECT_NE(said.find("not recorded yet"), std::string::npos) << said;
        const auto trace = record_cpu(changed, {});
        ASSERT_FALSE(trace);
        EXPECT_EQ(trace.error().message, said);
    }
}

TEST(Atomics, AreWhatIsRefused) { EXPECT_TRUE(make_ready(with("bar.sync 0;"), kMemory, "a test")); }

}  // namespace
}  // namespace tilescope::kernels
