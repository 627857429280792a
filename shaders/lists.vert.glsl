// The triangles of ImGui's draw lists; positions are framebuffer pixels, y down.
uniform vec2 u_scale;                 // 2 / width, -2 / height
layout(location = 0) in vec2 a_position;
layout(location = 1) in vec2 a_texel;
layout(location = 2) in vec4 a_color;
out vec2 v_texel;
out vec4 v_color;

void main() {
    v_texel = a_texel;
    v_color = a_color;
    gl_Position = vec4(a_position * u_scale + vec2(-1.0, 1.0), 0.0, 1.0);
}
