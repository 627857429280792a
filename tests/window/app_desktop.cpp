#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/file_text.h"
#include "tests/window/desktop.h"

namespace tilescope::test {

namespace {

std::string output_of(const std::string& command) {
    std::string out;
    if (std::FILE* pipe = popen(command.c_str(), "r")) {
        char buffer[512];
        while (size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
        pclose(pipe);
    }
    while (!out.empty() && out.back() == '\n') out.pop_back();
    return out;
}

bool installed(const std::string& program) { return !output_of("command -v " + program).empty(); }

void end_process(pid_t pid) {
    if (pid <= 0) return;
    kill(pid, SIGTERM);
    for (int i = 0; i < 100; ++i) {
        if (waitpid(pid, nullptr, WNOHANG) == pid) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
}

// The number after `word` in text, 0 for none.
uint64_t number_after(const std::string& text, const std::string& word) {
    const size_t at = text.find(word);
    uint64_t number = 0;
    for (size_t i = at == std::string::npos ? text.size() : at + word.size(); i < text.size(); ++i) {
        if (text[i] == ',') continue;  // as numbers are grouped
        if (text[i] < '0' || text[i] > '9') break;
        number = number * 10 + static_cast<uint64_t>(text[i] - '0');
    }
    return number;
}

}  // namespace

std::optional<std::string> Desktop::missing() {
    for (const char* program : {"Xvfb", "xdotool"})
        if (!installed(program))
            return std::string(program) + " is not installed, so no window can be tested here";
    return std::nullopt;
}

// A number of our own choice: Xvfb's -displayfd takes no lock, and of two servers that come and go at the
// same time one can take the other's socket away. A server that finds its number locked ends at once.
// -noreset: else it starts over whenever its last client leaves, and turns away who comes meanwhile.
bool Desktop::start() {
    for (int attempt = 0; attempt < 20; ++attempt) {
        const int number = 100 + (getpid() + attempt * 37) % 900;
        display_ = ":" + std::to_string(number);
        server_ = fork();
        if (server_ == 0) {
            const int nothing = open("/dev/null", O_WRONLY);
            dup2(nothing, 1);
            dup2(nothing, 2);
            execlp("Xvfb", "Xvfb", display_.c_str(), "-screen", "0", "1600x1000x24", "-noreset", "-nolisten",
                   "tcp", nullptr);
            _exit(127);
        }
        for (int wait = 0; wait < 100 && waitpid(server_, nullptr, WNOHANG) == 0; ++wait) {
            if (!output_of("DISPLAY=" + display_ + " xdotool getdisplaygeometry 2>/dev/null").empty())
                return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
        end_process(server_);
        server_ = -1;
    }
    return false;
}

Desktop::Desktop()
    : home_(std::string(TILESCOPE_BINARY_DIR) + "/tests/window-" + std::to_string(getpid()) + ".home") {
    std::filesystem::remove_all(home_);
}

Desktop::~Desktop() {
    end_process(server_);
    std::error_code error;
    std::filesystem::remove_all(home_, error);
}

Program::Program(const Desktop& desktop, const std::vector<std::string>& arguments, const std::string& path)
    : display_(desktop.display()) {
    error_file_ = std::string(TILESCOPE_BINARY_DIR) + "/tests/window-" + std::to_string(getpid()) + ".err";
    const std::string program = std::string(TILESCOPE_BINARY_DIR) + "/tilescope";
    pid_ = fork();
    if (pid_ != 0) return;
    setenv("DISPLAY", display_.c_str(), 1);
    unsetenv("WAYLAND_DISPLAY");
    if (const char* others = std::getenv("PATH"); !path.empty())
        setenv("PATH", (path + ":" + (others != nullptr ? others : "/usr/bin:/bin")).c_str(), 1);
    setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
    setenv("TILESCOPE_TIMING", "1", 1);
    // What this user's window remembers stays out of it.
    setenv("XDG_CONFIG_HOME", desktop.home().c_str(), 1);
    setenv("XDG_STATE_HOME", desktop.home().c_str(), 1);
    setenv("XDG_PICTURES_DIR", desktop.home().c_str(), 1);
    const int errors = open(error_file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(errors, 2);
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    _exit(127);
}

Program::~Program() {
    end_process(pid_);
    std::remove(error_file_.c_str());
}

bool Program::running() { return waitpid(pid_, nullptr, WNOHANG) == 0; }

std::string Program::tool(const std::string& arguments) {
    return output_of("DISPLAY=" + display_ + " xdotool " + arguments + " 2>/dev/null");
}

std::string Program::title() {
    if (window_.empty()) {
        const std::string found = tool("search --onlyvisible --name Tilescope");
        window_ = found.substr(0, found.find('\n'));
        if (!window_.empty()) tool("windowfocus " + window_);
    }
    if (window_.empty()) return "";
    const std::string name = tool("getwindowname " + window_);
    if (name.empty()) window_.clear();  // it was the window of a program that has just ended: look again
    return name;
}

uint64_t Program::step() { return number_after(title(), "- step "); }
uint64_t Program::steps() { return number_after(title(), " of "); }
void Program::press(const std::string& keys) { tool("key --delay 30 " + keys); }
void Program::type(const std::string& text) { tool("type --delay 20 '" + text + "'"); }

void Program::click(int x, int y, int times, int button) {
    std::string what = fmt::format("mousemove {} {}", x, y);
    for (int i = 0; i < times; ++i) what += fmt::format(" click {}", button);
    tool(what);
}

void Program::point(int x, int y) { tool(fmt::format("mousemove {} {}", x, y)); }

bool Program::wait_until(const std::function<bool()>& holds) {
    for (int i = 0; i < 600; ++i) {
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
}

bool Program::wait_for_title(const std::string& part) {
    return wait_until([&] { return title().find(part) != std::string::npos; });
}

bool Program::wait_for_step(uint64_t wanted) {
    return wait_until([&] { return step() == wanted; });
}

double Program::first_frame_ms() { return static_cast<double>(number_after(errors(), "first frame ")); }

std::string Program::errors() { return file_text(error_file_); }

void OnDesktop::SetUp() {
    if (auto why = Desktop::missing()) GTEST_SKIP() << *why;
    desktop_ = std::make_unique<Desktop>();
    ASSERT_TRUE(desktop_->start()) << "Xvfb did not come up";
    // Who has walked through the first lesson, and starts with the standard product.
    const std::filesystem::path folder = desktop_->home() + "/tilescope";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "state.json")
        << R"({"schema": "tilescope.state/1", "width": 1600, "height": 1000, "placed": false, "x": 0, "y": 0,
               "recent_files": [], "recent_commands": [], "last_folder": "", "walked": true})";
}

void OnDesktop::keep_and_record_the_lectures(Program& program, const std::string& file) {
    std::filesystem::create_directories(desktop_->home());
    ASSERT_TRUE(program.wait_for_title("- step 1 of ")) << program.errors();
    program.press("ctrl+s ctrl+BackSpace");
    program.type(file);
    program.press("Return");
    ASSERT_TRUE(program.wait_until([&] { return std::filesystem::exists(file); }));
    program.press("ctrl+p");
    program.type("record lecture");
    program.press("Return");
    ASSERT_TRUE(program.wait_for_title("tiled 4×4×4 T=2 - step 1 of 21")) << program.title();
}

}  // namespace tilescope::test
