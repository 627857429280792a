// What `tilescope export` was asked for.
#pragma once

#include <cstdint>
#include <string>

namespace tilescope::cli {

struct ExportOptions {
    std::string file, format, output;
    std::string block, steps;  // of all formats but a single picture's
    bool lanes = false;        // csv and json: every lane's access
    // Pictures.
    std::string screen = "step", at = "first", size, theme = "light";
    uint32_t fps = 8;
    bool lecture = false;
};

// png, svg, gif and mp4 (app/cli/export_pictures.cpp; not in a build without the window).
int export_picture(const ExportOptions& options);
int export_film(const ExportOptions& options);

}  // namespace tilescope::cli
