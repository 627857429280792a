// Half precision has fewer forms of an instruction than there are modifiers: here are those that it has.
//
//                          round        .ftz   .sat   .relu   .NaN .xorsign.abs
//   add sub mul   f16      rn           may    may
//                 bf16     rn
//                 f32x2    rn rz rm rp  may
//   fma           f16      rn, must     may    may    may
//                 bf16     rn, must                   may
//                 f32x2    one, must    may
//   neg abs       f16                   may
//   min max       f16                   may                   may
//                 bf16                                        may
//   ex2           f16      approx
//                 bf16     approx       must
//   tanh          both     approx
//
// f16 stands for f16x2 too, bf16 for bf16x2.
//
// Source: PTX ISA, "Half Precision Floating Point Instructions", "Half Precision Comparison Instructions",
// "Floating Point Instructions" of .f32x2, "Data Movement and Conversion Instructions: cvt". Where these leave it open,
// what ptxas 13.0 accepts.
#include "core/ptx/half_forms.h"

namespace tilescope::ptx {
namespace {

enum Modifier : uint32_t {
    kNothingMore = 0,
    kNearest = 1 << 0,      // .rn
    kZero = 1 << 1,         // .rz
    kDown = 1 << 2,         // .rm
    kUp = 1 << 3,           // .rp
    kAway = 1 << 4,         // .rna
    kOne = 1 << 5,          // one of these must be there
    kGuess = 1 << 6,        // .approx must be there
    kFlush = 1 << 7,        // .ftz
    kFlushed = 1 << 8,      // with kFlush: must be there
    kClamp = 1 << 9,        // .sat
    kPositive = 1 << 10,    // .relu
    kFinite = 1 << 11,      // .satfinite
    kFiniteMust = 1 << 12,  // with kFinite: must be there
};
constexpr uint32_t kEvery = kNearest | kZero | kDown | kUp;

uint32_t bit_of(Round round) {
    switch (round) {
        case Round::Rn: return kNearest;
        case Round::Rz: return kZero;
        case Round::Rm: return kDown;
        case Round::Rp: return kUp;
        case Round::Rna: return kAway;
        case Round::Approx: return kGuess;
        default: return 0;
    }
}

uint32_t modifiers_of(Op op, Type type) {
    const bool brain = type == Type::BF16 || type == Type::BF16X2, two = type == Type::F32X2;
    switch (op) {
        case Op::Add:
        case Op::Sub:
        case Op::Mul: return two ? kEvery | kFlush : brain ? kNearest : kNearest | kFlush | kClamp;
        case Op::Fma:
            return two     ? kEvery | kOne | kFlush
                   : brain ? kNearest | kOne | kPositive
                           : kNearest | kOne | kFlush | kClamp | kPositive;
        case Op::Neg:
        case Op::Abs:
        case Op::Min:
        case Op::Max: return brain ? kNothingMore : kFlush;
        case Op::Ex2: return brain ? kGuess | kFlush | kFlushed : kGuess;
        case Op::Tanh: return kGuess;
        default: return 0;
    }
}

const char* fault_among(uint32_t may, const Operation& made) {
    if ((may & kGuess) && made.round != Round::Approx) return "needs .approx";
    if (made.round == Round::None && (may & kOne)) return "needs a rounding that its type has";
    if (made.round != Round::None && !(may & bit_of(made.round)))
        return "has a rounding that its type does not";
    if (made.ftz && !(may & kFlush)) return "has .ftz, which its type does not";
    if (!made.ftz && (may & kFlushed)) return "needs .ftz with its type";
    if (made.sat && !(may & kClamp)) return "has .sat, which its type does not";
    if (made.relu && !(may & kPositive)) return "has .relu, which its type does not";
    if (made.satfinite && !(may & kFinite)) return "has .satfinite, which its types do not";
    if (!made.satfinite && (may & kFiniteMust)) return "needs .satfinite with its types";
    if (made.relu && (made.sat || made.round == Round::Rna)) return "has .relu beside what it cannot be with";
    return nullptr;
}

constexpr uint64_t kSingles = bit(Type::F16) | bit(Type::BF16), kPairs = bit(Type::F16X2) | bit(Type::BF16X2);
constexpr uint64_t kFloat = bit(Type::F32);
constexpr uint64_t kEight = bit(Type::E4M3X2) | bit(Type::E5M2X2);
constexpr uint64_t kLess = bit(Type::E3M2X2) | bit(Type::E2M3X2) | bit(Type::E2M1X2);

struct Conversion {
    uint64_t to, from;
    uint32_t may;
};
constexpr Conversion kConversions[] = {
    {kSingles | kPairs, kFloat, kNearest | kZero | kOne | kPositive | kFinite},
    {bit(Type::TF32), kFloat, kNearest | kZero | kAway | kOne | kPositive | kFinite},
    {kEight, kFloat | bit(Type::F16X2), kNearest | kOne | kPositive | kFinite | kFiniteMust},
    {kLess, kFloat, kNearest | kOne | kPositive | kFinite | kFiniteMust},
    {bit(Type::F16X2), kEight | kLess, kNearest | kOne | kPositive},
    {bit(Type::UE8M0X2), kFloat | bit(Type::BF16X2), kZero | kUp | kOne | kFinite},
    {bit(Type::BF16X2), bit(Type::UE8M0X2), kNearest | kOne},
};

}  // namespace

bool has_short_rules(Type type) { return (bit(type) & (kSingles | kPairs | bit(Type::F32X2))) != 0; }

const char* fault_of_short(const Operation& made) {
    if (made.half != Half::None) return "has .lo, .hi or .wide, which floats do not";
    return fault_among(modifiers_of(made.op, made.type), made);
}

bool converts_short(const Operation& made) {
    return made.relu || made.satfinite || made.type == Type::TF32 || elements_of(made.type) == 2 ||
           elements_of(made.type2) == 2;
}

const char* fault_of_short_conversion(const Operation& made) {
    for (const Conversion& row : kConversions)
        if ((bit(made.type) & row.to) && (bit(made.type2) & row.from)) return fault_among(row.may, made);
    const bool known = lies_in_memory(made.type) && lies_in_memory(made.type2);
    return known ? "has .relu or .satfinite, which its types do not"
                 : "has types between which there is no conversion";
}

// Of each type that is compared, the types that the answer may have.
const char* fault_of_set(const Operation& made) {
    constexpr uint64_t kWords = bit(Type::U32) | bit(Type::S32), kShorts = bit(Type::U16) | bit(Type::S16);
    uint64_t to = kWords | bit(Type::F32) | kSingles;
    if (made.type2 == Type::F16) to = kWords | kShorts | kSingles;
    if (made.type2 == Type::BF16) to = kWords | kShorts | bit(Type::BF16);
    if (made.type2 == Type::F16X2) to = kWords | bit(Type::F16X2);
    if (made.type2 == Type::BF16X2) to = kWords | bit(Type::BF16X2);
    return bit(made.type) & to ? nullptr : "gives a type that this comparison does not";
}

}  // namespace tilescope::ptx
