// The command palette's list, and what its rows do.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "app/input/overlays.h"
#include "app/session/playing.h"
#include "app/session/session.h"

namespace tilescope::input {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::string capital(std::string text) {
    if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

// The parts of a text between separators, without empty ones.
std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const size_t end = text.find(separator);
        if (end != 0) parts.push_back(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return parts;
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

// "12", "1,0", "1,0,2"; none where it is no list of numbers.
std::vector<uint32_t> numbers(std::string_view text) {
    std::vector<uint32_t> all;
    for (const std::string_view part : split(text, ',')) {
        const auto [end, problem] =
            std::from_chars(part.data(), part.data() + part.size(), all.emplace_back());
        if (problem != std::errc{} || end != part.data() + part.size()) return {};
    }
    return all;
}

// The block at (x,y), or (x,y,z) in a grid with depth, by its number in the trace.
std::optional<uint32_t> block_at(const trace::Trace& trace, const std::vector<uint32_t>& place) {
    if (place.size() < 2 || place.size() > 3) return std::nullopt;
    const uint32_t z = place.size() == 3 ? place[2] : 0;
    const auto found = std::ranges::find_if(trace.blocks, [&](const trace::Block& block) {
        return block.x == place[0] && block.y == place[1] && block.z == z;
    });
    if (found == trace.blocks.end()) return std::nullopt;
    return static_cast<uint32_t>(found - trace.blocks.begin());
}

// "step 12", "go to block 1,0", "phase 2", "12": a place that is there. Phases are typed as they are written.
std::optional<Command> place(const Session& session, std::string_view query) {
    if (!session.recording || !session.block || session.recording->trace->blocks.empty()) return std::nullopt;
    std::vector<std::string_view> words = split(query, ' ');
    if (words.size() > 2 && words[0] == "go" && words[1] == "to")
        words.erase(words.begin(), words.begin() + 2);
    if (words.empty() || words.size() > 2) return std::nullopt;
    const std::string_view what = words.size() == 1 ? "step" : words[0], where = words.back();
    const std::vector<uint32_t> at = numbers(where);
    const trace::Trace& trace = session.trace();
    if (const auto found = what == "block" ? block_at(trace, at) : std::nullopt) {
        const trace::Block& block = trace.blocks[*found];
        return Command{fmt::format("block:{}", where),
                       "Go to " + block_name(trace.launch.grid, block.x, block.y, block.z), ""};
    }
    if (at.size() != 1) return std::nullopt;
    if (what == "step" && at[0] >= 1 && at[0] <= session.block->steps)
        return Command{fmt::format("step:{}", at[0]), fmt::format("Go to step {} of this block", at[0]), ""};
    const Notation& notation = session.recording->notation;
    const uint32_t phase = at[0] - (notation.phases_from_1 ? 1 : 0);
    if (what == "phase" && phase < session.block->phases.phases)
        return Command{fmt::format("phase:{}", phase),
                       fmt::format("Go to {} of this block", phase_name(phase, notation)), ""};
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
    for (const std::string_view word : split(query, ' ')) {
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
        const auto at = std::ranges::find(recent, command.id);
        found.push_back({std::move(command), score, static_cast<size_t>(at - recent.begin())});
    }
    std::ranges::stable_sort(found, {}, [](const Found& one) { return std::pair(-one.score, one.used); });
    std::vector<Command> commands;
    if (auto there = place(session, query)) commands.push_back(std::move(*there));
    for (Found& one : found) commands.push_back(std::move(one.command));
    return commands;
}

void run_command(State& state, Session& session, std::span<const Offer> offers, const std::string& id) {
    const size_t colon = id.find(':');
    const std::string kind = id.substr(0, colon),
                      what = colon == std::string::npos ? "" : id.substr(colon + 1);
    const std::vector<uint32_t> at = numbers(what);
    state.palette.open = false;
    if (kind == "step" || kind == "phase" || kind == "block") {
        // Places are quicker typed again than found among what was used.
        if (!session.block || at.empty()) return;
        if (kind == "step") return session::go_to(session, std::max(at[0], 1u) - 1);
        const auto& spans = session.block->spans;
        const auto span = std::ranges::find(spans, at[0], &draw::PhaseSpan::phase);
        if (kind == "phase" && span != spans.end()) return session::go_to(session, span->first);
        if (const auto block = block_at(session.trace(), at)) {
            session.cursor.block = *block;
            session::go_to(session, 0);
        }
        return;
    }
    const std::string& name = kind == "action" ? what : id;
    if (kind == "preset" && !at.empty() && at[0] < kernels::presets().size()) {
        state.form.kernel = kernels::presets()[at[0]].kernel;
        state.form.shape = kernels::presets()[at[0]].shape;
        session.walk.running = false;
        session::record(session, state.form);
    } else if (kind == "shipped" || kind == "open") {
        session.walk.running = false;
        kind == "open" ? session::open_file(session, what) : session::open_shipped(session, what);
    } else if (kind == "export") {
        open_export_box(state, session, what);
    } else if (std::ranges::find(offers, name, &Offer::name) != offers.end()) {
        session.asked.push_back(name);
    } else {
        return;
    }
    session::remember(session.recent_commands, id);
}

}  // namespace tilescope::input
