# The kernels that ship and the road from a plan to a recording.
include(cmake/embed.cmake)

tilescope_part(kernels/run LINK tilescope_export)
# A kernel without a main: what is said of its launch, and what is guessed.
tilescope_part(kernels/alone LINK tilescope_run)
tilescope_part(kernels/textbook NAME kernels LINK tilescope_run)
file(GLOB shipped RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/kernels/textbook/*.cu ${PROJECT_SOURCE_DIR}/assets/ptx/*.ptx
     ${PROJECT_SOURCE_DIR}/assets/ptx/roofs/*.ptx)
tilescope_embed(tilescope_kernels tilescope::kernels::embedded_file ${shipped})

# What real GPUs said: recordings with their index, counters, and times. There may be none.
file(GLOB measured RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/assets/recordings/index.json ${PROJECT_SOURCE_DIR}/assets/recordings/*.tsc
     ${PROJECT_SOURCE_DIR}/assets/counters/*.json ${PROJECT_SOURCE_DIR}/assets/timings/*.json)
tilescope_embed_bytes(tilescope_kernels tilescope::kernels::embedded_assets ${measured})

# Devices and the limits of their compute capabilities.
file(GLOB device_specs RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/assets/devices/*.json)
tilescope_embed_bytes(tilescope_kernels tilescope::kernels::embedded_devices ${device_specs})

# The GPU side: NVIDIA's libraries are opened at run time, so nothing of theirs is needed to build.
tilescope_part(kernels/gpu LINK tilescope_kernels ${CMAKE_DL_LIBS})

# assets/ptx is checked in, so that a build needs no device compiler; this target makes it anew.
find_program(TILESCOPE_CLANG NAMES clang++)
if(TILESCOPE_CLANG)
  add_custom_target(ptx
    COMMAND ${CMAKE_COMMAND} -E env CXX=${TILESCOPE_CLANG} ${PROJECT_SOURCE_DIR}/kernels/textbook/make_ptx.sh
    COMMENT "Making assets/ptx" VERBATIM)
else()
  set(TILESCOPE_CLANG "")
endif()

# What the command and the runtime in a recorded program tell each other.
add_library(tilescope_orders STATIC ${PROJECT_SOURCE_DIR}/kernels/cudart/orders.cpp)
target_include_directories(tilescope_orders PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(tilescope_orders PUBLIC tilescope_base PRIVATE nlohmann_json::nlohmann_json)
