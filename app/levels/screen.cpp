// The Levels screen: where what threads ask for is found.
//
//   +------------------------------------------------------------+
//   | how much L1 finds, and what the figures rest on            |
//   | device                             where this is: the strip |
//   +------------------------------------+-----------------------+
//   | threads > L1 > in flight > L2 >    | this request's lines  |
//   | DRAM: pipes as wide as bytes       |                       |
//   +----------------------+-------------+-----------------------+
//   | sums by site, array, | L1 of its SM: sets and lines,       |
//   | phase                | who is evicted, who comes back      |
//   +----------------------+-------------------------------------+
//   | transport                                                  |
//   +------------------------------------------------------------+
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/input/overlays.h"
#include "app/levels/panels.h"

namespace tilescope::levels {
namespace {

// Returns where it ends.
float device_choice(Ui& ui, const Rect& row) {
    const auto& all = kernels::level_devices();
    const analysis::DeviceSpec& shown = device_of(ui.state, ui.trace());
    std::vector<std::string> names;
    size_t current = 0;
    for (size_t i = 0; i < all.size(); ++i) {
        names.push_back(all[i]->name);
        if (all[i] == &shown) current = i;
    }
    ImVec2 at = row.min;
    control_label(ui, at, row.height(), "device");
    if (const auto chosen = choices(ui, at, row.height(), names, current, "Whose caches are modelled (U)"))
        ui.state.device = all[*chosen]->id;
    return at.x;
}

// Of a window of blocks what was counted of the whole launch stands in the headline, and not beside its bytes.
LoadChain chain_to_show(const Ui& ui) {
    const WalkedLevels& walked = *ui.state.walked;
    if (!walked.part) return chain_of(walked, ui.state.known.counted);
    const uint64_t launched = ui.trace().launch.grid.count(),
                   blocks = std::max<uint64_t>(1, walked.levels.launch.blocks);
    // Blocks of a product ask for as much as one another.
    const uint64_t asked =
        ui.session.recording->product ? walked.levels.asked.all.requested_bytes * launched / blocks : 0;
    return chain_of_part(walked, launched, ui.state.known.counted, asked);
}

void draw_screen(Ui& ui, const Rect& area) {
    State& state = ui.state;
    if (!ui.session.recording) {
        empty_panel(ui, area, "No recording is open.", "Open one, or record a kernel (R).",
                    ui.session.message);
        return;
    }
    const bool coming = ready(state, ui.session, ui.context.waits);
    ui.context.soon = ui.context.soon || coming;
    if (!state.why_not.empty()) {
        empty_panel(ui, area, "The levels of this recording are not known.", state.why_not);
        return;
    }
    if (!state.walked) {
        empty_panel(ui, area, "Replaying the recording through the caches\u2026",
                    fmt::format("Every load of {} looks for its sectors in L1, L2 and DRAM.",
                                analysis::launch_text(*ui.session.recording)));
        return;
    }
    const LoadChain chain = chain_to_show(ui);
    const analysis::DeviceSpec& device = device_of(state, ui.trace());
    const auto rests = rests_on(ui.trace(), *state.walked, device);
    const std::string& headline =
        fitting(ui.font(Face::Strong, Size::Title), chain.headlines, area.width() - ui.px(50));
    const float gap = ui.px(8);
    const bool low = area.height() < ui.px(560);
    const auto [head, row] = screen_head(ui, area, headline, rests, rests.front());
    const float end = device_choice(ui, row) + ui.px(24);
    where_strip(ui, {{end, row.min.y}, row.max});
    const bool transport = !ui.context.paper && !(low && ui.session.lecture);
    const float foot = transport ? ui.px(32) + ui.px(16) : 0;
    Rect rest{{head.min.x, head.max.y + gap}, {head.max.x, area.max.y - gap - (transport ? foot + gap : 0)}};
    if (!chain.of.empty()) {
        const float high = warning_height(ui, rest.width(), chain.of);
        draw::warning_strip(ui, {rest.min, {rest.max.x, rest.min.y + high}}, chain.of);
        rest.min.y += high + gap;
    }
    const float part = ui.session.lecture ? 0.53f : rest.height() < ui.px(640) ? 0.48f : 0.56f;
    const float middle = std::round(rest.min.y + (rest.height() - gap) * part);
    const float right = std::round(rest.min.x + rest.width() * 0.58f),
                left = std::round(rest.min.x + rest.width() * 0.42f);
    machine_panel(ui, {rest.min, {right - gap, middle}}, chain);
    request_panel(ui, {{right, rest.min.y}, {rest.max.x, middle}});
    shares_panel(ui, {{rest.min.x, middle + gap}, {left - gap, rest.max.y}});
    map_panel(ui, {{left, middle + gap}, rest.max});
    if (!transport) return;
    const Rect bar{{rest.min.x, area.max.y - gap - foot}, {rest.max.x, area.max.y - gap}};
    surface(ui, bar, "time");
    input::transport(ui,
                     {{bar.min.x + ui.px(12), bar.min.y + gap}, {bar.max.x - ui.px(12), bar.max.y - gap}});
}

void next_by(State& state) {
    state.by = static_cast<By>((static_cast<size_t>(state.by) + 1) % std::size(kByNames));
}
void next_device(State& state, session::Session& session) {
    if (!session.recording || kernels::level_devices().empty()) return;
    const auto& all = kernels::level_devices();
    const auto at = std::ranges::find(all, &device_of(state, session.trace()));
    state.device = all[static_cast<size_t>(at - all.begin() + 1) % all.size()]->id;
}

bool press(State& state, session::Session& session, const input::KeyPress& press) {
    if (press.shift) return false;
    if (press.key == input::Key::Y)
        next_by(state);
    else if (press.key == input::Key::U)
        next_device(state, session);
    else
        return false;
    return true;
}

const input::Actions<State>& actions() {
    static const input::Actions<State> all = [] {
        input::Actions<State> each;
        const auto add = [&](const char* name, const char* help, auto what) {
            each.emplace_back(std::string("levels:") + name, help, "", input::Chord(),
                              [what](State& state, session::Session& session) {
                                  what(state, session);
                                  session.screen = kScreen.option;
                              });
        };
        add("site", "Levels by site", [](State& s, session::Session&) { s.by = By::Site; });
        add("array", "Levels by array", [](State& s, session::Session&) { s.by = By::Array; });
        add("phase", "Levels by phase", [](State& s, session::Session&) { s.by = By::Phase; });
        add("device", "Levels of another device", next_device);
        return each;
    }();
    return all;
}

// What is made for another recording is not wanted any more.
bool update(State& state, session::Session& session, bool wait) {
    if (session.screen != kScreen.option) return false;
    return ready(state, session, wait);
}

}  // namespace

const input::Screen<State> kScreen{.name = "Levels",
                                   .option = "levels",
                                   .about = "Where loads are found: L1, L2 or DRAM",
                                   .draw = draw_screen,
                                   .press = press,
                                   .actions = actions,
                                   .update = update};

}  // namespace tilescope::levels
