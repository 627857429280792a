// Links: what is shown as text, and back; and what comes from strangers.
#include <array>
#include <random>

#include <fmt/format.h>

#include "app/lessons/asking.h"
#include "app/link.h"
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

void settle(State& state) {
    for (int i = 0; i < 4; ++i) update(state, true);
}

State open_at(const char* link) {
    State state;
    const ReadLink read = read_link(link);
    EXPECT_EQ(read.problem, "") << link;
    follow(state, read.link);
    settle(state);
    EXPECT_EQ(state.session.message, "") << link;
    return state;
}

// Though the recording is open already.
TEST(Links, WithoutAScreenLeadToTheStep) {
    State state = open_at("t=tiled-4x4x4-t2&step=5");
    state.session.screen = "lessons";
    follow(state, read_link("t=tiled-4x4x4-t2&step=7").link);
    settle(state);
    EXPECT_EQ(state.session.screen, session::kStepScreen);
    EXPECT_EQ(state.session.cursor.step, 6u);
    follow(state, read_link("theme=dark").link);
    state.session.screen = "lessons";
    settle(state);
    EXPECT_EQ(state.session.screen, "lessons");
}

// Opening takes messages away; the link's stands when all is there.
TEST(Links, WhatIsNotUnderstoodIsSaid) {
    State state;
    const ReadLink read = read_link("lesson=reuse&stop=99");
    follow(state, read.link, read.problem);
    settle(state);
    EXPECT_EQ(state.lessons.stop, 0u);
    EXPECT_NE(read.problem, "");
    EXPECT_EQ(state.session.message, read.problem);
}

// Every kernel, lesson, recording and screen, with the steps and looks that a random choice gives.
std::vector<Link> many_links() {
    std::mt19937 random(7);
    const auto one_of = [&](const auto& all) -> const auto& { return all[random() % all.size()]; };
    std::vector<Link> links;
    for (int i = 0; i < 2000; ++i) {
        Link link;
        switch (random() % 5) {
            case 0: link.recording = one_of(kernels::shipped_recordings()).name; break;
            case 1: link.recording = "https://example.org/a b&c=d#e%/ü.tsc?x=1"; break;
            case 2: {
                link.kernel = one_of(kernels::catalogue()).name;
                link.shape = {static_cast<uint32_t>(random() % 64 + 1),
                              static_cast<uint32_t>(random() % 64 + 1),
                              static_cast<uint32_t>(random() % 64 + 1), 0};
                link.shape.tile = kernels::tile_width(link.kernel, kernels::kTiles[random() % 5]);
                if (!kernels::plan(link.kernel, link.shape)) continue;
                break;
            }
            case 3: {
                const lessons::Lesson& lesson = one_of(lessons::lesson_list());
                link.lesson = lesson.name;
                link.stop = static_cast<uint32_t>(random() % (lesson.stops.size() + 1)) + 1;
                break;
            }
            default: break;
        }
        if (const ScreenRow& screen = screens()[random() % screens().size()]; screen.there == nullptr)
            link.screen = screen.option;
        if (random() % 2) link.step = random() % 5000 + 1;
        if (random() % 2) link.theme = random() % 2 ? draw::Theme::Dark : draw::Theme::Light;
        if (random() % 2) link.lecture = random() % 2 == 1;
        link.embed = random() % 2 == 1;
        links.push_back(link);
    }
    return links;
}

TEST(Links, AreReadAsTheyWereWritten) {
    for (const Link& link : many_links()) {
        const std::string text = text_of(link);
        const ReadLink read = read_link(text);
        EXPECT_EQ(read.problem, "") << text;
        EXPECT_EQ(read.link, link) << text;
        EXPECT_EQ(text_of(read.link), text);
    }
}

// Who opens the link of what is shown sees the same.
TEST(Links, LeadToWhatIsShown) {
    std::vector<std::string> texts{"t=tiled-64x64x64-t16",
                                   "t=tiled-4x4x4-t2&step=20",
                                   "t=tiled-4x4x4-t2&screen=timing&step=7",
                                   "kernel=tiled&m=32&k=16&n=64&tile=8&step=5",
                                   "kernel=untiled&m=8&k=8&n=8&tile=4",
                                   "lesson=reuse&stop=1",
                                   "lesson=reuse&stop=2",
                                   "t=tiled-4x4x4-t2&step=3&theme=dark&lecture=1&embed=1"};
    for (const kernels::KernelInfo& one : kernels::catalogue())
        texts.push_back(fmt::format("kernel={}&m=32&k=32&n=32&step=2", one.name));
    for (const std::string& text : texts) {
        const State state = open_at(text.c_str());
        const Link link = link_to(state);
        EXPECT_EQ(link_to(open_at(text_of(link).c_str())), link) << text_of(link);
        const ReadLink read = read_link(text);
        const LinkSource &asked = read.link, &shown = link;
        EXPECT_EQ(asked, shown) << text;
        if (read.link.step > 0) EXPECT_EQ(read.link.step, link.step) << text;
    }
}

// A step of the same recording, as when the address is changed by hand, opens nothing.
TEST(Links, ToAnotherStepOpenNothingAnew) {
    State state = open_at("t=tiled-64x64x64-t16&step=70");
    const uint64_t serial = state.session.recording->serial;
    follow(state, read_link("t=tiled-64x64x64-t16&step=1000").link);
    update(state, true);
    EXPECT_EQ(state.session.recording->serial, serial);
    EXPECT_EQ(link_to(state).step, 1000u);
    follow(state, read_link("t=tiled-64x64x64-t16&step=99999999999").link);
    update(state, true);
    EXPECT_EQ(link_to(state).step, 1000u);
    EXPECT_NE(state.session.message.find("99,999,999,999"), std::string::npos) << state.session.message;
}

// What is shown stays as it was, and the message says why it does.
TEST(Links, ToWhatCannotBeHadLeaveTheStepThatIsShown) {
    State state = open_at("t=tiled-64x64x64-t16&step=70");
    std::vector<kernels::ShippedRecording> recordings = kernels::shipped_recordings();
    const auto damaged = std::ranges::find(recordings, "tiled-4x4x4-t2", &kernels::ShippedRecording::name);
    ASSERT_NE(damaged, recordings.end());
    damaged->bytes = damaged->bytes.substr(0, 100);
    state.session.assets.recordings = session::Assets::of(recordings);
    follow(state, read_link("t=tiled-4x4x4-t2&step=5").link);
    settle(state);
    EXPECT_EQ(link_to(state).recording, "tiled-64x64x64-t16");
    EXPECT_EQ(link_to(state).step, 70u);
    EXPECT_NE(state.session.message.find("tiled-4x4x4-t2"), std::string::npos) << state.session.message;
}

TEST(Links, ToNothingThatAnybodyHasNameNoRecording) {
    State state;
    trace::Trace trace = kernels::recorded("tiled", {4, 4, 4, 2});
    trace.meta.complete = false;
    show_trace(state, std::move(trace));
    EXPECT_FALSE(link_to(state).any());
    EXPECT_EQ(link_to(state).step, 0u);
    state.fetched = "https://example.org/a.tsc";
    show_trace(state, kernels::recorded("tiled", {4, 4, 4, 2}), state.fetched.c_str());
    EXPECT_EQ(text_of(link_to(state)), "t=https://example.org/a.tsc&step=1");
}

// One sentence for what is wrong; the rest counts.
TEST(Links, SayWhatIsWrongOnce) {
    for (const char* wrong : {"t=",
                              "t=javascript:alert(1)",
                              "t=data:a.tsc",
                              "t=file:///etc/passwd",
                              "t=//host/a.tsc",
                              "t=https:a.tsc",
                              "kernel=nothing",
                              "kernel=tiled&m=0",
                              "kernel=tiled&m=-4",
                              "kernel=tiled&m=4294967296&tile=2",
                              "kernel=tiled&tile=3",
                              "kernel=tiled&m=8192&k=8192&n=8192",
                              "kernel=tiled&m=4294967295&k=4294967295&n=4294967295",
                              "lesson=nothing",
                              "lesson=reuse&stop=5000",
                              "stop=x",
                              "screen=program",
                              "screen=nothing",
                              "step=0",
                              "step=1e3",
                              "step=-1",
                              "step=18446744073709551616",
                              "theme=pink",
                              "lecture=yes",
                              "embed=2",
                              "a=b",
                              "=",
                              "t=%",
                              "t=%zz",
                              "t=%00",
                              "screen=%0a"}) {
        const ReadLink read = read_link(std::string("#") + wrong + "&step=12&" + wrong);
        ASSERT_NE(read.problem, "") << wrong;
        EXPECT_EQ(read.problem.back(), '.') << read.problem;
        EXPECT_EQ(read.problem.find('\n'), std::string::npos);
        EXPECT_TRUE(read.link.lesson == "reuse" || !read.link.any()) << wrong;
        const bool of =
            std::ranges::any_of(std::array{"t=", "kernel=", "lesson=nothing"},
                                [&](const char* key) { return std::string_view(wrong).starts_with(key); });
        EXPECT_EQ(read.link.step, of ? 0u : 12u) << wrong << ": a step is not of another recording";
        EXPECT_EQ(read_link(text_of(read.link)).problem, "");
    }
    EXPECT_NE(read_link(std::string(10'000'000, 'a')).problem, "");
    EXPECT_LT(read_link("screen=" + std::string(8000, 'x')).problem.size(), 1000u);
}

// Bytes from anywhere: whatever is made of them is a link again.
TEST(Links, OfAnyBytesAreHarmless) {
    std::mt19937 random(11);
    const std::vector<Link> links = many_links();
    for (int i = 0; i < 20'000; ++i) {
        std::string text = text_of(links[random() % links.size()]);
        for (int change = 0; change < 3; ++change) {
            const size_t at = random() % (text.size() + 1);
            if (random() % 2)
                text.insert(at, 1, static_cast<char>(random()));
            else if (at < text.size())
                text[at] = "&=%#+/:\0"[random() % 8];
        }
        const ReadLink read = read_link(text);
        const ReadLink again = read_link(text_of(read.link));
        ASSERT_EQ(again.problem, "") << text;
        ASSERT_EQ(again.link, read.link) << text;
    }
}

TEST(Links, AreCopiedByOneKeyWhereThereAreLinks) {
    const auto offered = [](const State& state) {
        const auto found = find_commands(state.session, offers(), "copy the link to this step");
        return !found.empty() && found[0].id == "action:copy_link";
    };
    State state = open_at("t=tiled-64x64x64-t16");
    EXPECT_FALSE(offered(state));
    handle_input(state, press(Key::I));
    EXPECT_EQ(state.session.message, "");
    state.session.can.links = true;
    EXPECT_TRUE(offered(state));
    handle_input(state, press(Key::I));
    EXPECT_EQ(state.session.message, "The link to what is shown is on the clipboard.");
}

}  // namespace
}  // namespace tilescope::app
