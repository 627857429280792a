// A recording as Chrome trace events (JSON), which ui.perfetto.dev and chrome://tracing open.
//
//   process   a block: "block 1,0", with its SM on a GPU
//   thread    a warp of it
//   X         a request, from its step to the warp's next one; a barrier, from the warp's arrival to the
//             barrier's opening, which is the arrival of the last warp. What is between that and the warp's
//             next request is no event: nothing was recorded there
//   C         sectors and wavefronts of the block so far, sampled where there are very many steps
//   M         names and order of processes and threads
//
//   GPU   ts is the SM's clock in microseconds at the rate that the driver states, from the first recorded
//         clock of that SM on: blocks of one SM stand as they ran, clocks of two SMs cannot be compared
//   CPU   ts is the step's number, a microsecond each: an order, no time; otherData says so
//
// Events of a track must nest, so none may reach past the next one's start. Times are whole nanoseconds; on a
// GPU an event ends one before the next begins, since readers take fractions of microseconds as floating
// point and may lose one. Thread numbers are unique over all processes: some readers tell threads apart by
// them alone. Process 0 is left to the operating systems that have one.
//
// Size: a million steps are about 220 MB of JSON. A browser's Perfetto has to fit into the browser's limit of
// memory (typically 2 GB), several times the trace; beyond that, choose blocks or steps, or run its
// trace_processor beside it.
//
// Sources: "Trace Event Format" (Google), sections "Complete Events", "Counter Events", "Metadata Events";
// perfetto.dev, "FAQ" (overlapping events in JSON traces), "Visualising large traces".
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "core/export/report.h"
#include "core/export/requests.h"

namespace tilescope::report {
namespace {

std::string quoted(const std::string& text) { return json_text(nlohmann::json(text)); }

// Where steps stand on the axis, in nanoseconds.
class EventAxis {
public:
    EventAxis(const trace::Trace& trace, const Selected& selected)
        : trace_(trace),
          timed_(report::timed(trace)),
          stated_(trace.meta.price.clock_mhz >= 1 && trace.meta.price.clock_mhz <= kMostMhz),
          mhz_(stated_ ? trace.meta.price.clock_mhz : 1000) {
        for (uint32_t i = 0; i < trace.blocks.size(); ++i) {
            if (selected.block >= 0 && selected.block != i) continue;
            const trace::Block& block = trace.blocks[i];
            auto& zero = zero_.try_emplace(block.sm, block.clock).first->second;
            zero = std::min(zero, block.clock);
        }
    }

    bool timed() const { return timed_; }

    uint64_t of(uint32_t block, uint64_t step) const {
        if (!timed_) return step * 1000;
        const trace::Block& b = trace_.blocks[block];
        const uint64_t clocks = b.clock - zero_.at(b.sm) + trace_.time[step];
        return static_cast<uint64_t>(
            std::floor(std::min(static_cast<double>(clocks) * 1000 / mhz_, kMostNs)));
    }
    // The least that an event takes: a clock, or a step.
    uint64_t unit() const { return timed_ ? std::max(1u, static_cast<unsigned>(1000 / mhz_)) : 1000; }
    uint64_t short_of_next() const { return timed_ ? 1 : 0; }

    std::string words() const {
        if (!timed_)
            return "ts is the number of the step, a microsecond each: an order, not a time, and the blocks "
                   "one after the other";
        return fmt::format(
            "SM clocks at {} MHz{}, from each SM's first recorded clock; clocks of two SMs cannot be "
            "compared",
            mhz_, stated_ ? "" : " (the recording states no rate: a nanosecond each)");
    }

private:
    const trace::Trace& trace_;
    static constexpr double kMostMhz = 1e6;  // no device's clock is faster; nor slower than 1 MHz
    static constexpr double kMostNs = 9e18;  // 285 years

    bool timed_, stated_;
    double mhz_;
    std::map<uint32_t, uint64_t> zero_;  // by SM
};

// Microseconds, with as many digits as nanoseconds need.
std::string us(uint64_t ns) {
    return ns % 1000 == 0 ? fmt::to_string(ns / 1000) : fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

struct Pending {
    bool there = false;
    uint64_t step = 0, ts = 0;
    uint32_t phase = 0, interval = 0;
    analysis::Cost cost;
};

class EventWriter {
public:
    EventWriter(const analysis::Recording& recording, const Selected& selected, const Take& take)
        : recording_(recording),
          trace_(*recording.trace),
          selected_(selected),
          axis_(trace_, selected),
          costs_(trace_),
          out_(take),
          stride_(steps_in(trace_, selected) / kMostCounterSamples + 1) {
        for (const trace::Form& form : trace_.forms) {
            const ptx::Site& site = trace_.sites[form.site];
            const std::string_view array = array_of(trace_, form);
            names_.push_back(
                quoted(site.kind == ptx::SiteKind::Exchange ? std::string(name_of(site.exchange))
                       : site.signal != ptx::Signal::None
                           ? "mbarrier " + std::string(name_of(site.signal))
                           : std::string(name_of(site.kind)) + (array.empty() ? "" : " " + one_line(array))));
        }
    }

    bool write(const ExportProgress& progress) {
        head();
        for (uint32_t block = 0; block < trace_.blocks.size(); ++block) {
            if (!selects(block)) continue;
            if (!write_block(block, progress)) return false;
        }
        out_.add_text("\n]}\n");
        return out_.flush();
    }

private:
    bool selects(uint32_t block) const {
        Selected one = selected_;
        if (one.block >= 0 && one.block != block) return false;
        one.block = block;
        return steps_in(trace_, one) > 0;
    }
    bool selects_step(uint64_t step) const { return step >= selected_.first && step < selected_.end; }

    void head() {
        const trace::Meta& meta = trace_.meta;
        out_.add(
            "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{\"tool\":{},\"kernel\":{},\"device\":{},"
            "\"launch\":{},\"time\":{}",
            quoted("tilescope " + meta.tool_version), quoted(meta.kernel), quoted(meta.device),
            quoted(launch_words()), quoted(axis_.words()));
        if (!whole(trace_)) out_.add(",\"incomplete\":{}", quoted(why_not_whole(trace_)));
        if (stride_ > 1) out_.add(",\"counters\":\"every {}th step\"", stride_);
        out_.add_text("},\"traceEvents\":[");
    }

    std::string launch_words() const {
        const auto& product = recording_.product;
        if (!product) return analysis::launch_text(recording_);
        return fmt::format("m={} k={} n={}{}", product->m, product->k, product->n,
                           product->tile > 0 ? fmt::format(" T={}", product->tile) : "");
    }

    void begin_event() {
        out_.add_text(first_ ? "\n" : ",\n");
        first_ = false;
    }

    void name(const char* what, uint32_t pid, uint32_t tid, const std::string& text, const char* sort,
              uint32_t order) {
        begin_event();
        out_.add(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}},)", what, pid, tid,
                 quoted(text));
        out_.add("\n");
        out_.add(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", sort, pid, tid,
                 order);
    }

    static uint32_t pid_of(uint32_t block) { return block + 1; }
    static uint32_t tid_of(uint32_t block, uint32_t warp) {
        return block * trace::kMaxWarpsPerBlock + warp + 1;
    }

    // A warp's line is named when its first step comes.
    void name_block(uint32_t block) {
        const trace::Block& b = trace_.blocks[block];
        std::string text = fmt::format("block {},{}", b.x, b.y);
        if (trace_.launch.grid.z > 1) text += fmt::format(",{}", b.z);
        if (axis_.timed()) text += fmt::format(" (SM {})", b.sm);
        name("process_name", pid_of(block), tid_of(block, 0), text, "process_sort_index", block);
    }

    // The latest arrival at each barrier of the block; as far as it came, where it was stopped.
    std::vector<uint64_t> openings(uint32_t block, const ExportProgress& progress) const {
        std::vector<uint64_t> opens(1, 0);
        std::array<uint32_t, trace::kMaxWarpsPerBlock> passed{};
        const trace::Block& b = trace_.blocks[block];
        for (uint64_t step = b.first; step < b.first + b.count && !progress.stop.at(step); ++step) {
            if (trace_.sites[trace_.form_of(step).site].kind != ptx::SiteKind::Barrier) continue;
            const uint32_t barrier = passed[trace_.warp_of(step) % trace::kMaxWarpsPerBlock]++;
            if (barrier >= opens.size()) opens.resize(barrier + size_t{1}, 0);
            opens[barrier] = std::max(opens[barrier], axis_.of(block, step));
        }
        return opens;
    }

    // end: where the warp's next step stands; none for its last.
    void event(uint32_t block, uint32_t warp, const Pending& at, const std::vector<uint64_t>& opens,
               std::optional<uint64_t> end) {
        if (!selects_step(at.step)) return;
        const trace::Form& form = trace_.form_of(at.step);
        const ptx::Site& site = trace_.sites[form.site];
        const bool barrier = site.kind == ptx::SiteKind::Barrier;
        uint64_t until = at.ts + axis_.unit();
        if (barrier)
            until = std::max(until, opens[std::min<size_t>(at.interval, opens.size() - 1)]);
        else if (end)
            until = *end;
        if (end) until = std::min(until, std::max(at.ts, *end - std::min(*end, axis_.short_of_next())));
        begin_event();
        out_.add(R"({{"name":{},"cat":"{}","ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"step":{})",
                 names_[trace_.key[at.step] & 0xFFFFFF],
                 ptx::asks_memory(site.kind) ? name_of(form.space) : name_of(site.kind), pid_of(block),
                 tid_of(block, warp), us(at.ts), us(until - at.ts), at.step + 1);
        out_.add(R"(,"phase":"{}","site":{},"line":{},"lanes":{},"mask":"{:#010x}")", phase_text(at.phase),
                 site.id, site.line, std::popcount(form.mask), form.mask);
        if (site.kind == ptx::SiteKind::Exchange)
            out_.add(R"(,"from":"{}")", exchanged(trace_, trace::decode(trace_, at.step)));
        if (ptx::asks_memory(site.kind)) {
            StepRow row;
            row.step = at.step;
            row.form = &form;
            if (const auto first = element_at(trace_, form.array, first_offset(trace_, row)))
                out_.add(R"(,"first":"{}")",
                         index_text(trace_.launch.arrays[form.array], static_cast<int64_t>(*first)));
            add_costs(out_, trace_, form, at.cost);
        }
        out_.add_text("}}");
    }

    struct Counter {
        const char* name;
        uint64_t now = 0, shown = UINT64_MAX;
    };
    void count(Counter& counter, uint32_t block, uint64_t ts) {
        if (counter.now == counter.shown) return;
        counter.shown = counter.now;
        begin_event();
        out_.add(R"({{"name":"{0} so far","ph":"C","pid":{1},"tid":{2},"ts":{3},"args":{{"{0}":{4}}}}})",
                 counter.name, pid_of(block), tid_of(block, 0), us(ts), counter.now);
    }

    bool write_block(uint32_t block, const ExportProgress& progress) {
        const trace::Block& b = trace_.blocks[block];
        const std::vector<uint64_t> opens = openings(block, progress);
        analysis::PhaseWalk walk(trace_, recording_.rule);
        walk.enter(block);
        const uint64_t last = std::min(b.first + b.count, selected_.end) - 1;
        std::array<Pending, trace::kMaxWarpsPerBlock> pending;
        std::array<bool, trace::kMaxWarpsPerBlock> named{};
        Counter sectors{"sectors"}, wavefronts{"wavefronts"};
        name_block(block);
        for (uint64_t i = 0; i < b.count; ++i) {
            const uint64_t step = b.first + i, ts = axis_.of(block, step);
            if (progress.stop.at(step)) return false;
            const auto [phase, interval] = walk.next();
            const uint32_t warp = trace_.warp_of(step) % trace::kMaxWarpsPerBlock;
            if (pending[warp].there) event(block, warp, pending[warp], opens, ts);
            const analysis::Cost& cost = costs_.of(step);
            pending[warp] = {true, step, ts, phase, interval, cost};
            sectors.now += cost.global.sectors;
            wavefronts.now += cost.shared.wavefronts;
            if (selects_step(step)) {
                if (!named[warp])
                    name("thread_name", pid_of(block), tid_of(block, warp), fmt::format("warp {}", warp),
                         "thread_sort_index", warp);
                named[warp] = true;
                if (i % stride_ == 0 || step == last) {
                    count(sectors, block, ts);
                    count(wavefronts, block, ts);
                }
                progress.add(1);
            }
            if (!out_.good()) return false;
        }
        for (uint32_t warp = 0; warp < pending.size(); ++warp)
            if (pending[warp].there) event(block, warp, pending[warp], opens, std::nullopt);
        return out_.good();
    }

    const analysis::Recording& recording_;
    const trace::Trace& trace_;
    Selected selected_;
    EventAxis axis_;
    analysis::CostTable costs_;
    Pieces out_;
    uint64_t stride_;                 // steps between samples of the counters
    std::vector<std::string> names_;  // of events, by form, as JSON
    bool first_ = true;
};

}  // namespace

bool write_perfetto(const analysis::Recording& recording, const Selected& selected, const Take& take,
                    ExportProgress progress) {
    return EventWriter(recording, selected, take).write(progress);
}

}  // namespace tilescope::report
