# Builds files of any kind and size into a target, so that the program is one file; rebuilt when one of them changes:
#
#   tilescope_embed_bytes(TARGET tilescope::kernels::embedded_assets FILES...)    FILES below the project's folder
#
# gives the target   std::vector<std::pair<std::string_view, std::string_view>> tilescope::kernels::embedded_assets();
# which returns path and bytes of each, in the order given, and
#
#   tilescope_embed(TARGET tilescope::kernels::embedded_file FILES...)
#
# gives it   std::string_view tilescope::kernels::embedded_file(std::string_view path);
# which returns the bytes of the file with that path, or an empty view.
function(tilescope_embed_bytes target function)
  tilescope_write_embedded(${target} ${function} "std::vector<std::pair<std::string_view, std::string_view>>" ""
                           "return {files, files + sizeof(files) / sizeof(*files)};" ${ARGN})
endfunction()

function(tilescope_embed target function)
  tilescope_write_embedded(${target} ${function} "std::string_view" "std::string_view path"
                           "for (const auto& file : files)
        if (file.first == path) return file.second;
    return {};" ${ARGN})
endfunction()

# As the assembler reads them, in a section of its own; a byte of zero follows each. WebAssembly's has data under a symbol that
# has a size.
if(TILESCOPE_WEB)
  set(TILESCOPE_DATA_FLAGS ",\\\"\\\",@")
endif()
function(tilescope_write_embedded target function type parameter body)
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
    string(APPEND assembly "__asm__(\".section .rodata.${begin}${TILESCOPE_DATA_FLAGS}\\n.balign 16\\n.global ${begin}\\n${begin}:\\n"
                           ".incbin \\\"${path}\\\"\\n.global ${begin}_end\\n${begin}_end:\\n.skip 1\\n"
                           ".size ${begin}, ${begin}_end - ${begin}\\n.size ${begin}_end, 1\\n.text\\n\");\n")
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

${type} ${name}(${parameter});
${type} ${name}(${parameter}) {
    static const std::pair<std::string_view, std::string_view> files[] = {
${rows}    };
    ${body}
}

}  // namespace ${namespace}
")
  set_source_files_properties(${out} PROPERTIES OBJECT_DEPENDS "${paths}"
    SKIP_UNITY_BUILD_INCLUSION ON)  # a test may have files of its own in place of them
  target_sources(${target} PRIVATE ${out})
endfunction()
