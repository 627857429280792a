// The command palette's list: everything that can be done, found by a few letters of its name.
//
//   "nxt ph"     next phase                        letters in order, each word of the query for itself
//   "step 12"    Go to step 12 of this block       places are made from what is typed
//   ""           recently used ones first
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/input/screen.h"

namespace tilescope::input {

struct Command {
    std::string id;     // "action:next_step", "shipped:tiled-4x4x4-t2", "step:12": what run_command takes
    std::string title;  // "Next request or barrier"
    std::string keys;   // "" where no key does it
};

// How well a query meets a title: higher is better, below 0 for not at all. Case does not matter.
int match(std::string_view query, std::string_view title);

// Those that meet the query, best first; where equally good, the recently used first, then as listed.
std::vector<Command> find_commands(const Session& session, std::span<const Offer> offers,
                                   std::string_view query);

}  // namespace tilescope::input
