// A record with words (core/ptx/instrument.h), as the step that a trace has: addresses where the trace has its arrays, and
// what a copy of a tensor's box says only by its map.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/device_records.h"

namespace tilescope::trace {

struct WordStep {
    uint32_t mask = 0;
    alignas(64) Addresses address{};
    std::array<uint32_t, kWarpSize * ptx::kMostStepWords> words{};
    std::vector<PlacedMap> maps;  // that its copies use
    const uint32_t* of_lane(uint32_t lane) const { return words.data() + size_t{lane} * ptx::kMostStepWords; }
    uint32_t* of_lane(uint32_t lane) { return words.data() + size_t{lane} * ptx::kMostStepWords; }
};

class WordReader {
public:
    // rank: of the block in its cluster.
    WordReader(const DeviceLayout& layout, const DecodeOptions& options, uint32_t rank)
        : layout_(&layout), options_(&options), rank_(rank) {}
    // False, with `problem`, where a copy names a tensor map that nobody knows.
    bool read(const DeviceRecord& record, WordStep& step);

    std::string problem;

private:
    struct KnownMap {
        PlacedMap placed;
        ptx::TensorMap map;
    };
    const KnownMap* map_of(uint32_t* words);
    void place_barriers(WordStep& step) const;
    bool read_maps(Space space, WordStep& step);
    void place_descriptors(WordStep& step) const;

    const DeviceLayout* layout_;
    const DecodeOptions* options_;
    uint32_t rank_;
    std::map<std::pair<bool, uint64_t>, std::optional<KnownMap>> maps_;  // by address
};

}  // namespace tilescope::trace
