// Taking turns on a page's one thread (core/base/turns.h). Where the browser can suspend WebAssembly (JavaScript Promise
// Integration), work that has run for a moment is suspended and goes on after the browser has had its turn; elsewhere work
// runs to its end as it begins, and the page stands still meanwhile.
//
// A turn of the window and a piece of work are each called by the page (web/page.js) so that page_pause() can suspend them.
#include "web/turns.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include <emscripten.h>

extern "C" {
// Of the page (web/page.js).
int page_can_pause();
void page_begin(void (*call)(void*), void* work);  // call(work); returns as soon as that is suspended or over
void page_pause(int window);    // suspends what calls it until the browser has had its turn
void page_loop(int (*call)());  // call() before each picture of the browser, until it returns 0
}

namespace tilescope::web {
namespace {

constexpr double kMoment = 6;  // ms, of the 16 that a picture has

// What runs just now.
struct Running {
    bool work = false;      // work, not the window
    bool pausable = false;  // it was called so that it can be suspended
    double since = 0;       // ms, since when it runs
};
Running running;

struct PageTurns final : Turns {
    void begin(std::function<void()> work) override {
        const Running before = running;
        page_begin(run, new std::function<void()>(std::move(work)));
        running = before;
    }
    static void run(void* work) {
        running = {true, page_can_pause() != 0, emscripten_get_now()};
        const std::unique_ptr<std::function<void()>> mine(static_cast<std::function<void()>*>(work));
        (*mine)();
        running = {};
    }
    void pause() override {
        if (!running.work || !running.pausable || --calls_ > 0) return;
        // The time is a call out of WebAssembly: work that asks a thousand times a moment asks for it less often.
        const double now = emscripten_get_now();
        stride_ = now - asked_ < kMoment / 16 ? std::min(2 * stride_, 64) : 1;
        calls_ = stride_, asked_ = now;
        if (now - running.since >= kMoment) suspend();
    }
    void wait(const std::function<bool()>& ready) override {
        while (!ready()) suspend();
    }
    static void suspend() {
        if (!running.pausable) abort();  // it would wait for ever for what cannot go on
        Running self = running;
        running = {};
        page_pause(!self.work);
        self.since = emscripten_get_now();
        running = self;
    }

private:
    int stride_ = 1, calls_ = 0;
    double asked_ = 0;
};

}  // namespace

void take_turns(std::function<bool()> window) {
    static PageTurns page;
    static std::function<bool()> turn;
    turns = &page;
    turn = std::move(window);
    page_loop([] {
        running = {false, page_can_pause() != 0, emscripten_get_now()};
        const bool goes_on = turn();
        running = {};
        return goes_on ? 1 : 0;
    });
}

}  // namespace tilescope::web
