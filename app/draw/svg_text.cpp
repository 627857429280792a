#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/svg.h"

namespace tilescope::draw {

namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c == '<' || c == '>' || c == '&')
            out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;";
        else if (static_cast<unsigned char>(c) >= 0x20)
            out += c;
    return out;
}

double area(std::span<const ImVec2> corners) {
    double twice = 0;
    for (size_t i = 0; i < corners.size(); ++i) {
        const ImVec2 a = corners[i], b = corners[(i + 1) % corners.size()];
        twice += double{a.x} * b.y - double{b.x} * a.y;
    }
    return twice / 2;
}

bool is_rect(std::span<const ImVec2> c) {
    return c.size() == 4 && ((c[0].y == c[1].y && c[1].x == c[2].x && c[2].y == c[3].y && c[3].x == c[0].x) ||
                             (c[0].x == c[1].x && c[1].y == c[2].y && c[2].x == c[3].x && c[3].y == c[0].y));
}

}  // namespace

std::string svg_number(double value) {
    const double rounded = std::round(value * 100) / 100;
    return fmt::format("{}", rounded == 0 ? 0.0 : rounded);
}

std::string svg_rect(const Box& box) {
    const double w = double{box.x1} - box.x0, h = double{box.y1} - box.y0;
    return fmt::format("M{} {}h{}v{}h{}z", svg_number(box.x0), svg_number(box.y0), svg_number(w),
                       svg_number(h), svg_number(-w));
}

std::string svg_paint(const char* what, Rgba color) {
    std::string text =
        fmt::format("{}=\"#{:02x}{:02x}{:02x}\"", what, color & 0xFF, color >> 8 & 0xFF, color >> 16 & 0xFF);
    if (color >> 24 != 0xFF) text += fmt::format(" {}-opacity=\"{:.3g}\"", what, (color >> 24) / 255.0);
    return text;
}

bool SvgText::open(Open what, Rgba color) {
    if (open_ == what && color_ == color) return false;
    if (open_ == Open::Path)
        body_ += fmt::format("<path {} d=\"{}\"/>\n", svg_paint("fill", color_), data_);
    else if (open_ == Open::Glyphs)
        body_ += "</g>\n";
    data_.clear();
    open_ = what;
    color_ = color;
    return true;
}

void SvgText::clip(const std::optional<Box>& box) {
    std::string id;
    if (box) id = define(fmt::format("<clipPath id=\"{{}}\"><path d=\"{}\"/></clipPath>", svg_rect(*box)));
    if (id == clip_id_) return;
    flush();
    if (!clip_id_.empty()) body_ += "</g>\n";
    clip_id_ = id;
    if (box) body_ += fmt::format("<g clip-path=\"url(#{})\">\n", id);
}

void SvgText::polygon(std::span<const ImVec2> corners, Rgba fill) {
    // One winding for all, so that neighbours in one path add up and leave no seam.
    const double size = area(corners);
    if (std::abs(size) < 1e-4) return;
    if (is_rect(corners)) {
        const auto [x0, x1] = std::minmax(corners[0].x, corners[2].x);
        const auto [y0, y1] = std::minmax(corners[0].y, corners[2].y);
        return path(svg_rect({x0, y0, x1, y1}), fill);
    }
    std::string data;
    for (size_t i = 0; i < corners.size(); ++i) {
        const ImVec2 at = corners[size > 0 ? i : corners.size() - 1 - i];
        data += (i == 0 ? "M" : " ") + svg_number(at.x) + " " + svg_number(at.y);
    }
    path(data + "z", fill);
}

void SvgText::path(std::string_view data, Rgba fill) {
    if (fill >> 24 == 0 || data.empty()) return;
    open(Open::Path, fill);
    data_ += data;
}

void SvgText::glyph(const std::string& outline, double x, double y, Rgba fill) {
    if (fill >> 24 == 0 || outline.empty()) return;
    if (open(Open::Glyphs, fill)) body_ += fmt::format("<g {}>", svg_paint("fill", fill));
    const auto [at, is_new] = outlines_.try_emplace(outline, outlines_.size());
    if (is_new) definitions_ += fmt::format("<path id=\"g{}\" d=\"{}\"/>\n", at->second, outline);
    body_ += fmt::format("<use href=\"#g{}\" x=\"{}\" y=\"{}\"/>", at->second, svg_number(x), svg_number(y));
}

void SvgText::element(std::string_view xml) {
    flush();
    body_.append(xml).append("\n");
}

std::string SvgText::define(const std::string& xml_with_id_hole) {
    const auto [at, is_new] = defined_.try_emplace(xml_with_id_hole, fmt::format("d{}", defined_.size()));
    if (is_new) definitions_ += fmt::format(fmt::runtime(xml_with_id_hole), at->second) + "\n";
    return at->second;
}

std::string SvgText::document(int width, int height, Rgba ground, std::string_view title) {
    clip(std::nullopt);
    flush();
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
        "<title>{2}</title>\n<defs>\n{3}</defs>\n<path {4} d=\"M0 0h{0}v{1}h-{0}z\"/>\n{5}</svg>\n",
        width, height, escaped(title), definitions_, svg_paint("fill", ground), body_);
}

}  // namespace tilescope::draw
