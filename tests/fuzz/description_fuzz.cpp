// The description of a launch, as the comments of a source hold it: it is refused in a sentence of one line,
// or read; what was read can be said again as a command, whose words a shell would hand on as they are, and
// which reads as the same description. And the same bytes as a launch that was written down: refused in a line, or
// read, whatever lies beside it.
#include <algorithm>

#include "kernels/alone/description.h"
#include "kernels/alone/guess.h"
#include "kernels/alone/written.h"
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

// Contents that are as long as the document wants them, up to a size.
void read_written(std::string_view text) {
    const auto beside = [](const std::string& name, uint64_t most) -> Result<std::string> {
        constexpr uint64_t kMost = 1 << 16;
        demand(name.find('/') == std::string::npos, "a file of another folder is read");
        return std::string(std::min(most, kMost), '\1');
    };
    const auto written = kernels::parse_written(text, beside);
    if (!made_in_a_line(written)) return;
    demand(written->said.written && written->said.grid && written->said.block, "a launch without its grid");
    for (const kernels::GivenArgument& argument : written->said.arguments) {
        if (argument.kind != kernels::GivenKind::Array || argument.shares >= 0) continue;
        demand(!argument.extents.empty() && argument.extents.size() <= 3, "an array without extents");
        const Array array = kernels::array_of(argument);
        demand(array.elements() > 0 && argument.offset < array.bytes(), "an argument leads beside its array");
        const auto& bytes = argument.contents.bytes;
        demand(!bytes || bytes->size() == array.bytes(), "contents are not of the array's size");
    }
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
    fuzz::read_written(text);
    return 0;
}
