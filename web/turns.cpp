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
// call(work) on a stack that it frees, of so many bytes; returns as soon as that is suspended or over. Without one: at its end.
void page_begin(void (*call)(void*), void* work, void* stack, size_t bytes);
void page_pause(int window);    // suspends what calls it until the browser has had its turn
void page_loop(int (*call)());  // call() before each picture of the browser, until it returns 0
}

namespace tilescope::web {
namespace {

constexpr double kMoment = 6;               // ms, of the 16 that a picture has
constexpr size_t kStack = size_t{1} << 20;  // bytes, of each work

// What runs just now.
struct Running {
    bool work = false;      // work, not the window
    bool pausable = false;  // it was called so that it can be suspended
    double since = 0;       // ms, since when it runs
};
Running running;

struct Work {
    std::function<void()> work;
    bool pausable;
};

struct PageTurns final : Turns {
    void begin(std::function<void()> work) override {
        const Running before = running;
        // Without memory for a stack of its own it is called as any function is, and ends in a sentence.
        void* const stack = page_can_pause() != 0 ? std::malloc(kStack) : nullptr;
        page_begin(run, new Work{std::move(work), stack != nullptr}, stack, kStack);
        running = before;
    }
    static void run(void* work) {
        const std::unique_ptr<Work> mine(static_cast<Work*>(work));
        running = {true, mine->pausable, emscripten_get_now()};
        mine->work();
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

bool may_wait() { return running.pausable; }

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
