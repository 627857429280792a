#include "core/base/members.h"

#include <algorithm>

#include <fmt/format.h>

namespace tilescope {

const Member* member_at(const Members& members, uint32_t offset) {
    const auto after = std::ranges::upper_bound(members.members, offset, {}, &Member::offset);
    if (after == members.members.begin()) return nullptr;
    const Member& before = *(after - 1);
    return offset - before.offset < size_of(before.type) ? &before : nullptr;
}

std::string member_name(const Members& members, uint32_t offset) {
    const Member* const member = member_at(members, offset);
    if (!member) return fmt::format("+{}", offset);
    const uint32_t into = offset - member->offset;
    return into == 0 ? member->name : fmt::format("{}+{}", member->name, into);
}

ElementType element_of(const Members& members) {
    uint32_t bytes = 8;
    const auto divide = [&](uint32_t by) {
        while (by % bytes != 0) bytes /= 2;
    };
    divide(members.bytes);
    for (const Member& member : members.members) divide(member.offset), divide(size_of(member.type));
    const ElementType first = members.members.empty() ? ElementType::B8 : members.members.front().type;
    const bool one = std::ranges::all_of(members.members, [&](const Member& m) { return m.type == first; });
    return one && size_of(first) == bytes ? first : bits_of_size(bytes);
}

}  // namespace tilescope
