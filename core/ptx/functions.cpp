// .func and calls: these are inlined as they are read, so that a kernel is one body without calls.
//
//   call.uni (retval0), scale, (param0);     the tokens of scale's body are read here, as a scope in which
//                                            its parameters are the names of retval0 and param0
//     ret;                                   becomes a branch to a label behind the body
//
// What each copy declares is renamed as the names of any inner scope are. A function that has no body, as
// vprintf, stays a call, and its declaration is kept.
//
//   brx.idx %r1, targets;                    becomes a comparison and a branch for each target
//
// Source: PTX ISA, "Function Declarations and Definitions", "call", "ret", "brx.idx", ".branchtargets",
// ".alias".
#include <set>

#include "core/base/demangle.h"
#include "core/ptx/parser.h"

namespace tilescope::ptx {
namespace {

bool is_name(const Token& token) { return token.kind == Token::Kind::Word && token.text != "_"; }

// From a '(' to after its ')'; the same place where no '(' stands.
size_t after_list(const Parser& parser, size_t at) {
    if (!parser.tokens[at].is('(')) return at;
    const auto ends = [](const Token& token) {
        return token.is(')') || token.is(';') || token.is('{') || token.is('}') ||
               token.kind == Token::Kind::End;
    };
    while (!ends(parser.tokens[at])) ++at;
    return parser.tokens[at].is(')') ? at + 1 : at;
}

// From a '{' to after its '}', or to the end of the text.
size_t after_body(const Parser& parser, size_t at) {
    for (size_t depth = 0; parser.tokens[at].kind != Token::Kind::End; ++at) {
        if (parser.tokens[at].is('{')) ++depth;
        if (parser.tokens[at].is('}') && --depth == 0) return at + 1;
    }
    return at;
}

// At ".func": notes the function and gives the place after it.
size_t find_function(Parser& parser, size_t at) {
    const auto& tokens = parser.tokens;
    const bool has_linkage = at > 0 && (tokens[at - 1].text == ".extern" ||
                                        tokens[at - 1].text == ".visible" || tokens[at - 1].text == ".weak");
    FunctionTokens made;
    made.first = has_linkage ? at - 1 : at;
    ++at;
    if (tokens[at].is('(')) made.results = at, at = after_list(parser, at);
    if (!is_name(tokens[at])) return at;
    const std::string_view name = tokens[at++].text;
    if (tokens[at].is('(')) made.parameters = at, at = after_list(parser, at);
    while (!tokens[at].is('{') && !tokens[at].is(';') && !tokens[at].is('}') &&
           tokens[at].kind != Token::Kind::End)
        ++at;
    if (tokens[at].is('}')) return at;
    if (tokens[at].kind == Token::Kind::End) return at;  // damaged: its declaration does not end
    made.end = at;
    if (tokens[at].is('{')) made.body = at, made.body_end = at = after_body(parser, at);
    FunctionTokens& known = parser.functions[name];
    if (known.body == 0) known = made;  // a definition counts more than a declaration
    return at;
}

// An operand that names a .param variable of this body.
bool read_passed(Parser& parser, Body& body, const Instruction& made, Operand& operand) {
    const Token& token = parser.next();
    const Name* name = is_name(token) ? body.find(token.text) : nullptr;
    if (name == nullptr || name->kind != Name::Kind::Symbol || is_kernel_parameter(body, name->index) ||
        body.kernel.symbols[static_cast<size_t>(name->index)].space != StateSpace::Param) {
        return parser.fail(made.text_line,
                           "call passes {}, which is no .param variable of this body; pass values in those",
                           Parser::quoted(token));
    }
    operand.kind = Operand::Kind::Symbol;
    operand.symbol = name->index;
    return true;
}

// "(retval0)" or "(param0, param1)".
bool read_list(Parser& parser, Body& body, Instruction& made) {
    if (!parser.expect('(', "before the list of a call")) return false;
    if (parser.accept(')')) return true;
    do {
        Operand operand;
        if (!read_passed(parser, body, made, operand)) return false;
        made.operands.push_back(std::move(operand));
    } while (parser.accept(','));
    return parser.expect(')', "after the list of a call");
}

// The parameters of a function, at their '(', become names of what the call passes.
bool bind_names(Parser& parser, const Instruction& call, std::string_view function, size_t list, size_t first,
                size_t count, const Body& body, Scope& scope) {
    const auto mismatch = [&] {
        return parser.fail(call.text_line,
                           "function '{}' is called with other parameters than it has; call it with its own",
                           function.substr(0, 60));
    };
    const size_t back = parser.at;
    size_t bound = 0;
    if (list != 0) {
        parser.at = list + 1;
        while (!parser.accept(')')) {
            if (bound > 0 && !parser.expect(',', "between parameters")) return false;
            if (parser.peek().text != ".param") {
                return parser.fail(
                    parser.peek().line,
                    "function '{}' takes or returns values in registers, which Tilescope does not "
                    "read; use .param",
                    function.substr(0, 60));
            }
            Symbol symbol;
            if (!read_variable(parser, symbol)) return false;
            if (bound == count) return mismatch();
            const int32_t passed = call.operands[first + bound].symbol;
            if (body.kernel.symbols[static_cast<size_t>(passed)].bytes() < symbol.bytes()) return mismatch();
            if (!scope.names.try_emplace(symbol.name, Name{Name::Kind::Symbol, passed}).second)
                return parser.fail(call.text_line, "'{}' is declared twice in one scope; rename one",
                                   symbol.name);
            ++bound;
        }
    }
    parser.at = back;
    return bound == count || mismatch();
}

// A branch to a label that is known.
void add_branch(Body& body, const Instruction& like, int32_t label) {
    Instruction branch;
    branch.op = Op::Bra;
    branch.mnemonic = "bra";
    branch.guard = like.guard;
    branch.guard_negated = like.guard_negated;
    branch.source = like.source;
    branch.text_line = like.text_line;
    Operand target;
    target.kind = Operand::Kind::Label;
    target.label = label;
    branch.operands.push_back(std::move(target));
    body.kernel.instructions.push_back(std::move(branch));
}

bool too_long(Parser& parser, uint32_t line) {
    return parser.fail(line, "the functions that are called here are too long to be inlined; call fewer");
}

// By the name and the line that the source has, where the PTX tells them.
bool calls_itself(Parser& parser, const Body& body, const Instruction& call, std::string_view name) {
    constexpr size_t kLongest = 200;
    std::string function = demangled(name);
    if (function.empty() || function.size() > kLongest)
        function = fmt::format("function '{}'", name.substr(0, 60));
    if (body.source.line == 0)
        return parser.fail(call.text_line,
                           "{} calls itself, and Tilescope runs no recursion; write it as a loop", function);
    return parser.fail_plainly(
        fmt::format("{} at line {} calls itself, and Tilescope runs no recursion; write it as a loop",
                    function, body.source.line));
}

bool inline_call(Parser& parser, Body& body, const Instruction& call, std::string_view name,
                 const FunctionTokens& function) {
    for (const Inlining& outer : body.inlinings) {
        if (outer.function == name) return calls_itself(parser, body, call, name);
    }
    parser.inlined_read += function.body_end - function.first;
    if (body.inlinings.size() == kMaxCallDepth || parser.inlined_read > kMaxInlined)
        return too_long(parser, call.text_line);
    Scope scope;
    scope.first = static_cast<uint32_t>(body.kernel.instructions.size());
    scope.is_function = true;
    const size_t results = call.results;
    if (!bind_names(parser, call, name, function.results, 0, results, body, scope) ||
        !bind_names(parser, call, name, function.parameters, results, call.operands.size() - results, body,
                    scope))
        return false;

    const auto end = static_cast<int32_t>(body.kernel.labels.size());
    body.kernel.labels.push_back({fresh_name(parser, body, "$L__end_of_call"), -1});
    if (call.guard >= 0) {
        Instruction around = call;
        around.guard_negated = !call.guard_negated;
        add_branch(body, around, end);
    }
    const size_t back = parser.at;
    const SourceLocation source = body.source;
    std::unordered_map<std::string_view, std::vector<Jump>> jumps;
    jumps.swap(body.jumps);
    body.unused_loc.clear();
    body.inlinings.push_back({name, end, body.scopes.size() + 2, source});
    body.scopes.push_back(std::move(scope));
    parser.at = function.body;
    if (!read_scopes(parser, body, "function")) return false;
    body.scopes.pop_back();
    body.inlinings.pop_back();
    body.jumps.swap(jumps);
    body.source = source;
    body.unused_loc.clear();
    parser.at = back;
    body.kernel.labels[static_cast<size_t>(end)].instruction =
        static_cast<int32_t>(body.kernel.instructions.size());
    return true;
}

}  // namespace

void find_functions(Parser& parser) {
    const auto& tokens = parser.tokens;
    for (size_t at = 0; tokens[at].kind != Token::Kind::End;) {
        if (tokens[at].is('{')) {
            at = after_body(parser, at);
        } else if (tokens[at].text == ".func") {
            at = find_function(parser, at);
        } else {
            if (tokens[at].text == ".alias" && is_name(tokens[at + 1]) && tokens[at + 2].is(','))
                parser.aliases.try_emplace(tokens[at + 1].text, tokens[at + 3].text);
            ++at;
        }
    }
}

void keep_declarations(Parser& parser) {
    std::set<size_t> places;
    for (const Kernel& kernel : parser.module.kernels) {
        for (const Instruction& instruction : kernel.instructions) {
            if (instruction.op != Op::Call) continue;
            const auto found = parser.functions.find(instruction.callee);
            places.insert(found->second.first);
        }
    }
    for (const size_t place : places) {
        parser.at = place + 1;
        while (!parser.peek().is(';') && parser.peek().kind != Token::Kind::End) parser.next();
        parser.module.functions.emplace_back(parser.through(parser.tokens[place]));
    }
}

bool read_call(Parser& parser, Body& body, Instruction& made) {
    if (parser.peek().is('(')) {
        if (!read_list(parser, body, made) || !parser.expect(',', "after what a call returns")) return false;
    }
    made.results = static_cast<uint8_t>(std::min<size_t>(made.operands.size(), 255));
    const Token& callee = parser.next();
    if (!is_name(callee)) {
        return parser.fail(made.text_line, "call needs the name of a function, not {}; write one",
                           Parser::quoted(callee));
    }
    if (parser.accept(',') && !read_list(parser, body, made)) return false;
    std::string_view name = callee.text;
    if (const auto alias = parser.aliases.find(name); alias != parser.aliases.end()) name = alias->second;
    const auto function = parser.functions.find(name);
    if (function == parser.functions.end()) {
        const Name* known = body.find(name);
        if (known != nullptr && known->kind == Name::Kind::Register) {
            return parser.fail(
                made.text_line,
                "a function is called through a pointer (register '{}'), and Tilescope runs only "
                "calls of functions by their name; call it by name",
                name.substr(0, 60));
        }
        return parser.fail(made.text_line, "call names {}, which this PTX does not declare; declare it",
                           Parser::quoted(callee));
    }
    if (!parser.expect(';', "after a call")) return false;
    if (function->second.body != 0) return inline_call(parser, body, made, name, function->second);
    made.callee = std::string(name);
    body.kernel.instructions.push_back(std::move(made));
    body.unused_loc.clear();
    return true;
}

bool read_return(Parser& parser, Body& body, Instruction& made) {
    if (!parser.expect(';', "after ret")) return false;
    const Inlining& inlining = body.inlinings.back();
    const bool is_last = parser.peek().is('}') && body.scopes.size() == inlining.depth;
    if (!is_last) add_branch(body, made, inlining.end);
    body.unused_loc.clear();
    return true;
}

bool read_indexed_branch(Parser& parser, Body& body, Instruction& made) {
    const Token& index = parser.next();
    const Name* name = body.find(index.text);
    if (name == nullptr || name->kind != Name::Kind::Register || !parser.accept(',')) {
        return parser.fail(made.text_line,
                           "instruction '{}' needs a register and a list of targets; write both",
                           full_name(made));
    }
    const int32_t reg = name->index;
    if (!agrees(Type::U32, body.kernel.registers[static_cast<size_t>(reg)].type)) {
        return parser.fail(made.text_line, "instruction '{}' takes .u32 where {} stands; correct it",
                           full_name(made), Parser::quoted(index));
    }
    const auto targets = body.branch_targets.find(parser.peek().text);
    if (targets == body.branch_targets.end()) {
        return parser.fail(
            made.text_line,
            "instruction '{}' names {}, which is no list of targets above it; add .branchtargets",
            full_name(made), Parser::quoted(parser.peek()));
    }
    parser.next();
    if (!parser.expect(';', "after brx")) return false;
    if (made.guard >= 0)
        return parser.fail(made.text_line,
                           "instruction '{}' has a guard, which is not known to Tilescope; branch "
                           "around it",
                           full_name(made));
    std::vector<std::string_view> labels;
    for (size_t at = targets->second; parser.tokens[at].kind == Token::Kind::Word; at += 2) {
        labels.push_back(parser.tokens[at].text);
        if (!parser.tokens[at + 1].is(',')) break;
    }
    if (labels.empty())
        return parser.fail(made.text_line, "instruction '{}' has an empty list of targets; name some",
                           full_name(made));
    parser.read.instructions += 2 * labels.size();
    if (parser.read.instructions > kMaxInstructions) return too_long(parser, made.text_line);
    const auto test = static_cast<int32_t>(body.kernel.registers.size());
    if (labels.size() > 1) {
        ++parser.read.registers;
        body.kernel.registers.push_back({fresh_name(parser, body, "%brx"), Type::Pred});
    }
    for (size_t i = 0; i < labels.size(); ++i) {
        Instruction branch = made;
        if (i + 1 < labels.size()) {  // the last is taken by all that are left
            Instruction compare = made;
            compare.op = Op::Setp;
            compare.mnemonic = "setp";
            compare.suffixes = {"eq", "u32"};
            compare.type = Type::U32;
            compare.compare = Compare::Eq;
            compare.destinations = 1;
            Operand p, value, number;
            p.kind = value.kind = Operand::Kind::Register;
            p.reg = test, value.reg = reg;
            number.kind = Operand::Kind::Immediate;
            number.immediate_type = Type::S64;
            number.bits = i;
            number.text = fmt::format("{}", i);
            compare.operands = {p, value, number};
            body.kernel.instructions.push_back(std::move(compare));
            branch.guard = test;
        }
        body.jumps[labels[i]].push_back(
            {static_cast<uint32_t>(body.kernel.instructions.size()), made.text_line});
        add_branch(body, branch, -1);
    }
    body.unused_loc.clear();
    return true;
}

}  // namespace tilescope::ptx
