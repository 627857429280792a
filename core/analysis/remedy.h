// What would free the requests to an array: another place for its elements, found by judging all recorded requests
// to it, of all its loads and stores together, once more with moved addresses.
//
//   kind             byte b of the array goes to                       what is tried
//   padding          b + b / R * P            R bytes a row            P of 1 to 16 elements
//   swizzle          b ^ (b >> S & mask)      mask: bits M to M+B-1    every Swizzle<B, M, S> that moves banks
//   columns first    element (r, c) to c * rows + r                    arrays of two dimensions
//   struct of arrays word w of struct s to w * structs + s             structs and threads that are as far apart
//
//   a column of float[32][32]       32 wavefronts     1 by a padding of 1 element or Swizzle<5, 2, 5> of bytes
//   16 bytes a lane, 64 halves a row     32           4 by a padding of 8 halves or Swizzle<3, 4, 3> of bytes
//
// Swizzle<B, M, S> is CuTe's: B bits from bit M + S on are xor-ed into those from bit M on. Here it counts the bits of
// byte offsets in the array; of elements of 2^e bytes it is Swizzle<B, M - e, S>. A remedy is left out where it would
// tear an access of several bytes apart or take its alignment away.
//
// Exact for the requests that are looked at. Where an array has more different ones than kMostDifferentRequests, or the
// recording more steps than kMostStepsSearched, blocks from all over it are taken: Remedies::looked_at says how many.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/stop.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

enum class RemedyKind : uint8_t { Padding, Swizzle, ColumnsFirst, StructOfArrays };

struct Remedy {
    RemedyKind kind = RemedyKind::Padding;
    uint32_t element = 4;                    // bytes of an element, or of a word of a struct
    uint64_t row = 0;                        // bytes of a row, or of a struct
    uint64_t rows = 0;                       // ColumnsFirst, StructOfArrays: how many
    uint32_t padding = 0;                    // elements behind each row
    uint32_t bits = 0, base = 0, shift = 0;  // Swizzle<bits, base, shift> of bytes

    uint64_t moved(uint64_t offset) const;  // where a byte of the array goes
    bool operator==(const Remedy&) const = default;
};

// What a site's requests cost: wavefronts of shared memory, sectors of global memory; and the least.
struct SiteCost {
    uint32_t site = 0;
    uint64_t requests = 0, cost = 0, least = 0;
};

// An array with a remedy, and what its requests would cost then.
struct Remedied {
    Remedy remedy;
    uint64_t cost = 0;
    std::vector<uint64_t> of_site;  // of each of Remedies::sites
    uint64_t more_bytes = 0;        // that the array takes with it
};

// Of one array whose requests cost more than the least.
struct Remedies {
    uint8_t array = 0;
    uint64_t requests = 0, looked_at = 0;
    uint64_t cost = 0, least = 0;  // of those that were looked at
    std::vector<SiteCost> sites;   // that access it, in their order
    std::vector<Remedied> rows;    // the best of each kind that costs less, the cheapest first
};

inline constexpr uint32_t kMostPadding = 16;  // elements
inline constexpr size_t kMostDifferentRequests = 2048;
inline constexpr uint64_t kMostStepsSearched = 1u << 20;

// Of arrays whose recorded requests cost more than the least, the most wasteful first: of shared memory, also where
// nothing helps and rows are empty, and of global memory, where another layout does. An Error where it was stopped.
Result<std::vector<Remedies>> remedies_of(const trace::Trace& trace, Stop stop = {});

// Every swizzle that moves elements of so many bytes among the banks, in an array of so many; those of fewest bits
// first.
std::vector<Remedy> swizzles_of_banks(uint64_t array_bytes, uint32_t element);

// A request's cost and least, by the addresses of its lanes: wavefronts of shared memory, sectors of global memory.
struct RequestCost {
    uint32_t cost = 0, least = 0;
};
RequestCost request_cost(Space space, const ptx::Site& site, const uint64_t* address, uint32_t mask);

// "padding 1", "Swizzle<3,4,3>", "columns first", "struct of arrays"; and what to do: "rows of 33 elements in place of
// 32", "index i becomes i ^ (i >> 5 & 31)".
std::string remedy_name(const Remedy& remedy);
std::string remedy_words(const Remedy& remedy);

}  // namespace tilescope::analysis
