// What `tilescope export` was asked for, and `tilescope render`, which is the same for one picture.
#pragma once

#include <cstdint>
#include <string>

namespace tilescope::cli {

struct ExportOptions {
    std::string file, format = "png", output;
    std::string block, steps;  // of all formats but a single picture's
    bool lanes = false;        // csv and json: every lane's access
    // Pictures. with: the second recording of the Compare screen, "" for none; size: "" for the usual one.
    std::string screen = "step", with, at = "first", size, theme = "light";
    uint32_t fps = 8;
    bool lecture = false;
};

// png, svg, gif and mp4; returns the exit status.
int export_pictures(const ExportOptions& options);

}  // namespace tilescope::cli
