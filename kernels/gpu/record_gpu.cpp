// Launches the instrumented kernel over windows of blocks that fit the trace buffer, and joins what comes
// back.
//
//   plain kernel, timed          the price of recording
//   window 1   launch | drain |  launch 2 ...
//                             |  decode 1 (host threads, beside the next launch)
#include "kernels/gpu/record_gpu.h"

#include <algorithm>
#include <future>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "core/base/words.h"
#include "core/ptx/parse.h"
#include "core/trace/builder.h"
#include "kernels/gpu/trace_buffer.h"
#include "kernels/run/record.h"

namespace tilescope::gpu {

namespace {

constexpr uint64_t kMostBuffer = uint64_t{4} << 30;  // of a buffer whose size nobody chose
constexpr uint64_t kBytesAStep = 12;

uint64_t blocks_of(const BlockWindow& window, const Dim3& grid) {
    return uint64_t{window.x1 - window.x0} * (window.y1 - window.y0) * grid.z;
}

// A recording while it is made.
struct GpuRun {
    Device& device;
    const kernels::Plan& plan;
    const GpuRecordOptions& options;
    kernels::ReadyRecording ready;
    BlockWindow window;
    DeviceArrays arrays{};
    kernels::StepsOfBlock steps{};  // of the first block
    trace::Price price{};
    bool clock_gaps = false;
    std::vector<std::unique_ptr<trace::BlockRecorder>> blocks{};
    uint64_t bytes = 0;  // that these take
    // What a block is expected to write, over what a warp that is never divided writes: each lane that writes
    // alone takes chunks of its own.
    uint64_t grown = 1;

    // One way of instrumenting, used for all windows.
    ptx::Instrumented code{};
    Function function{};
    std::optional<TraceBuffer> buffer{};
};

LaunchOptions launch_options(const GpuRun& r) {
    LaunchOptions options;
    options.timeout_s = r.options.timeout_s;
    options.shared_bytes = r.ready.launch.dynamic_shared;
    options.cluster = r.plan.launch.cluster;
    options.stop = r.options.common.stop;
    options.objects = r.arrays.objects;
    return options;
}

// The plain kernel's time, the median of a few runs, and its registers.
Result<Function> run_plain(GpuRun& r) {
    constexpr double kLong = 100;  // ms: such a kernel is run once
    auto function = r.device.load(r.plan.ptx, r.plan.ptx_name, r.ready.launch.entry);
    if (!function) return function;
    if (auto ok = place_variables(r.device, r.arrays, function->owner, r.ready); !ok) return ok.error();
    const auto run = [&](uint32_t times) {
        return r.device.launch_timed(*function, r.plan.launch.grid, r.plan.launch.block, r.arrays.parameters,
                                     times, launch_options(r));
    };
    auto times = run(1);  // also brings the clocks up
    if (times && times->front() < kLong && r.options.places.empty()) times = run(7);
    if (!times) return times.error();
    std::sort(times->begin(), times->end());
    r.price.plain_ms = (*times)[times->size() / 2];
    return function;
}

// Blocks of the plain kernel that an SM holds at once.
// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": registers are
// given to warps, 256 at a time.
uint64_t blocks_an_sm(const DeviceInfo& info, const Function& plain, uint64_t warps) {
    constexpr uint64_t kGranule = 256;
    const uint64_t a_warp =
        (static_cast<uint64_t>(plain.registers) * kWarpSize + kGranule - 1) / kGranule * kGranule;
    uint64_t blocks = std::min(static_cast<uint64_t>(info.threads_per_sm) / (warps * kWarpSize),
                               static_cast<uint64_t>(info.blocks_per_sm));
    blocks = std::min(blocks,
                      static_cast<uint64_t>(info.registers_per_sm) / std::max<uint64_t>(a_warp * warps, 1));
    if (plain.shared_bytes > 0) {
        blocks = std::min(
            blocks, static_cast<uint64_t>(info.shared_per_sm) / static_cast<uint64_t>(plain.shared_bytes));
    }
    return std::max<uint64_t>(blocks, 1);
}

// Registers of a thread that let so many blocks share an SM.
unsigned register_limit(const DeviceInfo& info, uint64_t blocks, uint64_t warps) {
    constexpr uint64_t kStep = 8, kLeast = 32, kMost = 255;
    const uint64_t threads = blocks * warps * kWarpSize;
    const uint64_t limit = static_cast<uint64_t>(info.registers_per_sm) / threads / kStep * kStep;
    return static_cast<unsigned>(std::clamp(limit, kLeast, kMost));
}

// Loads the instrumented kernel with so few registers that as many blocks share an SM as of the plain one:
// blocks outside the window then run as they would have. Where all blocks are recorded, fewer blocks are
// better than registers that go to memory and back. warps: of a block; grid: blocks of the launch, of which no
// more than its share comes to an SM.
Result<Function> load_recording(Device& device, const std::string& ptx, const std::string& ptx_name,
                                const std::string& kernel, const Function& plain, uint64_t warps,
                                uint64_t grid, bool all_recorded) {
    constexpr int kFewBytes = 32;  // such as are needed when a chunk is begun and hardly else
    const auto sms = static_cast<uint64_t>(std::max(device.info().sms, 1));
    for (uint64_t blocks = std::min(blocks_an_sm(device.info(), plain, warps), (grid + sms - 1) / sms);;
         --blocks) {
        auto function = device.load(ptx, ptx_name, kernel, register_limit(device.info(), blocks, warps));
        if (!function || !all_recorded || blocks == 1 ||
            function->local_bytes <= plain.local_bytes + kFewBytes)
            return function;
    }
}

// How it is recorded; what was found not to be as proven is recorded again with less believed.
struct Instrumenting {
    bool windowed = false, runs = true, exact = false;
};

Result<void> prepare_code(GpuRun& r, const Function& plain, const Instrumenting& way) {
    ptx::InstrumentOptions options;
    options.launch = {r.plan.launch.grid, r.plan.launch.block, r.arrays.parameters};
    options.same_high = r.arrays.same_high;
    options.high = r.arrays.high;
    options.windowed = way.windowed;
    options.runs = way.runs;
    options.exact = way.exact;
    options.chunk_bytes = r.options.chunk_bytes;
    auto code = ptx::instrument(*r.ready.module, r.ready.launch.entry, options);
    if (!code) return code.error();
    const uint64_t warps = (r.plan.launch.block.count() + kWarpSize - 1) / kWarpSize;
    const bool all_recorded = blocks_of(r.window, r.plan.launch.grid) == r.plan.launch.grid.count();
    auto function =
        load_recording(r.device, ptx::print(code->module), r.plan.ptx_name + " with its recording",
                       r.ready.launch.entry, plain, warps, r.plan.launch.grid.count(), all_recorded);
    if (!function) return function.error();
    r.code = std::move(*code);
    r.function = std::move(*function);
    return place_variables(r.device, r.arrays, r.function.owner, r.ready);
}

// Bytes of the buffer that a block fills, as far as its steps tell: whole chunks for each warp. Divided warps
// take more; then there are more launches.
constexpr uint64_t kMostGrown = 64;  // more than the streams of a warp

uint64_t bytes_a_block(const GpuRun& r) {
    const uint64_t warps = (r.plan.launch.block.count() + kWarpSize - 1) / kWarpSize;
    const std::vector<uint32_t> bytes = ptx::bytes_of_steps(r.code);
    uint64_t all = r.steps.of_site.empty() ? std::max<uint64_t>(r.steps.all, 1) * ptx::kSlotBytes : 1;
    uint64_t longest = ptx::kSlotBytes;
    for (size_t site = 0; site < r.steps.of_site.size(); ++site) {
        all += r.steps.of_site[site] * bytes[site];
        longest = std::max<uint64_t>(longest, bytes[site]);
    }
    const uint64_t chunk = r.code.chunk_bytes, of_warp = (all + warps - 1) / warps;
    return r.grown * warps * (of_warp / (chunk - ptx::kChunkHeaderBytes - longest) + 2) * chunk;
}

Result<uint64_t> buffer_bytes(GpuRun& r) {
    if (r.options.buffer_bytes > 0) return r.options.buffer_bytes;
    const auto free = r.device.free_bytes();
    if (!free) return free.error();
    const uint64_t whole = bytes_a_block(r) * blocks_of(r.window, r.plan.launch.grid);
    return std::max<uint64_t>(std::min({whole, kMostBuffer, *free / 4 * 3}), uint64_t{r.code.chunk_bytes});
}

struct WindowRun {
    TraceBuffer::Drained drained;
    double ms = 0;
};

Result<WindowRun> launch_window(GpuRun& r, const BlockWindow& window, unsigned turn) {
    if (r.options.restore)
        if (auto ok = r.options.restore(); !ok) return ok.error();
    if (auto ok = upload_arrays(r.device, r.arrays, r.ready); !ok) return ok.error();
    if (auto ok = r.buffer->reset(r.device); !ok) return ok.error();
    std::vector<uint64_t> parameters = r.arrays.parameters;
    parameters.insert(parameters.end(), {r.buffer->control(), window.x0, window.y0, window.x1 - window.x0,
                                         window.y1 - window.y0});
    const auto ms =
        r.device.launch(r.function, r.plan.launch.grid, r.plan.launch.block, parameters, launch_options(r));
    if (!ms) return ms.error();
    auto drained = r.buffer->drain(r.device, blocks_of(window, r.plan.launch.grid), turn);
    if (!drained) return drained.error();
    return WindowRun{std::move(*drained), *ms};
}

Result<trace::Decoded> decode(const GpuRun& r, const BlockWindow& window, const trace::DeviceBuffer& buffer) {
    trace::DecodeOptions options;
    options.grid = r.plan.launch.grid;
    options.block = r.plan.launch.block;
    options.cluster = r.plan.launch.cluster;
    options.window = window;
    options.arrays = &r.ready.launch.arrays;
    options.sites = &r.code.sites;
    options.device_base = r.arrays.base;
    for (const ptx::Symbol& symbol : ptx::find_kernel(*r.ready.module, r.ready.launch.entry)->symbols)
        if (symbol.space == ptx::StateSpace::Local)
            options.local.push_back({symbol.name,
                                     static_cast<uint64_t>(simt::local_offset(*r.ready.program, symbol.name)),
                                     symbol.bytes()});
    options.map_at = [&r](uint64_t address, bool in_parameters) {
        return map_in_launch(r.ready.launch, r.code.parameters, address, in_parameters);
    };
    options.threads = r.options.common.threads;
    return trace::decode_device_buffer(r.code, buffer, options);
}

Result<void> keep(GpuRun& r, Result<trace::Decoded> decoded, uint64_t blocks) {
    if (!decoded) return decoded.error();
    r.clock_gaps |= decoded->clock_gaps;
    r.price.device_bytes += decoded->written;
    for (const auto& block : decoded->blocks) r.bytes += block->bytes();
    std::move(decoded->blocks.begin(), decoded->blocks.end(), std::back_inserter(r.blocks));
    if (r.options.common.blocks_done) *r.options.common.blocks_done += blocks;
    return {};
}

// The next piece of the window: whole rows of blocks where one fits, else a part of a row.
BlockWindow next_piece(const BlockWindow& window, uint32_t x, uint32_t y, uint64_t blocks, uint32_t depth) {
    const uint32_t width = window.x1 - window.x0;
    const uint64_t columns = std::max<uint64_t>(blocks / depth, 1);
    if (x == window.x0 && columns >= width) {
        return {window.x0, window.x1, y,
                static_cast<uint32_t>(std::min<uint64_t>(window.y1, y + columns / width))};
    }
    return {x, static_cast<uint32_t>(std::min<uint64_t>(window.x1, x + columns)), y, y + 1};
}

enum class WindowsEnd : uint8_t { Done, NotAsProven, TooFull, TooSmall };

Result<WindowsEnd> record_windows(GpuRun& r, const Instrumenting& way) {
    const uint64_t all = blocks_of(r.window, r.plan.launch.grid);
    const bool one = r.options.one_launch;
    uint64_t at_once = one ? all : std::clamp<uint64_t>(r.buffer->bytes() / bytes_a_block(r), 1, all);
    std::future<Result<trace::Decoded>> decoding;
    uint64_t decoding_blocks = 0;
    const auto finish_decoding = [&]() -> Result<void> {
        return decoding.valid() ? keep(r, decoding.get(), decoding_blocks) : Result<void>{};
    };
    uint32_t x = r.window.x0, y = r.window.y0;
    for (unsigned turn = 0; y < r.window.y1 && r.bytes <= r.ready.left;) {
        const BlockWindow piece = one ? r.window : next_piece(r.window, x, y, at_once, r.plan.launch.grid.z);
        auto launched = launch_window(r, piece, turn);
        if (!launched) return launched.error();
        if ((launched->drained.flags & ptx::kFlagNotAsProven) != 0 && !way.exact)  // exact believes nothing
            return WindowsEnd::NotAsProven;
        const uint64_t blocks = blocks_of(piece, r.plan.launch.grid);
        if (launched->drained.dropped > 0 && !one) {
            if (blocks <= r.plan.launch.grid.z) {
                if (r.options.buffer_bytes == 0 && r.grown < kMostGrown) return WindowsEnd::TooSmall;
                return Error{fmt::format(
                    "a trace buffer of {} bytes is too small for one block of this launch; give it "
                    "more with --buffer, or record with --backend cpu",
                    r.buffer->bytes())};
            }
            if (!way.windowed) return WindowsEnd::TooFull;
            at_once = std::max<uint64_t>(blocks / 2, 1);
            continue;
        }
        r.price.recorded_ms += launched->ms;
        ++r.price.launches;
        if (auto ok = finish_decoding(); !ok) return ok.error();
        decoding_blocks = blocks;
        decoding = std::async(std::launch::async, [&r, piece, buffer = std::move(launched->drained.buffer)] {
            return decode(r, piece, buffer);
        });
        ++turn;
        x = piece.x1;
        if (x >= r.window.x1) {
            x = r.window.x0;
            y = piece.y1;
        }
    }
    if (auto ok = finish_decoding(); !ok) return ok.error();
    return WindowsEnd::Done;
}

// Instruments, records, and begins again where the first way did not do.
Result<void> record_all(GpuRun& r, const Function& plain) {
    const uint64_t all = blocks_of(r.window, r.plan.launch.grid);
    Instrumenting way{all < r.plan.launch.grid.count(), true, r.options.exact};
    for (;;) {
        r.buffer.reset();
        if (auto ok = prepare_code(r, plain, way); !ok) return ok.error();
        const auto bytes = buffer_bytes(r);
        if (!bytes) return bytes.error();
        if (!way.windowed && !r.options.one_launch && *bytes < bytes_a_block(r) * all) {
            way.windowed = true;
            continue;
        }
        auto buffer = TraceBuffer::make(r.device, *bytes, all, r.code);
        if (!buffer) return buffer.error();
        r.buffer = std::move(*buffer);
        const auto ended = record_windows(r, way);
        if (!ended) return ended.error();
        if (*ended == WindowsEnd::Done) return {};
        if (*ended == WindowsEnd::NotAsProven) {
            way.exact = !way.runs;
            way.runs = false;
        }
        way.windowed |= *ended == WindowsEnd::TooFull;
        if (*ended == WindowsEnd::TooSmall) r.grown *= 2;
        r.blocks.clear();
        r.bytes = 0;
        const double plain_ms = r.price.plain_ms;
        r.price = {};
        r.price.plain_ms = plain_ms;
        if (r.options.common.blocks_done) *r.options.common.blocks_done = 0;
    }
}

trace::Meta meta_of(const GpuRun& r) {
    trace::Meta meta = kernels::meta_of(r.plan, r.options.common, r.window);
    const DeviceInfo& info = r.device.info();
    meta.backend = trace::Backend::Gpu;
    meta.device = info.name;
    meta.driver = info.driver;
    meta.schedule = {Schedule::Kind::Recorded, 0};
    meta.price = r.price;
    meta.price.clock_mhz = info.clock_khz / 1000.0;
    meta.complete = true;
    return meta;
}

// What makes a recording less than whole. Where clocks have gaps, order and times are not known.
void judge(trace::Meta& meta, const GpuRun& r) {
    uint64_t dropped = 0;
    for (const auto& block : r.blocks) dropped += block->dropped();
    if (dropped > 0) {
        meta.complete = false;
        meta.incomplete_reason = fmt::format(
            "{} did not fit the trace buffer of {} bytes; give it more with --buffer, or record a "
            "smaller window of blocks",
            counted(dropped, "request"), r.buffer->bytes());
    } else if (r.bytes > r.ready.left) {
        meta.complete = false;
        meta.incomplete_reason = kernels::no_memory_left();
    } else if (r.clock_gaps) {
        meta.complete = false;
        meta.incomplete_reason =
            "a warp was silent for longer than its records' clocks can tell, so that times and order of "
            "requests are not sure; record it on the CPU";
    }
}

}  // namespace

Result<trace::Trace> record_gpu(Device& device, const kernels::Plan& plan, const GpuRecordOptions& options) {
    if (options.common.schedule) {
        return Error{
            "a GPU has its own order of warps; leave out the schedule, or record with --backend cpu"};
    }
    const auto window = kernels::window_of(plan, options.common);
    if (!window) return window.error();
    try {
        auto ready = kernels::ready_to_record(plan, options.common, *window);
        if (!ready) return ready.error();
        GpuRun r{.device = device,
                 .plan = plan,
                 .options = options,
                 .ready = std::move(*ready),
                 .window = *window};
        auto arrays = place_arrays(device, r.ready, options.places);
        if (!arrays) return arrays.error();
        r.arrays = std::move(*arrays);
        auto steps = kernels::steps_of_first_block(r.ready, *window, kBytesAStep, options.common);
        if (!steps) return steps.error();
        r.steps = std::move(*steps);
        const auto plain = run_plain(r);
        if (!plain) return plain.error();
        if (auto ok = record_all(r, *plain); !ok) return ok.error();
        if (auto ok = download_outputs(device, r.arrays, r.ready); !ok) return ok.error();
        trace::Meta meta = meta_of(r);
        judge(meta, r);
        trace::Trace trace =
            trace::assemble(std::move(meta), r.ready.launch, r.code.sites, std::move(r.blocks));
        trace.module = r.ready.module;
        kernels::finish_recording(trace, plan, r.ready.memory, options.common);
        return trace;
    } catch (const std::bad_alloc&) {
        return Error{"too little memory for this recording; record a smaller window of blocks"};
    }
}

}  // namespace tilescope::gpu
