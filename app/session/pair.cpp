#include "app/session/pair.h"

#include <algorithm>
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
    pair.opening.stop();
    if (pair.launches) {
        std::string of;
        if (session.program) session.program->opened = pair.launches->a, of = session.program->name;
        pair.opening = session.jobs->start([launches = *pair.launches, of](Control&) {
            const auto read = [&](const std::string& path, uint64_t number) {
                return read_recording(path, fmt::format("{}, launch {}", of, grouped(number)));
            };
            return open_both(read(launches.path_a, launches.a),
                             [&] { return read(launches.path_b, launches.b); });
        });
        return;
    }
    pair.opening = session.jobs->start([&preset = compare_presets()[static_cast<size_t>(pair.preset)],
                                        recordings = session.assets.recordings()](Control& control) {
        return open_both(open_part(preset.a, recordings, &control.stop),
                         [&] { return open_part(preset.b, recordings, &control.stop); });
    });
}

// Why the two cannot be shown; until another pair is chosen.
void refuse(Pair& pair, std::string why) {
    pair.refused = pair.refused || pair.message != why;
    pair.message = std::move(why);
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

// One that holds nothing cannot be stood in; the list says so.
void refuse_empty(Session& session) {
    for (const char letter : {'A', 'B'}) {
        const Recording& one = letter == 'A' ? *session.recording : *session.pair.other.recording;
        if (one.trace->steps() > 0) continue;
        refuse(session.pair,
               fmt::format("{} ({}) holds no step; choose another recording.", letter, one.origin));
    }
}

// Lane trips of an inner loop that are recorded while nobody notices the wait: 4 blocks of 1,024 x 1,024 are a
// million.
constexpr uint64_t kQuickly = 1u << 22;

}  // namespace

std::span<const ComparePreset> compare_presets() { return kPresets; }

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

bool ready_pair(Session& session, bool wait) {
    Pair& pair = session.pair;
    if (pair.swap) swap_now(session);
    if (pair.wanted) begin_opening(session);
    const auto both = pair.opening.take(wait);
    if (both && *both) {
        if (!session.recording || session.recording->serial != (*both)->a->serial) show(session, (*both)->a);
        set(pair.other, (*both)->b);
    } else if (both) {
        refuse(pair, both->error().message);
    }
    bool coming = pair.opening.begun() || (session.opening && session.opening->beside);
    coming = update(session, wait) || coming;  // of a recording that has just come
    if (!are_two(session)) return coming;
    if (!pair.opening.begun()) refuse_empty(session);
    // Another recording was opened as A: the pair is not the one that was chosen.
    if (pair.a.serial != 0 && pair.a.serial != session.recording->serial && !coming)
        pair.preset = -1, pair.launches.reset();
    std::string trouble = pair.message;
    coming = count(pair.other, *session.jobs, wait, trouble) || coming;
    if (trouble != pair.message) refuse(pair, trouble);
    coming = know(pair.a, session, *session.jobs, wait) || coming;
    coming = know(pair.b, pair.other, *session.jobs, wait) || coming;
    for (const Tallied* known : {&pair.a, &pair.b})
        if (!known->no_tally.empty()) refuse(pair, known->no_tally + ".");
    return coming;
}

}  // namespace tilescope::session
