// What `tilescope record` was asked for, and what that means: texts of options become a plan and a window of
// blocks.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "kernels/gpu/backend.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::cli {

struct RecordRequest {
    std::string kernel;
    uint32_t tile = 16, m = 64, k = 64, n = 64;
    bool tile_given = false;
    std::string block;               // "16x16", instead of tile
    std::string blocks;              // "x0:x1,y0:y1", "" for all
    std::string backend = "auto";    // cpu, gpu, auto
    std::string compiler = "clang";  // whose PTX: clang's, which ships, or what nvrtc makes
    uint64_t buffer = 0;             // bytes of the device trace buffer, 0 for what fits well
    bool one_launch = false, exact = false;
    std::string schedule;  // "" for the kernel's own
    uint64_t seed = kernels::kDefaultSeed;
    unsigned threads = 0;
    std::string ptx_file;  // "" for the PTX that ships
    std::string output;    // "" for a name made of the launch
};

struct RecordJob {
    kernels::TextbookPlan plan;
    gpu::GpuRecordOptions options;  // `common` is all that the CPU needs
    gpu::BackendChoice backend = gpu::BackendChoice::Auto;
    std::string output;
};

// Errors are wrong calls: they say which value is wrong and what may be given. Reads no file.
Result<RecordJob> job_of(const RecordRequest& request);

}  // namespace tilescope::cli
