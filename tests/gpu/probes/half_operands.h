// What the probe of half precision (halves.cu) gives a GPU, and simt_half_hardware_test.cpp the interpreter: the operands
// of case `index` of an instruction, and the hash by which its results are compared.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#define TILESCOPE_BOTH __host__ __device__ inline
#else
#define TILESCOPE_BOTH inline
#endif

namespace half_operands {

constexpr uint32_t kCases = 65536, kBlock = 1024;  // of an instruction; results that share a hash

TILESCOPE_BOTH uint32_t mixed(uint32_t x) {
    x ^= x >> 16, x *= 0x7FEB352Du, x ^= x >> 15, x *= 0x846CA68Bu;
    return x ^ x >> 16;
}

// A number of 1 + 15 bits: special ones first, then such as have exponents near to each other or at an end.
TILESCOPE_BOTH uint32_t half(bool brain, uint32_t seed) {
    const int fraction = brain ? 7 : 10;
    const uint32_t infinity = brain ? 0x7F80u : 0x7C00u, one = brain ? 0x3F80u : 0x3C00u,
                   least = 1u << fraction;
    const uint32_t random = mixed(seed), sign = random & 0x8000u;
    const uint32_t special[] = {
        0, 1, least - 1, least, one - 1, one, one + 1, infinity - 1, infinity, infinity + 1, 0x7FFF};
    if (random % 8 == 0) return sign | special[(random >> 4) % 11];
    const uint32_t more = mixed(seed + 0x9E3779B9u), exponents = infinity >> fraction;
    const uint32_t near[] = {more % 3, exponents - 1 - more % 3, exponents / 2 + more % 12 - 6,
                             more % exponents};
    const uint32_t digits = (more >> 8) & (least - 1) & ~((1u << (random >> 20) % (fraction + 1)) - 1);
    return sign | near[(random >> 8) % 4] << fraction | digits;
}

// Bits of a float whose digits are those of a short float, halfway between two, or any.
TILESCOPE_BOTH uint32_t number(uint32_t seed) {
    const uint32_t random = mixed(seed), more = mixed(seed + 0x9E3779B9u), sign = random & 0x80000000u;
    const uint32_t special[] = {0,        1,          0x7FFFFF,   0x800000,   0x400000,
                                0x400001, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FFFFFFF};
    if (random % 16 == 0) return sign | special[(random >> 4) % 10];
    const uint32_t exponent = random % 4 == 1 ? more >> 24 : 96 + (more >> 24) % 56;
    return sign | exponent << 23 | ((more & 0x7FFFFFu) & ~((1u << (random >> 20) % 24) - 1));
}

struct Operands {
    uint32_t word[3];
};

// What an operand of an instruction is: 16 bits, a pair of such, or a float.
enum class Kind { Half, Pair, Float };

// alone: of one half, which are all there are.
TILESCOPE_BOTH Operands operands(Kind kind, bool brain, bool alone, uint32_t index) {
    Operands made{};
    for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t seed = index * 8 + k * 2;
        if (kind == Kind::Float)
            made.word[k] = number(seed);
        else if (alone)
            made.word[k] = kind == Kind::Half ? index : index | (index * 40503u + 1) << 16;
        else
            made.word[k] = half(brain, seed) | (kind == Kind::Pair ? half(brain, seed + 1) << 16 : 0u);
    }
    return made;
}

constexpr uint32_t kNoHash = 2166136261u;
TILESCOPE_BOTH uint32_t hashed(uint32_t hash, uint32_t result) {
    for (int byte = 0; byte < 4; ++byte) hash = (hash ^ (result >> 8 * byte & 0xFF)) * 16777619u;
    return hash;
}

}  // namespace half_operands
