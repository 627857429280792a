# The command line and the program. It has a window where cmake/app.cmake made tilescope_app; without it
# (TILESCOPE_APP=OFF) the program is the command line alone.
find_package(CLI11 REQUIRED)
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/app/cli/*.cpp)
if(NOT TARGET tilescope_app)
  add_library(tilescope_app STATIC ${PROJECT_SOURCE_DIR}/app/no_window.cpp ${PROJECT_SOURCE_DIR}/app/session.cpp)
  target_link_libraries(tilescope_app PUBLIC tilescope_kernels)
endif()
add_library(tilescope_cli STATIC ${cli_sources})
target_link_libraries(tilescope_cli PUBLIC tilescope_app tilescope_kernels CLI11::CLI11 nlohmann_json::nlohmann_json)
add_executable(tilescope ${PROJECT_SOURCE_DIR}/app/main.cpp)
target_link_libraries(tilescope PRIVATE tilescope_cli)
