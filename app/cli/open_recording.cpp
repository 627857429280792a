#include "app/cli/open_recording.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/trace/file.h"

namespace tilescope::cli {

Result<OpenedRecording> open_recording(const std::string& file_or_name,
                                       const std::vector<kernels::ShippedRecording>& shipped) {
    std::error_code error;
    const bool there = std::filesystem::exists(std::filesystem::symlink_status(file_or_name, error));
    const auto found = std::find_if(shipped.begin(), shipped.end(),
                                    [&](const auto& recording) { return recording.name == file_or_name; });
    if (!there && found != shipped.end()) {
        auto trace = kernels::open_shipped(*found);
        if (!trace) return trace.error();
        return OpenedRecording{std::move(*trace), found->label};
    }
    auto trace = trace::read_file(file_or_name);
    if (!trace && !there) {
        return Error{fmt::format("{}; 'tilescope recordings' lists the names of those that ship",
                                 trace.error().message)};
    }
    if (!trace) return trace.error();
    return OpenedRecording{std::move(*trace), file_or_name};
}

}  // namespace tilescope::cli
