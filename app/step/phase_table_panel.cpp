// The lectures' table, thread by phase: what each thread of the block loads and to where, and what it
// multiplies. A cell fills as the steps go; what happens at this step is lit.
//
//   Phase table   block (0,0)                              [names] [values] [close]
//             phase 0                               phase 1
//   thread    loads              multiplies         loads
//   [0,0]     M[0,0]->Mds[0,0]   Mds[0,0]*Nds[0,0]
//   P[0,0]    N[0,0]->Nds[0,0]   + Mds[0,1]*Nds[1,0]
//
// Where that is too wide, multiplies stand below loads; where there are more phases than fit, those about the
// step are shown; of more threads than fit those of the warp or the pin, and the wheel scrolls.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "app/pictures/pictures.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

using playback::Element;
using playback::kNever;
using playback::LoadedInPhase;
using playback::SummedInPhase;
using playback::TableWindow;

// More lines than this of a cell are told by their number.
constexpr size_t kMostLoads = 4, kMostTerms = 3;
// Rows that the back row is to see, where they can be had; and what stands for products between two.
constexpr uint32_t kFewRows = 6;
constexpr std::string_view kLeftOut = "\u2026 ";
constexpr const char* kOfMatrices = " of matrices";
// The longest value that short_value() writes.
constexpr std::string_view kLongestValue = "\u22120.1234", kInto = "\u2192", kTimes = "\u00b7";

// A line of a cell.
struct TableLine {
    std::string text, tip;
    bool now = false;  // it happens at the step shown
};
struct CellLines {
    std::vector<TableLine> loads, terms;
    size_t matrices = 0;  // products of matrices so far
    bool multiplies_now = false;
};

// How wide and how high the table's parts are, in pixels.
struct TableShape {
    Size size = Size::Small;
    bool beside = true;           // multiplies stand beside loads, else below
    size_t loads = 1, terms = 1;  // lines of a cell
    float thread = 0, load = 0, term = 0, gap = 0, air = 0, row = 0;
    uint32_t phases = 1;  // side by side
    float cell() const { return beside ? load + gap + term : std::max(load, term); }
    float phase() const { return cell() + gap * 2 + air; }
};

struct TableShown {
    Ui& ui;
    const Rect& in;
    const playback::BlockReplay& replay;
    TableState& state = ui.state.table;
    const bool values = ui.state.middle == Middle::Values;
    const bool product = ui.index()->product.has_value();
    const uint32_t phases = ui.index()->phases.phases;
    const uint32_t threads = static_cast<uint32_t>(ui.trace().launch.block.count());
    TableShape shape{};

    const Array& array(uint8_t number) const { return ui.trace().launch.arrays[number]; }
    // What a thread stores of the output: "P[1,3]"; for several elements the first of its rectangles.
    std::string owned(uint32_t thread) const {
        const BlockIndex& index = *ui.index();
        if (thread < index.patches.size())
            return look::patch_text(ui.trace(), index, thread) +
                   (index.patches[thread].size() > 1 ? "…" : "");
        const auto output = look::output_of(index, thread);
        return output ? name(*output) : "";
    }
    std::string name(const Element& element) const {
        return element_name(array(element.array), static_cast<int64_t>(element.index), ui.notation());
    }
    std::string longest(uint8_t of) const {
        if (of == trace::kNoArray) return values ? "" : "0";
        return element_name(array(of), static_cast<int64_t>(std::max<uint64_t>(array(of).elements(), 1)) - 1,
                            ui.notation());
    }
    bool happened(uint32_t step) const { return step != kNever && step <= ui.step(); }

    playback::PhaseWork work(const TableWindow& window) const {
        return playback::phase_work(ui.trace(), replay, ui.index()->phases, window);
    }

    // --- what stands in a cell

    TableLine line_of(const LoadedInPhase& load) const {
        TableLine line;
        const std::string value = short_value(load.value);
        const bool known = load.from.array != trace::kNoArray;
        const bool loaded = happened(load.load_step);
        if (loaded || (load.load_step == kNever && !load.to.empty() && happened(load.to.front().step)))
            line.text = values || !known ? (load.computed && !values ? "computed" : value) : name(load.from);
        if (line.text.empty()) return line;
        if (load.elements > 1) {
            const LoadedInPhase::Stored& stored = load.to.front();
            if (known && !values) line.text += " to " + name(load.last_from);
            if (values) line.text = counted(load.elements, "value");
            line.text.append(kInto).append(name(stored.cell));
            line.now = stored.step == ui.step();
            line.tip =
                fmt::format("{} copies {} to {} and behind it at step {}",
                            thread_name(ui.trace().launch.block, load.thread, ui.notation()),
                            counted(load.elements, "element"), name(stored.cell), grouped(stored.step + 1));
            return line;
        }
        line.now = load.load_step == ui.step();
        line.tip = thread_name(ui.trace().launch.block, load.thread, ui.notation());
        if (loaded)
            line.tip +=
                fmt::format(" loads {} = {} at step {}", name(load.from), value, grouped(load.load_step + 1));
        else
            line.tip += fmt::format(" has {} to store", known ? name(load.from) : value);
        for (const LoadedInPhase::Stored& stored : load.to) {
            if (!happened(stored.step)) continue;
            line.text.append(kInto).append(name(stored.cell));
            line.now = line.now || stored.step == ui.step();
            line.tip +=
                fmt::format(", stores it to {} at step {}", name(stored.cell), grouped(stored.step + 1));
        }
        return line;
    }

    std::string factor(const playback::Factor& of) const {
        return of.known() && !values ? name(of.element) : short_value(of.value);
    }

    // The first products of a cell, and the latest where they are many; with values what they add up to.
    void add_terms(CellLines& cell, const SummedInPhase& sum) const {
        const auto& all = sum.terms;
        const auto done = static_cast<size_t>(
            std::ranges::upper_bound(all, ui.step(), {}, &SummedInPhase::Addend::after_step) - all.begin());
        const auto add = [&](size_t i) {
            const SummedInPhase::Addend& term = all[i];
            const char* const plus = i > 0 ? "+ " : "";
            std::string second = factor(term.b);
            if (second.starts_with(kMinus)) second = "(" + second + ")";
            TableLine line{plus + factor(term.a).append(kTimes) + second, "", term.after_step == ui.step()};
            line.tip =
                fmt::format("{}{}{} = {}{}{}, after step {}; the sum is then {}",
                            term.a.known() ? name(term.a.element) : "", kTimes,
                            term.b.known() ? name(term.b.element) : "", short_value(term.a.value), kTimes,
                            short_value(term.b.value), grouped(term.after_step + 1), short_value(term.sum));
            cell.terms.push_back(std::move(line));
        };
        const size_t room = shape.terms - (values ? 1 : 0);
        if (done <= room) {
            for (size_t i = 0; i < done; ++i) add(i);
        } else {
            add(0);
            if (room > 2) cell.terms.push_back({fmt::format("+ \u2026 {} more", done - 2), "", false});
            if (room > 1) add(done - 1);
            if (room == 2 && done > 2) cell.terms.back().text.insert(0, kLeftOut);
        }
        if (!values || done == 0) return;
        cell.terms.push_back({"= " + short_value(all[done - 1].sum), "", false});
        if (sum.target) cell.terms.back().tip = name(*sum.target) + " so far";
    }

    TableLine line_of(const playback::StoredInPhase& store) const {
        if (!happened(store.step)) return {};
        const std::string text = fmt::format("{} = {}", name(store.to), short_value(store.value));
        return {text, fmt::format("{}, at step {}", text, grouped(store.step + 1)), store.step == ui.step()};
    }

    // [thread in sight][phase in sight]
    std::vector<CellLines> cells() const {
        const TableWindow& w = state.window;
        const uint32_t columns = w.end_phase - w.first_phase;
        std::vector<CellLines> all(size_t{w.end_thread - w.first_thread} * columns);
        const auto of = [&](const auto& at) -> CellLines& {
            return all[size_t{at.thread - w.first_thread} * columns + (at.phase - w.first_phase)];
        };
        for (const LoadedInPhase& load : state.shown.loads)
            if (TableLine line = line_of(load); !line.text.empty()) of(load).loads.push_back(std::move(line));
        for (const SummedInPhase& sum : state.shown.sums) add_terms(of(sum), sum);
        for (const playback::MatrixProductInPhase& made : state.shown.matrices) {
            if (!happened(made.step)) continue;
            ++of(made).matrices;
            of(made).multiplies_now = of(made).multiplies_now || made.step == ui.step();
        }
        for (CellLines& cell : all)
            if (cell.matrices > 0)
                cell.terms.push_back({counted(cell.matrices, "product") + kOfMatrices, "on tensor cores",
                                      cell.multiplies_now});
        if (!product)
            for (const playback::StoredInPhase& store : state.shown.stores)
                if (TableLine line = line_of(store); !line.text.empty())
                    of(store).terms.push_back(std::move(line));
        for (CellLines& cell : all)
            for (auto* const lines : {&cell.loads, &cell.terms}) {
                const size_t most = lines == &cell.loads ? shape.loads : shape.terms;
                if (lines->size() <= most) continue;
                const size_t more = lines->size() - most + 1;
                lines->resize(most - 1);
                lines->push_back({fmt::format("and {} more", more), "", false});
            }
        return all;
    }

    // --- how it is laid out

    // The first thread that asks for a copy in bulk: for others, too.
    std::optional<uint32_t> first_that_copies() const {
        const trace::Trace& trace = ui.trace();
        const BlockIndex& index = *ui.index();
        for (uint32_t step = 0; step < index.steps; ++step) {
            const trace::Form& form = trace.form_of(index.first + step);
            const ptx::Box box = trace.sites[form.site].box;
            if (form.mask != 0 && (box == ptx::Box::Row || box == ptx::Box::Tensor))
                return trace.warp_of(index.first + step) * kWarpSize +
                       static_cast<uint32_t>(std::countr_zero(form.mask));
        }
        return std::nullopt;
    }
    // As the first phases of the block's first thread have it: the others do the same.
    void measure() {
        std::map<uint32_t, size_t> loads, terms;  // by phase
        std::string load = "loads", term = product ? "multiplies" : "stores", target = "thread";
        for (const LoadedInPhase& of : state.first.loads) {
            ++loads[of.phase];
            std::string text = longest(of.from.array);
            if (values) text = kLongestValue;
            if (of.elements > 1 && !values) text += " to " + longest(of.from.array);
            for (const auto& stored : of.to) text.append(kInto).append(longest(stored.cell.array));
            load = std::max(load, text, shorter);
        }
        for (const SummedInPhase& of : state.first.sums) {
            terms[of.phase] += of.terms.size();
            if (of.target) target = std::max(target, longest(of.target->array), shorter);
            for (const auto& one : {of.terms.front(), of.terms.back()}) {
                std::string text = "+ ";
                text.append(values ? kLongestValue : longest(one.a.element.array)).append(kTimes);
                term = std::max(term, text.append(values ? kLongestValue : longest(one.b.element.array)),
                                shorter);
            }
        }
        if (!state.first.matrices.empty()) {
            term = std::max(term, counted(state.first.matrices.size(), "product") + kOfMatrices, shorter);
            ++terms[state.first.matrices.front().phase];
        }
        if (!product)
            for (const auto& of : state.first.stores) {
                ++terms[of.phase];
                term = std::max(term, longest(of.to.array) + " = " + std::string(kLongestValue), shorter);
            }
        const auto most = [](const std::map<uint32_t, size_t>& counts, size_t limit) {
            size_t all = 1;
            for (const auto& [phase, count] : counts) all = std::max(all, count);
            return std::min(all, limit);
        };
        shape.loads = most(loads, kMostLoads);
        shape.terms = most(terms, kMostTerms) + (values && product ? 1 : 0);
        const std::string thread = std::max(
            {target, thread_index(ui.trace().launch.block, threads - 1, ui.notation()), owned(threads - 1)},
            shorter);
        // The largest type in which all of it fits; else beside each other where that shows two phases.
        float overhang = 0;  // of the shape chosen: by how much it is wider than the panel
        for (const Size size : {Size::Body, Size::Small})
            for (const bool beside : {true, false}) {
                TableShape next = shape;
                const auto width = [&](const std::string& text) {
                    return std::ceil(draw::text_size(ui.font(Face::Mono, size), text).x);
                };
                next.size = size, next.beside = beside, next.gap = ui.px(10), next.air = 0;
                next.thread = width(thread) + ui.px(18);
                next.load = width(load), next.term = width(term);
                const size_t lines = beside ? std::max(next.loads, next.terms) : next.loads + next.terms;
                next.row = line_height(ui, size) * static_cast<float>(lines) + ui.px(beside ? 6 : 5);
                const float fit = std::floor((in.width() - next.thread) / next.phase());
                next.phases = std::clamp(static_cast<uint32_t>(std::max(fit, 1.f)), 1u, std::max(phases, 1u));
                // What is left over is air between the phases.
                const float left = in.width() - next.thread - next.phase() * static_cast<float>(next.phases);
                next.air = std::clamp(left / static_cast<float>(next.phases), 0.f, ui.px(80));
                const bool whole = next.phases == phases && left >= 0 && rows_in(next) >= threads;
                const bool first = size == Size::Small && beside;
                const bool enough = !ui.session.lecture || rows_in(next) >= std::min(kFewRows, threads);
                const bool better =
                    (next.phases > shape.phases && shape.phases < 2) || (overhang > 0 && -left < overhang);
                if (whole || first || (size == Size::Small && better && enough))
                    shape = next, overhang = std::max(-left, 0.f);
                if (whole) return;
            }
        // For the back row: more threads rather than more products of each.
        const bool many = product && most(terms, kMostTerms) == kMostTerms && shape.loads < shape.terms;
        if (!ui.session.lecture || !shape.beside || !many || rows_in(shape) >= std::min(kFewRows, threads))
            return;
        const float left_out = std::ceil(draw::text_size(ui.font(Face::Mono, shape.size), kLeftOut).x);
        --shape.terms;
        shape.term += left_out, shape.air = std::max(0.f, shape.air - left_out);
        shape.row -= line_height(ui, shape.size);
    }
    // Rows of threads that there is room for.
    uint32_t rows_in(const TableShape& of) const {
        const float room = in.height() - heads_high(of) + ui.px(4);
        return static_cast<uint32_t>(std::max(1.f, std::floor(room / of.row)));
    }
    float heads_high(const TableShape& of) const {
        return line_height(ui, Size::Body) + ui.px(8) + line_height(ui, of.size) +
               (of.beside ? line_height(ui, Size::Small) : 0) + ui.px(4);
    }

    // The threads and phases that are in sight.
    TableWindow window(uint32_t rows) {
        TableWindow w;
        const look::BlockIndex& index = *ui.index();
        uint32_t phase = index.phase_at(ui.step());
        if (phase >= phases) phase = phases - 1;
        w.first_phase = std::min(phase / shape.phases * shape.phases, phases - shape.phases);
        w.end_phase = w.first_phase + shape.phases;
        rows = std::min(rows, threads);
        uint32_t first = 0;
        const Pick& pin = ui.session.pin;
        if (state.pin != pin) state.follows = true, state.pin = pin, state.pinned = kNever;
        if (pin.kind == Pick::Kind::None)
            state.pinned = kNever;
        else if (ui.shown_pick() == pin && !ui.state.selected.threads.empty())
            state.pinned = ui.state.selected.threads.front();
        if (!state.follows) {
            first = static_cast<uint32_t>(std::max(state.scroll, 0.0));
        } else if (state.pinned < threads) {
            first = state.pinned;
        } else if (ui.step() < index.steps) {
            const uint32_t of_warp = ui.trace().warp_of(index.first + ui.step()) * kWarpSize;
            first = rows > 0 && of_warp + rows <= threads ? of_warp : of_warp / std::max(rows, 1u) * rows;
        }
        w.first_thread = std::min(first, threads - rows);
        w.end_thread = w.first_thread + rows;
        state.scroll = w.first_thread;
        return w;
    }
};

// Which half of a cell a kind of step is of: what is loaded, or what is made of it.
bool is_of_loads(const Ui& ui, StepKind kind) {
    return kind == StepKind::GlobalLoad || (kind == StepKind::SharedStore && ui.index()->product);
}

void draw_lines(Ui& ui, const TableShown& table, const Rect& box, const std::vector<TableLine>& lines,
                Rgba color) {
    const float high = line_height(ui, table.shape.size);
    float y = box.min.y;
    for (const TableLine& of : lines) {
        const Rect row{{box.min.x - ui.px(4), y}, {box.max.x + ui.px(4), y + high}};
        if (of.now) lit_band(ui, row, color, 0.30f);
        line(ui, {box.min.x, y}, box.width() + 1, Face::Mono, table.shape.size,
             of.now ? Ink::Text : Ink::TextQuiet, of.text);
        if (ui.over(row) && !of.tip.empty()) ui.tip = of.tip;
        y += high;
    }
}

// Three buttons at the right end; the width that they take.
float table_buttons(Ui& ui, const Rect& in) {
    constexpr std::pair<const char*, const char*> kButtons[] = {
        {"close", "Back to the matrices (P goes on to it)"},
        {"values", "What the elements hold (P)"},
        {"names", "Which elements they are (P)"}};
    constexpr Middle kTexts[] = {Middle::Matrices, Middle::Values, Middle::Elements};
    float right = in.max.x;
    for (size_t i = 0; i < std::size(kButtons); ++i) {
        const float width =
            draw::text_size(ui.font(Face::Text, Size::Small), kButtons[i].first).x + ui.px(16);
        const Rect box{{right - width, in.min.y}, {right, in.min.y + line_height(ui, Size::Body)}};
        if (button(ui, box, kButtons[i].first, ui.state.middle == kTexts[i], true, kButtons[i].second))
            ui.state.middle = kTexts[i], ui.context.another_frame = true;
        right = box.min.x - ui.px(2);
    }
    return in.max.x - right;
}

// Why there is no table; "" where there is one.
std::string no_table(const Ui& ui) {
    if (!ui.session.no_values.empty())
        return "The table is made of values, and there are none. " + ui.session.no_values;
    if (!ui.session.replay) return "The values of this block are being worked out\u2026";
    if (ui.index()->phases.phases == 0) return "This block has no phase: it recorded no step.";
    return "";
}

}  // namespace

void phase_table_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const trace::Block& block = ui.trace().blocks[ui.session.cursor.block];
    const float body = line_height(ui, Size::Body), small = line_height(ui, Size::Small);
    const float taken = ui.session.lecture ? 0 : table_buttons(ui, in) + ui.px(8);
    const std::string why_not = no_table(ui);
    if (!why_not.empty()) {
        heading(ui, in.min, in.width() - taken, "Phase table", "");
        paragraph(ui, {in.min.x, in.min.y + body + ui.px(8)}, in.width(), Face::Text, Size::Small,
                  Ink::TextQuiet, why_not, 6);
        return;
    }
    TableState& state = ui.state.table;
    TableShown table{ui, in, *ui.session.replay};
    if (state.of != ui.session.replay) {
        state.of = ui.session.replay;
        state.first = table.work({0, 1, 0, 4});
        if (const auto copies = table.first_that_copies(); copies && state.first.loads.empty())
            state.first.loads = table.work({*copies, *copies + 1, 0, 4}).loads;
        state.window = {0, 0, 0, 0};
        state.follows = true;
    }
    table.measure();
    const TableShape& shape = table.shape;
    const float top = in.min.y + table.heads_high(shape);
    const uint32_t rows = table.rows_in(shape);
    const float wheel = ImGui::GetIO().MouseWheel;
    if (wheel != 0 && ui.over(rect) && rows < table.threads) {
        state.scroll = std::clamp(state.scroll - wheel * 3, 0.0, static_cast<double>(table.threads - rows));
        state.follows = false;
    }
    if (const TableWindow window = table.window(rows); window != state.window) {
        state.window = window;
        state.shown = table.work(window);
    }
    const TableWindow& window = state.window;
    const std::vector<CellLines> cells = table.cells();

    std::string rest = block_name(ui.trace().launch.grid, {block.x, block.y, block.z}, ui.notation());
    if (shape.phases < table.phases) rest += ", " + counted(table.phases, "phase");
    if (rows < table.threads) rest += ", " + counted(table.threads, "thread");
    heading(ui, in.min, in.width() - taken, "Phase table", rest);

    // The columns: where each begins, and its heads.
    const uint32_t phase_now = ui.index()->phase_at(ui.step());
    const float heads = in.min.y + body + ui.px(8), line_high = line_height(ui, shape.size);
    const auto x_of = [&](uint32_t phase) {
        return std::round(in.min.x + shape.thread +
                          shape.phase() * static_cast<float>(phase - window.first_phase));
    };
    const float last_row =
        std::min(in.max.y, top + shape.row * static_cast<float>(window.end_thread - window.first_thread));
    if (shape.beside)
        small_text(ui, {in.min.x, top - small - ui.px(4)}, shape.thread, Ink::TextFaint, "thread");
    ui.list.PushClipRect({rect.min.x, heads - ui.px(2)}, {rect.max.x, rect.max.y}, true);
    for (uint32_t phase = window.first_phase; phase < window.end_phase; ++phase) {
        const float x = x_of(phase), end = x + shape.cell() + shape.gap / 2;
        if (phase == phase_now)
            ui.list.AddRectFilled({x - ui.px(6), heads - ui.px(2)}, {end, last_row},
                                  draw::with_alpha(ui.ink(Ink::Accent), 0.07f), ui.px(3));
        line(ui, {x, heads}, shape.cell() + shape.gap, phase == phase_now ? Face::Strong : Face::Text,
             shape.size, phase == phase_now ? Ink::Text : Ink::TextQuiet, phase_name(phase, ui.notation()));
        if (!shape.beside) {  // one below the other: so are their heads, in words
            const float named =
                draw::text_size(ui.font(Face::Strong, shape.size), phase_name(phase, ui.notation())).x;
            const std::string both = table.product ? "loads, below it multiplies" : "loads, below it stores";
            small_text(ui, {x + named + ui.px(8), heads + (line_high - small) / 2}, shape.cell() + shape.gap,
                       Ink::TextFaint,
                       fitting(ui.font(Face::Text, Size::Small),
                               {both, table.product ? "loads, multiplies" : "loads, stores", ""},
                               shape.cell() + shape.gap - named - ui.px(8)));
            continue;
        }
        small_text(ui, {x, top - small - ui.px(4)}, shape.load, Ink::TextFaint, "loads");
        small_text(ui, {x + shape.load + shape.gap, top - small - ui.px(4)}, shape.term, Ink::TextFaint,
                   table.product ? "multiplies" : "stores");
    }

    // The rows: what happens at this step is lit.
    const bool steps = ui.step() < ui.index()->steps;
    const uint64_t step = ui.index()->first + ui.step();
    const trace::Access access = steps ? trace::decode(ui.trace(), step) : trace::Access{};
    const StepKind kind = steps ? look::kind_of(ui.trace(), step) : StepKind::Barrier;
    const Rgba color = ui.ink(pictures::ink_of(kind));
    const uint32_t columns = window.end_phase - window.first_phase;
    for (uint32_t thread = window.first_thread; thread < window.end_thread; ++thread) {
        const uint32_t row = thread - window.first_thread;
        const float y = std::round(top + shape.row * static_cast<float>(row));
        const Rect band{{rect.min.x + ui.px(4), y}, {rect.max.x - ui.px(4), y + shape.row}};
        ui.list.AddLine({in.min.x, y - ui.px(2)}, {in.max.x, y - ui.px(2)}, ui.ink(Ink::Line));
        const bool active =
            steps && access.warp == thread / kWarpSize && (access.mask >> thread % kWarpSize & 1) != 0;
        const bool selected =
            std::ranges::find(ui.state.selected.threads, thread) != ui.state.selected.threads.end();
        if (selected)
            ui.list.AddRectFilled({band.min.x, y}, {band.min.x + ui.px(3), y + shape.row - ui.px(4)},
                                  ui.ink(Ink::Selected));
        line(ui, {in.min.x, y}, shape.thread, Face::Mono, shape.size,
             active || selected ? Ink::Text : Ink::TextQuiet,
             thread_index(ui.trace().launch.block, thread, ui.notation()));
        if (table.product && y + line_high * 2 <= last_row && shape.row >= line_high * 2)
            line(ui, {in.min.x, y + line_high}, shape.thread, Face::Mono, shape.size, Ink::TextFaint,
                 table.owned(thread));
        for (uint32_t phase = window.first_phase; phase < window.end_phase; ++phase) {
            const CellLines& cell = cells[size_t{row} * columns + (phase - window.first_phase)];
            const float x = x_of(phase);
            const float below = shape.beside ? 0 : line_high * static_cast<float>(shape.loads) + ui.px(2);
            const Rect loads{{x, y}, {x + (shape.beside ? shape.load : shape.cell()), y + shape.row}};
            const ImVec2 corner{shape.beside ? x + shape.load + shape.gap : x, y + below};
            const Rect terms{corner, {corner.x + (shape.beside ? shape.term : loads.width()), y + shape.row}};
            if (active && phase == phase_now && asks_memory(kind)) {
                const Rect& half = is_of_loads(ui, kind) ? loads : terms;
                const size_t lines = is_of_loads(ui, kind) ? cell.loads.size() : cell.terms.size();
                const float end = half.min.y + line_high * static_cast<float>(std::max<size_t>(lines, 1));
                ui.list.AddRect({half.min.x - ui.px(5), half.min.y - 1}, {half.max.x + ui.px(4), end + 1},
                                color, 0, 0, ui.px(1.5f));
            }
            draw_lines(ui, table, loads, cell.loads, color);
            draw_lines(ui, table, terms, cell.terms, color);
        }
        if (ui.over(band))
            input::offer_pick(ui, {.kind = Pick::Kind::Thread, .thread = thread, .warp = thread / kWarpSize});
    }
    ui.list.PopClipRect();
    if (rows >= table.threads) return;
    // How far down the list this is.
    const float high = last_row - top,
                thumb =
                    std::max(high * static_cast<float>(rows) / static_cast<float>(table.threads), ui.px(12));
    const float at = top + (high - thumb) * static_cast<float>(window.first_thread) /
                               static_cast<float>(table.threads - rows);
    ui.list.AddRectFilled({rect.max.x - ui.px(6), at}, {rect.max.x - ui.px(3), at + thumb},
                          ui.ink(Ink::LineStrong), ui.px(2));
}

}  // namespace tilescope::step
