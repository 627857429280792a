// Work beside the window: recording, opening, replaying, counting, exporting. The window's only threads; where
// there is one for all, jobs take turns with the window on it (core/base/turns.h).
//
//   jobs.start([=](Control& control) { ... return result; })   -->   Job<Result>
//
// A job is given values and returns one; it never touches the state. Where memory ends, a job that returns a
// tilescope::Result returns an Error. Whoever began it asks in a later frame whether it is ready. Copies of a
// Job refer to the same work.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/turns.h"

namespace tilescope::session {

// What a job and the window say to each other while it runs.
struct Control {
    std::atomic<bool> stop{false};  // the result is not wanted any more
    std::atomic<uint64_t> done{0}, total{0};
};

template <class T>
class Job {
public:
    Job() = default;
    Job(std::shared_future<T> result, std::shared_ptr<Control> control)
        : result_(std::move(result)), control_(std::move(control)) {}

    bool begun() const { return control_ != nullptr; }
    // patience: how long to wait for it.
    bool ready(std::chrono::milliseconds patience = {}) const {
        return begun() &&
               result_.wait_for(turns ? std::chrono::milliseconds{} : patience) == std::future_status::ready;
    }
    const T& get() const {  // waits for it
        if (turns && !ready()) turns->wait([&] { return ready(); });
        return result_.get();
    }
    const Control& control() const { return *control_; }
    // The result of a job that is ready, once: the job is then none. wait: until it is ready.
    std::optional<T> take(bool wait = false) {
        if (!ready() && !(wait && begun())) return std::nullopt;
        std::optional<T> result(get());
        *this = {};
        return result;
    }
    void ask_to_stop() {
        if (begun()) control_->stop = true;
    }
    void stop() {  // its result is forgotten
        ask_to_stop();
        *this = {};
    }

private:
    std::shared_future<T> result_;
    std::shared_ptr<Control> control_;
};

class Jobs {
public:
    Jobs() = default;
    ~Jobs();  // asks all that run to end, and waits for them
    Jobs(const Jobs&) = delete;
    Jobs& operator=(const Jobs&) = delete;

    template <class Work>
    auto start(Work work) -> Job<std::invoke_result_t<Work, Control&>> {
        using Result = std::invoke_result_t<Work, Control&>;
        auto control = std::make_shared<Control>();
        auto task = std::make_shared<std::packaged_task<Result()>>(
            [control, work = std::move(work)]() mutable -> Result {
                if constexpr (std::is_constructible_v<Result, Error>) {
                    try {
                        return work(*control);
                    } catch (const std::bad_alloc&) {
                        return Error{"this takes more than this machine's memory; open or record less"};
                    }
                } else {
                    return work(*control);
                }
            });
        post([task] { (*task)(); }, control);
        return {task->get_future().share(), control};
    }

private:
    void post(std::function<void()> work, std::shared_ptr<Control> control);
    void run();

    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::function<void()>> waiting_;
    std::vector<std::weak_ptr<Control>> controls_;
    size_t idle_ = 0;  // threads that wait for work
    bool ending_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace tilescope::session
