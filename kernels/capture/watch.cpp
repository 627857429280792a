#include "kernels/capture/watch.h"

#include <algorithm>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/words.h"
#include "kernels/gpu/driver_api.h"
#include "kernels/run/parameters.h"

namespace tilescope::capture {

namespace {

constexpr size_t kMostTimed = 256;  // launches whose events are waited for
constexpr std::chrono::seconds kBetweenLines{1};
constexpr uint64_t kLaunchesALook = 64;  // at the clock

ptx::TensorMapBytes bytes_of(const void* map) {
    ptx::TensorMapBytes bytes;
    std::memcpy(bytes.data(), map, bytes.size());
    return bytes;
}

// The calls have succeeded: pointers are there, and the rank is one that is.
template <class Parameters>
ptx::TensorMap map_of(const Parameters& given) {
    return ptx::map_of({given.type, given.rank, given.address, given.extents, given.strides,
                        given.element_strides, given.interleave, given.swizzle, given.promotion, given.fill});
}

}  // namespace

thread_local ProcessWatch::TimedLaunch ProcessWatch::now_;
thread_local std::string ProcessWatch::told_;
thread_local std::optional<ptx::TensorMap> ProcessWatch::moving_;

ProcessWatch::ProcessWatch(launched::Orders orders)
    : pid_(getpid()), orders_(std::move(orders)), file_(fmt::format("{}/{}", orders_.launches, pid_)) {
    write(to_json(note_) + "\n");  // that this process uses CUDA
}

void ProcessWatch::write(const std::string& lines) const {
    if (lines.empty() || getpid() != pid_) return;
    const int file = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return;
    [[maybe_unused]] const ssize_t written = ::write(file, lines.data(), lines.size());
    close(file);
}

void ProcessWatch::write_rows(bool at_once) {
    const auto now = std::chrono::steady_clock::now();
    if (!at_once && now - written_ < kBetweenLines) return;
    written_ = now;
    std::string lines;
    for (const launched::CapturedRow& row : rows_.changed()) lines += to_json(row) + "\n";
    if (std::exchange(note_changed_, false)) lines += to_json(note_) + "\n";
    write(lines);
}

void ProcessWatch::tell_problem(const std::string& problem) {
    const std::lock_guard lock(mutex_);
    note_.problem = problem;
    note_changed_ = true;
    write_rows(true);
}

bool ProcessWatch::open() {
    if (std::exchange(opened_, true)) return usable_;
    auto api = open_capture_api();
    usable_ = static_cast<bool>(api);
    if (api) {
        api_ = *api;
    } else {
        note_.problem = api.error().message;
        note_changed_ = true;
        write_rows(true);
    }
    return usable_;
}

void ProcessWatch::loaded(void* handle, const void* image) {
    const std::lock_guard lock(mutex_);
    images_[handle] = std::make_shared<const CodeImage>(image_at(image, caches_));
}

void ProcessWatch::loaded_file(void* handle, const char* path) {
    const std::lock_guard lock(mutex_);
    images_[handle] = std::make_shared<const CodeImage>(image_of_file(path ? path : "", caches_));
}

// The driver may give the handles of its kernels to others.
void ProcessWatch::unloaded(void* handle) {
    const std::lock_guard lock(mutex_);
    images_.erase(handle);
    std::erase_if(kernels_, [&](const auto& one) { return one.second->owner == handle; });
}

void ProcessWatch::graph_launched() {
    const std::lock_guard lock(mutex_);
    ++note_.graphs;
    note_changed_ = true;
}

void ProcessWatch::made(const TiledMapParameters& given) {
    ptx::TensorMap map = map_of(given);
    std::copy_n(given.box, map.rank, map.box.begin());
    const std::lock_guard lock(mutex_);
    maps_.made(bytes_of(given.map), map);
}

void ProcessWatch::made(const Im2colMapParameters& given) {
    ptx::TensorMap map = map_of(given);
    map.im2col = true, map.channels = given.channels, map.pixels = given.pixels;
    std::copy_n(given.lower_corner, map.rank - 2u, map.lower_corner.begin());
    std::copy_n(given.upper_corner, map.rank - 2u, map.upper_corner.begin());
    const std::lock_guard lock(mutex_);
    maps_.made(bytes_of(given.map), map);
}

void ProcessWatch::moving(const MoveMapParameters& given) {
    moving_.reset();
    const std::lock_guard lock(mutex_);
    if (const ptx::TensorMap* const known = given.map ? maps_.find(bytes_of(given.map)) : nullptr)
        moving_ = *known;
}

void ProcessWatch::moved(const MoveMapParameters& given) {
    if (!moving_) return;
    moving_->address = given.address;
    const std::lock_guard lock(mutex_);
    maps_.made(bytes_of(given.map), *moving_);
}

ProcessWatch::WatchedKernel& ProcessWatch::kernel_of(void* function) {
    std::unique_ptr<WatchedKernel>& known = kernels_[function];
    if (known) return *known;
    known = std::make_unique<WatchedKernel>();
    WatchedKernel& kernel = *known;
    const char* name = nullptr;
    void* loaded = function;
    int mode = kCaptureRelaxed;  // of this thread: loading disturbs no graph that is being made
    api_.capture_mode(&mode);
    if (api_.function_name(&name, function) == 0 && name != nullptr) {
        api_.function_module(&kernel.owner, function);
        api_.function_load(function);  // so that no time counts it
    } else if (api_.kernel_name(&name, function) == 0 && name != nullptr) {
        api_.kernel_library(&kernel.owner, function);
        if (api_.kernel_function(&loaded, function) != 0) loaded = nullptr;
    }
    if (loaded) api_.function_module(&kernel.module, loaded);
    api_.capture_mode(&mode);
    kernel.entry = name ? name : "?";
    kernel.name = kernels::plain_name(kernel.entry);
    if (const auto image = images_.find(kernel.owner); image != images_.end()) {
        kernel.image = image->second;
        kernel.ptx = image->second->where;
        kernel.without = image->second->without;
        if (!kernel.ptx.empty() && !has_kernel(*image->second, kernel.entry, capability())) {
            kernel.without = fmt::format(
                "the PTX {} has no such kernel for this device; only its machine code is there", kernel.ptx);
            kernel.ptx.clear();
        }
    } else {
        kernel.without =
            "its machine code was loaded in a way that is not seen, so that its PTX is not known";
    }
    return kernel;
}

uint32_t ProcessWatch::capability() const {
    int device = 0, major = 0, minor = 0;
    api_.context_device(&device);
    api_.device_attribute(&major, gpu::kCuMajor, device);
    api_.device_attribute(&minor, gpu::kCuMinor, device);
    return static_cast<uint32_t>(major * 10 + minor);
}

bool ProcessWatch::is_captured(const SeenLaunch& launch) const {
    int status = 0;
    return api_.capture_status(launch.stream, &status) != 0 || status != 0;
}

void* ProcessWatch::event_in(void* context) {
    std::vector<void*>& kept = events_[context];
    void* event = nullptr;
    if (kept.empty()) return api_.event_create(&event, 0) == 0 ? event : nullptr;
    event = kept.back();
    kept.pop_back();
    return event;
}

void ProcessWatch::time(CountedRow& row, const SeenLaunch& launch) {
    collect_times();
    if (timed_.size() >= kMostTimed || is_captured(launch)) return;
    TimedLaunch timed{&row, nullptr, launch.stream, nullptr, nullptr};
    if (api_.context_current(&timed.context) != 0 || timed.context == nullptr) return;
    timed.begin = event_in(timed.context);
    timed.end = event_in(timed.context);
    if (timed.begin && timed.end && api_.event_record(timed.begin, launch.stream) == 0) now_ = timed;
}

// Those that are over, but for what stands behind one that is not.
void ProcessWatch::collect_times() {
    for (; !timed_.empty() && api_.event_query(timed_.front().end) == 0; timed_.pop_front()) {
        const TimedLaunch& one = timed_.front();
        float ms = 0;
        if (api_.event_elapsed(&ms, one.begin, one.end) == 0)
            rows_.add_time(*one.row, static_cast<double>(ms));
        for (void* event : {one.begin, one.end}) events_[one.context].push_back(event);
    }
}

void ProcessWatch::before(void* function, const SeenLaunch& launch) {
    const std::lock_guard lock(mutex_);
    now_ = {};
    if (!open()) return;
    WatchedKernel& kernel = kernel_of(function);
    CountedRow& row = rows_.seen(kernel, launch.shape);
    if (is_chosen(orders_, kernel, rows_.number())) record(kernel, row, launch);
    if (LaunchRows::is_timed(row)) time(row, launch);
    if (row.row.count == 1 || rows_.number() % kLaunchesALook == 0) write_rows(false);
}

void ProcessWatch::behind() {
    if (!now_.row) return;
    const std::lock_guard lock(mutex_);
    if (api_.event_record(now_.end, now_.stream) == 0) timed_.push_back(now_);
    now_ = {};
}

Result<std::shared_ptr<gpu::Device>> ProcessWatch::device() {
    void* context = nullptr;
    int ordinal = 0;
    if (api_.context_current(&context) != 0 || context == nullptr || api_.context_device(&ordinal) != 0)
        return Error{"the program's context is not known"};
    std::shared_ptr<gpu::Device>& known = devices_[context];
    if (!known || known->lost()) {
        auto made = gpu::Device::borrow(context, ordinal);
        if (!made) return made;
        known = *made;
    }
    return known;
}

void ProcessWatch::record(WatchedKernel& kernel, CountedRow& row, const SeenLaunch& launch) {
    launched::CapturedLaunch line;
    line.number = rows_.number();
    line.row = row.row.id;
    // A graph that is being made launches nothing: another launch of the kernel may be recorded.
    const bool captured = is_captured(launch);
    if (captured && orders_.numbers.empty() && !orders_.every) {
        row.row.remark = "launches that are captured into a CUDA graph are not recorded";
        return;
    }
    ++kernel.recorded;
    uint32_t made_for = 0, capability = 0;
    const auto made = [&]() -> Result<launched::CapturedLaunch> {
        if (captured) return Error{"it is captured into a CUDA graph, and runs later"};
        if (const std::string why = why_not_recorded(launch); !why.empty()) return Error{why};
        if (!kernel.image) return Error{kernel.without};
        auto on = device();
        if (!on) return on.error();
        capability = static_cast<uint32_t>((*on)->info().major * 10 + (*on)->info().minor);
        auto ptx = ptx_of(*kernel.image, kernel.entry, capability, made_for);
        if (!ptx) return ptx.error();
        SeenLaunch with_words = launch;
        with_words.told = told_;
        with_words.maps = &maps_;
        int mode = kCaptureRelaxed;  // of this thread, so that graphs that others make are not disturbed
        api_.capture_mode(&mode);
        auto recorded =
            record_launch(api_, **on, {std::move(*ptx), kernel.name + ".ptx", kernel.entry, kernel.module},
                          with_words, orders_, line.number);
        api_.capture_mode(&mode);
        return recorded;
    }();
    if (made) {
        line = *made;
        line.row = row.row.id;
        if (made_for != 0 && made_for / 10 != capability / 10 && line.remark.empty())
            line.remark =
                fmt::format("its PTX is that for compute capability {}.{}", made_for / 10, made_for % 10);
    } else {
        line.unrecorded = made.error().message;
    }
    write(to_json(line) + "\n");
}

void ProcessWatch::finish() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock || getpid() != pid_) return;
    if (usable_) collect_times();
    write_rows(true);
}

}  // namespace tilescope::capture
