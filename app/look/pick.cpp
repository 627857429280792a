#include "app/look/pick.h"

#include <algorithm>
#include <bit>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/draw/sheet.h"
#include "core/analysis/banks.h"
#include "core/base/contents.h"

namespace tilescope::look {
namespace {

using playback::Element;

struct ThreadLoads {
    uint32_t lanes = 0;  // lane loads of the element by this block
    uint32_t first_step = 0;
    std::set<uint32_t> threads;
    bool whole = true;  // all loads of the block were looked at
};
constexpr uint64_t kMostRequests = 20'000;  // global loads that are looked at

// Finds what belongs to a pick and says it.
class Teller {
public:
    Teller(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
           uint32_t step)
        : trace_(trace), index_(index), replay_(replay), step_(step) {}

    Relations about(const Pick& pick) {
        const auto& arrays = trace_.launch.arrays;
        const bool element = pick.array < arrays.size() && pick.index < arrays[pick.array].elements();
        const Element of{pick.array, pick.index};
        if (pick.kind == Pick::Kind::Thread && pick.thread < trace_.launch.block.count())
            tell_thread(pick.thread);
        if (pick.kind == Pick::Kind::Warp) tell_warp(pick.warp);
        if (pick.kind == Pick::Kind::Element && element) tell_element(of);
        if (pick.kind == Pick::Kind::SharedCell && element) tell_shared(of);
        if (pick.kind == Pick::Kind::Site && pick.site < trace_.sites.size())
            tell_line(trace_.sites[pick.site]);
        return std::move(to_);
    }

private:
    template <class... Args>
    void say(fmt::format_string<Args...> text, Args&&... args) {
        to_.lines.push_back(fmt::format(text, std::forward<Args>(args)...));
    }
    const Array& array_of(const Element& element) const { return trace_.launch.arrays[element.array]; }
    std::string name_of(const Element& element) const {
        return element_name(array_of(element), static_cast<int64_t>(element.index), index_.notation);
    }
    std::string name_of_array(uint8_t array) const {
        return name_in(index_.notation, trace_.launch.arrays[array]);
    }
    std::string name_of_thread(uint32_t thread) const {
        return thread_name(trace_.launch.block, thread, index_.notation);
    }
    CellRect light(const Element& element) {
        to_.cells.emplace_back(element.array, draw::cell_on_sheet(array_of(element), element.index));
        return to_.cells.back().second;
    }

    // An element that a thread stores; of a product with the row of M and the column of N behind it.
    void tell_output(const Element& element, const char* verb) {
        const CellRect cell = light(element);
        const auto& product = index_.product;
        if (!product || !product->is_output(element.array)) return say("{}{}", verb, name_of(element));
        to_.cells.emplace_back(product->M, CellRect{cell.row0, cell.row1, 0, product->k});
        to_.cells.emplace_back(product->N, CellRect{0, product->k, cell.col0, cell.col1});
        say("{} = row {} of {} times column {} of {}", name_of(element), cell.row0, name_of_array(product->M),
            cell.col0, name_of_array(product->N));
    }

    // The elements of P that a thread owns, with the rows of M and the columns of N behind them.
    void tell_patch(uint32_t thread) {
        const analysis::Product& product = *index_.product;
        const std::vector<CellRect>& patch = index_.patches[thread];
        uint64_t elements = 0;
        for (const CellRect& rect : patch) {
            elements += uint64_t{rect.rows()} * rect.cols();
            to_.cells.emplace_back(product.P, rect);
            for (const auto& behind : {std::pair(product.M, CellRect{rect.row0, rect.row1, 0, product.k}),
                                       std::pair(product.N, CellRect{0, product.k, rect.col0, rect.col1})})
                if (std::ranges::find(to_.cells, behind) == to_.cells.end()) to_.cells.push_back(behind);
        }
        const std::string where = patch_text(trace_, index_, thread);
        if (patch.size() == 1) return say("computes {}: {}", where, counted(elements, "element"));
        say("computes {} in {} patches, the first {}", counted(elements, "element"), patch.size(), where);
    }

    // What a thread touches at this step, and what it loads from global memory in this phase, each with the
    // shared cell that it puts it into.
    void tell_accesses(uint32_t thread) {
        constexpr size_t kMost = 4;  // loads that are named
        const uint32_t lane = thread % kWarpSize;
        if (step_ < index_.steps) {
            const trace::Access access = trace::decode(trace_, index_.first + step_);
            if (access.warp == thread / kWarpSize)
                for_elements(trace_, index_.first + step_, access, [&](uint32_t of, uint64_t element) {
                    if (of == lane) light({access.array, element});
                });
        }
        const auto& steps = index_.steps_of_warp[thread / kWarpSize];
        const uint32_t phase = index_.phase_at(step_);
        std::vector<std::string> loads;
        std::vector<Element> loaded;
        size_t more = 0;
        for (const uint32_t step : steps) {
            if (index_.phase_at(step) != phase) continue;
            const StepKind kind = kind_of(trace_, index_.first + step);
            if (kind != StepKind::GlobalLoad && kind != StepKind::SharedStore) continue;
            for_elements(trace_, index_.first + step, [&](uint32_t of, uint64_t at) {
                if (of != lane) return;
                const uint8_t array = trace_.form_of(index_.first + step).array;
                if (kind == StepKind::GlobalLoad) {
                    if (!loaded.empty() && goes_on({array, at}, loaded.back())) return;
                    loaded.push_back({array, at});
                    if (loads.size() == kMost) return void(++more);
                    return loads.push_back(name_of({array, at}));
                }
                if (replay_ == nullptr) return;
                const auto source = replay_->cell(array, at, step).source;
                const auto from = std::ranges::find(loaded, source) - loaded.begin();
                if (from < std::ssize(loads))
                    loads[static_cast<size_t>(from)] += " into " + name_of({array, at});
            });
        }
        if (loads.empty()) return;
        const std::string in =
            index_.spans.size() > 1 && phase != analysis::kAfter ? phase_name(phase, index_.notation) : "";
        say("{}loads {}{}", in.empty() ? "" : in + ": ", fmt::join(loads, ", "),
            more > 0 ? fmt::format(" and {} more", grouped(more)) : "");
    }

    // Whether an element is a further part of the member of a struct that begins with another one.
    bool goes_on(const Element& part, const Element& first) const {
        if (part.array != first.array || part.index <= first.index) return false;
        const Array& array = array_of(part);
        if (!goes_on_member(array, part.index)) return false;
        const auto into = static_cast<uint32_t>((part.index - first.index) * array.element_bytes());
        return struct_place(array, static_cast<int64_t>(part.index)).offset ==
               member_of(array, part.index)->offset + into;
    }

    // All that a thread stores: "stores out[5,7], out[13,7], out[21,7] and out[29,7]".
    void tell_stores(uint32_t thread) {
        constexpr size_t kMost = 4;  // that are named
        const auto stored =
            stored_by(trace_, index_, thread / kWarpSize, 1u << (thread % kWarpSize), std::nullopt).by_lane;
        std::vector<std::string> names;
        Element named;
        for (const auto& [lane, element] : stored) {
            light(element);
            if (goes_on(element, named)) continue;
            named = element;
            names.push_back(name_of(element));
        }
        say("stores {}", listed(names, kMost));
    }

    void tell_thread(uint32_t thread) {
        to_.threads.push_back(thread);
        say("{}: warp {}, lane {}", name_of_thread(thread), thread / kWarpSize, thread % kWarpSize);
        const auto output = output_of(index_, thread);
        if (!output) {
            tell_accesses(thread);
            if (!index_.product) return say("It stores to no array.");
            return say("It has no element of {}: it lies beyond the matrix, and only loads for others.",
                       name_of_array(index_.product->P));
        }
        if (thread < index_.patches.size())
            tell_patch(thread);
        else if (index_.product)
            tell_output(*output, "stores ");
        else
            tell_stores(thread);
        tell_accesses(thread);
        if (thread < index_.patches.size()) return;  // it has a sum for each of them
        if (replay_ == nullptr) return;
        if (const auto sum = replay_->running_sum(thread, step_))
            say("its sum so far: {}", short_value(*sum));
        else if (index_.product)
            say("no product added yet");
    }

    // As the source panel counts: all that the line does.
    void tell_line(const ptx::Site& of) {
        const uint32_t line = shown_line(trace_, of);
        uint64_t so_far = 0, all = 0;
        for (const ptx::Site& site : trace_.sites) {
            if (shown_line(trace_, site) != line) continue;
            so_far += hits_so_far(index_, site.id, step_);
            all += index_.steps_of_site[site.id].size();
        }
        const bool barrier = of.kind == ptx::SiteKind::Barrier;
        const char* const what = barrier                              ? "arrival"
                                 : of.kind == ptx::SiteKind::Exchange ? "exchange"
                                                                      : "request";
        say("line {}: {}{} by this block so far, {} in all", line, counted(so_far, what),
            barrier ? " of warps" : "", grouped(all));
    }

    // What a warp's threads store to an array: in this phase, where they store anything in it.
    void tell_stores_of_warp(uint32_t warp, uint8_t output) {
        const StoredElements stored = stored_by(trace_, index_, warp, ~0u, step_);
        ElementBox box;
        std::set<uint64_t> elements;
        for (const auto& [lane, element] : stored.by_lane) {
            if (element.array != output || !elements.insert(element.index).second) continue;
            light(element);
            box.include(position_of(array_of(element), static_cast<int64_t>(element.index)));
        }
        if (elements.empty()) return;
        const uint32_t phase = index_.phase_at(step_);
        const std::string in =
            stored.of_phase && phase != analysis::kAfter ? phase_name(phase, index_.notation) + ": " : "";
        const std::string text = elements_text(trace_.launch.arrays[output], box, index_.notation);
        const uint64_t all = static_cast<uint64_t>(box.last.slice - box.first.slice + 1) *
                             static_cast<uint64_t>(box.last.row - box.first.row + 1) *
                             static_cast<uint64_t>(box.last.col - box.first.col + 1);
        if (elements.size() == all) return say("{}stores {}", in, text);
        say("{}stores {} within {}", in, counted(elements.size(), "element"), text);
    }

    void tell_warp(uint32_t warp) {
        CellRect owned;
        ElementBox box;
        uint8_t output = trace::kNoArray;  // that its threads store to
        const uint64_t end =
            std::min<uint64_t>(trace_.launch.block.count(), (uint64_t{warp} + 1) * kWarpSize);
        for (uint32_t thread = warp * kWarpSize; thread < end; ++thread) {
            to_.threads.push_back(thread);
            const auto element = output_of(index_, thread);
            if (!element || (output != trace::kNoArray && output != element->array)) continue;
            output = element->array;
            if (thread < index_.patches.size())
                for (const CellRect& rect : index_.patches[thread]) {
                    owned.include(rect);
                    box.include({0, rect.row0, rect.col0});
                    box.include({0, int64_t{rect.row1} - 1, int64_t{rect.col1} - 1});
                }
            owned.include(draw::cell_on_sheet(array_of(*element), element->index));
            box.include(position_of(array_of(*element), static_cast<int64_t>(element->index)));
        }
        if (to_.threads.empty()) return;
        say("warp {}: {} to {}", warp, name_of_thread(to_.threads.front()),
            thread_index(trace_.launch.block, to_.threads.back(), index_.notation));
        if (owned.empty()) return;
        if (!index_.product) return tell_stores_of_warp(warp, output);
        to_.cells.emplace_back(output, owned);
        say("computes {}", elements_text(trace_.launch.arrays[output], box, index_.notation));
    }

    // An element of P whose thread owns others too.
    void tell_owned(const Element& element) {
        tell_output(element, "");
        const CellRect cell = draw::cell_on_sheet(array_of(element), element.index);
        const auto thread = owner_of(index_, cell.row0, cell.col0);
        if (!thread) return say("Another block computes it.");
        tell_thread(*thread);
        if (replay_ == nullptr) return;
        if (const auto sum = replay_->running_sum(element, step_))
            say("its sum so far: {}", short_value(*sum));
        else
            say("no product added yet");
    }

    void tell_element(const Element& element) {
        const Array& array = array_of(element);
        if (!index_.patches.empty() && element.array == index_.product->P) return tell_owned(element);
        const auto last = std::ranges::find(index_.output, element);
        std::optional<uint32_t> owner;
        if (last != index_.output.end())
            owner = static_cast<uint32_t>(last - index_.output.begin());
        else if (array.writes() && !index_.product)
            owner = storer_of(trace_, index_, element);
        if (array.writes() && owner) {
            const bool several = !index_.product && stored_by(trace_, index_, *owner / kWarpSize,
                                                              1u << (*owner % kWarpSize), std::nullopt)
                                                            .by_lane.size() > 1;
            if (several) tell_output(element, "");
            tell_thread(*owner);
            if (!several) std::swap(to_.lines[0], to_.lines[1]);
            return;
        }
        // A thread may store several elements: whose the others are is known with the values.
        constexpr uint32_t kNobody = playback::kNever;
        uint32_t thread = kNobody;
        if (array.writes() && replay_ != nullptr)
            thread = replay_->thread_of_output(element).value_or(kNobody);
        if (!array.reads()) {
            tell_output(element, "");
            if (thread == kNobody)
                return say("{}",
                           index_.product ? "Another block computes it." : "This block does not store it.");
            to_.threads.push_back(thread);
            return say("stored by {}", name_of_thread(thread));
        }
        light(element);
        say("{} = {}", name_of(element), short_value(initial_value(array, element.index)));
        const ThreadLoads loads = loads_of(element);
        to_.threads.assign(loads.threads.begin(), loads.threads.end());
        if (loads.lanes > 0)
            say("loaded {}{} by {} step {}", loads.whole ? "" : "at least ", times_in_words(loads.lanes),
                loads.threads.size() == 1
                    ? name_of_thread(to_.threads[0]) + ", at"
                    : counted(loads.threads.size(), "thread") + " of this block, first at",
                grouped(loads.first_step + 1));
        else if (loads.whole)
            say("This block does not load it.");
        else
            say("None of the first {} global loads of this block loads it.", grouped(kMostRequests));
        if (thread != kNobody) say("stored by {}", name_of_thread(thread));
        if (replay_ == nullptr) return;
        for (const uint8_t shared : index_.shared)
            for (uint64_t cell = 0; cell < trace_.launch.arrays[shared].elements(); ++cell) {
                const playback::CellState state = replay_->cell(shared, cell, step_);
                if (!state.written || state.source != element) continue;
                light({shared, cell});
                say("now in {}, read {} from there", name_of({shared, cell}), times_in_words(state.reads));
            }
    }

    // Who in the block loaded an element of a global array.
    ThreadLoads loads_of(const Element& element) const {
        ThreadLoads loads;
        std::vector<uint32_t> steps;  // of the sites that load from global memory, in order
        for (const ptx::Site& site : trace_.sites) {
            if (site.kind != ptx::SiteKind::Load || site.space != Space::Global) continue;
            const std::vector<uint32_t>& of_site = index_.steps_of_site[site.id];
            const auto before = static_cast<std::ptrdiff_t>(steps.size());
            steps.insert(steps.end(), of_site.begin(),
                         of_site.begin() + static_cast<std::ptrdiff_t>(
                                               std::min<uint64_t>(of_site.size(), kMostRequests + 1)));
            std::inplace_merge(steps.begin(), steps.begin() + before, steps.end());
        }
        loads.whole = steps.size() <= kMostRequests;
        if (!loads.whole) steps.resize(kMostRequests);
        for (const uint32_t step : steps) {
            const uint64_t at = index_.first + step;
            if (trace_.form_of(at).array != element.array) continue;
            const trace::Access access = trace::decode(trace_, at);
            for_elements(trace_, at, access, [&](uint32_t lane, uint64_t touched) {
                if (touched != element.index) return;
                if (loads.lanes++ == 0) loads.first_step = step;
                loads.threads.insert(access.warp * kWarpSize + lane);
            });
        }
        return loads;
    }

    void tell_shared(const Element& cell) {
        const Array& tile = array_of(cell);
        light(cell);
        const std::string name = name_of(cell), bank = fmt::format("bank {}", bank_of(tile, cell.index));
        const auto state =
            replay_ == nullptr ? playback::CellState{} : replay_->cell(cell.array, cell.index, step_);
        if (!state.written) {
            say("{}, {}", name, bank);
            return say("{}", replay_ == nullptr ? "Its values are being worked out."
                                                : "Nothing has been stored here yet.");
        }
        to_.threads.push_back(state.thread);
        say("{} = {}, {}", name, short_value(state.value), bank);
        std::string from = "a computed value";
        if (state.source.array != trace::kNoArray) {
            from = name_of(state.source);
            light(state.source);
        } else if (number_of(state.value) == 0) {
            from = index_.product ? "a zero, for an element outside the matrix" : "a zero";
        }
        say("holds {}", from);
        say("stored by {} at step {}", name_of_thread(state.thread), grouped(state.step + 1));
        say("read {} since", times_in_words(state.reads));
    }

    const trace::Trace& trace_;
    const BlockIndex& index_;
    const playback::BlockReplay* const replay_;
    const uint32_t step_;
    Relations to_;
};

}  // namespace

uint64_t bank_of(const Array& shared, uint64_t element) {
    return (shared.base + element * shared.element_bytes()) / analysis::kBankBytes % analysis::kBanks;
}

Relations relations(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay* replay,
                    const Pick& pick, uint32_t step) {
    return Teller(trace, index, replay, step).about(pick);
}

Pick same_pick(const trace::Trace& from, const trace::Trace& to, const Pick& pick) {
    using Kind = Pick::Kind;
    Pick same = pick;
    switch (pick.kind) {
        case Kind::Thread: {
            const Dim3 &a = from.launch.block, &b = to.launch.block;
            const uint32_t width = std::max(a.x, 1u), height = std::max(a.y, 1u);
            const uint32_t x = pick.thread % width, y = pick.thread / width % height,
                           z = pick.thread / width / height;
            if (x >= b.x || y >= b.y || z >= b.z) return {};
            same.thread = (z * b.y + y) * b.x + x;
            same.warp = same.thread / kWarpSize;
            return same;
        }
        case Kind::Warp: return uint64_t{pick.warp} * kWarpSize < to.launch.block.count() ? same : Pick{};
        case Kind::Element:
        case Kind::SharedCell: {
            if (pick.array >= from.launch.arrays.size()) return {};
            const Array& array = from.launch.arrays[pick.array];
            const auto other = std::ranges::find_if(to.launch.arrays, [&](const Array& a) {
                return a.name == array.name && a.space == array.space;
            });
            const Position at = position_of(array, static_cast<int64_t>(pick.index));
            if (other == to.launch.arrays.end() || at.slice >= other->slices || at.row >= other->rows ||
                at.col >= other->cols)
                return {};
            same.array = static_cast<uint8_t>(other - to.launch.arrays.begin());
            same.index = static_cast<uint64_t>((at.slice * other->rows + at.row) * other->cols + at.col);
            return same;
        }
        case Kind::Block: return pick.block < to.blocks.size() ? same : Pick{};
        case Kind::None:
        case Kind::Site: break;
    }
    return {};
}

uint32_t spoken_lane(const RequestView& request, const Pick& hover, const Pick& pin) {
    for (const Pick& pick : {hover, pin})
        if (pick.kind == Pick::Kind::Thread && pick.thread / kWarpSize == request.warp)
            return pick.thread % kWarpSize;
    return request.mask == 0 ? 0 : static_cast<uint32_t>(std::countr_zero(request.mask));
}

}  // namespace tilescope::look
