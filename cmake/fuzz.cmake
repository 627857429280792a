# fuzz_trace, fuzz_ptx and fuzz_args (tests/fuzz): libFuzzer's where TILESCOPE_FUZZ is on, otherwise programs
# that only replay the inputs given. ctest replays the corpus with either.
set(fuzz_folder ${PROJECT_SOURCE_DIR}/tests/fuzz)
set(fuzz_main ${fuzz_folder}/replay_main.cpp)
if(TILESCOPE_FUZZ)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -fsanitize=fuzzer)
  check_cxx_source_compiles("extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }"
                            TILESCOPE_LIBFUZZER)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT TILESCOPE_LIBFUZZER)
    message(FATAL_ERROR "TILESCOPE_FUZZ needs a clang with libFuzzer; install libclang-rt-VERSION-dev.")
  endif()
  set(fuzz_main "")
  # Fills whole matrices, element by element, in code that holds no decision to find.
  set_source_files_properties(core/base/contents.cpp PROPERTIES COMPILE_OPTIONS -fno-sanitize=fuzzer-no-link)
endif()

function(tilescope_fuzzer name)
  add_executable(fuzz_${name} ${fuzz_folder}/${name}_fuzz.cpp ${fuzz_main})
  target_link_libraries(fuzz_${name} PRIVATE ${ARGN})
  target_compile_definitions(fuzz_${name} PRIVATE TILESCOPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(TILESCOPE_FUZZ)
    file(GLOB mutator CONFIGURE_DEPENDS ${fuzz_folder}/${name}_mutator.cpp)
    target_sources(fuzz_${name} PRIVATE ${mutator})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_compile_options(fuzz_${name} PRIVATE -Og)
  endif()
  add_test(NAME Fuzz.${name} COMMAND fuzz_${name} -runs=0 ${fuzz_folder}/corpus/${name})
  set_tests_properties(Fuzz.${name} PROPERTIES LABELS unit TIMEOUT 120)
endfunction()

tilescope_fuzzer(trace tilescope_look)
target_sources(fuzz_trace PRIVATE ${PROJECT_SOURCE_DIR}/app/step/provenance.cpp)
tilescope_fuzzer(ptx tilescope_kernels)
tilescope_fuzzer(args tilescope_cli)

# Makes the inputs of tests/fuzz/corpus that have a name.
add_executable(fuzz_corpus EXCLUDE_FROM_ALL ${fuzz_folder}/make_corpus.cpp)
target_link_libraries(fuzz_corpus PRIVATE tilescope_kernels GTest::gtest)
target_compile_definitions(fuzz_corpus PRIVATE TILESCOPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
set_target_properties(fuzz_corpus PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
