// Timings as JSON, a row a line, so that one time changes one line; and back, with every field checked.
#include "kernels/textbook/timings.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"

namespace tilescope::kernels {

// Path and bytes; made by cmake/embed.cmake.
std::vector<std::pair<std::string_view, std::string_view>> embedded_assets();

namespace {

constexpr const char* kSchema = "tilescope.timings/1";

// Keys stay in the order in which a person reads them.
using Ordered = nlohmann::ordered_json;
using Json = nlohmann::json;

// Text that is not UTF-8 keeps a mark where it is not.
std::string dump(const Ordered& json) { return json.dump(-1, ' ', false, Ordered::error_handler_t::replace); }

// The fields of a document that are texts, and those of its roofs.
constexpr std::pair<const char*, std::string Timings::*> kTexts[] = {
    {"device", &Timings::device},    {"driver", &Timings::driver},   {"cuda", &Timings::cuda},
    {"date", &Timings::date},        {"command", &Timings::command}, {"tool_version", &Timings::tool_version},
    {"compiler", &Timings::compiler}};
constexpr std::pair<const char*, double Roofs::*> kRoofs[] = {{"copy_gbs", &Roofs::copy_gbs},
                                                              {"fp32_gflops", &Roofs::fp32_gflops},
                                                              {"stated_gbs", &Roofs::stated_gbs},
                                                              {"stated_gflops", &Roofs::stated_gflops}};

// Six significant digits: more than a clock of half a microsecond gives, and short to read.
double rounded(double value) { return std::stod(fmt::format("{:.6g}", value)); }

std::string row_to_json(const Timing& row) {
    return dump(object_of("kernel", row.kernel, "m", row.m, "k", row.k, "n", row.n, "tile", row.tile,
                          "verified", row.verified, "runs", row.runs, "median_ms", rounded(row.median_ms),
                          "low_ms", rounded(row.low_ms), "high_ms", rounded(row.high_ms), "gflops",
                          rounded(row.gflops), "requested_gbs", rounded(row.requested_gbs), "recorded_ms",
                          rounded(row.recorded_ms), "recorded_blocks", row.recorded_blocks, "registers",
                          row.registers, "shared_bytes", row.shared_bytes));
}

Timing read_timing(const Json& item, std::string& problem) {
    constexpr int kMost = 1 << 20;
    Timing row;
    JsonFields f(item, problem);
    f.text("kernel", row.kernel);
    f.number("m", row.m);
    f.number("k", row.k);
    f.number("n", row.n);
    f.number("tile", row.tile, 32);
    f.flag("verified", row.verified);
    f.number("runs", row.runs);
    f.real("median_ms", row.median_ms);
    f.real("low_ms", row.low_ms);
    f.real("high_ms", row.high_ms);
    f.real("gflops", row.gflops);
    f.real("requested_gbs", row.requested_gbs);
    f.real("recorded_ms", row.recorded_ms);
    f.number("recorded_blocks", row.recorded_blocks);
    f.number("registers", row.registers, kMost);
    f.number("shared_bytes", row.shared_bytes, kMost);
    if (row.kernel.empty()) f.fail("kernel");
    if (row.m == 0) f.fail("m");
    if (row.k == 0) f.fail("k");
    if (row.n == 0) f.fail("n");
    if (row.runs == 0) f.fail("runs");
    if (row.median_ms <= 0) f.fail("median_ms");
    if (row.low_ms > row.median_ms) f.fail("low_ms");
    if (row.high_ms < row.median_ms) f.fail("high_ms");
    return row;
}

std::vector<Timings> read_shipped_timings() {
    std::vector<Timings> sets;
    for (const auto& [path, text] : embedded_assets()) {
        if (!path.starts_with("assets/timings/")) continue;
        // A test reads every file that ships; a damaged one is left out here.
        if (auto set = timings_from_json(text, path)) sets.push_back(std::move(*set));
    }
    return sets;
}

// Nearest rank: the smallest value that at least `percent` of all values do not exceed.
double percentile(const std::vector<double>& sorted, size_t percent) {
    const size_t rank = (sorted.size() * percent + 99) / 100;  // from 1
    return sorted[std::max<size_t>(rank, 1) - 1];
}

}  // namespace

std::string to_json(const Timings& timings) {
    Ordered measured;
    for (const auto& [key, roof] : kRoofs) measured[key] = rounded(timings.roofs.*roof);
    std::string text = fmt::format("{{\n  \"schema\": \"{}\",\n", kSchema);
    for (const auto& [key, value] : kTexts)
        text += fmt::format("  \"{}\": {},\n", key, dump(Ordered(timings.*value)));
    text += fmt::format("  \"roofs\": {},\n  \"rows\": [", dump(measured));
    for (size_t i = 0; i < timings.rows.size(); ++i)
        text += fmt::format("{}\n    {}", i ? "," : "", row_to_json(timings.rows[i]));
    return text + (timings.rows.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

Result<Timings> timings_from_json(std::string_view text, std::string_view name) {
    const Json root = Json::parse(text, nullptr, false);
    if (!root.is_object())
        return Error{fmt::format("'{}' is not JSON; give a file that 'tilescope time --json' wrote", name)};
    std::string problem, schema;
    Timings timings;
    JsonFields f(root, problem);
    f.text("schema", schema);
    if (schema != kSchema) {
        return Error{
            fmt::format("'{}' holds no times: its schema is not {}; give a file that 'tilescope "
                        "time --json' wrote",
                        name, kSchema)};
    }
    for (const auto& [key, value] : kTexts) f.text(key, timings.*value);
    JsonFields roofs(f.object("roofs"), problem);
    for (const auto& [key, roof] : kRoofs) roofs.real(key, timings.roofs.*roof);
    for (const Json& item : f.list("rows")) {
        timings.rows.push_back(read_timing(item, problem));
        if (!problem.empty()) {
            return Error{fmt::format("'{}' is damaged in row {}: {}; measure it again", name,
                                     timings.rows.size(), problem)};
        }
    }
    if (!problem.empty()) return Error{fmt::format("'{}' is damaged: {}; measure it again", name, problem)};
    return timings;
}

const std::vector<Timings>& shipped_timings() {
    static const std::vector<Timings> sets = read_shipped_timings();
    return sets;
}

std::string days_of(const Timings& timings) {
    constexpr size_t kDay = 10;  // letters of "2026-11-21"
    constexpr std::string_view kTo = " to ";
    if (timings.date.size() < kDay) return "";
    const size_t to = timings.date.find(kTo);
    return timings.date.substr(0, kDay) +
           (to == std::string::npos ? "" : timings.date.substr(to, kTo.size() + kDay));
}

const Timing* find_timing(const Timings& timings, std::string_view kernel, uint32_t m, uint32_t k, uint32_t n,
                          uint32_t tile) {
    for (const Timing& row : timings.rows)
        if (row.kernel == kernel && row.m == m && row.k == k && row.n == n && row.tile == tile) return &row;
    return nullptr;
}

double flop_per_loaded_byte(const Timing& t) {
    return t.requested_gbs > 0 ? 1 / (t.requested_gbs / t.gflops - 2.0 / t.k) : 0;  // a store: 4 bytes in 2 k
}

TimeSpread spread_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const size_t half = values.size() / 2;
    const double median = values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
    return {median, percentile(values, 10), percentile(values, 90)};
}

}  // namespace tilescope::kernels
