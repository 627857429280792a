// What all screens share: the opened recording and what is made of it, where playback stands, what is picked,
// and how things look. Plain data with free functions; what takes long is made by jobs (jobs.h).
//
//   file, kernel --> Recording --> what is made of it (shown.h)
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "app/draw/theme.h"
#include "app/look/pick.h"
#include "app/platform/abilities.h"
#include "app/platform/process.h"
#include "app/session/pair.h"
#include "app/session/programs.h"
#include "app/session/question.h"
#include "app/session/shown.h"
#include "core/limits/device_spec.h"
#include "kernels/gpu/backend.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/devices.h"
#include "kernels/textbook/shipped.h"
#include "kernels/textbook/timings.h"

namespace tilescope::input {
template <class State>
struct Screen;  // what a screen offers (input/screen.h); each declares its own beside its state
}  // namespace tilescope::input

namespace tilescope::session {

// What ships with the program, or what a test puts in its place. Each is read when it is first asked for.
struct Assets {
    template <class T>
    using List = std::function<const std::vector<T>&()>;

    List<kernels::Timings> timings = kernels::shipped_timings;
    List<kernels::ShippedRecording> recordings = kernels::shipped_recordings;
    List<kernels::Counters> counters = kernels::shipped_counters;
    List<analysis::DeviceSpec> devices = kernels::devices;
    List<Example> examples = session::examples;

    // A test's own, which must outlive whoever asks.
    template <class T>
    static List<T> of(const std::vector<T>& list) {
        return [&list]() -> const std::vector<T>& { return list; };
    }
};

struct Playback {
    bool playing = false;
    double steps_per_second = 8;
    double clocks_per_second = 512;  // where playing goes by clocks
    double carry = 0;                // steps, or clocks since the cursor's step, not yet shown
    double rested = 0;               // seconds at the end of a block, before the next one is played
};

// Whether this machine has a GPU that could record, as far as was asked (ask_for_gpu).
struct GpuThere {
    bool asked = false, there = false;
    std::string what;  // its name, or the sentence that says why there is none
};

// What to record: a kernel of the catalogue.
struct Order {
    std::string kernel = "tiled";
    kernels::Shape shape;
    BlockWindow window;  // blocks to record; all of them unless some are picked
    gpu::BackendChoice backend = gpu::BackendChoice::Auto;
};

// A recording on its way: a file that is opened, or a kernel that is recorded.
struct Opening {
    std::string what, path;     // what: "tiled T=16  64x64x64"; path: "" where it is no file
    bool beside = false;        // it is to stand beside the recording that is open
    bool auto_backend = false;  // recorded on a GPU only where there is one
    Job<MadeRecording> job;
};
struct Exporting {
    std::string path;
    Job<std::string> job;   // "" once the file is there, else the sentence that says why it is not
    std::string said;       // the sentence about it that Session::message had last
    bool stopping = false;  // it was stopped and has not ended yet: its file is still its own
    // Id of an export that the window draws itself (app/drawn_exports.h), "" for any other; and how many pictures of its
    // stops are drawn.
    std::string drawn{};
    size_t stops_done = 0, stops = 0;
};

// A panel of the window: what it was called as it was drawn, and its middle, as shares of the window's width and height.
struct PanelAt {
    std::string name;
    float x = 0.5f, y = 0.5f;
};

// Steps `first` up to `end` of a block, which were marked for a film.
struct MarkedSteps {
    uint32_t block = 0, first = 0, end = 0;
    bool operator==(const MarkedSteps&) const = default;
};

// What keys, clicks and boxes ask for. The program hears each wish in its turn (app.cpp), and so do the
// overlays and every screen: whoever can grant it does.
namespace wish {
struct Do {
    std::string name;  // name of an action, or a place: "thread:19"
};
struct FrameAnew {};  // the screen frames what is looked at anew
struct GoOn {
    int by = 0;  // stops on (1) or back (-1) in the walk that runs
};
struct OpenBeside {};  // the path of a second recording is asked for
struct SetBeside {
    std::shared_ptr<const Recording> recording;  // the recording that was opened for that
};
struct OpenLessons {
    std::string path;
};
struct BeginLesson {
    std::string path;  // path of a listed lesson
};
struct SavePicture {
    std::string path;  // path of the picture; ".png" or ".svg" alone: a name is made up
    std::optional<PanelAt> panel = std::nullopt;  // the panel alone; none: all that is seen
    bool copies = false;                          // for the clipboard instead of a file
};
struct Quit {};
}  // namespace wish
using Wish = std::variant<wish::Do, wish::FrameAnew, wish::GoOn, wish::OpenBeside, wish::SetBeside,
                          wish::OpenLessons, wish::BeginLesson, wish::SavePicture, wish::Quit>;

// What goes on beside the window, and what is still to be granted. A copy of a session that stands still, for
// a picture, has none of it.
struct UnderWay {
    std::vector<Wish> wishes;
    std::optional<Opening> opening, ordered;
    std::optional<Exporting> exporting;
    Job<GpuThere> asking;
    Job<ProgramRun> running;  // the program that runs
};

// A person's choices, and what they opened: remembered between starts (settings.h).
struct Choices {
    draw::Theme theme = draw::Theme::Light;
    float text_scale = 1;
    bool lecture = false;       // type, lines and colours for the back row
    bool motion = true;         // elements travel when a step is made
    bool by_clock = true;       // the timeline and playing go by clocks where the recording has them
    analysis::Wording wording;  // thread[y,x] or thread[x,y], what matrices are called, where phases begin
    bool operator==(const Choices&) const = default;
};
struct Recent {
    std::vector<std::string> recent_files, recent_commands;  // latest first
    std::string last_folder;
    bool operator==(const Recent&) const = default;
};

// The screen, by its option's name, on which one walks through a recording: what is pinned and the lines of
// the source are seen there.
inline constexpr const char* kStepScreen = "step";
// The screen that shows the pair of recordings as Compare does, and where another one is opened in its place.
inline constexpr const char* kRaceScreen = "race";

// Panels of the Step screen. A stop of a lesson may name those that it shows, so that each comes when it is explained.
enum class Panel : uint8_t {
    Matrices = 1,
    Threads = 2,
    Source = 4,
    Tiles = 8,     // of shared memory
    Request = 16,  // or barrier, of the step
    Timeline = 32,
    Sums = 64
};
inline constexpr uint8_t kAllPanels = 127;
struct NamedPanel {
    const char* name;  // as lessons have it
    Panel panel;
};
inline constexpr NamedPanel kNamedPanels[] = {{"matrices", Panel::Matrices}, {"threads", Panel::Threads},
                                              {"source", Panel::Source},     {"tiles", Panel::Tiles},
                                              {"request", Panel::Request},   {"timeline", Panel::Timeline},
                                              {"sums", Panel::Sums}};

struct Session : Shown, Choices, Recent, UnderWay {
    Playback playback;
    look::Pick hover, pin;
    std::optional<MarkedSteps> marked;  // for a film
    Pair pair;                          // the recording that stands beside this one, on Compare and Race

    std::string screen = kStepScreen;  // the one that is shown, by its option's name
    uint8_t panels = kAllPanels;       // of the Step screen: those that the stop of a walk shows
    bool blank = false;                // the screen is black until a key is pressed
    std::string message;               // one sentence: the last error or notice
    bool walking = false;              // a screen leads from stop to stop
    bool at_stop = false;              // and the strip above the screen says of this very step what it does
    Question question;                 // the question that is asked at this step
    std::string lesson;  // the lesson that is walked or chosen, as the command line names it; "" for none

    // A lecturer's own lessons, as far as they are listed.
    struct OwnLesson {
        std::string path, title;
    };
    std::vector<OwnLesson> listed_lessons;

    GpuThere gpu;
    std::optional<Program> program;                    // the program that was opened last
    platform::Abilities can = platform::abilities();   // or a test's own
    std::string own_program = platform::kThisProgram;  // what runs it: this one, or a test's own

    Assets assets;
    std::shared_ptr<Jobs> jobs = std::make_shared<Jobs>();

    // Its sums; until they are counted, which kinds of requests there are.
    const analysis::Summary& summary() const { return totals ? totals->summary : recording->outline; }

    bool shows(Panel panel) const { return (panels & static_cast<uint8_t>(panel)) != 0; }
    bool unfolds() const { return panels != kAllPanels; }  // some panels are still to come

    void ask(Wish wish) { wishes.push_back(std::move(wish)); }
    void ask_to(std::string action) { ask(wish::Do{std::move(action)}); }
};

// Type in lecture mode: the same scale, as much larger.
inline constexpr float kLectureScale = 1.35f;
// Live text scale (Ctrl + and -), in steps of kTextStep.
inline constexpr float kLeastText = 0.7f, kMostText = 2.0f, kTextStep = 0.1f;
inline constexpr size_t kMostRecent = 10;

// Shows another recording from its first step; keeps theme, text size and the like.
void show(Session& session, std::shared_ptr<const Recording> recording,
          std::shared_ptr<const Totals> totals = nullptr);

// Takes over what jobs have finished, and begins what is wanted next. wait: until all of it is there, for a
// picture. Returns true while something is still to come.
bool update(Session& session, bool wait);

// Opens a recording beside the window, in place of one that is on its way. A later update() shows it, or says
// in session.message why not. A program is run instead (programs.h); lessons are left to who shows them
// (wish::OpenLessons).
// origin: what the file is called, "" for its path.
void open_file(Session& session, const std::string& path, bool beside = false,
               const std::string& origin = "");
// The lessons that a path names: a .json file, or those of a folder, by their names: its .json files, and a
// lesson.json of each folder in it. No link is followed. None where there are none.
std::vector<std::string> lesson_files(const std::string& path);
// The same of what `open` opens, from whatever `what` names; path: where it is a file, "" else.
void open(Session& session, const std::string& what, const std::string& path, bool beside,
          std::function<MadeRecording(Control&)> open);
void open_shipped(Session& session, std::string_view name, bool beside = false);

// Begins to record, ending an earlier recording. Errors go to session.message.
void record(Session& session, const Order& order);

// The first call asks whether there is a GPU that records; the answer comes with a later update().
void ask_for_gpu(Session& session);

// What the open recording can be had from by anybody: one that ships, by its name, or a kernel that is recorded anew, where it
// was made just so: by this program, now, on the CPU, all of it. None for any other.
struct Source {
    std::string shipped, kernel;  // one of them; "" the other
    kernels::Shape shape;         // of the kernel
};
std::optional<Source> source_of(const Session& session);

// The sentence about a recording that is being opened; "" while none is.
std::string opening_words(const Session& session);

// ".png" or ".svg" at the end of a path; "" for neither.
std::string_view picture_ending(std::string_view path);

// Writes the recording to a file; the problem in one sentence, or "".
std::string save(Session& session, const std::string& path);

// Puts `text` first, once, and forgets what is older than kMostRecent.
void remember(std::vector<std::string>& list, std::string text);
// Remembers a file and its folder; a path alone, not the label of what ships.
void remember_file(Session& session, const std::string& path);

// What a recording or a lesson can be exported as from the window: what the command line writes, by the same functions. Films
// are made by a call of it.
struct ExportChoice {
    std::string_view id;     // "trace_csv"
    const char* title;       // "Export every request as CSV"
    const char* ending;      // what the name of the file ends in: ".csv"
    bool printed;            // the command prints it, else it writes the file itself
    bool of_lesson = false;  // it is made of Session::lesson, else of the recording
    bool of_marked = false;  // it is made of the marked steps
};
std::span<const ExportChoice> export_choices();
const ExportChoice* find_export(std::string_view id);  // null for none of that name

// What it is made of is there.
bool can_export(const Session& session, const ExportChoice& choice);

// "tiled-64x64x64-t16-phase2.gif": the recording, the part of it that is exported, the ending.
std::string export_name(const Session& session, const ExportChoice& choice);
// "tiled-64x64x64-t16.tsc", as `tilescope record` names it.
std::string default_name(const Session& session);

// The words behind the program's name, of a film. recording: a file that holds the session's recording; path: what to
// write. Films show the marked steps, or the cursor's phase, as the window does, without its bar.
std::vector<std::string> export_arguments(const Session& session, const ExportChoice& choice,
                                          const std::string& recording, const std::string& path);

// Recordings that were read: nothing else is written over them.
std::vector<std::string> inputs(const Session& session);

// Begins to export beside the window, which stays free: a later update() says how it ended.
void start_export(Session& session, const ExportChoice& choice, const std::string& path);
// "Exporting to 'a.gif': 12 of 34 steps; Shift + Esc stops it."
std::string exporting_words(const Session& session);
// Asks the export that goes on, if one does, to end without writing; a later update() says that it has.
void stop_export(Session& session);

}  // namespace tilescope::session
