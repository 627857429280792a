// The kinds of memory on a picture of an SM and a grid: who may touch each, for how long, how large it is.
//
//   +- grid -------------------------------------------------+
//   | +- block, on an SM ----------------+  +--------------+ |
//   | | +- thread --+  +---------------+ |  | global       | |
//   | | | registers |  | shared memory | |  +--------------+ |
//   | | | local     |  |               | |  | constant     | |
//   | | +-----------+  +---------------+ |  |              | |
//   | +----------------------------------+  +--------------+ |
//   +--------------------------------------------------------+
//
// Scope and lifetime: CUDA C++ Programming Guide, "Variable Memory Space Specifiers" and "Device Memory
// Accesses"; 512 KiB of local memory a thread (16 KiB on 1.x) and 64 KiB of constant memory: the same,
// "Technical Specifications per Compute Capability". An SM's registers and shared memory: assets/devices.
//
// Speed. That a register costs no cycle of its own, that local memory is as slow as global memory, and that
// constant memory is as fast as a register where a warp reads one cached address: CUDA C++ Best Practices
// Guide, section "Device Memory Spaces". Cycles of shared and global memory on an H100: W. Luo et al.,
// Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking, arXiv 2402.13499,
// table of latencies (29.0 and 478.8 clocks). Energy, for a chip of 30 nm: S. Keckler, Conventional Core
// Microarchitecture is Dead, slide "What do things cost?", after the DARPA Exascale Study of 2008: 5.5 pJ for
// two reads and a write of 64 bits in a register file, 30 pJ a bit over a standard link off the chip.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "core/trace/trace.h"

namespace tilescope::lessons {
namespace {

enum : uint8_t { kKind, kDevice };
enum KindAt : uint8_t { kRegisters, kLocal, kShared, kGlobal, kConstant };

struct MemoryKind {
    const char *name, *declared, *scope, *lifetime, *where, *speed;
    Ink ink;
    std::optional<Space> space;  // none: registers
};
const std::array<MemoryKind, 5>& kinds() {
    static const std::array<MemoryKind, 5> all{{
        {"registers", "float sum;", "a thread", "the kernel", "on the SM",
         "no cycle of its own: an operand of the instruction", Ink::Product, std::nullopt},
        {"local memory", "float row[64];", "a thread", "the kernel", "in device memory, cached",
         "as global memory", Ink::Local, Space::Local},
        {"shared memory", "__shared__ float tile[16][16];", "a block", "the block", "on the SM",
         "29 cycles on an H100, by a load of its own", Ink::SharedLoad, Space::Shared},
        {"global memory", "float* m, cudaMalloc", "a grid, and the host", "the program",
         "in device memory, cached", "479 cycles on an H100, less from a cache", Ink::GlobalLoad,
         Space::Global},
        {"constant memory", "__constant__ float weights[9];", "a grid, read only; the host writes",
         "the program", "in device memory, cached", "a register's, where all lanes read one cached address",
         Ink::Constant, Space::Const},
    }};
    return all;
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
            return fmt::format("{} an SM, {} on all {}", grouped(sm.registers_per_sm),
                               grouped(uint64_t{sm.registers_per_sm} * device.sms),
                               counted(device.sms, "SM"));
        case kLocal: return fmt::format("at most {} KiB a thread", sm.major == 1 ? 16 : 512);
        case kShared:
            return fmt::format("{} an SM, at most {} a block", bytes_text(sm.shared_per_sm),
                               bytes_text(sm.shared_per_block_optin));
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
    std::string text = fmt::format("{}: touched by {}, alive as long as {}, {}. Size: {}. Speed: {}.", name,
                                   kind.scope, kind.lifetime, kind.where, size_of(at, device), kind.speed);
    if (at == kRegisters)
        text += fmt::format(
            " At peak, multiply-adds of the {} move {:.3g} TB/s through {} of them: {:.0f} times what its "
            "DRAM brings.",
            device.name, register_gbs(device) / 1000, bytes_text(register_bytes(device)),
            register_gbs(device) / device.memory_gbs);
    return text;
}

// A kind: what it is and how it is declared, then line by line what there is room for.
void draw_kind(draw::Ui& ui, const Rect& r, std::span<const int> set, const session::Session& session,
               size_t at, Size size) {
    const MemoryKind& kind = kinds()[at];
    const bool lit = used(session, kind), chosen = set[kKind] == static_cast<int>(at);
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body), pad = ui.px(8);
    const draw::Rgba ground =
        lit ? draw::mix(ui.ink(Ink::Panel), ui.ink(kind.ink), 0.28f) : ui.ink(Ink::Panel);
    ui.list.AddRectFilled(r.min, r.max, ground, ui.px(4));
    ui.list.AddRect(r.min, r.max,
                    ui.ink(chosen ? Ink::Accent
                           : lit  ? kind.ink
                                  : Ink::LineStrong),
                    ui.px(4), 0, ui.px(chosen ? 3.f : 1.f));
    const float width = r.width() - 2 * pad, left = r.min.x + pad;
    const draw::Font code = ui.font(Face::Mono, Size::Small);
    float y = r.min.y + ui.px(4);
    const float name = line(ui, {left, y}, width, Face::Strong, Size::Body, Ink::Text, kind.name);
    // What it looks like in a kernel, behind its name where that leaves room.
    const bool beside = name + ui.px(16) + draw::text_size(code, kind.declared).x <= width;
    if (beside)
        put(ui, ui.list, code, {r.max.x - pad, y + body - small}, ui.ink(Ink::TextQuiet), kind.declared,
            Align::Right);
    y += body;
    struct KindLine {
        std::string words;
        Face face;
    };
    std::vector<KindLine> lines;
    if (const std::string requests = requests_to(session, kind); !requests.empty())
        lines.push_back({requests, Face::Strong});
    lines.push_back({std::string(kind.scope), Face::Text});
    lines.push_back({asked(session) ? std::string("size: ?") : size_of(at, device_of(set)), Face::Text});
    lines.push_back({std::string(kind.speed), Face::Text});
    if (!beside) lines.push_back({std::string(kind.declared), Face::Mono});
    for (const KindLine& one : lines) {
        const Size of = one.face == Face::Mono ? Size::Small : size;
        const auto rows = wrapped(ui.font(one.face, of), one.words, width).size();
        const float high = line_height(ui, of) * static_cast<float>(rows);
        if (y + high > r.max.y - ui.px(2)) continue;
        y += paragraph(ui, {left, y}, width, one.face, of, Ink::Text, one.words, static_cast<int>(rows));
    }
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    const float small = line_height(ui, Size::Small), pad = ui.px(8), head = small + ui.px(4);
    const auto frame = [&](const Rect& r, std::string_view name) {
        ui.list.AddRect(r.min, r.max, ui.ink(Ink::LineStrong), ui.px(6));
        note(ui, {r.min.x + pad, r.min.y + ui.px(2)}, r.width() - 2 * pad, name);
    };
    // In larger type where half a box holds it.
    const Size size = rect.height() > line_height(ui, Size::Body) * 18 ? Size::Body : Size::Small;
    const auto kind = [&](size_t at, const Rect& r) { draw_kind(ui, r, set, session, at, size); };
    const float foot = small + ui.px(6);
    const Rect grid{rect.min, {rect.max.x, rect.max.y - foot}};
    frame(grid, "the grid: all blocks, and the device's memory");
    const float top = grid.min.y + head, bottom = grid.max.y - pad, left = grid.min.x + pad;
    const float right = grid.min.x + grid.width() * 0.66f;  // of the block
    const Rect block{{left, top}, {right, bottom}};
    frame(block, fmt::format("a block, on one SM of the {}", device_of(set).name));
    const float inside = block.min.y + head, low = block.max.y - pad;
    const float middle = block.min.x + block.width() * 0.53f;
    const Rect thread{{block.min.x + pad, inside}, {middle - pad / 2, low}};
    frame(thread, "a thread");
    const auto halves = [&](const Rect& r, size_t first) {
        const float half = (r.min.y + r.max.y) / 2;
        kind(first, {r.min, {r.max.x, half - pad / 2}});
        kind(first + 1, {{r.min.x, half + pad / 2}, r.max});
    };
    halves({{thread.min.x + pad, thread.min.y + head}, {thread.max.x - pad, thread.max.y - pad}}, kRegisters);
    kind(kShared, {{middle + pad / 2, inside}, {block.max.x - pad, low}});
    halves({{right + pad, top}, {grid.max.x - pad, bottom}}, kGlobal);
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
                  "Inside the frame of a thread, a block or the grid stands what belongs to it.",
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
