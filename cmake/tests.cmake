# Tests are named by what they need: tests/<label>/<part>_<subject>_test.cpp becomes part of the executable
# <label>_<part>, and each of its cases a ctest case with that label.
find_package(GTest REQUIRED)
include(GoogleTest)

function(tilescope_tests label part)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${label}/${part}_*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${label}_${part} ${sources})
  target_include_directories(${label}_${part} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${label}_${part} PRIVATE ${ARG_LINK} GTest::gtest_main)
  target_compile_definitions(${label}_${part} PRIVATE
    TILESCOPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TILESCOPE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set_target_properties(${label}_${part} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  gtest_discover_tests(${label}_${part} PROPERTIES LABELS ${label} TIMEOUT 120
    DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
endfunction()

foreach(part base ptx simt trace analysis playback export kernels)
  tilescope_tests(unit ${part} LINK tilescope_${part})
  tilescope_tests(host ${part} LINK tilescope_kernels)
endforeach()
if(TARGET host_kernels)
  target_compile_definitions(host_kernels PRIVATE TILESCOPE_CLANG="${TILESCOPE_CLANG}")
endif()

# The command line, through the program itself.
tilescope_tests(unit cli LINK tilescope_cli)
tilescope_tests(host cli LINK tilescope_kernels)
if(TARGET host_cli)
  target_compile_definitions(host_cli PRIVATE TILESCOPE_PROGRAM="$<TARGET_FILE:tilescope>"
    TILESCOPE_HAS_WINDOW=$<BOOL:${TILESCOPE_APP}>)
  add_dependencies(host_cli tilescope)
endif()
