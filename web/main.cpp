// The program in a page: the window, a turn of which the browser takes before it draws.
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "app/app.h"
#include "app/platform/abilities.h"
#include "app/session/settings.h"
#include "kernels/textbook/shipped.h"
#include "web/fetch.h"
#include "web/turns.h"

extern "C" {
// Of the page (web/page.js).
void page_restore(const char* path);
void page_shown();
void page_failed(const char* sentence);
}

namespace tilescope::app {
namespace {

// As long as the page: main returns at once, and the browser goes on.
std::unique_ptr<Window> window;

// What the program cannot go on from.
bool end(const std::string& sentence) {
    page_failed(sentence.c_str());
    return false;
}

bool turn() try {
    static bool shown = false;
    if (window->due()) window->turn();
    if (!std::exchange(shown, true)) page_shown();
    return true;
} catch (const std::bad_alloc&) {
    return end(
        "This takes more memory than a page has. Load it anew to go on at this step; the installed program "
        "opens and records more.");
} catch (const std::exception& why) {
    return end(
        fmt::format("Tilescope had to stop ({}). Load the page anew to go on at this step.", why.what()));
} catch (...) {  // of JavaScript's
    return end("Tilescope had to stop. Load the page anew to go on at this step.");
}

Result<void> start() {
    kernels::fetch_shipped = web::fetch_recording;
    umask(022);  // emscripten begins with one that makes files nobody may read
    const session::SettingsFiles files = session::settings_files();
    for (const std::string& file : {files.settings, files.state}) page_restore(file.c_str());
    std::error_code error;
    std::filesystem::create_directories(platform::kHandedOver, error);
    auto state = first_state({});  // the window takes up the theme that is remembered
    if (!state) return state.error();
    window = std::make_unique<Window>(std::move(*state), false);
    if (auto opened = window->open(); !opened) return opened;
    web::take_turns(turn);
    return {};
}

}  // namespace
}  // namespace tilescope::app

int main() {
    if (auto started = tilescope::app::start(); !started)
        return page_failed(started.error().message.c_str()), 1;
    return 0;
}
