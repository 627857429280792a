// For the tests of figures: all texts of a frame, read as a viewer reads them, and what is wrong with them.
// Tables first, cells by their place; then sentences, by rules; what neither claims and has a digit is wrong
// as well.
#pragma once

#include <bit>
#include <unordered_map>

#include "imgui.h"
#include "tests/gl/figures_words.h"

namespace tilescope::app {

// --- the page: all texts of a frame, and what is wrong with them

using Texts = std::vector<draw::Written>;

// What is drawn without being recorded as text, as values in cells are: read back from the glyphs of the
// frame that was built last, word by word. From ImGui 1.92 on a font has no one set of glyphs to look them up
// in: the tests of figures are then skipped.
#if IMGUI_VERSION_NUM >= 19200
inline constexpr bool kReadsGlyphs = false;
inline Texts unrecorded(const draw::Inspection&) { return {}; }
#else
inline constexpr bool kReadsGlyphs = true;
inline Texts unrecorded(const draw::Inspection& seen) {
    // By where a glyph stands in the texture.
    const auto key = [](float u, float v) {
        return uint64_t{std::bit_cast<uint32_t>(u)} << 32 | std::bit_cast<uint32_t>(v);
    };
    std::unordered_map<uint64_t, std::pair<const ImFont*, const ImFontGlyph*>> known;
    for (const ImFont* font : ImGui::GetIO().Fonts->Fonts)
        for (const ImFontGlyph& glyph : font->Glyphs)
            if (glyph.Visible) known[key(glyph.U0, glyph.V0)] = {font, &glyph};
    Texts texts;
    const ImFont* last = nullptr;
    float next = 0;  // where the next glyph of the text stands
    const ImDrawData& data = *ImGui::GetDrawData();
    for (int i = 0; i < data.CmdListsCount; ++i)
        for (const ImDrawCmd& cmd : data.CmdLists[i]->CmdBuffer)
            for (unsigned at = 0; at + 6 <= cmd.ElemCount; at += 3) {
                const ImDrawIdx* index = &data.CmdLists[i]->IdxBuffer[static_cast<int>(cmd.IdxOffset + at)];
                if (index[1] != index[0] + 1 || index[3] != index[0] || index[5] != index[0] + 3) continue;
                const auto& corner = data.CmdLists[i]->VtxBuffer[static_cast<int>(cmd.VtxOffset + index[0])];
                const auto found = known.find(key(corner.uv.x, corner.uv.y));
                if (found == known.end()) continue;
                const auto& [font, glyph] = found->second;
                const ImVec2 pen{corner.pos.x - glyph->X0, corner.pos.y - glyph->Y0};
                const float gap = pen.x - next;
                const bool goes_on = font == last && !texts.empty() &&
                                     std::abs(pen.y - texts.back().min.y) < 0.1f && std::abs(gap) < 0.6f;
                if (!goes_on) texts.push_back({"", pen, pen, false, data.CmdLists[i]});
                if (glyph->Codepoint == 0x2212)
                    texts.back().text += "−";
                else
                    texts.back().text += glyph->Codepoint < 128 ? static_cast<char>(glyph->Codepoint) : '?';
                next = pen.x + glyph->AdvanceX;
                texts.back().max = {next, pen.y + font->FontSize};
                last = font;
                at += 3;
            }
    std::erase_if(texts, [&](const draw::Written& text) {
        return std::ranges::any_of(seen.texts, [&](const draw::Written& of) {
            return std::abs(of.min.y - text.min.y) < 1.5f && text.min.x > of.min.x - 1.5f &&
                   text.max.x < of.max.x + 1.5f;
        });
    });
    return texts;
}
#endif
#define SKIP_WITHOUT_GLYPHS() \
    SKIP_WITHOUT_OPENGL();    \
    if (!kReadsGlyphs) GTEST_SKIP() << "the glyphs of this ImGui are not read"

class Page {
public:
    Page(const draw::Inspection& seen, const Scene& scene)
        : seen_(seen), texts_(seen.texts), s_(scene), claimed_(seen.texts.size(), false) {}

    // Of what a part of the frame says, where it speaks of another recording.
    using Side = std::function<const Scene&(const draw::Written&)>;
    Page(const draw::Inspection& seen, const Scene& scene, Side side)
        : seen_(seen),
          texts_(seen.texts),
          s_(scene),
          side_(std::move(side)),
          claimed_(seen.texts.size(), false) {}

    // tables: more of them, of a screen of its own.
    std::vector<std::string> complaints(const std::vector<Rule>& rules,
                                        const std::function<void(Page&)>& tables = nullptr) {
        if (tables) tables(*this);
        source();
        sums();
        lane_axes();
        clock_axis();
        warp_rows();
        phase_names();
        barrier_rows();
        headings();
        places();
        times();
        provenance();
        cells();
        for (size_t i = 0; i < texts_.size(); ++i) sentence(i, rules);
        for (const auto& [thing, said] : numbers_)
            if (said.size() > 1) {
                std::string all;
                for (const std::string& one : said) all += " " + one;
                complain(fmt::format("two numbers for one thing, {}:{}", thing, all));
            }
        return complaints_;
    }

    void complain(const std::string& what) { complaints_.push_back(what); }
    void claim(size_t i) { claimed_[i] = true; }
    size_t size() const { return texts_.size(); }
    const draw::Written& at(size_t i) const { return texts_[i]; }
    const std::string& text(size_t i) const { return texts_[i].text; }
    bool number(size_t i) const {
        return i < texts_.size() && !text(i).empty() &&
               std::ranges::all_of(text(i), [](char c) { return test::is_digit(c) || c == ','; });
    }
    // The text is a number with that value.
    void cell(size_t i, const Figure& right, const std::string& what) {
        claimed_[i] = true;
        if (const std::string no = test::disagrees(text(i), right); !no.empty())
            complain(fmt::format("{}: {}", what, no));
        if (!right.key.empty()) numbers_[right.key].insert(test::without_groups(text(i)));
    }
    // The panel that a text lies in.
    ImVec4 panel(size_t i) const {
        ImVec4 best{0, 0, 1e9f, 1e9f};
        for (const ImVec4& of : seen_.surfaces)
            if (texts_[i].min.x >= of.x && texts_[i].max.x <= of.z && texts_[i].min.y >= of.y &&
                texts_[i].min.y <= of.w &&
                (of.z - of.x) * (of.w - of.y) < (best.z - best.x) * (best.w - best.y))
                best = of;
        return best;
    }
    static bool same(const ImVec4& a, const ImVec4& b) {
        return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
    }
    bool one_row(size_t i, size_t j) const { return std::abs(texts_[i].min.y - texts_[j].min.y) < 4; }

    const Scene& scene_of(size_t i) const { return side_ ? side_(texts_[i]) : s_; }

private:
    // Line numbers, lines of the source, and how often each was reached; the PTX of the step.
    void source() {
        const trace::Meta& meta = s_.trace().meta;
        const std::vector<std::string> lines = lines_of(meta.source.empty() ? meta.ptx : meta.source);
        auto title = std::ranges::find(texts_, meta.source.empty() ? meta.ptx_name : meta.source_name,
                                       &draw::Written::text);
        if (s_.state.session.lecture)  // without its name: the lines alone
            title = std::ranges::find_if(texts_, [&](const draw::Written& text) {
                const std::string part = trimmed(text.text);
                return part.size() > 6 && text.text.starts_with("  ") &&
                       std::ranges::any_of(
                           lines, [&](const std::string& of) { return of.find(part) != std::string::npos; });
            });
        if (title == texts_.end()) return;
        const size_t head =
            s_.state.session.lecture ? texts_.size() : static_cast<size_t>(title - texts_.begin());
        const ImVec4 box = panel(static_cast<size_t>(title - texts_.begin()));
        if (head < texts_.size()) claimed_[head] = true;
        const std::vector<std::string> ptx = lines_of(meta.ptx);
        const std::string& instruction = ptx[s_.trace().sites[s_.r().site].ptx_line - 1];
        std::vector<bool> sites(lines.size() + 1, false);
        for (const ptx::Site& site : s_.trace().sites)
            if (const uint32_t at = meta.source.empty() ? site.ptx_line : site.line; at <= lines.size())
                sites[at] = true;
        size_t line = 0;  // the latest whose number was read
        for (size_t i = 0; i < texts_.size(); ++i) {
            if (!same(panel(i), box) || i == head) continue;
            const bool left = texts_[i].min.x < box.x + 12 + 0.16f * (box.z - box.x);
            if (number(i) && left) {
                const size_t before = std::exchange(line, std::stoul(text(i)));
                claimed_[i] = true;
                if (line < 1 || line > lines.size() || (before > 0 && line != before + 1))
                    return complain("a source line " + text(i));
                const bool has_text = i > 0 && one_row(i - 1, i) && same(panel(i - 1), box);
                if (has_text && lines[line - 1].find(trimmed(text(i - 1))) == std::string::npos)
                    complain(fmt::format("line {} is not '{}'", line, text(i - 1)));
                const bool hit =
                    i + 1 < texts_.size() && number(i + 1) && one_row(i, i + 1) && same(panel(i + 1), box);
                if (hit != sites[line]) complain(fmt::format("line {} has a count, or lacks it", line));
                if (hit)
                    cell(i + 1, hits(s_, s_.cursor.step, static_cast<uint32_t>(line)),
                         fmt::format("requests of line {}", line));
            } else if (!claimed_[i]) {
                const std::string part = trimmed(text(i));
                claimed_[i] = instruction.find(part) != std::string::npos ||
                              std::ranges::any_of(lines, [&](const std::string& of) {
                                  return of.find(part) != std::string::npos;
                              });
            }
        }
    }
    static std::vector<std::string> lines_of(const std::string& text) {
        std::vector<std::string> lines{""};
        for (const char c : text)
            if (c == '\n')
                lines.emplace_back();
            else if (c != '\r')
                lines.back() += c;
        return lines;
    }
    static std::string trimmed(const std::string& text) {
        const size_t from = std::min(text.find_first_not_of(" \t"), text.size());
        return text.substr(from, text.find_last_not_of(" \t") + 1 - from);
    }

    // Each warp has a row of its own on the timeline.
    void warp_rows() {
        std::map<std::pair<float, std::string>, float> rows;
        for (size_t i = 0; i < texts_.size(); ++i) {
            Captures c;
            if (!test::match("warp #", text(i), c)) continue;
            const auto [row, first] = rows.try_emplace({texts_[i].min.x, text(i)}, texts_[i].min.y);
            if (!first && row->second != texts_[i].min.y) complain("two rows of " + text(i));
        }
    }

    // Four kinds of requests, their cost and the least it could be, of the block so far and of the recording.
    void sums() {
        std::string of;
        constexpr std::pair<const char*, twin::Kind> kRows[] = {{"global loads", kGlobalLoad},
                                                                {"shared stores", kSharedStore},
                                                                {"shared loads", kSharedLoad},
                                                                {"global stores", kGlobalStore}};
        for (size_t i = 0; i + 3 < texts_.size(); ++i) {
            if (text(i) == "block so far" || text(i) == "whole recording") of = text(i);
            for (const auto& [name, kind] : kRows) {
                if (of.empty() || text(i) != name) continue;
                const Tally sum = of == "block so far" ? s_.f.so_far(kind, s_.cursor.block, s_.cursor.step)
                                                       : s_.f.whole(kind);
                const std::string what = fmt::format("{}, {}", name, of);
                cell(i + 1, {sum.requests, what + ": requests"}, what);
                cell(i + 2, {sum.cost, what + ": cost"}, what);
                cell(i + 3, {sum.least, what + ": least"}, what);
            }
        }
    }

    // 0 8 16 24 31 above the lanes and below the banks.
    void lane_axes() {
        constexpr const char* kNumbers[] = {"0", "8", "16", "24", "31"};
        for (size_t i = 0; i + 4 < texts_.size(); ++i) {
            bool all = true;
            for (size_t j = 0; j < 5; ++j) all = all && text(i + j) == kNumbers[j] && one_row(i, i + j);
            for (size_t j = 0; all && j < 5; ++j) claimed_[i + j] = true;
        }
    }

    // Round numbers in ascending order at equal distances, none beyond the block's last clock.
    void clock_axis() {
        for (size_t i = 0; i < texts_.size(); ++i) {
            if (text(i) != "clocks" || !s_.clocked()) continue;
            uint64_t before = 0, count = 0;
            for (size_t j = i + 1; number(j) && one_row(i, j); ++j, ++count) {
                const uint64_t at = std::stoull(test::without_groups(text(j)));
                claimed_[j] = true;
                if ((count > 0 && at <= before) || at > s_.clock(s_.steps() - 1))
                    complain("the clocks' axis says " + text(j));
                before = at;
            }
        }
    }

    // Phases have their names below their steps, in lecture mode their numbers alone, in ascending order.
    void phase_names() {
        if (side_) return;
        ImVec4 lowest{};
        for (const ImVec4& of : seen_.surfaces)
            if (of.w > lowest.w) lowest = of;
        int64_t before = -1;
        for (size_t i = 0; i < texts_.size(); ++i) {
            Captures c;
            const bool named = test::match("phase #", text(i), c);
            if ((!named && !(s_.state.session.lecture && number(i))) || !same(panel(i), lowest)) continue;
            claimed_[i] = true;
            const int64_t phase = std::stoll(named ? c[0] : text(i));
            if (phase <= before || !phase_there(s_, std::to_string(phase)))
                complain("there is no phase " + text(i));
            before = phase;
        }
    }

    // How long each warp stood at a barrier.
    void barrier_rows() {
        if (s_.r().kind != kBarrier || !s_.clocked()) return;
        for (size_t i = 0; i + 1 < texts_.size(); ++i) {
            Captures c;
            const bool named = test::match("warp #", text(i), c);
            if (!named || !number(i + 1) || !one_row(i, i + 1)) continue;
            const uint32_t warp = static_cast<uint32_t>(std::stoul(c[0]));
            for (uint32_t step = 0; step < s_.steps(); ++step) {
                const Request& q = s_.f.at(s_.cursor.block, step);
                if (q.kind != kBarrier || q.warp != warp ||
                    s_.f.passed(s_.cursor.block, step) != s_.f.passed(s_.cursor.block, s_.cursor.step))
                    continue;
                claimed_[i] = true;
                cell(i + 1, passage_of(s_).opens - s_.clock(step),
                     fmt::format("clocks that warp {} waits", warp));
            }
        }
    }

    // "2 × 4 × 4  z = 1  float": which slice of an array is shown.
    bool is_slice(size_t i, const Array& array, const std::string& extents, const std::string& behind) const {
        Captures c;
        const bool said = test::match(extents + "  z = #", text(i), c) ||
                          test::match(extents + "  z = #  " + behind, text(i), c);
        return said && array.rank > 2 && std::stoul(c[0]) < array.slices;
    }
    // "2000  1e+10 + what the cells show": what the values of an array have in common.
    bool is_common(size_t i, const Array& array, const std::string& extents) const {
        constexpr std::string_view kShow = " + what the cells show";
        if (!text(i).starts_with(extents + "  ") || !text(i).ends_with(kShow)) return false;
        // What is stored comes of what is read: it has in common what an input has.
        const double common = std::stod(text(i).substr(extents.size() + 2));
        return std::ranges::any_of(scene_of(i).trace().launch.arrays, [&](const Array& one) {
            const double held = number_of(initial_value(array.reads() ? array : one, 0));
            return std::abs(common - held) <= std::abs(held) / 100;
        });
    }

    // Numbers of rulers, held against the cells of the array that they stand above or left of.
    void places() {
        constexpr float kNear = 24;  // pixels
        for (size_t i = 0; i < texts_.size(); ++i) {
            const draw::Written& of = texts_[i];
            if (!of.place) continue;
            const double said = number(i) ? std::stod(text(i)) : -1;
            const float x = (of.min.x + of.max.x) / 2, y = (of.min.y + of.max.y) / 2;
            claimed_[i] = true;
            const bool right = std::ranges::any_of(seen_.grids, [&](const auto& one) {
                const draw::GridView& grid = one.second;
                const float left = std::max(grid.x, grid.clip_min.x), top = std::max(grid.y, grid.clip_min.y);
                // A slice of one of three dimensions lies anywhere on its sheet.
                if (const Array& array = scene_of(i).of(one.first); array.rank == 3)
                    return said < std::max(array.rows, array.cols);
                const bool above =
                    of.max.y <= top + 2 && of.max.y > top - kNear && x >= left && x < grid.clip_max.x;
                const bool beside =
                    of.max.x <= left + 2 && of.max.x > left - kNear && y >= top && y < grid.clip_max.y;
                // Of several panes of one array each but the first begins at a later row.
                const bool pane = scene_of(i).of(one.first).space == Space::Shared &&
                                  std::ranges::count(seen_.grids, one.first,
                                                     [](const auto& other) { return other.first; }) > 1;
                const double row = std::floor((y - grid.y) / grid.pitch);
                return (above && std::floor((x - grid.x) / grid.pitch) == said) ||
                       (beside && (row == said || (pane && said > row)));
            });
            if (!right) complain(fmt::format("a ruler says {}", text(i)));
        }
    }

    // An array's name and its extents; the threads of the block.
    void headings() {
        for (size_t i = 1; i < texts_.size(); ++i) {
            const Scene& s = scene_of(i);
            const Dim3& block = s.trace().launch.block;
            for (uint8_t a = 0; a < s.trace().launch.arrays.size(); ++a) {
                const Array& array = s.of(a);
                if (text(i - 1) != s.name(a)) continue;
                std::string extents = std::to_string(array.cols);
                if (array.rank > 1) extents = fmt::format("{} \u00d7 {}", array.rows, extents);
                if (array.rank > 2) extents = fmt::format("{} \u00d7 {}", array.slices, extents);
                const char* const axes = array.name == "M"   ? "m \u00d7 k"
                                         : array.name == "N" ? "k \u00d7 n"
                                                             : "m \u00d7 n";
                const std::string behind = s.f.product() ? axes : c_name_of(array.type);
                if (text(i) == extents || text(i) == extents + "  " + behind ||
                    is_slice(i, array, extents, behind) || is_common(i, array, extents))
                    claimed_[i] = true;
                else if (test::is_digit(text(i)[0]) && text(i).find("\u00d7") != std::string::npos)
                    complain(fmt::format("{} is {}, not {}", text(i - 1), extents, text(i)));
            }
            // "grid › block(2,1) › warp 3": of the pinned thread or warp.
            if (Captures c; text(i - 1) == "\u203a" && test::match("warp #", text(i), c)) {
                const Pick& pin = s.state.session.pin;
                const uint32_t warp = pin.kind == Pick::Kind::Thread ? pin.thread / 32 : pin.warp;
                if (c[0] != std::to_string(warp)) complain("the path says " + text(i));
                claimed_[i] = true;
            }
            if (text(i - 1) == "z =") {  // below the small slices of an array, one after the other
                uint64_t slices = 0;
                for (const Array& array : s.trace().launch.arrays)
                    slices = std::max<uint64_t>(slices, array.slices);
                for (size_t j = i; number(j) && std::abs(texts_[j].min.y - texts_[i].min.y) < 1; ++j)
                    claimed_[j] =
                        std::stoul(text(j)) == std::stoul(text(i)) + (j - i) && std::stoul(text(j)) < slices;
            }
            if (text(i - 1) != "Threads") continue;
            std::string size = fmt::format("{} \u00d7 {}", block.x, block.y);
            if (block.z > 1) size += fmt::format(" \u00d7 {}", block.z);
            const uint32_t warps = s.f.warps();
            size += fmt::format(", {} warp{}", warps, warps == 1 ? "" : "s");
            if (text(i).ends_with(size) && !test::has_digit(text(i).substr(0, text(i).size() - size.size())))
                claimed_[i] = true;
            else if (text(i).find("\u00d7") != std::string::npos)
                complain(fmt::format("the block is {}, not {}", size, text(i)));
        }
    }

    // "width 20, NVIDIA H200": the medians of two kernels of exactly this size, and their ratio unless they
    // spread over one another.
    void times() {
        for (size_t i = 0; i < texts_.size(); ++i) {
            Captures c;
            uint32_t m = 0, k = 0, n = 0;
            if (test::match("this launch, *", text(i), c)) {
                claimed_[i] = true;
                if (c[0] != s_.trace().meta.device) complain("not recorded on " + c[0]);
                for (size_t j = i + 1; j < std::min(i + 4, texts_.size()); ++j)
                    if (text(j) == s_.trace().meta.kernel)
                        cell(j + 1, s_.trace().meta.price.plain_ms / 1e3, "time of this launch");
                continue;
            }
            const bool square = test::match("width #, *", text(i), c);
            if (!square && (c.clear(), !test::match("#×#×#, *", text(i), c))) continue;
            m = k = n = static_cast<uint32_t>(std::stoul(test::without_groups(c[0])));
            if (!square)
                k = static_cast<uint32_t>(std::stoul(c[1])), n = static_cast<uint32_t>(std::stoul(c[2]));
            claimed_[i] = true;
            if (m != s_.f.m || k != s_.f.k || n != s_.f.n) complain("times of another size: " + text(i));
            bool found = false;
            for (const kernels::Timings& set : s_.state.session.assets.timings()) {
                if (set.device != c.back() || found) continue;
                std::map<std::string, double> ms, low, high;
                for (const kernels::Timing& row : set.rows)
                    if (row.m == m && row.k == k && row.n == n && row.tile == s_.f.T && row.verified)
                        ms.emplace(row.kernel, row.median_ms), low.emplace(row.kernel, row.low_ms),
                            high.emplace(row.kernel, row.high_ms);
                const std::string own = s_.trace().meta.kernel,
                                  rival = own == "untiled" ? "tiled" : "untiled";
                if (!ms.contains(own) || !ms.contains(rival)) continue;
                found = true;
                const trace::Meta& meta = s_.trace().meta;
                const bool here = meta.device == set.device && m == s_.f.m && k == s_.f.k && n == s_.f.n &&
                                  meta.price.plain_ms > 0;
                if (here) ms[own] = meta.price.plain_ms;
                const bool apart = low[own] > high[rival] || low[rival] > high[own];
                bool said = false;
                for (size_t j = i + 1; j < std::min(i + 8, texts_.size()); ++j) {
                    if (text(j) == own && j + 1 < texts_.size()) cell(j + 1, ms[own] / 1e3, "time of " + own);
                    if (text(j) == rival && j + 1 < texts_.size())
                        cell(j + 1, ms[rival] / 1e3, "time of " + rival);
                    Captures ratio;
                    if (!test::match("× ~", text(j), ratio)) continue;
                    claimed_[j] = said = true;
                    if (const std::string no = test::disagrees(ratio[0], ms[rival] / ms[own]); !no.empty())
                        complain("times as fast: " + no);
                }
                if (said != apart) complain("a ratio of times that spread over one another, or none: " + own);
            }
            if (!found) complain("no such times: " + text(i));
        }
    }

    // The rows of the panel of a pinned element: factors of a product, or requests that touched it.
    void provenance() {
        const auto esc = std::ranges::find(texts_, "Esc closes", &draw::Written::text);
        if (esc == texts_.end()) return;
        const ImVec4 box = panel(static_cast<size_t>(esc - texts_.begin()));
        std::vector<size_t> heads;
        for (size_t i = 0; i < texts_.size(); ++i) {
            if (!same(panel(i), box)) continue;
            if (text(i) == pinned_name()) claimed_[i] = true;
            if (text(i) == "element" || text(i) == "step" || text(i) == "read at step")
                for (size_t j = i; j < texts_.size() && one_row(i, j) && same(panel(j), box); ++j)
                    heads.push_back(j);
            if (!heads.empty() && !claimed_[i] && texts_[i].min.y > texts_[heads[0]].max.y - 2) row(i, heads);
        }
    }
    std::string pinned_name() const { return s_.name(pin(s_).array, pin(s_).index); }
    // One row from its first text on: by the heading above each text.
    void row(size_t i, const std::vector<size_t>& heads) {
        std::map<std::string, size_t> by;
        for (size_t j = i; j < texts_.size() && one_row(i, j); ++j)
            for (const size_t head : heads) {
                const bool first = head == heads[0];
                if (first ? std::abs(texts_[j].min.x - texts_[head].min.x) < 2
                          : std::abs(texts_[j].max.x - texts_[head].max.x) < 2)
                    by[text(head)] = j;
            }
        if (by.empty() || by.begin()->second < i) return;
        const bool factors = by.contains("element");
        const auto said = [&](const char* head) {
            return by.contains(head) ? text(by[head]) : std::string();
        };
        if (factors) {
            auto e = s_.element(said("element"));
            const bool zero = said("element") == "zero fill", nothing = said("element") == "never stored";
            if (!e && !zero && !nothing) return;  // a phase's heading
            if (!e) e = {trace::kNoArray, 0};
            Loaded loaded;
            if (e->first != trace::kNoArray) loaded = loads_of(s_, e->first, e->second);
            for (const twin::Cell& cell : s_.f.play(s_.cursor.block, s_.steps() - 1).fillings)
                if (zero && cell.source < 0) loaded.threads.insert(cell.thread);
            for (const auto& [head, j] : by) claimed_[j] = true;
            const std::string value = zero ? "0" : nothing ? "NaN" : value_of(s_, e->first, e->second);
            if (said("value") != value) complain(fmt::format("{} is not {}", said("element"), said("value")));
            const auto by_thread = s_.thread_named(said("loaded by"));
            if (by.contains("loaded by") && (!by_thread || !loaded.threads.contains(*by_thread)))
                complain(fmt::format("{} is not loaded by {}", said("element"), said("loaded by")));
            if (by.contains("at step") && loaded.lanes == 1 &&
                test::without_groups(said("at step")) != std::to_string(loaded.first + 1))
                complain(fmt::format("{} is not loaded at step {}", said("element"), said("at step")));
            if (!by.contains("used") || nothing) return;
            const std::string used = said("used").substr(0, said("used").find("\u00d7"));
            if (!uses_of(s_, *e).contains(std::stoull(used)))
                complain(fmt::format("{} is not used {} times", said("element"), used));
            return;
        }
        const bool readers = by.contains("read at step");
        const std::string step = test::without_groups(said(readers ? "read at step" : "step"));
        if (step.empty() || !std::ranges::all_of(step, test::is_digit)) return;
        size_t block = s_.cursor.block;
        for (size_t b = 0; !readers && b < s_.trace().blocks.size(); ++b)
            if (s_.block_words(b) == said("block")) block = b;
        const uint32_t at = static_cast<uint32_t>(std::stoul(step)) - 1;
        for (const auto& [head, j] : by) claimed_[j] = true;
        if (at >= s_.f.steps(block)) return complain("no such step: " + step);
        const Request& q = s_.f.at(block, at);
        std::set<uint32_t> lanes;
        if (q.array == pin(s_).array)
            s_.f.elements(q, [&](uint32_t lane, uint64_t e) {
                if (e == pin(s_).index) lanes.insert(lane);
            });
        std::string which = "none";
        if (!lanes.empty())
            which = lanes.size() == 1 ? std::to_string(*lanes.begin())
                    : lanes.size() == *lanes.rbegin() - *lanes.begin() + 1
                        ? fmt::format("{}\u2013{}", *lanes.begin(), *lanes.rbegin())
                        : fmt::format("{} of 32", lanes.size());
        if (said("lanes") != which)
            complain(fmt::format("step {} touches it by lanes {}, not {}", step, which, said("lanes")));
        if (said("warp") != std::to_string(q.warp))
            complain(fmt::format("step {} is of warp {}, not {}", step, q.warp, said("warp")));
        const uint32_t phase = s_.f.phase(block, at);
        const std::string words = phase == twin::kAfterPhases ? "after" : std::to_string(phase + s_.first());
        if (by.contains("phase") && said("phase") != words)
            complain(fmt::format("step {} is of phase {}, not {}", step, words, said("phase")));
    }

    // What stands in cells: a value, and in large ones the index, or where the value came from. Of a product
    // alone: the sheets of other launches are draw/sheet.h's.
    void cells() {
        if (s_.state.session.screen != "step" || !s_.f.product() || side_) return;
        const twin::Played& played = s_.f.play(s_.cursor.block, s_.cursor.step);
        for (const draw::Written& text : unrecorded(seen_)) {
            const ImVec2 middle{(text.min.x + text.max.x) / 2, (text.min.y + text.max.y) / 2};
            for (const auto& [array, grid] : s_.state.step.places) {
                if (array == step::kOfThreads) continue;
                const auto row = static_cast<int64_t>(std::floor((middle.y - grid.y) / grid.pitch)),
                           col = static_cast<int64_t>(std::floor((middle.x - grid.x) / grid.pitch));
                const Array& of = s_.of(array);
                if (middle.x < grid.clip_min.x || middle.x > grid.clip_max.x || middle.y < grid.clip_min.y ||
                    middle.y > grid.clip_max.y || row < 0 || col < 0 || row >= of.rows || col >= of.cols)
                    continue;
                const uint64_t element = static_cast<uint64_t>(row) * of.cols + static_cast<uint64_t>(col);
                const std::string index = test::index_of_element(of, element, s_.notation());
                std::vector<std::string> right{index.substr(1, index.size() - 2)};
                const auto cell = played.cells.find({array, element});
                const auto stored = s_.f.stores(s_.cursor.block, array, element);
                if (of.space == Space::Shared && cell != played.cells.end()) {
                    right = {value_words(cell->second.value),
                             cell->second.source < 0 ? "zero"
                                                     : s_.name(cell->second.source_array,
                                                               static_cast<uint64_t>(cell->second.source))};
                } else if (of.role == ArrayRole::Output) {
                    if (stored) right.push_back(value_words(played.sums[stored->first].value));
                } else if (of.space == Space::Global) {
                    right.push_back(value_of(s_, array, element));
                }
                if (std::ranges::find(right, text.text) == right.end())
                    complain(fmt::format("in the cell {} stands '{}', not '{}'", s_.name(array, element),
                                         text.text, right.back()));
            }
        }
    }

    // A text, or some lines of one that was wrapped: the longest that a rule claims.
    void sentence(size_t i, const std::vector<Rule>& rules) {
        if (claimed_[i]) return;
        std::vector<std::string> joins{text(i)};
        for (size_t j = i; j + 1 < texts_.size() && joins.size() < 8 && continues(j); ++j)
            joins.push_back(joins.back() + " " + text(j + 1));
        std::string problem;
        for (size_t lines = joins.size(); lines > 0; --lines) {
            const std::string& whole = joins[lines - 1];
            if (!test::has_digit(whole)) continue;
            if (claims(scene_of(i), whole, rules, problem)) {
                for (size_t j = i; j < i + lines; ++j) claimed_[j] = true;
                return;
            }
        }
        if (!test::has_digit(text(i))) return;  // the next line is read by itself
        complain(problem.empty() ? fmt::format("no rule claims '{}'", joins.back()) : problem);
        claimed_[i] = true;
        for (size_t j = i; !problem.empty() && j < i + joins.size(); ++j) claimed_[j] = true;
    }
    bool continues(size_t j) const {
        const draw::Written &a = texts_[j], &b = texts_[j + 1];
        const float high = a.max.y - a.min.y, down = b.min.y - a.min.y;
        return !claimed_[j + 1] && a.list == b.list && std::abs(a.min.x - b.min.x) < 1.5f &&
               down > 0.7f * high && down < 1.4f * high && std::abs(b.max.y - b.min.y - high) < 1;
    }
    bool claims(const Scene& scene, const std::string& whole, const std::vector<Rule>& rules,
                std::string& problem) {
        for (const Rule& rule : rules) {
            Captures c;
            if (!test::match(rule.pattern, whole, c)) continue;
            Reading reading{scene, c};
            reading.hold(rule.right(scene, c));
            if (reading.wrong.empty()) {
                for (const auto& [thing, said] : reading.numbers) numbers_[thing].insert(said);
                return true;
            }
            if (problem.empty()) {
                problem = fmt::format("'{}':", whole);
                for (const std::string& what : reading.wrong) problem += " " + what + ";";
            }
        }
        // Parts of a line, three spaces apart.
        const size_t gap = whole.find("   ");
        if (gap == std::string::npos) return false;
        return (!test::has_digit(whole.substr(0, gap)) ||
                claims(scene, whole.substr(0, gap), rules, problem)) &&
               (!test::has_digit(whole.substr(gap + 3)) ||
                claims(scene, whole.substr(gap + 3), rules, problem));
    }

    const draw::Inspection& seen_;
    const Texts& texts_;
    const Scene& s_;
    Side side_;
    std::vector<bool> claimed_;
    std::map<std::string, std::set<std::string>> numbers_;
    std::vector<std::string> complaints_;
};

// The rules of the Step screen, many of which other screens share (app_figures_test.cpp).
const std::vector<Rule>& step_rules();

}  // namespace tilescope::app
