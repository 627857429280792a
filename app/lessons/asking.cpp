// A question while it is asked (asking.h): keys, the reveal, the tally.
#include "app/lessons/asking.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/draw/sheet.h"

namespace tilescope::lessons {
namespace {

using session::Session;
using Takes = session::Question::Takes;

// How far an arrow key goes among lanes, banks or the cells of an array.
std::optional<uint64_t> moved(const Session& session, const session::Question& asked,
                              const input::KeyPress& press) {
    const int across = input::along(press, input::Key::Left, input::Key::Right);
    const int down = input::along(press, input::Key::Up, input::Key::Down);
    if (across == 0 && down == 0) return std::nullopt;
    if (asked.takes != Takes::Cells) {
        if (!asked.at) return 0;
        const int64_t by = across + down * 8;
        return static_cast<uint64_t>(std::clamp<int64_t>(static_cast<int64_t>(*asked.at) + by, 0, 31));
    }
    const Array& array = session.trace().launch.arrays[asked.array];
    const draw::Sheet sheet(array);
    // The first cell; of an array too large to be in sight that of the tile.
    if (!asked.at && array.elements() <= 1024) return 0;
    if (!asked.at) {
        const look::CellRect tile = look::tile_of_phase(session.trace(), *session.block, asked.array,
                                                        session.block->phase_at(session.cursor.step));
        return tile.empty() ? 0 : sheet.element(tile.row0, tile.col0).value_or(0);
    }
    const look::CellRect cell = sheet.cell(*asked.at);
    const auto row = static_cast<int64_t>(cell.row0) + down, col = static_cast<int64_t>(cell.col0) + across;
    if (row < 0 || col < 0) return asked.at;
    const auto next = sheet.element(static_cast<uint32_t>(row), static_cast<uint32_t>(col));
    return next ? next : asked.at;
}

void take_at(session::Question& asked) {
    if (!asked.at) return;
    if (asked.takes == Takes::Cells) asked.take_cell(*asked.at);
    if (asked.takes == Takes::Lanes) asked.take_lane(static_cast<uint32_t>(*asked.at));
    if (asked.takes == Takes::Bank) asked.take_bank(static_cast<uint32_t>(*asked.at));
}

// A digit, a point or a sign of the number that is typed.
bool take_character(session::Question& asked, const Question& question, uint32_t character) {
    constexpr size_t kMostTyped = 18;
    constexpr uint32_t kMinus = 0x2212;  // as screens write it: pasted, it is typed as "-"
    if (character == kMinus) character = '-';
    const bool digit = character >= '0' && character <= '9';
    const bool sign = question.kind == Question::Kind::Value && character == '-';
    const bool point = (question.kind == Question::Kind::Value || question.modelled) && character == '.';
    if (!digit && !sign && !point) return false;
    if (asked.typed.size() < kMostTyped) asked.typed += static_cast<char>(character);
    return true;
}

// The bank that digits name: the last two of them.
void take_digit_of_bank(session::Question& asked, uint32_t digit) {
    const uint32_t number = (asked.bank.value_or(0) % 10) * 10 + digit;
    asked.bank = number < kWarpSize ? number : digit;
    asked.at = asked.bank;
}

// What later questions of the lesson ask of the whole recording that is shown: it is the same at every stop,
// so that it stays hidden until the last of them is answered.
uint16_t hidden_for_later(const State& state) {
    constexpr uint16_t kOfAll = session::Hide::Result | session::Hide::Loads;
    const std::vector<LessonStop>& stops = (*state.lessons)[state.lesson].stops;
    uint16_t hidden = 0;
    for (size_t at = state.stop + 1; at < stops.size() && same_recording(stops[state.stop], stops[at]); ++at)
        if (stops[at].ask && !state.answered.contains(at))
            hidden = static_cast<uint16_t>(hidden | (hidden_by(*stops[at].ask) & kOfAll));
    return hidden;
}

bool is_digit(input::Key key) { return key >= input::Key::Digit0 && key <= input::Key::Digit9; }

}  // namespace

const LessonStop* stop_shown(const State& state) {
    if (state.quiz) return &state.quizzed;
    if (state.lesson >= state.lessons->size()) return nullptr;
    const std::vector<LessonStop>& stops = (*state.lessons)[state.lesson].stops;
    return state.stop < stops.size() ? &stops[state.stop] : nullptr;
}

void open_question(State& state, Session& session) {
    drop_question(state, session);
    const LessonStop* const stop = stop_shown(state);
    if (stop == nullptr) return;
    const uint16_t later = state.quiz ? uint16_t{0} : hidden_for_later(state);
    session.question.later = later;
    if (!stop->ask) return;
    const bool stands = session.recording && session.block != nullptr;
    if (!is_modelled(*stop) && (!stands || session.cursor.step >= session.block->steps)) return;
    if (const auto before = state.answered.find(state.stop); !state.quiz && before != state.answered.end()) {
        state.asked = before->second;
        session.question = before->second.hands;
        session.question.later = later;
        return;
    }
    state.asked = AskedQuestion{};
    if (is_modelled(*stop)) {
        session.question = opened(*stop->ask, nullptr);
        session.question.of_case = !stop->limits.empty();
        return;
    }
    const Scene scene{*session.recording, *session.block, session.cursor.step, nullptr, session.replay};
    session.question = opened(*stop->ask, &scene);
    session.question.later = later;
}

void drop_question(State& state, Session& session) {
    state.asked.reset();
    session.question = {};
}

void begin_tally(State& state) {
    state.answered.clear();
    state.tally = {};
}

RightAnswer right_answer(const State& state, const Session& session) {
    const LessonStop* const stop = stop_shown(state);
    if (stop == nullptr || !stop->ask) return {};
    return right_answer(*stop, session.recording.get(), state.standing.at);
}

void reveal(State& state, Session& session) {
    const LessonStop* const stop = stop_shown(state);
    if (!state.asked || state.asked->revealed || stop == nullptr || !stop->ask) return;
    if (!is_modelled(*stop) && !session.recording) return;
    const Verdict verdict = judged(*stop->ask, right_answer(state, session), session.question);
    session.question.open = false;
    *state.asked = {true, verdict.right, verdict.predicted, verdict.words, session.question};
    ++state.tally.answered;
    state.tally.predicted += verdict.predicted ? 1 : 0;
    state.tally.right += verdict.right ? 1 : 0;
    if (!state.quiz) state.answered[state.stop] = *state.asked;
    if (is_modelled(*stop)) show_model(state, session, *stop);  // what was changed by hand does not tell it
}

bool take_walk(State& state, Session& session, int by) {
    if (by > 0 && state.asked && !state.asked->revealed) {
        reveal(state, session);
        return true;
    }
    if (!state.quiz || !session.walking) return false;
    if (by > 0) ask_me(state, session);
    return true;
}

bool take_key(State& state, Session& session, const input::KeyPress& press) {
    using input::Key;
    const LessonStop* const stop = stop_shown(state);
    if (!session.walking || !state.asked || stop == nullptr || !stop->ask) return false;
    if (press.control || press.alt) return false;
    if (state.asked->revealed) {
        if (press.key != Key::Enter) return false;
        session.ask(session::wish::GoOn{1});
        return true;
    }
    session::Question& asked = session.question;
    if (press.key == Key::Enter) {
        if (asked.predicted()) reveal(state, session);
        return true;
    }
    const bool typed = asked.takes == Takes::Typed || asked.takes == Takes::Bank;
    if (asked.takes == Takes::Typed && press.character != 0 &&
        take_character(asked, *stop->ask, press.character))
        return true;
    if (typed && is_digit(press.key)) {  // the character follows
        if (asked.takes == Takes::Bank)
            take_digit_of_bank(asked, static_cast<uint32_t>(press.key) - static_cast<uint32_t>(Key::Digit0));
        return true;
    }
    if (press.key == Key::Backspace) {
        if (!asked.typed.empty()) asked.typed.pop_back();
        asked.bank.reset(), asked.choice.reset();
        if (asked.takes == Takes::Cells) asked.cells.clear();
        if (asked.takes == Takes::Lanes) asked.lanes = 0;
        return true;
    }
    if (asked.takes == Takes::Choice && press.key >= Key::A && press.key <= Key::Z) {
        const auto choice = static_cast<size_t>(press.key) - static_cast<size_t>(Key::A);
        if (choice >= stop->ask->choices.size()) return false;
        asked.choice = choice;
        return true;
    }
    // A model stands still while it is asked about.
    if (is_modelled(*stop) &&
        (press.key == Key::Plus || press.key == Key::Minus ||
         input::along(press, Key::Left, Key::Right) != 0 || input::along(press, Key::Up, Key::Down) != 0))
        return true;
    if (asked.takes != Takes::Cells && asked.takes != Takes::Lanes && asked.takes != Takes::Bank)
        return false;
    if (press.key == Key::Space) {
        take_at(asked);
        return true;
    }
    if (press.shift || session.block == nullptr) return false;
    const auto at = moved(session, asked, press);
    if (at) asked.at = at;
    return at.has_value();
}

std::string tally_words(const QuestionTally& tally) {
    if (tally.answered == 0) return "";
    std::string text = fmt::format("{} of {} right", tally.right, tally.predicted);
    if (const uint32_t shown = tally.answered - tally.predicted; shown > 0)
        text =
            tally.predicted == 0 ? fmt::format("{} shown", shown) : text + fmt::format(", {} shown", shown);
    return text;
}

}  // namespace tilescope::lessons
