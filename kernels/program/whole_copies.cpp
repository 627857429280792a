#include "kernels/program/whole_copies.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace tilescope::program {
namespace {

constexpr uint64_t kVector = 16;  // bytes of the widest access of a thread, and its alignment
constexpr uint64_t kMostVectors = 8;

std::optional<uint64_t> number_of(std::string_view text) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// The parts between commas that stand in no brackets.
std::vector<std::string_view> parts_of(std::string_view text) {
    std::vector<std::string_view> parts;
    size_t from = 0;
    int depth = 0;
    for (size_t at = 0; at <= text.size(); ++at) {
        const char c = at < text.size() ? text[at] : ',';
        if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
        if (c == ')' || c == ']' || c == '}' || c == '>') --depth;
        if (c != ',' || depth != 0) continue;
        std::string_view part = text.substr(from, at - from);
        part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
        parts.push_back(part);
        from = at + 1;
    }
    return parts;
}

// "ptr addrspace(3) align 16 %5", or before clang 15 "i8 addrspace(3)* align 16 %5".
struct PointerArgument {
    bool typed = false;
    std::string_view space;  // " addrspace(3)"
    std::string_view value;
    uint64_t alignment = 1;
};

std::optional<PointerArgument> pointer_of(std::string_view text) {
    PointerArgument made;
    made.typed = text.starts_with("i8");
    if (!made.typed && !text.starts_with("ptr")) return std::nullopt;
    text.remove_prefix(made.typed ? 2 : 3);
    if (text.starts_with(" addrspace(")) {
        made.space = text.substr(0, text.find(')') + 1);
        text.remove_prefix(made.space.size());
    }
    if (made.typed) {
        if (!text.starts_with('*')) return std::nullopt;
        text.remove_prefix(1);
    }
    for (;;) {  // attributes
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        const std::string_view word = text.substr(0, text.find(' '));
        if (word == "align") {
            text.remove_prefix(word.size() + 1);
            const std::string_view number = text.substr(0, text.find(' '));
            made.alignment = number_of(number).value_or(1);
            text.remove_prefix(number.size());
        } else if (word == "noundef" || word == "nonnull" || word.starts_with("dereferenceable")) {
            text.remove_prefix(word.size());
        } else {
            break;
        }
    }
    made.value = text;
    return text.empty() ? std::nullopt : std::optional(made);
}

// The text of a numbered piece of metadata: "i64 0, i64 4, !7" for "!5" and a line "!5 = !{i64 0, i64 4, !7}".
std::string_view metadata(std::string_view ir, std::string_view name) {
    const std::string begin = fmt::format("\n{} = !{{", name);
    const size_t at = ir.rfind(begin);
    if (at == std::string_view::npos) return {};
    const std::string_view text = ir.substr(at + begin.size());
    return text.substr(0, text.find("}\n"));
}

// What the vector's elements are: those of a struct whose members are all float, double or 64 bits wide.
std::string_view vector_type(std::string_view ir, std::string_view tbaa_struct) {
    const std::vector<std::string_view> members = parts_of(metadata(ir, tbaa_struct));
    std::string_view kind;
    uint64_t bytes = 0;
    for (size_t at = 0; at + 2 < members.size(); at += 3) {
        const std::string_view size = members[at + 1];
        const uint64_t of = size.starts_with("i64 ") ? number_of(size.substr(4)).value_or(0) : 0;
        const std::vector<std::string_view> tag = parts_of(metadata(ir, members[at + 2]));
        const std::string_view type = tag.size() < 2 ? std::string_view() : metadata(ir, tag[1]);
        const std::string_view name = type.starts_with("!\"float\"")    ? "float"
                                      : type.starts_with("!\"double\"") ? "double"
                                                                        : "";
        if (at > 0 && (of != bytes || name != kind)) return "<4 x i32>";
        bytes = of, kind = name;
    }
    if (bytes == 4 && kind == "float") return "<4 x float>";
    if (bytes == 8) return kind == "double" ? "<2 x double>" : "<2 x i64>";
    return "<4 x i32>";
}

// The lines in place of a call; "" where it stays.
std::string copies_in_place_of(std::string_view ir, std::string_view line, uint64_t& made) {
    const size_t open = line.find('('), close = line.rfind("i1 false)");
    if (open == std::string_view::npos || close == std::string_view::npos) return "";
    const std::vector<std::string_view> arguments = parts_of(line.substr(open + 1, close + 8 - open - 1));
    if (arguments.size() != 4) return "";
    const auto to = pointer_of(arguments[0]), from = pointer_of(arguments[1]);
    const size_t blank = arguments[2].find(' ');
    const auto bytes =
        blank == std::string_view::npos ? std::nullopt : number_of(arguments[2].substr(blank + 1));
    if (!to || !from || !bytes || *bytes == 0 || *bytes % kVector != 0 || *bytes > kMostVectors * kVector ||
        to->alignment < kVector || from->alignment < kVector)
        return "";
    std::string_view type = "<4 x i32>";
    std::string where;
    for (const std::string_view note : parts_of(line.substr(close + 9))) {
        if (note.starts_with("!dbg ")) where = fmt::format(", {}", note);
        if (note.starts_with("!tbaa.struct ")) type = vector_type(ir, note.substr(13));
    }
    std::string text;
    // The pointer `bytes` behind an argument, as one to a vector.
    const auto pointer = [&](const PointerArgument& of, uint64_t behind) {
        std::string value(of.value);
        const std::string held = of.typed ? fmt::format("i8{}*", of.space) : fmt::format("ptr{}", of.space);
        if (behind > 0) {
            const std::string moved = fmt::format("%tilescope.{}", ++made);
            text +=
                fmt::format("  {} = getelementptr i8, {} {}, i64 {}{}\n", moved, held, value, behind, where);
            value = moved;
        }
        if (!of.typed) return fmt::format("{} {}", held, value);
        const std::string cast = fmt::format("%tilescope.{}", ++made),
                          wanted = fmt::format("{}{}*", type, of.space);
        text += fmt::format("  {} = bitcast {} {} to {}{}\n", cast, held, value, wanted, where);
        return fmt::format("{} {}", wanted, cast);
    };
    for (uint64_t behind = 0; behind < *bytes; behind += kVector) {
        const std::string source = pointer(*from, behind), target = pointer(*to, behind);
        const std::string value = fmt::format("%tilescope.{}", ++made);
        text += fmt::format("  {} = load {}, {}, align {}{}\n", value, type, source, kVector, where);
        text += fmt::format("  store {} {}, {}, align {}{}\n", type, value, target, kVector, where);
    }
    return text;
}

}  // namespace

std::string with_whole_copies(std::string_view ir) {
    constexpr std::string_view kCall = "call void @llvm.memcpy.";
    std::string out;
    out.reserve(ir.size() + ir.size() / 16);
    uint64_t made = 0;
    for (size_t at = 0; at < ir.size();) {
        const size_t end = std::min(ir.find('\n', at), ir.size() - 1) + 1;
        const std::string_view line = ir.substr(at, end - at);
        at = end;
        const size_t call = line.find(kCall);
        const std::string copies = call == std::string_view::npos
                                       ? ""
                                       : copies_in_place_of(ir, line.substr(0, line.find('\n')), made);
        out += copies.empty() ? line : std::string_view(copies);
    }
    return out;
}

}  // namespace tilescope::program
