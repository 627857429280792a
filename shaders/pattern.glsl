// How much of a pixel a pattern covers, 0 or 1: a sign beside the colour.
//   1 hatch   diagonal lines every 6 logical pixels, running on from cell to cell
//   2 dots    one every 6 logical pixels
//   3 cross   from corner to corner of the cell, fading in with its size
float pattern_cover(int pattern, vec2 pixel, vec2 in_cell, float pitch, float scale) {
    float period = max(3.0, floor(6.0 * scale + 0.5));
    if (pattern == 1) return mod(pixel.x + pixel.y, period) < max(1.0, floor(scale * 1.5)) ? 1.0 : 0.0;
    if (pattern == 2) {
        vec2 d = mod(pixel, period) - floor(period * 0.5);
        return dot(d, d) <= scale * scale * 1.5 ? 1.0 : 0.0;
    }
    if (pattern == 3 && pitch >= 4.0) {
        float width = max(1.0, scale) / pitch;
        float a = abs(in_cell.x - in_cell.y), b = abs(in_cell.x + in_cell.y - 1.0);
        return min(a, b) < width ? 1.0 : 0.0;
    }
    return 0.0;
}
