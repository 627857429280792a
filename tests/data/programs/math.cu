// Holds the mathematical functions of device code against the host's of long double: the error of each, in ulp of
// the result's type, must stay below what the headers state. Prints those that do not.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

constexpr int kCount = 2048;

// Name, range, and ulp of double; of float 2, and from -30 to 30 at most.
#define FUNCTIONS(X)                                                                                      \
    X(exp, -700, 700, 1.2) X(exp2, -1000, 1000, 1.2) X(exp10, -300, 300, 1.2) X(log, 1e-300, 1e300, 1.2)  \
    X(log2, 1e-9, 1e9, 1.2) X(log10, 1e-9, 1e9, 1.2) X(log1p, -0.9, 50, 1.2) X(expm1, -2, 2, 4)           \
    X(sin, -1e5, 1e5, 1.2) X(cos, -1e5, 1e5, 1.2) X(tan, -50, 50, 4) X(asin, -1, 1, 4) X(acos, -1, 1, 4)  \
    X(atan, -100, 100, 4) X(sinh, -20, 20, 4) X(cosh, -20, 20, 4) X(tanh, -5, 5, 4)                       \
    X(asinh, -100, 100, 4) X(acosh, 1.5, 100, 4) X(atanh, -0.9, 0.9, 4) X(cbrt, -1e6, 1e6, 1.2)           \
    X(sqrt, 0, 1e9, 0.5) X(erf, -4, 4, 450) X(erfc, -4, 9, 450) X(lgamma, 3, 100, 450)                    \
    X(tgamma, 0.5, 30, 450)
#define POWERS(X) X(pow, 0.01, 100, 1.2) X(hypot, -1e3, 1e3, 1.2) X(fmod, -1e6, 1e6, 0) X(atan2, -10, 10, 4)

enum Function {
#define X(name, low, high, ulps) k_##name, k_##name##f,
    FUNCTIONS(X) POWERS(X)
#undef X
        kFunctions
};

template <class T>
__global__ void apply(int function, const T* x, const T* y, T* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    switch (function) {
#define X(name, low, high, ulps)                       \
    case k_##name: out[i] = (T)name((double)x[i]); break; \
    case k_##name##f: out[i] = (T)name##f((float)x[i]); break;
        FUNCTIONS(X)
#undef X
#define X(name, low, high, ulps)                                       \
    case k_##name: out[i] = (T)name((double)x[i], (double)y[i]); break;  \
    case k_##name##f: out[i] = (T)name##f((float)x[i], (float)y[i]); break;
        POWERS(X)
#undef X
    }
}

long double exp10l_(long double x) { return powl(10.0L, x); }
long double expected(int function, long double x, long double y) {
    switch (function) {
#define X(name, low, high, ulps) \
    case k_##name: case k_##name##f: return name##l(x);
#define exp10l exp10l_
        FUNCTIONS(X)
#undef X
#define X(name, low, high, ulps) \
    case k_##name: case k_##name##f: return name##l(x, y);
        POWERS(X)
#undef X
    }
    return 0;
}

template <class T>
double ulps_apart(T got, long double want) {
    const T near = (T)want;
    if (std::isnan(got) || std::isnan(near)) return std::isnan(got) && std::isnan(near) ? 0 : 1e9;
    if (std::isinf(near) || std::isinf(got)) return got == near ? 0 : 1e9;
    const long double one = fabsl((long double)std::nextafter(near, (T)INFINITY) - (long double)near);
    return (double)(fabsl((long double)got - want) / one);
}

int wrong = 0;

template <class T>
void check(const char* name, int function, double low, double high, double ulps, double powers) {
    std::vector<T> x(kCount), y(kCount), out(kCount);
    for (int i = 0; i < kCount; ++i) {
        x[i] = (T)(low + (high - low) * i / (kCount - 1));
        if (low > 0 && high / low > 1e6) x[i] = (T)(low * std::pow(high / low, (double)i / (kCount - 1)));
        y[i] = (T)(powers * (0.5 + (i * 37 % 101) / 101.0));
    }
    T *dx, *dy, *dout;
    cudaMalloc(&dx, kCount * sizeof(T));
    cudaMalloc(&dy, kCount * sizeof(T));
    cudaMalloc(&dout, kCount * sizeof(T));
    cudaMemcpy(dx, x.data(), kCount * sizeof(T), cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), kCount * sizeof(T), cudaMemcpyHostToDevice);
    apply<T><<<kCount / 128, 128>>>(function, dx, dy, dout);
    if (cudaMemcpy(out.data(), dout, kCount * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess) ++wrong;
    double most = 0;
    int at = 0;
    for (int i = 0; i < kCount; ++i) {
        const double apart = ulps_apart(out[i], expected(function, x[i], y[i]));
        if (apart > most) most = apart, at = i;
    }
    if (most <= ulps + 0.01) return;
    ++wrong;
    printf("%s%s(%.17g, %.17g) is %.17g, %.2f ulp from %.17g\n", name, sizeof(T) == 4 ? "f" : "", (double)x[at],
           (double)y[at], (double)out[at], most, (double)expected(function, x[at], y[at]));
}

int main() {
#define X(name, low, high, ulps)                          \
    check<double>(#name, k_##name, low, high, ulps, 1.5); \
    check<float>(#name, k_##name##f, std::fmax(low, low > 0 ? 1e-30 : -30), std::fmin(high, 30), 2, 1.5);
    FUNCTIONS(X)
    POWERS(X)
    puts(wrong ? "wrong" : "all within the stated error");
    return wrong ? 1 : 0;
}
