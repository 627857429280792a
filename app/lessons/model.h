// Lessons: short walks through recordings, each teaching one sentence. Built in from assets/lessons, or a
// lecturer's own, read from files (own.h).
//
//   { "name": "reuse", "order": 1, "title": "...", "teaches": "...",
//     "stops": [ {"kernel": "tiled", "m": 4, "k": 4, "n": 4, "tile": 2,      what it is shown on, or
//                 "recording": "tiled-4x4x4-t2",                             one that ships, or
//                 "file": "mine.tsc",                                        one in the lesson's own folder;
//                 "figure": "latency", "set": {"warps": 8},                  a figure (figures/figure.h),
//                 "case": "cliff", "which": 2,                               a case of the Limits screen;
//                                                  where none is said: the stop before's
//                 "block": [0, 0], "kind": "shared load", "array": "Mds",    where to stand: the first step
//                 "where": ["phase = 1", "lanes < 32"],                      of the block that fits;
//                 "step": 12,                                                or that one, from 1 on
//                 "screen": "step", "do": ["phase_table"],                   and what is done there
//                 "say": "... {sectors} sectors where {least_sectors} would do",
//                 "ask": {...} } ],                         a question before that (questions.h)
//     "summary": ["Each element was loaded {most_loads} times."] }           at its end, of the last stop
//
// order: its place among the others, as a class meets them. A lesson holds no number of its own: what stands
// in braces is worked out from the recording at the step where the stop stands. A condition of `where` is
// "NAME OP NAME" or "NAME OP NUMBER", OP one of = != < <= > >=, over the same names; one whose fact the
// step does not have does not hold.
//
// The names are rows of facts.cpp; docs/lessons.md lists them with what each is.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/input/overlays.h"
#include "app/input/screen.h"
#include "app/lessons/figures/figure.h"

namespace tilescope::lessons {

using look::BlockIndex, look::StepKind;

// A step of a block, and what its facts are worked out from: made when the first of them asks for it.
struct Scene {
    const trace::Trace& trace;
    const BlockIndex& index;
    uint32_t step = 0;
    std::shared_ptr<const analysis::Summary> sums{};
    std::shared_ptr<const playback::BlockReplay> replay{};
};

const trace::Form& form_of(const Scene& scene);  // of its step
StepKind kind_of(const Scene& scene);

// A fact: a number of a step that sentences and conditions name. All that is known of it is its row in facts.cpp.
struct Fact {
    std::string_view name;
    std::string_view noun;  // what it counts, as a question's answer says it: "sector"; "" for a plain number
    uint8_t hides = 0;      // what screens keep from view while it is asked for: bits of session::Hide
    std::string_view means;                 // what docs/lessons.md says of it
    std::optional<uint64_t> (*at)(Scene&);  // none where the step has no such thing
};
// A word of a step that sentences name.
struct FactWord {
    std::string_view name, means;
    std::string (*at)(const Scene&);  // "" where the step has no such thing
};
struct FactGroup {
    std::string_view of;  // "a global request"
    std::span<const Fact> facts;
};
std::span<const FactGroup> fact_groups();
std::span<const FactWord> fact_words();
const Fact* find_fact(std::string_view name);  // null for none of that name
bool can_say(std::string_view name);           // whether it may stand in braces
std::optional<uint64_t> number_at(Scene& scene, std::string_view name);

// What a stop without a recording stands on, as sentences and conditions name it: a figure as its parameters
// are set, or a case of the Limits screen (modelled.cpp).
struct Modelled {
    std::vector<NamedNumber> numbers;
    std::vector<std::pair<std::string, std::string>> words;  // names that stand for words, "device"
};
Modelled modelled(const Figure& figure, std::span<const int> set);
std::optional<double> number_at(const Modelled& of, std::string_view name);
// What stands for a name in braces; "" for none of that name.
std::string filled(const Modelled& of, std::string_view name);
std::string said(const Modelled& of, const std::string& say);

struct Condition {
    std::string text;                   // as it was written
    std::string left{}, op{}, right{};  // right: the name, or "" where it is the number
    uint64_t number = 0;
};
// over: the model that its names are of; null for the facts of a step.
Result<Condition> read_condition(std::string_view text, const Modelled* over = nullptr);
bool holds(const Condition& condition, Scene& scene);
bool holds(const Condition& condition, const Modelled& of);

// The block of a scene run again; null where it cannot be.
const playback::BlockReplay* replay_of(Scene& scene);

// What a stop asks before it says anything (questions.h has its JSON).
struct Question {
    enum class Kind : uint8_t { Number, Value, Bank, Elements, Lanes, Choice } kind = Kind::Number;
    struct Choice {
        std::string say;
        Condition when;
    };
    std::string text, answer, why;  // the question; the name of what is right; why it is
    std::vector<Choice> choices;
    bool modelled = false;  // asked of a model, whose numbers may have decimals
};

struct LessonStop {
    std::string figure;    // in place of a recording: what stands here, and
    std::vector<int> set;  // its parameters
    std::string limits;    // or a case of the Limits screen, by its id,
    size_t which = 0;      // with that one of its blocks
    std::string kernel;    // recorded on the CPU; "" where `recording` says it
    kernels::Shape shape;
    std::string recording;  // that ships
    std::string file;       // as the lesson names it: in its folder
    std::string path;       // of that file; "" where the lesson is in no folder
    std::string screen = "step";
    // Where to stand; what is not said fits everything.
    uint32_t block_x = 0, block_y = 0;
    uint32_t step = 0;  // from 1 on; 0: not said
    std::optional<StepKind> kind;
    std::string array;
    std::vector<Condition> where;
    std::string say;  // of a stop that asks: once that is answered
    std::optional<Question> ask;
    std::vector<std::string> acts;  // done there, as keys or the palette would: "phase_table", "thread:3"
};
bool is_modelled(const LessonStop& stop);  // it stands on a figure or a case, and needs no recording
Modelled modelled(const LessonStop& stop);

struct Lesson {
    std::string name, title, teaches;
    uint32_t order = 0;
    std::vector<LessonStop> stops;
    std::vector<std::string> summary;
    // Of a lecturer's own: its file, and the folder under whose name it is listed; "" of those that ship.
    std::string path, folder;
    bool kept_here = false;  // made by add_stop(), which may add to it
};

// What "made_by" holds in a file that add_stop() may change.
inline constexpr const char* kMadeBy = "tilescope";

// Bounds on what is read, for files from strangers.
inline constexpr size_t kMostStops = 100, kMostConditions = 16, kMostSummary = 12, kMostActs = 8;
inline constexpr size_t kLongestSaid = 2000;         // bytes
inline constexpr uint64_t kMostProducts = 1u << 24;  // m k n of a kernel that is recorded while one waits

// name: what errors call it, and its own name where it says none.
Result<Lesson> lesson_from_json(std::string_view text, std::string_view name);
// The problem with what stands in braces, or "". over: as a condition has it.
std::string unknown_names(std::string_view say, const Modelled* over = nullptr);
const std::vector<Lesson>& lesson_list();  // all of assets/lessons, in their order

// The step of the block that the stop means; none where the recording has none.
std::optional<uint32_t> find_step(const trace::Trace& trace, const BlockIndex& index, const LessonStop& stop);

// What a stop is shown on, "tiled 4 x 4 x 4, T = 2", and where it stands there, "global load of M, phase 1".
std::string shown_on(const LessonStop& stop);
std::string stands_at(const LessonStop& stop, const Notation& notation);

// A text with the names that arrays have in a notation: whole words alone.
std::string renamed(std::string_view text, const Notation& notation);

// What a stop says of a step, in the notation of the block. A fact that the step does not have stands as it
// was written.
std::string said(Scene& scene, const std::string& say);

// The stop that is shown: where it stands, and what it says there.
struct Standing {
    uint64_t serial = 0;  // of the recording
    playback::Cursor at;
    Notation notation;
    std::string words;      // "" where the recording has no such step
    std::string asks, why;  // of a stop that asks
    std::vector<std::string> choices;
};
Standing standing_on(const LessonStop& stop);  // of one that is modelled
// The step as a stop stands there, in the notation of the block.
Standing standing_at(const session::Recording& recording, const look::BlockIndex& index, uint32_t step,
                     const LessonStop& stop);

// How often was predicted right, of the questions of a walk that were answered.
struct Tally {
    uint32_t right = 0, predicted = 0, answered = 0;
};

// The question of the stop that is shown.
struct Asked {
    bool revealed = false;
    bool right = false, predicted = false;
    std::string verdict;      // once it is revealed
    session::Question hands;  // what was predicted, once it is revealed
};

// A stop that is written (adding.cpp): the line, and what it would say at the step that is shown.
struct Adding {
    bool open = false;
    input::TextField say;
    std::string problem;  // one sentence
    std::string heard;    // of:
    std::string heard_text;
    uint64_t heard_serial = 0;
    playback::Cursor heard_at;
    Notation heard_in;
};

// A figure in place of the list and what is beside it.
struct FigureShown {
    const Figure* figure = nullptr;
    std::vector<int> set;
    size_t parameter = 0;  // that the keys change
};

// The lesson that runs (Session::walk says whether one does), and what the Lessons screen shows.
struct State {
    const std::vector<Lesson>* lessons = &lesson_list();  // or a test's own, which must outlive it
    // With a lecturer's own behind them, once some were opened: `lessons` is this then.
    std::shared_ptr<const std::vector<Lesson>> with_own;
    size_t lesson = 0, stop = 0;       // stop: behind the last one, the lesson's end
    std::vector<std::string> summary;  // there, as it is said
    Adding adding;
    Standing standing;
    // The first row of the list in sight, and what was chosen when that was settled.
    size_t listed_top = 0, listed_seen = 0;
    size_t listed = 0;   // the lesson chosen on the Lessons screen; behind the last one, the programs
    size_t program = 0;  // of those, the one chosen
    double top = 0;      // and the first one in sight
    size_t figure = 0;   // of the figures, the one chosen
    std::optional<FigureShown> shown;  // and the one that is shown
    // By lesson and stop, as far as worked out, in a reader's wording.
    std::vector<std::vector<Standing>> said;
    analysis::Wording wording;
    std::string note;                  // why a stop cannot be shown as written; one sentence
    bool wanted = false;               // the stop is to be shown
    std::optional<Asked> asked;        // none where the stop asks nothing
    std::map<size_t, Asked> answered;  // by stop, in this walk
    Tally tally;
    bool acted = false;  // the stop that was shown last did something beside it, which is taken back
    // "Ask me": a walk from question to question through the recording that is open (ask_me.cpp).
    bool quiz = false;
    LessonStop quizzed;                                // the question that stands
    std::set<std::pair<size_t, uint32_t>> quiz_asked;  // by kind of question and site
    bool opening = false;                              // its recording is being opened
    // The recording, by its serial, beside which a newcomer is offered the first lesson; and whether that was
    // walked to its end once, which is remembered between starts.
    uint64_t offered = 0;
    bool walked = false;
};

extern const input::Screen<State> kScreen;  // screen.cpp

// Shows a figure, with its parameters as they are given or as they are at first.
void show_figure(State& state, session::Session& session, const Figure& figure, std::vector<int> set = {});

// The figure or the case that a stop stands on, as the stop has it.
void show_model(State& state, session::Session& session, const LessonStop& stop);

// Walks to a stop of a lesson, or to its end, behind the last one; ends the lesson when it leads beyond that.
void go_to_stop(State& state, session::Session& session, size_t lesson, size_t stop);

bool at_end(const State& state, const session::Session& session);  // of the lesson that runs
// The lesson behind this one, of those that ship or of the same folder; none behind the last.
std::optional<size_t> next_lesson(const State& state, size_t lesson);

// What a stop is shown on: made on the CPU, where the order of warps is the same every time, one that ships,
// or a file.
session::MadeRecording recording_of(const LessonStop& stop);
// Where a stop stands in its recording, and what it says there.
Standing standing_of(const session::Recording& recording, const LessonStop& stop);

// Works out State::said of a lesson: the stops of one recording more, or all of them. Returns true while
// something is left. A stop whose recording cannot be had stays without words.
bool work_out_words(State& state, size_t lesson, bool all);

}  // namespace tilescope::lessons
