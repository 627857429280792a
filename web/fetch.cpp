// Recordings that ship are files beside the page, fetched when they are opened.
#include "web/fetch.h"

#include <fmt/format.h>

#include "core/base/turns.h"

extern "C" {
// Of the page (web/page.js).
int page_can_pause();
// Begins to fetch; returns at the end of it where it may not be waited for.
void page_fetch_beside(const char* path, int may_wait);
int page_beside_bytes(const char* path);  // bytes; -1 while it is on its way, -2 where it cannot be had
void page_take_beside(const char* path, char* bytes);  // copies and forgets them
}

namespace tilescope::web {

Result<std::string> fetch_recording(const std::string& name) {
    const std::string path = fmt::format("recordings/{}.tsc", name);
    page_fetch_beside(path.c_str(), turns != nullptr && page_can_pause() != 0);
    const auto there = [&] { return page_beside_bytes(path.c_str()) != -1; };
    if (!there()) turns->wait(there);
    const int bytes = page_beside_bytes(path.c_str());
    if (bytes < 0)
        return Error{fmt::format(
            "the recording {} could not be fetched from beside this page; see whether the network is "
            "there, then open it again",
            name)};
    std::string text(static_cast<size_t>(bytes), '\0');
    page_take_beside(path.c_str(), text.data());
    return text;
}

}  // namespace tilescope::web
