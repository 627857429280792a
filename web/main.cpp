// The program in a page: the window, a turn of which the browser takes before it draws.
#include <memory>

#include <emscripten.h>

#include "app/app.h"

extern "C" {
// Of the page (web/page.js).
void page_shown();
void page_failed(const char* sentence);
}

int main() {
    using namespace tilescope;
    auto state = app::first_state(draw::Theme::Light);
    if (!state) return page_failed(state.error().message.c_str()), 1;
    // As long as the page: main returns at once, and the browser goes on.
    static std::unique_ptr<app::Window> window;
    window = std::make_unique<app::Window>(std::move(*state), false);
    if (auto opened = window->open(); !opened) return page_failed(opened.error().message.c_str()), 1;
    window->turn();
    page_shown();
    const auto turn = [] {
        if (window->due()) window->turn();
    };
    emscripten_set_main_loop(turn, 0, false);
    return 0;
}
