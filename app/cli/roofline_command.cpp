// tilescope roofline [--device D] [KERNEL|FILE ...]: the lectures' bounds, recordings under a device's roofs,
// and times that were measured.
//
// Every row says which it is: a bound is worked out from stated figures, a measured one has a clock behind
// it.
#include <algorithm>

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "core/analysis/product.h"
#include "core/base/text.h"
#include "core/export/text_table.h"
#include "core/limits/roofline.h"
#include "kernels/run/record.h"
#include "kernels/textbook/devices.h"

namespace tilescope::cli {

namespace {

using analysis::Roof;
using analysis::RoofPoint;

struct Options {
    std::string device;
    std::vector<std::string> subjects;
    bool json = false;
};

struct Row {
    std::string id;
    Roof roof;
    RoofPoint point;
    // Of accesses that were recorded: the bound by the sectors that they need.
    std::optional<RoofPoint> of_sectors{};
    uint32_t tile = 0;       // of shared memory; 0: none, or not known
    Json sizes{};            // m, k, n of a product; null where the row is true of every size
    std::string compiler{};  // of the PTX that was timed; "" for a bound
};

Row row_of_tile(std::string id, std::string title, const Roof& roof, uint32_t tile) {
    return {std::move(id), roof, bound_point(std::move(title), roof, analysis::tile_intensity(tile)),
            std::nullopt, tile};
}

// Without a device: the cases of the lectures, each under its own roof.
std::vector<Row> lecture_rows() {
    std::vector<Row> rows;
    for (const analysis::RoofCase& c : need(analysis::roof_cases(kernels::devices())))
        rows.push_back(row_of_tile(c.id, c.title, c.roof, c.tile));
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

Row recorded_row(std::string id, std::string title, const Roof& roof, const trace::Trace& trace) {
    const auto summary = need(analysis::summarize(trace));
    const auto product = analysis::product_of(trace);
    const uint64_t flop = product ? 0 : need(kernels::count_flop(trace));
    const auto work = need(analysis::recorded_work(trace, summary, flop));
    Row row{std::move(id), roof, bound_point(title, roof, work.intensity)};
    row.of_sectors = bound_point(std::move(title), roof, work.intensity_of_sectors);
    if (product) {
        row.sizes = object_of("m", product->m, "k", product->k, "n", product->n);
        row.tile = summary[analysis::StepKind::SharedLoad].requests > 0 ? product->tile : 1;
    }
    return row;
}

Row file_row(const analysis::DeviceSpec& device, const std::string& file) {
    const trace::Trace trace = need(open_recording(file)).trace;
    const auto product = analysis::product_of(trace);
    const std::string title = product
                                  ? fmt::format("{} {}{}", one_line(trace.meta.kernel), product->sizes(" x "),
                                                kernels::tile_text(product->tile, ", T = "))
                                  : analysis::title_of(trace, product);
    return recorded_row(file, title + ", recorded accesses", stated_roof(device), trace);
}

// A kernel that ships: by the accesses of a small launch of whole tiles, so that a larger one has as many for
// each element; and its measured times on that device, at the intensity of the bytes that its threads load.
void add_kernel(const analysis::DeviceSpec& device, const kernels::KernelInfo& kernel,
                std::vector<Row>& rows) {
    const auto& own = kernel.own_tile;
    for (const uint32_t tile : own ? std::vector{0u} : std::vector{8u, 16u, 32u}) {
        if (tile > analysis::widest_tile(device.sm)) continue;
        const auto plan = need(kernels::plan(kernel.name, own ? kernels::Shape{own->rows, 64, own->cols, 0}
                                                              : kernels::Shape{64, 64, 64, tile}));
        const std::string title = own ? kernel.name
                                  : kernel.tiled
                                      ? fmt::format("{}, T = {}", kernel.name, tile)
                                      : fmt::format("{}, blocks of {} x {}", kernel.name, tile, tile);
        rows.push_back(recorded_row(kernel.name + kernels::tile_text(tile, "-t"), title, stated_roof(device),
                                    need(kernels::record_cpu(plan, {}))));
        rows.back().sizes = {};
    }
    for (const kernels::Timings& set : kernels::shipped_timings()) {
        const analysis::DeviceSpec* const measured_on = kernels::find_driver_name(set.device);
        if (!measured_on || measured_on->id != device.id) continue;
        const Roof roof{fmt::format("{}, measured", set.device), set.roofs.copy_gbs, set.roofs.fp32_gflops};
        for (const kernels::Timing& t : set.rows) {
            if (t.kernel != kernel.name || t.requested_gbs <= 0 || !on_curves(t)) continue;
            const std::string title = fmt::format("{} {} x {} x {}{}, PTX by {}", t.kernel, t.m, t.k, t.n,
                                                  kernels::tile_text(t.tile, ", T = "), set.compiler);
            rows.push_back(
                {fmt::format("{}{}-{}-{}", t.kernel, kernels::tile_text(t.tile, "-t"), t.n, set.compiler),
                 roof, measured_point(title, roof, flop_per_loaded_byte(t), t.gflops), std::nullopt,
                 kernel.tiled ? t.tile : 1, object_of("m", t.m, "k", t.k, "n", t.n), set.compiler});
        }
    }
}

std::vector<Row> rows_of(const Options& options) {
    if (options.device.empty() && options.subjects.empty()) return lecture_rows();
    const auto device = need(kernels::device_named(options.device.empty() ? "h200" : options.device));
    std::vector<Row> rows;
    if (options.subjects.empty()) rows = device_rows(device);
    for (const std::string& subject : options.subjects)
        if (const kernels::KernelInfo* kernel = kernels::find(subject))
            add_kernel(device, *kernel, rows);
        else
            rows.push_back(file_row(device, subject));
    return rows;
}

std::string as_json(const std::vector<Row>& rows) {
    Json list = Json::array();
    for (const Row& row : rows) {
        const bool peak = row.roof.has_peak();
        const RoofPoint& point = row.point;
        Json item = object_of(
            "id", row.id, "name", point.name, "kind", name_of(point.kind), "roof", row.roof.name,
            "memory_gbs", row.roof.memory_gbs, "peak_gflops", peak ? Json(row.roof.peak_gflops) : Json(),
            "goperands_per_second", operands_per_second(row.roof), "flop_per_byte", point.flop_per_byte,
            "cgma", analysis::cgma_of_intensity(point.flop_per_byte), "gflops", point.gflops, "share_of_peak",
            peak ? Json(point.share_of_peak) : Json(), "memory_bound", point.memory_bound);
        if (row.of_sectors)
            add_fields(item, "flop_per_byte_of_sectors", row.of_sectors->flop_per_byte, "gflops_of_sectors",
                       row.of_sectors->gflops);
        if (row.tile)
            add_fields(item, "tile", row.tile, "tile_shared_bytes",
                       row.tile > 1 ? analysis::tile_shared_bytes(row.tile) : 0);
        if (!row.sizes.empty()) item.update(row.sizes);
        if (!row.compiler.empty()) item["compiler"] = row.compiler;
        list.push_back(std::move(item));
    }
    return document("tilescope.roofline/1", "rows", list);
}

std::string as_text(const std::vector<Row>& rows) {
    const bool sectors = std::any_of(rows.begin(), rows.end(), [](const Row& r) { return r.of_sectors; });
    std::vector<std::string> head{"case",      "roof", "figure is", "GB/s",    "peak GFLOP/s",
                                  "G loads/s", "CGMA", "FLOP/B",    "GFLOP/s", "of peak"};
    if (sectors) head.insert(head.end(), {"FLOP/B of sectors", "GFLOP/s by sectors"});
    report::TextTable table(3, head);
    const auto digits = [](double value, int count) { return fmt::format("{:.{}f}", value, count); };
    for (const Row& row : rows) {
        const bool peak = row.roof.has_peak();
        const RoofPoint& point = row.point;
        std::vector<std::string> cells{point.name, row.roof.name, name_of(point.kind)};
        cells.insert(
            cells.end(),
            {digits(row.roof.memory_gbs, 1), peak ? digits(row.roof.peak_gflops, 1) : "-",
             digits(operands_per_second(row.roof), 2),
             digits(analysis::cgma_of_intensity(point.flop_per_byte), 2), digits(point.flop_per_byte, 3),
             digits(point.gflops, 2), peak ? digits(point.share_of_peak * 100, 2) + " %" : "-"});
        if (sectors) {
            cells.push_back(row.of_sectors ? digits(row.of_sectors->flop_per_byte, 3) : "-");
            cells.push_back(row.of_sectors ? digits(row.of_sectors->gflops, 2) : "-");
        }
        table.add(cells);
    }
    std::string text =
        table.text() +
        "\nA bound is worked out from bytes that threads request and from figures that are stated; caches "
        "merge requests, so that a measured kernel can lie above it.\n";
    if (sectors)
        text +=
            "By sectors: the same bound with the 32-byte sectors that the recorded requests need in place of "
            "the bytes; a scattered warp needs a sector a lane.\n";
    return text;
}

int run_roofline(const Options& options) {
    const auto rows = rows_of(options);
    return print(options.json ? as_json(rows) : as_text(rows));
}

}  // namespace

void add_roofline(CommandLine& line) {
    const auto [command, options] = line.command(
        "roofline", "Bounds from bandwidth and peak, and the times measured below them", run_roofline);
    command
        ->add_option("SUBJECT", options->subjects,
                     "Kernels that 'tilescope kernels' lists, or recordings (the lectures' cases)")
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command->add_option("--device", options->device, "A device, or a compute capability such as 8.6 (h200)");
    command->add_flag("--json", options->json, "Print JSON (schema tilescope.roofline/1)");
}

}  // namespace tilescope::cli
