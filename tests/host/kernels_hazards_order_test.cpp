// Random kernels whose lanes wait for each other by bar.warp.sync with masks of all kinds, in branches and loops:
// what is found to race is what the twin finds, which follows every thread by itself (tests/twin/thread_order.h).
#include <functional>
#include <memory>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/hazards/hazards.h"
#include "kernels/run/record.h"
#include "tests/host/hand_kernel.h"
#include "tests/launches.h"
#include "tests/opened.h"
#include "tests/twin/thread_order.h"

namespace tilescope::kernels {
namespace {

using analysis::HazardKind;
using analysis::Severity;
using test::CellRace;
using test::ThreadOp;

constexpr uint32_t kOrderThreads = 64, kOrderCells = 64;

// A statement of the kernel, printed as PTX and followed thread by thread.
struct Statement {
    enum class What : uint8_t { Load, Store, Sync, Barrier, If, Loop, Arrive, Wait } what{};
    uint32_t line = 0, scale = 0, shift = 0,
             turn = 0;  // cell: (t * scale + shift + trip * turn) % kOrderCells
    enum class Mask : uint8_t { Constant, Tile, Parity, Unknown } mask{};
    uint32_t members = 0, tile = 0;  // Constant and Unknown: the lanes; Tile: how many are one
    uint32_t bit = 0;                // If: (lane & bit) != 0
    uint32_t trips = 0;              // Loop
    uint32_t barrier = 0;            // Arrive, Wait: which mbarrier
    uint32_t parity = 0;             // Wait
    std::vector<Statement> then{}, otherwise{};
};

class RandomOrder {
public:
    // At the mbarriers 0 and 1 all threads arrive, and the lanes 0 of the warps; all threads wait for each phase.
    static constexpr uint32_t kBarriers = 2;
    static std::vector<uint32_t> arrivals() { return {kOrderThreads, kOrderThreads / 32}; }

    RandomOrder(uint64_t seed, bool unknown_masks, bool signals = false)
        : random_(seed), unknown_(unknown_masks) {
        syncs_ = 1 + below(4);
        if (!signals) {
            body_ = statements(~0u, 0, 5 + below(5), false);
            return;
        }
        std::array<uint32_t, kBarriers> phases{};
        std::array<bool, kBarriers> arrived{};
        const auto add = [&](uint32_t barrier) {
            Statement s{arrived[barrier] ? What::Wait : What::Arrive};
            s.barrier = barrier, s.parity = phases[barrier] & 1;
            phases[barrier] += arrived[barrier];
            arrived[barrier] = !arrived[barrier];
            body_.push_back(std::move(s));
        };
        for (uint32_t part = 0, parts = 2 + below(5); part < parts; ++part) {
            for (Statement& s : statements(~0u, 1, 1 + below(3), false)) body_.push_back(std::move(s));
            add(below(kBarriers));
        }
        for (uint32_t barrier = 0; barrier < kBarriers; ++barrier)
            if (arrived[barrier]) add(barrier);
    }

    std::string ptx() {
        std::string out = R"(
    .reg .b32 %lane; .reg .b32 %c<8>; .reg .b32 %m<40>; .reg .b32 %u<64>;
    .loc 1 1 0
    mov.u32 %t, %tid.x;
    and.b32 %lane, %t, 31;
    mov.u32 %r3, tile;
    mov.u32 %r4, 0;
    and.b32 %c1, %lane, 1;
    shl.b32 %m1, 0x55555555, %c1;
)";
        for (const uint32_t tile : {2u, 4u, 8u, 16u})
            out += fmt::format("    and.b32 %c{0}, %lane, {1};\n    shl.b32 %m{2}, {3}, %c{0};\n",
                               2 + std::countr_zero(tile), 32 - tile, tile, (1u << tile) - 1);
        print(out, body_);
        return hand_kernel(out + "    ret;") + ".file 1 \"hand.cu\"\n";
    }

    std::vector<ThreadOp> of_thread(uint32_t thread) const {
        std::vector<ThreadOp> ops;
        follow(body_, thread, 0, ops);
        return ops;
    }

private:
    using What = Statement::What;
    using Mask = Statement::Mask;

    uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

    Statement sync(uint32_t lanes) {
        Statement s{What::Sync};
        s.members = lanes;
        const uint32_t tile = 2u << below(4);
        bool whole = true;  // lanes is made of such tiles
        for (uint32_t first = 0; first < 32; first += tile) {
            const uint32_t of = (((1u << tile) - 1) << first) & lanes;
            whole = whole && (of == 0 || std::popcount(of) == static_cast<int>(tile));
        }
        const uint32_t kind = below(4);
        if (kind == 0 && whole) s.mask = Mask::Tile, s.tile = tile;
        if (kind == 1 && lanes == ~0u) s.mask = Mask::Parity;
        if (kind == 2 && unknown_) s.mask = Mask::Unknown;
        return s;
    }

    std::vector<Statement> statements(uint32_t lanes, uint32_t depth, uint32_t count, bool in_loop) {
        std::vector<Statement> all;
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t kind = below(10);
            if (kind < 5) {
                Statement s{below(2) ? What::Store : What::Load, ++line_};
                s.scale = below(3) ? 1 : below(4), s.shift = below(3) ? 0 : below(kOrderCells),
                s.turn = below(2);
                all.push_back(s);
            } else if (kind < 5 + syncs_ && kind < 8) {
                all.push_back(sync(lanes));
            } else if (kind == 8 && depth < 2) {
                Statement s{What::If};
                s.bit = 1u << below(5);
                uint32_t set = 0;
                for (uint32_t lane = 0; lane < 32; ++lane) set |= lane & s.bit ? 1u << lane : 0u;
                if ((lanes & set) == 0 || (lanes & ~set) == 0) continue;
                s.then = statements(lanes & set, depth + 1, 1 + below(3), in_loop);
                if (below(2)) s.otherwise = statements(lanes & ~set, depth + 1, 1 + below(3), in_loop);
                all.push_back(std::move(s));
            } else if (kind == 9 && !in_loop && depth < 2) {
                Statement s{What::Loop};
                s.trips = 1 + below(4);
                s.then = statements(lanes, depth + 1, 1 + below(4), true);
                all.push_back(std::move(s));
            } else if (depth == 0 && below(2)) {
                all.push_back({What::Barrier});
            }
        }
        return all;
    }

    void print(std::string& out, const std::vector<Statement>& all) {
        for (const Statement& s : all) {
            const uint32_t label = ++labels_;
            if (s.what == What::Load || s.what == What::Store) {
                out +=
                    fmt::format("    mul.lo.u32 %r5, %t, {};\n    add.u32 %r5, %r5, {};\n", s.scale, s.shift);
                out += fmt::format("    mul.lo.u32 %r6, %r4, {};\n    add.u32 %r5, %r5, %r6;\n", s.turn);
                out += fmt::format("    and.b32 %r5, %r5, {};\n    shl.b32 %r5, %r5, 2;\n", kOrderCells - 1);
                out += fmt::format("    add.u32 %r5, %r5, %r3;\n    .loc 1 {} 0\n", s.line);
                out += s.what == What::Store ? "    st.shared.u32 [%r5], %t;\n"
                                             : "    ld.shared.u32 %r7, [%r5];\n";
            } else if (s.what == What::Arrive) {
                if (s.barrier == 1)
                    out += fmt::format("    setp.ne.u32 %p1, %lane, 0;\n    @%p1 bra $come{};\n", label);
                out += fmt::format("    .loc 1 3 0\n    mbarrier.arrive.shared.b64 _, [bars+{}];\n$come{}:\n",
                                   8 * s.barrier, label);
            } else if (s.what == What::Wait) {
                out += fmt::format(
                    "    .loc 1 4 0\n$wait{0}:\n    mbarrier.try_wait.parity.shared.b64 %p1, [bars+{1}], "
                    "{2};\n"
                    "    @!%p1 bra $wait{0};\n",
                    label, 8 * s.barrier, s.parity);
            } else if (s.what == What::Sync && s.mask == Mask::Unknown) {
                out += fmt::format("    activemask.b32 %u{0};\n    bar.warp.sync %u{0};\n", label % 64);
            } else if (s.what == What::Sync) {
                out += s.mask == Mask::Constant
                           ? fmt::format("    bar.warp.sync {:#x};\n", s.members)
                           : fmt::format("    bar.warp.sync %m{};\n", s.mask == Mask::Tile ? s.tile : 1);
            } else if (s.what == What::Barrier) {
                out += "    .loc 1 2 0\n    bar.sync 0;\n";
            } else if (s.what == What::If) {
                out += fmt::format("    and.b32 %r8, %lane, {};\n    setp.eq.u32 %p1, %r8, 0;\n", s.bit);
                out += fmt::format("    @%p1 bra $else{};\n", label);
                print(out, s.then);
                out += fmt::format("    bra $end{0};\n$else{0}:\n", label);
                print(out, s.otherwise);
                out += fmt::format("$end{}:\n", label);
            } else {
                out += fmt::format("    mov.u32 %r4, 0;\n$loop{}:\n", label);
                print(out, s.then);
                out += fmt::format("    add.u32 %r4, %r4, 1;\n    setp.lt.u32 %p2, %r4, {};\n", s.trips);
                out += fmt::format("    @%p2 bra $loop{};\n    mov.u32 %r4, 0;\n", label);
            }
        }
    }

    void follow(const std::vector<Statement>& all, uint32_t thread, uint32_t trip,
                std::vector<ThreadOp>& ops) const {
        const uint32_t lane = thread % 32;
        for (const Statement& s : all) {
            if (s.what == What::Load || s.what == What::Store) {
                const uint32_t cell = (thread * s.scale + s.shift + trip * s.turn) % kOrderCells;
                ops.push_back(
                    {s.what == What::Store ? ThreadOp::What::Store : ThreadOp::What::Load, cell, s.line});
            } else if (s.what == What::Sync) {
                const uint32_t mask = s.mask == Mask::Tile ? ((1u << s.tile) - 1) << (lane & (32 - s.tile))
                                      : s.mask == Mask::Parity ? 0x5555'5555u << (lane & 1)
                                                               : s.members;
                ops.push_back({ThreadOp::What::Sync, 0, 0, mask});
            } else if (s.what == What::Barrier) {
                ops.push_back({ThreadOp::What::Barrier});
            } else if (s.what == What::Wait || (s.what == What::Arrive && (s.barrier == 0 || lane == 0))) {
                ops.push_back(
                    {s.what == What::Wait ? ThreadOp::What::Wait : ThreadOp::What::Arrive, s.barrier});
            } else if (s.what == What::Arrive) {
            } else if (s.what == What::If) {
                follow(lane & s.bit ? s.then : s.otherwise, thread, trip, ops);
            } else {
                for (uint32_t i = 0; i < s.trips; ++i) follow(s.then, thread, i, ops);
            }
        }
    }

    std::mt19937_64 random_;
    bool unknown_ = false;
    uint32_t syncs_ = 0, line_ = 9, labels_ = 0;
    std::vector<Statement> body_;
};

struct Compared {
    std::set<CellRace> right, faults;
    bool unclear = false;
    std::string ptx;
};

// numbered: with barrier 1 in place of 0, so that races are looked for thread by thread (core/hazards/ordered.h).
// signals: with mbarriers, which has the same effect.
Compared compare(uint64_t seed, bool unknown_masks, bool numbered = false, bool signals = false,
                 const Schedule& schedule = {}) {
    RandomOrder kernel(seed, unknown_masks, signals);
    Compared out;
    Plan plan;
    plan.launch = test_launch({test_array("in", Space::Global, ArrayRole::Input, 1, 128, 0x7F00'0000'0000),
                               test_array("out", Space::Global, ArrayRole::Output, 1, 128, 0x7F00'0001'0000),
                               test_array("tile", Space::Shared, ArrayRole::Shared, 1, 128, 0)},
                              {1, 1, 1}, {kOrderThreads, 1, 1});
    plan.ptx_name = "hand.ptx";
    plan.ptx = out.ptx = kernel.ptx();
    if (numbered) {
        for (size_t at; (at = plan.ptx.find("bar.sync 0")) != std::string::npos;)
            plan.ptx.replace(at, 10, "bar.sync 1");
        plan.ptx.replace(plan.ptx.find("    .loc 1 1 0"), 0, "    bar.sync 1;\n");
        out.ptx = plan.ptx;
    }
    if (signals) {
        const auto put = [&](std::string_view where, std::string_view what) {
            plan.ptx.replace(plan.ptx.find(where), where.size(), what);
        };
        put(".version 6.2", ".version 8.0");
        put(".target sm_70", ".target sm_90");
        put("    .shared .align 4 .b8 tile[512];",
            "    .shared .align 8 .b8 tile[512];\n    .shared .align 8 .b8 bars[16];");
        put("    mov.u32 %r4, 0;",
            "    mov.u32 %r4, 0;\n    setp.ne.u32 %p1, %t, 0;\n    @%p1 bra $ready;\n    .loc 1 2 0\n"
            "    mbarrier.init.shared.b64 [bars], 64;\n    mbarrier.init.shared.b64 [bars+8], 2;\n$ready:\n  "
            "  bar.sync 0;");
        out.ptx = plan.ptx;
    }
    RecordOptions options;
    options.timestamp = false;
    options.schedule = schedule;
    const auto trace = record_cpu(plan, options);
    EXPECT_TRUE(trace) << trace.error().message << plan.ptx;
    if (!trace) return out;
    std::vector<std::vector<ThreadOp>> threads;
    for (uint32_t thread = 0; thread < kOrderThreads; ++thread) threads.push_back(kernel.of_thread(thread));
    test::ThreadOrder twin(threads, RandomOrder::arrivals());
    EXPECT_TRUE(twin.run()) << plan.ptx;
    out.right = twin.races();
    const auto rule = analysis::phase_rule(*trace);
    EXPECT_TRUE(rule);
    for (const analysis::FaultyCell& cell : analysis::faulty_cells(*trace, *rule, 0).cells) {
        if (cell.kind != HazardKind::Race) continue;
        const uint32_t a = trace->sites[cell.example.a.site].line, b = trace->sites[cell.example.b.site].line;
        out.faults.insert(
            {cell.interval, static_cast<uint32_t>(cell.element), std::min(a, b), std::max(a, b)});
    }
    for (const analysis::Hazard& h : analysis::find_hazards(*trace, *rule).found)
        out.unclear = out.unclear || h.severity == Severity::CannotTell;
    return out;
}

std::set<uint32_t> cells(const std::set<CellRace>& races) {
    std::set<uint32_t> cells;
    for (const CellRace& race : races) cells.insert(std::get<1>(race));
    return cells;
}

std::string difference(const Compared& found) {
    std::string out;
    const auto list = [&](const char* what, const std::set<CellRace>& of, const std::set<CellRace>& other) {
        for (const CellRace& race : of)
            if (!other.contains(race))
                out += fmt::format("\n{}: interval {} cell {} lines {} and {}", what, std::get<0>(race),
                                   std::get<1>(race), std::get<2>(race), std::get<3>(race));
    };
    list("missed", found.right, found.faults);
    list("wrong", found.faults, found.right);
    return out + "\n";
}

TEST(HazardsOrderTwin, LanesThatWaitForEachOtherAreOrderedAsTheTwinHasIt) {
    uint32_t racing = 0, clean = 0, unclear = 0;
    for (uint64_t seed = 0; seed < 260; ++seed) {
        const Compared found = compare(seed, false);
        unclear += found.unclear;
        (found.right.empty() ? clean : racing) += 1;
        if (found.unclear) {  // no race is said that is none
            ASSERT_TRUE(std::ranges::includes(found.right, found.faults)) << seed << found.ptx;
        } else {
            ASSERT_EQ(found.faults, found.right) << seed << difference(found) << found.ptx;
        }
    }
    EXPECT_GT(racing, 100u);
    EXPECT_GT(clean, 15u);
    EXPECT_LT(unclear, 40u) << "a lane passed waits of several masks on paths that are not told apart";
}

// Of the races of a cell the nearest are told, so that cells alone are compared.
TEST(HazardsOrderTwin, ThreadByThreadTheSameCellsRace) {
    uint32_t racing = 0, clean = 0, some = 0, exact = 0;
    for (const bool unknown : {false, true})
        for (uint64_t seed = 0; seed < 260; ++seed) {
            const Compared found = compare(seed, unknown, true);
            (found.right.empty() ? clean : racing) += 1;
            const auto right = cells(found.right), faults = cells(found.faults);
            ASSERT_TRUE(std::ranges::includes(right, faults)) << seed << difference(found) << found.ptx;
            exact += right == faults;
            some += right != faults;
            if (!unknown && !compare(seed, false).unclear) {
                ASSERT_EQ(right, faults) << seed << difference(found) << found.ptx;
            }
        }
    EXPECT_GT(racing, 200u);
    EXPECT_GT(clean, 30u);
    EXPECT_GT(exact, 400u);
}

TEST(HazardsOrderTwin, BarriersInMemoryOrderWhoArrivesBeforeWhoWaits) {
    using enum Schedule::Kind;
    uint32_t racing = 0, clean = 0, unclear = 0;
    for (uint64_t seed = 0; seed < 300; ++seed) {
        const Schedule schedule = seed % 3 == 0   ? Schedule{Fair, 0}
                                  : seed % 3 == 1 ? Schedule{Greedy, 0}
                                                  : Schedule{Seeded, seed};
        const Compared found = compare(seed, false, false, true, schedule);
        const auto right = cells(found.right), faults = cells(found.faults);
        ASSERT_TRUE(std::ranges::includes(right, faults)) << seed << difference(found) << found.ptx;
        unclear += right != faults;
        (right.empty() ? clean : racing) += 1;
    }
    EXPECT_GT(racing, 100u);
    EXPECT_GT(clean, 15u);
    EXPECT_LT(unclear, 20u) << "a lane passed waits of several masks on paths that are not told apart";
}

TEST(HazardsOrderTwin, WhereAMaskIsNotKnownNoRaceIsSaidThatIsNone) {
    uint32_t unclear = 0, faults = 0;
    for (uint64_t seed = 1000; seed < 1150; ++seed) {
        const Compared found = compare(seed, true);
        unclear += found.unclear;
        faults += !found.faults.empty();
        ASSERT_TRUE(std::ranges::includes(found.right, found.faults))
            << seed << difference(found) << found.ptx;
        if (!found.unclear) {
            ASSERT_EQ(found.faults, found.right) << seed << difference(found) << found.ptx;
        }
    }
    EXPECT_GT(unclear, 10u);
    EXPECT_GT(faults, 10u);
}

}  // namespace
}  // namespace tilescope::kernels
