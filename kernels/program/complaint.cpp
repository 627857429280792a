#include "kernels/program/complaint.h"

#include <algorithm>
#include <regex>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::program {

namespace {

struct OtherLibrary {
    const char* header;  // how its headers' or files' names begin
    const char* name;
};
constexpr OtherLibrary kLibraries[] = {{"cublasLt", "cuBLASLt"},
                                       {"cublasXt", "cuBLASXt"},
                                       {"cudalibxt", "cuBLASXt"},
                                       {"nvblas", "NVBLAS"},
                                       {"curand_", "this part of cuRAND"},
                                       {"cufft", "cuFFT"},
                                       {"cusparse", "cuSPARSE"},
                                       {"cusolver", "cuSOLVER"},
                                       {"cudnn", "cuDNN"},
                                       {"npp", "NPP"},
                                       {"nvrtc", "NVRTC"},
                                       {"nvvm", "libNVVM"},
                                       {"nvJitLink", "nvJitLink"},
                                       {"nvPTXCompiler", "the PTX compiler"},
                                       {"nvjpeg", "nvJPEG"},
                                       {"nvml", "NVML"},
                                       {"cupti", "CUPTI"},
                                       {"nvperf", "CUPTI"},
                                       {"cudaTypedefs", "the driver's interface"},
                                       {"cudaProfilerTypedefs", "the driver's interface"},
                                       {"cudaEGL", "EGL interoperability"},
                                       {"cuda_egl", "EGL interoperability"},
                                       {"cudaVDPAU", "VDPAU interoperability"},
                                       {"cuda_vdpau", "VDPAU interoperability"},
                                       {"cuda_fp6", "6-bit floating point"},
                                       {"cuda_fp4", "4-bit floating point"},
                                       {"generated_", "the driver's interface"},
                                       {"fatbinary", "the loader of device code"},
                                       {"nv_decode", "the decoder of names"},
                                       {"Openacc/", "OpenACC"},
                                       {"Openmp/", "OpenMP of the CUPTI"},
                                       {"cccl/", "libcu++"},
                                       {"cuda/std/", "libcu++"},
                                       {"cuda/", "libcu++"},
                                       {"nv/", "libcu++"},
                                       {"nvgraph", "nvGRAPH"},
                                       {"GL/", "OpenGL"},
                                       {"GLFW/", "OpenGL"},
                                       {"cuda_gl_interop", "OpenGL interoperability"},
                                       {"helper_gl", "OpenGL"},
                                       {"cudaGL", "OpenGL interoperability"},
                                       {"EGL/", "EGL"},
                                       {"vulkan/", "Vulkan"},
                                       {"mpi", "MPI"},
                                       {"nccl", "NCCL"},
                                       {"nvshmem", "NVSHMEM"},
                                       {"cutlass/", "CUTLASS"},
                                       {"cute/", "CUTLASS"},
                                       {"cooperative_groups/", "this part of cooperative groups"},
                                       {"cuda_awbarrier", "the older interface of asynchronous barriers"},
                                       {"opencv2/", "OpenCV"}};
// What a distribution has as a package: once it is installed, such programs compile.
constexpr OtherLibrary kPackages[] = {
    {"thrust/", "libthrust-dev"}, {"cub/", "libcub-dev"}, {"omp.h", "libomp-dev"}};

bool is_nvidias(const std::string& name) {
    static const std::regex pattern(
        "^(__)?(cuda[A-Z]|cu[A-Z][a-z]|cuda::|cublas|curand|cufft|cusparse|cusolver|cudnn|nvrtc|nvml|npp[a-z]"
        "|nvtx|tex[123]D|"
        "tex(Cubemap|1Dfetch)|surf[123]D|CU_|CUDA_|CUFFT|CUBLAS|CURAND|thrust|cooperative_groups|__nv_|wmma|"
        "nvcuda).*");
    return std::regex_match(name, pattern) || name == "texture" || name == "surface" || name == "wmma";
}

}  // namespace

std::string missing_call(std::string_view said) {
    const std::string text(said);
    std::smatch found;
    static const std::regex header(R"(fatal error: '([^'\n]+)' file not found)");
    if (std::regex_search(text, found, header)) {
        const std::string file = found[1];
        for (const OtherLibrary& package : kPackages)
            if (file.rfind(package.header, 0) == 0)
                return fmt::format("the program includes {}, which the package {} has; install it with apt",
                                   file, package.name);
        for (const OtherLibrary& library : kLibraries)
            if (file.rfind(library.header, 0) == 0)
                return fmt::format("the program includes {}, and {} is not part of Tilescope's runtime", file,
                                   library.name);
        return "";
    }
    // What a header of ours says of a function that it only declares.
    static const std::regex declared(R"(error: call to .* declared with 'error' attribute: ([^\n]+))");
    if (std::regex_search(text, found, declared)) return found[1];
    static const std::regex library_file(R"((?:cannot find|unable to find library) -l([A-Za-z0-9_]+))");
    if (std::regex_search(text, found, library_file))
        return fmt::format(
            "the program is linked with lib{}, which is not there; install it, or leave out of --flags "
            "what asks for it",
            found[1].str());
    static const std::regex launched(
        R"(:(\d+):\d+: error: reference to __global__ function '([^'\n]+)' in __(?:global|device|host__ __device)__ function)");
    if (std::regex_search(text, found, launched))
        return fmt::format(
            "device code launches the kernel {} at line {}, and Tilescope runs no dynamic parallelism; "
            "launch it from "
            "the host",
            found[2].str(), found[1].str());
    static const std::regex launched_by_newer(  // clang 22 names no kernel
        R"(:(\d+):\d+: error: kernel launch from __device__ or __global__ function requires)");
    if (std::regex_search(text, found, launched_by_newer))
        return fmt::format(
            "device code launches a kernel at line {}, and Tilescope runs no dynamic parallelism; launch it "
            "from the "
            "host",
            found[1].str());
    static const std::regex name(
        R"((?:use of undeclared identifier|unknown type name|undefined reference to|undefined symbol:|no type named|no template named|no member named|no matching function for call to|variable has incomplete type) ?['`"]?(?:struct |enum )?([A-Za-z_][A-Za-z0-9_:]*))");
    // Behind a name that it takes for a slip, the compiler goes on with the one that it proposes.
    static const std::regex proposed(R"(; did you mean '([^'\n]+)'\?)");
    std::set<std::string> seen;
    for (std::sregex_iterator at(text.begin(), text.end(), proposed), end; at != end; ++at)
        seen.insert((*at)[1]);
    std::vector<std::string> names;
    for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
        const std::string one = (*at)[1], behind = at->suffix();
        if (behind.starts_with("'; did you mean")) continue;  // a slip, whose right name is there
        if (is_nvidias(one) && seen.insert(one).second) names.push_back(one);
    }
    if (names.empty()) return "";
    return fmt::format("the program uses {}, which Tilescope's runtime does not have", listed(names, 3));
}

}  // namespace tilescope::program
