// Source: NVRTC user guide, "Basic usage", "Supported compile options" and "NVRTC version and architectures".
#include "kernels/gpu/nvrtc.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "kernels/gpu/context.h"
#include "kernels/gpu/library.h"

namespace tilescope::gpu {

namespace {

using Program = struct ProgramHandle*;

constexpr int kSuccess = 0, kCompilation = 6;  // nvrtcResult

struct Nvrtc {
    std::string file;
    int major = 0, minor = 0;
    int (*version)(int* major, int* minor) = nullptr;
    const char* (*error_string)(int code) = nullptr;
    int (*create)(Program* program, const char* source, const char* name, int headers,
                  const char* const* texts, const char* const* names) = nullptr;
    int (*compile)(Program program, int count, const char* const* options) = nullptr;
    int (*destroy)(Program* program) = nullptr;
    int (*ptx_bytes)(Program program, size_t* bytes) = nullptr;
    int (*ptx)(Program program, char* text) = nullptr;
    int (*log_bytes)(Program program, size_t* bytes) = nullptr;
    int (*log)(Program program, char* text) = nullptr;
    // Since CUDA 11.2; null before.
    int (*architecture_count)(int* count) = nullptr;
    int (*architectures)(int* list) = nullptr;
};

Result<Nvrtc> open_nvrtc() {
    const Library library = open_library(toolkit_names("nvrtc", {"13", "12", "11.2", "11.1", "11.0"}));
    if (!library) {
        return Error{
            "NVIDIA's run-time compiler (libnvrtc) was not found; install the CUDA Toolkit and set "
            "CUDA_HOME or LD_LIBRARY_PATH to where it is, or give a .ptx file"};
    }
    Nvrtc nvrtc;
    nvrtc.file = library.name;
    const bool whole = find_symbol(library, "nvrtcVersion", nvrtc.version) &&
                       find_symbol(library, "nvrtcGetErrorString", nvrtc.error_string) &&
                       find_symbol(library, "nvrtcCreateProgram", nvrtc.create) &&
                       find_symbol(library, "nvrtcCompileProgram", nvrtc.compile) &&
                       find_symbol(library, "nvrtcDestroyProgram", nvrtc.destroy) &&
                       find_symbol(library, "nvrtcGetPTXSize", nvrtc.ptx_bytes) &&
                       find_symbol(library, "nvrtcGetPTX", nvrtc.ptx) &&
                       find_symbol(library, "nvrtcGetProgramLogSize", nvrtc.log_bytes) &&
                       find_symbol(library, "nvrtcGetProgramLog", nvrtc.log);
    if (!whole || nvrtc.version(&nvrtc.major, &nvrtc.minor) != kSuccess) {
        return Error{
            fmt::format("{} lacks a function of NVIDIA's run-time compiler; install the CUDA Toolkit "
                        "11.0 or newer, or give a .ptx file",
                        library.name)};
    }
    find_symbol(library, "nvrtcGetNumSupportedArchs", nvrtc.architecture_count);
    find_symbol(library, "nvrtcGetSupportedArchs", nvrtc.architectures);
    return nvrtc;
}

// The newest compute capability that NVRTC knows and that is no newer than the one wanted: its PTX runs on
// every later device too. The wanted one where NVRTC does not tell.
Result<int> architecture_for(const Nvrtc& nvrtc, int wanted) {
    int count = 0;
    if (!nvrtc.architecture_count || !nvrtc.architectures || nvrtc.architecture_count(&count) != kSuccess ||
        count <= 0)
        return wanted;
    std::vector<int> known(static_cast<size_t>(count));
    if (nvrtc.architectures(known.data()) != kSuccess) return wanted;
    int best = 0;
    for (const int one : known)
        if (one <= wanted) best = std::max(best, one);
    if (best == 0) {
        return Error{
            fmt::format("NVRTC {}.{} makes PTX for compute capability {} and newer, not for {}; "
                        "install an older CUDA Toolkit, or give a .ptx file",
                        nvrtc.major, nvrtc.minor, *std::min_element(known.begin(), known.end()), wanted)};
    }
    return best;
}

// What NVRTC wrote by one of its pairs of functions: its size, and its bytes with a closing zero.
std::string text_by(int (*size)(Program, size_t*), int (*get)(Program, char*), Program program) {
    size_t bytes = 0;
    if (size(program, &bytes) != kSuccess || bytes == 0) return {};
    std::string text(bytes, '\0');
    if (get(program, text.data()) != kSuccess) return {};
    text.resize(std::min(text.find('\0'), text.size()));
    return text;
}

Error refusal(const Nvrtc& nvrtc, int code, const std::string& name, const std::string& log) {
    const std::string words = nvrtc.error_string(code);
    const std::string complaint = first_complaint(log);
    if (code == kCompilation && !complaint.empty())
        return Error{fmt::format("{} does not compile: {}; correct it and try again", name, complaint)};
    return Error{
        fmt::format("NVRTC {}.{} does not compile {}: {}{}{}; install the whole CUDA Toolkit, or "
                    "give a .ptx file",
                    nvrtc.major, nvrtc.minor, name, words, complaint.empty() ? "" : ", ", complaint)};
}

}  // namespace

Result<Compiled> compile(const std::string& source, const std::string& source_name, int compute_capability,
                         const std::string& define) {
    const auto opened = open_nvrtc();
    if (!opened) return opened.error();
    const Nvrtc& nvrtc = *opened;
    const auto architecture = architecture_for(nvrtc, compute_capability);
    if (!architecture) return architecture.error();
    // wgmma is of compute capability 9.0 alone, and its name has an a then.
    const bool alone = *architecture == 90 && source.find("wgmma.") != std::string::npos;
    std::vector<std::string> options{
        fmt::format("--gpu-architecture=compute_{}{}", *architecture, alone ? "a" : ""), "-lineinfo",
        "-default-device"};
    if (!define.empty()) options.push_back("-D" + define);
    for (const std::string& home : toolkit_folders()) options.push_back(fmt::format("-I{}/include", home));
    std::vector<const char*> words;
    words.reserve(options.size());
    for (const std::string& option : options) words.push_back(option.c_str());

    Program program = nullptr;
    int code = nvrtc.create(&program, source.c_str(), source_name.c_str(), 0, nullptr, nullptr);
    if (code) return refusal(nvrtc, code, source_name, "");
    code = nvrtc.compile(program, static_cast<int>(words.size()), words.data());
    Compiled compiled{text_by(nvrtc.ptx_bytes, nvrtc.ptx, program),
                      fmt::format("NVRTC {}.{}", nvrtc.major, nvrtc.minor)};
    const std::string log = text_by(nvrtc.log_bytes, nvrtc.log, program);
    nvrtc.destroy(&program);
    if (code || compiled.ptx.empty()) return refusal(nvrtc, code, source_name, log);
    return compiled;
}

}  // namespace tilescope::gpu
