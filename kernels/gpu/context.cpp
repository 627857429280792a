#include "kernels/gpu/context.h"

#include <map>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "kernels/gpu/device_list.h"

namespace tilescope::gpu {

namespace {

using Health = Context::Health;

// One GPU's contexts in this process.
struct ContextSlot {
    std::weak_ptr<Context> live;
    std::shared_ptr<Context> hung;
};

// A process has one driver, and one primary context a GPU: the one place that is global, because they are.
struct Process {
    std::mutex mutex;
    std::string library = kDriverLibrary;
    std::optional<Result<std::shared_ptr<const Driver>>> driver;
    std::map<int, ContextSlot> slots;
};

Process& process() {
    // Never destroyed: contexts may go after everything else that is static.
    static Process* const only = new Process;
    return *only;
}

Result<std::shared_ptr<const Driver>> start_driver(const std::string& library) {
    auto api = open_driver(library);
    if (!api) return api.error();
    auto devices = list_devices(**api);
    if (!devices) return devices.error();
    auto driver = std::make_shared<Driver>();
    driver->api = std::move(*api);
    driver->devices = std::move(*devices);
    return std::shared_ptr<const Driver>(std::move(driver));
}

Result<std::shared_ptr<const Driver>> locked_driver(Process& all) {
    if (!all.driver) all.driver = start_driver(all.library);
    return *all.driver;
}

void lose(Context& context, const std::string& why) {
    context.why = why;
    context.health = Health::Lost;
    context.events.clear();
    if (context.borrowed) return;
    if (context.primary)
        context.api->context_reset(context.device);
    else
        context.api->context_destroy(context.handle);
}

// Whether a new context is well: what an earlier fault left behind shows here.
int check(const Context& context) {
    const int code = context.api->context_set(context.handle);
    return code ? code : context.api->context_synchronize();
}

int retain_primary(Context& context) {
    if (const int code = context.api->context_retain(&context.handle, context.device)) return code;
    const int code = check(context);
    if (code) context.api->context_release(context.device);
    return code;
}

int create_another(Context& context) {
    if (const int code = context.api->context_create(&context.handle, 0, context.device)) return code;
    context.primary = false;
    const int code = check(context);
    if (code) context.api->context_destroy(context.handle);
    return code;
}

int obtain(Context& context) {
    int code = retain_primary(context);
    if (loses_context(code)) {
        context.api->context_reset(context.device);
        code = retain_primary(context);
    }
    return loses_context(code) ? create_another(context) : code;
}

// Whether the kernel of a context that was given up has ended since.
bool has_ended(const Context& hung) {
    if (hung.api->context_set(hung.handle) != kCuSuccess) return false;
    const int code = hung.api->event_query(hung.pending);
    return code == kCuSuccess || loses_context(code);
}

Result<void> has_gpu(const Driver& driver, int ordinal) {
    if (ordinal >= 0 && ordinal < static_cast<int>(driver.devices.size())) return {};
    return Error{fmt::format("there is no GPU number {}; this machine has {}, counted from 0", ordinal,
                             driver.devices.size())};
}

Result<std::shared_ptr<Context>> new_context(const Driver& driver, const DeviceInfo& info) {
    if (info.major < kOldestMajor) {
        return Error{
            fmt::format("{} is too old: it has compute capability {}.{} and {}.0 is needed (Volta, "
                        "2017, or newer); record with --backend cpu",
                        info.name, info.major, info.minor, kOldestMajor)};
    }
    auto context = std::make_shared<Context>();
    context->health = Health::Lost;  // until it is there
    context->api = driver.api;
    context->info = info;
    int code = driver.api->device_get(&context->device, info.ordinal);
    if (!code) code = obtain(*context);
    if (code == kCuDeviceUnavailable) {
        return Error{
            fmt::format("{} could not be opened: {}; another program may hold it alone (nvidia-smi "
                        "shows its compute mode), so end that one or record with --backend cpu",
                        info.name, words_of(*driver.api, code))};
    }
    if (code == kCuOutOfMemory) {
        return Error{
            fmt::format("{} could not be opened: {}; other programs fill its memory (nvidia-smi "
                        "names them), so end one or record with --backend cpu",
                        info.name, words_of(*driver.api, code))};
    }
    if (code) {
        return Error{
            fmt::format("{} could not be opened: {}; start the program again, or record with "
                        "--backend cpu",
                        info.name, words_of(*driver.api, code))};
    }
    context->health = Health::Good;
    return context;
}

}  // namespace

Context::~Context() {
    if (!enter_to_release(*this)) return;
    for (CuEvent event : events) api->event_destroy(event);
    if (borrowed) return;
    if (primary)
        api->context_release(device);
    else
        api->context_destroy(handle);
}

Result<std::shared_ptr<const Driver>> driver() {
    Process& all = process();
    const std::lock_guard lock(all.mutex);
    return locked_driver(all);
}

void use_driver(const std::string& library) {
    Process& all = process();
    const std::lock_guard lock(all.mutex);
    all.library = library;
    all.driver.reset();
    all.slots.clear();
}

Result<std::shared_ptr<Context>> open_context(int ordinal) {
    Process& all = process();
    const std::lock_guard lock(all.mutex);
    const auto driver = locked_driver(all);
    if (!driver) return driver.error();
    const auto& devices = (*driver)->devices;
    if (const auto there = has_gpu(**driver, ordinal); !there) return there.error();
    ContextSlot& slot = all.slots[ordinal];
    if (auto live = slot.live.lock()) {
        if (live->health == Health::Good) return live;
    }
    if (slot.hung) {
        Context& hung = *slot.hung;
        if (!has_ended(hung)) {
            return Error{fmt::format("{} is still busy: {}; wait until it ends, or start the program again",
                                     hung.info.name, hung.why)};
        }
        lose(hung, hung.why);
        slot.hung.reset();
    }
    auto context = new_context(**driver, devices[static_cast<size_t>(ordinal)]);
    if (context) slot.live = *context;
    return context;
}

Result<std::shared_ptr<Context>> borrow_context(CuContext handle, int ordinal) {
    const auto known = driver();
    if (!known) return known.error();
    if (const auto there = has_gpu(**known, ordinal); !there) return there.error();
    auto context = std::make_shared<Context>();
    context->api = (*known)->api;
    context->info = (*known)->devices[static_cast<size_t>(ordinal)];
    context->device = ordinal;
    context->handle = handle;
    context->borrowed = true;
    return context;
}

Result<void> enter(Context& context) {
    if (context.health != Health::Good) {
        return Error{fmt::format("{} cannot be used as it was opened, because {}; open it again",
                                 context.info.name, context.why)};
    }
    if (const int code = context.api->context_set(context.handle))
        return failure(context, code, fmt::format("using {}", context.info.name), "open it again");
    return {};
}

bool enter_to_release(Context& context) {
    return context.health == Health::Good && context.api->context_set(context.handle) == kCuSuccess;
}

Error failure(Context& context, int code, const std::string& what, const std::string& advice) {
    std::string words = words_of(*context.api, code);
    if (loses_context(code) && context.health == Health::Good) {
        context.fault = code;
        lose(context, fmt::format("{} failed ({})", what, words));
    }
    return Error{fmt::format("{} failed: {}; {}", what, words, advice)};
}

void abandon(Context& context, CuEvent pending, const std::string& why) {
    context.why = why;
    context.pending = pending;
    context.health = Health::Hung;
    Process& all = process();
    const std::lock_guard lock(all.mutex);
    all.slots[context.info.ordinal].hung = context.shared_from_this();
}

Result<CuEvent> event_of(Context& context, size_t index) {
    while (context.events.size() <= index) {
        CuEvent event = nullptr;
        if (const int code = context.api->event_create(&event, 0)) {
            return failure(context, code, fmt::format("making a timing event on {}", context.info.name),
                           "start the program again");
        }
        context.events.push_back(event);
    }
    return context.events[index];
}

namespace {

std::string tidy(std::string_view line) {
    std::string text;
    for (const char c : line) {
        const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\0';
        if (!blank)
            text += c;
        else if (!text.empty() && text.back() != ' ')
            text += ' ';
    }
    if (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
}

}  // namespace

std::string first_complaint(std::string_view log) {
    std::string first;
    while (!log.empty()) {
        const size_t end = std::min(log.find('\n'), log.size());
        std::string line = tidy(log.substr(0, end));
        log.remove_prefix(std::min(end + 1, log.size()));
        if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos) return line;
        if (first.empty()) first = std::move(line);
    }
    return first;
}

}  // namespace tilescope::gpu
