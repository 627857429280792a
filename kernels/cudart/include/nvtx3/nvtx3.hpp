// NVTX's C++ interface: ranges and marks for a profiler, which is not here: they do nothing.
//
// Source: NVIDIA Tools Extension Library, version 3, C++.
#pragma once

#include "nvToolsExt.h"

namespace nvtx3 {

struct domain {
    struct global {};
};
struct rgb {
    constexpr rgb(uint8_t, uint8_t, uint8_t) {}
};
struct category {
    explicit constexpr category(uint32_t) {}
    template <class Text>
    constexpr category(uint32_t, const Text&) {}
};
struct payload {
    template <class T>
    explicit constexpr payload(const T&) {}
};
struct event_attributes {
    template <class... Parts>
    constexpr event_attributes(const Parts&...) {}
};
template <class Domain = domain::global>
struct scoped_range_in {
    template <class... Parts>
    explicit scoped_range_in(const Parts&...) {}
    scoped_range_in(const scoped_range_in&) = delete;
    ~scoped_range_in() {}
};
typedef scoped_range_in<> scoped_range;
template <class Domain = domain::global>
struct unique_range_in {
    template <class... Parts>
    explicit unique_range_in(const Parts&...) {}
    ~unique_range_in() {}
};
typedef unique_range_in<> unique_range;
template <class... Parts>
inline void mark(const Parts&...) {}

}  // namespace nvtx3

#define NVTX3_FUNC_RANGE() (void)0
#define NVTX3_FUNC_RANGE_IN(domain) (void)0
#define NVTX3_FUNC_RANGE_IF(condition) (void)(condition)
