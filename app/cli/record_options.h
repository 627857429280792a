// What `tilescope record` was asked for, and what that means: texts of options become a plan and a window of
// blocks.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "kernels/catalogue.h"
#include "kernels/record.h"

namespace tilescope::cli {

struct RecordRequest {
    std::string kernel;
    uint32_t tile = 16, m = 64, k = 64, n = 64;
    bool tile_given = false;
    std::string block;             // "16x16", instead of tile
    std::string blocks;            // "x0:x1,y0:y1", "" for all
    std::string backend = "auto";  // cpu, gpu, auto
    std::string schedule;          // "" for the kernel's own
    uint64_t seed = kernels::kDefaultSeed;
    unsigned threads = 0;
    std::string ptx_file;  // "" for the PTX that ships
    std::string output;    // "" for a name made of the launch
};

struct RecordJob {
    kernels::Plan plan;
    kernels::RecordOptions options;
    std::string output;
};

// Errors are wrong calls: they say which value is wrong and what may be given. Reads no file.
Result<RecordJob> job_of(const RecordRequest& request);

}  // namespace tilescope::cli
