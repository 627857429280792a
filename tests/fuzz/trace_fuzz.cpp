// A recording's bytes: read, and where they are a recording, walked as report, table, export and a click on
// an element walk it. trace_mutator.cpp changes what is inside of its sections.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/step/model.h"
#include "core/analysis/summary.h"
#include "core/export/report.h"
#include "core/export/requests.h"
#include "core/hazards/hazards.h"
#include "core/playback/phase_table.h"
#include "core/recording/product.h"
#include "core/trace/claims.h"
#include "core/trace/file.h"
#include "core/trace/format.h"
#include "kernels/run/ready.h"
#include "kernels/run/record.h"
#include "tests/fuzz/fuzz.h"

namespace tilescope::fuzz {
namespace {

constexpr uint64_t kMostText = 256 << 10;        // bytes of an export that are looked at
constexpr uint64_t kMostInstructions = 100'000;  // of a warp, in a block that is run again
constexpr size_t kMostClicks = 4;                // on elements, and on shared cells

// What an export writes, up to kMostText; "" where there is more.
template <class Write>
std::string exported(const Write& write) {
    std::string text;
    const bool whole = write([&](std::string_view piece) {
        text += piece;
        return text.size() < kMostText;
    });
    return whole ? text : "";
}

void demand_json(const std::string& text) {
    demand(text.empty() || nlohmann::json::accept(text), "an export is not JSON");
}

void export_all(const analysis::Recording& recording) {
    for (const bool lanes : {false, true}) {
        exported([&](const report::Take& take) { return report::write_csv(recording, {}, lanes, take); });
        demand_json(exported(
            [&](const report::Take& take) { return report::write_trace_json(recording, {}, lanes, take); }));
    }
    demand_json(
        exported([&](const report::Take& take) { return report::write_perfetto(recording, {}, take); }));
}

// Whether a block of the recording's PTX ends soon.
bool ends_soon(const trace::Trace& trace, const trace::Block& block) {
    auto ready = kernels::make_ready(kernels::plan_of(trace), trace::memory_left(trace), "this");
    if (!ready) return false;
    simt::RunOptions run;
    run.window = {block.x, block.x + 1, block.y, block.y + 1, block.z, block.z + 1};
    run.threads = 1;
    run.max_instructions_per_warp = kMostInstructions;
    const auto outcome = simt::run(*ready->program, ready->launch, ready->memory, run,
                                   [](const simt::BlockId&) { return nullptr; });
    return outcome && !(outcome->fault && outcome->fault->kind == simt::Fault::Kind::NeverEnds);
}

// A click on what each store of the block stored.
void click(const analysis::Recording& recording, const playback::BlockReplay& replay) {
    const trace::Trace& trace = *recording.trace;
    const auto index = look::index_block(recording, replay.block());
    const auto some = [](const auto& stores, const auto& visit) {
        for (size_t i = 0; i < std::min(stores.size(), kMostClicks); ++i) visit(stores[i]);
    };
    some(replay.global_stores(), [&](const playback::BlockReplay::Store& store) {
        const auto trail = step::output_trail(trace, *index, replay, store.to.index);
        for (const step::ProductTrail& product : trail.products)
            step::factor_text(trace, *index, product.m) + step::factor_text(trace, *index, product.n);
        step::TouchScan scan{.element = store.to};
        while (!scan.done(trace)) step::go_on(scan, trace, 1000);
    });
    some(replay.shared_stores(), [&](const playback::BlockReplay::Store& store) {
        step::cell_trail(trace, *index, replay, store.to, index->steps - 1);
    });
}

void run_again(const analysis::Recording& recording, analysis::Hazards& hazards) {
    const trace::Trace& trace = *recording.trace;
    if (trace.blocks.empty()) return;
    const auto block = static_cast<uint32_t>(trace.blocks.size() - 1);
    auto replayer = kernels::Replayer::of(trace);
    if (!made(replayer) || !ends_soon(trace, trace.blocks[block])) return;
    playback::BlockReplay replay(trace, block);
    if (!made(replayer->replay(trace, block, replay))) return;
    replay.finish();
    const auto value = [&](uint32_t step, uint32_t lane, uint32_t part) {
        return replay.value(step, lane, part);
    };
    analysis::tell_values(recording, block, value, hazards);
    const analysis::PhaseMap phases = analysis::phases_of_block(recording, block);
    const playback::PhaseTable table = playback::phase_table(recording, replay, phases);
    using enum playback::TableFormat;
    for (const auto format : {Text, Csv, Markdown}) playback::print(table, format);
    if (replay.steps() > 0) click(recording, replay);
}

void walk(trace::Trace trace) {
    const auto recording = analysis::opened(std::move(trace));
    if (!made(recording)) return;
    const auto summary = analysis::summarize(*recording);
    if (!made(summary)) return;
    auto hazards = analysis::find_hazards(*recording, {4, 1});
    run_again(*recording, hazards);
    const auto improvements = analysis::improvements_of(*recording->trace);
    if (!made(improvements)) return;
    report::to_text(*recording, *summary, &hazards, 0, &*improvements);
    demand_json(report::to_json(*recording, *summary, &hazards, 0, &*improvements));
    export_all(*recording);
}

}  // namespace
}  // namespace tilescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tilescope;
    const auto read = trace::deserialize({reinterpret_cast<const char*>(data), size}, "fuzz.tsc");
    if (!fuzz::made(read)) return 0;
    fuzz::demand(trace::check(*read), "what was read is not consistent");
    const std::string written = trace::serialize(*read);
    const auto again = trace::deserialize(written, "again.tsc");
    fuzz::demand(again, "what was read cannot be written and read again");
    fuzz::demand(trace::serialize(*again) == written, "what is written changes when it is read");
    fuzz::walk(*read);
    return 0;
}
