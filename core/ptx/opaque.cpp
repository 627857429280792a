// Instructions that the table of ops.h does not know and that touch no memory: kept as text, for a GPU to run.
//
//   madeup.sync.aligned.f32x4   {%f0, %f1}|%p1, %r2, 1, !%p2;
//                               {\1, \1}|\1, \1, 1, !\1;          text, with a place for each register
//
// Nobody knows which of its registers such an instruction writes. All count as read and as written, so that
// nothing that is proven of addresses rests on one (affine.h), and no address is taken from before it.
//
// What may touch memory or decide where threads go on is refused: whatever has an operand in brackets, a variable or a
// label, and the mnemonics of the list below, which do so by registers alone or with no operand at all. Tensor memory
// (tcgen05) is read: no recording shows it, nor what its instructions read and write of shared memory.
//
// Source: PTX ISA, "Instruction Set".
#include <algorithm>
#include <utility>

#include "core/ptx/names.h"
#include "core/ptx/parser.h"

namespace tilescope::ptx {

namespace {

constexpr size_t kMostRegisters = 255;  // of one instruction: destinations are counted in 8 bits

// Memory, the stack, matrices in memory, and branches; and what a refusal says of those that belong together. `kept`: it is
// kept with its addresses in brackets, which are of no memory that is recorded.
constexpr struct {
    std::string_view mnemonic, what = {};
    bool kept = false;
} kRefused[] = {{"alloca"},
                {"brkpt"},
                {"istypep"},
                {"ldmatrix"},
                {"ldu"},
                {"pmevent"},
                {"stackrestore"},
                {"stacksave"},
                {"stmatrix"},
                {"suld", "surfaces"},
                {"suq", "surfaces"},
                {"sured", "surfaces"},
                {"sust", "surfaces"},
                {"tcgen05", "tensor memory (tcgen05)", true},
                {"tex", "textures"},
                {"tld4", "textures"},
                {"txq", "textures"}};

const auto* find_refused(std::string_view mnemonic) {
    const auto* const found =
        std::ranges::find(kRefused, mnemonic, [](const auto& row) { return row.mnemonic; });
    return found == std::end(kRefused) ? nullptr : found;
}

bool is_arithmetic(const OpRule& rule) {
    return rule.unit == SmUnit::Alu || rule.unit == SmUnit::Fma || rule.unit == SmUnit::Special ||
           rule.unit == SmUnit::Convert;
}

// A special register, with its ".x"; how many tokens it has. 0: none.
size_t special_at(const Parser& parser) {
    std::string text(parser.peek().text);
    if (find_special(text)) return 1;
    return parser.peek(1).kind == Token::Kind::Dot && find_special(text.append(parser.peek(1).text)) ? 2 : 0;
}

// The operands up to the ';', as text and registers. False, with no message, where they cannot be kept.
bool read_text(Parser& parser, const Body& body, bool brackets, Instruction& made) {
    const std::string_view punctuation = brackets ? ",{}|!-+[]" : ",{}|!-+";
    for (bool after_word = false; !parser.accept(';');) {
        const Token& token = parser.peek();
        std::string& text = made.opaque;
        // Two words stay two.
        const bool word = token.kind == Token::Kind::Word || token.kind == Token::Kind::Number;
        if (std::exchange(after_word, word) && word) text += ' ';
        const Name* const name = token.kind == Token::Kind::Word ? body.find(token.text) : nullptr;
        if (name != nullptr && name->kind == Name::Kind::Register) {
            if (made.operands.size() == kMostRegisters) return false;
            Operand operand;
            operand.kind = Operand::Kind::Register;
            operand.reg = name->index;
            made.operands.push_back(std::move(operand));
            text += kRegisterPlace;
        } else if (const size_t special = name == nullptr ? special_at(parser) : 0; special > 0) {
            for (size_t i = 0; i < special; ++i) text += parser.peek(i).text;
            if (special == 2) parser.next();
        } else if (token.kind == Token::Kind::Number || token.text == "_" || token.text == "WARP_SZ") {
            text += token.text;
        } else if (token.kind == Token::Kind::Punctuation &&
                   punctuation.find(token.text[0]) != std::string_view::npos) {
            text += token.text;
            if (token.text[0] == ',') text += ' ';
        } else {
            return false;
        }
        parser.next();
    }
    return true;
}

}  // namespace

bool read_opaque(Parser& parser, const Body& body, const OpRule* rule, Instruction& made) {
    const auto* const refused = find_refused(made.mnemonic);
    const bool kept = refused != nullptr && refused->kept;
    if (rule != nullptr ? !is_arithmetic(*rule) : refused != nullptr && !kept) return false;
    Instruction opaque;
    static_cast<Operation&>(opaque).op = Op::Opaque;
    opaque.mnemonic = made.mnemonic, opaque.suffixes = made.suffixes;
    opaque.guard = made.guard, opaque.guard_negated = made.guard_negated;
    opaque.source = made.source, opaque.text_line = made.text_line;
    const size_t back = parser.at;
    if (!read_text(parser, body, kept, opaque)) {
        parser.at = back;
        return false;
    }
    const size_t registers = opaque.operands.size();
    opaque.destinations = static_cast<uint8_t>(registers);
    opaque.operands.reserve(2 * registers);
    for (size_t i = 0; i < registers; ++i) opaque.operands.push_back(Operand(opaque.operands[i]));
    parser.message.clear();
    made = std::move(opaque);
    return true;
}

std::string_view not_read(std::string_view mnemonic) {
    const auto* const refused = find_refused(mnemonic);
    return refused == nullptr ? std::string_view() : refused->what;
}

std::string opaque_text(const Kernel& kernel, const Instruction& instruction) {
    std::string text;
    size_t next = 0;
    for (const char c : instruction.opaque)
        if (c == kRegisterPlace)
            text += kernel.registers[static_cast<size_t>(instruction.operands[next++].reg)].name;
        else
            text += c;
    return text;
}

}  // namespace tilescope::ptx
