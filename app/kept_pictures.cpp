// Pictures that the window keeps of what it shows (app.h): all of it or one panel, as a file or on the clipboard.
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/app.h"
#include "app/platform/abilities.h"
#include "core/base/file.h"
#include "core/recording/recording.h"

namespace tilescope::app {
namespace {

namespace fs = std::filesystem;
using session::wish::SavePicture;

std::string free_path(const State& state, std::string_view ending, const SavePicture& wanted) {
    std::error_code error;
    const char* folder_wanted = std::getenv("XDG_PICTURES_DIR");
    const fs::path folder = !state.session.can.paths                                  ? platform::kHandedOver
                            : folder_wanted && fs::is_directory(folder_wanted, error) ? folder_wanted
                                                                                      : ".";
    const std::string panel = wanted.panel ? draw::panel_word(wanted.panel->name.c_str()) : "";
    for (int number = 1;; ++number) {
        const fs::path path =
            folder / picture_name(*state.session.recording, state.session.cursor, ending, number, panel);
        if (!fs::exists(path, error)) return path.lexically_normal().string();
    }
}

Result<void> write_text(const std::string& text, const std::string& path) {
    const std::string why = write_whole(path, text);
    if (why.empty()) return {};
    return Error{fmt::format("The picture '{}' could not be written: {}; choose another folder.", path, why)};
}

Result<void> write(const State& state, Frame& frame, const platform::Backend& shown,
                   const SavePicture& wanted, bool svg, const std::string& path) {
    if (!wanted.panel)
        return svg ? write_text(frame.svg(state, shown.canvas(), false), path)
                   : platform::write_png(shown.read(), path);
    const auto no_picture = [](const Error& why) {
        return Error{fmt::format("No picture was made: {}", why.message)};
    };
    if (svg) {
        const auto text = frame.svg_of_panel(state, shown.canvas(), *wanted.panel);
        return text ? write_text(*text, path) : no_picture(text.error());
    }
    const auto image = panel_image(state, shown.canvas(), *wanted.panel);
    return image ? platform::write_png(*image, path) : no_picture(image.error());
}

// How it went, in one sentence. Where the picture cannot be copied it is in a file.
std::string copy(const State& state, const platform::Backend& shown, const SavePicture& wanted) {
    const auto image = wanted.panel ? panel_image(state, shown.canvas(), *wanted.panel)
                                    : Result<platform::Image>(shown.read());
    if (!image) return fmt::format("No picture was made: {}", image.error().message);
    const std::string png = platform::encode_png(*image);
    if (png.empty()) return "The picture could not be compressed; there may be too little memory.";
    const auto copied = platform::copy_picture(png);
    if (copied && *copied)
        return fmt::format("A picture of {} \u00d7 {} pixels is on the clipboard.", image->width,
                           image->height);
    const std::string path = free_path(state, ".png", wanted);
    if (const auto written = write_text(png, path); !written) return written.error().message;
    const std::string at = platform::hand_over(path);
    return copied ? fmt::format("Install xclip or wl-clipboard to copy pictures; the picture is in {}.", at)
                  : fmt::format("{} The picture is in {}.", copied.error().message, at);
}

}  // namespace

void save_pictures(State& state, Frame& frame, const platform::Backend& shown) {
    std::string& message = state.session.message;
    for (const SavePicture& wanted : std::exchange(state.pictures, {})) {
        const std::string_view ending = session::picture_ending(wanted.path);
        if (!state.session.recording) {
            message = "There is no recording to make a picture of; press R to record one.";
            continue;
        }
        if (wanted.copies) {
            message = copy(state, shown, wanted);
            continue;
        }
        const std::string path = wanted.path == ending ? free_path(state, ending, wanted) : wanted.path;
        if (const std::string why = why_not_writable(path, session::inputs(state.session)); !why.empty()) {
            message = fmt::format("The picture '{}' cannot be written: {}; choose another name.", path, why);
            continue;
        }
        const Result<void> written = write(state, frame, shown, wanted, ending == ".svg", path);
        message = written ? fmt::format("This {} is in {}.", wanted.panel ? "panel" : "view",
                                        platform::hand_over(path))
                          : written.error().message;
    }
}

std::string picture_name(const analysis::Recording& recording, const playback::Cursor& cursor,
                         std::string_view ending, int number, std::string_view panel) {
    const trace::Trace& trace = *recording.trace;
    std::string name = analysis::stem_of(recording);
    if (cursor.block < trace.blocks.size())
        name += fmt::format("-step{}", playback::step_number(trace, cursor));
    if (!panel.empty()) name += fmt::format("-{}", panel);
    if (number > 1) name += fmt::format("-{}", number);
    return name + std::string(ending);
}

}  // namespace tilescope::app
