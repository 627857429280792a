#include "app/compare_session.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/session.h"
#include "app/view/compare_pick.h"
#include "kernels/record.h"

namespace tilescope::app {
namespace {

using view::ComparePreset;

constexpr uint64_t kAtOnce = 50'000;       // steps: a few milliseconds
constexpr uint64_t kFaultsAtOnce = 5'000;  // steps

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

const std::vector<kernels::ShippedRecording>& recordings_of(const State& state) {
    return state.recordings != nullptr ? *state.recordings : kernels::shipped_recordings();
}

void forget_block(Compare& compare) {
    compare.block = nullptr;
    compare.faults = nullptr;
    compare.cursor = {};
    compare.strips[0] = compare.strips[1] = {};
}

void show_pair(State& state, Result<CompareWork::Pair> pair) {
    Compare& compare = state.compare;
    if (!pair) {
        compare.message = pair.error().message;
        compare.choosing = true;
        return;
    }
    show_session(state, std::move(pair->a));
    compare.other = std::make_shared<const Session>(std::move(pair->b));
    compare.a = pair->side_a;
    compare.b = pair->side_b;
    forget_block(compare);
}

// The sums of a session, where they are not those that are there already. True while they are made.
bool ready_side(Compare& compare, SideOf& of, const Session& session, bool wait) {
    if (of.serial == session.serial) return false;
    if (wait || session.trace->steps() <= kAtOnce) {
        of = side_of(session.serial, *session.trace);
        return false;
    }
    of = {};
    if (!compare.work) compare.work = std::make_shared<CompareWork>();
    SideOf made = compare.work->side(session);
    if (made.serial != session.serial) return true;
    of = std::move(made);
    return false;
}

// The index of B's block, and its faults. True while they are made.
bool ready_other_block(State& state, uint32_t block, bool wait) {
    Compare& compare = state.compare;
    const Session& other = *compare.other;
    const uint64_t steps = other.trace->blocks[block].count;
    if (compare.block && compare.block->block != block) compare.block = nullptr;
    if (!compare.block) compare.faults = nullptr;
    if (compare.block && compare.faults) return false;
    if (!compare.block && (wait || steps <= kAtOnce))
        compare.block = view::index_block(*other.trace, other.rule, block);
    if (compare.block && (wait || steps <= kFaultsAtOnce)) {
        compare.faults = std::make_shared<const view::BlockFaults>(
            view::block_faults(*other.trace, other.rule, *compare.block, nullptr));
        return false;
    }
    if (!state.background) state.background = std::make_shared<Background>();
    const Background::BlockData data = state.background->block(other, block);
    if (!compare.block) compare.block = data.index;
    compare.faults = data.faults;
    return !compare.faults;
}

}  // namespace

void compare_with(State& state, Session other) {
    Compare& compare = state.compare;
    compare.preset = -1;
    compare.choosing = false;
    compare.message.clear();
    compare.other = std::make_shared<const Session>(std::move(other));
    compare.b = {};
    forget_block(compare);
}

namespace {

void swap_now(State& state) {
    Compare& compare = state.compare;
    compare.swap = false;
    if (!compare.other || !state.session) return;
    const playback::Cursor there = compare.cursor;
    const Pick pin = view::same_pick(*state.session->trace, *compare.other->trace, state.pin);
    Session other = *compare.other;
    compare.other = std::make_shared<const Session>(std::move(*state.session));
    show_session(state, std::move(other));
    state.cursor = there;
    state.pin = pin;
    std::swap(compare.a, compare.b);
    forget_block(compare);
}

// One that holds nothing cannot be stood in; the list says so.
void refuse_empty(State& state) {
    Compare& compare = state.compare;
    const Session* const both[] = {&*state.session, compare.other.get()};
    for (const Session* one : both) {
        if (one->trace->steps() > 0) continue;
        compare.message = fmt::format("{} ({}) holds no step; choose another recording.",
                                      one == compare.other.get() ? "B" : "A", one->origin);
        compare.choosing = true;
    }
}

}  // namespace

bool ready_compare(State& state, bool wait) {
    Compare& compare = state.compare;
    bool coming = false;
    if (compare.swap) swap_now(state);
    if (compare.wanted) {
        compare.wanted = compare.choosing = false;
        compare.message.clear();
        const ComparePreset& preset = view::compare_presets()[static_cast<size_t>(compare.preset)];
        if (wait) {
            show_pair(state, open_pair(preset, recordings_of(state), nullptr));
        } else {
            if (!compare.work) compare.work = std::make_shared<CompareWork>();
            compare.work->open(preset, recordings_of(state));
        }
    }
    if (compare.work) {
        if (auto pair = compare.work->finished()) {
            show_pair(state, std::move(*pair));
        }
        coming = coming || compare.work->busy();
    }
    coming = ready_block(state, wait) || coming;  // of a session that has just come
    if (!compare.other || !state.session) return coming;
    refuse_empty(state);
    // Another recording was opened as A: the pair is not the one that was chosen.
    if (compare.a.serial != 0 && compare.a.serial != state.session->serial && !coming) compare.preset = -1;
    coming = ready_side(compare, compare.a, *state.session, wait) || coming;
    coming = ready_side(compare, compare.b, *compare.other, wait) || coming;
    if (!compare.a.side || !compare.b.side || !state.block || compare.other->trace->blocks.empty())
        return coming;
    const view::Compared a{*state.session->trace, *compare.a.side}, b{*compare.other->trace, *compare.b.side};
    const uint32_t block = view::partner_block(compare.lock, a, state.cursor, b);
    coming = ready_other_block(state, block, wait) || coming;
    if (!compare.block) return true;
    compare.cursor = {block,
                      view::partner_step(compare.lock, a, *state.block, state.cursor, b, *compare.block)};
    return coming;
}

// One thread; the latest wish of each kind wins.
struct CompareWork::Parts {
    mutable std::mutex mutex;
    std::condition_variable_any wake;
    struct Wish {
        const ComparePreset* preset = nullptr;
        const std::vector<kernels::ShippedRecording>* recordings = nullptr;
    };
    std::optional<Wish> wish;
    bool opening = false;
    std::atomic<bool> stop{false};
    std::optional<Result<Pair>> finished;

    std::shared_ptr<const trace::Trace> side_of_trace;  // asked for
    uint64_t side_serial = 0, working_serial = 0;
    std::vector<SideOf> sides;  // made; the latest few

    std::jthread thread;  // last: it ends before what it uses

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
                auto made = open_pair(*pair->preset, *pair->recordings, &stop);
                const std::lock_guard lock(mutex);
                if (!stop) finished.emplace(std::move(made));
                opening = wish.has_value();
            } else {
                SideOf made = app::side_of(serial, *trace);
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
    Parts& parts = *parts_;
    const std::lock_guard lock(parts.mutex);
    parts.stop = true;  // what was begun before
    parts.finished.reset();
    parts.wish = Parts::Wish{&preset, &recordings};
    parts.opening = true;
    parts.wake.notify_all();
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
