// The facts of lessons by name (model.h says what each is), conditions over them, and sentences that are
// filled with them. All of it is read off the recording at one step.
#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "app/draw/sheet.h"
#include "app/lessons/questions.h"
#include "app/look/request.h"
#include "app/look/shared_cells.h"
#include "app/look/sums.h"
#include "app/look/time_words.h"
#include "app/look/timeline.h"
#include "kernels/run/record.h"
#include "kernels/textbook/timings.h"

namespace tilescope::lessons {
namespace {

using Number = std::optional<uint64_t>;

kernels::Shape shape_of(const Scene& scene) {
    return scene.index.product ? kernels::shape_of(*scene.index.product) : kernels::Shape{0, 0, 0, 0};
}

const analysis::Summary& sums_of(Scene& scene) {
    if (!scene.sums) {
        auto counted = analysis::summarize(scene.trace);
        scene.sums = std::make_shared<analysis::Summary>(counted ? std::move(*counted) : analysis::Summary{});
    }
    return *scene.sums;
}

// Of the inputs, all of them together.
analysis::Reuse reuse_of(Scene& scene) {
    analysis::Reuse all{"", 0, 0, UINT64_MAX, 0};
    for (const analysis::Reuse& of : sums_of(scene).reuse) {
        all.elements += of.elements;
        all.loads += of.loads;
        all.min = std::min(all.min, of.min);
        all.max = std::max(all.max, of.max);
    }
    return all;
}

StepKind kind_of(const Scene& scene) { return look::kind_of(scene.trace, scene.index.first + scene.step); }
bool is_global(StepKind kind) { return kind == StepKind::GlobalLoad || kind == StepKind::GlobalStore; }
bool is_shared(StepKind kind) { return kind == StepKind::SharedLoad || kind == StepKind::SharedStore; }

draw::RequestView request_of(const Scene& scene) {
    return look::request_view(scene.trace, scene.index, scene.step);
}
uint64_t lanes_of(const Scene& scene) {
    return static_cast<uint64_t>(std::popcount(scene.trace.form_of(scene.index.first + scene.step).mask));
}

// A fact of a request that fits: what(RequestView); none of any other step.
template <bool (*Fits)(StepKind), class What>
Number of_request(const Scene& scene, What what) {
    if (!Fits(kind_of(scene))) return std::nullopt;
    return static_cast<uint64_t>(what(request_of(scene)));
}
bool is_request(StepKind kind) { return kind != StepKind::Barrier; }

uint64_t touched(const Scene& scene) {
    std::set<uint64_t> elements;
    look::for_elements(scene.trace, trace::decode(scene.trace, scene.index.first + scene.step),
                       [&](uint32_t, uint64_t element) { elements.insert(element); });
    return elements.size();
}

// Lanes of the request's warp that are switched off: in rows of the block of which no lane is on, or in
// others.
uint64_t outside(const draw::RequestView& request, const Dim3& block, bool whole_rows) {
    uint64_t lanes = 0;
    for (const draw::LaneView& lane : request.lanes) {
        const bool row_on = std::ranges::any_of(request.lanes, [&](const draw::LaneView& other) {
            return other.active && other.thread / block.x == lane.thread / block.x;
        });
        if (lane.exists && !lane.active && row_on != whole_rows) ++lanes;
    }
    return lanes;
}

uint64_t warps_here(const Scene& scene) {
    const trace::Trace& trace = scene.trace;
    const BlockIndex& index = scene.index;
    const uint32_t step = scene.step;
    std::set<uint32_t> warps;
    for (const uint32_t at : index.steps_of_site[trace.form_of(index.first + step).site])
        if (index.phase_at(at) == index.phase_at(step)) warps.insert(trace.warp_of(index.first + at));
    return warps.size();
}

uint64_t still_reading(const Scene& scene) {
    const trace::Trace& trace = scene.trace;
    const BlockIndex& index = scene.index;
    const uint32_t step = scene.step;
    std::set<uint32_t> warps;
    for (uint32_t at = step + 1; at < index.steps; ++at)
        if (look::kind_of(trace, index.first + at) == StepKind::SharedLoad &&
            index.phase_at(at) < index.phase_at(step))
            warps.insert(trace.warp_of(index.first + at));
    return warps.size();
}

uint64_t unfilled(const Scene& scene) {
    const trace::Trace& trace = scene.trace;
    const BlockIndex& index = scene.index;
    const uint32_t step = scene.step;
    std::set<std::pair<uint8_t, uint64_t>> cells;
    for (uint32_t at = index.steps; at-- > 0;) {  // what is stored later, less what is stored already
        if (index.phase_at(at) != index.phase_at(step)) continue;
        if (look::kind_of(trace, index.first + at) != StepKind::SharedStore) continue;
        const trace::Access access = trace::decode(trace, index.first + at);
        look::for_elements(trace, access, [&](uint32_t, uint64_t cell) {
            if (at > step)
                cells.emplace(access.array, cell);
            else
                cells.erase({access.array, cell});
        });
    }
    return cells.size();
}

// Counts the cells of all shared arrays for which what(cell) holds.
template <class What>
Number cells(Scene& scene, What what) {
    if (replay_of(scene) == nullptr) return std::nullopt;
    uint64_t count = 0;
    for (const uint8_t array : scene.index.shared) {
        const draw::Sheet sheet(scene.trace.launch.arrays[array]);
        const auto view = look::shared_view(scene.trace, scene.index, scene.replay.get(), array, scene.step,
                                            {0, sheet.rows, 0, sheet.cols});
        count += static_cast<uint64_t>(std::ranges::count_if(view.cells, what));
    }
    return count;
}

// The steps at which warps arrive at the barrier of this step; null of any other step.
const std::vector<uint32_t>* arrivals_of(const Scene& scene) {
    if (kind_of(scene) != StepKind::Barrier) return nullptr;
    const uint32_t interval = scene.index.phases.interval[scene.step];
    return interval < scene.index.arrivals.size() ? &scene.index.arrivals[interval] : nullptr;
}
Number arrived(const Scene& scene) {
    const auto* const all = arrivals_of(scene);
    if (all == nullptr) return std::nullopt;
    return static_cast<uint64_t>(std::ranges::upper_bound(*all, scene.step) - all->begin());
}

template <class What>
Number of_barrier(const Scene& scene, What what) {
    if (kind_of(scene) != StepKind::Barrier) return std::nullopt;
    const draw::BarrierTimes* const barrier = look::barrier_of_step(scene.index, scene.step);
    return barrier == nullptr ? Number() : what(*barrier);
}

uint64_t orders(const Scene& scene) {
    std::set<std::vector<uint32_t>> orders;
    for (const draw::BarrierTimes& barrier : scene.index.barriers) {
        std::vector<uint32_t> warps;
        for (const auto& arrival : barrier.arrivals) warps.push_back(arrival.warp);
        orders.insert(std::move(warps));
    }
    return orders.size();
}

// The words of the bank that has most of them, and that bank.
size_t worst_bank(const draw::RequestView& request) {
    return static_cast<size_t>(std::ranges::max_element(
                                   request.banks, {}, [](const auto& bank) { return bank.size(); }) -
                               request.banks.begin());
}

// Loads by lanes that go on to shared memory through no register: those of cp.async.
uint64_t copied(const trace::Trace& trace) {
    uint64_t loads = 0;
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const ptx::Site& site = trace.sites[trace.form_of(step).site];
        if (site.copy && site.kind == ptx::SiteKind::Load)
            look::for_elements(trace, trace::decode(trace, step), [&](uint32_t, uint64_t) { ++loads; });
    }
    return loads;
}

// Requests that read shared memory between a copy and the step behind which its block has waited for it.
Number read_meanwhile(const Scene& scene) {
    const auto copy = look::copy_of(scene.trace, scene.index, scene.step);
    if (!copy || !copy->behind) return std::nullopt;
    uint64_t requests = 0;
    for (uint32_t at = scene.step + 1; at < *copy->behind; ++at)
        requests += look::kind_of(scene.trace, scene.index.first + at) == StepKind::SharedLoad ? 1 : 0;
    return requests;
}

using S = Scene;
using R = draw::RequestView;
constexpr Fact kFacts[] = {
    {"m", [](S& s) -> Number { return shape_of(s).m; }},
    {"k", [](S& s) -> Number { return shape_of(s).k; }},
    {"n", [](S& s) -> Number { return shape_of(s).n; }},
    {"tile", [](S& s) -> Number { return shape_of(s).tile; }},
    {"products",
     [](S& s) -> Number {
         const kernels::Shape of = shape_of(s);
         return uint64_t{of.m} * of.k * of.n;
     }},
    {"patch", [](S& s) { return s.index.product ? Number(s.index.product->patch) : std::nullopt; }},
    {"threads", [](S& s) -> Number { return s.trace.launch.block.count(); }},
    {"blocks", [](S& s) -> Number { return s.trace.blocks.size(); }},
    {"grid_threads",
     [](S& s) -> Number { return s.trace.launch.grid.count() * s.trace.launch.block.count(); }},
    {"warps", [](S& s) -> Number { return s.index.warps; }},
    {"phases", [](S& s) -> Number { return s.index.phases.phases; }},
    {"last_phase", [](S& s) -> Number { return std::max(s.index.phases.phases, 1u) - 1; }},
    {"barriers", [](S& s) -> Number { return s.index.phases.barriers; }},
    {"elements", [](S& s) -> Number { return reuse_of(s).elements; }},
    {"loads", [](S& s) -> Number { return reuse_of(s).loads; }},
    {"least_loads", [](S& s) -> Number { return reuse_of(s).min; }},
    {"most_loads", [](S& s) -> Number { return reuse_of(s).max; }},
    {"load_sectors", [](S& s) -> Number { return sums_of(s).global_load.sectors; }},
    {"least_load_sectors", [](S& s) -> Number { return sums_of(s).global_load.ideal_sectors; }},
    {"shared_reads", [](S& s) -> Number { return sums_of(s).shared_load.lanes; }},
    {"copied", [](S& s) -> Number { return copied(s.trace); }},
    {"wrong",
     [](S& s) -> Number {
         const auto& result = s.trace.meta.result;
         return result.checked ? Number(result.wrong) : std::nullopt;
     }},
    {"speed",
     [](S& s) -> Number {
         const auto times = look::rival_times(s.trace.meta, s.index.product, kernels::shipped_timings());
         if (!times || times->overlap) return std::nullopt;
         return static_cast<uint64_t>(std::llround(100 * times->rival_ms / times->own_ms));
     }},

    {"step", [](S& s) -> Number { return uint64_t{s.step} + 1; }},
    {"line", [](S& s) -> Number { return request_of(s).line; }},
    {"phase", [](S& s) -> Number { return s.index.phase_at(s.step); }},
    {"warp", [](S& s) -> Number { return s.trace.warp_of(s.index.first + s.step); }},
    {"lanes", [](S& s) -> Number { return lanes_of(s); }},
    {"idle", [](S& s) -> Number { return kWarpSize - lanes_of(s); }},
    {"still_reading", [](S& s) -> Number { return still_reading(s); }},
    {"unfilled", [](S& s) -> Number { return unfilled(s); }},
    {"stale", [](S& s) { return cells(s, [](const auto& cell) { return cell.marked_stale(); }); }},
    {"zeros", [](S& s) { return cells(s, [](const auto& cell) { return cell.marked_zero(); }); }},

    {"touched", [](S& s) -> Number { return touched(s); }},
    {"row_words",
     [](S& s) {
         return of_request<is_request>(s, [&](const R& r) {
             return r.array == trace::kNoArray ? 0 : s.trace.launch.arrays[r.array].cols * r.bytes / 4;
         });
     }},
    {"lane_bytes", [](S& s) { return of_request<is_request>(s, [](const R& r) { return r.bytes; }); }},
    {"read_meanwhile", [](S& s) { return read_meanwhile(s); }},
    {"outside_by_row",
     [](S& s) {
         return of_request<is_request>(s, [&](const R& r) { return outside(r, s.trace.launch.block, true); });
     }},
    {"outside_by_column",
     [](S& s) {
         return of_request<is_request>(s,
                                       [&](const R& r) { return outside(r, s.trace.launch.block, false); });
     }},
    {"warps_here", [](S& s) -> Number { return warps_here(s); }},
    {"sectors",
     [](S& s) { return of_request<is_global>(s, [](const R& r) { return r.cost.global.sectors; }); }},
    {"least_sectors",
     [](S& s) { return of_request<is_global>(s, [](const R& r) { return r.cost.global.ideal_sectors; }); }},
    {"fetched",
     [](S& s) {
         return of_request<is_global>(
             s, [](const R& r) { return r.cost.global.sectors * analysis::kSectorBytes; });
     }},
    {"used",
     [](S& s) {
         return of_request<is_global>(s, [](const R& r) {
             uint64_t bytes = 0;
             for (const draw::SectorView& sector : r.sectors) bytes += sector.bytes_used;
             return bytes;
         });
     }},
    {"wavefronts",
     [](S& s) { return of_request<is_shared>(s, [](const R& r) { return r.cost.shared.wavefronts; }); }},
    {"least_wavefronts",
     [](S& s) {
         return of_request<is_shared>(s, [](const R& r) { return r.cost.shared.ideal_wavefronts; });
     }},
    {"words",
     [](S& s) {
         return of_request<is_shared>(s, [](const R& r) {
             size_t words = 0;
             for (const auto& bank : r.banks) words += bank.size();
             return words;
         });
     }},
    {"banks",
     [](S& s) {
         return of_request<is_shared>(s, [](const R& r) {
             return std::ranges::count_if(r.banks, [](const auto& bank) { return !bank.empty(); });
         });
     }},
    {"bank", [](S& s) { return of_request<is_shared>(s, worst_bank); }},
    {"overwritten",
     [](S& s) -> Number {
         if (kind_of(s) != StepKind::SharedLoad) return std::nullopt;
         return cells(s, [&](const auto& cell) {
             return cell.lanes != 0 && cell.held.written &&
                    s.index.phase_at(cell.held.step) > s.index.phase_at(s.step);
         });
     }},
    {"stale_read",
     [](S& s) -> Number {
         if (kind_of(s) != StepKind::SharedLoad) return std::nullopt;
         return cells(s, [](const auto& cell) { return cell.lanes != 0 && cell.stale; });
     }},

    {"barrier",
     [](S& s) -> Number {
         return kind_of(s) == StepKind::Barrier ? Number(s.index.phases.interval[s.step]) : std::nullopt;
     }},
    {"arrived", [](S& s) { return arrived(s); }},
    {"awaited",
     [](S& s) -> Number {
         const auto* const all = arrivals_of(s);
         return all == nullptr ? Number() : all->size() - *arrived(s);
     }},
    {"first_warp",
     [](S& s) {
         return of_barrier(s, [](const draw::BarrierTimes& b) -> Number { return b.arrivals.front().warp; });
     }},
    {"last_warp",
     [](S& s) { return of_barrier(s, [](const draw::BarrierTimes& b) -> Number { return b.last_warp; }); }},
    {"first_wait",
     [](S& s) {
         return of_barrier(s, [](const draw::BarrierTimes& b) -> Number { return b.opens - b.first; });
     }},
    {"orders",
     [](S& s) { return of_barrier(s, [&](const draw::BarrierTimes&) -> Number { return orders(s); }); }},
};

// Of the first or the last active lane of the step.
uint32_t lane_of(const Scene& scene, bool first) {
    const uint32_t mask = scene.trace.form_of(scene.index.first + scene.step).mask;
    return static_cast<uint32_t>(first ? std::countr_zero(mask) : 31 - std::countl_zero(mask)) % kWarpSize;
}
std::string thread_of_lane(const Scene& scene, bool first) {
    const uint32_t warp = scene.trace.warp_of(scene.index.first + scene.step);
    return thread_name(scene.trace.launch.block, warp * kWarpSize + lane_of(scene, first),
                       scene.index.notation);
}
std::string element_of_lane(const Scene& scene, bool first) {
    const trace::Access access = trace::decode(scene.trace, scene.index.first + scene.step);
    if (access.array == trace::kNoArray) return "";
    const Array& array = scene.trace.launch.arrays[access.array];
    return element_name(
        array,
        static_cast<int64_t>(access.offset[lane_of(scene, first)] / std::max(array.element_bytes(), 1u)),
        scene.index.notation);
}

std::string mark_words(const draw::CellMark& mark) { return fmt::format("{} ({})", mark.looks, mark.means); }

struct Word {
    std::string_view name;
    std::string (*at)(const Scene&);  // "": the step has no such thing
};
constexpr Word kWords[] = {
    {"array",
     [](const Scene& s) {
         const uint8_t array = s.trace.form_of(s.index.first + s.step).array;
         return array == trace::kNoArray ? "" : name_in(s.index.notation, s.trace.launch.arrays[array]);
     }},
    {"thread", [](const Scene& s) { return thread_of_lane(s, true); }},
    {"element", [](const Scene& s) { return element_of_lane(s, true); }},
    {"last_thread", [](const Scene& s) { return thread_of_lane(s, false); }},
    {"last_element", [](const Scene& s) { return element_of_lane(s, false); }},
    {"rival", [](const Scene& s) { return std::string(look::rival_of(s.trace.meta.kernel)); }},
    {"device", [](const Scene& s) { return s.trace.meta.device; }},
    {"fault", [](const Scene& s) { return s.trace.meta.incomplete_reason; }},
    {"result", [](const Scene& s) { return look::result_text(s.trace, s.index.notation); }},
    {"mark_stale", [](const Scene&) { return mark_words(draw::kStaleMark); }},
    {"mark_zero", [](const Scene&) { return mark_words(draw::kZeroMark); }},
};

// What stands for a name in braces; "" where the step has no such thing.
std::string filled(Scene& scene, std::string_view name) {
    const auto word = std::ranges::find(kWords, name, &Word::name);
    if (word != std::end(kWords)) return word->at(scene);
    const Fact* const fact = find_fact(name);
    const Number number = fact == nullptr || scene.step >= scene.index.steps ? Number() : fact->at(scene);
    if (!number) return "";
    const bool phase = name == "phase" || name == "last_phase";
    return grouped(*number + (phase && scene.index.notation.phases_from_1 ? 1 : 0));
}

}  // namespace

const playback::BlockReplay* replay_of(Scene& scene) {
    if (!scene.replay) {
        auto replayer = kernels::Replayer::of(scene.trace);
        auto replay = std::make_shared<playback::BlockReplay>(scene.trace, scene.index.block);
        if (!replayer || !replayer->replay(scene.trace, scene.index.block, *replay)) return nullptr;
        replay->finish();
        scene.replay = std::move(replay);
    }
    return scene.replay.get();
}

const Fact* find_fact(std::string_view name) {
    const auto found = std::ranges::find(kFacts, name, &Fact::name);
    return found == std::end(kFacts) ? nullptr : &*found;
}

bool can_say(std::string_view name) {
    return find_fact(name) != nullptr || std::ranges::find(kWords, name, &Word::name) != std::end(kWords);
}

Result<Condition> read_condition(std::string_view text, const Modelled* over) {
    Condition condition{.text = std::string(text)};
    const size_t first = text.find(' '), second = text.find(' ', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos)
        return Error{fmt::format("its condition '{}' is not NAME OP NAME or NAME OP NUMBER", text)};
    const std::string_view left = text.substr(0, first), right = text.substr(second + 1);
    condition.op = text.substr(first + 1, second - first - 1);
    constexpr std::string_view kOps[] = {"=", "!=", "<", "<=", ">", ">="};
    if (std::ranges::find(kOps, condition.op) == std::end(kOps))
        return Error{fmt::format("its condition '{}' compares by none of = != < <= > >=", text)};
    const auto [end, bad] = std::from_chars(right.data(), right.data() + right.size(), condition.number);
    const bool number = bad == std::errc() && end == right.data() + right.size();
    bool knows_left = false, knows_right = number;
    if (over != nullptr) {
        condition.left_name = left;
        if (!number) condition.right_name = right;
        knows_left = number_at(*over, left).has_value();
        knows_right = number || number_at(*over, right).has_value();
    } else {
        condition.left = find_fact(left);
        condition.right = find_fact(right);
        knows_left = condition.left != nullptr;
        knows_right = number || condition.right != nullptr;
    }
    if (!knows_left || !knows_right)
        return Error{fmt::format("its condition '{}' names '{}', which is {}", text,
                                 knows_left ? right : left,
                                 over == nullptr ? "no fact" : "none of " + names_of(*over))};
    return condition;
}

namespace {

template <class T>
bool compares(const std::optional<T>& left, const std::string& op, const std::optional<T>& right) {
    if (!left || !right) return false;
    if (op == "=") return *left == *right;
    if (op == "!=") return *left != *right;
    if (op == "<") return *left < *right;
    if (op == "<=") return *left <= *right;
    return op == ">" ? *left > *right : *left >= *right;
}

}  // namespace

bool holds(const Condition& condition, Scene& scene) {
    return compares(condition.left->at(scene), condition.op,
                    condition.right == nullptr ? Number(condition.number) : condition.right->at(scene));
}

bool holds(const Condition& condition, const Modelled& of) {
    const std::optional<double> number = static_cast<double>(condition.number);
    return compares(number_at(of, condition.left_name), condition.op,
                    condition.right_name.empty() ? number : number_at(of, condition.right_name));
}

std::string renamed(std::string_view text, const Notation& notation) {
    const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    std::string out;
    while (!text.empty()) {
        const auto end = static_cast<size_t>(std::ranges::find_if_not(text, in_word) - text.begin());
        const std::string_view word = text.substr(0, std::max<size_t>(end, 1));
        const auto other =
            std::ranges::find(notation.renamed, word, &std::pair<std::string, std::string>::first);
        out += other == notation.renamed.end() ? word : other->second;
        text.remove_prefix(word.size());
    }
    return out;
}

std::string said(Scene& scene, const std::string& say) {
    std::string out;
    for (size_t at = 0; at < say.size();) {
        const size_t open = say.find('{', at), close = say.find('}', open);
        if (open == std::string::npos || close == std::string::npos)
            return out + renamed(say.substr(at), scene.index.notation);
        out += renamed(say.substr(at, open - at), scene.index.notation);
        const std::string name = say.substr(open + 1, close - open - 1), text = filled(scene, name);
        out += text.empty() ? "{" + name + "}" : text;
        at = close + 1;
    }
    return out;
}

}  // namespace tilescope::lessons
