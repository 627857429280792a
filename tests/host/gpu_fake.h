// A test on the driver that stands in for NVIDIA's: tests/host/fake_cuda says what it can be told.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "kernels/gpu/context.h"
#include "kernels/gpu/driver.h"

namespace tilescope::gpu_test {

class FakeGpu : public testing::Test {
protected:
    void SetUp() override {
        library_ = dlopen(TILESCOPE_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library_, nullptr) << dlerror();
        tell("");
        ask("fake_forget");
        gpu::use_driver(TILESCOPE_FAKE_CUDA);
    }

    void TearDown() override {
        tell("");
        gpu::use_driver(gpu::kDriverLibrary);
    }

    // Has it misbehave from now on.
    static void tell(const std::string& words) { setenv("FAKE_CUDA", words.c_str(), 1); }

    // One of its counters; the functions in fake_state.cpp.
    int ask(const char* counter) const {
        auto* function = reinterpret_cast<int (*)()>(dlsym(library_, counter));
        return function ? function() : -1;
    }

    std::shared_ptr<gpu::Device> open() const {
        auto device = gpu::Device::open();
        EXPECT_TRUE(device) << device.error().message;
        return device ? *device : nullptr;
    }

private:
    void* library_ = nullptr;
};

// That it failed, with these pieces in the sentence.
template <class T>
void expect_error(const Result<T>& result, std::initializer_list<const char*> pieces) {
    ASSERT_FALSE(result);
    const std::string& text = result.error().message;
    for (const char* piece : pieces) EXPECT_NE(text.find(piece), std::string::npos) << piece << "\n" << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_NE(text.find("; "), std::string::npos) << "says what to try: " << text;
    EXPECT_NE(text.back(), '.') << text;
}

inline constexpr const char* kAddOne = R"ptx(.version 7.0
.target sm_70
.address_size 64
.visible .entry add_one(.param .u64 p, .param .u32 n) { ret; })ptx";

}  // namespace tilescope::gpu_test
