// The keyboard while the command palette or the path box is open, and what their rows do.
#include <algorithm>
#include <charconv>
#include <string_view>

#include "app/actions.h"
#include "app/view/commands.h"
#include "app/view/export_choice.h"
#include "app/view/lessons.h"
#include "app/view/path_box.h"
#include "app/view/text_field.h"

namespace tilescope::app {
namespace {

using platform::Key;
using platform::KeyPress;

constexpr size_t kPage = 8;

// Up, down and by pages through `count` rows from `least` on; around the ends.
bool choose(size_t& chosen, size_t least, size_t count, const KeyPress& press) {
    if (count <= least) return false;
    const size_t last = count - 1;
    if (press.key == Key::Down)
        chosen = chosen >= last ? least : chosen + 1;
    else if (press.key == Key::Up)
        chosen = chosen <= least ? last : chosen - 1;
    else if (press.key == Key::PageDown)
        chosen = std::min(chosen + kPage, last);
    else if (press.key == Key::PageUp)
        chosen = chosen < least + kPage ? least : chosen - kPage;
    else
        return false;
    return true;
}

uint32_t number_of(std::string_view text) {
    uint32_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

void go_to_block(State& state, std::string_view where) {
    if (!state.session) return;
    const size_t comma = where.find(',');
    if (comma == std::string_view::npos) return;
    const uint32_t x = number_of(where.substr(0, comma)), y = number_of(where.substr(comma + 1));
    const auto& blocks = state.session->trace->blocks;
    for (uint32_t at = 0; at < blocks.size(); ++at) {
        if (blocks[at].x != x || blocks[at].y != y) continue;
        state.cursor = {at, 0};
        state.playback.playing = false;
        state.playback.carry = 0;
    }
}

void go_to_phase(State& state, uint32_t phase) {
    if (!state.block) return;
    for (const view::PhaseSpan& span : state.block->spans) {
        if (span.phase == phase) return go_to(state, span.first);
    }
}

void request(State& state, Request::Kind kind, std::string text, size_t number = 0, bool beside = false) {
    state.teach.requests.push_back({kind, std::move(text), number, beside});
}

}  // namespace

bool overlay_open(const State& state) {
    return state.teach.commands.open || state.teach.path.mode != PathBox::Mode::Closed;
}

void open_path_box(State& state, PathBox::Mode mode) {
    state.teach.path = {};
    if (mode == PathBox::Mode::Save && !state.session) {
        state.message = "There is no recording to save yet; press R to record one.";
        return;
    }
    state.teach.path.mode = mode;
    if (mode != PathBox::Mode::Save) return;
    const std::string& folder = state.teach.last_folder;
    view::set_text(state.teach.path.path, folder + view::default_name(state.session->trace->meta));
}

void open_export_box(State& state, const std::string& what) {
    const view::ExportChoice* const choice = view::find_export(what);
    if (choice == nullptr || !state.session || !state.block) return;
    state.teach.path = {};
    state.teach.path.mode = PathBox::Mode::Save;
    state.teach.path.exported = what;
    view::set_text(state.teach.path.path, state.teach.last_folder + view::export_name(state, *choice));
}

void run_command(State& state, const std::string& id) {
    const size_t colon = id.find(':');
    const std::string kind = id.substr(0, colon),
                      what = colon == std::string::npos ? "" : id.substr(colon + 1);
    state.teach.commands.open = false;
    if (kind == "action") {
        if (!perform(state, what)) return;
    } else if (kind == "preset") {
        request(state, Request::Kind::Preset, "", number_of(what));
    } else if (kind == "shipped") {
        request(state, Request::Kind::Shipped, what);
    } else if (kind == "export") {
        open_export_box(state, what);
    } else if (kind == "open") {
        request(state, Request::Kind::Open, what);
    } else if (kind == "lesson") {
        for (size_t at = 0; at < view::lessons().size(); ++at) {
            if (view::lessons()[at].name == what) go_to_stop(state, at, 0);
        }
    } else {
        // Places are quicker typed again than found among what was used.
        if (kind == "step") go_to(state, std::max(number_of(what), 1u) - 1);
        if (kind == "phase") go_to_phase(state, number_of(what));
        if (kind == "block") go_to_block(state, what);
        return;
    }
    remember(state.teach.recent_commands, id);
}

void take_command(State& state) {
    const std::vector<view::Command> found = view::find_commands(state, state.teach.commands.query.text);
    if (found.empty()) return;
    run_command(state, found[std::min(state.teach.commands.chosen, found.size() - 1)].id);
}

void take_path(State& state) {
    PathBox& box = state.teach.path;
    box.problem.clear();
    if (box.chosen > 0) {
        const std::vector<view::Suggestion> all = view::suggestions(state);
        if (box.chosen > all.size()) return;
        const view::Suggestion& one = all[box.chosen - 1];
        if (one.kind == view::Suggestion::Kind::Shipped)
            return request(state, Request::Kind::Shipped, one.value, 0, box.beside);
        view::set_text(box.path, one.value);
        box.chosen = 0;
        if (one.kind == view::Suggestion::Kind::Folder || box.mode == PathBox::Mode::Save) return;
    }
    if (box.path.text.empty()) {
        box.problem = "Type the path of a recording, or choose one with the arrow keys.";
        return;
    }
    const bool save = box.mode == PathBox::Mode::Save;
    request(state,
            !save                  ? Request::Kind::Open
            : box.exported.empty() ? Request::Kind::Save
                                   : Request::Kind::Export,
            view::expanded(box.path.text), 0, box.beside);
    state.teach.requests.back().exported = box.exported;
}

void press_in_overlay(State& state, const KeyPress& press) {
    CommandPalette& palette = state.teach.commands;
    PathBox& box = state.teach.path;
    if (press.control && press.key == Key::Q) {
        state.quit = true;
        return;
    }
    if (palette.open) {
        const bool again = press.control && press.key == Key::P;
        if (press.key == Key::Escape || again) {
            palette.open = false;
        } else if (press.key == Key::Enter) {
            take_command(state);
        } else if (!choose(palette.chosen, 0, view::find_commands(state, palette.query.text).size(), press) &&
                   view::edit(palette.query, press)) {
            palette.chosen = 0;
        }
        return;
    }
    if (press.key == Key::Escape) {
        box.mode = PathBox::Mode::Closed;
    } else if (press.key == Key::Enter) {
        take_path(state);
    } else if (press.key == Key::Tab) {
        view::set_text(box.path, view::completed(box.path.text));
        box.chosen = 0;
        box.over_written = false;
    } else if (!choose(box.chosen, 0, view::suggestions(state).size() + 1, press) &&
               view::edit(box.path, press)) {
        box.chosen = 0;
        box.over_written = false;
        box.problem.clear();
    }
}

void type_in_overlay(State& state, uint32_t character) {
    if (state.teach.commands.open) {
        view::type(state.teach.commands.query, character);
        state.teach.commands.chosen = 0;
    } else if (state.teach.path.mode != PathBox::Mode::Closed) {
        view::type(state.teach.path.path, character);
        state.teach.path.chosen = 0;
        state.teach.path.over_written = false;
        state.teach.path.problem.clear();
    }
}

void go_to_stop(State& state, size_t lesson, size_t stop) {
    LessonPlace& place = state.teach.lesson;
    if (lesson >= view::lessons().size() || stop >= view::lessons()[lesson].stops.size()) {
        place.running = false;  // beyond the last stop: back to the list
        state.teach.wanted_screen = 5;
        return;
    }
    place.running = true;
    place.lesson = place.listed = lesson;
    place.stop = stop;
    place.note.clear();
    state.playback.playing = false;
    request(state, Request::Kind::LessonStop, "");
}

}  // namespace tilescope::app
