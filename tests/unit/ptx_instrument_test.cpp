// The instrumented kernel is the kernel, with lines between: its own instructions stand as they were, and
// nothing that was added writes a register of theirs.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/ptx/instrument.h"
#include "core/ptx/parse.h"
#include "tests/unit/ptx_texts.h"

namespace tilescope::ptx {
namespace {

Module read(const std::filesystem::path& path) {
    auto module = parse(file_text(path), path.filename().string());
    EXPECT_TRUE(module) << module.error().message;
    return module ? *module : Module{};
}

std::filesystem::path source(const char* name) { return std::filesystem::path(TILESCOPE_SOURCE_DIR) / name; }

InstrumentOptions options_of(const Module& module, bool windowed, bool exact) {
    InstrumentOptions options;
    options.launch = {
        {8, 8, 1}, {4, 4, 1}, std::vector<uint64_t>(module.kernels.front().parameters.size(), 32)};
    options.same_high = true;
    options.high = 0x7f00;
    options.windowed = windowed;
    options.exact = exact;
    return options;
}

bool added(const Kernel& kernel, const Operand& operand) {
    if (operand.kind == Operand::Kind::Vector) {
        for (const Operand& element : operand.elements)
            if (!added(kernel, element)) return false;
        return true;
    }
    return operand.kind == Operand::Kind::Sink || kernel.registers[operand.reg].name.starts_with("%ts_");
}

TEST(Instrument, LeavesTheKernelsOwnInstructionsAndRegistersAlone) {
    for (const auto& path : test::ptx_files()) {
        const Module module = read(path);
        const Kernel& kernel = module.kernels.front();
        for (const bool exact : {false, true}) {
            SCOPED_TRACE(path.string());
            const auto made = instrument(module, kernel.name, options_of(module, false, exact));
            ASSERT_TRUE(made) << made.error().message;
            const Kernel& instrumented = made->module.kernels.front();
            size_t next = 0;  // of the kernel's own
            for (const Instruction& instruction : instrumented.instructions) {
                if (next < kernel.instructions.size() &&
                    print(instrumented, instruction) == print(kernel, kernel.instructions[next])) {
                    ++next;
                    continue;
                }
                for (size_t i = 0; i < instruction.destinations; ++i) {
                    EXPECT_TRUE(added(instrumented, instruction.operands[i]))
                        << print(instrumented, instruction);
                }
            }
            EXPECT_EQ(next, kernel.instructions.size());
        }
    }
}

// What is added is longer than what was there.
TEST(Instrument, RefusesAKernelThatIsTooLongWithItsRecording) {
    std::string text =
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 k_0)\n{\n"
        ".reg .b64 %a;\n.reg .b32 %r;\nld.param.u64 %a, [k_0];\n";
    constexpr size_t kLoads = 10'000;
    for (size_t i = 0; i < kLoads; ++i) text += "ld.u32 %r, [%a];\n";  // its space is known when it runs
    const auto module = parse(text + "ret;\n}\n", "long.ptx");
    ASSERT_TRUE(module) << module.error().message;
    const auto made = instrument(*module, "k", {});
    ASSERT_FALSE(made);
    EXPECT_EQ(
        made.error().message,
        fmt::format("kernel k has {} loads, stores, barriers and exchanges, more than can be recorded on a "
                    "GPU; record it with --backend cpu",
                    kLoads));
}

TEST(Instrument, NumbersACodeForEverySiteAndPair) {
    const Module module = read(source("assets/ptx/tiled.t16.ptx"));
    const auto made = instrument(module, "tiled", options_of(module, false, false));
    ASSERT_TRUE(made);
    ASSERT_EQ(made->sites.size(), 9u);
    ASSERT_EQ(made->codes.size(), 1 + 9 + 3u);
    EXPECT_EQ(made->codes[0].kind, Code::Kind::Pad);
    for (uint32_t site = 0; site < 9; ++site)
        EXPECT_EQ(made->codes[1 + site], (Code{Code::Kind::Single, site, 0}));
    EXPECT_EQ(made->codes[10], (Code{Code::Kind::Pair, 0, 1}));  // load of M that edges skip, store to Mds
    EXPECT_EQ(made->codes[11], (Code{Code::Kind::Pair, 3, 4}));  // store to Nds, barrier
    EXPECT_EQ(made->codes[12], (Code{Code::Kind::Pair, 5, 6}));  // loads of Mds and Nds
    EXPECT_EQ(made->code_bits, 4u);
    EXPECT_EQ(made->symbols.size(), 2u);
}

// NVRTC unrolls the loop over a tile of 16: its loads, and the barriers around them, follow each other.
TEST(Instrument, RecordsNeighboursAsARun) {
    const Module module = read(source("assets/ptx/nvrtc/tiled.t16.ptx"));
    const auto made = instrument(module, "tiled", options_of(module, false, false));
    ASSERT_TRUE(made) << made.error().message;
    const auto run = std::find_if(made->codes.begin(), made->codes.end(),
                                  [](const Code& c) { return c.kind == Code::Kind::Run; });
    ASSERT_NE(run, made->codes.end());
    const uint32_t sites = run->second - run->site + 1;
    EXPECT_GT(sites, 16u + 16 / 4);  // N column by column, M four at a time or one by one
    std::set<uint32_t> words, halves;
    std::map<uint32_t, uint32_t> registers;  // word, and the sites that say its address
    for (uint32_t s = run->site; s <= run->second; ++s) {
        const RunPlace& place = made->places[s];
        if (made->sites[s].kind == SiteKind::Barrier) {
            EXPECT_EQ(place.base, RunPlace::kNone);
        } else {
            words.insert(place.base);
            EXPECT_LT(place.base, 4 * run->slots);
            registers[place.base]++;
        }
        if (s == run->site) {
            EXPECT_EQ(place.clock, RunPlace::kNone);
            continue;
        }
        EXPECT_TRUE(halves.insert(place.clock).second);  // each has a place of its own
        EXPECT_GE(place.clock, 4u);                      // behind the first address and the tag
        EXPECT_LT(place.clock, 8 * run->slots);
    }
    for (const uint32_t half : halves) EXPECT_FALSE(words.contains(half / 2));
    EXPECT_LE(words.size(), 4u);  // of Mds and Nds each one, and of what comes beside
    // Two bytes a site, and a word an address register, but for the rest of the last slot.
    EXPECT_EQ(run->slots, (2 + words.size() - words.contains(0) + (sites - 1 + 1) / 2 + 3) / 4);
    InstrumentOptions options = options_of(module, false, false);
    options.runs = false;
    const auto without = instrument(module, "tiled", options);
    ASSERT_TRUE(without);
    EXPECT_TRUE(std::none_of(without->codes.begin(), without->codes.end(),
                             [](const Code& c) { return c.kind == Code::Kind::Run; }));
}

TEST(Instrument, GlobalLoadsArePairedOnlyWhereOneHighHalfServesAll) {
    const Module module = read(source("assets/ptx/untiled.ptx"));
    InstrumentOptions options = options_of(module, false, false);
    const auto pairs = [&] {
        const auto made = instrument(module, "untiled", options);
        return std::count_if(made->codes.begin(), made->codes.end(),
                             [](const Code& c) { return c.kind == Code::Kind::Pair; });
    };
    EXPECT_EQ(pairs(), 1);
    options.same_high = false;
    EXPECT_EQ(pairs(), 0);
}

TEST(Instrument, SaysWhichKernelIsMissing) {
    const Module module = read(source("assets/ptx/untiled.ptx"));
    const auto made = instrument(module, "tiled", {});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().message, "there is no kernel tiled in this PTX; check its name");
}

// A cvt may read the low half of a wider register; what checks it takes that half too.
TEST(Instrument, ChecksTheLowHalfOfAWiderRegister) {
    const auto module = parse(R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry low_half(.param .u64 low_half_0)
{
    .reg .b32 %r<2>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [low_half_0];
    mov.u32 %r1, %tid.x;
    cvt.s64.s32 %rd2, %r1;
    cvt.s64.s32 %rd3, %rd2;
    shl.b64 %rd4, %rd3, 2;
    add.s64 %rd5, %rd1, %rd4;
    st.global.u32 [%rd5], %r1;
    ret;
}
)",
                              "low_half.ptx");
    ASSERT_TRUE(module) << module.error().message;
    const auto made = instrument(*module, "low_half", options_of(*module, false, false));
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_NE(print(made->module).find("cvt.u32.u64 \t%ts_t0, %rd2;"), std::string::npos);
}

// A warp that gave registers back would have too few for its recording.
TEST(Instrument, LeavesRegistersToTheWarps) {
    const Module module =
        test::parsed(test::kernel_text("setmaxnreg.dec.sync.aligned.u32 40;\nld.global.u32 %r1, [%rd1];\n"));
    const auto made = instrument(module, "k", options_of(module, true, false));
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(print(made->module).find("setmaxnreg"), std::string::npos);
}

// Which blocks of a cluster a copy goes to stands behind the words that every copy has.
TEST(Instrument, WritesTheBlocksOfAMulticast) {
    const Module module = test::parsed(test::kernel_text(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster \t[%r1], "
        "[%rd1], 16, [%r2], %rs1;"));
    const auto made = instrument(module, "k", options_of(module, false, false));
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_EQ(made->sites.size(), 2u);
    for (const Site& site : made->sites) {
        EXPECT_EQ(site.words, kRowWords + 1);
        EXPECT_TRUE(is_multicast(site.box, site.words));
    }
    EXPECT_NE(print(made->module).find("%ts_found16, %rs1;"), std::string::npos);
}

TEST(Instrument, RefusesCopiesBetweenBlocksAndPartsOfCopies) {
    for (const char* const text :
         {"cp.async.bulk.global.shared::cta.bulk_group.cp_mask \t[%rd1], [%r1], 16, %rs1;",
          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes \t[%r1], [%r2], 16, "
          "[%r3];"}) {
        const Module module = test::parsed(test::kernel_text(text));
        const auto made = instrument(module, "k", options_of(module, false, false));
        ASSERT_FALSE(made) << text;
        EXPECT_NE(made.error().message.find("cannot be recorded on a GPU yet"), std::string::npos);
    }
}

// NVIDIA's own assembler takes what is printed, where it is installed.
TEST(Instrument, Assembles) {
    const std::string ptxas = test::find_ptxas();
    if (ptxas.empty()) GTEST_SKIP() << "ptxas of the CUDA Toolkit is not on this machine";
    const auto folder = std::filesystem::path(testing::TempDir());
    const std::string in = (folder / "instrumented.ptx").string(),
                      out = (folder / "instrumented.cubin").string();
    for (const char* name : {"assets/ptx/tiled.t16.ptx", "tests/data/ptx/nvcc/wide.ptx"}) {
        const Module module = read(source(name));
        for (const bool exact : {false, true}) {
            const auto made =
                instrument(module, module.kernels.front().name, options_of(module, true, exact));
            ASSERT_TRUE(made) << made.error().message;
            std::ofstream(in) << print(made->module);
            const std::string command = ptxas + " -arch=sm_90 -o " + out + " " + in;
            EXPECT_EQ(std::system(command.c_str()), 0) << name;
        }
    }
}

}  // namespace
}  // namespace tilescope::ptx
