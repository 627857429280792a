// The fragment lens: who holds what of every product that mma and wmma know, by the PTX ISA's own words; of a recording,
// with values and where they came from. And who points to the rows that ldmatrix moves, and who gets them.
#include <algorithm>
#include <map>
#include <set>

#include "app/look/fragments.h"
#include "app/look/request.h"
#include "core/base/contents.h"
#include "tests/launch_examples.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::look {
namespace {

using ptx::FragmentPlace, ptx::MatrixForm, ptx::MatrixPlace, ptx::MatrixRole, ptx::MatrixType;

constexpr MatrixRole kRoles[] = {MatrixRole::A, MatrixRole::B, MatrixRole::C, MatrixRole::D};

MatrixForm form_of(uint16_t m, uint16_t n, uint16_t k, MatrixType factor, MatrixType sum, bool wmma = false) {
    return {.m = m, .n = n, .k = k, .types = {factor, factor, sum, sum}, .wmma = wmma};
}
constexpr auto kF16 = MatrixType::F16, kF32 = MatrixType::F32, kS8 = MatrixType::S8, kS32 = MatrixType::S32;

// A tile names one holder of each element, and each lane holds as many as its registers have room for, but for those
// that f16 fragments of wmma hold twice.
TEST(Fragments, OfEveryFormHoldEachElementOnce) {
    const std::vector<MatrixForm> forms = ptx::product_forms();
    std::set<std::string> shapes;
    for (const MatrixForm& form : forms) {
        shapes.insert(form_name(form));
        for (const MatrixRole role : kRoles) {
            SCOPED_TRACE(form_name(form) + " " + name_of(form.type(role)));
            const FragmentTile tile = fragment_tile(form, role);
            ASSERT_EQ(tile.holders.size(), size_t{form.products()} * form.rows(role) * form.columns(role));
            const size_t copies = form.wmma && form.type(role) == kF16 && role <= MatrixRole::B
                                      ? 8u * 2 * kWarpSize / tile.holders.size()
                                      : 1;
            std::set<std::tuple<int, int, int>> held;
            for (uint8_t product = 0; product < form.products(); ++product)
                for (uint16_t row = 0; row < tile.rows; ++row)
                    for (uint16_t column = 0; column < tile.columns; ++column) {
                        const MatrixPlace at{row, column, product};
                        const FragmentPlace& holder = tile.holder(at);
                        EXPECT_EQ(place_of(form, role, holder), at);
                        held.emplace(holder.lane, holder.index, holder.element);
                        if (row % 5 != 0 || column % 7 != 0) continue;
                        EXPECT_EQ(holder_of(form, role, at), holder);
                    }
            EXPECT_EQ(held.size(), tile.holders.size()) << "no register holds two elements in one place";
            for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
                const auto registers = held_by_register(tile, lane);
                EXPECT_EQ(registers.size() * copies, form.registers(role));
                EXPECT_EQ(std::set(registers.begin(), registers.end()).size(), registers.size());
                EXPECT_EQ(registers.size() * form.elements(role) * kWarpSize, tile.holders.size());
            }
        }
    }
    EXPECT_TRUE(shapes.contains("mma.m16n8k256"));
    EXPECT_TRUE(shapes.contains("wmma.m8n32k16"));
}

// What lies side by side in a register does so in every lane and register.
TEST(Fragments, RegistersHoldNeighbours) {
    for (const MatrixForm& form : ptx::product_forms())
        for (const MatrixRole role : kRoles) {
            const FragmentTile tile = fragment_tile(form, role);
            EXPECT_EQ(tile.beside, form.elements(role));
            for (uint8_t lane = 0; lane < kWarpSize; ++lane)
                for (uint8_t index = 0; index < form.registers(role); ++index) {
                    const MatrixPlace first = place_of(form, role, {lane, index, 0});
                    for (uint8_t element = 1; element < tile.beside; ++element) {
                        MatrixPlace next = first;
                        (tile.down ? next.row : next.column) += element;
                        ASSERT_EQ(place_of(form, role, {lane, index, element}), next) << form_name(form);
                    }
                }
        }
}

TEST(Fragments, OfLaneFive) {
    const MatrixForm form = form_of(16, 8, 16, kF16, kF32);
    const auto of = [&](MatrixRole role) { return held_by_register(fragment_tile(form, role), 5); };
    using Held = std::vector<std::string>;
    EXPECT_EQ(of(MatrixRole::A), (Held{"A(1,2..3)", "A(9,2..3)", "A(1,10..11)", "A(9,10..11)"}));
    EXPECT_EQ(of(MatrixRole::B), (Held{"B(2..3,1)", "B(10..11,1)"}));
    EXPECT_EQ(of(MatrixRole::C), (Held{"C(1,2)", "C(1,3)", "C(9,2)", "C(9,3)"}));
    EXPECT_EQ(held_text(fragment_tile(form, MatrixRole::B), 5),
              "4 elements of B in 2 registers: B(2..3,1), B(10..11,1)");
    EXPECT_EQ(held_text(fragment_tile(form_of(16, 16, 16, kF16, kF32, true), MatrixRole::A), 5),
              "8 elements of A in 8 registers, each 2 times: A(1,2..3), A(9,2..3), A(1,10..11), A(9,10..11)");
    const FragmentTile a = fragment_tile(form, MatrixRole::A);
    EXPECT_EQ(holder_text(a, {9, 3, 0}), "A(9,3): lane 5 holds it as a3, the upper half of register 1");
}

TEST(Fragments, NameThePartOfARegister) {
    const MatrixForm bytes = form_of(16, 8, 32, kS8, kS32), bits = form_of(16, 8, 256, MatrixType::B1, kS32),
                     nibbles = form_of(16, 8, 64, MatrixType::U4, kS32),
                     doubles = form_of(8, 8, 4, MatrixType::F64, MatrixType::F64);
    EXPECT_EQ(holder_text(fragment_tile(bytes, MatrixRole::A), {8, 18, 0}),
              "A(8,18): lane 0 holds it as a14, byte 2 of register 3");
    EXPECT_EQ(holder_text(fragment_tile(nibbles, MatrixRole::B), {33, 7, 0}),
              "B(33,7): lane 28 holds it as b9, bits 4 to 7 of register 1");
    EXPECT_EQ(holder_text(fragment_tile(bits, MatrixRole::B), {255, 2, 0}),
              "B(255,2): lane 11 holds it as b63, bit 31 of register 1");
    EXPECT_EQ(holder_text(fragment_tile(doubles, MatrixRole::D), {1, 3, 0}),
              "D(1,3): lane 5 holds it as d1, register 1");
}

// Quads p and p + 4 of mma.m8n8k4 make product p.
TEST(Fragments, OfFourProductsSideBySide) {
    const MatrixForm form = form_of(8, 8, 4, kF16, kF32);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) EXPECT_EQ(product_of_lane(form, lane), lane / 4 % 4);
    EXPECT_EQ(product_of_lane(form_of(16, 8, 16, kF16, kF32), 31), 0);
}

// --- of a recording

using app::Recorded;

Recorded recorded_tile() { return app::replayed(kernels::recorded(kernels::matrix_tile())); }

uint32_t product_of(const Recorded& made) {
    for (uint32_t step = 0; step < made.index->steps; ++step)
        if (exchange_view(*made.trace, *made.index, nullptr, step).what == ptx::Exchange::Multiply)
            return step;
    ADD_FAILURE() << "it multiplies no matrices";
    return 0;
}

double element(const Recorded& made, const char* name, uint32_t row, uint32_t column) {
    const auto array = std::ranges::find(made.trace->launch.arrays, name, &Array::name);
    return number_of(initial_value(*array, row * array->cols + column));
}

TEST(FragmentLens, ShowsValuesOfAllElements) {
    const Recorded made = recorded_tile();
    const uint32_t step = product_of(made);
    const FragmentsView view = fragments_view(*made.trace, *made.index, made.replay.get(), step);
    ASSERT_EQ(view.tiles.size(), 3u);
    ASSERT_EQ(view.values.size(), 3u);
    const auto value = [&](size_t tile, uint32_t row, uint32_t column) {
        return view.values[tile][row * view.tiles[tile].columns + column];
    };
    for (uint32_t row = 0; row < 16; ++row)
        for (uint32_t column = 0; column < 16; ++column)
            EXPECT_EQ(value(0, row, column),
                      short_value(value_of(static_cast<float>(element(made, "A", row, column)))));
    for (uint32_t row = 0; row < 16; ++row)
        for (uint32_t column = 0; column < 8; ++column) {
            EXPECT_EQ(value(1, row, column),
                      short_value(value_of(static_cast<float>(element(made, "B", row, column)))));
            double sum = 0;
            for (uint32_t k = 0; k < 16; ++k)
                sum += element(made, "A", row, k) * element(made, "B", k, column);
            EXPECT_EQ(value(2, row, column), short_value(value_of(static_cast<float>(sum))))
                << row << " " << column;
        }
    EXPECT_EQ(view.register_names[0], (std::vector<std::string>{"%q6", "%q7", "%q8", "%q9"}));
    EXPECT_EQ(view.register_names[3], view.register_names[2]);
}

// Each register of A and B came through ldmatrix, B's transposed on its way.
TEST(FragmentLens, KnowsWhereEachElementCameFrom) {
    const Recorded made = recorded_tile();
    const FragmentsView view = fragments_view(*made.trace, *made.index, made.replay.get(), product_of(made));
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        const uint32_t g = lane / 4, t = lane % 4;
        const auto rows = [&](size_t tile) {
            return rows_of_lane(*made.trace, *made.index, made.replay.get(), view, view.tiles[tile], lane);
        };
        const auto a = rows(0), b = rows(1), d = rows(2);
        ASSERT_TRUE(a.size() == 4 && b.size() == 2 && d.size() == 4);
        for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t row = g + 8 * (i % 2), column = 2 * t + 8 * (i / 2);
            const std::string place = fmt::format("[{},{}..{}]", row, column, column + 1);
            EXPECT_EQ(a[i].from, "As" + place + " = A" + place);
            EXPECT_EQ(d[i].from, "C was 0");
        }
        for (uint32_t i = 0; i < 2; ++i) {
            const std::string place = fmt::format("[{}..{},{}]", 2 * t + 8 * i, 2 * t + 8 * i + 1, g);
            EXPECT_EQ(b[i].from, "Bs" + place + " = B" + place);
        }
    }
    const FragmentTile& a = view.tiles[0];
    const std::string value = view.values[0][3 * 16 + 5];
    EXPECT_EQ(
        element_text(*made.trace, *made.index, made.replay.get(), view, a, {3, 5, 0}),
        fmt::format(
            "A(3,5) = {}: lane 14 holds it as a1, the upper half of register 0 (%q6); from As[3,5], which "
            "holds A[3,5]",
            value));
    EXPECT_NE(element_text(*made.trace, *made.index, made.replay.get(), view, view.tiles[2], {0, 0, 0})
                  .find("C was 0"),
              std::string::npos);
}

// wmma from global memory: A by rows, B by columns. Registers that hold the same once more are not told.
TEST(FragmentLens, OfWmma) {
    using kernels::global_array;
    Array a = global_array("A", ArrayRole::Input, ElementType::F16, {16, 16}),
          b = global_array("B", ArrayRole::Input, ElementType::F16, {16, 16});
    a.contents = {Contents::Kind::SmallIntegers, 1, 0, {}},
    b.contents = {Contents::Kind::SmallIntegers, 2, 0, {}};
    const auto registers = [](char letter) {
        std::string all;
        for (int i = 0; i < 8; ++i) all += fmt::format("{}%{}{}", i == 0 ? "{" : ", ", letter, i);
        return all + "}";
    };
    const std::string x = registers('x'), y = registers('y'), c = registers('c');
    std::string body = ".reg .b32 %x<8>; .reg .b32 %y<8>; .reg .f32 %c<8>;\n";
    for (const auto& [name, to] : {std::pair{"A", "%d0"}, {"B", "%d1"}, {"P", "%d2"}})
        body += fmt::format("ld.param.u64 {}, [{}];\n", to, name);
    for (int i = 0; i < 8; ++i) body += fmt::format("mov.f32 %c{}, 0f3F800000;\n", i);
    body += "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 " + x + ", [%d0];\n" +
            "wmma.load.b.sync.aligned.col.m16n16k16.global.f16 " + y + ", [%d1];\n" +
            "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " + c + ", " + x + ", " + y + ", " + c + ";\n" +
            "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d2], " + c + ";\n";
    const Recorded made = app::replayed(kernels::recorded(kernels::by_hand(
        "wmma_tile", 32, {a, b, global_array("P", ArrayRole::Output, ElementType::F32, {16, 16})}, "",
        body)));
    const FragmentsView view = fragments_view(*made.trace, *made.index, made.replay.get(), product_of(made));
    ASSERT_EQ(view.values.size(), 3u);
    for (uint32_t lane = 0; lane < kWarpSize; ++lane)
        for (const size_t tile : {0u, 1u}) {
            const auto rows =
                rows_of_lane(*made.trace, *made.index, made.replay.get(), view, view.tiles[tile], lane);
            ASSERT_EQ(rows.size(), 4u);
            for (uint8_t i = 0; i < 4; ++i) {
                const ptx::MatrixPlace at = place_of(view.tiles[tile].form, view.tiles[tile].role,
                                                     {static_cast<uint8_t>(lane), i, 0});
                const uint32_t row = tile == 0 ? at.row : at.column, column = tile == 0 ? at.column : at.row;
                EXPECT_EQ(rows[i].from, fmt::format("{}[{},{}..{}]", "AB"[tile], row, column, column + 1));
            }
        }
    for (uint32_t row = 0; row < 16; ++row)
        for (uint32_t column = 0; column < 16; ++column) {
            double sum = 1;
            for (uint32_t k = 0; k < 16; ++k)
                sum += element(made, "A", row, k) * element(made, "B", column, k);
            EXPECT_EQ(view.values[2][row * 16 + column], short_value(value_of(static_cast<float>(sum))));
        }
    for (uint32_t step = 0; step < product_of(made); ++step)
        EXPECT_EQ(product_near(*made.trace, *made.index, step), product_of(made));
}

TEST(FragmentLens, ShowsTheProductNextToAStep) {
    const Recorded made = recorded_tile();
    const uint32_t step = product_of(made);
    for (uint32_t at = 0; at < made.index->steps; ++at)
        EXPECT_EQ(product_near(*made.trace, *made.index, at), step) << at;
    EXPECT_TRUE(multiplies_matrices(*made.trace));
    const Recorded other = app::record("tiled", {4, 4, 4, 2});
    EXPECT_FALSE(multiplies_matrices(*other.trace));
    EXPECT_EQ(product_near(*other.trace, *other.index, 0), std::nullopt);
}

// --- who points and who receives

TEST(MovedRows, EachElementGoesToOneLane) {
    for (const bool transposed : {false, true}) {
        RequestView request;
        request.matrices = 4, request.transposed = transposed;
        for (uint32_t matrix = 0; matrix < 4; ++matrix) {
            std::map<std::pair<uint32_t, uint32_t>, uint32_t> got;
            for (uint32_t lane = 0; lane < kWarpSize; ++lane)
                for (const uint32_t element : {0u, 1u}) {
                    const MovedElement moved = moved_element(request, lane, matrix, element);
                    EXPECT_EQ(moved.pointer / 8, matrix);
                    EXPECT_LT(moved.column, 8u);
                    ++got[{moved.pointer, moved.column}];
                }
            EXPECT_EQ(got.size(), 64u);
        }
    }
}

TEST(MovedRows, LanesThatOnlyReceiveGiveNoAddress) {
    const Recorded made = recorded_tile();
    const uint32_t four = app::step_of(made, app::StepKind::SharedLoad, "As"),
                   two = app::step_of(made, app::StepKind::SharedLoad, "Bs");
    const RequestView a = request_view(*made.trace, *made.index, four),
                      b = request_view(*made.trace, *made.index, two);
    EXPECT_EQ(a.matrices, 4);
    EXPECT_EQ(a.groups.size(), 4u);
    EXPECT_EQ(a.mask_note, "All lanes point to a row of 16 bytes each; all 32 get the words.");
    EXPECT_EQ(lane_text(*made.trace, a, 5),
              "thread[5]: points to As[5,0] = byte 160 of As, bank 8; gets elements 2 and 3 of the rows of "
              "lanes 1, 9, "
              "17 and 25");
    EXPECT_EQ(b.matrices, 2);
    EXPECT_EQ(b.mask, 0xFFFFu);
    EXPECT_EQ(b.mask_note, "Lanes 0 to 15 point to a row of 16 bytes each; all 32 get the words.");
    EXPECT_EQ(lane_text(*made.trace, b, 21),
              "thread[21]: gives no address; gets element 5 of the rows of lanes 2, 3, 10 and 11");
}

TEST(MovedRows, AMovmatrixTakesHalvesOfTwoLanes) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane)
        for (const uint32_t element : {0u, 1u})
            EXPECT_EQ(giver_of(lane, element), lane % 4 * 8 + element * 4 + lane / 8) << lane;
}

}  // namespace
}  // namespace tilescope::look
