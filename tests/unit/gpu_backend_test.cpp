// The choice of the backend, as far as it needs no GPU: nothing here depends on whether there is one.
#include <gtest/gtest.h>

#include "kernels/gpu/backend.h"
#include "kernels/gpu/record_gpu.h"
#include "kernels/run/record.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::gpu {
namespace {

kernels::TextbookPlan lecture() { return *kernels::plan("tiled", {4, 4, 4, 2}); }

TEST(Backend, HasNames) {
    EXPECT_EQ(backend_of("auto"), BackendChoice::Auto);
    EXPECT_EQ(backend_of("cpu"), BackendChoice::Cpu);
    EXPECT_EQ(backend_of("gpu"), BackendChoice::Gpu);
    EXPECT_EQ(backend_of("GPU"), std::nullopt);
    EXPECT_EQ(backend_of(""), std::nullopt);
}

TEST(Backend, OfTheCpuRecordsWhatTheCpuRecords) {
    GpuRecordOptions options;
    options.common.timestamp = false;
    std::string said;
    const auto trace = record(lecture(), options, BackendChoice::Cpu, said);
    const auto expected = kernels::record_cpu(lecture(), options.common);
    ASSERT_TRUE(trace);
    ASSERT_TRUE(expected);
    EXPECT_EQ(trace->key, expected->key);
    EXPECT_EQ(trace->base, expected->base);
    EXPECT_EQ(trace->meta.backend, trace::Backend::Cpu);
    EXPECT_EQ(said, "on the CPU, in lockstep");
}

TEST(Backend, TakesAChosenOrderOfWarpsToTheCpu) {
    GpuRecordOptions options;
    options.common.schedule = Schedule{Schedule::Kind::Greedy, 0};
    std::string said;
    const auto trace = record(lecture(), options, BackendChoice::Auto, said);
    ASSERT_TRUE(trace);
    EXPECT_EQ(trace->meta.backend, trace::Backend::Cpu);
    EXPECT_EQ(trace->meta.schedule, *options.common.schedule);
    const auto refused = record(lecture(), options, BackendChoice::Gpu, said);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("order of warps"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace tilescope::gpu
