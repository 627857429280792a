// What a desktop with Linux can do (abilities.h).
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/platform/abilities.h"
#include "app/platform/process.h"
#include "core/base/process.h"
#include "core/base/text.h"

namespace tilescope::platform {

Abilities abilities() { return {}; }

std::string hand_over(const std::string& path) { return path; }

// Nobody asks a desktop for these (Abilities).
void choose_file(bool) {}
void fetch(const std::string&) {}
void copy_link(const std::string&) {}
void toggle_full_screen() {}

Result<bool> copy_picture(const std::string& png) {
    constexpr auto kMostPatience = std::chrono::seconds(3);  // they read it and go on in the background
    const bool wayland = std::getenv("WAYLAND_DISPLAY") != nullptr && !find_program("wl-copy").empty();
    if (!wayland && find_program("xclip").empty()) return false;
    const ChildOutput in, out;
    if (!in.file || !out.file)
        return Error{"There is no room for a temporary file; free some and try again."};
    const std::vector<std::string> words =
        wayland ? std::vector<std::string>{"wl-copy", "--type", "image/png"}
                : std::vector<std::string>{"xclip", "-selection", "clipboard", "-t", "image/png", "-i"};
    if (std::fwrite(png.data(), 1, png.size(), in.file.get()) != png.size() ||
        std::fflush(in.file.get()) != 0 || lseek(fileno(in.file.get()), 0, SEEK_SET) != 0)
        return Error{"A temporary file could not be written; free some room and try again."};
    const int said = fileno(out.file.get());
    pid_t child = -1;
    if (const int why = start_process(words[0].c_str(),
                                      {words, {fileno(in.file.get()), said, said, -1}, SIGKILL, {}}, child))
        return Error{fmt::format("{} could not be started: {}.", words[0], std::strerror(why))};
    std::atomic<bool> late{false};
    const auto began = std::chrono::steady_clock::now();
    const int status = wait_for_process(child, &late, SIGTERM, true, [&] {
        if (std::chrono::steady_clock::now() - began > kMostPatience) late = true;
    });
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    const std::string why = one_line(out.last_words());
    return Error{
        fmt::format("{} could not copy the picture{}.", words[0], why.empty() ? "" : " (" + why + ")")};
}

}  // namespace tilescope::platform
