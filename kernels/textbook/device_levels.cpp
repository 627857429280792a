#include "kernels/textbook/device_levels.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tilescope::kernels {

// Path and bytes; made by cmake/embed.cmake.
std::vector<std::pair<std::string_view, std::string_view>> embedded_devices();

const analysis::LevelSpec* find_levels(std::string_view id) {
    static const auto known = [] {
        std::map<std::string, analysis::LevelSpec, std::less<>> all;
        for (const auto& [path, text] : embedded_devices()) {
            // A test reads every file that ships; a damaged one is left out here.
            auto levels = analysis::levels_from_json(text, path);
            if (!levels || !*levels) continue;
            const size_t name = path.rfind('/') + 1, end = path.rfind('.');
            all.emplace(path.substr(name, end - name), std::move(**levels));
        }
        return all;
    }();
    const auto at = known.find(id);
    return at == known.end() ? nullptr : &at->second;
}

}  // namespace tilescope::kernels
