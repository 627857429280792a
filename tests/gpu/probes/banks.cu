// What shared memory really costs: one warp, one access, one pattern of addresses a launch.
//
// Patterns (broadcasts, strides, random ones, partial masks) for 4-, 8- and 16-byte accesses are printed, a
// line each: bytes a lane, active mask, 32 indexes in units of the access. Nsight Compute counts the
// wavefronts of each launch, a load and then a store a pattern; make.sh puts the two together.
#include <cstdint>
#include <cstdio>

template <int kWords>
__device__ uint32_t address_of(float* shared, int index) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(shared)) + index * 4 * kWords;
}

template <int kWords>
__global__ void load(const int* index, unsigned mask, float* out) {
    __shared__ __align__(16) float shared[8192];
    const int lane = threadIdx.x;
    shared[lane] = lane;
    __syncwarp();
    const uint32_t a = address_of<kWords>(shared, index[lane]);
    float x = 0, y = 0, z = 0, w = 0;
    if (mask >> lane & 1) {
        if (kWords == 1) asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(a));
        if (kWords == 2) asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x), "=f"(y) : "r"(a));
        if (kWords == 4) {
            asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
                         : "r"(a));
        }
    }
    out[lane] = x + y + z + w;
}

template <int kWords>
__global__ void store(const int* index, unsigned mask, float* out) {
    __shared__ __align__(16) float shared[8192];
    const int lane = threadIdx.x;
    const uint32_t a = address_of<kWords>(shared, index[lane]);
    const float x = out[lane];
    if (mask >> lane & 1) {
        if (kWords == 1) asm volatile("st.shared.f32 [%1], %0;" ::"f"(x), "r"(a));
        if (kWords == 2) asm volatile("st.shared.v2.f32 [%1], {%0, %0};" ::"f"(x), "r"(a));
        if (kWords == 4) asm volatile("st.shared.v4.f32 [%1], {%0, %0, %0, %0};" ::"f"(x), "r"(a));
    }
    __syncwarp();
}

static uint32_t random_bits() {  // xorshift64
    static uint64_t state = 88172645463325252ull;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<uint32_t>(state >> 11);
}

static int regular(int pattern, int l, int words) {
    const int n = 8192 / words;
    switch (pattern) {
        case 0: return l;
        case 1: return 0;
        case 2: return l / 2;
        case 3: return l % 16;
        case 4: return l * 2;
        case 5: return l % 8;
        case 6: return l / 4;
        case 7: return l * 16 / words;
        case 8: return l * 32 / words;
        case 9: return l * 33 % n;
        case 10: return l ^ 1;
        case 11: return 31 - l;
        case 12: return (l % 2) * 16 + l / 2;
        case 13: return l < 16 ? l : l - 16 + 64;
        case 14: return l / 8;
        case 15: return l % 4;
        case 16: return (l % 2) * 64 + l / 2;
        case 17: return l * 4 % n;
        case 18: return l * 8 % n;
        default: return l / 16;
    }
}

// Patterns in which lanes ask for the same as others, so that what is served together shows: every lane n with n ^ d,
// or one half, quarter or eighth of the warp with one d and the rest with another, or some pairs not.
constexpr int kPairings = 220;
static unsigned paired(int pattern, int (&index)[32], int n) {
    static const int kDistances[] = {1, 2, 3, 4, 5, 6, 7, 8, 16, 31};
    const int range = pattern % 2 ? n : 16;  // far apart or with conflicts
    for (int& i : index) i = random_bits() % range;
    const auto alike = [&](int first, int last, int d) {
        for (int l = first; l < last; ++l)
            if ((l ^ d) < l && (l ^ d) >= first) index[l] = index[l ^ d];
    };
    unsigned mask = ~0u;
    if (pattern < 40) {  // all with one distance
        alike(0, 32, kDistances[pattern / 4]);
    } else if (pattern < 120) {  // parts of 4, 8 or 16 lanes, each with 1, 2, 4 or none
        const int size = 4 << random_bits() % 3;
        for (int l = 0; l < 32; l += size) alike(l, l + size, (pattern < 80 ? 1 : 0) + random_bits() % 4);
    } else if (pattern < 180) {  // all with 1 or 2, but for one lane, or with lanes that do nothing
        const int d = 1 + pattern / 2 % 2;
        alike(0, 32, d);
        if (pattern < 150) index[random_bits() % 32] = random_bits() % range;
        if (pattern >= 140) mask = random_bits() | random_bits() % (1 << pattern % 32);
        if (pattern >= 160)
            for (int l = 0; l < 32; ++l)
                if (!(mask >> l & 1)) index[l] = random_bits() % range;
    } else {  // n with n ^ 1 in some pairs of pairs, with n ^ 2 in the others; a sparse mask
        for (int l = 0; l < 32; l += 4) alike(l, l + 4, 1 + random_bits() % 2);
        if (pattern >= 200) mask = random_bits() & random_bits();
    }
    return mask ? mask : 1;
}

int main() {
    int* index_d;
    float* out;
    cudaMalloc(&index_d, 128);
    cudaMalloc(&out, 128);
    const auto ask = [&](int words, const int(&index)[32], unsigned mask) {
        cudaMemcpy(index_d, index, sizeof index, cudaMemcpyHostToDevice);
        printf("pattern %d %u", words * 4, mask);
        for (int i : index) printf(" %d", i);
        printf("\n");
        if (words == 1) load<1><<<1, 32>>>(index_d, mask, out), store<1><<<1, 32>>>(index_d, mask, out);
        if (words == 2) load<2><<<1, 32>>>(index_d, mask, out), store<2><<<1, 32>>>(index_d, mask, out);
        if (words == 4) load<4><<<1, 32>>>(index_d, mask, out), store<4><<<1, 32>>>(index_d, mask, out);
    };
    int index[32];
    for (int words : {1, 2, 4}) {
        for (int pattern = 0; pattern < 90; ++pattern) {
            const int k = pattern - 20;
            const int range = k < 14 ? 8 : k < 28 ? 16 : k < 42 ? 32 : k < 56 ? 64 : 8192 / words;
            for (int l = 0; l < 32; ++l) {
                index[l] = pattern < 20 ? regular(pattern, l, words) : random_bits() % range;
                if (pattern >= 20 && pattern % 3 == 0 && l % 2) index[l] = index[l - 1];
                if (pattern >= 20 && pattern % 7 == 0 && l >= 16) index[l] = index[l - 16];
            }
            unsigned mask = ~0u;
            if (pattern >= 20 && pattern % 2) mask = random_bits() | 1;
            if (pattern >= 20 && pattern % 8 == 1) mask = 0xFFFF;
            if (pattern >= 20 && pattern % 8 == 5) mask = 0x55555555;
            ask(words, index, mask);
        }
    }
    for (int words : {1, 2, 4}) {
        for (int pattern = 0; pattern < kPairings; ++pattern) {
            const unsigned mask = paired(pattern, index, 8192 / words);
            ask(words, index, mask);
        }
    }
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "banks: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
