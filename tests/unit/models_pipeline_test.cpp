// A ring of stages, found in the steps of a block, and what is said of it at each of them.
#include <map>
#include <random>

#include "app/look/pipeline.h"
#include "app/look/request.h"
#include "app/look/timeline.h"
#include "core/recording/phases.h"
#include "tests/ring_of_stages.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

using analysis::WarpRole;
using kernels::RingShape;

// What a ring is, counted warp by warp from the kernel that is known: trip t is in stage t mod stages; each reader's
// t-th wait begins it, and its t-th arrival ends it.
struct RingTwin {
    const RingShape of;
    const trace::Trace& trace;
    std::vector<uint32_t> asked, landed, freed;       // by trip: steps
    std::vector<uint32_t> expected;                   // steps at which the producer arrives, with bytes
    std::map<uint32_t, std::vector<uint32_t>> begun;  // by reader: steps of its waits

    RingTwin(const RingShape& shape, const trace::Trace& recorded) : of(shape), trace(recorded) {
        uint32_t copies = 0;
        std::map<uint32_t, uint32_t> left;  // by reader: stages that it has given back
        landed.assign(of.trips, UINT32_MAX), freed.assign(of.trips, 0);
        for (uint32_t step = 0; step < trace.steps(); ++step) {
            const ptx::Site& site = trace.sites[trace.form_of(step).site];
            const uint32_t warp = trace.warp_of(step);
            if (site.box != ptx::Box::None && site.kind == ptx::SiteKind::Store && copies++ % of.parts == 0)
                asked.push_back(step);
            if (warp == 0 && site.signal == ptx::Signal::Arrive) expected.push_back(step);
            if (warp > 0 && site.signal == ptx::Signal::Wait) {
                const auto trip = begun[warp].size();
                begun[warp].push_back(step);
                landed[trip] = std::min(landed[trip], step);  // the CPU lands a copy at the first wait
            }
            if (warp > 0 && site.signal == ptx::Signal::Arrive) {
                uint32_t& trip = left[warp];
                freed[trip] = std::max(freed[trip], step);
                ++trip;
            }
        }
    }

    uint32_t phase(uint32_t step) const {
        const uint32_t warp = trace.warp_of(step);
        const ptx::Site& site = trace.sites[trace.form_of(step).site];
        if (warp == 0) {
            // Its n-th arrival, with the bytes of the copies that follow, begins trip n.
            const auto trip =
                static_cast<uint32_t>(std::ranges::upper_bound(expected, step) - expected.begin());
            return trip == 0 ? 0 : trip - 1;
        }
        const std::vector<uint32_t>& own = begun.at(warp);
        const auto trip = static_cast<uint32_t>(std::ranges::upper_bound(own, step) - own.begin());
        if (site.kind == ptx::SiteKind::Store && site.space == Space::Global) return analysis::kAfter;
        return trip == 0 ? 0 : trip - 1;
    }
};

TEST(Pipeline, OfRingsIsThatOfTheirKernel) {
    std::mt19937 engine(39);
    for (int round = 0; round < 24; ++round) {
        RingShape shape{1 + static_cast<uint32_t>(engine() % 4), 1 + static_cast<uint32_t>(engine() % 9),
                        1 + static_cast<uint32_t>(engine() % 5), 1u << engine() % 3, engine() % 2 == 0};
        SCOPED_TRACE(fmt::format("{} stages, {} trips, {} readers, {} parts", shape.stages, shape.trips,
                                 shape.readers, shape.parts));
        const Recorded made = replayed(kernels::recorded(kernels::ring_of_stages(shape)));
        ASSERT_TRUE(made.trace->meta.complete) << made.trace->meta.incomplete_reason;
        const RingTwin twin(shape, *made.trace);
        ASSERT_NE(made.index->pipeline, nullptr);
        const analysis::Pipeline& found = *made.index->pipeline;
        const uint32_t stages = std::min(shape.stages, shape.trips);
        ASSERT_EQ(found.stages.size(), stages);
        EXPECT_EQ(found.rings, 1u);
        ASSERT_EQ(found.fills.size(), shape.trips);
        const uint32_t full = shape.stages * shape.bytes();
        for (uint32_t stage = 0; stage < stages; ++stage) {
            EXPECT_EQ(found.stages[stage].full, full + 8 * stage);
            EXPECT_EQ(found.stages[stage].empty, full + 8 * (shape.stages + stage));
            const uint64_t first = uint64_t{stage} * shape.bytes();
            EXPECT_EQ(found.stages[stage].parts,
                      (std::vector<analysis::PipelineStage::Part>{{first, first + shape.bytes()}}));
        }
        for (uint32_t trip = 0; trip < shape.trips; ++trip) {
            const analysis::StageFill& fill = found.fills[trip];
            EXPECT_EQ(fill.trip, trip);
            EXPECT_EQ(fill.stage, trip % shape.stages);
            EXPECT_EQ(fill.bytes, shape.bytes());
            EXPECT_EQ(fill.asked, twin.asked[trip]);
            EXPECT_EQ(fill.landed, twin.landed[trip]);
            EXPECT_EQ(fill.freed, twin.freed[trip]);
        }
        for (uint32_t warp = 0; warp <= shape.readers; ++warp)
            EXPECT_EQ(found.role_of(warp), warp == 0 ? WarpRole::Producer : WarpRole::Consumer);

        EXPECT_EQ(made.index->phases.phases, shape.trips);
        for (uint32_t step = 0; step < made.index->steps; ++step)
            ASSERT_EQ(made.index->phase_at(step), twin.phase(step)) << step;

        // What a buffer holds, by what has been asked for, waited for and given back.
        using Holds = look::StageView::Holds;
        for (uint32_t step = 0; step < made.index->steps; ++step) {
            const look::PipelineView view = look::pipeline_view(*made.trace, *made.index, step);
            for (uint32_t stage = 0; stage < stages; ++stage) {
                std::optional<uint32_t> latest;
                for (uint32_t trip = stage; trip < shape.trips; trip += shape.stages)
                    if (twin.asked[trip] <= step) latest = trip;
                const Holds holds = !latest                       ? Holds::Nothing
                                    : twin.landed[*latest] > step ? Holds::UnderWay
                                    : twin.freed[*latest] > step  ? Holds::Landed
                                                                  : Holds::Free;
                ASSERT_EQ(view.stages[stage].holds, holds) << "stage " << stage << " at step " << step;
                if (latest) ASSERT_EQ(view.stages[stage].trip, *latest);
            }
        }
    }
}

TEST(Pipeline, SaysWhoWaitsForWhom) {
    const Recorded made = replayed(kernels::recorded(kernels::ring_of_stages({2, 5, 3, 1, false})));
    const analysis::Pipeline& ring = *made.index->pipeline;
    // Behind the last copy that finds an empty stage, the producer waits for its readers.
    const uint32_t asked = ring.fills[1].asked;
    std::vector<std::string> said;
    for (uint32_t step = asked; step < ring.fills[2].asked; ++step)
        for (const look::WaitingWarps& of : look::pipeline_view(*made.trace, *made.index, step).waiting)
            if (said.empty() || said.back() != of.sentence) said.push_back(of.sentence);
    const auto told = [&](const std::string& sentence) { return std::ranges::count(said, sentence) > 0; };
    EXPECT_TRUE(told("Warp 0 waits for empty[0]: 0 of 3 arrivals; warps 1 to 3 have not come."))
        << said.front();
    EXPECT_TRUE(told("Warp 0 waits for empty[0]: 2 of 3 arrivals; warp 3 has not come.")) << said.back();
    const look::PipelineView view = look::pipeline_view(*made.trace, *made.index, asked);
    EXPECT_EQ(view.stages[1].name, "stage[1,0..95]");
    EXPECT_EQ(look::holds_words(view.stages[1], true), "trip 1 under way: 384 bytes of in[1,0..95]");
    EXPECT_EQ(view.stages[1].full.name, "full[1]");
    EXPECT_EQ(look::barrier_words(view.stages[1].full), "phase 0, 1 of 1 arrival and 0 of 384 bytes");
    EXPECT_TRUE(view.stages[1].meant);
    EXPECT_FALSE(view.stages[0].meant);
}

TEST(Pipeline, WaitsAreHatchedFromTheStepBefore) {
    const Recorded made = replayed(kernels::recorded(kernels::ring_of_stages({2, 6, 2})));
    const look::TimelineView view = look::timeline_view(*made.trace, *made.index, 0, made.index->steps, 4096);
    for (uint32_t warp = 0; warp < made.index->steps_of_warp.size(); ++warp) {
        std::vector<bool> waits(made.index->steps), twin(made.index->steps);
        for (const look::TimelineMark& mark : view.waits[warp])
            for (uint32_t at = mark.first; at < mark.end; ++at) waits[at] = true;
        const std::vector<uint32_t>& own = made.index->steps_of_warp[warp];
        for (size_t i = 1; i < own.size(); ++i)
            if (kind_of(*made.trace, made.index->first + own[i]) == StepKind::SignalWait) {
                uint32_t from = own[i - 1];  // or where the block's barrier opens
                if (kind_of(*made.trace, made.index->first + from) == StepKind::Barrier)
                    from = made.index->arrivals[made.index->phases.interval[from]].back();
                for (uint32_t at = from + 1; at < own[i]; ++at) twin[at] = true;
            }
        EXPECT_EQ(waits, twin) << "warp " << warp;
        for (const look::TimelineMark& mark : view.warps[warp])
            for (uint32_t at = mark.first; at < mark.end; ++at) EXPECT_FALSE(waits[at]);
    }
}

TEST(BulkCopy, IsShownWhole) {
    const Recorded made = replayed(kernels::recorded(kernels::ring_of_stages({3, 4, 4})));
    const uint32_t load = step_of(made, StepKind::GlobalLoad, "in"),
                   store = step_of(made, StepKind::SharedStore, "stage");
    const look::RequestView read = look::request_view(*made.trace, *made.index, load),
                            written = look::request_view(*made.trace, *made.index, store);
    EXPECT_EQ(read.title, "Warp 0 copies in bulk from in");
    EXPECT_EQ(read.verdict, "1 lane asks for 512 bytes in bulk: 16 sectors of 16 needed");
    EXPECT_EQ(read.sectors.size(), 16u);
    for (const look::SectorView& sector : read.sectors) EXPECT_EQ(sector.bytes_used, 32u);
    EXPECT_EQ(read.lines.size(), 4u);
    EXPECT_EQ(read.counted_by, "full[0]");
    EXPECT_EQ(look::lane_text(*made.trace, read, 0),
              "thread[0]: 512 bytes from in[0,0] on = byte 0 of in, sector 0");
    EXPECT_EQ(written.verdict,
              "1 lane fills 512 bytes in bulk. What that takes of the banks is not modelled");
    EXPECT_FALSE(look::is_judged(written));
    for (const auto& bank : written.banks) EXPECT_TRUE(bank.empty());
    EXPECT_EQ(look::lane_text(*made.trace, written, 0),
              "thread[0]: 512 bytes from stage[0,0] on = byte 0 of stage");
    std::set<uint64_t> elements;
    look::for_elements(*made.trace, made.index->first + load, [&](uint32_t lane, uint64_t element) {
        EXPECT_EQ(lane, 0u);
        elements.insert(element);
    });
    ASSERT_EQ(elements.size(), 128u);
    EXPECT_EQ(*elements.rbegin(), 127u);
    const uint8_t in = made.trace->form_of(made.index->first + load).array;
    EXPECT_EQ(look::tile_of_phase(*made.trace, *made.index, in, 2), (look::CellRect{2, 3, 0, 128}));
}

}  // namespace
}  // namespace tilescope::app
