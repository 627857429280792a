// Values of options that are more than a number: "4x2", "0:2,1:3", "seeded". Each is read whole or refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "app/draw/theme.h"
#include "core/base/launch.h"
#include "core/trace/trace.h"

namespace tilescope::cli {

// "1024".
std::optional<uint32_t> parse_whole(std::string_view text);

// "16x8" with separator 'x', "3,0" with ','.
std::optional<std::pair<uint32_t, uint32_t>> parse_pair(std::string_view text, char separator);

// "x0:x1,y0:y1", half-open and not empty.
std::optional<BlockWindow> parse_window(std::string_view text);

// "fair", "greedy", or a seed.
std::optional<Schedule> parse_schedule(std::string_view text);

// "light" or "dark".
std::optional<draw::Theme> parse_theme(std::string_view text);

// A step of a recording: its number from 1, or "first", "last", or "middle", which is the middle step of the
// middle block (half of all steps is often just where a block begins). From 0.
std::optional<uint64_t> parse_step(std::string_view text, const trace::Trace& trace);

// "12:40": steps 12 to 40 of a recording, both of them, each as parse_step takes it. Half-open, from 0.
std::optional<std::pair<uint64_t, uint64_t>> parse_steps(std::string_view text, const trace::Trace& trace);

}  // namespace tilescope::cli
