// What an export writes as text, for the window's job and the command line alike.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/export/requests.h"
#include "core/playback/phase_table.h"

namespace tilescope::session {

inline constexpr uint64_t kMostExported = 800'000'000;  // bytes that are written where nobody chose the steps

// About how many bytes the requests take as csv, json or perfetto.
uint64_t bytes_exported(const trace::Trace& trace, const report::Selected& selected, std::string_view format,
                        bool lanes);

// Writes requests as csv, json or perfetto; false where `take` ended it.
bool write_requests(const analysis::Recording& recording, const report::Selected& selected,
                    std::string_view format, bool lanes, const report::Take& take,
                    const report::ExportProgress& progress);

// What each thread of a block loads and multiplies in each phase. Error: it takes more memory than is left, or the block
// cannot be run again.
Result<std::string> phase_table_of(const analysis::Recording& recording, uint32_t block,
                                   playback::TableFormat format);

}  // namespace tilescope::session
