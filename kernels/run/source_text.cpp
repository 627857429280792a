#include "kernels/run/source_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

namespace tilescope::kernels {

namespace {

constexpr int kMostNested = 16;  // names that stand for names, and parentheses in each other

// Where the bracket at `open` is closed; npos where it is not. <> are brackets where they are asked for.
size_t closing(std::string_view text, size_t open, bool angles = false) {
    int depth = 0;
    for (size_t at = open; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '(' || c == '[' || c == '{' || (angles && c == '<')) ++depth;
        if (c == ')' || c == ']' || c == '}' || (angles && c == '>')) --depth;
        if (depth == 0) return at;
    }
    return std::string_view::npos;
}

// What a #define, an enumerator, a constexpr or a const of the source says that a name is.
std::string_view meaning_of(std::string_view source, std::string_view name) {
    for (size_t at = find_word(source, name); at != std::string_view::npos;
         at = find_word(source, name, at + 1)) {
        const size_t end = at + name.size();
        const size_t line = source.rfind('\n', at) + 1;
        std::string_view before = trimmed(source.substr(line, at - line));
        if (!before.empty() && before.front() == '#') {
            before = trimmed(before.substr(1));
            if (before == "define" && end < source.size() && is_blank(source[end]))
                return trimmed(source.substr(end, source.find('\n', end) - end));
            continue;
        }
        const std::string_view after = trimmed(source.substr(end, source.find_first_of(";,}\n", end) - end));
        const bool assigned = after.size() > 1 && after[0] == '=' && after[1] != '=';
        const bool constant =
            before.find("const") != std::string_view::npos || before.find("enum") != std::string_view::npos;
        if (assigned && constant) return trimmed(after.substr(1));
    }
    return {};
}

// expression = sum { << sum };  sum = product { (+|-) product };  product = value { (*|/|%) value }
class Expression {
public:
    Expression(std::string_view source, std::string_view text, int depth)
        : source_(source), text_(text), depth_(depth) {}
    std::optional<uint64_t> value() {
        const auto result = shifted();
        return blank() == '\0' ? result : std::nullopt;
    }

private:
    char blank() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    std::optional<uint64_t> shifted() {
        auto left = sum();
        while (left && blank() == '<' && text_.substr(at_, 2) == "<<") {
            at_ += 2;
            const auto right = sum();
            left = right && *right < 64 ? std::optional(*left << *right) : std::nullopt;
        }
        return left;
    }
    std::optional<uint64_t> sum() {
        auto left = product();
        while (left && (blank() == '+' || blank() == '-')) {
            const bool plus = text_[at_++] == '+';
            const auto right = product();
            if (!right || (!plus && *right > *left)) return std::nullopt;
            left = plus ? *left + *right : *left - *right;
        }
        return left;
    }
    std::optional<uint64_t> product() {
        auto left = factor();
        while (left && (blank() == '*' || blank() == '/' || blank() == '%')) {
            const char operation = text_[at_++];
            const auto right = factor();
            if (!right || (operation != '*' && *right == 0)) return std::nullopt;
            left = operation == '*' ? *left * *right : operation == '/' ? *left / *right : *left % *right;
        }
        return left;
    }
    std::optional<uint64_t> factor() {
        const char first = blank();
        if (first == '(') {
            const size_t end = closing(text_, at_);
            if (end == std::string_view::npos || depth_ == 0) return std::nullopt;
            const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
            at_ = end + 1;
            return Expression(source_, inside, depth_ - 1).value();
        }
        const size_t begin = at_;
        while (at_ < text_.size() && is_word(text_[at_])) ++at_;
        const std::string_view word = text_.substr(begin, at_ - begin);
        if (word.empty() || std::isdigit(static_cast<unsigned char>(first))) return number(word);
        const std::string_view meaning = meaning_of(source_, word);
        if (meaning.empty() || depth_ == 0) return std::nullopt;
        return Expression(source_, meaning, depth_ - 1).value();
    }
    static std::optional<uint64_t> number(std::string_view word) {
        const bool hexadecimal = word.substr(0, 2) == "0x" || word.substr(0, 2) == "0X";
        if (hexadecimal) word.remove_prefix(2);
        while (!word.empty() && std::string_view("uUlL").find(word.back()) != std::string_view::npos)
            word.remove_suffix(1);
        uint64_t value = 0;
        const char* const end = word.data() + word.size();
        const auto [stop, problem] = std::from_chars(word.data(), end, value, hexadecimal ? 16 : 10);
        return problem == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
    }

    std::string_view source_, text_;
    int depth_;
    size_t at_ = 0;
};

// The words of a type that say what it holds.
std::vector<std::string> words_of_type(std::string_view type) {
    static constexpr std::string_view kSilent[] = {
        "const",  "volatile", "static",       "extern",   "constexpr",         "inline",
        "struct", "enum",     "__restrict__", "restrict", "__restrict",        "__shared__",
        "std",    "register", "__device__",   "typename", "__grid_constant__", "__constant__",
        "int",    "signed",   "__align__",    "alignas",  "__attribute__",     "class",
    };
    std::vector<std::string> words;
    for (size_t at = 0; at < type.size(); ++at) {
        if (type[at] == '(') {  // of __align__(16)
            const size_t end = closing(type, at);
            if (end == std::string_view::npos) break;
            at = end;
        }
        if (!is_word(type[at])) continue;
        const size_t begin = at;
        while (at < type.size() && is_word(type[at])) ++at;
        words.emplace_back(type.substr(begin, at - begin));
        --at;
    }
    const bool any = !words.empty();
    const bool is_signed_char = std::count(words.begin(), words.end(), "signed") != 0;
    const bool whole = is_signed_char || std::count(words.begin(), words.end(), "int") != 0;
    std::erase_if(words, [](const std::string& word) {
        return std::find(std::begin(kSilent), std::end(kSilent), word) != std::end(kSilent);
    });
    if (any && whole && words.empty()) words.emplace_back("int");
    std::sort(words.begin(), words.end());
    return words;
}

std::optional<HeldType> built_in(const std::vector<std::string>& words) {
    std::string name;
    for (const std::string& word : words) name += (name.empty() ? "" : " ") + word;
    using enum ElementType;
    static const std::pair<ElementType, std::vector<std::string_view>> kNames[] = {
        {S8, {"char", "int8_t"}},
        {U8, {"char unsigned", "uchar", "uint8_t", "bool"}},
        {S16, {"short", "int16_t"}},
        {U16, {"short unsigned", "ushort", "uint16_t"}},
        {S32, {"int", "int32_t"}},
        {U32, {"unsigned", "uint", "uint32_t"}},
        {S64, {"long", "long long", "int64_t", "ptrdiff_t"}},
        {U64, {"long unsigned", "long long unsigned", "ulong", "uint64_t", "size_t"}},
        {F32, {"float"}},
        {F64, {"double"}},
        {F16, {"half", "__half"}},
        {BF16, {"__nv_bfloat16", "nv_bfloat16"}},
        {E4M3, {"__nv_fp8_e4m3"}},
        {E5M2, {"__nv_fp8_e5m2"}},
    };
    for (const auto& [type, names] : kNames)
        if (std::ranges::find(names, name) != names.end()) return HeldType{type, 1};
    if (name == "half2" || name == "__half2") return HeldType{F16, 2};
    if (name == "__nv_bfloat162" || name == "nv_bfloat162") return HeldType{BF16, 2};
    // float2, uchar4: CUDA C++ Programming Guide, "Built-in Vector Types".
    static const std::pair<std::string_view, ElementType> kVectors[] = {
        {"char", S8},  {"uchar", U8},  {"short", S16}, {"ushort", U16},   {"int", S32},       {"uint", U32},
        {"long", S64}, {"ulong", U64}, {"float", F32}, {"longlong", S64}, {"ulonglong", U64}, {"double", F64},
    };
    if (name.empty() || name.back() < '1' || name.back() > '4') return std::nullopt;
    for (const auto& [known, type] : kVectors)
        if (std::string_view(name).substr(0, name.size() - 1) == known)
            return HeldType{type, static_cast<uint32_t>(name.back() - '0')};
    return std::nullopt;
}

// "float" of `typedef float real;`, `using real = float;` and `#define real float`; "" for other names.
std::string_view alias_of(std::string_view source, std::string_view name) {
    for (size_t at = find_word(source, name); at != std::string_view::npos;
         at = find_word(source, name, at + 1)) {
        const size_t end = at + name.size();
        const size_t begin = source.find_last_of(";}\n{", at);
        const std::string_view before =
            trimmed(source.substr(begin == std::string_view::npos ? 0 : begin + 1,
                                  at - (begin == std::string_view::npos ? 0 : begin + 1)));
        const std::string_view rest = trimmed(source.substr(end, source.find_first_of(";\n", end) - end));
        if (before.substr(0, 7) == "typedef" && rest.empty()) return trimmed(before.substr(7));
        if (before == "using" && !rest.empty() && rest.front() == '=') return trimmed(rest.substr(1));
        if (before == "#define") return rest;
    }
    return {};
}

std::optional<HeldType> held_type(std::string_view source, std::string_view type, int depth) {
    if (type.find_first_of("*&<") != std::string_view::npos) return std::nullopt;
    const std::vector<std::string> words = words_of_type(type);
    if (const auto known = built_in(words)) return known;
    if (words.size() != 1 || depth == 0) return std::nullopt;
    const std::string_view alias = alias_of(source, words.front());
    return alias.empty() ? std::nullopt : held_type(source, alias, depth - 1);
}

// "const float *__restrict__ a = nullptr" taken apart.
ParameterText parameter_in(std::string_view text) {
    ParameterText parameter;
    int angles = 0;
    size_t end = text.size();
    for (size_t at = 0; at < text.size(); ++at) {  // a default begins at the first = that no <> holds
        angles += text[at] == '<' ? 1 : text[at] == '>' ? -1 : 0;
        if (text[at] == '=' && angles <= 0) end = std::min(end, at);
    }
    text = trimmed(text.substr(0, end));
    // A pointer to a function or to an array: the name stands with the inner *.
    const size_t inner = text.find("(*");
    if (inner != std::string_view::npos) {
        const size_t close = closing(text, inner);
        const std::string_view name =
            close == std::string_view::npos ? "" : trimmed(text.substr(inner + 2, close - inner - 2));
        return {std::string(name), std::string(trimmed(text.substr(0, inner))), 1};
    }
    while (!text.empty() && text.back() == ']') {
        const size_t open = text.rfind('[');
        if (open == std::string_view::npos) break;
        ++parameter.indirections;
        text = trimmed(text.substr(0, open));
    }
    size_t begin = text.size();
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    const std::string_view last = text.substr(begin), before = trimmed(text.substr(0, begin));
    // The last word is the name, unless it is all of the type or the end of "unsigned int".
    static constexpr std::string_view kTypeWords[] = {"int",    "long",     "char",   "short", "float",
                                                      "double", "unsigned", "signed", "bool",  "const"};
    const bool ends_type =
        std::find(std::begin(kTypeWords), std::end(kTypeWords), last) != std::end(kTypeWords);
    if (!ends_type && (!words_of_type(before).empty() || before.find('>') != std::string_view::npos)) {
        parameter.name = last;
        text = before;
    }
    for (const char c : text) {
        if (c == '*') ++parameter.indirections;
        parameter.reference |= c == '&';
        parameter.type += c == '*' || c == '&' ? ' ' : c;
    }
    parameter.type = trimmed(parameter.type);
    return parameter;
}

// What stands between the parentheses of a declaration.
std::vector<ParameterText> parameters_of(std::string_view inside) {
    std::vector<ParameterText> parameters;
    inside = trimmed(inside);
    if (inside != "void")
        for (const std::string_view part : parts_between_commas(inside))
            parameters.push_back(parameter_in(part));
    return parameters;
}

// The code without lines of the preprocessor, whose braces may have no match.
std::string without_directives(std::string code) {
    for (size_t line = 0; line < code.size();) {
        size_t end = std::min(code.find('\n', line), code.size());
        if (trimmed(std::string_view(code).substr(line, end - line)).substr(0, 1) == "#") {
            while (end < code.size() && code[end - 1] == '\\')
                end = std::min(code.find('\n', end + 1), code.size());
            std::fill(code.begin() + static_cast<std::ptrdiff_t>(line),
                      code.begin() + static_cast<std::ptrdiff_t>(end), ' ');
        }
        line = end + 1;
    }
    return code;
}

// The function whose definition begins with `head` and goes on with `body`; none where it is something else.
std::optional<FunctionText> function_of(std::string_view head, std::string_view body) {
    const size_t open = head.find('(');
    const size_t close = open == std::string_view::npos ? open : closing(head, open);
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view before = trimmed(head.substr(0, open));
    static constexpr std::string_view kOthers[] = {
        "__global__", "__device__", "static",    "inline", "template",        "struct",   "class",
        "union",      "enum",       "namespace", "using",  "__forceinline__", "operator", "constexpr"};
    for (const std::string_view other : kOthers)
        if (find_word(before, other) != std::string_view::npos) return std::nullopt;
    if (before.find_first_of("=:") != std::string_view::npos) return std::nullopt;
    size_t begin = before.size();
    while (begin > 0 && is_word(before[begin - 1])) --begin;
    std::string_view result = trimmed(before.substr(0, begin));
    FunctionText function;
    function.name = before.substr(begin);
    const size_t external = find_word(result, "extern");
    if (external != std::string_view::npos) {
        function.c_linkage = true;
        result = trimmed(result.substr(external + 6));
    }
    if (function.name.empty() || result.empty()) return std::nullopt;
    function.result = result;
    function.parameters = parameters_of(head.substr(open + 1, close - open - 1));
    function.launches =
        body.find("<<<") != std::string_view::npos || body.find("cudaLaunch") != std::string_view::npos;
    return function;
}

// The functions that this part of the code defines. Literals are blank in it: `extern "C"` is `extern`.
void add_functions(std::string_view code, int depth, bool c_linkage, std::vector<FunctionText>& functions) {
    std::vector<std::string> c_names;  // that a declaration makes extern "C"
    size_t begin = 0;
    for (size_t at = 0; at < code.size(); ++at) {
        const char c = code[at];
        if (c == '(' || c == '[') {
            const size_t close = closing(code, at);
            if (close == std::string_view::npos) return;
            at = close;
        } else if (c == ';') {
            if (const auto declared = function_of(code.substr(begin, at - begin), "");
                declared && (declared->c_linkage || c_linkage))
                c_names.push_back(declared->name);
            begin = at + 1;
        } else if (c == '{') {
            const size_t close = std::min(closing(code, at), code.size());
            const std::string_view head = trimmed(code.substr(begin, at - begin));
            const std::string_view body = code.substr(at + 1, close - std::min(close, at + 1));
            if (head == "extern") {
                if (depth > 0) add_functions(body, depth - 1, true, functions);
            } else if (auto function = function_of(head, body)) {
                function->c_linkage |=
                    c_linkage || std::find(c_names.begin(), c_names.end(), function->name) != c_names.end();
                functions.push_back(std::move(*function));
            }
            at = close;
            begin = close + 1;
        } else if (c == '}') {
            begin = at + 1;
        }
    }
}

}  // namespace

namespace {

// The last of the names in "2M54smemE"; empty where it is not names alone. L: of internal linkage.
std::string_view last_of_nested(std::string_view names) {
    std::string_view last;
    while (!names.empty() && names != "E") {
        if (names.front() == 'L') names.remove_prefix(1);
        size_t length = 0;
        while (!names.empty() && std::isdigit(static_cast<unsigned char>(names.front()))) {
            length = length * 10 + static_cast<size_t>(names.front() - '0');
            if (length > names.size()) return {};
            names.remove_prefix(1);
        }
        if (length == 0 || length > names.size()) return {};
        last = names.substr(0, length);
        names.remove_prefix(length);
    }
    return names.empty() ? std::string_view() : last;
}

}  // namespace

std::string_view name_in_symbol(std::string_view symbol) {
    if (symbol.starts_with("_ZN")) {
        const std::string_view name = last_of_nested(symbol.substr(3));
        return name.empty() ? symbol : name;
    }
    if (symbol.substr(0, 3) != "_ZZ") return symbol;
    // The name is behind the last E that a number follows which is its length.
    for (size_t at = symbol.rfind('E'); at != std::string_view::npos && at > 0;
         at = symbol.rfind('E', at - 1)) {
        size_t length = 0, digits = at + 1;
        while (digits < symbol.size() && std::isdigit(static_cast<unsigned char>(symbol[digits])))
            length = length * 10 + static_cast<size_t>(symbol[digits++] - '0');
        const std::string_view rest = symbol.substr(digits);
        const bool fits =
            length > 0 && length <= rest.size() && (length == rest.size() || rest[length] == '_');
        if (fits) return rest.substr(0, length);
    }
    return symbol;
}

bool is_symbol_of(std::string_view symbol, std::string_view name) {
    return symbol == name || name_in_symbol(symbol) == name;
}

std::vector<std::string_view> parts_between_commas(std::string_view text) {
    std::vector<std::string_view> parts;
    size_t first = 0;
    for (size_t at = 0; at < text.size(); ++at) {
        if (text[at] == ',') {
            parts.push_back(trimmed(text.substr(first, at - first)));
            first = at + 1;
        } else if (std::string_view("([{<").find(text[at]) != std::string_view::npos) {
            const size_t end = closing(text, at, true);
            if (end != std::string_view::npos) at = end;
        }
    }
    const std::string_view last = trimmed(text.substr(first));
    if (!parts.empty() || !last.empty()) parts.push_back(last);
    return parts;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

size_t find_word(std::string_view text, std::string_view word, size_t from) {
    if (word.empty()) return std::string_view::npos;
    for (size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
        const size_t end = at + word.size();
        if ((at == 0 || !is_word(text[at - 1])) && (end >= text.size() || !is_word(text[end]))) return at;
    }
    return std::string_view::npos;
}

std::string code_of(std::string_view source) {
    std::string code(source);
    const auto blank = [&](size_t from, size_t to) {
        for (size_t at = from; at < std::min(to, code.size()); ++at)
            if (code[at] != '\n') code[at] = ' ';
        return std::min(to, code.size());
    };
    for (size_t at = 0; at < code.size();) {
        const std::string_view rest = std::string_view(code).substr(at);
        const char c = rest.front();
        if (rest.substr(0, 2) == "//") {
            at = blank(at, code.find('\n', at));
        } else if (rest.substr(0, 2) == "/*") {
            const size_t end = code.find("*/", at + 2);
            at = blank(at, end == std::string::npos ? end : end + 2);
        } else if (c == '"' || (c == '\'' && (at == 0 || !is_word(code[at - 1])))) {
            size_t end = at + 1;
            while (end < code.size() && code[end] != c && code[end] != '\n') end += code[end] == '\\' ? 2 : 1;
            at = blank(at, end + 1);
        } else {
            ++at;
        }
    }
    return code;
}

std::optional<uint64_t> constant_in(std::string_view source, std::string_view expression) {
    return Expression(code_of(source), expression, kMostNested).value();
}

std::optional<HeldType> held_type(std::string_view source, std::string_view type) {
    return held_type(code_of(source), type, kMostNested);
}

std::optional<Declaration> declaration(std::string_view source, std::string_view keyword,
                                       std::string_view name) {
    const std::string code = code_of(source);
    for (size_t at = find_word(code, keyword); at != std::string_view::npos;
         at = find_word(code, keyword, at + 1)) {
        std::string_view text = std::string_view(code).substr(at + keyword.size());
        text = text.substr(0, text.find(';'));
        // The first declarator has the type before it; others follow behind commas.
        const size_t found = find_word(text, name);
        if (found == std::string_view::npos) continue;
        const size_t first_end = text.find_first_of("[,");
        const std::string_view head = trimmed(text.substr(0, std::min(found, first_end)));
        const auto held =
            held_type(code, found < first_end ? head : head.substr(0, head.find_last_of(" \t")), kMostNested);
        if (!held) return std::nullopt;
        Declaration declared;
        declared.type = held->type;
        std::string_view rest = trimmed(text.substr(found + name.size()));
        while (!rest.empty() && rest.front() == '[') {
            const size_t close = closing(rest, 0);
            const auto extent =
                Expression(code, rest.substr(1, close == std::string_view::npos ? 0 : close - 1), kMostNested)
                    .value();
            if (!extent) return Declaration{declared.type, {}};
            declared.extents.push_back(*extent);
            rest = trimmed(rest.substr(close + 1));
        }
        if (held->count > 1) declared.extents.push_back(held->count);
        return declared;
    }
    return std::nullopt;
}

std::optional<Declaration> declaration(std::string_view source, std::string_view keyword,
                                       const ptx::Symbol& symbol, std::string_view name, uint64_t bytes) {
    auto declared = declaration(source, keyword, name);
    if (!declared) return std::nullopt;
    const uint64_t size = size_of(declared->type);
    if (!symbol.is_array && lies_in_memory(symbol.type)) {
        if (size != size_of(symbol.type)) declared->type = symbol.type;
        return declared;
    }
    uint64_t elements = declared->extents.empty() ? 0 : 1;
    for (const uint64_t extent : declared->extents) elements *= extent;
    // An alignment may be larger than an element, but not smaller.
    const bool larger = elements * size != bytes && elements * symbol.alignment == bytes;
    if (bytes % size != 0 || (symbol.alignment != 0 && symbol.alignment < size) || larger)
        declared->type = bits_of_size(symbol.alignment);
    return declared;
}

std::optional<std::vector<ParameterText>> parameters_in(std::string_view source, std::string_view name,
                                                        size_t count) {
    const std::string text = code_of(source);
    const std::string_view code = text;
    std::optional<std::vector<ParameterText>> found;
    for (size_t at = find_word(code, name); at != std::string_view::npos;
         at = find_word(code, name, at + 1)) {
        const size_t behind = code.find_last_of(";{}", at);
        const size_t begin = behind == std::string_view::npos ? 0 : behind + 1;
        if (find_word(code.substr(begin, at - begin), "__global__") == std::string_view::npos) continue;
        size_t open = at + name.size();
        const auto skip = [&] {
            while (open < code.size() && is_blank(code[open])) ++open;
            return open < code.size() ? code[open] : '\0';
        };
        if (skip() == '<') open = closing(code, open, true), open += open == std::string_view::npos ? 0 : 1;
        if (open >= code.size() || skip() != '(') continue;
        const size_t close = closing(code, open);
        if (close == std::string_view::npos) continue;
        std::vector<ParameterText> parameters = parameters_of(code.substr(open + 1, close - open - 1));
        if (parameters.size() != count) continue;
        open = close + 1;
        if (skip() == '{') return parameters;
        if (!found) found = std::move(parameters);
    }
    return found;
}

std::vector<FunctionText> host_functions_in(std::string_view source) {
    std::vector<FunctionText> functions;
    add_functions(without_directives(code_of(source)), kMostNested, false, functions);
    return functions;
}

}  // namespace tilescope::kernels
