// The time of day as files state it.
#pragma once

#include <ctime>
#include <string>

namespace tilescope {

// UTC, ISO 8601: "2026-11-21T04:05:06Z"
inline std::string now_utc() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[32];
    const size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return {text, length};
}

}  // namespace tilescope
