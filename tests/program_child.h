// A stand-in for `tilescope record FILE.cu --json -o FOLDER`: a shell script that does what a test says, so
// that the window's side of it is tested without a compiler.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "app/session/session.h"
#include "tests/temp_folder.h"

namespace tilescope {

// A launch as the command prints it; recorded: a file, or "" for none.
inline std::string launch_json(uint64_t number, const char* kernel, const std::string& recorded,
                               const char* error = "null", const char* grid = "[64,64,1]") {
    return fmt::format(
        R"({{"number":{},"kernel":"{}","grid":{},"block":[32,8,1],"shared":0,"ms":1.25,"error":{},"recorded":{}}})",
        number, kernel, grid, error, recorded.empty() ? "null" : "\"" + recorded + "\"");
}
inline std::string list_json(const std::string& launches, int exit = 0) {
    return fmt::format(
        R"({{"schema":"tilescope.launches/1","program":"transpose.cu","compiler":"clang 14.0.6","backend":"cpu","exit":{},"launches":[{}]}})",
        exit, launches);
}

class ProgramChild : public TempFolder {
protected:
    void SetUp() override {
        TempFolder::SetUp();
        program_ = at("my transpose.cu");
        std::ofstream(program_) << "int main() {}\n";
    }
    // In the script FOLDER is the folder for recordings, and record NAME puts one there.
    void child(session::Session& session, const std::string& script) {
        const std::string path = at("child");
        std::ofstream(path) << "#!/bin/sh\nFOLDER=$5\nmkdir -p \"$FOLDER\"\nprintf '%s\\n' \"$@\" > '"
                            << at("asked") << "'\n"
                            << "record() { cp '" << TILESCOPE_SOURCE_DIR
                            << "/assets/recordings/tiled-4x4x4-t2.tsc' \"$FOLDER/$1\"; }\n"
                            << script << "\n";
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        session.own_program = path;
    }
    // Two launches, the first one recorded; what a test adds comes before the list.
    static std::string two_launches(const std::string& before = "") {
        return before + "record copy.1.tsc\ncat <<END\n" +
               list_json(launch_json(1, "copy", "$FOLDER/copy.1.tsc") + "," +
                         launch_json(2, "transpose", "")) +
               "\nEND";
    }
    std::string program_;
};

}  // namespace tilescope
