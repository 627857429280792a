// What one request to global memory cost on GPUs of every generation: the same 32 addresses, other rules.
//
//   1.0, 1.1   by half warps. The k-th thread must access the k-th word of one segment of 64 bytes (4-byte
//              words; 128 for 8-byte words, two of 128 for 16-byte ones), threads may be missing; then it is
//              one transaction (two for 16-byte words). Anything else is one transaction of at least 32 bytes
//              a thread.
//   1.2, 1.3   by half warps, in any order. From the lowest active thread: its aligned segment (32 bytes for
//              1-byte words, 64 for 2-byte, 128 for 4, 8 and 16-byte words), with all threads that fall in
//              it; cut to its half, and that to its half (not below 32 bytes), where only that is used; and
//              again.
//   2.x        by warps (halves for 8-byte words, quarters for 16-byte words): the 128-byte lines of L1.
//              Stores, and loads that pass L1 by, move 32-byte sectors of L2.
//   3.x        as 2.x, but loads pass L1 by unless asked otherwise: 32-byte sectors.
//   5.0 on     32-byte sectors.
//
//   32 lanes x 4 bytes, neighbours, shifted by one word:
//      1.0  32 transactions of 32 bytes     1.2  one of 128, of 64, of 32 bytes
//      2.0  2 lines of 128                  5.0  5 sectors of 32
//
// Sources: CUDA C Programming Guide 4.2, appendices F.3.2 (1.0 and 1.1; 1.2 and 1.3) and F.4.2 (2.x); CUDA C
// Programming Guide 8.0, appendices G.3.2 (3.x), G.4.2 (5.x); CUDA C++ Programming Guide 12, "Global Memory"
// of later ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilescope::analysis {

enum class CoalescingRule : uint8_t { HalfWarpStrict, HalfWarpSegments, Lines, CachedInL2, Sectors };

CoalescingRule coalescing_rule(uint32_t major, uint32_t minor);
const char* name_of(CoalescingRule rule);    // "half warps, in order"
const char* source_of(CoalescingRule rule);  // document and section

struct Transaction {
    uint64_t address = 0;
    uint32_t bytes = 0;
    uint32_t lanes = 0;  // mask of the lanes it serves; in L2 and L1 rules, of all that touch it
    bool operator==(const Transaction&) const = default;
};

struct Coalesced {
    CoalescingRule rule = CoalescingRule::Sectors;
    std::vector<Transaction> transactions;
    uint64_t moved = 0;   // bytes of all transactions
    uint64_t needed = 0;  // different bytes that the lanes ask for
};

// address: [32] virtual addresses; lanes outside mask are ignored. bytes: 1, 2, 4, 8 or 16 a lane, every
// address a multiple of it (as the hardware demands). store: 2.x moves sectors then.
Coalesced coalesce(CoalescingRule rule, const uint64_t* address, uint32_t mask, uint32_t bytes, bool store);

// "32 transactions of 32 bytes: 1,024 bytes moved for 128 needed"
std::string in_words(const Coalesced& request);

}  // namespace tilescope::analysis
