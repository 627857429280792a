// `tilescope report`: the sums of a recording as JSON (schema tilescope.report/1) or as text.
#pragma once

#include <string>

#include "core/analysis/summary.h"
#include "core/trace/trace.h"

namespace tilescope::report {

std::string to_json(const trace::Trace& trace, const analysis::Summary& summary);
std::string to_text(const trace::Trace& trace, const analysis::Summary& summary);

}  // namespace tilescope::report
