#include "app/cli/time_options.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/values.h"

namespace tilescope::cli {

namespace {

constexpr const char* kCublas = "cublas";
constexpr uint32_t kFewestRuns = 20;
// What --all measures, and what ships.
constexpr uint32_t kAllSizes[] = {256, 512, 1024, 2048, 4096, 8192};
constexpr uint32_t kAllTiles[] = {8, 16, 32};

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
        if (const auto size = parse_whole(word)) {
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
    if (!request.compiler.empty() && request.compiler != "clang" && request.compiler != "nvrtc") {
        return Error{fmt::format("--compiler '{}' is not known; choose clang, whose PTX ships, or nvrtc",
                                 request.compiler)};
    }
    if (!request.ptx_file.empty() && request.compiler == "nvrtc")
        return Error{"--ptx and --compiler nvrtc contradict each other; give one of them"};
    const bool one =
        words.kernels.size() == 1 && words.kernels[0] != kCublas && request.tiles.size() <= 1 && !request.all;
    if (!request.ptx_file.empty() && !one)
        return Error{"--ptx is the PTX of one kernel and tile width; name that kernel and one --tile"};
    return {};
}

Words with_defaults(const TimeRequest& request, Words words, std::vector<uint32_t>& tiles) {
    tiles = request.tiles;
    if (request.all) {
        words.sizes.assign(std::begin(kAllSizes), std::end(kAllSizes));
        tiles.assign(std::begin(kAllTiles), std::end(kAllTiles));
    }
    if (words.sizes.empty()) words.sizes = {1024};
    if (tiles.empty()) tiles = {16};
    if (words.kernels.empty())
        for (const kernels::KernelInfo& info : kernels::catalogue()) words.kernels.push_back(info.name);
    return words;
}

}  // namespace

uint64_t TimeJob::launches() const {
    uint64_t count = 0;
    for (const TimeGroup& group : groups) count += group.plans.size() + (group.cublas ? 1 : 0);
    return count;
}

Result<TimeJob> job_of(const TimeRequest& request) {
    const auto given = words_of(request);
    if (!given) return given.error();
    if (auto good = check(request, *given); !good) return good.error();
    std::vector<uint32_t> tiles;
    const Words words = with_defaults(request, *given, tiles);
    const bool named = std::find(words.kernels.begin(), words.kernels.end(), kCublas) != words.kernels.end();
    if (named && request.no_cublas)
        return Error{"'cublas' and --no-cublas contradict each other; give one of them"};
    TimeJob job;
    for (const uint32_t n : words.sizes) {
        TimeGroup group;
        group.shape = {request.m.value_or(n), request.k.value_or(n), n, tiles[0]};
        group.cublas = !request.no_cublas;
        for (const uint32_t tile : tiles) {
            for (const std::string& kernel : words.kernels) {
                if (kernel == kCublas) continue;
                kernels::Shape shape = group.shape;
                shape.tile = tile;
                auto plan = kernels::plan(kernel, shape);
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

}  // namespace tilescope::cli
