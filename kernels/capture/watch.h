// What the library knows of the process that it was loaded into, and does at each call of the driver that CUPTI tells
// it of.
//
//   a module or library is loaded    where its PTX is (code_image.h)
//   a tensor map is made             what it says (kernels/launched/tensor_maps.h)
//   a kernel is launched             counted; now and then timed by two events around it; recorded, where it is chosen
//
// Nothing here may end or change the program: what goes wrong is said in the launch's line.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/capture/code_image.h"
#include "kernels/capture/driver_calls.h"
#include "kernels/capture/launch_rows.h"
#include "kernels/capture/record.h"
#include "kernels/launched/orders.h"

namespace tilescope::capture {

class ProcessWatch {
public:
    explicit ProcessWatch(launched::Orders orders);

    void loaded(void* handle, const void* image);
    void loaded_file(void* handle, const char* path);
    void unloaded(void* handle);
    void graph_launched();
    // Behind the call that made a tensor map. moving() comes before the call that gives a map another address, moved()
    // behind it, in the same thread.
    void made(const TiledMapParameters& given);
    void made(const Im2colMapParameters& given);
    void moving(const MoveMapParameters& given);
    void moved(const MoveMapParameters& given);
    // Around a launch, both in the thread that launches.
    void before(void* function, const SeenLaunch& launch);
    void behind();

    // What the calling thread's program says of the launch that comes next; "" for nothing.
    static void tell(const char* launch) { told_ = launch; }

    void tell_problem(const std::string& problem);
    // Writes what has not been written yet; at the end of the process.
    void finish();

private:
    struct WatchedKernel : CountedKernel {
        void* owner = nullptr;   // the CUmodule or CUlibrary that it is of
        void* module = nullptr;  // the CUmodule that has its variables
        std::shared_ptr<const CodeImage> image;
    };
    struct TimedLaunch {
        CountedRow* row = nullptr;
        void *context = nullptr, *stream = nullptr, *begin = nullptr, *end = nullptr;
    };

    bool open();
    WatchedKernel& kernel_of(void* function);
    void time(CountedRow& row, const SeenLaunch& launch);
    void collect_times();
    void* event_in(void* context);
    uint32_t capability() const;  // 90, of the current context's device
    bool is_captured(const SeenLaunch& launch) const;
    void record(WatchedKernel& kernel, CountedRow& row, const SeenLaunch& launch);
    Result<std::shared_ptr<gpu::Device>> device();
    void write_rows(bool at_once);
    void write(const std::string& lines) const;

    std::mutex mutex_;
    const int pid_;
    const launched::Orders orders_;
    const std::string file_;
    bool opened_ = false, usable_ = false;
    CaptureApi api_;
    PtxCaches caches_;
    LaunchRows rows_;
    launched::CapturedNote note_;
    bool note_changed_ = false;
    std::unordered_map<void*, std::unique_ptr<WatchedKernel>> kernels_;  // by handle
    launched::DriverMaps maps_;
    std::unordered_map<void*, std::shared_ptr<const CodeImage>> images_;  // by CUmodule or CUlibrary
    std::map<void*, std::shared_ptr<gpu::Device>> devices_;               // by context
    std::deque<TimedLaunch> timed_;                                       // whose events are not over
    std::map<void*, std::vector<void*>> events_;  // by context: those to be used again
    std::chrono::steady_clock::time_point written_{};
    static thread_local TimedLaunch now_;
    static thread_local std::string told_;
    static thread_local std::optional<ptx::TensorMap> moving_;
};

}  // namespace tilescope::capture
