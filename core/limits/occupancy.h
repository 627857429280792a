// How many blocks of a kernel an SM holds at once, and what keeps it from holding more.
//
//   slots of an SM        what a block takes                 blocks that fit
//   thread (warp) slots   its threads                        slots / threads
//   block slots           one                                slots
//   registers             threads x registers a thread       registers / that
//   shared memory         its bytes                          bytes / that
//
// The least of the four is the answer. Two sums of it are taught and meant:
//
//   the lecture's sum     the divisions above, as they stand
//   the hardware's        the same with what is really handed out: threads in whole warps, registers
//                         rounded up for each warp (for each block on compute capability 1.x) and to the
//                         parts of the SM that warps are dealt to, shared memory rounded up to its unit
//                         with the bytes that the system keeps of each block
//
// Sources: CUDA C Programming Guide 4.2, section 4.2 "Hardware Multithreading" (the formulas for 1.x
// and 2.x); CUDA Occupancy Calculator, sheet "GPU Data" (the granularities); since compute capability 3.0
// also the occupancy functions of the CUDA Toolkit, with which the tests compare.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/limits/device_spec.h"

namespace tilescope::analysis {

enum class Sum : uint8_t { Lecture, Hardware };
const char* name_of(Sum sum);  // "the lecture's sum", "the hardware's"

enum class Limit : uint8_t { Threads, Blocks, Registers, Shared };
inline constexpr int kLimits = 4;
const char* name_of(Limit limit);  // "thread slots", "block slots", "registers", "shared memory"

inline constexpr uint32_t kUnlimited = std::numeric_limits<uint32_t>::max();

// What a kernel's block takes.
struct BlockUse {
    uint32_t threads = 256;
    uint32_t registers = 0;  // a thread; 0: not counted
    uint32_t shared = 0;     // bytes
    int carveout = -1;       // percent of the SM's shared memory preferred, -1 for the device's own choice
    bool operator==(const BlockUse&) const = default;
};

struct Occupancy {
    Sum sum = Sum::Hardware;
    uint32_t blocks = 0, threads = 0, warps = 0;  // resident on one SM; warps: those of the blocks, whole
    uint32_t most_warps = 0, most_threads = 0;    // warp and thread slots of the SM
    double share = 0;  // of the thread slots (lecture) or warp slots (hardware) in use: 0 to 1
    std::array<uint32_t, kLimits> fit{};  // by Limit: blocks that this limit alone would admit, or kUnlimited
    std::array<bool, kLimits> limits{};   // by Limit: whether it is the least, or one of the least
    uint32_t warps_per_block = 0;
    uint32_t registers_per_block = 0;  // as the lecture or the hardware counts them
    uint32_t shared_per_block = 0;     // bytes, counted likewise
    std::string refused;               // why no block runs at all; empty where some do
};

Occupancy occupancy(const SmLimits& sm, const BlockUse& use, Sum sum);

// In words: "limited by registers", "limited by thread slots and block slots", or why nothing runs.
std::string limits_in_words(const Occupancy& occupancy);

// Occupancy over one parameter, the others held.
enum class Parameter : uint8_t { Threads, Registers, Shared };
struct CurvePoint {
    uint32_t value = 0;  // threads a block, registers a thread, bytes a block
    uint32_t blocks = 0, threads = 0, warps = 0;
    double share = 0;
};
// Threads: every multiple of the warp size up to the most a block may have. Registers: 1 to the most a
// thread may have. Shared: 0 to the most a block may have, by 512 bytes.
std::vector<CurvePoint> occupancy_curve(const SmLimits& sm, const BlockUse& use, Parameter parameter,
                                        Sum sum);

// The values of a curve where one step more costs threads: the cliffs. `before` and `after` are neighbours.
struct Cliff {
    CurvePoint before, after;
};
std::vector<Cliff> cliffs(const std::vector<CurvePoint>& curve);

}  // namespace tilescope::analysis
