# Builds text files into a target, so that the program is one file:
#
#   tilescope_embed(TARGET tilescope::kernels::embedded_file FILES...)    FILES below the project's folder
#
# gives the target   std::string_view tilescope::kernels::embedded_file(std::string_view path);
# which returns the text of the file with that path below the project's folder, or an empty view.
function(tilescope_embed target function)
  string(REPLACE "::" "_" stem ${function})
  set(out ${CMAKE_CURRENT_BINARY_DIR}/generated/${stem}.cpp)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
  string(REPLACE ";" "," files "${ARGN}")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DROOT=${PROJECT_SOURCE_DIR} -DFUNCTION=${function} -DFILES=${files}
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "Embedding the texts of ${function}"
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  string(REGEX MATCH "^(.*)::([a-z_]+)$" ignored ${FUNCTION})
  set(namespace ${CMAKE_MATCH_1})
  set(name ${CMAKE_MATCH_2})
  set(body "// Made by cmake/embed.cmake.\n#include <string_view>\n\nusing namespace std::string_view_literals;\n\n")
  string(APPEND body "namespace ${namespace} {\n\nstd::string_view ${name}(std::string_view path);\n")
  string(APPEND body "std::string_view ${name}(std::string_view path) {\n")
  string(REPLACE "," ";" FILES "${FILES}")
  foreach(file IN LISTS FILES)
    file(READ ${ROOT}/${file} text)
    string(LENGTH "${text}" length)
    if(length GREATER 65000)  # what a C++ compiler must take as one string literal is 65536
      message(FATAL_ERROR "${file} is too long to be embedded as one string literal")
    endif()
    string(APPEND body "    if (path == \"${file}\") return R\"embedded(${text})embedded\"sv;\n")
  endforeach()
  string(APPEND body "    return {};\n}\n\n}  // namespace ${namespace}\n")
  file(WRITE ${OUT} "${body}")
endif()
