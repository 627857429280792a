#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stb/stb_image.h>

#include "tests/file_text.h"
#include "tests/gl/golden.h"

namespace tilescope::test {

namespace {

std::string lines_of(const draw::Inspection& seen) {
    std::string all;
    for (const draw::Written& text : seen.texts) all += text.text + '\n';
    return all;
}

// A square's sum of each channel.
using Sums = std::vector<std::array<double, 3>>;
constexpr int kSquare = 16;

Sums sums(const platform::Image& image) {
    const int across = (image.width + kSquare - 1) / kSquare, down = (image.height + kSquare - 1) / kSquare;
    Sums sums(static_cast<size_t>(across * down));
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x)
            for (size_t c = 0; c < 3; ++c)
                sums[static_cast<size_t>(y / kSquare * across + x / kSquare)][c] += image.at(x, y)[c];
    return sums;
}

}  // namespace

Result<platform::Image> read_png(const std::string& path) {
    platform::Image image;
    int channels = 0;
    stbi_uc* pixels = stbi_load(path.c_str(), &image.width, &image.height, &channels, 4);
    if (!pixels)
        return Error{fmt::format("The picture '{}' could not be read: {}.", path, stbi_failure_reason())};
    image.rgba.assign(
        pixels, pixels + size_t{4} * static_cast<size_t>(image.width) * static_cast<size_t>(image.height));
    stbi_image_free(pixels);
    return image;
}

Difference difference(const platform::Image& a, const platform::Image& b) {
    uint64_t sum = 0, beyond = 0;
    const size_t pixels = a.rgba.size() / 4;
    for (size_t i = 0; i < pixels; ++i) {
        int most = 0;
        for (size_t c = 0; c < 3; ++c) {
            const int d = std::abs(int{a.rgba[4 * i + c]} - int{b.rgba[4 * i + c]});
            sum += static_cast<uint64_t>(d);
            most = std::max(most, d);
        }
        beyond += most > kPixelLimit;
    }
    const auto n = static_cast<double>(pixels);
    return {static_cast<double>(sum) / (3 * n), static_cast<double>(beyond) / n};
}

double squares_apart(const platform::Image& a, const platform::Image& b) {
    const Sums of_a = sums(a), of_b = sums(b);
    size_t apart = 0;
    for (size_t i = 0; i < of_a.size(); ++i)
        apart += !std::equal(of_a[i].begin(), of_a[i].end(), of_b[i].begin(), [](double x, double y) {
            return std::abs(x - y) <= kPixelLimit * kSquare * kSquare;
        });
    return static_cast<double>(apart) / static_cast<double>(of_a.size());
}

double words_apart(const std::string& want, const std::string& got) {
    std::map<std::string, int> more;  // in `want` than in `got`
    int words = 0;
    std::istringstream in(want), other(got);
    for (std::string word; in >> word; ++words) ++more[word];
    for (std::string word; other >> word;) --more[word];
    int apart = 0;
    for (const auto& [word, count] : more) apart += std::abs(count);
    return apart / std::max(1.0, double{1} * words);
}

std::string foreign_forms(const std::string& texts) {
    static const std::regex kForeign(
        R"([0-9] ?x ?[0-9]|[0-9] ?KB\b|[0-9](k|M|G|T)B\b|[0-9] [GT]iB\b|[0-9]\.[0-9]+ [KM]iB\b|block \([0-9])"),
        kAside(R"(//|;|\.(tsc|cu)\b|0x[0-9a-f]|--[a-z])");
    // A device is called what its driver calls it.
    static const std::regex kDevice(R"(NVIDIA H100 80GB HBM3)");
    std::string found, line;
    for (std::istringstream lines(texts); std::getline(lines, line);)
        if (line = std::regex_replace(line, kDevice, "");
            std::regex_search(line, kForeign) && !std::regex_search(line, kAside))
            found += line + "\n";
    return found;
}

void expect_golden(const Picture& picture, const std::string& name) {
    const std::string golden = std::string(TILESCOPE_SOURCE_DIR) + "/tests/data/goldens/" + name;
    const std::string texts = lines_of(picture.seen);
    EXPECT_EQ(foreign_forms(texts), "") << name;
    if (std::getenv("TILESCOPE_UPDATE_GOLDENS")) {
        ASSERT_TRUE(TILESCOPE_GOLDEN_FONTS)
            << "goldens are drawn with the fonts of tests/data/goldens/fonts.txt";
        auto written = platform::write_png(picture, golden + ".png");
        ASSERT_TRUE(written) << written.error().message;
        if (!texts.empty()) std::ofstream(golden + ".txt") << texts;
        return;
    }
    const std::string folder = std::string(TILESCOPE_BINARY_DIR) + "/tests/goldens";
    std::filesystem::create_directories(folder);
    const std::string made = folder + "/" + name + ".png";
    auto written = platform::write_png(picture, made);
    ASSERT_TRUE(written) << written.error().message;
    auto want = read_png(golden + ".png");
    ASSERT_TRUE(want) << want.error().message << " TILESCOPE_UPDATE_GOLDENS=1 makes it.";
    ASSERT_EQ(picture.width, want->width) << made;
    ASSERT_EQ(picture.height, want->height) << made;
    const std::string want_texts = file_text(golden + ".txt");
    if (!TILESCOPE_GOLDEN_FONTS) {
        EXPECT_LE(words_apart(want_texts, texts), kWordsLimit) << made << " says:\n" << texts;
        EXPECT_LE(squares_apart(*want, picture), kSquaresLimit) << made;
        return;
    }
    const Difference d = difference(picture, *want);
    EXPECT_TRUE(agree(d)) << made << " differs from its golden by " << d.mean
                          << " of 255 on average, and by more than " << kPixelLimit << " on "
                          << d.beyond * 100 << " % of its pixels.";
    EXPECT_EQ(texts, want_texts) << made;
}

}  // namespace tilescope::test
