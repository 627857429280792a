// Recordings that ship are files beside the page, fetched when they are opened.
#include "web/fetch.h"

#include <fmt/format.h>

#include "web/turns.h"

extern "C" {
// Of the page (web/page.js).
// Begins to fetch a file, and gives this fetch a number; returns at its end where it may not be waited for.
int page_fetch_beside(const char* path, int may_wait);
int page_beside_bytes(int fetch);               // bytes; -1 while it is on its way, -2 where it cannot be had
void page_take_beside(int fetch, char* bytes);  // copies and forgets them
}

namespace tilescope::web {

Result<std::string> fetch_recording(const std::string& name) {
    const std::string path = fmt::format("recordings/{}.tsc", name);
    const int fetch = page_fetch_beside(path.c_str(), may_wait() ? 1 : 0);
    const auto there = [&] { return page_beside_bytes(fetch) != -1; };
    if (!there()) turns->wait(there);
    const int bytes = page_beside_bytes(fetch);
    if (bytes < 0)
        return Error{fmt::format(
            "the recording {} could not be fetched from beside this page; see whether the network is "
            "there, then open it again",
            name)};
    std::string text(static_cast<size_t>(bytes), '\0');
    page_take_beside(fetch, text.data());
    return text;
}

}  // namespace tilescope::web
