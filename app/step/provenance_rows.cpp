#include "app/step/provenance_rows.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "app/step/matrix_view.h"
#include "core/base/contents.h"

namespace tilescope::step {
namespace {

using look::Pick;
using playback::kNever;
using session::Session;

const trace::Trace& trace_of(const Session& session) { return *session.recording->trace; }

// "[3,5]": a thread where a column's heading says that it is one.
std::string short_thread(const trace::Trace& trace, uint32_t thread) {
    return thread_index(trace.launch.block, thread);
}

std::string thread_words(const trace::Trace& trace, uint32_t thread) {
    return fmt::format("{}: warp {}, lane {}", thread_name(trace.launch.block, thread), thread / kWarpSize,
                       thread % kWarpSize);
}

// Row r of the list of an element of P: a heading before each phase, then two rows a product.
struct ProductRow {
    bool heading = false;
    size_t product = 0;
    bool n = false;
};
size_t row_of(const std::vector<size_t>& starts, size_t product) {
    const auto phases =
        static_cast<size_t>(std::upper_bound(starts.begin(), starts.end(), product) - starts.begin());
    return phases + product * 2;
}
ProductRow product_row(const std::vector<size_t>& starts, size_t row) {
    // The last phase whose heading stands at or before the row.
    size_t low = 0, high = starts.size();
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        (row_of(starts, starts[middle]) - 1 <= row ? low : high) = middle;
    }
    const size_t heading = row_of(starts, starts[low]) - 1;
    if (row == heading) return {true, starts[low], false};
    return {false, starts[low] + (row - heading - 1) / 2, (row - heading - 1) % 2 == 1};
}

ProvenanceList output_list(const Session& session, const OutputTrail& trail) {
    const trace::Trace& trace = trace_of(session);
    ProvenanceList list;
    const uint8_t p = session.pin.array;
    const analysis::Product& product = *session.recording->product;
    list.title = element_name(trace.launch.arrays[p], trail.element);
    list.facts.push_back(fmt::format("row {} of M times column {} of N", trail.element / product.n,
                                     trail.element % product.n));
    const std::string expected = short_value(value_of(trail.expected));
    if (!trail.here) {
        list.facts.push_back("Another block computes it.");
        list.facts.push_back(fmt::format("expected in the end: {}", expected));
        return list;
    }
    list.facts.push_back(thread_words(trace, trail.thread));
    const size_t done = products_done(trail, session.cursor.step);
    list.facts.push_back(fmt::format("sum so far {}, after {} of {} products",
                                     done == 0 ? "0" : short_value(trail.products[done - 1].sum),
                                     grouped(done), grouped(trail.products.size())));
    if (!trail.stored) {
        list.facts.push_back(fmt::format("never stored; expected {}", expected));
        list.warn = static_cast<int>(list.facts.size()) - 1;
    } else if (number_of(*trail.stored) == trail.expected ||
               (trace.meta.result.verified && trace.meta.result.checked)) {
        list.facts.push_back(fmt::format("stores {} {}, as expected", short_value(*trail.stored),
                                         when_text(trace, *session.block, trail.store_step)));
    } else {
        list.facts.push_back(fmt::format("stores {} {}; expected {}", short_value(*trail.stored),
                                         when_text(trace, *session.block, trail.store_step), expected));
        list.warn = static_cast<int>(list.facts.size()) - 1;
    }
    list.columns = {"element", "value", "loaded by", "at step", "used"};
    list.widest = list.columns;
    const auto wider = [&](size_t column, const std::string& text) {
        if (text.size() > list.widest[column].size()) list.widest[column] = text;
    };
    list.zeros = trail.zeros;
    list.stale = trail.stale;
    const std::vector<size_t>& starts = trail.phases;
    list.rows = starts.size() + trail.products.size() * 2;
    if (!trail.products.empty()) {
        const FactorTrail &m = trail.products.back().m, &n = trail.products.back().n;
        for (const FactorTrail& factor : {m, n})
            if (factor.array != trace::kNoArray)
                wider(0, element_name(trace.launch.arrays[factor.array], factor.index));
        wider(3, grouped(session.block->steps));
        // Keep the phase's heading in sight with the product that comes next.
        list.here = row_of(starts, std::min(done, trail.products.size() - 1));
        const ProductRow at = product_row(starts, list.here);
        if (at.product == starts[0] || product_row(starts, list.here - 1).heading) --list.here;
    }
    return list;
}

ProvenanceRow output_row(const Session& session, const OutputTrail& trail, size_t number) {
    const trace::Trace& trace = trace_of(session);
    const std::vector<size_t>& starts = trail.phases;
    const ProductRow at = product_row(starts, number);
    const ProductTrail& product = trail.products[at.product];
    ProvenanceRow row;
    if (at.heading) {
        row.heading = true;
        row.text[0] = product.phase == analysis::kAfter ? "after the last phase"
                                                        : fmt::format("phase {}", product.phase);
        return row;
    }
    const FactorTrail& factor = at.n ? product.n : product.m;
    row.origin = factor.origin;
    row.done = product.after_step <= session.cursor.step;
    row.current = product.after_step == session.cursor.step;
    row.text[0] = factor.array != trace::kNoArray
                      ? element_name(trace.launch.arrays[factor.array], factor.index)
                      : std::string(words_of(factor.origin));
    row.text[1] = short_value(factor.value);
    const uint32_t when = factor.load_step != kNever ? factor.load_step : factor.store_step;
    if (when != kNever) {
        row.text[2] = short_thread(trace, factor.thread);
        row.text[3] = grouped(uint64_t{when} + 1);
        row.jumps = true;
        row.cursor = {session.cursor.block, when};
    }
    if (factor.used > 0) row.text[4] = fmt::format("{}\u00d7", factor.used);
    if (factor.array != trace::kNoArray) {
        row.pick.kind = Pick::Kind::Element;
        row.pick.array = factor.array;
        row.pick.index = factor.index;
    }
    row.tip = factor_text(trace, *session.block, factor);
    return row;
}

ProvenanceList touch_list(const Session& session, const TouchScan& scan) {
    const trace::Trace& trace = trace_of(session);
    ProvenanceList list;
    const Array& array = trace.launch.arrays[scan.array];
    list.title = element_name(array, scan.element);
    if (array.reads()) list.title += " = " + short_value(initial_value(array, scan.element));
    const std::string what =
        scan.done(trace) ? "" : fmt::format(", {}\u00a0% looked through", 100 * scan.next / trace.steps());
    list.facts.push_back(scan.requests == 0
                             ? "no recorded request touches it" + what
                             : fmt::format("{} by {}{}",
                                           scan.lanes == 1 ? "1 access" : grouped(scan.lanes) + " accesses",
                                           counted(scan.requests, "request"), what));
    if (scan.requests > 0 && trace.blocks.size() > 1)
        list.facts.push_back(
            fmt::format("of {} of {} recorded", counted(scan.blocks, "block"), grouped(trace.blocks.size())));
    if (scan.requests > scan.touches.size())
        list.facts.push_back(fmt::format("the first {} are listed", grouped(scan.touches.size())));
    list.columns = {"step", "block", "warp", "lanes", "phase"};
    list.widest = list.columns;
    list.widest[0] = grouped(trace.blocks.empty() ? 0 : trace.blocks[0].count);
    if (!trace.blocks.empty())
        list.widest[1] = fmt::format("({},{})", trace.blocks.back().x, trace.blocks.back().y);
    if (list.widest[1].size() < list.columns[1].size()) list.widest[1] = list.columns[1];
    list.rows = scan.touches.size();
    if (session.cursor.block < trace.blocks.size()) {
        const uint64_t now = trace.blocks[session.cursor.block].first + session.cursor.step;
        const auto after = std::upper_bound(scan.touches.begin(), scan.touches.end(), now,
                                            [](uint64_t s, const Touch& t) { return s < t.step; });
        list.here = static_cast<size_t>(after - scan.touches.begin());
        if (list.here > 0) --list.here;
    }
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

ProvenanceRow request_row(const Session& session, uint64_t step, uint32_t warp, uint32_t lanes) {
    const trace::Trace& trace = trace_of(session);
    ProvenanceRow row;
    const uint32_t block = trace::block_of(trace, step);
    const trace::Block& of = trace.blocks[block];
    const auto at = static_cast<uint32_t>(step - of.first);
    row.cursor = {block, at};
    row.jumps = true;
    row.current = row.cursor == session.cursor;
    row.done = block < session.cursor.block || (block == session.cursor.block && at <= session.cursor.step);
    row.store = trace.sites[trace.form_of(step).site].kind == ptx::SiteKind::Store;
    row.text = {grouped(uint64_t{at} + 1), fmt::format("({},{})", of.x, of.y), std::to_string(warp),
                lanes_text(lanes), ""};
    const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
    row.pick.kind = Pick::Kind::Thread;
    row.pick.thread = warp * kWarpSize + first;
    row.pick.warp = warp;
    std::string phase;
    if (block == session.block->block) {
        const uint32_t number = session.block->phase_at(at);
        const bool after = number == analysis::kAfter, any = session.block->phases.phases > 0;
        row.text[4] = !after ? std::to_string(number) : any ? "after" : "";
        phase = !after ? fmt::format(" in phase {}", number) : any ? " after the last phase" : "";
    }
    row.tip =
        fmt::format("warp {} of {} {} it{} {}", warp, block_name(trace.launch.grid, of.x, of.y, of.z),
                    row.store ? "stores" : "loads", phase,
                    block == session.block->block ? when_text(trace, *session.block, at)
                                                  : fmt::format("at step {}", grouped(uint64_t{at} + 1)));
    return row;
}

ProvenanceList cell_list(const Session& session, const CellTrail& cell) {
    const trace::Trace& trace = trace_of(session);
    ProvenanceList list;
    list.title = element_name(trace.launch.arrays[session.pin.array], session.pin.index);
    if (cell.store_step == kNever) {
        list.facts.push_back(cell.reads == 0 ? "Nothing has been stored here yet."
                                             : "read before anything was stored here");
        if (cell.reads > 0) list.warn = 0;
    } else {
        list.title += fmt::format(" = {}", short_value(cell.value));
        list.stale = cell.origin == Origin::Stale;
        list.zeros = cell.origin == Origin::ZeroFill;
        std::string holds = cell.array != trace::kNoArray
                                ? "holds " + element_name(trace.launch.arrays[cell.array], cell.index)
                            : number_of(cell.value) == 0 ? std::string("holds a zero, for an element outside")
                                                         : std::string("holds a computed value");
        if (list.stale) holds += ", stale: of an earlier phase";
        list.facts.push_back(holds);
        if (cell.load_step != kNever)
            list.facts.push_back("loaded " + when_text(trace, *session.block, cell.load_step));
        list.facts.push_back(fmt::format("stored by {} {}", thread_name(trace.launch.block, cell.thread),
                                         when_text(trace, *session.block, cell.store_step)));
        list.facts.push_back(cell.reads == 0 ? std::string("not read since")
                                             : fmt::format("read {} since, by {}", times_text(cell.reads),
                                                           counted(cell.readers.size(), "request")));
    }
    list.columns = {"read at step", "", "warp", "lanes", "phase"};
    list.widest = list.columns;
    list.widest[3] = "16\u201331";
    list.rows = cell.readers.size();
    list.here = list.rows == 0 ? 0 : list.rows - 1;
    return list;
}

}  // namespace

bool has_provenance(const Session& session) {
    if (!session.recording || !session.block || session.block->block != session.cursor.block) return false;
    const auto& arrays = session.recording->trace->launch.arrays;
    const Pick& pin = session.pin;
    if (pin.array >= arrays.size()) return false;
    const Array& array = arrays[pin.array];
    if (pin.index >= array.elements()) return false;
    return (pin.kind == Pick::Kind::Element && array.space == Space::Global) ||
           (pin.kind == Pick::Kind::SharedCell && array.space == Space::Shared);
}

bool work_out(Provenance& known, const Session& session, uint64_t steps) {
    const trace::Trace& trace = trace_of(session);
    const Array& array = trace.launch.arrays[session.pin.array];
    const auto& product = session.recording->product;
    const bool output = product && session.pin.array == product->P;
    const bool same = known.session == session.recording->serial && known.array == session.pin.array &&
                      known.index == session.pin.index && (!output || known.replay == session.replay);
    if (!same) {
        known = {};
        known.session = session.recording->serial;
        known.array = session.pin.array;
        known.index = session.pin.index;
        known.replay = session.replay;
        if (output && session.replay)
            known.output = output_trail(trace, *session.block, *session.replay, session.pin.index);
        if (!output && array.space == Space::Global)
            known.scan = begin_scan(trace, session.pin.array, session.pin.index);
    }
    if (!known.scan || known.scan->done(trace)) return false;
    go_on(*known.scan, trace, steps);
    return !known.scan->done(trace);
}

std::optional<CellTrail> pinned_cell(const Session& session) {
    if (session.pin.kind != Pick::Kind::SharedCell || !session.replay) return {};
    return cell_trail(trace_of(session), *session.block, *session.replay, session.pin.array,
                      session.pin.index, session.cursor.step);
}

ProvenanceList provenance_list(const Provenance& known, const Session& session, const CellTrail* cell) {
    if (known.output) return output_list(session, *known.output);
    if (known.scan) return touch_list(session, *known.scan);
    if (cell != nullptr) return cell_list(session, *cell);
    ProvenanceList list;
    list.title = element_name(trace_of(session).launch.arrays[session.pin.array], session.pin.index);
    list.facts.push_back(session.no_values.empty() ? "Its values are being worked out." : session.no_values);
    return list;
}

ProvenanceRow provenance_row(const Provenance& known, const Session& session, const CellTrail* cell,
                             size_t row) {
    if (known.output) return output_row(session, *known.output, row);
    if (known.scan) {
        const Touch& touch = known.scan->touches[row];
        return request_row(session, touch.step, touch.warp, touch.lanes);
    }
    if (cell == nullptr || row >= cell->readers.size()) return {};
    const CellReader& reader = cell->readers[row];
    ProvenanceRow made = request_row(session, session.block->first + reader.step, reader.warp, reader.lanes);
    made.text[1].clear();
    return made;
}

}  // namespace tilescope::step
