// A lesson on paper: one HTML page that needs nothing else, for A4. Each stop is its picture and what it
// says, or the question that it asks; the right answers stand at the end, under the stops' numbers.
#pragma once

#include <string>
#include <vector>

#include "app/lessons/questions.h"

namespace tilescope::lessons {

struct HandoutStop {
    std::string where;  // what it is shown on, and where it stands
    std::string say;
    std::string svg;  // a whole SVG document; "" for none
    // Set for a stop that asks.
    std::string question, answer, why;
    std::vector<std::string> choices;
};
struct Handout {
    std::string title, teaches;
    std::vector<HandoutStop> stops;
    std::vector<std::string> summary;
    std::string made;  // a line at the foot
};

// A lesson's page, without its pictures. Error: a stop cannot be shown, or its question has no answer.
Result<Handout> handout_of(const Lesson& lesson);

std::string html_of(const Handout& handout);

// An SVG document as a part of a page: without its XML declaration, its width in the hands of the page, and
// `prefix` before each id, so that those of several pictures do not clash.
std::string svg_part(const std::string& svg, const std::string& prefix);

}  // namespace tilescope::lessons
