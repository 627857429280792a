// What arguments name, each read whole or refused with a sentence: numbers ("16x16"), a recording, a block
// and steps of it, and the PTX that runs.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/trace/trace.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/shipped.h"

namespace tilescope::cli {

// "1024".
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// "16x8" with separator 'x', "3,0" with ','.
std::optional<std::pair<uint32_t, uint32_t>> parse_pair(std::string_view text, char separator);

struct OpenedRecording {
    trace::Trace trace;
    std::string origin;  // the file, or the label of a recording that ships
};

// A file of that name comes first; where there is none, a recording that ships.
Result<OpenedRecording> open_recording(
    const std::string& file_or_name,
    const std::vector<kernels::ShippedRecording>& shipped = kernels::shipped_recordings());

// What --help says of such an argument.
inline constexpr const char* kRecordingArgument = "A recording: a .tsc file, or a name from 'recordings'";

// In what follows `file` is what the sentence calls the recording.

// --block: whether it reads as x,y at all, before a recording is opened; and its index in trace.blocks, the
// first block where nothing is given.
Result<void> check_block(const std::string& option);
Result<uint32_t> choose_block(const std::string& option, const trace::Trace& trace, const std::string& file);

// --at: a step's number from 1, or "first", "last", or "middle", which is the middle step of the middle block
// (half of all steps is often just where a block begins). From 0.
Result<uint64_t> choose_step(const std::string& option, const trace::Trace& trace, const std::string& file);

// --steps: "12:40" is steps 12 to 40, both of them, each as --at takes it. Half-open, from 0.
Result<std::pair<uint64_t, uint64_t>> choose_steps(const std::string& option, const trace::Trace& trace,
                                                   const std::string& file);

// --ptx: another compiler's PTX of the same kernel, from a file. The source is the file that its .file and
// .loc lines name, where that can be read; else none is shown, for nobody knows that the shipped one is it.
Result<void> use_ptx_file(kernels::Plan& plan, const std::string& path);

// --compiler nvrtc: what NVRTC makes of the kernel's source for a compute capability (major * 10 + minor).
Result<void> use_nvrtc(kernels::TextbookPlan& plan, int compute_capability);

// Whether --compiler is one that is known, and goes with --ptx; "" is the usual one.
Result<void> check_compiler(const std::string& compiler, const std::string& ptx_file);

}  // namespace tilescope::cli
