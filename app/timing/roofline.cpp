// Roofs with kernels as points; and requested bytes -> sectors of the requests -> L2 -> DRAM, with in words
// what each step made of them.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/look/time_words.h"
#include "app/timing/model.h"
#include "core/base/words.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/known_launch.h"

namespace tilescope::timing {
namespace {

using kernels::Timing;
using Kind = RoofPoint::Kind;

// A chart of a machine's roofs for one type of input, for now without points. The peak of halves was measured nowhere.
RooflineChart chart_of(const Machine& machine, ElementType input = ElementType::F32) {
    RooflineChart chart;
    chart.title = "Roofline by stated figures, bounds only, GFLOP/s";
    chart.x_title = "arithmetic intensity, FLOP/B";
    const kernels::Roofs roofs = machine.times != nullptr ? machine.times->roofs : kernels::Roofs{};
    const double peak = machine.peak(input);
    if (roofs.copy_gbs > 0 && roofs.fp32_gflops > 0 && input == ElementType::F32) {
        chart.roofs.push_back(
            {"measured", roofs.copy_gbs, roofs.fp32_gflops, true,
             fmt::format("Measured on {}: a copy moves {} GB/s, fused multiply-adds do {} GFLOP/s",
                         machine.name, draw::figure(roofs.copy_gbs), draw::figure(roofs.fp32_gflops))});
    }
    if (machine.stated_gbs > 0) {
        chart.roofs.push_back(
            {"stated", machine.stated_gbs, peak, false,
             fmt::format("Stated for {}: {} GB/s, {}, by {}", machine.name, draw::figure(machine.stated_gbs),
                         peak > 0 ? draw::figure(peak) + " GFLOP/s" : std::string("its peak not known"),
                         input == ElementType::F16 ? "its maker, for tensor cores" : machine.source)});
    }
    return chart;
}

void add_kernels(RooflineChart& chart, const Machine& machine, const TimingChoice& chosen, uint32_t width) {
    for (const std::string& kernel : timed_kernels(machine)) {
        const Timing* row = row_of(machine, kernel, width, chosen.tile);
        if (row == nullptr || row->requested_gbs <= 0 ||
            kernels::input_of(kernel) != kernels::input_of(chosen.kernel))
            continue;
        const double intensity = flop_per_loaded_byte(*row);
        const std::string name = shown_name(kernel);
        chart.points.push_back({Kind::Asked, kernel, intensity, row->gflops, name,
                                fmt::format("{}, width {}: {} GFLOP/s at {} FLOP per byte loaded",
                                            name_with_tile(kernel, row->tile), grouped(width),
                                            draw::figure(row->gflops), draw::figure(intensity))});
    }
}

// The chosen kernel again, by what L2 and DRAM moved for it.
void add_levels(RooflineChart& chart, const TrafficChain& chain, const Machine& machine,
                const TimingChoice& chosen, uint32_t width) {
    const Timing* row = row_of(machine, chosen.kernel, width, chosen.tile);
    if (row == nullptr || chain.rows.size() < 4) return;
    for (const auto& [level, kind, label] :
         {std::tuple{&chain.rows[2], Kind::L2, "by L2"}, {&chain.rows[3], Kind::Dram, "by DRAM"}})
        chart.points.push_back(
            {kind, chosen.kernel, level->intensity, row->gflops, label,
             fmt::format("{}: {} {}, {} FLOP/B", shown_name(chosen.kernel), bytes_text(level->bytes),
                         level->name, draw::figure(level->intensity))});
}

// "Bound of ...: 8 FLOP/B x 1,000 GB/s = 8,000 GFLOP/s, 80 % of the stated peak".
void add_bound(RooflineChart& chart, const Machine& machine, std::string_view kernel, double intensity,
               const std::string& label, const std::string& what) {
    const ElementType input = kernels::input_of(kernel);
    const double gflops = bound_gflops(machine, intensity, input), peak = machine.peak(input);
    if (gflops <= 0) return;
    std::string exact = fmt::format(
        "Bound of {}: {} FLOP/B × {} GB/s{}", what, draw::figure(intensity), draw::figure(machine.stated_gbs),
        gflops < machine.stated_gbs * intensity ? std::string(", cut at the peak")
                                                : fmt::format(" = {} GFLOP/s", draw::figure(gflops)));
    if (peak > 0) exact += fmt::format(", {} of the stated peak", share_text(gflops / peak));
    chart.points.push_back({Kind::Bound, std::string(kernel), intensity, gflops,
                            fmt::format("bound, {}: {}", label, draw::figure(gflops)), std::move(exact)});
}

// Operations for each byte that a block asks for, which owns that part of P.
double tile_intensity_of(const kernels::BlockTile& own, uint32_t element_bytes) {
    return 2.0 * own.rows * own.cols / (static_cast<double>(element_bytes) * (own.rows + own.cols));
}

// Of the inner loop of a product: each thread asks for an element of M and one of N, of 4 bytes each, for one
// multiply-add, or, where they go into tiles, for T of them.
void add_ratios(RooflineChart& chart, std::string_view kernel, uint32_t tile) {
    const kernels::KernelInfo* const info = kernels::find(kernel);
    if (info == nullptr) return;  // cuBLAS: what it asks for is not known
    if (const auto& own = info->own_tile) {
        const uint32_t products = own->rows * own->cols, loads = own->rows + own->cols;
        chart.ratios = {
            fmt::format(
                "arithmetic intensity 2 \u00d7 {0} \u00d7 {1} FLOP / ({0} + {1}) \u00d7 {2} B = {3} FLOP/B",
                own->rows, own->cols, size_of(info->input),
                draw::figure(tile_intensity_of(*own, size_of(info->input)))),
            fmt::format(
                "CGMA 2 \u00d7 {0} \u00d7 {1} FLOP / ({0} + {1}) accesses = {2} FLOP per global access",
                own->rows, own->cols, draw::figure(2.0 * products / loads))};
        return;
    }
    const double intensity = analysis::tile_intensity(info->tiled ? tile : 1);
    const char* const done = info->tiled ? "2T" : "2";
    chart.ratios = {
        fmt::format("arithmetic intensity {} FLOP / 8 B = {}{} FLOP/B", done, info->tiled ? "T/4 = " : "",
                    draw::figure(intensity)),
        fmt::format("CGMA {} FLOP / 2 accesses = {}{} FLOP per global access", done,
                    info->tiled ? "T = " : "", draw::figure(analysis::cgma_of_intensity(intensity)))};
}

// What the axes must hold; or what there is to say where there is no roof.
RooflineChart fitted(RooflineChart chart, const Machine& machine) {
    if (chart.roofs.empty()) {
        chart.nothing =
            fmt::format("Neither bandwidth nor peak of {} is known: there is no roof to draw.", machine.name);
        return chart;
    }
    double left = 0.2, right = 32, low = chart.roofs[0].gbs * left, high = 0;
    for (const Roof& roof : chart.roofs) {
        high = std::max(high, roof.gflops > 0 ? roof.gflops : roof.gbs * right);
        low = std::min(low, roof.gbs * left);
        right = std::max(right, 16 * roof.gflops / roof.gbs);
    }
    for (const RoofPoint& point : chart.points) {
        low = std::min(low, point.gflops / 1.2);
        left = std::min(left, point.intensity / 1.5);
        right = std::max(right, point.intensity * 2);
    }
    high *= 1.3;
    draw::round_out(low, high);
    chart.x = {left, right};
    chart.y = {low, high};
    chart.x_ticks = draw::log_ticks(left, right);
    chart.y_ticks = draw::log_ticks(low, high);
    return chart;
}

// Where hardware counters see the bytes of loads. unit: bytes that a count of 1 stands for; a sector has 32.
constexpr struct {
    const char *name, *about, *counter;
    double unit;
} kLevels[] = {{"sectors of the requests", "l1tex__t_sectors, global loads, times 32 bytes",
                "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 32},
               {"read from L2",
                "lts__t_sectors_op_read times 32 bytes; of another compiler's PTX those that L1 asks for, "
                "lts__t_sectors_srcunit_tex_op_read",
                "lts__t_sectors_op_read.sum", 32},
               {"read from DRAM", "dram__bytes_read", "dram__bytes_read.sum", 1}};
using Bytes = std::array<double, std::size(kLevels)>;

// Bytes that were counted of the PTX that ships.
std::optional<Bytes> counted(const std::vector<kernels::Counters>& all, std::string_view device,
                             std::string_view kernel, uint32_t width, uint32_t tile) {
    for (const kernels::Counters& set : all) {
        for (const kernels::CounterRow& row : set.rows) {
            if (set.device != device || row.kernel != kernel || row.m != width || row.k != width ||
                row.n != width || row.tile != tile || row.ptx != "clang")
                continue;
            Bytes bytes{};
            for (size_t i = 0; i < bytes.size(); ++i)
                if (const double* sum = kernels::find_counter(row, kLevels[i].counter))
                    bytes[i] = *sum * kLevels[i].unit;
            if (std::find(bytes.begin(), bytes.end(), 0.0) == bytes.end()) return bytes;
        }
    }
    return std::nullopt;
}

// Bytes that were counted of the PTX that was timed.
std::optional<Bytes> counted(const std::vector<kernels::Counters>& all, const Machine& machine,
                             std::string_view kernel, uint32_t width, uint32_t tile) {
    const std::string compiler = machine.times == nullptr ? "clang" : machine.times->compiler;
    if (compiler == "clang")
        if (const auto bytes = counted(all, std::string_view(machine.name), kernel, width, tile))
            return bytes;
    const analysis::DeviceSpec* const device = leveled_device(machine);
    const kernels::LevelCounterRow* const row =
        device == nullptr ? nullptr
                          : kernels::find_level_counters(device->id, kernel, compiler,
                                                         {width, width, width, tile_of(kernel, tile)});
    if (row == nullptr) return std::nullopt;
    return Bytes{row->l1_sectors * kLevels[0].unit, row->l2_read_sectors * kLevels[1].unit,
                 row->dram_read_bytes};
}

void add_row(TrafficChain& chain, const char* name, const char* about, double bytes, double flop) {
    std::string times;
    if (!chain.rows.empty()) times = times_fewer(chain.rows.front().bytes, bytes);
    chain.rows.push_back({name, about, bytes, flop / bytes, std::move(times)});
}

// apart: what lanes do whose requests need more than they ask for.
std::string coalescing_words(double asked, double sectors, const char* apart) {
    const double ratio = sectors / asked;
    if (ratio > 1.1)
        return fmt::format("{}: the requests need {} times what the threads ask for.", apart,
                           ratio_text(ratio));
    if (ratio < 0.9)
        return fmt::format(
            "Lanes of a warp that ask for one element, or for neighbours, share sectors: the requests need "
            "{} × fewer bytes than the threads ask for.",
            ratio_text(1 / ratio));
    return "The lanes of a warp ask for neighbours: every byte of a sector is used.";
}

std::string roof_words(const Machine& machine, double intensity, ElementType input = ElementType::F32) {
    return fmt::format("At {} FLOP/B the stated roof is {} GFLOP/s: a bound for a device without caches.",
                       draw::figure(intensity), draw::figure(bound_gflops(machine, intensity, input)));
}

// Of a device that was not measured: how its bounds come about, as the lectures work them out.
void say_bounds(TrafficChain& chain, const Machine& machine, uint32_t tile) {
    if (machine.stated_gbs <= 0) return;
    chain.why = "How the bounds come about";
    const double operands = machine.stated_gbs / analysis::kFp32Bytes;
    chain.reasons.push_back(fmt::format("{} GB/s / 4 B = {} G operands/s: so many elements come from memory.",
                                        draw::figure(machine.stated_gbs), draw::figure(operands)));
    for (const uint32_t t : {1u, tile}) {
        const double asked = operands * t, peak = machine.stated_gflops;
        const std::string share = peak <= 0 ? ""
                                  : asked > peak
                                      ? fmt::format(", more than the peak of {}", draw::figure(peak))
                                      : fmt::format(", {} of the peak", share_text(asked / peak));
        chain.reasons.push_back(fmt::format("{}, CGMA {}: {} × {} = {} GFLOP/s{}.",
                                            t == 1 ? std::string("untiled") : fmt::format("T = {}", t), t,
                                            draw::figure(operands), t, draw::figure(asked), share));
    }
    if (machine.stated_gflops > 0)
        chain.reasons.push_back(
            fmt::format("The roofs meet at {} FLOP/B: below it memory bounds a kernel, above it arithmetic.",
                        draw::figure(machine.stated_gflops / machine.stated_gbs)));
}

// Why tiles of T x T, which ask for 1/T of the loads, are not T times as fast: what the caches do without
// them. "" where that was not counted.
std::string less_than_tile_words(const Machine& machine, const Timing& row, const Bytes& tiled,
                                 const std::optional<Bytes>& untiled) {
    const Timing* rival = row_of(machine, "untiled", row.n, row.tile);
    if (row.kernel != "tiled" || rival == nullptr || !untiled) return "";
    const double times = rival->median_ms / row.median_ms;
    if (times >= row.tile) return "";
    return fmt::format(
        "Why {} × untiled and not T = {} ×: untiled asks for {}, but its caches leave {} to be read from L2 "
        "and {} from DRAM; with tiles {} and {} are left.",
        ratio_text(times), row.tile, bytes_text(2.0 * row.n * row.n * row.n / flop_per_loaded_byte(*rival)),
        bytes_text((*untiled)[1]), bytes_text((*untiled)[2]), bytes_text(tiled[1]), bytes_text(tiled[2]));
}

// bytes: as counted, of the kernel and of the untiled one, where they were.
std::optional<Savings> savings_of(const Machine& machine, const Timing& row, uint32_t tile,
                                  const std::optional<Bytes>& bytes, const std::optional<Bytes>& untiled) {
    constexpr double kClearly = 1.05;
    const Timing* const rival = row_of(machine, "untiled", row.n, tile);
    if (rival == nullptr || !row.verified || kernels::input_of(row.kernel) != ElementType::F32 ||
        kernels::made_wrong(row.kernel) || row.median_ms <= 0 || rival->requested_gbs <= 0)
        return std::nullopt;
    Savings made{
        flop_per_loaded_byte(row) / flop_per_loaded_byte(*rival), rival->median_ms / row.median_ms, {}};
    if (made.loads < kClearly || made.time < kClearly) return std::nullopt;
    const bool less = made.time < made.loads;
    const bool many = row.kernel == "tiled";
    const std::string is = many ? "are" : "is";
    made.sentence = fmt::format(
        "{} {} × fewer loads, {} {} × as fast", many ? "Tiles make" : shown_name(row.kernel) + " makes",
        draw::figure(made.loads), less ? "but " + is + " only" : "and " + is, ratio_text(made.time));
    if (!less || !bytes || !untiled || (*untiled)[0] <= (*bytes)[0]) return made;
    // Of the sectors that no longer ask L1, those of which L2 had never heard.
    const double caught = 1 - ((*untiled)[1] - (*bytes)[1]) / ((*untiled)[0] - (*bytes)[0]);
    constexpr double kAll = 0.9995;
    if (caught >= kAll)
        made.sentence += ": L1 had caught all of them";
    else if (caught > 0)
        made.sentence += fmt::format(": L1 had caught {} of them", share_text(caught));
    return made;
}

void say_why(TrafficChain& chain, const Machine& machine, const Timing& row) {
    const ElementType input = kernels::input_of(row.kernel);
    const double bound = bound_gflops(machine, chain.rows[0].intensity, input);
    if (bound <= 0) return;
    const auto share = [&](double of) { return share_text(row.gflops / of) + " of it"; };
    chain.reasons.push_back(fmt::format(
        "{} Measured {}, {}.", roof_words(machine, chain.rows[0].intensity, input), draw::figure(row.gflops),
        row.gflops > bound ? ratio_text(row.gflops / bound) + " times that" : share(bound)));
    if (chain.rows.size() < 4) return;
    const double sectors = chain.rows[1].bytes, l2 = chain.rows[2].bytes, dram = chain.rows[3].bytes;
    chain.reasons.push_back(coalescing_words(
        chain.rows[0].bytes, sectors, "Lanes a row apart need a sector each and use 4 of its 32 bytes"));
    const double once = size_of(input) * (double{1} * row.m * row.k + double{1} * row.k * row.n);
    chain.reasons.push_back(fmt::format(
        "The requests need {}; {} are read from L2 and {} from DRAM, {} times the {} that must be read once.",
        bytes_text(sectors), bytes_text(l2), bytes_text(dram), ratio_text(dram / once), bytes_text(once)));
    const double moved = chain.rows[3].intensity, roof = bound_gflops(machine, moved, input);
    chain.reasons.push_back(fmt::format("At DRAM's {} FLOP/B the stated roof is {} GFLOP/s: measured {}.",
                                        draw::figure(moved), draw::figure(roof), share(roof)));
}

}  // namespace

RooflineChart roofline_chart(const Machine& machine, const std::vector<kernels::Counters>& counters,
                             const TimingChoice& chosen, uint32_t width) {
    const ElementType input = kernels::input_of(chosen.kernel);
    const bool halves = input == ElementType::F16;
    RooflineChart chart = chart_of(machine, input);
    if (machine.times != nullptr) {
        chart.title = fmt::format("Roofline at width {}, {}, GFLOP/s", draw::figure(width),
                                  halves ? "halves" : fmt::format("T = {}", chosen.tile));
        add_kernels(chart, machine, chosen, width);
        add_levels(chart, traffic_chain(machine, counters, chosen.kernel, width, chosen.tile), machine,
                   chosen, width);
    }
    const kernels::KernelInfo* const info = kernels::find(chosen.kernel);
    if (!halves) {
        add_bound(chart, machine, "untiled", analysis::tile_intensity(1), "untiled",
                  "the lecture's sum for the untiled kernel");
        add_bound(chart, machine, "tiled", analysis::tile_intensity(chosen.tile),
                  fmt::format("T = {}", chosen.tile),
                  fmt::format("the lecture's sum for tiles of T = {}", chosen.tile));
    } else if (info != nullptr && info->own_tile) {
        const kernels::BlockTile& own = *info->own_tile;
        add_bound(chart, machine, info->name, tile_intensity_of(own, size_of(input)),
                  fmt::format("{} \u00d7 {}", own.rows, own.cols),
                  fmt::format("blocks that own {} \u00d7 {} elements of P", own.rows, own.cols));
    }
    add_ratios(chart, chosen.kernel, chosen.tile);
    return fitted(std::move(chart), machine);
}

TrafficChain traffic_chain(const Machine& machine, const std::vector<kernels::Counters>& counters,
                           std::string_view kernel, uint32_t width, uint32_t tile) {
    TrafficChain chain;
    chain.why = "Why the bound and the measurement differ";
    const Timing* row = row_of(machine, kernel, width, tile);
    if (row == nullptr) {
        const std::string narrow = left_out_tiles(machine);
        chain.note =
            machine.times == nullptr
                ? fmt::format("{}{}No measured times ship for {}: nothing to hold the bound against.", narrow,
                              narrow.empty() ? "" : " ", name_of(machine))
                : fmt::format("{} was not measured at width {}.", shown_name(kernel), grouped(width));
        if (machine.times == nullptr) say_bounds(chain, machine, tile);
        return chain;
    }
    if (row->requested_gbs <= 0) {
        chain.note =
            fmt::format("What {} asks memory for is not known: its code is not ours.", shown_name(kernel));
        return chain;
    }
    const double n = width, flop = 2 * n * n * n;
    add_row(chain, "asked by the threads", "requested bytes of loads", flop / flop_per_loaded_byte(*row),
            flop);
    const auto bytes = counted(counters, machine, kernel, width, tile);
    if (bytes) {
        for (size_t i = 0; i < bytes->size(); ++i)
            add_row(chain, kLevels[i].name, kLevels[i].about, (*bytes)[i], flop);
        chain.note = "Counted by Nsight Compute on " + machine.name;
    } else {
        std::vector<std::string> widths;
        for (const uint32_t other : timed_widths(machine))
            if (counted(counters, machine, kernel, other, tile)) widths.push_back(grouped(other));
        chain.note = widths.empty() ? fmt::format("At these widths L2 and DRAM were not counted for {}.",
                                                  name_with_tile(kernel, tile))
                                    : fmt::format("Of these widths L2 and DRAM were counted at {} only.",
                                                  fmt::join(widths, ", "));
    }
    say_why(chain, machine, *row);
    const auto untiled = counted(counters, machine, "untiled", width, tile);
    chain.savings = savings_of(machine, *row, tile, bytes, untiled);
    if (bytes && !chain.reasons.empty())
        if (std::string why = less_than_tile_words(machine, *row, *bytes, untiled); !why.empty())
            chain.reasons.insert(chain.reasons.begin() + 1, std::move(why));
    return chain;
}

std::vector<std::pair<std::string, std::string>> counted_rows(const Machine& machine,
                                                              const Launched& launch) {
    const analysis::RecordedWork& work = launch.work;
    std::vector<std::pair<std::string, std::string>> rows{
        {"floating-point operations", grouped(work.flops)},
        {"loaded by the threads", bytes_text(work.loaded)},
        {"stored by the threads", bytes_text(work.stored)},
        {"sectors of the loads", bytes_text(work.sector_bytes)},
        {"arithmetic intensity", draw::figure(work.intensity) + " FLOP/B"},
        {"CGMA, by 4-byte accesses", draw::figure(work.cgma()) + " FLOP"}};
    if (const double gflops = bound_gflops(machine, work.intensity); gflops > 0)
        rows.emplace_back("bound by stated figures", draw::figure(gflops) + " GFLOP/s");
    rows.emplace_back("measured time", launch.own_ms > 0 ? look::milliseconds(launch.own_ms) : "none");
    return rows;
}

RooflineChart roofline_chart(const Machine& machine, const Launched& launch) {
    RooflineChart chart = chart_of(machine);
    const analysis::RecordedWork& work = launch.work;
    add_bound(chart, machine, launch.kernel, work.intensity, "by bytes",
              launch.kernel + " by what threads load");
    if (work.intensity_of_sectors != work.intensity)
        add_bound(chart, machine, launch.kernel, work.intensity_of_sectors, "by sectors",
                  launch.kernel + " by the sectors of its loads");
    return fitted(std::move(chart), machine);
}

TrafficChain traffic_chain(const Machine& machine, const Launched& launch) {
    const analysis::RecordedWork& work = launch.work;
    const double flop = static_cast<double>(work.flops), asked = static_cast<double>(work.loaded),
                 sectors = static_cast<double>(work.sector_bytes);
    TrafficChain chain;
    add_row(chain, "asked by the threads", "bytes that the recorded loads ask for", asked, flop);
    add_row(chain, "sectors of the requests", "32 bytes for each sector that they need", sectors, flop);
    chain.note = "Counted in the recording; nobody counted L2 and DRAM for " + launch.kernel + ".";
    chain.why = "What the bound says";
    if (work.flops == 0)
        chain.reasons.push_back("No floating-point operations were counted: bandwidth alone bounds it.");
    else if (bound_gflops(machine, work.intensity) > 0)
        chain.reasons.push_back(roof_words(machine, work.intensity));
    chain.reasons.push_back(
        coalescing_words(asked, sectors, "Sectors hold bytes that no lane of their request asks for"));
    chain.reasons.push_back(
        fmt::format("No measured times of {} ship, so nothing is held against the bound.", launch.kernel));
    return chain;
}

uint32_t shown_width(const Machine& machine, const std::vector<kernels::Counters>& counters,
                     const TimingChoice& chosen) {
    const std::vector<uint32_t> widths = timed_widths(machine);
    if (std::find(widths.begin(), widths.end(), chosen.width) != widths.end()) return chosen.width;
    // One width for all compilers, so that their times compare.
    const std::string& device = machine.times != nullptr ? machine.times->device : machine.name;
    for (auto at = widths.rbegin(); at != widths.rend(); ++at)
        if (counted(counters, std::string_view(device), chosen.kernel, *at, chosen.tile)) return *at;
    return widths.empty() ? 0 : widths.back();
}

}  // namespace tilescope::timing
