// What arguments name: a recording, a block and steps of it, and the PTX that runs.
#include "app/cli/arguments.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/ptx/large.h"
#include "core/ptx/parse.h"
#include "core/ptx/sites.h"
#include "core/trace/claims.h"
#include "core/trace/file.h"
#include "kernels/gpu/driver.h"
#include "kernels/gpu/nvrtc.h"
#include "kernels/run/held.h"

namespace tilescope::cli {

namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> parse_step(std::string_view text, const trace::Trace& trace) {
    const uint64_t steps = trace.steps();
    if (steps == 0) return std::nullopt;
    if (text == "first") return 0;
    if (text == "middle") {
        const trace::Block& block = trace.blocks[trace::block_of(trace, steps / 2)];
        return block.first + block.count / 2;
    }
    if (text == "last") return steps - 1;
    const auto number = parse_number<uint64_t>(text);
    if (!number || *number < 1 || *number > steps) return std::nullopt;
    return *number - 1;
}

}  // namespace

std::optional<NumberPair> parse_pair(std::string_view text, char separator) {
    const size_t at = text.find(separator);
    if (at == std::string_view::npos) return std::nullopt;
    const auto first = parse_number<uint32_t>(text.substr(0, at));
    const auto second = parse_number<uint32_t>(text.substr(at + 1));
    if (!first || !second) return std::nullopt;
    return NumberPair{*first, *second};
}

Result<OpenedRecording> open_recording(const std::string& file_or_name,
                                       const std::vector<kernels::ShippedRecording>& shipped,
                                       uint64_t beside) {
    std::error_code error;
    const bool there = fs::exists(fs::symlink_status(file_or_name, error));
    const auto found = std::find_if(shipped.begin(), shipped.end(),
                                    [&](const auto& recording) { return recording.name == file_or_name; });
    const bool ships = !there && found != shipped.end();
    auto trace = ships ? kernels::open_shipped(*found) : trace::read_file(file_or_name, beside);
    if (trace) {
        kernels::HeldTrace held = kernels::held(std::move(*trace));
        return OpenedRecording{std::move(held.trace), ships ? found->label : file_or_name, held.blocks};
    }
    if (there || ships) return trace.error();
    return Error{
        fmt::format("{}; 'tilescope recordings' lists the names of those that ship", trace.error().message)};
}

analysis::Recording opened(const std::string& file_or_name, uint64_t beside, uint64_t* held) {
    auto read = need(open_recording(file_or_name, kernels::shipped_recordings(), beside));
    if (held) *held = read.held;
    return need(analysis::opened(std::move(read.trace)));
}

bool is_same_recording(const std::string& a, const std::string& b) {
    std::error_code error;
    return a == b || fs::equivalent(a, b, error);
}

std::optional<NumberPair> parse_block(const std::string& option) {
    const auto block = parse_pair(option, ',');
    if (!block && !option.empty())
        refuse(kWrongCall, "--block '{}' is not a block; give it as x,y, such as 0,0", option);
    return block;
}

uint32_t choose_block(std::optional<NumberPair> block, const trace::Trace& trace, const std::string& file) {
    if (trace.blocks.empty()) refuse(kFailure, "'{}' holds no blocks; record it again", file);
    if (!block) return 0;
    const auto [x, y] = *block;
    for (uint32_t i = 0; i < trace.blocks.size(); ++i)
        if (trace.blocks[i].x == x && trace.blocks[i].y == y) return i;
    const trace::Block &first = trace.blocks.front(), &last = trace.blocks.back();
    refuse(kWrongCall, "block {},{} is not in '{}', which holds blocks {},{} to {},{}; choose one of them", x,
           y, file, first.x, first.y, last.x, last.y);
}

playback::Cursor choose_step(const std::string& option, const trace::Trace& trace, const std::string& file) {
    const auto step = parse_step(option, trace);
    if (!step) {
        refuse(kWrongCall,
               "--at '{}' is not a step of '{}'; give a number from 1 to {}, first, middle or last", option,
               file, trace.steps());
    }
    const uint32_t block = trace::block_of(trace, *step);
    return {block, static_cast<uint32_t>(*step - trace.blocks[block].first)};
}

std::pair<uint64_t, uint64_t> choose_steps(const std::string& option, const trace::Trace& trace,
                                           const std::string& file) {
    const size_t at = std::min(option.find(':'), option.size());
    const auto first = parse_step(option.substr(0, at), trace);
    const auto last = parse_step(option.substr(std::min(at + 1, option.size())), trace);
    if (first && last && *first <= *last) return {*first, *last + 1};
    refuse(kWrongCall, "--steps '{}' are not steps of '{}'; give two numbers from 1 to {} as a:b", option,
           file, trace.steps());
}

void check_ptx(const PtxChoice& choice) {
    const std::string& compiler = choice.compiler;
    if (!compiler.empty() && compiler != "clang" && compiler != "nvrtc")
        refuse(kWrongCall, "--compiler '{}' is not known; choose clang, whose PTX ships, or nvrtc", compiler);
    if (compiler == "nvrtc" && !choice.ptx_file.empty())
        refuse(kWrongCall, "--ptx and --compiler nvrtc contradict each other; give one of them");
}

namespace {

// Whether a file is one that compilers read, by its ending. PTX from a stranger may name any file of this machine, and
// what is read goes into a recording that is handed on.
bool is_source(const fs::path& path) {
    constexpr std::string_view kEndings[] = {".c",  ".cc",  ".cpp", ".cu",  ".cuh", ".cxx",  ".h",
                                             ".hh", ".hpp", ".hxx", ".inl", ".jl",  ".mojo", ".py"};
    return std::ranges::find(kEndings, path.extension().string()) != std::end(kEndings);
}

// Whether a file is in a folder or below it, symbolic links followed.
bool is_below(const fs::path& folder, const fs::path& file) {
    std::error_code error;
    const fs::path home = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
    return !error && std::mismatch(home.begin(), home.end(), file.begin(), file.end()).first == home.end();
}

// The text of a source that PTX names, and its path with links followed; none where there is no such source. One that
// is not beside the PTX is said.
std::optional<std::pair<std::string, std::string>> source_at(const fs::path& named,
                                                             const fs::path& ptx_folder) {
    std::error_code error;
    const fs::path at = fs::canonical(named, error);
    if (error || !is_source(at)) return std::nullopt;
    auto text = read_whole(at.string(), trace::most_of(trace::Claim::SourceBytes));
    if (!text) return std::nullopt;
    if (!is_below(ptx_folder, at))
        std::fputs(
            fmt::format(
                "the PTX names '{}' as its source, which is not beside it; recordings will hold its text\n",
                one_line(at.string()))
                .c_str(),
            stderr);
    return std::pair{std::move(*text), named.string()};
}

}  // namespace

// Looks for the source by the name in the PTX: as it is, beside the PTX, or among the files that ship.
// Returns the file that was read, "" for none.
std::string find_source(kernels::Plan& plan, const std::string& ptx_file) {
    const fs::path ptx_path(ptx_file);
    plan.source.clear();
    plan.source_name = plan.ptx_name;
    std::string text = plan.ptx, entry = plan.launch.entry;
    const std::vector<std::string> names = ptx::kernel_names(text);
    if (entry.empty() && !names.empty()) entry = names.front();
    const auto module = ptx::parse_for(text, plan.ptx_name, entry);
    if (!module) return "";  // said when it is recorded
    const ptx::Kernel* kernel = ptx::find_kernel(*module, plan.launch.entry);
    if (!kernel && !module->kernels.empty()) kernel = &module->kernels.front();
    const uint32_t number = kernel ? ptx::source_file_of(*kernel) : 0;
    for (const ptx::SourceFile& file : module->files) {
        if (number == 0 || file.index != number) continue;
        const fs::path name(file.name);
        plan.source_name = name.filename().string();
        plan.source = kernels::shipped_file(file.name);
        for (const fs::path& path : {name, ptx_path.parent_path() / name.filename()}) {
            auto found = source_at(path, ptx_path.parent_path());
            if (!found) continue;
            plan.source = std::move(found->first);
            return found->second;
        }
    }
    return "";
}

std::vector<std::string> use_ptx(const PtxChoice& choice, kernels::TextbookPlan& plan) {
    const std::string& path = choice.ptx_file;
    if (!path.empty()) {
        auto text = read_whole(path, trace::most_of(trace::Claim::PtxBytes));
        if (!text) refuse(kFailure, "{}; give --ptx a PTX file", text.error().message);
        plan.ptx = std::move(*text);
        plan.ptx_name = fs::path(path).filename().string();
        return {path, find_source(plan, path)};
    }
    if (choice.compiler == "nvrtc") {
        const auto devices = gpu::devices();
        if (!devices) {
            plan.ptx = kernels::shipped_nvrtc_ptx(plan.kernel, plan.shape.tile);
            plan.ptx_name = plan.source_name + " by NVRTC";
            return {};
        }
        const int capability = devices->front().major * 10 + devices->front().minor;
        auto compiled = need(gpu::compile(plan.source, plan.source_name, capability,
                                          fmt::format("TILE_WIDTH={}", plan.shape.tile)));
        plan.ptx = std::move(compiled.ptx);
        plan.ptx_name = fmt::format("{} by {}", plan.source_name, compiled.compiler);
    }
    return {};
}

}  // namespace tilescope::cli
