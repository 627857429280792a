#include "kernels/alone/description.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/contents.h"
#include "core/base/shell_words.h"
#include "core/base/text.h"
#include "core/ptx/swizzle.h"
#include "kernels/run/source_text.h"

namespace tilescope::kernels {

namespace {

// The whole text as a number of that type.
template <class Number, class... Base>
std::optional<Number> all_of(std::string_view text, Base... base) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// The type of an element by its C, C++ or CUDA name, or by PTX's.
std::optional<HeldType> type_of(std::string_view text) {
    if (const auto type = element_type_of(trimmed(text))) return HeldType{*type, 1};
    return held_type("", text);
}

Error not_argument(std::string_view text, std::string_view why) {
    return Error{
        fmt::format("'{}' {}; give a value as 512, float[512,512]:random or bytes:HEX", one_line(text), why)};
}

Result<GivenContents> parse_contents(std::string_view text, std::string_view whole) {
    using Kind = GivenFill;
    constexpr std::pair<std::string_view, Kind> kKinds[] = {
        {"zeros", Kind::Zeros}, {"random", Kind::Random}, {"iota", Kind::Iota}, {"ones", Kind::Ones}};
    for (const auto& [word, kind] : kKinds)
        if (text == word) return GivenContents{kind, {}};
    if (const auto number = parse_given_number(text)) return GivenContents{Kind::Number, *number};
    return Error{
        fmt::format("'{}' holds '{}', which is no contents; choose zeros, random, iota, ones or a number",
                    one_line(whole), one_line(text))};
}

Result<GivenArgument> parse_array(std::string_view text) {
    const size_t open = text.find('['), close = text.find(']');
    if (close == std::string_view::npos || close < open) return not_argument(text, "has a '[' and no ']'");
    GivenArgument argument;
    argument.kind = GivenKind::Array;
    const auto type = type_of(text.substr(0, open));
    if (!type) {
        return Error{
            fmt::format("'{}' is not a type of elements; choose one such as float, double, int, unsigned, "
                        "char, short, half or float4",
                        one_line(trimmed(text.substr(0, open))))};
    }
    argument.type = type->type;
    uint64_t elements = 1;
    for (const std::string_view piece : parts_between_commas(text.substr(open + 1, close - open - 1))) {
        const auto extent = all_of<uint64_t>(trimmed(piece));
        if (!extent || *extent == 0 || *extent > kMostArrayElements)
            return not_argument(text, fmt::format("has an extent '{}'", one_line(piece)));
        argument.extents.push_back(*extent);
        elements *= std::min(*extent, kMostArrayElements / elements + 1);
    }
    if (argument.extents.empty()) return not_argument(text, "has no extent between '[' and ']'");
    if (argument.extents.size() > 3) return not_argument(text, "has more than three extents");
    argument.extents.back() *= type->count;
    if (elements * type->count > kMostArrayElements) return not_argument(text, "has more than 2^31 elements");
    const std::string_view rest = trimmed(text.substr(close + 1));
    if (rest.empty()) return argument;
    if (rest.front() != ':') return not_argument(text, "has more behind its ']' than its contents");
    auto contents = parse_contents(trimmed(rest.substr(1)), text);
    if (!contents) return contents.error();
    argument.contents = *contents;
    return argument;
}

Result<GivenArgument> parse_object(std::string_view hex, std::string_view text) {
    GivenArgument argument;
    argument.kind = GivenKind::Object;
    if (hex.empty() || hex.size() % 2 != 0 || hex.size() / 2 > kMostParameterBytes)
        return not_argument(text, "needs two hexadecimal digits for each byte of the struct");
    for (size_t i = 0; i < hex.size(); i += 2) {
        const auto byte = all_of<uint8_t>(hex.substr(i, 2), 16);
        if (!byte) return not_argument(text, "needs two hexadecimal digits for each byte of the struct");
        argument.object.push_back(static_cast<std::byte>(*byte));
    }
    return argument;
}

// tensor(half[128,64]:iota, box=64x64, swizzle=128B, fill=nan)
Result<GivenArgument> parse_tensor(std::string_view inside, std::string_view text) {
    GivenArgument argument;
    const std::vector<std::string_view> parts = parts_between_commas(inside);
    const std::string_view what = parts.empty() ? std::string_view() : trimmed(parts[0]);
    if (what.find('[') != std::string_view::npos) {
        auto array = parse_array(what);
        if (!array) return array.error();
        argument = std::move(*array);
    } else if (!what.empty() && std::ranges::all_of(what, is_word)) {
        argument.tensor_of = what;
    } else {
        return not_argument(text, "names no array of its own, and no argument, whose tensor map it is");
    }
    argument.kind = GivenKind::Tensor;
    argument.swizzle = ptx::name_of(ptx::Swizzle::None);
    for (size_t i = 1; i < parts.size(); ++i) {
        const std::string_view part = trimmed(parts[i]);
        const size_t equals = std::min(part.find('='), part.size());
        const std::string_view key = trimmed(part.substr(0, equals)),
                               value = trimmed(part.substr(std::min(equals + 1, part.size())));
        if (key == "box") {
            if (!argument.box.empty()) return not_argument(text, "says box= twice");
            for (size_t at = 0; at <= value.size();) {
                const size_t end = std::min(value.find_first_of("xX", at), value.size());
                const auto extent = all_of<uint64_t>(value.substr(at, end - at));
                if (!extent || *extent == 0 || *extent > 256)
                    return not_argument(
                        text, fmt::format("has a box '{}', whose sides must be 1 to 256", one_line(value)));
                argument.box.push_back(*extent);
                at = end + 1;
            }
        } else if (key == "swizzle") {
            const auto known = std::ranges::find(ptx::kSwizzleRules, value, &ptx::SwizzleRule::name);
            if (known == ptx::kSwizzleRules.end())
                return not_argument(
                    text, fmt::format("has a swizzle '{}', which is none of none, 32B, 64B and 128B",
                                      one_line(value)));
            argument.swizzle = value;
        } else if (key == "fill" && (value == "zeros" || value == "nan")) {
            argument.fills_with_nan = value == "nan";
        } else {
            return not_argument(text, fmt::format("has '{}', where a tensor map has box=, swizzle= and fill=",
                                                  one_line(part)));
        }
    }
    if (argument.box.empty()) return not_argument(text, "says no box=, such as box=64x64");
    if (argument.tensor_of.empty() && argument.box.size() != argument.extents.size())
        return not_argument(text, "has a box with more or fewer sides than its array");
    return argument;
}

Result<GivenArgument> parse_value(std::string_view text) {
    GivenArgument argument;
    constexpr std::string_view kBytes = "bytes:";
    if (text == "null" || text == "nullptr" || text == "NULL") {
        argument.kind = GivenKind::Null;
        return argument;
    }
    if (text.substr(0, kBytes.size()) == kBytes) return parse_object(text.substr(kBytes.size()), text);
    constexpr std::string_view kTensor = "tensor(";
    if (text.starts_with(kTensor) && text.ends_with(')'))
        return parse_tensor(text.substr(kTensor.size(), text.size() - kTensor.size() - 1), text);
    if (text.find('[') != std::string_view::npos) return parse_array(text);
    const auto number = parse_given_number(text);
    if (!number) return not_argument(text, "is no value");
    argument.number = *number;
    return argument;
}

// The argument of that name, which is made where there is none; those without a name are added.
void put(std::vector<GivenArgument>& arguments, const GivenArgument& argument) {
    for (GivenArgument& other : arguments)
        if (!argument.name.empty() && other.name == argument.name) return void(other = argument);
    arguments.push_back(argument);
}

constexpr std::string_view kOptions[] = {"--kernel", "--grid", "--block", "--cluster",
                                         "--shared", "--arg",  "--call"};

Result<void> add_option(Description& to, std::string_view option, const std::string& value) {
    const auto wrong = [&](const char* what) {
        return Error{fmt::format("{} '{}' {}", option, one_line(value), what)};
    };
    if (option == "--kernel") {
        if (value.empty()) return wrong("names no kernel");
        to.kernel = value;
    } else if (option == "--grid") {
        if (to.grid = parse_size(value); !to.grid) return wrong("is not a grid; give it as X,Y, such as 4,2");
    } else if (option == "--block") {
        if (to.block = parse_size(value); !to.block)
            return wrong("is not a block; give it as X,Y, such as 16,16");
    } else if (option == "--cluster") {
        if (to.cluster = parse_size(value); !to.cluster)
            return wrong("is not a cluster; give its blocks as X,Y, such as 2,1");
    } else if (option == "--shared") {
        if (to.shared = all_of<uint32_t>(value); !to.shared)
            return wrong("is no number of bytes; give the dynamic shared memory of a block, such as 4096");
    } else if (option == "--call") {
        return add_call(to, value);
    } else {
        auto argument = parse_argument(value);
        if (!argument) return argument.error();
        put(to.arguments, *argument);
    }
    return {};
}

constexpr std::string_view kMark = "tilescope:";

// Calls visit(text behind the mark) for every line that is such a comment.
template <class Visit>
void for_comments(std::string_view source, Visit visit) {
    for (size_t at = source.find(kMark); at != std::string_view::npos; at = source.find(kMark, at + 1)) {
        const size_t line = at == 0 ? 0 : source.rfind('\n', at - 1) + 1;
        const std::string_view before = trimmed(source.substr(line, at - line));
        if (before != "//" && before != "*" && before != "/*") continue;
        std::string_view text = source.substr(at + kMark.size());
        text = text.substr(0, text.find('\n'));
        visit(trimmed(text.substr(0, text.find("*/"))));
    }
}

}  // namespace

std::optional<GivenNumber> parse_given_number(std::string_view text) {
    text = trimmed(text);
    if (text == "true" || text == "false") return GivenNumber{text == "true" ? 1.0 : 0.0, text == "true"};
    const bool negative = !text.empty() && text.front() == '-';
    std::string_view digits = negative || (!text.empty() && text.front() == '+') ? text.substr(1) : text;
    if (digits.empty() || digits.front() == '-' || digits.front() == '+') return std::nullopt;
    const bool hex = digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    if (const auto whole = all_of<uint64_t>(hex ? digits.substr(2) : digits, hex ? 16 : 10)) {
        const auto size = static_cast<double>(*whole);
        return GivenNumber{negative ? -size : size, negative ? 0 - *whole : *whole};
    }
    if (hex) return std::nullopt;
    if (digits.size() > 1 && (digits.back() == 'f' || digits.back() == 'F') && digits != "inf")
        digits.remove_suffix(1);
    const auto value = real_number(digits);
    if (!value) return std::nullopt;
    return GivenNumber{negative ? -*value : *value, std::nullopt};
}

uint64_t bits_in(ElementType type, const GivenNumber& number) {
    const uint64_t bits = number.whole && !is_float(type) ? *number.whole : bits_of(type, number.value);
    return size_of(type) == 8 ? bits : bits & ((uint64_t{1} << 8 * size_of(type)) - 1);
}

std::string contents_text(const GivenContents& contents) {
    switch (contents.kind) {
        case GivenFill::Guessed:
        case GivenFill::Stored: return "";
        case GivenFill::Zeros: return ":zeros";
        case GivenFill::Random: return ":random";
        case GivenFill::Iota: return ":iota";
        case GivenFill::Ones: return ":ones";
        case GivenFill::Number: break;
    }
    GivenArgument number;
    number.number = contents.number;
    return ":" + value_text(number);
}

std::string value_text(const GivenArgument& argument) {
    switch (argument.kind) {
        case GivenKind::Null: return "null";
        case GivenKind::Object: {
            std::string text = "bytes:";
            for (const std::byte byte : argument.object)
                text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
            return text;
        }
        case GivenKind::Tensor: {
            GivenArgument array = argument;
            array.kind = GivenKind::Array;
            std::string text =
                "tensor(" + (argument.tensor_of.empty() ? value_text(array) : argument.tensor_of);
            text += fmt::format(",box={}", fmt::join(argument.box, "x"));
            if (argument.swizzle != ptx::name_of(ptx::Swizzle::None)) text += ",swizzle=" + argument.swizzle;
            return text + (argument.fills_with_nan ? ",fill=nan)" : ")");
        }
        case GivenKind::Array: {
            // A name without a blank, which needs no quotes.
            std::string type = c_name_of(argument.type);
            if (type.find(' ') != std::string::npos) type = name_of(argument.type);
            return fmt::format("{}[{}]{}", type, fmt::join(argument.extents, ","),
                               contents_text(argument.contents));
        }
        case GivenKind::Number: break;
    }
    // A real number keeps its point, and a zero its sign: they are other bits in an array of float.
    const GivenNumber& number = argument.number;
    if (!number.whole) {
        const std::string text = fmt::format("{}", number.value);
        return parse_given_number(text)->whole ? text + ".0" : text;
    }
    return std::signbit(number.value) ? fmt::format("-{}", 0 - *number.whole)
                                      : fmt::format("{}", *number.whole);
}

Array array_of(const GivenArgument& argument) {
    Array array;
    array.type = argument.type;
    const std::vector<uint64_t>& extents = argument.extents;
    array.rank = static_cast<uint8_t>(extents.size());
    array.cols = static_cast<uint32_t>(extents.back());
    if (extents.size() > 1) array.rows = static_cast<uint32_t>(extents[extents.size() - 2]);
    if (extents.size() > 2) array.slices = static_cast<uint32_t>(extents[0]);
    if (extents.size() == 1) array.extents = ExtentSource::Flat;
    return array;
}

void put_contents(Array& array, const GivenContents& contents, uint32_t stream) {
    const auto stored = [&](const auto& bits_at) {
        auto bytes = std::make_shared<std::vector<std::byte>>(array.bytes());
        const uint32_t size = array.element_bytes();
        for (uint64_t i = 0; i < array.elements(); ++i) {
            const uint64_t bits = bits_at(i);
            std::memcpy(bytes->data() + i * size, &bits, size);
        }
        array.contents = {Contents::Kind::Stored, 0, 0, std::move(bytes)};
    };
    switch (contents.kind) {
        case GivenFill::Zeros: array.contents = {}; return;
        case GivenFill::Guessed:
        case GivenFill::Random: array.contents = {Contents::Kind::SmallIntegers, 1, stream, nullptr}; return;
        case GivenFill::Iota:
            return stored([&](uint64_t i) { return bits_of(array.type, static_cast<double>(i)); });
        case GivenFill::Ones: return stored([&](uint64_t) { return bits_of(array.type, 1.0); });
        case GivenFill::Stored: array.contents = {Contents::Kind::Stored, 0, 0, contents.bytes}; return;
        case GivenFill::Number: return stored([&](uint64_t) { return bits_in(array.type, contents.number); });
    }
}

Result<GivenArgument> parse_argument(std::string_view text) {
    text = trimmed(text);
    std::string name;
    const auto named =
        static_cast<size_t>(std::find_if_not(text.begin(), text.end(), is_word) - text.begin());
    const size_t equals = text.find_first_not_of(" \t", named);
    if (named > 0 && equals != std::string_view::npos && text[equals] == '=') {
        name = text.substr(0, named);
        text = trimmed(text.substr(equals + 1));
    }
    auto argument = parse_value(text);
    if (argument) argument->name = std::move(name);
    return argument;
}

std::optional<Dim3> parse_size(std::string_view text) {
    std::array<uint32_t, 3> extents{1, 1, 1};
    size_t count = 0;
    for (size_t start = 0;; ++count) {
        const size_t end = std::min(text.find_first_of(",xX", start), text.size());
        const auto extent = all_of<uint32_t>(trimmed(text.substr(start, end - start)));
        if (count == 3 || !extent || *extent == 0) return std::nullopt;
        extents[count] = *extent;
        if (end == text.size()) break;
        start = end + 1;
    }
    return Dim3{extents[0], extents[1], extents[2]};
}

Result<void> add_call(Description& description, std::string_view text) {
    text = trimmed(text);
    const size_t open = text.find('(');
    if (open == std::string_view::npos || text.back() != ')' || trimmed(text.substr(0, open)).empty()) {
        return Error{
            fmt::format("'{}' is not a call; give it as 'add(a=float[1024], n=1024)'", one_line(text))};
    }
    description.kernel = trimmed(text.substr(0, open));
    const std::string_view inside = trimmed(text.substr(open + 1, text.size() - open - 2));
    if (inside.empty()) return {};
    for (const std::string_view piece : parts_between_commas(inside)) {
        auto argument = parse_argument(piece);
        if (!argument) return argument.error();
        put(description.arguments, *argument);
    }
    return {};
}

Result<void> add_options(Description& description, const std::vector<std::string>& words) {
    constexpr size_t kLongestWord = 4 * kMostParameterBytes;  // a struct's bytes and its name
    for (size_t i = 0; i < words.size(); ++i) {
        if (words[i].size() > kLongestWord)
            return Error{
                fmt::format("'{}' is too long for a description; leave it out", one_line(words[i], 60))};
        const size_t equals = words[i].find('=');
        const std::string option = words[i].substr(0, equals);
        if (std::find(std::begin(kOptions), std::end(kOptions), option) == std::end(kOptions)) {
            return Error{
                fmt::format("'{}' is no part of a description; give --kernel, --grid, --block, --cluster, "
                            "--shared, --arg or --call",
                            one_line(words[i]))};
        }
        if (equals == std::string::npos && i + 1 == words.size())
            return Error{fmt::format("{} has no value; give one behind it", option)};
        const std::string value = equals == std::string::npos ? words[++i] : words[i].substr(equals + 1);
        if (auto added = add_option(description, option, value); !added) return added;
    }
    return {};
}

Result<std::vector<std::string>> words_of(std::string_view text) {
    ShellWords split = shell_words(text, Backslash::Quotes);
    if (split.open != 0)
        return Error{fmt::format("'{}' opens a quotation that does not end; close it", one_line(text))};
    return std::move(split.words);
}

std::string shell_word(std::string_view word) {
    const auto plain = [](char c) {
        return is_word(c) || std::string_view("-=.,:/+%@").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return std::string(word);
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

bool has_description(std::string_view source) {
    bool found = false;
    for_comments(source, [&](std::string_view) { found = true; });
    return found;
}

Result<Description> described_in(std::string_view source, const std::string& kernel) {
    Description all;
    all.kernel = kernel;
    std::string problem;
    for_comments(source, [&](std::string_view text) {
        if (!problem.empty()) return;
        Description line;
        const auto words = words_of(text);
        const auto added = words ? add_options(line, *words) : Result<void>(words.error());
        if (!added) return void(problem = "a comment 'tilescope:' cannot be read: " + added.error().message);
        if (all.kernel.empty()) all.kernel = line.kernel;
        if (line.kernel.empty() || line.kernel == all.kernel) {
            line.kernel = all.kernel;
            all = joined(std::move(all), line);
        }
    });
    if (!problem.empty()) return Error{problem};
    return all;
}

Description joined(Description comment, const Description& said) {
    if (!said.kernel.empty()) comment.kernel = said.kernel;
    if (said.grid) comment.grid = said.grid;
    if (said.block) comment.block = said.block;
    if (said.cluster) comment.cluster = said.cluster;
    if (said.shared) comment.shared = said.shared;
    for (const GivenArgument& argument : said.arguments) put(comment.arguments, argument);
    return comment;
}

}  // namespace tilescope::kernels
