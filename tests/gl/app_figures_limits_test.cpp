// The figures of Limits, as app_figures_test.cpp holds those of the Step screen.
#include "tests/gl/figures_screens.h"

namespace tilescope::app {
namespace {

// --- Limits: the lecture's divisions, and the hardware's with what it hands out in whole

struct Fits {
    uint64_t threads = 0, blocks = 0, registers = ~0ull, shared = ~0ull, registers_a_block = 0,
             shared_a_block = 0;
    uint64_t least() const { return std::min({threads, blocks, registers, shared}); }
};
uint64_t up(uint64_t value, uint64_t unit) { return unit == 0 ? value : (value + unit - 1) / unit * unit; }
Fits fits(const analysis::SmLimits& sm, const analysis::BlockUse& use, bool hardware) {
    const uint64_t warps = (use.threads + sm.warp_size - 1) / sm.warp_size;
    Fits f;
    f.threads = hardware ? sm.threads_per_sm / sm.warp_size / warps : sm.threads_per_sm / use.threads;
    f.blocks = sm.blocks_per_sm;
    f.registers_a_block = uint64_t{use.threads} * use.registers;
    f.shared_a_block = use.shared;
    if (hardware && sm.register_unit == analysis::RegisterUnit::Block)
        f.registers_a_block =
            up(up(warps, sm.warp_granularity) * sm.warp_size * use.registers, sm.register_granularity);
    if (hardware) f.shared_a_block = up(use.shared + sm.shared_reserved, sm.shared_granularity);
    if (f.registers_a_block > 0) f.registers = sm.registers_per_sm / f.registers_a_block;
    if (hardware && sm.register_unit == analysis::RegisterUnit::Warp && use.registers > 0) {
        const uint64_t a_warp = up(uint64_t{use.registers} * sm.warp_size, sm.register_granularity);
        f.registers_a_block = a_warp * warps;
        f.registers = sm.registers_per_sm / sm.warp_granularity / a_warp * sm.warp_granularity / warps;
        if (a_warp * up(warps, sm.warp_granularity) > sm.registers_per_block) f.registers = 0;
    }
    if (f.shared_a_block > 0) f.shared = sm.shared_per_sm / f.shared_a_block;
    if (use.shared > sm.shared_per_block_optin) f.shared = 0;
    return f;
}

struct LimitsScene {
    analysis::SmLimits sm;
    analysis::BlockUse use;
    const analysis::LimitPreset* preset = nullptr;
    const analysis::DeviceSpec* device = nullptr;
};
const LimitsScene* g_limits = nullptr;

void limits_tables(Page& page) {
    const auto& [sm, use, preset, device] = *g_limits;
    bool hardware = false;
    for (size_t i = 0; i < page.size(); ++i) {
        if (page.text(i) == "The hardware's sum") hardware = true;
        const Fits f = fits(sm, use, hardware);
        const std::tuple<const char*, uint64_t, uint64_t, uint64_t> rows[] = {
            {"thread slots", use.threads, sm.threads_per_sm, f.threads},
            {"block slots", 1, sm.blocks_per_sm, f.blocks},
            {"registers", f.registers_a_block, sm.registers_per_sm, f.registers},
            {"shared memory", f.shared_a_block, sm.shared_per_sm, f.shared}};
        for (const auto& [name, each, most, fit] : rows) {
            const bool limits = fit == f.least();
            if (page.text(i) != (limits ? "\u2192 " : "") + std::string(name)) continue;
            const std::string used = fmt::format("{} of {}", grouped(f.least() * each), grouped(most));
            const std::string blocks =
                fit == ~0ull ? "any" : fmt::format("{} block{}", grouped(fit), fit == 1 ? "" : "s");
            if (page.text(i + 1) != used || page.text(i + 2) != blocks)
                page.complain(fmt::format("{}: {}, {}, not {}, {}", page.text(i), used, blocks,
                                          page.text(i + 1), page.text(i + 2)));
            page.claim(i + 1), page.claim(i + 2);
        }
        // Ticks of the axes, by their form alone: quarters of the thread slots, and round numbers.
        if (page.number(i)) {
            const uint64_t at = std::stoull(test::without_groups(page.text(i)));
            bool quarter = false;
            for (uint64_t q = 0; q <= 4; ++q) quarter = quarter || at == sm.threads_per_sm * q / 4;
            if (quarter || at % 50 == 0 || at % 20 == 0) page.claim(i);
        }
        if (Captures c; test::match("# k", page.text(i), c)) page.claim(i);
        if (preset == nullptr) continue;
        for (const analysis::PresetBlock& block : preset->blocks) {  // what the case's blocks are called
            if (page.text(i) != block.label) continue;
            Captures c;
            bool right = (test::match("# × #*", page.text(i), c) &&
                          std::stoul(c[0]) * std::stoul(c[1]) == block.use.threads);
            if (c.clear(); test::match("#{ threads|, }*", page.text(i), c))
                right = std::stoul(test::without_groups(c[0])) == block.use.threads;
            if (c.clear(); test::match("*, # registers", page.text(i), c))
                right = right && std::stoul(c[1]) == block.use.registers;
            if (c.clear(); test::match("# KB*", page.text(i), c))
                right = std::stoul(c[0]) * 1024 == block.use.shared;
            if (!right) page.complain("a block that is another: " + page.text(i));
            page.claim(i);
        }
    }
}
// The words of one sum: blocks, threads and warps of an SM.
Figures limits_sum(const Captures& c) {
    const auto& [sm, use, preset, device] = *g_limits;
    const auto right = [&](bool hardware) -> Figures {
        const uint64_t blocks = fits(sm, use, hardware).least(), warps = (use.threads + 31) / 32;
        const double share = hardware
                                 ? 100.0 * static_cast<double>(blocks * warps) / (sm.threads_per_sm / 32.0)
                                 : 100.0 * static_cast<double>(blocks * use.threads) / sm.threads_per_sm;
        return {
            blocks, blocks * use.threads, sm.threads_per_sm, blocks * warps, sm.threads_per_sm / sm.warp_size,
            share};
    };
    for (const bool hardware : {false, true})
        if (test::disagrees(c[0], right(hardware)[0]).empty() &&
            test::disagrees(c[5], right(hardware)[5]).empty())
            return right(hardware);
    return right(true);
}
Figures cliff(const Captures& c) {
    const auto& [sm, use, preset, device] = *g_limits;
    const uint64_t at = std::stoull(test::without_groups(c[0]));
    // Of the parameter that has such a cliff: no step before it loses threads.
    for (const auto& [member, step, most] :
         {std::tuple(&analysis::BlockUse::threads, sm.warp_size, sm.threads_per_block),
          {&analysis::BlockUse::registers, 1u, sm.registers_per_thread},
          {&analysis::BlockUse::shared, 512u, sm.shared_per_block_optin}}) {
        analysis::BlockUse before = use, after = use;
        for (uint64_t value = use.*member / step * step + step; value <= most; value += step) {
            before.*member = static_cast<uint32_t>(value - step),
            after.*member = static_cast<uint32_t>(value);
            if (before.threads == 0) continue;
            const uint64_t had = fits(sm, before, true).least() * before.threads,
                           has = fits(sm, after, true).least() * after.threads;
            if (has >= had) continue;
            if (value == at && test::disagrees(c[1], had).empty()) return {value, had, has};
            break;
        }
    }
    return {"a cliff"};
}

// "GeForce 8800 GTX (G80)"
std::string device_words() {
    const analysis::DeviceSpec& device = *g_limits->device;
    return device.chip.empty() ? device.name : fmt::format("{} ({})", device.name, device.chip);
}
// The case's question, of the block that is shown.
std::string question() {
    if (g_limits->preset == nullptr) return "";
    std::string text = g_limits->preset->asks;
    for (const auto& [place, value] :
         {std::pair("{threads}", g_limits->use.threads), std::pair("{registers}", g_limits->use.registers)})
        if (const size_t at = text.find(place); at != std::string::npos)
            text.replace(at, std::string(place).size(), grouped(value));
    return text;
}

// --- the answer, clause by clause

// "1,305.6", "80"
std::string number(double value) {
    const std::string text = fmt::format("{:.1f}", value);
    const std::string whole = grouped(std::stoull(text));
    return text.ends_with(".0") ? whole : whole + text.substr(text.find('.'));
}
std::string blocks_words(uint64_t count) { return fmt::format("{} block{}", count, count == 1 ? "" : "s"); }
std::string fit_words(const Fits& f, uint64_t threads) {
    return fmt::format("{} {}, {} threads", blocks_words(f.least()), f.least() == 1 ? "fits" : "fit",
                       grouped(f.least() * threads));
}
std::string limited_by(const Fits& f) {
    std::string words;
    for (const auto& [name, fit] :
         {std::pair("thread slots", f.threads), std::pair("block slots", f.blocks),
          std::pair("registers", f.registers), std::pair("shared memory", f.shared)})
        if (fit == f.least()) words += (words.empty() ? "limited by " : " and ") + std::string(name);
    return words;
}
uint32_t value_of(const analysis::BlockUse& use) {  // of what the case's blocks differ in
    return g_limits->preset->parameter == analysis::Parameter::Threads     ? use.threads
           : g_limits->preset->parameter == analysis::Parameter::Registers ? use.registers
                                                                           : use.shared;
}
// The block shown, but for one value of the case.
analysis::BlockUse with_value(uint32_t value) {
    analysis::BlockUse use = g_limits->use;
    (g_limits->preset->parameter == analysis::Parameter::Threads     ? use.threads
     : g_limits->preset->parameter == analysis::Parameter::Registers ? use.registers
                                                                     : use.shared) = value;
    return use;
}
// Another block of the case, by its value.
Figure another(const std::string& said) {
    const uint64_t value = std::stoull(test::without_groups(said));
    return must(value != value_of(g_limits->use) &&
                std::ranges::any_of(g_limits->preset->blocks, [&](const analysis::PresetBlock& of) {
                    return value_of(of.use) == value;
                }));
}
uint64_t threads_with(uint32_t value) {
    const analysis::BlockUse use = with_value(value);
    return fits(g_limits->sm, use, false).least() * use.threads;
}
uint64_t threads_with(const std::string& said) {
    return threads_with(static_cast<uint32_t>(std::stoul(test::without_groups(said))));
}
// Percents of the threads of the case's other blocks that the one shown has not.
std::vector<std::string> lost() {
    std::vector<std::string> all{"none"};
    const double own = static_cast<double>(threads_with(value_of(g_limits->use)));
    for (const analysis::PresetBlock& block : g_limits->preset->blocks)
        if (const double other = static_cast<double>(threads_with(value_of(block.use))); other > own)
            all.push_back(number(100 * (other - own) / other));
    return all;
}
uint64_t ceiling(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit; }
uint64_t grid_blocks() { return g_limits->preset->grid ? g_limits->preset->grid->count() : 0; }
uint64_t elements() { return g_limits->preset->vector ? g_limits->preset->vector->elements : 0; }
uint64_t vector_blocks() { return ceiling(elements(), g_limits->use.threads); }
uint64_t elements_of_last() { return elements() - (vector_blocks() - 1) * g_limits->use.threads; }

// Every clause of an answer by itself. f: of the block shown, by the lecture's sum.
std::vector<Rule> answer_rules() {
#define OF_BLOCK(...)                                                                        \
    [](const Scene&, [[maybe_unused]] const Captures& c) -> Figures {                        \
        [[maybe_unused]] const analysis::SmLimits& sm = g_limits->sm;                        \
        [[maybe_unused]] const analysis::BlockUse& use = g_limits->use;                      \
        [[maybe_unused]] const Fits f = fits(sm, use, false), h = fits(sm, use, true);       \
        [[maybe_unused]] const uint64_t least = f.least(), warps = ceiling(use.threads, 32); \
        return {__VA_ARGS__};                                                                \
    }
    return {
        // how many fit, and why not one more
        {"# block(s) × # thread(s) = #, more than the SM's # thread slots",
         OF_BLOCK(least + 1, use.threads, (least + 1) * use.threads, sm.threads_per_sm,
                  must(f.threads == least))},
        {"# block(s) × # thread(s) = #, all thread slots of the SM",
         OF_BLOCK(least, use.threads, sm.threads_per_sm, must(least * use.threads == sm.threads_per_sm))},
        {"# block(s) × # thread(s) × # register(s) = #, more than the SM's #",
         OF_BLOCK(least + 1, use.threads, use.registers, (least + 1) * use.threads * use.registers,
                  sm.registers_per_sm, must(f.registers == least))},
        {"# block(s) × # thread(s) × # register(s) = # of the SM's #",
         OF_BLOCK(least, use.threads, use.registers, least * use.threads * use.registers, sm.registers_per_sm,
                  must(f.registers > least))},
        {"# block(s) × # byte(s) = #, more than the SM's #",
         OF_BLOCK(least + 1, use.shared, (least + 1) * use.shared, sm.shared_per_sm,
                  must(f.shared == least))},
        {"# block(s) × # byte(s) = # of the SM's #",
         OF_BLOCK(least, use.shared, least * use.shared, sm.shared_per_sm, must(f.shared > least))},
        {"{the|The} SM has # block slot(s)", OF_BLOCK(any, sm.blocks_per_sm, must(f.blocks == least))},
        {"# block(s) {fit|fits}, # thread(s)",
         OF_BLOCK(least, least == 1 ? "fits" : "fit", least * use.threads)},
        {"by the hardware's sum # block(s)", OF_BLOCK(h.least(), must(h.least() != least))},
        {"by the hardware's sum none", OF_BLOCK(must(h.least() == 0))},
        // whether all thread slots are filled, and how much each may have
        {"{Yes|No}", OF_BLOCK(least * use.threads == sm.threads_per_sm ? "Yes" : "No")},
        {"Its # thread slots would take # block(s)",
         OF_BLOCK(sm.threads_per_sm, f.threads, must(f.threads > least))},
        {"# thread slots share # registers", OF_BLOCK(sm.threads_per_sm, sm.registers_per_sm)},
        {"the chip's # SM(s) have #",
         OF_BLOCK(g_limits->device->sms, uint64_t{g_limits->device->sms} * sm.registers_per_sm)},
        {"# block slots share # bytes", OF_BLOCK(sm.blocks_per_sm, sm.shared_per_sm)},
        {"at most # a thread when all are used", OF_BLOCK(sm.registers_per_sm / sm.threads_per_sm)},
        {"at most # a block when all are used", OF_BLOCK(sm.shared_per_sm / sm.blocks_per_sm)},
        // what another value makes of it
        {"With # {register|byte}s # block(s) {fit|fits}, # thread(s)",
         OF_BLOCK(any, any, threads_with(c[0]) / use.threads, any, threads_with(c[0]), another(c[0]))},
        {"With # {register|byte}s # block(s) {fit|fits}, # thread(s), @ % fewer",
         OF_BLOCK(any, any, threads_with(c[0]) / use.threads, any, threads_with(c[0]),
                  number(100.0 * static_cast<double>(least * use.threads - threads_with(c[0])) /
                         static_cast<double>(least * use.threads)),
                  another(c[0]))},
        {"with # {register|byte}s @ % of them are lost", OF_BLOCK(value_of(use), any, lost())},
        // a grid on all SMs, a vector in blocks
        {"# block(s) on # SM(s)", OF_BLOCK(grid_blocks(), g_limits->device->sms)},
        {"each gets #",
         OF_BLOCK(grid_blocks() / g_limits->device->sms, must(grid_blocks() % g_limits->device->sms == 0))},
        {"# get # and # get #",
         OF_BLOCK(grid_blocks() % g_limits->device->sms, grid_blocks() / g_limits->device->sms + 1,
                  g_limits->device->sms - grid_blocks() % g_limits->device->sms,
                  grid_blocks() / g_limits->device->sms, must(grid_blocks() % g_limits->device->sms != 0))},
        {"A block takes # × # = # register(s) and # warp(s)",
         OF_BLOCK(use.threads, use.registers, use.threads * use.registers, warps,
                  must(use.threads % 32 == 0))},
        {"A block takes # × # = # register(s) and # warp(s), the last with # thread(s)",
         OF_BLOCK(use.threads, use.registers, use.threads * use.registers, warps, use.threads % 32)},
        {"{No block waits|The others wait}",
         OF_BLOCK(h.least() >= ceiling(grid_blocks(), g_limits->device->sms) ? "No block waits"
                                                                             : "The others wait")},
        {"# block(s) × # thread(s) = # for # elements",
         OF_BLOCK(vector_blocks(), use.threads, vector_blocks() * use.threads, elements())},
        {"every thread has an element, so no warp diverges",
         OF_BLOCK(must(vector_blocks() * use.threads == elements()))},
        {"{no|1} warp diverges", OF_BLOCK(elements() % use.threads % 32 == 0 ? "no" : "1")},
        {"The last block has # elements = # whole warp(s)",
         OF_BLOCK(elements_of_last(), elements_of_last() / 32, must(elements_of_last() % 32 == 0))},
        {"The last block has # elements = # whole warp(s) and # thread(s)",
         OF_BLOCK(elements_of_last(), elements_of_last() / 32, elements_of_last() % 32)},
        {"# {warp lies|warps lie} wholly beyond the bound",
         OF_BLOCK(warps - ceiling(elements_of_last(), 32),
                  warps - ceiling(elements_of_last(), 32) == 1 ? "warp lies" : "warps lie")},
    };
#undef OF_BLOCK
}
// "" or the clause that is wrong.
std::string wrong_clause(const Scene& s, const std::string& answer) {
    static const std::vector<Rule> rules = answer_rules();
    std::string rest = answer.ends_with('.') ? answer.substr(0, answer.size() - 1) : answer;
    while (!rest.empty()) {
        const size_t end = std::min({rest.find(". "), rest.find("; "), rest.find(": "), rest.size()});
        const std::string clause = rest.substr(0, end);
        rest.erase(0, end + 2);
        const bool right = std::ranges::any_of(rules, [&](const Rule& rule) {
            Captures c;
            if (!test::match(rule.pattern, clause, c)) return false;
            Reading reading{s, c};
            reading.hold(rule.right(s, c));
            return reading.wrong.empty();
        });
        if (!right) return clause;
    }
    return "";
}
// "8 x 8: 8 blocks fit, 512 threads, limited by block slots; ..." and which of them are best.
std::pair<std::string, std::string> best_of_case() {
    std::vector<analysis::PresetBlock> all = g_limits->preset->blocks;
    bool shown = false;
    for (analysis::PresetBlock& block : all) {
        block.use = with_value(value_of(block.use));
        shown = shown || block.use == g_limits->use;
    }
    if (!shown) all.push_back({fmt::format("{} threads", grouped(g_limits->use.threads)), g_limits->use});
    std::string best, each;
    uint64_t most = 1;
    for (const analysis::PresetBlock& block : all) {
        const Fits f = fits(g_limits->sm, block.use, false);
        const bool launches = block.use.threads <= g_limits->sm.threads_per_block;
        const uint64_t threads = launches ? f.least() * block.use.threads : 0;
        if (threads > most) best.clear();
        if (threads >= most) best += (best.empty() ? "" : " and ") + block.label;
        most = std::max(most, threads);
        each += (each.empty() ? "" : "; ") +
                (launches
                     ? fmt::format("{}: {}, {}", block.label, fit_words(f, block.use.threads), limited_by(f))
                     : fmt::format(
                           "{} does not launch: {} threads are more than the {} that a block may have",
                           block.label, grouped(block.use.threads), grouped(g_limits->sm.threads_per_block)));
    }
    return {best, each};
}
// The device that the case compares with.
const analysis::DeviceSpec& other_device(const Scene& s) {
    const auto& all = s.state.session.assets.devices();
    return *std::ranges::find(all, g_limits->preset->compared_device, &analysis::DeviceSpec::id);
}
Figures both_devices(const Scene& s) {
    const analysis::DeviceSpec &b = other_device(s), &a = *g_limits->device;
    const uint64_t of_b = fits(b.sm, g_limits->use, false).least(),
                   of_a = fits(a.sm, g_limits->use, false).least(), threads = g_limits->use.threads;
    return {b.chip,
            a.chip,
            b.sms,
            a.sms,
            number(b.sm.shared_per_sm / 1024.0),
            number(a.sm.shared_per_sm / 1024.0),
            b.sm.blocks_per_sm,
            a.sm.blocks_per_sm,
            of_b,
            of_a,
            of_b * threads,
            of_a * threads,
            number(b.memory_gbs),
            number(a.memory_gbs),
            number(b.peak_gflops),
            number(a.peak_gflops)};
}
Figures hidden_latency() {
    const analysis::LatencyCase& l = *g_limits->preset->latency;
    const uint64_t busy = uint64_t{l.instructions} * l.issue_cycles, needed = ceiling(l.cycles, busy),
                   blocks = fits(g_limits->sm, g_limits->use, false).least(),
                   warps = ceiling(g_limits->use.threads, 32);
    return {needed,
            l.instructions,
            l.issue_cycles,
            busy,
            l.cycles,
            busy,
            number(static_cast<double>(l.cycles) / static_cast<double>(busy)),
            blocks,
            warps,
            blocks * warps,
            blocks * warps >= needed ? "enough" : "too few"};
}

// The SM as a picture: its warp slots, the blocks and their warps, and what comes last.
#define SAYS_SLOTS(last)                                                                         \
    [](const Scene&, const Captures&) -> Figures {                                               \
        const auto& [sm, use, preset, device] = *g_limits;                                       \
        const uint64_t blocks = fits(sm, use, true).least(), warps = (use.threads + 31) / 32,    \
                       slots = sm.threads_per_sm / sm.warp_size, empty = slots - blocks * warps; \
        return {slots, name_of(*device), blocks, warps, last};                                   \
    }

std::vector<Rule> limits_rules() {
    return {
        {"# blocks, # of # threads, # of # warps: ~ %", SAYS(limits_sum(c))},
        {"# threads per block", SAYS(g_limits->use.threads)},
        {"# register(s) per thread", SAYS(g_limits->use.registers)},
        {"# bytes of shared memory per block", SAYS(g_limits->use.shared)},
        {"next cliff at #: # threads become #", SAYS(cliff(c))},
        {"*, compute capability @; sums of an SM's slots, nothing is measured",
         SAYS(device_words(), g_limits->sm.capability())},
        {"*, compute capability @, with # thread slots in place of #; sums of an SM's slots, nothing is "
         "measured",
         SAYS(device_words(), g_limits->sm.capability(), g_limits->preset->change.threads_per_sm,
              g_limits->device->sm.threads_per_sm)},
        {"*, compute capability @, with # block slots in place of #; sums of an SM's slots, nothing is "
         "measured",
         SAYS(device_words(), g_limits->sm.capability(), g_limits->preset->change.blocks_per_sm,
              g_limits->device->sm.blocks_per_sm)},
        {"The # warp slot(s) of an SM of *: # block(s) of # warp(s) leave # empty", SAYS_SLOTS(empty)},
        {"The # warp slot(s) of an SM of *: # block(s) of # warp(s) fill all of them",
         SAYS_SLOTS(must(empty == 0))},
        {"How many blocks does an SM of * hold?", SAYS(device_words(), must(g_limits->preset == nullptr))},
        {"*?", SAYS(question().substr(0, question().find('?')))},
        {"Best: *. *.", SAYS(best_of_case().first, best_of_case().second)},
        {"@ against @: # against # SMs, each with @ against @ KiB of shared memory and # against # block "
         "slots; of this block # "
         "against # fit, # against # threads. Stated: @ against @ GB/s and @ against @ GFLOP/s.",
         SAYS(both_devices(s))},
        {"# warp(s): between two accesses a warp issues # instructions × # cycles = # cycles, and # / # = @. "
         "# block(s) × # warp(s) = # on an SM: {enough|too few}.",
         SAYS(hidden_latency())},
        {"*.", SAYS(wrong_clause(s, c[0]).empty() ? any : Figure("it, but for: " + wrong_clause(s, c[0])))},
    };
}

TEST(FiguresOfTheLimitsScreen, OfCasesAndDevices) {
    SKIP_WITHOUT_GLYPHS();
    Still screen("limits", 3);
    State& state = screen.state;
    Lot& lot = screen.lot;
    const auto& devices = state.session.assets.devices();
    const auto hold = [&](const std::string& what) {
        const auto* preset = analysis::find_limit_preset(state.limits.preset);
        const auto device = std::ranges::find(devices, state.limits.device, &analysis::DeviceSpec::id);
        analysis::SmLimits sm = device->sm;
        if (preset != nullptr && preset->change.threads_per_sm > 0)
            sm.threads_per_sm = preset->change.threads_per_sm;
        if (preset != nullptr && preset->change.blocks_per_sm > 0)
            sm.blocks_per_sm = preset->change.blocks_per_sm;
        if (state.limits.use.threads > sm.threads_per_block ||
            fits(sm, state.limits.use, true).least() == 0 || fits(sm, state.limits.use, false).least() == 0)
            return;  // refused
        const LimitsScene scene{sm, state.limits.use, preset, &*device};
        g_limits = &scene;
        for (const std::string& complaint : screen.complaints(limits_rules(), limits_tables))
            ADD_FAILURE() << what << ", " << state.limits.use.threads << " threads, "
                          << state.limits.use.registers << " registers, " << state.limits.use.shared
                          << " bytes: " << complaint;
    };
    for (const analysis::LimitPreset& preset : analysis::limit_presets())
        for (size_t block = 0; block < preset.blocks.size() + 3; ++block) {
            take_preset(state.limits, preset.id, std::min(block, preset.blocks.size() - 1));
            if (block >= preset.blocks.size()) state.limits.use.threads = lot.from(1, 16) * 32;
            hold(preset.id);
        }
    for (const analysis::DeviceSpec& device : devices)
        for (int place = 0; (device.sm.major != 6 || device.sm.minor != 0) && place < 3; ++place) {
            take_device(state.limits, device.id);
            state.limits.use = {lot.from(1, device.sm.threads_per_block / 32) * 32, lot.from(1, 32),
                                place < 2 ? 0 : lot.from(1, 20) * 512};
            hold(device.id);
        }
}

TEST(WrongFiguresOfTheLimitsScreen, AreFoundInEveryText) {
    SKIP_WITHOUT_GLYPHS();
    Still screen("limits", 0);
    State& state = screen.state;
    const auto& devices = state.session.assets.devices();
    for (const analysis::LimitPreset& preset : analysis::limit_presets()) {
        take_preset(state.limits, preset.id);
        const LimitsScene scene{limits_device(state.limits, devices).sm, state.limits.use, &preset,
                                &*std::ranges::find(devices, preset.device, &analysis::DeviceSpec::id)};
        g_limits = &scene;
        for (const std::string& text : screen.changed(limits_rules(), limits_tables))
            // But ticks, and what another block of the case is called.
            if (!std::ranges::all_of(text, [](char c) { return test::is_digit(c) || c == ','; }) &&
                std::ranges::find(preset.blocks, text, &analysis::PresetBlock::label) == preset.blocks.end())
                ADD_FAILURE() << preset.id << ": " << text;
    }
}

}  // namespace
}  // namespace tilescope::app
