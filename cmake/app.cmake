# The library tilescope_app: window, screens, panels, drawing. The executable is made in cmake/cli.cmake.
include(cmake/embed.cmake)

find_package(glfw3 3.3 REQUIRED)
pkg_check_modules(IMGUI REQUIRED IMPORTED_TARGET imgui)
pkg_check_modules(FREETYPE REQUIRED IMPORTED_TARGET freetype2)  # what imgui rasterises type with

# OpenGL 3.3 core and EGL, opened at run time: loaders made by glad from the specifications that come with it,
# --reproducible being its way of not asking the network for newer ones.
find_program(TILESCOPE_GLAD glad PATHS /usr/bin)
if(NOT TILESCOPE_GLAD)
  message(FATAL_ERROR "The program glad was not found; install the package python3-glad.")
endif()
set(glad_dir ${PROJECT_BINARY_DIR}/generated/glad)
function(tilescope_glad api extensions)
  if(NOT EXISTS ${glad_dir}/src/${api}.c)
    execute_process(
      COMMAND ${TILESCOPE_GLAD} --quiet --reproducible --api ${ARGN} --extensions "${extensions}"
              --out-path ${glad_dir} c --loader
      RESULT_VARIABLE failed ERROR_VARIABLE why)
    if(failed)
      message(FATAL_ERROR "glad could not make the ${api} loader: ${why}")
    endif()
  endif()
endfunction()
tilescope_glad(gl "" gl:core=3.3)
tilescope_glad(egl "EGL_EXT_platform_base,EGL_EXT_device_base,EGL_EXT_platform_device,EGL_MESA_platform_surfaceless,EGL_KHR_surfaceless_context"
               egl=1.5)
add_library(tilescope_glad STATIC ${glad_dir}/src/gl.c ${glad_dir}/src/egl.c)
target_include_directories(tilescope_glad SYSTEM PUBLIC ${glad_dir}/include)
target_compile_options(tilescope_glad PRIVATE -w)
target_link_libraries(tilescope_glad PUBLIC ${CMAKE_DL_LIBS})

# Type faces from the system's packages, built into the program; where they are missing it looks for them when it starts.
set(font_asm "")
set(font_files "")
function(tilescope_font name)
  find_file(TILESCOPE_FONT_${name} NAMES ${ARGN}
            PATHS /usr/share/fonts/opentype/inter /usr/share/fonts/truetype/jetbrains-mono /usr/share/fonts/truetype/inter
            NO_DEFAULT_PATH)
  if(TILESCOPE_FONT_${name})
    string(APPEND font_asm "TILESCOPE_FONT(${name}, \"${TILESCOPE_FONT_${name}}\")\n")
    list(APPEND font_files ${TILESCOPE_FONT_${name}})
  else()
    message(STATUS "The font ${name} is not installed; the program will look for it when it starts.")
    string(APPEND font_asm "TILESCOPE_NO_FONT(${name})\n")
  endif()
  set(font_asm "${font_asm}" PARENT_SCOPE)
  set(font_files "${font_files}" PARENT_SCOPE)
endfunction()
tilescope_font(inter_regular Inter-Regular.otf Inter-Regular.ttf)
tilescope_font(inter_semibold Inter-SemiBold.otf Inter-SemiBold.ttf)
tilescope_font(jetbrains_mono JetBrainsMono-Regular.ttf)
set(FONT_LINES "${font_asm}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/embedded_fonts.cpp.in ${PROJECT_BINARY_DIR}/generated/embedded_fonts.cpp @ONLY)
set_source_files_properties(${PROJECT_BINARY_DIR}/generated/embedded_fonts.cpp PROPERTIES OBJECT_DEPENDS "${font_files}")

# What several screens show, as plain values: no window, no OpenGL, no ImGui.
set(plain ${PROJECT_SOURCE_DIR}/app/draw)
file(GLOB look_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/app/look/*.cpp)
list(APPEND look_sources ${plain}/axes.cpp ${plain}/cell.cpp ${plain}/shown.cpp ${plain}/theme.cpp)
add_library(tilescope_look STATIC ${look_sources})
target_include_directories(tilescope_look PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(tilescope_look PUBLIC tilescope_kernels)

# All the rest of the program but its command line. A lesson is a file in assets/lessons.
file(GLOB_RECURSE app_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/app/*.cpp)
list(FILTER app_sources EXCLUDE REGEX "/app/(main\\.cpp|cli/)")
list(REMOVE_ITEM app_sources ${look_sources})
add_library(tilescope_app STATIC ${app_sources} ${PROJECT_BINARY_DIR}/generated/embedded_fonts.cpp)
target_include_directories(tilescope_app PUBLIC ${PROJECT_SOURCE_DIR})
target_include_directories(tilescope_app SYSTEM PUBLIC ${IMGUI_INCLUDE_DIRS})
target_link_libraries(tilescope_app PUBLIC tilescope_look tilescope_gpu PkgConfig::IMGUI PkgConfig::FREETYPE
                      PRIVATE tilescope_glad glfw nlohmann_json::nlohmann_json)
file(GLOB lessons RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/assets/lessons/*.json)
tilescope_embed_bytes(tilescope_app tilescope::lessons::embedded_lessons ${lessons})
file(GLOB shaders RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/shaders/*.glsl)
tilescope_embed(tilescope_app tilescope::draw::embedded_shader ${shaders})

# gl_app draws without a display through EGL; window_app opens the program's own window on a display of its own.
# Deferred to the end of the folder, where tilescope_tests is known.
function(tilescope_app_tests)
  tilescope_tests(unit view LINK tilescope_app)
  tilescope_tests(unit draw LINK tilescope_app)
  tilescope_tests(gl app LINK tilescope_app tilescope_glad)
  if(TARGET tilescope)
    tilescope_tests(window app LINK tilescope_app)
    if(TARGET window_app)
      add_dependencies(window_app tilescope)
    endif()
  endif()
endfunction()
if(TILESCOPE_TESTS)
  cmake_language(DEFER CALL tilescope_app_tests)
endif()
