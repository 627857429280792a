#include "core/hazards/said.h"

#include <algorithm>

#include <fmt/format.h>

namespace tilescope::analysis {
namespace {

int weight(Severity severity) {
    return severity == Severity::Fault ? 0 : severity == Severity::CannotTell ? 1 : 2;
}

HazardKind kind_of(trace::Finding::Kind kind) {
    using K = trace::Finding::Kind;
    return kind == K::Unfilled      ? HazardKind::Unfilled
           : kind == K::AbsentLanes ? HazardKind::AbsentLanes
                                    : HazardKind::OneAddress;
}

}  // namespace

std::vector<SaidFault> said_faults(const Hazards& hazards) {
    struct Group {
        SaidFault said;
        uint8_t array = trace::kNoArray;
    };
    std::vector<Group> groups;
    for (const Hazard& h : hazards.found) {
        auto at = std::ranges::find_if(groups, [&](const Group& group) {
            return group.said.kind == h.kind && group.said.severity == h.severity && group.array == h.array;
        });
        if (at == groups.end())
            at = groups.insert(at, {{h.kind, h.severity, h.line, h.other_line, 0, 0, h.sentence}, h.array});
        at->said.count += h.count;
        ++at->said.places;
    }
    std::ranges::stable_sort(groups, {}, [](const Group& group) { return weight(group.said.severity); });
    std::vector<SaidFault> said;
    for (Group& group : groups) {
        said.push_back(std::move(group.said));
        if (const uint32_t more = said.back().places - 1; more > 0)
            said.back().sentence +=
                fmt::format("; the same at {} more {} of lines", more, more == 1 ? "pair" : "pairs");
    }
    return said;
}

void add_findings(const trace::Trace& trace, Hazards& hazards) {
    for (const trace::Finding& finding : trace.meta.findings) {
        if (finding.kind == trace::Finding::Kind::SharedBytes) {
            for (Hazard& h : hazards.found)
                if (h.kind == HazardKind::Uninitialised)
                    h.severity = Severity::Remark, h.sentence += "; " + finding.sentence;
            continue;
        }
        Hazard h;
        h.kind = kind_of(finding.kind);
        h.severity = finding.remark ? Severity::Remark : Severity::Fault;
        h.array = finding.array;
        h.space = finding.kind == trace::Finding::Kind::OneAddress ? Space::Shared : Space::Global;
        h.line = finding.line, h.other_line = finding.other_line;
        h.count = finding.count, h.blocks = finding.blocks;
        h.sentence = finding.sentence;
        hazards.found.push_back(std::move(h));
    }
}

}  // namespace tilescope::analysis
