// Every recording that ships, from a real GPU or of an example program, against a CPU recording of the same
// launch made now.
#include <cctype>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/recording/product.h"
#include "kernels/run/record.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/shipped.h"
#include "tests/recorded.h"
#include "tests/same_accesses.h"

namespace tilescope::kernels {
namespace {

class ShippedRecordings : public testing::TestWithParam<std::string> {};

TEST_P(ShippedRecordings, HoldWhatACpuRecordsOfTheSameLaunch) {
    const ShippedRecording& entry = *find_shipped_recording(GetParam());
    const auto shipped = open_shipped(entry);
    ASSERT_TRUE(shipped) << shipped.error().message;
    const trace::Meta& meta = shipped->meta;
    // Of the CPU are those alone whose command says so.
    const bool gpu = entry.command.find("--backend cpu") == std::string::npos;
    EXPECT_EQ(meta.backend, gpu ? trace::Backend::Gpu : trace::Backend::Cpu);
    EXPECT_EQ(entry.label.find("CPU") == std::string::npos, gpu) << entry.label;
    EXPECT_EQ(meta.kernel, entry.kernel);
    if (entry.tile == 0) {  // of a program: recorded on the CPU, whole but where it is made to go wrong
        EXPECT_EQ(meta.complete, entry.name != "barrier_condition") << meta.incomplete_reason;
        const auto again = record_cpu(plan_of(*shipped), {});
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_EQ(trace::first_difference(*shipped, *again), "");
        return;
    }
    const auto product = analysis::product_of(*shipped);
    ASSERT_TRUE(product);
    EXPECT_EQ((std::vector{product->m, product->k, product->n, product->tile}),
              (std::vector{entry.m, entry.k, entry.n, entry.tile}));
    EXPECT_EQ(meta.device, entry.device);
    if (!meta.driver.empty())  // not every machine lets the program read it
        EXPECT_EQ(meta.driver, entry.driver);
    EXPECT_TRUE(meta.complete) << meta.incomplete_reason;
    EXPECT_EQ(trace::dropped_of(*shipped), 0u);
    if (gpu) EXPECT_EQ(shipped->time.size(), shipped->steps()) << "a clock for every step";
    if (!made_wrong(meta.kernel))
        EXPECT_TRUE(meta.result.verified) << meta.result.wrong << " elements are wrong";

    // The trace's own PTX, so that a recording stays good when the PTX that ships is made anew.
    Plan plan = plan_of(*shipped);
    plan.schedule = find(meta.kernel)->default_schedule;
    RecordOptions options;
    options.window = meta.window;
    const auto again = record_cpu(plan, options);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(trace::first_difference(*shipped, *again), "");
}

std::vector<std::string> names_of_shipped() {
    std::vector<std::string> list;
    for (const ShippedRecording& recording : shipped_recordings()) list.push_back(recording.name);
    return list;
}

std::string as_identifier(const testing::TestParamInfo<std::string>& parameter) {
    std::string name = parameter.param;
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(Assets, ShippedRecordings, testing::ValuesIn(names_of_shipped()), as_identifier);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ShippedRecordings);

}  // namespace
}  // namespace tilescope::kernels
