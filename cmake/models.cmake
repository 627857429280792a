# The library tilescope_models: the session and what screens show, as plain values. It needs no ImGui, no OpenGL and
# no window, so a build without the window has it too, for `compare` and handouts. tests/unit/base_arrows_test.cpp
# holds that the list is all of app/ whose includes lead to none of these.
set(model_globs
    app/draw/axes.cpp app/draw/sheet.cpp app/draw/theme.cpp app/look/*.cpp app/session/*.cpp app/platform/process.cpp app/platform/desktop.cpp
    app/*/model.cpp app/compare/sketch.cpp app/levels/state.cpp
    app/lessons/facts.cpp app/lessons/figures/models.cpp app/lessons/handout.cpp app/lessons/mistakes.cpp app/lessons/modelled.cpp
    app/lessons/ring_facts.cpp
    app/lessons/questions.cpp app/lessons/read.cpp app/lessons/sentences.cpp app/lessons/stop_picture.cpp
    app/step/buffers.cpp app/step/flights.cpp app/step/provenance.cpp
    app/timing/bounds.cpp app/timing/ladder.cpp app/timing/latency.cpp app/timing/roofline.cpp app/timing/times.cpp
    app/timing/unmeasured.cpp)
list(TRANSFORM model_globs PREPEND ${PROJECT_SOURCE_DIR}/)
file(GLOB model_sources CONFIGURE_DEPENDS ${model_globs})
if(TILESCOPE_WEB)
  list(FILTER model_sources EXCLUDE REGEX "/app/platform/desktop\\.cpp$")
endif()
add_library(tilescope_models STATIC ${model_sources})
target_include_directories(tilescope_models PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(tilescope_models PUBLIC tilescope_alone tilescope_launched tilescope_playback tilescope_export
                                       PRIVATE nlohmann_json::nlohmann_json)
tilescope_optimise(tilescope_models -O2)
tilescope_fuzzed(tilescope_models)
tilescope_precompile(tilescope_models LIKE models)

# A lesson is a file in assets/lessons. Whole programs to open are .cu files; there may be none.
file(GLOB lessons RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/assets/lessons/*.json)
tilescope_embed_bytes(tilescope_models tilescope::lessons::embedded_lessons ${lessons})
file(GLOB examples RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/examples/*.cu)
tilescope_embed_bytes(tilescope_models tilescope::session::embedded_examples ${examples})

set(model_list "")
foreach(source IN LISTS model_sources)
  file(RELATIVE_PATH source ${PROJECT_SOURCE_DIR} ${source})
  string(APPEND model_list "${source}\n")
endforeach()
file(WRITE ${PROJECT_BINARY_DIR}/generated/models.txt "${model_list}")

# Tests of models alone. Deferred to the end of the folder, where tilescope_tests is known.
if(TILESCOPE_TESTS)
  cmake_language(DEFER CALL tilescope_tests unit models LINK tilescope_models)
  cmake_language(DEFER CALL target_sources unit_models PRIVATE ${PROJECT_SOURCE_DIR}/tests/stand_in_figures.cpp)
endif()
