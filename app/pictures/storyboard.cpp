#include "app/pictures/storyboard.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tilescope::pictures {
namespace {

using draw::CellRect;
using look::StoryPhase;

constexpr const char* kRows[] = {"load", "fill", "wait", "multiply", "sum so far"};
// Heights of the rows, as parts of what they share.
constexpr float kHeights[] = {0.24f, 0.13f, 0.18f, 0.21f, 0.24f};

float widest(Ui& ui, const Rect& in) { return in.width() - ui.px(2); }

std::string name_of(const StoryScene& scene, uint8_t array) {
    return name_in(scene.index.notation, scene.trace.launch.arrays[array]);
}

// Two boxes side by side.
std::array<Rect, 2> halves(Ui& ui, const Rect& in) {
    const float gap = ui.px(16), half = (in.width() - gap) / 2;
    return {Rect{in.min, {in.min.x + half, in.max.y}}, Rect{{in.max.x - half, in.min.y}, in.max}};
}

void load(Ui& ui, Rect in, const StoryScene& scene, const StoryPhase& phase) {
    const look::CubeShape& shape = scene.block.shape;
    const float small = line_height(ui, Size::Small);
    const std::string loads = counted(phase.lane_loads, "load");
    note(ui, {in.min.x, in.max.y - small}, widest(ui, in),
         phase.lane_loads == 0
             ? std::vector<std::string>{"nothing more to load"}
             : std::vector<std::string>{
                   fmt::format("{} of {}", loads, counted(phase.elements[0] + phase.elements[1], "element")),
                   loads});
    in.max.y -= small + ui.px(4);
    const uint32_t depth = std::max(scene.block.phases[0].box.k1 - scene.block.phases[0].box.k0, shape.tile);
    const auto boxes = halves(ui, in);
    for (const size_t i : {size_t{0}, size_t{1}}) {
        SmallMatrix of;
        of.rows = i == 0 ? shape.m : shape.k, of.cols = i == 0 ? shape.k : shape.n;
        of.tile_rows = i == 0 ? shape.tile_rows : depth, of.tile_cols = i == 0 ? depth : shape.tile_cols;
        of.before = phase.before[i], of.now = phase.tile[i];
        const float name = ui.px(20);
        line(ui, boxes[i].min, name, Face::Strong, Size::Body, Ink::Text,
             name_of(scene, i == 0 ? shape.arrays[0] : shape.arrays[1]));
        small_matrix(ui, {{boxes[i].min.x + name, boxes[i].min.y}, boxes[i].max}, of);
    }
}

void fill(Ui& ui, Rect in, const StoryScene& scene, const StoryPhase& phase) {
    const std::vector<uint8_t>& shared = scene.index.shared;
    if (shared.empty()) {
        note(ui, {in.min.x, (in.min.y + in.max.y - line_height(ui, Size::Small)) / 2}, widest(ui, in),
             "no shared memory");
        return;
    }
    const float small = line_height(ui, Size::Small);
    note(ui, {in.min.x, in.max.y - small}, widest(ui, in), counted(phase.filled, "element") + " stored");
    in.max.y -= small + ui.px(4);
    const float gap = ui.px(10), n = static_cast<float>(std::min<size_t>(shared.size(), 2));
    const float high = std::min(in.height(), ui.px(44)),
                wide = std::min((in.width() - gap * (n - 1)) / n, ui.px(96));
    for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
        const float x = in.min.x + (wide + gap) * static_cast<float>(i);
        const Rgba color = phase.filled > 0 ? ui.ink(Ink::SharedStore) : ui.ink(Ink::Cell);
        ui.list.AddRectFilled({x, in.min.y}, {x + wide, in.min.y + high}, color, ui.px(2));
        const draw::Font font = ui.font(Face::Strong, Size::Small);
        put(ui, ui.list, font, {x + wide / 2, in.min.y + (high - small) / 2},
            ui.context.palette.text_on(color), draw::elided(font, name_of(scene, shared[i]), wide - ui.px(4)),
            Align::Center);
    }
}

void wait(Ui& ui, Rect in, const StoryScene& scene, const StoryPhase& phase) {
    const float small = line_height(ui, Size::Small);
    if (phase.waits.empty()) {
        note(ui, {in.min.x, (in.min.y + in.max.y - small) / 2}, widest(ui, in),
             phase.mbarrier_waits > 0
                 ? std::vector<std::string>{counted(phase.mbarrier_waits, "wait") + " at mbarriers",
                                            counted(phase.mbarrier_waits, "wait")}
                 : std::vector<std::string>{"no barrier that warps wait at", "no barrier"});
        return;
    }
    note(ui, {in.min.x, in.max.y - small}, widest(ui, in),
         std::vector<std::string>{
             fmt::format("{} come to the barrier, by {}", counted(phase.waits.size(), "warp"),
                         scene.story.clocked ? "clocks" : "steps"),
             counted(phase.waits.size(), "warp")});
    in.max.y -= small + ui.px(4);
    const float pitch = std::min(in.height() / static_cast<float>(phase.waits.size()), ui.px(11));
    const float end = in.min.x + in.width() * 0.9f;
    float y = in.min.y;
    for (const look::StoryWait& one : phase.waits) {
        const float x = in.min.x + (end - in.min.x) * one.arrives;
        const float high = std::max(pitch * 0.6f, 1.f);
        ui.list.AddRectFilled({in.min.x, y}, {x, y + high},
                              draw::mix(ui.ink(Ink::Cell), ui.ink(Ink::Barrier), 0.75f));
        wait_bar(ui, {{x, y}, {end, y + high}});
        y += pitch;
    }
    ui.list.AddRectFilled({end, in.min.y - ui.px(2)}, {end + ui.px(3), y + ui.px(1)}, ui.ink(Ink::Barrier));
}

void multiply(Ui& ui, Rect in, const StoryScene& scene, const StoryPhase& phase) {
    const float small = line_height(ui, Size::Small);
    const uint64_t threads = scene.story.threads;
    std::vector<std::string> words{counted(phase.products, "product")};
    if (!scene.story.by_thread && !phase.slab.empty()) {
        const std::string box = look::box_text(phase.slab) + " products";
        words.insert(words.begin(), box);
        if (scene.block.on_tensor_cores) words.insert(words.begin(), box + " on tensor cores");
    } else if (threads > 0 && phase.products % threads == 0)
        words.insert(words.begin(), fmt::format("{} threads × {}", grouped(threads),
                                                counted(phase.products / threads, "product")));
    note(ui, {in.min.x, in.max.y - small}, widest(ui, in), words);
    in.max.y -= small + ui.px(4);
    if (phase.slab.empty()) return;
    const float gap = ui.px(24), half = (in.width() - gap) / 2;
    Rect box{in.min, {in.min.x + half, in.max.y}};
    const std::vector<CellRect> patch =
        scene.thread ? look::cube_patch(scene.trace, scene.index, *scene.thread) : std::vector<CellRect>();
    const uint32_t depth = phase.slab.k1 - phase.slab.k0;
    for (const size_t i : {size_t{0}, size_t{1}}) {
        SmallMatrix of;
        of.rows = i == 0 ? phase.slab.of.rows() : depth, of.cols = i == 0 ? depth : phase.slab.of.cols();
        of.before = {{0, of.rows, 0, of.cols}};
        of.ink = Ink::SharedLoad;
        if (scene.index.shared.empty()) of.ink = Ink::GlobalLoad;
        for (const CellRect& own : patch) {
            if (own.row0 < phase.slab.of.row0 || own.col0 < phase.slab.of.col0) continue;
            of.now.push_back(
                i == 0 ? CellRect{own.row0 - phase.slab.of.row0, own.row1 - phase.slab.of.row0, 0, depth}
                       : CellRect{0, depth, own.col0 - phase.slab.of.col0, own.col1 - phase.slab.of.col0});
        }
        const Rect drawn = small_matrix(ui, box, of);
        if (i == 1) break;
        line(ui, {drawn.max.x + gap / 2, in.min.y + (in.height() - line_height(ui, Size::Body)) / 2}, gap,
             Face::Strong, Size::Body, Ink::TextQuiet, "×", Align::Center);
        box = {{drawn.max.x + gap, in.min.y}, {drawn.max.x + gap + half, in.max.y}};
    }
}

void sums(Ui& ui, Rect in, const StoryScene& scene, const StoryPhase& phase) {
    const float small = line_height(ui, Size::Small);
    const look::CubeShape& shape = scene.block.shape;
    const CellRect& tile = scene.block.tile;
    const std::string done = fmt::format("{} of {}", grouped(phase.slab.k1), grouped(shape.k));
    note(ui, {in.min.x, in.max.y - small}, widest(ui, in),
         std::vector<std::string>{done + " products each", done + " products", done});
    in.max.y -= small + ui.px(4);
    if (scene.replay == nullptr || tile.empty()) {
        note(ui, {in.min.x, in.min.y}, widest(ui, in), "its values are not known");
        return;
    }
    if (scene.block.on_tensor_cores) {
        paragraph(
            ui, in.min, widest(ui, in), Face::Text, Size::Small, Ink::TextQuiet,
            "Tensor cores add the products in the warps' registers; a recording has the sums when they are "
            "stored.",
            4);
        return;
    }
    double largest = 1e-30;
    for (const auto& store : scene.replay->global_stores())
        if (store.to.array == shape.arrays[2]) largest = std::max(largest, std::abs(number_of(store.value)));
    constexpr uint32_t kMost = 32;  // cells a side: of more elements every so many
    const uint32_t every_row = (tile.rows() + kMost - 1) / kMost,
                   every_col = (tile.cols() + kMost - 1) / kMost;
    const uint32_t rows = (tile.rows() + every_row - 1) / every_row,
                   cols = (tile.cols() + every_col - 1) / every_col;
    const float pitch =
        std::min(in.width() / static_cast<float>(cols), in.height() / static_cast<float>(rows));
    if (pitch < 1) return;
    const float gap = pitch >= ui.px(4) ? 1.f : 0.f;
    for (uint32_t row = 0; row < rows; ++row)
        for (uint32_t col = 0; col < cols; ++col) {
            const uint64_t element =
                uint64_t{tile.row0 + row * every_row} * shape.n + tile.col0 + col * every_col;
            const auto sum =
                scene.replay->running_sum(playback::Element{shape.arrays[2], element}, phase.last_step);
            const Rgba color =
                sum ? draw::mix(
                          ui.ink(Ink::Cell),
                          ui.context.palette.hot(static_cast<float>(std::abs(number_of(*sum)) / largest)),
                          0.75f)
                    : ui.ink(Ink::Cell);
            const auto place = [&](float from, uint32_t number) {
                return std::round(from + pitch * static_cast<float>(number));
            };
            ui.list.AddRectFilled({place(in.min.x, col), place(in.min.y, row)},
                                  {place(in.min.x, col + 1) - gap, place(in.min.y, row + 1) - gap}, color);
        }
    if (every_row * every_col > 1) {
        const float x = in.min.x + pitch * static_cast<float>(cols) + ui.px(8);
        paragraph(ui, {x, in.min.y}, in.max.x - x, Face::Text, Size::Small, Ink::TextFaint,
                  fmt::format("one element of {} × {}", every_row, every_col), 4);
    }
}

void columns(Ui& ui, const Rect& in, const StoryScene& scene) {
    const look::Story& story = scene.story;
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small), gap = ui.px(12);
    const float names = ui.px(104), between = story.left_out > 0 ? ui.px(64) : 0;
    const auto n = static_cast<float>(story.phases.size());
    const float wide = std::floor((in.width() - names - between - gap * (n - 1)) / n);
    const float pad = ui.px(14), head = body + ui.px(14), foot = small * 2 + ui.px(14);
    const float rows = in.height() - pad * 2 - head - foot, air = ui.px(18);
    for (size_t i = 0; i < story.phases.size(); ++i) {
        const StoryPhase& phase = story.phases[i];
        const bool last = story.left_out > 0 && i + 1 == story.phases.size();
        const float x =
            std::round(in.min.x + names + (wide + gap) * static_cast<float>(i) + (last ? between : 0));
        const Rect card{{x, in.min.y}, {x + wide, in.max.y}};
        ui.list.AddRectFilled(card.min, card.max, ui.ink(Ink::Ground), ui.px(6));
        if (last) {
            const float middle = x - (between + gap) / 2, y = (in.min.y + in.max.y) / 2;
            line(ui, {middle, y - body}, between, Face::Strong, Size::Body, Ink::TextQuiet,
                 grouped(story.left_out), Align::Center);
            note(ui, {middle, y}, between, "more", Align::Center);
        }
        const Rect inner = card.inset(pad);
        const float name = line(ui, inner.min, inner.width(), Face::Strong, Size::Body, Ink::Text,
                                phase_name(phase.phase, scene.index.notation));
        if (!phase.slab.empty()) {
            const std::string first = grouped(phase.slab.k0), last_k = grouped(phase.slab.k1 - 1);
            const std::string range = first == last_k ? first : first + " to " + last_k;
            const float room = inner.width() - name - ui.px(8);
            note(ui, {inner.max.x, inner.min.y + body - small}, room,
                 fitting(ui.font(Face::Text, Size::Small), {"k = " + range, range, first + " to", ""}, room),
                 Align::Right);
        }
        float y = inner.min.y + head;
        for (size_t row = 0; row < std::size(kRows); ++row) {
            const Rect box{{inner.min.x, y}, {inner.max.x, y + rows * kHeights[row] - air}};
            constexpr decltype(&load) kPaint[] = {load, fill, wait, multiply, sums};
            kPaint[row](ui, box, scene, phase);
            if (i == 0)
                line(ui, {in.min.x, box.min.y}, names - ui.px(8), Face::Strong, Size::Body, Ink::Text,
                     kRows[row]);
            y += rows * kHeights[row];
        }
        const float bottom = inner.max.y - small * 2;
        if (i == 0)
            line(ui, {in.min.x, bottom}, names - ui.px(8), Face::Strong, Size::Body, Ink::Text,
                 "bytes so far");
        line(ui, {inner.min.x, bottom}, inner.width(), Face::Strong, Size::Small, Ink::Text,
             bytes_text(phase.bytes) + " loaded");
        if (!scene.index.shared.empty())
            note(ui, {inner.min.x, bottom + small}, inner.width(),
                 "without tiles: " + bytes_text(phase.bytes_each_twice));
    }
}

void headline(Ui& ui, const Rect& in, const look::Story& story) {
    const float display = line_height(ui, Size::Display);
    line(ui, in.min, in.width(), Face::Strong, Size::Display, Ink::Text, story.title);
    note(ui, {in.min.x, in.min.y + display + ui.px(4)}, in.width(), story.source);
}
float headline_height(Ui& ui) {
    return line_height(ui, Size::Display) + line_height(ui, Size::Small) + ui.px(22);
}

}  // namespace

Rect small_matrix(Ui& ui, const Rect& box, const SmallMatrix& matrix) {
    const auto rows = static_cast<float>(matrix.rows), cols = static_cast<float>(matrix.cols);
    // What is much longer than wide is drawn wider, so that it can be seen.
    const float least = std::max(rows, cols) * 0.25f;
    const float high = std::max(rows, least), wide = std::max(cols, least);
    const float scale = std::min(box.width() / wide, box.height() / high);
    const Rect at{box.min, {std::round(box.min.x + wide * scale), std::round(box.min.y + high * scale)}};
    const float down = at.height() / rows, across = at.width() / cols;
    const Rgba ground = ui.ink(Ink::Cell), color = ui.ink(matrix.ink);
    ui.list.AddRectFilled(at.min, at.max, ground);
    // A tile of a large matrix is still seen.
    const auto fill_cells = [&](const std::vector<CellRect>& rects, Rgba with, float least_side) {
        for (const CellRect& rect : rects) {
            const auto side = [&](float from, float pitch, uint32_t first, uint32_t end, float limit) {
                const float a = from + pitch * static_cast<float>(first),
                            b = from + pitch * static_cast<float>(end);
                const float more = std::max(least_side - (b - a), 0.f) / 2;
                const float low = std::clamp(a - more, from, std::max(from, limit - least_side));
                return std::pair(low, std::max(std::min(b + more, limit), std::min(low + least_side, limit)));
            };
            const auto [y0, y1] = side(at.min.y, down, rect.row0, rect.row1, at.max.y);
            const auto [x0, x1] = side(at.min.x, across, rect.col0, rect.col1, at.max.x);
            ui.list.AddRectFilled({x0, y0}, {x1, y1}, with);
        }
    };
    fill_cells(matrix.before, draw::mix(ground, color, 0.28f), ui.px(2));
    fill_cells(matrix.now, color, ui.px(4));
    const float width = std::max(1.f, std::round(ui.px(1)));
    const auto lines = [&](uint32_t each, uint32_t all, float pitch, bool vertical) {
        if (each == 0 || static_cast<float>(each) * pitch < ui.px(3)) return;
        for (uint32_t i = each; i < all; i += each) {
            const float place = std::round((vertical ? at.min.x : at.min.y) + pitch * static_cast<float>(i));
            if (vertical)
                ui.list.AddRectFilled({place, at.min.y}, {place + width, at.max.y}, ui.ink(Ink::Panel));
            else
                ui.list.AddRectFilled({at.min.x, place}, {at.max.x, place + width}, ui.ink(Ink::Panel));
        }
    };
    lines(matrix.tile_rows, matrix.rows, down, false);
    lines(matrix.tile_cols, matrix.cols, across, true);
    ui.list.AddRect(at.min, at.max, ui.ink(Ink::LineStrong));
    return at;
}

void storyboard(Ui& ui, const Rect& page, const StoryScene& scene) {
    const Rect in = page.inset(ui.px(36));
    headline(ui, in, scene.story);
    columns(ui, {{in.min.x, in.min.y + headline_height(ui)}, in.max}, scene);
}

void poster(Ui& ui, const Rect& page, const StoryScene& scene) {
    const Rect in = page.inset(ui.px(56));
    const float body = line_height(ui, Size::Body);
    headline(ui, in, scene.story);
    // The solid at the middle of the block's phases, with what its colours mean.
    const float top = in.min.y + headline_height(ui), middle = top + (in.max.y - top) * 0.48f;
    const auto half = static_cast<uint32_t>(scene.block.phases.size() / 2);
    uint32_t step = 0;  // at which half of that phase is multiplied
    const auto& slab = scene.block.phases[half];
    for (const look::WarpPart& part : slab.warps)
        if (!part.made.empty()) step = std::max(step, part.made[part.made.size() / 2]);
    if (slab.warps.empty())  // which step makes which product is not known
        for (const look::PhaseSpan& span : scene.index.spans)
            if (span.phase == half) step = span.end - 1;
    const look::CubeView view = look::cube_view(scene.trace, scene.index, scene.block, scene.replay, step);
    const CubeScene solid{scene.trace, scene.index, scene.block, view, nullptr, scene.thread, {}};
    const auto lines = look::cube_lines(scene.trace, scene.index, scene.block, view, scene.thread);
    const float legend = ui.px(340);
    const Rect room{{in.min.x + legend, top}, {in.max.x, middle - ui.px(20)}};
    const CubePlan plan = cube_plan(ui, room, solid, {});
    cube_picture(ui, plan, solid);
    float y = top + ui.px(12);
    line(ui, {in.min.x, y}, legend, Face::Strong, Size::Title, Ink::Text, "A block is a column,");
    line(ui, {in.min.x, y += line_height(ui, Size::Title)}, legend, Face::Strong, Size::Title, Ink::Text,
         "a phase is a slab of it");
    y += line_height(ui, Size::Title) + ui.px(16);
    for (const look::CubeLine& one : lines) {
        if (one.swatch == look::CubeLine::Swatch::Nothing) continue;
        const float size = ui.px(13), at = std::round(y + (body - size) / 2);
        cube_swatch(ui, {{in.min.x, at}, {in.min.x + size, at + size}}, one.swatch);
        const float x = in.min.x + ui.px(24), width = legend - ui.px(32);
        y += paragraph(ui, {x, y}, width, Face::Text, Size::Body, Ink::Text, one.words, 2);
        if (!one.more.empty())
            y += paragraph(ui, {x, y}, width, Face::Text, Size::Small, Ink::TextQuiet, one.more, 3);
        y += ui.px(10);
    }
    columns(ui, {{in.min.x, middle}, {in.max.x, in.max.y}}, scene);
}

}  // namespace tilescope::pictures
