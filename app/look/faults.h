// The faults of a block, step by step: which cells to mark, what to say, and where the next one is.
// Found by core/hazards/hazards.h; the wrong elements of P by the plain product of the inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/look/block_index.h"
#include "core/hazards/said.h"
#include "core/playback/replay.h"

namespace tilescope::look {

struct WrongElement {
    uint64_t element = 0;  // linear, of P
    Value stored;
    double expected = 0;
};

// The list of the whole recording, as record and report say it, and where its first fault is.
struct SaidFaults {
    std::vector<analysis::SaidFault> said;
    bool placed = false;  // there is a fault, and a step that it concerns
    uint32_t block = 0;   // index into Trace::blocks
    uint32_t step = 0;    // of the block
};
SaidFaults said_faults(const trace::Trace& trace, const analysis::Hazards& hazards);
// "2 faults. Race: ...": what the strip says of them, which are counted by kind and array; "" where there is none.
std::string strip_text(const trace::Trace& trace, const SaidFaults& faults, const Notation& notation = {});

struct BlockFaults {
    uint32_t block = 0;
    analysis::FaultyCells found;
    // Steps of the block, ascending: those at which a load went wrong, as far as is known; if none did, those
    // at which a fault comes about, on each array one of two warps where there is one.
    std::vector<uint32_t> steps;
    bool not_looked = false;          // the block takes more memory or accesses than are allowed
    bool all_right = false;           // races alone, and every load read what it should
    std::vector<WrongElement> wrong;  // elements of P, ascending; none where the recording is verified
    bool any() const { return !found.cells.empty() || !wrong.empty(); }
};

// replay: null where there are no values; wrong elements are then not known.
BlockFaults block_faults(const analysis::Recording& recording, const BlockIndex& index,
                         const playback::BlockReplay* replay, Stop stop = {});

// Cells of an array that are at fault at a step, each once.
std::vector<CellRect> faulty_at(const trace::Trace& trace, const BlockFaults& faults, uint8_t array,
                                uint32_t step);

// "Race on Mds[1,3]: ..." where a fault comes about at the step; empty elsewhere.
std::string fault_caption(const trace::Trace& trace, const BlockFaults& faults, uint32_t step,
                          const Notation& notation = {});
// The same, and then without how many cells more there are at the step. Empty where the step is sound.
std::vector<std::string> fault_captions(const trace::Trace& trace, const BlockFaults& faults, uint32_t step,
                                        const Notation& notation = {});

// The step of the next fault behind, or before, a step.
std::optional<uint32_t> next_fault(const BlockFaults& faults, uint32_t step);
std::optional<uint32_t> previous_fault(const BlockFaults& faults, uint32_t step);

}  // namespace tilescope::look
