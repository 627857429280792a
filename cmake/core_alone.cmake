# A test: fails where PROGRAM, which is all of core/, needs a shared library that is not the language's, fmt
# or zstd, or has a symbol of OpenGL, X11, CUDA or ImGui (the one that Debian has as a static library).
execute_process(COMMAND ${READELF} -d ${PROGRAM} OUTPUT_VARIABLE dynamic RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "${READELF} could not read ${PROGRAM}")
endif()
string(REGEX REPLACE "[][]" "|" dynamic "${dynamic}")  # a bracket would keep a list from being split
string(REGEX MATCHALL "Shared library: \\|[^|]*" needed "${dynamic}")
if(NOT needed)
  message(FATAL_ERROR "${PROGRAM} names no shared library at all, not even libc: this test sees nothing")
endif()
foreach(entry IN LISTS needed)
  string(REGEX REPLACE ".*\\|" "" library "${entry}")
  if(NOT library MATCHES "^(libc|libm|libgcc_s|libstdc\\+\\+|libpthread|ld-linux.*|libfmt|libzstd|lib[atu]b?san|libclang_rt.*|libresolv)\\.so")
    message(FATAL_ERROR "core/ asks for ${library}; it may need only C++, fmt and zstd")
  endif()
endforeach()

execute_process(COMMAND ${NM} ${PROGRAM} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
if(failed OR NOT symbols MATCHES "tilescope")
  message(FATAL_ERROR "${NM} shows no symbol of tilescope in ${PROGRAM}")
endif()
string(REGEX MATCH " [A-Za-z] [^\n]*(ImGui|glad_|glfw[A-Z]|egl[A-Z]|gl[A-Z][a-z]+[A-Z]|XOpenDisplay|cu(da)?[A-Z][a-z]+|nvrtc)[^\n]*"
       foreign "${symbols}")
if(foreign)
  message(FATAL_ERROR "core/ has a symbol of a window or a device:${foreign}")
endif()
