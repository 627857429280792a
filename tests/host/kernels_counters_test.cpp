// Sums of recordings made now, against what an NVIDIA GPU's hardware counted in the same launches
// (assets/counters): so that a machine without a GPU holds the model to the hardware too.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/analysis/summary.h"
#include "kernels/run/record.h"
#include "kernels/textbook/reference.h"
#include "kernels/textbook/shipped.h"
#include "tests/opened.h"
#include "tests/recorded.h"

namespace tilescope::kernels {
namespace {

using analysis::StepKind;

struct GlobalSums {
    analysis::Sums load, store;
};

GlobalSums sums_of(const TextbookPlan& plan, const BlockWindow& window) {
    RecordOptions options;
    options.window = window;
    options.timestamp = false;
    const auto trace = record_cpu(plan, options);
    EXPECT_TRUE(trace) << trace.error().message;
    const auto summary = analysis::summarize(*trace);
    EXPECT_TRUE(summary) << summary.error().message;
    return {(*summary)[StepKind::GlobalLoad], (*summary)[StepKind::GlobalStore]};
}

void add(analysis::Sums& total, const analysis::Sums& sums, uint64_t times) {
    total.requests += times * sums.requests;
    total.sectors += times * sums.sectors;
    total.lanes += times * sums.lanes;
}

// Requests, sectors and lanes of the whole grid, from one block a class: blocks cost the same but in the
// last column and the last row, for T a multiple of 8 (tests/gpu/grid_sums.py says why).
// Other grids are small and recorded whole.
GlobalSums grid_sums(const TextbookPlan& plan) {
    if (plan.shape.tile % 8 != 0) return sums_of(plan, {});
    GlobalSums total;
    const uint32_t x_last = plan.launch.grid.x - 1, y_last = plan.launch.grid.y - 1;
    for (const auto& [x, columns] : {std::pair{0u, x_last}, std::pair{x_last, 1u}})
        for (const auto& [y, rows] : {std::pair{0u, y_last}, std::pair{y_last, 1u}}) {
            if (columns == 0 || rows == 0) continue;
            const GlobalSums block = sums_of(plan, {x, x + 1, y, y + 1});
            add(total.load, block.load, uint64_t{columns} * rows);
            add(total.store, block.store, uint64_t{columns} * rows);
        }
    return total;
}

TEST(GridSums, AreThoseOfAllBlocks) {
    for (const KernelInfo& kernel : kernels_with_tile_width())
        for (const Shape& shape : {Shape{64, 48, 80, 16}, Shape{50, 37, 29, 8}, Shape{8, 8, 8, 8}}) {
            SCOPED_TRACE(kernel.name + " T=" + std::to_string(shape.tile));
            const auto sized = plan(kernel.name, shape);
            const GlobalSums all = sums_of(*sized, {}), classes = grid_sums(*sized);
            EXPECT_EQ(classes.load.requests, all.load.requests);
            EXPECT_EQ(classes.load.sectors, all.load.sectors);
            EXPECT_EQ(classes.load.lanes, all.load.lanes);
            EXPECT_EQ(classes.store.requests, all.store.requests);
            EXPECT_EQ(classes.store.sectors, all.store.sectors);
            EXPECT_EQ(classes.store.lanes, all.store.lanes);
        }
}

std::vector<std::pair<std::string, CounterRow>> rows() {
    std::vector<std::pair<std::string, CounterRow>> list;
    for (const Counters& counters : shipped_counters())
        for (const CounterRow& row : counters.rows) {
            std::string name = fmt::format("{}_{}_{}x{}x{}_t{}_{}", counters.device, row.kernel, row.m, row.k,
                                           row.n, row.tile, row.ptx);
            for (char& c : name)
                if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
            list.emplace_back(name, row);
        }
    return list;
}

TEST(HardwareCountersFiles, HoldTwelveLaunchesOrMore) {
    for (const Counters& counters : shipped_counters()) {
        EXPECT_GE(counters.rows.size(), 12u) << counters.device;
        EXPECT_FALSE(counters.driver.empty());
        EXPECT_FALSE(counters.tool.empty());
        EXPECT_FALSE(counters.date.empty());
        EXPECT_FALSE(counters.command.empty());
    }
}

class HardwareCounters : public testing::TestWithParam<std::string> {};

TEST_P(HardwareCounters, AreTheSumsOfARecording) {
    const auto list = rows();
    const auto at =
        std::find_if(list.begin(), list.end(), [](const auto& named) { return named.first == GetParam(); });
    ASSERT_NE(at, list.end());
    const CounterRow& row = at->second;
    const auto sized = plan(row.kernel, {row.m, row.k, row.n, row.tile});
    ASSERT_TRUE(sized) << sized.error().message;
    const GlobalSums sums = grid_sums(*sized);
    for (const auto& [op, of] : {std::pair{"ld", sums.load}, std::pair{"st", sums.store}}) {
        const double* requests =
            find_counter(row, fmt::format("l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", op));
        const double* sectors =
            find_counter(row, fmt::format("l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum", op));
        ASSERT_TRUE(requests && sectors) << op;
        EXPECT_EQ(static_cast<double>(of.requests), *requests) << op;
        EXPECT_EQ(static_cast<double>(of.sectors), *sectors) << op;
    }
}

std::vector<std::string> names_of_rows() {
    std::vector<std::string> list;
    for (auto& [name, row] : rows()) list.push_back(name);
    return list;
}

INSTANTIATE_TEST_SUITE_P(Assets, HardwareCounters, testing::ValuesIn(names_of_rows()),
                         [](const auto& parameter) { return parameter.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HardwareCounters);

// The script that makes assets/counters needs a GPU; what it makes of its tools' output does not.
TEST(CountersScript, ReadsWhatItsToolsPrint) {
    EXPECT_EQ(std::system("python3 -B '" TILESCOPE_SOURCE_DIR "/tests/gpu/counters_test.py' 2>&1"), 0);
}

}  // namespace
}  // namespace tilescope::kernels
