#include "kernels/program/compile.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/file.h"
#include "kernels/program/cache.h"
#include "kernels/program/complaint.h"
#include "kernels/program/device_code.h"
#include "kernels/program/tools.h"

namespace tilescope::program {

namespace {

namespace fs = std::filesystem;

// Told anew with what changes the PTX of the same source, so that no older program is taken from the cache.
constexpr const char* kHowDeviceCodeIsMade =
    "structs by vectors and their members named, small arrays in registers";

// The files that a compiler's dependency file (make's syntax) names: backslashes quote blanks, dollars
// double.
std::vector<std::string> files_in(const std::string& rule) {
    std::vector<std::string> files;
    std::string name;
    const auto end = [&] {
        if (!name.empty()) files.push_back(std::exchange(name, ""));
    };
    size_t at = rule.find(": ");
    for (at = at == std::string::npos ? rule.size() : at + 2; at < rule.size(); ++at) {
        const char c = rule[at], next = at + 1 < rule.size() ? rule[at + 1] : '\0';
        if (c == '\\' && (next == '\n' || next == '\r')) {
            end();
            ++at;
        } else if (c == '\\' && (next == ' ' || next == '#' || next == '\\')) {
            name += next;
            ++at;
        } else if (c == '$' && next == '$') {
            name += c;
            ++at;
        } else if (c == ' ' || c == '\n' || c == '\r') {
            end();
        } else {
            name += c;
        }
    }
    end();
    return files;
}

bool is_cuda(const fs::path& path) { return path.extension() == ".cu"; }

class Build {
public:
    Build(const Tools& tools, const CompileOptions& options, const fs::path& folder)
        : tools_(tools), options_(options), folder_(folder) {}

    // An object of a .cu or a C++ file.
    Result<void> compile(const fs::path& source) {
        const std::string stem = std::to_string(objects_.size());
        const fs::path ptx = folder_ / (stem + ".ptx"), object = folder_ / (stem + ".o"),
                       rule = folder_ / (stem + ".d");
        std::vector<std::string> host;
        if (is_cuda(source)) {
            const auto overlay = overlay_of(source, folder_ / stem);
            if (!overlay) return overlay.error();
            auto text = device_ptx(tools_, source, (folder_ / stem).string(), *overlay, options_, said);
            if (!text) return text.error();
            text->push_back('\0');
            if (const std::string why = write_whole(ptx.string(), *text); !why.empty())
                return Error{
                    fmt::format("'{}' cannot be written: {}; make room in the cache", ptx.string(), why)};
            host = cuda_words(tools_);
            host.insert(host.end(), overlay->begin(), overlay->end());
            host.insert(host.end(),
                        {"--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", ptx.string()});
        } else {
            host = common_words(tools_);
            if (source == options_.own_main) host.emplace_back("-Umain");
            if (source.extension() == ".c") std::erase(host, "-std=" + tools_.flags.standard);
        }
        // Line tables tell which call of the runtime went wrong.
        host.insert(host.end(), {"-O2", "-gline-tables-only", "-fwrapv", "-fPIC", "-MD", "-MF", rule.string(),
                                 "-c", "-o", object.string(), file_word(source)});
        // What the device pass said comes again.
        std::string again;
        auto made = call(std::move(host), options_, source.string(), again);
        if (!is_cuda(source) || !made || said.empty()) said += again;
        if (!made) return made;
        objects_.push_back(object.string());
        if (const auto text = read_whole(rule.string(), kLargestText))
            for (std::string& file : files_in(*text)) files.push_back(std::move(file));
        return {};
    }

    Result<void> link(const std::string& runtime, const fs::path& out) {
        std::vector<std::string> words = {tools_.compiler.path};
        for (const std::string& flag : tools_.flags.compile)
            if (flag.rfind("-stdlib", 0) == 0 || flag.rfind("-fsanitize", 0) == 0 ||
                flag.rfind("-fopenmp", 0) == 0 || flag == "-pthread")
                words.push_back(flag);
        words.insert(words.end(), objects_.begin(), objects_.end());
        words.insert(words.end(), tools_.flags.link.begin(), tools_.flags.link.end());
        // kernels/cudart/host_memory.cpp
        for (const char* function : {"malloc", "calloc", "realloc", "_Znwm", "_Znam"})
            words.push_back(std::string("-Wl,--wrap=") + function);
        words.insert(words.end(), {runtime, "-Wl,-rpath," + fs::path(runtime).parent_path().string(),
                                   "-lpthread", "-lm", "-ldl", "-o", out.string()});
        // A linker that succeeds warns of libraries, which the program's author did not write.
        std::string warned;
        auto made = call(std::move(words), options_, out.filename().string(), warned);
        if (!made) said += warned;
        return made;
    }

    void add_object(const std::string& path) {
        objects_.push_back(path);
        files.push_back(path);
    }

    std::string said;
    std::vector<std::string> files;  // that the program is made of

private:
    const Tools& tools_;
    const CompileOptions& options_;
    const fs::path folder_;
    std::vector<std::string> objects_;
};

// Where the program of this source lies in the cache, but for the contents of the files that the compiler
// read.
std::string key_of(const fs::path& source, const Tools& tools, const std::string& runtime) {
    Digest digest;
    std::error_code error;
    digest.add(fs::current_path(error).string()).add(source.string());
    digest.add(tools.compiler.path).add(tools.compiler.version).add(tools.headers.string()).add(runtime);
    digest.add(tools.nvcc.path).add(tools.nvcc.version).add(kHowDeviceCodeIsMade);
    digest.add(tools.flags.arch).add(tools.flags.standard).add(tools.flags.warnings ? "W" : "w");
    for (const auto* words : {&tools.flags.compile, &tools.flags.link, &tools.flags.files}) {
        digest.add(std::to_string(words->size()));
        for (const std::string& word : *words) digest.add(word);
    }
    return digest.text();
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines(1);
    for (const char c : text)
        if (c == '\0')
            lines.emplace_back();
        else
            lines.back() += c;
    lines.pop_back();
    return lines;
}

// The program that was built of files with these contents; none where one has changed.
std::optional<std::string> cached(const fs::path& programs, const std::string& key) {
    const fs::path files = programs / (key + ".files");
    if (!why_not_ours(files).empty()) return std::nullopt;
    const auto list = read_whole(files.string(), kLargestText);
    if (!list) return std::nullopt;
    const auto contents = digest_of_files(lines_of(*list));
    if (!contents) return std::nullopt;
    const fs::path program = programs / (key + "-" + *contents);
    std::error_code error;
    if (!why_not_ours(program).empty() || !fs::is_regular_file(program, error)) return std::nullopt;
    fs::last_write_time(program, fs::file_time_type::clock::now(), error);
    fs::last_write_time(files, fs::file_time_type::clock::now(), error);
    return program.string();
}

}  // namespace

Result<std::string> find_library(const std::string& name, const char* variable, const std::string& what_for) {
    if (const char* given = std::getenv(variable); given != nullptr && given[0] != '\0')
        return std::string(given);
    std::error_code error;
    const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path& folder :
         {here, here / TILESCOPE_INSTALLED_LIBRARIES, here / ".." / "lib", here / ".."}) {
        const fs::path path = folder / name;
        if (fs::is_regular_file(path, error)) return fs::canonical(path, error).string();
    }
    return Error{fmt::format("{}, {}, is not beside this program in '{}'; build it, or name it with {}", name,
                             what_for, here.string(), variable)};
}

Result<std::string> find_runtime() {
    return find_library("libtilescope_cudart.so", "TILESCOPE_CUDART", "which programs are linked with");
}

Result<std::string> kept_source(const std::string& text) {
    const auto folder = cache_folder("sources");
    if (!folder) return folder.error();
    tidy(*folder);
    const std::string path = (*folder / (Digest().add(text).text() + ".cpp")).string();
    if (const auto there = read_whole(path, kLargestText);
        there && *there == text && why_not_ours(path).empty())
        return path;
    if (const std::string why = write_whole(path, text); !why.empty())
        return Error{fmt::format("'{}' cannot be written: {}; make room in the cache", path, why)};
    return path;
}

Result<std::string> compile_device(const fs::path& source, const CompileOptions& options,
                                   Complaint* complaint) {
    auto tools = tools_of(options);
    if (!tools) return tools.error();
    auto programs = cache_folder("programs");
    if (!programs) return programs.error();
    auto work = WorkFolder::make(*programs);
    if (!work) return work.error();
    const std::string stem = (work->path() / "device").string();
    const auto overlay = overlay_of(source, stem);
    if (!overlay) return overlay.error();
    std::string said;
    auto ptx = device_ptx(*tools, source, stem, *overlay, options, said);
    if (complaint != nullptr) complaint->said = said;
    return ptx;
}

Result<Built> build(const fs::path& source, const CompileOptions& options, Complaint* complaint) {
    std::error_code error;
    if (!fs::is_regular_file(source, error))
        return Error{fmt::format("there is no file '{}'; give the path of a .cu file", source.string())};
    auto tools = tools_of(options);
    if (!tools) return tools.error();
    auto runtime = find_runtime();
    if (!runtime) return runtime.error();
    auto programs = cache_folder("programs");
    if (!programs) return programs.error();
    const std::string key = key_of(source, *tools, *runtime),
                      made_by = tools->nvcc.path.empty()
                                    ? tools->compiler.version
                                    : tools->nvcc.version + " with " + tools->compiler.version;
    if (auto program = cached(*programs, key)) return Built{std::move(*program), made_by, "", true};

    tidy(*programs);
    auto work = WorkFolder::make(*programs);
    if (!work) return work.error();
    const auto before = digest_of_files({source.string()});
    Build making(*tools, options, work->path());
    const auto make = [&]() -> Result<void> {
        std::vector<fs::path> sources = {source};
        for (const std::string& file : tools->flags.files) {
            const std::string ending = fs::path(file).extension().string();
            if (!fs::is_regular_file(file, error))
                return Error{fmt::format("--flags names '{}', which is not there", file)};
            if (ending == ".o" || ending == ".a" || ending == ".so")
                making.add_object(file);
            else if (!fs::equivalent(file, source, error))
                sources.emplace_back(file);
        }
        for (const fs::path& one : sources)
            if (auto made = making.compile(one); !made) return made;
        return making.link(*runtime, work->path() / "program");
    };
    const auto made = make();
    if (complaint != nullptr) complaint->said = making.said;
    if (!made) return made.error();

    std::sort(making.files.begin(), making.files.end());
    making.files.erase(std::unique(making.files.begin(), making.files.end()), making.files.end());
    const auto contents = digest_of_files(making.files);
    if (!contents || digest_of_files({source.string()}) != before)
        return Error{
            fmt::format("'{}' or a header changed while it was compiled; try again", source.string())};
    const fs::path program = *programs / (key + "-" + *contents);
    fs::permissions(work->path() / "program", fs::perms::owner_all, error);
    fs::rename(work->path() / "program", program, error);
    if (error)
        return Error{fmt::format("'{}' cannot be made: {}; make room in the cache", program.string(),
                                 error.message())};
    std::string list;
    for (const std::string& file : making.files) list += file + '\0';
    if (const std::string why = write_whole((*programs / (key + ".files")).string(), list); !why.empty())
        return Error{
            fmt::format("the cache '{}' cannot be written: {}; make room there", programs->string(), why)};
    fs::permissions(*programs / (key + ".files"), fs::perms::owner_read | fs::perms::owner_write, error);
    return Built{program.string(), made_by, making.said, false};
}

}  // namespace tilescope::program
