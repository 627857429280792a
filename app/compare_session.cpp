#include "app/compare_session.h"

#include <utility>

#include <fmt/format.h>

#include "app/session.h"
#include "app/view/compare_pick.h"

namespace tilescope::app {
namespace {

using view::ComparePreset;

constexpr uint64_t kAtOnce = 50'000;  // steps: a few milliseconds
constexpr uint64_t kSessionAtOnce = 100'000;
constexpr uint64_t kFaultsAtOnce = 5'000;  // steps

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
    compare.opening.clear();
    if (!pair) {
        compare.message = pair.error().message;
        compare.choosing = true;
        return;
    }
    if (pair->a) {
        show_session(state, std::move(*pair->a));
        compare.a = pair->side_a;
        compare.other = std::make_shared<const Session>(std::move(pair->b));
        forget_block(compare);
    } else {
        compare_with(state, std::move(pair->b));
    }
    compare.b = pair->side_b;
}

// What the maps say of M and N.
void ready_maps(Compare::Maps& maps, const Session& session) {
    if (maps.serial == session.serial) return;
    maps = {session.serial, {}};
    const trace::Trace& trace = *session.trace;
    for (size_t at = 0; at < trace.arrays.size(); ++at) {
        const Array& array = trace.arrays[at];
        const std::vector<uint32_t>& all = session.loads[at];
        maps.arrays.push_back(
            array.role != ArrayRole::Input ? view::LoadsSummary{}
            : all.empty()
                ? view::loads_summary(trace.meta, array, session.windows[at].loads, session.windows[at].box)
                : view::loads_summary(trace.meta, array, all, {0, array.rows, 0, array.cols}));
    }
}

// The sums of a session, where they are not those that are there already. True while they are made.
bool ready_side(Compare& compare, SideOf& of, const Session& session, bool wait) {
    if (of.serial == session.serial) return false;
    if (wait || session.trace->steps() <= kAtOnce) {
        of = make_side(session);
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
    compare.opening.clear();
    compare.other = std::make_shared<const Session>(std::move(other));
    compare.b = {};
    forget_block(compare);
}

Result<void> compare_with(State& state, trace::Trace other, const std::string& origin) {
    Compare& compare = state.compare;
    auto trace = std::make_shared<const trace::Trace>(std::move(other));
    if (trace->steps() > kSessionAtOnce) {
        if (!compare.work) compare.work = std::make_shared<CompareWork>();
        compare.work->open(std::move(trace), origin);
        compare.message.clear();
        compare.opening = origin;
        return {};
    }
    auto session = make_session(std::move(trace), origin);
    if (!session) return session.error();
    compare_with(state, std::move(*session));
    return {};
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
            show_pair(state, CompareWork::now(preset, recordings_of(state)));
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
    ready_maps(compare.maps[0], *state.session);
    ready_maps(compare.maps[1], *compare.other);
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

}  // namespace tilescope::app
