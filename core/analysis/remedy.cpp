#include "core/analysis/remedy.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "core/analysis/addresses.h"
#include "core/analysis/banks.h"
#include "core/analysis/coalescing.h"
#include "core/base/words.h"
#include "core/recording/step_kind.h"

namespace tilescope::analysis {
namespace {

constexpr uint32_t kRowOfBanks = kBanks * kBankBytes;
constexpr uint64_t kMostRowBytes = 8192;  // of a row that shows in strides alone
constexpr size_t kMostRows = 6;           // different lengths of rows that are tried
constexpr size_t kMostArrays = 8;         // the most wasteful ones
constexpr uint32_t kMostShift = 16;       // bits, of a swizzle

// A request and how often it was made.
struct Seen {
    trace::Access access;
    const ptx::Site* site = nullptr;
    size_t row = 0;  // of Remedies::sites
    uint64_t times = 0;
};

// The addresses of a request with a remedy; nothing where it would tear an access or take its alignment away.
std::optional<std::array<uint64_t, kWarpSize>> moved(const Remedy& remedy, const Array& array, uint32_t bytes,
                                                     const uint64_t* offset, uint32_t mask) {
    std::array<uint64_t, kWarpSize> address{};
    bool whole = true;
    for_lanes(mask, [&](uint32_t lane) {
        const uint64_t first = remedy.moved(offset[lane]), last = remedy.moved(offset[lane] + bytes - 1);
        address[lane] = array.base + first;
        whole = whole && last == first + bytes - 1 && (first - offset[lane]) % bytes == 0;
    });
    if (!whole) return std::nullopt;
    return address;
}

// The requests to an array, the different ones, and all that is tried on them.
class Search {
public:
    Search(const trace::Trace& trace, uint8_t array) : trace_(trace), array_(trace.launch.arrays[array]) {
        found_.array = array;
    }

    void add(uint64_t step) {
        const uint64_t form = trace_.key[step] & 0xFFFFFF;
        if (full()) return;
        ++found_.looked_at;
        ++times_[form << 32 | trace_.base[step]];
    }
    bool full() const { return times_.size() >= kMostDifferentRequests; }

    // What its requests cost, of so many.
    void judge(uint64_t requests);
    uint64_t wasted() const { return found_.cost - found_.least; }
    bool shared() const { return array_.space == Space::Shared; }

    Remedies remedies(Stop stop) {
        // Another layout of global memory has to spare a quarter: a sector at an edge is no reason.
        bound_ = shared() ? found_.cost : found_.cost / 4 * 3 + 1;
        for (const Remedy& remedy : shared() ? paddings_and_swizzles() : layouts_of_global()) {
            if (stop.now()) break;
            attempt(remedy);
        }
        std::ranges::stable_sort(found_.rows, {}, &Remedied::cost);
        return std::move(found_);
    }

private:
    // Bytes from one row to the next: by the extents, else as far as lanes lie apart, and a row of the banks.
    std::vector<uint64_t> rows() const {
        if (array_.rank > 1 && array_.cols > 1)
            return {uint64_t{array_.cols} * std::max(array_.element_bytes(), 1u)};
        std::map<uint64_t, uint64_t> times{{kRowOfBanks, 0}};
        for (const Seen& seen : seen_) {
            std::optional<uint64_t> last;
            std::set<uint64_t> apart;
            for_lanes(seen.access.mask, [&](uint32_t lane) {
                const uint64_t at = seen.access.offset[lane];
                if (last && at > *last + seen.site->bytes && at - *last <= kMostRowBytes)
                    apart.insert(at - *last);
                last = at;
            });
            for (const uint64_t bytes : apart) times[bytes] += seen.times;
        }
        std::vector<std::pair<uint64_t, uint64_t>> sorted;  // how often, and bytes
        for (const auto& [bytes, count] : times)
            if (bytes % unit_ == 0) sorted.emplace_back(count, bytes);
        std::ranges::sort(sorted, std::greater());
        std::vector<uint64_t> found;
        for (const auto& [count, bytes] : sorted)
            if (found.size() < kMostRows) found.push_back(bytes);
        return found;
    }

    std::vector<Remedy> paddings_and_swizzles() const {
        std::vector<Remedy> all;
        const std::vector<uint64_t> lengths = rows();
        for (uint32_t padding = 1; padding <= kMostPadding; ++padding)
            for (const uint64_t row : lengths)
                all.push_back(
                    {.kind = RemedyKind::Padding, .element = unit_, .row = row, .padding = padding});
        for (const Remedy& swizzle : swizzles_of_banks(array_.bytes(), unit_)) all.push_back(swizzle);
        return all;
    }

    std::vector<Remedy> layouts_of_global() const {
        std::vector<Remedy> all;
        const uint32_t element = std::max(array_.element_bytes(), 1u);
        if (array_.rank == 2 && array_.rows > 1 && array_.cols > 1 && !array_.members.of)
            all.push_back({.kind = RemedyKind::ColumnsFirst,
                           .element = element,
                           .row = uint64_t{array_.cols} * element,
                           .rows = array_.rows});
        if (array_.rank > 1 && !array_.members.of) return all;
        // A struct is as large as neighbouring lanes lie apart.
        uint64_t size = array_.members.of ? array_.members.of->bytes : 0;
        if (size == 0)
            for (const Seen& seen : seen_) {
                std::optional<uint64_t> last;
                for_lanes(seen.access.mask, [&](uint32_t lane) {
                    const uint64_t at = seen.access.offset[lane];
                    if (last) size = std::gcd(size, at > *last ? at - *last : *last - at);
                    last = at;
                });
            }
        if (size > unit_ && size <= kLineBytes && size % unit_ == 0)
            all.push_back({.kind = RemedyKind::StructOfArrays,
                           .element = unit_,
                           .row = size,
                           .rows = (array_.bytes() + size - 1) / size});
        return all;
    }

    // Keeps the cheapest of each kind, the first of equals.
    void attempt(const Remedy& remedy) {
        const auto best =
            std::ranges::find(found_.rows, remedy.kind, [](const Remedied& of) { return of.remedy.kind; });
        const uint64_t bound = best == found_.rows.end() ? bound_ : best->cost;
        Remedied tried{remedy, 0, std::vector<uint64_t>(found_.sites.size()), 0};
        for (const Seen& seen : seen_) {
            const trace::Access& access = seen.access;
            const auto address = moved(remedy, array_, seen.site->bytes, access.offset.data(), access.mask);
            if (!address) return;
            const uint64_t cost =
                seen.times * request_cost(array_.space, *seen.site, address->data(), access.mask).cost;
            tried.cost += cost, tried.of_site[seen.row] += cost;
            if (tried.cost >= bound) return;
        }
        if (remedy.kind == RemedyKind::Padding)
            tried.more_bytes = array_.bytes() / remedy.row * remedy.padding * remedy.element;
        if (best == found_.rows.end())
            found_.rows.push_back(std::move(tried));
        else
            *best = std::move(tried);
    }

    const trace::Trace& trace_;
    const Array& array_;
    std::unordered_map<uint64_t, uint64_t> times_;  // form << 32 | base -> how often
    std::vector<Seen> seen_;
    uint32_t unit_ = UINT32_MAX;  // bytes of an element
    uint64_t bound_ = 0;          // what a remedy must cost less than
    Remedies found_;
};

// Sums of each site; the most frequent requests first, so that what is worse shows early.
void Search::judge(uint64_t requests) {
    found_.requests = requests;
    std::map<uint32_t, SiteCost> sites;
    std::vector<uint64_t> wasted;
    for (const auto& [key, times] : times_) {
        const auto form = static_cast<uint32_t>(key >> 32);
        Seen seen{trace::decode_form(trace_, form, static_cast<uint32_t>(key)), nullptr, 0, times};
        seen.site = &trace_.sites[seen.access.site];
        std::array<uint64_t, kWarpSize> address{};
        for_lanes(seen.access.mask,
                  [&](uint32_t lane) { address[lane] = array_.base + seen.access.offset[lane]; });
        const RequestCost of = request_cost(array_.space, *seen.site, address.data(), seen.access.mask);
        SiteCost& sum = sites[seen.access.site];
        sum.site = seen.access.site;
        sum.requests += times, sum.cost += times * of.cost, sum.least += times * of.least;
        seen_.push_back(seen);
        unit_ = std::min(unit_, seen.site->bytes);
    }
    for (const auto& [site, sum] : sites) {
        found_.cost += sum.cost, found_.least += sum.least;
        found_.sites.push_back(sum);
    }
    for (Seen& seen : seen_)
        seen.row = static_cast<size_t>(std::ranges::find(found_.sites, seen.access.site, &SiteCost::site) -
                                       found_.sites.begin());
    std::ranges::sort(seen_, [](const Seen& a, const Seen& b) {
        return std::tuple(b.times, a.access.site, a.access.offset) <
               std::tuple(a.times, b.access.site, b.access.offset);
    });
    // Of memory without a type the smallest access is an element.
    if (array_.element_bytes() > 1 || unit_ == UINT32_MAX) unit_ = std::max(array_.element_bytes(), 1u);
}

}  // namespace

uint64_t Remedy::moved(uint64_t offset) const {
    switch (kind) {
        case RemedyKind::Padding: return offset + offset / row * padding * element;
        case RemedyKind::Swizzle: return offset ^ (offset >> shift & ((uint64_t{1} << bits) - 1) << base);
        case RemedyKind::ColumnsFirst: {
            const uint64_t in_row = offset % row;
            return (in_row / element * rows + offset / row) * element + in_row % element;
        }
        case RemedyKind::StructOfArrays: break;
    }
    // Each of the arrays begins on a line.
    const uint64_t word = offset % row / element, line = std::max<uint64_t>(kLineBytes / element, 1);
    return (word * ((rows + line - 1) / line * line) + offset / row) * element + offset % element;
}

std::vector<Remedy> swizzles_of_banks(uint64_t array_bytes, uint32_t element) {
    std::vector<Remedy> all;
    constexpr uint32_t kFirstBit = std::countr_zero(kBankBytes), kEndBit = std::countr_zero(kRowOfBanks);
    for (uint32_t bits = 1; bits <= kEndBit - kFirstBit; ++bits)
        for (uint32_t base = kFirstBit; base + bits <= kEndBit; ++base)
            for (uint32_t shift = bits; shift <= kMostShift && uint64_t{1} << (base + shift) < array_bytes;
                 ++shift)
                if (array_bytes % (uint64_t{1} << (base + bits)) == 0)  // it leads out of no other
                    all.push_back({.kind = RemedyKind::Swizzle,
                                   .element = element,
                                   .bits = bits,
                                   .base = base,
                                   .shift = shift});
    return all;
}

RequestCost request_cost(Space space, const ptx::Site& site, const uint64_t* address, uint32_t mask) {
    if (space == Space::Shared) {
        const BankCost of = bank_cost(address, mask, site.bytes, keeps_groups(site));
        return {of.wavefronts, of.ideal_wavefronts};
    }
    const SectorCost of = sector_cost(address, mask, site.bytes);
    return {site.kind == ptx::SiteKind::Atomic ? atomic_sectors(address, mask) : of.sectors,
            of.ideal_sectors};
}

Result<std::vector<Remedies>> remedies_of(const trace::Trace& trace, Stop stop) {
    // Which forms are looked at, and how many requests there are of each array.
    std::vector<uint8_t> array_of(trace.forms.size(), trace::kNoArray);
    for (size_t form = 0; form < trace.forms.size(); ++form) {
        const trace::Form& of = trace.forms[form];
        const ptx::Site& site = trace.sites[of.site];
        const uint32_t bytes = site.box == ptx::Box::None ? site.bytes : 0;
        if (of.array != trace::kNoArray && asks_memory(kind_of(trace, of)) && std::has_single_bit(bytes) &&
            bytes <= 16 && (of.space == Space::Shared || of.space == Space::Global))
            array_of[form] = of.array;
    }
    std::array<uint64_t, 256> requests{};
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        if (stop.at(step)) return Error{kStopped};
        ++requests[array_of[trace.key[step] & 0xFFFFFF]];
    }
    std::vector<std::optional<Search>> searches(trace.launch.arrays.size());
    const uint64_t every =
        std::max<uint64_t>(1, (trace.steps() + kMostStepsSearched - 1) / kMostStepsSearched);
    uint64_t left = kMostStepsSearched;
    for (size_t block = 0; block < trace.blocks.size(); block += every) {
        const trace::Block& of = trace.blocks[block];
        const uint64_t end = of.first + std::min(of.count, left);
        left -= end - of.first;
        for (uint64_t step = of.first; step < end; ++step) {
            if (stop.at(step)) return Error{kStopped};
            const uint8_t array = array_of[trace.key[step] & 0xFFFFFF];
            if (array == trace::kNoArray) continue;
            if (!searches[array]) searches[array].emplace(trace, array);
            searches[array]->add(step);
        }
    }
    std::vector<Search*> wasteful;
    for (size_t array = 0; array < searches.size(); ++array) {
        if (!searches[array]) continue;
        searches[array]->judge(requests[array]);
        if (searches[array]->wasted() > 0) wasteful.push_back(&*searches[array]);
    }
    std::ranges::stable_sort(wasteful, std::greater(), &Search::wasted);
    if (wasteful.size() > kMostArrays) wasteful.resize(kMostArrays);
    std::vector<Remedies> all;
    for (Search* const search : wasteful) {
        Remedies found = search->remedies(stop);
        if (stop.now()) return Error{kStopped};
        if (search->shared() || !found.rows.empty()) all.push_back(std::move(found));
    }
    return all;
}

std::string remedy_name(const Remedy& remedy) {
    switch (remedy.kind) {
        case RemedyKind::Padding: return fmt::format("padding {}", remedy.padding);
        case RemedyKind::Swizzle:
            return fmt::format("Swizzle<{},{},{}>", remedy.bits, remedy.base, remedy.shift);
        case RemedyKind::ColumnsFirst: return "columns first";
        case RemedyKind::StructOfArrays: break;
    }
    return "struct of arrays";
}

std::string remedy_words(const Remedy& remedy) {
    const uint64_t length = remedy.row / remedy.element;
    switch (remedy.kind) {
        case RemedyKind::Padding:
            return fmt::format("rows of {} elements in place of {}", length + remedy.padding, length);
        case RemedyKind::Swizzle: {
            const auto unit = static_cast<uint32_t>(std::countr_zero(remedy.element));
            const bool of_elements = std::has_single_bit(remedy.element) && remedy.base >= unit;
            const uint64_t mask = ((uint64_t{1} << remedy.bits) - 1)
                                  << (remedy.base - (of_elements ? unit : 0));
            return fmt::format("{} becomes i ^ (i >> {} & {})", of_elements ? "index i" : "byte i",
                               remedy.shift, mask);
        }
        case RemedyKind::ColumnsFirst: return "the elements of a column side by side";
        case RemedyKind::StructOfArrays: break;
    }
    return fmt::format("an array for each {} of the {} bytes of a struct", remedy.element, remedy.row);
}

}  // namespace tilescope::analysis
