#include "core/compiled/runner.h"

#include <algorithm>
#include <cstring>

namespace tilescope::compiled {

namespace {

size_t chunks(uint64_t bytes) { return static_cast<size_t>(bytes / sizeof(simt::Chunk) + 1); }

// Bytes of a thread's UndoLog: a quarter of what the run may take is for all of them.
size_t most_kept(const simt::RunOptions& options) {
    return std::min<uint64_t>(32 << 20, options.memory / 4 / std::max(options.threads, 1u));
}

Runner& of(Context* context) { return *static_cast<Runner*>(context->machine); }

}  // namespace

Runner::Runner(const Kernel& kernel, RunFunction run, const simt::RunOptions& options,
               const std::vector<simt::View>& views)
    : kernel_(kernel),
      program_(*kernel.program),
      run_(run),
      options_(options),
      views_(views),
      undo_(context_, most_kept(options)) {
    const Launch& launch = *kernel.launch;
    shared_bytes_ = program_.shared_bytes + launch.dynamic_shared;
    shared_store_.resize(chunks(shared_bytes_));
    shared_ = shared_store_.data()->bytes;
    constants_ = simt::constants_of(program_, launch);
    local_chunks_ = chunks(program_.local_bytes * kWarpSize);
    local_store_.resize(local_chunks_ * kernel.warps);
    const size_t saved = chunks(kernel.saved_bytes + 256);
    saved_store_.resize(saved * kernel.warps);
    warps_.resize(kernel.warps);
    states_.resize(kernel.warps);
    for (uint32_t w = 0; w < kernel.warps; ++w) {
        Warp& warp = warps_[w];
        warp.number = w;
        warp.shapes = kernel.shapes[w].data();
        warp.firsts = kernel.firsts[w].data();
        warp.predicates = kernel.predicates[w].data();
        warp.saved = reinterpret_cast<uint8_t*>(saved_store_[w * saved].bytes);
    }
    ranges_.resize(kFirstGroup + kernel.groups.size(), Range{0, -1, nullptr, 0, 0});
    ranges_[kSharedGroup] = {0, static_cast<int64_t>(shared_bytes_), reinterpret_cast<uint8_t*>(shared_), 0,
                             kOwn};
    ranges_[kConstGroup] = {0, static_cast<int64_t>(constants_.size()),
                            reinterpret_cast<uint8_t*>(constants_.data()), 0, kOwn};
    touched.resize(views.size());
    last_view_.assign(program_.code.size(), 0);
    context_.machine = this;
    context_.ranges = ranges_.data();
    context_.lanes = kernel.lanes.data();
    context_.bind = [](Context* c, uint32_t group, uint32_t op, uint64_t low, uint64_t bytes) {
        return of(c).bind(group, op, low, bytes);
    };
    context_.note = [](Context* c, uint32_t group, uint32_t op, uint8_t* first, const Shape* shape) {
        return of(c).note(group, op, reinterpret_cast<std::byte*>(first), *shape);
    };
    context_.request = [](Context* c, Warp* warp, uint32_t op, uint64_t base, const Shape* shape,
                          const uint64_t* column, uint32_t mask,
                          Data* data) { return of(c).request(*warp, op, base, shape, column, mask, data); };
    context_.poll = [](Context* c, uint64_t count, uint32_t depth) { return of(c).poll(count, depth); };
}

void Runner::start(const simt::BlockId& block) {
    context_.block[0] = block.x, context_.block[1] = block.y, context_.block[2] = block.z;
    std::memset(shared_, options_.unfilled, shared_store_.size() * sizeof(simt::Chunk));
    std::memset(local_store_.data(), 0, local_store_.size() * sizeof(simt::Chunk));
    undo_.start();
    const uint64_t threads = kernel_.launch->block.count();
    for (uint32_t w = 0; w < kernel_.warps; ++w) {
        Warp& warp = warps_[w];
        const uint64_t lanes = std::min<uint64_t>(kWarpSize, threads - uint64_t{w} * kWarpSize);
        warp.alive = warp.mask = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;
        warp.resume = warp.depth = 0;
        warp.join = simt::kNoPc;
        warp.count = warp.turns = 0;
        states_[w] = {State::At::Ready, 0, w, 0, 0, 0, 0};
    }
}

bool Runner::run_block(const simt::BlockId& block) {
    if (stuck_) return false;
    start(block);
    bool done = kernel_.in_turns ? run_in_turns() : run_to_barriers();
    instructions = 0;
    for (const Warp& warp : warps_) instructions += warp.count;
    done = done && instructions < options_.max_instructions_per_block;
    if (!done) undo_.take_back();
    return done;
}

std::unique_ptr<simt::BlockRunner> make_runner(const Kernel& kernel, RunFunction run,
                                               const simt::RunOptions& options,
                                               const std::vector<simt::View>& views) {
    return std::make_unique<Runner>(kernel, run, options, views);
}

}  // namespace tilescope::compiled
