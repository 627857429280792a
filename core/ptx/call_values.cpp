// What inlined calls are given and return: .param variables of a body become registers.
//
//   .param .align 8 .b8 param0[24];           .reg .b32 %param0_0, %param0_8;
//   st.param.v2.f32 [param0], {%f1, %f2};     mov.b32 %param0_0, %f1;  ...
//   ld.param.f32 %f9, [param0+8];             mov.b32 %f9, %param0_8;
//
// A variable whose parts are read in other pieces than they were written, or whose address is taken, becomes
// local memory. Variables of calls that stay keep their place.
#include <algorithm>
#include <map>

#include "core/ptx/parser.h"

namespace tilescope::ptx {
namespace {

// One part of a variable that is moved as a whole.
struct ValuePiece {
    int64_t offset = 0;
    int bytes = 0;
    int32_t reg = -1;
};

struct CallValue {
    enum class Kind : uint8_t { Registers, Local, Kept, None } kind = Kind::None;
    std::vector<ValuePiece> pieces;  // by offset, apart from each other
};

const Operand& data_of(const Instruction& access) { return access.operands[1 - address_at(access)]; }

struct Settling {
    Parser& parser;
    Body& body;
    Kernel& kernel = body.kernel;
    std::vector<CallValue> values;  // by symbol
    std::vector<char> from_own;     // registers that hold an address in a variable of a call
    std::vector<char> from_parameter;

    bool is_access(const Instruction& i) const {
        return (i.op == Op::Ld || i.op == Op::St) && i.space == StateSpace::Param;
    }
    // The symbol of the call variable that the instruction names; -1 for none.
    int32_t symbol_of(const Operand& operand) const {
        const bool own = operand.symbol >= 0 && !is_kernel_parameter(body, operand.symbol) &&
                         kernel.symbols[static_cast<size_t>(operand.symbol)].space == StateSpace::Param;
        return own ? operand.symbol : -1;
    }

    bool settle() {
        values.resize(kernel.symbols.size());
        bool any = false;
        for (size_t s = kernel.parameters.size(); s < kernel.symbols.size(); ++s) {
            if (kernel.symbols[s].space != StateSpace::Param) continue;
            values[s].kind = CallValue::Kind::Registers;
            any = true;
        }
        if (!any) return true;
        for (const Instruction& i : kernel.instructions) {
            for (const Operand& operand : i.operands) {
                const int32_t symbol = symbol_of(operand);
                if (symbol < 0) continue;
                CallValue& value = values[static_cast<size_t>(symbol)];
                if (i.op == Op::Call)
                    value.kind = CallValue::Kind::Kept;
                else if (!is_access(i) && value.kind == CallValue::Kind::Registers)
                    value.kind = CallValue::Kind::Local;
            }
        }
        find_pieces();
        if (!follow_addresses() || !make_registers()) return false;
        rewrite();
        drop_symbols();
        return true;
    }

    template <class Visit>
    void for_elements(const Instruction& i, Visit visit) {
        const Operand& address = i.operands[address_at(i)];
        const int bytes = size_of(i.type);
        for (int e = 0; e < i.vector; ++e) visit(address.offset + int64_t{e} * bytes, bytes);
    }

    // Stores first: what is read later may be less than what was stored.
    void find_pieces() {
        std::vector<std::map<int64_t, int>> found(values.size());
        for (const bool loads : {false, true}) {
            for (const Instruction& i : kernel.instructions) {
                if (!is_access(i) || (i.op == Op::Ld) != loads) continue;
                const int32_t symbol = symbol_of(i.operands[address_at(i)]);
                if (symbol < 0) continue;
                auto& pieces = found[static_cast<size_t>(symbol)];
                for_elements(i, [&](int64_t offset, int bytes) {
                    const auto after = pieces.lower_bound(offset + bytes);
                    const auto before = after == pieces.begin() ? pieces.end() : std::prev(after);
                    const bool apart = before == pieces.end() || before->first + before->second <= offset;
                    if (apart) {
                        pieces.emplace(offset, bytes);
                        return;
                    }
                    const bool fits =
                        before->first == offset &&
                        (before->second == bytes || (loads && before->second > bytes && !is_float(i.type)));
                    CallValue& value = values[static_cast<size_t>(symbol)];
                    if (!fits && value.kind == CallValue::Kind::Registers)
                        value.kind = CallValue::Kind::Local;
                });
            }
        }
        for (size_t s = 0; s < values.size(); ++s)
            if (values[s].kind == CallValue::Kind::Registers)
                for (const auto& [offset, bytes] : found[s]) values[s].pieces.push_back({offset, bytes, -1});
    }

    // Which registers hold addresses of variables that became local memory, and of parameters.
    bool follow_addresses() {
        from_own.assign(kernel.registers.size(), 0);
        from_parameter.assign(kernel.registers.size(), 0);
        const bool any =
            std::ranges::any_of(values, [](const CallValue& v) { return v.kind == CallValue::Kind::Local; });
        for (bool changed = any; changed;) {
            changed = false;
            for (const Instruction& i : kernel.instructions) {
                if (i.destinations != 1 || i.op == Op::Ld || i.operands[0].kind != Operand::Kind::Register)
                    continue;
                const auto to = static_cast<size_t>(i.operands[0].reg);
                for (size_t k = 1; k < i.operands.size(); ++k) {
                    const Operand& from = i.operands[k];
                    bool own = false, parameter = false;
                    if (from.kind == Operand::Kind::Register)
                        own = from_own[static_cast<size_t>(from.reg)],
                        parameter = from_parameter[static_cast<size_t>(from.reg)];
                    if (from.kind == Operand::Kind::Symbol) {
                        own = symbol_of(from) >= 0;
                        parameter = is_kernel_parameter(body, from.symbol);
                    }
                    changed |= (own && !from_own[to]) || (parameter && !from_parameter[to]);
                    from_own[to] |= own, from_parameter[to] |= parameter;
                }
            }
        }
        for (const Instruction& i : kernel.instructions) {
            if (!is_access(i)) continue;
            const Operand& address = i.operands[address_at(i)];
            if (address.reg < 0 || !from_own[static_cast<size_t>(address.reg)]) continue;
            if (from_parameter[static_cast<size_t>(address.reg)]) {
                return parser.fail(
                    i.text_line,
                    "instruction '{}' reads a parameter of the kernel or one of a function, by the "
                    "same address; build the kernel with its functions inlined",
                    full_name(i));
            }
        }
        return true;
    }

    bool make_registers() {
        for (size_t s = 0; s < values.size(); ++s) {
            for (ValuePiece& piece : values[s].pieces) {
                if (++parser.read.registers > kMaxRegisters || ++parser.registers_read > kMaxRegistersRead)
                    return parser.fail(kernel.instructions.front().text_line,
                                       "the module declares more than {} registers; split it", kMaxRegisters);
                piece.reg = static_cast<int32_t>(kernel.registers.size());
                const std::string name = "%" + kernel.symbols[s].name +
                                         (piece.offset == 0 ? "" : fmt::format("_{}", piece.offset));
                kernel.registers.push_back({fresh_name(parser, body, name), register_type(piece.bytes)});
            }
        }
        return true;
    }

    static Type register_type(int bytes) { return bits_of_size(static_cast<uint32_t>(std::max(bytes, 2))); }

    // One move between a register of the program and a piece.
    Instruction moved(const Instruction& like, Operand to, Operand from, int piece_bytes,
                      int wide_bytes) const {
        Instruction made;
        made.guard = like.guard, made.guard_negated = like.guard_negated;
        made.source = like.source, made.text_line = like.text_line;
        made.destinations = 1;
        const int bytes = size_of(like.type);
        const bool load = like.op == Op::Ld;
        const bool same = bytes > 1 && bytes == piece_bytes && bytes == wide_bytes;
        if (same || from.kind == Operand::Kind::Immediate) {
            made.op = Op::Mov;
            made.type = register_type(piece_bytes);
            made.suffixes = {name_of(made.type)};
        } else {
            const bool is_sign = load && is_signed(like.type);
            const int to_bytes = load ? wide_bytes : std::max(piece_bytes, 2);
            made.op = Op::Cvt;
            made.type = integer_of_size(static_cast<uint32_t>(to_bytes), is_sign);
            made.type2 = integer_of_size(static_cast<uint32_t>(bytes), is_sign);
            made.suffixes = {name_of(made.type), name_of(made.type2)};
        }
        made.mnemonic = name_of(made.op);
        made.operands.push_back(std::move(to));
        made.operands.push_back(std::move(from));
        return made;
    }

    int register_bytes(const Operand& operand) const {
        return operand.kind == Operand::Kind::Register
                   ? size_of(kernel.registers[static_cast<size_t>(operand.reg)].type)
                   : 0;
    }

    void move_pieces(const Instruction& i, const CallValue& value, std::vector<Instruction>& out) const {
        const Operand& data = data_of(i);
        const int64_t first = i.operands[address_at(i)].offset;
        for (size_t e = 0; e < i.vector; ++e) {
            const Operand& element = data.kind == Operand::Kind::Vector ? data.elements[e] : data;
            if (element.kind == Operand::Kind::Sink) continue;
            const int64_t offset = first + static_cast<int64_t>(e) * size_of(i.type);
            const auto piece = std::ranges::find(value.pieces, offset, &ValuePiece::offset);
            Operand own;
            own.kind = Operand::Kind::Register;
            own.reg = piece->reg;
            const int bytes = register_bytes(element);
            out.push_back(i.op == Op::Ld ? moved(i, element, own, piece->bytes, bytes)
                                         : moved(i, own, element, piece->bytes, bytes));
        }
    }

    static void make_local(Instruction& i) {
        i.space = StateSpace::Local;
        for (std::string& suffix : i.suffixes)
            if (suffix.starts_with("param")) suffix = "local";
    }

    void rewrite() {
        std::vector<Instruction> out;
        std::vector<uint32_t> place;  // old instruction -> new
        out.reserve(kernel.instructions.size());
        for (Instruction& i : kernel.instructions) {
            place.push_back(static_cast<uint32_t>(out.size()));
            const bool access = is_access(i), converts = i.op == Op::Cvta && i.space == StateSpace::Param;
            const Operand* address = access     ? &i.operands[address_at(i)]
                                     : converts ? &i.operands[1]
                                                : nullptr;
            const int32_t symbol = address ? symbol_of(*address) : -1;
            const auto kind = symbol < 0 ? CallValue::Kind::None : values[static_cast<size_t>(symbol)].kind;
            const bool local = address && address->reg >= 0 && from_own[static_cast<size_t>(address->reg)];
            if (access && kind == CallValue::Kind::Registers) {
                move_pieces(i, values[static_cast<size_t>(symbol)], out);
                continue;
            }
            if (local || kind == CallValue::Kind::Local) make_local(i);
            out.push_back(std::move(i));
        }
        place.push_back(static_cast<uint32_t>(out.size()));
        kernel.instructions = std::move(out);
        for (Label& label : kernel.labels)
            label.instruction = static_cast<int32_t>(place[static_cast<size_t>(label.instruction)]);
        for (Note& note : kernel.notes) note.instruction = place[note.instruction];
        for (size_t s = 0; s < values.size(); ++s)
            if (values[s].kind == CallValue::Kind::Local) kernel.symbols[s].space = StateSpace::Local;
    }

    // Symbols that nothing names any more.
    void drop_symbols() {
        std::vector<int32_t> place;
        std::vector<Symbol> kept;
        for (size_t s = 0; s < kernel.symbols.size(); ++s) {
            place.push_back(static_cast<int32_t>(kept.size()));
            if (values[s].kind != CallValue::Kind::Registers) kept.push_back(std::move(kernel.symbols[s]));
        }
        kernel.symbols = std::move(kept);
        for (Instruction& i : kernel.instructions)
            for (Operand& operand : i.operands)
                if (operand.symbol >= 0) operand.symbol = place[static_cast<size_t>(operand.symbol)];
    }
};

}  // namespace

bool settle_call_values(Parser& parser, Body& body) {
    return Settling{.parser = parser, .body = body, .values = {}, .from_own = {}, .from_parameter = {}}
        .settle();
}

}  // namespace tilescope::ptx
