#include "core/ptx/lexer.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/ptx/parse.h"

namespace tilescope::ptx {
namespace {

// Not <cctype>: its answers depend on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool starts_word(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }
bool follows(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }

std::string describe(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7F ? fmt::format("'{}'", c) : fmt::format("byte 0x{:02X}", byte);
}

}  // namespace

Result<std::vector<Token>> tokenise(std::string_view text, std::string_view name) {
    if (text.size() > kMostText) {
        return Error{
            fmt::format("{}:1: the text has {} bytes and Tilescope reads at most {}; split the module", name,
                        text.size(), kMostText)};
    }
    std::vector<Token> tokens;
    uint32_t line = 1;
    size_t at = 0;
    const auto peek = [&](size_t ahead) { return at + ahead < text.size() ? text[at + ahead] : '\0'; };
    while (at < text.size()) {
        const char c = text[at];
        if (c == '\n') {
            ++line, ++at;
            continue;
        }
        if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            ++at;
            continue;
        }
        if (c == '/' && peek(1) == '/') {
            at = std::min(text.find('\n', at), text.size());
            continue;
        }
        if (c == '/' && peek(1) == '*') {
            const size_t end = text.find("*/", at + 2);
            if (end == std::string_view::npos) {
                return Error{fmt::format("{}:{}: the comment that starts here does not end; close it with */",
                                         name, line)};
            }
            for (; at < end; ++at) line += text[at] == '\n';
            at = end + 2;
            continue;
        }

        const size_t start = at;
        Token::Kind kind = Token::Kind::Punctuation;
        if (starts_word(c)) {
            kind = Token::Kind::Word;
            for (++at; follows(peek(0));) ++at;
        } else if (c == '.' && (is_letter(peek(1)) || is_digit(peek(1)) || peek(1) == '_')) {
            kind = Token::Kind::Dot;
            for (++at; follows(peek(0)) || (peek(0) == ':' && peek(1) == ':' && follows(peek(2)));)
                at += peek(0) == ':' ? 2 : 1;
        } else if (is_digit(c)) {
            kind = Token::Kind::Number;  // 64, 0x1F, 0f3F800000, 0.5, 0., 1.0e-5
            bool has_point = false;
            const auto in_exponent = [&] {
                return has_point && (peek(0) == '-' || peek(0) == '+') && (text[at - 1] | 0x20) == 'e';
            };
            for (++at; follows(peek(0)) || in_exponent() ||
                       (peek(0) == '.' && !is_letter(peek(1)) && peek(1) != '_');
                 ++at)
                has_point = has_point || peek(0) == '.';
        } else if (c == '"') {
            kind = Token::Kind::String;
            for (++at; peek(0) != '"';) {
                if (at >= text.size() || peek(0) == '\n') {
                    return Error{
                        fmt::format("{}:{}: the string that starts here does not end; close it with a quote",
                                    name, line)};
                }
                at += peek(0) == '\\' && peek(1) != '\n' && at + 1 < text.size() ? 2 : 1;
            }
            ++at;
        } else if (std::string_view("@!,;:()[]{}<>+-=|").find(c) != std::string_view::npos) {
            ++at;
        } else {
            return Error{fmt::format("{}:{}: {} is not PTX; remove it", name, line, describe(c))};
        }
        tokens.push_back({kind, line, text.substr(start, at - start)});
    }
    tokens.push_back({Token::Kind::End, line, text.substr(text.size())});
    return tokens;
}

}  // namespace tilescope::ptx
