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
    const auto first = static_cast<long>(std::ceil(low / step - kAlmost));
    const auto last = static_cast<long>(std::floor(high / step + kAlmost));
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

// With height * i taken off the i-th label they must only not fall. The nearest such places are means of runs
// of labels, by the max-min formula: the lowest mean of the runs that begin at one label and hold the i-th,
// and of these, over all where such runs can begin, the highest. https://doi.org/10.1214/aoms/1177728423
// (Ayer et al., 1955).
std::vector<float> spread(const std::vector<float>& wanted, float height, float low, float high) {
    std::vector<size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return wanted[a] < wanted[b]; });
    const auto base_of = [&](size_t i) { return wanted[order[i]] - height * static_cast<float>(i); };
    std::vector<float> placed(wanted.size());
    for (size_t i = 0; i < order.size(); ++i) {
        float base = low + height / 2;  // the lowest that any may have
        for (size_t first = 0; first <= i; ++first) {
            float least = high - height / 2 - height * static_cast<float>(order.size() - 1), sum = 0;
            for (size_t last = first; last < order.size(); ++last) {
                sum += base_of(last);
                if (last >= i) least = std::min(least, sum / static_cast<float>(last - first + 1));
            }
            base = std::max(base, least);
        }
        placed[order[i]] = base + height * static_cast<float>(i);
    }
    return placed;
}

std::optional<PixelBox> place(float x, float y, float w, float h, float gap, const PixelBox& area,
                              std::vector<PixelBox>& taken) {
    for (int ring = 1; ring <= 4; ++ring) {
        const float g = gap * static_cast<float>(ring);
        const float up = h * static_cast<float>(ring - 1) * 0.75f;
        const Dot corners[] = {{x + g, y - h / 2},          {x - g - w, y - h / 2},  {x - w / 2, y - g - h},
                               {x - w / 2, y + g},          {x + g, y - g - h - up}, {x + g, y + g + up},
                               {x - g - w, y - g - h - up}, {x - g - w, y + g + up}};
        for (const Dot& corner : corners) {
            const PixelBox box{corner.x, corner.y, corner.x + w, corner.y + h};
            if (!box.within(area) ||
                std::ranges::any_of(taken, [&](const PixelBox& b) { return b.overlaps(box); }))
                continue;
            taken.push_back(box);
            return box;
        }
    }
    return std::nullopt;
}

std::optional<size_t> nearest(const std::vector<Dot>& dots, float x, float y, float within) {
    std::optional<size_t> found;
    for (size_t i = 0; i < dots.size(); ++i) {
        const float away = std::hypot(dots[i].x - x, dots[i].y - y);
        if (away <= within) within = away, found = i;
    }
    return found;
}

}  // namespace tilescope::draw
