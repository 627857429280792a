// Runs kernels in tests and keeps all that their blocks reported.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/ptx/parse.h"
#include "core/simt/interpreter.h"
#include "core/simt/program.h"
#include "tests/file_text.h"
#include "tests/launches.h"

namespace tilescope::simt::test {

// Where the buffers of kernels lie that tests write: the first or only one, and of two that which they write.
inline constexpr uint64_t kBase = 0x10000, kIn = kBase, kOut = 0x20000;

// For a kernel of in and out, a tile in shared memory and behind it an mbarrier, which has the first two as arguments.
template <class Run>
void give_tile_and_barrier(Run& run, uint32_t words, uint32_t tile_words) {
    run.launch.arguments = test_arguments({kIn, kOut});
    run.launch.arrays = {test_array("in", Space::Global, ArrayRole::Input, 1, words, kIn),
                         test_array("out", Space::Global, ArrayRole::Output, 1, words, kOut),
                         test_array("tile", Space::Shared, ArrayRole::Shared, 1, tile_words, 0, "tile"),
                         test_array("bar", Space::Shared, ArrayRole::Shared, 1, 1, 4 * tile_words, "bar")};
    run.launch.arrays.back().type = ElementType::U64;
    for (Array& array : run.launch.arrays) array.rank = 1;
    run.memory.buffers = {{"in", kIn, Bytes(4 * words)}, {"out", kOut, Bytes(4 * words)}};
}

struct KeptProduct {
    uint32_t warp = 0, mask = 0;
    std::array<Origin, 32> a{}, b{}, result{};
    std::array<uint64_t, 32> a_value{}, b_value{}, sum{};  // bits
    bool operator==(const KeptProduct&) const = default;
};

// One step, with the products reported after it. Inactive lanes' entries are 0.
struct Event {
    bool barrier = false, is_load = false;
    uint32_t site = 0, warp = 0, mask = 0;
    Space space = Space::Global;
    std::array<uint64_t, 32> address{};
    std::array<uint64_t, 32> value{};
    std::array<Origin, 32> origin{};
    std::vector<KeptProduct> products;
    bool operator==(const Event&) const = default;
};

class Keeper final : public BlockObserver {
public:
    Keeper(const Program& program, std::vector<Event>& events) : program_(program), events_(events) {}
    void on_request(const Request& r) override {
        Event e;
        e.site = r.site, e.warp = r.warp, e.mask = r.mask, e.space = r.space;
        e.is_load = sites_of(program_)[r.site].kind == ptx::SiteKind::Load;
        for (size_t l = 0; l < 32; ++l) {
            if (!(r.mask >> l & 1)) continue;
            e.address[l] = r.address[l];
            if (r.value) e.value[l] = r.value[l];
            if (r.origin) e.origin[l] = r.origin[l];
        }
        events_.push_back(e);
    }
    void on_barrier(uint32_t site, uint32_t warp, uint32_t mask) override {
        Event e;
        e.barrier = true, e.site = site, e.warp = warp, e.mask = mask;
        events_.push_back(e);
    }
    void on_multiplication(const Multiplication& p) override {
        KeptProduct k;
        k.warp = p.warp, k.mask = p.mask;
        for (size_t l = 0; l < 32; ++l) {
            if (!(p.mask >> l & 1)) continue;
            k.a[l] = p.a[l], k.b[l] = p.b[l], k.result[l] = p.result[l];
            k.a_value[l] = p.a_value[l], k.b_value[l] = p.b_value[l], k.sum[l] = p.sum[l];
        }
        if (!events_.empty()) events_.back().products.push_back(k);
    }

private:
    const Program& program_;
    std::vector<Event>& events_;
};

inline std::shared_ptr<const Program> program_of(const std::string& text, const std::string& kernel,
                                                 LaneVersion version = best_version()) {
    const auto module = ptx::parse(text, "test.ptx");
    if (!module) throw std::runtime_error(module.error().message);
    auto program = prepare(*module, kernel, version);
    if (!program) throw std::runtime_error(program.error().message);
    return *program;
}

inline RunOptions one_thread() {
    RunOptions options;
    options.threads = 1;
    return options;
}

// A launch with its memory; events of every block of the grid, in block order.
struct KernelRun {
    std::shared_ptr<const Program> program;
    Launch launch;
    GlobalMemory memory;
    RunOptions options = one_thread();
    std::vector<std::vector<Event>> events;

    Result<Outcome> try_run() {
        events.assign(launch.grid.count(), {});
        std::vector<std::unique_ptr<Keeper>> keepers(launch.grid.count());
        return simt::run(*program, launch, memory, options, [&](const BlockId& b) -> BlockObserver* {
            const size_t i = b.x + size_t{launch.grid.x} * (b.y + size_t{launch.grid.y} * b.z);
            keepers[i] = std::make_unique<Keeper>(*program, events[i]);
            return keepers[i].get();
        });
    }
    Outcome run() {
        auto outcome = try_run();
        if (!outcome) throw std::runtime_error(outcome.error().message);
        return *outcome;
    }
};

// A shipped kernel on P = M N with small whole numbers.
struct Product3 : KernelRun {
    uint32_t m, k, n;
    std::vector<float> M, N;

    Product3(const std::string& kernel, const std::string& file, uint32_t tile, uint32_t m_, uint32_t k_,
             uint32_t n_)
        : m(m_), k(k_), n(n_), M(size_t{m_} * k_), N(size_t{k_} * n_) {
        program = program_of(file_text(TILESCOPE_SOURCE_DIR "/assets/ptx/" + file + ".ptx"), kernel);
        for (size_t i = 0; i < M.size(); ++i) M[i] = static_cast<float>(static_cast<int>(i * 7 % 19) - 9);
        for (size_t i = 0; i < N.size(); ++i) N[i] = static_cast<float>(static_cast<int>(i * 5 % 17) - 8);
        const auto bases = place_buffers({M.size() * 4, N.size() * 4, size_t{m} * n * 4});
        const auto add = [&](const char* name, uint64_t base, const std::vector<float>& values, uint32_t rows,
                             uint32_t cols) {
            Buffer buffer{name, base, Bytes(size_t{rows} * cols * 4)};
            if (!values.empty()) std::memcpy(buffer.bytes.data(), values.data(), values.size() * 4);
            memory.buffers.push_back(std::move(buffer));
            launch.arrays.push_back(test_array(name, Space::Global, ArrayRole::Input, rows, cols, base));
        };
        add("M", bases[0], M, m, k);
        add("N", bases[1], N, k, n);
        add("P", bases[2], {}, m, n);
        launch.arguments = test_arguments({bases[0], bases[1], bases[2], m, k, n});
        launch.block = {tile, tile, 1};
        launch.grid = {(n + tile - 1) / tile, (m + tile - 1) / tile, 1};
        if (kernel == "untiled_swapped") launch.grid = {(m + tile - 1) / tile, (n + tile - 1) / tile, 1};
    }
    uint64_t P_base() const { return memory.buffers[2].base; }
    std::vector<float> result() const {
        std::vector<float> out(size_t{m} * n);
        std::memcpy(out.data(), memory.buffers[2].bytes.data(), out.size() * 4);
        return out;
    }
};

}  // namespace tilescope::simt::test
