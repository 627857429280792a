#include "app/compare/sketch.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "app/draw/sheet.h"
#include "app/look/loads_so_far.h"
#include "core/analysis/cost.h"

namespace tilescope::compare {
namespace {

using analysis::StepKind, draw::CellRect;

constexpr uint64_t kMostSteps = 400'000;  // that are looked at
constexpr uint64_t kFirst = 96;           // steps of a strip

// What is looked at in a recording: all that was recorded, or of a long one the first block.
struct Looked {
    const analysis::Recording& recording;
    const trace::Trace& trace = *recording.trace;
    bool all = trace.steps() <= kMostSteps;
    uint64_t first = all ? 0 : trace.blocks.front().first;
    uint64_t count = all ? trace.steps() : trace.blocks.front().count;
    uint64_t bytes = 0;  // that lanes load from global memory
    // Of loads and of stores of global memory, and of requests to shared memory.
    struct Requests {
        uint64_t requests = 0, cost = 0;
        uint32_t most = 0;  // cost of one of them
        void add(uint32_t of_one) {
            ++requests;
            cost += of_one;
            most = std::max(most, of_one);
        }
        double average() const {
            return requests == 0 ? 0 : static_cast<double>(cost) / static_cast<double>(requests);
        }
    } loads{}, stores{}, shared{};
};

Looked look_at(const analysis::Recording& recording) {
    Looked found{recording};
    analysis::CostTable costs(found.trace);
    for (uint64_t step = found.first; step < found.first + found.count; ++step) {
        const trace::Form& form = found.trace.form_of(step);
        const StepKind kind = analysis::kind_of(found.trace, form);
        const analysis::Cost& cost = costs.of(step);
        if (kind == StepKind::GlobalLoad) {
            found.loads.add(cost.global.sectors);
            found.bytes += cost.bytes;
        } else if (kind == StepKind::GlobalStore) {
            found.stores.add(cost.global.sectors);
        } else if (kind == StepKind::SharedLoad || kind == StepKind::SharedStore) {
            found.shared.add(cost.shared.wavefronts);
        }
    }
    return found;
}

// How many times the one is of the other; 1 where one of them has none.
double factor(double a, double b) { return a > 0 && b > 0 ? std::max(a, b) / std::min(a, b) : 1; }

// The array whose map is shown: the first that is read, as M of a product.
std::optional<uint8_t> input_of(const trace::Trace& trace) {
    const std::vector<Array>& arrays = trace.launch.arrays;
    for (size_t at = 0; at < arrays.size() && at < trace::kNoArray; ++at)
        if (arrays[at].space == Space::Global && arrays[at].reads() && arrays[at].elements() > 0)
            return static_cast<uint8_t>(at);
    return std::nullopt;
}

// Cells of a part of a sheet, brought down to kSketchCells along a side: the most of each bin. of: by row and column.
template <class Of>
void fill(Sketch::Side& side, const CellRect& part, Of of) {
    const uint32_t bin = std::max((std::max(part.rows(), part.cols()) + kSketchCells - 1) / kSketchCells, 1u);
    side.rows = (part.rows() + bin - 1) / bin;
    side.cols = (part.cols() + bin - 1) / bin;
    side.cells.assign(size_t{side.rows} * side.cols, 0);
    for (uint32_t row = 0; row < part.rows(); ++row)
        for (uint32_t col = 0; col < part.cols(); ++col) {
            uint32_t& cell = side.cells[size_t{row / bin} * side.cols + col / bin];
            cell = std::max(cell, of(part.row0 + row, part.col0 + col));
        }
}

bool loads(Sketch::Side& side, const Looked& of) {
    const auto input = input_of(of.trace);
    if (!input) return false;
    const draw::Sheet sheet(of.trace.launch.arrays[*input]);
    std::vector<CellRect> parts(of.trace.launch.arrays.size());
    parts[*input] = {0, sheet.rows, 0, sheet.cols};
    look::LoadsSoFar counted(of.recording.trace, parts);
    counted.go(of.first, of.first + of.count, UINT64_MAX);
    const std::vector<uint32_t>& counts = counted.of(*input).counts;
    side.count = counted.range(*input).most;
    if (counts.empty() || side.count == 0) return false;
    // A tall sheet, as of a vector, is shown where it was loaded.
    CellRect part{0, sheet.rows, 0, sheet.cols};
    if (sheet.rows > 2 * sheet.cols) {
        part = {};
        for (size_t at = counted.of(*input).low; at < counted.of(*input).high; ++at)
            if (counts[at] > 0)
                part.include(static_cast<uint32_t>(at / sheet.cols), static_cast<uint32_t>(at % sheet.cols));
        part.row1 = std::min(part.row1, part.row0 + sheet.cols);
        part.col0 = 0, part.col1 = sheet.cols;
    }
    fill(side, part, [&](uint32_t row, uint32_t col) { return counts[size_t{row} * sheet.cols + col]; });
    return true;
}

void wrong(Sketch::Side& side, const Looked& of) {
    const trace::Verification& result = of.trace.meta.result;
    side.count = result.wrong;
    const draw::Sheet sheet(of.trace.launch.arrays[result.array]);
    fill(side, {0, sheet.rows, 0, sheet.cols}, [&](uint32_t row, uint32_t col) -> uint32_t {
        const auto element = sheet.element(row, col);
        return element && std::ranges::binary_search(result.wrong_elements, *element) ? 1 : 0;
    });
}

// So many of 32 that there can be.
void units(Sketch::Side& side, uint32_t count) {
    side.count = count;
    side.rows = 4, side.cols = 8;
    side.cells.assign(32, 0);
    std::fill(side.cells.begin(), side.cells.begin() + std::min(count, 32u), 1);
}

void steps(Sketch::Side& side, const Looked& of, uint64_t many) {
    const uint64_t first = of.trace.blocks.front().first;
    uint32_t warps = 1;
    for (uint64_t step = first; step < first + many; ++step)
        warps = std::max(warps, of.trace.warp_of(step) + 1u);
    side.rows = std::min(warps, kSketchCells), side.cols = kSketchCells;
    side.cells.assign(size_t{side.rows} * side.cols, 0);
    for (uint64_t step = first; step < first + many; ++step) {
        const uint32_t warp = of.trace.warp_of(step);
        if (warp >= side.rows) continue;
        const auto col = static_cast<uint32_t>((step - first) * side.cols / many);
        side.cells[size_t{warp} * side.cols + col] =
            static_cast<uint32_t>(analysis::kind_of(of.trace, of.trace.form_of(step))) + 1;
    }
}

}  // namespace

std::optional<Sketch> sketch_of(const analysis::Recording& a, const analysis::Recording& b) {
    for (const analysis::Recording* one : {&a, &b})
        if (one->trace->blocks.empty() || one->trace->blocks.front().count == 0 ||
            one->trace->blocks.front().count > kMostSteps)
            return std::nullopt;
    const Looked of_a = look_at(a), of_b = look_at(b);
    Sketch made;
    const auto whole = [](const Looked& of) {
        return of.all && of.trace.blocks.size() == of.trace.launch.grid.count();
    };
    made.whole = whole(of_a) && whole(of_b);
    const auto is_wrong = [](const Looked& of) {
        const trace::Verification& result = of.trace.meta.result;
        return result.checked && !result.verified && result.wrong > 0 &&
               result.array < of.trace.launch.arrays.size();
    };
    if (is_wrong(of_a) != is_wrong(of_b)) {
        made.kind = Sketch::Kind::Wrong;
        made.about = "wrong elements";
        for (const bool is_a : {true, false}) {
            const Looked& of = is_a ? of_a : of_b;
            if (is_wrong(of)) wrong(is_a ? made.a : made.b, of);
        }
        // The right one is as large, and empty.
        Sketch::Side& right = is_wrong(of_a) ? made.b : made.a;
        const Sketch::Side& bad = is_wrong(of_a) ? made.a : made.b;
        right.rows = bad.rows, right.cols = bad.cols;
        right.cells.assign(bad.cells.size(), 0);
        return made;
    }
    using Requests = Looked::Requests;
    const auto by = [&](Requests Looked::*of) { return factor((of_a.*of).average(), (of_b.*of).average()); };
    const double by_bytes = factor(static_cast<double>(of_a.bytes), static_cast<double>(of_b.bytes)),
                 by_loads = by(&Looked::loads), by_stores = by(&Looked::stores),
                 by_waves = by(&Looked::shared);
    constexpr double kTold = 1.2;  // below that a picture shows no difference
    const auto show = [&](Sketch::Kind kind, const char* about, Requests Looked::*of) {
        made.kind = kind;
        made.about = about;
        units(made.a, (of_a.*of).most), units(made.b, (of_b.*of).most);
    };
    if (by_bytes >= std::max({by_loads, by_stores, by_waves, kTold}) && loads(made.a, of_a) &&
        loads(made.b, of_b)) {
        made.kind = Sketch::Kind::Loads;
        made.about = "loads of an element";
        made.most = static_cast<uint32_t>(std::max(made.a.count, made.b.count));
    } else if (by_loads >= std::max({by_stores, by_waves, kTold})) {
        show(Sketch::Kind::Sectors, "sectors a load", &Looked::loads);
    } else if (by_stores >= std::max(by_waves, kTold)) {
        show(Sketch::Kind::Sectors, "sectors a store", &Looked::stores);
    } else if (by_waves >= kTold) {
        show(Sketch::Kind::Wavefronts, "wavefronts", &Looked::shared);
    } else {
        made.about = "the first steps";
        // Of both as many, so that they lie alike.
        const uint64_t many =
            std::min({of_a.trace.blocks.front().count, of_b.trace.blocks.front().count, kFirst});
        steps(made.a, of_a, many), steps(made.b, of_b, many);
    }
    return made;
}

}  // namespace tilescope::compare
