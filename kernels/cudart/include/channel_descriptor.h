// The name of one of the toolkit's headers: the runtime's types; textures are missing.
#pragma once

#include "cuda_runtime.h"
