// What is said about two recordings: numbers, ratios, and the sentence that they come to.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include <fmt/format.h>

#include "app/compare/model.h"
#include "app/look/sums.h"

namespace tilescope::compare {
namespace {

std::string three_digits(double value) {
    if (value >= 1000) return grouped(static_cast<uint64_t>(std::llround(value)));
    return fmt::format("{:.3g}", value);
}

// "16 times fewer load sectors".
struct Claim {
    std::string text;
    double factor = 1;
    int better = 0;
};

Claim claim(const Count& count, const char* what) {
    Claim made;
    made.better = count.fewer();
    if (count.a == 0 || count.b == 0 || made.better == 0) return made;
    made.factor =
        static_cast<double>(std::max(count.a, count.b)) / static_cast<double>(std::min(count.a, count.b));
    made.text = fmt::format("{} times fewer {}", three_digits(made.factor), what);
    return made;
}

}  // namespace

std::string count_text(uint64_t count) {
    if (count < 1'000'000) return grouped(count);
    const bool giga = count >= 999'500'000;
    const double size = static_cast<double>(count) / (giga ? 1e9 : 1e6);
    return (size < 99.95 ? fmt::format("{:#.3g}", size) : fmt::format("{:.0f}", size)) + (giga ? " G" : " M");
}

std::string ratio_text(const Count& count) {
    const auto ratio = count.ratio();
    return ratio ? three_digits(*ratio) : "";
}

std::string times_text(const Count& count) {
    if (count.a == 0 || count.b == 0) return "";
    if (count.a == count.b) return "same";
    const auto a = static_cast<double>(count.a), b = static_cast<double>(count.b);
    return b < a ? "1/" + three_digits(a / b) : three_digits(b / a);
}

Headline headline(const Run& a, const Run& b) {
    const trace::Verification &ra = a.trace.meta.result, &rb = b.trace.meta.result;
    if (ra.checked && rb.checked && ra.verified != rb.verified) {
        const bool a_right = ra.verified;
        std::string wrong = look::result_text((a_right ? b : a).trace, (a_right ? b : a).notation);
        wrong.replace(0, 6, a_right ? "B's result is" : "A's result is");
        return {fmt::format("{}; {} is right.", wrong, a_right ? "A's" : "B's"), a_right ? -1 : 1};
    }
    if ((a.faults > 0) != (b.faults > 0)) {
        const bool is_a = a.faults > 0;
        const bool right = (is_a ? ra : rb).verified;
        return {fmt::format("{} is at fault at {} of this block, {} at none{}.", is_a ? "A" : "B",
                            counted(is_a ? a.faults : b.faults, "step"), is_a ? "B" : "A",
                            right ? fmt::format("; {}'s right result was luck", is_a ? "A" : "B") : ""),
                is_a ? 1 : -1};
    }
    const SplitSums &sa = a.tally.before.back(), &sb = b.tally.before.back();
    Claim claims[] = {
        claim({sa.global_load.requests, sb.global_load.requests}, "load requests"),
        claim({sa.global_load.sectors, sb.global_load.sectors}, "load sectors"),
        claim({sa.shared_load.wavefronts + sa.shared_store.wavefronts,
               sb.shared_load.wavefronts + sb.shared_store.wavefronts},
              "wavefronts of shared memory"),
        claim({sa.barriers, sb.barriers}, "arrivals at barriers"),
    };
    std::ranges::stable_sort(claims, std::greater(), &Claim::factor);
    if (claims[0].text.empty()) {
        if (sa != sb) return {"Both ask for global memory alike.", 0};
        return {fmt::format("The same requests in both: {} loads, {}.", grouped(sa.global_load.requests),
                            counted(sa.global_load.sectors, "sector")),
                0};
    }
    std::string text = claims[0].text;
    if (!claims[1].text.empty() && claims[1].better == claims[0].better) text += " and " + claims[1].text;
    const bool is_a = claims[0].better < 0;
    return {fmt::format("{}, {}: {} than {}.", is_a ? "A" : "B", (is_a ? a : b).tally.kernel, text,
                        is_a ? "B" : "A"),
            claims[0].better};
}

namespace {

bool same_size(const Run& a, const Run& b) {
    return a.tally.product == b.tally.product && (!a.tally.product || a.tally.size == b.tally.size);
}

uint64_t stored(const Run& run) { return run.tally.before.back().global_store.lanes; }

}  // namespace

bool same_work(const Run& a, const Run& b) { return same_size(a, b) && stored(a) == stored(b); }

std::string caveat(const Run& a, const Run& b) {
    for (const Run* one : {&a, &b}) {
        const std::string trouble = look::not_whole(one->trace);
        if (!trouble.empty()) return fmt::format("{}: {}", one == &a ? "A" : "B", trouble);
    }
    if (!same_size(a, b))
        return fmt::format("Different work: {} in A, {} in B. A ratio compares the sizes as well.",
                           a.tally.size, b.tally.size);
    if (stored(a) != stored(b))
        return fmt::format(
            "Different parts: {} elements stored in A, {} in B. A ratio compares these as well.",
            grouped(stored(a)), grouped(stored(b)));
    return "";
}

LoadsLabel loads_label(const trace::Trace& trace, const std::optional<analysis::Product>& product,
                       size_t array, const std::vector<uint32_t>& loads) {
    if (loads.empty()) return {"", "too large to count", ""};
    uint32_t least = UINT32_MAX, most = 0;
    for (const uint32_t count : loads) {
        most = std::max(most, count);
        if (count > 0) least = std::min(least, count);
    }
    if (most == 0) return {"", "never loaded", ""};
    if (least != most) return {fmt::format("{} to {}", least, most), "loads each", ""};
    LoadsLabel label{grouped(most), most == 1 ? "load each" : "loads each", ""};
    if (!product || (array != product->M && array != product->N)) return label;
    // Of M every column of P asks, of N every row; of a window those alone that its blocks compute.
    const bool is_m = array == product->M;
    const uint64_t width = product->uses_of(static_cast<uint8_t>(array)), tile = product->tile;
    const BlockWindow& window = trace.meta.window;
    const Dim3& grid = trace.launch.grid;
    const bool whole = window.x0 == 0 && window.y0 == 0 && window.x1 >= grid.x && window.y1 >= grid.y;
    const uint32_t blocks = is_m ? window.x1 - window.x0 : window.y1 - window.y0;
    const std::string all = whole ? (is_m ? "n" : "m") : counted(blocks, "block");
    if (most == (whole ? width : blocks * tile))
        label.why = fmt::format("= {}{}", all, whole ? "" : " \u00d7 T");
    else if (most == (whole ? (width + tile - 1) / tile : blocks))
        label.why = fmt::format("= {}{}", all, whole ? "/T" : "");
    return label;
}

LoadsSummary loads_summary(const trace::Trace& trace, const std::optional<analysis::Product>& product,
                           size_t array, const std::vector<uint32_t>& loads, const CellRect& part) {
    LoadsSummary made{{}, loads_label(trace, product, array, loads)};
    const uint32_t cols = part.cols();
    for (uint32_t row = 0; row < part.rows() && !loads.empty(); ++row) {
        const auto first = loads.begin() + static_cast<std::ptrdiff_t>(size_t{row} * cols),
                   end = first + cols;
        const auto loaded = [](uint32_t count) { return count > 0; };
        const auto left = std::find_if(first, end, loaded);
        if (left == end) continue;
        const auto right =
            std::find_if(std::reverse_iterator(end), std::reverse_iterator(left), loaded).base();
        const auto col = [&](auto at) { return part.col0 + static_cast<uint32_t>(at - first); };
        made.box.include({part.row0 + row, part.row0 + row + 1, col(left), col(right)});
    }
    return made;
}

}  // namespace tilescope::compare
