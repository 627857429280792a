// The grid at work: which block of a launch runs where and when, and what stands at any moment of it.
//
//   SM       0    1    2    3   ...            measured    a GPU recording of the whole grid: the SM that each
//   time   +----+----+----+----+                           block read (%smid), and the clocks of its first and
//     |    | 2  | 0  | 3  | 1  |                           last step
//     |    |    |----|    |----|               modelled    any other: dealt by the rule of
//     v    |----| 5  |----| 4  | <- now                    core/limits/dealing.h, to the slots that the SMs of
//          | 6  |    |    |    |                           a device have for such blocks
//
// The clocks of two SMs have no common zero (tests/data/hardware/clocks.txt: those of one GPC do, those of
// two GPCs lie millions of clocks apart), and a recording keeps no other time. So the first block of each SM
// begins at 0. Where a grid fills an H100, the SMs begin within 160 ns of each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/limits/dealing.h"
#include "core/limits/device_spec.h"
#include "core/limits/occupancy.h"
#include "core/recording/recording.h"

namespace tilescope::look {

// What a block of the launch takes of an SM of the device. Registers where they ship of the kernel, else 0.
analysis::BlockUse block_use(const analysis::Recording& recording, const analysis::DeviceSpec& device);

// Why a recording does not tell where and when the blocks of its grid ran, in a sentence; "" where it does.
std::string why_not_measured(const trace::Trace& trace);

// How long a block takes where all take the same time.
inline constexpr uint32_t kBlockTime = 100;
inline constexpr uint32_t kNotRecorded = UINT32_MAX;
// Blocks of a larger grid are dealt as far as this one.
inline constexpr uint64_t kMostDealt = 1u << 17;

struct GridAtWork {
    bool measured = false;
    std::string why_modelled;  // the sentence that says what the recording lacks; "" where it is measured
    Dim3 grid;
    std::string device;  // its name
    uint32_t sms = 1;
    uint32_t slots = 1;        // blocks at once on an SM: seen, or what its limits allow
    bool equal_times = false;  // modelled: each block takes as long as any other, else as it has steps
    uint32_t registers = 0;    // modelled: a thread's, by which slots were counted; 0: not known
    double clock_mhz = 0;      // measured: the rate that the driver states; 0 where it does not
    uint64_t end = 0;          // of the last block
    uint64_t first_idle = 0;   // when the first SM has no block left; 0 where one never gets any
    uint64_t last_begin = 0;   // when the last block begins
    uint32_t unused = 0;       // SMs that never get a block
    std::vector<analysis::BlockRun> runs;      // by number of the block, x fastest; at most kMostDealt
    std::vector<std::vector<uint32_t>> of_sm;  // blocks of each SM, as they begin
    std::vector<uint32_t> recorded;            // by block: its index in Trace::blocks, or kNotRecorded
    uint64_t recorded_blocks = 0;              // of those in `runs`
    uint64_t blocks() const { return grid.count(); }
    uint64_t places() const { return uint64_t{sms} * slots; }
    double waves() const { return static_cast<double>(blocks()) / static_cast<double>(places()); }

    // For moment(): the times at which blocks begin and end, ascending, and from when on so many SMs work.
    std::vector<uint64_t> begins, ends;
    std::vector<std::pair<uint64_t, uint32_t>> working;
};

// Of a recording. device: null for the recording's own, or where that is not known an H200; another one is
// asked what it would do with the grid, which is modelled.
GridAtWork grid_at_work(const analysis::Recording& recording, const analysis::DeviceSpec* device = nullptr);

enum class BlockState : uint8_t { Waiting, Running, Done };
inline BlockState state_at(const analysis::BlockRun& run, uint64_t now) {
    return now >= run.end ? BlockState::Done : now >= run.begin ? BlockState::Running : BlockState::Waiting;
}

// What stands at a moment, in O(log blocks).
struct GridMoment {
    uint64_t running = 0, done = 0;  // blocks
    uint32_t idle = 0;               // SMs without a block
};
GridMoment moment(const GridAtWork& grid, uint64_t now);

// The number of a recorded block, x fastest; and blockIdx of a number.
uint64_t number_of(const Dim3& grid, const trace::Block& block);
Dim3 index_of(const Dim3& grid, uint64_t number);

// What it comes to in one sentence, longest wording first, and what that rests on.
//
//   1,024 blocks on 132 SMs: 2 at once on each, so 3.9 waves; the first SM is idle after 85 % of the time.
//   16 blocks on 132 SMs: 116 SMs never get one.
std::vector<std::string> headlines(const GridAtWork& grid);
std::vector<std::string> rests_on(const GridAtWork& grid);

// "clock 12,345", "12,345 of 166,859 clocks, 84.3 µs"; of a model in steps, or in shares of a block's time.
std::string moment_text(const GridAtWork& grid, uint64_t now);
// A block in a line: where it runs and when.
std::string run_text(const GridAtWork& grid, uint64_t block);

}  // namespace tilescope::look
