// Values of TILESCOPE_MAX_MEMORY, and none behind.
#pragma once

#include <cstdlib>

#include <gtest/gtest.h>

namespace tilescope {

// While this lives.
struct AllowedMemory {
    explicit AllowedMemory(const char* gigabytes) { setenv("TILESCOPE_MAX_MEMORY", gigabytes, 1); }
    ~AllowedMemory() { unsetenv("TILESCOPE_MAX_MEMORY"); }
    AllowedMemory(const AllowedMemory&) = delete;
    AllowedMemory& operator=(const AllowedMemory&) = delete;
};

// In a test.
struct AllowedMemoryTest : testing::Test {
    ~AllowedMemoryTest() override { unsetenv("TILESCOPE_MAX_MEMORY"); }
    static void allow(const char* gigabytes) { setenv("TILESCOPE_MAX_MEMORY", gigabytes, 1); }
};

}  // namespace tilescope
