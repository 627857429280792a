// The product as a solid in place of the matrices (look/cube.h, pictures/cube.h), with what its colours mean in
// the recording's own numbers: beside the picture or below it, whichever leaves the picture larger.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/pictures/cube.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

using look::CubeLine;
using pictures::CubeCamera;
using pictures::CubeHit;
using pictures::CubePlan;
using pictures::CubeScene;

float swatch_width(const Ui& ui) { return ui.px(19); }

float width_of(Ui& ui, const CubeLine& line, bool more) {
    const float words = draw::text_size(ui.font(Face::Text, Size::Small), line.words).x;
    const float below = more ? draw::text_size(ui.font(Face::Text, Size::Small), line.more).x : 0;
    return swatch_width(ui) + std::ceil(std::max(words, below)) + 1;
}

float height_of(Ui& ui, const CubeLine& line, bool more) {
    const float small = line_height(ui, Size::Small);
    return small * (more && !line.more.empty() ? 2.f : 1.f) + ui.px(more ? 6 : 2);
}

// Lines of each column; they are filled one after the other.
size_t each_of(const CubeLegend& legend) {
    return (legend.lines.size() + legend.columns - 1) / legend.columns;
}

// In so many columns.
void measure(Ui& ui, CubeLegend& legend, size_t columns) {
    const float gap = ui.px(20);
    legend.columns = std::min(columns, legend.lines.size());
    legend.widths.assign(legend.columns, 0);
    legend.height = 0, legend.width = -gap;
    const size_t each = each_of(legend);
    for (size_t column = 0; column < legend.columns; ++column) {
        float high = 0;
        for (size_t i = column * each; i < std::min((column + 1) * each, legend.lines.size()); ++i) {
            legend.widths[column] =
                std::max(legend.widths[column], width_of(ui, legend.lines[i], legend.more));
            high += height_of(ui, legend.lines[i], legend.more);
        }
        legend.width += legend.widths[column] + gap;
        legend.height = std::max(legend.height, high);
    }
}

void draw_legend(Ui& ui, const CubeLegend& legend, const Rect& in) {
    const float small = line_height(ui, Size::Small), size = ui.px(11);
    if (legend.lines.empty()) return;  // a panel too narrow for any of them
    float x = in.min.x;
    for (size_t column = 0; column < legend.columns; ++column) {
        float y = in.min.y;
        const size_t each = each_of(legend);
        for (size_t i = column * each; i < std::min((column + 1) * each, legend.lines.size()); ++i) {
            const CubeLine& of = legend.lines[i];
            const float top = std::round(y + (small - size) / 2), words = x + swatch_width(ui);
            const float width = legend.widths[column] - swatch_width(ui) + 1;
            const bool plain = of.swatch == CubeLine::Swatch::Nothing;
            pictures::cube_swatch(ui, {{x, top}, {x + size, top + size}}, of.swatch);
            small_text(ui, {words, y}, width,
                       of.swatch == CubeLine::Swatch::Fault ? Ink::Fault
                       : plain                              ? Ink::TextQuiet
                                                            : Ink::Text,
                       of.words);
            if (legend.more && !of.more.empty())
                small_text(ui, {words, y + small}, width, Ink::TextQuiet, of.more);
            y += height_of(ui, of, legend.more);
        }
        x += legend.widths[column] + ui.px(20);
    }
}

// What there is of the block (session::MadeBlock), and what is to be seen of it at the step.
void keep_view(Ui& ui) {
    CubeState& state = ui.state.cube;
    const bool same = state.of == ui.session.block && state.block == ui.session.cube;
    if (same && state.step == ui.step()) return;
    state.of = ui.session.block;
    state.block = ui.session.cube;
    state.step = ui.step();
    state.room.reset();
    if (!state.block) return;
    if (!same) state.middle = look::middle_thread(*ui.index(), *state.block);
    state.view = look::cube_view(ui.trace(), *ui.index(), *state.block, ui.session.replay.get(), ui.step());
    if (state.serial == ui.session.recording->serial) return;
    state.serial = ui.session.recording->serial;
    state.tiles = look::cube_tiles(ui.trace(), state.block->shape);
}

// Drags turn it, the wheel shows fewer or more tiles.
void navigate_cube(Ui& ui, const Rect& rect) {
    CubeState& state = ui.state.cube;
    const ImGuiIO& io = ImGui::GetIO();
    if (io.MouseWheel != 0 && ui.over(rect)) zoom_cube(state, io.MouseWheel > 0 ? 1 : -1);
    if (ImGui::IsMouseClicked(0)) state.dragged = false;
    for (const int button : {0, 1, 2}) {
        if (!ui.mouse || !ImGui::IsMouseDragging(button, ui.px(4)) ||
            !rect.contains(io.MouseClickedPos[button]))
            continue;
        state.dragged = state.dragged || button == 0;
        const float size = ui.px(360);
        state.camera = pictures::turned(state.camera, -io.MouseDelta.x / size, io.MouseDelta.y / size);
    }
}

std::string block_words(const Ui& ui, uint32_t block) {
    const trace::Block& of = ui.trace().blocks[block];
    return block_name(ui.trace().launch.grid, {of.x, of.y, of.z}, ui.notation());
}

// Names what is under the mouse; a click pins an element, or goes to the block of a tile of P.
void point(Ui& ui, const CubePlan& plan, const CubeScene& scene, const Rect& rect) {
    if (!ui.over(rect) || ui.state.cube.dragged) return;
    const auto hit = pictures::cube_hit(plan, scene, ui.cursor());
    if (!hit) return;
    using Part = CubeHit::Part;
    const look::CubeShape& shape = scene.block.shape;
    const auto& lines = ui.state.cube.lines;
    switch (hit->part) {
        case Part::Slab:
            ui.tip = fmt::format("{} of {}", phase_name(scene.view.phase, ui.notation()),
                                 block_words(ui, ui.session.cursor.block));
            if (!lines.empty()) ui.tip += fmt::format("\n{}, {}", lines[0].words, lines[0].more);
            return;
        case Part::Done:
            ui.tip = scene.view.phase == 0 || scene.view.after
                         ? "phases that are done"
                         : fmt::format("done: {} to {}", phase_name(0, ui.notation()),
                                       phase_name(scene.view.phase - 1, ui.notation()));
            return;
        case Part::ToCome: ui.tip = "phases to come"; return;
        case Part::M:
        case Part::N:
        case Part::P: break;
    }
    const uint8_t array = hit->part == Part::M   ? shape.arrays[0]
                          : hit->part == Part::N ? shape.arrays[1]
                                                 : shape.arrays[2];
    const Array& matrix = ui.trace().launch.arrays[array];
    const uint64_t element = uint64_t{hit->row} * matrix.cols + hit->col;
    ui.tip = element_name(matrix, static_cast<int64_t>(element), ui.notation());
    if (hit->part == Part::P) {
        const auto block = ui.state.cube.tiles.block_at(hit->row, hit->col);
        ui.tip += block ? " of " + block_words(ui, *block) : ": its block was not recorded";
        if (block && *block != ui.session.cursor.block) {
            ui.tip += ". A click goes there.";
            if (ImGui::IsMouseReleased(0)) {
                ui.session.cursor.block = *block;
                session::go_to(ui.session, 0);
                ui.context.another_frame = true;
            }
            return;
        }
        if (!block) return;
    }
    // On release: a press may begin a turn.
    const look::Pick pick = look::picked_element(array, element);
    ui.hovered = pick;
    if (ImGui::IsMouseReleased(0)) ui.session.pin = ui.session.pin == pick ? look::Pick{} : pick;
}

// The placing that leaves the picture largest; what is said beside it is worth some of its size.
CubePage lay_out_cube(Ui& ui, const Rect& in, const CubeScene& scene) {
    const std::vector<CubeLine>& lines = ui.state.cube.lines;
    const CubeCamera& camera = ui.state.cube.camera;
    const float gap = ui.px(16);
    CubePage best;
    best.plan = pictures::cube_plan(ui, in, scene, camera), best.picture = in;
    // The first three lines stay wherever there is room for them at all.
    const size_t least = std::min<size_t>(lines.size(), 3);
    for (size_t left_out = 0;
         left_out < lines.size() && (left_out <= lines.size() - least || best.worth == 0); ++left_out)
        for (const bool more : {true, false}) {
            const float worth = (more ? 1.15f : 1.f) * std::pow(0.96f, static_cast<float>(left_out));
            CubeLegend legend{{lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(left_out)},
                              more,
                              true,
                              1,
                              {},
                              0,
                              0};
            const auto consider = [&](const CubePlan& plan, const Rect& picture, const Rect& words) {
                if (plan.unit * worth > best.worth) best = {legend, plan, picture, words, plan.unit * worth};
            };
            measure(ui, legend, 1);
            if (legend.height <= in.height() && legend.width + gap < in.width() * 0.6f) {
                const Rect room{{in.min.x + legend.width + gap, in.min.y}, in.max};
                consider(pictures::cube_plan(ui, room, scene, camera), room,
                         {in.min, {in.min.x + legend.width, in.max.y}});
            }
            // In the lower corner, the picture as large as leaves it free.
            legend.beside = false;
            for (size_t columns = 1; columns <= 3; ++columns) {
                measure(ui, legend, columns);
                if (legend.width > in.width() || legend.columns < columns) break;
                const bool left = camera.turn < 0;
                const Rect words{{left ? in.min.x : in.max.x - legend.width, in.max.y - legend.height},
                                 {left ? in.min.x + legend.width : in.max.x, in.max.y}};
                for (float high = in.height(); high > in.height() * 0.4f; high -= in.height() * 0.04f) {
                    const Rect room{in.min, {in.max.x, in.min.y + high}};
                    const CubePlan plan = pictures::cube_plan(ui, room, scene, camera, true);
                    if (!pictures::cube_leaves_free(ui, plan, words)) continue;
                    consider(plan, in, words);
                    break;
                }
            }
        }
    return best;
}

// The thread that is drawn: the pinned one, else the one in the middle.
std::optional<uint32_t> thread_drawn(const Ui& ui) {
    const std::vector<uint32_t>& threads = ui.state.selected.threads;
    return threads.size() == 1 ? std::optional(threads.front()) : ui.state.cube.middle;
}

void keep_page(Ui& ui, const Rect& in, const CubeScene& scene) {
    CubeState& state = ui.state.cube;
    const CubeState::Room room{
        scene.thread, {in.min.x, in.min.y, in.max.x, in.max.y}, state.camera, ui.context.scale};
    if (state.room && state.room->same(room)) return;
    state.room = room;
    state.lines = look::cube_lines(scene.trace, scene.index, scene.block, scene.view, scene.thread);
    if (const CubePlan all = pictures::cube_plan(ui, in, scene, state.camera); !all.whole)
        state.lines.push_back({CubeLine::Swatch::Nothing,
                               fmt::format("around the block: {} × {} × {} of it", all.of.rows(),
                                           all.of.cols(), all.k1 - all.k0),
                               "W shows less, S shows more"});
    else if (!all.one_scale)
        state.lines.push_back({CubeLine::Swatch::Nothing, "the axes have different scales", ""});
    state.page = lay_out_cube(ui, in, scene);
}

}  // namespace

void zoom_cube(CubeState& state, int by) {
    uint32_t& tiles = state.camera.tiles;
    if (tiles == 0) tiles = CubeCamera::kFewTiles;
    tiles = std::clamp(by > 0 ? tiles / 2 : tiles * 2, 1u, 1u << 16);
}

void cube_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    Rect in = rect.inset(ui.px(12));
    const float body = line_height(ui, Size::Body);
    keep_view(ui);
    CubeState& state = ui.state.cube;
    float taken = 0;
    if (!ui.session.lecture && !ui.context.paper) {
        taken = draw::text_size(ui.font(Face::Text, Size::Small), "close").x + ui.px(16);
        if (button(ui, {{in.max.x - taken, in.min.y}, {in.max.x, in.min.y + body}}, "close", false, true,
                   "Back to the matrices (P)"))
            ui.state.middle = Middle::Matrices, ui.context.another_frame = true;
        taken += ui.px(8);
    }
    const trace::Block& block = ui.trace().blocks[ui.session.cursor.block];
    const std::string where = block_name(ui.trace().launch.grid, {block.x, block.y, block.z}, ui.notation());
    if (!state.block) {
        heading(ui, in.min, in.width() - taken, "The product as a solid", "");
        const std::string& why = ui.session.no_values;
        paragraph(
            ui, {in.min.x, in.min.y + body + ui.px(8)}, in.width(), Face::Text, Size::Small, Ink::TextQuiet,
            ui.index()->product && !ui.session.faults ? "It is made of the block's values, which come."
            : ui.index()->product && !why.empty()     ? why
            : ui.index()->product ? "This block recorded no step: choose another one with a full stop."
                                  : "This launch is no product of two matrices, so there is no solid to "
                                    "draw: P shows its arrays "
                                    "again.",
            6);
        return;
    }
    const look::CubeShape& shape = state.block->shape;
    heading(ui, in.min, in.width() - taken, "The product as a solid",
            fmt::format("{} × {} × {} products, {}", grouped(shape.m), grouped(shape.n), grouped(shape.k),
                        where));
    in.min.y += body + ui.px(6);

    const CubeScene scene{ui.trace(),   *ui.index(),      *state.block,           state.view,
                          &state.tiles, thread_drawn(ui), ui.state.selected.cells};
    keep_page(ui, in, scene);
    const CubePage& page = state.page;
    const Rect picture = page.picture;
    const CubePlan& plan = page.plan;
    navigate_cube(ui, picture);
    pictures::cube_picture(ui, plan, scene);
    draw_legend(ui, page.legend, page.words);
    // What the mouse and the keys do, where there is room below the legend.
    const float foot = in.max.y - line_height(ui, Size::Small);
    if (page.legend.beside && !ui.session.lecture && !ui.context.paper &&
        page.words.min.y + page.legend.height < foot)
        small_text(ui, {in.min.x, foot}, page.words.width(), Ink::TextFaint,
                   fitting(ui.font(Face::Text, Size::Small),
                           {"A, D or a drag turn it; W, S zoom.", "A, D turn it; W, S zoom.", ""},
                           page.words.width()));
    point(ui, plan, scene, picture);
}

}  // namespace tilescope::step
