// PTX as data: what the parser makes, the printer writes, the interpreter runs and the instrumenter changes.
//
//   Module            .version .target .address_size, files, module-scope variables
//     Kernel          .entry: parameters, registers, variables, body; functions that it calls are inlined
//       Statement     label | instruction | .loc (folded into the instructions) | .pragma
//
// Registers, symbols and labels are indexes into the kernel's tables, so that nothing later looks
// up a name. Nested { } scopes are flattened: a name that an inner scope declares again is made
// unique. Names and order are kept otherwise, so that a module prints back as it was read.
//
// Which operands an instruction has is the table of core/ptx/ops.h; the parser has checked it.
//
// Source: PTX ISA, "Syntax", "State Spaces, Types, and Variables", "Instruction Operands",
// "Instruction Set".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/element.h"
#include "core/ptx/structs.h"

namespace tilescope::ptx {

using Type = ElementType;

// Generic is an address without a space; the window it falls in decides.
enum class StateSpace : uint8_t { Generic, Param, Shared, Global, Local, Const };

// clang-format off
enum class Op : uint16_t {
    Abs, Activemask, Add, Addc, And, Atom, Bar, Bfe, Bfi, Bfind, Bmsk, Bra, Brev, Clz, Cnot, Copysign, Cos,
    Cvt, Cvta, Div, Dp2a, Dp4a, Ex2, Exit, Fma, Fns, Isspacep, Ld, Lg2, Lop3, Mad, Mad24, Madc, Match, Max,
    Membar, Min, Mov, Mul, Mul24, Neg, Not, Or, Popc, Prmt, Rcp, Red, Redux, Rem, Ret, Rsqrt, Sad, Selp, Set,
    Setp, Shf, Shfl, Shl, Shr, Sin, Slct, Sqrt, St, Sub, Subc, Szext, Tanh, Testp, Trap, Vote, Xor, BarWarp,
    Createpolicy, Discard, Elect, Setmaxnreg, Opaque,
    Call, BarRed, Nanosleep, Prefetch, Griddepcontrol, CpAsync, CpCommit, CpWait, CpWaitAll,
    Ldmatrix, Stmatrix, Movmatrix, Mma, MmaSp, WmmaLoad, WmmaStore, WmmaMma,
    MbarrierInit, MbarrierInval, MbarrierArrive, MbarrierArriveExpect, MbarrierDrop, MbarrierDropExpect,
    MbarrierExpect, MbarrierComplete, MbarrierTestWait, MbarrierTestParity, MbarrierTryWait, MbarrierTryParity,
    MbarrierPending, CpArrive, BulkToShared, BulkToGlobal, BulkBetween, BulkReduceGlobal, BulkReduceBetween,
    BulkCommit, BulkWait, BulkPrefetch, FenceTensormap,
    TensorToShared, TensorToGlobal, TensorReduce, TensorPrefetch, PrefetchTensormap, TensormapReplace,
    TensormapReplaceOne, TensormapCopy,
    Wgmma, WgmmaSp, WgmmaFence, WgmmaCommit, WgmmaWait, Mapa, Getctarank, ClusterArrive, ClusterWait, StAsync,
    StAsyncRelease, RedAsync, RedAsyncRelease, MultimemLoad, MultimemSt, MultimemRed, TryCancel, IsCanceled,
    FirstBlock, FirstBlocks,
};
// clang-format on
inline constexpr Op kLastOp = Op::FirstBlocks;
std::string_view name_of(Op op);  // the mnemonic: "add", "bar", ...

// clang-format off
enum class Compare : uint8_t {
    None, Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan,
};
// clang-format on
enum class Bool : uint8_t { None, And, Or, Xor };
enum class Round : uint8_t { None, Rn, Rz, Rm, Rp, Rna, Rni, Rzi, Rmi, Rpi, Approx, Full };
enum class Half : uint8_t { None, Lo, Hi, Wide };
// shf: L R with Wrap Clamp; shfl: Up Down Bfly Idx; vote: All Any Uni Ballot; match: All Any;
// bar: Sync Arrive, with .red Sync All Any; bfind: ShiftAmount; szext, bmsk: Clamp Wrap; testp: Finite to
// Subnormal.
// clang-format off
enum class Mode : uint8_t {
    None, L, R, LWrap, LClamp, RWrap, RClamp, Up, Down, Bfly, Idx, All, Any, Uni, Ballot, Sync,
    Arrive, ShiftAmount /* bfind */, Clamp, Wrap, Finite, Infinite, Number, NotANumber, Normal, Subnormal,
};
// clang-format on

// What atom and red do to a word of memory, and redux to the values of a warp's lanes.
enum class Atomic : uint8_t { None, Add, And, Or, Xor, Min, Max, Inc, Dec, Exch, Cas };

// clang-format off
enum class SpecialRegister : uint8_t {
    TidX, TidY, TidZ, NtidX, NtidY, NtidZ, CtaidX, CtaidY, CtaidZ, NctaidX, NctaidY, NctaidZ,
    LaneId, WarpId, NwarpId, SmId, NsmId, GridId, Clock, Clock64, ClockHi, GlobalTimer,
    GlobalTimerLo, GlobalTimerHi, LanemaskEq, LanemaskLe, LanemaskLt, LanemaskGe, LanemaskGt,
    DynamicSmemSize, TotalSmemSize,
    // Of a launch without clusters: each block is one of its own.
    ClusteridX, ClusteridY, ClusteridZ, NclusteridX, NclusteridY, NclusteridZ, ClusterCtaidX, ClusterCtaidY,
    ClusterCtaidZ, ClusterNctaidX, ClusterNctaidY, ClusterNctaidZ, ClusterCtarank, ClusterNctarank,
    IsExplicitCluster,
};
// clang-format on

struct Operand {
    enum class Kind : uint8_t {
        None,
        Register,   // reg
        Immediate,  // bits: the value, sign-extended to 64 bits; or IEEE bits of a float constant
        Special,    // special
        Symbol,     // symbol + offset: the address of a variable (mov, cvta)
        Address,    // [reg + offset], [symbol + offset] or [immediate]
        Label,      // label
        Vector,     // elements
        Sink,       // '_'
    } kind = Kind::None;
    bool inside = false;               // a vector in the brackets of the address before it: [reg, {a, b}]
    bool negated = false;              // '!' before a predicate, '-' where an instruction takes it
    Type immediate_type = Type::None;  // F32 for 0f..., F64 for 0d..., S64/U64 for integers
    int32_t reg = -1;                  // index into Kernel::registers
    int32_t symbol = -1;               // index into Kernel::symbols
    int32_t label = -1;                // index into Kernel::labels
    int64_t offset = 0;                // bytes
    uint64_t bits = 0;
    SpecialRegister special{};
    std::vector<Operand> elements;  // Vector: registers, immediates or sinks
    std::string text;  // as written, where printing needs it: immediates; what follows an address
};

// Where an instruction came from: .loc of the PTX (0 where there is none).
struct SourceLocation {
    uint32_t file = 0, line = 0, column = 0;
    uint32_t inlined = 0;  // 1 + index into Kernel::inlined, 0 for code that was not inlined
    bool operator==(const SourceLocation&) const = default;
};

// What an instruction computes, whatever its operands are.
struct Operation {
    Op op{};
    Type type = Type::None;   // the first type suffix: what is computed or moved
    Type type2 = Type::None;  // the second, where there are two: cvt.type.type2, set.type.type2
    Compare compare = Compare::None;
    Bool combine = Bool::None;
    Round round = Round::None;
    Half half = Half::None;
    Mode mode = Mode::None;
    Atomic atomic = Atomic::None;
    bool carry_out = false;  // .cc: writes the carry flag of the thread
    bool nan = false;        // min.NaN, max.NaN: a NaN operand gives a NaN
    bool ftz = false, sat = false;
    bool relu = false;       // below zero, zero
    bool satfinite = false;  // cvt: beyond the largest finite number, that number
    bool xorsign = false;    // min, max: of the sizes, with the sign of the product
    bool operator==(const Operation&) const = default;
};

inline constexpr char kRegisterPlace = '\1';

struct Instruction : Operation {
    StateSpace space = StateSpace::Generic;
    uint8_t vector = 1;  // 1, 2, 4 or 8 elements for ld, st, atom and red; words of 32 bits for cp.async
    bool is_volatile = false, uniform = false, to_space = false /* cvta.to */;
    std::string mnemonic;               // as written ("barrier" for Op::Bar); empty: name_of(op)
    std::vector<std::string> suffixes;  // every suffix as written, in order, for printing: "global", "f32"
    int32_t guard = -1;                 // predicate register, -1 for none
    bool guard_negated = false;
    int32_t policy = -1;  // register of a cache policy, which says how fast and not what; -1 for none
    std::vector<Operand> operands;  // destination first, as written; setp p|q has two destinations
    uint8_t destinations = 0;       // how many of the operands, from the first, are written
    SourceLocation source;
    uint32_t text_line = 0;  // line in the PTX text, from 1
    // Call: a function that has no body here, as vprintf. Its operands are .param variables; the first
    // `results` of them take what it returns. They do not count as destinations, which are registers.
    std::string callee;
    uint8_t results = 0;
    // Opaque: its operands as text, with kRegisterPlace for each register. The registers are its operands, once as what it
    // writes and once as what it reads, whatever it does (opaque.cpp).
    std::string opaque;
};

struct Register {
    std::string name;  // "%r12"
    Type type = Type::None;
};

// A value of an initialiser that is an address, known only where variables are placed.
struct Relocation {
    uint64_t offset = 0;   // bytes from the variable's first; it fills an element
    int32_t variable = 0;  // index into Module::variables
    int64_t addend = 0;
    uint8_t shift = 0;     // which bits of the address an element of 8 bits takes: 0xFF00(x) those from 8 on
    bool generic = false;  // a generic address
};

// A variable of the kernel or the module, a kernel parameter, or what a call is given or returns (.param).
struct Symbol {
    std::string name;
    StateSpace space{};
    Type type = Type::None;  // element type
    uint32_t alignment = 0;  // bytes, 0 where not given
    uint64_t count = 1;      // elements (product of all dimensions); 0 for an extern of unknown size
    bool is_array = false;
    bool is_extern = false;
    int32_t module_variable = -1;  // in Kernel::symbols: index into Module::variables; -1: its own
    std::string linkage;           // ".visible", ".weak", ... as written, or empty
    std::string attributes;        // of a parameter: ".ptr .global .align 4" as written, or empty
    // Bytes of an initialiser, zeros after it; empty for none, and in a kernel's copy of a module variable.
    std::vector<uint8_t> initial;
    std::vector<Relocation> relocations;  // the same, by offset; `initial` holds zeros there
    uint64_t bytes() const { return count * size_of(type); }
};

struct Label {
    std::string name;          // "$L__BB0_7"
    int32_t instruction = -1;  // index into Kernel::instructions; == size() for the end of the body
};

// Text before an instruction that must be printed again: .pragma, and a .loc that no instruction took.
struct Note {
    uint32_t instruction = 0;    // it stands before this one
    bool before_labels = false;  // it also stands before the labels that are there
    std::string text;            // one line, without indentation
};

struct Kernel {
    std::string name;
    bool visible = true;
    bool weak = false;
    std::vector<std::string> directives;  // ".maxntid 16, 16, 1" as written
    std::vector<int32_t> parameters;      // indices of symbols, in order
    std::vector<Register> registers;
    std::vector<Symbol> symbols;  // parameters, own variables, then module variables it may name
    std::vector<Label> labels;
    std::vector<Instruction> instructions;
    std::vector<Note> notes;           // sorted by instruction
    std::vector<std::string> inlined;  // "function_name $L__info_string0, inlined_at 1 15 5" of .loc
};

struct SourceFile {
    uint32_t index = 0;
    std::string name;
    std::string attributes;  // ", 1700000000, 1234": time and size as written, or empty
};

// A kernel that Tilescope cannot read, and the sentence that says why. The others of its module can be used.
struct Refusal {
    std::string kernel, why;
};

struct Module {
    uint32_t version_major = 0, version_minor = 0;
    std::string target;  // "sm_70", or with more: "sm_70, debug"
    uint32_t address_size = 64;
    std::vector<SourceFile> files;
    std::vector<std::string> functions;  // declarations of those without a body that are called, as written
    std::vector<Symbol> variables;       // module scope
    std::vector<Kernel> kernels;
    std::vector<Refusal> refused;
    std::vector<std::string> sections;  // .section blocks and other tails, as written
    Structs structs;                    // what comments say of variables and parameters
};

}  // namespace tilescope::ptx
