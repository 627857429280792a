#include "app/race/model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "core/analysis/reuse.h"
#include "core/base/words.h"
#include "core/recording/cell_map.h"
#include "core/trace/access.h"
#include "core/trace/claims.h"

namespace tilescope::race {
namespace {

using analysis::StepKind;

constexpr uint32_t kMostBins = 128;  // along a side of a map
constexpr uint64_t kMostScanned =
    4'000'000;  // steps of a block in which the tiles of its phases are looked for

uint32_t elements_of_bin(const Map& map, uint32_t bin) {
    const uint64_t row = uint64_t{bin / map.bin_cols} * map.side,
                   col = uint64_t{bin % map.bin_cols} * map.side;
    const uint64_t row_end = std::min<uint64_t>(row + map.side, map.rows),
                   col_end = std::min<uint64_t>(col + map.side, map.width);
    if (row >= row_end || col >= col_end) return 0;
    // The last row may end early.
    const uint64_t last = map.elements - std::min(map.elements, (uint64_t{map.rows} - 1) * map.width),
                   wide = col_end - col;
    if (row_end < map.rows || last >= col_end) return static_cast<uint32_t>((row_end - row) * wide);
    return static_cast<uint32_t>((row_end - 1 - row) * wide + (last > col ? last - col : 0));
}

Map map_of(const Array& array, uint8_t number) {
    Map map;
    map.array = number;
    map.elements = array.elements();
    const auto round_up = [](uint64_t value, uint64_t to) { return (value + to - 1) / to * to; };
    map.width = std::max<uint64_t>(array.cols, 1);
    if (array.rank == 1) {
        // About as wide as high, in whole widths of a warp.
        const auto square = static_cast<uint64_t>(std::ceil(std::sqrt(static_cast<double>(map.elements))));
        map.width = std::min(map.width, std::max<uint64_t>(round_up(square, kWarpSize), kWarpSize));
    }
    map.cols = static_cast<uint32_t>(map.width);
    map.rows = static_cast<uint32_t>(std::max<uint64_t>((map.elements + map.width - 1) / map.width, 1));
    map.side = std::max((std::max(map.rows, map.cols) + kMostBins - 1) / kMostBins, 1u);
    map.bin_rows = (map.rows + map.side - 1) / map.side;
    map.bin_cols = (map.cols + map.side - 1) / map.side;
    map.first.assign(1, 0);
    map.elements_of.resize(size_t{map.bin_rows} * map.bin_cols);
    for (uint32_t bin = 0; bin < map.elements_of.size(); ++bin)
        map.elements_of[bin] = elements_of_bin(map, bin);
    return map;
}

// What comes to the bins of a map between two moments.
struct Pending {
    Map& map;
    std::vector<uint32_t> by = std::vector<uint32_t>(size_t{map.bin_rows} * map.bin_cols);
    std::vector<uint32_t> touched{};
    uint64_t sum = 0;  // so far

    void add(uint64_t first, uint64_t length, uint64_t times) {
        sum += length * times;
        while (length > 0 && first < map.elements) {
            const uint64_t row = first / map.width, col = first % map.width,
                           here = std::min(length, map.width - col);
            const uint64_t line = row / map.side * map.bin_cols;
            for (uint64_t at = col; at < col + here;) {
                const uint64_t bin = at / map.side, end = std::min((bin + 1) * map.side, col + here);
                uint32_t& count = by[line + bin];
                if (count == 0) touched.push_back(static_cast<uint32_t>(line + bin));
                count += static_cast<uint32_t>((end - at) * times);
                at = end;
            }
            first += here;
            length -= here;
        }
    }
    void close_moment() {
        for (const uint32_t bin : touched) map.changes.push_back({bin, std::exchange(by[bin], 0)});
        touched.clear();
        map.first.push_back(map.changes.size());
        map.sum.push_back(sum);
    }
};

// Of all lanes of a form together; kByStep where what moves in bulk differs from step to step.
constexpr uint64_t kByStep = UINT64_MAX;
uint64_t bytes_of_form(const trace::Trace& trace, const trace::Form& form) {
    const ptx::Site& site = trace.sites[form.site];
    return site.box != ptx::Box::None
               ? kByStep
               : uint64_t{site.bytes} * static_cast<uint64_t>(std::popcount(form.mask));
}
uint64_t bytes_at(const trace::Trace& trace, const std::vector<uint64_t>& by_form, uint64_t step) {
    const uint64_t bytes = by_form[trace.key[step] & 0xFF'FFFF];
    return bytes == kByStep ? trace::AccessView(trace, step).lane_bytes() : bytes;
}

// Bytes that the lanes of each form read as factors of multiply-adds: what a block's work is told by.
std::vector<uint64_t> factor_reads(const Run& run) {
    const trace::Trace& trace = run.trace;
    const bool shared = session::uses_shared(trace);
    std::vector<uint64_t> reads;
    for (const trace::Form& form : trace.forms) {
        const StepKind kind = analysis::kind_of(trace, form);
        const auto& product = run.tally.product;
        const bool factor =
            shared ? kind == StepKind::SharedLoad
                   : kind == StepKind::GlobalLoad && (!product || product->uses_of(form.array) > 0);
        reads.push_back(factor ? bytes_of_form(trace, form) : 0);
    }
    return reads;
}

// Bytes that the lanes of each form load from global memory.
std::vector<uint64_t> loaded_bytes(const trace::Trace& trace) {
    std::vector<uint64_t> bytes;
    for (const trace::Form& form : trace.forms)
        bytes.push_back(analysis::kind_of(trace, form) == StepKind::GlobalLoad ? bytes_of_form(trace, form)
                                                                               : 0);
    return bytes;
}

// Says when a moment has come. Work of a block is its elements of P, of which its reads so far are a share; by
// steps all blocks are one, and each step is a read. Both sides of every comparison are quotients of whole
// numbers, so that equal ones compare as equal.
struct WorkClock {
    std::vector<double> elements;  // by block
    std::vector<uint64_t> reads;   // by block: all of them
    double all = 0;                // elements of all blocks
    double before = 0;             // elements of the blocks before the one at work

    bool reached(uint32_t moment, size_t block, uint64_t done) const {
        const double target = (moment * all - before * kMoments) / kMoments;
        if (target <= 0) return true;
        if (block >= reads.size() || reads[block] == 0) return false;
        return elements[block] * static_cast<double>(done) / static_cast<double>(reads[block]) >= target;
    }
};

// What the block at work loads in each of its phases, and stores in all, by the maps of a side.
struct Tiles {
    uint32_t block = UINT32_MAX;
    analysis::PhaseMap phases;
    std::vector<std::vector<CellRect>>
        of_phase;  // by map of the inputs, then by phase; the last: behind them
    CellRect stored;
};

void include(CellRect& box, const Map& map, uint64_t element) {
    if (element >= map.elements) return;
    box.include(static_cast<uint32_t>(element / map.width), static_cast<uint32_t>(element % map.width));
}

// Leaves all empty of a block too long to be looked at, and where it was stopped.
void look_at(Tiles& tiles, const Run& run, const Side& side, uint32_t block, Stop stop) {
    if (tiles.block == block) return;
    const trace::Trace& trace = run.trace;
    const trace::Block& of = trace.blocks[block];
    tiles = {block, {}, std::vector<std::vector<CellRect>>(side.inputs.size()), {}};
    if (of.count > kMostScanned) return;
    tiles.phases = analysis::phases_of_block(run.recording, block);
    for (auto& boxes : tiles.of_phase) boxes.resize(tiles.phases.phases + 1);
    for (uint32_t step = 0; step < of.count; ++step) {
        if (stop.at(step)) return;
        const trace::Form& form = trace.form_of(of.first + step);
        if (form.array == trace::kNoArray) continue;
        const StepKind kind = analysis::kind_of(trace, form);
        const auto elements = [&](const Map& map, CellRect& box) {
            const uint64_t size = trace.launch.arrays[map.array].element_bytes();
            const trace::Access access = trace::decode(trace, of.first + step);
            trace::for_pieces(trace, of.first + step, access, [&](uint32_t, uint64_t offset, uint64_t bytes) {
                include(box, map, offset / size);
                include(box, map, offset / size + (bytes + size - 1) / size - 1);
            });
        };
        for (size_t i = 0; i < side.inputs.size() && kind == StepKind::GlobalLoad; ++i)
            if (form.array == side.inputs[i].array)
                elements(side.inputs[i],
                         tiles.of_phase[i][std::min(tiles.phases.phase[step], tiles.phases.phases)]);
        if (kind == StepKind::GlobalStore && !side.outputs.empty() && form.array == side.outputs[0].array)
            elements(side.outputs[0], tiles.stored);
    }
}

Side side_of(const Run& run, char letter) {
    const trace::Trace& trace = run.trace;
    const auto& arrays = trace.launch.arrays;
    Side side;
    side.kernel = run.tally.kernel;
    side.letter = std::string(1, letter);
    side.blocks = trace.blocks.size();
    side.of_grid = trace.launch.grid.count();
    const auto map = [&](size_t at) { return map_of(arrays[at], static_cast<uint8_t>(at)); };
    if (const auto& product = run.tally.product) {
        side.inputs = {map(product->M), map(product->N)};
        side.outputs = {map(product->P)};
    } else {
        for (size_t at = 0; at < arrays.size(); ++at) {
            if (arrays[at].space != Space::Global || arrays[at].elements() == 0) continue;
            if (arrays[at].reads() && side.inputs.size() < 2) side.inputs.push_back(map(at));
            if (arrays[at].writes() && !arrays[at].reads() && side.outputs.empty())
                side.outputs.push_back(map(at));
        }
    }
    for (size_t at = 0; at < arrays.size(); ++at)
        if (arrays[at].space == Space::Shared) side.shared.push_back(static_cast<uint8_t>(at));
    return side;
}

// Walks the recording once, from moment to moment.
Result<Side> run_of(const Run& run, char letter, const session::Totals& totals, Clock clock, Stop stop) {
    const trace::Trace& trace = run.trace;
    Side side = side_of(run, letter);
    const std::vector<uint64_t> loaded_of_form = loaded_bytes(trace);
    std::vector<uint64_t> reads_of_form = factor_reads(run);
    WorkClock work;
    if (clock == Clock::Steps) {
        work.elements = {static_cast<double>(trace.steps())};
        work.reads = {trace.steps()};
        std::ranges::fill(reads_of_form, 1);
    } else {
        for (size_t at = 0; at < trace.blocks.size(); ++at) {
            const CellRect& stored = run.tally.outputs[at];
            work.elements.push_back(static_cast<double>(stored.rows()) * stored.cols());
            uint64_t all = 0;
            const trace::Block& block = trace.blocks[at];
            for (uint64_t step = block.first; step < block.first + block.count; ++step) {
                if (stop.at(step)) return Error{kStopped};
                all += bytes_at(trace, reads_of_form, step);
            }
            work.reads.push_back(all);
        }
    }
    for (const double elements : work.elements) work.all += elements;

    std::vector<Pending> loads;
    for (Map& map : side.inputs) loads.push_back({map});
    std::vector<Pending> stores;
    for (Map& map : side.outputs) stores.push_back({map});
    analysis::CellMap<uint8_t> stored;
    const uint64_t allowed = trace::memory_left(trace) / 8;
    bool full = false;
    analysis::LoadCounter counter(trace, [&](uint8_t array, uint64_t first, uint64_t length, uint64_t by) {
        for (Pending& one : loads)
            if (one.map.array == array) one.add(first, length, by);
    });
    const auto store = [&](uint64_t step) {
        const trace::Access access = trace::decode(trace, step);
        const uint64_t size = trace.launch.arrays[access.array].element_bytes();
        trace::for_pieces(trace, step, access, [&](uint32_t, uint64_t offset, uint64_t of_piece) {
            const uint64_t first = offset / size, last = (offset + of_piece - 1) / size;
            for (uint64_t element = first; element <= last; ++element) {
                uint8_t* const cell = stored.reach(element, allowed);
                full = full || cell == nullptr;
                if (cell != nullptr && std::exchange(*cell, 1) == 0) stores[0].add(element, 1, 1);
            }
        });
    };
    Tiles tiles;
    uint64_t steps = 0, bytes = 0;
    const auto close = [&](size_t at, uint64_t done) {
        counter.finish();
        const auto block = static_cast<uint32_t>(std::min(at, trace.blocks.size() - 1));
        side.steps.push_back(steps);
        side.bytes.push_back(bytes);
        side.block.push_back(block);
        const uint64_t all = clock == Clock::Work && block < work.reads.size() ? work.reads[block] : 0;
        side.of_block.push_back(all == 0 ? 0.f : static_cast<float>(done) / static_cast<float>(all));
        look_at(tiles, run, side, block, stop);
        const trace::Block& of = trace.blocks[block];
        const uint64_t last = steps > of.first ? steps - 1 - of.first : 0;
        const uint32_t phase = last < tiles.phases.phase.size() ? tiles.phases.phase[last] : 0;
        for (size_t i = 0; i < side.inputs.size(); ++i) {
            const auto& boxes = tiles.of_phase[i];
            side.inputs[i].at_work.push_back(boxes.empty() ? CellRect{}
                                                           : boxes[std::min(phase, tiles.phases.phases)]);
        }
        for (Map& map : side.outputs) map.at_work.push_back(tiles.stored);
        for (Pending& one : loads) one.close_moment();
        for (Pending& one : stores) one.close_moment();
    };
    uint32_t moment = 0;
    size_t at = 0;
    uint64_t done = 0;
    for (; at < trace.blocks.size(); ++at) {
        const trace::Block& block = trace.blocks[at];
        const size_t place = clock == Clock::Work ? at : 0;
        if (clock == Clock::Work) done = 0;
        while (moment < kMoments && work.reached(moment, place, done)) close(at, done), ++moment;
        for (uint64_t step = block.first; step < block.first + block.count; ++step) {
            if (stop.at(step)) return Error{kStopped};
            const uint32_t form = trace.key[step] & 0xFF'FFFF;
            bytes += bytes_at(trace, loaded_of_form, step);
            counter.add(step);
            if (!stores.empty() && trace.forms[form].array == stores[0].map.array &&
                ptx::writes(trace.sites[trace.forms[form].site].kind))
                store(step);
            steps = step + 1;
            if (reads_of_form[form] == 0) continue;
            done += bytes_at(trace, reads_of_form, step);
            while (moment < kMoments && work.reached(moment, place, done)) close(at, done), ++moment;
        }
        if (clock == Clock::Work) work.before += work.elements[at];
        uint64_t kept = 0;
        for (const Map& map : side.inputs) kept += map.changes.size() * sizeof(Map::Change);
        if (full || kept > allowed) return trace::more_memory("the race of these two");
    }
    steps = trace.steps();
    while (moment <= kMoments) close(trace.blocks.size() - 1, done), ++moment;
    for (size_t i = 0; i < side.inputs.size(); ++i) {
        Map& map = side.inputs[i];
        for (const analysis::Reuse& reuse : totals.summary.reuse)
            if (reuse.array == trace.launch.arrays[map.array].name) map.touched = reuse.elements;
        side.most = std::max(side.most, totals.most_loads[map.array]);
    }
    for (Map& map : side.outputs) map.touched = map.sum.back();
    return side;
}

std::string times_bytes(double ratio) { return look::three_digits(ratio) + " ×"; }

std::string share_of(uint32_t moment, const char* of) {
    if (moment * 2 == kMoments) return fmt::format("half of {}", of);
    const double share = 100.0 * moment / kMoments;
    return fmt::format("{:.{}f} % of {}", share, share < 1 || share > 99 ? 1 : 0, of);
}

// What tells two runs apart: their kernels, with T where they have one kernel, else their letters.
void name(Side& a, const Run& of_a, Side& b, const Run& of_b) {
    const std::string &kernel_a = of_a.trace.meta.kernel, &kernel_b = of_b.trace.meta.kernel;
    if (kernel_a != kernel_b)
        a.name = kernel_a, b.name = kernel_b;
    else if (a.kernel != b.kernel)
        a.name = a.kernel, b.name = b.kernel;
    else
        a.name = "A", b.name = "B";
}

std::string capital(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

// The end: who loaded less, and how much faster that was.
std::string conclusion(const Race& race, const look::Speed* speed) {
    const uint64_t a = race.a.bytes.back(), b = race.b.bytes.back();
    const std::string whose = race.clock == Clock::Work ? "For the whole product " : "In all ";
    if (a == b) return fmt::format("{}both have loaded as many bytes.", whose);
    const Side &less = a < b ? race.a : race.b, &more = a < b ? race.b : race.a;
    if (less.bytes.back() == 0) return fmt::format("{}only {} has loaded anything.", whose, more.name);
    const double ratio = static_cast<double>(more.bytes.back()) / static_cast<double>(less.bytes.back());
    const std::string loads = fmt::format("{} loads {} fewer bytes", capital(less.name), times_bytes(ratio));
    if (speed == nullptr) return fmt::format("{} than {}.", loads, more.name);
    if (!speed->told_apart) return fmt::format("{}, and both are as fast ({}).", loads, speed->device);
    if (speed->a_is_fast != (a < b))
        return fmt::format("{}, yet {} is {} as fast ({}).", loads, more.name, times_bytes(speed->times),
                           speed->device);
    std::string text =
        fmt::format("{}, {} {} as fast ({})", loads, ratio > speed->times ? "but is only" : "and is",
                    times_bytes(speed->times), speed->device);
    if (speed->cache_is_why())
        text += fmt::format(", as L1 serves at least {:.0f} % of {}'s sectors", 100 * (1 - *speed->l2_slow),
                            more.name);
    return text + ".";
}

}  // namespace

double Side::loads_each(uint32_t moment) const {
    if (inputs.empty() || inputs[0].touched == 0) return 0;
    return static_cast<double>(inputs[0].sum[moment]) / static_cast<double>(inputs[0].touched);
}

double Race::wider() const { return static_cast<double>(std::max(a.bytes.back(), b.bytes.back())); }

Result<Race> race_of(const Run& a, const session::Totals& of_a, const Run& b, const session::Totals& of_b,
                     Stop stop) {
    Race race;
    race.same_work = look::same_work(a, b);
    const bool products = a.tally.product && b.tally.product;
    if (a.trace.steps() == 0 || b.trace.steps() == 0)
        return Error{"there is no race of a recording that holds no step; record the kernel again."};
    // Where nothing was stored, as in a recording that was cut off, no share of the work is known.
    const auto stores = [](const Run& run) {
        return std::ranges::any_of(run.tally.outputs, [](const CellRect& box) { return !box.empty(); });
    };
    const bool works = products && race.same_work && stores(a) && stores(b);
    race.clock = works ? Clock::Work : Clock::Steps;
    for (const bool is_a : {true, false}) {
        auto side = run_of(is_a ? a : b, is_a ? 'A' : 'B', is_a ? of_a : of_b, race.clock, stop);
        if (!side) return side.error();
        (is_a ? race.a : race.b) = std::move(*side);
    }
    name(race.a, a, race.b, b);
    return race;
}

const std::vector<uint32_t>& Counts::at(const Map& map, uint32_t moment) {
    if (of_ != &map) {
        of_ = &map;
        moment_ = 0;
        counts_.assign(size_t{map.bin_rows} * map.bin_cols, 0);
        for (size_t i = map.first[0]; i < map.first[1]; ++i) counts_[map.changes[i].bin] += map.changes[i].by;
    }
    for (; moment_ < moment; ++moment_)
        for (size_t i = map.first[moment_ + 1]; i < map.first[moment_ + 2]; ++i)
            counts_[map.changes[i].bin] += map.changes[i].by;
    for (; moment_ > moment; --moment_)
        for (size_t i = map.first[moment_]; i < map.first[moment_ + 1]; ++i)
            counts_[map.changes[i].bin] -= map.changes[i].by;
    return counts_;
}

double pipe_width(const Race& race, const Side& side, uint32_t moment) {
    if (moment == 0 || race.wider() == 0) return 0;
    const double share = std::max(static_cast<double>(moment) / kMoments, kLeastShare);
    return std::min(static_cast<double>(side.bytes[moment]) / share / race.wider(), 1.0);
}

std::string sentence(const Race& race, uint32_t moment, const look::Speed* speed) {
    const bool work = race.clock == Clock::Work;
    if (moment == kMoments) return conclusion(race, speed);
    if (moment == 0)
        return work ? fmt::format("{} and {} compute the same product at the same pace.",
                                  capital(race.a.name), race.b.name)
                    : fmt::format("{} and {}, each by the share of its own steps.", capital(race.a.name),
                                  race.b.name);
    const std::string when =
        work ? "At " + share_of(moment, "the product") : "After " + share_of(moment, "the steps of each");
    const uint64_t a = race.a.bytes[moment], b = race.b.bytes[moment];
    if (a == b) return fmt::format("{}, both have loaded as many bytes.", when);
    const Side &more = a > b ? race.a : race.b, &less = a > b ? race.b : race.a;
    if (less.bytes[moment] == 0) return fmt::format("{}, {} has loaded nothing yet.", when, less.name);
    const double ratio = static_cast<double>(std::max(a, b)) / static_cast<double>(std::min(a, b));
    return fmt::format("{}, {} has loaded {} the bytes of {}.", when, more.name, times_bytes(ratio),
                       less.name);
}

std::string clock_text(const Race& race) {
    std::string text = race.clock == Clock::Work
                           ? "Both have done as many multiply-adds; each recording goes block by block."
                       : race.same_work
                           ? "Both have made the same share of their own steps, block by block."
                           : "They compute different things: compare how each loads, not who is better.";
    for (const Side* side : {&race.a, &race.b}) {
        if (side->blocks == side->of_grid) continue;
        const bool both = race.a.blocks == race.b.blocks && race.a.of_grid == race.b.of_grid;
        if (both && side == &race.b) continue;
        text +=
            fmt::format(" {}: {} of {} blocks.", both ? "Recorded of each" : "Recorded of " + side->letter,
                        grouped(side->blocks), grouped(side->of_grid));
    }
    return text;
}

}  // namespace tilescope::race
