# The program of the page: tilescope.js and tilescope.wasm in the folder of the build; web/pack.py makes the page of them.
file(GLOB web_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/*.cpp)
list(REMOVE_ITEM web_sources ${PROJECT_SOURCE_DIR}/web/no_gpu.cpp)
add_executable(tilescope_web ${web_sources})
target_link_libraries(tilescope_web PRIVATE tilescope_app)
tilescope_optimise(tilescope_web -O1)
set(page ${PROJECT_SOURCE_DIR}/web/page.js)
# A page's heap: at most 1 GB, so that a recording that is too large ends in a sentence before the browser ends the page.
target_link_options(tilescope_web PRIVATE -Oz -sENVIRONMENT=web -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=64MB
  -sMAXIMUM_MEMORY=1GB -sTOTAL_STACK=4MB -sMIN_WEBGL_VERSION=2 -sMAX_WEBGL_VERSION=2 -sFORCE_FILESYSTEM=1
  "SHELL:-sEXPORTED_RUNTIME_METHODS=FS,UTF8ToString,stringToUTF8,lengthBytesUTF8" "SHELL:-sEXPORTED_FUNCTIONS=_main,_malloc,_free"
  "SHELL:--js-library ${page}")
set_target_properties(tilescope_web PROPERTIES OUTPUT_NAME tilescope SUFFIX .js LINK_DEPENDS ${page})

# Unpacks it in the page: a module without a script of its own.
add_executable(tilescope_unpack ${PROJECT_SOURCE_DIR}/web/unpack.c)
target_link_libraries(tilescope_unpack PRIVATE PkgConfig::ZSTD)
target_compile_options(tilescope_unpack PRIVATE -Oz)
set(exports _unpack_input _unpack_output _unpack_room _unpack_take _unpack_give)
list(JOIN exports "," exports)
target_link_options(tilescope_unpack PRIVATE -Oz -sSTANDALONE_WASM=1 -Wl,--no-entry -sINITIAL_MEMORY=32MB
  "SHELL:-sEXPORTED_FUNCTIONS=${exports}")
set_target_properties(tilescope_unpack PROPERTIES OUTPUT_NAME unpack SUFFIX .wasm LINKER_LANGUAGE CXX)
add_dependencies(tilescope_web tilescope_unpack)
