// A display of the test's own (Xvfb on a free number, software OpenGL) and the program on it, its keys
// pressed and its title read through xdotool.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/types.h>

namespace tilescope::test {

class Desktop {
public:
    static std::optional<std::string> missing();  // what is not installed, if anything
    Desktop();
    bool start();
    ~Desktop();
    const std::string& home() const { return home_; }        // where its programs keep what they remember
    const std::string& display() const { return display_; }  // ":7"

private:
    pid_t server_ = -1;
    std::string display_, home_;
};

class Program {
public:
    // path: a folder that its PATH begins with, "" for none.
    Program(const Desktop& desktop, const std::vector<std::string>& arguments, const std::string& path = "");
    ~Program();
    bool running();
    std::string title();  // of its window, "" where there is none yet
    uint64_t step();      // from the title, 0 where it says none
    uint64_t steps();
    void press(const std::string& keys);  // as xdotool names them, separated by spaces
    void type(const std::string& text);   // characters, no quotes
    // As quick as can be; button: 1 left, 3 right.
    void click(int x, int y, int times = 1, int button = 1);
    void point(int x, int y);
    bool wait_until(const std::function<bool()>& holds);  // half a minute at most
    bool wait_for_title(const std::string& part);
    bool wait_for_step(uint64_t step);
    double first_frame_ms();  // what the program measured, 0 where it has not said
    std::string errors();     // its standard error so far

private:
    std::string tool(const std::string& arguments);
    std::string display_, window_, error_file_;
    pid_t pid_ = -1;
};

// A desktop for every test; skipped, with what is missing, where there can be none.
class OnDesktop : public testing::Test {
protected:
    void SetUp() override;
    // Saves the recording that is shown as that file, by keyboard, and records the lecture's in its place.
    void keep_and_record_the_lectures(Program& program, const std::string& file);
    std::unique_ptr<Desktop> desktop_;
};

}  // namespace tilescope::test
