#include "core/analysis/levels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "core/analysis/coalescing.h"
#include "core/analysis/sector_cache.h"

namespace tilescope::analysis {

namespace {

// Reads of a group of SMs that are under way, by line. A place of the table holds one line; what it held
// before is forgotten, which only matters while that is under way too.
class InFlight {
public:
    static constexpr uint32_t kPlaces = 4096;
    struct Line {
        uint64_t line = UINT64_MAX;
        // When its sectors were asked for, until when who asks for them too is given them, and when they
        // come.
        std::array<double, 4> sent{}, shared_until{}, here{};
    };
    explicit InFlight(size_t groups) : lines_(groups * kPlaces) {}
    Line& of(size_t group, uint64_t line) {
        const uint64_t mixed = (line * 0x9E37'79B9'7F4A'7C15u) >> 52;  // 12 bits
        return lines_[group * kPlaces + mixed];
    }

private:
    std::vector<Line> lines_;
};

struct Running {
    uint64_t number = 0;
    PlacedBlock block;
    std::vector<uint64_t> first_line;  // by slot: where Touch::line counts from
    uint32_t unit = 0;
    bool waits = false;  // its requests were sent, its work is to come
    double ready = 0;
    // Units that later ones wait for: that unit, and when the data are there.
    std::vector<std::pair<uint32_t, double>> due;
};

struct Sm {
    std::vector<Running> blocks;  // the oldest first
    double pipe_free = 0;
    size_t taken = 0;  // of LevelLaunch::of_sm
    uint32_t gpc = 0;
    double idle = 0;   // cycles in which none of its blocks had its data, and
    uint64_t ran = 0;  // blocks that have ended; of those that count
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
    }

    LevelReplay run() {
        place();
        std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
        for (uint32_t sm = 0; sm < sms_.size(); ++sm)
            if (!sms_[sm].blocks.empty()) turns.push({next_of(sms_[sm]), sm});
        for (uint64_t done = 0; !turns.empty() && left_ > 0; ++done) {
            if (stop_.at(done)) break;
            const auto [time, sm] = turns.top();
            turns.pop();
            turn(sm, time);
            if (!sms_[sm].blocks.empty()) turns.push({next_of(sms_[sm]), sm});
        }
        return result();
    }

private:
    struct Turn {
        double time = 0;
        uint32_t sm = 0;
        auto operator<=>(const Turn&) const = default;
    };

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
                if (sms_[sm].blocks.size() < launch_.resident) take(sms_[sm], 0);
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
        running.block = launch_.block(number);
        running.first_line = running.block.work->first_line;
        for (size_t slot = 0; slot < running.first_line.size(); ++slot)
            running.first_line[slot] += static_cast<uint64_t>(running.block.moved[slot]);
        running.ready = now;
        sm.blocks.push_back(std::move(running));
    }

    static double next_of(const Sm& sm) {
        double ready = sm.blocks.front().ready;
        for (const Running& block : sm.blocks) ready = std::min(ready, block.ready);
        return std::max(ready, sm.pipe_free);
    }

    // The oldest block that is ready. Blocks that have a warp for some of the SM's four schedulers only
    // compete with few others for theirs: of two of them that are ready, any two, the one that has waited
    // longer.
    Running& next_ready(Sm& sm, double now) {
        if (launch_.pace == Pace::InStep) return furthest_behind(sm, now);
        if (sm.blocks.front().block.work->warps < kSchedulers) {
            ready_.clear();
            for (Running& block : sm.blocks)
                if (block.ready <= now) ready_.push_back(&block);
            const auto any = [&] {
                return ready_[static_cast<size_t>(chance() * static_cast<double>(ready_.size()))];
            };
            Running* const one = any();
            Running* const other = any();
            return other->ready < one->ready ? *other : *one;
        }
        return *std::find_if(sm.blocks.begin(), sm.blocks.end(),
                             [&](const Running& block) { return block.ready <= now; });
    }
    static Running& furthest_behind(Sm& sm, double now) {
        return *std::min_element(
            sm.blocks.begin(), sm.blocks.end(),
            [&](const Running& a, const Running& b) {
                const bool a_waits = a.ready > now, b_waits = b.ready > now;
                return a_waits != b_waits ? b_waits : a.unit < b.unit;
            });
    }

    void turn(uint32_t number, double now) {
        Sm& sm = sms_[number];
        Running& running = next_ready(sm, now);
        const auto which = &running - sm.blocks.data();
        const BlockWork& work = *running.block.work;
        misses_of(running).idle_cycles += now - sm.pipe_free;
        if (running.number < counted_) sm.idle += now - sm.pipe_free;
        if (running.unit < work.units.size()) {
            const Unit& unit = work.units[running.unit];
            if (!running.waits) {
                running.waits = true;
                sm.pipe_free = now + busy(unit.load_cycles, spec_.send_share.value);
                const double here = load(number, running, unit, now);
                running.ready = here;
                if (unit.ahead > 0) {  // copies: the work goes on
                    running.due.push_back({running.unit + unit.ahead, here});
                    running.ready = sm.pipe_free;
                }
                return;
            }
            sm.pipe_free =
                now + busy(unit.work_cycles, (work.barriers ? spec_.spread_share : spec_.drift_share).value);
            running.ready = std::max(sm.pipe_free, now + static_cast<double>(unit.chain_cycles));
            if (unit.ahead == 0)
                misses_of(running).latency_cycles += (running.ready - now) / warps_apart(work);
            running.waits = false;
            ++running.unit;
            std::erase_if(running.due, [&](const auto& due) {
                if (due.first > running.unit) return false;
                misses_of(running).wait_cycles += std::max(0.0, due.second - running.ready);
                running.ready = std::max(running.ready, due.second);
                return true;
            });
            if (running.unit < work.units.size()) return;
        }
        const double end = running.ready;
        if (running.number < counted_) --left_, ++sm.ran, last_end_ = std::max(last_end_, end);
        sm.blocks.erase(sm.blocks.begin() + which);
        take(sm, end);
    }

    LevelMisses& misses_of(const Running& running) {
        return running.number < counted_ ? by_wave_[running.number / wave_] : beyond_;
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
    double load(uint32_t number, const Running& running, const Unit& unit, double now) {
        LevelMisses& misses = misses_of(running);
        const double sent = now + static_cast<double>(unit.load_cycles);
        if (launch_.log)
            launch_.log->sent.push_back({static_cast<uint32_t>(running.number), running.unit, number,
                                         static_cast<float>(now), launch_.log->found.size()});
        if (!unit.loads && unit.count == 0) return sent;
        double until = sent + spec_.l1_cycles.value;
        const BlockWork& work = *running.block.work;
        if (!work.barriers) until_.fill(until);
        const Touch* const touches = work.touches.data() + unit.first;
        const double sending = sent - now;
        touched_ += unit.count;
        for (uint32_t i = 0; i < unit.count; ++i) {
            const Touch& touch = touches[i];
            const uint64_t line = running.first_line[touch.slot] + touch.line;
            found_ = 0;
            if (touch.store) {
                l2_.touch(line, touch.sectors);
                if (launch_.log) launch_.log->found.push_back(found_);
                continue;
            }
            const uint32_t missing = touch.sectors & ~l1_[number].touch(line, touch.sectors);
            if (missing) {
                misses.l1_missed_lines += 1;
                const double here = fetch(sms_[number].gpc, line, missing, now + sending * chance(), misses);
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
        return until + chance() * (work.barriers ? spec_.spread_cycles : spec_.drift_cycles).value;
    }

    // Warps, bit by bit, whose data are not all there before `here`.
    void wait_for(double here, uint32_t warps) {
        for (; warps != 0; warps &= warps - 1) {
            double& until = until_[static_cast<size_t>(std::countr_zero(warps))];
            until = std::max(until, here);
        }
    }
    double mean_until(uint32_t warps) const {
        warps = std::clamp<uint32_t>(warps, 1, kWarpSize);
        return std::accumulate(until_.begin(), until_.begin() + warps, 0.0) / warps;
    }

    // From 0 to 1, the same in every replay. Which warp of a block sends its requests first is left to
    // chance, and so is what a unit waits longer on its way.
    double chance() {
        random_ = random_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(random_ >> 40) * 0x1p-24;
    }

    void find(uint32_t sector, FoundIn in) {
        found_ |= static_cast<uint8_t>(static_cast<uint32_t>(in) << 2 * sector);
    }

    double busy(float cycles, double share) { return static_cast<double>(cycles) * (1 + chance() * share); }

    double fetch(uint32_t gpc, uint64_t line, uint32_t missing, double now, LevelMisses& misses) {
        InFlight::Line& flight = in_flight_.of(gpc, line);
        if (flight.line != line) flight = {line, {}, {}};
        double until = now;
        uint32_t asked = 0;
        for (uint32_t sector = 0; sector < 4; ++sector) {
            if (!(missing >> sector & 1)) continue;
            misses.l1_misses += 1;
            if (flight.shared_until[sector] > now && flight.sent[sector] <= now + spec_.merge_cycles.value)
                until = std::max(until, flight.here[sector]), find(sector, FoundIn::InFlight);
            else
                asked |= 1u << sector;
        }
        if (asked == 0) return until;
        const uint32_t found = l2_.touch(line, asked);
        // When its sectors come from DRAM, for whoever asks for them before.
        InFlight::Line* const coming = launch_.awaited ? &in_flight_.of(gpcs(), line) : nullptr;
        if (coming && coming->line != line) *coming = {line, {}, {}, {}};
        double from_dram = 0;
        if (const uint32_t absent = asked & ~found) {
            const uint32_t fetched = fetched_with(absent);
            l2_.fill_too(line, fetched);
            const double bytes = kSectorBytes * std::popcount(fetched);
            misses.dram_read_bytes += bytes;
            dram_free_ = std::max(dram_free_, now) + bytes * dram_cycles_a_byte_;
            from_dram = dram_free_ + dram_cycles_;
            for (uint32_t sector = 0; coming && sector < 4; ++sector)
                if ((fetched & ~found) >> sector & 1) coming->here[sector] = from_dram;
        }
        for (uint32_t sector = 0; sector < 4; ++sector) {
            if (!(asked >> sector & 1)) continue;
            misses.l2_read_sectors += 1;
            const bool in_l2 = found >> sector & 1;
            find(sector, in_l2 ? FoundIn::L2 : FoundIn::Dram);
            flight.sent[sector] = now;
            l2_free_ = std::max(l2_free_, now) + kSectorBytes / spec_.l2_per_clock.value;
            double given = l2_free_, here = given + spec_.l2_cycles.value;  // by L2, and to the SM
            const double comes = !in_l2 ? from_dram : coming ? coming->here[sector] : 0;
            if (!in_l2 || comes > here) here = comes, given = here - spec_.l2_cycles.value;
            flight.here[sector] = here;
            flight.shared_until[sector] = given + spec_.merge_cycles.value;
            until = std::max(until, here);
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
        for (const LevelMisses& wave : by_wave_) replay.misses += wave;
        if (counted_ < launch_.blocks) {
            LevelMisses later;
            const size_t from = by_wave_.size() / 2;
            for (size_t i = from; i < by_wave_.size(); ++i) later += by_wave_[i];
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
    std::vector<LevelMisses> by_wave_;
    LevelMisses beyond_;  // of blocks that run beside the last ones that count
    std::vector<Sm> sms_;
    std::vector<Running*> ready_;          // of the SM at hand
    std::array<double, kWarpSize> until_;  // when the data of each warp of the unit at hand are there
    std::vector<SectorCache> l1_;
    SectorCache l2_;
    InFlight in_flight_;
    double dram_cycles_, dram_cycles_a_byte_, l2_free_ = 0, dram_free_ = 0, last_end_ = 0;
    uint64_t next_ = 0, left_ = 0, touched_ = 0, random_ = 1;
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
