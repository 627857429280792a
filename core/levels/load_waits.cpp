#include "core/levels/load_waits.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tilescope::analysis {

namespace {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;

// Basic blocks, put together into parts that are straight code to ptxas: a block that ends in a branch which
// skips a few instructions, what it skips, and where both ways meet, if nothing else comes there.
class StraightCode {
public:
    StraightCode(const ptx::Kernel& kernel, const ptx::ControlFlow& flow)
        : kernel_(kernel), flow_(flow), part_(flow.blocks.size()), place_(flow.blocks.size(), 0) {
        for (size_t block = 0; block < part_.size(); ++block) part_[block] = static_cast<int32_t>(block);
        for (size_t block = 0; block < part_.size(); ++block) join(static_cast<int32_t>(block));
        find_places();
    }
    int32_t part(int32_t block) {
        while (part_[block] != block) block = part_[block] = part_[part_[block]];
        return block;
    }
    // Whether a block comes before another one, loops left out.
    bool before(int32_t a, int32_t b) const { return place_[a] < place_[b]; }

private:
    static constexpr uint32_t kFew = 16;  // instructions that ptxas skips by predicates, about

    bool is_jump(int32_t block) const {
        const ptx::BasicBlock& at = flow_.blocks[block];
        return at.last == at.first + 1 && at.predecessors.size() == 1 &&
               kernel_.instructions[at.first].op == Op::Bra && kernel_.instructions[at.first].guard < 0;
    }
    // Past blocks that only jump on, as clang leaves them.
    int32_t behind(int32_t block) const {
        while (block != ptx::kExitBlock && is_jump(block)) block = flow_.blocks[block].successors.front();
        return block;
    }
    int32_t in_front(int32_t block) const {
        while (is_jump(block)) block = flow_.blocks[block].predecessors.front();
        return block;
    }
    bool skips(int32_t block, int32_t few, int32_t meet) const {
        if (few == ptx::kExitBlock || meet == ptx::kExitBlock || few == meet || few == block) return false;
        const ptx::BasicBlock& skipped = flow_.blocks[few];
        return skipped.last - skipped.first <= kFew && skipped.predecessors.size() == 1 &&
               skipped.successors.size() == 1 && behind(skipped.successors.front()) == meet &&
               std::ranges::all_of(flow_.blocks[meet].predecessors, [&](int32_t from) {
                   from = in_front(from);
                   return from == block || from == few;
               });
    }
    void join(int32_t block) {
        const std::vector<int32_t>& next = flow_.blocks[block].successors;
        if (next.size() != 2) return;
        const int32_t one = behind(next[0]), other = behind(next[1]);
        if (!skips(block, one, other) && !skips(block, other, one)) return;
        part_[part(one)] = part(block);
        part_[part(other)] = part(block);
    }
    // Depth-first postorder, reversed. Iterative, so that a long kernel does not exhaust the stack.
    void find_places() {
        if (flow_.blocks.empty()) return;
        std::vector<bool> seen(flow_.blocks.size(), false);
        std::vector<std::pair<int32_t, size_t>> path{{0, 0}};  // blocks, and their next successors
        seen[0] = true;
        for (int32_t place = 0; !path.empty();) {
            auto& [block, next] = path.back();
            if (next == flow_.blocks[block].successors.size()) {
                place_[block] = --place;
                path.pop_back();
            } else if (const int32_t to = flow_.blocks[block].successors[next++];
                       to != ptx::kExitBlock && !seen[to]) {
                seen[to] = true;
                path.emplace_back(to, 0);
            }
        }
    }

    const ptx::Kernel& kernel_;
    const ptx::ControlFlow& flow_;
    std::vector<int32_t> part_;   // by block: another one of its part, or itself
    std::vector<int32_t> place_;  // by block
};

template <class Do>
void for_registers(const Operand& operand, const Do& act) {
    if (operand.reg >= 0) act(operand.reg);
    for (const Operand& element : operand.elements) for_registers(element, act);
}

// What instructions read and write.
struct Registers {
    std::vector<std::vector<uint32_t>> readers;  // by register: instructions

    explicit Registers(const ptx::Kernel& kernel) : readers(kernel.registers.size()) {
        for (uint32_t at = 0; at < kernel.instructions.size(); ++at) {
            const Instruction& i = kernel.instructions[at];
            const auto read = [&](int32_t reg) { readers[reg].push_back(at); };
            if (i.guard >= 0) read(i.guard);
            for (size_t o = i.destinations; o < i.operands.size(); ++o) for_registers(i.operands[o], read);
        }
    }

    // The instructions that read what `load` brings: as it is, or computed what was computed from it too.
    // Moved it stays what it is.
    std::vector<uint32_t> uses(const ptx::Kernel& kernel, uint32_t load, bool computed) const {
        std::vector<bool> held(readers.size(), false);
        std::vector<int32_t> open;
        const auto hold = [&](int32_t reg) {
            if (!held[reg]) held[reg] = true, open.push_back(reg);
        };
        const auto write = [&](const Instruction& i) {
            for (size_t o = 0; o < i.destinations && o < i.operands.size(); ++o)
                for_registers(i.operands[o], hold);
        };
        std::vector<uint32_t> found;
        write(kernel.instructions[load]);
        while (!open.empty()) {
            const int32_t reg = open.back();
            open.pop_back();
            for (const uint32_t at : readers[reg]) {
                const bool moves = kernel.instructions[at].op == Op::Mov;
                if (!moves) found.push_back(at);
                if (moves || computed) write(kernel.instructions[at]);
            }
        }
        return found;
    }
};

bool is_load(const ptx::Site& site) { return site.fills_registers() && site.space == Space::Global; }

}  // namespace

LoadWaits::LoadWaits(const ptx::Kernel& kernel, const ptx::ControlFlow& flow,
                     const std::vector<ptx::Site>& sites)
    : waited_for_(sites.size()) {
    std::vector<const ptx::Site*> loads;
    for (const ptx::Site& site : sites)
        if (is_load(site)) loads.push_back(&site);
    if (loads.size() > kMost || loads.size() * loads.size() * flow.blocks.size() > kMostCompared) return;
    const size_t count = loads.size();
    std::vector<bool> waits(count * count, false);  // by load and earlier load
    StraightCode code(kernel, flow);
    const Registers registers(kernel);
    const auto block_of = [&](size_t load) { return flow.block_of[loads[load]->instruction]; };

    // By load: the first later instruction of each basic block that uses what it brings.
    std::vector<std::vector<uint32_t>> used_at(count);
    for (size_t earlier = 0; earlier < count; ++earlier) {
        const uint32_t at = loads[earlier]->instruction;
        std::vector<bool> needs(kernel.instructions.size(), false);
        for (const uint32_t use : registers.uses(kernel, at, true)) needs[use] = true;
        for (size_t load = 0; load < count; ++load)
            waits[load * count + earlier] = load != earlier && needs[loads[load]->instruction];
        std::vector<uint32_t> first(flow.blocks.size(), UINT32_MAX);
        for (const uint32_t use : registers.uses(kernel, at, false)) {
            const int32_t block = flow.block_of[use];
            if (block == block_of(earlier) ? use > at : code.before(block_of(earlier), block))
                first[block] = std::min(first[block], use);
        }
        std::ranges::copy_if(first, std::back_inserter(used_at[earlier]),
                             [](uint32_t use) { return use != UINT32_MAX; });
    }
    for (size_t load = 0; load < count; ++load) {
        // By block that a load's every way passes, the instructions from its first one up to this one come
        // before it with a branch or a barrier between.
        std::vector<uint32_t> passed(flow.blocks.size(), 0);
        bool barrier = false;
        for (int32_t block = block_of(load); block >= 0; block = flow.blocks[block].dominator) {
            const ptx::BasicBlock& at = flow.blocks[block];
            uint32_t end = block == block_of(load) ? loads[load]->instruction : at.last;
            if (!barrier && code.part(block) == code.part(block_of(load)))
                while (end > at.first && !barrier) barrier = kernel.instructions[--end].op == Op::Bar;
            if (barrier || code.part(block) != code.part(block_of(load))) passed[block] = end;
        }
        for (size_t earlier = 0; earlier < count; ++earlier)
            if (earlier != load && std::ranges::any_of(used_at[earlier], [&](uint32_t use) {
                    return use < passed[flow.block_of[use]];
                }))
                waits[load * count + earlier] = true;
    }
    for (size_t load = 0; load < count; ++load)
        for (size_t earlier = 0; earlier < count; ++earlier)
            if (waits[load * count + earlier]) waited_for_[loads[load]->id].push_back(loads[earlier]->id);
}

}  // namespace tilescope::analysis
