#include "app/session/programs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/platform/process.h"
#include "app/session/session.h"
#include "core/base/json_fields.h"
#include "core/base/process.h"
#include "core/base/shell_words.h"
#include "core/base/text.h"
#include "core/base/words.h"

namespace tilescope::session {
namespace {

namespace fs = std::filesystem;
using Json = JsonFields::Json;

constexpr const char* kSchema = "tilescope.launches/1";
constexpr std::string_view kOwn = "tilescope: ";

void sides(JsonFields& fields, const char* key, Dim3& out) {
    const Json& list = fields.list(key);
    uint32_t* const parts[] = {&out.x, &out.y, &out.z};
    if (!list.is_array() || list.size() != std::size(parts)) return fields.fail(key);
    for (size_t at = 0; at < std::size(parts); ++at) {
        if (!list[at].is_number_unsigned() || list[at].get<uint64_t>() > UINT32_MAX) return fields.fail(key);
        *parts[at] = list[at].get<uint32_t>();
    }
}

void text_or_null(JsonFields& fields, const Json& json, const char* key, std::string& out) {
    if (const auto at = json.find(key); at == json.end() || !at->is_null()) fields.text(key, out);
}

launched::LaunchLine launch_of(const Json& json, std::string& problem) {
    JsonFields fields(json, problem);
    launched::LaunchLine line;
    if (!json.is_object()) {
        fields.fail("launches");
        return line;
    }
    fields.number("number", line.number);
    fields.text("kernel", line.kernel);
    sides(fields, "grid", line.grid);
    sides(fields, "block", line.block);
    fields.number("shared", line.shared);
    fields.real("ms", line.ms);
    text_or_null(fields, json, "error", line.error);
    text_or_null(fields, json, "recorded", line.recorded);
    if (json.contains("unrecorded")) text_or_null(fields, json, "unrecorded", line.unrecorded);
    if (json.contains("remark")) text_or_null(fields, json, "remark", line.remark);
    if (const auto same = json.find("same_as"); same != json.end() && !same->is_null())
        fields.number("same_as", line.same_as);
    return line;
}

// What lies below the folder until now: recordings, complete ones, as others have no such ending; and the
// launches, of which the command keeps a line each in a file of that name.
struct SoFar {
    uint64_t recordings = 0, launches = 0, read = 0;  // read: bytes of that file
    bool begun = false;                               // it is there: the program was compiled

    void look_at(const std::string& folder) {
        std::error_code error;
        recordings = 0;
        for (fs::recursive_directory_iterator each(folder, error);
             !error && each != fs::recursive_directory_iterator(); each.increment(error)) {
            if (each->path().extension() == ".tsc") ++recordings;
            if (each->path().filename() == "launches") count_lines(each->path());
        }
    }
    void count_lines(const fs::path& file) {
        begun = true;
        std::ifstream lines(file, std::ios::binary);
        lines.seekg(static_cast<std::streamoff>(read));
        char part[4096];
        while (lines.read(part, sizeof part), lines.gcount() > 0) {
            read += static_cast<uint64_t>(lines.gcount());
            launches += static_cast<uint64_t>(std::count(part, part + lines.gcount(), '\n'));
        }
    }
};

// What went wrong, in one sentence; "" for nothing.
std::string problem_of(const ProgramRun& run, bool cancelled, bool too_much) {
    const std::string said = sentence_in(run.written);
    if (too_much)
        return fmt::format("It was ended: it printed more than {}; run it with less to print.",
                           bytes_text(kMostWritten));
    if (cancelled) return run.list ? "It was stopped; its launches until then are kept." : "It was stopped.";
    if (run.list && run.list->exit != 0) return fmt::format("The program {}.", how_it_ended(run.list->exit));
    if (run.list && run.list->launches.empty()) return "The program launches no kernel.";
    if (run.list) {
        const auto& all = run.list->launches;
        const auto is_wrong = [](const auto& one) { return !one.error.empty(); };
        const auto first = std::ranges::find_if(all, is_wrong);
        if (first == all.end()) return "";
        const auto wrong = static_cast<uint64_t>(std::ranges::count_if(all, is_wrong));
        if (wrong == 1)
            return fmt::format("Launch {} went wrong; below the list stands how.", grouped(first->number));
        return fmt::format("{} of {} launches went wrong, launch {} first; choose one to read how.",
                           grouped(wrong), grouped(all.size()), grouped(first->number));
    }
    return said.empty() ? "It ended without a list of launches; what it wrote says why." : said + ".";
}

ProgramRun run(const std::vector<std::string>& arguments, const std::string& program, const Folder& folder,
               Hearing& hearing, const Control& control) {
    const auto began = std::chrono::steady_clock::now();
    bool too_much = false;
    SoFar so_far;
    // Files that the command makes beside the recordings lie in the folder, too, and go with it.
    const platform::ChildWatch watch{
        program, {"TMPDIR=" + *folder}, [&](const platform::ChildOutput& err) {
            const uint64_t bytes = err.size(), kept = std::min<uint64_t>(bytes, kMostKept);
            too_much = too_much || bytes > kMostWritten;
            if (too_much || control.stop) hearing.cancelled = true;
            so_far.look_at(*folder);
            std::string end;
            const bool more = bytes != hearing.bytes;  // written by this thread alone
            if (more) end = err.part(bytes - kept, kept);
            const std::lock_guard lock(hearing.mutex);
            if (more) hearing.written = std::move(end);
            hearing.bytes = bytes;
            hearing.recordings = so_far.recordings;
            hearing.launches = so_far.launches;
            hearing.begun = so_far.begun;
        }};
    auto ran = platform::run_self(arguments, {}, hearing.cancelled, watch);
    ProgramRun made;
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (!ran) {
        made.problem = ran.error().message;
        return made;
    }
    made.written = ran->err.substr(ran->err.size() - std::min(ran->err.size(), kMostKept));
    if (auto list = launches_from_json(ran->out))
        made.list = std::move(*list);
    else if (ran->good)  // it says that all went well, and its list is none
        made.problem = list.error().message;
    if (made.problem.empty()) made.problem = problem_of(made, hearing.cancelled, too_much);
    return made;
}

// The launch that is wanted, else the first one that was recorded; 0 for none.
uint64_t leads_to(const Program& program) {
    if (!program.ended.list) return 0;
    const auto& launches = program.ended.list->launches;
    if (program.wanted != 0) return program.wanted;
    const auto first = std::ranges::find_if(launches, [](const auto& one) { return !one.recorded.empty(); });
    return first == launches.end() ? 0 : first->number;
}

bool all_well(const ProgramRun& run) {
    return run.problem.empty() && run.list &&
           std::ranges::all_of(run.list->launches, [](const auto& one) { return one.error.empty(); });
}

const launched::LaunchLine* find(const Program& program, uint64_t number) {
    if (!program.ended.list) return nullptr;
    const auto& launches = program.ended.list->launches;
    const auto found = std::ranges::find(launches, number, &launched::LaunchLine::number);
    return found == launches.end() ? nullptr : &*found;
}

// folders: hold what is opened until it has been read.
void open_recorded(Session& session, const launched::LaunchLine& launch, bool beside = false) {
    Program& program = *session.program;
    if (!beside) program.opened = launch.number;
    const std::string what = fmt::format("{}, launch {}", program.name, grouped(launch.number));
    session.walking = false;
    open(session, what, "", beside, [what, path = launch.recorded, folders = program.folders](Control&) {
        return read_recording(path, what);
    });
}

}  // namespace

bool is_program(std::string_view path) { return path.ends_with(".cu"); }

Result<std::vector<std::string>> words_of(std::string_view arguments) {
    ShellWords split = shell_words(arguments, Backslash::Plain);
    if (split.open != 0)
        return Error{fmt::format("The arguments have a {} that is not closed; add another.", split.open)};
    return std::move(split.words);
}

Result<std::vector<std::string>> program_arguments(const ProgramOrder& order, const std::string& folder) {
    std::vector<std::string> words = {"record", order.path, "--json", "-o", folder};
    if (!order.kernel.empty()) words.insert(words.end(), {"--kernel", order.kernel});
    if (!order.device.empty()) words.insert(words.end(), {"--device", order.device});
    if (!order.flags.empty()) words.insert(words.end(), {"--flags", order.flags});
    if (order.launches == "all") {
        words.emplace_back("--every");
    } else {
        std::string numbers = order.launches;
        std::ranges::replace(numbers, ',', ' ');
        auto each = words_of(numbers);
        if (!each) return each.error();
        for (const std::string& number : *each) {
            uint64_t value = 0;
            const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
            if (error != std::errc{} || end != number.data() + number.size() || value == 0)
                return Error{fmt::format(
                    "'{}' is no launch; give their numbers from 1, such as 2, 5, or all.", one_line(number))};
            words.insert(words.end(), {"--launch", number});
        }
    }
    if (!order.blocks.empty()) words.insert(words.end(), {"--blocks", order.blocks});
    auto arguments = words_of(order.arguments);
    if (!arguments) return arguments.error();
    if (!arguments->empty()) words.emplace_back("--");
    words.insert(words.end(), arguments->begin(), arguments->end());
    return words;
}

Result<LaunchList> launches_from_json(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    std::string problem, schema;
    LaunchList list;
    JsonFields fields(json, problem);
    fields.text("schema", schema);
    if (problem.empty() && schema != kSchema) fields.fail("schema");
    if (problem.empty()) {
        fields.text("program", list.program);
        text_or_null(fields, json, "compiler", list.compiler);
        text_or_null(fields, json, "backend", list.backend);
        if (const auto exit = json.find("exit"); exit == json.end() || !exit->is_number_integer() ||
                                                 exit->get<double>() < INT32_MIN ||
                                                 exit->get<double>() > INT32_MAX)
            fields.fail("exit");
        else
            list.exit = exit->get<int>();
        const Json& launches = fields.list("launches");
        for (const Json& launch : launches) {
            if (!problem.empty()) break;
            list.launches.push_back(launch_of(launch, problem));
        }
    }
    if (!problem.empty()) return Error{fmt::format("The list of launches cannot be read: {}.", problem)};
    return list;
}

LaunchList with_recordings_of(LaunchList list, const LaunchList& former) {
    std::map<uint64_t, const launched::LaunchLine*> known;
    for (const launched::LaunchLine& launch : former.launches) known[launch.number] = &launch;
    for (launched::LaunchLine& launch : list.launches) {
        const auto at = known.find(launch.number);
        if (at == known.end() || !launch.recorded.empty()) continue;
        const launched::LaunchLine& was = *at->second;
        const bool same = was.kernel == launch.kernel && was.grid == launch.grid &&
                          was.block == launch.block && was.shared == launch.shared;
        if (same) launch.recorded = was.recorded;
    }
    return list;
}

std::string sentence_in(std::string_view written) {
    std::string last;
    while (!written.empty()) {
        const size_t end = written.find('\n');
        const std::string_view one = written.substr(0, end);
        if (one.starts_with(kOwn)) last = one_line(one.substr(kOwn.size()), kLongestLine);
        written.remove_prefix(end == std::string_view::npos ? written.size() : end + 1);
    }
    return last;
}

Result<Folder> make_folder() {
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    std::string name = (error ? fs::path("/tmp") : temporary) / "tilescope-launches-XXXXXX";
    if (mkdtemp(name.data()) == nullptr)
        return Error{fmt::format("There is no room for recordings in '{}'; free some, or set TMPDIR.",
                                 fs::path(name).parent_path().string())};
    return Folder(new std::string(name), [](const std::string* folder) {
        std::error_code gone;
        fs::remove_all(*folder, gone);
        delete folder;
    });
}

void run_program(Session& session, const ProgramOrder& asked, uint64_t wanted) {
    if (!session.can.programs) {
        session.message = platform::kProgramsElsewhere;
        return;
    }
    ProgramOrder order = asked;
    std::error_code error;
    session.message.clear();
    if (!fs::is_regular_file(order.path, error)) {
        session.message = fmt::format("'{}' is not there to be read; check its path.", order.path);
        std::erase(session.recent_files, order.path);
        return;
    }
    order.path = fs::absolute(order.path, error).string();
    auto folder = make_folder();
    auto arguments = folder ? program_arguments(order, **folder + "/recordings") : folder.error();
    if (!arguments) {
        session.message = arguments.error().message;
        return;
    }
    cancel_program(session);
    remember_file(session, order.path);
    Program next;
    next.order = order;
    next.name = fs::path(order.path).filename().string();
    // Recordings of another run of the same program: same path, same arguments, built and run the same way.
    if (session.program && session.program->order.path == order.path &&
        session.program->order.arguments == order.arguments &&
        session.program->order.device == order.device && session.program->order.flags == order.flags) {
        next.ended = std::move(session.program->ended);
        next.folders = std::move(session.program->folders);
    }
    next.wanted = wanted;
    next.running = true;
    next.hearing = std::make_shared<Hearing>();
    next.began = std::chrono::steady_clock::now();
    next.folders.push_back(*folder);
    session.running = session.jobs->start([arguments = *arguments, program = session.own_program,
                                           folder = *folder, hearing = next.hearing](Control& control) {
        return run(arguments, program, folder, *hearing, control);
    });
    session.program = std::move(next);
    session.walking = false;
    session.screen = kProgramScreen;
}

void cancel_program(Session& session) {
    if (session.program && session.program->running) session.program->hearing->cancelled = true;
}

void open_launch(Session& session, uint64_t number, bool beside) {
    if (!session.program || session.program->running) return;
    const launched::LaunchLine* const launch = find(*session.program, number);
    if (launch == nullptr) return;
    if (!launch->recorded.empty()) return open_recorded(session, *launch, beside);
    // One that repeats another shows the other's recording: each access is the same.
    if (const auto* const same = find(*session.program, launch->same_as);
        same != nullptr && !same->recorded.empty())
        return open_recorded(session, *same, beside);
    if (beside) return;
    ProgramOrder order = session.program->order;
    order.kernel.clear();  // it would leave out launches of other kernels
    order.launches = std::to_string(number);
    run_program(session, order, number);
}

std::vector<const launched::LaunchLine*> recorded_launches(const Session& session) {
    std::vector<const launched::LaunchLine*> recorded;
    if (!session.program || session.program->running || !session.program->ended.list) return recorded;
    for (const launched::LaunchLine& launch : session.program->ended.list->launches)
        if (!launch.recorded.empty()) recorded.push_back(&launch);
    return recorded;
}

std::string launch_name(const Session& session, const launched::LaunchLine& launch) {
    return fmt::format("launch {} of {}: {}", grouped(launch.number), session.program->name,
                       one_line(launch.kernel));
}

bool update_program(Session& session, bool wait) {
    if (!session.program || !session.program->running) return false;
    Program& program = *session.program;
    auto ended = session.running.take(wait);
    if (!ended) return true;
    program.running = false;
    if (ended->list && program.ended.list)
        ended->list = with_recordings_of(std::move(*ended->list), *program.ended.list);
    program.ended = std::move(*ended);
    const uint64_t number = leads_to(program);
    const launched::LaunchLine* const first = find(program, number);
    const bool watched = session.screen == kProgramScreen;
    if (watched && first != nullptr && !first->recorded.empty() &&
        (program.wanted != 0 || all_well(program.ended)))
        open_recorded(session, *first);
    else if (!watched)
        session.message = fmt::format("{} has run: its launches are on the Program screen.", program.name);
    return false;
}

}  // namespace tilescope::session
