#include "app/platform/save_picture.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "app/platform/headless.h"
#include "app/view/picture_name.h"
#include "core/base/write_whole.h"

namespace tilescope::app {

namespace {

namespace fs = std::filesystem;

std::string pictures_folder() {
    const char* folder = std::getenv("XDG_PICTURES_DIR");
    std::error_code error;
    return folder && fs::is_directory(folder, error) ? folder : ".";
}

// Of a copy that stands still: the window's own state is left as it is.
std::string svg_of(const State& state, Frame& frame, const Canvas& canvas) {
    State still = state;
    still.playback.playing = false;
    still.teach.requests.clear();
    return frame.svg(still, canvas);
}

std::string free_path(const State& state, std::string_view ending) {
    std::error_code error;
    for (int number = 1;; ++number) {
        const fs::path path = fs::path(pictures_folder()) /
                              view::picture_name(*state.session->trace, state.cursor, ending, number);
        if (!fs::exists(path, error)) return path.lexically_normal().string();
    }
}

Result<void> write_text(const std::string& text, const std::string& path) {
    const std::string why = write_whole(path, text);
    if (why.empty()) return {};
    return Error{fmt::format("The picture '{}' could not be written: {}; choose another folder.", path, why)};
}

}  // namespace

void save_pictures(State& state, Frame& frame, const Canvas& canvas) {
    auto& requests = state.teach.requests;
    const auto first = std::stable_partition(requests.begin(), requests.end(), [](const Request& request) {
        return request.kind != Request::Kind::Save || view::picture_ending(request.text).empty();
    });
    const std::vector<Request> pictures(std::make_move_iterator(first),
                                        std::make_move_iterator(requests.end()));
    requests.erase(first, requests.end());
    for (const Request& request : pictures) {
        const std::string_view ending = view::picture_ending(request.text);
        if (!state.session) {
            state.message = "There is no recording to make a picture of; press R to record one.";
            continue;
        }
        const std::string path = request.text == ending ? free_path(state, ending) : request.text;
        const Result<void> written =
            ending == ".svg" ? write_text(svg_of(state, frame, canvas), path)
                             : platform::write_png(platform::read_pixels(canvas.width, canvas.height), path);
        state.message = written ? fmt::format("This view is in {}.", path) : written.error().message;
    }
}

}  // namespace tilescope::app
