// What the programs of this folder and the unit tests that hold the model to their answers have in common: how an answer
// becomes a number, and the factors of products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilescope::test {

// A sum of numbers in their order (FNV-1a, by whole numbers instead of bytes).
struct AnswerSum {
    uint64_t value = 0xCBF29CE484222325;
    void add(uint64_t number) { value = (value ^ number) * 0x100000001B3; }
};

// What a byte that a copy wrote is: a byte of the source, a zero, or one of another constant.
enum AnswerByte : uint32_t { kFromSource, kZero, kConstant };

// Numbers that are the same everywhere.
struct AnswerDraw {
    uint64_t state;
    uint32_t below(uint32_t end) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        return (uint32_t)((state * 0x9E3779B97F4A7C15 >> 32) % end);
    }
};

// A product that is asked for. selector: of a sparse A, else -1.
struct AskedProduct {
    const char *a, *b, *d;
    int selector;
    bool negates, saturates;
};
inline const std::vector<AskedProduct>& asked_products() {
    static const std::vector<AskedProduct> all = {
        {"f16", "f16", "f32", -1, false, false},   {"f16", "f16", "f16", -1, false, false},
        {"bf16", "bf16", "f32", -1, false, false}, {"tf32", "tf32", "f32", -1, false, false},
        {"e4m3", "e4m3", "f32", -1, false, false}, {"e4m3", "e4m3", "f16", -1, false, false},
        {"e5m2", "e5m2", "f32", -1, false, false}, {"e5m2", "e5m2", "f16", -1, false, false},
        {"e4m3", "e5m2", "f32", -1, false, false}, {"s8", "s8", "s32", -1, false, false},
        {"u8", "u8", "s32", -1, false, false},     {"s8", "u8", "s32", -1, false, false},
        {"u8", "u8", "s32", -1, false, true},      {"b1", "b1", "s32", -1, false, false},
        {"f16", "f16", "f32", -1, true, false},    {"f16", "f16", "f32", 0, false, false},
        {"f16", "f16", "f32", 1, false, false},    {"tf32", "tf32", "f32", 0, false, false},
        {"tf32", "tf32", "f32", 1, false, false},  {"e4m3", "e4m3", "f32", 0, false, false},
        {"s8", "s8", "s32", 0, false, false},
    };
    return all;
}
constexpr int kAskedKinds = 12;
constexpr uint32_t kAskedColumns = 32;

// Words of a product: rows of A, of 32 bytes; columns of B, of 32 or 64; metadata by thread; C by thread, 16 of each.
struct AskedFactors {
    std::vector<uint32_t> a, b, metadata, c;
};

inline uint32_t asked_bits(const std::string& type) {
    return type == "f16" || type == "bf16" ? 16 : type[0] == 'e' || type == "s8" || type == "u8" ? 8 : 32;
}

// One element: of floats near each other, far apart, of all sizes, or special.
inline uint32_t asked_element(AnswerDraw& draw, const std::string& type, int kind) {
    const uint32_t any = draw.below(0xFFFFFFFF);
    const auto made = [&](uint32_t exponent_bits, uint32_t fraction_bits) {
        const uint32_t bias = (1u << (exponent_bits - 1)) - 1, most = 2 * bias + 1;
        uint32_t exponent = bias - 1 + draw.below(3);
        if (kind % 4 == 1) exponent = bias - 6 + draw.below(13);
        if (kind % 4 == 2) exponent = exponent_bits == 8 ? bias - 20 + draw.below(41) : draw.below(most);
        if (kind % 4 == 3) exponent = draw.below(8) ? bias - 3 + draw.below(6) : draw.below(most + 1);
        return (any & 1) << (exponent_bits + fraction_bits) | exponent << fraction_bits |
               (any >> 1 & ((1u << fraction_bits) - 1));
    };
    if (type == "f16") return made(5, 10);
    if (type == "bf16") return made(8, 7);
    if (type == "tf32" || type == "f32") return made(8, 23);
    if (type == "e4m3") return made(4, 3);
    if (type == "e5m2") return made(5, 2);
    return any;
}

inline AskedFactors asked_factors(const AskedProduct& product, size_t number, int kind) {
    AnswerDraw draw{0x9E3779B97F4A7C15 * (number * kAskedKinds + (uint64_t)kind + 1)};
    AskedFactors made;
    const auto fill = [&](std::vector<uint32_t>& words, size_t count, const char* type) {
        const uint32_t bits = asked_bits(type);
        words.resize(count);
        for (uint32_t& word : words)
            for (uint32_t at = 0; at < 32; at += bits) {
                const uint32_t element = asked_element(draw, type, kind);
                word |= (bits == 32 ? element : element & ((1u << bits) - 1)) << at;
            }
    };
    const bool sparse = product.selector >= 0;
    fill(made.a, 64 * 8, product.a);
    fill(made.b, kAskedColumns * (sparse ? 16 : 8), product.b);
    fill(made.c, 128 * 16, product.d);
    // Two different numbers of each group of four; of tf32 one half of each pair.
    made.metadata.resize(128);
    for (uint32_t& word : made.metadata)
        for (uint32_t at = 0; at < 32; at += 4) {
            constexpr uint32_t kPairs[] = {4, 8, 12, 9, 13, 14}, kHalves[] = {4, 14};
            word |= (asked_bits(product.a) == 32 ? kHalves[draw.below(2)] : kPairs[draw.below(6)]) << at;
        }
    if (kind >= 8)
        for (uint32_t& word : made.c) word = 0;
    if (kind == kAskedKinds - 1) {  // C alone, subnormal too
        for (uint32_t& word : made.a) word = draw.below(2) ? word & 0x80808080 : 0;
        for (uint32_t& word : made.c) word = draw.below(0xFFFFFFFF) & 0x83FF83FF;
    }
    return made;
}

}  // namespace tilescope::test
