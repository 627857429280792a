// A fuzzer without libFuzzer: gives it the files named, and those in the folders named, once each. Options of
// libFuzzer are passed over, so that both builds are called alike.
#include <filesystem>
#include <set>

#include "tests/file_text.h"
#include "tests/fuzz/fuzz.h"

int main(int argc, char** argv) {
    namespace fs = std::filesystem;
    std::set<fs::path> files;
    for (int i = 1; i < argc; ++i) {
        if (argv[i][0] == '-') continue;
        if (!fs::is_directory(argv[i]))
            files.insert(argv[i]);
        else
            for (const auto& entry : fs::directory_iterator(argv[i])) files.insert(entry.path());
    }
    tilescope::fuzz::demand(!files.empty(), "no inputs are named");
    LLVMFuzzerInitialize(&argc, &argv);
    for (const fs::path& file : files) {
        std::fprintf(stderr, "%s\n", file.c_str());  // the last one is at fault
        const std::string bytes = tilescope::file_text(file);
        LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    }
}
