// tilescope limits [CASE...] [--device D --threads N --registers N --shared BYTES]: what an SM holds at once,
// by the lecture's sum and by the hardware's.
#include "app/cli/command.h"
#include "core/export/bounds.h"
#include "kernels/textbook/devices.h"

namespace tilescope::cli {

namespace {

struct LimitsOptions {
    std::string preset;
    std::string device;
    std::optional<uint32_t> threads, registers, shared;
    bool list = false, json = false, curves = false;

    OptionTable table() {
        return {
            {"CASE", &preset, "A case that --list lists", "CASE"},
            {"--device", &device, "A device, or a compute capability such as 8.6 (h200)", "DEVICE"},
            {"--threads", &threads, "Threads a block (256)"},
            {"--registers", &registers, "Registers a thread (0: not counted)"},
            {"--shared", &shared, "Bytes of shared memory a block (0)", "BYTES"},
            {"--list", &list, "List the cases and the devices"},
            {"--curves", &curves, "With --json: occupancy over each parameter too"},
            {"--json", &json, "Print JSON (schema tilescope.limits/1)"},
        };
    }
};

report::LimitsCase case_of(const LimitsOptions& options) {
    const bool own = !options.device.empty() || options.threads || options.registers || options.shared;
    if (!options.preset.empty()) {
        const analysis::LimitPreset* const preset = analysis::find_limit_preset(options.preset);
        if (!preset) {
            refuse(kWrongCall, "'{}' is no case of limits; 'tilescope limits --list' lists them",
                   options.preset);
        }
        if (own) {
            refuse(kWrongCall,
                   "a case has its own device and blocks; give a case, or --device, --threads, --registers "
                   "and --shared");
        }
        return {preset->id, preset->title, need(analysis::answer(*preset, kernels::devices()), kWrongCall)};
    }
    const analysis::BlockUse use{.threads = options.threads.value_or(256),
                                 .registers = options.registers.value_or(0),
                                 .shared = options.shared.value_or(0)};
    const auto device =
        need(kernels::device_named(options.device.empty() ? "h200" : options.device), kWrongCall);
    const analysis::BlockAnswer block{fmt::format("{} threads", use.threads), use,
                                      occupancy(device.sm, use, analysis::Sum::Lecture),
                                      occupancy(device.sm, use, analysis::Sum::Hardware),
                                      answer_in_words(nullptr, device, use, kernels::devices())};
    return {"",
            fmt::format("Blocks of {} threads, {} registers a thread, {} bytes of shared memory", use.threads,
                        use.registers, use.shared),
            {device, "", {block}, {}}};
}

int run_limits(const LimitsOptions& options) {
    if (options.list)
        return print(options.json ? report::limit_cases_json(kernels::devices())
                                  : report::limit_cases_text(kernels::devices()));
    const auto found = case_of(options);
    return print(options.json ? to_json(found, options.curves) : to_text(found));
}

}  // namespace

CliCommand limits_command() {
    return command("limits", "What an SM holds at once, by the lecture's sum and the hardware's", run_limits);
}

}  // namespace tilescope::cli
