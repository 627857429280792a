// The name of one of the toolkit's headers: the runtime's interface.
#pragma once

#include "cuda_runtime.h"
