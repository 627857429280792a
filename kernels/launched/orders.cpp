#include "kernels/launched/orders.h"

#include "kernels/launched/line_json.h"

namespace tilescope::launched {

using nlohmann::json;

namespace {

json to_array(const std::vector<LaunchFault>& faults) {
    json all = json::array();
    for (const LaunchFault& fault : faults)
        all.push_back({{"kind", fault.kind},
                       {"severity", fault.severity},
                       {"line", fault.line},
                       {"other_line", fault.other_line},
                       {"count", fault.count},
                       {"sentence", fault.sentence}});
    return all;
}

LaunchFault fault_of(const json& value) {
    return {value.at("kind").get<std::string>(), value.at("severity").get<std::string>(),
            value.at("line").get<uint32_t>(),    value.at("other_line").get<uint32_t>(),
            value.at("count").get<uint64_t>(),   value.at("sentence").get<std::string>()};
}

json or_null(const std::string& text) { return text.empty() ? json() : json(text); }

std::string text_of(const json& value) { return value.is_null() ? std::string() : value.get<std::string>(); }

template <class Read>
auto read(std::string_view text, const char* what, Read from) -> Result<decltype(from(json()))> {
    try {
        return from(json::parse(text));
    } catch (const json::exception&) {
        return Error{std::string(what) + " cannot be read; run the program with tilescope record"};
    }
}

}  // namespace

std::string to_json(const Orders& orders) {
    const BlockWindow& w = orders.window;
    return written({{"schema", "tilescope.orders/1"},
                    {"folder", orders.folder},
                    {"launches", orders.launches},
                    {"source", orders.source},
                    {"device", orders.device},
                    {"backend", orders.backend},
                    {"engine", orders.engine},
                    {"kernels", orders.kernels},
                    {"numbers", orders.numbers},
                    {"every", orders.every},
                    {"window", {w.x0, w.x1, w.y0, w.y1, w.z0, w.z1}}});
}

std::string to_json(const LaunchLine& line) {
    return written({{"number", line.number},
                    {"kernel", line.kernel},
                    {"grid", to_array(line.grid)},
                    {"block", to_array(line.block)},
                    {"shared", line.shared},
                    {"ms", line.ms},
                    {"backend", line.backend},
                    {"engine", or_null(line.engine)},
                    {"error", or_null(line.error)},
                    {"recorded", or_null(line.recorded)},
                    {"unrecorded", or_null(line.unrecorded)},
                    {"remark", or_null(line.remark)},
                    {"same_as", line.same_as == 0 ? json() : json(line.same_as)},
                    {"faults", to_array(line.faults)}});
}

std::string to_json(const CallNote& note) {
    return written(
        {{"call", {{"line", note.line}, {"severity", note.severity}, {"sentence", note.sentence}}}});
}

bool is_note(std::string_view line) { return line.starts_with("{\"call\""); }

Result<CallNote> note_from_json(std::string_view text) {
    return read(text, "the line of a call", [](const json& value) {
        const json& note = value.at("call");
        return CallNote{note.at("severity").get<std::string>(), note.at("line").get<uint32_t>(),
                        note.at("sentence").get<std::string>()};
    });
}

Result<Orders> orders_from_json(std::string_view text) {
    return read(text, "the file of orders", [](const json& value) {
        Orders orders;
        orders.folder = value.at("folder").get<std::string>();
        orders.launches = value.at("launches").get<std::string>();
        orders.source = value.at("source").get<std::string>();
        orders.device = value.at("device").get<std::string>();
        orders.backend = value.at("backend").get<std::string>();
        orders.engine = value.at("engine").get<std::string>();
        orders.kernels = value.at("kernels").get<std::vector<std::string>>();
        orders.numbers = value.at("numbers").get<std::vector<uint64_t>>();
        orders.every = value.at("every").get<bool>();
        const auto w = value.at("window").get<std::array<uint32_t, 6>>();
        orders.window = {w[0], w[1], w[2], w[3], w[4], w[5]};
        return orders;
    });
}

Result<LaunchLine> launch_from_json(std::string_view text) {
    return read(text, "the line of a launch", [](const json& value) {
        LaunchLine line;
        line.number = value.at("number").get<uint64_t>();
        line.kernel = value.at("kernel").get<std::string>();
        line.grid = dim3_of(value.at("grid"));
        line.block = dim3_of(value.at("block"));
        line.shared = value.at("shared").get<uint64_t>();
        line.ms = value.at("ms").get<double>();
        line.backend = value.at("backend").get<std::string>();
        line.engine = text_of(value.at("engine"));
        line.error = text_of(value.at("error"));
        line.recorded = text_of(value.at("recorded"));
        line.unrecorded = text_of(value.at("unrecorded"));
        line.remark = text_of(value.at("remark"));
        if (const json& same = value.at("same_as"); !same.is_null()) line.same_as = same.get<uint64_t>();
        for (const json& fault : value.at("faults")) line.faults.push_back(fault_of(fault));
        return line;
    });
}

}  // namespace tilescope::launched
