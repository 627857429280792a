// What is shown, as the part of an address behind its "#": short enough for a slide, and words that a person can write.
//
//   t=tiled-64x64x64-t16&step=70            a recording that ships, at a step, from 1 on, as `render --at` counts them
//   t=https://host/mine.tsc&screen=timing   one that is fetched; t=mine.tsc: from beside the page
//   kernel=tiled&m=64&k=64&n=64&tile=16     one that is recorded now
//   lesson=reuse&stop=3                     a stop of a lesson that ships, from 1 on
//   theme=dark  lecture=1                   how it looks
//   embed=1                                 without the bar, as a frame of another page
//
// Values are percent-encoded. A link may come from anybody: it names what ships, or a file that is read as any other, and
// records no more than a lesson may (lessons::kMostRequestsOfLesson).
//
// Source: RFC 3986, sections 2.1, 3.5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/draw/theme.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::app {

struct State;

struct LinkLooks {
    std::optional<draw::Theme> theme;
    std::optional<bool> lecture;
    bool embed = false;
    bool operator==(const LinkLooks&) const = default;
};

// What it is of: at most one of these is set.
struct LinkSource {
    std::string recording{};  // name of one that ships, or an address; "" for none
    std::string kernel{};     // name of a textbook kernel; "" for none
    kernels::Shape shape{};   // of it
    std::string lesson{};     // name of a lesson that ships; "" for none
    uint32_t stop = 1;        // of it
    bool operator==(const LinkSource&) const = default;
    bool any() const { return !recording.empty() || !kernel.empty() || !lesson.empty(); }
};

struct Link : LinkLooks, LinkSource {
    std::string screen;  // option of a screen; "" for the usual one
    uint64_t step = 0;   // of the recording, from 1 on; 0: not said
    bool operator==(const Link&) const = default;
};

// What cannot be understood is left out; problem: the first of it, in one sentence, or "".
struct ReadLink {
    Link link;
    std::string problem;
};
ReadLink read_link(std::string_view text);
std::string text_of(const Link& link);

// What recordings are fetched from; else it is the name of one that ships.
bool is_address(std::string_view recording);

// What is shown. A recording that nobody else has leaves no source and no step.
Link link_to(const State& state);
// Shows it: opens what is not open yet; arrive(), called in every turn, goes to its step once that is there.
// problem: of ReadLink; it stands when all is there.
void follow(State& state, const Link& link, const std::string& problem = "");
void arrive(State& state);

}  // namespace tilescope::app
