#include "core/playback/replay.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

namespace tilescope::playback {
namespace {

float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }

}  // namespace

struct BlockReplay::Index {
    // Values of the active lanes, step after step: those of step s start at first_value[s].
    std::vector<uint32_t> first_value;
    std::vector<uint32_t> values;

    std::vector<SharedStore> stores;  // all shared arrays, by step

    struct Loads {
        uint32_t step = 0;
        uint32_t total = 0;  // lane loads of the cell up to and including this step
    };
    struct Cell {
        std::vector<uint32_t> stores;  // indexes into Index::stores
        std::vector<Loads> loads;
    };
    std::vector<std::vector<Cell>> cells;  // [array][element], empty for global arrays

    struct Sum {
        uint32_t after_step = 0;
        float value = 0;
        simt::Origin chain = 0;
    };
    std::vector<std::vector<Sum>> sums;  // per thread, by step

    struct Output {
        simt::Origin sum = 0;
        uint64_t element = 0;
    };
    std::vector<std::vector<Output>> outputs;          // per thread, in the order of its stores
    std::unordered_map<uint64_t, uint32_t> thread_of;  // output element -> thread
};

BlockReplay::BlockReplay(const trace::Trace& trace, uint32_t block)
    : trace_(trace), block_(block), index_(std::make_shared<Index>()) {
    const size_t threads =
        std::min<size_t>(trace.meta.block.count(), size_t{trace::kMaxWarpsPerBlock} * kWarpSize);
    index_->sums.resize(threads);
    index_->outputs.resize(threads);
    index_->cells.resize(trace.arrays.size());
    for (size_t i = 0; i < trace.arrays.size(); ++i)
        if (trace.arrays[i].space == Space::Shared)
            index_->cells[i].resize(size_t{trace.arrays[i].rows} * trace.arrays[i].cols);
}

BlockReplay::~BlockReplay() = default;

uint32_t BlockReplay::steps() const { return static_cast<uint32_t>(index_->first_value.size()); }

void BlockReplay::on_barrier(uint32_t, uint32_t, uint32_t) {
    index_->first_value.push_back(static_cast<uint32_t>(index_->values.size()));
}

void BlockReplay::on_request(const simt::Request& request) {
    Index& index = *index_;
    const uint32_t step = steps();
    index.first_value.push_back(static_cast<uint32_t>(index.values.size()));
    for (uint32_t rest = request.mask; rest != 0; rest &= rest - 1)
        index.values.push_back(request.value ? request.value[std::countr_zero(rest)] : 0);
    if (step >= trace_.blocks[block_].count) return;  // beyond a recording that is not whole

    const trace::Access access = trace::decode(trace_, trace_.blocks[block_].first + step);
    if (access.array == trace::kNoArray) return;
    const Array& array = trace_.arrays[access.array];
    const ptx::Site& site = trace_.sites[access.site];
    const bool store = site.kind == ptx::SiteKind::Store;
    const uint64_t width = array.element_bytes;
    if (width == 0 || (array.space == Space::Global && !store)) return;

    for (uint32_t rest = request.mask & access.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
        const uint32_t thread = request.warp * kWarpSize + lane;
        const uint64_t first = access.offset[lane] / width;
        const simt::Origin origin = store && request.origin ? request.origin[lane] : 0;
        if (array.space == Space::Global) {
            if (array.role != ArrayRole::Output || thread >= index.outputs.size()) continue;
            index.outputs[thread].push_back({origin, first});
            index.thread_of[first] = thread;
            continue;
        }
        auto& cells = index.cells[access.array];
        const uint64_t last = (access.offset[lane] + std::max(site.bytes, 1u) - 1) / width;
        for (uint64_t element = first; element <= last && element < cells.size(); ++element) {
            Index::Cell& cell = cells[element];
            if (store) {
                // Of a vector only the first element's value is known.
                const bool known = element == first;
                cell.stores.push_back(static_cast<uint32_t>(index.stores.size()));
                SharedStore put{step, thread, access.array, element};
                put.value = known && request.value ? as_float(request.value[lane]) : NAN;
                put.origin = known ? origin : simt::kComputed;
                find_source(put);
                index.stores.push_back(put);
            } else if (!cell.loads.empty() && cell.loads.back().step == step) {
                ++cell.loads.back().total;
            } else {
                cell.loads.push_back({step, cell.loads.empty() ? 1 : cell.loads.back().total + 1});
            }
        }
    }
}

void BlockReplay::on_product(const simt::Product& product) {
    ProductStep p;
    p.after_step = steps() == 0 ? 0 : steps() - 1;
    p.warp = product.warp;
    p.mask = product.mask;
    for (uint32_t rest = product.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
        p.a[lane] = product.a[lane];
        p.b[lane] = product.b[lane];
        p.result[lane] = product.result[lane];
        p.a_value[lane] = product.a_value[lane];
        p.b_value[lane] = product.b_value[lane];
        p.sum[lane] = product.sum[lane];
        const uint32_t thread = product.warp * kWarpSize + lane;
        if (thread < index_->sums.size())
            index_->sums[thread].push_back({p.after_step, p.sum[lane], p.result[lane]});
    }
    products_.push_back(p);
}

void BlockReplay::finish() {
    // Of a thread's sums keep those that reach its output, where it has one: products on the way to
    // something else are no part of its running sum.
    for (size_t thread = 0; thread < index_->sums.size(); ++thread) {
        if (index_->outputs[thread].empty()) continue;
        auto& sums = index_->sums[thread];
        const simt::Origin chain = index_->outputs[thread].back().sum;
        const auto reaches = [&](const Index::Sum& sum) { return sum.chain == chain; };
        if (!std::any_of(sums.begin(), sums.end(), reaches)) continue;
        std::erase_if(sums, [&](const Index::Sum& sum) { return !reaches(sum); });
    }
    index_->values.shrink_to_fit();
    products_.shrink_to_fit();
}

float BlockReplay::value(uint32_t step, uint32_t lane) const {
    if (step >= steps() || step >= trace_.blocks[block_].count || lane >= kWarpSize) return 0;
    const uint32_t begin = index_->first_value[step];
    const size_t end = step + 1 < steps() ? index_->first_value[step + 1] : index_->values.size();
    const uint32_t mask = trace_.form_of(trace_.blocks[block_].first + step).mask;
    if (begin == end || !(mask >> lane & 1)) return 0;
    const size_t at = begin + static_cast<size_t>(std::popcount(mask & ((1u << lane) - 1)));
    return at < end ? as_float(index_->values[at]) : 0;
}

Factor BlockReplay::touched(uint32_t step, uint32_t lane) const {
    if (step >= steps() || step >= trace_.blocks[block_].count || lane >= kWarpSize) return {};
    const trace::Access access = trace::decode(trace_, trace_.blocks[block_].first + step);
    if (access.array == trace::kNoArray || !(access.mask >> lane & 1)) return {};
    const uint64_t width = std::max(trace_.arrays[access.array].element_bytes, 1u);
    return {access.array, access.offset[lane] / width, value(step, lane), step};
}

Factor BlockReplay::factor(simt::Origin origin, uint32_t, uint32_t lane) const {
    if (origin == 0 || (origin & simt::kComputed)) return {};
    return touched(origin - 1, lane);
}

const BlockReplay::SharedStore* BlockReplay::last_store(uint8_t array, uint64_t element,
                                                        uint32_t step) const {
    const auto& stores = index_->cells[array][element].stores;
    const auto after = std::upper_bound(stores.begin(), stores.end(), step, [&](uint32_t s, uint32_t store) {
        return s < index_->stores[store].step;
    });
    return after == stores.begin() ? nullptr : &index_->stores[*(after - 1)];
}

// A value moved from one shared cell to another has the source of that cell's value, found before.
void BlockReplay::find_source(SharedStore& store) const {
    const Factor loaded = factor(store.origin, store.thread / kWarpSize, store.thread % kWarpSize);
    if (loaded.array == trace::kNoArray) return;
    if (trace_.arrays[loaded.array].space == Space::Global) {
        store.source_array = loaded.array;
        store.source_index = loaded.index;
    } else if (loaded.index < index_->cells[loaded.array].size()) {
        if (const SharedStore* from = last_store(loaded.array, loaded.index, loaded.step)) {
            store.source_array = from->source_array;
            store.source_index = from->source_index;
        }
    }
}

CellState BlockReplay::cell(uint8_t array, uint64_t element, uint32_t step) const {
    CellState state;
    if (array >= index_->cells.size() || element >= index_->cells[array].size()) return state;
    const Index::Cell& cell = index_->cells[array][element];

    if (const SharedStore* store = last_store(array, element, step)) {
        state.written = true;
        state.value = store->value;
        state.step = store->step;
        state.thread = store->thread;
        state.source_array = store->source_array;
        state.source_index = store->source_index;
    }
    const auto loads_up_to = [&](uint32_t s) -> uint32_t {
        const auto next = std::upper_bound(cell.loads.begin(), cell.loads.end(), s,
                                           [](uint32_t v, const Index::Loads& l) { return v < l.step; });
        return next == cell.loads.begin() ? 0 : (next - 1)->total;
    };
    state.reads = loads_up_to(step) - (state.written ? loads_up_to(state.step) : 0);
    return state;
}

CellState BlockReplay::cell_read(uint32_t step, uint32_t lane) const {
    const Factor read = touched(step, lane);
    if (read.array == trace::kNoArray || trace_.arrays[read.array].space != Space::Shared) return {};
    return cell(read.array, read.index, step);
}

std::optional<float> BlockReplay::running_sum(uint32_t thread, uint32_t step) const {
    if (thread >= index_->sums.size()) return {};
    const auto& sums = index_->sums[thread];
    const auto next = std::upper_bound(sums.begin(), sums.end(), step,
                                       [](uint32_t s, const Index::Sum& sum) { return s < sum.after_step; });
    if (next == sums.begin()) return {};
    return (next - 1)->value;
}

std::optional<uint64_t> BlockReplay::output_of(uint32_t thread) const {
    if (thread >= index_->outputs.size() || index_->outputs[thread].empty()) return {};
    return index_->outputs[thread].back().element;
}

std::optional<uint64_t> BlockReplay::output_of_sum(uint32_t thread, simt::Origin sum) const {
    if (thread >= index_->outputs.size()) return {};
    for (const Index::Output& output : index_->outputs[thread])
        if (output.sum == sum) return output.element;
    return {};
}

std::optional<uint32_t> BlockReplay::thread_of_output(uint64_t element) const {
    const auto found = index_->thread_of.find(element);
    if (found == index_->thread_of.end()) return {};
    return found->second;
}

const std::vector<BlockReplay::SharedStore>& BlockReplay::shared_stores() const { return index_->stores; }

}  // namespace tilescope::playback
