// What an exchange reports: which lane gives to which, and what arrives. Against twins that ask lane by lane as the
// CUDA C++ Programming Guide words it ("Warp Shuffle Functions", "Warp Vote Functions", "Warp Match Functions",
// "Warp Reduce Functions"), on random operands, with lanes switched off and in teams; and what a trace keeps of it.
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "core/ptx/exchange.h"
#include "core/trace/builder.h"
#include "core/trace/file.h"
#include "core/trace/format.h"
#include "tests/unit/simt_run.h"
#include "tests/unit/trace_forge.h"

namespace tilescope::simt {
namespace {

using namespace test;

struct Operands {
    std::array<uint32_t, 32> value{}, by{}, control{}, members{};
};

// One exchange of one warp, and what reached memory.
struct Made {
    uint32_t steps = 0, exchanges = 0, mask = 0;
    std::array<uint64_t, 32> from{}, given{}, got{};
    std::array<uint32_t, 32> stored{};
    std::optional<trace::Trace> trace;
};

class ExchangeKeeper final : public BlockObserver {
public:
    ExchangeKeeper(Made& made, const std::vector<Array>& arrays, const std::vector<ptx::Site>& sites)
        : recorder(std::make_unique<trace::BlockRecorder>(arrays, sites, BlockId{})), made_(made) {}
    void on_request(const Request& request) override {
        ++made_.steps;
        recorder->on_request(request);
    }
    void on_barrier(uint32_t site, uint32_t warp, uint32_t mask) override {
        ++made_.steps;
        recorder->on_barrier(site, warp, mask);
    }
    void on_exchange(const Exchange& exchange) override {
        ++made_.steps, ++made_.exchanges;
        made_.mask = exchange.mask;
        for_lanes(exchange.mask, [&](uint32_t lane) {
            made_.from[lane] = exchange.from[lane];
            made_.given[lane] = exchange.given[lane];
            made_.got[lane] = exchange.got[lane];
        });
        recorder->on_exchange(exchange);
    }
    std::unique_ptr<trace::BlockRecorder> recorder;

private:
    Made& made_;
};

// The operands of a lane are in %a to %d; the lanes of `mask` do `body`, whose result is in %r.
std::string kernel_of(const std::string& body) {
    return R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u32 k_2)
{
    .reg .b32 %t, %a, %b, %c, %d, %r, %m, %s; .reg .b64 %i, %o, %w, %v; .reg .pred %p, %q, %on;
    mov.u32 %t, %tid.x;
    ld.param.u64 %i, [k_0];
    ld.param.u64 %o, [k_1];
    ld.param.u32 %m, [k_2];
    mul.wide.u32 %w, %t, 16;
    add.s64 %i, %i, %w;
    mul.wide.u32 %w, %t, 4;
    add.s64 %o, %o, %w;
    ld.global.v4.b32 {%a, %b, %c, %d}, [%i];
    mov.b64 %v, {%a, %b};
    and.b32 %s, %a, 1;
    setp.ne.u32 %p, %s, 0;
    shr.u32 %s, %m, %t;
    and.b32 %s, %s, 1;
    setp.ne.u32 %on, %s, 0;
    mov.u32 %r, 7;
    )" + body +
           R"(
    st.global.b32 [%o], %r;
    ret;
}
)";
}

Made make(const std::string& body, const Operands& operands, uint32_t mask) {
    KernelRun run;
    run.program = program_of(kernel_of(body), "k");
    run.launch.arrays = {test_array("in", Space::Global, ArrayRole::Input, 32, 4, kIn),
                         test_array("out", Space::Global, ArrayRole::Output, 1, 32, kOut)};
    run.launch.arguments = test_arguments({kIn, kOut, mask});
    run.launch.block = {32, 1, 1};
    run.memory.buffers = {{"in", kIn, Bytes(512)}, {"out", kOut, Bytes(128)}};
    for (size_t lane = 0; lane < 32; ++lane) {
        const std::array<uint32_t, 4> all{operands.value[lane], operands.by[lane], operands.control[lane],
                                          operands.members[lane]};
        std::memcpy(&run.memory.buffers[0].bytes[16 * lane], all.data(), 16);
    }
    run.options.values = true;
    Made made;
    ExchangeKeeper keeper(made, run.launch.arrays, sites_of(*run.program));
    const auto outcome =
        simt::run(*run.program, run.launch, run.memory, run.options, [&](const BlockId&) { return &keeper; });
    if (!outcome || !outcome->complete) throw std::runtime_error(outcome ? "fault" : outcome.error().message);
    std::memcpy(made.stored.data(), run.memory.buffers[1].bytes.data(), 128);
    std::vector<std::unique_ptr<trace::BlockRecorder>> recorders;
    recorders.push_back(std::move(keeper.recorder));
    trace::Meta meta;
    meta.complete = true;
    meta.window = {0, 1, 0, 1};
    made.trace = trace::assemble(meta, test_launch(run.launch.arrays, {1, 1, 1}, {32, 1, 1}),
                                 sites_of(*run.program), std::move(recorders));
    return made;
}

uint32_t random_mask(std::mt19937_64& random) {
    return random() % 3 == 0 ? ~0u : static_cast<uint32_t>(random() | 1u << random() % 32);
}

// Teams of as many lanes each, or every so many-th.
std::array<uint32_t, 32> random_teams(std::mt19937_64& random) {
    std::array<uint32_t, 32> members{};
    const uint64_t count = uint64_t{1} << random() % 4;
    const bool by_turns = random() & 1;
    for (uint64_t a = 0; a < 32; ++a)
        for (uint64_t b = 0; b < 32; ++b)
            if (by_turns ? a % count == b % count : a * count / 32 == b * count / 32) members[a] |= 1u << b;
    return members;
}

// What a trace keeps of the exchange is what was reported, in memory and in a file.
void expect_kept(const Made& made) {
    const std::string bytes = trace::serialize(*made.trace);
    EXPECT_EQ(trace::get<uint32_t>(bytes, 8), trace::kExchangesVersion);
    const auto read = trace::deserialize(bytes, "exchange.tsc");
    ASSERT_TRUE(read) << read.error().message;
    for (const trace::Trace* const trace : {&*made.trace, &*read}) {
        uint32_t found = 0;
        for (uint64_t step = 0; step < trace->steps(); ++step) {
            const trace::Access access = trace::decode(*trace, step);
            if (trace->sites[access.site].kind != ptx::SiteKind::Exchange) continue;
            ++found;
            EXPECT_EQ(access.mask, made.mask);
            EXPECT_EQ(access.array, trace::kNoArray);
            EXPECT_EQ(access.offset, made.from);
        }
        EXPECT_EQ(found, 1u);
        EXPECT_EQ(trace->steps(), made.steps);
    }
}

struct Shuffle {
    const char* name;
    ptx::Exchange what;
};
constexpr Shuffle kShuffles[] = {{"up", ptx::Exchange::ShuffleUp},
                                 {"down", ptx::Exchange::ShuffleDown},
                                 {"bfly", ptx::Exchange::ShuffleXor},
                                 {"idx", ptx::Exchange::ShuffleIdx}};

// The lane that a lane reads in a segment of `width`; none where it keeps its own value.
std::optional<uint32_t> read_by(ptx::Exchange what, uint32_t lane, uint32_t by, uint32_t width) {
    const int begin = static_cast<int>(lane / width * width), end = begin + static_cast<int>(width);
    const int own = static_cast<int>(lane), distance = static_cast<int>(by);
    int from = 0;
    switch (what) {
        case ptx::Exchange::ShuffleUp: from = own - distance; break;
        case ptx::Exchange::ShuffleDown: from = own + distance; break;
        case ptx::Exchange::ShuffleXor: from = own ^ distance; break;
        default: from = begin + distance % static_cast<int>(width); break;
    }
    // By xor a lane may read one of a segment before its own.
    const bool inside = from < end && (from >= begin || what == ptx::Exchange::ShuffleXor);
    return inside ? std::optional(static_cast<uint32_t>(from)) : std::nullopt;
}

TEST(Exchanges, OfEveryShuffleReadTheLaneThatTheGuideNames) {
    std::mt19937_64 random(11);
    for (const Shuffle& shuffle : kShuffles)
        for (int round = 0; round < 60; ++round) {
            SCOPED_TRACE(testing::Message() << shuffle.name << " round " << round);
            const uint32_t width = 1u << random() % 6, mask = random_mask(random);
            const uint32_t by = static_cast<uint32_t>(random() % 32);
            Operands operands;
            for (size_t lane = 0; lane < 32; ++lane) {
                operands.value[lane] = static_cast<uint32_t>(random());
                // Each lane its own, but where all take one; and bits that the instruction does not look at.
                operands.by[lane] =
                    (round % 2 ? by : static_cast<uint32_t>(random() % 32)) | (round % 3 ? 0 : 32u);
                operands.control[lane] =
                    (32 - width) << 8 | (shuffle.what == ptx::Exchange::ShuffleUp ? 0 : 31);
                operands.members[lane] = mask;
            }
            const Made made = make(fmt::format("@%on shfl.sync.{}.b32 %r|%q, %a, %b, %c, %d;", shuffle.name),
                                   operands, mask);
            ASSERT_EQ(made.exchanges, 1u);
            ASSERT_EQ(made.mask, mask);
            for_lanes(mask, [&](uint32_t lane) {
                const auto from = read_by(shuffle.what, lane, operands.by[lane] % 32, width);
                EXPECT_EQ(made.from[lane], from.value_or(lane + ptx::kOutside)) << lane;
                EXPECT_EQ(made.given[lane], operands.value[lane]);
                EXPECT_EQ(made.got[lane], made.stored[lane]);
                if (mask >> from.value_or(lane) & 1)  // else what arrives is undefined
                    EXPECT_EQ(made.got[lane], operands.value[from.value_or(lane)]) << lane;
            });
            for_lanes(~mask, [&](uint32_t lane) { EXPECT_EQ(made.stored[lane], 7u); });
            expect_kept(made);
        }
}

TEST(Exchanges, OfVotesAreTheVotesOfTheLanesTeam) {
    std::mt19937_64 random(12);
    for (const char* const mode : {"all.pred", "any.pred", "uni.pred", "ballot.b32"})
        for (int round = 0; round < 40; ++round) {
            SCOPED_TRACE(testing::Message() << mode << " round " << round);
            const bool ballot = mode[0] == 'b';
            const uint32_t mask = random_mask(random);
            Operands operands;
            operands.members = random_teams(random);
            for (uint32_t& value : operands.value)
                value = round % 4 == 0 ? 1 : round % 4 == 1 ? 0 : static_cast<uint32_t>(random());
            const Made made =
                make(ballot ? "@%on vote.sync.ballot.b32 %r, %p, %d;"
                            : fmt::format("@%on vote.sync.{} %q, %p, %d;\n@%on selp.u32 %r, 1, 0, %q;", mode),
                     operands, mask);
            ASSERT_EQ(made.exchanges, 1u);
            for_lanes(mask, [&](uint32_t lane) {
                uint32_t yes = 0, no = 0;
                for_lanes(mask & operands.members[lane],
                          [&](uint32_t other) { (operands.value[other] & 1 ? yes : no) |= 1u << other; });
                EXPECT_EQ(made.from[lane], yes) << lane;
                EXPECT_EQ(made.given[lane], operands.value[lane] & 1);
                const uint32_t answer = ballot                             ? yes
                                        : mode[1] == 'l'                   ? no == 0
                                        : mode[1] == 'n' && mode[0] == 'a' ? yes != 0
                                                                           : yes == 0 || no == 0;
                EXPECT_EQ(made.got[lane], answer) << lane;
                EXPECT_EQ(made.stored[lane], answer) << lane;
            });
            expect_kept(made);
        }
}

TEST(Exchanges, OfMatchesAndReductionsNameTheLowestOfThoseTogether) {
    std::mt19937_64 random(13);
    const auto lowest = [](uint32_t lanes) { return static_cast<uint32_t>(std::countr_zero(lanes)); };
    for (const char* const body :
         {"@%on match.any.sync.b32 %r, %a, %d;", "@%on match.all.sync.b32 %r|%q, %a, %d;",
          "@%on match.any.sync.b64 %r, %v, %d;", "@%on redux.sync.add.s32 %r, %a, %d;",
          "@%on redux.sync.max.u32 %r, %a, %d;"})
        for (int round = 0; round < 40; ++round) {
            SCOPED_TRACE(testing::Message() << body << " round " << round);
            const std::string text = body;
            const bool match = text.find("match") != std::string::npos,
                       wide = text.find("b64") != std::string::npos;
            const uint32_t mask = random_mask(random);
            Operands operands;
            operands.members = random_teams(random);
            for (size_t lane = 0; lane < 32; ++lane) {
                operands.value[lane] = static_cast<uint32_t>(round % 5 == 0 ? 3 : random() % 3);
                operands.by[lane] = static_cast<uint32_t>(random() % 2);  // the high half of a wide value
            }
            const Made made = make(text, operands, mask);
            ASSERT_EQ(made.exchanges, 1u);
            for_lanes(mask, [&](uint32_t lane) {
                const uint32_t team = mask & operands.members[lane];
                uint32_t same = 0, sum = 0, most = 0;
                for_lanes(team, [&](uint32_t other) {
                    const bool equal = operands.value[other] == operands.value[lane] &&
                                       (!wide || operands.by[other] == operands.by[lane]);
                    same |= equal ? 1u << other : 0u;
                    sum += operands.value[other];
                    most = std::max(most, operands.value[other]);
                });
                EXPECT_EQ(made.from[lane], lowest(match ? same : team)) << lane;
                if (!match)
                    EXPECT_EQ(made.got[lane], text.find("add") != std::string::npos ? sum : most);
                else if (text.find("any") != std::string::npos)
                    EXPECT_EQ(made.got[lane], same);
                else
                    EXPECT_EQ(made.got[lane], same == team ? team : 0u);
                EXPECT_EQ(made.stored[lane], made.got[lane]);
            });
            expect_kept(made);
        }
}

TEST(Exchanges, AreNoStepsOfAProgramThatIsPreparedWithoutThem) {
    const auto module = ptx::parse(kernel_of("shfl.sync.down.b32 %r, %a, 16, 31, -1;"), "k.ptx");
    ASSERT_TRUE(module);
    const auto with = prepare(*module, "k"), without = prepare(*module, "k", {}, false);
    ASSERT_TRUE(with && without);
    EXPECT_EQ(sites_of(**with).size(), 3u);
    EXPECT_EQ(sites_of(**without).size(), 2u);
    EXPECT_TRUE(ptx::has_exchanges(sites_of(**with)));
    EXPECT_FALSE(ptx::has_exchanges(sites_of(**without)));
}

TEST(Exchanges, OfADamagedFileAreRefusedInOneSentence) {
    Operands operands;
    operands.members.fill(~0u);
    operands.by.fill(16);
    operands.control.fill(31);
    const Made made = make("shfl.sync.down.b32 %r, %a, %b, %c, %d;", operands, ~0u);
    const auto refused = [&](const auto& change, const char* says) {
        trace::Trace broken = *made.trace;
        change(broken);
        const auto read = trace::deserialize(trace::serialize(broken), "exchange.tsc");
        ASSERT_FALSE(read) << says;
        EXPECT_NE(read.error().message.find(says), std::string::npos) << read.error().message;
    };
    const auto is_exchange = [](const trace::Trace& trace, const trace::Form& form) {
        return trace.sites[form.site].kind == ptx::SiteKind::Exchange;
    };
    refused([](trace::Trace& t) { t.base[1] = 64; }, "exchanges with lanes that do not exist");
    refused(
        [&](trace::Trace& t) {
            for (trace::Form& form : t.forms)
                if (is_exchange(t, form)) form.stride = 1 << 20;
        },
        "exchanges with lanes that do not exist");
    refused(
        [&](trace::Trace& t) {
            for (trace::Form& form : t.forms)
                if (is_exchange(t, form)) form.array = 0;
        },
        "is of an exchange among lanes, which touches no memory, and names an array");
    refused(
        [&](trace::Trace& t) {
            for (trace::Form& form : t.forms)
                if (is_exchange(t, form)) form.space = Space::Shared;
        },
        "is of an exchange among lanes, which touches no memory, and names shared memory");
    refused([](trace::Trace& t) { t.sites[1].exchange = ptx::Exchange::None; },
            "its site 1 is an exchange among lanes, and does not say which one");
    refused([](trace::Trace& t) { t.sites[1].exchange = ptx::Exchange::Reduce; },
            "its site 1 is an atomic or an exchange that reduces, and does not say what it does");
    refused([](trace::Trace& t) { t.sites[1].atomic = ptx::Atomic::Add; },
            "its site 1 is neither an atomic nor an exchange that reduces, and says what one does");
    refused([](trace::Trace& t) { t.sites[1].bytes = 4; }, "touches 4 bytes");
    std::string old = trace::serialize(*made.trace);
    trace::set(old, 8, trace::kFileVersion);
    trace::repair(old);
    const auto read = trace::deserialize(old, "exchange.tsc");
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("holds exchanges among the lanes of a warp"), std::string::npos)
        << read.error().message;
}

}  // namespace
}  // namespace tilescope::simt
