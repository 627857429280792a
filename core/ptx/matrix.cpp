#include "core/ptx/matrix.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "core/ptx/ops.h"

namespace tilescope::ptx {
namespace {

using M = MatrixType;

constexpr uint32_t types_of(std::initializer_list<MatrixType> types) {
    uint32_t bits = 0;
    for (const MatrixType type : types) bits |= 1u << static_cast<uint32_t>(type);
    return bits;
}
constexpr bool has_type(uint32_t set, MatrixType type) {
    return (set >> static_cast<uint32_t>(type) & 1) != 0;
}

constexpr uint32_t kBytes = types_of({M::S8, M::U8}), kNibbles = types_of({M::S4, M::U4});
constexpr uint32_t kFp8 = types_of({M::E4M3, M::E5M2}), kF16 = types_of({M::F16}),
                   kSums = types_of({M::F16, M::F32});

// What A, B and the sums may be in a shape. Where `alike`, B is of A's type; where `one_sum`, C of D's.
struct FormRow {
    bool wmma;
    uint16_t m, n, k;
    uint32_t factors, sums;
    bool alike = true, one_sum = true;
};
constexpr FormRow kForms[] = {
    {false, 8, 8, 4, kF16, kSums, true, false},
    {false, 16, 8, 8, kF16, kSums},
    {false, 16, 8, 16, kF16, kSums},
    {false, 16, 8, 8, types_of({M::BF16}), types_of({M::F32})},
    {false, 16, 8, 16, types_of({M::BF16}), types_of({M::F32})},
    {false, 16, 8, 4, types_of({M::TF32}), types_of({M::F32})},
    {false, 16, 8, 8, types_of({M::TF32}), types_of({M::F32})},
    {false, 8, 8, 4, types_of({M::F64}), types_of({M::F64})},
    {false, 16, 8, 4, types_of({M::F64}), types_of({M::F64})},
    {false, 16, 8, 8, types_of({M::F64}), types_of({M::F64})},
    {false, 16, 8, 16, types_of({M::F64}), types_of({M::F64})},
    {false, 8, 8, 16, kBytes, types_of({M::S32}), false},
    {false, 16, 8, 16, kBytes, types_of({M::S32}), false},
    {false, 16, 8, 32, kBytes, types_of({M::S32}), false},
    {false, 8, 8, 32, kNibbles, types_of({M::S32}), false},
    {false, 16, 8, 32, kNibbles, types_of({M::S32}), false},
    {false, 16, 8, 64, kNibbles, types_of({M::S32}), false},
    {false, 8, 8, 128, types_of({M::B1}), types_of({M::S32})},
    {false, 16, 8, 128, types_of({M::B1}), types_of({M::S32})},
    {false, 16, 8, 256, types_of({M::B1}), types_of({M::S32})},
    {false, 16, 8, 16, kFp8, kSums, false},
    {false, 16, 8, 32, kFp8, kSums, false},
    {true, 16, 16, 16, kF16, kSums, true, false},
    {true, 32, 8, 16, kF16, kSums, true, false},
    {true, 8, 32, 16, kF16, kSums, true, false},
    {true, 16, 16, 16, types_of({M::BF16}), types_of({M::F32})},
    {true, 32, 8, 16, types_of({M::BF16}), types_of({M::F32})},
    {true, 8, 32, 16, types_of({M::BF16}), types_of({M::F32})},
    {true, 16, 16, 8, types_of({M::TF32}), types_of({M::F32})},
    {true, 16, 16, 16, kBytes, types_of({M::S32})},
    {true, 32, 8, 16, kBytes, types_of({M::S32})},
    {true, 8, 32, 16, kBytes, types_of({M::S32})},
    {true, 8, 8, 4, types_of({M::F64}), types_of({M::F64})},
    {true, 8, 8, 32, kNibbles, types_of({M::S32})},
    {true, 8, 8, 128, types_of({M::B1}), types_of({M::S32})},
};

// Sparse ones: A holds half of the columns. Source: PTX ISA, "mma.sp".
constexpr FormRow kSparseForms[] = {
    {false, 16, 8, 16, kF16, kSums},
    {false, 16, 8, 32, kF16, kSums},
    {false, 16, 8, 16, types_of({M::BF16}), types_of({M::F32})},
    {false, 16, 8, 32, types_of({M::BF16}), types_of({M::F32})},
    {false, 16, 8, 8, types_of({M::TF32}), types_of({M::F32})},
    {false, 16, 8, 16, types_of({M::TF32}), types_of({M::F32})},
    {false, 16, 8, 32, kBytes, types_of({M::S32}), false},
    {false, 16, 8, 64, kBytes, types_of({M::S32}), false},
    {false, 16, 8, 64, kNibbles, types_of({M::S32}), false},
    {false, 16, 8, 128, kNibbles, types_of({M::S32}), false},
    {false, 16, 8, 64, kFp8, types_of({M::F32}), false},  // of f16 sm_90 has none
};

constexpr const char* kTypeNames[] = {"",   "f16", "bf16", "tf32", "f32", "f64",  "s8",
                                      "u8", "s4",  "u4",   "b1",   "s32", "e4m3", "e5m2"};
constexpr uint8_t kTypeBits[] = {32, 16, 16, 32, 32, 64, 8, 8, 4, 4, 1, 32, 8, 8};
static_assert(std::size(kTypeNames) == static_cast<size_t>(M::E5M2) + 1);
static_assert(std::size(kTypeBits) == std::size(kTypeNames));

// "m16n8k16"
bool read_shape(std::string_view text, MatrixForm& form) {
    const auto number = [&](char letter, uint16_t& to) {
        if (text.empty() || text[0] != letter) return false;
        text.remove_prefix(1);
        uint32_t value = 0;
        size_t digits = 0;
        for (; digits < text.size() && digits < 4 && text[digits] >= '0' && text[digits] <= '9'; ++digits)
            value = 10 * value + static_cast<uint32_t>(text[digits] - '0');
        text.remove_prefix(digits);
        to = static_cast<uint16_t>(value);
        return digits > 0;
    };
    return number('m', form.m) && number('n', form.n) && number('k', form.k) && text.empty();
}

// The suffixes one after the other.
struct Suffixes {
    std::span<const std::string> left;

    bool done() const { return left.empty(); }
    bool accept(std::string_view word) {
        if (left.empty() || left[0] != word) return false;
        left = left.subspan(1);
        return true;
    }
    std::string_view next() {
        if (left.empty()) return "";
        const std::string_view word = left[0];
        left = left.subspan(1);
        return word;
    }
    bool layout(bool& by_columns) {
        by_columns = accept("col");
        return by_columns || accept("row");
    }
};

const FormRow* row_of(const MatrixForm& form) {
    const auto matches = [&](const FormRow& row) {
        const auto [a, b, c, d] = form.types;
        return row.wmma == form.wmma && row.m == form.m && row.n == form.n && row.k == form.k &&
               has_type(row.factors, a) && has_type(row.factors, b) && has_type(row.sums, c) &&
               has_type(row.sums, d) && (!row.alike || a == b) && (!row.one_sum || c == d) &&
               (row.wmma || c != M::F32 || d == c);
    };
    const std::span<const FormRow> rows = form.sparse ? std::span<const FormRow>(kSparseForms) : kForms;
    const auto found = std::ranges::find_if(rows, matches);
    return found == rows.end() ? nullptr : &*found;
}

// .xor.popc, .and.popc
bool read_bits(Suffixes& suffixes, MatrixForm& form) {
    form.both = suffixes.accept("and");
    return (form.both || suffixes.accept("xor")) && suffixes.accept("popc");
}

bool read_product(Suffixes suffixes, MatrixForm& form) {
    bool bits = false;
    if (form.wmma) bits = read_bits(suffixes, form);
    if (!suffixes.accept("sync") || !suffixes.accept("aligned")) return false;
    bool b_columns = false;
    const auto layouts = [&] { return suffixes.layout(form.a_by_columns) && suffixes.layout(b_columns); };
    if (form.wmma ? !layouts() || !read_shape(suffixes.next(), form)
                  : !read_shape(suffixes.next(), form) || !layouts())
        return false;
    form.b_by_rows = !b_columns;
    if (!form.wmma) form.satfinite = suffixes.accept("satfinite");
    auto& [a, b, c, d] = form.types;
    d = matrix_type_named(suffixes.next());
    const MatrixType second = matrix_type_named(suffixes.next());
    const bool halves = form.wmma && has_type(kSums, d) && has_type(kSums, second) &&
                        (suffixes.done() || suffixes.left[0] == "satfinite");
    if (halves)  // the types of A and B are not named
        a = b = M::F16, c = second;
    else
        a = second, b = matrix_type_named(suffixes.next()), c = matrix_type_named(suffixes.next());
    // Both places are in use; ptxas takes either.
    if (!form.satfinite && suffixes.accept("satfinite")) form.satfinite = true;
    if (a == M::F64) suffixes.accept("rn");
    if (!form.wmma && a == M::B1) bits = read_bits(suffixes, form);
    if (!suffixes.done() || bits != (a == M::B1) || row_of(form) == nullptr) return false;
    const bool four = form.products() == 4;
    const bool fixed = !form.wmma || bits_of(a) < 8;  // A by rows, B by columns
    if (fixed && !four && (form.a_by_columns || form.b_by_rows)) return false;
    if (!four) form.a_by_columns = form.b_by_rows = false;
    return !form.satfinite || (is_integer(a) && a != M::B1);
}

MatrixRole role_named(std::string_view name) {
    return name == "a"   ? MatrixRole::A
           : name == "b" ? MatrixRole::B
           : name == "c" ? MatrixRole::C
                         : MatrixRole::D;
}

// wmma.load.a.sync.aligned.row.m16n16k16{.shared}.f16
bool read_transfer(Suffixes suffixes, MatrixForm& form) {
    const bool load = suffixes.accept("load");
    if (!load && !suffixes.accept("store")) return false;
    const std::string_view name = suffixes.next();
    const MatrixRole role = role_named(name);
    if (load ? name != "a" && name != "b" && name != "c" : name != "d") return false;
    bool by_columns = false;
    if (!suffixes.accept("sync") || !suffixes.accept("aligned") || !suffixes.layout(by_columns) ||
        !read_shape(suffixes.next(), form))
        return false;
    if (suffixes.left.size() == 2) suffixes.next();  // its space, looked at elsewhere
    const MatrixType type = matrix_type_named(suffixes.next());
    form.types[static_cast<size_t>(role)] = type;
    const bool factor = role == MatrixRole::A || role == MatrixRole::B;
    if (!suffixes.done() || type == M::None) return false;
    if (bits_of(type) < 8 && by_columns != (role == MatrixRole::B)) return false;
    return std::ranges::any_of(kForms, [&](const FormRow& row) {
        return row.wmma && row.m == form.m && row.n == form.n && row.k == form.k &&
               has_type(factor ? row.factors : row.sums, type);
    });
}

// m16n8 or m8n8, as the machine has it: a wmma fragment is made of several of these.
struct CoreFragment {
    MatrixRole role{};
    uint32_t across = 1;      // fragments beside each other along n, of C and D
    uint32_t registers = 1;   // of one fragment
    uint32_t different = 1;   // registers of all, without those that hold the same once more
    bool transposed = false;  // it is a fragment of B^T A^T
    bool eight = false;       // of 8 rows
};

CoreFragment core_of(const MatrixForm& form, MatrixRole role) {
    CoreFragment core;
    core.transposed = form.wmma && form.n == 32;
    const uint32_t m = core.transposed ? form.n : form.m, n = core.transposed ? form.m : form.n;
    core.role = !core.transposed || role >= MatrixRole::C ? role
                : role == MatrixRole::A                   ? MatrixRole::B
                                                          : MatrixRole::A;
    core.eight = m == 8;
    const uint32_t rows = core.role == MatrixRole::B ? 8 : core.eight ? 8 : 16;
    const uint32_t columns = core.role >= MatrixRole::C             ? 8
                             : form.sparse && role == MatrixRole::A ? form.k / 2
                                                                    : form.k;
    const uint32_t register_bits = 8 * form.register_bytes(role);
    core.registers = std::max(1u, rows * columns * bits_of(form.type(role)) / register_bits / kWarpSize);
    core.across = core.role >= MatrixRole::C ? n / 8 : 1;
    const uint32_t fragments = core.role == MatrixRole::A   ? m / rows
                               : core.role == MatrixRole::B ? n / 8
                                                            : m / rows * core.across;
    core.different = core.registers * fragments;
    return core;
}

// m8n8k4 of f16: quads p and p + 4 hold product p.
MatrixPlace place_in_four(const MatrixForm& form, MatrixRole role, const FragmentPlace& held) {
    const uint32_t lane = held.lane, high = lane / 16 * 4, part = lane % 16 / 4;
    const uint32_t i = held.index * form.elements(role) + held.element;
    uint32_t row = lane % 4 + high, column = i;
    switch (role) {
        case MatrixRole::A:
            if (form.a_by_columns) row = i + high, column = lane % 4;
            break;
        case MatrixRole::B:
            if (form.b_by_rows)
                row = lane % 4, column = i + high;
            else
                row = i, column = lane % 4 + high;
            break;
        default:
            if (form.type(role) == M::F32)
                row = (lane & 1) + (i & 2) + high, column = (i & 4) + (lane & 2) + (i & 1);
    }
    return {static_cast<uint16_t>(row), static_cast<uint16_t>(column), static_cast<uint8_t>(part)};
}

}  // namespace

const char* name_of(MatrixType type) { return kTypeNames[static_cast<size_t>(type)]; }
MatrixType matrix_type_named(std::string_view name) {
    for (size_t i = 1; i < std::size(kTypeNames); ++i)
        if (name == kTypeNames[i]) return static_cast<MatrixType>(i);
    return M::None;
}

uint32_t bits_of(MatrixType type) { return kTypeBits[static_cast<size_t>(type)]; }

Type memory_type_of(MatrixType type) {
    switch (type) {
        case M::F16: return Type::F16;
        case M::BF16: return Type::BF16;
        case M::TF32:
        case M::F32: return Type::F32;
        case M::F64: return Type::F64;
        case M::S8: return Type::S8;
        case M::U8: return Type::U8;
        case M::S32: return Type::S32;
        default: return Type::B32;
    }
}

uint32_t MatrixForm::columns(MatrixRole role) const {
    if (role != MatrixRole::A) return n;
    return sparse ? k / 2u : k;
}

uint32_t MatrixForm::products() const {
    return !wmma && !sparse && k == 4 && m == 8 && type(MatrixRole::A) == M::F16 ? 4 : 1;
}

uint32_t MatrixForm::registers(MatrixRole role) const {
    const uint32_t held = rows(role) * columns(role) * products() * bits_of(type(role)) /
                          (8 * register_bytes(role)) / kWarpSize;
    const bool factor = role == MatrixRole::A || role == MatrixRole::B;
    // Source: PTX ISA, "Matrix Fragments for WMMA": vectors of eight .f16x2.
    return wmma && factor && type(role) == M::F16 ? 8 : held;
}

std::optional<MatrixForm> matrix_form(const Instruction& instruction) {
    MatrixForm form;
    Suffixes suffixes{instruction.suffixes};
    switch (instruction.op) {
        case Op::MmaSp:
            form.sparse = true;
            suffixes.next();
            [[fallthrough]];
        case Op::Mma:
            if (!read_product(suffixes, form)) return std::nullopt;
            return form;
        case Op::WmmaMma:
            form.wmma = true;
            suffixes.next();
            if (!read_product(suffixes, form)) return std::nullopt;
            return form;
        case Op::WmmaLoad:
        case Op::WmmaStore:
            form.wmma = true;
            if (!read_transfer(suffixes, form)) return std::nullopt;
            return form;
        default: return std::nullopt;
    }
}

std::vector<MatrixForm> product_forms() {
    std::vector<MatrixForm> forms;
    for (const FormRow& row : kForms)
        for (size_t factor = 0; factor < std::size(kTypeNames); ++factor)
            for (size_t sum = 0; sum < std::size(kTypeNames); ++sum) {
                const auto a = static_cast<M>(factor), d = static_cast<M>(sum);
                if (!has_type(row.factors, a) || !has_type(row.sums, d)) continue;
                MatrixForm& form = forms.emplace_back();
                form.m = row.m, form.n = row.n, form.k = row.k;
                form.types = {a, a, d, d};
                form.wmma = row.wmma;
            }
    return forms;
}

MatrixRole matrix_role(const Instruction& instruction) { return role_named(instruction.suffixes[1]); }

bool by_rows(const Instruction& instruction) { return has_suffix(instruction, {"row"}); }

uint32_t natural_stride(const MatrixForm& form, MatrixRole role, bool by_rows) {
    return by_rows ? form.columns(role) : form.rows(role);
}

DeviceNeeds needs_of_matrices(const Instruction& instruction) {
    if (instruction.op == Op::Ldmatrix) return {75, 65};
    if (instruction.op == Op::Movmatrix) return {75, 78};
    if (instruction.op == Op::Stmatrix) return {90, 78};
    const auto form = matrix_form(instruction);
    if (!form) return {};
    const auto has = [&](std::initializer_list<M> types) {
        return std::ranges::any_of(types, [&](M type) { return std::ranges::count(form->types, type) > 0; });
    };
    if (has({M::E4M3, M::E5M2}))
        return {89, form->type(MatrixRole::D) == M::F16 || form->k == 16 ? 87u : 84u};
    if (has({M::F64})) return form->m > 8 ? DeviceNeeds{90, 78} : DeviceNeeds{80, 70};
    if (form->sparse) return {80, has_suffix(instruction, {"sp::ordered_metadata"}) ? 85u : 71u};
    if (form->both) return {80, 71};
    const bool newest = form->wmma ? form->m == 16 && form->k == 8 : form->m > 8 && form->k > 8;
    if (newest || has({M::BF16, M::TF32})) return {80, 70};
    if (form->wmma)
        return has({M::S4, M::U4, M::B1})    ? DeviceNeeds{75, 63}
               : has({M::S8, M::U8, M::S32}) ? DeviceNeeds{72, 63}
                                             : DeviceNeeds{70, 61};
    return form->products() > 1 ? DeviceNeeds{70, 64} : DeviceNeeds{75, has({M::B1}) ? 70u : 65u};
}

uint32_t matrices_of(const Instruction& instruction) {
    return has_suffix(instruction, {"x4"}) ? 4 : has_suffix(instruction, {"x2"}) ? 2 : 1;
}

bool is_transposed(const Instruction& instruction) { return has_suffix(instruction, {"trans"}); }

Fragment fragment_of(const Instruction& instruction, size_t operand) {
    const auto of = [&](MatrixRole role) -> Fragment {
        const auto form = matrix_form(instruction);
        return {form->registers(role), form->register_bytes(role)};
    };
    switch (instruction.op) {
        case Op::Mma:
        case Op::MmaSp:
        case Op::WmmaMma: return of(operand == 0 ? MatrixRole::D : static_cast<MatrixRole>(operand - 1));
        case Op::WmmaLoad:
        case Op::WmmaStore: return of(matrix_role(instruction));
        default: return {matrices_of(instruction), 4};
    }
}

MatrixPlace place_of(const MatrixForm& form, MatrixRole role, const FragmentPlace& held) {
    if (form.products() == 4) return place_in_four(form, role, held);
    const CoreFragment core = core_of(form, role);
    const uint32_t g = held.lane / 4, t = held.lane % 4, each = form.elements(role), e = held.element;
    const uint32_t at = held.index % core.different, fragment = at / core.registers, i = at % core.registers;
    uint32_t row = g, column = 0;
    switch (core.role) {
        case MatrixRole::A:
            row += core.eight ? 0 : 8 * (i % 2);
            column = each * t + 4 * each * (core.eight ? i : i / 2) + e;
            row += fragment * (core.eight ? 8 : 16);
            break;
        case MatrixRole::B:
            row = each * t + 4 * each * i + e;
            column = g + 8 * fragment;
            break;
        default:
            row += 8 * (each == 2 ? i : i / 2) + fragment / core.across * (core.eight ? 8 : 16);
            column = 2 * t + (each == 2 ? e : i % 2) + fragment % core.across * 8;
    }
    if (core.transposed) std::swap(row, column);
    return {static_cast<uint16_t>(row), static_cast<uint16_t>(column), 0};
}

std::optional<FragmentPlace> holder_of(const MatrixForm& form, MatrixRole role, const MatrixPlace& place) {
    for (uint8_t index = 0; index < form.registers(role); ++index)
        for (uint8_t lane = 0; lane < kWarpSize; ++lane)
            for (uint8_t element = 0; element < form.elements(role); ++element)
                if (place_of(form, role, {lane, index, element}) == place)
                    return FragmentPlace{lane, index, element};
    return std::nullopt;
}

namespace {

struct Metadata {
    bool wide = false;         // elements of 16 or 32 bits
    uint32_t group = 4;        // columns of A
    uint32_t in_register = 4;  // groups of a row
    uint32_t lanes = 1;        // of four, whose registers count

    explicit Metadata(const MatrixForm& form) {
        const uint32_t bits = bits_of(form.type(MatrixRole::A));
        wide = bits >= 16;
        group = bits == 32 ? 2 : bits == 4 ? 8 : 4;
        in_register = wide ? 4 : 8;
        lanes = form.k / (group * in_register) * (wide ? 1 : 2);
    }
};

}  // namespace

uint32_t selectors_of(const MatrixForm& form) { return 4 / Metadata(form).lanes; }

uint32_t column_of_stored(const MatrixForm& form, uint32_t selector, const uint32_t* metadata, uint32_t row,
                          uint32_t stored) {
    const Metadata of(form);
    const uint32_t half = of.group / 2, group = stored / half, i = stored % half;
    const uint32_t word = group / of.in_register, high = row / 8;
    const uint32_t lane = 4 * (row % 8) + selector * of.lanes + (of.wide ? word : 2 * word + high);
    const uint32_t shift = 4 * (group % of.in_register) + (of.wide ? 16 * high : 0);
    const auto number = [&](uint32_t which) { return metadata[lane] >> (shift + 2 * which) & 3; };
    const uint32_t first = group * of.group;
    switch (of.group) {
        case 2: return first + number(0) / 2;  // 0b0100 or 0b1110
        case 8: return first + 2 * number(i / 2) + i % 2;
        default: return first + number(i);
    }
}

namespace {

MatrixPlace first_place(const MatrixForm& form, MatrixRole role, uint32_t index, uint32_t element = 0) {
    return place_of(form, role, {0, static_cast<uint8_t>(index), static_cast<uint8_t>(element)});
}

// Whether a register's elements lie side by side in memory.
bool lie_beside(const MatrixForm& form, MatrixRole role, bool by_rows) {
    return (first_place(form, role, 0, 0).row == first_place(form, role, 0, 1).row) == by_rows;
}

// Registers that hold matrices of 8 rows of 16 bytes: those of one fragment of A together, or four.
void add_matrix_requests(const MatrixForm& form, MatrixRole role, bool by_rows,
                         std::vector<MatrixRequest>& requests) {
    const CoreFragment core = core_of(form, role);
    const uint32_t most = core.role == MatrixRole::A ? core.registers : std::min(4u, core.different);
    for (uint32_t first = 0; first < core.different; first += most) {
        MatrixRequest request;
        request.matrices = static_cast<uint8_t>(most);
        request.lanes = most == 4 ? ~0u : (1u << 8 * most) - 1;
        request.transposed = !lie_beside(form, role, by_rows);
        request.first = static_cast<uint8_t>(first);
        for (uint32_t lane = 0; lane < 8 * most; ++lane) {
            MatrixPlace& at = request.place[lane] = first_place(form, role, first + lane / 8);
            (by_rows ? at.row : at.column) += static_cast<uint16_t>(lane % 8);
        }
        requests.push_back(request);
    }
}

// Elements of 16 bits that do not lie side by side: lanes ask for the words of the transposed matrix, register by
// register, and exchange their halves.
void add_transposed_requests(const MatrixForm& form, MatrixRole role, bool by_rows,
                             std::vector<MatrixRequest>& requests) {
    for (uint32_t index = 0; index < core_of(form, role).different; ++index) {
        MatrixRequest request;
        request.bytes = 4;
        request.transposed = true;
        request.first = static_cast<uint8_t>(index);
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
            MatrixPlace& at = request.place[lane] = first_place(form, role, index);
            (by_rows ? at.row : at.column) += static_cast<uint16_t>(lane / 4);
            (by_rows ? at.column : at.row) += static_cast<uint16_t>(2 * (lane % 4));
        }
        requests.push_back(request);
    }
}

// What each lane holds, in as few pieces as lie side by side.
void add_own_requests(const MatrixForm& form, MatrixRole role, bool by_rows,
                      std::vector<MatrixRequest>& requests) {
    constexpr uint32_t kMostBits = 128;
    const uint32_t registers = core_of(form, role).different, each = form.elements(role);
    const uint32_t bits = bits_of(form.type(role)), all = registers * each;
    const auto place = [&](uint32_t number, uint32_t lane) {
        return place_of(form, role,
                        {static_cast<uint8_t>(lane), static_cast<uint8_t>(number / each),
                         static_cast<uint8_t>(number % each)});
    };
    for (uint32_t first = 0, end = 0; first < all; first = end) {
        for (end = first + 1; end < all && (end + 1 - first) * bits <= kMostBits; ++end) {
            MatrixPlace next = place(end - 1, 0);
            ++(by_rows ? next.column : next.row);
            if (place(end, 0) != next) break;
        }
        while (!std::has_single_bit(end - first)) --end;
        MatrixRequest request;
        request.bytes = (end - first) * bits / 8;
        request.first = static_cast<uint8_t>(first / each);
        request.element = static_cast<uint8_t>(first % each);
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) request.place[lane] = place(first, lane);
        requests.push_back(request);
    }
}

}  // namespace

std::vector<MatrixRequest> requests_of(const Instruction& instruction) {
    std::vector<MatrixRequest> requests;
    switch (instruction.op) {
        case Op::Ldmatrix:
        case Op::Stmatrix: {
            MatrixRequest& request = requests.emplace_back();
            request.matrices = static_cast<uint8_t>(matrices_of(instruction));
            request.lanes = request.matrices == 4 ? ~0u : (1u << 8 * request.matrices) - 1;
            request.transposed = is_transposed(instruction);
            break;
        }
        case Op::WmmaLoad:
        case Op::WmmaStore: {
            const auto form = matrix_form(instruction);
            const MatrixRole role = matrix_role(instruction);
            const bool factor = role == MatrixRole::A || role == MatrixRole::B;
            const bool rows = by_rows(instruction), beside = lie_beside(*form, role, rows);
            const uint32_t bits = bits_of(form->type(role));
            const bool shared = factor && instruction.space == StateSpace::Shared;
            const auto add = shared && (bits == 16 || (bits < 16 && beside)) ? add_matrix_requests
                             : bits == 16 && !beside                         ? add_transposed_requests
                                                                             : add_own_requests;
            add(*form, role, rows, requests);
            break;
        }
        default: break;
    }
    return requests;
}

std::string read_matrix_suffixes(Instruction& made, size_t in_name) {
    const auto words = std::span<const std::string>(made.suffixes).subspan(in_name);
    const auto is = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
    const auto space = [&](const std::string& word) {
        return word == "shared" || word == "shared::cta" ? StateSpace::Shared
               : word == "global"                        ? StateSpace::Global
                                                         : StateSpace::Generic;
    };
    for (const std::string& word : words)
        if (const StateSpace named = space(word); named != StateSpace::Generic) made.space = named;
    switch (made.op) {
        case Op::Ldmatrix:
        case Op::Stmatrix: {
            // The number of matrices, their shape and .trans stand in any order.
            if (is("m16n16") || is("m16n8") || is("m8n16") || is("b8") || is("b8x16.b6x16_p32"))
                return "moves elements of 8 bits or fewer, which no GPU before sm_100 does; use .m8n8 and "
                       ".b16";
            size_t known = 0;
            for (const std::string_view word :
                 {"sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta", "b16"})
                known += static_cast<size_t>(std::ranges::count(words, word));
            const auto one = [&](std::initializer_list<std::string_view> among) {
                return std::ranges::count_if(among, is) == 1;
            };
            if (known != words.size() || !is("sync") || !is("aligned") || !is("m8n8") || !is("b16") ||
                !one({"x1", "x2", "x4"}))
                return "needs .sync.aligned.m8n8, .x1, .x2 or .x4, and .b16";
            made.type = Type::B32, made.vector = 4;
            return "";
        }
        case Op::Movmatrix:
            if (words.size() != 5 || words[0] != "sync" || words[1] != "aligned" || words[2] != "m8n8" ||
                words[3] != "trans" || words[4] != "b16")
                return "must be .sync.aligned.m8n8.trans.b16";
            made.type = Type::B32;
            return "";
        default: break;
    }
    const bool moves = made.op == Op::WmmaLoad || made.op == Op::WmmaStore;
    if (is("block_scale") ||
        std::ranges::any_of(words, [](std::string_view w) { return w.starts_with("kind::"); }))
        return "is of a kind that no GPU before sm_100 has, and that Tilescope does not know; build the "
               "kernel for sm_90";
    const auto form = matrix_form(made);
    if (!form) return "has no shape, layout and types that go together";
    made.type = memory_type_of(form->type(moves ? matrix_role(made) : MatrixRole::D));
    return "";
}

}  // namespace tilescope::ptx
