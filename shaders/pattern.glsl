// Stands before every shader.
//
// How much of a pixel a pattern covers, 0 or 1: a sign beside the colour.
//   1 hatch   diagonal lines every 8 logical pixels, running on from cell to cell
//   2 dots    one every 8 logical pixels
//   3 cross   from the corners of the cell; in a cell large enough for a value only 3 logical pixels, or a
//             fifth of the cell
float pattern_cover(int pattern, vec2 pixel, vec2 in_cell, float pitch, float scale) {
    float period = max(4.0, floor(8.0 * scale + 0.5));
    if (pattern == 1) return mod(pixel.x + pixel.y, period) < max(1.0, floor(scale * 1.5)) ? 1.0 : 0.0;
    if (pattern == 2) {
        vec2 d = mod(pixel, period) - floor(period * 0.5);
        return dot(d, d) <= scale * scale * 1.5 ? 1.0 : 0.0;
    }
    if (pattern == 3 && pitch >= 4.0) {
        float width = max(1.0, scale) / pitch;
        float a = abs(in_cell.x - in_cell.y), b = abs(in_cell.x + in_cell.y - 1.0);
        float from_middle = max(abs(in_cell.x - 0.5), abs(in_cell.y - 0.5));
        bool value_there = pitch >= 10.0 * scale && from_middle < min(0.3, 0.5 - 3.0 * scale / pitch);
        return min(a, b) < width && !value_there ? 1.0 : 0.0;
    }
    return 0.0;
}
