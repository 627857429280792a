// Nothing but fused multiply-adds: how many a second this device can do in fp32.
//
// A thread keeps 16 sums that do not need one another, so that the next one can start while the last one is
// still under way (an fp32 instruction of compute capability 7 to 9 takes 4 cycles and more), and adds to
// each of them 16 times before it looks whether it is done: a loop's own three instructions are a hundredth.
//
//     operations = 2 * 256 * trips * threads

#define FMA(x) x = __builtin_fmaf(x, scale, offset);
#define SUMS(DO) \
    DO(a) DO(b) DO(c) DO(d) DO(e) DO(f) DO(g) DO(h) DO(i) DO(j) DO(k) DO(l) DO(m) DO(n) DO(o) DO(p)
#define FOUR(x) x x x x

extern "C" __global__ void fp32_peak(float* out, float scale, float offset, int trips) {
    float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5, g = a + 6, h = a + 7;
    float i = a + 8, j = a + 9, k = a + 10, l = a + 11, m = a + 12, n = a + 13, o = a + 14, p = a + 15;
    for (int trip = 0; trip < trips; ++trip) {
        FOUR(FOUR(SUMS(FMA)))
    }
    // Every sum is needed, or a compiler would leave it out.
    out[blockIdx.x * blockDim.x + threadIdx.x] =
        a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p;
}
