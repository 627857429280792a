#include "app/look/pipeline.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "app/look/block_index.h"
#include "app/look/timeline.h"
#include "core/base/words.h"

namespace tilescope::look {

namespace {

using analysis::kNoStep, analysis::PipelineStage, analysis::SignalEvent, analysis::SignalWaitSpan,
    analysis::StageFill;

// "stage[0,0..255]"; of more than one part the first one; "bytes 0 to 1,023" where no array is declared.
std::string part_text(const trace::Trace& trace, const BlockIndex& index, const PipelineStage& stage) {
    const PipelineStage::Part& part = stage.parts.front();
    for (const Array& array : trace.launch.arrays) {
        if (array.space != Space::Shared || part.first < array.base || part.end > array.base + array.bytes())
            continue;
        const uint64_t width = std::max(array.element_bytes(), 1u);
        ElementBox box;
        box.include(position_of(array, static_cast<int64_t>((part.first - array.base) / width)));
        box.include(position_of(array, static_cast<int64_t>((part.end - 1 - array.base) / width)));
        return elements_text(array, box, index.notation);
    }
    return fmt::format("bytes {} to {}", grouped(part.first), grouped(part.end - 1));
}

// What the first copy of a fill reads: "in[256..511]".
std::string source_of(const trace::Trace& trace, const BlockIndex& index, const StageFill& fill) {
    const auto transfer = trace::transfer_of(trace, index.first + fill.copies.front());
    if (!transfer || !transfer->read) return "";
    const trace::Form& form = trace.form_of(*transfer->read);
    if (form.array == trace::kNoArray) return "";
    const Array& array = trace.launch.arrays[form.array];
    ElementBox box;
    for_elements(trace, *transfer->read, [&](uint32_t, uint64_t element) {
        box.include(position_of(array, static_cast<int64_t>(element)));
    });
    return box.empty() ? "" : elements_text(array, box, index.notation);
}

// Warps whose arrivals a phase of a barrier still lacks behind a step.
std::vector<uint32_t> missing_at(const trace::Trace& trace, const BlockIndex& index,
                                 const SignalWaitSpan& wait, uint32_t step) {
    const std::vector<SignalEvent>& events = index.signals->events();
    std::set<uint32_t> warps;
    for (auto event = std::ranges::upper_bound(events, step, {}, &SignalEvent::step); event != events.end();
         ++event) {
        if (event->barrier != wait.barrier) continue;
        if (ptx::arrives(event->signal)) warps.insert(trace.warp_of(index.first + event->step));
        if (event->ended) break;
    }
    return {warps.begin(), warps.end()};
}

// "0 of 1 arrivals, which warp 0 lacks; ..."
std::string lacks_text(const trace::Trace& trace, const BlockIndex& index, const SignalWaitSpan& wait,
                       uint32_t step) {
    const SignalEvent* const now = index.signals->before(step + 1, wait.barrier);
    if (now == nullptr) return "which is not initialised yet";
    BarrierView view{
        .arrived = now->arrived, .expected = now->expected, .brought = now->brought, .asked = now->asked};
    std::string text = standing_words(view);
    const std::vector<uint32_t> missing = missing_at(trace, index, wait, step);
    if (now->arrived < now->expected && !missing.empty())
        return text +
               fmt::format("; {} {} not come", warps_words(missing), missing.size() == 1 ? "has" : "have");
    if (now->arrived >= now->expected && now->brought < now->asked) return text + "; the copy is under way";
    return text;
}

}  // namespace

std::string warps_words(const std::vector<uint32_t>& warps) {
    if (warps.size() == 1) return fmt::format("warp {}", warps.front());
    if (warps.size() > 2 && warps.back() - warps.front() + 1 == warps.size())
        return fmt::format("warps {} to {}", warps.front(), warps.back());
    std::string text = "warps ";
    for (size_t at = 0; at < warps.size(); ++at)
        text += fmt::format("{}{}", at == 0 ? "" : at + 1 == warps.size() ? " and " : ", ", warps[at]);
    return text;
}

const char* name_of(analysis::WarpRole role) {
    constexpr const char* kNames[] = {"", "producer", "consumer", "producer and consumer"};
    return kNames[static_cast<size_t>(role)];
}

const SignalWaitSpan* wait_of(const BlockIndex& index, uint32_t warp, uint32_t step) {
    if (!index.pipeline || warp >= index.steps_of_warp.size()) return nullptr;
    const std::vector<uint32_t>& own = index.steps_of_warp[warp];
    const auto next = std::ranges::upper_bound(own, step);
    if (next == own.end()) return nullptr;
    const auto& waits = index.pipeline->waits;
    const auto wait = std::ranges::lower_bound(waits, *next, {}, &SignalWaitSpan::step);
    if (wait == waits.end() || wait->step != *next || !wait->phase) return nullptr;
    const bool begun = wait->since == kNoStep || wait->since <= step;
    return begun && wait->ended > step ? &*wait : nullptr;
}

namespace {

const SignalWaitSpan* wait_at(const BlockIndex& index, uint32_t step) {
    if (!index.pipeline) return nullptr;
    const auto& waits = index.pipeline->waits;
    const auto wait = std::ranges::lower_bound(waits, step, {}, &SignalWaitSpan::step);
    return wait == waits.end() || wait->step != step ? nullptr : &*wait;
}

}  // namespace

std::string waited_words(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    const SignalWaitSpan* const wait = wait_at(index, step);
    const auto number = wait == nullptr ? std::nullopt : index.pipeline->stage_of(wait->barrier);
    if (!number) return "";
    const PipelineStage& stage = index.pipeline->stages[*number];
    const std::string name = part_text(trace, index, stage);
    for (const uint32_t at : index.pipeline->fills_of[*number]) {
        const StageFill& fill = index.pipeline->fills[at];
        if (stage.full == wait->barrier && wait->phase == fill.phase)
            return fmt::format("Trip {} is in {}.", fill.trip, name);
        if (stage.empty == wait->barrier && fill.asked > step)
            return fmt::format("Trip {} can be copied to {}.", fill.trip, name);
    }
    return "";
}

std::string wait_length(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    const SignalWaitSpan* const wait = wait_at(index, step);
    if (wait == nullptr || wait->since == kNoStep) return "";
    if (index.clocked) {
        const uint32_t clocks = clock_of(trace, index, step) - clock_of(trace, index, wait->since);
        const std::string us = microseconds(trace.meta, clocks);
        return fmt::format("It waited at most {}{}, since its step before.", counted(clocks, "clock"),
                           us.empty() ? "" : fmt::format(" ({})", us));
    }
    const uint32_t between = step - wait->since - 1;
    return fmt::format("{} of other warps {} between its step before and this one.",
                       between == 0 ? "No step" : counted(between, "step"), between > 1 ? "lie" : "lies");
}

PipelineView pipeline_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    PipelineView view;
    if (!index.pipeline || index.pipeline->empty() || step >= index.steps) return view;
    const analysis::Pipeline& pipeline = *index.pipeline;
    view.rings = pipeline.rings;
    std::map<uint32_t, BarrierView> barriers;  // by where they lie
    for (const BarrierView& barrier : barriers_after(trace, index, step)) barriers[barrier.offset] = barrier;
    std::set<uint32_t> meant;
    for (const SignalEvent& event : index.signals->of_step(step)) meant.insert(event.barrier);
    const auto barrier_at = [&](uint32_t offset) {
        const auto at = barriers.find(offset);
        BarrierView found = at == barriers.end()
                                ? BarrierView{.name = name_of_barrier(trace, index, offset), .offset = offset}
                                : at->second;
        found.meant = meant.contains(offset);
        return found;
    };
    const auto transfer = trace::transfer_of(trace, index.first + step);
    const uint64_t copied = transfer && transfer->written ? *transfer->written - index.first : kNoStep;
    for (uint32_t number = 0; number < pipeline.stages.size(); ++number) {
        const PipelineStage& of = pipeline.stages[number];
        StageView stage;
        stage.name = part_text(trace, index, of);
        stage.ring = of.ring;
        stage.full = barrier_at(of.full);
        if (of.empty) stage.empty = barrier_at(*of.empty);
        stage.meant = stage.full.meant || (stage.empty && stage.empty->meant);
        if (const StageFill* const fill = pipeline.fill_at(number, step)) {
            stage.trip = fill->trip, stage.bytes = fill->bytes;
            stage.holds = fill->landed > step  ? StageView::Holds::UnderWay
                          : fill->freed > step ? StageView::Holds::Landed
                                               : StageView::Holds::Free;
            stage.source = source_of(trace, index, *fill);
        }
        for (const uint32_t fill : pipeline.fills_of[number])
            stage.meant = stage.meant || std::ranges::binary_search(pipeline.fills[fill].copies, copied);
        view.stages.push_back(std::move(stage));
    }
    std::map<uint32_t, const SignalWaitSpan*> first;  // by barrier: a wait for it
    std::map<uint32_t, std::vector<uint32_t>> warps;
    for (uint32_t warp = 0; warp < index.steps_of_warp.size(); ++warp)
        if (const SignalWaitSpan* const wait = wait_of(index, warp, step)) {
            first.try_emplace(wait->barrier, wait);
            warps[wait->barrier].push_back(warp);
        }
    for (auto& [barrier, waiting] : warps) {
        std::string who = warps_words(waiting);
        who[0] = 'W';
        const std::string sentence = fmt::format(
            "{} {} for {}: {}.", who, waiting.size() == 1 ? "waits" : "wait",
            name_of_barrier(trace, index, barrier), lacks_text(trace, index, *first[barrier], step));
        view.waiting.push_back({barrier, std::move(waiting), sentence});
    }
    return view;
}

std::string holds_words(const StageView& stage, bool source) {
    using Holds = StageView::Holds;
    if (stage.holds == Holds::Nothing) return "empty";
    const char* const state = stage.holds == Holds::UnderWay ? " under way"
                              : stage.holds == Holds::Free   ? " read, free again"
                                                             : "";
    return fmt::format("trip {}{}{}", stage.trip, state,
                       source && !stage.source.empty()
                           ? fmt::format(": {} of {}", counted(stage.bytes, "byte"), stage.source)
                           : "");
}

std::vector<StageSpan> stage_spans(const BlockIndex& index, uint32_t stage) {
    std::vector<StageSpan> spans;
    for (const uint32_t number : index.pipeline->fills_of[stage]) {
        const StageFill& fill = index.pipeline->fills[number];
        // Where no barrier says that it is free, up to the next fill.
        if (!spans.empty() && spans.back().freed > fill.asked) {
            spans.back().freed = fill.asked;
            spans.back().landed = std::min(spans.back().landed, fill.asked);
        }
        spans.push_back(
            {fill.trip, fill.asked, std::min(fill.landed, index.steps), std::min(fill.freed, index.steps)});
    }
    return spans;
}

}  // namespace tilescope::look
