// The cells of a grid: a look-up of what this pixel's cell is, then its colour, pattern and lines.
//
// A cell's line is the one pixel in which its left or top edge falls, so lines are crisp at any zoom:
//
//   pixel      |  .  |  .  |  .  |  .  |         cell of a pixel = floor((pixel centre - corner) / pitch)
//   cell edge  ^              ^                  a line where the pixel before lies in another cell
uniform usampler2D u_cells;   // ink << 11 | strength << 3 | pattern; one level of the pyramid
uniform vec2 u_corner;        // pixel of the upper left corner of the grid
uniform float u_pitch;        // pixels per texel of this level
uniform ivec2 u_size;         // texels of this level (cols, rows)
uniform sampler2D u_colors;   // inks in its first row, heat in its second
uniform vec4 u_line;          // colour of the lines; alpha 0 where cells are too small for lines
uniform int u_cell_ink;       // Ink::Cell, the ground of weak colours
uniform int u_heat_ink;       // Ink::Heat
uniform float u_scale;        // framebuffer pixels per logical pixel, for the grain of the patterns
in vec2 v_pixel;
out vec4 o_color;

void main() {
    vec2 at = (floor(v_pixel) + 0.5 - u_corner) / u_pitch;
    ivec2 texel = ivec2(floor(at));
    if (any(lessThan(texel, ivec2(0))) || any(greaterThanEqual(texel, u_size))) discard;

    uint cell = texelFetch(u_cells, texel, 0).r;
    int ink = int(cell >> 11), strength = int(cell >> 3 & 255u);
    int pattern = int(cell & 7u);
    vec4 color = ink == u_heat_ink ? texelFetch(u_colors, ivec2(strength, 1), 0)
                                   : mix(texelFetch(u_colors, ivec2(u_cell_ink, 0), 0),
                                         texelFetch(u_colors, ivec2(ink, 0), 0), float(strength) / 255.0);

    float pattern_ink = pattern_cover(pattern, floor(v_pixel), fract(at), u_pitch, u_scale);
    float luma = dot(color.rgb, vec3(0.299, 0.587, 0.114));
    vec3 over = luma > 0.5 ? color.rgb * 0.72 : mix(color.rgb, vec3(1.0), 0.3);
    color.rgb = mix(color.rgb, over, pattern_ink);

    vec2 before = (floor(v_pixel) - 0.5 - u_corner) / u_pitch;
    if (any(notEqual(ivec2(floor(before)), texel))) color.rgb = mix(color.rgb, u_line.rgb, u_line.a);
    o_color = color;
}
