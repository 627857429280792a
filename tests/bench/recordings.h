// Recordings that benchmarks share, each made once.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "core/trace/trace.h"
#include "kernels/run/record.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/reference.h"

namespace tilescope::bench {

inline trace::Trace record(const char* kernel, const kernels::Shape& shape, const BlockWindow& window = {}) {
    auto plan = kernels::plan(kernel, shape);
    if (plan) {
        kernels::RecordOptions options;
        options.window = window;
        auto trace = kernels::record_cpu(*plan, options);
        if (trace) return std::move(*trace);
        std::fprintf(stderr, "bench: %s\n", trace.error().message.c_str());
    } else {
        std::fprintf(stderr, "bench: %s\n", plan.error().message.c_str());
    }
    std::exit(1);
}

// tiled 528 x 512 x 512, T = 16: 10.3 million requests.
inline const trace::Trace& large() {
    static const trace::Trace trace = record("tiled", {528, 512, 512, 16});
    return trace;
}

}  // namespace tilescope::bench
