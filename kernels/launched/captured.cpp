#include "kernels/launched/captured.h"

#include <utility>

#include "kernels/launched/line_json.h"

namespace tilescope::launched {

using nlohmann::json;

namespace {

std::string line_of(const char* kind, json value) { return written({{kind, std::move(value)}}); }

CapturedRow row_of(const json& value) {
    CapturedRow row;
    row.id = value.at("id").get<uint64_t>();
    row.kernel = value.at("kernel").get<std::string>();
    row.entry = value.at("entry").get<std::string>();
    row.grid = dim3_of(value.at("grid"));
    row.block = dim3_of(value.at("block"));
    row.shared = value.at("shared").get<uint64_t>();
    row.first = value.at("first").get<uint64_t>();
    row.count = value.at("count").get<uint64_t>();
    row.timed = value.at("timed").get<uint64_t>();
    row.ms = value.at("ms").get<double>();
    row.ptx = value.at("ptx").get<std::string>();
    row.without = value.at("without").get<std::string>();
    row.remark = value.at("remark").get<std::string>();
    return row;
}

CapturedLaunch launch_of(const json& value) {
    CapturedLaunch launch;
    launch.number = value.at("number").get<uint64_t>();
    launch.row = value.at("row").get<uint64_t>();
    launch.recorded = value.at("recorded").get<std::string>();
    launch.unrecorded = value.at("unrecorded").get<std::string>();
    launch.remark = value.at("remark").get<std::string>();
    launch.ms = value.at("ms").get<double>();
    return launch;
}

void take(CapturedProcess& process, std::map<uint64_t, CapturedRow>& rows, std::string_view line) {
    const json value = json::parse(line);
    if (value.contains("row")) {
        CapturedRow row = row_of(value["row"]);
        rows[row.id] = std::move(row);
    } else if (value.contains("launch")) {
        process.launches.push_back(launch_of(value["launch"]));
    } else {
        const json& note = value.at("note");
        process.note = {note.at("problem").get<std::string>(), note.at("graphs").get<uint64_t>()};
    }
}

}  // namespace

std::string to_json(const CapturedRow& row) {
    return line_of("row", {{"id", row.id},
                           {"kernel", row.kernel},
                           {"entry", row.entry},
                           {"grid", to_array(row.grid)},
                           {"block", to_array(row.block)},
                           {"shared", row.shared},
                           {"first", row.first},
                           {"count", row.count},
                           {"timed", row.timed},
                           {"ms", row.ms},
                           {"ptx", row.ptx},
                           {"without", row.without},
                           {"remark", row.remark}});
}

std::string to_json(const CapturedLaunch& launch) {
    return line_of("launch", {{"number", launch.number},
                              {"row", launch.row},
                              {"recorded", launch.recorded},
                              {"unrecorded", launch.unrecorded},
                              {"remark", launch.remark},
                              {"ms", launch.ms}});
}

std::string to_json(const CapturedNote& note) {
    return line_of("note", {{"problem", note.problem}, {"graphs", note.graphs}});
}

CapturedProcess captured_from_lines(uint64_t pid, std::string_view lines) {
    CapturedProcess process;
    process.pid = pid;
    std::map<uint64_t, CapturedRow> rows;
    while (!lines.empty()) {
        const size_t end = lines.find('\n');
        if (end == std::string_view::npos) break;  // it was being written
        try {
            take(process, rows, lines.substr(0, end));
        } catch (const json::exception&) {
            process.damage = "a line of a launch cannot be read; run the command again";
        }
        lines.remove_prefix(end + 1);
    }
    for (auto& [id, row] : rows) process.rows.push_back(std::move(row));
    return process;
}

}  // namespace tilescope::launched
