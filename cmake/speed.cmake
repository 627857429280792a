# What makes building quick, and what is compiled for speed.
#
#   ccache   where it is installed, and nobody names another launcher
#   lld      where it is installed: it links a program in a fraction of the time that the default linker takes
#   precompiled headers: the parts of the standard library that most files include, fmt, and for tests GoogleTest
#   unity    with CMAKE_UNITY_BUILD (presets release and asan) a batch of sources is one translation unit, whose headers are
#            read once. So a name in an unnamed namespace stands once among the sources of a library or test program
#   -O3      what a recording of millions of steps goes through, -O1 the window, whose functions run a few times a frame
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
option(TILESCOPE_PCH "Precompile the headers that most files include" ON)

find_program(TILESCOPE_CCACHE ccache)
if(TILESCOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What ccache's manual asks for in "Precompiled headers".
  set(sloppiness pch_defines,time_macros,include_file_mtime,include_file_ctime)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=${sloppiness} ${TILESCOPE_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-fpch-preprocess)
  else()
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

include(CheckCXXSourceCompiles)
if(NOT TILESCOPE_WEB)
  set(CMAKE_REQUIRED_LINK_OPTIONS -fuse-ld=lld)
  check_cxx_source_compiles("int main() { return 0; }" TILESCOPE_LLD)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
endif()
if(TILESCOPE_LLD)
  add_link_options(-fuse-ld=lld)
endif()

set(product_headers <algorithm> <array> <atomic> <bit> <cmath> <cstddef> <cstdint> <cstring> <filesystem> <functional> <map>
    <memory> <mutex> <optional> <set> <span> <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector>
    <fmt/format.h>)
# One that targets share has to be made with their very flags, so there is one for each set of flags:
# tilescope_precompile(TARGET LIKE NAME HEADERS ...) makes it for the first target that asks for NAME.
function(tilescope_precompile target)
  cmake_parse_arguments(ARG "" "LIKE" "HEADERS" ${ARGN})
  get_target_property(type ${target} TYPE)
  if(NOT TILESCOPE_PCH OR type STREQUAL INTERFACE_LIBRARY)
    return()
  endif()
  get_property(first GLOBAL PROPERTY tilescope_pch_${ARG_LIKE})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY tilescope_pch_${ARG_LIKE} ${target})
    target_precompile_headers(${target} PRIVATE ${product_headers} ${ARG_HEADERS})
  endif()
endfunction()

# A release build compiles a target with that option, one under the sanitizers with one level less: what they add takes long
# to optimise.
function(tilescope_optimise target level)
  if(TILESCOPE_WEB)  # a page is loaded before it runs: only what runs over requests and lanes is made large for speed
    if(level STREQUAL -O3)
      set(level -O2 -fno-unroll-loops)
    else()
      set(level -Oz)
    endif()
    target_compile_options(${target} PRIVATE ${level})
  elseif(CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(${target} PRIVATE ${level})
  elseif(TILESCOPE_SANITIZE)
    string(REPLACE "-O1" "-O0" level ${level})
    string(REPLACE "-O2" "-O1" level ${level})
    string(REPLACE "-O3" "-O2" level ${level})
    target_compile_options(${target} PRIVATE ${level})
  endif()
endfunction()

if(TILESCOPE_FUZZ)
  set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer)
  check_cxx_source_compiles("extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }"
                            TILESCOPE_LIBFUZZER)
  unset(CMAKE_REQUIRED_FLAGS)
endif()

# What fuzzers find their way by: which branches of a target were taken.
function(tilescope_fuzzed target)
  if(TILESCOPE_LIBFUZZER)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()
# Sources of such a target that report nothing: numbers go through them by the million, and what they decide shows in the
# code around them.
function(tilescope_no_feedback)
  if(TILESCOPE_LIBFUZZER)
    foreach(source IN LISTS ARGN)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=fuzzer-no-link)
    endforeach()
    set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()
