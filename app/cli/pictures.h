// What becomes of a recording's steps, or of a lesson, as pictures and pages: `export`, and `render`, which
// is the same for one picture.
#pragma once

#include "app/cli/command.h"

namespace tilescope::lessons {
struct Lesson;
}

namespace tilescope::cli {

// What --screen takes.
inline constexpr const char* kScreenWords = "step|compare|timing|levels|limits|lessons";

struct ExportOptions {
    std::string file, format = "png", output;
    std::string block, steps;  // for all formats but a single picture
    bool lanes = false;        // csv and json: every lane's access
    // Pictures. with: the second recording of the Compare screen, "" for none; size: "" for the usual one.
    std::string figure, set;  // name of a figure of the lessons; "warps=8,latency=400"
    std::string screen = "step", with, at = "first", size, theme = "light";
    // Films: fps: a picture a step, so many a second; seconds: with motion, how long a step lasts. At most
    // one of them; neither: with motion, as long as captions take to read.
    std::optional<uint32_t> fps;
    std::optional<double> seconds;
    bool lecture = false;
    bool subject = false;  // films and pictures of the Step screen: its matrices, tiles and threads alone
    std::vector<std::string> actions;  // actions to be done before the picture is drawn, by name
    // lesson: by name; html: or by its file. Of it, or of "ask me": the stop, from 1 on, and an answer to its
    // question, or what is right.
    std::string lesson, answer;
    uint32_t stop = 1;
    bool reveal = false, ask = false;
};

// png, svg, gif and mp4; returns the exit status.
int export_pictures(const ExportOptions& options);
// The place of a lesson that ships, by its name, in the list of them; another name is refused.
size_t shipped_lesson(const std::string& name);
// A picture of each stop of a lesson, as SVG, for its handout; none in a build without the window.
std::vector<std::string> lesson_pictures(const lessons::Lesson& lesson);
// html: a lesson's handout; returns the exit status.
int export_handout(const ExportOptions& options);

}  // namespace tilescope::cli
