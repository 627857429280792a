// Text from files: names, reasons, source lines. A recording may hold any bytes, so text leaves the program
// through one function for each target, which escapes for it.
//
//   terminal     printable: controls, which a terminal obeys, become U+FFFD; lines stay lines
//   one line     one_line: the same; line ends become blanks, and long text is shortened
//   CSV          csv_cell: quoted as RFC 4180 has it; a formula of a spreadsheet begins with '
//   Markdown     markdown_code: a code span that nothing in it ends, nor a table's cell
//   SVG          xml_text: entities; nothing that XML 1.0 forbids
//   JSON         json_text (json_fields.h)
//   the window   draw::shown (app/draw/fonts.h)
//
// A control is a character of C0 or C1, DEL, a separator of lines or paragraphs, one that turns the direction
// of text, or one that is not seen: zero width spaces, invisible operators and tags. It becomes U+FFFD, and so does each byte that is not UTF-8.
//
// Source: RFC 3629 (UTF-8), section 4; ECMA-48 (controls); UAX #9 (directions); OWASP, "CSV Injection";
// GitHub Flavored Markdown, sections 4.10 (tables) and 6.3 (code spans); XML 1.0, section 2.2.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tilescope {

inline constexpr size_t kLongestCell = 256;   // bytes of a name in a sentence or in a table's cell
inline constexpr size_t kLongestLine = 1000;  // bytes of a sentence

// The longest beginning of at most `bytes` bytes that ends between two characters.
std::string_view beginning_of(std::string_view text, size_t bytes);

// That beginning, and an ellipsis where something is left out.
std::string shortened(std::string_view text, size_t bytes);

// Text of several lines for a terminal. Valid text without controls comes back as it is.
std::string printable(std::string_view text);

// Text on one line, at most about `most` bytes of it: an ellipsis stands for what is left out at its end. It
// takes time in proportion to what comes back.
std::string one_line(std::string_view text, size_t most = kLongestCell);

// The same, with what is left out in the middle: a sentence says what to do at its end.
std::string one_sentence(std::string_view text, size_t most = kLongestLine);

// The whole text as a number, as std::from_chars reads it, whose floating part not every standard library has.
std::optional<double> real_number(std::string_view text);

// Numbers stay numbers: -5 is no formula.
std::string csv_cell(std::string_view text);
// A code span in a table's cell: a bare * would set the text between two of them in italics. "" for no text.
std::string markdown_code(std::string_view text);
std::string xml_text(std::string_view text);
// JSON whose strings may hold controls: those above ASCII's are written as JSON has it, \u009b.
std::string escaped_controls(const std::string& json);

}  // namespace tilescope
