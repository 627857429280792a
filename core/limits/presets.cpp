#include "core/limits/presets.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::analysis {
namespace {

std::vector<LimitPreset> make_presets() {
    const auto threads = [](uint32_t n) { return PresetBlock{counted(n, "thread"), {.threads = n}}; };
    const auto registers = [](uint32_t n) {
        return PresetBlock{fmt::format("16 × 16, {} registers", n), {.threads = 256, .registers = n}};
    };
    const auto square = [](uint32_t n) {
        return PresetBlock{fmt::format("{} × {}", n, n), {.threads = n * n}};
    };
    const auto shared = [](uint32_t kib) {
        return PresetBlock{fmt::format("64 threads, {} KiB", kib), {.threads = 64, .shared = kib * 1024}};
    };
    using enum LimitPreset::Wants;
    std::vector<LimitPreset> list(10);
    list[0] = {.id = "slots",
               .asks = "8 block slots and blocks of {threads} threads: are 1,536 thread slots filled?",
               .device = "gtx-580",
               .wants = Filled,
               .blocks = {threads(128)}};
    list[1] = {.id = "four-slots",
               .asks = "The same SM with 4 block slots: which block size is best?",
               .device = "gtx-580",
               .change = {.blocks_per_sm = 4},
               .wants = Best,
               .blocks = {threads(128), threads(256), threads(512), threads(1024)}};
    list[2] = {.id = "cliff",
               .asks = "16,384 registers, blocks of {threads} threads: what do two registers more cost?",
               .device = "gt200",
               .change = {.threads_per_sm = 1536},
               .wants = Cost,
               .parameter = Parameter::Registers,
               .blocks = {registers(10), registers(12)}};
    list[3] = {.id = "g80-registers",
               .asks = "G80, 8 K registers, 768 threads: how many registers a thread?",
               .device = "g80",
               .wants = Most,
               .parameter = Parameter::Registers,
               .blocks = {registers(10), registers(11)}};
    list[4] = {.id = "g80-shared",
               .asks = "G80, 16 KiB of shared memory, 8 blocks: how much a block?",
               .device = "g80",
               .wants = Most,
               .parameter = Parameter::Shared,
               .blocks = {shared(2), shared(5)}};
    list[5] = {.id = "gt200-blocks",
               .asks = "GT200: blocks of 8 × 8, 16 × 16 or 32 × 32?",
               .device = "gt200",
               .wants = Best,
               .blocks = {square(8), square(16), square(32)}};
    list[6] = {.id = "gtx580-grid",
               .asks =
                   "GTX 580: how are 4 × 5 × 3 blocks of {threads} threads, {registers} registers each, "
                   "spread over its SMs?",
               .device = "gtx-580",
               .parameter = Parameter::Registers,
               .blocks = {{"100 threads, 48 registers", {.threads = 100, .registers = 48}}},
               .grid = Dim3{4, 5, 3}};
    list[7] = {.id = "vector",
               .asks = "A vector of 2,000 in blocks of {threads}: how many warps diverge at the bound?",
               .device = "gtx-580",
               .blocks = {threads(512)},
               .vector = VectorLaunch{2000}};
    list[8] = {.id = "latency",
               .asks = "How many warps hide 200 cycles, with an access every 4 instructions?",
               .device = "g80",
               .blocks = {threads(256)},
               .latency = LatencyCase{200, 4, 4}};
    list[9] = {.id = "gk107-gm107",
               .asks = "GK107 against GM107: what did a generation change?",
               .device = "gk107",
               .blocks = {{"8 × 8, 512 bytes", {.threads = 64, .shared = 512}}},
               .compared_device = "gm107"};
    for (LimitPreset& preset : list) preset.title = question_of(preset, preset.blocks.front().use);
    return list;
}

const DeviceSpec* find_device(const std::vector<DeviceSpec>& devices, const std::string& id) {
    const auto it = std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.id == id; });
    return it == devices.end() ? nullptr : &*it;
}

Error unknown(const LimitPreset& preset, const std::string& device) {
    return Error{
        fmt::format("the case '{}' needs the device '{}', which is not known; add it", preset.id, device)};
}

using Figures = std::vector<Figure>;

// What the blocks of a case say together.
void add_block_figures(const PresetAnswer& a, Figures& figures) {
    const SmLimits& sm = a.device.sm;
    if (a.blocks.empty()) return;
    const auto threads = [](const BlockAnswer& b) { return b.lecture.threads; };
    const BlockAnswer& first = a.blocks.front();
    figures.push_back({"blocks_that_fill_the_threads",
                       fmt::format("blocks that would fill the thread slots ({})", first.label),
                       static_cast<double>(sm.threads_per_sm) / first.use.threads, "blocks"});
    if (first.use.registers) {
        figures.push_back({"registers_a_thread_at_most",
                           "registers a thread at most with every thread slot used",
                           static_cast<double>(sm.registers_per_sm / sm.threads_per_sm), "registers"});
    }
    if (first.use.shared) {
        figures.push_back({"shared_a_block_at_most",
                           "shared memory a block at most with every block slot used",
                           static_cast<double>(sm.shared_per_sm / sm.blocks_per_sm), "bytes"});
    }
    if (a.blocks.size() < 2) return;
    const auto best = std::max_element(a.blocks.begin(), a.blocks.end(),
                                       [&](const auto& x, const auto& y) { return threads(x) < threads(y); });
    figures.push_back({"best_threads_a_block",
                       fmt::format("the block with the most threads on an SM: {}", best->label),
                       static_cast<double>(best->use.threads), "threads"});
    if (a.blocks.size() == 2 && threads(a.blocks[0]) > 0) {
        const double lost = threads(a.blocks[0]) - static_cast<double>(threads(a.blocks[1]));
        figures.push_back({"threads_lost", "share of the threads that the second case loses",
                           lost / threads(a.blocks[0]), ""});
    }
}

void add_grid_figures(const Dim3& grid, const PresetAnswer& a, Figures& figures) {
    const Spread s = spread(grid, a.device.sms);
    const BlockAnswer& block = a.blocks.front();
    const uint32_t warp = a.device.sm.warp_size;
    const auto add = [&](const char* key, const std::string& name, uint64_t value, const char* unit) {
        figures.push_back({key, name, static_cast<double>(value), unit});
    };
    add("blocks", "blocks of the grid", s.blocks, "blocks");
    add("sms_with_most", fmt::format("SMs with {} blocks", s.most), s.sms_with_most, "SMs");
    add("most_blocks", "blocks of each of those", s.most, "blocks");
    add("sms_with_least", fmt::format("SMs with {} blocks", s.least), s.sms_with_least, "SMs");
    add("least_blocks", "blocks of each of those", s.least, "blocks");
    add("registers_a_block", "registers a block (the lecture's sum)", block.lecture.registers_per_block,
        "registers");
    add("registers_a_block_hardware", "registers a block (the hardware's)",
        block.hardware.registers_per_block, "registers");
    add("warps_a_block", "warps a block", block.lecture.warps_per_block, "warps");
    add("threads_of_last_warp", "threads of a block's last warp", (block.use.threads - 1) % warp + 1,
        "threads");
}

void add_vector_figures(const VectorLaunch& vector, const PresetAnswer& a, Figures& figures) {
    const BoundCheck check =
        bound_check(vector.elements, a.blocks.front().use.threads, a.device.sm.warp_size);
    const auto add = [&](const char* key, const char* name, uint64_t value, const char* unit) {
        figures.push_back({key, name, static_cast<double>(value), unit});
    };
    add("blocks", "blocks of the grid", check.blocks, "blocks");
    add("threads", "threads launched", check.threads, "threads");
    add("idle_threads", "threads beyond the bound", check.idle_threads, "threads");
    add("diverging_warps", "warps that diverge at the bound", check.diverging_warps, "warps");
    add("idle_warps", "warps wholly beyond the bound", check.idle_warps, "warps");
}

void add_device_figures(const DeviceSpec& device, Figures& figures) {
    const auto add = [&](const char* key, const char* name, double value, const char* unit) {
        figures.push_back({device.id + "_" + key, fmt::format("{}: {}", device.chip, name), value, unit});
    };
    add("shared_per_sm", "shared memory an SM", device.sm.shared_per_sm / 1024.0, "KiB");
    add("blocks_per_sm", "blocks an SM", device.sm.blocks_per_sm, "blocks");
    add("memory_gbs", "memory bandwidth (stated)", device.memory_gbs, "GB/s");
    add("peak_gflops", "fp32 peak (stated)", device.peak_gflops, "GFLOP/s");
}

}  // namespace

Spread spread(const Dim3& grid, uint32_t sms) {
    Spread s;
    s.blocks = grid.count();
    if (sms == 0) return s;
    s.least = s.blocks / sms;
    s.sms_with_most = static_cast<uint32_t>(s.blocks % sms);
    s.most = s.least + (s.sms_with_most ? 1 : 0);
    if (s.sms_with_most == 0) s.sms_with_most = sms;
    s.sms_with_least = s.most == s.least ? sms : sms - s.sms_with_most;
    return s;
}

BoundCheck bound_check(uint64_t elements, uint32_t block, uint32_t warp_size) {
    BoundCheck check;
    if (block == 0 || warp_size == 0) return check;
    check.blocks = (elements + block - 1) / block;
    check.threads = check.blocks * block;
    check.idle_threads = check.threads - elements;
    if (check.idle_threads == 0) return check;
    // Only the last block has threads beyond the bound; its warps, the last of which may be short.
    const uint64_t inside = elements - (check.blocks - 1) * block;
    const uint64_t warps = (uint64_t{block} + warp_size - 1) / warp_size;
    check.diverging_warps = inside % warp_size != 0 ? 1 : 0;
    check.idle_warps = warps - (inside + warp_size - 1) / warp_size;
    return check;
}

uint32_t warps_that_hide(uint32_t latency, uint32_t instructions, uint32_t issue_cycles) {
    const uint64_t busy = uint64_t{instructions} * issue_cycles;  // cycles that one warp keeps the SM busy
    return busy == 0 ? kUnlimited : static_cast<uint32_t>((latency + busy - 1) / busy);
}

SmLimits changed(SmLimits sm, const SmChange& change) {
    if (change.threads_per_sm) sm.threads_per_sm = change.threads_per_sm;
    if (change.blocks_per_sm) sm.blocks_per_sm = change.blocks_per_sm;
    if (change.registers_per_sm) sm.registers_per_sm = sm.registers_per_block = change.registers_per_sm;
    if (change.shared_per_sm) {
        sm.shared_per_sm = sm.shared_per_block = sm.shared_per_block_optin = change.shared_per_sm;
        sm.shared_sizes.clear();
        sm.shared_reserved = 0;
    }
    return sm;
}

std::string change_in_words(const SmLimits& sm, const SmChange& change) {
    std::string words;
    const auto add = [&](uint32_t to, uint32_t from, const char* what) {
        if (to == 0 || to == from) return;
        words += fmt::format("{}{} {} in place of {}", words.empty() ? "" : ", ", grouped(to), what,
                             grouped(from));
    };
    add(change.threads_per_sm, sm.threads_per_sm, "thread slots");
    add(change.blocks_per_sm, sm.blocks_per_sm, "block slots");
    add(change.registers_per_sm, sm.registers_per_sm, "registers");
    add(change.shared_per_sm, sm.shared_per_sm, "bytes of shared memory");
    return words;
}

const std::vector<LimitPreset>& limit_presets() {
    static const std::vector<LimitPreset> list = make_presets();
    return list;
}

const LimitPreset* find_limit_preset(std::string_view id) {
    for (const LimitPreset& preset : limit_presets())
        if (preset.id == id) return &preset;
    return nullptr;
}

Result<PresetAnswer> answer(const LimitPreset& preset, const std::vector<DeviceSpec>& devices) {
    const DeviceSpec* const device = find_device(devices, preset.device);
    if (!device) return unknown(preset, preset.device);
    PresetAnswer a;
    a.device = *device;
    a.device.sm = changed(device->sm, preset.change);
    a.change = change_in_words(device->sm, preset.change);
    for (const PresetBlock& block : preset.blocks) {
        a.blocks.push_back({block.label, block.use, occupancy(a.device.sm, block.use, Sum::Lecture),
                            occupancy(a.device.sm, block.use, Sum::Hardware),
                            answer_in_words(&preset, a.device, block.use, devices)});
    }
    if (preset.grid)
        add_grid_figures(*preset.grid, a, a.figures);
    else if (preset.vector)
        add_vector_figures(*preset.vector, a, a.figures);
    else if (!preset.latency && preset.compared_device.empty())
        add_block_figures(a, a.figures);
    if (preset.latency) {
        const LatencyCase& l = *preset.latency;
        a.figures.push_back(
            {"warps_that_hide",
             fmt::format("warps that hide {} cycles, an access every {} instructions of {} cycles", l.cycles,
                         l.instructions, l.issue_cycles),
             static_cast<double>(warps_that_hide(l.cycles, l.instructions, l.issue_cycles)), "warps"});
    }
    if (!preset.compared_device.empty()) {
        const DeviceSpec* const other = find_device(devices, preset.compared_device);
        if (!other) return unknown(preset, preset.compared_device);
        add_device_figures(*device, a.figures);
        add_device_figures(*other, a.figures);
    }
    return a;
}

}  // namespace tilescope::analysis
