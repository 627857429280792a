#include "app/cli/capture_list.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/base/version.h"
#include "core/base/words.h"

namespace tilescope::cli {

namespace {

using launched::CapturedLaunch, launched::CapturedProcess, launched::CapturedRow;
using Json = nlohmann::ordered_json;

constexpr size_t kWidestName = 40;

std::string size_of(const Dim3& size) { return fmt::format("{},{},{}", size.x, size.y, size.z); }

// What all launches of a row take, by those that were timed; "" where none was.
std::string time_of(const CapturedRow& row) {
    if (row.timed == 0) return "";
    return fmt::format("{:.3f}", row.ms / static_cast<double>(row.timed) * static_cast<double>(row.count));
}

// "PTX in the fat binary of train", or why there is none.
std::string words_of_ptx(const CapturedRow& row) {
    std::string words = row.ptx.empty() ? row.without : "PTX " + row.ptx;
    if (!row.remark.empty()) words += "; " + row.remark;
    return words;
}

std::string line_of(const CapturedLaunch& launch) {
    std::string words = launch.recorded.empty()
                            ? "not recorded: " + launch.unrecorded
                            : fmt::format("{}, recorded in {:.0f} ms", launch.recorded, launch.ms);
    if (!launch.remark.empty()) words += "; " + launch.remark;
    return words;
}

Json json_of(const Dim3& size) { return Json::array({size.x, size.y, size.z}); }
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json json_of(const CapturedLaunch& launch) {
    return object_of("launch", launch.number, "recorded", text_or_null(launch.recorded), "unrecorded",
                     text_or_null(launch.unrecorded), "remark", text_or_null(launch.remark), "recording_ms",
                     launch.ms);
}

Json json_of(const CapturedProcess& process, const CapturedRow& row) {
    Json recordings = Json::array();
    for (const CapturedLaunch& launch : process.launches)
        if (launch.row == row.id) recordings.push_back(json_of(launch));
    return object_of("process", process.pid, "launch", row.first, "kernel", row.kernel, "entry", row.entry,
                     "grid", json_of(row.grid), "block", json_of(row.block), "shared", row.shared, "count",
                     row.count, "timed", row.timed, "ms",
                     row.timed == 0 ? Json() : Json(row.ms / static_cast<double>(row.timed)), "ptx",
                     text_or_null(row.ptx), "without", text_or_null(row.ptx.empty() ? row.without : ""),
                     "remark", text_or_null(row.remark), "recordings", std::move(recordings));
}

void add_process(std::string& text, const CapturedProcess& process) {
    size_t width = 6;
    for (const CapturedRow& row : process.rows)
        width = std::max(width, std::min(row.kernel.size(), kWidestName));
    text += fmt::format("\n{:>9}  {:<{}}  {:>14}  {:>11}  {:>7}  {:>10}  \n", "launch", "kernel", width,
                        "grid", "block", "count", "GPU ms");
    for (const CapturedRow& row : process.rows) {
        text += fmt::format("{:>9}  {:<{}}  {:>14}  {:>11}  {:>7}  {:>10}  {}\n", row.first,
                            shortened(one_line(row.kernel), kWidestName), width, size_of(row.grid),
                            size_of(row.block), row.count, time_of(row),
                            one_line(words_of_ptx(row), kLongestLine));
        for (const CapturedLaunch& launch : process.launches)
            if (launch.row == row.id)
                text += fmt::format("{:>9}  {}\n", launch.number, one_line(line_of(launch), kLongestLine));
    }
    if (process.note.graphs > 0)
        text += fmt::format("CUDA graphs were launched {}, and their kernels are not seen\n",
                            times_in_words(process.note.graphs));
    for (const std::string& problem : {process.note.problem, process.damage})
        if (!problem.empty()) text += one_line(problem, kLongestLine) + "\n";
}

}  // namespace

std::string captured_table(const std::vector<CapturedProcess>& processes) {
    std::string text;
    const auto listed = [](const CapturedProcess& process) {
        return !process.rows.empty() || process.note.graphs > 0;
    };
    const bool several = std::ranges::count_if(processes, listed) > 1;
    for (const CapturedProcess& process : processes) {
        if (!listed(process)) continue;
        if (several) text += fmt::format("\nprocess {}\n", process.pid);
        add_process(text, process);
    }
    return text;
}

std::string captured_json(const std::vector<std::string>& command, int exit, const std::string& failure,
                          const std::vector<CapturedProcess>& processes) {
    Json launches = Json::array();
    uint64_t graphs = 0;
    for (const CapturedProcess& process : processes) {
        graphs += process.note.graphs;
        for (const CapturedRow& row : process.rows) launches.push_back(json_of(process, row));
    }
    Json all = object_of("schema", "tilescope.capture/1", "version", kVersion, "command", command, "exit",
                         exit, "failure", text_or_null(failure), "graphs", graphs);
    all["launches"] = std::move(launches);
    return json_text(all, 2) + "\n";
}

}  // namespace tilescope::cli
