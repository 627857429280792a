# The library tilescope_app: window, screens, panels, drawing. The executable is made in cmake/cli.cmake.

find_package(glfw3 3.3 REQUIRED)
pkg_check_modules(IMGUI REQUIRED IMPORTED_TARGET imgui>=1.86)
pkg_check_modules(FREETYPE REQUIRED IMPORTED_TARGET freetype2)  # what imgui rasterises type with

# OpenGL 3.3 core and EGL, opened at run time: loaders made by glad from the specifications that come with it,
# --reproducible being its way of not asking the network for newer ones. Its second generation opens EGL's library
# itself, its first, which Ubuntu 22.04 has, links against it.
find_program(TILESCOPE_GLAD glad PATHS /usr/bin)
if(NOT TILESCOPE_GLAD)
  message(FATAL_ERROR "The program glad was not found; install the package python3-glad.")
endif()
execute_process(COMMAND ${TILESCOPE_GLAD} --help OUTPUT_VARIABLE glad_help)
set(glad_generation 2)
if(glad_help MATCHES "--generator")
  set(glad_generation 1)
endif()
set(glad_dir ${PROJECT_BINARY_DIR}/generated/glad)
set(glad_sources "")
function(tilescope_glad name extensions)
  set(source ${glad_dir}/src/${name})
  if(NOT EXISTS ${source})
    execute_process(
      COMMAND ${TILESCOPE_GLAD} --quiet --reproducible --out-path ${glad_dir} --extensions "${extensions}" ${ARGN}
      RESULT_VARIABLE failed ERROR_VARIABLE why)
    if(failed)
      message(FATAL_ERROR "glad could not make ${name}: ${why}")
    endif()
  endif()
  set(glad_sources ${glad_sources} ${source} PARENT_SCOPE)
endfunction()
set(egl_extensions EGL_EXT_platform_base,EGL_EXT_device_base,EGL_EXT_platform_device,EGL_MESA_platform_surfaceless,EGL_KHR_surfaceless_context)
if(glad_generation EQUAL 1)
  tilescope_glad(glad.c "" --spec gl --api gl=3.3 --profile core --generator c)
  tilescope_glad(glad_egl.c ${egl_extensions} --spec egl --api egl=1.5 --generator c)
else()
  tilescope_glad(gl.c "" --api gl:core=3.3 c --loader)
  tilescope_glad(egl.c ${egl_extensions} --api egl=1.5 c --loader)
endif()
add_library(tilescope_glad STATIC ${glad_sources})
target_include_directories(tilescope_glad SYSTEM PUBLIC ${glad_dir}/include)
target_compile_options(tilescope_glad PRIVATE -w)
target_compile_definitions(tilescope_glad PUBLIC TILESCOPE_GLAD_GENERATION=${glad_generation})
target_link_libraries(tilescope_glad PUBLIC ${CMAKE_DL_LIBS})
if(glad_generation EQUAL 1)
  target_link_libraries(tilescope_glad PUBLIC EGL)
endif()

# Type faces from the system's packages, built into the program; where they are missing it looks for them when it starts.
set(font_asm "")
set(font_files "")
set(font_digests "")
function(tilescope_font name)
  find_file(TILESCOPE_FONT_${name} NAMES ${ARGN}
            PATHS /usr/share/fonts/opentype/inter /usr/share/fonts/truetype/jetbrains-mono /usr/share/fonts/truetype/inter
            NO_DEFAULT_PATH)
  if(TILESCOPE_FONT_${name})
    string(APPEND font_asm "TILESCOPE_FONT(${name}, \"${TILESCOPE_FONT_${name}}\")\n")
    list(APPEND font_files ${TILESCOPE_FONT_${name}})
    file(SHA256 ${TILESCOPE_FONT_${name}} digest)
    string(APPEND font_digests "${digest}  ${name}\n")
  else()
    message(STATUS "The font ${name} is not installed; the program will look for it when it starts.")
    string(APPEND font_asm "TILESCOPE_NO_FONT(${name})\n")
  endif()
  set(font_asm "${font_asm}" PARENT_SCOPE)
  set(font_files "${font_files}" PARENT_SCOPE)
  set(font_digests "${font_digests}" PARENT_SCOPE)
endfunction()
tilescope_font(inter_regular Inter-Regular.otf Inter-Regular.ttf)
tilescope_font(inter_semibold Inter-SemiBold.otf Inter-SemiBold.ttf)
tilescope_font(jetbrains_mono JetBrainsMono-Regular.ttf)
set(FONT_LINES "${font_asm}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/embedded_fonts.cpp.in ${PROJECT_BINARY_DIR}/generated/embedded_fonts.cpp @ONLY)
set_source_files_properties(${PROJECT_BINARY_DIR}/generated/embedded_fonts.cpp PROPERTIES OBJECT_DEPENDS "${font_files}")

# All the rest of the program but its command line.
file(GLOB_RECURSE app_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/app/*.cpp)
list(FILTER app_sources EXCLUDE REGEX "/app/(main\\.cpp|cli/)")
list(REMOVE_ITEM app_sources ${model_sources})
# Each calls its parts alike, and so is compiled by itself.
file(GLOB figure_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/app/lessons/figures/*.cpp)
set_source_files_properties(${figure_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
add_library(tilescope_app STATIC ${app_sources} ${PROJECT_BINARY_DIR}/generated/embedded_fonts.cpp)
target_include_directories(tilescope_app PUBLIC ${PROJECT_SOURCE_DIR})
target_include_directories(tilescope_app SYSTEM PUBLIC ${IMGUI_INCLUDE_DIRS})
target_link_libraries(tilescope_app PUBLIC tilescope_models PkgConfig::IMGUI PkgConfig::FREETYPE
                      PRIVATE tilescope_glad glfw nlohmann_json::nlohmann_json)
tilescope_optimise(tilescope_app -O1)
tilescope_precompile(tilescope_app LIKE app HEADERS <imgui.h>)
file(GLOB shaders RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/shaders/*.glsl)
tilescope_embed(tilescope_app tilescope::draw::embedded_shader ${shaders})

# gl_app draws without a display through EGL; window_app opens the program's own window on a display of its own.
# Deferred to the end of the folder, where tilescope_tests is known.
function(tilescope_app_tests)
  tilescope_tests(unit view SHARDS 4 LINK tilescope_app)
  tilescope_tests(unit draw LINK tilescope_app)
  tilescope_tests(gl app SHARDS 6 RELEASE LINK tilescope_app tilescope_glad NOT_SANITIZED
    Answers.AreNotTold*
    CompareScreen.NothingIsCutOffInA* CubePicture.IsWritten* FigurePictures.TheSchedule*
    CompareScreen.DrawsAnySize CompareScreen.WindowsOfALarge*
    FiguresOfTheCompareScreen.OfFaults FiguresOfTheCompareScreen.OfLaunches FiguresOfTheCompareScreen.OfProducts
    FiguresOfTheCompareScreen.OfTimedSizes
    FiguresOfTheStepScreen.OfClocks FiguresOfTheStepScreen.OfLaunches FiguresOfTheStepScreen.OfProducts
    FiguresOfTheTimingScreen.OfKernels* FiguresOfTheTimingScreen.OfStated*
    GridView.NothingIsCut* LessonsScreen.AStopIs* LessonsScreen.TheTimesOf* LongText.OfARecording*
    Motion.EndsIn* Motion.GoesAround* OverlayPicture.ListsWithout* Page.IsWritten*
    QuestionPictures.KeepTheAnswer* QuestionPictures.OnPaper* RaceScreenDrawn.NothingIsCut*
    Screens/Pointing.*/2 Sizes/EveryScreen.*/At1* Sizes/EveryScreen.*/At720_lecture Sizes/Tooltips.*/At1280
    StepLayout.KeepsItsSubject* StopPictures.* TimingScreen.TheLadder* WrongFigures*.AreFoundInEveryText)
  if(TARGET gl_app)  # with the goldens' own fonts pictures are held by their pixels (tests/gl/golden.h)
    set(fonts_txt ${PROJECT_SOURCE_DIR}/tests/data/goldens/fonts.txt)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${fonts_txt} ${font_files})
    file(READ ${fonts_txt} golden_fonts)
    string(COMPARE EQUAL "${font_digests}" "${golden_fonts}" same)
    target_compile_definitions(gl_app PRIVATE TILESCOPE_GOLDEN_FONTS=$<BOOL:${same}>)
    if(TARGET host_cli)
      target_compile_definitions(host_cli PRIVATE TILESCOPE_GOLDEN_FONTS=$<BOOL:${same}>)
    endif()
  endif()
  if(TARGET tilescope)
    tilescope_tests(window app SHARDS 4 RELEASE LINK tilescope_app)
    if(TARGET window_app)
      add_dependencies(window_app tilescope)
    endif()
  endif()
endfunction()
if(TILESCOPE_TESTS)
  cmake_language(DEFER CALL tilescope_app_tests)
endif()
