// Text from files, as each target gets it: hostile bytes by hand, and random ones against rules.
#include <charconv>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/base/words.h"

namespace tilescope {
namespace {

constexpr std::string_view kMark = "\uFFFD";

// What a terminal obeys, each of it one character.
const std::string kControls[] = {"\x1b",   std::string(1, '\0'),
                                 "\a",     "\b",
                                 "\r",     "\v",
                                 "\x7f",   "\u009b",
                                 "\u0085", "\u2028",
                                 "\u202e", "\u2066",
                                 "\u061c", "\u200b",
                                 "\u200f", "\u2060",
                                 "\ufeff", "\U000e0041"};
// No UTF-8, each of it one byte that is wrong.
const std::string kWrong[] = {"\xff", "\x80", "\xc3", "\xc0", "\xf5", "\xe2"};

TEST(Text, ATerminalGetsNothingThatItObeys) {
    for (const std::string& control : kControls)
        EXPECT_EQ(printable("a" + control + "[31mb"), "a" + std::string(kMark) + "[31mb") << control.size();
    for (const std::string& wrong : kWrong)
        EXPECT_EQ(printable("a" + wrong + "b"), "a" + std::string(kMark) + "b");
    // An overlong escape, a surrogate, a number beyond Unicode.
    for (const std::string wrong : {"\xc0\x9b", "\xe0\x80\x9b", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
        const std::string out = printable(wrong);
        EXPECT_EQ(out.size(), wrong.size() * kMark.size());
    }
    const std::string honest = "8 \u00d7 8\u2009KiB \u2026 \U0001F600\n\ttwo lines\r\nof CSV\r\n";
    EXPECT_EQ(printable(honest), honest);
}

TEST(Text, ANameIsOneLineAndShort) {
    EXPECT_EQ(one_line("a\nb\r\nc\td"), "a b  c d");
    EXPECT_EQ(one_line("tiled_kernel<float, 16>"), "tiled_kernel<float, 16>");
    const std::string long_name(1 << 20, 'n');
    EXPECT_EQ(one_line(long_name, 10), "nnnnnnnnnn\u2026");
    // No character is split, whatever the length.
    const std::string wide = "\U0001F600\u2009\u00e9x\U0001F600";
    for (size_t most = 0; most <= wide.size(); ++most)
        EXPECT_EQ(one_line(wide, most).find(kMark), std::string::npos) << most;
    EXPECT_EQ(beginning_of("\u2026\u2026", 5), "\u2026");
    EXPECT_EQ(beginning_of(std::string(100, '\x80'), 50).size(), 50u) << "of bytes that are no text";
}

TEST(Text, ASentenceKeepsItsEnd) {
    const std::string sentence =
        one_sentence("kernel '" + std::string(1 << 20, 'k') + "' is not there; record it");
    EXPECT_LT(sentence.size(), kLongestLine + 10);
    EXPECT_TRUE(sentence.starts_with("kernel 'kkk"));
    EXPECT_TRUE(sentence.ends_with("kkk' is not there; record it"));
    EXPECT_EQ(one_sentence("a b; c"), "a b; c");
}

TEST(Text, AnArraysNameIsShortWhereverItIsSaid) {
    Array array;
    array.name = "M\x1b[2J\n" + std::string(1 << 20, 'x');
    array.rank = 1, array.cols = 4;
    const std::string name = element_name(array, 3);
    EXPECT_LT(name.size(), kLongestName + 20);
    EXPECT_TRUE(name.starts_with("M" + std::string(kMark) + "[2J x"));
    EXPECT_TRUE(name.ends_with("x\u2026[3]"));
}

TEST(Text, ASpreadsheetFindsNoFormula) {
    for (const std::string formula : {"=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1+1",
                                      "\uFF1D1", "-", "+", "-0x10", "=cmd|' /C calc'!A0", "--5", "+-5"}) {
        const std::string cell = csv_cell(formula);
        EXPECT_TRUE(cell.starts_with("'") || cell.starts_with("\"'")) << cell;
    }
    for (const std::string number : {"-5", "+5", "-5.25", "-1e-9", "0", "12"})
        EXPECT_EQ(csv_cell(number), number);
    EXPECT_EQ(csv_cell("P[0,0] += M[0,0]*N[0,0]"), "\"P[0,0] += M[0,0]*N[0,0]\"");
    EXPECT_EQ(csv_cell("say \"M\""), "\"say \"\"M\"\"\"");
    EXPECT_EQ(csv_cell("a\r\nb"), "\"a\r\nb\"");
    EXPECT_EQ(csv_cell("=\x1b\xff"), "'=" + std::string(kMark) + std::string(kMark));
    EXPECT_EQ(csv_cell(""), "");
    // Where numbers have a comma, a semicolon begins a cell.
    EXPECT_EQ(csv_cell("a;=1+1"), "\"a;'=1+1\"");
    EXPECT_EQ(csv_cell("=1; @b;c"), "\"'=1;' @b;c\"");
    EXPECT_EQ(csv_cell("a;b"), "\"a;b\"");
}

TEST(Text, NothingEndsAMarkdownCell) {
    EXPECT_EQ(markdown_code("P[0,0] += M[0,0]*N[0,0]"), "`P[0,0] += M[0,0]*N[0,0]`");
    EXPECT_EQ(markdown_code("a|b"), "`a\\|b`");
    EXPECT_EQ(markdown_code("a\nb"), "`a b`");
    EXPECT_EQ(markdown_code("`<b>`"), "`` `<b>` ``");
    EXPECT_EQ(markdown_code("``"), "``` `` ```");
    EXPECT_EQ(markdown_code(""), "");
}

TEST(Text, XmlIsWellFormed) {
    EXPECT_EQ(xml_text("<&>\"tiled\""), "&lt;&amp;&gt;&quot;tiled&quot;");
    for (const std::string wrong : {"\x1b", "\xff", "\uFFFE", "\uFFFF", "\u0085"})
        EXPECT_EQ(xml_text(wrong), kMark);
}

TEST(Text, JsonEscapesWhatATerminalObeys) {
    const nlohmann::ordered_json json = {{"name", "a\x1b\x7f\u009b\u202e\u00b7\u2026\u00e9"}};
    EXPECT_EQ(json_text(json), "{\"name\":\"a\\u001b\\u007f\\u009b\\u202e\u00b7\u2026\u00e9\"}");
    EXPECT_EQ(nlohmann::json::parse(json_text(json))["name"], json["name"]);
    EXPECT_EQ(json_text(nlohmann::json("\xff")), "\"\uFFFD\"");
    EXPECT_EQ(json_text(nlohmann::json{{"m", 1}}, 2), "{\n  \"m\": 1\n}");
}

TEST(Text, RealNumbersAreThoseOfTheStandardLibrary) {
    std::vector<std::string> texts = {"",       "1",      "-1.5", "+1",   " 1",    "1 ",    "1.5.",
                                      ".5",     "5.",     ".",    "0x10", "1e308", "1e309", "-1e309",
                                      "1e-310", "1e-400", "1e",   "inf",  "-inf",  "nan",   "x"};
    std::mt19937 random(3);
    for (int i = 0; i < 20000; ++i) {
        std::string& text = texts.emplace_back();
        for (size_t n = random() % 8; n > 0; --n) text += "0123456789.eE+-x "[random() % 17];
    }
    for (const std::string& text : texts) {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = error == std::errc{} && end == text.data() + text.size() && !text.empty();
        const std::optional<double> read = real_number(text);
        ASSERT_EQ(read.has_value(), whole) << text;
        if (whole && value == value) ASSERT_EQ(*read, value) << text;
    }
}

// Random bytes: what comes out is UTF-8 without controls, and goes through unchanged a second time.
TEST(Text, OfRandomBytesIsSound) {
    std::mt19937 random(1);
    const std::string pieces[] = {"a",    "\n",   "\x1b", "\xc2", "\x9b", "\xe2", "\x80",
                                  "\xa8", "\xf0", "\x9f", "\r",   "=",    "`"};
    for (int i = 0; i < 5000; ++i) {
        std::string text;
        for (size_t n = random() % 12; n > 0; --n) text += pieces[random() % std::size(pieces)];
        const std::string shown = printable(text);
        EXPECT_EQ(printable(shown), shown);
        EXPECT_EQ(shown.find('\x1b'), std::string::npos);
        EXPECT_EQ(shown.find("\u009b"), std::string::npos);
        EXPECT_NO_THROW(nlohmann::json(shown).dump()) << "UTF-8";
        EXPECT_EQ(one_line(text, 5).find('\n'), std::string::npos);
        EXPECT_LE(one_line(text, 5).size(), 5 * kMark.size() + 3);
    }
}

}  // namespace
}  // namespace tilescope
