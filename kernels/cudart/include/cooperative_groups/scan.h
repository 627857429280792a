// Scans of groups: they stand beside reduce.
#pragma once

#include "cooperative_groups/reduce.h"
