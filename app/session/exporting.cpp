// Exporting from the window (session.h), by a job: text is written by it, films are made by this program's own command on a
// file of its own. Pages and handouts are drawn in the window's turns (app/drawn_exports.h).
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <new>
#include <string_view>

#include <fmt/format.h>

#include "app/platform/process.h"
#include "app/session/exported.h"
#include "app/session/playing.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "core/trace/file.h"

namespace tilescope::session {
namespace {

constexpr ExportChoice kChoices[] = {
    {"trace_csv", "Export every request as CSV", ".csv", false},
    {"trace_json", "Export every request as JSON", ".json", false},
    {"trace_perfetto", "Export the trace for Perfetto, as Chrome trace JSON", ".perfetto.json", false},
    {"table_csv", "Export this block's phase table as CSV", ".csv", true},
    {"table_md", "Export this block's phase table as Markdown", ".md", true},
    {"page_storyboard", "Export this block's storyboard, its phases on a slide, as SVG", "-storyboard.svg",
     false},
    {"page_poster", "Export this block's poster, its phases on a sheet, as SVG", "-poster.svg", false},
    {"film_marked_gif", "Export the marked steps as a GIF", ".gif", false, false, true},
    {"film_marked_mp4", "Export the marked steps as an MP4", ".mp4", false, false, true},
    {"film_gif", "Export this phase as a GIF", ".gif", false},
    {"film_mp4", "Export this phase as an MP4", ".mp4", false},
    {"film_steps_gif", "Export the next 20 steps as a GIF", ".gif", false},
    {"film_steps_mp4", "Export the next 20 steps as an MP4", ".mp4", false},
    {"lesson_html", "Export this lesson's handout as HTML", ".html", false, true},
};

bool is_film(const ExportChoice& choice) { return choice.id.starts_with("film"); }

bool is_of_steps(const ExportChoice& choice) {
    return choice.of_marked || choice.id.starts_with("film_steps");
}

bool is_page(const ExportChoice& choice) { return choice.id.starts_with("page"); }

// After the last underscore: what --format calls it.
std::string format_of(const ExportChoice& choice) {
    return std::string(choice.id.substr(choice.id.rfind('_') + 1));
}

// The steps of a film: the marked ones, those from the cursor on, or the phase that it stands in; the whole block
// where there is none.
look::PhaseSpan span_of(const Session& session, const ExportChoice& choice) {
    constexpr uint32_t kSteps = 20;
    if (const auto marked = choice.of_marked ? marked_here(session) : std::nullopt)
        return {0, marked->first, marked->end};
    if (const uint32_t first = session.cursor.step; is_of_steps(choice))
        return {0, first, std::min(first + kSteps, session.block->steps)};
    for (const look::PhaseSpan& span : session.block->spans)
        if (span.first <= session.cursor.step && session.cursor.step < span.end) return span;
    return {0, 0, session.block->steps};
}

// "\r12 of 34 steps" of the line that a command keeps about its work (cli/work.cpp).
void hear(const platform::ChildOutput& err, Control& control) {
    constexpr size_t kLine = 64;
    const uint64_t bytes = err.size(), from = bytes - std::min<uint64_t>(bytes, kLine);
    const std::string said = err.part(from, kLine);
    const size_t line = said.rfind('\r');
    if (line == std::string::npos) return;
    const std::string_view words = std::string_view(said).substr(line + 1);
    const size_t of = words.find(" of ");
    if (of == std::string_view::npos) return;
    const auto number = [](std::string_view digits) {
        uint64_t value = 0;
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return value;
    };
    control.done = number(words.substr(0, of));
    control.total = number(words.substr(of + 4));
}

// What a command complained of, without the line that it keeps about its work.
std::string complaint(std::string_view written) {
    written.remove_prefix(written.rfind('\r') == std::string_view::npos ? 0 : written.rfind('\r') + 1);
    if (const std::string_view wiped = "\x1b[K"; written.starts_with(wiped))
        written.remove_prefix(wiped.size());
    std::string said = one_line(written.substr(0, written.find('\n')), kLongestLine);
    if (const std::string_view own = "tilescope: "; said.starts_with(own)) said.erase(0, own.size());
    return said;
}

std::string said_of(const std::string& path, const std::string& why) {
    return why.empty() ? "" : fmt::format("'{}' could not be written: {}.", path, why);
}

std::string stopped(const std::string& path) { return fmt::format("Stopped; '{}' was not written.", path); }

// Every request as text, worded as the kernel words it.
std::string export_requests(const analysis::Recording& recording, const std::string& format,
                            const std::string& path, Control& control) {
    const report::Selected all;
    if (const uint64_t bytes = bytes_exported(*recording.trace, all, format, false); bytes > kMostExported)
        return fmt::format(
            "Not exported: it would take about {}; the command line exports a part of the steps.",
            bytes_text(bytes));
    control.total = report::steps_in(*recording.trace, all);
    OutputFile file(path);
    const report::Take take = [&](std::string_view text) { return !control.stop && file.write(text); };
    write_requests(recording, all, format, false, take, {&control.done, {&control.stop}});
    return control.stop ? stopped(path) : said_of(path, file.keep());
}

// The phase table of a block.
std::string export_table(const analysis::Recording& recording, uint32_t block, const std::string& format,
                         const std::string& path) {
    const auto text = phase_table_of(
        recording, block, format == "csv" ? playback::TableFormat::Csv : playback::TableFormat::Markdown);
    return text ? said_of(path, write_whole(path, *text))
                : fmt::format("Not exported: {}.", text.error().message);
}

// Runs the command on the recording's bytes; "" where it went well, else why not, in one sentence. program: what runs it.
std::string run_export(const trace::Trace& trace, std::vector<std::string> arguments, const std::string& path,
                       const std::string& program, Control& control) {
    std::string bytes;
    try {
        bytes = trace::serialize(trace);
    } catch (const std::bad_alloc&) {
        return "Not exported: there is too little memory for it; use the command line's export instead.";
    }
    const platform::ChildWatch watch{
        program, {"TILESCOPE_PROGRESS=1"}, [&](const auto& err) { hear(err, control); }};
    auto ran = platform::run_self(std::move(arguments), bytes, control.stop, watch);
    if (!ran) return ran.error().message;
    if (!ran->good) {
        if (control.stop) return stopped(path);
        const std::string said = complaint(ran->err);
        return fmt::format("Not exported: {}.", said.empty() ? "the export ended early" : said);
    }
    return "";
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
    if (is_film(choice) && !session.can.films) return false;
    if (choice.of_lesson) return !session.lesson.empty();
    return session.recording != nullptr && session.block != nullptr &&
           (!choice.of_marked || marked_here(session).has_value());
}

std::string export_name(const Session& session, const ExportChoice& choice) {
    if (choice.of_lesson)
        return std::filesystem::path(session.lesson).stem().string() + "-handout" + choice.ending;
    const trace::Trace& trace = *session.recording->trace;
    std::string name = analysis::stem_of(*session.recording);
    const trace::Block& block = trace.blocks[session.cursor.block];
    if (choice.printed) {
        name += fmt::format("-table-{}-{}", block.x, block.y);
    } else if (is_page(choice)) {
        name += fmt::format("-{}-{}", block.x, block.y);
    } else if (is_film(choice)) {
        const auto [phase, first, end] = span_of(session, choice);
        if (is_of_steps(choice)) return name + fmt::format("-steps{}-{}", first + 1, end) + choice.ending;
        name += phase == analysis::kAfter ? "-after" : fmt::format("-phase{}", phase);
    }
    return name + choice.ending;
}

std::vector<std::string> export_arguments(const Session& session, const ExportChoice& choice,
                                          const std::string& recording, const std::string& path) {
    const trace::Block& block = session.recording->trace->blocks[session.cursor.block];
    std::vector<std::string> words = {"export", recording, "--format", format_of(choice), "-o", path};
    const std::string theme = session.theme == draw::Theme::Dark ? "dark" : "light";
    const look::PhaseSpan span = span_of(session, choice);
    words.insert(words.end(),
                 {"--steps", fmt::format("{}:{}", block.first + span.first + 1, block.first + span.end),
                  "--theme", theme});
    if (session.lecture) words.push_back("--lecture");
    if (!session.motion) words.insert(words.end(), {"--fps", "8"});  // a picture a step
    return words;
}

std::string default_name(const Session& session) { return analysis::stem_of(*session.recording) + ".tsc"; }

void start_export(Session& session, const ExportChoice& choice, const std::string& path) {
    const auto begin = [&]() -> Job<std::string> {
        const auto trace = session.recording->trace;
        if (is_film(choice))
            return session.jobs->start(
                [trace, path, program = session.own_program,
                 arguments = export_arguments(session, choice, platform::kGivenFile, path)](
                    Control& control) { return run_export(*trace, arguments, path, program, control); });
        return session.jobs->start([trace, path, block = session.cursor.block, printed = choice.printed,
                                    format = format_of(choice)](Control& control) -> std::string {
            try {
                const auto recording = analysis::opened(trace);
                if (!recording) return fmt::format("Not exported: {}.", recording.error().message);
                return printed ? export_table(*recording, block, format, path)
                               : export_requests(*recording, format, path, control);
            } catch (const std::bad_alloc&) {
                return "Not exported: there is too little memory for it.";
            }
        });
    };
    const bool drawn = choice.of_lesson || is_page(choice);
    session.exporting =
        drawn ? Exporting{path, {}, "", false, std::string(choice.id)} : Exporting{path, begin(), ""};
    session.message = session.exporting->said = exporting_words(session);
}

std::string exporting_words(const Session& session) {
    const Exporting& export_ = *session.exporting;
    if (export_.stopping) return fmt::format("Stopping the export to '{}'.", export_.path);
    std::string words = fmt::format("Exporting to '{}'", export_.path);
    if (export_.job.begun() && export_.job.control().total > 0)
        words += fmt::format(": {} of {} steps", grouped(export_.job.control().done),
                             grouped(export_.job.control().total));
    if (export_.stops > 0) words += fmt::format(": {} of {} stops", export_.stops_done, export_.stops);
    return words + "; Shift + Esc stops it.";
}

void stop_export(Session& session) {
    if (!session.exporting) return;
    session.exporting->job.ask_to_stop();
    session.exporting->stopping = true;
    session.message = session.exporting->said = exporting_words(session);
}

}  // namespace tilescope::session
