#include "app/input/path_box.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "app/input/palette.h"

namespace tilescope::input {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLooked = 20'000;  // entries of a folder: it must not hold up a frame

struct Split {
    std::string folder, name;  // "/tmp/", "til"
};

Split split(const std::string& path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {"", path};
    return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

// Folders and recordings beside the typed name that begin with it; hidden ones only when asked for.
std::vector<Suggestion> beside(const std::string& typed) {
    const Split at = split(typed);
    const std::string folder = expanded(at.folder);
    std::vector<Suggestion> found;
    std::error_code error;
    fs::directory_iterator each(folder.empty() ? "." : folder, fs::directory_options::skip_permission_denied,
                                error);
    size_t looked = 0;
    for (; !error && each != fs::directory_iterator() && looked < kMostLooked;
         each.increment(error), ++looked) {
        const std::string name = each->path().filename().string();
        if (name.compare(0, at.name.size(), at.name) != 0) continue;
        if (name[0] == '.' && at.name.empty()) continue;
        std::error_code unknown;
        if (each->is_directory(unknown))
            found.push_back({Suggestion::Kind::Folder, at.folder + name + "/", at.folder + name + "/"});
        else if (each->path().extension() == ".tsc")
            found.push_back({Suggestion::Kind::File, at.folder + name, at.folder + name});
    }
    std::sort(found.begin(), found.end(), [](const Suggestion& a, const Suggestion& b) {
        return a.kind != b.kind ? a.kind > b.kind : a.text < b.text;  // recordings before folders
    });
    if (found.size() > kMostSuggestions) found.resize(kMostSuggestions);
    return found;
}

}  // namespace

std::string expanded(const std::string& typed) {
    const char* home = std::getenv("HOME");
    if (home == nullptr || typed.empty() || typed[0] != '~' || (typed.size() > 1 && typed[1] != '/'))
        return typed;
    return home + typed.substr(1);
}

std::vector<Suggestion> suggestions(const PathBox& box, const session::Session& session) {
    std::vector<Suggestion> all;
    const std::string& typed = box.path.text;
    // A name without a folder, or none yet, also finds what was opened before and what ships.
    if (box.mode == PathBox::Mode::Open && typed.find('/') == std::string::npos) {
        for (const std::string& path : session.recent_files)
            if (match(typed, path) >= 0) all.push_back({Suggestion::Kind::Recent, path, path});
        for (const kernels::ShippedRecording& recording : session.assets.recordings())
            if (match(typed, recording.label) >= 0)
                all.push_back({Suggestion::Kind::Shipped, recording.label, recording.name});
    }
    for (Suggestion& one : beside(typed)) all.push_back(std::move(one));
    return all;
}

std::string completed(const std::string& typed) {
    const std::vector<Suggestion> all = beside(typed);
    if (all.empty()) return typed;
    std::string common = all.front().value;
    for (const Suggestion& one : all) {
        const auto [end, ignored] =
            std::mismatch(common.begin(), common.end(), one.value.begin(), one.value.end());
        common.erase(end, common.end());
    }
    // Never half a character.
    while (common.size() > typed.size() && (static_cast<unsigned char>(common.back()) & 0xC0) == 0xC0)
        common.pop_back();
    return common.size() > typed.size() ? common : typed;
}

}  // namespace tilescope::input
