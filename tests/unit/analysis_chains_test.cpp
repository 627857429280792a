// What fences, atomics and flags order, against the twin that follows a run with vector clocks
// (tests/twin/released_order.h), on random runs: every thread has a program of its own, and they take turns at
// random.
#include <memory>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/hazards/hazards.h"
#include "core/ptx/parse.h"
#include "core/trace/builder.h"
#include "tests/launches.h"
#include "tests/one_phase.h"
#include "tests/opened.h"
#include "tests/twin/released_order.h"

namespace tilescope::analysis {
namespace {

using test::OrderedOp;
using What = OrderedOp::What;
using Lines = std::set<std::pair<uint32_t, uint32_t>>;

constexpr uint64_t kData = 0x10000, kWords = 0x20000;
constexpr uint32_t kThread[] = {0, 1, 32, 33};  // of a block of two warps

std::vector<Array> data_and_words() {
    return {test_array("data", Space::Global, ArrayRole::Output, 1, 8, kData),
            test_array("words", Space::Global, ArrayRole::Output, 1, 8, kWords),
            test_array("s", Space::Shared, ArrayRole::Shared, 1, 8, 0, "s"),
            test_array("flags", Space::Shared, ArrayRole::Shared, 1, 8, 32, "flags")};
}

struct RunOfThreads {
    Lines right;
    std::string ptx;
    trace::Trace trace;
};

class RandomRun {
public:
    // Counters alone: then the recording tells which of two atomics came first.
    RandomRun(uint64_t seed, bool counters) : random_(seed), counters_(counters) {
        blocks_ = 1 + below(3), threads_ = 2 + below(3);
        cells_ = 1 + below(3), words_ = 1 + below(3);
        for (uint32_t block = 0; block < blocks_; ++block) {
            const uint32_t barriers = below(3);
            for (uint32_t thread = 0; thread < threads_; ++thread) programs_.push_back(program(barriers));
        }
    }

    RunOfThreads run() {
        RunOfThreads out;
        out.ptx = ptx();
        trace::Meta meta;
        meta.complete = true;
        meta.ptx = out.ptx;
        const auto module = ptx::parse(out.ptx, "hand.ptx");
        EXPECT_TRUE(module) << module.error().message << out.ptx;
        if (!module) return out;
        sites_ = ptx::sites_of(module->kernels[0]);
        Launch launch = test_launch(data_and_words(), {blocks_, 1, 1}, {64, 1, 1});
        launch.entry = "k";
        for (uint32_t block = 0; block < blocks_; ++block)
            recorders_.push_back(
                std::make_unique<trace::BlockRecorder>(arrays_, sites_, simt::BlockId{block, 0, 0}));
        follow(out);
        out.trace = trace::assemble(meta, std::move(launch), sites_, std::move(recorders_));
        return out;
    }

private:
    uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }

    OrderedOp op() {
        OrderedOp op;
        op.line = ++line_;
        const uint32_t kind = below(10);
        if (kind < 5) {
            op.what = below(2) ? What::Store : What::Load;
            op.shared = below(4) == 0;
            op.place = below(cells_);
        } else if (kind < 7) {
            op.what = below(3) ? What::GridFence : What::BlockFence;
        } else {
            constexpr What kWhat[] = {What::Add, What::Exchange, What::Volatile, What::Read, What::Poll};
            op.what = counters_ ? What::Add : kWhat[below(5)];
            op.shared = !counters_ && below(4) == 0;
            op.place = below(words_);
        }
        return op;
    }

    std::vector<OrderedOp> program(uint32_t barriers) {
        std::vector<OrderedOp> ops;
        for (uint32_t interval = 0; interval <= barriers; ++interval) {
            if (interval > 0) ops.push_back({What::Barrier, 0, false, ++line_});
            for (uint32_t left = below(8); left > 0; --left) ops.push_back(op());
        }
        return ops;
    }

    std::string ptx() const {
        std::string out = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
    .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<4>;
    .shared .align 4 .b8 s[32];
    .shared .align 4 .b8 flags[32];
    ld.param.u64 %d0, [k_0];
    ld.param.u64 %d1, [k_1];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mad.lo.u32 %r2, %r1, 64, %r0;
)";
        for (uint32_t i = 0; i < programs_.size(); ++i)
            out += fmt::format("    setp.eq.u32 %p0, %r2, {};\n    @%p0 bra $thread{};\n",
                               i / threads_ * 64 + kThread[i % threads_], i);
        out += "    ret;\n";
        for (uint32_t i = 0; i < programs_.size(); ++i) {
            out += fmt::format("$thread{}:\n", i);
            for (const OrderedOp& op : programs_[i]) out += printed(op);
            out += "    ret;\n";
        }
        return out + "}\n.file 1 \"hand.cu\"\n";
    }

    static std::string printed(const OrderedOp& op) {
        const bool cell = op.what == What::Load || op.what == What::Store;
        const std::string where = op.shared ? "shared" : "global";
        const std::string at =
            fmt::format("[{}+{}]", op.shared ? (cell ? "s" : "flags") : (cell ? "%d0" : "%d1"), 4 * op.place);
        const std::string line = fmt::format("    .loc 1 {} 0\n", op.line);
        switch (op.what) {
            case What::Load: return line + fmt::format("    ld.{}.u32 %r5, {};\n", where, at);
            case What::Store: return line + fmt::format("    st.{}.u32 {}, %r2;\n", where, at);
            case What::BlockFence: return "    membar.cta;\n";
            case What::GridFence: return "    membar.gl;\n";
            case What::Add: return line + fmt::format("    atom.{}.add.u32 %r5, {}, 1;\n", where, at);
            case What::Exchange: return line + fmt::format("    atom.{}.exch.b32 %r5, {}, 1;\n", where, at);
            case What::Volatile: return line + fmt::format("    st.volatile.{}.u32 {}, %r2;\n", where, at);
            case What::Read: return line + fmt::format("    ld.volatile.{}.u32 %r5, {};\n", where, at);
            case What::Poll:
                return line + fmt::format(
                                  "$poll{0}:\n    ld.volatile.{1}.u32 %r5, {2};\n    setp.eq.u32 %p1, "
                                  "%r5, 0;\n    @%p1 bra $poll{0};\n",
                                  op.line, where, at);
            case What::Barrier: return line + "    bar.sync 0;\n";
        }
        return "";
    }

    void follow(RunOfThreads& out) {
        test::ReleasedOrder twin(blocks_, threads_);
        std::vector<size_t> at(programs_.size(), 0);
        std::vector<bool> waits(programs_.size(), false);
        for (;;) {
            std::vector<uint32_t> ready;
            for (uint32_t i = 0; i < programs_.size(); ++i)
                if (!waits[i] && at[i] < programs_[i].size()) ready.push_back(i);
            if (ready.empty()) break;
            const uint32_t i = ready[below(static_cast<uint32_t>(ready.size()))], block = i / threads_;
            for (uint32_t turns = 1 + below(6); turns > 0 && !waits[i] && at[i] < programs_[i].size();
                 --turns) {
                const OrderedOp& op = programs_[i][at[i]++];
                record(block, kThread[i % threads_], op);
                twin.step(block, i % threads_, op);
                waits[i] = op.what == What::Barrier;
            }
            const auto first = waits.begin() + block * threads_;
            if (std::count(first, first + threads_, true) < threads_) continue;
            twin.meet(block);
            std::fill_n(first, threads_, false);
        }
        out.right = twin.races();
    }

    void record(uint32_t block, uint32_t thread, const OrderedOp& op) {
        if (op.what == What::BlockFence || op.what == What::GridFence) return;
        const auto site = std::ranges::find(sites_, op.line, &ptx::Site::line);
        ASSERT_NE(site, sites_.end()) << op.line;
        simt::Request request;
        request.site = site->id, request.warp = thread / 32, request.mask = 1u << thread % 32;
        if (op.what == What::Barrier)
            return recorders_[block]->on_barrier(request.site, request.warp, request.mask);
        const bool cell = op.what == What::Load || op.what == What::Store;
        std::array<uint64_t, 32> address{}, found{};
        address.fill((op.shared ? (cell ? 0u : 32u) : (cell ? kData : kWords)) + 4u * op.place);
        request.space = op.shared ? Space::Shared : Space::Global;
        request.address = address.data();
        if (op.what == What::Add || op.what == What::Exchange) {
            uint64_t& value = values_[{op.shared ? block + 1 : 0, op.place}];
            found.fill(value);
            value = op.what == What::Add ? value + 1 : 1;
            request.returned = found.data();
        }
        recorders_[block]->on_request(request);
    }

    std::mt19937_64 random_;
    bool counters_;
    uint32_t blocks_ = 0, threads_ = 0, cells_ = 0, words_ = 0, line_ = 9;
    std::vector<std::vector<OrderedOp>> programs_;  // block after block
    const std::vector<Array> arrays_ = data_and_words();
    std::vector<ptx::Site> sites_;
    std::vector<std::unique_ptr<trace::BlockRecorder>> recorders_;
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> values_;
};

struct Found {
    Lines faults, unclear;
};

// Races on cells.
Found found_in(const trace::Trace& trace) {
    Found out;
    for (const Hazard& h : find_hazards(trace, one_phase(trace.sites.size())).found) {
        if ((h.kind != HazardKind::Race && h.kind != HazardKind::GridRace) || h.array % 2 != 0) continue;
        (h.severity == Severity::Fault ? out.faults : out.unclear).insert(std::minmax(h.line, h.other_line));
    }
    return out;
}

std::string listed(const char* what, const Lines& of) {
    std::string out;
    for (const auto& [a, b] : of) out += fmt::format("{} {} and {}\n", what, a, b);
    return out;
}

Lines without(const Lines& of, const Lines& others) {
    Lines out;
    std::ranges::set_difference(of, others, std::inserter(out, out.end()));
    return out;
}

TEST(Chains, WhereCountersAloneOrderThreadsTheRacesAreThoseOfTheTwin) {
    uint32_t racing = 0, pairs = 0, clean = 0;
    for (uint64_t seed = 0; seed < 600; ++seed) {
        const RunOfThreads run = RandomRun(seed, true).run();
        const Found found = found_in(run.trace);
        ASSERT_EQ(found.faults, run.right) << seed << "\n"
                                           << listed("missed", without(run.right, found.faults))
                                           << listed("wrong", without(found.faults, run.right)) << run.ptx;
        ASSERT_EQ(found.unclear, Lines{}) << seed << run.ptx;
        (run.right.empty() ? clean : racing) += 1;
        pairs += static_cast<uint32_t>(run.right.size());
    }
    EXPECT_GT(racing, 200u);
    EXPECT_GT(clean, 50u);
    EXPECT_GT(pairs, 2000u);
}

TEST(Chains, WhereFlagsAndLocksOrderThreadsNoRaceIsSaidThatIsNone) {
    size_t right = 0, faults = 0, unclear = 0;
    for (uint64_t seed = 1000; seed < 1800; ++seed) {
        const RunOfThreads run = RandomRun(seed, false).run();
        const Found found = found_in(run.trace);
        ASSERT_EQ(without(found.faults, run.right), Lines{})
            << seed << "\n"
            << listed("wrong", without(found.faults, run.right)) << run.ptx;
        right += run.right.size(), faults += found.faults.size(), unclear += found.unclear.size();
    }
    // The order of two that do not count is not recorded: some races are not found.
    EXPECT_GT(faults, right * 6 / 10);
    EXPECT_LT(unclear, right / 10);
}

}  // namespace
}  // namespace tilescope::analysis
