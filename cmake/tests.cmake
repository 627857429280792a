# Tests are named by what they need: tests/<label>/<part>_<subject>_test.cpp becomes part of the executable
# <label>_<part>. ctest runs it in SHARDS processes (1 where none are given), which share its cases out among
# themselves and name the one that fails; tests on a GPU have a process each, since a fault on the GPU ends the process.
# RELEASE: tests of what optimised code does, and of the program as it is used. .ci/run runs these in a release build
# (target release_tests, label release), and all of unit, host and gl under the sanitizers, but for NOT_SANITIZED:
# patterns of those RELEASE cases whose time goes by in compilers and in pictures, or that run what other cases run on
# more recordings, screens and sizes. Some code is run by those cases alone, and so by no sanitizer.
find_package(GTest REQUIRED)
include(GoogleTest)

add_custom_target(release_tests)
function(tilescope_tests label part)
  cmake_parse_arguments(ARG "RELEASE" "SHARDS" "LINK;NOT_SANITIZED" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${label}/${part}_*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(${label}_${part} ${sources})
  target_include_directories(${label}_${part} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${label}_${part} PRIVATE ${ARG_LINK} GTest::gtest_main)
  # An if without braces around EXPECT_EQ is what gtest is made for.
  target_compile_options(${label}_${part} PRIVATE -Wno-dangling-else)
  # A little optimisation is won back by their slow twins, but not under the sanitizers.
  if(NOT TILESCOPE_SANITIZE)
    target_compile_options(${label}_${part} PRIVATE -O1)
  endif()
  # Nor do they need UndefinedBehaviorSanitizer of their own, which doubles their compilation: what they test has it.
  if(TILESCOPE_SANITIZE MATCHES "undefined")
    target_compile_options(${label}_${part} PRIVATE -fno-sanitize=undefined,float-cast-overflow)
  endif()
  target_compile_definitions(${label}_${part} PRIVATE
    TILESCOPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TILESCOPE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  tilescope_precompile(${label}_${part} LIKE tests HEADERS <gtest/gtest.h>)
  set_target_properties(${label}_${part} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(label STREQUAL gpu)
    if(TILESCOPE_SANITIZE)  # where these are not run
      set_target_properties(${label}_${part} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    gtest_discover_tests(${label}_${part} PROPERTIES LABELS ${label} TIMEOUT 120 DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
    return()
  endif()
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  set(labels ${label})
  if(ARG_RELEASE)
    list(APPEND labels release)
    add_dependencies(release_tests ${label}_${part})
  endif()
  set(filter)
  if(TILESCOPE_SANITIZE AND ARG_NOT_SANITIZED)
    list(JOIN ARG_NOT_SANITIZED ":" patterns)
    set(filter "--gtest_filter=-${patterns}")
  endif()
  math(EXPR last "${ARG_SHARDS} - 1")
  foreach(shard RANGE ${last})
    math(EXPR number "${shard} + 1")
    add_test(NAME ${label}_${part}.${number}_of_${ARG_SHARDS} COMMAND ${label}_${part} --gtest_brief=1 ${filter})
    set_tests_properties(${label}_${part}.${number}_of_${ARG_SHARDS} PROPERTIES LABELS "${labels}" TIMEOUT 900
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${shard}")
  endforeach()
endfunction()

# Through the C functions of the library, as programs use it.
tilescope_tests(unit cudart LINK tilescope_cudart tilescope_trace tilescope_launched)
tilescope_tests(unit launched LINK tilescope_launched)
# Without a GPU: fat binaries, caches, counts, and what the library and the command tell each other.
tilescope_tests(unit capture LINK tilescope_captured tilescope_program)
foreach(part base ptx trace analysis playback export kernels)
  tilescope_tests(unit ${part} SHARDS 2 LINK tilescope_${part})
endforeach()
tilescope_tests(unit simt SHARDS 2 RELEASE LINK tilescope_simt)
tilescope_tests(host kernels SHARDS 4 RELEASE LINK tilescope_kernels NOT_SANITIZED
  GuessedHere.NineOfTen* Hazards.AreTheSame* InstrumentedPtx.OfEvery* InstrumentedSpaces.Random*
  Kernels/RecordedAccesses.*/tiled_transposed Sums.AgreeWithAWalk* Sums.AreThoseOfHardware*)
if(TARGET unit_analysis)  # and what is worked out from it
  target_link_libraries(unit_analysis PRIVATE tilescope_hazards tilescope_levels)
endif()
foreach(target unit_kernels host_kernels)
  if(TARGET ${target})
    target_link_libraries(${target} PRIVATE tilescope_call tilescope_export tilescope_playback)
  endif()
endforeach()
# Where the CUDA Toolkit is, its own sums of occupancy are held against ours.
find_path(TILESCOPE_CUDA_OCCUPANCY_DIR cuda_occupancy.h
          PATHS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES include)
if(TILESCOPE_CUDA_OCCUPANCY_DIR AND TARGET unit_kernels)
  target_include_directories(unit_kernels SYSTEM PRIVATE ${TILESCOPE_CUDA_OCCUPANCY_DIR})
  target_compile_definitions(unit_kernels PRIVATE TILESCOPE_CUDA_OCCUPANCY)
endif()
# The GPU side: unit and host tests need no GPU (a driver of their own stands in for NVIDIA's), gpu tests one.
tilescope_tests(unit gpu LINK tilescope_gpu)
tilescope_tests(host gpu RELEASE LINK tilescope_gpu)
tilescope_tests(gpu record LINK tilescope_gpu)

# The stand-in for NVIDIA's driver, which a program finds by LD_LIBRARY_PATH and a test by its path.
file(GLOB fake_cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/host/fake_cuda/*.cpp)
add_library(fake_cuda SHARED EXCLUDE_FROM_ALL ${fake_cuda_sources})
set_target_properties(fake_cuda PROPERTIES OUTPUT_NAME cuda SOVERSION 1 CXX_VISIBILITY_PRESET hidden
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fake_cuda)
if(TILESCOPE_SANITIZE AND NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(fake_cuda PRIVATE -fno-sanitize=function)  # called by types of our own, as NVIDIA's is
endif()
function(tilescope_uses_fake_cuda target)
  if(TARGET ${target})
    target_compile_definitions(${target} PRIVATE TILESCOPE_FAKE_CUDA="$<TARGET_FILE:fake_cuda>")
    add_dependencies(${target} fake_cuda)
  endif()
endfunction()
tilescope_uses_fake_cuda(host_gpu)
if(TARGET host_kernels)
  target_compile_definitions(host_kernels PRIVATE TILESCOPE_CLANG="${TILESCOPE_CLANG}")
endif()

tilescope_tests(host program RELEASE LINK tilescope_program tilescope_ptx)

# Both engines on one launch; clang compiles the kernels.
tilescope_tests(host engine SHARDS 2 RELEASE LINK tilescope_engine tilescope_program
  NOT_SANITIZED "EngineLibrary.CompilesBeside*")

# The command line, through the program itself.
tilescope_tests(unit cli LINK tilescope_cli)
tilescope_tests(host cli SHARDS 4 RELEASE LINK tilescope_kernels NOT_SANITIZED
  CliLibraries.* CliLong.* CliCourse.* CliCopies.* *Examples.* ExamplePrograms.*
  CliCall.AFunctionBeside* CliCall.What* CliExport.ChromeTraces* CliFiles.AnFfmpeg*
  CliHandout.OfAFile CliHandout.TheExample* CliHandout.OfFigures* CliLevels.AWindow* CliOrder.WhatIsOrdered* CliPackage.Holds*
  CliPictures.AFilm* CliPictures.AFrame* CliPictures.ARace* CliPictures.AnSvg* CliPictures.Films* CliPictures.Lecture*
  CliPictures.ThoseOfTheDocs*
  CliPrograms.AFlagChanges* CliPrograms.ALaunchTooLarge* CliPrograms.Finds* CliPrograms.Functions* CliPrograms.Hands* CliPrograms.Nvcc* CliPrograms.RunsLaunches* CliPrograms.RunsWithOpenMp* CliPrograms.Takes*
  CliPrograms.SaysWhatMemory* CliPrograms.Tells*
  CliRunning.TheLibrary* CliRecordings.OneThatShips* CliRecordings.Save* CliStrangers.LevelsOfVeryMany* CliStrangers.ProgramsOfOthers*
  CliUndefined.AGuess* CliUndefined.Copies* CliUndefined.Launches* CliUndefined.Shared*
  CliWaiting.ALong* CliWaiting.RecordingsKeep*)
if(TARGET host_cli)
  target_compile_definitions(host_cli PRIVATE TILESCOPE_PROGRAM="$<TARGET_FILE:tilescope>"
    TILESCOPE_HAS_WINDOW=$<BOOL:${TILESCOPE_APP}>)
  if(NOT TILESCOPE_APP)  # else cmake/app.cmake says which fonts there are
    target_compile_definitions(host_cli PRIVATE TILESCOPE_GOLDEN_FONTS=0)
  endif()
  add_dependencies(host_cli tilescope tilescope_cudart tilescope_capture package_files)
endif()
tilescope_uses_fake_cuda(host_cli)

# core/ stands alone: every object of it, used or not, is linked with nothing but core's own libraries, and
# what came out asks for no OpenGL, X11, CUDA or ImGui.
set(core_parts base ptx simt compiled trace recording analysis hazards limits levels playback export)
add_executable(core_alone ${PROJECT_SOURCE_DIR}/tests/unit/core_alone.cpp)
target_link_libraries(core_alone PRIVATE tilescope_export tilescope_playback)
foreach(part IN LISTS core_parts)
  get_target_property(type tilescope_${part} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    target_link_options(core_alone PRIVATE
      "SHELL:-Wl,--whole-archive $<TARGET_FILE:tilescope_${part}> -Wl,--no-whole-archive")
    add_dependencies(core_alone tilescope_${part})
  endif()
endforeach()
set_target_properties(core_alone PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME CoreAlone.AsksForNoWindowAndNoDevice
  COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:core_alone> -DNM=${CMAKE_NM}
          -DREADELF=${CMAKE_READELF} -P ${PROJECT_SOURCE_DIR}/cmake/core_alone.cmake)
set_tests_properties(CoreAlone.AsksForNoWindowAndNoDevice PROPERTIES LABELS unit)
include(cmake/fuzz.cmake)

# Recordings that take as much memory and time as a small file can make a reader take, for tests/fuzz/bombs.sh.
add_executable(bombs EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/fuzz/bombs.cpp)
target_link_libraries(bombs PRIVATE tilescope_trace)
