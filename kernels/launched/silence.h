// Kernels print in each of a recording's runs, and the launch itself prints afterwards: while this lives, what goes to
// standard output is lost.
#pragma once

#include "kernels/gpu/driver.h"

namespace tilescope::launched {

class Silence {
public:
    explicit Silence(gpu::Device& device);
    ~Silence();
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

private:
    gpu::Device& device_;
    int kept_ = -1;
};

}  // namespace tilescope::launched
