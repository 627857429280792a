// Random tiles through every form of mma, mma.sp and wmma.mma on a GPU and in the interpreter, the same PTX: every bit
// of every sum must be equal. A table says how many are, and of others how far they are from the GPU's.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "core/simt/interpreter.h"
#include "core/simt/program.h"
#include "kernels/gpu/driver.h"
#include "tests/launches.h"
#include "tests/matrix_products.h"

namespace tilescope::gpu {
namespace {

using ptx::MatrixForm, ptx::MatrixRole, ptx::MatrixType;
using test::MatrixInstruction;

constexpr uint32_t kTiles = 10'240;

// What the elements of a tile are.
enum class Kind : uint8_t {
    Near,       // exponents near one
    Wide,       // or far from each other
    Spikes,     // few large ones among small ones
    Cancel,     // neighbours along k nearly cancel each other
    Subnormal,  // with the lowest exponents
    LargeC,     // C is larger than the products
    Powers,     // powers of two
    Bits,       // any bits, also such as are infinite or no number
};
constexpr uint32_t kKinds = 8;
constexpr const char* kKindNames[kKinds] = {"near",      "wide",    "spikes", "cancel",
                                            "subnormal", "large C", "powers", "bits"};

struct FloatFormat {
    int exponent = 0, fraction = 0;  // bits
    int shift = 0;                   // of the lowest
};
FloatFormat format_of(MatrixType type) {
    switch (type) {
        case MatrixType::F16: return {5, 10};
        case MatrixType::BF16: return {8, 7};
        case MatrixType::TF32: return {8, 10, 13};
        case MatrixType::F32: return {8, 23};
        case MatrixType::F64: return {11, 52};
        case MatrixType::E4M3: return {4, 3};
        default: return {5, 2};
    }
}

using Random = std::mt19937_64;

uint64_t random_element(Kind kind, MatrixType type, bool is_c, Random& random) {
    const uint64_t bits = random();
    if (kind == Kind::Bits || ptx::is_integer(type)) return bits;
    const FloatFormat format = format_of(type);
    const int bias = (1 << (format.exponent - 1)) - 1;
    const auto within = [&](int low, int high) {
        return low + static_cast<int>((bits >> 54) % static_cast<uint64_t>(high - low + 1));
    };
    int e = bias + within(-2, 2);
    uint64_t fraction = bits & ((uint64_t{1} << format.fraction) - 1);
    switch (kind) {
        case Kind::Wide: {
            const int reach = format.exponent < 8 ? bias / 2 : 20;
            e = bias + within(-reach, reach);
            break;
        }
        case Kind::Spikes: e = bias + ((bits >> 53 & 1) != 0 ? within(-6, -3) : within(-6, 6)); break;
        case Kind::Subnormal: e = is_c ? 0 : within(0, std::max(1, bias - 8)); break;
        case Kind::LargeC:
            if (is_c) e = bias + within(4, 14);
            break;
        case Kind::Powers: {
            const int reach = std::min(bias - 1, 14);
            e = bias + within(-reach, reach), fraction = 0;
            break;
        }
        default: break;
    }
    if (bits % 61 == 0) e = 0, fraction = 0;
    const uint64_t number = static_cast<uint64_t>(std::clamp(e, 0, 2 * bias)) << format.fraction | fraction;
    return ((bits >> 52 & 1) << (format.exponent + format.fraction) | number) << format.shift;
}

// The fragments of a tile as product_kernel() takes them.
void random_tile(const MatrixForm& form, Kind kind, Random& random, uint64_t* words) {
    for (const MatrixRole role : {MatrixRole::A, MatrixRole::B, MatrixRole::C}) {
        const MatrixType type = form.type(role);
        const uint32_t size = ptx::bits_of(type), elements = form.elements(role);
        const uint64_t lowest = size == 64 ? ~uint64_t{0} : (uint64_t{1} << size) - 1;
        const uint64_t* const fragment = words;
        for (uint8_t i = 0; i < form.registers(role); ++i) {
            // Registers behind those that are needed hold the same once more.
            uint8_t held = 0;
            while (ptx::place_of(form, role, {0, held, 0}) != ptx::place_of(form, role, {0, i, 0})) ++held;
            for (uint8_t lane = 0; lane < kWarpSize; ++lane, ++words) {
                *words = held < i ? fragment[held * kWarpSize + lane] : size < 8 ? random() & 0xFFFF'FFFF : 0;
                if (held < i) continue;
                uint64_t last = 0;
                for (uint32_t e = 0; size >= 8 && e < elements; ++e) {
                    uint64_t one = random_element(kind, type, role == MatrixRole::C, random) & lowest;
                    if (kind == Kind::Cancel && role != MatrixRole::C && e % 2 == 1)
                        one = last ^ (role == MatrixRole::A ? (lowest >> 1) + 1 : random() & 1);
                    *words |= one << e * size, last = one;
                }
            }
        }
    }
    if (!form.sparse) return;
    const bool alone = form.type(MatrixRole::A) == MatrixType::TF32;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane, ++words) {
        *words = 0;
        for (int shift = 0; shift < 32; shift += 4) {
            constexpr uint64_t kTwo[] = {0b0100, 0b1110, 0b1000, 0b1100, 0b1001, 0b1101};
            *words |= kTwo[random() % (alone ? 2 : 6)] << shift;
        }
    }
}

// How many numbers of its type lie between two; 0 and -0 are one apart.
double apart(MatrixType type, uint64_t a, uint64_t b) {
    const uint32_t size = ptx::bits_of(type);
    const auto line = [&](uint64_t bits) {
        const uint64_t sign = uint64_t{1} << (size - 1);
        const auto number = static_cast<double>(bits & (sign - 1));
        return (bits & sign) != 0 ? -1 - number : number;
    };
    return std::fabs(line(a) - line(b));
}

bool is_nan(MatrixType type, uint64_t bits) {
    if (ptx::is_integer(type)) return false;
    const FloatFormat format = format_of(type);
    const uint64_t size = bits & ((uint64_t{1} << (format.exponent + format.fraction)) - 1);
    return size > ((uint64_t{1} << format.exponent) - 1) << format.fraction;
}

constexpr size_t kParts = 16;  // that are made beside each other
constexpr size_t kind_of(size_t tile) { return tile / kParts % kKinds; }

std::vector<uint64_t> random_tiles(const MatrixForm& form, uint64_t seed) {
    const size_t words = size_t{kWarpSize} * test::factor_registers(form);
    std::vector<uint64_t> tiles(words * kTiles);
    std::vector<std::thread> threads;
    for (size_t part = 0; part < kParts; ++part)
        threads.emplace_back([&, part] {
            Random random(seed * kParts + part);
            for (size_t tile = part; tile < kTiles; tile += kParts)
                random_tile(form, static_cast<Kind>(kind_of(tile)), random, &tiles[tile * words]);
        });
    for (std::thread& thread : threads) thread.join();
    return tiles;
}
std::string hex_of(const uint64_t* words, size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += fmt::format("{:x}{}", words[i], i % 32 == 31 ? '\n' : ' ');
    return text;
}

TEST(RecordMatrix, EverySumIsTheGpus) {
    const auto opened = Device::open();
    if (!opened) GTEST_SKIP() << "needs an NVIDIA GPU";
    Device& device = **opened;
    uint64_t instructions = 0;
    std::string wrong_tiles;
    std::printf("%-78s %10s %10s  %s\n", "instruction (selector)", "elements", "equal",
                "NaN of other bits, largest distance of others in last places, kinds of tiles");
    for (const MatrixInstruction& instruction : test::all_products()) {
        const MatrixForm& form = instruction.form;
        const std::string ptx = test::product_kernel(instruction);
        const std::string name = fmt::format("{} ({})", instruction.text, instruction.selector);
        const size_t in_words = size_t{kWarpSize} * test::factor_registers(form),
                     out_words = size_t{kWarpSize} * form.registers(MatrixRole::D);
        const std::vector<uint64_t> in = random_tiles(form, ++instructions);
        std::vector<uint64_t> cpu(out_words * kTiles), gpu(out_words * kTiles);

        const auto on_in = device.allocate(in.size() * 8, "in"),
                   on_out = device.allocate(gpu.size() * 8, "out");
        ASSERT_TRUE(on_in && on_out && device.upload(*on_in, 0, in.data(), in.size() * 8));
        ASSERT_TRUE(device.fill(*on_out, 0));
        const auto function = device.load(ptx, "matrix.ptx", "k");
        if (!function) {
            ADD_FAILURE() << name << ": " << function.error().message;
            continue;
        }
        const auto ms =
            device.launch(*function, {kTiles}, {kWarpSize}, {on_in->address(), on_out->address()});
        ASSERT_TRUE(ms) << name << ": " << ms.error().message;
        ASSERT_TRUE(device.download(gpu.data(), *on_out, 0, gpu.size() * 8));

        const auto module = ptx::parse(ptx, "matrix.ptx");
        ASSERT_TRUE(module) << name << ": " << module.error().message;
        const auto program = simt::prepare(*module, "k");
        ASSERT_TRUE(program) << name << ": " << program.error().message;
        simt::GlobalMemory memory;
        const auto bases = simt::place_buffers({in.size() * 8, cpu.size() * 8});
        memory.buffers = {{"in", bases[0], simt::Bytes(in.size() * 8)},
                          {"out", bases[1], simt::Bytes(cpu.size() * 8)}};
        std::memcpy(memory.buffers[0].bytes.data(), in.data(), in.size() * 8);
        std::memset(memory.buffers[1].bytes.data(), 0, cpu.size() * 8);
        Launch launch;
        launch.grid = {kTiles}, launch.block = {kWarpSize};
        launch.arguments = test_arguments({bases[0], bases[1]});
        const auto outcome = simt::run(**program, launch, memory, {},
                                       [](const simt::BlockId&) -> simt::BlockObserver* { return nullptr; });
        ASSERT_TRUE(outcome && outcome->complete) << name;
        std::memcpy(cpu.data(), memory.buffers[1].bytes.data(), cpu.size() * 8);

        const MatrixType type = form.type(MatrixRole::D);
        const uint32_t size = ptx::bits_of(type), elements = form.elements(MatrixRole::D);
        uint64_t equal = 0, all = 0, nans = 0;
        double largest = 0;
        std::array<uint64_t, kKinds> unequal{};
        size_t first_wrong = kTiles;
        for (size_t i = 0; i < gpu.size(); ++i)
            for (uint32_t e = 0; e < elements; ++e) {
                const uint64_t lowest = size == 64 ? ~uint64_t{0} : (uint64_t{1} << size) - 1;
                const uint64_t a = cpu[i] >> e * size & lowest, b = gpu[i] >> e * size & lowest;
                ++all;
                if (a == b) {
                    ++equal;
                    continue;
                }
                const size_t tile = i / out_words;
                ++unequal[kind_of(tile)];
                first_wrong = std::min(first_wrong, tile);
                if (is_nan(type, a) && is_nan(type, b)) {
                    ++nans;
                    continue;
                }
                largest = std::max(largest, apart(type, a, b));
            }
        std::string kinds;
        for (size_t kind = 0; kind < kKinds; ++kind)
            if (unequal[kind] > 0) kinds += fmt::format(" {} {},", kKindNames[kind], unequal[kind]);
        std::printf("%-78s %10llu %10llu  %s\n", name.c_str(), static_cast<unsigned long long>(all),
                    static_cast<unsigned long long>(equal),
                    equal == all ? "" : fmt::format("{} {:g}{}", nans, largest, kinds).c_str());
        std::fflush(stdout);
        EXPECT_EQ(equal, all) << name;
        if (first_wrong < kTiles)
            wrong_tiles += fmt::format(
                "{}, tile {}: A, B, C and metadata, D of the GPU, of the CPU [register][lane]\n{}{}{}", name,
                first_wrong, hex_of(in.data() + first_wrong * in_words, in_words),
                hex_of(gpu.data() + first_wrong * out_words, out_words),
                hex_of(cpu.data() + first_wrong * out_words, out_words));
    }
    std::printf("%s", wrong_tiles.c_str());
    EXPECT_GT(instructions, 200u);
}

}  // namespace
}  // namespace tilescope::gpu
