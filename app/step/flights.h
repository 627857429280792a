// What travels when a step is made, worked out without a window:
//
//     M[0,1] ----> thread[0,1]             a load from global memory: the element to its thread
//     M[0,1] ----> Mds[0,1] --+            a store to shared memory: the element that was loaded
//                             +--> P[0,0]  a product: both factors, from where the thread loaded them
//     N[1,0] ----> Nds[1,0] --+
//
// Where a thread reads its factors from global memory, as without tiles, products come from M and N.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/look/block_index.h"
#include "core/playback/replay.h"

namespace tilescope::step {

struct Flight {
    playback::Element from, to;
    Value value;           // the value that travels
    bool product = false;  // a factor, on its way into a sum
    // As shares of the time that a step's motion takes. Several products that follow one step (the loop is
    // unrolled) leave one after the other.
    float leaves = 0, arrives = 1;
    // Of a factor: the thread that multiplies it, and the step at which that read it.
    uint32_t thread = UINT32_MAX, read_step = playback::kNever;
};
// Lane by lane; at most kMostFlights, the first ones. Empty for a step at which nothing travels.
inline constexpr size_t kMostFlights = 2048;
std::vector<Flight> flights(const trace::Trace& trace, const look::BlockIndex& index,
                            const playback::BlockReplay& replay, uint32_t step);

// Of a load from global memory: each lane's element on its way to its thread, which is no array of the
// launch: {kOfThreads, thread of the block}.
inline constexpr uint8_t kOfThreads = trace::kNoArray - 1;
std::vector<Flight> loads_to_threads(const trace::Trace& trace, const look::BlockIndex& index,
                                     const playback::BlockReplay& replay, uint32_t step);

// Of a read of shared memory that no product follows at once: each lane's element on its way to its thread, which
// holds it until its other factor is read. Of a product's recording alone.
std::vector<Flight> reads_to_threads(const trace::Trace& trace, const look::BlockIndex& index,
                                     const playback::BlockReplay& replay, uint32_t step);

// A product on its way into a sum: two factors that follow each other in flights(), and what they make.
//
//     0        kMeet        kTimes          kDrop     1      of the time from leaves to arrives
//     | factors |   -6 x -3  |     +18      |  falls  | the sum changes
struct Beats {
    static constexpr float kMeet = 0.38f, kTimes = 0.62f, kDrop = 0.82f;
};
// Index into a list of flights of the first factor of the product that is followed with all of its beats: of the
// pinned thread, else of a lane in the middle, or of the first where there are four or fewer. None where products
// of several at once would lie on each other.
std::optional<size_t> followed(const std::vector<Flight>& all, std::optional<uint32_t> pinned);

// The cells whose value is still on its way at a share of a step's motion, as landing times of what arrives there
// last, ascending by element.
struct Landing {
    playback::Element to;
    float arrives = 0;
};
std::vector<Landing> landings(const std::vector<Flight>& all);

// How many elements and products have arrived in which array, for what is too fast to follow: once a block.
struct FlightSums {
    struct Into {
        uint8_t array = trace::kNoArray;
        bool products = false;
        std::vector<uint32_t> steps;  // steps at which something arrives, ascending
        std::vector<uint64_t> sums;   // how many have arrived up to that step
    };
    std::shared_ptr<const playback::BlockReplay> of;  // null: not made yet
    std::vector<Into> into;
};
FlightSums flight_sums(std::shared_ptr<const playback::BlockReplay> replay);
// How many arrived at steps [first, end) of the block.
uint64_t arrived(const FlightSums::Into& into, uint32_t first, uint32_t end);

// How long a film shows the steps, so that their captions can be read: three words a second, as subtitles. A
// caption that was there before but for its numbers is read faster; its step lasts a third of that.
class ReadingTime {
public:
    double seconds(std::string_view caption);
    static constexpr double kWordsPerSecond = 3, kLeast = 0.8;

private:
    std::vector<std::string> seen_;  // captions without their numbers
};

}  // namespace tilescope::step
