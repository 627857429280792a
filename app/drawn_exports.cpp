#include "app/drawn_exports.h"

#include <utility>

#include <fmt/format.h>

#include "app/platform/abilities.h"
#include "core/base/file.h"

namespace tilescope::app {

PageSize size_of(State::Page page) {
    return page == State::Page::Poster ? PageSize{1400, 1980, "420mm 594mm"}
                                       : PageSize{1600, 900, "338.6mm 190.5mm"};
}

Result<State> page_of(std::shared_ptr<const session::Recording> recording, uint32_t block, draw::Theme theme,
                      State::Page page) {
    State state;
    state.session.theme = theme;
    session::show(state.session, std::move(recording));
    state.session.cursor.block = block;
    state.session.text_scale = kPageText;
    update(state, true);
    if (auto made = make_page(state, page); !made) return made.error();
    return state;
}

State on_paper(const lessons::Lesson& lesson) {
    State state;
    state.paper = true;
    state.lessons.with_own = std::make_shared<const std::vector<lessons::Lesson>>(1, lesson);
    state.lessons.lessons = state.lessons.with_own.get();
    state.lessons.on_paper = true;
    return state;
}

Result<std::string> picture_of_stop(State& paper, size_t stop, const DrawSvg& draw) {
    // Type that is read on A4: an inch is about 160 of these pixels, of the arrays alone 120. Two stops have room on
    // a page, with lines for an answer.
    constexpr int kWidth = 1120, kHeight = 590, kArraysWidth = 840, kArraysHeight = 390;
    // Of a case that a question is asked of: what is given, and room for one's own working.
    constexpr int kAskedHeight = 450;
    go_to_stop(paper.lessons, paper.session, 0, stop);
    update(paper, true);
    update(paper, true);
    const bool given =
        !paper.lessons.lessons->front().stops[stop].limits.empty() && paper.session.question.hides_any();
    const bool arrays = paper.session.screen == session::kStepScreen;
    return draw(paper, arrays ? kArraysWidth : kWidth,
                arrays  ? kArraysHeight
                : given ? kAskedHeight
                        : kHeight);
}

// A handout.
struct DrawnExport::Begun {
    std::string path;
    std::unique_ptr<Frame> frame;
    State paper;                                     // of the lesson's stops
    session::Job<Result<lessons::Handout>> telling;  // its words
    std::vector<std::string> pictures{};             // so far
};

namespace {

// What a picture is drawn by: a frame beside the window's, with type of its own size.
DrawSvg drawn_by(Frame& frame) {
    return [&frame](const State& state, int width, int height) -> Result<std::string> {
        ImGuiContext* const before = ImGui::GetCurrentContext();
        std::string svg = frame.svg(state, {width, height, 1}, true);
        ImGui::SetCurrentContext(before);
        return svg;
    };
}

std::string written(const std::string& path, const std::string& text) {
    const std::string why = write_whole(path, text);
    return why.empty() ? fmt::format("Exported as '{}'.", platform::hand_over(path))
                       : fmt::format("'{}' could not be written: {}.", path, why);
}

std::string not_exported(const Error& why) { return fmt::format("Not exported: {}.", why.message); }

const lessons::Lesson* lesson_at_hand(const State& state) {
    for (const lessons::Lesson& one : *state.lessons.lessons)
        if ((one.path.empty() ? one.name : one.path) == state.session.lesson) return &one;
    return nullptr;
}

}  // namespace

void DrawnExport::go_on(State& state) {
    session::Session& session = state.session;
    const auto ends = [&](std::string sentence) {
        session.message = std::move(sentence);
        session.exporting.reset();
        begun_.reset();
    };
    if (!session.exporting || session.exporting->drawn.empty()) return begun_.reset();
    const session::Exporting& asked = *session.exporting;
    if (asked.stopping) return ends(fmt::format("Stopped; '{}' was not written.", asked.path));
    if (!begun_ || begun_->path != asked.path) {
        ImGuiContext* const before = ImGui::GetCurrentContext();
        auto frame = Frame::create();
        ImGui::SetCurrentContext(before);
        if (!frame) return ends(not_exported(frame.error()));
        if (asked.drawn != "lesson_html") {
            const auto page = asked.drawn == "page_poster" ? State::Page::Poster : State::Page::Storyboard;
            auto paper = page_of(session.recording, session.cursor.block, session.theme, page);
            if (!paper) return ends(not_exported(paper.error()));
            const PageSize size = size_of(page);
            const auto svg = drawn_by(**frame)(*paper, size.width, size.height);
            return ends(svg ? written(asked.path, *svg) : not_exported(svg.error()));
        }
        const lessons::Lesson* const lesson = lesson_at_hand(state);
        if (lesson == nullptr) return ends("Not exported: no lesson is chosen any more.");
        auto telling = session.jobs->start(
            [lesson = *lesson](session::Control&) { return lessons::handout_of(lesson); });
        begun_ = std::make_shared<Begun>(
            Begun{asked.path, std::move(*frame), on_paper(*lesson), std::move(telling)});
        return;
    }
    if (!begun_->telling.ready()) return;
    const Result<lessons::Handout>& told = begun_->telling.get();
    if (!told) return ends(not_exported(told.error()));
    std::vector<std::string>& pictures = begun_->pictures;
    const size_t stops = told->stops.size();
    if (pictures.size() < stops) {
        auto svg = picture_of_stop(begun_->paper, pictures.size(), drawn_by(*begun_->frame));
        if (!svg) return ends(not_exported(svg.error()));
        pictures.push_back(std::move(*svg));
        session.exporting->stops_done = pictures.size(), session.exporting->stops = stops;
        return;
    }
    lessons::Handout handout = *told;
    for (size_t at = 0; at < stops; ++at) handout.stops[at].svg = std::move(pictures[at]);
    ends(written(asked.path, html_of(handout)));
}

}  // namespace tilescope::app
