// How fast this device reads and writes its own memory: every thread reads eight pieces of 8 bytes before it
// writes them, so that many reads are under way, and neighbouring threads take neighbouring pieces, so that a
// warp's request is 256 bytes in a row.
//
//     count    pieces, a multiple of 8 * threads of the grid

extern "C" __global__ void copy(const double* from, double* to, unsigned count) {
    unsigned step = gridDim.x * blockDim.x;
    for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += 8 * step) {
        double a = from[at], b = from[at + step], c = from[at + 2 * step], d = from[at + 3 * step];
        double e = from[at + 4 * step], f = from[at + 5 * step], g = from[at + 6 * step];
        double h = from[at + 7 * step];
        to[at] = a;
        to[at + step] = b;
        to[at + 2 * step] = c;
        to[at + 3 * step] = d;
        to[at + 4 * step] = e;
        to[at + 5 * step] = f;
        to[at + 6 * step] = g;
        to[at + 7 * step] = h;
    }
}
