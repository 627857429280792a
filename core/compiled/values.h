// What is known of the registers of a kernel for one launch: which hold the same in all lanes of a warp, and which
// differ from lane to lane by known numbers.
//
//   Known     the same number whenever the thread comes by: indices, parameters and what is computed from them
//   Affine    a number for the warp plus a shape: what lane i adds to it, the same whenever the warp comes by
//   Varying   each lane's value is its own
//
// Shapes are numbers of this launch, not terms: for each warp, the 32 differences to the first lane. Shape 0 is that
// of values which are the same in all lanes.
//
// A register that is written more than once has one shape if all of its writes give that. Lanes that wait while
// others write (behind a branch that they left) keep what they had: a register of theirs is Varying, and `held`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/launch.h"
#include "core/base/result.h"
#include "core/compiled/places.h"
#include "core/simt/program.h"

namespace tilescope::compiled {

struct Value {
    enum class Level : uint8_t { Unset, Known, Affine, Varying } level = Level::Unset;
    uint32_t shape = 0;
    int32_t table = -1;  // Known: index into Values::tables
    bool uniform() const { return (level == Level::Known || level == Level::Affine) && shape == 0; }
    bool varying() const { return level == Level::Varying; }
    bool known() const { return level == Level::Known; }
};

struct Register {
    simt::Ref ref = 0;
    uint8_t bytes = 0;
    std::vector<uint32_t> writes;                    // micro-operations
    bool read_before_written = false, held = false;  // held: waiting lanes have it while others write it
    Value value;
};

struct BasicBlock {
    uint32_t first = 0, end = 0;
    std::vector<uint32_t> next;  // blocks
    std::vector<bool> live;      // registers at its beginning
    bool divergent = false;      // it ends in a branch that lanes may take differently
};

// A value of 32 bits that an address needs in 64: base + shape must not wrap.
struct Widening {
    simt::Ref ref = 0;
    bool is_signed = false;
};

class Values {
public:
    // Error: why the kernel is left to the interpreter, as a sentence.
    static Result<Values> of(const simt::Program& program, const Launch& launch);

    Value value(simt::Ref ref) const;
    const Register& reg(simt::Ref ref) const { return registers[index_of(ref)]; }
    size_t index_of(simt::Ref ref) const { return static_cast<size_t>(index_[ref / 4]); }
    // The number that a Known value is in all lanes of all warps; none for others.
    std::optional<uint64_t> constant(simt::Ref ref) const;
    const std::vector<Place>& places(uint32_t op) const { return places_[op]; }
    const int64_t* shape_of(uint32_t shape, uint32_t warp) const {
        return shapes[shape].data() + size_t{warp} * 32;
    }
    const uint64_t* table(int32_t table, uint32_t warp) const {
        return tables[static_cast<size_t>(table)].data() + size_t{warp} * 32;
    }
    uint32_t block_of(uint32_t op) const { return block_of_[op]; }

    uint32_t warps = 0;
    std::vector<Register> registers;
    std::vector<BasicBlock> blocks;
    std::vector<std::vector<int64_t>> shapes;      // [warp][lane]
    std::vector<std::vector<uint64_t>> tables;     // [warp][lane]; of predicates the word of bits in lane 0
    std::vector<std::vector<Widening>> widenings;  // by micro-operation
    std::vector<bool> ordered;  // by micro-operation: an atomic whose order among warps matters
    bool in_turns = false;      // turns have to be counted
    // Blocks tell each other something by atomics or fences: what one did cannot be taken back once others have run.
    bool blocks_communicate = false;

private:
    Values(const simt::Program& program, const Launch& launch) : program_(program), launch_(launch) {}
    Result<void> collect();
    void find_order();
    void find_blocks();
    void find_live();
    void fill_pool();
    void find_values();
    bool find_waiting();
    Value result(uint32_t op, const Place& to);
    Value lane_result(uint32_t op, const Place& to);
    Value affine(uint32_t op, uint8_t bytes);
    Value known(uint32_t op, const Place& to);
    Value tabled(std::vector<uint64_t> table, uint8_t bytes);
    uint32_t shape_with(std::vector<int64_t> differences, uint8_t bytes);
    std::vector<int64_t> scaled(simt::Ref a, simt::Ref b, uint32_t op);
    bool apart(simt::Ref high, simt::Ref low) const;
    bool splits(uint32_t branch) const;
    std::vector<bool> reached(uint32_t from, uint32_t until) const;

    const simt::Program& program_;
    const Launch& launch_;
    std::vector<int32_t> index_;  // by ref / 4
    std::vector<uint32_t> block_of_;
    std::unordered_map<uint64_t, std::vector<uint32_t>> shapes_by_hash_;
    size_t pool_tables_ = 0;
    std::vector<Value> pool_;                 // by ref / kColumnBytes
    std::vector<std::vector<Place>> places_;  // by micro-operation
};

}  // namespace tilescope::compiled
