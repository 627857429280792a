// Recordings that a program's launches leave, and the lines that tell of launches.
#include <fstream>
#include <sstream>
#include <vector>

#include "core/trace/file.h"
#include "kernels/launched/orders.h"
#include "tests/unit/cudart_program.h"

namespace tilescope::cudart::test {
namespace {

using namespace launched;

struct Session {
    std::filesystem::path folder;
    Orders orders;
    Ran ran;
    std::vector<LaunchLine> lines;

    explicit Session(const Orders& asked, const std::function<void()>& body)
        : folder(own_folder().string() + "_o") {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        orders = asked;
        orders.folder = folder;
        orders.launches = folder / "lines";
        orders.source = folder / "program.cu";
        std::ofstream(orders.launches).flush();
        std::ofstream(orders.source) << "__global__ void double(const float* in, float* out, int n) {}\n";
        const std::string file = folder / "orders.json";
        std::ofstream(file) << to_json(orders);
        setenv(kOrdersVariable, file.c_str(), 1);
        ran = expect_program(body);
        unsetenv(kOrdersVariable);
        std::istringstream text(file_text(orders.launches));
        for (std::string line; std::getline(text, line);) {
            const auto read = launch_from_json(line);
            EXPECT_TRUE(read) << line;
            if (read) lines.push_back(*read);
        }
    }
    ~Session() { std::filesystem::remove_all(folder); }
    trace::Trace recording(size_t line) const {
        auto read = trace::read_file(lines.at(line).recorded);
        EXPECT_TRUE(read) << (read ? "" : read.error().message);
        return read ? std::move(*read) : trace::Trace{};
    }
};

void three_launches() {
    std::vector<float> in(1000, 2), out(1000);
    float* const a = allocate<float>(1000);
    float* const b = allocate<float>(1000);
    cudaMemcpy(a, in.data(), 4000, cudaMemcpyHostToDevice);
    launch(&double_stub, 4, 256, 0, a, b, 1000);
    launch(&double_stub, 4, 256, 0, b, a, 1000);
    launch(&double_stub, 4, 256, 0, a, b + 24, 900);
    cudaMemcpy(out.data(), b, 4000, cudaMemcpyDeviceToHost);
    EXPECT_EQ(out[23], 4);
    EXPECT_EQ(out[24], 16);
}

TEST(CudartRecord, TheFirstLaunchOfAKernelUnlessMoreIsSaid) {
    const Session session({}, three_launches);
    ASSERT_EQ(session.lines.size(), 3u);
    EXPECT_EQ(session.lines[0].kernel, "double");
    EXPECT_EQ(session.lines[0].recorded, (session.folder / "double.1.tsc").string());
    EXPECT_EQ(session.lines[1].recorded, "");
    EXPECT_EQ(session.lines[2].number, 3u);
    const trace::Trace trace = session.recording(0);
    EXPECT_TRUE(trace.meta.complete);
    EXPECT_EQ(trace.meta.kernel, "double");
    EXPECT_EQ(trace.meta.source_name, "program.cu");
    EXPECT_FALSE(trace.meta.result.checked) << "the program's own check decides";
    ASSERT_GE(trace.launch.arrays.size(), 3u);
    EXPECT_EQ(trace.launch.arrays[0].name, "in");
    EXPECT_EQ(trace.launch.arrays[1].name, "out");
    const Contents& contents = trace.launch.arrays[0].contents;
    ASSERT_EQ(contents.kind, Contents::Kind::Stored);
    EXPECT_EQ(value_at(ElementType::F32, contents.bytes->data() + 400), value_of(2.0f))
        << "before the launch";
    EXPECT_EQ(trace.launch.arguments[2].name, "n");
    EXPECT_EQ(trace.launch.arguments[2].value, 1000u);
}

TEST(CudartRecord, EveryLaunchAndAPointerIntoAnArray) {
    Orders orders;
    orders.every = true;
    const Session session(orders, three_launches);
    ASSERT_EQ(session.lines.size(), 3u);
    const trace::Trace trace = session.recording(2);
    EXPECT_EQ(trace.launch.arguments[1].offset, 96u);
    EXPECT_EQ(trace.launch.arrays[1].elements(), 1000u);
}

TEST(CudartRecord, AWindowOfBlocksWhileTheWholeLaunchRuns) {
    Orders orders;
    orders.numbers = {2};
    orders.window = {1, 2, 0, 1, 0, 1};
    const Session session(orders, three_launches);
    ASSERT_EQ(session.lines.size(), 3u);
    EXPECT_EQ(session.lines[0].recorded, "");
    const trace::Trace trace = session.recording(1);
    ASSERT_EQ(trace.blocks.size(), 1u);
    EXPECT_EQ(trace.blocks[0].x, 1u);
}

TEST(CudartRecord, MemoryThatOnlyMemoryPointsTo) {
    const Session session({}, [] {
        int values[4] = {3, 1, 4, 1}, out[4] = {};
        int* const from = allocate<int>(4);
        int** const where = allocate<int*>(1);
        int* const to = allocate<int>(4);
        cudaMemcpy(from, values, 16, cudaMemcpyHostToDevice);
        cudaMemcpy(where, &from, 8, cudaMemcpyHostToDevice);
        launch(&follow_stub, 1, 4, 0, where, to);
        cudaMemcpy(out, to, 16, cudaMemcpyDeviceToHost);
        EXPECT_EQ(out[2], 4) << "what the recorded run stored is in device memory";
    });
    ASSERT_EQ(session.lines.size(), 1u);
    EXPECT_EQ(session.lines[0].error, "");
    EXPECT_EQ(session.recording(0).launch.arrays.size(), 3u);
}

TEST(CudartRecord, AFaultKeepsWhatWasRecorded) {
    const Session session({}, [] {
        float* const in = allocate<float>(64);
        float* const out = allocate<float>(32);
        launch(&double_stub, 1, 64, 0, in, out, 33);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    });
    ASSERT_EQ(session.lines.size(), 1u);
    EXPECT_NE(session.lines[0].error.find("writes out[32]"), std::string::npos) << session.lines[0].error;
    const trace::Trace trace = session.recording(0);
    EXPECT_FALSE(trace.meta.complete);
    EXPECT_GT(trace.steps(), 0u);
}

TEST(CudartRecord, ARaceIsTheLaunchsErrorThoughTheProgramGoesOn) {
    Orders orders;
    orders.every = true;
    const Session session(orders, [] {
        int* const out = allocate<int>(64);
        launch(&swap_stub, 1, 64, 0, out, 1);
        launch(&swap_stub, 1, 64, 0, out, 0);
        EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    });
    ASSERT_EQ(session.lines.size(), 2u);
    EXPECT_EQ(session.lines[0].error, "");
    EXPECT_NE(session.lines[1].error.find("place["), std::string::npos) << session.lines[1].error;
    EXPECT_NE(session.ran.err.find("launch 2, swap: "), std::string::npos) << session.ran.err;
}

// The counter is loaded and stored by `double`; `swap` only stores.
TEST(CudartRepeats, ALaunchThatChangesNothingIsNotRunAgain) {
    Orders orders;
    orders.numbers = {99};
    const Session session(orders, [] {
        int* const out = allocate<int>(64);
        float* const a = allocate<float>(64);
        for (int k = 0; k < 3; ++k) launch(&swap_stub, 1, 64, 0, out, 1);
        for (int k = 0; k < 2; ++k) launch(&double_stub, 1, 64, 0, a, a, 64);
        int got[64] = {};
        cudaMemset(out, 0, 4);
        launch(&swap_stub, 1, 64, 0, out, 1);
        cudaMemcpy(got, out, 256, cudaMemcpyDeviceToHost);
        EXPECT_EQ(got[0], 32);
    });
    ASSERT_EQ(session.lines.size(), 6u);
    EXPECT_EQ(session.lines[0].same_as, 0u);
    EXPECT_EQ(session.lines[1].same_as, 1u);
    EXPECT_EQ(session.lines[2].same_as, 1u);
    EXPECT_EQ(session.lines[3].same_as, 0u);
    EXPECT_EQ(session.lines[4].same_as, 0u) << "it counts";
    EXPECT_EQ(session.lines[5].same_as, 0u) << "the host has changed its memory";
}

}  // namespace
}  // namespace tilescope::cudart::test
