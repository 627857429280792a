// What programs include by this name is in nvtx3/nvToolsExt.h.
#pragma once

#include "nvtx3/nvToolsExt.h"
