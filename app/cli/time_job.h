// tilescope time: what was asked for, a plan for every kernel, size and tile width of it, and its table.
#pragma once

#include "app/cli/arguments.h"
#include "kernels/textbook/timings.h"

namespace tilescope::cli {

struct TimeRequest : PtxChoice {
    std::vector<std::string> kernels;  // none: all with a T; "cublas" and "cublas_half" are some
    std::vector<std::string> sizes;    // --n; words among them are kernels, as in "--n 1024 tiled"
    std::vector<uint32_t> tiles;
    std::optional<uint32_t> m, k;  // none: as n
    uint32_t runs = 20, warm_up = 3;
    bool all = false, json = false, no_cublas = false, no_price = false, no_roofs = false;
    std::string output;  // "" for standard output

    OptionTable table();
};

// The launches of one shape and type of input, which share their inputs.
struct TimeGroup {
    kernels::Shape shape;  // of any tile
    ElementType input = ElementType::F32;
    std::vector<kernels::TextbookPlan> plans;
    bool cublas = false;  // its product of that type of input too
};

struct TimeJob {
    std::vector<TimeGroup> groups;
    uint64_t launches() const;  // kernels to time, cuBLAS among them
};

// Refuses what is wrong with the call: which value, and what may be given. Reads no file.
TimeJob job_of(const TimeRequest& request);

// The call that asks for the same again: "tilescope time tiled --n 1024 --tile 16 --json".
std::string command_of(const TimeRequest& request);

// Where there is no GPU: the rows of the times that ship that a job asks for. They are of the first device
// whose times of that compiler's PTX have every kernel, size and tile width of the job, in the job's order.
// cuBLAS is left out where it was not measured, unless nothing else was asked for.
std::optional<kernels::Timings> shipped_times(
    const TimeJob& job, const std::string& compiler,
    const std::vector<kernels::Timings>& shipped = kernels::shipped_timings());

// For a person: device, roofs, a row a kernel with its speed-up over `untiled` and `untiled_swapped` of the
// same shape and tile width, and a legend. notes: a line each below it.
std::string time_table(const kernels::Timings& timings, const std::vector<std::string>& notes);

}  // namespace tilescope::cli
