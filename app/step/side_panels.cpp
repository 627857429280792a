// The panels of words and numbers beside the matrices:
//
//   source    the kernel's text: line numbers, hits of the block so far, the current line lit
//   request   its title, the verdict, the picture of its lanes (pictures/request_picture.cpp), and below them the
//             address of one lane and what the selection has to say
//   sums      so far of this block, and of the whole recording: requests, what they cost, the least they
//             could; and the kernel's measured time beside the untiled kernel's
#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "app/look/freed.h"
#include "app/look/older.h"
#include "app/look/request.h"
#include "app/look/sums.h"
#include "app/look/time_words.h"
#include "app/look/timeline.h"
#include "app/pictures/pictures.h"
#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

// A row of the panel: a line of the source, or the second part of one that touches memory and is too long;
// those are the lines that must be read whole.
struct SourceRow {
    size_t line = 0;         // index into SourceView::lines
    size_t indent = 0;       // blanks before the text
    std::string_view whole;  // the text of a line that is one row
    std::string part;        // that of a line that is several
    bool continued = false, comment = false;

    // No more of it than can be shown.
    std::string text() const {
        return std::string(indent, ' ').append(whole.substr(0, draw::kMostDrawn + 1)).append(part);
    }
};

// Code in lines of a width, parted at blanks, and where a word is wider than a line behind an opening bracket or a
// comma, and where that is still too wide, as names of PTX may be, behind a point or a colon.
std::vector<std::string> code_lines(const draw::Font& font, const std::string_view text, float width) {
    std::vector<std::string> lines;
    for (const std::string& line : wrapped(font, text, width)) {
        if (draw::text_size(font, line).x <= width) {
            lines.push_back(line);
            continue;
        }
        std::string part;
        for (size_t at = 0; at < line.size();) {
            const auto behind = [&](const char* marks) {
                return line.substr(at, std::min(line.find_first_of(marks, at), line.size() - 1) + 1 - at);
            };
            std::string piece = behind("([,");
            if (draw::text_size(font, piece).x > width) piece = behind("([,.:");
            if (!part.empty() && draw::text_size(font, part + piece).x > width)
                lines.push_back(std::exchange(part, ""));
            part += piece;
            at += piece.size();
        }
        if (!part.empty()) lines.push_back(part);
    }
    return lines;
}

std::vector<SourceRow> rows_of(Ui& ui, const SourceView& source, float width) {
    const draw::Font mono = ui.font(Face::Mono, Size::Small);
    std::vector<SourceRow> rows;
    for (size_t i = 0; i < source.lines.size(); ++i) {
        const SourceLine& of = source.lines[i];
        const size_t indent = std::min(of.text.find_first_not_of(' '), of.text.size());
        const std::string_view text = of.text.substr(indent);
        const bool comment = text.starts_with("//");
        // Indented by two instead of four: the panel is narrow.
        const size_t left = std::min(indent / 2, draw::kMostDrawn);
        rows.push_back({i, left, text, "", false, comment});
        if (!of.has_site || draw::text_size(mono, rows.back().text()).x <= width) continue;
        rows.pop_back();
        const float room = width - draw::text_size(mono, std::string(left + 2, ' ')).x;
        for (const std::string& part : code_lines(mono, text, room)) {
            const bool continued = !rows.empty() && rows.back().line == i;
            rows.push_back({i, left + (continued ? 2 : 0), {}, part, continued, comment});
        }
    }
    return rows;
}

// The first row in sight: all lines that touch memory where they fit, else the current one in the middle.
std::ptrdiff_t first_row(const SourceView& source, const std::vector<SourceRow>& rows, std::ptrdiff_t shown) {
    const auto has_site = [&](const SourceRow& row) { return source.lines[row.line].has_site; };
    const auto first = std::ranges::find_if(rows, has_site) - rows.begin();
    const auto end = rows.rend() - std::find_if(rows.rbegin(), rows.rend(), has_site);
    std::ptrdiff_t current = 0;
    for (size_t i = 0; i < rows.size(); ++i)
        if (std::cmp_equal(rows[i].line, source.current)) current = static_cast<std::ptrdiff_t>(i);
    const auto top = end - first + 2 <= shown ? first - (shown - (end - first)) / 2 : current - shown / 2;
    return std::clamp<std::ptrdiff_t>(top, 0, std::max<std::ptrdiff_t>(std::ssize(rows) - shown, 0));
}

float third_of(Ui& ui, const Rect& in) { return std::min(ui.px(74), in.width() * 0.205f); }

float table(Ui& ui, const Rect& in, float y, const look::SumsTable& sums) {
    const float small = line_height(ui, Size::Small), third = third_of(ui, in), mark = ui.px(10);
    const float least = in.max.x, cost = least - third, requests = cost - third;  // right edges
    line(ui, {in.min.x, y}, requests - third - in.min.x, Face::Strong, Size::Small, Ink::Text, sums.title);
    small_text(ui, {requests, y}, third, Ink::TextFaint, "requests", Align::Right);
    small_text(ui, {cost, y}, third, Ink::TextFaint, "cost", Align::Right);
    small_text(ui, {least, y}, third, Ink::TextFaint, "least", Align::Right);
    y += small;
    for (const look::SumsRow& row : sums.rows) {
        if (y + small > in.max.y + ui.px(4)) return y;
        pictures::sign(ui, {{in.min.x, y + (small - mark) / 2}, {in.min.x + mark, y + (small + mark) / 2}},
                       row.kind);
        const float name =
            note(ui, {in.min.x + mark + ui.px(6), y}, requests - third - in.min.x - mark, row.what);
        if (ui.over({{in.min.x, y}, {in.max.x, y + small}})) ui.tip = row.exact;
        if (row.wasteful) {  // a shape beside the colour
            const float x = in.min.x + mark + name + ui.px(14), m = y + small / 2, r = ui.px(3.5f);
            ui.list.AddTriangleFilled({x, m - r}, {x + r, m + r}, {x - r, m + r}, ui.ink(Ink::Fault));
        }
        small_number(ui, {requests, y}, third, Ink::Text, row.requests);
        small_number(ui, {cost, y}, third, row.wasteful ? Ink::Fault : Ink::Text, row.cost);
        small_number(ui, {least, y}, third, Ink::TextQuiet, row.least);
        y += small;
    }
    if (sums.shares.empty() || y + small > in.max.y + ui.px(4)) return y;
    note(ui, {in.min.x, y}, in.width(), sums.shares);
    return y + small;
}

look::TimesTable times_of(const Ui& ui) {
    return look::times_table(ui.trace().meta, ui.session.recording->product, ui.session.assets.timings());
}

// In lines of small type.
float lines_of(const look::TimesTable& table) { return !table.measured ? 0 : table.rival.empty() ? 2 : 3; }

// The kernel's measured time beside the untiled one's, always with the device that it was measured on.
float times(Ui& ui, const Rect& in, float y, const look::TimesTable& table) {
    const float small = line_height(ui, Size::Small), height = small * lines_of(table);
    const float third = third_of(ui, in), value = in.max.x - third;
    if (!table.measured || y + height > in.max.y + ui.px(4)) return y;
    if (ui.over({{in.min.x, y}, {in.max.x, y + height}})) ui.tip = table.sentence;
    line(ui, {in.min.x, y}, value - in.min.x, Face::Strong, Size::Small, Ink::Text, table.title);
    small_text(ui, {in.max.x, y}, third * 1.2f, Ink::TextFaint, "measured", Align::Right);
    for (const bool own : {true, false}) {
        y += small;
        note(ui, {in.min.x, y}, value - third - in.min.x, own ? table.own : table.rival);
        small_number(ui, {value, y}, third * 1.2f, Ink::Text, own ? table.own_time : table.rival_time);
        if (table.rival.empty()) return y + small;
    }
    small_number(ui, {in.max.x, y}, third, Ink::TextQuiet, table.ratio);
    return y + small;
}

}  // namespace

void source_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const SourceView source = source_view(ui.trace(), *ui.index(), ui.step());
    const float small = line_height(ui, Size::Small);
    const bool folded = rect.height() < ui.px(150);
    const bool lecture = ui.session.lecture || folded;  // the lines alone
    const Rect in{{rect.min.x + ui.px(12), rect.min.y + ui.px(lecture ? 8 : 12)},
                  {rect.max.x - ui.px(12), rect.max.y - ui.px(lecture ? 8 : 12)}};
    float y = in.min.y, bottom = in.max.y;
    const bool asked = ui.session.question.hides_any();
    const bool counts = !asked || !ui.context.paper;  // on paper nothing opens where a sign would stand
    if (!lecture) {
        const float name = line(ui, in.min, in.width(), Face::Strong, Size::Body, Ink::Text, source.name);
        const float room = in.width() - name - ui.px(12);
        if (counts)
            small_text(
                ui, {in.max.x, in.min.y + ui.px(3)}, room, Ink::TextFaint,
                fitting(ui.font(Face::Text, Size::Small), {"requests, arrivals so far", "so far", ""}, room),
                Align::Right);
        y += line_height(ui, Size::Body) + ui.px(6);
    }
    if (!source.ptx_place.empty() &&
        !lecture) {  // the PTX of the step: its place, and below it the instruction
        bottom -= small * 3 + ui.px(8);
        ui.list.AddLine({in.min.x, bottom + ui.px(4)}, {in.max.x, bottom + ui.px(4)}, ui.ink(Ink::Line));
        small_text(ui, {in.min.x, bottom + ui.px(8)}, in.width(), Ink::TextFaint, source.ptx_place);
        paragraph(ui, {in.min.x, bottom + ui.px(8) + small}, in.width(), Face::Mono, Size::Small,
                  Ink::TextQuiet, source.ptx, 2);
    }

    // Three columns: the line's number, its text, its hits.
    const float advance = draw::text_size(ui.font(Face::Mono, Size::Small), "0").x;
    size_t digits = 1;
    for (const SourceLine& of : source.lines)
        if (of.has_site) digits = std::max(digits, grouped(of.hits_in_all).size());
    const float number = advance * static_cast<float>(std::to_string(source.lines.size()).size());
    const float hits = advance * static_cast<float>(digits + 1);
    const float text = in.width() - number - ui.px(8) - hits;
    const std::vector<SourceRow> rows = rows_of(ui, source, text);
    const auto shown = static_cast<std::ptrdiff_t>((bottom - y + 1) / small);
    const auto first = first_row(source, rows, shown);
    ui.list.PushClipRect({rect.min.x, y}, {rect.max.x, bottom}, true);
    for (auto i = first; i < std::min(first + shown, std::ssize(rows)); ++i) {
        const SourceRow& row = rows[static_cast<size_t>(i)];
        const SourceLine& of = source.lines[row.line];
        const bool current = std::cmp_equal(row.line, source.current);
        const float top = y + static_cast<float>(i - first) * small;
        const Rect band{{rect.min.x + ui.px(4), top}, {rect.max.x - ui.px(4), top + small}};
        if (current) lit_band(ui, band, ui.ink(pictures::ink_of(source.kind)), 0.20f);
        const Ink ink = row.comment ? Ink::TextFaint : of.has_site || current ? Ink::Text : Ink::TextQuiet;
        small_number(ui, {in.min.x + number + ui.px(8), top}, text + (of.has_site ? 0 : hits), ink,
                     row.text(), Align::Left);
        const size_t start = of.text.find_first_not_of(' ');
        if (ui.over(band) && start != std::string_view::npos)
            ui.tip = of.text.substr(start, draw::kMostDrawn);
        if (row.continued) continue;
        small_number(ui, {in.min.x + number, top}, number, current ? Ink::Text : Ink::TextFaint,
                     std::to_string(row.line + 1));
        if (!of.has_site || !counts) continue;
        small_number(ui, {in.max.x, top}, hits, of.hits > 0 && !asked ? Ink::Text : Ink::TextFaint,
                     asked ? "?" : grouped(of.hits));
        if (!ui.over(band)) continue;
        const auto line_number = static_cast<uint32_t>(row.line + 1);
        Pick pick{.kind = Pick::Kind::Site};
        for (const ptx::Site& site : ui.trace().sites)
            if (look::shown_line(ui.trace(), site) == line_number) pick.site = site.id;
        ui.hovered = pick;
        if (!ui.clicked(band)) continue;
        if (const auto next = look::next_step_of_line(ui.trace(), *ui.index(), line_number, ui.step()))
            session::go_to(ui.session, *next);
    }
    ui.list.PopClipRect();
}

namespace {

// "Row = by·T + ty = 1·16 + 3 = 19" of the thread that is pinned, or that computes the pinned element.
std::vector<std::string> index_formula_of_pin(Ui& ui) {
    const auto& product = ui.index()->product;
    const Pick& pin = ui.session.pin;
    const bool of_output = pin.kind == Pick::Kind::Element && product && product->is_output(pin.array);
    if (!product || ui.shown_pick() != pin || (pin.kind != Pick::Kind::Thread && !of_output) ||
        ui.state.selected.threads.size() != 1)
        return {};
    MappingCache& cache = ui.state.mapping;
    if (cache.serial != ui.session.recording->serial)
        cache = {ui.session.recording->serial, analysis::mapping_of(ui.trace(), *product)};
    if (!cache.mapping) return {};
    return index_formula(*cache.mapping, *product, ui.trace().blocks[ui.session.cursor.block],
                         ui.state.selected.threads.front());
}

}  // namespace

std::optional<look::OlderView> older_of(const Ui& ui) {
    if (ui.state.judged_by == JudgedAs::Today) return std::nullopt;
    const auto gpu = ui.state.judged_by == JudgedAs::G80 ? look::OlderGpu::G80 : look::OlderGpu::Gt200;
    return look::older_view(ui.trace(), *ui.index(), ui.step(), gpu);
}

namespace {

// The request with what would free it, where that is asked for.
std::optional<look::RequestView> freed_of(const Ui& ui, const look::RequestView& request) {
    const State& state = ui.state;
    if (state.judged_by == JudgedAs::Today || !state.freeing.made || ui.session.question.hides_any())
        return std::nullopt;
    return look::freed_view(ui.trace(), request, *state.freeing.made,
                            state.judged_by == JudgedAs::G80 ? 0 : 1);
}

// What a request's verdict has to say when it is pointed at: what older GPUs made of it, what would free it.
std::string more_of_verdict(Ui& ui, const look::RequestView& request, const look::OlderView* older) {
    std::string tip = look::older_gpus_text(ui.trace(), *ui.index(), ui.step());
    if (!tip.empty() && older) tip += fmt::format("; {}", older->source);
    if (!request.good || !request.least) ui.state.freeing.wanted = true;
    if (ui.state.freeing.made)
        for (const std::string& words : look::freed_words(request, *ui.state.freeing.made))
            tip += (tip.empty() ? "" : "; ") + words;
    if (!tip.empty())
        tip += ui.state.judged_by == JudgedAs::Today ? ". A click or J shows it" : ". A click or J goes on";
    return tip;
}

}  // namespace

void request_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    look::RequestView request =
        look::request_view(ui.trace(), *ui.index(), ui.step(), ui.session.replay.get());
    const look::RequestView as_recorded = request;
    const std::optional<look::OlderView> older = older_of(ui);
    const std::optional<look::RequestView> freed = freed_of(ui, request);
    if (freed) request = *freed;
    // In a narrow panel without the warp, which the line at the top names.
    const std::string warp = fmt::format("Warp {} ", request.warp);
    std::string does = as_recorded.title.substr(as_recorded.title.starts_with(warp) ? warp.size() : 0);
    if (freed) does.insert(0, request.title, 0, request.title.size() - as_recorded.title.size());
    if (older) {
        does = fmt::format("{} {}", older->gpu, does);
        request.title = fmt::format("{}: {}", older->gpu, request.title);
    } else if (!does.empty()) {
        does[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(does[0])));
    }
    // Which phase a wait was for, the line at the top names too.
    std::string brief = does.substr(0, does.find(','));
    if (const size_t of = does.rfind(" of "); request.kind == StepKind::SignalWait && of != std::string::npos)
        brief = "Has waited for " + does.substr(of + 4);
    request.title = fitting(ui.font(Face::Strong, Size::Body), {request.title, does, brief},
                            rect.inset(ui.px(12)).width() - ui.px(22));
    if (older) {
        request.verdict = older->verdict;
        // In a lecture, and above a selection, the picture needs the room: the tooltip names the document.
        const bool brief = ui.session.lecture || !ui.state.selected.lines.empty();
        request.mask_note = brief ? "A model, not measured." : fmt::format("A model: {}.", older->source);
        request.good = older->good, request.least = true;
    }
    // How long the warp waited stands in the line at the top.
    if (request.kind == StepKind::Barrier)
        if (std::string order = look::order_words(ui.trace(), *ui.index()); !order.empty())
            request.mask_note = std::move(order);
    const Rect in = rect.inset(ui.px(12));
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    float y = in.min.y;
    pictures::request_title(ui, {in.min.x, y}, in.width(), request);
    y += body;
    const bool placed = request.line > 0 && !ui.session.question.hides(session::Hide::Standing);
    std::string where = placed ? fmt::format("line {}", request.line) : "";
    if (asks_memory(request.kind) && !ui.session.question.hides_any())
        where += fmt::format("{}{}", where.empty() ? "" : ", ",
                             request.box ? counted(request.cost.bytes, "byte") +
                                               (request.lies && is_load(request.kind) ? "" : " in bulk")
                                         : counted(request.bytes, "byte") + " a lane");
    if (older && !ui.session.question.hides_any()) where = older->rule;
    const bool lecture = ui.session.lecture;  // the small print goes
    const bool told = !lecture && in.height() >= ui.px(215);
    if (lecture && (request.matrices != 0 || request.lies))
        request.mask_note.clear();  // which the line at the top says
    if (!request.pipeline.empty() && !request.lies && in.height() < ui.px(280))
        request.mask_note.clear();  // so has a ring its stages
    if (told) note(ui, {in.min.x, y}, in.width(), where);
    y += (told ? small : 0) + ui.px(8);
    if (ui.session.question.hides_any()) return asked_request(ui, {{in.min.x, y}, in.max}, request);

    const float verdict = pictures::request_verdict(ui, {in.min.x, y}, in.width(), request, lecture ? 6 : 4);
    const Rect judged{{in.min.x, y}, {in.max.x, y + verdict}};
    if (ui.over(judged)) {
        ui.tip = more_of_verdict(ui, as_recorded, older ? &*older : nullptr);
        if (!ui.tip.empty() && ui.clicked(judged)) input::ask(ui, "older_gpu");
    }
    y += verdict + ui.px(10);

    // From below: the selection, then the lane's address; the picture takes what is left.
    const uint32_t lane = look::spoken_lane(request, ui.session.hover, ui.session.pin);
    std::vector<std::string> foot, steps, address;
    std::vector<std::string> selected = ui.state.selected.lines;
    if (const auto formula = index_formula_of_pin(ui); !selected.empty())
        selected.insert(selected.begin() + 1, formula.begin(), formula.end());
    const auto below = static_cast<size_t>(std::max(0.f, in.max.y - y - ui.px(10)) / small);
    for (const std::string& about : selected) {  // as many as have room below the verdict, each whole
        std::vector<std::string> lines = wrapped(ui.font(Face::Text, Size::Small), about, in.width());
        if (foot.size() + lines.size() > below) break;
        std::ranges::move(lines, std::back_inserter(foot));
    }
    if (foot.size() > 7) foot.resize(7);
    // Two rows of lanes need the room; the address says what the lane points to and what it gets.
    if (request.matrices != 0 || request.lies) foot.clear();
    const Size address_size = request.matrices != 0 ? Size::Small : Size::Body;
    // What a barrier in memory, or a box, has to say stands in the verdict and in the picture, and a ring needs the room.
    const bool placed_lane = !is_of_mbarrier(request.kind) && !request.lies && request.pipeline.empty();
    if (!lecture && !older && placed_lane) {  // older: whose rules know no sectors
        address = wrapped(ui.font(Face::Text, address_size), look::lane_text(ui.trace(), request, lane),
                          in.width());
        // As many of the formula's steps on a line as fit.
        for (const std::string& part : look::lane_formula(ui.trace(), as_recorded, lane)) {
            if (freed) break;  // whose addresses come about another way
            const std::string longer = steps.empty() ? part : steps.back() + "   " + part;
            if (!steps.empty() && draw::text_size(ui.font(Face::Mono, Size::Small), longer).x <= in.width())
                steps.back() = longer;
            else
                steps.push_back(part);
        }
    }
    const float foot_high = foot.empty() ? 0 : small * static_cast<float>(foot.size()) + ui.px(10);
    const auto address_high = [&] {
        return line_height(ui, address_size) * static_cast<float>(address.size()) +
               small * static_cast<float>(steps.size());
    };
    const auto room = [&] { return in.max.y - y - address_high() - foot_high - ui.px(12); };
    // In a low panel the selection takes the place of the address. So does the picture, where it would not
    // have the height that it needs: the formula goes first, then the address.
    const bool sectors = asks_memory(request.kind) && request.addresses.empty() &&
                         analysis::has_sectors(space_of(request.kind));
    const float least = ui.px(sectors ? 74 : 118);
    const bool low = !foot.empty() && room() + ui.px(22) < ui.px(150);
    if (low || room() < least) steps.clear();
    if (low || room() < least) address.clear();
    const float bottom = in.max.y - foot_high - address_high() - ui.px(8);
    float text_y = bottom + ui.px(8);
    const auto rule = [&](float at) { ui.list.AddLine({in.min.x, at}, {in.max.x, at}, ui.ink(Ink::Line)); };
    const auto write = [&](const std::string& text, Face face, Size size, Ink ink) {
        line(ui, {in.min.x, text_y}, in.width(), face, size, ink, text);
        text_y += line_height(ui, size);
    };
    if (!address.empty()) rule(bottom + ui.px(2));
    for (const std::string& text : address) write(text, Face::Text, address_size, Ink::Text);
    for (const std::string& text : steps) write(text, Face::Mono, Size::Small, Ink::TextQuiet);
    if (!foot.empty()) rule(text_y + ui.px(4));
    text_y += ui.px(10);
    for (const std::string& text : foot)
        if (&text == &foot.front())
            write(text, Face::Strong, Size::Small, Ink::Text);
        else
            write(text, Face::Text, Size::Small, Ink::TextQuiet);

    const Rect picture{{in.min.x, y}, {in.max.x, bottom - ui.px(4)}};
    if (picture.height() < ui.px(request.kind == StepKind::Exchange ? 60 : 70)) return;
    const look::BarrierTimes* const barrier = look::barrier_of_step(*ui.index(), ui.step());
    const auto gate = look::gate_at(ui.trace(), *ui.index(), ui.step());
    // By clocks the waits are drawn, and where there is room the gate stands beside the threads.
    if (request.kind == StepKind::Barrier && barrier == nullptr && gate && !ui.state.gate_named)
        pictures::gate_picture(ui, {{picture.min.x, picture.min.y + small + ui.px(26)}, picture.max}, *gate);
    const auto under =
        pictures::request_picture(ui, picture, request, barrier, lane, older ? &*older : nullptr);
    if (!under) return;
    ui.tip = look::lane_text(ui.trace(), request, *under);
    input::offer_pick(
        ui, {.kind = Pick::Kind::Thread, .thread = request.lanes[*under].thread, .warp = request.warp});
}

float sums_height(Ui& ui) {
    const size_t rows = look::sums_table("", {}, ui.session.summary()).rows.size();
    return line_height(ui, Size::Small) * (static_cast<float>(2 * (rows + 2) + 2) + lines_of(times_of(ui))) +
           ui.px(12 * 2 + 20);
}

void sums_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const analysis::Summary& summary = ui.session.summary();
    const float small = line_height(ui, Size::Small);
    const look::SplitSums so_far = look::sums_so_far(ui.trace(), *ui.index(), ui.step());
    look::SumsTable here = look::sums_table("block so far", so_far, summary);
    look::SumsTable whole = look::sums_table("whole recording", summary, summary);
    if (ui.session.question.hides(session::Hide::Numbers))
        for (std::vector<look::SumsRow>* all : {&here.rows, &whole.rows})
            for (look::SumsRow& row : *all) {
                row.requests = row.cost = row.least = "?";
                row.exact.clear();
                row.wasteful = false;
            }
    if (ui.session.question.hides(session::Hide::Numbers)) here.shares.clear(), whole.shares.clear();
    if (!ui.session.totals) whole.shares.clear();
    for (look::SumsRow& row : whole.rows)
        if (!ui.session.totals) row.requests = row.cost = row.least = "\u2026", row.wasteful = false;
    const float rows = static_cast<float>(here.rows.size() + 2) * small;
    float y = table(ui, in, in.min.y, here);
    y += ui.px(6);
    if (y + rows <= in.max.y + ui.px(4)) y = table(ui, in, y, whole) + ui.px(6);
    if (const look::TimesTable timed = times_of(ui);
        timed.measured && !ui.session.question.hides(session::Hide::Numbers))
        y = times(ui, in, y, timed) + ui.px(6);
    if (ui.session.question.hides_any()) return;
    const std::string trouble = look::not_whole(ui.trace(), ui.session.cursor.block);
    std::string foot = here.bytes;
    const bool told = !ui.session.question.hides(session::Hide::Result);
    if (told) foot += "; " + look::result_text(ui.trace(), ui.notation());
    if (!trouble.empty()) {  // the strip above says all of it
        const draw::Font font = ui.font(Face::Text, Size::Small);
        const bool fits =
            small * static_cast<float>(wrapped(font, trouble, in.width()).size()) <= in.max.y + ui.px(4) - y;
        foot = fits ? trouble : "Not whole: these sums are of what was recorded.";
    }
    const auto lines = static_cast<int>((in.max.y + ui.px(4) - y) / small);
    if (lines < 1) return;
    const auto& result = ui.trace().meta.result;
    const bool bad = !trouble.empty() || (told && result.checked && !result.verified);
    paragraph(ui, {in.min.x, y}, in.width(), Face::Text, Size::Small, bad ? Ink::Fault : Ink::TextQuiet, foot,
              lines);
}

}  // namespace tilescope::step
