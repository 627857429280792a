// Figures of the lessons: small models that can be played with, for what no recording holds. Each is labelled
// a model, says in one line what to look at, and ends in a sentence that is worked out from its numbers.
//
//   Figure      its parameters, its numbers by name, its sentence, and how it is drawn: a file each
//   figures()   all of them, in the order of the course (parts.cpp)
//
// A stop of a lesson stands on one:
//   {"figure": "latency", "set": {"warps": 8}, "say": "... {needed_warps} warps"}
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/limits/device_spec.h"

namespace tilescope::draw {
struct Rect;
struct Ui;
}  // namespace tilescope::draw
namespace tilescope::session {
struct Session;
}

namespace tilescope::lessons {

// What can be changed, in whole numbers: least, least + step, ... most.
struct FigureParameter {
    std::string_view name, label;
    int least = 0, most = 1, first = 0, step = 1;
    std::vector<std::string> words{};  // instead of numbers, from `least` on
    std::string_view noun{};           // what it counts, as NamedNumber has it
    bool is_time = false;  // the figure's time, which Space runs; without a label it has no control
};

// A number that a sentence or a question may name.
struct NamedNumber {
    std::string name;
    uint64_t value = 0;
    std::string noun{};  // what it counts, as answers say it: "warp", "%", "GB/s"; "" for a plain number
    int decimals = 0;    // of the value: 216 with 1 is 21.6
};

struct Figure {
    std::string_view name, title, look;  // look: what to look at, in one line
    std::vector<FigureParameter> parameters;
    // set: a value for each parameter, within its bounds. While a question asks for its numbers, `draw`
    // leaves out what tells them (asked(), unknown() in parts.h).
    std::vector<NamedNumber> (*numbers)(std::span<const int> set) = nullptr;
    std::string (*concludes)(std::span<const int> set) = nullptr;
    void (*draw)(draw::Ui& ui, const draw::Rect& rect, std::span<const int> set,
                 const session::Session& session) = nullptr;
    // The sentence where the figure is set to show the recording that is open; "" where it shows its model.
    std::string (*concludes_of)(std::span<const int> set, const session::Session& session) = nullptr;
    // It has no model and draws the recording that is open; `concludes` says what to open where it cannot.
    bool recorded_alone = false;
    // Whether a parameter changes nothing of what is shown; null: each always changes something.
    bool (*idle)(size_t parameter, std::span<const int> set, const session::Session& session) = nullptr;
};

std::span<const Figure> figures();
const Figure* find_figure(std::string_view name);  // null for none of that name

std::string number_text(uint64_t value, int decimals);  // "1,305.6"

// What its parameters are at first.
std::vector<int> first_set(const Figure& figure);
// A value as the figure writes it: "8", or its word.
std::string value_words(const FigureParameter& parameter, int value);
// The value that a text names, as a number or by its word; none where the parameter cannot have it.
std::optional<int> setting_of(const FigureParameter& parameter, std::string_view text);

// --- the models, without a window

// Warps that take turns at one scheduler. Every `every`-th instruction of a warp is a load, which takes
// `latency` cycles; the warp goes on meanwhile, up to its next load, which waits for the one before.
struct IssueSlot {
    int warp = -1;  // -1: nothing is ready
    bool load = false;
};
struct IssueTrace {
    std::vector<IssueSlot> slots;  // one for each `issue` cycles
    uint32_t idle = 0;             // slots of `window`, in the steady state
    uint32_t window = 0;
};
IssueTrace issue_trace(uint32_t warps, uint32_t issue, uint32_t latency, uint32_t every, size_t slots);
// The share of the slots that are used in the steady state, in closed form.
double used_share(uint32_t warps, uint32_t issue, uint32_t latency, uint32_t every);

// What memory has to have on its way at any time so that it is never idle: Little's law, things inside =
// their rate times the time that each stays. Of one SM, which gets its share of the bandwidth.
struct BytesInFlight {
    double bytes_a_cycle = 0;  // bandwidth of one SM
    uint64_t bytes = 0;        // bytes in flight
    uint64_t loads = 0;        // loads in flight: of a warp, 4 bytes a lane
};
BytesInFlight in_flight(const analysis::DeviceSpec& device, uint32_t latency);
// Results of fp32 arithmetic an SM gives in a cycle, by compute capability: CUDA C++ Programming Guide,
// "Arithmetic Instructions", throughput of 32-bit floating-point add, multiply, multiply-add; for 1.x, 2.x
// and 3.x its version 4.2, section 5.4.1.
uint32_t fp32_a_cycle(const analysis::SmLimits& sm);
// The clock at which a device reaches its stated peak, in GHz: two operations a result.
double peak_ghz(const analysis::DeviceSpec& device);

// The blocks that each SM runs in each wave, by the rule of core/limits/dealing.h. All blocks take the same time,
// so that a wave begins when those of the last one have ended. order: 0 for block 0 first; else a shuffle.
struct Dealt {
    std::vector<std::vector<std::vector<uint32_t>>> waves;  // wave, SM, blocks
    std::vector<uint32_t> of_sm;                            // blocks in all
};
Dealt deal(uint32_t blocks, uint32_t sms, uint32_t slots, uint32_t order);

// An SM's thread slots, handed out in equal parts, one a block slot, or as blocks need them.
struct Partition {
    uint32_t part = 0;                      // thread slots of a fixed part
    uint32_t fixed_blocks = 0, blocks = 0;  // blocks that run in fixed parts, and dynamically
};
Partition partition(uint32_t block_threads, uint32_t thread_slots, uint32_t block_slots);

// Which lanes of which warps take the first path of a branch.
enum class Branch : uint8_t { Thread, Warp, Vector };
struct Split {
    std::vector<uint32_t> masks;  // by warp: lanes on the first path
    uint32_t divergent = 0;       // warps with lanes on both
    uint32_t passes = 0;          // a pass for each path that a warp has lanes on
    uint32_t idle = 0;            // lanes that wait in those passes
};
Split split(Branch branch, uint32_t threads, uint32_t limit);

// What 32 lanes that read every stride-th float bring from DRAM in bursts of `burst` bytes.
struct Bursts {
    uint32_t bursts = 0, brought = 0, used = 0;  // bytes
    std::vector<bool> taken;                     // by float, of all bursts
};
Bursts bursts_of(uint32_t stride, uint32_t burst);

}  // namespace tilescope::lessons
