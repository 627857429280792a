#include <fmt/format.h>

#include "core/base/cluster.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "core/export/report.h"
#include "core/export/text_table.h"

namespace tilescope::report {
namespace {

using analysis::StepKind, analysis::Sums;

// How many times the least: "1.00", "32.00"; "-" for nothing.
// Of what is copied in bulk on the average, where that is a whole number.
std::string bytes_of_lane(const ptx::Site& site, const analysis::Sums& sums) {
    if (site.box == ptx::Box::None) return std::to_string(site.bytes);
    return sums.lanes == 0 || sums.bytes % sums.lanes != 0 ? "-" : spaced(sums.bytes / sums.lanes);
}

std::string ratio(uint64_t needed, uint64_t ideal) {
    return ideal == 0 ? "-" : fmt::format("{:.2f}", static_cast<double>(needed) / static_cast<double>(ideal));
}

std::string idle_share(const Sums& all) {
    return share_text(static_cast<double>(all.idle_lanes()) / static_cast<double>(all.all_lanes()));
}

// What recording on a GPU cost, a line; "" for a CPU.
std::string price_of(const trace::Price& price, uint64_t requests) {
    if (price.launches == 0) return "";
    std::string out =
        fmt::format("recording took {:.4g} ms in {}", price.recorded_ms,
                    price.launches == 1 ? "1 launch" : fmt::format("{} launches", price.launches));
    if (price.plain_ms > 0) {
        out += fmt::format(", {:.3g} times the kernel's own {:.4g} ms", price.recorded_ms / price.plain_ms,
                           price.plain_ms);
    }
    if (requests > 0) {
        out += fmt::format("; {:.1f} bytes a request on the device",
                           static_cast<double>(price.device_bytes) / static_cast<double>(requests));
    }
    return out + "\n";
}

// What is computed: the product, or the arguments of any other launch: "a = double[1024], n = 1024".
std::string launch_words(const analysis::Recording& recording) {
    const Launch& launch = recording.trace->launch;
    if (const auto& p = recording.product)
        return fmt::format("P (m x n) = M (m x k) N (k x n), m = {}, k = {}, n = {}, {}", p->m, p->k, p->n,
                           p->tile > 0 ? fmt::format("T = {}", p->tile)
                                       : fmt::format("{} × {} of P a block, {} a thread", p->tile_rows,
                                                     p->tile_cols, counted(p->patch, "element")));
    std::string out;
    for (const Argument& argument : launch.arguments) {
        if (!out.empty()) out += ", ";
        if (!argument.name.empty()) out += one_line(argument.name) + " = ";
        if (!argument.object.empty()) {
            out += "an object of " + counted(argument.object.size(), "byte");
            continue;
        }
        if (argument.array < 0) {
            out += value_text({argument.type, argument.value});
            continue;
        }
        const Array& array = launch.arrays[static_cast<size_t>(argument.array)];
        out += array_text(array);
        if (argument.offset > 0) out += fmt::format(" + {}", counted(argument.offset, "byte"));
    }
    return out.empty() ? "a launch without arguments" : out;
}

// What feeds a product, a line, if a thread owns several elements; "" else, and for a part of the grid.
std::string loads_a_product(const analysis::Recording& recording, const analysis::Summary& summary) {
    const trace::Trace& trace = *recording.trace;
    const auto& p = recording.product;
    // What TMA brings and descriptors say is no load of a thread.
    if (std::ranges::any_of(trace.sites, [](const ptx::Site& site) { return site.box != ptx::Box::None; }))
        return "";
    if (!p || p->patch <= 1 || trace.blocks.size() != trace.launch.grid.count() || !whole(trace)) return "";
    const double products = static_cast<double>(p->m) * p->k * p->n;
    return fmt::format("{:.4g} loads of shared memory a product, {:.4g} of global memory\n",
                       static_cast<double>(summary[StepKind::SharedLoad].lanes) / products,
                       static_cast<double>(summary[StepKind::GlobalLoad].lanes) / products);
}

std::string heading(const analysis::Recording& recording, const analysis::Summary& summary) {
    const trace::Trace& trace = *recording.trace;
    const trace::Meta& m = trace.meta;
    const Dim3 &grid = trace.launch.grid, &block = trace.launch.block;
    std::string out = one_line(m.kernel) + ": " + launch_words(recording) + "\n";
    out += fmt::format("recorded on {}{} ({})\n", one_line(m.device),
                       m.driver.empty() ? "" : ", driver " + one_line(m.driver),
                       m.backend == trace::Backend::Cpu ? "cpu" : "gpu");
    out += price_of(m.price, summary.total().requests);
    const std::string clusters = has_clusters(trace.launch)
                                     ? fmt::format(", clusters of {} blocks", size_text(trace.launch.cluster))
                                     : "";
    out += fmt::format("grid {} × {} × {}{}, block {} × {} × {}; {} of {} blocks recorded\n", grid.x, grid.y,
                       grid.z, clusters, block.x, block.y, block.z, spaced(trace.blocks.size()),
                       spaced(grid.count()));
    out += fmt::format("{}, {}, {} a block\n", spaced(trace.steps(), "step"), spaced(summary.phases, "phase"),
                       spaced(summary.barriers_per_block, "barrier"));
    if (summary.exchanges > 0)
        out += fmt::format("{} of warps among their lanes, without memory\n",
                           spaced(summary.exchanges, "exchange"));
    if (summary.signals + summary.signal_waits > 0)
        out += fmt::format("{} and {}\n", spaced(summary.signals, "mbarrier signal"),
                           spaced(summary.signal_waits, "mbarrier wait"));
    if (!whole(trace)) out += fmt::format("NOT WHOLE: {}\n", one_sentence(why_not_whole(trace)));
    out += loads_a_product(recording, summary);
    if (!m.result.checked)
        out += "result: not checked\n";
    else
        out += fmt::format("result: {}, largest error {:g}\n",
                           m.result.verified ? "verified" : "NOT VERIFIED", m.result.max_abs_error);
    return out;
}

}  // namespace

std::string to_text(const analysis::Recording& recording, const analysis::Summary& summary,
                    const analysis::Hazards* hazards, uint64_t held,
                    const analysis::Improvements* improvements) {
    const trace::Trace& trace = *recording.trace;
    std::string out = heading(recording, summary);
    if (held > 0)
        out += fmt::format("held against its code: {} of {}\n", grouped(held),
                           counted(trace.blocks.size(), "block"));
    const std::string note = whole(trace) ? "" : " (not whole)";

    if (const Sums all = summary.total(); all.requests > 0)
        out += fmt::format("idle lanes: {} of {}, {}{}\n", spaced(all.idle_lanes()), spaced(all.all_lanes()),
                           idle_share(all), note);

    TextTable global(1, {fmt::format("global memory{}", note), "requests", "lanes", "bytes", "sectors",
                         "ideal", "ratio", "efficiency"});
    const auto add_sectors = [](TextTable& table, const char* name, const Sums& s) {
        const auto efficiency = s.efficiency();
        table.add({name, spaced(s.requests), spaced(s.lanes), spaced(s.bytes), spaced(s.sectors),
                   spaced(s.ideal_sectors), ratio(s.sectors, s.ideal_sectors),
                   efficiency ? share_text(*efficiency) : "-"});
    };
    add_sectors(global, "loads", summary[StepKind::GlobalLoad]);
    add_sectors(global, "stores", summary[StepKind::GlobalStore]);
    out.append("\n").append(global.text());

    TextTable shared(1, {fmt::format("shared memory{}", note), "requests", "lanes", "wavefronts", "ideal",
                         "bank conflicts", "ratio"});
    const auto add_shared = [&](const char* name, const Sums& s) {
        shared.add({name, spaced(s.requests), spaced(s.lanes), spaced(s.wavefronts),
                    spaced(s.ideal_wavefronts), spaced(s.bank_conflicts()),
                    ratio(s.wavefronts, s.ideal_wavefronts)});
    };
    add_shared("loads", summary[StepKind::SharedLoad]);
    add_shared("stores", summary[StepKind::SharedStore]);
    out.append("\n").append(shared.text());

    TextTable local(1, {fmt::format("local memory{}", note), "requests", "lanes", "bytes", "sectors", "ideal",
                        "ratio", "efficiency"});
    TextTable constant(
        1, {fmt::format("constant memory{}", note), "requests", "lanes", "addresses", "ideal", "ratio"});
    TextTable atomics(1, {fmt::format("atomics{}", note), "requests", "lanes", "addresses", "turns",
                          "sectors or wavefronts", "ideal"});
    for (const analysis::StepKindRow& row : analysis::kMemoryKindRows) {
        const Sums& s = summary[row.kind];
        if (s.requests == 0) continue;
        const bool sectors = analysis::has_sectors(row.space);
        if (is_atomic(row.kind))
            atomics.add({name_of(row.space), spaced(s.requests), spaced(s.lanes), spaced(s.addresses),
                         spaced(s.turns), spaced(sectors ? s.sectors : s.wavefronts),
                         spaced(sectors ? s.ideal_sectors : s.ideal_wavefronts)});
        else if (row.space == Space::Local)
            add_sectors(local, is_load(row.kind) ? "loads" : "stores", s);
        else if (row.space == Space::Const)
            constant.add({"loads", spaced(s.requests), spaced(s.lanes), spaced(s.addresses),
                          spaced(s.requests), ratio(s.addresses, s.requests)});
    }
    for (const auto& [table, any] :
         {std::pair{&atomics,
                    summary[StepKind::GlobalAtomic].requests + summary[StepKind::SharedAtomic].requests},
          std::pair{&local, summary[StepKind::LocalLoad].requests + summary[StepKind::LocalStore].requests},
          std::pair{&constant, summary[StepKind::ConstantLoad].requests}})
        if (any > 0) out.append("\n").append(table->text());

    TextTable sites(3, {fmt::format("site{}", note), "what", "array", "line", "bytes", "requests", "lanes",
                        "sectors or wavefronts", "ideal", "ratio"});
    for (const analysis::SiteSums& row : summary.sites) {
        const ptx::Site& site = trace.sites[row.site];
        const bool known = row.array < trace.launch.arrays.size();
        const Space space = known ? trace.launch.arrays[row.array].space : site.space;
        const bool sectors = analysis::has_sectors(space), constant_space = space == Space::Const;
        const uint64_t cost = sectors          ? row.sums.sectors
                              : constant_space ? row.sums.addresses
                                               : row.sums.wavefronts;
        const uint64_t ideal = sectors          ? row.sums.ideal_sectors
                               : constant_space ? row.sums.requests
                                                : row.sums.ideal_wavefronts;
        sites.add({std::to_string(site.id),
                   fmt::format("{} {}{}", name_of(space), name_of(site.kind),
                               site.box == ptx::Box::Tile   ? " (wgmma)"
                               : site.box != ptx::Box::None ? " (bulk copy)"
                               : site.past_registers()      ? " (copy)"
                                                            : ""),
                   known ? trace.launch.arrays[row.array].name : "-", std::to_string(site.line),
                   bytes_of_lane(site, row.sums), spaced(row.sums.requests), spaced(row.sums.lanes),
                   spaced(cost), spaced(ideal), ratio(cost, ideal)});
    }
    out.append("\n").append(sites.text());

    TextTable reuse(1, {fmt::format("loads of an element{}", note), "elements", "loads", "fewest", "most"});
    for (const analysis::Reuse& r : summary.reuse)
        reuse.add({r.array, spaced(r.elements), spaced(r.loads), spaced(r.min), spaced(r.max)});
    out.append("\n").append(reuse.text());
    if (improvements) out += improvements_to_text(trace, *improvements);
    if (hazards) out.append("\n").append(faults_to_text(trace, *hazards));
    return out;
}

}  // namespace tilescope::report
