// A histogram with atomic operations: each block counts in shared memory, then adds its bins to the total. The
// thread that takes the last ticket is of the block that comes last, and says which.
#define BINS 8
#define atomicAdd(at, by) __nvvm_atom_add_gen_i(at, by)

extern "C" __global__ void bins(const int* data, int* total, int* last, int n) {
    __shared__ int count[BINS];
    int t = threadIdx.x;
    if (t < BINS) {
        count[t] = 0;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + t;
    if (i < n) {
        atomicAdd(&count[data[i] & (BINS - 1)], 1);
    }
    __syncthreads();
    if (t < BINS) {
        atomicAdd(&total[t], count[t]);
    }
    if (t == 0) {
        int ticket = atomicAdd(&last[0], 1);
        if (ticket == gridDim.x - 1) {
            last[1] = blockIdx.x;
        }
    }
}
