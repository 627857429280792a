// Finds text that cannot be read.
#pragma once

#include <algorithm>
#include <string>

#include "app/draw/ui.h"

namespace tilescope::app {

// Of the text that lies on the page, what is cut, leaves the window, or lies on another.
inline std::string spoilt(const draw::Inspection& seen, int width, int height) {
    std::string all;
    for (size_t at = 0; at < seen.texts.size(); ++at) {
        const draw::Written& one = seen.texts[at];
        if (one.cut) all += "cut: " + one.text + "\n";
        if (one.min.x < 0 || one.min.y < 0 || one.max.x > static_cast<float>(width) ||
            one.max.y > static_cast<float>(height))
            all += "outside: " + one.text + "\n";
        for (size_t other = 0; other < at; ++other) {
            const draw::Written& before = seen.texts[other];
            // Lines of text stand as close as their heights allow.
            const float over = std::min(one.max.y, before.max.y) - std::max(one.min.y, before.min.y);
            const float beside = std::min(one.max.x, before.max.x) - std::max(one.min.x, before.min.x);
            if (one.list == before.list && over > 3 && beside > 1)
                all += "'" + one.text + "' lies on '" + before.text + "'\n";
        }
    }
    return all;
}

}  // namespace tilescope::app
