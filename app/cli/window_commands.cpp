// What needs the picture: the window with nothing given, `open FILE`, `render FILE -o OUT.png`, and what
// export makes of a recording's steps: a step as a picture, a range of steps as a film.
#include <algorithm>
#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/app.h"
#include "app/cli/arguments.h"
#include "app/cli/line.h"
#include "app/cli/pictures.h"
#include "app/cli/work.h"
#include "app/drawn_exports.h"
#include "app/lessons/asking.h"
#include "app/lessons/handout.h"
#include "app/lessons/own.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "kernels/run/record.h"
#include "kernels/run/source_text.h"

namespace tilescope::cli {

namespace {

constexpr uint32_t kMostSide = 8192;  // pixels; OpenGL 3.3 devices render at least that
// The smallest picture in which no panel's text lies on another's, and the matrices are seen; a lecture's type is larger.
constexpr std::pair<uint32_t, uint32_t> kLeastSize{app::kLeastWidth, app::kLeastHeight},
    kLeastLecture{1024, 640}, kLeastSubject{480, 360};
// A film longer than this is a mistake: at 8 pictures a second it takes six minutes to look at, and one with
// motion a third of an hour.
constexpr uint64_t kMostFrames = 3000, kMostMoving = 20ull * 60 * app::kMotionFps;
constexpr uint32_t kMostFps = 50;  // a GIF counts in hundredths of a second, and viewers slow down below two
constexpr double kLeastSeconds = 0.2, kMostSeconds = 20;  // of a step
constexpr double kLeastRace = 2, kMostRace = 60;          // of a whole race
constexpr double kUsualSeconds = 2;                       // that a caption takes to read, on average at most
constexpr double kQuickSeconds = 0.25;  // of a step where there are more than can be read: an overview

struct WindowOptions {
    std::string file;
    std::string theme;  // "" for the one remembered
};

draw::Theme theme_of(const std::string& theme) {
    using draw::Theme;
    return choose<Theme>(theme, {{"", Theme::Light}, {"light", Theme::Light}, {"dark", Theme::Dark}},
                         "--theme '{}' is not known; choose light or dark");
}

// With the theme that was asked for; nothing is open yet.
app::State state_of(const std::string& theme) {
    app::State state;
    state.session.theme = theme_of(theme);
    return state;
}

session::MadeRecording recording_of(const std::string& file, uint64_t beside = 0) {
    auto opened = open_recording(file, kernels::shipped_recordings(), beside);
    if (!opened) return opened.error();
    return session::make_recording(std::move(opened->trace), std::move(opened->origin));
}

int show(app::State state, const WindowOptions& options) {
    need(app::run_window(std::move(state), !options.theme.empty()));
    return kDone;
}

int run_default_window(const WindowOptions& options);

// A desktop's entry that is started without a file calls it without one.
int run_open(const WindowOptions& options) {
    if (options.file.empty()) return run_default_window(options);
    app::State state = state_of(options.theme);
    if (session::is_program(options.file)) {
        session::run_program(state.session, {options.file, "", "", "", ""});
        if (!state.session.program) refuse(kFailure, "{}", state.session.message);
        return show(std::move(state), options);
    }
    std::error_code error;
    if (options.file.ends_with(".json") || std::filesystem::is_directory(options.file, error)) {
        state.session.message = need(lessons::open_own(state.lessons, state.session, options.file));
        return show(std::move(state), options);
    }
    session::open(state.session, options.file, options.file, false,
                  [file = options.file](session::Control&) { return recording_of(file); });
    // What cannot be opened is mostly told at once; a large recording is read while the window comes up.
    const auto& job = state.session.opening->job;
    if (job.ready(std::chrono::milliseconds(200))) need(job.get());
    return show(std::move(state), options);
}

int run_default_window(const WindowOptions& options) {
    return show(need(app::first_state(theme_of(options.theme))), options);
}

// A recording has no program beside it.
bool is_of_recordings(const app::ScreenRow& screen) { return screen.there == nullptr; }

std::string screen_names() {
    std::vector<std::string> names;
    for (const app::ScreenRow& screen : app::screens())
        if (is_of_recordings(screen)) names.emplace_back(screen.option);
    return fmt::format("{}", fmt::join(names, ", "));
}

bool is_film(const ExportOptions& options) { return options.format == "gif" || options.format == "mp4"; }

std::pair<int, int> size_of(const ExportOptions& options) {
    const std::string usual = is_film(options) ? "1280x720" : "1600x1000";
    const auto sides = parse_pair(options.size.empty() ? usual : options.size, 'x');
    const auto [least_width, least_height] = options.subject   ? kLeastSubject
                                             : options.lecture ? kLeastLecture
                                                               : kLeastSize;
    const auto fits = [](uint32_t side) { return side > 0 && side <= kMostSide; };
    if (!sides || !fits(sides->first) || !fits(sides->second))
        refuse(kWrongCall, "--size '{}' is not a size; give it as WxH in pixels, {}x{} to {}x{}",
               options.size, least_width, least_height, kMostSide, kMostSide);
    if (sides->first < least_width || sides->second < least_height)
        refuse(kWrongCall, "--size {} has no room for what is drawn{}; give at least {}x{}", options.size,
               options.lecture ? " with --lecture" : "", least_width, least_height);
    if (options.format == "mp4" && (sides->first % 2 != 0 || sides->second % 2 != 0))
        refuse(kWrongCall, "--size {} cannot be an mp4, whose sides are even; add a pixel", options.size);
    return *sides;
}

// What a key or the palette would do: an action ("phase_table"), or a place ("thread:19", "phase:2").
void do_all(app::State& state, const std::vector<std::string>& actions) {
    for (const std::string& action : actions) {
        app::update(state, true);
        if (!app::act(state, action))
            refuse(kWrongCall,
                   "--do '{}' is no action and no place of this recording; give one such as phase_table, "
                   "lecture, thread:3 or phase:1",
                   action);
    }
}

void write_picture(app::State state, const ExportOptions& options, int width, int height) {
    state.session.cursor = choose_step(options.at, state.session.trace(), options.file);
    state.race.at_cursor = true;
    do_all(state, options.actions);
    const app::RenderOptions render{width, height, options.output};
    if (options.format == "svg")
        write_text(options.output, need(app::render_svg(std::move(state), render)));
    else
        need(app::render_png(std::move(state), render));
}

// Of a race, which is one film whatever its steps.
void write_race(app::State state, const ExportOptions& options, int width, int height) {
    const double seconds = options.seconds.value_or(race::kSeconds);
    OutputFile file(options.output);
    const auto format = options.format == "mp4" ? platform::Film::Format::Mp4 : platform::Film::Format::Gif;
    const uint32_t fps = options.fps.value_or(app::kMotionFps);
    app::FilmOptions film{{format, width, height, fps, file.temporary(), true}, 0, 0, seconds};
    state.paper = true;
    app::update(state, true);
    race::ready(state.race, state.session, true);
    if (!state.race.race)
        refuse(kFailure, "there is no race of '{}'{}: {}", options.file,
               options.with.empty() ? "" : fmt::format(" and '{}'", options.with),
               !state.race.why_not.empty()           ? state.race.why_not
               : !state.session.pair.message.empty() ? state.session.pair.message
               : !state.session.uncounted.empty()    ? state.session.uncounted
                                                     : "name a second recording by --with");
    const auto frames = static_cast<uint64_t>(app::race_frames(film));
    with_progress(frames, "pictures", fmt::format("'{}' was not written", options.output),
                  [&](const auto& stop, auto& done) {
                      film.stop = &stop;
                      film.done = &done;
                      return app::render_film(std::move(state), film);
                  });
    keep(file, options.output);
}

void write_film(app::State state, const ExportOptions& options, int width, int height) {
    if (options.screen == session::kRaceScreen) return write_race(std::move(state), options, width, height);
    const std::string asked = options.steps.empty() ? "first:last" : options.steps;
    const auto [first, end] = choose_steps(asked, state.session.trace(), options.file);
    const bool motion = !options.fps;
    const auto room = [](double seconds) {  // steps
        return static_cast<uint64_t>(kMostMoving / (seconds * app::kMotionFps));
    };
    double seconds = options.seconds.value_or(0);
    if (!options.seconds && end - first > room(kUsualSeconds)) seconds = kQuickSeconds;
    const uint64_t most = motion ? room(seconds > 0 ? seconds : kUsualSeconds) : kMostFrames;
    if (end - first > most) {
        refuse(kWrongCall,
               "a film of {} steps is too long; 'tilescope export' makes films of at most {} steps, as with "
               "--steps {}:{}{}",
               grouped(end - first), grouped(most), first + 1, first + std::min<uint64_t>(most, 200),
               seconds > kLeastSeconds && options.seconds ? ", or with fewer --seconds" : "");
    }
    state.paper = true;  // nothing in a film can be pressed
    OutputFile file(options.output);
    const auto format = options.format == "mp4" ? platform::Film::Format::Mp4 : platform::Film::Format::Gif;
    app::FilmOptions film{
        {format, width, height, options.fps.value_or(app::kMotionFps), file.temporary(), motion},
        first,
        end,
        seconds};
    const std::string unwritten = fmt::format("'{}' was not written", options.output);
    with_progress(end - first, "steps", unwritten, [&](const auto& stop, auto& done) {
        film.stop = &stop;
        film.done = &done;
        return app::render_film(std::move(state), film);
    });
    keep(file, options.output);
}

// A stop of a lesson, or the question of "ask me" at the step, with the answer that was given.
void stand_at_stop(app::State& state, const ExportOptions& options) {
    if (!options.lesson.empty()) {
        size_t lesson = 0;
        if (options.lesson.ends_with(".json")) {
            need(lessons::open_own(state.lessons, state.session, options.lesson));
            lesson = state.lessons.lesson;
            std::vector<std::string> read;
            for (const lessons::LessonStop& stop : (*state.lessons.lessons)[lesson].stops)
                if (!stop.path.empty()) read.push_back(stop.path);
            check_output(options.output, read);
        } else {
            lesson = shipped_lesson(options.lesson);
        }
        const size_t stops = (*state.lessons.lessons)[lesson].stops.size();
        if (options.stop < 1 || options.stop > stops + 1)
            refuse(kWrongCall, "--stop {} is not there; the lesson has {}, and its end as one more",
                   options.stop, stops);
        lessons::go_to_stop(state.lessons, state.session, lesson, options.stop - 1);
        app::update(state, true);
        app::update(state, true);
        if (!state.lessons.note.empty())
            refuse(kFailure,
                   "stop {} of the lesson has no such step in its recording; correct what it asks for",
                   options.stop);
    } else {
        app::update(state, true);
        lessons::ask_me(state.lessons, state.session);
        for (uint32_t at = 1; at < options.stop; ++at) lessons::ask_me(state.lessons, state.session);
    }
    if (!state.session.message.empty()) refuse(kFailure, "{}", state.session.message);
    if (!options.reveal && options.answer.empty()) return;
    const lessons::LessonStop* const stop = lessons::stop_shown(state.lessons);
    if (stop == nullptr || !stop->ask || !state.lessons.asked)
        refuse(kWrongCall, "stop {} asks nothing; leave out --answer and --reveal", options.stop);
    if (!options.answer.empty()) {
        const session::Session& session = state.session;
        const bool modelled = lessons::is_modelled(*stop);
        const auto scene =
            modelled ? std::nullopt
                     : std::optional(lessons::Scene{*session.recording, *session.block, session.cursor.step});
        const std::string wrong =
            lessons::predict(state.session.question, *stop->ask, scene ? &*scene : nullptr, options.answer);
        if (!wrong.empty()) refuse(kWrongCall, "{}", wrong);
    }
    if (!options.reveal) return;
    lessons::reveal(state.lessons, state.session);
    app::update(state, true);
}

// --figure NAME --set warps=8,latency=400
void show_figure(app::State& state, const ExportOptions& options) {
    const lessons::Figure* const figure = lessons::find_figure(options.figure);
    if (figure == nullptr) {
        std::vector<std::string_view> names;
        for (const lessons::Figure& one : lessons::figures()) names.push_back(one.name);
        refuse(kWrongCall, "--figure '{}' is not known; choose {}", options.figure, fmt::join(names, ", "));
    }
    std::vector<int> set = lessons::first_set(*figure);
    for (const std::string_view part : kernels::parts_between_commas(options.set)) {
        const size_t equals = part.find('=');
        const auto parameter =
            std::ranges::find(figure->parameters, part.substr(0, equals), &lessons::FigureParameter::name);
        if (part.empty()) continue;
        const bool named = equals != std::string_view::npos && parameter != figure->parameters.end();
        const auto value = named ? lessons::setting_of(*parameter, part.substr(equals + 1)) : std::nullopt;
        if (!value)
            refuse(kWrongCall, "--set '{}' does not fit the figure '{}'; give its parameters as in {}={}",
                   part, figure->name, figure->parameters[0].name, figure->parameters[0].first);
        set[static_cast<size_t>(parameter - figure->parameters.begin())] = *value;
    }
    lessons::show_figure(state.lessons, state.session, *figure, std::move(set));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> window_names(std::string_view kind) {
    std::vector<std::pair<std::string, std::string>> names;
    if (kind == "LESSON")
        for (const lessons::Lesson& one : lessons::lesson_list()) names.emplace_back(one.name, one.title);
    if (kind == "FIGURE")
        for (const lessons::Figure& one : lessons::figures()) names.emplace_back(one.name, one.title);
    if (kind == "ACTION")  // what has a colon is listed by other options
        for (const input::Offer& one : app::offers())
            if (one.name.find(':') == std::string::npos && input::can({}, one))
                names.emplace_back(one.name, one.help);
    return names;
}

std::vector<std::string> lesson_pictures(const lessons::Lesson& lesson) {
    app::State paper = app::on_paper(lesson);
    std::vector<std::string> pictures;
    for (size_t at = 0; at < lesson.stops.size(); ++at)
        pictures.push_back(
            need(app::picture_of_stop(paper, at, [](const app::State& state, int width, int height) {
                return app::render_svg(state, {width, height, ""});
            })));
    return pictures;
}

namespace {

// storyboard, poster: a block's phases on one page, as what the ending of the file says.
int export_page(const ExportOptions& options) {
    for (const auto& [given, what] : {std::pair{options.lanes, "--lanes"},
                                      {!options.steps.empty(), "--steps"},
                                      {!options.size.empty(), "--size"},
                                      {options.lecture, "--lecture"},
                                      {options.seconds.has_value(), "--seconds"},
                                      {options.fps.has_value(), "--fps"}})
        if (given) refuse(kWrongCall, "{} does not go with --format {}; leave it out", what, options.format);
    const auto page = options.format == "poster" ? app::State::Page::Poster : app::State::Page::Storyboard;
    const auto& [width, height, paper] = app::size_of(page);
    const auto ends = [&](const char* ending) { return options.output.ends_with(ending); };
    if (!ends(".svg") && !ends(".png") && !ends(".html"))
        refuse(kWrongCall,
               "'{}' cannot be made; end its name in .svg, .png or .html, which a browser prints as PDF",
               options.output);
    const auto block = parse_block(options.block);
    check_output(options.output, {options.file});
    const draw::Theme theme = theme_of(options.theme);
    const auto recording = need(recording_of(options.file));
    app::State state = need(app::page_of(
        recording, block ? choose_block(block, *recording->trace, options.file) : 0, theme, page));
    if (ends(".png")) {
        need(app::render_png(std::move(state), {width, height, options.output}));
        return kDone;
    }
    const std::string title = analysis::title_of(*state.session.recording);
    const std::string svg = need(app::render_svg(std::move(state), {width, height, options.output}));
    if (ends(".svg")) {
        write_text(options.output, svg);
        return kDone;
    }
    write_text(options.output,
               fmt::format(
                   "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
                   "<meta charset=\"utf-8\"/>\n<title>{}</title>\n<style>\n@page {{ size: {}; margin: 0; }}\n"
                   "body {{ margin: 0; }}\nsvg {{ display: block; width: 100%; height: auto; }}\n</style>\n"
                   "</head>\n<body>\n{}</body>\n</html>\n",
                   xml_text(title), paper, lessons::svg_part(svg, "")));
    return kDone;
}

}  // namespace

int export_pictures(const ExportOptions& options) {
    if (options.format == "storyboard" || options.format == "poster") return export_page(options);
    const bool film = is_film(options);
    for (const auto& [given, what] : {std::pair{options.lanes, "--lanes"},
                                      {!film && !options.steps.empty(), "--steps"},
                                      {!film && options.seconds.has_value(), "--seconds"},
                                      {!options.block.empty(), "--block"}})
        if (given) refuse(kWrongCall, "{} does not go with --format {}; leave it out", what, options.format);
    if (options.fps && (*options.fps < 1 || *options.fps > kMostFps))
        refuse(kWrongCall, "--fps {} cannot be shown; choose 1 to {}", *options.fps, kMostFps);
    const bool race = options.screen == session::kRaceScreen;
    const double least = race ? kLeastRace : kLeastSeconds, most = race ? kMostRace : kMostSeconds;
    if (options.seconds && !(*options.seconds >= least && *options.seconds <= most))
        refuse(kWrongCall, "--seconds {} cannot be shown; choose {} to {}", *options.seconds, least, most);
    if (race && !options.steps.empty())
        refuse(kWrongCall, "--steps does not go with --screen race, which shows all of both; leave it out");
    if (!race && options.fps && options.seconds)
        refuse(kWrongCall, "--fps makes a picture a step and --seconds a step with motion; leave one out");
    app::State state = state_of(options.theme);
    if (const auto* screen = app::find_screen(options.screen); !screen || !is_of_recordings(*screen))
        refuse(kWrongCall, "--screen '{}' is not known; choose {}", options.screen, screen_names());
    const auto [width, height] = size_of(options);
    check_output(options.output, {options.file, options.with, options.lesson});
    state.session.screen = options.screen;
    state.session.lecture = options.lecture;
    state.step.subject = options.subject;
    if (options.subject && options.screen != session::kStepScreen)
        refuse(kWrongCall, "--subject is of the step screen; leave out --screen {}", options.screen);
    if (!options.lesson.empty()) {
        if (!options.file.empty())
            refuse(kWrongCall, "--lesson brings its own recordings; leave out '{}'", options.file);
        stand_at_stop(state, options);
        need(app::render_png(std::move(state), {width, height, options.output}));
        return kDone;
    }
    if (options.file.empty()) refuse(kWrongCall, "say what to draw: a recording, or a lesson with --lesson");
    session::show(state.session, need(recording_of(options.file)));
    if (!options.figure.empty()) show_figure(state, options);
    // One that is compared with itself is read once.
    if (!options.with.empty())
        session::set_beside(state.session,
                            need(is_same_recording(options.file, options.with)
                                     ? session::make_recording(state.session.recording->trace,
                                                               state.session.recording->origin)
                                     : recording_of(options.with, trace::bytes_of(state.session.trace()))));
    if (options.ask) {
        state.session.cursor = choose_step(options.at, state.session.trace(), options.file);
        stand_at_stop(state, options);
        need(app::render_png(std::move(state), {width, height, options.output}));
        return kDone;
    }
    (film ? write_film : write_picture)(std::move(state), options, width, height);
    return kDone;
}

CliCommand window_command() {
    return command("", "", run_default_window, [](auto& o) -> OptionTable {
        return {{"--theme", &o.theme, "Colours of the window: light or dark (as last time)", "light|dark"}};
    });
}

CliCommand open_command() {
    return command("open", "Open the window on a recording, a program or lessons", run_open,
                   [](auto& o) -> OptionTable {
                       return {
                           {"FILE", &o.file,
                            "A recording: a .tsc file, or a name from 'recordings'; "
                            "or a program: a .cu file; or a lesson: a .json file, or a folder of lessons",
                            "FILE.cu|FILE.json|RECORDING"},
                           {"--theme", &o.theme, "Colours: light or dark (as last time)", "light|dark"},
                       };
                   });
}

CliCommand render_command() {
    return command(
        "render", "Draw a step of a recording as a PNG, without a display", export_pictures,
        [](auto& o) -> OptionTable {
            return {
                {"FILE", &o.file, kRecordingArgument, "RECORDING"},
                {"--lesson", &o.lesson,
                 "Draw a stop of that lesson, by its name or a .json file, instead of a recording",
                 "LESSON|FILE.json"},
                {"--ask", &o.ask, "A question about the recording, from that step on, as Q asks it"},
                {"--stop", &o.stop, "Which stop of the lesson, or question, from 1 on (1)", "NUMBER"},
                {"--answer", &o.answer,
                 "Predict at a question: a number, a letter, or elements as \"0,1 0,2\"", "PREDICTION"},
                {"--reveal", &o.reveal, "Show what is right at a question"},
                {"--screen", &o.screen, fmt::format("The screen to draw: {} (step)", screen_names()),
                 kScreenWords},
                {"--figure", &o.figure, "A figure of the lessons instead: its name", "FIGURE"},
                {"--set", &o.set, "Its parameters, as in warps=8,latency=400", "NAME=VALUE,..."},
                {"--with", &o.with, "The recording that the Compare and the Race screen set beside it",
                 "RECORDING"},
                {"--at", &o.at, "The step, from 1 on, or first, middle or last (first)", "STEP"},
                {"--size", &o.size, "Size in pixels (1600x1000)", "WxH"},
                {"--theme", &o.theme, "Colours: light or dark (light)", "light|dark"},
                {"--lecture", &o.lecture, "Type, lines and colours for the back row"},
                {"--do", &o.actions,
                 "What is done first, as a key would: phase_table, older_gpu, thread:3, ...; may be repeated",
                 "ACTION"},
                {"-o,--output", &o.output, "The picture to write", "PATH", kRequired},
            };
        });
}

}  // namespace tilescope::cli
