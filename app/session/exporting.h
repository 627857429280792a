// What a recording can be exported as from the window: each is a call of this program's own command line, so
// that what is written is the same from either.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/session/session.h"

namespace tilescope::session {

struct ExportChoice {
    const char* id;      // "trace_csv"
    const char* title;   // "Export every request as CSV"
    const char* ending;  // what the name of the file ends in: ".csv"
    bool printed;        // the command prints it, else it writes the file itself
};

std::span<const ExportChoice> export_choices();
const ExportChoice* find_export(std::string_view id);  // null for none of that name

// "tiled-64x64x64-t16-phase2.gif": the recording, the part of it that is exported, the ending.
std::string export_name(const Session& session, const ExportChoice& choice);

// The words behind the program's name. recording: a file that holds the session's recording; path: what to
// write, "" where it is printed. Films show the cursor's phase as the window does; a table is of its block.
std::vector<std::string> export_arguments(const Session& session, const ExportChoice& choice,
                                          const std::string& recording, const std::string& path);

// Begins to export beside the window, which stays free: a later update() says how it ended.
void start_export(Session& session, const ExportChoice& choice, const std::string& path);

// "tiled-64x64x64-t16.tsc", as `tilescope record` names it.
std::string default_name(const Session& session);

}  // namespace tilescope::session
