// The operands of an instruction, "%f1, [%rd4+8]", against the letters of its rule (ops.h): their
// number, their kind, and that the registers have the type.
//
// Source: PTX ISA, "Instruction Operands".
#include <bit>
#include <string_view>
#include <utility>

#include "core/base/text.h"
#include "core/ptx/forms.h"
#include "core/ptx/matrix.h"
#include "core/ptx/names.h"
#include "core/ptx/parser.h"
#include "core/ptx/warpgroup.h"

namespace tilescope::ptx {
namespace {

// Reads the operands of one instruction.
struct OperandReader {
    Parser& parser;
    Body& body;
    Instruction& made;

    bool fail(std::string_view what) {
        return parser.fail(made.text_line, "instruction '{}' {}; correct it", full_name(made), what);
    }
    bool fail_at(const Token& token, std::string_view wanted) {
        return fail(fmt::format("needs {} where {} stands", wanted, Parser::quoted(token)));
    }
    Type type_of_register(const Operand& operand) const {
        return body.kernel.registers[static_cast<size_t>(operand.reg)].type;
    }
    const Symbol& symbol_of(const Operand& operand) const {
        return operand.symbol >= 0
                   ? body.kernel.symbols[static_cast<size_t>(operand.symbol)]
                   : parser.module.variables[static_cast<size_t>(
                         body.module_symbols[static_cast<size_t>(kModuleSymbol - operand.symbol)])];
    }

    // The register of a vector's element, by its suffix: ".x" or ".r", ...; nullptr where there is none.
    const Name* element_of(const Token& vector, std::string_view suffix) const {
        constexpr std::string_view kColours = "rgba";
        if (suffix.size() != 2 || suffix[0] != '.') return nullptr;
        const size_t colour = kColours.find(suffix[1]);
        return body.find(fmt::format("{}.{}", vector.text,
                                     colour == std::string_view::npos ? suffix[1] : kVectorElements[colour]));
    }

    // A register, or nothing that is one (then `operand` stays None and no token is taken).
    bool read_register(Operand& operand) {
        const Token& token = parser.peek();
        if (token.kind != Token::Kind::Word || token.text == "_") return true;
        const Name* name = body.find(token.text);
        if (name != nullptr && name->kind == Name::Kind::Register) {
            operand.kind = Operand::Kind::Register;
            operand.reg = name->index;
            parser.next();
            return true;
        }
        if (const Name* element = name == nullptr ? element_of(token, parser.peek(1).text) : nullptr) {
            operand.kind = Operand::Kind::Register;
            operand.reg = element->index;
            parser.next(), parser.next();
            return true;
        }
        // Source: PTX ISA, "Special Registers".
        for (const std::string_view special :
             {"%envreg", "%aggr_smem_size", "%reserved_smem", "%pm", "%current_graph_exec"})
            if (name == nullptr && token.text.substr(0, special.size()) == special)
                return fail(
                    fmt::format("reads {}, which no kernel can that Tilescope runs or records; build the "
                                "kernel without grid barriers and counters",
                                Parser::quoted(token)));
        if (name == nullptr && token.text[0] == '%' && !is_special()) {
            return fail(
                fmt::format("names {}, which is no register that is declared here", Parser::quoted(token)));
        }
        return true;
    }

    bool is_special() const {
        std::string text(parser.peek().text);
        if (find_special(text)) return true;
        return parser.peek(1).kind == Token::Kind::Dot && find_special(text.append(parser.peek(1).text));
    }

    // At a special register.
    bool read_special(Type type, Operand& operand) {
        std::string text(parser.next().text);
        auto special = find_special(text);
        if (!special) special = find_special(text.append(parser.next().text));
        operand.kind = Operand::Kind::Special;
        operand.special = *special;
        if (agrees(type, type_of(operand.special))) return true;
        return fail(fmt::format("takes .{}, which {} is not", name_of(type), name_of(operand.special)));
    }

    static bool is_decimal(const Token& token) {
        return token.kind == Token::Kind::Number && token.text.find('.') != std::string_view::npos;
    }

    // What such a constant is of: the sums of a product of matrices are but registers of bits where they are read.
    Type type_of_decimal(Type type) const {
        const bool sums = (made.op == Op::Mma || made.op == Op::MmaSp || made.op == Op::WmmaMma) &&
                          made.operands.size() == 3;
        const MatrixType of_sums = sums ? matrix_form(made)->type(MatrixRole::C) : MatrixType::None;
        return of_sums == MatrixType::F32 ? Type::F32 : of_sums == MatrixType::F64 ? Type::F64 : type;
    }

    // At a constant with a decimal point, which becomes one of the instruction's type, written by its bits (PTX ISA,
    // "Floating-Point Constants").
    bool read_decimal(Type type, Operand& operand) {
        type = type_of_decimal(type);
        const bool negative = parser.accept('-');
        const std::string_view text = parser.peek().text;
        const auto written = real_number(text);
        if (!written || (type != Type::F32 && type != Type::F64))
            return fail(fmt::format("has the constant {}, which must be written by its bits, as 0f3F800000",
                                    Parser::quoted(parser.peek())));
        const double value = negative ? -*written : *written;
        operand.bits = type == Type::F64 ? std::bit_cast<uint64_t>(value)
                                         : std::bit_cast<uint32_t>(static_cast<float>(value));
        operand.immediate_type = type;
        operand.text = type == Type::F64 ? fmt::format("0d{:016X}", operand.bits)
                                         : fmt::format("0f{:08X}", operand.bits);
        parser.next();
        return true;
    }

    bool read_immediate(Type type, Operand& operand) {
        const Token& token = parser.peek();
        operand.kind = Operand::Kind::Immediate;
        if (is_decimal(parser.peek(token.is('-') ? 1 : 0))) return read_decimal(type, operand);
        if (read_float_bits(token.text, operand.immediate_type, operand.bits)) {
            operand.text = std::string(parser.next().text);
            return true;
        }
        Integer integer;
        if (!read_integer(parser, integer, fmt::format("an operand of '{}'", full_name(made)))) return false;
        operand.bits = integer.bits;
        operand.immediate_type = integer.is_unsigned ? Type::U64 : Type::S64;
        operand.text = std::move(integer.text);
        return true;
    }

    bool at_immediate() const {
        const Token& token = parser.peek();
        return token.kind == Token::Kind::Number || token.is('-') || token.is('+') || token.text == "WARP_SZ";
    }

    // A variable or parameter by name, into operand.symbol.
    bool read_symbol(Operand& operand) {
        const Token& token = parser.next();
        if (const Name* name = token.kind == Token::Kind::Word ? body.find(token.text) : nullptr) {
            if (name->kind == Name::Kind::Symbol) return operand.symbol = name->index, true;
        } else if (const auto found = parser.variables.find(token.text); found != parser.variables.end()) {
            const auto [entry, is_new] = body.module_symbol.try_emplace(
                found->second, static_cast<int32_t>(body.module_symbols.size()));
            if (is_new) body.module_symbols.push_back(found->second);
            operand.symbol = kModuleSymbol - entry->second;
            return true;
        }
        return fail(
            fmt::format("names {}, which is no variable that is declared here", Parser::quoted(token)));
    }

    // "+8", "+-8", "-8" or nothing, after a register or symbol.
    bool read_offset(Operand& operand) {
        if (!parser.peek().is('+') && !parser.peek().is('-')) return true;
        if (parser.peek().is('+') && parser.peek(1).is('-')) parser.next();
        Integer integer;
        if (!read_integer(parser, integer, fmt::format("the offset of '{}'", full_name(made)))) return false;
        operand.offset = static_cast<int64_t>(integer.bits);
        if (operand.offset > INT32_MAX || operand.offset < INT32_MIN)
            return fail("has an offset of more than 32 bits");
        return true;
    }

    bool check_register(const Operand& operand, Type wanted, bool relaxed) {
        const Type given = type_of_register(operand);
        if (relaxed ? agrees_relaxed(wanted, given) : agrees(wanted, given)) return true;
        return fail(fmt::format("takes .{} where '{}' is a .{} register", name_of(wanted),
                                body.kernel.registers[static_cast<size_t>(operand.reg)].name,
                                name_of(given)));
    }

    bool read_destination(Type type, bool relaxed, bool may_sink, Operand& operand) {
        const Token& token = parser.peek();
        if (may_sink && parser.accept("_")) return operand.kind = Operand::Kind::Sink, true;
        if (!read_register(operand)) return false;
        if (operand.kind != Operand::Kind::Register) return fail_at(token, "a register to write");
        return check_register(operand, type, relaxed);
    }

    bool read_source(Type type, bool relaxed, Operand& operand) {
        const Token& token = parser.peek();
        if (!read_register(operand)) return false;
        if (operand.kind == Operand::Kind::Register) return check_register(operand, type, relaxed);
        if (!at_immediate()) return fail_at(token, "a register or a constant");
        if (!read_immediate(type, operand)) return false;
        if (immediate_fits(type, operand.immediate_type)) return true;
        return fail(fmt::format("takes .{}, which {} is not", name_of(type), Parser::quoted(token)));
    }

    bool read_predicate(Operand& operand) {
        operand.negated = parser.accept('!');
        const Token& token = parser.peek();
        if (!read_register(operand)) return false;
        if (operand.kind != Operand::Kind::Register) return fail_at(token, "a predicate");
        return check_register(operand, Type::Pred, false);
    }

    // {a, b, ...} of `count` elements. Sources may be constants where `constants`.
    // At the name of a vector of that many registers.
    bool read_declared_vector(size_t count, Operand& operand) {
        const Token& token = parser.peek();
        constexpr std::string_view kLast[] = {"", "", ".y", "", ".w"};
        if ((count != 2 && count != 4) || token.kind != Token::Kind::Word ||
            !element_of(token, kLast[count]) || (count == 2 && element_of(token, ".z")))
            return false;
        for (const char part : kVectorElements.substr(0, count)) {
            Operand& element = operand.elements.emplace_back();
            element.kind = Operand::Kind::Register;
            element.reg = element_of(token, fmt::format(".{}", part))->index;
        }
        parser.next();
        return true;
    }

    bool read_vector(Type type, size_t count, bool is_destination, bool relaxed, bool constants,
                     Operand& operand) {
        const Token& token = parser.peek();
        operand.kind = Operand::Kind::Vector;
        if (read_declared_vector(count, operand)) {
            for (const Operand& element : operand.elements)
                if (!check_register(element, type, relaxed)) return false;
            return true;
        }
        if (!parser.accept('{')) return fail_at(token, fmt::format("a vector of {}", count));
        do {
            Operand element;
            if (is_destination || !constants) {
                if (!read_destination(type, relaxed, is_destination, element)) return false;
            } else if (!read_source(type, relaxed, element)) {
                return false;
            }
            operand.elements.push_back(std::move(element));
        } while (operand.elements.size() < count && parser.accept(','));
        if (operand.elements.size() != count || !parser.accept('}'))
            return fail(fmt::format("needs a vector of {}, without more or fewer elements", count));
        return true;
    }

    static bool holds_address(Type type) {
        return (size_of(type) == 4 || size_of(type) == 8) && !is_float(type);
    }

    // A barrier that is named lies in shared memory, whether .shared is written or not.
    bool is_barrier_by_name(const Operand& operand) const {
        return made.space == StateSpace::Generic && rule_of(made.op).site == SiteKind::Signal &&
               symbol_of(operand).space == StateSpace::Shared;
    }

    bool read_address(Operand& operand) {
        const Token& token = parser.peek();
        if (!parser.accept('[')) return fail_at(token, "an address in brackets");
        if (at_immediate()) {
            if (made.space != StateSpace::Local) return fail("has a constant address, which only .local can");
            const uint64_t limit = UINT64_C(1) << 62;
            uint64_t value = 0;
            if (!read_count(parser, 0, limit, value, "an address")) return false;
            operand.offset = static_cast<int64_t>(value);
        } else {
            if (!read_register(operand)) return false;
            if (operand.kind == Operand::Kind::Register) {
                const Type type = type_of_register(operand);
                if (!holds_address(type))
                    return fail("needs a 32- or 64-bit integer register for its address");
                if (made.space == StateSpace::Param && made.op != Op::Ld && made.op != Op::PrefetchTensormap)
                    return fail("writes what a call is given, which must be named");
            } else if (!read_symbol(operand)) {
                return false;
            } else if (symbol_of(operand).space != made.space && !is_barrier_by_name(operand)) {
                const Symbol& symbol = symbol_of(operand);
                return fail(fmt::format("goes to another state space than '{}', which is .{}", symbol.name,
                                        name_of(symbol.space)));
            } else if (made.op != Op::Ld && made.op != Op::PrefetchTensormap &&
                       is_kernel_parameter(body, operand.symbol)) {
                return fail("writes a parameter of the kernel, which cannot be written");
            }
            if (!read_offset(operand)) return false;
        }
        operand.kind = Operand::Kind::Address;
        if (!parser.accept(']')) return fail_at(parser.peek(), "']' after its address");
        if (parser.peek().text == ".unified") operand.text = std::string(parser.next().text);
        return true;
    }

    // cvta, isspacep: where an address comes from.
    bool read_pointer(Operand& operand) {
        if (!read_register(operand)) return false;
        if (operand.kind == Operand::Kind::Register) {
            if (made.type != Type::None) return check_register(operand, made.type, false);
            return holds_address(type_of_register(operand)) || fail("needs a 32- or 64-bit integer register");
        }
        if (!read_symbol(operand)) return false;
        operand.kind = Operand::Kind::Symbol;
        return read_offset(operand);
    }

    // mov packs and unpacks 16 to 64 bits from elements of equal size.
    bool read_packed(bool is_destination, Operand& operand) {
        const Token* token = &parser.peek(1);
        size_t count = 1;
        for (size_t ahead = 1; !token->is('}') && !token->is(';') && ahead < 10;
             token = &parser.peek(++ahead))
            count += token->is(',');
        const uint32_t size = size_of(made.type) / static_cast<uint32_t>(count);
        const bool whole = size_of(made.type) < 16 || count == 2;
        if ((count != 2 && count != 4) || !is_bits(made.type) || size < 2 || !whole)
            return fail("needs .b32 or .b128 in two parts or .b64 in two or four");
        return read_vector(bits_of_size(size), count, is_destination, false, true, operand);
    }

    bool read_moved(Operand& operand) {
        const Token& token = parser.peek();
        if (token.is('{')) return read_packed(false, operand);
        if (!read_register(operand)) return false;
        if (operand.kind == Operand::Kind::Register) return check_register(operand, made.type, false);
        if (made.type == Type::B128) return fail_at(token, "a register or two halves in braces");
        if (at_immediate()) {
            if (!read_immediate(made.type, operand)) return false;
            const bool is_integer = !is_float(operand.immediate_type);
            if (immediate_fits(made.type, operand.immediate_type) || (made.type == Type::Pred && is_integer))
                return true;
            return fail(fmt::format("takes .{}, which {} is not", name_of(made.type), Parser::quoted(token)));
        }
        if (is_special()) return read_special(made.type, operand);
        if (!read_symbol(operand)) return false;
        operand.kind = Operand::Kind::Symbol;
        if (is_float(made.type) || size_of(made.type) < 4) return fail("cannot hold an address");
        return read_offset(operand);
    }

    bool read_label(Operand& operand) {
        const Token& token = parser.next();
        if (token.kind != Token::Kind::Word) return fail_at(token, "a label");
        operand.kind = Operand::Kind::Label;
        body.jumps[token.text].push_back(
            {static_cast<uint32_t>(body.kernel.instructions.size()), made.text_line});
        return true;
    }

    // What ld fills or st takes: a vector of `vector` elements; one element may stand in braces, too.
    bool read_data(Type type, bool is_destination, Operand& operand) {
        if (made.vector > 1)
            return read_vector(type, made.vector, is_destination, true, !is_destination, operand);
        const bool braces = parser.accept('{');
        const bool read =
            is_destination ? read_destination(type, true, false, operand) : read_source(type, true, operand);
        return read && (!braces || parser.accept('}') || fail_at(parser.peek(), "'}' behind one element"));
    }

    bool read_letter(char letter, Operand& operand) {
        const Type type = type_of(letter, made);
        const bool updates = made.op == Op::Atom || made.op == Op::Red;
        if (updates && made.vector > 1 && letter != 'a')
            return read_vector(type, made.vector, letter == 'd', false, false, operand);
        switch (letter) {
            case 'd':
            case 'D':
            case 'w':
            case 'e':
            case 'E': return read_destination(type, false, made.op == Op::Elect, operand);
            case 'j': return read_state(operand);
            case 'B': return read_destination(type, true, false, operand);
            case 'p':
            case 'o': return read_destination(type, false, true, operand);
            case 'L': return read_data(type, true, operand);
            case 'M':
                if (parser.peek().is('{')) return read_packed(true, operand);
                return read_destination(type, false, false, operand);
            case 's':
                return type == Type::Pred ? read_plain_predicate(operand) : read_source(type, false, operand);
            case 'V':
            case 'c':
            case 't':
            case 'u':
            case 'P':
            case 'O':
            case 'K':
            case 'v':
            case 'U': return read_source(type, false, operand);
            case 'T':
                if (body.find(parser.peek().text) == nullptr && is_special())
                    return read_special(type, operand);
                return read_source(type, true, operand);
            case 'q':
            case 'Q': return read_predicate(operand);
            case 'i': return read_table(operand);
            case 'l': return read_label(operand);
            case 'S': return read_data(type, false, operand);
            case 'y': return read_moved(operand);
            case 'a': return read_address(operand);
            case 'A': return read_address_in(StateSpace::Global, operand);
            case 'H':
            case 'b': return read_address_in(StateSpace::Shared, operand);
            case 'm': return read_tensor(operand);
            case 'G':
            case 'g': return read_warpgroup_matrix(letter == 'G' ? MatrixRole::D : MatrixRole::A, operand);
            case 'W': return at_immediate() ? read_integer_constant(0, 1, operand) : read_predicate(operand);
            case 'h': return read_integer_constant(-1, 1, operand);
            case 'r':
            case 'R': return read_integer_constant(0, 1, operand);
            case 'I': return read_vector(type, offsets_of(made), false, false, true, operand);
            case 'n': return read_number(operand);
            case 'k': return read_policy_sources(operand);
            case 'F':
            case 'f': return read_fragment(letter == 'F', operand);
            case 'N': return read_copied_bytes(operand);
            default: return read_pointer(operand);  // 'z'
        }
    }

    bool read_address_in(StateSpace space, Operand& operand) {
        const StateSpace own = std::exchange(made.space, space);
        const bool read = read_address(operand);
        made.space = own;
        return read;
    }

    // [map, {x, y}]: the map's address becomes an operand of its own before the coordinates.
    bool read_tensor(Operand& coordinates) {
        const Token& token = parser.peek();
        Operand map;
        if (!parser.accept('[')) return fail_at(token, "a tensor map with coordinates in brackets");
        if (!read_register(map)) return false;
        if (map.kind != Operand::Kind::Register)
            return fail_at(token, "a register with the address of a tensor map");
        if (!check_register(map, Type::B64, false)) return false;
        map.kind = Operand::Kind::Address;
        made.operands.push_back(std::move(map));
        if (!parser.accept(',')) return fail_at(parser.peek(), "',' and coordinates behind the tensor map");
        const bool rows = has_suffix(made, {"tile::gather4", "tile::scatter4"});
        if (!read_vector(Type::S32, rows ? 5 : dimensions_of(made), false, false, true, coordinates))
            return false;
        coordinates.inside = true;
        return parser.accept(']') || fail_at(parser.peek(), "']' behind the coordinates");
    }

    // wgmma: the sums, or A, whose registers stand in braces; an A in shared memory is a descriptor.
    bool read_warpgroup_matrix(MatrixRole role, Operand& operand) {
        const bool sums = role == MatrixRole::D;
        if (!sums && !parser.peek().is('{')) return read_source(Type::B64, false, operand);
        const uint32_t registers = warpgroup_registers(*warpgroup_form(made), role);
        return read_vector(Type::B32, registers, false, false, !sums, operand);
    }

    // Least and most of the two that it may be, or all between.
    bool read_integer_constant(int64_t least, int64_t most, Operand& operand) {
        const Token& token = parser.peek();
        if (!at_immediate() || !read_immediate(Type::S32, operand) || is_float(operand.immediate_type))
            return fail_at(token, "a constant");
        const auto value = static_cast<int64_t>(operand.bits);
        return value == least || value == most ||
               fail(fmt::format("takes {} or {}, which {} is not", least, most, Parser::quoted(token)));
    }

    // mbarrier.arrive: the state of the phase; of another block's barrier there is none.
    bool read_state(Operand& operand) {
        const bool cluster = names_cluster(made);
        if (!read_destination(made.type, false, true, operand)) return false;
        return !cluster || operand.kind == Operand::Kind::Sink ||
               fail("gives no state with .shared::cluster, and needs _ in its place");
    }

    bool read_plain_predicate(Operand& operand) {
        const Token& token = parser.peek();
        if (token.is('!')) return fail_at(token, "a predicate without '!'");
        if (!at_immediate()) return read_predicate(operand);
        // Compilers write `true` as -1 or 1.
        return read_immediate(Type::U32, operand) &&
               (!is_float(operand.immediate_type) || fail_at(token, "a predicate"));
    }

    bool read_fragment(bool is_destination, Operand& operand) {
        const Fragment fragment = fragment_of(made, made.operands.size());
        const Type type = fragment.bytes == 8 ? Type::B64 : Type::B32;
        if (fragment.registers > 1 || parser.peek().is('{'))
            return read_vector(type, fragment.registers, is_destination, false, true, operand);
        return is_destination ? read_destination(type, false, false, operand)
                              : read_source(type, false, operand);
    }

    bool read_number(Operand& operand) {
        return (at_immediate() && read_immediate(Type::U32, operand) && !is_float(operand.immediate_type) &&
                operand.bits <= UINT32_MAX) ||
               fail("needs a whole number as its last operand");
    }

    bool read_copied_bytes(Operand& operand) {
        if (!read_number(operand)) return false;
        const uint64_t bytes = operand.bits;
        if (bytes != 16 && ((bytes != 4 && bytes != 8) || made.suffixes[1] == "cg"))
            return fail("copies 4, 8 or 16 bytes with .ca, and 16 with .cg");
        made.type = Type::B32;
        made.vector = static_cast<uint8_t>(bytes / 4);
        return true;
    }

    // createpolicy: .range has an address and two sizes, .cvt a property, .fractional perhaps a fraction.
    bool read_policy_sources(Operand& last) {
        const auto next = [&] { return parser.accept(',') || fail("needs more operands"); };
        if (has_suffix(made, {"cvt"})) return read_source(Type::B64, false, last);
        if (has_suffix(made, {"fractional"})) return read_fraction(last);
        Operand address, primary;
        if (!read_address(address) || !next() || !read_source(Type::U32, false, primary) || !next())
            return false;
        made.operands.push_back(std::move(address));
        made.operands.push_back(std::move(primary));
        return read_source(Type::U32, false, last);
    }

    // It may be written in decimals.
    bool read_fraction(Operand& operand) {
        const Token& token = parser.peek();
        if (!is_decimal(token)) return read_source(Type::F32, false, operand);
        operand.kind = Operand::Kind::Immediate;
        operand.immediate_type = Type::F32;
        operand.text = std::string(parser.next().text);
        return true;
    }

    bool read_cache_policy() {
        Operand policy;
        if (!parser.accept(',')) return fail("has .L2::cache_hint, and needs a policy as its last operand");
        if (!read_destination(Type::B64, false, false, policy)) return false;
        return made.policy = policy.reg, true;
    }

    bool read_table(Operand& operand) {
        if (!at_immediate() || !read_immediate(Type::U32, operand))
            return fail("needs a constant as its last operand");
        return (operand.bits <= 255 && !is_float(operand.immediate_type)) || fail("needs a table of 8 bits");
    }
};

}  // namespace

bool read_operands(Parser& parser, Body& body, const OpRule& rule, Instruction& made) {
    OperandReader reader{parser, body, made};
    const bool hinted = has_suffix(made, {"L2::cache_hint"});
    for (const char* letter = rule.operands; *letter != '\0'; ++letter) {
        if (!has_operand(made, *letter)) continue;
        if (*letter == 'U' && parser.peek().is(';') && made.mode != Mode::Arrive &&
            !has_suffix(made, {"noComplete"}))
            continue;
        // A mask of bytes stands behind the policy.
        if (*letter == 'K' && hinted && has_suffix(made, {"cp_mask"}) && !reader.read_cache_policy())
            return false;
        if (*letter == 'U' && hinted && parser.peek(2).is(';')) continue;
        if (*letter == 'k' && parser.peek().is(';') && has_suffix(made, {"fractional"})) continue;
        if (letter != rule.operands && !parser.accept(','))
            return reader.fail(fmt::format("has {} operands and needs more", made.operands.size()));
        Operand operand;
        if (!reader.read_letter(*letter, operand)) return false;
        made.operands.push_back(std::move(operand));
        if (is_destination(*letter)) ++made.destinations;
        if ((*letter == 'p' || *letter == 'e' || *letter == 'E') && parser.accept('|')) {
            if (made.op == Op::Setp && (made.type == Type::F16 || made.type == Type::BF16))
                return reader.fail("gives one predicate with its type");
            Operand second;
            if (!reader.read_destination(Type::Pred, false, true, second)) return false;
            made.operands.push_back(std::move(second));
            ++made.destinations;
        }
    }
    if (hinted && made.policy < 0 && !reader.read_cache_policy()) return false;
    if (parser.accept(';')) return true;
    return reader.fail_at(parser.peek(), made.operands.empty() ? "';'" : "';' after its last operand");
}

}  // namespace tilescope::ptx
