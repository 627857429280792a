// Barriers in memory, copies in bulk and products of warpgroups, recorded by the interpreter and by the sequences that a GPU runs: the same
// accesses with the same words, in whatever order the warps take their turns; and what landed when.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "core/base/cluster.h"
#include "core/ptx/warpgroup.h"
#include "core/trace/access.h"
#include "core/trace/builder.h"
#include "core/trace/file.h"
#include "tests/host/instrumented_run.h"
#include "tests/host/same_requests.h"
#include "tests/launches.h"
#include "tests/signal_kernels.h"
#include "tests/unit/device_writer.h"
#include "tests/unit/ptx_texts.h"

namespace tilescope::trace {
namespace {

using test::DeviceWriter;

constexpr uint64_t kSignalIn = 0x7F00'1000'0000, kSignalOut = 0x7F00'1010'0000;

struct SignalLaunch {
    ptx::Module module;
    std::shared_ptr<const simt::Program> program;
    Launch launch;
    simt::GlobalMemory memory;

    SignalLaunch(const SignalKernel& kernel, uint32_t trips) {
        auto parsed = ptx::parse(kernel.ptx, "k.ptx");
        EXPECT_TRUE(parsed) << parsed.error().message;
        module = std::move(*parsed);
        auto made = simt::prepare(module, kernel.name);
        EXPECT_TRUE(made) << made.error().message;
        program = *made;
        launch.entry = kernel.name;
        launch.block = {kernel.threads, 1, 1};
        launch.arguments = test_arguments({kSignalIn, kSignalOut, trips});
        for (const uint64_t address : {kSignalIn, kSignalOut}) {
            if (!kernel.has_maps) break;
            const ptx::TensorMapBytes bytes = ptx::encode(signal_map(address));
            launch.arguments.emplace_back().object.assign(bytes.begin(), bytes.end());
        }
        for (const auto& [name, base] : {std::pair{"in", kSignalIn}, {"out", kSignalOut}}) {
            launch.arrays.push_back(
                test_array(name, Space::Global, ArrayRole::InOut, 1, kSignalFloats, base));
            memory.buffers.push_back({name, base, simt::Bytes(kSignalFloats * sizeof(float))});
        }
        for (uint32_t i = 0; i < kSignalFloats; ++i) {
            const auto value = static_cast<float>(i * 37 % 59);
            std::memcpy(memory.buffers[0].bytes.data() + i * sizeof value, &value, sizeof value);
        }
        for (const ptx::Symbol& symbol : module.kernels[0].symbols) {
            if (symbol.space != ptx::StateSpace::Shared) continue;
            const auto words = static_cast<uint32_t>(symbol.bytes() / 4);
            const auto at = simt::shared_offset(*program, symbol.name);
            launch.arrays.push_back(test_array(symbol.name, Space::Shared, ArrayRole::Shared, 1, words,
                                               static_cast<uint64_t>(at), symbol.name));
        }
    }

    Trace record(simt::GlobalMemory& after) const {
        std::vector<std::unique_ptr<BlockRecorder>> blocks;
        after = memory;
        simt::RunOptions options;
        options.threads = 1;
        const auto outcome = simt::run(*program, launch, after, options, [&](const simt::BlockId& id) {
            blocks.push_back(std::make_unique<BlockRecorder>(launch.arrays, simt::sites_of(*program), id));
            return blocks.back().get();
        });
        EXPECT_TRUE(outcome && outcome->complete) << (!outcome         ? outcome.error().message
                                                      : outcome->fault ? outcome->fault->message
                                                                       : "");
        return assemble({}, launch, simt::sites_of(*program), std::move(blocks));
    }
};

// By warp and step of it: whether what each store of a copy wrote was waited for.
std::vector<std::pair<uint32_t, bool>> waited(const Trace& trace) {
    std::vector<std::pair<uint32_t, bool>> found;
    size_t number = 0;
    for (uint64_t step = 0; step < trace.steps(); ++step)
        if (trace.sites[trace.form_of(step).site].lands_later())
            found.emplace_back(trace.warp_of(step), trace.arrival.at(number++) != kNeverWaited);
    std::ranges::stable_sort(found, {}, &std::pair<uint32_t, bool>::first);
    return found;
}

TEST(DeviceSignals, AGpuRecordsWhatTheInterpreterDoes) {
    const Schedule schedules[] = {{}, {Schedule::Kind::Seeded, 5}, {Schedule::Kind::Seeded, 77}};
    for (const SignalKernel& kernel : signal_kernels())
        for (const uint32_t trips : {0u, 1u, 7u, 10u}) {
            SCOPED_TRACE(testing::Message() << kernel.name << ", " << trips << " trips");
            const SignalLaunch made(kernel, trips);
            simt::GlobalMemory plain;
            const Trace cpu = made.record(plain);
            for (const Schedule& schedule : schedules) {
                InstrumentedRun run;
                run.schedule = schedule;
                run.options.chunk_bytes = schedule.seed == 5 ? 512 : 4096;
                run.options.runs = schedule.seed != 77;
                run.options.same_high = true, run.options.high = kSignalIn >> 32;
                ASSERT_TRUE(run.run(made.module, kernel.name, made.launch, {}, made.memory, cpu.launch.arrays,
                                    cpu.sites))
                    << run.problem;
                EXPECT_EQ(run.flags, 0u);
                EXPECT_EQ(run.decoded.dropped, 0u);
                EXPECT_TRUE(same_bits(plain, run.memory));
                Trace device = assemble({}, cpu.launch, cpu.sites, std::move(run.decoded.blocks));
                expect_same_requests(cpu, device);
                EXPECT_EQ(waited(cpu), waited(device));
                EXPECT_EQ(device.time.size(), device.steps());
                EXPECT_TRUE(std::ranges::is_sorted(device.time));
            }
        }
}

// Signals of two warps, written by hand: what each code stands for is its number less one.
struct SignalHand {
    enum Site : uint32_t { kInit, kArrive, kWait, kRead, kWrite, kTile };
    static constexpr uint32_t kDeviceBar = 0x480, kBar = 128;
    std::vector<ptx::Site> sites;
    std::vector<Array> arrays = {test_array("in", Space::Global, ArrayRole::Input, 1, 64, kSignalIn),
                                 test_array("tile", Space::Shared, ArrayRole::Shared, 1, 32, 0, "tile"),
                                 test_array("bar", Space::Shared, ArrayRole::Shared, 1, 4, kBar, "bar")};
    ptx::Instrumented code;
    DecodeOptions options;
    DeviceWriter writer{8, 512};
    uint32_t block = 0;  // that is written for

    SignalHand() {
        const auto add = [&](ptx::SiteKind kind, ptx::Signal signal, Space space,
                             ptx::Box box = ptx::Box::None) {
            ptx::Site site{.id = static_cast<uint32_t>(sites.size()), .kind = kind, .space = space};
            site.signal = signal;
            site.bytes = kind == ptx::SiteKind::Signal ? ptx::kBarrierBytes : ptx::kBulkBytes;
            site.copy = box == ptx::Box::Row;
            site.box = box;
            site.words = site.copy               ? ptx::kRowWords
                         : box == ptx::Box::Tile ? ptx::kTileWords
                                                 : ptx::words_of(signal);
            sites.push_back(site);
        };
        for (const ptx::Signal signal : {ptx::Signal::Init, ptx::Signal::Arrive, ptx::Signal::Wait})
            add(ptx::SiteKind::Signal, signal, Space::Shared);
        add(ptx::SiteKind::Load, ptx::Signal::None, Space::Global, ptx::Box::Row);
        add(ptx::SiteKind::Store, ptx::Signal::None, Space::Shared, ptx::Box::Row);
        add(ptx::SiteKind::Load, ptx::Signal::None, Space::Shared, ptx::Box::Tile);
        code.sites = sites;
        code.shapes.resize(sites.size());
        code.code_bits = 8, code.chunk_bytes = 512;
        code.symbols = {"tile", "bar"};
        code.codes.push_back({});
        for (uint32_t site = 0; site < sites.size(); ++site)
            code.codes.push_back({ptx::Code::Kind::Words, site});
        options.block = {64, 1, 1};
        options.arrays = &arrays, options.sites = &sites;
        options.device_base = {kSignalIn, 0, 0};
        writer.symbols = {0x400, kDeviceBar};
        writer.dropped = {0};
    }
    // Of one lane.
    void put(uint32_t warp, Site site, uint64_t clock, std::vector<uint32_t> address_and_words) {
        writer.to(block, warp);
        writer.words(site + 1, clock, 1, {std::move(address_and_words)});
    }
    void put_copy(uint32_t warp, uint64_t clock, uint32_t bytes) {
        const auto low = static_cast<uint32_t>(kSignalIn), high = static_cast<uint32_t>(kSignalIn >> 32);
        put(warp, kRead, clock, {low, high, bytes, kDeviceBar});
        put(warp, kWrite, clock, {0x400, 0, bytes, kDeviceBar});
    }
    Trace read() {
        writer.close(10'000);
        auto decoded = decode_device_buffer(code, writer.buffer(), options);
        EXPECT_TRUE(decoded) << decoded.error().message;
        if (!decoded) return {};
        Launch launch = test_launch(arrays, {}, options.block);
        launch.grid = options.grid, launch.cluster = options.cluster;
        return assemble({}, launch, sites, std::move(decoded->blocks));
    }
};

std::vector<uint32_t> sites_in_order(const Trace& trace) {
    std::vector<uint32_t> sites;
    for (uint64_t step = 0; step < trace.steps(); ++step) sites.push_back(trace.form_of(step).site);
    return sites;
}

// A clock that runs a little ahead in the part of the SM that waits.
TEST(DeviceSignals, AWaitComesBehindWhatItHasWaitedFor) {
    SignalHand hand;
    const uint32_t bar = SignalHand::kDeviceBar;
    hand.put(0, SignalHand::kInit, 100, {bar, 0, 1});
    hand.put_copy(0, 200, 64);
    hand.put(1, SignalHand::kWait, 205, {bar, 0, 0});
    hand.put(1, SignalHand::kWait, 207, {bar, 0, 0});
    hand.put(0, SignalHand::kArrive, 210, {bar, 0, 1, 64});
    hand.put(0, SignalHand::kArrive, 300, {bar, 0, 1, 0});
    const Trace trace = hand.read();
    EXPECT_EQ(sites_in_order(trace), (std::vector<uint32_t>{0, 3, 4, 1, 2, 2, 1}));
    EXPECT_TRUE(std::ranges::is_sorted(trace.time));
    EXPECT_EQ(trace.arrival, std::vector<uint32_t>{4});
    EXPECT_EQ(words_of(trace, 1, 0)[0], 64u);
    EXPECT_EQ(words_of(trace, 1, 0)[1], SignalHand::kBar);  // where the trace has it
    EXPECT_EQ(words_of(trace, 3, 0)[1], 64u);
    EXPECT_EQ(decode(trace, 4).array, 2);
    EXPECT_EQ(decode(trace, 4).offset[0], 0u);
}

// Addresses in registers have the rank of their block, that in a descriptor has none: it is of the own block.
TEST(DeviceSignals, InAClusterAddressesSayWhoseMemoryItIs) {
    SignalHand hand;
    hand.options.grid = hand.options.cluster = {2, 1, 1};
    hand.writer.dropped = {0, 0};
    for (const uint32_t rank : {0u, 1u}) {
        const uint32_t own = rank << kRankShift, other = (1 - rank) << kRankShift;
        const uint32_t bar = SignalHand::kDeviceBar;
        const ptx::MatrixDescriptor tile{.address = 0x410};
        const uint64_t bits = ptx::bits_of(tile);
        hand.block = rank;
        hand.put(0, SignalHand::kInit, 100, {own | bar, 0, 1});
        hand.put(0, SignalHand::kTile, 110,
                 {tile.address, 0, static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)});
        hand.put(0, SignalHand::kArrive, 120, {other | bar, 0, 1, 0});
    }
    const Trace trace = hand.read();
    ASSERT_EQ(trace.blocks.size(), 2u);
    for (const Block& block : trace.blocks) {
        ASSERT_EQ(block.count, 3u);
        const Access init = decode(trace, block.first), tile = decode(trace, block.first + 1);
        EXPECT_EQ(init.array, 2);
        EXPECT_EQ(init.offset[0], 0u);
        EXPECT_EQ(tile.array, 1);
        EXPECT_EQ(tile.offset[0], 0x10u);
        const AccessView arrive(trace, block.first + 2);
        EXPECT_EQ(arrive.addresses()[0], address_in_block(1 - block.x, SignalHand::kBar));
    }
}

// Nobody says why its phase should have ended.
TEST(DeviceSignals, AWaitThatNothingEndsIsThereAllTheSame) {
    SignalHand hand;
    const uint32_t bar = SignalHand::kDeviceBar;
    hand.put(0, SignalHand::kInit, 100, {bar, 0, 2});
    hand.put(1, SignalHand::kWait, 150, {bar, 0, 0});
    hand.put(0, SignalHand::kWait, 160, {bar, 0, 0});
    hand.put(1, SignalHand::kArrive, 170, {bar, 0, 1, 0});
    hand.put_copy(1, 180, 32);
    const Trace trace = hand.read();
    EXPECT_EQ(trace.steps(), 6u);
    EXPECT_TRUE(std::ranges::is_sorted(trace.time));
    EXPECT_EQ(trace.arrival, std::vector<uint32_t>{kNeverWaited});
}

TEST(DeviceSignals, DamageIsRefusedOrRead) {
    std::mt19937_64 random(11);
    size_t read = 0, refused = 0;
    for (int round = 0; round < 1500; ++round) {
        SignalHand hand;
        for (uint32_t i = 0; i < 30; ++i) {
            const uint32_t warp = random() % 2, bar = SignalHand::kDeviceBar + 8 * (random() % 2);
            const uint64_t clock = 100 + 10 * i;
            switch (random() % 4) {
                case 0: hand.put(warp, SignalHand::kInit, clock, {bar, 0, 1 + uint32_t(random() % 3)}); break;
                case 1:
                    hand.put(warp, SignalHand::kArrive, clock, {bar, 0, 1, uint32_t(random() % 3) * 16});
                    break;
                case 2: hand.put(warp, SignalHand::kWait, clock, {bar, 0, uint32_t(random() % 2)}); break;
                default: hand.put_copy(warp, clock, 16); break;
            }
        }
        hand.writer.close(1000);
        for (uint64_t changes = random() % 4; changes > 0; --changes)
            hand.writer.bytes()[random() % hand.writer.bytes().size()] = std::byte(random());
        auto decoded = decode_device_buffer(hand.code, hand.writer.buffer(), hand.options);
        (decoded ? read : refused) += 1;
        if (!decoded) continue;
        const Trace trace = assemble({}, test_launch(hand.arrays), hand.sites, std::move(decoded->blocks));
        EXPECT_TRUE(std::ranges::is_sorted(trace.time));
    }
    EXPECT_GT(read, 100u);
    EXPECT_GT(refused, 100u);
}

// The recording of a kernel is one that NVIDIA's own assembler takes, where it is installed.
TEST(DeviceSignals, Assembles) {
    const std::string ptxas = ptx::test::find_ptxas();
    if (ptxas.empty()) GTEST_SKIP() << "ptxas of the CUDA Toolkit is not on this machine";
    const std::string in = testing::TempDir() + "signals.ptx", out = testing::TempDir() + "signals.cubin";
    for (const SignalKernel& kernel : signal_kernels()) {
        const SignalLaunch made(kernel, 7);
        ptx::InstrumentOptions options;
        options.launch = {made.launch.grid, made.launch.block, made.launch.parameters()};
        options.windowed = true;
        const auto code = ptx::instrument(made.module, kernel.name, options);
        ASSERT_TRUE(code) << code.error().message;
        std::ofstream(in) << ptx::print(code->module);
        EXPECT_EQ(std::system((ptxas + " -arch=sm_90a -o " + out + " " + in).c_str()), 0) << kernel.name;
    }
}

}  // namespace
}  // namespace tilescope::trace
