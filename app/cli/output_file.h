// A file written piece by piece, of which nobody ever sees a half: it grows under a temporary name and takes
// its own when it is whole.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tilescope::cli {

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
