// What arguments name: a recording, a block and steps of it, the PTX that runs. Refuses what cannot be read.
#pragma once

#include "app/cli/command.h"
#include "core/playback/cursor.h"
#include "core/recording/recording.h"
#include "core/trace/trace.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/shipped.h"

namespace tilescope::cli {

struct OpenedRecording {
    trace::Trace trace;
    std::string origin;  // the file, or the label of a recording that ships
    uint64_t held = 0;   // blocks that were held against their code (kernels/run/held.h)
};

// Whether two names lead to one recording.
bool is_same_recording(const std::string& a, const std::string& b);

// A file of that name comes first; where there is none, a recording that ships.
// beside: bytes of another recording that stays open.
Result<OpenedRecording> open_recording(
    const std::string& file_or_name,
    const std::vector<kernels::ShippedRecording>& shipped = kernels::shipped_recordings(),
    uint64_t beside = 0);

// The same as a Recording, with what is worked out of it; refuses what cannot be opened.
// held: takes the number of blocks that were held against their code.
analysis::Recording opened(const std::string& file_or_name, uint64_t beside = 0, uint64_t* held = nullptr);

// In what follows `file` is what the sentence calls the recording.

// --block: x and y, read before a recording is opened, none where nothing is given; and then its index in
// trace.blocks, the first block for none.
std::optional<NumberPair> parse_block(const std::string& option);
uint32_t choose_block(std::optional<NumberPair> block, const trace::Trace& trace, const std::string& file);

// --at: a step's number from 1, or "first", "last", or "middle", which is the middle step of the middle block
// (half of all steps is often just where a block begins).
playback::Cursor choose_step(const std::string& option, const trace::Trace& trace, const std::string& file);

// --steps: "12:40" is steps 12 to 40, both of them, each as --at takes it. Half-open, from 0.
std::pair<uint64_t, uint64_t> choose_steps(const std::string& option, const trace::Trace& trace,
                                           const std::string& file);

// --ptx and --compiler: which PTX of a textbook kernel runs. At most one of them is given.
struct PtxChoice {
    std::string ptx_file;  // another compiler's PTX of the same kernel; "" for none
    std::string compiler;  // "" or "clang" for the PTX that ships, "nvrtc" for what NVRTC makes of the source
};
void check_ptx(const PtxChoice& choice);  // reads no file
// The source of a PTX file is the file that its .file and .loc lines name. Where that cannot be read no
// source is shown: it need not be the one that ships.
// Returns the files that were read.
std::vector<std::string> use_ptx(const PtxChoice& choice, kernels::TextbookPlan& plan);
// Gives a plan the source of its PTX, and returns the file that was read; "" where there is none.
std::string find_source(kernels::Plan& plan, const std::string& ptx_file);

}  // namespace tilescope::cli
