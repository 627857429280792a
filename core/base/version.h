// The version of the program, as recordings and --version state it.
#pragma once

namespace tilescope {

// Defined by CMakeLists.txt from the project's version.
inline constexpr const char* kVersion = TILESCOPE_VERSION;

}  // namespace tilescope
