// What a shell is told can follow, and the manual page: both are made of the parser, and name all that it
// takes.
#include <algorithm>

#include <gtest/gtest.h>

#include "app/cli/line.h"

namespace tilescope::cli {
namespace {

using Words = std::vector<std::string>;

// Without what each means.
Words completed(const Words& words) {
    Words all = completions(*command_line(), words);
    for (std::string& one : all) one.resize(std::min(one.size(), one.find('\t')));
    return all;
}

bool has(const Words& words, const std::string& word) {
    return std::ranges::find(words, word) != words.end();
}

TEST(Completion, OfCommandsAndTheirOptions) {
    EXPECT_EQ(completed({"rec"}), (Words{"record", "recordings"}));
    EXPECT_EQ(completed({"report", "--j"}), (Words{"--json"}));
    EXPECT_EQ(completed({"xyz"}), Words{});
    EXPECT_FALSE(has(completed({""}), "complete")) << "it is not for people";
    const auto line = command_line();
    for (const CLI::App* command : line->get_subcommands({})) {
        const Words options = completed({command->get_name(), "-"});
        for (const CLI::Option* option : command->get_options())
            if (!option->get_positional())
                EXPECT_TRUE(has(options, option->get_name())) << command->get_name() << option->get_name();
        EXPECT_EQ(has(completed({""}), command->get_name()), !command->get_group().empty());
    }
}

TEST(Completion, OfWhatAnOptionTakes) {
    EXPECT_EQ(completed({"render", "a.tsc", "--theme", ""}), (Words{"light", "dark"}));
    EXPECT_EQ(completed({"render", "a.tsc", "--theme", "d"}), (Words{"dark"}));
    EXPECT_EQ(completed({"render", "--theme=d"}), (Words{"--theme=dark"})) << "as zsh and fish give it";
    EXPECT_EQ(completed({"render", "--theme", "=", "d"}), (Words{"dark"})) << "as bash gives it";
    EXPECT_EQ(completed({"render", "--theme", "="}), (Words{"light", "dark"}));
    EXPECT_EQ(completed({"--theme", "l"}), (Words{"light"}));
    EXPECT_EQ(completed({"--theme", "light", "limi"}), (Words{"limits"}));
    EXPECT_EQ(completed({"table", "--notation", "M"}), (Words{"MNP", "MdNdPd"}));
    EXPECT_EQ(completed({"record", "--schedule", ""}), (Words{"fair", "greedy"}));
    EXPECT_EQ(completed({"record", "tiled", "-o", ""}), (Words{":"})) << "any file";
    EXPECT_EQ(completed({"record", "tiled", "--ptx", ""}), (Words{":.ptx"}));
    EXPECT_EQ(completed({"limits", "--device", "rtx-50"}), (Words{"rtx-5090"}));
    EXPECT_EQ(completed({"record", "tiled", "--tile", ""}), Words{}) << "a number";
    EXPECT_EQ(completed({"render", "--themes=d"}), Words{});
}

// Each option that takes something else than a number says in --help what that is, and what can be listed is
// offered.
TEST(Completion, OfEveryOptionThatTakesAWord) {
    const Words unlisted{"WxH",    "X,Y",        "X0:X1,Y0:Y1",    "A:B",  "FLAGS",
                         "NAME",   "NAME=VALUE", "NAME=VALUE,...", "CALL", "BYTES",
                         "NUMBER", "SECONDS",    "PREDICTION"};
    const auto line = command_line();
    size_t offering = 0;
    for (const CLI::App* command : line->get_subcommands({})) {
        if (command->get_group().empty()) continue;
        size_t places = 0;
        for (const CLI::Option* option : command->get_options()) {
            if (!takes_value(*option)) continue;
            const std::string what = command->get_name() + " " + option->get_name();
            Words words{command->get_name()};
            if (option->get_positional()) {
                words.insert(words.end(), places++, "x");
            } else {
                const std::string takes = option->get_type_name();
                EXPECT_NE(takes, "TEXT") << what << " does not say what it takes";
                if (takes.starts_with("UINT") || has(unlisted, takes)) continue;
                words.push_back(option->get_name());
            }
            words.emplace_back();
            EXPECT_FALSE(completed(words).empty()) << what;
            ++offering;
        }
    }
    EXPECT_GT(offering, 30u);
}

TEST(Completion, OfWhatTheWindowHas) {
    if (window_names("LESSON").empty()) GTEST_SKIP() << "built without the window";
    EXPECT_EQ(completed({"render", "--lesson", "bank"}), (Words{"banks", ":.json"}));
    EXPECT_EQ(completed({"export", "--format", "html", "--lesson", "z"}), (Words{":.json"}))
        << "of one's own";
    EXPECT_EQ(completed({"render", "a.tsc", "--figure", "lat"}), (Words{"latency"}));
    EXPECT_EQ(completed({"render", "a.tsc", "--do", "phase_t"}), (Words{"phase_table"}));
    for (const auto& [name, means] : window_names("ACTION"))
        EXPECT_EQ(name.find(':'), std::string::npos) << "bash parts words there";
}

TEST(Completion, OfPlaces) {
    EXPECT_EQ(completed({"record", "tiled_p"}), (Words{":.cu", ":.ptx", "tiled_padded"}));
    EXPECT_EQ(completed({"report", "tiled-4x"}), (Words{"tiled-4x4x4-t2", ":.tsc"}));
    EXPECT_EQ(completed({"report", "--json", "tiled-4x"}), (Words{"tiled-4x4x4-t2", ":.tsc"}));
    EXPECT_EQ(completed({"time", "tiled", "cub"}), (Words{"cublas", "cublas_half"})) << "several kernels";
    EXPECT_EQ(completed({"record", "a.cu", "--", "x", ""}), (Words{":"})) << "a program's own arguments";
    EXPECT_FALSE(has(completed({"report", "a.tsc", ""}), ":.tsc")) << "one recording is all that it takes";
    EXPECT_TRUE(has(completed({"report", "a.tsc", ""}), "--json"));
}

TEST(ManualPage, SaysWhatTheParserTakes) {
    const auto line = command_line();
    const std::string page = manual(*line);
    // As troff writes a word's dashes.
    const auto written = [](std::string text) {
        for (size_t at = 0; (at = text.find('-', at)) != std::string::npos; at += 2) text.insert(at, "\\");
        return text;
    };
    for (const CLI::App* command : line->get_subcommands({})) {
        const bool shown = !command->get_group().empty();
        EXPECT_EQ(page.find("\n.SH " + written(command->get_name()) + "\n") != std::string::npos, shown);
        if (!shown) continue;
        for (const CLI::Option* option : command->get_options()) {
            EXPECT_NE(page.find(written(option->get_name())), std::string::npos) << option->get_name();
            if (option == command->get_help_ptr()) continue;
            const std::string first =
                option->get_description().substr(0, option->get_description().find('\''));
            EXPECT_NE(page.find(written(first)), std::string::npos) << first;
        }
    }
    EXPECT_EQ(page.find("\n'"), std::string::npos) << "a line that begins with a quote is a request to troff";
}

}  // namespace
}  // namespace tilescope::cli
