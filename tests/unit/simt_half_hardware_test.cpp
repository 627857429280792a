// Half precision against a real GPU: tests/data/hardware/halves.txt holds what tests/gpu/probes/halves.cu got of it, as
// hashes of every thousand results, and of the functions that no manual defines all 65,536. Every result must be equal.
#include <fstream>
#include <sstream>

#include "core/ptx/names.h"
#include "core/ptx/ops.h"
#include "tests/gpu/probes/half_operands.h"
#include "tests/unit/simt_lanes_check.h"

namespace tilescope::simt {
namespace {

using namespace test;
using half_operands::kBlock;
using half_operands::kCases;
using half_operands::Kind;

// The instruction of a name, with registers of the types that the name has.
struct NamedInstruction {
    ptx::Instruction instruction;
    Kind kind = Kind::Half;
    size_t operands = 1;
};

NamedInstruction instruction_named(const std::string& name) {
    std::vector<ptx::Type> types;
    std::istringstream words(name);
    std::string word, mnemonic;
    std::getline(words, mnemonic, '.');
    while (std::getline(words, word, '.'))
        if (const auto type = ptx::find_type(word)) types.push_back(*type);
    const auto registers = [](ptx::Type type) -> std::string {
        return type == ptx::Type::F32 ? "f32" : size_of(type) == 2 ? "b16" : "b32";
    };
    NamedInstruction made;
    const std::string to = registers(types.front()), from = registers(types.back());
    made.kind = from == "f32" ? Kind::Float : from == "b16" ? Kind::Half : Kind::Pair;
    const bool joins = mnemonic == "cvt" && elements_of(types.front()) > elements_of(types.back());
    if (joins || mnemonic == "add" || mnemonic == "sub" || mnemonic == "mul" || mnemonic == "min" ||
        mnemonic == "max" || mnemonic == "set")
        made.operands = 2;
    if (mnemonic == "fma") made.operands = 3;
    const char* const names[] = {" %D, %A;", " %D, %A, %B;", " %D, %A, %B, %C;"};
    made.instruction = instruction_of(name + names[made.operands - 1], to, from, from, from);
    return made;
}

std::vector<uint32_t> results_of(const std::string& name, LaneVersion version) {
    const NamedInstruction named = instruction_named(name);
    const LaneOp op = find_lane_op(named.instruction, version);
    if (!op) throw std::runtime_error("no lane function for " + name);
    const bool brain = name.find("bf16") != std::string::npos;
    // The probe sees the whole register of 16 bits: a set writes the same to its upper half.
    const bool twice = named.instruction.op == ptx::Op::Set && size_of(named.instruction.type) == 2;
    std::vector<uint32_t> results;
    for (uint32_t at = 0; at < kCases; at += 32) {
        Column columns[3]{}, D{}, E{};
        for (uint32_t l = 0; l < 32; ++l) {
            const auto x = half_operands::operands(named.kind, brain, named.operands == 1, at + l);
            for (size_t k = 0; k < 3; ++k) columns[k].set(4, static_cast<int>(l), x.word[k]);
        }
        op.full(D.bytes, E.bytes, columns[0].bytes, columns[1].bytes, columns[2].bytes, ~0u);
        for (int l = 0; l < 32; ++l)
            results.push_back(static_cast<uint32_t>(D.get(4, l)) * (twice ? 0x10001 : 1));
    }
    return results;
}

TEST(HalfHardware, EveryResultIsTheGpus) {
    std::ifstream file(TILESCOPE_SOURCE_DIR "/tests/data/hardware/halves.txt");
    if (!file) GTEST_SKIP() << "no GPU has been asked yet: tests/gpu/probes/make.sh";
    size_t instructions = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) continue;
        std::istringstream in(line);
        std::string name;
        in >> name;
        const bool table = name == "table";
        if (table) in >> name;
        const std::vector<uint32_t> results = results_of(name, best_version());
        ++instructions;
        if (table) {
            uint32_t at = 0, value = 0;
            for (std::string run; in >> run;) {
                const auto step = static_cast<uint32_t>(std::stoul(run, nullptr, 16));
                const auto count =
                    static_cast<uint32_t>(std::stoul(run.substr(run.find(':') + 1), nullptr, 16));
                for (uint32_t k = 0; k < count && at < kCases; ++k, ++at) {
                    value = (value + step) & 0xFFFF;
                    ASSERT_EQ(results[at], value) << name << std::hex << " of " << at;
                }
            }
            EXPECT_EQ(at, kCases) << name;
            continue;
        }
        uint32_t at = 0;
        for (std::string word; in >> word; at += kBlock) {
            uint32_t hash = half_operands::kNoHash;
            for (uint32_t k = 0; k < kBlock; ++k) hash = half_operands::hashed(hash, results[at + k]);
            EXPECT_EQ(hash, std::stoul(word, nullptr, 16))
                << name << ": something of cases " << at << " to " << at + kBlock - 1
                << " differs; `halves raw " << name << "` prints the GPU's";
        }
        EXPECT_EQ(at, kCases) << name;
    }
    EXPECT_GT(instructions, 0u);
}

// The probe asks for forms that PTX has, in each version of the lane functions alike.
TEST(HalfHardware, WhatIsAskedCanBeRun) {
    std::ifstream probe(TILESCOPE_SOURCE_DIR "/tests/gpu/probes/halves.cu");
    size_t asked = 0;
    for (std::string line; std::getline(probe, line);) {
        if (!line.starts_with("ONE(\"") && !line.starts_with("TWO(\"") && !line.starts_with("THREE(\""))
            continue;
        const size_t from = line.find('"') + 1;
        const std::string name = line.substr(from, line.find('"', from) - from);
        const auto results = results_of(name, LaneVersion::Portable);
        if (supported(LaneVersion::Avx2)) {
            EXPECT_EQ(results_of(name, LaneVersion::Avx2), results) << name;
        }
        ++asked;
    }
    EXPECT_GT(asked, 0u);
}

}  // namespace
}  // namespace tilescope::simt
