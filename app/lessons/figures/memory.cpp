// The kinds of memory, from the nearest to the farthest: how long a load takes, who may touch it, how large it is,
// and what the open recording does with it. L1 and L2 stand among them, which no program names.
//
//                                   1       10       100      1000 cycles
//   registers        a thread        |#       .        .        .           65,536 per SM
//   constant memory  a grid, to read |#       .        .        .           64 KiB
//   shared memory    a block         |########:####    .        .           228 KiB per SM     4,096 loads
//   L1 cache         an SM           |########:#####   .        .           256 KiB per SM
//   L2 cache         the device      |########:########:####    .           60 MiB
//   global memory    a grid, host    |########:########:#######.            at 4,800 GB/s      2,048 loads
//   local memory     a thread        |########:########:#######.            512 KiB per thread
//
// Scope and lifetime: CUDA C++ Programming Guide, "Variable Memory Space Specifiers" and "Device Memory
// Accesses"; 512 KiB of local memory a thread (16 KiB on 1.x) and 64 KiB of constant memory: the same,
// "Technical Specifications per Compute Capability". An SM's registers and shared memory: assets/devices.
//
// Speed. That a register costs no cycle of its own, that local memory is as slow as global memory, and that
// constant memory is as fast as a register where a warp reads one cached address: CUDA C++ Best Practices
// Guide, section "Device Memory Spaces". Cycles of loads: the device's "levels" (core/levels/spec.h), each with its
// source in assets/devices; of a device without them, the H200's. Energy, for a chip of 30 nm: S. Keckler, Conventional Core
// Microarchitecture is Dead, slide "What do things cost?", after the DARPA Exascale Study of 2008: 5.5 pJ for
// two reads and a write of 64 bits in a register file, 30 pJ a bit over a standard link off the chip.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "core/trace/trace.h"

namespace tilescope::lessons {
namespace {

enum : uint8_t { kKind, kDevice };
enum KindAt : uint8_t { kRegisters, kLocal, kShared, kGlobal, kConstant };

struct MemoryKind {
    const char *name, *declared, *scope, *lifetime, *where;
    Ink ink;
    std::optional<Space> space;  // none: registers
};
const std::array<MemoryKind, 5>& kinds() {
    static const std::array<MemoryKind, 5> all{{
        {"registers", "float sum;", "a thread", "the kernel", "on the SM", Ink::TextQuiet, std::nullopt},
        {"local memory", "float row[64];", "a thread", "the kernel", "in device memory, cached", Ink::Local,
         Space::Local},
        {"shared memory", "__shared__ float tile[16][16];", "a block", "the block", "on the SM",
         Ink::SharedLoad, Space::Shared},
        {"global memory", "float* m, cudaMalloc", "a grid, and the host", "the program",
         "in device memory, cached", Ink::GlobalLoad, Space::Global},
        {"constant memory", "__constant__ float weights[9];", "a grid, read only; the host writes",
         "the program", "in device memory, cached", Ink::Constant, Space::Const},
    }};
    return all;
}

// A row of the picture, nearest first.
struct MemoryRow {
    std::optional<KindAt> kind;                                    // none: a cache
    const char *name, *scope;                                      // of a cache
    analysis::LevelFigure analysis::LevelSpec::*cycles = nullptr;  // of a load; null: none of its own
};
constexpr std::array<MemoryRow, 7> kRows{{
    {kRegisters, nullptr, nullptr, nullptr},
    {kConstant, nullptr, nullptr, nullptr},
    {kShared, nullptr, nullptr, &analysis::LevelSpec::shared_cycles},
    {std::nullopt, "L1 cache", "blocks of an SM", &analysis::LevelSpec::l1_cycles},
    {std::nullopt, "L2 cache", "all SMs", &analysis::LevelSpec::l2_latency},
    {kGlobal, nullptr, nullptr, &analysis::LevelSpec::dram_latency},
    {kLocal, nullptr, nullptr, &analysis::LevelSpec::dram_latency},
}};

// Whose cycles are shown: the device's own where they are known.
const analysis::DeviceSpec& timed(const analysis::DeviceSpec& device) {
    if (kernels::find_levels(device.id) != nullptr) return device;
    return *std::ranges::find(kernels::devices(), kernels::kLevelDevice, &analysis::DeviceSpec::id);
}
double cycles_of(const MemoryRow& row, const analysis::DeviceSpec& device) {
    return row.cycles == nullptr ? 1 : (kernels::find_levels(timed(device).id)->*row.cycles).value;
}
std::string speed_of(size_t kind, const analysis::DeviceSpec& device) {
    if (kind == kRegisters) return "no cycle of its own: an operand of the instruction";
    if (kind == kConstant) return "a register's, where all lanes read one cached address";
    if (kind == kLocal) return "as global memory";
    const auto row = std::ranges::find_if(kRows, [&](const MemoryRow& of) { return of.kind == kind; });
    return fmt::format("{:.0f} cycles for a load on an {}{}", cycles_of(*row, device), timed(device).name,
                       kind == kGlobal ? ", less from a cache" : "");
}

const analysis::DeviceSpec& device_of(std::span<const int> set) {
    return kernels::devices()[static_cast<size_t>(set[kDevice])];
}

// Of 4 bytes, on an SM and on the whole chip.
uint64_t register_bytes(const analysis::DeviceSpec& device) {
    return uint64_t{device.sm.registers_per_sm} * 4 * device.sms;
}
// What multiply-adds at the stated peak move through the registers, GB/s: three operands and a result of 4
// bytes for two operations.
double register_gbs(const analysis::DeviceSpec& device) { return device.peak_gflops / 2 * 16; }

std::string size_of(size_t kind, const analysis::DeviceSpec& device) {
    const analysis::SmLimits& sm = device.sm;
    switch (kind) {
        case kRegisters:
            return fmt::format("{} per SM, {} on all {}", grouped(sm.registers_per_sm),
                               grouped(uint64_t{sm.registers_per_sm} * device.sms),
                               counted(device.sms, "SM"));
        case kLocal: return fmt::format("at most {} KiB per thread", sm.major == 1 ? 16 : 512);
        case kShared:
            return fmt::format("{} per SM, at most {} per block", capacity_text(sm.shared_per_sm),
                               capacity_text(sm.shared_per_block_optin));
        case kGlobal:
            return fmt::format("what the device has, at {} GB/s",
                               grouped(static_cast<uint64_t>(device.memory_gbs + 0.5)));
        default: return "64 KiB, and a cache on each SM";
    }
}

// Requests of the recording that is open to a space: "1,024 loads, 64 stores"; "" where there are none.
std::string requests_to(const session::Session& session, const MemoryKind& kind) {
    if (!session.recording || !kind.space) return "";
    uint64_t loads = 0, stores = 0, atomics = 0;
    const trace::Trace& trace = session.trace();
    if (!session.totals || session.totals->serial != session.recording->serial) return "";
    for (const analysis::StepKindRow& row : analysis::kMemoryKindRows) {
        if (row.space != *kind.space) continue;
        (is_load(row.kind)     ? loads
         : is_atomic(row.kind) ? atomics
                               : stores) += session.totals->summary[row.kind].lanes;
    }
    std::string text;
    for (const auto& [count, noun] : {std::pair{loads, "load"}, {stores, "store"}, {atomics, "atomic"}})
        if (count > 0) text += (text.empty() ? "" : ", ") + counted(count, noun);
    return text.empty() ? "" : trace.meta.kernel + ": " + text;
}

// Whether a launch's requests went to a space; every kernel has registers.
bool used(const session::Session& session, const MemoryKind& kind) {
    if (!session.recording) return false;
    if (!kind.space) return true;
    return std::ranges::any_of(session.trace().forms, [&](const trace::Form& form) {
        return form.space == *kind.space && ptx::asks_memory(session.trace().sites[form.site].kind);
    });
}

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const analysis::DeviceSpec& device = device_of(set);
    return {{"kinds_of_memory", kinds().size(), "kind"},
            {"registers_of_sm", device.sm.registers_per_sm},
            {"registers_of_chip", uint64_t{device.sm.registers_per_sm} * device.sms},
            {"register_bytes_of_sm", uint64_t{device.sm.registers_per_sm} * 4},
            {"shared_bytes_of_sm", device.sm.shared_per_sm}};
}

std::string concludes(std::span<const int> set) {
    const auto at = static_cast<size_t>(set[kKind]);
    const MemoryKind& kind = kinds()[at];
    const analysis::DeviceSpec& device = device_of(set);
    std::string name = kind.name;
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    std::string text =
        fmt::format("{}: touched by {}, alive as long as {}, {}. Size: {}. Speed: {}.", name, kind.scope,
                    kind.lifetime, kind.where, size_of(at, device), speed_of(at, device));
    if (at == kRegisters)
        text += fmt::format(
            " At peak, multiply-adds of the {} move {:.3g} TB/s through {} of them: {:.0f} times what its "
            "DRAM brings.",
            device.name, register_gbs(device) / 1000, capacity_text(register_bytes(device)),
            register_gbs(device) / device.memory_gbs);
    return text;
}

std::string cache_size(const MemoryRow& row, const analysis::DeviceSpec& device) {
    const analysis::LevelSpec* const levels = kernels::find_levels(device.id);
    if (levels == nullptr) return "";
    if (row.cycles == &analysis::LevelSpec::l2_latency)
        return capacity_text(static_cast<uint64_t>(levels->l2_bytes.value));
    return fmt::format("{} per SM, shared memory's part included",
                       capacity_text(static_cast<uint64_t>(levels->l1_bytes.value)));
}

// Where things stand across the picture: names, bars, what is said of sizes and requests.
struct Columns {
    float names, bars, says, end;
    float x(double cycles) const {  // from 1 to 1,000 on a log scale
        return bars + (says - bars) * static_cast<float>(std::log10(std::max(cycles, 1.0)) / 3);
    }
};

// What the open recording asks of it, and how large it is. two: lines that have room.
void draw_says(draw::Ui& ui, const Rect& r, const Columns& at, const MemoryRow& row, std::span<const int> set,
               const session::Session& session, bool two) {
    const MemoryKind* const kind = row.kind ? &kinds()[*row.kind] : nullptr;
    const analysis::DeviceSpec& device = device_of(set);
    const float small = line_height(ui, Size::Small);
    const float says = at.end - at.says - ui.px(8);
    std::vector<std::string> lines;
    if (kind != nullptr)
        if (const std::string requests = requests_to(session, *kind); !requests.empty())
            lines.push_back(requests);
    const std::string size = kind != nullptr ? size_of(*row.kind, device) : cache_size(row, device);
    const bool hidden = asked(session) && kind != nullptr;
    if (hidden || !size.empty()) lines.push_back(hidden ? "size: ?" : size);
    if (!two) lines.resize(std::min<size_t>(lines.size(), 1));
    float line_y = (r.min.y + r.max.y - small * static_cast<float>(lines.size())) / 2;
    for (size_t i = 0; i < lines.size(); ++i, line_y += small) {
        const Face face = lines.size() == 2 && i == 0 ? Face::Strong : Face::Text;
        line(ui, {at.says, std::round(line_y)}, says, face, Size::Small, Ink::Text,
             fitting(ui.font(face, Size::Small), {lines[i], lines[i].substr(0, lines[i].find(", "))}, says));
    }
}

void draw_row(draw::Ui& ui, const Rect& r, const Columns& at, const MemoryRow& row, std::span<const int> set,
              const session::Session& session) {
    const MemoryKind* const kind = row.kind ? &kinds()[*row.kind] : nullptr;
    const analysis::DeviceSpec& device = device_of(set);
    const bool lit = kind != nullptr && used(session, *kind);
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body), pad = ui.px(8);
    if (row.kind && set[kKind] == *row.kind)
        ui.list.AddRect(r.min, r.max, ui.ink(Ink::Accent), ui.px(4), 0, ui.px(2));
    // Two lines where they fit, else one.
    const bool two = r.height() >= body + small;
    const float top = std::round((r.min.y + r.max.y - body - (two ? small : 0)) / 2);
    const float names = at.bars - at.names - pad;
    line(ui, {at.names + pad, top}, names - pad, Face::Strong, Size::Body, Ink::Text,
         kind != nullptr ? kind->name : row.name);
    const std::string scope = kind != nullptr ? kind->scope : row.scope;
    if (two)  // "a grid" of "a grid, read only; the host writes"
        note(ui, {at.names + pad, top + body}, names - pad,
             {scope, scope.substr(0, scope.find(';')), scope.substr(0, scope.find(','))});

    const double cycles = cycles_of(row, device);
    const float high = std::min(r.height() - ui.px(8), ui.px(44)),
                y = std::round((r.min.y + r.max.y - high) / 2);
    const Rect bar{{at.bars, y}, {std::max(at.x(cycles), at.bars + ui.px(6)), y + high}};
    const Ink ink = kind != nullptr ? kind->ink : Ink::LineStrong;
    const bool solid = lit || kind == nullptr;
    if (solid) ui.list.AddRectFilled(bar.min, bar.max, ui.ink(ink), ui.px(3));
    ui.list.AddRect(bar.min, bar.max, ui.ink(ink), ui.px(3), 0, ui.px(2));
    // How long, beside the bar, and how it is declared.
    const std::string length =
        row.cycles == nullptr
            ? row.kind == kConstant ? "as a register, where cached and one address" : "no cycle of its own"
            : fmt::format("{:.0f} cycles", cycles);
    // Behind the bar; inside it where it reaches so far that it leaves no room.
    const draw::Font strong = ui.font(Face::Strong, Size::Body), code = ui.font(Face::Mono, Size::Small);
    const std::string declared = kind != nullptr ? kind->declared : "nothing to write: hardware";
    const std::string brief = length.substr(0, length.find(','));
    const float room = at.says - bar.max.x - 2 * pad;
    const bool inside = draw::text_size(strong, brief).x > room;
    const draw::Rgba filled = ui.context.palette.text_on(ui.ink(ink));
    const float width = inside ? bar.width() - 2 * pad : room, x = inside ? bar.min.x + pad : bar.max.x + pad;
    const auto words = [&](const draw::Font& font, float line_top, Ink outside, const std::string& text) {
        if (draw::text_size(font, text).x > width) return;
        put(ui, ui.list, font, {x, line_top}, inside && solid ? filled : ui.ink(outside), text);
    };
    words(strong, top, Ink::Text, draw::text_size(strong, length).x <= width ? length : brief);
    if (two) words(code, top + body, Ink::TextQuiet, declared);
    draw_says(ui, r, at, row, set, session, two);
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    const float small = line_height(ui, Size::Small), foot = small * 2 + ui.px(8);
    // The longest name has room.
    const float named =
        draw::text_size(ui.font(Face::Strong, Size::Body), "constant memory").x + 2 * ui.px(8) + ui.px(2);
    const float names = std::max(named, std::clamp(rect.width() * 0.2f, ui.px(150), ui.px(260))),
                says = std::clamp(rect.width() * 0.29f, ui.px(210), ui.px(420));
    const Columns at{rect.min.x, rect.min.x + names, rect.max.x - says, rect.max.x};
    const Rect rows{rect.min, {rect.max.x, rect.max.y - foot}};
    for (const int cycles : {1, 10, 100, 1000}) {
        const float x = std::round(at.x(cycles));
        ui.list.AddLine({x, rows.min.y}, {x, rows.max.y + ui.px(3)}, ui.ink(Ink::Line));
        note(ui, {x, rows.max.y + ui.px(3)}, ui.px(60), grouped(static_cast<uint64_t>(cycles)),
             cycles == 1 ? Align::Left : Align::Center);
    }
    const float each = std::min(rows.height() / static_cast<float>(kRows.size()), ui.px(96));
    for (size_t i = 0; i < kRows.size(); ++i) {
        const float y = std::round(rows.min.y + each * static_cast<float>(i));
        draw_row(ui, {{rect.min.x, y + 1}, {rect.max.x, std::round(y + each) - 1}}, at, kRows[i], set,
                 session);
    }
    note(ui, {rect.min.x, rows.max.y + ui.px(3)}, names,
         {fmt::format("cycles for a load, {}", timed(device_of(set)).name), "cycles for a load", "cycles"});
    const char* const energy =
        "Energy, 30 nm (DARPA 2008): two reads and a write of registers 5.5 pJ, 64 bits off the chip 1,920 "
        "pJ.";
    const std::string lit =
        session.recording
            ? fmt::format("Filled: what {} uses, by its recording.", session.trace().meta.kernel)
            : std::string("Open a recording, and what its kernel uses is filled.");
    const float y = rect.max.y - small;
    const float wide = line(ui, {rect.min.x, y}, rect.width() / 2, Face::Text, Size::Small, Ink::Text, lit);
    if (draw::text_size(ui.font(Face::Text, Size::Small), energy).x + wide + ui.px(24) <= rect.width())
        note(ui, {rect.max.x, y}, rect.width(), energy, Align::Right);
}

}  // namespace

Figure memory_figure() {
    const auto& devices = kernels::devices();
    const auto shown = std::ranges::find(devices, "h200", &analysis::DeviceSpec::id) - devices.begin();
    Figure figure{"memory",
                  "The kinds of memory",
                  "From the fastest load to the slowest: who shares each memory, and how large it is.",
                  {{"kind", "Kind", 0, static_cast<int>(kinds().size()) - 1, 2},
                   {"device", "Sizes of", 0, static_cast<int>(devices.size()) - 1, static_cast<int>(shown)}},
                  numbers,
                  concludes,
                  draw_figure};
    for (const MemoryKind& kind : kinds()) figure.parameters[kKind].words.emplace_back(kind.name);
    for (const analysis::DeviceSpec& device : devices)
        figure.parameters[kDevice].words.push_back(device.name);
    return figure;
}

}  // namespace tilescope::lessons
