// Beside cuda_fp16.h, which has everything.
#pragma once

#include "cuda_fp16.h"
