// The command palette's list, and what its rows do.
#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "app/input/overlays.h"
#include "app/session/session.h"
#include "core/base/text.h"
#include "core/base/words.h"

namespace tilescope::input {
namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::string lowered(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), lower);
    return out;
}

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

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// One way to write what is written in several: "tiled_padded 64 x 64, T = 16" is "tiled padded 64x64, T=16".
std::string one_way(std::string_view text) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        const std::string_view rest = text.substr(i);
        const bool after_digit = !out.empty() && is_digit(out.back());
        if (rest.starts_with(" = "))
            out += '=', i += 2;
        else if (after_digit && rest.starts_with(" x ") && rest.size() > 3 && is_digit(rest[3]))
            out += 'x', i += 2;
        else if (after_digit && rest.starts_with("\u00d7"))
            out += 'x', i += 1;
        else if (after_digit && rest.starts_with(" \u00d7 ") && rest.size() > 4 && is_digit(rest[4]))
            out += 'x', i += 3;
        else
            out += text[i] == '_' ? ' ' : text[i];
    }
    return out;
}

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || (c & 0x80) != 0; }

// The words of a title, lower case: letters and digits between anything else.
std::vector<std::string> words_of(std::string_view title) {
    std::vector<std::string> words(1);
    for (const char c : title)
        if (in_word(c))
            words.back() += lower(c);
        else if (!words.back().empty())
            words.emplace_back();
    if (words.back().empty()) words.pop_back();
    return words;
}

// One letter wrong, missing, too many, or changed places with its neighbour; the first is right.
bool nearly(std::string_view one, std::string_view other) {
    if (one.size() > other.size()) std::swap(one, other);
    if (one.empty() || one[0] != other[0] || other.size() - one.size() > 1) return false;
    const auto at = static_cast<size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
    if (one.size() < other.size()) return one.substr(at) == other.substr(at + 1);
    if (at == one.size() || one.substr(at + 1) == other.substr(at + 1)) return true;
    return one[at] == other[at + 1] && one[at + 1] == other[at] && one.substr(at + 2) == other.substr(at + 2);
}

bool plural(std::string_view one, std::string_view many) {
    return many.size() == one.size() + 1 && many.starts_with(one) && many.back() == 's';
}

// How well a word of the query meets a title, and the number of the word of it that it meets.
struct Met {
    int score = -1;
    size_t word = 0;
};
Met meet(const std::string& word, std::string_view title, const std::vector<std::string>& words,
         bool forgiving) {
    Met best;
    const auto take = [&](int score, size_t at) {
        if (score > best.score) best = {score, at};
    };
    if (!std::ranges::all_of(word, in_word)) {  // "T=16", "thread[y,x]": as it stands
        const auto found = std::ranges::search(title, word, {}, lower);
        return {found.empty() ? -1 : 35, words.size()};
    }
    std::string initials;
    for (const std::string& one : words) initials += one[0];
    for (size_t at = 0; at < words.size(); ++at) {
        const std::string& one = words[at];
        if (one == word)
            take(40, at);
        else if (plural(one, word))
            take(38, at);
        else if (one.starts_with(word))
            take(30, at);
        else if (word.size() >= 2 && initials.compare(at, word.size(), word) == 0)
            take(20, at);
        else if (word.size() >= 3 && one.find(word) != std::string::npos)
            take(15, at);
        else if (forgiving && word.size() >= 5 && nearly(word, one))
            take(10, at);
    }
    return best;
}

// Of a query that is a whole question, how many of its words of so many letters a title says or begins to say.
size_t words_met(std::string_view query, std::string_view title, size_t letters) {
    constexpr int kBegun = 30;  // meet's score
    const std::vector<std::string> words = words_of(title);
    return static_cast<size_t>(std::ranges::count_if(words_of(query), [&](const std::string& word) {
        return word.size() >= letters && meet(word, title, words, false).score >= kBegun;
    }));
}

// What says most of a query that nothing says all of, the best first: at least two of its longer words; where
// nothing does, one that is longer still.
std::vector<Command> nearest_commands(const std::vector<Command>& all, std::string_view query) {
    constexpr size_t kMost = 8, kQuestion = 3;  // rows; words of what is no slip of the keyboard
    std::vector<std::pair<size_t, const Command*>> near;
    const auto look_for = [&](size_t least, size_t letters) {
        for (const Command& command : all)
            if (const size_t met = words_met(query, command.title, letters); met >= least)
                near.emplace_back(met, &command);
    };
    look_for(2, 4);
    if (near.empty() && split(query, ' ').size() >= kQuestion) look_for(1, 5);
    std::ranges::stable_sort(near, {}, [](const auto& one) {
        return std::pair(-static_cast<int>(one.first), one.second->title.size());
    });
    std::vector<Command> commands;
    for (size_t i = 0; i < std::min(near.size(), kMost); ++i) commands.push_back(*near[i].second);
    return commands;
}

std::vector<Command> all_commands(const Session& session, std::span<const Offer> offers) {
    std::vector<Command> all;
    const auto add = [&](bool named) {
        for (const Offer& offer : offers) {
            if (offer.name == "commands" || !can(session, offer) ||
                (offer.name.find(':') != std::string::npos) != named)
                continue;
            all.push_back({named ? offer.name : "action:" + offer.name, capital(offer.help), offer.keys});
        }
    };
    add(false);
    for (const session::ExportChoice& choice : session::export_choices())
        if (session::can_export(session, choice))
            all.push_back({fmt::format("export:{}", choice.id), choice.title, ""});
    add(true);
    for (const Session::OwnLesson& lesson : session.listed_lessons)
        all.push_back({"own:" + lesson.path, "Lesson: " + lesson.title, ""});
    for (size_t at = 0; at < kernels::presets().size(); ++at)
        all.push_back({fmt::format("preset:{}", at), "Record preset " + kernels::presets()[at].label, ""});
    for (const kernels::KernelInfo& kernel : kernels::catalogue())
        all.push_back(
            {"kernel:" + kernel.name, fmt::format("Record kernel {}: {}", kernel.name, kernel.teaches), ""});
    for (const kernels::ShippedRecording& recording : session.assets.recordings())
        all.push_back({"shipped:" + recording.name, "Open shipped recording " + recording.label, ""});
    if (session.program) {
        all.push_back({"action:screen_program", "Launches of " + session.program->name, ""});
        for (const launched::LaunchLine* launch : session::recorded_launches(session)) {
            const std::string named = session::launch_name(session, *launch);
            all.push_back({fmt::format("launch:{}", launch->number), "Open " + named, ""});
            if (session.recording && launch->number != session.program->opened)
                all.push_back({fmt::format("beside:{}", launch->number), "Compare with " + named, ""});
        }
    }
    for (const session::Example& example : session::offered_examples(session))
        all.push_back(
            {"example:" + example.name, fmt::format("Open program {}: {}", example.name, example.about), ""});
    for (const std::string& path : session.recent_files) all.push_back({"open:" + path, "Open " + path, ""});
    return all;
}

}  // namespace

int match(std::string_view query_as_typed, std::string_view title_as_shown, bool forgiving) {
    const std::string query = one_way(query_as_typed), title = one_way(title_as_shown);
    const std::vector<std::string> words = words_of(title);
    int score = 0;
    size_t next = 0;  // the word that would follow the one before; at first the title's first
    for (const std::string_view part : split(query, ' ')) {
        const Met met = meet(lowered(part), title, words, forgiving);
        if (met.score < 0) return -1;
        score += met.score + (met.word == next ? 5 : 0);
        next = met.word + 1;
    }
    if (score == 0) return 0;
    // What stands before a colon is a name. Of two that meet it equally well, the one that says less besides.
    const std::string typed = lowered(query),
                      called = lowered(std::string_view(title).substr(0, title.find(':')));
    const bool named = typed == called || plural(called, typed);
    return (score + (named ? 20 : 0)) * 64 - static_cast<int>(std::min<size_t>(title.size(), 63));
}

std::vector<Command> find_commands(const Session& session, std::span<const Offer> offers,
                                   std::string_view query) {
    struct FoundCommand {
        Command command;
        int score = 0;
        size_t used = 0;
    };
    std::vector<FoundCommand> found;
    const std::vector<std::string>& recent = session.recent_commands;
    std::vector<Command> commands;
    if (auto there = find_place(session, query)) commands.push_back(std::move(*there));
    const std::vector<Command> all = all_commands(session, offers);
    for (const bool forgiving : {false, true}) {
        if (!found.empty() || (forgiving && !commands.empty())) break;
        for (const Command& command : all) {
            int score = match(query, command.title, forgiving);
            if (command.id.starts_with("lesson:")) score = std::max(score, match(query, command.id));
            if (score < 0) continue;
            // What is called so comes before a program or a kernel whose text says it too, and what is there
            // before what is still to be recorded.
            const bool kernel = command.id.starts_with("kernel:");
            if ((kernel || command.id.starts_with("example:")) &&
                match(query, command.title.substr(0, command.title.find(':'))) < 0)
                score = std::max(0, score - 64 * 40);
            if (kernel) score = std::max(0, score - 64 * 10);
            // Of two that do the same on different screens, the one on this screen.
            if (score > 0 && command.id.starts_with(session.screen + ":")) score += 64;
            // Of what one may go to, the way forward first.
            if (score > 0 && command.id.starts_with("action:next_")) score += 64 * 10;
            const auto at = std::ranges::find(recent, command.id);
            found.push_back({command, score, static_cast<size_t>(at - recent.begin())});
        }
    }
    if (found.empty() && commands.empty()) return nearest_commands(all, query);
    std::ranges::stable_sort(found, {},
                             [](const FoundCommand& one) { return std::pair(-one.score, one.used); });
    for (FoundCommand& one : found) commands.push_back(std::move(one.command));
    return commands;
}

void run_command(State& state, Session& session, std::span<const Offer> offers, const std::string& id) {
    const size_t colon = id.find(':');
    const std::string kind = id.substr(0, colon),
                      what = colon == std::string::npos ? "" : id.substr(colon + 1);
    if (id == "none") return;
    state.palette.open = false;
    if (go_to_place(session, kind, what)) return;  // typed again sooner than found among what was used
    const std::string& name = kind == "action" ? what : id;
    const auto preset = std::ranges::find_if(kernels::presets(), [&](const kernels::Preset& one) {
        return what == std::to_string(&one - kernels::presets().data());
    });
    if (kind == "preset" && preset != kernels::presets().end()) {
        state.form.kernel = preset->kernel;
        state.form.shape = preset->shape;
        session.walking = false;
        session::record(session, state.form);
    } else if (kind == "shipped" || kind == "open") {
        session.walking = false;
        kind == "open" ? session::open_file(session, what) : session::open_shipped(session, what);
    } else if (kind == "launch" || kind == "beside") {
        uint64_t number = 0;
        std::from_chars(what.data(), what.data() + what.size(), number);
        return session::open_launch(session, number,
                                    kind == "beside");  // of this program alone: not remembered
    } else if (const kernels::KernelInfo* const of = kernels::find(what); kind == "kernel" && of != nullptr) {
        state.form.open = true;
        state.form.of_program = false;
        choose_kernel(state.form, *of);
    } else if (kind == "own") {
        session.ask(session::wish::BeginLesson{what});
    } else if (kind == "example") {
        session::open_example(session, what);
    } else if (kind == "export") {
        open_export_box(state, session, what);
    } else if (std::ranges::find(offers, name, &Offer::name) != offers.end()) {
        session.ask_to(name);
    } else {
        return;
    }
    session::remember(session.recent_commands, id);
}

}  // namespace tilescope::input
