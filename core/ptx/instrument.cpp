// Decides what is recorded how, and puts the sequences of recording_text.h in their places, as lines of text
// before instructions: the kernel's own instructions are printed as they were. The result is parsed again.
#include "core/ptx/instrument.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "core/ptx/cfg.h"
#include "core/ptx/matrix.h"
#include "core/ptx/ops.h"
#include "core/ptx/parse.h"
#include "core/ptx/parser.h"
#include "core/ptx/recording_text.h"
#include "core/ptx/site_text.h"

namespace tilescope::ptx {

namespace {

constexpr uint32_t kMostCodeBits = 16;
// Sites of a run: fewer are pairs and singles; more might not fit into the smallest chunk.
constexpr uint32_t kLeastOfRun = 3, kMostOfRun = 72;

// Neighbouring sites that are recorded together.
struct RecordedRun {
    uint32_t first = 0, last = 0;  // sites
    std::vector<RunPart> parts;
};

Error too_many(const Kernel& kernel, const std::vector<Site>& sites) {
    return {fmt::format(
        "kernel {} has {} loads, stores, barriers and exchanges, more than can be recorded on a GPU; "
        "record it with --backend cpu",
        kernel.name, sites.size())};
}

struct Work {
    Kernel kernel;
    const InstrumentOptions& options;
    Instrumented result{};
    RecordingText text{};
    // By site: the site it is paired with, -1 for none; the first of a pair is the lower.
    std::vector<int32_t> partner{};
    std::vector<bool> held{};        // by site: the first of a pair, and may be skipped
    std::vector<uint32_t> single{};  // by site: code of the site alone
    std::vector<RecordedRun> runs{};
    std::vector<int32_t> run_of{};                 // by site, -1 for none
    std::map<uint32_t, uint32_t> pair_code{};      // first site -> code
    std::map<uint32_t, uint32_t> run_code{};       // first site -> code
    std::map<uint32_t, uint32_t> returned_code{};  // site -> code
    struct GroupCode {
        uint32_t instruction = 0, code = 0;
    };
    std::vector<GroupCode> groups{};                 // commits and waits
    std::vector<std::optional<WmmaRequest>> wmma{};  // by site
    std::vector<Note> notes{};
    std::vector<std::string> slow{};
    // Registers for what an atomic gives back, the first of several.
    int32_t result16 = -1, result32 = -1, result64 = -1;
};

// Whether what it gave back is recorded: an atomic of memory that other blocks use too.
bool returns(const Work& work, const Site& site) {
    const StateSpace space = work.kernel.instructions[site.instruction].space;
    return site.kind == SiteKind::Atomic && (space == StateSpace::Global || space == StateSpace::Generic);
}

bool escapes(const Work& work, const Site& site) {
    if (site.kind == SiteKind::Barrier) return false;
    if (site.kind == SiteKind::Exchange) return !work.result.exchanges[site.id].known;
    return work.options.exact || !work.result.shapes[site.id].affine ||
           (work.kernel.instructions[site.instruction].space == StateSpace::Generic && site.matrices == 0);
}

// Whether it is an escape of which less than whole addresses will do.
bool is_narrow(const Work& work, const Site& site) {
    if (work.options.exact || !asks_memory(site.kind) || !escapes(work, site)) return false;
    if (site.matrices != 0) return true;
    return !work.wmma[site.id] && work.kernel.instructions[site.instruction].space != StateSpace::Generic &&
           (site.space == Space::Shared || (site.space == Space::Global && work.options.same_high));
}

// The operand that says how many bytes a lane reads, of the load of a cp.async that has one.
const Operand* size_read(const Work& work, const Site& site) {
    const std::vector<Operand>& operands = work.kernel.instructions[site.instruction].operands;
    return site.past_registers() && site.kind == SiteKind::Load && operands.size() > 3 ? &operands[3]
                                                                                       : nullptr;
}

bool can_pair(const Work& work, const Site& site) {
    const Instruction& instruction = work.kernel.instructions[site.instruction];
    if (site.kind == SiteKind::Exchange && !is_of_matrices(site.exchange))
        return false;                                    // lanes meet before it is recorded
    if (size_read(work, site) != nullptr) return false;  // some lanes may read nothing
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
bool next_to(const Work& work, const Site& a, const Site& b) {
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
bool changes_address(const Work& work, std::span<const Site> sites, uint32_t from, uint32_t to) {
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
uint32_t end_of_run(const Work& work, const ControlFlow& flow, uint32_t first) {
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
void lay_out(Work& work, RecordedRun& run) {
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

// Neighbours of one basic block: many together, or two by two.
void find_neighbours(Work& work) {
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

Result<void> number_codes(Work& work) {
    auto& codes = work.result.codes;
    codes.push_back({Code::Kind::Pad, 0, 0});
    for (const Site& site : work.result.sites) {
        work.single.push_back(static_cast<uint32_t>(codes.size()));
        codes.push_back({is_narrow(work, site) ? Code::Kind::Narrow
                         : escapes(work, site) ? Code::Kind::Escape
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
        if (!is_of_groups(instruction)) continue;
        const bool commit = instruction.op == Op::CpCommit;
        const Code code{commit ? Code::Kind::Commit : Code::Kind::Wait, 0,
                        commit ? 0 : groups_left(instruction)};
        work.groups.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(codes.size())});
        codes.push_back(code);
    }
    work.result.code_bits = static_cast<uint32_t>(std::bit_width(codes.size() - 1));
    if (work.result.code_bits > kMostCodeBits) return too_many(work.kernel, work.result.sites);
    return {};
}

void add_lines(Work& work, uint32_t instruction, const std::string& text, bool before_labels = false) {
    size_t from = 0;
    while (from < text.size()) {
        const size_t to = std::min(text.find('\n', from), text.size());
        const size_t start = text.find_first_not_of(' ', from);
        if (start < to) work.notes.push_back({instruction, before_labels, text.substr(start, to - start)});
        from = to + 1;
    }
}

std::string guard_name(const Kernel& kernel, const Instruction& instruction) {
    return (instruction.guard_negated ? "!" : "") + kernel.registers[instruction.guard].name;
}

// Lanes that the guard keeps from the instruction go past what is put before it.
std::string skip_unless_guard(const Kernel& kernel, const Instruction& instruction,
                              const std::string& label) {
    const std::string& name = kernel.registers[instruction.guard].name;
    return fmt::format("\n    @{}{} bra {};", instruction.guard_negated ? "" : "!", name, label);
}

// An atomic that gives nothing back gets a register for it.
const Operand& result_of(Instruction& atomic) {
    if (atomic.op == Op::Red) {
        atomic.op = Op::Atom;
        atomic.mnemonic.clear();
        atomic.operands.insert(atomic.operands.begin(), Operand{});
        atomic.destinations = 1;
    }
    return atomic.operands[0];
}

// Registers in place of those that nobody wanted, for what an atomic gives back.
void fill_result(const Work& work, Operand& result, uint32_t bytes, uint32_t number) {
    if (result.kind == Operand::Kind::Register) return;
    result = Operand{};
    result.kind = Operand::Kind::Register;
    result.reg = (bytes == 8   ? work.result64
                  : bytes == 2 ? work.result16
                               : work.result32) +
                 static_cast<int32_t>(number);
}

// The text that records what an atomic gave back.
std::string returned_text(Work& work, const Site& site) {
    Instruction& instruction = work.kernel.instructions[site.instruction];
    Operand result = result_of(instruction);
    const uint32_t bytes = size_of(instruction.type), count = instruction.vector;
    if (count > 1) {
        result.kind = Operand::Kind::Vector;
        result.elements.resize(count);
        for (uint32_t i = 0; i < count; ++i) fill_result(work, result.elements[i], bytes, i);
    } else {
        fill_result(work, result, bytes, 0);
    }
    instruction.operands[0] = result;
    const auto name = [&](uint32_t i) {
        const Operand& one = count > 1 ? result.elements[i] : result;
        return work.kernel.registers[static_cast<size_t>(one.reg)].name;
    };
    constexpr const char* kNoHigh = "\n    mov.u32 %ts_hi, 0;";
    std::string text;
    if (bytes == 8)
        text = fmt::format("\n    mov.b64 {{%ts_lo, %ts_hi}}, {};", name(0));
    else if (bytes == 2 && count == 1)
        text = fmt::format("\n    mov.b16 %ts_found16, {};\n    cvt.u32.u16 %ts_lo, %ts_found16;", name(0)) +
               kNoHigh;
    else if (bytes == 2)
        text = fmt::format("\n    mov.b32 %ts_lo, {{{}, {}}};", name(0), name(1)) +
               (count == 2 ? kNoHigh : fmt::format("\n    mov.b32 %ts_hi, {{{}, {}}};", name(2), name(3)));
    else
        text = fmt::format("\n    mov.b32 %ts_lo, {};", name(0)) +
               (count == 1 ? kNoHigh : fmt::format("\n    mov.b32 %ts_hi, {};", name(1)));
    const auto number = static_cast<uint32_t>(work.result.sites.size()) + site.id;
    return escape_text(work.text, {number, text, work.returned_code[site.id], ""}).before;
}

// What is put before a site of a run; the slow path comes with the last site of each part.
Sequence run_sequence(Work& work, const Site& site, const SiteText& text) {
    RecordedRun& run = work.runs[static_cast<size_t>(work.run_of[site.id])];
    uint32_t first = run.first;
    for (RunPart& part : run.parts) {
        const uint32_t at = site.id - first;
        first += static_cast<uint32_t>(part.sites.size());
        if (site.id >= first) continue;
        part.sites[at].site = text;
        Sequence sequence{run_site_text(part.sites[at]), ""};
        if (site.id + 1 == first) {
            const uint32_t code = work.run_code[run.first];
            Sequence rest = run_part_text(work.text, part, work.result.codes[code], code);
            sequence.before += rest.before;
            sequence.slow = std::move(rest.slow);
        }
        return sequence;
    }
    return {};
}

void record_site(Work& work, const Site& site) {
    const Instruction& instruction = work.kernel.instructions[site.instruction];
    SiteText text{site.id,
                  site.kind == SiteKind::Exchange
                      ? exchange_text(work.kernel, site, work.result.exchanges[site.id].known)
                      : address_text(work.kernel, site, work.wmma[site.id]),
                  work.single[site.id], ""};
    const bool global = asks_memory(site.kind) && site.space == Space::Global;
    const auto checked = [&](SiteText made) {
        if (global)
            made.check = fmt::format(
                "\n    xor.b32 %ts_t0, %ts_hi, {};\n    or.b32 %ts_bad, %ts_bad, %ts_t0;", work.options.high);
        return made;
    };
    std::string before;
    std::string behind;
    if (instruction.guard >= 0)  // only the lanes that will execute it take part
        before = skip_unless_guard(work.kernel, instruction, fmt::format("$ts_skip_{}", site.id));
    if (const Operand* size = size_read(work, site)) {  // nor those that read nothing
        before += fmt::format(
            "\n    mov.u32 %ts_t0, {};\n    setp.eq.u32 %ts_q, %ts_t0, 0;\n    @%ts_q bra $ts_none_{};",
            print(work.kernel, *size), site.id);
        behind = fmt::format("\n$ts_none_{}:", site.id);
    }
    const int32_t partner = work.partner[site.id];
    Sequence sequence;
    const auto alone = [&](uint32_t id) { return SiteText{id, "", work.single[id], ""}; };
    if (work.run_of[site.id] >= 0) {
        sequence = run_sequence(work, site, checked(text));
    } else if (partner >= 0 && work.held[site.id]) {
        sequence = held_first_text(work.text, checked(text));
    } else if (partner > static_cast<int32_t>(site.id)) {
        sequence.before = pair_first_text(checked(text));
    } else if (partner >= 0) {
        const auto first = static_cast<uint32_t>(partner);
        sequence = (work.held[first] ? held_second_text : pair_second_text)(
            work.text, alone(first), checked(text), work.pair_code[first]);
    } else {
        sequence = is_narrow(work, site) ? narrow_text(work.text, checked(text), narrow_addresses(site))
                   : escapes(work, site) ? escape_text(work.text, text)
                                         : single_text(work.text, text);
    }
    const bool aligned = (rule_of(instruction.op).suffixes & kMatrix) != 0;
    if (aligned && sequence.before.find("bra") != std::string::npos)
        behind += "\n    bar.warp.sync 4294967295;";
    add_lines(work, site.instruction, before + sequence.before + behind);
    if (!sequence.slow.empty()) work.slow.push_back(sequence.slow);
    if (returns(work, site)) add_lines(work, site.instruction + 1, returned_text(work, site), true);
    if (instruction.guard >= 0)
        add_lines(work, site.instruction + 1, fmt::format("$ts_skip_{}:", site.id), true);
}

// A commit or a wait, behind it.
void record_group(Work& work, const Work::GroupCode& group) {
    const Instruction& instruction = work.kernel.instructions[group.instruction];
    const auto number = static_cast<uint32_t>(2 * work.result.sites.size()) + group.instruction;
    const Sequence sequence = single_text(work.text, {number, kNoAddress, group.code, ""});
    std::string text = sequence.before;
    if (instruction.guard >= 0) {
        const std::string label = fmt::format("$ts_skip_{}", number);
        text = skip_unless_guard(work.kernel, instruction, label) + text + "\n" + label + ":";
    }
    add_lines(work, group.instruction + 1, text, true);
    work.slow.push_back(sequence.slow);
}

// Checks, in every lane, that a value may be widened as affine.h assumes.
void check_widening(Work& work, const Widening& widening) {
    const Instruction& instruction = work.kernel.instructions[widening.instruction];
    const Operand& operand = instruction.operands[widening.operand];
    if (operand.kind != Operand::Kind::Register) return;  // %tid as it stands is small
    std::string name = work.kernel.registers[operand.reg].name;
    // A cvt takes the low bits of a register that is wider than its type (PTX ISA, "Operand Size Exceeding
    // Instruction-Type Size").
    if (size_of(work.kernel.registers[operand.reg].type) == 8) {
        add_lines(work, widening.instruction, fmt::format("\n    cvt.u32.u64 %ts_t0, {};", name));
        name = "%ts_t0";
    }
    const std::string guard = instruction.guard < 0 ? "" : "@" + guard_name(work.kernel, instruction) + " ";
    add_lines(
        work, widening.instruction,
        widening.is_signed
            ? fmt::format("\n    add.u32 %ts_t0, {}, 1073741824;\n    and.b32 %ts_t0, %ts_t0, 2147483648;",
                          name)
            : fmt::format("\n    and.b32 %ts_t0, {}, 3221225472;", name));
    add_lines(work, widening.instruction, "\n    " + guard + "or.b32 %ts_bad, %ts_bad, %ts_t0;");
}

void close_at_exit(Work& work, uint32_t at, uint32_t number) {
    const Instruction& instruction = work.kernel.instructions[at];
    std::string text = exit_text(work.text, number);
    if (instruction.guard >= 0) {
        text = skip_unless_guard(work.kernel, instruction, fmt::format("$ts_stay_{}", number)) + text;
        add_lines(work, at + 1, fmt::format("$ts_stay_{}:", number), true);
    }
    add_lines(work, at, text);
}

bool ends(const Instruction& instruction) { return instruction.op == Op::Ret || instruction.op == Op::Exit; }

// A body that runs off its end gets the ret that is meant there.
void end_with_ret(Kernel& kernel) {
    const bool closed = !kernel.instructions.empty() && kernel.instructions.back().guard < 0 &&
                        (ends(kernel.instructions.back()) || kernel.instructions.back().op == Op::Bra) &&
                        std::none_of(kernel.labels.begin(), kernel.labels.end(), [&](const Label& label) {
                            return label.instruction == static_cast<int32_t>(kernel.instructions.size());
                        });
    if (!closed) {
        Instruction ret;
        ret.op = Op::Ret;
        kernel.instructions.push_back(ret);
    }
}

// The kernel's own code once more, behind the recorded one, for blocks outside the window.
void append_plain(Work& work, const Kernel& plain, const std::string& label) {
    Kernel& kernel = work.kernel;
    const auto shift = static_cast<uint32_t>(kernel.instructions.size());
    const auto labels = static_cast<int32_t>(kernel.labels.size());
    for (const Label& own : plain.labels) {
        kernel.labels.push_back({"$ts_plain_" + std::to_string(kernel.labels.size()),
                                 own.instruction + static_cast<int32_t>(shift)});
    }
    for (Instruction instruction : plain.instructions) {
        for (Operand& operand : instruction.operands)
            if (operand.kind == Operand::Kind::Label) operand.label += labels;
        kernel.instructions.push_back(std::move(instruction));
    }
    add_lines(work, shift, label + ":", true);
    for (Note note : plain.notes) {
        note.instruction += shift;
        work.notes.push_back(std::move(note));
    }
}

bool waits_for_whole_block(const Instruction& barrier) {
    return barrier.mode == Mode::Sync && barrier.operands.size() == 1 &&
           barrier.operands[0].kind == Operand::Kind::Immediate && barrier.operands[0].bits == 0;
}

void add_parameter(Kernel& kernel, const std::string& name, Type type) {
    Symbol symbol;
    symbol.name = name;
    symbol.space = StateSpace::Param;
    symbol.type = type;
    kernel.symbols.push_back(symbol);
    kernel.parameters.push_back(static_cast<int32_t>(kernel.symbols.size() - 1));
}

// Names are unique in a kernel (parser.h).
std::vector<std::string> placed_symbols(const Kernel& kernel) {
    std::vector<std::string> names;
    for (const Symbol& symbol : kernel.symbols)
        if (symbol.space == StateSpace::Shared || symbol.space == StateSpace::Local ||
            symbol.space == StateSpace::Const)
            names.push_back(symbol.name);
    return names;
}

}  // namespace

std::vector<uint32_t> bytes_of_steps(const Instrumented& code) {
    std::vector<uint32_t> bytes(code.sites.size());
    for (const Code& c : code.codes) {
        if (c.kind == Code::Kind::Single)
            bytes[c.site] += kSlotBytes;
        else if (c.kind == Code::Kind::Narrow)
            bytes[c.site] += narrow_addresses(code.sites[c.site]).record_bytes();
        else if (c.kind == Code::Kind::Escape || c.kind == Code::Kind::Returned)
            bytes[c.site] += kEscapeBytes;
    }
    return bytes;
}

Result<Instrumented> instrument(const Module& module, const std::string& name,
                                const InstrumentOptions& options) {
    const Kernel* found = find_kernel(module, name);
    if (!found) return Error{fmt::format("there is no kernel {} in this PTX; check its name", name)};
    Work work{.kernel = *found, .options = options};
    work.result.sites = sites_of(*found);
    AffineAddresses affine = affine_addresses(*found, work.result.sites, options.launch);
    work.result.shapes = std::move(affine.shapes);
    work.result.distances = std::move(affine.distances);
    for (const auto& [site, distances] : work.result.distances) work.result.shapes[site] = {.affine = true};
    for (const Site& site : work.result.sites) {
        work.result.exchanges.push_back(operands_of(*found, site));
        if (work.result.exchanges.back().known) work.result.shapes[site.id] = {.affine = true};
    }
    const Constants constants = constants_of(*found);
    for (const Site& site : work.result.sites) {
        auto& wmma = work.wmma.emplace_back(wmma_request(*found, constants, work.result.sites, site));
        if (!wmma) continue;
        // Where every lane's address is recorded, each works out its own.
        const bool generic =
            found->instructions[site.instruction].space == StateSpace::Generic && site.matrices == 0;
        if (options.exact || generic) wmma->known_stride.reset();
        work.result.shapes[site.id] = {.affine = wmma->known_stride.has_value()};
        work.result.distances.erase(site.id);
        if (!wmma->known_stride) continue;
        auto& distances = work.result.distances[site.id];
        for (size_t lane = 0; lane < kWarpSize; ++lane)
            distances[lane] = wmma->distance(lane) - wmma->distance(0);
    }
    work.result.chunk_bytes = options.chunk_bytes;
    work.result.symbols = placed_symbols(*found);
    work.result.one_barrier =
        std::all_of(work.result.sites.begin(), work.result.sites.end(), [&](const Site& site) {
            return site.kind != SiteKind::Barrier ||
                   waits_for_whole_block(found->instructions[site.instruction]);
        });
    find_neighbours(work);
    if (auto ok = number_codes(work); !ok) return ok.error();
    end_with_ret(work.kernel);
    const Kernel plain = work.kernel;

    RecordingText& text = work.text;
    text = {.control = name + "_ts_control",
            .x0 = name + "_ts_x0",
            .y0 = name + "_ts_y0",
            .width = name + "_ts_width",
            .height = name + "_ts_height",
            .chunk_bytes = options.chunk_bytes,
            .code_bits = work.result.code_bits};
    add_parameter(work.kernel, text.control, Type::U64);
    for (const std::string& parameter : {text.x0, text.y0, text.width, text.height})
        add_parameter(work.kernel, parameter, Type::U32);
    for (Register& added : recording_registers()) work.kernel.registers.push_back(std::move(added));
    const auto add_register = [&](const char* own, Type type) {
        work.kernel.registers.push_back({own, type});
        return static_cast<int32_t>(work.kernel.registers.size() - 1);
    };
    work.result16 = add_register("%ts_found16", Type::B16);
    for (const char* more : {"%ts_found16b", "%ts_found16c", "%ts_found16d"}) add_register(more, Type::B16);
    work.result32 = add_register("%ts_found32", Type::B32);
    add_register("%ts_found32b", Type::B32);
    work.result64 = add_register("%ts_found64", Type::B64);

    const std::string plain_label = "$ts_plain";
    // A label on the first instruction may be jumped back to: the entry stands before it.
    add_lines(work, 0, entry_text(text, options.windowed, plain_label, work.result.symbols), true);
    if (!options.exact)
        for (const Widening& widening : affine.widened) check_widening(work, widening);
    for (const Site& site : work.result.sites) record_site(work, site);
    for (const Work::GroupCode& group : work.groups) record_group(work, group);
    // Behind a sequence the lanes of a warp may still be apart.
    for (uint32_t i = 0; i < work.kernel.instructions.size(); ++i)
        if (const Instruction& one = work.kernel.instructions[i];
            (one.op == Op::Opaque || one.op == Op::Setmaxnreg) && has_suffix(one, {"aligned"}))
            add_lines(work, i, "bar.warp.sync %ts_full;");
    uint32_t exits = 0;
    for (uint32_t i = 0; i < plain.instructions.size(); ++i)
        if (ends(plain.instructions[i])) close_at_exit(work, i, exits++);
    work.notes.insert(work.notes.end(), plain.notes.begin(), plain.notes.end());
    if (options.windowed) append_plain(work, plain, plain_label);
    for (const std::string& slow : work.slow)
        add_lines(work, static_cast<uint32_t>(work.kernel.instructions.size()), slow);
    std::stable_sort(work.notes.begin(), work.notes.end(), [](const Note& a, const Note& b) {
        return a.instruction != b.instruction ? a.instruction < b.instruction
                                              : a.before_labels && !b.before_labels;
    });
    work.kernel.notes = std::move(work.notes);

    Module made = module;
    made.kernels.clear();
    made.kernels.push_back(std::move(work.kernel));
    constexpr uint32_t kActivemask = 62;  // PTX ISA 6.2
    const uint32_t needed = std::max(kActivemask, version_for(made.kernels[0]));
    made.target = target_for(made.kernels[0], made.target);
    if (made.version_major * 10 + made.version_minor < needed)
        made.version_major = needed / 10, made.version_minor = needed % 10;
    const Kernel& whole = made.kernels[0];
    const auto added = std::count_if(whole.notes.begin(), whole.notes.end(),
                                     [](const Note& note) { return note.text.ends_with(';'); });
    if (whole.instructions.size() + static_cast<size_t>(added) > kMaxInstructions)
        return too_many(plain, work.result.sites);
    auto parsed = parse(print(made), name + " with its recording");
    if (!parsed) return parsed.error();
    work.result.module = std::move(*parsed);
    return std::move(work.result);
}

}  // namespace tilescope::ptx
