// The grid at work as a view of the Step screen (pictures/grid_at_work.h):
//
//   +-----------------------------------------------------------+
//   | what it comes to; what that rests on             device   |
//   +----------------------+------------------------------------+
//   | the grid, a cell a   | SMs, a column each                 |
//   | block                |                                    |
//   +----------------------+------------------------------------+
//   | play  running  done  idle SMs  waves  the block           |
//   +-----------------------------------------------------------+
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/pictures/grid_at_work.h"
#include "app/session/playing.h"
#include "app/step/zoom.h"

namespace tilescope::step {
namespace {

using look::GridAtWork;

constexpr double kWhole = 8;  // seconds that playing takes from end to end

const analysis::DeviceSpec* device_of(const Ui& ui) {
    const auto& all = ui.session.assets.devices();
    const auto found = std::ranges::find(all, ui.state.grid.device, &analysis::DeviceSpec::id);
    return found == all.end() ? nullptr : &*found;
}

const GridAtWork& made(Ui& ui) {
    GridState& state = ui.state.grid;
    const session::Recording& recording = *ui.session.recording;
    if (state.made == nullptr || state.serial != recording.serial || state.made_for != state.device) {
        state.made = std::make_shared<const GridAtWork>(look::grid_at_work(recording, device_of(ui)));
        state.recorded = look::why_not_measured(*recording.trace).empty();
        state.serial = recording.serial, state.made_for = state.device;
    }
    return *state.made;
}

void play_on(Ui& ui) {
    GridState& state = ui.state.grid;
    const double since = ui.context.time - std::exchange(state.played_at, ui.context.time);
    if (!state.plays || ui.context.still) return;
    state.now = std::min(1.0, state.now + std::clamp(since, 0.0, 0.1) / kWhole);
    if (state.now >= 1) state.plays = false;
    ui.context.another_frame = true;
}

void enter(State& state, session::Session& session, uint32_t block) {
    state.grid.shown = state.grid.plays = false;
    if (session.cursor.block == block) return;
    session.cursor.block = block;
    session::go_to(session, 0);
}

// Right of the headline: whose SMs they are.
void device_chooser(Ui& ui, const Rect& rect) {
    GridState& state = ui.state.grid;
    const auto& devices = ui.session.assets.devices();
    std::vector<std::string> names{state.recorded                                   ? "As recorded"
                                   : ui.trace().meta.backend == trace::Backend::Gpu ? "Its own device"
                                                                                    : "No device: an H200"};
    size_t current = 0;
    for (const analysis::DeviceSpec& one : devices) {
        if (one.id == state.device) current = names.size();
        names.push_back(name_of(one));
    }
    if (const auto picked = draw::chooser(ui, rect, "##grid_device", names, current))
        state.device = *picked == 0 ? "" : devices[*picked - 1].id;
}

void head(Ui& ui, const Rect& rect, const GridAtWork& grid) {
    surface(ui, rect);
    const float pad = ui.px(16), title = line_height(ui, Size::Title), small = line_height(ui, Size::Small);
    float right = rect.max.x - pad;
    if (!ui.context.paper && !ui.session.lecture) {
        const float wide = ui.px(190), high = ui.px(28), top = (rect.min.y + rect.max.y - high) / 2;
        device_chooser(ui, {{right - wide, top}, {right, top + high}});
        right -= wide + pad;
    }
    const float left = rect.min.x + pad, width = right - left;
    const std::vector<std::string> words = headlines(grid);
    const draw::Font large = ui.font(Face::Strong, Size::Title), usual = ui.font(Face::Strong, Size::Body);
    // The whole sentence rather than large type.
    const bool fits = draw::text_size(large, words[words.size() > 1 ? words.size() - 2 : 0]).x <= width;
    const float y = rect.min.y + (rect.height() - title - small) / 2;
    line(ui, {left, y + (fits ? 0 : ui.px(3))}, width, Face::Strong, fits ? Size::Title : Size::Body,
         Ink::Text, fitting(fits ? large : usual, words, width));
    const std::vector<std::string> rests = rests_on(grid);
    line(ui, {left, y + title}, width, Face::Text, Size::Small, Ink::TextQuiet,
         fitting(ui.font(Face::Text, Size::Small), rests, width));
    if (ui.over({rect.min, {right, rect.max.y}})) ui.tip = rests.front();
}

// A number with what it counts above and of how many below.
void figure(Ui& ui, const Rect& rect, std::string_view name, const std::string& value,
            const std::vector<std::string>& below) {
    const float small = line_height(ui, Size::Small), large = line_height(ui, Size::Display);
    const float y = rect.min.y + (rect.height() - small * 2 - large) / 2;
    note(ui, {rect.min.x, y}, rect.width(), name);
    line(ui, {rect.min.x, y + small}, rect.width(), Face::Strong, Size::Display, Ink::Text, value);
    note(ui, {rect.min.x, y + small + large}, rect.width(), below);
}

void figures(Ui& ui, const Rect& rect, const GridAtWork& grid, std::optional<uint64_t> block) {
    surface(ui, rect);
    GridState& state = ui.state.grid;
    const float pad = ui.px(16);
    Rect rest{{rect.min.x + pad, rect.min.y}, {rect.max.x - pad, rect.max.y}};
    if (!ui.context.paper) {
        const float wide = ui.px(76), high = ui.px(32), top = (rect.min.y + rect.max.y - high) / 2;
        const Rect box{{rest.min.x, top}, {rest.min.x + wide, top + high}};
        if (button(ui, box, state.plays ? "Pause" : "Play", state.plays, true, "Play or pause (Space)"))
            press_in_grid(ui.state, ui.session, {.key = input::Key::Space});
        rest.min.x += wide + ui.px(24);
    }
    const look::GridMoment now = moment(grid, pictures::time_at(grid, state.now));
    // The block, whose line is the longest, has twice the room of the others.
    const float each = rest.width() / 6;
    const auto cell = [&](int at, int cells = 1) {
        const float x = rest.min.x + each * static_cast<float>(at);
        return Rect{{x, rest.min.y}, {x + each * static_cast<float>(cells) - ui.px(12), rest.max.y}};
    };
    const std::string of = "of " + grouped(grid.runs.size());
    figure(ui, cell(0), "blocks running", grouped(now.running), {of});
    figure(ui, cell(1), "blocks done", grouped(now.done), {of});
    figure(ui, cell(2), "SMs idle", grouped(now.idle), {fmt::format("of {}", grouped(grid.sms))});
    figure(
        ui, cell(3), "waves", fmt::format("{:.2f}", grid.waves()),
        {fmt::format("of {} blocks", grouped(grid.places())), fmt::format("of {}", grouped(grid.places()))});
    if (!block) return;
    const Dim3 index = look::index_of(grid.grid, *block);
    const std::string name = block_name(grid.grid, index, ui.notation());
    const char* means = grid.recorded[*block] == ui.session.cursor.block ? "the block at the cursor"
                                                                         : "the block under the mouse";
    figure(ui, cell(4, 2), means, name, {run_text(grid, *block), fmt::format("SM {}", grid.runs[*block].sm)});
}

}  // namespace

void show_grid(State& state, session::Session& session) {
    if (session.question.open) return;
    const bool here = session.screen == session::kStepScreen;
    state.grid.shown = !(state.grid.shown && here);
    state.grid.plays = false;
    session.playback.playing = false;
    session.screen = session::kStepScreen;
}

bool press_in_grid(State& state, session::Session& session, const input::KeyPress& press) {
    using input::Key;
    GridState& grid = state.grid;
    if (!grid_shown(state, session) || grid.made == nullptr || press.control || press.alt) return false;
    const auto move = [&](double by) { grid.now = std::clamp(grid.now + by, 0.0, 1.0), grid.plays = false; };
    const bool clicker = !session.walking;
    switch (press.key) {
        case Key::Space:
            grid.plays = !grid.plays;
            if (grid.plays && grid.now >= 1) grid.now = 0;
            return true;
        case Key::Left: move(press.shift ? -0.1 : -0.01); return true;
        case Key::Right: move(press.shift ? 0.1 : 0.01); return true;
        case Key::PageUp: return clicker && (move(-0.1), true);
        case Key::PageDown: return clicker && (move(0.1), true);
        case Key::Home: grid.now = 0, grid.plays = false; return true;
        case Key::End: grid.now = 1, grid.plays = false; return true;
        case Key::Enter:
        case Key::Escape: enter(state, session, session.cursor.block); return true;
        default: return false;
    }
}

void grid_view(Ui& ui, const Rect& area) {
    GridState& state = ui.state.grid;
    play_on(ui);
    const GridAtWork& grid = made(ui);
    const float gap = ui.px(8), pad = ui.px(16), body = line_height(ui, Size::Body);
    const Rect all = area.inset(gap);
    const Rect top{all.min, {all.max.x, all.min.y + ui.px(58)}};
    const Rect bottom{{all.min.x, all.max.y - ui.px(92)}, all.max};
    Rect cells{{all.min.x, top.max.y + gap}, {all.max.x, bottom.min.y - gap}}, columns = cells;
    const float heading = body + ui.px(18);
    if (cells.width() < cells.height()) {  // a narrow window: one above the other
        cells.max.y = cells.min.y + std::round(cells.height() * 0.45f);
        columns.min.y = cells.max.y + gap;
    } else {
        cells.max.x =
            cells.min.x + std::round(std::min(cells.width() * 0.38f, cells.height() - heading + pad));
        columns.min.x = cells.max.x + gap;
    }
    head(ui, top, grid);

    const auto inside = [&](const Rect& panel) {
        return Rect{{panel.min.x + pad, panel.min.y + heading}, {panel.max.x - pad, panel.max.y - pad}};
    };
    const session::Session& session = ui.session;
    pictures::GridMarked marked;
    marked.now = state.now;
    const uint64_t here = look::number_of(grid.grid, ui.trace().blocks[session.cursor.block]);
    marked.selected = here;

    surface(ui, cells, "grid");
    const float legend = pictures::grid_legend(ui, {}, false);
    const float named = cells.width() - pad * 2 - legend - ui.px(8);
    line(ui, {cells.min.x + pad, cells.min.y + ui.px(10)}, named, Face::Strong, Size::Body, Ink::Text,
         fitting(ui.font(Face::Strong, Size::Body), {"The grid, a cell a block", "The grid", "Grid"}, named));
    pictures::grid_legend(ui, {cells.max.x - pad - legend, cells.min.y + ui.px(12)});
    marked.hovered = pictures::grid_cells(ui, inside(cells), grid, marked, ui.notation());
    const std::optional<uint64_t> over_cells = marked.hovered;

    surface(ui, columns, "sms");
    const std::string when = "now: " + moment_text(grid, pictures::time_at(grid, state.now));
    const float wide = columns.width() - pad * 2;
    const float number = draw::text_size(ui.font(Face::Mono, Size::Small), when).x + ui.px(16);
    line(ui, {columns.min.x + pad, columns.min.y + ui.px(10)}, wide - number, Face::Strong, Size::Body,
         Ink::Text,
         fitting(ui.font(Face::Strong, Size::Body),
                 {fmt::format("{}, a column each; a bar a block, time runs down", counted(grid.sms, "SM")),
                  fmt::format("{}, a column each", counted(grid.sms, "SM")), counted(grid.sms, "SM")},
                 wide - number));
    line(ui, {columns.max.x - pad, columns.min.y + ui.px(12)}, number, Face::Mono, Size::Small,
         Ink::TextQuiet, when, Align::Right);
    const pictures::SmPointed pointed = sm_columns(ui, inside(columns), grid, marked);
    if (!ImGui::IsMouseDown(0)) state.scrubs = false;
    if (pointed.now && ImGui::IsMouseClicked(0)) state.scrubs = true;
    if (pointed.now && state.scrubs)
        state.now = *pointed.now, state.plays = false, ui.context.another_frame = true;

    const std::optional<uint64_t> hovered = over_cells ? over_cells : pointed.block;
    if (hovered) {
        const uint32_t recorded = grid.recorded[*hovered];
        ui.tip =
            fmt::format("{}: {}", block_name(grid.grid, look::index_of(grid.grid, *hovered), ui.notation()),
                        run_text(grid, *hovered));
        if (recorded == look::kNotRecorded)
            ui.tip += ". It was not recorded: its steps cannot be shown.";
        else if (over_cells)
            ui.tip += ". A click enters it.";
        const bool in = ui.clicked(inside(cells)) || ImGui::GetIO().MouseWheel > 0;
        if (over_cells && recorded != look::kNotRecorded && in) {
            enter(ui.state, ui.session, recorded);
            ui.context.another_frame = true;
        }
    }
    figures(ui, bottom, grid,
            hovered                   ? *hovered
            : here < grid.runs.size() ? std::optional(here)
                                      : std::nullopt);
}

}  // namespace tilescope::step
