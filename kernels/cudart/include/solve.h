// What LeetGPU's older starter code includes. There it declares the function that a solution defines, and the
// definition says the same.
#pragma once

#include <cuda_runtime.h>
