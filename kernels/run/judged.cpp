#include "kernels/run/judged.h"

#include <functional>
#include <set>

#include "core/playback/replay.h"
#include "kernels/run/record.h"

namespace tilescope::kernels {
namespace {

void tell_values(const analysis::Recording& recording, analysis::Hazards& hazards, Stop stop) {
    const trace::Trace& trace = *recording.trace;
    constexpr uint64_t kMostRunAgain = 100'000, kMostBytes = 64 << 20;
    uint64_t bytes = 0;
    for (const Array& array : trace.launch.arrays) bytes += array.bytes();
    std::set<uint32_t> blocks;
    for (const analysis::Hazard& hazard : hazards.found)
        for (const analysis::HazardExample& example : hazard.examples) blocks.insert(example.a.block);
    if (blocks.empty() || bytes > kMostBytes) return;
    auto replayer = Replayer::of(trace);
    if (!replayer) return;
    for (const uint32_t block : blocks) {
        if (stop.now()) return;
        playback::BlockReplay replay(trace, block);
        if (trace.blocks[block].count > kMostRunAgain || !replayer->replay(trace, block, replay) ||
            replay.full())
            continue;
        replay.finish();
        analysis::tell_values(recording, block, std::bind_front(&playback::BlockReplay::value, &replay),
                              hazards);
    }
}

}  // namespace

analysis::Hazards judged(const analysis::Recording& recording, const analysis::HazardOptions& options) {
    analysis::Hazards hazards = analysis::find_hazards(recording, options);
    tell_values(recording, hazards, options.stop);
    return hazards;
}

}  // namespace tilescope::kernels
