// For programs that ask for cuda-samples' header of this name and do not bring it: a stop-watch in
// milliseconds.
#pragma once

#include <chrono>

class StopWatchInterface {
public:
    virtual ~StopWatchInterface() {}
    virtual void start() {
        begun_ = Clock::now();
        running_ = true;
    }
    virtual void stop() {
        last_ = since();
        total_ += last_;
        ++sessions_;
        running_ = false;
    }
    virtual void reset() {
        total_ = last_ = 0;
        sessions_ = 0;
        if (running_) begun_ = Clock::now();
    }
    virtual float getTime() { return running_ ? total_ + since() : total_; }
    virtual float getAverageTime() { return sessions_ > 0 ? total_ / (float)sessions_ : 0.0f; }

private:
    typedef std::chrono::steady_clock Clock;
    float since() const { return std::chrono::duration<float, std::milli>(Clock::now() - begun_).count(); }
    Clock::time_point begun_ = Clock::now();
    float total_ = 0, last_ = 0;
    int sessions_ = 0;
    bool running_ = false;
};
typedef StopWatchInterface StopWatchLinux;

inline bool sdkCreateTimer(StopWatchInterface** timer) { return (*timer = new StopWatchInterface()) != nullptr; }
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
    delete *timer;
    *timer = nullptr;
    return true;
}
inline bool sdkStartTimer(StopWatchInterface** timer) {
    if (*timer) (*timer)->start();
    return true;
}
inline bool sdkStopTimer(StopWatchInterface** timer) {
    if (*timer) (*timer)->stop();
    return true;
}
inline bool sdkResetTimer(StopWatchInterface** timer) {
    if (*timer) (*timer)->reset();
    return true;
}
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) { return *timer ? (*timer)->getAverageTime() : 0.0f; }
inline float sdkGetTimerValue(StopWatchInterface** timer) { return *timer ? (*timer)->getTime() : 0.0f; }
