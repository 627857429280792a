// What the lane functions' sources need, once and for all versions.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include "core/ptx/ast.h"
#include "core/ptx/exchange.h"
#include "core/simt/lanes.h"

// A loop over lanes: a destination may be the same column as a source, which is no dependence between lanes.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // some loops (fmaf without FMA) cannot be vectorised
#define TILESCOPE_EACH_LANE _Pragma("clang loop vectorize(assume_safety)")
#else
#define TILESCOPE_EACH_LANE _Pragma("GCC ivdep")
#endif
