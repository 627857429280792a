#include "app/step/model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "app/draw/sheet.h"
#include "app/look/request.h"

namespace tilescope::step {
namespace {

// "rows 0 and 1 of the M tile", "M[3,0..15]", "column 3 of Mds".
std::string where_text(const trace::Trace& trace, const BlockIndex& index, const look::RequestView& request) {
    const Space space = space_of(request.kind);
    if (request.elsewhere) return request.array_name;
    if (request.array == trace::kNoArray)
        return space == Space::Local   ? "its lanes' own local memory"
               : space == Space::Const ? "constant memory"
                                       : "memory outside every array";
    const Array& array = trace.launch.arrays[request.array];
    const ElementBox& box = request.touched;
    const std::string exact = elements_text(array, box, index.notation);
    if (box.empty()) return name_in(index.notation, array);
    if (array.rank != 2 || box.one()) return exact;
    CellRect whole{0, array.rows, 0, array.cols};
    std::string name = name_in(index.notation, array);
    if (array.space == Space::Global) {
        // Of a product that goes through shared memory in tiles, relative to the tile.
        if (!index.product || !array.reads() || index.shared.empty()) return exact;
        const CellRect tile = tile_of_phase(trace, index, request.array, index.phase_at(request.step));
        if (!tile.empty()) {
            whole = tile;
            name = fmt::format("the {} tile", name);
        }
    }
    const auto row0 = static_cast<uint32_t>(box.first.row), col0 = static_cast<uint32_t>(box.first.col);
    const auto rows = static_cast<uint32_t>(box.last.row) + 1 - row0,
               cols = static_cast<uint32_t>(box.last.col) + 1 - col0;
    const uint32_t row = row0 - std::min(whole.row0, row0), col = col0 - std::min(whole.col0, col0);
    if (cols >= whole.cols() && rows >= whole.rows() && rows > 1) return "all of " + name;
    if (cols >= whole.cols()) return fmt::format("{} of {}", range_words("row", row, row + rows), name);
    if (rows >= whole.rows()) return fmt::format("{} of {}", range_words("column", col, col + cols), name);
    return exact;
}

// Takes the first line off a text, without what ends it.
std::string_view take_line(std::string_view& text) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

void add_once(std::vector<CellRect>& cells, const CellRect& cell) {
    if (std::ranges::find(cells, cell) == cells.end()) cells.push_back(cell);
}

// Elements that this block loaded of the array earlier in this phase, each once, by rows; at most those of
// the latest requests. What moves in bulk is rectangles.
std::vector<CellRect> loaded_before(const trace::Trace& trace, const BlockIndex& index, uint8_t array,
                                    uint32_t step) {
    constexpr uint32_t kMostRequests = 128;
    constexpr size_t kMostPlaces = 1 << 16;
    std::vector<CellRect> cells;
    std::vector<std::pair<uint32_t, uint32_t>> places;  // of what moves in bulk
    const draw::Sheet sheet(trace.launch.arrays[array]);
    const uint32_t phase = index.phase_at(step);
    for (const ptx::Site& site : trace.sites) {
        if (site.kind != ptx::SiteKind::Load || site.space != Space::Global) continue;
        const auto& steps = index.steps_of_site[site.id];
        auto at = std::ranges::lower_bound(steps, step);
        for (uint32_t seen = 0; at != steps.begin() && seen < kMostRequests; ++seen) {
            --at;
            if (index.phase_at(*at) != phase) break;
            if (trace.form_of(index.first + *at).array != array) continue;
            for_elements(trace, index.first + *at, [&](uint32_t, uint64_t element) {
                const CellRect cell = sheet.cell(element);
                if (site.box == ptx::Box::None)
                    cells.push_back(cell);
                else if (places.size() < kMostPlaces)
                    places.emplace_back(cell.row0, cell.col0);
            });
        }
    }
    std::ranges::sort(cells, {}, [](const CellRect& cell) { return std::pair(cell.row0, cell.col0); });
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    std::ranges::move(look::rectangles_of(std::move(places)), std::back_inserter(cells));
    return cells;
}

// Where a tile of that many rows and columns that begins inside the matrix reaches past its edges.
std::vector<CellRect> beyond_edges(std::pair<uint32_t, uint32_t> extents, const CellRect& tile,
                                   const draw::Sheet& sheet, bool whole_rows, bool whole_cols) {
    std::vector<CellRect> beyond;
    const uint32_t rows = sheet.rows, cols = sheet.cols;
    const auto [down, across] = extents;
    const uint32_t row0 = tile.row0 / down * down, col0 = tile.col0 / across * across;
    const uint32_t row1 = whole_rows ? (tile.row1 + down - 1) / down * down : tile.row1;
    const uint32_t col1 = whole_cols ? (tile.col1 + across - 1) / across * across : tile.col1;
    if (col1 > cols && tile.col1 == cols) beyond.push_back({row0, std::min(row1, rows), cols, col1});
    if (row1 > rows && tile.row1 == rows)
        beyond.push_back({rows, row1, col0, col1 > cols && tile.col1 < cols ? cols : col1});
    return beyond;
}

// The first cell of an axis in sight: the part stands in the middle of its viewport; no empty margin where
// the axis has more to show.
double first_in_sight(double first, double size, double whole, double seen, double margin = 0.5) {
    if (whole <= seen) return (whole - seen) / 2;
    return std::clamp(first + size / 2 - seen / 2, -margin, whole - seen + margin);
}

constexpr double kLeastPitch = 0.25;  // of a tile too large for a pixel a cell: heat
constexpr double kReadable = 16;      // logical pixels a cell: enough to read a value

// Where the page begins that holds a cell, of a tile of `size` cells from `first` on of which `seen` are in
// sight. Pages do not overlap, so that the view stands still while requests stay on one.
double page_of(double first, double size, double cell, double seen) {
    const double cells = std::max(std::floor(seen), 1.0), last = std::max(first + size - cells, first);
    return std::min(first + std::floor((std::max(cell, first) - first) / cells) * cells, last);
}

// A cell of each axis of a product that a step is about: the row and the column of the output of the warp's
// first active lane, and the k of the factor that it loads, stores or reads.
struct About {
    double row = 0, col = 0, k = 0;
};

About about(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
            uint32_t step, About of) {
    if (step >= index.steps) return of;
    const trace::Access access = trace::decode(trace, index.first + step);
    const analysis::Product& product = *index.product;
    if (access.mask == 0) return of;
    const auto lane = static_cast<uint32_t>(std::countr_zero(access.mask));
    const uint32_t thread = access.warp * kWarpSize + lane;
    if (thread < index.patches.size() && !index.patches[thread].empty())
        of.row = index.patches[thread].front().row0, of.col = index.patches[thread].front().col0;
    else if (const auto output = look::output_of(index, thread))
        of.row = static_cast<double>(output->index / product.n),
        of.col = static_cast<double>(output->index % product.n);
    if (access.array == trace::kNoArray) return of;
    const Array& array = trace.launch.arrays[access.array];
    playback::Element at{access.array, access.offset[lane] / std::max(array.element_bytes(), 1u)};
    if (array.space == Space::Shared)
        at = replay != nullptr ? replay->cell(at.array, at.index, step).source : playback::Element{};
    if (at.array == product.M)
        of.row = static_cast<double>(at.index / product.k), of.k = static_cast<double>(at.index % product.k);
    if (at.array == product.N)
        of.k = static_cast<double>(at.index / product.n), of.col = static_cast<double>(at.index % product.n);
    return of;
}

// Of a thread with several sums: how many products it adds behind a step, to how many of them, and how many
// reads of shared memory fed them.
std::string products_text(const trace::Trace& trace, const BlockIndex& index,
                          const playback::BlockReplay& replay, uint32_t step) {
    const uint32_t warp = trace.warp_of(index.first + step);
    std::set<simt::Origin> sums;
    std::set<uint32_t> reads;
    uint64_t added = 0;
    for (const playback::MultiplyStep& product :
         std::ranges::equal_range(replay.products(), step, {}, &playback::MultiplyStep::after_step)) {
        if (product.warp != warp) continue;
        const auto lane = static_cast<uint32_t>(std::countr_zero(product.mask));
        ++added;
        sums.insert(product.result[lane]);
        for (const simt::Origin origin : {product.a[lane], product.b[lane]}) {
            const playback::Factor factor = replay.factor(origin, lane);
            if (factor.known() && look::kind_of(trace, index.first + factor.step) == StepKind::SharedLoad)
                reads.insert(factor.step);
        }
    }
    const uint64_t different = sums.size();
    return fmt::format(" Then every lane adds {} products{}, from {}.", added,
                       different == added ? ", one a sum" : fmt::format(" to {}", counted(different, "sum")),
                       counted(reads.size(), "read"));
}

// Of a step that is half of a cp.async: "Warp 0 copies row 0 of M to Mds, without registers: 8 lanes, 1
// sector.", or where it goes and when it is there.
std::string copy_text(const trace::Trace& trace, const BlockIndex& index, const look::RequestView& request,
                      const look::CopyView& copy, const std::string& where, const std::string& price) {
    if (request.box) return look::bulk_caption(trace, index, request, copy, where);
    if (request.kind == StepKind::GlobalLoad) {
        const std::string to =
            copy.to == trace::kNoArray ? "" : " to " + name_in(index.notation, trace.launch.arrays[copy.to]);
        return fmt::format("Warp {} copies {}{}, without registers: {}.", request.warp, where, to, price);
    }
    const std::string when =
        copy.behind ? fmt::format("It is there at the wait behind step {}.", grouped(*copy.behind))
                    : std::string("No wait follows that says when it is there.");
    return fmt::format("Warp {} copies to {}: {}. {}", request.warp, where, price, when);
}

double whole_pixels(double pitch) { return pitch >= 2 ? std::floor(pitch) : pitch; }

}  // namespace

std::pair<uint32_t, uint32_t> TileExtents::of(const analysis::Product& product, uint8_t array) const {
    return {array == product.N ? depth : rows, array == product.M ? depth : cols};
}

TileExtents tile_extents(const trace::Trace& trace, const BlockIndex& index) {
    if (!index.product) return {};
    const analysis::Product& product = *index.product;
    if (product.tile > 0) return {product.tile, product.tile, product.tile};
    return {std::max(product.tile_rows, 1u), std::max(product.tile_cols, 1u),
            std::max(look::tile_of_phase(trace, index, product.M, 0).cols(), 1u)};
}

std::string caption(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
                    uint32_t step, const look::OlderView* older) {
    if (step >= index.steps) return "This block recorded no step.";
    const look::RequestView request = look::request_view(trace, index, step, replay);
    if (request.kind == StepKind::Exchange) return look::exchange_caption(request.exchange, request.warp);
    if (is_of_mbarrier(request.kind)) return request.title + ". " + request.verdict;
    if (request.kind == StepKind::Barrier)
        return fmt::format("Warp {} arrives at the barrier. {}", request.warp, request.verdict);
    const std::string where = where_text(trace, index, request);
    std::string lanes = counted(static_cast<uint64_t>(std::popcount(request.mask)), "lane");
    if (request.matrices != 0)
        lanes = fmt::format("{}, whose rows {} point to", look::matrices_text(request.matrices), lanes);
    const auto& [addresses, most_lanes] = request.cost.addresses;
    using analysis::JudgedBy;
    const analysis::StepKindRow& row = analysis::row_of(request.kind);
    const JudgedBy by = row.judged_by;
    const std::string cost =
        older != nullptr
            ? fmt::format("{} on a {}", counted(older->transactions.size(), "transaction"), older->gpu)
        : by == JudgedBy::Turns
            ? fmt::format("{}, at most {} at one", counted(addresses, "word"), counted(most_lanes, "lane"))
        : by == JudgedBy::Words      ? counted(addresses, "word")
        : by == JudgedBy::Wavefronts ? counted(request.cost.shared.wavefronts, "wavefront")
                                     : counted(request.cost.global.sectors, "sector");
    const char* const verb = request.kind == StepKind::GlobalLoad                     ? "loads"
                             : request.kind == StepKind::GlobalStore && index.product ? "writes its sums to"
                                                                                      : row.verb;
    const std::optional<look::CopyView> copy = look::copy_of(trace, index, step);
    if ((request.box && !copy) || (request.elsewhere && !request.box))
        return request.title + ". " + request.verdict;
    std::string text = copy ? copy_text(trace, index, request, *copy, where, lanes + ", " + cost)
                            : fmt::format("Warp {} {} {}: {}, {}.", request.warp, verb, where, lanes, cost);
    if (request.kind == StepKind::SharedStore && replay != nullptr && index.product) {
        // Zero fill is worth a word: the cell's source is outside the matrix.
        const auto zeros =
            copy ? std::ranges::count_if(
                       std::ranges::equal_range(replay->shared_stores(), step, {},
                                                &playback::BlockReplay::Store::step),
                       [](const auto& store) { return store.source.array == trace::kNoArray; })
                 : std::ranges::count_if(request.lanes, [&](const look::LaneView& lane) {
                       const playback::CellState cell = replay->cell(request.array, lane.index, step);
                       return lane.active && cell.written && cell.source.array == trace::kNoArray;
                   });
        if (zeros > 0)
            text += fmt::format(" {} a zero: the element lies outside the matrix.",
                                zeros == 1 ? "One is" : fmt::format("{} are", zeros));
    }
    if (replay != nullptr && index.product) {
        const auto here =
            std::ranges::equal_range(replay->products(), step, {}, &playback::MultiplyStep::after_step);
        const auto products = std::ranges::count(here, request.warp, &playback::MultiplyStep::warp);
        const bool has_patch = index.product->patch > 1;
        if (products > 1 && has_patch) return text + products_text(trace, index, *replay, step);
        if (products == 1)
            text += fmt::format(" Then every lane adds one product to {}.",
                                has_patch ? "one of its sums" : "its sum");
        if (products > 1) text += fmt::format(" Then every lane adds {} products to its sum.", products);
    }
    return text;
}

std::string caption_of(const session::Session& session, const look::OlderView* older) {
    const session::Question& asked = session.question;
    if (!asked.hides_any())
        return caption(session.trace(), *session.block, session.replay.get(), session.cursor.step, older);
    if (asked.hides(session::Hide::Standing)) return "";
    return look::request_view(session.trace(), *session.block, session.cursor.step).title + ".";
}

std::string hint(const BlockIndex& index, uint32_t step, bool playing) {
    if (playing) return "Space pauses.";
    if (step + 1 >= index.steps)
        return "The end of this block. Home starts it again; a full stop goes to the next block.";
    if (step == 0) return "Press \u2192 for the next request, Space to play, ? for all keys.";
    if (index.spans.size() <= 1) return "\u2190 \u2192 step, Space plays.";
    return "\u2190 \u2192 step, Shift+\u2190 \u2192 phase, [ ] barrier, Space plays.";
}

std::vector<std::string> index_formula(const analysis::Mapping& mapping, const analysis::Product& product,
                                       const trace::Block& block, uint32_t thread) {
    const uint32_t T = std::max(product.tile, 1u);
    const auto words = [&](const char* name, const analysis::Mapping::Index& of) {
        const uint32_t b = of.block_y ? block.y : block.x, t = of.thread_y ? thread / T : thread % T;
        return fmt::format("{} = b{}\u00b7T + t{} = {}\u00b7{} + {} = {}", name, of.block_y ? 'y' : 'x',
                           of.thread_y ? 'y' : 'x', b, T, t, uint64_t{b} * T + t);
    };
    return {words("Row", mapping.row), words("Col", mapping.col)};
}

SourceView source_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    SourceView view;
    // Where the source is not in the recording, the PTX is shown.
    const bool no_source = trace.meta.source.empty();
    view.name = no_source ? trace.meta.ptx_name : trace.meta.source_name;
    std::string_view text = no_source ? trace.meta.ptx : trace.meta.source;
    while (!text.empty() && view.lines.size() < kMostLines) view.lines.push_back({.text = take_line(text)});
    if (!text.empty()) view.lines.push_back({.text = "... (more lines are not shown)"});
    for (const ptx::Site& site : trace.sites)
        if (const uint32_t line = look::shown_line(trace, site); line > 0 && line <= view.lines.size()) {
            view.lines[line - 1].has_site = true;
            view.lines[line - 1].hits += hits_so_far(index, site.id, step);
            view.lines[line - 1].hits_in_all += index.steps_of_site[site.id].size();
        }
    if (step >= index.steps) return view;
    const ptx::Site& site = trace.sites[trace.form_of(index.first + step).site];
    view.kind = look::kind_of(trace, index.first + step);
    if (const uint32_t line = look::shown_line(trace, site); line <= view.lines.size())
        view.current = static_cast<int32_t>(line) - 1;
    if (no_source) return view;
    view.ptx_place = fmt::format("{}:{}", trace.meta.ptx_name, site.ptx_line);
    std::string_view ptx = trace.meta.ptx;
    for (uint32_t number = 1; !ptx.empty() && number <= site.ptx_line; ++number)
        if (const std::string_view line = take_line(ptx); number == site.ptx_line) view.ptx = line;
    view.ptx.remove_prefix(std::min(view.ptx.find_first_not_of(" \t"), view.ptx.size()));
    view.ptx = view.ptx.substr(0, view.ptx.find_last_not_of(" \t") + 1);
    return view;
}

MatrixView matrix_view(const trace::Trace& trace, const BlockIndex& index,
                       const playback::BlockReplay* replay, uint8_t array, uint32_t step) {
    MatrixView view;
    view.array = array;
    if (step >= index.steps) return view;
    const Array& shape = trace.launch.arrays[array];
    const draw::Sheet sheet(shape);
    const bool tiles = !index.shared.empty();
    view.kind = look::kind_of(trace, index.first + step);
    view.frames = slices_of_phase(trace, index, array, index.phase_at(step));
    std::erase_if(view.frames, [](const CellRect& slice) { return slice.empty(); });
    view.touched_by_block = index.touched[array];
    // The k axis is cut into tiles only where there are tiles; P always is.
    if (const auto& product = index.product; product && !view.frames.empty())
        view.beyond = beyond_edges(tile_extents(trace, index).of(*product, array), view.frames[0], sheet,
                                   tiles || array != product->N, tiles || array != product->M);
    if (!asks_memory(view.kind) || shape.role != ArrayRole::Output)
        view.loaded = loaded_before(trace, index, array, step);
    if (!asks_memory(view.kind)) return view;

    const trace::Access access = trace::decode(trace, index.first + step);
    // What moves in bulk is many elements, which lie side by side.
    const bool bulk = trace.sites[access.site].box != ptx::Box::None;
    const auto cells_of = [&](const std::vector<uint64_t>& elements) {
        std::vector<CellRect> cells;
        if (!bulk) {
            for (const uint64_t element : elements) add_once(cells, sheet.cell(element));
            return cells;
        }
        std::vector<std::pair<uint32_t, uint32_t>> places;
        for (const uint64_t element : elements) {
            const CellRect cell = sheet.cell(element);
            places.emplace_back(cell.row0, cell.col0);
        }
        return look::rectangles_of(std::move(places));
    };
    if (shape.role == ArrayRole::Output) {
        if (view.kind == StepKind::SharedLoad || (!tiles && view.kind == StepKind::GlobalLoad)) {
            for_lanes(access.mask, [&](uint32_t lane) {
                const uint32_t thread = access.warp * kWarpSize + lane;
                if (thread < index.patches.size())
                    for (const CellRect& rect : index.patches[thread]) add_once(view.related, rect);
            });
            if (index.patches.empty())
                for (const auto& [lane, element] :
                     look::stored_by(trace, index, access.warp, access.mask, step).by_lane)
                    if (element.array == array) add_once(view.related, sheet.cell(element.index));
        }
    } else if (replay != nullptr &&
               (view.kind == StepKind::SharedLoad || view.kind == StepKind::SharedStore)) {
        std::vector<uint64_t> sources;
        for_elements(trace, index.first + step, access, [&](uint32_t, uint64_t element) {
            const playback::Element source = replay->cell(access.array, element, step).source;
            if (source.array == array) sources.push_back(source.index);
        });
        view.related = cells_of(sources);
    }
    if (access.array == array) {
        std::vector<uint64_t> elements;
        for_elements(trace, index.first + step, access,
                     [&](uint32_t, uint64_t element) { elements.push_back(element); });
        view.touched = cells_of(elements);
    }
    return view;
}

Camera framed(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
              uint32_t step, const Viewports& ports) {
    if (!index.product) return {};
    constexpr double kLargest = 96;
    const analysis::Product& product = *index.product;
    const TileExtents tile_of = tile_extents(trace, index);
    // With the part past the edge, unless that is much of what is drawn: a block of 128 x 128 over 64 x 64.
    const auto up = [](double size, uint32_t each) {
        const double whole = std::ceil(size / each) * each;
        return whole <= size * 1.25 + 16 ? whole : size;
    };
    const double m = up(product.m, tile_of.rows), n = up(product.n, tile_of.cols),
                 k = index.shared.empty() ? product.k : up(product.k, tile_of.depth);
    const auto fits = [&](double rows, double cols, double ks) {
        return whole_pixels(
            std::min({(ports.row_height - kFrameRoom) / rows, (ports.col_width - kFrameRoom) / cols,
                      (ports.m_width - kFrameRoom) / ks, (ports.n_height - kFrameRoom) / ks}));
    };
    Camera camera;
    double row0 = 0, col0 = 0, k0 = 0, rows = m, cols = n, ks = k;
    camera.pitch = std::min(fits(rows, cols, ks), kLargest);
    if (camera.pitch < kReadable) {
        uint32_t phase = index.phase_at(step);
        const auto tile = [&](uint8_t array) { return tile_of_phase(trace, index, array, phase); };
        const CellRect p = tile(product.P);
        // Behind the last phase no input is touched: stay where the last phase was.
        if (tile(product.M).empty() && tile(product.N).empty() && index.phases.phases > 0)
            phase = index.phases.phases - 1;
        const CellRect mt = tile(product.M), nt = tile(product.N);
        const auto down = [](uint32_t at, uint32_t each) { return static_cast<double>(at / each * each); };
        row0 = down(p.empty() ? mt.row0 : p.row0, tile_of.rows);
        col0 = down(p.empty() ? nt.col0 : p.col0, tile_of.cols);
        k0 = down(mt.empty() ? nt.row0 : mt.col0, tile_of.depth);
        rows = std::min<double>(tile_of.rows, m), cols = std::min<double>(tile_of.cols, n);
        ks = std::min<double>(tile_of.depth, k);
        // Values are given up before a row or a column of the tile is.
        camera.pitch = fits(rows + 1, cols + 1, ks + 1);
        if (camera.pitch < kReadable) camera.pitch = fits(rows, cols, ks);
        camera.pitch = std::clamp(camera.pitch, kLeastPitch, kLargest);
    }
    const About at = about(trace, index, replay, step, {row0, col0, k0});
    // far: what is all in sight stands at the end of its viewport, so that M and N adjoin P.
    const auto start = [&](double first, double size, double cell, double whole, double pixels, bool far) {
        const double seen = pixels / camera.pitch, margin = kFrameRoom / 2 / camera.pitch;
        if (whole + margin * 2 <= seen) return far ? whole + margin - seen : -margin;
        if (size <= seen) return first_in_sight(first, size, whole, seen, std::max(0.5, margin));
        return page_of(first, size, cell, seen);
    };
    camera.row = start(row0, rows, at.row, m, ports.row_height, false);
    camera.col = start(col0, cols, at.col, n, ports.col_width, false);
    camera.m_k = start(k0, ks, at.k, k, ports.m_width, true);
    camera.n_k = start(k0, ks, at.k, k, ports.n_height, true);
    return camera;
}

Camera framed_array(const trace::Trace& trace, const BlockIndex& index, uint32_t step, uint8_t array,
                    float width, float height, double most, const CellRect& within) {
    const draw::Sheet sheet(trace.launch.arrays[array]);
    const CellRect all = within.empty() ? CellRect{0, sheet.rows, 0, sheet.cols} : within;
    const auto fits = [&](double rows, double cols) {
        return std::min(whole_pixels(std::min(width / std::max(cols, 1.0), height / std::max(rows, 1.0))),
                        most);
    };
    const auto inside = [&](const CellRect& of) {
        return CellRect{std::max(of.row0, all.row0), std::min(of.row1, all.row1), std::max(of.col0, all.col0),
                        std::min(of.col1, all.col1)};
    };
    CellRect part = inside(tile_of_phase(trace, index, array, index.phase_at(step)));
    if (part.empty())
        for (const CellRect& slice : index.touched[array]) part.include(inside(slice));
    Camera camera;
    CellRect shown = all;
    constexpr double kNoRoom = 0.01;  // a pitch for where there is none at all
    camera.pitch = std::max(fits(all.rows(), all.cols()), kNoRoom);
    if (camera.pitch < kReadable && !part.empty()) {
        shown = part;
        camera.pitch = std::max(fits(part.rows() + 1.0, part.cols() + 1.0), std::max(camera.pitch, 1.0));
    }
    const auto start = [&](uint32_t first, uint32_t size, uint32_t from, uint32_t whole, double pixels) {
        const double seen = pixels / camera.pitch;
        if (whole <= seen) return double{1} * from;  // begins where its name does
        return from + first_in_sight(first - double{1} * from, size, whole, seen);
    };
    camera.row = start(shown.row0, shown.rows(), all.row0, all.rows(), height);
    camera.col = start(shown.col0, shown.cols(), all.col0, all.cols(), width);
    return camera;
}

CellRect slice_on_sheet(const Array& array, uint32_t slice) {
    const CellRect first = draw::Sheet(array).cell(uint64_t{slice} * array.rows * array.cols);
    return {first.row0, first.row0 + array.rows, first.col0, first.col0 + array.cols};
}

uint32_t slice_in_work(const trace::Trace& trace, const BlockIndex& index, uint8_t array, uint32_t step) {
    constexpr uint32_t kMost = 1'000;  // steps looked at
    const Array& shape = trace.launch.arrays[array];
    const auto slice_of = [&](uint64_t element) {
        return static_cast<uint32_t>(
            std::min<uint64_t>(element / std::max<uint64_t>(uint64_t{shape.rows} * shape.cols, 1),
                               std::max(shape.slices, 1u) - 1));
    };
    for (uint32_t back = 0; back <= std::min(step, kMost) && step < index.steps; ++back) {
        const uint64_t at = index.first + step - back;
        if (trace.form_of(at).array != array) continue;
        std::optional<uint32_t> slice;
        for_elements(trace, at, [&](uint32_t, uint64_t element) {
            if (!slice) slice = slice_of(element);
        });
        if (slice) return *slice;
    }
    if (array >= index.touched.size() || index.touched[array].empty()) return 0;
    const CellRect& first = index.touched[array].front();
    for (uint32_t slice = 0; slice < shape.slices; ++slice)
        if (slice_on_sheet(shape, slice).contains(first.row0, first.col0)) return slice;
    return 0;
}

CellRect touched_last(const trace::Trace& trace, const BlockIndex& index, uint8_t array, uint32_t step) {
    constexpr uint32_t kMost = 10'000;  // steps looked at
    const draw::Sheet sheet(trace.launch.arrays[array]);
    CellRect touched;
    for (uint32_t back = 0; back <= std::min(step, kMost) && touched.empty(); ++back)
        if (const uint64_t at = index.first + step - back; trace.form_of(at).array == array)
            for_elements(trace, at,
                         [&](uint32_t, uint64_t element) { touched.include(sheet.cell(element)); });
    return touched;
}

std::string source_text(const trace::Trace& trace, const playback::CellState& held,
                        const Notation& notation) {
    const auto [array, index] = held.source;
    if (array == trace::kNoArray) return number_of(held.value) == 0 ? "zero" : "computed";
    return element_name(trace.launch.arrays[array], static_cast<int64_t>(index), notation);
}

}  // namespace tilescope::step
