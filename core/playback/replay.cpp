#include "core/playback/replay.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "core/ptx/matrix.h"
#include "core/trace/access.h"
#include "core/trace/claims.h"

namespace tilescope::playback {
namespace {

constexpr uint64_t kStepBytes = 18;   // of what is kept for each step
constexpr uint64_t kCellBytes = 128;  // of a cell's entry in the tables, beside the store

}  // namespace

struct BlockReplay::Cell {
    struct Loads {
        uint32_t step = 0;
        uint32_t total = 0;  // lane loads of the cell up to and including this step
    };
    struct StoreAt {
        uint32_t step = 0;   // from which on a load finds it; of a copy not its own
        uint32_t store = 0;  // index into Index::stores or global_stores
    };
    std::vector<StoreAt> stores;
    std::vector<Loads> loads;  // of shared cells
};

struct BlockReplay::Index {
    // Values of the active lanes as they lie in memory: those of step s start at first_value[s].
    std::vector<uint64_t> first_value;
    std::vector<uint8_t> values;
    std::vector<uint8_t> part_bytes;  // by step: of one register of a vector access; 0 for barriers

    std::vector<Store> stores;  // to shared arrays, by step
    // The stores of a copy whose bytes have not arrived, by its step.
    std::unordered_map<uint32_t, std::pair<uint32_t, uint32_t>> coming;
    std::vector<Store> global_stores;  // to global arrays, by step
    // Of copies in bulk: what is read at a step, and the latest such step of each warp.
    std::unordered_map<uint32_t, std::vector<simt::RequestPiece>> pieces;
    std::unordered_map<uint32_t, uint32_t> read_by;

    std::vector<std::vector<Cell>> cells;                          // [shared array][element]
    std::vector<std::unordered_map<uint64_t, Cell>> global_cells;  // [global array], those stored to

    struct Sum {
        uint32_t after_step = 0;
        Value value;
        simt::Origin chain = 0;
    };
    std::vector<std::vector<Sum>> sums;            // per thread, by chain where there are several, then step
    std::vector<std::vector<uint32_t>> sum_steps;  // their after_step, close together for the search
    // Of the sum that ends in an output: [first, end) of its thread's.
    struct Chain {
        uint32_t thread = 0, first = 0, end = 0;
    };

    struct Output {
        simt::Origin sum = 0;
        Element element;
    };
    std::vector<std::vector<Output>> outputs;                       // per thread, in the order of its stores
    std::vector<std::unordered_map<uint64_t, uint32_t>> thread_of;  // [array]: element -> thread
    std::vector<std::unordered_map<uint64_t, Chain>> chain_of;      // [array]: element -> its sum
    std::vector<Chain> last_chain;                                  // by thread: of what it stores last

    std::optional<Value> sum_at(const Chain& chain, uint32_t step) const {
        if (chain.thread >= sum_steps.size()) return {};  // before finish(): none
        const auto begin = sum_steps[chain.thread].begin();
        const auto first = begin + chain.first, next = std::upper_bound(first, begin + chain.end, step);
        if (next == first) return {};
        return sums[chain.thread][static_cast<size_t>(next - begin) - 1].value;
    }
};

BlockReplay::BlockReplay(const trace::Trace& trace, uint32_t block)
    : BlockReplay(trace, block, trace::memory_left(trace) / 2) {}

BlockReplay::BlockReplay(const trace::Trace& trace, uint32_t block, uint64_t most_bytes)
    : trace_(trace), block_(block), most_bytes_(most_bytes), index_(std::make_shared<Index>()) {
    const std::vector<Array>& arrays = trace.launch.arrays;
    const size_t threads =
        std::min<size_t>(trace.launch.block.count(), size_t{trace::kMaxWarpsPerBlock} * kWarpSize);
    index_->sums.resize(threads);
    index_->outputs.resize(threads);
    index_->cells.resize(arrays.size());
    index_->global_cells.resize(arrays.size());
    index_->thread_of.resize(arrays.size());
    index_->chain_of.resize(arrays.size());
    index_->last_chain.resize(threads);
    for (size_t i = 0; i < arrays.size(); ++i)
        if (arrays[i].space == Space::Shared) index_->cells[i].resize(arrays[i].elements());
}

BlockReplay::~BlockReplay() = default;

uint32_t BlockReplay::steps() const { return static_cast<uint32_t>(index_->first_value.size()); }

void BlockReplay::on_barrier(uint32_t, uint32_t, uint32_t) {
    if (full()) return;
    bytes_ += kStepBytes;
    index_->first_value.push_back(index_->values.size());
    index_->part_bytes.push_back(0);
}

namespace {

// The value that a lane stores at an element, so many bytes behind the first one that it stores to: of the whole
// member of a struct where it stores all of that.
Value value_among(const simt::Request& request, uint32_t lane, const Array& array, uint64_t element,
                  uint64_t at) {
    std::array<std::byte, 64> bytes{};
    const uint64_t one = request.element_bytes, all = one * request.elements;
    if (!request.value || all > bytes.size() || at + array.element_bytes() > all)
        return {bits_of_size(array.element_bytes()), 0};
    for (uint32_t part = 0; part < request.elements; ++part)
        std::memcpy(bytes.data() + part * one, &request.value[part * kWarpSize + lane], one);
    return value_at(type_at(array, element, all - at), bytes.data() + at);
}

}  // namespace

// A copy in bulk: element by element, each with the lane that asked for it.
void BlockReplay::keep_box(const simt::Request& request, const trace::Access& access) {
    Index& index = *index_;
    const uint32_t step = steps() - 1;
    const Array& array = trace_.launch.arrays[access.array];
    const ptx::Site& site = trace_.sites[access.site];
    const bool shared = array.space == Space::Shared, store = ptx::writes(site.kind),
               updates = site.atomic != ptx::Atomic::None;
    const uint64_t width = array.element_bytes();
    const auto first_store = static_cast<uint32_t>(index.stores.size());
    for (const simt::RequestPiece& piece : request.pieces) {
        if (piece.address < array.base || full()) continue;
        const uint64_t begin = piece.address - array.base, end = begin + piece.bytes;
        bytes_ += (piece.bytes / width + 1) * (store ? sizeof(Store) + kCellBytes : sizeof(Cell::Loads) * 2);
        for (uint64_t element = (begin + width - 1) / width;
             (element + 1) * width <= end && element < array.elements(); ++element) {
            if (!store) {
                std::vector<Cell::Loads>& loads = index.cells[access.array][element].loads;
                loads.push_back({step, loads.empty() ? 1 : loads.back().total + 1});
                continue;
            }
            const uint64_t at = element * width - begin;
            Store made{step, request.warp * kWarpSize + piece.lane, {access.array, element}, {}, 0, 0, {}};
            made.value = value_at(type_at(array, element, width), piece.data + at);
            // Of the copy's other step, or with what lay there.
            made.origin = updates ? simt::kComputed : index.read_by[request.warp] + 1;
            made.into = piece.place + static_cast<uint32_t>(at);
            find_source(made);
            std::vector<Store>& stores = shared ? index.stores : index.global_stores;
            if (!shared) {
                index.global_cells[access.array][element].stores.push_back(
                    {step, static_cast<uint32_t>(stores.size())});
                if (array.writes()) index.thread_of[access.array][element] = made.thread;
            }
            stores.push_back(made);
        }
    }
    if (store && shared) index.coming[step] = {first_store, static_cast<uint32_t>(index.stores.size())};
}

void BlockReplay::on_request(const simt::Request& request) {
    if (full()) return;
    Index& index = *index_;
    const uint32_t step = steps();
    bytes_ += kStepBytes + uint64_t{request.elements} * request.element_bytes * (request.returned ? 2 : 1) *
                               static_cast<uint64_t>(std::popcount(request.mask));
    index.first_value.push_back(index.values.size());
    index.part_bytes.push_back(static_cast<uint8_t>(request.element_bytes));
    const auto bits_of = [&](uint32_t lane, uint32_t part) {
        return request.value ? request.value[part * kWarpSize + lane] : 0;
    };
    for_lanes(request.mask, [&](uint32_t lane) {
        for (uint32_t part = 0; part < request.elements; ++part) {
            const uint64_t bits = bits_of(lane, part);
            const auto* bytes = reinterpret_cast<const uint8_t*>(&bits);
            index.values.insert(index.values.end(), bytes, bytes + request.element_bytes);
        }
        if (!request.returned) return;
        const auto* bytes = reinterpret_cast<const uint8_t*>(&request.returned[lane]);
        index.values.insert(index.values.end(), bytes, bytes + request.element_bytes);
    });
    if (step >= trace_.blocks[block_].count) return;  // beyond a recording that is not whole

    const trace::Access access = trace::decode(trace_, trace_.blocks[block_].first + step);
    if (access.array == trace::kNoArray) return;
    const Array& array = trace_.launch.arrays[access.array];
    const ptx::Site& site = trace_.sites[access.site];
    if (site.box != ptx::Box::None) {
        if (ptx::reads(site.kind)) {
            index.read_by[request.warp] = step;
            index.pieces[step].assign(request.pieces.begin(), request.pieces.end());
        }
        if (array.space == Space::Shared || ptx::writes(site.kind)) keep_box(request, access);
        return;
    }
    if (!ptx::asks_memory(site.kind)) return;
    const bool store = ptx::writes(site.kind), shared = array.space == Space::Shared;
    if (!shared && !store) return;
    const bool later = site.lands_later();
    const auto first_store = static_cast<uint32_t>(index.stores.size());
    const uint64_t width = array.element_bytes();

    bytes_ += static_cast<uint64_t>(std::popcount(request.mask)) * request.elements *
              (store ? sizeof(Store) + kCellBytes : sizeof(Cell::Loads) * 2);
    for_lanes(request.mask & access.mask, [&](uint32_t lane) {
        const uint32_t thread = request.warp * kWarpSize + lane;
        const uint64_t first = access.offset[lane] / width;
        const uint64_t last = (access.offset[lane] + std::max(site.bytes, 1u) - 1) / width;
        // Whole elements, one a part: then every part's value is an element's.
        const bool whole = request.element_bytes == width && access.offset[lane] % width == 0;
        for (uint64_t element = first; element <= last && element < array.elements(); ++element) {
            const auto part = static_cast<uint32_t>(whole ? element - first : 0);
            if (!store) {
                std::vector<Cell::Loads>& loads = index.cells[access.array][element].loads;
                if (!loads.empty() && loads.back().step == step)
                    ++loads.back().total;
                else
                    loads.push_back({step, loads.empty() ? 1 : loads.back().total + 1});
                continue;
            }
            Store made{step, thread, {access.array, element}, {array.type, bits_of(lane, part)}, 0, 0, {}};
            if (!whole) made.value = {bits_of_size(request.element_bytes), bits_of(lane, 0)};
            if (array.members.of && access.offset[lane] % width == 0)
                made.value = value_among(request, lane, array, element, (element - first) * width);
            const uint64_t at = access.offset[lane] % width == 0 ? (element - first) * width : 0;
            const uint64_t one = std::max(request.element_bytes, 1u);
            const uint64_t from = std::min<uint64_t>(at / one, std::max(request.elements, 1u) - 1);
            made.origin = !request.origin ? 0 : request.origin[from * kWarpSize + lane];
            made.into = static_cast<uint32_t>(at % one);
            // The upper element of a pair that was computed is a sum of its own.
            if ((made.origin & simt::kComputed) && width == 2 && one == 4 && made.into == 2)
                made.origin |= simt::kUpperHalf;
            find_source(made);
            std::vector<Store>& stores = shared ? index.stores : index.global_stores;
            Cell& cell =
                shared ? index.cells[access.array][element] : index.global_cells[access.array][element];
            if (!later) cell.stores.push_back({step, static_cast<uint32_t>(stores.size())});
            stores.push_back(made);
            if (!shared && array.writes() && thread < index.outputs.size()) {
                index.outputs[thread].push_back({made.origin, made.to});
                index.thread_of[access.array][element] = thread;
            }
        }
    });
    if (later) index.coming[step] = {first_store, static_cast<uint32_t>(index.stores.size())};
}

void BlockReplay::on_exchange(const simt::Exchange& exchange) {
    if (full()) return;
    Index& index = *index_;
    if (exchange.product != nullptr) keep_product(*exchange.product);
    bytes_ += kStepBytes + uint64_t{2} * exchange.bytes * static_cast<uint64_t>(std::popcount(exchange.mask));
    index.first_value.push_back(index.values.size());
    index.part_bytes.push_back(0);
    for_lanes(exchange.mask, [&](uint32_t lane) {
        for (const uint64_t* column : {exchange.got, exchange.given}) {
            const uint64_t bits = column ? column[lane] : 0;
            const auto* bytes = reinterpret_cast<const uint8_t*>(&bits);
            index.values.insert(index.values.end(), bytes, bytes + exchange.bytes);
        }
    });
}

void BlockReplay::keep_product(const simt::MatrixProduct& product) {
    const ptx::MatrixForm& form = *product.form;
    MatrixStep made;
    made.step = steps(), made.form = form;
    uint64_t bytes = sizeof made;
    for (size_t role = 0; role < made.value.size(); ++role) {
        const size_t count = form.registers(static_cast<ptx::MatrixRole>(role)) * size_t{kWarpSize};
        made.value[role].assign(product.value[role], product.value[role] + count);
        if (role < made.origin.size())
            made.origin[role].assign(product.origin[role], product.origin[role] + count);
        bytes += count * (sizeof(uint64_t) + sizeof(simt::Origin));
    }
    if (bytes_ + bytes > most_bytes_ / 2) return;  // the rest is for what all panels show
    bytes_ += bytes;
    matrix_steps_.push_back(std::move(made));
}

uint64_t MatrixStep::bits(ptx::MatrixRole role, const ptx::FragmentPlace& held) const {
    const uint32_t each = ptx::bits_of(form.type(role));
    const uint64_t word = value[static_cast<size_t>(role)][size_t{held.index} * kWarpSize + held.lane];
    return each >= 64 ? word : word >> held.element * each & ((uint64_t{1} << each) - 1);
}

const MatrixStep* BlockReplay::matrix_step(uint32_t step) const {
    const auto found = std::ranges::lower_bound(matrix_steps_, step, {}, &MatrixStep::step);
    return found == matrix_steps_.end() || found->step != step ? nullptr : &*found;
}

void BlockReplay::on_arrival(uint32_t step) {
    if (full()) return;
    const auto found = index_->coming.find(step);
    if (found == index_->coming.end()) return;
    for (uint32_t i = found->second.first; i < found->second.second; ++i) {
        const Element& to = index_->stores[i].to;
        index_->cells[to.array][to.index].stores.push_back({steps(), i});
    }
    index_->coming.erase(found);
}

void BlockReplay::on_multiplication(const simt::Multiplication& m) {
    if (full()) return;
    bytes_ += sizeof(MultiplyStep) + static_cast<uint64_t>(std::popcount(m.mask)) * sizeof(Index::Sum);
    MultiplyStep& made = products_.emplace_back();
    made.after_step = steps() == 0 ? 0 : steps() - 1;
    made.warp = m.warp;
    made.mask = m.mask;
    made.factor_type = m.factor_type;
    made.sum_type = m.sum_type;
    for_lanes(m.mask, [&](uint32_t lane) {
        made.a[lane] = m.a[lane];
        made.b[lane] = m.b[lane];
        made.result[lane] = m.result[lane];
        made.a_value[lane] = m.a_value[lane];
        made.b_value[lane] = m.b_value[lane];
        made.sum[lane] = m.sum[lane];
        const uint32_t thread = m.warp * kWarpSize + lane;
        if (thread < index_->sums.size())
            index_->sums[thread].push_back({made.after_step, {m.sum_type, m.sum[lane]}, m.result[lane]});
    });
}

bool BlockReplay::reaches_output(uint32_t thread, simt::Origin sum) const {
    if (thread >= index_->outputs.size()) return false;
    const auto& outputs = index_->outputs[thread];
    return std::any_of(outputs.begin(), outputs.end(), [&](const Index::Output& o) { return o.sum == sum; });
}

void BlockReplay::finish() {
    // A product of integers that ends in no output is an index on its way to an address.
    for (MultiplyStep& step : products_) {
        if (is_float(step.sum_type)) continue;
        for_lanes(step.mask, [&](uint32_t lane) {
            if (!reaches_output(step.warp * kWarpSize + lane, step.result[lane])) step.mask &= ~(1u << lane);
        });
    }
    std::erase_if(products_, [](const MultiplyStep& step) { return step.mask == 0; });
    // Of a thread's sums keep those that reach its output, where it has one: products on the way to
    // something else are no part of its running sum.
    for (uint32_t thread = 0; thread < index_->sums.size(); ++thread) {
        auto& sums = index_->sums[thread];
        std::erase_if(sums, [&](const Index::Sum& sum) {
            return !is_float(sum.value.type) && !reaches_output(thread, sum.chain);
        });
        keep_chains(thread);
    }
    index_->sum_steps.resize(index_->sums.size());
    for (size_t thread = 0; thread < index_->sums.size(); ++thread) {
        index_->sum_steps[thread].reserve(index_->sums[thread].size());
        for (const Index::Sum& sum : index_->sums[thread])
            index_->sum_steps[thread].push_back(sum.after_step);
    }
    index_->values.shrink_to_fit();
    products_.shrink_to_fit();
}

// Of a thread's sums those that its outputs are made of, if any is, chain after chain.
void BlockReplay::keep_chains(uint32_t thread) {
    auto& sums = index_->sums[thread];
    const std::vector<Index::Output>& outputs = index_->outputs[thread];
    Index::Chain& last = index_->last_chain[thread];
    last = {thread, 0, static_cast<uint32_t>(sums.size())};
    if (outputs.empty()) return;
    std::unordered_map<simt::Origin, Index::Chain> chains;
    for (const Index::Output& output : outputs) chains.try_emplace(output.sum);
    const auto stray = [&](const Index::Sum& sum) { return !chains.contains(sum.chain); };
    if (std::ranges::all_of(sums, stray)) return;
    std::erase_if(sums, stray);
    if (chains.size() > 1) std::ranges::stable_sort(sums, {}, &Index::Sum::chain);
    for (uint32_t first = 0, end = 0; first < sums.size(); first = end) {
        while (end < sums.size() && sums[end].chain == sums[first].chain) ++end;
        chains[sums[first].chain] = {thread, first, end};
    }
    for (const Index::Output& output : outputs)
        index_->chain_of[output.element.array][output.element.index] = chains[output.sum];
    last = chains[outputs.back().sum];
}

Value BlockReplay::value(uint32_t step, uint32_t lane, uint32_t part) const {
    if (step >= steps() || step >= trace_.blocks[block_].count || lane >= kWarpSize) return {};
    const trace::Form& form = trace_.form_of(trace_.blocks[block_].first + step);
    const Array* array = trace_.array_of(form);
    const uint64_t begin = index_->first_value[step];
    const uint64_t end = step + 1 < steps() ? index_->first_value[step + 1] : index_->values.size();
    const auto lanes = static_cast<uint64_t>(std::popcount(form.mask));
    const uint64_t bytes = lanes == 0 ? 0 : (end - begin) / lanes;
    // An atomic has two values: left, and returned; an exchange too: got, and given.
    const ptx::SiteKind kind = trace_.sites[form.site].kind;
    const bool atomic = kind == ptx::SiteKind::Atomic;
    const uint64_t one = atomic || kind == ptx::SiteKind::Exchange ? bytes / 2 : bytes;
    Value value;
    value.type =
        array && array->element_bytes() <= one ? array->type : bits_of_size(static_cast<uint32_t>(one));
    const uint64_t size = size_of(value.type);
    if (bytes == 0 || !(form.mask >> lane & 1) || (part + 1) * size > bytes) return value;
    if (array && array->members.of && size == array->element_bytes() && !atomic) {
        const trace::Access access = trace::decode(trace_, trace_.blocks[block_].first + step);
        if (access.offset[lane] % size == 0)
            value.type = type_at(*array, access.offset[lane] / size + part, bytes - part * size);
    }
    const auto before = static_cast<uint64_t>(std::popcount(form.mask & ((1u << lane) - 1)));
    return value_at(value.type, index_->values.data() + begin + before * bytes + part * size);
}

Factor BlockReplay::touched(uint32_t step, uint32_t lane, uint32_t part) const {
    if (step >= steps() || step >= trace_.blocks[block_].count || lane >= kWarpSize) return {};
    const trace::Access access = trace::decode(trace_, trace_.blocks[block_].first + step);
    if (access.array == trace::kNoArray || !(access.mask >> lane & 1)) return {};
    const uint64_t width = trace_.launch.arrays[access.array].element_bytes();
    const uint64_t last = (access.offset[lane] + std::max(trace_.sites[access.site].bytes, 1u) - 1) / width;
    return {
        {access.array, std::min(access.offset[lane] / width + part, last)}, value(step, lane, part), step};
}

Factor BlockReplay::factor(simt::Origin origin, uint32_t lane, uint32_t into) const {
    if (origin == 0 || (origin & simt::kComputed)) return {};
    const uint32_t step = (origin & simt::kStepMask) - 1, part = origin >> simt::kPartShift;
    if (step >= steps() || step >= trace_.blocks[block_].count) return {};
    // The origin counts registers, which may be wider or narrower than elements.
    const uint32_t bytes = index_->part_bytes[step];
    if (origin & simt::kUpperHalf) into += sizeof(uint16_t);
    const trace::Form& form = trace_.form_of(trace_.blocks[block_].first + step);
    const Array* array = trace_.array_of(form);
    if (trace_.sites[form.site].box != ptx::Box::None) return read_in_bulk(step, lane, into);
    if (into > 0 && into >= bytes) return {};
    // Of matrices the origin counts the registers of the lane that received them (ptx/matrix.h).
    if (const ptx::Site& site = trace_.sites[form.site]; site.matrices != 0 && array != nullptr) {
        const ptx::MovedPlace at = ptx::moved_place(lane, into / 2, site.transposed);
        lane = 8 * part + at.row, into = 2u * at.column + into % 2;
    } else {
        into += part * bytes;
    }
    if (array == nullptr) return touched(step, lane);
    Factor made = touched(step, lane, into / array->element_bytes());
    made.within = into % array->element_bytes();
    return made;
}

// The element that lies at a place among the bytes of a lane's copy.
Factor BlockReplay::read_in_bulk(uint32_t step, uint32_t lane, uint32_t place) const {
    const auto found = index_->pieces.find(step);
    const trace::Form& form = trace_.form_of(trace_.blocks[block_].first + step);
    const Array* const array = trace_.array_of(form);
    if (found == index_->pieces.end() || array == nullptr) return {};
    const auto after =
        std::ranges::upper_bound(found->second, std::pair(lane, place), {},
                                 [](const simt::RequestPiece& p) { return std::pair(p.lane, p.place); });
    if (after == found->second.begin()) return {};
    const simt::RequestPiece& piece = after[-1];
    if (piece.lane != lane || place - piece.place >= piece.bytes || piece.address < array->base) return {};
    const uint64_t at = piece.address - array->base + (place - piece.place);
    return {{form.array, at / array->element_bytes()},
            {},
            step,
            static_cast<uint32_t>(at % array->element_bytes())};
}

const BlockReplay::Cell* BlockReplay::find_cell(Element element) const {
    if (element.array >= index_->cells.size()) return nullptr;
    const std::vector<Cell>& shared = index_->cells[element.array];
    if (element.index < shared.size()) return &shared[element.index];
    const auto found = index_->global_cells[element.array].find(element.index);
    return found == index_->global_cells[element.array].end() ? nullptr : &found->second;
}

const BlockReplay::Store* BlockReplay::last_store(Element element, uint32_t step, uint32_t* since) const {
    const Cell* cell = find_cell(element);
    if (cell == nullptr) return nullptr;
    const bool shared = trace_.launch.arrays[element.array].space == Space::Shared;
    const std::vector<Store>& all = shared ? index_->stores : index_->global_stores;
    const auto after = std::upper_bound(cell->stores.begin(), cell->stores.end(), step,
                                        [](uint32_t s, const Cell::StoreAt& at) { return s < at.step; });
    if (after == cell->stores.begin()) return nullptr;
    if (since != nullptr) *since = (after - 1)->step;
    return &all[(after - 1)->store];
}

// A value moved from one shared cell to another has the source of that cell's value, found before.
void BlockReplay::find_source(Store& store) const {
    const Factor from = loaded(store);
    if (!from.known()) return;
    if (trace_.launch.arrays[from.element.array].space != Space::Shared)
        store.source = from.element;
    else if (const Store* before = last_store(from.element, from.step))
        store.source = before->source;
}

CellState BlockReplay::cell(uint8_t array, uint64_t element, uint32_t step) const {
    CellState state;
    const Cell* cell = find_cell({array, element});
    if (cell == nullptr) return state;
    if (const Store* store = last_store({array, element}, step, &state.since)) {
        state.written = true;
        state.value = store->value;
        state.step = store->step;
        state.thread = store->thread;
        state.source = store->source;
        // Of a member that was stored whole and whose other words another store changed, only this word is left.
        const Array& of = trace_.launch.arrays[array];
        const uint64_t words = size_of(state.value.type) / std::max(of.element_bytes(), 1u);
        for (uint64_t word = 1; of.members.of && word < words; ++word)
            if (const Store* other = last_store({array, element + word}, step);
                !other || other->step != store->step)
                state.value = {bits_of_size(of.element_bytes()), state.value.bits};
    }
    const auto loads_up_to = [&](uint32_t s) -> uint32_t {
        const auto next = std::upper_bound(cell->loads.begin(), cell->loads.end(), s,
                                           [](uint32_t v, const Cell::Loads& l) { return v < l.step; });
        return next == cell->loads.begin() ? 0 : (next - 1)->total;
    };
    const uint32_t before = state.written && state.since > 0 ? loads_up_to(state.since - 1) : 0;
    state.reads = loads_up_to(step) - before;
    return state;
}

std::optional<Value> BlockReplay::running_sum(uint32_t thread, uint32_t step) const {
    if (thread >= index_->last_chain.size()) return {};
    return index_->sum_at(index_->last_chain[thread], step);
}

std::optional<Value> BlockReplay::running_sum(Element element, uint32_t step) const {
    if (element.array >= index_->chain_of.size()) return {};
    const auto found = index_->chain_of[element.array].find(element.index);
    if (found == index_->chain_of[element.array].end()) return {};
    return index_->sum_at(found->second, step);
}

std::optional<Element> BlockReplay::output_of(uint32_t thread) const {
    if (thread >= index_->outputs.size() || index_->outputs[thread].empty()) return {};
    return index_->outputs[thread].back().element;
}

std::optional<Element> BlockReplay::output_of_sum(uint32_t thread, simt::Origin sum) const {
    if (thread >= index_->outputs.size()) return {};
    for (const Index::Output& output : index_->outputs[thread])
        if (output.sum == sum) return output.element;
    return {};
}

std::optional<uint32_t> BlockReplay::thread_of_output(Element element) const {
    if (element.array >= index_->thread_of.size()) return {};
    const auto found = index_->thread_of[element.array].find(element.index);
    if (found == index_->thread_of[element.array].end()) return {};
    return found->second;
}

const std::vector<BlockReplay::Store>& BlockReplay::shared_stores() const { return index_->stores; }
const std::vector<BlockReplay::Store>& BlockReplay::global_stores() const { return index_->global_stores; }

}  // namespace tilescope::playback
