// The kinds of memory on a picture of an SM and a grid: who may touch each, for how long, how large it is.
//
//   +- grid -----------------------------------------+
//   | +- block, on an SM --------------------------+ |
//   | | thread: registers, local     shared memory | |
//   | +--------------------------------------------+ |
//   |  global memory                 constant memory |
//   +------------------------------------------------+
//
// Scope and lifetime: CUDA C++ Programming Guide, "Variable Memory Space Specifiers" and "Device Memory
// Accesses"; that local memory lies in device memory and is cached: the same, "Local Memory"; constant memory
// of 64 KB: the same, "Technical Specifications per Compute Capability".
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "core/trace/trace.h"

namespace tilescope::lessons {
namespace {

enum At : uint8_t { kKind };

struct Kind {
    const char *name, *declared, *scope, *lifetime, *where, *speed;
    Ink ink;
    std::optional<Space> space;  // none: registers
};
const std::array<Kind, 5>& kinds() {
    static const std::array<Kind, 5> all{{
        {"registers", "float sum;", "a thread", "the kernel", "on the SM",
         "an operand of every instruction: no load", Ink::Product, std::nullopt},
        {"local memory", "float row[64];", "a thread", "the kernel", "in device memory, cached",
         "as global memory", Ink::Local, Space::Local},
        {"shared memory", "__shared__ float tile[16][16];", "a block", "the block", "on the SM",
         "a few dozen cycles, needs a load", Ink::SharedLoad, Space::Shared},
        {"global memory", "float* m, cudaMalloc", "a grid, and the host", "the program",
         "in device memory, cached", "hundreds of cycles", Ink::GlobalLoad, Space::Global},
        {"constant memory", "__constant__ float weights[9];", "a grid, read only; the host writes",
         "the program", "64 KiB in device memory, cached",
         "a register's speed where all lanes read one address and the cache has it", Ink::Constant,
         Space::Const},
    }};
    return all;
}

// Whether a launch's requests went to a space; every kernel has registers.
bool used(const session::Session& session, const Kind& kind) {
    if (!session.recording) return false;
    if (!kind.space) return true;
    return std::ranges::any_of(session.trace().forms, [&](const trace::Form& form) {
        return form.space == *kind.space && session.trace().sites[form.site].kind != ptx::SiteKind::Barrier;
    });
}

std::vector<NamedNumber> numbers(std::span<const int>) { return {{"kinds_of_memory", kinds().size()}}; }

std::string concludes(std::span<const int> set) {
    const Kind& kind = kinds()[static_cast<size_t>(set[kKind])];
    std::string name = kind.name;
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    return fmt::format("{}: touched by {}, alive as long as {}, {}. Speed: {}.", name, kind.scope,
                       kind.lifetime, kind.where, kind.speed);
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body), pad = ui.px(10);
    const auto box = [&](size_t at, const Rect& r) {
        const Kind& kind = kinds()[at];
        const bool lit = used(session, kind), chosen = set[kKind] == static_cast<int>(at);
        const draw::Rgba ground =
            lit ? draw::mix(ui.ink(Ink::Panel), ui.ink(kind.ink), 0.45f) : ui.ink(Ink::Panel);
        ui.list.AddRectFilled(r.min, r.max, ground, ui.px(4));
        ui.list.AddRect(r.min, r.max,
                        ui.ink(chosen ? Ink::Accent
                               : lit  ? kind.ink
                                      : Ink::LineStrong),
                        ui.px(4), 0, ui.px(chosen ? 3.f : 1.f));
        float y = r.min.y + ui.px(6);
        const float width = r.width() - 2 * pad;
        line(ui, {r.min.x + pad, y}, width, Face::Strong, Size::Body, Ink::Text, kind.name);
        y += body;
        for (const char* const text : {kind.declared, kind.scope, kind.speed}) {
            if (y + small > r.max.y) break;
            line(ui, {r.min.x + pad, y}, width, text == kind.declared ? Face::Mono : Face::Text, Size::Small,
                 Ink::TextQuiet, text);
            y += small;
        }
    };
    const auto frame = [&](const Rect& r, const char* name) {
        ui.list.AddRect(r.min, r.max, ui.ink(Ink::LineStrong), ui.px(6));
        note(ui, {r.min.x + pad, r.min.y + ui.px(4)}, r.width() - 2 * pad, name);
    };
    const float foot = small + ui.px(8);
    const Rect grid{rect.min, {rect.max.x, rect.max.y - foot}};
    frame(grid, "the grid: all blocks, and the device's memory");
    const float top = grid.min.y + small + ui.px(10), split = grid.min.y + grid.height() * 0.62f;
    const Rect block{{grid.min.x + pad, top}, {grid.max.x - pad, split}};
    frame(block, "a block, on one SM");
    const float inside = block.min.y + small + ui.px(10), middle = block.min.x + block.width() * 0.56f;
    const Rect thread{{block.min.x + pad, inside}, {middle - pad / 2, block.max.y - pad}};
    frame(thread, "a thread");
    const float in = thread.min.y + small + ui.px(8), half = (thread.min.x + thread.max.x) / 2;
    box(0, {{thread.min.x + pad, in}, {half - pad / 2, thread.max.y - pad}});
    box(1, {{half + pad / 2, in}, {thread.max.x - pad, thread.max.y - pad}});
    box(2, {{middle + pad / 2, inside}, {block.max.x - pad, block.max.y - pad}});
    const float low = split + pad, centre = (grid.min.x + grid.max.x) / 2;
    box(3, {{grid.min.x + pad, low}, {centre - pad / 2, grid.max.y - pad}});
    box(4, {{centre + pad / 2, low}, {grid.max.x - pad, grid.max.y - pad}});
    note(ui, {rect.min.x, rect.max.y - small}, rect.width(),
         session.recording
             ? fmt::format("Filled: what {} uses, by its recording.", session.trace().meta.kernel)
             : "Open a recording, and what its kernel uses is filled.");
}

}  // namespace

Figure memory_figure() {
    Figure figure{"memory",
                  "The kinds of memory",
                  "Inside the frame of a thread, a block or the grid stands what belongs to it.",
                  {{"kind", "Kind", 0, static_cast<int>(kinds().size()) - 1, 2}},
                  numbers,
                  concludes,
                  draw_figure};
    for (const Kind& kind : kinds()) figure.parameters[kKind].words.emplace_back(kind.name);
    return figure;
}

}  // namespace tilescope::lessons
