// One launch by the interpreter and by the compiled kernel, each with memory of its own.
#pragma once

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "core/simt/interpreter.h"
#include "kernels/compiled/engine.h"
#include "tests/launches.h"

namespace tilescope::test {

// Kernels of all tests of a process. What was compiled is kept in the build's folder.
inline compiled::Library& library() {
    static compiled::Library made;
    setenv("XDG_CACHE_HOME", TILESCOPE_BINARY_DIR "/tests/cache", 1);
    return made;
}

struct Ran {
    simt::Outcome outcome;
    simt::GlobalMemory memory;
    std::string engine;  // why it is not compiled; "" where it was
    uint64_t compiled = 0;
};

inline Ran run_by(const simt::Program& program, const Launch& launch, simt::GlobalMemory memory,
                  compiled::EngineChoice choice, simt::RunOptions options = {}) {
    Ran ran;
    ran.memory = std::move(memory);
    compiled::LaunchEngine engine(library(), program, launch, choice);
    options.engine = &engine;
    if (options.threads == 0) options.threads = 1;
    auto outcome = simt::run(program, launch, ran.memory, options, {});
    if (!outcome) throw std::runtime_error(outcome.error().message);
    ran.outcome = *outcome;
    ran.engine = engine.why_not();
    ran.compiled = engine.blocks_compiled();
    return ran;
}

// Runs both and expects the same of them. Returns what the compiled one did.
inline Ran expect_same(const simt::Program& program, const Launch& launch, const simt::GlobalMemory& memory,
                       const simt::RunOptions& options = {}) {
    using enum compiled::EngineChoice;
    const Ran one = run_by(program, launch, memory, Interpreted, options);
    Ran other = run_by(program, launch, memory, Compiled, options);
    EXPECT_EQ(other.engine, "");
    const auto fault = [](const Ran& ran) { return ran.outcome.fault ? ran.outcome.fault->message : ""; };
    EXPECT_EQ(fault(one), fault(other));
    EXPECT_EQ(one.outcome.complete, other.outcome.complete);
    EXPECT_EQ(one.outcome.instructions, other.outcome.instructions);
    EXPECT_EQ(one.outcome.touched, other.outcome.touched);
    EXPECT_EQ(one.outcome.undefined.size(), other.outcome.undefined.size());
    for (size_t i = 0; i < one.outcome.undefined.size() && i < other.outcome.undefined.size(); ++i)
        EXPECT_EQ(one.outcome.undefined[i].sentence, other.outcome.undefined[i].sentence);
    for (size_t b = 0; b < one.memory.buffers.size(); ++b) {
        const auto &x = one.memory.buffers[b].bytes, &y = other.memory.buffers[b].bytes;
        for (size_t k = 0; k + 4 <= x.size(); k += 4) {
            uint32_t p = 0, q = 0;
            std::memcpy(&p, &x[k], 4), std::memcpy(&q, &y[k], 4);
            if (p == q) continue;
            ADD_FAILURE() << "buffer " << b << ", word " << k / 4 << ": interpreted " << std::hex << p
                          << ", compiled " << q;
            break;
        }
    }
    return other;
}

}  // namespace tilescope::test
