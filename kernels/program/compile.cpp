#include "kernels/program/compile.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "core/base/process.h"
#include "core/base/words.h"
#include "kernels/program/cache.h"
#include "kernels/program/complaint.h"
#include "kernels/program/flags.h"
#include "kernels/program/source.h"
#include "kernels/program/whole_copies.h"

namespace tilescope::program {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kDeadline = 5min;                       // of one file; a compiler that takes longer hangs
constexpr uint64_t kMostMemory = uint64_t{4} << 30;    // bytes that a compiler may take for it
constexpr uint64_t kLargestPtx = uint64_t{256} << 20;  // bytes
constexpr int kOldest = 13, kNewest = 30;              // versions of clang

// What everything is compiled with.
struct Tools {
    Compiler compiler, nvcc;  // nvcc: without a path where clang makes the PTX
    fs::path headers;
    Flags flags;
    std::string arch;  // flags.arch, or the newest before it that this clang knows
};

int capability_of(const std::string& arch) { return std::atoi(arch.c_str() + 3); }

// The newest architecture up to `wanted` that the compiler makes PTX for; `wanted` where there is none. PTX is
// read here and not run on a device, so a program for a newer one is no worse off.
std::string known_arch(const Compiler& compiler, const std::string& wanted) {
    std::vector<std::string> candidates = {wanted};
    for (const int capability : {120, 100, 90, 89, 86, 80, 75, 70})
        if (capability <= capability_of(wanted)) candidates.push_back(fmt::format("sm_{}", capability));
    if (capability_of(wanted) < 70) candidates.push_back(Flags().arch);
    for (const std::string& arch : candidates) {
        const auto ran =
            run_process({compiler.path, "-x", "cuda", "--cuda-path=/nonexistent", "-nocudainc", "-nocudalib",
                         "--cuda-device-only", "--cuda-gpu-arch=" + arch, "-fsyntax-only", "/dev/null"},
                        30s);
        if (ran && ran->status == 0) return arch;
    }
    return wanted;
}

Result<Tools> tools_of(const CompileOptions& options) {
    auto words = split_words(options.flags);
    if (!words) return words.error();
    auto flags = flags_of(*words);
    if (!flags) return flags.error();
    auto compiler = find_compiler();
    if (!compiler) return compiler.error();
    auto headers = headers_folder();
    if (!headers) return headers.error();
    if (!options.own_main.empty()) {
        flags->files.push_back(options.own_main);
        flags->compile.emplace_back("-Dmain=tilescope_other_main");
    }
    Tools tools{std::move(*compiler), {}, std::move(*headers), std::move(*flags), Flags().arch};
    if (tools.flags.arch != tools.arch) tools.arch = known_arch(tools.compiler, tools.flags.arch);
    if (options.nvcc) {
        auto nvcc = find_nvcc();
        if (!nvcc) return nvcc.error();
        tools.nvcc = std::move(*nvcc);
    }
    return tools;
}

bool is_cuda(const fs::path& path) { return path.extension() == ".cu"; }

// A name that begins with a dash would be a flag.
std::string file_word(const fs::path& path) {
    const std::string text = path.string();
    return text.rfind('-', 0) == 0 ? "./" + text : text;
}

// Flags of every pass. What nvcc takes without a word is no error here either.
std::vector<std::string> common_words(const Tools& tools) {
    std::vector<std::string> words = {
        tools.compiler.path,     "-std=" + tools.flags.standard,       "-Wno-c++11-narrowing",
        "-Wno-narrowing",        "-Wno-reserved-user-defined-literal", "-Wno-register",
        "-Wno-error=register",   "-Wno-unknown-cuda-version",          "-Wno-unused-command-line-argument",
        "-fno-color-diagnostics"};
    if (!tools.flags.warnings) words.push_back("-w");
    words.insert(words.end(), tools.flags.compile.begin(), tools.flags.compile.end());
    // Behind the folders that -I names, so that a sample's own helper_cuda.h comes first; before the
    // system's, where a toolkit may have its headers.
    words.insert(words.end(), {"-isystem", tools.headers.string()});
    return words;
}

std::vector<std::string> cuda_words(const Tools& tools) {
    std::vector<std::string> words = common_words(tools);
    words.insert(words.end(), {"-x", "cuda", "--cuda-path=/nonexistent", "-nocudainc", "-nocudalib",
                               "--cuda-gpu-arch=" + tools.arch, "-Xclang", "-target-sdk-version=11.5",
                               "-include", (tools.headers / "tilescope_cuda.h").string()});
    return words;
}

// PTX 7.0 knows all instructions that our headers use; sm_89 and later ask for more.
std::string ptx_feature(const std::string& arch) {
    const int capability = capability_of(arch);
    return capability >= 100  ? "+ptx86"
           : capability >= 89 ? "+ptx78"
           : capability >= 86 ? "+ptx71"
                              : "+ptx70";
}

// The flags of clang that nvcc has too: folders of headers and macros.
std::vector<std::string> nvcc_words(const Tools& tools, const fs::path& source, const fs::path& out) {
    const Flags& flags = tools.flags;
    std::string standard = flags.standard;
    if (standard.rfind("gnu", 0) == 0) standard.replace(0, 3, "c");
    std::vector<std::string> words = {tools.nvcc.path, "-ptx", "-lineinfo", "-std=" + standard};
    // Newer ones know no older devices than they start from where nothing is said.
    if (flags.arch != Flags().arch) words.push_back("-arch=" + flags.arch);
    if (!flags.warnings) words.push_back("-w");
    for (size_t at = 0; at < flags.compile.size(); ++at) {
        const std::string& flag = flags.compile[at];
        if (flag == "-fcuda-approx-transcendentals") words.push_back("-use_fast_math");
        for (const char* kept : {"-I", "-D", "-U", "-isystem", "-include"}) {
            if (flag.rfind(kept, 0) != 0) continue;
            words.push_back(flag);
            if (flag == kept && at + 1 < flags.compile.size()) words.push_back(flags.compile[++at]);
            break;
        }
    }
    words.insert(words.end(), {"-o", out.string(), file_word(source)});
    return words;
}

// The device's code, up to where LLVM begins to optimise it.
std::vector<std::string> device_words(const Tools& tools, const fs::path& source, const fs::path& out) {
    std::vector<std::string> words = cuda_words(tools);
    if (tools.arch != tools.flags.arch)  // what the program asks by #if
        words.insert(words.end(), {"-U__CUDA_ARCH__",
                                   fmt::format("-D__CUDA_ARCH__={}0", capability_of(tools.flags.arch))});
    words.insert(words.end(),
                 {"--cuda-device-only", "-O3", "-gline-tables-only", "-Xclang", "-disable-llvm-passes",
                  "-Xclang", "-target-feature", "-Xclang", ptx_feature(tools.arch), "-emit-llvm", "-S", "-o",
                  out.string(), file_word(source)});
    return words;
}

// The rest of the way, from that to PTX. Loops stay loops, so that a memory instruction of the PTX is an access of the
// source (kernels/textbook/make_ptx.sh).
std::vector<std::string> ptx_words(const Tools& tools, const fs::path& ir, const fs::path& out) {
    std::string contract = "-ffp-contract=fast";  // as for CUDA where nothing is said
    for (const std::string& flag : tools.flags.compile)
        if (flag.starts_with("-ffp-contract=")) contract = flag;
    return {tools.compiler.path,
            "-w",
            "-fno-color-diagnostics",
            "-x",
            "ir",
            "--target=nvptx64-nvidia-cuda",
            "-O3",
            contract,
            "-Xclang",
            "-target-cpu",
            "-Xclang",
            tools.arch,
            "-Xclang",
            "-target-feature",
            "-Xclang",
            ptx_feature(tools.arch),
            "-mllvm",
            "-unroll-threshold=0",
            "-mllvm",
            "-unroll-max-count=1",
            "-mllvm",
            "-unroll-full-max-count=1",
            "-mllvm",
            "-unroll-runtime=0",
            "-S",
            "-o",
            out.string(),
            ir.string()};
}

// Words by which the compiler reads a source with its launches' brackets in one piece, at its own place; none
// where it needs no mending. The files of it begin with `stem`.
Result<std::vector<std::string>> overlay_of(const fs::path& source, const fs::path& stem) {
    const auto text = read_whole(source.string(), kLargestPtx);
    if (!text) return text.error();
    const auto mended = with_whole_brackets(*text);
    if (!mended) return std::vector<std::string>{};
    const std::string copy = stem.string() + ".mended.cu", overlay = stem.string() + ".yaml";
    std::error_code error;
    const nlohmann::json file = {{"name", fs::absolute(source, error).lexically_normal().string()},
                                 {"type", "file"},
                                 {"external-contents", copy}};
    const nlohmann::json map = {
        {"version", 0}, {"use-external-names", false}, {"roots", nlohmann::json::array({file})}};
    const std::string json = map.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    for (const auto& [path, words] : {std::pair{copy, *mended}, {overlay, json}})
        if (const std::string why = write_whole(path, words); !why.empty())
            return Error{fmt::format("'{}' cannot be written: {}; make room in the cache", path, why)};
    return std::vector<std::string>{"-ivfsoverlay", overlay};
}

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

// Whether LLVM or the C++ library wrote that they got no memory.
bool ran_out_of_memory(const std::string& said) {
    return std::ranges::any_of(std::array{"out of memory", "std::bad_alloc", "Cannot allocate memory"},
                               [&](const char* words) { return said.find(words) != std::string::npos; });
}

// One call of the compiler; what it said goes to `said`.
Result<void> call(std::vector<std::string> words, const CompileOptions& options, const std::string& what,
                  std::string& said) {
    const auto ran = run_process(std::move(words), kDeadline, options.stop, kMostMemory);
    if (!ran) return ran.error();
    if (ran->stopped) return Error{"stopped; nothing was run"};
    // A compiler without memory says so and dumps its own stack, which helps nobody.
    if (ran->status != 0 && ran_out_of_memory(ran->err))
        return Error{fmt::format(
            "the compiler needs more than the {} of memory that it may take for '{}'; give it less",
            bytes_text(kMostMemory), what)};
    said += ran->out + ran->err;
    if (ran->too_late)
        return Error{fmt::format("the compiler took more than five minutes for '{}'; give it less", what)};
    if (ran->status == 0) return {};
    const std::string missing = missing_call(ran->err);
    return Error{missing.empty()
                     ? fmt::format("'{}' does not compile; the compiler's words stand above", what)
                     : missing};
}

// PTX of the kernels of a .cu file, whose other files begin with `stem`. overlay: words of overlay_of().
Result<std::string> device_ptx(const Tools& tools, const fs::path& source, const std::string& stem,
                               const std::vector<std::string>& overlay, const CompileOptions& options,
                               std::string& said) {
    const std::string ir = stem + ".ll", ptx = stem + ".ptx";
    if (!tools.nvcc.path.empty()) {
        std::vector<std::string> words = nvcc_words(tools, source, ptx);
        words.insert(words.end(), overlay.begin(), overlay.end());
        if (auto made = call(std::move(words), options, source.string(), said); !made) return made.error();
        return read_whole(ptx, kLargestPtx);
    }
    std::vector<std::string> words = device_words(tools, source, ir);
    words.insert(words.end(), overlay.begin(), overlay.end());
    if (auto made = call(std::move(words), options, source.string(), said); !made) return made.error();
    const auto text = read_whole(ir, kLargestPtx);
    if (!text) return text.error();
    if (const std::string why = write_whole(ir, with_whole_copies(*text)); !why.empty())
        return Error{fmt::format("'{}' cannot be written: {}; make room in the cache", ir, why)};
    if (auto made = call(ptx_words(tools, ir, ptx), options, source.string(), said); !made)
        return made.error();
    return read_whole(ptx, kLargestPtx);
}

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
        host.insert(host.end(), {"-O2", "-fwrapv", "-fPIC", "-MD", "-MF", rule.string(), "-c", "-o",
                                 object.string(), file_word(source)});
        // What the device pass said comes again.
        std::string again;
        auto made = call(std::move(host), options_, source.string(), again);
        if (!is_cuda(source) || !made || said.empty()) said += again;
        if (!made) return made;
        objects_.push_back(object.string());
        if (const auto text = read_whole(rule.string(), kLargestPtx))
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
    digest.add(tools.nvcc.path).add(tools.nvcc.version);
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
    const auto list = read_whole(files.string(), kLargestPtx);
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

Result<Compiler> find_compiler() {
    std::vector<std::string> names;
    const char* given = std::getenv("TILESCOPE_CLANG");
    if (given != nullptr && given[0] != '\0') {
        names = {given};
    } else {
        for (int version = kNewest; version >= kOldest; --version)
            names.push_back(fmt::format("clang++-{}", version));
        names.push_back("clang++");
    }
    for (const std::string& name : names) {
        const std::string path = find_program(name);
        if (path.empty()) continue;
        const auto ran = run_process({path, "--version"}, 30s);
        if (!ran || ran->status != 0) continue;
        const size_t at = ran->out.find("clang version ");
        if (at == std::string::npos) continue;
        const std::string version = ran->out.substr(at, ran->out.find_first_of(" \n(", at + 14) - at);
        if (std::atoi(version.c_str() + 14) < kOldest) continue;
        return Compiler{path, version};
    }
    if (given != nullptr && given[0] != '\0')
        return Error{fmt::format(
            "TILESCOPE_CLANG names '{}', which is no clang++ of version {} or newer; name another one", given,
            kOldest)};
    return Error{
        fmt::format("CUDA programs are compiled by clang, which is not installed; install the package clang, "
                    "version {} or newer",
                    kOldest)};
}

Result<Compiler> find_nvcc() {
    const char* given = std::getenv("TILESCOPE_NVCC");
    const bool named = given != nullptr && given[0] != '\0';
    for (const std::string& name : named ? std::vector<std::string>{given}
                                         : std::vector<std::string>{"nvcc", "/usr/local/cuda/bin/nvcc"}) {
        const std::string path = find_program(name);
        if (path.empty()) continue;
        const auto ran = run_process({path, "--version"}, 30s);
        constexpr std::string_view kRelease = "release ";
        const size_t at = ran && ran->status == 0 ? ran->out.find(kRelease) : std::string::npos;
        if (at == std::string::npos) continue;
        const size_t first = at + kRelease.size();
        return Compiler{path,
                        "nvcc " + ran->out.substr(first, ran->out.find_first_of(" ,\n", first) - first)};
    }
    return Error{named ? fmt::format("TILESCOPE_NVCC names '{}', which is no nvcc; name another one", given)
                       : std::string("nvcc of the CUDA Toolkit is not on this machine; leave out --compiler "
                                     "nvcc, and clang makes the PTX")};
}

Result<std::string> find_runtime() {
    if (const char* given = std::getenv("TILESCOPE_CUDART"); given != nullptr && given[0] != '\0')
        return std::string(given);
    std::error_code error;
    const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path& folder :
         {here, here / TILESCOPE_INSTALLED_LIBRARIES, here / ".." / "lib", here / ".."}) {
        const fs::path path = folder / "libtilescope_cudart.so";
        if (fs::is_regular_file(path, error)) return fs::canonical(path, error).string();
    }
    return Error{fmt::format(
        "libtilescope_cudart.so, which programs are linked with, is not beside this program in '{}'; "
        "build it, or name it with TILESCOPE_CUDART",
        here.string())};
}

Result<std::string> kept_source(const std::string& text) {
    const auto folder = cache_folder("sources");
    if (!folder) return folder.error();
    tidy(*folder);
    const std::string path = (*folder / (Digest().add(text).text() + ".cpp")).string();
    if (const auto there = read_whole(path, kLargestPtx);
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
