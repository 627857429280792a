// The thread beside the window that opens pairs and counts them.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/compare_session.h"
#include "app/session.h"
#include "kernels/record.h"

namespace tilescope::app {
namespace {

using view::ComparePreset;

SideOf side_of(uint64_t serial, const trace::Trace& trace) {
    return {serial, std::make_shared<const view::CompareSide>(view::compare_side(trace))};
}

Result<Session> open_part(const ComparePreset::Part& part,
                          const std::vector<kernels::ShippedRecording>& recordings,
                          const std::atomic<bool>* stop) {
    if (part.shipped) {
        const auto found = std::find_if(
            recordings.begin(), recordings.end(), [&](const kernels::ShippedRecording& recording) {
                const kernels::Shape& s = part.shape;
                return recording.kernel == part.kernel && recording.m == s.m && recording.k == s.k &&
                       recording.n == s.n && recording.tile == s.tile;
            });
        if (found == recordings.end())
            return Error{
                fmt::format("No recording of {} from a GPU ships with this program; record it on a GPU "
                            "with 'tilescope record' and open it with 'tilescope render --with'",
                            view::part_name(part))};
        auto trace = kernels::open_shipped(*found);
        if (!trace) return trace.error();
        return make_session(std::make_shared<const trace::Trace>(std::move(*trace)), found->label);
    }
    auto plan = kernels::plan(part.kernel, part.shape);
    if (!plan) return plan.error();
    kernels::RecordOptions options;
    options.stop = stop;
    auto trace = kernels::record_cpu(*plan, options);
    if (!trace) return trace.error();
    return make_session(std::make_shared<const trace::Trace>(std::move(*trace)), "recorded now, on the CPU");
}

Result<CompareWork::Pair> open_pair(const ComparePreset& preset,
                                    const std::vector<kernels::ShippedRecording>& recordings,
                                    const std::atomic<bool>* stop) {
    auto a = open_part(preset.a, recordings, stop);
    if (!a) return a.error();
    auto b = open_part(preset.b, recordings, stop);
    if (!b) return b.error();
    CompareWork::Pair pair;
    pair.side_a = side_of(a->serial, *a->trace);
    pair.side_b = side_of(b->serial, *b->trace);
    pair.a = std::move(*a);
    pair.b = std::move(*b);
    return pair;
}

Result<CompareWork::Pair> open_other(const std::shared_ptr<const trace::Trace>& trace,
                                     const std::string& origin) {
    auto b = make_session(trace, origin);
    if (!b) return b.error();
    CompareWork::Pair pair;
    pair.side_b = side_of(b->serial, *trace);
    pair.b = std::move(*b);
    return pair;
}

}  // namespace

SideOf make_side(const Session& session) { return side_of(session.serial, *session.trace); }

Result<CompareWork::Pair> CompareWork::now(const ComparePreset& preset,
                                           const std::vector<kernels::ShippedRecording>& recordings) {
    return open_pair(preset, recordings, nullptr);
}

// One thread; the latest wish of each kind wins.
struct CompareWork::Parts {
    mutable std::mutex mutex;
    std::condition_variable_any wake;
    struct Wish {
        const ComparePreset* preset = nullptr;  // null: `other` alone
        const std::vector<kernels::ShippedRecording>* recordings = nullptr;
        std::shared_ptr<const trace::Trace> other;
        std::string origin;
    };
    std::optional<Wish> wish;
    bool opening = false;
    std::atomic<bool> stop{false};
    std::optional<Result<Pair>> finished;

    std::shared_ptr<const trace::Trace> side_of_trace;  // asked for
    uint64_t side_serial = 0, working_serial = 0;
    std::vector<SideOf> sides;  // made; the latest few

    std::jthread thread;  // last: it ends before what it uses

    void begin(Wish what) {
        const std::lock_guard lock(mutex);
        stop = true;  // what was begun before
        finished.reset();
        wish = std::move(what);
        opening = true;
        wake.notify_all();
    }

    void run(const std::stop_token& token) {
        for (;;) {
            std::optional<Wish> pair;
            std::shared_ptr<const trace::Trace> trace;
            uint64_t serial = 0;
            {
                std::unique_lock lock(mutex);
                if (!wake.wait(lock, token, [&] { return wish || side_of_trace; })) return;
                if (wish) {
                    pair = std::exchange(wish, std::nullopt);
                    stop = false;
                } else {
                    trace = std::exchange(side_of_trace, nullptr);
                    serial = working_serial = side_serial;
                }
            }
            if (pair) {
                auto made = pair->preset != nullptr ? open_pair(*pair->preset, *pair->recordings, &stop)
                                                    : open_other(pair->other, pair->origin);
                const std::lock_guard lock(mutex);
                if (!stop) finished.emplace(std::move(made));
                opening = wish.has_value();
            } else {
                SideOf made = side_of(serial, *trace);
                const std::lock_guard lock(mutex);
                sides.push_back(std::move(made));
                if (sides.size() > 4) sides.erase(sides.begin());
                working_serial = 0;
            }
        }
    }
};

CompareWork::CompareWork() : parts_(std::make_unique<Parts>()) {
    Parts& parts = *parts_;
    parts.thread = std::jthread([&parts](const std::stop_token& token) { parts.run(token); });
}

CompareWork::~CompareWork() { parts_->stop = true; }

void CompareWork::open(const ComparePreset& preset,
                       const std::vector<kernels::ShippedRecording>& recordings) {
    parts_->begin({&preset, &recordings, nullptr, ""});
}

void CompareWork::open(std::shared_ptr<const trace::Trace> b, const std::string& origin) {
    parts_->begin({nullptr, nullptr, std::move(b), origin});
}

bool CompareWork::busy() const {
    const std::lock_guard lock(parts_->mutex);
    return parts_->opening;
}

std::optional<Result<CompareWork::Pair>> CompareWork::finished() {
    const std::lock_guard lock(parts_->mutex);
    return std::exchange(parts_->finished, std::nullopt);
}

SideOf CompareWork::side(const Session& session) {
    Parts& parts = *parts_;
    const std::lock_guard lock(parts.mutex);
    for (const SideOf& side : parts.sides)
        if (side.serial == session.serial) return side;
    if (parts.working_serial != session.serial && parts.side_serial != session.serial) {
        parts.side_of_trace = session.trace;
        parts.side_serial = session.serial;
        parts.wake.notify_all();
    }
    return {};
}

}  // namespace tilescope::app
