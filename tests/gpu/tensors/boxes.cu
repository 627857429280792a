// Asks a GPU of sm_90 where cp.async.bulk.tensor puts each byte of a box, and which tensor maps its driver refuses.
//
//   boxes FROM       random boxes from number FROM on, one a line; ends with status 3 at one that stops the GPU
//   boxes verdicts   maps of which one argument is at the edge of what is allowed
//   boxes values     what becomes of special values of each type, and of elements outside
//   boxes edge N     whether the N-th box that begins off its boundary stops the GPU; status 4 where there is none
//
// A line is `what`, the map, the box, the driver's verdict (0: taken) and what was written:
//
//   what type rank address e0-e4 s0-s3 b0-b4 es0-es4 interleave l2 swizzle nan im2col l0-l2 u0-u2 channels pixels
//   c0-c4 o0-o2 shared verdict state SUM
//
// state: 1; 0 if the bytes that were expected did not come, 2 if more came. SUM (answers.h) is of each byte that was
// written, in order: its offset, what it is, and the offset where it comes from (0 for constants); offsets in the buffer in
// global memory, and from a multiple of 1,024 in shared memory. With `whole` as the last argument runs FROM:TO:BYTES stand
// behind it. Bytes are told apart by four copies, each with six bits of their own offset.
//
// Build: nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -o boxes boxes.cu
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#include "answers.h"

namespace {

namespace test = tilescope::test;
bool whole = false;

constexpr size_t kBuffer = 4 << 20, kBase = 1 << 20;
constexpr uint32_t kShared = 96 << 10, kSlack = 1 << 10;
constexpr int kPasses = 4;
constexpr uint8_t kUntouched = 1;

struct Map {
    uint32_t type, rank;
    uint64_t address;  // offset in the buffer
    uint64_t extent[5], stride[4];
    uint32_t box[5], element_stride[5];
    uint32_t interleave, l2, swizzle, nan, im2col;
    int32_t lower[3], upper[3];
    uint32_t channels, pixels;
};
struct Box {
    int32_t at[5];
    uint16_t offset[3];
    uint32_t shared, bytes;
};

#define TILE(D, COORDS, ...)                                                        \
    asm volatile("cp.async.bulk.tensor." D                                          \
                 ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], " \
                 "[%1, {" COORDS "}], [%2];" ::"r"(to),                             \
                 "l"(&map), "r"(barrier), __VA_ARGS__                               \
                 : "memory")
#define IM2COL(D, COORDS, OFFSETS, ...)                                               \
    asm volatile("cp.async.bulk.tensor." D                                            \
                 ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], " \
                 "[%1, {" COORDS "}], [%2], {" OFFSETS "};" ::"r"(to),                \
                 "l"(&map), "r"(barrier), __VA_ARGS__                                 \
                 : "memory")
#define STORE(D, COORDS, ...)                                                                  \
    asm volatile("cp.async.bulk.tensor." D ".global.shared::cta.tile.bulk_group [%1, {" COORDS \
                 "}], [%0];" ::"r"(to),                                                        \
                 "l"(&map), __VA_ARGS__                                                        \
                 : "memory")

enum What : uint32_t { kLoad, kLoadColumn, kStore };

__global__ void ask(const __grid_constant__ CUtensorMap map, Box box, uint32_t rank, What what,
                    const uint8_t* given, uint8_t* got, uint64_t* state) {
    extern __shared__ uint8_t memory[];
    __shared__ uint64_t word;
    const uint32_t begin = (uint32_t)__cvta_generic_to_shared(memory), skip = (1024 - begin % 1024) % 1024;
    uint8_t* const tile = memory + skip;
    const uint32_t to = begin + skip + box.shared, barrier = (uint32_t)__cvta_generic_to_shared(&word);
    for (uint32_t i = threadIdx.x; i < kShared; i += blockDim.x)
        tile[i] = given != nullptr ? given[i] : kUntouched;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    const int32_t a = box.at[0], b = box.at[1], c = box.at[2], d = box.at[3], e = box.at[4];
    const uint16_t x = box.offset[0], y = box.offset[1], z = box.offset[2];
    if (what == kStore) {
        if (threadIdx.x == 0) {
            switch (rank) {
                case 1: STORE("1d", "%2", "r"(a)); break;
                case 2: STORE("2d", "%2, %3", "r"(a), "r"(b)); break;
                case 3: STORE("3d", "%2, %3, %4", "r"(a), "r"(b), "r"(c)); break;
                case 4: STORE("4d", "%2, %3, %4, %5", "r"(a), "r"(b), "r"(c), "r"(d)); break;
                default: STORE("5d", "%2, %3, %4, %5, %6", "r"(a), "r"(b), "r"(c), "r"(d), "r"(e));
            }
            asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
            *state = 1;
        }
        return;
    }
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(box.bytes)
                     : "memory");
        if (what == kLoadColumn) switch (rank) {
                case 3: IM2COL("3d", "%3, %4, %5", "%6", "r"(a), "r"(b), "r"(c), "h"(x)); break;
                case 4:
                    IM2COL("4d", "%3, %4, %5, %6", "%7, %8", "r"(a), "r"(b), "r"(c), "r"(d), "h"(x), "h"(y));
                    break;
                default:
                    IM2COL("5d", "%3, %4, %5, %6, %7", "%8, %9, %10", "r"(a), "r"(b), "r"(c), "r"(d), "r"(e),
                           "h"(x), "h"(y), "h"(z));
            }
        else
            switch (rank) {
                case 1: TILE("1d", "%3", "r"(a)); break;
                case 2: TILE("2d", "%3, %4", "r"(a), "r"(b)); break;
                case 3: TILE("3d", "%3, %4, %5", "r"(a), "r"(b), "r"(c)); break;
                case 4: TILE("4d", "%3, %4, %5, %6", "r"(a), "r"(b), "r"(c), "r"(d)); break;
                default: TILE("5d", "%3, %4, %5, %6, %7", "r"(a), "r"(b), "r"(c), "r"(d), "r"(e));
            }
    }
    uint32_t done = 0;
    for (const long long began = clock64(); done == 0 && clock64() - began < 100'000'000;)
        asm volatile(
            "{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, "
            "p;\n}"
            : "=r"(done)
            : "r"(barrier)
            : "memory");
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < kShared; i += blockDim.x) got[i] = tile[i];
    // A second phase, in which no bytes are expected, is over at once; bytes too many in the first would hold it.
    uint32_t over = 0;
    if (threadIdx.x == 0) {
        __nanosleep(10000);
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
        asm volatile(
            "{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], 1;\nselp.u32 %0, 1, 0, "
            "p;\n}"
            : "=r"(over)
            : "r"(barrier)
            : "memory");
        *state = done == 0 ? 0 : over == 0 ? 2 : 1;
    }
}

using Tiled = decltype(&cuTensorMapEncodeTiled);
using Column = decltype(&cuTensorMapEncodeIm2col);
Tiled encode_tiled;
Column encode_column;

void must(cudaError_t error, const char* what) {
    if (error == cudaSuccess) return;
    std::printf("stopped %s: %s\n", what, cudaGetErrorString(error));
    std::fflush(stdout);
    std::_Exit(3);
}

int encode(CUtensorMap* made, const Map& map, uint8_t* buffer) {
    uint64_t extent[5], stride[5];
    std::memcpy(extent, map.extent, sizeof extent);
    std::memcpy(stride, map.stride, sizeof map.stride);
    const auto type = (CUtensorMapDataType)map.type;
    const auto interleave = (CUtensorMapInterleave)map.interleave;
    const auto swizzle = (CUtensorMapSwizzle)map.swizzle;
    const auto promotion = (CUtensorMapL2promotion)map.l2;
    const auto fill = (CUtensorMapFloatOOBfill)map.nan;
    if (map.im2col)
        return encode_column(made, type, map.rank, buffer + map.address, (cuuint64_t*)extent,
                             (cuuint64_t*)stride, map.lower, map.upper, map.channels, map.pixels,
                             map.element_stride, interleave, swizzle, promotion, fill);
    return encode_tiled(made, type, map.rank, buffer + map.address, (cuuint64_t*)extent, (cuuint64_t*)stride,
                        map.box, map.element_stride, interleave, swizzle, promotion, fill);
}

const uint32_t kBytes[16] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 1, 1, 1};

std::string text(const char* what, const Map& map, const Box& box, int verdict) {
    std::string line = what;
    const auto put = [&](long long value) { line += " " + std::to_string(value); };
    put(map.type), put(map.rank), put((long long)map.address);
    for (uint64_t v : map.extent) put((long long)v);
    for (uint64_t v : map.stride) put((long long)v);
    for (uint32_t v : map.box) put(v);
    for (uint32_t v : map.element_stride) put(v);
    put(map.interleave), put(map.l2), put(map.swizzle), put(map.nan), put(map.im2col);
    for (int32_t v : map.lower) put(v);
    for (int32_t v : map.upper) put(v);
    put(map.channels), put(map.pixels);
    for (int32_t v : box.at) put(v);
    for (uint16_t v : box.offset) put(v);
    put(box.shared), put(verdict);
    return line;
}

test::AnswerDraw numbers;
uint32_t draw(uint32_t end) { return numbers.below(end); }
int32_t between(int32_t low, int32_t high) { return low + (int32_t)draw((uint32_t)(high - low + 1)); }

// A map that the documentation allows, and a box; false where it would not fit.
bool drawn(uint32_t number, What& what, Map& map, Box& box) {
    numbers.state = 0x1234567 + number * 0x9E3779B97F4A7C15ull;
    for (int i = 0; i < 8; ++i) draw(2);
    map = {}, box = {};
    what = number % 8 == 6 ? kStore : number % 8 == 7 ? kLoadColumn : kLoad;
    map.im2col = what == kLoadColumn;
    constexpr uint32_t kTypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    map.type = kTypes[draw(11)];
    map.rank = map.im2col ? between(3, 5) : between(1, 5);
    map.swizzle = draw(8) == 0 ? draw(7) : draw(4);
    map.l2 = draw(4);
    const bool floats = map.type >= 6;
    map.nan = floats && draw(2);
    const uint32_t bytes = kBytes[map.type], span = map.swizzle == 0  ? 256
                                                    : map.swizzle < 3 ? 16u << map.swizzle
                                                                      : 128;
    uint32_t row = draw(2) ? span : 16 * (1 + draw(span / 16));
    if (row / bytes > 256) row = 256 * bytes;
    const uint32_t elements = row / bytes;
    for (int i = 0; i < 5; ++i) map.box[i] = 1, map.extent[i] = 1, map.element_stride[i] = 1;
    const bool steps = draw(3) == 0;
    if (steps && draw(4) == 0) map.element_stride[0] = 1 + draw(8);
    uint32_t left = 16384 / row;
    if (map.im2col) {
        map.channels = elements, map.pixels = 1 + draw(left < 200 ? left : 200);
        map.box[0] = 1;
    } else {
        map.box[0] = elements;
        for (uint32_t i = 1; i < map.rank; ++i) {
            uint32_t count = 1 + draw(left < 24 ? left : 24);
            if (i == 1 && draw(3) == 0) count = 1 + draw(left < 128 ? left : 128);
            left /= count;
            if (steps && draw(2)) map.element_stride[i] = 1 + draw(8);
            map.box[i] =
                count * map.element_stride[i] - (map.element_stride[i] > 1 ? draw(map.element_stride[i]) : 0);
            if (map.box[i] > 256) return false;
        }
    }
    map.extent[0] = draw(2) ? elements + draw(2 * elements) : 1 + draw(2 * elements);
    uint64_t so_far = (map.extent[0] * bytes + 15) / 16 * 16;
    for (uint32_t i = 1; i < map.rank; ++i) {
        if (map.im2col) {
            map.extent[i] = 1 + draw(i + 1 == map.rank ? 4 : 14);
            if (steps && draw(2)) map.element_stride[i] = 1 + draw(4);
        } else {
            map.extent[i] = draw(3) == 0 ? 1 + draw(map.box[i]) : map.box[i] + draw(map.box[i] + 2);
        }
        map.stride[i - 1] = so_far + 16 * draw(4);
        so_far = map.stride[i - 1] * map.extent[i];
    }
    if (so_far > (2u << 20)) return false;
    map.address = kBase + 16 * draw(16);
    for (uint32_t i = 0; i < map.rank; ++i) {
        const int32_t reach = (int32_t)(map.im2col ? (i == 0 ? elements : 3) : map.box[i]);
        const auto extent = (int32_t)map.extent[i];
        box.at[i] = draw(2) ? between(0, extent - 1) : between(-reach - 1, extent + 1);
        if (draw(4) == 0) box.at[i] = 0;
    }
    // A box begins at a multiple of 16 bytes along dimension 0.
    const auto chunk = (int32_t)(16 / bytes);
    box.at[0] = (box.at[0] + 1024 * chunk) / chunk * chunk - 1024 * chunk;
    if (what == kStore)  // and is not stored to negative coordinates
        for (int32_t& at : box.at) at = at < 0 ? 0 : at;
    if (map.im2col)
        for (uint32_t i = 0; i + 2 < map.rank; ++i) {
            const auto extent = (int32_t)map.extent[i + 1];
            map.lower[i] = between(-3, 1), map.upper[i] = between(-3, 1);
            if (extent + map.upper[i] <= map.lower[i]) return false;
            box.at[i + 1] = between(map.lower[i], extent - 1 + map.upper[i]);
            box.offset[i] = (uint16_t)draw(4);
        }
    if (map.im2col && draw(8) != 0) box.at[map.rank - 1] = (int32_t)draw((uint32_t)map.extent[map.rank - 1]);
    box.shared = 128 * draw(24);
    uint64_t total = map.im2col ? uint64_t{map.pixels} * row : row;
    if (!map.im2col)
        for (uint32_t i = 1; i < map.rank; ++i)
            total *= (map.box[i] + map.element_stride[i] - 1) / map.element_stride[i];
    box.bytes = (uint32_t)total;
    const uint32_t pitch = row < span && map.swizzle != 0 ? span : row;
    return total / row * pitch <= 80 * 1024;
}

uint8_t digit(uint32_t offset, int pass) { return (uint8_t)(0x40 | (offset >> 6 * pass & 63)); }

// What was written, from the four copies, at the end of the line.
void add_answer(std::string& line, const std::vector<uint8_t>* copies, size_t size) {
    test::AnswerSum sum;
    std::string runs;
    long long from = -1, length = 0, to = 0;
    uint32_t kind = 0;
    const auto flush = [&] {
        if (length != 0)
            runs += " " +
                    (kind == test::kFromSource ? std::to_string(from)
                                               : std::string(kind == test::kZero ? "z" : "c")) +
                    ":" + std::to_string(to) + ":" + std::to_string(length);
        length = 0;
    };
    for (size_t i = 0; i < size; ++i) {
        uint8_t b[kPasses];
        for (int p = 0; p < kPasses; ++p) b[p] = copies[p][i];
        const bool constant = b[0] == b[1] && b[1] == b[2] && b[2] == b[3] && (b[0] < 0x40 || b[0] >= 0x7F);
        if (constant && b[0] == kUntouched) {
            flush();
            continue;
        }
        const uint32_t is = !constant ? test::kFromSource : b[0] == 0 ? test::kZero : test::kConstant;
        long long offset = 0;
        for (int p = 0; p < kPasses && !constant; ++p) offset |= (long long)(b[p] & 63) << 6 * p;
        sum.add(i), sum.add(is), sum.add((uint64_t)offset);
        if (length == 0 || is != kind || (is == test::kFromSource && offset != from + length)) {
            flush();
            kind = is, from = offset, to = (long long)i;
        }
        ++length;
    }
    flush();
    char number[20];
    std::snprintf(number, sizeof number, " %016llx", (unsigned long long)sum.value);
    line += number;
    if (whole) line += runs;
}

uint8_t *buffers[kPasses], *got, *given[kPasses];
uint64_t* state;

void boxes(uint32_t first, uint32_t count) {
    std::vector<uint8_t> host(kBuffer), copies[kPasses];
    for (int p = 0; p < kPasses; ++p) {
        for (size_t i = 0; i < kBuffer; ++i) host[i] = digit((uint32_t)i, p);
        must(cudaMemcpy(buffers[p], host.data(), kBuffer, cudaMemcpyHostToDevice), "at the start");
        must(cudaMemcpy(given[p], host.data(), kShared, cudaMemcpyHostToDevice), "at the start");
    }
    uint8_t* stored;
    must(cudaMalloc(&stored, kBuffer), "at the start");
    for (uint32_t number = first; number < count; ++number) {
        What what;
        Map map;
        Box box;
        if (!drawn(number, what, map, box)) continue;
        const char* const names[] = {"load", "column", "store"};
        CUtensorMap made[kPasses];
        int verdict = 0;
        for (int p = 0; p < kPasses; ++p)
            verdict = encode(&made[p], map, what == kStore ? stored : buffers[p]);
        std::string line = std::to_string(number) + " " + text(names[what], map, box, verdict);
        if (verdict != 0) {
            std::printf("%s\n", line.c_str());
            continue;
        }
        std::printf("asks %u\n", number);
        std::fflush(stdout);
        uint64_t ended = 0;
        for (int p = 0; p < kPasses; ++p) {
            if (what == kStore) must(cudaMemset(stored, kUntouched, kBuffer), line.c_str());
            ask<<<1, 128, kShared + kSlack>>>(made[p], box, map.rank, what,
                                              what == kStore ? given[p] : nullptr, got, state);
            must(cudaGetLastError(), line.c_str());
            must(cudaDeviceSynchronize(), line.c_str());
            copies[p].resize(what == kStore ? kBuffer : kShared);
            must(cudaMemcpy(copies[p].data(), what == kStore ? stored : got, copies[p].size(),
                            cudaMemcpyDeviceToHost),
                 line.c_str());
            must(cudaMemcpy(&ended, state, sizeof ended, cudaMemcpyDeviceToHost), line.c_str());
        }
        line += " " + std::to_string(ended);
        add_answer(line, copies, copies[0].size());
        std::printf("%s\n", line.c_str());
    }
}

Map plain() {
    Map map{};
    map.type = 6, map.rank = 3, map.address = kBase;
    for (int i = 0; i < 5; ++i) map.extent[i] = 1, map.box[i] = 1, map.element_stride[i] = 1;
    map.extent[0] = 64, map.extent[1] = 32, map.extent[2] = 8;
    map.stride[0] = 128, map.stride[1] = 4096, map.stride[2] = 32768, map.stride[3] = 32768;
    map.box[0] = 16, map.box[1] = 8, map.box[2] = 2;
    return map;
}

template <class Fn>
void verdict(const char* what, Map map, Fn change) {
    change(map);
    CUtensorMap made;
    const int result = encode(&made, map, buffers[0]);
    std::printf("%s\n", text(what, map, Box{}, result).c_str());
}

void verdicts() {
    const auto tiled = [&](const char* what, auto change) { verdict(what, plain(), change); };
    const auto column = [&](const char* what, auto change) {
        Map map = plain();
        map.im2col = 1, map.rank = 4, map.extent[3] = 4, map.channels = 16, map.pixels = 32;
        verdict(what, map, change);
    };
    tiled("plain", [](Map&) {});
    for (uint32_t v : {0u, 1u, 2u, 5u, 6u}) tiled("rank", [&](Map& m) { m.rank = v; });
    for (uint32_t v = 0; v < 17; ++v) {
        tiled("type", [&](Map& m) { m.type = v; });
        tiled("type_nan", [&](Map& m) { m.type = v, m.nan = 1; });
        tiled("type_box128", [&](Map& m) { m.type = v, m.box[0] = 128, m.extent[0] = 128; });
    }
    for (uint64_t v : {8, 16, 32, 4}) tiled("address", [&](Map& m) { m.address += v; });
    for (uint64_t v : {0ull, 1ull, 1ull << 32, (1ull << 32) + 1, (1ull << 32) - 1, 1ull << 40})
        for (int i : {0, 1, 2}) tiled("extent", [&](Map& m) { m.extent[i] = v; });
    for (uint64_t v : {0ull, 8ull, 16ull, 24ull, 64ull, 112ull, 120ull, 144ull, 1ull << 40, (1ull << 40) - 16,
                       1ull << 36, 1ull << 35, (1ull << 36) - 16, 1ull << 63})
        for (int i : {0, 1, 2}) tiled("stride", [&](Map& m) { m.stride[i] = v; });
    for (uint32_t v : {0u, 4u, 7u, 8u, 12u, 24u, 64u, 128u, 256u, 257u, 512u})
        for (int i : {0, 1, 2, 3}) tiled("box", [&](Map& m) { m.box[i] = v; });
    tiled("box_total", [](Map& m) { m.box[0] = 64, m.box[1] = 256, m.box[2] = 256; });
    tiled("box_total", [](Map& m) { m.box[0] = 256, m.box[1] = 256, m.box[2] = 2; });
    for (uint32_t bytes : {1u, 2u, 4u})
        for (uint32_t rows : {240u, 248u, 250u, 252u, 255u, 256u})
            for (uint32_t two : {1u, 2u, 3u, 4u, 5u, 8u})
                tiled("box_total",
                      [&](Map& m) { m.type = bytes >> 1, m.box[0] = 256, m.box[1] = rows, m.box[2] = two; });
    for (uint32_t row : {64u, 80u, 96u, 104u, 112u, 113u, 114u, 115u, 116u, 120u, 128u})
        for (uint32_t bytes : {1u, 2u, 4u, 8u})
            tiled("box_total", [&](Map& m) {
                m.type = bytes == 8 ? 4 : bytes >> 1, m.box[0] = 16, m.box[1] = row, m.box[2] = 128 / bytes;
            });
    for (uint32_t rows : {128u, 227u, 228u, 229u, 256u})
        for (uint32_t swizzle : {0u, 3u})
            tiled("box_total",
                  [&](Map& m) { m.box[0] = 8, m.box[1] = rows, m.box[2] = 8, m.swizzle = swizzle; });
    for (uint32_t stride : {1u, 4u, 8u})
        tiled("box_total",
              [&](Map& m) { m.box[0] = 256, m.box[1] = 256, m.box[2] = 4, m.element_stride[2] = stride; });
    for (uint32_t v : {0u, 1u, 2u, 8u, 9u, 16u})
        for (int i : {0, 1, 2, 3}) tiled("element_stride", [&](Map& m) { m.element_stride[i] = v; });
    for (uint32_t v = 0; v < 9; ++v)
        for (uint32_t box : {8u, 16u, 32u, 64u, 128u})
            tiled("swizzle", [&](Map& m) { m.swizzle = v, m.box[0] = box; });
    for (uint32_t v = 0; v < 4; ++v)
        for (uint32_t swizzle = 0; swizzle < 4; ++swizzle)
            for (uint32_t rank = 2; rank < 5; ++rank)
                tiled("interleave", [&](Map& m) { m.interleave = v, m.swizzle = swizzle, m.rank = rank; });
    for (uint32_t v : {8u, 4u, 16u, 32u})
        tiled("interleave_box", [&](Map& m) { m.interleave = 1, m.box[0] = v; });
    for (uint32_t v : {8u, 4u, 16u, 32u})
        tiled("interleave_box", [&](Map& m) { m.interleave = 2, m.swizzle = 1, m.box[0] = v; });
    for (uint32_t v : {16u, 32u})
        tiled("interleave_stride", [&](Map& m) { m.interleave = 2, m.swizzle = 1, m.stride[0] = 128 + v; });
    for (uint32_t v = 0; v < 6; ++v) tiled("l2", [&](Map& m) { m.l2 = v; });
    for (uint32_t v : {0u, 1u, 2u}) tiled("nan", [&](Map& m) { m.nan = v; });
    column("column", [](Map&) {});
    for (uint32_t v : {2u, 3u, 4u, 5u, 6u}) column("column_rank", [&](Map& m) { m.rank = v; });
    for (uint32_t v : {0u, 4u, 8u, 24u, 64u, 128u, 256u, 257u})
        column("channels", [&](Map& m) { m.channels = v; });
    for (uint32_t v : {0u, 1u, 256u, 1024u, 1025u}) column("pixels", [&](Map& m) { m.pixels = v; });
    for (uint32_t rank : {3u, 4u, 5u})
        for (int32_t v : {-32769, -32768, -129, -128, -17, -16, 15, 16, 127, 128, 32767, 32768})
            for (int i : {0, 1, 2}) {
                column("lower", [&](Map& m) { m.rank = rank, m.lower[i] = v; });
                column("upper", [&](Map& m) { m.rank = rank, m.upper[i] = v; });
            }
    for (uint32_t bytes : {1u, 2u, 4u})
        for (uint32_t pixels : {220u, 228u, 256u, 440u, 454u, 455u, 512u, 908u, 910u, 1024u})
            column("column_total", [&](Map& m) { m.type = bytes >> 1, m.channels = 256, m.pixels = pixels; });
    for (int32_t v : {31, 32, 30}) column("empty", [&](Map& m) { m.lower[0] = v; });
    for (int32_t v : {-31, -32, -33}) column("empty", [&](Map& m) { m.upper[0] = v; });
    for (uint32_t v : {0u, 8u, 9u})
        for (int i : {0, 1, 2, 3}) column("column_stride", [&](Map& m) { m.element_stride[i] = v; });
    for (uint32_t v = 0; v < 4; ++v)
        column("column_swizzle", [&](Map& m) { m.swizzle = v, m.channels = 32; });
}

// Each type: 64 bytes of special values, copied whole, and what is put outside.
void values() {
    const uint32_t words[16] = {0x00000001, 0x807FFFFF, 0x00402000, 0x7F800000, 0x7F800001, 0x7FC00000,
                                0xFFFFFFFF, 0x3F801000, 0x3F801001, 0x3F803000, 0x3F800FFF, 0xBF801FFF,
                                0x7F7FFFFF, 0x80000000, 0x00001000, 0x7FBFFFFF};
    must(cudaMemcpy(buffers[0] + kBase, words, sizeof words, cudaMemcpyHostToDevice), "values");
    for (uint32_t type = 0; type < 13; ++type)
        for (uint32_t nan = 0; nan < 2; ++nan) {
            Map map = plain();
            map.type = type, map.rank = 1, map.nan = nan;
            map.extent[0] = 64 / kBytes[type], map.box[0] = 96 / kBytes[type];
            if (map.box[0] > 256) continue;
            Box box{};
            box.bytes = 96;
            CUtensorMap made;
            const int result = encode(&made, map, buffers[0]);
            std::printf("value %u nan %u verdict %d", type, nan, result);
            if (result == 0) {
                ask<<<1, 128, kShared + kSlack>>>(made, box, 1, kLoad, nullptr, got, state);
                must(cudaDeviceSynchronize(), "values");
                uint32_t back[24];
                must(cudaMemcpy(back, got, sizeof back, cudaMemcpyDeviceToHost), "values");
                for (uint32_t word : back) std::printf(" %08x", word);
            }
            std::printf("\n");
        }
    std::vector<uint8_t> host(kShared);
    std::memcpy(host.data(), words, sizeof words);
    must(cudaMemcpy(given[0], host.data(), kShared, cudaMemcpyHostToDevice), "values");
    for (uint32_t type : {7u, 10u, 11u, 12u}) {
        Map map = plain();
        map.type = type, map.rank = 1, map.extent[0] = 16, map.box[0] = 16;
        CUtensorMap made;
        if (encode(&made, map, buffers[0]) != 0) continue;
        ask<<<1, 128, kShared + kSlack>>>(made, Box{}, 1, kStore, given[0], got, state);
        must(cudaDeviceSynchronize(), "values");
        uint32_t back[16];
        must(cudaMemcpy(back, buffers[0] + kBase, sizeof back, cudaMemcpyDeviceToHost), "values");
        std::printf("stored %u", type);
        for (uint32_t word : back) std::printf(" %08x", word);
        std::printf("\n");
    }
}

// Boxes of which one thing begins off its boundary.
int edge(uint32_t number) {
    struct Edge {
        const char* what;
        uint32_t type, swizzle;
        int32_t at;
        uint32_t shared;
        int32_t at1 = 0;
        What copy = kLoad;
    };
    constexpr Edge kEdges[] = {
        {"all even", 6, 0, 8, 0},
        {"coordinate of 8 bytes", 6, 0, 4, 0},
        {"of -2 bytes", 6, 0, -1, 0},
        {"of 8 bytes, swizzle 128B", 6, 3, 4, 0},
        {"of 4 bytes", 7, 0, 1, 0},
        {"of 1 byte", 0, 0, 1, 0},
        {"outside, of 2 bytes", 6, 0, 1001, 0},
        {"shared + 16", 6, 0, 0, 16},
        {"shared + 32", 6, 0, 0, 32},
        {"shared + 64", 6, 0, 0, 64},
        {"shared + 64, swizzle 128B", 6, 3, 0, 64},
        {"shared + 16, swizzle 32B", 6, 1, 0, 16},
        {"shared + 8", 6, 0, 0, 8},
        {"store", 6, 0, 8, 0, 3, kStore},
        {"store at -8, 0", 6, 0, -8, 0, 0, kStore},
        {"store at 0, -1", 6, 0, 0, 0, -1, kStore},
        {"store at -64, 0", 6, 0, -64, 0, 0, kStore},
        {"store at 0, -100", 6, 0, 0, 0, -100, kStore},
        {"store at 64, 0", 6, 0, 64, 0, 0, kStore},
        {"column", 6, 0, 0, 0, 0, kLoadColumn},
        {"column at -1", 6, 0, 0, 0, -1, kLoadColumn},
        {"column at 32", 6, 0, 0, 0, 32, kLoadColumn},
        {"column at 31", 6, 0, 0, 0, 31, kLoadColumn},
        {"column at 40", 6, 0, 0, 0, 40, kLoadColumn},
        {"column at channel 4", 6, 0, 4, 0, 0, kLoadColumn},
    };
    if (number >= sizeof kEdges / sizeof kEdges[0]) return 4;
    const Edge& asked = kEdges[number];
    Map map = plain();
    map.type = asked.type, map.swizzle = asked.swizzle;
    map.box[0] = 16 / kBytes[map.type];
    Box box{};
    box.at[0] = asked.at, box.at[1] = asked.at1, box.shared = asked.shared,
    box.bytes = 16 * map.box[1] * map.box[2];
    if (asked.copy == kLoadColumn) map.im2col = 1, map.channels = 8, map.pixels = 16;
    const bool stores = asked.copy == kStore;
    std::vector<uint8_t> host(kBuffer), copies[kPasses];
    std::string line = "edge " + std::to_string(number) + " (" + asked.what + ")";
    for (int p = 0; p < kPasses; ++p) {
        for (size_t i = 0; i < kBuffer; ++i) host[i] = digit((uint32_t)i, p);
        must(cudaMemcpy(buffers[p], host.data(), kBuffer, cudaMemcpyHostToDevice), "at the start");
        CUtensorMap made;
        if (encode(&made, map, buffers[p]) != 0) return 4;
        if (stores) {
            must(cudaMemcpy(given[p], host.data(), kShared, cudaMemcpyHostToDevice), "at the start");
            must(cudaMemset(buffers[p], kUntouched, kBuffer), "at the start");
        }
        ask<<<1, 128, kShared + kSlack>>>(made, box, map.rank, asked.copy, stores ? given[p] : nullptr, got,
                                          state);
        must(cudaDeviceSynchronize(), line.c_str());
        copies[p].resize(stores ? kBuffer : kShared);
        must(
            cudaMemcpy(copies[p].data(), stores ? buffers[p] : got, copies[p].size(), cudaMemcpyDeviceToHost),
            line.c_str());
    }
    add_answer(line, copies, copies[0].size());
    std::printf("%s\n", line.c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "0";
    whole = argc > 2 && std::string(argv[argc - 1]) == "whole";
    must(cudaSetDevice(0), "at the start");
    for (int p = 0; p < kPasses; ++p) {
        must(cudaMalloc(&buffers[p], kBuffer), "at the start");
        must(cudaMalloc(&given[p], kShared), "at the start");
    }
    must(cudaMalloc(&got, kShared), "at the start");
    must(cudaMalloc(&state, sizeof *state), "at the start");
    must(cudaFuncSetAttribute(ask, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared + kSlack),
         "at the start");
    cudaDriverEntryPointQueryResult found;
    must(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode_tiled, 12000,
                                          cudaEnableDefault, &found),
         "at the start");
    must(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", (void**)&encode_column, 12000,
                                          cudaEnableDefault, &found),
         "at the start");
    if (what == "verdicts")
        verdicts();
    else if (what == "values")
        values();
    else if (what == "edge")
        return edge((uint32_t)std::atoi(argc > 2 ? argv[2] : "0"));
    else
        boxes((uint32_t)std::atoi(what.c_str()), argc > 2 ? (uint32_t)std::atoi(argv[2]) : 640);
    std::printf("done\n");
}
