#include "app/view/export_choice.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "app/view/path_box.h"

namespace tilescope::view {
namespace {

constexpr ExportChoice kChoices[] = {
    {"trace_csv", "Export every request as CSV", ".csv", false},
    {"trace_json", "Export every request as JSON", ".json", false},
    {"trace_perfetto", "Export the trace for Perfetto, as Chrome trace JSON", ".perfetto.json", false},
    {"table_csv", "Export this block's phase table as CSV", ".csv", true},
    {"table_md", "Export this block's phase table as Markdown", ".md", true},
    {"film_gif", "Export this phase as a GIF", ".gif", false},
    {"film_mp4", "Export this phase as an MP4", ".mp4", false},
};

bool is_film(const ExportChoice& choice) { return std::string_view(choice.id).starts_with("film"); }

// After the last underscore: what --format calls it.
std::string format_of(const ExportChoice& choice) {
    const std::string_view id = choice.id;
    return std::string(id.substr(id.rfind('_') + 1));
}

// The span of phases that the cursor stands in; the whole block where there is none.
PhaseSpan span_of(const app::State& state) {
    for (const PhaseSpan& span : state.block->spans) {
        if (span.first <= state.cursor.step && state.cursor.step < span.end) return span;
    }
    return {0, 0, state.block->steps};
}

}  // namespace

std::span<const ExportChoice> export_choices() { return kChoices; }

const ExportChoice* find_export(std::string_view id) {
    const auto found = std::find_if(std::begin(kChoices), std::end(kChoices),
                                    [&](const ExportChoice& choice) { return id == choice.id; });
    return found == std::end(kChoices) ? nullptr : found;
}

std::string export_name(const app::State& state, const ExportChoice& choice) {
    const trace::Trace& trace = *state.session->trace;
    std::string name = std::filesystem::path(default_name(trace.meta)).stem().string();
    if (choice.printed) {
        const trace::Block& block = trace.blocks[state.cursor.block];
        name += fmt::format("-table-{}-{}", block.x, block.y);
    } else if (is_film(choice)) {
        const uint32_t phase = span_of(state).phase;
        name += phase == analysis::kAfter ? "-after" : fmt::format("-phase{}", phase);
    }
    return name + choice.ending;
}

std::vector<std::string> export_arguments(const app::State& state, const ExportChoice& choice,
                                          const std::string& recording, const std::string& path) {
    const trace::Block& block = state.session->trace->blocks[state.cursor.block];
    if (choice.printed)
        return {"table",    recording,        "--block", fmt::format("{},{}", block.x, block.y),
                "--format", format_of(choice)};
    std::vector<std::string> words = {"export", recording, "--format", format_of(choice), "-o", path};
    if (!is_film(choice)) return words;
    const PhaseSpan span = span_of(state);
    for (const std::string& word :
         {std::string("--steps"), fmt::format("{}:{}", block.first + span.first + 1, block.first + span.end),
          std::string("--theme"), std::string(state.theme == app::Theme::Dark ? "dark" : "light")})
        words.push_back(word);
    if (state.teach.lecture) words.push_back("--lecture");
    return words;
}

}  // namespace tilescope::view
