#include "core/levels/replay.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/analysis/coalescing.h"
#include "core/base/prefetch.h"
#include "core/levels/sector_cache.h"
#include "core/levels/turns.h"

namespace tilescope::analysis {

namespace {

// Reads of a group of SMs that are under way, by line. A place of the table holds one line; what it held
// before is forgotten, which only matters while that is under way too.
class InFlight {
public:
    static constexpr uint32_t kPlaces = 4096;
    struct alignas(64) Line {
        uint64_t line = UINT64_MAX;
        // By sector: when L2 gives it, and how long before it was asked for.
        std::array<double, 4> given{-kNever, -kNever, -kNever, -kNever};
        std::array<float, 4> waited{};
    };
    explicit InFlight(size_t groups) : lines_(groups * kPlaces) {}
    Line& of(size_t group, uint64_t line) {
        Line& at = lines_[place_of(group, line)];
        if (at.line != line) at = Line{line};
        return at;
    }
    void prefetch(size_t group, uint64_t line) const {
        tilescope::prefetch(&lines_[place_of(group, line)], sizeof(Line));
    }

private:
    static size_t place_of(size_t group, uint64_t line) {
        const uint64_t mixed = (line * 0x9E37'79B9'7F4A'7C15u) >> 52;  // 12 bits
        return group * kPlaces + mixed;
    }
    std::vector<Line> lines_;
};

struct Running {
    uint64_t number = 0;
    std::shared_ptr<const BlockWork> work;
    LevelMisses* misses = nullptr;  // of its wave
    uint32_t unit = 0, end = 0;     // the one at hand, and behind the last one
    bool waits = false;             // its requests were sent, its work is to come
    // Units that later ones wait for: that unit, and when the data are there.
    std::vector<std::pair<uint32_t, double>> due;
};

struct Sm {
    std::vector<Running> blocks;       // the oldest first
    std::vector<uint64_t> first_line;  // of each of them, by slot: where Touch::line counts from
    Ready ready;
    double pipe_free = 0;
    size_t taken = 0;  // of LevelLaunch::of_sm
    uint32_t gpc = 0;
    double idle = 0;      // cycles in which none of its blocks had its data, and
    uint64_t ran = 0;     // blocks that have ended; of those that count
    uint64_t random = 0;  // what its chances come from

    // Its next turn: which of its blocks has it, and where that sends requests, the sectors of each touch
    // that are not in L1.
    size_t which = 0;
    std::vector<uint32_t> missing;

    uint32_t sent = 0;     // units, for the log, and
    uint64_t touched = 0;  // lines since the last copy of L1

    // From 0 to 1, the same in every replay. Which warp of a block sends its requests first is left to
    // chance, and so is what a unit waits longer on its way.
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
          wave_(std::max<uint64_t>(1, uint64_t{launch.sms} * launch.resident)),
          counted_(counted(launch)),
          by_wave_((counted_ + wave_ - 1) / wave_),
          sms_(launch.sms),
          l2_(l2_lines(spec)),
          in_flight_(gpcs() + 1),
          dram_cycles_((launch.pace == Pace::Apart ? spec.l2_cycles : spec.dram_cycles).value),
          dram_cycles_a_byte_(spec.clock_mhz.value * 1e6 / (launch.dram_gbs * 1e9)) {
        l1_.assign(launch.sms, SectorCache(launch.l1_bytes / kLineBytes));
        for (size_t sm = 0; sm < sms_.size(); ++sm) sms_[sm].random = sm + 1;
    }

    LevelReplay run() {
        place();
        Tournament turns(sms_.size());
        for (uint32_t sm = 0; sm < sms_.size(); ++sm) turns.set(sm, go_on(sm));
        for (uint64_t done = 0; left_ > 0; ++done) {
            if (stop_.at(done)) break;
            const auto sm = static_cast<uint32_t>(turns.first());
            if (turns.time(sm) == kNever) break;
            turn(sm, turns.time(sm));
            turns.set(sm, go_on(sm));
        }
        return result();
    }

private:
    struct Wave {
        LevelMisses misses;
        uint64_t touches = 0, of = 0;  // of the units that are simulated, and of all
        double times() const {
            return touches > 0 ? static_cast<double>(of) / static_cast<double>(touches) : 1;
        }
    };
    static constexpr uint32_t kFewestUnits = 16;  // of a block

    static uint64_t l2_lines(const LevelSpec& spec) {
        return static_cast<uint64_t>(spec.l2_useful_bytes()) / kLineBytes;
    }
    static uint64_t counted(const LevelLaunch& launch) {
        const uint64_t wave = std::max<uint64_t>(1, uint64_t{launch.sms} * launch.resident);
        const uint64_t waves = std::max(launch.most_blocks / wave, launch.least_waves);
        // The last wave of a launch runs with fewer and fewer blocks: nothing is gained by leaving it out.
        return launch.blocks / wave <= waves ? launch.blocks : waves * wave;
    }
    uint32_t gpcs() const { return std::max(1u, static_cast<uint32_t>(spec_.gpcs.value)); }

    // A GPC is SMs that get consecutive blocks: as many TPCs of two SMs for each, and one more for the last
    // of them where that does not come out even.
    void place() {
        left_ = counted_;
        std::vector<std::pair<uint64_t, uint32_t>> by_first;
        for (uint32_t sm = 0; sm < launch_.sms; ++sm)
            by_first.push_back({sm < launch_.of_sm.size() && !launch_.of_sm[sm].empty()
                                    ? launch_.of_sm[sm].front()
                                    : launch_.blocks + sm,
                                sm});
        if (!launch_.of_sm.empty()) std::sort(by_first.begin(), by_first.end());
        std::vector<std::vector<uint32_t>> of_gpc(gpcs());
        const auto sms = static_cast<uint32_t>(by_first.size());
        const uint32_t together = 2 * gpcs() <= sms ? 2 : 1, parts = (sms + together - 1) / together;
        for (uint32_t gpc = 0, part = 0; gpc < gpcs(); ++gpc) {
            const uint32_t last = part + parts / gpcs() + (gpc >= gpcs() - parts % gpcs());
            for (uint32_t i = part * together; i < std::min(last * together, sms); ++i) {
                sms_[by_first[i].second].gpc = gpc;
                of_gpc[gpc].push_back(by_first[i].second);
            }
            part = last;
        }
        fill(of_gpc);
    }

    // The GPCs take turns, each with a block for every one of its SMs. One of them does so in two halves, of
    // which one comes again after five turns and then after every six, and so is full earlier.
    // Source: tests/data/hardware/sms.txt, grids whose blocks say where they are, on an H200.
    void fill(std::vector<std::vector<uint32_t>>& of_gpc) {
        constexpr uint32_t kFirst = 5, kApart = 6;
        std::vector<uint32_t>& whole = of_gpc.front();
        const std::vector<uint32_t> half(whole.begin() + static_cast<std::ptrdiff_t>(whole.size() / 2),
                                         whole.end());
        whole.resize(whole.size() / 2);
        uint64_t before = 0;
        const auto give = [&](const std::vector<uint32_t>& sms) {
            for (const uint32_t sm : sms)
                if (sms_[sm].blocks.size() < std::min(launch_.resident, Ready::kMost)) take(sms_[sm], 0);
        };
        give(half);
        for (uint32_t turn = 0;; ++turn) {
            if (turn % kApart == kFirst) give(half);
            give(of_gpc[turn % of_gpc.size()]);
            if ((turn + 1) % of_gpc.size() != 0) continue;
            uint64_t running = 0;
            for (const Sm& sm : sms_) running += sm.blocks.size();
            if (running == before) return;
            before = running;
        }
    }

    void take(Sm& sm, double now) {
        uint64_t number = 0;
        if (launch_.of_sm.empty()) {
            if (next_ >= launch_.blocks) return;
            number = next_++;
        } else {
            const auto& own = launch_.of_sm[static_cast<size_t>(&sm - sms_.data())];
            if (sm.taken >= own.size()) return;
            number = own[sm.taken++];
        }
        Running running;
        running.number = number;
        PlacedBlock placed = launch_.block(number);
        running.work = std::move(placed.work);
        slots_ = running.work->first_line.size();
        for (size_t slot = 0; slot < slots_; ++slot)
            sm.first_line.push_back(running.work->first_line[slot] +
                                    static_cast<uint64_t>(placed.moved[slot]));
        begin(running);
        sm.blocks.push_back(std::move(running));
        sm.ready.add(now);
    }

    // Gives it its wave's part of its units. Blocks of the next wave get the units behind these, so that they
    // do not find in L2 what the other units of this wave would have evicted.
    void begin(Running& running) {
        const std::vector<Unit>& units = running.work->units;
        const auto all = static_cast<uint32_t>(units.size());
        const uint64_t wave = running.number / wave_;
        const auto count = std::clamp<uint32_t>(static_cast<uint32_t>(std::ceil(launch_.part * all)),
                                                std::min(all, kFewestUnits), all);
        if (count < all) running.unit = static_cast<uint32_t>(wave % (all / count)) * count;
        running.end = running.unit + count;
        running.misses = &beyond_;
        if (running.number >= counted_) return;
        Wave& own = by_wave_[wave];
        running.misses = &own.misses;
        const size_t touches = running.work->touches.size();
        own.of += touches;
        own.touches += (running.end < all ? units[running.end].first : touches) -
                       (running.unit < all ? units[running.unit].first : touches);
    }

    // Of the blocks that are ready the oldest. Blocks that have a warp for some of the SM's four schedulers
    // only compete with few others for theirs: of two of them that are ready, any two, the one that has
    // waited longer.
    size_t next_ready(Sm& sm, uint64_t ready) const {
        if (launch_.pace == Pace::InStep) return furthest_behind(sm, ready);
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
            if (const size_t other = bit_number(ready, 0); sm.blocks[other].unit < sm.blocks[behind].unit)
                behind = other;
        return behind;
    }

    // Takes an SM's turns, but for the next one that needs what all SMs share: requests not all of which find
    // their sectors in L1, or the end of a block. When that one is; kNever where there is none.
    double go_on(uint32_t number) {
        Sm& sm = sms_[number];
        for (;;) {
            const double now = sm.ready.next(sm.pipe_free);
            if (now == kNever) return now;
            sm.which = next_ready(sm, sm.ready.at(now));
            const Running& running = sm.blocks[sm.which];
            const bool sends = !running.waits && running.unit < running.end;
            if (sends ? !look_up(number, running) : running.unit + 1 >= running.end) return now;
            turn(number, now);
        }
    }

    void turn(uint32_t number, double now) {
        Sm& sm = sms_[number];
        const size_t which = sm.which;
        Running& running = sm.blocks[which];
        double ready = sm.ready.time(which);
        const BlockWork& work = *running.work;
        running.misses->idle_cycles += now - sm.pipe_free;
        if (running.number < counted_) sm.idle += now - sm.pipe_free;
        if (running.unit < running.end) {
            const Unit& unit = work.units[running.unit];
            if (!running.waits) {
                running.waits = true;
                sm.pipe_free = now + sm.busy(unit.load_cycles, spec_.send_share.value);
                const double here = load(number, which, unit, now);
                ready = here;
                if (unit.ahead > 0) {  // copies: the work goes on
                    running.due.push_back({running.unit + unit.ahead, here});
                    ready = sm.pipe_free;
                }
                sm.ready.set(which, ready, sm.pipe_free);
                return;
            }
            sm.pipe_free = now + sm.busy(unit.work_cycles,
                                         (work.barriers ? spec_.spread_share : spec_.drift_share).value);
            ready = std::max(sm.pipe_free, now + static_cast<double>(unit.chain_cycles));
            if (unit.ahead == 0) running.misses->latency_cycles += (ready - now) / warps_apart(work);
            running.waits = false;
            ++running.unit;
            std::erase_if(running.due, [&](const auto& due) {
                if (due.first > running.unit) return false;
                running.misses->wait_cycles += std::max(0.0, due.second - ready);
                ready = std::max(ready, due.second);
                return true;
            });
            if (running.unit < running.end) {
                sm.ready.set(which, ready, sm.pipe_free);
                return;
            }
        }
        if (running.number < counted_) --left_, ++sm.ran, last_end_ = std::max(last_end_, ready);
        sm.blocks.erase(sm.blocks.begin() + static_cast<std::ptrdiff_t>(which));
        const auto first_line = sm.first_line.begin() + static_cast<std::ptrdiff_t>(which * slots_);
        sm.first_line.erase(first_line, first_line + static_cast<std::ptrdiff_t>(slots_));
        sm.ready.remove(which);
        take(sm, ready);
    }

    // Warps without barriers wait and work each on its own. Of what a block keeps its SM busy for, one takes
    // the share that it has of the warps of its scheduler.
    static double warps_apart(const BlockWork& work) {
        return work.barriers ? 1 : std::max(1.0, static_cast<double>(work.warps) / kSchedulers);
    }

    // Their requests go through the data pipe, which all warps of the SM share: one is kept waiting by no
    // more than its own where the others send theirs at other times.
    static double warps_sending(const BlockWork& work) {
        return work.barriers ? 1 : std::max<double>(work.warps, 1);
    }

    // Sends a unit's requests; when the last of its sectors has come.
    double load(uint32_t number, size_t which, const Unit& unit, double now) {
        Sm& sm = sms_[number];
        const Running& running = sm.blocks[which];
        const uint64_t* const first_line = sm.first_line.data() + which * slots_;
        LevelMisses& misses = *running.misses;
        const double sent = now + static_cast<double>(unit.load_cycles);
        if (launch_.log)
            launch_.log->sent.push_back({static_cast<uint32_t>(running.number), running.unit, number,
                                         static_cast<float>(now), launch_.log->found.size()});
        if (!unit.loads && unit.count == 0) return sent;
        double until = sent + spec_.l1_cycles.value;
        const BlockWork& work = *running.work;
        if (!work.barriers) std::fill_n(until_.begin(), warps_waiting(work.warps), until);
        const Touch* const touches = work.touches.data() + unit.first;
        const double sending = sent - now;
        touched_ += unit.count;
        for (uint32_t i = 0; i < unit.count; ++i) {
            const Touch& touch = touches[i];
            const uint64_t line = first_line[touch.slot] + touch.line;
            found_ = 0;
            if (touch.store) {
                l2_.touch(line, touch.sectors);
                if (launch_.log) launch_.log->found.push_back(found_);
                continue;
            }
            if (const uint32_t missing = sm.missing[i]) {
                misses.l1_missed_lines += 1;
                const double here = fetch(sm.gpc, line, missing, now + sending * sm.chance(), misses);
                until = std::max(until, here);
                if (!work.barriers) wait_for(here, work.warps_of[unit.first + i]);
            }
            if (launch_.log) launch_.log->found.push_back(found_);
        }
        until = sent + (until - sent) * unit.turns;
        const double wait = work.barriers ? until - sent : (mean_until(work.warps) - sent) * unit.turns;
        // Where later units wait for the data, as many waits overlap, and the work between hides them.
        misses.latency_cycles += (sending / warps_sending(work) + wait) / std::max<double>(unit.ahead, 1);
        if (unit.ahead == 0) misses.wait_cycles += wait;
        return until + sm.chance() * (work.barriers ? spec_.spread_cycles : spec_.drift_cycles).value;
    }

    // Finds which sectors of each touch of the unit at hand are not in L1; whether that is none, and it
    // stores nothing. The tables of all L1, of L2 and of reads in flight are larger than the caches of the
    // machine that simulates, so their entries are prefetched.
    bool look_up(uint32_t number, const Running& running) {
        Sm& sm = sms_[number];
        SectorCache& l1 = l1_[number];
        const uint64_t* const first_line = sm.first_line.data() + sm.which * slots_;
        const Unit& unit = running.work->units[running.unit];
        const Touch* const touches = running.work->touches.data() + unit.first;
        for (uint32_t i = 0; i < unit.count; ++i) l1.prefetch(first_line[touches[i].slot] + touches[i].line);
        sm.missing.assign(unit.count, 0);
        if (launch_.log) keep_copy(number, unit.count);
        bool all_hit = true;
        for (uint32_t i = 0; i < unit.count; ++i) {
            const Touch& touch = touches[i];
            const uint64_t line = first_line[touch.slot] + touch.line;
            if (!touch.store) sm.missing[i] = touch.sectors & ~l1.touch(line, touch.sectors);
            if (!touch.store && sm.missing[i] == 0) continue;
            all_hit = false;
            l2_.prefetch(line);
            if (!touch.store) in_flight_.prefetch(sm.gpc, line);
        }
        return all_hit;
    }

    // For the log a copy of L1 now and then, before a unit that touches so many lines.
    void keep_copy(uint32_t number, uint32_t lines) {
        Sm& sm = sms_[number];
        if (sm.touched >= LevelLog::kLinesBetween) {
            launch_.log->copies.push_back({number, sm.sent, l1_[number]});
            sm.touched = 0;
        }
        ++sm.sent;
        sm.touched += lines;
    }

    // Warps, bit by bit, whose data are not all there before `here`.
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

    void find(uint32_t sector, FoundIn in) {
        found_ |= static_cast<uint8_t>(static_cast<uint32_t>(in) << 2 * sector);
    }

    double fetch(uint32_t gpc, uint64_t line, uint32_t missing, double now, LevelMisses& misses) {
        InFlight::Line& flight = in_flight_.of(gpc, line);
        const double merge = spec_.merge_cycles.value, from_l2 = spec_.l2_cycles.value;
        double until = now;
        uint32_t asked = 0;
        for (uint32_t left = missing; left != 0; left &= left - 1) {
            const auto sector = static_cast<uint32_t>(std::countr_zero(left));
            misses.l1_misses += 1;
            const double given = flight.given[sector];
            if (given + merge > now && given - static_cast<double>(flight.waited[sector]) <= now + merge)
                until = std::max(until, given + from_l2), find(sector, FoundIn::InFlight);
            else
                asked |= 1u << sector;
        }
        if (asked == 0) return until;
        const uint32_t found = l2_.touch(line, asked);
        // When its sectors come from DRAM, for whoever asks for them before.
        InFlight::Line* const coming = launch_.awaited ? &in_flight_.of(gpcs(), line) : nullptr;
        double from_dram = 0;  // given by L2 at the earliest
        if (const uint32_t absent = asked & ~found) {
            const uint32_t fetched = fetched_with(absent);
            l2_.fill_too(line, fetched);
            const double bytes = kSectorBytes * std::popcount(fetched);
            misses.dram_read_bytes += bytes;
            dram_free_ = std::max(dram_free_, now) + bytes * dram_cycles_a_byte_;
            from_dram = dram_free_ + dram_cycles_ - from_l2;
            for (uint32_t sector = 0; coming && sector < 4; ++sector)
                if ((fetched & ~found) >> sector & 1) coming->given[sector] = from_dram;
        }
        for (uint32_t left = asked; left != 0; left &= left - 1) {
            const auto sector = static_cast<uint32_t>(std::countr_zero(left));
            misses.l2_read_sectors += 1;
            const bool in_l2 = found >> sector & 1;
            find(sector, in_l2 ? FoundIn::L2 : FoundIn::Dram);
            l2_free_ = std::max(l2_free_, now) + kSectorBytes / spec_.l2_per_clock.value;
            double given = l2_free_;
            if (!in_l2) given = from_dram;
            if (in_l2 && coming) given = std::max(given, coming->given[sector]);
            flight.given[sector] = given;
            flight.waited[sector] = static_cast<float>(given - now);
            until = std::max(until, given + from_l2);
        }
        return until;
    }

    // The sectors that come along: all of the aligned pieces that a fetch from DRAM has.
    uint32_t fetched_with(uint32_t sectors) const {
        const auto many = static_cast<uint32_t>(spec_.fetch_bytes.value) / kSectorBytes;
        if (many >= 4) return 15;
        if (many < 2) return sectors;
        return sectors | (sectors & 5) << 1 | (sectors & 10) >> 1;
    }

    LevelReplay result() const {
        LevelReplay replay;
        replay.simulated = counted_;
        replay.cycles = last_end_;
        replay.touched = touched_;
        Wave all;
        for (const Wave& wave : by_wave_) {
            replay.misses.add(wave.misses, wave.times());
            all.touches += wave.touches, all.of += wave.of;
        }
        replay.part = 1 / all.times();
        if (counted_ < launch_.blocks) {
            LevelMisses later;
            const size_t from = by_wave_.size() / 2;
            for (size_t i = from; i < by_wave_.size(); ++i)
                later.add(by_wave_[i].misses, by_wave_[i].times());
            const auto sampled = static_cast<double>(counted_ - from * wave_);
            replay.misses.add(later, static_cast<double>(launch_.blocks - counted_) / sampled);
        }
        replay.misses.idle_cycles *= idle_of_busiest();
        return replay;
    }

    // What SMs that run most blocks idle, as a share of what all do on average, if it is less.
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
    uint64_t wave_, counted_;  // blocks
    std::vector<Wave> by_wave_;
    LevelMisses beyond_;  // of blocks that run beside the last ones that count
    std::vector<Sm> sms_;
    std::array<double, kWarpSize> until_;  // when the data of each warp of the unit at hand are there
    std::vector<SectorCache> l1_;
    SectorCache l2_;
    InFlight in_flight_;
    double dram_cycles_, dram_cycles_a_byte_, l2_free_ = 0, dram_free_ = 0, last_end_ = 0;
    size_t slots_ = 0;
    uint64_t next_ = 0, left_ = 0, touched_ = 0;
    uint8_t found_ = 0;  // of the touch at hand, as LevelLog::found has it
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
