// The facts of kernels whose copies report to barriers in memory (mbarrier): what a copy in bulk brings, and what a
// barrier waits for. Rows as those of facts.cpp.
#include "app/lessons/questions.h"
#include "core/trace/trace.h"

namespace tilescope::lessons {
namespace {

using Number = std::optional<uint64_t>;
using session::Hide;

uint64_t recorded(const Scene& scene) { return scene.index.first + scene.step; }

// The bytes of a copy in bulk, those outside its tensor too; none of any other step.
Number copy_bytes(Scene& scene) {
    const ptx::Box box = scene.trace.sites[form_of(scene).site].box;
    if (box != ptx::Box::Row && box != ptx::Box::Tensor) return std::nullopt;
    uint64_t bytes = 0;
    for_lanes(form_of(scene).mask,
              [&](uint32_t lane) { bytes += trace::words_of(scene.trace, recorded(scene), lane)[0]; });
    return bytes;
}

// what(SignalEvent) of the first lane of a step that does something to a barrier in memory; none of any other step.
template <class What>
Number of_signal(const Scene& scene, What what) {
    if (!analysis::is_of_mbarrier(kind_of(scene)) || !scene.index.signals) return std::nullopt;
    const auto events = scene.index.signals->of_step(scene.step);
    return events.empty() ? Number() : what(events.front());
}

constexpr Fact kOfBulkCopy[] = {
    {"copy_bytes", "byte", kCost | Hide::Elements, "bytes that it brings", copy_bytes},
};

constexpr Fact kOfMbarrier[] = {
    {"arrivals_asked", "arrival", kCost | Hide::Waits, "arrivals that each of its phases waits for",
     [](Scene& s) { return of_signal(s, [](const auto& event) -> Number { return event.expected; }); }},
    {"bytes_asked", "byte", kCost | Hide::Waits,
     "bytes that its phase waits for, behind a step that is no wait",
     [](Scene& s) {
         return of_signal(s, [](const auto& event) {
             return event.signal == ptx::Signal::Wait ? Number() : static_cast<uint64_t>(event.asked);
         });
     }},
};

}  // namespace

std::span<const FactGroup> ring_fact_groups() {
    static constexpr FactGroup kGroups[] = {{"a copy in bulk (`cp.async.bulk`)", kOfBulkCopy},
                                            {"a step at an mbarrier", kOfMbarrier}};
    return kGroups;
}

}  // namespace tilescope::lessons
