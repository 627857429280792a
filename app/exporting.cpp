#include "app/exporting.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/write_whole.h"
#include "core/trace/file.h"

extern char** environ;  // NOLINT: as POSIX has it

namespace tilescope::app {
namespace {

namespace fs = std::filesystem;

std::string text_of(std::FILE* file) {
    std::string text;
    char part[4096];
    std::rewind(file);
    while (const size_t read = std::fread(part, 1, sizeof part, file)) text.append(part, read);
    return text;
}

}  // namespace

struct Exporting::Parts {
    std::string path, recording;
    bool printed = false;
    pid_t child = -1;
    int status = 0;
    std::FILE *out = std::tmpfile(), *err = std::tmpfile();

    bool ended(int options) {
        if (child <= 0) return true;
        const pid_t got = waitpid(child, &status, options);
        if (got == 0 || (got < 0 && errno == EINTR)) return false;
        child = -1;
        return true;
    }

    ~Parts() {
        if (child > 0) {
            kill(child, SIGINT);  // upon which it takes its half file away
            for (int wait = 0; wait < 40 && !ended(WNOHANG); ++wait)
                std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        if (child > 0) {
            kill(child, SIGKILL);
            while (!ended(0)) {
            }
        }
        if (out) std::fclose(out);
        if (err) std::fclose(err);
        std::error_code error;
        if (!recording.empty()) fs::remove(recording, error);
    }
};

Exporting::Exporting(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Exporting::~Exporting() = default;

Result<std::unique_ptr<Exporting>> Exporting::start(const State& state, const view::ExportChoice& choice,
                                                    const std::string& path) {
    auto parts = std::make_unique<Parts>();
    std::error_code error;
    const fs::path folder = fs::temp_directory_path(error);
    if (error || !parts->out || !parts->err)
        return Error{"There is no folder for temporary files; set TMPDIR to one and export again."};
    parts->path = path;
    parts->printed = choice.printed;
    parts->recording = (folder / fmt::format("tilescope-{}-export.tsc", getpid())).string();
    if (auto good = trace::write_file(*state.session->trace, parts->recording); !good) return good.error();
    std::vector<std::string> words =
        view::export_arguments(state, choice, parts->recording, choice.printed ? "" : path);
    words.insert(words.begin(), "tilescope");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(parts->out), 1);
    posix_spawn_file_actions_adddup2(&actions, fileno(parts->err), 2);
    const int why = posix_spawn(&parts->child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (why != 0) {
        parts->child = -1;
        return Error{fmt::format("The export could not be started: {}; use `tilescope export` instead.",
                                 std::strerror(why))};
    }
    return std::unique_ptr<Exporting>(new Exporting(std::move(parts)));
}

bool Exporting::running() { return !parts_->ended(WNOHANG); }
const std::string& Exporting::path() const { return parts_->path; }

std::string Exporting::outcome() {
    const bool good = WIFEXITED(parts_->status) && WEXITSTATUS(parts_->status) == 0;
    if (!good) {
        std::string said = text_of(parts_->err);
        said.resize(std::min(said.find('\n'), said.size()));
        if (const std::string_view own = "tilescope: "; said.starts_with(own)) said.erase(0, own.size());
        return fmt::format("Not exported: {}.", said.empty() ? "the export ended early" : said);
    }
    if (parts_->printed) {
        if (const std::string why = write_whole(parts_->path, text_of(parts_->out)); !why.empty())
            return fmt::format("'{}' could not be written: {}.", parts_->path, why);
    }
    return fmt::format("Exported as '{}'.", parts_->path);
}

bool poll_export(State& state) {
    auto& exporting = state.teach.exporting;
    if (!exporting) return false;
    if (exporting->running()) return true;
    state.message = exporting->outcome();
    exporting.reset();
    return false;
}

}  // namespace tilescope::app
