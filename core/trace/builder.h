// Makes a Trace from what an interpreter's (or a GPU's) blocks saw.
//
//   BlockRecorder   one per block, fed by one thread: keeps its own forms, no locks
//   assemble        puts the blocks together in block order with one form table, so that the trace
//                   is the same on any number of threads
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/simt/interpreter.h"
#include "core/trace/trace.h"

namespace tilescope::trace {

// Bytes that the blocks of a recording share, on whichever threads they are recorded.
class RecordingMemory {
public:
    explicit RecordingMemory(uint64_t bytes) : bytes_(bytes) {}
    void take(uint64_t bytes) { taken_ += bytes; }
    bool spent() const { return taken_ > bytes_; }

private:
    uint64_t bytes_;
    std::atomic<uint64_t> taken_ = 0;
};

class BlockRecorder final : public simt::BlockObserver {
public:
    // arrays: as they will stand in the trace. memory: where it is spent, the observer has seen enough; null
    // for no bound. All outlive the recorder.
    BlockRecorder(const std::vector<Array>& arrays, const std::vector<ptx::Site>& sites, simt::BlockId block,
                  RecordingMemory* memory = nullptr);
    ~BlockRecorder() override;
    void on_request(const simt::Request& request) override;
    void on_barrier(uint32_t site, uint32_t warp, uint32_t mask) override;
    void on_exchange(const simt::Exchange& exchange) override;
    void on_arrival(uint32_t step) override;
    void on_end() override;  // gives back what only recording needs

    // For recordings from a GPU. set_time: clocks from the block's first step to those that follow; called
    // before every step or before none. expect: about how many steps there will be.
    void set_time(uint32_t clocks);
    void expect(uint64_t steps);
    // on_steady_request: as on_request, of a site whose lanes lie the same distances apart in every request
    // of one warp and mask that is given to it. repeat: records such a request that lies in the same
    // array as the latest one, given its lowest lane's address alone; false where it does not.
    void on_steady_request(const simt::Request& request);
    bool repeat(uint32_t site, uint32_t warp, uint32_t mask, Space space, uint64_t start);

    // Requests of the block that were not kept, on the device or here.
    uint64_t dropped() const;
    // Bytes that its steps and forms take.
    uint64_t bytes() const;

    struct State;
    State& state();

private:
    void account();

    std::unique_ptr<State> state_;
};

// meta, launch and sites are taken as they are, except that a site whose requests all went to one space
// becomes one of that space; blocks in y-major order of their ids. The blocks' recorders are emptied.
// Where there are more than max_forms forms, the requests that need the others are dropped and
// counted in their block, and meta.complete and its reason say so.
Trace assemble(Meta meta, Launch launch, std::vector<ptx::Site> sites,
               std::vector<std::unique_ptr<BlockRecorder>> blocks, uint32_t max_forms = kMaxForms);

}  // namespace tilescope::trace
