// What programs include by this name is in nvToolsExt.h.
#pragma once

#include "nvToolsExt.h"
