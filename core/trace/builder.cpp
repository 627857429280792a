#include "core/trace/builder.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <tuple>

#include <fmt/core.h>

#include "core/base/turns.h"
#include "core/base/words.h"
#include "core/trace/block_state.h"

namespace tilescope::trace {

namespace {

constexpr uint32_t kAccounted = 1024;  // steps between looks at the memory

bool matches(AddressPattern& pattern, const simt::Request& request, uint64_t start) {
    if (pattern.mask != request.mask || pattern.space != request.space || start < pattern.lowest ||
        start > pattern.highest)
        return false;
    if (request.pattern != 0 && request.pattern == pattern.number) return true;
    uint64_t different = 0;
    for (int lane = 0; lane < kWarpSize; ++lane)
        different |= (request.address[lane] - start - pattern.difference[lane]) & pattern.active[lane];
    if (different != 0) return false;
    pattern.number = request.pattern;
    return true;
}

// Where the pattern's first address may lie. Requests that name no array although there are some in
// their space are not kept as patterns: the same differences elsewhere may lie in one.
void set_range(AddressPattern& pattern, const Form& form, const std::vector<Array>& arrays, uint32_t bytes) {
    const bool any =
        std::any_of(arrays.begin(), arrays.end(), [&](const Array& a) { return a.space == form.space; });
    uint64_t first = 0, last = std::numeric_limits<uint64_t>::max() >> 1;
    if (form.array != kNoArray) {
        int64_t low = 0, high = 0;
        for (int lane = 0; lane < kWarpSize; ++lane) {
            if (pattern.active[lane]) {
                low = std::min(low, static_cast<int64_t>(pattern.difference[lane]));
                high = std::max(high, static_cast<int64_t>(pattern.difference[lane]));
            }
        }
        pattern.origin = arrays[form.array].base;
        first = static_cast<uint64_t>(-low);
        last = arrays[form.array].bytes() - bytes - static_cast<uint64_t>(high);
    } else if (any) {
        return;
    }
    const uint64_t window = uint64_t{form.base_high} << 32;
    pattern.lowest = pattern.origin + std::max(first, window);
    pattern.highest = pattern.origin + std::min(last, window + 0xFFFF'FFFFu);
}

void add_step(BlockRecorder::State& state, uint32_t form, uint32_t warp, uint32_t base) {
    if (form == kNoForm || warp > 0xFF) {
        ++state.block.dropped;
        return;
    }
    state.base.push_back(base);
    state.key.push_back(form | warp << 24);
    if (state.timed) state.time.push_back(state.now);
}

AddressPattern& slot_for_new(BlockRecorder::State& state, SiteCache& cache) {
    if (cache.patterns.size() < SiteCache::kPatterns) {
        ++state.patterns;
        cache.patterns.emplace_back();
        cache.latest = static_cast<uint32_t>(cache.patterns.size()) - 1;
    } else {
        cache.latest = (cache.latest + 1) % SiteCache::kPatterns;
        cache.patterns[cache.latest] = AddressPattern{};
    }
    return cache.patterns[cache.latest];
}

// Fits a request that no pattern of its site matches, and remembers it as one; null where it is none.
const AddressPattern* record_new(BlockRecorder::State& state, SiteCache& cache,
                                 const simt::Request& request) {
    const ptx::Site& site = (*state.sites)[request.site];
    const uint32_t bytes = site.bytes;
    static const std::vector<Array> kNone;  // what an exchange holds are no addresses
    const std::vector<Array>& arrays = ptx::has_addresses(site.kind) ? *state.arrays : kNone;
    cache.spaces |= static_cast<uint8_t>(1u << static_cast<unsigned>(request.space));
    const Fitted fitted = fit(arrays, request, bytes);
    const uint32_t number = intern(state.table, fitted.form, fitted.rows.data());
    add_step(state, number, request.warp, fitted.base);
    if (number == kNoForm || fitted.form.wide) return nullptr;
    AddressPattern& pattern = slot_for_new(state, cache);
    pattern.form = number;
    pattern.mask = request.mask;
    pattern.space = request.space;
    pattern.number = request.pattern;
    const uint64_t start = request.address[std::countr_zero(request.mask)];
    for_lanes(request.mask, [&](uint32_t lane) {
        pattern.difference[lane] = request.address[lane] - start;
        pattern.active[lane] = ~uint64_t{0};
    });
    set_range(pattern, fitted.form, arrays, bytes);
    return &pattern;
}

// The pattern that the request follows, null for none.
const AddressPattern* record(BlockRecorder::State& state, const simt::Request& request) {
    SiteCache& cache = state.caches[request.site];
    const uint64_t start = request.address[std::countr_zero(request.mask)];
    const auto size = static_cast<uint32_t>(cache.patterns.size());
    for (uint32_t i = 0, at = cache.latest; i < size; ++i, at = at + 1 == size ? 0 : at + 1) {
        AddressPattern& pattern = cache.patterns[at];
        if (matches(pattern, request, start)) {
            cache.latest = at;
            add_step(state, pattern.form, request.warp, static_cast<uint32_t>(start - pattern.origin));
            return &pattern;
        }
    }
    return record_new(state, cache, request);
}

// Counts a step, and remembers that of a copy until its bytes arrive.
void meet(BlockRecorder::State& state, uint32_t site, bool kept) {
    if (kept && (*state.sites)[site].lands_later()) {
        state.copy_step.push_back(state.met);
        state.arrival.push_back(kNeverWaited);
    }
    ++state.met;
}

// What an atomic of global memory found there.
void keep_returned(BlockRecorder::State& state, const simt::Request& request) {
    for_lanes(request.mask, [&](uint32_t lane) {
        const auto* bytes = reinterpret_cast<const uint8_t*>(&request.returned[lane]);
        state.returned.insert(state.returned.end(), bytes, bytes + request.element_bytes);
    });
}

void keep_words(BlockRecorder::State& state, const simt::Request& request, uint32_t words) {
    for_lanes(request.mask, [&](uint32_t lane) {
        const auto* bytes =
            reinterpret_cast<const uint8_t*>(request.words + size_t{lane} * ptx::kMostStepWords);
        state.returned.insert(state.returned.end(), bytes, bytes + sizeof(uint32_t) * words);
    });
}

void keep_maps(std::vector<PlacedMap>& kept, std::span<const PlacedMap> maps) {
    for (const PlacedMap& map : maps) {
        const auto same = [&](const PlacedMap& other) {
            return other.address == map.address && other.in_parameters == map.in_parameters;
        };
        if (std::ranges::none_of(kept, same)) kept.push_back(map);
    }
}

// Puts one block's steps behind those of the blocks before it, with the trace's numbers for its forms.
void append(Trace& trace, FormTable& table, BlockRecorder::State& state, bool timed) {
    std::vector<uint32_t> number(state.table.forms.size());
    for (size_t i = 0; i < number.size(); ++i) {
        Form form = state.table.forms[i];
        const std::array<int32_t, 32>* rows = nullptr;
        const int count = form.irregular < 0 ? 0 : form.wide ? 2 : 1;
        if (count > 0) rows = &state.table.irregular[form.irregular];
        form.irregular = count;
        number[i] = intern(table, form, rows);
    }
    Block block = state.block;
    block.first = trace.key.size();
    block.first_returned = trace.returned.size();
    block.first_arrival = trace.arrival.size();
    auto arrival = state.arrival.begin();
    std::vector<uint32_t> kept_before;  // by own step, where there are copies
    auto returned = state.returned.begin();
    for (size_t i = 0; i < state.key.size(); ++i) {
        const uint32_t own = state.key[i] & 0xFF'FFFF, form = number[own];
        const auto after =
            state.returned.empty()
                ? returned
                : returned + static_cast<ptrdiff_t>(returned_bytes(trace, state.table.forms[own]));
        if (!state.arrival.empty()) {
            kept_before.push_back(static_cast<uint32_t>(trace.key.size() - block.first));
            const bool copies = trace.sites[state.table.forms[own].site].lands_later();
            if (copies && form != kNoForm) trace.arrival.push_back(*arrival);
            arrival += copies;
        }
        if (form == kNoForm) {
            ++block.dropped;
            returned = after;
            continue;
        }
        trace.returned.insert(trace.returned.end(), returned, after);
        returned = after;
        trace.base.push_back(state.base[i]);
        trace.key.push_back(form | (state.key[i] & 0xFF00'0000));
        if (timed) trace.time.push_back(state.timed ? state.time[i] : 0);
    }
    keep_maps(trace.launch.maps, state.maps);
    block.count = trace.key.size() - block.first;
    kept_before.push_back(static_cast<uint32_t>(block.count));
    for (size_t i = block.first_arrival; i < trace.arrival.size(); ++i)
        if (uint32_t& at = trace.arrival[i]; at != kNeverWaited) at = kept_before[at];
    trace.blocks.push_back(block);
    state = BlockRecorder::State{};
}

// A generic access counts as global until its requests show that they all went to another space.
void settle_spaces(std::vector<ptx::Site>& sites, const std::vector<std::unique_ptr<BlockRecorder>>& blocks) {
    for (size_t site = 0; site < sites.size(); ++site) {
        unsigned spaces = 0;
        for (const auto& block : blocks) spaces |= block->state().caches[site].spaces;
        if (std::has_single_bit(spaces)) sites[site].space = static_cast<Space>(std::countr_zero(spaces));
    }
}

}  // namespace

BlockRecorder::BlockRecorder(const std::vector<Array>& arrays, const std::vector<ptx::Site>& sites,
                             simt::BlockId block, RecordingMemory* memory)
    : state_(std::make_unique<State>()) {
    state_->arrays = &arrays;
    state_->sites = &sites;
    state_->block.x = block.x;
    state_->block.y = block.y;
    state_->block.z = block.z;
    state_->caches.resize(sites.size());
    state_->memory = memory;
    account();
}

BlockRecorder::~BlockRecorder() = default;

BlockRecorder::State& BlockRecorder::state() { return *state_; }

uint64_t BlockRecorder::dropped() const { return state_->block.dropped; }

uint64_t BlockRecorder::bytes() const {
    constexpr uint64_t kHashed = 32;  // of a form, in the table's index
    const State& s = *state_;
    return s.key.size() * (s.timed ? 12 : 8) + s.table.forms.size() * (sizeof(Form) + kHashed) +
           s.table.irregular.size() * sizeof(s.table.irregular[0]) + s.returned.size() + s.arrival.size() * 8;
}

void BlockRecorder::account() {
    State& s = *state_;
    s.unaccounted = 0;
    if (!s.memory) return;
    const uint64_t now = bytes() + s.caches.size() * sizeof(SiteCache) + s.patterns * sizeof(AddressPattern);
    if (now > s.taken) s.memory->take(now - s.taken);
    s.taken = std::max(s.taken, now);
    enough = s.memory->spent();
}

void BlockRecorder::on_end() {
    for (SiteCache& cache : state_->caches) cache.patterns = {};
    state_->base.shrink_to_fit();
    state_->key.shrink_to_fit();
    state_->returned.shrink_to_fit();
}

void BlockRecorder::on_request(const simt::Request& request) {
    const size_t before = state_->key.size();
    record(*state_, request);
    const bool kept = state_->key.size() > before;
    meet(*state_, request.site, kept);
    if (kept && request.words) {
        keep_maps(state_->maps, request.maps);
        keep_words(*state_, request, (*state_->sites)[request.site].words);
    } else if (kept && request.returned && request.space == Space::Global) {
        keep_returned(*state_, request);
    }
    if (++state_->unaccounted == kAccounted) account();
}

void BlockRecorder::on_arrival(uint32_t step) {
    const auto found = std::ranges::lower_bound(state_->copy_step, step);
    if (found != state_->copy_step.end() && *found == step)
        state_->arrival[static_cast<size_t>(found - state_->copy_step.begin())] =
            static_cast<uint32_t>(state_->key.size());
}

void BlockRecorder::set_time(uint32_t clocks) {
    state_->timed = true;
    state_->now = clocks;
}

void BlockRecorder::expect(uint64_t steps) {
    state_->base.reserve(steps);
    state_->key.reserve(steps);
    state_->time.reserve(steps);
}

void BlockRecorder::on_steady_request(const simt::Request& request) {
    const size_t before = state_->key.size();
    const AddressPattern* pattern = record(*state_, request);
    meet(*state_, request.site, state_->key.size() > before);
    if (!pattern) return;
    const size_t sites = state_->caches.size();
    if (state_->steady.size() < (request.warp + 1) * sites) state_->steady.resize((request.warp + 1) * sites);
    state_->steady[request.warp * sites + request.site] = {
        pattern->form, pattern->mask, pattern->space, pattern->lowest, pattern->highest, pattern->origin};
}

bool BlockRecorder::repeat(uint32_t site, uint32_t warp, uint32_t mask, Space space, uint64_t start) {
    const size_t at = warp * state_->caches.size() + site;
    if (at >= state_->steady.size()) return false;
    const Steady& steady = state_->steady[at];
    if (steady.mask != mask || steady.space != space || start < steady.lowest || start > steady.highest)
        return false;
    add_step(*state_, steady.form, warp, static_cast<uint32_t>(start - steady.origin));
    meet(*state_, site, true);
    return true;
}

void BlockRecorder::on_barrier(uint32_t site, uint32_t warp, uint32_t mask) {
    ++state_->met;
    if (++state_->unaccounted == kAccounted) account();
    SiteCache& cache = state_->caches[site];
    for (const AddressPattern& pattern : cache.patterns) {
        if (pattern.mask == mask) {
            add_step(*state_, pattern.form, warp, 0);
            return;
        }
    }
    Form form;
    form.site = site;
    form.mask = mask;
    form.irregular = 0;
    const uint32_t number = intern(state_->table, form, nullptr);
    add_step(*state_, number, warp, 0);
    if (number != kNoForm) {
        AddressPattern& pattern = slot_for_new(*state_, cache);
        pattern.form = number;
        pattern.mask = mask;
    }
}

void BlockRecorder::on_exchange(const simt::Exchange& exchange) {
    simt::Request as_request;
    as_request.site = exchange.site;
    as_request.warp = exchange.warp;
    as_request.mask = exchange.mask;
    as_request.address = exchange.from;
    record(*state_, as_request);
    ++state_->met;
    if (++state_->unaccounted == kAccounted) account();
}

Trace assemble(Meta meta, Launch launch, std::vector<ptx::Site> sites,
               std::vector<std::unique_ptr<BlockRecorder>> blocks, uint32_t max_forms) {
    std::sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) {
        const Block &left = a->state().block, &right = b->state().block;
        return std::tie(left.z, left.y, left.x) < std::tie(right.z, right.y, right.x);
    });
    settle_spaces(sites, blocks);
    Trace trace;
    trace.meta = std::move(meta);
    trace.launch = std::move(launch);
    trace.sites = std::move(sites);

    uint64_t steps = 0;
    bool timed = false;
    for (const auto& block : blocks) {
        steps += block->state().key.size();
        timed |= block->state().timed;
    }
    trace.base.reserve(steps);
    trace.key.reserve(steps);
    trace.time.reserve(timed ? steps : 0);
    FormTable table;
    table.limit = std::min(max_forms, kMaxForms);
    for (auto& block : blocks) {
        append(trace, table, block->state(), timed);
        let_others_go_on();
    }
    trace.forms = std::move(table.forms);
    trace.irregular = std::move(table.irregular);
    index_returned(trace);
    const uint64_t dropped = dropped_of(trace);
    if (dropped > 0 && trace.meta.complete) {
        trace.meta.complete = false;
        trace.meta.incomplete_reason = fmt::format(
            "{} {} dropped because there are more than {} different forms of request; "
            "record a smaller window of blocks",
            counted(dropped, "request"), dropped == 1 ? "was" : "were", table.limit);
    }
    return trace;
}

}  // namespace tilescope::trace
