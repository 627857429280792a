#include "core/ptx/ops.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/ptx/forms.h"

namespace tilescope::ptx {
namespace {

constexpr uint64_t kP = bit(Type::Pred);
constexpr uint64_t kB16 = bit(Type::B16), kB32 = bit(Type::B32), kB64 = bit(Type::B64);
constexpr uint64_t kB = kB16 | kB32 | kB64;
constexpr uint64_t kU32 = bit(Type::U32), kS32 = bit(Type::S32), kU64 = bit(Type::U64);
constexpr uint64_t kI32 = kU32 | kS32;
constexpr uint64_t kI16 = bit(Type::U16) | bit(Type::S16);
constexpr uint64_t kI32to64 = kI32 | kU64 | bit(Type::S64);
constexpr uint64_t kI = kI32to64 | kI16;
constexpr uint64_t kS = bit(Type::S16) | kS32 | bit(Type::S64);
constexpr uint64_t kI8 = bit(Type::U8) | bit(Type::S8);
constexpr uint64_t kF32 = bit(Type::F32), kF64 = bit(Type::F64), kF = kF32 | kF64;
constexpr uint64_t kHalf16 = bit(Type::F16) | bit(Type::BF16);
constexpr uint64_t kShort = kHalf16 | bit(Type::F16X2) | bit(Type::BF16X2);
constexpr uint64_t kTwo = bit(Type::F32X2);
constexpr uint64_t kB128 = bit(Type::B128);
constexpr uint64_t kMemory = kI | kI8 | kB | bit(Type::B8) | kF | kB128;
constexpr uint64_t kAtomicTypes = kI32to64 | kB32 | kB64 | kF | kShort;
constexpr uint64_t kTiny = bit(Type::E4M3X2) | bit(Type::E5M2X2) | bit(Type::E3M2X2) | bit(Type::E2M3X2) |
                           bit(Type::E2M1X2) | bit(Type::UE8M0X2);
constexpr uint64_t kConvertFrom = kI | kI8 | kF | kShort | kTiny;
constexpr uint64_t kConvert = kConvertFrom | bit(Type::TF32);

// In the order of Op.
constexpr OpRule kRules[] = {
    {Op::Abs, "abs", "ds", kS | kF | kShort, 0, kFtz},
    {Op::Activemask, "activemask", "d", kB32, 0, 0, SmUnit::Lanes},
    {Op::Add, "add", "dss", kI | kF | kShort | kTwo, 0, kRound | kFtz | kSat | kSatInteger | kCarry,
     SmUnit::Fma, Dataflow::Sum},
    {Op::Addc, "addc", "dss", kI32to64, 0, kCarry | kCarryIn},
    {Op::And, "and", "dss", kP | kB, 0, 0},
    {Op::Atom, "atom", "dasV", kAtomicTypes, 0, kSpace | kAtomic | kVector, SmUnit::Memory, Dataflow::Other,
     SiteKind::Atomic},
    {Op::Bar, "bar", "uU", 0, 0, kBarrier, SmUnit::Barrier, Dataflow::Other, SiteKind::Barrier},
    {Op::Bfe, "bfe", "dsuu", kI32to64, 0, 0},
    {Op::Bfi, "bfi", "dssuu", kB32 | kB64, 0, 0},
    {Op::Bfind, "bfind", "Ds", kI32to64, 0, kShift},
    {Op::Bmsk, "bmsk", "dsu", kB32, 0, kExtend},
    {Op::Bra, "bra", "l", 0, 0, kUniform, SmUnit::Branch},
    {Op::Brev, "brev", "ds", kB32 | kB64, 0, 0},
    {Op::Clz, "clz", "Ds", kB32 | kB64, 0, 0},
    {Op::Cnot, "cnot", "ds", kB, 0, 0},
    {Op::Copysign, "copysign", "dss", kF, 0, 0},
    {Op::Cos, "cos", "ds", kF32, 0, kApprox | kFtz, SmUnit::Special},
    {Op::Cvt, "cvt", "BTP", kConvert, kConvertFrom, kRound | kRoundCvt | kFtz | kSat | kRelu, SmUnit::Convert,
     Dataflow::Copy},
    {Op::Cvta, "cvta", "dz", kU32 | kU64, 0, kTo | kSpace | kSpaceMust, SmUnit::None},
    {Op::Div, "div", "dss", kI | kF, 0, kRound | kApprox | kFull | kFtz, SmUnit::Special},
    {Op::Dp2a, "dp2a", "dsts", kI32, kI32, kLowHigh},
    {Op::Dp4a, "dp4a", "dsts", kI32, kI32, 0},
    {Op::Ex2, "ex2", "ds", kF32 | kShort, 0, kApprox | kFtz, SmUnit::Special},
    {Op::Exit, "exit", "", 0, 0, 0, SmUnit::Control},
    {Op::Fma, "fma", "dsss", kF | kShort | kTwo, 0, kRound | kRoundMust | kFtz | kSat | kRelu, SmUnit::Fma,
     Dataflow::Fused},
    {Op::Fns, "fns", "dsuu", kB32, 0, 0},
    {Op::Isspacep, "isspacep", "oz", 0, 0, kSpace | kSpaceMust},
    {Op::Ld, "ld", "La", kMemory, 0, kSpace | kLoadCache | kVector, SmUnit::Memory, Dataflow::Other,
     SiteKind::Load},
    {Op::Lg2, "lg2", "ds", kF32, 0, kApprox | kFtz, SmUnit::Special},
    {Op::Lop3, "lop3", "dsssi", kB32, 0, 0},
    {Op::Mad, "mad", "wssc", kI | kF, 0, kHalf | kRound | kRoundMust | kFtz | kSat | kSatInteger | kCarry,
     SmUnit::Fma, Dataflow::Fused},
    {Op::Mad24, "mad24", "dsss", kI32, 0, kLowHigh | kSatInteger},
    {Op::Madc, "madc", "dsss", kI32to64, 0, kHalf | kCarry | kCarryIn},
    {Op::Match, "match", "Esu", kB32 | kB64, 0, kSync | kMatch, SmUnit::Lanes, Dataflow::Other,
     SiteKind::Exchange},
    {Op::Max, "max", "dss", kI | kF | kShort, 0, kFtz | kNan},
    {Op::Membar, "membar", "", 0, 0, kScope, SmUnit::Control},
    {Op::Min, "min", "dss", kI | kF | kShort, 0, kFtz | kNan},
    {Op::Mov, "mov", "My", kP | kI | kB | kF | kB128, 0, 0, SmUnit::None, Dataflow::Copy},
    {Op::Mul, "mul", "wss", kI | kF | kShort | kTwo, 0, kHalf | kRound | kFtz | kSat, SmUnit::Fma,
     Dataflow::Product},
    {Op::Mul24, "mul24", "dss", kI32, 0, kLowHigh},
    {Op::Neg, "neg", "ds", kS | kF | kShort, 0, kFtz},
    {Op::Not, "not", "ds", kP | kB, 0, 0},
    {Op::Or, "or", "dss", kP | kB, 0, 0},
    {Op::Popc, "popc", "Ds", kB32 | kB64, 0, 0},
    {Op::Prmt, "prmt", "dsss", kB32, 0, 0},
    {Op::Rcp, "rcp", "ds", kF, 0, kRound | kApprox | kFtz, SmUnit::Special},
    {Op::Red, "red", "as", kAtomicTypes, 0, kSpace | kAtomic | kVector, SmUnit::Memory, Dataflow::Other,
     SiteKind::Atomic},
    {Op::Redux, "redux", "dsu", kI32 | kB32, 0, kSync | kReduce, SmUnit::Lanes, Dataflow::Other,
     SiteKind::Exchange},
    {Op::Rem, "rem", "dss", kI, 0, 0},
    {Op::Ret, "ret", "", 0, 0, kUniform, SmUnit::Control},
    {Op::Rsqrt, "rsqrt", "ds", kF, 0, kApprox | kFtz, SmUnit::Special},
    {Op::Sad, "sad", "dsss", kI, 0, 0},
    {Op::Selp, "selp", "dssq", kI | kB | kF, 0, 0, SmUnit::Alu, Dataflow::Choice},
    {Op::Set, "set", "dttQ", kI32 | kF32 | kShort | kI16, kI | kB | kF | kShort, kCompare | kBool | kFtz,
     SmUnit::Alu, Dataflow::None},
    {Op::Setp, "setp", "pssQ", kI | kB | kF | kShort, 0, kCompare | kBool | kFtz, SmUnit::Alu,
     Dataflow::None},
    {Op::Shf, "shf", "dssu", kB32, 0, kFunnel},
    {Op::Shfl, "shfl", "esuuu", kB32, 0, kSync | kLane, SmUnit::Lanes, Dataflow::Copy, SiteKind::Exchange},
    {Op::Shl, "shl", "dsu", kB, 0, 0},
    {Op::Shr, "shr", "dsu", kI | kB, 0, 0},
    {Op::Sin, "sin", "ds", kF32, 0, kApprox | kFtz, SmUnit::Special},
    {Op::Slct, "slct", "dsst", kI | kB | kF, kS32 | kF32, kFtz, SmUnit::Alu, Dataflow::Choice},
    {Op::Sqrt, "sqrt", "ds", kF, 0, kRound | kApprox | kFtz, SmUnit::Special},
    {Op::St, "st", "aS", kMemory, 0, kSpace | kStoreCache | kVector, SmUnit::Memory, Dataflow::Other,
     SiteKind::Store},
    {Op::Sub, "sub", "dss", kI | kF | kShort | kTwo, 0, kRound | kFtz | kSat | kSatInteger | kCarry,
     SmUnit::Fma, Dataflow::Sum},
    {Op::Subc, "subc", "dss", kI32to64, 0, kCarry | kCarryIn},
    {Op::Szext, "szext", "dsu", kI32, 0, kExtend},
    {Op::Tanh, "tanh", "ds", kF32 | kShort, 0, kApprox | kFtz, SmUnit::Special},
    {Op::Testp, "testp", "os", kF, 0, kClass, SmUnit::Alu, Dataflow::None},
    {Op::Trap, "trap", "", 0, 0, 0, SmUnit::Control},
    {Op::Vote, "vote", "dqu", kP | kB32, 0, kSync | kBallot, SmUnit::Lanes, Dataflow::Other,
     SiteKind::Exchange},
    {Op::Xor, "xor", "dss", kP | kB, 0, 0},
    {Op::BarWarp, "bar.warp", "u", 0, 0, kSync, SmUnit::Barrier},
    {Op::Createpolicy, "createpolicy", "dk", kB64, 0, kSpace | kPolicy, SmUnit::Alu, Dataflow::None},
    {Op::Discard, "discard", "an", 0, 0, kSpace | kHint, SmUnit::Memory},
    {Op::Elect, "elect", "Eu", 0, 0, kSync, SmUnit::Lanes},
    {Op::Setmaxnreg, "setmaxnreg", "n", kU32, 0, kRegisterCount, SmUnit::Control},
    {Op::Opaque, "", "", 0, 0, 0, SmUnit::Lanes},  // whatever no other row is of
    {Op::Call, "call", "", 0, 0, kUniform, SmUnit::Control},
    {Op::BarRed, "bar.red", "duq", kU32 | kP, 0, kTally, SmUnit::Barrier, Dataflow::Other, SiteKind::Barrier},
    {Op::Nanosleep, "nanosleep", "u", kU32, 0, 0, SmUnit::Control},
    {Op::Prefetch, "prefetch", "a", 0, 0, kSpace | kHint, SmUnit::Memory},
    {Op::Griddepcontrol, "griddepcontrol", "", 0, 0, kHint, SmUnit::Control},
    {Op::CpAsync, "cp.async", "aANU", 0, 0, kCopy, SmUnit::Copy, Dataflow::Other, SiteKind::Store},
    {Op::CpCommit, "cp.async.commit_group", "", 0, 0, 0, SmUnit::Copy},
    {Op::CpWait, "cp.async.wait_group", "n", 0, 0, 0, SmUnit::Copy},
    {Op::CpWaitAll, "cp.async.wait_all", "", 0, 0, 0, SmUnit::Copy},
    {Op::Ldmatrix, "ldmatrix", "Fa", 0, 0, kMatrix, SmUnit::Memory, Dataflow::Other, SiteKind::Load},
    {Op::Stmatrix, "stmatrix", "af", 0, 0, kMatrix, SmUnit::Memory, Dataflow::Other, SiteKind::Store},
    {Op::Movmatrix, "movmatrix", "du", 0, 0, kMatrix, SmUnit::Lanes, Dataflow::Other, SiteKind::Exchange},
    {Op::Mma, "mma", "Ffff", 0, 0, kMatrix, SmUnit::Tensor, Dataflow::Other, SiteKind::Exchange},
    {Op::MmaSp, "mma.sp", "Ffffui", 0, 0, kMatrix, SmUnit::Tensor, Dataflow::Other, SiteKind::Exchange},
    {Op::WmmaLoad, "wmma.load", "FaU", 0, 0, kMatrix, SmUnit::Memory, Dataflow::Other, SiteKind::Load},
    {Op::WmmaStore, "wmma.store", "afU", 0, 0, kMatrix, SmUnit::Memory, Dataflow::Other, SiteKind::Store},
    {Op::WmmaMma, "wmma.mma", "Ffff", 0, 0, kMatrix, SmUnit::Tensor, Dataflow::Other, SiteKind::Exchange},
    {Op::MbarrierInit, "mbarrier.init", "au", kB64, 0, kForm, SmUnit::Memory, Dataflow::None,
     SiteKind::Signal},
    {Op::MbarrierInval, "mbarrier.inval", "a", kB64, 0, kForm, SmUnit::Memory, Dataflow::None,
     SiteKind::Signal},
    {Op::MbarrierArrive, "mbarrier.arrive", "jaU", kB64, 0, kForm, SmUnit::Memory, Dataflow::None,
     SiteKind::Signal},
    {Op::MbarrierArriveExpect, "mbarrier.arrive.expect_tx", "jau", kB64, 0, kForm, SmUnit::Memory,
     Dataflow::None, SiteKind::Signal},
    {Op::MbarrierDrop, "mbarrier.arrive_drop", "jaU", kB64, 0, kForm, SmUnit::Memory, Dataflow::None,
     SiteKind::Signal},
    {Op::MbarrierDropExpect, "mbarrier.arrive_drop.expect_tx", "jau", kB64, 0, kForm, SmUnit::Memory,
     Dataflow::None, SiteKind::Signal},
    {Op::MbarrierExpect, "mbarrier.expect_tx", "au", kB64, 0, kForm, SmUnit::Memory, Dataflow::None,
     SiteKind::Signal},
    {Op::MbarrierComplete, "mbarrier.complete_tx", "au", kB64, 0, kForm, SmUnit::Memory, Dataflow::None,
     SiteKind::Signal},
    {Op::MbarrierTestWait, "mbarrier.test_wait", "oas", kB64, 0, kForm, SmUnit::Memory, Dataflow::None,
     SiteKind::Signal},
    {Op::MbarrierTestParity, "mbarrier.test_wait.parity", "oau", kB64, 0, kForm, SmUnit::Memory,
     Dataflow::None, SiteKind::Signal},
    {Op::MbarrierTryWait, "mbarrier.try_wait", "oasU", kB64, 0, kForm, SmUnit::Memory, Dataflow::None,
     SiteKind::Signal},
    {Op::MbarrierTryParity, "mbarrier.try_wait.parity", "oauU", kB64, 0, kForm, SmUnit::Memory,
     Dataflow::None, SiteKind::Signal},
    {Op::MbarrierPending, "mbarrier.pending_count", "Ds", kB64, 0, kForm},
    {Op::CpArrive, "cp.async.mbarrier.arrive", "a", kB64, 0, kForm, SmUnit::Memory, Dataflow::None,
     SiteKind::Signal},
    {Op::BulkToShared, "cp.async.bulk.shared::cluster.global", "aAuOObK", 0, 0, kForm, SmUnit::Copy,
     Dataflow::Other, SiteKind::Store},
    {Op::BulkToGlobal, "cp.async.bulk.global.shared::cta", "aHuK", 0, 0, kForm, SmUnit::Copy, Dataflow::Other,
     SiteKind::Store},
    {Op::BulkBetween, "cp.async.bulk.shared::cluster.shared::cta", "aHub", 0, 0, kForm, SmUnit::Copy,
     Dataflow::Other, SiteKind::Store},
    {Op::BulkReduceGlobal, "cp.reduce.async.bulk.global.shared::cta", "aHu", kAtomicTypes, 0, kForm,
     SmUnit::Copy, Dataflow::Other, SiteKind::Store},
    {Op::BulkReduceBetween, "cp.reduce.async.bulk.shared::cluster.shared::cta", "aHub", kAtomicTypes, 0,
     kForm, SmUnit::Copy, Dataflow::Other, SiteKind::Store},
    {Op::BulkCommit, "cp.async.bulk.commit_group", "", 0, 0, kForm, SmUnit::Copy},
    {Op::BulkWait, "cp.async.bulk.wait_group", "n", 0, 0, kForm, SmUnit::Copy},
    {Op::BulkPrefetch, "cp.async.bulk.prefetch.L2", "au", 0, 0, kForm, SmUnit::Memory},
    {Op::FenceTensormap, "fence.proxy.tensormap::generic.acquire", "an", 0, 0, kForm, SmUnit::Control},
    {Op::TensorToShared, "cp.async.bulk.tensor", "ambIK", 0, 0, kForm, SmUnit::Copy, Dataflow::Other,
     SiteKind::Store},
    {Op::TensorToGlobal, "cp.async.bulk.tensor", "mH", 0, 0, kForm, SmUnit::Copy, Dataflow::Other,
     SiteKind::Store},
    {Op::TensorReduce, "cp.reduce.async.bulk.tensor", "mH", 0, 0, kForm, SmUnit::Copy, Dataflow::Other,
     SiteKind::Store},
    {Op::TensorPrefetch, "cp.async.bulk.prefetch.tensor", "mI", 0, 0, kForm, SmUnit::Memory},
    {Op::PrefetchTensormap, "prefetch.tensormap", "a", 0, 0, kForm, SmUnit::Memory},
    {Op::TensormapReplace, "tensormap.replace", "as", kB32 | kB64, 0, kForm | kHidden, SmUnit::Memory},
    {Op::TensormapReplaceOne, "tensormap.replace", "ans", kB32 | kB64, 0, kForm | kHidden, SmUnit::Memory},
    {Op::TensormapCopy, "tensormap.cp_fenceproxy", "aHn", 0, 0, kForm | kHidden, SmUnit::Memory},
    {Op::Wgmma, "wgmma.mma_async", "GgvWhhrR", 0, 0, kForm, SmUnit::Tensor, Dataflow::Other,
     SiteKind::Exchange},
    {Op::WgmmaSp, "wgmma.mma_async.sp", "GgvuiWhhrR", 0, 0, kForm, SmUnit::Tensor, Dataflow::Other,
     SiteKind::Exchange},
    {Op::WgmmaFence, "wgmma.fence", "", 0, 0, kForm, SmUnit::Control},
    {Op::WgmmaCommit, "wgmma.commit_group", "", 0, 0, kForm, SmUnit::Control},
    {Op::WgmmaWait, "wgmma.wait_group", "n", 0, 0, kForm, SmUnit::Control},
    {Op::Mapa, "mapa", "dzu", kU32 | kU64, 0, kForm, SmUnit::Alu, Dataflow::None},
    {Op::Getctarank, "getctarank", "Dz", kU32 | kU64, 0, kForm, SmUnit::Alu, Dataflow::None},
    {Op::ClusterArrive, "barrier.cluster.arrive", "", 0, 0, kForm, SmUnit::Barrier, Dataflow::Other,
     SiteKind::Barrier},
    {Op::ClusterWait, "barrier.cluster.wait", "", 0, 0, kForm, SmUnit::Barrier, Dataflow::Other,
     SiteKind::Barrier},
    {Op::StAsync, "st.async", "aSb", kMemory, 0, kForm | kHidden, SmUnit::Memory, Dataflow::Other,
     SiteKind::Store},
    {Op::StAsyncRelease, "st.async", "aS", kMemory, 0, kForm | kHidden, SmUnit::Memory, Dataflow::Other,
     SiteKind::Store},
    {Op::RedAsync, "red.async", "asb", kAtomicTypes, 0, kForm | kHidden, SmUnit::Memory, Dataflow::Other,
     SiteKind::Atomic},
    {Op::RedAsyncRelease, "red.async", "as", kAtomicTypes, 0, kForm | kHidden, SmUnit::Memory,
     Dataflow::Other, SiteKind::Atomic},
    {Op::MultimemLoad, "multimem.ld_reduce", "La", kMemory, 0, kForm, SmUnit::Memory},
    {Op::MultimemSt, "multimem.st", "aS", kMemory, 0, kForm | kHidden, SmUnit::Memory},
    {Op::MultimemRed, "multimem.red", "aS", kMemory, 0, kForm | kHidden, SmUnit::Memory},
    {Op::TryCancel, "clusterlaunchcontrol.try_cancel.async", "ab", kB128, 0, kForm | kHidden, SmUnit::Memory},
    {Op::IsCanceled, "clusterlaunchcontrol.query_cancel", "ot", kP, kB128, kForm, SmUnit::Alu,
     Dataflow::None},
    {Op::FirstBlock, "clusterlaunchcontrol.query_cancel", "dt", kB32, kB128, kForm, SmUnit::Alu,
     Dataflow::None},
    {Op::FirstBlocks, "clusterlaunchcontrol.query_cancel", "Lt", kB32, kB128, kForm, SmUnit::Alu,
     Dataflow::None},
};

constexpr bool in_order() {
    for (size_t i = 0; i < std::size(kRules); ++i)
        if (static_cast<size_t>(kRules[i].op) != i) return false;
    return std::size(kRules) == static_cast<size_t>(kLastOp) + 1;
}
static_assert(in_order());

// What else a rule is called.
constexpr std::pair<const char*, Op> kAliases[] = {
    {"applypriority", Op::Discard},
    {"bar.cta.red", Op::BarRed},
    {"barrier", Op::Bar},
    {"barrier.red", Op::BarRed},
    {"barrier.cta.red", Op::BarRed},
    {"cp", Op::CpAsync},
    {"cp.async.bulk", Op::BulkToShared},
    {"cp.async.bulk.shared::cta.global", Op::BulkToShared},
    {"cp.reduce.async.bulk", Op::BulkReduceGlobal},
    {"fence", Op::Membar},
    {"prefetchu", Op::Prefetch},
    {"wmma", Op::WmmaMma},
    {"mma.sp::ordered_metadata", Op::MmaSp},
    {"mbarrier", Op::MbarrierInit},
    {"prefetch.const.tensormap", Op::PrefetchTensormap},
    {"prefetch.param.tensormap", Op::PrefetchTensormap},
    {"tensormap", Op::TensormapReplace},
    {"wgmma", Op::Wgmma},
    {"multimem", Op::MultimemLoad},
    {"clusterlaunchcontrol", Op::TryCancel},
};
constexpr size_t kMostWords = 5;  // of a name

}  // namespace

bool is_destination(char letter) {
    return std::string_view("dwDBpoeELMFjG").find(letter) != std::string_view::npos;
}

bool has_operand(const Instruction& instruction, char letter) {
    switch (letter) {
        case 'Q': return instruction.combine != Bool::None;
        case 'V': return instruction.atomic == Atomic::Cas;
        case 'P': return joins(instruction);
        case 'K': return has_suffix(instruction, {"multicast::cluster", "cp_mask"});
        case 'O': return has_suffix(instruction, {"ignore_oob"});
        case 'I': return offsets_of(instruction) > 0;
        case 'h': return instruction.type != Type::S32;
        case 'R': return instruction.type2 == Type::F16 || instruction.type2 == Type::BF16;
        case 'r': return has_operand(instruction, 'R') && descriptor_of_a(instruction) != nullptr;
        default: return true;
    }
}

std::span<const OpRule> all_rules() { return kRules; }

const OpRule& rule_of(Op op) { return kRules[static_cast<size_t>(op)]; }

const OpRule* find_rule(const Instruction& made, size_t& in_name) {
    static const std::unordered_map<std::string_view, const OpRule*> table = [] {
        std::unordered_map<std::string_view, const OpRule*> names;
        for (const OpRule& rule : kRules) names.emplace(rule.name, &rule);
        for (const auto& [name, op] : kAliases) names.emplace(name, &rule_of(op));
        return names;
    }();
    std::string name = made.mnemonic;
    auto found = table.find(name);
    if (found == table.end()) return nullptr;
    const OpRule* rule = found->second;
    in_name = 0;
    for (size_t i = 0; i < std::min(kMostWords, made.suffixes.size()); ++i) {
        found = table.find(name += "." + made.suffixes[i]);
        if (found != table.end()) rule = found->second, in_name = i + 1;
    }
    return rule;
}

Type widened(Type type, Half half) {
    if (half != Half::Wide) return type;
    return type == Type::U16   ? Type::U32
           : type == Type::S16 ? Type::S32
           : type == Type::U32 ? Type::U64
                               : Type::S64;
}

bool agrees(Type wanted, Type given) {
    if (wanted == Type::Pred || given == Type::Pred) return wanted == given;
    if (size_of(wanted) != size_of(given)) return false;
    if (is_bits(wanted) || is_bits(given)) return true;
    return is_float(wanted) ? wanted == given : !is_float(given);
}

bool agrees_relaxed(Type wanted, Type given) {
    if (agrees(wanted, given)) return true;
    if (is_float(wanted) || is_float(given) || given == Type::Pred) return false;
    return size_of(given) > size_of(wanted) && size_of(given) <= 8;
}

bool immediate_fits(Type wanted, Type given) {
    if (given == Type::F32 || given == Type::F64)
        return size_of(wanted) == size_of(given) && (is_bits(wanted) || is_float(wanted));
    return !is_float(wanted) && wanted != Type::Pred;
}

Type type_of(char letter, const Operation& operation) {
    const auto is = [&](std::string_view letters) { return letters.find(letter) != std::string_view::npos; };
    if (is("wc")) return widened(operation.type, operation.half);
    if (is("tTP")) return operation.type2;
    if (is("DE")) return Type::B32;
    if (is("uUinNO")) return Type::U32;
    if (letter == 'K' || letter == 'I') return Type::U16;
    if (letter == 'm') return Type::S32;
    if (is("Gg")) return Type::B32;
    if (letter == 'v') return Type::B64;
    return is("poqQW") ? Type::Pred : operation.type;
}

Type source_type(const Instruction& instruction, size_t i) {
    const std::string_view letters = rule_of(instruction.op).operands;
    const auto first = std::ranges::find_if_not(letters, is_destination) - letters.begin();
    return type_of(letters[static_cast<size_t>(first) + i], instruction);
}

size_t address_at(const Instruction& instruction) {
    const size_t at = std::string_view(rule_of(instruction.op).operands).find_first_of("am");
    return at == std::string_view::npos ? 0 : at;
}

bool joins(const Operation& operation) {
    return operation.op == Op::Cvt && elements_of(operation.type) == 2 && elements_of(operation.type2) == 1;
}

namespace {

// Of floats: every number of `from` is one of `to`; tf32 is what tensor cores make of f32.
bool keeps_numbers(Type to, Type from) {
    if (to == from || (to == Type::TF32 && from == Type::F32)) return true;
    const bool half = from == Type::F16 || from == Type::BF16;
    return (to == Type::F32 && half) || (to == Type::F64 && (half || from == Type::F32));
}

}  // namespace

Dataflow flow_of(const Operation& operation) {
    const Dataflow flow = rule_of(operation.op).flow;
    if (operation.type == Type::Pred) return Dataflow::None;
    if (flow == Dataflow::Copy && operation.type2 != Type::None) {  // a conversion
        const bool floats = is_float(operation.type) && is_float(operation.type2);
        const bool keeps = floats ? keeps_numbers(operation.type, operation.type2)
                                  : !is_float(operation.type) && !is_float(operation.type2) &&
                                        size_of(operation.type) == size_of(operation.type2);
        return keeps ? flow : Dataflow::Other;
    }
    const bool sums = flow == Dataflow::Sum || flow == Dataflow::Product || flow == Dataflow::Fused;
    const bool in_parts = operation.half == Half::Hi || operation.carry_out || operation.type == Type::F32X2;
    return sums && in_parts ? Dataflow::Other : flow;
}

uint8_t flops_of(const Operation& operation) {
    const OpRule& rule = rule_of(operation.op);
    if (!is_float(operation.type) || (rule.unit != SmUnit::Fma && rule.unit != SmUnit::Special)) return 0;
    return static_cast<uint8_t>((rule.flow == Dataflow::Fused ? 2 : 1) * elements_of(operation.type));
}

std::string full_name(const Instruction& instruction) {
    std::string text(instruction.mnemonic.empty() ? name_of(instruction.op) : instruction.mnemonic);
    for (const std::string& suffix : instruction.suffixes) text += "." + suffix;
    return text;
}

bool has_suffix(const Instruction& instruction, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(instruction.suffixes, [&](const std::string& suffix) {
        return std::ranges::find(words, suffix) != words.end();
    });
}

bool orders_threads(const Instruction& instruction) {
    return instruction.op == Op::Membar && !has_suffix(instruction, {"proxy", "mbarrier_init"});
}

bool is_free(const Instruction& instruction) {
    switch (rule_of(instruction.op).unit) {
        case SmUnit::None: return true;
        case SmUnit::Convert: return !is_float(instruction.type) && !is_float(instruction.type2);
        case SmUnit::Memory: return instruction.op == Op::Ld && instruction.space == StateSpace::Param;
        case SmUnit::Branch: return instruction.guard < 0;
        default: return false;
    }
}

}  // namespace tilescope::ptx
