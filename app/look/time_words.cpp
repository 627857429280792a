#include "app/look/time_words.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "core/base/words.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::look {
namespace {

bool on_gpu(const trace::Meta& meta) { return meta.backend == trace::Backend::Gpu; }

// The kernel that a class compares it with.
std::string_view rival_of(std::string_view kernel) { return kernel == "untiled" ? "tiled" : "untiled"; }

// The recording's own time, where it was timed.
double own_ms(const trace::Meta& meta) { return on_gpu(meta) ? meta.price.plain_ms : 0; }

double work(const auto& of) { return double{1} * of.m * of.k * of.n; }

// Rows of both kernels, measured on one device at one size; null where there are none.
struct Pair {
    const kernels::Timing *own = nullptr, *rival = nullptr;
    const kernels::Timings* of = nullptr;
    bool exact = false;  // at the recording's size; else among sizes of the same T at the nearest
    double own_ms = 0;   // the recording's own time only beside a rival of the same device and size
};

Pair measured(const trace::Meta& meta, const std::optional<analysis::Product>& product,
              const std::vector<kernels::Timings>& all) {
    Pair best;
    if (!product) return best;
    const kernels::Shape shape = kernels::shape_of(*product);
    double least = INFINITY;
    for (const auto& [exact, same_device] :
         {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
        for (const kernels::Timings& timings : all) {
            if ((timings.device == meta.device) != same_device) continue;
            for (const kernels::Timing& row : timings.rows) {
                if (row.kernel != meta.kernel || row.tile != shape.tile || !row.verified) continue;
                if (exact && (row.m != shape.m || row.k != shape.k || row.n != shape.n)) continue;
                const auto* rival =
                    kernels::find_timing(timings, rival_of(meta.kernel), row.m, row.k, row.n, row.tile);
                const double away = std::abs(std::log(work(row) / work(*product)));
                if (rival == nullptr || !rival->verified || away >= least) continue;
                least = away;
                const bool own = exact && same_device && own_ms(meta) > 0;
                best = {&row, rival, &timings, exact, own ? own_ms(meta) : row.median_ms};
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
    const int digits = factor < 1.095 ? 2 : factor < 99.95 ? 1 : 0;
    return fmt::format(": {:.{}f} times {}", factor, digits, times > 1 ? "faster" : "slower");
}

std::string size_text(const auto& of, const char* times) {
    if (of.m == of.k && of.k == of.n) return fmt::format("width {}", of.m);
    return fmt::format("{}{}{}{}{}", of.m, times, of.k, times, of.n);
}

std::string pair_text(const trace::Meta& meta, const Pair& pair) {
    return fmt::format("{} {}, {} {} at {}, T={}{}; measured on {}", meta.kernel, milliseconds(pair.own_ms),
                       rival_of(meta.kernel), milliseconds(pair.rival->median_ms),
                       size_text(*pair.own, " x "), pair.own->tile,
                       verdict(pair.own_ms, pair.rival->median_ms), pair.of->device);
}

}  // namespace

std::string time_kind(const trace::Meta& meta) {
    return on_gpu(meta) ? "SM clocks, " + meta.device : "logical steps, CPU lockstep";
}

std::string recorder(const trace::Meta& meta) {
    if (!on_gpu(meta)) return "CPU lockstep";
    std::string text = meta.device;
    if (!meta.driver.empty()) text += ", driver " + meta.driver;
    if (meta.price.launches == 1) text += ", 1 launch";
    if (meta.price.launches > 1) text += fmt::format(", {} launches", grouped(meta.price.launches));
    return text;
}

std::string price_times(const trace::Price& price) {
    if (!(price.plain_ms > 0) || !(price.recorded_ms > 0)) return "";
    const double times = price.recorded_ms / price.plain_ms;
    return fmt::format("{:.{}f}", times, times < 9.95 ? 1 : 0);
}

std::string price_text(const trace::Meta& meta) {
    const trace::Price& price = meta.price;
    const std::string times = price_times(price);
    if (times.empty()) return "";
    return fmt::format("Recording took {} times the kernel's own time: {} against {}.", times,
                       milliseconds(price.recorded_ms), milliseconds(price.plain_ms));
}

std::string price_short(const trace::Meta& meta) {
    const trace::Price& price = meta.price;
    const std::string times = price_times(price);
    if (times.empty()) return "";
    return fmt::format("recorded in {}, {} \u00d7 its own {}", milliseconds(price.recorded_ms), times,
                       milliseconds(price.plain_ms));
}

std::string times_text(const trace::Meta& meta, const std::optional<analysis::Product>& product,
                       const std::vector<kernels::Timings>& timings) {
    const Pair pair = measured(meta, product, timings);
    if (pair.exact) return pair_text(meta, pair) + ".";
    std::string text;
    if (own_ms(meta) > 0)
        text = fmt::format("{} {}, measured on {} in this launch", meta.kernel, milliseconds(own_ms(meta)),
                           meta.device);
    if (!product) return text.empty() ? "Times ship with the program for its own kernels alone." : text + ".";
    text = text.empty() ? fmt::format("No times measured at {}, T={}.", size_text(*product, " x "),
                                      kernels::shape_of(*product).tile)
                        : fmt::format("{}; no time of {} at this size.", text, rival_of(meta.kernel));
    if (pair.own != nullptr) text += " Nearest: " + pair_text(meta, pair) + ".";
    return text;
}

TimesTable times_table(const trace::Meta& meta, const std::optional<analysis::Product>& product,
                       const std::vector<kernels::Timings>& timings) {
    TimesTable table;
    table.sentence = times_text(meta, product, timings);
    const Pair pair = measured(meta, product, timings);
    if (pair.own == nullptr && !(own_ms(meta) > 0)) {
        table.title = "no measured times";
        return table;
    }
    table.measured = true;
    table.note = pair.exact || pair.own == nullptr ? "measured" : "nearest";
    table.own = meta.kernel;
    if (product) table.rival = rival_of(meta.kernel);
    if (pair.own == nullptr) {
        table.title = "this launch, " + meta.device;
        table.own_time = milliseconds(own_ms(meta));
        table.rival_time = product ? "\u2013" : "";
        return table;
    }
    table.title = size_text(*pair.own, "x") + ", " + pair.of->device;
    table.own_time = milliseconds(pair.own_ms);
    table.rival_time = milliseconds(pair.rival->median_ms);
    const double times = pair.own_ms > 0 ? pair.rival->median_ms / pair.own_ms : 0;
    table.ratio = fmt::format("\u00d7 {:.{}f}", times, times < 1 ? 2 : times < 99.95 ? 1 : 0);
    return table;
}

std::string milliseconds(double ms) {
    if (!(ms > 0)) return "0 ms";
    const bool small = ms < 0.09995;
    const double shown = small ? ms * 1000 : ms;
    std::string digits = shown < 100 ? fmt::format("{:#.3g}", shown) : fmt::format("{:.0f}", shown);
    if (digits.back() == '.') digits.pop_back();
    return fmt::format("{} {}", digits, small ? "µs" : "ms");
}

std::vector<std::string> recording_names(const trace::Trace& trace,
                                         const std::optional<analysis::Product>& product) {
    const std::string& name = trace.meta.kernel;
    const std::string kernel =
        product ? fmt::format("{} T={}", name, kernels::shape_of(*product).tile) : name;
    const std::string sized =
        kernel + "   " + (product ? product->sizes() : analysis::launch_text(trace, product));
    const std::string who = recorder(trace.meta);
    return {sized + "   " + who, sized + "   " + who.substr(0, who.find(',')), sized, kernel};
}

}  // namespace tilescope::look
