#include "core/compiled/runner.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/simt/atomic.h"
#include "core/simt/lanes_memory.h"
#include "core/simt/machine.h"

namespace tilescope::compiled {

using ptx::StateSpace;
using simt::MemoryAccess;
using simt::MicroOp;
using simt::View;
using Kind = MicroOp::Kind;

// Made by cmake/embed.cmake.
std::string_view embedded_text(std::string_view path);

Result<Kernel> make_kernel(const simt::Program& program, const Launch& launch) {
    const auto values = Values::of(program, launch);
    if (!values) return values.error();
    Printed printed = print(program, *values);
    Kernel kernel;
    kernel.program = &program, kernel.launch = &launch;
    kernel.text = std::string(embedded_text("core/compiled/abi.h")) +
                  std::string(embedded_text("core/compiled/prelude.h")) + printed.text;
    kernel.warps = values->warps;
    kernel.saved_bytes = printed.saved_bytes;
    kernel.in_turns = values->in_turns, kernel.hands_on = values->hands_on;
    kernel.groups = std::move(printed.groups);
    for (uint32_t w = 0; w < values->warps; ++w) {
        std::vector<Shape>& shapes = kernel.shapes.emplace_back();
        for (uint32_t s = 0; s < values->shapes.size(); ++s) {
            const int64_t* const d = values->shape_of(s, w);
            Shape& shape = shapes.emplace_back();
            const auto [low, high] = std::minmax_element(d, d + kWarpSize);
            shape.low = *low, shape.span = *high - *low;
            for (int lane = 0; lane < kWarpSize; ++lane)
                shape.lane[lane] = d[lane], shape.lane32[lane] = static_cast<uint32_t>(d[lane]);
        }
        std::vector<uint64_t>& firsts = kernel.firsts.emplace_back();
        for (const int32_t table : printed.firsts) firsts.push_back(values->table(table, w)[0]);
        std::vector<uint32_t>& predicates = kernel.predicates.emplace_back();
        for (const int32_t table : printed.predicates)
            predicates.push_back(static_cast<uint32_t>(values->table(table, w)[0]));
    }
    for (const MicroOp& op : program.code)
        for (const simt::LaneFn fn : {op.full, op.partial})
            kernel.lanes.push_back(reinterpret_cast<LaneFunction>(fn));
    return kernel;
}

namespace {

constexpr uint64_t kPause = 512;  // instructions of a warp before others of its block go on
// Instructions of a warp from one barrier to the next: beyond, it may wait for others. Such loops have atomics.
constexpr uint64_t kMostAtOnce = 1ull << 26, kMostWithAtomics = 1ull << 20;
constexpr size_t kMostKept = 32 << 20;  // bytes that a block has stored to and that can be taken back

// What bytes of memory held before.
struct Undo {
    std::byte* at;
    uint32_t bytes;
    uint32_t old;  // index into the bytes that are kept
    // Of an atomic: what it left; others may have changed it since.
    ptx::Atomic atomic = ptx::Atomic::None;
    bool is_float = false;
    uint64_t left = 0;
};

template <class T>
T load_as(const std::byte* at) {
    return __atomic_load_n(reinterpret_cast<const T*>(at), __ATOMIC_RELAXED);
}
template <class T>
void store_as(std::byte* at, uint64_t value) {
    __atomic_store_n(reinterpret_cast<T*>(at), static_cast<T>(value), __ATOMIC_RELAXED);
}
uint64_t load_bits(const std::byte* at, uint32_t bytes) {
    return bytes == 8   ? load_as<uint64_t>(at)
           : bytes == 4 ? load_as<uint32_t>(at)
           : bytes == 2 ? load_as<uint16_t>(at)
                        : load_as<uint8_t>(at);
}
void store_bits(std::byte* at, uint32_t bytes, uint64_t value) {
    if (bytes == 8) return store_as<uint64_t>(at, value);
    if (bytes == 4) return store_as<uint32_t>(at, value);
    if (bytes == 2) return store_as<uint16_t>(at, value);
    store_as<uint8_t>(at, value);
}

const simt::MemoryLanes& kLanes = simt::memory_lanes(simt::best_version());

class Runner final : public simt::BlockRunner {
public:
    Runner(const Kernel& kernel, RunFunction run, const simt::RunOptions& options,
           const std::vector<View>& views);
    bool run_block(const simt::BlockId& block) override;

private:
    struct State {
        enum class At : uint8_t { Ready, Event, Waiting, Ended } at = At::Ready;
        int event = 0;
        uint64_t origin = 0, turns = 0;  // it could go on in turn `origin`, and had had so many
        uint64_t since = 0, time = 0;    // the turn that let it go on; that of the event
        uint64_t began = 0;              // Warp::count when it could go on
    };
    void start(const simt::BlockId& block);
    bool run_in_turns();
    bool run_to_barriers();
    bool go(uint32_t w);
    bool arrives(uint32_t w) const;
    void release(uint32_t number);
    void take_back();

    int bind(uint32_t group, uint32_t op, uint64_t low, uint64_t bytes);
    int note(uint32_t group, uint32_t op, std::byte* first, const Shape& shape);
    int request(Warp& warp, uint32_t op, uint64_t base, const Shape* shape, const uint64_t* column,
                uint32_t mask, Data* data);
    int poll(uint64_t count);
    const View* view_at(uint64_t address, uint64_t bytes, uint32_t& last) const;
    void undo_atomic(const Undo& one, uint64_t old);
    bool keep_bytes(std::byte* at, uint32_t bytes);
    bool is_filled(const View& view, uint64_t at, uint32_t bytes) const;
    bool fill(const View& view, uint64_t at, uint32_t bytes);
    bool watch(const MicroOp& op, const View& view, std::byte* at, uint32_t bytes);

    bool locate(const Warp& warp, const MicroOp& op, StateSpace space, uint32_t mask, uint32_t i);

    static Runner& of(Context* context) { return *static_cast<Runner*>(context->machine); }

    const Kernel& kernel_;
    const simt::Program& program_;
    RunFunction run_;
    const simt::RunOptions& options_;
    const std::vector<View>& views_;
    Context context_{};
    std::vector<Range> ranges_;
    std::vector<Warp> warps_;
    std::vector<State> states_;
    std::vector<simt::Chunk> shared_store_, local_store_, saved_store_;
    std::byte* shared_ = nullptr;
    uint64_t shared_bytes_ = 0;
    std::vector<std::byte> constants_;
    std::vector<bool> loaded_;         // by view: the kernel may load from it
    std::vector<uint32_t> last_view_;  // by micro-operation
    std::vector<Undo> undo_;
    std::vector<std::byte> old_;
    alignas(64) std::array<uint64_t, kWarpSize> address_{};
    std::array<std::byte*, kWarpSize> host_{};
    uint64_t began_ = 0;  // of the running warp
    bool waits_ = false;  // a block seemed to wait for others, and the next ones would, too
};

size_t chunks(uint64_t bytes) { return static_cast<size_t>(bytes / sizeof(simt::Chunk) + 1); }

Runner::Runner(const Kernel& kernel, RunFunction run, const simt::RunOptions& options,
               const std::vector<View>& views)
    : kernel_(kernel), program_(*kernel.program), run_(run), options_(options), views_(views) {
    const Launch& launch = *kernel.launch;
    shared_bytes_ = program_.shared_bytes + launch.dynamic_shared;
    shared_store_.resize(chunks(shared_bytes_));
    shared_ = shared_store_.data()->bytes;
    constants_ = simt::constants_of(program_, launch);
    const uint64_t local = program_.local_bytes * kWarpSize;
    local_store_.resize(local == 0 ? 0 : chunks(local) * kernel.warps);
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
                             0};
    ranges_[kConstGroup] = {0, static_cast<int64_t>(constants_.size()),
                            reinterpret_cast<uint8_t*>(constants_.data()), 0, 0};
    touched.resize(views.size());
    last_view_.assign(program_.code.size(), 0);
    // Which memory it may load from: by the pointers that addresses are made from.
    loaded_.resize(views.size());
    for (const MicroOp& op : program_.code) {
        if (op.kind != Kind::Load && op.kind != Kind::Atomic) continue;
        const MemoryAccess& access = program_.accesses[op.target];
        if (access.space != StateSpace::Global && access.space != StateSpace::Generic) continue;
        const auto* const bases =
            access.site >= 0 ? &program_.address_bases[static_cast<size_t>(access.site)] : nullptr;
        if (!bases || bases->empty()) loaded_.assign(views.size(), true);
        if (!bases) continue;
        for (const auto& base : *bases) {
            if (base.parameter < 0 || base.offset != 0 ||
                !launch.arguments[static_cast<size_t>(base.parameter)].object.empty()) {
                loaded_.assign(views.size(), true);
                continue;
            }
            const uint64_t pointer = launch.bits_of(launch.arguments[static_cast<size_t>(base.parameter)]);
            for (size_t v = 0; v < views.size(); ++v)
                if (pointer - views[v].base < views[v].bytes) loaded_[v] = true;
        }
    }
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
    context_.poll = [](Context* c, Warp*, uint64_t count) { return of(c).poll(count); };
}

void Runner::start(const simt::BlockId& block) {
    context_.block[0] = block.x, context_.block[1] = block.y, context_.block[2] = block.z;
    std::memset(shared_, options_.unfilled, shared_store_.size() * sizeof(simt::Chunk));
    if (!local_store_.empty()) std::memset(local_store_.data(), 0, local_store_.size() * sizeof(simt::Chunk));
    undo_.clear(), old_.clear();
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
    if (waits_) return false;
    start(block);
    bool done = kernel_.in_turns ? run_in_turns() : run_to_barriers();
    instructions = 0;
    for (const Warp& warp : warps_) instructions += warp.count;
    done = done && instructions < options_.max_instructions_per_block;
    if (!done) take_back();
    return done;
}

// Runs a ready warp to its next event; false where it gives up.
bool Runner::go(uint32_t w) {
    Warp& warp = warps_[w];
    began_ = states_[w].began;
    context_.limit = warp.count + kPause;
    const int event = run_(&context_, &warp);
    if (event == kGivenUp || warp.count >= options_.max_instructions_per_warp) return false;
    if (event == kPaused || event == kBeforeAtomic)
        if (poll(warp.count) != 0) return false;
    if (event == kPaused) return true;
    State& state = states_[w];
    state.at = State::At::Event;
    state.event = event;
    if (event != kBeforeAtomic) state.began = warp.count;
    const uint64_t made = warp.turns - state.turns;
    // It ends with the turn of its last request.
    state.time = event != kEnded ? state.origin + made * kernel_.warps
                 : made > 0      ? state.origin + (made - 1) * kernel_.warps
                                 : state.since;
    return true;
}

int Runner::poll(uint64_t count) {
    if (options_.stop && options_.stop->load(std::memory_order_relaxed)) return 1;
    waits_ = count - began_ > (kernel_.in_turns ? kMostWithAtomics : kMostAtOnce);
    if (waits_ || count >= options_.max_instructions_per_warp || count >= options_.max_instructions_per_block)
        return 1;
    context_.limit = count + kPause;
    return 0;
}

// No order matters but that of barriers, where all warps that have not ended meet.
bool Runner::run_to_barriers() {
    for (;;) {
        uint32_t waiting = 0, ready = 0, number = 0;
        for (uint32_t w = 0; w < kernel_.warps; ++w) {
            State& state = states_[w];
            if (state.at == State::At::Ready && !go(w)) return false;
            if (state.at == State::At::Event)
                state.at = state.event == kEnded ? State::At::Ended : State::At::Waiting;
            ready += state.at == State::At::Ready;
            if (state.at != State::At::Waiting) continue;
            if (waiting++ > 0 && warps_[w].barrier != number) return false;
            number = warps_[w].barrier;
        }
        if (ready > 0) continue;
        if (waiting == 0) return true;
        if (number >= 16) return false;
        release(number);
    }
}

// Whether a warp's barrier has all that it waits for.
bool Runner::arrives(uint32_t w) const {
    uint32_t here = 0, others = 0;
    for (uint32_t o = 0; o < kernel_.warps; ++o) {
        const bool same = states_[o].at == State::At::Waiting && warps_[o].barrier == warps_[w].barrier;
        here += same, others += !same && states_[o].at != State::At::Ended;
    }
    const uint32_t wanted = (warps_[w].threads + kWarpSize - 1) / kWarpSize;
    return warps_[w].threads ? here >= wanted : others == 0;
}

// All that wait at a barrier go on, with what bar.red gives them.
void Runner::release(uint32_t number) {
    uint32_t threads = 0, holding = 0;
    for (uint32_t w = 0; w < kernel_.warps; ++w) {
        if (states_[w].at != State::At::Waiting || warps_[w].barrier != number) continue;
        if ((program_.code[warps_[w].event].c & ~simt::kBarrierThreads) == 0) continue;
        threads += static_cast<uint32_t>(std::popcount(warps_[w].alive));
        holding += static_cast<uint32_t>(std::popcount(warps_[w].told & warps_[w].alive));
    }
    for (uint32_t w = 0; w < kernel_.warps; ++w) {
        if (states_[w].at != State::At::Waiting || warps_[w].barrier != number) continue;
        const simt::Ref how = program_.code[warps_[w].event].c;
        const bool holds = how & simt::kBarrierAll ? holding == threads : holding > 0;
        warps_[w].answer = how & simt::kBarrierCount ? holding : holds ? ~0u : 0u;
        states_[w].at = State::At::Ready;
    }
}

bool Runner::run_in_turns() {
    const uint32_t n = kernel_.warps;
    for (;;) {
        bool ready = false;
        for (uint32_t w = 0; w < n; ++w) {
            if (states_[w].at == State::At::Ready && !go(w)) return false;
            ready = ready || states_[w].at == State::At::Ready;
        }
        if (ready) continue;
        uint32_t next = n;
        for (uint32_t w = 0; w < n; ++w)
            if (states_[w].at == State::At::Event && (next == n || states_[w].time < states_[next].time))
                next = w;
        if (next == n)
            return std::ranges::all_of(states_, [](const State& s) { return s.at == State::At::Ended; });
        State& state = states_[next];
        if (state.event == kBeforeAtomic) {
            state.at = State::At::Ready;
            continue;
        }
        const uint64_t now = state.time;
        state.at = state.event == kEnded ? State::At::Ended : State::At::Waiting;
        if (state.event == kAtBarrier && warps_[next].barrier >= 16) return false;
        for (uint32_t w = 0; w < n; ++w) {
            if (states_[w].at != State::At::Waiting || !arrives(w)) continue;
            std::vector<bool> waited(n);
            for (uint32_t o = 0; o < n; ++o)
                waited[o] = states_[o].at == State::At::Waiting && warps_[o].barrier == warps_[w].barrier;
            release(warps_[w].barrier);
            for (uint32_t o = 0; o < n; ++o)
                if (waited[o]) {
                    states_[o].origin = now + 1 + (o + n - (now + 1) % n) % n;
                    states_[o].turns = warps_[o].turns, states_[o].since = now;
                }
            break;
        }
    }
}

// Writes back what the block stored, the latest first.
void Runner::take_back() {
    for (size_t k = undo_.size(); k-- > 0;) {
        const Undo& one = undo_[k];
        const std::byte* const old = old_.data() + one.old;
        if (one.atomic != ptx::Atomic::None) {
            uint64_t bits = 0;
            std::memcpy(&bits, old, one.bytes);
            undo_atomic(one, bits);
        } else {
            std::memcpy(one.at, old, one.bytes);
        }
    }
    undo_.clear(), old_.clear();
}

// Of an atomic that changed `old`; others may have changed what it left. The interpreter will make it again.
void Runner::undo_atomic(const Undo& one, uint64_t old) {
    const uint64_t now = load_bits(one.at, one.bytes);
    if (now == one.left) return store_bits(one.at, one.bytes, old);
    const auto back = [&]<class T>(T, auto bits) {
        using Bits = decltype(bits);
        const T sum = std::bit_cast<T>(static_cast<Bits>(now)) -
                      std::bit_cast<T>(static_cast<Bits>(one.left)) +
                      std::bit_cast<T>(static_cast<Bits>(old));
        store_bits(one.at, one.bytes, std::bit_cast<Bits>(sum));
    };
    if (one.is_float) return one.bytes == 8 ? back(double{}, uint64_t{}) : back(float{}, uint32_t{});
    if (one.atomic == ptx::Atomic::Add) store_bits(one.at, one.bytes, now - one.left + old);
    if (one.atomic == ptx::Atomic::Xor) store_bits(one.at, one.bytes, now ^ one.left ^ old);
    // The least of all, and the like, stays that when it is made again.
}

bool Runner::keep_bytes(std::byte* at, uint32_t bytes) {
    if (old_.size() + bytes > kMostKept) return false;
    undo_.push_back({at, bytes, static_cast<uint32_t>(old_.size())});
    old_.insert(old_.end(), at, at + bytes);
    return true;
}

const View* Runner::view_at(uint64_t address, uint64_t bytes, uint32_t& last) const {
    const auto holds = [&](const View& view) {
        return view.bytes >= bytes && address - view.base <= view.bytes - bytes;
    };
    if (last < views_.size() && holds(views_[last])) return &views_[last];
    const auto after = std::upper_bound(views_.begin(), views_.end(), address,
                                        [](uint64_t a, const View& view) { return a < view.base; });
    if (after == views_.begin() || !holds(*std::prev(after))) return nullptr;
    last = static_cast<uint32_t>(std::prev(after) - views_.begin());
    return &views_[last];
}

int Runner::bind(uint32_t number, uint32_t op, uint64_t low, uint64_t bytes) {
    if (number < kFirstGroup) return 1;
    const Group& group = kernel_.groups[number - kFirstGroup];
    Range& range = ranges_[number];
    if (group.space == StateSpace::Generic && low >= simt::kSharedWindow && low < simt::kLocalWindow) {
        if (low - simt::kSharedWindow > shared_bytes_ || bytes > shared_bytes_ - (low - simt::kSharedWindow))
            return 1;
        range = {simt::kSharedWindow, static_cast<int64_t>(shared_bytes_),
                 reinterpret_cast<uint8_t*>(shared_), 0, 0};
        return 0;
    }
    const View* const view = view_at(low, bytes, last_view_[op]);
    if (!view) return 1;
    const auto v = static_cast<uint32_t>(view - views_.data());
    touched[v] |= static_cast<uint8_t>((group.loads ? simt::kLoads : 0) | (group.stores ? simt::kStores : 0));
    const bool watched = view->filled != nullptr;
    const uint32_t noted = (watched ? 1u : 0u) | (watched || loaded_[v] ? 2u : 0u);
    range = {view->base, static_cast<int64_t>(view->bytes), reinterpret_cast<uint8_t*>(view->data), v, noted};
    return 0;
}

bool Runner::is_filled(const View& view, uint64_t at, uint32_t bytes) const {
    bool any = false;
    simt::each_word_filled(view, view.base + at, bytes, [&](uint8_t* word, uint8_t bits) {
        any |= (__atomic_load_n(word, __ATOMIC_RELAXED) & bits) != 0;
    });
    return any;
}

bool Runner::fill(const View& view, uint64_t at, uint32_t bytes) {
    if (at % 4 == 0 && bytes % 4 == 0) {
        uint8_t* const map = view.filled + at / 4;
        if (std::all_of(map, map + bytes / 4, [](uint8_t bits) { return bits == 15; })) return true;
        if (!keep_bytes(reinterpret_cast<std::byte*>(map), bytes / 4)) return false;
        std::memset(map, 15, bytes / 4);
        return true;
    }
    bool kept = true;
    simt::each_word_filled(view, view.base + at, bytes, [&](uint8_t* word, uint8_t bits) {
        kept = kept && keep_bytes(reinterpret_cast<std::byte*>(word), 1);
        __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
    });
    return kept;
}

// Bytes that are about to be loaded or stored, side by side. False: given up.
bool Runner::watch(const MicroOp& op, const View& view, std::byte* at, uint32_t bytes) {
    const auto offset = static_cast<uint64_t>(at - view.data);
    const bool loads = op.kind != Kind::Store, stores = op.kind != Kind::Load;
    if (loads && view.filled && !is_filled(view, offset, bytes)) return false;
    if (op.kind == Kind::Store && loaded_[static_cast<size_t>(&view - views_.data())] &&
        !keep_bytes(at, bytes))
        return false;
    return !stores || !view.filled || fill(view, offset, bytes);
}

int Runner::note(uint32_t number, uint32_t i, std::byte* first, const Shape& shape) {
    const MicroOp& op = program_.code[i];
    const MemoryAccess& access = program_.accesses[op.target];
    const View& view = views_[ranges_[number].view];
    const uint32_t bytes = uint32_t{access.element_bytes} * access.elements;
    bool together = op.kind == Kind::Store;  // what is read is looked at lane by lane
    for (int lane = 0; lane < kWarpSize; ++lane)
        together = together && shape.lane[lane] == int64_t{lane} * bytes;
    if (together) return !watch(op, view, first, bytes * kWarpSize);
    for (int lane = 0; lane < kWarpSize; ++lane)
        if (!watch(op, view, first + shape.lane[lane], bytes)) return 1;
    return 0;
}

// Where the lanes' bytes lie; false where some of them lie nowhere.
bool Runner::locate(const Warp& warp, const MicroOp& op, StateSpace space, uint32_t mask, uint32_t i) {
    const MemoryAccess& access = program_.accesses[op.target];
    const uint32_t bytes = uint32_t{access.element_bytes} * access.elements;
    const bool loads = op.kind != Kind::Store, stores = op.kind != Kind::Load;
    if (space != StateSpace::Global) {
        std::byte* memory = shared_;
        uint64_t most = shared_bytes_, stride = 0;
        if (space == StateSpace::Local) {
            if (op.kind == Kind::Atomic) return false;
            stride = most = program_.local_bytes;
            memory = local_store_[warp.number * (local_store_.size() / warps_.size())].bytes;
        } else if (space == StateSpace::Const) {
            if (op.kind != Kind::Load) return false;
            memory = constants_.data(), most = constants_.size();
        }
        return most >= bytes &&
               kLanes.locate(host_.data(), address_.data(), 0, most - bytes, memory, stride, mask) == 0;
    }
    uint32_t& last = last_view_[i];
    uint32_t outside = mask;
    const auto touch = [&](size_t v) {
        touched[v] |= static_cast<uint8_t>((loads ? simt::kLoads : 0) | (stores ? simt::kStores : 0));
    };
    if (last < views_.size() && views_[last].bytes >= bytes) {
        const View& view = views_[last];
        outside =
            kLanes.locate(host_.data(), address_.data(), view.base, view.bytes - bytes, view.data, 0, mask);
        if (outside != mask) touch(last);
    }
    const bool all_here = outside == 0;
    const uint32_t here = last;
    for (; outside; outside &= outside - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(outside));
        const View* const view = view_at(address_[lane], bytes, last);
        if (!view) return false;
        touch(last);
        host_[lane] = view->data + (address_[lane] - view->base);
    }
    const bool watched = !all_here || views_[here].filled || (op.kind == Kind::Store && loaded_[here]);
    for (uint32_t left = watched ? mask : 0; left; left &= left - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(left));
        if (!watch(op, *view_at(address_[lane], bytes, last), host_[lane], bytes)) return false;
    }
    return true;
}

template <class T, class Slot>
void load_lanes(Slot* to, std::byte* const* host, uint64_t offset, uint32_t mask) {
    const auto one = [&](uint32_t lane) {
        const T value = load_as<T>(host[lane] + offset);
        to[lane] =
            static_cast<Slot>(static_cast<std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>(value));
    };
    if (mask == ~0u)
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) one(lane);
    else
        for_lanes(mask, one);
}
template <class Slot>
void load_column(const MemoryAccess& access, Slot* to, std::byte* const* host, uint64_t offset,
                 uint32_t mask) {
    switch (access.element_bytes) {
        case 1:
            return access.is_signed ? load_lanes<int8_t>(to, host, offset, mask)
                                    : load_lanes<uint8_t>(to, host, offset, mask);
        case 2:
            return access.is_signed ? load_lanes<int16_t>(to, host, offset, mask)
                                    : load_lanes<uint16_t>(to, host, offset, mask);
        case 4:
            return access.is_signed ? load_lanes<int32_t>(to, host, offset, mask)
                                    : load_lanes<uint32_t>(to, host, offset, mask);
        default: return load_lanes<uint64_t>(to, host, offset, mask);
    }
}
template <class Slot>
void store_column(uint32_t size, const Slot* from, std::byte* const* host, uint64_t offset, uint32_t mask) {
    const auto all = [&](auto store) {
        for_lanes(mask, [&](uint32_t lane) { store(host[lane] + offset, from[lane]); });
    };
    if (size == 8) return all(store_as<uint64_t>);
    if (size == 4) return all(store_as<uint32_t>);
    if (size == 2) return all(store_as<uint16_t>);
    all(store_as<uint8_t>);
}

int Runner::request(Warp& warp, uint32_t i, uint64_t base, const Shape* shape, const uint64_t* column,
                    uint32_t mask, Data* data) {
    const MicroOp& op = program_.code[i];
    const MemoryAccess& access = program_.accesses[op.target];
    const uint32_t bytes = uint32_t{access.element_bytes} * access.elements;
    kLanes.displace(address_.data(), column ? column : reinterpret_cast<const uint64_t*>(shape->lane),
                    (column ? 0 : base) + static_cast<uint64_t>(access.offset));
    if (!access.wide_address)
        for (uint64_t& address : address_) address = static_cast<uint32_t>(address);
    if (kLanes.bits(address_.data(), mask) & (bytes - 1)) return 1;
    bool global = access.space == StateSpace::Global;
    if (access.space == StateSpace::Generic) {
        for (uint32_t left = mask; left != 0;) {
            const StateSpace space =
                simt::space_of_generic(address_[static_cast<size_t>(std::countr_zero(left))]);
            uint32_t alike = 0;
            for_lanes(left, [&](uint32_t lane) {
                if (simt::space_of_generic(address_[lane]) == space) alike |= 1u << lane;
            });
            for_lanes(alike, [&](uint32_t lane) { address_[lane] -= simt::window_of(space); });
            if (alike != mask && op.kind == Kind::Atomic) return 1;
            global = space == StateSpace::Global;
            // Lanes of other spaces keep what they have.
            const std::array<std::byte*, kWarpSize> before = host_;
            if (!locate(warp, op, space, alike, i)) return 1;
            for_lanes(~alike, [&](uint32_t lane) { host_[lane] = before[lane]; });
            left &= ~alike;
        }
    } else if (!locate(warp, op, access.space, mask, i)) {
        return 1;
    }
    if (op.kind == Kind::Atomic) {
        std::array<uint64_t, kWarpSize> returned, stored;
        simt::update_lanes(access, mask, global, !global || options_.threads == 1, host_.data(),
                           reinterpret_cast<std::byte*>(data), reinterpret_cast<const std::byte*>(data + 1),
                           reinterpret_cast<const std::byte*>(data + 2), returned.data(), stored.data());
        if (!global) return 0;
        for_lanes(mask, [&](uint32_t lane) {
            undo_.push_back({host_[lane], access.element_bytes, static_cast<uint32_t>(old_.size()),
                             access.atomic, access.is_float, stored[lane]});
            const auto* const old = reinterpret_cast<const std::byte*>(&returned[lane]);
            old_.insert(old_.end(), old, old + access.element_bytes);
        });
        return old_.size() > kMostKept;
    }
    for (uint32_t e = 0; e < access.elements; ++e) {
        auto* const wide = reinterpret_cast<uint64_t*>(data + e);
        auto* const narrow = reinterpret_cast<uint32_t*>(data + e);
        const uint64_t offset = uint64_t{e} * access.element_bytes;
        const bool in_wide = access.data_bytes[e] == 8;
        if (op.kind == Kind::Store && in_wide)
            store_column(access.element_bytes, wide, host_.data(), offset, mask);
        if (op.kind == Kind::Store && !in_wide)
            store_column(access.element_bytes, narrow, host_.data(), offset, mask);
        if (op.kind == Kind::Load && in_wide) load_column(access, wide, host_.data(), offset, mask);
        if (op.kind == Kind::Load && !in_wide) load_column(access, narrow, host_.data(), offset, mask);
        if (op.kind == Kind::Load && access.is_signed && access.data_bytes[e] == 2)
            for_lanes(mask, [&](uint32_t lane) { narrow[lane] &= 0xFFFF; });
    }
    return 0;
}

}  // namespace

std::unique_ptr<simt::BlockRunner> make_runner(const Kernel& kernel, RunFunction run,
                                               const simt::RunOptions& options,
                                               const std::vector<View>& views) {
    return std::make_unique<Runner>(kernel, run, options, views);
}

}  // namespace tilescope::compiled
