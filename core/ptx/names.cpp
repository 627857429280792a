#include "core/ptx/names.h"

#include <iterator>

#include "core/ptx/ops.h"

namespace tilescope::ptx {
namespace {

// An enum without gaps: its n-th name names its n-th value.
template <class E, size_t n>
std::optional<E> find_in(const char* const (&names)[n], std::string_view name) {
    for (size_t i = 0; i < n; ++i)
        if (!name.empty() && name == names[i]) return static_cast<E>(i);
    return std::nullopt;
}

constexpr const char* kCompares[] = {"",   "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls", "hi",
                                     "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
static_assert(std::size(kCompares) == static_cast<size_t>(Compare::Nan) + 1);

constexpr const char* kBools[] = {"", "and", "or", "xor"};
static_assert(std::size(kBools) == static_cast<size_t>(Bool::Xor) + 1);

constexpr const char* kRounds[] = {"",    "rn",  "rz",  "rm",  "rp",     "rna",
                                   "rni", "rzi", "rmi", "rpi", "approx", "full"};
static_assert(std::size(kRounds) == static_cast<size_t>(Round::Full) + 1);

constexpr const char* kAtomics[] = {"", "add", "and", "or", "xor", "min", "max", "inc", "dec", "exch", "cas"};
static_assert(std::size(kAtomics) == static_cast<size_t>(Atomic::Cas) + 1);

constexpr const char* kSpaces[] = {"", "param", "shared", "global", "local", "const"};
static_assert(std::size(kSpaces) == static_cast<size_t>(StateSpace::Const) + 1);

// clang-format off
constexpr const char* kSpecials[] = {
    "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y",
    "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%warpid", "%nwarpid", "%smid",
    "%nsmid", "%gridid", "%clock", "%clock64", "%clock_hi", "%globaltimer", "%globaltimer_lo",
    "%globaltimer_hi", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge",
    "%lanemask_gt", "%dynamic_smem_size", "%total_smem_size", "%clusterid.x", "%clusterid.y",
    "%clusterid.z", "%nclusterid.x", "%nclusterid.y", "%nclusterid.z", "%cluster_ctaid.x",
    "%cluster_ctaid.y", "%cluster_ctaid.z", "%cluster_nctaid.x", "%cluster_nctaid.y",
    "%cluster_nctaid.z", "%cluster_ctarank", "%cluster_nctarank", "%is_explicit_cluster",
};
// clang-format on
static_assert(std::size(kSpecials) == static_cast<size_t>(SpecialRegister::IsExplicitCluster) + 1);

}  // namespace

std::string_view name_of(Op op) {
    const std::string_view name = rule_of(op).name;
    return name.substr(0, name.find('.'));
}
const char* name_of(SpecialRegister special) { return kSpecials[static_cast<size_t>(special)]; }
const char* name_of(StateSpace space) { return kSpaces[static_cast<size_t>(space)]; }

std::optional<Type> find_type(std::string_view name) {
    for (size_t i = 0; i < static_cast<size_t>(Type::None); ++i) {
        const auto type = static_cast<Type>(i);
        // Instructions on registers have 8-bit floats in pairs alone.
        if (name == name_of(type) && type != Type::E4M3 && type != Type::E5M2) return type;
    }
    return std::nullopt;
}
std::optional<Compare> find_compare(std::string_view name) { return find_in<Compare>(kCompares, name); }
std::optional<Bool> find_bool(std::string_view name) { return find_in<Bool>(kBools, name); }
std::optional<Round> find_round(std::string_view name) { return find_in<Round>(kRounds, name); }
std::optional<Atomic> find_atomic(std::string_view name) { return find_in<Atomic>(kAtomics, name); }
std::optional<SpecialRegister> find_special(std::string_view name) {
    return find_in<SpecialRegister>(kSpecials, name);
}

std::optional<StateSpace> find_space(std::string_view name) {
    if (name == "shared::cta" || name == "shared::cluster") return StateSpace::Shared;
    if (name == "param::entry" || name == "param::func") return StateSpace::Param;
    return find_in<StateSpace>(kSpaces, name);
}

Type type_of(SpecialRegister special) {
    if (special == SpecialRegister::IsExplicitCluster) return Type::Pred;
    const bool wide = special == SpecialRegister::Clock64 || special == SpecialRegister::GlobalTimer ||
                      special == SpecialRegister::GridId;
    return wide ? Type::U64 : Type::U32;
}

}  // namespace tilescope::ptx
