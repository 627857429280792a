// What programs include by this name is in cuda_pipeline.h.
#pragma once

#include "cuda_pipeline.h"
