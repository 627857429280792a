"""A RawKernel of CuPy beside kernels that CuPy makes itself."""
import sys

import cupy
from shown import Loop, bits

smooth = cupy.RawKernel(r'''
extern "C" __global__ void smooth(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float left = in[i > 0 ? i - 1 : i], right = in[i < n - 1 ? i + 1 : i];
    out[i] = 0.25f * left + 0.5f * in[i] + 0.25f * right;
}''', "smooth")

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 500
n = 100000
a = cupy.sin(cupy.arange(n, dtype=cupy.float32))
b = cupy.empty_like(a)
smooth(((n + 255) // 256,), (256,), (a, b, cupy.int32(n)))
cupy.cuda.Device().synchronize()
with Loop():
    for _ in range(steps):
        smooth(((n + 255) // 256,), (256,), (a, b, cupy.int32(n)))
        a, b = b, a
    cupy.cuda.Device().synchronize()
bits("a", cupy.asnumpy(a))
bits("sum", cupy.asnumpy((cupy.exp(a) + b).sum()))
