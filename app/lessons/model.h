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
//                 "screen": "step", "do": ["phase_table"],                   and what is done there;
//                 "panels": ["matrices", "threads"],                         of Step these alone
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
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/lessons/figures/figure.h"
#include "app/session/session.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::lessons {

using look::BlockIndex, look::StepKind;

// A step of a block, and what its facts are worked out from: made when the first of them asks for it.
struct Scene {
    const analysis::Recording& recording;
    const BlockIndex& index;
    uint32_t step = 0;
    std::shared_ptr<const analysis::Summary> sums{};
    std::shared_ptr<const playback::BlockReplay> replay{};
    const trace::Trace& trace = *recording.trace;
};

const trace::Form& form_of(const Scene& scene);  // of its step
StepKind kind_of(const Scene& scene);

// A fact: a number of a step that sentences and conditions name. Its row in facts.cpp says all of it.
struct Fact {
    std::string_view name;
    std::string_view noun;  // what it counts, as a question's answer says it: "sector"; "" for a plain number
    uint16_t hides = 0;     // what screens keep from view while it is asked for: bits of session::Hide
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
std::span<const FactGroup> ring_fact_groups();  // some of them (ring_facts.cpp)
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
    std::string text, answer, why;  // the question; the name of what is right; why it is right
    std::vector<Choice> choices;
    bool modelled = false;  // asked of a model, whose numbers may have decimals
    std::string counts{};   // what the answer counts, in the question's own word: "trip"; "" as the fact says
};

struct LessonStop {
    // What it stands on: a figure, a case of the Limits screen, a kernel, a shipped recording or a file.
    std::string figure;    // name of a figure; "" for none
    std::vector<int> set;  // parameters of the figure
    std::string limits;    // id of a case of the Limits screen; "" for none
    size_t which = 0;      // index of a block of that case
    std::string kernel;    // name of a kernel that is recorded on the CPU; "" for none
    kernels::Shape shape;
    std::string recording;  // name of a recording that ships; "" for none
    std::string file;       // file in the lesson's folder, as the lesson names it; "" for none
    std::string path;       // path of that file; "" where the lesson is in no folder
    std::string screen = "step";
    // Where to stand; what is not said fits everything.
    uint32_t block_x = 0, block_y = 0;
    uint32_t step = 0;  // step of the block, from 1 on; 0: not said
    std::optional<StepKind> kind;
    std::string array;
    std::vector<Condition> where;
    std::string say;  // what it says; if it asks, what it says after the answer
    std::optional<Question> ask;
    std::vector<std::string> acts;  // done there, as keys or the palette would: "phase_table", "thread:3"
    uint8_t panels = session::kAllPanels;  // of the Step screen: those that it shows
};
bool is_modelled(const LessonStop& stop);  // it stands on a figure or a case, and needs no recording
Modelled modelled(const LessonStop& stop);

struct Lesson {
    std::string name, title, teaches;
    std::string group;  // the heading that it is listed under, "Barriers and edges"; "" for none
    uint32_t order = 0;
    std::vector<LessonStop> stops;
    std::vector<std::string> summary;
    // File of a lecturer's own lesson, and the folder under whose name it is listed; "" for those that ship.
    std::string path, folder;
    bool kept_here = false;  // made by add_stop(), which may add to it
};

// What "made_by" holds in a file that add_stop() may change.
inline constexpr const char* kMadeBy = "tilescope";

// Bounds on what is read, for files from strangers.
inline constexpr size_t kMostStops = 100, kMostConditions = 16, kMostSummary = 12, kMostActs = 8;
inline constexpr size_t kLongestSaid = 2000;         // bytes
inline constexpr uint64_t kLargestLesson = 1 << 20;  // bytes of a file
// Requests that are recorded while one waits, for a stop and for all stops of a lesson.
inline constexpr uint64_t kMostRequests = 4'000'000, kMostRequestsOfLesson = 16'000'000;

// name: what errors call it, and its own name where it says none.
Result<Lesson> lesson_from_json(std::string_view text, std::string_view name);
// Whether that is the name of a .tsc file in the lesson's folder or below it, and never elsewhere.
bool stays_inside(const std::string& file);
// One lesson file, its recordings found.
Result<Lesson> read_lesson(const std::string& path);
// The problem with what stands in braces, or "". over: as a condition has it.
std::string unknown_names(std::string_view say, const Modelled* over = nullptr);
const std::vector<Lesson>& lesson_list();  // all of assets/lessons, in their order

// How long a class takes for it: its words at the speed at which subtitles are read, and half a minute for each
// question. Whole minutes, 1 at least.
uint32_t minutes_of(const Lesson& lesson);

// The step of the block that the stop means; none where the recording has none.
std::optional<uint32_t> find_step(const analysis::Recording& recording, const BlockIndex& index,
                                  const LessonStop& stop);

// What a stop is shown on, "tiled 4 x 4 x 4, T = 2", and where it stands there, "global load of M, phase 1".
std::string shown_on(const LessonStop& stop);
std::string stands_at(const LessonStop& stop, const Notation& notation);

// A text with the names that arrays have in a notation: whole words alone.
std::string renamed(std::string_view text, const Notation& notation);

// What a stop says of a step, in the block's notation. A fact that the step lacks stands as it was written.
std::string said(Scene& scene, const std::string& say);

// The stop that is shown: where it stands, and what it says there.
struct Standing {
    uint64_t serial = 0;  // of the recording
    playback::Cursor at;
    Notation notation;
    std::string words;      // "" where the recording has no such step
    std::string asks, why;  // the question of a stop that asks, and its explanation
    std::vector<std::string> choices;
};
Standing standing_on(const LessonStop& stop);  // of one that is modelled
// The step as a stop stands there, in the notation of the block.
Standing standing_at(const session::Recording& recording, const look::BlockIndex& index, uint32_t step,
                     const LessonStop& stop);

// What a stop is shown on: recorded on the CPU, always in one order of warps; one that ships; or a file.
session::MadeRecording recording_of(const LessonStop& stop);
// Whether both stand on one recording.
bool same_recording(const LessonStop& a, const LessonStop& b);
// Where a stop stands in its recording, and what it says there.
Standing standing_of(const session::Recording& recording, const LessonStop& stop);

// The sentences of a lesson's end: their figures are those of its last stop. recording: that one's; null
// where it has none, or cannot be had.
std::vector<std::string> summary_of(const Lesson& lesson, const session::Recording* recording);

}  // namespace tilescope::lessons
