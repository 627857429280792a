// What is wrong with a frame by what is written in it and where: texts on each other, beyond the window, cut.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/app.h"

namespace tilescope::app {

// Where letters stand: a line's box less the room above and below its small letters.
inline ImVec4 letters(const draw::Written& text) {
    const float high = text.max.y - text.min.y;
    return {text.min.x + 1, text.min.y + 0.28f * high, text.max.x - 1, text.max.y - 0.28f * high};
}

// What is wrong with a frame, a sentence each.
inline std::vector<std::string> flaws(const draw::Inspection& frame, int width, int height) {
    std::vector<std::string> found;
    const auto outside = [&](float x0, float y0, float x1, float y1) {
        return x0 < -1 || y0 < -1 || x1 > static_cast<float>(width) + 1 ||
               y1 > static_cast<float>(height) + 1;
    };
    for (const ImVec4& s : frame.surfaces)
        if (s.z - s.x < 8 || s.w - s.y < 8)
            found.push_back(fmt::format("a panel of {} × {} at {},{}", s.z - s.x, s.w - s.y, s.x, s.y));
        else if (outside(s.x, s.y, s.z, s.w))
            found.push_back(fmt::format("a panel beyond the window: {},{} to {},{}", s.x, s.y, s.z, s.w));
    for (size_t i = 0; i < frame.texts.size(); ++i) {
        const draw::Written& text = frame.texts[i];
        if (outside(text.min.x, text.min.y, text.max.x, text.max.y))
            found.push_back(
                fmt::format("'{}' beyond the window at {},{}", text.text, text.min.x, text.min.y));
        const ImVec4 a = letters(text);
        for (size_t j = 0; j < i; ++j) {
            const ImVec4 b = letters(frame.texts[j]);
            if (frame.texts[j].list == text.list && a.x < b.z && b.x < a.z && a.y < b.w && b.y < a.w)
                found.push_back(
                    fmt::format("'{}' lies on '{}' at {},{}", text.text, frame.texts[j].text, a.x, a.y));
        }
    }
    return found;
}

// The same, and what is cut, a line each; "" where nothing is wrong.
inline std::string spoilt(const draw::Inspection& frame, int width, int height) {
    std::string all;
    for (const draw::Written& text : frame.texts)
        if (text.cut) all += "cut: " + text.text + "\n";
    for (const std::string& flaw : flaws(frame, width, height)) all += flaw + "\n";
    return all;
}

// Nothing is cut but lines of source beside the one that runs, which is wrapped, and a kernel's long name in
// a list, which stands whole below it.
inline void expect_whole(const draw::Inspection& seen, const State& state) {
    const std::string source = state.session.recording ? state.session.trace().meta.source : std::string();
    for (const draw::Written& text : seen.texts)
        if (text.cut && source.find(text.text) == std::string::npos &&
            text.text.find("<float") == std::string::npos)
            ADD_FAILURE() << "cut: " << text.text;
}

}  // namespace tilescope::app
