#include "core/ptx/structs.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace tilescope::ptx {

namespace {

constexpr std::string_view kStruct = "//.struct ", kElements = "//.elements ", kIs = " = ";
constexpr size_t kMostStructs = 256, kMostMembers = 256, kLongestText = 1024;
constexpr uint32_t kMostBytes = 1 << 20;

// A number of the text's front, and the blank behind it, taken off.
std::optional<uint32_t> take_number(std::string_view& text) {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    return number;
}

bool is_member_name(std::string_view name) {
    const auto fits = [](char c) {
        return static_cast<unsigned char>(c) >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
               (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '[' || c == ']' || c == '$';
    };
    return !name.empty() && name.size() <= kLongestText && std::ranges::all_of(name, fits);
}

// "8 f32 x"
std::optional<Member> member_in(std::string_view text) {
    const auto offset = take_number(text);
    const size_t blank = text.find(' ');
    if (!offset || blank == std::string_view::npos) return std::nullopt;
    const auto type = element_type_of(text.substr(0, blank));
    const std::string_view name = text.substr(blank + 1);
    if (!type || text.substr(0, blank) != name_of(*type) || !is_member_name(name)) return std::nullopt;
    return Member{*offset, *type, std::string(name)};
}

// "P = 8; 0 f32 x; 4 s32 y"
std::optional<Members> struct_in(std::string_view text) {
    const size_t is = text.rfind(kIs);
    if (is == std::string_view::npos || is == 0 || is > kLongestText) return std::nullopt;
    Members members;
    members.name = text.substr(0, is);
    text.remove_prefix(is + kIs.size());
    const auto bytes = take_number(text);
    if (!bytes || *bytes == 0 || *bytes > kMostBytes) return std::nullopt;
    members.bytes = *bytes;
    uint32_t end = 0;
    while (!text.empty()) {
        if (!text.starts_with("; ")) return std::nullopt;
        text.remove_prefix(2);
        const size_t next = std::min(text.find("; "), text.size());
        auto member = member_in(text.substr(0, next));
        text.remove_prefix(next);
        if (!member || member->offset < end || members.members.size() == kMostMembers) return std::nullopt;
        if (member->offset > members.bytes || members.bytes - member->offset < size_of(member->type))
            return std::nullopt;
        end = member->offset + size_of(member->type);
        members.members.push_back(std::move(*member));
    }
    return members.members.empty() ? std::nullopt : std::optional(members);
}

// Whether an argument that is a struct has a pointer into the array. Nobody says to what.
bool in_struct_argument(const Launch& launch, const Array& array) {
    return std::ranges::any_of(launch.arguments, [&](const Argument& argument) {
        for (size_t at = 0; at + 8 <= argument.object.size(); at += 8) {
            uint64_t word = 0;
            std::memcpy(&word, argument.object.data() + at, 8);
            if (word >= array.base && word - array.base < array.bytes()) return true;
        }
        return false;
    });
}

// The structs that an argument or the array's own symbol says; null for none, where two say different things, and
// where the array is not of whole structs.
std::shared_ptr<const Members> members_of(const Launch& launch, size_t array, const Structs& structs) {
    const Array& of = launch.arrays[array];
    const auto whole = [&](const Members& members) { return of.bytes() % members.bytes == 0; };
    if (const auto found = structs.find(of.symbol); !of.symbol.empty() && found != structs.end())
        return whole(*found->second) ? found->second : nullptr;
    std::shared_ptr<const Members> members;
    for (size_t p = 0; p < launch.arguments.size(); ++p) {
        const Argument& argument = launch.arguments[p];
        if (argument.array < 0 || static_cast<size_t>(argument.array) != array) continue;
        const auto found = structs.find(parameter_key(launch.entry, p));
        if (found == structs.end() || argument.offset % found->second->bytes != 0) return nullptr;
        if (members && *members != *found->second) return nullptr;
        members = found->second;
    }
    return members && whole(*members) && !in_struct_argument(launch, of) ? members : nullptr;
}

// Whether the array's elements can be parts of these members.
bool divides(const Array& array, const Members& members) {
    return array.element_bytes() <= size_of(element_of(members)) &&
           members.bytes % array.element_bytes() == 0;
}

// Vectors of CUDA are drawn as the plain numbers that they are, in the extents that the accesses tell.
bool is_vector(const Members& members) {
    constexpr std::string_view kOf[] = {"char", "uchar", "short",    "ushort",    "int",   "uint",
                                        "long", "ulong", "longlong", "ulonglong", "float", "double"};
    const std::string_view name = members.name;
    return name.size() > 1 && std::string_view("1234").find(name.back()) != std::string_view::npos &&
           std::ranges::find(kOf, name.substr(0, name.size() - 1)) != std::end(kOf);
}

void shape(Array& array, const Members& members) {
    const ElementType type = element_of(members);
    const uint64_t bytes = array.bytes(), width = members.bytes / size_of(type);
    if (array.extents != ExtentSource::Flat || bytes / size_of(type) > UINT32_MAX) return;
    if (array.contents.kind == Contents::Kind::SmallIntegers) return;  // made for its type
    array.type = type;
    array.cols = static_cast<uint32_t>(bytes / size_of(type));
    array.rank = 1;
    array.rows = 1;
    if (bytes == members.bytes || width == 1 || is_vector(members)) return;
    array.extents = ExtentSource::Known;
    array.rank = 2;
    array.rows = static_cast<uint32_t>(bytes / members.bytes);
    array.cols = static_cast<uint32_t>(width);
}

}  // namespace

Structs structs_in(std::string_view ptx) {
    std::map<std::string, std::shared_ptr<const Members>, std::less<>> named;
    Structs structs;
    for (size_t at = ptx.find("//."); at != std::string_view::npos; at = ptx.find("//.", at + 1)) {
        if (at > 0 && ptx[at - 1] != '\n') continue;
        const std::string_view line = ptx.substr(at, std::min(ptx.find('\n', at), ptx.size()) - at);
        if (line.starts_with(kStruct)) {
            auto members = struct_in(line.substr(kStruct.size()));
            if (members && named.size() < kMostStructs)
                named.try_emplace(members->name, std::make_shared<const Members>(*members));
        } else if (const size_t is = line.find(kIs);
                   line.starts_with(kElements) && is != std::string_view::npos && is > kElements.size()) {
            const auto found = named.find(line.substr(is + kIs.size()));
            if (found == named.end() || structs.size() == kMostStructs * 16) continue;
            structs.try_emplace(std::string(line.substr(kElements.size(), is - kElements.size())),
                                found->second);
        }
    }
    return structs;
}

std::string struct_line(const Members& members) {
    std::string line = fmt::format("{}{}{}{}", kStruct, members.name, kIs, members.bytes);
    for (const Member& member : members.members)
        line += fmt::format("; {} {} {}", member.offset, name_of(member.type), member.name);
    return line + "\n";
}

std::string elements_line(std::string_view of, const Members& members) {
    return fmt::format("{}{}{}{}\n", kElements, of, kIs, members.name);
}

std::string parameter_key(std::string_view kernel, size_t parameter) {
    return fmt::format("{} {}", kernel, parameter);
}

void name_members(Launch& launch, const Structs& structs) {
    if (structs.empty()) return;
    for (size_t i = 0; i < launch.arrays.size(); ++i) {
        auto members = members_of(launch, i, structs);
        if (members && divides(launch.arrays[i], *members)) launch.arrays[i].members.of = std::move(members);
    }
}

void shape_by_members(Launch& launch, const Structs& structs) {
    if (structs.empty()) return;
    for (size_t i = 0; i < launch.arrays.size(); ++i)
        if (const auto members = members_of(launch, i, structs)) shape(launch.arrays[i], *members);
    name_members(launch, structs);
}

}  // namespace tilescope::ptx
