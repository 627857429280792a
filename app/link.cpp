#include "app/link.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "app/app.h"
#include "app/platform/abilities.h"
#include "core/base/text.h"
#include "core/base/words.h"

namespace tilescope::app {
namespace {

constexpr size_t kLongest = 8192;                          // bytes
constexpr std::string_view kThemes[] = {"light", "dark"};  // in the order of draw::Theme

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = static_cast<char>(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// "a%20b" as "a b"; none where a percent sign stands for nothing, or for a control.
std::optional<std::string> decoded(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size(); ++at) {
        char c = text[at];
        if (c == '%') {
            if (at + 2 >= text.size() || digit_of(text[at + 1]) < 0 || digit_of(text[at + 2]) < 0)
                return std::nullopt;
            c = static_cast<char>(digit_of(text[at + 1]) * 16 + digit_of(text[at + 2]));
            at += 2;
        }
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return std::nullopt;
        out += c;
    }
    return out;
}

// What a fragment may hold stays, so that addresses stay readable; not what parts words of a link.
std::string encoded(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           std::string_view("-._~/:@!$'()*,;?").find(c) != std::string_view::npos;
        out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

template <class Number>
std::optional<Number> whole(std::string_view text) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

bool is_of_recordings(const ScreenRow& screen) { return screen.there == nullptr; }

const lessons::Lesson* find_lesson(std::string_view name) {
    const auto& all = lessons::lesson_list();
    const auto found = std::ranges::find(all, name, &lessons::Lesson::name);
    return found == all.end() ? nullptr : &*found;
}

// What can be fetched: http and https, and what stands beside the page.
bool may_be_fetched(std::string_view address) {
    const size_t colon = address.find_first_of(":/?");
    if (colon == std::string_view::npos || address[colon] != ':') return !address.starts_with("//");
    const std::string_view scheme = address.substr(0, colon);
    return (scheme == "http" || scheme == "https") && address.substr(colon).starts_with("://");
}

bool may_be_recorded(const std::string& kernel, const kernels::Shape& shape) {
    return kernels::requests_about(*kernels::find(kernel), shape) <= lessons::kMostRequestsOfLesson;
}

// Reads one link: word by word, and then what its words mean together.
struct Reader {
    ReadLink made{};
    std::optional<uint32_t> tile{};
    bool lost = false;  // what it is of is not understood: its step would be of something else

    void fail(std::string sentence) {
        if (made.problem.empty()) made.problem = std::move(sentence);
    }
    // False where it is none.
    template <class Number>
    bool number(std::string_view key, std::string_view value, Number& out) {
        const auto read = whole<Number>(value);
        const bool good = read && *read > 0;
        if (good)
            out = *read;
        else
            fail(fmt::format("The link's {}={} is no number from 1 on.", key, one_line(value)));
        return good;
    }
    void lose(std::string sentence) {
        fail(std::move(sentence));
        lost = true;
    }
    void ships(std::string_view key, const std::string& value, bool found, std::string& out) {
        if (found)
            out = value;
        else
            lose(fmt::format("The link's {} '{}' is not among those that ship.", key, one_line(value)));
    }
    void flag(std::string_view key, std::string_view value, bool& out) {
        if (value == "1" || value == "0")
            out = value == "1";
        else
            fail(fmt::format("The link's {}={} is neither 1 nor 0.", key, one_line(value)));
    }

    void word(std::string_view key, const std::string& value) {
        Link& link = made.link;
        if (key == "t") {
            if (value.empty() || (is_address(value) && !may_be_fetched(value)))
                lose(fmt::format("The link's t={} is no recording; name one that ships or an https address.",
                                 one_line(value)));
            else
                link.recording = value;
        } else if (key == "kernel") {
            ships(key, value, kernels::find(value) != nullptr, link.kernel);
        } else if (key == "m" || key == "k" || key == "n") {
            if (!number(key, value, key == "m" ? link.shape.m : key == "k" ? link.shape.k : link.shape.n))
                lost = true;
        } else if (key == "tile") {
            if (!number(key, value, tile.emplace(0))) lost = true;
        } else if (key == "lesson") {
            ships(key, value, find_lesson(value) != nullptr, link.lesson);
        } else if (key == "stop") {
            number(key, value, link.stop);
        } else if (key == "screen") {
            if (const ScreenRow* const row = find_screen(value); row != nullptr && is_of_recordings(*row))
                link.screen = value;
            else
                fail(fmt::format("The link's screen '{}' is not known.", one_line(value)));
        } else if (key == "step") {
            number(key, value, link.step);
        } else if (key == "theme") {
            const auto theme = std::ranges::find(kThemes, value);
            if (theme != std::end(kThemes))
                link.theme = static_cast<draw::Theme>(theme - std::begin(kThemes));
            else
                fail(
                    fmt::format("The link's theme '{}' is not known; it is light or dark.", one_line(value)));
        } else if (key == "lecture") {
            flag(key, value, link.lecture.emplace(false));
        } else if (key == "embed") {
            flag(key, value, link.embed);
        } else {
            fail(fmt::format("The link says '{}', which means nothing here.", one_line(key)));
        }
    }

    // A lesson brings its recordings; a recording is not recorded.
    ReadLink ready() {
        Link& link = made.link;
        LinkSource& source = link;
        if (!link.lesson.empty()) {
            const size_t stops = find_lesson(link.lesson)->stops.size();
            if (link.stop > stops + 1) {
                fail(fmt::format("The link's stop {} is not there; the lesson has {}.", link.stop, stops));
                link.stop = 1;
            }
            source = {.lesson = link.lesson, .stop = link.stop};
        } else if (!link.recording.empty()) {
            source = {.recording = link.recording};
        } else if (!link.kernel.empty()) {
            kernels::Shape shape = link.shape;
            shape.tile = kernels::tile_width(link.kernel, tile);
            source = {.kernel = link.kernel, .shape = shape};
            const auto plan = kernels::plan(link.kernel, shape);
            if (!plan) lose(fmt::format("The link's kernel cannot be recorded: {}.", plan.error().message));
            const bool large = !may_be_recorded(link.kernel, shape);
            if (plan && large)
                lose(fmt::format(
                    "The link's kernel {} is too large to be recorded for a link; press R to record it.",
                    link.kernel));
        }
        if (lost) link.step = 0;
        if (lost || !link.any()) source = {};
        return std::move(made);
    }
};

bool same_source(const Link& a, const Link& b) {
    return static_cast<const LinkSource&>(a) == static_cast<const LinkSource&>(b);
}

}  // namespace

bool is_address(std::string_view recording) {
    return recording.find_first_of(":/") != std::string_view::npos || recording.ends_with(".tsc");
}

ReadLink read_link(std::string_view text) {
    Reader reader;
    if (text.starts_with('#')) text.remove_prefix(1);
    if (text.size() > kLongest) {
        reader.fail("The link is too long to be one of this program.");
        return std::move(reader.made);
    }
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(part.size() + 1, text.size()));
        if (part.empty()) continue;
        const size_t equals = std::min(part.find('='), part.size());
        const auto value = decoded(part.substr(std::min(equals + 1, part.size())));
        const std::string_view key = part.substr(0, equals);
        if (value) {
            reader.word(key, *value);
            continue;
        }
        constexpr std::string_view kOfWhat[] = {"t", "kernel", "m", "k", "n", "tile", "lesson"};
        reader.fail(fmt::format("The link's '{}' is not written as addresses are.", one_line(part)));
        reader.lost = reader.lost || std::ranges::find(kOfWhat, key) != std::end(kOfWhat);
    }
    return reader.ready();
}

std::string text_of(const Link& link) {
    std::string text;
    const auto add = [&](std::string_view key, std::string_view value) {
        text += fmt::format("{}{}={}", text.empty() ? "" : "&", key, encoded(value));
    };
    if (!link.recording.empty()) add("t", link.recording);
    if (!link.kernel.empty()) {
        add("kernel", link.kernel);
        for (const auto& [key, size] :
             {std::pair{"m", link.shape.m}, {"k", link.shape.k}, {"n", link.shape.n}})
            add(key, std::to_string(size));
        if (link.shape.tile > 0) add("tile", std::to_string(link.shape.tile));
    }
    if (!link.lesson.empty()) {
        add("lesson", link.lesson);
        add("stop", std::to_string(link.stop));
    }
    if (!link.screen.empty()) add("screen", link.screen);
    if (link.step > 0) add("step", std::to_string(link.step));
    if (link.theme) add("theme", kThemes[static_cast<size_t>(*link.theme)]);
    if (link.lecture) add("lecture", *link.lecture ? "1" : "0");
    if (link.embed) add("embed", "1");
    return text;
}

Link link_to(const State& state) {
    const session::Session& session = state.session;
    Link link;
    static_cast<LinkLooks&>(link) = state.linked;
    if (link.theme) link.theme = session.theme;
    if (link.lecture) link.lecture = session.lecture;
    const bool steps = session.recording && session.cursor.block < session.trace().blocks.size() &&
                       session.trace().steps() > 0;
    const auto step = [&] { return playback::step_number(session.trace(), session.cursor); };
    const bool walks =
        session.walking && !state.lessons.quiz && (*state.lessons.lessons)[state.lessons.lesson].path.empty();
    if (walks) {
        const lessons::Lesson& lesson = (*state.lessons.lessons)[state.lessons.lesson];
        link.lesson = lesson.name;
        link.stop = static_cast<uint32_t>(state.lessons.stop) + 1;
        if (state.lessons.wanted || state.lessons.stop >= lesson.stops.size()) return link;
        const lessons::LessonStop& stop = lesson.stops[state.lessons.stop];
        if (lessons::is_modelled(stop)) return link;
        if (session.screen != stop.screen) link.screen = session.screen;
        if (steps && session.cursor != state.lessons.standing.at) link.step = step();
        return link;
    }
    if (session.screen != session::kStepScreen) link.screen = session.screen;
    if (const ScreenRow* const row = find_screen(session.screen); row == nullptr || !is_of_recordings(*row))
        link.screen.clear();
    if (!session.recording) return link;
    if (!state.fetched.empty() && session.recording->origin == state.fetched)
        link.recording = state.fetched;
    else if (const auto source = session::source_of(session);
             source && (source->kernel.empty() || may_be_recorded(source->kernel, source->shape)))
        static_cast<LinkSource&>(link) = {source->shipped, source->kernel, source->shape, "", 1};
    if (steps && link.any()) link.step = step();
    return link;
}

void follow(State& state, const Link& link, const std::string& problem) {
    session::Session& session = state.session;
    state.link_problem = problem;
    state.linked = link;
    if (link.theme) session.theme = *link.theme;
    if (link.lecture) session.lecture = *link.lecture;
    state.arriving = link;
    if (!link.any() || same_source(link, link_to(state))) return;
    session.walking = false;
    if (!link.lesson.empty()) {
        const auto& all = *state.lessons.lessons;
        const auto found = std::ranges::find(all, link.lesson, &lessons::Lesson::name);
        lessons::go_to_stop(state.lessons, session, static_cast<size_t>(found - all.begin()), link.stop - 1);
    } else if (!link.kernel.empty()) {
        session::record(session, {link.kernel, link.shape, {}, gpu::BackendChoice::Cpu});
    } else if (is_address(link.recording)) {
        state.fetched = link.recording;
        session.message = fmt::format("Fetching '{}'\u2026", one_line(link.recording));
        platform::fetch(link.recording);
    } else {
        session::open_shipped(session, link.recording);
    }
}

void arrive(State& state) {
    session::Session& session = state.session;
    if (!state.arriving || session.opening || session.ordered || (session.walking && state.lessons.wanted))
        return;
    const Link& link = *state.arriving;
    // Not fetched yet.
    if (is_address(link.recording) && !(session.recording && session.recording->origin == link.recording))
        return;
    if (!link.screen.empty())
        session.screen = link.screen;
    else if (link.lesson.empty() && (link.any() || link.step > 0))
        session.screen = session::kStepScreen;  // which a link does not name
    // What could not be had has a message that says why, and its step is none of what is shown instead.
    const bool there = session.recording && (!link.any() || same_source(link, link_to(state)));
    if (const uint64_t step = link.step; step > 0 && there) {
        const trace::Trace& trace = session.trace();
        if (step <= trace.steps()) {
            const uint32_t block = trace::block_of(trace, step - 1);
            session.cursor = {block, static_cast<uint32_t>(step - 1 - trace.blocks[block].first)};
            session.playback.playing = false;
        } else {
            session.message = fmt::format("The link's step {} is not there; the recording has {}.",
                                          grouped(step), grouped(trace.steps()));
        }
    }
    if (!state.link_problem.empty()) session.message = std::exchange(state.link_problem, "");
    state.arriving.reset();
}

}  // namespace tilescope::app
