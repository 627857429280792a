// Provenance: the lecture's example line by line, closed forms of reuse, stale and zero values, and slow
// twins.
#include <bit>
#include <map>

#include <fmt/format.h>

#include "app/step/model.h"
#include "tests/unit/view_recordings.h"
#include "tests/vector_kernel.h"

namespace tilescope::app {
namespace {

using playback::kNever;

constexpr kernels::Shape kLecture{4, 4, 4, 2};

const Array& array_named(const Recorded& made, const char* name, uint8_t& number) {
    for (number = 0; made.trace->launch.arrays[number].name != name;) ++number;
    return made.trace->launch.arrays[number];
}

std::string name_of(const Recorded& made, const playback::Element& of) {
    if (of.array == trace::kNoArray) return "none";
    return element_name(made.trace->launch.arrays[of.array], static_cast<int64_t>(of.index));
}

std::string yx(uint32_t y, uint32_t x, const char* of) { return fmt::format("{}[{},{}]", of, y, x); }

// Block (0,0) of 4 x 4, T = 2: which thread loaded each factor, in which phase, through which cell.
TEST(Provenance, TiledLectureExampleThreadForThread) {
    const Recorded made = record("tiled", kLecture);
    for (uint32_t y = 0; y < 2; ++y) {
        for (uint32_t x = 0; x < 2; ++x) {
            const OutputTrail trail = output_trail(*made.trace, *made.index, *made.replay, y * 4 + x);
            ASSERT_TRUE(trail.thread);
            EXPECT_EQ(*trail.thread, y * 2 + x);
            ASSERT_EQ(trail.products.size(), 4u);
            for (uint32_t k = 0; k < 4; ++k) {
                const ProductTrail& product = trail.products[k];
                SCOPED_TRACE(fmt::format("P[{},{}], k = {}", y, x, k));
                EXPECT_EQ(product.phase, k / 2);
                EXPECT_EQ(name_of(made, product.m.element), yx(y, k, "M"));
                EXPECT_EQ(name_of(made, product.n.element), yx(k, x, "N"));
                EXPECT_EQ(name_of(made, product.m.cell), yx(y, k % 2, "Mds"));
                EXPECT_EQ(name_of(made, product.n.cell), yx(k % 2, x, "Nds"));
                EXPECT_EQ(product.m.thread, y * 2 + k % 2) << "thread [y,k mod 2] loads M[y,k]";
                EXPECT_EQ(product.n.thread, k % 2 * 2 + x) << "thread [k mod 2,x] loads N[k,x]";
                for (const FactorTrail& factor : {product.m, product.n}) {
                    EXPECT_EQ(factor.origin, Origin::Element);
                    EXPECT_EQ(factor.used, 2u) << "every shared value is read T times";
                    EXPECT_EQ(factor.loaded, 1u);
                    EXPECT_EQ(made.index->phase_at(factor.load_step), k / 2);
                    EXPECT_LT(factor.load_step, factor.store_step);
                    EXPECT_LT(factor.store_step, factor.read_step);
                    EXPECT_LE(factor.read_step, product.after_step);
                }
            }
        }
    }
}

TEST(Provenance, UntiledLectureExampleLoadsTwice) {
    const Recorded made = record("untiled", kLecture);
    for (uint32_t thread = 0; thread < 4; ++thread) {
        const uint32_t y = thread / 2, x = thread % 2;
        const OutputTrail trail = output_trail(*made.trace, *made.index, *made.replay, y * 4 + x);
        ASSERT_EQ(trail.products.size(), 4u);
        for (uint32_t k = 0; k < 4; ++k) {
            const ProductTrail& product = trail.products[k];
            EXPECT_EQ(product.phase, k);
            EXPECT_EQ(name_of(made, product.m.element), yx(y, k, "M"));
            EXPECT_EQ(name_of(made, product.n.element), yx(k, x, "N"));
            for (const FactorTrail& factor : {product.m, product.n}) {
                EXPECT_EQ(factor.cell.array, trace::kNoArray);
                EXPECT_EQ(factor.thread, thread);
                EXPECT_EQ(factor.used, 1u);
                EXPECT_EQ(factor.loaded, 2u) << "each element that the block needs is loaded twice by it";
            }
        }
    }
}

TEST(Provenance, EveryElementIsUsedTTimesTiledAndLoadedTTimesUntiled) {
    for (const uint32_t T : {4u, 8u, 16u}) {
        const kernels::Shape shape{32, 32, 32, T};
        const Recorded tiled = record("tiled", shape), untiled = record("untiled", shape);
        const uint64_t at = (T - 1) * 32 + 1;
        const OutputTrail few = output_trail(*tiled.trace, *tiled.index, *tiled.replay, at);
        const OutputTrail many = output_trail(*untiled.trace, *untiled.index, *untiled.replay, at);
        ASSERT_EQ(few.products.size(), 32u);
        ASSERT_EQ(many.products.size(), 32u);
        for (size_t k = 0; k < 32; ++k) {
            for (const FactorTrail& f : {few.products[k].m, few.products[k].n}) {
                EXPECT_EQ(f.used, T);
                EXPECT_EQ(f.loaded, 1u);
            }
            for (const FactorTrail& f : {many.products[k].m, many.products[k].n}) {
                EXPECT_EQ(f.used, 1u);
                EXPECT_EQ(f.loaded, T);
            }
        }
    }
}

TEST(Provenance, TheRunningSumEndsInWhatIsExpected) {
    const Recorded made = record("tiled", {10, 7, 9, 4}, 4);
    const uint64_t at = made.index->output[5].index;
    const OutputTrail trail = output_trail(*made.trace, *made.index, *made.replay, at);
    ASSERT_TRUE(trail.stored);
    EXPECT_EQ(number_of(trail.stored->value), trail.expected);
    EXPECT_EQ(trail.products.back().sum, trail.stored->value);
    double sum = 0;
    for (const ProductTrail& product : trail.products) {
        sum += number_of(product.m.value) * number_of(product.n.value);
        EXPECT_EQ(number_of(product.sum), sum);
    }
    EXPECT_EQ(products_done(trail, 0), 0u);
    EXPECT_EQ(products_done(trail, made.index->steps), trail.products.size());
    for (uint32_t step = 0; step < made.index->steps; ++step) {
        const size_t done = products_done(trail, step);
        const auto running = made.replay->running_sum(*trail.thread, step);
        EXPECT_EQ(running.has_value(), done > 0);
        if (done == 0) continue;
        EXPECT_EQ(*running, trail.products[done - 1].sum);
    }
}

TEST(Provenance, ZeroFillOfTheRaggedCaseIsNamed) {
    const Recorded made = record("tiled", {3, 3, 3, 2}, 3);  // block (1,1): one element of P, M[2,3] outside
    const OutputTrail trail = output_trail(*made.trace, *made.index, *made.replay, 8);
    ASSERT_EQ(trail.products.size(), 4u) << "two phases of two";
    for (size_t k = 0; k < 3; ++k) {
        EXPECT_EQ(trail.products[k].m.origin, Origin::Element);
        EXPECT_EQ(trail.products[k].n.origin, Origin::Element);
    }
    for (const FactorTrail& factor : {trail.products[3].m, trail.products[3].n}) {
        EXPECT_EQ(factor.origin, Origin::ZeroFill);
        EXPECT_EQ(factor.value, value_of(0.f));
        EXPECT_EQ(factor.element.array, trace::kNoArray);
        EXPECT_NE(factor.store_step, kNever);
        EXPECT_EQ(factor.load_step, kNever);
    }
    EXPECT_EQ(name_of(made, trail.products[3].m.cell), "Mds[0,1]");
    EXPECT_EQ(factor_text(*made.trace, *made.index, trail.products[3].m).substr(0, 36),
              "a zero: stored by thread[0,1] in pha");
}

TEST(Provenance, AMissingZeroFillShowsAStaleValue) {
    const Recorded made = record("tiled_stale_edge", {3, 3, 3, 2}, 0);
    const OutputTrail trail = output_trail(*made.trace, *made.index, *made.replay, 0);
    ASSERT_EQ(trail.products.size(), 4u);
    const ProductTrail& last = trail.products[3];
    EXPECT_EQ(last.m.origin, Origin::Stale);
    EXPECT_EQ(name_of(made, last.m.element), "M[0,1]") << "what phase 0 left in Mds[0,1]";
    EXPECT_EQ(made.index->phase_at(last.m.store_step), 0u);
    EXPECT_EQ(last.phase, 1u);
    ASSERT_TRUE(trail.stored);
    EXPECT_NE(number_of(trail.stored->value), trail.expected);
    EXPECT_EQ(factor_text(*made.trace, *made.index, last.m).substr(0, 13), "stale M[0,1]:");
}

// Twin: uses counted product by product over all threads of the block.
TEST(Provenance, UsesAgreeWithCountingEveryProduct) {
    const Recorded made = record("tiled", {12, 8, 12, 4}, 4);
    std::map<std::pair<uint8_t, uint64_t>, uint32_t> uses;
    for (const playback::MultiplyStep& product : made.replay->products()) {
        for (uint32_t lane = 0; lane < 32; ++lane) {
            if ((product.mask >> lane & 1) == 0) continue;
            for (const simt::Origin origin : {product.a[lane], product.b[lane]}) {
                const playback::Factor read = made.replay->factor(origin, lane);
                ASSERT_TRUE(read.known());
                const playback::CellState cell =
                    made.replay->cell(read.element.array, read.element.index, read.step);
                ++uses[{cell.source.array, cell.source.index}];
            }
        }
    }
    size_t looked = 0;
    for (const playback::Element& output : made.index->output) {
        ASSERT_NE(output.array, trace::kNoArray);
        const auto trail = output_trail(*made.trace, *made.index, *made.replay, output.index);
        for (const ProductTrail& product : trail.products) {
            for (const FactorTrail& factor : {product.m, product.n}) {
                EXPECT_EQ(factor.used, (uses[{factor.element.array, factor.element.index}]));
                ++looked;
            }
        }
    }
    EXPECT_EQ(looked, size_t{16} * 8 * 2);
}

TEST(Provenance, AnElementOfAnotherBlockIsSaidToBe) {
    const Recorded made = record("tiled", kLecture);
    const OutputTrail trail = output_trail(*made.trace, *made.index, *made.replay, 15);
    EXPECT_FALSE(trail.thread);
    EXPECT_TRUE(trail.products.empty());
    EXPECT_FALSE(trail.stored);
}

TEST(Provenance, ASharedCellStepByStep) {
    const Recorded made = record("tiled", kLecture);
    uint8_t mds = 0;
    array_named(made, "Mds", mds);
    const uint32_t stored = step_of(made, StepKind::SharedStore, "Mds");
    const auto origin_at = [&](uint32_t step) {
        return origin_of(*made.index, made.replay->cell(mds, 1, step), step);
    };
    EXPECT_EQ(origin_at(stored - 1), Origin::Nothing);
    const uint32_t end_of_phase = made.index->spans[1].first - 1;
    const CellTrail cell = cell_trail(*made.trace, *made.index, *made.replay, {mds, 1}, end_of_phase);
    EXPECT_EQ(origin_at(end_of_phase), Origin::Element);
    EXPECT_EQ(name_of(made, cell.held.source), "M[0,1]");
    EXPECT_EQ(cell.held.thread, 1u);
    EXPECT_EQ(cell.held.step, stored);
    EXPECT_LT(cell.load_step, stored);
    EXPECT_EQ(cell.held.reads, 2u);
    uint32_t lanes = 0;
    for (const ElementTouch& reader : cell.readers) {
        EXPECT_GT(reader.step, stored);
        lanes |= reader.lanes;
    }
    EXPECT_EQ(lanes, 0b0011u) << "threads [0,0] and [0,1] multiply with Mds[0,1]";
    EXPECT_EQ(origin_at(made.index->spans[1].first), Origin::Stale) << "not stored again yet in phase 1";
}

// A phase is a trip of a loop: only of a product is a value of an earlier one out of place.
TEST(Provenance, NothingIsStaleOfALaunchThatIsNoProduct) {
    const Recorded made = record("tiled", kLecture);
    analysis::Recording no_product = made;
    no_product.product.reset();
    const auto plain = index_block(no_product, 0);
    uint8_t mds = 0;
    array_named(made, "Mds", mds);
    const uint32_t next = made.index->spans[1].first;
    const playback::CellState held = made.replay->cell(mds, 1, next);
    EXPECT_EQ(origin_of(*made.index, held, next), Origin::Stale);
    EXPECT_EQ(origin_of(*plain, held, next), Origin::Element);
}

TEST(Provenance, OfACellReadOftenTheLatestReadersAreKept) {
    const Recorded made = replayed(vector_recording());
    const uint32_t last = made.index->steps - 1;
    const CellTrail cell = cell_trail(*made.trace, *made.index, *made.replay, {kVectorTile, 0}, last);
    EXPECT_EQ(cell.held.reads, 300u * 8);
    ASSERT_EQ(cell.readers.size(), CellTrail::kMostReaders);
    EXPECT_EQ(cell.readers.back().step, last - 1) << "right before the store";
}

// Twin: every step decoded, every lane looked at.
TEST(TouchScan, FindsWhatLookingAtEveryLaneFinds) {
    for (const char* kernel : {"tiled", "untiled", "untiled_swapped"}) {
        const Recorded made = record(kernel, {12, 8, 20, 4});
        const trace::Trace& trace = *made.trace;
        for (uint8_t array = 0; array < 3; ++array) {
            const Array& shape = trace.launch.arrays[array];
            for (uint64_t at = 0; at < uint64_t{shape.rows} * shape.cols; at += 7) {
                std::vector<ElementTouch> slow;
                for (uint64_t step = 0; step < trace.steps(); ++step) {
                    const trace::Access access = trace::decode(trace, step);
                    uint32_t lanes = 0;
                    for (uint32_t lane = 0; lane < 32; ++lane)
                        if ((access.mask >> lane & 1) != 0 && access.array == array &&
                            access.offset[lane] / 4 == at)
                            lanes |= 1u << lane;
                    const bool store = trace.sites[access.site].kind == ptx::SiteKind::Store;
                    if (lanes != 0) slow.push_back({step, access.warp, lanes, store});
                }
                TouchScan scan{.element = {array, at}};
                while (!scan.done(trace)) go_on(scan, trace, 100);
                EXPECT_EQ(scan.touches, slow) << kernel << " " << element_name(shape, at);
                EXPECT_EQ(scan.requests, slow.size());
            }
        }
    }
}

// Each element of M is loaded by n/T blocks tiled and n times untiled.
TEST(TouchScan, ClosedFormsOfReuse) {
    const Recorded tiled = record("tiled", {16, 16, 32, 4}), untiled = record("untiled", {16, 16, 32, 4});
    TouchScan few{.element = {0, 37}}, many = few;
    go_on(few, *tiled.trace, tiled.trace->steps());
    go_on(many, *untiled.trace, untiled.trace->steps());
    EXPECT_EQ(few.lanes, 32u / 4);
    EXPECT_EQ(many.lanes, 32u);
}

TEST(TouchScan, OfNoArrayFindsNothing) {
    const Recorded made = record("tiled", kLecture);
    TouchScan scan{.element = {200, 0}};
    go_on(scan, *made.trace, UINT64_MAX);
    EXPECT_TRUE(scan.done(*made.trace));
    EXPECT_EQ(scan.requests, 0u);
}

}  // namespace
}  // namespace tilescope::app
