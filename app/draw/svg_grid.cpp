// Grids in an SVG picture, pixel for pixel as shaders/cells.frag.glsl and shaders/marks.*.glsl draw them.
#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "app/draw/svg.h"
#include "app/platform/png.h"

namespace tilescope::draw {

namespace {

// The first pixel whose centre lies at or behind an edge.
float snapped(double edge) { return static_cast<float>(std::ceil(edge - 0.5)); }

struct Look {  // of a cell
    Rgba fill = 0;
    Pattern pattern = Pattern::None;
};

Look look_of(const Palette& palette, Cell cell) {
    const auto ink = static_cast<Ink>(cell.bits >> 11);
    const unsigned strength = cell.bits >> 3 & 255u;
    const Rgba fill = ink == Ink::Heat
                          ? palette.heat[strength]
                          : mix(palette[Ink::Cell], palette[ink], static_cast<float>(strength) / 255.f);
    return {fill, static_cast<Pattern>(cell.bits & 7u)};
}

// The colour of a pattern over a fill.
Rgba over(Rgba fill) {
    const auto part = [&](int shift) { return static_cast<float>(fill >> shift & 0xFF) / 255.f; };
    const float luma = part(0) * 0.299f + part(8) * 0.587f + part(16) * 0.114f;
    return luma > 0.5f ? mix(fill, 0xFF000000u, 0.28f) : mix(fill, 0xFFFFFFFFu, 0.3f);
}

// A paint that repeats: hatch or dots of a colour, on nothing.
std::string tiled_paint(SvgText& svg, Pattern pattern, Rgba color, float scale) {
    const float period = std::max(4.f, std::floor(8 * scale + 0.5f));
    std::string shape;
    if (pattern == Pattern::Hatch) {
        const float w = std::max(1.f, std::floor(scale * 1.5f));
        shape = fmt::format("<path {0} d=\"M0 0h{1}L0 {1}zM{2} 0V{1}L{1} {2}H0z\"/>",
                            svg_paint("fill", color), svg_number(w), svg_number(period));
    } else {
        shape = fmt::format("<circle {0} cx=\"{1}\" cy=\"{1}\" r=\"{2}\"/>", svg_paint("fill", color),
                            svg_number(std::floor(period / 2) + 0.5f), svg_number(scale * 1.22f + 0.3f));
    }
    return svg.define(
        fmt::format("<pattern id=\"{{}}\" width=\"{0}\" height=\"{0}\" "
                    "patternUnits=\"userSpaceOnUse\">{1}</pattern>",
                    svg_number(period), shape));
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

class GridSvg {
public:
    GridSvg(SvgText& svg, const DrawnGrid& grid)
        : svg_(svg),
          grid_(grid),
          view_(grid.view),
          pitch_(std::ldexp(double{grid.view.pitch}, static_cast<int>(grid.level))) {}

    void draw() {
        const Box clip{std::round(view_.clip_min.x), std::round(view_.clip_min.y),
                       std::round(view_.clip_max.x), std::round(view_.clip_max.y)};
        if (clip.empty()) return;
        svg_.clip(clip);
        if (grid_.cells) cells(clip);
        for (const GridMark& mark : grid_.marks) draw_mark(mark);
    }

private:
    float x_of(double col) const { return snapped(view_.x + col * pitch_); }
    float y_of(double row) const { return snapped(view_.y + row * pitch_); }

    struct Run {  // cells [c0, c1) of rows [r0, r1), all alike
        uint32_t c0 = 0, c1 = 0, r0 = 0, r1 = 0;
        uint16_t bits = 0;
    };

    static uint32_t first_in(double at, uint32_t most) {
        return static_cast<uint32_t>(std::clamp(std::floor(at), 0.0, static_cast<double>(most)));
    }

    void cells(const Box& clip) {
        const CellLevel& level = *grid_.cells;
        const uint32_t c0 = first_in((clip.x0 - view_.x) / pitch_, level.cols),
                       c1 = first_in((clip.x1 - view_.x) / pitch_ + 1, level.cols),
                       r0 = first_in((clip.y0 - view_.y) / pitch_, level.rows),
                       r1 = first_in((clip.y1 - view_.y) / pitch_ + 1, level.rows);
        if (c0 >= c1 || r0 >= r1) return;
        const std::vector<Run> runs = runs_of(level, c0, c1, r0, r1);
        if (runs.size() > kMostVectorRuns) return pixels(level, c0, c1, r0, r1);
        std::map<Rgba, std::string> fills;
        std::map<std::pair<Rgba, Pattern>, std::string> patterns;
        for (const Run& run : runs) {
            const Look look = look_of(*grid_.palette, {run.bits});
            const std::string data = svg_rect(box_of(run));
            fills[look.fill] += data;
            if (look.pattern == Pattern::Cross)
                patterns[{over(look.fill), look.pattern}] += crosses(run);
            else if (look.pattern != Pattern::None)
                patterns[{over(look.fill), look.pattern}] += data;
        }
        for (const auto& [fill, data] : fills) svg_.path(data, fill);
        for (const auto& [what, data] : patterns) pattern(what.second, what.first, data);
        lines(c0, c1, r0, r1);
    }

    Box box_of(const Run& run) const { return {x_of(run.c0), y_of(run.r0), x_of(run.c1), y_of(run.r1)}; }

    static std::vector<Run> runs_of(const CellLevel& level, uint32_t c0, uint32_t c1, uint32_t r0,
                                    uint32_t r1) {
        std::vector<Run> done, open;
        for (uint32_t r = r0; r < r1; ++r) {
            std::vector<Run> row;
            const Cell* cells = level.cells.data() + size_t{r} * level.cols;
            for (uint32_t c = c0; c < c1;) {
                uint32_t end = c + 1;
                while (end < c1 && cells[end].bits == cells[c].bits) ++end;
                row.push_back({c, end, r, r + 1, cells[c].bits});
                c = end;
            }
            // A run goes on in the next row where that has the same columns and look.
            size_t at = 0;
            for (Run& run : row) {
                while (at < open.size() && open[at].c0 < run.c0) done.push_back(open[at++]);
                if (at < open.size() && open[at].c0 == run.c0 && open[at].c1 == run.c1 &&
                    open[at].bits == run.bits)
                    run.r0 = open[at++].r0;
            }
            done.insert(done.end(), open.begin() + static_cast<std::ptrdiff_t>(at), open.end());
            open = std::move(row);
        }
        done.insert(done.end(), open.begin(), open.end());
        return done;
    }

    void pattern(Pattern what, Rgba color, const std::string& data) {
        if (what == Pattern::Cross) {
            if (data.empty()) return;
            svg_.element(fmt::format("<path fill=\"none\" {} stroke-width=\"{}\" d=\"{}\"/>",
                                     svg_paint("stroke", color), svg_number(std::max(1.f, grid_.scale)),
                                     data));
            return;
        }
        svg_.element(fmt::format("<path fill=\"url(#{})\" d=\"{}\"/>",
                                 tiled_paint(svg_, what, color, grid_.scale), data));
    }

    // From the corners of each cell; its middle stays free where a value may stand.
    std::string crosses(const Run& run) const {
        if (pitch_ < 4) return "";
        std::string data;
        for (uint32_t r = run.r0; r < run.r1; ++r)
            for (uint32_t c = run.c0; c < run.c1; ++c)
                data += cross({x_of(c), y_of(r), x_of(c + 1.0), y_of(r + 1.0)}, pitch_ >= 20 * grid_.scale);
        return data;
    }

    static std::string cross(const Box& b, bool hole) {
        const auto along = [&](double from, double to, bool falling) {
            const auto y = [&](double t) { return b.y0 + (falling ? t : 1 - t) * (b.y1 - b.y0); };
            const auto x = [&](double t) { return b.x0 + t * (b.x1 - b.x0); };
            return fmt::format("M{} {}L{} {}", svg_number(x(from)), svg_number(y(from)), svg_number(x(to)),
                               svg_number(y(to)));
        };
        std::string data;
        for (const bool falling : {true, false})
            data += hole ? along(0, 0.2, falling) + along(0.8, 1, falling) : along(0, 1, falling);
        return data;
    }

    // One pixel at the left and the top of every cell.
    void lines(uint32_t c0, uint32_t c1, uint32_t r0, uint32_t r1) {
        if (grid_.level > 0) return;
        const float alpha = std::clamp((view_.pitch / grid_.scale - 4.f) / 4.f, 0.f, 1.f);
        if (alpha <= 0) return;
        const float left = x_of(c0), right = x_of(c1), top = y_of(r0), bottom = y_of(r1);
        std::string data;
        for (uint32_t c = c0; c < c1; ++c) data += svg_rect({x_of(c), top, x_of(c) + 1, bottom});
        for (uint32_t r = r0; r < r1; ++r) data += svg_rect({left, y_of(r), right, y_of(r) + 1});
        svg_.path(data, with_alpha((*grid_.palette)[Ink::Panel], alpha));
    }

    // A pixel a cell of the level, embedded.
    void pixels(const CellLevel& level, uint32_t c0, uint32_t c1, uint32_t r0, uint32_t r1) {
        platform::Image image{static_cast<int>(c1 - c0), static_cast<int>(r1 - r0), {}};
        image.rgba.reserve(size_t{4} * (c1 - c0) * (r1 - r0));
        for (uint32_t r = r0; r < r1; ++r)
            for (uint32_t c = c0; c < c1; ++c) {
                const Rgba color = look_of(*grid_.palette, level.cells[size_t{r} * level.cols + c]).fill;
                for (int shift = 0; shift < 32; shift += 8)
                    image.rgba.push_back(static_cast<uint8_t>(color >> shift & 0xFF));
            }
        svg_.element(
            fmt::format("<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
                        "preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
                        "href=\"data:image/png;base64,{}\"/>",
                        svg_number(view_.x + c0 * pitch_), svg_number(view_.y + r0 * pitch_),
                        svg_number((c1 - c0) * pitch_), svg_number((r1 - r0) * pitch_),
                        base64(platform::encode_png(image))));
    }

    void draw_mark(const GridMark& mark) {
        const auto snap = [&](double corner, double cell) { return snapped(corner + cell * view_.pitch); };
        Box box{snap(view_.x, mark.col), snap(view_.y, mark.row), snap(view_.x, double{mark.col} + mark.cols),
                snap(view_.y, double{mark.row} + mark.rows)};
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
        const float e = framed ? mark.edge_px : 0;
        const Box inside{box.x0 + e, box.y0 + e, box.x1 - e, box.y1 - e};
        svg_.path(svg_rect(framed && !mark.dashed ? inside : box), mark.fill);
        if (mark.pattern == Pattern::Cross)
            pattern(mark.pattern, mark.edge, cross(box, false));
        else if (mark.pattern != Pattern::None)
            pattern(mark.pattern, mark.edge, svg_rect(box));
        if (!framed) return;
        if (!mark.dashed) {
            for (const Box& side : {Box{box.x0, box.y0, box.x1, inside.y0},
                                    {box.x0, inside.y1, box.x1, box.y1},
                                    {box.x0, inside.y0, inside.x0, inside.y1},
                                    {inside.x1, inside.y0, box.x1, inside.y1}})
                svg_.rect(side, mark.edge);
            return;
        }
        const Box middle{box.x0 + e / 2, box.y0 + e / 2, box.x1 - e / 2, box.y1 - e / 2};
        svg_.element(
            fmt::format("<path fill=\"none\" {} stroke-width=\"{}\" stroke-dasharray=\"{} {}\" "
                        "d=\"{}\"/>",
                        svg_paint("stroke", mark.edge), svg_number(e), svg_number(5 * grid_.scale),
                        svg_number(3 * grid_.scale), svg_rect(middle)));
    }

    SvgText& svg_;
    const DrawnGrid& grid_;
    const GridView& view_;
    double pitch_;  // pixels a cell of this level
};

}  // namespace

void svg_grid(SvgText& svg, const DrawnGrid& grid) { GridSvg(svg, grid).draw(); }

}  // namespace tilescope::draw
