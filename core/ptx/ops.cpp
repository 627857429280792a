#include "core/ptx/ops.h"

#include <array>
#include <unordered_map>

namespace tilescope::ptx {
namespace {

constexpr uint32_t kP = bit(Type::Pred);
constexpr uint32_t kB16 = bit(Type::B16), kB32 = bit(Type::B32), kB64 = bit(Type::B64);
constexpr uint32_t kB = kB16 | kB32 | kB64;
constexpr uint32_t kU32 = bit(Type::U32), kS32 = bit(Type::S32), kU64 = bit(Type::U64);
constexpr uint32_t kI32 = kU32 | kS32;
constexpr uint32_t kI32to64 = kI32 | kU64 | bit(Type::S64);
constexpr uint32_t kI = kI32to64 | bit(Type::U16) | bit(Type::S16);
constexpr uint32_t kS = bit(Type::S16) | kS32 | bit(Type::S64);
constexpr uint32_t kI8 = bit(Type::U8) | bit(Type::S8);
constexpr uint32_t kF32 = bit(Type::F32), kF64 = bit(Type::F64), kF = kF32 | kF64;
constexpr uint32_t kMemory = kI | kI8 | kB | bit(Type::B8) | kF;
constexpr uint32_t kConvert = kI | kI8 | kF | bit(Type::F16) | bit(Type::BF16);

// In the order of Op.
constexpr std::array kRules{
    OpRule{Op::Abs, "abs", "ds", kS | kF, 0, kFtz},
    OpRule{Op::Activemask, "activemask", "d", kB32, 0, 0},
    OpRule{Op::Add, "add", "dss", kI | kF, 0, kRound | kFtz | kSat | kCarry},
    OpRule{Op::Addc, "addc", "dss", kI32to64, 0, kCarry},
    OpRule{Op::And, "and", "dss", kP | kB, 0, 0},
    OpRule{Op::Atom, "atom", "dasV", kI32to64 | kB32 | kB64 | kF, 0, kSpace | kAtomic},
    OpRule{Op::Bar, "bar", "uU", 0, 0, kSync},
    OpRule{Op::Bfe, "bfe", "dsuu", kI32to64, 0, 0},
    OpRule{Op::Bfi, "bfi", "dssuu", kB32 | kB64, 0, 0},
    OpRule{Op::Bfind, "bfind", "Ds", kI32to64, 0, kShift},
    OpRule{Op::Bmsk, "bmsk", "dsu", kB32, 0, kExtend},
    OpRule{Op::Bra, "bra", "l", 0, 0, kUniform},
    OpRule{Op::Brev, "brev", "ds", kB32 | kB64, 0, 0},
    OpRule{Op::Clz, "clz", "Ds", kB32 | kB64, 0, 0},
    OpRule{Op::Cnot, "cnot", "ds", kB, 0, 0},
    OpRule{Op::Copysign, "copysign", "dss", kF, 0, 0},
    OpRule{Op::Cos, "cos", "ds", kF32, 0, kApprox | kFtz},
    OpRule{Op::Cvt, "cvt", "Bt", kConvert, kConvert, kRound | kFtz | kSat},
    OpRule{Op::Cvta, "cvta", "dz", kU32 | kU64, 0, kTo | kSpace},
    OpRule{Op::Div, "div", "dss", kI | kF, 0, kRound | kApprox | kFull | kFtz},
    OpRule{Op::Dp2a, "dp2a", "dsts", kI32, kI32, kHalf},
    OpRule{Op::Dp4a, "dp4a", "dsts", kI32, kI32, 0},
    OpRule{Op::Ex2, "ex2", "ds", kF32, 0, kApprox | kFtz},
    OpRule{Op::Exit, "exit", "", 0, 0, 0},
    OpRule{Op::Fma, "fma", "dsss", kF, 0, kRound | kFtz | kSat},
    OpRule{Op::Fns, "fns", "dsuu", kB32, 0, 0},
    OpRule{Op::Isspacep, "isspacep", "pz", 0, 0, kSpace},
    OpRule{Op::Ld, "ld", "La", kMemory, 0, kSpace | kCache | kVector},
    OpRule{Op::Lg2, "lg2", "ds", kF32, 0, kApprox | kFtz},
    OpRule{Op::Lop3, "lop3", "dsssi", kB32, 0, 0},
    OpRule{Op::Mad, "mad", "wssc", kI | kF, 0, kHalf | kRound | kFtz | kSat | kCarry},
    OpRule{Op::Mad24, "mad24", "dsss", kI32, 0, kHalf | kSat},
    OpRule{Op::Madc, "madc", "dsss", kI32to64, 0, kHalf | kCarry},
    OpRule{Op::Match, "match", "esu", kB32 | kB64, 0, kSync | kMatch},
    OpRule{Op::Max, "max", "dss", kI | kF, 0, kFtz | kNan},
    OpRule{Op::Membar, "membar", "", 0, 0, kScope},
    OpRule{Op::Min, "min", "dss", kI | kF, 0, kFtz | kNan},
    OpRule{Op::Mov, "mov", "My", kP | kI | kB | kF, 0, 0},
    OpRule{Op::Mul, "mul", "wss", kI | kF, 0, kHalf | kRound | kFtz | kSat},
    OpRule{Op::Mul24, "mul24", "dss", kI32, 0, kHalf},
    OpRule{Op::Neg, "neg", "ds", kS | kF, 0, kFtz},
    OpRule{Op::Not, "not", "ds", kP | kB, 0, 0},
    OpRule{Op::Or, "or", "dss", kP | kB, 0, 0},
    OpRule{Op::Popc, "popc", "Ds", kB32 | kB64, 0, 0},
    OpRule{Op::Prmt, "prmt", "dsss", kB32, 0, 0},
    OpRule{Op::Rcp, "rcp", "ds", kF, 0, kRound | kApprox | kFtz},
    OpRule{Op::Red, "red", "as", kI32to64 | kB32 | kB64 | kF, 0, kSpace | kAtomic},
    OpRule{Op::Redux, "redux", "dsu", kI32 | kB32, 0, kSync | kReduce},
    OpRule{Op::Rem, "rem", "dss", kI, 0, 0},
    OpRule{Op::Ret, "ret", "", 0, 0, kUniform},
    OpRule{Op::Rsqrt, "rsqrt", "ds", kF, 0, kApprox | kFtz},
    OpRule{Op::Sad, "sad", "dsss", kI, 0, 0},
    OpRule{Op::Selp, "selp", "dssq", kI | kB | kF, 0, 0},
    OpRule{Op::Set, "set", "dttQ", kI32 | kF32, kI | kB | kF, kCompare | kBool | kFtz},
    OpRule{Op::Setp, "setp", "pssQ", kI | kB | kF, 0, kCompare | kBool | kFtz},
    OpRule{Op::Shf, "shf", "dssu", kB32, 0, kFunnel},
    OpRule{Op::Shfl, "shfl", "esuuu", kB32, 0, kSync | kLane},
    OpRule{Op::Shl, "shl", "dsu", kB, 0, 0},
    OpRule{Op::Shr, "shr", "dsu", kI | kB, 0, 0},
    OpRule{Op::Sin, "sin", "ds", kF32, 0, kApprox | kFtz},
    OpRule{Op::Slct, "slct", "dsst", kI | kB | kF, kS32 | kF32, kFtz},
    OpRule{Op::Sqrt, "sqrt", "ds", kF, 0, kRound | kApprox | kFtz},
    OpRule{Op::St, "st", "aS", kMemory, 0, kSpace | kCache | kVector},
    OpRule{Op::Sub, "sub", "dss", kI | kF, 0, kRound | kFtz | kSat | kCarry},
    OpRule{Op::Subc, "subc", "dss", kI32to64, 0, kCarry},
    OpRule{Op::Szext, "szext", "dsu", kI32, 0, kExtend},
    OpRule{Op::Tanh, "tanh", "ds", kF32, 0, kApprox},
    OpRule{Op::Testp, "testp", "ps", kF, 0, kClass},
    OpRule{Op::Trap, "trap", "", 0, 0, 0},
    OpRule{Op::Vote, "vote", "dqu", kP | kB32, 0, kSync | kBallot},
    OpRule{Op::Xor, "xor", "dss", kP | kB, 0, 0},
    OpRule{Op::BarWarp, "bar", "u", 0, 0, kSync | kWarp},
    OpRule{Op::Call, "call", "", 0, 0, kUniform},
    OpRule{Op::BarRed, "bar", "duq", kU32 | kP, 0, kSync},
    OpRule{Op::Nanosleep, "nanosleep", "u", kU32, 0, 0},
    OpRule{Op::Prefetch, "prefetch", "a", 0, 0, kSpace | kHint},
    OpRule{Op::Griddepcontrol, "griddepcontrol", "", 0, 0, kHint},
    OpRule{Op::CpAsync, "cp", "aAnU", 0, 0, kCopy},
    OpRule{Op::CpCommit, "cp", "", 0, 0, kCopy},
    OpRule{Op::CpWait, "cp", "n", 0, 0, kCopy},
};

constexpr bool in_order() {
    for (size_t i = 0; i < kRules.size(); ++i)
        if (static_cast<size_t>(kRules[i].op) != i) return false;
    return kRules.size() == static_cast<size_t>(Op::CpWait) + 1;
}
static_assert(in_order());

}  // namespace

const OpRule* find_rule(std::string_view mnemonic) {
    static const std::unordered_map<std::string_view, const OpRule*> table = [] {
        std::unordered_map<std::string_view, const OpRule*> made;
        for (const OpRule& rule : kRules) made.emplace(rule.name, &rule);  // bar, cp: the first
        made.emplace("barrier", &rule_of(Op::Bar));
        made.emplace("fence", &rule_of(Op::Membar));
        made.emplace("prefetchu", &rule_of(Op::Prefetch));
        return made;
    }();
    const auto found = table.find(mnemonic);
    return found == table.end() ? nullptr : found->second;
}

const OpRule& rule_of(Op op) { return kRules[static_cast<size_t>(op)]; }

}  // namespace tilescope::ptx
