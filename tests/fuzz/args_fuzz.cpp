// A command line: its arguments, one a line. It is read as the program reads it. What was asked for is done
// where that touches no file, device or window; what arguments name in a recording is looked up in one that
// ships.
#include <algorithm>

#include <unistd.h>

#include "app/cli/arguments.h"
#include "app/cli/line.h"
#include "core/base/text.h"
#include "kernels/textbook/shipped.h"
#include "tests/fuzz/fuzz.h"

namespace tilescope::fuzz {
namespace {

constexpr const char* kRecording = "tiled-4x4x4-t2";
constexpr size_t kMostArguments = 64;

std::vector<std::string> arguments_of(std::string_view text) {
    std::vector<std::string> arguments;
    while (!text.empty() && arguments.size() < kMostArguments) {
        const std::string_view line = text.substr(0, text.find('\n'));
        arguments.emplace_back(line.substr(0, line.find('\0')));  // what main() is given ends there
        text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return arguments;
}

// What an action throws has a sentence; the status is one of three.
template <class Action>
void act(const Action& action) {
    int status = cli::kDone;
    try {
        status = action();
    } catch (const cli::Refused& refused) {
        demand(!refused.message.empty(), "a refusal without a sentence");
        status = refused.status;
    }
    demand(status >= cli::kDone && status <= cli::kWrongCall, "an exit status that is none of three");
}

bool touches_nothing(const cli::CommandLine& line) {
    const auto commands = line.get_subcommands();
    if (commands.empty()) return false;
    const CLI::App& command = *commands.front();
    const std::string& name = command.get_name();
    if (name == "kernels") return true;
    if (name == "recordings")
        return command.get_option("--save")->empty() && command.get_option("-o")->empty();
    if (name == "report" || name == "table")
        return command.get_option("FILE")->as<std::string>() == kRecording && ::access(kRecording, F_OK) != 0;
    return false;
}

const trace::Trace& shipped() {
    static const trace::Trace trace = cli::need(cli::open_recording(kRecording)).trace;
    return trace;
}

void name(const std::string& argument) {
    const trace::Trace& trace = shipped();
    act([&] {
        const uint32_t block = cli::choose_block(cli::parse_block(argument), trace, kRecording);
        demand(block < trace.blocks.size(), "a block that is not there");
        return 0;
    });
    act([&] {
        const playback::Cursor at = cli::choose_step(argument, trace, kRecording);
        demand(at.block < trace.blocks.size() && at.step < trace.blocks[at.block].count,
               "a step that is not there");
        return 0;
    });
    act([&] {
        const auto [first, end] = cli::choose_steps(argument, trace, kRecording);
        demand(first < end && end <= trace.steps(), "steps that are not there");
        return 0;
    });
}

}  // namespace
}  // namespace tilescope::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    // What commands print is not looked at.
    const bool silent = std::freopen("/dev/null", "w", stdout) != nullptr;
    tilescope::fuzz::demand(silent, "/dev/null cannot be opened");
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace tilescope;
    const auto arguments = fuzz::arguments_of({reinterpret_cast<const char*>(data), size});
    std::vector<const char*> argv = {"tilescope"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    const auto line = cli::command_line();
    fuzz::act([&] {
        const auto ended = cli::parse(*line, static_cast<int>(argv.size()), argv.data());
        if (ended) return *ended;
        fuzz::demand(static_cast<bool>(line->chosen), "a command line that was read and chooses nothing");
        return fuzz::touches_nothing(*line) ? line->chosen() : 0;
    });
    if (!arguments.empty()) fuzz::name(arguments.back());
    return 0;
}
