// Which operations have a name of their own in prelude.h; all others call the interpreter's lane functions.
#include "core/compiled/native.h"

#include <fmt/format.h>

namespace tilescope::compiled {

using ptx::Compare;
using ptx::Half;
using ptx::Op;
using ptx::Operation;
using ptx::Round;
using ptx::Type;

namespace {

bool is_integer(Type type) { return type != Type::Pred && !is_float(type) && type != Type::None; }

const char* compare_name(Compare how) {
    constexpr const char* kNames[] = {"",   "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lt",  "le", "gt",
                                      "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
    return kNames[static_cast<size_t>(how)];
}

std::string compare(const Operation& o) {
    if (o.ftz || o.combine != ptx::Bool::None) return "";
    if (is_float(o.type))
        return o.type == Type::F32 || o.type == Type::F64
                   ? fmt::format("{}_{}", compare_name(o.compare), o.type == Type::F32 ? "f32" : "f64")
                   : "";
    const int bytes = size_of(o.type);
    if (bytes < 4) return "";
    const bool as_signed = is_signed(o.type) && !(o.compare >= Compare::Lo && o.compare <= Compare::Hs);
    return fmt::format("{}_{}{}", compare_name(o.compare), as_signed ? 's' : 'u', 8 * bytes);
}

std::string convert(const Operation& o) {
    const bool to_float = is_float(o.type), from_float = is_float(o.type2);
    if (o.sat || o.ftz) return "";
    if (!to_float && !from_float) return "cvt";
    if (to_float && !from_float && o.type == Type::F32 && size_of(o.type2) == 4 && o.round == Round::Rn)
        return is_signed(o.type2) ? "f_of_s32" : "f_of_u32";
    if (to_float && from_float && o.type == Type::F32 && o.type2 == Type::F32)
        return o.round == Round::Rzi ? "ftrunc" : o.round == Round::Rmi ? "ffloor" : "";
    if (from_float && o.type == Type::S32 && o.type2 == Type::F32 && o.round == Round::Rzi) return "s32_of_f";
    return "";
}

std::string float_name(const Operation& o) {
    const bool wide = o.type == Type::F64;
    if (o.ftz || o.sat || o.nan || o.xorsign || (!wide && o.type != Type::F32)) return "";
    const char* prefix = wide ? "d" : "f";
    const bool nearest = o.round == Round::None || o.round == Round::Rn;
    switch (o.op) {
        case Op::Mov: return wide ? "mov64" : "mov32";
        case Op::Selp: return wide ? "select64" : "select32";
        case Op::Neg: return wide ? "dneg64" : "fneg";
        case Op::Abs: return wide ? "dabs64" : "fabs";
        case Op::Min: return wide ? "" : "fmin";
        case Op::Max: return wide ? "" : "fmax";
        case Op::Add: return nearest ? fmt::format("{}add", prefix) : "";
        case Op::Sub: return nearest ? fmt::format("{}sub", prefix) : "";
        case Op::Mul: return nearest ? fmt::format("{}mul", prefix) : "";
        case Op::Mad:
        case Op::Fma: return o.round == Round::Rn ? fmt::format("{}fma", prefix) : "";
        case Op::Div: return o.round == Round::Rn ? fmt::format("{}div", prefix) : "";
        case Op::Rcp: return o.round == Round::Rn && !wide ? "frcp" : "";
        default: return "";
    }
}

std::string integer_name(const Operation& o) {
    const int bytes = size_of(o.type), bits = 8 * bytes;
    if (o.sat || o.carry_out || !is_integer(o.type)) return "";
    const char sign = is_signed(o.type) ? 's' : 'u';
    const auto of_width = [&](const char* name) { return fmt::format("{}{}", name, bits); };
    switch (o.op) {
        case Op::Mov: return bytes == 8 ? "mov64" : "mov32";
        case Op::Selp: return bytes == 8 ? "select64" : "select32";
        case Op::And: return bytes == 8 ? "and64" : "and32";
        case Op::Or: return bytes == 8 ? "or64" : "or32";
        case Op::Xor: return bytes == 8 ? "xor64" : "xor32";
        default: break;
    }
    if (bytes < 4) return "";
    switch (o.op) {
        case Op::Add: return of_width("add");
        case Op::Sub: return of_width("sub");
        case Op::Not: return of_width("not");
        case Op::Neg: return of_width("neg");
        case Op::Abs: return of_width("abs");
        case Op::Shl: return of_width("shl");
        case Op::Shr: return fmt::format("shr_{}{}", sign, bits);
        case Op::Min: return fmt::format("min_{}{}", sign, bits);
        case Op::Max: return fmt::format("max_{}{}", sign, bits);
        case Op::Mul:
        case Op::Mad: {
            const bool add = o.op == Op::Mad;
            if (o.half == Half::Lo) return of_width(add ? "mad" : "mul");
            if (bytes != 4) return "";
            if (o.half == Half::Wide) return fmt::format("{}wide_{}32", add ? "mad" : "", sign);
            return add ? "" : fmt::format("high_{}32", sign);
        }
        default: return "";
    }
}

}  // namespace

std::string native_name(const Operation& o) {
    if (o.op == Op::Setp) return compare(o);
    if (o.op == Op::Cvt) return convert(o);
    if (o.type == Type::Pred)
        return o.op == Op::And   ? "and_p"
               : o.op == Op::Or  ? "or_p"
               : o.op == Op::Xor ? "xor_p"
               : o.op == Op::Not ? "not_p"
               : o.op == Op::Mov ? "mov_p"
                                 : "";
    return is_float(o.type) ? float_name(o) : integer_name(o);
}

namespace {

bool is_fp32(const Operation& o) {
    return o.type == Type::F32 &&
           (o.op == Op::Add || o.op == Op::Sub || o.op == Op::Mul || o.op == Op::Mad || o.op == Op::Fma ||
            o.op == Op::Div || o.op == Op::Rcp || o.op == Op::Neg || o.op == Op::Abs || o.op == Op::Min ||
            o.op == Op::Max || (o.op == Op::Cvt && o.type2 == Type::F32));
}

}  // namespace

bool has_scalar(const Operation& o) {
    const bool sum = o.type == Type::F64 && o.op != Op::Mov && o.op != Op::Selp && o.op != Op::Neg &&
                     o.op != Op::Abs && o.op != Op::Setp;
    return !native_name(o).empty() && !sum;
}

bool takes_any_nan(const Operation& o) {
    if (native_name(o).empty()) return false;
    return is_fp32(o) || (o.op == Op::Setp && o.type == Type::F32) ||
           (o.op == Op::Cvt && o.type2 == Type::F32 && !is_float(o.type));
}

bool makes_any_nan(const Operation& o) { return is_fp32(o) && !native_name(o).empty(); }

}  // namespace tilescope::compiled
