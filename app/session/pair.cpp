#include "app/session/pair.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "app/session/session.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "kernels/run/record.h"
#include "kernels/textbook/shipped.h"

namespace tilescope::session {
namespace {

constexpr kernels::Shape kT16{64, 64, 64, 16}, kT32{64, 64, 64, 32}, kRagged{20, 20, 20, 8};

using Part = ComparePreset::Part;
constexpr ComparePreset pair(const char* title, const char* about, Part a, Part b) {
    return {title, about, a, b};
}
constexpr ComparePreset kPresets[] = {
    pair("Untiled or tiled", "Tiles of T \u00d7 T bring every element n/T times instead of n.",
         {"untiled", kT16}, {"tiled", kT16}),
    pair("Mapping swapped, untiled",
         "Neighbouring threads walk a row, or down a column: few sectors a request, or many.",
         {"untiled", kT16}, {"untiled_swapped", kT16}),
    pair("Mapping swapped, tiled", "The same swap with tiles: what it costs in global and in shared memory.",
         {"tiled", kT16}, {"tiled_swapped", kT16}),
    pair("T = 16 or 32", "Twice the tile's width, half the loads of global memory.", {"tiled", kT16},
         {"tiled", kT32}),
    pair("Transposed or padded tile",
         "A column of shared memory in one bank, and the one column more that spreads it over all.",
         {"tiled_transposed", kT32}, {"tiled_padded", kT32}),
    pair("No barrier, or the barriers", "The same requests, and a result that depends on who comes first.",
         {"tiled_no_barrier", kT16}, {"tiled", kT16}),
    pair("Stale values, or zeros",
         "Zeros left out at the edge: values of the phase before are multiplied again.",
         {"tiled_stale_edge", kRagged}, {"tiled", kRagged}),
    pair("GPU and CPU",
         "One launch, on a GPU and in lockstep on the CPU: the same accesses in another order.",
         {"tiled", kT16, true}, {"tiled", kT16}),
};

MadeRecording open_part(const ComparePreset::Part& part,
                        const std::vector<kernels::ShippedRecording>& recordings,
                        const std::atomic<bool>* stop, const BlockWindow& window = {}) {
    if (part.shipped) {
        const auto found = std::ranges::find_if(recordings, [&](const kernels::ShippedRecording& one) {
            return one.kernel == part.kernel && kernels::Shape{one.m, one.k, one.n, one.tile} == part.shape;
        });
        if (found == recordings.end())
            return Error{
                fmt::format("No recording of {} from a GPU ships with this program; record it on a GPU "
                            "with 'tilescope record' and open it with 'tilescope render --with'",
                            part_name(part))};
        return session::make_recording(kernels::open_shipped(*found), found->label);
    }
    auto plan = kernels::plan(part.kernel, part.shape);
    if (!plan) return plan.error();
    kernels::RecordOptions options;
    options.stop = stop;
    options.window = window;
    return session::make_recording(kernels::record_cpu(*plan, options), "recorded now, on the CPU");
}

// What is said of where a launch of a program comes from.
std::string launch_origin(const std::string& program, uint64_t number) {
    return fmt::format("{}, launch {}", program, grouped(number));
}

// The number of a launch in the name of its file, "copy4.2.tsc" or "2.tsc"; 0 for none.
uint64_t launch_in_name(const std::filesystem::path& path) {
    if (path.extension() != ".tsc") return 0;
    const std::string stem = path.stem().string(), number = stem.substr(stem.rfind('.') + 1);
    const bool digits = !number.empty() && number.size() < 10 &&
                        std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
    return digits ? std::stoull(number) : 0;
}

constexpr size_t kMostEntries = 20'000;  // entries of a folder: it must not hold up a frame
constexpr uint64_t kMostBytesBefore = uint64_t{256} << 20;  // bytes of the recording that was shown before

// The launch before one in its folder, else the one behind it.
std::optional<std::filesystem::path> neighbour(const std::filesystem::path& path) {
    const uint64_t own = launch_in_name(path);
    if (own == 0) return std::nullopt;
    std::filesystem::path best;
    uint64_t number = 0;
    std::error_code error;
    std::filesystem::directory_iterator each(path.parent_path().empty() ? "." : path.parent_path(),
                                             std::filesystem::directory_options::skip_permission_denied,
                                             error);
    for (size_t looked = 0; !error && each != std::filesystem::directory_iterator() && looked < kMostEntries;
         each.increment(error), ++looked) {
        const uint64_t at = launch_in_name(each->path());
        if (at == 0 || at == own) continue;
        const bool nearer =
            number == 0 || (at < own ? number > own || at > number : number > own && at < number);
        if (nearer) number = at, best = path.parent_path() / each->path().filename();
    }
    if (number == 0) return std::nullopt;
    return best;
}

// Whether two recordings are launches of one program, or lie in one folder, by what is said of where they come from.
bool belong_together(const Recording& a, const Recording& b) {
    const auto of = [](const Recording& one) {
        if (const size_t at = one.origin.rfind(", launch "); at != std::string::npos)
            return one.origin.substr(0, at);
        if (!one.origin.ends_with(".tsc")) return std::string();
        return std::filesystem::path(one.origin).parent_path().string() + "/";
    };
    return !of(a).empty() && of(a) == of(b);
}

// Brings what is known up to the recording that is shown. True while it is counted.
bool know(Tallied& known, const Shown& shown, Jobs& jobs, bool wait) {
    if (known.serial != shown.recording->serial) {
        known.counting.stop();
        known = {};
        known.serial = shown.recording->serial;
    }
    if (!known.no_tally.empty()) return false;
    if (!known.tally && !known.counting.begun())
        known.counting = jobs.start(
            [recording = shown.recording](Control& control) -> Result<std::shared_ptr<const look::Tally>> {
                auto tally = look::tally_of(*recording, {&control.stop});
                if (!tally) return tally.error();
                return std::make_shared<const look::Tally>(std::move(*tally));
            });
    const bool at_once = wait || shown.trace().steps() <= kCountedAtOnce;
    auto tally = known.counting.take(at_once);
    if (!tally) return !known.tally;
    if (*tally)
        known.tally = std::move(**tally);
    else
        known.no_tally = tally->error().message;
    return false;
}

// Both sides of a pair, so that they appear together.
Result<BothRecordings> open_both(MadeRecording a, const std::function<MadeRecording()>& open_b) {
    if (!a) return a.error();
    MadeRecording b = open_b();
    if (!b) return b.error();
    return BothRecordings{*a, *b};
}

void begin_opening(Session& session) {
    Pair& pair = session.pair;
    pair.wanted = false;
    pair.message.clear();
    pair.refused = false;
    pair.opening.stop();
    if (pair.launches) {
        std::string of;
        if (session.program && pair.launches->a > 0)
            session.program->opened = pair.launches->a, of = session.program->name;
        pair.opening = session.jobs->start([launches = *pair.launches, of](Control&) {
            const auto read = [&](const std::shared_ptr<const Recording>& there, const std::string& path,
                                  uint64_t number) -> MadeRecording {
                if (there) return there;
                return read_recording(path, number == 0 ? path : launch_origin(of, number));
            };
            return open_both(read(launches.there_a, launches.path_a, launches.a),
                             [&] { return read(launches.there_b, launches.path_b, launches.b); });
        });
        return;
    }
    pair.opening = session.jobs->start([&preset = compare_presets()[static_cast<size_t>(pair.preset)],
                                        recordings = session.assets.recordings()](Control& control) {
        return open_preset(preset, recordings, &control.stop, {});
    });
}

void swap_now(Session& session) {
    Pair& pair = session.pair;
    pair.swap = false;
    if (!are_two(session)) return;
    const Shown a = session, b = pair.other;
    const look::Pick pin = look::same_pick(a.trace(), b.trace(), session.pin);
    show(session, b.recording, b.totals);
    session.cursor = b.cursor;
    session.pin = pin;
    std::swap(pair.a, pair.b);
    set(pair.other, a.recording, a.totals);
}

// Why the two cannot be shown: one that holds nothing cannot be stood in, and both have to be counted.
std::string why_not(const Session& session) {
    const Pair& pair = session.pair;
    for (const char letter : {'A', 'B'}) {
        const Recording& one = letter == 'A' ? *session.recording : *pair.other.recording;
        if (one.trace->steps() == 0)
            return fmt::format("{} ({}) holds no step; choose another recording.", letter, one.origin);
    }
    for (const std::string* why : {&session.uncounted, &pair.other.uncounted})
        if (!why->empty()) return *why;
    for (const Tallied* known : {&pair.a, &pair.b})
        if (!known->no_tally.empty()) return known->no_tally + ".";
    return "";
}

// Lane trips of an inner loop that are recorded while nobody notices the wait: 4 blocks of 1,024 x 1,024 are a
// million.
constexpr uint64_t kQuickly = 1u << 22;

}  // namespace

std::span<const ComparePreset> compare_presets() { return kPresets; }

Result<BothRecordings> open_preset(const ComparePreset& preset,
                                   const std::vector<kernels::ShippedRecording>& recordings,
                                   const std::atomic<bool>* stop, const BlockWindow& window) {
    return open_both(open_part(preset.a, recordings, stop, window),
                     [&] { return open_part(preset.b, recordings, stop, window); });
}

void keep_before(Session& session) {
    const bool small = session.recording && trace::bytes_of(session.trace()) <= kMostBytesBefore;
    session.pair.before = small && session.trace().steps() > 0 ? session.recording : nullptr;
}

void look_into_folder(Session& session) {
    Pair& pair = session.pair;
    if (!session.recording || pair.looked_at == session.recording->serial) return;
    pair.looked_at = session.recording->serial;
    pair.in_folder.reset();
    const std::filesystem::path own = session.recording->origin;
    const auto found = neighbour(own);
    if (!found) return;
    const auto name = [](const std::filesystem::path& path) {
        const std::string stem = path.stem().string();
        return fmt::format("launch {}: {}", launch_in_name(path), one_line(stem.substr(0, stem.rfind('.'))));
    };
    const std::string folder = std::filesystem::absolute(own).parent_path().filename().string();
    pair.in_folder = LaunchPair{fmt::format("Launches {} and {} of {}/", launch_in_name(own),
                                            launch_in_name(*found), one_line(folder)),
                                0,
                                0,
                                name(own),
                                name(*found),
                                "",
                                found->string(),
                                {},
                                session.recording};
}

std::vector<LaunchPair> own_pairs(const Session& session) {
    std::vector<LaunchPair> pairs;
    const Pair& pair = session.pair;
    const auto add = [&](const LaunchPair& one) {
        if (pairs.size() < kMostOwn && std::ranges::find(pairs, one) == pairs.end()) pairs.push_back(one);
    };
    std::optional<LaunchPair> before;
    bool near = false;
    // The one that stands beside it already has changed places with it, at most.
    if (session.recording && pair.before && pair.before->serial != session.recording->serial) {
        const auto name = [](const Recording& one) {
            return analysis::kernel_name(one) + "  " + analysis::size_name(one);
        };
        near = belong_together(*session.recording, *pair.before);
        before = LaunchPair{"This one, and the one before",
                            0,
                            0,
                            name(*session.recording),
                            name(*pair.before),
                            "",
                            "",
                            {},
                            session.recording,
                            pair.before};
    }
    if (before && near) add(*before);
    if (const auto launches = launch_pair(session)) add(*launches);
    if (session.recording && pair.in_folder && pair.looked_at == session.recording->serial)
        add(*pair.in_folder);
    if (before) add(*before);
    return pairs;
}

std::optional<LaunchPair> launch_pair(const Session& session) {
    const auto all = recorded_launches(session);
    if (all.size() < 2) return std::nullopt;
    const auto opened = std::ranges::find(all, session.program->opened, &launched::LaunchLine::number);
    const size_t a = opened == all.end() ? 0 : static_cast<size_t>(opened - all.begin());
    size_t b = (a + 1) % all.size();
    for (size_t on = 1; on < all.size(); ++on)
        if (const size_t at = (a + on) % all.size(); all[at]->kernel != all[a]->kernel) {
            b = at;
            break;
        }
    const auto name = [&](size_t at) {
        return fmt::format("launch {}: {}", grouped(all[at]->number), one_line(all[at]->kernel));
    };
    return LaunchPair{fmt::format("Launches {} and {} of {}", grouped(all[a]->number),
                                  grouped(all[b]->number), session.program->name),
                      all[a]->number,
                      all[b]->number,
                      name(a),
                      name(b),
                      all[a]->recorded,
                      all[b]->recorded,
                      session.program->folders};
}

std::string part_name(const ComparePreset::Part& part) {
    return fmt::format("{}{}  {}×{}×{}", part.kernel, kernels::tile_text(part.shape.tile, " T="),
                       part.shape.m, part.shape.k, part.shape.n);
}

bool are_two(const Session& session) { return session.pair.other.recording && session.recording; }

bool are_tallied(const Session& session) {
    const Pair& pair = session.pair;
    return are_two(session) && pair.a.tally && pair.b.tally && pair.a.serial == session.recording->serial &&
           pair.b.serial == pair.other.recording->serial;
}

void set_beside(Session& session, std::shared_ptr<const Recording> other) {
    Pair& pair = session.pair;
    if (!pair.wanted) pair.preset = -1, pair.launches.reset();  // a pair that was asked for comes after it
    pair.message.clear();
    pair.refused = false;
    set(pair.other, std::move(other));
}

bool open_counterpart(Session& session) {
    if (!session.recording || !session.recording->product) return false;
    const trace::Trace& trace = session.trace();
    const analysis::Product& product = *session.recording->product;
    const bool tiled = uses_shared(trace);
    ComparePreset::Part part{tiled ? "untiled" : "tiled", kernels::shape_of(product)};
    if (part.shape.tile == 0) part.shape.tile = 16;
    const BlockWindow& window = trace.meta.window;
    const auto& ship = session.assets.recordings();
    const auto found = std::ranges::find_if(ship, [&](const kernels::ShippedRecording& one) {
        return one.kernel == part.kernel && kernels::Shape{one.m, one.k, one.n, one.tile} == part.shape;
    });
    const bool whole = trace.blocks.size() == trace.launch.grid.count();
    part.shipped = whole && found != ship.end();
    const uint64_t trips = trace.blocks.size() * trace.launch.block.count() * part.shape.k;
    if (!part.shipped && trips > kQuickly) return false;
    session.pair.message.clear();
    session.pair.opening = session.jobs->start([part, whole, window, recordings = ship,
                                                a = session.recording](Control& control) {
        return open_both(
            a, [&] { return open_part(part, recordings, &control.stop, whole ? BlockWindow{} : window); });
    });
    return true;
}

void refuse(Pair& pair, const std::string& why) {
    if (!pair.message.empty() || why.empty() || pair.opening.begun()) return;
    pair.message = why;
    pair.refused = true;
}

bool ready_pair(Session& session, bool wait) {
    Pair& pair = session.pair;
    if (pair.swap) swap_now(session);
    if (pair.wanted) begin_opening(session);
    const auto both = pair.opening.take(wait);
    if (both && *both) {
        if (!session.recording || session.recording->serial != (*both)->a->serial) show(session, (*both)->a);
        set(pair.other, (*both)->b);
        pair.message.clear();
    } else if (both) {
        refuse(pair, both->error().message);
    }
    const bool opening = pair.opening.begun() || (session.opening && session.opening->beside);
    bool coming = update(session, wait) || opening;  // of a recording that has just come
    if (!are_two(session)) return coming;
    // Another recording was opened as A: the pair is not the one that was chosen, nor what was wrong with that.
    if (!both && !opening && pair.a.serial != 0 && pair.a.serial != session.recording->serial)
        pair.preset = -1, pair.launches.reset(), pair.message.clear();
    std::string said;
    coming = count(pair.other, *session.jobs, wait, said) || coming;
    coming = know(pair.a, session, *session.jobs, wait) || coming;
    coming = know(pair.b, pair.other, *session.jobs, wait) || coming;
    refuse(pair, why_not(session));
    return coming;
}

}  // namespace tilescope::session
