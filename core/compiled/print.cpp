#include "core/compiled/print.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/ptx/exchange.h"

namespace tilescope::compiled {

using ptx::Op;
using ptx::StateSpace;
using ptx::Type;
using simt::in_pool;
using simt::MemoryAccess;
using simt::MicroOp;
using simt::PoolColumn;
using simt::Ref;
using Kind = MicroOp::Kind;

namespace {

// How the lanes of a warp lie in memory, 8 by 8.
struct Pieces {
    enum class Kind : uint8_t { Apart, SideBySide, One } kind = Kind::Apart;
    bool whole = false;   // SideBySide: all 32 are
    bool halves = false;  // pieces 0 and 1, 2 and 3 go together: side by side, or one element
};

class Printer {
public:
    Printer(const simt::Program& program, const Values& values) : program_(program), values_(values) {}
    Printed print();

private:
    // Parts of C.
    std::string scalar(Ref ref, uint8_t bytes);
    std::string column(Ref ref, uint8_t bytes, bool any_nan = false);
    std::string bits(Ref ref);
    std::string operand(const Place& place, bool as_column, bool any_nan);
    std::string mask_of(const MicroOp& op, bool whole) const;
    std::string lane_expression(uint32_t i, bool as_column);
    std::string constant_of(Ref ref, uint8_t bytes);

    void find_any_nans();
    void find_groups();
    void find_fours();
    Pieces pieces_of(uint32_t shape, uint32_t bytes) const;

    void block(uint32_t b);
    void one(uint32_t i, bool whole);
    void lane(uint32_t i, bool whole, const std::string& mask);
    void widened(uint32_t i, const Place& to, bool everywhere, const std::string& mask);
    void call_lane(uint32_t i, bool whole, const std::string& mask);
    void shuffle(uint32_t i, bool whole);
    void assign(const Place& to, const std::string& made, bool everywhere, const std::string& mask,
                bool any_nan);
    void access(uint32_t i, bool whole, const std::string& mask);
    void check(uint32_t group);
    void quick(uint32_t i);
    void move_data(uint32_t i, const std::string& q, int64_t from, const std::string& mask);
    void put_loaded(const Register& to, const std::string& value, const std::string& mask);
    void request(uint32_t i, const std::string& mask, bool everywhere);
    void branch(uint32_t i);
    void leave(uint32_t i);
    void barrier(uint32_t i);
    void converge(uint32_t i, bool whole);
    void stop_before(uint32_t i);
    std::string go_to(uint32_t from, uint32_t to);
    std::string pause(uint32_t to);
    std::string saved(const std::vector<bool>& live);
    std::string restored(const std::vector<bool>& live);
    std::vector<bool> waiting() const;

    template <class... Arguments>
    void put(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(text_), text, std::forward<Arguments>(arguments)...);
    }

    // Accesses of one block with the same base and shape.
    struct Together {
        uint32_t number = 0, first = 0;  // index into Context::ranges; the first access
        Ref base = 0;
        uint32_t shape = 0;
        bool wide = true;
        int64_t low = 0, end = 0;  // bytes from the base
        uint32_t most_bytes = 1;   // of one access: its alignment
    };

    const simt::Program& program_;
    const Values& values_;
    Printed made_;
    std::string text_, resumes_, head_;
    uint32_t resume_ = 0;
    std::vector<bool> any_nan_;      // by register
    std::vector<int32_t> group_of_;  // by micro-operation: index into together_
    std::vector<Together> together_;
    // Loads of four neighbours of 4 bytes, each lane's elsewhere.
    struct Four {
        uint32_t first = 0;
        int64_t offset = 0;
    };
    std::vector<Four> fours_;
    std::vector<int32_t> four_of_;  // by micro-operation
    std::map<std::pair<Ref, uint8_t>, std::string> constants_;
    std::map<std::pair<uint32_t, int>, bool> offsets_;  // of shapes and pieces that are used
    std::vector<uint32_t> save_at_;                     // by register
};

uint32_t bytes_of(const MemoryAccess& access) { return uint32_t{access.element_bytes} * access.elements; }

std::string Printer::constant_of(Ref ref, uint8_t bytes) {
    const auto known = constants_.find({ref, bytes});
    if (known != constants_.end()) return known->second;
    const Value value = values_.value(ref);
    std::string name;
    for (const PoolColumn& column : program_.pool) {
        if (column.offset != (ref & ~1u)) continue;
        if (column.kind == PoolColumn::Kind::Ctaid) {
            name = fmt::format("(u{})b{}", 8 * bytes, column.index);
        } else if (column.kind == PoolColumn::Kind::Immediate) {
            name = bytes == 0   ? fmt::format("{:#x}u", static_cast<uint32_t>(column.bits))
                   : bytes == 4 ? fmt::format("{:#x}u", static_cast<uint32_t>(column.bits))
                                : fmt::format("(u64){:#x}ull", column.bits);
        } else {
            name = fmt::format("c{}", ref);
            head_ += fmt::format("    const u{} {} = (u{})w->firsts[{}];\n", 8 * bytes, name, 8 * bytes,
                                 made_.firsts.size());
            made_.firsts.push_back(value.table);
        }
        break;
    }
    return constants_[{ref, bytes}] = name;
}

// What it is in all lanes, or in the first one.
std::string Printer::scalar(Ref ref, uint8_t bytes) {
    if (in_pool(ref)) return constant_of(ref, bytes);
    return values_.value(ref).varying() ? fmt::format("v{}[0]", ref) : fmt::format("s{}", ref);
}

std::string Printer::column(Ref ref, uint8_t bytes, bool any_nan) {
    const Value value = values_.value(ref);
    if (value.varying()) {
        const bool made = any_nan_[values_.index_of(ref)];
        return made && !any_nan ? fmt::format("f_canonical(v{})", ref) : fmt::format("v{}", ref);
    }
    if (value.shape == 0) return fmt::format("splat{}({})", 8 * bytes, scalar(ref, bytes));
    return fmt::format("along{}({}, sh + {})", 8 * bytes, scalar(ref, bytes), value.shape);
}

std::string Printer::bits(Ref ref) { return in_pool(ref) ? constant_of(ref, 0) : fmt::format("p{}", ref); }

std::string Printer::operand(const Place& place, bool as_column, bool any_nan) {
    if (place.bytes == 0) return bits(place.ref);
    return as_column ? column(place.ref, place.bytes, any_nan) : scalar(place.ref, place.bytes);
}

std::string Printer::mask_of(const MicroOp& op, bool whole) const {
    const std::string all = whole ? "~0u" : "m";
    if (op.guard == simt::kNoGuard) return all;
    return fmt::format("({} & {}p{})", all, op.guard_negated ? "~" : "", op.guard);
}

std::string converted(const std::string& from, const ptx::Operation& does, bool as_column) {
    const char p = as_column ? 'v' : 'u';
    const int a = 8 * size_of(does.type2), d = 8 * size_of(does.type);
    const bool from_signed = is_signed(does.type2);
    std::string x = from;
    if (a < 32) x = fmt::format("{}_{}{}_32({})", p, from_signed ? "sign" : "low", a, x);
    if (d == 64 && a < 64) x = fmt::format("{}_{}({})", p, from_signed ? "sext" : "zext", x);
    if (d < 64 && a == 64) x = fmt::format("{}_cut({})", p, x);
    if (d < 32) x = fmt::format("{}_low{}_32({})", p, d, x);
    return x;
}

std::string Printer::lane_expression(uint32_t i, bool as_column) {
    const ptx::Operation& does = program_.lanes[i].does;
    const std::string name = native_name(does);
    const bool moved = does.op == Op::Mov && as_column && does.type != Type::Pred &&
                       values_.reg(program_.code[i].d).value.varying() &&
                       any_nan_[values_.index_of(program_.code[i].d)];
    const bool any_nan = moved || takes_any_nan(does);
    std::vector<std::string> from;
    for (const Place& place : values_.places(i)) {
        if (!place.is_read || (place.bytes == 0 && &place == &values_.places(i).front() &&
                               program_.code[i].guard != simt::kNoGuard))
            continue;
        from.push_back(operand(place, as_column, any_nan));
    }
    if (name == "cvt") return converted(from[0], does, as_column);
    if (name == "and_p") return fmt::format("({} & {})", from[0], from[1]);
    if (name == "or_p") return fmt::format("({} | {})", from[0], from[1]);
    if (name == "xor_p") return fmt::format("({} ^ {})", from[0], from[1]);
    if (name == "not_p") return fmt::format("~{}", from[0]);
    if (name == "mov_p") return from[0];
    return fmt::format("{}_{}({})", as_column ? 'v' : 'u', name, fmt::join(from, ", "));
}

// Columns whose NaNs are made the one that is seen only where they are seen.
void Printer::find_any_nans() {
    any_nan_.assign(values_.registers.size(), false);
    for (size_t r = 0; r < any_nan_.size(); ++r)
        any_nan_[r] = values_.registers[r].value.varying() && values_.registers[r].bytes == 4;
    const auto gives = [&](uint32_t i) {
        const MicroOp& op = program_.code[i];
        if (op.kind != Kind::Lane) return false;
        const ptx::Operation& does = program_.lanes[i].does;
        if (makes_any_nan(does)) return true;
        if (does.op != Op::Mov) return false;
        if (const auto number = values_.constant(op.a)) return (*number & 0x7FFF'FFFF) <= 0x7F80'0000;
        if (in_pool(op.a)) return false;
        const Register& from = values_.reg(op.a);
        if (from.value.varying()) return static_cast<bool>(any_nan_[values_.index_of(op.a)]);
        return std::ranges::all_of(from.writes, [&](uint32_t w) {
            return program_.code[w].kind == Kind::Lane && makes_any_nan(program_.lanes[w].does);
        });
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t r = 0; r < any_nan_.size(); ++r)
            if (any_nan_[r] && !std::ranges::all_of(values_.registers[r].writes, gives))
                any_nan_[r] = false, changed = true;
    }
}

void Printer::find_groups() {
    group_of_.assign(program_.code.size(), -1);
    std::map<StateSpace, uint32_t> fixed{{StateSpace::Shared, kSharedGroup},
                                         {StateSpace::Const, kConstGroup}};
    for (const BasicBlock& block : values_.blocks) {
        std::map<Ref, uint32_t> version;
        std::map<std::tuple<Ref, uint32_t, StateSpace, bool>, int32_t> open;
        for (uint32_t i = block.first; i < block.end; ++i) {
            const MicroOp& op = program_.code[i];
            if ((op.kind == Kind::Load || op.kind == Kind::Store) && op.guard == simt::kNoGuard) {
                const MemoryAccess& access = program_.accesses[op.target];
                const Value address = values_.value(op.a);
                const uint32_t bytes = bytes_of(access);
                const bool quick =
                    !address.varying() && access.space != StateSpace::Local &&
                    (access.space != StateSpace::Const || op.kind == Kind::Load) &&
                    std::ranges::all_of(values_.shapes[address.shape], [&](int64_t d) {
                        return d % static_cast<int64_t>(bytes) == 0 && d > INT32_MIN && d < INT32_MAX;
                    });
                if (quick) {
                    const auto [at, is_new] = open.try_emplace(
                        {op.a, in_pool(op.a) ? 0 : version[op.a], access.space, access.wide_address},
                        static_cast<int32_t>(together_.size()));
                    const int64_t end = access.offset + bytes;
                    if (is_new) {
                        uint32_t number = 0;
                        if (const auto one = fixed.find(access.space); one != fixed.end()) {
                            number = one->second;
                        } else {
                            number = kFirstGroup + static_cast<uint32_t>(made_.groups.size());
                            made_.groups.push_back({access.space, false, false});
                        }
                        together_.push_back(
                            {number, i, op.a, address.shape, access.wide_address, access.offset, end, bytes});
                    }
                    Together& all = together_[static_cast<size_t>(at->second)];
                    const int64_t low = std::min(all.low, access.offset), high = std::max(all.end, end);
                    // One that is aligned otherwise, or far away, is looked at alone.
                    const auto fits = [&](int64_t distance, uint32_t size) {
                        return distance % int64_t{size} == 0;
                    };
                    if (high - low <= 1 << 20 && fits(access.offset - low, bytes) &&
                        fits(all.low - low, all.most_bytes)) {
                        all.low = low, all.end = high, all.most_bytes = std::max(all.most_bytes, bytes);
                        group_of_[i] = at->second;
                        if (all.number >= kFirstGroup) {
                            Group& group = made_.groups[all.number - kFirstGroup];
                            (op.kind == Kind::Load ? group.loads : group.stores) = true;
                        }
                    }
                }
            }
            for (const Place& place : values_.places(i))
                if (place.is_written) ++version[place.ref];
        }
    }
}

// Loads of one group that follow each other, with no store between them.
void Printer::find_fours() {
    four_of_.assign(program_.code.size(), -1);
    const auto suits = [&](uint32_t i) {
        const MicroOp& op = program_.code[i];
        if (op.kind != Kind::Load || group_of_[i] < 0) return false;
        const MemoryAccess& access = program_.accesses[op.target];
        const Together& all = together_[static_cast<size_t>(group_of_[i])];
        const auto words = [&](size_t e) { return access.data_bytes[e] == 4 || access.data_bytes[e] == 2; };
        bool varying = true;
        for (size_t e = 0; e < access.elements; ++e)
            varying = varying && words(e) && values_.value(access.data[e]).varying();
        return access.element_bytes == 4 && all.shape != 0 && varying &&
               pieces_of(all.shape, 4).kind == Pieces::Kind::Apart;
    };
    for (const BasicBlock& block : values_.blocks) {
        for (uint32_t i = block.first; i < block.end; ++i) {
            if (four_of_[i] >= 0 || !suits(i)) continue;
            const int64_t low = program_.accesses[program_.code[i].target].offset;
            std::array<int32_t, 4> word{-1, -1, -1, -1};
            std::vector<uint32_t> loads;
            for (uint32_t k = i; k < block.end; ++k) {
                const Kind kind = program_.code[k].kind;
                if (kind == Kind::Store || kind == Kind::Atomic || kind == Kind::Barrier ||
                    kind == Kind::Converge)
                    break;
                if (four_of_[k] >= 0 || !suits(k) || group_of_[k] != group_of_[i]) continue;
                const MemoryAccess& access = program_.accesses[program_.code[k].target];
                const int64_t first = (access.offset - low) / 4;
                if ((access.offset - low) % 4 != 0 || first < 0 || first + access.elements > 4) continue;
                for (uint32_t e = 0; e < access.elements; ++e)
                    word[static_cast<size_t>(first + e)] = static_cast<int32_t>(k);
                loads.push_back(k);
            }
            if (std::ranges::count(word, -1) != 0) continue;
            for (const uint32_t k : loads) four_of_[k] = static_cast<int32_t>(fours_.size());
            fours_.push_back({i, low});
        }
    }
}

Pieces Printer::pieces_of(uint32_t shape, uint32_t bytes) const {
    bool side = true, same = true, whole = true, halves_side = true, halves_same = true;
    for (uint32_t w = 0; w < values_.warps; ++w) {
        const int64_t* const d = values_.shape_of(shape, w);
        for (int lane = 0; lane < kWarpSize; ++lane) {
            const int64_t in_piece = d[lane] - d[lane / 8 * 8], in_half = d[lane] - d[lane / 16 * 16];
            side = side && in_piece == int64_t{lane % 8} * bytes;
            same = same && in_piece == 0;
            whole = whole && d[lane] == int64_t{lane} * bytes;
            halves_side = halves_side && in_half == int64_t{lane % 16} * bytes;
            halves_same = halves_same && in_half == 0;
        }
    }
    Pieces pieces;
    if (side)
        pieces = {Pieces::Kind::SideBySide, whole, halves_side};
    else if (same)
        pieces = {Pieces::Kind::One, false, halves_same};
    return pieces;
}

void Printer::assign(const Place& to, const std::string& value, bool everywhere, const std::string& mask,
                     bool any_nan) {
    const Register& reg = values_.reg(to.ref);
    const bool keep = !everywhere && (reg.waits || mask != "m");
    if (to.bytes == 0) {
        if (reg.value.varying() && keep)
            put("p{0} = (p{0} & ~{1}) | ({2} & {1});\n", to.ref, mask, value);
        else
            put("p{} = {};\n", to.ref, value);
        return;
    }
    if (!reg.value.varying()) return put("s{} = {};\n", to.ref, value);
    const std::string seen =
        any_nan && !any_nan_[values_.index_of(to.ref)] ? fmt::format("f_canonical({})", value) : value;
    if (keep)
        put("v{0} = v_keep{1}({2}, {3}, v{0});\n", to.ref, 8 * to.bytes, mask, seen);
    else
        put("v{} = {};\n", to.ref, seen);
}

// 64 bits of a value of 32 that differs from lane to lane: in lanes that take no part it may wrap.
void Printer::widened(uint32_t i, const Place& to, bool everywhere, const std::string& mask) {
    const MicroOp& op = program_.code[i];
    const ptx::Operation& does = program_.lanes[i].does;
    const Widening& wide = values_.widenings[i].front();
    const char sign = wide.is_signed ? 's' : 'u';
    const std::string from = scalar(wide.ref, 4);
    const uint32_t shape = values_.value(wide.ref).shape;
    put("{{\nu64 t = u_{}ext({});\nif (unlikely(!fits_{}({}, sh + {})) && widen({}, sh + {}, {}, {}, &t)) "
        "goto give_up;\n",
        wide.is_signed ? "s" : "z", from, sign, from, shape, from, shape, mask, wide.is_signed ? 1 : 0);
    std::string made = "t";
    if (does.op != Op::Cvt) {
        const Ref factor = op.a == wide.ref ? op.b : op.a;
        made = fmt::format("t * u_{}ext({})", wide.is_signed ? "s" : "z", scalar(factor, 4));
        if (does.op == Op::Mad) made += fmt::format(" + {}", scalar(op.c, 8));
    }
    assign(to, made, everywhere, mask, false);
    put("}}\n");
}

void Printer::lane(uint32_t i, bool whole, const std::string& mask) {
    const MicroOp& op = program_.code[i];
    const ptx::Operation& does = program_.lanes[i].does;
    const Place* to = nullptr;
    for (const Place& place : values_.places(i))
        if (place.is_written && place.ref == op.d) to = &place;
    const Register& reg = values_.reg(to->ref);
    if (reg.value.known()) return;
    const std::string name = native_name(does);
    const bool everywhere = whole && op.guard == simt::kNoGuard;
    if (!reg.value.varying()) {
        if (reg.value.shape != 0 && !values_.widenings[i].empty()) return widened(i, *to, everywhere, mask);
        return assign(*to, lane_expression(i, false), everywhere, mask, false);
    }
    if (name.empty()) return call_lane(i, whole, mask);
    const bool sum64 = does.type == Type::F64 && !has_scalar(does);
    if (!sum64) return assign(*to, lane_expression(i, true), everywhere, mask, makes_any_nan(does));
    // A NaN has a payload, which the interpreter's function chooses.
    put("{{\nconst V64 t = {};\nif (unlikely(has_nan(t))) {{\n", lane_expression(i, true));
    call_lane(i, whole, mask);
    put("}} else {{\n");
    assign(*to, "t", everywhere, mask, false);
    put("}}\n}}\n");
}

// The interpreter's own function, on columns in memory.
void Printer::call_lane(uint32_t i, bool whole, const std::string& mask) {
    const MicroOp& op = program_.code[i];
    std::string names[5] = {"0", "0", "0", "0", "0"};
    put("{{\n");
    std::vector<std::pair<Place, std::string>> results;
    const bool everywhere = whole && op.guard == simt::kNoGuard;
    bool guard = op.guard != simt::kNoGuard;
    size_t source = 2;
    for (const Place& place : values_.places(i)) {
        if (guard) {
            guard = false;
            continue;
        }
        // Written: d, then e. Read: a, b, c, then e.
        const size_t k = place.is_written ? (results.empty() ? 0u : 1u) : (source == 5 ? 1u : source++);
        const std::string name = fmt::format("t{}", k);
        if (place.bytes == 0) {
            put("u32 {} = {};\n", name, place.is_written ? fmt::format("p{}", place.ref) : bits(place.ref));
        } else if (place.is_written) {
            put("V{} {}{};\n", 8 * place.bytes, name, everywhere ? "" : fmt::format(" = v{}", place.ref));
        } else {
            put("const V{} {} = {};\n", 8 * place.bytes, name, column(place.ref, place.bytes));
        }
        if (place.is_written) results.emplace_back(place, name);
        names[k] = "(void*)&" + name;
    }
    put("cx->lanes[{}]({}, {});\n", 2 * i + (everywhere ? 0 : 1), fmt::join(names, ", "), mask);
    for (const auto& [place, name] : results) {
        if (place.bytes == 0)
            put("p{} = {};\n", place.ref, name);
        else if (values_.reg(place.ref).value.varying())
            put("v{} = {};\n", place.ref, name);
    }
    put("}}\n");
}

// A shuffle whose sources are known: a whole warp.
void Printer::shuffle(uint32_t i, bool whole) {
    const MicroOp& op = program_.code[i];
    const auto b = values_.constant(op.b), c = values_.constant(op.c);
    if (!b || !c || op.guard != simt::kNoGuard) return call_lane(i, whole, mask_of(op, true));
    const ptx::Exchange how = ptx::exchange_of(program_.lanes[i].does);
    std::vector<uint32_t> from;
    uint32_t inside = 0;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        const uint32_t source =
            ptx::shuffle_source(how, lane, static_cast<uint32_t>(*b), static_cast<uint32_t>(*c));
        const bool in = source < kWarpSize;
        from.push_back(in ? source : lane);
        inside |= in ? 1u << lane : 0u;
    }
    const std::string a = column(op.a, 4);
    put("{{\nconst V32 t = {};\nv{} = __builtin_shufflevector(t, t, {});\np{} = {:#x}u;\n}}\n", a, op.d,
        fmt::join(from, ", "), op.e, inside);
}

void Printer::check(uint32_t number) {
    const Together& all = together_[number];
    const std::string base = scalar(all.base, all.wide ? 8 : 4);
    put("const u64 a{} = (u64){} + (u64){}ll;\n", all.first, base, all.low);
    const std::string low = all.shape == 0 ? fmt::format("a{}", all.first)
                                           : fmt::format("a{} + (u64)sh[{}].low", all.first, all.shape);
    const std::string bytes = all.shape == 0 ? fmt::format("{}", all.end - all.low)
                                             : fmt::format("{} + sh[{}].span", all.end - all.low, all.shape);
    put("if (unlikely(a{0} & {1}) || (unlikely(!inside(cx->ranges + {2}, {3}, {4})) && "
        "cx->bind(cx, {2}, {0}, {3}, {4}))) goto X{0};\n",
        all.first, all.most_bytes - 1, all.number, low, bytes);
    put("u8* const q{0} = cx->ranges[{1}].data + (a{0} - cx->ranges[{1}].base);\n", all.first, all.number);
}

// An access of a whole warp that has been checked.
void Printer::quick(uint32_t i) {
    const MicroOp& op = program_.code[i];
    const MemoryAccess& access = program_.accesses[op.target];
    const Together& all = together_[static_cast<size_t>(group_of_[i])];
    const uint32_t shape = all.shape;
    const std::string q = fmt::format("q{}", all.first);
    if (all.number >= kFirstGroup)
        put("if (unlikely(cx->ranges[{0}].noted & {5}) && cx->note(cx, {0}, {1}, {2} + {3}, sh + {4})) goto "
            "give_up;\n",
            all.number, i, q, access.offset - all.low, shape, op.kind == Kind::Load ? 1 : 2);
    if (four_of_[i] >= 0) {
        // Its four neighbours were, or are, loaded together.
        const Four& four = fours_[static_cast<size_t>(four_of_[i])];
        if (four.first == i)
            put("const struct Four f{} = u32_four({} + {}, sh + {});\n", i, q, four.offset - all.low, shape);
        for (uint32_t e = 0; e < access.elements; ++e)
            put("v{} = f{}.x[{}];\n", access.data[e], four.first, (access.offset - four.offset) / 4 + e);
        return;
    }
    move_data(i, q, access.offset - all.low, "");
}

void Printer::put_loaded(const Register& to, const std::string& value, const std::string& mask) {
    if (!to.value.varying())
        put("s{} = {};\n", to.ref, value);
    else if (mask.empty() || (!to.waits && mask == "m"))
        put("v{} = {};\n", to.ref, value);
    else
        put("v{0} = v_keep{1}({2}, {3}, v{0});\n", to.ref, 8 * to.bytes, mask, value);
}

// Moves between registers and memory that is there for all lanes, from `q` + `from` on. mask: those that take part; empty for
// all.
void Printer::move_data(uint32_t i, const std::string& q, int64_t from, const std::string& mask) {
    const MicroOp& op = program_.code[i];
    const MemoryAccess& access = program_.accesses[op.target];
    const uint32_t shape = together_[static_cast<size_t>(group_of_[i])].shape;
    const int bytes = access.element_bytes;
    const std::string type = fmt::format("u{}", 8 * bytes);
    const Pieces pieces = pieces_of(shape, static_cast<uint32_t>(bytes));
    const auto at = [&](int piece, int64_t offset) {
        if (piece == 0) return fmt::format("{} + {}", q, offset);
        offsets_[{shape, piece}] = true;
        return fmt::format("{} + o{}_{} + {}", q, shape, piece, offset);
    };
    for (uint32_t e = 0; e < access.elements; ++e) {
        const int64_t offset = from + int64_t{e} * bytes;
        const uint8_t slot = access.data_bytes[e] == 8 ? 8 : 4;
        if (op.kind == Kind::Load) {
            const Register& to = values_.reg(access.data[e]);
            const bool one = shape == 0;
            // The element's value in the slot.
            const auto in_slot = [&](const std::string& x, bool as_column) {
                const std::string cast =
                    as_column ? fmt::format("__builtin_convertvector({}, V{})", x, bytes == 8 ? 64 : 32)
                              : fmt::format("(u{}){}", bytes == 8 ? 64 : 32, x);
                std::string r = bytes == 4 || bytes == 8 ? x : cast;
                const char p = as_column ? 'v' : 'u';
                if (access.is_signed && bytes < 4) r = fmt::format("{}_sign{}_32({})", p, 8 * bytes, r);
                if (access.is_signed && access.data_bytes[e] == 2) r = fmt::format("{}_low16_32({})", p, r);
                if (slot == 8 && bytes < 8)
                    r = fmt::format("{}_{}({})", p, access.is_signed ? "sext" : "zext", r);
                return r;
            };
            if (one) {
                const std::string got = in_slot(fmt::format("{}_get1({} + {})", type, q, offset), false);
                put_loaded(to, to.value.varying() ? fmt::format("splat{}({})", 8 * slot, got) : got, mask);
                continue;
            }
            std::string got;
            if (pieces.kind == Pieces::Kind::Apart) {
                got = bytes == 4 ? fmt::format("u32_gather({} + {}, sh + {})", q, offset, shape)
                                 : fmt::format("{}_each({} + {}, sh + {})", type, q, offset, shape);
            } else if (pieces.whole) {
                got = fmt::format("{}_get32({} + {})", type, q, offset);
            } else if (pieces.halves) {
                const char* how = pieces.kind == Pieces::Kind::One ? "one16" : "get16";
                got = fmt::format("JOIN_16({0}_{1}({2}), {0}_{1}({3}))", type, how, at(0, offset),
                                  at(2, offset));
            } else {
                const char* how = pieces.kind == Pieces::Kind::One ? "one8" : "get8";
                got = fmt::format("JOIN({0}_{1}({2}), {0}_{1}({3}), {0}_{1}({4}), {0}_{1}({5}))", type, how,
                                  at(0, offset), at(1, offset), at(2, offset), at(3, offset));
            }
            put_loaded(to, in_slot(got, true), mask);
            continue;
        }
        const std::string stored = column(access.data[e], slot);
        put("{{\nconst LANES({0}) t = {1};\n", type,
            slot == bytes ? stored : fmt::format("__builtin_convertvector({}, LANES({}))", stored, type));
        if (!mask.empty()) {
            put("{0}_scatter_some({1} + {2}, sh + {3}, (const {0}_any*)&t, {4});\n", type, q, offset, shape,
                mask);
        } else if (shape == 0) {
            put("{}_put1({} + {}, t[31]);\n", type, q, offset);
        } else if (pieces.kind == Pieces::Kind::Apart) {
            put("{0}_scatter({1} + {2}, sh + {3}, (const {0}_any*)&t);\n", type, q, offset, shape);
        } else if (pieces.whole) {
            put("{}_put32({} + {}, t);\n", type, q, offset);
        } else {
            for (int piece = 0; piece < 4; ++piece)
                if (pieces.kind == Pieces::Kind::One)
                    put("{}_put1({}, t[{}]);\n", type, at(piece, offset), 8 * piece + 7);
                else
                    put("{}_put8({}, PART(t, {}));\n", type, at(piece, offset), piece);
        }
        put("}}\n");
    }
}

// An access that the program makes, lane by lane.
void Printer::request(uint32_t i, const std::string& mask, bool everywhere) {
    const MicroOp& op = program_.code[i];
    const MemoryAccess& access = program_.accesses[op.target];
    const Value address = values_.value(op.a);
    const uint8_t address_bytes = access.wide_address ? 8 : 4;
    std::vector<Place> data;
    for (const Place& place : values_.places(i)) data.push_back(place);
    // The guard comes first, then the address.
    data.erase(data.begin(), data.begin() + (op.guard != simt::kNoGuard ? 2 : 1));
    const size_t columns = std::max<size_t>(data.size(), 1);
    put("{{\nstruct Data d[{}];\n", columns);
    for (size_t k = 0; k < data.size(); ++k) {
        const bool old = data[k].is_written && !everywhere && values_.reg(data[k].ref).value.varying();
        if (old)
            put("*(V{}*)(d + {}) = v{};\n", 8 * data[k].bytes, k, data[k].ref);
        else if (data[k].is_read)
            put("*(V{}*)(d + {}) = {};\n", 8 * data[k].bytes, k, column(data[k].ref, data[k].bytes));
    }
    if (address.varying()) {
        put("const V64 t = {};\n",
            address_bytes == 8 ? fmt::format("v{}", op.a) : fmt::format("v_zext(v{})", op.a));
        put("if (cx->request(cx, w, {}, 0, 0, (const u64*)&t, {}, d)) goto give_up;\n", i, mask);
    } else {
        put("if (cx->request(cx, w, {}, {}, sh + {}, 0, {}, d)) goto give_up;\n", i,
            scalar(op.a, address_bytes), address.shape, mask);
    }
    for (size_t k = 0; k < data.size(); ++k) {
        if (!data[k].is_written) continue;
        if (values_.reg(data[k].ref).value.varying())
            put("v{} = *(V{}*)(d + {});\n", data[k].ref, 8 * data[k].bytes, k);
        else
            put("s{} = ((u{}*)(d + {}))[__builtin_ctz({})];\n", data[k].ref, 8 * data[k].bytes, k, mask);
    }
    put("}}\n");
}

void Printer::access(uint32_t i, bool whole, const std::string& mask) {
    const MicroOp& op = program_.code[i];
    const MemoryAccess& access = program_.accesses[op.target];
    const bool turn = values_.in_turns && access.site >= 0;
    const int32_t group = group_of_[i];
    if (whole && group >= 0) {
        const Together& all = together_[static_cast<size_t>(group)];
        if (all.first == i) check(static_cast<uint32_t>(group));
        quick(i);
    } else {
        if (!whole && group >= 0 && together_[static_cast<size_t>(group)].first == i) put("X{}:;\n", i);
        const bool guarded = op.guard != simt::kNoGuard;
        if (guarded) put("if ({}) {{\n", mask);
        const bool reads = group >= 0;  // memory that a group's range holds is there for all lanes
        if (reads) {
            const Together& all = together_[static_cast<size_t>(group)];
            put("{{\nconst u64 a = (u64){} + (u64){}ll;\n", scalar(all.base, all.wide ? 8 : 4),
                access.offset);
            put("if (likely(!(a & {}) && inside(cx->ranges + {}, a + (u64)sh[{}].low, {} + sh[{}].span) && "
                "!(cx->ranges[{}].noted & {}))) {{\n",
                bytes_of(access) - 1, all.number, all.shape, bytes_of(access), all.shape, all.number,
                op.kind == Kind::Load ? 1 : 2);
            put("u8* const q = cx->ranges[{0}].data + (a - cx->ranges[{0}].base);\n", all.number);
            move_data(i, "q", 0, mask);
            put("}} else ");
        }
        request(i, mask, whole && !guarded);
        if (reads) put("}}\n");
        if (turn && guarded) put("++turns;\n");
        if (guarded) put("}}\n");
        if (guarded) return;
    }
    if (turn) put("++turns;\n");
}

std::string Printer::go_to(uint32_t from, uint32_t to) {
    if (to > from) return fmt::format("goto L{};", to);
    const simt::Ref guard = program_.code[from].guard;
    if (guard == simt::kNoGuard || values_.value(guard).uniform()) return pause(to);
    return fmt::format(
        "{{ if (unlikely(count >= cx->limit) && cx->poll(cx, w, count)) goto give_up; goto L{}; }}", to);
}

// Back to the beginning of a loop; after some instructions the other warps of the block go on first.
std::string Printer::pause(uint32_t to) {
    std::vector<bool> live = values_.blocks[values_.block_of(to)].live;
    const std::vector<bool> others = waiting();
    for (size_t r = 0; r < live.size(); ++r) live[r] = live[r] || others[r];
    ++resume_;
    resumes_ += fmt::format("case {}:\n{}goto L{};\n", resume_, restored(live), to);
    return fmt::format("{{\nif (likely(count < cx->limit)) goto L{};\n{}w->resume = {};\nreturn kPaused;\n}}",
                       to, saved(live), resume_);
}

void Printer::branch(uint32_t i) {
    const MicroOp& op = program_.code[i];
    if (op.guard == simt::kNoGuard) return put("{}\n", go_to(i, op.target));
    const bool always_alike = values_.value(op.guard).uniform();
    if (always_alike)
        return put("if ({}p{}) {}\n", op.guard_negated ? "!" : "", op.guard, go_to(i, op.target));
    const uint32_t join = op.reconverge, through = i + 1;
    put("{{\nconst u32 t = m & {}p{};\n", op.guard_negated ? "~" : "", op.guard);
    put("if (t == m) {}\n", go_to(i, op.target));
    put("if (t != 0) {{\nif (unlikely(depth + 2 > TILESCOPE_MOST_DEPTH)) goto give_up;\n");
    if (join != simt::kNoPc)
        put("if (join != {0}u) {{ w->stack[depth].pc = {0}u; w->stack[depth].join = join; "
            "w->stack[depth].mask = m; ++depth; }}\n",
            join);
    put("join = {}u;\n", join);
    if (op.target != join && through != join) {
        put("w->stack[depth].pc = {}u; w->stack[depth].join = {}u; w->stack[depth].mask = t; ++depth;\n",
            op.target, join);
        put("m &= ~t;\ngoto L{};\n", through);
    } else if (op.target != join) {
        put("m = t;\n{}\n", go_to(i, op.target));
    } else if (through != join) {
        put("m &= ~t;\ngoto L{};\n", through);
    } else {
        put("goto L{};\n", join);
    }
    put("}}\n}}\n");
}

void Printer::leave(uint32_t i) {
    const MicroOp& op = program_.code[i];
    put("{{\nconst u32 t = {};\n", mask_of(op, false));
    if (op.guard != simt::kNoGuard) put("if (t) {{\n");
    put("alive &= ~t;\nif (alive == 0) {{ w->alive = 0; w->count = count; w->turns = turns; return kEnded; "
        "}}\n");
    put("m &= ~t;\nu32 n = 0;\nfor (u32 k = 0; k < depth; ++k) {{\nw->stack[n] = "
        "w->stack[k];\nw->stack[n].mask &= ~t;\n"
        "if (w->stack[n].mask) ++n;\n}}\ndepth = n;\nif (m == 0) goto dispatch;\n");
    if (op.guard != simt::kNoGuard) put("}}\n");
    put("}}\n");
    if (i + 1 < program_.code.size())
        put("goto L{};\n", i + 1);
    else
        put("goto give_up;\n");
}

std::vector<bool> Printer::waiting() const {
    std::vector<bool> live(values_.registers.size());
    for (const BasicBlock& block : values_.blocks)
        if (block.divergent) {
            const MicroOp& op = program_.code[block.end - 1];
            for (const uint32_t at : {op.target, op.reconverge})
                if (at != simt::kNoPc)
                    for (size_t r = 0; r < live.size(); ++r)
                        live[r] = live[r] || values_.blocks[values_.block_of(at)].live[r];
        }
    return live;
}

// Where a register lies in Warp::saved.
std::string Printer::saved(const std::vector<bool>& live) {
    std::string text =
        "w->alive = alive; w->mask = m; w->join = join; w->depth = depth; w->count = count; w->turns = "
        "turns;\n";
    for (size_t r = 0; r < live.size(); ++r) {
        const Register& reg = values_.registers[r];
        if (!live[r] || reg.value.known()) continue;
        text += reg.bytes == 0 ? fmt::format("*(u32*)(w->saved + {}) = p{};\n", save_at_[r], reg.ref)
                : reg.value.varying()
                    ? fmt::format("*(V{}*)(w->saved + {}) = v{};\n", 8 * reg.bytes, save_at_[r], reg.ref)
                    : fmt::format("*(u{}*)(w->saved + {}) = s{};\n", 8 * reg.bytes, save_at_[r], reg.ref);
    }
    return text;
}

std::string Printer::restored(const std::vector<bool>& live) {
    std::string text =
        "alive = w->alive; m = w->mask; join = w->join; depth = w->depth; count = w->count; turns = "
        "w->turns;\n";
    for (size_t r = 0; r < live.size(); ++r) {
        const Register& reg = values_.registers[r];
        if (!live[r] || reg.value.known()) continue;
        text +=
            reg.bytes == 0 ? fmt::format("p{} = *(const u32*)(w->saved + {});\n", reg.ref, save_at_[r])
            : reg.value.varying()
                ? fmt::format("v{} = *(const V{}*)(w->saved + {});\n", reg.ref, 8 * reg.bytes, save_at_[r])
                : fmt::format("s{} = *(const u{}*)(w->saved + {});\n", reg.ref, 8 * reg.bytes, save_at_[r]);
    }
    return text;
}

void Printer::barrier(uint32_t i) {
    const MicroOp& op = program_.code[i];
    const uint32_t next = i + 1;
    const bool reduces = (op.c & ~simt::kBarrierThreads) != 0;
    put("{{\nconst u32 t = {};\nif (t) {{\nif (t != alive) goto give_up;\n", mask_of(op, false));
    const auto first = [&](Ref ref) {
        return values_.value(ref).varying() ? fmt::format("v{}[__builtin_ctz(t)]", ref) : scalar(ref, 4);
    };
    put("w->barrier = {};\nw->threads = {};\n", first(op.a),
        op.c & simt::kBarrierThreads ? first(op.b) : "0");
    if (reduces) put("w->told = {};\n", bits(op.e));
    text_ += saved(values_.blocks[values_.block_of(next)].live);
    ++resume_;
    put("w->event = {};\nw->resume = {};\nreturn kAtBarrier;\n}}\n}}\n", i, resume_);
    put("goto L{};\n", next);
    resumes_ += fmt::format("case {}:\n{}", resume_, restored(values_.blocks[values_.block_of(next)].live));
    if (reduces) {
        const Register& to = values_.reg(op.d);
        if (to.bytes == 0)
            resumes_ += fmt::format("p{0} = (p{0} & ~alive) | (w->answer & alive);\n", op.d);
        else if (to.value.varying())
            resumes_ += fmt::format("v{0} = v_keep32(alive, splat32(w->answer), v{0});\n", op.d);
        else
            resumes_ += fmt::format("s{} = w->answer;\n", op.d);
    }
    resumes_ += fmt::format("goto L{};\n", next);
}

// Before an atomic whose order among the warps matters.
void Printer::stop_before(uint32_t i) {
    std::vector<bool> live = values_.blocks[values_.block_of(i)].live;
    const std::vector<bool> others = waiting();
    for (size_t r = 0; r < live.size(); ++r) live[r] = live[r] || others[r];
    put("if ({}) {{\n", mask_of(program_.code[i], false));
    text_ += saved(live);
    ++resume_;
    put("w->event = {};\nw->resume = {};\nreturn kBeforeAtomic;\n}}\nA{}:;\n", i, resume_, i);
    resumes_ += fmt::format("case {}:\n{}goto A{};\n", resume_, restored(live), i);
}

void Printer::converge(uint32_t i, bool whole) {
    const MicroOp& op = program_.code[i];
    const std::string mask = mask_of(op, whole);
    const bool lane_follows = op.c != 0;
    const bool shuffles = lane_follows && program_.lanes[i + 1].does.op == Op::Shfl;
    if (!whole) {
        put("if ({}) {{\n", mask);
        if (shuffles || values_.value(op.a).varying())
            put("if ({} != ~0u) goto give_up;\n", mask);
        else
            put("if ({} & alive & ~{}) goto give_up;\n", scalar(op.a, 4), mask);
        put("}}\n");
    }
    if (op.target != simt::kNoSite && values_.in_turns) put("if ({}) ++turns;\n", mask);
}

void Printer::one(uint32_t i, bool whole) {
    const MicroOp& op = program_.code[i];
    const std::string mask = mask_of(op, whole);
    const bool alike = op.guard == simt::kNoGuard || values_.value(op.guard).uniform();
    switch (op.kind) {
        case Kind::Lane: {
            const bool follows =
                i > 0 && program_.code[i - 1].kind == Kind::Converge && program_.code[i - 1].c;
            const bool conditional = op.guard != simt::kNoGuard && alike;
            if (conditional) put("if ({}p{}) {{\n", op.guard_negated ? "!" : "", op.guard);
            if (follows && program_.lanes[i].does.op == Op::Shfl)
                shuffle(i, true);
            else
                lane(i, whole, mask);
            if (conditional) put("}}\n");
            break;
        }
        case Kind::Load:
        case Kind::Store:
        case Kind::Atomic: access(i, whole, mask); break;
        case Kind::Barrier: barrier(i); break;
        case Kind::Branch: branch(i); break;
        case Kind::Exit: leave(i); break;
        case Kind::Trap:
        case Kind::Assert: put("if ({}) goto give_up;\n", mask); break;
        case Kind::Converge: converge(i, whole); break;
        default: break;
    }
}

void Printer::block(uint32_t b) {
    const BasicBlock& block = values_.blocks[b];
    put("L{}:;\n", block.first);
    const auto ends_here = [&](const MicroOp& op) {
        return op.kind == Kind::Branch && op.reconverge == block.first &&
               values_.blocks[values_.block_of(static_cast<uint32_t>(&op - program_.code.data()))].divergent;
    };
    if (std::ranges::any_of(program_.code, ends_here)) {
        put("if (join == {0}u) {{\n--depth;\nm = w->stack[depth].mask; join = w->stack[depth].join;\n"
            "const u32 pc = w->stack[depth].pc;\nif (pc == {0}u) goto L{0};\n",
            block.first);
        std::vector<uint32_t> targets;
        for (const MicroOp& op : program_.code)
            if (ends_here(op) && op.target != block.first) targets.push_back(op.target);
        std::ranges::sort(targets);
        targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
        for (const uint32_t target : targets) put("if (pc == {0}u) goto L{0};\n", target);
        put("goto give_up;\n}}\n");
    }
    uint64_t counted = 0;
    bool quick = false;
    for (uint32_t i = block.first; i < block.end; ++i) {
        const MicroOp& op = program_.code[i];
        counted += op.counted || op.kind == Kind::Branch || op.kind == Kind::Exit;
        quick = quick || group_of_[i] >= 0;
    }
    if (counted > 0) put("count += {};\n", counted);
    if (values_.ordered[block.first]) stop_before(block.first);
    // What ends the block follows both of its versions.
    const Kind last = program_.code[block.end - 1].kind;
    const bool ends = last == Kind::Branch || last == Kind::Exit || last == Kind::Barrier;
    const uint32_t end = block.end - (ends ? 1 : 0);
    const auto part = [&](bool whole) {
        for (uint32_t i = block.first; i < end; ++i) one(i, whole);
    };
    if (quick) {
        put("if (likely(m == ~0u)) {{\n");
        part(true);
        put("}} else {{\n");
        part(false);
        put("}}\n");
    } else {
        part(false);
    }
    if (ends) one(end, false);
}

Printed Printer::print() {
    find_any_nans();
    find_groups();
    find_fours();
    uint32_t at = 0;
    for (const Register& reg : values_.registers) {
        save_at_.push_back(at);
        at += reg.bytes == 8 ? 256 : 128;
    }
    made_.saved_bytes = at;
    for (uint32_t b = 0; b < values_.blocks.size(); ++b) block(b);
    // Where lanes go on when the running ones have exited.
    std::vector<uint32_t> waiting;
    for (const MicroOp& op : program_.code)
        if (op.kind == Kind::Branch)
            for (const uint32_t pc : {op.target, op.reconverge})
                if (pc != simt::kNoPc) waiting.push_back(pc);
    std::ranges::sort(waiting);
    waiting.erase(std::unique(waiting.begin(), waiting.end()), waiting.end());
    put("dispatch:\n--depth;\nm = w->stack[depth].mask; join = w->stack[depth].join;\nswitch "
        "(w->stack[depth].pc) {{\n");
    for (const uint32_t pc : waiting) put("case {0}: goto L{0};\n", pc);
    put("default: goto give_up;\n}}\n");
    put("give_up:\nreturn kGivenUp;\n}}\n");

    std::string declared;
    for (const Register& reg : values_.registers) {
        if (reg.value.known()) {
            if (reg.bytes == 0) {
                declared +=
                    fmt::format("    const u32 p{} = w->predicates[{}];\n", reg.ref, made_.predicates.size());
                made_.predicates.push_back(reg.value.table);
            } else {
                declared += fmt::format("    const u{0} s{1} = (u{0})w->firsts[{2}];\n", 8 * reg.bytes,
                                        reg.ref, made_.firsts.size());
                made_.firsts.push_back(reg.value.table);
            }
        } else if (reg.bytes == 0) {
            declared += fmt::format("    u32 p{} = 0;\n", reg.ref);
        } else if (reg.value.varying()) {
            declared += fmt::format("    V{} v{} = {{}};\n", 8 * reg.bytes, reg.ref);
        } else {
            declared += fmt::format("    u{} s{} = 0;\n", 8 * reg.bytes, reg.ref);
        }
    }
    for (const auto& [offset, used] : offsets_)
        declared += fmt::format("    const s64 o{0}_{1} = sh[{0}].lane[{2}];\n", offset.first, offset.second,
                                8 * offset.second);
    made_.text = fmt::format(
        "__attribute__((visibility(\"default\"))) int run(struct Context* const cx, struct Warp* const w) "
        "{{\n"
        "    const struct Shape* const sh = w->shapes;\n"
        "    const u32 b0 = cx->block[0], b1 = cx->block[1], b2 = cx->block[2];\n"
        "{}{}"
        "    u32 alive = w->alive, m = w->mask, join = w->join, depth = w->depth;\n"
        "    u64 count = w->count, turns = w->turns;\n"
        "    switch (w->resume) {{\n"
        "{}"
        "default: break;\n}}\n{}",
        head_, declared, resumes_, text_);
    return std::move(made_);
}

}  // namespace

Printed print(const simt::Program& program, const Values& values) { return Printer(program, values).print(); }

}  // namespace tilescope::compiled
