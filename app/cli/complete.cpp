// What can follow on a command line, for the shells (assets/package/tilescope.bash, .zsh and .fish), which
// ask the program itself:
//
//   tilescope complete -- render tiled-4x4x4-t2 --theme ""       dark
//                                                                light
//   a line      a word, and behind a tab what it means
//   ":.tsc"     files with that ending and folders; ":" alone: any file
//
// Commands and options are the parser's own, and so are always those that it takes; what an option takes in
// its place is CommandOption::takes, which --help and the manual page print too.
#include <algorithm>
#include <cctype>

#include "app/cli/line.h"
#include "core/limits/presets.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/devices.h"
#include "kernels/textbook/shipped.h"

namespace tilescope::cli {

namespace {

std::string name_of(const CLI::Option& option) { return option.get_name(false, false); }

struct Candidates {
    std::vector<std::string> lines;
    void add(const std::string& word, std::string_view means = "") {
        lines.push_back(means.empty() ? word : fmt::format("{}\t{}", word, means));
    }
};

// "light|dark": words, and not kinds of things.
bool takes_one_of(std::string_view takes) {
    return takes.find('|') != std::string_view::npos && takes.find("RECORDING") == std::string_view::npos &&
           takes.find("KERNEL") == std::string_view::npos && takes.find("FILE") == std::string_view::npos;
}

void add_shipped(Candidates& into) {
    for (const kernels::ShippedRecording& one : kernels::shipped_recordings()) into.add(one.name, one.label);
}

// What may stand in a place that takes this.
void add_taken(std::string_view takes, Candidates& into) {
    const std::string_view all = takes;
    while (!takes.empty()) {
        const std::string_view one = takes.substr(0, takes.find('|'));
        takes.remove_prefix(std::min(one.size() + 1, takes.size()));
        if (one == "RECORDING") {
            add_shipped(into);
            into.add(":.tsc");
        } else if (one == "SHIPPED") {
            add_shipped(into);
        } else if (one == "KERNEL") {
            for (const kernels::KernelInfo& kernel : kernels::catalogue())
                into.add(kernel.name, kernel.teaches);
        } else if (one == "DEVICE") {
            for (const auto& device : kernels::devices()) into.add(device.id, device.name);
        } else if (one == "CASE") {
            for (const auto& preset : analysis::limit_presets()) into.add(preset.id, preset.title);
        } else if (one == "LESSON" || one == "FIGURE" || one == "ACTION") {
            for (const auto& [name, means] : window_names(one)) into.add(name, means);
        } else if (one == "STEP") {
            for (const char* word : {"first", "middle", "last"}) into.add(word);
        } else if (one.starts_with("FILE")) {
            into.add(":" + std::string(one.substr(4)));
        } else if (one == "PATH") {
            into.add(":");
        } else if (std::islower(static_cast<unsigned char>(one[0])) != 0 || takes_one_of(all)) {
            into.add(std::string(one));
        }
    }
}

// The option of that name, as a command takes it: "--theme", "-o"; null for none.
const CLI::Option* option_of(const CLI::App& command, const std::string& name) {
    return command.get_option_no_throw(name);
}

const CLI::App* command_of(const CommandLine& line, const std::string& name) {
    const auto named = line.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; });
    return named.empty() ? nullptr : named.front();
}

void add_options(const CLI::App& command, Candidates& into) {
    for (const CLI::Option* option : command.get_options())
        if (!option->get_positional()) into.add(name_of(*option), option->get_description());
}

// The command's place for its n-th word that is no option; the last one where it takes several.
const CLI::Option* place_of(const CLI::App& command, size_t number) {
    const CLI::Option* last = nullptr;
    for (const CLI::Option* option :
         command.get_options([](const CLI::Option* one) { return one->get_positional(); })) {
        last = option;
        if (number-- == 0) return option;
    }
    return last != nullptr && last->get_expected_max() > 1 ? last : nullptr;
}

struct CompleteOptions {
    std::vector<std::string> words;

    OptionTable table() { return {{"WORD", &words, "What is typed behind the program's name, behind --"}}; }
};

int run_complete(const CompleteOptions& options) {
    for (const std::string& line : completions(*command_line(), options.words))
        if (const int status = print(line + "\n"); status != kDone) return status;
    return kDone;
}

}  // namespace

std::vector<std::string> completions(const CommandLine& line, std::vector<std::string> words) {
    if (words.empty()) words.emplace_back();
    // bash parts "--theme=da" in three.
    std::string typed = words.back() == "=" ? "" : words.back(), before;
    words.pop_back();
    std::erase(words, "=");
    const CLI::App* command = &line;
    const CLI::Option* waiting = nullptr;  // an option that still needs its value
    size_t places = 0;
    Candidates found;
    for (const std::string& word : words) {
        if (word == "--") {  // the rest is a program's
            found.add(":");
            return found.lines;
        }
        if (waiting != nullptr) {
            waiting = nullptr;
        } else if (word.size() > 1 && word[0] == '-') {
            const CLI::Option* option = option_of(*command, word);
            if (option != nullptr && takes_value(*option)) waiting = option;
        } else if (const CLI::App* named = command == &line ? command_of(line, word) : nullptr) {
            command = named;
        } else {
            ++places;
        }
    }
    if (const size_t equals = typed.find('=');
        waiting == nullptr && typed.starts_with("--") && equals != std::string::npos) {
        waiting = option_of(*command, typed.substr(0, equals));
        if (waiting == nullptr || !takes_value(*waiting)) return {};
        before = typed.substr(0, equals + 1);
        typed.erase(0, equals + 1);
    }
    if (waiting != nullptr) {
        add_taken(line.takes.at(waiting), found);
    } else if (typed.starts_with('-')) {
        add_options(*command, found);
    } else if (command == &line) {
        for (const CLI::App* one : line.get_subcommands({}))
            if (!one->get_group().empty()) found.add(one->get_name(), one->get_description());
        if (typed.empty()) add_options(line, found);
    } else if (const CLI::Option* place = place_of(*command, places)) {
        add_taken(line.takes.at(place), found);
    } else if (typed.empty()) {
        add_options(*command, found);
    }
    std::erase_if(found.lines,
                  [&](const std::string& one) { return one[0] != ':' && !one.starts_with(typed); });
    if (!before.empty())
        for (std::string& one : found.lines)
            if (one[0] != ':') one.insert(0, before);
    return found.lines;
}

CliCommand complete_command() {
    CliCommand made = command("complete", "List what can follow these words, for a shell", run_complete);
    made.hidden = true;
    return made;
}

}  // namespace tilescope::cli
