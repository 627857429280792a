// Pairs of recordings that teach one thing each: what differs between them is that thing alone.
#pragma once

#include <span>
#include <string>

#include "kernels/textbook/catalogue.h"

namespace tilescope::compare {

struct ComparePreset {
    // A recording of a kernel: made anew on the CPU, or one that ships from a GPU.
    struct Part {
        const char* kernel;
        kernels::Shape shape;
        bool shipped = false;
    };
    const char* title;  // "Tiled or untiled"
    const char* about;  // what to look at
    Part a, b;
};

// In the order of the Compare screen.
std::span<const ComparePreset> compare_presets();

// "untiled T=16  64x64x64"
std::string part_name(const ComparePreset::Part& part);

}  // namespace tilescope::compare
