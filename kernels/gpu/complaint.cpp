#include "kernels/gpu/complaint.h"

#include <algorithm>

namespace tilescope::gpu {

namespace {

std::string tidy(std::string_view line) {
    std::string text;
    for (const char c : line) {
        const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\0';
        if (!blank)
            text += c;
        else if (!text.empty() && text.back() != ' ')
            text += ' ';
    }
    if (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
}

}  // namespace

std::string first_complaint(std::string_view log) {
    std::string first;
    while (!log.empty()) {
        const size_t end = std::min(log.find('\n'), log.size());
        std::string line = tidy(log.substr(0, end));
        log.remove_prefix(std::min(end + 1, log.size()));
        if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos) return line;
        if (first.empty()) first = std::move(line);
    }
    return first;
}

}  // namespace tilescope::gpu
