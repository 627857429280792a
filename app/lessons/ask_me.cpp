// "Ask me": questions that any recording can be asked. A table of kinds, each with the steps that it fits; of
// the kind that was asked least often the next step of the cursor's block is taken at which its instruction
// was not asked about yet.
#include <algorithm>

#include "app/lessons/asking.h"

namespace tilescope::lessons {
namespace {

using session::Session;
using Kind = Question::Kind;

constexpr uint32_t kMostLooked = 20'000;  // steps of a block
constexpr uint64_t kMostCells = 64;       // elements that one clicks

bool is_request(const Scene& scene) {
    const trace::Form& form = form_of(scene);
    return kind_of(scene) != StepKind::Barrier && form.mask != 0 && form.array != trace::kNoArray;
}
bool is_either(const Scene& scene, StepKind load, StepKind store) {
    return (kind_of(scene) == load || kind_of(scene) == store) && is_request(scene);
}
bool is_global(const Scene& scene) { return is_either(scene, StepKind::GlobalLoad, StepKind::GlobalStore); }
bool is_shared(const Scene& scene) { return is_either(scene, StepKind::SharedLoad, StepKind::SharedStore); }

struct AskKind {
    Kind kind;
    const char *text, *answer, *why;
    bool (*fits)(Scene&);
    bool once = false;  // of a recording, not of each instruction
    std::vector<std::pair<const char*, const char*>> choices{};
};

const std::vector<AskKind>& kinds() {
    static const std::vector<AskKind> all = {
        {Kind::Elements, "Which elements of {array} does warp {warp} touch here?", "",
         "{lanes} lanes work here; together they touch {touched} elements of {array}.",
         [](Scene& s) { return is_request(s) && number_at(s, "touched") <= kMostCells; }},
        {Kind::Number, "How many sectors does this request of warp {warp} need?", "sectors",
         "The lanes touch {touched} elements of {array}; packed closely they would need {least_sectors}.",
         [](Scene& s) { return is_global(s); }},
        {Kind::Number, "How many wavefronts does this request of warp {warp} need?", "wavefronts",
         "As many as the fullest bank has different words: {words} words lie in {banks} banks.",
         [](Scene& s) { return is_shared(s); }},
        {Kind::Value, "Which value does {thread} store to {element}?", "first",
         "It is what {thread} fetched before, or a zero.",
         [](Scene& s) {
             return s.replay != nullptr && is_request(s) && kind_of(s) == StepKind::SharedStore;
         }},
        {Kind::Bank, "Which bank is the fullest, with most different words?", "",
         "{words} words lie in {banks} banks, so the request takes {wavefronts} of the least "
         "{least_wavefronts}.",
         [](Scene& s) { return is_shared(s) && number_at(s, "wavefronts") > 1u; }},
        {Kind::Lanes, "Which lanes of warp {warp} work here?", "active",
         "{lanes} work, {idle} do not: their threads do not exist, or do not take this path.",
         [](Scene& s) { return is_request(s) && form_of(s).mask != 0xFFFF'FFFFu; }},
        {Kind::Number, "How many warps of the block does this barrier still wait for?", "awaited",
         "Of {warps} warps {arrived} have come.",
         [](Scene& s) { return kind_of(s) == StepKind::Barrier && number_at(s, "warps") > 1u; }},
        {Kind::Choice,
         "Is the product of this recording right?",
         "",
         "Checked after the launch: {result}.",
         [](Scene& s) { return s.trace.meta.result.checked; },
         true,
         {{"right", "wrong = 0"}, {"wrong", "wrong > 0"}}},
        {Kind::Choice,
         "Measured at this size, is this kernel faster than {rival}?",
         "",
         "It runs at {speed} per cent of the speed of {rival}.",
         [](Scene& s) { return number_at(s, "speed").has_value(); },
         true,
         {{"faster", "speed > 100"}, {"slower, or as fast", "speed <= 100"}}},
    };
    return all;
}

Question question_of(const AskKind& kind) {
    Question question{kind.kind, kind.text, kind.answer, kind.why, {}};
    for (const auto& [say, when] : kind.choices) question.choices.push_back({say, *read_condition(when)});
    return question;
}

// The next step at which a kind of question can be asked; none where there is none left.
std::optional<uint32_t> step_for(const State& state, const AskKind& kind, size_t number, Scene& scene,
                                 uint32_t from) {
    const uint32_t steps = std::min(scene.index.steps, kMostLooked);
    for (uint32_t i = 0; i < steps; ++i) {
        scene.step = (from + i) % scene.index.steps;
        const uint32_t site = kind.once ? 0 : form_of(scene).site;
        if (state.quiz_asked.contains({number, site})) continue;
        if (kind.fits(scene)) return scene.step;
        if (kind.once) return std::nullopt;  // it is the same at every step
    }
    return std::nullopt;
}

size_t times_asked(const State& state, size_t kind) {
    return static_cast<size_t>(
        std::ranges::count_if(state.quiz_asked, [&](const auto& of) { return of.first == kind; }));
}

}  // namespace

void ask_me(State& state, Session& session) {
    if (!session.recording || session.trace().blocks.empty()) {
        session.message = "There is nothing to ask about: open a recording first, with Ctrl+O or R.";
        return;
    }
    if (session.block == nullptr || session.block->steps == 0) {
        session.message = "This block is still being read; ask again in a moment.";
        return;
    }
    const bool going_on = state.quiz && session.walking && state.standing.serial == session.recording->serial;
    if (!going_on) {
        state.quiz_asked.clear();
        begin_tally(state);
    }
    const auto index = session.block;
    Scene scene{*session.recording, *index, session.cursor.step, nullptr, session.replay};
    const uint32_t from = session.cursor.step + (going_on ? 1 : 0);
    std::optional<std::pair<size_t, uint32_t>> best;  // kind, step
    const auto find = [&] {
        for (size_t kind = 0; kind < kinds().size(); ++kind) {
            if (best && times_asked(state, best->first) <= times_asked(state, kind)) continue;
            if (const auto step = step_for(state, kinds()[kind], kind, scene, from)) best = {kind, *step};
        }
    };
    find();
    if (!best) {  // all were asked: from the start again
        state.quiz_asked.clear();
        find();
    }
    if (!best) {
        session.message = "There is nothing to ask about in this block; go to another one with the point.";
        return;
    }
    const auto& [kind, step] = *best;
    const uint32_t site = kinds()[kind].once ? 0 : session.trace().form_of(index->first + step).site;
    state.quiz_asked.emplace(kind, site);
    state.quiz = true;
    state.quizzed = {};
    state.quizzed.ask = question_of(kinds()[kind]);
    state.wanted = false;
    state.note.clear();
    session.walking = true;
    session.playback.playing = false;
    session.screen = session::kStepScreen;
    session.pin = session.hover = {};
    session.message.clear();
    session.cursor.step = step;
    state.standing = standing_at(*session.recording, *index, step, state.quizzed);
    open_question(state, session);
}

}  // namespace tilescope::lessons
