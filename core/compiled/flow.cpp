// How a kernel's blocks follow each other, what is live at their beginnings, and what waiting lanes hold.
#include "core/compiled/values.h"

namespace tilescope::compiled {

using simt::in_pool;
using simt::MicroOp;
using Kind = MicroOp::Kind;

void Values::find_blocks() {
    const size_t n = program_.code.size();
    std::vector<bool> leads(n + 1);
    leads[0] = true;
    for (uint32_t i = 0; i < n; ++i) {
        const MicroOp& op = program_.code[i];
        if (op.join) leads[i] = true;
        if (op.kind == Kind::Branch) {
            leads[op.target] = true;
            if (op.reconverge != simt::kNoPc) leads[op.reconverge] = true;
        }
        if (op.kind == Kind::Branch || op.kind == Kind::Exit || op.kind == Kind::Barrier) leads[i + 1] = true;
        if (ordered[i]) leads[i] = true;  // where the warp goes on
    }
    block_of_.resize(n);
    for (uint32_t i = 0; i < n; ++i) {
        if (leads[i]) blocks.push_back({i, i, {}, {}, false});
        block_of_[i] = static_cast<uint32_t>(blocks.size() - 1);
        blocks.back().end = i + 1;
    }
    for (BasicBlock& block : blocks) {
        const MicroOp& last = program_.code[block.end - 1];
        const bool goes_on = block.end < n;
        const bool always = last.guard == simt::kNoGuard;
        if (last.kind == Kind::Branch) block.next.push_back(block_of_[last.target]);
        if ((last.kind != Kind::Branch && last.kind != Kind::Exit) || !always)
            if (goes_on) block.next.push_back(block_of_[block.end]);
    }
}

void Values::find_live() {
    const size_t n = registers.size();
    std::vector<std::vector<bool>> reads(blocks.size()), writes(blocks.size());
    for (size_t b = 0; b < blocks.size(); ++b) {
        reads[b].resize(n), writes[b].resize(n), blocks[b].live.resize(n);
        for (uint32_t i = blocks[b].first; i < blocks[b].end; ++i) {
            for (const Place& place : places_[i]) {
                if (in_pool(place.ref) || !place.is_read) continue;
                const auto r = static_cast<size_t>(index_[place.ref / 4]);
                if (!writes[b][r]) reads[b][r] = true;
            }
            // A write under a guard leaves what other lanes hold.
            if (program_.code[i].guard != simt::kNoGuard) continue;
            for (const Place& place : places_[i])
                if (place.is_written) writes[b][static_cast<size_t>(index_[place.ref / 4])] = true;
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t b = blocks.size(); b-- > 0;)
            for (size_t r = 0; r < n; ++r) {
                if (blocks[b].live[r]) continue;
                bool live = reads[b][r];
                for (size_t k = 0; !live && !writes[b][r] && k < blocks[b].next.size(); ++k)
                    live = blocks[blocks[b].next[k]].live[r];
                if (live) blocks[b].live[r] = changed = true;
            }
    }
    for (size_t r = 0; r < n; ++r) registers[r].read_before_written = blocks[0].live[r];
}

bool Values::splits(uint32_t i) const {
    const MicroOp& op = program_.code[i];
    return op.kind == Kind::Branch && op.guard != simt::kNoGuard && !value(op.guard).uniform();
}

// Blocks on a path from one to another that lies behind it, without that.
std::vector<bool> Values::reached(uint32_t from, uint32_t until) const {
    std::vector<bool> seen(blocks.size());
    std::vector<uint32_t> open;
    if (from != until) open.push_back(from);
    while (!open.empty()) {
        const uint32_t at = open.back();
        open.pop_back();
        if (seen[at]) continue;
        seen[at] = true;
        for (const uint32_t next : blocks[at].next)
            if (next != until) open.push_back(next);
    }
    return seen;
}

// Registers that waiting lanes hold while others of their warp write them. True where there are new ones.
bool Values::find_waiting() {
    bool found = false;
    const auto mark = [&](const std::vector<bool>& region, const std::vector<bool>& held) {
        for (size_t r = 0; r < registers.size(); ++r) {
            if (registers[r].held || !held[r]) continue;
            for (const uint32_t i : registers[r].writes)
                if (region[block_of_[i]]) {
                    registers[r].held = true;
                    found = found || !registers[r].value.varying();
                    break;
                }
        }
    };
    for (const BasicBlock& block : blocks) {
        if (!block.divergent) continue;
        const uint32_t last = block.end - 1;
        const MicroOp& op = program_.code[last];
        const uint32_t target = block_of_[op.target], none = static_cast<uint32_t>(blocks.size());
        const uint32_t join = op.reconverge == simt::kNoPc ? none : block_of_[op.reconverge];
        const uint32_t through = last + 1 < program_.code.size() ? block_of_[last + 1] : none;
        std::vector<bool> first(blocks.size());
        if (through != none) first = reached(through, join);
        if (target != join) mark(first, blocks[target].live);
        if (join == none) continue;
        const std::vector<bool> second = reached(target, join);
        for (size_t b = 0; b < first.size(); ++b) first[b] = first[b] || second[b];
        mark(first, blocks[join].live);
    }
    return found;
}

}  // namespace tilescope::compiled
