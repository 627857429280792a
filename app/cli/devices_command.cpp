// tilescope devices [--json]: the GPUs of this machine, a line each.
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "core/base/version.h"
#include "kernels/gpu/backend.h"

namespace tilescope::cli {

namespace {

std::string as_text(const Result<std::vector<gpu::DeviceInfo>>& found) {
    if (!found)
        return fmt::format("No NVIDIA GPU here: {}. Kernels are recorded on the CPU. {}\n",
                           found.error().message, gpu::kWithAGpu);
    std::string text;
    for (const gpu::DeviceInfo& info : *found) {
        text += fmt::format("{}  {}, {} SMs, {:.1f} GiB\n", info.ordinal, gpu::describe(info), info.sms,
                            static_cast<double>(info.memory_bytes) / (1 << 30));
    }
    return text;
}

// Sizes in bytes, clocks in kHz, as the driver states them.
std::string as_json(const Result<std::vector<gpu::DeviceInfo>>& found) {
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    for (const gpu::DeviceInfo& info : found ? *found : std::vector<gpu::DeviceInfo>{}) {
        list.push_back({{"number", info.ordinal},
                        {"name", info.name},
                        {"driver", info.driver},
                        {"cuda", fmt::format("{}.{}", info.cuda_major, info.cuda_minor)},
                        {"compute_capability", fmt::format("{}.{}", info.major, info.minor)},
                        {"sms", info.sms},
                        {"clock_khz", info.clock_khz},
                        {"memory_clock_khz", info.memory_clock_khz},
                        {"memory_bus_bits", info.memory_bus_bits},
                        {"memory_bytes", info.memory_bytes},
                        {"l2_bytes", info.l2_bytes},
                        {"shared_per_block", info.shared_per_block},
                        {"shared_per_block_optin", info.shared_per_block_optin},
                        {"shared_per_sm", info.shared_per_sm},
                        {"registers_per_block", info.registers_per_block},
                        {"registers_per_sm", info.registers_per_sm},
                        {"threads_per_block", info.threads_per_block},
                        {"threads_per_sm", info.threads_per_sm},
                        {"blocks_per_sm", info.blocks_per_sm},
                        {"warp_size", info.warp_size}});
    }
    Json all{{"schema", "tilescope.devices/1"}, {"version", kVersion}, {"devices", list}};
    if (!found) all["why_none"] = found.error().message;
    return all.dump(2) + "\n";
}

}  // namespace

void add_devices(CLI::App& app, Chosen& chosen) {
    auto json = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand("devices", "List the NVIDIA GPUs of this machine");
    command->add_flag("--json", *json, "Print JSON, with the limits that the driver states");
    command->callback([json, &chosen] {
        chosen = [json] {
            const auto found = gpu::devices();
            return print(*json ? as_json(found) : as_text(found));
        };
    });
}

}  // namespace tilescope::cli
