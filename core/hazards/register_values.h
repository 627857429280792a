// What the PTX says of the value of a register, without running it: followed back through registers that are
// made at one place, by instructions without a guard, up to constants, parameters, special registers and addresses
// of variables; and up to loads, where it is known that the memory does not change.
//
//     mov.u32 %r1, %laneid;  and.b32 %r2, %r1, 16;  shl.b32 %r3, 0xffff, %r2;  bar.warp.sync %r3;
//                            in lane 5: 0xffff      in lane 20: 0xffff0000
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/ptx/ast.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

// The instructions that write each register.
using Definitions = std::vector<std::vector<uint32_t>>;
Definitions definitions_of(const ptx::Kernel& kernel);

// Bit array % 64; all bits for accesses outside the arrays.
inline uint64_t array_bit(uint8_t array) {
    return array == trace::kNoArray ? ~uint64_t{0} : uint64_t{1} << array % 64;
}

// visit(register) for those that an operand reads.
template <class Visit>
void each_register(const ptx::Operand& operand, Visit visit) {
    if (operand.reg >= 0) visit(static_cast<uint32_t>(operand.reg));
    for (const ptx::Operand& element : operand.elements) each_register(element, visit);
}

// What stands for a value that is the same in all threads, whenever they come by: equal for equal values alone.
struct UniformValue {
    uint64_t key = 0;       // a constant's bits, or a number for how it is made
    bool of_block = false;  // blockIdx or shared memory takes part: it is the same in one block alone
    uint64_t loaded = 0;    // array_bit() of shared arrays that it was loaded from, while nobody stores there
    bool operator==(const UniformValue&) const = default;
};
// UniformValue::loaded of what a load brings, 0 for memory to which nobody stores; none where threads may find
// different values at one address.
using SteadyLoad = std::function<std::optional<uint64_t>(uint32_t instruction)>;
std::optional<UniformValue> uniform_value(const ptx::Kernel& kernel, const Definitions& definitions,
                                          const ptx::Operand& operand, const SteadyLoad& steady = {});

// The value of an operand of integers in one thread, by its linear number in a block of a launch.
struct ThreadOfLaunch {
    const Launch& launch;
    Dim3 block;  // its coordinates in the grid
    uint32_t thread = 0;
};
std::optional<uint64_t> value_in_thread(const ptx::Kernel& kernel, const Definitions& definitions,
                                        const ptx::Operand& operand, const ThreadOfLaunch& thread);

}  // namespace tilescope::analysis
