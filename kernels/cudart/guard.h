// Managed memory that host code uses while a launch that stored to it may still run: nobody has waited.
//
// Here a launch has ended when the call returns, so that such a program is right; on a GPU it may read what
// was there before. So the pages of managed memory that a launch stored to are closed until the program calls
// the runtime again: what it does before that, is remarked on, once for each launch, and the pages are opened.
//
//   k<<<...>>>(p);      pages of p closed
//   p[5]                SIGSEGV: opened; "reads or writes p while launch 1 may still run"
//   any call of ours    opened
//
// Mapped memory (cudaHostAlloc, cudaHostRegister) may share its pages with other data, and is left alone.
#pragma once

#include <cstdint>

namespace tilescope::cudart {

struct Runtime;

// Of the allocation that begins there; `launch` stored to it.
void close_managed(Runtime& r, uint64_t base, uint64_t launch);
// Opens all of it, and says what was met since; to be called under the lock before anything is looked at.
void open_managed(Runtime& r);

}  // namespace tilescope::cudart
