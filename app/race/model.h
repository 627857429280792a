// Two recordings on one clock of work: at every moment both have done the same share of it, and the picture
// shows what each has loaded from global memory for that.
//
//   clock      of two recordings of one product: multiply-adds done, of the m k n of its recorded blocks
//              of any other two: the share of each one's own steps
//
//   A   o---------o---------o    moments 0 to kMoments, a share of the work each; at a moment a recording has
//   B   o---------o---------o    made the first steps that come to this share, in the order recorded
//
// A multiply-add needs its factors, which threads read just before it, from shared memory, or from M and N where
// the kernel uses none. So a block has done as much of its share as it has made of these reads:
//
//   work done  =  elements of P of the blocks before  +  elements of this block * its reads so far / all its reads
//
// A race is made once for a pair, by a job: all that a moment shows is then looked up.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "app/look/tally.h"
#include "app/session/shown.h"

namespace tilescope::race {

using draw::CellRect, look::Run;

inline constexpr uint32_t kMoments = 600;
inline constexpr double kSeconds = 12;  // that a race takes, whatever its size

enum class Clock : uint8_t { Work, Steps };

// An array as a map of square bins: of one element each where it is small enough. Rows lie as they are, those of
// slices below each other; a one-dimensional array is cut into rows.
struct Map {
    // Loads of elements of a bin, or stored ones, which come between two moments.
    struct Change {
        uint32_t bin = 0, by = 0;
    };
    uint8_t array = 0;
    uint64_t elements = 0;        // of the array
    uint64_t width = 1;           // elements of a row
    uint32_t rows = 1, cols = 1;  // of elements
    uint32_t side = 1;            // elements along the side of a bin
    uint32_t bin_rows = 1, bin_cols = 1;
    std::vector<Change> changes{};    // in the order of the moments
    std::vector<size_t> first{};      // [kMoments + 2]: the changes that come with each moment
    std::vector<uint64_t> sum{};      // [kMoments + 1]: loads so far, or elements stored so far
    uint64_t touched = 0;             // elements that the whole run loads, or stores
    std::vector<CellRect> at_work{};  // [kMoments + 1]: what the block at work loads in its phase, or stores

    std::vector<uint32_t> elements_of{};  // by bin: fewer at the edges
};

// One of the two recordings.
struct Side {
    std::string kernel, name;          // "tiled T=16"; what tells it from the other: "tiled"
    std::string letter;                // "A"
    std::vector<uint64_t> steps{};     // [kMoments + 1]: steps made
    std::vector<uint64_t> bytes{};     // [kMoments + 1]: bytes that lanes have loaded from global memory
    std::vector<uint32_t> block{};     // [kMoments + 1]: the block at work, by its place in the recording
    std::vector<float> of_block{};     // [kMoments + 1]: the share of its work that this block has done
    std::vector<Map> inputs{};         // M and N, or the first two arrays that are read
    std::vector<Map> outputs{};        // P, or the first array that is written; at most one
    std::vector<uint8_t> shared{};     // its shared arrays
    uint64_t blocks = 0, of_grid = 0;  // recorded, and of the launch
    uint32_t most = 0;                 // loads of an element in the whole run: the most

    // Loads of an element of the first input up to a moment: the average over those that are loaded at all.
    double loads_each(uint32_t moment) const;
};

struct Race {
    Clock clock = Clock::Work;
    bool same_work = true;  // both compute the same
    Side a, b;
    uint32_t most() const { return std::max(a.most, b.most); }  // end of the scale of both
    double wider() const;  // the most bytes in a whole run of the two: a pipe as wide as can be
};

// Both with the totals of their recordings. An Error where it takes more memory than is allowed, or where it was
// stopped.
Result<Race> race_of(const Run& a, const session::Totals& of_a, const Run& b, const session::Totals& of_b,
                     Stop stop = {});

// The counts of a map at a moment. Going to another one costs what changes between the two.
class Counts {
public:
    const std::vector<uint32_t>& at(const Map& map, uint32_t moment);

private:
    const Map* of_ = nullptr;
    uint32_t moment_ = 0;
    std::vector<uint32_t> counts_;  // by bin
};

// The width of a pipe, 1 for the widest that any of the two comes to: bytes loaded so far for the work done so far.
// A tile comes before the work that it is for, so that at the start this would be far too much; work below
// kLeastShare counts as that.
inline constexpr double kLeastShare = 1.0 / 16;
double pipe_width(const Race& race, const Side& side, uint32_t moment);

// The one sentence of a moment, and at the end what it comes to; speed: where both were timed (look/tally.h).
std::string sentence(const Race& race, uint32_t moment, const look::Speed* speed);
// What the clock is, and what of the launches was recorded.
std::string clock_text(const Race& race);

}  // namespace tilescope::race
