// Chosen launches become recordings: the arrays with what they hold before the launch, run and recorded by
// kernels::record_cpu, and what the kernel left put back into device memory.
//
//   all blocks        the recorded run is the launch
//   some (--blocks)   these are recorded from the contents before; the launch itself runs unrecorded
//   too many          the same with the first blocks, as many as find room
//   not possible      the launch runs unrecorded, and the line of the launch says why
//   on a GPU          recorded there, or by the interpreter where it cannot be; then memory is put back, and
//                     the launch runs unrecorded
//
// The arrays are the allocations that arguments point to, pointers in structs among them, and the module's
// variables that the kernel names. Where a kernel finds its way to other memory, through a pointer that lies
// in memory, the recording is begun again with that memory as one more array.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/analysis/array_shapes.h"
#include "core/hazards/hazards.h"
#include "core/trace/claims.h"
#include "core/trace/file.h"
#include "kernels/cudart/runtime.h"
#include "kernels/gpu/record_gpu.h"
#include "kernels/run/record.h"

namespace tilescope::cudart {

namespace {

constexpr size_t kMostNameInFile = 100;  // bytes

std::string file_name(const std::string& kernel, uint64_t number) {
    std::string name = kernel.substr(0, kMostNameInFile);
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') c = '_';
    return fmt::format("{}.{}.tsc", name, number);
}

bool whole(const BlockWindow& window, const Dim3& grid) {
    return window.x0 == 0 && window.x1 >= grid.x && window.y0 == 0 && window.y1 >= grid.y && window.z0 == 0 &&
           window.z1 >= grid.z;
}

// What the arrays hold now.
void store_contents(Runtime& r, Launch& launch) {
    for (Array& array : launch.arrays) {
        if (array.space != Space::Global || array.contents.kind == Contents::Kind::Stored) continue;
        Allocation* const one = r.memory.find(array.base);
        if (!one || !r.memory.bytes(*one)) continue;
        array.contents.kind = Contents::Kind::Stored;
        array.contents.bytes =
            std::make_shared<const std::vector<std::byte>>(one->data(), one->data() + array.bytes());
    }
}

// What a recording proves of shared memory: threads of different warps race for it, or it is read before it
// is written.
void tell_hazards(const trace::Trace& trace, Recorded& done) {
    const auto hazards = analysis::find_hazards(trace);
    if (!hazards) return;
    for (const analysis::Hazard& hazard : hazards->found) {
        if (hazard.space != Space::Shared) continue;
        const bool race = (hazard.kind == analysis::HazardKind::Race && !hazard.same_warp) ||
                          hazard.kind == analysis::HazardKind::ReadBeforeWait;
        if (race && done.race.empty()) done.race = hazard.sentence;
        if (hazard.kind == analysis::HazardKind::Uninitialised && done.unfilled.empty())
            done.unfilled = hazard.sentence;
    }
}

// Whether a launch leaves the same in memory where shared memory that nobody filled holds zeros.
bool same_with_other_bytes(const Function& function, const Launch& launch, const BlockWindow& window,
                           const simt::GlobalMemory& after) {
    simt::GlobalMemory again = after;
    size_t next = 0;
    for (const Array& array : launch.arrays)
        if (array.space == Space::Global) again.buffers[next++].bytes = *array.contents.bytes;
    simt::RunOptions options;
    options.window = window;
    options.unfilled = 0;
    const auto outcome = simt::run(*function.program, launch, again, options, {});
    if (!outcome || !outcome->complete) return false;
    for (size_t i = 0; i < next; ++i)
        if (again.buffers[i].bytes != after.buffers[i].bytes) return false;
    return true;
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

kernels::Plan plan_for(const Runtime& r, const Function& function, const Launch& launch) {
    kernels::Plan plan;
    plan.kernel = function.name;
    plan.launch = launch;
    plan.ptx = function.module->text;
    const std::filesystem::path source(r.orders.source);
    plan.source_name = source.filename().string();
    plan.ptx_name = source.empty() ? function.module->name : source.stem().string() + ".ptx";
    plan.source = r.source;
    return plan;
}

// What all memory holds, while a recording on the GPU runs the kernel again and again.
class Snapshot {
public:
    explicit Snapshot(Runtime& r) : r_(r) {
        for (auto& [base, one] : r.memory.all())
            if (one.place)
                whole_ = r.memory.bytes(one) != nullptr && whole_;
            else if (one.on_host())
                host_[base].assign(one.data(), one.data() + one.bytes);
    }
    bool whole() const { return whole_; }
    // Puts it back; the copies go to the device with the next launch.
    void restore() {
        for (auto& [base, one] : r_.memory.all()) {
            if (one.place) one.ahead = true, one.behind = false;
            if (const auto kept = host_.find(base); kept != host_.end())
                std::memcpy(one.data(), kept->second.data(), kept->second.size());
        }
    }

private:
    Runtime& r_;
    bool whole_ = true;
    std::map<uint64_t, std::vector<std::byte>> host_;
};

// While it lives, what goes to standard output is lost: kernels print in each of a recording's runs, and the
// launch itself prints afterwards.
class Silence {
public:
    explicit Silence(gpu::Device& device) : device_(device) {
        std::fflush(stdout);
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        kept_ = nowhere < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        if (kept_ >= 0) dup2(nowhere, STDOUT_FILENO);
        if (nowhere >= 0) close(nowhere);
    }
    ~Silence() {
        [[maybe_unused]] const auto written = device_.synchronize();  // what was printed, goes
        std::fflush(stdout);
        if (kept_ < 0) return;
        dup2(kept_, STDOUT_FILENO);
        close(kept_);
    }
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

private:
    gpu::Device& device_;
    int kept_ = -1;
};

// Whether every request lies in one of the arrays: those that do not, go to memory that the recording does
// not know, or to nobody's.
bool inside_arrays(const trace::Trace& trace) {
    return std::ranges::none_of(
        trace.forms,
        [&](const trace::Form& form) {
            const bool barrier = trace.sites[form.site].kind == ptx::SiteKind::Barrier;
            return !barrier && form.space == Space::Global && form.array == trace::kNoArray;
        });
}

// Recorded as it runs on the GPU; an Error where the CPU has to.
Result<trace::Trace> record_on_gpu(Runtime& r, const kernels::Plan& plan,
                                   const kernels::RecordOptions& common) {
    gpu::GpuRecordOptions options;
    options.common = common;
    options.timeout_s = 600;
    for (const Array& array : plan.launch.arrays) {
        const Allocation* const one = array.space == Space::Global ? r.memory.find(array.base) : nullptr;
        gpu::Place place;
        if (one && array.symbol.empty()) place = {one->base, one->place ? nullptr : one->data()};
        options.places.push_back(place);
    }
    if (options.places.empty()) options.places.emplace_back();
    Snapshot before(r);
    if (!before.whole()) return Error{"the GPU's memory cannot be read"};
    if (auto sent = r.gpu->send(r); !sent) return sent.error();
    auto trace = [&] {
        const Silence silence(r.gpu->device());
        return gpu::record_gpu(r.gpu->device(), plan, options);
    }();
    before.restore();
    if (trace && !inside_arrays(*trace)) return Error{"the kernel uses memory that no argument points to"};
    return trace;
}

}  // namespace

bool chosen(Runtime& r, const Function& function, uint64_t number) {
    if (!r.recording) return false;
    const Orders& orders = r.orders;
    const auto in = [](const auto& list, const auto& value) {
        return std::ranges::find(list, value) != list.end();
    };
    if (!orders.numbers.empty()) return in(orders.numbers, number);
    if (!orders.kernels.empty() && !in(orders.kernels, function.name) && !in(orders.kernels, function.entry))
        return false;
    return orders.every || function.launches == 0;
}

Recorded record(Runtime& r, Function& function, const Launch& launch, uint64_t number,
                const simt::RunOptions& run) {
    Recorded done;
    BlockWindow window = r.orders.window;
    bool all = whole(window, launch.grid);
    const bool waits = function.program && simt::has_grid_barrier(*function.program);
    if (!all && waits) {
        done.why_not =
            "its blocks wait for each other at the grid's barrier, so that some of them cannot run alone; "
            "leave --blocks out";
        return done;
    }
    kernels::Plan plan = plan_for(r, function, launch);
    std::optional<Result<trace::Trace>> made;
    simt::GlobalMemory after;
    const Heap::Taken heap = r.heap.taken();
    if (r.gpu) {
        store_contents(r, plan.launch);
        kernels::RecordOptions options;
        options.window = window;
        options.stop = run.stop;
        options.after = &after;
        auto trace = record_on_gpu(r, plan, options);
        if (trace || run.stop->load()) made.emplace(std::move(trace));
    }
    while (!made) {
        r.heap.restore(heap);
        store_contents(r, plan.launch);
        kernels::RecordOptions options;
        options.window = window;
        options.stop = run.stop;
        options.allocate = run.allocate, options.release = run.release;
        options.blocks_done = run.blocks_done;
        options.after = &after;
        done.fault.reset();
        options.fault = &done.fault;
        std::string printed;  // by this attempt
        if (all) options.print = [&](std::string_view text) { printed += text; };
        const Allocation* missing = nullptr;
        bool too_large = false;
        options.too_large = &too_large;
        std::mutex mutex;
        options.name_outside = [&](uint64_t address) -> std::string {
            const std::lock_guard lock(mutex);
            if (const Allocation* other = r.memory.find(address)) missing = other;
            return run.name_outside(address);
        };
        made.emplace(kernels::record_cpu(plan, options));
        if (*made && all && run.print && !r.gpu && (!missing || !done.fault)) run.print(printed);
        if (too_large && !*made && !waits && shrink(window, launch.grid)) {
            all = false;
            if (run.blocks_done) run.blocks_done->store(0);
            made.reset();
            continue;
        }
        if (!missing || !done.fault) break;
        const size_t before = plan.launch.arrays.size();
        if (!add_array(plan.launch, *missing, fmt::format("memory{}", before + 1)) ||
            plan.launch.arrays.size() == before)
            break;
        if (run.blocks_done) run.blocks_done->store(0);
        made.reset();
    }
    if (!*made) {
        done.why_not = made->error().message;
        done.fault.reset();
        return done;
    }
    trace::Trace& trace = **made;
    analysis::infer_arrays(trace);
    done.stopped = run.stop && run.stop->load() && !trace.meta.complete && !done.fault;
    if (r.gpu && done.fault) done.ran = true;
    if (!r.gpu && all && (trace.meta.complete || done.fault)) {
        done.ran = true;
        size_t next = 0;
        for (const Array& array : plan.launch.arrays) {
            if (array.space != Space::Global) continue;
            const std::vector<std::byte>& bytes = after.buffers[next++].bytes;
            Allocation* const one = r.memory.find(array.base);
            if (!one) continue;
            std::memcpy(one->data(), bytes.data(), std::min<size_t>(bytes.size(), one->bytes));
            r.memory.written(*one);
        }
    }
    if (done.stopped) done.ran = true;
    if (!done.ran) r.heap.restore(heap);  // the launch runs once more
    if (!done.fault) tell_hazards(trace, done);
    // It is a fault where other bytes in that memory lead to other results.
    if (!done.unfilled.empty() && !done.stopped) {
        const bool harmless = !function.program || function.uses_heap
                                  ? false
                                  : same_with_other_bytes(function, plan.launch, window, after);
        (harmless ? done.remark : done.race) = done.unfilled;
        if (harmless) done.remark += "; its value changes nothing that the launch leaves in memory";
    }
    if (!(window == r.orders.window)) {
        const std::string less = fmt::format(
            "only its blocks {}:{},{}:{} were recorded: {}, or choose others with --blocks", window.x0,
            window.x1, window.y0, window.y1, trace::more_memory("recording all of them").message);
        done.remark = done.remark.empty() ? less : done.remark + "; " + less;
    }
    const std::string path =
        (std::filesystem::path(r.orders.folder) / file_name(function.name, number)).string();
    if (const auto written = trace::write_file(trace, path); written)
        done.path = path;
    else
        done.why_not = written.error().message;
    function.recorded = true;
    if (!done.ran) done.fault.reset();
    return done;
}

}  // namespace tilescope::cudart
