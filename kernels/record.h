// From a plan to a recording: inputs, run, check against a plain product.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/launch.h"
#include "core/base/result.h"
#include "core/simt/interpreter.h"
#include "core/trace/trace.h"
#include "kernels/catalogue.h"

namespace tilescope::kernels {

inline constexpr uint64_t kDefaultSeed = 1;

// Inputs: small whole numbers, -9..9 without 0, a pure function of (seed, array, index), so that
// sums are exact in fp32 and cells are short to read, and any part can be made again anywhere.
float input_value(uint64_t seed, int array /* 0 for M, 1 for N */, uint64_t index);
std::vector<float> make_input(uint64_t seed, int array, uint64_t count);

struct RecordOptions {
    BlockWindow window;
    std::optional<Schedule> schedule;  // none: KernelInfo::default_schedule
    uint64_t seed = kDefaultSeed;
    unsigned threads = 0;
    uint64_t max_instructions_per_warp = 1ull << 32;
    const std::atomic<bool>* stop = nullptr;
    std::atomic<uint64_t>* blocks_done = nullptr;
    // Bytes that the steps may take, 0 for three quarters of the machine's memory. A window whose first
    // block says that it will take more is refused before it runs.
    uint64_t memory = 0;
    std::vector<float>* product = nullptr;  // takes P as the kernel left it, m x n by row
    bool timestamp = true;                  // fill Meta::recorded_at
};

// A fault of the kernel is no Error: the trace holds what was recorded until then, with
// complete == false and the reason. Errors are bad PTX or too little memory.
Result<trace::Trace> record_cpu(const Plan& plan, const RecordOptions& options);

// P = M N in double, row by row, the obvious way. (m x k) (k x n) -> (m x n)
std::vector<double> reference_product(const std::vector<float>& M, const std::vector<float>& N, uint32_t m,
                                      uint32_t k, uint32_t n);

// Checks P against the plain product: all elements that the recorded blocks stored, and all that they
// own, so that a store left out is found as well. Where every partial sum is exact in fp32 (whole
// inputs, sum of |m||n| below 2^24) a sum must be equal; elsewhere it may be off by the rounding of k
// additions, gamma_k * sum of |m||n| with gamma_k = k 2^-23 (twice Higham, "Accuracy and Stability of
// Numerical Algorithms", 2nd ed., 3.1). An element that is not finite or was not stored is wrong and
// has no part in max_abs_error. A recording that is not complete is not checked.
//   P: m x n values by row, after the run
trace::Verification verify(const trace::Trace& trace, const float* P, unsigned threads = 0);

// Rebuilds the plan of a trace (the trace's own PTX and source, not the shipped ones).
Result<Plan> plan_of(const trace::Trace& trace);

// Makes blocks of a recorded launch again with values: runs the trace's own PTX on the trace's own
// inputs, in the order of warps that the trace recorded. Made once for a trace (it holds program and
// inputs), then used for any of its blocks; one thread at a time.
class Replayer {
public:
    static Result<Replayer> of(const trace::Trace& trace);
    Replayer(Replayer&&) noexcept;
    Replayer& operator=(Replayer&&) noexcept;
    ~Replayer();

    // block: index into trace.blocks. `trace` is the one given to of(). The observer sees the same
    // steps as recorded, with values, origins and products; a difference is an Error that says where.
    Result<void> replay(const trace::Trace& trace, uint32_t block, simt::BlockObserver& observer);

private:
    struct State;
    explicit Replayer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace tilescope::kernels
