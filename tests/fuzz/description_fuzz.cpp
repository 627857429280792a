// The description of a launch, as the comments of a source hold it: it is refused in a sentence of one line,
// or read; what was read can be said again as a command, whose words a shell would hand on as they are, and
// which reads as the same description.
#include <algorithm>

#include "kernels/alone/description.h"
#include "kernels/alone/guess.h"
#include "tests/fuzz/fuzz.h"

namespace tilescope::fuzz {
namespace {

constexpr size_t kWordsOfProgram = 3;  // tilescope record FILE

template <class T>
bool made_in_a_line(const Result<T>& result) {
    if (made(result)) return true;
    demand(result.error().message.find('\n') == std::string::npos, "an error of several lines");
    return false;
}

// The words of a text are those of the same words in their quotes.
void quote(std::string_view text) {
    const auto words = kernels::words_of(text);
    if (!made_in_a_line(words)) return;
    std::string quoted;
    for (const std::string& word : *words) quoted += kernels::shell_word(word) + " ";
    const auto again = kernels::words_of(quoted);
    demand(again, "quoted words cannot be read");
    demand(*again == *words, "quoted words are other words");
    kernels::Description ignored;
    made_in_a_line(kernels::add_options(ignored, *words));
}

// Numbers that are none differ from themselves, so that texts are compared.
void say_again(const kernels::Description& description) {
    const auto named = [](const kernels::GivenArgument& argument) { return !argument.name.empty(); };
    if (description.kernel.empty() || !std::ranges::all_of(description.arguments, named)) return;
    const std::string command = kernels::command_of("a b.cu", description);
    auto words = kernels::words_of(command);
    demand(words, "the command that repeats a launch cannot be read");
    demand(words->size() > kWordsOfProgram, "the command that repeats a launch says nothing");
    words->erase(words->begin(), words->begin() + kWordsOfProgram);
    kernels::Description again;
    demand(kernels::add_options(again, *words), "the command that repeats a launch is refused");
    demand(kernels::command_of("a b.cu", again) == command, "the command repeats another launch");
}

}  // namespace
}  // namespace tilescope::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) { return 0; }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tilescope;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    fuzz::quote(text);
    const auto described = kernels::described_in(text, "");
    if (fuzz::made_in_a_line(described)) fuzz::say_again(*described);
    // A line of it, and all, as what --call and --arg are given.
    for (const std::string_view part : {text, text.substr(0, text.find('\n'))}) {
        kernels::Description called;
        if (fuzz::made_in_a_line(kernels::add_call(called, part))) fuzz::say_again(called);
        fuzz::made_in_a_line(kernels::parse_argument(part));
    }
    return 0;
}
