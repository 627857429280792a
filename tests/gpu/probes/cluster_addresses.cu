// What addresses of shared memory look like in a cluster of blocks: the own ones, and what mapa makes of them.
//
//     nvcc -arch=sm_90 -o cluster_addresses cluster_addresses.cu && ./cluster_addresses
//
// core/base/cluster.h says what follows from it. Exit status 1 where that does not hold.
#include <cstdio>

constexpr unsigned kBlocks = 4;

struct Seen {
    unsigned own, mapped[kBlocks];
    unsigned long long generic_own, generic_mapped[kBlocks];
    unsigned long long window;
};

__global__ void __cluster_dims__(kBlocks, 1, 1) look(Seen* seen) {
    __shared__ int variable;
    Seen& here = seen[blockIdx.x];
    here.own = static_cast<unsigned>(__cvta_generic_to_shared(&variable));
    const auto generic = reinterpret_cast<unsigned long long>(&variable);
    here.generic_own = generic;
    here.window = generic - here.own;
    for (unsigned rank = 0; rank < kBlocks; ++rank) {
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(here.mapped[rank]) : "r"(here.own), "r"(rank));
        asm("mapa.u64 %0, %1, %2;" : "=l"(here.generic_mapped[rank]) : "l"(generic), "r"(rank));
    }
}

int main() {
    Seen* seen;
    cudaMallocManaged(&seen, 2 * kBlocks * sizeof *seen);
    look<<<2 * kBlocks, 1>>>(seen);
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    bool holds = true;
    for (unsigned block = 0; block < 2 * kBlocks; ++block) {
        const Seen& here = seen[block];
        const unsigned offset = here.own & 0xFFFFFF;
        std::printf("block %u: own %#010x, generic %#llx, window %#llx; mapa", block, here.own, here.generic_own, here.window);
        holds = holds && here.own >> 24 == block % kBlocks;
        for (unsigned rank = 0; rank < kBlocks; ++rank) {
            std::printf(" %#010x (%#llx)", here.mapped[rank], here.generic_mapped[rank]);
            holds = holds && here.mapped[rank] == (rank << 24 | offset) &&
                    here.generic_mapped[rank] == here.generic_own - here.own + here.mapped[rank];
        }
        std::printf("\n");
    }
    std::puts(holds ? "rank << 24 | offset, for the own block too" : "something else");
    return holds ? 0 : 1;
}
