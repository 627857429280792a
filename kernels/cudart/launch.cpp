// A launch: what the program gives becomes a Launch of the interpreter, over all memory that is allocated.
//
//   refused    by rules of every device: an error at once, nothing runs
//   repeats    an earlier launch that loaded nothing that it stored, and whose memory is as that launch left
//              it: what it would store is there already
//   run        recorded where it is chosen; its own faults become the error that NVIDIA's runtime would give,
//              and one sentence
//
// Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (sizes of grids and
// blocks); CUDA Runtime API 12, "Execution Control" and "Error Handling" (which error, and that those of
// faults stay).
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/cluster.h"
#include "core/base/words.h"
#include "core/ptx/parse.h"
#include "kernels/cudart/long_launch.h"

namespace tilescope::cudart {

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct LaunchRefusal {
    cudaError_t error = cudaSuccess;
    std::string why;
};

uint64_t most_shared(const Runtime& r, const HostFunction& function, uint64_t fixed) {
    const analysis::SmLimits& sm = r.device.sm;
    return std::max<uint64_t>(sm.shared_per_block, fixed + function.most_dynamic_shared);
}

// Threads a block that the kernel was compiled for by __launch_bounds__; 0 where it does not say.
uint64_t launch_bound(const ptx::Kernel& kernel) {
    for (const char* const name : {".maxntid", ".reqntid"})
        if (const auto size = ptx::size_directive(kernel, name)) return size->count();
    return 0;
}

// Which error, asked of an H200: the same for all that is wrong with a cluster.
LaunchRefusal refused_cluster(const HostFunction& function, const ptx::Kernel& kernel, const dim3& grid,
                              const Dim3& cluster) {
    const auto required = ptx::size_directive(kernel, ".reqnctapercluster");
    const Dim3 blocks{grid.x, grid.y, grid.z};
    std::string why;
    if (required && *required != cluster)
        why = fmt::format("a cluster of {} blocks is not the {} that its __cluster_dims__ says",
                          size_text(cluster), size_text(*required));
    else
        why =
            why_not_in_clusters(blocks, cluster, function.large_clusters ? kMostOfCluster : kPortableCluster);
    if (why.empty()) return {};
    if (!function.large_clusters && cluster.count() > kPortableCluster && cluster.count() <= kMostOfCluster)
        why += ", or allow it with cudaFuncAttributeNonPortableClusterSizeAllowed";
    return {cudaErrorInvalidClusterSize, why};
}

LaunchRefusal refused(const Runtime& r, const HostFunction& function, const ptx::Kernel& kernel,
                      const dim3& grid, const dim3& block, size_t dynamic) {
    const analysis::SmLimits& sm = r.device.sm;
    const std::string device = analysis::name_of(r.device);
    const uint64_t threads = uint64_t{block.x} * block.y * block.z;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        return {cudaErrorInvalidConfiguration,
                fmt::format("the grid of {} × {} × {} blocks holds none; launch at least one block", grid.x,
                            grid.y, grid.z)};
    if (threads == 0)
        return {cudaErrorInvalidConfiguration,
                fmt::format("a block of {} × {} × {} threads holds none; launch at least one thread", block.x,
                            block.y, block.z)};
    if (block.x > sm.threads_per_block || block.y > sm.threads_per_block || threads > sm.threads_per_block)
        return {cudaErrorInvalidConfiguration,
                fmt::format("a block of {} threads is more than the {} that {} takes; choose a smaller block",
                            grouped(threads), grouped(sm.threads_per_block), device)};
    if (block.z > 64)
        return {cudaErrorInvalidConfiguration,
                fmt::format("a block is {} threads deep (z), and no device takes more than 64; use x and y",
                            block.z)};
    if (grid.x > 0x7FFF'FFFF || grid.y > 65'535 || grid.z > 65'535)
        return {
            cudaErrorInvalidConfiguration,
            fmt::format("the grid of {} × {} × {} blocks is more than a device takes, 2,147,483,647 in x and "
                        "65,535 in y and z; use x for the long side",
                        grid.x, grid.y, grid.z)};
    if (const uint64_t bound = launch_bound(kernel); bound != 0 && threads > bound)
        return {cudaErrorInvalidValue,
                fmt::format("a block of {} threads is more than the {} that its __launch_bounds__ says",
                            grouped(threads), grouped(bound))};
    const uint64_t fixed = launched::bytes_in(kernel, ptx::StateSpace::Shared);
    if (const uint64_t most = most_shared(r, function, fixed); fixed + dynamic > most)
        return {cudaErrorInvalidValue,
                fmt::format(
                    "{} bytes of shared memory a block are more than the {} that {} gives; use less, or ask "
                    "for more (up to {}) with cudaFuncSetAttribute",
                    grouped(fixed + dynamic), grouped(most), device, grouped(sm.shared_per_block_optin))};
    return {};
}

cudaError_t error_of(const simt::Fault& fault) {
    using K = simt::Fault::Kind;
    switch (fault.kind) {
        case K::OutOfBounds:
        case K::BadAddress: return cudaErrorIllegalAddress;
        case K::Misaligned: return cudaErrorMisalignedAddress;
        case K::NeverEnds:
        case K::Deadlock: return cudaErrorLaunchTimeout;
        case K::Assert: return cudaErrorAssert;
        default: return cudaErrorLaunchFailure;
    }
}

// "; 4 bytes behind its end": how far outside the array that the fault's sentence names, or the nearest one, an
// address lies; empty for other faults.
std::string how_far(const Launch& launch, const simt::Fault& fault) {
    constexpr uint64_t kFar = uint64_t{1} << 40;
    if (fault.kind != simt::Fault::Kind::OutOfBounds || fault.address < kFar) return "";
    uint64_t least = kFar;
    std::string words;
    for (const Array& array : launch.arrays) {
        if (array.space != Space::Global) continue;
        const uint64_t end = array.base + array.bytes();
        if (fault.address >= array.base && fault.address < end) return "";
        const bool behind = fault.address >= end;
        const uint64_t bytes = behind ? fault.address - end : array.base - fault.address;
        const bool named =
            fault.message.find(fmt::format(", outside {}'s ", name_in({}, array))) != std::string::npos;
        if (bytes >= least && !named) continue;
        least = named ? 0 : bytes;
        words = bytes == 0 ? "; right behind its end"
                           : fmt::format("; {} {}", counted(bytes, "byte"),
                                         behind ? "behind its end" : "before its beginning");
    }
    return words;
}

std::string key_of(const Runtime& r, const HostFunction& function, const Launch& launch) {
    const Dim3 &g = launch.grid, &b = launch.block;
    const Dim3& c = launch.cluster;
    std::string key =
        fmt::format("{}|{}|{},{},{}|{},{},{}|{},{},{}|{}|{}", fmt::ptr(function.module), function.entry, g.x,
                    g.y, g.z, b.x, b.y, b.z, c.x, c.y, c.z, launch.dynamic_shared, r.constants_version);
    for (const Argument& argument : launch.arguments) {
        key += fmt::format("|{:x}|", launch.bits_of(argument));
        for (const std::byte byte : argument.object) key += static_cast<char>(byte);
    }
    return key;
}

// The number of the earlier launch whose repetition this one is; 0 for none.
uint64_t repeated(Runtime& r, const std::string& key) {
    const auto found = r.repeatable.find(key);
    if (found == r.repeatable.end()) return 0;
    for (const auto& [base, version] : found->second.versions) {
        const Allocation* const one = r.memory.find(base);
        if (!one || one->base != base || one->version != version) return 0;
    }
    return found->second.number;
}

// Notes what a launch wrote, and whether it can be repeated: no memory both loaded and stored, and none of it
// memory that the host may change unseen.
void note_touched(Runtime& r, const std::string& key, uint64_t number, const std::vector<simt::View>& views,
                  const std::vector<uint8_t>& touched, bool may_repeat) {
    Repeatable made{number, {}};
    for (size_t v = 0; v < views.size(); ++v) {
        if (touched[v] == 0) continue;
        Allocation* const one = r.memory.find(views[v].base);
        if (!one) continue;
        if (touched[v] & simt::kStores) {
            r.memory.stored(*one);
            close_managed(r, one->base, number);
        }
        may_repeat = may_repeat && touched[v] != (simt::kLoads | simt::kStores) && !one->on_host();
        made.versions.emplace_back(one->base, one->version);
    }
    constexpr size_t kMostKept = 1024;
    if (r.repeatable.size() >= kMostKept) r.repeatable.clear();
    if (may_repeat)
        r.repeatable[key] = std::move(made);
    else
        r.repeatable.erase(key);
}

// Says once that the launches take long, all together.
void tell_sum(Runtime& r, double ms) {
    constexpr double kLong = 60'000;
    const double before = r.launches_ms;
    r.launches_ms += ms;
    if (!r.recording || r.gpu || r.launches < 2 || before >= kLong || r.launches_ms < kLong) return;
    say(
        fmt::format("{} launches took a minute so far, and the program goes on; Ctrl-C ends it and keeps "
                    "what is recorded",
                    grouped(r.launches)));
}

// What lies at an address that a launch may not use, as the end of a sentence.
std::string name_outside(Runtime& r, uint64_t address) {
    constexpr uint64_t kLow = 1 << 16;
    if (address < kLow)
        return "a null pointer; allocate the memory with cudaMalloc, and look at the error that it returns";
    if (r.memory.freed(address)) return "memory that was freed; free it behind the last launch that uses it";
    if (const Allocation* near = r.memory.nearest(address);
        near && address - near->end() < 4096 && near->kind != MemoryKind::Registered)
        return "";
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const bool of_ours = address >= kFirstAddress && address < kFirstAddress + kAddresses;
    if (const HostVariable* const variable = variable_at(r, reinterpret_cast<const void*>(address)))
        return fmt::format(
            "the host's own copy of {}; kernels use that by its name, or by the address that "
            "cudaGetSymbolAddress gives",
            name_of(*variable));
    if (!of_ours && msync(reinterpret_cast<void*>(address / page * page), 1, MS_ASYNC) == 0)
        return "a pointer to host memory; allocate with cudaMalloc and copy with cudaMemcpy";
    return "";
}

struct LaunchEnd {
    std::optional<simt::Fault> fault;
    std::string problem;  // it did not run; empty
    bool stopped = false;
    std::vector<simt::Undefined> undefined{};
};

// What a launch met that was not recorded: once for each kernel and kind.
void tell_undefined(Runtime& r, HostFunction& function, const std::vector<simt::Undefined>& met,
                    launched::LaunchLine& line) {
    using U = simt::Undefined::Kind;
    for (const simt::Undefined& one : met) {
        // Whether a value of nobody matters shows in a recording alone.
        if (one.kind == U::AbsentValue) continue;
        const Allocation* const at = one.kind == U::UnfilledRead ? r.memory.find(one.lowest) : nullptr;
        if (at && at->filled && !at->filled->rest_is_zero(at->data())) continue;
        const bool unfilled = one.kind == U::UnfilledRead;
        bool& told = unfilled ? function.told_unfilled : function.told_absent;
        if (std::exchange(told, true)) continue;
        line.faults.push_back(
            {unfilled ? "unfilled" : "absent_lanes", "fault", one.line, 0, one.count, one.sentence});
    }
}

std::string why_interpreted(const compiled::LaunchEngine& engine) {
    if (const std::string why = engine.why_not(); !why.empty()) return "it was interpreted: " + why;
    return "it was interpreted: its blocks end in a fault, or their lanes wait for each other";
}

LaunchEnd run_plain(Runtime& r, HostFunction& function, const Launch& launch, simt::RunOptions options,
                    const std::string& key, launched::LaunchLine& line, std::atomic<compiled::Phase>& phase) {
    const std::vector<simt::View> views = r.memory.views();
    const auto choice = compiled::engine_of(r.orders.engine);
    compiled::LaunchEngine engine(r.kernels, *function.program, launch,
                                  choice.value_or(compiled::EngineChoice::Automatic), function.history,
                                  &phase);
    options.engine = &engine;
    const auto outcome = simt::run(*function.program, launch, views, options, {});
    LaunchEnd done;
    if (!outcome) {
        done.problem = outcome.error().message;
        return done;
    }
    done.fault = outcome->fault;
    done.stopped = outcome->stopped;
    done.undefined = outcome->undefined;
    if (engine.blocks_compiled() > 0)
        line.engine = "compiled";
    else if (choice == compiled::EngineChoice::Compiled && !std::exchange(function.told_interpreted, true))
        line.remark += (line.remark.empty() ? "" : "; ") + why_interpreted(engine);
    function.history.all += function.history.latest = outcome->instructions;
    r.memory.settle();
    const bool printed = [&] {
        const std::lock_guard lock(r.print_mutex);
        return !r.printed.empty();
    }();
    note_touched(r, key, line.number, views, outcome->touched,
                 outcome->complete && !printed && !function.uses_heap);
    return done;
}

LaunchEnd run_on_gpu(Runtime& r, HostFunction& function, const Launch& launch, double& ms) {
    const auto ran = r.gpu->launch(r.memory, function, launch, &interrupted);
    LaunchEnd done;
    if (ran) {
        ms = *ran;
    } else {
        done.problem = ran.error().message;
        done.stopped = interrupted;
    }
    return done;
}

// What is said of a launch, to the person and in its row.
class Telling {
public:
    Telling(const Runtime& r, const HostFunction* function, const dim3& grid, const dim3& block,
            size_t shared)
        : r_(r) {
        line.number = r.launches;
        line.grid = {grid.x, grid.y, grid.z}, line.block = {block.x, block.y, block.z};
        line.shared = shared;
        line.kernel = function ? function->name : "?";
        line.backend = r.gpu ? "gpu" : "cpu";
        if (!r.gpu) line.engine = "interpreted";
    }
    // Writes the row of a launch that ended so.
    cudaError_t end(cudaError_t code, const std::string& sentence) {
        if (sentence != line.error) say_of_it(sentence);
        line.error = sentence;
        tell_line(r_, to_json(line));
        return code;
    }
    // Says what its faults say, and what is remarked of it, as far as that is new: the first fault becomes its error,
    // what may be meant its remark. Barriers that keep nothing apart are the report's.
    void tell_rows() {
        std::vector<std::string> others;
        for (; rows_told_ < line.faults.size(); ++rows_told_) {
            const launched::LaunchFault& row = line.faults[rows_told_];
            if (row.kind == "redundant_barrier") continue;
            if (row.severity != "fault")
                line.remark += (line.remark.empty() ? "" : "; ") + row.sentence;
            else if (error.empty())
                error = row.sentence;
            else
                others.push_back(row.sentence);
        }
        const size_t begin =
            remark_told_ > 0 && line.remark.size() > remark_told_ ? remark_told_ + 2 : remark_told_;
        say_of_it(line.remark.substr(begin));
        remark_told_ = line.remark.size();
        if (error != line.error) say_of_it(error);
        line.error = error;
        for (const std::string& sentence : others) say_of_it(sentence);
    }

    launched::LaunchLine line;
    std::string error;  // the first fault's sentence

private:
    void say_of_it(const std::string& sentence) const {
        if (!sentence.empty()) say(fmt::format("launch {}, {}: {}", line.number, line.kernel, sentence));
    }

    const Runtime& r_;
    size_t rows_told_ = 0, remark_told_ = 0;
};

// Runs a launch, recorded where that is chosen; what took too long to be recorded whole runs to its end behind that.
LaunchEnd run_launch(Runtime& r, HostFunction& function, const Launch& described, bool record_it,
                     const std::string& key, Telling& telling, double& on_gpu) {
    launched::LaunchLine& line = telling.line;
    std::atomic<uint64_t> blocks_done{0};
    std::atomic phase{compiled::Phase::Interpreted};
    simt::RunOptions options;
    options.stop = &interrupted;
    options.blocks_done = &blocks_done;
    options.name_outside = [&](uint64_t address) { return name_outside(r, address); };
    options.print = [&](std::string_view text) {
        const std::lock_guard lock(r.print_mutex);
        r.printed += text;
    };
    options.allocate = [&](uint64_t size) { return r.heap.allocate(size); };
    options.release = [&](uint64_t address) { r.heap.release(address); };
    const Interrupts interrupts(r);
    // A recording of all blocks of a grid tells its time by itself, and becomes one of a few of them.
    std::optional<Estimate> estimate;
    const bool may_be_long = !r.gpu && (function.launches == 0 || function.last_ms > 100 ||
                                        line.grid.count() > function.last_blocks);
    const auto watch = [&](bool kept) {
        if (may_be_long)
            estimate.emplace(fmt::format("launch {}, {},", line.number, line.kernel), line.grid.count(),
                             blocks_done, kept, phase);
    };
    if (!record_it || line.grid.count() == 1) watch(false);
    if (record_it) {
        const launched::RecordedLaunch recorded = launched::record(
            {r.orders, r.source, r.memory, r.heap, r.gpu ? &r.gpu->device() : nullptr, r.tensor_maps},
            function, described, line.number, options);
        line.recorded = recorded.path, line.unrecorded = recorded.why_not;
        for (const uint64_t base : recorded.stored) close_managed(r, base, line.number);
        line.faults = recorded.faults, line.remark = recorded.remark;
        if (recorded.ran) {
            LaunchEnd done;
            done.fault = recorded.fault, done.stopped = recorded.stopped;
            return done;
        }
        estimate.reset();
        // What is recorded is said before the long part.
        if (!line.recorded.empty()) telling.tell_rows();
        blocks_done = 0;
        watch(!line.recorded.empty());
    }
    return r.gpu ? run_on_gpu(r, function, described, on_gpu)
                 : run_plain(r, function, described, options, key, line, phase);
}

}  // namespace

void tell_line(const Runtime& r, const std::string& line) {
    if (!r.recording || r.orders.launches.empty()) return;
    const std::string text = line + "\n";
    const int file = open(r.orders.launches.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) return;
    [[maybe_unused]] const ssize_t written = write(file, text.data(), text.size());
    close(file);
}

cudaError_t launch(Runtime& r, const void* host, const dim3& grid, const dim3& block, void** arguments,
                   size_t shared, bool cooperative, std::optional<dim3> asked) {
    flush_prints(r);
    HostFunction* const function = find_function(r, host);
    ++r.launches;
    Telling telling(r, function, grid, block, shared);
    launched::LaunchLine& line = telling.line;
    if (!function) return telling.end(cudaErrorInvalidDeviceFunction, "it is no kernel of this program");
    const ptx::Kernel* const kernel = kernel_of(r, *function);
    if (!kernel) return telling.end(cudaErrorInvalidKernelImage, function->problem);
    if (const LaunchRefusal no = refused(r, *function, *kernel, grid, block, shared); no.error != cudaSuccess)
        return telling.end(no.error, no.why);
    const Dim3 cluster = asked ? Dim3{asked->x, asked->y, asked->z}
                               : ptx::size_directive(*kernel, ".reqnctapercluster").value_or(Dim3{});
    if (const LaunchRefusal no = refused_cluster(*function, *kernel, grid, cluster); no.error != cudaSuccess)
        return telling.end(no.error, no.why);
    if (r.gpu && cluster.count() > 1)
        return telling.end(
            cudaErrorNotSupported,
            "its blocks run in clusters, which Tilescope does not launch on a GPU; run it with "
            "--backend cpu");
    if (function->uses_heap && !r.heap.placed())
        if (const Allocation* const heap = r.memory.allocate(r.heap_bytes, MemoryKind::Variable))
            r.heap.place(heap->base, heap->bytes);
    std::vector<std::span<const std::byte>> bytes;
    for (size_t p = 0; p < function->parameters.size(); ++p)
        bytes.emplace_back(static_cast<const std::byte*>(arguments[p]), function->parameters[p].bytes);
    const Launch described = launched::describe(
        r.memory, *function, *kernel, {line.grid, line.block, static_cast<uint32_t>(shared), cluster}, bytes);
    if (!function->prepare(described, r.constants_version) && !r.gpu)
        return telling.end(cudaErrorInvalidKernelImage, function->problem);
    if (function->program && simt::has_grid_barrier(*function->program) && !cooperative)
        return telling.end(cudaErrorLaunchFailure,
                           "the kernel waits for its whole grid, which <<<>>> does not allow; launch it with "
                           "cudaLaunchCooperativeKernel");

    for (const Array& array : described.arrays)
        if (Allocation* const one = r.memory.find(array.base); one)
            one->used = {array.name, array.elements(), static_cast<uint64_t>(array.element_bytes()),
                         line.grid.count() * line.block.count(), line.number};
    const bool record_it = r.recording && launched::is_chosen(r.orders, *function, line.number);
    const std::string key = key_of(r, *function, described);
    if (!record_it && !r.gpu)
        if (line.same_as = repeated(r, key); line.same_as != 0) return telling.end(cudaSuccess, "");

    const Clock::time_point start = Clock::now();
    double on_gpu = 0;  // ms
    const LaunchEnd done = run_launch(r, *function, described, record_it, key, telling, on_gpu);
    for (const launched::LaunchFault& fault : line.faults) {
        if (fault.kind == "unfilled") function->told_unfilled = true;
        if (fault.kind == "absent_lanes") function->told_absent = true;
    }
    if (r.recording && !done.stopped) tell_undefined(r, *function, done.undefined, line);
    ++function->launches;
    line.ms = function->last_ms = r.gpu ? on_gpu : ms_since(start);
    function->last_blocks = line.grid.count();
    tell_sum(r, line.ms);
    if (done.stopped || interrupted) {  // the signal may have come when the launch was over
        const std::string_view by = by_terminal() ? " by Ctrl-C" : "";
        telling.end(cudaErrorLaunchFailure, done.stopped ? fmt::format("it was stopped{} before its end", by)
                                                         : telling.error + done.problem);
        flush_prints(r);
        end_by_signal();
    }
    if (!done.problem.empty() && r.gpu && r.gpu->device().fault_code() != 0) {
        // The runtime's errors have the driver's numbers.
        r.sticky = static_cast<cudaError_t>(r.gpu->device().fault_code());
        telling.end(cudaSuccess, done.problem);
        return cudaSuccess;
    }
    if (!done.problem.empty()) return telling.end(cudaErrorLaunchOutOfResources, done.problem);
    telling.tell_rows();
    if (!done.fault) return telling.end(cudaSuccess, telling.error);
    // As on a GPU, where launches return before they run, the fault is what the next call returns.
    flush_prints(r);
    r.sticky = error_of(*done.fault);
    telling.end(cudaSuccess, done.fault->message + how_far(described, *done.fault));
    return cudaSuccess;
}

}  // namespace tilescope::cudart
