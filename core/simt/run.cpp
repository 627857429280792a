// A launch: its blocks, one after the other in block order (x fastest), taken by CPU threads; those that wait
// for each other at the grid's barrier in rounds, from one barrier to the next.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "core/base/parallel.h"
#include "core/base/stop.h"
#include "core/base/words.h"
#include "core/simt/machine.h"
#include "core/simt/waiting.h"

namespace tilescope::simt {
namespace {

struct Blocks {
    uint32_t x0, y0, z0, width, height, depth;
    uint64_t count() const { return uint64_t{width} * height * depth; }
    BlockId at(uint64_t i) const {
        return {x0 + static_cast<uint32_t>(i % width), y0 + static_cast<uint32_t>(i / width % height),
                z0 + static_cast<uint32_t>(i / width / height)};
    }
};

Blocks blocks_of(const Launch& launch, const BlockWindow& w) {
    const auto size = [](uint32_t first, uint32_t end, uint32_t most) {
        return first < std::min(end, most) ? std::min(end, most) - first : 0;
    };
    return {w.x0,
            w.y0,
            w.z0,
            size(w.x0, w.x1, launch.grid.x),
            size(w.y0, w.y1, launch.grid.y),
            size(w.z0, w.z1, launch.grid.z)};
}

Result<void> check(const Program& program, const Launch& launch, const RunOptions& options,
                   const Blocks& blocks) {
    if (!program.unknown.empty()) return Error{program.unknown};
    const uint64_t threads = launch.block.count();
    if (threads == 0 || threads > 1024 || launch.block.x > 1024 || launch.block.y > 1024 ||
        launch.block.z > 64)
        return Error{fmt::format(
            "a block of {} × {} × {} threads cannot be launched; choose 1 to 1,024 threads a block",
            launch.block.x, launch.block.y, launch.block.z)};
    if (launch.grid.count() == 0)
        return Error{"a grid without blocks cannot be launched; choose at least one block each way"};
    if (launch.arguments.size() != program.parameters.size())
        return Error{fmt::format("kernel '{}' takes {} parameters and was given {}", program.kernel,
                                 program.parameters.size(), launch.arguments.size())};
    for (size_t i = 0; i < launch.arguments.size(); ++i) {
        const uint64_t wanted = program.parameters[i].bytes, given = launch.arguments[i].object.size();
        if (given != wanted && (given > 0 || wanted > sizeof(uint64_t)))
            return Error{
                fmt::format("parameter {} of kernel '{}' is an object of {} bytes and was given {}; give all "
                            "of its bytes",
                            i + 1, program.kernel, wanted, given > 0 ? given : sizeof(uint64_t))};
    }
    if (blocks.count() == 0) return Error{"the window holds no block of the grid; choose one that does"};
    if (options.schedule.kind == Schedule::Kind::Recorded && blocks.count() != 1)
        return Error{
            fmt::format("a recorded order belongs to one block, but the window holds {}", blocks.count())};
    if (launch.dynamic_shared > kMostSharedBytes ||
        program.shared_bytes + launch.dynamic_shared > kMostSharedBytes)
        return Error{
            fmt::format("kernel '{}' takes {} bytes of shared memory a block, more than the {} that "
                        "a GPU has; choose a smaller block or tile",
                        program.kernel, grouped(program.shared_bytes + launch.dynamic_shared),
                        grouped(kMostSharedBytes))};
    if (program.grid_barrier)
        if (const uint64_t each = Machine::bytes(program, launch, options.values);
            each > (options.memory - std::min(options.memory, program.module_bytes)) / blocks.count())
            return Error{fmt::format(
                "the {} of kernel '{}' wait for each other, so that all run at once, and take {} each, "
                "together more than the {} that are allowed; launch fewer",
                counted(blocks.count(), "block"), program.kernel, bytes_text(each),
                bytes_text(options.memory))};
    if (const uint64_t bytes = memory_of(program, launch, options.values); bytes > options.memory)
        return Error{
            fmt::format("kernel '{}' takes {} for its variables and registers, more than the {} that "
                        "are allowed; choose a smaller block or less memory a thread",
                        program.kernel, bytes_text(bytes), bytes_text(options.memory))};
    return {};
}

// Blocks that are on a GPU at once, here those of the largest (H100, H200: 132 SMs; CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability"), as far as there is memory for them.
uint64_t most_side_by_side(const Program& program, const Launch& launch, const RunOptions& options) {
    constexpr uint64_t kSms = 132, kThreads = 2048, kBlocks = 32;
    const uint64_t fitting =
        (options.memory - program.module_bytes) / Machine::bytes(program, launch, options.values);
    return std::min(fitting, kSms * std::clamp<uint64_t>(kThreads / launch.block.count(), 1, kBlocks));
}

// The aligned access of a kernel must be one of this machine too.
bool aligned(const View& view) { return (view.base - reinterpret_cast<uintptr_t>(view.data)) % 16 == 0; }

}  // namespace

uint64_t memory_of(const Program& program, const Launch& launch, bool values) {
    return program.module_bytes + Machine::bytes(program, launch, values);
}

Result<Outcome> run(const Program& program, const Launch& launch, GlobalMemory& memory,
                    const RunOptions& options, const MakeObserver& make_observer) {
    std::vector<View> views;
    for (Buffer& buffer : memory.buffers) {
        views.push_back({buffer.base, buffer.size(), buffer.data(), buffer.filled});
        if (buffer.base % 16 != 0)
            return Error{fmt::format("buffer {} is at address {:#x}; buffers must be aligned to 16 bytes",
                                     buffer.name, buffer.base)};
    }
    return run(program, launch, views, options, make_observer);
}

Result<Outcome> run(const Program& program, const Launch& launch, const std::vector<View>& memory,
                    const RunOptions& asked, const MakeObserver& make_observer) {
    const Blocks blocks = blocks_of(launch, asked.window);
    std::mutex printing;
    RunOptions options = asked;
    options.threads = threads_of(asked.threads);
    if (asked.print) {
        options.print = [&](std::string_view text) {
            const std::lock_guard lock(printing);
            asked.print(text);
        };
    }
    if (const auto ok = check(program, launch, options, blocks); !ok) return ok.error();
    for (const View& view : memory)
        if (!aligned(view))
            return Error{fmt::format("the memory at address {:#x} is not aligned to 16 bytes", view.base)};
    std::vector<View> views = memory;
    std::vector<Chunk> module_store(program.module_bytes / sizeof(Chunk) + 1);
    std::byte* module_data = module_store.data()->bytes;
    for (const InitialBytes& initial : program.module_initial)
        std::memcpy(module_data + initial.offset, initial.bytes.data(), initial.bytes.size());
    if (program.module_bytes > 0) views.push_back({kModuleWindow, program.module_bytes, module_data});
    std::ranges::sort(views, {}, &View::base);

    const uint64_t total = blocks.count();
    std::atomic<uint64_t> next{0}, first_fault{UINT64_MAX};
    std::mutex mutex;                                   // for what follows
    std::vector<std::pair<uint64_t, uint64_t>> counts;  // block, its instructions
    std::optional<Fault> fault;
    uint64_t fault_block = UINT64_MAX;
    std::string order_problem;
    bool stopped = false;
    std::atomic<uint64_t> flop{0};
    std::vector<uint8_t> touched(views.size());
    std::map<std::pair<uint32_t, Undefined::Kind>, Undefined> undefined;

    // What became of a block.
    const auto note = [&](uint64_t i, BlockEnd how, const Machine& machine) {
        if (how == BlockEnd::Complete || how == BlockEnd::AtGrid || how == BlockEnd::Waits) return;
        const std::lock_guard lock(mutex);
        if (how == BlockEnd::Stopped) stopped = true;
        if (how == BlockEnd::OrderNotFollowed) order_problem = machine.order_problem;
        if (how == BlockEnd::Faulted && i < fault_block) {
            fault_block = i;
            fault = machine.fault;
            first_fault.store(i, std::memory_order_relaxed);
        }
    };
    const auto count = [&](uint64_t i, Machine& machine) {
        const std::lock_guard lock(mutex);
        counts.emplace_back(i, machine.instructions);
        flop += machine.flop;
        for (size_t v = 0; v < views.size(); ++v) touched[v] |= machine.touched[v];
        for (const auto& [key, found] : machine.undefined) join(undefined[key], found);
        machine.undefined.clear();
    };
    const auto stop_is_set = [&] {
        if (!Stop{options.stop}.now()) return false;
        const std::lock_guard lock(mutex);
        stopped = true;
        return true;
    };
    // A block that waits for others is laid aside with its machine, so that these can run.
    Waiting waiting;
    waiting.room = most_side_by_side(program, launch, options);
    // Whether other engines may run blocks: nobody watches, and no order but the usual one is asked for.
    BlockEngine* const engine = make_observer || options.values || options.absent != 0 ||
                                        options.schedule.kind != Schedule::Kind::Fair || program.grid_barrier
                                    ? nullptr
                                    : options.engine;
    const auto run_blocks = [&] {
        std::unique_ptr<Machine> machine;
        std::unique_ptr<BlockRunner> runner;
        for (;;) {
            if (stop_is_set()) {
                waiting.stop_all();
                break;
            }
            Laid block;
            bool new_block = waiting.begin(block);
            if (new_block && (block.number = next.fetch_add(1, std::memory_order_relaxed)) >= total)
                waiting.none_begun(), new_block = false;
            if (!new_block && !waiting.take(block, [&] { return next.load() >= total; })) break;
            if (!new_block && !block.machine) continue;
            const uint64_t failed = first_fault.load(std::memory_order_relaxed);
            if (new_block && block.number > failed) {
                next = total;
                waiting.none_begun();
                continue;
            }
            // Nobody waits for it, or what it waits for does not come, as another block has failed.
            if (block.number > failed || (block.hopeless && failed != UINT64_MAX)) {
                waiting.drop(std::move(block));
                continue;
            }
            BlockEnd how{};
            if (new_block && engine && !runner) runner = engine->runner(options, views);
            if (new_block && runner) {
                const bool ran = runner->run_block(blocks.at(block.number));
                if (!engine->compiled(ran)) runner.reset();
                if (ran) {
                    waiting.end();
                    const std::lock_guard lock(mutex);
                    counts.emplace_back(block.number, runner->instructions);
                    for (size_t v = 0; v < views.size(); ++v) touched[v] |= runner->touched[v];
                    if (options.blocks_done) options.blocks_done->fetch_add(1, std::memory_order_relaxed);
                    continue;
                }
            }
            if (new_block) {
                if (!machine) machine = std::make_unique<Machine>(program, launch, options, views);
                block.machine = std::move(machine);
                const BlockId id = blocks.at(block.number);
                how = block.machine->run_block(id, make_observer ? make_observer(id) : nullptr);
            } else if (block.hopeless) {
                block.machine->wait_in_loops(waiting.laid.size());
                how = BlockEnd::Faulted;
            } else {
                how = block.machine->go_on();
            }
            if (how == BlockEnd::Waits) {
                waiting.lay_aside(std::move(block));
                continue;
            }
            note(block.number, how, *block.machine);
            waiting.end();
            count(block.number, *block.machine);
            if (engine) engine->interpreted(block.machine->instructions);
            if (options.blocks_done) options.blocks_done->fetch_add(1, std::memory_order_relaxed);
            if (how == BlockEnd::Stopped) waiting.stop_all();
            if (how == BlockEnd::Stopped) break;
            machine = std::move(block.machine);
        }
    };

    // Side by side, with a machine for each block.
    std::vector<std::unique_ptr<Machine>> machines(program.grid_barrier ? total : 0);
    std::vector<BlockEnd> how_far(machines.size(), BlockEnd::AtGrid);
    bool some_wait = false;  // in loops: they go on before those that stand at the barrier
    uint64_t news = 0;       // changes of memory and ended blocks, before the round
    const auto run_round = [&] {
        for (;;) {
            const uint64_t i = next.fetch_add(1, std::memory_order_relaxed);
            if (i >= total || i > first_fault.load(std::memory_order_relaxed) || stop_is_set()) break;
            if (machines[i] && some_wait && how_far[i] != BlockEnd::Waits) continue;
            if (machines[i]) {
                how_far[i] = machines[i]->go_on();
            } else {
                const BlockId block = blocks.at(i);
                machines[i] = std::make_unique<Machine>(program, launch, options, views);
                how_far[i] = machines[i]->run_block(block, make_observer ? make_observer(block) : nullptr);
            }
            note(i, how_far[i], *machines[i]);
            if (options.blocks_done && how_far[i] != BlockEnd::AtGrid && how_far[i] != BlockEnd::Waits)
                options.blocks_done->fetch_add(1, std::memory_order_relaxed);
        }
    };
    // Whether the blocks go on to a next round; if some wait for one that has ended, the first says so.
    const auto waits = [&] {
        if (fault || stopped || !order_problem.empty()) return false;
        const auto spinning = std::ranges::find(how_far, BlockEnd::Waits);
        some_wait = spinning != how_far.end();
        if (some_wait) {
            uint64_t now = 1 + static_cast<uint64_t>(std::ranges::count(how_far, BlockEnd::Complete));
            bool exactly = true;
            for (uint64_t i = 0; i < total; ++i) {
                now += machines[i]->changes();
                exactly = exactly && (how_far[i] != BlockEnd::Waits || machines[i]->waits_exactly());
            }
            if (std::exchange(news, now) != now || !exactly) return true;
            const auto i = static_cast<uint64_t>(spinning - how_far.begin());
            machines[i]->wait_in_loops(static_cast<uint64_t>(std::ranges::count(how_far, BlockEnd::Waits)) -
                                       1);
            how_far[i] = BlockEnd::Faulted;
            note(i, BlockEnd::Faulted, *machines[i]);
            return false;
        }
        const auto at_grid = std::ranges::find(how_far, BlockEnd::AtGrid);
        const auto ended = std::ranges::find(how_far, BlockEnd::Complete);
        if (at_grid == how_far.end()) return false;
        if (ended == how_far.end()) return true;
        const auto first = static_cast<uint64_t>(at_grid - how_far.begin());
        const BlockId gone = blocks.at(static_cast<uint64_t>(ended - how_far.begin()));
        machines[first]->wait_for_ever(
            fmt::format("{} has ended", block_name(launch.grid, {gone.x, gone.y, gone.z})));
        how_far[first] = BlockEnd::Faulted;
        note(first, BlockEnd::Faulted, *machines[first]);
        return false;
    };

    // At least one block fits, by check().
    const uint64_t cpu_threads =
        std::min<uint64_t>({options.threads, total, most_side_by_side(program, launch, options)});
    do {
        next = 0;
        on_threads(cpu_threads, [&] {
            try {
                if (program.grid_barrier)
                    run_round();
                else
                    run_blocks();
            } catch (...) {
                next = total;  // no further block is begun
                waiting.stop_all();
                throw;
            }
        });
    } while (waits());
    const auto leave = [&](uint64_t i, Machine& left) {
        left.leave();
        count(i, left);
    };
    for (const Laid& left : waiting.laid) leave(left.number, *left.machine);  // the run was stopped
    for (const Laid& left : waiting.dropped) leave(left.number, *left.machine);
    for (uint64_t i = 0; i < machines.size(); ++i) {
        if (!machines[i]) continue;
        if (how_far[i] == BlockEnd::AtGrid || how_far[i] == BlockEnd::Waits)
            leave(i, *machines[i]);
        else
            count(i, *machines[i]);
    }

    if (!order_problem.empty()) return Error{order_problem};
    Outcome outcome;
    outcome.stopped = stopped;
    outcome.fault = fault;
    outcome.complete = !stopped && !fault;
    outcome.flop = flop;
    for (const auto& [block, instructions] : counts)
        if (block <= fault_block) outcome.instructions += instructions;  // the same on any number of threads
    for (auto& [key, found] : undefined) outcome.undefined.push_back(with_range(std::move(found), launch));
    for (const View& view : memory) {
        const auto at = std::ranges::lower_bound(views, view.base, {}, &View::base);
        outcome.touched.push_back(touched[static_cast<size_t>(at - views.begin())]);
    }
    return outcome;
}

}  // namespace tilescope::simt
