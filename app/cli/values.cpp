#include "app/cli/values.h"

#include <charconv>

namespace tilescope::cli {

namespace {

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

std::optional<uint32_t> parse_whole(std::string_view text) { return parse_number<uint32_t>(text); }

std::optional<std::pair<uint32_t, uint32_t>> parse_pair(std::string_view text, char separator) {
    const size_t at = text.find(separator);
    if (at == std::string_view::npos) return std::nullopt;
    const auto first = parse_number<uint32_t>(text.substr(0, at));
    const auto second = parse_number<uint32_t>(text.substr(at + 1));
    if (!first || !second) return std::nullopt;
    return std::pair{*first, *second};
}

std::optional<BlockWindow> parse_window(std::string_view text) {
    const size_t comma = text.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    const auto x = parse_pair(text.substr(0, comma), ':');
    const auto y = parse_pair(text.substr(comma + 1), ':');
    if (!x || !y || x->first >= x->second || y->first >= y->second) return std::nullopt;
    return BlockWindow{x->first, x->second, y->first, y->second};
}

std::optional<Schedule> parse_schedule(std::string_view text) {
    if (text == "fair") return Schedule{Schedule::Kind::Fair, 0};
    if (text == "greedy") return Schedule{Schedule::Kind::Greedy, 0};
    if (const auto seed = parse_number<uint64_t>(text)) return Schedule{Schedule::Kind::Seeded, *seed};
    return std::nullopt;
}

std::optional<draw::Theme> parse_theme(std::string_view text) {
    if (text == "light") return draw::Theme::Light;
    if (text == "dark") return draw::Theme::Dark;
    return std::nullopt;
}

std::optional<uint64_t> parse_step(std::string_view text, const trace::Trace& trace) {
    const uint64_t steps = trace.steps();
    if (steps == 0) return std::nullopt;
    if (text == "first") return 0;
    if (text == "middle") {
        const trace::Block& block = trace.blocks[trace::block_of(trace, steps / 2)];
        return block.first + block.count / 2;
    }
    if (text == "last") return steps - 1;
    const auto number = parse_number<uint64_t>(text);
    if (!number || *number < 1 || *number > steps) return std::nullopt;
    return *number - 1;
}

std::optional<std::pair<uint64_t, uint64_t>> parse_steps(std::string_view text, const trace::Trace& trace) {
    const size_t at = text.find(':');
    if (at == std::string_view::npos) return std::nullopt;
    const auto first = parse_step(text.substr(0, at), trace), last = parse_step(text.substr(at + 1), trace);
    if (!first || !last || *first > *last) return std::nullopt;
    return std::pair{*first, *last + 1};
}

}  // namespace tilescope::cli
