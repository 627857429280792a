// The recording sequence as PTX text: what instrument.cpp puts before a site, at the kernel's entry and
// at its exits. core/ptx/instrument.h says what it writes.
//
// Registers that live through the kernel:
//
//   %ts_full            lanes that the warp began with
//   %ts_low             whether this is the lowest of them, which writes the warp's stream
//   %ts_wlo, %ts_whi    cursor of the warp's stream, the same in all lanes; low bits 0: no room
//   %ts_llo, %ts_lhi    cursor of the lane's own stream
//   %ts_bad             not 0 once an address was not as proven
//   %ts_a, %ts_aclock   low address and clock of the first half of a pair; clock of the first site of a run
//   %ts_r0 ... %ts_r7   words of a run that are not written yet, by number modulo 8
//   %ts_held            whether %ts_a and %ts_aclock hold a request not recorded yet (held_first_text)
//   %ts_apart           whether the sites of this run are recorded as singles
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/ast.h"
#include "core/ptx/instrument.h"

namespace tilescope::ptx {

struct RecordingText {
    std::string control, x0, y0, width, height;  // names of the added parameters
    uint32_t chunk_bytes = 0;
    uint32_t code_bits = 0;
};

// Puts the thread's number in its block into %ts_t0; %ts_t1 and %ts_t2 are changed.
inline constexpr std::string_view kThreadOfBlock = R"(
    mov.u32 %ts_t0, %tid.z;
    mov.u32 %ts_t1, %ntid.y;
    mov.u32 %ts_t2, %tid.y;
    mad.lo.u32 %ts_t0, %ts_t0, %ts_t1, %ts_t2;
    mov.u32 %ts_t1, %ntid.x;
    mov.u32 %ts_t2, %tid.x;
    mad.lo.u32 %ts_t0, %ts_t0, %ts_t1, %ts_t2;)";

// Registers to declare beside the kernel's own.
std::vector<Register> recording_registers();

// What a sequence needs to know of a site.
struct SiteText {
    uint32_t number = 0;  // for labels: no two sequences have the same
    std::string address;  // PTX that puts the address in %ts_lo and %ts_hi
    uint32_t single = 0;  // code of the site alone
    std::string check;    // PTX that puts what is not as proven in %ts_bad
};

std::string entry_text(const RecordingText& text, bool windowed, const std::string& plain_label,
                       const std::vector<std::string>& symbols);
std::string exit_text(const RecordingText& text, uint32_t number);

// The sequence before a site, and its slow path, which goes to the end of the kernel.
struct Sequence {
    std::string before, slow;
};
Sequence single_text(const RecordingText& text, const SiteText& site);
Sequence escape_text(const RecordingText& text, const SiteText& site);
// words: PTX by word, which puts it in %ts_lo. The first finds the address there. None changes %ts_d3, %ts_q or %ts_p0.
Sequence words_text(const RecordingText& text, const SiteText& site, const std::vector<std::string>& words);
Sequence narrow_text(const RecordingText& text, const SiteText& site, const NarrowAddresses& narrow);
std::string pair_first_text(const SiteText& site);
Sequence pair_second_text(const RecordingText& text, const SiteText& first, const SiteText& second,
                          uint32_t code);

// A pair whose first site may be skipped: it stands in a block of its own, as the load in
// `if (inside) value = M[i]; Mds[t] = value;`. A whole warp that comes through it holds it back, and the
// second site writes the pair, or itself alone where there is nothing to write before.
Sequence held_first_text(const RecordingText& text, const SiteText& site);
Sequence held_second_text(const RecordingText& text, const SiteText& first, const SiteText& second,
                          uint32_t code);

// A site of a run, or a part of it that is written at once.
struct RunSite {
    SiteText site;
    RunPlace place;
    bool new_base = false;  // its address is the first that is made from its register
    bool first = false;     // of the run
};
// Before each site: brings its address and its clock to the run's words.
std::string run_site_text(const RunSite& site);
// Sites of a run, behind the last of which its slots [first_slot, last_slot) are written.
struct RunPart {
    std::vector<RunSite> sites;                         // since the part before
    uint32_t first_slot = 0, last_slot = 0, words = 0;  // words: how many the run has in all
    bool last = false;
};
Sequence run_part_text(const RecordingText& text, const RunPart& part, const Code& run, uint32_t code);

}  // namespace tilescope::ptx
