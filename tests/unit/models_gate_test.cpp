// Barriers as gates: who has come at a step, against a slow count; and what an older GPU makes of a request.
#include <bit>
#include <set>

#include <fmt/format.h>

#include "app/look/older.h"
#include "app/look/timeline.h"
#include "app/step/model.h"
#include "core/analysis/addresses.h"
#include "tests/clocked.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

// Counted anew from the first step: how many barriers each warp has come to up to a step.
std::vector<uint32_t> arrivals_until(const Recorded& made, uint32_t step) {
    std::vector<uint32_t> of(made.index->warps, 0);
    for (uint32_t at = 0; at <= step; ++at)
        if (look::kind_of(*made.trace, made.index->first + at) == analysis::StepKind::Barrier)
            ++of[made.trace->warp_of(made.index->first + at)];
    return of;
}

TEST(Gate, HoldsTheWarpsThatHaveCome) {
    for (const bool clocks : {false, true}) {
        trace::Trace trace = kernels::recorded("tiled", {16, 16, 16, 16});
        const Recorded made = replayed(clocks ? trace::with_clocks(trace) : trace);
        uint32_t closed = 0, open = 0;
        for (uint32_t step = 0; step < made.index->steps; ++step) {
            const std::vector<uint32_t> now = arrivals_until(made, step);
            const std::vector<uint32_t> before =
                step == 0 ? std::vector<uint32_t>(now.size(), 0) : arrivals_until(made, step - 1);
            const uint32_t passed = std::ranges::min(before);  // barriers complete before this step
            const auto come =
                static_cast<uint32_t>(std::ranges::count_if(now, [&](uint32_t n) { return n > passed; }));
            const auto gate = look::gate_at(*made.trace, *made.index, step);
            ASSERT_EQ(gate.has_value(), come > 0) << step;
            if (!gate) continue;
            EXPECT_EQ(gate->number, passed);
            EXPECT_EQ(gate->held, come);
            EXPECT_EQ(gate->open, come == now.size());
            ASSERT_EQ(gate->warps.size(), now.size());
            for (uint32_t warp = 0; warp < now.size(); ++warp) {
                EXPECT_EQ(gate->warps[warp].warp, warp);
                EXPECT_EQ(gate->warps[warp].held, now[warp] > passed);
            }
            ++(gate->open ? open : closed);
        }
        EXPECT_EQ(open, made.index->phases.barriers);
        EXPECT_GT(closed, open);
    }
}

TEST(Gate, IsNotThereForOneWarpOrWithoutBarriers) {
    for (const Recorded& made : {record("tiled", {4, 4, 4, 2}), record("untiled", {16, 16, 16, 16})})
        for (uint32_t step = 0; step < made.index->steps; ++step)
            EXPECT_FALSE(look::gate_at(*made.trace, *made.index, step));
    const Recorded single = record("tiled", {4, 4, 4, 2});
    EXPECT_EQ(look::order_words(*single.trace, *single.index), "");
}

TEST(Gate, SaysWhetherWarpsComeInAnOrder) {
    const Recorded cpu = record("tiled", {16, 16, 16, 16});
    EXPECT_EQ(look::order_words(*cpu.trace, *cpu.index),
              "On a CPU warps take turns; CUDA promises no order among them.");
    const Recorded gpu = replayed(trace::with_clocks(*cpu.trace));
    std::set<uint32_t> last;
    for (const auto& barrier : gpu.index->barriers) last.insert(barrier.last_warp);
    ASSERT_GT(last.size(), 1u);
    EXPECT_EQ(look::order_words(*gpu.trace, *gpu.index),
              fmt::format("{} different warps come last at the {} barriers; CUDA promises no order.",
                          last.size(), gpu.index->barriers.size()));
}

TEST(Formula, GivesTheElementThatTheThreadStores) {
    for (const char* kernel : {"tiled", "untiled_swapped"})
        for (const uint32_t block : {0u, 1u, 3u}) {
            const Recorded made = record(kernel, {16, 16, 32, 8}, block);
            const auto& product = *made.index->product;
            const auto mapping = analysis::mapping_of(*made.trace, product);
            ASSERT_TRUE(mapping);
            for (const uint32_t thread : {0u, 5u, 19u, 63u}) {
                const auto words = step::index_formula(*mapping, product, made.trace->blocks[block], thread);
                const auto output = look::output_of(*made.index, thread);
                ASSERT_TRUE(output);
                ASSERT_EQ(words.size(), 2u);
                EXPECT_TRUE(words[0].ends_with(fmt::format(" = {}", output->index / product.n))) << words[0];
                EXPECT_TRUE(words[1].ends_with(fmt::format(" = {}", output->index % product.n))) << words[1];
            }
        }
    const Recorded made = record("tiled", {16, 16, 32, 8}, 1);  // block (1,0)
    const auto& product = *made.index->product;
    EXPECT_EQ(
        step::index_formula(*analysis::mapping_of(*made.trace, product), product, made.trace->blocks[1], 19),
        (std::vector<std::string>{"Row = by\u00b7T + ty = 0\u00b78 + 2 = 2",
                                  "Col = bx\u00b7T + tx = 1\u00b78 + 3 = 11"}));
}

// Every active lane is served once, by a transaction that holds its bytes; used bytes are those asked for.
TEST(Older, TransactionsServeEveryLane) {
    for (const char* kernel : {"untiled", "untiled_swapped", "tiled"}) {
        const Recorded made = record(kernel, {40, 40, 40, 8});
        uint32_t seen = 0;
        for (uint32_t step = 0; step < made.index->steps; ++step)
            for (const auto gpu : {look::OlderGpu::G80, look::OlderGpu::Gt200}) {
                const auto view = look::older_view(*made.trace, *made.index, step, gpu);
                const auto kind = look::kind_of(*made.trace, made.index->first + step);
                ASSERT_EQ(view.has_value(),
                          kind == analysis::StepKind::GlobalLoad || kind == analysis::StepKind::GlobalStore);
                if (!view) continue;
                ++seen;
                const trace::Access access = trace::decode(*made.trace, made.index->first + step);
                uint32_t served = 0;
                for (const auto& of : view->transactions) {
                    EXPECT_EQ(served & of.lanes, 0u);
                    served |= of.lanes;
                    EXPECT_EQ(of.lanes & 0xFFFFu, (of.lanes >> 16) != 0 ? 0u : of.lanes)
                        << "of one half warp";
                    std::set<uint64_t> words;
                    for_lanes(of.lanes, [&](uint32_t lane) {
                        const auto from = static_cast<int64_t>(access.offset[lane]);
                        words.insert(access.offset[lane]);
                        EXPECT_TRUE(from >= of.offset && from + 4 <= of.offset + of.bytes);
                    });
                    EXPECT_EQ(of.used, words.size() * 4);
                }
                EXPECT_EQ(served, access.mask);
            }
        EXPECT_GT(seen, 0u);
    }
    EXPECT_FALSE(look::older_view(*record("tiled", {4, 4, 4, 2}).trace, *record("tiled", {4, 4, 4, 2}).index,
                                  UINT32_MAX, look::OlderGpu::G80));
}

}  // namespace
}  // namespace tilescope::app
