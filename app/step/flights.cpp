#include "app/step/flights.h"

#include <algorithm>
#include <bit>

#include "app/look/exchange.h"

namespace tilescope::step {
namespace {

using playback::BlockReplay;
using playback::Element;
using playback::MultiplyStep;

// The element of an output that a lane's product ends in.
Element output_of(const BlockReplay& replay, const MultiplyStep& made, uint32_t lane) {
    return replay.output_of_sum(made.warp * kWarpSize + lane, made.result[lane]).value_or(Element{});
}

void add_products(std::vector<Flight>& all, const BlockReplay& replay, uint32_t step) {
    const auto products = std::ranges::equal_range(replay.products(), step, {}, &MultiplyStep::after_step);
    const auto count = static_cast<float>(products.size());
    // One takes a third of the time at least, however many there are.
    const float takes = std::max(1 / 3.f, 1 / std::max(count, 1.f));
    float number = 0;
    for (const MultiplyStep& made : products) {
        const float leaves = count > 1 ? (1 - takes) * number++ / (count - 1) : 0;
        for_lanes(made.mask, [&](uint32_t lane) {
            const Element to = output_of(replay, made, lane);
            if (to.array == trace::kNoArray) return;
            for (const simt::Origin origin : {made.a[lane], made.b[lane]}) {
                const playback::Factor factor = replay.factor(origin, lane);
                if (factor.known() && all.size() < kMostFlights)
                    all.push_back({factor.element, to, factor.value, true, leaves, leaves + takes,
                                   made.warp * kWarpSize + lane, factor.step});
            }
        });
    }
}

// A sum more of what arrived in an array.
void add(std::vector<FlightSums::Into>& all, uint8_t array, bool products, uint32_t step, uint64_t count) {
    auto into = std::ranges::find(all, array, &FlightSums::Into::array);
    if (into == all.end()) into = all.insert(all.end(), {array, products, {}, {}});
    const uint64_t before = into->sums.empty() ? 0 : into->sums.back();
    if (into->steps.empty() || into->steps.back() != step) {
        into->steps.push_back(step);
        into->sums.push_back(before);
    }
    into->sums.back() += count;
}

}  // namespace

std::vector<Flight> flights(const trace::Trace& trace, const look::BlockIndex& index,
                            const BlockReplay& replay, uint32_t step) {
    std::vector<Flight> all;
    if (step >= index.steps) return all;
    if (look::kind_of(trace, index.first + step) == analysis::StepKind::SharedStore) {
        const trace::Access access = trace::decode(trace, index.first + step);
        const bool later = trace.sites[access.site].lands_later();
        if (later)  // the cells hold something else yet
            for (const BlockReplay::Store& store :
                 std::ranges::equal_range(replay.shared_stores(), step, {}, &BlockReplay::Store::step))
                if (store.source.array != trace::kNoArray && all.size() < kMostFlights)
                    all.push_back({store.source, store.to, store.value});
        look::for_elements(trace, index.first + step, access, [&](uint32_t, uint64_t cell) {
            if (later) return;
            const playback::CellState held = replay.cell(access.array, cell, step);
            if (held.source.array != trace::kNoArray && all.size() < kMostFlights)
                all.push_back({held.source, {access.array, cell}, held.value});
        });
    }
    add_products(all, replay, step);
    return all;
}

namespace {

// What lanes of a shuffle get, on its way from the thread that gives it.
std::vector<Flight> exchanged(const trace::Trace& trace, const look::BlockIndex& index,
                              const BlockReplay& replay, uint32_t step) {
    std::vector<Flight> all;
    const look::ExchangeView view = look::exchange_view(trace, index, nullptr, step);
    const uint64_t first = uint64_t{trace.warp_of(index.first + step)} * kWarpSize;
    const ElementType type = index.exchanged[trace.form_of(index.first + step).site];
    for_lanes(view.moved(), [&](uint32_t lane) {
        Value value = replay.value(step, lane);
        if (size_of(type) == size_of(value.type)) value.type = type;
        all.push_back({{kOfThreads, first + view.from[lane]}, {kOfThreads, first + lane}, value});
    });
    return all;
}

}  // namespace

std::vector<Flight> loads_to_threads(const trace::Trace& trace, const look::BlockIndex& index,
                                     const BlockReplay& replay, uint32_t step) {
    std::vector<Flight> all;
    if (step >= index.steps) return all;
    const analysis::StepKind kind = look::kind_of(trace, index.first + step);
    if (kind == analysis::StepKind::Exchange) return exchanged(trace, index, replay, step);
    if (kind != analysis::StepKind::GlobalLoad) return all;
    const trace::Access access = trace::decode(trace, index.first + step);
    if (access.array == trace::kNoArray) return all;
    uint32_t last = kWarpSize, part = 0;  // a vector load brings several elements to a lane
    look::for_elements(trace, index.first + step, access, [&](uint32_t lane, uint64_t element) {
        part = lane == last ? part + 1 : 0;
        last = lane;
        if (all.size() < kMostFlights)
            all.push_back({{access.array, element},
                           {kOfThreads, uint64_t{access.warp} * kWarpSize + lane},
                           replay.value(step, lane, part)});
    });
    return all;
}

std::vector<Flight> reads_to_threads(const trace::Trace& trace, const look::BlockIndex& index,
                                     const BlockReplay& replay, uint32_t step) {
    std::vector<Flight> all;
    if (step >= index.steps || !index.product) return all;
    if (look::kind_of(trace, index.first + step) != analysis::StepKind::SharedLoad) return all;
    if (!std::ranges::equal_range(replay.products(), step, {}, &MultiplyStep::after_step).empty()) return all;
    const trace::Access access = trace::decode(trace, index.first + step);
    if (access.array == trace::kNoArray) return all;
    uint32_t last = kWarpSize;
    look::for_elements(trace, index.first + step, access, [&](uint32_t lane, uint64_t element) {
        if (lane != last)  // the first part of a vector
            all.push_back({{access.array, element},
                           {kOfThreads, uint64_t{access.warp} * kWarpSize + lane},
                           replay.value(step, lane)});
        last = lane;
    });
    return all;
}

std::optional<size_t> followed(const std::vector<Flight>& all, std::optional<uint32_t> pinned) {
    std::vector<size_t> pairs;  // the first factors of whole products
    for (size_t i = 0; i + 1 < all.size(); ++i)
        if (all[i].product && all[i + 1].product && all[i].to == all[i + 1].to &&
            all[i].thread == all[i + 1].thread && all[i].leaves == all[i + 1].leaves)
            pairs.push_back(i++);
    if (pairs.empty()) return std::nullopt;
    // Those of the earliest products alone: where they overlap with later ones, none can be followed.
    const float first = all[pairs.front()].leaves;
    for (const size_t pair : pairs)
        if (all[pair].leaves > first && all[pair].leaves < all[pairs.front()].arrives) return std::nullopt;
    std::erase_if(pairs, [&](size_t pair) { return all[pair].leaves != first; });
    if (pinned)
        for (const size_t pair : pairs)
            if (all[pair].thread == *pinned) return pair;
    return pairs.size() <= 4 ? pairs.front() : pairs[pairs.size() / 2];
}

std::vector<Landing> landings(const std::vector<Flight>& all) {
    std::vector<Landing> made;
    for (const Flight& flight : all)
        if (flight.to.array != kOfThreads) made.push_back({flight.to, flight.arrives});
    const auto element = [](const Landing& of) { return std::pair(of.to.array, of.to.index); };
    std::ranges::sort(made, [&](const Landing& a, const Landing& b) {
        return element(a) != element(b) ? element(a) < element(b) : a.arrives > b.arrives;
    });
    const auto again = std::ranges::unique(
        made, [&](const Landing& a, const Landing& b) { return element(a) == element(b); });
    made.erase(again.begin(), again.end());
    return made;
}

FlightSums flight_sums(std::shared_ptr<const BlockReplay> replay) {
    FlightSums made{std::move(replay), {}};
    for (const BlockReplay::Store& store : made.of->shared_stores())
        if (store.source.array != trace::kNoArray) add(made.into, store.to.array, false, store.step, 1);
    for (const MultiplyStep& product : made.of->products()) {
        // All lanes of a multiplication go into one array.
        const auto lane = static_cast<uint32_t>(std::countr_zero(product.mask));
        const Element to = output_of(*made.of, product, lane);
        if (to.array != trace::kNoArray)
            add(made.into, to.array, true, product.after_step,
                static_cast<uint64_t>(std::popcount(product.mask)));
    }
    return made;
}

uint64_t arrived(const FlightSums::Into& into, uint32_t first, uint32_t end) {
    const auto before = [&](uint32_t step) -> uint64_t {
        const auto at = std::ranges::lower_bound(into.steps, step);
        return at == into.steps.begin() ? 0 : into.sums[static_cast<size_t>(at - into.steps.begin()) - 1];
    };
    return first < end ? before(end) - before(first) : 0;
}

double ReadingTime::seconds(std::string_view caption) {
    std::string form;
    double words = caption.empty() ? 0 : 1;
    for (const char c : caption) {
        if (c == ' ') ++words;
        const bool number = (c >= '0' && c <= '9') || c == ',' || c == '.';
        if (!number) form += c;
    }
    const bool known = std::ranges::count(seen_, form) > 0;
    if (!known) seen_.push_back(form);
    return std::max(kLeast, words / kWordsPerSecond / (known ? 3 : 1));
}

}  // namespace tilescope::step
