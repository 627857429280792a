#include "kernels/capture/driver_calls.h"

#include <fmt/format.h>

#include "kernels/gpu/driver_api.h"
#include "kernels/gpu/library.h"

namespace tilescope::capture {

Result<CaptureApi> open_capture_api() {
    const gpu::Library library = gpu::open_library({gpu::kDriverLibrary});
    CaptureApi api;
    const char* missing = library ? nullptr : gpu::kDriverLibrary;
#define TILESCOPE_FIND(member, exported, parameters) \
    if (!gpu::find_symbol(library, exported, api.member)) missing = exported;
    TILESCOPE_CAPTURE_FUNCTIONS(TILESCOPE_FIND)
#undef TILESCOPE_FIND
    if (missing)
        return Error{
            fmt::format("the NVIDIA driver has no {}; capture needs one of CUDA 12.4 or newer (version 550), "
                        "so update it",
                        missing)};
    return api;
}

}  // namespace tilescope::capture
