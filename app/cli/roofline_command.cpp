// tilescope roofline [--device D] [KERNEL|FILE ...]: the lectures' bounds, recordings under a device's roofs,
// and times that were measured.
//
// Every row says which it is: a bound is worked out from stated figures, the other kind is measured.

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "core/base/text.h"
#include "core/export/bounds.h"
#include "kernels/run/record.h"
#include "kernels/textbook/devices.h"
#include "kernels/textbook/timings.h"

namespace tilescope::cli {

namespace {

using analysis::Roof;
using report::RooflineRow;

struct RooflineOptions {
    std::string device;
    std::vector<std::string> subjects;
    bool json = false;

    OptionTable table() {
        return {
            {"SUBJECT", &subjects,
             "Kernels that 'tilescope kernels' lists, or recordings (the lectures' cases)",
             "KERNEL|RECORDING", kSeveral},
            {"--device", &device, "A device, or a compute capability such as 8.6 (h200)", "DEVICE"},
            {"--json", &json, "Print JSON (schema tilescope.roofline/1)"},
        };
    }
};

RooflineRow row_of_tile(std::string id, std::string title, const Roof& roof, uint32_t tile) {
    return {std::move(id), roof, bound_point(std::move(title), roof, analysis::tile_intensity(tile)), tile};
}

// Without a device: the cases of the lectures, each under its own roof.
std::vector<RooflineRow> lecture_rows() {
    std::vector<RooflineRow> rows;
    for (const analysis::RoofCase& c : need(analysis::roof_cases(kernels::devices())))
        rows.push_back(row_of_tile(c.id, c.title, c.roof, c.tile));
    return rows;
}

std::vector<RooflineRow> device_rows(const analysis::DeviceSpec& device) {
    const Roof roof = stated_roof(device);
    std::vector<RooflineRow> rows;
    for (const uint32_t tile : {1u, 2u, 4u, 8u, 16u, 32u}) {
        if (tile > analysis::widest_tile(device.sm)) break;
        rows.push_back(row_of_tile(fmt::format("{}-tile-{}", device.id, tile),
                                   tile == 1 ? "untiled" : fmt::format("{} × {} tiles", tile, tile), roof,
                                   tile));
    }
    return rows;
}

RooflineRow recorded_row(std::string id, std::string title, const Roof& roof,
                         const analysis::Recording& recording) {
    const auto& product = recording.product;
    // First: a recording that does not run again is told before its steps are summed up.
    const uint64_t flop = product ? 0 : need(kernels::count_flop(*recording.trace));
    const auto summary = need(analysis::summarize(recording));
    const auto work = need(analysis::recorded_work(recording, summary, flop));
    RooflineRow row{std::move(id), roof, bound_point(title, roof, work.intensity)};
    row.of_sectors = bound_point(std::move(title), roof, work.intensity_of_sectors);
    if (product) {
        row.sizes = {{product->m, product->k, product->n}};
        row.tile = summary[analysis::StepKind::SharedLoad].requests > 0 ? product->tile : 1;
    }
    return row;
}

RooflineRow file_row(const analysis::DeviceSpec& device, const std::string& file) {
    const analysis::Recording recording = opened(file);
    const auto& product = recording.product;
    const std::string title =
        product ? fmt::format("{} {}{}", one_line(recording.trace->meta.kernel), product->sizes(" × "),
                              kernels::tile_text(product->tile, ", T = "))
                : analysis::title_of(recording);
    const ElementType input = product ? recording.trace->launch.arrays[product->M].type : ElementType::F32;
    return recorded_row(file, title + ", recorded accesses", stated_roof(device, input), recording);
}

// A kernel that ships: by the accesses of a small launch of whole tiles, so that a larger one has as many for
// each element; and its measured times on that device, at the intensity of the bytes that its threads load.
void add_kernel(const analysis::DeviceSpec& device, const kernels::KernelInfo& kernel,
                std::vector<RooflineRow>& rows) {
    const auto& own = kernel.own_tile;
    for (const uint32_t tile : own ? std::vector{0u} : std::vector{8u, 16u, 32u}) {
        if (tile > analysis::widest_tile(device.sm)) continue;
        const auto plan = need(kernels::plan(kernel.name, own ? kernels::Shape{own->rows, 64, own->cols, 0}
                                                              : kernels::Shape{64, 64, 64, tile}));
        const std::string title = own ? kernel.name
                                  : kernel.tiled
                                      ? fmt::format("{}, T = {}", kernel.name, tile)
                                      : fmt::format("{}, blocks of {} × {}", kernel.name, tile, tile);
        rows.push_back(recorded_row(kernel.name + kernels::tile_text(tile, "-t"), title,
                                    stated_roof(device, kernel.input),
                                    need(analysis::opened(need(kernels::record_cpu(plan, {}))))));
        rows.back().sizes = {};
    }
    for (const kernels::Timings& set : kernels::shipped_timings()) {
        const analysis::DeviceSpec* const measured_on = kernels::find_driver_name(set.device);
        if (!measured_on || measured_on->id != device.id) continue;
        const bool halves = kernel.input == ElementType::F16;  // whose peak nothing here measures
        const Roof roof{fmt::format("{}, {}", set.device, halves ? "copy measured, peak stated" : "measured"),
                        set.roofs.copy_gbs, halves ? device.half_gflops : set.roofs.fp32_gflops};
        for (const kernels::Timing& t : set.rows) {
            if (t.kernel != kernel.name || t.requested_gbs <= 0 || !on_curves(t)) continue;
            const std::string title = fmt::format("{} {} × {} × {}{}, PTX by {}", t.kernel, t.m, t.k, t.n,
                                                  kernels::tile_text(t.tile, ", T = "), set.compiler);
            rows.push_back(
                {fmt::format("{}{}-{}-{}", t.kernel, kernels::tile_text(t.tile, "-t"), t.n, set.compiler),
                 roof,
                 measured_point(title, roof, flop_per_loaded_byte(t), t.gflops),
                 kernel.tiled ? t.tile : 1,
                 std::nullopt,
                 {{t.m, t.k, t.n}},
                 set.compiler});
        }
    }
}

std::vector<RooflineRow> rows_of(const RooflineOptions& options) {
    if (options.device.empty() && options.subjects.empty()) return lecture_rows();
    const auto device = need(kernels::device_named(options.device.empty() ? "h200" : options.device));
    std::vector<RooflineRow> rows;
    if (options.subjects.empty()) rows = device_rows(device);
    for (const std::string& subject : options.subjects)
        if (const kernels::KernelInfo* kernel = kernels::find(subject))
            add_kernel(device, *kernel, rows);
        else
            rows.push_back(file_row(device, subject));
    return rows;
}

int run_roofline(const RooflineOptions& options) {
    const auto rows = rows_of(options);
    return print(options.json ? to_json(rows) : to_text(rows));
}

}  // namespace

CliCommand roofline_command() {
    return command("roofline", "Bounds from bandwidth and peak, and the times measured below them",
                   run_roofline);
}

}  // namespace tilescope::cli
