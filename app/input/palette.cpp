#include "app/input/palette.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "app/session/exporting.h"

namespace tilescope::input {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::string capital(std::string text) {
    if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const size_t space = text.find(' ');
        if (space != 0) words.push_back(text.substr(0, space));
        text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    }
    return words;
}

bool starts_word(std::string_view title, size_t at) {
    return at == 0 || !std::isalnum(static_cast<unsigned char>(title[at - 1]));
}

// One word of the query from a place of the title on: 8 for a letter that starts a word, 10 for one that
// follows the letter before it, 1 for any other.
int match_from(std::string_view word, std::string_view title, size_t from) {
    int score = 0;
    size_t at = from, last = std::string_view::npos;
    for (const char wanted : word) {
        while (at < title.size() && lower(title[at]) != lower(wanted)) ++at;
        if (at == title.size()) return -1;
        const bool follows = last != std::string_view::npos && at == last + 1;
        score += follows ? 10 : starts_word(title, at) ? 8 : 1;
        last = at++;
    }
    return score;
}

std::optional<uint32_t> number(std::string_view text) {
    uint32_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// "step 12", "go to block 1,0", "phase 2", "12": a place that is there.
std::optional<Command> place(const Session& session, std::string_view query) {
    if (!session.recording || !session.block || session.recording->trace->blocks.empty()) return std::nullopt;
    const trace::Trace& trace = *session.recording->trace;
    std::vector<std::string_view> words = words_of(query);
    if (words.size() > 2 && words[0] == "go" && words[1] == "to")
        words.erase(words.begin(), words.begin() + 2);
    if (words.empty() || words.size() > 2) return std::nullopt;
    const std::string_view what = words.size() == 1 ? "step" : words[0], where = words.back();
    if (const size_t comma = where.find(','); comma != std::string_view::npos) {
        const auto x = number(where.substr(0, comma)), y = number(where.substr(comma + 1));
        if (what != "block" || !x || !y) return std::nullopt;
        for (const trace::Block& block : trace.blocks) {
            if (block.x != *x || block.y != *y) continue;
            return Command{fmt::format("block:{},{}", *x, *y), fmt::format("Go to block ({},{})", *x, *y),
                           ""};
        }
        return std::nullopt;
    }
    const auto value = number(where);
    if (!value) return std::nullopt;
    if (what == "step" && *value >= 1 && *value <= session.block->steps)
        return Command{fmt::format("step:{}", *value), fmt::format("Go to step {} of this block", *value),
                       ""};
    if (what == "phase" && *value < session.block->phases.phases)
        return Command{fmt::format("phase:{}", *value), fmt::format("Go to phase {} of this block", *value),
                       ""};
    return std::nullopt;
}

std::vector<Command> all_commands(const Session& session, std::span<const Offer> offers) {
    std::vector<Command> all;
    const auto add = [&](bool named) {
        for (const Offer& offer : offers) {
            if (offer.name == "commands" || (offer.name.find(':') != std::string::npos) != named) continue;
            all.push_back({named ? offer.name : "action:" + offer.name, capital(offer.help), offer.keys});
        }
    };
    add(false);
    if (session.recording && session.block)
        for (const session::ExportChoice& choice : session::export_choices())
            all.push_back({fmt::format("export:{}", choice.id), choice.title, ""});
    add(true);
    for (size_t at = 0; at < kernels::presets().size(); ++at)
        all.push_back({fmt::format("preset:{}", at), "Record preset " + kernels::presets()[at].label, ""});
    for (const kernels::ShippedRecording& recording : session.assets.recordings())
        all.push_back({"shipped:" + recording.name, "Open shipped recording " + recording.label, ""});
    for (const std::string& path : session.recent_files) all.push_back({"open:" + path, "Open " + path, ""});
    return all;
}

}  // namespace

int match(std::string_view query, std::string_view title) {
    int score = 0;
    for (const std::string_view word : words_of(query)) {
        int best = -1;
        for (size_t from = 0; from < title.size(); ++from)
            if (lower(title[from]) == lower(word[0])) best = std::max(best, match_from(word, title, from));
        if (best < 0) return -1;
        score += best;
    }
    // Of two that meet it equally well, the one that says less besides.
    return score == 0 ? 0 : score * 64 - static_cast<int>(std::min<size_t>(title.size(), 63));
}

std::vector<Command> find_commands(const Session& session, std::span<const Offer> offers,
                                   std::string_view query) {
    struct Found {
        Command command;
        int score = 0;
        size_t used = 0;
    };
    std::vector<Found> found;
    const std::vector<std::string>& recent = session.recent_commands;
    for (Command& command : all_commands(session, offers)) {
        const int score = match(query, command.title);
        if (score < 0) continue;
        const auto at = std::find(recent.begin(), recent.end(), command.id);
        found.push_back({std::move(command), score, static_cast<size_t>(at - recent.begin())});
    }
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
        return a.score != b.score ? a.score > b.score : a.used < b.used;
    });
    std::vector<Command> commands;
    if (auto there = place(session, query)) commands.push_back(std::move(*there));
    for (Found& one : found) commands.push_back(std::move(one.command));
    return commands;
}

}  // namespace tilescope::input
