#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>

#include "core/trace/block_state.h"
#include "core/trace/device_order.h"
#include "core/trace/device_records.h"
#include "core/trace/device_words.h"

namespace tilescope::trace {

namespace {

// Clocks that a wait is held back at most: far more than the clocks of an SM's parts differ.
constexpr uint64_t kMostHeld = 4096;

// When a block's barriers let its warps go on.
//
//   warp 0  arrives | ............ waits ............ | asks
//   warp 1            arrives late                    | asks
//                          ^ last arrival             ^ no request before this
//
// A warp issues on for a moment behind BAR.SYNC, whose blocking is deferred, and so it may read the clock of
// its next record before the barrier has let it go (seen on an H200: up to some 170 clocks). The request
// itself cannot be made before the last warp has arrived. So the clock of what follows a barrier counts as
// one after the last arrival at least: times then never contradict what a barrier means.
//
// The last arrival at each barrier of a block, in order. Empty where arrivals cannot be matched: named or
// partial barriers, or a warp that comes in different parts. Reads the streams to their ends.
std::vector<uint64_t> last_arrivals(const DeviceLayout& layout, std::vector<StreamReader> readers) {
    if (!layout.one_barrier) return {};
    std::array<std::vector<uint64_t>, kMaxWarpsPerBlock> arrivals;
    std::array<uint32_t, kMaxWarpsPerBlock> masks{};
    for (StreamReader& reader : readers) {
        while (reader.next()) {
            if (reader.record.group != nullptr || !layout.sites[reader.record.site].barrier) continue;
            uint32_t& mask = masks[reader.warp];
            if (mask != 0 && mask != reader.record.mask) return {};
            mask = reader.record.mask;
            arrivals[reader.warp].push_back(reader.record.clock);
        }
    }
    std::vector<uint64_t> last;
    for (std::vector<uint64_t>& clocks : arrivals) {
        std::sort(clocks.begin(), clocks.end());  // of a warp with more than one stream
        last.resize(std::max(last.size(), clocks.size()));
        for (size_t i = 0; i < clocks.size(); ++i) last[i] = std::max(last[i], clocks[i]);
    }
    for (size_t i = 1; i < last.size(); ++i) last[i] = std::max(last[i], last[i - 1] + 1);
    return last;
}

// What a block's atomics gave back. A lane's come in the order in which it executed them, whichever lanes
// went in or came out beside it.
class Returned {
public:
    // Reads the streams to their ends.
    Returned(const DeviceLayout& layout, std::vector<StreamReader> readers) {
        const auto is_returned = [](const ptx::Code& code) { return code.kind == ptx::Code::Kind::Returned; };
        if (std::ranges::none_of(layout.codes, is_returned)) return;
        for (StreamReader& reader : readers) {
            while (reader.next()) {
                const DeviceRecord& record = reader.record;
                if (!record.returned) continue;
                Lanes& lanes = found_[{reader.warp, record.site}];
                for_lanes(record.mask, [&](uint32_t lane) {
                    uint64_t bits = 0;
                    std::memcpy(&bits, record.addresses + size_t{8} * lane, sizeof bits);
                    lanes[lane].all.emplace_back(record.clock, bits);
                });
            }
        }
        const auto earlier = [](const auto& a, const auto& b) { return a.first < b.first; };
        for (auto& [site, lanes] : found_)
            for (Lane& lane : lanes) std::stable_sort(lane.all.begin(), lane.all.end(), earlier);
    }

    // The next of these lanes, by lane; 0 where the record was lost.
    std::array<uint64_t, kWarpSize> take(uint32_t warp, uint32_t site, uint32_t mask) {
        std::array<uint64_t, kWarpSize> bits{};
        const auto found = found_.find({warp, site});
        if (found == found_.end()) return bits;
        for_lanes(mask, [&](uint32_t lane) {
            Lane& one = found->second[lane];
            if (one.next < one.all.size()) bits[lane] = one.all[one.next++].second;
        });
        return bits;
    }

private:
    struct Lane {
        std::vector<std::pair<uint64_t, uint64_t>> all;  // clock, bits
        size_t next = 0;
    };
    using Lanes = std::array<Lane, kWarpSize>;
    std::map<std::pair<uint32_t, uint32_t>, Lanes> found_;  // by warp and site
};

// The addresses of a record, as the device has them.
Addresses addresses_of(const DeviceLayout& layout, const DeviceRecord& record, uint32_t warp) {
    Addresses address;
    if (record.narrow) {
        const ptx::NarrowAddresses& narrow = *record.narrow;
        address.fill(0);
        const bool shared = layout.sites[record.site].space == Space::Shared;
        const uint64_t above = shared ? record.address & (UINT32_MAX ^ kOffsetMask)  // the block of a cluster
                                      : record.address >> 32 << 32;
        for_lanes(record.mask & layout.sites[record.site].lanes, [&](uint32_t lane) {
            uint32_t part = 0;
            std::memcpy(&part, record.addresses + size_t{narrow.bytes} * lane, narrow.bytes);
            address[lane] = above | uint64_t{part} << narrow.shift;
        });
        return address;
    }
    if (record.addresses) {
        std::memcpy(address.data(), record.addresses, sizeof(address));
        return address;
    }
    const auto& offset = layout.offsets_of(warp, record.site);
    const uint64_t origin = record.address - offset[std::countr_zero(record.mask)];
    for (size_t lane = 0; lane < kWarpSize; ++lane) address[lane] = origin + offset[lane];
    return address;
}

// The space of an address that may be generic, as it was recorded.
Space space_of(const SiteFacts& facts, uint64_t address) {
    if (facts.space != Space::Global) return facts.space;
    return address & ptx::kGenericShared  ? Space::Shared
           : address & ptx::kGenericLocal ? Space::Local
           : address & ptx::kGenericConst ? Space::Const
                                          : Space::Global;
}

// What each lane of an exchange has (core/ptx/exchange.h), of what its record says.
Addresses numbers_of(const SiteFacts& facts, uint32_t mask, const Addresses& given) {
    Addresses from{};
    if (ptx::is_of_matrices(facts.exchange)) return from;
    const auto low = [&](uint32_t lane) { return static_cast<uint32_t>(given[lane]); };
    const auto lowest_of = [](uint32_t lanes, uint32_t lane) {
        return lanes == 0 ? lane : static_cast<uint32_t>(std::countr_zero(lanes));
    };
    const ptx::ExchangeOperands& known = facts.operands;
    if (facts.exchange == ptx::Exchange::Reduce && known.known) {
        std::array<uint32_t, kWarpSize> members;
        members.fill(known.members);
        ptx::each_team(members.data(), mask, [&](uint32_t team) {
            for_lanes(team, [&](uint32_t lane) { from[lane] = lowest_of(team, lane); });
        });
        return from;
    }
    for_lanes(mask, [&](uint32_t lane) {
        from[lane] = !ptx::is_shuffle(facts.exchange)
                         ? (ptx::is_vote(facts.exchange) ? low(lane) : lowest_of(low(lane), lane))
                     : known.known ? ptx::shuffle_source(facts.exchange, lane, known.b, known.c)
                                   : ptx::shuffle_source(facts.exchange, lane, low(lane),
                                                         static_cast<uint32_t>(given[lane] >> 32));
    });
    return from;
}

void feed(const DeviceLayout& layout, const DeviceRecord& record, uint32_t warp, const WordStep& step,
          BlockOrder& order, BlockRecorder& recorder) {
    const SiteFacts& facts = layout.sites[record.site];
    if (facts.later) order.bulk_copy(warp, step);
    if (facts.signal != ptx::Signal::None) order.signal(facts.signal, warp, step);
    simt::Request request;
    request.site = record.site;
    request.warp = warp;
    request.mask = step.mask;
    request.space = facts.space;
    request.address = step.address.data();
    request.words = step.words.data();
    request.maps = step.maps;
    recorder.on_request(request);
}

void feed(const DeviceLayout& layout, const DeviceRecord& record, uint32_t warp, uint32_t rank,
          Returned& returned, BlockRecorder& recorder) {
    const SiteFacts& facts = layout.sites[record.site];
    if (facts.barrier) {
        recorder.on_barrier(record.site, warp, record.mask);
        return;
    }
    if (facts.exchange != ptx::Exchange::None) {
        const Addresses from = numbers_of(facts, record.mask, addresses_of(layout, record, warp));
        recorder.on_exchange({.site = record.site, .warp = warp, .mask = record.mask, .from = from.data()});
        return;
    }
    if (!record.addresses && !facts.atomic) {
        const std::vector<AddressShift>& moves = layout.moves[static_cast<size_t>(facts.space)];
        const bool clusters = facts.space == Space::Shared && layout.cluster.count() > 1;
        const uint64_t address = clusters ? kept_shared(record.address, rank) : record.address;
        const AddressShift* move = move_of(moves, address);
        const uint64_t start = address + (move ? move->shift : 0);
        if ((move || moves.empty()) &&
            recorder.repeat(record.site, warp, record.mask & facts.lanes, facts.space, start))
            return;
    }
    alignas(64) const Addresses given = addresses_of(layout, record, warp);
    // A request for each space, in the order of their lowest lanes.
    for (uint32_t left = record.mask & facts.lanes; left != 0;) {
        const Space space = record.addresses ? space_of(facts, given[std::countr_zero(left)]) : facts.space;
        uint32_t mask = 0;
        for_lanes(left, [&](uint32_t lane) {
            if (!record.addresses || space_of(facts, given[lane]) == space) mask |= 1u << lane;
        });
        left &= ~mask;
        alignas(64) Addresses address = given;
        const bool alike = place(layout, rank, mask, space, address);
        simt::Request request;
        request.site = record.site;
        request.warp = warp;
        request.mask = mask;
        request.space = space;
        request.address = address.data();
        Addresses found;
        if (facts.atomic) {
            found = returned.take(warp, record.site, mask);
            request.returned = found.data();
            request.element_bytes = facts.bytes;
        }
        if (alike && !record.addresses && !facts.atomic)
            recorder.on_steady_request(request);
        else
            recorder.on_request(request);
    }
}

// The stream whose record is next: a heap of the streams' clocks, the earliest on top, ties by warp and lane.
struct Next {
    uint64_t clock = 0;
    uint32_t reader = 0;
    bool operator<(const Next& other) const {
        return clock != other.clock ? clock < other.clock : reader < other.reader;
    }
};

void sift_down(std::vector<Next>& heap) {
    const size_t count = heap.size();
    const Next top = heap[0];
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        child += child + 1 < count && heap[child + 1] < heap[child];
        if (!(heap[child] < top)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = top;
}

std::vector<StreamReader> readers_of(const DeviceLayout& layout, const ChunkTable& table,
                                     std::span<ChunkRef> chunks) {
    std::sort(chunks.begin(), chunks.end());
    std::vector<StreamReader> readers;
    for (size_t first = 0; first < chunks.size();) {
        size_t end = first + 1;
        while (end < chunks.size() && chunks[end].stream == chunks[first].stream) ++end;
        readers.emplace_back(layout, table, chunks.subspan(first, end - first));
        first = end;
    }
    return readers;
}

}  // namespace

Result<DecodedBlock> decode_block(const DeviceLayout& layout, ChunkTable& table, uint64_t number,
                                  uint32_t dropped, const DecodeOptions& options) {
    DecodedBlock made;
    made.recorder = std::make_unique<BlockRecorder>(*options.arrays, *options.sites, layout.block(number));
    BlockRecorder& recorder = *made.recorder;
    Block& block = recorder.state().block;
    block.dropped = dropped;

    const std::span<ChunkRef> chunks = table.of_block(number);
    std::vector<StreamReader> readers = readers_of(layout, table, chunks);
    // Where requests were dropped, arrivals may be among them.
    const std::vector<uint64_t> last_arrival =
        dropped > 0 ? std::vector<uint64_t>{} : last_arrivals(layout, readers);
    Returned returned(layout, readers);
    std::array<uint64_t, kMaxWarpsPerBlock> not_before{};  // by warp: what the latest barrier holds it to
    std::array<size_t, kMaxWarpsPerBlock> barriers{};      // by warp: arrived at so far
    BlockOrder order(recorder, options.cluster.count() > 1);
    WordReader words(layout, options, layout.rank_of(number));
    WordStep step;
    size_t held = 0;                                      // waits that were held back since the last step
    std::vector<uint64_t> held_since(readers.size(), 0);  // by reader, of such a wait: its own clock; else 0
    std::vector<Next> heap;
    for (uint32_t i = 0; i < readers.size(); ++i)
        if (readers[i].next())
            heap.push_back({readers[i].record.clock, i});
        else if (!readers[i].problem.empty())
            return Error{readers[i].problem};
    std::sort(heap.begin(), heap.end());
    if (!heap.empty()) {
        block.clock = heap[0].clock;
        block.sm = readers[heap[0].reader].sm;
        recorder.expect(2 * chunks.size() * (layout.chunk_bytes / ptx::kSlotBytes));  // slots may be pairs
    }
    while (!heap.empty()) {
        StreamReader& reader = readers[heap[0].reader];
        if (heap[0].clock < not_before[reader.warp]) {
            heap[0].clock = not_before[reader.warp];
            sift_down(heap);
            continue;
        }
        const DeviceRecord& record = reader.record;
        if (record.has_words && !words.read(record, step)) return Error{words.problem};
        const bool waits = record.has_words && layout.sites[record.site].signal == ptx::Signal::Wait;
        if (waits && dropped == 0 && held < heap.size() && heap.size() > 1 && !order.can_have_ended(step)) {
            const uint64_t other = heap.size() > 2 ? std::min(heap[1].clock, heap[2].clock) : heap[1].clock;
            uint64_t& own = held_since[heap[0].reader];
            if (own == 0) own = heap[0].clock;
            if (other - own < kMostHeld) {
                heap[0].clock = other + 1;
                ++held;
                sift_down(heap);
                continue;
            }
        }
        held_since[heap[0].reader] = 0;
        held = 0;
        const uint64_t since = heap[0].clock - block.clock;
        made.clock_gaps = made.clock_gaps || since > UINT32_MAX;
        recorder.set_time(static_cast<uint32_t>(std::min<uint64_t>(since, UINT32_MAX)));
        if (record.group != nullptr) {
            order.pass(*record.group, reader.warp, record.mask);
        } else if (record.has_words) {
            feed(layout, record, reader.warp, step, order, recorder);
        } else if (!record.returned) {
            if (layout.sites[record.site].later) order.copy(reader.warp, record.mask);
            feed(layout, record, reader.warp, layout.rank_of(number), returned, recorder);
        }
        if (record.group == nullptr && layout.sites[record.site].barrier) {
            const size_t barrier = barriers[reader.warp]++;
            if (barrier < last_arrival.size()) not_before[reader.warp] = last_arrival[barrier] + 1;
        }
        if (reader.next()) {  // not before a step that was held back
            heap[0].clock = std::max(heap[0].clock, reader.record.clock);
        } else if (!reader.problem.empty()) {
            return Error{reader.problem};
        } else {
            heap[0] = heap.back();
            heap.pop_back();
        }
        if (!heap.empty()) sift_down(heap);
    }
    for (const StreamReader& reader : readers) {
        made.written += reader.written;
        made.records += reader.records;
        made.clock_gaps = made.clock_gaps || reader.gap || reader.sm != block.sm;
    }
    return made;
}

}  // namespace tilescope::trace
