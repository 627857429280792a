// The list of what can be compared, drawn:
//
//   Two recordings side by side                                [Back]
//   +-------------------------+  +-------------------------+
//   | Untiled or tiled        |  | Mapping swapped         |    a frame: where the arrow keys stand
//   | what to look at         |  |                         |
//   | (A) untiled  [B] tiled  |  |                         |
//   +-------------------------+  +-------------------------+
//   Any two recordings
//   | (A) what is open        |  | [B] none yet            |    a click asks for a path
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "app/compare/panels.h"

namespace tilescope::compare {
namespace {

// A card's ground; what is chosen has a frame.
void card(Ui& ui, const Rect& box, bool chosen) {
    const Rgba ground = ui.ink(Ink::Raised);
    ui.list.AddRectFilled(box.min, box.max,
                          ui.over(box) ? draw::mix(ground, ui.ink(Ink::Accent), 0.12f) : ground, ui.px(6));
    if (chosen) ui.list.AddRect(box.min, box.max, ui.ink(Ink::Accent), ui.px(6), 0, ui.px(2));
}

// What a card says of its pair.
struct PairWords {
    std::string title, about, a, b;
};
PairWords card_words(const session::ComparePreset& preset) {
    const auto name = [](const session::ComparePreset::Part& part) {
        return session::part_name(part) + (part.shipped ? "  GPU" : "");
    };
    return {preset.title, preset.about, name(preset.a), name(preset.b)};
}
PairWords card_words(const session::LaunchPair& pair) {
    return {pair.title, "Of the program that is open.", pair.name_a, pair.name_b};
}

void pair_card(Ui& ui, const Rect& box, const PairWords& pair, bool chosen, bool shown) {
    card(ui, box, chosen);
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small), mark = ui.px(16);
    const float left = box.min.x + ui.px(12), width = box.width() - ui.px(24);
    const bool about = box.height() >= body + small + ui.px(14),
               parts = box.height() >= body + small + mark + ui.px(20);
    // In the place of the two names, what does not fit on one line.
    const auto room = static_cast<int>((box.height() - body - ui.px(8)) / small);
    const auto lines = static_cast<int>(wrapped(ui.font(Face::Text, Size::Small), pair.about, width).size());
    const int words = !about ? 0 : parts ? 1 : std::clamp(lines, 1, std::max(room, 1));
    const float content = body + small * static_cast<float>(words) + (parts ? mark + ui.px(6) : 0);
    float y = box.min.y + (box.height() - content) / 2;
    const float said =
        shown ? note(ui, {left + width, y + ui.px(2)}, width / 2, "shown now", Align::Right) : 0;
    line(ui, {left, y}, width - said - ui.px(8), Face::Strong, Size::Body, Ink::Text, pair.title);
    y += body + ui.px(2);
    if (words == 1)
        note(ui, {left, y}, width, pair.about);
    else if (words > 1)
        paragraph(ui, {left, y}, width, Face::Text, Size::Small, Ink::TextQuiet, pair.about, words);
    if (!parts) return;
    y += small + ui.px(4);
    for (const bool a : {true, false}) {
        const float half = width / 2, x = left + (a ? 0 : half);
        badge(ui, {x, y}, mark, a ? 'A' : 'B');
        line(ui, {x + mark + ui.px(8), y}, half - mark - ui.px(12), Face::Mono, Size::Small, Ink::Text,
             a ? pair.a : pair.b);
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
    if (two) note(ui, {left, y + body}, width, there ? recording->origin : "a file, or one that ships");
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
        : session::launch_pair(ui.session)
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
    Rect rect = screen.inset(ui.px(8));
    const float widest = ui.px(1320), middle = (rect.min.x + rect.max.x) / 2;
    if (rect.width() > widest) {
        rect.min.x = std::round(middle - widest / 2);
        rect.max.x = std::round(middle + widest / 2);
    }
    const bool low = rect.height() < ui.px(520);
    const float pad = ui.px(low ? 16 : 24), gap = ui.px(low ? 8 : 16);
    const int columns = state.columns = rect.width() >= ui.px(700) ? 2 : 1;
    const std::optional<session::LaunchPair> own = session::launch_pair(ui.session);
    const int before = own ? 1 : 0, count = before + static_cast<int>(presets.size());
    const auto rows = static_cast<float>((count + columns - 1) / columns);
    const float title = line_height(ui, Size::Body) + ui.px(8), sides = ui.px(56);
    const float heading = line_height(ui, Size::Title) + line_height(ui, Size::Small) + ui.px(16);
    const float side_rows = columns == 2 ? 1 : 2;
    const float rest = pad * 2 + heading + title + sides * side_rows + gap * rows + gap * (side_rows - 1);
    const float high = std::clamp(std::floor((rect.height() - rest) / rows), ui.px(28), ui.px(88));
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
        pair_card(ui, box, launches ? card_words(*own) : card_words(presets[static_cast<size_t>(i - before)]),
                  state.chosen == i,
                  two && (launches ? ui.session.pair.launches == own : ui.session.pair.preset == i - before));
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
