// PTX text: whatever it is, it is refused in a sentence or parsed; what was parsed prints back to the same,
// can be instrumented, and is run and recorded for a few instructions; a recording of it can be read, and run
// again. It can be written as C, and what is compiled of a part of the inputs leaves what the interpreter leaves.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/base/user_cache.h"
#include "core/ptx/cfg.h"
#include "core/ptx/instrument.h"
#include "core/ptx/parse.h"
#include "core/recording/phases.h"
#include "core/trace/file.h"
#include "core/trace/format.h"
#include "kernels/compiled/engine.h"
#include "kernels/run/record.h"
#include "tests/fuzz/fuzz.h"

namespace tilescope::fuzz {
namespace {

constexpr size_t kMostKernels = 3;             // of a module
constexpr uint64_t kMostInstructions = 2'000;  // of a warp
constexpr uint64_t kMostVariables = 64
                                    << 10;  // bytes of the variables that a kernel may name, where it is run
constexpr uint64_t kMostRegisters = 4'096;
constexpr uint32_t kArrayBytes = 4096;

// FNV-1a: what a launch is like follows from the text.
uint64_t hash_of(std::string_view text) {
    uint64_t hash = 0xCBF2'9CE4'8422'2325;
    for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100'0000'01B3;
    return hash;
}

// Pointers go to three arrays in turn, and numbers are small.
kernels::Plan plan_of(const std::string& text, const ptx::Kernel& kernel, uint64_t hash) {
    kernels::Plan plan;
    plan.kernel = plan.launch.entry = kernel.name;
    plan.ptx_name = "fuzz.ptx";
    plan.ptx = text;
    plan.launch.grid = {1 + static_cast<uint32_t>(hash & 1), 1 + static_cast<uint32_t>(hash >> 1 & 1), 1};
    constexpr Dim3 kBlocks[] = {{1, 1, 1}, {2, 2, 1}, {33, 1, 1}, {4, 4, 4}};
    plan.launch.block = kBlocks[hash >> 2 & 3];
    plan.launch.dynamic_shared = hash >> 4 & 1 ? 256 : 0;
    plan.schedule = {static_cast<Schedule::Kind>((hash >> 5) % 3), hash};
    for (const char* name : {"a", "b", "c"}) {
        Array& array = plan.launch.arrays.emplace_back();
        array.name = name;
        array.role = ArrayRole::InOut;
        array.rank = 1;
        array.cols = kArrayBytes / 4;
        array.contents = {Contents::Kind::SmallIntegers, hash, static_cast<uint32_t>(name[0]), {}};
    }
    kernels::place_arrays(plan.launch);
    for (const int32_t parameter : kernel.parameters) {
        const bool pointer = size_of(kernel.symbols[static_cast<size_t>(parameter)].type) == 8;
        const auto number = static_cast<int32_t>(plan.launch.arguments.size());
        Argument argument{"", ElementType::U64, 4, -1, 0};
        if (pointer) argument.array = number % 3;
        plan.launch.arguments.push_back(argument);
    }
    return plan;
}

// The kernel's variables and registers, and those of its module, are few.
bool is_small(const ptx::Module& module, const ptx::Kernel& kernel) {
    uint64_t bytes = 0;
    for (const auto* symbols : {&module.variables, &kernel.symbols})
        for (const ptx::Symbol& symbol : *symbols) bytes += std::min(symbol.bytes(), kMostVariables + 1);
    return bytes <= kMostVariables && kernel.registers.size() <= kMostRegisters;
}

void instrument(const ptx::Module& module, const ptx::Kernel& kernel, const kernels::Plan& plan,
                uint64_t hash) {
    ptx::InstrumentOptions options;
    options.launch = {plan.launch.grid, plan.launch.block, plan.launch.parameters()};
    options.same_high = hash >> 8 & 1;
    options.windowed = hash >> 9 & 1;
    options.exact = hash >> 10 & 1;
    const auto instrumented = ptx::instrument(module, kernel.name, options);
    if (!made(instrumented)) return;
    demand(ptx::parse(ptx::print(instrumented->module), "instrumented.ptx"),
           "instrumented PTX cannot be parsed");
}

void record(const kernels::Plan& plan) {
    kernels::RecordOptions options;
    options.threads = 1;
    options.max_instructions_per_warp = kMostInstructions;
    options.timestamp = false;
    const auto recorded = kernels::record_cpu(plan, options);
    if (!made(recorded)) return;
    const auto read = trace::deserialize(trace::serialize(*recorded), "recorded.tsc");
    demand(read, "a recording cannot be read");
    demand(analysis::phase_rule(*read), "a recording has no phases");
    if (!recorded->meta.complete) return;
    demand(read->meta.complete, "a complete recording is read as one that is not");
    auto replayer = kernels::Replayer::of(*read);
    demand(replayer, "a recording cannot be run again");
    struct Ignore final : simt::BlockObserver {
        void on_request(const simt::Request&) override {}
        void on_barrier(uint32_t, uint32_t, uint32_t) override {}
    } ignore;
    demand(replayer->replay(*read, 0, ignore), "a recording does not run again");
}

// What is not recorded, as it has atomic operations, runs all the same.
void run(const ptx::Module& module, const kernels::Plan& plan) {
    const auto program = simt::prepare(module, plan.kernel);
    if (!made(program)) return;
    simt::GlobalMemory memory;
    for (const Array& array : plan.launch.arrays)
        memory.buffers.push_back({array.name, array.base, simt::Bytes(array.bytes())});
    simt::RunOptions options;
    options.schedule = plan.schedule;
    options.threads = 1;
    options.max_instructions_per_warp = kMostInstructions;
    options.values = true;
    made(simt::run(**program, plan.launch, memory, options, [](const simt::BlockId&) { return nullptr; }));
}

constexpr uint64_t kCompiledOf = 16;  // one of so many inputs is compiled, since each takes clang a while

compiled::Library& library() {
    static const auto cache = WorkFolder::make(std::filesystem::temp_directory_path());
    demand(cache, "no folder for compiled kernels");
    setenv("XDG_CACHE_HOME", cache->path().c_str(), 1);
    static compiled::Library made;
    return made;
}

// Blocks of one warp, one after the other: no order of warps is left open.
void run_by_both(const ptx::Module& module, const kernels::Plan& plan, uint64_t hash) {
    const auto program = simt::prepare(module, plan.kernel);
    if (!program) return;
    Launch launch = plan.launch;
    launch.block = hash >> 40 & 1 ? Dim3{32, 1, 1} : Dim3{4, 3, 1};
    const auto kernel = compiled::make_kernel(**program, launch);
    if (!made(kernel) || (hash >> 48) % kCompiledOf != 0) return;
    std::array<simt::GlobalMemory, 2> memory;
    std::array<std::string, 2> ends;
    std::array<simt::Outcome, 2> outcomes;
    for (size_t k = 0; k < 2; ++k) {
        for (const Array& array : launch.arrays) {
            simt::Bytes bytes(array.bytes());
            uint64_t random = hash;
            for (std::byte& one : bytes)
                one = static_cast<std::byte>((random = random * 6364136223846793005 + 1442695040888963407) >>
                                             56);
            memory[k].buffers.push_back({array.name, array.base, std::move(bytes)});
        }
        compiled::LaunchEngine engine(
            library(), **program, launch,
            k == 0 ? compiled::EngineChoice::Interpreted : compiled::EngineChoice::Compiled);
        simt::RunOptions options;
        options.threads = 1;
        options.max_instructions_per_warp = kMostInstructions;
        options.engine = &engine;
        const auto outcome = simt::run(**program, launch, memory[k], options, {});
        if (!made(outcome)) return;
        const std::string why = engine.why_not();
        demand(why.empty() || why.find("too long") != std::string::npos,
               "what is printed is not compiled: " + why);
        outcomes[k] = *outcome;
        ends[k] = outcome->fault ? outcome->fault->message : std::to_string(outcome->instructions);
    }
    demand(ends[0] == ends[1], "the engines end otherwise: " + ends[0] + " | " + ends[1]);
    demand(outcomes[0].touched == outcomes[1].touched, "the engines touch other arrays");
    demand(outcomes[0].undefined.size() == outcomes[1].undefined.size(), "the engines meet other faults");
    for (size_t b = 0; b < memory[0].buffers.size(); ++b)
        demand(memory[0].buffers[b].bytes == memory[1].buffers[b].bytes, "the engines leave other bytes");
}

// Printed PTX without its .loc lines: one that no instruction follows is printed once, and then no more.
std::string code_of(std::string_view printed) {
    std::string code;
    while (!printed.empty()) {
        const std::string_view line = printed.substr(0, std::min(printed.find('\n'), printed.size() - 1) + 1);
        if (!line.starts_with("\t.loc")) code += line;
        printed.remove_prefix(line.size());
    }
    return code;
}

void hold(const std::string& text) {
    const auto module = ptx::parse(text, "fuzz.ptx");
    if (!made(module)) {
        demand(module.error().message.starts_with("fuzz.ptx:"), "a refusal does not say where");
        return demand(module.error().message.size() < 1000, "a refusal is too long");
    }
    const std::string printed = ptx::print(*module);
    const auto again = ptx::parse(printed, "printed.ptx");
    demand(again, "what was printed cannot be parsed");
    demand(code_of(ptx::print(*again)) == code_of(printed), "what was printed is not printed again");
    const uint64_t hash = hash_of(text);
    for (size_t i = 0; i < std::min(module->kernels.size(), kMostKernels); ++i) {
        const ptx::Kernel& kernel = module->kernels[i];
        ptx::sites_of(kernel);
        ptx::control_flow(kernel);
        const kernels::Plan plan = plan_of(text, kernel, hash);
        instrument(*module, kernel, plan, hash);
        if (!is_small(*module, kernel)) continue;
        record(plan);
        run(*module, plan);
        run_by_both(*module, plan, hash);
    }
}

}  // namespace
}  // namespace tilescope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    tilescope::fuzz::hold({reinterpret_cast<const char*>(data), size});
    return 0;
}
