// Programs that ship (programs.h), and where they are opened from.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "app/session/programs.h"
#include "app/session/session.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/user_cache.h"

namespace tilescope::session {

std::vector<std::pair<std::string_view, std::string_view>> embedded_examples();  // made by cmake/embed.cmake

namespace {

namespace fs = std::filesystem;

// The comment that a text begins with, on one line, up to its "Look at:"; "" where there is none.
std::string first_comment(std::string_view text) {
    std::string said;
    while (text.starts_with("//")) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        line.remove_prefix(std::min(line.find_first_not_of("/ "), line.size()));
        if (!said.empty()) said += ' ';
        said += line;
    }
    said.resize(std::min(said.find("Look at:"), said.size()));
    said.erase(said.find_last_not_of(" \r") + 1);
    return one_line(said, kLongestLine);
}

}  // namespace

std::vector<Example> examples_of(const std::vector<std::pair<std::string_view, std::string_view>>& files) {
    std::vector<Example> all;
    for (const auto& [path, text] : files)
        all.push_back({fs::path(path).stem().string(), first_comment(text), text});
    return all;
}

const std::vector<Example>& examples() {
    static const std::vector<Example> all = examples_of(embedded_examples());
    return all;
}

const std::vector<Example>& offered_examples(const Session& session) {
    static const std::vector<Example> none;
    return session.can.programs ? session.assets.examples() : none;
}

Result<std::string> path_of(const Example& example) {
    const auto folder = cache_folder("examples");
    if (!folder) return folder.error();
    const std::string path = (*folder / (example.name + ".cu")).string();
    if (const auto there = read_whole(path, example.text.size() + 1);
        there && *there == example.text && why_not_ours(path).empty())
        return path;
    const std::string why = write_whole(path, example.text);
    if (why.empty()) return path;
    return Error{fmt::format(
        "The example could not be written to '{}': {}; set XDG_CACHE_HOME to another folder.", path, why)};
}

void open_example(Session& session, std::string_view name) {
    const std::vector<Example>& all = session.assets.examples();
    const auto found = std::ranges::find(all, name, &Example::name);
    if (found == all.end()) {
        session.message = fmt::format("No program '{}' ships with this one.", one_line(name));
        return;
    }
    if (const auto path = path_of(*found))
        run_program(session, {*path, "", "", "", ""});
    else
        session.message = path.error().message;
}

}  // namespace tilescope::session
