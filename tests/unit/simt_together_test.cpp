// Requests that move as a whole, and warps that compute side by side, against the same kernel run lane by lane and
// warp by warp: with generic accesses, which never move as a whole, and with values, which are followed in each turn.
#include <numeric>
#include <sstream>

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using test::Event, test::KernelRun, test::kIn, test::kOut;

constexpr uint32_t kWords = 4096;
constexpr uint32_t kNumbers[] = {11, 13, 17, 19, 23, 29, 31, 37};  // in constant memory
constexpr uint64_t kSecond = kIn + 4 * kWords;                     // a second array, right behind the first

// All that a run leaves.
struct Left {
    std::vector<std::vector<Event>> events;
    std::vector<Bytes> memory;
    std::vector<std::vector<uint8_t>> filled;
    uint64_t instructions = 0;
    std::string fault;
    std::vector<std::string> undefined;  // sentences
    bool operator==(const Left&) const = default;
    // That a thread of the first block left at %o.
    uint32_t word(uint32_t thread) const {
        uint32_t word = 0;
        std::memcpy(&word, memory.back().data() + size_t{4} * thread, 4);
        return word;
    }
};

struct Kernel {
    std::string body;
    uint32_t threads = 128, blocks = 1;
    bool observed = true, values = false, generic = false;
    bool half_filled = false;              // of each array; else nobody asks what is filled
    uint64_t most_instructions = 1 << 20;  // of a warp, and of a block
    uint64_t enough = UINT64_MAX;          // requests of a block after which its observer has seen enough

    std::string text() const {
        std::string made = R"ptx(.version 6.0
.target sm_70
.address_size 64
.const .align 4 .u32 numbers[8] = {)ptx" +
                           fmt::format("{}", fmt::join(kNumbers, ", ")) + R"ptx(};
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
.reg .b32 %t, %w, %l, %i, %r<20>;
.reg .b16 %h<4>;
.reg .b64 %in, %out, %a, %o, %d<20>;
.reg .pred %p<9>;
.reg .f32 %f<9>;
.shared .align 16 .b8 tile[8192];
ld.param.u64 %in, [k_0];
ld.param.u64 %out, [k_1];
mov.u32 %t, %tid.x;
mov.u32 %r19, %ctaid.x;
mov.u32 %r18, %ntid.x;
mad.lo.u32 %r17, %r19, %r18, %t;
shr.u32 %w, %t, 5;
and.b32 %l, %t, 31;
mul.wide.u32 %d19, %r17, 4;
add.s64 %a, %in, %d19;
add.s64 %o, %out, %d19;
)ptx" + body + "\nret;\n}\n";
        return generic ? with_generic_addresses(made) : made;
    }
    // Where an address has 64 bits.
    static std::string with_generic_addresses(const std::string& text) {
        std::istringstream lines(text);
        std::string made;
        for (std::string line; std::getline(lines, line); made += line + '\n')
            for (const std::string space : {".global", ".shared", ".const"}) {
                const bool wide = space == ".global" || line.find("[%d") != std::string::npos;
                for (const char* const access : {"ld", "st"})
                    if (const size_t at = line.find(access + space); wide && at != std::string::npos)
                        line.erase(at + 2, space.size());
                const size_t move = line.find(space == ".shared" ? ", tile" : ", numbers");
                if (space != ".global" && line.starts_with("mov.u64 ") && move != std::string::npos)
                    line.replace(0, std::string("mov").size(), "cvta" + space);
            }
        return made;
    }

    Left run() const {
        Left left;
        KernelRun made;
        made.program = test::program_of(text(), "k");
        made.launch.block = {threads, 1, 1};
        made.launch.grid = {blocks, 1, 1};
        made.launch.arguments = test_arguments({kIn, kOut});
        const auto add = [&](const char* name, uint64_t base, uint32_t words) {
            Bytes bytes(size_t{words} * 4);
            for (uint32_t i = 0; i < words; ++i) {
                const uint32_t word = (i + static_cast<uint32_t>(base)) * 2654435761u;
                std::memcpy(bytes.data() + size_t{4} * i, &word, 4);
            }
            made.memory.buffers.push_back({name, base, bytes});
            if (half_filled) {
                auto& map = left.filled.emplace_back(words);
                std::fill_n(map.begin(), words / 2, uint8_t{15});
                made.memory.buffers.back().filled = map.data();
            }
            made.launch.arrays.push_back(
                test_array(name, Space::Global, ArrayRole::InOut, words / 64, 64, base));
        };
        add("first", kIn, kWords);
        add("second", kSecond, kWords);
        add("out", kOut, kWords);
        made.options.values = values;
        made.options.max_instructions_per_warp = most_instructions;
        made.options.max_instructions_per_block = 3 * most_instructions;
        left.events.resize(observed ? blocks : 0);
        std::vector<std::unique_ptr<BlockObserver>> observers(blocks);
        const auto outcome = simt::run(
            *made.program, made.launch, made.memory, made.options, [&](const BlockId& b) -> BlockObserver* {
                if (!observed) return nullptr;
                observers[b.x] = std::make_unique<Watcher>(*made.program, left.events[b.x], enough);
                return observers[b.x].get();
            });
        if (!outcome) throw std::runtime_error(outcome.error().message);
        for (auto& events : left.events)
            for (Event& event : events) event.value = {}, event.origin = {}, event.products.clear();
        for (const Buffer& buffer : made.memory.buffers) left.memory.push_back(buffer.bytes);
        left.instructions = outcome->instructions;
        if (outcome->fault) left.fault = outcome->fault->message;
        for (const Undefined& one : outcome->undefined) left.undefined.push_back(one.sentence);
        return left;
    }

private:
    class Watcher final : public BlockObserver {
    public:
        Watcher(const Program& program, std::vector<Event>& events, uint64_t most)
            : keeper_(program, events), most_(most) {}
        void on_request(const Request& request) override {
            keeper_.on_request(request);
            enough = --most_ == 0;
        }
        void on_barrier(uint32_t site, uint32_t warp, uint32_t mask) override {
            keeper_.on_barrier(site, warp, mask);
        }

    private:
        test::Keeper keeper_;
        uint64_t most_;
    };
};

// Runs a kernel every way; what it leaves.
Left left_of(Kernel kernel) {
    const Left whole = kernel.run();
    kernel.values = true;
    EXPECT_EQ(kernel.run(), whole) << "with values\n" << kernel.text();
    kernel.generic = true;
    EXPECT_EQ(kernel.run(), whole) << "lane by lane, with values\n" << kernel.text();
    kernel.values = false;
    EXPECT_EQ(kernel.run(), whole) << "lane by lane\n" << kernel.text();
    if (kernel.enough != UINT64_MAX) return whole;
    Left unseen = whole;
    unseen.events.clear();
    for (const bool generic : {false, true}) {
        kernel.generic = generic, kernel.observed = false;
        EXPECT_EQ(kernel.run(), unseen) << "unobserved\n" << kernel.text();
    }
    return whole;
}

// %i from 0 to n - 1 around a body; %o has one word for each thread.
std::string loop(uint32_t n, const std::string& body) {
    return "mov.u32 %i, 0;\nmov.u32 %r16, 0;\nagain:\n" + body + "add.u32 %i, %i, 1;\nsetp.lt.u32 %p8, %i, " +
           std::to_string(n) + ";\n@%p8 bra again;\nst.global.u32 [%o], %r16;";
}

// Each pass has another factor from lane to lane, so that there are more patterns than are remembered.
const char* const kTwisted = R"ptx(
mul.lo.u32 %r1, %t, %i;
and.b32 %r1, %r1, 2047;
mul.wide.u32 %d1, %r1, 4;
add.s64 %d1, %in, %d1;
ld.global.u32 %r2, [%d1];
mad.lo.u32 %r16, %r16, 31, %r2;
)ptx";

TEST(Together, APatternMayChangeFromPassToPass) {
    EXPECT_EQ(left_of({loop(150, kTwisted)}).fault, "");
    // Few of them, in turn; one that never comes again; one that stays.
    for (const char* const index :
         {"and.b32 %r3, %i, 1;\nmul.lo.u32 %r1, %t, %r3;\n",
          "mul.lo.u32 %r1, %t, %t;\nmad.lo.u32 %r1, %r1, %i, %r16;\n", "mov.u32 %r1, %l;\n",
          "shr.u32 %r1, %t, 4;\n", "xor.b32 %r1, %t, %i;\n", "shr.u32 %r1, %t, %i;\n",
          "and.b32 %r1, %t, 15;\n", "shl.b32 %r1, %t, 2;\n", "sub.u32 %r1, 2000, %t;\n"})
        EXPECT_EQ(left_of({loop(40, index + std::string(R"ptx(
and.b32 %r1, %r1, 2047;
mul.wide.u32 %d1, %r1, 4;
add.s64 %d1, %in, %d1;
ld.global.u32 %r2, [%d1+4];
mad.lo.u32 %r16, %r16, 31, %r2;
)ptx"))})
                      .fault,
                  "");
}

TEST(Together, EachSizeOfElementMovesAsAWhole) {
    const std::pair<const char*, const char*> kAccesses[] = {
        {"u8 %r1", "u8"},
        {"s8 %r1", "s8"},
        {"u16 %r1", "u16"},
        {"s16 %r1", "s16"},
        {"u32 %r1", "u32"},
        {"s32 %d1", "s32"},
        {"u8 %d1", "u8"},
        {"s8 %d1", "s8"},
        {"s16 %d1", "s16"},
        {"u64 %d1", "u64"},
        {"s8 %h1", "s8"},
        {"s16 %h1", "s16"},
        {"v2.u32 {%r1, %r2}", "v2.u32"},
        {"v4.f32 {%f1, %f2, %f3, %f4}", "v4.f32"},
        {"v2.u64 {%d1, %d2}", "v2.u64"},
        {"v2.s16 {%r1, %r2}", "v2.s16"},
        {"v4.u8 {%r1, %r2, %r3, %r4}", "v4.u8"},
    };
    for (const auto& [access, type] : kAccesses) {
        const std::string data = std::string(access).substr(std::string(access).find(' ') + 1);
        // Side by side, at one place, in rows of 16 and of 8, and 64 bytes apart.
        for (const char* const place :
             {"shl.b32 %r9, %t, 4;", "mov.u32 %r9, 64;", "and.b32 %r9, %t, 15;\nshl.b32 %r9, %r9, 4;",
              "shr.u32 %r9, %t, 3;\nshl.b32 %r9, %r9, 4;", "shl.b32 %r9, %t, 6;",
              "and.b32 %r9, %t, 7;\nshl.b32 %r9, %r9, 2;\nadd.u32 %r9, %r9, %r9;\nadd.u32 %r9, %r9, %r9;"})
            for (const uint32_t shift : {0u, 1u, 2u, 3u, 4u}) {
                std::string body =
                    std::string(place) + "\nshr.u32 %r9, %r9, " + std::to_string(shift) + ";\n";
                body +=
                    "cvt.u64.u32 %d9, %r9;\nadd.s64 %d8, %in, %d9;\nadd.s64 %d7, %out, %d9;\nmov.u64 %d6, "
                    "tile;\n"
                    "add.s64 %d6, %d6, %d9;\n";
                body += "ld.global." + std::string(access) + ", [%d8];\n";
                body += "st.shared." + std::string(type) + " [%d6], " + data + ";\n";
                body += "ld.shared." + std::string(access) + ", [%d6];\n";
                body += "st.global." + std::string(type) + " [%d7], " + data + ";\n";
                left_of({body});
            }
    }
}

TEST(Together, ALoadMayOverwriteItsAddress) {
    EXPECT_EQ(left_of({R"ptx(
mov.u64 %d1, tile;
mul.wide.u32 %d2, %t, 16;
add.s64 %d3, %d1, %d2;
xor.b64 %d4, %d3, 16;
st.shared.v2.u64 [%d3], {%d4, %d2};
bar.sync 0;
mov.u64 %d5, %d3;
ld.shared.u64 %d3, [%d3];
ld.shared.v2.u64 {%d5, %d3}, [%d3];
add.s64 %d5, %d5, %d3;
st.global.u32 [%o], %d5;
cvt.u32.u64 %r1, %d4;
ld.shared.u32 %r1, [%r1];
ld.shared.u32 %r1, [%r1];
st.global.u32 [%a], %r1;
)ptx"})
                  .fault,
              "");
    // In shared memory, by addresses of 64 bits and of 32, and in global memory.
    for (const std::string pass :
         {"mov.u64 %d3, %d5;\nld.shared.u64 %d3, [%d3];\n",
          "cvt.u32.u64 %r1, %d5;\nld.shared.u32 %r1, [%r1];\ncvt.u64.u32 %d3, %r1;\n",
          "mov.u64 %d3, %a;\nld.global.u64 %d3, [%d3];\n"}) {
        const Left left = left_of({R"ptx(
mul.wide.u32 %d2, %t, 8;
mul.wide.u32 %d19, %t, 4;
add.s64 %a, %a, %d19;
mov.u64 %d5, tile;
add.s64 %d5, %d5, %d2;
mul.lo.u32 %r2, %t, 7;
cvt.u64.u32 %d4, %r2;
st.shared.u64 [%d5], %d4;
st.global.u64 [%a], %d4;
bar.sync 0;
)ptx" + loop(8, pass + "cvt.u32.u64 %r3, %d3;\nadd.u32 %r3, %r3, %i;\nadd.u32 %r16, %r16, %r3;\n")});
        EXPECT_EQ(left.fault, "");
        // Each thread adds up 7 t + i over the passes.
        for (uint32_t t = 0; t < 128; ++t) ASSERT_EQ(left.word(t), 8 * 7 * t + 28) << pass;
    }
}

TEST(Together, AddressesOf32BitsWrapAtTheirEnd) {
    // The second one's first lanes have addresses just below 2^32.
    for (const std::string shift : {"16", "-16"}) {
        const Left left = left_of({R"ptx(
mov.u32 %r1, tile;
mad.lo.u32 %r1, %t, 4, %r1;
st.shared.u32 [%r1], %t;
add.u32 %r2, %r1, )ptx" + shift + ";\nbar.sync 0;\n" +
                                   loop(8, "ld.shared.u32 %r3, [%r2+" +
                                               std::string(shift == "16" ? "-16" : "16") +
                                               "];\nadd.u32 %r16, %r16, %r3;\n")});
        for (uint32_t t = 0; t < 128; ++t) ASSERT_EQ(left.word(t), 8 * t);
        for (const Event& event : left.events[0])
            for (uint64_t lane = 0; event.space == Space::Shared && !event.barrier && lane < 32; ++lane)
                ASSERT_EQ(event.address[lane], 4 * (event.warp * 32 + lane));
    }
    EXPECT_NE(left_of({R"ptx(
mov.u32 %r1, tile;
mad.lo.u32 %r1, %t, 4, %r1;
st.shared.u32 [%r1], %t;
ld.shared.u32 %r3, [%r1+-4];
st.global.u32 [%o], %r3;
)ptx"})
                  .fault,
              "");
}

TEST(Together, OnlyLanesThatTakePartMove) {
    for (const uint32_t threads : {100u, 128u, 33u, 7u})
        for (const char* const lanes :
             {"setp.ne.u32 %p1, %l, 31;", "setp.gt.u32 %p1, %l, %i;",
              "and.b32 %r3, %t, %i;\nsetp.eq.u32 %p1, %r3, 0;", "setp.lt.u32 %p1, %t, 40;",
              "setp.lt.u32 %p1, %l, 8;", "setp.eq.u32 %p1, %w, 1;"})
            for (const char* const how :
                 {"@%p1 ld.global.u32 %r1, [%a];\n@%p1 st.global.u32 [%o+4], %r1;\n",
                  "@!%p1 bra skip;\nld.global.u32 %r1, [%a];\nst.global.u32 [%o+4], %i;\nskip:\n"})
                left_of({loop(20, std::string(lanes) + "\n" + how + "mad.lo.u32 %r16, %r16, 3, %r1;\n"),
                         threads});
}

TEST(Together, OneLaneOutsideIsFoundWhereTheOthersAreInside) {
    // The last array's last element is one lane's too far, in one warp and one pass.
    for (const uint32_t lane : {31u, 63u, 100u, 127u}) {
        const std::string body = "setp.eq.u32 %p1, %t, " + std::to_string(lane) + R"ptx(;
setp.eq.u32 %p2, %i, 5;
and.pred %p1, %p1, %p2;
selp.u64 %d2, 32768, 0, %p1;
add.s64 %d1, %a, %d2;
)ptx";
        EXPECT_NE(left_of({loop(8, body + "ld.global.u32 %r1, [%d1];\nadd.u32 %r16, %r16, %r1;\n")}).fault,
                  "");
        EXPECT_NE(left_of({loop(8, body + "st.global.u32 [%d1], %i;\n")}).fault, "");
    }
    // By one element, and by one byte behind the last one that all lanes may have.
    for (const uint32_t step : {1u, 2u, 4u}) {
        const std::string body = "mad.lo.u32 %r1, %i, " + std::to_string(step) + R"ptx(, 8180;
mad.lo.u32 %r1, %t, 4, %r1;
cvt.u64.u32 %d1, %r1;
mov.u64 %d2, tile;
add.s64 %d1, %d1, %d2;
sub.s64 %d1, %d1, 508;
)ptx";
        EXPECT_NE(left_of({loop(20, body + "st.shared.u8 [%d1], %i;\n")}).fault, "");
        if (step == 4) EXPECT_NE(left_of({loop(20, body + "st.shared.u32 [%d1], %i;\n")}).fault, "");
    }
}

TEST(Together, OneMisalignedLaneIsFound) {
    for (const uint32_t lane : {0u, 31u, 64u, 127u})
        EXPECT_NE(left_of({loop(8, "setp.eq.u32 %p1, %t, " + std::to_string(lane) + R"ptx(;
setp.eq.u32 %p2, %i, 5;
and.pred %p1, %p1, %p2;
selp.u64 %d2, 2, 0, %p1;
add.s64 %d1, %a, %d2;
ld.global.u32 %r1, [%d1];
add.u32 %r16, %r16, %r1;
)ptx")})
                      .fault,
                  "");
}

TEST(Together, ARequestMayReachOverTwoArrays) {
    for (const char* const offset :
         {"mul.wide.u32 %d1, %i, 64;", "and.b32 %r2, %t, 1;\nmul.wide.u32 %d1, %r2, 4096;",
          "and.b32 %r2, %i, 1;\nmul.wide.u32 %d1, %r2, 4096;"})
        EXPECT_EQ(left_of({loop(16, offset + std::string(R"ptx(
add.s64 %d1, %d1, %a;
ld.global.u32 %r1, [%d1+15872];
st.global.u32 [%d1+15872], %i;
mad.lo.u32 %r16, %r16, 3, %r1;
)ptx"))})
                      .fault,
                  "");
}

TEST(Together, LanesThatStoreToOnePlaceLeaveTheHighestOnes) {
    for (const char* const place : {"mov.u32 %r1, 0;", "shr.u32 %r1, %t, 3;", "shr.u32 %r1, %t, 4;",
                                    "shr.u32 %r1, %t, 1;", "and.b32 %r1, %t, 3;"})
        for (const char* const type : {"u8", "u16", "u32"})
            left_of({place + std::string("\nmul.wide.u32 %d1, %r1, 4;\nadd.s64 %d1, %out, %d1;\nst.global.") +
                     type + " [%d1], %t;"});
}

TEST(Together, WarpsMayGoDifferentWays) {
    // By warp, to other requests, round a loop more often, to their ends; parts of a warp; to a barrier.
    for (const uint32_t threads : {128u, 256u, 1024u, 96u})
        for (const char* const path : {
                 "and.b32 %r3, %w, 1;\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra other;\nld.global.u32 %r1, "
                 "[%a];\nbra.uni both;\n"
                 "other:\nld.global.u32 %r1, [%in];\nboth:\n",
                 "setp.gt.u32 %p1, %w, %i;\n@%p1 bra both;\nld.global.u32 %r1, [%a];\nst.global.u32 [%o], "
                 "%r1;\nboth:\n",
                 "setp.lt.u32 %p1, %w, %i;\n@%p1 exit;\nld.global.u32 %r1, [%a];\n",
                 "setp.lt.u32 %p1, %t, %i;\n@%p1 exit;\nld.global.u32 %r1, [%a];\n",
                 "ld.global.u32 %r1, [%a];\nsetp.lt.u32 %p1, %l, %i;\n@%p1 bra both;\nadd.u32 %r1, %r1, "
                 "1;\nboth:\nbar.sync 0;\n",
                 "ld.global.u32 %r1, [%in];\nsetp.ne.u32 %p1, %w, 2;\n@%p1 bra both;\nadd.u32 %r1, %r1, "
                 "1;\nboth:\nst.shared.u32 [tile], %t;\n"
                 "ld.shared.u32 %r2, [tile];\nadd.u32 %r1, %r1, %r2;\n",
                 "ld.global.u32 %r1, [%a];\nmov.u32 %r4, 0;\nturn:\nadd.u32 %r4, %r4, 1;\nadd.u32 %r1, %r1, "
                 "%r4;\nsetp.lt.u32 %p2, %r4, %w;\n@%p2 bra turn;\n",
             })
            EXPECT_EQ(
                left_of({loop(6, std::string(path) + "mad.lo.u32 %r16, %r16, 3, %r1;\n"), threads, 2}).fault,
                "");
}

TEST(Together, AFaultEndsTheBlockWhereItDoesInTurn) {
    // Of one warp's arithmetic between requests, and of its request, in the middle of a round.
    const std::string one_warp = "setp.eq.and.u32 %p1, %w, 2, %p5;\n",
                      one_lane = "setp.eq.and.u32 %p1, %t, 70, %p5;\n";
    for (const std::string& fault : {
             one_lane + "@%p1 trap;\n",
             one_warp + "@!%p1 bra fine;\ntrap;\nfine:\n",
             one_warp + "selp.u64 %d1, 1048576, 0, %p1;\nadd.s64 %d1, %d1, %o;\nst.global.u32 [%d1], %r1;\n",
             one_lane + "@%p1 bra part;\nbar.sync 0;\nadd.u32 %r1, %r1, 1;\nbar.sync 0;\nbra.uni fine;\n"
                        "part:\nbar.sync 1;\nfine:\n",
         })
        EXPECT_NE(left_of({loop(8,
                                "ld.global.u32 %r1, [%a];\nadd.u32 %r1, %r1, 1;\nst.global.u32 [%o], %r1;\n"
                                "setp.eq.u32 %p5, %i, 5;\n" +
                                    fault + "st.global.u32 [%a], %r1;\n")})
                      .fault,
                  "");
}

// Of 8 passes the last 4 read what nobody has filled, and fill it.
TEST(Together, WhatIsFilledIsAskedInTurn) {
    Kernel kernel{loop(8, R"ptx(
mad.lo.u32 %r1, %i, 512, %t;
mul.wide.u32 %d1, %r1, 4;
add.s64 %d1, %d1, %in;
ld.global.u32 %r2, [%d1];
mov.u64 %d2, tile;
mul.wide.u32 %d3, %t, 4;
add.s64 %d2, %d2, %d3;
st.shared.u32 [%d2], %r2;
ld.shared.u32 %r3, [%d2];
st.global.u32 [%d1], %i;
mad.lo.u32 %r16, %r16, 31, %r3;
)ptx")};
    kernel.half_filled = true;
    const Left left = left_of(kernel);
    ASSERT_EQ(left.undefined.size(), 1u);
    EXPECT_NE(left.undefined[0].find("; 512 such reads"), std::string::npos) << left.undefined[0];
    EXPECT_EQ(std::ranges::count(left.filled[0], uint8_t{15}), kWords / 2 + 4 * 128);
}

TEST(Together, ConstantsMoveAsAWhole) {
    const Left left = left_of({loop(8, R"ptx(
add.u32 %r1, %t, %i;
and.b32 %r1, %r1, 7;
mul.wide.u32 %d1, %r1, 4;
mov.u64 %d2, numbers;
add.s64 %d1, %d1, %d2;
ld.const.u32 %r2, [%d1];
ld.const.u32 %r3, [numbers+4];
add.u32 %r16, %r16, %r2;
sub.u32 %r16, %r16, %r3;
)ptx")});
    const uint32_t all = std::accumulate(std::begin(kNumbers), std::end(kNumbers), 0u);
    for (uint32_t t = 0; t < 128; ++t) ASSERT_EQ(left.word(t), all - 8 * kNumbers[1]);  // each of them once
}

// Half of the warps meet at a barrier of their own in each pass, the others' requests go on meanwhile.
TEST(Together, ABarrierOfSomeThreadsStandsBesideWarpsThatOwe) {
    for (const char* const who : {"setp.lt.u32 %p1, %w, 2;\n", "setp.ge.u32 %p1, %w, 2;\n",
                                  "and.b32 %r3, %w, 1;\nsetp.eq.u32 %p1, %r3, 0;\n"})
        EXPECT_EQ(left_of({loop(8, who + std::string(R"ptx(
ld.global.u32 %r1, [%a];
@!%p1 bra on;
add.u32 %r1, %r1, 1;
bar.sync 1, 64;
st.global.u32 [%a], %r1;
on:
ld.global.u32 %r2, [%in];
mad.lo.u32 %r16, %r16, 31, %r2;
)ptx"))})
                      .fault,
                  "");
}

// The clock is read in turn, so that warp 2 catches up with those before it in the middle of a round; warp 3 ends a
// request before the others, and all of them have left lanes behind.
TEST(Together, TheFirstToEndSaysWhichLanesAreMissing) {
    const Left left = left_of({R"ptx(
mov.u32 %r1, %t;
setp.ge.u32 %p1, %l, 20;
@%p1 bra met;
shfl.sync.down.b32 %r1, %r1, 1, 31, -1;
met:
setp.ne.u32 %p2, %w, 2;
@%p2 bra others;
ld.global.u32 %r2, [%a];
mov.u32 %r3, %clock;
bra.uni last;
others:
ld.global.u32 %r2, [%a];
setp.eq.u32 %p3, %w, 3;
@%p3 exit;
last:
st.global.u32 [%o], %r2;
)ptx"});
    ASSERT_EQ(left.undefined.size(), 2u);
    EXPECT_NE(left.undefined[0].find("of warp 3 of block"), std::string::npos) << left.undefined[0];
}

TEST(Together, AKernelThatNeverEndsIsStoppedWhereItIsInTurn) {
    // After so many instructions of a warp, or of the block; between requests, and round a loop without any.
    for (const uint64_t most : {5u, 20u, 100u, 101u, 5000u, 40'000u, 100'000u})
        for (const char* const body :
             {"again:\nld.global.u32 %r1, [%a];\nadd.u32 %r2, %r2, %r1;\nbra.uni again;\n",
              "ld.global.u32 %r1, [%a];\nagain:\nadd.u32 %r2, %r2, %r1;\nbra.uni again;\n",
              "again:\nadd.u32 %r2, %r2, 1;\nbra.uni again;\n"}) {
            Kernel kernel{body};
            kernel.most_instructions = most;
            EXPECT_NE(left_of(kernel).fault, "");
        }
}

TEST(Together, AnObserverThatHasSeenEnoughSeesNoMore) {
    for (uint64_t enough = 1; enough <= 36; ++enough) {  // 9 requests of each of 4 warps
        Kernel kernel{
            loop(4, "ld.global.u32 %r1, [%a];\nadd.u32 %r16, %r16, %r1;\nst.global.u32 [%a], %r16;\n")};
        kernel.enough = enough;
        EXPECT_EQ(left_of(kernel).events[0].size(), enough);
    }
}

TEST(Together, RegistersThatABlockHasNotWrittenAreZero) {
    // The first block leaves another value in %r1; the second one's threads read it before they write it, or only
    // some of them write it.
    for (const char* const body : {"setp.eq.u32 %p1, %r19, 0;\n@%p1 mov.u32 %r1, 77;\n",
                                   "setp.ne.u32 %p1, %r19, 0;\n@%p1 bra on;\nmov.u32 %r1, 77;\non:\n",
                                   "setp.ne.u32 %p1, %r19, 0;\n@%p1 bra on;\nld.global.u32 %r1, [%a];\non:\n",
                                   "setp.ne.u32 %p1, %r19, 0;\n@%p1 bra on;\nsetp.eq.u32 %p2, %t, "
                                   "%t;\non:\nselp.u32 %r1, 77, 0, %p2;\n"}) {
        const Left left =
            left_of({std::string(body) + "st.global.u32 [%o], %r1;\nmov.u32 %r1, 78;\n", 128, 2});
        for (size_t i = 128 * 4; i < size_t{256} * 4; ++i) ASSERT_EQ(left.memory[2][i], std::byte{0}) << body;
    }
}

}  // namespace
}  // namespace tilescope::simt
