// tilescope record FILE.cu [-- ARG...]: compiles a CUDA program with clang alone, runs it on the GPU or,
// where there is none, on the CPU, and records the launches that were asked for.
//
// The program has this command's working directory, standard input and output. Standard output then gets the
// launches and what was recorded; with --json a document, and the program's output goes to standard error.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/record.h"
#include "app/cli/work.h"
#include "core/base/file.h"
#include "core/base/json_fields.h"
#include "core/base/process.h"
#include "core/base/text.h"
#include "core/base/version.h"
#include "core/base/words.h"
#include "kernels/compiled/engine.h"
#include "kernels/launched/orders.h"
#include "kernels/program/compile.h"
#include "kernels/program/run.h"
#include "kernels/program/source.h"

namespace tilescope::cli {

namespace {

namespace fs = std::filesystem;
using launched::LaunchLine;
using Json = nlohmann::ordered_json;

void check(const ProgramRequest& request) {
    if (!gpu::backend_of(request.backend))
        refuse(kWrongCall, "--backend '{}' is not known; choose cpu, gpu or auto", request.backend);
    if (!compiled::engine_of(request.engine))
        refuse(kWrongCall, "--engine '{}' is not known; choose interpreted, compiled or auto",
               request.engine);
    if (request.backend == "gpu")
        if (const auto found = gpu::devices(); !found) refuse(kFailure, "{}", found.error().message);
    is_nvcc(request.compiler);
    for (const uint64_t number : request.launches)
        if (number == 0) refuse(kWrongCall, "--launch 0 is no launch; they are numbered from 1");
}

// Where recordings go until the program has ended: beside their place, so that a rename moves them there.
class Recordings {
public:
    Recordings(const std::string& output, const std::string& source) : output_(output), source_(source) {
        if (output_.empty()) output_ = fs::path(source).stem().string();
        if (output_.empty() || output_ == "." || output_ == "..") output_ = "recordings";
        single_ = fs::path(output_).extension() == ".tsc";
        std::error_code error;
        if (single_) check_output(output_, {source});
        // A program's file without an ending may have the same name.
        if (!single_ && fs::exists(output_, error) && !fs::is_directory(output_, error)) {
            if (!output.empty())
                refuse(kFailure, "'{}' is a file, and recordings go to a folder; name another one with -o",
                       output_);
            output_ += "-recordings";
        }
        const fs::path parent = fs::absolute(output_, error).parent_path();
        if (!single_) fs::create_directories(parent, error);
        folder_ = (parent / ".tilescope-XXXXXX").string();
        if (mkdtemp(folder_.data()) == nullptr)
            refuse(kFailure, "no file can be made in '{}'; name another folder with -o", parent.string());
    }
    ~Recordings() {
        std::error_code error;
        fs::remove_all(folder_, error);
    }
    Recordings(const Recordings&) = delete;
    Recordings& operator=(const Recordings&) = delete;

    const std::string& folder() const { return folder_; }
    const std::string& output() const { return output_; }
    bool unplaced() const { return unplaced_; }  // a recording found no place

    // Brings what was recorded to its place, by which the lines then call it; returns how many are there. One
    // that finds no place says so in its line.
    uint64_t keep(std::vector<LaunchLine>& launches) {
        uint64_t kept = 0;
        const auto recorded = std::count_if(launches.begin(), launches.end(),
                                            [](const LaunchLine& line) { return !line.recorded.empty(); });
        std::error_code error;
        if (recorded > 1 && single_) {
            // One file was asked for: the first one takes it, the others stand beside it.
            others_ = fs::path(output_).replace_extension().string();
        }
        bool first = true;
        for (LaunchLine& line : launches) {
            if (line.recorded.empty()) continue;
            const fs::path name = fs::path(line.recorded).filename();
            fs::path to;
            if (single_) {
                to = first ? fs::path(output_) : fs::path(others_ + "." + name.string());
            } else {
                fs::create_directories(output_, error);
                to = fs::path(output_) / name;
            }
            first = false;
            const std::string why = move_whole((fs::path(folder_) / name).string(), to.string(), {source_});
            if (why.empty()) {
                line.recorded = to.string();
                ++kept;
                continue;
            }
            line.recorded.clear();
            line.unrecorded =
                fmt::format("'{}' cannot be written: {}; name another place with -o", to.string(), why);
            unplaced_ = true;
        }
        return kept;
    }

private:
    std::string output_, source_, folder_, others_;
    bool single_ = false, unplaced_ = false;
};

std::string size_of(const Dim3& size) { return fmt::format("{},{},{}", size.x, size.y, size.z); }

bool repeats(const LaunchLine& a, const LaunchLine& b) {
    return a.kernel == b.kernel && a.grid == b.grid && a.block == b.block && a.shared == b.shared &&
           a.engine == b.engine && b.error.empty() && a.error.empty() && b.recorded.empty() &&
           b.unrecorded.empty() && b.remark.empty() && b.faults.empty();
}

// Where the launches ran: all at one place.
std::string backend_of(const std::vector<LaunchLine>& launches) {
    return launches.empty() ? "cpu" : launches.front().backend;
}

// Findings beside the one that is its error; barriers that keep nothing apart are the report's.
size_t others_of(const LaunchLine& line) {
    const auto said = std::ranges::count_if(
        line.faults, [](const auto& fault) { return fault.kind != "redundant_barrier"; });
    return static_cast<size_t>(std::max<std::ptrdiff_t>(said - 1, 0));
}

// The commands that show what the recordings prove; "" where they prove nothing.
std::string where_shown(const std::vector<LaunchLine>& launches) {
    const auto shows = [](const LaunchLine& line) {
        return !line.recorded.empty() &&
               std::ranges::any_of(line.faults, [](const auto& fault) { return fault.severity == "fault"; });
    };
    const auto first = std::ranges::find_if(launches, shows);
    if (first == launches.end()) return "";
    const auto faulty = std::ranges::count_if(launches, shows);
    const std::string file = kernels::shell_word(first->recorded);
    return fmt::format("faults are in {}: 'tilescope report {}' lists them, 'tilescope open {}' shows them\n",
                       faulty == 1 ? "one recording" : fmt::format("{} recordings", faulty), file, file);
}

// A row a launch; those that follow one of the same shape and say nothing else are counted in its row.
std::string table_of(const std::vector<LaunchLine>& launches) {
    struct LaunchRow {
        const LaunchLine* first;
        uint64_t count = 1;
        double ms = 0;
        bool same =
            true;  // all of them are the first one again, not launches of its shape with other arguments
    };
    std::vector<LaunchRow> rows;
    for (const LaunchLine& line : launches) {
        if (!rows.empty() && rows.back().first->number + rows.back().count == line.number &&
            repeats(*rows.back().first, line)) {
            ++rows.back().count;
            rows.back().ms += line.ms;
            rows.back().same = rows.back().same && line.same_as != 0;
        } else {
            rows.push_back({&line, 1, line.ms});
        }
    }
    size_t width = 6;
    for (const LaunchRow& row : rows) width = std::max(width, std::min(row.first->kernel.size(), size_t{40}));
    std::string text = fmt::format("\n{:>9}  {:<{}}  {:>14}  {:>11}  {:>10}  \n", "launch", "kernel", width,
                                   "grid", "block", backend_of(launches) == "gpu" ? "GPU ms" : "CPU ms");
    for (const LaunchRow& row : rows) {
        const LaunchLine& line = *row.first;
        const std::string number = row.count == 1
                                       ? fmt::format("{}", line.number)
                                       : fmt::format("{}-{}", line.number, line.number + row.count - 1);
        std::string what;
        if (!line.recorded.empty()) what = line.recorded;
        if (!line.unrecorded.empty()) what = "not recorded: " + line.unrecorded;
        for (const std::string& words : {line.error, line.remark})
            if (!words.empty()) what += (what.empty() ? "" : "; ") + words;
        if (line.engine == "compiled") what += what.empty() ? "compiled" : "; compiled";
        if (const size_t others = others_of(line); others > 0 && !line.error.empty())
            what += fmt::format("; and {}", counted(others, "more finding"));
        if (row.count > 1)
            what += fmt::format("{}{}", what.empty() ? "" : "; ",
                                row.same ? fmt::format("{} times the same", row.count)
                                         : fmt::format("{} launches of one shape", row.count));
        text += fmt::format("{:>9}  {:<{}}  {:>14}  {:>11}  {:>10.2f}  {}\n", number,
                            shortened(one_line(line.kernel), 40), width, size_of(line.grid),
                            size_of(line.block), row.ms, one_line(what, kLongestLine));
    }
    return text;
}

Json json_of(const Dim3& size) { return Json::array({size.x, size.y, size.z}); }
Json json_of(const std::vector<launched::LaunchFault>& faults) {
    Json all = Json::array();
    for (const launched::LaunchFault& fault : faults)
        all.push_back(object_of("kind", fault.kind, "severity", fault.severity, "line", fault.line,
                                "other_line", fault.other_line == 0 ? Json() : Json(fault.other_line),
                                "count", fault.count, "sentence", fault.sentence));
    return all;
}
Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Why the command fails when the program has ended; "" where it does not.
std::string failure_of(const program::RunOutcome& result, const ProgramRequest& request,
                       const MadeProgram& made, uint64_t recorded, bool unplaced, bool stopped) {
    if (!result.damage.empty()) return result.damage;
    if (stopped)
        return recorded == 0 ? "stopped; nothing was recorded until then"
                             : fmt::format("stopped; {} {} kept", counted(recorded, "recording"),
                                           recorded == 1 ? "is" : "are");
    const bool right =
        std::ranges::all_of(result.launches, [](const LaunchLine& line) { return line.error.empty(); });
    if (made.guess_fails && (!right || result.status != 0))
        return "the call went wrong with the arguments that Tilescope guessed, and others may be right: give "
               "them with --call or --arg, as the first line has them; where another function has to be "
               "called before, add a main that calls both";
    if (result.status != 0) return "the program " + how_it_ended(result.status);
    if (!right) return "a launch went wrong; its row says how";
    if (std::ranges::any_of(result.notes, [](const auto& note) { return note.severity == "fault"; }))
        return "a call of the runtime went wrong; its sentence says how";
    if (unplaced) return "a recording could not be written; its row says why";
    if (result.launches.empty()) return "the program launched no kernel, so that nothing was recorded";
    if (recorded > 0) return "";
    return request.kernels.empty() && request.launches.empty()
               ? "no launch was recorded"
               : "no launch was recorded; the list of launches names their kernels and numbers";
}

}  // namespace

bool is_nvcc(const std::string& compiler) {
    if (!compiler.empty() && compiler != "clang" && compiler != "nvcc")
        refuse(kWrongCall, "--compiler '{}' compiles no files; choose clang or nvcc", compiler);
    return compiler == "nvcc";
}

program::Built build_program(const std::string& file, const ProgramRequest& request,
                             const std::string& own_main) {
    program::Complaint complaint;
    std::atomic<bool> stop{false};
    const StopOnSignal guard(stop);
    auto built =
        program::build(file, {request.flags, own_main, is_nvcc(request.compiler), &stop}, &complaint);
    // What the compiler says is for the person who wrote the program, as it is.
    std::fputs(printable(complaint.said).c_str(), stderr);
    return need(std::move(built));
}

std::string to_json(const LaunchesDocument& of, const std::vector<LaunchLine>& lines) {
    Json launches = Json::array();
    for (const LaunchLine& line : lines) {
        launches.push_back(object_of(
            "number", line.number, "kernel", line.kernel, "grid", json_of(line.grid), "block",
            json_of(line.block), "shared", line.shared, "ms", line.ms, "engine", text_or_null(line.engine),
            "error", text_or_null(line.error), "recorded", text_or_null(line.recorded), "unrecorded",
            text_or_null(line.unrecorded), "remark", text_or_null(line.remark), "same_as",
            line.same_as == 0 ? Json() : Json(line.same_as), "faults", json_of(line.faults)));
    }
    Json all = object_of("schema", "tilescope.launches/1", "version", kVersion, "program", of.program,
                         "compiler", text_or_null(of.compiler), "backend", of.backend, "exit",
                         of.exit ? Json(*of.exit) : Json(), "failure", text_or_null(of.failure));
    if (!of.command.empty()) all["command"] = of.command;
    all["launches"] = std::move(launches);
    all["calls"] = Json::array();
    for (const launched::CallNote& note : of.calls)
        all["calls"].push_back(object_of("line", note.line == 0 ? Json() : Json(note.line), "severity",
                                         note.severity, "sentence", note.sentence));
    return json_text(all, 2) + "\n";
}

bool is_program(const std::string& name) {
    return name.find('/') != std::string::npos || fs::path(name).extension() == ".cu";
}

int record_program(const std::string& file, const ProgramRequest& request) {
    const auto text = need(read_whole(file, uint64_t{64} << 20));
    if (!program::has_main(text) && request.flags.empty())
        refuse(
            kFailure,
            "'{}' has no main, so that nothing would run; add one, or name the file that has it with --flags",
            file);
    return record_made_program(file, request, [&] {
        return MadeProgram{build_program(file, request), request.arguments, ""};
    });
}

int record_made_program(const std::string& file, const ProgramRequest& request,
                        const std::function<MadeProgram()>& make) {
    check(request);
    const BlockWindow window = window_of(request.blocks);
    Recordings recordings(request.output, file);
    const MadeProgram made = make();
    const program::Built& built = made.built;
    // What was guessed is said in any case: a call that fails is to be said better.
    if (!made.command.empty() && !request.json && print(made.command + "\n") != kDone) return kFailure;

    program::RunRequest run;
    run.path = built.path;
    run.name = fs::path(file).stem().string();
    run.arguments = made.arguments;
    run.output_to_error = request.json;
    std::error_code error;
    run.orders.folder = recordings.folder();
    run.orders.source = fs::absolute(file, error).string();
    run.orders.device = request.device;
    run.orders.backend = request.backend;
    run.orders.engine = request.engine;
    run.orders.kernels = request.kernels;
    run.orders.numbers = request.launches;
    run.orders.every = request.every;
    run.orders.window = window;
    std::atomic<bool> stop{false};
    run.stop = &stop;
    run.stop_signal = &StopOnSignal::signal();
    const StopOnSignal guard(stop);
    program::RunOutcome result = need(program::run_program(run));
    const uint64_t recorded = recordings.keep(result.launches);
    const std::string failure = failure_of(result, request, made, recorded, recordings.unplaced(), stop);
    if (request.json) {
        if (print(to_json({file, built.compiler, backend_of(result.launches), result.status, made.command,
                           failure, result.notes},
                          result.launches)) != kDone)
            return kFailure;
    } else {
        std::string said = result.launches.empty() ? "" : table_of(result.launches);
        if (recorded == 1) {
            const auto line = std::find_if(result.launches.begin(), result.launches.end(),
                                           [](const LaunchLine& one) { return !one.recorded.empty(); });
            said +=
                fmt::format("recorded in {}; 'tilescope open {}' shows it\n", line->recorded, line->recorded);
        } else if (recorded > 1) {
            said += fmt::format("{} recordings in the folder {}\n", recorded, recordings.output());
        }
        said += where_shown(result.launches);
        if (print(said) != kDone) return kFailure;
    }
    return failure.empty() ? kDone : fail(kFailure, failure);
}

}  // namespace tilescope::cli
