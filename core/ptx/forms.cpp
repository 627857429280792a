#include "core/ptx/forms.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/ptx/names.h"
#include "core/ptx/ops.h"
#include "core/ptx/warpgroup.h"

namespace tilescope::ptx {
namespace {

struct Form {
    Op op;
    const char* suffixes;  // behind the name of the rule
    DeviceNeeds needs{90, 80};
};

// Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier", "Data Movement and Conversion
// Instructions: Bulk copy".
constexpr Form kForms[] = {
    {Op::MbarrierInit, "?shared|shared::cta b64", {80, 70}},
    {Op::MbarrierInval, "?shared|shared::cta b64", {80, 70}},
    {Op::MbarrierArrive,
     "?noComplete ?release.cta|release.cluster|relaxed.cta|relaxed.cluster "
     "?shared|shared::cta|shared::cluster b64",
     {80, 70}},
    {Op::MbarrierArriveExpect,
     "?release.cta|release.cluster|relaxed.cta|relaxed.cluster ?shared|shared::cta|shared::cluster b64"},
    {Op::MbarrierDrop,
     "?noComplete ?release.cta|release.cluster|relaxed.cta|relaxed.cluster "
     "?shared|shared::cta|shared::cluster b64",
     {80, 70}},
    {Op::MbarrierDropExpect,
     "?release.cta|release.cluster|relaxed.cta|relaxed.cluster ?shared|shared::cta|shared::cluster b64"},
    {Op::MbarrierExpect, "?relaxed.cta|relaxed.cluster ?shared|shared::cta|shared::cluster b64"},
    {Op::MbarrierComplete, "?relaxed.cta|relaxed.cluster ?shared|shared::cta|shared::cluster b64"},
    {Op::MbarrierTestWait,
     "?acquire.cta|acquire.cluster|relaxed.cta|relaxed.cluster ?shared|shared::cta b64",
     {80, 70}},
    {Op::MbarrierTestParity,
     "?acquire.cta|acquire.cluster|relaxed.cta|relaxed.cluster ?shared|shared::cta b64",
     {80, 71}},
    {Op::MbarrierTryWait, "?acquire.cta|acquire.cluster|relaxed.cta|relaxed.cluster ?shared|shared::cta b64"},
    {Op::MbarrierTryParity,
     "?acquire.cta|acquire.cluster|relaxed.cta|relaxed.cluster ?shared|shared::cta b64"},
    {Op::MbarrierPending, "b64", {80, 70}},
    {Op::CpArrive, "?noinc ?shared|shared::cta b64", {80, 70}},
    {Op::BulkToShared,
     "mbarrier::complete_tx::bytes ?ignore_oob "
     "*multicast::cluster|L2::cache_hint"},
    {Op::BulkToGlobal, "bulk_group ?L2::cache_hint ?cp_mask"},
    {Op::BulkBetween, "mbarrier::complete_tx::bytes"},
    {Op::BulkReduceGlobal,
     "bulk_group ?L2::cache_hint "
     "and.b32|and.b64|or.b32|or.b64|xor.b32|xor.b64|add.u32|add.s32|add.u64|add.f32|add.f64|add.noftz.f16|"
     "add.noftz.bf16|inc.u32|dec.u32|min.u32|min.s32|min.u64|min.s64|min.f16|min.bf16|max.u32|max.s32|max."
     "u64|"
     "max.s64|max.f16|max.bf16"},
    {Op::BulkReduceBetween,
     "mbarrier::complete_tx::bytes "
     "and.b32|or.b32|xor.b32|add.u32|add.s32|add.u64|inc.u32|dec.u32|min.u32|min.s32|max.u32|max.s32"},
    {Op::BulkCommit, ""},
    {Op::BulkWait, "?read"},
    {Op::BulkPrefetch, "global ?L2::cache_hint"},
    {Op::FenceTensormap, "cta|cluster|gpu|sys", {90, 83}},
    {Op::TensorToShared,
     "1d|2d|3d|4d|5d ?cta_group::1|cta_group::2 shared::cluster.global|shared::cta.global "
     "?tile|tile::gather4|im2col|im2col::w|im2col::w::128 mbarrier::complete_tx::bytes "
     "*multicast::cluster|cta_group::1|cta_group::2|L2::cache_hint"},
    {Op::TensorToGlobal,
     "1d|2d|3d|4d|5d global.shared::cta ?tile|tile::scatter4|im2col_no_offs bulk_group ?L2::cache_hint"},
    {Op::TensorReduce,
     "1d|2d|3d|4d|5d global.shared::cta add|min|max|inc|dec|and|or|xor ?tile|tile::scatter4|im2col_no_offs "
     "bulk_group ?L2::cache_hint"},
    {Op::TensorPrefetch,
     "1d|2d|3d|4d|5d L2.global ?tile|tile::gather4|im2col|im2col::w|im2col::w::128 ?L2::cache_hint"},
    {Op::PrefetchTensormap, ""},
    {Op::TensormapReplace, "tile.global_address ?global|shared::cta b1024 b64", {90, 83}},
    {Op::TensormapReplace,
     "tile.rank|tile.elemtype|tile.interleave_layout|tile.swizzle_mode|tile.swizzle_atomicity|tile.fill_mode "
     "?global|shared::cta b1024 b32",
     {90, 83}},
    {Op::TensormapReplaceOne, "tile.global_stride ?global|shared::cta b1024 b64", {90, 83}},
    {Op::TensormapReplaceOne,
     "tile.box_dim|tile.global_dim|tile.element_stride ?global|shared::cta b1024 b32",
     {90, 83}},
    {Op::TensormapCopy,
     "global.shared::cta.tensormap::generic.release cta|cluster|gpu|sys sync.aligned",
     {90, 83}},
    {Op::Wgmma,
     "sync.aligned % ?satfinite f32|f16|s32 f16|bf16|tf32|e4m3|e5m2|s8|u8|b1 "
     "f16|bf16|tf32|e4m3|e5m2|s8|u8|b1 "
     "?satfinite|and.popc"},
    {Op::WgmmaSp,
     "sync.aligned % ?satfinite f32|f16|s32 f16|bf16|tf32|e4m3|e5m2|s8|u8 f16|bf16|tf32|e4m3|e5m2|s8|u8 "
     "?satfinite",
     {90, 82}},
    {Op::WgmmaFence, "sync.aligned"},
    {Op::WgmmaCommit, "sync.aligned"},
    {Op::WgmmaWait, "sync.aligned"},
    {Op::Mapa, "?shared::cluster u32|u64", {90, 78}},
    {Op::Getctarank, "?shared::cluster u32|u64", {90, 78}},
    {Op::ClusterArrive, "*release|relaxed|aligned", {90, 78}},
    {Op::ClusterWait, "*acquire|aligned", {90, 78}},
    {Op::StAsync,
     "?weak ?shared::cluster|shared::cta mbarrier::complete_tx::bytes "
     "v2.b32|v2.u32|v2.s32|v2.f32|v2.b64|v2.u64|v2.s64|v2.f64|v4.b32|v4.u32|v4.s32|v4.f32|b32|u32|s32|f32|"
     "b64|u64|"
     "s64|f64",
     {90, 81}},
    {Op::StAsyncRelease, "?mmio release.gpu|release.sys ?global b32|u32|s32|f32|b64|u64|s64|f64", {100, 87}},
    {Op::RedAsync,
     "relaxed.cluster *mbarrier::complete_tx::bytes|shared::cluster|shared::cta "
     "and.b32|or.b32|xor.b32|add.u32|add.s32|add.u64|add.s64|inc.u32|dec.u32|min.u32|min.s32|max.u32|max.s32",
     {90, 81}},
    {Op::RedAsyncRelease,
     "?mmio release.gpu|release.sys ?global "
     "and.b32|or.b32|xor.b32|add.u32|add.s32|add.u64|add.s64|inc.u32|dec.u32|min.u32|min.s32|max.u32|max.s32",
     {100, 87}},
    {Op::MultimemLoad,
     "?weak|relaxed.cta|relaxed.cluster|relaxed.gpu|relaxed.sys|acquire.cta|acquire.cluster|acquire.gpu|"
     "acquire.sys ?global min|max|add|and|or|xor ?acc::f32|acc::f16 ?v2|v4|v8 "
     "b32|b64|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64|e4m3|e4m3x2|e4m3x4|e5m2|e5m2x2|e5m2x4",
     {90, 81}},
    {Op::MultimemSt,
     "?weak|relaxed.cta|relaxed.cluster|relaxed.gpu|relaxed.sys|release.cta|release.cluster|release.gpu|"
     "release.sys ?global ?v2|v4|v8 "
     "b32|b64|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64|e4m3|e4m3x2|e4m3x4|e5m2|e5m2x2|e5m2x4",
     {90, 81}},
    {Op::MultimemRed,
     "?relaxed.cta|relaxed.cluster|relaxed.gpu|relaxed.sys|release.cta|release.cluster|release.gpu|release."
     "sys "
     "?global min|max|add|and|or|xor ?v2|v4|v8 b32|b64|u32|u64|s32|s64|f16|f16x2|bf16|bf16x2|f32|f64",
     {90, 81}},
    {Op::TryCancel, "?shared::cta mbarrier::complete_tx::bytes ?multicast::cluster::all b128", {100, 86}},
    {Op::IsCanceled, "is_canceled.pred.b128", {100, 86}},
    {Op::FirstBlock, "get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z b32.b128", {100, 86}},
    {Op::FirstBlocks, "get_first_ctaid.v4.b32.b128", {100, 86}},
};

const Form* find_form(Op op) {
    const auto* const found = std::ranges::find(kForms, op, &Form::op);
    return found == std::end(kForms) ? nullptr : found;
}

// Takes the next part of a text up to a character, and the character.
std::string_view take(std::string_view& text, char until) {
    const size_t end = std::min(text.find(until), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

using Words = std::vector<std::string_view>;

// Takes the dotted words of `choice` out, wherever they stand side by side. False where they do not.
bool take_out(Words& words, std::string_view choice) {
    Words wanted;
    while (!choice.empty()) wanted.push_back(take(choice, '.'));
    const bool any = wanted.front() == "%" && !words.empty();
    const auto found = any ? words.begin() : std::ranges::search(words, wanted).begin();
    if (found == words.end()) return false;
    words.erase(found, found + static_cast<std::ptrdiff_t>(wanted.size()));
    return true;
}

// ".a, .b or .c"
std::string listed(std::string_view choices) {
    std::string text;
    while (!choices.empty()) {
        const std::string_view choice = take(choices, '|');
        text += fmt::format("{}.{}", text.empty() ? "" : choices.empty() ? " or " : ", ", choice);
    }
    return text;
}

// What is wrong with the words behind a name, and how many stand before that.
struct Fault {
    std::string text;  // "" for nothing
    size_t read = 0;
};

Fault fault_of(std::string_view groups, Words words) {
    const size_t all = words.size();
    while (!groups.empty()) {
        std::string_view choices = take(groups, ' ');
        const bool several = choices.starts_with('*'), optional = several || choices.starts_with('?');
        if (optional) choices.remove_prefix(1);
        bool found = false;
        for (std::string_view left = choices; !left.empty() && (several || !found);)
            if (take_out(words, take(left, '|'))) found = true;
        if (found || optional) continue;
        if (words.empty()) return {fmt::format("needs {}", listed(choices)), all};
        return {fmt::format("has .{} where {} should stand", words.front(), listed(choices)),
                all - words.size()};
    }
    if (words.empty()) return {};
    return {fmt::format("has .{}, which does not go with the others", words.front()), all - words.size()};
}

// What is wrong with suffixes that may all be there, but not together; "" for nothing.
std::string fault_together(const Instruction& made) {
    const auto has = [&](std::initializer_list<std::string_view> words) { return has_suffix(made, words); };
    if (has({"multicast::cluster"}) && !names_cluster(made))
        return "has .multicast::cluster, which only .shared::cluster can";
    if (has({"cta_group::1"}) && has({"cta_group::2"})) return "has two groups of blocks";
    if (is_wgmma(made.op) && !warpgroup_form(made)) return "has no shape and types that go together";
    const uint32_t dimensions = dimensions_of(made);
    if (has({"tile::gather4", "tile::scatter4"}) && dimensions != 2)
        return "has four rows, which only .2d can";
    if (has({"im2col", "im2col::w", "im2col::w::128", "im2col_no_offs"}) && dimensions < 3)
        return "has .im2col, which only .3d, .4d and .5d can";
    return "";
}

}  // namespace

std::string read_form(Instruction& made, size_t in_name) {
    const Words words(made.suffixes.begin() + static_cast<std::ptrdiff_t>(in_name), made.suffixes.end());
    const std::string_view name = rule_of(made.op).name;
    if (in_name <
        static_cast<size_t>(std::ranges::count(name, '.')))  // found by the beginning of its name alone
        return is_bulk_copy(made.op) ? "needs where it copies to and from, as .shared::cluster.global"
                                     : "is not known to Tilescope";
    Fault fault;
    for (const Form& form : kForms) {
        if (name != rule_of(form.op).name) continue;
        const Fault found = fault_of(form.suffixes, words);
        if (!found.text.empty()) {
            if (fault.text.empty() || found.read > fault.read) fault = found;
            continue;
        }
        static_cast<Operation&>(made).op = form.op;
        for (const std::string& word : made.suffixes) {
            if (made.space == StateSpace::Generic)
                made.space = find_space(word).value_or(StateSpace::Generic);
            if (const auto type = find_type(word)) (made.type == Type::None ? made.type : made.type2) = *type;
            if (word == "v2" || word == "v4" || word == "v8")
                made.vector = static_cast<uint8_t>(word[1] - '0');
            if (made.atomic == Atomic::None && !is_wgmma(made.op))
                made.atomic = find_atomic(word).value_or(Atomic::None);
        }
        if (made.op == Op::ClusterArrive) made.mode = Mode::Arrive;
        if (made.op == Op::MultimemLoad && made.type == Type::None) made.type = Type::B32;  // four of 8 bits
        return fault_together(made);
    }
    return fault.text;
}

DeviceNeeds needs_of_form(Op op) {
    const Form* const form = find_form(op);
    return form == nullptr ? DeviceNeeds{} : form->needs;
}

const Operand* operand_of(const Instruction& instruction, char letter) {
    size_t at = 0;
    for (const char one : std::string_view(rule_of(instruction.op).operands)) {
        if (!has_operand(instruction, one)) continue;
        if (one == letter) return at < instruction.operands.size() ? &instruction.operands[at] : nullptr;
        at += one == 'm' ? 2 : 1;
    }
    return nullptr;
}

Signal signal_of(Op op) {
    switch (op) {
        case Op::MbarrierInit: return Signal::Init;
        case Op::MbarrierInval: return Signal::Invalidate;
        case Op::MbarrierArrive:
        case Op::MbarrierArriveExpect: return Signal::Arrive;
        case Op::MbarrierDrop:
        case Op::MbarrierDropExpect: return Signal::Drop;
        case Op::MbarrierExpect: return Signal::Expect;
        case Op::MbarrierComplete: return Signal::Complete;
        case Op::MbarrierTestWait:
        case Op::MbarrierTestParity:
        case Op::MbarrierTryWait:
        case Op::MbarrierTryParity: return Signal::Wait;
        case Op::CpArrive: return Signal::CopyArrive;
        default: return Signal::None;
    }
}

bool waits_for_parity(Op op) { return op == Op::MbarrierTestParity || op == Op::MbarrierTryParity; }

bool may_sleep(Op op) { return op == Op::MbarrierTryWait || op == Op::MbarrierTryParity; }

const Operand* phase_of(const Instruction& wait) {
    return signal_of(wait.op) != Signal::Wait ? nullptr
                                              : operand_of(wait, waits_for_parity(wait.op) ? 'u' : 's');
}

const Operand* arrivals_of(const Instruction& arrival) {
    switch (arrival.op) {
        case Op::MbarrierInit: return operand_of(arrival, 'u');
        case Op::MbarrierArrive:
        case Op::MbarrierDrop: return operand_of(arrival, 'U');
        default: return nullptr;
    }
}

const Operand* bytes_operand_of(const Instruction& instruction) {
    switch (instruction.op) {
        case Op::MbarrierArriveExpect:
        case Op::MbarrierDropExpect:
        case Op::MbarrierExpect:
        case Op::MbarrierComplete:
        case Op::BulkPrefetch: return operand_of(instruction, 'u');
        default: return is_bulk_copy(instruction.op) ? operand_of(instruction, 'u') : nullptr;
    }
}

const Operand* barrier_of(const Instruction& instruction) {
    return operand_of(instruction, signal_of(instruction.op) == Signal::None ? 'b' : 'a');
}

bool is_bulk_copy(Op op) {
    return op == Op::BulkToShared || op == Op::BulkToGlobal || op == Op::BulkBetween ||
           op == Op::BulkReduceGlobal || op == Op::BulkReduceBetween;
}

bool is_tensor_copy(Op op) {
    return op == Op::TensorToShared || op == Op::TensorToGlobal || op == Op::TensorReduce;
}

const Operand* map_of(const Instruction& instruction) { return operand_of(instruction, 'm'); }
const Operand* blocks_of(const Instruction& instruction) { return operand_of(instruction, 'K'); }

const Operand* coordinates_of(const Instruction& instruction) {
    const Operand* const map = map_of(instruction);
    return map == nullptr ? nullptr : map + 1;
}

const Operand* offsets_operand_of(const Instruction& instruction) { return operand_of(instruction, 'I'); }

uint32_t dimensions_of(const Instruction& instruction) {
    for (const std::string& word : instruction.suffixes)
        if (word.size() == 2 && word[1] == 'd' && word[0] >= '1' && word[0] <= '5')
            return static_cast<uint32_t>(word[0] - '0');
    return 0;
}

// Source: PTX ISA, "im2col mode", "im2col::w and im2col::w::128 mode".
uint32_t offsets_of(const Instruction& instruction) {
    if (has_suffix(instruction, {"im2col"})) return dimensions_of(instruction) - 2;
    return has_suffix(instruction, {"im2col::w", "im2col::w::128"}) ? 2 : 0;
}

const Operand* descriptor_of_a(const Instruction& instruction) {
    const Operand* const a = is_wgmma(instruction.op) ? &instruction.operands[1] : nullptr;
    return a == nullptr || a->kind == Operand::Kind::Vector ? nullptr : a;
}
const Operand* descriptor_of_b(const Instruction& instruction) { return operand_of(instruction, 'v'); }
const Operand* scale_of_d(const Instruction& instruction) { return operand_of(instruction, 'W'); }
const Operand* scale_of_a(const Instruction& instruction) { return operand_of(instruction, 'h'); }
const Operand* scale_of_b(const Instruction& instruction) {
    const Operand* const a = scale_of_a(instruction);
    return a == nullptr ? nullptr : a + 1;
}
const Operand* transposes_a(const Instruction& instruction) { return operand_of(instruction, 'r'); }
const Operand* transposes_b(const Instruction& instruction) { return operand_of(instruction, 'R'); }

StateSpace source_space_of(Op op) {
    return std::string_view(rule_of(op).operands).find('H') != std::string_view::npos ? StateSpace::Shared
                                                                                      : StateSpace::Global;
}

bool names_cluster(const Instruction& instruction) { return has_suffix(instruction, {"shared::cluster"}); }

}  // namespace tilescope::ptx
