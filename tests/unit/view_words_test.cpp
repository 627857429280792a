// Wordings that get shorter where there is less room.
#include <gtest/gtest.h>

#include "app/draw/words.h"
#include "app/look/time_words.h"
#include "tests/app_names.h"

namespace tilescope::app {
namespace {

TEST(RecordingNames, GetShorterAndKeepTheKernel) {
    trace::Meta meta;
    meta.kernel = "tiled_transposed";
    meta.m = meta.k = meta.n = 64;
    meta.tile = 32;
    meta.backend = trace::Backend::Gpu;
    meta.device = "NVIDIA H200";
    meta.driver = "580.159.04";
    meta.price.launches = 1;
    const std::vector<std::string> names = recording_names(meta);
    EXPECT_EQ(names, (std::vector<std::string>{
                         "tiled_transposed T=32   64x64x64   NVIDIA H200, driver 580.159.04, 1 launch",
                         "tiled_transposed T=32   64x64x64   NVIDIA H200", "tiled_transposed T=32   64x64x64",
                         "tiled_transposed T=32"}));
    EXPECT_EQ(recording_name(meta), names.front());
    meta.backend = trace::Backend::Cpu;
    EXPECT_EQ(recording_name(meta), "tiled_transposed T=32   64x64x64   CPU lockstep");
}

}  // namespace
}  // namespace tilescope::app
