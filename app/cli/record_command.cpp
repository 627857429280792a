// tilescope record KERNEL ...: runs a kernel that ships and writes its recording. FILE.ptx and FILE.cu in its
// place are a kernel alone, a folder holds launches that were written down (alone_command.cpp).
#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/record.h"
#include "app/cli/work.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "core/trace/file.h"
#include "kernels/gpu/backend.h"
#include "kernels/run/judged.h"

namespace tilescope::cli {

namespace {

struct RecordCall : PtxChoice {
    std::string kernel;
    uint32_t m = 64, k = 64, n = 64;
    std::optional<uint32_t> tile;  // none: 16, or what block says
    std::string block;             // "16x16"
    std::string blocks;            // "x0:x1,y0:y1", "" for all
    std::string backend = "auto";  // cpu, gpu, auto
    std::string schedule;          // "" for the kernel's own
    uint64_t seed = kernels::kDefaultSeed;
    gpu::GpuRecordOptions how;  // `common` is all that the CPU needs
    std::string output;         // "" for a name made of the launch
    ProgramRequest program;     // of a program in the kernel's place
    AloneOptions alone;         // of a kernel in a file

    OptionTable table() {
        return {
            {"KERNEL", &kernel,
             "A kernel that 'tilescope kernels' lists, or a file: a program or a kernel, .cu or .ptx; or a "
             "folder "
             "of launches that capture-launch wrote down",
             "FILE.cu|FILE.ptx|FOLDER|KERNEL", kRequired},
            {"ARG", &program.arguments, "What a program is given, behind --", "PATH"},
            {"--kernel", &program.kernels,
             "Of a file or folder: record this kernel (the first of a kernel alone)", "NAME",
             kSeveral | kSingleWords},
            {"--launch", &program.launches, "Of a program or folder: record this launch, from 1 on", "",
             kSeveral | kSingleWords},
            {"--every", &program.every, "Of a program or folder: record all launches"},
            {"--device", &program.device, "Of a program: the device that it sees (H200)", "DEVICE"},
            {"--engine", &program.engine,
             "Of a program: interpreted, compiled, or auto: long launches that are not recorded are compiled "
             "(auto)",
             "auto|interpreted|compiled"},
            {"--flags", &program.flags, "Of a program: the compiler's flags and further files, in one word",
             "FLAGS"},
            {"--json", &program.json,
             "Of a file: print the launches as JSON; a program's own output goes to standard error"},
            {"--tile", &tile, "Tile width T: 2, 4, 8, 16 or 32 (16)"},
            {"--m", &m, "Rows of M and P (64)"},
            {"--k", &k, "Columns of M, rows of N (64)"},
            {"--n", &n, "Columns of N and P (64)"},
            {"--block", &block, "Threads of a block as X,Y; of a kernel that ships the same as --tile T: TxT",
             "X,Y"},
            {"--blocks", &blocks, "Record only blocks x0:x1,y0:y1 (all)", "X0:X1,Y0:Y1"},
            {"--backend", &backend, "cpu, gpu, or auto: the GPU where there is one (auto)", "auto|cpu|gpu"},
            {"--compiler", &compiler, "clang, whose PTX ships, or nvrtc; of a file: clang or nvcc (clang)",
             "clang|nvrtc|nvcc"},
            {"--schedule", &schedule,
             "Order of warps on the CPU: fair, greedy, or a seed (what shows the kernel's point)",
             "fair|greedy"},
            {"--buffer", &how.buffer_bytes, "Bytes of the GPU's trace buffer (what fits well)", "", kNotZero},
            {"--one-launch", &how.one_launch,
             "One launch on the GPU: what does not fit the buffer is dropped and counted"},
            {"--exact", &how.exact, "Every lane's address in full on the GPU: slow, assumes nothing"},
            {"--seed", &seed, "Seed of the inputs (1)"},
            {"--threads", &how.common.threads, "CPU threads to use (all)"},
            {"--ptx", &ptx_file, "PTX of the same kernel by another compiler", "FILE.ptx"},
            {"-o,--output", &output,
             "The file to write (KERNEL-MxKxN-tT.tsc), or a folder for the kernel of a file", "PATH"},
            {"--grid", &alone.grid, "Of a kernel alone: blocks as X,Y (those that cover the sizes)", "X,Y"},
            {"--cluster", &alone.cluster,
             "Of a kernel alone: blocks of a cluster as X,Y (what the kernel is compiled for)", "X,Y"},
            {"--shared", &alone.shared,
             "Of a kernel alone: dynamic shared memory of a block in bytes (what it touches)", "BYTES"},
            {"--arg", &alone.arguments,
             "Of a kernel alone, or of a function that is called: an argument, as n=512 or "
             "in=float[512,512]:random",
             "NAME=VALUE", kOneValue | kSeveral},
            {"--call", &alone.call,
             "Of a kernel alone: all in one, as 'add(a=float[64], n=64)'; or a call of a host "
             "function that launches",
             "CALL"},
        };
    }
};

// The block of a kernel that ships is T x T where it has a T, so --block is another way to say --tile.
uint32_t tile_of(const RecordCall& options) {
    if (options.block.empty()) return kernels::tile_width(options.kernel, options.tile);
    const auto block = parse_pair(options.block, 'x');
    if (!block)
        refuse(kWrongCall, "--block '{}' is not a block; give it as XxY, such as 16x16", options.block);
    if (block->first != block->second) {
        refuse(kWrongCall,
               "--block {} is not square, and the kernels that ship run in T x T blocks; choose 2x2, "
               "4x4, 8x8, 16x16 or 32x32",
               options.block);
    }
    if (options.tile.value_or(block->first) != block->first) {
        refuse(kWrongCall, "--block {} and --tile {} contradict each other; give one of them", options.block,
               *options.tile);
    }
    return block->first;
}

// An option of one backend decides for auto: --schedule is the CPU's, --buffer and the like the GPU's.
gpu::BackendChoice backend_of(const RecordCall& options) {
    const auto choice = gpu::backend_of(options.backend);
    if (!choice) refuse(kWrongCall, "--backend '{}' is not known; choose cpu, gpu or auto", options.backend);
    const std::string gpus = options.how.buffer_bytes > 0 ? "--buffer"
                             : options.how.one_launch     ? "--one-launch"
                             : options.how.exact          ? "--exact"
                                                          : "";
    if (!options.schedule.empty() && (*choice == gpu::BackendChoice::Gpu || !gpus.empty())) {
        refuse(
            kWrongCall,
            "--schedule is an order of warps for the CPU, and a GPU has its own; leave out --schedule or {}",
            gpus.empty() ? "--backend gpu" : gpus);
    }
    if (*choice == gpu::BackendChoice::Cpu && !gpus.empty())
        refuse(kWrongCall, "{} is for recording on a GPU; leave it out or --backend cpu", gpus);
    return gpus.empty() ? *choice : gpu::BackendChoice::Gpu;
}

// Without separators, for programs that read them.
std::string counted(uint64_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "verified", or what is wrong with the result.
std::string judgement(const trace::Trace& trace) {
    const trace::Verification& result = trace.meta.result;
    if (!result.checked) return "result not checked";
    if (result.verified) return "result verified";
    std::string text = "result WRONG in " + counted(result.wrong, "element");
    if (result.first_wrong >= 0)
        text += ", the first " + element_name(trace.launch.arrays[result.array], result.first_wrong);
    return text;
}

// ", in 3 launches and 4.1 times the kernel's own 0.29 ms"; "" where it was not measured.
std::string price_of(const trace::Price& price) {
    if (!(price.plain_ms > 0) || !(price.recorded_ms > 0)) return "";
    return fmt::format(", in {} and {:.2f} times the kernel's own {:.4g} ms",
                       price.launches == 1 ? "1 launch" : fmt::format("{} launches", price.launches),
                       price.recorded_ms / price.plain_ms, price.plain_ms);
}

// "1,024 requests, 160 exchanges, 96 steps at mbarriers and 64 barriers"
std::string steps_text(const trace::Trace& trace) {
    uint64_t barriers = 0, exchanges = 0, signals = 0;
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const ptx::SiteKind kind = trace.sites[trace.form_of(step).site].kind;
        barriers += kind == ptx::SiteKind::Barrier;
        exchanges += kind == ptx::SiteKind::Exchange;
        signals += kind == ptx::SiteKind::Signal;
    }
    return fmt::format("{}{}{} and {}", counted(trace.steps() - barriers - exchanges - signals, "request"),
                       exchanges > 0 ? ", " + counted(exchanges, "exchange") : "",
                       signals > 0 ? fmt::format(", {} at mbarriers", counted(signals, "step")) : "",
                       counted(barriers, "barrier"));
}

}  // namespace

BlockWindow window_of(const std::string& text) {
    if (text.empty()) return {};
    // Without a comma nothing is left for y, which is then refused.
    const size_t comma = std::min(text.find(','), text.size() - 1);
    const auto x = parse_pair(text.substr(0, comma), ':'), y = parse_pair(text.substr(comma + 1), ':');
    if (!x || !y || x->first >= x->second || y->first >= y->second) {
        refuse(kWrongCall,
               "--blocks '{}' is not a window of blocks; give it as x0:x1,y0:y1 with x0 < x1 and "
               "y0 < y1, such as 0:2,0:2",
               text);
    }
    return {x->first, x->second, y->first, y->second};
}

BlockWindow choose_window(const std::string& text, const Dim3& grid) {
    const BlockWindow asked = window_of(text);
    if (asked.x0 >= grid.x || asked.y0 >= grid.y) {
        refuse(kWrongCall, "--blocks {} lies outside the grid of {} × {} blocks; x goes to {} and y to {}",
               text, grid.x, grid.y, grid.x, grid.y);
    }
    return {asked.x0, std::min(asked.x1, grid.x), asked.y0, std::min(asked.y1, grid.y)};
}

std::optional<Schedule> choose_schedule(const std::string& text) {
    if (text.empty()) return std::nullopt;
    if (text == "fair") return Schedule{Schedule::Kind::Fair, 0};
    if (text == "greedy") return Schedule{Schedule::Kind::Greedy, 0};
    if (const auto seed = parse_number<uint64_t>(text)) return Schedule{Schedule::Kind::Seeded, *seed};
    refuse(kWrongCall,
           "--schedule '{}' is not an order of warps; choose fair, greedy or a whole number as a seed", text);
}

int say_recorded(const trace::Trace& trace, const std::string& output, const std::string& said) {
    if (!trace.meta.complete)
        refuse(kFailure, "{}; what was recorded until then is in '{}'", trace.meta.incomplete_reason, output);
    std::error_code error;
    const auto bytes = std::filesystem::file_size(output, error);
    return print(fmt::format("{}: {} in {}, {}; {}; recorded {}\n", output, steps_text(trace),
                             counted(trace.blocks.size(), "block"), judgement(trace),
                             counted(error ? 0 : bytes, "byte"), said + price_of(trace.meta.price)));
}

std::string faults_of(const std::vector<analysis::SaidFault>& said, const std::string& output) {
    std::string text;
    for (const analysis::SaidFault& one : said)
        if (one.kind != analysis::HazardKind::RedundantBarrier)
            text += fmt::format("{}: {}\n", name_of(one.severity), one_line(one.sentence, kLongestLine));
    const std::string file = kernels::shell_word(output);
    if (!text.empty())
        text += fmt::format("'tilescope report {}' lists what was found, 'tilescope open {}' shows it\n",
                            file, file);
    return text;
}

namespace {

// What only files have, and was given; "" for nothing.
std::string said_of_file(const RecordCall& options) {
    const ProgramRequest& program = options.program;
    return !program.kernels.empty()     ? "--kernel"
           : !program.launches.empty()  ? "--launch"
           : program.every              ? "--every"
           : program.json               ? "--json"
           : !program.device.empty()    ? "--device"
           : !program.engine.empty()    ? "--engine"
           : !program.flags.empty()     ? "--flags"
           : !program.arguments.empty() ? fmt::format("'{}'", program.arguments.front())
           : options.alone.said() ? "what describes a launch (--grid, --cluster, --shared, --arg, --call)"
                                  : "";
}

// What a kernel in a file has, however its launch is described.
AloneOptions alone_of(const RecordCall& options) {
    AloneOptions alone = options.alone;
    alone.json = options.program.json;
    alone.file = options.kernel;
    alone.blocks = options.blocks;
    alone.output = options.output;
    alone.backend = backend_of(options);
    alone.how = options.how;
    alone.how.common.schedule = choose_schedule(options.schedule);
    return alone;
}

int run_alone(const RecordCall& options) {
    const ProgramRequest& said = options.program;
    if (said.kernels.size() > 1)
        refuse(kWrongCall, "one launch has one kernel, and --kernel names {}; name one", said.kernels.size());
    if (!said.launches.empty() || said.every || !said.device.empty() || !said.engine.empty() ||
        !said.arguments.empty())
        refuse(
            kWrongCall,
            "--launch, --every, --device, --engine and a program's arguments are for programs, and '{}' is "
            "recorded as a kernel alone; leave them out",
            options.kernel);
    AloneOptions alone = alone_of(options);
    if (!said.kernels.empty()) alone.kernel = said.kernels.front();
    alone.nvcc = is_nvcc(options.compiler);
    alone.flags = said.flags;
    alone.block = options.block;
    return record_alone(alone);
}

int run_written(const RecordCall& options) {
    const ProgramRequest& said = options.program;
    if (options.alone.said() || !options.block.empty() || !said.device.empty() || !said.engine.empty() ||
        !said.flags.empty() || !said.arguments.empty())
        refuse(
            kWrongCall,
            "'{}' says all of its launches; leave out what describes a launch (--grid, --block, --cluster, "
            "--shared, --arg, --call) and what is for programs (--device, --engine, --flags and arguments)",
            options.kernel);
    return record_written(alone_of(options), {said.kernels, said.launches, said.every});
}

ProgramRequest program_of(const RecordCall& options) {
    ProgramRequest program = options.program;
    program.compiler = options.compiler;
    program.backend = options.backend;
    program.blocks = options.blocks;
    program.output = options.output;
    return program;
}

int run_record(const RecordCall& given) {
    RecordCall options = given;
    if (options.compiler == "shipped") options.compiler = "clang";
    // A folder may be called like a kernel that ships: 'tiled' is the kernel, 'tiled/' the folder.
    if (kernels::find(options.kernel) == nullptr && is_written_launch(options.kernel))
        return run_written(options);
    AloneOptions described = options.alone;
    described.flags = options.program.flags;
    described.block = options.block;
    // A kernel that is named alone is a kernel alone.
    if ((options.program.kernels.empty() || !described.call.empty()) &&
        is_host_call(options.kernel, described))
        return record_host_call(options.kernel, program_of(options), described);
    if (is_kernel_alone(options.kernel, described)) return run_alone(options);
    if (is_program(options.kernel)) return record_program(options.kernel, program_of(options));
    if (const std::string said = said_of_file(options); !said.empty())
        refuse(kWrongCall, "{} is for files, and '{}' is none; leave it out, or name a .ptx or .cu file",
               said, options.kernel);
    // What is wrong with the call is said before any file is read.
    const gpu::BackendChoice backend = backend_of(options);
    check_ptx(options);
    const kernels::Shape shape{options.m, options.k, options.n, tile_of(options)};
    auto plan = need(kernels::plan(options.kernel, shape, options.seed), kWrongCall);
    const BlockWindow window = choose_window(options.blocks, plan.launch.grid);
    gpu::GpuRecordOptions how = options.how;
    how.common.window = window;
    how.common.schedule = choose_schedule(options.schedule);
    std::string output = options.output;
    if (output.empty())
        output = fmt::format("{}-{}x{}x{}{}.tsc", options.kernel, shape.m, shape.k, shape.n,
                             kernels::tile_text(shape.tile, "-t"));
    check_output(output, {options.ptx_file});
    check_output(output, use_ptx(options, plan));

    const uint64_t total = uint64_t{window.x1 - window.x0} * (window.y1 - window.y0);
    std::string said;
    const std::string unwritten = fmt::format("'{}' was not written", output);
    const trace::Trace trace = with_progress(total, "blocks", unwritten, [&](const auto& stop, auto& done) {
        how.common.stop = &stop;
        how.common.blocks_done = &done;
        return gpu::record(plan, how, backend, said);
    });
    need(trace::write_file(trace, output));
    const int done = say_recorded(trace, output, said);
    const auto recording = analysis::opened(std::make_shared<const trace::Trace>(trace));
    if (!recording || done != kDone) return done;
    return print(faults_of(analysis::said_faults(kernels::judged(*recording)), output));
}

}  // namespace

CliCommand record_command() {
    return command("record", "Run a kernel and write which thread touched what, and when", run_record);
}

}  // namespace tilescope::cli
