// Who holds what: the elements of A, B, C and D in the registers of a warp that multiplies matrices by mma or wmma.
#include "app/look/fragments.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/lessons/figures/parts.h"
#include "app/pictures/fragments.h"

namespace tilescope::lessons {
namespace {

using ptx::MatrixForm, ptx::MatrixRole, ptx::MatrixType;

enum : uint8_t { kShape, kSums, kLaneShown };
constexpr std::array kShown = {MatrixRole::A, MatrixRole::B, MatrixRole::D};

// A form for each shape and type of factors, its sums as wide as they can be. What lies as another does is left out:
// u8 lies as s8, u4 as s4, e5m2 as e4m3.
const std::vector<MatrixForm>& forms() {
    static const std::vector<MatrixForm> all = [] {
        std::vector<MatrixForm> made;
        for (const MatrixForm& form : ptx::product_forms()) {
            const MatrixType factor = form.type(MatrixRole::A);
            if (factor == MatrixType::U8 || factor == MatrixType::U4 || factor == MatrixType::E5M2) continue;
            if (made.empty() || look::form_name(made.back()) != look::form_name(form) ||
                made.back().type(MatrixRole::A) != factor)
                made.push_back(form);
            else  // the next wider sum
                made.back() = form;
        }
        return made;
    }();
    return all;
}

bool sums_in_halves(MatrixForm form) {
    form.types[2] = form.types[3] = MatrixType::F16;
    return std::ranges::count(ptx::product_forms(), form) > 0;
}

MatrixForm form_of(std::span<const int> set) {
    MatrixForm form = forms()[at(set, kShape)];
    if (set[kSums] == 1 && sums_in_halves(form)) form.types[2] = form.types[3] = MatrixType::F16;
    return form;
}

std::vector<look::FragmentTile> tiles_of(const MatrixForm& form) {
    std::vector<look::FragmentTile> tiles;
    for (const MatrixRole role : kShown) tiles.push_back(look::fragment_tile(form, role));
    return tiles;
}

bool idle(size_t parameter, std::span<const int> set, const session::Session&) {
    return parameter == kSums && !sums_in_halves(forms()[at(set, kShape)]);
}

std::vector<NamedNumber> numbers(std::span<const int> set) {
    const MatrixForm form = form_of(set);
    const auto registers = [&](MatrixRole role) { return form.registers(role); };
    return {{"a_registers", registers(MatrixRole::A), "register"},
            {"b_registers", registers(MatrixRole::B), "register"},
            {"d_registers", registers(MatrixRole::D), "register"},
            {"multiplications", uint64_t{form.m} * form.n * form.k * form.products(), "multiplication"}};
}

std::string concludes(std::span<const int> set) {
    const MatrixForm form = form_of(set);
    const auto tiles = tiles_of(form);
    const uint32_t lane = at(set, kLaneShown);
    std::string text =
        fmt::format("Lane {} holds {}; {}; and {}, as of C.", lane, look::held_text(tiles[0], lane),
                    look::held_text(tiles[1], lane), look::held_text(tiles[2], lane));
    if (form.products() > 1)
        text += fmt::format(" It takes part in product {} of {} side by side.",
                            look::product_of_lane(form, lane), form.products());
    if (form.wmma) text += " PTX leaves open who holds what of wmma: this is the machine code of sm_90.";
    return text;
}

void draw_figure(draw::Ui& ui, const Rect& rect, std::span<const int> set, const session::Session& session) {
    const MatrixForm form = form_of(set);
    const auto tiles = tiles_of(form);
    const bool hidden = asked(session);
    const float small = line_height(ui, Size::Small);
    pictures::FragmentsShown shown{.tiles = tiles, .lane = at(set, kLaneShown), .named = !hidden};
    if (hidden) shown.lane.reset();
    const auto under = fragments_picture(ui, {rect.min, {rect.max.x, rect.max.y - small - ui.px(6)}}, shown);
    if (under && !hidden) ui.tip = holder_text(tiles[under->tile], under->at);
    const bool packed = ptx::bits_of(form.type(MatrixRole::A)) < 16;
    const uint32_t lane = at(set, kLaneShown);
    note(ui, {rect.min.x, rect.max.y - small}, rect.width(),
         hidden
             ? std::vector<std::string>{packed ? "Cells of A and B are registers." : "A cell is an element."}
             : std::vector<std::string>{
                   fmt::format(
                       "{}; its number is the lane that holds it. a0, b0, d0, \u2026: what lane {} holds, in "
                       "the order of its registers.",
                       packed ? fmt::format("A cell of A and B is a register of {} elements",
                                            form.elements(MatrixRole::A))
                              : "A cell is an element",
                       lane),
                   fmt::format("A cell's number is its lane; a0, b0, d0: of lane {}.", lane)});
}

}  // namespace

Figure fragments_figure() {
    Figure figure{"fragments",
                  "Fragments: who holds what of a product of matrices",
                  "A warp holds A, B and D in the registers of its 32 lanes, each lane a fragment of them.",
                  {{"shape", "Instruction", 0, 0, 0},
                   {"sums", "Sums", 0, 1, 0, 1, {"widest", "f16"}},
                   {"lane", "Lane", 0, kWarpSize - 1, 5}},
                  numbers,
                  concludes,
                  draw_figure,
                  nullptr,
                  false,
                  idle};
    FigureParameter& shapes = figure.parameters[kShape];
    for (const MatrixForm& form : forms()) {
        if (!form.wmma && form.m == 16 && form.k == 16 && form.type(MatrixRole::A) == MatrixType::F16)
            shapes.first = static_cast<int>(shapes.words.size());
        shapes.words.push_back(
            fmt::format("{}.{}", look::form_name(form), ptx::name_of(form.type(MatrixRole::A))));
    }
    shapes.most = static_cast<int>(shapes.words.size()) - 1;
    return figure;
}

}  // namespace tilescope::lessons
