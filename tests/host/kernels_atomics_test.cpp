// Kernels with atomics, local and constant memory: recorded, kept in files, run again with the values that
// were there, counted, judged and exported.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/analysis/summary.h"
#include "core/export/report.h"
#include "core/export/requests.h"
#include "core/hazards/hazards.h"
#include "core/playback/replay.h"
#include "core/trace/file.h"
#include "core/trace/format.h"
#include "kernels/run/record.h"
#include "tests/launch_examples.h"
#include "tests/opened.h"
#include "tests/unit/trace_compare.h"

namespace tilescope::kernels {
namespace {

using analysis::StepKind;

int bin_of(size_t i) { return static_cast<int>(i * i % 37) & 7; }

// The steps of a site's kind and space, of the whole recording.
std::vector<uint64_t> steps_of(const trace::Trace& trace, ptx::SiteKind kind, Space space) {
    std::vector<uint64_t> steps;
    for (uint64_t step = 0; step < trace.steps(); ++step)
        if (trace.sites[trace.form_of(step).site].kind == kind && trace.form_of(step).space == space)
            steps.push_back(step);
    return steps;
}

// By block: every block replayed from the trace.
std::vector<playback::BlockReplay> replays(const trace::Trace& trace) {
    std::vector<playback::BlockReplay> all;
    auto replayer = Replayer::of(trace);
    EXPECT_TRUE(replayer) << (replayer ? "" : replayer.error().message);
    for (uint32_t block = 0; replayer && block < trace.blocks.size(); ++block) {
        all.emplace_back(trace, block);
        const auto ran = replayer->replay(trace, block, all.back());
        EXPECT_TRUE(ran) << (ran ? "" : ran.error().message);
        all.back().finish();
    }
    return all;
}

TEST(Atomics, CountAndAreRecorded) {
    simt::GlobalMemory after;
    const trace::Trace trace = recorded(bins(), 4, &after);
    ASSERT_TRUE(trace.meta.complete) << trace.meta.incomplete_reason;
    std::array<int, 8> wanted{};
    for (size_t i = 0; i < 300; ++i) ++wanted[static_cast<size_t>(bin_of(i))];
    const auto total = values_in<int32_t>(after, 1);
    EXPECT_TRUE(std::ranges::equal(total, wanted));
    // 10 warps with data add to shared memory; a warp of each block to the total, and one lane takes a
    // ticket.
    EXPECT_EQ(steps_of(trace, ptx::SiteKind::Atomic, Space::Shared).size(), 10u);
    EXPECT_EQ(steps_of(trace, ptx::SiteKind::Atomic, Space::Global).size(), 8u);
    EXPECT_EQ(trace.returned.size(), 4u * (8 + 1) * 4);
    const auto checked = trace::check(trace);
    EXPECT_TRUE(checked) << checked.error().message;
}

// The values that a block found are what the blocks before it had left, whichever order they ran in.
TEST(Atomics, RunAgainFindTheValuesThatWereThere) {
    for (const unsigned threads : {1u, 4u}) {
        const trace::Trace made = recorded(bins(), threads);
        const auto read = trace::deserialize(trace::serialize(made), "made");
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(read->returned, made.returned);
        const std::vector<playback::BlockReplay> replay = replays(*read);
        std::array<std::vector<int>, 9> found;  // of each word of total, and of the ticket
        int stores_of_last = 0;
        for (const uint64_t step : steps_of(*read, ptx::SiteKind::Atomic, Space::Global)) {
            const uint32_t block = trace::block_of(*read, step);
            const auto at = static_cast<uint32_t>(step - read->blocks[block].first);
            const trace::Access access = trace::decode(*read, step);
            for_lanes(access.mask, [&](uint32_t lane) {
                const auto left = static_cast<int>(replay[block].value(at, lane).bits);
                const auto before = static_cast<int>(replay[block].value(at, lane, 1).bits);
                const bool ticket = read->launch.arrays[access.array].name == "last";
                if (ticket) EXPECT_EQ(left, before + 1);
                found[ticket ? 8 : access.offset[lane] / 4].push_back(before);
                const auto state = replay[block].cell(access.array, access.offset[lane] / 4, at);
                EXPECT_TRUE(state.written);
                EXPECT_EQ(static_cast<int>(state.value.bits), left);
            });
        }
        std::ranges::sort(found[8]);
        EXPECT_EQ(found[8], (std::vector<int>{0, 1, 2, 3}));  // every ticket once
        for (const uint64_t step : steps_of(*read, ptx::SiteKind::Store, Space::Global)) {
            const uint32_t block = trace::block_of(*read, step);
            ++stores_of_last;
            EXPECT_EQ(replay[block].value(static_cast<uint32_t>(step - read->blocks[block].first), 0).bits,
                      read->blocks[block].x);
        }
        EXPECT_EQ(stores_of_last, 1);
    }
}

TEST(Atomics, AreCountedByTheirAddresses) {
    const trace::Trace trace = recorded(bins());
    const auto summary = analysis::summarize(trace);
    ASSERT_TRUE(summary) << summary.error().message;
    uint64_t addresses = 0, turns = 0;
    for (size_t warp = 0; warp * 32 < 300; ++warp) {
        std::array<uint64_t, 8> hits{};
        for (size_t i = warp * 32; i < std::min<size_t>(warp * 32 + 32, 300); ++i) ++hits[bin_of(i)];
        addresses += static_cast<uint64_t>(std::ranges::count_if(hits, [](uint64_t h) { return h > 0; }));
        turns += *std::ranges::max_element(hits);
    }
    EXPECT_EQ((*summary)[StepKind::SharedAtomic].requests, 10u);
    EXPECT_EQ((*summary)[StepKind::SharedAtomic].lanes, 300u);
    EXPECT_EQ((*summary)[StepKind::SharedAtomic].addresses, addresses);
    EXPECT_EQ((*summary)[StepKind::SharedAtomic].turns, turns);
    EXPECT_EQ((*summary)[StepKind::GlobalAtomic].addresses, 4u * 9);
    EXPECT_EQ((*summary)[StepKind::GlobalAtomic].turns, 8u);
    EXPECT_EQ((*summary)[StepKind::GlobalAtomic].sectors, 8u);
    const std::string text = report::to_text(trace, *summary);
    EXPECT_NE(text.find("atomics"), std::string::npos) << text;
    EXPECT_NE(text.find("shared atomic"), std::string::npos) << text;
    const auto json = nlohmann::json::parse(report::to_json(trace, *summary));
    EXPECT_EQ(json["totals"]["shared_atomic"]["turns"], turns);
    EXPECT_FALSE(json["totals"].contains("local_load"));
}

// Atomics do not race with one another, but with what is no atomic.
TEST(Atomics, DoNotRaceWithEachOther) {
    const trace::Trace trace = recorded(bins());
    const auto hazards = analysis::find_hazards(trace);
    ASSERT_TRUE(hazards) << hazards.error().message;
    for (const analysis::Hazard& hazard : hazards->found) ADD_FAILURE() << hazard.sentence;

    Plan plan = bins();
    const std::string barrier = "bar.sync \t0;";
    for (size_t at = plan.ptx.find(barrier); at != std::string::npos; at = plan.ptx.find(barrier, at))
        plan.ptx.replace(at, barrier.size(), "bar.warp.sync -1;");
    const auto without = analysis::find_hazards(recorded(plan));
    ASSERT_TRUE(without) << without.error().message;
    EXPECT_TRUE(std::ranges::any_of(without->found, [](const analysis::Hazard& hazard) {
        return hazard.kind == analysis::HazardKind::Race &&
               hazard.sentence.find("updates at line") != std::string::npos;
    })) << (without->found.empty() ? "none" : without->found[0].sentence);
}

TEST(Atomics, OnSharedMemoryThatNobodyFilledAreToldApart) {
    Plan plan = bins();
    const size_t zeroed = plan.ptx.find("st.shared.u32");
    ASSERT_NE(zeroed, std::string::npos);
    plan.ptx.replace(zeroed, plan.ptx.find(';', zeroed) + 1 - zeroed, "mov.u32 %r5, 0;");
    const auto hazards = analysis::find_hazards(recorded(plan));
    ASSERT_TRUE(hazards) << hazards.error().message;
    const auto found =
        std::ranges::find(hazards->found, analysis::HazardKind::Uninitialised, &analysis::Hazard::kind);
    ASSERT_NE(found, hazards->found.end());
    EXPECT_NE(found->sentence.find("updates at line"), std::string::npos) << found->sentence;
}

TEST(Spaces, LocalAndConstantMemoryAreCounted) {
    simt::GlobalMemory after;
    const trace::Trace trace = recorded(filter(), 1, &after);
    ASSERT_TRUE(trace.meta.complete) << trace.meta.incomplete_reason;
    const auto in = values_in<float>(after, 0), out = values_in<float>(after, 1);
    const float weights[] = {1, 2, 4, 2, 1};
    for (int i = 0; i < 70; ++i) {
        float sum = weights[i % 5];
        for (int k = 0; k < 5; ++k) sum += i + k >= 2 && i + k < 72 ? weights[k] * in[i + k - 2] : 0;
        EXPECT_EQ(out[i], sum) << i;
    }
    const auto summary = analysis::summarize(trace);
    ASSERT_TRUE(summary) << summary.error().message;
    // Five stores and five loads a warp, all lanes at one offset: four sectors each.
    EXPECT_EQ((*summary)[StepKind::LocalStore].requests, 15u);
    EXPECT_EQ((*summary)[StepKind::LocalStore].sectors, 60u);
    EXPECT_EQ((*summary)[StepKind::LocalLoad].sectors, (*summary)[StepKind::LocalLoad].ideal_sectors);
    // One load of five different weights, and five of one weight.
    EXPECT_EQ((*summary)[StepKind::ConstantLoad].requests, 18u);
    EXPECT_EQ((*summary)[StepKind::ConstantLoad].addresses, 3u * (5 + 5));
    const auto weights_array = std::ranges::find(trace.launch.arrays, Space::Const, &Array::space);
    ASSERT_NE(weights_array, trace.launch.arrays.end());
    EXPECT_EQ(weights_array->name, "weights");
    EXPECT_EQ(weights_array->cols, 5u);
    EXPECT_EQ(weights_array->type, ElementType::F32);

    const auto hazards = analysis::find_hazards(trace);
    ASSERT_TRUE(hazards);
    EXPECT_TRUE(hazards->found.empty()) << hazards->found[0].sentence;
    const auto read = trace::deserialize(trace::serialize(trace), "made");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(trace::same(*read, trace));
    EXPECT_EQ(replays(*read).size(), 3u);
}

TEST(Spaces, AreNamedInWhatIsExported) {
    const trace::Trace trace = recorded(filter());
    const auto rule = analysis::phase_rule(trace);
    ASSERT_TRUE(rule) << rule.error().message;
    std::string text;
    ASSERT_TRUE(report::write_trace_json(trace, *rule, {}, false, [&](std::string_view piece) {
        text += piece;
        return true;
    }));
    const auto json = nlohmann::json::parse(text);
    std::array<int, kSpaces> steps{};
    for (const auto& step : json["steps"]) {
        const auto& site = json["sites"][step["site"].get<size_t>()];
        for (size_t space = 0; space < kSpaces; ++space)
            steps[space] += site["space"] == name_of(static_cast<Space>(space));
        EXPECT_EQ(step.contains("sectors"), site["space"] == "global" || site["space"] == "local");
        EXPECT_EQ(step.contains("addresses"), site["space"] == "constant");
    }
    EXPECT_EQ(steps[static_cast<size_t>(Space::Local)], 30);
    EXPECT_EQ(steps[static_cast<size_t>(Space::Const)], 18);
}

}  // namespace
}  // namespace tilescope::kernels
