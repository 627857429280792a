#include "core/analysis/coalescing_rules.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "core/base/launch.h"
#include "core/base/words.h"

namespace tilescope::analysis {
namespace {

struct Request {
    const uint64_t* address;
    uint32_t bytes;
};

uint32_t lanes_of_half(uint32_t half) { return 0xFFFFu << (16 * half); }

// 1.0 and 1.1: where lane 0 of the half has to be if every lane is in its place; a segment's start.
bool in_order(const Request& r, uint32_t mask) {
    if (r.bytes != 4 && r.bytes != 8 && r.bytes != 16) return false;
    const auto lowest = static_cast<uint32_t>(std::countr_zero(mask));
    const uint64_t first = r.address[lowest] - uint64_t{lowest % 16} * r.bytes;
    const uint64_t segment = r.bytes == 4 ? 64 : 128;
    if (first % segment != 0) return false;
    bool good = true;
    for_lanes(mask, [&](uint32_t lane) {
        good = good && r.address[lane] == first + uint64_t{lane % 16} * r.bytes;
    });
    return good;
}

void strict_half(const Request& r, uint32_t mask, std::vector<Transaction>& out) {
    if (!in_order(r, mask)) {
        for_lanes(mask, [&](uint32_t lane) { out.push_back({r.address[lane] / 32 * 32, 32, 1u << lane}); });
        return;
    }
    const auto lowest = static_cast<uint32_t>(std::countr_zero(mask));
    const uint64_t first = r.address[lowest] - uint64_t{lowest % 16} * r.bytes;
    if (r.bytes < 16) {
        out.push_back({first, r.bytes * 16, mask});
        return;
    }
    const uint32_t lower = mask & 0x00FF00FFu;  // the first eight lanes of the half
    out.push_back({first, 128, lower});
    out.push_back({first + 128, 128, mask & ~lower});
}

void segments_half(const Request& r, uint32_t mask, std::vector<Transaction>& out) {
    const uint64_t widest = r.bytes == 1 ? 32 : r.bytes == 2 ? 64 : 128;
    while (mask != 0) {
        const uint64_t segment = r.address[std::countr_zero(mask)] / widest;
        uint32_t lanes = 0;
        uint64_t low = UINT64_MAX, high = 0;  // bytes used: [low, high)
        for_lanes(mask, [&](uint32_t lane) {
            if (r.address[lane] / widest != segment) return;
            lanes |= 1u << lane;
            low = std::min(low, r.address[lane]);
            high = std::max(high, r.address[lane] + r.bytes);
        });
        uint64_t size = widest;
        while (size > 32 && low / (size / 2) == (high - 1) / (size / 2)) size /= 2;
        out.push_back({low / size * size, static_cast<uint32_t>(size), lanes});
        mask &= ~lanes;
    }
}

// Every aligned grain that the lanes touch, ascending.
void grains(const Request& r, uint32_t mask, uint64_t grain, std::vector<Transaction>& out) {
    std::vector<Transaction> touched;
    for_lanes(mask, [&](uint32_t lane) {
        const uint64_t at =
            r.address[lane] / grain * grain;  // an access never crosses: it is aligned to itself
        const auto known = std::find_if(touched.begin(), touched.end(),
                                        [&](const Transaction& t) { return t.address == at; });
        if (known != touched.end())
            known->lanes |= 1u << lane;
        else
            touched.push_back({at, static_cast<uint32_t>(grain), 1u << lane});
    });
    std::sort(touched.begin(), touched.end(),
              [](const Transaction& a, const Transaction& b) { return a.address < b.address; });
    out.insert(out.end(), touched.begin(), touched.end());
}

// 2.x and 3.x: words wider than 4 bytes are asked for in parts of the warp, 128 bytes each at most.
void parts(const Request& r, uint32_t mask, uint64_t grain, std::vector<Transaction>& out) {
    const uint32_t lanes = r.bytes <= 4 ? 32 : 128 / r.bytes;
    const uint32_t part = lanes == 32 ? ~0u : (1u << lanes) - 1;
    for (uint32_t first = 0; first < 32; first += lanes) grains(r, mask & part << first, grain, out);
}

uint64_t different_bytes(const Request& r, uint32_t mask) {
    std::vector<uint64_t> words;
    for_lanes(mask, [&](uint32_t lane) { words.push_back(r.address[lane]); });
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words.size() * r.bytes;
}

}  // namespace

CoalescingRule coalescing_rule(uint32_t major, uint32_t minor) {
    if (major <= 1) return minor < 2 ? CoalescingRule::HalfWarpStrict : CoalescingRule::HalfWarpSegments;
    if (major == 2) return CoalescingRule::Lines;
    return major < 5 ? CoalescingRule::CachedInL2 : CoalescingRule::Sectors;
}

const char* name_of(CoalescingRule rule) {
    switch (rule) {
        case CoalescingRule::HalfWarpStrict: return "half warps, in order";
        case CoalescingRule::HalfWarpSegments: return "half warps, by segments";
        case CoalescingRule::Lines: return "128-byte lines of L1";
        case CoalescingRule::CachedInL2: return "32-byte sectors of L2, past L1";
        case CoalescingRule::Sectors: break;
    }
    return "32-byte sectors";
}

const char* source_of(CoalescingRule rule) {
    switch (rule) {
        case CoalescingRule::HalfWarpStrict:
            return "CUDA C Programming Guide 4.2, appendix F.3.2, compute capability 1.0 and 1.1";
        case CoalescingRule::HalfWarpSegments:
            return "CUDA C Programming Guide 4.2, appendix F.3.2, compute capability 1.2 and 1.3";
        case CoalescingRule::Lines: return "CUDA C Programming Guide 4.2, appendix F.4.2";
        case CoalescingRule::CachedInL2: return "CUDA C Programming Guide 8.0, appendix G.3.2";
        case CoalescingRule::Sectors: break;
    }
    return "CUDA C++ Programming Guide 12, Device Memory Accesses";
}

Coalesced coalesce(CoalescingRule rule, const uint64_t* address, uint32_t mask, uint32_t bytes, bool store) {
    Coalesced out;
    out.rule = rule;
    if (mask == 0 || bytes == 0) return out;
    const Request r{address, bytes};
    switch (rule) {
        case CoalescingRule::HalfWarpStrict:
        case CoalescingRule::HalfWarpSegments:
            for (uint32_t half = 0; half < 2; ++half) {
                const uint32_t lanes = mask & lanes_of_half(half);
                if (lanes == 0) continue;
                rule == CoalescingRule::HalfWarpStrict ? strict_half(r, lanes, out.transactions)
                                                       : segments_half(r, lanes, out.transactions);
            }
            break;
        case CoalescingRule::Lines: parts(r, mask, store ? 32 : 128, out.transactions); break;
        case CoalescingRule::CachedInL2: parts(r, mask, 32, out.transactions); break;
        case CoalescingRule::Sectors: grains(r, mask, 32, out.transactions); break;
    }
    for (const Transaction& transaction : out.transactions) out.moved += transaction.bytes;
    out.needed = different_bytes(r, mask);
    return out;
}

std::string in_words(const Coalesced& request) {
    std::string sizes;
    for (const uint32_t bytes : {128u, 64u, 32u}) {
        const auto count = std::count_if(request.transactions.begin(), request.transactions.end(),
                                         [&](const Transaction& t) { return t.bytes == bytes; });
        if (count == 0) continue;
        sizes += fmt::format("{}{} {} of {} bytes", sizes.empty() ? "" : " and ", count,
                             count == 1 ? "transaction" : "transactions", bytes);
    }
    if (sizes.empty()) return "no transaction: no lane is active";
    return fmt::format("{}: {} bytes moved for {} needed", sizes, grouped(request.moved),
                       grouped(request.needed));
}

}  // namespace tilescope::analysis
