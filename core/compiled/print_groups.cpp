#include <algorithm>
#include <array>
#include <tuple>

#include "core/compiled/printer.h"

namespace tilescope::compiled {

using ptx::StateSpace;

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
        pieces = {Pieces::Kind::Contiguous, whole, halves_side};
    else if (same)
        pieces = {Pieces::Kind::Broadcast, false, halves_same};
    return pieces;
}

}  // namespace tilescope::compiled
