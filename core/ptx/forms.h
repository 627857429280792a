// Instructions of which not all suffixes go together: barriers in memory (mbarrier), bulk copies, products of warpgroups,
// clusters, and what belongs to them. A row of forms.cpp has all suffixes that one of them may have:
//
//   mbarrier.arrive   ?noComplete ?release.cta|release.cluster|... ?shared|shared::cta|shared::cluster b64
//
//   a word       a suffix that must be there
//   a|b          one of them; of a.b, both, one behind the other
//   %            any suffix
//   ?            in front of choices: one of them may be there
//   *            in front of choices: any of them may, each once
//
// They are listed as the PTX ISA orders them. As for ptxas, they may stand in any other order; of two spaces the first is
// where it writes.
//
// Source: PTX ISA, the syntax of each instruction.
#pragma once

#include <string>

#include "core/ptx/ast.h"
#include "core/ptx/matrix.h"
#include "core/ptx/signal.h"

namespace tilescope::ptx {

// Reads the suffixes behind the first `in_name`, and sets space, type and atomic of the instruction. Answers what is wrong
// with them, for the parser's sentence; "" for nothing.
std::string read_form(Instruction& made, size_t in_name);
// The GPU and the PTX version that the instruction needs.
DeviceNeeds needs_of_form(Op op);

// The operand that a letter of the rule stands for (ops.h); null where the instruction has none.
const Operand* operand_of(const Instruction& instruction, char letter);

// What it does to a barrier in memory; None for all others.
Signal signal_of(Op op);
// A wait: whether it waits for the phase of a parity, a register or constant of 32 bits, and not for that of a state.
bool waits_for_parity(Op op);
// Whether it may put the thread to sleep until the phase ends (try_wait).
bool may_sleep(Op op);

// Of a wait: the state or the parity.
const Operand* phase_of(const Instruction& instruction);
// Of an arrival: how many at once; null: one.
const Operand* arrivals_of(const Instruction& instruction);
// Of an instruction with .expect_tx, of mbarrier.expect_tx and complete_tx, and of a bulk copy: the bytes.
const Operand* bytes_operand_of(const Instruction& instruction);
// The barrier that an instruction asks or changes, or that a copy tells of its end; null: a group of copies ends with it.
const Operand* barrier_of(const Instruction& instruction);

// Copies of bytes side by side, and copies of a box of a tensor.
bool is_bulk_copy(Op op);
bool is_tensor_copy(Op op);

// Of a tensor copy or its prefetch: the registers of the map's address and of the coordinates, the innermost first; with
// .tile::gather4 and .tile::scatter4 a column and four rows. The offsets of .im2col; null for none.
const Operand* map_of(const Instruction& instruction);
// Of a copy with .multicast::cluster: the mask of blocks that it goes to, 16 bits.
const Operand* blocks_of(const Instruction& instruction);
const Operand* coordinates_of(const Instruction& instruction);
const Operand* offsets_operand_of(const Instruction& instruction);
uint32_t dimensions_of(const Instruction& instruction);  // 1 to 5; 0 for other instructions
uint32_t offsets_of(const Instruction& instruction);     // how many

// wgmma.mma_async, sparse or not: the descriptors of A, null where A is in registers, and of B.
constexpr bool is_wgmma(Op op) { return op == Op::Wgmma || op == Op::WgmmaSp; }
const Operand* descriptor_of_a(const Instruction& instruction);
const Operand* descriptor_of_b(const Instruction& instruction);
// Whether D is A B + D; false: A B. A predicate or a constant.
const Operand* scale_of_d(const Instruction& instruction);
// The constants 1 or -1 that A and B are multiplied by, 0 or 1 for whether A or B is MN-major; null: 1, and 0.
const Operand* scale_of_a(const Instruction& instruction);
const Operand* scale_of_b(const Instruction& instruction);
const Operand* transposes_a(const Instruction& instruction);
const Operand* transposes_b(const Instruction& instruction);

StateSpace source_space_of(Op op);  // of the bulk copies and cp.async
// Whether an address is one of the cluster's shared memory (.shared::cluster), perhaps another block's.
bool names_cluster(const Instruction& instruction);

}  // namespace tilescope::ptx
