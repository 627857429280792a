#include "core/levels/replay.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "core/analysis/coalescing.h"
#include "core/levels/dealer.h"
#include "core/levels/memory.h"
#include "core/levels/ready_queue.h"
#include "core/levels/waves.h"

namespace tilescope::analysis {

namespace {

struct RunningBlock {
    uint64_t number = 0;
    std::shared_ptr<const BlockWork> work;
    LevelMisses* misses = nullptr;  // of its wave
    uint32_t batch = 0, end = 0;    // the batch at hand, and the one behind the last that is simulated
    bool waits = false;             // the requests of its batch were sent, its work is to come
    // Batches that later ones wait for: the number of the later one, and when the data are there.
    std::vector<std::pair<uint32_t, double>> due;
};

struct Sm {
    std::vector<RunningBlock> blocks;  // the oldest first
    std::vector<uint64_t> first_line;  // of each of them, by slot: where LineTouch::line counts from
    ReadyQueue ready;
    double pipe_free = 0;  // time from when its pipe can take the next turn
    double idle = 0;       // cycles in which none of its blocks had its data, of blocks that count
    uint64_t ran = 0;      // number of blocks that have ended, of those that count
    uint64_t random = 0;   // state of the generator behind chance()

    // Its next turn: which block has it, and if that sends requests, the sectors that L1 lacks, by line
    // touch.
    size_t which = 0;
    std::vector<uint32_t> missing;

    uint32_t sent = 0;     // number of batches, for the log
    uint64_t touched = 0;  // number of lines since the log's last copy of its L1

    // A pseudo-random number from 0 to 1, the same in every replay. It decides which warp of a block sends
    // its requests first, and how much longer than necessary a batch waits.
    double chance() {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(random >> 40) * 0x1p-24;
    }
    double busy(float cycles, double share) { return static_cast<double>(cycles) * (1 + chance() * share); }
};

class Replay {
public:
    Replay(const LevelSpec& spec, const LevelLaunch& launch, Stop stop)
        : spec_(spec),
          launch_(launch),
          stop_(stop),
          waves_(launch),
          memory_(spec, launch),
          dealer_(launch, memory_.gpcs()),
          sms_(launch.sms),
          l1_(launch.sms, SectorCache(launch.l1_bytes / kLineBytes)),
          left_(waves_.blocks()) {
        for (size_t sm = 0; sm < sms_.size(); ++sm) sms_[sm].random = sm + 1;
    }

    LevelReplay run() {
        for (const auto& [sm, block] : dealer_.first_blocks(std::min(launch_.resident, ReadyQueue::kMost)))
            begin(sms_[sm], block, 0);
        Tournament turns(sms_.size());
        for (uint32_t sm = 0; sm < sms_.size(); ++sm) turns.set(sm, run_ahead(sm));
        for (uint64_t done = 0; left_ > 0; ++done) {
            if (stop_.at(done)) break;
            const auto sm = static_cast<uint32_t>(turns.first());
            if (turns.time(sm) == kNever) break;
            turn(sm, turns.time(sm));
            turns.set(sm, run_ahead(sm));
        }
        LevelReplay replay = waves_.whole();
        replay.cycles = last_end_;
        replay.touched = touched_;
        replay.misses.idle_cycles *= idle_of_busiest();
        return replay;
    }

private:
    void begin(Sm& sm, uint64_t number, double now) {
        PlacedBlock placed = launch_.block(number);
        const auto [first, end, misses] = waves_.sample(number, *placed.work);
        slots_ = placed.work->first_line.size();
        for (size_t slot = 0; slot < slots_; ++slot)
            sm.first_line.push_back(placed.work->first_line[slot] +
                                    static_cast<uint64_t>(placed.relocation[slot]));
        sm.blocks.push_back({number, std::move(placed.work), misses, first, end, false, {}});
        sm.ready.add(now);
    }

    void end(uint32_t number, double now) {
        Sm& sm = sms_[number];
        const auto which = static_cast<std::ptrdiff_t>(sm.which);
        if (waves_.counts(sm.blocks[sm.which].number))
            --left_, ++sm.ran, last_end_ = std::max(last_end_, now);
        sm.blocks.erase(sm.blocks.begin() + which);
        const auto slots = static_cast<std::ptrdiff_t>(slots_);
        const auto first_line = sm.first_line.begin() + which * slots;
        sm.first_line.erase(first_line, first_line + slots);
        sm.ready.remove(sm.which);
        if (const auto next = dealer_.next(number)) begin(sm, *next, now);
    }

    // The oldest of the blocks that are ready. Blocks with fewer warps than the SM has schedulers compete
    // with few others: of two that are drawn at random, the one that has waited longer.
    size_t next_ready(Sm& sm, uint64_t ready) const {
        if (launch_.drift == Drift::None) return furthest_behind(sm, ready);
        if (sm.blocks.front().work->warps >= kSchedulers) return bit_number(ready, 0);
        const auto any = [&] {
            return bit_number(ready, static_cast<uint32_t>(sm.chance() * std::popcount(ready)));
        };
        const size_t one = any();
        const size_t other = any();
        return sm.ready.time(other) < sm.ready.time(one) ? other : one;
    }
    static size_t furthest_behind(const Sm& sm, uint64_t ready) {
        size_t behind = bit_number(ready, 0);
        for (; ready != 0; ready &= ready - 1)
            if (const size_t other = bit_number(ready, 0); sm.blocks[other].batch < sm.blocks[behind].batch)
                behind = other;
        return behind;
    }

    // Takes an SM's turns up to the next one that needs what all SMs share: a miss in L1, a store, or the end
    // of a block. Returns the time of that turn; kNever where there is none.
    double run_ahead(uint32_t number) {
        Sm& sm = sms_[number];
        for (;;) {
            const double now = sm.ready.next(sm.pipe_free);
            if (now == kNever) return now;
            sm.which = next_ready(sm, sm.ready.at(now));
            const RunningBlock& running = sm.blocks[sm.which];
            const bool sends = !running.waits && running.batch < running.end;
            if (sends ? !look_up(number, running) : running.batch + 1 >= running.end) return now;
            turn(number, now);
        }
    }

    void turn(uint32_t number, double now) {
        Sm& sm = sms_[number];
        const size_t which = sm.which;
        RunningBlock& running = sm.blocks[which];
        const BlockWork& work = *running.work;
        running.misses->idle_cycles += now - sm.pipe_free;
        if (waves_.counts(running.number)) sm.idle += now - sm.pipe_free;
        if (running.batch >= running.end) return end(number, sm.ready.time(which));
        const LoadBatch& batch = work.batches[running.batch];
        double ready;
        if (!running.waits) {
            running.waits = true;
            sm.pipe_free = now + sm.busy(batch.load_cycles, spec_.send_share.value);
            ready = load(number, which, batch, now);
            if (batch.ahead > 0) {  // copies: the work goes on
                running.due.push_back({running.batch + batch.ahead, ready});
                ready = sm.pipe_free;
            }
        } else {
            const LevelFigure& longer = work.barriers ? spec_.spread_share : spec_.drift_share;
            sm.pipe_free = now + sm.busy(batch.work_cycles, longer.value);
            ready = std::max(sm.pipe_free, now + static_cast<double>(batch.chain_cycles));
            if (batch.ahead == 0) running.misses->latency_cycles += (ready - now) / warps_apart(work);
            running.waits = false;
            ++running.batch;
            std::erase_if(running.due, [&](const auto& due) {
                if (due.first > running.batch) return false;
                running.misses->wait_cycles += std::max(0.0, due.second - ready);
                ready = std::max(ready, due.second);
                return true;
            });
            if (running.batch >= running.end) return end(number, ready);
        }
        sm.ready.set(which, ready, sm.pipe_free);
    }

    // Warps without barriers wait and work each on its own. Each takes its share, among the warps of its
    // scheduler, of the time for which its block keeps the SM busy.
    static double warps_apart(const BlockWork& work) {
        return work.barriers ? 1 : std::max(1.0, static_cast<double>(work.warps) / kSchedulers);
    }

    // Their requests share the data pipe. A warp waits for no more than its own requests where the others
    // send theirs at other times.
    static double warps_sending(const BlockWork& work) {
        return work.barriers ? 1 : std::max<double>(work.warps, 1);
    }

    // Sends a batch's requests; returns the time at which the last of its sectors has come.
    double load(uint32_t number, size_t which, const LoadBatch& batch, double now) {
        Sm& sm = sms_[number];
        const RunningBlock& running = sm.blocks[which];
        const uint64_t* const first_line = sm.first_line.data() + which * slots_;
        LevelMisses& misses = *running.misses;
        const double sent = now + static_cast<double>(batch.load_cycles);
        if (launch_.log)
            launch_.log->sent.push_back({static_cast<uint32_t>(running.number), running.batch, number,
                                         static_cast<float>(now), launch_.log->found.size()});
        if (!batch.loads && batch.count == 0) return sent;
        double until = sent + spec_.l1_cycles.value;
        const BlockWork& work = *running.work;
        if (!work.barriers) std::fill_n(until_.begin(), warps_waiting(work.warps), until);
        const LineTouch* const touches = work.touches.data() + batch.first;
        const double sending = sent - now;
        const uint32_t gpc = dealer_.gpc_of(number);
        touched_ += batch.count;
        for (uint32_t i = 0; i < batch.count; ++i) {
            const LineTouch& touch = touches[i];
            const uint64_t line = first_line[touch.slot] + touch.line;
            uint8_t found = 0;
            if (touch.store) {
                memory_.store(line, touch.sectors);
            } else if (const uint32_t missing = sm.missing[i]) {
                misses.l1_missed_lines += 1;
                const double here =
                    memory_.read(gpc, line, missing, now + sending * sm.chance(), misses, found);
                until = std::max(until, here);
                if (!work.barriers) wait_for(here, work.warps_of[batch.first + i]);
            }
            if (launch_.log) launch_.log->found.push_back(found);
        }
        until = sent + (until - sent) * batch.turns;
        const double wait = work.barriers ? until - sent : (mean_until(work.warps) - sent) * batch.turns;
        // Where later batches wait for the data, as many waits overlap, and the work between hides them.
        misses.latency_cycles += (sending / warps_sending(work) + wait) / std::max<double>(batch.ahead, 1);
        if (batch.ahead == 0) misses.wait_cycles += wait;
        return until + sm.chance() * (work.barriers ? spec_.spread_cycles : spec_.drift_cycles).value;
    }

    // Finds which sectors of each line touch of the batch at hand L1 does not have. Returns whether it has
    // all of them and nothing is stored. Entries are prefetched, since the tables of all L1, of L2 and of
    // misses are larger than the caches of the machine that simulates.
    bool look_up(uint32_t number, const RunningBlock& running) {
        Sm& sm = sms_[number];
        SectorCache& l1 = l1_[number];
        const uint64_t* const first_line = sm.first_line.data() + sm.which * slots_;
        const LoadBatch& batch = running.work->batches[running.batch];
        const LineTouch* const touches = running.work->touches.data() + batch.first;
        const uint32_t gpc = dealer_.gpc_of(number);
        for (uint32_t i = 0; i < batch.count; ++i) l1.prefetch(first_line[touches[i].slot] + touches[i].line);
        sm.missing.assign(batch.count, 0);
        if (launch_.log) keep_copy(number, batch.count);
        bool all_hit = true;
        for (uint32_t i = 0; i < batch.count; ++i) {
            const LineTouch& touch = touches[i];
            const uint64_t line = first_line[touch.slot] + touch.line;
            if (touch.store) {
                memory_.prefetch_store(line);
            } else {
                sm.missing[i] = touch.sectors & ~l1.touch(line, touch.sectors);
                if (sm.missing[i] == 0) continue;
                memory_.prefetch_read(gpc, line);
            }
            all_hit = false;
        }
        return all_hit;
    }

    // Now and then keeps a copy of L1 for the log, before a batch that touches `lines` lines.
    void keep_copy(uint32_t number, uint32_t lines) {
        Sm& sm = sms_[number];
        if (sm.touched >= LevelLog::kLinesBetween) {
            launch_.log->copies.push_back({number, sm.sent, l1_[number]});
            sm.touched = 0;
        }
        ++sm.sent;
        sm.touched += lines;
    }

    // Makes these warps, a bit each, wait at least until `here`.
    void wait_for(double here, uint32_t warps) {
        for (; warps != 0; warps &= warps - 1) {
            double& until = until_[static_cast<size_t>(std::countr_zero(warps))];
            until = std::max(until, here);
        }
    }
    static uint32_t warps_waiting(uint32_t warps) { return std::clamp<uint32_t>(warps, 1, kWarpSize); }
    double mean_until(uint32_t warps) const {
        const uint32_t waiting = warps_waiting(warps);
        return std::accumulate(until_.begin(), until_.begin() + waiting, 0.0) / waiting;
    }

    // The idle time of the SMs that run most blocks, as a share of the average over all SMs; at most 1.
    double idle_of_busiest() const {
        const uint64_t most = std::ranges::max(sms_, {}, &Sm::ran).ran;
        double all = 0, of_busiest = 0, busiest = 0;
        for (const Sm& sm : sms_) {
            all += sm.idle;
            if (sm.ran == most) of_busiest += sm.idle, ++busiest;
        }
        const double average = all / static_cast<double>(sms_.size());
        return average > 0 ? std::min(1.0, of_busiest / busiest / average) : 1;
    }

    const LevelSpec& spec_;
    const LevelLaunch& launch_;
    Stop stop_;
    Waves waves_;
    LevelMemory memory_;
    BlockDealer dealer_;
    std::vector<Sm> sms_;
    std::vector<SectorCache> l1_;          // by SM
    std::array<double, kWarpSize> until_;  // time at which each warp of the batch at hand has its data
    uint64_t left_;                        // blocks that count and have not ended
    double last_end_ = 0;
    size_t slots_ = 0;
    uint64_t touched_ = 0;  // LevelReplay::touched
};

}  // namespace

LevelMisses& LevelMisses::operator+=(const LevelMisses& other) { return add(other, 1); }

LevelMisses& LevelMisses::add(const LevelMisses& other, double times) {
    l1_misses += other.l1_misses * times;
    l1_missed_lines += other.l1_missed_lines * times;
    l2_read_sectors += other.l2_read_sectors * times;
    dram_read_bytes += other.dram_read_bytes * times;
    latency_cycles += other.latency_cycles * times;
    wait_cycles += other.wait_cycles * times;
    idle_cycles += other.idle_cycles * times;
    return *this;
}

LevelReplay replay_levels(const LevelSpec& spec, const LevelLaunch& launch, Stop stop) {
    return Replay(spec, launch, stop).run();
}

}  // namespace tilescope::analysis
