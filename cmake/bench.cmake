# Benchmarks: tests/bench/*.cpp become the executable bench; app_*.cpp among them need the window's library.
find_package(benchmark REQUIRED)
file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/bench/*.cpp)
if(NOT TILESCOPE_APP)
  list(FILTER bench_sources EXCLUDE REGEX "/app_[^/]*\\.cpp$")
endif()
if(bench_sources)
  add_executable(bench EXCLUDE_FROM_ALL ${bench_sources})
  target_link_libraries(bench PRIVATE tilescope_cli benchmark::benchmark benchmark::benchmark_main)
  target_compile_definitions(bench PRIVATE
    TILESCOPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TILESCOPE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(TARGET release_tests)  # nothing runs them there, but they have to compile
    add_dependencies(release_tests bench)
  endif()

  # make bench_table: runs everything and rewrites the table in docs/benchmarks.md.
  add_custom_target(bench_table
    COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/bench/table.py $<TARGET_FILE:bench> $<TARGET_FILE:tilescope>
    DEPENDS bench tilescope USES_TERMINAL VERBATIM)
endif()
