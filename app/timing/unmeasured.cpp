#include "app/timing/unmeasured.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/draw/axes.h"
#include "app/look/time_words.h"
#include "app/timing/ladder.h"
#include "core/base/words.h"

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

// The measured kernels of a machine at a width that all have.
void add_compared(Unmeasured& made, const std::vector<Machine>& all, const Machine& machine,
                  const Launched& launch, uint32_t tile) {
    const auto timed =
        machine.times != nullptr
            ? all.begin() + (&machine - all.data())
            : std::ranges::find_if(all, [](const Machine& one) { return one.times != nullptr; });
    if (timed == all.end()) return;
    const std::vector<uint32_t> widths = timed_widths(*timed);
    if (widths.empty()) return;
    constexpr uint32_t kUsual = 1024;
    const uint32_t width = std::ranges::find(widths, kUsual) != widths.end() ? kUsual : widths.back();
    const auto add = [&](std::string_view kernel) {
        const kernels::Timing* const row = row_of(*timed, kernel, width, tile_of(kernel, tile));
        if (row != nullptr && row->gflops > 0)
            made.compared.push_back(
                {std::string(kernel), shown_name(kernel), row->gflops, draw::figure(row->gflops)});
    };
    add(kLibrary);
    for (const Rung& rung : rungs()) add(rung.kernel);
    if (made.compared.empty()) return;
    if (const double bound = bound_gflops(*timed, launch.work.intensity); bound > 0 && launch.work.flops > 0)
        made.compared.push_back({"", launch.kernel, bound, "\u2264 " + draw::figure(bound), true});
    std::ranges::stable_sort(made.compared, std::greater(), &ComparedKernel::gflops);
    made.compared_title = fmt::format("on {}, width {}, GFLOP/s", name_of(*timed), grouped(width));
}

}  // namespace

Unmeasured unmeasured(const std::vector<Machine>& all, const Machine& machine, const Launched& launch,
                      uint32_t tile) {
    Unmeasured made;
    add_least(made, machine, launch);
    add_compared(made, all, machine, launch, tile);
    made.measure =
        "Recorded on an NVIDIA GPU, the kernel also runs without recording, and the median time of those "
        "runs stands "
        "here. \u201ctilescope time\u201d times the kernels that ship, with a spread.";
    made.command = "tilescope record FILE.cu --backend gpu";
    return made;
}

}  // namespace tilescope::timing
