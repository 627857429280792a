// The name of one of the toolkit's headers: nothing that a program needs.
#pragma once

#include "cuda_runtime.h"
