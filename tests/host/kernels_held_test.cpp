// Recordings that say what their code does not do: files of a stranger, whose every checksum is right.
#include <functional>

#include <gtest/gtest.h>

#include "core/trace/file.h"
#include "kernels/run/held.h"
#include "kernels/textbook/shipped.h"
#include "tests/launch_examples.h"
#include "tests/recorded.h"

namespace tilescope::kernels {
namespace {

using trace::Trace;

// The trace with each step as often as is said of it: of its block, and its place there.
Trace with_steps(const Trace& of, const std::function<int(const trace::Block&, uint64_t step)>& times) {
    Trace made = of;
    made.base.clear();
    made.key.clear();
    for (trace::Block& block : made.blocks) {
        const trace::Block was = block;
        block.first = made.key.size();
        for (uint64_t step = was.first; step < was.first + was.count; ++step)
            for (int again = times(was, step); again > 0; --again) {
                made.base.push_back(of.base[step]);
                made.key.push_back(of.key[step]);
            }
        block.count = made.key.size() - block.first;
    }
    return made;
}

// As a reader gets it from a file.
Trace read_back(const Trace& trace) {
    auto read = held(trace::deserialize(trace::serialize(trace), "a.tsc"));
    EXPECT_TRUE(read) << read.error().message;
    return read ? std::move(*read) : Trace{};
}

void expect_contradicted(const Trace& forged, const std::string& says) {
    auto read = held(trace::deserialize(trace::serialize(forged), "a.tsc"));
    if (!read) return;  // refused in one sentence
    EXPECT_FALSE(read->meta.complete) << says;
    EXPECT_FALSE(read->meta.result.verified) << says;
    EXPECT_NE(read->meta.incomplete_reason, "") << says;
}

bool stores_to(const Trace& trace, uint64_t step, const char* name) {
    const trace::Form& form = trace.form_of(step);
    const Array* const array = trace.array_of(form);
    return array && array->name == name && ptx::writes(trace.sites[form.site].kind);
}

TEST(Held, RecordingsThatSayWhatTheirCodeDoes) {
    for (const std::string& name : names_of_kernels()) {
        const Trace trace = recorded(name, {20, 18, 22, find(name)->own_tile ? 0u : 4u});
        const Trace read = read_back(trace);
        EXPECT_TRUE(read.meta.complete) << name << read.meta.incomplete_reason;
        EXPECT_EQ(read.meta.result.verified, trace.meta.result.verified) << name;
        EXPECT_EQ(held(Trace(trace)).blocks, trace.blocks.size()) << name;
    }
    for (const ShippedRecording& one : shipped_recordings()) {
        const auto trace = open_shipped(one);
        ASSERT_TRUE(trace) << trace.error().message;
        const HeldTrace read = held(Trace(*trace));
        EXPECT_EQ(read.trace.meta.complete, trace->meta.complete)
            << one.name << read.trace.meta.incomplete_reason;
        EXPECT_EQ(read.trace.meta.result.verified, trace->meta.result.verified) << one.name;
    }
}

TEST(Held, StepsThatAreLeftOutRepeatedOrOfAnotherOrder) {
    const Trace trace = recorded("tiled", {32, 32, 32, 16});
    ASSERT_TRUE(trace.meta.result.verified);
    using Times = std::function<int(const trace::Block&, uint64_t)>;
    const std::pair<const char*, Times> all[] = {
        {"the middle of each block",
         [](const trace::Block& b, uint64_t s) {
             return s - b.first < b.count / 4 || s - b.first > b.count * 3 / 4;
         }},
        {"global loads",
         [&](const auto&, uint64_t s) {
             const trace::Form& form = trace.form_of(s);
             return form.space != Space::Global || form.array == trace::kNoArray || stores_to(trace, s, "P");
         }},
        {"all but the stores of the result",
         [&](const auto&, uint64_t s) { return stores_to(trace, s, "P"); }},
        {"every step three times", [](const auto&, uint64_t) { return 3; }},
        {"one step of the last block",
         [&](const trace::Block& b, uint64_t s) {
             return b.first != trace.blocks.back().first || s != b.first + 40;
         }},
        {"one step of a block in the middle twice",
         [&](const trace::Block& b, uint64_t s) {
             return b.first == trace.blocks[2].first && s == b.first + 40 ? 2 : 1;
         }},
    };
    for (const auto& [what, times] : all) expect_contradicted(with_steps(trace, times), what);
}

TEST(Held, AddressesArgumentsAndGridsOfOthers) {
    const Trace trace = recorded("tiled", {32, 32, 32, 16});
    Trace shifted = trace;
    for (uint64_t step = 0; step < trace.steps(); ++step)
        if (const Array* array = trace.array_of(trace.form_of(step));
            array && array->name == "M" && step % 7 == 0)
            shifted.base[step] ^= 4;
    expect_contradicted(shifted, "other elements of M");

    // m, k and n that are not those of the accesses, in arrays that fit them.
    Trace sized = recorded("tiled", {64, 32, 32, 16});
    const Trace other = recorded("tiled", {32, 64, 32, 16});
    sized.launch.arguments = other.launch.arguments;
    expect_contradicted(sized, "sizes of another product");

    // A grid of many blocks, each with the steps of the first.
    Trace many = recorded("tiled", {4, 4, 4, 2});
    const trace::Block first = many.blocks.front();
    many.launch.grid = {200, 200, 1};
    many.meta.window = {0, 200, 0, 200};
    many.blocks.clear();
    const trace::Column base = many.base, key = many.key;
    many.base.clear();
    many.key.clear();
    for (uint32_t y = 0; y < 200; ++y)
        for (uint32_t x = 0; x < 200; ++x) {
            many.blocks.push_back(first);
            many.blocks.back().x = x;
            many.blocks.back().y = y;
            many.blocks.back().first = many.key.size();
            for (uint64_t step = first.first; step < first.first + first.count; ++step) {
                many.base.push_back(base[step]);
                many.key.push_back(key[step]);
            }
        }
    expect_contradicted(many, "200 x 200 blocks of 4 x 4 elements");
}

// The code does the recorded steps and stores another result than the one that is said to be verified.
TEST(Held, ResultsThatTheCodeDoesNotCompute) {
    Trace trace = recorded("untiled", {16, 16, 16, 8});
    const size_t at = trace.meta.ptx.find("fma.rn.f32");
    ASSERT_NE(at, std::string::npos);
    for (const char* other : {"fma.rz.f32", "fma.rn.f32"}) {
        Trace changed = trace;
        changed.module = nullptr;
        changed.meta.ptx.replace(at, 10, other);
        EXPECT_TRUE(read_back(changed).meta.result.verified)
            << "small whole numbers are exact however rounded";
    }
    const size_t end = trace.meta.ptx.find(';', at);
    const std::string fma = trace.meta.ptx.substr(at, end - at);
    // d, a, b, c: the sum loses the product's sign.
    const size_t last = fma.rfind(',');
    trace.meta.ptx.replace(
        at, end - at,
        "add.f32" + fma.substr(10, fma.find(',', 11) - 10) + fma.substr(last) + fma.substr(last));
    trace.module = nullptr;
    const Trace read = read_back(trace);
    EXPECT_FALSE(read.meta.complete);
    EXPECT_FALSE(read.meta.result.verified);
    EXPECT_NE(read.meta.incomplete_reason.find("its result is said to be verified, and its code stores"),
              std::string::npos)
        << read.meta.incomplete_reason;
}

TEST(Held, LaunchesThatAreNoProduct) {
    const Trace trace = recorded(vector_add());
    EXPECT_EQ(held(Trace(trace)).blocks, trace.blocks.size());
    expect_contradicted(
        with_steps(trace, [&](const auto&, uint64_t s) { return stores_to(trace, s, "c") ? 1 : 0; }),
        "no loads");
    expect_contradicted(with_steps(trace, [](const auto&, uint64_t) { return 2; }), "every step twice");
}

// A block that goes on from what others left cannot be run again alone, and nothing is said against it.
TEST(Held, BlocksThatDependOnOthersAreNotAccused) {
    Plan plan;
    plan.kernel = plan.launch.entry = "chain";
    plan.ptx_name = "chain.ptx";
    plan.ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry chain(.param .u64 p)
{
    .reg .b64 %rd<4>;
    .reg .b32 %r<4>;
    .reg .pred %q;
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r1, [%rd2];
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd2], %r2;
    setp.eq.u32 %q, %r1, 0;
    @%q bra END;
    st.global.u32 [%rd2+4], %r1;
END:
    ret;
}
)";
    plan.launch.grid = {4, 1, 1};
    plan.launch.block = {1, 1, 1};
    plan.launch.arrays = {global_array("p", ArrayRole::InOut, ElementType::U32, {4})};
    plan.launch.arguments = {{"p", ElementType::U64, 0, 0, 0}};
    const Trace trace = recorded(plan);
    ASSERT_TRUE(trace.meta.complete) << trace.meta.incomplete_reason;
    ASSERT_GT(trace.steps(), 8u) << "later blocks store twice";
    EXPECT_TRUE(read_back(trace).meta.complete);
}

// Large recordings are held in part, within a bounded time.
TEST(Held, NoMoreThanSomeBlocksOfLargeRecordings) {
    const Trace trace = recorded("tiled", {256, 256, 256, 16}, 2);
    const uint64_t blocks = held(Trace(trace)).blocks;
    EXPECT_GE(blocks, 8u);
    EXPECT_LE(blocks, 64u);
}

}  // namespace
}  // namespace tilescope::kernels
