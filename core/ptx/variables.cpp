// .reg declarations and variables.
//
//   .reg .b32 %r<12>, %x;
//   .shared .align 4 .b8 _ZZ5tiledE3Mds[1024];
//   .global .f32 table[2][3] = {{1.0, ...}};      (the dimensions become one count)
//
// Source: PTX ISA, "Variables": "Array Declarations", "Initializers", "Parameterized Variable Names".
#include <algorithm>
#include <charconv>

#include "core/ptx/names.h"
#include "core/ptx/parser.h"

namespace tilescope::ptx {

bool read_float_bits(std::string_view text, Type& type, uint64_t& bits) {
    if (text.size() < 3 || text[0] != '0') return false;
    const char form = text[1];
    const bool is_single = form == 'f' || form == 'F';
    if (!is_single && form != 'd' && form != 'D') return false;
    if (text.size() != (is_single ? 10u : 18u)) return false;
    const auto [end, failed] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    type = is_single ? Type::F32 : Type::F64;
    return failed == std::errc{} && end == text.data() + text.size();
}

bool read_integer(Parser& parser, Integer& integer, std::string_view what) {
    const Token& first = parser.peek();
    const bool negative = parser.accept('-');
    if (!negative) parser.accept('+');
    const Token& token = parser.next();
    if (token.kind == Token::Kind::Word && token.text == "WARP_SZ" && !negative) {
        integer = {32, false, "WARP_SZ"};
        return true;
    }
    std::string_view digits = token.text;
    if (token.kind == Token::Kind::Number) {
        const bool is_unsigned = digits.back() == 'U';
        if (is_unsigned) digits.remove_suffix(1);
        int base = 10;
        if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
            base = 16, digits.remove_prefix(2);
        else if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B'))
            base = 2, digits.remove_prefix(2);
        else if (digits.size() > 1 && digits[0] == '0')
            base = 8, digits.remove_prefix(1);
        uint64_t value = 0;
        const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
        if (failed == std::errc{} && end == digits.data() + digits.size() &&
            !(negative && value > uint64_t{1} << 63)) {
            integer.bits = negative ? uint64_t{0} - value : value;
            integer.is_unsigned = is_unsigned || (!negative && value >> 63 != 0);
            integer.text = (negative ? "-" : "") + std::string(token.text);
            return true;
        }
    }
    return parser.fail(first.line, "{} must be an integer of at most 64 bits, not {}; write one", what,
                       Parser::quoted(token));
}

bool read_count(Parser& parser, uint64_t least, uint64_t most, uint64_t& value, std::string_view what) {
    const uint32_t line = parser.peek().line;
    Integer integer;
    if (!read_integer(parser, integer, what)) return false;
    value = integer.bits;
    if (integer.text[0] == '-' || value < least || value > most) {
        return parser.fail(line, "{} is {} and must lie between {} and {}; change it", what, integer.text,
                           least, most);
    }
    return true;
}

// Source: PTX ISA, "Fundamental Types", "Packed Data Types".
bool can_be_register(Type type) {
    return lies_in_memory(type) || type == Type::Pred || type == Type::F16X2 || type == Type::B128;
}

bool read_registers(Parser& parser, Body& body) {
    const uint32_t line = parser.next().line;
    const size_t elements = parser.accept(".v2") ? 2 : parser.accept(".v4") ? 4 : 1;
    const Token& token = parser.next();
    const auto type = token.kind == Token::Kind::Dot ? find_type(token.text.substr(1)) : std::nullopt;
    if (!type || !can_be_register(*type)) {
        return parser.fail(line,
                           ".reg has no type that a register can have, but {}; declare scalar registers, "
                           "or vectors of them with .v2 or .v4",
                           Parser::quoted(token));
    }
    auto& registers = body.kernel.registers;
    // The elements of a vector are registers of their own, and found by the names that they are used with.
    const auto add_one = [&](std::string_view name, std::string_view printed) {
        if (++parser.read.registers > kMaxRegisters || ++parser.registers_read > kMaxRegistersRead)
            return parser.fail(line, "the module declares more than {} registers; split it", kMaxRegisters);
        Register made{"", *type};
        const auto index = static_cast<int32_t>(registers.size());
        if (!declare(parser, body, name, Name::Kind::Register, index, line, made.name)) return false;
        if (printed != name) made.name = fresh_name(parser, body, printed);
        registers.push_back(std::move(made));
        return true;
    };
    const auto add = [&](std::string_view name) {
        if (elements == 1) return add_one(name, name);
        for (const char part : kVectorElements.substr(0, elements))
            if (!add_one(fmt::format("{}.{}", name, part), fmt::format("{}_{}", name, part))) return false;
        return true;
    };
    do {
        const Token& name = parser.next();
        if (name.kind != Token::Kind::Word || name.text == "_")
            return parser.fail(line, ".reg needs the name of a register, not {}", Parser::quoted(name));
        if (parser.accept('<')) {
            uint64_t count = 0;
            if (!read_count(parser, 1, kMaxRegisters, count, "the number of registers")) return false;
            if (!parser.expect('>', "after the number of registers")) return false;
            for (uint64_t i = 0; i < count; ++i)
                if (!add(fmt::format("{}{}", name.text, i))) return false;
        } else if (!add(name.text)) {
            return false;
        }
    } while (parser.accept(','));
    return parser.expect(';', "after a register declaration");
}

bool at_variable(const Token& token) {
    return token.text == ".shared" || token.text == ".global" || token.text == ".local" ||
           token.text == ".const" || token.text == ".param";
}

namespace {

bool read_element(Parser& parser, Symbol& symbol, std::vector<uint8_t>& out) {
    const Token& token = parser.peek();
    if (at_relocation(parser)) {
        if (!read_relocation(parser, symbol, out.size())) return false;
        out.resize(out.size() + size_of(symbol.type));
        return true;
    }
    uint64_t bits = 0;
    Type type = Type::None;
    if (read_float_bits(token.text, type, bits)) {
        if (size_of(type) != size_of(symbol.type)) {
            return parser.fail(token.line,
                               "{} is no value for an element of type .{} of '{}'; write one of its size",
                               Parser::quoted(token), name_of(symbol.type), symbol.name);
        }
        parser.next();
    } else if (is_float(symbol.type)) {
        return parser.fail(token.line, "{} is no value for an element of '{}'; write floats as 0f3F800000",
                           Parser::quoted(token), symbol.name);
    } else {
        Integer integer;
        if (!read_integer(parser, integer, fmt::format("an element of '{}'", symbol.name))) return false;
        bits = integer.bits;
    }
    for (uint32_t i = 0; i < size_of(symbol.type); ++i) out.push_back(static_cast<uint8_t>(bits >> (8 * i)));
    return true;
}

// {a, b, ...}, or {{...}, {...}} with one more level for each dimension; a short list is filled
// with zeros up to the size of its dimension.
bool read_list(Parser& parser, Symbol& symbol, const std::vector<uint64_t>& dims, size_t depth,
               std::vector<uint8_t>& out) {
    if (depth == dims.size()) return read_element(parser, symbol, out);
    uint64_t stride = size_of(symbol.type);
    for (size_t i = depth + 1; i < dims.size(); ++i) stride *= dims[i];
    const size_t start = out.size();
    const uint32_t line = parser.peek().line;
    if (!parser.expect('{', "before a list of values")) return false;
    for (uint64_t i = 0; !parser.peek().is('}'); ++i) {
        if (i == dims[depth])
            return parser.fail(line, "'{}' has more values than elements; shorten the list", symbol.name);
        if (parser.initialised_read + start + i * stride > kMaxInitialisedBytes) {
            return parser.fail(line, "the initial values up to '{}' have more than {} bytes; make it smaller",
                               symbol.name, kMaxInitialisedBytes);
        }
        out.resize(start + i * stride);
        if (!read_list(parser, symbol, dims, depth + 1, out)) return false;
        if (!parser.accept(',')) break;
    }
    return parser.expect('}', "after a list of values");
}

bool read_alignment(Parser& parser, Symbol& symbol) {
    const uint32_t line = parser.next().line;
    uint64_t alignment = 0;
    if (!read_count(parser, 1, 1 << 20, alignment, ".align")) return false;
    if ((alignment & (alignment - 1)) != 0)
        return parser.fail(line, ".align is {} and must be a power of two; change it", alignment);
    symbol.alignment = static_cast<uint32_t>(alignment);
    return true;
}

// .ptr{.space}{.align n} of a kernel parameter: a promise about where it points.
bool read_pointer_attributes(Parser& parser, Symbol& symbol) {
    const Token& first = parser.next();
    if (at_variable(parser.peek())) parser.next();
    if (parser.accept(".align")) {
        uint64_t ignored = 0;
        if (!read_count(parser, 1, 1 << 20, ignored, ".align")) return false;
    }
    symbol.attributes = std::string(parser.through(first));
    return true;
}

}  // namespace

bool read_variable(Parser& parser, Symbol& symbol) {
    const Token& space = parser.next();
    const uint32_t line = space.line;
    if (++parser.read.variables > kMaxVariables)
        return parser.fail(line, "the module declares more than {} variables; split it", kMaxVariables);
    symbol.space = *find_space(space.text.substr(1));
    symbol.is_extern = symbol.linkage == ".extern";
    const bool is_parameter = symbol.space == StateSpace::Param;
    while (parser.peek().kind == Token::Kind::Dot) {
        const Token& token = parser.peek();
        const auto type = find_type(token.text.substr(1));
        if (token.text == ".align") {
            if (!read_alignment(parser, symbol)) return false;
        } else if (token.text == ".ptr" && is_parameter && symbol.type != Type::None) {
            if (!read_pointer_attributes(parser, symbol)) return false;
        } else if (type && lies_in_memory(*type) && symbol.type == Type::None) {
            symbol.type = *type;
            parser.next();
        } else {
            return parser.fail(
                line, "a {} variable with {} is not known to Tilescope; declare a scalar or an array",
                space.text, Parser::quoted(token));
        }
    }
    const Token& name = parser.next();
    if (name.kind != Token::Kind::Word || name.text == "_" || symbol.type == Type::None) {
        return parser.fail(line, "a {} variable needs a type and a name before {}", space.text,
                           Parser::quoted(name));
    }
    symbol.name = std::string(name.text);

    std::vector<uint64_t> dims;
    const uint64_t size = size_of(symbol.type);
    while (parser.accept('[')) {
        uint64_t dim = 0;  // []: as long as the initialiser, or unknown
        symbol.is_array = true;
        if (parser.peek().is(']')) {
            if (!dims.empty()) {
                return parser.fail(line, "only the first dimension of '{}' may be left open; give the others",
                                   symbol.name);
            }
        } else if (!read_count(parser, 1, kMaxVariableBytes, dim,
                               fmt::format("a dimension of '{}'", symbol.name))) {
            return false;
        }
        if (!parser.expect(']', "after a dimension")) return false;
        if (dims.size() == kMaxDimensions) {
            return parser.fail(line, "'{}' has more than {} dimensions; declare it with fewer", symbol.name,
                               kMaxDimensions);
        }
        dims.push_back(dim);
        symbol.count *= dim;
        if (symbol.count * size > kMaxVariableBytes) {
            return parser.fail(line, "'{}' is larger than {} bytes; make it smaller", symbol.name,
                               kMaxVariableBytes);
        }
    }
    if (is_parameter) {
        if (symbol.is_array && symbol.count == 0)
            return parser.fail(line, "parameter '{}' has no size; give one", symbol.name);
        return true;
    }
    if (parser.accept('=')) {
        if ((symbol.space != StateSpace::Global && symbol.space != StateSpace::Const) || symbol.is_extern) {
            return parser.fail(line, "'{}' cannot have an initial value in {}; remove it", symbol.name,
                               space.text);
        }
        const bool is_open = !dims.empty() && dims[0] == 0;
        if (is_open) dims[0] = kMaxInitialisedBytes;
        uint64_t row = size;
        for (size_t i = 1; i < dims.size(); ++i) row = std::min(row * dims[i], kMaxVariableBytes);
        if ((is_open ? row : symbol.bytes()) > kMaxInitialisedBytes) {
            return parser.fail(line, "'{}' has an initial value and more than {} bytes; make it smaller",
                               symbol.name, kMaxInitialisedBytes);
        }
        const bool whole = read_list(parser, symbol, dims, 0, symbol.initial);
        parser.initialised_read += symbol.initial.size();
        if (!whole) return false;
        if (is_open) symbol.count = (symbol.initial.size() + row - 1) / row * (row / size);
    } else if (symbol.is_array && symbol.count == 0 && !symbol.is_extern) {
        return parser.fail(line, "'{}' has no size; give one, or declare it .extern", symbol.name);
    }
    return parser.expect(';', "after a variable");
}

}  // namespace tilescope::ptx
