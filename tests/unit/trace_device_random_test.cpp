// Random blocks written as device streams and read again, against the same requests recorded plainly; and
// buffers damaged at random, which must be refused or read, never more.
#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "tests/launches.h"
#include "tests/unit/device_writer.h"
#include "tests/unit/trace_compare.h"

namespace tilescope::trace {
namespace {

using test::DeviceWriter;
using test::escape_of;
using test::single_of;

constexpr uint64_t kDeviceM = 0x7F12'0000'4000, kTraceM = 0x7F00'0000'0000;

struct RandomLaunch {
    std::mt19937_64 random;
    Dim3 block;
    uint32_t blocks = 0, warps = 0;
    std::vector<ptx::Site> sites;
    std::vector<ptx::LaneShape> shapes;
    std::vector<Array> arrays = {test_array("M", Space::Global, ArrayRole::Input, 300, 200, kTraceM),
                                 test_array("Mds", Space::Shared, ArrayRole::Shared, 16, 32, 0, "mds"),
                                 test_array("Nds", Space::Shared, ArrayRole::Shared, 16, 33, 2048, "nds")};
    ptx::Instrumented code;
    DecodeOptions options;
    std::vector<std::pair<uint32_t, uint32_t>> pairs;  // code, and the first site
    std::vector<uint32_t> runs;                        // their codes
    std::vector<std::unique_ptr<BlockRecorder>> expected;

    uint64_t below(uint64_t limit) { return random() % limit; }

    explicit RandomLaunch(uint64_t seed) : random(seed) {
        const Dim3 shapes_of_blocks[] = {{16, 16, 1}, {32, 2, 1}, {7, 5, 3},
                                         {1, 1, 1},   {33, 1, 1}, {8, 8, 4}};
        block = shapes_of_blocks[below(6)];
        blocks = static_cast<uint32_t>(1 + below(4));
        warps = static_cast<uint32_t>((block.count() + 31) / 32);
        for (uint32_t s = 0; s < 9; ++s) {
            const auto kind = s % 4 == 3 ? ptx::SiteKind::Barrier
                              : s % 2    ? ptx::SiteKind::Store
                                         : ptx::SiteKind::Load;
            const uint32_t bytes = kind == ptx::SiteKind::Barrier ? 0 : s == 4 ? 8 : 4;
            sites.push_back({s, s, kind, s % 3 == 1 ? Space::Shared : Space::Global, bytes, s, 1, s});
            ptx::LaneShape shape;
            shape.affine = bytes != 0 && s != 8;
            if (shape.affine) {
                shape.x = static_cast<int64_t>(below(5)) * 4 - 4;
                shape.y = static_cast<int64_t>(below(50)) * 4, shape.z = static_cast<int64_t>(below(9)) * 4;
            }
            shapes.push_back(shape);
        }
        code = test::instrumented(sites, shapes, static_cast<uint32_t>(6 + below(10)), 512u << below(4));
        code.symbols = {"nds", "mds"};
        for (uint32_t s = 0; s + 1 < sites.size() && s < 7; ++s) {
            code.codes.push_back({ptx::Code::Kind::Pair, s, s + 1});
            pairs.emplace_back(static_cast<uint32_t>(code.codes.size()) - 1, s);
        }
        add_run(0, static_cast<uint32_t>(2 + below(2)));
        add_run(4, static_cast<uint32_t>(6 + below(2)));
        options.grid = {blocks, 1, 1}, options.block = block;
        options.arrays = &arrays, options.sites = &sites;
        options.device_base = {kDeviceM, 0, 0};
        options.threads = static_cast<unsigned>(1 + below(3));
    }
    // Sites [first, last] as a run: some addresses from the word of an earlier site, clocks in either half.
    void add_run(uint32_t first, uint32_t last) {
        code.places.resize(sites.size());
        std::array<std::vector<uint32_t>, kSpaces> bases;  // words so far
        uint32_t words = 2;
        for (uint32_t s = first; s <= last; ++s) {
            ptx::RunPlace& place = code.places[s];
            auto& known = bases[static_cast<size_t>(sites[s].space)];
            if (s != first) place.clock = 2 * words++ + static_cast<uint32_t>(below(2));
            if (sites[s].kind == ptx::SiteKind::Barrier) continue;
            if (!known.empty() && below(2)) {
                place.base = known[below(known.size())];
                place.offset = 4 * static_cast<int64_t>(below(33)) - 64;
            } else {
                place.base = s == first ? 0 : words++;
                known.push_back(place.base);
            }
        }
        runs.push_back(static_cast<uint32_t>(code.codes.size()));
        code.codes.push_back({ptx::Code::Kind::Run, first, last, (words + 3) / 4});
    }
    uint32_t lanes_of(uint32_t warp) const {
        const uint64_t left = block.count() - uint64_t{warp} * 32;
        return left >= 32 ? ~0u : (1u << left) - 1;
    }
    // The slow way to every lane's address: from its thread's numbers.
    std::array<uint64_t, 32> addresses(uint32_t site, uint32_t warp, uint32_t mask, uint64_t start) const {
        std::array<uint64_t, 32> address{};
        const uint64_t keep = sites[site].space == Space::Shared ? UINT32_MAX : UINT64_MAX;
        const auto at = [&](uint32_t lane) {
            const uint64_t t = uint64_t{warp} * 32 + lane;
            return shapes[site].x * static_cast<int64_t>(t % block.x) +
                   shapes[site].y * static_cast<int64_t>(t / block.x % block.y) +
                   shapes[site].z * static_cast<int64_t>(t / block.x / block.y);
        };
        uint32_t first = 0;
        while ((mask >> first & 1) == 0) ++first;
        for (uint32_t lane = 0; lane < 32; ++lane)
            if (mask >> lane & 1)
                address[lane] = (start + static_cast<uint64_t>(at(lane) - at(first))) & keep;
        return address;
    }
    // An address in the middle of an array, so that all lanes stay inside; `moved`: where the trace has it.
    uint64_t start(uint32_t site, uint64_t& moved) {
        if (sites[site].kind == ptx::SiteKind::Barrier) return moved = 0;
        if (sites[site].space == Space::Global) {
            const uint64_t offset = 40000 + below(10000) * 8;
            moved = kTraceM + offset;
            return kDeviceM + offset;
        }
        const bool nds = below(2);  // lanes may lie behind its end: they keep their distances
        const uint64_t offset = 64 + below(100) * 8;
        moved = arrays[nds ? 2 : 1].base + offset;
        return (nds ? 0x400u : 0x10400u) + offset;
    }
};

// One record for the reference: what the recorder must be told, when, and by which stream.
struct Told {
    uint64_t clock;
    uint32_t warp, lane, site, mask;
    std::array<uint64_t, 32> address;
};

void tell(RandomLaunch& launch, uint32_t block, std::vector<Told>& told) {
    std::stable_sort(told.begin(), told.end(), [](const Told& a, const Told& b) {
        return std::tie(a.clock, a.warp, a.lane) < std::tie(b.clock, b.warp, b.lane);
    });
    auto recorder = std::make_unique<BlockRecorder>(launch.arrays, launch.sites, simt::BlockId{block, 0, 0});
    for (const Told& t : told) {
        recorder->set_time(static_cast<uint32_t>(t.clock - told[0].clock));
        if (launch.sites[t.site].kind == ptx::SiteKind::Barrier) {
            recorder->on_barrier(t.site, t.warp, t.mask);
            continue;
        }
        simt::Request request;
        request.site = t.site, request.warp = t.warp, request.mask = t.mask;
        request.space = launch.sites[t.site].space;
        request.address = t.address.data();
        recorder->on_request(request);
    }
    launch.expected.push_back(std::move(recorder));
}

// One run, as its places say; `keep` is told of every site of it, in order.
template <class Keep>
void write_run(RandomLaunch& launch, DeviceWriter& writer, uint32_t code, uint64_t& now, const Keep& keep) {
    const ptx::Code& run = launch.code.codes[code];
    std::vector<uint32_t> words(size_t{4} * run.slots);
    std::map<uint32_t, uint64_t> moved;  // by word
    const uint64_t start = now;
    for (uint32_t s = run.site; s <= run.second; ++s) {
        const ptx::RunPlace& place = launch.code.places[s];
        if (s != run.site) {
            now += launch.below(64) ? launch.below(5) : launch.below(9000);  // below 2^16 in all
            words[place.clock / 2] = static_cast<uint32_t>(now & 0xFFFF) << place.clock % 2 * 16;
        }
        if (place.base != ptx::RunPlace::kNone && !moved.contains(place.base))
            words[place.base] = static_cast<uint32_t>(launch.start(s, moved[place.base]));
        keep(s, place.base == ptx::RunPlace::kNone ? 0
                                                   : moved[place.base] + static_cast<uint64_t>(place.offset));
    }
    writer.run(code, start, words);
}

// Writes random streams of every block, and fills launch.expected.
DeviceWriter write(RandomLaunch& launch, uint32_t records) {
    DeviceWriter writer(launch.code.code_bits, launch.code.chunk_bytes, 16 * launch.below(28));
    writer.symbols = {0x400, 0x10400};
    writer.dropped.assign(launch.blocks, 0);
    std::vector<std::vector<Told>> told(launch.blocks);
    std::vector<uint64_t> clock(launch.blocks);
    for (uint64_t& c : clock) c = launch.below(uint64_t{1} << 40);
    for (uint32_t i = 0; i < records; ++i) {
        const auto block = static_cast<uint32_t>(launch.below(launch.blocks));
        const auto warp = static_cast<uint32_t>(launch.below(launch.warps));
        const uint32_t all = launch.lanes_of(warp);
        uint64_t& now = clock[block];
        now += launch.below(4) ? launch.below(30) : 0;
        const auto keep = [&](uint32_t lane, uint64_t at, uint32_t site, uint32_t mask, uint64_t moved) {
            told[block].push_back({at, warp, lane, site, mask, launch.addresses(site, warp, mask, moved)});
        };
        const bool whole = launch.below(4) != 0;
        const uint64_t kind = launch.below(10);
        uint32_t mask = launch.below(3) ? all : static_cast<uint32_t>(launch.random()) & all;
        mask = mask ? mask : 1;
        uint32_t leader = 0;
        while ((mask >> leader & 1) == 0) ++leader;
        const uint32_t lane = whole ? ptx::kWarpStream : leader;
        writer.to(block, warp, lane);
        uint64_t moved = 0;
        if (whole && kind < 4) {
            const auto& [code, site] = launch.pairs[launch.below(launch.pairs.size())];
            const uint64_t a = launch.start(site, moved);
            keep(lane, now, site, all, moved);
            const uint64_t first = now;
            now += launch.below(5);
            const uint64_t b = launch.start(site + 1, moved);
            keep(lane, now, site + 1, all, moved);
            writer.pair(code, first, a, now, b);
        } else if (whole && kind > 7) {
            write_run(launch, writer, launch.runs[kind - 8], now,
                      [&](uint32_t site, uint64_t at) { keep(lane, now, site, all, at); });
        } else if (kind < 7) {
            const auto site = static_cast<uint32_t>(launch.below(8));
            const uint64_t a = launch.start(site, moved);
            keep(lane, now, site, mask, moved);
            writer.single(single_of(site), now, a, mask);
        } else {
            std::array<uint64_t, 32> address, at_trace{};
            for (size_t l = 0; l < 32; ++l) {
                address[l] = (mask >> l & 1) ? kDeviceM + 4 * launch.below(60000) : launch.random();
                at_trace[l] = address[l] - kDeviceM + kTraceM;
            }
            told[block].push_back({now, warp, lane, 8, mask, at_trace});
            writer.escape(escape_of(8), now, mask, address);
        }
    }
    writer.close(*std::max_element(clock.begin(), clock.end()));
    for (uint32_t b = 0; b < launch.blocks; ++b) tell(launch, b, told[b]);
    return writer;
}

TEST(DeviceBufferRandom, ReadsWhatWasWritten) {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(seed);
        RandomLaunch launch(seed);
        const DeviceWriter writer = write(launch, 1500);
        auto decoded = decode_device_buffer(launch.code, writer.buffer(), launch.options);
        ASSERT_TRUE(decoded) << decoded.error().message;
        const Trace want = assemble({}, test_launch(launch.arrays), launch.sites, std::move(launch.expected));
        Trace got = assemble({}, test_launch(launch.arrays), launch.sites, std::move(decoded->blocks));
        EXPECT_EQ(decoded->records, want.steps());
        for (size_t b = 0; b < got.blocks.size(); ++b) {  // the plain recorder knows neither
            EXPECT_EQ(got.blocks[b].sm, got.blocks[b].count ? 7u : 0u);
            got.blocks[b].sm = 0, got.blocks[b].clock = 0;
        }
        ASSERT_TRUE(same(want, got));
    }
}

TEST(DeviceBufferRandom, RandomBytesAreRefusedOrRead) {
    std::mt19937_64 random(7);
    RandomLaunch launch(3);
    launch.code.symbols.clear();
    launch.code.chunk_bytes = 512;
    uint64_t read = 0;
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::byte> pool(512 * (1 + random() % 3));
        for (std::byte& b : pool) b = std::byte(random() & (round % 2 ? 0xFF : random() % 4 ? 0 : 3));
        DeviceBuffer buffer;
        buffer.pool = pool;
        buffer.dropped.assign(launch.blocks, 0);
        const auto decoded = decode_device_buffer(launch.code, buffer, launch.options);
        read += decoded ? 1 : 0;
        EXPECT_TRUE(decoded || !decoded.error().message.empty());
    }
    EXPECT_LT(read, 2000u);
}

TEST(DeviceBufferRandom, DamageIsRefusedOrReadAndLeavesNothingWorse) {
    uint64_t read = 0, refused = 0;
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        RandomLaunch launch(seed);
        DeviceWriter writer = write(launch, 200);
        const std::vector<std::byte> whole = writer.bytes();
        for (int round = 0; round < 60; ++round) {
            writer.bytes() = whole;
            for (uint64_t changes = 1 + launch.below(3); changes > 0; --changes) {
                std::byte& b = writer.bytes()[launch.below(whole.size())];
                b = launch.below(2) ? std::byte(launch.random()) : b ^ std::byte(1 << launch.below(8));
            }
            auto decoded = decode_device_buffer(launch.code, writer.buffer(), launch.options);
            (decoded ? read : refused) += 1;
            if (!decoded) continue;
            const Trace trace =
                assemble({}, test_launch(launch.arrays), launch.sites, std::move(decoded->blocks));
            EXPECT_EQ(trace.time.size(), trace.steps());
            for (const Block& block : trace.blocks)
                EXPECT_TRUE(std::is_sorted(
                    trace.time.begin() + static_cast<std::ptrdiff_t>(block.first),
                    trace.time.begin() + static_cast<std::ptrdiff_t>(block.first + block.count)));
        }
    }
    EXPECT_GT(read, 20u);
    EXPECT_GT(refused, 20u);
}

}  // namespace
}  // namespace tilescope::trace
