// A lesson's handout through the program: a page that parsers of XML and of HTML read, that needs nothing
// else, and whose pictures do not share ids.
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "tests/file_text.h"
#include "tests/host/cli_exported.h"

namespace tilescope::cli_test {
namespace {

class CliHandout : public testing::Test {
protected:
    void SetUp() override {
        if (!TILESCOPE_HAS_WINDOW) GTEST_SKIP() << "built without the window";
        lecture_recording();
        const Ran ran = tilescope({"export", "--lesson", "reuse", "--format", "html", "-o", "reuse.html"});
        if (ran.status != 0 && ran.err.find("OpenGL") != std::string::npos) GTEST_SKIP() << ran.err;
        ASSERT_EQ(ran.status, 0) << ran.err;
        EXPECT_EQ(ran.out + ran.err, "");
        page = read(in_folder("reuse.html"));
    }
    std::string page;
};

TEST_F(CliHandout, IsWellFormedAndNeedsNothingElse) {
    const Ran xml = shell("python3 -c \"import xml.etree.ElementTree as t; t.parse('reuse.html')\"");
    EXPECT_EQ(xml.status, 0) << xml.err;
    // Nothing is fetched: every reference leads into the page.
    static const std::regex reference("(href|src)=\"([^\"]*)\"|url\\(([^)]*)\\)|@import");
    for (std::sregex_iterator at(page.begin(), page.end(), reference), end; at != end; ++at) {
        const std::string to = (*at)[2].matched ? (*at)[2].str() : (*at)[3].str();
        EXPECT_TRUE(to.starts_with("#stop") || to.starts_with("data:image/png;base64,")) << (*at)[0];
    }
    EXPECT_EQ(page.find("<script"), std::string::npos);
}

TEST_F(CliHandout, HasEveryStopAndItsPicture) {
    const size_t stops = count_of(page, "<section class=\"stop\">");
    EXPECT_GE(stops, 3u);
    EXPECT_EQ(count_of(page, "<svg "), stops);
    EXPECT_NE(page.find("tiled 4 \xC3\x97 4 \xC3\x97 4, T = 2"), std::string::npos);
    // No name in braces was left; those of the style are its own.
    static const std::regex brace("\\{[a-z_]+\\}");
    EXPECT_FALSE(std::regex_search(page, brace));
    std::set<std::string> ids;
    static const std::regex id(" id=\"([^\"]*)\"");
    size_t count = 0;
    for (std::sregex_iterator at(page.begin(), page.end(), id), end; at != end; ++at, ++count)
        ids.insert((*at)[1]);
    EXPECT_EQ(ids.size(), count) << "two pictures share an id";
    EXPECT_GT(count, 100u);
    static const std::regex use("(href=\"#|url\\(#)([^\")]*)");
    for (std::sregex_iterator at(page.begin(), page.end(), use), end; at != end; ++at)
        ASSERT_TRUE(ids.contains((*at)[2])) << (*at)[2];
}

// Without the window a handout has the words of its stops, and no pictures.
TEST(CliHandoutWithoutTheWindow, HasTheWordsOfEveryStop) {
    if (TILESCOPE_HAS_WINDOW) GTEST_SKIP() << "this build has the window";
    const Ran ran = tilescope({"export", "--lesson", "reuse", "--format", "html", "-o", "words.html"});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const std::string words = read(in_folder("words.html"));
    EXPECT_GE(count_of(words, "<section class=\"stop\">"), 3u);
    EXPECT_EQ(count_of(words, "<svg "), 0u);
    EXPECT_NE(words.find("tiled 4 \xC3\x97 4 \xC3\x97 4, T = 2"), std::string::npos);
}

// Stops on figures and on the Limits screen: a picture each, with the answer nowhere before the end.
TEST_F(CliHandout, OfFiguresAndCases) {
    const Ran ran = tilescope({"export", "--lesson", "latency", "--format", "html", "-o", "latency.html"});
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(shell("python3 -c \"import xml.etree.ElementTree as t; t.parse('latency.html')\"").status, 0);
    const std::string latency = read(in_folder("latency.html"));
    const size_t answers = latency.find("<h2>Answers</h2>");
    ASSERT_NE(answers, std::string::npos);
    const std::string asked = latency.substr(0, answers), answered = latency.substr(answers);
    size_t pictures = 0;
    for (size_t at = asked.find("<svg "); at != std::string::npos; at = asked.find("<svg ", at + 1))
        ++pictures;
    EXPECT_EQ(pictures, 7u);
    // 200 cycles by 4 instructions of 4 cycles, rounded up.
    EXPECT_NE(answered.find("<strong>13 warps</strong>"), std::string::npos) << answered;
    EXPECT_EQ(asked.find("13 warps hide"), std::string::npos);
    EXPECT_NE(asked.find("Limits, "), std::string::npos);
}

// A lecturer's own, whose texts hold what HTML would obey.
TEST_F(CliHandout, OfAFile) {
    write(in_folder("own.json"),
          R"({"title":"a <b> & \"c\"","teaches":"<script>alert(1)</script>","summary":["{lanes} < 5"],
              "stops":[{"file":"out.tsc","kind":"global load","say":"{lanes} lanes & more"}]})");
    const Ran missing = tilescope({"export", "--lesson", "own.json", "--format", "html", "-o", "own.html"});
    EXPECT_EQ(missing.status, 1);
    expect_one_sentence(missing.err);
    EXPECT_NE(missing.err.find("in stop 1 its file 'out.tsc'"), std::string::npos) << missing.err;
    ASSERT_EQ(
        tilescope({"record", "tiled", "--tile", "2", "--m", "4", "--k", "4", "--n", "4", "-o", "out.tsc"})
            .status,
        0);
    const Ran ran = tilescope({"export", "--lesson", "own.json", "--format", "html", "-o", "own.html"});
    ASSERT_EQ(ran.status, 0) << ran.err;
    const std::string own = read(in_folder("own.html"));
    EXPECT_EQ(shell("python3 -c \"import xml.etree.ElementTree as t; t.parse('own.html')\"").status, 0);
    EXPECT_EQ(own.find("<script>"), std::string::npos);
    EXPECT_NE(own.find("4 lanes &amp; more"), std::string::npos);
    EXPECT_NE(own.find("4 &lt; 5"), std::string::npos);
}

// What the section of the docs says, word by word: its commands in their order, its lesson as a file.
TEST_F(CliHandout, TheExampleOfTheDocsWorks) {
    std::string docs = read(TILESCOPE_SOURCE_DIR "/docs/lessons.md");
    docs.resize(docs.find("## Adding a stop"));
    const size_t begin = docs.find("```json\n") + 8;
    write(in_folder("tiles.json"), docs.substr(begin, docs.find("```", begin) - begin));
    std::istringstream lines(docs);
    size_t ran = 0;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("tilescope ")) continue;
        std::istringstream in(line);
        const std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
        const Ran call = tilescope({words.begin() + 1, words.end()});
        ++ran;
        if (words[1] == "open")  // read and found good, it asks for the display that tests have not
            EXPECT_NE(call.err.find("isplay"), std::string::npos) << call.err;
        else
            EXPECT_EQ(call.status, 0) << line << ": " << call.err;
    }
    EXPECT_EQ(ran, 3u);
    const std::string made = read(in_folder("handout.html"));
    EXPECT_NE(made.find("4 lanes load 4 elements of M, one each."), std::string::npos);
    EXPECT_NE(made.find("How many different elements of the tile does this warp read here?"),
              std::string::npos);
    const size_t answers = made.find("<h2>Answers</h2>");
    ASSERT_NE(answers, std::string::npos);
    EXPECT_GT(made.find("Threads of a row want the same element."), answers);
    EXPECT_EQ(made.find("each is used more than once"), made.rfind("each is used more than once"));
    EXPECT_GT(made.find("each is used more than once"), answers);
    // 2 phases of 4 threads with 2 loads each, in 4 blocks; each product reads 2 cells.
    EXPECT_NE(made.find("64 loads brought 32 elements; shared memory was read 128 times."),
              std::string::npos);
}

TEST_F(CliHandout, WrongCalls) {
    expect_refused(2, {"export", "--lesson", "nothing", "--format", "html", "-o", "x.html"},
                   "--lesson 'nothing' is not known; choose first, ");
    expect_refused(2, {"export", "--format", "html", "-o", "x.html"}, "name it with --lesson");
    expect_refused(2, {"export", "--lesson", "reuse", "--format", "csv", "-o", "x.csv"},
                   "--lesson goes with --format html");
    expect_refused(2, {"export", "--format", "csv", "-o", "x.csv"}, "the recording is missing");
    expect_refused(2, {"export", "--lesson", "reuse", "--format", "html", "--lanes", "-o", "x.html"},
                   "--lanes does not go with --format html");
    expect_refused(1, {"export", "--lesson", "none.json", "--format", "html", "-o", "x.html"}, "none.json");
    expect_refused(1, {"export", "--lesson", "reuse", "--format", "html", "-o", "/no/such/x.html"},
                   "there is no folder");
    expect_refused(1, {"open", "none.json"}, "none.json");
    expect_refused(1, {"open", folder().string()}, "has no lesson");
}

}  // namespace
}  // namespace tilescope::cli_test
