// What a picture shows: --screen, --size, --theme, --lecture and the step; for render and export alike. And
// the state that a window or a picture starts from.
#pragma once

#include <cstdint>
#include <string>

#include "app/app.h"
#include "core/base/result.h"

namespace tilescope::cli {

struct Picture {
    std::string screen = "step";
    draw::Theme theme = draw::Theme::Light;
    uint32_t width = 0, height = 0;  // pixels
    bool lecture = false;
};

// The sentence says which option cannot be read, and what can.
Result<Picture> parse_picture(const std::string& screen, const std::string& size, const std::string& theme);

// "step, compare": what --screen takes.
std::string screen_names();

// A recording ready to be shown. origin: "recorded now, on the CPU".
Result<app::State> state_of(trace::Trace trace, std::string origin);
// The same of a file, or of a name that ships.
Result<app::State> state_of_file(const std::string& file);

// That, shown as the picture shows it.
Result<app::State> picture_state(const std::string& file, const Picture& picture);

// --at STEP. file: what the sentence calls the recording.
Result<void> show_step(app::State& state, const std::string& at, const std::string& file);

}  // namespace tilescope::cli
