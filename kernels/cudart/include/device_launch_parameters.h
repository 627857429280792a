// The name of one of the toolkit's headers: threadIdx and its like, which every .cu file has.
#pragma once

#include "cuda_runtime.h"
