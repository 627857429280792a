// Playing and stepping: how fast, along which axis, and what goes by in a frame.
#pragma once

#include <optional>

#include "app/session/session.h"

namespace tilescope::session {

// A person's move ends playing: the step that they asked for stays.
void jump(Session& session, playback::Move where);
// Puts the cursor at a step of the block, clamped; ends playing.
void go_to(Session& session, uint32_t step);
// The next fault found in the block, or the one before (look::next_fault, look::previous_fault).
void to_fault(Session& session, std::optional<uint32_t> (*find)(const look::BlockFaults&, uint32_t));

void play(Session& session);  // or pause
void speed(Session& session, double by);
void change_axis(Session& session);  // clocks or steps
// Pins the next warp of the block, or the one before; at first the one beside the cursor's.
void pick_warp(Session& session, int by);

// Marks steps `first` up to `end` of the cursor's block for a film; none where there are none between.
void mark(Session& session, uint32_t first, uint32_t end);
// From the cursor's step on, to where the mark ends, or the block; and up to the cursor's step.
void mark_from_here(Session& session);
void mark_up_to_here(Session& session);
// The marked steps, where they are of the cursor's block.
std::optional<MarkedSteps> marked_here(const Session& session);

// Whether the timeline and playing go by clocks: asked for, and the cursor's block has them.
bool by_clock(const Session& session);

// Where playing stands on the clocks' axis: the cursor's step and what has gone by since.
double clock_now(const Session& session);

// Lets `seconds` of playing go by, in steps or in clocks. At the end of a block it rests, and then goes on in
// the block that was recorded next; it stops at the last step of the last one.
inline constexpr double kRest = 0.8;  // seconds
void advance(Session& session, double seconds);

// Speeds are powers of two from 1/2 to 4096 steps a second. Motion is drawn up to 20.
inline constexpr double kSlowest = 0.5, kFastest = 4096, kFastestMotion = 20;

// By clocks: powers of two from 1 to 2^24 a second; a block opens at one that shows it in about 20 seconds.
inline constexpr double kSlowestClock = 1, kFastestClock = 1 << 24;
double fitting_clocks_per_second(uint32_t clocks);

// How fast steps go by while playing, for what is only drawn at low speeds.
double steps_per_second(const Session& session);

// How long the cursor's step stays while playing; very long where nothing is played.
double seconds_of_step(const Session& session);

// Steps a second at which a recording opens: slow enough to follow what travels where a block has few of them.
inline constexpr double kUsualSpeed = 8, kSpeedOfFewSteps = 1.5;
inline constexpr uint32_t kFewSteps = 100;
double usual_speed(const trace::Trace& trace);

}  // namespace tilescope::session
