// What tests ask of a trace that nobody opened: most are made by hand, without PTX, and give the rule of their
// phases themselves.
#pragma once

#include <memory>
#include <utility>

#include "core/export/report.h"
#include "core/export/requests.h"
#include "core/levels/levels.h"
#include "core/limits/roofline.h"
#include "core/playback/phase_table.h"

namespace tilescope::analysis {

// A recording of a trace that outlives it.
inline Recording with_rule(const trace::Trace& trace, PhaseRule rule = {}) {
    return {std::shared_ptr<const trace::Trace>(std::shared_ptr<void>(), &trace),
            std::move(rule),
            product_of(trace),
            {}};
}
inline Result<Recording> opened_here(const trace::Trace& trace) {
    return opened(std::shared_ptr<const trace::Trace>(std::shared_ptr<void>(), &trace));
}

inline Result<Summary> summarize(const trace::Trace& trace, Stop stop = {}, LoadCounter* loads = nullptr) {
    const auto recording = opened_here(trace);
    if (!recording) return recording.error();
    return summarize(*recording, stop, loads);
}
inline Hazards find_hazards(const trace::Trace& trace, const PhaseRule& rule,
                            const HazardOptions& options = {}) {
    return find_hazards(with_rule(trace, rule), options);
}
inline Result<Hazards> find_hazards(const trace::Trace& trace, const HazardOptions& options = {}) {
    const auto recording = opened_here(trace);
    if (!recording) return recording.error();
    return find_hazards(*recording, options);
}
inline FaultyCells faulty_cells(const trace::Trace& trace, const PhaseRule& rule, uint32_t block,
                                const ValueAt& value = {}, size_t most = kMostFaultyCells) {
    return faulty_cells(with_rule(trace, rule), block, value, most);
}
inline Result<RecordedWork> recorded_work(const trace::Trace& trace, const Summary& summary,
                                          std::optional<uint64_t> counted = std::nullopt) {
    return recorded_work(with_rule(trace), summary, counted);
}
inline Result<WalkedLevels> walk_levels(const trace::Trace& trace, const PhaseRule& rule,
                                        const LevelDevice& on, const LevelOptions& options) {
    return walk_levels(with_rule(trace, rule), on, options);
}

}  // namespace tilescope::analysis

namespace tilescope::playback {

inline PhaseTable phase_table(const trace::Trace& trace, const BlockReplay& replay,
                              const analysis::PhaseMap& phases) {
    return phase_table(analysis::with_rule(trace), replay, phases);
}

}  // namespace tilescope::playback

namespace tilescope::report {

inline bool write_csv(const trace::Trace& trace, const analysis::PhaseRule& rule, const Selected& selected,
                      bool lanes, const Take& take, ExportProgress progress = {}) {
    return write_csv(analysis::with_rule(trace, rule), selected, lanes, take, progress);
}
inline bool write_trace_json(const trace::Trace& trace, const analysis::PhaseRule& rule,
                             const Selected& selected, bool lanes, const Take& take,
                             ExportProgress progress = {}) {
    return write_trace_json(analysis::with_rule(trace, rule), selected, lanes, take, progress);
}
inline bool write_perfetto(const trace::Trace& trace, const analysis::PhaseRule& rule,
                           const Selected& selected, const Take& take, ExportProgress progress = {}) {
    return write_perfetto(analysis::with_rule(trace, rule), selected, take, progress);
}
inline std::string to_text(const trace::Trace& trace, const analysis::Summary& summary,
                           const analysis::Hazards* hazards = nullptr) {
    return to_text(analysis::with_rule(trace), summary, hazards);
}
inline std::string to_json(const trace::Trace& trace, const analysis::Summary& summary,
                           const analysis::Hazards* hazards = nullptr) {
    return to_json(analysis::with_rule(trace), summary, hazards);
}

}  // namespace tilescope::report
