// Runs any program with the library in it that sees its launches (kernels/capture), and reads what that has written.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "kernels/launched/captured.h"
#include "kernels/launched/orders.h"

namespace tilescope::program {

struct CaptureRequest {
    std::vector<std::string> command;  // a program and its arguments
    launched::Orders orders;           // `launches` is filled in here
    bool output_to_error = false;      // its standard output goes to standard error
    // Names and texts of files in a folder that PYTHONPATH begins with; empty: PYTHONPATH stays as it is.
    std::vector<std::pair<std::string, std::string>> python;
    const std::atomic<bool>* stop = nullptr;
    const std::atomic<int>* stop_signal = nullptr;  // that has set it
};

struct CaptureOutcome {
    int status = 0;                                    // its exit status; 128 + the signal that ended it
    std::vector<launched::CapturedProcess> processes;  // those that used CUDA, by their numbers
};

// The program has this one's working directory, standard input and output. Error: it could not be started.
Result<CaptureOutcome> run_captured(const CaptureRequest& request);

// What the program's environment has beside this one's: NAME=VALUE.
//   CUDA_INJECTION64_PATH, TILESCOPE_CAPTURE      the library, and its orders
//   CUPY_COMPILE_WITH_PTX                         CuPy hands PTX to the driver
//   XLA_FLAGS, CUDA_ROOT, TILESCOPE_KEPT_PTX      XLA's PTX is kept (capture_xla.h), and its launches are not in graphs
//   XLA_PYTHON_CLIENT_PREALLOCATE                 JAX takes memory as it needs it, so that it can be saved
// CuPy's and the last one only where they are not set. folder: with the orders and XLA's tools. variable: asks this
// program's environment; null for what is not set.
std::vector<std::string> capture_environment(const std::string& library, const std::filesystem::path& folder,
                                             const std::function<const char*(const char*)>& variable);

// libtilescope_capture.so: beside this program, or what TILESCOPE_CAPTURE_LIBRARY names.
Result<std::string> find_capture_library();

}  // namespace tilescope::program
