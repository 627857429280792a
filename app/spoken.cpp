#include "app/spoken.h"

#include <fmt/format.h>

#include "app/app.h"
#include "app/lessons/asking.h"
#include "app/look/faults.h"
#include "app/step/model.h"
#include "core/base/text.h"

namespace tilescope::app {
namespace {

// Sentences, one behind the other.
struct Sentences {
    std::string text{};
    void say(std::string_view sentence) {
        if (sentence.empty()) return;
        if (!text.empty()) text += text.ends_with('.') || text.ends_with('?') ? " " : ". ";
        text += sentence;
    }
};

void say_stop(Sentences& all, const State& state) {
    const lessons::State& place = state.lessons;
    const lessons::LessonStop* const stop = lessons::stop_shown(place);
    if (!state.session.walking || stop == nullptr || place.wanted) return;
    const lessons::Lesson& lesson = (*place.lessons)[place.lesson];
    all.say(place.quiz ? "Ask me"
                       : fmt::format("{}, stop {} of {}", lesson.title, place.stop + 1, lesson.stops.size()));
    const lessons::Standing& here = place.standing;
    if (!place.asked) return all.say(here.words);
    if (place.asked->revealed) {
        all.say(place.asked->verdict);
        all.say(here.why);
        return all.say(here.words);
    }
    all.say(here.asks);
    for (size_t at = 0; at < here.choices.size(); ++at)
        all.say(fmt::format("{}: {}", static_cast<char>('A' + at), here.choices[at]));
    const session::Question& asked = state.session.question;
    if (asked.choice) all.say(fmt::format("Chosen: {}", static_cast<char>('A' + *asked.choice)));
    if (!asked.typed.empty()) all.say("Typed: " + asked.typed);
    all.say(lessons::tally_words(place.tally));
}

void say_step(Sentences& all, const session::Session& session) {
    if (!session.recording || !session.block || !session.block->why_not.empty() ||
        session.cursor.step >= session.block->steps)
        return;
    all.say(step::caption_of(session));
    if (session.faults && !session.question.hides_any())
        if (const auto faults = look::fault_captions(session.trace(), *session.faults, session.cursor.step,
                                                     session.recording->notation);
            !faults.empty())
            all.say(faults.front());
}

}  // namespace

std::string spoken(const State& state) {
    constexpr size_t kMost = 4000;  // bytes
    const session::Session& session = state.session;
    Sentences all;
    all.say(session.message);
    if (session.opening) all.say(session::opening_words(session));
    if (session.screen != session::kStepScreen) all.say(fmt::format("{} screen", screen_of(state).name));
    say_stop(all, state);
    if (lessons::at_end(state.lessons, session))
        for (const std::string& sentence : state.lessons.summary) all.say(sentence);
    else if (session.screen == session::kStepScreen)
        say_step(all, session);
    return one_sentence(all.text, kMost);
}

}  // namespace tilescope::app
