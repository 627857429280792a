#include "app/session/exported.h"

#include <utility>

#include "core/trace/claims.h"
#include "kernels/run/record.h"

namespace tilescope::session {

uint64_t bytes_exported(const trace::Trace& trace, const report::Selected& selected, std::string_view format,
                        bool lanes) {
    // What rows take, about: measured of tiled 256 x 256 x 256, numbers of more digits left out.
    report::ExportBytes of{300, 0};
    if (format == "csv") of = lanes ? report::ExportBytes{0, 66, true} : report::ExportBytes{67, 0, true};
    if (format == "json") of = {145, lanes ? uint64_t{12} : 0};
    return report::bytes_about(trace, selected, of);
}

bool write_requests(const analysis::Recording& recording, const report::Selected& selected,
                    std::string_view format, bool lanes, const report::Take& take,
                    const report::ExportProgress& progress) {
    if (format == "csv") return report::write_csv(recording, selected, lanes, take, progress);
    if (format == "json") return report::write_trace_json(recording, selected, lanes, take, progress);
    return report::write_perfetto(recording, selected, take, progress);
}

Result<std::string> phase_table_of(const analysis::Recording& recording, uint32_t block,
                                   playback::TableFormat format) {
    const trace::Trace& trace = *recording.trace;
    const trace::Block& of = trace.blocks[block];
    const uint64_t most = trace::memory_left(trace) / 4;
    const auto too_large = [&] {
        return trace::more_memory("the table of " +
                                  block_name(trace.launch.grid, {of.x, of.y, of.z}, recording.notation));
    };
    constexpr uint64_t kStepBytes = 16;  // of the phases
    if (of.count * kStepBytes > most) return too_large();
    const analysis::PhaseMap phases = analysis::phases_of_block(recording, block);
    if (playback::table_bytes(trace, phases) > most) return too_large();
    auto replayer = kernels::Replayer::of(trace);
    if (!replayer) return replayer.error();
    playback::BlockReplay replay(trace, block, most);
    if (auto done = replayer->replay(trace, block, replay); !done) return done.error();
    if (replay.full()) return too_large();
    replay.finish();
    return playback::print(playback::phase_table(recording, replay, phases), format);
}

}  // namespace tilescope::session
