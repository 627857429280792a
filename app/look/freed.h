// A request as it would be with what would free it (core/analysis/remedy.h), and the sentences that say so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/look/request.h"
#include "core/analysis/swaps.h"

namespace tilescope::look {

// The request with a remedy of its array, from 0 on: its lanes with their moved addresses, its words in their new
// banks. Its verdict says what it costs then and now, and all requests to the array:
//
//   1 wavefront in place of 32. All requests to Nds: 512 in place of 8,704
//
// Nothing of a request that is not to shared memory, or whose array has no such remedy.
std::optional<RequestView> freed_view(const trace::Trace& trace, const RequestView& request,
                                      const analysis::Improvements& improvements, size_t remedy);

// What would make the request cheaper, a sentence for each: remedies of its array, swaps of its site.
std::vector<std::string> freed_words(const RequestView& request, const analysis::Improvements& improvements);

}  // namespace tilescope::look
