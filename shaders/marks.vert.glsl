// Rectangles of cells on top of a grid, one instance each; corners snap to the pixels that the cells' edges snap to.
uniform vec2 u_canvas;
uniform vec2 u_corner;
uniform float u_pitch;
layout(location = 0) in vec4 a_rect;      // row, col, rows, cols
layout(location = 1) in vec4 a_fill;
layout(location = 2) in vec4 a_edge;
layout(location = 3) in float a_edge_px;
layout(location = 4) in float a_dashed;
layout(location = 5) in float a_pattern;
out vec2 v_pixel;
flat out vec4 v_box;                      // min x, min y, max x, max y; pixels
flat out vec4 v_fill;
flat out vec4 v_edge;
flat out vec3 v_style;                    // edge pixels, dashed, pattern

void main() {
    // The first pixel whose centre lies in the cell, and the first behind it; at least one pixel wide.
    vec2 low = ceil(u_corner + a_rect.yx * u_pitch - 0.5);
    vec2 high = max(ceil(u_corner + (a_rect.yx + a_rect.wz) * u_pitch - 0.5), low + 1.0);
    // A small cell's frame would hide it: such a frame lies around the cells instead of inside them.
    if (a_edge.a > 0.0) {
        vec2 short_by = max(vec2(0.0), a_edge_px * 2.0 + 3.0 - (high - low));
        low -= ceil(short_by * 0.5);
        high += ceil(short_by * 0.5);
    }
    v_box = vec4(low, high);
    v_fill = a_fill;
    v_edge = a_edge;
    v_style = vec3(a_edge_px, a_dashed, a_pattern);
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    v_pixel = mix(low, high, corner);
    vec2 unit = v_pixel / u_canvas;
    gl_Position = vec4(unit.x * 2.0 - 1.0, 1.0 - unit.y * 2.0, 0.0, 1.0);
}
