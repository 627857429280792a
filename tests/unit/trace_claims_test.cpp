// What a file says of itself, held against what it follows from: sizes against memory before it is allocated,
// and each claim against the others.
#include <functional>

#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "core/trace/claims.h"
#include "tests/allocated.h"
#include "tests/allowed_memory.h"
#include "tests/unit/trace_compare.h"
#include "tests/unit/trace_forge.h"
#include "tests/unit/trace_requests.h"

namespace tilescope::trace {
namespace {

constexpr int64_t kMebibyte = 1 << 20;

// The sentence that a file is refused with, which takes no more memory than a few times its size.
std::string refusal(const std::string& file, int64_t most_memory = 4 * kMebibyte) {
    std::string message = "it was read";
    const int64_t most = most_allocated_by([&] {
        if (const auto read = deserialize(file, "a.tsc"); !read) message = read.error().message;
    });
    EXPECT_LT(most, most_memory) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message;
}

void expect_says(const std::string& message, const std::string& words) {
    EXPECT_NE(message.find(words), std::string::npos) << message;
}

struct FalseClaim {
    const char* words;
    std::function<void(Trace&)> change;
};

void expect_claims_refused(const Trace& sound, const std::vector<FalseClaim>& breaks) {
    ASSERT_TRUE(deserialize(serialize(sound), "a.tsc"));
    for (const FalseClaim& one : breaks) {
        Trace trace = sound;
        one.change(trace);
        expect_says(refusal(serialize(trace)), one.words);
    }
}

TEST(TraceClaims, ASectionIsNoLargerThanItsStoredBytesCanUnpackTo) {
    const std::string file = forged(random_trace(1, 1, 1, 20), [](std::vector<Forged>& sections) {
        sections[1] = forged_equal(SectionKind::Source, 3u << 20, 128 * 1024);
    });
    EXPECT_LT(file.size(), 16'000u);
    expect_says(refusal(file), "its section 1 cannot be as large as it says");
}

// 280 KB that unpack to 8 GB, which it is refused for before any of it is unpacked.
TEST(TraceClaims, AllSectionsTogetherFitTheMemoryThatIsAllowed) {
    constexpr uint64_t kChunk = kChunkSteps * sizeof(uint32_t);
    const std::string file = forged(random_trace(1, 1, 1, 20), [](std::vector<Forged>& sections) {
        sections.resize(6);
        for (const SectionKind kind : {SectionKind::Key, SectionKind::Base})
            sections.insert(sections.end(), 1000, forged_equal(kind, kChunk, kChunk));
    });
    EXPECT_LT(file.size(), 400'000u);
    EXPECT_EQ(refusal(file),
              "a.tsc unpacks to 8.4 GB, which with what is made of it takes more memory than the 1 GB that "
              "are allowed; set TILESCOPE_MAX_MEMORY=12 in the environment to allow as many gigabytes");
    const AllowedMemory more("12");
    expect_says(refusal(file), "a.tsc is not a whole Tilescope recording");
}

TEST(TraceClaims, TheUserRaisesAndLowersTheMemoryThatIsAllowed) {
    const std::string file = serialize(random_trace(1, 2, 2, 500));
    EXPECT_TRUE(deserialize(file, "a.tsc"));
    {
        const AllowedMemory less("0.001");
        EXPECT_EQ(*memory_limit(), 1'000'000u);
        EXPECT_EQ(most_unpacked(*memory_limit(), 100), 750'000u);
        EXPECT_EQ(most_unpacked(*memory_limit(), 20'000), 1'280'000u) << "64 times its size";
        EXPECT_EQ(most_unpacked(*memory_limit(), 1 << 30), 4'000'000u) << "four limits at most";
    }
    EXPECT_EQ(most_unpacked(*memory_limit(), 1 << 20), 750'000'000u);
    for (const char* text : {"", "much", "-1", "0", "nan", "inf", "1e9", "4 GB"}) {
        const AllowedMemory wrong(text);
        expect_says(deserialize(file, "a.tsc").error().message,
                    "which is not a number of gigabytes; set it to one, such as 4");
    }
}

// Sections grow with what is really there.
TEST(TraceClaims, AFrameThatEndsEarlyTakesWhatItHolds) {
    Trace trace = random_trace(1, 1, 1, 20);
    constexpr uint64_t kSaid = 80 << 20;
    trace.launch.arrays[1] = test_array("N", Space::Global, ArrayRole::Input, 5120, 4096, 0x3'0000'0000);
    trace.launch.arrays[2].base = 0x4'0000'0000;
    trace.launch.arrays[1].contents = {Contents::Kind::Stored, 0, 0,
                                       std::make_shared<std::vector<std::byte>>(16)};
    const std::string file = forged(trace, [](std::vector<Forged>& sections) {
        sections[6] = forged_equal(SectionKind::Contents, kSaid, 128 * 1024);
        sections[6].stored += std::string(4000, '\x55');
    });
    expect_says(refusal(file), "the checksum of the contents of its array 'N' is wrong");
}

TEST(TraceClaims, TablesFollowFromStepsAndLaunch) {
    const Trace trace = random_trace(1, 2, 2, 20);
    const auto with = [&](size_t at, SectionKind kind, uint64_t bytes) {
        return forged(
            trace, [&](std::vector<Forged>& sections) { sections[at] = forged_equal(kind, bytes, bytes); });
    };
    expect_says(refusal(with(3, SectionKind::Forms, kFormBytes << 20)), "80 steps cannot have 1048576 forms");
    expect_says(refusal(with(4, SectionKind::Irregular, kRowBytes << 18)), "with 262144 rows of offsets");
    expect_says(refusal(with(5, SectionKind::Blocks, kBlockBytes << 20)),
                "it has 1048576 blocks, and its window has 4");
    Trace rows = trace;
    rows.irregular.resize(rows.irregular.size() + 1);
    expect_says(refusal(serialize(rows)), "rows of offsets and its forms have");
}

TEST(TraceClaims, TextsHaveAsManyBytesAndLinesAsCanBeShown) {
    const Trace trace = random_trace(1, 1, 1, 20);
    const auto with = [&](size_t at, SectionKind kind, uint64_t bytes, char value) {
        return forged(trace, [&](std::vector<Forged>& sections) {
            sections[at] = forged_equal(kind, bytes, bytes, value);
        });
    };
    expect_says(refusal(with(1, SectionKind::Source, 63'000'000, '\n')),
                "its source text has 63,000,000 bytes, more than the 4,194,304 that a recording can hold");
    expect_says(refusal(with(1, SectionKind::Source, 4'000'000, '\n'), 16 * kMebibyte),
                "its source text has 4,000,000 lines, more than the 200,000 that a recording can hold");
    expect_says(refusal(with(2, SectionKind::Ptx, 4'000'000, '\n'), 16 * kMebibyte),
                "its PTX has 4,000,000 lines");
    expect_says(refusal(with(2, SectionKind::Ptx, 5'000'000, 'x')), "its PTX has 5,000,000 bytes");
    expect_says(refusal(with(0, SectionKind::Meta, 5'000'000, ' ')), "its description has 5,000,000 bytes");
}

// JSON in the deepest and in the widest form takes a bounded multiple of its bytes.
TEST(TraceClaims, TheDescriptionIsFlat) {
    const Trace trace = random_trace(1, 1, 1, 20);
    const auto with = [&](std::string_view piece) {
        std::string json = "{\"x\":[";
        while (json.size() + piece.size() < (512u << 10)) json += piece;
        return forged(trace, [&](std::vector<Forged>& sections) {
            sections[0] = forged_raw(SectionKind::Meta, std::move(json));
        });
    };
    for (const char* piece : {"[", "[[[],[]],", "{\"a\":", "0,"})
        expect_says(refusal(with(piece), 32 * kMebibyte), "its description is not JSON");
}

TEST(TraceClaims, SharedMemoryIsThatOfABlock) {
    const char* const words = "bytes of shared memory, more than the 232,448 that CUDA allows";
    expect_claims_refused(
        random_trace(1, 1, 1, 20),
        {{words, [](Trace& t) { t.launch.arrays[4].rows = 100'000, t.launch.arrays[4].cols = 1000; }},
         {words, [](Trace& t) { t.launch.arrays[4].base = 232'448; }},
         {words, [](Trace& t) { t.launch.dynamic_shared = 400'000'000; }},
         {"cannot be", [](Trace& t) { t.launch.arrays[4].base = ~uint64_t{0} - 8; }}});
}

TEST(TraceClaims, ArraysHaveMemoryOfTheirOwn) {
    expect_claims_refused(random_trace(1, 1, 1, 20),
                          {{"its arrays 'Mds' and 'Nds' lie in the same memory",
                            [](Trace& t) { t.launch.arrays[4].base = 1020; }},
                           {"its arrays 'N' and 'P' lie in the same memory",
                            [](Trace& t) { t.launch.arrays[2].base = t.launch.arrays[1].base; }},
                           {"bytes in its global arrays, more than", [](Trace& t) {
                                t.launch.arrays[1].rows = t.launch.arrays[2].rows = 60;
                                t.launch.arrays[1].cols = t.launch.arrays[2].cols = 4'000'000'000;
                                t.launch.arrays[1].base = uint64_t{1} << 50;
                                t.launch.arrays[2].base = uint64_t{1} << 51;
                            }}});
}

TEST(TraceClaims, ExtentsAreNeverNothing) {
    expect_claims_refused(random_trace(1, 1, 1, 20),
                          {{"cannot be", [](Trace& t) { t.launch.arrays[0].rows = 0; }},
                           {"cannot be", [](Trace& t) { t.launch.arrays[1].cols = 0; }},
                           {"cannot be", [](Trace& t) { t.launch.arrays[2].slices = 0; }}});
}

TEST(TraceClaims, NamesAreAsLongAsCompilersMakeThem) {
    const std::string longest(16'384, 'n'), name = longest + "n";
    Trace sound = random_trace(1, 1, 1, 20);
    sound.launch.entry = sound.launch.arrays[0].name = longest;
    const char* const words = "its longest name has 16,385 bytes";
    expect_claims_refused(sound, {{words, [&](Trace& t) { t.meta.kernel = name; }},
                                  {words, [&](Trace& t) { t.meta.source_name = name; }},
                                  {words, [&](Trace& t) { t.meta.device = name; }},
                                  {words, [&](Trace& t) { t.launch.entry = name; }},
                                  {words, [&](Trace& t) { t.launch.arrays[3].symbol = name; }},
                                  {words, [&](Trace& t) { t.launch.arguments[0].name = name; }},
                                  {"its reason for being incomplete has", [&](Trace& t) {
                                       t.meta.complete = t.meta.result.checked = false;
                                       t.meta.incomplete_reason.assign(100'000, 'r');
                                   }}});
}

TEST(TraceClaims, NumbersOfADeviceAreThoseOfOne) {
    Trace sound = random_trace(1, 1, 1, 20);
    sound.meta.price = {0.25, 1.5, 3, 1000, 1980};
    expect_claims_refused(sound,
                          {{"milliseconds, more than", [](Trace& t) { t.meta.price.recorded_ms = 1e300; }},
                           {"milliseconds, more than", [](Trace& t) { t.meta.price.plain_ms = 1e10; }},
                           {"MHz, more than the 1,000,000 that a GPU can have",
                            [](Trace& t) { t.meta.price.clock_mhz = 1e12; }},
                           {"its clock is slower", [](Trace& t) { t.meta.price.clock_mhz = 1e-300; }},
                           // Two that add up to nothing.
                           {"dropped requests, more than", [](Trace& t) {
                                t.meta.complete = t.meta.result.checked = false;
                                t.blocks[0].dropped = uint64_t{1} << 63;
                            }}});
}

TEST(TraceClaims, WhatAFileSaysOfItsResultDoesNotContradictItself) {
    Trace sound = random_trace(1, 2, 1, 20);
    const auto result = [](bool checked, bool verified, uint8_t array, uint64_t wrong, int64_t first,
                           std::vector<uint64_t> elements) {
        return [=](Trace& t) { t.meta.result = {checked, verified, array, 0, wrong, first, elements}; };
    };
    expect_claims_refused(
        sound, {{"verified and that 5 elements of it are wrong", result(true, true, 2, 5, 3, {})},
                {"verified and that nobody checked it", result(false, true, 2, 0, -1, {})},
                {"its result is wrong and names no wrong element", result(true, false, 2, 0, -1, {})},
                {"its 5 wrong elements of the result are not those", result(true, false, 2, 5, -1, {})},
                {"its 0 wrong elements of the result are not those", result(true, true, 2, 0, 7, {})},
                {"its 2 wrong elements of the result are not those", result(true, false, 2, 2, 7, {8, 9})},
                {"its 1,201 wrong elements of the result are not those", result(true, false, 2, 1201, 0, {})},
                {"lie outside it, or not in order", result(true, false, 2, 2, 8, {8, 8})},
                {"no output array", result(true, false, 0, 1, 1, {})},
                {"outside the launch", result(true, false, kNoArray, 1, 1, {})},
                {"checked and that it is not complete",
                 [](Trace& t) { t.meta.complete = false, t.meta.incomplete_reason = "it was stopped"; }}});
}

TEST(TraceClaims, CompleteIsSaidOfWhatIsWhole) {
    const char* const why = "it says that it is complete, and why it is not";
    expect_claims_refused(
        random_trace(1, 2, 1, 20),
        {{why, [](Trace& t) { t.meta.incomplete_reason = "the recording was stopped"; }},
         {why, [](Trace& t) { t.meta.barrier_fault.is = true; }},
         {"holds no block", [](Trace& t) { t.meta.window.x1 = 0; }},
         {"holds no block",
          [](Trace& t) {
              t.meta.window = {2, 9, 0, 1};
          }},
         {"and its window has 1", [](Trace& t) { t.meta.window.x1 = 1; }},
         {"complete and lacks", [](Trace& t) { t.meta.window.x1 = 2, t.launch.grid.z = 2; }}});
}

// A kernel whose every thread loads and comes to a barrier, and whose store is guarded.
constexpr const char* kPtx = R"(.version 6.4
.target sm_70
.address_size 64
.visible .entry copy(.param .u64 p)
{
    .reg .pred %p<2>;
    .reg .b32 %r<3>;
    .reg .f32 %f<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.global.f32 %f1, [%rd1];
    bar.sync 0;
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p1, %r1, 100;
    @%p1 bra $done;
    st.global.f32 [%rd1], %f1;
$done:
    ret;
}
)";

// Two blocks of two warps: each loads, waits, and stores its 32 elements of P.
Trace copied() {
    const auto module = ptx::parse(kPtx, "copy.ptx");
    const std::vector<ptx::Site> sites = ptx::sites_of(module->kernels.front());
    const std::vector<Array> arrays = {test_array("P", Space::Global, ArrayRole::InOut, 1, 128, 0x10000)};
    std::vector<std::unique_ptr<BlockRecorder>> recorders;
    for (uint32_t x = 0; x < 2; ++x) {
        recorders.push_back(std::make_unique<BlockRecorder>(arrays, sites, simt::BlockId{x, 0, 0}));
        for (const uint32_t site : {0u, 1u, 2u})
            for (uint32_t warp = 0; warp < 2; ++warp) {
                PlainStep step{site, warp, ~0u, site == 1, Space::Global, {}};
                for (uint32_t lane = 0; lane < 32; ++lane)
                    step.address[lane] = 0x10000 + 4 * (64 * x + 32 * warp + lane);
                feed(*recorders.back(), step);
            }
    }
    Meta meta;
    meta.ptx = kPtx;
    meta.window = {0, 2, 0, 1};
    meta.complete = true;
    meta.result = {true, true, 0, 0, 0, -1, {}};
    Launch launch = test_launch(arrays, {2, 1, 1}, {64, 1, 1});
    launch.entry = "copy";
    return assemble(meta, std::move(launch), sites, std::move(recorders));
}

void keep_steps(Trace& trace, uint64_t first_block, uint64_t second_block) {
    const auto cut = [&](Block& block, uint64_t count) {
        const auto from = static_cast<std::ptrdiff_t>(block.first + count);
        const auto to = static_cast<std::ptrdiff_t>(block.first + block.count);
        trace.key.erase(trace.key.begin() + from, trace.key.begin() + to);
        trace.base.erase(trace.base.begin() + from, trace.base.begin() + to);
        block.count = count;
    };
    cut(trace.blocks[1], second_block);
    cut(trace.blocks[0], first_block);
    trace.blocks[1].first = first_block;
    if (first_block + second_block == 0) trace.forms.clear();
}

TEST(TraceClaims, StepsThatEndBeforeTheKernelDoesAreNotComplete) {
    const Trace sound = copied();
    const auto read = deserialize(serialize(sound), "a.tsc");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(same(sound, *read));
    struct Cut {
        uint64_t first, second;  // steps that are left
        const char* block;
    };
    for (const auto& [first, second, block] :
         {Cut{6, 3, "(1)"}, Cut{6, 2, "(1)"}, Cut{6, 0, "(1)"}, Cut{0, 6, "(0)"}, Cut{0, 0, "(0)"}}) {
        Trace trace = sound;
        keep_steps(trace, first, second);
        const auto cut = deserialize(serialize(trace), "a.tsc");
        ASSERT_TRUE(cut) << cut.error().message;
        EXPECT_FALSE(cut->meta.complete);
        EXPECT_FALSE(cut->meta.result.checked || cut->meta.result.verified);
        EXPECT_EQ(cut->meta.incomplete_reason,
                  std::string("the steps of block") + block + " end before the kernel does; record it again");
    }
}

TEST(TraceClaims, WhatIsVerifiedWasStored) {
    Trace trace = copied();
    keep_steps(trace, 6, 5);  // a warp of the last block may end at the barrier: its store is guarded
    expect_says(refusal(serialize(trace)), "its result is verified and stores nothing to 32 elements of it");
    trace.launch.arrays[0].cols = 1u << 31;
    expect_says(refusal(serialize(trace)), "its result is verified and stores nothing to");
    trace.meta.result = {};
    EXPECT_TRUE(deserialize(serialize(trace), "a.tsc")->meta.complete);
}

}  // namespace
}  // namespace tilescope::trace
