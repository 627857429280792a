#include "core/analysis/swaps.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/recording/step_kind.h"
#include "core/trace/access.h"

namespace tilescope::analysis {
namespace {

constexpr uint64_t kMostSwapped = 1u << 17;  // steps that are looked at

bool looked_at(const trace::Trace& trace, uint64_t step) {
    const trace::Form& form = trace.form_of(step);
    const ptx::Site& site = trace.sites[form.site];
    const uint32_t bytes = site.box == ptx::Box::None ? site.bytes : 0;
    return asks_memory(kind_of(trace, form)) && std::has_single_bit(bytes) && bytes <= 16 &&
           (form.space == Space::Global || form.space == Space::Shared);
}

// The lanes of a warp, each with its address.
struct Lanes {
    std::array<uint64_t, kWarpSize> address{};
    uint32_t mask = 0;
    void set(uint32_t lane, uint64_t to) { address[lane] = to, mask |= 1u << lane; }
};

class Swapper {
public:
    explicit Swapper(const trace::Trace& trace) : trace_(trace) {}

    void take_block(const trace::Block& block, uint64_t steps) {
        std::map<std::pair<uint32_t, uint32_t>, std::vector<Lanes>> trips;  // by site and warp
        for (uint64_t step = block.first; step < block.first + steps; ++step) {
            if (!looked_at(trace_, step)) continue;
            const trace::AccessView access(trace_, step);
            Lanes lanes;
            for_lanes(access.mask(), [&](uint32_t lane) { lanes.set(lane, access.addresses()[lane]); });
            space_[access.site().id] = access.space();
            trips[{access.site().id, access.warp()}].push_back(lanes);
        }
        std::map<uint32_t, std::vector<const std::vector<Lanes>*>> warps;  // of each site
        const Dim3& size = trace_.launch.block;
        const size_t all = (size.count() + kWarpSize - 1) / kWarpSize;
        for (const auto& [of, list] : trips) {
            swap_loop(of.first, list);
            warps[of.first].resize(all);
            if (of.second < all) warps[of.first][of.second] = &list;
        }
        if (size.x == size.y && size.z == 1 && size.x > 1)
            for (const auto& [site, lists] : warps) swap_threads(site, lists, size.x);
    }

    std::vector<Swap> swaps() const {
        std::vector<Swap> found;
        Swap loop{SwapKind::Loop, {}}, threads{SwapKind::Threads, {}};
        for (const auto& [site, of] : loops_)
            if (spares(of)) loop.sites.push_back(of);
        SwappedSite global;
        for (const auto& [site, of] : threads_) {
            threads.sites.push_back(of);
            if (space_.at(site) == Space::Global)
                global.cost += of.cost, global.least += of.least, global.swapped += of.swapped;
        }
        if (!loop.sites.empty()) found.push_back(std::move(loop));
        if (spares(global)) found.push_back(std::move(threads));
        return found;
    }

private:
    static bool spares(const SwappedSite& of) { return of.cost > of.least && of.swapped * 4 <= of.cost * 3; }

    void add(std::map<uint32_t, SwappedSite>& to, uint32_t site, const Lanes& now, const Lanes& then) {
        SwappedSite& sum = to[site];
        sum.site = site;
        const auto cost = [&](const Lanes& of) {
            return request_cost(space_.at(site), trace_.sites[site], of.address.data(), of.mask);
        };
        if (now.mask != 0) {
            const RequestCost as_it_is = cost(now);
            ++sum.requests;
            sum.cost += as_it_is.cost, sum.least += as_it_is.least;
        }
        if (then.mask != 0) sum.swapped += cost(then).cost;
    }

    void swap_loop(uint32_t site, const std::vector<Lanes>& trips) {
        if (space_.at(site) != Space::Global || trips.size() < 2) return;
        for (size_t first = 0; first < trips.size(); first += kWarpSize) {
            const size_t count = std::min<size_t>(kWarpSize, trips.size() - first);
            for (uint32_t trip = 0; trip < kWarpSize; ++trip) {
                Lanes then;
                for (uint32_t lane = 0; lane < count; ++lane)
                    if (const Lanes& of = trips[first + lane]; (of.mask >> trip & 1) != 0)
                        then.set(lane, of.address[trip]);
                add(loops_, site, trip < count ? trips[first + trip] : Lanes(), then);
            }
        }
    }

    // warps: null for one that never came here.
    void swap_threads(uint32_t site, const std::vector<const std::vector<Lanes>*>& warps, uint32_t width) {
        size_t most = 0;
        for (const auto* const trips : warps) most = std::max(most, trips ? trips->size() : 0);
        for (size_t trip = 0; trip < most; ++trip)
            for (uint32_t warp = 0; warp < warps.size(); ++warp) {
                Lanes then;
                for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
                    const uint32_t thread = warp * kWarpSize + lane;
                    if (thread >= width * width) continue;
                    const uint32_t from = thread % width * width + thread / width;
                    const auto* const trips = warps[from / kWarpSize];
                    if (trips == nullptr || trip >= trips->size()) continue;
                    const Lanes& of = (*trips)[trip];
                    if ((of.mask >> from % kWarpSize & 1) != 0) then.set(lane, of.address[from % kWarpSize]);
                }
                const auto* const here = warps[warp];
                add(threads_, site, here && trip < here->size() ? (*here)[trip] : Lanes(), then);
            }
    }

    const trace::Trace& trace_;
    std::map<uint32_t, Space> space_;  // of each site
    std::map<uint32_t, SwappedSite> loops_, threads_;
};

}  // namespace

Result<std::vector<Swap>> swaps_of(const trace::Trace& trace, Stop stop) {
    Swapper swapper(trace);
    uint64_t left = kMostSwapped;
    const uint64_t every = std::max<uint64_t>(1, (trace.steps() + kMostSwapped - 1) / kMostSwapped);
    for (size_t block = 0; block < trace.blocks.size() && left > 0; block += every) {
        if (stop.now()) return Error{kStopped};
        const uint64_t steps = std::min(trace.blocks[block].count, left);
        swapper.take_block(trace.blocks[block], steps);
        left -= steps;
    }
    return swapper.swaps();
}

Result<Improvements> improvements_of(const trace::Trace& trace, Stop stop) {
    auto arrays = remedies_of(trace, stop);
    if (!arrays) return arrays.error();
    auto swaps = swaps_of(trace, stop);
    if (!swaps) return swaps.error();
    return Improvements{std::move(*arrays), std::move(*swaps)};
}

}  // namespace tilescope::analysis
