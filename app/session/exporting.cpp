// Exporting from the window (session.h): this program's own command, run by a job on a file of its own.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <new>
#include <string_view>

#include <fmt/format.h>

#include "app/platform/process.h"
#include "app/session/session.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/trace/file.h"

namespace tilescope::session {
namespace {

constexpr ExportChoice kChoices[] = {
    {"trace_csv", "Export every request as CSV", ".csv", false},
    {"trace_json", "Export every request as JSON", ".json", false},
    {"trace_perfetto", "Export the trace for Perfetto, as Chrome trace JSON", ".perfetto.json", false},
    {"table_csv", "Export this block's phase table as CSV", ".csv", true},
    {"table_md", "Export this block's phase table as Markdown", ".md", true},
    {"film_gif", "Export this phase as a GIF", ".gif", false},
    {"film_mp4", "Export this phase as an MP4", ".mp4", false},
    {"film_steps_gif", "Export the next 20 steps as a GIF", ".gif", false},
    {"film_steps_mp4", "Export the next 20 steps as an MP4", ".mp4", false},
    {"lesson_html", "Export this lesson's handout as HTML", ".html", false, true},
};

bool is_film(const ExportChoice& choice) { return choice.id.starts_with("film"); }

bool is_of_steps(const ExportChoice& choice) { return choice.id.starts_with("film_steps"); }

// After the last underscore: what --format calls it.
std::string format_of(const ExportChoice& choice) {
    return std::string(choice.id.substr(choice.id.rfind('_') + 1));
}

// The steps of a film: from the cursor on, or the phase that it stands in; the whole block where there is none.
look::PhaseSpan span_of(const Session& session, const ExportChoice& choice) {
    constexpr uint32_t kSteps = 20;
    if (const uint32_t first = session.cursor.step; is_of_steps(choice))
        return {0, first, std::min(first + kSteps, session.block->steps)};
    for (const look::PhaseSpan& span : session.block->spans)
        if (span.first <= session.cursor.step && session.cursor.step < span.end) return span;
    return {0, 0, session.block->steps};
}

// Runs the command on the recording's bytes, on none of a lesson; how it ended, in one sentence.
std::string run_export(const trace::Trace* trace, std::vector<std::string> arguments, const std::string& path,
                       bool printed, const std::atomic<bool>& stop) {
    std::string bytes;
    try {
        if (trace != nullptr) bytes = trace::serialize(*trace);
    } catch (const std::bad_alloc&) {
        return "Not exported: there is too little memory for it; use the command line's export instead.";
    }
    auto ran = platform::run_self(std::move(arguments), bytes, stop);
    if (!ran) return ran.error().message;
    if (!ran->good) {
        std::string said = one_line(ran->err.substr(0, ran->err.find('\n')), kLongestLine);
        if (const std::string_view own = "tilescope: "; said.starts_with(own)) said.erase(0, own.size());
        return fmt::format("Not exported: {}.", said.empty() ? "the export ended early" : said);
    }
    const std::string why = printed ? write_whole(path, ran->out) : "";
    return why.empty() ? fmt::format("Exported as '{}'.", path)
                       : fmt::format("'{}' could not be written: {}.", path, why);
}

}  // namespace

std::vector<std::string> inputs(const Session& session) {
    std::vector<std::string> files = session.recent_files;
    if (session.recording) files.push_back(session.recording->origin);
    if (!session.lesson.empty()) files.push_back(session.lesson);
    return files;
}

std::span<const ExportChoice> export_choices() { return kChoices; }

const ExportChoice* find_export(std::string_view id) {
    const auto found = std::ranges::find(kChoices, id, &ExportChoice::id);
    return found == std::end(kChoices) ? nullptr : found;
}

bool can_export(const Session& session, const ExportChoice& choice) {
    return choice.of_lesson ? !session.lesson.empty()
                            : session.recording != nullptr && session.block != nullptr;
}

std::string export_name(const Session& session, const ExportChoice& choice) {
    if (choice.of_lesson)
        return std::filesystem::path(session.lesson).stem().string() + "-handout" + choice.ending;
    const trace::Trace& trace = *session.recording->trace;
    std::string name = analysis::stem_of(*session.recording);
    if (choice.printed) {
        const trace::Block& block = trace.blocks[session.cursor.block];
        name += fmt::format("-table-{}-{}", block.x, block.y);
    } else if (is_film(choice)) {
        const auto [phase, first, end] = span_of(session, choice);
        if (is_of_steps(choice)) return name + fmt::format("-steps{}-{}", first + 1, end) + choice.ending;
        name += phase == analysis::kAfter ? "-after" : fmt::format("-phase{}", phase);
    }
    return name + choice.ending;
}

std::vector<std::string> export_arguments(const Session& session, const ExportChoice& choice,
                                          const std::string& recording, const std::string& path) {
    if (choice.of_lesson)
        return {"export", "--lesson", session.lesson, "--format", format_of(choice), "-o", path};
    const trace::Block& block = session.recording->trace->blocks[session.cursor.block];
    if (choice.printed)
        return {"table",    recording,        "--block", fmt::format("{},{}", block.x, block.y),
                "--format", format_of(choice)};
    std::vector<std::string> words = {"export", recording, "--format", format_of(choice), "-o", path};
    if (!is_film(choice)) return words;
    const look::PhaseSpan span = span_of(session, choice);
    words.insert(words.end(),
                 {"--steps", fmt::format("{}:{}", block.first + span.first + 1, block.first + span.end),
                  "--theme", session.theme == draw::Theme::Dark ? "dark" : "light"});
    if (session.lecture) words.push_back("--lecture");
    if (!session.motion) words.insert(words.end(), {"--fps", "8"});  // a picture a step
    return words;
}

std::string default_name(const Session& session) { return analysis::stem_of(*session.recording) + ".tsc"; }

void start_export(Session& session, const ExportChoice& choice, const std::string& path) {
    session.exporting = Exporting{
        path, session.jobs->start([trace = choice.of_lesson ? nullptr : session.recording->trace, path,
                                   arguments = export_arguments(session, choice, platform::kGivenFile, path),
                                   printed = choice.printed](Control& control) {
            return run_export(trace.get(), arguments, path, printed, control.stop);
        })};
}

}  // namespace tilescope::session
