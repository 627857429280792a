#include "kernels/program/ir_text.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace tilescope::program {

std::optional<uint64_t> number_of(std::string_view text) {
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

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

std::string_view metadata(std::string_view ir, std::string_view name) {
    const std::string begin = fmt::format("\n{} = !{{", name);
    const size_t at = ir.rfind(begin);
    if (at == std::string_view::npos) return {};
    const std::string_view text = ir.substr(at + begin.size());
    return text.substr(0, text.find("}\n"));
}

namespace {

std::string_view trimmed(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

uint64_t up(uint64_t at, uint64_t alignment) { return (at + alignment - 1) / alignment * alignment; }

uint64_t bytes_of(std::string_view type) {
    if (type == "float" || type == "i32") return 4;
    if (type == "double" || type == "i64" || type == "ptr" || type.ends_with('*')) return 8;
    if (type == "half" || type == "bfloat" || type == "i16") return 2;
    return type == "i8" ? 1 : 0;
}

}  // namespace

Declarations::Declarations(std::string_view ir) {
    for (size_t at = 0; at < ir.size();) {
        const size_t end = std::min(ir.find('\n', at), ir.size());
        const std::string_view line = ir.substr(at, end - at);
        at = end + 1;
        const size_t equals = line.find(" = ");
        if (equals == std::string_view::npos) continue;
        const std::string_view what = line.substr(equals + 3);
        if (line.starts_with('%') && what.starts_with("type ")) {
            types_.emplace(line.substr(0, equals), trimmed(what.substr(5)));
        } else if (line.starts_with('@')) {
            for (const std::string_view word : {" global [", " constant ["}) {
                const size_t type = what.find(word);
                if (type == std::string_view::npos) continue;
                const std::string_view array = what.substr(type + word.size() - 1);
                if (array.substr(0, array.find(']')).find('%') == std::string_view::npos)
                    arrays_.emplace(line.substr(0, equals));
            }
        }
    }
}

std::vector<Scalar> Declarations::scalars_of(std::string_view type) const {
    std::vector<Scalar> scalars;
    return lay_out(type, 0, scalars, 0) ? scalars : std::vector<Scalar>();
}

bool Declarations::holds_array(std::string_view type) const {
    type = trimmed(type);
    const auto found = types_.find(type);
    return type.starts_with('[') ||
           (found != types_.end() && found->second.find('[') != std::string_view::npos);
}

std::optional<Declarations::Extent> Declarations::lay_out(std::string_view type, uint64_t at,
                                                          std::vector<Scalar>& scalars, int depth) const {
    constexpr int kDeepest = 16;
    constexpr size_t kMost = 128;
    type = trimmed(type);
    if (depth > kDeepest || scalars.size() > kMost) return std::nullopt;
    if (const uint64_t bytes = bytes_of(type)) {
        scalars.push_back({at, bytes, type});
        return Extent{bytes, bytes};
    }
    if (const auto found = types_.find(type); found != types_.end())
        return lay_out(found->second, at, scalars, depth + 1);
    if (type.starts_with('[') && type.ends_with(']')) {
        const size_t x = type.find(" x ");
        const auto count = x == std::string_view::npos ? std::nullopt : number_of(type.substr(1, x - 1));
        if (!count || *count > kMost) return std::nullopt;
        Extent all;
        for (uint64_t i = 0; i < *count; ++i) {
            const auto one =
                lay_out(type.substr(x + 3, type.size() - x - 4), at + all.bytes, scalars, depth + 1);
            if (!one) return std::nullopt;
            all = {all.bytes + one->bytes, one->alignment};
        }
        return all;
    }
    if (!type.starts_with('{') || !type.ends_with('}')) return std::nullopt;
    Extent all;
    for (const std::string_view member : parts_of(type.substr(1, type.size() - 2))) {
        std::vector<Scalar> of_it;
        const auto extent = lay_out(member, 0, of_it, depth + 1);
        if (!extent) return std::nullopt;
        const uint64_t begin = up(all.bytes, extent->alignment);
        for (Scalar& one : of_it) {
            one.at += at + begin;
            scalars.push_back(one);
        }
        if (scalars.size() > kMost) return std::nullopt;
        all = {begin + extent->bytes, std::max(all.alignment, extent->alignment)};
    }
    all.bytes = up(all.bytes, all.alignment);
    return all;
}

}  // namespace tilescope::program
