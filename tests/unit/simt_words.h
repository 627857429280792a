// Runs kernels whose steps have words, of one block, and keeps them all with what they copy.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/ring_kernel.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt::test {

struct CopiedPiece {
    uint32_t lane = 0, place = 0;
    uint64_t address = 0;
    std::vector<std::byte> data;
    bool operator==(const CopiedPiece&) const = default;
};

struct WordStep {
    uint32_t site = 0, warp = 0, mask = 0;
    bool barrier = false;
    Space space = Space::Global;
    std::array<uint64_t, 32> address{};
    std::array<std::array<uint32_t, ptx::kMostStepWords>, 32> words{};
    std::vector<CopiedPiece> pieces{};
    bool operator==(const WordStep&) const = default;
};

class WordKeeper final : public BlockObserver {
public:
    explicit WordKeeper(const std::vector<ptx::Site>& sites) : sites_(sites) {}
    std::vector<WordStep> steps;
    std::vector<std::pair<uint32_t, size_t>> landed;  // the step that asked, and the steps before it landed

    void on_request(const Request& r) override {
        WordStep step{.site = r.site, .warp = r.warp, .mask = r.mask, .space = r.space};
        for_lanes(r.mask, [&](uint32_t lane) {
            step.address[lane] = r.address[lane];
            for (uint32_t i = 0; i < sites_[r.site].words; ++i)
                step.words[lane][i] = r.words[lane * ptx::kMostStepWords + i];
        });
        for (const RequestPiece& piece : r.pieces)
            step.pieces.push_back({piece.lane, piece.place, piece.address,
                                   std::vector<std::byte>(piece.data, piece.data + piece.bytes)});
        steps.push_back(std::move(step));
    }
    void on_barrier(uint32_t site, uint32_t warp, uint32_t mask) override {
        steps.push_back({.site = site, .warp = warp, .mask = mask, .barrier = true});
    }
    void on_exchange(const Exchange& e) override {
        steps.push_back({.site = e.site, .warp = e.warp, .mask = e.mask});
    }
    void on_arrival(uint32_t step) override { landed.emplace_back(step, steps.size()); }

private:
    const std::vector<ptx::Site>& sites_;
};

struct WordRun {
    std::shared_ptr<const Program> program;
    Launch launch;
    GlobalMemory memory;
    RunOptions options = one_thread();
    std::vector<WordStep> steps;
    std::vector<std::pair<uint32_t, size_t>> landed;
    Outcome outcome;

    WordRun() = default;
    explicit WordRun(const tilescope::test::Ring& ring)
        : program(program_of(ring.ptx(), "ring")), launch(ring.launch()), memory(ring.memory()) {}

    WordRun& run() {
        WordKeeper keeper(sites_of(*program));
        auto made = simt::run(*program, launch, memory, options, [&](const BlockId&) { return &keeper; });
        if (!made) throw std::runtime_error(made.error().message);
        outcome = *made, steps = std::move(keeper.steps), landed = std::move(keeper.landed);
        return *this;
    }
    std::string fault() { return run().outcome.fault ? outcome.fault->message : ""; }
    std::vector<uint32_t> words_of_buffer(size_t buffer) const {
        const Bytes& bytes = memory.buffers[buffer].bytes;
        std::vector<uint32_t> words(bytes.size() / 4);
        std::memcpy(words.data(), bytes.data(), words.size() * 4);
        return words;
    }
    const ptx::Site& site_of(const WordStep& step) const { return sites_of(*program)[step.site]; }
};

// Fair, greedy, and so many seeds.
inline std::vector<Schedule> schedules(uint64_t seeds = 8) {
    std::vector<Schedule> all{{Schedule::Kind::Fair, 0}, {Schedule::Kind::Greedy, 0}};
    for (uint64_t seed = 1; seed <= seeds; ++seed) all.push_back({Schedule::Kind::Seeded, seed});
    return all;
}

}  // namespace tilescope::simt::test
