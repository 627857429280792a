// What is said about measured times: always whose, and never for a launch that was not measured.
#include "app/look/sums.h"
#include "app/look/time_words.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

// What the words are about: what a recording says of itself, and the product that its launch is.
struct Timed {
    trace::Meta meta;
    analysis::Product product;
};

Timed product_of(const char* kernel, uint32_t width, uint32_t tile) {
    Timed made;
    made.meta.kernel = kernel;
    made.meta.device = "CPU lockstep interpreter";
    made.product.m = made.product.k = made.product.n = width;
    made.product.tile = tile;
    return made;
}

Timed on_h200(Timed made, double plain_ms) {
    trace::Meta& meta = made.meta;
    meta.backend = trace::Backend::Gpu;
    meta.device = "NVIDIA H200";
    meta.driver = "580.159.04";
    meta.price = {plain_ms, plain_ms * 4.125, 3, 1000, 1980};
    return made;
}

kernels::Timing row(const char* kernel, uint32_t width, uint32_t tile, double ms) {
    kernels::Timing timing;
    timing.kernel = kernel;
    timing.m = timing.k = timing.n = width;
    timing.tile = tile;
    timing.verified = true;
    timing.median_ms = timing.low_ms = timing.high_ms = ms;
    return timing;
}

std::vector<kernels::Timings> measured() {
    kernels::Timings h200, other;
    h200.device = "NVIDIA H200";
    h200.rows = {row("tiled", 1024, 16, 0.29), row("untiled", 1024, 16, 1.31), row("tiled", 256, 16, 0.0061),
                 row("untiled", 256, 16, 0.00732), row("tiled_swapped", 1024, 16, 2.61)};
    other.device = "NVIDIA L4";
    other.rows = {row("tiled", 1024, 16, 3), row("untiled", 1024, 16, 6)};
    return {other, h200};
}

std::string text_of(const Timed& of, const std::vector<kernels::Timings>& timings) {
    return times_text(of.meta, of.product, timings);
}

TimesTable table_of(const Timed& of) { return times_table(of.meta, of.product, measured()); }

TEST(Times, StandBesideTheUntiledKernel) {
    EXPECT_EQ(
        text_of(on_h200(product_of("tiled", 1024, 16), 0), measured()),
        "tiled 0.290 ms, untiled 1.31 ms at width 1024, T=16: 4.5 times faster; measured on NVIDIA H200.");
    EXPECT_EQ(
        text_of(on_h200(product_of("tiled_swapped", 1024, 16), 0), measured()),
        "tiled_swapped 2.61 ms, untiled 1.31 ms at width 1024, T=16: 2.0 times slower; measured on NVIDIA "
        "H200.");
    EXPECT_EQ(
        text_of(on_h200(product_of("untiled", 1024, 16), 0), measured()),
        "untiled 1.31 ms, tiled 0.290 ms at width 1024, T=16: 4.5 times slower; measured on NVIDIA H200.");
}

TEST(Times, AreOfARecordingsOwnDeviceFirst) {
    const std::string any = text_of(product_of("tiled", 1024, 16), measured());
    EXPECT_NE(any.find("NVIDIA L4"), std::string::npos) << any << ": a CPU's takes the first device";
    Timed made = on_h200(product_of("tiled", 1024, 16), 0.3);
    EXPECT_NE(text_of(made, measured()).find("tiled 0.300 ms, untiled 1.31 ms"), std::string::npos)
        << "the launch's own time, where it was taken";
    made.meta.device = "NVIDIA B200";
    const std::string foreign = text_of(made, measured());
    EXPECT_NE(foreign.find("tiled 3.00 ms, untiled 6.00 ms"), std::string::npos)
        << foreign << ": times of two devices are never held against each other";
}

TEST(Times, OfAnotherSizeAreNotSaid) {
    EXPECT_EQ(text_of(on_h200(product_of("tiled", 64, 16), 0), measured()), "");
    EXPECT_EQ(text_of(on_h200(product_of("tiled", 64, 16), 0.0042), measured()),
              "tiled 4.20 µs, measured on NVIDIA H200 in this launch.");
    EXPECT_EQ(text_of(product_of("tiled", 1024, 8), measured()), "");
    Timed edges = product_of("tiled", 1024, 16);
    edges.product.k = 70;
    EXPECT_EQ(text_of(edges, measured()), "");
}

TEST(Times, WhoseSpreadsOverlapCallNeitherFaster) {
    auto all = measured();
    for (auto& timings : all)
        for (auto& timing : timings.rows) timing.low_ms = 0.1, timing.high_ms = 10;
    EXPECT_EQ(
        text_of(on_h200(product_of("tiled", 1024, 16), 0), all),
        "tiled 0.290 ms, untiled 1.31 ms at width 1024, T=16: no difference beyond the spread of the runs; "
        "measured on NVIDIA H200.");
    const Timed of = on_h200(product_of("tiled", 1024, 16), 0);
    EXPECT_EQ(times_table(of.meta, of.product, all).ratio, "");
}

TEST(TimesTable, SaysTheSameInLittleRoom) {
    const TimesTable exact = table_of(on_h200(product_of("tiled", 1024, 16), 0));
    EXPECT_TRUE(exact.measured);
    EXPECT_EQ(exact.title, "width 1024, NVIDIA H200");
    EXPECT_EQ(exact.own_time + " " + exact.rival_time + " " + exact.ratio, "0.290 ms 1.31 ms \u00d7 4.5");
    const TimesTable own = table_of(on_h200(product_of("tiled", 64, 16), 0.0042));
    EXPECT_TRUE(own.measured);
    EXPECT_EQ(own.title, "this launch, NVIDIA H200");
    EXPECT_EQ(own.own_time + " " + own.rival, "4.20 µs ");
    EXPECT_FALSE(table_of(product_of("tiled", 64, 8)).measured);
}

TEST(Times, ThatWereNotVerifiedAreNotShown) {
    auto all = measured();
    for (auto& timings : all)
        for (auto& timing : timings.rows) timing.verified = false;
    EXPECT_EQ(text_of(product_of("tiled", 1024, 16), all), "");
}

TEST(Times, HaveThreeDigits) {
    EXPECT_EQ(milliseconds(0.0061), "6.10 µs");
    EXPECT_EQ(milliseconds(0.0999), "99.9 µs");
    EXPECT_EQ(milliseconds(0.09999), "0.100 ms");
    EXPECT_EQ(milliseconds(1.31), "1.31 ms");
    EXPECT_EQ(milliseconds(128.4), "128 ms");
    EXPECT_EQ(milliseconds(12'843), "12843 ms");
    EXPECT_EQ(milliseconds(0), "0 ms");
}

TEST(Labels, SayWhoseTimeItIsAndWhatItCost) {
    const trace::Meta cpu = product_of("tiled", 64, 16).meta,
                      gpu = on_h200(product_of("tiled", 64, 16), 0.29).meta;
    EXPECT_EQ(time_kind(cpu), "logical steps, CPU lockstep");
    EXPECT_EQ(time_kind(gpu), "SM clocks, NVIDIA H200");
    EXPECT_EQ(recorder(cpu), "CPU lockstep");
    EXPECT_EQ(recorder(gpu), "NVIDIA H200, driver 580.159.04, 3 launches");
    EXPECT_EQ(price_text(cpu), "");
    EXPECT_EQ(price_times(cpu.price), "");
    EXPECT_EQ(price_times(gpu.price), "4.1");
    EXPECT_EQ(price_times({1, 41.2, 1, 1, 1}), "41") << "as price_text() and price_short() say it";
    EXPECT_EQ(price_text(gpu), "Recording took 4.1 times the kernel's own time: 1.20 ms against 0.290 ms.");
}

TEST(Labels, SayThatARecordingIsNotWhole) {
    trace::Trace trace;
    trace.meta.complete = true;
    trace.blocks.resize(2);
    EXPECT_EQ(not_whole(trace, 0), "");
    trace.blocks[1].dropped = 1204;
    EXPECT_EQ(not_whole(trace, 0), "Not whole: 1,204 requests found no room in the device trace buffer.")
        << "even where the recording believes that it is";
    EXPECT_EQ(
        not_whole(trace, 1),
        "Not whole: 1,204 requests found no room in the device trace buffer. Of this block 1,204 requests "
        "are missing.");
    trace.meta.complete = false;
    trace.meta.incomplete_reason = "the buffer was too small";
    EXPECT_EQ(warning(trace, 0), "Not whole: the buffer was too small.");
    trace.blocks[1].dropped = 0;
    trace.meta.complete = true;
    EXPECT_EQ(warning(trace, 0), "");
    trace.meta.result.checked = true;
    trace.meta.result.wrong = 3;
    EXPECT_EQ(warning(trace, 0), "Result wrong in 3 elements.");
}

}  // namespace
}  // namespace tilescope::app
