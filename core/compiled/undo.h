// What a block changed in global memory, in the order of its changes, to be taken back where it is given up.
//
// All stores are kept: which memory the interpreter will read when it runs the block again cannot be told from the
// kernel. Other blocks may run at the same time; what they added to a word since stays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/compiled/abi.h"
#include "core/simt/program.h"

namespace tilescope::compiled {

class UndoLog {
public:
    // bytes: the most that it takes; they are touched as they are needed. context: where compiled code keeps from.
    UndoLog(Context& context, size_t bytes);

    // A block begins: nothing is kept yet.
    void start();
    // Before [at, at + bytes) changes. False: there is no room.
    bool keep(std::byte* at, uint64_t bytes);
    // Sets `bits` in map bytes; those that were set stay so. False: there is no room.
    bool keep_filled(uint8_t* map, uint32_t bytes, uint8_t bits);
    // After an atomic found `old` and left `left`, where there is room for it.
    void keep_atomic(std::byte* at, const simt::MemoryAccess& access, uint64_t old, uint64_t left);
    bool has_room(uint32_t changes) const;

    // Takes all back, the latest first.
    void take_back();

private:
    void add(const Kept& head, const void* data, uint32_t data_bytes);

    Context& context_;
    std::unique_ptr<uint8_t[]> store_;
    std::vector<uint64_t> tags_;
};

}  // namespace tilescope::compiled
