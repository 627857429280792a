// The approximate functions with the errors that the PTX ISA states for each, "Floating-Point Instructions":
// for the interpreter's results and for a GPU's.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tilescope {

struct ApproxFunction {
    std::string line;  // of PTX, over %D, %A and, with two operands, %B; all of them .f32
    float low = 0, high = 0;
    bool by_exponent = false;  // operands are spread over their exponents, not evenly
    bool relative = true;      // bound: of the result, or as it stands
    long double bound = 0;     // as the PTX ISA states it
    long double ours = 0;      // and what the interpreter keeps
    // A GPU's largest error as a share of `bound`. An H200's cosine is a little worse than the PTX ISA
    // states.
    long double of_a_gpu = 1;
    std::function<long double(long double, long double)> exact;
    bool two = false;  // operands

    // Operands; of the second one the same in the opposite order.
    std::vector<uint32_t> operands() const {
        std::mt19937_64 random(7);
        std::vector<uint32_t> v = {std::bit_cast<uint32_t>(low), std::bit_cast<uint32_t>(high)};
        const auto bits_of = [](double x) { return std::bit_cast<uint32_t>(static_cast<float>(x)); };
        for (int n = 0; n < 4000; ++n) {
            const double u = static_cast<double>(random() >> 11) * 0x1p-53;
            v.push_back(bits_of(by_exponent
                                    ? std::exp2(std::log2(low) + u * (std::log2(high) - std::log2(low)))
                                    : low + u * (static_cast<double>(high) - low)));
        }
        return v;
    }
    // The largest difference from `exact` that the manual allows, and the interpreter allows itself.
    long double allowed(long double correct) const { return relative ? bound * std::abs(correct) : bound; }
    long double allowed_to_us(long double correct) const { return allowed(correct) * (ours / bound); }
};

inline std::vector<ApproxFunction> approx_functions() {
    std::vector<ApproxFunction> all;
    const auto one = [&](const std::string& line, float low, float high, bool by_exponent, bool relative,
                         long double bound, long double ours, long double (*exact)(long double)) {
        all.push_back({line + " %D, %A;", low, high, by_exponent, relative, bound, ours, 1,
                       [exact](long double x, long double) { return exact(x); }});
    };
    const auto sine = [](long double x) { return std::sin(x); };
    const auto cosine = [](long double x) { return std::cos(x); };
    for (const std::string end : {".approx.f32", ".approx.ftz.f32"}) {
        one("ex2" + end, -125.0f, 127.9f, false, true, 0x1p-22L, 0x1p-22L,
            [](long double x) { return std::exp2(x); });
        one("lg2" + end, 0.5f, 2.0f, false, false, 0x1p-22L, 0x1p-22L,
            [](long double x) { return std::log2(x); });
        one("lg2" + end, 2.0f, 3e38f, true, true, 0x1p-22L, 0x1p-22L,
            [](long double x) { return std::log2(x); });
        one("rcp" + end, 1.2e-38f, 8e37f, true, true, 0x1p-23L, 0x1p-23L,
            [](long double x) { return 1 / x; });
        one("rsqrt" + end, 1.2e-38f, 3e38f, true, true, std::exp2(-22.9L), 0x1p-23L,
            [](long double x) { return 1 / std::sqrt(x); });
        one("sqrt" + end, 1.2e-38f, 3e38f, true, true, 0x1p-23L, 0x1p-23L,
            [](long double x) { return std::sqrt(x); });
        // From -2 pi to 2 pi, and from -100 pi to 100 pi.
        for (const auto& [name, exact] :
             {std::pair<const char*, long double (*)(long double)>{"sin", sine}, {"cos", cosine}}) {
            one(name + end, -6.2831f, 6.2831f, false, false, std::exp2(-20.5L), std::exp2(-20.5L), exact);
            if (std::string(name) == "cos")
                all.back().of_a_gpu = 1.05L;  // -4.9022960662841797: 6.81e-7, stated 6.74e-7
            one(name + end, -314.15f, 314.15f, false, false, std::exp2(-14.7L), 0x1p-20L, exact);
        }
    }
    one("tanh.approx.f32", -9.0f, 9.0f, false, true, 0x1p-11L, 0x1p-11L,
        [](long double x) { return std::tanh(x); });
    for (const char* line : {"div.approx.f32", "div.full.f32", "div.approx.ftz.f32", "div.full.ftz.f32"})
        all.push_back({std::string(line) + " %D, %A, %B;", 1e-18f, 1e18f, true, true, 2 * 0x1p-23L,
                       2 * 0x1p-23L, 1, [](long double a, long double b) { return a / b; }, true});
    return all;
}

}  // namespace tilescope
