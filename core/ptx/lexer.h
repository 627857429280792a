// PTX text to tokens.
//
//   @%p1 ld.global.f32 %f1, [%rd4+8];   // comment
//   @  %p1  ld  .global  .f32  %f1  ,  [  %rd4  +  8  ]  ;
//
// A name with its dots is several tokens: a Word and its Dots. Every token is a view into the text,
// so that what lies between two of them can be kept as it was written.
//
// Source: PTX ISA, "Syntax": "Comments", "Identifiers", "Constants".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tilescope::ptx {

struct Token {
    enum class Kind : uint8_t {
        Word,         // ld  %rd4  $L__BB0_2  _
        Dot,          // .global, with its dot; .shared::cta is one
        Number,       // 12  0x1F  0f3F800000
        String,       // "nounroll", with its quotes
        Punctuation,  // one character
        End,
    } kind = Kind::End;
    uint32_t line = 0;      // from 1
    std::string_view text;  // empty for End

    bool is(char c) const { return kind == Kind::Punctuation && text[0] == c; }
};

// The last token is End. Fails for a byte that PTX has no use for and for a comment or string that
// does not end: "tiled.ptx:57: ...".
Result<std::vector<Token>> tokenise(std::string_view text, std::string_view name);

}  // namespace tilescope::ptx
