// Reads what cmake built in: an index in assets/recordings that names each .tsc beside it, and a file a
// device in assets/counters. The recordings of textbook kernels are from GPUs (tests/gpu/make_recordings.sh);
// those of example programs are from the CPU (assets/recordings/make_examples.sh), with sizes of 0.
//
//   {"schema": "tilescope.recordings/1",
//    "recordings": [{"name": "tiled-64x64x64-t16", "label": "...", "kernel": "tiled", "m": 64, "k": 64,
//                    "n": 64, "tile": 16, "device": "NVIDIA H200", "driver": "...", "date": "...",
//                    "command": "tilescope record ..."}]}
//
//   {"schema": "tilescope.counters/1", "device": "...", "driver": "...", "tool": "ncu ...", "date": "...",
//    "command": "...", "rows": [{"kernel": "tiled", "m": 256, "k": 256, "n": 256, "tile": 32, "ptx": "clang",
//                                "counters": {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 32768}}]}
#include "kernels/textbook/shipped.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/trace/file.h"

namespace tilescope::kernels {

// Made by cmake/embed.cmake: path below the project's folder, bytes.
std::vector<std::pair<std::string_view, std::string_view>> embedded_assets();

namespace {

using Json = nlohmann::json;

constexpr std::string_view kRecordings = "assets/recordings/";
constexpr std::string_view kCounters = "assets/counters/";

template <class Launch>
void read_launch(JsonFields& f, Launch& launch) {
    f.text("kernel", launch.kernel);
    f.number("m", launch.m);
    f.number("k", launch.k);
    f.number("n", launch.n);
    f.number("tile", launch.tile, 32);
}

ShippedRecording read_recording(const Json& entry, std::string& problem) {
    ShippedRecording recording;
    JsonFields f(entry, problem);
    f.text("name", recording.name);
    f.text("label", recording.label);
    read_launch(f, recording);
    f.text("device", recording.device);
    f.text("driver", recording.driver);
    f.text("date", recording.date);
    f.text("command", recording.command);
    if (recording.name.empty()) f.fail("name");
    return recording;
}

CounterRow read_counter_row(const Json& entry, std::string& problem) {
    CounterRow row;
    JsonFields f(entry, problem);
    read_launch(f, row);
    f.text("ptx", row.ptx);
    const Json& counters = f.object("counters");
    JsonFields counts(counters, problem);
    for (const auto& item : counters.items()) {
        double count = 0;
        counts.real(item.key().c_str(), count);
        row.counters.emplace_back(item.key(), count);
    }
    return row;
}

// The object of a file with this schema, or the sentence that says what is wrong with it.
Result<Json> parse(std::string_view text, std::string_view schema, std::string_view name) {
    Json whole = Json::parse(text, nullptr, false);
    if (!whole.is_object()) return Error{fmt::format("'{}' is not JSON; make it again", name)};
    if (whole.value("schema", Json()) != schema)
        return Error{fmt::format("'{}' cannot be used: its schema is not {}", name, schema)};
    return whole;
}

Error cannot_use(std::string_view name, std::string_view problem) {
    return Error{fmt::format("'{}' cannot be used: {}; make it again", name, problem)};
}

// Tests read every file that ships; a damaged one is left out here.
std::vector<ShippedRecording> read_shipped_recordings() {
    std::vector<ShippedRecording> recordings;
    const auto assets = embedded_assets();
    for (const auto& [path, bytes] : assets) {
        if (path != fmt::format("{}index.json", kRecordings)) continue;
        if (auto read = recordings_from_json(bytes, path)) recordings = std::move(*read);
    }
    for (ShippedRecording& recording : recordings)
        for (const auto& [path, bytes] : assets)
            if (path == fmt::format("{}{}.tsc", kRecordings, recording.name)) recording.bytes = bytes;
    return recordings;
}

std::vector<Counters> read_shipped_counters() {
    std::vector<Counters> all;
    for (const auto& [path, bytes] : embedded_assets()) {
        if (path.substr(0, kCounters.size()) != kCounters) continue;
        if (auto counters = counters_from_json(bytes, path)) all.push_back(std::move(*counters));
    }
    return all;
}

}  // namespace

Result<std::vector<ShippedRecording>> recordings_from_json(std::string_view text, std::string_view name) {
    const auto whole = parse(text, "tilescope.recordings/1", name);
    if (!whole) return whole.error();
    std::string problem;
    std::vector<ShippedRecording> recordings;
    for (const Json& entry : JsonFields(*whole, problem).list("recordings"))
        recordings.push_back(read_recording(entry, problem));
    if (!problem.empty()) return cannot_use(name, problem);
    return recordings;
}

Result<Counters> counters_from_json(std::string_view text, std::string_view name) {
    const auto whole = parse(text, "tilescope.counters/1", name);
    if (!whole) return whole.error();
    std::string problem;
    Counters counters;
    JsonFields f(*whole, problem);
    f.text("device", counters.device);
    f.text("driver", counters.driver);
    f.text("tool", counters.tool);
    f.text("date", counters.date);
    f.text("command", counters.command);
    for (const Json& entry : f.list("rows")) counters.rows.push_back(read_counter_row(entry, problem));
    if (!problem.empty()) return cannot_use(name, problem);
    return counters;
}

const double* find_counter(const CounterRow& row, std::string_view metric) {
    for (const auto& [name, value] : row.counters)
        if (name == metric) return &value;
    return nullptr;
}

const std::vector<ShippedRecording>& shipped_recordings() {
    static const std::vector<ShippedRecording> recordings = read_shipped_recordings();
    return recordings;
}

const ShippedRecording* find_shipped_recording(std::string_view name) {
    for (const ShippedRecording& recording : shipped_recordings())
        if (recording.name == name) return &recording;
    return nullptr;
}

Result<trace::Trace> open_shipped(const ShippedRecording& recording) {
    if (recording.bytes.empty() && fetch_shipped) {
        const auto bytes = fetch_shipped(recording.name);
        if (!bytes) return bytes.error();
        return trace::deserialize(*bytes, recording.name);
    }
    if (recording.bytes.empty())
        return Error{fmt::format("the recording {} is listed but was not built in; build the program again",
                                 recording.name)};
    return trace::deserialize(recording.bytes, recording.name);
}

const std::vector<Counters>& shipped_counters() {
    static const std::vector<Counters> counters = read_shipped_counters();
    return counters;
}

}  // namespace tilescope::kernels
