#include "app/cli/cli.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <future>
#include <new>

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX
#include <unistd.h>

#include "core/base/text.h"

namespace tilescope::cli {

namespace {

constexpr const char* kAbout =
    "Shows what a GPU's threads do to memory: records a compiled CUDA kernel and lets you walk through it.\n"
    "Without a command it opens the window.";

// What CLI11 says, in the form of our other sentences: on one line and without a full stop.
std::string sentence_of(const CLI::ParseError& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
    if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a') text[0] += 'a' - 'A';
    return text;
}

std::string help_of(const CLI::App& app) {
    for (const CLI::App* command : app.get_subcommands())
        return fmt::format("tilescope {} --help", command->get_name());
    return "tilescope --help";
}

}  // namespace

std::unique_ptr<CommandLine> command_line() {
    auto line = std::make_unique<CommandLine>(kAbout, "tilescope");
    line->set_version_flag("--version", fmt::format("tilescope {}", kVersion));
    line->require_subcommand(0, 1);
    line->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
    for (AddCommand* add : {add_window, add_open, add_kernels, add_devices, add_record, add_recordings,
                            add_report, add_table, add_time, add_limits, add_roofline, add_levels,
                            add_compare, add_render, add_export, add_complete, add_manual})
        add(*line);
    name_places(*line);
    // After the commands, which would inherit it.
    line->footer(
        "Exit status: 0 done, 1 failure, 2 wrong call.\nStart with:\n  tilescope record tiled --tile 2 --m 4 "
        "--k 4 --n 4 -o lecture.tsc\n  tilescope table lecture.tsc");
    return line;
}

std::optional<int> parse(CommandLine& line, int argc, const char* const* argv) {
    try {
        line.parse(argc, argv);
        return std::nullopt;
    } catch (const CLI::CallForHelp&) {
        return print(line.help());  // or that of the command given
    } catch (const CLI::CallForVersion& version) {
        return print(fmt::format("{}\n", version.what()));
    } catch (const CLI::ParseError& error) {
        return fail(kWrongCall,
                    fmt::format("{}; '{}' lists what can be given", sentence_of(error), help_of(line)));
    }
}

namespace {

// What a signal handler may touch: a lock-free atomic, and nothing that goes away while it is installed.
std::atomic<bool>* g_stop = nullptr;

void on_signal(int) {
    if (g_stop) g_stop->store(true);
}

// Handlers while it lives, the former ones afterwards. SIGHUP stays ignored where it is, as nohup wants it; a
// script's background command is started with SIGINT ignored and is stopped by it all the same.
class StopOnSignal {
public:
    explicit StopOnSignal(std::atomic<bool>& stop) {
        g_stop = &stop;
        struct sigaction action {};
        action.sa_handler = on_signal;
        for (size_t at = 0; at < kSignals.size(); ++at) {
            sigaction(kSignals[at], nullptr, &former_[at]);
            if (kSignals[at] != SIGHUP || former_[at].sa_handler != SIG_IGN)
                sigaction(kSignals[at], &action, nullptr);
        }
    }
    ~StopOnSignal() {
        for (size_t at = 0; at < kSignals.size(); ++at) sigaction(kSignals[at], &former_[at], nullptr);
        g_stop = nullptr;
    }
    StopOnSignal(const StopOnSignal&) = delete;
    StopOnSignal& operator=(const StopOnSignal&) = delete;

private:
    static constexpr std::array kSignals = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    std::array<struct sigaction, kSignals.size()> former_{};
};

}  // namespace

int run(int argc, char** argv) {
    remove_unfinished_on_signals();
    try {
        const auto line = command_line();
        const auto ended = parse(*line, argc, argv);
        return ended ? *ended : line->chosen();
    } catch (const Refused& refused) {
        return fail(refused.status, refused.message);
    } catch (const std::bad_alloc&) {
        return fail(kFailure, "there is not enough memory for this; record fewer blocks or smaller sizes");
    } catch (const std::exception& error) {
        return fail(kFailure,
                    fmt::format("something unforeseen went wrong ({}); please report it", error.what()));
    }
}

int fail(Status status, std::string_view message) {
    // What the window says as well ends in a full stop there.
    if (message.ends_with('.') && !message.ends_with("..")) message.remove_suffix(1);
    std::fprintf(stderr, "tilescope: %s\n", one_sentence(message).c_str());
    return status;
}

int print(std::string_view text) {
    errno = 0;
    const std::string shown = printable(text);
    const bool written = std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size();
    if (!written || std::fflush(stdout) != 0)
        return fail(kFailure, fmt::format("standard output cannot be written: {}", std::strerror(errno)));
    return kDone;
}

void check_output(const std::string& path, const std::vector<std::string>& inputs) {
    const std::string why = why_not_writable(path, inputs);
    if (!why.empty()) refuse(kFailure, "'{}' cannot be written: {}; name another file with -o", path, why);
}

void write_text(const std::string& path, std::string_view text) {
    OutputFile file(path);
    file.write(text);
    keep(file, path);
}

void keep(OutputFile& file, const std::string& path) {
    const std::string why = file.keep();
    if (!why.empty()) refuse(kFailure, "'{}' cannot be written: {}; name another file with -o", path, why);
}

void run_stoppable(const std::function<void()>& work, std::atomic<bool>& stop) {
    const StopOnSignal guard(stop);
    work();
}

void run_with_progress(const std::function<void()>& work, std::atomic<bool>& stop,
                       const std::atomic<uint64_t>& done, uint64_t total, const char* things) {
    using namespace std::chrono_literals;
    const StopOnSignal guard(stop);
    const bool terminal = isatty(STDERR_FILENO) == 1;
    bool shown = false;
    auto finished = std::async(std::launch::async, work);
    // The first line waits a little: quick work needs none.
    while (finished.wait_for(shown ? 100ms : 300ms) != std::future_status::ready) {
        if (!terminal) continue;
        std::fprintf(stderr, "\r%llu of %llu %s%s", static_cast<unsigned long long>(done.load()),
                     static_cast<unsigned long long>(total), things, stop ? ", stopping" : "");
        std::fflush(stderr);
        shown = true;
    }
    if (shown) std::fputs("\r\x1b[K", stderr);
    finished.get();
}

}  // namespace tilescope::cli
