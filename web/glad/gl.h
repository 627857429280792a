// In place of what glad makes: a browser's OpenGL is linked, and there is nothing to load. WebGL 2 is OpenGL ES 3.0, whose
// functions are those of OpenGL 3.3 that the program calls.
#pragma once

#include <GLES3/gl3.h>

inline constexpr int GLAD_GL_VERSION_3_3 = 1;
inline int gladLoadGL(void (*(const char*))()) { return 1; }
