// tilescope compare, as a person calls it: counters of two recordings beside each other.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

using nlohmann::json;

std::string recorded_to_compare(const std::string& kernel, const std::string& size, const std::string& tile) {
    const std::string path = in_folder(kernel + size + tile + ".tsc");
    const Ran ran = tilescope({"record", kernel, "--tile", tile, "--m", size, "--k", size, "--n", size,
                               "--backend", "cpu", "-o", path});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return path;
}

json compared(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    arguments.push_back("--json");
    const Ran ran = tilescope(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    json all = json::parse(ran.out, nullptr, false);
    EXPECT_FALSE(all.is_discarded()) << ran.out;
    EXPECT_EQ(all["schema"], "tilescope.compare/1");
    return all;
}

json counter(const json& all, const std::string& name) {
    for (const json& row : all["counters"])
        if (row["counter"] == name) return row;
    ADD_FAILURE() << name << " is not in " << all.dump(1);
    return {};
}

// Of 4 x 4 matrices with T = 2 the tiled kernel loads half of what the untiled one does.
TEST(CliCompare, TheLecturesTiles) {
    const std::string a = recorded_to_compare("untiled", "4", "2"),
                      b = recorded_to_compare("tiled", "4", "2");
    const json all = compared({a, b});
    EXPECT_EQ(all["lock"], "phase");
    EXPECT_EQ(all["so_far_of"], "block");
    EXPECT_EQ(all["a"]["kernel"], "untiled");
    EXPECT_EQ(all["b"]["kernel"], "tiled");
    EXPECT_EQ(all["a"]["step"], all["a"]["steps"]) << "the last unless another is asked for";
    EXPECT_EQ(all["b"]["step"], all["b"]["steps"]);
    EXPECT_EQ(all["caveat"], "");
    const json bytes = counter(all, "bytes loaded");
    EXPECT_EQ(bytes["whole"]["a"], 2 * 4 * 4 * 4 * 4);  // 2 loads of 4 bytes for each of 4 * 4 * 4 products
    EXPECT_EQ(bytes["whole"]["b"], 2 * 4 * 4 * 4 * 4 / 2);
    EXPECT_EQ(bytes["whole"]["ratio"], 0.5);
    EXPECT_EQ(bytes["so_far"]["a"], 2 * 4 * 4 * 4) << "of the block, a quarter of the run";
    EXPECT_TRUE(counter(all, "barrier arrivals")["whole"]["ratio"].is_null()) << "nothing to divide by";

    const Ran text = tilescope({"compare", a, b});
    EXPECT_EQ(text.status, 0);
    EXPECT_EQ(text.err, "");
    EXPECT_NE(text.out.find("A  untiled T=2   4×4×4"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("\nB, tiled T=2: 2 times fewer load requests"), std::string::npos) << text.out;
}

// Any lock, at its ends: the first steps have one request each, the last ones all of them.
TEST(CliCompare, EveryLockBeginsAndEndsTogether) {
    const std::string a = recorded_to_compare("tiled", "32", "16"),
                      b = recorded_to_compare("untiled_swapped", "32", "16");
    for (const std::string lock : {"step", "phase", "share"}) {
        const json first = compared({a, b, "--lock", lock, "--at", "first"});
        EXPECT_EQ(first["lock"], lock);
        for (const char* side : {"a", "b"}) {
            EXPECT_EQ(first[side]["step"], 1) << lock;
            EXPECT_EQ(first[side]["block"], (json{0, 0})) << lock;
            EXPECT_EQ(counter(first, "load requests")["so_far"][side], 1) << lock;
        }
        EXPECT_EQ(first["so_far_of"], lock == "share" ? "run" : "block");
    }
    const json last = compared({a, b, "--lock", "share"});
    for (const json& row : last["counters"]) EXPECT_EQ(row["so_far"], row["whole"]) << row.dump();
}

TEST(CliCompare, SaysWhatIsWrongAndWhatDiffers) {
    const std::string wrong = recorded_to_compare("tiled_no_barrier", "32", "16"),
                      right = recorded_to_compare("tiled", "32", "16"),
                      other = recorded_to_compare("tiled", "16", "16");
    const std::string said = compared({wrong, right})["headline"];
    EXPECT_EQ(said.rfind("A's result is wrong in ", 0), 0u) << said;
    EXPECT_NE(said.find("; B's is right."), std::string::npos) << said;
    const std::string caveat = compared({right, other})["caveat"];
    EXPECT_NE(caveat.find("32×32×32 in A, 16×16×16 in B"), std::string::npos) << caveat;
    EXPECT_NE(tilescope({"compare", right, other}).out.find(caveat), std::string::npos);
}

TEST(CliCompare, TakesTheNamesOfWhatShips) {
    const json all = compared({"untiled-64x64x64-t16", "tiled-64x64x64-t16"});
    EXPECT_EQ(all["a"]["device"], "NVIDIA H200");
    EXPECT_EQ(counter(all, "load requests")["whole"], (json{{"a", 16384}, {"b", 1024}, {"ratio", 1.0 / 16}}));
}

TEST(CliCompare, WrongCallsGetOneSentence) {
    const std::string path = lecture_recording();
    expect_refused(2, {"compare", path}, "B");
    expect_refused(2, {"compare", path, path, "--lock", "warp"}, "step, phase or share");
    for (const char* step : {"0", "85", "-1", "1.5", "end", ""})
        expect_refused(2, {"compare", path, path, "--at", step}, "from 1 to 84");
    expect_refused(2, {"compare", path, path, "--wide"}, "--wide");
}

TEST(CliCompare, WhatCannotBeReadGetsOneSentence) {
    const std::string path = lecture_recording();
    expect_refused(1, {"compare", path, "missing.tsc"}, "missing.tsc");
    expect_refused(1, {"compare", "missing.tsc", path}, "missing.tsc");
    write(folder() / "short.tsc", read(path).substr(0, 700));
    write(folder() / "other.tsc", "not a recording");
    write(folder() / "empty.tsc", "");
    for (const char* name : {"short.tsc", "other.tsc", "empty.tsc"}) {
        expect_refused(1, {"compare", path, name}, name);
        expect_refused(1, {"compare", name, path, "--json"}, name);
    }
}

}  // namespace
}  // namespace tilescope::cli_test
