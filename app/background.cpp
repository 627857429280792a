// What runs beside the window: one thread that records, one that makes blocks ready. Both check for
// stop requests and never touch the State; the window asks for what is finished.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "app/session.h"
#include "kernels/record.h"

namespace tilescope::app {
namespace {

constexpr size_t kBlocksKept = 6;

Result<Session> record_session(const RecordForm& form, const std::atomic<bool>& stop,
                               std::atomic<uint64_t>& done, std::atomic<uint64_t>& total) {
    auto plan = kernels::plan(form.kernel, form.shape);
    if (!plan) return plan.error();
    gpu::GpuRecordOptions options;
    options.common.window = form.window;
    const auto within = [](uint32_t first, uint32_t end, uint32_t size) -> uint64_t {
        return first < std::min(end, size) ? std::min(end, size) - first : 0;
    };
    total = within(form.window.x0, form.window.x1, plan->grid.x) *
            within(form.window.y0, form.window.y1, plan->grid.y) * plan->grid.z;
    if (total == 0) return Error{"The window holds no block of this grid; pick blocks on the overview."};
    options.common.stop = &stop;
    options.common.blocks_done = &done;
    std::string said;
    auto trace = gpu::record(*plan, options, form.backend, said);
    if (!trace) return trace.error();
    return make_session(std::make_shared<const trace::Trace>(std::move(*trace)), "recorded now, " + said);
}

}  // namespace

struct Background::Parts {
    mutable std::mutex mutex;
    std::condition_variable_any wake;

    // Recording.
    bool busy = false;
    std::string what;
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> done{0}, total{0};
    std::optional<Result<Session>> finished;

    GpuThere gpu;

    // Blocks: asked for (the latest wish wins), and made, the one made last at the end.
    struct Wish {
        std::shared_ptr<const trace::Trace> trace;
        analysis::PhaseRule rule;
        uint32_t block = 0;
    };
    std::optional<Wish> wish;
    std::optional<Wish> working;
    std::deque<BlockData> made;

    std::jthread recorder, block_maker, gpu_asker;  // last: they end before what they use

    BlockData* find(const trace::Trace* trace, uint32_t block) {
        for (BlockData& data : made) {
            if (data.trace.get() == trace && data.block == block) return &data;
        }
        return nullptr;
    }

    void publish(const BlockData& data) {
        const std::lock_guard lock(mutex);
        if (BlockData* known = find(data.trace.get(), data.block))
            *known = data;
        else
            made.push_back(data);
        while (made.size() > kBlocksKept) made.pop_front();
    }

    void make_blocks(const std::stop_token& token) {
        std::shared_ptr<const trace::Trace> of;
        std::optional<kernels::Replayer> replayer;
        std::string trouble;
        for (;;) {
            Wish job;
            {
                std::unique_lock lock(mutex);
                if (!wake.wait(lock, token, [&] { return wish.has_value(); })) return;
                job = std::move(*wish);
                wish.reset();
                working = job;
            }
            BlockData data;
            data.trace = job.trace;
            data.block = job.block;
            data.index = view::index_block(*job.trace, job.rule, job.block);
            publish(data);
            if (of != job.trace) {
                replayer.reset();
                trouble.clear();
                of = job.trace;
                auto made_replayer = kernels::Replayer::of(*of);
                if (made_replayer)
                    replayer.emplace(std::move(*made_replayer));
                else
                    trouble = made_replayer.error().message;
            }
            if (job.trace->blocks[job.block].count > kMostReplayedSteps) {
                data.no_values = fmt::format("Values are not shown for blocks of more than {} steps.",
                                             view::grouped(kMostReplayedSteps));
            } else if (!replayer) {
                data.no_values = trouble;
            } else {
                auto replay = std::make_shared<playback::BlockReplay>(*job.trace, job.block);
                const auto ran = replayer->replay(*job.trace, job.block, *replay);
                if (ran) {
                    replay->finish();
                    data.replay = std::move(replay);
                } else {
                    data.no_values = ran.error().message;
                }
            }
            data.faults = std::make_shared<const view::BlockFaults>(
                view::block_faults(*job.trace, job.rule, *data.index, data.replay.get()));
            data.done = true;
            publish(data);
            const std::lock_guard lock(mutex);
            working.reset();
        }
    }
};

Background::Background() : parts_(std::make_unique<Parts>()) {
    Parts& parts = *parts_;
    parts.block_maker = std::jthread([&parts](const std::stop_token& token) { parts.make_blocks(token); });
}

Background::~Background() { parts_->stop = true; }

void Background::record(const RecordForm& form) {
    cancel();
    Parts& parts = *parts_;
    if (parts.recorder.joinable()) parts.recorder.join();
    parts.stop = false;
    parts.done = 0;
    parts.total = 0;
    {
        const std::lock_guard lock(parts.mutex);
        parts.busy = true;
        parts.finished.reset();
        parts.what = fmt::format("{} T={}  {}x{}x{}", form.kernel, form.shape.tile, form.shape.m,
                                 form.shape.k, form.shape.n);
    }
    parts.recorder = std::jthread([&parts, form] {
        auto session = record_session(form, parts.stop, parts.done, parts.total);
        const std::lock_guard lock(parts.mutex);
        if (!parts.stop) parts.finished.emplace(std::move(session));
        parts.busy = false;
    });
}

void Background::cancel() { parts_->stop = true; }

Background::Progress Background::progress() const {
    const std::lock_guard lock(parts_->mutex);
    return {parts_->busy, parts_->done, parts_->total, parts_->what};
}

GpuThere Background::gpu() {
    Parts& parts = *parts_;
    const std::lock_guard lock(parts.mutex);
    if (!parts.gpu_asker.joinable()) {
        // The first question opens the driver, which takes longer than a frame.
        parts.gpu_asker = std::jthread([&parts] {
            const auto found = gpu::devices();
            const std::lock_guard answer(parts.mutex);
            parts.gpu = {true, static_cast<bool>(found),
                         found ? gpu::describe(found->front()) : found.error().message};
        });
    }
    return parts.gpu;
}

std::optional<Result<Session>> Background::finished() {
    const std::lock_guard lock(parts_->mutex);
    std::optional<Result<Session>> session = std::move(parts_->finished);
    parts_->finished.reset();
    return session;
}

Background::BlockData Background::block(const Session& session, uint32_t block) {
    const std::lock_guard lock(parts_->mutex);
    BlockData* known = parts_->find(session.trace.get(), block);
    if (known != nullptr) return *known;
    const auto is_this = [&](const std::optional<Parts::Wish>& w) {
        return w && w->trace == session.trace && w->block == block;
    };
    if (!is_this(parts_->working) && !is_this(parts_->wish)) {
        parts_->wish = Parts::Wish{session.trace, session.rule, block};
        parts_->wake.notify_all();
    }
    BlockData nothing;
    nothing.trace = session.trace;
    nothing.block = block;
    return nothing;
}

}  // namespace tilescope::app
