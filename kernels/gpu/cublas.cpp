#include "kernels/gpu/cublas.h"

#include <bit>
#include <tuple>

#include <fmt/format.h>

#include "kernels/gpu/library.h"
#include "kernels/gpu/timing.h"

namespace tilescope::gpu {

namespace {

constexpr int kDefaultMath = 0;       // CUBLAS_DEFAULT_MATH
constexpr int kNotTransposed = 0;     // CUBLAS_OP_N
constexpr int kHalf = 2, kFloat = 0;  // CUDA_R_16F, CUDA_R_32F
constexpr int kFloatSums = 68;        // CUBLAS_COMPUTE_32F
constexpr int kAnyAlgorithm = -1;     // CUBLAS_GEMM_DEFAULT

Error failed(const char* call, int status) {
    return Error{fmt::format("cuBLAS is here but {} fails with status {}; leave it out with --no-cublas",
                             call, status)};
}

}  // namespace

// Declared by hand, so that no header of the CUDA Toolkit is needed.
struct Cublas::Api {
    int (*create)(void** handle) = nullptr;
    int (*destroy)(void* handle) = nullptr;
    int (*version)(void* handle, int* version) = nullptr;
    int (*set_math_mode)(void* handle, int mode) = nullptr;
    int (*sgemm)(void* handle, int op_a, int op_b, int m, int n, int k, const float* alpha, const float* a,
                 int lda, const float* b, int ldb, const float* beta, float* c, int ldc) = nullptr;
    int (*gemm_ex)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha, const void* a,
                   int type_a, int lda, const void* b, int type_b, int ldb, const void* beta, void* c,
                   int type_c, int ldc, int sums, int algorithm) = nullptr;
};

Cublas::Cublas(std::unique_ptr<Api> api, void* handle, std::string version)
    : api_(std::move(api)), handle_(handle), version_(std::move(version)) {}

Cublas::~Cublas() { api_->destroy(handle_); }

Result<std::unique_ptr<Cublas>> Cublas::open(Device& device) {
    const Library library = open_library(toolkit_names("cublas", {"13", "12", "11"}));
    if (!library) return std::unique_ptr<Cublas>{};
    auto api = std::make_unique<Api>();
    if (!find_symbol(library, "cublasCreate_v2", api->create) ||
        !find_symbol(library, "cublasDestroy_v2", api->destroy) ||
        !find_symbol(library, "cublasGetVersion_v2", api->version) ||
        !find_symbol(library, "cublasSetMathMode", api->set_math_mode) ||
        !find_symbol(library, "cublasSgemm_v2", api->sgemm) ||
        !find_symbol(library, "cublasGemmEx", api->gemm_ex)) {
        return Error{fmt::format("{} lacks functions of cuBLAS 11 and newer; leave it out with --no-cublas",
                                 library.name)};
    }
    // cuBLAS uses the thread's context: asking for the free memory makes it the device's.
    if (auto free = device.free_bytes(); !free) return free.error();
    void* handle = nullptr;
    if (const int status = api->create(&handle)) return failed("cublasCreate", status);
    int number = 0;
    api->version(handle, &number);  // 10000 * major + 100 * minor + patch
    std::unique_ptr<Cublas> cublas(new Cublas(
        std::move(api), handle, fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100)));
    if (const int status = cublas->api_->set_math_mode(handle, kDefaultMath))
        return failed("cublasSetMathMode", status);
    return cublas;
}

// cuBLAS reads a matrix by columns, so it sees ours transposed, and N^T M^T = P^T is P by rows.
Result<void> Cublas::multiply(const Operands& operands) {
    const auto pointer = [](const Memory& memory) { return std::bit_cast<float*>(memory.address()); };
    const int m = static_cast<int>(operands.shape.m), k = static_cast<int>(operands.shape.k),
              n = static_cast<int>(operands.shape.n);
    const float *const M = pointer(operands.M), *const N = pointer(operands.N);
    float* const P = pointer(operands.P);
    const float one = 1, zero = 0;
    if (operands.input == ElementType::F16) {
        if (const int status = api_->gemm_ex(handle_, kNotTransposed, kNotTransposed, n, m, k, &one, N, kHalf,
                                             n, M, kHalf, k, &zero, P, kFloat, n, kFloatSums, kAnyAlgorithm))
            return failed("cublasGemmEx", status);
        return {};
    }
    if (const int status =
            api_->sgemm(handle_, kNotTransposed, kNotTransposed, n, m, k, &one, N, n, M, k, &zero, P, n))
        return failed("cublasSgemm", status);
    return {};
}

// Every factor of M is 1 + 2^-12 and every factor of N is 1. TF32 keeps 10 bits behind the point, so it
// makes each product 1 and a sum exactly k; fp32 keeps it, and since no rounding to nearest takes a sum below
// the number of its terms, a sum stays above k.
Result<bool> Cublas::uses_plain_fp32(Device& device, const Operands& operands) {
    Operands probe;
    probe.shape = operands.shape;
    probe.P = operands.P;
    for (auto [memory, like, value] :
         {std::tuple{&probe.M, &operands.M, 1.0F + 0x1p-12F}, std::tuple{&probe.N, &operands.N, 1.0F}}) {
        auto allocated = device.allocate(like->bytes(), "the factors that TF32 would round");
        if (!allocated) return allocated.error();
        *memory = std::move(*allocated);
        if (auto good = device.fill32(*memory, std::bit_cast<uint32_t>(value), like->bytes() / 4); !good)
            return good.error();
    }
    if (auto good = spoil_product(device, operands); !good) return good.error();
    const auto ran = device.time_work([&] { return multiply(probe); }, "cuBLAS", 1);
    if (!ran) return ran.error();
    float last = 0;
    const uint64_t at = probe.P.bytes() - sizeof last;
    if (auto good = device.download(&last, probe.P, at, sizeof last); !good) return good.error();
    return last > static_cast<float>(probe.shape.k);
}

Result<std::optional<kernels::Timing>> time_cublas(Device& device, const kernels::Shape& shape,
                                                   const TimeOptions& options) {
    const auto operands = make_operands(device, shape);
    if (!operands) return operands.error();
    return time_cublas(device, *operands, options);
}

Result<std::optional<kernels::Timing>> time_cublas(Device& device, const Operands& operands,
                                                   const TimeOptions& options) {
    auto opened = Cublas::open(device);
    if (!opened) return opened.error();
    if (!*opened) return std::optional<kernels::Timing>{};
    Cublas& cublas = **opened;
    const bool halves = operands.input == ElementType::F16;
    const auto plain = halves ? true : cublas.uses_plain_fp32(device, operands);
    if (!plain) return plain.error();
    if (!*plain) {
        return Error{
            "cuBLAS rounds factors to TF32 here, so its time is not one of fp32; look for "
            "CUBLAS_ and NVIDIA_TF32 variables in the environment"};
    }

    LaunchOptions launch;
    launch.stop = options.stop;
    const auto multiply = [&] { return cublas.multiply(operands); };
    if (auto good = spoil_product(device, operands); !good) return good.error();
    if (auto first = device.time_work(multiply, "cuBLAS", 1, launch); !first) return first.error();
    const auto check = check_on_host(device, operands);
    if (!check) return check.error();
    if (!check->right) {
        return Error{
            fmt::format("cuBLAS {} gives a wrong result ({}), so its time is not shown; leave it out "
                        "with --no-cublas",
                        cublas.version(), check->why)};
    }
    if (options.warm_up > 1) {
        const auto warm = device.time_work(multiply, "cuBLAS", options.warm_up - 1, launch);
        if (!warm) return warm.error();
    }
    const auto times = device.time_work(multiply, "cuBLAS", options.runs, launch);
    if (!times) return times.error();
    kernels::Shape shape = operands.shape;
    shape.tile = 0;
    const std::string name(kernels::library_of(operands.input));
    kernels::Timing timing = timing_of(name, shape, *times);
    timing.verified = true;
    if (options.note) {
        options.note(fmt::format(
            "{} is {} of cuBLAS {}, default math: {}", name, halves ? "GemmEx" : "SGEMM", cublas.version(),
            halves ? "products of halves on tensor cores, sums in fp32" : "fp32 without TF32"));
    }
    return std::optional<kernels::Timing>{timing};
}

}  // namespace tilescope::gpu
