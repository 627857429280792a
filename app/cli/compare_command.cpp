// tilescope compare A B [--lock LOCK] [--at STEP] [--json]: the counters of two recordings beside each other.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/compare/model.h"
#include "app/look/time_words.h"
#include "core/base/json_fields.h"
#include "core/base/words.h"
#include "core/export/report.h"
#include "core/export/text_table.h"

namespace tilescope::cli {

namespace {

using Json = nlohmann::ordered_json;

struct CompareOptions {
    std::string a, b;
    std::string lock = "phase";
    std::string at = "last";
    bool json = false;

    OptionTable table() {
        return {
            {"A", &a, kRecordingArgument, "RECORDING", kRequired},
            {"B", &b, "The recording to set beside it", "RECORDING", kRequired},
            {"--lock", &lock, "What B follows A by: step, phase or share (phase)", "step|phase|share"},
            {"--at", &at, "The step of A, from 1 on, or first, middle or last (last)", "STEP"},
            {"--json", &json, "Print JSON (schema tilescope.compare/1)"},
        };
    }
};

// Both recordings, each at its step.
struct SideBySide {
    playback::Cursor a, b;
    compare::Counters counters;
};

SideBySide stand(const compare::Run& a, const compare::Run& b, compare::Lock lock, playback::Cursor a_at) {
    SideBySide at;
    at.a = a_at;
    at.b.block = compare::partner_block(lock, a, at.a, b);
    const auto index_a = look::index_block(a.recording, at.a.block);
    const auto index_b = look::index_block(b.recording, at.b.block);
    for (const auto& index : {index_a, index_b})
        if (!index->why_not.empty()) refuse(kFailure, "{}", index->why_not);
    at.b.step = compare::partner_step(lock, a, *index_a, at.a, b, *index_b);
    at.counters = compare::counters(lock, a, *index_a, at.a.step, b, *index_b, at.b.step);
    return at;
}

std::string side_text(char letter, const analysis::Recording& recording, playback::Cursor at) {
    const trace::Trace& trace = *recording.trace;
    const trace::Block& block = trace.blocks[at.block];
    return fmt::format("{}  {}\n   {}, step {} of {}\n", letter, look::recording_names(recording).front(),
                       block_name(trace.launch.grid, {block.x, block.y, block.z}, recording.notation),
                       at.step + 1, block.count);
}

std::string as_text(const compare::Run& a, const compare::Run& b, const SideBySide& at) {
    std::string text = side_text('A', a.recording, at.a) + side_text('B', b.recording, at.b);
    const std::string caveat = compare::caveat(a, b);
    if (!caveat.empty()) text += caveat + "\n";
    text += "\n";
    const std::string here = at.counters.of_run ? "run so far" : "block so far";
    report::TextTable table(1, {"", here + " A", "B", "B/A", "whole run A", "B", "B/A"});
    for (const compare::CounterRow& row : at.counters.rows) {
        const auto cell = [&row](uint64_t count, uint64_t of) {
            return compare::counter_text(row, count, of);
        };
        const auto ratio = [&row](const compare::Count& count) {
            return row.share ? "" : compare::ratio_text(count);
        };
        table.add({row.what, cell(row.so_far.a, row.so_far_of.a), cell(row.so_far.b, row.so_far_of.b),
                   ratio(row.so_far), cell(row.whole.a, row.whole_of.a), cell(row.whole.b, row.whole_of.b),
                   ratio(row.whole)});
    }
    return text + table.text() + "\n" + compare::headline(a, b) + "\n";
}

Json side_json(const analysis::Recording& recording, playback::Cursor at) {
    const trace::Trace& trace = *recording.trace;
    const trace::Meta& meta = trace.meta;
    const trace::Block& block = trace.blocks[at.block];
    Json side = object_of("kernel", meta.kernel);
    side.update(report::sizes_to_json(recording));
    add_fields(side, "device", meta.device, "complete", meta.complete, "block",
               Json::array({block.x, block.y}), "step", at.step + 1, "steps", block.count);
    return side;
}

// of: what the counts are shares of; of other counts nothing.
Json count_json(const compare::Count& count, const compare::Count& of) {
    const auto ratio = count.ratio();
    Json json = object_of("a", count.a, "b", count.b, "ratio", ratio ? Json(*ratio) : Json(nullptr));
    if (of.a + of.b > 0) json["of"] = object_of("a", of.a, "b", of.b);
    return json;
}

std::string as_json(const compare::Run& a, const compare::Run& b, const SideBySide& at, compare::Lock lock) {
    Json rows = Json::array();
    for (const compare::CounterRow& row : at.counters.rows)
        rows.push_back(object_of("counter", row.what, "so_far", count_json(row.so_far, row.so_far_of),
                                 "whole", count_json(row.whole, row.whole_of)));
    const Json all =
        object_of("schema", "tilescope.compare/1", "lock", compare::kLockNames[static_cast<size_t>(lock)],
                  "so_far_of", at.counters.of_run ? "run" : "block", "a", side_json(a.recording, at.a), "b",
                  side_json(b.recording, at.b), "counters", rows, "headline", compare::headline(a, b),
                  "caveat", compare::caveat(a, b));
    return json_text(all, 2) + "\n";
}

int run_compare(const CompareOptions& options) {
    const auto lock = compare::lock_of(options.lock);
    if (!lock) refuse(kWrongCall, "--lock '{}' is not known; choose step, phase or share", options.lock);
    const analysis::Recording a = opened(options.a);
    // One that is compared with itself is read once.
    const bool same = is_same_recording(options.a, options.b);
    const analysis::Recording b = same ? a : opened(options.b, trace::bytes_of(*a.trace));
    for (const auto& [recording, name] : {std::pair{&a, &options.a}, {&b, &options.b}})
        if (recording->trace->steps() == 0) refuse(kFailure, "'{}' holds no steps; record it again", *name);
    const playback::Cursor a_at = choose_step(options.at, *a.trace, options.a);
    const compare::Tally side_a = need(compare::tally_of(a));
    const auto side_b = same ? std::nullopt : std::optional(need(compare::tally_of(b)));
    const compare::Run one{a, side_a}, other{b, same ? side_a : *side_b};
    const auto at = stand(one, other, *lock, a_at);
    return print(options.json ? as_json(one, other, at, *lock) : as_text(one, other, at));
}

}  // namespace

CliCommand compare_command() {
    return command("compare", "Print the counters of two recordings beside each other", run_compare);
}

}  // namespace tilescope::cli
