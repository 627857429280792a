#include "core/ptx/large.h"

#include <algorithm>
#include <optional>

#include "core/ptx/parse.h"

namespace tilescope::ptx {

namespace {

constexpr size_t kMostWhole = size_t{1} << 20;  // bytes of a text that is read whole
constexpr ptrdiff_t kMostLines = 100'000;       // of a text whose lines keep their numbers

// Where a kernel stands: from its linkage to after its body, and its body's '{'.
struct EntryPlace {
    std::string_view name;
    size_t first = 0, body = 0, end = 0;
};

bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
}

// Past the comment or string that starts at `at`; past one character where none does. A string ends with its line.
size_t behind(std::string_view text, size_t at) {
    const auto after = [&](std::string_view end) {
        const size_t found = text.find(end, at + 2);
        return found == std::string_view::npos ? text.size() : found + end.size();
    };
    if (text.substr(at, 2) == "//") return after("\n");
    if (text.substr(at, 2) == "/*") return after("*/");
    if (text[at] != '"') return at + 1;
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) at += text[at] == '\\';
    return std::min(at + 1, text.size());
}

std::vector<EntryPlace> entries_of(std::string_view text) {
    std::vector<EntryPlace> found;
    std::optional<EntryPlace> open;
    size_t depth = 0, linkage = std::string_view::npos;
    for (size_t at = 0; at < text.size();) {
        switch (text[at]) {
            case '{':
                if (depth++ == 0 && open) open->body = at;
                break;
            case '}':
                if (depth == 0 || --depth > 0) break;
                if (open) open->end = at + 1, found.push_back(*open);
                open.reset();
                break;
            case ';':
                if (depth == 0) open.reset();  // a declaration
                break;
            case '.': {
                if (depth > 0) break;
                size_t end = at + 1;
                while (end < text.size() && in_word(text[end])) ++end;
                const std::string_view word = text.substr(at, end - at);
                if (word == ".entry") {
                    size_t name = end;
                    while (name < text.size() &&
                           (text[name] == ' ' || text[name] == '\t' || text[name] == '\n'))
                        ++name;
                    end = name;
                    while (end < text.size() && in_word(text[end])) ++end;
                    open = EntryPlace{text.substr(name, end - name), std::min(linkage, at), 0, 0};
                }
                linkage = word == ".visible" || word == ".weak" ? at : std::string_view::npos;
                at = end;
                continue;
            }
            default: break;
        }
        at = behind(text, at);
    }
    return found;
}

// The text with [first, end) of each taken out, or put in its place where lines stay: that many line ends.
class Cutting {
public:
    Cutting(std::string_view text, bool keep_lines) : text_(text), keep_lines_(keep_lines) {}
    void take_out(size_t first, size_t end) {
        out_ += text_.substr(at_, first - at_);
        if (keep_lines_)
            out_.append(static_cast<size_t>(std::count(text_.begin() + static_cast<ptrdiff_t>(first),
                                                       text_.begin() + static_cast<ptrdiff_t>(end), '\n')),
                        '\n');
        at_ = end;
    }
    std::string rest() && {
        out_ += text_.substr(at_);
        return std::move(out_);
    }

private:
    std::string_view text_;
    bool keep_lines_;
    size_t at_ = 0;
    std::string out_;
};

std::string without_others(std::string_view text, std::string_view kernel) {
    Cutting cutting(text, std::ranges::count(text, '\n') <= kMostLines);
    for (const EntryPlace& entry : entries_of(text))
        if (entry.name != kernel) cutting.take_out(entry.first, entry.end);
    return std::move(cutting).rest();
}

}  // namespace

bool is_large(std::string_view text) { return text.size() > kMostWhole && entries_of(text).size() > 1; }

std::vector<std::string> kernel_names(std::string_view text) {
    std::vector<std::string> names;
    for (const EntryPlace& entry : entries_of(text)) names.emplace_back(entry.name);
    return names;
}

Result<Module> parse_heads(std::string_view text, std::string_view name) {
    Cutting cutting(text, true);
    for (const EntryPlace& entry : entries_of(text)) cutting.take_out(entry.body + 1, entry.end - 1);
    return parse(std::move(cutting).rest(), name);
}

Result<Module> parse_for(std::string& text, std::string_view name, std::string_view kernel) {
    std::string alone = without_others(text, kernel);
    if (!is_large(text)) {
        auto whole = parse(text, name);
        if (whole && find_kernel(*whole, kernel)) return whole;
        const auto possible = parse(alone, name);
        if (!possible || !find_kernel(*possible, kernel)) return whole;
    }
    text = std::move(alone);
    return parse(text, name);
}

}  // namespace tilescope::ptx
