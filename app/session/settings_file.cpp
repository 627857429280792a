#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "app/session/settings.h"

namespace tilescope::session {
namespace {

namespace fs = std::filesystem;

constexpr std::streamsize kLargest = 1 << 20;  // bytes; what we write is a few hundred

std::string folder_of(const char* variable, const char* below_home) {
    // "All paths must be absolute. If an implementation encounters a relative path it should ignore it."
    const char* set = std::getenv(variable);
    if (set != nullptr && set[0] == '/') return std::string(set) + "/tilescope/";
    const char* home = std::getenv("HOME");
    if (home == nullptr || home[0] != '/') return "";
    return std::string(home) + below_home + "/tilescope/";
}

using Read = std::string (*)(std::string_view, Remembered&);

void load(const std::string& path, Read read, Loaded& loaded) {
    std::error_code error;
    if (path.empty() || !fs::is_regular_file(path, error)) return;
    std::ifstream in(path, std::ios::binary);
    std::string text(static_cast<size_t>(kLargest) + 1, '\0');
    in.read(text.data(), kLargest + 1);
    text.resize(static_cast<size_t>(in.gcount()));
    const std::string problem = in.bad() || (text.empty() && !in.eof())       ? "it cannot be read"
                                : text.size() > static_cast<size_t>(kLargest) ? "it is too large"
                                                                              : read(text, loaded.remembered);
    if (!problem.empty() && loaded.notice.empty())
        loaded.notice = fmt::format("What '{}' remembers is left aside: {}.", path, problem);
}

// Beside the file first, then renamed over it.
Result<void> write(const std::string& path, const std::string& text) {
    if (path.empty()) return {};
    std::error_code error;
    const fs::path folder = fs::path(path).parent_path();
    if (!fs::is_directory(folder, error)) {
        fs::create_directories(folder, error);
        // 0700, as the specification asks of folders that are made.
        if (!error) fs::permissions(folder, fs::perms::owner_all, error);
    }
    const std::string beside = fmt::format("{}.{}.tmp", path, getpid());
    const int file = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool good = file >= 0;
    for (size_t done = 0; good && done < text.size();) {
        const ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
        if (wrote < 0 && errno == EINTR) continue;
        good = wrote > 0;
        if (good) done += static_cast<size_t>(wrote);
    }
    if (file >= 0) good = close(file) == 0 && good;
    good = good && std::rename(beside.c_str(), path.c_str()) == 0;
    if (good) return {};
    const std::string why = std::strerror(errno);
    unlink(beside.c_str());
    return Error{fmt::format("The choices could not be kept in '{}' ({}).", path, why)};
}

}  // namespace

SettingsFiles settings_files() {
    const std::string config = folder_of("XDG_CONFIG_HOME", "/.config");
    const std::string state = folder_of("XDG_STATE_HOME", "/.local/state");
    return {config.empty() ? "" : config + "settings.json", state.empty() ? "" : state + "state.json"};
}

Loaded load_settings(const SettingsFiles& files) {
    Loaded loaded;
    load(files.settings, read_settings, loaded);
    load(files.state, read_state, loaded);
    return loaded;
}

Result<void> save_settings(const SettingsFiles& files, const Remembered& remembered) {
    auto good = write(files.settings, settings_text(remembered));
    auto also = write(files.state, state_text(remembered));
    return good ? also : good;
}

}  // namespace tilescope::session
