// Where the pinned element came from, or who touched it: a title, what is known of it, and a list in which a
// click goes to the step. Rows are made one by one: sixteen thousand cost no more than those in sight.
//
//   P[3,5]                   Esc closes        <- title
//   row 3 of M times column 5 of N             <- facts
//   sum so far 37, after 20 of 64 products
//   element   value  loaded by  at step  used  <- columns
//   phase 1                                    <- rows: a heading a phase, two factors a product
//   # M[3,16]    -4     [0,3]       342   16x     their signs: # loaded, / zero fill, <> stale
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "app/pictures/pictures.h"
#include "app/session/playing.h"
#include "app/step/panels.h"
#include "core/base/contents.h"

namespace tilescope::step {

const analysis::PhaseMap& Provenance::phases_of(const analysis::Recording& of, uint32_t block) {
    constexpr size_t kMostBlocks = 64;
    if (const auto known = phases.find(block); known != phases.end()) return known->second;
    if (phases.size() >= kMostBlocks) phases.clear();
    return phases[block] = analysis::phases_of_block(of, block);
}

namespace {

using playback::kNever;

constexpr uint64_t kScannedAFrame = 200'000;  // steps: well under a millisecond
constexpr size_t kColumns = 5;
using Texts = std::array<std::string, kColumns>;

struct TrailRow {
    bool heading = false;
    Texts text;  // a heading uses the first only
    Origin origin = Origin::Element;
    bool done = false;                          // lies at or before the step shown
    bool current = false;                       // is of the step shown
    std::optional<playback::Cursor> goes_to{};  // with a click
    Pick pick{};                                // what hovering over it lights up
    std::string tip{};                          // the whole sentence
};

struct List {
    std::string title;
    std::vector<std::string> facts{};
    std::string warning{};       // says that something is wrong
    Texts columns{}, widest{};   // headings, and texts as wide as any of the column
    size_t rows = 0, here = 0;   // here: the one to keep in sight
    std::set<Origin> origins{};  // that occur and mark the rows; empty: their kind of request does
    std::function<TrailRow(size_t)> row{};

    void heads(Texts all) { columns = widest = std::move(all); }
    void widen(size_t column, const std::string& text) {
        widest[column] = std::max(widest[column], text, shorter);
    }
    template <class... Args>
    void say(fmt::format_string<Args...> text, Args&&... args) {
        facts.push_back(fmt::format(text, std::forward<Args>(args)...));
    }
};

std::string name_of(const Ui& ui, const playback::Element& element) {
    return element_name(ui.trace().launch.arrays[element.array], static_cast<int64_t>(element.index),
                        ui.notation());
}

const char* words_of(Origin origin) {
    constexpr const char* kWords[] = {"loaded", "zero fill", "stale", "computed", "never stored"};
    return kWords[static_cast<size_t>(origin)];
}

TrailRow product_row(const Ui& ui, const ProductRow& of) {
    if (of.factor == nullptr)
        return {.heading = true, .text = {phase_words(of.product->phase, ui.notation())}};
    const FactorTrail& factor = *of.factor;
    const bool element = factor.element.array != trace::kNoArray;
    TrailRow row;
    row.origin = factor.origin;
    row.done = of.product->after_step <= ui.step();
    row.current = of.product->after_step == ui.step();
    row.text[0] = element ? name_of(ui, factor.element) : words_of(factor.origin);
    row.text[1] = short_value(factor.value);
    const uint32_t when = factor.load_step != kNever ? factor.load_step : factor.store_step;
    if (when != kNever) {
        row.text[2] = thread_index(ui.trace().launch.block, factor.thread, ui.notation());
        row.text[3] = grouped(uint64_t{when} + 1);
        row.goes_to = {ui.session.cursor.block, when};
    }
    if (factor.used > 0) row.text[4] = fmt::format("{}\u00d7", factor.used);
    if (element) row.pick = look::picked_element(factor.element.array, factor.element.index);
    row.tip = factor_text(ui.trace(), *ui.index(), factor);
    return row;
}

List output_list(const Ui& ui, const OutputTrail& trail) {
    const trace::Trace& trace = ui.trace();
    const Pick& pin = ui.session.pin;
    const analysis::Product& of_p = *ui.index()->product;
    const auto array = [&](uint8_t of) { return name_in(ui.notation(), trace.launch.arrays[of]); };
    List list{name_of(ui, {pin.array, pin.index})};
    list.say("row {} of {} times column {} of {}", pin.index / of_p.n, array(of_p.M), pin.index % of_p.n,
             array(of_p.N));
    const std::string expected = short_value(value_of(trail.expected));
    if (!trail.thread) {
        list.say("Another block computes it.");
        list.say("expected in the end: {}", expected);
        return list;
    }
    list.say("{}: warp {}, lane {}", thread_name(trace.launch.block, *trail.thread, ui.notation()),
             *trail.thread / kWarpSize, *trail.thread % kWarpSize);
    const size_t done = products_done(trail, ui.step()), all = trail.products.size();
    list.say("sum so far {}, after {} of {} products",
             done == 0 ? "0" : short_value(trail.products[done - 1].sum), grouped(done), grouped(all));
    const auto& result = trace.meta.result;
    if (!trail.stored) {
        list.warning = "never stored; expected " + expected;
    } else {
        const std::string stores = fmt::format("stores {} {}", short_value(trail.stored->value),
                                               when_text(trace, *ui.index(), trail.stored->step));
        if (number_of(trail.stored->value) == trail.expected || (result.verified && result.checked))
            list.say("{}, as expected", stores);
        else
            list.warning = stores + "; expected " + expected;
    }
    list.heads({"element", "value", "loaded by", "at step", "used"});
    const std::vector<ProductRow>& rows = ui.state.provenance.rows;
    list.origins = ui.state.provenance.origins;
    list.rows = rows.size();
    list.row = [&](size_t row) { return product_row(ui, ui.state.provenance.rows[row]); };
    if (all == 0) return list;
    const ProductTrail &last = trail.products.back(), &next = trail.products[std::min(done, all - 1)];
    for (const FactorTrail* factor : {&last.m, &last.n})
        if (factor->element.array != trace::kNoArray) list.widen(0, name_of(ui, factor->element));
    list.widen(3, grouped(ui.index()->steps));
    // The phase's heading stays in sight with the product that comes next.
    list.here = static_cast<size_t>(std::ranges::find(rows, &next, &ProductRow::product) - rows.begin());
    return list;
}

std::string lanes_text(uint32_t lanes) {
    const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
    const auto last = 31u - static_cast<uint32_t>(std::countl_zero(lanes));
    if (first == last) return std::to_string(first);
    if (static_cast<uint32_t>(std::popcount(lanes)) == last - first + 1)
        return fmt::format("{}\u2013{}", first, last);
    return fmt::format("{} of 32", std::popcount(lanes));
}

std::string block_of(const Ui& ui, const trace::Block& block) {  // "(1,0)"
    return block_index(ui.trace().launch.grid, {block.x, block.y, block.z}, ui.notation());
}

TrailRow request_row(const Ui& ui, const ElementTouch& touch) {
    const playback::Cursor& now = ui.session.cursor;
    const uint32_t number = trace::block_of(ui.trace(), touch.step);
    const trace::Block& block = ui.trace().blocks[number];
    const auto step = static_cast<uint32_t>(touch.step - block.first);
    TrailRow row;
    row.goes_to = {number, step};
    row.current = row.goes_to == now;
    row.done = number < now.block || (number == now.block && step <= now.step);
    row.text = {grouped(uint64_t{step} + 1), block_of(ui, block), std::to_string(touch.warp),
                lanes_text(touch.lanes)};
    const uint32_t thread = touch.warp * kWarpSize + static_cast<uint32_t>(std::countr_zero(touch.lanes));
    row.pick = {.kind = Pick::Kind::Thread, .thread = thread, .warp = touch.warp};
    row.tip =
        fmt::format("warp {} of block {} {} it", touch.warp, row.text[1], touch.store ? "stores" : "loads");
    const bool here = number == ui.index()->block;
    const analysis::PhaseMap& phases =
        here ? ui.index()->phases : ui.state.provenance.phases_of(*ui.session.recording, number);
    const uint32_t phase = step < phases.phase.size() ? phases.phase[step] : 0;
    if (phase != analysis::kAfter || phases.phases > 0) {
        const std::string words = phase_words(phase, ui.notation());  // "phase 3", "after the last phase"
        row.text[4] = phase == analysis::kAfter ? "after" : words.substr(std::size("phase"));
        row.tip += (phase == analysis::kAfter ? " " : " in ") + words;
    }
    row.tip += here ? " " + when_text(ui.trace(), *ui.index(), step) : " at step " + row.text[0];
    return row;
}

List touch_list(const Ui& ui, const TouchScan& scan) {
    const trace::Trace& trace = ui.trace();
    List list{name_of(ui, scan.element)};
    const Array& array = trace.launch.arrays[scan.element.array];
    if (array.reads()) list.title += " = " + short_value(initial_value(array, scan.element.index));
    const std::string part =
        scan.done(trace) ? "" : fmt::format(", {}\u00a0% looked through", 100 * scan.next / trace.steps());
    if (scan.requests == 0)
        list.say("no recorded request touches it{}", part);
    else
        list.say("{} {} by {}{}", grouped(scan.lanes), scan.lanes == 1 ? "access" : "accesses",
                 counted(scan.requests, "request"), part);
    if (scan.requests > 0 && trace.blocks.size() > 1)
        list.say("of {} of {} recorded", counted(scan.blocks, "block"), grouped(trace.blocks.size()));
    if (scan.requests > scan.touches.size())
        list.say("the first {} are listed", grouped(scan.touches.size()));
    list.heads({"step", "block", "warp", "lanes", "phase"});
    list.widest[0] = grouped(trace.blocks[0].count);
    list.widen(1, block_of(ui, trace.blocks.back()));
    list.rows = scan.touches.size();
    list.row = [&](size_t row) { return request_row(ui, scan.touches[row]); };
    const uint64_t now = ui.index()->first + ui.step();
    const auto after = std::ranges::upper_bound(scan.touches, now, {}, &ElementTouch::step);
    list.here = static_cast<size_t>(std::max<std::ptrdiff_t>(after - scan.touches.begin(), 1) - 1);
    return list;
}

List cell_list(const Ui& ui, const playback::Element& pinned) {
    const look::BlockIndex& index = *ui.index();
    const CellTrail cell = cell_trail(ui.trace(), index, *ui.session.replay, pinned, ui.step());
    const playback::CellState& held = cell.held;
    uint32_t listed = 0;  // lane reads of the cell
    for (const ElementTouch& reader : cell.readers)
        listed += static_cast<uint32_t>(std::popcount(reader.lanes));
    const bool all = listed >= held.reads;
    List list{name_of(ui, pinned)};
    list.say("bank {} of {}", look::bank_of(ui.trace().launch.arrays[pinned.array], pinned.index),
             int{analysis::kBanks});
    if (!held.written) {
        if (held.reads == 0)
            list.say("Nothing has been stored here yet.");
        else
            list.warning = "read before anything was stored here";
    } else {
        list.title += " = " + short_value(held.value);
        const bool stale = origin_of(index, held, ui.step()) == Origin::Stale;
        const char* const constant = number_of(held.value) != 0 ? "a computed value"
                                     : index.product            ? "a zero, for an element outside the matrix"
                                                                : "a zero";
        list.say("holds {}{}", held.source.array != trace::kNoArray ? name_of(ui, held.source) : constant,
                 stale ? ", stale: of an earlier phase" : "");
        if (cell.load_step != kNever) list.say("loaded {}", when_text(ui.trace(), index, cell.load_step));
        list.say("stored by {} {}", thread_name(ui.trace().launch.block, held.thread, ui.notation()),
                 when_text(ui.trace(), index, held.step));
        const std::string by = all ? ", by " + counted(cell.readers.size(), "request") : "";
        list.say("{}",
                 held.reads == 0 ? "not read since" : "read " + times_in_words(held.reads) + " since" + by);
    }
    if (!all) list.say("the latest {} are listed", grouped(cell.readers.size()));
    list.heads({"read at step", "", "warp", "lanes", "phase"});
    list.widest[3] = "16\u201331";
    list.rows = cell.readers.size();
    list.here = std::max<size_t>(list.rows, 1) - 1;
    list.row = [&ui, readers = cell.readers](size_t row) {
        TrailRow made = request_row(ui, readers[row]);
        made.text[1].clear();
        return made;
    };
    return list;
}

// What is known of the pin, brought up to date: a long recording is looked through some steps further.
List list_of_pin(Ui& ui) {
    Provenance& known = ui.state.provenance;
    const session::Session& session = ui.session;
    const Pick& pin = session.pin;
    const playback::Element pinned{pin.array, pin.index};
    const bool output = is_output(ui, pin.array);
    if (known.session != session.recording->serial || known.pin != pin ||
        (output && known.replay != session.replay)) {
        known = {.session = session.recording->serial, .pin = pin, .replay = session.replay};
        if (output && session.replay) {
            known.output = output_trail(ui.trace(), *ui.index(), *session.replay, pin.index);
            for (const ProductTrail& product : known.output->products) {
                if (known.rows.empty() || known.rows.back().product->phase != product.phase)
                    known.rows.push_back({&product});
                for (const FactorTrail* factor : {&product.m, &product.n}) {
                    known.rows.push_back({&product, factor});
                    known.origins.insert(factor->origin);
                }
            }
        }
        if (!output && pin.kind == Pick::Kind::Element) known.scan = TouchScan{.element = pinned};
    }
    if (known.output) return output_list(ui, *known.output);
    if (known.scan) {
        if (!known.scan->done(ui.trace()))
            go_on(*known.scan, ui.trace(), ui.context.waits ? UINT64_MAX : kScannedAFrame);
        if (!known.scan->done(ui.trace())) ui.context.another_frame = true;
        return touch_list(ui, *known.scan);
    }
    if (pin.kind == Pick::Kind::SharedCell && session.replay) return cell_list(ui, pinned);
    return {name_of(ui, pinned),
            {session.no_values.empty() ? "Its values are being worked out." : session.no_values}};
}

// Told apart by shape: a full square, a struck one, a hollow diamond, a disc, a cross.
void origin_mark(Ui& ui, const Rect& box, Origin origin) {
    const ImVec2 middle{(box.min.x + box.max.x) / 2, (box.min.y + box.max.y) / 2};
    const float width = std::max(1.f, ui.px(1.5f));
    if (origin == Origin::Element) ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::GlobalLoad));
    if (origin == Origin::Computed) {
        ui.list.AddCircleFilled(middle, box.width() / 2, ui.ink(Ink::Product));
        ui.list.AddCircle(middle, box.width() / 2, ui.context.palette.edge_of(Ink::Product));
    }
    if (origin == Origin::Nothing) ui.list.AddLine(box.min, box.max, ui.ink(Ink::Fault), width);
    if (origin == Origin::Stale)
        ui.list.AddQuad({middle.x, box.min.y - 1}, {box.max.x + 1, middle.y}, {middle.x, box.max.y + 1},
                        {box.min.x - 1, middle.y}, ui.ink(Ink::Fault), width);
    if (origin == Origin::ZeroFill) {
        ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Outside));
        ui.list.AddRect(box.min, box.max, ui.ink(Ink::LineStrong));
    }
    if (origin == Origin::ZeroFill || origin == Origin::Nothing)
        ui.list.AddLine({box.min.x, box.max.y}, {box.max.x, box.min.y},
                        ui.ink(origin == Origin::Nothing ? Ink::Fault : Ink::TextQuiet), width);
}

// Right edges of the columns; the first is aligned left. A column that does not fit is left out (0): the step
// goes first, as pointing at the row still says it.
using Columns = std::array<float, kColumns>;
Columns columns_of(Ui& ui, const List& list, float x, float width) {
    const draw::Font numbers = ui.font(Face::Mono, Size::Small), words = ui.font(Face::Text, Size::Small);
    Columns wide{}, right{};
    for (size_t i = 0; i < kColumns; ++i)
        wide[i] =
            std::max(draw::text_size(numbers, list.widest[i]).x, draw::text_size(words, list.columns[i]).x);
    const float gap = ui.px(6);
    const auto gaps = [&] { return kColumns - 1.f - static_cast<float>(std::ranges::count(wide, 0.f)); };
    const auto used = [&] { return std::accumulate(wide.begin(), wide.end(), 0.f) + gap * gaps(); };
    for (const size_t column : {3, 1})
        if (used() > width) wide[column] = 0;
    const float apart = gap + std::max(0.f, width - used()) / std::max(1.f, gaps());
    for (size_t i = 0; i < kColumns; ++i) {
        if (wide[i] == 0) continue;
        right[i] = x + wide[i];
        x = right[i] + apart;
    }
    return right;
}

void row_text(Ui& ui, const Texts& text, const Columns& right, float x, float y, Face face, Ink ink) {
    line(ui, {x, y}, right[0] - x + ui.px(6), face, Size::Small, ink, text[0]);
    for (size_t i = 1; i < kColumns; ++i)
        if (right[i] != 0)
            line(ui, {right[i], y}, right[i] - x, face, Size::Small, ink, text[i], Align::Right);
}

void legend(Ui& ui, const Rect& row, const List& list) {
    float x = row.min.x;
    const float size = ui.px(9), top = std::round((row.min.y + row.max.y - size) / 2);
    for (const Origin origin : list.origins) {
        origin_mark(ui, {{x, top}, {x + size, top + size}}, origin);
        x += size + ui.px(6);
        x += note(ui, {x, row.min.y}, row.max.x - x, words_of(origin)) + ui.px(12);
    }
}

// The first row in sight: the one of the step, until the wheel is turned.
size_t first_row(Ui& ui, const List& list, const Rect& area, size_t shown) {
    Provenance& known = ui.state.provenance;
    const uint64_t step = ui.index()->first + ui.step();
    if (known.step != step) known.follows = true;
    known.step = step;
    if (known.follows) known.scroll = static_cast<double>(list.here) - static_cast<double>(shown / 3);
    if (const float wheel = ImGui::GetIO().MouseWheel; ui.over(area) && wheel != 0) {
        known.follows = false;
        known.scroll -= 3.0 * wheel;
    }
    known.scroll = std::clamp(known.scroll, 0.0, static_cast<double>(std::max(list.rows, shown) - shown));
    return static_cast<size_t>(std::round(known.scroll));
}

}  // namespace

bool provenance_panel(Ui& ui, const Rect& rect) {
    const Pick& pin = ui.session.pin;
    const auto& arrays = ui.trace().launch.arrays;
    if (pin.array >= arrays.size() || pin.index >= arrays[pin.array].elements()) return false;
    const bool global = arrays[pin.array].space == Space::Global;
    if (pin.kind != (global ? Pick::Kind::Element : Pick::Kind::SharedCell)) return false;
    surface(ui, rect);
    const List list = list_of_pin(ui);
    const Rect in = rect.inset(ui.px(12));
    const float small = line_height(ui, Size::Small);
    float y = in.min.y;
    line(ui, {in.min.x, y}, in.width() - ui.px(80), Face::Strong, Size::Body, Ink::Text, list.title);
    small_text(ui, {in.max.x, y + ui.px(3)}, ui.px(80), Ink::TextFaint, "Esc closes", Align::Right);
    y += line_height(ui, Size::Body) + ui.px(2);
    for (const std::string& fact : list.facts)
        y += paragraph(ui, {in.min.x, y}, in.width(), Face::Text, Size::Small, Ink::TextQuiet, fact, 2);
    if (!list.warning.empty()) {
        const float s = ui.px(10), x = in.min.x, top = y + (small - s) / 2, text = x + s + ui.px(6);
        ui.list.AddTriangleFilled({x + s / 2, top}, {x + s, top + s}, {x, top + s}, ui.ink(Ink::Fault));
        y += paragraph(ui, {text, y}, in.max.x - text, Face::Text, Size::Small, Ink::Text, list.warning, 2);
    }
    if (list.rows == 0) return true;
    y += ui.px(6);
    ui.list.AddLine({in.min.x, y}, {in.max.x, y}, ui.ink(Ink::Line));
    y += ui.px(4);
    const float mark = ui.px(9), x = in.min.x + mark + ui.px(8);
    const Columns columns = columns_of(ui, list, x, in.max.x - x);
    row_text(ui, list.columns, columns, x, y, Face::Text, Ink::TextFaint);
    y += small + ui.px(2);

    const bool origins = !list.origins.empty();
    std::vector<std::string> words;
    if (origins && in.max.y - y > small * 14) {
        // The next product in words: who loaded its factors, when, how often each was used.
        const size_t next = list.here + (list.row(list.here).heading ? 1 : 0);
        for (size_t i = next; i < std::min(next + 2, list.rows); ++i)
            std::ranges::move(wrapped(ui.font(Face::Text, Size::Small), list.row(i).tip, in.width()),
                              std::back_inserter(words));
    }
    const float foot = (origins ? small + ui.px(8) : 0) +
                       (words.empty() ? 0 : small * static_cast<float>(words.size()) + ui.px(8));
    const Rect area{{rect.min.x, y}, {rect.max.x, in.max.y - foot}};
    const auto shown = static_cast<size_t>(std::max(0.f, area.height() / small));
    const size_t first = first_row(ui, list, area, shown);
    for (size_t i = first; i < std::min(first + shown, list.rows); ++i) {
        const TrailRow row = list.row(i);
        const float top = y + static_cast<float>(i - first) * small;
        const Rect band{{rect.min.x + ui.px(4), top}, {rect.max.x - ui.px(4), top + small}};
        if (row.heading) {
            line(ui, {in.min.x, top}, in.width(), Face::Strong, Size::Small, Ink::Text, row.text[0]);
            continue;
        }
        if (row.current) lit_band(ui, band, ui.ink(Ink::Product), 0.22f);
        const Rect box{{in.min.x, std::round(top + (small - mark) / 2)},
                       {in.min.x + mark, std::round(top + (small + mark) / 2)}};
        if (origins)
            origin_mark(ui, box, row.origin);
        else
            pictures::sign(
                ui, box,
                look::kind_of(ui.trace(), ui.trace().blocks[row.goes_to->block].first + row.goes_to->step));
        row_text(ui, row.text, columns, x, top, Face::Mono, row.done ? Ink::Text : Ink::TextFaint);
        if (!ui.over(band)) continue;
        ui.tip = row.tip;
        ui.hovered = row.pick;
        if (!row.goes_to) continue;
        ui.list.AddRect(band.min, band.max, ui.ink(Ink::Accent), ui.px(3));
        if (ImGui::IsMouseClicked(0)) {
            ui.session.cursor.block = row.goes_to->block;
            session::go_to(ui.session, row.goes_to->step);
            ui.context.another_frame = true;
        }
    }
    // How much of the list is in sight.
    if (list.rows > shown && shown > 0) {
        const auto rows = static_cast<float>(list.rows), in_sight = static_cast<float>(shown);
        const float high = std::max(ui.px(12), area.height() * in_sight / rows);
        const float top = area.min.y + (area.height() - high) * static_cast<float>(first) / (rows - in_sight);
        ui.list.AddRectFilled({rect.max.x - ui.px(4), top}, {rect.max.x - ui.px(1), top + high},
                              ui.ink(Ink::LineStrong), ui.px(2));
    }
    if (!origins) return true;
    float below = area.max.y + ui.px(8);
    if (!words.empty())
        ui.list.AddLine({in.min.x, below - ui.px(4)}, {in.max.x, below - ui.px(4)}, ui.ink(Ink::Line));
    for (const std::string& part : words) {
        small_text(ui, {in.min.x, below}, in.width() + 1, Ink::Text, part);
        below += small;
    }
    legend(ui, {{in.min.x, in.max.y - small}, in.max}, list);
    return true;
}

}  // namespace tilescope::step
