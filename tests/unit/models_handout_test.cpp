// Handouts: pictures as parts of a page.
#include <gtest/gtest.h>

#include "app/lessons/handout.h"

namespace tilescope::lessons {
namespace {

TEST(Handout, APicturesIdsAreItsOwnAndItsTextStays) {
    const std::string text = " id=&quot;x&quot; =&quot;url(#x)&quot; url(#x) href=\"#x\" id=\"x\"";
    EXPECT_EQ(svg_part("<?xml version=\"1.0\"?>\n<svg width=\"9\"><path id=\"c1\" d=\"M0,0z\"/><g "
                       "clip-path=\"url(#c1)\">"
                       "<use href=\"#c1\" x=\"1\"/></g><text>" +
                           text + "</text></svg>\n",
                       "stop2-"),
              "<svg width=\"9\"><path id=\"stop2-c1\" d=\"M0,0z\"/><g clip-path=\"url(#stop2-c1)\">"
              "<use href=\"#stop2-c1\" x=\"1\"/></g><text>" +
                  text + "</text></svg>\n");
    EXPECT_EQ(svg_part("no picture", "a"), "");
}

}  // namespace
}  // namespace tilescope::lessons
