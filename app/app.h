// The program: its state, its screens, what can be done, and the ways to look at it. Everything below gets a
// part of the State: a screen its own state and the session (input/screen.h).
//
// A window, the pictures that it saves, and pictures and films made without a display show the same frames:
//
//   platform::Backend    collects Input, has a GL context
//     -> Frame::build    ImGui frame around draw_frame(): pure CPU
//     -> Frame::render   OpenGL, into whatever framebuffer is bound
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/compare/state.h"
#include "app/draw/list_renderer.h"
#include "app/draw/ui.h"
#include "app/input/overlays.h"
#include "app/input/screen.h"
#include "app/lessons/state.h"
#include "app/levels/state.h"
#include "app/limits/state.h"
#include "app/link.h"
#include "app/look/storyboard.h"
#include "app/platform/backend.h"
#include "app/platform/process.h"
#include "app/programs/state.h"
#include "app/race/state.h"
#include "app/session/session.h"
#include "app/step/state.h"
#include "app/timing/state.h"

namespace tilescope::app {

using platform::Canvas;

// Logical pixels that the panels need: in a smaller window all is drawn smaller.
inline constexpr uint32_t kLeastWidth = 800, kLeastHeight = 600;

struct State {
    session::Session session;
    input::State input;
    step::State step;
    compare::State compare;
    race::State race;
    timing::State timing;
    levels::State levels;
    limits::State limits;
    lessons::State lessons;
    programs::State programs;
    // A page in place of the screens: the phases of the cursor's block side by side, or a sheet for a wall.
    enum class Page : uint8_t { None, Storyboard, Poster } page = Page::None;
    std::shared_ptr<const look::Story> story;  // what the page tells
    bool paper = false;  // a picture for paper: the screen alone, without the bar and the strips above it
    bool quits = false;  // the program is to end
    LinkLooks linked;    // of the link that was followed last
    std::optional<Link> arriving;                      // a link that is followed, until its step is shown
    std::string link_problem;                          // what of it was not understood; "" for nothing
    std::string fetched;                               // address of the recording that was fetched last
    std::vector<session::wish::SavePicture> pictures;  // to be saved once the frame is drawn
};

// A row of the table of screens (app.cpp): what a screen offers, as functions of the State. All of them are
// there but `actions`.
using ScreenRow = input::Screen<State>;

// In the order of the tabs, and of what --screen takes.
std::span<const ScreenRow> screens();
int number_key(const ScreenRow& row);                   // that shows it: its place among the tabs, from 1 on
const ScreenRow& screen_of(const State& state);         // the one that is shown
const ScreenRow* find_screen(std::string_view option);  // null for none of that name

// The field's words, each with what it means and with what shows it, for the palette (terms.cpp).
const input::Actions<input::State>& terms();

// The word of the field under the mouse; null for none.
struct PointedTerm {
    const look::Term* term = nullptr;
    draw::Rect box{};
};
PointedTerm pointed_term(const draw::Pointed& pointed, ImVec2 cursor);
// Says what it means once the mouse has rested on it.
inline constexpr double kRest = 0.4;  // seconds
void explain(draw::Ui& ui, const draw::Rect& screen, input::Resting& resting);

// All that can be done, in the order of the list of keys: offered by the screens and by input/.
std::span<const input::Offer> offers();
// Does the action of that name; false for a name that is not there.
bool perform(State& state, std::string_view name);
// Does an action by its name, or goes to a place of the recording, "thread:19" or "phase:2".
bool act(State& state, std::string_view name);

// Everything that was pressed and typed, one after the other, each with all that it asks for, so that two
// keys within one slow frame do what they do in two. Keys that mean nothing are ignored. While the screen is
// blank any key brings it back; while the palette or the path box is open they have the keyboard; the record
// form has the keys that fields are worked with. wait: as update() has it.
void handle_input(State& state, const platform::Input& input, bool wait = false);

// Grants what was asked for, takes over what jobs have finished and begins what is wanted next. wait: until
// all of it is there, for a picture. True while something is still to come.
bool update(State& state, bool wait);

// One frame, inside an ImGui frame: takes the input, does what is due, and draws all there is.
void draw_frame(State& state, const platform::Input& input, const Canvas& canvas, draw::DrawContext& context);

// Has that page of the cursor's block shown (page.cpp); an Error, one sentence, where there is none.
Result<void> make_page(State& state, State::Page page);
inline constexpr float kPageText = 1.25f;  // size of its type, of pages 1600 and 1400 pixels wide
void draw_page(const State& state, draw::Ui& ui, const draw::Rect& page);

// "tiled 64x64x64 T=16 - step 12 of 1,224 of block (0,0) - Tilescope"; as the Step screen says it.
std::string window_title(const State& state);

// One frame.
class Frame {
public:
    // Needs a current OpenGL 3.3 core context, and keeps an ImGui context of its own.
    static Result<std::unique_ptr<Frame>> create();
    ~Frame();
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    struct BuiltFrame {
        bool another_frame = false, soon = false;  // as draw::DrawContext has them
        double build_ms = 0;
    };
    // still: time stands at 0, so that the same state makes the same picture. waits: until all is worked out
    // that the picture shows; the window never does.
    BuiltFrame build(State& state, const platform::Input& input, const Canvas& canvas, bool still,
                     bool waits);
    void render();  // viewport, clear, draw; the caller shows it
    // The state as an SVG picture (draw/svg.h): a still frame of its own, in place of what build() made.
    // panel: what stands on that one alone; Error where it is not there.
    std::string svg(State state, const Canvas& canvas, bool waits);
    Result<std::string> svg_of_panel(State state, const Canvas& canvas, const session::PanelAt& panel);
    // The panel of that name at that place of the last frame, else what lies there; null for none.
    const draw::Panel* panel(const session::PanelAt& at) const;
    const std::vector<draw::Panel>& panels() const { return panels_; }
    // What each frame from now on writes; null for nothing.
    void inspect(draw::Inspection* into) { inspection_ = into; }
    // One sentence, such as about missing fonts, or "".
    const std::string& notice() const { return fonts_.notice(); }

private:
    Frame() = default;
    void dress(const draw::Palette& palette, float scale);
    void build_as_polygons(State& state, const Canvas& canvas, bool waits, const std::function<void()>& use);

    ImGuiContext* imgui_ = nullptr;
    std::unique_ptr<draw::ListRenderer> lists_;
    platform::ImguiFeed feed_;
    draw::Fonts fonts_;
    std::unique_ptr<draw::GridRenderer> grids_;
    const draw::Palette* styled_ = nullptr;
    std::vector<draw::Surface> surfaces_;
    std::vector<draw::Panel> panels_;
    bool clears_surfaces_ = true;  // the frame clears panels' surfaces; else panels draw them
    Canvas canvas_;
    double time_ = 0;
    draw::Inspection* inspection_ = nullptr;
};

// The window. Size, place, theme, type and the like are as they were left (session/settings.h).
class Window {
public:
    // keep_theme: the state's theme was asked for, and what is remembered does not count.
    Window(State state, bool keep_theme);
    ~Window();
    Result<void> open();  // fails, in one sentence, where there is no display or no OpenGL 3.3
    State& state();

    bool due() const;  // something happened, or it is time for the next turn
    void wait();       // until a turn is due; not in a browser, which calls turns by itself
    // Takes what happened, builds a frame, shows it; never waits. False once the window is to be closed.
    bool turn();

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

// What a window begins with where nothing was given: a small recording, made now, and the first lesson in an empty home.
Result<State> first_state(draw::Theme theme);

// Waits and takes turns until the window is closed; fails as open() does.
Result<void> run_window(State state, bool keep_theme);

// The current view, or a panel of it, as a PNG or an SVG, as an action, a menu or the path box asked for it
// (State::pictures). After Frame::render and before the window shows it, so that the PNG is what is seen. A request for
// ".png" alone gets a name of its own, in $XDG_PICTURES_DIR or, without it, the current folder; nothing that is there
// is written over by that. The message says where the picture is, or why there is none.
void save_pictures(State& state, Frame& frame, const platform::Backend& shown);

// "tiled-64x64x64-t16-step12.png": the recording and the step, from 1, without what a file's name cannot
// hold. number: from 2 on, "-2" before the ending. panel: "tiled-64x64x64-t16-step12-request.png".
std::string picture_name(const analysis::Recording& recording, const playback::Cursor& cursor,
                         std::string_view ending, int number = 1, std::string_view panel = "");

// One panel alone as the window shows it, at twice the size: the whole window is drawn anew with two pixels for each of
// its own, and the panel's part of that is read. Without what the mouse points at, messages and menus. Needs the
// current context; Error where the panel is not there, or larger than can be drawn.
Result<platform::Image> panel_image(State state, const Canvas& shown, const session::PanelAt& panel);

struct RenderOptions {
    int width = 1600, height = 1000;  // pixels
    std::string path;                 // OUT.png
};

// Draws one frame of the state through EGL and writes it as a PNG, whole or not at all.
Result<void> render_png(State state, const RenderOptions& options);

// The same frame as an SVG picture: its text.
Result<std::string> render_svg(State state, const RenderOptions& options);

// Steps [first, end) of the recording as a GIF or an MP4 (H.264); needs the program ffmpeg. With motion a
// step lasts as long as it was asked for, or as its caption takes to read (step/flights.h). Elements travel
// (step/motion.cpp) at its beginning, by the number of the frame, so that the same call makes the same film.
//
//     | travels            | stands               | next step
//
// Without motion a step is one frame.
//
// Of the Race screen it is the race of its two recordings, `seconds` long, at the end of which it stands still.
struct FilmOptions : platform::Film {
    uint64_t first = 0, end = 0;
    double seconds = 0;  // with motion, how long a step lasts; 0: as its caption takes to read
    std::atomic<uint64_t>* done = nullptr;  // counts the steps that are done
};
inline constexpr uint32_t kMotionFps = 20;  // frames a second of a film with motion
Result<void> render_film(State state, const FilmOptions& options);
// Of the Race screen: how many pictures the race has. `done` counts these; its last one stands for a while.
long race_frames(const FilmOptions& options);

}  // namespace tilescope::app
