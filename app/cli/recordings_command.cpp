// tilescope recordings [--json]: the recordings from real GPUs that are built into the program, a line each;
// --save NAME -o FILE.tsc writes one out.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/output.h"
#include "core/base/version.h"
#include "core/trace/file.h"
#include "kernels/textbook/shipped.h"

namespace tilescope::cli {

namespace {

using kernels::ShippedRecording;

struct Options {
    bool json = false;
    std::string save, output;
};

std::string as_text() {
    size_t name = 0, label = 0, device = 0;
    for (const ShippedRecording& recording : kernels::shipped_recordings()) {
        name = std::max(name, recording.name.size());
        label = std::max(label, recording.label.size());
        device = std::max(device, recording.device.size());
    }
    std::string text;
    for (const ShippedRecording& recording : kernels::shipped_recordings()) {
        text += fmt::format("{:{}}  {:{}}  {:{}}  {}\n", recording.name, name, recording.label, label,
                            recording.device, device, recording.date);
    }
    return text.empty() ? "No recordings from a real GPU are built into this tilescope.\n" : text;
}

// ordered_json: keys stay in the order in which a person reads them.
std::string as_json() {
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    for (const ShippedRecording& recording : kernels::shipped_recordings()) {
        list.push_back({{"name", recording.name},
                        {"label", recording.label},
                        {"kernel", recording.kernel},
                        {"m", recording.m},
                        {"k", recording.k},
                        {"n", recording.n},
                        {"tile", recording.tile},
                        {"device", recording.device},
                        {"driver", recording.driver},
                        {"date", recording.date},
                        {"command", recording.command},
                        {"bytes", recording.bytes.size()}});
    }
    const Json all{{"schema", "tilescope.recordings/1"}, {"version", kVersion}, {"recordings", list}};
    return all.dump(2) + "\n";
}

int save(const Options& options) {
    const ShippedRecording* recording = kernels::find_shipped_recording(options.save);
    if (!recording) {
        return fail(kWrongCall, fmt::format("no recording '{}' ships; 'tilescope recordings' lists those "
                                            "that do",
                                            options.save));
    }
    const std::string output = options.output.empty() ? recording->name + ".tsc" : options.output;
    if (auto good = check_output(output); !good) return fail(kFailure, good.error().message);
    const auto trace = kernels::open_shipped(*recording);
    if (!trace) return fail(kFailure, trace.error().message);
    if (auto good = trace::write_file(*trace, output); !good) return fail(kFailure, good.error().message);
    return print(fmt::format("{}: {}\n", output, recording->label));
}

int run_recordings(const Options& options) {
    if (!options.save.empty()) return save(options);
    if (!options.output.empty())
        return fail(kWrongCall, "-o names where --save writes to; give --save NAME too");
    return print(options.json ? as_json() : as_text());
}

}  // namespace

void add_recordings(CLI::App& app, Chosen& chosen) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("recordings", "List the recordings from real GPUs that ship, or save one");
    command->add_flag("--json", options->json, "Print JSON, with sizes and the command that made each");
    command->add_option("--save", options->save, "Write the recording of this name to a file");
    command->add_option("-o,--output", options->output, "The file to write (NAME.tsc)");
    command->callback([options, &chosen] { chosen = [options] { return run_recordings(*options); }; });
}

}  // namespace tilescope::cli
