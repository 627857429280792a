// What the tests of figures do with whole frames: change each figure, and draw screens that show no step.
#pragma once

#include "tests/gl/figures_page.h"

namespace tilescope::app {

// Texts of a frame of which a figure may be changed and nothing is found: each figure of each by one.
inline std::set<std::string> unheld(
    const draw::Inspection& seen,
    const std::function<std::vector<std::string>(const draw::Inspection&)>& complaints) {
    std::set<std::string> all;
    for (size_t i = 0; i < seen.texts.size(); ++i)
        for (size_t at = 0; at < seen.texts[i].text.size(); ++at) {
            const bool last =
                at + 1 == seen.texts[i].text.size() || !test::is_digit(seen.texts[i].text[at + 1]);
            if (!test::is_digit(seen.texts[i].text[at]) || !last) continue;
            draw::Inspection changed = seen;
            char& digit = changed.texts[i].text[at];
            digit = digit == '9' ? '8' : static_cast<char>(digit + 1);
            if (complaints(changed).empty()) all.insert(seen.texts[i].text);
        }
    return all;
}

// A screen that shows no step, such as Timing, at a size by lot. Its rules count from what is chosen.
class Still {
public:
    Still(const char* screen, uint32_t seed) : lot(seed) { state.session.screen = screen; }

    // What is wrong with the screen as it is chosen; of a frame at the size that the lot gives.
    std::vector<std::string> complaints(const std::vector<Rule>& rules, void (*tables)(Page&)) {
        Drawn& drawn = lot.below(2) == 0 ? small_ : large_;
        drawn.frames(state);
        return of(drawn.seen(), rules, tables);
    }
    // Texts of its large frame that may be changed and nothing is found.
    std::set<std::string> changed(const std::vector<Rule>& rules, void (*tables)(Page&)) {
        large_.frames(state);
        return unheld(large_.seen(), [&](const draw::Inspection& seen) { return of(seen, rules, tables); });
    }

    State state;
    Lot lot;

private:
    std::vector<std::string> of(const draw::Inspection& seen, const std::vector<Rule>& rules,
                                void (*tables)(Page&)) {
        return Page(seen, {state, facts_, {}, "", &plain_}).complaints(rules, tables);
    }

    Drawn small_{1280, 720}, large_{1600, 1000};
    const Notation plain_;
    const twin::Recording facts_{
        std::make_shared<const trace::Trace>(kernels::recorded("tiled", {4, 4, 4, 2}))};
};

}  // namespace tilescope::app
