#include "kernels/alone/probe.h"

#include <algorithm>
#include <bit>
#include <new>

#include "core/base/contents.h"

namespace tilescope::kernels {

namespace {

constexpr uint64_t kFirst = 0x7F00'0000'0000, kApart = uint64_t{1} << 36;

// What one run touches, of all blocks. Blocks are watched one after the other: a probe has one thread.
struct Watcher final : simt::BlockObserver {
    Watcher(const simt::Program& program, const Launch& of, Probe& to)
        : sites(simt::sites_of(program)), launch(of), made(to) {}

    void on_request(const simt::Request& request) override {
        made.busy = {std::max(made.busy.x, block.x + 1), std::max(made.busy.y, block.y + 1),
                     std::max(made.busy.z, block.z + 1)};
        const uint64_t bytes = sites[request.site].bytes;
        if (request.space == Space::Shared)
            for_lanes(request.mask, [&](uint32_t lane) {
                made.touched_shared = std::max(made.touched_shared, request.address[lane] + bytes);
            });
        if (request.space != Space::Global || launch.arrays.empty()) return;
        for_lanes(request.mask, [&](uint32_t lane) {
            const uint64_t address = request.address[lane];
            const Array& last = launch.arrays[array];
            if (address < last.base || address - last.base >= last.bytes()) find(address);
            const Array& found = launch.arrays[array];
            if (address < found.base || address - found.base >= found.bytes()) return;
            made.touched[array] = std::max(made.touched[array], address - found.base + bytes);
        });
    }
    void on_barrier(uint32_t, uint32_t, uint32_t) override {}

    void find(uint64_t address) {
        for (size_t i = 0; i < launch.arrays.size(); ++i)
            if (launch.arrays[i].base <= address) array = i;  // they lie in their order
    }

    const std::vector<ptx::Site>& sites;
    const Launch& launch;
    Probe& made;
    simt::BlockId block;
    size_t array = 0;  // that of the last lane
};

void place_apart(Launch& launch) {
    for (size_t i = 0; i < launch.arrays.size(); ++i) launch.arrays[i].base = kFirst + i * kApart;
    place_maps(launch);
}

uint64_t bytes_of(const Launch& launch) {
    uint64_t bytes = 0;
    for (const Array& array : launch.arrays) bytes += array.bytes();
    return bytes;
}

// A flat array of at least that many bytes.
void grow(Array& array, uint64_t bytes) {
    const uint64_t elements = (bytes + array.element_bytes() - 1) / array.element_bytes();
    array.cols = static_cast<uint32_t>(std::min<uint64_t>(elements, uint64_t{1} << 31));
}

// The array beyond whose end an address lies; -1 for none.
ptrdiff_t array_before(const Launch& launch, uint64_t address) {
    ptrdiff_t found = -1;
    for (size_t i = 0; i < launch.arrays.size(); ++i)
        if (launch.arrays[i].base <= address && address - launch.arrays[i].base < kApart / 2)
            found = static_cast<ptrdiff_t>(i);
    return found;
}

void run_once(const simt::Program& program, const Launch& launch, const ProbeLimits& limits, Probe& made) {
    made.touched.assign(launch.arrays.size(), 0);
    made.busy = {0, 0, 0};
    made.touched_shared = 0;
    made.fault.reset();
    simt::GlobalMemory memory;
    for (const Array& array : launch.arrays) {
        simt::Buffer& buffer = memory.buffers.emplace_back();
        buffer.name = array.name;
        buffer.base = array.base;
        buffer.bytes.resize(array.bytes());
        fill(array, buffer.bytes.data());
    }
    simt::RunOptions options;
    options.threads = 1;
    options.max_instructions_per_block = limits.instructions_per_block;
    options.stop = limits.stop;
    Watcher watcher(program, launch, made);
    const auto outcome = simt::run(program, launch, memory, options, [&](const simt::BlockId& block) {
        watcher.block = block;
        return &watcher;
    });
    if (!outcome) return void(made.refusal = outcome.error().message);
    made.stopped = outcome->stopped;
    made.fault = outcome->fault;
}

}  // namespace

Probe probe(const simt::Program& program, Launch launch, const std::vector<bool>& grows,
            const std::function<void(Array&)>& refill, const ProbeLimits& limits) try {
    Probe made;
    place_apart(launch);
    constexpr int kMostRuns = 40;
    for (int runs = 0; runs < kMostRuns; ++runs) {
        run_once(program, launch, limits, made);
        if (!made.fault || made.fault->kind != simt::Fault::Kind::OutOfBounds) break;
        const simt::Fault fault = *made.fault;
        const ptrdiff_t at = array_before(launch, fault.address);
        if (at < 0 || !grows[static_cast<size_t>(at)]) break;
        Array& array = launch.arrays[static_cast<size_t>(at)];
        // Up to the next power of two of what is needed, for the next index is likely beyond that one.
        const uint64_t bytes = std::bit_ceil(fault.address - array.base + 16);
        if (bytes > limits.bytes || bytes_of(launch) - array.bytes() + bytes > limits.bytes) break;
        if (bytes <= array.bytes()) break;  // an access across the end of something else
        grow(array, std::max(bytes, std::min(array.bytes() * 4, limits.bytes / 16)));
        refill(array);
    }
    made.launch = std::move(launch);
    return made;
} catch (const std::bad_alloc&) {
    Probe made;
    made.refusal = "there is too little memory for its arrays; choose smaller ones";
    return made;
}

}  // namespace tilescope::kernels
