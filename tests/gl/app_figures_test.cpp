// Every figure on the screens is right. Recordings and places in them are drawn by lot, from fixed seeds; a
// frame is drawn as the window draws it, and every text of it that has a digit must be claimed by a rule,
// which counts again what the text says (figures.h) and holds the one against the other. A text that no rule
// claims fails: a new sentence brings its rule. Two numbers for one thing in one frame fail as well.
//
//   texts of a frame -> tables (cells by their place) -> rules (sentences, joined where they were wrapped)
//                                                     -> fixed texts, each with its reason
#include "core/trace/file.h"
#include "tests/clocked.h"
#include "tests/gl/figures_screens.h"

namespace tilescope::app {
namespace {

// --- the rules: sentences and labels of all screens but their tables. Of two that fit one text, one that
// agrees claims it.

const std::string kStep =
    "Warp # {loads|writes its sums to|stores to|reads|fills} *: # lane(s), # "
    "{sector|sectors|wavefront|wavefronts}.";
const std::string kArrived = "# of # warps {has|have} arrived; the block waits for the others.";
const std::string kLast = "The last of # warps arrives: the block goes on.";
const std::string kAlone = "The block is a single warp: it goes straight on.";
Figures arrived(const Scene& s) {
    const Passage p = passage_of(s);
    return {{p.arrived, "warps that arrived"},
            {p.warps, "warps of the barrier"},
            p.arrived == 1 ? "has" : "have"};
}
Figures all_arrived(const Scene& s) {
    const Passage p = passage_of(s);
    return {{p.warps, "warps of the barrier"}, must(p.arrived == p.warps)};
}
Figures wait(const Scene& s, bool waited) {
    const Passage p = passage_of(s);
    Figures right{warp(s)};
    if (waited) right = {warp(s), {p.opens - p.own, "clocks waited"}, seconds(s, p.opens - p.own)};
    return joined(right, {p.last - p.first, p.last_warp, must(waited == (p.opens > p.own))});
}

// Of the barriers of the block to which several warps come: how many, and which warps come last.
struct LastToCome {
    uint32_t barriers = 0;
    std::set<uint32_t> warps;
};
LastToCome last_to_come(const Scene& s) {
    std::vector<uint32_t> passed(s.f.warps(), 0);
    std::map<uint32_t, std::vector<uint32_t>> warps;  // by barrier, in the order in which they come
    for (uint32_t step = 0; step < s.steps(); ++step)
        if (const Request& q = s.f.at(s.cursor.block, step); q.kind == kBarrier)
            warps[passed[q.warp]++].push_back(q.warp);
    LastToCome all;
    for (const auto& [barrier, come] : warps) {
        if (come.size() < 2) continue;
        ++all.barriers;
        all.warps.insert(come.back());
    }
    return all;
}

// "Row = by·T + ty = 0·16 + 3 = 3", read off the kernel's source; a thread that stores an element stores
// that.
Figures index_of_thread(const Scene& s, bool row) {
    const bool y = row != (s.trace().meta.kernel == "untiled_swapped");
    const uint32_t T = s.trace().launch.block.x, thread = thread_of_pin(s).value_or(0);
    const uint32_t b = y ? s.block().y : s.block().x, t = y ? thread / T : thread % T;
    const auto output = output_of(s, thread);
    const char* const axis = y ? "y" : "x";
    return {axis,
            axis,
            b,
            T,
            t,
            b * T + t,
            must(!output || (row ? output->second / s.f.n : output->second % s.f.n) == b * T + t)};
}

// What is said below the sums of the block so far, or of the whole recording: how efficient loads and stores are, and
// how many lanes touch nothing.
bool is_of_sums(const Scene& s, const std::string& said) {
    const auto share = [](uint64_t part, uint64_t of) {
        return share_text(static_cast<double>(part) / static_cast<double>(of));
    };
    for (const bool whole : {false, true}) {
        const auto tally = [&](twin::Kind kind) {
            return whole ? s.f.whole(kind)
                         : s.f.tally(kind, s.block().first, s.block().first + s.cursor.step + 1);
        };
        uint64_t all = 0, idle = 0;
        for (const twin::Kind kind : {kGlobalLoad, kGlobalStore, kSharedLoad, kSharedStore}) {
            const Tally of = tally(kind);
            all += of.requests * 32, idle += of.requests * 32 - of.lanes;
        }
        const Tally load = tally(kGlobalLoad), store = tally(kGlobalStore);
        const std::string loads = load.cost == 0
                                      ? ""
                                      : "load efficiency " + share(load.bytes, load.cost * 32) + ", ",
                          stores = store.cost == 0
                                       ? ""
                                       : "store efficiency " + share(store.bytes, store.cost * 32) + ", ",
                          lanes = fmt::format("{} of {} lanes idle, {}", short_count(idle), short_count(all),
                                              share(idle, all)),
                          brief = "idle lanes " + share(idle, all);
        for (const std::string& right : {loads + stores + lanes, loads + lanes, loads + brief, brief})
            if (said == right) return true;
    }
    return false;
}

}  // namespace

const std::vector<Rule>& step_rules() {
    static const std::vector<Rule> all = with_faults(with_costs({
        // the bar at the top
        {"@ T=#   #×#×#   *", product_title},
        {"@ T=#   #×#×#", product_title},
        {"@ T=#", product_title},
        {"@   grid *, block *   *", launch_title},
        {"@   grid *, block *", launch_title},

        // below the sums
        {"{load efficiency|store efficiency} *", SAYS(any, any, must(is_of_sums(s, c[0] + " " + c[1])))},
        {"# of # lanes idle, *",
         SAYS(any, any, any, must(is_of_sums(s, c[0] + " of " + c[1] + " lanes idle, " + c[2])))},
        {"idle lanes *", SAYS(any, must(is_of_sums(s, "idle lanes " + c[0])))},

        // where this is
        {"step # of #", SAYS({s.cursor.step + 1, "step of the block"}, {s.steps(), "steps of the block"})},
        {"block@", SAYS(s.block_words(s.cursor.block))},
        {"block@ {  | }phase # (#{st|nd|rd|th} of #)",
         SAYS(s.block_words(s.cursor.block), any,
              {s.f.phase(s.cursor.block, s.cursor.step), "phase of the step"},
              {s.f.phase(s.cursor.block, s.cursor.step) + 1, "its place among them"}, any,
              {s.f.phases(s.cursor.block), "phases of the block"}, must(s.first() == 0))},
        {"block@ {  | }phase # of #",
         SAYS(s.block_words(s.cursor.block), any,
              {s.f.phase(s.cursor.block, s.cursor.step) + 1, "phase of the step"},
              {s.f.phases(s.cursor.block), "phases of the block"}, must(s.first() == 1))},
        {"block@ {  | }after the last phase",
         SAYS(s.block_words(s.cursor.block), any, must(s.r().kind == kGlobalStore))},

        // the caption
        {kStep, SAYS(caption(s))},
        {kStep + " Then every lane adds one product to its sum.",
         SAYS(caption(s, {must(products_added(s) == 1)}))},
        {kStep + " Then every lane adds # products to its sum.",
         SAYS(caption(s, {products_added(s).value_or(0)}))},
        {kStep + " # are a zero: the element lies outside the matrix.", SAYS(caption(s, {zeros_stored(s)}))},
        {kStep + " One is a zero: the element lies outside the matrix.",
         SAYS(caption(s, {must(zeros_stored(s) == 1)}))},
        {"Warp # arrives at the barrier. " + kArrived, SAYS(joined({warp(s)}, arrived(s)))},
        {"Warp # arrives at the barrier. " + kLast, SAYS(joined({warp(s)}, all_arrived(s)))},
        {"Warp # arrives at the barrier. " + kAlone, SAYS(warp(s), must(passage_of(s).warps == 1))},
        {kArrived, SAYS(arrived(s))},
        {kLast, SAYS(all_arrived(s))},
        {"Warp # waited # clock(s) (~) here; the warps came # clock(s) apart, warp # last.",
         SAYS(wait(s, true))},
        {"Warp # did not wait here; the warps came # clock(s) apart, warp # last.", SAYS(wait(s, false))},
        {"Warp # did not wait here.", SAYS(warp(s), must(passage_of(s).opens == passage_of(s).own))},

        // the request
        {"Warp # {loads from|stores to|reads|fills} @",
         SAYS(warp(s), std::array{"loads from", "stores to", "reads", "fills", ""}[s.r().kind],
              s.name(s.r().array))},
        {"Warp # {loads from|stores to|reads|fills} no array",
         SAYS(warp(s), any, must(s.r().array == trace::kNoArray))},
        {"Warp # at the barrier", SAYS(warp(s), must(s.r().kind == kBarrier))},
        {"line #, # byte(s) a lane", SAYS({s.r().line, "line of the step"}, s.r().bytes)},
        {"line #", SAYS({s.r().line, "line of the step"})},
        {"# of # lane(s) active; # switched off by a branch.",
         SAYS(lanes(s), here(s), here(s) - s.r().lanes)},
        {"The block has only # thread(s) in this warp; its other # lanes are idle.",
         SAYS(here(s), 32 - here(s))},
        {"The block has only # thread(s) in this warp; its other lane is idle.",
         SAYS(here(s), must(here(s) == 31))},
        {"# sector(s) (32 bytes) in # line(s) (128 bytes)", SAYS(cost(s), s.r().global.lines)},
        {"# sector(s) in # line(s)", SAYS(cost(s), s.r().global.lines)},
        {"32 banks; the tallest stack: # word(s)", SAYS(s.r().shared.most_words)},
        {"tallest stack: # word(s)", SAYS(s.r().shared.most_words)},

        // the verdict
        {kLanes + "one element{ of |}*" + kSectors,
         SAYS(verdict(s, {any, of_array(s, c[2]),
                          must(shape_of(s, s.r()).elements.size() == 1 && s.r().lanes == 1)}))},
        {kLanes + "one and the same element{ of |}*" + kSectors,
         SAYS(verdict(
             s, {any, of_array(s, c[2]), must(shape_of(s, s.r()).elements.size() == 1 && s.r().lanes > 1)}))},
        {kLanes + "one column of *, a row (~) apart*" + kSectors,
         SAYS(verdict(s, {s.name(s.r().array), row_bytes(s), shape_of(s, s.r()).repeats,
                          must(shape_of(s, s.r()).one_column)}))},
        {kLanes + "# elements of one column of *, a row (~) apart*" + kSectors,
         SAYS(verdict(s, {shape_of(s, s.r()).elements.size(), s.name(s.r().array), row_bytes(s),
                          shape_of(s, s.r()).repeats, must(shape_of(s, s.r()).one_column)}))},
        {kLanes + "# neighbours*" + kSectors, SAYS(verdict(s, {shape_of(s, s.r()).elements.size(), reasons(s),
                                                               must(shape_of(s, s.r()).runs == 1)}))},
        {kLanes + "# {rows|stretches} of # neighbours*" + kSectors,
         SAYS(verdict(s, {shape_of(s, s.r()).runs, any, shape_of(s, s.r()).run_length, reasons(s)}))},
        {kLanes + "# elements in # stretches*" + kSectors,
         SAYS(verdict(
             s, {shape_of(s, s.r()).elements.size(), shape_of(s, s.r()).runs, shape_of(s, s.r()).repeats}))},
        {kLanes + "# elements of *, no two of them neighbours" + kSectors,
         SAYS(
             verdict(s, {shape_of(s, s.r()).elements.size(), s.name(s.r().array) + shape_of(s, s.r()).repeats,
                         must(shape_of(s, s.r()).run_length == 1)}))},
        {kLanes + "one word: {a broadcast, |}" + kWavefronts,
         SAYS(verdict(s, {s.r().lanes > 1 ? "a broadcast, " : "", must(s.r().shared.words == 1)}))},
        {kLanes + "# words in # different banks*: {broadcasts, |}" + kWavefronts,
         SAYS(verdict(s, {s.r().shared.words, s.r().shared.banks, shape_of(s, s.r()).repeats,
                          shape_of(s, s.r()).repeats.empty() ? "" : "broadcasts, ",
                          must(s.r().shared.most_words == 1)}))},
        {kLanes + "# different words of bank #*: " + kWavefronts,
         SAYS(verdict(s, {s.r().shared.words, s.r().shared.fullest_bank, shape_of(s, s.r()).repeats,
                          must(s.r().shared.banks == 1)}))},
        {kLanes + "# words in only # banks, up to # in one*: " + kWavefronts,
         SAYS(verdict(s, {s.r().shared.words, s.r().shared.banks, s.r().shared.most_words,
                          shape_of(s, s.r()).repeats}))},

        // the address of one lane
        {"@: @ = byte # of @, {sector|bank} #",
         SAYS(s.thread(s.r().warp * 32 + lane_spoken_of(s)), s.name(s.r().array, element_spoken_of(s)),
              byte_spoken_of(s), s.name(s.r().array), global(s.r()) ? "sector" : "bank", place_spoken_of(s))},
        {"@: {arrives with its warp|has left the kernel|switched off in this request}",
         SAYS(s.thread(s.r().warp * 32 + lane_spoken_of(s)),
              s.r().kind != kBarrier            ? "switched off in this request"
              : s.r().active(lane_spoken_of(s)) ? "arrives with its warp"
                                                : "has left the kernel")},
        {"#·# + # = #", SAYS(element_spoken_of(s) / s.of(s.r().array).cols, s.of(s.r().array).cols,
                             element_spoken_of(s) % s.of(s.r().array).cols, element_spoken_of(s))},
        {"(#·# + #)·# + # = #",
         SAYS(element_spoken_of(s) / s.of(s.r().array).cols / s.of(s.r().array).rows, s.of(s.r().array).rows,
              element_spoken_of(s) / s.of(s.r().array).cols % s.of(s.r().array).rows, s.of(s.r().array).cols,
              element_spoken_of(s) % s.of(s.r().array).cols, element_spoken_of(s))},
        {"#·# = byte #", SAYS(element_spoken_of(s), s.of(s.r().array).element_bytes(), byte_spoken_of(s))},
        {"#/32 = sector #", SAYS(byte_spoken_of(s), place_spoken_of(s))},
        {"word # mod 32 = bank #", SAYS((s.r().base + byte_spoken_of(s)) / 4, place_spoken_of(s))},

        // the selection, and the panel of a pinned element
        {"@: warp #, lane #", SAYS(s.thread(thread_of_pin(s).value_or(0)), thread_of_pin(s).value_or(0) / 32,
                                   thread_of_pin(s).value_or(0) % 32)},
        {"row # of @ times column # of @", SAYS(element_of_pin(s) / s.f.n, s.name(s.f.number("M")),
                                                element_of_pin(s) % s.f.n, s.name(s.f.number("N")))},
        {"@ = row # of @ times column # of @",
         SAYS(s.name(s.f.number("P"), element_of_pin(s)), element_of_pin(s) / s.f.n, s.name(s.f.number("M")),
              element_of_pin(s) % s.f.n, s.name(s.f.number("N")))},
        {"Row = b{y|x}·T + t{y|x} = #·# + # = #", SAYS(index_of_thread(s, true))},
        {"Col = b{y|x}·T + t{y|x} = #·# + # = #", SAYS(index_of_thread(s, false))},
        {"# different warps come last at the # barriers; CUDA promises no order.",
         SAYS(last_to_come(s).warps.size(), last_to_come(s).barriers)},
        {"Warp # comes last at all # barriers; CUDA promises no order.",
         SAYS(*last_to_come(s).warps.begin(), last_to_come(s).barriers,
              must(last_to_come(s).warps.size() == 1))},
        {"Warp # comes last at the barrier; CUDA promises no order.",
         SAYS(*last_to_come(s).warps.begin(), must(last_to_come(s).barriers == 1))},
        {"its sum so far: @", SAYS(sum_of(s, s.cursor.step).first)},
        {"sum so far @, after # of # products",
         SAYS(sum_of(s, s.cursor.step).first, sum_of(s, s.cursor.step).second,
              sum_of(s, s.steps() - 1).second)},
        {"expected in the end: ~", SAYS(value_words(s.f.expected(s.state.session.pin.index)))},
        {"stores @ at *, as expected",
         SAYS(sum_of(s, s.steps() - 1).first, s.when(store_step(s)),
              must(sum_of(s, s.steps() - 1).first == value_words(s.f.expected(s.state.session.pin.index))))},
        {"stores @ at *; expected @", SAYS(sum_of(s, s.steps() - 1).first, s.when(store_step(s)),
                                           value_words(s.f.expected(s.state.session.pin.index)))},
        {"{computes|stores} @", SAYS(s.f.product() ? "computes" : "stores", owned_by_warp(s))},
        {"stores @", SAYS(stored_by_thread(s))},
        {"warp #: @ to @", SAYS(s.state.session.pin.warp, s.thread(s.state.session.pin.warp * 32),
                                s.thread_index(last_thread_of_warp(s)))},
        {"phase #: loads *", SAYS({s.f.phase(s.cursor.block, s.cursor.step) + s.first(), "phase of the step"},
                                  loads_in_phase(s), must(s.f.product() || s.f.phases(s.cursor.block) > 1))},
        {"loads *", SAYS(loads_in_phase(s), must(!s.f.product() && s.f.phases(s.cursor.block) == 1))},
        {"line #: # request(s) by this block so far, # in all",
         SAYS(line_of_pin(s), hits(s, s.cursor.step, line_of_pin(s)), hits(s, s.steps() - 1, line_of_pin(s)),
              must(!pinned_barrier(s)))},
        {"line #: # arrival(s) of warps by this block so far, # in all",
         SAYS(line_of_pin(s), hits(s, s.cursor.step, line_of_pin(s)), hits(s, s.steps() - 1, line_of_pin(s)),
              must(pinned_barrier(s)))},
        {"@ = @", SAYS(s.name(pin(s).array, pin(s).index), value_of_pin(s))},
        {"@ = @, bank #", SAYS(s.name(pin(s).array, pin(s).index), value_of_pin(s), bank_of_pin(s))},
        {"@, bank #", SAYS(s.name(pin(s).array, pin(s).index), bank_of_pin(s))},
        {"loaded ^ by @, at step #",
         SAYS(loads_of_pin(s).lanes,
              s.thread(loads_of_pin(s).threads.empty() ? 0 : *loads_of_pin(s).threads.begin()),
              loads_of_pin(s).first + 1, must(loads_of_pin(s).threads.size() == 1))},
        {"loaded ^ by # threads of this block, first at step #",
         SAYS(loads_of_pin(s).lanes, loads_of_pin(s).threads.size(), loads_of_pin(s).first + 1)},
        {"now in @, read ^ from there", SAYS(any, cell_named(s, c[0]).reads, must(holds_pin(s, c[0])))},
        {"now in @, read 0 times from there",
         SAYS(any, must(holds_pin(s, c[0]) && cell_named(s, c[0]).reads == 0))},
        {"bank # of #", SAYS({bank_of_pin(s), "bank of the cell"}, 32u)},
        {"holds @", SAYS(s.name(pinned_cell(s).source_array, static_cast<uint64_t>(pinned_cell(s).source)),
                         must(pinned_cell(s).written))},
        {"holds @, stale: of an earlier phase",
         SAYS(s.name(pinned_cell(s).source_array, static_cast<uint64_t>(pinned_cell(s).source)),
              must(stale(s, pinned_cell(s))))},
        {"stored by @ at *", SAYS(s.thread(pinned_cell(s).thread), s.when(pinned_cell(s).step))},
        {"stored by @", SAYS(s.thread(thread_of_pin(s).value_or(0)))},
        {"loaded at *", SAYS(s.when(pinned_cell(s).load_step))},
        {"read ^ since", SAYS(pinned_cell(s).reads)},
        {"read ^ since, by # request(s)", SAYS(pinned_cell(s).reads, requests_since(s))},
        {"# {access|accesses} by # request(s)",
         SAYS(touches(s)[1], touches(s)[1] == 1 ? "access" : "accesses", touches(s)[0])},
        {"of # block(s) of # recorded", SAYS(touches(s)[2], s.trace().blocks.size())},
        {"{|stale }@: loaded once by @ in phase # at *, used ^", SAYS(factor(s, c))},
        {"{|stale }@: loaded by @ in phase # at *, used ^; ^ by this block", SAYS(factor(s, c))},
        {"{|stale }@: used ^", SAYS(any, any, 1, must(s.element(c[1]).has_value()))},
        {"a zero: stored by @ in phase # at *, used ^", SAYS(any, any, any, any, must(zero_stored(s, c)))},

        // arrays, threads, the legend
        {"inputs loaded #×", SAYS(even_loads(s, "M"), must(even_loads(s, "M") == even_loads(s, "N")))},
        {"@ loaded #×, @ #×",
         SAYS(s.name(s.f.number("M")), even_loads(s, "M"), s.name(s.f.number("N")), even_loads(s, "N"))},
        {"sums, to ±@", SAYS(value_words(largest_stored(s)))},
        {"up to # loads", SAYS(std::max(most_loads(s, s.f.number("M")), most_loads(s, s.f.number("N"))))},

        // sums, time
        {"~ global; result *", SAYS(bytes_so_far(s, true), result_words(s))},
        {"~ global, ~ shared; result *",
         SAYS(bytes_so_far(s, true), bytes_so_far(s, false), result_words(s))},
        {"Result wrong in # element(s), the first @.", SAYS(wrong_result(s))},
        {"# step(s)", SAYS({s.steps(), "steps of the block"})},
        {"SM clocks, *", SAYS(s.trace().meta.device)},
        {"steps in the order of SM clocks, *", SAYS(s.trace().meta.device)},
        {"# clock(s) of SM #, about ~ at # MHz",
         SAYS(s.clock(s.steps() - 1) + 1, s.block().sm, seconds(s, s.clock(s.steps() - 1) + 1),
              s.trace().meta.price.clock_mhz)},
        {"recorded in ~, ~ × its own ~",
         SAYS(s.trace().meta.price.recorded_ms / 1e3,
              s.trace().meta.price.recorded_ms / s.trace().meta.price.plain_ms,
              s.trace().meta.price.plain_ms / 1e3)},
        {"recording: ~ × the kernel's time",
         SAYS(s.trace().meta.price.recorded_ms / s.trace().meta.price.plain_ms)},
        {"phase #", SAYS(any, must(phase_there(s, c[0])))},
        {"lane #", SAYS(thread_of_pin(s).value_or(UINT32_MAX) % 32)},  // of the path
        {"warp #", SAYS(any, must(std::stoul(c[0]) < s.f.warps()))},
        {"~ steps/s", SAYS(s.state.session.playback.steps_per_second)},
        {"~ clocks/s", SAYS(s.state.session.playback.clocks_per_second)},
        {"@:#", SAYS(s.trace().meta.ptx_name, s.trace().sites[s.r().site].ptx_line)},
    }));
    return all;
}

namespace {

// faults: at steps alone at which a fault is told, which must be there then.
void hold_step_screen(trace::Trace recorded, Lot& lot, const std::string& what, int places,
                      bool faults = false) {
    static Drawn small(1280, 720), large(1600, 1000);
    State state;
    const auto held = std::make_shared<const trace::Trace>(std::move(recorded));
    show_trace(state, held, "test.tsc");
    const twin::Recording facts(held);
    for (int place = 0; place < places; ++place) {
        place_by_lot(lot, state, facts);
        state.session.screen = "step";
        if (faults) {
            const std::set<uint32_t> told = steps_at_fault(facts, state.session.cursor.block, true);
            if (told.empty()) continue;
            state.session.cursor.step =
                *std::next(told.begin(), lot.below(static_cast<uint32_t>(told.size())));
        }
        Drawn& drawn = lot.below(2) == 0 ? small : large;
        drawn.frames(state);
        const Scene scene{state, facts, state.session.cursor};
        const auto tells = [](const draw::Written& text) {
            return text.text.starts_with("Race") || text.text.starts_with("Stale load") ||
                   text.text.starts_with("Uninitialised load");
        };
        EXPECT_TRUE(!faults || std::ranges::any_of(drawn.seen().texts, tells)) << what << ", place " << place;
        for (const std::string& complaint : Page(drawn.seen(), scene).complaints(step_rules()))
            ADD_FAILURE() << what << ", " << (&drawn == &small ? "1280" : "1600")
                          << (state.session.lecture ? " lecture" : "") << ", place " << place << ", block "
                          << scene.cursor.block << ", step " << scene.cursor.step + 1 << ", pin "
                          << static_cast<int>(pin(scene).kind) << ": " << complaint;
    }
}

// The texts of one frame, of which some are changed: that the checks find it.
class WrongFigures : public testing::Test {
protected:
    void SetUp() override {
        SKIP_WITHOUT_GLYPHS();
        drawn_ = std::make_unique<Drawn>(1280, 720);
        show("tiled", {20, 13, 18, 8});
        at(16);
    }
    void show(const char* kernel, kernels::Shape shape) {
        const auto held = std::make_shared<const trace::Trace>(kernels::recorded(kernel, shape));
        facts_ = std::make_unique<twin::Recording>(held);
        state_ = State();
        show_trace(state_, held, "test.tsc");
        state_.session.screen = "step";
    }
    void at(uint32_t step) {
        state_.session.cursor.step = step;
        drawn_->frames(state_);
        seen_ = drawn_->seen();
    }
    // Every figure of every text of the frame is held.
    void all_held(const std::string& what) {
        EXPECT_TRUE(complaints().empty()) << what << ": " << complaints().front();
        for (const std::string& text : unheld(seen_, [&](const draw::Inspection& seen) {
                 return Page(seen, {state_, *facts_, state_.session.cursor}).complaints(step_rules());
             }))
            ADD_FAILURE() << what << ": " << text;
    }
    std::vector<std::string> complaints(const std::vector<Rule>& rules = step_rules()) const {
        return Page(seen_, {state_, *facts_, state_.session.cursor}).complaints(rules);
    }
    // Puts `right` in place of the first `wrong` of the texts from the first on that holds `in`.
    void change(const std::string& in, const std::string& right, const std::string& wrong) {
        const auto holds = [&](const draw::Written& text) { return text.text.find(in) != std::string::npos; };
        for (auto at = std::ranges::find_if(seen_.texts, holds); at != seen_.texts.end(); ++at)
            if (const size_t where = at->text.find(right); where != std::string::npos) {
                at->text.replace(where, right.size(), wrong);
                return;
            }
        ADD_FAILURE() << "no text says " << right;
    }
    State state_;
    std::unique_ptr<twin::Recording> facts_;
    std::unique_ptr<Drawn> drawn_;
    draw::Inspection seen_;
};

TEST_F(WrongFigures, AreNotThereWhereNothingIsChanged) {
    const auto all = complaints();
    EXPECT_TRUE(all.empty()) << all.front();
}

TEST_F(WrongFigures, AreFound) {
    const std::array<std::string, 3> kChanges[] = {
        {"reads row 1 of Nds", "32 lanes", "31 lanes"},       // the caption
        {"reads row 1 of Nds", "row 1", "row 2"},             //
        {"phase 0 (1st", "of 2", "of 3"},                     // where this is
        {"different banks", "each 4 times", "each 8 times"},  // a line of the wrapped verdict
        {"arrivals so far", "7", "8"},                        // beside a line of the source
        {"block so far", "27", "28"},                         // a sum
        {"whole recording", "357", "1,357"},                  //
        {"Nds", "8 \u00d7 8", "8 \u00d7 9"},                  // a heading
        {"bytes global", "512", "513"},                       // what is summed below
        {"tiled T=8", "20×13×18", "20×18×13"},                // the bar
    };
    const draw::Inspection before = seen_;
    for (const auto& [in, right, wrong] : kChanges) {
        seen_ = before;
        change(in, right, wrong);
        EXPECT_FALSE(complaints().empty()) << wrong << " for " << right;
    }
}

TEST_F(WrongFigures, AreFoundInEveryText) {
    all_held("a request");
    Pick& pin = state_.session.pin;
    pin.kind = Pick::Kind::Thread, pin.thread = 9;
    at(20);
    all_held("a thread");
    pin = {}, pin.kind = Pick::Kind::Site, pin.site = facts_->at(0, 9).site;
    at(9);
    all_held("a line");
    pin = {}, state_.session.lecture = true;
    at(4);
    all_held("a lecture");
    show("tiled", {20, 20, 20, 8});
    at(0);
    all_held("times");
    for (const char* kernel : {"tiled_no_barrier", "tiled_stale_edge"}) {
        show(kernel, {20, 20, 20, 8});
        at(*steps_at_fault(*facts_, 0, true).begin());
        all_held(kernel);
    }
}

TEST_F(WrongFigures, OfATextThatNoRuleKnows) {
    seen_.texts.push_back(seen_.texts.front());
    seen_.texts.back().text = "7 new figures";
    EXPECT_EQ(complaints(), std::vector<std::string>{"no rule claims '7 new figures'"});
}

TEST_F(WrongFigures, TwoForOneThing) {
    std::vector<Rule> rules = step_rules();
    rules.push_back({"# lanes in all", [](const Scene&, const Captures& c) -> Figures {
                         return {{std::stoul(c[0]), "lanes of the request"}};
                     }});
    seen_.texts.push_back(seen_.texts.front());
    seen_.texts.back().text = "24 lanes in all";
    EXPECT_EQ(complaints(rules),
              std::vector<std::string>{"two numbers for one thing, lanes of the request: 24 32"});
}

TEST(FiguresOfTheStepScreen, OfProducts) {
    SKIP_WITHOUT_GLYPHS();
    for (uint32_t seed = 0; seed < 140; ++seed) {
        Lot lot(seed);
        const char* kernel = kKernels[seed % std::size(kKernels)];
        hold_step_screen(product_by_lot(lot, kernel), lot, fmt::format("{}, seed {}", kernel, seed), 4);
    }
}

TEST(FiguresOfTheStepScreen, OfFaults) {
    SKIP_WITHOUT_GLYPHS();
    for (uint32_t seed = 0; seed < 24; ++seed) {
        Lot lot(seed + 300);
        const char* kernel = seed % 3 == 0 ? "tiled_stale_edge" : "tiled_no_barrier";
        trace::Trace made = product_by_lot(lot, kernel);
        if (seed % 4 == 3) made = trace::with_clocks(made);
        hold_step_screen(std::move(made), lot, fmt::format("{}, seed {}", kernel, seed), 6, true);
    }
}

TEST(FiguresOfTheStepScreen, OfLaunches) {
    SKIP_WITHOUT_GLYPHS();
    Lot lot(7);
    for (const kernels::Plan& plan : kernels::launch_examples())
        hold_step_screen(kernels::recorded(plan), lot, plan.kernel, 8);
}

TEST(FiguresOfTheStepScreen, OfClocks) {
    SKIP_WITHOUT_GLYPHS();
    Lot lot(11);
    for (const char* kernel : kKernels)
        hold_step_screen(trace::with_clocks(product_by_lot(lot, kernel)), lot,
                         fmt::format("{} by clocks", kernel), 5);
    for (const char* name : {"tiled-4x4x4-t2", "tiled-16x16x16-t4", "tiled_stale_edge-20x20x20-t8"})
        hold_step_screen(
            *trace::read_file(fmt::format("{}/assets/recordings/{}.tsc", TILESCOPE_SOURCE_DIR, name)), lot,
            name, 8);
}

}  // namespace
}  // namespace tilescope::app
