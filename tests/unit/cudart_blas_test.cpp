// cuBLAS against the sums that its manual writes down, element by element, on small whole numbers: every result is exact.
#include <complex>
#include <random>
#include <vector>

#include "kernels/cudart/include/cublas_v2.h"
#include "tests/unit/cudart_program.h"

namespace tilescope::cudart::test {
namespace {

using Exact = std::complex<double>;

template <class T>
T of(Exact value) {
    if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<T>(value.real());
    } else {
        T made;
        made.x = static_cast<decltype(made.x)>(value.real()),
        made.y = static_cast<decltype(made.y)>(value.imag());
        return made;
    }
}
template <class T>
Exact exact(const T& value) {
    if constexpr (std::is_arithmetic_v<T>)
        return static_cast<double>(value);
    else
        return {value.x, value.y};
}

template <class T>
struct Api;
#define API(X, T, outer)                              \
    template <>                                       \
    struct Api<T> {                                   \
        static constexpr auto gemm = cublas##X##gemm; \
        static constexpr auto gemv = cublas##X##gemv; \
        static constexpr auto symm = cublas##X##symm; \
        static constexpr auto syrk = cublas##X##syrk; \
        static constexpr auto trmm = cublas##X##trmm; \
        static constexpr auto trsm = cublas##X##trsm; \
        static constexpr auto geam = cublas##X##geam; \
        static constexpr auto dgmm = cublas##X##dgmm; \
        static constexpr auto symv = cublas##X##symv; \
        static constexpr auto trsv = cublas##X##trsv; \
        static constexpr auto trmv = cublas##X##trmv; \
        static constexpr auto axpy = cublas##X##axpy; \
        static constexpr auto scal = cublas##X##scal; \
        static constexpr auto copy = cublas##X##copy; \
        static constexpr auto swap = cublas##X##swap; \
        static constexpr auto ger = outer;            \
    };
API(S, float, cublasSger)
API(D, double, cublasDger)
API(C, cuComplex, cublasCgerc)
API(Z, cuDoubleComplex, cublasZgerc)
#undef API

// A matrix in device memory with rows below it that nobody may touch.
template <class T>
struct Matrix {
    int rows, cols, ld;
    T* device;
    std::vector<T> host;
    Matrix(std::mt19937& random, int r, int c) : rows(r), cols(c), ld(r + static_cast<int>(random() % 3)) {
        host.resize(static_cast<size_t>(ld * cols));
        for (T& value : host)
            value = of<T>({static_cast<double>(random() % 9) - 4, static_cast<double>(random() % 9) - 4});
        device = allocate<T>(host.size());
        send();
    }
    void send() { cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice); }
    void expect(const std::function<Exact(int, int)>& wanted, const std::string& what) {
        std::vector<T> got(host.size());
        cudaMemcpy(got.data(), device, got.size() * sizeof(T), cudaMemcpyDeviceToHost);
        for (int col = 0; col < cols; ++col)
            for (int row = 0; row < ld; ++row) {
                const auto at = static_cast<size_t>(col * ld + row);
                EXPECT_EQ(exact(got[at]), row < rows ? wanted(row, col) : exact(host[at]))
                    << what << " row " << row << " column " << col;
            }
    }
    Exact at(int row, int col) const { return exact(host[static_cast<size_t>(col * ld + row)]); }
    Exact at(cublasOperation_t op, int row, int col) const {
        const Exact value = op == CUBLAS_OP_N ? at(row, col) : at(col, row);
        return op == CUBLAS_OP_C ? std::conj(value) : value;
    }
};

cublasOperation_t any_op(std::mt19937& random) { return static_cast<cublasOperation_t>(random() % 3); }

// deep: what is added to the length of the sums.
template <class T>
void test_gemm(cublasHandle_t h, std::mt19937& random, int deep = 0) {
    const auto ta = any_op(random), tb = any_op(random);
    const int m = 1 + static_cast<int>(random() % 6), n = 1 + static_cast<int>(random() % 6),
              k = static_cast<int>(random() % 6) + deep;
    Matrix<T> a(random, ta ? k + !k : m, ta ? m : k + !k), b(random, tb ? n : k + !k, tb ? k + !k : n),
        c(random, m, n);
    const Exact alpha = static_cast<double>(random() % 3), beta = static_cast<double>(random() % 3);
    const T al = of<T>(alpha), be = of<T>(beta);
    ASSERT_EQ(Api<T>::gemm(h, ta, tb, m, n, k, &al, a.device, a.ld, b.device, b.ld, &be, c.device, c.ld),
              CUBLAS_STATUS_SUCCESS);
    const auto sum = [&](int row, int col) {
        Exact s = 0;
        for (int l = 0; l < k; ++l) s += a.at(ta, row, l) * b.at(tb, l, col);
        return s;
    };
    c.expect([&](int row, int col) { return alpha * sum(row, col) + beta * c.at(row, col); }, "gemm");
    if (k == 0) return;
    const int rows = a.rows, cols = a.cols;
    Matrix<T> in(random, 1, ta ? rows : cols), out(random, 1, ta ? cols : rows);
    ASSERT_EQ(Api<T>::gemv(h, ta, rows, cols, &al, a.device, a.ld, in.device, in.ld, &be, out.device, out.ld),
              CUBLAS_STATUS_SUCCESS);
    out.expect(
        [&](int, int col) {
            Exact s = 0;
            for (int l = 0; l < in.cols; ++l) s += a.at(ta, col, l) * in.at(0, l);
            return alpha * s + beta * out.at(0, col);
        },
        "gemv");
}

// Symmetric and triangular matrices; systems are made from their solutions.
template <class T>
void test_halves(cublasHandle_t h, std::mt19937& random) {
    const bool left = random() % 2, lower = random() % 2, unit = random() % 2;
    const auto op = any_op(random);
    const auto side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    const auto uplo = lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    const auto diag = unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    const int m = 1 + static_cast<int>(random() % 5), n = 1 + static_cast<int>(random() % 5),
              s = left ? m : n;
    Matrix<T> a(random, s, s), b(random, m, n), c(random, m, n);
    for (int i = 0; i < s; ++i)  // what is divided by
        a.host[static_cast<size_t>(i * a.ld + i)] = of<T>(random() % 2 ? 2.0 : -1.0);
    a.send();
    const Exact alpha = 2, beta = 3;
    const T al = of<T>(alpha), be = of<T>(beta);
    const auto mirrored = [&](int row, int col) {
        return (row > col) == lower || row == col ? a.at(row, col) : a.at(col, row);
    };
    const auto filled = [&](int row, int col) -> Exact {
        if (row == col) return unit ? 1 : a.at(row, col);
        return (row > col) == lower ? a.at(row, col) : 0;
    };
    const auto turned = [&](int row, int col) {
        const Exact value = op == CUBLAS_OP_N ? filled(row, col) : filled(col, row);
        return op == CUBLAS_OP_C ? std::conj(value) : value;
    };
    const auto times = [&](const auto& first, int row, int col) {
        Exact sum = 0;
        for (int l = 0; l < s; ++l) sum += left ? first(row, l) * b.at(l, col) : b.at(row, l) * first(l, col);
        return sum;
    };
    ASSERT_EQ(Api<T>::symm(h, side, uplo, m, n, &al, a.device, a.ld, b.device, b.ld, &be, c.device, c.ld),
              CUBLAS_STATUS_SUCCESS);
    c.expect([&](int row, int col) { return alpha * times(mirrored, row, col) + beta * c.at(row, col); },
             "symm");
    ASSERT_EQ(
        Api<T>::trmm(h, side, uplo, op, diag, m, n, &al, a.device, a.ld, b.device, b.ld, c.device, c.ld),
        CUBLAS_STATUS_SUCCESS);
    c.expect([&](int row, int col) { return alpha * times(turned, row, col); }, "trmm");
    // alpha * T * X was made; 1 / alpha of it solves to X.
    const T half = of<T>(0.5);
    ASSERT_EQ(Api<T>::trsm(h, side, uplo, op, diag, m, n, &half, a.device, a.ld, c.device, c.ld),
              CUBLAS_STATUS_SUCCESS);
    c.expect([&](int row, int col) { return b.at(row, col); }, "trsm");

    Matrix<T> v(random, 1, s), w(random, 1, s);
    ASSERT_EQ(Api<T>::symv(h, uplo, s, &al, a.device, a.ld, v.device, v.ld, &be, w.device, w.ld),
              CUBLAS_STATUS_SUCCESS);
    const auto along = [&](const auto& first, int row) {
        Exact sum = 0;
        for (int l = 0; l < s; ++l) sum += first(row, l) * v.at(0, l);
        return sum;
    };
    w.expect([&](int, int col) { return alpha * along(mirrored, col) + beta * w.at(0, col); }, "symv");
    ASSERT_EQ(Api<T>::trmv(h, uplo, op, diag, s, a.device, a.ld, v.device, v.ld), CUBLAS_STATUS_SUCCESS);
    v.expect([&](int, int col) { return along(turned, col); }, "trmv");
    ASSERT_EQ(Api<T>::trsv(h, uplo, op, diag, s, a.device, a.ld, v.device, v.ld), CUBLAS_STATUS_SUCCESS);
    v.expect([&](int, int col) { return v.at(0, col); }, "trsv");

    const auto flip = op == CUBLAS_OP_N ? CUBLAS_OP_N : CUBLAS_OP_T;
    const int depth = flip ? b.rows : b.cols, width = flip ? b.cols : b.rows;
    Matrix<T> whole(random, width, width);
    ASSERT_EQ(Api<T>::syrk(h, uplo, flip, width, depth, &al, b.device, b.ld, &be, whole.device, whole.ld),
              CUBLAS_STATUS_SUCCESS);
    whole.expect(
        [&](int row, int col) {
            if ((row > col) != lower && row != col) return whole.at(row, col);
            Exact sum = 0;
            for (int l = 0; l < depth; ++l)
                sum += flip ? b.at(l, row) * b.at(l, col) : b.at(row, l) * b.at(col, l);
            return alpha * sum + beta * whole.at(row, col);
        },
        "syrk");
}

template <class T>
void test_rest(cublasHandle_t h, std::mt19937& random) {
    const int m = 1 + static_cast<int>(random() % 5), n = 1 + static_cast<int>(random() % 5);
    const auto ta = any_op(random), tb = any_op(random);
    Matrix<T> a(random, ta ? n : m, ta ? m : n), b(random, tb ? n : m, tb ? m : n), c(random, m, n),
        d(random, m, n);
    Matrix<T> x(random, 1, m), y(random, 1, n);
    const Exact alpha = 2, beta = static_cast<double>(random() % 2);
    const T al = of<T>(alpha), be = of<T>(beta);
    EXPECT_EQ(Api<T>::geam(h, ta, tb, m, n, &al, a.device, a.ld, &be, b.device, b.ld, c.device, c.ld),
              CUBLAS_STATUS_SUCCESS);
    c.expect([&](int row, int col) { return alpha * a.at(ta, row, col) + beta * b.at(tb, row, col); },
             "geam");
    EXPECT_EQ(Api<T>::ger(h, m, n, &al, x.device, x.ld, y.device, y.ld, d.device, d.ld),
              CUBLAS_STATUS_SUCCESS);
    d.expect(
        [&](int row, int col) { return d.at(row, col) + alpha * x.at(0, row) * std::conj(y.at(0, col)); },
        "ger");
    Matrix<T> e(random, m, n), f(random, m, n);
    EXPECT_EQ(Api<T>::dgmm(h, CUBLAS_SIDE_LEFT, m, n, e.device, e.ld, x.device, x.ld, f.device, f.ld),
              CUBLAS_STATUS_SUCCESS);
    f.expect([&](int row, int col) { return e.at(row, col) * x.at(0, row); }, "dgmm");
    // A negative increment begins at the end.
    Matrix<T> p(random, 1, n);
    EXPECT_EQ(Api<T>::axpy(h, n, &al, y.device, -y.ld, p.device, p.ld), CUBLAS_STATUS_SUCCESS);
    p.expect([&](int, int col) { return p.at(0, col) + alpha * y.at(0, n - 1 - col); }, "axpy");
    EXPECT_EQ(Api<T>::scal(h, n, &al, y.device, y.ld), CUBLAS_STATUS_SUCCESS);
    y.expect([&](int, int col) { return alpha * y.at(0, col); }, "scal");
    EXPECT_EQ(Api<T>::swap(h, n, p.device, p.ld, y.device, y.ld), CUBLAS_STATUS_SUCCESS);
    p.expect([&](int, int col) { return alpha * y.at(0, col); }, "swap");
    EXPECT_EQ(Api<T>::copy(h, n, p.device, p.ld, y.device, y.ld), CUBLAS_STATUS_SUCCESS);
    y.expect([&](int, int col) { return alpha * y.at(0, col); }, "copy");
}

TEST(CudartBlas, EveryOperationIsTheManualsSum) {
    expect_program([] {
        std::mt19937 random(1);
        cublasHandle_t h = nullptr;
        ASSERT_EQ(cublasCreate(&h), CUBLAS_STATUS_SUCCESS);
        for (int trial = 0; trial < 40 && !::testing::Test::HasFailure(); ++trial) {
            test_gemm<float>(h, random), test_gemm<double>(h, random);
            test_gemm<cuComplex>(h, random), test_gemm<cuDoubleComplex>(h, random);
            // Strips of 256, and a rest.
            test_gemm<double>(h, random, 510), test_gemm<cuComplex>(h, random, 510);
            test_halves<float>(h, random), test_halves<double>(h, random);
            test_halves<cuComplex>(h, random), test_halves<cuDoubleComplex>(h, random);
            test_rest<float>(h, random), test_rest<double>(h, random);
            test_rest<cuComplex>(h, random), test_rest<cuDoubleComplex>(h, random);
        }
        EXPECT_EQ(cublasDestroy(h), CUBLAS_STATUS_SUCCESS);
    });
}

TEST(CudartBlas, SumsAreMadeInDoubleAndRoundedOnce) {
    expect_program([] {
        cublasHandle_t h = nullptr;
        cublasCreate(&h);
        const std::vector<float> in = {1e8f, 1, -1e8f, -2, 0, 2};
        float* const x = allocate<float>(in.size());
        cublasSetVector(6, 4, in.data(), 1, x, 1);
        const std::vector<float> ones(6, 1);
        float* const y = allocate<float>(6);
        cublasSetVector(6, 4, ones.data(), 1, y, 1);
        float result = 0;
        EXPECT_EQ(cublasSdot(h, 3, x, 1, y, 1, &result), CUBLAS_STATUS_SUCCESS);
        EXPECT_EQ(result, 1);
        cublasSnrm2(h, 2, x + 4, 1, &result);
        EXPECT_EQ(result, 2);
        cublasSasum(h, 3, x + 3, 1, &result);
        EXPECT_EQ(result, 4);
        int at = 0;
        cublasIsamax(h, 6, x, 1, &at);
        EXPECT_EQ(at, 1) << "the first of equal ones, counted from 1";
        cublasIsamin(h, 6, x, 1, &at);
        EXPECT_EQ(at, 5);
        // Squares that would overflow.
        const std::vector<double> big = {3e200, 4e200};
        double *const z = allocate<double>(2), length = 0;
        cublasSetVector(2, 8, big.data(), 1, z, 1);
        cublasDnrm2(h, 2, z, 1, &length);
        EXPECT_DOUBLE_EQ(length, 5e200);
        // The result in device memory.
        cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE);
        EXPECT_EQ(cublasSdot(h, 3, x, 1, y, 1, y + 5), CUBLAS_STATUS_SUCCESS);
        cublasGetVector(1, 4, y + 5, 1, &result, 1);
        EXPECT_EQ(result, 1);
    });
}

TEST(CudartBlas, TypesThatAreNamedWhenItRuns) {
    expect_program([] {
        cublasHandle_t h = nullptr;
        cublasCreate(&h);
        // 2 x 2, by columns: A = [1 3; 2 4], B = [5 7; 6 8]; A * B = [23 31; 34 46]
        const auto product = [&](auto type, cudaDataType in, cudaDataType out, auto result, auto scale,
                                 cublasComputeType_t compute) {
            using In = decltype(type);
            using Out = decltype(result);
            const std::vector<In> a = {In(1), In(2), In(3), In(4)}, b = {In(5), In(6), In(7), In(8)};
            In *const da = allocate<In>(4), *const db = allocate<In>(4);
            Out* const dc = allocate<Out>(4);
            cublasSetVector(4, sizeof(In), a.data(), 1, da, 1);
            cublasSetVector(4, sizeof(In), b.data(), 1, db, 1);
            const decltype(scale) one(1), zero(0);
            ASSERT_EQ(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, da, in, 2, db, in, 2, &zero,
                                   dc, out, 2, compute, CUBLAS_GEMM_DEFAULT),
                      CUBLAS_STATUS_SUCCESS);
            std::vector<Out> c(4);
            cublasGetMatrix(2, 2, sizeof(Out), dc, 2, c.data(), 2);
            EXPECT_EQ(static_cast<float>(c[0]), 23);
            EXPECT_EQ(static_cast<float>(c[1]), 34);
            EXPECT_EQ(static_cast<float>(c[2]), 31);
            EXPECT_EQ(static_cast<float>(c[3]), 46);
        };
        product(__half(), CUDA_R_16F, CUDA_R_16F, __half(), 0.0f, CUBLAS_COMPUTE_32F);
        product(__half(), CUDA_R_16F, CUDA_R_16F, __half(), __half(), CUBLAS_COMPUTE_16F);
        product(__half(), CUDA_R_16F, CUDA_R_32F, 0.0f, 0.0f, CUBLAS_COMPUTE_32F);
        product(__nv_bfloat16(), CUDA_R_16BF, CUDA_R_16BF, __nv_bfloat16(), 0.0f, CUBLAS_COMPUTE_32F);
        product(int8_t(), CUDA_R_8I, CUDA_R_32I, 0, 0, CUBLAS_COMPUTE_32I);
        product(int8_t(), CUDA_R_8I, CUDA_R_32F, 0.0f, 0.0f, CUBLAS_COMPUTE_32F);
        product(0.0f, CUDA_R_32F, CUDA_R_32F, 0.0f, 0.0f, CUBLAS_COMPUTE_32F_FAST_TF32);
        product(0.0, CUDA_R_64F, CUDA_R_64F, 0.0, 0.0, CUBLAS_COMPUTE_64F);
        const float one = 1;
        float* const a = allocate<float>(4);
        EXPECT_EQ(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, CUDA_R_32F, 2, a, CUDA_R_32F, 2,
                               &one, a, CUDA_R_16F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                  CUBLAS_STATUS_NOT_SUPPORTED);
        // Batches: strided, and by pointers in device memory. Each is 1 x 1.
        const std::vector<float> values = {2, 3, 5, 7};
        cublasSetVector(4, 4, values.data(), 1, a, 1);
        float *const c = allocate<float>(4), zero = 0, got[4] = {};
        EXPECT_EQ(cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a, 1, 1, a, 1, 0,
                                            &zero, c, 1, 1, 4),
                  CUBLAS_STATUS_SUCCESS);
        cublasGetVector(4, 4, c, 1, got, 1);
        EXPECT_EQ(got[3], 14);
        const std::vector<float*> in = {a + 3, a + 2}, out = {c, c + 1};
        float** const pointers = allocate<float*>(4);
        cudaMemcpy(pointers, in.data(), 16, cudaMemcpyHostToDevice);
        cudaMemcpy(pointers + 2, out.data(), 16, cudaMemcpyHostToDevice);
        EXPECT_EQ(cublasSgemmBatched(h, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 1, &one, pointers, 1, pointers, 1,
                                     &zero, pointers + 2, 1, 2),
                  CUBLAS_STATUS_SUCCESS);
        cublasGetVector(2, 4, c, 1, got, 1);
        EXPECT_EQ(got[0], 49);
        EXPECT_EQ(got[1], 25);
    });
}

TEST(CudartBlas, WhatIsWrongIsASentence) {
    const Ran ran = run_program([] {
        cublasHandle_t h = nullptr;
        float* const a = allocate<float>(16);
        float here[16] = {}, one = 1;
        EXPECT_EQ(cublasSscal(h, 4, &one, a, 1), CUBLAS_STATUS_NOT_INITIALIZED);
        cublasCreate(&h);
        EXPECT_EQ(cublasSscal(h, 17, &one, a, 1), CUBLAS_STATUS_EXECUTION_FAILED);
        EXPECT_EQ(cublasSscal(h, 4, &one, here, 1), CUBLAS_STATUS_EXECUTION_FAILED);
        EXPECT_EQ(cublasSscal(h, 4, a, a, 1), CUBLAS_STATUS_EXECUTION_FAILED);
        const auto gemm = [&](int lda) {
            return cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, a, lda, a, 4, &one, a, 4);
        };
        EXPECT_EQ(gemm(3), CUBLAS_STATUS_INVALID_VALUE) << "columns overlap";
        EXPECT_EQ(gemm(5), CUBLAS_STATUS_EXECUTION_FAILED);
        EXPECT_EQ(gemm(4), CUBLAS_STATUS_SUCCESS) << "what was wrong before is no sticky fault";
        EXPECT_STREQ(cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED");
    });
    EXPECT_EQ(ran.status, 0) << ran.out;
    const auto says = [&](const char* words) {
        EXPECT_NE(ran.err.find(words), std::string::npos) << ran.err;
    };
    says("x of cublasSscal reaches 4 bytes behind the end of its allocation of 64 bytes");
    says("x of cublasSscal is no device memory");
    says("alpha of cublasSscal lies in device memory");
    says("A of cublasSgemm reaches 12 bytes behind the end");
}

}  // namespace
}  // namespace tilescope::cudart::test
