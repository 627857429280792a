#include "app/timing/machine.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/textbook/devices.h"

namespace tilescope::timing {

std::vector<Machine> machines(const std::vector<kernels::Timings>& timings,
                              const std::vector<analysis::DeviceSpec>& devices) {
    std::vector<Machine> all;
    for (const kernels::Timings& times : timings) {
        const bool ships = times.compiler == "clang";
        all.push_back({ships ? times.device : fmt::format("{}, PTX by {}", times.device, times.compiler),
                       &times, times.roofs.stated_gbs, times.roofs.stated_gflops,
                       "clocks and widths that the driver gives"});
    }
    for (const analysis::DeviceSpec& device : devices) {
        const bool measured = std::any_of(timings.begin(), timings.end(), [&](const kernels::Timings& times) {
            return kernels::find_driver_name(times.device) != nullptr &&
                   kernels::find_driver_name(times.device)->id == device.id;
        });
        if (!measured)
            all.push_back({device.name, nullptr, device.memory_gbs, device.peak_gflops, device.source});
    }
    if (const auto cases = analysis::roof_cases(devices)) {
        for (const analysis::RoofCase& one : *cases) {
            if (!one.known)
                all.push_back({one.roof.name, nullptr, one.roof.memory_gbs, one.roof.peak_gflops,
                               "the figures of a lecture's sum"});
        }
    }
    return all;
}

const Machine* find_machine(const std::vector<Machine>& all, std::string_view name) {
    for (const Machine& machine : all)
        if (machine.name == name) return &machine;
    return all.empty() ? nullptr : &all.front();
}

std::string measured_words(const Machine& machine) {
    if (machine.times == nullptr)
        return fmt::format(
            "No measured times ship for {}: what is drawn is a bound, from {}", machine.name,
            machine.source.substr(0, machine.source.find(": ")));  // what each says, hover tells
    const kernels::Timings& times = *machine.times;
    std::string words = "Measured on " + times.device;
    if (!times.driver.empty()) words += ", driver " + times.driver;
    if (!times.cuda.empty()) words += ", CUDA " + times.cuda;
    if (times.date.size() >= 10) words += ", " + times.date.substr(0, 10);
    return words;
}

double bound_gflops(const Machine& machine, double flop_per_byte) {
    return analysis::bound_gflops({machine.name, machine.stated_gbs, machine.stated_gflops}, flop_per_byte);
}

}  // namespace tilescope::timing
