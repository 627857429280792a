// The two roofs of a device, memory and arithmetic: measured by kernels of their own
// (kernels/textbook/roofs), since a roof that no kernel reaches teaches nothing; and stated, as clocks times
// widths.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "kernels/gpu/timing.h"
#include "kernels/textbook/timings.h"

namespace tilescope::kernels {
std::string_view embedded_file(std::string_view path);  // made by cmake/embed.cmake
}

namespace tilescope::gpu {

namespace {

constexpr uint32_t kThreads = 256, kWarmUp = 3, kRuns = 20;

Result<Function> load_roof(Device& device, const std::string& kernel) {
    const std::string name = kernel + ".ptx";
    return device.load(std::string(kernels::embedded_file("assets/ptx/roofs/" + name)), name, kernel);
}

// Enough blocks that every SM is full.
Dim3 full_grid(const DeviceInfo& info) {
    const int a_sm = std::max(1, info.threads_per_sm / static_cast<int>(kThreads));
    return {static_cast<uint32_t>(std::max(1, info.sms) * a_sm), 1, 1};
}

Result<double> median_ms(Device& device, const Function& function, const Dim3& grid,
                         const std::vector<uint64_t>& parameters) {
    const Dim3 block{kThreads, 1, 1};
    if (auto warm = device.launch_timed(function, grid, block, parameters, kWarmUp); !warm)
        return warm.error();
    const auto times = device.launch_timed(function, grid, block, parameters, kRuns);
    if (!times) return times.error();
    return kernels::spread_of(*times).median;
}

// Two buffers far larger than the L2 cache, so that what is measured is the memory.
Result<double> copy_gbs(Device& device) {
    constexpr uint64_t kPiece = 8, kPieces = 8, kLeast = 256ull << 20, kMost = 1ull << 30;
    const auto function = load_roof(device, "copy");
    if (!function) return function.error();
    const auto free = device.free_bytes();
    if (!free) return free.error();
    const Dim3 grid = full_grid(device.info());
    const uint64_t sweep =
        uint64_t{grid.x} * kThreads * kPieces * kPiece;  // bytes that the grid takes at once
    const uint64_t bytes = std::max(std::clamp(*free / 4, kLeast, kMost) / sweep, uint64_t{1}) * sweep;
    auto from = device.allocate(bytes, "the copy that measures bandwidth");
    if (!from) return from.error();
    auto to = device.allocate(bytes, "the copy that measures bandwidth");
    if (!to) return to.error();
    constexpr uint32_t kWord = 0x3F9D'0421;
    if (auto good = device.fill32(*from, kWord, bytes / 4); !good) return good.error();
    if (auto good = device.fill(*to, 0); !good) return good.error();
    const auto ms = median_ms(device, *function, grid, {from->address(), to->address(), bytes / kPiece});
    if (!ms) return ms.error();
    for (uint64_t offset : {uint64_t{0}, bytes / 2, bytes - 4096}) {
        std::vector<uint32_t> words(1024);
        if (auto good = device.download(words.data(), *to, offset, 4096); !good) return good.error();
        if (std::any_of(words.begin(), words.end(), [](uint32_t word) { return word != kWord; })) {
            return Error{
                "the copy that measures bandwidth did not copy; the device or its driver is at fault"};
        }
    }
    return 2 * static_cast<double>(bytes) / (*ms * 1e6);
}

// Operations of kernels/textbook/roofs/fp32_peak.cu: 16 sums, 16 times, two operations each.
Result<double> fp32_gflops(Device& device) {
    constexpr double kOperationsATrip = 2 * 16 * 16;
    constexpr uint32_t kTrips = 4096;  // some 15 ms on an SM that does 128 multiply-adds a clock at 2 GHz
    const auto function = load_roof(device, "fp32_peak");
    if (!function) return function.error();
    const Dim3 grid = full_grid(device.info());
    const uint64_t threads = uint64_t{grid.x} * kThreads;
    auto out = device.allocate(threads * sizeof(float), "the sums that measure the fp32 peak");
    if (!out) return out.error();
    // x -> x / 2 + 1 goes to 2 from anywhere and, rounded to even, arrives: sixteen sums of 2 are 32.
    const auto ms =
        median_ms(device, *function, grid,
                  {out->address(), std::bit_cast<uint32_t>(0.5F), std::bit_cast<uint32_t>(1.0F), kTrips});
    if (!ms) return ms.error();
    std::vector<float> sums(threads);
    if (auto good = device.download(sums.data(), *out, 0, threads * sizeof(float)); !good)
        return good.error();
    if (std::any_of(sums.begin(), sums.end(), [](float sum) { return sum != 32; }))
        return Error{"the sums that measure the fp32 peak are wrong; the device or its driver is at fault"};
    return kOperationsATrip * kTrips * static_cast<double>(threads) / (*ms * 1e6);
}

// fp32 multiply-adds a clock and SM. Source: CUDA C++ Programming Guide, "Arithmetic Instructions", table
// "Throughput of Native Arithmetic Instructions", row of 32-bit floating-point add, multiply, multiply-add.
int fp32_a_clock(int major, int minor) {
    switch (major) {
        case 3: return 192;
        case 5: return 128;
        case 6: return minor == 0 ? 64 : 128;
        case 7: return 64;
        case 8: return minor == 0 ? 64 : 128;
        case 9:
        case 10:
        case 12: return 128;
        default: return 0;
    }
}

}  // namespace

kernels::Roofs stated_roofs(const DeviceInfo& info) {
    kernels::Roofs roofs;
    roofs.stated_gflops = 2.0 * fp32_a_clock(info.major, info.minor) * info.sms * info.clock_khz / 1e6;
    // Double data rate: two bits a clock and wire.
    roofs.stated_gbs = 2.0 * info.memory_clock_khz * (info.memory_bus_bits / 8.0) / 1e6;
    return roofs;
}

Result<kernels::Roofs> measure_roofs(Device& device) {
    kernels::Roofs roofs = stated_roofs(device.info());
    const auto copied = copy_gbs(device);
    if (!copied) return copied.error();
    roofs.copy_gbs = *copied;
    const auto multiplied = fp32_gflops(device);
    if (!multiplied) return multiplied.error();
    roofs.fp32_gflops = *multiplied;
    return roofs;
}

}  // namespace tilescope::gpu
