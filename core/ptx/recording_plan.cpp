#include "core/ptx/recording_plan.h"

#include <algorithm>
#include <bit>
#include <span>

#include <fmt/format.h>

#include "core/ptx/cfg.h"
#include "core/ptx/forms.h"
#include "core/ptx/matrix.h"
#include "core/ptx/ops.h"

namespace tilescope::ptx {

namespace {

constexpr uint32_t kMostCodeBits = 16;
// Sites of a run: fewer are pairs and singles; more might not fit into the smallest chunk.
constexpr uint32_t kLeastOfRun = 3, kMostOfRun = 72;

}  // namespace

Error too_many(const Kernel& kernel, const std::vector<Site>& sites) {
    return {fmt::format(
        "kernel {} has {} loads, stores, barriers and exchanges, more than can be recorded on a GPU; "
        "record it with --backend cpu",
        kernel.name, sites.size())};
}

bool returns(const RecordingPlan& work, const Site& site) {
    const StateSpace space = work.kernel.instructions[site.instruction].space;
    return site.kind == SiteKind::Atomic && (space == StateSpace::Global || space == StateSpace::Generic);
}

bool escapes(const RecordingPlan& work, const Site& site) {
    if (site.kind == SiteKind::Barrier || site.words != 0) return false;
    if (site.kind == SiteKind::Exchange) return !work.result.exchanges[site.id].known;
    return work.options.exact || !work.result.shapes[site.id].affine ||
           (work.kernel.instructions[site.instruction].space == StateSpace::Generic && site.matrices == 0);
}

bool is_narrow(const RecordingPlan& work, const Site& site) {
    if (work.options.exact || !asks_memory(site.kind) || !escapes(work, site)) return false;
    if (site.matrices != 0) return true;
    // The block of a cluster stands above what a narrow record has.
    if (names_cluster(work.kernel.instructions[site.instruction])) return false;
    return !work.wmma[site.id] && work.kernel.instructions[site.instruction].space != StateSpace::Generic &&
           (site.space == Space::Shared || (site.space == Space::Global && work.options.same_high));
}

const Operand* size_read(const RecordingPlan& work, const Site& site) {
    const std::vector<Operand>& operands = work.kernel.instructions[site.instruction].operands;
    const bool reads = site.past_registers() && site.box == Box::None && site.kind == SiteKind::Load;
    return reads && operands.size() > 3 ? &operands[3] : nullptr;
}

namespace {

bool can_pair(const RecordingPlan& work, const Site& site) {
    const Instruction& instruction = work.kernel.instructions[site.instruction];
    if (site.kind == SiteKind::Exchange && !is_of_matrices(site.exchange))
        return false;                                    // lanes meet before it is recorded
    if (size_read(work, site) != nullptr) return false;  // some lanes may read nothing
    if (site.words != 0) return false;
    const bool global = asks_memory(site.kind) && site.space == Space::Global;
    // What an atomic gave back is written between the two halves, whose clock is the first's.
    return !escapes(work, site) && !returns(work, site) && instruction.guard < 0 &&
           (!global || work.options.same_high);
}

bool is_of_groups(const Instruction& instruction) {
    const OpRule& rule = rule_of(instruction.op);
    return rule.unit == SmUnit::Copy && !rule.site;
}

// Whether nothing between two sites is recorded for itself, as a commit and a wait of copies are.
bool next_to(const RecordingPlan& work, const Site& a, const Site& b) {
    const auto& all = work.kernel.instructions;
    return std::none_of(all.begin() + a.instruction, all.begin() + b.instruction, is_of_groups);
}

bool writes(const Operand& operand, int32_t reg) {
    return operand.kind == Operand::Kind::Vector
               ? std::any_of(operand.elements.begin(), operand.elements.end(),
                             [&](const Operand& element) { return writes(element, reg); })
               : operand.kind == Operand::Kind::Register && operand.reg == reg;
}

// Whether an instruction in [from, to) writes a register that the address of one of these sites is made from.
bool changes_address(const RecordingPlan& work, std::span<const Site> sites, uint32_t from, uint32_t to) {
    return std::any_of(sites.begin(), sites.end(), [&](const Site& site) {
        if (!asks_memory(site.kind)) return false;
        const int32_t reg = address_of(work.kernel.instructions[site.instruction], site).reg;
        for (uint32_t i = from; reg >= 0 && i < to; ++i) {
            const Instruction& instruction = work.kernel.instructions[i];
            for (size_t d = 0; d < instruction.destinations; ++d)
                if (writes(instruction.operands[d], reg)) return true;
        }
        return false;
    });
}

// The last site of the longest run from `first` on. A barrier ends it: a warp may wait there for long.
uint32_t end_of_run(const RecordingPlan& work, const ControlFlow& flow, uint32_t first) {
    const auto& sites = work.result.sites;
    uint32_t last = first;
    while (last + 1 < sites.size() && last + 1 - first < kMostOfRun) {
        const Site &site = sites[last], &next = sites[last + 1];
        if (site.kind == SiteKind::Barrier || !can_pair(work, next) || !next_to(work, site, next) ||
            flow.block_of[site.instruction] != flow.block_of[next.instruction] ||
            changes_address(work, std::span(sites).subspan(first, last + 1 - first), site.instruction,
                            next.instruction))
            break;
        ++last;
    }
    return last;
}

// Where the sites of a run stand in its words, and what is written when: a slot as soon as its words are
// known.
void lay_out(RecordingPlan& work, RecordedRun& run) {
    std::map<std::pair<int32_t, int32_t>, std::pair<uint32_t, int64_t>> bases;  // of a register, or a symbol
    constexpr uint32_t kNone = RunPlace::kNone;
    uint32_t words = 2, half = kNone, written = 0;  // the second word is the tag; half: a word half full
    RunPart part;
    // The last site has a clock, by which the run is known to have been short enough.
    const auto has_clock = [&](uint32_t s) {
        return s != run.first && (s == run.last || !is_of_matrices(work.result.sites[s].exchange));
    };
    for (uint32_t s = run.first; s <= run.last; ++s) {
        const Site& site = work.result.sites[s];
        RunSite made;
        if (asks_memory(site.kind)) {
            const Operand& operand = address_of(work.kernel.instructions[site.instruction], site);
            const int64_t offset =
                operand.offset +
                (operand.reg < 0 && operand.symbol < 0 ? static_cast<int64_t>(operand.bits) : 0) +
                (work.wmma[s] ? static_cast<int64_t>(work.wmma[s]->distance(0)) : 0);
            const auto [base, added] =
                bases.try_emplace({operand.reg, operand.symbol}, s == run.first ? 0 : words, offset);
            if (added && s != run.first) ++words;
            made.new_base = added;
            made.place.base = base->second.first;
            made.place.offset = offset - base->second.second;
        }
        if (has_clock(s)) {
            made.place.clock = half == kNone ? 2 * words : 2 * half + 1;
            half = half == kNone ? words++ : kNone;
        }
        work.result.places[s] = made.place;
        made.first = s == run.first;
        part.sites.push_back(std::move(made));
        part.last = s == run.last;
        part.first_slot = written;
        part.last_slot = part.last ? (words + 3) / 4 : std::min(words, half) / 4;
        if (part.last_slot == written) continue;
        part.words = words;
        written = part.last_slot;
        run.parts.push_back(std::move(part));
        part = {};
    }
}

}  // namespace

void find_neighbours(RecordingPlan& work) {
    const ControlFlow flow = control_flow(work.kernel);
    const auto& sites = work.result.sites;
    work.partner.assign(sites.size(), -1);
    work.run_of.assign(sites.size(), -1);
    work.result.places.assign(sites.size(), {});
    for (uint32_t i = 0; i < sites.size() && work.options.runs; ++i) {
        if (!can_pair(work, sites[i])) continue;
        RecordedRun run{i, end_of_run(work, flow, i), {}};
        if (run.last - run.first + 1 < kLeastOfRun) continue;
        lay_out(work, run);
        for (; i < run.last; ++i) work.run_of[i] = static_cast<int32_t>(work.runs.size());
        work.run_of[i] = static_cast<int32_t>(work.runs.size());
        work.runs.push_back(std::move(run));
    }
    work.held.assign(sites.size(), false);
    // First those of one block, then those of two: the second may be the first of a pair in its own.
    for (const bool held : {false, true}) {
        for (size_t i = 0; i + 1 < sites.size(); ++i) {
            const Site &a = sites[i], &b = sites[i + 1];
            const int32_t from = flow.block_of[a.instruction], to = flow.block_of[b.instruction];
            const auto free = [&](size_t site) { return work.partner[site] < 0 && work.run_of[site] < 0; };
            const bool follows = held ? from != to && work.options.runs &&
                                            flow.blocks[from].successors == std::vector<int32_t>{to}
                                      : from == to;
            if (!follows || !free(i) || !free(i + 1) || !can_pair(work, a) || !can_pair(work, b) ||
                !next_to(work, a, b))
                continue;
            work.partner[i] = static_cast<int32_t>(i + 1);
            work.partner[i + 1] = static_cast<int32_t>(i);
            work.held[i] = held;
        }
    }
}

Result<void> number_codes(RecordingPlan& work) {
    auto& codes = work.result.codes;
    codes.push_back({Code::Kind::Pad, 0, 0});
    for (const Site& site : work.result.sites) {
        work.single.push_back(static_cast<uint32_t>(codes.size()));
        codes.push_back({site.words != 0         ? Code::Kind::Words
                         : is_narrow(work, site) ? Code::Kind::Narrow
                         : escapes(work, site)   ? Code::Kind::Escape
                                                 : Code::Kind::Single,
                         site.id, 0});
    }
    for (const Site& site : work.result.sites) {
        const int32_t second = work.partner[site.id];
        if (second > static_cast<int32_t>(site.id)) {
            work.pair_code[site.id] = static_cast<uint32_t>(codes.size());
            codes.push_back({Code::Kind::Pair, site.id, static_cast<uint32_t>(second)});
        }
    }
    for (const Site& site : work.result.sites) {
        if (!returns(work, site)) continue;
        work.returned_code[site.id] = static_cast<uint32_t>(codes.size());
        codes.push_back({Code::Kind::Returned, site.id, 0});
    }
    for (const RecordedRun& run : work.runs) {
        work.run_code[run.first] = static_cast<uint32_t>(codes.size());
        codes.push_back({Code::Kind::Run, run.first, run.last, run.parts.back().last_slot});
    }
    for (size_t i = 0; i < work.kernel.instructions.size(); ++i) {
        const Instruction& instruction = work.kernel.instructions[i];
        if (!is_of_groups(instruction) || has_suffix(instruction, {"read"})) continue;
        Code code;
        switch (instruction.op) {
            case Op::CpCommit: code.kind = Code::Kind::Commit; break;
            case Op::BulkCommit: code.kind = Code::Kind::BulkCommit; break;
            case Op::BulkWait: code.kind = Code::Kind::BulkWait; break;
            default: code.kind = Code::Kind::Wait; break;
        }
        const bool waits = code.kind == Code::Kind::Wait || code.kind == Code::Kind::BulkWait;
        if (waits) code.second = groups_left(instruction);
        work.groups.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(codes.size())});
        codes.push_back(code);
    }
    work.result.code_bits = static_cast<uint32_t>(std::bit_width(codes.size() - 1));
    if (work.result.code_bits > kMostCodeBits) return too_many(work.kernel, work.result.sites);
    return {};
}

}  // namespace tilescope::ptx
