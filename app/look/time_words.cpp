#include "app/look/time_words.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/words.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::look {
namespace {

bool on_gpu(const trace::Meta& meta) { return meta.backend == trace::Backend::Gpu; }

// The recording's own time, where it was timed.
double own_ms(const trace::Meta& meta) { return on_gpu(meta) ? meta.price.plain_ms : 0; }

// Rows of both kernels, measured on one device at the recording's size; null where there are none.
struct TimedPair {
    const kernels::Timing *own = nullptr, *rival = nullptr;
    const kernels::Timings* of = nullptr;
    double own_ms = 0;  // the recording's own time only beside a rival of the same device
};

TimedPair measured(const trace::Meta& meta, const std::optional<analysis::Product>& product,
                   const std::vector<kernels::Timings>& all) {
    if (!product) return {};
    const auto& [m, k, n, tile] = kernels::shape_of(*product);
    for (const bool same_device : {true, false})
        for (const kernels::Timings& timings : all) {
            if ((timings.device == meta.device) != same_device) continue;
            const auto* own = kernels::find_timing(timings, meta.kernel, m, k, n, tile);
            const auto* rival = kernels::find_timing(timings, rival_of(meta.kernel), m, k, n, tile);
            if (own == nullptr || rival == nullptr || !own->verified || !rival->verified) continue;
            return {own, rival, &timings, same_device && own_ms(meta) > 0 ? own_ms(meta) : own->median_ms};
        }
    return {};
}

std::string verdict(const TimedPair& pair) {
    if (kernels::spreads_overlap(*pair.own, *pair.rival))
        return ": no difference beyond the spread of the runs";
    const double times = pair.rival->median_ms / pair.own_ms;
    if (times > 0.98 && times < 1.02) return ": as fast";
    const double factor = times > 1 ? times : 1 / times;
    const int digits = factor < 1.095 ? 2 : factor < 99.95 ? 1 : 0;
    return fmt::format(": {:.{}f} times {}", factor, digits, times > 1 ? "faster" : "slower");
}

std::string size_text(const auto& of, const char* times) {
    if (of.m == of.k && of.k == of.n) return fmt::format("width {}", of.m);
    return fmt::format("{}{}{}{}{}", of.m, times, of.k, times, of.n);
}

std::string pair_text(const trace::Meta& meta, const TimedPair& pair) {
    return fmt::format("{} {}, {} {} at {}{}{}; measured on {}", meta.kernel, milliseconds(pair.own_ms),
                       rival_of(meta.kernel), milliseconds(pair.rival->median_ms),
                       size_text(*pair.own, " × "), kernels::tile_text(pair.own->tile, ", T="), verdict(pair),
                       pair.of->device);
}

}  // namespace

std::string_view rival_of(std::string_view kernel) { return kernel == "untiled" ? "tiled" : "untiled"; }

std::optional<RivalTimes> rival_times(const trace::Meta& meta,
                                      const std::optional<analysis::Product>& product,
                                      const std::vector<kernels::Timings>& timings) {
    const TimedPair pair = measured(meta, product, timings);
    if (pair.own == nullptr) return std::nullopt;
    return RivalTimes{pair.own_ms, pair.rival->median_ms, kernels::spreads_overlap(*pair.own, *pair.rival)};
}

std::string time_kind(const trace::Meta& meta) {
    return on_gpu(meta) ? "SM clocks, " + meta.device : "logical steps, CPU lockstep";
}

std::string recorder(const trace::Meta& meta) {
    if (!on_gpu(meta)) return "CPU lockstep";
    std::string text = one_line(meta.device);
    if (!meta.driver.empty()) text += ", driver " + one_line(meta.driver);
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
    const TimedPair pair = measured(meta, product, timings);
    if (pair.own != nullptr) return pair_text(meta, pair) + ".";
    if (!(own_ms(meta) > 0)) return "";
    return fmt::format("{} {}, measured on {} in this launch.", meta.kernel, milliseconds(own_ms(meta)),
                       meta.device);
}

TimesTable times_table(const trace::Meta& meta, const std::optional<analysis::Product>& product,
                       const std::vector<kernels::Timings>& timings) {
    TimesTable table;
    const TimedPair pair = measured(meta, product, timings);
    table.sentence = times_text(meta, product, timings);
    table.measured = !table.sentence.empty();
    if (!table.measured) return table;
    table.own = meta.kernel;
    if (pair.own == nullptr) {
        table.title = "this launch, " + meta.device;
        table.own_time = milliseconds(own_ms(meta));
        return table;
    }
    table.title = size_text(*pair.own, "×") + ", " + pair.of->device;
    table.own_time = milliseconds(pair.own_ms);
    table.rival = rival_of(meta.kernel);
    table.rival_time = milliseconds(pair.rival->median_ms);
    const double times = pair.rival->median_ms / pair.own_ms;
    if (!kernels::spreads_overlap(*pair.own, *pair.rival))
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

std::vector<std::string> recording_names(const analysis::Recording& recording) {
    const std::string kernel = analysis::kernel_name(recording);
    const std::string sized = kernel + "   " + analysis::size_name(recording);
    const std::string who = recorder(recording.trace->meta);
    return {sized + "   " + who, sized + "   " + who.substr(0, who.find(',')), sized, kernel};
}

}  // namespace tilescope::look
