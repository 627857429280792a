#include "app/session/jobs.h"

namespace tilescope::session {

Jobs::~Jobs() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        waiting_.clear();
        for (const auto& control : controls_)
            if (const auto running = control.lock()) running->stop = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

// As many threads as jobs at a time: they are few, and none may wait for another that takes minutes.
void Jobs::post(std::function<void()> work, std::shared_ptr<Control> control) {
    std::unique_lock lock(mutex_);
    std::erase_if(controls_, [](const auto& one) { return one.expired(); });
    controls_.push_back(std::move(control));
    if (turns) {
        lock.unlock();
        return turns->begin(std::move(work));
    }
    waiting_.push_back(std::move(work));
    if (idle_ < waiting_.size())
        threads_.emplace_back([this] { run(); });
    else
        wake_.notify_one();
}

void Jobs::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        if (waiting_.empty()) {
            ++idle_;
            wake_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
            --idle_;
        }
        if (ending_) return;
        std::function<void()> work = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        work();
        work = nullptr;  // what it refers to goes before the thread sleeps
        lock.lock();
    }
}

}  // namespace tilescope::session
