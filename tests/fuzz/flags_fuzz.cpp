// The compiler's flags: they are refused in a sentence, or taken apart into words. Nothing in a word is
// expanded, quoted words come back as they were, and the compiler is given nothing that is not one of them.
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/alone/description.h"
#include "kernels/program/flags.h"
#include "tests/fuzz/fuzz.h"

namespace tilescope::fuzz {
namespace {

using Words = std::vector<std::string>;

bool is_one_of(const std::string& word, const Words& words) {
    return std::ranges::find(words, word) != words.end();
}

// "-l name", "--library name" and "--library=name" are handed on as "-lname"; so are folders, by -L, and words for
// the linker, by -Wl.
bool is_joined(const std::string& word, const Words& words) {
    for (const char* prefix : {"-l", "-L", "-Wl,"})
        if (word.starts_with(prefix))
            return std::ranges::any_of(
                words, [rest = word.substr(std::string_view(prefix).size())](const std::string& given) {
                    return given.find(rest) != std::string::npos;
                });
    return false;
}

// -Xcompiler gives its word piece by piece, nvcc's long names are clang's short ones.
bool comes_from(const std::string& word, const Words& words) {
    static const Words kClangs = {"-fcuda-approx-transcendentals",
                                  "-ffp-contract=off",
                                  "-fcuda-flush-denormals-to-zero",
                                  "-I",
                                  "-D",
                                  "-U",
                                  "-isystem",
                                  "-include"};
    if (is_one_of(word, kClangs) || is_one_of(word, words)) return true;
    return std::ranges::any_of(
        words, [&](const std::string& given) { return given.find(word) != std::string::npos; });
}

void sort_out(const Words& words) {
    const auto flags = program::flags_of(words);
    if (!made(flags)) return;
    for (const Words* list : {&flags->files, &flags->link})
        for (const std::string& word : *list)
            demand(is_one_of(word, words) || is_joined(word, words), "a file or a library that nobody named");
    for (const std::string& word : flags->compile) demand(comes_from(word, words), "a flag that nobody gave");
    const std::string_view arch = flags->arch;
    demand(arch.starts_with("sm_") && arch.size() > 3 &&
               std::ranges::all_of(arch.substr(3),
                                   [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }),
           "an architecture that is none");
}

}  // namespace
}  // namespace tilescope::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) { return 0; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tilescope;
    const auto words = program::split_words({reinterpret_cast<const char*>(data), size});
    if (!fuzz::made(words)) return 0;
    std::string quoted;
    for (const std::string& word : *words) {
        fuzz::demand(word.find('\0') == std::string::npos, "a word with a zero byte");
        quoted += kernels::shell_word(word) + " ";
    }
    const auto again = program::split_words(quoted);
    fuzz::demand(again, "quoted words cannot be taken apart");
    fuzz::demand(*again == *words, "quoted words are other words");
    fuzz::sort_out(*words);
    return 0;
}
