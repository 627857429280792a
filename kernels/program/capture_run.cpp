#include "kernels/program/capture_run.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/base/process.h"
#include "core/base/user_cache.h"
#include "kernels/program/capture_xla.h"
#include "kernels/program/compile.h"

namespace tilescope::program {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostLines = uint64_t{1} << 30;  // bytes of a process

std::vector<launched::CapturedProcess> read_processes(const fs::path& folder) {
    std::vector<launched::CapturedProcess> processes;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const uint64_t pid = std::strtoull(entry.path().filename().c_str(), nullptr, 10);
        auto lines = read_whole(entry.path().string(), kMostLines);
        if (lines) {
            processes.push_back(launched::captured_from_lines(pid, *lines));
        } else {
            processes.emplace_back().pid = pid;
            processes.back().damage = lines.error().message;
        }
    }
    std::ranges::sort(processes, {}, &launched::CapturedProcess::pid);
    return processes;
}

}  // namespace

Result<std::string> find_capture_library() {
    return find_library("libtilescope_capture.so", "TILESCOPE_CAPTURE_LIBRARY", "by which launches are seen");
}

std::vector<std::string> capture_environment(const std::string& library, const fs::path& folder,
                                             const std::function<const char*(const char*)>& variable) {
    const char* const flags = variable("XLA_FLAGS");
    std::vector<std::string> all{
        "CUDA_INJECTION64_PATH=" + library,
        fmt::format("{}={}", launched::kCaptureVariable, (folder / "orders").string()),
        fmt::format("{}={}", launched::kKeptVariable, (folder / "xla" / "kept").string()),
        "XLA_FLAGS=" + xla_flags(flags ? flags : "", folder / "xla"),
        "CUDA_ROOT=" + (folder / "xla" / "cuda").string()};
    for (const auto& [name, value] :
         {std::pair{"CUPY_COMPILE_WITH_PTX", "1"}, {"XLA_PYTHON_CLIENT_PREALLOCATE", "false"}})
        if (variable(name) == nullptr) all.push_back(fmt::format("{}={}", name, value));
    return all;
}

Result<CaptureOutcome> run_captured(const CaptureRequest& request) {
    const auto library = find_capture_library();
    if (!library) return library.error();
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    auto work = WorkFolder::make(error ? fs::path("/tmp") : temporary);
    if (!work) return work.error();
    launched::Orders orders = request.orders;
    const fs::path launches = work->path() / "launches", told = work->path() / "orders";
    fs::create_directory(launches, error);
    orders.launches = launches.string();
    if (const std::string why = write_whole(told.string(), launched::to_json(orders)); !why.empty())
        return Error{fmt::format("'{}' cannot be written: {}; make room there", told.string(), why)};

    ProcessStart start;
    start.words = request.command;
    const auto variable = [](const char* name) -> const char* { return std::getenv(name); };
    start.environment = capture_environment(*library, work->path(), variable);
    const auto text_of = [&](const char* name) { return std::string(variable(name) ? variable(name) : ""); };
    if (auto ok =
            write_xla_tools(work->path() / "xla", xla_toolkit(text_of("XLA_FLAGS"), text_of("CUDA_ROOT")));
        !ok)
        return ok.error();
    if (!request.python.empty()) {
        const fs::path python = work->path() / "python";
        fs::create_directory(python, error);
        for (const auto& [name, text] : request.python)
            if (const std::string why = write_whole((python / name).string(), text); !why.empty())
                return Error{fmt::format("'{}' cannot be written: {}; make room there",
                                         (python / name).string(), why)};
        const char* const before = std::getenv("PYTHONPATH");
        start.environment.push_back(
            fmt::format("PYTHONPATH={}{}{}", python.string(), before ? ":" : "", before ? before : ""));
    }
    if (request.output_to_error) start.descriptors[1] = 2;
    start.own_group = false;  // it reads this terminal, if it reads, and gets its Ctrl-C
    pid_t child = -1;
    const Orphans orphans;  // what the program leaves running ends with it
    if (const int why = start_process(request.command.front().c_str(), std::move(start), child); why != 0)
        return Error{
            fmt::format("'{}' could not be started: {}; give a program as it is called in a shell, behind --",
                        request.command.front(), std::strerror(why))};
    const std::atomic<int> by_default{SIGINT};
    CaptureOutcome outcome;
    outcome.status = exit_status(wait_for_process(
        child, request.stop, request.stop_signal ? *request.stop_signal : by_default, false));
    outcome.processes = read_processes(launches);
    return outcome;
}

}  // namespace tilescope::program
