// What is installed: its files, that it runs from wherever it lies, that shells complete with it, and that
// what is offered in an option's place is what the command takes.
#include <algorithm>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

namespace fs = std::filesystem;
using Strings = std::set<std::string>;

std::string installed_in(const std::string& name) {
    const Ran ran = shell("cmake --install '" TILESCOPE_BINARY_DIR "' --prefix '" + in_folder(name) + "'");
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    return in_folder(name);
}

// Files below a folder, pages of docs/ as one.
Strings files_of(const fs::path& folder) {
    Strings files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        std::string name = fs::relative(entry.path(), folder).string();
        if (entry.is_directory()) continue;
        if (name.ends_with(".md")) name = "share/doc/tilescope/PAGES.md";
        files.insert(name);
    }
    return files;
}

TEST(CliPackage, HoldsWhatAClassNeedsAndRunsFromWhereverItLies) {
    const std::string first = installed_in("first");
    Strings expected = {"bin/tilescope",
                        "share/bash-completion/completions/tilescope",
                        "share/doc/tilescope/PAGES.md",
                        "share/doc/tilescope/changelog.Debian.gz",
                        "share/doc/tilescope/copyright",
                        "share/fish/vendor_completions.d/tilescope.fish",
                        "share/man/man1/tilescope.1.gz",
                        "share/tilescope/capture_launch.py",
                        "share/zsh/vendor-completions/_tilescope"};
    if (TILESCOPE_HAS_WINDOW)
        expected.insert({"share/applications/tilescope.desktop",
                         "share/icons/hicolor/scalable/apps/tilescope.svg",
                         "share/icons/hicolor/scalable/mimetypes/application-x-tilescope-recording.svg",
                         "share/mime/packages/tilescope.xml"});
    Strings found = files_of(first);
    // The library's folder is the distribution's business: lib, lib64, lib/x86_64-linux-gnu.
    const auto library = std::ranges::find_if(
        found, [](const auto& name) { return name.ends_with("/libtilescope_cudart.so"); });
    ASSERT_NE(library, found.end());
    EXPECT_TRUE(library->starts_with("lib") && library->ends_with("/tilescope/libtilescope_cudart.so"))
        << *library;
    // fmt, which is called otherwise in each release, lies beside it, and is what the installed program
    // loads.
    const std::string beside = library->substr(0, library->rfind('/') + 1) + "libfmt.so.";
    EXPECT_EQ(found.erase(library->substr(0, library->rfind('/') + 1) + "libtilescope_capture.so"), 1u);
    found.erase(library);
    const auto fmt_library =
        std::ranges::find_if(found, [&](const auto& name) { return name.starts_with(beside); });
    if (fmt_library != found.end()) {
        found.erase(fmt_library);
        const std::string loaded = shell("ldd first/bin/tilescope | grep libfmt").out;
        EXPECT_NE(loaded.find(fs::canonical(first).string() + "/"), std::string::npos) << loaded;
    } else {
        EXPECT_EQ(shell("ldd first/bin/tilescope | grep -c libfmt.so").out, "0\n");
    }
    EXPECT_EQ(found, expected);

    // Moved, it still finds what programs are linked with; it is not that of the folder where it was built.
    fs::rename(first, in_folder("moved"));
    const Ran ran =
        shell("export XDG_CACHE_HOME=\"$PWD/cache\"; moved/bin/tilescope record '" TILESCOPE_SOURCE_DIR
              "/kernels/examples/vector_add.cu' -o out && ls out && readelf -d cache/tilescope/programs/*-* "
              "| grep RUNPATH");
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    EXPECT_NE(ran.out.find(".tsc"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find(fs::canonical(in_folder("moved")).string() + "/lib"), std::string::npos)
        << ran.out;
}

TEST(CliPackage, TheManualPageIsWhatIsInstalled) {
    const Ran page = tilescope({"manual"});
    EXPECT_EQ(page.status, 0) << page.err;
    EXPECT_EQ(page.out.rfind(".TH TILESCOPE 1 ", 0), 0u);
    EXPECT_EQ(shell("gzip -dc '" TILESCOPE_BINARY_DIR "/package/tilescope.1.gz'").out, page.out);
    // What the program looks for in its environment is named there.
    const Ran names =
        shell("grep -rhoE 'getenv\\(\"TILESCOPE_[A-Z_]+' '" TILESCOPE_SOURCE_DIR
              "/app' '" TILESCOPE_SOURCE_DIR "/core' '" TILESCOPE_SOURCE_DIR
              "/kernels/program' '" TILESCOPE_SOURCE_DIR "/kernels/run' | sort -u | cut -d'\"' -f2");
    ASSERT_NE(names.out, "");
    for (size_t at = 0; at < names.out.size();) {
        const std::string name = names.out.substr(at, names.out.find('\n', at) - at);
        EXPECT_NE(page.out.find(name), std::string::npos) << name;
        at += name.size() + 1;
    }
}

Strings set_of_lines(const std::string& text) {
    Strings lines;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        lines.insert(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

// What bash offers behind these words, the last of which is being typed.
Strings offered_by_bash(const std::string& words) {
    return set_of_lines(
        shell("PATH=\"$(dirname \"$TILESCOPE\"):$PATH\" bash -c '. " TILESCOPE_SOURCE_DIR
              "/assets/package/tilescope.bash; COMP_WORDS=(tilescope " +
              words +
              "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tilescope; printf \"%s\\n\" \"${COMPREPLY[@]}\"'")
            .out);
}

TEST(CliPackage, BashCompletes) {
    if (shell("command -v bash").status != 0) GTEST_SKIP() << "there is no bash here";
    write(in_folder("one.tsc"), "");
    write(in_folder("two.txt"), "");
    fs::create_directory(in_folder("folder"));
    EXPECT_EQ(offered_by_bash("rec"), (Strings{"record", "recordings"}));
    EXPECT_EQ(offered_by_bash("table one.tsc --format \"\""), (Strings{"text", "csv", "md"}));
    EXPECT_EQ(offered_by_bash("report o"), (Strings{"one.tsc"}));
    EXPECT_EQ(offered_by_bash("report f"), (Strings{"folder"}));
    const Strings shipped = offered_by_bash("report --json tiled-6");
    EXPECT_EQ(shipped, (Strings{"tiled-64x64x64-t16", "tiled-64x64x64-t32"}));
    EXPECT_EQ(offered_by_bash("render x -o t"), (Strings{"two.txt"}));
}

// The words that are offered are those that the command's own sentence names where another one is given.
TEST(CliPackage, WhatIsOfferedIsTaken) {
    const std::string path = lecture_recording();
    struct Case {
        std::vector<std::string> call;
        const char* option;
    };
    std::vector<Case> cases = {{{"record", "tiled"}, "--backend"},
                               {{"table", path}, "--format"},
                               {{"table", path}, "--notation"},
                               {{"export", path, "-o", "x"}, "--format"},
                               {{"compare", path, path}, "--lock"}};
    if (TILESCOPE_HAS_WINDOW) {
        cases.push_back({{"render", path, "-o", "x.png"}, "--screen"});
        cases.push_back({{"render", path, "-o", "x.png"}, "--theme"});
    }
    for (const Case& one : cases) {
        std::vector<std::string> call = one.call;
        call.insert(call.end(), {one.option, "nonesuch"});
        const Ran refused = tilescope(call);
        EXPECT_EQ(refused.status, 2);
        const size_t choose = refused.err.find("choose ");
        ASSERT_NE(choose, std::string::npos) << refused.err;
        // "choose csv, json or md": words, without what joins them.
        Strings named;
        std::string word;
        for (const char c : refused.err.substr(choose + 7)) {
            if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
                word += c;
            } else if (!word.empty()) {
                if (word != "or") named.insert(word);
                word.clear();
            }
        }
        std::vector<std::string> ask = {"complete", "--"};
        ask.insert(ask.end(), one.call.begin(), one.call.end());
        ask.insert(ask.end(), {one.option, ""});
        EXPECT_EQ(set_of_lines(tilescope(ask).out), named) << one.option;
    }
}

TEST(CliPackage, TheDesktopFilesAreWellMade) {
    const std::string at = TILESCOPE_SOURCE_DIR "/assets/package/";
    const std::string entry = read(at + "tilescope.desktop"), type = read(at + "tilescope.xml");
    EXPECT_NE(entry.find("\nExec=tilescope open %f\n"), std::string::npos);
    EXPECT_NE(entry.find("\nMimeType=application/x-tilescope-recording;\n"), std::string::npos);
    EXPECT_NE(type.find("\"application/x-tilescope-recording\""), std::string::npos);
    // The magic of the type is the beginning of a recording (core/trace/format.h).
    const std::string recording = read(lecture_recording());
    EXPECT_EQ(recording.substr(0, 8), "\x89TSC\r\n\x1a\n");
    EXPECT_NE(type.find("value=\"\\x89TSC\\x0d\\x0a\\x1a\\x0a\" offset=\"0\""), std::string::npos);
    if (shell("command -v update-mime-database").status != 0) return;
    const Ran made = shell("mkdir -p mime/packages && cp '" + at +
                           "tilescope.xml' mime/packages && update-mime-database mime && cat mime/globs2");
    EXPECT_EQ(made.status, 0) << made.err;
    EXPECT_NE(made.out.find(":application/x-tilescope-recording:*.tsc"), std::string::npos) << made.out;
}

}  // namespace
}  // namespace tilescope::cli_test
