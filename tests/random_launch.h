// A random kernel (tests/random_kernel.h) as a launch: its module, memory and arguments.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "core/simt/interpreter.h"
#include "tests/launches.h"
#include "tests/random_kernel.h"

namespace tilescope::test {

inline simt::Bytes bytes_of(const std::vector<uint32_t>& words) {
    simt::Bytes bytes(words.size() * sizeof(uint32_t));
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
}

struct RandomLaunch {
    RandomKernel kernel;
    Launch launch;
    simt::GlobalMemory memory;            // in, out, counters
    std::vector<uint32_t> out, counters;  // what the kernel leaves there

    explicit RandomLaunch(uint64_t seed) : kernel(seed), counters(RandomKernel::counters()) {
        const std::vector<uint32_t> in = RandomKernel::inputs(seed);
        kernel.evaluate(in, out, counters);
        const auto bases = simt::place_buffers({in.size() * 4, out.size() * 4, counters.size() * 4});
        memory.buffers = {{"in", bases[0], bytes_of(in)},
                          {"out", bases[1], simt::Bytes(out.size() * 4)},
                          {"counters", bases[2], bytes_of(RandomKernel::counters())}};
        launch.grid = {kernel.blocks(), 1, 1};
        launch.block = {kernel.threads(), 1, 1};
        launch.arguments = test_arguments({bases[0], bases[1], bases[2]});
    }
};

}  // namespace tilescope::test
