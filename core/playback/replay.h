// One block of a recording with its values: what every cell held at every step, where it came from,
// and what was multiplied. Filled by running the block again (kernels::Replayer); immutable after
// finish(), then answers "what is where at step s" by binary search, forwards and backwards alike:
//
//   a cell          its stores, by step          s -> the last store at or before it
//                   its loads, by step, summed   s -> loads up to it, less those up to that store
//   a thread        its sums, by step            s -> the last sum at or before it
//
// Values have the type of the array that they lie in.
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

// An element of an array, by its linear number.
struct Element {
    uint8_t array = trace::kNoArray;  // kNoArray: of none
    uint64_t index = 0;
    bool operator==(const Element&) const = default;
};

// What a cell holds at a step.
struct CellState {
    bool written = false;
    Value value;
    uint32_t step = kNever;   // step of the store that put it there
    uint32_t since = kNever;  // step from which it is visible: `step`, or of a copy the step after its wait
    uint32_t thread = 0;      // linear number in the block
    // Where the value came from: an element of a global array; none for a constant (a zero fill) or computed
    // value.
    Element source;
    uint32_t reads = 0;  // of shared cells: lane loads since the store, those of the step asked for included
};

struct MultiplyStep {
    uint32_t after_step = 0;  // it happened right after this step
    uint32_t warp = 0, mask = 0;
    ElementType factor_type = ElementType::F32, sum_type = ElementType::F32;
    std::array<simt::Origin, 32> a{}, b{}, result{};
    std::array<uint64_t, 32> a_value{}, b_value{}, sum{};  // bits
};

// A product of a warp's matrices, with what each lane holds.
struct MatrixStep {
    uint32_t step = 0;
    ptx::MatrixForm form;
    // By ptx::MatrixRole, [registers][32]: bits, C as it was before D was written; where those of A, B and C came from.
    std::array<std::vector<uint64_t>, 4> value;
    std::array<std::vector<simt::Origin>, 3> origin;

    // An element's bits, lowest.
    uint64_t bits(ptx::MatrixRole role, const ptx::FragmentPlace& held) const;
};

// A factor of a product: an element of an array (global, or a shared cell), or a constant or computed value.
struct Factor {
    Element element;
    Value value;
    uint32_t step = kNever;  // step of the load
    uint32_t within = 0;     // bytes of the element that lie before what is meant, where it holds several
    bool known() const { return element.array != trace::kNoArray; }
};

class BlockReplay final : public simt::BlockObserver {
public:
    // Keeps a reference to the trace. most_bytes: memory that it may take.
    BlockReplay(const trace::Trace& trace, uint32_t block, uint64_t most_bytes);
    BlockReplay(const trace::Trace& trace, uint32_t block);  // most_bytes: half of the memory that is left
    ~BlockReplay() override;
    void on_request(const simt::Request& request) override;
    void on_barrier(uint32_t site, uint32_t warp, uint32_t mask) override;
    void on_exchange(const simt::Exchange& exchange) override;
    void on_multiplication(const simt::Multiplication& multiplication) override;
    void on_arrival(uint32_t step) override;
    void finish();
    // The block's values did not fit most_bytes: nothing may be asked of it.
    bool full() const { return bytes_ > most_bytes_; }

    uint32_t block() const { return block_; }
    uint32_t steps() const;

    // The value that a lane loaded or stored at a step: of a vector access that of element `part`; of an
    // atomic what it left in memory, and as part 1 what it found there; of an exchange what the lane got, and as
    // part 1 what it gave. Zero for inactive lanes and barriers.
    Value value(uint32_t step, uint32_t lane, uint32_t part = 0) const;

    // The state of a cell of shared memory, or of an element of a global array that the block stores to,
    // right after `step`. Of a global array's element that the block has not stored yet, written is false.
    CellState cell(uint8_t array, uint64_t element, uint32_t step) const;

    // The running sum of a thread right after `step`; none before its first product. Of a thread that
    // computes several elements, that of the one which it stores last.
    std::optional<Value> running_sum(uint32_t thread, uint32_t step) const;
    // The running sum that ends in an element of an output, which a thread of this block stores.
    std::optional<Value> running_sum(Element element, uint32_t step) const;

    // The element of an output that a thread's running sum ends in (its last store), if it has one.
    std::optional<Element> output_of(uint32_t thread) const;
    std::optional<uint32_t> thread_of_output(Element element) const;

    // The output that one running sum of a thread ends in: MultiplyStep::result of its products.
    std::optional<Element> output_of_sum(uint32_t thread, simt::Origin sum) const;

    // Stores to shared arrays, element by element in step order: where each value came from.
    struct Store {
        uint32_t step = 0, thread = 0;
        Element to;
        Value value;
        simt::Origin origin = 0;
        uint32_t into = 0;  // bytes of the stored register that lie before the element's own
        Element source;     // as in CellState, followed through other shared cells
    };
    const std::vector<Store>& shared_stores() const;
    const std::vector<Store>& global_stores() const;  // the same to global arrays

    // The element that a lane touched at a step, of a vector access number `part`; none if it touched none.
    Factor touched(uint32_t step, uint32_t lane, uint32_t part = 0) const;

    const std::vector<MultiplyStep>& products() const { return products_; }
    // Null for a step that is none, and where its values would have taken more than half of the memory.
    const MatrixStep* matrix_step(uint32_t step) const;
    // What was loaded that a register still holds, or that begins so many bytes behind its first one.
    Factor factor(simt::Origin origin, uint32_t lane, uint32_t into = 0) const;
    Factor loaded(const Store& store) const {
        return factor(store.origin, store.thread % kWarpSize, store.into);
    }

private:
    struct Cell;
    const Cell* find_cell(Element element) const;
    const Store* last_store(Element element, uint32_t step, uint32_t* since = nullptr) const;
    void keep_box(const simt::Request& request, const trace::Access& access);
    Factor read_in_bulk(uint32_t step, uint32_t lane, uint32_t place) const;
    void find_source(Store& store) const;
    bool reaches_output(uint32_t thread, simt::Origin sum) const;
    void keep_chains(uint32_t thread);
    void keep_product(const simt::MatrixProduct& product);

    const trace::Trace& trace_;
    uint32_t block_ = 0;
    uint64_t bytes_ = 0, most_bytes_ = 0;  // bytes of what is kept, about; and the most
    std::vector<MultiplyStep> products_;
    std::vector<MatrixStep> matrix_steps_;  // by step
    struct Index;                           // values by step, stores and loads by cell, sums by thread
    std::shared_ptr<Index> index_;
};

}  // namespace tilescope::playback
