#include "app/look/time_words.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::look {
namespace {

bool on_gpu(const trace::Meta& meta) { return meta.backend == trace::Backend::Gpu; }

// The kernel that a class compares it with.
std::string_view rival_of(std::string_view kernel) { return kernel == "untiled" ? "tiled" : "untiled"; }

double work(double m, double k, double n) { return m * k * n; }

// Rows of both kernels, measured on one device at one size; null where there are none.
struct Pair {
    const kernels::Timing *own = nullptr, *rival = nullptr;
    const kernels::Timings* of = nullptr;
};

// At a size; among sizes of the same T where `exact` is false the one nearest to the recording's.
Pair measured(const trace::Meta& meta, const std::optional<analysis::Product>& product,
              const std::vector<kernels::Timings>& all, bool exact) {
    Pair best;
    if (!product) return best;
    double least = INFINITY;
    const double wanted = work(product->m, product->k, product->n);
    for (const bool same_device : {true, false}) {
        for (const kernels::Timings& timings : all) {
            if ((timings.device == meta.device) != same_device) continue;
            for (const kernels::Timing& row : timings.rows) {
                if (row.kernel != meta.kernel || row.tile != product->tile || !row.verified) continue;
                if (exact && (row.m != product->m || row.k != product->k || row.n != product->n)) continue;
                const auto* rival =
                    kernels::find_timing(timings, rival_of(meta.kernel), row.m, row.k, row.n, row.tile);
                const double away = std::abs(std::log(work(row.m, row.k, row.n) / wanted));
                if (rival == nullptr || !rival->verified || away >= least) continue;
                least = away;
                best = {&row, rival, &timings};
            }
        }
        if (best.own != nullptr) break;
    }
    return best;
}

std::string verdict(double own, double rival) {
    if (!(own > 0) || !(rival > 0)) return "";
    const double times = rival / own;
    if (times > 0.98 && times < 1.02) return ": as fast";
    const double factor = times > 1 ? times : 1 / times;
    return fmt::format(": {:.{}f} times {}", factor,
                       factor < 1.095   ? 2
                       : factor < 99.95 ? 1
                                        : 0,
                       times > 1 ? "faster" : "slower");
}

std::string size_text(uint32_t m, uint32_t k, uint32_t n, uint32_t tile) {
    if (m == k && k == n) return fmt::format("width {}, T={}", m, tile);
    return fmt::format("{} x {} x {}, T={}", m, k, n, tile);
}

std::string pair_text(const trace::Meta& meta, const Pair& pair, double own_ms) {
    const kernels::Timing& row = *pair.own;
    return fmt::format("{} {}, {} {} at {}{}; measured on {}", meta.kernel, milliseconds(own_ms),
                       rival_of(meta.kernel), milliseconds(pair.rival->median_ms),
                       size_text(row.m, row.k, row.n, row.tile), verdict(own_ms, pair.rival->median_ms),
                       pair.of->device);
}

}  // namespace

std::string time_kind(const trace::Meta& meta) {
    return on_gpu(meta) ? "SM clocks, " + meta.device : "logical steps, CPU lockstep";
}

std::string recorder(const trace::Meta& meta) {
    if (!on_gpu(meta)) return "CPU lockstep";
    std::string text = meta.device;
    if (!meta.driver.empty()) text += ", driver " + meta.driver;
    if (meta.price.launches > 0)
        text += fmt::format(", {} {}", grouped(meta.price.launches),
                            meta.price.launches == 1 ? "launch" : "launches");
    return text;
}

std::string price_text(const trace::Meta& meta) {
    const trace::Price& price = meta.price;
    if (!(price.plain_ms > 0) || !(price.recorded_ms > 0)) return "";
    const double times = price.recorded_ms / price.plain_ms;
    return fmt::format("Recording took {:.{}f} times the kernel's own time: {} against {}.", times,
                       times < 9.95 ? 1 : 0, milliseconds(price.recorded_ms), milliseconds(price.plain_ms));
}

std::string times_text(const trace::Meta& meta, const std::optional<analysis::Product>& product,
                       const std::vector<kernels::Timings>& timings) {
    const double own_ms = on_gpu(meta) ? meta.price.plain_ms : 0;
    const Pair exact = measured(meta, product, timings, true);
    if (exact.own != nullptr) {
        // The recording's own time only beside a rival of the same device.
        const bool own = own_ms > 0 && exact.of->device == meta.device;
        return pair_text(meta, exact, own ? own_ms : exact.own->median_ms) + ".";
    }
    if (!product)
        return own_ms > 0 ? fmt::format("{} {}, measured on {} in this launch.", meta.kernel,
                                        milliseconds(own_ms), meta.device)
                          : std::string("Times ship with the program for its own kernels alone.");
    std::string text =
        own_ms > 0 ? fmt::format("{} {}, measured on {} in this launch; no time of {} at this size.",
                                 meta.kernel, milliseconds(own_ms), meta.device, rival_of(meta.kernel))
                   : fmt::format("No times measured at {}.",
                                 size_text(product->m, product->k, product->n, product->tile));
    const Pair near = measured(meta, product, timings, false);
    if (near.own != nullptr) text += " Nearest: " + pair_text(meta, near, near.own->median_ms) + ".";
    return text;
}

TimesTable times_table(const trace::Meta& meta, const std::optional<analysis::Product>& product,
                       const std::vector<kernels::Timings>& timings) {
    TimesTable table;
    table.sentence = times_text(meta, product, timings);
    Pair pair = measured(meta, product, timings, true);
    const bool exact = pair.own != nullptr;
    if (!exact) pair = measured(meta, product, timings, false);
    if (pair.own == nullptr && on_gpu(meta) && meta.price.plain_ms > 0) {
        table = {true,
                 "this launch, " + meta.device,
                 "measured",
                 meta.kernel,
                 milliseconds(meta.price.plain_ms),
                 product ? std::string(rival_of(meta.kernel)) : "",
                 product ? "\u2013" : "",
                 "",
                 table.sentence};
        return table;
    }
    if (pair.own == nullptr) {
        table.title = "no measured times";
        return table;
    }
    const kernels::Timing& row = *pair.own;
    const bool own = exact && on_gpu(meta) && meta.price.plain_ms > 0 && pair.of->device == meta.device;
    const double own_ms = own ? meta.price.plain_ms : row.median_ms;
    table.measured = true;
    table.title = row.m == row.k && row.k == row.n
                      ? fmt::format("width {}, {}", row.m, pair.of->device)
                      : fmt::format("{}x{}x{}, {}", row.m, row.k, row.n, pair.of->device);
    table.note = exact ? "measured" : "nearest";
    table.own = meta.kernel;
    table.own_time = milliseconds(own_ms);
    table.rival = rival_of(meta.kernel);
    table.rival_time = milliseconds(pair.rival->median_ms);
    const double times = own_ms > 0 ? pair.rival->median_ms / own_ms : 0;
    table.ratio = fmt::format("\u00d7 {:.{}f}", times, times < 1 ? 2 : times < 99.95 ? 1 : 0);
    return table;
}

std::string price_short(const trace::Meta& meta) {
    const trace::Price& price = meta.price;
    if (!(price.plain_ms > 0) || !(price.recorded_ms > 0)) return "";
    const double times = price.recorded_ms / price.plain_ms;
    return fmt::format("recorded in {}, {:.{}f} \u00d7 its own {}", milliseconds(price.recorded_ms), times,
                       times < 9.95 ? 1 : 0, milliseconds(price.plain_ms));
}

std::string milliseconds(double ms) {
    if (!(ms > 0)) return "0 ms";
    const bool small = ms < 0.09995;
    const double shown = small ? ms * 1000 : ms;
    std::string digits = shown < 100 ? fmt::format("{:#.3g}", shown) : fmt::format("{:.0f}", shown);
    if (digits.back() == '.') digits.pop_back();
    return fmt::format("{} {}", digits, small ? "µs" : "ms");
}

std::string recording_name(const trace::Trace& trace, const std::optional<analysis::Product>& product) {
    return recording_names(trace, product).front();
}

std::vector<std::string> recording_names(const trace::Trace& trace,
                                         const std::optional<analysis::Product>& product) {
    const std::string& name = trace.meta.kernel;
    const std::string kernel = product ? fmt::format("{} T={}", name, product->tile) : name;
    const std::string sized = product
                                  ? fmt::format("{}   {}x{}x{}", kernel, product->m, product->k, product->n)
                                  : fmt::format("{}   {}", name, analysis::launch_text(trace, product));
    const std::string who = recorder(trace.meta);
    return {sized + "   " + who, sized + "   " + who.substr(0, who.find(',')), sized, kernel};
}

}  // namespace tilescope::look
