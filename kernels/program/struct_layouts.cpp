#include "kernels/program/struct_layouts.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/ptx/structs.h"
#include "kernels/run/parameters.h"
#include "kernels/run/source_text.h"

namespace tilescope::program {

namespace {

constexpr size_t kMostMembers = 256;  // larger structs are left out
constexpr uint32_t kMostBytes = 1 << 20;

// "    54:0-2 |   unsigned int flag": offset, bits of a bit-field, how deep it stands, and the text behind.
struct LayoutLine {
    uint32_t offset = 0, last_bit = 0;
    bool bits = false;
    size_t depth = 0;
    std::string_view text;
};

struct Layout {
    std::vector<LayoutLine> lines;  // the first is the struct's own
    uint32_t bytes = 0;
    bool unclear = false;  // two that are different have the name
    bool base = false;     // of another one: what points to it may point to that
};
using Layouts = std::map<std::string, Layout, std::less<>>;                    // by name without blanks
using Enums = std::map<std::string, std::optional<ElementType>, std::less<>>;  // that the source declares

std::optional<uint32_t> number_at(std::string_view text) {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<LayoutLine> line_in(std::string_view line) {
    const size_t bar = line.find(" | ");
    if (bar == std::string_view::npos) return std::nullopt;
    const std::string_view place = kernels::trimmed(line.substr(0, bar));
    const auto offset = number_at(place);
    if (!offset) return std::nullopt;
    LayoutLine made;
    made.offset = *offset;
    made.text = line.substr(bar + 3);
    const size_t text = std::min(made.text.find_first_not_of(' '), made.text.size());
    made.depth = text / 2;
    made.text.remove_prefix(text);
    if (const size_t colon = place.find(':'); colon != std::string_view::npos) {
        const size_t dash = place.find('-', colon);
        made.bits = true;
        made.last_bit =
            number_at(place.substr((dash == std::string_view::npos ? colon : dash) + 1)).value_or(0);
    }
    return made;
}

std::string_view without_keyword(std::string_view type) {
    for (const std::string_view keyword : {"struct ", "class ", "union ", "enum ", "const ", "volatile "})
        if (type.starts_with(keyword)) return without_keyword(type.substr(keyword.size()));
    return type;
}

// As names of types are compared: "Arr<float,4>" for "struct Arr<float, 4>" and for "Arr<float, 4u>".
std::string key_of(std::string_view type) {
    std::string key;
    for (const char c : without_keyword(kernels::trimmed(type))) {
        if (c == ' ') continue;
        // A number that is a template's argument loses the letters of its type.
        const size_t end = c == ',' || c == '>' ? key.find_last_not_of("ul") : std::string::npos;
        const size_t before = end == std::string::npos ? end : key.find_last_not_of("0123456789", end);
        if (before != std::string::npos && before != end && !kernels::is_word(key[before]))
            key.resize(end + 1);
        key += c;
    }
    return key;
}

Layouts layouts_in(std::string_view text) {
    constexpr std::string_view kHead = "*** Dumping AST Record Layout\n", kSize = "| [sizeof=";
    Layouts layouts;
    for (size_t at = text.find(kHead); at != std::string_view::npos; at = text.find(kHead, at)) {
        at += kHead.size();
        Layout layout;
        while (at < text.size()) {
            const size_t end = std::min(text.find('\n', at), text.size());
            const std::string_view line = text.substr(at, end - at);
            const size_t size = line.find(kSize);
            if (size != std::string_view::npos) {
                layout.bytes = number_at(line.substr(size + kSize.size())).value_or(0);
                break;
            }
            const auto made = line_in(line);
            if (!made) break;
            layout.lines.push_back(*made);
            at = std::min(end + 1, text.size());
        }
        if (layout.lines.empty() || layout.bytes == 0) continue;
        const auto same = [](const LayoutLine& a, const LayoutLine& b) {
            return a.offset == b.offset && a.text == b.text && a.depth == b.depth;
        };
        const std::string key = key_of(layout.lines.front().text);
        const auto [found, added] = layouts.try_emplace(key, layout);
        if (!added && !std::ranges::equal(found->second.lines, layout.lines, same))
            found->second.unclear = true;
    }
    std::vector<std::string> bases;
    for (const auto& [name, layout] : layouts)
        for (const LayoutLine& line : layout.lines)
            if (const size_t mark = line.text.rfind(" ("); line.text.ends_with("base)"))
                bases.push_back(key_of(line.text.substr(0, mark)));
    for (const std::string& base : bases)
        if (const auto found = layouts.find(base); found != layouts.end()) found->second.base = true;
    return layouts;
}

// The types of enums by their names, as clang does not print them: none where two have the name.
Enums enums_in(std::string_view source) {
    Enums enums;
    for (size_t at = kernels::find_word(source, "enum"); at != std::string_view::npos;
         at = kernels::find_word(source, "enum", at + 1)) {
        const size_t end = source.find_first_of("{;=)", at);
        if (end == std::string_view::npos || source[end] != '{') continue;
        std::string_view head = kernels::trimmed(source.substr(at + 4, end - at - 4));
        for (const std::string_view word : {"class ", "struct "})
            if (head.starts_with(word)) head = kernels::trimmed(head.substr(word.size()));
        const size_t colon = head.find(':');
        std::string_view name = kernels::trimmed(head.substr(0, colon));
        if (name.empty()) {  // typedef enum { A } Kind;
            const size_t close = std::min(source.find('}', end), source.size() - 1);
            name = kernels::trimmed(source.substr(close + 1, source.find(';', close) - close - 1));
        }
        std::optional<ElementType> type = ElementType::S32;
        if (colon != std::string_view::npos) {
            const auto held = kernels::held_type(source, kernels::trimmed(head.substr(colon + 1)));
            type = held && held->count == 1 ? std::optional(held->type) : std::nullopt;
        }
        const auto [found, added] = enums.try_emplace(std::string(name), type);
        if (!added && found->second != type) found->second.reset();
    }
    return enums;
}

// The members of a struct one after the other, those of its bases and of structs in it among them.
class Flattened {
public:
    Flattened(const Layouts& layouts, const Enums& enums) : layouts_(layouts), enums_(enums) {}

    std::optional<Members> of(const Layout& layout) {
        const std::string_view head = layout.lines.front().text;
        if (layout.unclear || layout.bytes > kMostBytes || goes_on_behind(layout)) return std::nullopt;
        members_.name = without_keyword(head);
        members_.bytes = layout.bytes;
        add_all(layout, 0, "", head.starts_with("union "));
        auto& all = members_.members;
        if (full_ || all.empty()) return std::nullopt;
        std::ranges::stable_sort(all, {}, &Member::offset);
        uint32_t end = 0;
        std::erase_if(all, [&](const Member& member) {
            const uint32_t behind = member.offset + size_of(member.type);
            const bool stays = member.offset >= end && behind <= layout.bytes;
            end = stays ? behind : end;
            return !stays;
        });
        return members_;
    }

private:
    using Lines = std::span<const LayoutLine>;

    // Whether the last member is an array that may have more elements than it says.
    static bool goes_on_behind(const Layout& layout) {
        const LayoutLine& last = layout.lines.back();
        if (last.depth != 1) return false;
        const std::string_view type = last.text.substr(0, last.text.rfind(' '));
        return type.ends_with("[]") || type.ends_with("[0]") || (type.ends_with("[1]") && last.offset > 0);
    }

    void add_all(const Layout& layout, uint32_t base, const std::string& prefix, bool in_union) {
        if (++depth_ < 16) add_lines(Lines(layout.lines).subspan(1), base, prefix, in_union, in_union);
        --depth_;
    }

    // first_only: of a union's members that lie in the same place the first one stands for all.
    void add_lines(Lines lines, uint32_t base, const std::string& prefix, bool in_union, bool first_only) {
        for (size_t at = 0; at < lines.size() && !full_;) {
            size_t end = at + 1;
            while (end < lines.size() && lines[end].depth > lines[at].depth) ++end;
            if (lines[at].bits) {
                while (end < lines.size() && lines[end].bits && lines[end].depth == lines[at].depth) ++end;
                add_bits(lines.subspan(at, end - at), end < lines.size() ? lines[end].offset : UINT32_MAX,
                         base, prefix);
            } else {
                add_line(lines[at], lines.subspan(at + 1, end - at - 1), base, prefix, in_union);
            }
            if (first_only) return;
            at = end;
        }
    }

    void add_line(const LayoutLine& line, Lines inside, uint32_t base, const std::string& prefix,
                  bool in_union) {
        const std::string_view text = line.text;
        if (text.ends_with("base)")) return add_lines(inside, base, prefix, in_union, false);
        if (text.ends_with(" pointer)") || text.ends_with("(empty)")) return;  // of virtual functions
        const size_t blank = text.rfind(' ');
        if (blank == std::string_view::npos) return;
        const std::string_view type = text.substr(0, blank), name = text.substr(blank + 1);
        const bool is_union = type.starts_with("union ");
        const std::string path = prefix + std::string(name);
        if (!inside.empty() && !scalar_of(type))
            return add_lines(inside, base, name.empty() ? prefix : path + ".", in_union || is_union,
                             is_union);
        add_value(type, base + line.offset, path, in_union);
    }

    // Bit-fields that stand side by side are bits by the names of the first and the last one.
    void add_bits(Lines lines, uint32_t next, uint32_t base, const std::string& prefix) {
        const LayoutLine &first = lines.front(), &last = lines.back();
        const uint64_t behind = uint64_t{last.offset} + last.last_bit / 8 + 1;
        if (behind <= first.offset || behind - first.offset > 8) return;
        const uint32_t bytes = std::bit_ceil(static_cast<uint32_t>(behind - first.offset));
        const auto name_of = [](const LayoutLine& line) {
            return std::string(line.text.substr(line.text.rfind(' ') + 1));
        };
        const std::string name = name_of(first), end = name_of(last);
        if (first.offset % bytes == 0 && uint64_t{first.offset} + bytes <= next && !name.empty() &&
            !end.empty())
            add(base + first.offset, bits_of_size(bytes),
                prefix + (lines.size() > 1 ? name + ".." + end : name), false);
    }

    std::optional<ElementType> scalar_of(std::string_view type) const {
        if (type.find("::*") != std::string_view::npos) return std::nullopt;  // to members: of several sizes
        const size_t arguments = type.rfind('>');
        if (type.find('*', arguments == std::string_view::npos ? 0 : arguments) != std::string_view::npos ||
            type.ends_with('&') || (type.ends_with(')') && type.find("(*") != std::string_view::npos))
            return ElementType::B64;
        const std::string_view plain = without_keyword(type);
        if (plain == "_Bool" || plain == "bool") return ElementType::U8;
        if (const auto held = kernels::held_type("", plain))
            return held->count == 1 ? std::optional(held->type) : std::nullopt;
        if (layouts_.contains(key_of(type))) return std::nullopt;
        const size_t scope = plain.rfind("::");
        const auto found = enums_.find(scope == std::string_view::npos ? plain : plain.substr(scope + 2));
        return found == enums_.end() ? std::nullopt : found->second;
    }

    // "float[2][3]", "struct P[2]", "float (*)[4]"
    void add_value(std::string_view type, uint32_t offset, const std::string& path, bool in_union) {
        const bool array = type.ends_with(']') && type.find("(*") == std::string_view::npos;
        if (array) {
            // The last extent of "float[2][3]" is the innermost: the first one is taken off here.
            const size_t open =
                type.find('[', type.rfind('>') == std::string_view::npos ? 0 : type.rfind('>'));
            const size_t close = type.find(']', open);
            if (open == std::string_view::npos || close == std::string_view::npos) return;
            const uint32_t count = number_at(type.substr(open + 1)).value_or(0);
            const std::string rest =
                std::string(kernels::trimmed(type.substr(0, open))) + std::string(type.substr(close + 1));
            const uint32_t bytes = bytes_of(rest);
            if (count > kMostMembers) full_ = true;
            for (uint32_t i = 0; i < count && bytes > 0 && !full_; ++i)
                add_value(rest, offset + i * bytes, path + "[" + std::to_string(i) + "]", in_union);
        } else if (const auto scalar = scalar_of(type)) {
            add(offset, *scalar, path, in_union);
        } else if (const auto found = layouts_.find(key_of(type)); found != layouts_.end()) {
            if (found->second.unclear) return;
            const bool is_union = found->second.lines.front().text.starts_with("union ");
            add_all(found->second, offset, path + ".", in_union || is_union);
        }
    }

    uint32_t bytes_of(std::string_view type) const {
        uint64_t count = 1;
        while (type.ends_with(']') && type.find("(*") == std::string_view::npos) {
            const size_t open = type.rfind('[');
            if (open == std::string_view::npos) return 0;
            count = std::min<uint64_t>(count * number_at(type.substr(open + 1)).value_or(0), kMostBytes);
            type = kernels::trimmed(type.substr(0, open));
        }
        uint64_t one = 0;
        if (const auto scalar = scalar_of(type))
            one = size_of(*scalar);
        else if (const auto found = layouts_.find(key_of(type)); found != layouts_.end())
            one = found->second.bytes;
        return static_cast<uint32_t>(std::min<uint64_t>(count * one, kMostBytes));
    }

    void add(uint32_t offset, ElementType type, const std::string& name, bool in_union) {
        full_ = full_ || members_.members.size() >= kMostMembers;
        if (!full_) members_.members.push_back({offset, in_union ? bits_of_size(size_of(type)) : type, name});
    }

    const Layouts& layouts_;
    const Enums& enums_;
    Members members_;
    bool full_ = false;
    int depth_ = 0;
};

// What the comments are of: each struct once, and then what is made of it.
class Comments {
public:
    Comments(const Layouts& layouts, std::string_view source) : layouts_(layouts), enums_(enums_in(source)) {}

    // Of what a parameter points to; written: as the source has the type's name, which may be another scope's.
    void add_pointed(std::string_view of, std::string_view type, bool written) {
        const auto found = layouts_.find(key_of(type));
        if (found == layouts_.end() || found->second.base) return;
        const std::string scoped = "::" + found->first;
        const auto other = [&](const auto& one) { return one.first.ends_with(scoped); };
        if (written && std::ranges::any_of(layouts_, other)) return;
        add(of, type);
    }
    void add(std::string_view of, std::string_view type) {
        const auto held = kernels::held_type("", without_keyword(type));
        const auto found = layouts_.find(key_of(type));
        if ((held && held->count == 1) || found == layouts_.end()) return;
        auto [members, added] = known_.try_emplace(found->first);
        if (added) {
            members->second = Flattened(layouts_, enums_).of(found->second);
            if (members->second) structs_ += ptx::struct_line(*members->second);
        }
        if (members->second) elements_ += ptx::elements_line(of, *members->second);
    }
    std::string text() const { return structs_ + elements_; }

private:
    const Layouts& layouts_;
    Enums enums_;
    std::map<std::string, std::optional<Members>> known_;
    std::string structs_, elements_;
};

void add_parameters(std::string_view ptx, std::string_view source, Comments& comments) {
    constexpr std::string_view kEntry = ".entry ";
    for (size_t at = ptx.find(kEntry); at != std::string_view::npos; at = ptx.find(kEntry, at)) {
        at += kEntry.size();
        const size_t open = ptx.find('(', at), close = std::min(ptx.find(')', at), ptx.size());
        if (open >= close) continue;
        const std::string_view entry = kernels::trimmed(ptx.substr(at, open - at));
        size_t count = 0;
        for (size_t p = ptx.find(".param", open); p < close; p = ptx.find(".param", p + 1)) ++count;
        const auto types = kernels::types_pointed_to(entry, count, source);
        for (size_t p = 0; p < count; ++p)
            if (!types[p].empty())
                comments.add_pointed(ptx::parameter_key(entry, p), types[p], !entry.starts_with("_Z"));
    }
}

// Without a template's arguments, which the IR's names of types do not have.
std::string_view without_arguments(std::string_view name) { return name.substr(0, name.find('<')); }

void add_variables(std::string_view ir, const Layouts& layouts, Comments& comments) {
    std::map<std::string, std::optional<std::string_view>, std::less<>>
        by_name;  // none where several have it
    for (const auto& [name, layout] : layouts) {
        const auto [found, added] = by_name.try_emplace(std::string(without_arguments(name)), name);
        if (!added) found->second.reset();
    }
    for (size_t at = 0; at < ir.size();) {
        const size_t end = std::min(ir.find('\n', at), ir.size());
        const std::string_view line = ir.substr(at, end - at);
        at = end + 1;
        if (!line.starts_with('@') || line.starts_with("@\"")) continue;
        const size_t is = line.find(" = "), space = line.find(" addrspace(");
        size_t kind = std::min(line.find(" global "), line.find(" constant "));
        if (is == std::string_view::npos || space > kind || kind == std::string_view::npos) continue;
        std::string_view type = line.substr(line.find(' ', kind + 1) + 1);
        while (type.starts_with('[') && type.find(" x ") != std::string_view::npos)
            type = type.substr(type.find(" x ") + 3);
        const bool quoted = type.starts_with("%\"");
        type.remove_prefix(std::min<size_t>(quoted ? 2 : 1, type.size()));
        const size_t dot = type.find('.');
        const std::string_view keyword = type.substr(0, std::min(dot, type.size()));
        if (keyword != "struct" && keyword != "class" && keyword != "union") continue;
        type = type.substr(dot + 1);
        type = type.substr(0, type.find_first_of(quoted ? "\"" : " ],"));
        const auto found = by_name.find(key_of(type));
        if (found != by_name.end() && found->second) comments.add(line.substr(1, is - 1), *found->second);
    }
}

}  // namespace

std::string struct_comments(std::string_view layouts_text, std::string_view ir, std::string_view ptx,
                            std::string_view source) {
    const Layouts layouts = layouts_in(layouts_text);
    Comments comments(layouts, source);
    add_parameters(ptx, source, comments);
    add_variables(ir, layouts, comments);
    return comments.text();
}

}  // namespace tilescope::program
