#include "app/draw/axes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::draw {
namespace {

constexpr double kAlmost = 1e-9;

// The largest 1, 2 or 5 times a power of ten that is not above `value`, or the smallest not below it.
double round_to(double value, bool up) {
    const double decade = std::pow(10.0, std::floor(std::log10(value)));
    double below = decade;
    for (const double step : {decade, 2 * decade, 5 * decade, 10 * decade}) {
        if (up && step >= value * (1 - kAlmost)) return step;
        if (step <= value * (1 + kAlmost)) below = step;
    }
    return up ? 10 * decade : below;
}

}  // namespace

float at(const Axis& axis, double value) {
    const double part = axis.log ? std::log(value / axis.low) / std::log(axis.high / axis.low)
                                 : (value - axis.low) / (axis.high - axis.low);
    return axis.from + static_cast<float>(part) * (axis.to - axis.from);
}

double value_at(const Axis& axis, float pixel) {
    const double part = static_cast<double>((pixel - axis.from) / (axis.to - axis.from));
    return axis.log ? axis.low * std::pow(axis.high / axis.low, part)
                    : axis.low + part * (axis.high - axis.low);
}

bool holds(const Axis& axis, double value) { return value >= axis.low && value <= axis.high; }

std::vector<Tick> log_ticks(double low, double high) {
    std::vector<Tick> ticks;
    if (!(low > 0) || !(high > low)) return ticks;
    const bool few = high / low < 100;
    for (double decade = std::pow(10.0, std::floor(std::log10(low))); decade <= high; decade *= 10) {
        for (int digit = 1; digit < 10; ++digit) {
            const double value = decade * digit;
            if (value < low * (1 - kAlmost) || value > high * (1 + kAlmost)) continue;
            const bool said = digit == 1 || (few && (digit == 2 || digit == 5));
            ticks.push_back({value, said ? axis_number(value) : ""});
        }
    }
    return ticks;
}

std::vector<Tick> even_ticks(double low, double high, int most) {
    std::vector<Tick> ticks;
    if (!(high > low) || most < 1) return ticks;
    const double step = round_to((high - low) / most, true);
    const auto first = static_cast<long>(std::ceil(low / step - 1e-9));
    const auto last = static_cast<long>(std::floor(high / step + 1e-9));
    for (long i = first; i <= last; ++i) {
        const double value = static_cast<double>(i) * step;
        ticks.push_back({value, axis_number(value)});
    }
    return ticks;
}

void round_out(double& low, double& high) {
    low = round_to(low, false);
    high = round_to(high, true);
    if (high <= low) high = low * 10;
}

std::string axis_number(double value) {
    if (value >= 1e6) return fmt::format("{:.6g} M", value / 1e6);
    if (value >= 1e5) return fmt::format("{:.6g} k", value / 1e3);
    if (value >= 1e3 && value == std::floor(value)) return grouped(static_cast<uint64_t>(value));
    return fmt::format("{:.6g}", value);
}

std::string figure(double value) {
    if (value >= 999.95) return grouped(static_cast<uint64_t>(std::llround(value)));
    return fmt::format("{:.4g}", value);
}

std::string ratio_text(double ratio) {
    if (ratio < 9.995) return fmt::format("{:.2f}", ratio);
    return ratio < 99.95 ? fmt::format("{:.1f}", ratio) : fmt::format("{:.0f}", ratio);
}

// Pool adjacent violators: with height * i taken off the i-th label they must only not fall, and the nearest
// such places are the means of pools. https://doi.org/10.1214/aoms/1177728423 (Ayer et al., 1955).
std::vector<float> spread(const std::vector<float>& wanted, float height, float low, float high) {
    struct Pool {
        double sum;
        size_t count;
        double mean() const { return sum / static_cast<double>(count); }
    };
    std::vector<size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return wanted[a] < wanted[b]; });
    std::vector<Pool> pools;
    for (size_t i = 0; i < order.size(); ++i) {
        pools.push_back({static_cast<double>(wanted[order[i]] - height * static_cast<float>(i)), 1});
        while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
            const Pool last = pools.back();
            pools.pop_back();
            pools.back().sum += last.sum;
            pools.back().count += last.count;
        }
    }
    const double least = static_cast<double>(low + height / 2);
    const double most = std::max(
        least, static_cast<double>(high - height / 2) -
                   static_cast<double>(height) * static_cast<double>(std::max<size_t>(order.size(), 1) - 1));
    std::vector<float> placed(wanted.size());
    size_t i = 0;
    for (const Pool& pool : pools) {
        const double base = std::clamp(pool.mean(), least, most);
        for (size_t n = 0; n < pool.count; ++n, ++i)
            placed[order[i]] = static_cast<float>(base) + height * static_cast<float>(i);
    }
    return placed;
}

std::optional<Box> place(float x, float y, float w, float h, float gap, const Box& area,
                         std::vector<Box>& taken) {
    for (int ring = 1; ring <= 4; ++ring) {
        const float g = gap * static_cast<float>(ring);
        const float up = h * static_cast<float>(ring - 1) * 0.75f;
        const Dot corners[] = {{x + g, y - h / 2},          {x - g - w, y - h / 2},  {x - w / 2, y - g - h},
                               {x - w / 2, y + g},          {x + g, y - g - h - up}, {x + g, y + g + up},
                               {x - g - w, y - g - h - up}, {x - g - w, y + g + up}};
        for (const Dot& corner : corners) {
            const Box box{corner.x, corner.y, corner.x + w, corner.y + h};
            if (!box.within(area) ||
                std::any_of(taken.begin(), taken.end(), [&](const Box& b) { return b.overlaps(box); }))
                continue;
            taken.push_back(box);
            return box;
        }
    }
    return std::nullopt;
}

std::optional<size_t> nearest(const std::vector<Dot>& dots, float x, float y, float within) {
    std::optional<size_t> found;
    float least = within * within;
    for (size_t i = 0; i < dots.size(); ++i) {
        const float dx = dots[i].x - x, dy = dots[i].y - y, d = dx * dx + dy * dy;
        if (d > least) continue;
        least = d;
        found = i;
    }
    return found;
}

}  // namespace tilescope::draw
