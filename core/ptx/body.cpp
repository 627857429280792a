// A kernel's body: nested scopes, labels, .loc and .pragma, and the frame of an instruction:
//
//   @!%p4 bra LBB0_4;      guard, mnemonic and suffixes, operands
//
// Source: PTX ISA, "Instruction Statements", "Predicated Execution", "Debugging Directives: .loc",
// "Performance-Tuning Directives: .pragma".
#include "core/ptx/parser.h"

namespace tilescope::ptx {

const Name* Body::find(std::string_view name) const {
    const std::string key(name);
    for (size_t i = scopes.size(); i-- > 0;) {
        const auto found = scopes[i].names.find(key);
        if (found != scopes[i].names.end()) return &found->second;
        if (scopes[i].is_function) break;
    }
    return nullptr;
}

std::string fresh_name(Parser& parser, Body& body, std::string_view name, bool is_parameter) {
    const bool hides = !is_parameter && parser.variables.contains(name);
    std::string unique(name);
    while (!body.used.try_emplace(unique, 0).second || (hides && unique == name))
        unique = fmt::format("{}_{}", name, ++body.used[std::string(name)]);
    return unique;
}

bool declare(Parser& parser, Body& body, std::string_view name, Name::Kind kind, int32_t index, uint32_t line,
             std::string& unique) {
    const auto [entry, is_new] = body.scopes.back().names.try_emplace(std::string(name), Name{kind, index});
    if (!is_new)
        return parser.fail(line, "'{}' is declared twice in one scope; rename one", name.substr(0, 60));
    unique = fresh_name(parser, body, name, kind == Name::Kind::Symbol && body.scopes.size() == 1);
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

// A .loc that another one follows before any instruction is kept as a note: an inlined_at may refer to it.
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
    // Code of another file than the call's, as of a function in a header, stands at the call.
    if (!body.inlinings.empty()) {
        const SourceLocation& call = body.inlinings.back().call;
        if (call.line != 0 && (call.inlined != 0 || call.file != body.source.file)) {
            body.source = call;
            body.unused_loc.clear();
        }
    }
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
    const size_t place = parser.at;
    Symbol symbol;
    if (!read_variable(parser, symbol)) return false;
    if (symbol.space == StateSpace::Param && !parser.expect(';', "after a variable")) return false;
    // A static variable of a function is one, however often the function is inlined.
    const bool is_static =
        !body.inlinings.empty() && symbol.space != StateSpace::Param && symbol.space != StateSpace::Local;
    if (const auto known = is_static ? body.statics.find(place) : body.statics.end();
        known != body.statics.end()) {
        body.scopes.back().names.try_emplace(symbol.name, Name{Name::Kind::Symbol, known->second});
        return true;
    }
    if (is_static) body.statics.emplace(place, static_cast<int32_t>(body.kernel.symbols.size()));
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
    if (mnemonic.text == "brx") return read_indexed_branch(parser, body, made);
    size_t in_name = 0;
    const OpRule* rule = find_rule(made, in_name);
    if (++parser.read.instructions > kMaxInstructions) {
        return parser.fail(mnemonic.line, "the module has more than {} instructions; split it",
                           kMaxInstructions);
    }
    bool news = rule == nullptr;
    if (rule == nullptr) {
        const std::string_view what = not_read(made.mnemonic);
        parser.fail(mnemonic.line,
                    "instruction '{}' is not known to Tilescope{}{}; build the kernel without it",
                    full_name(made), what.empty() ? "" : ", which does not read ", what);
    } else {
        made.op = rule->op;
        read_suffixes(parser, *rule, in_name, made, news);
    }
    if (!parser.message.empty()) {
        if (!news || !read_opaque(parser, body, rule, made)) return false;
        body.kernel.instructions.push_back(std::move(made));
        body.unused_loc.clear();
        return true;
    }
    if (made.op == Op::Call) return read_call(parser, body, made);
    if (made.op == Op::Ret && !body.inlinings.empty()) return read_return(parser, body, made);
    if (!read_operands(parser, body, rule_of(made.op), made)) return false;
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
bool add_module_symbols(Parser& parser, Body& body) {
    auto& symbols = body.kernel.symbols;
    const auto first = static_cast<int32_t>(symbols.size());
    // Variables that initial values name, too.
    for (size_t i = 0; i < body.module_symbols.size(); ++i) {
        for (const Relocation& to :
             parser.module.variables[static_cast<size_t>(body.module_symbols[i])].relocations) {
            const bool is_new =
                body.module_symbol.try_emplace(to.variable, static_cast<int32_t>(body.module_symbols.size()))
                    .second;
            if (is_new) body.module_symbols.push_back(to.variable);
        }
    }
    parser.variables_reached += body.module_symbols.size();
    if (parser.variables_reached > kMaxReached)
        return parser.fail(parser.peek().line, "the kernels name more than {} variables; split the module",
                           kMaxReached);
    for (const int32_t index : body.module_symbols) {
        symbols.push_back(parser.module.variables[static_cast<size_t>(index)]);
        symbols.back().module_variable = index;
        symbols.back().initial.clear();  // may be large, and stands in the module
        symbols.back().relocations.clear();
    }
    for (Instruction& instruction : body.kernel.instructions) {
        for (Operand& operand : instruction.operands)
            if (operand.symbol <= kModuleSymbol) operand.symbol = first + (kModuleSymbol - operand.symbol);
    }
    return true;
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
    const bool named = token.kind == Token::Kind::Word && parser.peek(1).is(':');
    if (named && (parser.peek(2).text == ".branchtargets" || parser.peek(2).text == ".callprototype")) {
        if (parser.peek(2).text == ".branchtargets") body.branch_targets[token.text] = parser.at + 3;
        while (!parser.peek().is(';') && parser.peek().kind != Token::Kind::End) parser.next();
        return parser.expect(';', "after a list of targets");
    }
    if (named) return read_label(parser, body);
    return read_instruction(parser, body);
}

}  // namespace

bool read_scopes(Parser& parser, Body& body, std::string_view whose) {
    const uint32_t start = parser.peek().line;
    if (!parser.expect('{', fmt::format("before a {}'s body", whose))) return false;
    const size_t floor = body.scopes.size();
    const auto open = [&] {
        body.scopes.push_back({{}, static_cast<uint32_t>(body.kernel.instructions.size()), false});
    };
    open();
    while (body.scopes.size() > floor) {
        const Token& token = parser.peek();
        if (token.kind == Token::Kind::End)
            return parser.fail(start, "the body that starts here does not end; close it with '}}'");
        if (parser.accept('{')) {
            if (body.scopes.size() - floor >= kMaxDepth) {
                return parser.fail(token.line, "scopes are nested more than {} deep; flatten them",
                                   kMaxDepth);
            }
            open();
        } else if (parser.accept('}')) {
            if (!close_scope(parser, body)) return false;
        } else if (!parser.accept(';') && !read_statement(parser, body)) {
            return false;
        }
    }
    return check_jumps(parser, body);
}

bool read_body(Parser& parser, Body& body) {
    if (!read_scopes(parser, body, "kernel") || !settle_call_values(parser, body)) return false;
    return add_module_symbols(parser, body);
}

}  // namespace tilescope::ptx
