// What tests of export share: a file made by it, and what lies beside that.
#pragma once

#include <iterator>

#include <gtest/gtest.h>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {

inline size_t files_here() {
    const std::filesystem::directory_iterator here(folder());
    return static_cast<size_t>(std::distance(begin(here), end(here)));
}

inline std::string exported(const std::string& recording, const std::string& format,
                            std::vector<std::string> more = {}) {
    const std::string out = in_folder("out." + format);
    std::vector<std::string> words = {"export", recording, "--format", format, "-o", out};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = tilescope(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.out + ran.err, "") << "nothing is said of what went well";
    return read(out);
}

}  // namespace tilescope::cli_test
