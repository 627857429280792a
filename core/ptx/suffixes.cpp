// The suffixes of an instruction, ".global.v4.f32", against its rule: known, complete, and possible together.
//
// Source: PTX ISA, "Instruction Set", the syntax of each instruction.
#include <algorithm>
#include <span>
#include <string_view>

#include "core/ptx/matrix.h"
#include "core/ptx/names.h"
#include "core/ptx/parser.h"

namespace tilescope::ptx {
namespace {

template <size_t n>
bool one_of(std::string_view text, const char* const (&names)[n]) {
    return std::find(std::begin(names), std::end(names), text) != std::end(names);
}

constexpr const char* kLoadWords[] = {"weak", "relaxed", "acquire", "cta", "gpu", "sys",
                                      "nc",   "ca",      "cg",      "cs",  "lu",  "cv"};
constexpr const char* kStoreWords[] = {"weak", "relaxed", "release", "cta", "gpu",
                                       "sys",  "wb",      "cg",      "cs",  "wt"};
constexpr const char* kOrderWords[] = {"relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys"};
constexpr const char* kEvictionWords[] = {"L1::evict_normal", "L1::evict_unchanged",
                                          "L1::evict_first",  "L1::evict_last",
                                          "L1::no_allocate",  "L2::64B",
                                          "L2::128B",         "L2::256B"};
constexpr const char* kHintWords[] = {
    "L1", "L2", "L2::evict_last", "L2::evict_normal", "wait", "launch_dependents"};
constexpr const char* kMembarWords[] = {"cta", "gl", "sys"};
constexpr const char* kFenceWords[] = {"sc", "acq_rel", "cta", "gpu", "sys"};
constexpr const char* kPrefetchWords[] = {"L2::64B", "L2::128B", "L2::256B"};  // of cp.async

// A suffix that stands for a value of an enum, in the instructions that may have it.
template <class E>
struct Word {
    uint64_t suffixes;  // of OpRule: any of them
    const char* name;
    E value;
};

constexpr Word<Mode> kModes[] = {
    {kShift, "shiftamt", Mode::ShiftAmount},
    {kLane, "up", Mode::Up},
    {kLane, "down", Mode::Down},
    {kLane, "bfly", Mode::Bfly},
    {kLane, "idx", Mode::Idx},
    {kBallot | kMatch, "all", Mode::All},
    {kBallot | kMatch, "any", Mode::Any},
    {kBallot, "uni", Mode::Uni},
    {kBallot, "ballot", Mode::Ballot},
    {kExtend, "clamp", Mode::Clamp},
    {kExtend, "wrap", Mode::Wrap},
    {kClass, "finite", Mode::Finite},
    {kClass, "infinite", Mode::Infinite},
    {kClass, "number", Mode::Number},
    {kClass, "notanumber", Mode::NotANumber},
    {kClass, "normal", Mode::Normal},
    {kClass, "subnormal", Mode::Subnormal},
    {kFunnel, "l", Mode::L},
    {kFunnel, "r", Mode::R},
    {kBarrier, "sync", Mode::Sync},
    {kBarrier, "arrive", Mode::Arrive},
    {kTally, "popc", Mode::Sync},
    {kTally, "and", Mode::All},
    {kTally, "or", Mode::Any},
};
constexpr Word<Half> kHalves[] = {{kHalf | kLowHigh, "lo", Half::Lo},
                                  {kHalf | kLowHigh, "hi", Half::Hi},
                                  {kHalf | kLowHigh, "wide", Half::Wide}};
constexpr Word<Atomic> kAtomics[] = {
    {kAtomic | kReduce, "add", Atomic::Add}, {kAtomic | kReduce, "and", Atomic::And},
    {kAtomic | kReduce, "or", Atomic::Or},   {kAtomic | kReduce, "xor", Atomic::Xor},
    {kAtomic | kReduce, "min", Atomic::Min}, {kAtomic | kReduce, "max", Atomic::Max},
    {kAtomic, "inc", Atomic::Inc},           {kAtomic, "dec", Atomic::Dec},
    {kAtomic, "exch", Atomic::Exch},         {kAtomic, "cas", Atomic::Cas}};

template <class E, size_t n>
bool take(const Word<E> (&words)[n], const OpRule& rule, std::string_view suffix, E& field) {
    if (field != E::None) return false;
    for (const Word<E>& word : words)
        if ((rule.suffixes & word.suffixes) != 0 && suffix == word.name) return field = word.value, true;
    return false;
}

// cp.async: "ca.shared.global" and which part of L2 may be fetched with it.
bool read_copy(std::string_view suffix, Instruction& made) {
    if (suffix == "shared" || suffix == "shared::cta") return made.space = StateSpace::Shared, true;
    return suffix == "async" || suffix == "ca" || suffix == "cg" || suffix == "global" ||
           one_of(suffix, kPrefetchWords);
}

bool copy_is_whole(const Instruction& made) {
    const auto& s = made.suffixes;
    return s.size() >= 4 && s.size() <= 5 && s[0] == "async" && (s[1] == "ca" || s[1] == "cg") &&
           s[2].starts_with("shared") && s[3] == "global" && (s.size() == 4 || one_of(s[4], kPrefetchWords));
}

// Which types each may have, as the PTX ISA lists them.
bool atomic_fits(Atomic atomic, Type type) {
    const bool bits = type == Type::B32 || type == Type::B64;
    switch (atomic) {
        case Atomic::Add:
            return type == Type::U32 || type == Type::S32 || type == Type::U64 || is_float(type);
        case Atomic::Min:
        case Atomic::Max: return !bits && !is_float(type);
        case Atomic::Inc:
        case Atomic::Dec: return type == Type::U32;
        default: return bits;
    }
}
bool reduction_fits(Atomic atomic, Type type) {
    const bool logic = atomic == Atomic::And || atomic == Atomic::Or || atomic == Atomic::Xor;
    return logic == (type == Type::B32);
}

// shf: .wrap or .clamp after .l or .r.
bool read_funnel(std::string_view suffix, Mode& mode) {
    if ((suffix != "wrap" && suffix != "clamp") || (mode != Mode::L && mode != Mode::R)) return false;
    if (mode == Mode::L)
        mode = suffix == "wrap" ? Mode::LWrap : Mode::LClamp;
    else
        mode = suffix == "wrap" ? Mode::RWrap : Mode::RClamp;
    return true;
}

// One suffix other than a type. False if the instruction has no such suffix, or has it already.
bool read_one(const OpRule& rule, std::string_view suffix, Instruction& made, bool& sync) {
    const auto has = [&](uint64_t bits) { return (rule.suffixes & bits) != 0; };
    const auto once = [](bool& flag) { return !flag && (flag = true); };
    if (has(kRound | kApprox | kFull) && made.round == Round::None) {
        if (const auto round = find_round(suffix)) {
            made.round = *round;
            if (*round == Round::Approx) return has(kApprox);
            if (*round == Round::Full) return has(kFull);
            return has(kRound) && (*round <= Round::Rp || has(kRoundCvt));
        }
    }
    if (has(kFtz) && suffix == "ftz") return once(made.ftz);
    if (has(kSat | kSatInteger) && suffix == "sat") return once(made.sat);
    if (has(kHint) && one_of(suffix, kHintWords)) return true;
    if (has(kCopy)) return read_copy(suffix, made);
    if (has(kCarry) && suffix == "cc") return once(made.carry_out);
    if (has(kNan) && suffix == "NaN") return once(made.nan);
    if (has(kCompare) && made.compare == Compare::None) {
        if (const auto compare = find_compare(suffix)) return made.compare = *compare, true;
    }
    if (has(kBool) && made.combine == Bool::None) {
        if (const auto combine = find_bool(suffix)) return made.combine = *combine, true;
    }
    if (has(kUniform) && suffix == "uni") return once(made.uniform);
    if (has(kTo) && suffix == "to") return made.space == StateSpace::Generic && once(made.to_space);
    if (has(kSpace) && made.space == StateSpace::Generic) {
        if (const auto space = find_space(suffix)) return made.space = *space, true;
    }
    if (has(kLoadCache | kStoreCache)) {
        if (suffix == "volatile") return once(made.is_volatile);
        if (one_of(suffix, kEvictionWords)) return has(kLoadCache) || !suffix.starts_with("L2");
        if (has(kLoadCache) ? one_of(suffix, kLoadWords) : one_of(suffix, kStoreWords)) return true;
    }
    if (has(kAtomic) && made.atomic == Atomic::None && one_of(suffix, kOrderWords)) return true;
    if (has(kVector) && made.vector == 1 && (suffix == "v2" || suffix == "v4"))
        return made.vector = suffix == "v2" ? 2 : 4, true;
    if (has(kScope))
        return made.mnemonic == "membar" ? one_of(suffix, kMembarWords) : one_of(suffix, kFenceWords);
    if (has(kSync) && suffix == "sync") return once(sync);
    if (has(kBarrier) && suffix == "cta") return made.mode == Mode::None;
    if (has(kBarrier | kTally) && suffix == "aligned")
        return made.mnemonic == "barrier" && (has(kTally) || made.mode != Mode::None);
    if (has(kFunnel) && read_funnel(suffix, made.mode)) return true;
    return take(kHalves, rule, suffix, made.half) || take(kAtomics, rule, suffix, made.atomic) ||
           take(kModes, rule, suffix, made.mode);
}

constexpr uint64_t kCarryTypes = bit(Type::U32) | bit(Type::S32) | bit(Type::U64) | bit(Type::S64);

bool is_ieee(Round round) { return round >= Round::Rn && round <= Round::Rp; }

bool compare_fits(Compare compare, Type type) {
    const bool order = compare >= Compare::Lt && compare <= Compare::Ge;
    if (compare == Compare::Eq || compare == Compare::Ne) return true;
    if (is_float(type)) return order || compare >= Compare::Equ;
    if (is_bits(type)) return false;
    return order || (compare >= Compare::Lo && compare <= Compare::Hs && !is_signed(type));
}

// What is wrong with the rounding of a conversion, or null.
const char* fault_of_conversion(const Operation& made) {
    const bool to_float = is_float(made.type), from_float = is_float(made.type2);
    if (from_float && !to_float && (made.round < Round::Rni || made.round > Round::Rpi))
        return "needs .rni, .rzi, .rmi or .rpi from a float to an integer";
    const bool narrows = to_float && (!from_float || size_of(made.type) < size_of(made.type2));
    if (narrows && !is_ieee(made.round)) return "needs .rn, .rz, .rm or .rp where it can lose digits";
    if (!from_float && !to_float && made.round != Round::None) return "rounds, which integers do not";
    return made.round == Round::Rna ? "has .rna, which these types do not" : nullptr;
}

// The same of arithmetic: halves of products, rounding, saturation.
const char* fault_of_arithmetic(const OpRule& rule, const Operation& made) {
    const auto has = [&](uint64_t bits) { return (rule.suffixes & bits) != 0; };
    const bool to_float = is_float(made.type);
    if (has(kHalf) && to_float == (made.half != Half::None))
        return "needs .lo, .hi or .wide with integers, and none with floats";
    if (has(kLowHigh) && made.half != Half::Lo && made.half != Half::Hi) return "needs .lo or .hi";
    if (has(kRound) && !has(kApprox) && !to_float && made.round != Round::None)
        return "rounds, which integers do not";
    if (has(kRoundMust) && to_float && !is_ieee(made.round)) return "needs a rounding (.rn, .rz, .rm, .rp)";
    if (made.half == Half::Wide && (has(kCarryIn) || made.carry_out))
        return "has .wide, which leaves no carry";
    if (made.half == Half::Wide && size_of(made.type) == 8) return "has no wider type to give";
    const bool whole = !has(kHalf | kLowHigh) || made.half == Half::Hi;
    const bool saturates =
        (has(kSat) && made.type == Type::F32) || (has(kSatInteger) && made.type == Type::S32 && whole);
    if (made.sat && !saturates)
        return !has(kSat)                           ? "has .sat, which only .hi.s32 can"
               : (rule.types & bit(Type::S32)) == 0 ? "has .sat, which only .f32 can"
                                                    : "has .sat, which its type cannot";
    if (!has(kApprox)) return nullptr;
    if (!has(kRound)) return made.round != Round::Approx ? "needs .approx" : nullptr;
    if (to_float == (made.round == Round::None))
        return "needs a rounding with floats, and none with integers";
    const bool upper_half = rule.op == Op::Rcp && made.round == Round::Approx && made.ftz;
    if (made.type == Type::F64 && !is_ieee(made.round) && !upper_half)
        return "needs .rn, .rz, .rm or .rp with .f64";
    return nullptr;
}

// What is wrong with the suffixes together, or null.
const char* fault_of(const OpRule& rule, const Instruction& made, bool sync) {
    const auto has = [&](uint64_t bits) { return (rule.suffixes & bits) != 0; };
    if (rule.types != 0 && made.type == Type::None) return "has no type";
    if (rule.types2 != 0 && made.type2 == Type::None) return "needs a second type";
    if ((has(kSync) && !sync) || (has(kBarrier) && made.mode == Mode::None))
        return "needs .sync (the form without it is not run by today's GPUs)";
    const bool gross = made.type == Type::F64 && made.round == Round::Approx;  // rcp, rsqrt.approx.ftz.f64
    if (made.ftz && made.type != Type::F32 && made.type2 != Type::F32 && !gross)
        return "has .ftz, which only .f32 can";
    if (has(kLane | kBallot | kMatch | kExtend | kClass) && made.mode == Mode::None) return "lacks its mode";
    if (made.nan && made.type != Type::F32) return "has .NaN, which only .f32 can";
    if (made.carry_out && (made.sat || !(bit(made.type) & kCarryTypes)))
        return "has .cc, which 32- and 64-bit integers alone can";
    if (has(kFunnel) && made.mode < Mode::LWrap) return "needs .wrap or .clamp after .l or .r";
    if (has(kCopy) && !copy_is_whole(made)) return "is no copy from global to shared memory";
    if (has(kScope) && made.suffixes.empty()) return "needs its scope";
    if (has(kCompare)) {
        if (made.compare == Compare::None) return "needs a comparison";
        if (!compare_fits(made.compare, source_type(made, 0)))
            return "has a comparison that its type does not";
    }
    if (const char* fault = has(kRoundCvt) ? fault_of_conversion(made) : fault_of_arithmetic(rule, made))
        return fault;
    if (has(kAtomic | kReduce)) {
        if (made.atomic == Atomic::None) return "lacks what it does";
        if (!(has(kReduce) ? reduction_fits : atomic_fits)(made.atomic, made.type))
            return "has a type that it cannot be done with";
    }
    if (has(kAtomic)) {
        if (address_at(made) == 0 && made.atomic >= Atomic::Exch) return "returns nothing; use atom";
        if (made.space != StateSpace::Generic && made.space != StateSpace::Global &&
            made.space != StateSpace::Shared)
            return "goes to memory that threads do not share";
    }
    if (has(kTally) && (made.mode == Mode::None || (made.mode == Mode::Sync) == (made.type == Type::Pred)))
        return "must be .popc.u32, .and.pred or .or.pred";
    if (has(kSpaceMust) && made.space == StateSpace::Generic) return "needs a state space";
    if (has(kBallot) && (made.mode == Mode::Ballot) != (made.type == Type::B32))
        return "must be .ballot.b32 or give a .pred";
    if (has(kStoreCache) && made.space == StateSpace::Const) return "stores where nothing can be stored";
    if (has(kVector) && size_of(made.type) * made.vector > 16) return "moves more than 16 bytes";
    return nullptr;
}

}  // namespace

std::string full_name(const Instruction& instruction) {
    std::string text(instruction.mnemonic.empty() ? name_of(instruction.op) : instruction.mnemonic);
    for (const std::string& suffix : instruction.suffixes) text += "." + suffix;
    return text;
}

bool read_suffixes(Parser& parser, const OpRule& rule, size_t in_name, Instruction& made) {
    if (rule.suffixes & kMatrix) {
        const std::string fault = read_matrix_suffixes(made, in_name);
        return fault.empty() || parser.fail(made.text_line, "instruction '{}' {}", full_name(made), fault);
    }
    bool sync = false;
    for (const std::string& suffix : std::span(made.suffixes).subspan(in_name)) {
        const auto type = find_type(suffix);
        bool known = false;
        if (type && made.type == Type::None) {
            made.type = *type;
            known = (rule.types & bit(*type)) != 0;
        } else if (type && made.type2 == Type::None) {
            made.type2 = *type;
            known = (rule.types2 & bit(*type)) != 0;
        } else if (!type) {
            known = read_one(rule, suffix, made, sync);
        }
        if (!known) {
            return parser.fail(made.text_line,
                               "instruction '{}' is not known to Tilescope with .{}; build the kernel "
                               "without it",
                               full_name(made), suffix);
        }
    }
    if (const char* fault = fault_of(rule, made, sync)) {
        return parser.fail(made.text_line, "instruction '{}' {}; write it as the PTX ISA has it",
                           full_name(made), fault);
    }
    return true;
}

}  // namespace tilescope::ptx
