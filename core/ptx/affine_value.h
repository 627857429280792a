// One register in every thread of a block, as far as it is known; and what an instruction makes of it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/ptx/affine.h"

namespace tilescope::ptx {

inline constexpr uint64_t kMeeting = uint64_t{1} << 63;  // AffineValue::definition: a block where paths met

// Numbers by thread of a block, each list of them once, by a number: 0 where all are 0.
class ThreadTables {
public:
    explicit ThreadTables(const Dim3& block);
    ThreadTables(const ThreadTables&) = delete;
    ThreadTables& operator=(const ThreadTables&) = delete;
    uint32_t threads() const { return threads_; }  // 0 for a block that cannot be launched
    static constexpr uint32_t kNone = UINT32_MAX;
    uint32_t add(std::vector<uint64_t> numbers);  // kNone where there are too many
    uint64_t at(uint32_t table, uint32_t thread) const { return table == 0 ? 0 : (*all_[table])[thread]; }

private:
    uint32_t threads_ = 0;
    std::map<std::vector<uint64_t>, uint32_t> number_;
    std::vector<const std::vector<uint64_t>*> all_;
};

// uniform part + x * tid.x + y * tid.y + z * tid.z + table[thread], modulo the register's width. Predicates: affine with
// zero coefficients where all threads agree. The default knows nothing.
struct AffineValue {
    bool affine = false;
    bool constant = false;  // the uniform part is `number`
    uint64_t number = 0;
    uint64_t definition = 0;      // else it is what this definition made
    int32_t block = -1;           // basic block that holds the definition
    int64_t x = 0, y = 0, z = 0;  // of 32-bit registers, in the range of 32 bits
    uint32_t table = 0;           // of ThreadTables
    uint32_t zeros = 0;           // low bits of a uniform part that is no constant, which are known to be 0

    bool uniform() const { return affine && x == 0 && y == 0 && z == 0 && table == 0; }
    bool number_alone() const { return uniform() && constant; }
};

bool same(const AffineValue& a, const AffineValue& b);  // whatever is known of its low bits
uint32_t zeros_of(const AffineValue& value);            // of the uniform part, of constants too
// One of the two, all threads of the block the same one: affine where the coefficients are equal. A
// constant where both are; else the caller names the meeting.
AffineValue join(const AffineValue& a, const AffineValue& b);

// Changes the registers that an instruction writes. Returns the operand that it widens, where that is not the
// same in all threads and the result is claimed to be affine; else -1.
int apply(const Kernel& kernel, const LaunchFacts& facts, uint32_t instruction, int32_t block,
          std::vector<AffineValue>& values, ThreadTables& tables);

// What a thread has beyond the uniform part; of a constant the whole number.
uint64_t number_of_thread(const AffineValue& value, const ThreadTables& tables, const Dim3& block,
                          uint32_t thread);

}  // namespace tilescope::ptx
