// Where a command takes FILE.tsc: a file, or the name of a recording that ships.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/trace/trace.h"
#include "kernels/textbook/shipped.h"

namespace tilescope::cli {

struct OpenedRecording {
    trace::Trace trace;
    std::string origin;  // the file, or the label of a recording that ships
};

// A file of that name comes first; where there is none, a recording that ships.
Result<OpenedRecording> open_recording(
    const std::string& file_or_name,
    const std::vector<kernels::ShippedRecording>& shipped = kernels::shipped_recordings());

// What --help says of such an argument.
inline constexpr const char* kRecordingArgument = "A recording: a .tsc file, or a name from 'recordings'";

}  // namespace tilescope::cli
