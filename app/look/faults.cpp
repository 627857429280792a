#include "app/look/faults.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/record.h"

namespace tilescope::look {
namespace {

std::vector<WrongElement> wrong_elements(const trace::Trace& trace, const BlockIndex& index,
                                         const playback::BlockReplay& replay) {
    std::vector<WrongElement> wrong;
    const Roles roles = roles_of(trace);
    if (roles.m < 0 || roles.n < 0 || roles.p < 0 || trace.meta.result.verified) return wrong;
    const Array& M = trace.arrays[static_cast<size_t>(roles.m)];
    const Array& N = trace.arrays[static_cast<size_t>(roles.n)];
    const uint64_t cols = std::max(trace.arrays[static_cast<size_t>(roles.p)].cols, 1u);
    for (uint32_t step = 0; step < index.steps; ++step) {
        const trace::Form& form = trace.form_of(index.first + step);
        if (form.array != roles.p || trace.sites[form.site].kind != ptx::SiteKind::Store) continue;
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
            const playback::Factor put = replay.touched(step, lane);
            if (put.array != roles.p) continue;
            const uint64_t row = put.index / cols, col = put.index % cols;
            double expected = 0;
            for (uint64_t k = 0; k < M.cols && k < N.rows; ++k)
                expected += double{kernels::input_value(trace.meta.seed, 0, row * M.cols + k)} *
                            double{kernels::input_value(trace.meta.seed, 1, k * N.cols + col)};
            // Inputs are small whole numbers: a right sum is exact, but for k beyond 2^17.
            if (double{put.value} != expected) wrong.push_back({put.index, put.value, expected});
        }
    }
    std::sort(wrong.begin(), wrong.end(),
              [](const WrongElement& a, const WrongElement& b) { return a.element < b.element; });
    return wrong;
}

}  // namespace

BlockFaults block_faults(const trace::Trace& trace, const analysis::PhaseRule& rule, const BlockIndex& index,
                         const playback::BlockReplay* replay) {
    BlockFaults faults;
    faults.block = index.block;
    faults.found = analysis::faulty_cells(trace, rule, index.block);
    for (const analysis::FaultyCell& cell : faults.found.cells) faults.steps.push_back(cell.last_step);
    std::sort(faults.steps.begin(), faults.steps.end());
    faults.steps.erase(std::unique(faults.steps.begin(), faults.steps.end()), faults.steps.end());
    if (replay != nullptr) faults.wrong = wrong_elements(trace, index, *replay);
    return faults;
}

std::vector<CellRect> faulty_at(const trace::Trace& trace, const BlockFaults& faults, uint8_t array,
                                uint32_t step) {
    std::vector<CellRect> cells;
    const uint64_t cols = std::max(trace.arrays[array].cols, 1u);
    uint64_t latest = UINT64_MAX;
    for (const analysis::FaultyCell& cell : faults.found.cells) {
        if (cell.array != array || step < cell.first_step || step > cell.last_step) continue;
        if (cell.element == latest) continue;
        latest = cell.element;
        const auto row = static_cast<uint32_t>(cell.element / cols),
                   col = static_cast<uint32_t>(cell.element % cols);
        cells.push_back({row, row + 1, col, col + 1});
    }
    return cells;
}

std::string fault_caption(const trace::Trace& trace, const BlockFaults& faults, uint32_t step) {
    const std::vector<std::string> captions = fault_captions(trace, faults, step);
    return captions.empty() ? "" : captions.front();
}

std::vector<std::string> fault_captions(const trace::Trace& trace, const BlockFaults& faults, uint32_t step) {
    const analysis::FaultyCell* first = nullptr;
    uint64_t count = 0;
    for (const analysis::FaultyCell& cell : faults.found.cells) {
        if (cell.last_step != step) continue;
        if (first == nullptr) first = &cell;
        ++count;
    }
    if (first == nullptr) return {};
    std::string kind = analysis::name_of(first->kind);
    if (!kind.empty() && kind[0] >= 'a' && kind[0] <= 'z') kind[0] = static_cast<char>(kind[0] - 'a' + 'A');
    const std::string text =
        fmt::format("{}: {}", kind, analysis::sentence_of(trace, first->kind, first->example));
    if (count == 1) return {text + "."};
    return {fmt::format("{}; {} at this step.", text, counted(count, "cell")), text + "."};
}

std::optional<uint32_t> next_fault(const BlockFaults& faults, uint32_t step) {
    const auto at = std::upper_bound(faults.steps.begin(), faults.steps.end(), step);
    return at == faults.steps.end() ? std::nullopt : std::optional(*at);
}

std::optional<uint32_t> previous_fault(const BlockFaults& faults, uint32_t step) {
    const auto at = std::lower_bound(faults.steps.begin(), faults.steps.end(), step);
    return at == faults.steps.begin() ? std::nullopt : std::optional(*(at - 1));
}

}  // namespace tilescope::look
