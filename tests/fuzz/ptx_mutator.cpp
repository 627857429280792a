// Changes PTX by words and lines, so that much of it still parses; else by bytes, with the words of ptx.dict.
#include <algorithm>
#include <random>

#include "core/ptx/lexer.h"
#include "tests/fuzz/fuzz.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace tilescope::ptx {
namespace {

struct Piece {
    size_t at = 0, size = 0;
};

std::vector<Piece> words_of(const std::string& text) {
    std::vector<Piece> words;
    if (const auto tokens = tokenise(text, "fuzz"))
        for (const Token& token : *tokens)
            if (token.kind != Token::Kind::End)
                words.push_back({static_cast<size_t>(token.text.data() - text.data()), token.text.size()});
    return words;
}

std::vector<Piece> lines_of(const std::string& text) {
    std::vector<Piece> lines;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        lines.push_back({at, end - at});
        at = end;
    }
    return lines;
}

// Puts a piece in another's place or before it, takes one out, or swaps two.
std::string changed(std::string text, const std::vector<Piece>& pieces, std::mt19937& random) {
    if (pieces.size() < 2) return "";
    const auto any = [&] { return pieces[random() % pieces.size()]; };
    Piece a = any(), b = any();
    if (a.at > b.at) std::swap(a, b);
    const std::string first = text.substr(a.at, a.size), second = text.substr(b.at, b.size);
    switch (random() % 4) {
        case 0: text.replace(b.at, b.size, first); return text.replace(a.at, a.size, second);
        case 1: return text.erase(a.at, a.size);
        case 2: return text.insert(a.at, second + " ");
        default: return text.replace(b.at, b.size, first);
    }
}

}  // namespace
}  // namespace tilescope::ptx

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
    using namespace tilescope::ptx;
    std::mt19937 random(seed);
    const auto kind = random() % 4;
    std::string text(reinterpret_cast<const char*>(data), size);
    for (auto changes = kind == 0 ? 0 : 1 + random() % 3; changes > 0; --changes) {
        const std::string next = changed(text, kind == 1 ? lines_of(text) : words_of(text), random);
        if (next.empty() || next.size() > max_size) break;
        text = next;
    }
    if (text.size() == size && std::equal(text.begin(), text.end(), data,
                                          [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; }))
        return LLVMFuzzerMutate(data, size, max_size);
    std::copy(text.begin(), text.end(), data);
    return text.size();
}
