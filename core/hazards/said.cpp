#include "core/hazards/said.h"

#include <algorithm>
#include <set>
#include <utility>

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

// A fault whose sentence its first example tells alone (sentence_of).
bool of_steps(const Hazard& h) {
    return h.severity == Severity::Fault && !h.examples.empty() && h.examples.front().a.site != kNoSite;
}

// Behind the sentence about the first of some pairs of lines.
std::string others(uint32_t places) {
    return places < 2
               ? ""
               : fmt::format("; the same at {} more {} of lines", places - 1, places == 2 ? "pair" : "pairs");
}

}  // namespace

std::string sentence_of(const trace::Trace& trace, const SaidFault& said, const Notation& notation) {
    if (!said.example) return said.sentence;
    return sentence_of(trace, said.kind, *said.example, notation, said.severity) + others(said.places);
}

std::vector<SaidFault> said_faults(const Hazards& hazards) {
    struct Group {
        SaidFault said;
        uint8_t array = trace::kNoArray;
        bool same_warp = false;  // the finding that it tells
        std::set<std::pair<uint32_t, uint32_t>> lines = {};
    };
    std::vector<Group> groups;
    for (const Hazard& h : hazards.found) {
        auto at = std::ranges::find_if(groups, [&](const Group& group) {
            return group.said.kind == h.kind && group.said.severity == h.severity && group.array == h.array;
        });
        if (at == groups.end()) {
            at = groups.emplace(at);
            at->said.kind = h.kind, at->said.severity = h.severity, at->array = h.array;
        } else if (!at->same_warp || h.same_warp) {  // a race of two warps tells more than one within a warp
            at->said.count += h.count;
            at->lines.emplace(h.line, h.other_line);
            continue;
        }
        at->same_warp = h.same_warp;
        at->said.line = h.line, at->said.other_line = h.other_line;
        at->said.sentence = h.sentence;
        at->said.example.reset();
        if (of_steps(h)) at->said.example = h.examples.front();
        at->said.count += h.count;
        at->lines.emplace(h.line, h.other_line);
    }
    std::ranges::stable_sort(groups, {}, [](const Group& group) { return weight(group.said.severity); });
    std::vector<SaidFault> said;
    for (Group& group : groups) {
        said.push_back(std::move(group.said));
        said.back().places = static_cast<uint32_t>(group.lines.size());
        said.back().sentence += others(said.back().places);
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
