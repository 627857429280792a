// tilescope time [KERNEL...] ...: how long the uninstrumented kernels take on the GPU.
//
// Without a GPU it shows the times that ship, named as what they are: of another machine's device.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/time_job.h"
#include "app/cli/work.h"
#include "core/base/utc.h"
#include "core/base/version.h"
#include "core/base/words.h"
#include "core/export/text_table.h"
#include "kernels/gpu/timing.h"

namespace tilescope::cli {

namespace {

using kernels::Roofs;
using kernels::Timing;
using kernels::Timings;

// --- the job: kernels, sizes and tile widths, by what was asked for

constexpr uint32_t kFewestRuns = 20;

struct KernelsAndSizes {
    std::vector<std::string> kernels;
    std::vector<uint32_t> sizes;
};

template <class Value>
void add_once(std::vector<Value>& list, const Value& value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

// Kernels, wherever they stand, and sizes, each once.
KernelsAndSizes words_of(const TimeRequest& request) {
    KernelsAndSizes words;
    for (const std::string& kernel : request.kernels) add_once(words.kernels, kernel);
    for (const std::string& word : request.sizes)
        if (const auto size = parse_number<uint32_t>(word))
            add_once(words.sizes, *size);
        else if (!word.empty() && std::isalpha(static_cast<unsigned char>(word[0])))
            add_once(words.kernels, word);
        else
            refuse(kWrongCall, "--n '{}' is not a size; give whole numbers, such as --n 1024 2048", word);
    return words;
}

void check(const TimeRequest& request, const KernelsAndSizes& words) {
    if (request.runs < kFewestRuns) {
        refuse(kWrongCall, "--runs {} are too few for a median and its spread; give at least {}",
               request.runs, kFewestRuns);
    }
    if (request.warm_up < 1)
        refuse(kWrongCall, "--warm-up must be at least 1: the first run is the one verified");
    if (request.all && (!words.sizes.empty() || !request.tiles.empty() || request.m || request.k)) {
        refuse(kWrongCall,
               "--all takes all sizes and tile widths; leave out --m, --k, --n and --tile, or --all");
    }
    check_ptx(request);
    const bool one = words.kernels.size() == 1 && !kernels::is_library(words.kernels[0]) &&
                     request.tiles.size() <= 1 && !request.all;
    if (!request.ptx_file.empty() && !one)
        refuse(kWrongCall, "--ptx is the PTX of one kernel and tile width; name that kernel and one --tile");
}

// As Timings::compiler has it.
std::string compiler_of(const TimeRequest& request) {
    if (!request.ptx_file.empty()) return std::filesystem::path(request.ptx_file).filename().string();
    return request.compiler.empty() ? "clang" : request.compiler;
}

}  // namespace

uint64_t TimeJob::launches() const {
    uint64_t count = 0;
    for (const TimeGroup& group : groups) count += group.plans.size() + (group.cublas ? 1 : 0);
    return count;
}

TimeJob job_of(const TimeRequest& request) {
    KernelsAndSizes words = words_of(request);
    check(request, words);
    auto& [names, sizes] = words;
    std::vector<uint32_t> tiles = request.tiles;
    if (request.all) {
        sizes = {256, 512, 1024, 2048, 4096, 8192};  // what ships
        tiles = {8, 16, 32};
    }
    if (sizes.empty()) sizes = {1024};
    if (tiles.empty()) tiles = {16};
    if (names.empty())
        for (const kernels::KernelInfo& info : kernels::kernels_with_tile_width()) names.push_back(info.name);
    // A kernel without a T is timed once a size, beside those that --tile is for.
    const auto has_none = [](const std::string& kernel) { return kernels::tile_width(kernel) == 0; };
    const auto is_of = [](ElementType input) {
        return [input](const std::string& kernel) { return kernels::input_of(kernel) == input; };
    };
    const bool tile_for_some = request.tiles.empty() || !std::ranges::all_of(names, has_none);
    for (const std::string& name : names)
        if (kernels::is_library(name) && request.no_cublas)
            refuse(kWrongCall, "'{}' and --no-cublas contradict each other; give one of them", name);
    TimeJob job;
    for (const uint32_t n : sizes)
        for (const ElementType input : {ElementType::F32, ElementType::F16}) {
            if (std::ranges::none_of(names, is_of(input))) continue;
            TimeGroup group;
            group.shape = {request.m.value_or(n), request.k.value_or(n), n, tiles[0]};
            group.input = input;
            group.cublas = !request.no_cublas;
            for (const uint32_t tile : tiles) {
                for (const std::string& kernel : names) {
                    if (kernels::is_library(kernel) || !is_of(input)(kernel)) continue;
                    const bool once = tile_for_some && has_none(kernel);
                    if (once && tile != tiles.front()) continue;
                    const kernels::Shape shape{group.shape.m, group.shape.k, n, once ? 0 : tile};
                    group.plans.push_back(need(kernels::plan(kernel, shape), kWrongCall));
                }
            }
            // cuBLAS is held to the sizes that a kernel can have.
            need(kernels::plan("untiled", group.shape), kWrongCall);
            job.groups.push_back(std::move(group));
        }
    return job;
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

std::optional<Timings> shipped_times(const TimeJob& job, const std::string& compiler,
                                     const std::vector<Timings>& shipped) {
    for (const Timings& timings : shipped) {
        if (timings.compiler != compiler) continue;
        Timings chosen = timings;
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
            if (group.cublas)
                take(std::string(kernels::library_of(group.input)), group.shape, 0, group.plans.empty());
        }
        if (whole) return chosen;
    }
    return std::nullopt;
}

namespace {

// --- the table, and what it is filled with

constexpr const char* kNone = "-";

// Whole numbers in groups, smaller ones with their digits: "8 123", "48.6", "0.004211".
std::string number(double value) {
    if (value <= 0) return kNone;
    if (value >= 1000) return grouped(static_cast<uint64_t>(std::llround(value)), kThinSpace);
    return fmt::format("{:.4g}", value);
}

std::string times(double ratio) {
    return ratio < 9.95 ? fmt::format("{:.2f}", ratio) : fmt::format("{:.1f}", ratio);
}

// How many times as fast as `name` of the same shape and tile width (cuBLAS has none: the fastest).
std::string speed_up(const Timings& timings, const char* name, const Timing& row) {
    double best = 0;
    for (const Timing& other : timings.rows) {
        const bool same = other.kernel == name && other.m == row.m && other.k == row.k && other.n == row.n &&
                          (other.tile == row.tile || row.tile == 0);
        if (same && (best == 0 || other.median_ms < best)) best = other.median_ms;
    }
    return best > 0 ? times(best / row.median_ms) : kNone;
}

// Whether only a window of its blocks was recorded.
bool windowed(const Timing& row) {
    const auto plan = kernels::plan(row.kernel, {row.m, row.k, row.n, row.tile});
    return plan && row.recorded_ms > 0 && row.recorded_blocks < plan->launch.grid.count();
}

std::string price(const Timing& row) {
    if (row.recorded_ms <= 0) return kNone;
    return times(row.recorded_ms / row.median_ms) + (windowed(row) ? "*" : "");
}

std::string roofs_text(const Roofs& roofs) {
    if (roofs.copy_gbs <= 0 && roofs.stated_gbs <= 0 && roofs.stated_gflops <= 0) return "";
    report::TextTable table(1, {"roof", "measured", "stated"});
    table.add({"copy, GB/s (read and written)", number(roofs.copy_gbs), number(roofs.stated_gbs)});
    table.add({"fp32, GFLOP/s", number(roofs.fp32_gflops), number(roofs.stated_gflops)});
    return table.text() +
           "  stated: clocks that the driver gives, times bus width or times the cores of an SM\n\n";
}

std::string legend(const Timings& timings) {
    std::string text =
        "  10 %, 90 %: percentiles; asked GB/s: what the threads ask global memory for, caches or not\n"
        "  × untiled, × swapped: times as fast as untiled, untiled_swapped of the same sizes and T\n";
    const auto any = [&](auto is) { return std::any_of(timings.rows.begin(), timings.rows.end(), is); };
    if (any([](const Timing& row) { return row.recorded_ms > 0; }))
        text += "  recording: recording it takes so many times as long\n";
    const auto window = std::find_if(timings.rows.rbegin(), timings.rows.rend(), windowed);
    if (window != timings.rows.rend())
        text += fmt::format("  * where only a window of {} blocks was recorded\n", window->recorded_blocks);
    if (any([](const Timing& row) { return !row.verified; }))
        text += "  wrong (as made to show): a fault is this kernel's point, and its time is unverified\n";
    return text;
}

struct MeasuredTimes {
    Timings timings;
    std::vector<std::string> notes;
};

// Where cuBLAS is missing or fails, the kernels' times stand without it.
void add_cublas(gpu::Device& device, const gpu::Operands& operands, const gpu::TimeOptions& options,
                MeasuredTimes& measured) {
    const auto timing = gpu::time_cublas(device, operands, options);
    if (!timing) return add_once<std::string>(measured.notes, timing.error().message);
    if (*timing) return measured.timings.rows.push_back(**timing);
    add_once<std::string>(
        measured.notes,
        "libcublas is not on this machine, so there is no time of cuBLAS; the CUDA Toolkit brings it");
}

Result<MeasuredTimes> measure(gpu::Device& device, const TimeRequest& request, const TimeJob& job,
                              const std::atomic<bool>& stop, std::atomic<uint64_t>& done) {
    MeasuredTimes measured;
    const gpu::DeviceInfo& info = device.info();
    Timings& timings = measured.timings;
    timings.device = info.name;
    timings.driver = info.driver;
    timings.cuda = fmt::format("{}.{}", info.cuda_major, info.cuda_minor);
    timings.date = now_utc();
    timings.command = command_of(request);
    timings.tool_version = kVersion;
    timings.compiler = compiler_of(request);
    gpu::TimeOptions options;
    options.warm_up = request.warm_up;
    options.runs = request.runs;
    options.price = !request.no_price;
    options.stop = &stop;
    options.note = [&](const std::string& note) { add_once<std::string>(measured.notes, note); };
    timings.roofs = gpu::stated_roofs(info);
    if (!request.no_roofs) {
        const auto roofs = gpu::measure_roofs(device);
        if (!roofs) return roofs.error();
        timings.roofs = *roofs;
    }
    for (const TimeGroup& group : job.groups) {
        const auto operands = gpu::make_operands(device, group.shape, group.input);
        if (!operands) return operands.error();
        for (const kernels::TextbookPlan& plan : group.plans) {
            if (!plan.info->boxes.empty() && (info.major != 9 || info.minor != 0)) {
                add_once<std::string>(measured.notes,
                                      fmt::format("{} is left out: it runs on compute capability 9.0 alone, "
                                                  "and {} has {}.{}",
                                                  plan.kernel, info.name, info.major, info.minor));
                ++done;
                continue;
            }
            const auto timing = gpu::time_kernel(device, *operands, plan, options);
            if (!timing) return timing.error();
            timings.rows.push_back(*timing);
            ++done;
        }
        if (group.cublas) add_cublas(device, *operands, options, measured), ++done;
    }
    return measured;
}

int show(const TimeRequest& request, const MeasuredTimes& measured) {
    if (request.json)
        for (const std::string& note : measured.notes) fail(kDone, note);
    const std::string text =
        request.json ? to_json(measured.timings) : time_table(measured.timings, measured.notes);
    if (request.output.empty()) return print(text);
    write_text(request.output, text);
    return kDone;
}

int show_shipped(const TimeRequest& request, const TimeJob& job, const std::string& why) {
    if (!request.ptx_file.empty()) return fail(kFailure, why);
    if (auto chosen = shipped_times(job, compiler_of(request))) {
        fail(kDone, fmt::format("{}; with an NVIDIA GPU this measures the kernels on this machine, and "
                                "without one it shows the times that ship, measured on {}",
                                why, chosen->device));
        return show(request, {std::move(*chosen), {}});
    }
    refuse(kFailure,
           "{}; with an NVIDIA GPU this measures the kernels, and of those asked for "
           "not all have times that ship ('tilescope time --all' shows which do)",
           why);
}

int run_time(const TimeRequest& request) {
    auto job = job_of(request);
    if (!request.output.empty()) check_output(request.output, {request.ptx_file});
    auto device = gpu::Device::open();
    if (!device) return show_shipped(request, job, device.error().message);
    for (TimeGroup& group : job.groups)
        for (kernels::TextbookPlan& plan : group.plans) {
            const std::vector<std::string> inputs = use_ptx(request, plan);
            if (!request.output.empty()) check_output(request.output, inputs);
        }
    const auto work = [&](const auto& stop, auto& done) {
        return measure(**device, request, job, stop, done);
    };
    return show(request, with_progress(job.launches(), "times", "no times are shown", work));
}

}  // namespace

std::string time_table(const Timings& timings, const std::vector<std::string>& notes) {
    std::string text = fmt::format(
        "{}, driver {}, CUDA {}; measured {} with tilescope {}\n"
        "uninstrumented kernels, PTX by {}; results verified before they are timed\n\n{}",
        timings.device, timings.driver.empty() ? "unknown" : timings.driver, timings.cuda, timings.date,
        timings.tool_version, timings.compiler, roofs_text(timings.roofs));
    report::TextTable table(1, {"kernel", "m x k x n", "T", "runs", "median ms", "10 %", "90 %", "GFLOP/s",
                                "asked GB/s", "× untiled", "× swapped", "recording", "result"});
    for (const Timing& row : timings.rows) {
        table.add({row.kernel, fmt::format("{} × {} × {}", row.m, row.k, row.n),
                   row.tile ? std::to_string(row.tile) : kNone, std::to_string(row.runs),
                   number(row.median_ms), number(row.low_ms), number(row.high_ms), number(row.gflops),
                   number(row.requested_gbs), speed_up(timings, "untiled", row),
                   speed_up(timings, "untiled_swapped", row), price(row),
                   row.verified ? "verified" : "wrong (as made to show)"});
    }
    text += table.text() + legend(timings);
    for (const std::string& note : notes) text += fmt::format("  {}\n", note);
    return text;
}

OptionTable TimeRequest::table() {
    return {
        {"KERNEL", &kernels, "Kernels that 'tilescope kernels' lists, cublas or cublas_half (all with a T)",
         "cublas|cublas_half|KERNEL", kSeveral},
        {"--n", &sizes, "Columns of N and P, and m and k too unless given (1024)", "N|KERNEL", kSeveral},
        {"--m", &m, "Rows of M and P (n)"},
        {"--k", &k, "Columns of M, rows of N (n)"},
        {"--tile", &tiles, "Tile widths T: 2, 4, 8, 16, 32 (16)", "", kSeveral},
        {"--all", &all, "All kernels, n 256 to 8192, T 8, 16 and 32: minutes"},
        {"--runs", &runs, "Timed runs of each, at least 20 (20)"},
        {"--warm-up", &warm_up, "Runs before them, the verified one included (3)"},
        {"--ptx", &ptx_file, "PTX of the same kernel by another compiler", "FILE.ptx"},
        {"--compiler", &compiler, "clang, whose PTX ships, or nvrtc (clang)", "clang|nvrtc"},
        {"--no-cublas", &no_cublas, "Leave out cuBLAS"},
        {"--no-price", &no_price, "Do not run the recorded kernel too"},
        {"--no-roofs", &no_roofs, "Do not measure copy bandwidth and fp32 peak"},
        {"--json", &json, "Print JSON (schema tilescope.timings/1)"},
        {"-o,--output", &output, "Write to this file instead", "PATH"},
    };
}

CliCommand time_command() {
    return command("time", "Time the uninstrumented kernels on the GPU, verified first", run_time);
}

}  // namespace tilescope::cli
