#include <algorithm>

#include "core/compiled/abi.h"
#include "core/compiled/printer.h"

namespace tilescope::compiled {

using ptx::StateSpace;

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
        put("if (unlikely(cx->ranges[{0}].flags & {5}) && cx->note(cx, {0}, {1}, {2} + {3}, sh + {4})) goto "
            "give_up;\n",
            all.number, i, q, access.offset - all.low, shape,
            op.kind == Kind::Load ? "kLoadsNoted" : "kStoresNoted");
    keep(i, q, access.offset - all.low, "");
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

// Before a store of a whole warp, or of the lanes of a mask, to memory that is not the block's own: what it holds is
// kept.
void Printer::keep(uint32_t i, const std::string& q, int64_t from, const std::string& mask) {
    const MicroOp& op = program_.code[i];
    const MemoryAccess& access = program_.accesses[op.target];
    const Together& all = together_[static_cast<size_t>(group_of_[i])];
    if (op.kind != Kind::Store || all.number < kFirstGroup) return;
    const uint32_t bytes = bytes_of(access), shape = all.shape;
    const Pieces pieces = pieces_of(shape, bytes);
    std::vector<std::string> kept;
    const auto piece = [&](const std::string& at, uint32_t size) {
        for (uint32_t done = 0; done < size; done += TILESCOPE_MOST_KEPT)
            kept.push_back(fmt::format("keep_piece(cx, {} + {}, {})", at, from + done,
                                       std::min<uint32_t>(size - done, TILESCOPE_MOST_KEPT)));
    };
    if (!mask.empty() || (shape != 0 && pieces.kind == Pieces::Kind::Apart)) {
        kept.push_back(fmt::format("keep_lanes(cx, {} + {}, sh + {}, {}, {})", q, from, shape, bytes,
                                   mask.empty() ? "~0u" : mask));
    } else if (shape == 0) {
        piece(q, bytes);
    } else if (pieces.whole) {
        piece(q, bytes * kWarpSize);
    } else {
        for (int k = 0; k < 4; k += pieces.halves ? 2 : 1) {
            if (k > 0) offsets_[{shape, k}] = true;
            piece(k == 0 ? q : fmt::format("{} + o{}_{}", q, shape, k),
                  pieces.kind == Pieces::Kind::Broadcast ? bytes : bytes * (pieces.halves ? 16 : 8));
        }
    }
    const std::string own = access.space == StateSpace::Generic
                                ? fmt::format("!(cx->ranges[{}].flags & kOwn) && ", all.number)
                                : "";
    put("if ({}({})) goto give_up;\n", own, fmt::join(kept, " || "));
}

void Printer::put_loaded(const Register& to, const std::string& value, const std::string& mask) {
    if (!to.value.varying())
        put("s{} = {};\n", to.ref, value);
    else if (mask.empty() || (!to.held && mask == "m"))
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
                const char* how = pieces.kind == Pieces::Kind::Broadcast ? "one16" : "get16";
                got = fmt::format("JOIN_16({0}_{1}({2}), {0}_{1}({3}))", type, how, at(0, offset),
                                  at(2, offset));
            } else {
                const char* how = pieces.kind == Pieces::Kind::Broadcast ? "one8" : "get8";
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
                if (pieces.kind == Pieces::Kind::Broadcast)
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
    // An atomic has what it finds and two operands, of which the second may be missing.
    const size_t columns = op.kind == Kind::Atomic ? 3 : data.size();
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
                "!(cx->ranges[{}].flags & {}))) {{\n",
                bytes_of(access) - 1, all.number, all.shape, bytes_of(access), all.shape, all.number,
                op.kind == Kind::Load ? "kLoadsNoted" : "kStoresNoted");
            put("u8* const q = cx->ranges[{0}].data + (a - cx->ranges[{0}].base);\n", all.number);
            keep(i, "q", 0, mask);
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

}  // namespace tilescope::compiled
