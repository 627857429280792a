// Arrays and variables of structs of many kinds; each kernel has a fault or a result that names members.
#include <cstdio>

struct P {
    float x;
    int y;
};
struct Base {
    float mass;
};
struct Body : Base {
    float4 pos;
    double energy;
    short tags[3];
    unsigned low : 3, high : 5;
    union {
        int whole;
        float part;
    } either;
};
template <class T, unsigned N>
struct Arr {
    T v[N];
    P ends[2];
};
namespace far {
enum Kind { Small, Large };
typedef struct {
    double d;
    Kind kind;
} Tagged;
}  // namespace far
struct Vec {
    float x, y, z;
};

__constant__ P origin;
__constant__ Vec axes[3];
__device__ Body sun;

__global__ void pairs(P* p) {
    const int i = threadIdx.x;
    p[i].x = p[i].x + origin.x;
    p[i].y = i - 3;
}

__global__ void bodies(const Body* b, float* out) {
    const int i = threadIdx.x;
    out[i] = b[i].mass + b[i].pos.y + static_cast<float>(b[i].energy) + b[i].tags[1] + b[i].either.part + sun.pos.w;
}

__global__ void rows(Arr<int, 4>* rows, far::Tagged* tagged, Vec* v) {
    const int i = threadIdx.x;
    rows[i].v[2] = rows[i].ends[1].y;
    tagged[i].d = i * 0.5;
    tagged[i].kind = far::Large;
    v[i].z = axes[i % 3].y;
}

extern "C" __global__ void shifted(P* p, int n) {
    __shared__ P tile[32];
    const int i = threadIdx.x;
    tile[i] = p[i];
    p[i].y = tile[(i + 8) % 32].y;
    p[i + n].x = 0;
}

int main() {
    constexpr int n = 32;
    P* p;
    Body* b;
    float* out;
    Arr<int, 4>* a;
    far::Tagged* t;
    Vec* v;
    cudaMalloc(&p, n * sizeof(P));
    cudaMalloc(&b, n * sizeof(Body));
    cudaMalloc(&out, n * sizeof(float));
    cudaMalloc(&a, n * sizeof(*a));
    cudaMalloc(&t, n * sizeof(*t));
    cudaMalloc(&v, n * sizeof(Vec));
    P host[n];
    for (int i = 0; i < n; ++i) host[i] = {i + 0.5f, 100 - i};
    const P o = {0.25f, 9};
    cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(b, 0, n * sizeof(Body));
    cudaMemset(a, 0, n * sizeof(*a));
    cudaMemset(t, 0, n * sizeof(*t));
    cudaMemset(v, 0, n * sizeof(Vec));
    cudaMemcpyToSymbol(origin, &o, sizeof o);
    pairs<<<1, n>>>(p);
    bodies<<<1, n>>>(b, out);
    rows<<<1, n>>>(a, t, v);
    shifted<<<1, n>>>(p, 1);
    cudaDeviceSynchronize();
}
