// The name of one of the toolkit's headers: the runtime's types.
#pragma once

#include "cuda_runtime.h"
