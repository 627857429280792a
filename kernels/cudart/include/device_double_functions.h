// The name of one of the toolkit's headers: what it declares, every .cu file has.
#pragma once

#include "cuda_runtime.h"
