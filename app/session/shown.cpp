#include "app/session/shown.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::session {
namespace {

constexpr size_t kBlocksKept = 6;
constexpr uint64_t kFaultsAtOnce = 5'000;  // steps

std::shared_ptr<const Values> values_of(const Recording& recording, const look::BlockIndex& index,
                                        Result<kernels::Replayer>* replayer) {
    const trace::Trace& trace = *recording.trace;
    auto values = std::make_shared<Values>();
    if (replayer == nullptr) {
    } else if (index.steps > kMostReplayedSteps) {
        values->no_values = fmt::format("Values are not shown for blocks of more than {} steps.",
                                        grouped(kMostReplayedSteps));
    } else if (!*replayer) {
        values->no_values = replayer->error().message;
    } else {
        auto replay = std::make_shared<playback::BlockReplay>(trace, index.block);
        const auto ran = (*replayer)->replay(trace, index.block, *replay);
        if (ran) {
            replay->finish();
            values->replay = std::move(replay);
        } else {
            values->no_values = ran.error().message;
        }
    }
    values->faults = std::make_shared<const look::BlockFaults>(
        look::block_faults(trace, recording.rule, index, values->replay.get()));
    return values;
}

}  // namespace

std::shared_ptr<const look::BlockIndex> worded(const std::shared_ptr<const look::BlockIndex>& index,
                                               const Notation& notation) {
    if (!index || index->notation == notation) return index;
    auto copy = std::make_shared<look::BlockIndex>(*index);
    copy->notation = notation;
    return copy;
}

MadeBlock* Blocks::find(uint32_t block) {
    for (MadeBlock& made : made_)
        if (made.index->block == block) return &made;
    return nullptr;
}

void Blocks::take_finished() {
    if (auto index = indexing_.take(); index && find((*index)->block) == nullptr)
        made_.push_back({std::move(*index), nullptr});
    if (auto values = valuing_.take())
        if (MadeBlock* made = find(valued_)) made->values = std::move(*values);
    while (made_.size() > kBlocksKept) made_.pop_front();
}

MadeBlock Blocks::get(Jobs& jobs, const std::shared_ptr<const Recording>& recording, uint32_t block, Ask ask,
                      bool wait) {
    const trace::Trace& trace = *recording->trace;
    if (of_ != recording->serial) {
        indexing_.stop();
        valuing_.stop();
        made_.clear();
        replayer_ = nullptr;
        of_ = recording->serial;
    }
    take_finished();
    const uint64_t steps = trace.blocks[block].count;
    MadeBlock* made = find(block);
    if (made == nullptr && (wait || steps <= kCountedAtOnce)) {
        made_.push_back({look::index_block(trace, recording->rule, recording->product, block), nullptr});
        while (made_.size() > kBlocksKept) made_.pop_front();
        made = &made_.back();
    } else if (made == nullptr) {
        if (!indexing_.begun())
            indexing_ = jobs.start([recording, block](Control&) {
                return look::index_block(*recording->trace, recording->rule, recording->product, block);
            });
        return {};
    }
    made->index = worded(made->index, recording->notation);
    if (made->values) return *made;
    const bool replayed = ask == Ask::Values;
    if (wait || (!replayed && steps <= kFaultsAtOnce)) {
        // A replayer of its own: a job may be using the other one.
        if (replayed) {
            Result<kernels::Replayer> replayer = kernels::Replayer::of(trace);
            made->values = values_of(*recording, *made->index, &replayer);
        } else {
            made->values = values_of(*recording, *made->index, nullptr);
        }
    } else if (!valuing_.begun()) {
        if (!replayer_) replayer_ = std::make_shared<Replayer>();
        valued_ = block;
        valuing_ = jobs.start([recording, index = made->index, replayer = replayer_, replayed](Control&) {
            if (replayed && !*replayer) *replayer = kernels::Replayer::of(*recording->trace);
            return values_of(*recording, *index, replayed ? &**replayer : nullptr);
        });
    }
    return *made;
}

void set(Shown& shown, std::shared_ptr<const Recording> recording, std::shared_ptr<const Totals> totals) {
    shown.counting.stop();
    Blocks blocks = std::move(shown.blocks);  // drops what it has when it is asked for another recording's
    shown = {};
    shown.recording = std::move(recording);
    shown.totals = std::move(totals);
    shown.blocks = std::move(blocks);
}

bool count(Shown& shown, Jobs& jobs, bool wait, std::string& message) {
    if (shown.totals) return false;
    if (!shown.counting.begun())
        shown.counting =
            jobs.start([recording = shown.recording](Control&) { return totals_of(*recording); });
    if (auto totals = shown.counting.take(wait || shown.trace().steps() <= kCountedAtOnce)) {
        if (*totals)
            shown.totals = std::move(**totals);
        else
            message = totals->error().message;
        return false;
    }
    return true;
}

bool ready_block(Shown& shown, Jobs& jobs, Blocks::Ask ask, const analysis::Wording& wording, bool wait) {
    const trace::Trace& trace = shown.trace();
    if (trace.blocks.empty()) return false;
    shown.recording = worded(shown.recording, wording);
    shown.block = worded(shown.block, shown.recording->notation);
    shown.cursor.block = std::min(shown.cursor.block, static_cast<uint32_t>(trace.blocks.size() - 1));
    if (shown.block && shown.block->block != shown.cursor.block) shown.block = nullptr;
    if (!shown.block) {
        shown.replay = nullptr;
        shown.no_values.clear();
        shown.faults = nullptr;
    }
    if (shown.block && shown.faults) return false;
    const MadeBlock made = shown.blocks.get(jobs, shown.recording, shown.cursor.block, ask, wait);
    if (!shown.block) shown.block = made.index;
    if (!made.values) return true;
    shown.replay = made.values->replay;
    shown.no_values = made.values->no_values;
    shown.faults = made.values->faults;
    return false;
}

}  // namespace tilescope::session
