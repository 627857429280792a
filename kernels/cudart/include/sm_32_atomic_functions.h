// The name of one of the toolkit's headers: atomic functions, which every .cu file has.
#pragma once

#include "cuda_runtime.h"
