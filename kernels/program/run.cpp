#include "kernels/program/run.h"

#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/process.h"
#include "kernels/program/cache.h"

namespace tilescope::program {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostLines = uint64_t{1} << 30;  // bytes

// A runtime that was built with sanitizers needs theirs loaded first. Leaks and signals of the program are its own
// business.
void add_sanitizers(std::vector<std::string>& environment) {
#ifdef TILESCOPE_PRELOAD
    environment.emplace_back("LD_PRELOAD=" TILESCOPE_PRELOAD);
    environment.emplace_back("ASAN_OPTIONS=detect_leaks=0:handle_segv=0:verify_asan_link_order=0");
#else
    static_cast<void>(environment);
#endif
}

void read_launches(const fs::path& file, RunOutcome& run) {
    const auto text = read_whole(file.string(), kMostLines);
    if (!text) {
        run.damage = text.error().message;
        return;
    }
    std::string_view rest = *text;
    while (!rest.empty()) {
        const size_t end = rest.find('\n');
        if (end == std::string_view::npos) return;  // it was being written when the program ended
        const std::string_view text_line = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        if (launched::is_note(text_line)) {
            if (auto note = launched::note_from_json(text_line))
                run.notes.push_back(std::move(*note));
            else if (run.damage.empty())
                run.damage = note.error().message;
            continue;
        }
        auto line = launched::launch_from_json(text_line);
        if (line)
            run.launches.push_back(std::move(*line));
        else if (run.damage.empty())
            run.damage = line.error().message;
    }
}

}  // namespace

Result<RunOutcome> run_program(const RunRequest& request) {
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    auto work = WorkFolder::make(error ? fs::path("/tmp") : temporary);
    if (!work) return work.error();
    launched::Orders orders = request.orders;
    const fs::path launches = work->path() / "launches", told = work->path() / "orders";
    orders.launches = launches.string();
    for (const auto& [path, text] : {std::pair{launches, std::string()}, {told, launched::to_json(orders)}})
        if (const std::string why = write_whole(path.string(), text); !why.empty())
            return Error{fmt::format("'{}' cannot be written: {}; make room there", path.string(), why)};

    ProcessStart start;
    start.words = request.arguments;
    start.words.insert(start.words.begin(), request.name.empty() ? request.path : request.name);
    start.environment = {std::string(launched::kOrdersVariable) + "=" + told.string()};
    add_sanitizers(start.environment);
    if (request.output_to_error) start.descriptors[1] = 2;
    const int nowhere = request.quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (request.quiet) start.descriptors[1] = start.descriptors[2] = nowhere;
    // It reads this terminal, if it reads, and gets its Ctrl-C.
    start.own_group = false;
    pid_t child = -1;
    const Orphans orphans;  // what the program leaves running ends with it
    const int why = start_process(request.path.c_str(), std::move(start), child);
    if (nowhere >= 0) close(nowhere);
    if (why != 0)
        return Error{
            fmt::format("the program '{}' could not be started: {}", request.path, std::strerror(why))};
    RunOutcome run;
    const std::string keeping = launches.string() + launched::kKeeping;
    const auto keeps = [&] { return access(keeping.c_str(), F_OK) == 0; };
    run.status = exit_status(wait_for_process(child, request.stop, SIGINT, false, {}, kPatience, keeps));
    read_launches(launches, run);
    return run;
}

}  // namespace tilescope::program
