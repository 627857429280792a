# What the native build finds installed, from the sources of the distribution's packages: the C++ library, fmt, zstd, Dear ImGui
# and FreeType, under the names that the rest asks for. nlohmann/json and stb are headers, as they are installed.
add_compile_options(-Wno-shorten-64-to-32)  # size_t has 32 bits
set(web_warnings -w)
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS TRUE)  # the one that there is, is not built
function(web_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;INCLUDE;OPTIONS" ${ARGN})
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "The sources of ${name} are not in '${TILESCOPE_WEB_SOURCES}'; ./run web gets them.")
  endif()
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} SYSTEM PUBLIC ${ARG_INCLUDE})
  target_compile_options(${name} PRIVATE ${web_warnings} -Oz ${ARG_OPTIONS})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
endfunction()
function(web_source variable pattern)
  file(GLOB found ${TILESCOPE_WEB_SOURCES}/${pattern})
  list(FILTER found EXCLUDE REGEX "\\.(dsc|asc|tar\\..z|gz)$")
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

web_source(llvm llvm-toolchain-*)
file(GLOB cxx_sources ${llvm}/libcxx/src/*.cpp ${llvm}/libcxx/src/ryu/*.cpp ${llvm}/libcxx/src/filesystem/*.cpp
     ${llvm}/libcxxabi/src/*.cpp ${llvm}/libunwind/src/Unwind-wasm.c)
# One of the ABI library's, two of the C++ library's: operator new and the like stand in both; the last four need more than there is.
list(FILTER cxx_sources EXCLUDE REGEX
     "cxa_noexception|libcxx/src/(new\\.cpp|int128_builtins|random\\.cpp|print|pstl)|/support/|tzdb|time_zone")
web_library(web_cxx SOURCES ${cxx_sources} OPTIONS -D_LIBCPP_BUILDING_LIBRARY
  -DLIBCXX_BUILDING_LIBCXXABI -D_LIBCXXABI_BUILDING_LIBRARY -DLIBCXXABI_NON_DEMANGLING_TERMINATE -D_LIBUNWIND_HIDE_SYMBOLS
  -D__WASM_EXCEPTIONS__ -DNDEBUG
  -I${llvm}/libcxx/src -I${llvm}/libcxxabi/src -I${llvm}/libunwind/include -I${llvm}/libc)
set_target_properties(web_cxx PROPERTIES CXX_STANDARD 23)
link_libraries(web_cxx)

web_source(fmt_source fmtlib-*)
web_library(web_fmt SOURCES ${fmt_source}/src/format.cc INCLUDE ${fmt_source}/include)
add_library(fmt::fmt ALIAS web_fmt)

web_source(zstd libzstd-*)
file(GLOB zstd_sources ${zstd}/lib/common/*.c ${zstd}/lib/compress/*.c ${zstd}/lib/decompress/*.c)
web_library(web_zstd SOURCES ${zstd_sources} INCLUDE ${zstd}/lib OPTIONS -DZSTD_DISABLE_ASM=1 -DZSTD_LEGACY_SUPPORT=0)
add_library(PkgConfig::ZSTD ALIAS web_zstd)

web_source(freetype freetype-*)
list(TRANSFORM freetype APPEND /src/ OUTPUT_VARIABLE ft)
web_library(web_freetype INCLUDE ${freetype}/include
  SOURCES ${PROJECT_SOURCE_DIR}/web/setjmp.c ${ft}autofit/autofit.c ${ft}base/ftbase.c ${ft}base/ftbbox.c ${ft}base/ftbitmap.c ${ft}base/ftdebug.c ${ft}base/ftglyph.c
    ${ft}base/ftinit.c ${ft}base/ftsystem.c ${ft}base/ftsynth.c ${ft}cff/cff.c ${ft}psaux/psaux.c ${ft}pshinter/pshinter.c
    ${ft}psnames/psnames.c ${ft}sfnt/sfnt.c ${ft}smooth/smooth.c ${ft}truetype/truetype.c
  OPTIONS -DFT2_BUILD_LIBRARY -I${PROJECT_SOURCE_DIR}/cmake/web_freetype "-DFT_CONFIG_MODULES_H=\"ftmodule.h\"" "SHELL:-mllvm -wasm-enable-sjlj")
# Compressed faces and Mac's are not among those that ship.
target_compile_options(web_freetype PUBLIC "-DFT_CONFIG_OPTIONS_H=\"${PROJECT_BINARY_DIR}/generated/ftoption.h\"")
file(READ ${freetype}/include/freetype/config/ftoption.h options)
string(REGEX REPLACE "#define (FT_CONFIG_OPTION_(USE_LZW|USE_ZLIB|MAC_FONTS)) *\n" "" options "${options}")
file(CONFIGURE OUTPUT generated/ftoption.h @ONLY CONTENT "${options}")
add_library(PkgConfig::FREETYPE ALIAS web_freetype)

web_source(imgui imgui-*)
web_library(web_imgui INCLUDE ${imgui} ${imgui}/misc/freetype ${imgui}/misc/cpp
  SOURCES ${imgui}/imgui.cpp ${imgui}/imgui_draw.cpp ${imgui}/imgui_tables.cpp ${imgui}/imgui_widgets.cpp
    ${imgui}/misc/freetype/imgui_freetype.cpp ${imgui}/misc/cpp/imgui_stdlib.cpp)
target_link_libraries(web_imgui PUBLIC web_freetype)
add_library(PkgConfig::IMGUI ALIAS web_imgui)

# The face whose file `variable` names, with the glyphs that are drawn alone (kGlyphs in app/draw/fonts.cpp).
find_program(TILESCOPE_SUBSET pyftsubset REQUIRED)
set(glyphs_source ${PROJECT_SOURCE_DIR}/app/draw/fonts.cpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${glyphs_source})
file(READ ${glyphs_source} glyphs)
string(REGEX MATCH "kGlyphs\\[\\] = {([^}]*), 0}" glyphs "${glyphs}")
string(REGEX REPLACE "0x([0-9A-F]+),[ \n]+0x([0-9A-F]+)" "U+\\1-\\2" glyphs "${CMAKE_MATCH_1}")
string(REGEX REPLACE "[ \n]" "" glyphs "${glyphs}")
function(tilescope_subset_font variable)
  get_filename_component(name ${${variable}} NAME)
  set(subset ${PROJECT_BINARY_DIR}/generated/${name})
  execute_process(COMMAND ${TILESCOPE_SUBSET} ${${variable}} --unicodes=${glyphs} --layout-features= --output-file=${subset}
                  COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} ${subset} PARENT_SCOPE)
endfunction()

file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/headers)
foreach(header nlohmann stb)
  file(CREATE_LINK /usr/include/${header} ${PROJECT_BINARY_DIR}/headers/${header} SYMBOLIC)
endforeach()
add_library(web_headers INTERFACE)
target_include_directories(web_headers SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/headers)
add_library(nlohmann_json::nlohmann_json ALIAS web_headers)
