#include "app/step/buffers.h"

#include <algorithm>

#include "app/draw/sheet.h"

namespace tilescope::step {
namespace {

constexpr size_t kMostBuffers = 8;
constexpr uint32_t kMostSteps = 1u << 20;  // a block of more is not looked through

}  // namespace

std::string_view words_of(BufferState state) {
    switch (state) {
        case BufferState::Free: return "free";
        case BufferState::Arriving: return "arriving";
        case BufferState::Next: return "next";
        case BufferState::ReadNow: return "read now";
    }
    return "";
}

std::vector<Buffer> buffers_of(const trace::Trace& trace, const look::BlockIndex& index, uint8_t array) {
    const Array& shape = trace.launch.arrays[array];
    if (shape.rank < 2 || index.steps > kMostSteps) return {};
    // The stretches are made of rows, or of the slices of an array of three dimensions.
    const uint64_t unit = shape.rank == 3 ? uint64_t{shape.rows} * shape.cols : shape.cols;
    const uint32_t units = shape.rank == 3 ? shape.slices : shape.rows;
    if (unit == 0 || units < 2) return {};
    // Of a step that touches the array: which rows or slices, ascending.
    std::vector<uint32_t> touched;
    const auto find_touched = [&](uint64_t at) {
        touched.clear();
        look::for_elements(trace, at, [&](uint32_t, uint64_t element) {
            const uint64_t one = element / unit;
            if (one < units && (touched.empty() || touched.back() != one))
                touched.push_back(static_cast<uint32_t>(one));
        });
        std::ranges::sort(touched);
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    };
    std::vector<uint32_t> steps;                                    // that touch it
    std::vector<std::vector<uint32_t>> filled(units), read(units);  // phases, ascending
    // A phase behind the first that fills all of them is soon found where there is one buffer.
    std::vector<bool> again(units);  // filled in the second phase
    uint32_t filled_again = 0;
    for (uint32_t step = 0; step < index.steps; ++step) {
        const uint64_t at = index.first + step;
        if (trace.form_of(at).array != array) continue;
        steps.push_back(step);
        const bool stores = look::kind_of(trace, at) == look::StepKind::SharedStore;
        auto& phases = stores ? filled : read;
        find_touched(at);
        const uint32_t phase = index.phase_at(step);
        for (const uint32_t one : touched) {
            if (phases[one].empty() || phases[one].back() != phase) phases[one].push_back(phase);
            if (!stores || phase != 1 || again[one]) continue;
            again[one] = true;
            if (++filled_again == units) return {};
        }
    }
    for (auto* const all_phases : {&filled, &read})
        for (std::vector<uint32_t>& phases : *all_phases) {  // the warps of a block are not all in one phase
            std::ranges::sort(phases);
            phases.erase(std::unique(phases.begin(), phases.end()), phases.end());
        }
    std::vector<Buffer> all;
    std::vector<uint32_t> starts;
    for (uint32_t one = 0; one < units; ++one)
        if (one == 0 || filled[one] != filled[one - 1]) starts.push_back(one);
    if (starts.size() < 2 || starts.size() > kMostBuffers) return {};
    const uint32_t high = starts[1];
    for (size_t i = 0; i < starts.size(); ++i)
        if (starts[i] != i * high || filled[starts[i]].empty()) return {};
    if (units != starts.size() * high) return {};
    // Each is filled, or read, in a phase in which no other is: rows at an edge, which the last phase leaves as they
    // were, are no buffer.
    const auto alone = [&](const std::vector<std::vector<uint32_t>>& phases, size_t i) {
        return std::ranges::any_of(phases[starts[i]], [&](uint32_t phase) {
            return std::ranges::count_if(starts, [&](uint32_t of) {
                       return std::ranges::binary_search(phases[of], phase);
                   }) == 1;
        });
    };
    for (size_t i = 0; i < starts.size(); ++i)
        if (!alone(filled, i) && !alone(read, i)) return {};

    const draw::Sheet sheet(shape);
    for (const uint32_t first : starts) {
        look::CellRect part = sheet.cell(first * unit);
        part.include(sheet.cell((uint64_t{first} + high) * unit - 1));
        all.push_back({part, {}, {}, {}});
    }
    for (const uint32_t step : steps) {
        find_touched(index.first + step);
        const look::StepKind kind = look::kind_of(trace, index.first + step);
        for (const uint32_t one : touched) {
            Buffer& buffer = all[one / high];
            if (kind != look::StepKind::SharedStore) {
                if (buffer.reads.empty() || buffer.reads.back() != step) buffer.reads.push_back(step);
            } else if (buffer.stores.empty() || buffer.stores.back() != step) {
                buffer.stores.push_back(step);
                buffer.lands.push_back(index.landings.visible_from(step).value_or(index.steps));
            }
        }
    }
    return all;
}

BufferState state_at(const Buffer& buffer, uint32_t step) {
    // The latest of each at or before the step, and the first behind it.
    const auto stored = std::ranges::upper_bound(buffer.stores, step);
    const auto read = std::ranges::upper_bound(buffer.reads, step);
    const bool any_stored = stored != buffer.stores.begin(), any_read = read != buffer.reads.begin();
    const uint32_t last_store = any_stored ? *std::prev(stored) : 0,
                   last_read = any_read ? *std::prev(read) : 0;
    const uint32_t next_store = stored == buffer.stores.end() ? UINT32_MAX : *stored,
                   next_read = read == buffer.reads.end() ? UINT32_MAX : *read;
    if (!any_stored) return BufferState::Free;
    if (any_read && last_read > last_store)
        return last_read == step || next_read < next_store ? BufferState::ReadNow : BufferState::Free;
    if (next_store < next_read) return BufferState::Arriving;
    const auto first =
        std::ranges::upper_bound(buffer.stores, any_read ? last_read : 0) - buffer.stores.begin();
    const auto end = stored - buffer.stores.begin();
    for (auto i = first; i < end; ++i)
        if (buffer.lands[static_cast<size_t>(i)] > step) return BufferState::Arriving;
    return BufferState::Next;
}

}  // namespace tilescope::step
