#include "app/save_picture.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/analysis/product.h"
#include "core/base/write_whole.h"

namespace tilescope::app {

namespace {

namespace fs = std::filesystem;

std::string pictures_folder() {
    const char* folder = std::getenv("XDG_PICTURES_DIR");
    std::error_code error;
    return folder && fs::is_directory(folder, error) ? folder : ".";
}

// Of a copy that stands still: the window's own state, and what it has under way, is left as it is.
std::string svg_of(const State& state, Frame& frame, const Canvas& canvas) {
    State still = state;
    still.session.playback.playing = false;
    still.session.pictures.clear();
    still.session.opening.reset();
    still.session.ordered.reset();
    still.session.exporting.reset();
    return frame.svg(still, canvas);
}

std::string free_path(const State& state, std::string_view ending) {
    std::error_code error;
    for (int number = 1;; ++number) {
        const fs::path path = fs::path(pictures_folder()) /
                              picture_name(state.session.trace(), state.session.cursor, ending, number);
        if (!fs::exists(path, error)) return path.lexically_normal().string();
    }
}

Result<void> write_text(const std::string& text, const std::string& path) {
    const std::string why = write_whole(path, text);
    if (why.empty()) return {};
    return Error{fmt::format("The picture '{}' could not be written: {}; choose another folder.", path, why)};
}

}  // namespace

void save_pictures(State& state, Frame& frame, const platform::Backend& shown) {
    std::string& message = state.session.message;
    for (const std::string& wanted : std::exchange(state.session.pictures, {})) {
        const std::string_view ending = session::picture_ending(wanted);
        if (!state.session.recording) {
            message = "There is no recording to make a picture of; press R to record one.";
            continue;
        }
        const std::string path = wanted == ending ? free_path(state, ending) : wanted;
        const Result<void> written = ending == ".svg" ? write_text(svg_of(state, frame, shown.canvas()), path)
                                                      : platform::write_png(shown.read(), path);
        message = written ? fmt::format("This view is in {}.", path) : written.error().message;
    }
}

std::string picture_name(const trace::Trace& trace, const playback::Cursor& cursor, std::string_view ending,
                         int number) {
    std::string name = analysis::stem_of(trace, analysis::product_of(trace));
    if (cursor.block < trace.blocks.size())
        name += fmt::format("-step{}", trace.blocks[cursor.block].first + cursor.step + 1);
    if (number > 1) name += fmt::format("-{}", number);
    return name + std::string(ending);
}

}  // namespace tilescope::app
