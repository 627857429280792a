// What would make requests cheaper, as the report says it (core/analysis/remedy.h, swaps.h).
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/export/report.h"
#include "core/export/text_table.h"

namespace tilescope::report {
namespace {

using Json = nlohmann::ordered_json;
using analysis::Remedied, analysis::Remedies, analysis::RemedyKind, analysis::SwapKind;

const char* unit_of(Space space) { return space == Space::Shared ? "wavefronts" : "sectors"; }

// With how many of its requests, where that is not all.
std::string what_would_free(const trace::Trace& trace, const Remedies& of) {
    const std::string name = one_line(trace.launch.arrays[of.array].name);
    return of.looked_at == of.requests ? fmt::format("what would free {}", name)
                                       : fmt::format("what would free {}, by {} of its {}", name,
                                                     spaced(of.looked_at), spaced(of.requests, "request"));
}

std::string to_text(const trace::Trace& trace, const Remedies& of) {
    const Space space = trace.launch.arrays[of.array].space;
    if (of.rows.empty() && space == Space::Global)
        return "";  // of most arrays that are not read side by side
    std::vector<std::string> headings = {what_would_free(trace, of), "line", "requests", unit_of(space),
                                         "ideal"};
    for (const Remedied& row : of.rows) headings.push_back(remedy_name(row.remedy));
    TextTable table(1, std::move(headings));
    for (size_t at = 0; at < of.sites.size(); ++at) {
        const analysis::SiteCost& site = of.sites[at];
        const ptx::Site& is = trace.sites[site.site];
        std::vector<std::string> cells = {fmt::format("{} {}", name_of(space), name_of(is.kind)),
                                          std::to_string(is.line), spaced(site.requests), spaced(site.cost),
                                          spaced(site.least)};
        for (const Remedied& row : of.rows) cells.push_back(spaced(row.of_site[at]));
        table.add(std::move(cells));
    }
    std::string out = "\n" + table.text();
    for (const Remedied& row : of.rows)
        out += fmt::format("  {}: {}{}\n", remedy_name(row.remedy), remedy_words(row.remedy),
                           row.more_bytes > 0 ? "; " + spaced(row.more_bytes, "byte") + " more" : "");
    if (of.rows.empty())
        out += fmt::format("  no padding of up to {} and no swizzle costs less\n",
                           counted(analysis::kMostPadding, "element"));
    return out;
}

std::string to_text(const trace::Trace& trace, const analysis::Swap& swap) {
    const bool loop = swap.kind == SwapKind::Loop;
    TextTable table(1, {loop ? "lanes and loop swapped" : "threads x and y swapped", "line", "requests",
                        "sectors or wavefronts", "ideal", "swapped"});
    for (const analysis::SwappedSite& site : swap.sites) {
        const ptx::Site& is = trace.sites[site.site];
        table.add({fmt::format("{} {}", name_of(is.space), name_of(is.kind)), std::to_string(is.line),
                   spaced(site.requests), spaced(site.cost), spaced(site.least), spaced(site.swapped)});
    }
    return fmt::format("\n{}  {}\n", table.text(),
                       loop ? "neighbouring lanes take what one lane takes in successive trips of its loop"
                            : "thread[y,x] does what thread[x,y] does");
}

}  // namespace

std::string improvements_to_text(const trace::Trace& trace, const analysis::Improvements& improvements) {
    std::string out;
    for (const Remedies& of : improvements.arrays) out += to_text(trace, of);
    for (const analysis::Swap& swap : improvements.swaps) out += to_text(trace, swap);
    return out;
}

Json remedies_to_json(const trace::Trace& trace, const std::vector<Remedies>& all) {
    Json list = Json::array();
    for (const Remedies& of : all) {
        const Array& array = trace.launch.arrays[of.array];
        Json json =
            object_of("array", array.name, "space", name_of(array.space), "unit", unit_of(array.space),
                      "requests", of.requests, "looked_at", of.looked_at, "cost", of.cost, "ideal", of.least,
                      "sites", Json::array(), "with", Json::array());
        for (const analysis::SiteCost& site : of.sites)
            json["sites"].push_back(object_of("id", site.site, "line", trace.sites[site.site].line,
                                              "requests", site.requests, "cost", site.cost, "ideal",
                                              site.least));
        for (const Remedied& row : of.rows) {
            Json with = object_of("remedy", remedy_name(row.remedy), "words", remedy_words(row.remedy));
            if (row.remedy.kind == RemedyKind::Padding)
                add_fields(with, "row_bytes", row.remedy.row, "padding", row.remedy.padding, "more_bytes",
                           row.more_bytes);
            if (row.remedy.kind == RemedyKind::Swizzle)
                with["swizzle"] = {row.remedy.bits, row.remedy.base, row.remedy.shift};
            add_fields(with, "cost", row.cost, "of_sites", row.of_site);
            json["with"].push_back(std::move(with));
        }
        list.push_back(std::move(json));
    }
    return list;
}

Json swaps_to_json(const trace::Trace& trace, const std::vector<analysis::Swap>& swaps) {
    Json list = Json::array();
    for (const analysis::Swap& swap : swaps) {
        Json sites = Json::array();
        for (const analysis::SwappedSite& site : swap.sites)
            sites.push_back(object_of("id", site.site, "line", trace.sites[site.site].line, "requests",
                                      site.requests, "cost", site.cost, "ideal", site.least, "swapped",
                                      site.swapped));
        list.push_back(object_of("of", swap.kind == SwapKind::Loop ? "loop" : "threads", "sites", sites));
    }
    return list;
}

}  // namespace tilescope::report
