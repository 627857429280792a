// Places that are typed into the command palette, written as the screens write them:
//
//   step 12    12    phase 2    block 1,0          where to stand
//   line 22                                        the next step of that source line
//   thread[1,0]    warp 3    P[5,3]    Mds[0,1]    what to pin, as a click on it would
//
// Each may stand behind "go to", and one with square brackets in a sentence. A place that is not there is one row too, which says what is there.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/input/overlays.h"
#include "app/session/playing.h"

namespace tilescope::input {
namespace {

using Numbers = std::vector<uint64_t>;

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

// "12", "1,0", "1, 0, 2"; none where it is no list of numbers. A number beyond what can be one is the
// largest.
std::optional<Numbers> numbers(std::string_view text) {
    Numbers all;
    while (true) {
        const size_t comma = std::min(text.find(','), text.size());
        const std::string_view part = trimmed(text.substr(0, comma));
        const auto [end, problem] =
            std::from_chars(part.data(), part.data() + part.size(), all.emplace_back());
        if (problem == std::errc::result_out_of_range)
            all.back() = UINT64_MAX;
        else if (problem != std::errc{})
            return std::nullopt;
        if (end != part.data() + part.size()) return std::nullopt;
        if (comma == text.size()) return all;
        text.remove_prefix(comma + 1);
    }
}

// Of a sentence, the place that it names: "which warp loads N[20,35] first" asks about N[20,35]. A query without
// an index in square brackets, or without a word before it, is returned as it is.
std::string_view indexed_in(std::string_view query) {
    const size_t open = query.find('[');
    if (open == std::string_view::npos) return query;
    const std::string_view before = trimmed(query.substr(0, open));
    const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    size_t first = before.size();
    while (first > 0 && in_name(before[first - 1])) --first;
    if (first == before.size()) return query;
    const size_t close = std::min(query.find(']', open), query.size() - 1);
    return query.substr(first, close + 1 - first);
}

// What was typed, in two parts: "P" and [5,3], "block" and (1,0), "" and 12.
struct Typed {
    std::string name;
    Numbers at;
    bool indexed = false;  // in square brackets
};
std::optional<Typed> typed(std::string_view query) {
    query = trimmed(query);
    if (lower(query).starts_with("go to ")) query = trimmed(query.substr(6));
    query = indexed_in(query);
    const size_t open = query.find_first_of("[(");
    const size_t from = open != std::string_view::npos ? open : query.rfind(' ') + 1;  // npos + 1: all of it
    std::string_view where = query.substr(from);
    const bool indexed = where.starts_with('[');
    if (open != std::string_view::npos) {
        where.remove_prefix(1);
        if (where.ends_with(indexed ? ']' : ')')) where.remove_suffix(1);
    }
    const auto at = numbers(where);
    if (!at) return std::nullopt;
    return Typed{std::string(trimmed(query.substr(0, from))), *at, indexed};
}

Command none(std::string says) { return {"none", std::move(says), ""}; }

// The numbers of an index as slice, row and column, or z, y and x: those that are not written are 0.
std::optional<std::array<uint64_t, 3>> outer_first(Numbers at, size_t rank, bool x_first) {
    if (at.size() != rank) return std::nullopt;
    if (x_first) std::ranges::reverse(at);
    std::array<uint64_t, 3> all{};
    std::ranges::copy(at, all.begin() + static_cast<std::ptrdiff_t>(3 - rank));
    return all;
}

Command element(const Session& session, size_t array, const Numbers& typed_at) {
    const Array& of = session.trace().launch.arrays[array];
    const Notation& notation = session.recording->notation;
    const size_t rank = of.cols == 0 ? 1 : of.rank;
    const auto at = outer_first(typed_at, rank, notation.x_first);
    if (!at || (*at)[0] >= of.slices || (*at)[1] >= of.rows || (*at)[2] >= of.cols) {
        std::string has = counted(of.cols, rank == 1 ? "element" : "column");
        if (rank > 1) has = fmt::format("{} and {}", counted(of.rows, "row"), has);
        if (rank > 2) has = fmt::format("{}, {}", counted(of.slices, "slice"), has);
        const std::string last =
            of.elements() == 0
                ? ""
                : ": to " + element_name(of, static_cast<int64_t>(of.elements()) - 1, notation);
        return none(fmt::format("{} has {}{}", name_in(notation, of), has, last));
    }
    const uint64_t index = ((*at)[0] * of.rows + (*at)[1]) * of.cols + (*at)[2];
    return {fmt::format("element:{},{}", array, index),
            "Pin " + element_name(of, static_cast<int64_t>(index), notation), ""};
}

Command thread(const Session& session, const Numbers& typed_at) {
    const Dim3& block = session.trace().launch.block;
    const Notation& notation = session.recording->notation;
    const size_t rank = block.z > 1 ? 3 : block.y > 1 ? 2 : 1;
    const auto at = outer_first(typed_at, rank, notation.x_first);
    if (!at || (*at)[0] >= block.z || (*at)[1] >= block.y || (*at)[2] >= block.x)
        return none(fmt::format("A block has {}: {} to {}", counted(block.count(), "thread"),
                                thread_name(block, 0, notation),
                                thread_name(block, block.count() - 1, notation)));
    const uint64_t linear = ((*at)[0] * block.y + (*at)[1]) * block.x + (*at)[2];
    return {fmt::format("thread:{}", linear), "Pin " + thread_name(block, linear, notation), ""};
}

// The next step of the block at a source line, else its first one.
Command line_step(const Session& session, uint64_t line) {
    const trace::Trace& trace = session.trace();
    const auto step = line > UINT32_MAX
                          ? std::nullopt
                          : look::next_step_of_line(trace, *session.block, static_cast<uint32_t>(line),
                                                    session.cursor.step);
    if (!step) {
        std::set<uint32_t> lines;
        for (const ptx::Site& site : trace.sites)
            if (!session.block->steps_of_site[site.id].empty()) lines.insert(look::shown_line(trace, site));
        return none(fmt::format("This block has no request or barrier on line {}, only on: {}", line,
                                fmt::join(lines, ", ")));
    }
    const uint64_t number = *step + uint64_t{1};
    return {fmt::format("line:{}", number),
            *step > session.cursor.step
                ? fmt::format("Go to the next step of line {}: step {}", line, grouped(number))
                : fmt::format("Go to the first step of line {}: step {}; none comes later", line,
                              grouped(number)),
            ""};
}

// The block at z, y, x by its number in the trace.
std::optional<uint32_t> block_at(const trace::Trace& trace, const std::array<uint64_t, 3>& at) {
    for (size_t i = 0; i < trace.blocks.size(); ++i)
        if (trace.blocks[i].z == at[0] && trace.blocks[i].y == at[1] && trace.blocks[i].x == at[2])
            return static_cast<uint32_t>(i);
    return std::nullopt;
}

// As blocks are written: block(y,x), or x first.
Command block(const trace::Trace& trace, const Numbers& typed_at, const Notation& notation) {
    const Dim3& grid = trace.launch.grid;
    const size_t least = grid.y == 1 && grid.z == 1 ? 1 : 2;
    const auto at = outer_first(typed_at, std::clamp<size_t>(typed_at.size(), least, 3), notation.x_first);
    const auto found = at ? block_at(trace, *at) : std::nullopt;
    if (!found)
        return none(fmt::format("No block({}) is recorded; of a grid of {} blocks, {} here",
                                fmt::join(typed_at, ","), size_text(grid), grouped(trace.blocks.size())));
    const trace::Block& of = trace.blocks[*found];
    // What is done is named x first, as blockIdx is, in any notation.
    const std::string id =
        fmt::format("block:{},{}", of.x, of.y) + (grid.z > 1 ? fmt::format(",{}", of.z) : "");
    return {id, "Go to " + block_name(grid, {of.x, of.y, of.z}, notation), ""};
}

}  // namespace

std::optional<Command> find_place(const Session& session, std::string_view query) {
    if (!session.recording || !session.block || session.recording->trace->blocks.empty()) return std::nullopt;
    const auto place = typed(query);
    if (!place) return std::nullopt;
    const trace::Trace& trace = session.trace();
    const look::BlockIndex& index = *session.block;
    const Notation& notation = session.recording->notation;
    const std::string what = place->name.empty() ? "step" : lower(place->name);
    const Numbers& at = place->at;
    if (what == "thread") return thread(session, at);
    if (place->indexed) {
        const auto& arrays = trace.launch.arrays;
        auto found = std::ranges::find_if(
            arrays, [&](const Array& array) { return name_in(notation, array) == place->name; });
        if (found == arrays.end())
            found = std::ranges::find_if(
                arrays, [&](const Array& array) { return lower(name_in(notation, array)) == what; });
        if (found != arrays.end()) return element(session, static_cast<size_t>(found - arrays.begin()), at);
        std::vector<std::string> names;
        for (const Array& array : arrays) names.push_back(name_in(notation, array));
        return none(fmt::format("No array is called {}; there are {}", place->name, fmt::join(names, ", ")));
    }
    if (what == "block") return block(trace, at, notation);
    if (at.size() != 1) return std::nullopt;
    // One of `count`, which are written from `first` on and named from `named` on.
    const auto one_of = [&](const char* noun, uint64_t count, uint64_t first, uint64_t named,
                            const std::string& says) -> std::optional<Command> {
        if (at[0] >= first && at[0] - first < count)
            return Command{fmt::format("{}:{}", noun, at[0] - first + named), says, ""};
        if (place->name.empty()) return std::nullopt;  // a number alone may be part of a title
        return none(fmt::format("This block has {}: {} {} to {}", counted(count, noun), noun, grouped(first),
                                grouped(first + count - 1)));
    };
    if (what == "step")
        return one_of("step", index.steps, 1, 1, fmt::format("Go to step {} of this block", at[0]));
    if (what == "phase")
        return one_of("phase", index.phases.phases, notation.phases_from_1 ? 1 : 0, 0,
                      fmt::format("Go to phase {} of this block", at[0]));
    if (what == "warp") return one_of("warp", index.warps, 0, 0, fmt::format("Pin warp {}", at[0]));
    if (what == "line") return line_step(session, at[0]);
    return std::nullopt;
}

bool go_to_place(Session& session, std::string_view kind, std::string_view what) {
    using Kind = look::Pick::Kind;
    const auto at = numbers(what);
    if (!session.block || !at) return false;
    if (at->empty() || (*at)[0] > UINT32_MAX) return false;
    const auto number = static_cast<uint32_t>((*at)[0]);
    const auto& arrays = session.trace().launch.arrays;
    const auto& spans = session.block->spans;
    const auto span = std::ranges::find(spans, number, &look::PhaseSpan::phase);
    if (kind == "step" || kind == "line") {
        session::go_to(session, std::max(number, 1u) - 1);
    } else if (kind == "phase" && span != spans.end()) {
        session::go_to(session, span->first);
    } else if (const auto block =
                   kind == "block" && (at->size() == 2 || at->size() == 3)
                       ? block_at(session.trace(), {at->size() == 3 ? (*at)[2] : 0, (*at)[1], (*at)[0]})
                       : std::nullopt) {
        session.cursor.block = *block;
        session::go_to(session, 0);
    } else if (kind == "thread" && number < session.trace().launch.block.count()) {
        session.pin = {.kind = Kind::Thread, .thread = number, .warp = number / kWarpSize};
    } else if (kind == "warp" && number < session.block->warps) {
        session.pin = {.kind = Kind::Warp, .warp = number};
    } else if (kind == "element" && at->size() == 2 && number < arrays.size() &&
               (*at)[1] < arrays[number].elements()) {
        const bool shared = arrays[number].space == Space::Shared;
        session.pin = look::picked_element(static_cast<uint8_t>(number), (*at)[1],
                                           shared ? Kind::SharedCell : Kind::Element);
    } else {
        return false;
    }
    // Where one stands is seen on several screens; a line and what is pinned on this one.
    if (kind != "step" && kind != "phase" && kind != "block") session.screen = session::kStepScreen;
    return true;
}

}  // namespace tilescope::input
