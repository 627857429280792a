#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/export/bounds.h"
#include "core/export/text_table.h"

namespace tilescope::report {

using Json = nlohmann::ordered_json;

std::string to_json(const std::vector<RooflineRow>& rows) {
    Json list = Json::array();
    for (const RooflineRow& row : rows) {
        const bool peak = row.roof.has_peak();
        const analysis::RoofPoint& point = row.point;
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
        if (row.sizes) add_fields(item, "m", (*row.sizes)[0], "k", (*row.sizes)[1], "n", (*row.sizes)[2]);
        if (!row.compiler.empty()) item["compiler"] = row.compiler;
        list.push_back(std::move(item));
    }
    return document("tilescope.roofline/1", "rows", list);
}

std::string to_text(const std::vector<RooflineRow>& rows) {
    const bool sectors =
        std::any_of(rows.begin(), rows.end(), [](const RooflineRow& r) { return r.of_sectors; });
    std::vector<std::string> head{"case",      "roof", "figure is", "GB/s",    "peak GFLOP/s",
                                  "G loads/s", "CGMA", "FLOP/B",    "GFLOP/s", "of peak"};
    if (sectors) head.insert(head.end(), {"FLOP/B of sectors", "GFLOP/s by sectors"});
    TextTable table(3, head);
    const auto digits = [](double value, int count) { return fmt::format("{:.{}f}", value, count); };
    for (const RooflineRow& row : rows) {
        const bool peak = row.roof.has_peak();
        const analysis::RoofPoint& point = row.point;
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

}  // namespace tilescope::report
