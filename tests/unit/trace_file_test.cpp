// A file reads back as what was written, is written whole or not at all, and small.
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/trace/file.h"
#include "core/trace/format.h"
#include "tests/temp_folder.h"
#include "tests/unit/trace_compare.h"
#include "tests/unit/trace_requests.h"

namespace tilescope::trace {
namespace {

namespace fs = std::filesystem;

using TraceFile = TempFolder;

TEST_F(TraceFile, ReadsBackAsWritten) {
    const Trace trace = random_trace(1, 3, 2, 500);
    ASSERT_TRUE(write_file(trace, at("a.tsc")));
    EXPECT_EQ(files(), 1u);
    const auto read = read_file(at("a.tsc"));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(same(trace, *read));
    ASSERT_TRUE(write_file(*read, at("a.tsc")));  // over itself
    EXPECT_TRUE(same(trace, *read_file(at("a.tsc"))));
}

TEST_F(TraceFile, ClocksAndManyChunksReadBack) {
    Trace trace = random_trace(2, 1, 1, 100);
    trace.meta.backend = Backend::Gpu;
    const uint64_t steps = 2 * kChunkSteps + 12345;
    for (uint64_t i = trace.steps(); i < steps; ++i) {
        trace.key.push_back(trace.key[i % 100]);
        trace.base.push_back(trace.base[i % 100]);
    }
    for (uint64_t i = 0; i < steps; ++i)
        trace.time.push_back(static_cast<uint32_t>(UINT32_MAX - (steps - i) * 7));  // the largest there are
    trace.blocks[0].count = steps;
    trace.blocks[0].clock = UINT64_MAX;
    const auto read = deserialize(serialize(trace), "a");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(same(trace, *read));
}

TEST_F(TraceFile, KeepsWhatRecordingCost) {
    Trace trace = random_trace(5, 1, 1, 20);
    EXPECT_EQ(meta_to_json(trace).find("price"), std::string::npos);  // a CPU's, as before there were GPUs
    trace.meta.price = {0.25, 1.5, 3, uint64_t{1} << 40, 1980};
    const auto read = deserialize(serialize(trace), "a");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(same(trace, *read));
    EXPECT_EQ(read->meta.price.device_bytes, uint64_t{1} << 40);

    const std::string text = meta_to_json(trace);
    const auto refusal = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        const size_t at = changed.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        changed.replace(at, from.size(), to);
        Trace into;
        const auto ok = meta_from_json(changed, into);
        return ok ? "accepted" : ok.error().message;
    };
    EXPECT_NE(refusal("\"plain_ms\":0.25", "\"plain_ms\":-0.25").find("'plain_ms'"), std::string::npos);
    EXPECT_NE(refusal("\"recorded_ms\":1.5", "\"recorded_ms\":\"1.5\"").find("'recorded_ms'"),
              std::string::npos);
    EXPECT_NE(refusal("\"launches\":3", "\"launches\":4294967296").find("'launches'"), std::string::npos);
    EXPECT_NE(refusal("\"clock_mhz\":1980.0", "\"clock\":1980.0").find("'clock_mhz'"), std::string::npos);
    EXPECT_NE(refusal("\"price\":{", "\"price\":7,\"x\":{").find("'price'"), std::string::npos);
}

TEST_F(TraceFile, EmptyRecordingReadsBack) {
    Trace trace = random_trace(3, 1, 1, 0);
    const auto read = deserialize(serialize(trace), "a");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(same(trace, *read));
}

TEST_F(TraceFile, UnwritablePathIsOneSentenceAndNoFile) {
    const Trace trace = random_trace(4, 1, 1, 50);
    const auto nowhere = write_file(trace, at("no/such/folder/a.tsc"));
    ASSERT_FALSE(nowhere);
    EXPECT_NE(nowhere.error().message.find("there is no folder"), std::string::npos);
    const auto folder = write_file(trace, folder_.string());
    ASSERT_FALSE(folder);
    EXPECT_NE(folder.error().message.find("it is a folder"), std::string::npos);
    EXPECT_FALSE(write_file(trace, "/dev/null"));
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_EQ(files(), 0u);
}

// A full disk, by the limit on a file's size.
TEST_F(TraceFile, FullDiskLeavesWhatWasThere) {
    std::ofstream(at("a.tsc")) << "before";
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small{1000, before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto full = write_file(random_trace(5, 1, 1, 2000), at("a.tsc"));
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    ASSERT_FALSE(full);
    EXPECT_NE(full.error().message.find("cannot write " + at("a.tsc")), std::string::npos);
    EXPECT_EQ(files(), 1u);
    EXPECT_EQ(fs::file_size(at("a.tsc")), 6u);
}

TEST_F(TraceFile, SymbolicLinkStaysALink) {
    std::ofstream(at("real.tsc")) << "before";
    fs::create_symlink(at("real.tsc"), at("link.tsc"));
    ASSERT_TRUE(write_file(random_trace(6, 1, 1, 5), at("link.tsc")));
    EXPECT_TRUE(fs::is_symlink(at("link.tsc")));
    EXPECT_TRUE(read_file(at("real.tsc")));
}

TEST_F(TraceFile, WhatIsNoRecordingIsSaid) {
    EXPECT_NE(read_file(at("none.tsc")).error().message.find("No such file"), std::string::npos);
    EXPECT_NE(read_file(folder_.string()).error().message.find("it is a folder"), std::string::npos);
    EXPECT_FALSE(read_file("/dev/zero"));
    std::ofstream(at("text.tsc")) << "this is a text of more than thirty-two characters";
    EXPECT_EQ(read_file(at("text.tsc")).error().message,
              at("text.tsc") + " is not a whole Tilescope recording: it does not begin as one");
    std::ofstream(at("empty.tsc")).close();
    EXPECT_FALSE(read_file(at("empty.tsc")));
}

TEST_F(TraceFile, AnotherVersionIsRefusedWithWhatToDo) {
    for (const auto& [version, words] : {std::pair{char{1},
                                                   "it has version 1, this program reads versions 2 to 6; "
                                                   "record it again"},
                                         std::pair{char{7}, "update Tilescope"},
                                         std::pair{char{6}, "it has version 6, and holds no exchanges"},
                                         std::pair{char{5}, "holds no exchanges among the lanes of a warp"},
                                         std::pair{char{3}, "does not say where its copies arrived"}}) {
        std::string bytes = serialize(random_trace(7, 1, 1, 5));
        bytes[8] = version;
        const uint32_t crc = crc32c(std::string_view(bytes).substr(0, kHeaderBytes - 4));
        std::memcpy(bytes.data() + kHeaderBytes - 4, &crc, 4);
        const auto read = deserialize(bytes, "a");
        ASSERT_FALSE(read);
        EXPECT_NE(read.error().message.find(words), std::string::npos) << read.error().message;
    }
}

TEST_F(TraceFile, KeepsALaunchOfAnyKind) {
    Trace trace = random_trace(9, 1, 1, 5);
    auto bytes = std::make_shared<std::vector<std::byte>>(70 * 30 * 4);
    for (size_t i = 0; i < bytes->size(); ++i) (*bytes)[i] = static_cast<std::byte>(i * 31 >> 3);
    trace.launch.arrays[1].contents = {Contents::Kind::Stored, 0, 0, bytes};
    trace.launch.arrays[2].type = ElementType::F16;
    trace.launch.arrays[2].rank = 3;
    trace.launch.arrays[2].slices = 4;
    trace.launch.arrays[2].role = ArrayRole::InOut;
    trace.launch.arrays[2].extents = ExtentSource::Inferred;
    trace.launch.dynamic_shared = 4096;
    trace.launch.arguments.push_back({"alpha", ElementType::F64, value_of(2.5).bits, -1, 0});
    trace.launch.arguments.push_back({"half", ElementType::U64, 0, 1, 128});
    const auto read = deserialize(serialize(trace), "a");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(same(trace, *read));
    // Contents that are not there, or fewer than the array has.
    bytes->pop_back();
    EXPECT_FALSE(deserialize(serialize(trace), "a"));
}

TEST_F(TraceFile, NonFiniteErrorIsWrittenAsTheLargestNumber) {
    Trace trace = random_trace(8, 1, 1, 5);
    trace.meta.result.max_abs_error = std::numeric_limits<double>::infinity();
    const auto read = deserialize(serialize(trace), "a");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->meta.result.max_abs_error, std::numeric_limits<double>::max());
}

// The check value of CRC-32C, and that pieces give the same as the whole.
TEST(TraceChecksum, IsCrc32c) {
    EXPECT_EQ(crc32c("123456789"), 0xE306'9283u);
    EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A91'36AAu);  // RFC 3720, B.4
    const std::string text = "a block of warps of 32 lanes in lockstep";
    for (size_t cut = 0; cut <= text.size(); ++cut)
        EXPECT_EQ(crc32c(text.substr(cut), crc32c(text.substr(0, cut))), crc32c(text));
}

}  // namespace
}  // namespace tilescope::trace
