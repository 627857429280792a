// What a BlockRecorder holds while its block runs, and the cache that makes recording fast.
//
// A site of these kernels repeats a form thousands of times, so a request is first held against the
// patterns that its site showed last: 32 subtractions and comparisons that the compiler vectorises.
// Only a pattern not seen lately is fitted and looked up.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/trace/builder.h"
#include "core/trace/fit.h"

namespace tilescope::trace {

// A form as the differences that its addresses have, ready to compare.
struct AddressPattern {
    uint32_t form = kNoForm;
    uint32_t mask = 0;
    Space space = Space::Global;
    // First addresses for which all lanes lie in the form's array and the base keeps its high bits.
    uint64_t lowest = 1, highest = 0;
    uint32_t number = 0;                    // Request::pattern of the latest request that it was
    uint64_t origin = 0;                    // address that bases count from
    std::array<uint64_t, 32> difference{};  // from the first active lane's address
    std::array<uint64_t, 32> active{};      // all ones for active lanes
};

struct SiteCache {
    static constexpr uint32_t kPatterns = 4;
    std::vector<AddressPattern> patterns;
    uint32_t latest = 0;
    uint8_t spaces = 0;  // memory spaces that its requests went to, a bit each
};

// The latest steady request of a site and warp (BlockRecorder::repeat).
struct Steady {
    uint32_t form = kNoForm;
    uint32_t mask = 0;
    Space space = Space::Global;
    uint64_t lowest = 1, highest = 0, origin = 0;  // as of its AddressPattern
};

struct BlockRecorder::State {
    const std::vector<Array>* arrays = nullptr;
    const std::vector<ptx::Site>* sites = nullptr;
    Block block;                        // count and first are filled by assemble
    FormTable table;                    // forms in the order of their first use
    std::vector<SiteCache> caches;      // by site
    std::vector<Steady> steady;         // by warp, then site
    uint64_t patterns = 0;              // patterns of all caches
    RecordingMemory* memory = nullptr;  // memory that the `taken` bytes were taken from
    uint64_t taken = 0;
    uint32_t unaccounted = 0;               // steps whose bytes are not taken from it yet
    bool timed = false;                     // steps have times
    uint32_t now = 0;                       // time of the next step
    std::vector<uint32_t> base, key, time;  // as in Trace, with the forms of `table`; time may stay empty
    std::vector<uint8_t> returned;          // as in Trace
    std::vector<PlacedMap> maps;            // that its copies use, each once
    uint32_t met = 0;                       // number of steps so far, those not kept included
    std::vector<uint32_t> copy_step;        // steps of the stores of copies, as counted by `met`, ascending
    std::vector<uint32_t> arrival;          // as in Trace, of these
};

}  // namespace tilescope::trace
