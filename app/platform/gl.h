// OpenGL 3.3 core, opened at run time by the loader that glad makes (cmake/desktop.cmake); a page has OpenGL
// ES 3.0 linked (web/glad). glad's first generation, which Ubuntu 22.04 has, names things otherwise.
#pragma once

#if TILESCOPE_GLAD_GENERATION == 1
#include <glad/glad.h>
#else
#include <glad/gl.h>
#endif

namespace tilescope::platform {

// Opens OpenGL by asking `find` for its functions; a context must be current. False: it is older than 3.3.
inline bool load_opengl(void (*find(const char*))()) {
#if TILESCOPE_GLAD_GENERATION == 1
    return gladLoadGLLoader(reinterpret_cast<GLADloadproc>(find)) != 0 && GLAD_GL_VERSION_3_3 != 0;
#else
    return gladLoadGL(find) != 0 && GLAD_GL_VERSION_3_3 != 0;
#endif
}

}  // namespace tilescope::platform
