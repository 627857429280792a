#include "kernels/gpu/timing.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include <fmt/format.h>

#include "core/base/contents.h"
#include "kernels/gpu/record_gpu.h"
#include "kernels/run/record.h"
#include "kernels/textbook/reference.h"
#include "kernels/textbook/requested_bytes.h"
#include "kernels/textbook/timings.h"

namespace tilescope::gpu {

namespace {

constexpr double kLargestWholeRecording = 1024.0 * 1024.0 * 1024.0;  // multiply-adds
constexpr uint32_t kBlocksOfAWindow = 16;

double multiply_adds(const kernels::Shape& shape) {
    return static_cast<double>(shape.m) * static_cast<double>(shape.k) * static_cast<double>(shape.n);
}

// Values as elements of a type, which holds them exactly.
std::vector<std::byte> bytes_of(ElementType type, const std::vector<float>& values) {
    const size_t size = size_of(type);
    std::vector<std::byte> bytes(values.size() * size);
    for (size_t i = 0; i < values.size(); ++i) {
        const uint64_t bits = tilescope::bits_of(type, values[i]);
        std::memcpy(&bytes[i * size], &bits, size);
    }
    return bytes;
}

// The price of recording. No price is no failure: the time stands without it.
void add_price(Device& device, const kernels::TextbookPlan& plan, const TimeOptions& options,
               kernels::Timing& timing) {
    GpuRecordOptions record;
    record.common.window = price_window(plan);
    record.common.stop = options.stop;
    const BlockWindow& window = record.common.window;
    const auto trace = record_gpu(device, plan, record);
    if (trace && trace->meta.price.recorded_ms > 0) {
        timing.recorded_ms = trace->meta.price.recorded_ms;
        timing.recorded_blocks = (window.x1 - window.x0) * (window.y1 - window.y0);
    } else if (options.note) {
        options.note(fmt::format("the price of recording {} was not measured: {}", plan.kernel,
                                 trace ? "the recording states none" : trace.error().message));
    }
}

// The tensor maps behind n, of M and N where they lie on the device; zeros stay what they are.
Result<void> add_maps(Device& device, const Operands& operands, const kernels::TextbookPlan& plan,
                      std::vector<uint64_t>& parameters, LaunchOptions& launch) {
    for (size_t i = parameters.size(); i < plan.launch.arguments.size(); ++i) {
        const Argument& argument = plan.launch.arguments[i];
        std::vector<std::byte>& object = launch.objects[i] = argument.object;
        parameters.push_back(0);
        ptx::TensorMapBytes bytes{};
        if (argument.map_of < 0 || object.size() != bytes.size()) continue;
        std::memcpy(bytes.data(), object.data(), bytes.size());
        auto map = ptx::decode(bytes);
        if (!map) continue;
        map->address = (argument.map_of == 0 ? operands.M : operands.N).address();
        const auto made = device.tensor_map(*map);
        if (!made) return made.error();
        std::memcpy(object.data(), made->data(), made->size());
    }
    return {};
}

}  // namespace

Result<Operands> make_operands(Device& device, const kernels::Shape& shape, ElementType input) {
    const uint64_t m = shape.m, k = shape.k, n = shape.n;
    const auto M = kernels::make_input(kernels::kDefaultSeed, 0, m * k);
    const auto N = kernels::make_input(kernels::kDefaultSeed, 1, k * n);
    auto expected = kernels::expect_product(M, N, shape.m, shape.k, shape.n);
    if (!expected) return expected.error();
    Operands operands;
    operands.shape = shape;
    operands.input = input;
    operands.expected = std::move(*expected);
    auto memory = device.allocate(m * n * sizeof(float), "P");
    if (!memory) return memory.error();
    operands.P = std::move(*memory);
    for (auto [to, name, values] : {std::tuple{&operands.M, "M", &M}, std::tuple{&operands.N, "N", &N}}) {
        const std::vector<std::byte> bytes = bytes_of(input, *values);
        auto allocated = device.allocate(bytes.size(), name);
        if (!allocated) return allocated.error();
        *to = std::move(*allocated);
        if (auto good = device.upload(*to, 0, bytes.data(), bytes.size()); !good) return good.error();
    }
    return operands;
}

Result<void> spoil_product(Device& device, const Operands& operands) {
    return device.fill(operands.P, 0xFF);  // every float with all bits set is a NaN
}

Result<kernels::ProductCheck> check_on_host(Device& device, const Operands& operands) {
    std::vector<float> P(uint64_t{operands.shape.m} * operands.shape.n);
    if (auto good = device.download(P.data(), operands.P, 0, P.size() * sizeof(float)); !good)
        return good.error();
    return kernels::check_product(operands.expected, P);
}

kernels::Timing timing_of(const std::string& kernel, const kernels::Shape& shape,
                          const std::vector<double>& milliseconds) {
    const kernels::TimeSpread spread = kernels::spread_of(milliseconds);
    kernels::Timing timing;
    timing.kernel = kernel;
    timing.m = shape.m;
    timing.k = shape.k;
    timing.n = shape.n;
    timing.tile = shape.tile;
    timing.runs = static_cast<uint32_t>(milliseconds.size());
    timing.median_ms = spread.median;
    timing.low_ms = spread.low;
    timing.high_ms = spread.high;
    if (spread.median > 0) timing.gflops = 2 * multiply_adds(shape) / (spread.median * 1e6);
    return timing;
}

BlockWindow price_window(const kernels::TextbookPlan& plan) {
    if (multiply_adds(plan.shape) <= kLargestWholeRecording)
        return {0, plan.launch.grid.x, 0, plan.launch.grid.y};
    uint32_t width = std::min(plan.launch.grid.x, 4u);
    const uint32_t height = std::min(plan.launch.grid.y, kBlocksOfAWindow / width);
    width = std::min(plan.launch.grid.x, kBlocksOfAWindow / height);
    return {0, width, 0, height};
}

Result<kernels::Timing> time_kernel(Device& device, const kernels::TextbookPlan& plan,
                                    const TimeOptions& options) {
    const auto operands = make_operands(device, plan.shape, plan.info->input);
    if (!operands) return operands.error();
    return time_kernel(device, *operands, plan, options);
}

Result<kernels::Timing> time_kernel(Device& device, const Operands& operands,
                                    const kernels::TextbookPlan& plan, const TimeOptions& options) {
    const kernels::Shape& shape = plan.shape;
    const std::string& name = plan.kernel;
    const auto function = device.load(plan.ptx, plan.ptx_name, name);
    if (!function) return function.error();
    std::vector<uint64_t> parameters{
        operands.M.address(), operands.N.address(), operands.P.address(), shape.m, shape.k, shape.n};

    LaunchOptions launch;
    launch.stop = options.stop;
    launch.shared_bytes = plan.launch.dynamic_shared;
    if (auto good = add_maps(device, operands, plan, parameters, launch); !good) return good.error();

    if (auto good = spoil_product(device, operands); !good) return good.error();
    const auto first = device.launch(*function, plan.launch.grid, plan.launch.block, parameters, launch);
    if (!first) return first.error();
    const auto check = check_on_host(device, operands);
    if (!check) return check.error();
    if (!check->right && !kernels::made_wrong(name)) {
        return Error{
            fmt::format("{} at m={} k={} n={}{} gives a wrong result ({}; {} of {} rows are wrong), "
                        "so its time is not shown; record it to see why",
                        name, shape.m, shape.k, shape.n, kernels::tile_text(shape.tile, ", T="), check->why,
                        check->wrong_rows, shape.m)};
    }
    if (options.warm_up > 1) {
        const auto warm = device.launch_timed(*function, plan.launch.grid, plan.launch.block, parameters,
                                              options.warm_up - 1, launch);
        if (!warm) return warm.error();
    }
    const auto times =
        device.launch_timed(*function, plan.launch.grid, plan.launch.block, parameters, options.runs, launch);
    if (!times) return times.error();

    kernels::Timing timing = timing_of(name, shape, *times);
    timing.verified = check->right;
    timing.registers = function->registers;
    timing.shared_bytes = function->shared_bytes + static_cast<int>(launch.shared_bytes);
    const auto bytes = kernels::requested_bytes(plan);
    if (!bytes) return bytes.error();
    timing.requested_gbs = static_cast<double>(bytes->loaded + bytes->stored) / (timing.median_ms * 1e6);
    if (options.price) add_price(device, plan, options, timing);
    return timing;
}

}  // namespace tilescope::gpu
