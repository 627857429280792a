// What of a kernel is recorded how: sites alone, two by two or in runs, and the codes that say so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ptx/instrument.h"
#include "core/ptx/recording_text.h"
#include "core/ptx/site_text.h"

namespace tilescope::ptx {

// Neighbouring sites that are recorded together.
struct RecordedRun {
    uint32_t first = 0, last = 0;  // sites
    std::vector<RunPart> parts;
};

// A kernel while it is instrumented.
struct RecordingPlan {
    Kernel kernel;
    const InstrumentOptions& options;
    Instrumented result{};
    RecordingText text{};
    // By site: the site it is paired with, -1 for none; the first of a pair is the lower.
    std::vector<int32_t> partner{};
    std::vector<bool> held{};        // by site: the first of a pair, and may be skipped
    std::vector<uint32_t> single{};  // by site: code of the site alone
    std::vector<RecordedRun> runs{};
    std::vector<int32_t> run_of{};                 // by site, -1 for none
    std::map<uint32_t, uint32_t> pair_code{};      // first site -> code
    std::map<uint32_t, uint32_t> run_code{};       // first site -> code
    std::map<uint32_t, uint32_t> returned_code{};  // site -> code
    struct GroupCode {
        uint32_t instruction = 0, code = 0;
    };
    std::vector<GroupCode> groups{};                 // commits and waits
    std::vector<std::optional<WmmaRequest>> wmma{};  // by site
    std::vector<Note> notes{};
    std::vector<std::string> slow{};
    bool clusters = false;  // it makes addresses of other blocks' shared memory
    // Registers for what an atomic gives back, the first of several.
    int32_t result16 = -1, result32 = -1, result64 = -1;
};

// Whether what it gave back is recorded: an atomic of memory that other blocks use too.
bool returns(const RecordingPlan& work, const Site& site);
// Whether every lane's address is recorded.
bool escapes(const RecordingPlan& work, const Site& site);
// Whether it is an escape of which less than whole addresses will do.
bool is_narrow(const RecordingPlan& work, const Site& site);
// The operand that says how many bytes a lane reads, of the load of a cp.async that has one.
const Operand* size_read(const RecordingPlan& work, const Site& site);

// Neighbours of one basic block: many together, or two by two.
void find_neighbours(RecordingPlan& work);
// Fails where a tag has no room for all of them.
Result<void> number_codes(RecordingPlan& work);
Error too_many(const Kernel& kernel, const std::vector<Site>& sites);

}  // namespace tilescope::ptx
