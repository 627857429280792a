// The name of one of the toolkit's headers: cudaProfilerStart and cudaProfilerStop.
#pragma once

#include "cuda_runtime.h"
