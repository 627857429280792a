// What the fuzzers have in common. Each is one function that is given bytes and ends the program where the
// bytes make Tilescope break a promise:
//
//   trace        a recording: read, walked as the commands walk it, written and read again
//   ptx          PTX text: parsed, printed and parsed again, instrumented, run by both engines, recorded, run again
//   args         a command line: its arguments, one a line; read, and run where that touches no file
//   description  a launch in comments: read, said again as a command, read again; or written down as JSON
//   flags        the compiler's flags: taken apart, quoted and taken apart again, sorted out
//   lesson       a lesson's JSON: read, its stops found, said and asked over recordings and models
//
// Built with libFuzzer by the preset `asan`; otherwise replay_main.cpp calls them for the files of the
// corpus.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/result.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);

namespace tilescope::fuzz {

// Ends the program with that sentence where a promise is broken.
inline void demand(bool is, std::string_view sentence) {
    if (is) return;
    std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
    std::abort();
}

// The same for what must have been made.
template <class T>
void demand(const Result<T>& made, std::string_view sentence) {
    if (!made) demand(false, std::string(sentence) + ": " + made.error().message);
}

// A refusal has a sentence.
template <class T>
bool made(const Result<T>& result) {
    if (!result) demand(!result.error().message.empty(), "an error without a sentence");
    return static_cast<bool>(result);
}

}  // namespace tilescope::fuzz
