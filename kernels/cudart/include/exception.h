// For programs that ask for cuda-samples' header of this name and do not bring it.
#pragma once

#include <stdexcept>
