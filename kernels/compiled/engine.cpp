#include "kernels/compiled/engine.h"

#include <chrono>
#include <filesystem>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/base/file.h"
#include "core/base/process.h"
#include "core/base/user_cache.h"

namespace tilescope::compiled {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Warp instructions that the interpreter makes in the time that one compilation takes (tests/bench/engines.cpp), and in
// the time that it takes to look whether there is one.
constexpr uint64_t kWorthCompiling = 25'000'000, kWorthLooking = 1'000'000;
constexpr auto kDeadline = 60s;                      // of one kernel
constexpr uint64_t kMostMemory = uint64_t{4} << 30;  // bytes that the compiler may take for it
constexpr size_t kLargestText = 4 << 20;
// Blocks that compiled code may give up, beside a share of those that it ran.
constexpr uint64_t kMostGivenUp = 8, kShareGivenUp = 64;

std::vector<std::string> flags() {
    std::vector<std::string> words = {"-x",
                                      "c",
                                      "-std=gnu11",
                                      "-w",
                                      "-O2",
                                      "-fPIC",
                                      "-shared",
                                      "-ffp-contract=off",
                                      "-fno-math-errno",
                                      "-fno-strict-aliasing",
                                      "-fwrapv",
                                      "-fvisibility=hidden",
                                      "-nostdlib",
                                      "-fno-stack-protector"};
    if (simt::processor_has_avx2()) words.insert(words.end(), {"-mavx2", "-mfma", "-mbmi", "-mbmi2"});
    return words;
}

// Without a fused multiplication, each lane's is a call, and the interpreter is as fast.
bool is_faster() {
#if defined(__x86_64__)
    return simt::processor_has_avx2();
#else
    return true;
#endif
}

RunFunction load(const fs::path& path, std::string& why) {
    if (why = why_not_ours(path); !why.empty()) return nullptr;
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* const said = dlerror();
        why = said ? said : "it cannot be loaded";
        return nullptr;
    }
    void* const run = dlsym(library, "run");
    if (!run) why = "it has no function run";
    return reinterpret_cast<RunFunction>(run);
}

}  // namespace

std::optional<EngineChoice> engine_of(std::string_view name) {
    if (name.empty() || name == "auto") return EngineChoice::Automatic;
    if (name == "interpreted") return EngineChoice::Interpreted;
    if (name == "compiled") return EngineChoice::Compiled;
    return {};
}

Library::~Library() { end(); }

void Library::end() {
    stop_ = true;
    const std::lock_guard lock(mutex_);
    for (const auto& [key, entry] : entries_) {
        const std::lock_guard joining(entry->mutex);
        if (entry->maker.joinable()) entry->maker.join();
    }
}

bool Library::is_empty() const {
    const std::lock_guard lock(mutex_);
    return entries_.empty();
}

Result<Compiler> Library::clang() {
    const std::lock_guard lock(clang_mutex_);
    if (!clang_) clang_ = find_clang();
    return *clang_;
}

void Library::make(Entry& entry, const std::string& text, bool from_cache) {
    const auto fail = [&](std::string why) {
        entry.why = std::move(why);
        entry.failed = true;
    };
    const auto folder = cache_folder("kernels");
    if (!folder) return fail(folder.error().message);
    if (stop_) return fail("the program ends");
    const auto clang = this->clang();
    if (!clang) return fail(clang.error().message);
    std::vector<std::string> words = flags();
    Digest digest;
    digest.add(clang->version).add(text);
    for (const std::string& word : words) digest.add(word);
    const fs::path path = *folder / (digest.text() + ".so");
    std::error_code error;
    std::string why;
    if (fs::exists(path, error)) {
        if (const RunFunction run = load(path, why)) {
            fs::last_write_time(path, fs::file_time_type::clock::now(), error);
            entry.run = run;
            return;
        }
        fs::remove(path, error);
    }
    if (from_cache) return fail("it is not in the cache");
    tidy(*folder);
    auto work = WorkFolder::make(*folder);
    if (!work) return fail(work.error().message);
    const fs::path source = work->path() / "kernel.c", made = work->path() / "kernel.so";
    if (why = write_whole(source.string(), text); !why.empty()) return fail(why);
    words.insert(words.begin(), clang->path);
    words.insert(words.end(), {"-o", made.string(), source.string()});
    const auto ran = run_process(std::move(words), kDeadline, &stop_, kMostMemory);
    if (!ran) return fail(ran.error().message);
    if (ran->status != 0 || ran->stopped || ran->too_late)
        return fail(ran->too_late
                        ? "the compiler took too long for it"
                        : fmt::format("the compiler does not compile it: {}", ran->err.substr(0, 200)));
    if (why = put_in_place(made, path); !why.empty()) return fail(why);
    if (const RunFunction run = load(path, why))
        entry.run = run;
    else
        fail(why);
}

std::shared_ptr<Library::Entry> Library::find(const std::string& text, bool make_it, bool wait) {
    const std::string key = Digest().add(text).text();
    std::shared_ptr<Entry> entry;
    {
        const std::lock_guard lock(mutex_);
        std::shared_ptr<Entry>& at = entries_[key];
        const bool is_new = !at;
        if (is_new) at = std::make_shared<Entry>();
        entry = at;
        const std::lock_guard making(entry->mutex);
        // What was only looked for in the cache may be made now.
        if (is_new || (make_it && !entry->wanted && !entry->run)) {
            entry->wanted = entry->wanted || make_it;
            start(*entry, text, !make_it);
        }
    }
    if (!wait) return entry;
    const std::lock_guard joining(entry->mutex);
    if (entry->maker.joinable()) entry->maker.join();
    return entry;
}

// Makes it on a thread of its own, behind what the entry's last one did.
void Library::start(Entry& entry, const std::string& text, bool from_cache) {
    if (entry.maker.joinable()) entry.maker.join();
    entry.failed = false;
    entry.maker = std::jthread([this, &entry, text, from_cache] {
        try {
            make(entry, text, from_cache);
        } catch (const std::exception& error) {
            entry.why = error.what();
            entry.failed = true;
        }
    });
}

LaunchEngine::LaunchEngine(Library& library, const simt::Program& program, const Launch& launch,
                           EngineChoice choice, const History& history, std::atomic<Phase>* phase)
    : library_(library),
      program_(program),
      launch_(launch),
      choice_(choice),
      phase_(phase ? phase : &own_phase_) {
    if (choice == EngineChoice::Interpreted || (choice == EngineChoice::Automatic && !is_faster()))
        off_ = true;
    if (choice == EngineChoice::Compiled) look(true, true);
    // Kernels that are launched again and again are worth it in the end.
    if (choice == EngineChoice::Automatic && history.latest > kWorthLooking)
        look(history.all > kWorthCompiling, false);
}

// Only one thread of a launch looks; the others go on.
void LaunchEngine::look(bool make, bool wait) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    try {
        look_locked(make, wait);
    } catch (const std::exception& error) {
        kernel_ = Error{error.what()};
        off_ = true;
    }
}

void LaunchEngine::look_locked(bool make, bool wait) {
    if (off_ || run_ || (make ? asked_ : looked_)) return;
    (make ? asked_ : looked_) = true;
    if (!kernel_) kernel_ = make_kernel(program_, launch_);
    if (*kernel_ && (*kernel_)->text.size() > kLargestText) kernel_ = Error{"it is too long to be compiled"};
    if (!*kernel_) {
        off_ = true;
        return;
    }
    blocks_communicate_ = (*kernel_)->blocks_communicate;
    entry_ = library_.find((*kernel_)->text, make, wait);
    if (make) enter(Phase::Compiling);
    if (wait && (run_ = entry_->run.load())) enter(Phase::Compiled);
}

std::unique_ptr<simt::BlockRunner> LaunchEngine::runner(const simt::RunOptions& options,
                                                        const std::vector<simt::View>& views) {
    if (off_) return nullptr;
    // Its blocks could not be taken back while others run.
    if (blocks_communicate_ && options.threads != 1) {
        off_ = true;
        enter(Phase::Interpreted);
        return nullptr;
    }
    if (!run_) {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (!lock || !entry_) return nullptr;
        const RunFunction run = entry_->run;
        if (!run && entry_->failed) enter(Phase::Interpreted);
        if (!run) return nullptr;
        run_ = run;
        enter(Phase::Compiled);
    }
    return make_runner(**kernel_, run_, options, views);
}

void LaunchEngine::interpreted(uint64_t instructions) {
    if (off_ || run_) return;
    const uint64_t all = instructions_ += instructions, blocks = ++interpreted_;
    const uint64_t left = launch_.grid.count() - std::min(launch_.grid.count(), blocks);
    const double rest = static_cast<double>(all) / static_cast<double>(blocks) * static_cast<double>(left);
    if (rest > static_cast<double>(kWorthCompiling))
        look(true, false);
    else if (rest > static_cast<double>(kWorthLooking) && all > kWorthLooking)
        look(false, false);
}

bool LaunchEngine::compiled(bool ran) {
    if (ran) {
        ++compiled_;
        return true;
    }
    if (++given_up_ <= kMostGivenUp + compiled_ / kShareGivenUp) return true;
    off_ = true;
    enter(Phase::Interpreted);
    return false;
}

std::string LaunchEngine::why_not() const {
    const std::lock_guard lock(mutex_);
    if (kernel_ && !*kernel_) return kernel_->error().message;
    if (entry_ && entry_->failed) return entry_->why;
    if (blocks_communicate_ && off_)
        return "its blocks wait for each other, and several CPU threads run them";
    return "";
}

}  // namespace tilescope::compiled
