// A filled and framed rectangle of cells; the frame lies inside its border and can be dashed.
uniform float u_scale;
in vec2 v_pixel;
flat in vec4 v_box;
flat in vec4 v_fill;
flat in vec4 v_edge;
flat in vec3 v_style;
out vec4 o_color;

void main() {
    vec2 pixel = floor(v_pixel);
    vec2 inside = min(pixel - v_box.xy, v_box.zw - 1.0 - pixel);   // whole pixels from the nearest border
    vec4 color = v_fill;
    vec2 size = v_box.zw - v_box.xy;
    float cover = pattern_cover(int(v_style.z), pixel, (pixel + 0.5 - v_box.xy) / size, min(size.x, size.y), u_scale);
    if (cover > 0.0) color = vec4(mix(color.rgb, v_edge.rgb, v_edge.a), max(color.a, v_edge.a));

    if (v_edge.a > 0.0 && min(inside.x, inside.y) < v_style.x) {
        float along = inside.x < v_style.x && inside.x <= inside.y ? pixel.y - v_box.y : pixel.x - v_box.x;
        bool gap = v_style.y > 0.5 && mod(along, 8.0 * u_scale) >= 5.0 * u_scale;
        if (!gap) color = v_edge;
    }
    if (color.a <= 0.0) discard;
    o_color = color;
}
