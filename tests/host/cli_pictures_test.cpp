// Pictures and films through the program: that they play, that another program draws them alike, and that
// nothing is left behind.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/file_text.h"
#include "tests/host/cli_exported.h"

namespace tilescope::cli_test {
namespace {

class CliPictures : public testing::Test {
protected:
    void SetUp() override {
        if (!TILESCOPE_HAS_WINDOW) GTEST_SKIP() << "built without the window";
        path = lecture_recording();
        const Ran ran =
            tilescope({"export", path, "--format", "png", "--size", "960x600", "-o", "probe.png"});
        if (ran.status != 0 && ran.err.find("OpenGL") != std::string::npos) GTEST_SKIP() << ran.err;
        ASSERT_EQ(ran.status, 0) << ran.err;
    }
    void need_ffmpeg() const {
        if (shell("command -v ffmpeg").status != 0) GTEST_SKIP() << "ffmpeg is not installed";
    }
    // codec, width, height, pixel format, frames that were decoded
    static std::string probed(const std::string& film) {
        return shell(
                   "ffprobe -v error -count_frames -show_entries "
                   "stream=codec_name,pix_fmt,width,height,nb_read_frames -of csv=p=0 " +
                   film)
            .out;
    }
    // Of the brightness of two pictures, 1 for equal ones (structural similarity; Wang et al., IEEE
    // Transactions on Image Processing 13(4), 2004).
    static double likeness(const std::string& a, const std::string& b) {
        const Ran ran = shell("ffmpeg -v info -i " + a + " -i " + b +
                              " -lavfi '[0]format=gray[a];[1]format=gray[b];[a][b]ssim' -f null -");
        const size_t at = ran.err.find("All:");
        EXPECT_NE(at, std::string::npos) << ran.err;
        return at == std::string::npos ? 0 : std::atof(ran.err.c_str() + at + 4);
    }
    std::string path;
};

TEST_F(CliPictures, PngAndSvg) {
    EXPECT_EQ(exported(path, "png", {"--at", "last"}).substr(1, 3), "PNG");
    const std::string svg = exported(path, "svg", {"--at", "7", "--theme", "dark"});
    EXPECT_NE(svg.find("step 7 of 21 of block(0,0)"), std::string::npos);
    EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

TEST_F(CliPictures, WrongCalls) {
    const auto refused = [&](std::vector<std::string> more, const std::string& says) {
        std::vector<std::string> words = {"export", path, "-o", "out"};
        words.insert(words.end(), more.begin(), more.end());
        expect_refused(2, words, says);
    };
    refused({"--format", "svg", "--at", "85"}, "from 1 to 84");
    refused({"--format", "svg", "--size", "9"}, "WxH");
    refused({"--format", "svg", "--size", "9x9000"}, "WxH");
    for (const char* format : {"png", "svg", "gif"})
        refused({"--format", format, "--size", "640x400"}, "at least 800x600");
    refused({"--format", "svg", "--theme", "pink"}, "light or dark");
    refused({"--format", "svg", "--screen", "none"}, "--screen 'none'");
    refused({"--format", "png", "--steps", "1:2"}, "--steps");
    refused({"--format", "gif", "--fps", "51"}, "1 to 50");
    refused({"--format", "gif", "--fps", "0"}, "1 to 50");
    refused({"--format", "gif", "--seconds", "0.1"}, "0.2 to 20");
    refused({"--format", "gif", "--seconds", "nan"}, "0.2 to 20");
    refused({"--format", "gif", "--seconds", "1", "--fps", "8"}, "leave one out");
    refused({"--format", "png", "--seconds", "1"}, "--seconds");
    refused({"--format", "gif", "--steps", "first:last", "--seconds", "20"}, "at most 60 steps");
    refused({"--format", "gif", "--steps", "1:99"}, "from 1 to 84");
    refused({"--format", "mp4", "--size", "961x600"}, "even");
    refused({"--format", "gif", "--screen", "race", "--steps", "1:3"},
            "--steps does not go with --screen race");
    refused({"--format", "gif", "--screen", "race", "--seconds", "1"}, "2 to 60");
}

TEST_F(CliPictures, WithoutFfmpegOneSentence) {
    const Ran ran = shell("PATH=/nowhere \"$TILESCOPE\" export '" + path + "' --format gif -o a.gif");
    EXPECT_EQ(ran.status, 1);
    expect_one_sentence(ran.err);
    EXPECT_NE(ran.err.find("install the package ffmpeg"), std::string::npos) << ran.err;
    EXPECT_EQ(files_here(), 2u) << "the recording and the probe";
}

// Walks the blocks of a GIF89a (GIF Specification, 1990, sections 15 to 27); its pictures, or -1.
int pictures_of_gif(const std::string& gif) {
    const auto byte = [&](size_t i) { return i < gif.size() ? static_cast<uint8_t>(gif[i]) : 0u; };
    const auto table = [&](unsigned flags) {
        return flags & 0x80 ? size_t{3} << ((flags & 7) + 1) : size_t{0};
    };
    if (gif.rfind("GIF89a", 0) != 0) return -1;
    size_t at = 13 + table(byte(10));
    const auto skip_sub_blocks = [&] {
        while (at < gif.size() && byte(at) != 0) at += byte(at) + 1;
        ++at;
    };
    for (int pictures = 0; at < gif.size();) {
        const unsigned kind = byte(at++);
        if (kind == 0x3B) return at == gif.size() ? pictures : -1;
        if (kind == 0x21) {
            ++at;
            skip_sub_blocks();
        } else if (kind == 0x2C) {
            ++pictures;
            at += 9 + table(byte(at + 8)) + 1;
            skip_sub_blocks();
        } else {
            return -1;
        }
    }
    return -1;
}

TEST_F(CliPictures, AGifHasAPictureAStep) {
    need_ffmpeg();
    if (IsSkipped()) return;
    const std::string gif = exported(path, "gif", {"--steps", "3:8", "--size", "960x600", "--fps", "4"});
    EXPECT_EQ(pictures_of_gif(gif), 6);
    EXPECT_EQ(static_cast<uint8_t>(gif[6]) + 256 * static_cast<uint8_t>(gif[7]), 960);
    EXPECT_EQ(files_here(), 3u);
}

TEST_F(CliPictures, AnMp4IsH264OfAllFrames) {
    need_ffmpeg();
    if (IsSkipped()) return;
    const std::string mp4 = exported(path, "mp4", {"--steps", "1:10", "--size", "960x600", "--fps", "8"});
    EXPECT_EQ(mp4.substr(4, 4), "ftyp");
    EXPECT_EQ(probed("out.mp4"), "h264,960,600,yuv420p,10\n");
}

// Every frame is decoded without a complaint, and the film lasts as long as its frames.
TEST_F(CliPictures, FilmsPlayAsLongAsTheirFrames) {
    need_ffmpeg();
    if (IsSkipped()) return;
    for (const std::string format : {"gif", "mp4"}) {
        exported(path, format, {"--steps", "11:30", "--size", "960x600", "--fps", "5"});
        const Ran played = shell("ffmpeg -v warning -i out." + format + " -f null -");
        EXPECT_EQ(played.status, 0);
        EXPECT_EQ(played.err, "") << format;
        const Ran length = shell("ffprobe -v error -show_entries format=duration -of csv=p=0 out." + format);
        EXPECT_NEAR(std::atof(length.out.c_str()), 20 / 5.0, 0.05) << format;
    }
    EXPECT_EQ(probed("out.gif").substr(0, 12), "gif,960,600,");
}

// The frames are the pictures of the steps: the last one of a film beside a film of that step alone.
TEST_F(CliPictures, AFrameIsTheStepsPicture) {
    need_ffmpeg();
    if (IsSkipped()) return;
    const auto frame_of = [&](const char* steps, int frame, const std::string& name) {
        exported(path, "mp4", {"--steps", steps, "--size", "1280x720", "--fps", "8"});
        const Ran taken = shell(
            fmt::format("ffmpeg -v error -y -i out.mp4 -vf 'select=eq(n\\,{})' -frames:v 1 {}", frame, name));
        ASSERT_EQ(taken.status, 0) << taken.err;
    };
    frame_of("3:6", 3, "frame.png");
    frame_of("6:6", 0, "alone.png");
    EXPECT_GT(likeness("alone.png", "frame.png"), 0.99);
    frame_of("1:1", 0, "alone.png");
    EXPECT_LT(likeness("alone.png", "frame.png"), 0.985) << "another step's is told apart";
}

// With motion a step has frames of its own: in a load, a store to shared memory and a product something moves
// and then stands, a barrier stands from the first frame on. Again, it is the same film.
TEST_F(CliPictures, AFilmMovesBetweenSteps) {
    need_ffmpeg();
    if (IsSkipped()) return;
    const std::vector<std::string> call = {"--steps", "1:9", "--size", "960x600", "--seconds", "1"};
    const std::string film = exported(path, "gif", call);
    EXPECT_EQ(exported(path, "gif", call), film);
    // The last motion takes 70 % of its step; what it ends in stands for one.
    const Ran length = shell("ffprobe -v error -show_entries format=duration -of csv=p=0 out.gif");
    EXPECT_DOUBLE_EQ(std::atof(length.out.c_str()), 9 - 0.3 + 1);
    // When another picture comes, in seconds: a step is one.
    std::istringstream times(shell("ffprobe -v error -show_entries frame=pts_time -of csv=p=0 out.gif").out);
    std::vector<int> pictures(9);
    for (double time = 0; times >> time; times.ignore(80, '\n')) {
        ASSERT_LT(time, 9);
        const auto step = static_cast<size_t>(time + 1e-6);
        ++pictures[step];
        EXPECT_LE(time - static_cast<double>(step), 0.7 + 1e-6) << "three tenths of the step stand";
    }
    std::string moves;  // a letter a step: m for one that moves, s for one that stands
    for (const int count : pictures) moves += count > 5 ? 'm' : count == 1 ? 's' : '?';
    EXPECT_EQ(moves, "mmmmsmmmm")
        << "load M, fill Mds, load N, fill Nds, barrier, then factors: to their threads, and "
           "products with the second of each two";
}

// A race of two recordings is a film as long as it was asked for, and what it comes to stands.
TEST_F(CliPictures, ARaceIsAFilm) {
    need_ffmpeg();
    if (IsSkipped()) return;
    std::vector<std::string> call = {"--screen", "race",    "--with",    "untiled-64x64x64-t16",
                                     "--size",   "960x600", "--seconds", "2",
                                     "--fps",    "5"};
    const std::string film = exported("tiled-64x64x64-t16", "gif", call);
    EXPECT_EQ(exported("tiled-64x64x64-t16", "gif", call), film);
    std::istringstream times(shell("ffprobe -v error -show_entries frame=pts_time -of csv=p=0 out.gif").out);
    size_t pictures = 0;
    double last = 0;
    for (double time = 0; times >> time; times.ignore(80, '\n')) ++pictures, last = time;
    EXPECT_EQ(pictures, 11u) << "0 to 2 seconds, a fifth apart";
    EXPECT_NEAR(last, 2, 0.01);
    // Without a second recording it is that of the same product without tiles; half of it is what a picture shows.
    call = {"--screen", "race", "--size", "960x600", "--seconds", "2", "--fps", "5"};
    EXPECT_EQ(exported("tiled-64x64x64-t16", "gif", call), film);
    exported("tiled-64x64x64-t16", "mp4",
             {"--screen", "race", "--size", "960x600", "--seconds", "2", "--fps", "5"});
    EXPECT_TRUE(probed("out.mp4").starts_with("h264,960,600,yuv420p,26"))
        << "3 seconds of its end: " << probed("out.mp4");
}

TEST_F(CliPictures, AFilmWithoutRoomOrStoppedLeavesNothing) {
    need_ffmpeg();
    if (IsSkipped()) return;
    for (const std::string format : {"gif", "mp4"}) {
        const std::string call =
            "\"$TILESCOPE\" export '" + path + "' --format " + format + " --size 1280x720 -o a." + format;
        const Ran full = shell("trap '' XFSZ; ulimit -f 2; " + call + " --steps 1:20");
        EXPECT_EQ(full.status, 1) << full.err;
        expect_one_sentence(full.err);
        // Some frames after it has begun: its temporary file is there, and 84 frames take over a second.
        const Ran stopped = shell(call +
                                  " & work=$!; while kill -0 $work && "
                                  "! [ -e .tilescope-* ]; do sleep 0.01; done 2>/dev/null; "
                                  "sleep 0.2; kill -INT $work; wait $work");
        EXPECT_EQ(stopped.status, 1) << stopped.err;
        expect_one_sentence(stopped.err);
        EXPECT_EQ(files_here(), 2u) << "the recording and the probe";
    }
}

// An SVG drawn by another program looks as OpenGL's picture does: shapes, colours, and type at its place.
TEST_F(CliPictures, AnSvgIsDrawnAlikeElsewhere) {
    need_ffmpeg();
    if (IsSkipped()) return;
    if (shell("command -v rsvg-convert").status != 0) GTEST_SKIP() << "rsvg-convert is not installed";
    for (const std::string theme : {"light", "dark"}) {
        for (const std::string screen : {"step", "limits"}) {
            exported(path, "svg", {"--at", "26", "--size", "1280x720", "--theme", theme, "--screen", screen});
            exported(path, "png", {"--at", "26", "--size", "1280x720", "--theme", theme, "--screen", screen});
            const Ran drawn = shell("rsvg-convert -w 1280 -h 720 out.svg -o drawn.png");
            ASSERT_EQ(drawn.status, 0) << drawn.err;
            EXPECT_GT(likeness("out.png", "drawn.png"), 0.985) << screen << " " << theme;
        }
    }
    exported(path, "png", {"--at", "1", "--size", "1280x720", "--theme", "dark"});
    EXPECT_LT(likeness("out.png", "drawn.png"), 0.9) << "another picture is told apart";
}

TEST_F(CliPictures, LectureModeIsDrawnAsRenderDrawsIt) {
    const std::string plain = exported(path, "png", {"--at", "5"});
    const std::string lecture = exported(path, "png", {"--at", "5", "--lecture"});
    EXPECT_NE(plain, lecture);
    EXPECT_EQ(tilescope({"render", path, "--at", "5", "--lecture", "-o", "rendered.png"}).status, 0);
    EXPECT_EQ(read(folder() / "rendered.png"), lecture);
    EXPECT_NE(exported(path, "svg", {"--at", "5", "--lecture"}), exported(path, "svg", {"--at", "5"}));
}

// The pictures of README.md and docs/ are what the commands beside them make (cmake/pictures.cmake, which makes
// them anew). With other fonts words are wider or narrower, and only size and length are held.
TEST_F(CliPictures, ThoseOfTheDocsAreWhatTheirCommandsMake) {
    need_ffmpeg();
    namespace fs = std::filesystem;
    const fs::path source = TILESCOPE_SOURCE_DIR;
    std::vector<fs::path> pages{source / "README.md"};
    for (const auto& entry : fs::directory_iterator(source / "docs"))
        if (entry.path().extension() == ".md") pages.push_back(entry.path());
    const std::regex made_by("tilescope ((?:render|export) [^\n`]*-o )docs/([A-Za-z0-9_.-]+)");
    std::set<std::string> made;
    for (const fs::path& page : pages) {
        const std::string text = file_text(page);
        for (std::sregex_iterator at(text.begin(), text.end(), made_by), end; at != end; ++at) {
            const std::string name = (*at)[2], kept = (source / "docs" / name).string();
            const Ran ran = shell("\"$TILESCOPE\" " + (*at)[1].str() + name);
            ASSERT_EQ(ran.status, 0) << (*at)[0] << ran.err;
            EXPECT_EQ(probed(name), probed(kept)) << name << ": made anew by the target pictures?";
            if (TILESCOPE_GOLDEN_FONTS) EXPECT_GT(likeness(name, kept), 0.99) << name;
            made.insert(name);
        }
    }
    for (const auto& entry : fs::directory_iterator(source / "docs"))
        if (const std::string ending = entry.path().extension(); ending == ".png" || ending == ".gif")
            EXPECT_TRUE(made.contains(entry.path().filename())) << entry.path() << " has no command";
}

}  // namespace
}  // namespace tilescope::cli_test
