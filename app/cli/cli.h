// The command line: one file a command, each with a function that adds it to the parser.
//
//   exit status   0 done   1 failure   2 wrong call
//   errors        one plain sentence on standard error, "tilescope: ...": what was wrong and what to do
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace tilescope::cli {

enum Status : int { kDone = 0, kFailure = 1, kWrongCall = 2 };

// Parses and runs; returns the exit status. Catches what libraries throw.
int run(int argc, char** argv);

// A command adds itself to `app`; where it is called, it leaves in `chosen` what to do.
using Chosen = std::function<int()>;
void add_kernels(CLI::App& app, Chosen& chosen);
void add_devices(CLI::App& app, Chosen& chosen);
void add_record(CLI::App& app, Chosen& chosen);
void add_recordings(CLI::App& app, Chosen& chosen);
void add_report(CLI::App& app, Chosen& chosen);
void add_table(CLI::App& app, Chosen& chosen);
void add_time(CLI::App& app, Chosen& chosen);
void add_limits(CLI::App& app, Chosen& chosen);
void add_roofline(CLI::App& app, Chosen& chosen);
void add_compare(CLI::App& app, Chosen& chosen);
void add_render(CLI::App& app, Chosen& chosen);
void add_export(CLI::App& app, Chosen& chosen);
void add_open(CLI::App& app, Chosen& chosen);
// Without a command: the window, with the default kernel recorded.
void add_window(CLI::App& app, Chosen& chosen);

// Prints "tilescope: <message>" to standard error, on one line, and returns the status given.
int fail(Status status, std::string_view message);

// Prints to standard output; kFailure where that cannot be written (a full disk).
int print(std::string_view text);

}  // namespace tilescope::cli
