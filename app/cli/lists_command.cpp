// What ships and what is here, a line each, or as JSON:
//
//   tilescope kernels [--json]      the kernels that ship
//   tilescope devices [--json]      the GPUs of this machine
//   tilescope recordings [--json]   the recordings that are built into the program, most of them from real
//                                   GPUs; --save NAME -o FILE.tsc writes one out
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/work.h"
#include "core/base/json_fields.h"
#include "core/trace/file.h"
#include "kernels/gpu/backend.h"
#include "kernels/gpu/driver.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/shipped.h"

namespace tilescope::cli {

namespace {

using Json = nlohmann::ordered_json;

using kernels::ShippedRecording;

struct ListOptions {
    bool json = false;
    std::string save, output;  // recordings
};

// Cells side by side, all columns but the last as wide as their longest cell.
using Rows = std::vector<std::vector<std::string>>;
std::string lines_of(const Rows& rows) {
    std::vector<size_t> widths;
    for (const auto& row : rows) {
        widths.resize(row.size());
        for (size_t i = 0; i + 1 < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size() + 2);
    }
    std::string text;
    for (const auto& row : rows) {
        for (size_t i = 0; i < row.size(); ++i) text += fmt::format("{:{}}", row[i], widths[i]);
        text += "\n";
    }
    return text;
}

int run_kernels(const ListOptions& options) {
    Rows rows;
    Json list = Json::array(), presets = Json::array();
    for (const kernels::KernelInfo& info : kernels::catalogue()) {
        rows.push_back({info.name, info.teaches});
        Json shared = Json::array();
        for (const kernels::SharedArray& array : info.shared)
            shared.push_back(object_of("name", array.name, "extra_cols", array.extra_cols));
        const bool greedy = info.default_schedule.kind == Schedule::Kind::Greedy;
        list.push_back(object_of(
            "name", info.name, "teaches", info.teaches, "source", "kernels/textbook/" + info.name + ".cu",
            "tiles", info.own_tile ? Json::array() : Json(kernels::kTiles), "swapped", info.swapped, "input",
            name_of(info.input), "shared", shared, "schedule", greedy ? "greedy" : "fair"));
        if (info.own_tile)
            add_fields(list.back(), "tile_rows", info.own_tile->rows, "tile_cols", info.own_tile->cols);
        add_fields(list.back(), "fault", info.fault.empty() ? Json() : Json(info.fault), "rung",
                   info.rung ? Json(*info.rung) : Json());
    }
    for (const kernels::Preset& preset : kernels::presets()) {
        const kernels::Shape& s = preset.shape;
        presets.push_back(object_of("label", preset.label, "kernel", preset.kernel, "m", s.m, "k", s.k, "n",
                                    s.n, "tile", s.tile));
    }
    return print(options.json ? document("tilescope.kernels/1", "kernels", list, "presets", presets)
                              : lines_of(rows));
}

int show_no_devices(const ListOptions& options, const std::string& why) {
    if (options.json)
        return print(document("tilescope.devices/1", "devices", Json::array(), "why_none", why));
    return print(
        fmt::format("No NVIDIA GPU here: {}. Kernels are recorded on the CPU. {}\n", why, gpu::kWithAGpu));
}

// In JSON sizes are in bytes and clocks in kHz, as the driver states them.
int run_devices(const ListOptions& options) {
    const auto found = gpu::devices();
    if (!found) return show_no_devices(options, found.error().message);
    Rows rows;
    Json list = Json::array();
    for (const gpu::DeviceInfo& info : *found) {
        rows.push_back({std::to_string(info.ordinal),
                        fmt::format("{}, {} SMs, {:.1f} GiB", gpu::describe(info), info.sms,
                                    static_cast<double>(info.memory_bytes) / (1 << 30))});
        list.push_back(object_of(
            "number", info.ordinal, "name", info.name, "driver", info.driver, "cuda",
            fmt::format("{}.{}", info.cuda_major, info.cuda_minor), "compute_capability",
            fmt::format("{}.{}", info.major, info.minor), "sms", info.sms, "clock_khz", info.clock_khz,
            "memory_clock_khz", info.memory_clock_khz, "memory_bus_bits", info.memory_bus_bits,
            "memory_bytes", info.memory_bytes, "l2_bytes", info.l2_bytes, "shared_per_block",
            info.shared_per_block, "shared_per_block_optin", info.shared_per_block_optin, "shared_per_sm",
            info.shared_per_sm, "registers_per_block", info.registers_per_block, "registers_per_sm",
            info.registers_per_sm, "threads_per_block", info.threads_per_block, "threads_per_sm",
            info.threads_per_sm, "blocks_per_sm", info.blocks_per_sm, "warp_size", info.warp_size));
    }
    return print(options.json ? document("tilescope.devices/1", "devices", list) : lines_of(rows));
}

int save(const ListOptions& options) {
    const ShippedRecording* recording = kernels::find_shipped_recording(options.save);
    if (!recording) {
        refuse(kWrongCall, "no recording '{}' ships; 'tilescope recordings' lists those that do",
               options.save);
    }
    const std::string output = options.output.empty() ? recording->name + ".tsc" : options.output;
    check_output(output);
    const auto trace = need(kernels::open_shipped(*recording));
    need(trace::write_file(trace, output));
    return print(fmt::format("{}: {}\n", output, recording->label));
}

int run_recordings(const ListOptions& options) {
    if (!options.save.empty()) return save(options);
    if (!options.output.empty()) refuse(kWrongCall, "-o names where --save writes to; give --save NAME too");
    Rows rows;
    Json list = Json::array();
    for (const ShippedRecording& one : kernels::shipped_recordings()) {
        rows.push_back({one.name, one.label, one.device, one.date});
        list.push_back(object_of("name", one.name, "label", one.label, "kernel", one.kernel, "m", one.m, "k",
                                 one.k, "n", one.n, "tile", one.tile, "device", one.device, "driver",
                                 one.driver, "date", one.date, "command", one.command, "bytes",
                                 one.bytes.size()));
    }
    if (options.json) return print(document("tilescope.recordings/1", "recordings", list));
    return print(rows.empty() ? "No recordings are built into this tilescope.\n" : lines_of(rows));
}

}  // namespace

CliCommand kernels_command() {
    return command(
        "kernels", "List the kernels that ship and what each one teaches", run_kernels,
        [](auto& o) -> OptionTable {
            return {{"--json", &o.json, "Print JSON, with tile widths, shared arrays and presets"}};
        });
}

CliCommand devices_command() {
    return command("devices", "List the NVIDIA GPUs of this machine", run_devices,
                   [](auto& o) -> OptionTable {
                       return {{"--json", &o.json, "Print JSON, with the limits that the driver states"}};
                   });
}

CliCommand recordings_command() {
    return command("recordings", "List the recordings that ship, or save one", run_recordings,
                   [](auto& o) -> OptionTable {
                       return {
                           {"--json", &o.json, "Print JSON, with sizes and the command that made each"},
                           {"--save", &o.save, "Write the recording of this name to a file", "SHIPPED"},
                           {"-o,--output", &o.output, "The file to write (NAME.tsc)", "PATH"},
                       };
                   });
}

}  // namespace tilescope::cli
