#include "app/look/freed.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::look {
namespace {

const analysis::Remedies* remedies_for(const RequestView& request,
                                       const analysis::Improvements& improvements) {
    const auto found = std::ranges::find(improvements.arrays, request.array, &analysis::Remedies::array);
    const bool costs = request.array != trace::kNoArray && (!request.good || !request.least);
    return costs && found != improvements.arrays.end() ? &*found : nullptr;
}

std::string capital(std::string text) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

// "512 in place of 8,704"
std::string in_place_of(uint64_t after, uint64_t before) {
    return fmt::format("{} in place of {}", grouped(after), grouped(before));
}

}  // namespace

std::optional<RequestView> freed_view(const trace::Trace& trace, const RequestView& request,
                                      const analysis::Improvements& improvements, size_t remedy) {
    const analysis::Remedies* const of = remedies_for(request, improvements);
    if (of == nullptr || space_of(request.kind) != Space::Shared || is_atomic(request.kind) ||
        remedy >= of->rows.size())
        return std::nullopt;
    const analysis::Remedied& row = of->rows[remedy];
    RequestView view = request;
    for_lanes(view.mask,
              [&](uint32_t lane) { view.lanes[lane].offset = row.remedy.moved(request.lanes[lane].offset); });
    lay_out_banks(trace, view);
    view.good = view.cost.shared.conflicts() == 0;
    view.title = fmt::format("{}: {}", capital(remedy_name(row.remedy)), request.title);
    view.verdict = fmt::format(
        "{} in place of {}. All requests to {}: {}", counted(view.cost.shared.wavefronts, "wavefront"),
        request.cost.shared.wavefronts, request.array_name, in_place_of(row.cost, of->cost));
    view.mask_note = capital(remedy_words(row.remedy)) + ".";
    if (of->looked_at < of->requests)
        view.mask_note +=
            fmt::format(" By {} of {}.", grouped(of->looked_at), counted(of->requests, "request"));
    return view;
}

std::vector<std::string> freed_words(const RequestView& request, const analysis::Improvements& improvements) {
    std::vector<std::string> words;
    if (request.good && request.least) return words;
    const bool shared = space_of(request.kind) == Space::Shared;
    const char* const unit = shared ? "wavefronts" : "sectors";
    if (const analysis::Remedies* const of = remedies_for(request, improvements))
        for (const analysis::Remedied& row : of->rows)
            words.push_back(fmt::format("{}, {}: {} {} for all requests to {}", remedy_name(row.remedy),
                                        remedy_words(row.remedy), in_place_of(row.cost, of->cost), unit,
                                        request.array_name));
    for (const analysis::Swap& swap : improvements.swaps)
        for (const analysis::SwappedSite& site : swap.sites)
            if (site.site == request.site && site.swapped < site.cost)
                words.push_back(fmt::format("{}: {} {} for this line's requests",
                                            swap.kind == analysis::SwapKind::Loop
                                                ? "neighbouring lanes along the loop"
                                                : "threads x and y swapped",
                                            in_place_of(site.swapped, site.cost), unit));
    return words;
}

}  // namespace tilescope::look
