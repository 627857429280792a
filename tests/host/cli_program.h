// Runs the real program, as a person's shell would, for the tests of the command line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace tilescope::cli_test {

struct Ran {
    int status = -1;  // exit status; 128 + signal where a signal ended it
    std::string out, err;
};

// Runs tilescope with these arguments in the folder of the test, without a display and without a GPU.
Ran tilescope(const std::vector<std::string>& arguments);
// The same through sh, for redirections: $TILESCOPE is the program.
Ran shell(const std::string& command);

// `tilescope record REST` through sh, with a cache of the test's own, so that none sees what another built. before:
// words in front of the program.
Ran record(const std::string& rest, const std::string& before = "");

// A folder of its own for each test, empty at its start.
std::filesystem::path folder();
std::string in_folder(const std::string& name);

std::string read(const std::filesystem::path& path);
void write(const std::filesystem::path& path, const std::string& text);

// A recording that has to be there.
trace::Trace recording(const std::string& path);

// One plain sentence: exactly one line, "tilescope: ...", without a full stop, and not too long.
void expect_one_sentence(const std::string& err);

// That call ends with this status and one sentence that says this, and prints nothing else.
void expect_refused(int status, const std::vector<std::string>& arguments, const std::string& says);

// A recording made by the program: `tiled` of 4 x 4 x 4, T = 2.
std::string lecture_recording();

}  // namespace tilescope::cli_test
