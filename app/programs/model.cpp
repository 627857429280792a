#include "app/programs/model.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "core/base/words.h"

namespace tilescope::programs {
namespace {

constexpr const char* kBetween = "   ";
constexpr size_t kTab = 8;

std::string joined(const std::vector<std::string>& parts) {
    std::vector<std::string> said;
    std::ranges::copy_if(parts, std::back_inserter(said),
                         [](const std::string& part) { return !part.empty(); });
    return fmt::format("{}", fmt::join(said, kBetween));
}

// "64", "64 x 32": as many sides as say something.
std::string sides(const Dim3& size) { return size.y == 1 && size.z == 1 ? grouped(size.x) : size_text(size); }

// "0.8 s", "12 s", "3 min 20 s"
std::string duration(double seconds) {
    if (seconds < 10) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<uint64_t>(seconds);
    return whole < 120 ? fmt::format("{} s", whole) : fmt::format("{} min {} s", whole / 60, whole % 60);
}

std::string launches_text(uint64_t launches) {
    return grouped(launches) + (launches == 1 ? " launch" : " launches");
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// One line, without tabs, in parts of `columns` characters.
void add_line(std::vector<std::string>& lines, std::string_view line, size_t columns) {
    if (const size_t over = line.rfind('\r'); over != std::string_view::npos) line.remove_prefix(over + 1);
    std::string part;
    size_t wide = 0;
    const auto put = [&](char c) {
        if (begins_character(c) && wide++ == columns) {
            lines.push_back(std::move(part));
            part.clear();
            wide = 1;
        }
        part += c;
    };
    for (const char c : line) {
        if (c != '\t')
            put(c);
        else
            for (size_t blanks = kTab - wide % kTab; blanks > 0; --blanks) put(' ');
    }
    lines.push_back(std::move(part));
}

}  // namespace

ProgramRow row_of(const launched::LaunchLine& launch) {
    ProgramRow row;
    row.number = grouped(launch.number);
    row.kernel = one_line(launch.kernel);
    row.grid = sides(launch.grid);
    row.block = sides(launch.block);
    row.shared = grouped(launch.shared);
    row.ms = launch.ms < 1e7 ? fmt::format("{:.2f}", launch.ms) : fmt::format("{:.3g}", launch.ms);
    row.fault = !launch.error.empty();
    row.recorded = !launch.recorded.empty();
    row.state = row.fault             ? "error"
                : row.recorded        ? "recorded"
                : launch.same_as != 0 ? "same as " + grouped(launch.same_as)
                                      : "";
    return row;
}

const char* time_head(const session::LaunchList& list) { return list.backend == "gpu" ? "GPU ms" : "CPU ms"; }

std::string title_of(const launched::LaunchLine& launch) {
    const std::string shared = launch.shared == 0 ? "" : fmt::format(", {}", capacity_text(launch.shared));
    return fmt::format("Launch {}: {} <<<{}, {}{}>>>", grouped(launch.number), one_line(launch.kernel),
                       sides(launch.grid), sides(launch.block), shared);
}

std::string about(const launched::LaunchLine& launch) {
    if (!launch.error.empty()) return one_line(launch.error, kLongestLine);
    if (!launch.remark.empty()) return one_line(launch.remark, kLongestLine);
    if (!launch.recorded.empty()) return "It was recorded.";
    if (launch.same_as != 0)
        return fmt::format(
            "It repeats launch {}, with the same arguments and memory, and was not run again: each access is "
            "the same.",
            grouped(launch.same_as));
    if (!launch.unrecorded.empty()) return one_line(launch.unrecorded, kLongestLine);
    return "It was not recorded: the program runs once more to record it.";
}

std::vector<std::string> progress_words(const Progress& progress) {
    const std::string time = progress.seconds ? duration(*progress.seconds) : "";
    if (!progress.begun) return {joined({"Compiling", time})};
    const std::string launches = launches_text(progress.launches) + " so far";
    const std::string recorded = fmt::format("{} recorded", grouped(progress.recordings));
    return {joined({"Running", launches, recorded, time}), joined({"Running", launches, time}),
            joined({"Running", time})};
}

std::vector<std::string> ended_words(const session::ProgramRun& run) {
    const std::string time = run.seconds > 0 ? duration(run.seconds) : "";
    if (!run.list) return {joined({"Not run to its end", time})};
    const session::LaunchList& list = *run.list;
    const auto recorded = static_cast<uint64_t>(
        std::ranges::count_if(list.launches, [](const auto& one) { return !one.recorded.empty(); }));
    const std::string launches =
        fmt::format("{}, {} recorded", launches_text(list.launches.size()), grouped(recorded));
    const std::string exit = fmt::format("exit status {}", list.exit);
    const std::string backend = list.backend == "cpu"   ? "CPU"
                                : list.backend == "gpu" ? "GPU"
                                                        : one_line(list.backend);
    return {joined({launches, exit, time, backend, one_line(list.compiler)}),
            joined({launches, exit, time, backend}), joined({launches, exit, time}), launches};
}

std::vector<std::string> lines_of(std::string_view text, size_t columns) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        if (line.ends_with('\r')) line.remove_suffix(1);
        add_line(lines, line, std::max<size_t>(columns, 1));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

size_t first_choice(const session::Program& program) {
    if (!program.ended.list) return 0;
    const auto& launches = program.ended.list->launches;
    auto at = std::ranges::find(launches, program.wanted, &launched::LaunchLine::number);
    if (at == launches.end())
        at = std::ranges::find_if(launches, [](const auto& one) { return !one.error.empty(); });
    if (at == launches.end()) at = std::ranges::find(launches, program.opened, &launched::LaunchLine::number);
    return at == launches.end() ? 0 : static_cast<size_t>(at - launches.begin());
}

}  // namespace tilescope::programs
