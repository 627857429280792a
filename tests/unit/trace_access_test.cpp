// The door to what a step accesses: its lines against a slow twin, on random requests.
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/trace/access.h"
#include "tests/unit/trace_requests.h"

namespace tilescope::trace {
namespace {

TEST(AccessView, HasTheLanesOfTheStep) {
    const Trace trace = random_trace(3, 2, 2, 400);
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const Access access = decode(trace, step);
        AccessView view(trace, step);
        EXPECT_EQ(view.mask(), access.mask);
        EXPECT_EQ(view.warp(), access.warp);
        EXPECT_EQ(view.array(), access.array);
        EXPECT_EQ(view.space(), trace.form_of(step).space);
        EXPECT_EQ(view.site().id, access.site);
        const uint64_t base = access.array == kNoArray ? 0 : trace.launch.arrays[access.array].base;
        for_lanes(access.mask,
                  [&](uint32_t lane) { EXPECT_EQ(view.addresses()[lane], base + access.offset[lane]); });
        view.move(-256);
        for_lanes(access.mask, [&](uint32_t lane) {
            EXPECT_EQ(view.addresses()[lane] + 256, base + access.offset[lane]);
        });
    }
}

TEST(AccessView, VisitsEachSectorOfItsLanes) {
    const Trace trace = random_trace(4, 2, 2, 400);
    size_t lines = 0;
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const AccessView view(trace, step);
        if (view.site().kind == ptx::SiteKind::Barrier) continue;
        std::map<uint64_t, uint32_t> twin, found;  // sectors by line
        for_lanes(view.mask(), [&](uint32_t lane) {
            for (uint32_t byte = 0; byte < view.site().bytes; ++byte) {
                const uint64_t address = view.addresses()[lane] + byte;
                twin[address / 128] |= 1u << address % 128 / 32;
            }
        });
        uint64_t last = UINT64_MAX;
        view.for_lines([&](uint64_t line, uint32_t sectors) {
            EXPECT_NE(line, last) << "what is side by side is visited once";
            EXPECT_NE(sectors, 0u);
            last = line;
            found[line] |= sectors;
            ++lines;
        });
        ASSERT_EQ(found, twin) << step;
    }
    EXPECT_GT(lines, 1000u);
}

// Steps that write at random places, each there at a random later step or never.
TEST(Arrivals, AreToldInTheirOrder) {
    std::mt19937 random(7);
    Trace trace;
    for (const ptx::SiteKind kind : {ptx::SiteKind::Load, ptx::SiteKind::Store}) {
        ptx::Site& site = trace.sites.emplace_back();
        site.id = static_cast<uint32_t>(trace.sites.size()) - 1;
        site.kind = kind;
        site.bytes = 4;
        site.copy = true;
        Form& form = trace.forms.emplace_back();
        form.site = site.id;
        form.mask = 1;
    }
    constexpr uint32_t kSteps = 500;
    trace.blocks.resize(2);
    std::vector<uint32_t> twin;  // by step of the second block
    for (size_t block = 0; block < 2; ++block) {
        trace.blocks[block].first = trace.key.size();
        trace.blocks[block].count = kSteps;
        trace.blocks[block].first_arrival = trace.arrival.size();
        twin.clear();
        for (uint32_t step = 0; step < kSteps; ++step) {
            trace.key.push_back(random() % 2);
            trace.base.push_back(0);
            twin.push_back(step + 1);
            if (trace.key.back() == 0) continue;
            twin.back() = random() % 4 == 0 ? kNeverWaited : step + 1 + random() % (kSteps - step);
            trace.arrival.push_back(twin.back());
        }
    }
    const Arrivals arrivals(trace, trace.blocks[1]);
    for (uint32_t step = 0; step < kSteps; ++step) {
        ASSERT_EQ(lands_later(trace, kSteps + step), trace.key[kSteps + step] == 1);
        ASSERT_EQ(arrivals.visible_from(step).value_or(kNeverWaited), twin[step]);
    }
    ArrivalCursor cursor(arrivals);
    size_t told = 0, waited = 0;
    for (uint32_t now = 0; now <= kSteps; ++now) {
        uint32_t before = 0;
        while (const auto index = cursor.next(now)) {
            const Arrivals::Later& later = arrivals.later()[*index];
            EXPECT_EQ(later.visible_from, now);
            EXPECT_GE(later.step, before) << "in the order of the steps where they land together";
            before = later.step;
            ++told;
        }
    }
    for (const Arrivals::Later& later : arrivals.later()) waited += later.visible_from != kNeverWaited;
    EXPECT_EQ(told, waited);
    EXPECT_GT(told, 100u);
}

}  // namespace
}  // namespace tilescope::trace
