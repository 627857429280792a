#include "app/lessons/handout.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/version.h"

namespace tilescope::lessons {
namespace {

// The page is XML too, so that any reader of either can check it.
constexpr const char* kHead = R"(<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width"/>
<title>{0}</title>
<style>
@page {{ size: A4; margin: 15mm 16mm; }}
body {{ font: 10.5pt/1.45 Inter, "Helvetica Neue", Arial, "Liberation Sans", "DejaVu Sans", sans-serif; color: #1b1f24;
  background: #fff; max-width: 178mm; margin: 0 auto; }}
h1 {{ font-size: 20pt; line-height: 1.2; margin: 0 0 3mm; }}
h2 {{ font-size: 12.5pt; margin: 8mm 0 2mm; }}
.teaches {{ font-size: 12pt; color: #3c444d; margin: 0 0 6mm; }}
.stop {{ break-inside: avoid; margin: 0 0 7mm; }}
.head {{ display: flex; gap: 3mm; align-items: baseline; margin: 0 0 1.5mm; }}
.number {{ font-weight: 700; font-size: 12pt; min-width: 5mm; }}
.where {{ color: #59636e; font-size: 9pt; }}
.picture svg {{ display: block; width: 100%; height: auto; border: 0.3mm solid #c5ccd3; border-radius: 1mm; }}
.say, .question {{ margin: 2mm 0 0; font-size: 11pt; }}
.question {{ font-weight: 600; }}
ol.choices {{ list-style: upper-alpha; margin: 1mm 0 0; padding-left: 8mm; }}
.line {{ margin: 0; color: #59636e; border-bottom: 0.2mm solid #8b949e; height: 6mm; }}
.answers {{ break-before: page; }}
dl.right {{ margin: 0; }}
dl.right dt {{ font-weight: 700; float: left; }}
dl.right dd {{ margin: 0 0 3mm 8mm; break-inside: avoid; }}
dd strong {{ display: block; }}
ul.summary {{ margin: 0; padding-left: 5mm; }}
ul.summary li {{ margin: 0 0 1.5mm; }}
footer {{ margin-top: 8mm; padding-top: 2mm; border-top: 0.2mm solid #c5ccd3; color: #59636e; font-size: 8.5pt; }}
@media screen {{ body {{ padding: 10mm 6mm; }} .answers {{ margin-top: 14mm; }} }}
</style>
</head>
<body>
<h1>{0}</h1>
<p class="teaches">{1}</p>
)";

std::string stop_of(const HandoutStop& stop, size_t number) {
    std::string out = fmt::format(
        "<section class=\"stop\">\n<div class=\"head\"><span class=\"number\">{}</span><span "
        "class=\"where\">{}</span></div>\n",
        number, xml_text(stop.where));
    if (!stop.svg.empty())
        out += "<div class=\"picture\">\n" + svg_part(stop.svg, fmt::format("stop{}-", number)) + "</div>\n";
    if (stop.question.empty())
        return out + fmt::format("<p class=\"say\">{}</p>\n</section>\n", xml_text(stop.say));
    out += fmt::format("<p class=\"question\">{}</p>\n", xml_text(stop.question));
    if (stop.choices.empty()) {  // room for one's own working
        constexpr int kLines = 5;
        for (int i = 0; i < kLines; ++i)
            out += fmt::format("<div class=\"line\">{}</div>\n", i + 1 == kLines ? "Answer:" : "");
        return out + "</section>\n";
    }
    out += "<ol class=\"choices\">\n";
    for (const std::string& choice : stop.choices) out += fmt::format("<li>{}</li>\n", xml_text(choice));
    return out + "</ol>\n</section>\n";
}

}  // namespace

std::string svg_part(const std::string& svg, const std::string& prefix) {
    std::string_view rest = std::string_view(svg).substr(std::min(svg.find("<svg "), svg.size()));
    std::string part;
    while (!rest.empty()) {  // a tag and the text behind it, which stays as it is
        const std::string_view tag = rest.substr(0, std::min(rest.find('>'), rest.size() - 1) + 1);
        for (size_t at = 0; at < tag.size(); ++at) {
            part += tag[at];
            for (const std::string_view before : {" id=\"", "=\"url(#", " href=\"#"})
                if (tag.substr(0, at + 1).ends_with(before)) part += prefix;
        }
        rest.remove_prefix(tag.size());
        const std::string_view text = rest.substr(0, std::min(rest.find('<'), rest.size()));
        part += text;
        rest.remove_prefix(text.size());
    }
    return part;
}

Result<Handout> handout_of(const Lesson& lesson) {
    Handout handout{lesson.title, lesson.teaches, {}, {}, ""};
    handout.made = fmt::format(
        "Made with Tilescope {}. Every number is counted in the recording or worked out by the model that is "
        "shown.",
        kVersion);
    std::shared_ptr<const session::Recording> recording;  // of the stop; null of one without
    for (size_t at = 0; at < lesson.stops.size(); ++at) {
        const LessonStop& stop = lesson.stops[at];
        if (is_modelled(stop)) {
            recording = nullptr;
        } else if (recording == nullptr || !same_recording(lesson.stops[at - 1], stop)) {
            auto made = recording_of(stop);
            if (!made)
                return Error{
                    fmt::format("stop {} of the lesson cannot be shown: {}", at + 1, made.error().message)};
            recording = std::move(*made);
        }
        Standing here = recording != nullptr ? standing_of(*recording, stop) : standing_on(stop);
        if (here.words.empty())
            return Error{fmt::format("stop {} of the lesson has no such step in its recording", at + 1)};
        HandoutStop shown{fmt::format("{}: {}", shown_on(stop), stands_at(stop, here.notation)),
                          std::move(here.words),
                          "",
                          std::move(here.asks),
                          "",
                          std::move(here.why),
                          std::move(here.choices)};
        if (stop.ask) {
            const RightAnswer answer = right_answer(stop, recording.get(), here.at);
            if (!answer.known)
                return Error{fmt::format("the question of stop {} has no answer in its recording", at + 1)};
            shown.answer = answer.words + answer.others;
        }
        handout.stops.push_back(std::move(shown));
    }
    handout.summary = summary_of(lesson, recording.get());
    return handout;
}

std::string html_of(const Handout& handout) {
    std::string out = fmt::format(fmt::runtime(kHead), xml_text(handout.title), xml_text(handout.teaches));
    std::string answers;
    for (size_t at = 0; at < handout.stops.size(); ++at) {
        const HandoutStop& stop = handout.stops[at];
        out += stop_of(stop, at + 1);
        if (stop.question.empty()) continue;
        std::string more;
        for (const std::string& one : {stop.why, stop.say})
            if (!one.empty()) more += (more.empty() ? "" : " ") + one;
        answers += fmt::format("<dt>{}</dt><dd><strong>{}</strong>{}</dd>\n", at + 1, xml_text(stop.answer),
                               xml_text(more));
    }
    if (!answers.empty())
        out += "<section class=\"answers\">\n<h2>Answers</h2>\n<dl class=\"right\">\n" + answers +
               "</dl>\n</section>\n";
    if (!handout.summary.empty()) {
        out += "<section>\n<h2>In short</h2>\n<ul class=\"summary\">\n";
        for (const std::string& one : handout.summary) out += fmt::format("<li>{}</li>\n", xml_text(one));
        out += "</ul>\n</section>\n";
    }
    return out + fmt::format("<footer>{}</footer>\n</body>\n</html>\n", xml_text(handout.made));
}

}  // namespace tilescope::lessons
