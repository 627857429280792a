# fuzz_trace, fuzz_ptx, fuzz_args, fuzz_description, fuzz_flags and fuzz_lesson (tests/fuzz): libFuzzer's where TILESCOPE_FUZZ is
# on and the compiler has it, otherwise programs that only replay the inputs given. ctest replays the corpus with either.
set(fuzz_folder ${PROJECT_SOURCE_DIR}/tests/fuzz)
set(fuzz_main ${fuzz_folder}/replay_main.cpp)
if(TILESCOPE_LIBFUZZER)
  set(fuzz_main "")
  # Fills whole matrices, element by element, in code that holds no decision to find.
  set_source_files_properties(core/base/contents.cpp PROPERTIES COMPILE_OPTIONS -fno-sanitize=fuzzer-no-link
    SKIP_PRECOMPILE_HEADERS ON)
endif()

add_custom_target(fuzzers)
function(tilescope_fuzzer name)
  add_executable(fuzz_${name} ${fuzz_folder}/${name}_fuzz.cpp ${fuzz_main})
  target_link_libraries(fuzz_${name} PRIVATE ${ARGN})
  target_compile_definitions(fuzz_${name} PRIVATE TILESCOPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  tilescope_fuzzed(fuzz_${name})
  if(TILESCOPE_LIBFUZZER)
    target_compile_options(fuzz_${name} PRIVATE -O1)
    file(GLOB mutator CONFIGURE_DEPENDS ${fuzz_folder}/${name}_mutator.cpp)
    target_sources(fuzz_${name} PRIVATE ${mutator})
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer -static-libasan)  # libFuzzer loads no other first
  else()
    target_compile_options(fuzz_${name} PRIVATE -O0)
  endif()
  add_dependencies(fuzzers fuzz_${name})
  add_test(NAME Fuzz.${name} COMMAND fuzz_${name} -runs=0 ${fuzz_folder}/corpus/${name} ${more_${name}})
  set_tests_properties(Fuzz.${name} PROPERTIES LABELS unit TIMEOUT 120)
endfunction()

tilescope_fuzzer(trace tilescope_models)
target_sources(fuzz_trace PRIVATE ${fuzz_folder}/little_memory.cpp ${PROJECT_SOURCE_DIR}/tests/stand_in_figures.cpp)
tilescope_fuzzer(ptx tilescope_kernels)
target_sources(fuzz_ptx PRIVATE ${fuzz_folder}/little_memory.cpp)
tilescope_fuzzer(args tilescope_cli)
tilescope_fuzzer(description tilescope_alone)
tilescope_fuzzer(flags tilescope_program tilescope_alone)
set(more_lesson ${PROJECT_SOURCE_DIR}/assets/lessons)
tilescope_fuzzer(lesson tilescope_models)
target_sources(fuzz_lesson PRIVATE ${PROJECT_SOURCE_DIR}/tests/stand_in_figures.cpp)

# Makes the inputs of tests/fuzz/corpus that have a name.
add_executable(fuzz_corpus EXCLUDE_FROM_ALL ${fuzz_folder}/make_corpus.cpp)
target_link_libraries(fuzz_corpus PRIVATE tilescope_kernels GTest::gtest)
target_compile_definitions(fuzz_corpus PRIVATE TILESCOPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
set_target_properties(fuzz_corpus PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
