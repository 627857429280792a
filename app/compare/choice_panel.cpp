// The list of what can be compared, drawn:
//
//   Two recordings side by side                                [Back]
//   +-----------------------------------+  +-------------------------+
//   | Untiled or tiled       ####  ####  |  | Mapping swapped         |    a frame: where the arrow keys stand
//   | what to look at        ####  ####  |  |                         |
//   | (A) untiled  [B] tiled A 16  B 1   |  |                         |    a picture: what differs most (sketch.h)
//   +-----------------------------------+  +-------------------------+
//   Any two recordings
//   | (A) what is open        |  | [B] none yet            |    a click asks for a path
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "app/compare/panels.h"
#include "app/pictures/pictures.h"

namespace tilescope::compare {
namespace {

// A card's ground; what is chosen has a frame.
void card(Ui& ui, const Rect& box, bool chosen) {
    const Rgba ground = ui.ink(Ink::Raised);
    ui.list.AddRectFilled(box.min, box.max,
                          ui.over(box) ? draw::mix(ground, ui.ink(Ink::Accent), 0.12f) : ground, ui.px(6));
    if (chosen) ui.list.AddRect(box.min, box.max, ui.ink(Ink::Accent), ui.px(6), 0, ui.px(2));
}

// What a card says of its pair; each name in its wordings, the longest first.
struct PairWords {
    std::string title, about;
    std::vector<std::string> a, b;
};
PairWords card_words(const session::ComparePreset& preset) {
    const auto names = [](const session::ComparePreset::Part& part) -> std::vector<std::string> {
        const char* const by = part.shipped ? "  GPU" : "";
        const std::string whole = session::part_name(part);
        return {whole + by, whole.substr(0, whole.find("  ")) + by};
    };
    return {preset.title, preset.about, names(preset.a), names(preset.b)};
}
PairWords card_words(const session::LaunchPair& pair) {
    const bool of_program = pair.a > 0;
    return {pair.title,
            of_program            ? "Of the program that is open."
            : pair.path_b.empty() ? "Which was shown before it (Shift + V)."
                                  : "Which lie in one folder (Shift + V).",
            {pair.name_a},
            {pair.name_b}};
}

// --- the picture of a pair: what differs most

Rgba color_of(Ui& ui, const Sketch& sketch, uint32_t cell) {
    if (cell == 0) return ui.ink(Ink::Cell);
    switch (sketch.kind) {
        case Sketch::Kind::Loads:
            return ui.context.palette.hot(static_cast<float>(cell) /
                                          static_cast<float>(std::max(sketch.most, 1u)));
        case Sketch::Kind::Sectors: return ui.ink(Ink::GlobalLoad);
        case Sketch::Kind::Wavefronts: return ui.ink(Ink::SharedLoad);
        case Sketch::Kind::Wrong: return ui.ink(Ink::Fault);
        default: return ui.ink(pictures::ink_of(static_cast<look::StepKind>(cell - 1)));
    }
}

// Cells into a square; what can be counted one by one has gaps between.
void sketch_side(Ui& ui, const Rect& box, const Sketch& sketch, const Sketch::Side& side) {
    ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Panel));
    ui.list.AddRect({box.min.x - 1, box.min.y - 1}, {box.max.x + 1, box.max.y + 1}, ui.ink(Ink::LineStrong));
    if (side.rows == 0 || side.cols == 0) return;
    const bool units = sketch.kind == Sketch::Kind::Sectors || sketch.kind == Sketch::Kind::Wavefronts;
    const float wide = box.width() / static_cast<float>(side.cols),
                high = box.height() / static_cast<float>(side.rows), gap = units ? ui.px(1) : 0;
    for (uint32_t row = 0; row < side.rows; ++row)
        for (uint32_t col = 0; col < side.cols;) {
            const uint32_t cell = side.cells[size_t{row} * side.cols + col];
            uint32_t end = col + 1;  // cells of one colour are one rectangle
            while (!units && end < side.cols && side.cells[size_t{row} * side.cols + end] == cell) ++end;
            const float top = box.min.y + high * static_cast<float>(row);
            if (cell != 0 || units)
                ui.list.AddRectFilled({box.min.x + wide * static_cast<float>(col) + gap, top + gap},
                                      {box.min.x + wide * static_cast<float>(end) - gap, top + high - gap},
                                      color_of(ui, sketch, cell));
            col = end;
        }
}

// A and B beside each other, each with its number below. box: the room for them.
void sketch_picture(Ui& ui, const Rect& box, const Sketch& sketch) {
    const float small = line_height(ui, Size::Small), mark = ui.px(14), gap = ui.px(12);
    const bool captioned = box.height() >= ui.px(36) + small * 2 &&
                           draw::text_size(ui.font(Face::Text, Size::Small), sketch.about).x <= box.width();
    const float under = small + (captioned ? small : 0);
    const float size = std::floor(std::min((box.width() - gap) / 2, box.height() - under - ui.px(4)));
    const float top = box.min.y + std::max(0.f, (box.height() - size - under - ui.px(4)) / 2);
    for (const bool a : {true, false}) {
        const Sketch::Side& side = a ? sketch.a : sketch.b;
        const float middle = box.min.x + box.width() * (a ? 0.25f : 0.75f);
        sketch_side(ui, {{middle - size / 2, top}, {middle + size / 2, top + size}}, sketch, side);
        const std::string number = sketch.kind == Sketch::Kind::Steps ? "" : short_count(side.count);
        const float width = draw::text_size(ui.font(Face::Mono, Size::Small), number).x + mark + ui.px(5);
        const float left = std::round(middle - width / 2), y = top + size + ui.px(4);
        badge(ui, {left, y + (small - mark) / 2}, mark, a ? 'A' : 'B');
        line(ui, {left + mark + ui.px(5), y}, width, Face::Mono, Size::Small, Ink::Text, number);
    }
    if (captioned)
        note(ui, {(box.min.x + box.max.x) / 2, top + size + ui.px(4) + small}, box.width(), sketch.about,
             Align::Center);
    if (ui.over(box))
        ui.tip = fmt::format("{}: {}", sketch.whole ? "In the whole run" : "In the blocks looked at",
                             sketch.about);
}

// What a card shows: its title, then as much of the rest as has room, whole.
void pair_card(Ui& ui, const Rect& box, const PairWords& pair, const Sketch* sketch, bool chosen,
               bool shown) {
    card(ui, box, chosen);
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small), mark = ui.px(16);
    const float left = box.min.x + ui.px(12), pad = ui.px(6);
    const float picture = ui.px(132);
    const bool pictured = box.height() >= ui.px(56) && box.width() >= ui.px(360);
    const float width = box.width() - ui.px(24) - (pictured ? picture + ui.px(12) : 0);
    if (pictured && sketch != nullptr)
        sketch_picture(
            ui,
            {{box.max.x - ui.px(12) - picture, box.min.y + pad}, {box.max.x - ui.px(12), box.max.y - pad}},
            *sketch);
    const draw::Font mono = ui.font(Face::Mono, Size::Small), text = ui.font(Face::Text, Size::Small);
    // Both in one wording: the longest that has room.
    const auto wording = [&](float room) {
        for (size_t at = 0; at < std::max(pair.a.size(), pair.b.size()); ++at) {
            const std::string &of_a = pair.a[std::min(at, pair.a.size() - 1)],
                              &of_b = pair.b[std::min(at, pair.b.size() - 1)];
            if (std::max(draw::text_size(mono, of_a).x, draw::text_size(mono, of_b).x) <= room)
                return std::optional(std::pair(of_a, of_b));
        }
        return std::optional<std::pair<std::string, std::string>>();
    };
    // The names beside each other, or below each other where they are too long for that.
    const float half = width / 2 - mark - ui.px(12), whole = width - mark - ui.px(8);
    const bool beside = wording(half).has_value();
    const auto said = wording(beside ? half : whole);
    const float row = std::max(small, mark), names = beside ? row : row * 2;
    const float room = box.height() - pad * 2 - body - ui.px(2);
    const float about = small * static_cast<float>(wrapped(text, pair.about, width).size());
    const bool named = said && names + ui.px(4) <= room;
    const bool told = about <= room - (named ? names + ui.px(4) : 0);
    const float content = body + ui.px(2) + (told ? about : 0) + (named ? names + ui.px(4) : 0);
    float y = std::round(box.min.y + (box.height() - content) / 2);
    const float now =
        shown ? note(ui, {left + width, y + ui.px(2)}, width / 2, "shown now", Align::Right) : 0;
    const float title = width - now - ui.px(8);
    const bool large = draw::text_size(ui.font(Face::Strong, Size::Body), pair.title).x <= title;
    line(ui, {left, y}, title, Face::Strong, large ? Size::Body : Size::Small, Ink::Text, pair.title);
    y += body + ui.px(2);
    if (told)
        y += paragraph(ui, {left, y}, width, Face::Text, Size::Small, Ink::TextQuiet, pair.about, 4) +
             ui.px(4);
    if (!named) return;
    for (const bool a : {true, false}) {
        const float x = left + (a || !beside ? 0 : width / 2);
        badge(ui, {x, y + (row - mark) / 2}, mark, a ? 'A' : 'B');
        const float space = beside ? half : whole;
        line(ui, {x + mark + ui.px(8), y + (row - small) / 2}, space + ui.px(4), Face::Mono, Size::Small,
             Ink::Text, a ? said->first : said->second);
        if (!beside) y += row;
    }
}

void side_card(Ui& ui, const Rect& box, char letter, const session::Recording* recording, const char* keys,
               bool chosen) {
    card(ui, box, chosen);
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small), mark = ui.px(20);
    badge(ui, {box.min.x + ui.px(12), box.min.y + (box.height() - mark) / 2}, mark, letter);
    const float left = box.min.x + ui.px(12) + mark + ui.px(12), right = box.max.x - ui.px(12);
    const float taken = line(ui, {right, box.min.y + (box.height() - small) / 2}, ui.px(120), Face::Mono,
                             Size::Small, Ink::TextQuiet, keys, Align::Right);
    const float width = right - left - taken - ui.px(12);
    const bool there = recording != nullptr, two = box.height() >= body + small + ui.px(8);
    const float y = box.min.y + (box.height() - body - (two ? small : 0)) / 2;
    line(ui, {left, y}, width, Face::Strong, Size::Body, there ? Ink::Text : Ink::TextQuiet,
         there ? analysis::kernel_name(*recording) + "  " + analysis::size_name(*recording) : "none yet");
    if (!two) return;
    // A path goes before the name of its file, and of what ships where it was recorded.
    const std::string from = there ? recording->origin : "a file, or one that ships";
    note(ui, {left, y + body}, width,
         {from, from.substr(from.rfind('/') + 1), from.substr(0, from.find(", recorded")), ""});
}

// The title, what to do or what went wrong, and the way back where there is one. Returns the height taken.
float head(Ui& ui, const Rect& in, bool busy) {
    State& state = ui.state;
    float right = in.max.x;
    if (ui.session.pair.other.recording && ui.session.recording && ui.session.pair.message.empty()) {
        const Rect box{{right - ui.px(84), in.min.y}, {right, in.min.y + ui.px(32)}};
        if (button(ui, box, "Back", false, true, "To the two that are shown (Esc)")) {
            state.choosing = false;
            ui.context.another_frame = true;
        }
        right = box.min.x - ui.px(16);
    }
    const auto& beside = ui.session.opening;
    const std::string opening =
        beside && beside->beside           ? beside->what
        : busy && ui.session.pair.launches ? ui.session.pair.launches->title
        : busy && ui.session.pair.preset >= 0
            ? session::compare_presets()[static_cast<size_t>(ui.session.pair.preset)].title
            : "";
    const bool problem = !ui.session.pair.message.empty() && opening.empty();
    const std::string said =
        !opening.empty() ? fmt::format("Opening: {}\u2026", opening)
        : problem        ? ui.session.pair.message
        : !session::own_pairs(ui.session).empty()
            ? "Of each pair that ships one thing alone differs. Arrows choose, Enter opens."
            : "Of each pair one thing alone differs. Arrows choose, Enter opens.";
    line(ui, in.min, right - in.min.x, Face::Strong, Size::Title, Ink::Text, "Two recordings side by side");
    const float title = line_height(ui, Size::Title);
    const float words = paragraph(ui, {in.min.x, in.min.y + title}, right - in.min.x, Face::Text, Size::Small,
                                  problem ? Ink::Fault : Ink::TextQuiet, said, 2);
    return title + words + ui.px(16);
}

}  // namespace

void compare_choice(Ui& ui, const Rect& screen, bool busy) {
    const auto presets = session::compare_presets();
    State& state = ui.state;
    ui.context.soon = sketch(state, ui.session, ui.context.waits) || ui.context.soon;
    Rect rect = screen.inset(ui.px(8));
    const float widest = ui.px(1320), middle = (rect.min.x + rect.max.x) / 2;
    if (rect.width() > widest) {
        rect.min.x = std::round(middle - widest / 2);
        rect.max.x = std::round(middle + widest / 2);
    }
    const bool low = rect.height() < ui.px(520);
    const float pad = ui.px(low ? 16 : 24), gap = ui.px(low ? 8 : 16);
    const int columns = state.columns = rect.width() >= ui.px(700) ? 2 : 1;
    const std::vector<session::LaunchPair> own = session::own_pairs(ui.session);
    const int before = static_cast<int>(own.size()), count = before + static_cast<int>(presets.size());
    const auto rows = static_cast<float>((count + columns - 1) / columns);
    const float title = line_height(ui, Size::Body) + ui.px(8), sides = ui.px(56);
    const float heading = line_height(ui, Size::Title) + line_height(ui, Size::Small) + ui.px(16);
    const float side_rows = columns == 2 ? 1 : 2;
    const float rest = pad * 2 + heading + title + sides * side_rows + gap * rows + gap * (side_rows - 1);
    const float high = std::clamp(std::floor((rect.height() - rest) / rows), ui.px(28), ui.px(104));
    surface(ui, {rect.min, {rect.max.x, std::min(rect.max.y, rect.min.y + rest + high * rows)}});
    const Rect in = rect.inset(pad);
    float y = in.min.y + head(ui, in, busy);
    const float width = (in.width() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    const auto box_at = [&](int i, float height) {
        const float x = in.min.x + static_cast<float>(i % columns) * (width + gap);
        const float upper = y + static_cast<float>(i / columns) * (height + gap);
        return Rect{{x, upper}, {x + width, upper + height}};
    };
    std::optional<int> taken;
    for (int i = 0; i < count; ++i) {
        const Rect box = box_at(i, high);
        const bool launches = i < before, two = ui.session.pair.other.recording != nullptr;
        const auto at = static_cast<size_t>(launches ? i : i - before);
        const auto pictured =
            launches ? std::ranges::find(state.own, own[at], &State::Own::of) : state.own.end();
        const std::optional<Sketch> none;
        const std::optional<Sketch>& picture = pictured != state.own.end()               ? pictured->sketch
                                               : !launches && at < state.sketches.size() ? state.sketches[at]
                                                                                         : none;
        pair_card(
            ui, box, launches ? card_words(own[at]) : card_words(presets[at]), picture ? &*picture : nullptr,
            state.chosen == i,
            two && (launches ? ui.session.pair.launches == own[at] : ui.session.pair.preset == i - before));
        if (ui.clicked(box)) taken = i;
    }
    y += rows * (high + gap);
    line(ui, {in.min.x, y}, in.width(), Face::Strong, Size::Body, Ink::Text, "Any two recordings");
    y += title;
    for (const bool b : {false, true}) {
        const int i = count + (b ? 1 : 0);
        const Rect box = box_at(b ? 1 : 0, sides);
        side_card(ui, box, b ? 'B' : 'A',
                  b ? ui.session.pair.other.recording.get() : ui.session.recording.get(),
                  b ? "Ctrl + B" : "Ctrl + O", state.chosen == i);
        if (ui.clicked(box)) taken = i;
    }
    if (!taken) return;
    take_choice(ui.state, ui.session, *taken);
    ui.context.another_frame = true;
}

}  // namespace tilescope::compare
