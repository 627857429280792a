// tilescope kernels [--json]: what ships, a line each.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "core/base/version.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::cli {

namespace {

const char* name_of(Schedule::Kind kind) { return kind == Schedule::Kind::Greedy ? "greedy" : "fair"; }

std::string as_text() {
    size_t width = 0;
    for (const kernels::KernelInfo& info : kernels::catalogue()) width = std::max(width, info.name.size());
    std::string text;
    for (const kernels::KernelInfo& info : kernels::catalogue())
        text += fmt::format("{:{}}  {}\n", info.name, width, info.teaches);
    return text;
}

// ordered_json: keys stay in the order in which a person reads them.
std::string as_json() {
    using Json = nlohmann::ordered_json;
    Json list = Json::array();
    for (const kernels::KernelInfo& info : kernels::catalogue()) {
        Json shared = Json::array();
        for (const kernels::SharedArray& array : info.shared)
            shared.push_back({{"name", array.name}, {"extra_cols", array.extra_cols}});
        list.push_back({{"name", info.name},
                        {"teaches", info.teaches},
                        {"source", "kernels/" + info.name + ".cu"},
                        {"tiles", kernels::kTiles},
                        {"swapped", info.swapped},
                        {"shared", shared},
                        {"schedule", name_of(info.default_schedule.kind)}});
    }
    Json presets = Json::array();
    for (const kernels::Preset& preset : kernels::presets()) {
        const kernels::Shape& shape = preset.shape;
        presets.push_back({{"label", preset.label},
                           {"kernel", preset.kernel},
                           {"m", shape.m},
                           {"k", shape.k},
                           {"n", shape.n},
                           {"tile", shape.tile}});
    }
    const Json all{
        {"schema", "tilescope.kernels/1"}, {"version", kVersion}, {"kernels", list}, {"presets", presets}};
    return all.dump(2) + "\n";
}

}  // namespace

void add_kernels(CLI::App& app, Chosen& chosen) {
    auto json = std::make_shared<bool>(false);
    CLI::App* command = app.add_subcommand("kernels", "List the kernels that ship and what each one teaches");
    command->add_flag("--json", *json, "Print JSON, with tile widths, shared arrays and presets");
    command->callback([json, &chosen] { chosen = [json] { return print(*json ? as_json() : as_text()); }; });
}

}  // namespace tilescope::cli
