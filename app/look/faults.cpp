#include "app/look/faults.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "app/draw/sheet.h"
#include "core/base/words.h"
#include "core/recording/product.h"

namespace tilescope::look {
namespace {

// A load that found what it should not; a race may have gone well. Where values are known they must differ.
bool went_wrong(const analysis::FaultyCell& cell) {
    const analysis::HazardExample& e = cell.example;
    if (cell.kind != analysis::HazardKind::Race) return true;
    return analysis::reads_wrong(e) && (!e.read.known || !e.other.known || analysis::reads_other_value(e));
}

std::vector<WrongElement> wrong_elements(const trace::Trace& trace, const BlockIndex& index,
                                         const playback::BlockReplay& replay) {
    std::vector<WrongElement> wrong;
    if (!index.product || trace.meta.result.verified) return wrong;
    for (const playback::BlockReplay::Store& store : replay.global_stores()) {
        if (!index.product->is_output(store.to.array)) continue;
        const double expected = analysis::expected_element(trace, *index.product, store.to.index);
        // Inputs are small whole numbers: a right sum is exact, but for k beyond 2^17.
        if (!(number_of(store.value) == expected)) wrong.push_back({store.to.index, store.value, expected});
    }
    std::ranges::sort(wrong, {}, &WrongElement::element);
    return wrong;
}

}  // namespace

BlockFaults block_faults(const analysis::Recording& recording, const BlockIndex& index,
                         const playback::BlockReplay* replay, Stop stop) {
    BlockFaults faults;
    faults.block = index.block;
    analysis::ValueAt value;
    if (replay != nullptr) value = std::bind_front(&playback::BlockReplay::value, replay);
    faults.found = analysis::faulty_cells(recording, index.block, value, analysis::kMostFaultyCells, stop);
    faults.not_looked = faults.found.not_looked;
    const auto& cells = faults.found.cells;
    const bool any_wrong = std::ranges::any_of(cells, went_wrong);
    // Of a kind of fault on an array, where none went wrong, those of two warps are told; else those of one.
    std::set<std::pair<analysis::HazardKind, uint8_t>> of_warps;
    for (const analysis::FaultyCell& cell : cells)
        if (!cell.same_warp) of_warps.emplace(cell.kind, cell.array);
    faults.all_right = std::ranges::all_of(cells, [](const analysis::FaultyCell& cell) {
        return cell.kind == analysis::HazardKind::Race && cell.example.order == analysis::ReadOrder::Right;
    });
    for (const analysis::FaultyCell& cell : cells)
        if (any_wrong ? went_wrong(cell) : !cell.same_warp || !of_warps.contains({cell.kind, cell.array}))
            faults.steps.push_back(cell.told_step);
    std::sort(faults.steps.begin(), faults.steps.end());
    faults.steps.erase(std::unique(faults.steps.begin(), faults.steps.end()), faults.steps.end());
    if (replay != nullptr) faults.wrong = wrong_elements(*recording.trace, index, *replay);
    return faults;
}

namespace {

// The step of the recording that a fault concerns; none where nothing of it was recorded.
std::optional<uint64_t> step_of(const trace::Trace& trace, const analysis::SaidFault& said) {
    if (said.example) {
        const analysis::HazardExample& e = *said.example;
        const bool later = e.b.site != analysis::kNoSite && e.b.block == e.a.block && e.b.step > e.a.step;
        return later ? e.b.step : e.a.step;
    }
    for (uint64_t step = 0; step < trace.steps(); ++step)
        if (trace.sites[trace.form_of(step).site].line == said.line) return step;
    return std::nullopt;
}

}  // namespace

SaidFaults said_faults(const trace::Trace& trace, const analysis::Hazards& hazards) {
    SaidFaults faults{analysis::said_faults(hazards), false, 0, 0};
    for (const analysis::SaidFault& said : faults.said) {
        if (said.severity != analysis::Severity::Fault) continue;
        const auto step = step_of(trace, said);
        for (uint32_t b = 0; step && b < trace.blocks.size(); ++b) {
            const trace::Block& block = trace.blocks[b];
            if (*step < block.first || *step - block.first >= block.count) continue;
            faults.placed = true;
            faults.block = b, faults.step = static_cast<uint32_t>(*step - block.first);
            return faults;
        }
    }
    return faults;
}

std::string strip_text(const trace::Trace& trace, const SaidFaults& faults, const Notation& notation) {
    const auto of = [](const analysis::SaidFault& one) { return one.severity == analysis::Severity::Fault; };
    const auto count = std::ranges::count_if(faults.said, of);
    if (count == 0) return "";
    const auto first = std::ranges::find_if(faults.said, of);
    std::string name = name_of(first->kind);
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return fmt::format("{}{}{}: {}.", count > 1 ? fmt::format("{} faults. ", count) : "", name,
                       faults.placed ? " (X goes there)" : "",
                       with_minus(analysis::sentence_of(trace, *first, notation)));
}

std::vector<CellRect> faulty_at(const trace::Trace& trace, const BlockFaults& faults, uint8_t array,
                                uint32_t step) {
    std::vector<CellRect> cells;
    uint64_t latest = UINT64_MAX;
    for (const analysis::FaultyCell& cell : faults.found.cells) {
        if (cell.array != array || step < cell.first_step || step > cell.last_step) continue;
        if (cell.element == latest) continue;
        latest = cell.element;
        cells.push_back(draw::cell_on_sheet(trace.launch.arrays[array], cell.element));
    }
    return cells;
}

std::string fault_caption(const trace::Trace& trace, const BlockFaults& faults, uint32_t step,
                          const Notation& notation) {
    const std::vector<std::string> captions = fault_captions(trace, faults, step, notation);
    return captions.empty() ? "" : captions.front();
}

std::vector<std::string> fault_captions(const trace::Trace& trace, const BlockFaults& faults, uint32_t step,
                                        const Notation& notation) {
    const auto here = [&](const analysis::FaultyCell& cell) { return cell.told_step == step; };
    const analysis::FaultyCell* told = nullptr;  // the one that tells the most
    const auto rank = [](const analysis::FaultyCell& cell) {
        return went_wrong(cell) ? analysis::rank_of(cell.example) : 100;
    };
    for (const analysis::FaultyCell& cell : faults.found.cells)
        if (here(cell) && (told == nullptr || rank(cell) < rank(*told))) told = &cell;
    if (told == nullptr) return {};
    const auto count = std::ranges::count_if(faults.found.cells, [&](const analysis::FaultyCell& cell) {
        return here(cell) && cell.kind == told->kind;
    });
    std::string kind = analysis::name_of(told->kind);
    kind[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(kind[0])));
    if (faults.all_right) kind += ", no value wrong in this block";
    const std::string text = fmt::format(
        "{}: {}", kind, with_minus(analysis::sentence_of(trace, told->kind, told->example, notation)));
    if (count == 1) return {text + "."};
    return {fmt::format("{}; {} at this step.", text, counted(static_cast<uint64_t>(count), "cell")),
            text + "."};
}

std::optional<uint32_t> next_fault(const BlockFaults& faults, uint32_t step) {
    const auto at = std::ranges::upper_bound(faults.steps, step);
    return at == faults.steps.end() ? std::nullopt : std::optional(*at);
}

std::optional<uint32_t> previous_fault(const BlockFaults& faults, uint32_t step) {
    const auto at = std::ranges::lower_bound(faults.steps, step);
    return at == faults.steps.begin() ? std::nullopt : std::optional(*(at - 1));
}

}  // namespace tilescope::look
