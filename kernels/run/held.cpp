#include "kernels/run/held.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <ranges>
#include <set>

#include <fmt/format.h>

#include "core/base/words.h"
#include "core/ptx/ast.h"
#include "core/recording/expected_result.h"
#include "core/trace/claims.h"
#include "kernels/run/record.h"

namespace tilescope::kernels {

namespace {

constexpr uint64_t kMostArrays = uint64_t{64} << 20;  // bytes, which are made for it
constexpr uint64_t kSteps = 50'000;                   // after so many no other block is begun
constexpr uint64_t kMostSteps = 1'000'000;            // of a block
constexpr uint64_t kMostBlocks = 64;
constexpr uint64_t kMostMultiplications = 1 << 22;  // by which elements of a block are computed again

// Numbers that are others whenever a block runs again, or runs elsewhere.
bool is_of_one_run(ptx::SpecialRegister special) {
    using enum ptx::SpecialRegister;
    constexpr ptx::SpecialRegister kThese[] = {WarpId,  SmId,    NsmId,       GridId,        Clock,
                                               Clock64, ClockHi, GlobalTimer, GlobalTimerLo, GlobalTimerHi};
    return std::ranges::find(kThese, special) != std::end(kThese);
}

// Whether a block does the same steps whatever other blocks have done before, on whatever device.
bool blocks_stand_alone(const trace::Trace& trace) {
    const ptx::Kernel* const kernel = trace.module ? trace::kernel_of(trace, *trace.module) : nullptr;
    if (!kernel || trace.meta.backend != trace::Backend::Cpu) return false;
    for (const ptx::Instruction& instruction : kernel->instructions)
        for (const ptx::Operand& operand : instruction.operands)
            if (operand.kind == ptx::Operand::Kind::Special && is_of_one_run(operand.special)) return false;
    std::set<uint8_t> read, written;
    for (const trace::Form& form : trace.forms) {
        const ptx::Site& site = trace.sites[form.site];
        if (!ptx::asks_memory(site.kind) || form.space != Space::Global) continue;
        if (form.array == trace::kNoArray) return false;
        if (ptx::writes(site.kind)) written.insert(form.array);
        if (site.kind != ptx::SiteKind::Store) read.insert(form.array);
    }
    return std::ranges::none_of(read, [&](uint8_t array) { return written.contains(array); });
}

// What a block leaves in the result.
class StoredResult final : public simt::BlockObserver {
public:
    StoredResult(const trace::Trace& trace, const Array* result) : trace_(trace), result_(result) {}

    void on_request(const simt::Request& request) override {
        if (!result_ || request.space != Space::Global || !ptx::writes(trace_.sites[request.site].kind) ||
            request.element_bytes != result_->element_bytes())
            return;
        for_lanes(request.mask, [&](uint32_t lane) {
            const uint64_t at = request.address[lane] - result_->base;
            if (at >= result_->bytes()) return;
            for (uint32_t part = 0; part < request.elements; ++part)
                elements[at / request.element_bytes + part] = request.value[part * kWarpSize + lane];
        });
    }
    void on_barrier(uint32_t, uint32_t, uint32_t) override {}

    std::map<uint64_t, uint64_t> elements;  // bits by linear number

private:
    const trace::Trace& trace_;
    const Array* const result_;  // null: nobody asks
};

// An element that is said to be verified and is not what it must be; "" where none is found.
std::string wrong_element(const Array& result, const analysis::ExpectedResult& expected,
                          const StoredResult& stored) {
    uint64_t multiplications = 0;
    for (const auto& [element, bits] : stored.elements) {
        if ((multiplications += expected.multiplications()) > kMostMultiplications) break;
        const double is = number_of(Value{result.type, bits});
        const double must_be = expected.element(element);
        if (is != must_be)
            return fmt::format(
                "its result is said to be verified, and its code stores {:g} to element {} of {}, which "
                "must be {:g}; record it again",
                is, element, result.name, must_be);
    }
    return "";
}

// The numbers of blocks that are run again, the ends first.
std::vector<uint32_t> sample_of(const trace::Trace& trace) {
    const uint64_t all = trace.blocks.size(), some = std::min(all, kMostBlocks);
    std::vector<uint32_t> sample;
    uint64_t steps = 0;
    for (uint64_t at = 0; at < some && steps < kSteps; ++at) {
        // 0, last, 1, last - 1 ... of those that are spread evenly
        const uint64_t place = at % 2 == 0 ? at / 2 : some - 1 - at / 2;
        const uint64_t block = some == 1 ? 0 : place * (all - 1) / (some - 1);
        const uint64_t count = trace.blocks[block].count;
        if (count > kMostSteps) continue;
        steps += count;
        sample.push_back(static_cast<uint32_t>(block));
    }
    return sample;
}

// Why the recording is not what its code does, "" where no difference was found; blocks: that were compared.
std::string difference(const trace::Trace& trace, uint64_t& blocks) {
    uint64_t bytes = 0;
    for (const Array& array : trace.launch.arrays) bytes += std::min(array.bytes(), kMostArrays);
    if (bytes > kMostArrays) return "";
    auto replayer = Replayer::of(trace);
    if (!replayer) return "";
    const auto expected = analysis::ExpectedResult::of(trace);
    const Array* const result = expected ? &trace.launch.arrays[trace.meta.result.array] : nullptr;
    const ReplayOptions few{.spare = uint64_t{1} << 20};
    for (const uint32_t block : sample_of(trace)) {
        StoredResult stored(trace, result);
        const auto same = replayer->replay(trace, block, stored, few);
        if (!same && replayer->differed()) return same.error().message;
        if (!same) return "";  // it takes more than is spared
        ++blocks;
        if (!expected) continue;
        if (std::string wrong = wrong_element(*result, *expected, stored); !wrong.empty()) return wrong;
    }
    return "";
}

}  // namespace

HeldTrace held(trace::Trace trace) {
    HeldTrace made{std::move(trace)};
    trace::Meta& meta = made.trace.meta;
    if (!meta.complete || made.trace.blocks.empty()) return made;
    if (!meta.result.verified && !blocks_stand_alone(made.trace)) return made;
    std::string differs = difference(made.trace, made.blocks);
    if (differs.empty()) return made;
    made.blocks = 0;
    meta.complete = false;
    meta.incomplete_reason = std::move(differs);
    trace::drop_result(meta);
    return made;
}

Result<trace::Trace> held(Result<trace::Trace> read) {
    if (!read) return read;
    return held(std::move(*read)).trace;
}

}  // namespace tilescope::kernels
