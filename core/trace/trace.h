// A recording: every request of the recorded blocks, exactly, in 8 bytes (12 with clocks).
//
// Requests of one kernel repeat few forms (access patterns). A form is all of a request but its start and
// warp: site, array, active mask, and the 32 offsets from the first active lane's address. Almost every form
// is affine in the lane,
//
//     offset(lane) = stride * (lane mod w) + stride2 * (lane div w)   minus the same of the first active lane
//
// The rest keep their 32 offsets as they are: of 32 bits, or of 64 (Form::wide) where lanes lie further
// apart. A request that does not lie wholly in one array names none (kNoArray) and holds virtual addresses,
// or offsets in the block's shared memory, instead; of another block's shared memory, what core/base/cluster.h says. So a step is
//
//     base   u32   byte offset of the first active lane's element in its array, low 32 bits
//     key    u32   form (24 bits) | warp of the block (8 bits) << 24
//     time   u32   GPU recordings only: SM clocks since Block::clock
//
// and any step decodes in O(1). Steps lie block after block, in step order within a block. A barrier is a
// step whose site is a barrier; its form has the mask of the arriving lanes. An exchange among the lanes of a
// warp is a step whose site is one; in place of addresses its form and base hold what core/ptx/exchange.h says of
// each active lane. What is done to a barrier in memory is a step whose address is the barrier's.
//
// Where an address and Site::bytes do not say all of what a lane does, the step has words beside them (Site::words),
// in the column of what atomics found.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/launch.h"
#include "core/base/result.h"
#include "core/ptx/sites.h"
#include "core/ptx/tensor_map.h"

namespace tilescope::trace {

inline constexpr uint32_t kMaxForms = 1u << 24;
inline constexpr uint32_t kMaxWarpsPerBlock = 32;  // 1024 threads
inline constexpr uint32_t kNeverWaited = UINT32_MAX;
inline constexpr uint8_t kNoArray = 0xFF;  // barriers, and addresses outside every array

struct Form {
    uint32_t site = 0;
    uint8_t array = kNoArray;  // index into Launch::arrays
    uint8_t base_high = 0;     // bits 32..39 of the base
    uint8_t width = 32;        // w: 1..32
    uint32_t mask = 0;
    int32_t stride = 0, stride2 = 0;  // bytes
    int32_t irregular = -1;           // index into Trace::irregular, -1 for affine
    Space space = Space::Global;      // memory space of the request; tells the two kinds of kNoArray apart
    bool wide = false;  // irregular, 64-bit offsets: low halves at irregular, high halves at irregular + 1
    bool operator==(const Form&) const = default;
};

struct Block {
    uint32_t x = 0, y = 0, z = 0;
    uint64_t first = 0, count = 0;  // steps [first, first+count)
    uint64_t first_returned = 0;    // index into Trace::returned; not in the file but summed up
    uint64_t dropped = 0;           // requests that did not fit a GPU buffer
    uint32_t sm = 0;                // GPU only
    uint64_t clock = 0;             // GPU only: the SM's clock at the block's first step
    uint64_t first_arrival = 0;     // index into Trace::arrival; not in the file but summed up
};

enum class Backend : uint8_t { Cpu, Gpu };

// The outcome of checking an output.
struct Verification {
    bool checked = false;
    bool verified = false;
    uint8_t array = kNoArray;  // the output that was checked
    double max_abs_error = 0;  // the largest finite one over the elements that the recorded blocks own
    uint64_t wrong = 0;        // elements beyond the error bound, not finite, or never stored
    int64_t first_wrong = -1;  // linear index of the first, -1 for none
    std::vector<uint64_t> wrong_elements;  // the first kMostWrongElements of them, ascending
};
inline constexpr size_t kMostWrongElements = 4096;

// Where the kernel's own fault ended an incomplete recording: a thread that waits at a barrier that not all
// threads come to. Other faults are told by Meta::incomplete_reason alone.
struct BarrierFault {
    bool is = false;
    uint32_t x = 0, y = 0, z = 0;  // block
    uint32_t thread = 0;           // linear number in the block
    uint32_t line = 0;             // of the barrier, in the kernel source
};

// What the run met that the language leaves undefined, and that the steps alone do not prove.
struct Finding {
    enum class Kind : uint8_t {
        Unfilled,     // global memory is read that nobody stored or copied to
        AbsentLanes,  // lanes are named in a mask, or read from by a shuffle, and do not come
        OneAddress,   // two arrays of shared memory lie at one address, and both are used
        SharedBytes,  // a remark alone: what shared memory held before changes nothing
    } kind{};
    bool remark = false;                // it changed nothing that the launch left in memory
    uint8_t array = kNoArray;           // the array whose elements are read
    uint32_t line = 0, other_line = 0;  // of the kernel's source; 0 for none
    uint32_t blocks = 0;                // blocks that have it
    uint64_t count = 0;                 // accesses of threads
    std::string sentence;               // about the first of them, without its full stop
};
inline constexpr size_t kMostFindings = 256;

// What recording cost on a GPU, measured in the same run; all zero on a CPU.
struct Price {
    double plain_ms = 0;        // the kernel without recording
    double recorded_ms = 0;     // the kernel with recording, all launches together
    uint32_t launches = 0;      // windows of blocks, a launch each
    uint64_t device_bytes = 0;  // written to the device trace buffer
    double clock_mhz = 0;       // rate of the clock that Trace::time counts, as the driver states it
};

struct Meta {
    std::string tool_version;
    std::string kernel;  // what people call it: "tiled"
    // The file that the PTX says it was made of, and its text where it is known.
    std::string source_name, source;
    std::string ptx_name, ptx;  // the PTX that ran
    Backend backend = Backend::Cpu;
    // "CPU lockstep interpreter" and "" without a GPU; "NVIDIA H200", "580.159.04".
    std::string device, driver;
    std::string recorded_at;  // UTC, ISO 8601; empty where reproducible output is wanted
    BlockWindow window;       // as asked for, clipped to the grid
    Schedule schedule;
    bool complete = false;          // every step of every block of the window is here
    std::string incomplete_reason;  // the sentence that says why not
    BarrierFault barrier_fault;
    Verification result;
    Price price;
    std::vector<Finding> findings;
};

// Leaves new elements of a vector as they are.
template <class T>
struct Unset : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = Unset<U>;
    };
    Unset() = default;
    template <class U>
    Unset(const Unset<U>&) {}
    template <class U, class... Arguments>
    void construct(U* at, Arguments&&... arguments) {
        if constexpr (sizeof...(Arguments) == 0)
            ::new (static_cast<void*>(at)) U;
        else
            ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
    }
};

// A number for every step. Setting 80 million of them to zero first would take as long as reading them.
using Column = std::vector<uint32_t, Unset<uint32_t>>;

struct Trace {
    Meta meta;
    Launch launch;
    std::vector<ptx::Site> sites;
    std::vector<Form> forms;
    std::vector<std::array<int32_t, 32>> irregular;  // byte offsets from the base; 0 for inactive lanes
    std::vector<Block> blocks;                       // y-major, then x, as recorded
    Column base;                                     // one per step
    Column key;                                      // one per step
    Column time;                                     // one per step, or empty
    // What the atomics of global memory found there, which depends on the order of the blocks: step after
    // step, the active lanes of each, lowest first, Site::bytes for a lane. Empty if not recorded. Of a site with
    // words: these, 4 bytes each, which are always recorded.
    std::vector<uint8_t> returned;
    // Where in `returned` what belongs to every kReturnedStride-th step begins; not in the file but summed up, and
    // only where some site has words.
    std::vector<uint64_t> returned_at;
    // Where the bytes of each store of a cp.async arrived, one number for each such step: how many steps its
    // block had made when all of its threads had waited for them; kNeverWaited where they did not.
    std::vector<uint32_t> arrival;
    uint64_t beside = 0;  // bytes of another recording that was open when this one was read; not in the file
    // What meta.ptx says, parsed once, when the trace is read or recorded; not in the file. Null of a trace
    // that came about otherwise, and where the PTX cannot be parsed: module_of() then tries again.
    std::shared_ptr<const ptx::Module> module;

    uint64_t steps() const { return key.size(); }
    const Form& form_of(uint64_t step) const { return forms[key[step] & 0xFFFFFF]; }
    uint32_t warp_of(uint64_t step) const { return key[step] >> 24; }
    const Array* array_of(const Form& form) const {  // null where the request lies in none
        return form.array == kNoArray ? nullptr : &launch.arrays[form.array];
    }
};

// The module of the trace's PTX, and in it the kernel that was recorded: that of the launch's entry, or the
// only one; null where there is none.
Result<std::shared_ptr<const ptx::Module>> module_of(const Trace& trace);
const ptx::Kernel* kernel_of(const Trace& trace, const ptx::Module& module);

// One step, decoded. offset: byte offset in the array (or virtual address / raw shared offset where
// array is kNoArray); lanes that are not active hold 0.
struct Access {
    uint32_t site = 0;
    uint32_t warp = 0;
    uint32_t mask = 0;
    uint8_t array = kNoArray;
    std::array<uint64_t, 32> offset{};
};
Access decode(const Trace& trace, uint64_t step);  // O(1); step < trace.steps()
// The same of any step of a form, whose warp is not known then: the low 32 bits of its base are given.
Access decode_form(const Trace& trace, uint32_t form, uint32_t base);

// The lanes that vote for, of a vote.
inline uint32_t votes_for(const Access& vote) {
    uint64_t lanes = 0;
    for (const uint64_t of : vote.offset) lanes |= of;
    return static_cast<uint32_t>(lanes);
}

// Bytes in Trace::returned of a step of this form: 0 for all but atomics of global memory, and sites with words.
uint64_t returned_bytes(const Trace& trace, const Form& form);
inline constexpr uint64_t kReturnedStride = 256;
// Sums up Trace::returned_at.
void index_returned(Trace& trace);
bool has_words(const Trace& trace);  // whether some site has
// The words of a step of a site that has words. Making it is O(kReturnedStride).
class StepWords {
public:
    StepWords(const Trace& trace, uint64_t step);
    std::array<uint32_t, ptx::kMostStepWords> of(uint32_t lane) const;  // that is active in it

private:
    const uint8_t* first_ = nullptr;  // of the lowest lane
    uint32_t mask_ = 0;
    size_t bytes_ = 0;  // of each lane
};
inline std::array<uint32_t, ptx::kMostStepWords> words_of(const Trace& trace, uint64_t step, uint32_t lane) {
    return StepWords(trace, step).of(lane);
}

// The map and the box of a copy of a tensor, by the words of one of its two steps; none where the trace lacks the map.
// box.shared is not known here.
struct TensorCopy {
    ptx::TensorMap map;
    ptx::TensorBox box;
};
std::optional<TensorCopy> tensor_copy(const Trace& trace,
                                      const std::array<uint32_t, ptx::kMostStepWords>& words);

// The block that holds a step, by binary search.
uint32_t block_of(const Trace& trace, uint64_t step);

// Bytes the recording takes in memory, steps, forms and irregular tables together.
uint64_t bytes_of(const Trace& trace);

uint64_t dropped_of(const Trace& trace);

// Whether a request, or a part of it, is of shared memory of other blocks of the cluster, whose addresses begin above 32
// bits (core/base/cluster.h).
inline bool is_elsewhere(const Trace& trace, const Form& form) {
    return form.space == Space::Shared && form.array == kNoArray && (form.base_high != 0 || form.wide) &&
           trace.launch.cluster.count() > 1;
}

}  // namespace tilescope::trace
