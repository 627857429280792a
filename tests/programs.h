// Programs as the window has them when they have run, while they run, and when they did not compile: for
// pictures, without a child.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/session/session.h"

namespace tilescope {

inline session::Program a_program() {
    session::Program program;
    program.order.path = "/home/ada/course/transpose.cu";
    program.name = "transpose.cu";
    program.hearing = std::make_shared<session::Hearing>();
    return program;
}

// Twelve launches of kernels with short and long names; faulty: the fifth ended with a fault.
inline session::Program a_program_that_ran(bool faulty = false) {
    session::Program program = a_program();
    session::LaunchList list{"transpose.cu", "clang 14.0.6", "CPU", faulty ? 1 : 0, {}};
    const char* const kNames[] = {
        "copy", "transposeNaive", "transposeCoalesced",
        "void reduceWithShuffles<float, 256, cg::thread_block_tile<32>>(float const*, int)"};
    for (uint32_t at = 0; at < 12; ++at) {
        launched::LaunchLine launch;
        launch.number = at + 1;
        launch.kernel = kNames[at % 4];
        launch.grid = {64, 64, 1};
        launch.block = {32, at % 4 == 3 ? 1u : 8u, 1};
        launch.shared = at % 4 == 2 ? 4224 : 0;
        launch.ms = 0.25 * at * at;
        if (at < 4) launch.recorded = launch.kernel + ".tsc";
        list.launches.push_back(launch);
    }
    if (faulty) {
        list.launches.resize(5);
        list.launches[4].error =
            "thread[7,31] of block(63,63) loads idata[1048576], 4 bytes past its end, at transpose.cu:41; "
            "the array "
            "has 1,048,576 elements";
        program.ended.problem = "The program ended with status 1.";
    }
    program.ended.list = list;
    program.ended.seconds = 2.4;
    program.ended.written =
        "Matrix size: 1024 × 1024, tile 32 × 32\nthroughput copy: 12.40 GB/s\nthroughput transposeNaive: "
        "3.10 GB/s\n";
    for (int at = 0; at < 60; ++at)
        program.ended.written +=
            "checked row " + std::to_string(at * 16) + " to " + std::to_string(at * 16 + 15) + "\n";
    program.ended.written +=
        faulty ? "CUDA error: an illegal memory access was encountered\n" : "Test passed\n";
    program.opened = faulty ? 0 : 1;
    return program;
}

inline session::Program a_program_that_runs() {
    session::Program program = a_program();
    program.running = true;
    program.hearing->written = "Matrix size: 1024 × 1024, tile 32 × 32\nthroughput copy: 12.40 GB/s\n";
    program.hearing->bytes = program.hearing->written.size();
    program.hearing->begun = true;
    program.hearing->launches = 7;
    program.hearing->recordings = 2;
    return program;
}

inline session::Program a_program_that_does_not_compile() {
    session::Program program = a_program();
    program.ended.problem = "'transpose.cu' does not compile; clang says why.";
    program.ended.seconds = 0.3;
    program.ended.written =
        "transpose.cu:24:5: error: unknown type name 'flaot'; did you mean 'float'?\n"
        "    flaot sum = 0;\n    ^~~~~\n    float\n"
        "transpose.cu:31:38: error: use of undeclared identifier 'tile_width'; did you mean 'tileWidth', "
        "which is a "
        "parameter of the enclosing function?\n"
        "    int row = blockIdx.y * tile_width + threadIdx.y;\n                           ^~~~~~~~~~\n"
        "2 errors generated when compiling for sm_70.\ntilescope: 'transpose.cu' does not compile; clang "
        "says why\n";
    return program;
}

inline const std::vector<session::Example>& a_few_examples() {
    static const std::vector<session::Example> all = [] {
        std::vector<session::Example> made;
        for (const char* name :
             {"blur", "divergence", "histogram", "matrix_add", "reduction", "stencil", "tiled_product",
              "transpose_naive", "transpose_padded", "transpose_tiled", "vector_add"})
            made.push_back(
                {name, std::string("What ") + name + " shows: one sentence about its loads and stores.", ""});
        return made;
    }();
    return all;
}

}  // namespace tilescope
