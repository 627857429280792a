// What can be done on every screen, and what lies over the screens when asked for: the command palette and
// the path box, which have the keyboard while they are open, the form that records, and the list of keys.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/input/screen.h"
#include "app/look/terms.h"

namespace tilescope::input {

// One line of text under a caret.
struct TextField {
    std::string text;
    size_t caret = 0;  // bytes, always between two characters
};

// The command palette: what is typed and which of the commands found is chosen.
struct CommandPalette {
    bool open = false;
    TextField query{};
    size_t chosen = 0;
};

// The box that opens a recording, a program or lessons, or saves a recording, by its path.
struct PathBox {
    enum class Mode : uint8_t { Closed, Open, Save } mode = Mode::Closed;
    TextField path;
    size_t chosen = 0;          // a suggestion, counted from 1; 0 for what is typed
    bool over_written = false;  // Save: the file is there, and Enter once more overwrites it
    bool beside = false;        // Open: to be set beside the recording that is open
    bool opening = false;       // what was typed is being opened
    std::string exported = "";  // Save: as what (session::export_choices); "" for the recording itself
    std::string problem;        // one sentence
};

// Requests and barriers of one whole block of a kernel: they grow evenly with k.
struct BlockSteps {
    double first = 0, each = 0;  // each: per column of M
    uint64_t of(uint32_t k) const;
};

struct RecordForm : session::Order {
    bool open = false;  // the form is shown
    // By kernel and tile width, as far as asked for; two recordings serve every k.
    std::map<std::pair<std::string, uint32_t>, Result<BlockSteps>> block_steps;
    // What was pressed for its fields and lists, in order; ImGui takes one a frame.
    std::vector<KeyPress> keys;
    // Instead of a kernel of the catalogue, a program is asked for.
    bool of_program = false;
    session::ProgramOrder program;
};

// The glossary (glossary.cpp): what is typed to find a word, and which one is chosen.
struct Glossary {
    bool open = false;
    bool looks = false;                 // it was just opened: `here` is still to be made from the frame below
    const look::Term* asked = nullptr;  // the word to begin with; null for the first
    TextField query{};
    size_t chosen = 0;                      // index into glossary_list()
    std::vector<const look::Term*> here{};  // words on the screen below it
};

// The word that the mouse is on, and since when (seconds of draw::DrawContext::time).
struct Resting {
    const look::Term* term = nullptr;
    ImVec2 at{};
    double since = 0;
};

// Pictures of the panel under the mouse (panel_menu.cpp).
struct PanelMenu {
    bool open = false;
    std::optional<session::PanelAt>
        pointed;       // the panel that the mouse is on, or was when something came to lie over it
    draw::Rect box{};  // of that panel
    ImVec2 at{};       // of the menu
    size_t chosen = 0;
};

struct State {
    CommandPalette palette;
    PathBox path;
    RecordForm form;
    Glossary glossary;
    PanelMenu panel;
    bool show_keys = false;
    Resting resting;
    // Recording that was dropped with another one, to stand beside that once it is open.
    std::string second{};
};

// --- actions, keys and what they do

// In the order in which the list of keys has them: before those that the screens bring, and behind them.
const Actions<State>& walking();
const Actions<State>& looks();
const Actions<State>& files();

// What fields and lists of the record form are worked with.
bool is_form_key(const KeyPress& press);

// One line of text, as hands know it: characters, arrows, Home, End, Backspace, Delete,
// with Control a word at a time. Text is UTF-8; the caret always stands between two whole characters.
void set_text(TextField& field, std::string text);  // the caret behind it
void type(TextField& field, uint32_t character);    // control characters are ignored
// Does what a key means to a line of text; false for a key that means nothing to it.
bool edit(TextField& field, const KeyPress& press);

// The palette, the path box, the glossary or a panel's menu is open: it has the keyboard.
bool overlay_open(const State& state);
// The keyboard while one of them is open. offers: all that can be done.
void press_in_overlay(State& state, Session& session, std::span<const Offer> offers, const KeyPress& press);
// Takes up what has come of what they asked for.
void update(State& state, Session& session);
// Grants a wish that is the overlays': the box for a second recording is opened, the form takes the kernel of
// the recording that is shown.
void grant(State& state, Session& session, const session::Wish& wish);

// Up, down and by pages through `count` rows, around the ends; false for any other key.
bool choose(size_t& chosen, size_t count, const KeyPress& press);

// The words that stand on a screen, in the order of the alphabet.
std::vector<const look::Term*> words_of(const draw::Inspection& screen);
// Before anything is typed the first `here` are those of the screen; else the best match comes first.
struct GlossaryList {
    std::vector<const look::Term*> terms;
    size_t here = 0;
};
GlossaryList glossary_list(const Glossary& glossary);
void open_glossary(State& state);
void press_in_glossary(State& state, Session& session, const KeyPress& press);

// The command palette's list (palette.cpp): everything that can be done, found by its words.
//
//   "ne ph"    next phase                     each word of the query is a word of the title, how one begins,
//   "np"       next phase                     the initials of some, or three letters and more within it;
//   "sectr"    Sector: 32 aligned bytes ...   with one letter wrong, where nothing else is found
//   "P[5,3]"   Pin P[5,3]                     places are made from what is typed (places.cpp)
//   ""         those used last first
struct Command {
    // "action:next_step", "shipped:tiled-4x4x4-t2", "step:12": what run_command takes. "none": nothing to be
    // done, the title says why.
    std::string id;
    std::string title;  // "Next request or barrier"
    std::string keys;   // "" where no key does it; of a row of the path box, what kind it is
};
// How well a query meets a title: higher is better, below 0 for not at all. Case does not matter, nor do
// blanks around "=" and the "x" of sizes, nor words that are joined by "_". forgiving: one letter of a word
// of five and more may be wrong, missing, too many or in its neighbour's place.
int match(std::string_view query, std::string_view title, bool forgiving = false);
// The place that is typed; none where the query is of no such form.
std::optional<Command> find_place(const Session& session, std::string_view query);
// Goes to it, or pins it, by the parts of its id: "line" and "45". False where it is no place.
bool go_to_place(Session& session, std::string_view kind, std::string_view what);
// Those that meet the query, best first; where equally good, the recently used first, then as listed.
std::vector<Command> find_commands(const Session& session, std::span<const Offer> offers,
                                   std::string_view query);
// Does what the palette's row says, and remembers it.
void run_command(State& state, Session& session, std::span<const Offer> offers, const std::string& id);

// What the path box suggests (path_box.cpp): folders, recordings, programs and lessons that begin with what
// is typed, and before anything is typed what was opened lately and what ships.
struct Suggestion {
    enum class Kind : uint8_t { Folder, File, Recent, Shipped, Program, Lesson, Launch } kind = Kind::File;
    std::string text;   // as it is shown
    std::string value;  // the path; the name of what ships; the number of a launch
};
// Looks at the folder that is typed; a folder that cannot be read suggests nothing.
std::vector<Suggestion> suggestions(const PathBox& box, const Session& session);
// What Tab makes of the typed path: as far as all folders and files that begin with it agree.
std::string completed(const std::string& typed);

void open_path_box(State& state, Session& session, PathBox::Mode mode);
// The path box for an export of the recording (session::export_choices).
void open_export_box(State& state, Session& session, const std::string& what);
// The path box over a program that was dropped on the window: its host code runs only when Enter says so.
void ask_to_run(State& state, Session& session, const std::string& path);
// Notes which of a frame's panels the mouse is on; a click of the right button opens its menu.
void point_at_panels(SessionUi& ui, State& state, std::span<const draw::Panel> panels,
                     const draw::Rect& screen);
// The menu at the mouse.
void open_panel_menu(State& state, Session& session);
void press_in_panel_menu(State& state, Session& session, const KeyPress& press);
// Asks for a picture of the panel under the mouse.
void keep_panel(State& state, Session& session, session::wish::SavePicture wanted);
// Opens, saves or exports what is chosen in the path box, or typed.
void take_path(State& state, Session& session);

// --- what is drawn

// A line of text with its caret, framed; what stands there while it is empty.
void text_line(draw::Ui& ui, ImDrawList& list, const draw::Rect& rect, const TextField& field,
               const char* when_empty);
// offers: all that can be done.
void keys_overlay(Ui<State>& ui, const draw::Rect& screen, std::span<const Offer> offers);
void command_palette(Ui<State>& ui, const draw::Rect& screen, std::span<const Offer> offers);
void path_box(Ui<State>& ui, const draw::Rect& screen);
void panel_menu(Ui<State>& ui, const draw::Rect& screen);
void glossary_box(Ui<State>& ui, const draw::Rect& screen, std::span<const Offer> offers);
// Rows that fit, scrolled so that the chosen one is among them; returns the row clicked, or -1.
int overlay_rows(draw::Ui& ui, const draw::Rect& rect, const std::vector<Command>& rows, int chosen);
float overlay_row_height(const draw::Ui& ui);
// Dims the screen and draws the box `top` logical pixels below its top, in the middle where negative.
draw::Rect overlay_box(draw::Ui& ui, const draw::Rect& screen, float width, float height, float top = -1);
// top: below the bar, framebuffer pixels.
void record_form(Ui<State>& ui, const draw::Rect& screen, float top);
// What it holds for a program: its path, its arguments, and which launches to record (program_form.cpp).
void program_fields(Ui<State>& ui);

// The form asks for another kernel, with the T that is there where the kernel has one.
void choose_kernel(RecordForm& form, const kernels::KernelInfo& kernel);

// Not over the screens but on them: those that walk through a recording have it at their foot.
void transport(SessionUi& ui, const draw::Rect& rect);

// A window of blocks picked out of a launch in the form (record_form.cpp), x by y blocks large.
// Cut to a grid; at least one block where the grid has one.
BlockWindow clipped(BlockWindow window, uint32_t x, uint32_t y);
uint64_t blocks_of(const BlockWindow& window, uint32_t x, uint32_t y);
// "x 3:7, y 0:4", half open as `tilescope record --blocks` takes it.
std::string window_text(const BlockWindow& window);
// The window between two points of an overview that is width x height large; in any order, whole blocks.
BlockWindow dragged(double x0, double y0, double x1, double y1, double width, double height, uint32_t grid_x,
                    uint32_t grid_y);
// By whole blocks, inside the grid.
BlockWindow resized(BlockWindow window, int dx, int dy, uint32_t grid_x, uint32_t grid_y);
BlockWindow moved(BlockWindow window, int dx, int dy, uint32_t grid_x, uint32_t grid_y);
// From two small recordings of the kernel's block, made now. An estimate: blocks at an edge take fewer.
Result<BlockSteps> block_steps(const std::string& kernel, uint32_t tile);

}  // namespace tilescope::input
