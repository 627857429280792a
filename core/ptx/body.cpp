// A kernel's body: nested scopes, labels, .loc and .pragma, and the frame of an instruction:
//
//   @!%p4 bra LBB0_4;      guard, mnemonic and suffixes, operands
//
// Source: PTX ISA, "Instruction Statements", "Predicated Execution", "Debugging Directives: .loc",
// "Performance-Tuning Directives: .pragma".
#include "core/ptx/names.h"
#include "core/ptx/parser.h"

namespace tilescope::ptx {

const Name* Body::find(std::string_view name) const {
    const std::string key(name);
    for (size_t i = scopes.size(); i-- > 0;) {
        const auto found = scopes[i].names.find(key);
        if (found != scopes[i].names.end()) return &found->second;
    }
    return nullptr;
}

bool declare(Parser& parser, Body& body, std::string_view name, Name::Kind kind, int32_t index, uint32_t line,
             std::string& unique) {
    const auto [entry, is_new] = body.scopes.back().names.try_emplace(std::string(name), Name{kind, index});
    if (!is_new)
        return parser.fail(line, "'{}' is declared twice in one scope; rename one", name.substr(0, 60));
    const bool is_parameter = kind == Name::Kind::Symbol && body.scopes.size() == 1;
    const bool hides = !is_parameter && parser.variables.contains(name);
    unique = std::string(name);
    while (!body.used.try_emplace(unique, 0).second || (hides && unique == name))
        unique = fmt::format("{}_{}", name, ++body.used[std::string(name)]);
    return true;
}

namespace {

// Keeps a line of text before the next instruction, on its side of the labels that stand there.
void add_note(Body& body, std::string text) {
    const auto& labels = body.kernel.labels;
    const auto here = static_cast<int32_t>(body.kernel.instructions.size());
    const bool after_label = !labels.empty() && labels.back().instruction == here;
    body.kernel.notes.push_back({static_cast<uint32_t>(here), !after_label, std::move(text)});
}

// , function_name LABEL{+n}, inlined_at FILE LINE COLUMN
bool read_inlined(Parser& parser, Body& body) {
    const Token& first = parser.peek();
    const auto bad = [&] {
        return parser.fail(first.line,
                           ".loc is followed by {}, which is not known to Tilescope; write function_name and "
                           "inlined_at",
                           Parser::quoted(parser.peek()));
    };
    if (!parser.accept("function_name") || parser.next().kind != Token::Kind::Word) return bad();
    if (parser.accept('+') && parser.next().kind != Token::Kind::Number) return bad();
    if (!parser.accept(',') || !parser.accept("inlined_at")) return bad();
    for (int i = 0; i < 3; ++i) {
        if (parser.peek().kind != Token::Kind::Number) return bad();
        parser.next();
    }
    const std::string_view text = parser.through(first);
    auto& known = body.kernel.inlined;
    const auto [entry, is_new] = body.inlined.try_emplace(text, static_cast<uint32_t>(known.size()));
    if (is_new) known.emplace_back(text);
    body.source.inlined = entry->second + 1;
    return true;
}

// A .loc that another one follows before any instruction is kept as a note: an inlined_at may refer
// to it.
bool read_loc(Parser& parser, Body& body) {
    const Token& first = parser.next();
    if (!body.unused_loc.empty()) add_note(body, std::move(body.unused_loc));
    uint64_t file = 0, line = 0, column = 0;
    if (!read_count(parser, 0, UINT32_MAX, file, "the file of .loc") ||
        !read_count(parser, 0, UINT32_MAX, line, "the line of .loc") ||
        !read_count(parser, 0, UINT32_MAX, column, "the column of .loc"))
        return false;
    body.source = {static_cast<uint32_t>(file), static_cast<uint32_t>(line), static_cast<uint32_t>(column)};
    if (parser.accept(',') && !read_inlined(parser, body)) return false;
    body.unused_loc = std::string(parser.through(first));
    return true;
}

bool read_pragma(Parser& parser, Body& body) {
    const Token& first = parser.next();
    do {
        if (parser.next().kind != Token::Kind::String)
            return parser.fail(first.line, ".pragma needs a string in quotes; write one");
    } while (parser.accept(','));
    if (!parser.expect(';', "after .pragma")) return false;
    add_note(body, std::string(parser.through(first)));
    return true;
}

bool read_label(Parser& parser, Body& body) {
    const Token& name = parser.next();
    parser.next();  // ':'
    Label label{"", static_cast<int32_t>(body.kernel.instructions.size())};
    const auto index = static_cast<int32_t>(body.kernel.labels.size());
    if (!declare(parser, body, name.text, Name::Kind::Label, index, name.line, label.name)) return false;
    body.kernel.labels.push_back(std::move(label));
    return true;
}

bool read_own_variable(Parser& parser, Body& body) {
    const Token& first = parser.peek();
    if (first.text == ".param") {
        return parser.fail(first.line,
                           "a .param variable in a body is for calls, which Tilescope does not run; build "
                           "the kernel with its functions inlined");
    }
    Symbol symbol;
    if (!read_variable(parser, symbol)) return false;
    const auto index = static_cast<int32_t>(body.kernel.symbols.size());
    std::string unique;
    if (!declare(parser, body, symbol.name, Name::Kind::Symbol, index, first.line, unique)) return false;
    symbol.name = std::move(unique);
    body.kernel.symbols.push_back(std::move(symbol));
    return true;
}

bool read_guard(Parser& parser, Body& body, Instruction& made) {
    made.guard_negated = parser.accept('!');
    const Token& token = parser.next();
    const Name* name = body.find(token.text);
    if (name == nullptr || name->kind != Name::Kind::Register ||
        body.kernel.registers[static_cast<size_t>(name->index)].type != Type::Pred) {
        return parser.fail(token.line,
                           "the guard {} is no predicate register that is declared here; declare it .pred",
                           Parser::quoted(token));
    }
    made.guard = name->index;
    return true;
}

bool read_instruction(Parser& parser, Body& body) {
    Instruction made;
    made.source = body.source;
    if (parser.accept('@') && !read_guard(parser, body, made)) return false;
    const Token& mnemonic = parser.next();
    made.text_line = mnemonic.line;
    if (mnemonic.kind != Token::Kind::Word) {
        return parser.fail(mnemonic.line,
                           "an instruction should stand where {} does; the text is damaged there",
                           Parser::quoted(mnemonic));
    }
    made.mnemonic = std::string(mnemonic.text.substr(0, 60));
    while (parser.peek().kind == Token::Kind::Dot) made.suffixes.emplace_back(parser.next().text.substr(1));
    const OpRule* rule = find_rule(mnemonic.text);
    if (mnemonic.text == "call") {
        return parser.fail(
            mnemonic.line,
            "a function that stays out of line is called, and Tilescope runs no calls; build the "
            "kernel with its functions inlined");
    }
    if (rule == nullptr) {
        return parser.fail(mnemonic.line,
                           "instruction '{}' is not known to Tilescope; it reads plain loads, stores, "
                           "arithmetic, branches and barriers, so build the kernel without it",
                           full_name(made));
    }
    if (mnemonic.text == "bar" && !made.suffixes.empty() && made.suffixes[0] == "warp")
        rule = &rule_of(Op::BarWarp);
    made.op = rule->op;
    if (++parser.read.instructions > kMaxInstructions) {
        return parser.fail(mnemonic.line, "the module has more than {} instructions; split it",
                           kMaxInstructions);
    }
    if (!read_suffixes(parser, *rule, made) || !read_operands(parser, body, *rule, made)) return false;
    body.kernel.instructions.push_back(std::move(made));
    body.unused_loc.clear();
    return true;
}

bool no_label(Parser& parser, const Body& body, const Jump& jump, std::string_view label) {
    return parser.fail(jump.line,
                       "instruction '{}' goes to '{}', which is no label of this kernel; add the label",
                       full_name(body.kernel.instructions[jump.instruction]), label.substr(0, 60));
}

// Jumps to labels of the scope that ends are settled; the others are left to the scope around it.
bool close_scope(Parser& parser, Body& body) {
    const Scope scope = std::move(body.scopes.back());
    body.scopes.pop_back();
    for (const auto& [text, name] : scope.names) {
        const auto waiting = body.jumps.find(text);
        if (waiting == body.jumps.end()) continue;
        std::vector<Jump>& jumps = waiting->second;
        for (; !jumps.empty() && jumps.back().instruction >= scope.first; jumps.pop_back()) {
            if (name.kind != Name::Kind::Label) return no_label(parser, body, jumps.back(), text);
            body.kernel.instructions[jumps.back().instruction].operands[0].label = name.index;
        }
    }
    return true;
}

// No jump is left.
bool check_jumps(Parser& parser, const Body& body) {
    const Jump* first = nullptr;
    std::string_view label;
    for (const auto& [text, jumps] : body.jumps)
        if (!jumps.empty() && (!first || jumps.front().instruction < first->instruction))
            first = &jumps.front(), label = text;
    return !first || no_label(parser, body, *first, label);
}

// Module variables that the kernel names follow its own symbols.
void add_module_symbols(const Parser& parser, Body& body) {
    auto& symbols = body.kernel.symbols;
    const auto first = static_cast<int32_t>(symbols.size());
    for (const int32_t index : body.module_symbols) {
        symbols.push_back(parser.module.variables[static_cast<size_t>(index)]);
        symbols.back().module_variable = index;
        symbols.back().initial.clear();  // may be large, and stands in the module
    }
    for (Instruction& instruction : body.kernel.instructions) {
        for (Operand& operand : instruction.operands)
            if (operand.symbol <= kModuleSymbol) operand.symbol = first + (kModuleSymbol - operand.symbol);
    }
}

bool read_statement(Parser& parser, Body& body) {
    const Token& token = parser.peek();
    if (token.text == ".loc") return read_loc(parser, body);
    if (token.text == ".reg") return read_registers(parser, body);
    if (token.text == ".pragma") return read_pragma(parser, body);
    if (at_variable(token)) return read_own_variable(parser, body);
    if (token.kind == Token::Kind::Dot) {
        return parser.fail(token.line,
                           "directive '{}' is not known to Tilescope in a kernel; build the kernel without "
                           "it",
                           token.text.substr(0, 60));
    }
    if (token.kind == Token::Kind::Word && parser.peek(1).is(':')) return read_label(parser, body);
    return read_instruction(parser, body);
}

}  // namespace

bool read_body(Parser& parser, Body& body) {
    const uint32_t start = parser.peek().line;
    if (!parser.expect('{', "before a kernel's body")) return false;
    body.scopes.emplace_back();
    while (body.scopes.size() > 1) {
        const Token& token = parser.peek();
        if (token.kind == Token::Kind::End)
            return parser.fail(start, "the body that starts here does not end; close it with '}}'");
        if (parser.accept('{')) {
            if (body.scopes.size() > kMaxDepth) {
                return parser.fail(token.line, "scopes are nested more than {} deep; flatten them",
                                   kMaxDepth);
            }
            body.scopes.push_back({{}, static_cast<uint32_t>(body.kernel.instructions.size())});
        } else if (parser.accept('}')) {
            if (!close_scope(parser, body)) return false;
        } else if (!parser.accept(';') && !read_statement(parser, body)) {
            return false;
        }
    }
    if (!check_jumps(parser, body)) return false;
    add_module_symbols(parser, body);
    return true;
}

}  // namespace tilescope::ptx
