// Where values come from, lane by lane.
//
//   ld            step + 1
//   mov, selp     as the source
//   fma a*b + c   the chain of c where c is computed, else a new chain; the product is reported at once
//   mul a*b       a new chain X, kept as a loose product: nobody knows yet which sum it goes into
//   add s + t     where one side is a running sum and the other a loose product: the sum's chain, and
//                 the product is reported now, with the sum it went into. Where there is no running sum
//                 yet (0 + X, a loaded value + X, X + Y) the first loose product's chain becomes one.
//
// A loose product that anything else takes (a store, an fma's addend, another mul, the end of the warp)
// is its own running sum: it is reported with its chain X and its value. So the chain that is stored to
// an output is always the one under which its products were reported. Where two running sums are
// added, the result goes on with the first one's chain.
//
// Pairs of 16 bits: a register has one origin, of which kUpperHalf makes that of its upper half. fma and mul are two
// products, of the lower halves and of the upper ones, which are reported at once: what mul gives is never loose. Pairs that
// are put together of two registers are computed, and pairs of f32 are not followed.
#include <algorithm>
#include <span>
#include <unordered_set>

#include "core/simt/machine.h"

namespace tilescope::simt {
namespace {

constexpr bool is_computed(Origin o) { return (o & kComputed) != 0; }
constexpr bool is_loaded(Origin o) { return o != 0 && !is_computed(o); }

// The lanes of a column of 4- or 8-byte slots, as bits.
void read_column(const std::byte* column, ElementType type, std::array<uint64_t, kWarpSize>& bits) {
    for (size_t l = 0; l < kWarpSize; ++l) {
        bits[l] = size_of(type) == 8 ? reinterpret_cast<const uint64_t*>(column)[l]
                                     : reinterpret_cast<const uint32_t*>(column)[l];
        if (size_of(type) < 4) bits[l] &= (1u << 8 * size_of(type)) - 1;
    }
}

// The lanes that have each of some chains: of two operands at most.
struct LanesOfChains {
    std::array<std::pair<Origin, uint32_t>, 2 * kWarpSize> of;
    size_t count = 0;

    void add(Origin chain, uint32_t lane) {
        size_t at = count;
        while (at > 0 && of[at - 1].first != chain) --at;
        if (at == 0) of[at = count++] = {chain, 0}, ++at;
        of[at - 1].second |= 1u << lane;
    }
    std::span<const std::pair<Origin, uint32_t>> in_order() {
        std::sort(of.begin(), of.begin() + count);
        return {of.data(), count};
    }
};

}  // namespace

const Origin* Machine::origin(const Warp& warp, Ref ref) const {
    return in_pool(ref) ? no_origin_.data() : reinterpret_cast<const Origin*>(warp.origins + ref);
}

LooseProduct* Machine::loose_product(Warp& warp, Origin o, uint32_t lane) {
    if (!is_computed(o)) return nullptr;
    const auto found = warp.loose.find(o);
    return found != warp.loose.end() && (found->second.mask >> lane & 1) ? &found->second : nullptr;
}

void Machine::report_loose(Warp& warp, LooseProduct& product, uint32_t mask,
                           const std::array<Origin, kWarpSize>& result,
                           const std::array<uint64_t, kWarpSize>& sum) {
    product.mask &= ~mask;
    Multiplication report;
    report.factor_type = product.factor_type, report.sum_type = product.sum_type;
    report.warp = warp.number, report.mask = mask;
    report.a = product.a.data(), report.b = product.b.data(), report.result = result.data();
    report.a_value = product.a_value.data(), report.b_value = product.b_value.data(), report.sum = sum.data();
    if (observer_) observer_->on_multiplication(report);
}

void Machine::report_alone(Warp& warp, LooseProduct& product, uint32_t lanes) {
    std::array<Origin, kWarpSize> result;
    result.fill(product.chain);
    report_loose(warp, product, lanes, result, product.sum);
}

// Loose products among these origins become running sums of their own.
void Machine::settle_loose(Warp& warp, const Origin* origins, uint32_t mask) {
    LanesOfChains found;
    for_lanes(mask, [&](uint32_t l) {
        if (loose_product(warp, origins[l], l)) found.add(origins[l], l);
    });
    for (const auto& [chain, lanes] : found.in_order()) {
        LooseProduct& product = warp.loose.at(chain);
        report_alone(warp, product, lanes);
        if (product.mask == 0) warp.loose.erase(chain);
    }
}

void Machine::settle_all_loose(Warp& warp) {
    for (auto& [chain, product] : warp.loose) report_alone(warp, product, product.mask);
    warp.loose.clear();
}

// Settles loose products that no register holds any more, so that nothing can take them.
void Machine::settle_dead_loose(Warp& warp) {
    std::unordered_set<uint64_t> held;  // chain, lane
    const auto* origins = reinterpret_cast<const Origin*>(warp.origins);
    for (uint32_t slot = 0; slot < program_.register_bytes / sizeof(Origin); ++slot)
        if (is_computed(origins[slot])) held.insert(uint64_t{origins[slot]} << 5 | slot % kWarpSize);
    for (auto& [chain, product] : warp.loose) {
        uint32_t dead = 0;
        for_lanes(product.mask,
                  [&](uint32_t l) { dead |= held.contains(uint64_t{chain} << 5 | l) ? 0u : 1u << l; });
        if (dead) report_alone(warp, product, dead);
    }
    std::erase_if(warp.loose, [](const auto& entry) { return entry.second.mask == 0; });
}

void Machine::flow_before(Warp& warp, const MicroOp& op, const LaneCode& code, uint32_t mask,
                          OriginPlan& plan) {
    using K = ptx::Dataflow;
    if (code.flow == K::None) return;
    const Origin* a = origin(warp, op.a);
    const Origin* b = origin(warp, op.b);
    const Origin* c = origin(warp, op.c);
    if (code.flow == K::Copy || code.flow == K::Choice) {
        // The same choice of lanes, made among origins instead of values.
        const auto* first = reinterpret_cast<const std::byte*>(a);
        const std::byte* second =
            code.flow == K::Choice ? reinterpret_cast<const std::byte*>(b) : at(warp, op.b);
        uint32_t predicate = 0;
        code.origin(reinterpret_cast<std::byte*>(plan.result.data()),
                    reinterpret_cast<std::byte*>(&predicate), first, second, at(warp, op.c), mask);
        return;
    }
    // A shorter source list leaves refs at 0, the predicates, whose origins are 0.
    Origin fresh = 0;
    const auto new_chain = [&] { return fresh ? fresh : fresh = kComputed | ++next_chain_; };
    if (code.flow != K::Sum && !warp.loose.empty()) {
        settle_loose(warp, a, mask);
        settle_loose(warp, b, mask);
        settle_loose(warp, c, mask);
    }
    for_lanes(mask, [&](uint32_t l) {
        const Origin x = a[l], y = b[l], z = c[l];
        switch (code.flow) {
            case K::Sum: {
                const bool loose_x = loose_product(warp, x, l) != nullptr,
                           loose_y = loose_product(warp, y, l) != nullptr;
                plan.taken_a |= loose_x ? 1u << l : 0u;
                plan.taken_b |= loose_y && !(loose_x && x == y) ? 1u << l : 0u;
                plan.result[l] = is_computed(x) && !loose_x   ? x
                                 : is_computed(y) && !loose_y ? y
                                 : loose_x                    ? x
                                 : loose_y                    ? y
                                 : x || y                     ? new_chain()
                                                              : 0;
                break;
            }
            case K::Fused: plan.result[l] = is_computed(z) ? z : x || y || z ? new_chain() : 0; break;
            default: plan.result[l] = x || y || z ? new_chain() : 0; break;
        }
        if ((code.flow == K::Product || code.flow == K::Fused) && (is_loaded(x) || is_loaded(y)))
            plan.products |= 1u << l;
        plan.a[l] = x, plan.b[l] = y;
    });
    if (plan.products) {
        read_column(at(warp, op.a), code.does.type, plan.a_value);
        read_column(at(warp, op.b), code.does.type, plan.b_value);
    }
    plan.chain_of_product = fresh;
}

// The two products of a pair.
void Machine::report_pairs(Multiplication& report, OriginPlan& plan, std::array<uint64_t, kWarpSize>& sum) {
    report.factor_type = report.sum_type = element_of_pair(report.factor_type);
    const std::array<uint64_t, kWarpSize> a = plan.a_value, b = plan.b_value, whole = sum;
    for (const uint32_t shift : {0u, 16u}) {
        for_lanes(report.mask, [&](uint32_t l) {
            plan.a_value[l] = a[l] >> shift & 0xFFFF, plan.b_value[l] = b[l] >> shift & 0xFFFF;
            sum[l] = whole[l] >> shift & 0xFFFF;
            if (shift == 0) return;
            for (Origin* of : {&plan.a[l], &plan.b[l], &plan.result[l]})
                *of = *of == 0 ? 0 : *of | kUpperHalf;
        });
        observer_->on_multiplication(report);
    }
}

void Machine::flow_after(Warp& warp, const MicroOp& op, const LaneCode& code, uint32_t mask,
                         OriginPlan& plan) {
    using K = ptx::Dataflow;
    auto* d = reinterpret_cast<Origin*>(warp.origins + op.d);
    if (code.flow == K::None) {
        if (code.writes_column) for_lanes(mask, [&](uint32_t l) { d[l] = 0; });
        return;
    }
    for_lanes(mask, [&](uint32_t l) { d[l] = plan.result[l]; });
    const ElementType sum_type = ptx::widened(code.does.type, code.does.half);
    std::array<uint64_t, kWarpSize> sum;
    if (plan.products | plan.taken_a | plan.taken_b) read_column(at(warp, op.d), sum_type, sum);
    const bool pairs = elements_of(code.does.type) == 2;
    if ((code.flow == K::Fused || (code.flow == K::Product && pairs)) && plan.products && observer_) {
        Multiplication report;
        report.factor_type = code.does.type, report.sum_type = sum_type;
        report.warp = warp.number, report.mask = plan.products;
        report.a = plan.a.data(), report.b = plan.b.data(), report.result = plan.result.data();
        report.a_value = plan.a_value.data(), report.b_value = plan.b_value.data(), report.sum = sum.data();
        if (pairs)
            report_pairs(report, plan, sum);
        else
            observer_->on_multiplication(report);
    }
    if (code.flow == K::Product && plan.products && !pairs) {
        warp.loose[plan.chain_of_product] = {
            plan.chain_of_product, plan.products, plan.a, plan.b, code.does.type, sum_type,
            plan.a_value,          plan.b_value,  sum};
        if (warp.loose.size() >= warp.most_loose) {
            settle_dead_loose(warp);
            // So that looking at the registers costs little for each product.
            warp.most_loose = 1024 + 2 * warp.loose.size() + program_.register_bytes / (128 * kColumnBytes);
        }
    }
    if (code.flow == K::Sum && (plan.taken_a | plan.taken_b)) {
        LanesOfChains taken;
        for_lanes(plan.taken_a, [&](uint32_t l) { taken.add(plan.a[l], l); });
        for_lanes(plan.taken_b, [&](uint32_t l) { taken.add(plan.b[l], l); });
        for (const auto& [chain, lanes] : taken.in_order()) {
            LooseProduct& product = warp.loose.at(chain);
            report_loose(warp, product, lanes, plan.result, sum);
            if (product.mask == 0) warp.loose.erase(chain);
        }
    }
}

}  // namespace tilescope::simt
