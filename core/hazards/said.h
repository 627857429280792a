// The list of a recording's faults as record, report and the window say it: a row for each kind and array.
#pragma once

#include <optional>

#include "core/hazards/hazards.h"

namespace tilescope::analysis {

// Findings of one kind, array and severity: six pairs of source lines are one fault of a program.
struct SaidFault {
    HazardKind kind{};
    Severity severity = Severity::Fault;
    uint32_t line = 0, other_line = 0;  // of the first finding; 0 for none
    uint64_t count = 0;                 // as Hazard::count, of all findings together
    uint32_t places = 0;                // pairs of source lines
    // About the first finding, without its full stop, and how many pairs of lines there are besides.
    std::string sentence;
    std::optional<HazardExample> example;  // what the sentence is about; none where the run has said it
};
// Its sentence in a notation.
std::string sentence_of(const trace::Trace& trace, const SaidFault& said, const Notation& notation);

// Faults first, then what cannot be told, then remarks; else in the order of `found`.
std::vector<SaidFault> said_faults(const Hazards& hazards);

// What the run met that is undefined (trace::Meta::findings), as findings like the others.
void add_findings(const trace::Trace& trace, Hazards& hazards);

}  // namespace tilescope::analysis
