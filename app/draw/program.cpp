#include "app/draw/program.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/platform/backend.h"
#include "app/platform/gl.h"

namespace tilescope::draw {

std::string_view embedded_shader(std::string_view path);  // made by cmake/embed.cmake

Result<unsigned> link_program(std::string_view name) {
    const GLuint program = glCreateProgram();
    GLint good = 0;
    char log[1024] = {};
    for (const auto& [kind, ending] : {std::pair{GL_VERTEX_SHADER, "vert"}, {GL_FRAGMENT_SHADER, "frag"}}) {
        const std::string file = fmt::format("{}.{}.glsl", name, ending),
                          text = fmt::format("{}{}\n#line 1\n{}", platform::shader_head(),
                                             embedded_shader("shaders/pattern.glsl"),
                                             embedded_shader("shaders/" + file));
        const char* source = text.c_str();
        const GLuint shader = glCreateShader(kind);
        glShaderSource(shader, 1, &source, nullptr);
        glCompileShader(shader);
        glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
        if (!good) glGetShaderInfoLog(shader, sizeof log, nullptr, log);
        glAttachShader(program, shader);
        glDeleteShader(shader);  // as soon as the program lets go of it
        if (good) continue;
        glDeleteProgram(program);
        return Error{fmt::format("The OpenGL driver does not take the shader {}: {}", file, log)};
    }
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &good);
    if (good) return program;
    glGetProgramInfoLog(program, sizeof log, nullptr, log);
    glDeleteProgram(program);
    return Error{fmt::format("The OpenGL driver cannot link the shaders {}: {}", name, log)};
}

}  // namespace tilescope::draw
