#include "app/draw/gl_program.h"

#include <fmt/format.h>

#include "app/platform/gl.h"

namespace tilescope::draw {

std::string_view embedded_shader(std::string_view path);  // made by cmake/embed.cmake

namespace {

std::string with_includes(std::string_view file) {
    std::string text(embedded_shader(fmt::format("shaders/{}", file)));
    constexpr std::string_view directive = "#include \"";
    for (size_t at; (at = text.find(directive)) != std::string::npos;) {
        size_t name = at + directive.size(), end = text.find('"', name);
        text.replace(at, end + 1 - at, embedded_shader("shaders/" + text.substr(name, end - name)));
    }
    return text;
}

Result<uint32_t> compile(GLenum kind, const std::string& file) {
    const std::string text = with_includes(file);
    const char* source = text.c_str();
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &source, nullptr);
    glCompileShader(shader);
    GLint ok = 0;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (ok) return shader;
    char log[1024] = {};
    glGetShaderInfoLog(shader, sizeof log, nullptr, log);
    glDeleteShader(shader);
    return Error{fmt::format("The OpenGL driver does not take the shader {}: {}", file, log)};
}

}  // namespace

Result<uint32_t> link_program(std::string_view name) {
    auto vertex = compile(GL_VERTEX_SHADER, fmt::format("{}.vert.glsl", name));
    if (!vertex) return vertex.error();
    auto fragment = compile(GL_FRAGMENT_SHADER, fmt::format("{}.frag.glsl", name));
    if (!fragment) return glDeleteShader(*vertex), fragment.error();
    GLuint program = glCreateProgram();
    glAttachShader(program, *vertex);
    glAttachShader(program, *fragment);
    glLinkProgram(program);
    glDeleteShader(*vertex);
    glDeleteShader(*fragment);
    GLint ok = 0;
    glGetProgramiv(program, GL_LINK_STATUS, &ok);
    if (ok) return program;
    char log[1024] = {};
    glGetProgramInfoLog(program, sizeof log, nullptr, log);
    glDeleteProgram(program);
    return Error{fmt::format("The OpenGL driver cannot link the shaders {}: {}", name, log)};
}

}  // namespace tilescope::draw
