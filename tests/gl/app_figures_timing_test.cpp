// The figures of Timing, as app_figures_test.cpp holds those of the Step screen.
#include "kernels/textbook/known_launch.h"
#include "tests/gl/figures_screens.h"

namespace tilescope::app {
namespace {

// --- Timing: what was measured, found again in the files that ship, and what follows from it

struct TimingScene {
    const kernels::Timings* times = nullptr;     // of the device; null where it was not measured
    const analysis::DeviceSpec* spec = nullptr;  // where it was not
    double gbs = 0, gflops = 0;                  // stated
    std::string kernel;
    uint32_t tile = 0, width = 0;
    std::optional<std::array<double, 3>>
        counted{};                            // bytes of requests, of L2 and of DRAM; none: not counted
    std::optional<kernels::BlockTile> own{};  // of a kernel that has no T
    uint32_t tile_of(const std::string& of) const {  // as its rows have it
        const kernels::KernelInfo* const info = kernels::find(of);
        return info == nullptr || info->own_tile ? 0 : tile;
    }
    const kernels::Timing* row(const std::string& of) const { return row_of(of, width); }
    const kernels::Timing* row_of(const std::string& of, uint32_t n) const {
        for (const kernels::Timing& one : times->rows)
            if (one.kernel == of && one.m == n && one.k == n && one.n == n && one.tile == tile_of(of))
                return &one;
        return nullptr;
    }
    // Whether a block of so many rows and columns launches.
    bool launches(double T) const { return spec == nullptr || T * T <= spec->sm.threads_per_block; }
    bool tiled() const { return !kernel.starts_with("untiled"); }
    double flop() const { return 2.0 * width * width * width; }
    double rate() const { return flop() / row(kernel)->median_ms / 1e6; }  // GFLOP/s
    double bound(double intensity) const {
        return gflops > 0 ? std::min(gflops, gbs * intensity) : gbs * intensity;
    }
    // FLOP an element loaded, of a block that owns so much: 2 for each element of P, along k.
    double cgma() const {
        return own ? 2.0 * own->rows * own->cols / (own->rows + own->cols) : tiled() ? tile : 1;
    }
    // Bytes: asked for by the threads, 4 for each operand; a tile brings each once for T uses.
    double bytes(size_t level) const {
        if (level == 0 && own) return flop() * 4 / cgma();
        if (level == 0) return flop() * 4 / (tiled() ? tile : 1);
        return counted ? (*counted)[level - 1] : 0;
    }
    double intensity(size_t level) const { return flop() / bytes(level); }
};
const TimingScene* g_timing = nullptr;

// Bytes that were counted of a square product on a device; what ships for the charts first, then what ships
// for the levels of memory.
std::optional<std::array<double, 3>> counted_of(const State& state, const std::string& device,
                                                const std::string& kernel, uint32_t width, uint32_t tile) {
    for (const kernels::Counters& set : state.session.assets.counters())
        for (const kernels::CounterRow& of : set.rows) {
            if (set.device != device || of.kernel != kernel || of.m != width || of.k != width ||
                of.n != width || of.tile != tile || of.ptx != "clang")
                continue;
            std::array<double, 3> bytes{};
            for (const auto& [name, value] : of.counters) {
                if (name == "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") bytes[0] = value * 32;
                if (name == "lts__t_sectors_op_read.sum") bytes[1] = value * 32;
                if (name == "dram__bytes_read.sum") bytes[2] = value;
            }
            return bytes;
        }
    for (const analysis::DeviceSpec& spec : state.session.assets.devices())
        if (device.find(spec.name) != std::string::npos)
            if (const kernels::LevelCounterRow* const of =
                    kernels::find_level_counters(spec.id, kernel, "clang", {width, width, width, tile}))
                return std::array{of->l1_sectors * 32, of->l2_read_sectors * 32, of->dram_read_bytes};
    return std::nullopt;
}

double times_of(const char* rival) {
    const TimingScene& t = *g_timing;
    return t.row(rival)->median_ms / t.row(t.kernel)->median_ms;
}
// A ratio that lies between two texts, as 2.125 does, may be either: the screen reaches it by another
// division.
std::vector<std::string> ratio_words(double bytes) {
    const double ratio = bytes / g_timing->bytes(0);
    std::vector<std::string> words;
    for (const double off : {0.0, 1e-12, -1e-12}) {
        const double large = std::max(ratio, 1 / ratio) * (1 + off);
        const std::string text = std::abs(large - std::round(large)) < 1e-9 || large >= 99.95
                                     ? grouped(static_cast<uint64_t>(std::llround(large)))
                                     : fmt::format("{:.{}f}", large, large < 9.995 ? 2 : 1);
        if (text == "1") words.push_back("same");
        words.push_back(text == "1.00" ? "same" : text + " × " + (ratio < 1 ? "fewer" : "more"));
    }
    return words;
}
std::string words_of_kernel(std::string kernel) {
    if (kernel == "cublas") return "cuBLAS";
    std::ranges::replace(kernel, '_', ' ');
    return kernel;
}

// Widths of the charts; the small ones that were timed besides stand where their size is shown.
constexpr uint32_t kChartWidths[] = {256, 512, 1024, 2048, 4096, 8192};

// Beside a device that was not measured stand the kernels of the first one that was, at a width of 1,024.
struct OtherKernels {
    const kernels::Timings* of = nullptr;
    uint32_t tile = 0;  // the screen's where it was timed, else the widest
    static constexpr uint32_t kWidth = 1024;
};
OtherKernels other_kernels(const State& state) {
    OtherKernels other;
    for (const kernels::Timings& one : state.session.assets.timings())
        if (other.of == nullptr || (one.device == other.of->device && one.compiler != "clang"))
            other.of = &one;
    for (const kernels::Timing& row : other.of->rows)
        if (row.n >= 256 && other.tile != g_timing->tile)
            other.tile = row.tile == g_timing->tile ? row.tile : std::max(other.tile, row.tile);
    return other;
}
void hold_other_kernel(Page& page, size_t i) {
    const OtherKernels other = other_kernels(page.scene_of(i).state);
    for (const kernels::Timing& row : other.of->rows) {
        if (row.m != other.kWidth || row.k != other.kWidth || row.n != other.kWidth) continue;
        if (row.tile != 0 && row.tile != other.tile) continue;
        const std::string name =
            words_of_kernel(row.kernel) + (row.tile == 0 ? "" : fmt::format(", T = {}", row.tile));
        if (page.text(i) != name || !page.number(i + 1)) continue;
        page.claim(i);
        page.cell(i + 1, 2.0 * other.kWidth * other.kWidth * other.kWidth / row.median_ms / 1e6, name);
    }
}

void timing_tables(Page& page) {
    constexpr const char* kLevels[] = {"asked by the threads", "sectors of the requests", "read from L2",
                                       "read from DRAM"};
    for (size_t i = 0; i < page.size(); ++i) {
        if (g_timing->times == nullptr && i + 1 < page.size()) hold_other_kernel(page, i);
        for (size_t level = 0; level < 4; ++level) {
            if (page.text(i) != kLevels[level]) continue;
            page.claim(i);
            if (i + 2 >= page.size() ||
                std::abs(page.at(i + 1).min.y - page.at(i).min.y) > 4) {  // the strip of a low window
                const std::string& above = page.text(i - 1);
                Captures c;
                const bool both = test::match("~  *", above, c);
                if (!both && (c.clear(), !test::match("~", above, c))) continue;
                page.claim(i - 1);
                if (const std::string no = test::disagrees(c[0], g_timing->bytes(level)); !no.empty())
                    page.complain(page.text(i) + ": " + no);
                if (both && !test::disagrees(c[1], ratio_words(g_timing->bytes(level))).empty())
                    page.complain(page.text(i) + " is not " + c[1]);
                continue;
            }
            page.cell(i + 1, g_timing->bytes(level), page.text(i));
            const size_t more = level > 0 ? 1 : 0;  // the first row is what the others are compared with
            if (more > 0) page.cell(i + 2, ratio_words(g_timing->bytes(level)), page.text(i));
            page.cell(i + 2 + more, {g_timing->intensity(level), fmt::format("FLOP/B of {}", kLevels[level])},
                      page.text(i));
        }
        // Axes by their form alone: widths that were measured, tile widths, and 1, 2 or 5 times a power of
        // ten.
        Captures c;
        if (!test::match("~", page.text(i), c)) continue;
        const double at =
            std::strtod(test::without_groups(c[0]).c_str(), nullptr) * (c[0].ends_with(" k") ? 1e3 : 1);
        bool known = at == 0;
        for (const double first : {1, 2, 5}) {
            const double power = std::log10(at / first);
            known = known || std::abs(power - std::round(power)) < 1e-9;
        }
        for (const double T : {4, 8, 16, 32}) known = known || (at == T && g_timing->launches(T));
        for (const double width : kChartWidths) known = known || at == width;
        if (known) page.claim(i);
    }
}

// "GeForce 8800 GTX (G80)"
std::string stated_name() {
    const analysis::DeviceSpec& spec = *g_timing->spec;
    return spec.chip.empty() ? spec.name : fmt::format("{} ({})", spec.name, spec.chip);
}
double stated_bound() { return g_timing->bound(g_timing->tiled() ? g_timing->tile / 4.0 : 0.25); }
// "256, 2,048": of the charts' widths, those at which L2 and DRAM were counted.
std::string widths_counted(const Scene& s) {
    std::set<uint32_t> widths;
    for (const uint32_t width : kChartWidths)
        if (g_timing->row_of(g_timing->kernel, width) != nullptr &&
            counted_of(s.state, g_timing->times->device, g_timing->kernel, width,
                       g_timing->tile_of(g_timing->kernel)))
            widths.insert(width);
    std::string words;
    for (const uint32_t width : widths) words += (words.empty() ? "" : ", ") + grouped(width);
    return words;
}
// Of a kernel that is named before it, or not.
std::vector<Rule> also_named(std::vector<Rule> rules) {
    for (size_t i = rules.size(); i-- > 0;)
        rules.push_back({words_of_kernel(g_timing->kernel) + ": " + rules[i].pattern, rules[i].right});
    return rules;
}
Figures measured_on() {
    const kernels::Timings& t = *g_timing->times;
    const size_t last = t.date.find(" to ");  // "FIRST to LAST": measured on more than one day
    const std::string days =
        t.date.substr(0, 10) + (last == std::string::npos ? "" : t.date.substr(last, 14));
    return {fmt::format("{}, driver {}, CUDA {}, {}", t.device, t.driver, t.cuda, days)};
}
// Bytes that are read for the untiled kernel of the same size; level: as of TimingScene::bytes.
double without_tiles(const Scene& s, size_t level) {
    TimingScene rival = *g_timing;
    rival.counted = counted_of(s.state, g_timing->times->device, "untiled", g_timing->width, g_timing->tile);
    return rival.bytes(level);
}
// "T = 16, CGMA 16: 21.6 x 16 = 345.6 GFLOP/s, 94.17 % of the peak."
Figures course_bound(uint32_t tile, bool cut) {
    const double operands = g_timing->gbs / 4, asked = operands * tile;
    Figures all;
    if (tile > 1) all = {{tile, "T of the screen"}, tile};
    all.emplace_back(operands);
    if (tile > 1) all.emplace_back(tile);
    all.emplace_back(asked);
    all.emplace_back(cut ? g_timing->gflops : 100 * asked / g_timing->gflops);
    all.push_back(must(cut == (asked > g_timing->gflops)));
    return all;
}
// ", 1.47 × untiled, 18.7 × untiled swapped"
std::vector<std::string> over_rivals() {
    std::string tail;
    const auto two = [](double x) {
        return x < 9.995 ? fmt::format("{:.2f}", x) : fmt::format("{:.{}f}", x, x < 99.95 ? 1 : 0);
    };
    for (const char* rival : {"untiled", "untiled_swapped"})
        if (rival != g_timing->kernel && g_timing->row(rival) != nullptr)
            tail += fmt::format(", {} × {}", two(times_of(rival)), words_of_kernel(rival));
    return {tail, tail + "; its result is wrong, as made to show"};
}
// What L1 caught: of the sectors that are no longer asked for, those that L2 was not asked for before either.
double caught(const Scene& s) {
    return 1 - (without_tiles(s, 2) - g_timing->bytes(2)) / (without_tiles(s, 1) - g_timing->bytes(1));
}
// {kernel, where it is said}, how many times fewer loads, "but is only" or "and is", how many times as fast,
// and what L1 caught.
Figures saved(const Captures& c, const std::string& kernel = "", const Scene* s = nullptr) {
    Figures all;
    if (kernel.empty()) all.emplace_back(words_of_kernel(g_timing->kernel));
    const double time = times_of("untiled");
    const std::string is = kernel.empty() ? "is" : "are";
    all.insert(all.end(),
               {g_timing->cgma(), time < g_timing->cgma() ? "but " + is + " only" : "and " + is, time});
    if (s != nullptr) all.emplace_back(100 * caught(*s));
    all.push_back(must(c.size() == all.size() && (s == nullptr || caught(*s) < 0.9995) &&
                       (kernel.empty() || g_timing->kernel == kernel)));
    return all;
}
Figures saved_all(const Captures& c, const Scene& s, const std::string& kernel = "") {
    const double time = times_of("untiled");
    Figures all{
        g_timing->cgma(), time,
        must(caught(s) >= 0.9995 && time < g_timing->cgma() &&
             (kernel.empty() ? c[0] == words_of_kernel(g_timing->kernel) : g_timing->kernel == kernel))};
    if (kernel.empty()) all.insert(all.begin(), any);
    return all;
}
std::vector<Rule> timing_rules() {
    std::vector<Rule> rules = also_named({
        {"arithmetic intensity 2T FLOP / 8 B = T/4 = ~ FLOP/B",
         SAYS({g_timing->tile / 4.0, "intensity"}, must(g_timing->tiled() && !g_timing->own))},
        {"arithmetic intensity 2 \u00d7 # \u00d7 # FLOP / (# + #) \u00d7 4 B = ~ FLOP/B",
         SAYS(g_timing->own->rows, g_timing->own->cols, g_timing->own->rows, g_timing->own->cols,
              {g_timing->cgma() / 4, "intensity"})},
        {"CGMA 2 \u00d7 # \u00d7 # FLOP / (# + #) accesses = ~ FLOP per global access",
         SAYS(g_timing->own->rows, g_timing->own->cols, g_timing->own->rows, g_timing->own->cols,
              g_timing->cgma())},
        {"arithmetic intensity 2 FLOP / 8 B = 0.25 FLOP/B", SAYS(must(!g_timing->tiled()))},
        {"CGMA 2T FLOP / 2 accesses = T = # FLOP per global access",
         SAYS(g_timing->tile, must(g_timing->tiled() && !g_timing->own))},
        {"CGMA 2 FLOP / 2 accesses = 1 FLOP per global access", SAYS(must(!g_timing->tiled()))},
    });
    const std::vector<Rule> more{
        {"*, T = #, width #: ~, ~ GFLOP/s*",
         SAYS(words_of_kernel(g_timing->kernel), {g_timing->tile, "T of the screen"},
              {g_timing->width, "width of the screen"}, g_timing->row(g_timing->kernel)->median_ms / 1e3,
              {g_timing->rate(), "GFLOP/s"}, over_rivals(), must(!g_timing->own))},
        {"*, width #: ~, ~ GFLOP/s*",
         SAYS(words_of_kernel(g_timing->kernel), {g_timing->width, "width of the screen"},
              g_timing->row(g_timing->kernel)->median_ms / 1e3, {g_timing->rate(), "GFLOP/s"}, over_rivals(),
              must(g_timing->own.has_value()))},
        {"Measured on *", SAYS(measured_on())},
        // what a kernel saves, and below it the figures that this rests on
        {"*, T = #, width #: ~, ~ GFLOP/s*. Measured on *",
         SAYS(words_of_kernel(g_timing->kernel), {g_timing->tile, "T of the screen"},
              {g_timing->width, "width of the screen"}, g_timing->row(g_timing->kernel)->median_ms / 1e3,
              {g_timing->rate(), "GFLOP/s"}, over_rivals(), measured_on().front(), must(!g_timing->own))},
        {"*, width #: ~, ~ GFLOP/s*. Measured on *",
         SAYS(words_of_kernel(g_timing->kernel), {g_timing->width, "width of the screen"},
              g_timing->row(g_timing->kernel)->median_ms / 1e3, {g_timing->rate(), "GFLOP/s"}, over_rivals(),
              measured_on().front(), must(g_timing->own.has_value()))},
        {"Tiles make ~ × fewer loads, {but are only|and are} ~ × as fast", SAYS(saved(c, "tiled"))},
        {"* makes ~ × fewer loads, {but is only|and is} ~ × as fast", SAYS(saved(c))},
        {"Tiles make ~ × fewer loads, {but are only|and are} ~ × as fast: L1 had caught ~ % of them",
         SAYS(saved(c, "tiled", &s))},
        {"* makes ~ × fewer loads, {but is only|and is} ~ × as fast: L1 had caught ~ % of them",
         SAYS(saved(c, "", &s))},
        {"Tiles make ~ × fewer loads, but are only ~ × as fast: L1 had caught all of them",
         SAYS(saved_all(c, s, "tiled"))},
        {"* makes ~ × fewer loads, but is only ~ × as fast: L1 had caught all of them",
         SAYS(saved_all(c, s))},
        {"~ ×", SAYS(any, must(test::disagrees(c[0], g_timing->cgma()).empty() ||
                               test::disagrees(c[0], times_of("untiled")).empty()))},
        {"Counted by Nsight Compute on *", SAYS(g_timing->times->device)},
        {"Roofline at width #, T = #, GFLOP/s",
         SAYS({g_timing->width, "width of the screen"}, {g_timing->tile, "T of the screen"})},
        {"measured: ~ GB/s, ~ GFLOP/s",
         SAYS(g_timing->times->roofs.copy_gbs, g_timing->times->roofs.fp32_gflops)},
        {"measured: ~ GFLOP/s", SAYS(g_timing->times->roofs.fp32_gflops)},
        {"stated: ~ GB/s, ~ GFLOP/s", SAYS(g_timing->gbs, g_timing->gflops)},
        {"stated: ~ GFLOP/s", SAYS(g_timing->gflops)},
        {"bound, untiled: ~", SAYS(g_timing->bound(0.25))},
        {"bound, T = #: ~", SAYS({g_timing->tile, "T of the screen"}, g_timing->bound(g_timing->tile / 4.0))},
        {"{by L2|by DRAM|read from L2}", SAYS(any)},  // names
        {"{fp32|halves}", SAYS(any)},                 // which ladder is shown
        {"Of these widths L2 and DRAM were counted at * only.", SAYS(widths_counted(s))},
        {"At these widths L2 and DRAM were not counted for *, T = #.",
         SAYS(words_of_kernel(g_timing->kernel), {g_timing->tile, "T of the screen"},
              must(widths_counted(s).empty()))},
        {"At ~ FLOP/B the stated roof is ~ GFLOP/s: a bound for a device without caches. Measured ~, ~ "
         "{times that|% of it}.",
         SAYS({g_timing->intensity(0), "FLOP/B of asked by the threads"},
              g_timing->bound(g_timing->intensity(0)), {g_timing->rate(), "GFLOP/s"},
              g_timing->rate() > g_timing->bound(g_timing->intensity(0))
                  ? g_timing->rate() / g_timing->bound(g_timing->intensity(0))
                  : 100 * g_timing->rate() / g_timing->bound(g_timing->intensity(0)),
              g_timing->rate() > g_timing->bound(g_timing->intensity(0)) ? "times that" : "% of it")},
        {"*: the requests need ~ times what the threads ask for.",
         SAYS(any, g_timing->bytes(1) / g_timing->bytes(0), must(g_timing->bytes(1) > g_timing->bytes(0)))},
        {"Lanes of a warp that ask for one element, or for neighbours, share sectors: the requests need ~ × "
         "fewer bytes than the threads ask for.",
         SAYS(g_timing->bytes(0) / g_timing->bytes(1))},
        {"The requests need ~; ~ are read from L2 and ~ from DRAM, ~ times the ~ that must be read once.",
         SAYS(g_timing->bytes(1), g_timing->bytes(2), g_timing->bytes(3),
              g_timing->bytes(3) / (8.0 * g_timing->width * g_timing->width),
              8.0 * g_timing->width * g_timing->width)},
        {"At DRAM's ~ FLOP/B the stated roof is ~ GFLOP/s: measured ~ % of it.",
         SAYS({g_timing->intensity(3), "FLOP/B of read from DRAM"}, g_timing->bound(g_timing->intensity(3)),
              100 * g_timing->rate() / g_timing->bound(g_timing->intensity(3)))},
        {"Why ~ × untiled and not T = # ×: untiled asks for ~, but its caches leave ~ to be read from L2 and "
         "~ "
         "from DRAM; with tiles ~ and ~ are left.",
         SAYS(times_of("untiled"), {g_timing->tile, "T of the screen"}, 4 * g_timing->flop(),
              without_tiles(s, 2), without_tiles(s, 3), g_timing->bytes(2), g_timing->bytes(3),
              must(g_timing->kernel == "tiled"), must(times_of("untiled") < g_timing->tile))},
        // devices of which figures are stated alone
        {"~/s / 4 B = ~ operands/s: so many elements come from memory.",
         SAYS(g_timing->gbs * 1e9, g_timing->gbs / 4 * 1e9)},
        {"untiled, CGMA 1: ~ × 1 = ~ GFLOP/s, ~ % of the peak.", SAYS(course_bound(1, false))},
        {"untiled, CGMA 1: ~ × 1 = ~ GFLOP/s, more than the peak of ~.", SAYS(course_bound(1, true))},
        {"T = #, CGMA #: ~ × # = ~ GFLOP/s, ~ % of the peak.", SAYS(course_bound(g_timing->tile, false))},
        {"T = #, CGMA #: ~ × # = ~ GFLOP/s, more than the peak of ~.",
         SAYS(course_bound(g_timing->tile, true))},
        {"The roofs meet at ~ FLOP/B: below it memory bounds a kernel, above it arithmetic.",
         SAYS(g_timing->gflops / g_timing->gbs)},
        {"*, T = #, width #: a bound of ~ GFLOP/s, ~ % of the peak",
         SAYS(words_of_kernel(g_timing->kernel), {g_timing->tile, "T of the screen"},
              {g_timing->width, "width of the screen"}, stated_bound(),
              100 * stated_bound() / g_timing->gflops)},
        {"No measured times ship for *: what is drawn is a bound, from *",
         SAYS(stated_name(), g_timing->spec->source.substr(0, g_timing->spec->source.find(": ")))},
        {"No measured times ship for *: nothing to hold the bound against.",
         SAYS(stated_name(), must(g_timing->launches(32)))},
        {"T = # does not launch: # × # = # threads, a block of @ has at most #. No measured times ship for "
         "*: "
         "nothing to hold the bound against.",
         SAYS(32, 32, 32, 1024, g_timing->spec->chip, g_timing->spec->sm.threads_per_block, stated_name(),
              must(!g_timing->launches(32)))},
        {"tiled, T = #, bound", SAYS({g_timing->tile, "T of the screen"})},
        {"{Measured kernels|Measured} on *, width #, GFLOP/s",
         SAYS(any, any, OtherKernels::kWidth,
              must(c[1].find(other_kernels(s.state).of->device) != std::string::npos))},
        {"Measured at width #, GFLOP/s", SAYS(OtherKernels::kWidth)},
        {"*, T = #, the bound here",
         SAYS(words_of_kernel(g_timing->kernel), {g_timing->tile, "T of the screen"})},
        {"\u2264 ~", SAYS(stated_bound())},
        {"tilescope time untiled {|tiled }cublas --n # --tile #",
         SAYS(g_timing->kernel == "untiled" ? "" : "tiled ", g_timing->width, g_timing->tile)},
        {"On a machine with * this command measures it, with the untiled kernel and cuBLAS beside it.",
         SAYS(stated_name())},
    };
    rules.insert(rules.end(), more.begin(), more.end());
    return rules;
}

TimingScene measured_scene(const State& state, const kernels::Timings& times, const std::string& kernel,
                           uint32_t tile, uint32_t width) {
    TimingScene scene{&times, nullptr, times.roofs.stated_gbs, times.roofs.stated_gflops, kernel,
                      tile,   width};
    if (const kernels::KernelInfo* const info = kernels::find(kernel)) scene.own = info->own_tile;
    scene.counted = counted_of(state, times.device, kernel, width, scene.tile_of(kernel));
    return scene;
}

TEST(FiguresOfTheTimingScreen, OfKernelsAndWidths) {
    SKIP_WITHOUT_GLYPHS();
    Still screen("timing", 21);
    State& state = screen.state;
    Lot& lot = screen.lot;
    for (const kernels::Timings& times : state.session.assets.timings()) {
        if (times.compiler != "clang") continue;
        std::vector<const kernels::Timing*> rows;  // narrower ones are those of recordings, on other screens
        for (const kernels::Timing& row : times.rows)
            if (row.m == row.k && row.k == row.n && row.n >= 256 && !kernels::is_library(row.kernel) &&
                kernels::input_of(row.kernel) == ElementType::F32)
                rows.push_back(&row);
        for (int place = 0; place < 12; ++place) {
            const kernels::Timing& row = *rows[lot.below(static_cast<uint32_t>(rows.size()))];
            const uint32_t tile = row.tile > 0 ? row.tile : 8u << lot.below(3);
            state.timing.device = times.device, state.timing.kernel = row.kernel, state.timing.tile = tile,
            state.timing.width = row.n;
            state.timing.plot = static_cast<timing::State::Plot>(lot.below(4));
            state.timing.beside = timing::State::Beside::Roofline;  // bounds: models_bounds_test
            const TimingScene scene = measured_scene(state, times, row.kernel, tile, row.n);
            g_timing = &scene;
            for (const std::string& complaint : screen.complaints(timing_rules(), timing_tables))
                ADD_FAILURE() << row.kernel << " T=" << row.tile << " " << row.n << ": " << complaint;
        }
    }
}

TEST(FiguresOfTheTimingScreen, OfStatedDevices) {
    SKIP_WITHOUT_GLYPHS();
    Still screen("timing", 22);
    State& state = screen.state;
    Lot& lot = screen.lot;
    for (const analysis::DeviceSpec& device : state.session.assets.devices()) {
        if (device.name.find("H200") != std::string::npos) continue;  // measured
        for (int place = 0; place < 2; ++place) {
            TimingScene scene{nullptr, &device, device.memory_gbs, device.peak_gflops,
                              lot.below(2) == 0 ? "untiled" : "tiled"};
            scene.tile = 4u << lot.below(device.sm.threads_per_block < 1024 ? 3 : 4);
            scene.width = 256u << lot.below(6);
            g_timing = &scene;
            state.timing.device = device.name, state.timing.kernel = scene.kernel,
            state.timing.tile = scene.tile, state.timing.width = scene.width;
            state.timing.plot = static_cast<timing::State::Plot>(lot.below(4));
            for (const std::string& complaint : screen.complaints(timing_rules(), timing_tables))
                ADD_FAILURE() << device.id << " T=" << scene.tile << " " << scene.width << ": " << complaint;
        }
    }
}

TEST(WrongFiguresOfTheTimingScreen, AreFoundInEveryText) {
    SKIP_WITHOUT_GLYPHS();
    Still screen("timing", 0);
    State& state = screen.state;
    const auto hold = [&](const TimingScene& scene) {
        g_timing = &scene;
        for (const std::string& text : screen.changed(timing_rules(), timing_tables))
            if (const size_t end = text.find_first_not_of("0123456789,.");
                end != std::string::npos)  // no tick
                ADD_FAILURE() << scene.kernel << ": " << text;
    };
    state.timing.device = state.session.assets.timings()[0].device;
    for (const uint32_t width : {2048u, 4096u}) {
        state.timing.kernel = "tiled", state.timing.tile = 16, state.timing.width = width;
        hold(measured_scene(state, state.session.assets.timings()[0], "tiled", 16, width));
    }
    const auto& devices = state.session.assets.devices();
    const auto g80 = std::ranges::find(devices, "g80", &analysis::DeviceSpec::id);
    state.timing.device = g80->name;
    hold({nullptr, &*g80, g80->memory_gbs, g80->peak_gflops, "tiled", 16, 4096});
}

}  // namespace
}  // namespace tilescope::app
