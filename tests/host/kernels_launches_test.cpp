// Launches that are no matrix product: recorded through the library, kept in files, replayed with their
// values, reported and exported.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/analysis/summary.h"
#include "core/base/contents.h"
#include "core/base/words.h"
#include "core/export/report.h"
#include "core/export/requests.h"
#include "core/limits/roofline.h"
#include "core/playback/phase_table.h"
#include "core/playback/replay.h"
#include "core/recording/product.h"
#include "core/trace/file.h"
#include "kernels/run/record.h"
#include "kernels/run/source_text.h"
#include "kernels/textbook/catalogue.h"
#include "tests/launch_examples.h"
#include "tests/opened.h"
#include "tests/unit/trace_compare.h"

namespace tilescope::kernels {
namespace {

using analysis::StepKind;

playback::BlockReplay replayed(const trace::Trace& trace, uint32_t block) {
    playback::BlockReplay replay(trace, block);
    auto replayer = Replayer::of(trace);
    EXPECT_TRUE(replayer) << replayer.error().message;
    if (!replayer) return replay;
    const auto ran = replayer->replay(trace, block, replay);
    EXPECT_TRUE(ran) << ran.error().message;
    replay.finish();
    return replay;
}

std::string csv_of(const trace::Trace& trace, bool lanes) {
    std::string text;
    const auto rule = analysis::phase_rule(trace);
    EXPECT_TRUE(report::write_csv(trace, *rule, {}, lanes, [&](std::string_view piece) {
        text += piece;
        return true;
    }));
    return text;
}

TEST(Launches, ResultsAreRight) {
    simt::GlobalMemory after;
    ASSERT_TRUE(recorded(vector_add(), 1, &after).meta.complete);
    const auto a = values_in<double>(after, 0), b = values_in<double>(after, 1),
               c = values_in<double>(after, 2);
    for (size_t i = 0; i < c.size(); ++i) ASSERT_EQ(c[i], a[i] + b[i]) << i;

    ASSERT_TRUE(recorded(histogram(), 1, &after).meta.complete);
    const auto data = values_in<int32_t>(after, 0), counts = values_in<int32_t>(after, 1);
    for (int bin = 0; bin < 16; ++bin)
        ASSERT_EQ(counts[bin] + counts[16 + bin],
                  std::count_if(data.begin(), data.end(), [&](int v) { return (v & 15) == bin; }));

    ASSERT_TRUE(recorded(stencil(), 1, &after).meta.complete);
    const auto in = values_in<float>(after, 0), out = values_in<float>(after, 1);
    for (int z = 0; z < 6; ++z)
        for (int y = 0; y < 10; ++y)
            for (int x = 0; x < 20; ++x) {
                const int i = z * 200 + y * 20 + x;
                const bool edge = x == 0 || x == 19 || y == 0 || y == 9 || z == 0 || z == 5;
                const float sum = edge ? in[i]
                                       : in[i] + in[i - 1] + in[i + 1] + in[i - 20] + in[i + 20] +
                                             in[i - 200] + in[i + 200];
                ASSERT_EQ(out[i], sum) << i;
            }

    ASSERT_TRUE(recorded(reverse(), 1, &after).meta.complete);
    const auto values = values_in<uint16_t>(after, 0);
    for (size_t i = 0; i < 64; ++i) ASSERT_EQ(values[i], 60000 + i / 32 * 32 + 31 - i % 32);
}

TEST(Launches, AreNoProducts) {
    for (const Plan& plan : launch_examples()) {
        const trace::Trace trace = recorded(plan);
        EXPECT_FALSE(analysis::product_of(trace)) << plan.kernel;
        EXPECT_EQ(analysis::title_of(analysis::with_rule(trace)).find("T="), std::string::npos);
        EXPECT_FALSE(trace.meta.result.checked);
    }
}

TEST(Launches, SharedArraysHaveTheNamesAndExtentsOfTheSource) {
    const trace::Trace trace = recorded(histogram());
    ASSERT_EQ(trace.launch.arrays.size(), 3u);
    const Array& columns = trace.launch.arrays[2];
    EXPECT_EQ(columns.name, "columns");
    EXPECT_EQ(columns.space, Space::Shared);
    EXPECT_EQ(columns.type, ElementType::S32);
    EXPECT_EQ(extents_text(columns), "16 × 32");
    EXPECT_EQ(columns.extents, ExtentSource::Known);
    // Dynamic shared memory is as long as the launch says.
    const trace::Trace dynamic = recorded(reverse());
    ASSERT_EQ(dynamic.launch.arrays.size(), 2u);
    EXPECT_EQ(dynamic.launch.arrays[1].name, "part");
    EXPECT_EQ(dynamic.launch.arrays[1].type, ElementType::U16);
    EXPECT_EQ(extents_text(dynamic.launch.arrays[1]), "32");
    EXPECT_EQ(dynamic.launch.arrays[1].extents, ExtentSource::Flat);
    // Without the source: the name of the PTX, as words.
    Plan plan = histogram();
    plan.source.clear();
    const trace::Trace unknown = recorded(plan);
    EXPECT_EQ(unknown.launch.arrays[2].name, "columns");
    EXPECT_EQ(unknown.launch.arrays[2].type, ElementType::B32);
    EXPECT_EQ(extents_text(unknown.launch.arrays[2]), "512");
}

TEST(Launches, ReadBackFromTheirFiles) {
    for (const Plan& plan : launch_examples()) {
        const trace::Trace trace = recorded(plan);
        const auto read = trace::deserialize(trace::serialize(trace), "a.tsc");
        ASSERT_TRUE(read) << plan.kernel << ": " << read.error().message;
        EXPECT_TRUE(trace::same(trace, *read)) << plan.kernel;
    }
}

// Every lane of every request, as replayed from what the file holds, against the arrays as they were and are.
TEST(Launches, ReplayWithTheirValues) {
    for (const Plan& plan : launch_examples()) {
        simt::GlobalMemory after;
        const trace::Trace first = recorded(plan, 1, &after);
        const auto read = trace::deserialize(trace::serialize(first), "a.tsc");
        ASSERT_TRUE(read);
        const trace::Trace& trace = *read;
        for (uint32_t block = 0; block < trace.blocks.size(); ++block) {
            const playback::BlockReplay replay = replayed(trace, block);
            ASSERT_EQ(replay.steps(), trace.blocks[block].count);
            for (uint32_t step = 0; step < replay.steps(); ++step) {
                const trace::Access access = trace::decode(trace, trace.blocks[block].first + step);
                if (access.array == trace::kNoArray) continue;
                const Array& array = trace.launch.arrays[access.array];
                const bool store = trace.sites[access.site].kind == ptx::SiteKind::Store;
                for_lanes(access.mask, [&](uint32_t lane) {
                    const uint64_t element = access.offset[lane] / array.element_bytes();
                    const Value value = replay.value(step, lane);
                    ASSERT_EQ(value.type, array.type);
                    if (array.space == Space::Shared || store) {
                        const playback::CellState cell = replay.cell(access.array, element, step);
                        ASSERT_TRUE(cell.written) << plan.kernel << " step " << step;
                        ASSERT_EQ(cell.value, value);
                    } else {
                        ASSERT_EQ(value, initial_value(array, element)) << plan.kernel << " step " << step;
                    }
                    if (!store || array.space == Space::Shared) return;
                    const auto* bytes = after.buffers[access.array].bytes.data();
                    ASSERT_EQ(value, value_at(array.type, bytes + element * array.element_bytes()));
                    const auto output = replay.output_of(access.warp * 32 + lane);
                    ASSERT_TRUE(output);
                    EXPECT_EQ(*output, (playback::Element{access.array, element}));
                });
            }
        }
    }
}

// A block that stores to what it reads begins from the launch's own memory whenever it runs again.
TEST(Launches, InPlaceBlocksRunAgainInAnyOrder) {
    const trace::Trace trace = recorded(reverse());
    auto replayer = Replayer::of(trace);
    ASSERT_TRUE(replayer);
    for (const uint32_t block : {2u, 0u, 0u, 1u, 2u}) {
        playback::BlockReplay replay(trace, block);
        ASSERT_TRUE(replayer->replay(trace, block, replay));
        replay.finish();
        EXPECT_EQ(number_of(replay.value(0, 1)), 60000 + block * 32 + 1);
    }
}

TEST(Launches, TheTableSaysWhatIsStored) {
    const trace::Trace trace = recorded(vector_add());
    const auto rule = analysis::phase_rule(trace);
    ASSERT_TRUE(rule);
    const playback::BlockReplay replay = replayed(trace, 0);
    const auto table = playback::phase_table(trace, replay, analysis::phases_of_block(trace, *rule, 0));
    ASSERT_EQ(table.rows.size(), 64u);
    ASSERT_EQ(table.phases, 1u);
    EXPECT_EQ(table.rows[3].thread, "[3]");
    EXPECT_EQ(table.rows[3].phase[0].loads, (std::vector<std::string>{"a[3]", "b[3]"}));
    EXPECT_EQ(table.rows[3].phase[0].multiplies, "c[3] = 1e+10");
    const std::string text = print(table, playback::TableFormat::Text);
    EXPECT_NE(text.find("computes"), std::string::npos);
    EXPECT_EQ(text.find("multiplies"), std::string::npos);
}

TEST(Launches, EveryElementOfAVectorLoadIsNamed) {
    const trace::Trace trace = recorded(pairs());
    const auto rule = analysis::phase_rule(trace);
    ASSERT_TRUE(rule) << rule.error().message;
    const playback::BlockReplay replay = replayed(trace, 1);
    const auto table = playback::phase_table(trace, replay, analysis::phases_of_block(trace, *rule, 1));
    ASSERT_EQ(table.rows.size(), 32u);
    for (uint32_t t = 0; t < 32; ++t) {
        EXPECT_EQ(table.rows[t].phase[0].loads,
                  (std::vector<std::string>{fmt::format("in[{}] -> firsts[{}]", 64 + 2 * t, t),
                                            fmt::format("in[{}] -> seconds[{}]", 65 + 2 * t, t)}));
        const uint32_t end = replay.steps() - 1;
        EXPECT_EQ(replay.cell(2, t, end).source.index, 64 + 2 * t);
        EXPECT_EQ(replay.cell(3, t, end).source.index, 65 + 2 * t);
        EXPECT_EQ(number_of(replay.cell(3, t, end).value),
                  number_of(initial_value(trace.launch.arrays[0], 65 + 2 * t)));
    }
}

// Registers of a vector load may be wider or narrower than the elements of its array: each names the element
// that its bytes begin in.
TEST(Launches, RegistersOfAVectorLoadNameTheElementOfTheirBytes) {
    for (const ElementType type : {ElementType::U8, ElementType::F16, ElementType::F64}) {
        Plan plan = pairs();
        Array& in = plan.launch.arrays[0];
        in.type = type;
        in.cols = 512 / size_of(type);
        const trace::Trace trace = recorded(plan);
        const playback::BlockReplay replay = replayed(trace, 1);
        const auto rule = analysis::phase_rule(trace);
        ASSERT_TRUE(rule) << rule.error().message;
        const auto table = playback::phase_table(trace, replay, analysis::phases_of_block(trace, *rule, 1));
        for (uint32_t t = 0; t < 32; ++t) {
            const uint64_t byte = 256 + 8 * t;
            const uint32_t end = replay.steps() - 1;
            const uint64_t first = byte / size_of(type), second = (byte + 4) / size_of(type);
            EXPECT_EQ(replay.cell(2, t, end).source.index, first) << name_of(type);
            EXPECT_EQ(replay.cell(3, t, end).source.index, second) << name_of(type);
            const std::vector<std::string>& loads = table.rows[t].phase[0].loads;
            const auto held = [&](uint64_t element, const char* to) {
                return std::ranges::any_of(loads, [&](const std::string& load) {
                    return load.starts_with(fmt::format("in[{}] -> ", element)) &&
                           load.find(fmt::format("-> {}[{}]", to, t)) != std::string::npos;
                });
            };
            EXPECT_EQ(loads.size(), std::max<size_t>(8 / size_of(type), 1)) << name_of(type);
            EXPECT_TRUE(held(first, "firsts")) << fmt::format("{}", fmt::join(loads, "; "));
            EXPECT_TRUE(held(second, "seconds")) << fmt::format("{}", fmt::join(loads, "; "));
        }
    }
}

// Blocks of a grid with depth have headings and rows of their own.
TEST(Launches, TablesOfAGridWithDepthNameTheLayer) {
    const trace::Trace trace = recorded(stencil());
    const auto rule = analysis::phase_rule(trace);
    ASSERT_TRUE(rule);
    const playback::BlockReplay replay = replayed(trace, 14);  // (2,1,1) of 3 x 3 x 3
    const auto table = playback::phase_table(trace, replay, analysis::phases_of_block(trace, *rule, 14));
    EXPECT_TRUE(print(table, playback::TableFormat::Text).starts_with("block 2,1,1: 1 phase, 64 threads\n"));
    const std::string csv = print(table, playback::TableFormat::Csv);
    EXPECT_TRUE(csv.starts_with("block_x,block_y,block_z,thread_z,thread_y,thread_x,phase,")) << csv;
    EXPECT_NE(csv.find("\n2,1,1,0,0,0,0,"), std::string::npos) << csv;
}

TEST(Launches, ReportsNameEntryAndArguments) {
    for (const Plan& plan : launch_examples()) {
        const trace::Trace trace = recorded(plan);
        const auto summary = analysis::summarize(trace);
        ASSERT_TRUE(summary) << summary.error().message;
        const auto json = nlohmann::json::parse(report::to_json(trace, *summary));
        EXPECT_EQ(json["launch"]["entry"], plan.launch.entry);
        EXPECT_EQ(json["launch"]["arguments"].size(), plan.launch.arguments.size());
        EXPECT_FALSE(json["launch"].contains("tile"));
        const std::string text = report::to_text(trace, *summary);
        EXPECT_EQ(text.find("T ="), std::string::npos) << text;
    }
    const trace::Trace trace = recorded(vector_add());
    const auto summary = analysis::summarize(trace);
    EXPECT_EQ((*summary)[StepKind::GlobalLoad].lanes, 200u);
    EXPECT_EQ((*summary)[StepKind::GlobalLoad].bytes, 1600u);
    EXPECT_NE(report::to_text(trace, *summary)
                  .find("vector_add: a = double[100], b = double[100], c = double[100], n = 100"),
              std::string::npos)
        << report::to_text(trace, *summary);
}

TEST(Launches, ExportsNameElementsByTheirIndices) {
    const trace::Trace add = recorded(vector_add());
    EXPECT_NE(csv_of(add, true).find("lane,thread,address,row,col,phase\r\n"), std::string::npos);
    const trace::Trace volume = recorded(stencil());
    const std::string lanes = csv_of(volume, true);
    EXPECT_NE(lanes.find("lane,thread,address,slice,row,col,phase\r\n"), std::string::npos);
    // As many fields on every line as in the heading.
    std::set<ptrdiff_t> commas;
    for (const bool each : {true, false}) {
        const std::string text = csv_of(volume, each);
        commas.clear();
        for (size_t at = 0; at < text.size();) {
            const size_t end = text.find("\r\n", at);
            commas.insert(std::count(text.begin() + static_cast<ptrdiff_t>(at),
                                     text.begin() + static_cast<ptrdiff_t>(end), ','));
            at = end + 2;
        }
        EXPECT_EQ(commas.size(), 1u);
    }
    for (const Plan& plan : launch_examples()) {
        const trace::Trace trace = recorded(plan);
        const auto rule = analysis::phase_rule(trace);
        std::string json, perfetto;
        ASSERT_TRUE(report::write_trace_json(trace, *rule, {}, true, [&](std::string_view piece) {
            json += piece;
            return true;
        }));
        ASSERT_TRUE(report::write_perfetto(trace, *rule, {}, [&](std::string_view piece) {
            perfetto += piece;
            return true;
        }));
        const auto parsed = nlohmann::json::parse(json);
        EXPECT_EQ(parsed["launch"]["entry"], plan.kernel);
        EXPECT_TRUE(nlohmann::json::accept(perfetto));
        for (const auto& step : parsed["steps"]) {
            if (!step.contains("array") || step["elements"][0].is_null()) continue;
            EXPECT_EQ(step["elements"][0].size(), trace.launch.arrays[step["array"].get<size_t>()].rank);
        }
    }
}

// A sum of matrices in place of the product, under its name and with its parameters: one addition for two
// loads of 4 bytes.
TEST(Launches, ASumInTheProductsClothesIsCountedByItsInstructions) {
    auto sized = plan("untiled", {32, 32, 32, 8});
    ASSERT_TRUE(sized);
    ASSERT_TRUE(analysis::product_of(*record_cpu(*sized, {})));
    sized->ptx = launch_text("untiled.ptx");
    const auto trace = record_cpu(*sized, {});
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_FALSE(analysis::product_of(*trace));
    EXPECT_FALSE(trace->meta.result.verified);
    const auto summary = analysis::summarize(*trace);
    EXPECT_FALSE(analysis::recorded_work(*trace, *summary));  // nobody has counted its operations
    const auto flop = count_flop(*trace);
    ASSERT_TRUE(flop) << flop.error().message;
    EXPECT_EQ(*flop, 32u * 32);
    const auto work = analysis::recorded_work(*trace, *summary, *flop);
    ASSERT_TRUE(work);
    EXPECT_EQ(work->intensity, 1.0 / 8);
    EXPECT_EQ(work->cgma(), 0.5);
}

// Where the closed form and the count both hold, they are the same.
TEST(Launches, CountedOperationsOfAProductAreTwoForEachTerm) {
    for (const char* kernel : {"untiled", "tiled", "tiled_swapped", "tiled_padded"}) {
        const auto trace = record_cpu(*plan(kernel, {16, 24, 32, 8}), {});
        ASSERT_TRUE(trace);
        const auto flop = count_flop(*trace);
        ASSERT_TRUE(flop);
        EXPECT_EQ(*flop, 2u * 16 * 24 * 32) << kernel;
    }
}

TEST(Launches, SharedDeclarationsAreRead) {
    const std::string source = R"(
#define TILE 16  // tile width
constexpr int kPad = 1;
const unsigned WIDE = 64;
__shared__ float Mds[TILE][TILE];
__shared__ float Nds[TILE][TILE + kPad];
__shared__ unsigned int a, bins[WIDE];
__shared__ double d[2][3][4];
extern __shared__ int dyn[];
__shared__ float2 pairs[8];
__shared__ Thing things[8];
__shared__ volatile int v[UNKNOWN];
)";
    const auto extents = [&](const char* name) {
        const auto found = declaration(source, "__shared__", name);
        return found ? found->extents : std::vector<uint64_t>{99};
    };
    using Lengths = std::vector<uint64_t>;
    EXPECT_EQ(extents("Mds"), (Lengths{16, 16}));
    EXPECT_EQ(extents("Nds"), (Lengths{16, 17}));
    EXPECT_EQ(extents("bins"), (Lengths{64}));
    EXPECT_EQ(declaration(source, "__shared__", "bins")->type, ElementType::U32);
    EXPECT_EQ(extents("a"), Lengths{});
    EXPECT_EQ(extents("d"), (Lengths{2, 3, 4}));
    EXPECT_EQ(extents("dyn"), Lengths{});
    EXPECT_EQ(extents("v"), Lengths{});
    EXPECT_EQ(declaration(source, "__shared__", "v")->type, ElementType::S32);
    EXPECT_EQ(extents("pairs"), (Lengths{8, 2}));
    EXPECT_FALSE(declaration(source, "__shared__", "things"));
    EXPECT_FALSE(declaration(source, "__shared__", "Mdx"));
    EXPECT_EQ(name_in_symbol("_ZZ5tiledE3Mds"), "Mds");
    EXPECT_EQ(name_in_symbol("_ZZ4EasyE4E3xE"), "E3xE");
    EXPECT_EQ(name_in_symbol("_ZZ4EasyE9x"), "_ZZ4EasyE9x");
    EXPECT_EQ(name_in_symbol("_ZZ3fooiE1E_0"), "E");
    EXPECT_EQ(name_in_symbol("_ZN2M54smemE"), "smem");
    EXPECT_EQ(name_in_symbol("_ZN12_GLOBAL__N_1L4tileE"), "tile");
    for (const char* other :
         {"smem", "_ZN2M54smem", "_ZN2M59smemE", "_ZN3BoxIiE4tileE", "_ZNE", "_ZN99999999999999999999xE"})
        EXPECT_EQ(name_in_symbol(other), other);
}

}  // namespace
}  // namespace tilescope::kernels
