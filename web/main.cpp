// The program in a page: the window, a turn of which the browser takes before it draws.
#include <memory>
#include <utility>

#include "app/app.h"
#include "kernels/textbook/shipped.h"
#include "web/fetch.h"
#include "web/turns.h"

extern "C" {
// Of the page (web/page.js).
void page_shown();
void page_failed(const char* sentence);
}

int main() {
    using namespace tilescope;
    kernels::fetch_shipped = web::fetch_recording;
    auto state = app::first_state(draw::Theme::Light);
    if (!state) return page_failed(state.error().message.c_str()), 1;
    // As long as the page: main returns at once, and the browser goes on.
    static std::unique_ptr<app::Window> window;
    window = std::make_unique<app::Window>(std::move(*state), false);
    if (auto opened = window->open(); !opened) return page_failed(opened.error().message.c_str()), 1;
    web::take_turns([] {
        static bool shown = false;
        if (window->due()) window->turn();
        if (!std::exchange(shown, true)) page_shown();
    });
    return 0;
}
