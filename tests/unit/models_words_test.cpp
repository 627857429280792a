// Wordings that get shorter where there is less room.
#include <gtest/gtest.h>

#include "app/look/time_words.h"
#include "core/base/words.h"
#include "tests/names.h"
#include "tests/opened.h"

namespace tilescope::app {
namespace {

TEST(RecordingNames, GetShorterAndKeepTheKernel) {
    trace::Trace trace;
    trace::Meta& meta = trace.meta;
    meta.kernel = "tiled_transposed";
    analysis::Product product;
    product.m = product.k = product.n = 64;
    product.tile = 32;
    meta.backend = trace::Backend::Gpu;
    meta.device = "NVIDIA H200";
    meta.driver = "580.159.04";
    meta.price.launches = 1;
    analysis::Recording recording = analysis::with_rule(trace);
    recording.product = product;
    const std::vector<std::string> names = recording_names(recording);
    EXPECT_EQ(names, (std::vector<std::string>{
                         "tiled_transposed T=32   64×64×64   NVIDIA H200, driver 580.159.04, 1 launch",
                         "tiled_transposed T=32   64×64×64   NVIDIA H200", "tiled_transposed T=32   64×64×64",
                         "tiled_transposed T=32"}));
    meta.backend = trace::Backend::Cpu;
    EXPECT_EQ(recording_names(recording).front(), "tiled_transposed T=32   64×64×64   CPU lockstep");
}

}  // namespace
}  // namespace tilescope::app
