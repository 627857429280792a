// One quad over the visible part of a grid, in framebuffer pixels, y down.
uniform vec4 u_rect;      // min x, min y, max x, max y
uniform vec2 u_canvas;    // framebuffer size
out vec2 v_pixel;

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    v_pixel = mix(u_rect.xy, u_rect.zw, corner);
    vec2 unit = v_pixel / u_canvas;
    gl_Position = vec4(unit.x * 2.0 - 1.0, 1.0 - unit.y * 2.0, 0.0, 1.0);
}
