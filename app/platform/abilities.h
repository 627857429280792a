// What this platform can do, told by its own file (desktop.cpp, web.cpp). What it cannot is not offered, and one sentence says
// where it can be done.
#pragma once

#include <string>

#include "core/base/result.h"

namespace tilescope::platform {

struct Abilities {
    bool programs = true;  // compiles .cu files and runs them
    bool gpu = true;       // may reach one that records
    bool films = true;     // hands pictures to ffmpeg
    bool paths = true;  // files lie in folders and are named by paths; else they come and go through the page
    bool links = false;        // what is shown has an address
    bool quits = true;         // ends when it is asked to
    bool full_screen = false;  // is asked for by the program, and not of the desktop
};
Abilities abilities();

inline constexpr Abilities kOfAPage{.programs = false,
                                    .gpu = false,
                                    .films = false,
                                    .paths = false,
                                    .links = true,
                                    .quits = false,
                                    .full_screen = true};

inline constexpr const char* kProgramsElsewhere =
    "Programs (.cu) are compiled and run by Tilescope installed on Linux; a recording (.tsc) that it makes "
    "opens here.";

// Where files are written that are handed over, where there are no paths.
inline constexpr const char* kHandedOver = "/downloads/";

// A file that the program wrote for the person is complete: a page offers it as a download, and removes it. What it is called
// from then on: its path, or in a page its name alone.
std::string hand_over(const std::string& path);

// Has the person choose a file, where there are no paths: it comes as one that was dropped. beside: to stand beside the
// recording that is open.
void choose_file(bool beside);

// Has the file at an address fetched: it comes as one that was dropped, with Input::origin, or Input::said says why not.
void fetch(const std::string& address);

// Puts the page's address with that link (app/link.h) on the clipboard.
void copy_link(const std::string& link);

// To the whole screen, or back.
void toggle_full_screen();

// Puts a picture, as the bytes of a PNG, on the clipboard: on a desktop by wl-copy or xclip, which keep it there for as long as
// it is wanted. False where neither is installed; an Error, one sentence, where it did not work.
Result<bool> copy_picture(const std::string& png);

}  // namespace tilescope::platform
