// The instruction table: one row says all that is known of an instruction, and whoever reads, runs, records
// or counts instructions asks the row. The parser refuses what does not fit it, so that operands can be
// indexed without looking.
//
// A rule's name is its mnemonic, with those suffixes behind it that make another instruction of it: "bar",
// "bar.red", "cp.async.wait_all". Its operands are one letter each, in the order of Instruction::operands:
//
//   destinations                         sources
//   d  register of `type`                s  register or immediate of `type`
//   w  the same, twice as wide after     c  the same, twice as wide after .wide
//      .wide                             t  register or immediate of `type2`
//   D  32-bit register                   T  the same, or a special register; its register may be wider (cvt)
//   B  cvt: register at least as         u  32-bit register or immediate
//      wide as `type`                    U  the same, may be left out
//   p  predicate, or the two of p|q      q  predicate, perhaps negated: Operand::negated
//   o  one predicate                     Q  the same, there exactly if `combine` is set
//   e  d, or d|p                         i  immediate of 8 bits
//   E  D, or D|p                         l  label
//   L  ld: register or vector of         S  st: register, immediate or vector
//      `vector` elements                 y  mov: register, immediate, special register, symbol,
//   M  mov: register, or vector that        or vector that makes up `type`
//      takes `type` apart                a  address, for ld and st
//                                        A  address in global memory (cp.async)
//                                        z  register or symbol that is an address (cvta, isspacep)
//                                        V  as s, there exactly if `atomic` is Cas
//                                        P  as t, there exactly if `type` is a pair made of two of `type2` (cvt)
//                                        n  whole number: groups of copies
//                                        N  whole number: bytes of a copy
//                                        k  what a cache policy is made of, as its form has it
//   F  fragment of a matrix (matrix.h):  f  the same
//      a vector of registers, or one     H  address in shared memory, of what is read
//   j  d, or a Sink                      b  the same, of a barrier
//                                        K  as u of 16 bits, there exactly with .multicast::cluster or .cp_mask
//                                        O  as u, there exactly with .ignore_oob
//                                        m  a tensor map and coordinates: [map, {x, y}]
//                                        I  vector of offsets, there exactly with .im2col ...
//   G  sums of wgmma: vector of 32-bit   g  A of wgmma: vector of registers, or v
//      registers, that it adds to        v  64-bit register or constant (a descriptor)
//                                        W  predicate, perhaps negated, or constant
//                                        h  constant 1 or -1, there exactly for floats
//                                        r  constant 0 or 1, there exactly for 16 bits, A by descriptor
//                                        R  the same, however A is given
//
// `p`, `e`, `E` and `m` may put two operands; `U`, `Q`, `V`, `P`, `k`, `K`, `O`, `I`, `h`, `r` and `R` may put none. Instruction::destinations counts the
// destinations. Either half of p|q, the p of d|p, and an element of L or M may be a Sink. Only a predicate
// that is a source can be negated. A special register is a source of mov and cvt alone, as PTX has it.
//
// Registers hold at least the bits of the operand's type: exactly as many, but for ld, st and cvt,
// whose integer registers may be wider.
//
// Source: PTX ISA, "Instruction Set"; "Operand Type Checking", "Operand Size Exceeding
// Instruction-Type Size".
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/ptx/ast.h"
#include "core/ptx/sites.h"

namespace tilescope::ptx {

constexpr uint64_t bit(Type type) { return UINT64_C(1) << static_cast<uint32_t>(type); }

// Suffixes that an instruction may have beside its types.
enum Suffix : uint64_t {
    kRound = 1ull << 0,        // .rn .rz .rm .rp, of floats; beside kApprox one of them all must be there
    kRoundMust = 1ull << 1,    // with kRound: floats must have it
    kRoundCvt = 1ull << 2,     // with kRound: .rni .rzi .rmi .rpi .rna too, by the types of a conversion
    kApprox = 1ull << 3,       // .approx: must be there, but beside kRound
    kFull = 1ull << 4,         // .full
    kFtz = 1ull << 5,          // .ftz
    kSat = 1ull << 6,          // .sat of .f32 and .f16; of a conversion to any type
    kSatInteger = 1ull << 7,   // .sat of .s32; of products after .hi alone
    kHalf = 1ull << 8,         // .lo .hi .wide: must be there with integers
    kLowHigh = 1ull << 9,      // .lo .hi: must be there
    kCompare = 1ull << 10,     // .lt ...: must be there
    kBool = 1ull << 11,        // .and .or .xor
    kUniform = 1ull << 12,     // .uni
    kSpace = 1ull << 13,       // .global ...
    kSpaceMust = 1ull << 14,   // with kSpace: must be there
    kLoadCache = 1ull << 15,   // .volatile .relaxed .gpu .nc .ca ...: kept, of no meaning here but .volatile
    kStoreCache = 1ull << 16,  // the same of a store
    kVector = 1ull << 17,      // .v2 .v4 .v8
    kTo = 1ull << 18,          // cvta.to
    kSync = 1ull << 19,        // bar.warp.sync, shfl.sync: must be there
    kBarrier = 1ull << 20,     // bar: .sync or .arrive must be there; .cta, .aligned
    kTally = 1ull << 21,       // bar.red: .popc .and .or must be there; .aligned
    kFunnel = 1ull << 22,      // shf: .l or .r, and .wrap or .clamp: must be there
    kLane = 1ull << 23,        // shfl: .up .down .bfly .idx: must be there
    kBallot = 1ull << 24,      // vote: .all .any .uni .ballot: must be there
    kShift = 1ull << 25,       // bfind.shiftamt
    kScope =
        1ull << 26,  // membar: .cta .gl .sys; fence: .sc .acq_rel .cta .cluster .gpu .sys .proxy.async ...:
                     // must be there
    kAtomic = 1ull << 27,   // atom, red: .add ... must be there; .relaxed .gpu ... kept, of no meaning here
    kCarry = 1ull << 28,    // .cc
    kCarryIn = 1ull << 29,  // takes the carry flag, without a suffix that says so
    kNan = 1ull << 30,      // .NaN and .xorsign.abs
    kClass = 1ull << 31,    // testp: .finite ...: must be there
    kExtend = 1ull << 32,   // szext, bmsk: .clamp .wrap: must be there
    kMatch = 1ull << 33,    // match: .any .all: must be there
    kReduce = 1ull << 34,   // redux: .add .min ...: must be there
    kHint = 1ull << 35,     // what only says how fast: .L1 .L2 .wait ...
    kCopy = 1ull << 36,     // cp.async: .ca.shared.global ...
    kMatrix = 1ull << 37,   // all of them, by matrix.h: .sync.aligned.m16n8k16 ...
    kRelu = 1ull << 38,     // .relu, of half precision; with kRoundCvt: .satfinite too
    kPolicy = 1ull << 40,   // createpolicy: .fractional.L2::evict_last ...
    kRegisterCount = 1ull << 41,  // setmaxnreg: .inc or .dec, .sync.aligned: must be there
    kForm = 1ull << 42,           // all of them, by forms.h
    kHidden = 1ull << 43,         // not a suffix: it changes memory and is no site
};

// The part of an SM that is kept busy.
enum class SmUnit : uint8_t {
    None,     // no machine code: registers are renamed, addresses are the same in all spaces
    Alu,      // integers, logic, comparisons
    Fma,      // sums and products
    Special,  // divisions, roots, sines: approximated, alone or as a first step
    Convert,  // between types; between integers it is no machine code either
    Lanes,    // lanes of a warp tell one another something
    Tensor,   // products of matrices
    Memory,
    Copy,  // asynchronous copies and their groups
    Barrier,
    Branch,
    Control,  // all other: exits, fences, calls
};

// Whether and how the values that the sources hold are in the result.
enum class Dataflow : uint8_t {
    None,     // it is a predicate, or a constant
    Copy,     // it is the first source, of this lane or of another
    Choice,   // it is the first source or the second
    Sum,      // a + b, a - b
    Product,  // a * b
    Fused,    // a * b + c
    Other,    // other arithmetic on values
};

struct OpRule {
    Op op;
    const char* name;      // mnemonic and, dotted, what else chooses the rule
    const char* operands;  // letters, see above
    uint64_t types;        // bits of the types that `type` may be; 0: the instruction has none
    uint64_t types2;       // bits of the types that `type2` may be; 0: there is none
    uint64_t suffixes;     // bits of Suffix
    SmUnit unit = SmUnit::Alu;
    Dataflow flow = Dataflow::Other;
    std::optional<SiteKind> site = std::nullopt;  // the kind of site that it is, where it is one
};

// The rule that the mnemonic and suffixes of an instruction name; `in_name`: how many of its suffixes, from
// the first, do so. Null for a mnemonic that is not known.
const OpRule* find_rule(const Instruction& made, size_t& in_name);
const OpRule& rule_of(Op op);
std::span<const OpRule> all_rules();

// What .wide makes of a type: u16 to u32, s32 to s64.
Type widened(Type type, Half half);

// Whether a register of the type that is given may be the operand: of the same size, with untyped bits or the
// same kind of number on both sides.
bool agrees(Type wanted, Type given);
// The same for ld, st and cvt, whose integers may sit in wider registers.
bool agrees_relaxed(Type wanted, Type given);
// Constants are of F32 or F64 with all their bits, or integers, which are cut to size.
bool immediate_fits(Type wanted, Type given);

bool is_destination(char letter);
// Whether an operand of this letter is there at all, of those whose suffixes decide it; true for all others.
bool has_operand(const Instruction& instruction, char letter);
// The type that an operand of this letter has in an instruction.
Type type_of(char letter, const Operation& operation);
// Type of the i-th source, from 0.
Type source_type(const Instruction& instruction, size_t i);
// Where in an instruction's operands the address stands; 0 where none does.
size_t address_at(const Instruction& instruction);

// Whether a conversion makes a pair out of two numbers, each in a register of its own.
bool joins(const Operation& operation);

// How values flow, by the instruction's types and modifiers too.
Dataflow flow_of(const Operation& operation);
// Floating-point operations of a lane: 2 where a product and a sum are one instruction, twice as many of pairs, 0 with
// integers.
uint8_t flops_of(const Operation& operation);
// "ld.global.f32", as it is written.
std::string full_name(const Instruction& instruction);
// Whether it is written with any of these suffixes.
bool has_suffix(const Instruction& instruction, std::initializer_list<std::string_view> words);
// Whether it is a fence that orders what threads do for each other; those of proxies order what one thread does.
bool orders_threads(const Instruction& instruction);
// Whether machine code has nothing for it.
bool is_free(const Instruction& instruction);

}  // namespace tilescope::ptx
