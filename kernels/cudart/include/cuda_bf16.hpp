// Beside cuda_bf16.h, which has everything.
#pragma once

#include "cuda_bf16.h"
