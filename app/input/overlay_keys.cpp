// The keyboard while the command palette or the path box is open, and what their rows do.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "app/input/actions.h"
#include "app/input/palette.h"
#include "app/input/path_box.h"
#include "app/input/text_field.h"
#include "app/session/exporting.h"
#include "app/session/playing.h"

namespace tilescope::input {
namespace {

namespace fs = std::filesystem;

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

void go_to_block(Session& session, std::string_view where) {
    if (!session.recording) return;
    const size_t comma = where.find(',');
    if (comma == std::string_view::npos) return;
    const uint32_t x = number_of(where.substr(0, comma)), y = number_of(where.substr(comma + 1));
    const auto& blocks = session.recording->trace->blocks;
    for (uint32_t at = 0; at < blocks.size(); ++at) {
        if (blocks[at].x != x || blocks[at].y != y) continue;
        session.cursor.block = at;
        session::go_to(session, 0);
    }
}

void go_to_phase(Session& session, uint32_t phase) {
    if (!session.block) return;
    for (const draw::PhaseSpan& span : session.block->spans)
        if (span.phase == phase) return session::go_to(session, span.first);
}

}  // namespace

bool overlay_open(const State& state) {
    return state.palette.open || state.path.mode != PathBox::Mode::Closed;
}

void open_path_box(State& state, Session& session, PathBox::Mode mode) {
    state.path = {};
    if (mode == PathBox::Mode::Save && !session.recording) {
        session.message = "There is no recording to save yet; press R to record one.";
        return;
    }
    state.path.mode = mode;
    if (mode == PathBox::Mode::Save)
        set_text(state.path.path, session.last_folder + session::default_name(session));
}

void open_export_box(State& state, Session& session, const std::string& what) {
    const session::ExportChoice* const choice = session::find_export(what);
    if (choice == nullptr || !session.recording || !session.block) return;
    state.path = {};
    state.path.mode = PathBox::Mode::Save;
    state.path.exported = what;
    set_text(state.path.path, session.last_folder + session::export_name(session, *choice));
}

void run_command(State& state, Session& session, std::span<const Offer> offers, const std::string& id) {
    const size_t colon = id.find(':');
    const std::string kind = id.substr(0, colon),
                      what = colon == std::string::npos ? "" : id.substr(colon + 1);
    state.palette.open = false;
    if (kind == "preset") {
        const size_t number = number_of(what);
        if (number >= kernels::presets().size()) return;
        static_cast<session::Order&>(state.form) = {kernels::presets()[number].kernel,
                                                    kernels::presets()[number].shape, state.form.window,
                                                    state.form.backend};
        session.walk.running = false;
        session::record(session, state.form);
    } else if (kind == "shipped") {
        session.walk.running = false;
        session::open_shipped(session, what);
    } else if (kind == "export") {
        open_export_box(state, session, what);
    } else if (kind == "open") {
        session.walk.running = false;
        session::open_file(session, what);
    } else if (kind == "step" || kind == "phase" || kind == "block") {
        // Places are quicker typed again than found among what was used.
        if (kind == "step") session::go_to(session, std::max(number_of(what), 1u) - 1);
        if (kind == "phase") go_to_phase(session, number_of(what));
        if (kind == "block") go_to_block(session, what);
        return;
    } else {
        const std::string& name = kind == "action" ? what : id;
        if (std::none_of(offers.begin(), offers.end(), [&](const Offer& one) { return one.name == name; }))
            return;
        session.asked.push_back(name);
    }
    session::remember(session.recent_commands, id);
}

namespace {

void take_command(State& state, Session& session, std::span<const Offer> offers) {
    const std::vector<Command> found = find_commands(session, offers, state.palette.query.text);
    if (!found.empty())
        run_command(state, session, offers, found[std::min(state.palette.chosen, found.size() - 1)].id);
}

// A file can be written there, and may: else the box says why not, once of a file that is there already.
bool may_write(PathBox& box, const std::string& path) {
    std::error_code error;
    const fs::path folder = fs::path(path).parent_path();
    if (path.empty() || path.back() == '/' || fs::is_directory(path, error)) {
        box.problem = fmt::format("'{}' is a folder; add the name of the file.", path);
    } else if (!folder.empty() && !fs::is_directory(folder, error)) {
        box.problem = fmt::format("There is no folder '{}'.", folder.string());
    } else if (fs::exists(path, error) && !box.over_written) {
        box.over_written = true;
        box.problem = fmt::format("'{}' is there already; Enter once more overwrites it.", path);
    } else {
        return true;
    }
    return false;
}

void save(PathBox& box, Session& session, std::string path) {
    if (!session.recording) return;
    if (!session::picture_ending(path).empty()) {  // made of the whole frame, once it is drawn
        session.pictures.push_back(path);
        box.mode = PathBox::Mode::Closed;
        return;
    }
    std::error_code error;
    if (!path.empty() && path.back() != '/' && !fs::is_directory(path, error) &&
        fs::path(path).extension() != ".tsc")
        path += ".tsc";
    if (!may_write(box, path)) return;
    box.problem = session::save(session, path);
    if (box.problem.empty()) box.mode = PathBox::Mode::Closed;
}

void export_to(PathBox& box, Session& session, const std::string& path) {
    const session::ExportChoice* const choice = session::find_export(box.exported);
    if (choice == nullptr || !session.recording || !session.block || !may_write(box, path)) return;
    if (session.exporting) {
        box.problem =
            fmt::format("'{}' is still being exported; wait until it is done.", session.exporting->path);
        return;
    }
    session::start_export(session, *choice, path);
    std::error_code error;
    box.mode = PathBox::Mode::Closed;
    session.last_folder = fs::absolute(path, error).parent_path().string() + "/";
    session.message = fmt::format("Exporting to '{}'\u2026", path);
}

void open(PathBox& box, Session& session, const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
        box.problem = fmt::format("'{}' is a folder; choose a recording in it.", path);
        return;
    }
    session.walk.running = false;
    box.opening = true;
    session::open_file(session, path, box.beside);
}

}  // namespace

void take_path(State& state, Session& session) {
    PathBox& box = state.path;
    box.problem.clear();
    if (box.chosen > 0) {
        const std::vector<Suggestion> all = suggestions(box, session);
        if (box.chosen > all.size()) return;
        const Suggestion& one = all[box.chosen - 1];
        if (one.kind == Suggestion::Kind::Shipped) {
            session.walk.running = false;
            box.opening = true;
            return session::open_shipped(session, one.value, box.beside);
        }
        set_text(box.path, one.value);
        box.chosen = 0;
        if (one.kind == Suggestion::Kind::Folder || box.mode == PathBox::Mode::Save) return;
    }
    if (box.path.text.empty()) {
        box.problem = "Type the path of a recording, or choose one with the arrow keys.";
        return;
    }
    const std::string path = expanded(box.path.text);
    if (box.mode != PathBox::Mode::Save)
        open(box, session, path);
    else if (box.exported.empty())
        save(box, session, path);
    else
        export_to(box, session, path);
}

void update(State& state, Session& session) {
    PathBox& box = state.path;
    if (std::exchange(session.wants_beside, false)) {
        open_path_box(state, session, PathBox::Mode::Open);
        box.beside = session.recording != nullptr;  // nothing is there to set it beside: it comes first
    }
    if (box.opening && !session.opening) {
        box.opening = false;
        if (session.message.empty())
            box.mode = PathBox::Mode::Closed;
        else
            box.problem = std::exchange(session.message, {});
    }
    if (session.recording && state.form.framed != session.framing) {
        state.form.framed = session.framing;
        // The form knows the textbook kernels.
        const auto& product = session.recording->product;
        const std::string& kernel = session.trace().meta.kernel;
        if (product && kernels::find(kernel) != nullptr) {
            state.form.kernel = kernel;
            state.form.shape = {product->m, product->k, product->n, product->tile};
        }
    }
}

namespace {

void type_in_overlay(State& state, uint32_t character) {
    if (state.palette.open) {
        type(state.palette.query, character);
        state.palette.chosen = 0;
    } else {
        type(state.path.path, character);
        state.path.chosen = 0;
        state.path.over_written = false;
        state.path.problem.clear();
    }
}

}  // namespace

void press_in_overlay(State& state, Session& session, std::span<const Offer> offers, const KeyPress& press) {
    CommandPalette& palette = state.palette;
    PathBox& box = state.path;
    if (press.character != 0) type_in_overlay(state, press.character);
    if (press.key == Key::None || press.character != 0) return;
    if (press.control && press.key == Key::Q) {
        session.quit = true;
        return;
    }
    if (palette.open) {
        const bool again = press.control && press.key == Key::P;
        if (press.key == Key::Escape || again)
            palette.open = false;
        else if (press.key == Key::Enter)
            take_command(state, session, offers);
        else if (!choose(palette.chosen, 0, find_commands(session, offers, palette.query.text).size(),
                         press) &&
                 edit(palette.query, press))
            palette.chosen = 0;
        return;
    }
    if (press.key == Key::Escape) {
        box.mode = PathBox::Mode::Closed;
    } else if (press.key == Key::Enter) {
        take_path(state, session);
    } else if (press.key == Key::Tab) {
        set_text(box.path, completed(box.path.text));
        box.chosen = 0;
        box.over_written = false;
    } else if (!choose(box.chosen, 0, suggestions(box, session).size() + 1, press) && edit(box.path, press)) {
        box.chosen = 0;
        box.over_written = false;
        box.problem.clear();
    }
}

}  // namespace tilescope::input
