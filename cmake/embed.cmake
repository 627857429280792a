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

# Builds files of any kind and size into a target, as the assembler reads them; rebuilt when one of them changes:
#
#   tilescope_embed_bytes(TARGET tilescope::kernels::embedded_assets FILES...)    FILES below the project's folder
#
# gives the target   std::vector<std::pair<std::string_view, std::string_view>> tilescope::kernels::embedded_assets();
# which returns path and bytes of each, in the order given.
function(tilescope_embed_bytes target function)
  string(REGEX MATCH "^(.*)::([a-z_]+)$" ignored ${function})
  set(namespace ${CMAKE_MATCH_1})
  set(name ${CMAKE_MATCH_2})
  string(REPLACE "::" "_" stem ${function})
  set(number 0)
  set(assembly "")
  set(symbols "")
  set(rows "")
  set(paths "")
  foreach(file IN LISTS ARGN)
    set(path ${PROJECT_SOURCE_DIR}/${file})
    set(begin ${stem}_${number})
    string(APPEND assembly "__asm__(\".section .rodata\\n.balign 16\\n.global ${begin}\\n${begin}:\\n"
                           ".incbin \\\"${path}\\\"\\n.global ${begin}_end\\n${begin}_end:\\n.byte 0\\n.text\\n\");\n")
    string(APPEND symbols "extern \"C\" const char ${begin}[], ${begin}_end[];\n")
    string(APPEND rows "        {\"${file}\", {${begin}, static_cast<std::size_t>(${begin}_end - ${begin})}},\n")
    list(APPEND paths ${path})
    math(EXPR number "${number} + 1")
  endforeach()
  set(out ${CMAKE_CURRENT_BINARY_DIR}/generated/${stem}.cpp)
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "// Made by cmake/embed.cmake.
#include <string_view>
#include <utility>
#include <vector>

${assembly}${symbols}
namespace ${namespace} {

std::vector<std::pair<std::string_view, std::string_view>> ${name}();
std::vector<std::pair<std::string_view, std::string_view>> ${name}() {
    return {
${rows}    };
}

}  // namespace ${namespace}
")
  set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS "${paths}")
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
