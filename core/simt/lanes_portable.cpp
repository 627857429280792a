// The lane functions for any processor.
#include "core/simt/lanes_includes.h"

#define TILESCOPE_LANES portable
#include "core/simt/lanes_find.inl"
