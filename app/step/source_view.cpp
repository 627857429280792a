#include "app/step/source_view.h"

#include <fmt/format.h>

namespace tilescope::step {
namespace {

// Line `number` (from 1) of a text, without surrounding blanks.
std::string_view line_of(std::string_view text, uint32_t number) {
    for (uint32_t at = 1; at < number; ++at) {
        const size_t end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    text = text.substr(0, text.find('\n'));
    const size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

SourceView source_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    SourceView view;
    // Where nobody kept the source, the PTX is what ran.
    const bool no_source = trace.meta.source.empty();
    view.name = no_source ? trace.meta.ptx_name : trace.meta.source_name;
    std::string_view rest = no_source ? trace.meta.ptx : trace.meta.source;
    const auto line_number = [&](const ptx::Site& site) { return no_source ? site.ptx_line : site.line; };
    while (!rest.empty()) {
        const size_t end = rest.find('\n');
        SourceLine line;
        line.number = static_cast<uint32_t>(view.lines.size() + 1);
        line.text = rest.substr(0, end);
        if (!line.text.empty() && line.text.back() == '\r') line.text.remove_suffix(1);
        view.lines.push_back(line);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    for (const ptx::Site& site : trace.sites) {
        const uint32_t number = line_number(site);
        if (number == 0 || number > view.lines.size()) continue;
        SourceLine& line = view.lines[number - 1];
        if (!line.has_site) {
            const bool load = site.kind == ptx::SiteKind::Load, global = site.space == Space::Global;
            line.kind = site.kind == ptx::SiteKind::Barrier ? StepKind::Barrier
                        : global ? (load ? StepKind::GlobalLoad : StepKind::GlobalStore)
                                 : (load ? StepKind::SharedLoad : StepKind::SharedStore);
        }
        line.has_site = true;
        line.hits += hits_so_far(index, site.id, step);
    }
    if (step >= index.steps) return view;
    const ptx::Site& site = trace.sites[trace.form_of(index.first + step).site];
    const uint32_t number = line_number(site);
    if (number > 0 && number <= view.lines.size()) {
        view.current = static_cast<int32_t>(number) - 1;
        view.lines[number - 1].current = true;
        view.lines[number - 1].kind = look::kind_of(trace, index.first + step);
    }
    if (!no_source)
        view.footnote = fmt::format("{}:{}  {}", trace.meta.ptx_name, site.ptx_line,
                                    line_of(trace.meta.ptx, site.ptx_line));
    return view;
}

}  // namespace tilescope::step
