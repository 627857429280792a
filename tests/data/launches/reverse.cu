// Turns every block's part of an array round, in place, through dynamic shared memory.
extern "C" __global__ void reverse(unsigned short* values, int n) {
    extern __shared__ unsigned short part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? values[i] : 0;
    __syncthreads();
    if (i < n) {
        values[i] = part[blockDim.x - 1 - threadIdx.x];
    }
}
