# The library tilescope_app: window, screens, panels, drawing. The executable is made in cmake/cli.cmake.

if(TILESCOPE_WEB)
  # A page has OpenGL, and one window.
  add_library(tilescope_glad INTERFACE)
  target_include_directories(tilescope_glad INTERFACE ${PROJECT_SOURCE_DIR}/web)
  target_compile_definitions(tilescope_glad INTERFACE TILESCOPE_GLAD_GENERATION=2)
  target_link_libraries(tilescope_glad INTERFACE web_headers)
else()
  include(cmake/desktop.cmake)
endif()

# Type faces from the system's packages, built into the program; where they are missing it looks for them when it starts.
set(font_asm "")
set(font_files "")
set(font_digests "")
function(tilescope_font name)
  find_file(TILESCOPE_FONT_${name} NAMES ${ARGN}
            PATHS /usr/share/fonts/opentype/inter /usr/share/fonts/truetype/jetbrains-mono /usr/share/fonts/truetype/inter
            NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  if(TILESCOPE_FONT_${name})
    if(TILESCOPE_WEB)
      tilescope_subset_font(TILESCOPE_FONT_${name})
    endif()
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
if(TILESCOPE_WEB)
  list(FILTER app_sources EXCLUDE REGEX "/app/platform/(glfw|egl|desktop)\\.cpp$")
else()
  list(FILTER app_sources EXCLUDE REGEX "/app/platform/web\\.cpp$")
endif()
# Each calls its parts alike, and so is compiled by itself.
file(GLOB figure_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/app/lessons/figures/*.cpp)
set_source_files_properties(${figure_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
add_library(tilescope_app STATIC ${app_sources} ${PROJECT_BINARY_DIR}/generated/embedded_fonts.cpp)
target_include_directories(tilescope_app PUBLIC ${PROJECT_SOURCE_DIR})
target_include_directories(tilescope_app SYSTEM PUBLIC ${IMGUI_INCLUDE_DIRS})
target_link_libraries(tilescope_app PUBLIC tilescope_models PkgConfig::IMGUI PkgConfig::FREETYPE
                      PRIVATE tilescope_glad ${window_library} nlohmann_json::nlohmann_json)
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
    GridView.NothingIsCut* GridView.Pictures LessonsScreen.AStopIs* LessonsScreen.TheTimesOf* LongText.OfARecording*
    Motion.AProductHas* Motion.EndsIn* Motion.GoesAround* OverlayPicture.ListsWithout* Page.IsWritten*
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
