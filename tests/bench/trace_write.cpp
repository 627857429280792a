// What a recording costs beside the run: requests into a recorder, and steps into the bytes of a file.
#include <benchmark/benchmark.h>

#include "core/trace/builder.h"
#include "core/trace/file.h"
#include "tests/bench/recordings.h"
#include "tests/launches.h"

namespace tilescope::bench {
namespace {

// One warp's requests walking through a matrix: the form is the same, the base moves on.
void recorder_request(benchmark::State& state) {
    const std::vector<Array> arrays{test_array("M", Space::Global, ArrayRole::Input, 4096, 4096, 0x1000)};
    const std::vector<ptx::Site> sites{{0, 0, ptx::SiteKind::Load, Space::Global, 4, 1, 1, 1}};
    std::array<uint64_t, 32> address{};
    simt::Request request;
    request.mask = ~0u;
    request.address = address.data();
    constexpr uint64_t kRequests = 100'000;
    for (auto _ : state) {
        trace::BlockRecorder recorder(arrays, sites, {});
        for (uint64_t i = 0; i < kRequests; ++i) {
            for (uint64_t lane = 0; lane < 32; ++lane)
                address[lane] = 0x1000 + 4 * (lane % 16) + 16384 * (lane / 16) + 64 * i;
            recorder.on_request(request);
        }
        benchmark::DoNotOptimize(&recorder);
    }
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRequests));
}
BENCHMARK(recorder_request)->Unit(benchmark::kMillisecond);

void serialize_large(benchmark::State& state) {
    const trace::Trace& trace = large();
    const auto steps = static_cast<double>(trace.steps());
    size_t bytes = 0;
    for (auto _ : state) bytes = trace::serialize(trace).size();
    state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * trace.steps()));
    state.counters["file_bytes_per_step"] = static_cast<double>(bytes) / steps;
    state.counters["memory_bytes_per_step"] = static_cast<double>(trace::bytes_of(trace)) / steps;
}
BENCHMARK(serialize_large)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilescope::bench
