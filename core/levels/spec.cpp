#include "core/levels/spec.h"

#include <iterator>
#include <string_view>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"

namespace tilescope::analysis {

namespace {

constexpr const char* kKnown[] = {"documented", "measured", "assumed"};

bool read(const nlohmann::json& item, const LevelFigureName& name, LevelSpec& levels) {
    std::string problem, known;
    LevelFigure& figure = levels.*name.figure;
    JsonFields fields(item, problem);
    fields.real("value", figure.value);
    fields.text("known", known);
    fields.text("source", figure.source);
    size_t which = 0;
    while (which < std::size(kKnown) && known != kKnown[which]) ++which;
    figure.known = static_cast<FigureBasis>(which);
    return problem.empty() && which < std::size(kKnown) && !figure.source.empty() && figure.value > 0 &&
           figure.value <= name.most;
}

}  // namespace

const char* name_of(FigureBasis known) { return kKnown[static_cast<size_t>(known)]; }

const std::array<LevelFigureName, 27>& level_figures() {
    using S = LevelSpec;
    static const std::array<LevelFigureName, 27> figures{{
        {"l1_bytes", "L1 and shared memory of an SM, bytes", &S::l1_bytes, 1 << 22},
        {"l2_bytes", "L2, bytes", &S::l2_bytes, 1 << 30},
        {"l2_copies", "parts of L2 that hold the same line", &S::l2_copies, 16},
        {"fetch_bytes", "bytes that L2 fetches from DRAM at a time", &S::fetch_bytes, 128},
        {"gpcs", "GPCs, whose SMs' reads of one sector are merged on the way to L2", &S::gpcs, 1024},
        {"merge_cycles", "cycles for which they are where L2 has it", &S::merge_cycles, 1e6},
        {"shared_cycles", "cycles of a load from shared memory", &S::shared_cycles, 1e5},
        {"trip_cycles", "cycles of a trip of a loop that uses what it loads from there", &S::trip_cycles,
         1e5},
        {"l1_cycles", "cycles of a hit in L1", &S::l1_cycles, 1e5},
        {"l2_cycles", "cycles of a hit in L2", &S::l2_cycles, 1e5},
        {"dram_cycles", "cycles of a load from DRAM", &S::dram_cycles, 1e5},
        {"l2_latency", "cycles that one warp alone waits for a load from L2", &S::l2_latency, 1e5},
        {"dram_latency", "cycles that one warp alone waits for a load from DRAM", &S::dram_latency, 1e5},
        {"send_share", "share that sending requests takes longer at most, by chance", &S::send_share, 10},
        {"spread_cycles", "cycles that a load takes longer at most, by chance", &S::spread_cycles, 1e5},
        {"spread_share", "share that work takes longer at most, by chance", &S::spread_share, 10},
        {"drift_cycles", "the same cycles, in blocks without barriers", &S::drift_cycles, 1e5},
        {"drift_share", "the same share, in blocks without barriers", &S::drift_share, 10},
        {"launch_ns", "nanoseconds that two events around a launch show beyond its work", &S::launch_ns, 1e6},
        {"clock_mhz", "highest clock of the SMs, MHz", &S::clock_mhz, 1e5},
        {"pipe_per_clock", "wavefronts and lines of an SM's data pipe a clock", &S::pipe_per_clock, 64},
        {"lsu_per_clock", "load and store instructions of an SM a clock", &S::lsu_per_clock, 64},
        {"issue_per_clock", "instructions of an SM a clock", &S::issue_per_clock, 64},
        {"fp32_per_clock", "fp32 operations of an SM a clock", &S::fp32_per_clock, 4096},
        {"half_per_clock", "multiply-adds of halves of an SM's tensor cores a clock", &S::half_per_clock,
         1 << 16},
        {"l2_per_clock", "bytes that L2 gives a clock", &S::l2_per_clock, 1 << 20},
        {"sent_per_clock", "sectors that an SM sends to L2 a clock", &S::sent_per_clock, 64},
    }};
    return figures;
}

Result<std::optional<LevelSpec>> levels_from_json(std::string_view text, std::string_view name) {
    using Json = nlohmann::json;
    const Json root = Json::parse(text, nullptr, false);
    if (!root.is_object()) return Error{fmt::format("'{}' is not a JSON object; mend or remove it", name)};
    if (!root.contains("levels")) return std::optional<LevelSpec>{};
    std::string problem;
    JsonFields of_root(root, problem);
    LevelSpec levels;
    JsonFields f(of_root.object("levels"), problem);
    for (const LevelFigureName& figure : level_figures())
        if (!read(f.object(figure.key), figure, levels)) f.fail(figure.key);
    if (!problem.empty())
        return Error{fmt::format("the levels of '{}' are damaged: {}; mend them", name, problem)};
    return std::optional(levels);
}

}  // namespace tilescope::analysis
