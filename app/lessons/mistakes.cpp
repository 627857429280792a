// The usual wrong answers, and what is said to each: worked out from the recording, or from the model, that the
// question is asked of, so that any lesson has them.
//
//   asked for    instead      says
//   sectors      fetched      "is the bytes of these sectors ..."
//
//   "You said 128; it is 4 sectors. 128 is the bytes of these sectors; a sector has 32."
//
// A number that no row names may still be the right one times, or divided by, what is often taken too often:
// the lanes of a warp, T, the blocks. Elements may be those of another warp, phase or block; lanes those that
// are off; a choice is held to its condition.
#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "app/draw/sheet.h"
#include "app/lessons/questions.h"
#include "app/look/request.h"

namespace tilescope::lessons {
namespace {

using Number = std::optional<uint64_t>;
using Kind = Question::Kind;

constexpr MistakeRow kRows[] = {
    {"sectors", "lanes", "sectors < lanes",
     "is a sector for each lane; lanes whose elements lie in one sector share it."},
    {"sectors", "touched", "sectors < touched",
     "is a sector for each element; elements that lie side by side share sectors."},
    {"sectors", "fetched", "", "is the bytes of these sectors; a sector has {sector_bytes}."},
    {"sectors", "used", "", "is the bytes that the lanes ask for; a sector has {sector_bytes}."},
    {"sectors", "least_sectors", "least_sectors < sectors",
     "would do if the bytes were packed closely, which they are not here."},
    {"sectors", "1", "", "is the request itself; it needs each sector that one of its elements lies in."},
    {"load_sectors", "loads", "", "is the loads of the lanes; those of a request share sectors."},
    {"load_sectors", "least_load_sectors", "", "is the least that would do."},
    {"least_load_sectors", "load_sectors", "", "is what the loads need, not the least that would do."},
    {"fetched", "sectors", "", "is the sectors; each has {sector_bytes} bytes."},
    {"fetched", "used", "", "is only the bytes that lanes ask for; sectors come whole."},
    {"used", "fetched", "", "is all bytes of the sectors; lanes ask for {used} of them."},
    {"used", "sectors", "", "is the sectors, not bytes."},
    {"wavefronts", "lanes", "wavefronts < lanes",
     "is a wavefront for each lane; lanes with different banks, or with the same word, share one."},
    {"wavefronts", "words", "wavefronts < words",
     "is a wavefront for each word; words of different banks can come together."},
    {"wavefronts", "banks", "", "is the banks in which the words lie; they work at the same time."},
    {"wavefronts", "least_wavefronts", "least_wavefronts < wavefronts",
     "would do if the words were spread evenly over the banks, which they are not here."},
    {"wavefronts", "1", "wavefronts > 1",
     "would do if no two words lay in one bank; here the fullest bank has more."},
    {"wavefronts", "touched", "", "is the different elements, not passes over the banks."},
    {"words", "lanes", "words < lanes", "is a word for each lane; several lanes read the same word."},
    {"words", "words * 4", "", "is their bytes; a word has 4."},
    {"words", "threads", "",
     "is the threads of the block; several of them read the same word, or another warp does."},
    {"banks", "words", "banks < words", "is the words; several of them lie in one bank."},
    {"touched", "lanes", "touched < lanes",
     "is an element for each lane; several lanes want the same element."},
    {"touched", "threads", "touched < lanes", "is the threads of the block; lanes share elements."},
    {"touched", "threads", "lanes < threads", "is all threads of the block; this is a request of one warp."},
    {"touched", "lanes * lane_bytes", "lane_bytes > 1", "is the bytes that the lanes move."},
    {"touched", "touched * lane_bytes", "lane_bytes > 1", "is bytes, not elements."},
    {"touched", "sectors", "", "is the sectors in which they lie."},
    {"lane_bytes", "lane_bytes * lanes", "", "is what the lanes move together."},
    {"lane_bytes", "lane_bytes / 4", "", "is words; a word has 4 bytes."},
    {"lane_bytes", "4", "", "is the bytes of one word; a lane moves more of them here."},
    {"lanes", "threads", "lanes < threads",
     "is all threads of the block; warp {warp} has {lanes} at work here."},
    {"lanes", "idle", "", "is the lanes of the warp that do not work here."},
    {"lanes", "32", "idle > 0", "is all lanes of a warp; idle here: {idle}."},
    {"lanes", "touched", "touched < lanes", "is the different elements that they touch."},
    {"idle", "lanes", "", "is the lanes that work."},
    {"idle", "threads", "", "is the threads of the block."},
    {"idle", "32", "lanes > 0", "is all lanes of a warp; at work here: {lanes}."},
    {"idle", "0", "", "would mean that no lane is idle; at work here: {lanes}."},
    {"giver", "distance", "giver > distance", "is how far away it lies, counted from lane {getter} on."},
    {"receiver", "pointer", "", "is the lane that points; the row that it gets a part of is another one."},
    {"held_row", "holder", "", "is the lane; several lanes share a row."},
    {"held_row", "0", "held_row > 0", "is the first row, which lanes before lane {holder} fill."},
    {"held_row", "held_column", "", "is the column in which the pair begins."},
    {"held_column", "holder", "",
     "is the lane; each lane holds a pair, and a row has {product_columns} columns."},
    {"held_column", "holder * 2", "", "counts on beyond the {product_columns} columns of a row."},
    {"held_column", "held_row", "", "is the row of the pair."},
    {"phases", "last_phase", "", "is one too few: phases are numbered from 0."},
    {"phases", "barriers", "", "is the barriers that a warp passes, not the phases."},
    {"phases", "k", "phases < k", "is the inner size k; a trip takes more than one of it."},
    {"phases", "threads", "", "is the threads of a block; each of them makes all trips."},
    {"phases", "threads * phases", "", "is the trips of all {threads} threads together."},
    {"phases", "m", "", "is m, the rows of M and P."},
    {"phases", "tile", "", "is T, the width of a tile."},
    {"phases", "blocks", "", "is the blocks."},
    {"phases", "products", "", "is the products of all threads, m\u00b7k\u00b7n."},
    {"barriers", "phases", "barriers > phases", "is one for each phase; there are more."},
    {"barriers", "phases * 2", "", "is two for each phase, which is not so here."},
    {"barriers", "barriers * warps", "warps > 1",
     "is the arrivals of all {warps} warps; they meet at the same barriers."},
    {"barriers", "barriers * threads", "",
     "is the arrivals of all {threads} threads; they meet at the same barriers."},
    {"barriers", "warps", "", "is the warps of the block."},
    {"barriers", "1", "barriers > 1", "is the barrier of one trip; the loop comes to it again."},
    {"blocks", "threads", "", "is the threads of a block."},
    {"blocks", "grid_threads", "", "is the threads of all blocks."},
    {"blocks", "m * n", "", "is the elements of P; a block takes several of them."},
    {"blocks", "inner_blocks", "",
     "leaves out the blocks that reach beyond the edge; they compute elements too."},
    {"grid_threads", "threads", "blocks > 1", "is the threads of one block, and {blocks} are launched."},
    {"grid_threads", "blocks", "", "is the blocks."},
    {"grid_threads", "array_elements", "",
     "is the elements of {array}; blocks are launched whole, also where it ends."},
    {"grid_threads", "grid_threads - threads", "", "is one block too few."},
    {"grid_threads", "grid_threads + threads", "", "is one block too many."},
    {"grid_threads", "warps * blocks", "", "is the warps of all blocks."},
    {"threads", "warps", "", "is the warps of the block."},
    {"warps", "threads", "", "is the threads; {warp_size} of them are a warp."},
    {"warps", "tile", "", "is T, the width of a tile; a warp is {warp_size} threads."},
    {"warps", "32", "", "is the lanes of a warp; the block's {threads} threads are divided by it."},
    {"warps", "warps * blocks", "blocks > 1", "is the warps of all {blocks} blocks."},
    {"awaited", "arrived", "", "is those that have come; asked is for those still to come."},
    {"awaited", "warps", "arrived > 0", "is all warps of the block; come already: {arrived}."},
    {"awaited", "threads", "", "is the threads of the block; warps are counted."},
    {"arrived", "awaited", "", "is those still to come."},
    {"arrived", "warps", "awaited > 0", "is all warps of the block; still to come: {awaited}."},
    {"still_reading", "warps", "still_reading < warps", "is all warps; the others have read already."},
    {"still_reading", "threads", "", "is the threads of the block; warps are counted."},
    {"warps_here", "warps", "warps_here < warps",
     "is all warps of the block; some do not make this request."},
    {"warps_here", "warps - warps_here", "", "is the warps that do not make this request."},
    {"warps_here", "threads", "", "is the threads of the block; warps are counted."},
    {"warps_here", "lanes", "", "is the lanes of one warp."},
    {"unfilled", "shared_cells", "", "is all cells of the tiles; some of them are filled."},
    {"unfilled", "shared_cells - unfilled", "", "is the cells that are not to be filled any more."},
    {"unfilled", "threads", "", "is the threads of the block; each fills a cell of every tile."},
    {"unfilled", "warps", "", "is the warps; cells are counted."},
    {"zeros", "shared_cells", "", "is all cells of the tiles."},
    {"zeros", "shared_cells - zeros", "", "is the cells that hold no such zero."},
    {"zeros", "threads", "", "is the threads of the block."},
    {"stale", "shared_cells", "", "is all cells of the tiles."},
    {"stale_read", "lanes", "", "is the lanes that read."},
    {"overwritten", "words", "", "is all words that the warp reads here."},
    {"overwritten", "lanes", "", "is the lanes that read; several may read the same word."},
    {"overwritten", "words - overwritten", "", "is the words that are still of this phase."},
    {"most_loads", "loads", "", "is all loads together, of {elements} elements."},
    {"most_loads", "elements", "", "is the different elements."},
    {"most_loads", "n", "most_loads < n", "would be a load for each column of the output."},
    {"most_loads", "tile", "", "is T, the width of a tile."},
    {"most_loads", "phases", "", "is the phases of a block."},
    {"most_loads", "threads", "", "is the threads of a block."},
    {"most_loads", "blocks", "", "is the blocks."},
    {"most_loads", "1", "", "would make {elements} loads of {elements} elements; there are {loads}."},
    {"loads", "elements", "", "is the different elements; one of them is loaded up to {most_loads} times."},
    {"loads", "products", "loads > products",
     "is one for each product; a product takes an element of each input."},
    {"loads", "products * 2", "", "is two for each product, as without tiles."},
    {"loads", "products", "", "is the products."},
    {"loads", "shared_reads", "shared_reads > 0", "is the reads from shared memory."},
    {"loads", "load_sectors", "", "is the sectors that they need; lanes share them."},
    {"loads", "loads / 2", "m > 0", "is half of them; M and N are loaded, and both count."},
    {"loads", "loads * lane_bytes", "lane_bytes > 1", "is bytes; loads are counted."},
    {"shared_reads", "products", "shared_reads > products",
     "is one for each product; a product takes a value of each tile."},
    {"shared_reads", "products * 2", "",
     "is two for each product; here a value that was read serves several."},
    {"shared_reads", "products", "", "is one for each product."},
    {"shared_reads", "loads", "", "is the loads from global memory."},
    {"shared_reads", "elements", "", "is the different elements of M and N."},
    {"shared_reads", "shared_reads / 2", "", "is half of them; both tiles are read."},
    {"shared_reads", "shared_reads / blocks", "blocks > 1",
     "is what one of the {blocks} blocks reads, on average."},
    {"copied", "0", "copied > 0", "would mean that each load goes through a register."},
    {"copied", "copied / 2", "", "is half of them; M and N are both copied."},
    {"copied", "shared_reads", "", "is the reads from shared memory."},
    {"elements", "loads", "", "is the loads; several are of the same element."},
};

// What is often taken too often, or left out, and of what: nouns of facts, or "" for all of them.
struct Factor {
    const char *fact, *words, *of;
};
constexpr const char* kOfRuns = "load read barrier phase block thread";
constexpr Factor kFactors[] = {{"warp_size", "the lanes of a warp", ""},
                               {"tile", "the width T of a tile", ""},
                               {"4", "the bytes of a word", "element word cell"},
                               {"warps", "the warps of a block", kOfRuns},
                               {"blocks", "the blocks", kOfRuns},
                               {"phases", "the phases", kOfRuns},
                               {"threads", "the threads of a block", kOfRuns}};

Number operand(Scene& scene, std::string_view text) {
    uint64_t number = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (bad == std::errc() && end == text.data() + text.size()) return number;
    const Number other = beside_facts(scene, text);
    return other ? other : number_at(scene, text);
}

std::string sentence(Scene& scene, uint64_t number, const char* says) {
    return grouped(number) + " " + filled_in(says, scene.index.notation, [&](std::string_view name) {
               const Number other = beside_facts(scene, name);
               return other ? grouped(*other) : filled(scene, name);
           });
}

// The first one of a number stands.
void add(RightAnswer& answer, Mistake mistake) {
    if (answer.decimals == 0 && mistake.number == answer.number) return;
    if (std::ranges::find(answer.usual, mistake.number, &Mistake::number) != answer.usual.end()) return;
    answer.usual.push_back(std::move(mistake));
}

void usual_numbers(const Question& question, Scene& scene, RightAnswer& answer) {
    for (const MistakeRow& row : kRows) {
        if (question.answer != row.asked) continue;
        // Where phases are counted from 1 nobody counts them from 0.
        if (std::string_view(row.instead) == "last_phase" && scene.index.notation.phases_from_1) continue;
        const Number number = number_of(scene, row.instead);
        if (!number || (*row.when != 0 && !holds(*read_condition(row.when), scene))) continue;
        add(answer, {*number, {}, {}, row.instead, sentence(scene, *number, row.says)});
    }
    const Fact* const fact = find_fact(question.answer);
    if (fact == nullptr || fact->noun.empty()) return;
    const uint64_t right = answer.number;
    for (const Factor& factor : kFactors) {
        const uint64_t by = operand(scene, factor.fact).value_or(0);
        const std::string_view of = factor.of;
        if (by < 2 || right == 0 || (!of.empty() && of.find(fact->noun) == std::string_view::npos)) continue;
        const std::string what = fmt::format("{}, {}", grouped(by), factor.words);
        if (right <= UINT64_MAX / by)
            add(answer, {right * by,
                         {},
                         {},
                         fmt::format("{} * {}", question.answer, factor.fact),
                         fmt::format("{} is the right number times {}.", grouped(right * by), what)});
        if (right % by == 0)
            add(answer, {right / by,
                         {},
                         {},
                         fmt::format("{} / {}", question.answer, factor.fact),
                         fmt::format("{} is the right number divided by {}.", grouped(right / by), what)});
    }
    add(answer, {right + 1, {}, {}, question.answer + " + 1", grouped(right + 1) + " is one too many."});
    if (right > 0)
        add(answer, {right - 1, {}, {}, question.answer + " - 1", grouped(right - 1) + " is one too few."});
}

// The elements of a step.
std::set<uint64_t> elements_at(const Scene& scene, uint64_t step) {
    std::set<uint64_t> elements;
    look::for_elements(scene.trace, step, [&](uint32_t, uint64_t element) { elements.insert(element); });
    return elements;
}

void add_set(RightAnswer& answer, const std::set<uint64_t>& all, std::string says) {
    if (all.empty() || all == answer.all) return;
    if (std::ranges::find(answer.usual, all, &Mistake::all) != answer.usual.end()) return;
    answer.usual.push_back({0, all, {}, "", std::move(says)});
}

// Those of the same instruction at other warps, phases and blocks; of all warps; of one lane; and the right
// ones with row and column exchanged.
void usual_elements(const Scene& scene, RightAnswer& answer) {
    constexpr uint32_t kMostSteps = 4096, kMostBlocks = 64;
    const trace::Trace& trace = scene.trace;
    const trace::Form& form = form_of(scene);
    const uint64_t here = scene.index.first + scene.step;
    const uint32_t warp = trace.warp_of(here), phase = scene.index.phase_at(scene.step);
    const bool phases = scene.index.spans.size() > 1;
    std::set<uint64_t> of_warps;
    uint32_t looked = 0, nth = 0;  // nth: which request of this warp it is, of this instruction
    for (const uint32_t at : scene.index.steps_of_site[form.site]) {
        if (++looked > kMostSteps) break;
        const uint64_t step = scene.index.first + at;
        if (trace.form_of(step).array != form.array) continue;
        const uint32_t other = trace.warp_of(step), when = scene.index.phase_at(at);
        const std::set<uint64_t> all = elements_at(scene, step);
        if (other == warp && at < scene.step) ++nth;
        if (when == phase) of_warps.insert(all.begin(), all.end());
        const std::string of_phase =
            phases && when != phase
                ? (when == analysis::kAfter ? " after the last phase"
                                            : " in " + phase_name(when, scene.index.notation))
                : "";
        if (at != scene.step && (other != warp || !of_phase.empty()))
            add_set(answer, all, fmt::format("Those are the elements of warp {}{}.", other, of_phase));
    }
    for (uint32_t block = 0; block < std::min<size_t>(trace.blocks.size(), kMostBlocks); ++block) {
        if (block == scene.index.block) continue;
        const trace::Block& of = trace.blocks[block];
        uint32_t left = nth;
        for (uint64_t step = of.first; step < of.first + std::min<uint64_t>(of.count, kMostSteps); ++step) {
            if (trace.form_of(step).site != form.site || trace.warp_of(step) != warp || left-- > 0) continue;
            add_set(answer, elements_at(scene, step),
                    fmt::format("Those are the elements of {}.",
                                block_name(trace.launch.grid, {of.x, of.y, of.z})));
            break;
        }
    }
    add_set(answer, of_warps,
            fmt::format("Those are the elements of all warps; asked is for warp {}.", warp));
    const Array& array = trace.launch.arrays[form.array];
    if (array.rank == 2) {
        std::set<uint64_t> turned;
        for (const uint64_t element : answer.all) {
            const uint64_t row = element / array.cols, col = element % array.cols;
            if (col < array.rows && row < array.cols) turned.insert(col * array.cols + row);
        }
        if (turned.size() == answer.all.size())
            add_set(answer, turned, "Those are the right ones with row and column exchanged.");
    }
    std::optional<uint64_t> first;
    look::for_elements(trace, here, [&](uint32_t, uint64_t element) { first = first.value_or(element); });
    if (first) add_set(answer, {*first}, "That is the element of the first lane alone.");
}

void usual_lanes(const Question& question, const Scene& scene, RightAnswer& answer) {
    std::set<uint64_t> other, all;
    for (uint64_t lane = 0; lane < kWarpSize; ++lane) {
        all.insert(lane);
        if (!answer.all.contains(lane)) other.insert(lane);
    }
    const bool active = question.answer == "active";
    add_set(answer, other,
            active ? "Those are the lanes that do not work." : "Those are the lanes that work.");
    add_set(answer, all,
            fmt::format("Those are all lanes; {} of them {}.", answer.all.size(),
                        active ? "work" : "do not work"));
    std::set<uint64_t> exist;
    for (const look::LaneView& lane : look::request_view(scene.trace, scene.index, scene.step).lanes)
        if (lane.exists) exist.insert(exist.size());
    if (active)
        add_set(answer, exist, "Those are all threads of the warp; some of them do not take this path.");
}

void usual_banks(const Scene& scene, RightAnswer& answer) {
    const look::RequestView request = look::request_view(scene.trace, scene.index, scene.step);
    for (size_t bank = 0; bank < request.banks.size(); ++bank)
        if (!answer.all.contains(bank))
            add_set(answer, {bank},
                    fmt::format("Bank {} has {}.", bank,
                                counted(tallest_of_bank(request, bank), "different word")));
}

// What other lanes of the request hold.
void usual_values(const Question& question, Scene& scene, RightAnswer& answer) {
    const playback::BlockReplay* const replay = replay_of(scene);
    if (replay == nullptr || question.answer == "sum") return;
    const uint32_t warp = scene.trace.warp_of(scene.index.first + scene.step);
    for_lanes(form_of(scene).mask, [&](uint32_t lane) {
        answer.usual.push_back({0,
                                {},
                                replay->value(scene.step, lane),
                                "",
                                fmt::format("That is the value of {}.",
                                            thread_name(scene.trace.launch.block, warp * kWarpSize + lane,
                                                        scene.index.notation))});
    });
}

const char* in_words(std::string_view op) {
    if (op == "=") return "";
    if (op == "!=") return "other than ";
    if (op == "<") return "less than ";
    if (op == "<=") return "at most ";
    return op == ">" ? "more than " : "at least ";
}

// What a fact counts, without what is said of it behind a comma.
std::string subject_of(std::string_view name) {
    const Fact* const fact = find_fact(name);
    if (fact == nullptr) return "";
    std::string means(fact->means.substr(0, fact->means.find_first_of(",;:")));
    return fact->noun.empty() ? means : "the number of " + means;
}

// "For B the number of warps that are still to come would have to be more than 0; it is 0."
void usual_choices(const Question& question, Scene& scene, RightAnswer& answer) {
    for (size_t at = 0; at < question.choices.size(); ++at) {
        const Condition& when = question.choices[at].when;
        const Number is = number_at(scene, when.left),
                     to = when.right.empty() ? Number(when.number) : number_at(scene, when.right);
        if (at == answer.number || !is || !to) continue;
        answer.usual.push_back(
            {at,
             {},
             {},
             when.left,
             fmt::format("For {} {} would have to be {}{}; it is {}.", static_cast<char>('A' + at),
                         subject_of(when.left), in_words(when.op), grouped(*to), grouped(*is))});
    }
}

std::string spoken(std::string name) {
    std::ranges::replace(name, '_', ' ');
    return name;
}

double plain(const NamedNumber& number) {
    double value = static_cast<double>(number.value);
    for (int i = 0; i < number.decimals; ++i) value /= 10;
    return value;
}

// The number in the decimals of an answer; none where it has more of them.
Number in_decimals(double value, int decimals) {
    for (int i = 0; i < decimals; ++i) value *= 10;
    const double whole = std::round(value);
    if (!(whole >= 0 && whole < 1e18) || std::abs(whole - value) > 1e-6) return std::nullopt;
    return static_cast<uint64_t>(whole);
}

}  // namespace

std::span<const MistakeRow> mistake_rows() { return kRows; }

Number beside_facts(const Scene& scene, std::string_view name) {
    if (name == "warp_size") return kWarpSize;
    if (name == "sector_bytes") return analysis::kSectorBytes;
    if (name == "shared_cells") {
        uint64_t cells = 0;
        for (const uint8_t array : scene.index.shared) cells += scene.trace.launch.arrays[array].elements();
        return cells;
    }
    const uint8_t array = form_of(scene).array;
    if (name == "array_elements" && array != trace::kNoArray)
        return scene.trace.launch.arrays[array].elements();
    if (name == "inner_blocks" && scene.index.product && scene.index.product->tile > 0) {
        const auto& of = *scene.index.product;
        const uint64_t inner = uint64_t{of.m / of.tile} * (of.n / of.tile);
        return of.patch == 1 && inner > 0 ? Number(inner) : std::nullopt;
    }
    return std::nullopt;
}

Number number_of(Scene& scene, std::string_view expression) {
    const size_t gap = expression.find(' ');
    if (gap == std::string_view::npos) return operand(scene, expression);
    const Number left = operand(scene, expression.substr(0, gap)),
                 right = operand(scene, expression.substr(gap + 3));
    if (!left || !right) return std::nullopt;
    switch (expression[gap + 1]) {
        case '*': return *right != 0 && *left > UINT64_MAX / *right ? Number() : *left * *right;
        case '/': return *right == 0 || *left % *right != 0 ? Number() : *left / *right;
        case '+': return *left + *right;
        default: return *left < *right ? Number() : *left - *right;
    }
}

void usual_mistakes(const Question& question, Scene& scene, RightAnswer& answer) {
    if (!answer.known) return;
    switch (question.kind) {
        case Kind::Number: return usual_numbers(question, scene, answer);
        case Kind::Value: return usual_values(question, scene, answer);
        case Kind::Bank: return usual_banks(scene, answer);
        case Kind::Elements: return usual_elements(scene, answer);
        case Kind::Lanes: return usual_lanes(question, scene, answer);
        case Kind::Choice: return usual_choices(question, scene, answer);
    }
}

// Other numbers of the model; and the right one times or divided by one of them.
void usual_mistakes(const Question& question, const Modelled& of, RightAnswer& answer) {
    if (!answer.known) return;
    if (question.kind == Kind::Choice) {
        for (size_t at = 0; at < question.choices.size(); ++at) {
            const Condition& when = question.choices[at].when;
            const NamedNumber* const is = find_number(of, when.left);
            const NamedNumber* const to = when.right.empty() ? nullptr : find_number(of, when.right);
            if (at == answer.number || is == nullptr || (!when.right.empty() && to == nullptr)) continue;
            const std::string right =
                to == nullptr
                    ? grouped(when.number)
                    : fmt::format("{} ({})", number_text(to->value, to->decimals), spoken(to->name));
            answer.usual.push_back(
                {at,
                 {},
                 {},
                 when.left,
                 fmt::format("For {} \u201c{}\u201d would have to be {}{}; it is {}.",
                             static_cast<char>('A' + at), spoken(when.left), in_words(when.op), right,
                             number_text(is->value, is->decimals))});
        }
        return;
    }
    const NamedNumber* const right = find_number(of, question.answer);
    if (right == nullptr) return;
    const auto text = [&](uint64_t number) { return number_text(number, answer.decimals); };
    for (const NamedNumber& other : of.numbers)
        if (const Number number = in_decimals(plain(other), answer.decimals);
            number && *number != answer.number && !other.noun.empty())
            add(answer, {*number,
                         {},
                         {},
                         other.name,
                         fmt::format("{} is \u201c{}\u201d here.", text(*number), spoken(other.name))});
    for (const NamedNumber& other : of.numbers) {
        if (&other == right || plain(other) <= 1) continue;
        for (const bool times : {true, false})
            if (const Number number = in_decimals(
                    times ? plain(*right) * plain(other) : plain(*right) / plain(other), answer.decimals);
                number && *number > 0)
                add(answer, {*number,
                             {},
                             {},
                             fmt::format("{} {} {}", right->name, times ? '*' : '/', other.name),
                             fmt::format("{} is the right number {} {}, \u201c{}\u201d.", text(*number),
                                         times ? "times" : "divided by",
                                         number_text(other.value, other.decimals), spoken(other.name))});
    }
}

}  // namespace tilescope::lessons
