// Long launches that nobody records, by compiled kernels:
//
//   blocks of a launch       interpreted  interpreted  interpreted | compiled  compiled ...
//   beside them                   clang compiles the kernel        |
//
// Compiling begins when the interpreter would need longer for the rest of the launch. What was compiled is kept, in the
// process and in the user's cache (kernels/KEY.so; KEY is the digest of the C text, the compiler and its flags).
// Whatever fails on that road leaves the launch to the interpreter.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/clang.h"
#include "core/compiled/kernel.h"

namespace tilescope::compiled {

// Automatic: compiled where that is worth while. Compiled: from the first block on, where the kernel can be compiled.
enum class EngineChoice : uint8_t { Automatic, Interpreted, Compiled };
// Of "auto", "interpreted" and "compiled"; none of another word.
std::optional<EngineChoice> engine_of(std::string_view name);

// The kernels that one process has compiled, or is compiling.
class Library {
public:
    Library() = default;
    ~Library();
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    struct Entry {
        std::atomic<RunFunction> run{nullptr};
        std::atomic<bool> failed{false};
        std::string why;      // it failed
        bool wanted = false;  // not only looked for in the cache

    private:
        friend Library;
        std::mutex mutex;  // for the maker
        std::jthread maker;
    };
    // The entry of a text, which is looked for in the cache and, with `make`, compiled. wait: until that has ended.
    std::shared_ptr<Entry> find(const std::string& text, bool make, bool wait);
    // Ends the compiler, where it runs; nothing is made any more.
    void end();
    bool is_empty() const;  // nothing was ever asked for

private:
    void make(Entry& entry, const std::string& text, bool from_cache);
    void start(Entry& entry, const std::string& text, bool from_cache);
    Result<Compiler> clang();

    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Entry>> entries_;  // by digest
    std::mutex clang_mutex_;
    std::optional<Result<Compiler>> clang_;  // once it was looked for
    std::atomic<bool> stop_{false};
};

// What runs the blocks that begin now.
enum class Phase : uint8_t { Interpreted, Compiling, Compiled };

// What earlier launches of a kernel took: warp instructions of all of them, and of the latest.
struct History {
    uint64_t all = 0, latest = 0;
};

// The engine of one launch. All that it is given must outlive it.
class LaunchEngine final : public simt::BlockEngine {
public:
    LaunchEngine(Library& library, const simt::Program& program, const Launch& launch, EngineChoice choice,
                 const History& history = {}, std::atomic<Phase>* phase = nullptr);

    std::unique_ptr<simt::BlockRunner> runner(const simt::RunOptions& options,
                                              const std::vector<simt::View>& views) override;
    void interpreted(uint64_t instructions) override;
    bool compiled(bool ran) override;

    // Blocks that compiled code ran.
    uint64_t blocks_compiled() const { return compiled_; }
    // Blocks that it began and left to the interpreter.
    uint64_t blocks_given_up() const { return given_up_; }
    // Why the kernel is not compiled, where that was tried; else "".
    std::string why_not() const;

private:
    void look(bool make, bool wait);
    void look_locked(bool make, bool wait);
    void enter(Phase phase) { *phase_ = phase; }

    Library& library_;
    const simt::Program& program_;
    const Launch& launch_;
    const EngineChoice choice_;
    mutable std::mutex mutex_;  // for what follows
    std::optional<Result<Kernel>> kernel_;
    std::shared_ptr<Library::Entry> entry_;
    bool asked_ = false, looked_ = false;

    std::atomic<Phase> own_phase_{Phase::Interpreted};
    std::atomic<Phase>* phase_;
    std::atomic<RunFunction> run_{nullptr};
    std::atomic<bool> off_{false}, blocks_communicate_{false};
    std::atomic<uint64_t> instructions_{0}, interpreted_{0}, compiled_{0}, given_up_{0};
};

}  // namespace tilescope::compiled
