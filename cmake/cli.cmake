# The command line and the program. It has a window where cmake/app.cmake made tilescope_app; without it
# (TILESCOPE_APP=OFF) the program is the command line alone.
find_package(CLI11 REQUIRED)
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/app/cli/*.cpp)
if(NOT TARGET tilescope_app)
  list(FILTER cli_sources EXCLUDE REGEX "/window_commands\\.cpp$")
else()
  list(FILTER cli_sources EXCLUDE REGEX "/no_window\\.cpp$")
endif()
add_library(tilescope_cli STATIC ${cli_sources})
target_include_directories(tilescope_cli PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(tilescope_cli PUBLIC tilescope_models tilescope_call tilescope_program CLI11::CLI11
                      nlohmann_json::nlohmann_json)
if(TARGET tilescope_app)
  target_link_libraries(tilescope_cli PUBLIC tilescope_app)
endif()
tilescope_optimise(tilescope_cli -O1)
tilescope_fuzzed(tilescope_cli)
tilescope_precompile(tilescope_cli LIKE cli)
add_executable(tilescope ${PROJECT_SOURCE_DIR}/app/main.cpp)
target_link_libraries(tilescope PRIVATE tilescope_cli)
add_dependencies(tilescope tilescope_cudart tilescope_capture)  # which programs are linked with, and captured by
if(TILESCOPE_APP)
  add_custom_target(pictures COMMENT "Makes the pictures of README.md and docs/ anew" VERBATIM
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:tilescope> -DSOURCE=${PROJECT_SOURCE_DIR}
            -P ${PROJECT_SOURCE_DIR}/cmake/pictures.cmake)
  add_dependencies(pictures tilescope)
endif()
