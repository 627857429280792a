// Where there is one thread for all, as in a browser, work and the window take turns on it.
#pragma once

#include <functional>

namespace tilescope {

struct Turns {
    virtual ~Turns() = default;
    virtual void begin(std::function<void()> work) = 0;  // returns at its end, or at its first pause
    virtual void pause() = 0;  // work lets others go on, once it has run for a moment
    virtual void wait(const std::function<bool()>& ready) = 0;  // lets others go on until it is
};

// Null where the system has threads.
inline Turns* turns = nullptr;

// In the middle of work that takes longer than a picture may.
inline void let_others_go_on() {
    if (turns) turns->pause();
}

}  // namespace tilescope
