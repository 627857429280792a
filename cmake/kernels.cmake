# The kernels that ship and the road from a plan to a recording.

tilescope_part(kernels/run OPTIMISE -O3 LINK tilescope_playback)
# A kernel without a main: what is said of its launch, and what is guessed.
tilescope_part(kernels/alone LINK tilescope_run)
tilescope_embed(tilescope_alone tilescope::kernels::embedded_recipe assets/capture_launch.py
                assets/capture_site.py)
# A host function without a main, which gets one.
tilescope_part(kernels/call LINK tilescope_alone)
tilescope_part(kernels/textbook NAME kernels LINK tilescope_run)
file(GLOB shipped RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/kernels/textbook/*.cu ${PROJECT_SOURCE_DIR}/assets/ptx/*.ptx
     ${PROJECT_SOURCE_DIR}/assets/ptx/nvrtc/*.ptx ${PROJECT_SOURCE_DIR}/assets/ptx/roofs/*.ptx)
tilescope_embed(tilescope_kernels tilescope::kernels::embedded_file ${shipped})

# What real GPUs said: recordings with their index, counters, and times. There may be none.
file(GLOB measured RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/assets/recordings/index.json ${PROJECT_SOURCE_DIR}/assets/recordings/*.tsc
     ${PROJECT_SOURCE_DIR}/assets/counters/*.json ${PROJECT_SOURCE_DIR}/assets/levels/*.json
     ${PROJECT_SOURCE_DIR}/assets/timings/*.json)
if(TILESCOPE_WEB)  # recordings are beside the page
  list(FILTER measured EXCLUDE REGEX "\\.tsc$")
endif()
tilescope_embed_bytes(tilescope_kernels tilescope::kernels::embedded_assets ${measured})

# Devices and the limits of their compute capabilities.
file(GLOB device_specs RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/assets/devices/*.json)
tilescope_embed_bytes(tilescope_kernels tilescope::kernels::embedded_devices ${device_specs})

# The GPU side: NVIDIA's libraries are opened at run time, so nothing of theirs is needed to build.
if(TILESCOPE_WEB)
  add_library(tilescope_gpu STATIC ${PROJECT_SOURCE_DIR}/kernels/gpu/backend.cpp ${PROJECT_SOURCE_DIR}/web/no_gpu.cpp)
  target_link_libraries(tilescope_gpu PUBLIC tilescope_kernels)
else()
  tilescope_part(kernels/gpu LINK tilescope_kernels ${CMAKE_DL_LIBS})
endif()

# assets/ptx is checked in, so that a build needs no device compiler; this target makes it anew.
find_program(TILESCOPE_CLANG NAMES clang++)
if(TILESCOPE_CLANG)
  add_custom_target(ptx
    COMMAND ${CMAKE_COMMAND} -E env CXX=${TILESCOPE_CLANG} ${PROJECT_SOURCE_DIR}/kernels/textbook/make_ptx.sh
    COMMENT "Making assets/ptx" VERBATIM)
else()
  set(TILESCOPE_CLANG "")
endif()

# Long launches by compiled kernels.
tilescope_part(kernels/compiled NAME engine LINK tilescope_compiled ${CMAKE_DL_LIBS})

# What describes a launch and records it, whoever brings it; and what a recorded program and the command tell each other.
tilescope_part(kernels/launched LINK tilescope_gpu tilescope_engine nlohmann_json::nlohmann_json)

# The library that the driver loads into a running program, for capture.
tilescope_part(kernels/capture NAME captured LINK tilescope_launched tilescope_alone PkgConfig::ZSTD)
add_library(tilescope_capture SHARED ${PROJECT_SOURCE_DIR}/kernels/capture/library/injection.cpp)
target_link_libraries(tilescope_capture PRIVATE tilescope_captured)
tilescope_optimise(tilescope_capture -O2)
set_target_properties(tilescope_capture PROPERTIES BUILD_RPATH "$ORIGIN" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/capture/library/exports.map)
if(NOT TILESCOPE_SANITIZE)  # the program may have a standard library of its own, older than this one
  target_link_options(tilescope_capture PRIVATE -static-libstdc++ -static-libgcc)
endif()
target_link_options(tilescope_capture PRIVATE
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/kernels/capture/library/exports.map -Wl,--exclude-libs,ALL)

# From a .cu file to a program that runs; the headers that clang needs for it are part of this program.
tilescope_part(kernels/program LINK tilescope_launched)
target_link_libraries(tilescope_program PRIVATE nlohmann_json::nlohmann_json)
file(GLOB_RECURSE cuda_headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/kernels/cudart/include/*)
tilescope_embed_bytes(tilescope_program tilescope::program::embedded_headers ${cuda_headers})
# A program that is run loads the runtime library before any sanitizer's, which then has to be there already.
if(TILESCOPE_SANITIZE)
  set(runtimes libasan.so libubsan.so)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    set(runtimes libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so)
  endif()
  foreach(runtime IN LISTS runtimes)
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${runtime}
                    OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
    list(APPEND preload ${path})
  endforeach()
  string(REPLACE ";" ":" preload "${preload}")
  target_compile_definitions(tilescope_program PRIVATE TILESCOPE_PRELOAD="${preload}")
endif()

# The stand-in for NVIDIA's runtime, which programs are linked with: it offers the C functions and nothing else.
file(GLOB cudart_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cudart/*.cpp)
add_library(tilescope_cudart SHARED ${cudart_sources})
target_include_directories(tilescope_cudart PUBLIC ${PROJECT_SOURCE_DIR}
                           INTERFACE ${PROJECT_SOURCE_DIR}/kernels/cudart/include)
target_link_libraries(tilescope_cudart PRIVATE tilescope_launched tilescope_alone)
tilescope_optimise(tilescope_cudart -O2)
# A function that calls another one stays on the stack, which tells what the program called.
target_compile_options(tilescope_cudart PRIVATE -fno-optimize-sibling-calls)
tilescope_precompile(tilescope_cudart LIKE cudart)
set_target_properties(tilescope_cudart PROPERTIES CXX_VISIBILITY_PRESET default
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cudart/exports.map)
target_link_options(tilescope_cudart PRIVATE
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/kernels/cudart/exports.map -Wl,--exclude-libs,ALL)
