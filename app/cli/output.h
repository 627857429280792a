// Where a command may write, and files of which nobody ever sees a half.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tilescope::cli {

// Says before long work, rather than after it, that a file cannot be written there: no such folder, a folder
// or a device of that name, no permission. Existing files may be replaced.
Result<void> check_output(const std::string& path);

// The whole text or no file: it takes the place of what was there when it is complete.
Result<void> write_text(const std::string& path, std::string_view text);

// A file written piece by piece: it grows under a temporary name and takes its own when it is whole.
class OutputFile {
public:
    explicit OutputFile(std::string path);
    ~OutputFile();  // removes what was not kept
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    bool write(std::string_view text);  // false once the file cannot be written
    Result<void> keep();                // gives the file its name; says why where anything failed

    // For a program that writes the file itself.
    const std::string& temporary() const { return temporary_; }

private:
    std::string path_, temporary_;
    std::FILE* file_ = nullptr;
    int why_ = 0;  // errno of the first failure
};

}  // namespace tilescope::cli
