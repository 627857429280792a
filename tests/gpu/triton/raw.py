"""CuPy's RawKernel, with numbers of several types and a view of an array."""
import cupy

saxpy = cupy.RawKernel(
    r"""extern "C" __global__ void saxpy(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}""",
    "saxpy",
)
x, y = cupy.arange(1000, dtype=cupy.float32), cupy.ones(1000, dtype=cupy.float32)
saxpy((4,), (256,), (x[100:], y, cupy.float32(2), cupy.int32(900)))
print("saxpy", bool((y[:900] == 1 + 2 * x[100:]).all()))
