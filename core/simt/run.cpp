// A launch: its blocks, one after the other in block order (x fastest), taken by CPU threads; those that wait
// for each other at the grid's barrier in rounds, from one barrier to the next.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "core/base/cluster.h"
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

// Blocks that run side by side: the block's cluster, where it has to do with that, or the block.
Dim3 together(const Program& program, const Launch& launch) {
    return program.clusters ? launch.cluster : Dim3{};
}

// Blocks to run, those of a cluster as one. A cluster of which the window holds a part runs as a whole.
Blocks groups_of(const Dim3& together, const Launch& launch, const BlockWindow& window) {
    const Blocks blocks = blocks_of(launch, window);
    if (blocks.count() == 0) return blocks;
    const auto groups = [](uint32_t first, uint32_t count, uint32_t of) {
        return (first + count - 1) / of - first / of + 1;
    };
    return {blocks.x0 / together.x,
            blocks.y0 / together.y,
            blocks.z0 / together.z,
            groups(blocks.x0, blocks.width, together.x),
            groups(blocks.y0, blocks.height, together.y),
            groups(blocks.z0, blocks.depth, together.z)};
}

Result<void> check_cluster(const Program& program, const Launch& launch) {
    if (const std::string why = why_not_in_clusters(launch.grid, launch.cluster); !why.empty())
        return Error{why};
    const Dim3 wanted = program.required_cluster.value_or(launch.cluster);
    if (wanted == launch.cluster) return {};
    return Error{fmt::format(
        "kernel '{}' is compiled for clusters of {} blocks and cannot run in clusters of {}; launch "
        "it with those",
        program.kernel, size_text(wanted), size_text(launch.cluster))};
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
    if (auto ok = check_cluster(program, launch); !ok) return ok;
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
    if (options.schedule.kind == Schedule::Kind::Recorded && runs_in_clusters(program, launch))
        return Error{"a recorded order belongs to one block, which its cluster cannot run beside"};
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

bool runs_in_clusters(const Program& program, const Launch& launch) {
    return together(program, launch).count() > 1;
}

uint64_t memory_of(const Program& program, const Launch& launch, bool values) {
    return program.module_bytes + Machine::bytes(program, launch, values) * together(program, launch).count();
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
    const Dim3 side_by_side = together(program, launch);
    const Blocks blocks = groups_of(side_by_side, launch, asked.window);
    std::mutex printing;
    RunOptions options = asked;
    options.threads = threads_of(asked.threads);
    if (asked.print) {
        options.print = [&](std::string_view text) {
            const std::lock_guard lock(printing);
            asked.print(text);
        };
    }
    if (const auto ok = check(program, launch, options, blocks_of(launch, asked.window)); !ok)
        return ok.error();
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
    const auto note = [&](uint64_t i, BlockEnd how, const BlocksTogether& group) {
        if (how == BlockEnd::Complete || how == BlockEnd::AtGrid || how == BlockEnd::Waits) return;
        const std::lock_guard lock(mutex);
        if (how == BlockEnd::Stopped) stopped = true;
        if (how == BlockEnd::OrderNotFollowed) order_problem = group.decisive->order_problem;
        if (how == BlockEnd::Faulted && i < fault_block) {
            fault_block = i;
            fault = group.decisive->fault;
            first_fault.store(i, std::memory_order_relaxed);
        }
    };
    const auto count = [&](uint64_t i, BlocksTogether& group) {
        const std::lock_guard lock(mutex);
        counts.emplace_back(i, group.instructions());
        for (const auto& machine : group.machines) {
            flop += machine->flop;
            for (size_t v = 0; v < views.size(); ++v) touched[v] |= machine->touched[v];
            for (const auto& [key, found] : machine->undefined) join(undefined[key], found);
            machine->undefined.clear();
        }
    };
    const auto make_group = [&] {
        return std::make_unique<BlocksTogether>(program, launch, options, views, side_by_side.count());
    };
    const auto begin_group = [&](BlocksTogether& group, uint64_t i) {
        std::vector<BlockId> members;
        std::vector<BlockObserver*> observers;
        const BlockId of = blocks.at(i);
        const Dim3 first{of.x * side_by_side.x, of.y * side_by_side.y, of.z * side_by_side.z};
        for (uint32_t rank = 0; rank < side_by_side.count(); ++rank) {
            const Dim3 at = block_of_rank(side_by_side, first, rank);
            const BlockId id{at.x, at.y, at.z};
            members.push_back(id);
            const bool watched = make_observer && asked.window.contains(id.x, id.y) &&
                                 id.z >= asked.window.z0 && id.z < asked.window.z1;
            observers.push_back(watched ? make_observer(id) : nullptr);
        }
        return group.run(members, observers);
    };
    const auto tell_done = [&] {
        if (options.blocks_done)
            options.blocks_done->fetch_add(side_by_side.count(), std::memory_order_relaxed);
    };
    const auto stop_is_set = [&] {
        if (!Stop{options.stop}.now()) return false;
        const std::lock_guard lock(mutex);
        stopped = true;
        return true;
    };
    // A block that waits for others is laid aside with its machine, so that these can run.
    Waiting waiting;
    waiting.room = std::max<uint64_t>(1, most_side_by_side(program, launch, options) / side_by_side.count());
    // Whether other engines may run blocks: nobody watches, and no order but the usual one is asked for.
    BlockEngine* const engine = make_observer || options.values || options.absent != 0 ||
                                        options.schedule.kind != Schedule::Kind::Fair ||
                                        program.grid_barrier || program.clusters
                                    ? nullptr
                                    : options.engine;
    const auto run_blocks = [&] {
        std::unique_ptr<BlocksTogether> group;
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
            if (!new_block && !block.group) continue;
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
                if (!group) group = make_group();
                block.group = std::move(group);
                how = begin_group(*block.group, block.number);
            } else if (block.hopeless) {
                block.group->wait_in_loops(waiting.laid.size());
                how = BlockEnd::Faulted;
            } else {
                how = block.group->go_on();
            }
            if (how == BlockEnd::Waits) {
                waiting.lay_aside(std::move(block));
                continue;
            }
            note(block.number, how, *block.group);
            waiting.end();
            count(block.number, *block.group);
            if (engine) engine->interpreted(block.group->instructions());
            tell_done();
            if (how == BlockEnd::Stopped) waiting.stop_all();
            if (how == BlockEnd::Stopped) break;
            group = std::move(block.group);
        }
    };

    // Side by side, with a machine for each block.
    std::vector<std::unique_ptr<BlocksTogether>> groups(program.grid_barrier ? total : 0);
    std::vector<BlockEnd> how_far(groups.size(), BlockEnd::AtGrid);
    bool some_wait = false;  // in loops: they go on before those that stand at the barrier
    uint64_t news = 0;       // changes of memory and ended blocks, before the round
    const auto run_round = [&] {
        for (;;) {
            const uint64_t i = next.fetch_add(1, std::memory_order_relaxed);
            if (i >= total || i > first_fault.load(std::memory_order_relaxed) || stop_is_set()) break;
            if (groups[i] && some_wait && how_far[i] != BlockEnd::Waits) continue;
            if (groups[i]) {
                how_far[i] = groups[i]->go_on();
            } else {
                groups[i] = make_group();
                how_far[i] = begin_group(*groups[i], i);
            }
            note(i, how_far[i], *groups[i]);
            if (how_far[i] != BlockEnd::AtGrid && how_far[i] != BlockEnd::Waits) tell_done();
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
                now += groups[i]->changes();
                exactly = exactly && (how_far[i] != BlockEnd::Waits || groups[i]->waits_exactly());
            }
            if (std::exchange(news, now) != now || !exactly) return true;
            const auto i = static_cast<uint64_t>(spinning - how_far.begin());
            groups[i]->wait_in_loops(static_cast<uint64_t>(std::ranges::count(how_far, BlockEnd::Waits)) - 1);
            how_far[i] = BlockEnd::Faulted;
            note(i, BlockEnd::Faulted, *groups[i]);
            return false;
        }
        const auto at_grid = std::ranges::find(how_far, BlockEnd::AtGrid);
        const auto ended = std::ranges::find(how_far, BlockEnd::Complete);
        if (at_grid == how_far.end()) return false;
        if (ended == how_far.end()) return true;
        const auto first = static_cast<uint64_t>(at_grid - how_far.begin());
        const BlockId gone = blocks.at(static_cast<uint64_t>(ended - how_far.begin()));
        const Dim3 at{gone.x * side_by_side.x, gone.y * side_by_side.y, gone.z * side_by_side.z};
        groups[first]->wait_for_ever(fmt::format("{} has ended", block_name(launch.grid, at)));
        how_far[first] = BlockEnd::Faulted;
        note(first, BlockEnd::Faulted, *groups[first]);
        return false;
    };

    // At least one block fits, by check().
    const uint64_t cpu_threads = std::min<uint64_t>({options.threads, total, waiting.room});
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
    const auto leave = [&](uint64_t i, BlocksTogether& left) {
        left.leave();
        count(i, left);
    };
    for (const Laid& left : waiting.laid) leave(left.number, *left.group);  // the run was stopped
    for (const Laid& left : waiting.dropped) leave(left.number, *left.group);
    for (uint64_t i = 0; i < groups.size(); ++i) {
        if (!groups[i]) continue;
        if (how_far[i] == BlockEnd::AtGrid || how_far[i] == BlockEnd::Waits)
            leave(i, *groups[i]);
        else
            count(i, *groups[i]);
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
