// XLA (JAX) makes machine code of its PTX by calling ptxas and nvlink, and hands only that to the driver. For a program
// that is captured these are scripts of ours in a folder that XLA looks in first. They call the tools that XLA would
// have called, with the same words, and keep what went in beside what came out:
//
//   FOLDER/cuda/bin/ptxas, nvlink      the scripts; --xla_gpu_cuda_data_dir=FOLDER/cuda, CUDA_ROOT=FOLDER/cuda
//   FOLDER/cuda/...                    links to all else of the CUDA Toolkit that is there
//   FOLDER/kept/SUM.cubin, SUM.ptx     what a tool made, and of what (kernels/capture/ptx_caches.h)
//
// XLA also puts launches into CUDA graphs, where they are not seen: --xla_gpu_enable_command_buffer= leaves that out.
//
// Source: XLA's flags (xla/debug_options_flags.cc), of which the last one of a name holds; JAX's CUDA_ROOT
// (jax/_src/lib), which comes before them.
#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"

namespace tilescope::program {

// Writes the scripts, and links what `cuda`, the CUDA Toolkit that XLA would look in first, has beside these tools;
// it need not be there.
Result<void> write_xla_tools(const std::filesystem::path& folder, const std::string& cuda);

// XLA_FLAGS with those flags, but for one that the program's own flags name already. A file of flags stays as it is.
std::string xla_flags(const std::string& own, const std::filesystem::path& folder);

// That toolkit: what CUDA_ROOT, or the program's own flags by --xla_gpu_cuda_data_dir, name; else /usr/local/cuda.
std::string xla_toolkit(const std::string& own_flags, const std::string& cuda_root);

}  // namespace tilescope::program
