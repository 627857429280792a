// Grids in an SVG picture, pixel for pixel as shaders/cells.frag.glsl and shaders/marks.*.glsl draw them.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "app/draw/svg.h"
#include "app/platform/png.h"

namespace tilescope::draw {

namespace {

constexpr size_t kMostVectorRuns = 20'000;  // more runs of cells than this are drawn as a picture of pixels

// The first pixel whose centre lies at or behind an edge.
float snapped(double edge) { return static_cast<float>(std::ceil(edge - 0.5)); }

Rgba fill_of(const Palette& palette, Cell cell) {
    const auto ink = static_cast<Ink>(cell.bits >> 11);
    const unsigned strength = cell.bits >> 3 & 255u;
    return ink == Ink::Heat ? palette.heat[strength]
                            : mix(palette[Ink::Cell], palette[ink], static_cast<float>(strength) / 255.f);
}

// The colour of a pattern over a fill.
Rgba over(Rgba fill) {
    const auto part = [&](int shift) { return static_cast<float>(fill >> shift & 0xFF) / 255.f; };
    const float luma = part(0) * 0.299f + part(8) * 0.587f + part(16) * 0.114f;
    return luma > 0.5f ? mix(fill, 0xFF000000u, 0.28f) : mix(fill, 0xFFFFFFFFu, 0.3f);
}

std::string base64(std::string_view bytes) {
    constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (size_t i = 0; i < bytes.size(); i += 3) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; ++k)
            bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (size_t k = 0; k < 4; ++k)
            text += i + k <= bytes.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

// From corner to corner; hole: the middle stays free, where a value may stand.
std::string cross(const Box& b, bool hole) {
    std::string data;
    const auto along = [&](double from, double to, bool falling) {
        const auto x = [&](double t) { return svg_number(b.x0 + t * (b.x1 - b.x0)); };
        const auto y = [&](double t) { return svg_number(b.y0 + (falling ? t : 1 - t) * (b.y1 - b.y0)); };
        data += fmt::format("M{} {}L{} {}", x(from), y(from), x(to), y(to));
    };
    for (const bool falling : {true, false}) {
        along(0, hole ? 0.2 : 1, falling);
        if (hole) along(0.8, 1, falling);
    }
    return data;
}

struct Run {  // of cells that are all alike
    CellRect cells;
    Cell look;
};

std::vector<Run> runs_of(const CellLevel& level, const CellRect& part) {
    std::vector<Run> done, open;
    for (uint32_t r = part.row0; r < part.row1; ++r) {
        std::vector<Run> row;
        const Cell* cells = level.cells.data() + size_t{r} * level.cols;
        for (uint32_t c = part.col0, end; c < part.col1; c = end) {
            for (end = c + 1; end < part.col1 && cells[end] == cells[c];) ++end;
            row.push_back({{r, r + 1, c, end}, cells[c]});
        }
        // A run goes on in the next row where that has the same columns and look.
        auto above = open.begin();
        for (Run& run : row) {
            while (above != open.end() && above->cells.col0 < run.cells.col0) done.push_back(*above++);
            if (above != open.end() && above->cells.col0 == run.cells.col0 &&
                above->cells.col1 == run.cells.col1 && above->look == run.look)
                run.cells.row0 = (above++)->cells.row0;
        }
        done.insert(done.end(), above, open.end());
        open = std::move(row);
    }
    done.insert(done.end(), open.begin(), open.end());
    return done;
}

struct GridSvg {
    SvgText& svg;
    const DrawnGrid& grid;
    const GridView& view = grid.view;
    const double pitch =
        std::ldexp(double{view.pitch}, static_cast<int>(grid.level));  // of this level's cells

    float x_of(double col) const { return snapped(view.x + col * pitch); }
    float y_of(double row) const { return snapped(view.y + row * pitch); }
    Box box_of(const CellRect& c) const { return {x_of(c.col0), y_of(c.row0), x_of(c.col1), y_of(c.row1)}; }

    void cells(const CellLevel& level, const Box& clip) {
        const auto first = [](double at, uint32_t most) {
            return static_cast<uint32_t>(std::clamp(std::floor(at), 0.0, static_cast<double>(most)));
        };
        const CellRect part{
            first((clip.y0 - view.y) / pitch, level.rows), first((clip.y1 - view.y) / pitch + 1, level.rows),
            first((clip.x0 - view.x) / pitch, level.cols), first((clip.x1 - view.x) / pitch + 1, level.cols)};
        if (part.empty()) return;
        const std::vector<Run> runs = runs_of(level, part);
        if (runs.size() > kMostVectorRuns) return pixels(level, part);
        std::map<Rgba, std::string> fills;
        std::map<std::pair<Rgba, Pattern>, std::string> patterns;
        for (const auto& [rect, look] : runs) {
            const Rgba fill = fill_of(*grid.palette, look);
            const auto what = static_cast<Pattern>(look.bits & 7u);
            fills[fill] += svg_rect(box_of(rect));
            if (what != Pattern::None)
                patterns[{over(fill), what}] +=
                    what == Pattern::Cross ? crosses(rect) : svg_rect(box_of(rect));
        }
        for (const auto& [fill, data] : fills) svg.path(data, fill);
        for (const auto& [what, data] : patterns) pattern(what.second, what.first, data);
        if (grid.level == 0) lines(part);
    }

    std::string crosses(const CellRect& cells) const {
        std::string data;
        for (uint32_t r = cells.row0; r < cells.row1 && pitch >= 4; ++r)
            for (uint32_t c = cells.col0; c < cells.col1; ++c)
                data += cross(box_of({r, r + 1, c, c + 1}), pitch >= 20 * grid.scale);
        return data;
    }

    // data: crosses to be drawn, or the outline of what is hatched or dotted.
    void pattern(Pattern what, Rgba color, const std::string& data) {
        if (data.empty()) return;
        if (what == Pattern::Cross)
            return svg.element(fmt::format("<path fill=\"none\" {} stroke-width=\"{}\" d=\"{}\"/>",
                                           svg_paint("stroke", color), svg_number(std::max(1.f, grid.scale)),
                                           data));
        const float period = std::max(4.f, std::floor(8 * grid.scale + 0.5f));
        const std::string paint = svg_paint("fill", color), size = svg_number(period);
        const std::string shape =
            what == Pattern::Hatch
                ? fmt::format("<path {0} d=\"M0 0h{1}L0 {1}zM{2} 0V{1}L{1} {2}H0z\"/>", paint,
                              svg_number(std::max(1.f, std::floor(grid.scale * 1.5f))), size)
                : fmt::format("<circle {0} cx=\"{1}\" cy=\"{1}\" r=\"{2}\"/>", paint,
                              svg_number(std::floor(period / 2) + 0.5f),
                              svg_number(grid.scale * 1.22f + 0.3f));
        const std::string id =
            svg.define(fmt::format("<pattern id=\"{{}}\" width=\"{0}\" height=\"{0}\" "
                                   "patternUnits=\"userSpaceOnUse\">{1}</pattern>",
                                   size, shape));
        svg.element(fmt::format("<path fill=\"url(#{})\" d=\"{}\"/>", id, data));
    }

    // One pixel at the left and the top of every cell.
    void lines(const CellRect& part) {
        const float alpha = line_strength(view.pitch / grid.scale);
        if (alpha <= 0) return;
        const Box all = box_of(part);
        std::string data;
        for (uint32_t c = part.col0; c < part.col1; ++c)
            data += svg_rect({x_of(c), all.y0, x_of(c) + 1, all.y1});
        for (uint32_t r = part.row0; r < part.row1; ++r)
            data += svg_rect({all.x0, y_of(r), all.x1, y_of(r) + 1});
        svg.path(data, with_alpha((*grid.palette)[Ink::Panel], alpha));
    }

    // A pixel a cell of the level, embedded.
    void pixels(const CellLevel& level, const CellRect& part) {
        platform::Image image{static_cast<int>(part.cols()), static_cast<int>(part.rows()), {}};
        image.rgba.reserve(size_t{4} * part.cols() * part.rows());
        for (uint32_t r = part.row0; r < part.row1; ++r)
            for (uint32_t c = part.col0; c < part.col1; ++c)
                for (int shift = 0; shift < 32; shift += 8)
                    image.rgba.push_back(static_cast<uint8_t>(
                        fill_of(*grid.palette, level.cells[size_t{r} * level.cols + c]) >> shift & 0xFF));
        svg.element(
            fmt::format("<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
                        "preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
                        "href=\"data:image/png;base64,{}\"/>",
                        svg_number(view.x + part.col0 * pitch), svg_number(view.y + part.row0 * pitch),
                        svg_number(part.cols() * pitch), svg_number(part.rows() * pitch),
                        base64(platform::encode_png(image))));
    }

    void mark(const GridMark& mark) {
        const auto snap = [&](double corner, double cell) { return snapped(corner + cell * view.pitch); };
        Box box{snap(view.x, mark.col), snap(view.y, mark.row), snap(view.x, double{mark.col} + mark.cols),
                snap(view.y, double{mark.row} + mark.rows)};
        box.x1 = std::max(box.x1, box.x0 + 1);
        box.y1 = std::max(box.y1, box.y0 + 1);
        const bool framed = mark.edge >> 24 != 0;
        if (framed) {  // a small cell's frame lies around it
            const auto grow = [&](float& low, float& high) {
                const float by = std::ceil(std::max(0.f, mark.edge_px * 2 + 3 - (high - low)) / 2);
                low -= by, high += by;
            };
            grow(box.x0, box.x1);
            grow(box.y0, box.y1);
        }
        const auto inset = [&](float by) { return Box{box.x0 + by, box.y0 + by, box.x1 - by, box.y1 - by}; };
        const Box inside = inset(framed ? mark.edge_px : 0);
        svg.path(svg_rect(framed && !mark.dashed ? inside : box), mark.fill);
        if (mark.pattern != Pattern::None)
            pattern(mark.pattern, mark.edge,
                    mark.pattern == Pattern::Cross ? cross(box, false) : svg_rect(box));
        if (framed && mark.dashed)
            svg.element(fmt::format(
                "<path fill=\"none\" {} stroke-width=\"{}\" stroke-dasharray=\"{} {}\" d=\"{}\"/>",
                svg_paint("stroke", mark.edge), svg_number(mark.edge_px), svg_number(5 * grid.scale),
                svg_number(3 * grid.scale), svg_rect(inset(mark.edge_px / 2))));
        else if (framed)
            for (const Box& side : {Box{box.x0, box.y0, box.x1, inside.y0},
                                    {box.x0, inside.y1, box.x1, box.y1},
                                    {box.x0, inside.y0, inside.x0, inside.y1},
                                    {inside.x1, inside.y0, box.x1, inside.y1}})
                svg.path(svg_rect(side), mark.edge);
    }
};

}  // namespace

void svg_grid(SvgText& svg, const DrawnGrid& grid) {
    const ImVec2 low = grid.view.clip_min, high = grid.view.clip_max;
    const Box clip{std::round(low.x), std::round(low.y), std::round(high.x), std::round(high.y)};
    if (clip.empty()) return;
    svg.clip(clip);
    GridSvg in{svg, grid};
    if (grid.cells) in.cells(*grid.cells, clip);
    for (const GridMark& mark : grid.marks) in.mark(mark);
}

}  // namespace tilescope::draw
