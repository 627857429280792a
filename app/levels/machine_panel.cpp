// What loads ask for, as a machine: pipes as wide as bytes run from the threads to DRAM, and at each level the
// part that it serves peels off, in that level's colour, into its box.
//
//   threads ask   requests      past L1          from L2        from DRAM
//   1.05 MB       524 kB        65.5 kB          41 kB          32.8 kB
//   +-------+ ###\              +-------+        +-------+      +------+      +------+
//   |threads| ####\#############|##\####|########|#######|######|######|######|######|
//   |       | #####  L2, DRAM   |   \###|##\     |       |      |      |      |      |
//   |       | #####-------------|       |   \    |  \    |      |  \   |      |      |
//   |       | #####  L1         |\__    |    \---|   \__ |------|   \_ |      |      |
//   +-------+ ####              |  L1 ##|        |flight#|      |  L2 #|      | DRAM |
//   threads                        50 %             23 %            2 %         25 %
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/axes.h"
#include "app/levels/panels.h"
#include "core/base/words.h"

namespace tilescope::levels {
namespace {

std::string tip_of(const ChainStage& stage) {
    std::string tip = fmt::format("{} {} bytes, {}.", stage.means,
                                  grouped(static_cast<uint64_t>(std::llround(stage.bytes))),
                                  stage.modelled ? "modelled" : "counted from the recording");
    if (stage.measured)
        tip += fmt::format(" {} bytes by the device's counters.",
                           grouped(static_cast<uint64_t>(std::llround(*stage.measured))));
    return tip;
}

// What lies on one cross section of a pipe, from below: for each level what it will serve.
struct Section {
    std::array<float, kFoundIn> top{}, bottom{};
};

struct Machine {
    const analysis::LevelShare& share;
    float top = 0, bottom = 0;  // of the boxes
    float box = 0, pipe = 0;    // widths
    const LoadChain& chain;

    // Of the pipes' height the widest takes this much, so that what peels off goes down.
    float height_of(double bytes) const {
        const float widest = (bottom - top) * 0.76f, width = static_cast<float>(chain.width_of(bytes));
        return bytes > 0 ? std::max(widest * width, 2.f) : 0;
    }
    // Of the pipe of a stage, in which what the levels from `from` on serve still flows.
    Section section(size_t stage, size_t from) const {
        Section made;
        double all = 0;
        for (size_t in = from; in < kFoundIn; ++in) all += static_cast<double>(share.sectors[in]);
        const float high = height_of(chain.stages[stage].bytes);
        float y = top + high;
        for (size_t in = from; in < kFoundIn; ++in) {
            made.bottom[in] = y;
            if (all > 0) y -= high * static_cast<float>(static_cast<double>(share.sectors[in]) / all);
            made.top[in] = y;
        }
        return made;
    }
};

void ribbon(Ui& ui, float x0, float top0, float bottom0, float x1, float top1, float bottom1, Rgba color) {
    if (bottom0 - top0 <= 0 && bottom1 - top1 <= 0) return;
    const ImVec2 corners[] = {{x0, top0}, {x1, top1}, {x1, bottom1}, {x0, bottom0}};
    ui.list.AddConvexPolyFilled(corners, 4, color);
}

// Name, bytes and how they are known, above a stage's pipe.
void stage_words(Ui& ui, ImVec2 at, float width, const ChainStage& stage) {
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    line(ui, at, width, Face::Strong, Size::Small, Ink::Text, stage.name);
    at.y += small;
    line(ui, at, width, Face::Mono, Size::Body, Ink::Text, bytes_text(stage.bytes));
    at.y += body;
    note(ui, at, width, stage.modelled ? "modelled" : "exact");
    at.y += small;
    if (stage.measured) note(ui, at, width, fmt::format("counted {}", bytes_text(*stage.measured)));
}

// A stroke across a pipe where it would end if it were as wide as what was counted.
void counted_stroke(Ui& ui, float x0, float x1, const Machine& machine, const ChainStage& stage) {
    if (!stage.measured) return;
    const float y = machine.top + machine.height_of(*stage.measured), over = ui.px(3);
    ui.list.AddLine({x0 - over, y}, {x1 + over, y}, ui.ink(Ink::Text), ui.px(2));
}

// The sectors of the request that is shown, four a row as in a line, in the box where they were found.
void sectors_here(Ui& ui, const Rect& box, uint32_t count, Rgba color) {
    if (count == 0) return;
    ui.list.AddRect(box.min, box.max, ui.ink(Ink::Selected), ui.px(3), 0, ui.px(2));
    const float size = std::min(ui.px(8), (box.width() - ui.px(12)) / 4.6f), pitch = size * 1.2f;
    const auto rows = static_cast<uint32_t>(std::max(1.f, (box.height() - ui.px(8)) / pitch));
    const float left = std::round((box.min.x + box.max.x - pitch * 4) / 2);
    for (uint32_t i = 0; i < std::min(count, rows * 4); ++i) {
        const ImVec2 at{left + pitch * static_cast<float>(i % 4),
                        box.min.y + ui.px(5) + pitch * static_cast<float>(i / 4)};
        ui.list.AddRectFilled(at, {at.x + size, at.y + size}, color);
        ui.list.AddRect(at, {at.x + size, at.y + size}, ui.ink(Ink::Text));
    }
}

}  // namespace

void machine_panel(Ui& ui, const Rect& rect, const LoadChain& chain) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(14));
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    const bool measured =
        std::ranges::any_of(chain.stages, [](const ChainStage& s) { return s.measured.has_value(); });
    const float head = small * (measured ? 3 : 2) + body + ui.px(4), pad = ui.px(8);
    const bool says_scale = in.height() - head >= ui.px(120);
    const float foot = small * (says_scale ? 3 : 2) + ui.px(4);
    Machine machine{ui.state.walked->shares.all,
                    in.min.y + head,
                    in.max.y - foot,
                    std::round(std::clamp(in.width() * 0.085f, ui.px(52), ui.px(96))),
                    0,
                    chain};
    machine.pipe = (in.width() - machine.box * 5) / 5;
    const float box = machine.box, pipe = machine.pipe;
    const auto& stages = chain.stages;
    if (machine.bottom - machine.top < ui.px(20)) return;

    // The threads, and the pipe of what they ask for, which their requests make narrower.
    float x = in.min.x;
    const auto box_at = [&](float left) {
        return Rect{{std::round(left), machine.top}, {std::round(left + box), machine.bottom}};
    };
    const auto below = [&](const Rect& of, const std::string& name, const std::string& share) {
        const float middle = (of.min.x + of.max.x) / 2, room = box + pipe * 0.5f;
        line(ui, {middle, of.max.y + ui.px(4)}, room, Face::Strong, Size::Small, Ink::Text, name,
             Align::Center);
        line(ui, {middle, of.max.y + ui.px(4) + small}, room, Face::Mono, Size::Small, Ink::TextQuiet, share,
             Align::Center);
    };
    const auto plain = [&](const Rect& of) {
        ui.list.AddRectFilled(of.min, of.max, ui.ink(Ink::Raised), ui.px(3));
    };
    const Rect threads = box_at(x);
    plain(threads);
    below(threads, "threads", "");
    if (!says_scale) note(ui, {in.min.x, threads.max.y + ui.px(4) + small}, box + pipe, "log scale");
    stage_words(ui, {x, in.min.y}, box + pipe - pad, stages[0]);
    const Rgba asked = ui.ink(Ink::GlobalLoad);
    const float wide = machine.height_of(stages[0].bytes);
    x += box;
    const float narrows = x + pipe * 0.62f;
    ribbon(ui, x, machine.top, machine.top + wide, narrows, machine.top, machine.top + wide, asked);
    const auto hovers = [&](float left, float right, const ChainStage& stage) {
        if (ui.over({{left, in.min.y}, {right, machine.bottom}})) ui.tip = tip_of(stage);
    };
    hovers(in.min.x, x + pipe, stages[0]);
    x += pipe;
    stage_words(ui, {x, in.min.y}, pipe + box - pad, stages[1]);
    ribbon(ui, narrows, machine.top, machine.top + wide, x, machine.top,
           machine.top + machine.height_of(stages[1].bytes), draw::with_alpha(asked, 0.35f));

    // Each pipe, and the box in which what its level serves comes down.
    const uint64_t all = machine.share.asked();
    for (size_t level = 0; level < kFoundIn; ++level) {
        const auto in_level = static_cast<FoundIn>(level);
        const size_t stage = level + 1;
        const Section here = machine.section(stage, level);
        const float end = x + pipe;
        for (size_t of = level; of < kFoundIn; ++of)
            ribbon(ui, x, here.top[of], here.bottom[of], end, here.top[of], here.bottom[of],
                   color_of(ui, static_cast<FoundIn>(of)));
        if (level > 0) stage_words(ui, {x, in.min.y}, pipe + box - pad, stages[stage]);
        counted_stroke(ui, x + ui.px(4), end - ui.px(4), machine, stages[stage]);
        hovers(x, end + box, stages[stage]);
        const Rect level_box = box_at(end);
        plain(level_box);
        if (stage + 1 < analysis::kLevelStages) {
            const Section next = machine.section(stage + 1, level + 1);
            for (size_t of = level + 1; of < kFoundIn; ++of)
                ribbon(ui, level_box.min.x, here.top[of], here.bottom[of], level_box.max.x, next.top[of],
                       next.bottom[of], draw::with_alpha(color_of(ui, static_cast<FoundIn>(of)), 0.35f));
        }
        const float served = here.bottom[level] - here.top[level];
        const Rgba color = color_of(ui, in_level);
        if (served > 0) {
            const float turn = level_box.min.x + box * 0.5f, down = machine.bottom - served;
            ribbon(ui, level_box.min.x, here.top[level], here.bottom[level], turn, down, machine.bottom,
                   color);
            ui.list.AddRectFilled({turn, down}, level_box.max, color);
        }
        ui.list.AddRect(level_box.min, level_box.max, ui.ink(Ink::LineStrong), ui.px(3));
        if (ui.state.view && ui.state.view->request)
            sectors_here(ui, level_box, ui.state.view->found[level], color);
        const uint64_t sectors = machine.share.sectors[level];
        below(level_box, kFoundNames[level],
              all == 0 ? "" : share_text(static_cast<double>(sectors) / static_cast<double>(all)));
        x = end + box;
    }
    if (!says_scale) return;
    const std::string scale =
        fmt::format("Log scale: half the bytes, narrower by 1/{} of the widest pipe.", chain.halvings());
    note(ui, {in.min.x, in.max.y - small + ui.px(2)}, in.width(),
         {scale + " Per cent: of the sectors that requests need.", scale, "log scale"});
}

}  // namespace tilescope::levels
