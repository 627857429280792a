// What a kernel's PTX adds to a recording for the replay through the memory levels and the bounds: the
// instructions between two steps, and the loads of shared memory that ptxas makes one of.
//
// A recording holds loads, stores and barriers. What a warp executes between two of them is the way through
// the control flow from one to the other that passes no third; where there are several, the shortest, so that
// a loop without an access counts as one trip and the sum is never too high for a bound:
//
//     ld.shared a ---- ld.shared b ---- fma, add, add, setp, bra ---- ld.shared a
//     [  1 issue  ]    [               6 issues                ]
//
// Not counted, since machine code has nothing for them: mov, cvta, loads of parameters, conversions between
// integers, and jumps without a condition, which are where a compiler laid out blocks.
//
// ptxas joins loads of shared memory of one register and neighbouring offsets into one of 16 or 8 bytes,
// where it can prove that they are aligned; in PTX they stand one by one. Here they are joined where all of a
// block's addresses are aligned. Source: cuobjdump of the kernels that ship as NVRTC compiles them (LDS.128).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

struct Executed {
    uint64_t instructions = 0;  // instructions that a warp executes
    uint64_t fp32 = 0;          // those of them that are fp32 additions, multiplications or multiply-adds
    // Multiply-adds of its tensor cores, as many of halves as take the same time: twice those of tf32, half those of 8
    // bits. Those of f64 are left out.
    uint64_t tensor = 0;
    Executed& operator+=(const Executed& other) {
        instructions += other.instructions, fp32 += other.fp32, tensor += other.tensor;
        return *this;
    }
    bool operator==(const Executed&) const = default;
};

// A load of shared memory that can be part of a wider one.
struct JoinedLoad {
    int32_t group = -1;  // site of the first load of its group; -1: it is in none
    uint32_t place = 0;  // its number in the group
    uint32_t of = 1;     // number of 4-byte loads in the group, of neighbouring words
};

class LevelCode {
public:
    static Result<LevelCode> of(const trace::Trace& trace);
    LevelCode(LevelCode&&) noexcept;
    LevelCode& operator=(LevelCode&&) noexcept;
    ~LevelCode();

    // What is executed from a site, itself included, up to the next one. kStart as `from`: the beginning of
    // the kernel; kEnd as `to`: its end. Nothing where no path leads there.
    static constexpr int32_t kStart = -1, kEnd = -2;
    const Executed& between(int32_t from, int32_t to);

    // The loads whose data have to be there before a load can be asked for; all are sites (load_waits.h).
    const std::vector<uint32_t>& waited_for(uint32_t load) const;

    const std::vector<JoinedLoad>& joined() const;  // by site

private:
    struct State;
    explicit LevelCode(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace tilescope::analysis
