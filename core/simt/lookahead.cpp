// What is known of a kernel's code before it runs, so that it runs faster.
#include <algorithm>
#include <map>
#include <ranges>

#include "core/simt/lowering.h"

namespace tilescope::simt {

void find_runs(std::vector<MicroOp>& code) {
    constexpr uint16_t kMost = UINT16_MAX;
    const MicroOp* next = nullptr;
    for (MicroOp& op : std::views::reverse(code)) {
        if (op.kind == MicroOp::Kind::Lane && op.guard == kNoGuard) {
            const bool joined = next && !next->join && next->run < kMost;
            op.run = static_cast<uint16_t>(1 + (joined ? next->run : 0));
            op.run_counted = static_cast<uint16_t>(op.counted + (joined ? next->run_counted : 0));
        }
        next = &op;
    }
}

void find_calm(Program& program) {
    using Kind = MicroOp::Kind;
    std::vector<MicroOp>& code = program.code;
    // fn(op, pc) says whether it changed something: for each instruction, the last first, as long as one does.
    const auto settle = [&](auto fn) {
        constexpr int kMostSweeps = 16;
        bool changed = true;
        for (int sweep = 0; changed && sweep < kMostSweeps; ++sweep) {
            changed = false;
            for (size_t pc = code.size(); pc-- > 0;) changed |= fn(code[pc], pc);
        }
        return !changed;
    };
    const auto ends = [&](const MicroOp& op) {  // a warp that comes there stands, or has ended
        if (op.guard != kNoGuard) return false;
        return is_request(op.kind) || op.kind == Kind::Exit || op.kind == Kind::Barrier ||
               op.kind == Kind::Converge || op.kind == Kind::Signal || op.kind == Kind::Bulk ||
               (op.kind == Kind::Matrix && program.matrices[op.target].site != kNoSite);
    };
    std::vector<bool> to_barrier(code.size());  // without a step before it
    const bool known = settle([&](const MicroOp& op, size_t pc) {
        const bool before = to_barrier[pc];
        to_barrier[pc] =
            op.kind == Kind::Barrier || (op.kind == Kind::Branch && to_barrier[op.target]) ||
            (!ends(op) && !(op.kind == Kind::Branch && op.guard == kNoGuard) && to_barrier[pc + 1]);
        return to_barrier[pc] != before;
    });
    if (!known) return;
    // A lane that exits writes what it has asked for and not waited for.
    const bool copies = std::ranges::any_of(program.accesses, &MemoryAccess::copy) || !program.bulks.empty();
    const auto is_calm = [&](const MicroOp& op, size_t pc) {
        const bool guarded = op.guard != kNoGuard;
        switch (op.kind) {
            case Kind::Lane:
            case Kind::Nothing: return code[pc + 1].calm;
            case Kind::Branch:
                if (!guarded) return code[op.target].calm;
                return code[op.target].calm && code[pc + 1].calm &&
                       !(to_barrier[op.target] && to_barrier[pc + 1]);
            case Kind::Load:
            case Kind::Store:
            case Kind::Atomic: {
                const MemoryAccess& access = program.accesses[op.target];
                if (op.aligned && guarded) return false;
                return access.site >= 0 && !access.copy && (!guarded || code[pc + 1].calm);
            }
            case Kind::Exit: return !copies && (!guarded || code[pc + 1].calm);
            case Kind::Barrier: return !guarded;
            case Kind::Signal:
            case Kind::Bulk:
            case Kind::Converge: return !guarded && op.target != kNoSite;
            case Kind::Matrix:
                return !guarded && (program.matrices[op.target].site != kNoSite || code[pc + 1].calm);
            default: return false;
        }
    };
    // A path round a loop without a step stays what all are at first: not calm.
    settle([&](MicroOp& op, size_t pc) {
        const bool before = op.calm;
        op.calm = is_calm(op, pc);
        return op.calm != before;
    });
}

namespace {

// Calls read(ref) for each column that an operation reads, write(ref) for each that it writes in every active lane.
template <class Read, class Write>
void each_column(const Program& program, const MicroOp& op, Read read, Write write) {
    using Kind = MicroOp::Kind;
    if (op.kind == Kind::Matrix) {
        const MatrixCode& matrix = program.matrices[op.target];
        for (const auto* const columns : {&matrix.a, &matrix.b, &matrix.c})
            for (const Ref ref : *columns)
                if (!in_pool(ref)) read(ref);
        std::ranges::for_each(matrix.d, write);
        return;
    }
    if (op.kind == Kind::Bulk) {
        const BulkCode& bulk = program.bulks[op.target];
        for (const BulkCode::Side* side : {&bulk.from, &bulk.to, &bulk.barrier, &bulk.map})
            if (!in_pool(side->address)) read(side->address);
        for (const std::vector<Ref>* refs : {&bulk.coordinates, &bulk.offsets})
            for (const Ref ref : *refs)
                if (!in_pool(ref)) read(ref);
        for (const Ref ref : {bulk.bytes, bulk.blocks})
            if (!in_pool(ref)) read(ref);
        return;
    }
    if (op.kind == Kind::Tile || op.kind == Kind::Wgmma) {
        const WgmmaCode& code = program.wgmmas[op.target];
        for (const std::vector<Ref>* const refs : {&code.a, &code.d})
            for (const Ref ref : *refs)
                if (!in_pool(ref)) read(ref);
        for (const Ref ref : {code.a_tile.descriptor, code.b_tile.descriptor, code.metadata})
            if (!in_pool(ref)) read(ref);
        if (code.scale != kNoGuard && !in_pool(code.scale)) read(code.scale);
        return;
    }
    for (const Ref ref : {op.a, op.b, op.c, op.e})
        if (!in_pool(ref)) read(ref);
    if (op.kind == Kind::Lane || op.kind == Kind::Clock) return write(op.d);
    if (!is_request(op.kind)) return read(op.d);  // it is written in some lanes, or not at all
    const MemoryAccess& access = program.accesses[op.target];
    for (size_t i = 0; i < access.data.size(); ++i) {
        if (in_pool(access.data[i])) continue;
        const bool written =
            op.kind == Kind::Load ? i < access.elements : op.kind == Kind::Atomic && i < access.elements;
        written ? write(access.data[i]) : read(access.data[i]);
    }
}

}  // namespace

// A lane's values of an earlier block may stay where the lane writes before it reads. That is seen in code without
// loops, if no other lane reads them.
void find_cleared(Program& program, const std::vector<RegisterColumn>& columns) {
    constexpr uint64_t kMostBits = uint64_t{1} << 28;  // copied or cleared, at all branches and exits
    const std::vector<MicroOp>& code = program.code;
    const auto number_of = [&](Ref ref) {
        const auto after = std::ranges::upper_bound(columns, ref, {}, &RegisterColumn::offset);
        return static_cast<size_t>(after - columns.begin()) - 1;
    };
    std::vector<bool> used(columns.size()), live(columns.size());
    bool all = false;
    uint64_t copies = 0;
    std::map<size_t, std::vector<bool>> live_at;  // where branches lead to
    for (size_t pc = 0; pc < code.size(); ++pc) {
        const auto use = [&](Ref ref) { used[number_of(ref)] = true; };
        each_column(program, code[pc], use, use);
        const bool branch = code[pc].kind == MicroOp::Kind::Branch;
        if (branch) live_at[code[pc].target];
        copies += branch || code[pc].kind == MicroOp::Kind::Exit ? 1 : 0;
        all = all || (branch && code[pc].target <= pc) || program.lanes[pc].does.op == ptx::Op::Shfl;
    }
    all = all || copies * columns.size() > kMostBits;
    for (size_t pc = all ? 0 : code.size(); pc-- > 0;) {
        const MicroOp& op = code[pc];
        if (op.kind == MicroOp::Kind::Branch) {
            const std::vector<bool>& there = live_at[op.target];
            if (op.guard == kNoGuard) live = there;
            for (size_t i = 0; i < live.size(); ++i) live[i] = live[i] || there[i];
        } else if (op.kind == MicroOp::Kind::Exit && op.guard == kNoGuard) {
            live.assign(columns.size(), false);
        } else {
            const auto set = [&](bool to) { return [&, to](Ref ref) { live[number_of(ref)] = to; }; };
            const auto nothing = [](Ref) {};
            if (op.guard == kNoGuard) each_column(program, op, nothing, set(false));
            each_column(program, op, set(true), nothing);
        }
        if (const auto here = live_at.find(pc); here != live_at.end()) here->second = live;
    }
    for (size_t i = 0; i < columns.size(); ++i) {
        const auto& [offset, bytes, predicates] = columns[i];
        const bool filled =
            std::ranges::find(program.tid, offset) != program.tid.end() || program.warp_id == offset;
        if (filled || !used[i] || !(predicates || all || live[i])) continue;
        if (!program.cleared.empty() &&
            program.cleared.back().offset + program.cleared.back().bytes == offset)
            program.cleared.back().bytes += bytes;
        else
            program.cleared.push_back({offset, bytes});
    }
}

}  // namespace tilescope::simt
