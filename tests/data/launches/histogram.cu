// Counts of whole numbers without atomic operations: every thread counts its own part of the data in a column
// of its own, then thread b adds up the row of bin b. One histogram a block.
#define BINS 16
#define THREADS 32

extern "C" __global__ void histogram(const int* data, int* counts, int n) {
    __shared__ int columns[BINS][THREADS];
    int t = threadIdx.x;
    for (int b = 0; b < BINS; ++b) {
        columns[b][t] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS) {
        columns[data[i] & (BINS - 1)][t] += 1;
    }
    __syncthreads();
    if (t < BINS) {
        int sum = 0;
        for (int i = 0; i < THREADS; ++i) {
            sum += columns[t][i];
        }
        counts[blockIdx.x * BINS + t] = sum;
    }
}
