#include "kernels/launched/judge.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/hazards/said.h"
#include "kernels/launched/one_address.h"
#include "kernels/run/judged.h"

namespace tilescope::launched {
namespace {

constexpr const char* kHarmless = "its value changes nothing that the launch leaves in memory";

// What is other than in the recorded run.
enum class Changed : uint8_t { Shared, Unfilled, Absent };

// Whether a launch leaves the same in memory where what nobody filled holds other bytes.
bool same_with(const LaunchToJudge& of, Changed changed) {
    if (!of.may_run_again || !of.kernel.program || of.kernel.uses_heap) return false;
    simt::GlobalMemory again = of.after;
    std::vector<const FilledMap*> after;  // of each buffer
    for (const Array& array : of.launch.arrays) {
        if (array.space != Space::Global) continue;
        simt::Bytes& bytes = again.buffers[after.size()].bytes;
        bytes.assign(array.contents.bytes->begin(), array.contents.bytes->end());
        const auto before = of.filled_before.find(array.base), left = of.filled_after.find(array.base);
        after.push_back(left == of.filled_after.end() ? nullptr : &left->second);
        if (changed != Changed::Unfilled || before == of.filled_before.end()) continue;
        for (uint64_t i = 0; i < bytes.size(); ++i)
            if (!before->second.is_filled(i)) bytes[i] = std::byte{0xFF};
    }
    simt::RunOptions options;
    options.window = of.window;
    options.stop = of.stop;
    if (changed == Changed::Shared) options.unfilled = 0;
    if (changed == Changed::Absent) options.absent = 0x5A5A'5A5Au;
    for (simt::Buffer& buffer : again.buffers) buffer.filled = nullptr;
    const auto outcome = simt::run(*of.kernel.program, of.launch, again, options, {});
    if (!outcome || !outcome->complete) return false;
    for (size_t b = 0; b < after.size(); ++b) {
        const simt::Bytes &one = again.buffers[b].bytes, &other = of.after.buffers[b].bytes;
        for (uint64_t i = 0; i < one.size(); ++i)
            if (one[i] != other[i] && (!after[b] || after[b]->is_filled(i))) return false;
    }
    return true;
}

uint8_t array_at(const Launch& launch, uint64_t address) {
    for (size_t a = 0; a < launch.arrays.size(); ++a)
        if (launch.arrays[a].space == Space::Global &&
            address - launch.arrays[a].base < launch.arrays[a].bytes())
            return static_cast<uint8_t>(a);
    return trace::kNoArray;
}

// Whether somebody may have filled memory unseen: what is said to be unfilled holds something.
bool filled_unseen(const LaunchToJudge& of, uint64_t address) {
    const uint8_t a = array_at(of.launch, address);
    if (a == trace::kNoArray) return false;
    const Array& array = of.launch.arrays[a];
    const auto before = of.filled_before.find(array.base);
    return before != of.filled_before.end() && array.contents.bytes &&
           !before->second.rest_is_zero(array.contents.bytes->data());
}

void add_undefined(trace::Trace& trace, const LaunchToJudge& of) {
    using U = simt::Undefined::Kind;
    using K = trace::Finding::Kind;
    std::optional<bool> unfilled_harmless, absent_harmless;
    const auto once = [&](std::optional<bool>& known, Changed changed) {
        if (!known) known = same_with(of, changed);
        return *known;
    };
    for (const simt::Undefined& one : of.undefined) {
        if (trace.meta.findings.size() >= trace::kMostFindings) return;
        trace::Finding found;
        found.line = one.line;
        found.count = one.count, found.blocks = static_cast<uint32_t>(one.blocks);
        found.sentence = one.sentence;
        if (one.kind == U::UnfilledRead) {
            if (filled_unseen(of, one.lowest)) continue;
            found.kind = K::Unfilled;
            found.array = array_at(of.launch, one.lowest);
            found.remark = once(unfilled_harmless, Changed::Unfilled);
            if (found.remark) found.sentence += std::string("; ") + kHarmless;
        } else if (one.kind == U::AbsentLanes) {
            found.kind = K::AbsentLanes;
        } else {
            // Half a warp that adds up by shuffles reads beyond its half, into sums that nobody uses.
            const bool said = std::ranges::any_of(trace.meta.findings, [&](const trace::Finding& other) {
                return other.kind == K::AbsentLanes && other.line == one.line;
            });
            if (said || !of.may_run_again || of.kernel.uses_heap || once(absent_harmless, Changed::Absent))
                continue;
            found.kind = K::AbsentLanes;
        }
        trace.meta.findings.push_back(std::move(found));
    }
}

}  // namespace

std::vector<LaunchFault> judge(const std::shared_ptr<trace::Trace>& trace, const LaunchToJudge& of,
                               const std::string& told) {
    add_undefined(*trace, of);
    if (auto found = read_through_other_name(*trace)) trace->meta.findings.push_back(std::move(*found));
    const auto recording = analysis::opened(trace);
    if (!recording) return {};
    analysis::Hazards hazards = kernels::judged(*recording);
    const bool uninitialised = std::ranges::any_of(hazards.found, [](const analysis::Hazard& h) {
        return h.kind == analysis::HazardKind::Uninitialised && h.severity == analysis::Severity::Fault;
    });
    if (uninitialised && same_with(of, Changed::Shared)) {
        trace->meta.findings.push_back(
            {.kind = trace::Finding::Kind::SharedBytes, .remark = true, .sentence = kHarmless});
        hazards = kernels::judged(*recording);
    }
    std::vector<LaunchFault> faults;
    for (const analysis::SaidFault& said : analysis::said_faults(hazards))
        if (told.empty() || said.sentence != one_sentence(told))
            faults.push_back({key_of(said.kind), key_of(said.severity), said.line, said.other_line,
                              said.count, said.sentence});
    return faults;
}

}  // namespace tilescope::launched
