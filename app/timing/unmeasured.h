// What can be said of a launch that nobody timed: the least time that a device's figures allow, the measured
// kernels that its bound stands among, and the command that would measure it.
//
//   The least time on NVIDIA H200               Measured kernels, for comparison
//   arithmetic     #            0.05 µs         cuBLAS         ########################  52,000
//   bytes asked    #####        1.20 µs         register tile  #################         36,000
//   sectors moved  ##########   2.40 µs         stencil        .....  at most               890
//                                               untiled        ###                        6,200
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/timing/model.h"

namespace tilescope::timing {

// One thing that takes time by itself, however well all else is hidden.
struct LeastTime {
    std::string what;  // "sectors moved"
    std::string of;    // "42.8 kB at 936 GB/s"
    double ms = 0;
    std::string text;  // "45.7 ns"
};
struct ComparedKernel {
    std::string kernel, name;  // "" for the launch itself
    double gflops = 0;         // measured; of the launch its bound
    std::string rate;          // "9,098"
    bool bound = false;
};
struct Unmeasured {
    std::vector<LeastTime> least;             // none where the device's figures are not known
    std::string sentence;                     // what the longest of them means
    std::string compared_on, compared_width;  // "NVIDIA H200", "1,024"
    std::vector<ComparedKernel> compared;     // the fastest first; none where nothing was measured
    std::string measure, command;             // what would measure it: in a sentence, and as it is typed
};
Unmeasured unmeasured(const std::vector<Machine>& all, const Machine& machine, const Launched& launch,
                      uint32_t tile);

// Of a kernel on a device that was not measured: the measured kernels of another, and the bound here among them.
Unmeasured unmeasured(const std::vector<Machine>& all, const Machine& machine, std::string_view kernel,
                      uint32_t width, uint32_t tile);

// Of the product that is open, where what is shown is of another: its own time, or the command that would measure it.
std::string open_elsewhere(const analysis::Recording& recording, const Machine& machine);

}  // namespace tilescope::timing
