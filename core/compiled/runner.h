// Blocks of a launch run by a compiled kernel: each warp from event to event, one after the other.
//
// What a kernel without races leaves in memory is what the interpreter leaves: warps meet at barriers, and atomics
// whose order matters are executed in the order of the interpreter's turns (Schedule::Fair), since turns are counted.
// A warp that may go on since turn T makes its k-th request in turn
//
//     first + (k - 1) * warps,   first: the next turn behind T that is the warp's, number modulo warps
//
//   three warps        turn 0   1   2   3   4   5   6     warp 1, which may go on since turn 3, makes its
//                      warp 0   1   2   0   1   2   0     first request in turn 4, and its second one in turn 7
//
// A block that cannot be run to its end (a fault, lanes that wait for lanes) leaves nothing behind: what it changed in
// global memory is taken back, and the interpreter runs the block from its beginning.
#pragma once

#include <array>
#include <vector>

#include "core/compiled/kernel.h"
#include "core/compiled/undo.h"
#include "core/simt/machine.h"

namespace tilescope::compiled {

class Runner final : public simt::BlockRunner {
public:
    Runner(const Kernel& kernel, RunFunction run, const simt::RunOptions& options,
           const std::vector<simt::View>& views);
    Runner(const Runner&) = delete;
    Runner& operator=(const Runner&) = delete;
    bool run_block(const simt::BlockId& block) override;

private:
    using MicroOp = simt::MicroOp;
    struct State {
        enum class At : uint8_t { Ready, Event, Waiting, Ended } at = At::Ready;
        int event = 0;
        uint64_t origin = 0, turns = 0;  // it could go on in turn `origin`, and had had so many
        uint64_t since = 0, time = 0;    // the turn that let it go on; that of the event
        uint64_t began = 0;              // Warp::count when it could go on
    };
    void start(const simt::BlockId& block);

    // runner_turns.cpp: which warp goes on.
    bool run_to_barriers();
    bool run_in_turns();
    bool go(uint32_t w);
    bool arrives(uint32_t w) const;
    void release(uint32_t number);

    // runner_memory.cpp; not 0: given up.
    int bind(uint32_t group, uint32_t op, uint64_t low, uint64_t bytes);
    int note(uint32_t group, uint32_t op, std::byte* first, const Shape& shape);
    int request(Warp& warp, uint32_t op, uint64_t base, const Shape* shape, const uint64_t* column,
                uint32_t mask, Data* data);
    int poll(uint64_t count, uint32_t depth);
    const simt::View* view_at(uint64_t address, uint64_t bytes, uint32_t& last) const;
    bool is_filled(const simt::View& view, uint64_t at, uint32_t bytes) const;
    bool fill(const simt::View& view, uint64_t at, uint32_t bytes);
    bool watch(const MicroOp& op, const simt::View& view, const std::byte* at, uint32_t bytes);
    bool locate(const Warp& warp, const MicroOp& op, ptx::StateSpace space, uint32_t mask, uint32_t i);
    bool locate_global(const MicroOp& op, uint32_t bytes, uint32_t mask, uint32_t i);
    bool keep_lanes(uint32_t bytes, uint32_t mask);
    int update(const simt::MemoryAccess& access, bool global, uint32_t mask, Data* data);

    const Kernel& kernel_;
    const simt::Program& program_;
    RunFunction run_;
    const simt::RunOptions& options_;
    const std::vector<simt::View>& views_;
    Context context_{};
    UndoLog undo_;
    std::vector<Range> ranges_;
    std::vector<Warp> warps_;
    std::vector<State> states_;
    std::vector<simt::Chunk> shared_store_, local_store_, saved_store_;
    std::byte* shared_ = nullptr;
    uint64_t shared_bytes_ = 0;
    size_t local_chunks_ = 0;  // of a warp
    std::vector<std::byte> constants_;
    std::vector<uint32_t> last_view_;  // by micro-operation
    alignas(64) std::array<uint64_t, kWarpSize> address_{};
    std::array<std::byte*, kWarpSize> host_{};
    uint64_t began_ = 0;  // of the running warp
    bool stuck_ = false;  // a block seemed to wait for others, and the next ones would, too
};

}  // namespace tilescope::compiled
