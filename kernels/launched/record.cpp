#include "kernels/launched/record.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/analysis/array_shapes.h"
#include "core/base/words.h"
#include "core/trace/claims.h"
#include "core/trace/file.h"
#include "kernels/gpu/record_gpu.h"
#include "kernels/launched/judge.h"
#include "kernels/launched/pace.h"
#include "kernels/launched/silence.h"
#include "kernels/launched/touched.h"
#include "kernels/run/record.h"

namespace tilescope::launched {

namespace {

constexpr size_t kMostNameInFile = 100;  // bytes

bool whole(const BlockWindow& window, const Dim3& grid) {
    return window.x0 == 0 && window.x1 >= grid.x && window.y0 == 0 && window.y1 >= grid.y && window.z0 == 0 &&
           window.z1 >= grid.z;
}

// What the arrays hold now.
void store_contents(KnownMemory& memory, Launch& launch) {
    for (Array& array : launch.arrays) {
        if (array.space != Space::Global || array.contents.kind == Contents::Kind::Stored) continue;
        Allocation* const one = memory.find(array.base);
        if (!one || !memory.bytes(*one)) continue;
        array.contents.kind = Contents::Kind::Stored;
        array.contents.bytes =
            std::make_shared<const std::vector<std::byte>>(one->data(), one->data() + array.bytes());
    }
}

// Some of the blocks of a window, where all take too much memory; false where there are no fewer.
bool shrink(BlockWindow& window, const Dim3& grid) {
    constexpr uint32_t kFactor = 8;
    window.x1 = std::min(window.x1, grid.x), window.y1 = std::min(window.y1, grid.y);
    const uint32_t wide = window.x1 - window.x0, high = window.y1 - window.y0;
    if (high > 1)
        window.y1 = window.y0 + std::max(high / kFactor, 1u);
    else if (wide > 1)
        window.x1 = window.x0 + std::max(wide / kFactor, 1u);
    else
        return false;
    return true;
}

kernels::Plan plan_for(const LaunchingProgram& program, const LoadedKernel& kernel, const Launch& launch) {
    kernels::Plan plan;
    plan.kernel = kernel.name;
    plan.launch = launch;
    plan.ptx = kernel.ptx_text();
    const std::filesystem::path source(program.orders.source);
    plan.source_name = source.filename().string();
    plan.ptx_name = source.empty() ? kernel.module->name : source.stem().string() + ".ptx";
    plan.source = program.source;
    if (!kernel.own_file.empty()) {
        plan.source_name = std::filesystem::path(kernel.own_file).filename().string();
        plan.source = kernel.source;
    }
    return plan;
}

// What all memory holds, while a recording on the GPU runs the kernel again and again.
class Snapshot {
public:
    explicit Snapshot(KnownMemory& memory) : memory_(memory) {
        for (auto& [base, one] : memory.all())
            if (one.place)
                whole_ = memory.bytes(one) != nullptr && whole_;
            else if (one.on_host())
                host_[base].assign(one.data(), one.data() + one.bytes);
    }
    bool whole() const { return whole_; }
    // Puts it back; the copies go to the device with the next launch.
    void restore() {
        for (auto& [base, one] : memory_.all()) {
            if (one.place) one.ahead = true, one.behind = false;
            if (const auto kept = host_.find(base); kept != host_.end())
                std::memcpy(one.data(), kept->second.data(), kept->second.size());
        }
    }

private:
    KnownMemory& memory_;
    bool whole_ = true;
    std::map<uint64_t, std::vector<std::byte>> host_;
};

// Recorded as it runs on the GPU; an Error where the CPU has to.
Result<trace::Trace> record_on_gpu(KnownMemory& memory, gpu::Device& device, const kernels::Plan& plan,
                                   const kernels::RecordOptions& common) {
    gpu::GpuRecordOptions options;
    options.common = common;
    options.timeout_s = 600;
    for (const Array& array : plan.launch.arrays) {
        const Allocation* const one = array.space == Space::Global ? memory.find(array.base) : nullptr;
        gpu::ArrayPlace place;
        if (one && array.symbol.empty()) place = {one->base, one->place ? nullptr : one->data()};
        options.places.push_back(place);
    }
    if (options.places.empty()) options.places.emplace_back();
    Snapshot before(memory);
    if (!before.whole()) return Error{"the GPU's memory cannot be read"};
    if (auto sent = memory.send(); !sent) return sent.error();
    auto trace = [&] {
        const Silence silence(device);
        return gpu::record_gpu(device, plan, options);
    }();
    before.restore();
    if (trace && !inside_arrays(*trace)) return Error{"the kernel uses memory that no argument points to"};
    return trace;
}

// A recording in the making.
struct Recorder {
    const LaunchingProgram& program;
    const LoadedKernel& kernel;
    const simt::RunOptions& run;
    kernels::Plan plan;
    BlockWindow window;         // of the blocks that were chosen, fewer where these take too much memory
    bool all = true;            // it is the whole grid
    uint64_t whole_arrays = 0;  // bytes of all arrays, where only the parts that are touched are recorded
    std::string too_long{};     // how long all blocks would take, where that is why they are not recorded
    simt::GlobalMemory after{};
    std::map<uint64_t, FilledMap> filled_before{}, filled_after{};  // of arrays that are followed, by base
    std::vector<simt::Undefined> undefined{};
    RecordedLaunch done{};
};

kernels::RecordOptions options_of(Recorder& r) {
    kernels::RecordOptions options;
    options.window = r.window;
    options.stop = r.run.stop;
    options.after = &r.after;
    return options;
}

bool add_missing(Launch& launch, const Allocation& missing) {
    const size_t before = launch.arrays.size();
    return add_array(launch, missing, fmt::format("memory{}", before + 1)) && launch.arrays.size() > before;
}

// Where all arrays take more memory than a recording may: the parts of them that a window of blocks touches.
void narrow(Recorder& r) {
    const auto limit = trace::memory_limit();
    const uint64_t all = bytes_of_arrays(r.plan.launch);
    if (!limit || all < *limit / 4 * 3 || !r.kernel.program) return;
    constexpr double kMany = 1e9;  // blocks a second: how long a few take is not known
    BlockWindow window = r.all ? first_blocks(r.plan.launch.grid, kMany) : r.window;
    do {
        const auto touched = touched_by(*r.kernel.program, r.plan.launch, r.program.memory, window);
        if (!touched) continue;
        Launch cut = r.plan.launch;
        cut_arrays(cut, *touched);
        if (bytes_of_arrays(cut) > *limit / 4) continue;
        r.plan.launch = std::move(cut);
        r.window = window;
        r.all = false;
        r.whole_arrays = all;
        return;
    } while (shrink(window, r.plan.launch.grid));
}

// The run adds to maps of its own, which become those of memory where it is the launch.
void follow_filled(Recorder& r, kernels::RecordOptions& options) {
    r.filled_before.clear(), r.filled_after.clear();
    for (const Array& array : r.plan.launch.arrays) {
        if (array.space != Space::Global) continue;
        const Allocation* const one = r.program.memory.find(array.base);
        if (!one || !one->filled) continue;
        FilledMap before = one->filled->copy(), after = one->filled->copy();
        if (!before.made() || !after.made()) continue;
        r.filled_before.emplace(array.base, std::move(before));
        r.filled_after.emplace(array.base, std::move(after));
    }
    options.filled = [&r](uint64_t base) -> uint8_t* {
        const auto map = r.filled_after.find(base);
        return map == r.filled_after.end() ? nullptr : map->second.words();
    };
    options.undefined = &r.undefined;
}

// Records with the interpreter, again from the start until the blocks find room and every array is known.
Result<trace::Trace> interpret(Recorder& r, const DeviceHeap::Taken& heap, bool waits) {
    for (;;) {
        r.program.heap.restore(heap);
        store_contents(r.program.memory, r.plan.launch);
        kernels::RecordOptions options = options_of(r);
        options.allocate = r.run.allocate, options.release = r.run.release;
        options.blocks_done = r.run.blocks_done;
        r.done.fault.reset();
        options.fault = &r.done.fault;
        follow_filled(r, options);
        std::string printed;  // by this attempt
        if (r.all) options.print = [&](std::string_view text) { printed += text; };
        // All blocks, unless they take too long; a window is recorded to its end.
        std::optional<Pace> pace;
        const uint64_t blocks = r.plan.launch.grid.count();
        if (r.all && !waits && blocks > 1 && r.run.blocks_done) {
            pace.emplace(r.run.stop, *r.run.blocks_done, blocks);
            options.stop = &pace->stop();
        }
        const Allocation* missing = nullptr;
        bool too_large = false;
        options.too_large = &too_large;
        std::mutex mutex;
        options.name_outside = [&](uint64_t address) -> std::string {
            const std::lock_guard lock(mutex);
            if (const Allocation* other = r.program.memory.find(address)) missing = other;
            return r.run.name_outside(address);
        };
        auto made = kernels::record_cpu(r.plan, options);
        if (pace) pace->settle();
        if (pace && pace->too_long && !(r.run.stop && *r.run.stop) && !r.done.fault) {
            r.all = false;
            r.window = first_blocks(r.plan.launch.grid, pace->rate);
            r.too_long = long_time(pace->seconds);
            r.run.blocks_done->store(0);
            continue;
        }
        if (made && r.all && r.run.print && !r.program.device && (!missing || !r.done.fault))
            r.run.print(printed);
        if (too_large && !made && !waits && shrink(r.window, r.plan.launch.grid))
            r.all = false;
        else if (!missing || !r.done.fault || !add_missing(r.plan.launch, *missing))
            return made;
        if (r.run.blocks_done) r.run.blocks_done->store(0);
    }
}

// What the recorded run left becomes what memory holds.
void put_back(Recorder& r) {
    KnownMemory& memory = r.program.memory;
    size_t next = 0;
    for (const Array& array : r.plan.launch.arrays) {
        if (array.space != Space::Global) continue;
        const simt::Bytes& bytes = r.after.buffers[next++].bytes;
        Allocation* const one = memory.find(array.base);
        if (!one) continue;
        const size_t held = std::min<size_t>(bytes.size(), one->bytes);
        if (std::memcmp(one->data(), bytes.data(), held) != 0) r.done.stored.push_back(one->base);
        std::memcpy(one->data(), bytes.data(), std::min<size_t>(bytes.size(), one->bytes));
        memory.stored(*one);
        const auto map = r.filled_after.find(array.base);
        if (one->filled && map != r.filled_after.end())
            one->filled = std::make_shared<FilledMap>(map->second.copy());
    }
    memory.settle();
}

void add_remarks(Recorder& r, const std::shared_ptr<trace::Trace>& trace) {
    RecordedLaunch& done = r.done;
    done.faults = judge(trace,
                        {.kernel = r.kernel,
                         .launch = r.plan.launch,
                         .window = r.window,
                         .after = r.after,
                         .filled_before = r.filled_before,
                         .filled_after = r.filled_after,
                         .undefined = r.undefined,
                         .may_run_again = !done.stopped && !done.fault && trace->meta.complete,
                         .stop = r.run.stop},
                        done.fault ? done.fault->message : "");
    const BlockWindow& w = r.window;
    if (r.whole_arrays > 0)
        done.remark += fmt::format("{}of its {} of arrays, the recording holds what its blocks touch",
                                   done.remark.empty() ? "" : "; ", bytes_text(r.whole_arrays));
    if (w == r.program.orders.window) return;
    done.remark += fmt::format(
        "{}only its blocks {}:{},{}:{} were recorded: {}, or choose others with --blocks",
        done.remark.empty() ? "" : "; ", w.x0, w.x1, w.y0, w.y1,
        r.too_long.empty()
            ? trace::more_memory("recording all of them").message
            : fmt::format("all of them would take {}; give the program smaller sizes", r.too_long));
}

}  // namespace

std::string file_name(const std::string& kernel, uint64_t number) {
    std::string name = kernel.substr(0, kMostNameInFile);
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
    return fmt::format("{}.{}.tsc", name, number);
}

bool inside_arrays(const trace::Trace& trace) {
    return std::ranges::none_of(trace.forms, [&](const trace::Form& form) {
        return ptx::asks_memory(trace.sites[form.site].kind) && form.space == Space::Global &&
               form.array == trace::kNoArray;
    });
}

bool is_chosen(const Orders& orders, const LoadedKernel& kernel, uint64_t number) {
    const auto in = [](const auto& list, const auto& value) {
        return std::ranges::find(list, value) != list.end();
    };
    if (!orders.numbers.empty()) return in(orders.numbers, number);
    if (!orders.kernels.empty() && !in(orders.kernels, kernel.name) && !in(orders.kernels, kernel.entry))
        return false;
    return orders.every || kernel.launches == 0;
}

RecordedLaunch record(const LaunchingProgram& program, const LoadedKernel& kernel, const Launch& launch,
                      uint64_t number, const simt::RunOptions& run) {
    Recorder r{.program = program,
               .kernel = kernel,
               .run = run,
               .plan = plan_for(program, kernel, launch),
               .window = program.orders.window,
               .all = whole(program.orders.window, launch.grid)};
    take_maps(r.plan.launch, program.memory, program.maps);
    RecordedLaunch& done = r.done;
    const bool waits = kernel.program && simt::has_grid_barrier(*kernel.program);
    if (!r.all && waits) {
        done.why_not =
            "its blocks wait for each other at the grid's barrier, so that some of them cannot run alone; "
            "leave --blocks out";
        return done;
    }
    const DeviceHeap::Taken heap = program.heap.taken();
    std::optional<Result<trace::Trace>> made;
    if (program.device) {
        store_contents(program.memory, r.plan.launch);
        auto trace = record_on_gpu(program.memory, *program.device, r.plan, options_of(r));
        if (trace || run.stop->load()) made.emplace(std::move(trace));
    }
    if (!made && !program.device && !waits) narrow(r);
    if (!made) made.emplace(interpret(r, heap, waits));
    if (!*made) {
        done.why_not = made->error().message;
        done.fault.reset();
        return done;
    }
    const auto recorded = std::make_shared<trace::Trace>(std::move(**made));
    trace::Trace& trace = *recorded;
    analysis::infer_arrays(trace);
    done.stopped = run.stop && run.stop->load() && !trace.meta.complete && !done.fault;
    done.ran = done.stopped || (program.device && done.fault);
    if (!program.device && r.all && (trace.meta.complete || done.fault)) {
        done.ran = true;
        put_back(r);
    }
    if (!done.ran) program.heap.restore(heap);  // the launch runs once more
    add_remarks(r, recorded);
    const std::string path =
        (std::filesystem::path(program.orders.folder) / file_name(kernel.name, number)).string();
    if (const auto written = trace::write_file(trace, path); written)
        done.path = path;
    else
        done.why_not = written.error().message;
    if (!done.ran) done.fault.reset();
    return done;
}

}  // namespace tilescope::launched
