#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/time.h"

namespace tilescope::cli {

namespace {

constexpr const char* kCublas = "cublas";
constexpr uint32_t kFewestRuns = 20;

struct Words {
    std::vector<std::string> kernels;
    std::vector<uint32_t> sizes;
};

template <class Value>
void add_once(std::vector<Value>& list, const Value& value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

// Kernels, wherever they stand, and sizes, each once.
Result<Words> words_of(const TimeRequest& request) {
    Words words;
    for (const std::string& kernel : request.kernels) add_once(words.kernels, kernel);
    for (const std::string& word : request.sizes) {
        if (const auto size = parse_number<uint32_t>(word)) {
            add_once(words.sizes, *size);
        } else if (!word.empty() && std::isalpha(static_cast<unsigned char>(word[0]))) {
            add_once(words.kernels, word);
        } else {
            return Error{
                fmt::format("--n '{}' is not a size; give whole numbers, such as --n 1024 2048", word)};
        }
    }
    return words;
}

Result<void> check(const TimeRequest& request, const Words& words) {
    if (request.runs < kFewestRuns) {
        return Error{fmt::format("--runs {} are too few for a median and its spread; give at least {}",
                                 request.runs, kFewestRuns)};
    }
    if (request.warm_up < 1) return Error{"--warm-up must be at least 1: the first run is the one verified"};
    if (request.all && (!words.sizes.empty() || !request.tiles.empty() || request.m || request.k))
        return Error{"--all takes all sizes and tile widths; leave out --m, --k, --n and --tile, or --all"};
    if (auto good = check_compiler(request.compiler, request.ptx_file); !good) return good;
    const bool one =
        words.kernels.size() == 1 && words.kernels[0] != kCublas && request.tiles.size() <= 1 && !request.all;
    if (!request.ptx_file.empty() && !one)
        return Error{"--ptx is the PTX of one kernel and tile width; name that kernel and one --tile"};
    return {};
}

}  // namespace

uint64_t TimeJob::launches() const {
    uint64_t count = 0;
    for (const TimeGroup& group : groups) count += group.plans.size() + (group.cublas ? 1 : 0);
    return count;
}

Result<TimeJob> job_of(const TimeRequest& request) {
    auto words = words_of(request);
    if (!words) return words.error();
    if (auto good = check(request, *words); !good) return good.error();
    auto& [names, sizes] = *words;
    std::vector<uint32_t> tiles = request.tiles;
    if (request.all) {
        sizes = {256, 512, 1024, 2048, 4096, 8192};  // what ships
        tiles = {8, 16, 32};
    }
    if (sizes.empty()) sizes = {1024};
    if (tiles.empty()) tiles = {16};
    if (names.empty())
        for (const kernels::KernelInfo& info : kernels::catalogue()) names.push_back(info.name);
    if (std::find(names.begin(), names.end(), kCublas) != names.end() && request.no_cublas)
        return Error{"'cublas' and --no-cublas contradict each other; give one of them"};
    TimeJob job;
    for (const uint32_t n : sizes) {
        TimeGroup group;
        group.shape = {request.m.value_or(n), request.k.value_or(n), n, tiles[0]};
        group.cublas = !request.no_cublas;
        for (const uint32_t tile : tiles) {
            for (const std::string& kernel : names) {
                if (kernel == kCublas) continue;
                auto plan = kernels::plan(kernel, {group.shape.m, group.shape.k, n, tile});
                if (!plan) return plan.error();
                group.plans.push_back(std::move(*plan));
            }
        }
        // The bounds of a shape are the kernels': an index of cuBLAS is no larger.
        if (auto sound = kernels::plan("untiled", group.shape); !sound) return sound.error();
        job.groups.push_back(std::move(group));
    }
    return job;
}

std::string compiler_of(const TimeRequest& request) {
    if (!request.ptx_file.empty()) return std::filesystem::path(request.ptx_file).filename().string();
    return request.compiler.empty() ? "clang" : request.compiler;
}

std::string command_of(const TimeRequest& request) {
    std::string text = "tilescope time";
    for (const std::string& kernel : request.kernels) text += " " + kernel;
    if (request.m) text += fmt::format(" --m {}", *request.m);
    if (request.k) text += fmt::format(" --k {}", *request.k);
    if (!request.sizes.empty()) text += fmt::format(" --n {}", fmt::join(request.sizes, " "));
    if (!request.tiles.empty()) text += fmt::format(" --tile {}", fmt::join(request.tiles, " "));
    if (request.runs != 20) text += fmt::format(" --runs {}", request.runs);
    if (request.warm_up != 3) text += fmt::format(" --warm-up {}", request.warm_up);
    for (const auto& [given, flag] : {std::pair{request.all, "--all"},
                                      {request.no_cublas, "--no-cublas"},
                                      {request.no_price, "--no-price"},
                                      {request.no_roofs, "--no-roofs"}})
        if (given) text += fmt::format(" {}", flag);
    if (!request.ptx_file.empty()) text += fmt::format(" --ptx {}", request.ptx_file);
    if (!request.compiler.empty()) text += fmt::format(" --compiler {}", request.compiler);
    return text + (request.json ? " --json" : "");
}

std::optional<kernels::Timings> shipped_times(const TimeJob& job, const std::string& compiler,
                                              const std::vector<kernels::Timings>& shipped) {
    for (const kernels::Timings& timings : shipped) {
        if (timings.compiler != compiler) continue;
        kernels::Timings chosen = timings;
        chosen.rows.clear();
        bool whole = true;
        const auto take = [&](const std::string& kernel, const kernels::Shape& s, uint32_t tile,
                              bool needed) {
            const auto* row = find_timing(timings, kernel, s.m, s.k, s.n, tile);
            if (row) chosen.rows.push_back(*row);
            whole &= row || !needed;
        };
        for (const TimeGroup& group : job.groups) {
            for (const kernels::TextbookPlan& plan : group.plans)
                take(plan.kernel, plan.shape, plan.shape.tile, true);
            if (group.cublas) take(kCublas, group.shape, 0, group.plans.empty());
        }
        if (whole) return chosen;
    }
    return std::nullopt;
}

}  // namespace tilescope::cli
