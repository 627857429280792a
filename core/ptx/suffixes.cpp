// The suffixes of an instruction, ".global.v4.f32", against its rule: known, complete, and possible together.
//
// Source: PTX ISA, "Instruction Set", the syntax of each instruction.
#include <algorithm>
#include <span>
#include <string_view>

#include "core/ptx/forms.h"
#include "core/ptx/half_forms.h"
#include "core/ptx/matrix.h"
#include "core/ptx/names.h"
#include "core/ptx/parser.h"

namespace tilescope::ptx {
namespace {

template <size_t n>
bool one_of(std::string_view text, const char* const (&names)[n]) {
    return std::find(std::begin(names), std::end(names), text) != std::end(names);
}

constexpr const char* kLoadWords[] = {"weak", "mmio", "relaxed", "acquire", "cta", "cluster", "gpu",
                                      "sys",  "nc",   "ca",      "cg",      "cs",  "lu",      "cv"};
constexpr const char* kStoreWords[] = {"weak", "mmio", "relaxed", "release", "cta", "cluster",
                                       "gpu",  "sys",  "wb",      "cg",      "cs",  "wt"};
constexpr const char* kOrderWords[] = {"relaxed", "acquire", "release", "acq_rel",
                                       "cta",     "cluster", "gpu",     "sys"};
constexpr const char* kEvictionWords[] = {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
                                          "L1::evict_last",   "L1::no_allocate",     "L2::evict_first",
                                          "L2::evict_last",   "L2::evict_normal",    "L2::cache_hint"};
constexpr const char* kHintWords[] = {
    "L1", "L2", "L2::evict_last", "L2::evict_normal", "wait", "launch_dependents"};
constexpr const char* kPolicyWords[] = {
    "fractional",         "range", "cvt", "L2", "L2::evict_first", "L2::evict_last", "L2::evict_normal",
    "L2::evict_unchanged"};
constexpr const char* kRegisterCountWords[] = {"inc", "dec", "sync", "aligned"};
constexpr const char* kMembarWords[] = {"cta", "gl", "sys"};
constexpr const char* kFenceWords[] = {"sc",
                                       "acq_rel",
                                       "acquire",
                                       "release",
                                       "cta",
                                       "cluster",
                                       "gpu",
                                       "sys",
                                       "sync_restrict::shared::cta",
                                       "sync_restrict::shared::cluster"};
// Between ways to memory (proxies), not among threads.
// clang-format off
constexpr const char* kProxyWords[] = {
    "proxy", "alias", "async", "global", "shared::cta", "shared::cluster", "async::generic", "tensormap::generic",
    "mbarrier_init"};
// clang-format on
constexpr const char* kPrefetchWords[] = {"L2::64B", "L2::128B", "L2::256B"};  // of ld and cp.async

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
           suffix == "L2::cache_hint" || one_of(suffix, kPrefetchWords);
}

bool copy_is_whole(const Instruction& made) {
    const auto& s = made.suffixes;
    size_t last = 4;  // a hint, then how much more may be fetched
    last += s.size() > last && s[last] == "L2::cache_hint";
    last += s.size() > last && one_of(s[last], kPrefetchWords);
    return s.size() == last && s[0] == "async" && (s[1] == "ca" || s[1] == "cg") &&
           s[2].starts_with("shared") && s[3] == "global";
}

bool is_half_precision(Type type) {
    return type == Type::F16 || type == Type::BF16 || type == Type::F16X2 || type == Type::BF16X2;
}

// What is wrong with an atomic of half precision or of a vector, or null.
const char* fault_of_vector(const Instruction& made) {
    const bool half = is_half_precision(made.type), vector = made.vector > 1;
    if (half != has_suffix(made, {"noftz"})) return "needs .noftz with half precision, and only there";
    if (half && !vector && made.atomic != Atomic::Add) return "can only add, without a vector";
    if (!vector) return nullptr;
    if (!(half || (made.type == Type::F32 && made.atomic == Atomic::Add)) || made.space != StateSpace::Global)
        return "has a vector that is none of .global.f32 to add or of half precision";
    return size_of(made.type) * made.vector > 8
               ? "updates more than 8 bytes at once, which Tilescope cannot record; use vectors of 8 bytes"
               : nullptr;
}

// What is wrong with the vector of a load or store, or null. Source: PTX ISA, "ld", "st": 32 bytes of 8 words of 32 bits or
// 4 of 64 in global memory (sm_100).
const char* fault_of_moved(const Instruction& made) {
    const uint32_t size = size_of(made.type), bytes = size * made.vector;
    const bool wide = made.space == StateSpace::Global || made.space == StateSpace::Generic;
    if (size == 16 && made.vector > 1) return "has a vector of 128 bits each, which nothing moves";
    if (bytes > 32) return "moves more than 32 bytes";
    if (bytes > 16 && !wide) return "moves more than 16 bytes, which only .global can";
    if (made.vector == 8 && bytes < 32) return "has a vector of 8, which only types of 32 bits have";
    if (size == 16 && made.space == StateSpace::Param)
        return "moves 128 bits of a parameter, which is not known to Tilescope";
    return nullptr;
}

// Which types each may have, as the PTX ISA lists them.
bool atomic_fits(Atomic atomic, Type type) {
    const bool bits = type == Type::B32 || type == Type::B64;
    if (is_half_precision(type))
        return atomic == Atomic::Add || atomic == Atomic::Min || atomic == Atomic::Max;
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
    if (has(kPolicy) && one_of(suffix, kPolicyWords)) return true;
    if (has(kRegisterCount)) return one_of(suffix, kRegisterCountWords);
    if (has(kAtomic) && (suffix == "L2::cache_hint" || suffix == "noftz")) return true;
    if (has(kCopy)) return read_copy(suffix, made);
    if (has(kCarry) && suffix == "cc") return once(made.carry_out);
    if (has(kNan) && suffix == "NaN") return once(made.nan);
    if (has(kNan) && suffix == "xorsign") return once(made.xorsign);
    if (has(kNan) && suffix == "abs") return made.xorsign;
    if (has(kRelu) && suffix == "relu") return once(made.relu);
    if (has(kRelu) && has(kRoundCvt) && suffix == "satfinite") return once(made.satfinite);
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
        if (one_of(suffix, kEvictionWords)) return true;
        if (one_of(suffix, kPrefetchWords)) return has(kLoadCache);
        if (has(kLoadCache) ? one_of(suffix, kLoadWords) : one_of(suffix, kStoreWords)) return true;
    }
    // The order stands before the operation, or behind it.
    if (has(kAtomic) && made.type == Type::None && one_of(suffix, kOrderWords)) return true;
    if (has(kVector) && made.vector == 1 && (suffix == "v2" || suffix == "v4" || suffix == "v8"))
        return made.vector = static_cast<uint8_t>(suffix[1] - '0'), true;
    if (has(kScope))
        return made.mnemonic == "membar"
                   ? one_of(suffix, kMembarWords)
                   : one_of(suffix, kFenceWords) ||
                         (has_suffix(made, {"proxy", "mbarrier_init"}) && one_of(suffix, kProxyWords));
    if (has(kSync) && suffix == "sync") return once(sync);
    if (has(kBarrier) && suffix == "cta") return made.mode == Mode::None;
    if (has(kBarrier | kTally) && suffix == "aligned")
        return made.mnemonic == "barrier" && (has(kTally) || made.mode != Mode::None);
    if (has(kFunnel) && read_funnel(suffix, made.mode)) return true;
    if (has(kAtomic | kReduce) && made.atomic == Atomic::None)
        if (const auto atomic = find_atomic(suffix); atomic && (has(kAtomic) || *atomic <= Atomic::Max))
            return made.atomic = *atomic, true;
    return take(kHalves, rule, suffix, made.half) || take(kModes, rule, suffix, made.mode);
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
    if (converts_short(made)) return fault_of_short_conversion(made);
    const bool to_float = is_float(made.type), from_float = is_float(made.type2);
    const bool brain = made.type == Type::BF16 || made.type2 == Type::BF16;
    if (made.sat && brain && to_float && from_float) return "has .sat, which .bf16 does not";
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
    if (has_short_rules(made.type) && !has(kCompare)) return fault_of_short(made);
    if (made.relu) return "has .relu, which its type does not";
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
    const bool own_rules = !has(kRoundCvt) && !has(kCompare) && has_short_rules(made.type);
    const Type compared = has(kCompare) ? source_type(made, 0) : Type::None;
    const bool flushes =
        made.type == Type::F32 || made.type2 == Type::F32 || compared == Type::F16 || compared == Type::F16X2;
    if (made.ftz && !flushes && !gross && !own_rules) return "has .ftz, which its type does not";
    if (has(kLane | kBallot | kMatch | kExtend | kClass) && made.mode == Mode::None) return "lacks its mode";
    if ((made.nan || made.xorsign) && made.type != Type::F32 && !has_short_rules(made.type))
        return "has .NaN or .xorsign, which its type does not";
    if (made.xorsign && !has_suffix(made, {"abs"})) return "has .xorsign without .abs";
    if (made.carry_out && (made.sat || !(bit(made.type) & kCarryTypes)))
        return "has .cc, which 32- and 64-bit integers alone can";
    if (has(kFunnel) && made.mode < Mode::LWrap) return "needs .wrap or .clamp after .l or .r";
    if (has(kCopy) && !copy_is_whole(made)) return "is no copy from global to shared memory";
    if (has(kScope) && made.suffixes.empty()) return "needs its scope";
    if (rule.op == Op::Set)
        if (const char* fault = fault_of_set(made)) return fault;
    if (has(kPolicy) && !has_suffix(made, {"fractional", "range", "cvt"}))
        return "needs .fractional, .range or .cvt";
    if (has(kRegisterCount) && !(has_suffix(made, {"inc", "dec"}) && has_suffix(made, {"aligned"})))
        return "needs .inc or .dec, and .sync.aligned";
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
    if (has(kVector)) return has(kAtomic) ? fault_of_vector(made) : fault_of_moved(made);
    return nullptr;
}

// Whether some instruction has the suffix.
bool is_known(std::string_view suffix) {
    return find_type(suffix) || std::ranges::any_of(all_rules(), [&](const OpRule& rule) {
               Instruction probe;
               bool sync = false;
               return read_one(rule, suffix, probe, sync);
           });
}

}  // namespace

bool read_suffixes(Parser& parser, const OpRule& rule, size_t in_name, Instruction& made, bool& news) {
    if (rule.suffixes & kMatrix) {
        const std::string fault = read_matrix_suffixes(made, in_name);
        return fault.empty() || parser.fail(made.text_line, "instruction '{}' {}", full_name(made), fault);
    }
    if (rule.suffixes & kForm) {
        const std::string fault = read_form(made, in_name);
        return fault.empty() ||
               parser.fail(made.text_line, "instruction '{}' {}; write it as the PTX ISA has it",
                           full_name(made), fault);
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
            news = std::ranges::any_of(made.suffixes, [](const std::string& one) { return !is_known(one); });
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
