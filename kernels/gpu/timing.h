// Times of the uninstrumented kernels on a GPU, with the device's own roofs measured beside them.
//
// How one is measured, always the same way:
//
//     P filled with NaN -> one run -> P downloaded and verified -> warm-up runs -> timed runs, back to back,
//     an event before and after each -> median, 10th and 90th percentile
//
// The verifying run counts as the first warm-up run. Nothing is flushed between runs: a matrix that fits the
// L2 cache stays there, as it would in a program that goes on with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "kernels/gpu/driver.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/expected_product.h"
#include "kernels/textbook/timings.h"

namespace tilescope::gpu {

struct TimeOptions {
    uint32_t warm_up = 3, runs = 20;
    bool price = true;  // run the recorded kernel too
    const std::atomic<bool>* stop = nullptr;
    // Told what a person should know and what is no failure: a price that could not be measured.
    std::function<void(const std::string&)> note;
};

// Inputs of one shape and type on the device, and what their product must be: made once for all kernels of them.
struct Operands {
    kernels::Shape shape;  // of any tile
    ElementType input = ElementType::F32;
    Memory M, N, P;
    kernels::ExpectedProduct expected;
};
Result<Operands> make_operands(Device& device, const kernels::Shape& shape,
                               ElementType input = ElementType::F32);

// Verifies the result against a plain product, warms up, then runs it options.runs times. A wrong result is
// an Error, except of the kernels that are made to show one: they have a time that is not verified.
Result<kernels::Timing> time_kernel(Device& device, const kernels::TextbookPlan& plan,
                                    const TimeOptions& options);
Result<kernels::Timing> time_kernel(Device& device, const Operands& operands,
                                    const kernels::TextbookPlan& plan, const TimeOptions& options);

// Copy bandwidth and fp32 peak by kernels of their own (kernels/textbook/roofs), and what the driver states.
Result<kernels::Roofs> measure_roofs(Device& device);
// Roofs from clocks and bus widths alone; 0 if the driver does not say or the capability is not known.
kernels::Roofs stated_roofs(const DeviceInfo& info);

// The product of cuBLAS for that type of input (kernels::library_of); nothing where libcublas is not there.
Result<std::optional<kernels::Timing>> time_cublas(Device& device, const kernels::Shape& shape,
                                                   const TimeOptions& options);
Result<std::optional<kernels::Timing>> time_cublas(Device& device, const Operands& operands,
                                                   const TimeOptions& options);

// The part of a launch whose recording gives the price: all blocks up to 1024^3 multiply-adds, else 16 of
// them.
BlockWindow price_window(const kernels::TextbookPlan& plan);

// What timing a kernel of ours and cuBLAS have in common: a verified first run, then a Timing of the next
// ones.

// Fills P with NaN, so that an element that nobody stores is found.
Result<void> spoil_product(Device& device, const Operands& operands);
Result<kernels::ProductCheck> check_on_host(Device& device, const Operands& operands);

// Median, percentiles and GFLOP/s of times in milliseconds.
kernels::Timing timing_of(const std::string& kernel, const kernels::Shape& shape,
                          const std::vector<double>& milliseconds);

}  // namespace tilescope::gpu
