# WebAssembly for browsers, from Debian's and Ubuntu's packages alone:
#
#   clang of version 19 or newer      compiles
#   emscripten                        has the C library, OpenGL and files of a page, and links, with that clang's linker
#   libc++ and libc++abi              from the sources of that clang (cmake/web_libraries.cmake): emscripten's own, in Debian 12
#                                     and Ubuntu 24.04, are of 2021 and lack much of C++20
#
# Exceptions are WebAssembly's own. There is one thread: std::thread's constructor throws std::system_error.
# Wants TILESCOPE_WEB_SOURCES: the folder with the unpacked sources (./run web).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(TILESCOPE_WEB ON)
set(TILESCOPE_WEB_LLVM 19 CACHE STRING "The version of clang")
set(TILESCOPE_WEB_SOURCES "" CACHE PATH "Unpacked sources of the libraries")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TILESCOPE_WEB_LLVM TILESCOPE_WEB_SOURCES)

find_program(CMAKE_C_COMPILER clang-${TILESCOPE_WEB_LLVM} REQUIRED)
find_program(CMAKE_CXX_COMPILER clang++-${TILESCOPE_WEB_LLVM} REQUIRED)
find_program(CMAKE_AR llvm-ar-${TILESCOPE_WEB_LLVM} REQUIRED)
find_program(CMAKE_RANLIB llvm-ranlib-${TILESCOPE_WEB_LLVM} REQUIRED)
find_program(TILESCOPE_EMXX em++ REQUIRED)
file(GLOB llvm_source ${TILESCOPE_WEB_SOURCES}/llvm-toolchain-${TILESCOPE_WEB_LLVM}*/libcxx)
get_filename_component(llvm_source "${llvm_source}" DIRECTORY)
set(web_sysroot /usr/share/emscripten/cache/sysroot)
set(CMAKE_C_COMPILER_TARGET wasm32-unknown-emscripten)
set(CMAKE_CXX_COMPILER_TARGET wasm32-unknown-emscripten)
set(CMAKE_SYSROOT ${web_sysroot})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(common "-msimd128 -fwasm-exceptions -ffunction-sections -fdata-sections")
set(CMAKE_C_FLAGS_INIT "${common}")
set(CMAKE_CXX_FLAGS_INIT "${common} -nostdinc++ -isystem ${CMAKE_CURRENT_LIST_DIR}/web_libcxx -isystem \
${llvm_source}/libcxx/include -isystem ${llvm_source}/libcxxabi/include")
set(CMAKE_C_FLAGS_RELEASE_INIT "-DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE_INIT "-DNDEBUG")

# em++ in the clothes of this clang's version. Its optimiser asks for node-acorn where Debian puts it.
file(WRITE ${CMAKE_BINARY_DIR}/emscripten.config "EMSCRIPTEN_ROOT = '/usr/share/emscripten'
LLVM_ROOT = '/usr/bin'
BINARYEN_ROOT = '/usr'
NODE_JS = '/usr/bin/node'
FROZEN_CACHE = True
LLVM_ADD_VERSION = '${TILESCOPE_WEB_LLVM}'
CLANG_ADD_VERSION = '${TILESCOPE_WEB_LLVM}'
")
set(CMAKE_CXX_LINK_EXECUTABLE "${CMAKE_COMMAND} -E env EM_CONFIG=${CMAKE_BINARY_DIR}/emscripten.config \
NODE_PATH=/usr/share/nodejs ${TILESCOPE_EMXX} -Wno-version-check -fwasm-exceptions -nostdlib++ <LINK_FLAGS> <OBJECTS> \
<LINK_LIBRARIES> -o <TARGET>")
