// Of the fuzzers that read recordings and PTX: what takes much memory is refused soon.
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    setenv("TILESCOPE_MAX_MEMORY", "0.256", 1);
    return 0;
}
