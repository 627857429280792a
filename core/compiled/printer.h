// The kernel as C in the making.
//
//   print.cpp          blocks, registers, parts of expressions
//   print_lanes.cpp    operations on lanes, exchanges
//   print_groups.cpp   which accesses go together, and how their lanes lie in memory
//   print_memory.cpp   accesses
//   print_flow.cpp     branches, barriers, pauses
//
// Labels: L12 where block 12 begins, X34 where access 34 of a whole warp goes when its check fails, A56 where a
// warp goes on with atomic 56.
#pragma once

#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/compiled/print.h"

namespace tilescope::compiled {

using simt::bytes_of;
using simt::in_pool;
using simt::MemoryAccess;
using simt::MicroOp;
using simt::Ref;
using Kind = MicroOp::Kind;

// How the lanes of a warp lie in memory, 8 by 8.
struct Pieces {
    enum class Kind : uint8_t { Apart, Contiguous, Broadcast } kind = Kind::Apart;
    bool whole = false;   // Contiguous: all 32 are
    bool halves = false;  // pieces 0 and 1, 2 and 3 go together: side by side, or one element
};

class Printer {
public:
    Printer(const simt::Program& program, const Values& values) : program_(program), values_(values) {}
    Printed print();

private:
    // Parts of C.
    std::string scalar(Ref ref, uint8_t bytes);
    std::string column(Ref ref, uint8_t bytes, bool any_nan = false);
    std::string bits(Ref ref);
    std::string operand(const Place& place, bool as_column, bool any_nan);
    std::string mask_of(const MicroOp& op, bool whole) const;
    std::string lane_expression(uint32_t i, bool as_column);
    std::string constant_of(Ref ref, uint8_t bytes);

    void find_any_nans();
    void find_groups();
    void find_fours();
    Pieces pieces_of(uint32_t shape, uint32_t bytes) const;

    void block(uint32_t b);
    void one(uint32_t i, bool whole);
    void lane(uint32_t i, bool whole, const std::string& mask);
    void widened(uint32_t i, const Place& to, bool everywhere, const std::string& mask);
    void call_lane(uint32_t i, bool whole, const std::string& mask);
    void shuffle(uint32_t i);
    void assign(const Place& to, const std::string& made, bool everywhere, const std::string& mask,
                bool any_nan);
    void access(uint32_t i, bool whole, const std::string& mask);
    void check(uint32_t group);
    void quick(uint32_t i);
    void move_data(uint32_t i, const std::string& q, int64_t from, const std::string& mask);
    void keep(uint32_t i, const std::string& q, int64_t from, const std::string& mask);
    void put_loaded(const Register& to, const std::string& value, const std::string& mask);
    void request(uint32_t i, const std::string& mask, bool everywhere);
    void branch(uint32_t i);
    void leave(uint32_t i);
    void barrier(uint32_t i);
    void converge(uint32_t i, bool whole);
    void stop_before(uint32_t i);
    std::string go_to(uint32_t from, uint32_t to);
    std::string pause(uint32_t to);
    std::string saved(const std::vector<bool>& live) { return moved(live, true); }
    std::string restored(const std::vector<bool>& live) { return moved(live, false); }
    std::string moved(const std::vector<bool>& live, bool saves);
    std::vector<bool> live_at(uint32_t i) const;

    template <class... Arguments>
    void put(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(text_), text, std::forward<Arguments>(arguments)...);
    }

    // Accesses of one block with the same base and shape.
    struct Together {
        uint32_t number = 0, first = 0;  // index into Context::ranges; the first access
        Ref base = 0;
        uint32_t shape = 0;
        bool wide = true;
        int64_t low = 0, end = 0;  // bytes from the base
        uint32_t most_bytes = 1;   // of one access: its alignment
    };

    const simt::Program& program_;
    const Values& values_;
    Printed made_;
    std::string text_, resumes_, head_;
    uint32_t resume_ = 0;
    std::vector<bool> any_nan_;      // by register
    std::vector<int32_t> group_of_;  // by micro-operation: index into together_
    std::vector<Together> together_;
    // Loads of four neighbours of 4 bytes, each lane's elsewhere.
    struct Four {
        uint32_t first = 0;
        int64_t offset = 0;
    };
    std::vector<Four> fours_;
    std::vector<int32_t> four_of_;  // by micro-operation
    std::map<std::pair<Ref, uint8_t>, std::string> constants_;
    std::map<std::pair<uint32_t, int>, bool> offsets_;  // of shapes and pieces that are used
    std::vector<uint32_t> save_at_;                     // by register
};

}  // namespace tilescope::compiled
