// Includes run one way. Every #include of the sources is held against the table of docs/architecture.md: a
// file may include its own folder, those that the folder's row names, and what these may include. A row names
// rows below it alone, so that nothing climbs. The page names every folder, and none that is not there.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/file_text.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = TILESCOPE_SOURCE_DIR;

std::string page() { return file_text(kRoot / "docs/architecture.md"); }

// The folder of a source, as the page's table names it: "core/ptx"; "app" of what lies in none of its.
std::string folder_of(const std::string& path) {
    if (path == "app/main.cpp") return path;
    const size_t first = path.find('/'), second = path.find('/', first + 1);
    return path.substr(0, second == std::string::npos ? first : second);
}

// By folder, all that it may include: its own folder, what its row names, and what these may include.
using Allowed = std::map<std::string, std::set<std::string>>;

//   | folder | what it holds | may include |
Allowed read_table(const std::string& text) {
    static const std::regex row(R"re(\|([^|\n]*)\|[^|\n]*\|([^|\n]*)\|)re");
    static const std::regex name(R"re(`((?:app|core|kernels)\b[^`]*)`)re");
    const auto names_in = [](const std::string& cell) {
        std::vector<std::string> names;
        for (std::sregex_iterator at(cell.begin(), cell.end(), name), end; at != end; ++at)
            names.push_back((*at)[1]);
        return names;
    };
    std::vector<std::smatch> rows(std::sregex_iterator(text.begin(), text.end(), row),
                                  std::sregex_iterator());
    std::reverse(rows.begin(), rows.end());  // what a row names is known when the row is read
    Allowed allowed;
    for (const std::smatch& of : rows) {
        std::set<std::string> may;
        for (const std::string& below : names_in(of[2])) {
            if (!allowed.contains(below))
                ADD_FAILURE() << of[1] << "names " << below << ", which is no row below";
            may.insert(allowed[below].begin(), allowed[below].end());
        }
        for (const std::string& folder : names_in(of[1])) {
            allowed[folder] = may;
            allowed[folder].insert(folder);
        }
    }
    return allowed;
}

// Includes of a file that do not lead down, as "app/look/x.h includes app/session/y.h".
std::vector<std::string> wrong_arrows(const std::string& path, const std::string& text) {
    static const Allowed allowed = read_table(page());
    const auto row = allowed.find(folder_of(path));
    if (row == allowed.end()) return {path + " lies in a folder that has no row in docs/architecture.md"};
    std::vector<std::string> wrong;
    static const std::regex include(R"re(^[ \t]*#[ \t]*include[ \t]*"((?:core|kernels|app|tests)/[^"]*)")re",
                                    std::regex::multiline);
    for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at)
        if (!row->second.contains(folder_of((*at)[1]))) wrong.push_back(path + " includes " + (*at)[1].str());
    return wrong;
}

// Paths of all sources below a folder, relative to the project's.
std::vector<std::string> sources_below(const char* folder) {
    std::vector<std::string> paths;
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
        const std::string ending = entry.path().extension().string();
        for (const char* source : {".h", ".cpp", ".inl", ".cu"})
            if (ending == source) paths.push_back(fs::relative(entry.path(), kRoot).string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

TEST(Arrows, LeadDown) {
    size_t files = 0;
    for (const char* top : {"core", "kernels", "app"}) {
        for (const std::string& path : sources_below(top)) {
            for (const std::string& arrow : wrong_arrows(path, file_text(kRoot / path)))
                ADD_FAILURE() << arrow;
            ++files;
        }
    }
    EXPECT_GT(files, 200u) << "the sources were not found";
}

// The folders and files that the page names are there, and it names every folder that holds sources; of those
// below kernels/cudart/include, that one.
TEST(Arrows, ThePageNamesWhatIsThere) {
    const std::string text = page();
    static const std::regex path(R"re(\b(?:app|core|docs|kernels|tests)/[a-z0-9_./]*[a-z0-9_])re");
    std::set<std::string> named;
    for (std::sregex_iterator at(text.begin(), text.end(), path), end; at != end; ++at)
        if (const std::string name = at->str(); named.insert(name).second)
            EXPECT_TRUE(fs::exists(kRoot / name)) << name << " is not there";
    size_t folders = 0;
    std::set<fs::path> seen;
    for (const char* top : {"core", "kernels", "app"}) {
        for (const std::string& source : sources_below(top)) {
            fs::path folder = fs::path(source).parent_path();
            while (std::distance(folder.begin(), folder.end()) > 3) folder = folder.parent_path();
            if (folder == top || !seen.insert(folder).second) continue;
            EXPECT_TRUE(named.contains(folder.string())) << folder << " is not named";
            ++folders;
        }
    }
    EXPECT_GT(folders, 30u) << "the folders were not found";
}

TEST(Arrows, AWrongOneIsFound) {
    const auto found = [](const std::string& path, const std::string& included) {
        return wrong_arrows(path, "#pragma once\n#include <vector>\n#include \"" + included + "\"\n").size();
    };
    EXPECT_EQ(found("app/look/made_up.h", "app/session/session.h"), 1u) << "it climbs";
    EXPECT_EQ(found("app/look/made_up.h", "app/pictures/pictures.h"), 1u);
    EXPECT_EQ(found("app/step/made_up.cpp", "app/compare/model.h"), 1u) << "a screen beside it";
    EXPECT_EQ(found("app/new_screen/made_up.cpp", "app/input/screen.h"), 1u)
        << "the page names no such screen";
    EXPECT_EQ(found("app/session/made_up.cpp", "app/pictures/pictures.h"), 1u) << "what draws";
    EXPECT_EQ(found("app/session/made_up.cpp", "kernels/program/compile.h"), 1u)
        << "the command line's alone";
    EXPECT_EQ(found("app/step/made_up.cpp", "app/app.h"), 1u) << "the whole State";
    EXPECT_EQ(found("app/app.cpp", "app/cli/command.h"), 1u);
    EXPECT_EQ(found("app/platform/made_up.h", "app/draw/theme.h"), 1u);
    EXPECT_EQ(found("app/platform/made_up.h", "core/trace/trace.h"), 1u);
    EXPECT_EQ(found("kernels/gpu/made_up.cpp", "app/platform/backend.h"), 1u);
    EXPECT_EQ(found("kernels/run/made_up.cpp", "kernels/gpu/driver.h"), 1u);
    EXPECT_EQ(found("kernels/launched/made_up.cpp", "kernels/cudart/runtime.h"), 1u) << "CUDA's runtime";
    EXPECT_EQ(found("core/ptx/made_up.h", "core/simt/lanes.h"), 1u);
    EXPECT_EQ(found("core/base/made_up.h", "kernels/run/plan.h"), 1u);
    EXPECT_EQ(found("core/hazards/made_up.h", "core/limits/occupancy.h"), 1u);
    EXPECT_EQ(found("app/draw/made_up.h", "tests/recorded.h"), 1u) << "has no row";
    EXPECT_EQ(found("elsewhere/made_up.h", "core/base/result.h"), 1u) << "has no row";

    EXPECT_EQ(found("app/step/made_up.cpp", "app/step/state.h"), 0u);
    EXPECT_EQ(found("app/step/made_up.cpp", "app/input/screen.h"), 0u);
    EXPECT_EQ(found("app/cli/made_up.cpp", "app/app.h"), 0u);
    EXPECT_EQ(found("app/cli/made_up.cpp", "core/base/result.h"), 0u) << "what a row's folders may include";
    EXPECT_EQ(found("kernels/gpu/made_up.cpp", "kernels/run/plan.h"), 0u);
}

// Threads are of the jobs alone.
TEST(Arrows, ThreadsStayWhereTheyBelong) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / "app")) {
        if (!entry.is_regular_file()) continue;
        const std::string path = fs::relative(entry.path(), kRoot).string();
        const std::string text = file_text(entry.path());
        const bool jobs = path.starts_with("app/session/jobs.") || path.starts_with("app/cli/");
        for (const char* thread : {"std::thread ", "std::jthread", "std::async", "std::packaged_task"})
            EXPECT_TRUE(jobs || text.find(thread) == std::string::npos) << path << ": " << thread;
    }
}

// Whether the includes of a file lead to ImGui, OpenGL or a window, however far that is. known: those that were
// looked at.
bool draws(const std::string& path, std::map<std::string, bool>& known) {
    if (const auto [at, is_new] = known.emplace(path, false); !is_new) return at->second;
    const std::string text = file_text(kRoot / path);
    static const std::regex window(R"re(#[ \t]*include[ \t]*["<](?:backends/)?(?:imgui|glad|GLFW|EGL))re");
    static const std::regex ours(R"re(#[ \t]*include[ \t]*"((?:core|kernels|app)/[^"]*)")re");
    bool found = std::regex_search(text, window);
    for (std::sregex_iterator at(text.begin(), text.end(), ours), end; at != end; ++at)
        found = draws((*at)[1], known) || found;
    return known[path] = found;
}

// The library tilescope_models is compiled without a window: it is all of app/ that leads to none.
TEST(Arrows, ModelsNeedNoWindow) {
    std::istringstream list(file_text(TILESCOPE_BINARY_DIR "/generated/models.txt"));
    std::set<std::string> models;
    for (std::string path; std::getline(list, path);) models.insert(path);
    EXPECT_GT(models.size(), 40u) << "cmake/models.cmake wrote no list";
    std::map<std::string, bool> known;
    for (const std::string& path : models) EXPECT_FALSE(draws(path, known)) << path;
    for (const std::string& path : sources_below("app")) {
        const bool model = path.ends_with("/model.h") || path.ends_with("/model.cpp");
        const bool pure = model || path.starts_with("app/look/") || path.starts_with("app/session/");
        EXPECT_FALSE(pure && draws(path, known)) << path;
        if (path.ends_with(".cpp") && !path.starts_with("app/cli/") && path != "app/main.cpp")
            EXPECT_TRUE(draws(path, known) || models.contains(path)) << path << " needs no window";
    }
    EXPECT_TRUE(draws("app/draw/ui.cpp", known) && draws("app/step/screen.cpp", known));
}

// What draws knows no recording, and who includes a header of core/ does not parse a library for JSON.
TEST(Arrows, DrawingKnowsNoRecordingAndHeadersNoJson) {
    static const std::regex above_base(R"re(#[ \t]*include[ \t]*"(?:kernels|core/(?!base/)))re");
    static const std::regex json(R"re(#[ \t]*include[ \t]*<nlohmann/json\.hpp>)re");
    const auto finds = [](const std::string& path, const std::regex& what) {
        return std::regex_search(file_text(kRoot / path), what);
    };
    for (const std::string& path : sources_below("app/draw")) EXPECT_FALSE(finds(path, above_base)) << path;
    for (const std::string& path : sources_below("core"))
        EXPECT_FALSE(path.ends_with(".h") && finds(path, json)) << path;
    EXPECT_TRUE(finds("app/look/block_index.h", above_base)) << "includes are not found";
}

// Whether a source reads the sizes or the matrices of an analysis::Product, under whatever name it holds one.
bool reads_product(const std::string& text) {
    std::string names = "product_?";
    static const std::regex held(R"re(\bProduct>?\s*(?:const)?\s*[&*]*\s*(?:const\s+)?([a-z]\w*))re");
    for (std::sregex_iterator at(text.begin(), text.end(), held), end; at != end; ++at)
        names += "|" + (*at)[1].str();
    const std::regex read("\\b(?:" + names + ")(?:->|\\.)(?:m|k|n|p|tile|M|N|P)\\b");
    return std::regex_search(text, read);
}

// What only a matrix product has is a lens: its words stand below kernels/textbook, in core/recording, and in
// few places more, which draw a product or write it down.
TEST(Arrows, FewFilesKnowAProduct) {
    std::vector<std::string> files;
    for (const char* top : {"core", "kernels", "app"})
        for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
            const std::string path = fs::relative(entry.path(), kRoot).string();
            if (!entry.is_regular_file() || path.starts_with("kernels/textbook/") ||
                path.starts_with("core/recording/"))
                continue;
            if (reads_product(file_text(entry.path()))) files.push_back(path);
        }
    std::string list;
    for (const std::string& file : files) list += file + "\n";
    EXPECT_LE(files.size(), 14u) << list;
    EXPECT_GE(files.size(), 4u) << "the words are not found: " << list;
    EXPECT_TRUE(reads_product("if (index.product->tile > 16) return;"));
    EXPECT_TRUE(reads_product("const analysis::Product& of = *found; return of.k * 2;"));
    EXPECT_FALSE(reads_product("return analysis::launch_text(trace, recording.product);"));
}

// What is worked out of a trace when it is opened is not worked out again: who needs it takes the recording.
TEST(Arrows, ARecordingIsReadOnce) {
    static const std::regex again(R"re(\b(?:product_of|phase_rule)\(|ptx::parse\(trace)re");
    size_t here = 0;
    for (const char* top : {"core", "kernels", "app"})
        for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
            if (!entry.is_regular_file()) continue;
            const std::string path = fs::relative(entry.path(), kRoot).string();
            const bool found = std::regex_search(file_text(entry.path()), again);
            const bool opens = path.starts_with("core/recording/") || path == "core/trace/derive.cpp";
            EXPECT_TRUE(opens || !found) << path;
            here += opens && found ? 1 : 0;
        }
    EXPECT_GE(here, 3u) << "the calls are not found";
}

}  // namespace
}  // namespace tilescope
