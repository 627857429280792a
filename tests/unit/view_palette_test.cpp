// The command palette on notations and places: found by what people type, in the reader's notation.
#include "tests/launch_examples.h"
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

std::vector<std::string> ids(const State& state, const char* query) {
    std::vector<std::string> all;
    for (const Command& command : find_commands(state.session, offers(), query)) all.push_back(command.id);
    return all;
}

// What the palette puts first for a query.
Command first(const State& state, const char* query) {
    const auto found = find_commands(state.session, offers(), query);
    return found.empty() ? Command{} : found.front();
}

TEST_F(Keys, NotationsAreFoundByWhatTheyAreAbout) {
    const auto all = ids(state, "notation");
    ASSERT_GE(all.size(), 3u);
    for (const char* id : {"notation:order", "notation:names", "notation:phases"})
        EXPECT_NE(std::find(all.begin(), all.begin() + 3, id), all.begin() + 3) << id;
    EXPECT_EQ(first(state, "thread[y,x]").id, "notation:order");
    EXPECT_EQ(first(state, "x first").id, "notation:order");
    EXPECT_EQ(first(state, "names").id, "notation:names");
    EXPECT_EQ(first(state, "matrices").id, "notation:names");
    EXPECT_EQ(first(state, "phases counted").id, "notation:phases");
    const auto of_phases = ids(state, "phase");
    EXPECT_NE(std::find(of_phases.begin(), of_phases.end(), "notation:phases"), of_phases.end());
    EXPECT_EQ(of_phases.at(1), "action:next_phase") << "behind the word itself, the way forward";
}

TEST_F(Keys, NotationsChangeWhatIsWritten) {
    const auto take = [&](const char* id) {
        run_command(state.input, state.session, offers(), id);
        update(state, true);
    };
    const auto name = [&] {
        return name_in(state.session.recording->notation, made.trace->launch.arrays[0]);
    };
    EXPECT_EQ(name(), "M");
    take("notation:names");
    EXPECT_EQ(name(), "A");
    take("notation:names");
    EXPECT_EQ(name(), "Md");
    take("notation:names");
    EXPECT_EQ(name(), "M");
    take("notation:order");
    EXPECT_TRUE(state.session.block->notation.x_first);
    take("notation:phases");
    EXPECT_TRUE(state.session.block->notation.phases_from_1);
    EXPECT_EQ(state.session.recent_commands.front(), "notation:phases");
}

// As they are written: from 1 the first phase is phase 1.
TEST_F(Keys, PhasesAreTypedAsTheyAreWritten) {
    EXPECT_EQ(first(state, "phase 0").title, "Go to phase 0 of this block");
    EXPECT_NE(first(state, "phase 4").id, "phase:4");
    perform(state, "notation:phases");
    update(state, true);
    EXPECT_EQ(first(state, "phase 1").title, "Go to phase 1 of this block");
    EXPECT_EQ(first(state, "phase 1").id, "phase:0");
    EXPECT_EQ(first(state, "phase 4").id, "phase:3");
    for (const char* beyond : {"phase 0", "phase 5"})
        EXPECT_FALSE(first(state, beyond).id.starts_with("phase:")) << beyond;
    run_command(state.input, state.session, offers(), first(state, "phase 3").id);
    EXPECT_EQ(state.session.block->phase_at(state.session.cursor.step), 2u);
}

TEST(Palette, BlocksOfAGridWithDepth) {
    State state;
    show_trace(state, kernels::recorded(kernels::stencil()));
    EXPECT_EQ(first(state, "block 1,2,1").title, "Go to block(1,2,1)");
    EXPECT_EQ(first(state, "go to block 1,2").title, "Go to block(0,1,2)");
    for (const char* beyond : {"block 1,2,3", "block 3,0,0", "block 1,2,1,0", "block 1", "block 1,x"})
        EXPECT_FALSE(first(state, beyond).id.starts_with("block:")) << beyond;
    run_command(state.input, state.session, offers(), first(state, "block 1,2,1").id);
    const trace::Block& block = state.session.trace().blocks[state.session.cursor.block];
    EXPECT_EQ(std::tuple(block.x, block.y, block.z), std::tuple(1u, 2u, 1u));
}

// What is typed, and what comes first.
TEST_F(Keys, WhatIsMeantComesFirst) {
    constexpr const char* kFound[][2] = {
        {"next phase", "action:next_phase"},
        {"np", "action:next_phase"},
        {"ne ph", "action:next_phase"},
        {"lecture", "action:lecture"},
        {"sector", "term:sector"},
        {"sectors", "term:sector"},
        {"sectr", "term:sector"},
        {"wavefront", "term:wavefront"},
        {"wavefornt", "term:wavefront"},
        {"request", "term:request"},
        {"bank conflict", "term:bank conflict"},
        {"phase", "term:phase"},
        {"barrier interval", "term:barrier interval"},
        {"cgma", "term:CGMA"},
        {"intensity", "term:arithmetic intensity"},
        {"roofline", "term:roofline"},
        {"occupancy", "term:occupancy"},
        {"warp", "term:warp"},
        {"SM", "term:SM"},
        {"the limits screen", "action:screen_limits"},
        {"timing g80", "timing:GeForce 8800 GTX"},
        {"limits g80", "limits:device-g80"},
        {"limits gt200", "limits:device-gt200"},
        {"8800", "timing:GeForce 8800 GTX"},
        {"two registers more", "limits:cliff"},
        {"hide 200 cycles", "limits:latency"},
        {"lesson banks", "lesson:banks"},
        {"lesson edges", "lesson:edges"},
        {"record edges", "preset:3"},
        {"100x70", "preset:3"},
        {"100 × 70 × 130", "preset:3"},
        {"shipped 100×70×130", "shipped:tiled-100x70x130-t16"},
        {"tiled_padded", "shipped:tiled_padded-64x64x64-t32"},
        {"tiled_no_barrier", "shipped:tiled_no_barrier-64x64x64-t16"},
        {"transposed T=32", "shipped:tiled_transposed-64x64x64-t32"},
        {"boundary checks", "term:boundary check"},
        {"coarsening", "term:thread coarsening"},
        {"corner turning", "term:corner turning"},
        {"shuffle", "term:shuffle"},
        {"boundary condition", "term:boundary check"},
        {"strip mining", "term:strip mining"},
        {"privatization", "term:privatization"},
        {"memory coalescing", "lesson:coalescing"},
        {"double buffering", "term:double buffering"},
        {"wave", "term:wave"},
        {"tail", "term:tail"},
        {"why is my kernel slow", "action:slow"},
        {"next phase", "action:next_phase"},
        {"limits of the open recording", "limits:recording"},
    };
    for (const auto& [query, id] : kFound) EXPECT_EQ(first(state, query).id, id) << query;
    // Of a device's two rows the one of the screen that is shown.
    EXPECT_TRUE(first(state, "G80").title.ends_with("GeForce 8800 GTX (G80)")) << first(state, "G80").title;
    for (const char* screen : {"limits", "timing"}) {
        state.session.screen = screen;
        EXPECT_TRUE(first(state, "G80").id.starts_with(screen));
        EXPECT_TRUE(first(state, "gt200").id.starts_with(screen));
    }
}

TEST_F(Keys, NonsenseFindsNothing) {
    for (const char* nonsense :
         {"wxyz", "xyzzy", "qqq", "asdf", "nxph",     "tlsc",        "abcdef", "rcrd",
          "ohnd", "sdfgh", "eee", "zz",   "next qqq", "block x,y,q", "wnp",    "hfkdls",
          "tpl",  "P[",    "P]",  "[]",   "Q(",       "line x"})
        EXPECT_TRUE(ids(state, nonsense).empty()) << nonsense << " finds " << first(state, nonsense).title;
}

// A question as a student types it: no row says all of it, those that say most come first.
TEST_F(Keys, AQuestionFindsWhatSaysMostOfIt) {
    constexpr std::pair<const char*, const char*> kFound[] = {
        {"why is tiled less than T times faster", "term:speedup"},
        {"how much faster is tiled", "term:speedup"},
        {"what goes wrong without the closing barrier", "lesson:race"},
        {"do tiles help matrix addition", "lesson:helps"},
        {"how many warps hide 200 cycles of latency", "limits:latency"},
    };
    for (const auto& [query, id] : kFound) EXPECT_EQ(first(state, query).id, id) << query;
    EXPECT_LE(ids(state, "how does shared memory of a block of threads work").size(), 8u);
    // Where nothing says two of its words, one that is long enough to be meant.
    const Command transpose = first(state, "why is transpose slow");
    EXPECT_TRUE(transpose.title.find("transpose") != std::string::npos) << transpose.title;
    EXPECT_TRUE(ids(state, "weather tomorrow slow").empty()) << "a short word alone is too little";
}

// A question about an element or a thread asks for that place.
TEST_F(Keys, APlaceIsFoundInASentence) {
    constexpr std::pair<const char*, const char*> kFound[] = {
        {"which warp loads N[20,35]", "Pin N[20,35]"},
        {"which warp of block (1,2) loads n [ 20, 35 ] first", "Pin N[20,35]"},
        {"what does thread[1,3] store", "Pin thread[1,3]"},
        {"the bank of Mds[5,7", "Pin Mds[5,7]"},
    };
    for (const auto& [query, title] : kFound) EXPECT_EQ(first(state, query).title, title) << query;
    EXPECT_EQ(first(state, "who loads N[64,0]").id, "none");
}

// Every kernel that ships can be recorded, and every rung of the ladder looked at.
TEST_F(Keys, EveryKernelIsARow) {
    for (const kernels::KernelInfo& kernel : kernels::catalogue()) {
        const auto all = ids(state, ("record kernel " + kernel.name).c_str());
        ASSERT_NE(std::ranges::find(all, "kernel:" + kernel.name), all.end()) << kernel.name;
        run_command(state.input, state.session, offers(), "kernel:" + kernel.name);
        EXPECT_TRUE(state.input.form.open && !state.input.form.of_program);
        EXPECT_EQ(state.input.form.kernel, kernel.name);
        EXPECT_TRUE(kernels::plan(kernel.name, state.input.form.shape)) << kernel.name;
    }
    EXPECT_EQ(first(state, "clang").id, "timing:NVIDIA H200");
    EXPECT_TRUE(first(state, "register_column").id == "timing:register_column" ||
                first(state, "register_column").id == "kernel:register_column")
        << first(state, "register_column").id;
}

// The word of the field leads to the kernels that do it, and not to what bounds the one that is open.
TEST_F(Keys, CoarseningLeadsToTheLadder) {
    state.timing.device = "GeForce RTX 3090";  // which has no ladder
    run_command(state.input, state.session, offers(), first(state, "coarsening").id);
    update(state, false);
    EXPECT_EQ(state.session.screen, "timing");
    EXPECT_EQ(state.timing.kernel, "register_column");
    EXPECT_EQ(state.timing.beside, timing::State::Beside::Ladder);
    EXPECT_EQ(state.timing.device, "");
    state.timing.bounds = {};  // no more work for nobody
}

// Every word of the field that is a row leads to something that can be done.
TEST(Palette, WordsLeadToWhatShowsThem) {
    for (const input::Action<input::State>& term : terms()) {
        State state;
        term.apply(state.input, state.session);
        ASSERT_EQ(state.session.wishes.size(), 1u) << term.name;
        const std::string leads = std::get<wish::Do>(state.session.wishes.front()).name;
        const auto ships = [&](const session::Example& one) { return "example:" + one.name == leads; };
        EXPECT_TRUE(std::ranges::find(offers(), leads, &Offer::name) != offers().end() ||
                    std::ranges::any_of(session::examples(), ships))
            << term.name << " leads to " << leads;
        EXPECT_EQ(first(state, term.name.substr(term.name.find(':') + 1).c_str()).id, term.name);
    }
    State state;
    run_command(state.input, state.session, offers(), "term:occupancy");
    update(state, true);
    EXPECT_EQ(state.session.screen, "limits");
}

TEST(Palette, DevicesAreChosen) {
    State state;
    const auto take = [&](const char* id) {
        run_command(state.input, state.session, offers(), id);
        update(state, true);
    };
    take("limits:device-g80");
    EXPECT_EQ(state.session.screen, "limits");
    EXPECT_EQ(std::pair(state.limits.device, state.limits.preset),
              std::pair(std::string("g80"), std::string()));
    take("timing:GeForce 8800 GTX");
    EXPECT_EQ(state.session.screen, "timing");
    EXPECT_EQ(state.timing.device, "GeForce 8800 GTX");
    take("limits:latency");
    EXPECT_EQ(state.limits.preset, "latency");
}

// As a click would, and on the screen that shows it.
TEST_F(Keys, ElementsThreadsAndLinesArePlaces) {
    using Kind = look::Pick::Kind;
    const auto take = [&](const char* query) {
        state.session.screen = "timing";
        state.session.pin = {};
        run_command(state.input, state.session, offers(), first(state, query).id);
        EXPECT_EQ(state.session.screen, "step") << query;
        return state.session.pin;
    };
    const auto& launch = made.trace->launch;
    const auto array = [&](const char* name) {
        const auto found = std::ranges::find(launch.arrays, name, &Array::name);
        return static_cast<uint8_t>(found - launch.arrays.begin());
    };
    const uint32_t pitch = launch.arrays[array("Mds")].cols;
    EXPECT_EQ(first(state, "P[5,3]").title, "Pin P[5,3]");
    EXPECT_EQ(take("P[5,3]"), look::picked_element(array("P"), 5 * 64 + 3));
    EXPECT_EQ(take("p[ 5, 3 ]"), look::picked_element(array("P"), 5 * 64 + 3));
    EXPECT_EQ(take("go to M[63,63]"), look::picked_element(array("M"), 64 * 64 - 1));
    EXPECT_EQ(take("Mds[2,1]"), look::picked_element(array("Mds"), 2 * pitch + 1, Kind::SharedCell));
    EXPECT_EQ(take("thread[1,0]"), (look::Pick{.kind = Kind::Thread, .thread = 16, .warp = 0}));
    EXPECT_EQ(take("thread[15,2]"), (look::Pick{.kind = Kind::Thread, .thread = 242, .warp = 7}));
    EXPECT_EQ(take("warp 3"), (look::Pick{.kind = Kind::Warp, .warp = 3}));

    // Each step of the line, one after the other, and from the last on the first again.
    const auto line = look::shown_line(*made.trace, made.trace->sites.at(0));
    const std::string query = "line " + std::to_string(line);
    std::vector<uint32_t> wanted, found;
    for (size_t site = 0; site < made.trace->sites.size(); ++site)
        if (look::shown_line(*made.trace, made.trace->sites[site]) == line)
            for (const uint32_t step : state.session.block->steps_of_site[site]) wanted.push_back(step);
    std::ranges::sort(wanted);
    ASSERT_GT(wanted.size(), 2u);
    state.session.cursor.step = wanted.back();
    for (size_t i = 0; i <= wanted.size(); ++i) {
        take(query.c_str());
        found.push_back(state.session.cursor.step);
    }
    wanted.push_back(wanted.front());
    EXPECT_EQ(found, wanted);

    // In the reader's notation.
    for (const char* notation : {"notation:order", "notation:names"}) perform(state, notation);
    update(state, true);
    EXPECT_EQ(take("C[3,5]"), look::picked_element(array("P"), 5 * 64 + 3));
    EXPECT_EQ(take("thread[2,15]"), (look::Pick{.kind = Kind::Thread, .thread = 242, .warp = 7}));
    EXPECT_EQ(first(state, "C[3,5]").title, "Pin C[3,5]");
}

// What is not there is one row, which says what is there and does nothing.
TEST_F(Keys, PlacesThatAreNotThereAreSaid) {
    constexpr const char* kSaid[][2] = {
        {"M[64,0]", "M has 64 rows and 64 columns: to M[63,63]"},
        {"M[1]", "M has 64 rows and 64 columns: to M[63,63]"},
        {"M[99999999999999999999,0]", "M has 64 rows and 64 columns: to M[63,63]"},
        {"Q[1,2]", "No array is called Q; there are M, N, P, Mds, Nds"},
        {"thread[16,0]", "A block has 256 threads: thread[0,0] to thread[15,15]"},
        {"thread 5", "A block has 256 threads: thread[0,0] to thread[15,15]"},
        {"warp 8", "This block has 8 warps: warp 0 to 7"},
        {"phase 4", "This block has 4 phases: phase 0 to 3"},
        {"step 0", "This block has 1,224 steps: step 1 to 1,224"},
        {"step 1225", "This block has 1,224 steps: step 1 to 1,224"},
        {"block 4,0", "No block(4,0) is recorded; of a grid of 4 × 4 blocks, 16 here"},
    };
    state.input.palette.open = true;
    const playback::Cursor before = state.session.cursor;
    for (const auto& [query, says] : kSaid) {
        const Command row = first(state, query);
        EXPECT_EQ(row.title, says);
        run_command(state.input, state.session, offers(), row.id);
        EXPECT_TRUE(state.input.palette.open) << query;
        EXPECT_EQ(state.session.pin, look::Pick{}) << query;
        EXPECT_EQ(state.session.cursor.step, before.step);
    }
    const std::string none = first(state, "line 1").title;
    EXPECT_TRUE(none.starts_with("This block has no request or barrier on line 1, only on: ")) << none;
    State empty;
    for (const char* query : {"M[64,0]", "warp 8"}) EXPECT_TRUE(ids(empty, query).empty()) << query;
}

TEST_F(Keys, BlocksOfAFlatGridHaveTwoNumbers) {
    EXPECT_EQ(first(state, "block 2,1").title, "Go to block(2,1)");
    EXPECT_FALSE(first(state, "block 2,1,1").id.starts_with("block:"));
}

}  // namespace
}  // namespace tilescope::app
