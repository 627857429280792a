#include "kernels/program/run.h"

#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/process.h"
#include "core/base/words.h"
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

// Reads the lines of launches as they are written, so that few are left when the program has ended.
class LaunchLines {
public:
    LaunchLines(const fs::path& file, RunOutcome& run) : file_(file, std::ios::binary), run_(run) {
        if (!file_) run_.damage = fmt::format("'{}' cannot be read", file.string());
    }
    // The next lines, not many at once; whether there were any.
    bool read() {
        constexpr size_t kAtOnce = 1 << 16;  // bytes
        if (!file_ || read_ >= kMostLines) return false;
        const size_t begun = text_.size();
        text_.resize(begun + kAtOnce);
        file_.read(text_.data() + begun, kAtOnce);
        const auto got = static_cast<size_t>(file_.gcount());
        file_.clear();  // there may be more later
        text_.resize(begun + got);
        read_ += got;
        if (read_ >= kMostLines && run_.damage.empty())
            run_.damage = fmt::format("its launches take more than {} of lines; the first ones are told",
                                      bytes_text(kMostLines));
        size_t at = 0;
        for (size_t end = begun; (end = text_.find('\n', end)) != std::string::npos; at = ++end)
            take(std::string_view(text_).substr(at, end - at));
        text_.erase(0, at);  // what is left is being written
        return got > 0;
    }

private:
    void take(std::string_view line) {
        if (launched::is_note(line))
            keep(launched::note_from_json(line), run_.notes);
        else
            keep(launched::launch_from_json(line), run_.launches);
    }
    template <class T>
    void keep(Result<T> one, std::vector<T>& all) {
        if (one)
            all.push_back(std::move(*one));
        else if (run_.damage.empty())
            run_.damage = one.error().message;
    }

    std::ifstream file_;
    RunOutcome& run_;
    std::string text_;
    uint64_t read_ = 0;
};

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
    const std::atomic<int> by_default{SIGINT};
    const std::atomic<int>& signal = request.stop_signal ? *request.stop_signal : by_default;
    LaunchLines lines(launches, run);
    run.status = exit_status(wait_for_process(
        child, request.stop, signal, false, [&] { lines.read(); }, kPatience, keeps));
    while (lines.read()) {
    }
    return run;
}

}  // namespace tilescope::program
