// The Limits screen: how many blocks an SM holds, by the lecture's and the hardware's sum, and the cliffs.
//
//   +-------------------------------------------------------------+
//   | the case, its device, the block that is asked about         |
//   +-------------------------------------------------------------+
//   | its answer, and why                                         |
//   +------------------------------+------------------------------+
//   | the lecture's sum            | the hardware's sum           |
//   +------------------------------+------------------------------+
//   | the SM: its warp slots, filled by blocks                    |
//   +---------------+-----------------+---------------------------+
//   | over threads  | over registers  | over shared memory        |
//   +---------------+-----------------+---------------------------+
//   | what the lines are, keys                                    |
//   +-------------------------------------------------------------+
//
// In a low window, as that of a projector with type for the back row, the sums stand one above the other, and
// beside them the answer and the one curve that the arrow keys choose.
#include "app/input/screen.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/chart.h"
#include "app/draw/widgets.h"
#include "app/limits/state.h"
#include "core/base/words.h"

namespace tilescope::limits {
namespace {

using analysis::Parameter, draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Size;
using Ui = input::Ui<State>;

void controls(Ui& ui, const Rect& rect, const analysis::DeviceSpec& device) {
    State& state = ui.state;
    const auto& devices = ui.session.assets.devices();
    const auto& presets = analysis::limit_presets();
    ImVec2 at = rect.min;
    const float h = rect.height();
    std::vector<std::string> names, titles;
    size_t current = 0, chosen = presets.size(), here = SIZE_MAX;
    for (const analysis::DeviceSpec& one : devices) {
        if (one.id == device.id) current = names.size();
        names.push_back(fmt::format("{}, {}", name_of(one), one.sm.capability()));
    }
    const size_t open = ui.session.recording ? 1 : 0;  // in front, as it is for the arrow keys
    if (open > 0) titles.push_back("The open recording: " + analysis::kernel_name(*ui.session.recording));
    for (const analysis::LimitPreset& preset : presets) {
        if (preset.id == state.preset) chosen = titles.size();
        titles.push_back(preset.title);
    }
    if (state.preset.empty()) chosen = open > 0 && !state.launch.empty() ? 0 : titles.size();
    titles.emplace_back("No case: this device as it is");
    const analysis::LimitPreset* preset = analysis::find_limit_preset(state.preset);
    std::vector<std::string> blocks;
    if (preset != nullptr && preset->blocks.size() >= 2) {
        for (const analysis::PresetBlock& block : preset->blocks) {
            if (block.use == state.use) here = blocks.size();
            blocks.push_back(block.label);
        }
    }
    // The blocks and the device take what they need; the case, which stands above too, what is left.
    const float narrow = chooser_width(ui, names, ui.px(280));
    const float rest = rect.width() - narrow - choices_width(ui, blocks) - ui.px(140);
    const float wide = std::clamp(rest, ui.px(120), chooser_width(ui, titles, ui.px(520)));
    control_label(ui, at, h, "Case");
    if (const auto picked = chooser(ui, {at, {at.x + wide, at.y + h}}, "##case", titles, chosen)) {
        state.by_hand = true;
        if (*picked < open)
            take_launch(state, *ui.session.recording);
        else if (*picked - open < presets.size())
            take_preset(state, presets[*picked - open].id);
        else
            take_device(state, device.id), state.launch.clear();
    }
    at.x += wide + ui.px(12);
    control_label(ui, at, h, "Device");
    if (const auto picked = chooser(ui, {at, {at.x + narrow, at.y + h}}, "##sm", names, current))
        take_device(state, devices[*picked].id), state.by_hand = true;
    at.x += narrow + ui.px(12);
    if (blocks.empty()) return;
    if (const auto picked = choices(ui, at, h, blocks, here)) take_preset(state, preset->id, *picked);
}

void sum_panel(Ui& ui, const Rect& rect, const SumColumn& column) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(16));
    const float small = line_height(ui, Size::Small), title = line_height(ui, Size::Title);
    float y = in.min.y;
    const float head = line(ui, in.min, in.width() * 0.5f, Face::Strong, Size::Body, Ink::Text, column.title);
    const float room = in.width() - head - ui.px(16);
    if (column.refused) {  // why it does not launch is what there is to say
        y += line_height(ui, Size::Body) + ui.px(2);
        y += paragraph(ui, {in.min.x, y}, in.width(), Face::Strong, Size::Body, Ink::Fault, column.words, 2);
        y = std::max(y + ui.px(4), in.min.y + ui.px(28) + title + ui.px(6));
    } else {
        const float says = text_size(ui.font(Face::Text, Size::Body), column.words).x;
        const Size size = says <= room ? Size::Body : Size::Small;
        const float drop = size == Size::Body ? 0 : ui.px(2);
        line(ui, {in.max.x, y + drop}, room, Face::Text, size, Ink::Text, column.words, Align::Right);
        y += ui.px(28);
        const std::string threads = fmt::format("{} threads", column.threads);
        const std::vector<std::string> wordings{
            fmt::format("{} blocks, {}, {} warps: {}", column.blocks, threads, column.warps, column.share),
            fmt::format("{} blocks, {}: {}", column.blocks, threads, column.share),
            fmt::format("{}: {}", threads, column.share)};
        line(ui, {in.min.x, y}, in.width(), Face::Strong, Size::Title, Ink::Text,
             fitting(ui.font(Face::Strong, Size::Title), wordings, in.width()));
        y += title + ui.px(6);
    }
    // The names stand clear of the bars, whose length takes what the figures leave.
    float name = 0, used = 0, fits = 0;
    for (const LimitBar& bar : column.bars) {
        const auto wide = [&](Face face, const std::string& text) {
            return text_size(ui.font(face, Size::Small), text).x;
        };
        name = std::max(name, wide(Face::Strong, "\u2192 " + bar.name) + ui.px(12));
        used = std::max(used, wide(Face::Mono, bar.used) + ui.px(16));
        fits = std::max(fits, wide(Face::Mono, bar.fits) + ui.px(16));
    }
    const float from = in.min.x + name, to = in.max.x - fits - used;
    const float row = std::min(small + ui.px(8), (in.max.y - y) / static_cast<float>(column.bars.size()));
    for (const LimitBar& bar : column.bars) {
        line(ui, {in.min.x, y}, name, bar.limits ? Face::Strong : Face::Text, Size::Small,
             bar.limits ? Ink::Text : Ink::TextQuiet, (bar.limits ? "\u2192 " : "") + bar.name);
        const Rect box{{from, y + ui.px(2)}, {std::max(to, from), y + small - ui.px(2)}};
        ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Raised));
        const float part = static_cast<float>(std::clamp(bar.share, 0.0, 1.0));
        ui.list.AddRectFilled(box.min, {box.min.x + part * box.width(), box.max.y},
                              ui.ink(bar.limits ? Ink::Accent : Ink::Inactive));
        line(ui, {in.max.x - fits, y}, used, Face::Mono, Size::Small, Ink::Text, bar.used, Align::Right);
        line(ui, {in.max.x, y}, fits, Face::Mono, Size::Small, bar.limits ? Ink::Text : Ink::TextQuiet,
             bar.fits, Align::Right);
        y += row;
    }
}

// The warp slots of an SM, and the blocks that fill them: a block's warps stand in one frame.
//
//   The 64 warp slots of an SM of H200: 8 blocks of 8 warps fill all of them
//   [########][########][########] ...
float sm_height(const Ui& ui) { return line_height(ui, Size::Body) + ui.px(70); }
void sm_panel(Ui& ui, const Rect& rect, const analysis::DeviceSpec& device, const analysis::BlockUse& use) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(16));
    const analysis::Occupancy held = analysis::occupancy(device.sm, use, analysis::Sum::Hardware);
    const uint32_t slots = held.most_warps, free = slots - std::min(slots, held.warps);
    const std::string whose =
        fmt::format("The {} of an SM of {}", counted(slots, "warp slot"), name_of(device));
    line(ui, in.min, in.width(), Face::Strong, Size::Body, Ink::Text,
         !held.refused.empty()
             ? whose + ": no such block runs"
             : fmt::format("{}: {} of {} {}", whose, counted(held.blocks, "block"),
                           counted(held.warps_per_block, "warp"),
                           free == 0 ? "fill all of them" : fmt::format("leave {} empty", free)));
    const float top = in.min.y + line_height(ui, Size::Body) + ui.px(8);
    const float pitch = std::min(in.width() / static_cast<float>(std::max(slots, 1u)), ui.px(40));
    const auto slot = [&](uint32_t at) {
        const float gap = pitch >= ui.px(8) ? ui.px(2) : 1;
        return Rect{{std::round(in.min.x + pitch * static_cast<float>(at)) + gap / 2, top},
                    {std::round(in.min.x + pitch * static_cast<float>(at + 1)) - gap / 2, in.max.y}};
    };
    for (uint32_t at = 0; at < slots; ++at) {
        const Rect box = slot(at);
        if (at >= held.warps)
            ui.list.AddRect(box.min, box.max, ui.ink(Ink::LineStrong), ui.px(2));
        else
            ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Inactive), ui.px(2));
    }
    for (uint32_t block = 0; block < held.blocks; ++block) {
        const Rect first = slot(block * held.warps_per_block),
                   last = slot((block + 1) * held.warps_per_block - 1);
        ui.list.AddRect({first.min.x - 1, first.min.y - ui.px(3)}, {last.max.x + 1, last.max.y + ui.px(3)},
                        ui.ink(Ink::Accent), ui.px(3), 0, ui.px(1.5f));
    }
}

// What the two lines of a curve are.
void curve_key(Ui& ui, ImVec2 at) {
    const float small = line_height(ui, Size::Small), sample = ui.px(28);
    const auto entry = [&](bool dashed, Ink ink, draw::PointShape shape, const char* text) {
        const ImVec2 ends[] = {{at.x, at.y + small / 2}, {at.x + sample, at.y + small / 2}};
        chart_line(ui, ends, ui.ink(ink), ui.px(2), dashed);
        marker(ui, {at.x + sample / 2, at.y + small / 2}, shape, ui.ink(ink), ui.px(4));
        at.x += sample + ui.px(8);
        at.x += note(ui, at, ui.px(300), text) + ui.px(20);
    };
    entry(false, Ink::Text, draw::PointShape::Circle, "the hardware's sum");
    entry(true, Ink::GlobalLoad, draw::PointShape::Diamond, "the lecture's");
}

// keyed: says what the lines are, where no other panel does.
void curve_panel(Ui& ui, const Rect& rect, const analysis::SmLimits& sm, Parameter parameter,
                 bool keyed = false) {
    State& state = ui.state;
    surface(ui, rect);
    if (state.parameter == parameter)
        ui.list.AddRect(rect.min, rect.max, ui.ink(Ink::Accent), ui.px(6), 0, ui.px(2));
    if (ui.clicked(rect)) state.parameter = parameter;
    const Rect in = rect.inset(ui.px(16));
    const LimitCurve curve = limit_curve(sm, state.use, parameter);
    const float h = ui.px(26), small = line_height(ui, Size::Small);
    line(ui, in.min, in.width() - h * 2 - ui.px(12), Face::Strong, Size::Body, Ink::Text,
         value_words(parameter, curve.today));
    const Rect more{{in.max.x - h, in.min.y}, {in.max.x, in.min.y + h}};
    const Rect less{{more.min.x - h - ui.px(4), in.min.y}, {more.min.x - ui.px(4), more.max.y}};
    if (button(ui, less, "-")) change_parameter(state, sm, parameter, -1);
    if (button(ui, more, "+")) change_parameter(state, sm, parameter, 1);
    note(ui, {in.min.x, in.min.y + ui.px(28)}, in.width(),
         curve.cliff.empty() ? "no cliff beyond this" : curve.cliff);
    if (keyed) curve_key(ui, {in.min.x, in.min.y + ui.px(28) + small});
    const float top = in.min.y + ui.px(40) + small * (keyed ? 2.f : 1.f);
    const draw::Chart axes = chart_axes(ui, {{in.min.x, top}, in.max}, curve, ui.px(4));
    for (const bool lecture : {false, true}) {
        std::vector<ImVec2> points;
        for (const analysis::CurvePoint& point : lecture ? curve.lecture : curve.hardware)
            points.push_back(axes.point(point.value, point.threads));
        step_line(ui, points, ui.ink(lecture ? Ink::GlobalLoad : Ink::Text), ui.px(lecture ? 1.5f : 2),
                  lecture);
    }
    const auto today = [&](analysis::Sum sum, draw::PointShape shape, Ink ink, float r) {
        const analysis::Occupancy o = analysis::occupancy(sm, state.use, sum);
        marker(ui, axes.point(curve.today, o.threads), shape, ui.ink(ink), ui.px(r));
    };
    if (!draw::holds(axes.x, curve.today)) return;
    const float x = std::round(draw::at(axes.x, curve.today));
    ui.list.AddLine({x, axes.plot.min.y}, {x, axes.plot.max.y}, draw::with_alpha(ui.ink(Ink::Accent), 0.4f));
    today(analysis::Sum::Hardware, draw::PointShape::Circle, Ink::Text, 6);
    today(analysis::Sum::Lecture, draw::PointShape::Diamond, Ink::GlobalLoad, 4);
    if (!ui.over(axes.plot)) return;
    for (const analysis::CurvePoint& point : curve.hardware) {
        if (point.value < draw::value_at(axes.x, ui.cursor().x)) continue;
        ui.tip = fmt::format("{}: {} blocks, {} threads by the hardware's sum",
                             value_words(parameter, point.value), point.blocks, grouped(point.threads));
        break;
    }
}

// The answer in as large a type as lets it stand in two lines.
struct CaseAnswer {
    Size size = Size::Body;
    std::vector<std::string> lines;
    float height = 0;  // of its panel
};
CaseAnswer answer_of(const Ui& ui, const std::string& words, float width) {
    CaseAnswer answer;
    for (const Size size : {Size::Title, Size::Body, Size::Small}) {
        answer.size = size;
        answer.lines = wrapped(ui.font(Face::Strong, size), words, width - ui.px(32));
        if (answer.lines.size() <= (size == Size::Title ? 2u : 6u)) break;
    }
    answer.height = line_height(ui, answer.size) * static_cast<float>(answer.lines.size()) + ui.px(20);
    return answer;
}

void answer_panel(Ui& ui, const Rect& rect, const CaseAnswer& answer) {
    surface(ui, rect);
    ImVec2 at{rect.min.x + ui.px(16), rect.min.y + ui.px(10)};
    for (const std::string& text : answer.lines) {
        line(ui, at, rect.width() - ui.px(32) + 1, Face::Strong, answer.size, Ink::Text, text);
        at.y += line_height(ui, answer.size);
    }
}

void foot(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const Rect in{{rect.min.x + ui.px(16), rect.min.y + ui.px(8)}, {rect.max.x - ui.px(16), rect.max.y}};
    curve_key(ui, in.min);
    line(ui, {in.max.x, in.min.y}, in.width() / 2, Face::Text, Size::Small, Ink::TextFaint,
         "\u2191 \u2193 case   \u2190 \u2192 parameter   + - its value", Align::Right);
}

constexpr int kMostGiven = 6;  // rows of given_by(), which has more than taken_by()

// What the sums of a case are made of, while a question asks for what they come to.
//
//   +--------------------------+--------------------------+
//   | An SM of ... has         | A block takes            |
//   |   1,536   thread slots   |   256   threads          |
//   +--------------------------+--------------------------+
void given_panel(Ui& ui, const Rect& rect, const std::string& title, const std::vector<Given>& rows) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(16));
    const float head = line_height(ui, Size::Title) + ui.px(10);
    const float most = (in.height() - head) / static_cast<float>(kMostGiven);
    const Size size = most >= line_height(ui, Size::Title) ? Size::Title : Size::Body;
    const float high = std::min(most, line_height(ui, size) + ui.px(10)), number = ui.px(100);
    line(ui, in.min, in.width(), Face::Strong, Size::Title, Ink::TextQuiet, title);
    float y = in.min.y + head;
    for (const Given& row : rows) {
        line(ui, {in.min.x + number, y}, number, Face::Mono, size, Ink::Text, row.value, Align::Right);
        line(ui, {in.min.x + number + ui.px(16), y}, in.width() - number - ui.px(16), Face::Text, size,
             Ink::Text, row.name);
        y += high;
    }
}

void draw_asked(Ui& ui, const Rect& area, const analysis::DeviceSpec& device) {
    const float gap = ui.px(8);
    const Rect in = area.inset(gap);
    const float middle = std::round((in.min.x + in.max.x) / 2);
    // How much a thread or a block may take at most is what the block of such a case takes.
    const analysis::LimitPreset* const preset = analysis::find_limit_preset(ui.state.preset);
    analysis::BlockUse use = ui.state.use;
    const bool most = preset != nullptr && preset->wants == analysis::LimitPreset::Wants::Most &&
                      use == preset->blocks.front().use;
    if (most) use.registers = use.shared = 0;
    std::vector<Given> taken = taken_by(use);
    if (most)
        taken.push_back({"?", preset->parameter == Parameter::Registers ? "registers per thread"
                                                                        : "bytes of shared memory"});
    // What is hidden has a place of its own where there is room for it.
    const float given = line_height(ui, Size::Title) * (kMostGiven + 1) + ui.px(112);
    const float bottom = std::min(in.max.y, in.min.y + given);
    given_panel(ui, {in.min, {middle - gap / 2, bottom}}, fmt::format("An SM of {} has", name_of(device)),
                given_by(device));
    given_panel(ui, {{middle + gap / 2, in.min.y}, {in.max.x, bottom}}, "A block takes", taken);
    const Rect rest{{in.min.x, bottom + gap}, in.max};
    if (rest.height() > line_height(ui, Size::Display) + line_height(ui, Size::Body) + gap * 2)
        hidden_panel(ui, rest);
}

// Below the strip of a lesson for the back row, which says what the case is, there is room for the lecture's
// sum and the curve alone.
void draw_tight(Ui& ui, const Rect& area, const analysis::DeviceSpec& device) {
    const float gap = ui.px(8);
    const Rect in = area.inset(gap);
    const float middle = std::round((in.min.x + in.max.x) / 2);
    sum_panel(ui, {in.min, {middle - gap / 2, in.max.y}},
              sum_column(device.sm, ui.state.use, analysis::Sum::Lecture));
    curve_panel(ui, {{middle + gap / 2, in.min.y}, in.max}, device.sm, ui.state.parameter, true);
}

void draw_screen(Ui& ui, const Rect& area) {
    const State& state = ui.state;
    const auto& devices = ui.session.assets.devices();
    if (devices.empty()) {
        empty_panel(ui, area, "No device's limits are known here.",
                    "They are built into the program from assets/devices: build it with that folder in "
                    "its place.",
                    ui.session.message);
        return;
    }
    const analysis::DeviceSpec device = limits_device(state, devices);
    if (ui.session.question.hides_any()) return draw_asked(ui, area, device);
    if (area.height() < ui.px(420)) return draw_tight(ui, area, device);
    const CaseWords said = words(state, devices);
    const float gap = ui.px(8);
    const auto [header, row] = screen_head(ui, area, said.question, {said.device});
    controls(ui, row, device);
    const float sums = ui.px(184), low = line_height(ui, Size::Small) + ui.px(16);
    const float middle = std::round((header.min.x + header.max.x) / 2), bottom = area.max.y - gap;
    float y = header.max.y + gap;
    const auto sum = [&](const Rect& rect, analysis::Sum by) {
        sum_panel(ui, rect, sum_column(device.sm, state.use, by));
    };
    CaseAnswer answer = answer_of(ui, said.answer, header.width());
    if (bottom - y < answer.height + sums + low + gap * 3 + ui.px(220)) {
        const float half = std::round((y + bottom) / 2), right = middle - gap / 2, left = middle + gap / 2;
        sum({{header.min.x, y}, {right, half - gap / 2}}, analysis::Sum::Lecture);
        sum({{header.min.x, half + gap / 2}, {right, bottom}}, analysis::Sum::Hardware);
        answer = answer_of(ui, said.answer, header.max.x - left);
        answer_panel(ui, {{left, y}, {header.max.x, y + answer.height}}, answer);
        curve_panel(ui, {{left, y + answer.height + gap}, {header.max.x, bottom}}, device.sm, state.parameter,
                    true);
        return;
    }
    answer_panel(ui, {{header.min.x, y}, {header.max.x, y + answer.height}}, answer);
    y += answer.height + gap;
    sum({{header.min.x, y}, {middle - gap / 2, y + sums}}, analysis::Sum::Lecture);
    sum({{middle + gap / 2, y}, {header.max.x, y + sums}}, analysis::Sum::Hardware);
    float top = y + sums + gap;
    const float end = bottom - gap - low;
    // The SM itself, where the curves keep their height.
    if (const float high = sm_height(ui); end - top - high - gap >= ui.px(240)) {
        sm_panel(ui, {{header.min.x, top}, {header.max.x, top + high}}, device, state.use);
        top += high + gap;
    }
    const float third = (header.width() - gap * 2) / 3;
    for (int i = 0; i < 3; ++i) {
        const float x = std::round(header.min.x + static_cast<float>(i) * (third + gap));
        curve_panel(ui, {{x, top}, {std::round(x + third), end}}, device.sm, static_cast<Parameter>(i));
    }
    foot(ui, {{header.min.x, end + gap}, {header.max.x, bottom}});
}

bool press(State& chosen, session::Session& session, const input::KeyPress& press) {
    using input::along, input::Key;
    static const std::string kOfRecording = "the open recording";
    std::vector<std::string> cases;
    if (session.recording) cases.push_back(kOfRecording);
    for (const analysis::LimitPreset& preset : analysis::limit_presets()) cases.push_back(preset.id);
    const int step = along(press, Key::Up, Key::Down), over = along(press, Key::Left, Key::Right),
              more = along(press, Key::Minus, Key::Plus);
    if (step != 0) {
        chosen.by_hand = true;
        const std::string next =
            input::neighbour(cases, chosen.launch.empty() ? chosen.preset : kOfRecording, step);
        if (next == kOfRecording)
            take_launch(chosen, *session.recording);
        else
            take_preset(chosen, next);
    }
    chosen.parameter = static_cast<Parameter>(std::clamp(static_cast<int>(chosen.parameter) + over, 0, 2));
    if (more != 0)
        change_parameter(chosen, limits_device(chosen, session.assets.devices()).sm, chosen.parameter, more);
    return step != 0 || over != 0 || more != 0;
}

// Cases and devices, in the palette.
const input::Actions<State>& actions() {
    using session::Session;
    static const input::Actions<State> all = [] {
        input::Actions<State> each;
        const auto add = [&](std::string name, std::string help, auto take) {
            each.emplace_back("limits:" + name, std::move(help), "", input::Chord(),
                              [=](State& state, Session& session) {
                                  state.by_hand = true;
                                  take(state);
                                  session.screen = kScreen.option;
                              });
        };
        for (const analysis::LimitPreset& preset : analysis::limit_presets())
            for (size_t at = 0; at < preset.blocks.size(); ++at) {
                const std::string title = question_of(preset, preset.blocks[at].use);
                add(at == 0 ? preset.id : fmt::format("{}:{}", preset.id, at + 1),
                    at == 0 ? "Limits case: " + title
                            : fmt::format("Limits case, {}: {}", preset.blocks[at].label, title),
                    [id = preset.id, at](State& s) { take_preset(s, id, at); });
            }
        for (const analysis::DeviceSpec& device : kernels::devices())
            add("device-" + device.id, fmt::format("Limits of {}", name_of(device)),
                [id = device.id](State& s) { take_device(s, id); });
        each.emplace_back("limits:recording", "Limits of the open recording's kernel", "", input::Chord(),
                          [](State& state, Session& session) {
                              if (session.recording) take_launch(state, *session.recording);
                              session.screen = kScreen.option;
                          });
        return each;
    }();
    return all;
}

// A recording that has come is what the screen is about, until somebody chooses another case.
bool update(State& state, session::Session& session, bool) {
    if (session.screen != kScreen.option || !session.recording || state.by_hand ||
        state.opened_on == session.recording->serial)
        return false;
    state.opened_on = session.recording->serial;
    take_launch(state, *session.recording);
    return false;
}

}  // namespace

const input::Screen<State> kScreen{.name = "Limits",
                                   .option = "limits",
                                   .about = "What an SM holds, and what keeps it from more",
                                   .draw = draw_screen,
                                   .press = press,
                                   .actions = actions,
                                   .update = update,
                                   .hides_itself = [](const session::Question& of) { return of.of_case; }};

}  // namespace tilescope::limits
