// What the stand-ins of NVIDIA's libraries (cuBLAS, cuRAND) share. Their work is done by the CPU within the call,
// on arguments that lie in device memory; it leaves no recording, which is said once for each function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cudart/runtime.h"

namespace tilescope::cudart {

class LibraryCall {
public:
    // name: of the function, a literal.
    LibraryCall(Runtime& r, const char* name);

    // The bytes of an argument where this process has them; null for 0 bytes, and where device memory does not
    // hold them, which is said: the call has then failed. what: the argument's name.
    const std::byte* in(const void* pointer, uint64_t bytes, const char* what);
    std::byte* out(void* pointer, uint64_t bytes, const char* what);

    const char* name() const { return name_; }
    bool failed() const { return failed_; }

protected:
    Runtime& runtime_;
    bool failed_ = false;

private:
    std::byte* find(const void* pointer, uint64_t bytes, const char* what);
    const char* name_;
};

}  // namespace tilescope::cudart
