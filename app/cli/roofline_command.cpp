// tilescope roofline [--device D] [KERNEL|FILE ...]: the lectures' bounds, recordings under a device's roofs,
// and times that were measured.
//
// Every row says which it is: a bound is worked out from stated figures, a measured one has a clock behind
// it.
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/open_recording.h"
#include "core/analysis/roofline.h"
#include "core/base/version.h"
#include "core/export/text_table.h"
#include "kernels/catalogue.h"
#include "kernels/devices.h"
#include "kernels/timings.h"

namespace tilescope::cli {

namespace {

using analysis::Roof;
using analysis::RoofPoint;
using Json = nlohmann::ordered_json;

struct Options {
    std::string device;
    std::vector<std::string> subjects;
    bool json = false;
};

struct Row {
    std::string id;
    Roof roof;
    RoofPoint point;
    uint32_t tile = 0;  // 0: not known
    uint32_t m = 0, k = 0, n = 0;
};

Row row_of_tile(std::string id, std::string title, const Roof& roof, uint32_t tile) {
    return {std::move(id), roof, bound_point(std::move(title), roof, analysis::tile_intensity(tile)), tile};
}

// Without a device: the cases of the lectures, each under its own roof.
Result<std::vector<Row>> lecture_rows() {
    auto cases = analysis::roof_cases(kernels::devices());
    if (!cases) return cases.error();
    std::vector<Row> rows;
    for (const analysis::RoofCase& c : *cases) rows.push_back(row_of_tile(c.id, c.title, c.roof, c.tile));
    return rows;
}

std::vector<Row> device_rows(const analysis::DeviceSpec& device) {
    const Roof roof = stated_roof(device);
    std::vector<Row> rows;
    for (const uint32_t tile : {1u, 2u, 4u, 8u, 16u, 32u}) {
        if (tile > analysis::widest_tile(device.sm)) break;
        rows.push_back(row_of_tile(fmt::format("{}-tile-{}", device.id, tile),
                                   tile == 1 ? "untiled" : fmt::format("{} x {} tiles", tile, tile), roof,
                                   tile));
    }
    return rows;
}

// A kernel's measured times on a device, at the intensity of the bytes that its threads ask for.
void add_measured(const analysis::DeviceSpec& device, std::string_view kernel, std::vector<Row>& rows) {
    for (const kernels::Timings& set : kernels::shipped_timings()) {
        const analysis::DeviceSpec* const measured_on = kernels::find_driver_name(set.device);
        if (!measured_on || measured_on->id != device.id) continue;
        const Roof roof{fmt::format("{}, measured", set.device), set.roofs.copy_gbs, set.roofs.fp32_gflops};
        for (const kernels::Timing& t : set.rows) {
            if (t.kernel != kernel || t.requested_gbs <= 0) continue;
            Row row{fmt::format("{}-{}-t{}", t.kernel, t.n, t.tile),
                    roof,
                    measured_point(fmt::format("{} {} x {} x {}, T = {}", t.kernel, t.m, t.k, t.n, t.tile),
                                   roof, t.gflops / t.requested_gbs, t.gflops),
                    t.tile,
                    t.m,
                    t.k,
                    t.n};
            rows.push_back(std::move(row));
        }
    }
}

Result<Row> recorded_row(const analysis::DeviceSpec& device, const std::string& file) {
    const auto opened = open_recording(file);
    if (!opened) return opened.error();
    const auto summary = analysis::summarize(opened->trace);
    if (!summary) return summary.error();
    const auto work = analysis::recorded_work(opened->trace, *summary);
    if (!work) return work.error();
    const trace::Meta& meta = opened->trace.meta;
    const Roof roof = stated_roof(device);
    return Row{file,
               roof,
               bound_point(fmt::format("{} {} x {} x {}, T = {}, recorded bytes", meta.kernel, meta.m, meta.k,
                                       meta.n, meta.tile),
                           roof, work->intensity),
               meta.tile,
               meta.m,
               meta.k,
               meta.n};
}

Result<std::vector<Row>> rows_of(const Options& options) {
    if (options.device.empty() && options.subjects.empty()) return lecture_rows();
    auto device = kernels::device_named(options.device.empty() ? "h200" : options.device);
    if (!device) return device.error();
    std::vector<Row> rows;
    if (options.subjects.empty()) rows = device_rows(*device);
    for (const std::string& subject : options.subjects) {
        if (const kernels::KernelInfo* kernel = kernels::find(subject)) {
            const Roof roof = stated_roof(*device);
            if (!kernel->tiled) rows.push_back(row_of_tile(subject, subject, roof, 1));
            for (const uint32_t tile : {8u, 16u, 32u}) {
                if (!kernel->tiled || tile > analysis::widest_tile(device->sm)) continue;
                rows.push_back(row_of_tile(fmt::format("{}-t{}", subject, tile),
                                           fmt::format("{}, T = {}", subject, tile), roof, tile));
            }
            add_measured(*device, subject, rows);
            continue;
        }
        auto row = recorded_row(*device, subject);
        if (!row) return row.error();
        rows.push_back(std::move(*row));
    }
    return rows;
}

std::string as_json(const std::vector<Row>& rows) {
    Json list = Json::array();
    for (const Row& row : rows) {
        Json item{{"id", row.id},
                  {"name", row.point.name},
                  {"kind", name_of(row.point.kind)},
                  {"roof", row.roof.name},
                  {"memory_gbs", row.roof.memory_gbs},
                  {"peak_gflops", row.roof.peak_gflops},
                  {"goperands_per_second", operands_per_second(row.roof)},
                  {"flop_per_byte", row.point.flop_per_byte},
                  {"cgma", analysis::cgma_of_intensity(row.point.flop_per_byte)},
                  {"gflops", row.point.gflops},
                  {"share_of_peak", row.point.share_of_peak},
                  {"memory_bound", row.point.memory_bound}};
        if (row.tile) {
            item["tile"] = row.tile;
            item["tile_shared_bytes"] = row.tile > 1 ? analysis::tile_shared_bytes(row.tile) : 0;
        }
        if (row.n) item["m"] = row.m, item["k"] = row.k, item["n"] = row.n;
        list.push_back(std::move(item));
    }
    const Json all{{"schema", "tilescope.roofline/1"}, {"version", kVersion}, {"rows", list}};
    return all.dump(2) + "\n";
}

std::string as_text(const std::vector<Row>& rows) {
    report::TextTable table(3, {"case", "roof", "figure is", "GB/s", "peak GFLOP/s", "G loads/s", "CGMA",
                                "FLOP/B", "GFLOP/s", "of peak"});
    for (const Row& row : rows) {
        table.add({row.point.name, row.roof.name, name_of(row.point.kind),
                   fmt::format("{:.1f}", row.roof.memory_gbs), fmt::format("{:.1f}", row.roof.peak_gflops),
                   fmt::format("{:.2f}", operands_per_second(row.roof)),
                   fmt::format("{:.2f}", analysis::cgma_of_intensity(row.point.flop_per_byte)),
                   fmt::format("{:.3f}", row.point.flop_per_byte), fmt::format("{:.2f}", row.point.gflops),
                   fmt::format("{:.2f} %", row.point.share_of_peak * 100)});
    }
    return table.text() +
           "\nA bound is worked out from bytes that threads request and from figures that are stated; caches "
           "merge "
           "requests, so that a measured kernel can lie above it.\n";
}

int run_roofline(const Options& options) {
    const auto rows = rows_of(options);
    if (!rows) return fail(kFailure, rows.error().message);
    return print(options.json ? as_json(*rows) : as_text(*rows));
}

}  // namespace

void add_roofline(CLI::App& app, Chosen& chosen) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("roofline", "Bounds from bandwidth and peak, and the times measured below them");
    command
        ->add_option("SUBJECT", options->subjects,
                     "Kernels that 'tilescope kernels' lists, or recordings (the lectures' cases)")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command->add_option("--device", options->device, "A device, or a compute capability such as 8.6 (h200)");
    command->add_flag("--json", options->json, "Print JSON (schema tilescope.roofline/1)");
    command->callback([options, &chosen] { chosen = [options] { return run_roofline(*options); }; });
}

}  // namespace tilescope::cli
