// The instruction table: which suffixes and operands each instruction has. The parser refuses what
// does not fit it, so that whoever runs or changes instructions can index operands without looking.
//
// A rule's operands are one letter each, in the order of Instruction::operands:
//
//   destinations                         sources
//   d  register of `type`                s  register or immediate of `type`
//   w  the same, twice as wide after     c  the same, twice as wide after .wide
//      .wide                             t  register or immediate of `type2`
//   D  32-bit register                   u  32-bit register or immediate
//   B  cvt: register at least as         U  the same, may be left out
//      wide as `type`                    q  predicate, perhaps negated: Operand::negated
//   p  predicate, or the two of p|q      Q  the same, there exactly if `combine` is set
//   e  d (of match: 32-bit), or d|p      i  immediate
//   L  ld: register or vector of         l  label
//      `vector` elements                 S  st: register, immediate or vector
//   M  mov: register, or vector that     y  mov: register, immediate, special register, symbol,
//      takes `type` apart                   or vector that makes up `type`
//                                        a  address, for ld and st
//                                        z  register or symbol that is an address (cvta, isspacep)
//                                        V  as s, there exactly if `atomic` is Cas
//                                        A  address in global memory (cp.async)
//                                        n  whole number (cp.async: bytes; its wait: groups)
//
// `p` and `e` may put two operands; `U`, `Q` and `V` may put none. Instruction::destinations counts the
// destinations. Either half of p|q, the p of d|p, and an element of L or M may be a Sink. Only a
// predicate that is a source can be negated. A special register is a source of mov alone (and of
// cvt), as PTX has it.
//
// Registers hold at least the bits of the operand's type: exactly as many, but for ld, st and cvt,
// whose integer registers may be wider.
//
// Source: PTX ISA, "Instruction Set"; "Operand Type Checking", "Operand Size Exceeding
// Instruction-Type Size".
#pragma once

#include <cstdint>
#include <string_view>

#include "core/ptx/ast.h"

namespace tilescope::ptx {

constexpr uint32_t bit(Type type) { return 1u << static_cast<uint32_t>(type); }

// Suffixes that an instruction may have beside its types.
enum Suffix : uint32_t {
    kRound = 1 << 0,   // .rn .rz .rm .rp; of cvt also .rni .rzi .rmi .rpi .rna
    kApprox = 1 << 1,  // .approx
    kFull = 1 << 2,    // .full
    kFtz = 1 << 3,
    kSat = 1 << 4,
    kHalf = 1 << 5,     // .lo .hi .wide
    kCompare = 1 << 6,  // .lt ...
    kBool = 1 << 7,     // .and .or .xor
    kUniform = 1 << 8,  // .uni
    kSpace = 1 << 9,    // .global ...
    kCache = 1 << 10,   // .volatile .relaxed .gpu .nc .ca ...: kept, and of no meaning here but .volatile
    kVector = 1 << 11,  // .v2 .v4
    kTo = 1 << 12,      // cvta.to
    kSync = 1 << 13,    // bar.sync, shfl.sync: must be there
    kFunnel = 1 << 14,  // shf: .l or .r, and .wrap or .clamp: must be there
    kLane = 1 << 15,    // shfl: .up .down .bfly .idx: must be there
    kBallot = 1 << 16,  // vote: .all .any .uni .ballot: must be there
    kShift = 1 << 17,   // bfind.shiftamt
    kScope = 1 << 18,   // membar: .cta .gl .sys; fence: .sc .acq_rel .cta .cluster .gpu .sys: must be there
    kWarp = 1 << 19,    // bar.warp.sync
    kAtomic = 1 << 20,  // atom, red: .add ... must be there; .relaxed .gpu ... kept, and of no meaning here
    kCarry = 1 << 21,   // .cc
    kNan = 1 << 22,     // .NaN
    kClass = 1 << 23,   // testp: .finite ...: must be there
    kExtend = 1 << 24,  // szext, bmsk: .clamp .wrap: must be there
    kMatch = 1 << 25,   // match: .any .all: must be there
    kReduce = 1 << 26,  // redux: .add .min ...: must be there
    kHint = 1 << 27,    // what only says how fast: .L1 .L2 .wait ...
    kCopy = 1 << 28,    // cp: .async.ca.shared.global .async.commit_group .async.wait_group ...
};

struct OpRule {
    Op op;
    const char* name;
    const char* operands;  // letters, see above
    uint32_t types;        // bits of the types that `type` may be; 0: the instruction has none
    uint32_t types2;       // the same of `type2`
    uint32_t suffixes;     // of Suffix
};

// Null for a mnemonic that is not known. "bar" is Op::Bar and "cp" Op::CpAsync; bar.warp, bar.red and the
// groups of cp.async are rules of their own.
const OpRule* find_rule(std::string_view mnemonic);
const OpRule& rule_of(Op op);

}  // namespace tilescope::ptx
