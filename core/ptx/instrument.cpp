// Puts the sequences of recording_text.h in their places, as lines of text
// before instructions: the kernel's own instructions are printed as they were. The result is parsed again.
#include "core/ptx/instrument.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "core/ptx/cfg.h"
#include "core/ptx/forms.h"
#include "core/ptx/matrix.h"
#include "core/ptx/ops.h"
#include "core/ptx/parse.h"
#include "core/ptx/parser.h"
#include "core/ptx/recording_plan.h"
#include "core/ptx/recording_text.h"
#include "core/ptx/site_text.h"

namespace tilescope::ptx {

namespace {

// What a kernel has that the sequences cannot record, in one sentence; "" for nothing.
std::string not_recorded(const Kernel& kernel, const std::vector<Site>& sites) {
    const auto why = [&](const Instruction& one, std::string_view what) {
        return fmt::format("kernel {} has '{}' (line {} of the PTX), which {}", kernel.name,
                           print(kernel, one), one.text_line, what);
    };
    for (const Site& site : sites) {
        const Instruction& one = kernel.instructions[site.instruction];
        // Copies between blocks of a cluster, and those of which not all is moved, or not as a map says.
        const bool elsewhere =
            one.op == Op::BulkBetween || one.op == Op::BulkReduceBetween ||
            (site.box != Box::None && has_suffix(one, {"cp_mask", "ignore_oob", "im2col::w", "im2col::w::128",
                                                       "cta_group::1", "cta_group::2"}));
        if (elsewhere) return why(one, "cannot be recorded on a GPU yet");
    }
    for (const Instruction& one : kernel.instructions) {
        if (rule_of(one.op).suffixes & kHidden)
            return why(one, "changes memory in a way that is not recorded; build the kernel without it");
    }
    return "";
}

void add_lines(RecordingPlan& work, uint32_t instruction, const std::string& text,
               bool before_labels = false) {
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
void fill_result(const RecordingPlan& work, Operand& result, uint32_t bytes, uint32_t number) {
    if (result.kind == Operand::Kind::Register) return;
    result = Operand{};
    result.kind = Operand::Kind::Register;
    result.reg = (bytes == 8   ? work.result64
                  : bytes == 2 ? work.result16
                               : work.result32) +
                 static_cast<int32_t>(number);
}

// The text that records what an atomic gave back.
std::string returned_text(RecordingPlan& work, const Site& site) {
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
Sequence run_sequence(RecordingPlan& work, const Site& site, const SiteText& text) {
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

void record_site(RecordingPlan& work, const Site& site) {
    const Instruction& instruction = work.kernel.instructions[site.instruction];
    SiteText text{site.id,
                  site.kind == SiteKind::Exchange
                      ? exchange_text(work.kernel, site, work.result.exchanges[site.id].known)
                      : address_text(work.kernel, site, work.wmma[site.id], work.clusters),
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

// Lanes that do not say which tile a warpgroup's product reads go past what is put before it. A warp reads rows of its
// own of A, and four warps the same B.
std::string skip_unless_first(const Instruction& product, const Site& tile, const std::string& label) {
    const bool of_a = &address_of(product, tile) == descriptor_of_a(product);
    return fmt::format(R"({}
    and.b32 %ts_t0, %ts_t0, {};
    setp.ne.u32 %ts_p0, %ts_t0, 0;
    @%ts_p0 bra {};)",
                       kThreadOfBlock, (of_a ? 1 : 4) * kWarpSize - 1, label);
}

// A site with words: before it, or, of a wait, behind it, where its lanes have seen the phase end.
void record_words(RecordingPlan& work, const Site& site) {
    const Instruction& instruction = work.kernel.instructions[site.instruction];
    const SiteText text{site.id, address_text(work.kernel, site, std::nullopt, work.clusters),
                        work.single[site.id], ""};
    const std::string record = words_text(work.text, text, words_text_of(work.kernel, site)).before;
    const std::string label = fmt::format("$ts_skip_{}", site.id);
    const bool guarded = instruction.guard >= 0, waits = site.signal == Signal::Wait;
    std::string skip;
    if (guarded && waits) {  // it may write its own guard
        const std::string guard = work.kernel.registers[instruction.guard].name;
        add_lines(work, site.instruction, fmt::format("and.pred %ts_p0, {0}, {0};", guard));
        skip = fmt::format("\n    @{}%ts_p0 bra {};", instruction.guard_negated ? "" : "!", label);
    } else if (guarded) {
        skip = skip_unless_guard(work.kernel, instruction, label);
    }
    if (waits) {
        const std::string& ended =
            work.kernel.registers[static_cast<size_t>(instruction.operands[0].reg)].name;
        skip += fmt::format("\n    @!{} bra {};", ended, label);
    }
    if (site.box == Box::Tile) skip += skip_unless_first(instruction, site, label);
    const std::string end = skip.empty() ? "" : fmt::format("\n{}:", label);
    if (waits) return add_lines(work, site.instruction + 1, skip + record + end, true);
    add_lines(work, site.instruction, skip + record + end);
}

// A commit or a wait, behind it.
void record_group(RecordingPlan& work, const RecordingPlan::GroupCode& group) {
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
void check_widening(RecordingPlan& work, const Widening& widening) {
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

void close_at_exit(RecordingPlan& work, uint32_t at, uint32_t number) {
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

// In place of a change of how many registers a warp may use, which changes no result, the lanes of the warp only meet.
void keep_registers(Kernel& kernel) {
    for (Instruction& one : kernel.instructions) {
        if (one.op != Op::Setmaxnreg) continue;
        Operand all;
        all.kind = Operand::Kind::Immediate;
        all.bits = UINT32_MAX;
        all.immediate_type = Type::U64;
        all.text = std::to_string(UINT32_MAX);
        Instruction meet;
        meet.op = Op::BarWarp;
        meet.mnemonic = "bar", meet.suffixes = {"warp", "sync"};
        meet.operands = {all};
        meet.guard = one.guard, meet.guard_negated = one.guard_negated;
        meet.source = one.source, meet.text_line = one.text_line;
        one = std::move(meet);
    }
}

// The kernel's own code once more, behind the recorded one, for blocks outside the window.
void append_plain(RecordingPlan& work, const Kernel& plain, const std::string& label) {
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
        else if (c.kind == Code::Kind::Words)
            bytes[c.site] += words_record_bytes(code.sites[c.site].words, kWarpSize);
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
    RecordingPlan work{.kernel = *found, .options = options};
    work.clusters =
        std::ranges::any_of(found->instructions, [](const Instruction& one) { return one.op == Op::Mapa; });
    work.result.sites = sites_of(*found);
    if (std::string why = not_recorded(*found, work.result.sites); !why.empty()) return Error{std::move(why)};
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
    work.result.symbols = placed_symbols(*found);
    work.result.parameters = parameter_offsets(*found);
    work.result.one_barrier =
        std::all_of(work.result.sites.begin(), work.result.sites.end(), [&](const Site& site) {
            return site.kind != SiteKind::Barrier ||
                   waits_for_whole_block(found->instructions[site.instruction]);
        });
    find_neighbours(work);
    if (auto ok = number_codes(work); !ok) return ok.error();
    uint32_t longest = 0;
    for (const uint32_t bytes : bytes_of_steps(work.result)) longest = std::max(longest, bytes);
    work.result.chunk_bytes = std::max(options.chunk_bytes, std::bit_ceil(kChunkHeaderBytes + longest));
    end_with_ret(work.kernel);
    keep_registers(work.kernel);
    const Kernel plain = work.kernel;

    RecordingText& text = work.text;
    text = {.control = name + "_ts_control",
            .x0 = name + "_ts_x0",
            .y0 = name + "_ts_y0",
            .width = name + "_ts_width",
            .height = name + "_ts_height",
            .chunk_bytes = work.result.chunk_bytes,
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
    for (const Site& site : work.result.sites)
        site.words != 0 ? record_words(work, site) : record_site(work, site);
    for (const RecordingPlan::GroupCode& group : work.groups) record_group(work, group);
    // Behind a sequence the lanes of a warp may still be apart.
    for (uint32_t i = 0; i < work.kernel.instructions.size(); ++i)
        if (const Instruction& one = work.kernel.instructions[i];
            one.op != Op::Bar && !(rule_of(one.op).suffixes & kMatrix) && has_suffix(one, {"aligned"}))
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
    constexpr uint32_t kActivemask = 62, kTestParity = 71;  // PTX ISA 6.2 and 7.1
    const bool tests = std::ranges::any_of(work.result.sites, [&](const Site& site) {
        return site.signal == Signal::Wait && !waits_for_parity(found->instructions[site.instruction].op);
    });
    const uint32_t needed = std::max(tests ? kTestParity : kActivemask, version_for(made.kernels[0]));
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
