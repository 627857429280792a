#include "app/cli/picture_options.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/cli/open_recording.h"
#include "app/cli/values.h"

namespace tilescope::cli {

namespace {

constexpr uint32_t kLeastSide = 200, kMostSide = 8192;  // pixels; OpenGL 3.3 devices render at least 8192

bool fits(uint32_t side) { return side >= kLeastSide && side <= kMostSide; }

}  // namespace

std::string screen_names() {
    std::string names;
    for (const app::ScreenRow& info : app::screens())
        names += (names.empty() ? "" : ", ") + std::string(info.option);
    return names;
}

Result<Picture> parse_picture(const std::string& screen, const std::string& size, const std::string& theme) {
    const auto colours = parse_theme(theme);
    if (!colours) return Error{fmt::format("--theme '{}' is not known; choose light or dark", theme)};
    const app::ScreenRow* const info = app::find_screen(screen);
    if (!info) return Error{fmt::format("--screen '{}' is not known; choose {}", screen, screen_names())};
    const auto sides = parse_pair(size, 'x');
    if (!sides || !fits(sides->first) || !fits(sides->second)) {
        return Error{fmt::format("--size '{}' is not a size; give it as WxH in pixels, each from {} to {}",
                                 size, kLeastSide, kMostSide)};
    }
    return Picture{info->option, *colours, sides->first, sides->second};
}

Result<app::State> state_of(trace::Trace trace, std::string origin) {
    auto recording = session::make_recording(std::move(trace), std::move(origin));
    if (!recording) return recording.error();
    app::State state;
    session::show(state.session, std::move(*recording));
    return state;
}

Result<app::State> state_of_file(const std::string& file) {
    auto opened = open_recording(file);
    if (!opened) return opened.error();
    return state_of(std::move(opened->trace), std::move(opened->origin));
}

Result<app::State> picture_state(const std::string& file, const Picture& picture) {
    auto state = state_of_file(file);
    if (!state) return state.error();
    state->session.screen = picture.screen;
    state->session.theme = picture.theme;
    state->session.lecture = picture.lecture;
    return state;
}

Result<void> show_step(app::State& state, const std::string& at, const std::string& file) {
    const trace::Trace& trace = state.session.trace();
    const auto step = parse_step(at, trace);
    if (!step) {
        return Error{
            fmt::format("--at '{}' is not a step of '{}'; give a number from 1 to {}, first, middle or "
                        "last",
                        at, file, trace.steps())};
    }
    const uint32_t block = trace::block_of(trace, *step);
    state.session.cursor = {block, static_cast<uint32_t>(*step - trace.blocks[block].first)};
    return {};
}

}  // namespace tilescope::cli
