#include "core/levels/walk.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "core/analysis/coalescing.h"

namespace tilescope::analysis {

namespace {

// What a request asks for, each of its lines once, in the order of its lanes.
void add_lines(std::vector<RequestLine>& lines, const trace::AccessView& access, size_t slot,
               uint64_t first_line) {
    const size_t begin = lines.size();
    access.for_lines([&](uint64_t number, uint32_t sectors) {
        const auto line = static_cast<uint32_t>(number - first_line);
        size_t at = lines.size();  // lanes side by side meet in the line before
        while (at > begin && lines[at - 1].line != line) --at;
        if (at == begin) {
            lines.push_back(
                {line, RequestLine::kNoTouch, static_cast<uint16_t>(slot), 0, 0, access.stores()});
            at = lines.size();
        }
        lines[at - 1].sectors |= static_cast<uint8_t>(sectors);
    });
}

// The touch of a batch that has a line; kNoTouch for none. They are sorted.
uint32_t touch_of(const BlockWork& work, const LoadBatch& batch, const RequestLine& line) {
    const LineTouch* const begin = work.touches.data() + batch.first;
    const auto place = [](const auto& one) { return std::tie(one.store, one.slot, one.line); };
    const LineTouch* const found =
        std::lower_bound(begin, begin + batch.count, line,
                         [&](const LineTouch& a, const RequestLine& b) { return place(a) < place(b); });
    if (found == begin + batch.count || place(*found) != place(line)) return RequestLine::kNoTouch;
    return static_cast<uint32_t>(found - begin);
}

}  // namespace

BlockRequests requests_of_block(const trace::Trace& trace, uint32_t block,
                                const std::vector<int64_t>& relocation, const BlockWork& work,
                                std::vector<uint32_t> batch_of) {
    BlockRequests made;
    made.batch_of = std::move(batch_of);
    const trace::Block& recorded = trace.blocks[block];
    std::vector<uint8_t> asked(work.touches.size(), 0);  // sectors, by earlier requests
    for (uint64_t i = 0; i < recorded.count; ++i) {
        made.first_line.push_back(static_cast<uint32_t>(made.lines.size()));
        const uint64_t step = recorded.first + i;
        const trace::Form& form = trace.form_of(step);
        const ptx::Site& site = trace.sites[form.site];
        if (!ptx::asks_memory(site.kind) || form.space != Space::Global) continue;
        trace::AccessView access(trace, step);
        const size_t slot = level_slot(trace.launch, access.array());
        access.move(relocation[slot]);
        const size_t begin = made.lines.size();
        add_lines(made.lines, access, slot, work.first_line[slot]);
        const LoadBatch& batch = work.batches[made.batch_of[i]];
        for (size_t at = begin; at < made.lines.size(); ++at) {
            RequestLine& line = made.lines[at];
            line.touch = touch_of(work, batch, line);
            if (line.touch == RequestLine::kNoTouch) continue;
            uint8_t& before = asked[batch.first + line.touch];
            line.first =
                static_cast<uint8_t>(line.sectors & work.touches[batch.first + line.touch].sectors & ~before);
            before |= line.sectors;
        }
    }
    made.first_line.push_back(static_cast<uint32_t>(made.lines.size()));
    return made;
}

// --- the walk

LevelWalk::LevelWalk(std::vector<PlacedBlock> blocks, LevelLog log, uint32_t sms, uint64_t l1_bytes)
    : blocks_(std::move(blocks)), log_(std::move(log)), l1_bytes_(l1_bytes), sm_of_(blocks_.size(), 0) {
    uint32_t batches = 0;
    for (const PlacedBlock& block : blocks_) {
        block_first_.push_back(batches);
        batches += static_cast<uint32_t>(block.work->batches.size());
    }
    turn_.assign(batches, 0);
    sm_first_.assign(sms + 1, 0);
    for (const LevelLog::Sent& batch : log_.sent) ++sm_first_[batch.sm + 1];
    for (uint32_t sm = 0; sm < sms; ++sm) sm_first_[sm + 1] += sm_first_[sm];
    order_.resize(log_.sent.size());
    std::vector<uint32_t> next(sm_first_.begin(), sm_first_.end() - 1);
    for (uint32_t i = 0; i < log_.sent.size(); ++i) {
        const LevelLog::Sent& batch = log_.sent[i];
        turn_[block_first_[batch.block] + batch.batch] = next[batch.sm] - sm_first_[batch.sm];
        sm_of_[batch.block] = batch.sm;
        order_[next[batch.sm]++] = i;
    }
    copies_.resize(sms);
    for (uint32_t i = 0; i < log_.copies.size(); ++i) copies_[log_.copies[i].sm].push_back(i);
}

template <class Visit>
void LevelWalk::touch_batch(const LevelLog::Sent& batch, const std::vector<bool>* has_come,
                            Visit visit) const {
    const PlacedBlock& block = blocks_[batch.block];
    const LoadBatch& of = block.work->batches[batch.batch];
    const LineTouch* const touches = block.work->touches.data() + of.first;
    for (uint32_t i = 0; i < of.count; ++i)
        if (!touches[i].store && (has_come == nullptr || (*has_come)[i]))
            visit(line_of(batch.block, touches[i].slot, touches[i].line), touches[i].sectors);
}

LevelWalk::BatchPlace LevelWalk::place_of(uint32_t block, uint32_t batch) const {
    BatchPlace place;
    place.sm = sm_of_[block];
    place.turn = turn_[block_first_[block] + batch];
    place.at = static_cast<double>(sent(place.sm, place.turn).at);
    return place;
}

std::vector<uint32_t> LevelWalk::blocks_of(uint32_t sm) const {
    std::vector<uint32_t> numbers;
    for (uint32_t turn = 0; turn < turns(sm); ++turn)
        if (sent(sm, turn).batch == 0) numbers.push_back(sent(sm, turn).block);
    return numbers;
}

std::span<const uint8_t> LevelWalk::found(uint32_t block, uint32_t batch) const {
    const BatchPlace place = place_of(block, batch);
    const size_t count = blocks_[block].work->batches[batch].count;
    return {log_.found.data() + sent(place.sm, place.turn).first, count};
}

LevelWalk::Moment LevelWalk::before(const BatchPlace& place) const {
    const auto& copies = copies_[place.sm];
    const auto after =
        std::upper_bound(copies.begin(), copies.end(), place.turn,
                         [&](uint32_t turn, uint32_t copy) { return turn < log_.copies[copy].turn; });
    const LevelLog::CacheCopy* const from =
        after == copies.begin() ? nullptr : &log_.copies[*std::prev(after)];
    Moment moment{from ? from->l1 : SectorCache(l1_bytes_ / kLineBytes), {}, {}};
    for (uint32_t turn = from ? from->turn : 0; turn < place.turn; ++turn)
        touch_batch(sent(place.sm, turn), nullptr,
                    [&](uint64_t line, uint8_t sectors) { moment.l1.touch(line, sectors); });
    return moment;
}

LevelWalk::Moment LevelWalk::within(const BatchPlace& place, const std::vector<bool>& has_come) const {
    Moment moment = before(place);
    touch_batch(sent(place.sm, place.turn), &has_come, [&](uint64_t line, uint8_t sectors) {
        const uint32_t set = moment.l1.set_number(line);
        const SectorCache::CachedLine last = moment.l1.at(set, moment.l1.ways() - 1);
        bool was_there = false;
        for (uint32_t way = 0; way < moment.l1.ways(); ++way) {
            const SectorCache::CachedLine here = moment.l1.at(set, way);
            was_there |= here.sectors != 0 && here.number == line;
        }
        const uint32_t had = moment.l1.touch(line, sectors);
        if (!was_there && last.sectors != 0) moment.evicted.push_back({last.number, line});
        if (had != sectors) moment.came.push_back(line);
    });
    return moment;
}

LevelWalk::Search LevelWalk::comes_back(const BatchPlace& place, uint64_t line, uint64_t most) const {
    uint64_t looked = 0;
    for (uint32_t turn = place.turn + 1; turn < turns(place.sm); ++turn) {
        if (looked >= most) return {};
        const LevelLog::Sent& batch = sent(place.sm, turn);
        bool asks = false;
        touch_batch(batch, nullptr, [&](uint64_t other, uint8_t) {
            asks |= other == line;
            ++looked;
        });
        if (asks)
            return {Return{batch.block, batch.batch, turn - place.turn - 1, static_cast<double>(batch.at)},
                    true};
    }
    return {std::nullopt, true};
}

// --- sums

LevelShare& LevelShare::operator+=(const LevelShare& other) {
    requests += other.requests;
    bytes += other.bytes;
    for (size_t i = 0; i < kFoundIn; ++i) sectors[i] += other.sectors[i];
    return *this;
}

void add_shares(LevelShares& shares, const trace::Trace& trace, uint32_t recorded,
                const BlockRequests& requests, const PhaseMap& phases, const LevelWalk& walk,
                std::span<const uint32_t> numbers) {
    if (numbers.empty()) return;
    shares.by_site.resize(trace.sites.size());
    shares.by_slot.resize(level_slots(trace.launch));
    if (shares.by_phase.size() < phases.phases) shares.by_phase.resize(phases.phases);
    const BlockWork& work = *walk.block(numbers.front()).work;
    const trace::Block& block = trace.blocks[recorded];
    const auto phase_at = [&](uint32_t step) -> LevelShare& {
        const uint32_t phase = phases.phase[step];
        return phase < shares.by_phase.size() ? shares.by_phase[phase] : shares.after;
    };
    // All of it as if it hit, and which step the log's sectors belong to.
    std::vector<std::array<uint32_t, 4>> owner(work.touches.size());
    for (uint32_t step = 0; step < block.count; ++step) {
        const trace::Form& form = trace.form_of(block.first + step);
        const ptx::Site& site = trace.sites[form.site];
        const auto lines = requests.of(step);
        if (lines.empty() || site.kind == ptx::SiteKind::Store) continue;
        LevelShare asks;
        asks.requests = numbers.size();
        const uint64_t bytes = site.box == ptx::Box::None
                                   ? uint64_t{site.bytes} * static_cast<uint32_t>(std::popcount(form.mask))
                                   : trace::AccessView(trace, block.first + step).lane_bytes();
        asks.bytes = bytes * numbers.size();
        for (const RequestLine& line : lines) {
            asks.sectors[0] += static_cast<uint32_t>(std::popcount(line.sectors)) * numbers.size();
            if (line.touch == RequestLine::kNoTouch) continue;
            for (uint32_t sector = 0; sector < 4; ++sector)
                if (line.first >> sector & 1)
                    owner[work.batches[requests.batch_of[step]].first + line.touch][sector] = step;
        }
        shares.by_site[form.site] += asks;
        shares.by_slot[lines[0].slot] += asks;
        phase_at(step) += asks;
        shares.all += asks;
    }
    // What did not.
    for (uint32_t number : numbers)
        for (uint32_t batch = 0; batch < work.batches.size(); ++batch) {
            const auto found = walk.found(number, batch);
            for (size_t i = 0; i < found.size(); ++i) {
                if (found[i] == 0) continue;
                const LineTouch& touch = work.touches[work.batches[batch].first + i];
                for (uint32_t sector = 0; sector < 4; ++sector) {
                    const auto in = static_cast<size_t>(LevelWalk::found_in(found[i], sector));
                    if (in == 0) continue;
                    const uint32_t step = owner[work.batches[batch].first + i][sector];
                    for (LevelShare* share : {&shares.by_site[trace.form_of(block.first + step).site],
                                              &shares.by_slot[touch.slot], &phase_at(step), &shares.all}) {
                        --share->sectors[0];
                        ++share->sectors[in];
                    }
                }
            }
        }
}

}  // namespace tilescope::analysis
