#include "core/simt/blocks_together.h"

#include <algorithm>
#include <utility>

namespace tilescope::simt {

BlocksTogether::BlocksTogether(const Program& program, const Launch& launch, const RunOptions& options,
                               const std::vector<View>& views, uint64_t blocks) {
    for (uint64_t i = 0; i < blocks; ++i)
        machines.push_back(std::make_unique<Machine>(program, launch, options, views));
    for (const auto& machine : machines) cluster_.push_back(machine.get());
    for (const auto& machine : machines) machine->join_cluster(cluster_);
}

BlockEnd BlocksTogether::run(const std::vector<BlockId>& blocks,
                             const std::vector<BlockObserver*>& observers) {
    decisive = machines.front().get();
    if (machines.size() == 1) return machines.front()->run_block(blocks.front(), observers.front());
    // Each has its memory before one of them runs.
    for (size_t i = 0; i < machines.size(); ++i) machines[i]->begin(blocks[i], observers[i]);
    ends_.assign(machines.size(), BlockEnd::Waits);
    return rounds();
}

BlockEnd BlocksTogether::go_on() { return machines.size() == 1 ? machines.front()->go_on() : rounds(); }

BlockEnd BlocksTogether::rounds() {
    const auto all_are = [&](auto... ends) {
        return std::ranges::all_of(ends_, [&](BlockEnd end) { return ((end == ends) || ...); });
    };
    // Blocks that stand at the grid's barrier go on together, when those of all clusters stand there.
    const bool grid_is_here = all_are(BlockEnd::Complete, BlockEnd::AtGrid);
    for (bool first = true;; first = false) {
        const uint64_t before = changes();
        bool turns = false;
        for (size_t i = 0; i < machines.size(); ++i) {
            if (ends_[i] == BlockEnd::Complete) continue;
            if (ends_[i] == BlockEnd::AtGrid && !(first && grid_is_here)) continue;
            ends_[i] = machines[i]->go_on();
            turns = turns || ends_[i] == BlockEnd::Turn;
            if (ends_[i] == BlockEnd::Faulted || ends_[i] == BlockEnd::Stopped ||
                ends_[i] == BlockEnd::OrderNotFollowed) {
                decisive = machines[i].get();
                const BlockEnd end = std::exchange(ends_[i], BlockEnd::Complete);
                leave();
                return end;
            }
        }
        if (all_are(BlockEnd::Complete)) return BlockEnd::Complete;
        if (turns || changes() != before) continue;
        if (all_are(BlockEnd::Complete, BlockEnd::AtGrid)) return BlockEnd::AtGrid;
        bool some = false;
        for (size_t i = 0; i < machines.size(); ++i)
            if (ends_[i] == BlockEnd::Waits) some = machines[i]->give_up_waits() || some;
        if (!some) return BlockEnd::Waits;
    }
}

void BlocksTogether::leave() {
    for (size_t i = 0; i < machines.size(); ++i)
        if (machines.size() == 1 || ends_[i] != BlockEnd::Complete) machines[i]->leave();
}

void BlocksTogether::wait_for_ever(const std::string& why) {
    for (size_t i = 0; i < machines.size(); ++i) {
        if (machines.size() > 1 && ends_[i] != BlockEnd::AtGrid) continue;
        decisive = machines[i].get();
        machines[i]->wait_for_ever(why);
        if (machines.size() == 1) return;
        ends_[i] = BlockEnd::Complete;
        return leave();
    }
}

bool BlocksTogether::waits_exactly() const {
    for (size_t i = 0; i < machines.size(); ++i)
        if ((machines.size() == 1 || ends_[i] == BlockEnd::Waits) && !machines[i]->waits_exactly())
            return false;
    return true;
}

uint64_t BlocksTogether::changes() const {
    uint64_t all = 0;
    for (const auto& machine : machines) all += machine->changes();
    return all + static_cast<uint64_t>(std::ranges::count(ends_, BlockEnd::Complete));
}

void BlocksTogether::wait_in_loops(uint64_t other_blocks) {
    if (machines.size() == 1) return machines.front()->wait_in_loops(other_blocks);
    const auto waits = [&](BlockEnd end) { return std::ranges::find(ends_, end); };
    const auto spins = waits(BlockEnd::Waits), at_cluster = waits(BlockEnd::AtCluster);
    const auto i = static_cast<size_t>((spins != ends_.end() ? spins : at_cluster) - ends_.begin());
    decisive = machines[i].get();
    const auto still = static_cast<uint64_t>(
        std::ranges::count_if(ends_, [](BlockEnd end) { return end != BlockEnd::Complete; }));
    if (spins != ends_.end())
        machines[i]->wait_in_loops(other_blocks * machines.size() + still - 1);
    else
        machines[i]->wait_for_cluster();
    ends_[i] = BlockEnd::Complete;
    leave();
}

uint64_t BlocksTogether::instructions() const {
    uint64_t all = 0;
    for (const auto& machine : machines) all += machine->instructions;
    return all;
}

}  // namespace tilescope::simt
