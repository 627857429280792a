// The field's words: where a text says one, what shows it, and that docs/words.md says the same of each; and
// the glossary by keyboard.
#include <algorithm>
#include <set>

#include "app/look/terms.h"
#include "tests/file_text.h"
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

using look::terms_in;

std::string words_in(std::string_view text) {
    std::string all;
    for (const look::SaidTerm& said : terms_in(text))
        all += std::string(said.term->word) + "=" +
               std::string(text.substr(said.first, said.end - said.first)) + ";";
    return all;
}

TEST(Terms, AreFoundAsWholeWords) {
    EXPECT_EQ(words_in("Warp 0 loads row 0: 32 lanes, 4 sectors"), "warp=Warp;lane=lanes;sector=sectors;");
    EXPECT_EQ(words_in("bank conflicts, and a barrier interval"),
              "bank conflict=bank conflicts;barrier interval=barrier interval;");
    EXPECT_EQ(words_in("banker, sitemap, subwarp, tile_width"), "");
    EXPECT_EQ(words_in("an SM holds slots; sm does not"), "SM=SM;slot=slots;");
    EXPECT_EQ(words_in("T=16 and T = 32, but this T not"), "T=T=;T=T =;");
    EXPECT_EQ(words_in("line 12 of the source"), "") << "that is no line of memory";
    EXPECT_EQ(words_in("4 sectors (32 bytes) in 1 line (128 bytes)"),
              "sector=sectors;line=line (128 bytes);");
    EXPECT_EQ(words_in("Coalesced accesses"), "coalescing=Coalesced;access=accesses;");
    EXPECT_EQ(words_in("load efficiency 50 %, 12 of 32 lanes idle, 37.5 %"),
              "efficiency=load efficiency;idle lane=lanes idle;");
    EXPECT_EQ(words_in(""), "");
    EXPECT_EQ(words_in("\xc3\xa9tile \xe2\x86\x92 tile"), "tile=tile;") << "the first one is within a word";
}

// The slow twin: at each beginning of a word, from the left, the longest form that ends where a word does.
std::string slowly(std::string_view text) {
    const auto word = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80);
    };
    std::string all;
    for (size_t at = 0; at < text.size(); ++at) {
        if (at > 0 && word(text[at - 1])) continue;
        const look::Term* best = nullptr;
        size_t longest = 0;
        for (const look::Term& term : look::terms()) {
            std::string forms =
                term.forms != nullptr ? term.forms : term.word + std::string("|") + term.word + "s";
            forms += '|';
            for (size_t from = 0; from + 1 < forms.size();) {
                std::string form = forms.substr(from, forms.find('|', from) - from);
                from += form.size() + 1;
                std::string here(text.substr(at, form.size()));
                if (here.empty() || form.empty() || here.size() < form.size()) continue;
                if (std::islower(static_cast<unsigned char>(form[0])))
                    here[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(here[0])));
                const size_t end = at + form.size();
                if (here != form || (end < text.size() && word(form.back()) && word(text[end]))) continue;
                if (form.size() > longest) best = &term, longest = form.size();
            }
        }
        if (best == nullptr) continue;
        all += std::string(best->word) + "=" + std::string(text.substr(at, longest)) + ";";
        at += longest - 1;
    }
    return all;
}

// What heads a column is a word of its own there; in a sentence it may mean anything.
TEST(Terms, SomeAreMeantOnlyWhereTheyStandAlone) {
    ASSERT_EQ(terms_in("cost").size(), 1u);
    EXPECT_STREQ(terms_in("cost")[0].term->word, "cost");
    EXPECT_STREQ(terms_in("least").at(0).term->word, "least");
    EXPECT_EQ(words_in("tiles only cost time"), "tile=tiles;");
    EXPECT_TRUE(terms_in("cost ").empty());
    EXPECT_STREQ(terms_in("CPU lockstep").at(0).term->word, "CPU lockstep");
}

TEST(Terms, AgreeWithASlowSearch) {
    const std::vector<std::string> pieces = {
        "warp", "warps", "barrier",   " interval", " ", "bank", "s",     "SM",         "sm",
        "T =",  "_",     " conflict", "Tile",      ",", "race", "data ", "block slot", "stale"};
    uint32_t random = 7;
    for (int round = 0; round < 1000; ++round) {
        std::string text;
        for (int i = 0; i < 6; ++i) {
            random = random * 1664525 + 1013904223;
            text += pieces[(random >> 8) % pieces.size()];
        }
        EXPECT_EQ(words_in(text), slowly(text)) << text;
    }
    for (const look::Term& term : look::terms())
        if (term.forms == nullptr) EXPECT_EQ(terms_in(term.word).at(0).term, &term) << term.word;
}

TEST(Terms, AreEachSaidOnceAndShownBySomething) {
    std::set<std::string> words;
    for (const look::Term& term : look::terms()) {
        EXPECT_TRUE(words.insert(term.word).second) << term.word;
        EXPECT_TRUE(
            std::ranges::any_of(offers(), [&](const Offer& one) { return one.name == term.shown_by; }) ||
            std::ranges::any_of(
                session::examples(),
                [&](const session::Example& one) { return "example:" + one.name == term.shown_by; }))
            << term.word << " is shown by '" << term.shown_by << "', which is no action";
        for (const std::string_view text : {std::string_view(term.means), std::string_view(term.more)}) {
            EXPECT_FALSE(text.ends_with('.')) << text;
            EXPECT_EQ(text.find('|'), std::string_view::npos) << text;
        }
        EXPECT_LE(std::string_view(term.means).size(), 90u) << term.means;
    }
    // The words of the design have a row each.
    for (const char* word : {"site",
                             "access",
                             "request",
                             "step",
                             "sector",
                             "line",
                             "wavefront",
                             "phase",
                             "barrier interval",
                             "launch",
                             "array",
                             "program",
                             "product",
                             "level",
                             "tile",
                             "block",
                             "grid",
                             "warp",
                             "lane",
                             "SM",
                             "occupancy",
                             "CGMA",
                             "arithmetic intensity",
                             "roofline",
                             "T"})
        EXPECT_TRUE(words.contains(word)) << word;
}

// Prints the table as docs/words.md has to have it where the two differ.
TEST(Terms, StandInTheDocs) {
    std::string table = "| word | meaning here |\n|---|---|\n";
    for (const look::Term& term : look::terms()) {
        const std::string more = *term.more == 0 ? "" : std::string("; ") + term.more;
        table += std::string("| ") + term.word + " | " + term.means + more + " |\n";
    }
    const std::string page = file_text(std::string(TILESCOPE_SOURCE_DIR) + "/docs/words.md");
    EXPECT_NE(page.find("\n" + table + "\n"), std::string::npos) << "the table of docs/words.md has to be:\n"
                                                                 << table;
}

TEST_F(Keys, TheGlossaryIsFoundByTypingAndLeadsToWhatShowsAWord) {
    platform::Input opened = press(Key::G);
    opened.presses.push_back({.character = U'g'});  // as a keyboard sends it
    handle_input(state, opened);
    ASSERT_TRUE(state.input.glossary.open);
    EXPECT_EQ(state.input.glossary.query.text, "");
    const std::vector<const look::Term*> all = glossary_list(state.input.glossary).terms;
    EXPECT_EQ(all.size(), look::terms().size());
    platform::Input typed = typed_text(U"bank conf");
    typed.presses.insert(typed.presses.begin() + 1, {Key::B});  // with a character comes its key
    handle_input(state, typed);
    EXPECT_FALSE(state.session.blank) << "what is typed is text";
    ASSERT_FALSE(glossary_list(state.input.glossary).terms.empty());
    EXPECT_STREQ(glossary_list(state.input.glossary).terms[0]->word, "bank conflict");
    handle_input(state, press(Key::Enter));
    EXPECT_FALSE(state.input.glossary.open);
    EXPECT_TRUE(state.session.walking) << "the lesson on banks has begun";
}

TEST_F(Keys, TheGlossaryScrollsByPagesAndCloses) {
    handle_input(state, press(Key::G));
    input::Glossary& glossary = state.input.glossary;
    handle_input(state, press(Key::Down));
    EXPECT_EQ(glossary.chosen, 1u);
    const uint32_t step = state.session.cursor.step;
    for (int page = 0; page < 30; ++page) handle_input(state, press(Key::PageDown));
    EXPECT_EQ(glossary.chosen, look::terms().size() - 1);
    EXPECT_EQ(state.session.cursor.step, step) << "a clicker's keys turn the list's pages";
    handle_input(state, typed_text(U"qqqq"));
    EXPECT_TRUE(glossary_list(glossary).terms.empty());
    handle_input(state, press(Key::Enter));
    EXPECT_TRUE(glossary.open) << "there is nothing to go to";
    handle_input(state, press(Key::Escape));
    EXPECT_FALSE(glossary.open);
    EXPECT_FALSE(overlay_open(state.input));
}

TEST(Glossary, BeginsWithTheWordsOfTheScreen) {
    draw::Inspection seen;
    for (const char* text : {"Warp 3 loads", "2 sectors", "line 4", "of warp 3"}) {
        draw::Written written;
        written.text = text;
        seen.texts.push_back(written);
    }
    input::Glossary glossary;
    glossary.here = input::words_of(seen);
    ASSERT_EQ(glossary.here.size(), 2u);
    const input::GlossaryList list = glossary_list(glossary);
    EXPECT_EQ(list.here, 2u);
    EXPECT_STREQ(list.terms[0]->word, "sector");
    EXPECT_STREQ(list.terms[1]->word, "warp");
    EXPECT_EQ(list.terms.size(), look::terms().size());
    EXPECT_TRUE(std::ranges::is_sorted(list.terms.begin() + 2, list.terms.end(),
                                       [](auto* a, auto* b) { return strcasecmp(a->word, b->word) < 0; }));
}

}  // namespace
}  // namespace tilescope::app
