#include "app/levels/model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/look/block_index.h"
#include "core/base/words.h"

namespace tilescope::levels {
namespace {

using analysis::kLineBytes, analysis::kSectorBytes;

// Lines that are looked at to find who comes back for one that was evicted: about a millisecond.
constexpr uint64_t kMostLooked = 50'000;
// Forms that are looked at to find which array a site loads from, in a frame.
constexpr size_t kMostForms = 4096;

}  // namespace

// --- the whole recording

double LoadChain::most() const {
    double all = 0;
    for (const ChainStage& stage : stages) all = std::max({all, stage.bytes, stage.measured.value_or(0)});
    return all;
}

int LoadChain::halvings() const {
    double least = most();
    for (const ChainStage& stage : stages)
        for (const double one : {stage.bytes, stage.measured.value_or(0)})
            if (one > 0) least = std::min(least, one);
    return least <= 0 ? 8 : std::max(8, static_cast<int>(std::ceil(std::log2(most() / least))) + 1);
}

double LoadChain::width_of(double bytes) const {
    return bytes <= 0 ? 0 : 1 - std::log2(most() / bytes) / halvings();
}

namespace {
// "64", "1.5".
std::string ratio_text(double of, double to) {
    const double times = of / to;
    const bool whole = std::abs(times - std::round(times)) < 1e-6;
    return fmt::format("{:.{}f}", times, times < 9.95 && !whole ? 1 : 0);
}
}  // namespace

LoadChain chain_of(const WalkedLevels& walked, const kernels::LevelCounterRow* counted) {
    const analysis::Levels& l = walked.levels;
    const analysis::LevelTraffic modelled = traffic_of(l);
    const analysis::LevelTraffic measured =
        counted != nullptr ? counted->traffic() : analysis::LevelTraffic{};
    LoadChain chain;
    for (size_t i = 0; i < analysis::kLevelStages; ++i) {
        const auto& [name, means, is_modelled] = analysis::kLevelStageRows[i];
        chain.stages[i] = {name, means, modelled.bytes[i].value_or(0), is_modelled, measured.bytes[i]};
    }
    const double asked = static_cast<double>(l.asked.all.l1_sectors);
    if (asked == 0) {
        chain.headlines = {"No thread loads from global memory."};
        return chain;
    }
    const std::string l1 = share_text(l.model.l1_hit_rate),
                      whole = fmt::format("L1 finds {} of the sectors asked for", l1);
    if (l.model.misses.dram_read_bytes > 0) {
        const std::string times =
            ratio_text(static_cast<double>(l.asked.all.requested_bytes), l.model.misses.dram_read_bytes);
        chain.headlines = {
            fmt::format("{}; threads ask for {} times the bytes that DRAM gives", whole, times),
            fmt::format("L1 finds {}; threads ask for {} \u00d7 what DRAM gives", l1, times)};
    }
    chain.headlines.push_back(whole);
    return chain;
}

LoadChain chain_of_part(const WalkedLevels& walked, uint64_t launched,
                        const kernels::LevelCounterRow* counted, uint64_t requested_bytes) {
    LoadChain chain = chain_of(walked, nullptr);
    const uint64_t here = walked.levels.launch.blocks;
    chain.of = fmt::format("Only {} of its {} {} recorded: what stands below is of {}, as if {} the launch.",
                           grouped(here), tilescope::counted(launched, "block"), here == 1 ? "is" : "are",
                           here == 1 ? "that one" : "those", here == 1 ? "it were" : "they were");
    if (counted == nullptr || counted->l1_sectors <= 0) {
        chain.headlines = {fmt::format("{} of {} cannot say what the whole launch finds in L1 and L2",
                                       grouped(here), tilescope::counted(launched, "block"))};
        return chain;
    }
    const std::string l1 = share_text(counted->l1_hit_rate());
    std::string whole = fmt::format("The whole launch, as counted: L1 finds {} of the sectors asked for", l1),
                brief = "Whole launch, counted: L1 " + l1;
    const double l2_bytes = counted->l2_read_sectors * analysis::kSectorBytes,
                 dram = counted->dram_read_bytes;
    if (l2_bytes > 0 && dram >= 0 && dram <= l2_bytes) {
        const std::string l2 = share_text(1 - dram / l2_bytes);
        whole += fmt::format(", L2 {} of the rest", l2);
        brief += fmt::format(", L2 {} of the rest", l2);
    }
    if (dram > 0) {
        whole += "; DRAM gives " + bytes_text(dram);
        brief += ", DRAM " + bytes_text(dram);
    }
    chain.headlines = {whole, brief};
    if (dram > 0 && requested_bytes > 0) {
        const std::string times = ratio_text(static_cast<double>(requested_bytes), dram);
        chain.headlines = {fmt::format("{}, threads ask for {} times that", whole, times),
                           fmt::format("{}, asked for {} times", brief, times), whole, brief};
    }
    return chain;
}

std::vector<std::string> rests_on(const trace::Trace& trace, const WalkedLevels& walked,
                                  const analysis::DeviceSpec& device) {
    const analysis::Levels& l = walked.levels;
    const std::string blocks = counted(l.launch.blocks, "block");
    const std::string of_grid =
        walked.part ? fmt::format("{} of {}, as if they were the launch", grouped(l.launch.blocks),
                                  counted(trace.launch.grid.count(), "block"))
                    : blocks;
    const std::string placed = l.launch.as_recorded
                                   ? fmt::format("each on the SM that {} put it on", trace.meta.device)
                                   : "dealt to the SMs in turn, one by one";
    const std::string l1 = capacity_text(l.launch.l1_bytes) + " of L1 per SM";
    return {fmt::format("Modelled for {}: {}, {} per SM at once, {}; {}", device.name, of_grid,
                        grouped(l.launch.resident), placed, l1),
            fmt::format("Modelled for {}: {}, {}; {}", device.name, of_grid, placed, l1),
            fmt::format("Modelled for {}: {}; {}", device.name, of_grid, l1),
            fmt::format("Modelled for {}: {}", device.name, of_grid),
            fmt::format("Modelled for {}", device.name)};
}

// --- the table

namespace {

std::string array_name(const trace::Trace& trace, const Notation& notation, size_t slot) {
    return slot < trace.launch.arrays.size() ? name_in(notation, trace.launch.arrays[slot]) : "no array";
}

}  // namespace

std::vector<ShareRow> rows_of(const trace::Trace& trace, const Notation& notation, const WalkedLevels& walked,
                              By by, uint64_t step, uint32_t phase) {
    const analysis::LevelShares& shares = walked.shares;
    const trace::Form* const form = step < trace.steps() ? &trace.form_of(step) : nullptr;
    const bool global = form != nullptr && form->space == Space::Global &&
                        ptx::asks_memory(trace.sites[form->site].kind) &&
                        trace.sites[form->site].kind != ptx::SiteKind::Store;
    std::vector<ShareRow> rows;
    const auto add = [&](std::string name, const analysis::LevelShare& share, bool now) {
        if (share.requests > 0) rows.push_back({std::move(name), share, now});
    };
    switch (by) {
        case By::Site: {
            // A line's loads are told apart by their arrays; those of one array are numbered.
            std::vector<size_t> used;
            std::vector<std::string> names(shares.by_site.size());
            for (size_t at = 0; at < std::min(trace.forms.size(), kMostForms); ++at) {
                const trace::Form& of = trace.forms[at];
                if (names[of.site].empty() && of.space == Space::Global)
                    names[of.site] =
                        array_name(trace, notation, analysis::level_slot(trace.launch, of.array));
            }
            for (size_t site = 0; site < shares.by_site.size(); ++site)
                if (shares.by_site[site].requests > 0) {
                    used.push_back(site);
                    names[site] =
                        fmt::format("line {}: {}", look::shown_line(trace, trace.sites[site]), names[site]);
                }
            for (const size_t site : used) {
                const auto same = [&](size_t other) { return names[other] == names[site]; };
                const auto many = std::ranges::count_if(used, same);
                const auto nth = std::count_if(used.begin(), std::ranges::find(used, site), same);
                std::string name = names[site];
                if (many > 1) name += fmt::format(", {}", nth + 1);
                add(name, shares.by_site[site], global && form->site == site);
            }
            break;
        }
        case By::Array:
            for (size_t slot = 0; slot < shares.by_slot.size(); ++slot)
                add(array_name(trace, notation, slot), shares.by_slot[slot],
                    global && analysis::level_slot(trace.launch, form->array) == slot);
            break;
        case By::Phase:
            for (size_t at = 0; at < shares.by_phase.size(); ++at)
                add(phase_name(at, notation), shares.by_phase[at], phase == at);
            add("after the last phase", shares.after, phase == analysis::kAfter);
            break;
    }
    return rows;
}

// --- a step

namespace {

// The first array that has a byte in a line, as level_slot() counts arrays.
size_t slot_of_line(const trace::Trace& trace, uint64_t line) {
    const uint64_t address = line * kLineBytes;
    const auto holds = [&](const Array& array) {
        return array.space == Space::Global && address + kLineBytes > array.base &&
               address < array.base + array.bytes();
    };
    const auto& arrays = trace.launch.arrays;
    return static_cast<size_t>(std::ranges::find_if(arrays, holds) - arrays.begin());
}

}  // namespace

std::string line_name(const trace::Trace& trace, const Notation& notation, uint64_t line) {
    const uint64_t address = line * kLineBytes;
    const size_t slot = slot_of_line(trace, line);
    if (slot == trace.launch.arrays.size()) return fmt::format("address {:#x}", address);
    const Array& array = trace.launch.arrays[slot];
    const uint64_t first = address < array.base ? 0 : (address - array.base) / array.element_bytes();
    const uint64_t end = std::min<uint64_t>((address + kLineBytes - array.base - 1) / array.element_bytes(),
                                            array.elements() - 1);
    ElementBox box;
    box.include(position_of(array, static_cast<int64_t>(first)));
    box.include(position_of(array, static_cast<int64_t>(end)));
    if (box.first.row == box.last.row && box.first.slice == box.last.slice)
        return elements_text(array, box, notation);
    return fmt::format("{} to {}", element_name(array, static_cast<int64_t>(first), notation),
                       index_text(array, static_cast<int64_t>(end), notation));
}

namespace {

std::string said(const StepView& view) {
    uint32_t all = 0;
    for (const uint32_t one : view.found) all += one;
    constexpr const char* kWhere[kFoundIn] = {"found in L1", "on the way already, for an SM nearby",
                                              "found in L2", "in neither cache: DRAM gives"};
    std::vector<std::string> parts;
    for (size_t in = 0; in < kFoundIn; ++in) {
        if (view.found[in] == 0) continue;
        if (view.found[in] != all) {
            parts.push_back(fmt::format("{} {}", view.found[in], in == 3 ? "in neither cache" : kWhere[in]));
            continue;
        }
        if (all == 1) return fmt::format("The sector is {}{}.", kWhere[in], in == 3 ? " it" : "");
        return fmt::format("{} sectors are {}{}.", all == 2 ? "Both" : fmt::format("All {}", all), kWhere[in],
                           in == 3 ? " them" : "");
    }
    return fmt::format("Of {} sectors: {}.", all, listed(parts));
}

std::string block_text(const trace::Trace& trace, const Notation& notation, const WalkedLevels& walked,
                       uint32_t number) {
    const trace::Block& b = trace.blocks[walked.recorded[number]];
    return block_name(trace.launch.grid, {b.x, b.y, b.z}, notation);
}

void add_gone(StepView& view, const trace::Trace& trace, const Notation& notation, const WalkedLevels& walked,
              const std::vector<LevelWalk::Eviction>& evicted) {
    view.evicted = evicted.size();
    for (const LevelWalk::Eviction& one : evicted) {
        if (view.gone.size() == kMostGone) break;
        Gone gone{line_name(trace, notation, one.line), line_name(trace, notation, one.by), ""};
        const auto [next, all] = walked.walk->comes_back(view.place, one.line, kMostLooked);
        gone.back = next  ? fmt::format("{} asks for it again, {} later",
                                        block_text(trace, notation, walked, next->block),
                                        counted(next->turns + 1, "unit"))
                    : all ? "nobody asks for it again"
                          : "nobody asks for it again soon";
        view.gone.push_back(std::move(gone));
    }
}

}  // namespace

StepView step_view(const trace::Trace& trace, const Notation& notation, const WalkedLevels& walked,
                   const analysis::BlockRequests& requests, uint32_t block, uint32_t step) {
    StepView view;
    const LevelWalk& walk = *walked.walk;
    const uint32_t number = walked.number_of[block], unit = requests.batch_of[step];
    const analysis::BlockWork& work = *walk.block(number).work;
    const analysis::LoadBatch& of = work.batches[unit];
    view.place = walk.place_of(number, unit);
    view.units = walk.turns(view.place.sm);
    const auto loads_at = [&](uint32_t at) {
        const auto lines = requests.of(at);
        return !lines.empty() && !lines[0].store;
    };
    view.loads = loads_at(step);
    for (uint32_t at = step + 1; at-- > 0 && !view.request;)
        if (loads_at(at)) view.request = at;
    if (view.request) {
        const auto found = walk.found(number, requests.batch_of[*view.request]);
        for (const analysis::RequestLine& line : requests.of(*view.request)) {
            FoundLine shown;
            shown.line = walk.line_of(number, line.slot, line.line);
            shown.name = line_name(trace, notation, shown.line);
            for (uint32_t sector = 0; sector < 4; ++sector) {
                if (!(line.sectors >> sector & 1)) continue;
                const FoundIn in =
                    line.first >> sector & 1 ? LevelWalk::found_in(found[line.touch], sector) : FoundIn::L1;
                shown.sectors[sector] = in;
                ++view.found[static_cast<size_t>(in)];
            }
            view.lines.push_back(std::move(shown));
        }
        view.sentence = said(view);
    }
    // The lines of this unit that a request up to this step has asked for have come.
    std::vector<bool> has_come(of.count, false);
    for (uint32_t at = 0; at <= step; ++at) {
        if (requests.batch_of[at] != unit) continue;
        for (const analysis::RequestLine& line : requests.of(at))
            if (line.touch != analysis::RequestLine::kNoTouch) has_come[line.touch] = true;
    }
    const LevelWalk::Moment moment = walk.within(view.place, has_come);
    view.sets = moment.l1.sets();
    view.ways = moment.l1.ways();
    const auto asks = [&](uint64_t line) {
        return view.loads &&
               std::ranges::any_of(view.lines, [&](const FoundLine& l) { return l.line == line; });
    };
    view.map.reserve(size_t{view.sets} * view.ways);
    for (uint32_t set = 0; set < view.sets; ++set)
        for (uint32_t way = 0; way < view.ways; ++way) {
            const analysis::SectorCache::CachedLine line = moment.l1.at(set, way);
            HeldLine held;
            if (line.sectors != 0) view.deepest = std::max(view.deepest, way + 1);
            if (line.sectors != 0) {
                held = {line.number, static_cast<uint8_t>(slot_of_line(trace, line.number)),
                        static_cast<uint8_t>(line.sectors), asks(line.number),
                        std::ranges::find(moment.came, line.number) != moment.came.end()};
                ++view.held;
            }
            view.map.push_back(held);
        }
    add_gone(view, trace, notation, walked, moment.evicted);
    view.where = fmt::format("SM {}, {} of its {} of loads", view.place.sm, ordinal(view.place.turn + 1),
                             counted(view.units, "unit"));
    return view;
}

}  // namespace tilescope::levels
