// What the Race screen shows, read the slow and obvious way from trace::decode: which steps a product's share of
// work is, and what they have loaded and stored.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/trace/trace.h"

namespace tilescope::twin {

using Element = std::pair<uint8_t, uint64_t>;

inline bool in_global(const trace::Trace& trace, const trace::Access& access) {
    return access.array != trace::kNoArray && trace.launch.arrays[access.array].space == Space::Global;
}

// visit(element) for each element that a lane touches.
template <class Visit>
void elements_of(const trace::Trace& trace, const trace::Access& access, Visit visit) {
    const uint64_t size = trace.launch.arrays[access.array].element_bytes(),
                   bytes = trace.sites[access.site].bytes;
    for (uint32_t lane = 0; lane < 32; ++lane)
        if ((access.mask >> lane & 1) != 0)
            for (uint64_t e = access.offset[lane] / size; e <= (access.offset[lane] + bytes - 1) / size; ++e)
                visit(Element{access.array, e});
}

struct Walked {
    uint64_t bytes = 0;                 // loaded from global memory
    std::map<Element, uint64_t> loads;  // of elements of global memory
    std::set<Element> stored;
};

inline Walked walk(const trace::Trace& trace, uint64_t steps) {
    Walked made;
    for (uint64_t step = 0; step < steps; ++step) {
        const trace::Access access = trace::decode(trace, step);
        const ptx::Site& site = trace.sites[access.site];
        if (!in_global(trace, access)) continue;
        if (site.kind == ptx::SiteKind::Load) {
            made.bytes += static_cast<uint64_t>(std::popcount(access.mask)) * site.bytes;
            elements_of(trace, access, [&](Element e) { ++made.loads[e]; });
        } else if (ptx::writes(site.kind)) {
            elements_of(trace, access, [&](Element e) { made.stored.insert(e); });
        }
    }
    return made;
}

// Lanes that read a factor at a step: of shared memory, or in a kernel without it of M and N.
inline uint64_t factors(const trace::Trace& trace, uint64_t step, bool shared) {
    const trace::Access access = trace::decode(trace, step);
    const ptx::Site& site = trace.sites[access.site];
    if (site.kind != ptx::SiteKind::Load) return 0;
    const bool global = in_global(trace, access);
    return shared != global ? static_cast<uint64_t>(std::popcount(access.mask)) : 0;
}

// The first steps that come to a moment's share of the work.
inline uint64_t steps_of_product(const trace::Trace& trace, uint32_t moment, uint32_t moments) {
    if (moment == moments) return trace.steps();
    bool shared = false;
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const ptx::Site& site = trace.sites[trace::decode(trace, step).site];
        shared = shared || (site.kind == ptx::SiteKind::Load && site.space == Space::Shared);
    }
    std::vector<uint64_t> elements, reads;
    for (const trace::Block& block : trace.blocks) {
        std::set<Element> stored;
        uint64_t all = 0;
        for (uint64_t step = block.first; step < block.first + block.count; ++step) {
            all += factors(trace, step, shared);
            const trace::Access access = trace::decode(trace, step);
            if (in_global(trace, access) && ptx::writes(trace.sites[access.site].kind))
                elements_of(trace, access, [&](Element e) { stored.insert(e); });
        }
        elements.push_back(stored.size());
        reads.push_back(all);
    }
    uint64_t whole = 0, before = 0;
    for (const uint64_t one : elements) whole += one;
    if (moment == 0) return 0;
    for (size_t at = 0; at < trace.blocks.size(); ++at) {
        const trace::Block& block = trace.blocks[at];
        uint64_t done = 0;
        for (uint64_t step = block.first; step < block.first + block.count; ++step) {
            done += factors(trace, step, shared);
            if (done > 0 &&
                (before * reads[at] + elements[at] * done) * moments >= moment * whole * reads[at])
                return step + 1;
        }
        before += elements[at];
    }
    return trace.steps();
}

}  // namespace tilescope::twin
