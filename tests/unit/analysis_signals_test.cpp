// Recordings with barriers in memory and copies in bulk: what barriers are at every step against a twin, what copies cost
// and how often they load each element byte by byte; and damaged ones harm nobody.
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "core/analysis/cost.h"
#include "core/analysis/reuse.h"
#include "core/recording/signals.h"
#include "core/trace/access.h"
#include "core/trace/file.h"
#include "tests/opened.h"
#include "tests/twin/mbarrier.h"
#include "tests/unit/words_trace.h"

namespace tilescope::analysis {
namespace {

using ptx::Signal;
using tilescope::test::BoxForm, tilescope::test::RandomBox, tilescope::test::Ring,
    tilescope::test::TwinBarrier, tilescope::test::TwinBarriers;

std::vector<trace::Trace> ring_traces() {
    std::vector<trace::Trace> all;
    std::mt19937 random(7);
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    for (uint32_t i = 0; i < 16; ++i) {
        Ring ring;
        ring.stages = 1 + i % 3, ring.consumers = 1 + below(2), ring.trips = 1 + below(6);
        ring.by_state = i & 1, ring.all_lanes = i & 2, ring.one_waits = i & 4;
        ring.expects = static_cast<Ring::Expects>(i % 3);
        all.push_back(tilescope::trace::ring_trace(ring, {static_cast<Schedule::Kind>(i % 3), i}));
    }
    return all;
}

std::vector<trace::Trace> box_traces() {
    std::vector<trace::Trace> all;
    std::mt19937 random(8);
    for (uint32_t i = 0; i < 20; ++i) {
        const bool load = i % 2;
        const BoxForm form = i % 5 == 4 ? BoxForm::Im2col : BoxForm::Tile;
        const RandomBox box = tilescope::test::random_box(random, 0x100000, load, form);
        all.push_back(
            tilescope::trace::recorded_words(tilescope::trace::box_words(box, load, form),
                                             tilescope::test::box_kernel(box.map, box.box, load, form)));
    }
    return all;
}

void expect_state(const SignalEvent& event, const TwinBarrier& twin) {
    EXPECT_EQ(event.phase, twin.ended);
    EXPECT_EQ(event.expected, twin.count);
    EXPECT_EQ(event.arrived, twin.count - twin.lacks);
    EXPECT_EQ(event.asked, twin.expected);
    EXPECT_EQ(event.brought, twin.expected - twin.tx);
}

TEST(SignalEvents, AreThoseOfATwin) {
    for (const trace::Trace& trace : ring_traces()) {
        const Signals signals(trace, 0);
        const trace::Arrivals arrivals(trace, trace.blocks[0]);
        TwinBarriers twin;
        std::set<uint32_t> barriers;
        std::map<uint32_t, const SignalEvent*> latest;
        size_t next = 0;
        const auto event = [&](uint32_t step, uint32_t barrier, Signal signal) {
            ASSERT_LT(next, signals.events().size());
            const SignalEvent& found = signals.events()[next++];
            EXPECT_TRUE(found.step == step && found.barrier == barrier && found.signal == signal) << step;
            expect_state(found, twin.at[barrier]);
            latest[barrier] = &found, barriers.insert(barrier);
        };
        for (uint32_t step = 0; step < trace.steps(); ++step) {
            for (const auto& [barrier, at] : latest)
                EXPECT_EQ(signals.before(step, barrier)->phase, at->phase);
            for (const auto& later : arrivals.later()) {
                if (later.visible_from != step) continue;
                const auto words = words_of(trace, later.step, 0);
                const uint32_t lane = static_cast<uint32_t>(std::countr_zero(trace.form_of(later.step).mask));
                const auto of_lane = words_of(trace, later.step, lane);
                ASSERT_EQ(words, of_lane) << "rings copy by their first lane that is active";
                twin.complete(of_lane[1], of_lane[0]);
                event(step, of_lane[1], Signal::None);
            }
            const ptx::Site& site = trace.sites[trace.form_of(step).site];
            if (site.signal == Signal::None) continue;
            const trace::AccessView view(trace, step);
            size_t lanes = 0;
            for_lanes(view.mask(), [&](uint32_t lane) {
                const auto at = static_cast<uint32_t>(view.addresses()[lane]);
                EXPECT_EQ(twin.apply(site.signal, at, words_of(trace, step, lane).data()), "");
                event(step, at, site.signal);
                ++lanes;
            });
            EXPECT_EQ(signals.of_step(step).size(), lanes);
        }
        EXPECT_EQ(next, signals.events().size());
        EXPECT_EQ(signals.barriers(), std::vector<uint32_t>(barriers.begin(), barriers.end()));
    }
}

TEST(BoxCosts, AreThoseOfTheirBytes) {
    std::vector<trace::Trace> traces = box_traces();
    for (trace::Trace& ring : ring_traces()) traces.push_back(std::move(ring));
    uint64_t boxes = 0;
    for (const trace::Trace& trace : traces) {
        CostTable table(trace);
        LoadCounter loads(trace);
        std::vector<std::map<uint64_t, uint64_t>> twin(trace.launch.arrays.size());
        for (uint64_t step = 0; step < trace.steps(); ++step) {
            loads.add(step);
            const trace::Form& form = trace.form_of(step);
            const ptx::Site& site = trace.sites[form.site];
            if (!ptx::asks_memory(site.kind)) continue;
            const trace::AccessView view(trace, step);
            std::set<uint64_t> bytes, sectors, lines;
            uint64_t all = 0;
            view.for_pieces([&](uint32_t, uint64_t address, uint64_t count) {
                std::set<uint64_t> elements;
                for (uint64_t at = address; at < address + count; ++at, ++all) {
                    bytes.insert(at), sectors.insert(at / 32), lines.insert(at / 128);
                    if (const Array* const array = trace.array_of(form))
                        elements.insert((at - array->base) / array->element_bytes());
                }
                if (site.kind == ptx::SiteKind::Load && form.space == Space::Global &&
                    form.array != trace::kNoArray)
                    for (const uint64_t element : elements) ++twin[form.array][element];
            });
            const Cost cost = cost_of(trace, step);
            EXPECT_EQ(cost, table.of(step)) << step;
            EXPECT_EQ(cost.bytes, all);
            if (!view.is_box()) continue;
            ++boxes;
            EXPECT_EQ(cost.shared, BankCost{});
            if (form.space != Space::Global) continue;
            EXPECT_EQ(cost.global.sectors, sectors.size());
            EXPECT_EQ(cost.global.lines, lines.size());
            EXPECT_EQ(cost.global.ideal_sectors, (bytes.size() + 31) / 32);
        }
        loads.finish();
        for (size_t i = 0; i < twin.size(); ++i) {
            std::map<uint64_t, uint64_t> counted;
            loads.of(static_cast<uint8_t>(i)).each([&](uint64_t element, uint32_t count) {
                counted[element] = count;
            });
            EXPECT_EQ(counted, twin[i]);
        }
    }
    EXPECT_GT(boxes, 80u);
}

// Words and addresses changed at random: what is read again is summed up and looked through.
TEST(SignalEvents, RandomDamageHarmsNobody) {
    std::mt19937 random(11);
    const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
    std::vector<trace::Trace> traces = ring_traces();
    traces.resize(6);
    for (trace::Trace& box : box_traces()) traces.push_back(std::move(box));
    size_t accepted = 0;
    for (int i = 0; i < 400; ++i) {
        trace::Trace trace = traces[static_cast<size_t>(i) % traces.size()];
        const auto value = below(3) ? static_cast<uint32_t>(16 * below(40)) : static_cast<uint32_t>(random());
        switch (below(5)) {
            case 0:
            case 1:
                std::memcpy(trace.returned.data() + 4 * below(trace.returned.size() / 4), &value, 4);
                break;
            case 2: trace.base[below(trace.base.size())] = value; break;
            case 3: std::swap(trace.key[below(trace.key.size())], trace.key[below(trace.key.size())]); break;
            default: trace.arrival[below(trace.arrival.size())] = below(2) ? trace::kNeverWaited : value;
        }
        const auto read = trace::deserialize(trace::serialize(trace), "a.tsc");
        if (!read) continue;
        ++accepted;
        const auto summary = summarize(*read);
        EXPECT_TRUE(summary) << summary.error().message;
        EXPECT_TRUE(find_hazards(*read));
        const Signals signals(*read, 0);
        for (const SignalEvent& event : signals.events()) EXPECT_LE(event.arrived, event.expected);
    }
    EXPECT_GT(accepted, 100u);
}

}  // namespace
}  // namespace tilescope::analysis
