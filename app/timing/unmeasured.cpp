#include "app/timing/unmeasured.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/draw/axes.h"
#include "app/look/time_words.h"
#include "app/timing/ladder.h"
#include "core/base/words.h"
#include "kernels/textbook/known_launch.h"

namespace tilescope::timing {
namespace {

// Nanoseconds too: a small launch is bounded by less than a microsecond.
std::string least_text(double ms) {
    return ms < 1e-3 ? fmt::format("{:#.3g} ns", ms * 1e6) : look::milliseconds(ms);
}

LeastTime least_of(const char* what, double amount, double a_second, std::string of) {
    const double ms = amount / a_second * 1e3;
    return {what, std::move(of), ms, least_text(ms)};
}

void add_least(Unmeasured& made, const Machine& machine, const Launched& launch) {
    const analysis::RecordedWork& work = launch.work;
    if (machine.stated_gflops > 0 && work.flops > 0)
        made.least.push_back(least_of("arithmetic", static_cast<double>(work.flops),
                                      machine.stated_gflops * 1e9,
                                      fmt::format("{} FLOP at {} GFLOP/s", short_count(work.flops),
                                                  draw::figure(machine.stated_gflops))));
    if (machine.stated_gbs > 0) {
        const auto bytes = [&](const char* what, uint64_t count) {
            made.least.push_back(
                least_of(what, static_cast<double>(count), machine.stated_gbs * 1e9,
                         fmt::format("{} at {} GB/s", bytes_text(count), draw::figure(machine.stated_gbs))));
        };
        bytes("bytes asked for", work.loaded + work.stored);
        bytes("with whole sectors", work.sector_bytes + work.stored);
    }
    if (made.least.empty()) {
        made.sentence = "Neither peak nor bandwidth of this device is known: choose another.";
        return;
    }
    const auto longest = std::ranges::max_element(made.least, {}, &LeastTime::ms);
    made.sentence = fmt::format(
        "By the stated figures, without caches, {} takes at least {}{}: {}.", launch.kernel, longest->text,
        launch.own_ms > 0
            ? fmt::format(" ({} were measured in this launch)", look::milliseconds(launch.own_ms))
            : "",
        longest->what == std::string("arithmetic") ? "its arithmetic bounds it"
        : longest->what == std::string("bytes asked for") || work.sector_bytes <= work.loaded
            ? "what its threads ask of memory bounds it"
            : "its loads move whole sectors, of which lanes ask for a part");
}

// The machine itself where it was measured, else the first that was; null for none.
const Machine* measured_machine(const std::vector<Machine>& all, const Machine& machine) {
    if (machine.times != nullptr) return &machine;
    const auto found = std::ranges::find_if(all, [](const Machine& one) { return one.times != nullptr; });
    return found == all.end() ? nullptr : &*found;
}

// The kernels of the ladder that were measured there, at one width, and a bound among them; 0 for none.
void add_compared(Unmeasured& made, const Machine& timed, uint32_t tile, const std::string& bounded,
                  double bound) {
    const std::vector<uint32_t> widths = timed_widths(timed);
    if (widths.empty()) return;
    constexpr uint32_t kUsual = 1024;
    const uint32_t width = std::ranges::find(widths, kUsual) != widths.end() ? kUsual : widths.back();
    const std::vector<uint32_t> tiles = timed_tiles(timed);
    if (std::ranges::find(tiles, tile) == tiles.end() && !tiles.empty()) tile = tiles.back();
    const auto add = [&](std::string_view kernel) {
        const kernels::Timing* const row = row_of(timed, kernel, width, tile_of(kernel, tile));
        if (row != nullptr && row->gflops > 0)
            made.compared.push_back({std::string(kernel), name_with_tile(kernel, tile_of(kernel, tile)),
                                     row->gflops, draw::figure(row->gflops)});
    };
    add(kLibrary);
    for (const Rung& rung : rungs(ElementType::F32)) add(rung.kernel);
    if (made.compared.empty()) return;
    if (bound > 0) made.compared.push_back({"", bounded, bound, "\u2264 " + draw::figure(bound), true});
    std::ranges::stable_sort(made.compared, std::greater(), &ComparedKernel::gflops);
    made.compared_on = name_of(timed);
    made.compared_width = grouped(width);
}

}  // namespace

Unmeasured unmeasured(const std::vector<Machine>& all, const Machine& machine, const Launched& launch,
                      uint32_t tile) {
    Unmeasured made;
    add_least(made, machine, launch);
    if (const Machine* const timed = measured_machine(all, machine)) {
        const double bound = launch.work.flops > 0 ? bound_gflops(*timed, launch.work.intensity) : 0;
        add_compared(made, *timed, tile, launch.kernel, bound);
    }
    made.measure =
        "Recorded on an NVIDIA GPU, the kernel also runs without recording, and the median time of those "
        "runs stands "
        "here. \u201ctilescope time\u201d times the kernels that ship, with a spread.";
    made.command = "tilescope record FILE.cu --backend gpu";
    return made;
}

Unmeasured unmeasured(const std::vector<Machine>& all, const Machine& machine, std::string_view kernel,
                      uint32_t width, uint32_t tile) {
    Unmeasured made;
    const uint32_t own = tile_of(kernel, tile);
    if (const Machine* const timed = measured_machine(all, machine))
        add_compared(made, *timed, tile, name_with_tile(kernel, own) + ", the bound here",
                     bound_gflops(machine, analysis::tile_intensity(kernel == "untiled" ? 1 : tile)));
    made.measure = fmt::format(
        "On a machine with {} this command measures it, with the untiled kernel and cuBLAS beside it.",
        name_of(machine));
    const bool named = kernel != "untiled" && !kernels::is_library(kernel);
    made.command = fmt::format("tilescope time untiled {}{} --n {}{}", named ? std::string(kernel) + " " : "",
                               kernels::library_of(kernels::input_of(kernel)), width,
                               kernels::tile_text(own, " --tile "));
    return made;
}

std::string open_elsewhere(const analysis::Recording& recording, const Machine& machine) {
    if (!recording.product || machine.times == nullptr) return "";
    const std::string& kernel = recording.trace->meta.kernel;
    const auto& [m, k, n, tile] = kernels::shape_of(*recording.product);
    const auto* const row = kernels::find_timing(*machine.times, kernel, m, k, n, tile);
    const std::string what =
        fmt::format("Open is {} {}", analysis::kernel_name(recording), analysis::size_name(recording));
    const bool square = m == k && k == n;
    if (row != nullptr && row->verified) {
        // One that is on the chart is where the screen opens; a person may have gone on from there.
        const std::vector<uint32_t> widths = timed_widths(machine), tiles = timed_tiles(machine);
        const bool on_chart = square && std::ranges::find(widths, n) != widths.end() &&
                              (tile == 0 || std::ranges::find(tiles, tile) != tiles.end());
        if (on_chart) return "";
        return fmt::format("{}: {} here; what is shown is another size", what,
                           look::milliseconds(row->median_ms));
    }
    const std::vector<std::string> kernels = timed_kernels(machine);
    if (std::ranges::find(kernels, kernel) == kernels.end()) return what + ", which was not timed here";
    const std::string sizes =
        square ? fmt::format("--n {}", n) : fmt::format("--m {} --k {} --n {}", m, k, n);
    return fmt::format("{}, not timed here: \u201ctilescope time {} {}{}\u201d would", what, kernel, sizes,
                       tile > 0 ? fmt::format(" --tile {}", tile) : "");
}

}  // namespace tilescope::timing
