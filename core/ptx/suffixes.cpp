// The suffixes of an instruction, ".global.v4.f32", against its rule: known, complete, and possible
// together.
//
// Source: PTX ISA, "Instruction Set", the syntax of each instruction.
#include <algorithm>
#include <string_view>

#include "core/ptx/names.h"
#include "core/ptx/parser.h"

namespace tilescope::ptx {
namespace {

template <size_t n>
bool one_of(std::string_view text, const char* const (&names)[n]) {
    return std::find(std::begin(names), std::end(names), text) != std::end(names);
}

constexpr const char* kLoadCache[] = {"weak", "relaxed", "acquire", "cta", "gpu", "sys",
                                      "nc",   "ca",      "cg",      "cs",  "lu",  "cv"};
constexpr const char* kStoreCache[] = {"weak", "relaxed", "release", "cta", "gpu",
                                       "sys",  "wb",      "cg",      "cs",  "wt"};
constexpr const char* kOrder[] = {"relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys"};
constexpr const char* kEviction[] = {"L1::evict_normal", "L1::evict_unchanged",
                                     "L1::evict_first",  "L1::evict_last",
                                     "L1::no_allocate",  "L2::64B",
                                     "L2::128B",         "L2::256B"};

bool is_cache(Op op, std::string_view suffix) {
    if (one_of(suffix, kEviction)) return op == Op::Ld || !suffix.starts_with("L2");
    return op == Op::Ld ? one_of(suffix, kLoadCache) : one_of(suffix, kStoreCache);
}

// cp: "async.ca.shared.global" and which part of L2 may be fetched with it, or a word about groups.
constexpr const char* kPrefetch[] = {"L2::64B", "L2::128B", "L2::256B"};

bool read_copy(const OpRule& rule, std::string_view suffix, Instruction& made) {
    if (suffix == "async") return true;
    if (rule.op == Op::CpCommit) return suffix == "commit_group";
    if (rule.op == Op::CpWait) {
        if (suffix == "wait_all") made.mode = Mode::All;
        return suffix == "wait_group" || suffix == "wait_all";
    }
    if (suffix == "shared" || suffix == "shared::cta") return made.space = StateSpace::Shared, true;
    return suffix == "ca" || suffix == "cg" || suffix == "global" || one_of(suffix, kPrefetch);
}

bool copy_is_whole(const Instruction& made) {
    const auto& s = made.suffixes;
    if (made.op != Op::CpAsync) return s.size() == 2 && s[0] == "async";
    return s.size() >= 4 && s.size() <= 5 && s[0] == "async" && (s[1] == "ca" || s[1] == "cg") &&
           s[2].starts_with("shared") && s[3] == "global" && (s.size() == 4 || one_of(s[4], kPrefetch));
}

// atom and red: what they do, and the suffixes that say how it is ordered, which are only kept.
bool read_atomic(std::string_view suffix, Atomic& atomic) {
    constexpr std::pair<const char*, Atomic> kNames[] = {
        {"add", Atomic::Add},   {"and", Atomic::And}, {"or", Atomic::Or},   {"xor", Atomic::Xor},
        {"min", Atomic::Min},   {"max", Atomic::Max}, {"inc", Atomic::Inc}, {"dec", Atomic::Dec},
        {"exch", Atomic::Exch}, {"cas", Atomic::Cas}};
    for (const auto& [name, value] : kNames)
        if (suffix == name) return atomic == Atomic::None && (atomic = value, true);
    return atomic == Atomic::None && one_of(suffix, kOrder);
}

// Which types each may have, as the PTX ISA lists them.
bool atomic_fits(Atomic atomic, Type type) {
    const bool bits = type == Type::B32 || type == Type::B64;
    switch (atomic) {
        case Atomic::Add:
            return type == Type::U32 || type == Type::S32 || type == Type::U64 || is_float(type);
        case Atomic::Min:
        case Atomic::Max:
            return !bits && !is_float(type);
        case Atomic::Inc:
        case Atomic::Dec:
            return type == Type::U32;
        default:
            return bits;
    }
}

// redux: what is done to the values of the lanes.
bool read_reduction(std::string_view suffix, Atomic& atomic) {
    constexpr const char* kKnown[] = {"add", "and", "or", "xor", "min", "max"};
    return one_of(suffix, kKnown) && read_atomic(suffix, atomic);
}
bool reduction_fits(Atomic atomic, Type type) {
    const bool logic = atomic == Atomic::And || atomic == Atomic::Or || atomic == Atomic::Xor;
    return logic == (type == Type::B32);
}

bool read_mode(const OpRule& rule, std::string_view suffix, Mode& mode) {
    const auto set = [&](Mode value) { return mode == Mode::None && (mode = value, true); };
    if ((rule.suffixes & kShift) != 0 && suffix == "shiftamt") return set(Mode::ShiftAmount);
    if ((rule.suffixes & kLane) != 0) {
        if (suffix == "up") return set(Mode::Up);
        if (suffix == "down") return set(Mode::Down);
        if (suffix == "bfly") return set(Mode::Bfly);
        if (suffix == "idx") return set(Mode::Idx);
    }
    if ((rule.suffixes & kBallot) != 0) {
        if (suffix == "all") return set(Mode::All);
        if (suffix == "any") return set(Mode::Any);
        if (suffix == "uni") return set(Mode::Uni);
        if (suffix == "ballot") return set(Mode::Ballot);
    }
    if ((rule.suffixes & kMatch) != 0) {
        if (suffix == "any") return set(Mode::Any);
        if (suffix == "all") return set(Mode::All);
    }
    if ((rule.suffixes & kExtend) != 0) {
        if (suffix == "clamp") return set(Mode::Clamp);
        if (suffix == "wrap") return set(Mode::Wrap);
    }
    if ((rule.suffixes & kClass) != 0) {
        constexpr std::pair<const char*, Mode> kClasses[] = {
            {"finite", Mode::Finite},         {"infinite", Mode::Infinite}, {"number", Mode::Number},
            {"notanumber", Mode::NotANumber}, {"normal", Mode::Normal},     {"subnormal", Mode::Subnormal}};
        for (const auto& [name, value] : kClasses)
            if (suffix == name) return set(value);
    }
    if ((rule.suffixes & kFunnel) != 0) {
        if (suffix == "l") return set(Mode::L);
        if (suffix == "r") return set(Mode::R);
        if (suffix == "wrap" || suffix == "clamp") {
            const bool wrap = suffix == "wrap";
            if (mode == Mode::L) return mode = wrap ? Mode::LWrap : Mode::LClamp, true;
            if (mode == Mode::R) return mode = wrap ? Mode::RWrap : Mode::RClamp, true;
        }
    }
    return false;
}

bool read_sync(const OpRule& rule, std::string_view suffix, Instruction& made, bool& sync) {
    if (rule.op == Op::Bar && suffix == "arrive" && !sync) return sync = true, made.mode = Mode::Arrive, true;
    if (suffix == "sync" && !sync) {
        if (rule.op == Op::Bar) made.mode = Mode::Sync;
        return sync = true;
    }
    if (rule.op == Op::BarWarp && suffix == "warp") return !sync;
    if (rule.op == Op::BarRed) {
        if (suffix == "red") return !sync && (sync = true);
        if (suffix == "cta") return !sync;
        if (suffix == "aligned") return sync && made.mnemonic == "barrier";
        if (!sync || made.mode != Mode::None) return false;
        made.mode = suffix == "popc"  ? Mode::Sync
                    : suffix == "and" ? Mode::All
                    : suffix == "or"  ? Mode::Any
                                      : Mode::None;
        return made.mode != Mode::None;
    }
    if (rule.op != Op::Bar) return false;
    return suffix == "cta" ? !sync : suffix == "aligned" && sync && made.mnemonic == "barrier";
}

// One suffix other than a type. False if the instruction has no such suffix, or has it already.
bool read_one(const OpRule& rule, std::string_view suffix, Instruction& made, bool& sync, bool& vector) {
    const auto has = [&](uint32_t bits) { return (rule.suffixes & bits) != 0; };
    const auto once = [](bool& flag) { return !flag && (flag = true); };
    if (has(kRound | kApprox | kFull) && made.round == Round::None) {
        if (const auto round = find_round(suffix)) {
            made.round = *round;
            if (*round == Round::Approx) return has(kApprox);
            if (*round == Round::Full) return has(kFull);
            return has(kRound) && (*round <= Round::Rp || rule.op == Op::Cvt);
        }
    }
    if (has(kFtz) && suffix == "ftz") return once(made.ftz);
    if (has(kSat) && suffix == "sat") return once(made.sat);
    if (has(kHint)) {
        constexpr const char* kHints[] = {
            "L1", "L2", "L2::evict_last", "L2::evict_normal", "wait", "launch_dependents"};
        if (one_of(suffix, kHints)) return true;
    }
    if (has(kCopy)) return read_copy(rule, suffix, made);
    if (has(kCarry) && suffix == "cc") return once(made.carry_out);
    if (has(kNan) && suffix == "NaN") return once(made.nan);
    if (has(kReduce) && read_reduction(suffix, made.atomic)) return true;
    if (has(kHalf) && made.half == Half::None) {
        if (suffix == "lo") return made.half = Half::Lo, true;
        if (suffix == "hi") return made.half = Half::Hi, true;
        if (suffix == "wide") return made.half = Half::Wide, true;
    }
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
    if (has(kCache)) {
        if (suffix == "volatile") return once(made.is_volatile);
        if (is_cache(rule.op, suffix)) return true;
    }
    if (has(kAtomic) && read_atomic(suffix, made.atomic)) return true;
    if (has(kVector) && (suffix == "v2" || suffix == "v4")) {
        made.vector = suffix == "v2" ? 2 : 4;
        return once(vector);
    }
    if (has(kScope)) {
        if (made.mnemonic == "membar") return suffix == "cta" || suffix == "gl" || suffix == "sys";
        return suffix == "sc" || suffix == "acq_rel" || suffix == "cta" || suffix == "gpu" || suffix == "sys";
    }
    if (has(kSync) && read_sync(rule, suffix, made, sync)) return true;
    return read_mode(rule, suffix, made.mode);
}

constexpr uint32_t kCarryTypes = bit(Type::U32) | bit(Type::S32) | bit(Type::U64) | bit(Type::S64);

bool is_ieee(Round round) { return round >= Round::Rn && round <= Round::Rp; }

bool compare_fits(Compare compare, Type type) {
    const bool order = compare >= Compare::Lt && compare <= Compare::Ge;
    if (compare == Compare::Eq || compare == Compare::Ne) return true;
    if (is_float(type)) return order || compare >= Compare::Equ;
    if (type >= Type::B16 && type <= Type::B64) return false;
    return order || (compare >= Compare::Lo && compare <= Compare::Hs && !is_signed(type));
}

// What is wrong with the suffixes together, or null.
const char* fault_of(const OpRule& rule, const Instruction& made, bool sync) {
    const bool has_float = is_float(made.type);
    if (rule.types != 0 && made.type == Type::None) return "has no type";
    if (rule.types2 != 0 && made.type2 == Type::None) return "needs a second type";
    if ((rule.suffixes & kSync) != 0 && !sync)
        return "needs .sync (the form without it is not run by today's GPUs)";
    const bool gross = made.type == Type::F64 && made.round == Round::Approx;  // rcp, rsqrt.approx.ftz.f64
    if (made.ftz && made.type != Type::F32 && made.type2 != Type::F32 && !gross)
        return "has .ftz, which only .f32 can";
    if ((rule.suffixes & (kLane | kBallot | kMatch | kExtend | kClass)) != 0 && made.mode == Mode::None)
        return "lacks its mode";
    if (made.nan && made.type != Type::F32) return "has .NaN, which only .f32 can";
    if (made.carry_out && (made.sat || !(bit(made.type) & kCarryTypes)))
        return "has .cc, which 32- and 64-bit integers alone can";
    if (rule.op == Op::Shf && made.mode < Mode::LWrap) return "needs .wrap or .clamp after .l or .r";
    if ((rule.suffixes & kCopy) != 0 && !copy_is_whole(made))
        return "is no copy from global to shared memory";
    if ((rule.suffixes & kScope) != 0 && made.suffixes.empty()) return "needs its scope";
    if ((rule.suffixes & kCompare) != 0) {
        if (made.compare == Compare::None) return "needs a comparison";
        if (!compare_fits(made.compare, rule.op == Op::Set ? made.type2 : made.type))
            return "has a comparison that its type does not";
    }
    switch (rule.op) {
        case Op::Add:
        case Op::Sub:
            if (!has_float && made.round != Round::None) return "rounds, which integers do not";
            if (made.sat && made.type != Type::S32 && made.type != Type::F32)
                return "has .sat, which its type cannot";
            break;
        case Op::Mul:
        case Op::Mad:
        case Op::Madc: {
            if (has_float == (made.half != Half::None))
                return "needs .lo, .hi or .wide with integers, and none with floats";
            if (!has_float && made.round != Round::None) return "rounds, which integers do not";
            if (rule.op == Op::Mad && has_float && !is_ieee(made.round))
                return "needs a rounding (.rn, .rz, .rm, .rp)";
            if (made.half == Half::Wide && (rule.op == Op::Madc || made.carry_out))
                return "has .wide, which leaves no carry";
            if (made.half == Half::Wide && size_of(made.type) == 8) return "has no wider type to give";
            const bool sat_high = rule.op == Op::Mad && made.half == Half::Hi && made.type == Type::S32;
            if (made.sat && made.type != Type::F32 && !sat_high) return "has .sat, which its type cannot";
            break;
        }
        case Op::Mul24:
        case Op::Mad24:
            if (made.half != Half::Lo && made.half != Half::Hi) return "needs .lo or .hi";
            if (made.sat && (made.half != Half::Hi || made.type != Type::S32))
                return "has .sat, which only .hi.s32 can";
            break;
        case Op::Fma:
            if (!is_ieee(made.round)) return "needs a rounding (.rn, .rz, .rm, .rp)";
            if (made.sat && made.type != Type::F32) return "has .sat, which only .f32 can";
            break;
        case Op::Div:
        case Op::Rcp:
        case Op::Sqrt:
            if (has_float == (made.round == Round::None))
                return "needs a rounding with floats, and none with integers";
            if (made.type == Type::F64 && !is_ieee(made.round) && !(gross && made.ftz && rule.op == Op::Rcp))
                return "needs .rn, .rz, .rm or .rp with .f64";
            break;
        case Op::Cos:
        case Op::Ex2:
        case Op::Lg2:
        case Op::Rsqrt:
        case Op::Sin:
        case Op::Tanh:
            if (made.round != Round::Approx) return "needs .approx";
            break;
        case Op::Dp2a:
            if (made.half != Half::Lo && made.half != Half::Hi) return "needs .lo or .hi";
            break;
        case Op::Redux:
            if (made.atomic == Atomic::None) return "lacks what it does";
            if (!reduction_fits(made.atomic, made.type)) return "has a type that it cannot be done with";
            break;
        case Op::Cvt: {
            const bool from_float = is_float(made.type2);
            if (from_float && !has_float && (made.round < Round::Rni || made.round > Round::Rpi))
                return "needs .rni, .rzi, .rmi or .rpi from a float to an integer";
            const bool narrows = has_float && (!from_float || size_of(made.type) < size_of(made.type2));
            if (narrows && !is_ieee(made.round)) return "needs .rn, .rz, .rm or .rp where it can lose digits";
            if (!from_float && !has_float && made.round != Round::None)
                return "rounds, which integers do not";
            if (made.round == Round::Rna) return "has .rna, which these types do not";
            break;
        }
        case Op::BarRed:
            if (made.mode == Mode::None || (made.mode == Mode::Sync) == (made.type == Type::Pred))
                return "must be .popc.u32, .and.pred or .or.pred";
            break;
        case Op::Cvta:
        case Op::Isspacep:
            if (made.space == StateSpace::Generic) return "needs a state space";
            break;
        case Op::Vote:
            if ((made.mode == Mode::Ballot) != (made.type == Type::B32))
                return "must be .ballot.b32 or give a .pred";
            break;
        case Op::Atom:
        case Op::Red:
            if (made.atomic == Atomic::None) return "lacks what it does";
            if (!atomic_fits(made.atomic, made.type)) return "has a type that it cannot be done with";
            if (rule.op == Op::Red && made.atomic >= Atomic::Exch) return "returns nothing; use atom";
            if (made.space != StateSpace::Generic && made.space != StateSpace::Global &&
                made.space != StateSpace::Shared)
                return "goes to memory that threads do not share";
            break;
        case Op::St:
            if (made.space == StateSpace::Const) return "stores where nothing can be stored";
            break;
        default:
            break;
    }
    if ((rule.op == Op::Ld || rule.op == Op::St) && size_of(made.type) * made.vector > 16)
        return "moves more than 16 bytes";
    return nullptr;
}

}  // namespace

std::string full_name(const Instruction& instruction) {
    std::string text = instruction.mnemonic.empty() ? name_of(instruction.op) : instruction.mnemonic;
    for (const std::string& suffix : instruction.suffixes) text += "." + suffix;
    return text;
}

bool read_suffixes(Parser& parser, const OpRule& rule, Instruction& made) {
    bool sync = false;
    bool vector = false;
    for (const std::string& suffix : made.suffixes) {
        const auto type = find_type(suffix);
        bool known = false;
        if (type && made.type == Type::None) {
            made.type = *type;
            known = (rule.types & bit(*type)) != 0;
        } else if (type && made.type2 == Type::None) {
            made.type2 = *type;
            known = (rule.types2 & bit(*type)) != 0;
        } else if (!type) {
            known = read_one(rule, suffix, made, sync, vector);
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
