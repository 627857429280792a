// tilescope record FILE.cu: a program is compiled, run, listed and recorded, and what is wrong is said.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/host/cli_program.h"

namespace tilescope::cli_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Doubles n numbers and checks them; prints what it was given.
constexpr const char* kTwice = R"(#include <cstdio>
#include <cuda_runtime.h>
__global__ void twice(float* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2.0f;
}
int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) printf("given [%s]\n", argv[i]);
    float host[64], *data;
    for (int i = 0; i < 64; ++i) host[i] = i;
    cudaMalloc(&data, sizeof host);
    cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
    for (int k = 0; k < 3; ++k) twice<<<2, 32>>>(data, 64);
    cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; ++i)
        if (host[i] != 8.0f * i) return 5;
    puts("right");
    return cudaDeviceSynchronize();
}
)";

TEST(CliPrograms, RunsAProgramAndRecordsIt) {
    write(in_folder("twice.cu"), kTwice);
    const Ran ran = record("twice.cu -o out -- 'a b' '*'");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("given [a b]\ngiven [*]\nright\n"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("twice"), std::string::npos);
    EXPECT_TRUE(fs::is_regular_file(in_folder("out/twice.1.tsc"))) << ran.out << ran.err;
    EXPECT_FALSE(fs::exists(in_folder("out/twice.2.tsc"))) << "only a kernel's first launch";
    const Ran report = tilescope({"report", "out/twice.1.tsc"});
    EXPECT_EQ(report.status, 0) << report.err;

    const auto built = [] {
        const fs::directory_iterator all(in_folder("cache/tilescope/programs"));
        return std::count_if(begin(all), end(all), [](const auto& at) { return !at.path().has_extension(); });
    };
    EXPECT_EQ(built(), 1);
    const Ran again = record("twice.cu -o again.tsc --launch 2");
    EXPECT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(built(), 1) << "it comes from the cache";
    EXPECT_TRUE(fs::is_regular_file(in_folder("again.tsc"))) << again.out;
    for (const auto& entry : fs::directory_iterator(folder()))
        EXPECT_EQ(entry.path().filename().string().find(".tilescope-"), std::string::npos)
            << "nothing half is left";

    // What changed is built anew.
    std::string changed = kTwice;
    changed.replace(changed.find("\"right\""), 7, "\"anew!\"");
    write(in_folder("twice.cu"), changed);
    EXPECT_NE(record("twice.cu").out.find("anew!"), std::string::npos);
    EXPECT_EQ(built(), 2);
}

TEST(CliPrograms, JsonIsADocument) {
    write(in_folder("two words.cu"), kTwice);
    const Ran ran = record("'./two words.cu' --every --json -o out");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.err.find("right"), std::string::npos) << "the program's own output";
    const json document = json::parse(ran.out, nullptr, false);
    ASSERT_TRUE(document.is_object()) << ran.out;
    EXPECT_EQ(document["schema"], "tilescope.launches/1");
    EXPECT_EQ(document["program"], "./two words.cu");
    EXPECT_EQ(document["backend"], "cpu");
    EXPECT_EQ(document["exit"], 0);
    EXPECT_NE(document["compiler"].get<std::string>().find("clang"), std::string::npos);
    ASSERT_EQ(document["launches"].size(), 3u);
    for (size_t at = 0; at < 3; ++at) {
        const json& launch = document["launches"][at];
        EXPECT_EQ(launch["number"], at + 1);
        EXPECT_EQ(launch["kernel"], "twice");
        EXPECT_EQ(launch["grid"], json({2, 1, 1}));
        EXPECT_EQ(launch["block"], json({32, 1, 1}));
        EXPECT_EQ(launch["shared"], 0);
        EXPECT_TRUE(launch["ms"].is_number());
        EXPECT_TRUE(launch["error"].is_null()) << launch;
        EXPECT_TRUE(fs::is_regular_file(folder() / launch["recorded"].get<std::string>()));
    }
}

TEST(CliPrograms, ShowsWhatTheCompilerSays) {
    write(in_folder("wrong.cu"), "int main() { return undeclared_thing; }\n");
    const Ran ran = record("wrong.cu");
    EXPECT_EQ(ran.status, 1);
    EXPECT_NE(ran.err.find("wrong.cu:1:21: error: use of undeclared identifier 'undeclared_thing'"),
              std::string::npos)
        << ran.err;
    EXPECT_NE(ran.err.find("tilescope: 'wrong.cu' does not compile"), std::string::npos) << ran.err;
    EXPECT_FALSE(fs::exists(in_folder("wrong")));
}

TEST(CliPrograms, NamesACallThatIsMissing) {
    write(in_folder("fft.cu"),
          "#include <cufft.h>\nint main() { cufftHandle plan; return cufftDestroy(plan); }\n");
    EXPECT_NE(record("fft.cu").err.find("cuFFT is not part of Tilescope's runtime"), std::string::npos);
    write(in_folder("graph.cu"), "int main() { cudaGraph_t g; return cudaGraphCreate(&g, 0); }\n");
    EXPECT_NE(record("graph.cu").err.find("the program uses cudaGraph_t"), std::string::npos);
}

TEST(CliPrograms, TellsTheProgramsStatus) {
    write(in_folder("seven.cu"),
          "#include <cstdlib>\n#include <omp.h>\nextern \"C\"__global__ void none() {}\n"
          "int main(int n, char**) {\n"
          "    if (n > 2) return -1;\n    if (n > 1) abort();\n    return omp_get_max_threads() * 7;\n}\n");
    const Ran ran = record("seven.cu");
    EXPECT_EQ(ran.status, 1);
    EXPECT_NE(ran.err.find("the program ended with status 7"), std::string::npos) << ran.err;
    EXPECT_NE(record("seven.cu -- x").err.find("ended by signal 6"), std::string::npos);
    EXPECT_NE(record("seven.cu -- x y").err.find("ended with status 255"), std::string::npos);
    const json document = json::parse(record("seven.cu --json").out, nullptr, false);
    ASSERT_TRUE(document.is_object());
    EXPECT_EQ(document["exit"], 7);
    EXPECT_EQ(document["failure"], "the program ended with status 7");
    EXPECT_EQ(document["launches"], json::array());
}

TEST(CliPrograms, HandsOnInputFoldersAndFlags) {
    fs::create_directories(in_folder("in c"));
    write(in_folder("in c/odd name.h"), "#define TEXT \"from the header\"\n");
    write(in_folder("other.cpp"), "const char* other() { return \"from another file\"; }\n");
    write(
        in_folder("main.cu"),
        "#include <cstdio>\n#include \"odd name.h\"\nconst char* other();\nint main() { char line[9] = \"\"; "
        "if (!fgets(line, 9, stdin)) return 1; printf(\"%s|%s|%s|%d\\n\", TEXT, other(), line, N); }\n");
    const Ran ran = shell(
        "export XDG_CACHE_HOME=\"$PWD/cache\"; printf words | \"$TILESCOPE\" record main.cu --flags "
        "\"-I 'in c' other.cpp -DN=41+1\"");
    EXPECT_NE(ran.out.find("from the header|from another file|words|42\n"), std::string::npos)
        << ran.out << ran.err;
}

// With clang's runtime of OpenMP or without it, and whatever gives the flag.
TEST(CliPrograms, RunsWithOpenMp) {
    write(in_folder("threads.cu"), R"(#include <cstdio>
#include <omp.h>
__global__ void k(int* p) { p[threadIdx.x] = threadIdx.x; }
int main() {
    int *p, sum = 0, most = 0;
    cudaMallocManaged(&p, 400);
    k<<<1, 100>>>(p);
    cudaDeviceSynchronize();
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += p[i];
#pragma omp parallel
#pragma omp critical
    if (omp_get_num_threads() > most) most = omp_get_num_threads();
    printf("%d %d\n", sum, most >= 1 && most <= omp_get_max_threads());
}
)");
    for (const char* flags : {"-fopenmp", "-Xcompiler=-O1,-fopenmp", "-fopenmp=libgomp"}) {
        const Ran ran = record("threads.cu -o out --flags '" + std::string(flags) + "'");
        EXPECT_EQ(ran.status, 0) << flags << ran.err;
        EXPECT_NE(ran.out.find("4950 1\n"), std::string::npos) << flags << ran.out;
    }
    const Ran refused = record("threads.cu --flags -lnowhere");
    EXPECT_NE(refused.err.find("linked with libnowhere, which is not there"), std::string::npos)
        << refused.err;
}

// What tells nvcc from a host's compiler; and min and max, which a program may declare and NVIDIA's headers define.
TEST(CliPrograms, FindsWhatNvccDefines) {
    write(in_folder("nvcc.cu"), R"(#if !defined(__NVCC__) || !defined(__CUDACC__) || __CUDACC_VER_MAJOR__ < 11
#error no nvcc
#endif
#if !defined(__CUDACC_EXTENDED_LAMBDA__) || !defined(__CUDA_ARCH_LIST__)
#error not all of it
#endif
#include <cstdio>
#include <functional>
#include <random>
#include <regex>
#include <thread>
const int listed[] = {__CUDA_ARCH_LIST__};
int min(int a, int b);
unsigned max(int, unsigned);
double max(float a, double b);
extern float min(float a, float b);
long long max(long long, long long);
unsigned max(unsigned a, unsigned b) { return a * 10 + b; }
__host__ __device__ int twice(int a) { return 2 * a; }
__global__ void k(int* p, int n) { p[threadIdx.x] = twice(min(n, 3)) + max(1, 2u); }
int main(int argc, char**) {
    int* p;
    cudaMallocManaged(&p, 128);
    k<<<1, 32>>>(p, 5);
    cudaDeviceSynchronize();
    printf("%d: %d %d %u %g %g %lld %u\n", listed[0], p[31], min(argc, 7), max(argc, 9u), max(1.5f, argc + 1.),
           min(.5f, float(argc)), max(1ll << 40, (long long)argc), max(2u, 3u));
}
)");
    const Ran ran = record("nvcc.cu -o out --flags -arch=sm_80");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("800: 8 1 9 2 0.5 1099511627776 23\n"), std::string::npos) << ran.out;
}

// What a program asks for and does not get is said, once where it asks again and again; one that is content with less
// goes on.
TEST(CliPrograms, SaysWhatMemoryItDoesNotGet) {
    write(in_folder("memory.cu"), R"(#include <cerrno>
#include <cstdlib>
#include <vector>
__global__ void k(int* p) { *p = 1; }
volatile void* kept;
int main(int argc, char** argv) {
    int* p;
    cudaMallocManaged(&p, 4);
    k<<<1, 1>>>(p);
    const size_t n = size_t(1) << 55;
    switch (argc) {
    case 1: for (size_t less = n; cudaMallocHost(&p, less) != cudaSuccess; less /= 1024) continue; break;
    case 2: kept = malloc(n); if (errno == ENOMEM) *(int*)kept = 1; break;
    case 3: kept = new char[n]; break;
    case 4: std::vector<char> v(n); kept = v.data(); break;
    }
}
)");
    const auto says = [](const std::string& arguments, int status, const std::string& sentence) {
        const Ran ran = record("memory.cu -o out -- " + arguments);
        EXPECT_EQ(ran.status, status) << arguments << ran.err;
        EXPECT_NE(ran.err.find(sentence), std::string::npos) << arguments << ran.err;
        EXPECT_EQ(ran.err.find(" asks for "), ran.err.rfind(" asks for ")) << ran.err;
        EXPECT_EQ(ran.err.find("ended by signal") != std::string::npos, status != 0) << ran.err;
    };
    says("", 0, "cudaHostAlloc at line 12 gets no memory: it asks for 36.0 PB, and the device has ");
    says("1", 1, "line 13: malloc gets no memory: it asks for 36.0 PB, and this machine has ");
    says("1 2", 1, "line 14: new gets no memory: it asks for 36.0 PB, and this machine has ");
    says("1 2 3", 1, "new gets no memory: it asks for 36.0 PB, and this machine has ");
}

// The type of a variable may be a macro to which a flag gives another meaning than the source: elements are as the
// compiler has made them.
TEST(CliPrograms, AFlagChangesTheTypeOfAVariable) {
    write(in_folder("typed.cu"), R"(#ifndef SMALL
#define SMALL long long
#endif
#ifndef LARGE
#define LARGE int
#endif
__constant__ SMALL c[8];
__global__ void k(SMALL* out, LARGE* more) {
    __shared__ SMALL one;
    __shared__ SMALL some[64];
    __shared__ LARGE large[4][16];
    __shared__ LARGE single;
    if (threadIdx.x == 0) one = (SMALL)7, single = (LARGE)3;
    some[threadIdx.x] = c[threadIdx.x % 8];
    large[threadIdx.x / 16][threadIdx.x % 16] = 2;
    __syncthreads();
    out[threadIdx.x] = one + some[63 - threadIdx.x];
    more[threadIdx.x] = large[0][3] + single;
}
int main() {
    SMALL* p;
    LARGE* q;
    cudaMalloc(&p, 64 * sizeof *p);
    cudaMalloc(&q, 64 * sizeof *q);
    k<<<1, 64>>>(p, q);
    return cudaDeviceSynchronize();
}
)");
    for (const auto& [flags, small, large] : {std::tuple{"", 8u, 4u},
                                              {"--flags '-DSMALL=int -DLARGE=double'", 4u, 8u},
                                              {"--flags '-DSMALL=short -DLARGE=int'", 2u, 4u}}) {
        const Ran ran = record("typed.cu -o out.tsc " + std::string(flags));
        EXPECT_EQ(ran.status, 0) << flags << ran.err;
        const trace::Trace trace = recording(in_folder("out.tsc"));
        std::map<std::string, std::pair<uint64_t, uint64_t>> sizes;  // elements, bytes of one
        for (const Array& array : trace.launch.arrays)
            sizes[array.name] = {array.elements(), array.element_bytes()};
        const std::map<std::string, std::pair<uint64_t, uint64_t>> right = {
            {"one", {1, small}},    {"some", {64, small}},  {"c", {8, small}},    {"out", {64, small}},
            {"single", {1, large}}, {"large", {64, large}}, {"more", {64, large}}};
        EXPECT_EQ(sizes, right) << flags;
    }
}

// tests/data/programs/math.cu holds the mathematical functions of our headers against the host's.
TEST(CliPrograms, FunctionsKeepToTheirError) {
    const Ran ran = record("'" TILESCOPE_SOURCE_DIR "/tests/data/programs/math.cu' --launch 1 -o one.tsc");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_NE(ran.out.find("all within the stated error"), std::string::npos) << ran.out;
}

TEST(CliPrograms, NvccMakesThePtxWhereItIs) {
    write(in_folder("twice.cu"), kTwice);
    const Ran none = record("twice.cu --compiler nvcc", "TILESCOPE_NVCC=/nonexistent/nvcc");
    EXPECT_EQ(none.status, 1);
    EXPECT_NE(none.err.find("'/nonexistent/nvcc', which is no nvcc"), std::string::npos) << none.err;
    const Ran ran = record("twice.cu --compiler nvcc --json -o out");
    if (ran.err.find("is not on this machine") != std::string::npos)
        GTEST_SKIP() << "nvcc of the CUDA Toolkit is not on this machine";
    ASSERT_EQ(ran.status, 0) << ran.err;
    const json document = json::parse(ran.out, nullptr, false);
    EXPECT_EQ(document["compiler"].get<std::string>().rfind("nvcc ", 0), 0u) << document["compiler"];
    EXPECT_EQ(document["launches"].size(), 3u);
    const json by_clang = json::parse(record("twice.cu --json -o out").out, nullptr, false);
    EXPECT_EQ(by_clang["compiler"].get<std::string>().rfind("clang ", 0), 0u) << "the cache keeps both";
}

TEST(CliPrograms, StopsWithCtrlC) {
    write(in_folder("sleeper.cu"),
          "#include <fcntl.h>\n#include <unistd.h>\nint main() { creat(\"up\", 0600); sleep(60); }\n");
    const auto begin = std::chrono::steady_clock::now();
    const Ran ran = shell(
        "export XDG_CACHE_HOME=\"$PWD/cache\"; \"$TILESCOPE\" record sleeper.cu & child=$!; for i in $(seq "
        "600); do "
        "[ -e up ] && break; sleep 0.1; done; kill -INT $child; wait $child");
    EXPECT_EQ(ran.status, 1) << ran.err;
    EXPECT_NE(ran.err.find("stopped"), std::string::npos) << ran.err;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(55));
}

// What is wrong with each launch is one sentence with the thread and the line; `MARK` stands at that line.
constexpr const char* kFaulty = R"(#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
__global__ void store(float* p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = i;  // MARK store
}
__global__ void branch(float* p) {
    if (threadIdx.x < 7) {
        __syncthreads();  // MARK branch
        p[threadIdx.x] = 1;
    }
    p[63 - threadIdx.x] += 1;
    __syncthreads();
    p[threadIdx.x] += 1;
}
__global__ void race(float* p) {
    __shared__ float cell[64];
    cell[threadIdx.x] = p[threadIdx.x];
    p[threadIdx.x] = cell[63 - threadIdx.x];  // MARK race
}
__global__ void unfilled(float* p) {
    __shared__ float cell[64];
    if (threadIdx.x < 32) cell[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = cell[threadIdx.x];  // MARK unfilled
}
int main(int argc, char** argv) {
    float *p, *host = new float[64]();
    cudaMalloc(&p, 64 * sizeof(float));
    cudaMemset(p, 0, 64 * sizeof(float));
    switch (atoi(argv[1])) {
        case 0: store<<<1, 64>>>(host, 64); break;
        case 1: store<<<2, 64>>>(p, 65); break;
        case 2: cudaFree(p); store<<<1, 64>>>(p, 64); break;
        case 3: branch<<<1, 64>>>(p); break;
        case 4: race<<<1, 64>>>(p); break;
        case 5: unfilled<<<1, 64>>>(p); break;
        case 6: store<<<1, 1025>>>(p, 64); break;
    }
    const cudaError_t launched = cudaGetLastError();
    const cudaError_t ended = cudaDeviceSynchronize();
    printf("error %d\n", launched != cudaSuccess ? launched : ended);
    delete[] host;
    return 0;
}
)";

int line_of(const std::string& mark) {
    const std::string text = kFaulty;
    return 1 + static_cast<int>(std::count(
                   text.begin(), text.begin() + static_cast<ptrdiff_t>(text.find("// MARK " + mark)), '\n'));
}

TEST(CliPrograms, AFaultIsASentenceWithThreadAndLine) {
    write(in_folder("faulty.cu"), kFaulty);
    struct Case {
        const char *number, *mark, *thread, *words;
        int error;  // of cudaError_t, as the program sees it
    };
    // 700: cudaErrorIllegalAddress, 719: cudaErrorLaunchFailure, 9: cudaErrorInvalidConfiguration.
    for (const Case& one :
         {Case{"0", "store", "thread[0]", "host memory", 700}, Case{"1", "store", "thread[0]", "p[64]", 700},
          Case{"2", "store", "thread[0]", "freed", 700}, Case{"3", "branch", "thread[0]", "barrier", 719},
          Case{"4", "race", "thread", "cell[", 0}, Case{"5", "unfilled", "thread[32]", "cell[32]", 0},
          Case{"6", "", "", "1,025", 9}}) {
        SCOPED_TRACE(one.number);
        const Ran ran = record(std::string("faulty.cu -o out --json -- ") + one.number);
        EXPECT_EQ(ran.status, 1) << ran.err;
        const json document = json::parse(ran.out, nullptr, false);
        ASSERT_FALSE(document.is_discarded()) << ran.out << ran.err;
        EXPECT_NE(ran.err.find("error " + std::to_string(one.error) + "\n"), std::string::npos) << ran.err;
        ASSERT_EQ(document["launches"].size(), 1u);
        ASSERT_TRUE(document["launches"][0]["error"].is_string()) << ran.out;
        const std::string said = document["launches"][0]["error"];
        for (const std::string& words :
             {std::string(one.words), std::string(one.thread),
              *one.mark ? "line " + std::to_string(line_of(one.mark)) : std::string()})
            EXPECT_NE(said.find(words), std::string::npos) << said << "\nlacks " << words;
        EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    }
}

// Unused: what nobody filled is loaded and does not lead to another result.
TEST(CliPrograms, ReadingUnfilledSharedMemoryInVainIsARemark) {
    write(in_folder("vain.cu"), R"(#include <cuda_runtime.h>
__global__ void vain(float* p) {
    __shared__ float cell[64];
    if (threadIdx.x < 32) cell[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    volatile float* any = cell;
    float value = any[threadIdx.x];
    if (threadIdx.x >= 32) value = 0;
    p[threadIdx.x] = value;
}
int main() {
    float* p;
    cudaMalloc(&p, 256);
    cudaMemset(p, 0, 256);
    vain<<<1, 64>>>(p);
    return cudaDeviceSynchronize();
}
)");
    const Ran ran = record("vain.cu -o out --json");
    EXPECT_EQ(ran.status, 0) << ran.err;
    const json document = json::parse(ran.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << ran.out << ran.err;
    const json& launch = document["launches"][0];
    EXPECT_TRUE(launch["error"].is_null()) << ran.out;
    ASSERT_TRUE(launch["remark"].is_string()) << ran.out;
    const std::string remark = launch["remark"];
    EXPECT_NE(remark.find("cell[32]"), std::string::npos) << remark;
    EXPECT_NE(remark.find("line 7"), std::string::npos) << remark;
}

// Pieces that strangers' programs are made of: the brackets of a launch in two pieces, a heap, a grid that
// waits, tiles of several warps, structs through shuffles, pools of memory.
constexpr const char* kPieces = R"(#include <cstdio>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>
#include <helper_math.h>
namespace cg = cooperative_groups;
struct Node { int value; Node* next; };
struct Pair { double a; int b; };
__device__ Node* lists[64];
__global__ void build(int n) {
    Node* head = nullptr;
    for (int i = 0; i < n; ++i) head = new Node{i * (int)threadIdx.x, head};
    lists[threadIdx.x] = head;
}
__global__ void take(int* out) {
    int sum = 0;
    for (Node* at = lists[threadIdx.x]; at;) {
        sum += at->value;
        Node* next = at->next;
        delete at;
        at = next;
    }
    out[threadIdx.x] = sum;
}
__global__ void rounds(int* a, int* b, int n) {
    const cg::grid_group grid = cg::this_grid();
    const int i = grid.thread_rank();
    b[i] = a[(i + 100) % n] + 1;
    grid.sync();
    a[i] = b[(i + 100) % n];
}
__global__ void tiles(int* out) {
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<64>(block);
    const auto warp = cg::tiled_partition<32>(block);
    const int sum = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());
    const Pair other = warp.shfl_xor(Pair{threadIdx.x * 0.5, (int)threadIdx.x}, 1);
    out[threadIdx.x] = sum + other.b + (int)(2 * other.a);
}
__global__ void mirror(int* a) {
    __shared__ cuda::barrier<cuda::thread_scope_block> all;
    __shared__ int3 cell[64];
    if (threadIdx.x == 0) init(&all, blockDim.x);
    __syncthreads();
    cell[threadIdx.x] = make_int3(threadIdx.x) * 2;
    auto token = all.arrive();
    all.wait(token);
    a[threadIdx.x] = (cell[63 - threadIdx.x] + make_int3(0, 1, 0)).y;
}
int main() {
    int *a, *b, host[256];
    cudaMemPool_t pool;
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMallocAsync(&a, 1024, 0);
    cudaMallocFromPoolAsync(&b, 1024, pool, 0);
    build<< <1, 64>> >(5);
    take << <1, 64 >> > (a);
    cudaMemcpy(host, a, 256, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; ++i)
        if (host[i] != 10 * i) return 2;
    tiles<<<1, 128>>>(a);
    cudaMemcpy(host, a, 512, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 128; ++i)
        if (host[i] != (i < 64 ? 2016 : 6112) + 2 * (i ^ 1)) return 3;
    for (int i = 0; i < 256; ++i) host[i] = i;
    cudaMemcpy(a, host, 1024, cudaMemcpyHostToDevice);
    int n = 256;
    void* arguments[] = {&a, &b, &n};
    if (cudaLaunchCooperativeKernel((void*)rounds, dim3(4), dim3(64), arguments, 0, 0)) return 4;
    cudaMemcpy(host, a, 1024, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 256; ++i)
        if (host[i] != (i + 200) % 256 + 1) return 5;
    mirror<<<1, 64>>>(a);
    cudaMemcpy(host, a, 256, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 64; ++i)
        if (host[i] != 2 * (63 - i) + 1) return 6;
    puts("right");
    return cudaFreeAsync(a, 0) || cudaFreeAsync(b, 0);
}
)";

TEST(CliPrograms, TakesThePiecesOfStrangersPrograms) {
    write(in_folder("pieces.cu"), kPieces);
    const Ran ran = record("pieces.cu -o out");
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    for (const char* name : {"build.1.tsc", "take.2.tsc", "tiles.3.tsc", "rounds.4.tsc", "mirror.5.tsc"})
        EXPECT_TRUE(fs::is_regular_file(in_folder(std::string("out/") + name))) << name;
}

// All of it would take 1,024 x 1,400 requests of 8 bytes.
TEST(CliPrograms, ALaunchTooLargeIsRecordedInItsFirstBlocks) {
    write(in_folder("large.cu"), R"(#include <cuda_runtime.h>
__global__ void large(float* p, int n) {
    float* const at = p + blockIdx.x * 32 + threadIdx.x;
    for (int i = 0; i < n; ++i) *(volatile float*)at = *(volatile float*)at + 1;
}
int main() {
    float* p;
    cudaMalloc(&p, 1024 * 128);
    cudaMemset(p, 0, 1024 * 128);
    large<<<1024, 32>>>(p, 700);
    return cudaDeviceSynchronize();
}
)");
    const Ran ran = record("large.cu -o large.tsc --json", "TILESCOPE_MAX_MEMORY=0.01");
    EXPECT_EQ(ran.status, 0) << ran.err;
    const json document = json::parse(ran.out, nullptr, false);
    ASSERT_FALSE(document.is_discarded()) << ran.out << ran.err;
    const std::string remark = document["launches"][0]["remark"].dump();
    EXPECT_NE(remark.find("only its blocks 0:"), std::string::npos) << ran.out;
    EXPECT_TRUE(fs::is_regular_file(in_folder("large.tsc"))) << ran.out;
}

// Launches that are recorded are interpreted; of the others --engine decides.
TEST(CliPrograms, RunsLaunchesByTheEngineThatIsChosen) {
    write(in_folder("twice.cu"), R"(#include <cstdio>
__global__ void twice(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = a[i] * 2 + 1;
}
int main() {
    float *a;
    cudaMallocManaged(&a, 4000);
    for (int i = 0; i < 1000; ++i) a[i] = i;
    for (int k = 0; k < 3; ++k) twice<<<4, 256>>>(a, 1000);
    cudaDeviceSynchronize();
    fprintf(stderr, "%g %g\n", a[0], a[999]);
}
)");
    for (const std::string engine : {"auto", "interpreted", "compiled"}) {
        const Ran ran = record("twice.cu -o out --json --engine " + engine);
        ASSERT_EQ(ran.status, 0) << ran.err;
        EXPECT_EQ(ran.err, "7 7999\n");
        const json launches = json::parse(ran.out)["launches"];
        ASSERT_EQ(launches.size(), 3u);
        EXPECT_EQ(launches[0]["engine"], "interpreted");
        EXPECT_EQ(launches[2]["engine"], engine == "compiled" ? "compiled" : "interpreted");
    }
}

TEST(CliPrograms, RefusesAWrongCall) {
    expect_refused(1, {"record", "nowhere.cu"}, "nowhere.cu");
    write(in_folder("m.cu"), "int main() {}\n");
    expect_refused(2, {"record", "m.cu", "--backend", "tpu"}, "choose cpu, gpu or auto");
    expect_refused(2, {"record", "m.cu", "--compiler", "gcc"}, "choose clang or nvcc");
    expect_refused(2, {"record", "m.cu", "--engine", "fast"}, "choose interpreted, compiled or auto");
    expect_refused(2, {"record", "tiled", "--engine", "compiled"}, "--engine is for files");
    expect_refused(2, {"record", "m.cu", "--launch", "0"}, "--launch 0");
    expect_refused(2, {"record", "m.cu", "--blocks", "x"}, "--blocks 'x'");
    expect_refused(1, {"record", "m.cu", "--flags", "'"}, "not closed");
    expect_refused(2, {"record", "tiled", "--every"}, "--every is for files");
}

}  // namespace
}  // namespace tilescope::cli_test
