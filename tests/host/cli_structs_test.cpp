// A program with arrays of structs: elements are called by their members, with values of the members' types, in the
// table, the report, its faults and exports.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

const std::string kSource = TILESCOPE_SOURCE_DIR "/tests/data/programs/structs.cu";

// Each part of a text stands behind the one before it.
void expect_in_order(const std::string& text, const std::vector<std::string>& parts) {
    size_t at = 0;
    for (const std::string& part : parts) {
        const size_t found = text.find(part, at);
        EXPECT_NE(found, std::string::npos) << part << "\n" << text.substr(0, 4000);
        if (found != std::string::npos) at = found + part.size();
    }
}

TEST(CliStructs, ElementsAreMembersWithTheirTypes) {
    const Ran ran = record(kSource + " -o out/");
    const auto file = [](const char* name) { return in_folder(std::string("out/") + name + ".tsc"); };

    const std::string pairs = tilescope({"table", file("pairs.1")}).out;
    expect_in_order(pairs, {"[0]", "p[0].x", "p[0].x = 0.75; p[0].y = -3", "p[1].x = 1.75; p[1].y = -2"});
    EXPECT_EQ(pairs.find("0x"), std::string::npos);
    EXPECT_NE(tilescope({"report", file("pairs.1")}).out.find("p = P[32]"), std::string::npos);

    const std::string bodies = tilescope({"table", file("bodies.2")}).out;
    expect_in_order(bodies, {"b[3].mass", "b[3].pos.y", "b[3].energy", "b[3].tags[1]", "b[3].either.whole"});
    EXPECT_EQ(bodies.find("energy+"), std::string::npos);  // a double is loaded once
    EXPECT_NE(bodies.find("sun.pos.w"), std::string::npos);

    const std::string rows = tilescope({"table", file("rows.3")}).out;
    expect_in_order(
        rows, {"rows[5].ends[1].y", "rows[5].v[2] = 0; tagged[5].d = 2.5; tagged[5].kind = 1; v[5].z = 0"});

    // Thread 24 to 31 take what warp 0 stored: no race. Thread 31 stores behind the array.
    EXPECT_NE((ran.out + ran.err).find("p[32].x"), std::string::npos) << ran.out << ran.err;
}

TEST(CliStructs, FaultsAndExportsCallThemSo) {
    write(in_folder("race.cu"), R"(
struct Item { int key; float value; };
__global__ void k(Item* out) {
    __shared__ Item s[64];
    const int i = threadIdx.x;
    s[i].key = i;
    s[i].value = i + 0.5f;
    out[i].value = s[63 - i].value;
}
int main() {
    Item* out;
    cudaMalloc(&out, 64 * sizeof(Item));
    k<<<1, 64>>>(out);
    cudaDeviceSynchronize();
}
)");
    record("race.cu -o race.tsc");
    const std::string race = tilescope({"report", in_folder("race.tsc")}).out;
    EXPECT_NE(race.find("].value"), std::string::npos) << race;
    EXPECT_NE(race.find("out = Item[64]"), std::string::npos) << race;
    EXPECT_EQ(race.find("0x"), std::string::npos) << race;
    for (const char* format : {"json", "csv"}) {
        const std::string to = in_folder(std::string("race.") + format);
        tilescope({"export", "--format", format, "--lanes", "-o", to, in_folder("race.tsc")});
        const std::string text = read(to);
        EXPECT_NE(text.find("[1].value"), std::string::npos) << text.substr(0, 3000);
    }
}

// A register of 64 bits moves two members, and each is told where it went. Rows whose pitch is not one of whole
// structs are rows of words.
TEST(CliStructs, WordsOfOneRegisterAreTwoMembers) {
    write(in_folder("moves.cu"), R"(
struct Item { float x, y, z, mass; int id; double energy; };
struct Dot { float r, g, b; };
__global__ void turn(const Item* p, Item* out) {
    __shared__ Item s[32];
    const int i = threadIdx.x;
    s[i] = p[i];
    __syncthreads();
    out[i] = s[31 - i];
}
__global__ void rows(Dot* dots, size_t pitch) {
    Dot* const row = reinterpret_cast<Dot*>(reinterpret_cast<char*>(dots) + blockIdx.x * pitch);
    row[threadIdx.x].g = 1;
}
int main() {
    Item *p, *out;
    cudaMalloc(&p, 32 * sizeof(Item));
    cudaMalloc(&out, 32 * sizeof(Item));
    cudaMemset(p, 0, 32 * sizeof(Item));
    turn<<<1, 32>>>(p, out);
    Dot* dots;
    size_t pitch;
    cudaMallocPitch(&dots, &pitch, 32 * sizeof(Dot), 3);
    rows<<<3, 32>>>(dots, pitch);
    cudaDeviceSynchronize();
}
)");
    record("moves.cu -o moves/");
    const std::string turn = tilescope({"table", in_folder("moves/turn.1.tsc")}).out;
    for (const char* member : {"x", "y", "z", "mass", "id", "energy"}) {
        const std::string moved = std::string("p[3].") + member + " -> s[3]." + member;
        const size_t at = turn.find(moved);
        ASSERT_NE(at, std::string::npos) << moved << "\n" << turn.substr(0, 2000);
        EXPECT_NE(turn.substr(at + moved.size(), 4), " -> ") << moved;
    }
    const std::string rows = tilescope({"table", "--block", "1,0", in_folder("moves/rows.2.tsc")}).out;
    EXPECT_NE(rows.find("dots[1,4] = 1"), std::string::npos) << rows.substr(0, 2000);
}

}  // namespace
}  // namespace tilescope::cli_test
