#include "app/look/fragments.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::look {

using ptx::FragmentPlace, ptx::MatrixForm, ptx::MatrixPlace, ptx::MatrixRole;

namespace {

FragmentPlace held_at(uint32_t lane, uint32_t index, uint32_t element = 0) {
    return {static_cast<uint8_t>(lane), static_cast<uint8_t>(index), static_cast<uint8_t>(element)};
}

}  // namespace

FragmentTile fragment_tile(const MatrixForm& form, MatrixRole role) {
    FragmentTile tile;
    tile.form = form, tile.role = role;
    tile.rows = form.rows(role), tile.columns = form.columns(role);
    tile.holders.resize(size_t{form.products()} * tile.rows * tile.columns);
    const uint32_t each = form.elements(role);
    // From behind, so that of several registers the first one stays.
    for (uint32_t index = form.registers(role); index-- > 0;)
        for (uint32_t lane = 0; lane < kWarpSize; ++lane)
            for (uint32_t element = 0; element < each; ++element) {
                const FragmentPlace held = held_at(lane, index, element);
                const MatrixPlace at = place_of(form, role, held);
                tile.holders[(size_t{at.product} * tile.rows + at.row) * tile.columns + at.column] = held;
            }
    if (each == 1) return tile;
    tile.beside = each;
    tile.down =
        place_of(form, role, held_at(0, 0, 0)).column == place_of(form, role, held_at(0, 0, 1)).column;
    return tile;
}

uint8_t product_of_lane(const MatrixForm& form, uint32_t lane) {
    return place_of(form, MatrixRole::A, held_at(lane, 0)).product;
}

std::string form_name(const MatrixForm& form) {
    return fmt::format("{}mma.m{}n{}k{}", form.wmma ? "w" : "", form.m, form.n, form.k);
}

std::string fragment_element(MatrixRole role, const MatrixPlace& at, uint32_t count, bool down) {
    const auto run = [&](uint32_t first, bool along) {
        return along && count > 1 ? fmt::format("{}..{}", first, first + count - 1) : std::to_string(first);
    };
    return fmt::format("{}({},{})", "ABCD"[static_cast<size_t>(role)], run(at.row, down),
                       run(at.column, !down));
}

std::string fragment_name(const MatrixForm& form, MatrixRole role, const FragmentPlace& held) {
    return fmt::format("{}{}", "abcd"[static_cast<size_t>(role)],
                       held.index * form.elements(role) + held.element);
}

std::string register_part(const MatrixForm& form, MatrixRole role, const FragmentPlace& held) {
    const uint32_t bits = ptx::bits_of(form.type(role)), first = held.element * bits;
    const std::string whole = fmt::format("register {}", held.index);
    if (form.elements(role) == 1) return whole;
    switch (bits) {
        case 16: return fmt::format("the {} half of {}", held.element == 0 ? "lower" : "upper", whole);
        case 8: return fmt::format("byte {} of {}", held.element, whole);
        case 1: return fmt::format("bit {} of {}", first, whole);
        default: return fmt::format("bits {} to {} of {}", first, first + bits - 1, whole);
    }
}

std::string holder_text(const FragmentTile& tile, const MatrixPlace& at) {
    const FragmentPlace& held = tile.holder(at);
    return fmt::format("{}: lane {} holds it as {}, {}", fragment_element(tile.role, at), held.lane,
                       fragment_name(tile.form, tile.role, held), register_part(tile.form, tile.role, held));
}

std::vector<std::string> held_by_register(const FragmentTile& tile, uint32_t lane) {
    std::vector<std::string> made;
    for (uint32_t index = 0; index < tile.form.registers(tile.role); ++index) {
        const FragmentPlace held = held_at(lane, index);
        const MatrixPlace at = place_of(tile.form, tile.role, held);
        if (tile.holder(at) != held) break;
        made.push_back(fragment_element(tile.role, at, tile.beside, tile.down));
    }
    return made;
}

std::string held_text(const FragmentTile& tile, uint32_t lane) {
    const std::vector<std::string> held = held_by_register(tile, lane);
    const uint32_t registers = tile.form.registers(tile.role),
                   copies = registers / static_cast<uint32_t>(held.size());
    return fmt::format("{} of {} in {}{}: {}",
                       counted(held.size() * tile.form.elements(tile.role), "element"),
                       "ABCD"[static_cast<size_t>(tile.role)], counted(registers, "register"),
                       copies > 1 ? ", each " + times_in_words(copies) : "", fmt::join(held, ", "));
}

// --- of a recording

namespace {

bool is_product(const ptx::Site& site) { return site.exchange == ptx::Exchange::Multiply; }

const ptx::Instruction* instruction_at(const trace::Trace& trace, const ptx::Site& site) {
    const ptx::Kernel* const kernel = trace.module ? trace::kernel_of(trace, *trace.module) : nullptr;
    return kernel == nullptr || site.instruction >= kernel->instructions.size()
               ? nullptr
               : &kernel->instructions[site.instruction];
}

std::vector<std::string> names_of(const trace::Trace& trace, const ptx::Operand& fragment) {
    const ptx::Kernel& kernel = *trace::kernel_of(trace, *trace.module);
    std::vector<std::string> names;
    const auto add = [&](const ptx::Operand& one) {
        names.push_back(one.reg < 0 ? "" : kernel.registers[static_cast<size_t>(one.reg)].name);
    };
    if (fragment.kind == ptx::Operand::Kind::Vector)
        for (const ptx::Operand& one : fragment.elements) add(one);
    else
        add(fragment);
    return names;
}

std::string value_words(ptx::MatrixType type, uint64_t bits) {
    using T = ptx::MatrixType;
    switch (type) {
        case T::E4M3: return short_value({ElementType::E4M3, bits});
        case T::E5M2: return short_value({ElementType::E5M2, bits});
        case T::S4: return short_value({ElementType::S8, ((bits ^ 8) - 8) & 0xFF});
        case T::U4:
        case T::B1: return std::to_string(bits);
        default: return short_value({memory_type_of(type), bits});
    }
}

// The element of an array that an element of a fragment was loaded from, and where that is shared memory, the one of a
// global array that it held.
struct FragmentSource {
    playback::Element loaded, before;
};
FragmentSource source_of(const trace::Trace& trace, const playback::BlockReplay& replay,
                         const playback::MatrixStep& held, MatrixRole role, const FragmentPlace& at) {
    if (role == MatrixRole::D) return {};
    const auto& origins = held.origin[static_cast<size_t>(role)];
    const uint32_t bits = ptx::bits_of(held.form.type(role));
    const playback::Factor factor =
        replay.factor(origins[size_t{at.index} * kWarpSize + at.lane], at.lane, at.element * bits / 8);
    if (!factor.known()) return {};
    FragmentSource made{factor.element, {}};
    if (trace.launch.arrays[factor.element.array].space != Space::Shared) return made;
    made.before = replay.cell(factor.element.array, factor.element.index, factor.step).source;
    if (made.before.array == trace::kNoArray) return made;
    const Array& before = trace.launch.arrays[made.before.array];
    made.before.index += factor.within / std::max(before.element_bytes(), 1u);
    return made;
}

// Elements of one array: as a box around them where they fill it, "As[1,2..3]", else the first and the last; "" where any
// is unknown.
std::string place_words(const trace::Trace& trace, const Notation& notation,
                        const std::vector<playback::Element>& elements) {
    if (elements.empty() || elements[0].array == trace::kNoArray) return "";
    const Array& array = trace.launch.arrays[elements[0].array];
    ElementBox box;
    std::set<uint64_t> different;
    for (const playback::Element& one : elements) {
        if (one.array != elements[0].array || one.index >= array.elements()) return "";
        box.include(position_of(array, static_cast<int64_t>(one.index)));
        different.insert(one.index);
    }
    const auto along = [&](int64_t Position::*axis) { return box.last.*axis - box.first.*axis + 1; };
    if (std::cmp_equal(different.size(),
                       along(&Position::slice) * along(&Position::row) * along(&Position::col)))
        return elements_text(array, box, notation);
    return fmt::format("{}{}{}", element_name(array, static_cast<int64_t>(elements.front().index), notation),
                       different.size() == 2 ? ", " : " \u2026 ",
                       index_text(array, static_cast<int64_t>(elements.back().index), notation));
}

}  // namespace

bool multiplies_matrices(const trace::Trace& trace) { return std::ranges::any_of(trace.sites, is_product); }

std::optional<uint32_t> product_near(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    if (step >= index.steps) return std::nullopt;
    const uint32_t warp = trace.warp_of(index.first + step);
    std::optional<uint32_t> before, behind;
    for (const ptx::Site& site : trace.sites) {
        if (!is_product(site) || site.id >= index.steps_of_site.size()) continue;
        const std::vector<uint32_t>& steps = index.steps_of_site[site.id];
        const auto own = [&](uint32_t at) { return trace.warp_of(index.first + at) == warp; };
        const auto next = std::ranges::upper_bound(steps, step);
        const auto last = std::find_if(std::reverse_iterator(next), steps.rend(), own);
        if (last != steps.rend()) before = std::max(before.value_or(*last), *last);
        if (const auto first = std::find_if(next, steps.end(), own); first != steps.end())
            behind = std::min(behind.value_or(*first), *first);
    }
    const ptx::Instruction* const made =
        instruction_at(trace, trace.sites[trace.form_of(index.first + step).site]);
    const bool brings = made != nullptr && (made->op == ptx::Op::Ldmatrix || made->op == ptx::Op::WmmaLoad);
    return behind && (brings || !before) ? behind : before;
}

FragmentsView fragments_view(const trace::Trace& trace, const BlockIndex& index,
                             const playback::BlockReplay* replay, uint32_t step) {
    FragmentsView view;
    view.step = step;
    view.warp = trace.warp_of(index.first + step);
    const ptx::Instruction* const made =
        instruction_at(trace, trace.sites[trace.form_of(index.first + step).site]);
    const auto form = made == nullptr ? std::nullopt : matrix_form(*made);
    if (!form) return view;
    for (const MatrixRole role : {MatrixRole::A, MatrixRole::B, MatrixRole::D})
        view.tiles.push_back(fragment_tile(*form, role));
    for (size_t role = 0; role < view.register_names.size(); ++role)
        view.register_names[role] = names_of(trace, made->operands[role == 3 ? 0 : role + 1]);
    view.held = replay == nullptr ? nullptr : replay->matrix_step(step);
    if (view.held == nullptr) return view;
    for (const FragmentTile& tile : view.tiles) {
        std::vector<std::string>& values = view.values.emplace_back();
        for (const FragmentPlace& at : tile.holders)
            values.push_back(value_words(form->type(tile.role), view.held->bits(tile.role, at)));
    }
    return view;
}

std::vector<FragmentRow> rows_of_lane(const trace::Trace& trace, const BlockIndex& index,
                                      const playback::BlockReplay* replay, const FragmentsView& view,
                                      const FragmentTile& tile, uint32_t lane) {
    std::vector<FragmentRow> rows;
    const std::vector<std::string> elements = held_by_register(tile, lane);
    const auto& names = view.register_names[static_cast<size_t>(tile.role)];
    constexpr uint32_t kMostNamed = 4;  // elements of a register whose names and values are all told
    for (uint32_t i = 0; i < elements.size(); ++i) {
        FragmentRow& row = rows.emplace_back();
        row.elements = elements[i];
        if (i < names.size()) row.reg = names[i];
        const auto last = held_at(lane, i, tile.beside - 1);
        row.names = fragment_name(tile.form, tile.role, held_at(lane, i));
        if (tile.beside > 1)
            row.names += (tile.beside == 2 ? " " : "..") + fragment_name(tile.form, tile.role, last);
        if (view.held == nullptr) continue;
        std::vector<playback::Element> loaded, before;
        for (uint32_t element = 0; element < tile.beside; ++element) {
            const FragmentPlace at = held_at(lane, i, element);
            if (tile.beside <= kMostNamed)
                row.values += (element == 0 ? "" : ", ") +
                              value_words(tile.form.type(tile.role), view.held->bits(tile.role, at));
            if (replay == nullptr) continue;
            const FragmentSource source = source_of(trace, *replay, *view.held, tile.role, at);
            loaded.push_back(source.loaded), before.push_back(source.before);
        }
        row.from = place_words(trace, index.notation, loaded);
        // What D's elements were before, where C lies as D does.
        if (tile.role == MatrixRole::D && tile.form.type(MatrixRole::C) == tile.form.type(MatrixRole::D))
            for (uint32_t element = 0; element < tile.beside; ++element)
                row.from += (element == 0 ? "C was " : ", ") +
                            value_words(tile.form.type(MatrixRole::C),
                                        view.held->bits(MatrixRole::C, held_at(lane, i, element)));
        // A wmma.load puts some elements together by arithmetic of its own.
        const bool unknown = tile.role != MatrixRole::D && row.from.empty() && !tile.form.wmma;
        if (unknown && (view.held->origin[static_cast<size_t>(tile.role)][size_t{i} * kWarpSize + lane] &
                        simt::kComputed))
            row.from = "computed";
        if (const std::string first = place_words(trace, index.notation, before);
            !row.from.empty() && !first.empty())
            row.from += " = " + first;
    }
    return rows;
}

std::string element_text(const trace::Trace& trace, const BlockIndex& index,
                         const playback::BlockReplay* replay, const FragmentsView& view,
                         const FragmentTile& tile, const MatrixPlace& at) {
    const FragmentPlace& held = tile.holder(at);
    std::string text = holder_text(tile, at);
    const auto& names = view.register_names[static_cast<size_t>(tile.role)];
    if (held.index < names.size() && !names[held.index].empty())
        text += fmt::format(" ({})", names[held.index]);
    if (view.held == nullptr) return text;
    const std::string value = value_words(tile.form.type(tile.role), view.held->bits(tile.role, held));
    text.insert(text.find(':'), " = " + value);
    if (tile.role == MatrixRole::D)
        return text + fmt::format("; C was {}",
                                  value_words(tile.form.type(MatrixRole::C),
                                              view.held->bits(MatrixRole::C,
                                                              *holder_of(tile.form, MatrixRole::C, at))));
    if (replay == nullptr) return text;
    const FragmentSource source = source_of(trace, *replay, *view.held, tile.role, held);
    if (const std::string loaded = place_words(trace, index.notation, {source.loaded}); !loaded.empty())
        text += "; from " + loaded;
    if (const std::string before = place_words(trace, index.notation, {source.before}); !before.empty())
        text += ", which holds " + before;
    return text;
}

}  // namespace tilescope::look
