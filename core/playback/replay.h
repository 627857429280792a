// One block of a recording with its values: what every cell held at every step, where it came from,
// and what was multiplied. Filled by running the block again (kernels::Replayer); immutable after
// finish(), then answers "what is where at step s" by binary search, forwards and backwards alike:
//
//   a shared cell   its stores, by step          s -> the last store at or before it
//                   its loads, by step, summed   s -> loads up to it, less those up to that store
//   a thread        its products, by step        s -> the last sum at or before it
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/simt/interpreter.h"
#include "core/trace/trace.h"

namespace tilescope::playback {

// All steps here are steps of the block, from 0.
inline constexpr uint32_t kNever = 0xFFFF'FFFFu;

// What a shared cell holds at a step.
struct CellState {
    bool written = false;
    float value = 0;
    uint32_t step = kNever;  // the store that put it there
    uint32_t thread = 0;     // linear number in the block
    uint8_t source_array =
        trace::kNoArray;        // where the stored value came from: an element of a global array,
    uint64_t source_index = 0;  // kNoArray for a constant (a zero fill) or a computed value
    uint32_t reads = 0;         // lane loads of it since, up to and including the step asked for
};

struct ProductStep {
    uint32_t after_step = 0;  // it happened right after this step
    uint32_t warp = 0, mask = 0;
    std::array<simt::Origin, 32> a{}, b{}, result{};
    std::array<float, 32> a_value{}, b_value{}, sum{};
};

// A factor of a product: an element of an array (global, or a shared cell).
struct Factor {
    uint8_t array = trace::kNoArray;  // kNoArray: constant or computed
    uint64_t index = 0;               // linear element
    float value = 0;
    uint32_t step = kNever;  // the load
};

class BlockReplay final : public simt::BlockObserver {
public:
    BlockReplay(const trace::Trace& trace, uint32_t block);  // keeps a reference to the trace
    ~BlockReplay() override;
    void on_request(const simt::Request& request) override;
    void on_barrier(uint32_t site, uint32_t warp, uint32_t mask) override;
    void on_product(const simt::Product& product) override;
    void finish();

    uint32_t block() const { return block_; }
    uint32_t steps() const;

    // The value that a lane loaded or stored at a step (0 for inactive lanes and barriers).
    float value(uint32_t step, uint32_t lane) const;

    // shared array (index into trace.arrays), linear element; state right after `step`.
    CellState cell(uint8_t array, uint64_t element, uint32_t step) const;

    // The running sum of a thread right after `step`; none before its first product.
    std::optional<float> running_sum(uint32_t thread, uint32_t step) const;

    // The element of the output that a thread's running sum ends in (its last store), if it has one.
    std::optional<uint64_t> output_of(uint32_t thread) const;
    std::optional<uint32_t> thread_of_output(uint64_t element) const;

    // The output that one running sum of a thread ends in: ProductStep::result of its products.
    std::optional<uint64_t> output_of_sum(uint32_t thread, simt::Origin sum) const;

    // Stores to shared arrays, lane by lane in step order: where each value came from.
    struct SharedStore {
        uint32_t step = 0, thread = 0;
        uint8_t array = trace::kNoArray;
        uint64_t index = 0;  // linear element
        float value = 0;
        simt::Origin origin = 0;
        uint8_t source_array = trace::kNoArray;  // as in CellState, followed through other shared cells
        uint64_t source_index = 0;
    };
    const std::vector<SharedStore>& shared_stores() const;

    // The element that a lane touched at a step: array kNoArray for barriers and idle lanes.
    Factor touched(uint32_t step, uint32_t lane) const;

    const std::vector<ProductStep>& products() const { return products_; }
    Factor factor(simt::Origin origin, uint32_t warp, uint32_t lane) const;
    // The element of a global array that a load of a shared cell at `step` by `lane` brought, if any.
    CellState cell_read(uint32_t step, uint32_t lane) const;

private:
    const SharedStore* last_store(uint8_t array, uint64_t element, uint32_t step) const;
    void find_source(SharedStore& store) const;

    const trace::Trace& trace_;
    uint32_t block_ = 0;
    std::vector<ProductStep> products_;
    struct Index;  // values by step, stores and loads by cell, sums by thread
    std::shared_ptr<Index> index_;
};

}  // namespace tilescope::playback
