// Addresses in initialisers: .global .u64 names[2] = {generic(text), table+8};
//
// Of a function no address is kept: a call through a pointer is not run, so its value is 0.
//
// Source: PTX ISA, "Initializers": generic() and the mask() operator.
#include <bit>

#include "core/ptx/parse.h"
#include "core/ptx/parser.h"

namespace tilescope::ptx {

bool at_relocation(const Parser& parser) {
    const Token& token = parser.peek();
    if (token.kind == Token::Kind::Number) return parser.peek(1).is('(');
    return token.kind == Token::Kind::Word && token.text != "WARP_SZ";
}

bool read_relocation(Parser& parser, Symbol& symbol, uint64_t offset) {
    const uint32_t line = parser.peek().line;
    Relocation made;
    made.offset = offset;
    const bool masked = parser.peek().kind == Token::Kind::Number;
    if (masked) {
        Integer mask;
        if (!read_integer(parser, mask, "a mask")) return false;
        made.shift = static_cast<uint8_t>(mask.bits == 0 ? 1 : std::countr_zero(mask.bits));
        if (mask.bits >> made.shift != 0xFF || made.shift % 8 != 0)
            return parser.fail(line, "{} masks no byte of an address; write 0xFF, 0xFF00, ...", mask.text);
        parser.next();  // '('
    }
    if (size_of(symbol.type) != (masked ? 1u : 8u) || is_float(symbol.type)) {
        return parser.fail(line, "an element of '{}' holds no address; declare it .u64 (or .u8 with a mask)",
                           symbol.name);
    }
    made.generic = parser.peek().text == "generic" && parser.peek(1).is('(');
    if (made.generic) parser.next(), parser.next();
    const Token& name = parser.next();
    const auto found = parser.variables.find(name.text);
    const bool is_function = found == parser.variables.end() && parser.functions.contains(name.text);
    if (found == parser.variables.end() && !is_function) {
        return parser.fail(line,
                           "the initial value of '{}' names {}, which is no variable above it; declare it",
                           symbol.name, Parser::quoted(name));
    }
    if (made.generic && !parser.expect(')', "after generic")) return false;
    if (parser.peek().is('+') || parser.peek().is('-')) {
        if (parser.peek().is('+') && parser.peek(1).is('-')) parser.next();
        Integer addend;
        if (!read_integer(parser, addend, "what is added to an address")) return false;
        made.addend = static_cast<int64_t>(addend.bits);
    }
    if (masked && !parser.expect(')', "after a mask")) return false;
    if (is_function) return true;
    if (++parser.relocations_read > kMaxRelocations)
        return parser.fail(line, "initial values hold more than {} addresses; split the module",
                           kMaxRelocations);
    made.variable = found->second;
    symbol.relocations.push_back(made);
    return true;
}

std::vector<uint8_t> initial_bytes(const Symbol& variable,
                                   const std::function<uint64_t(const Relocation&)>& address_of) {
    std::vector<uint8_t> bytes = variable.initial;
    const size_t size = size_of(variable.type);
    for (const Relocation& to : variable.relocations) {
        const uint64_t address = (address_of(to) + static_cast<uint64_t>(to.addend)) >> to.shift;
        for (size_t b = 0; b < size; ++b) bytes[to.offset + b] = static_cast<uint8_t>(address >> (8 * b));
    }
    return bytes;
}

}  // namespace tilescope::ptx
