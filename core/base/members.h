// The members of a struct that the elements of an array are parts of:
//
//   struct P { double d; float x; short s[2]; }     16 bytes, of which an array has words of 2
//   p[1].d   p[1].d+2   p[1].d+4   p[1].d+6   p[1].x   p[1].x+2   p[1].s[0]   p[1].s[1]
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/element.h"

namespace tilescope {

struct Member {
    uint32_t offset = 0;  // bytes from the struct's first
    ElementType type = ElementType::B32;
    std::string name;  // "x", "pos.x", "s[0]"
    bool operator==(const Member&) const = default;
};

struct Members {
    std::string name;             // the struct's, "Pair<int>"
    uint32_t bytes = 0;           // size of the struct
    std::vector<Member> members;  // by offset; none overlaps another, all lie in the struct
    bool operator==(const Members&) const = default;
};

// What an array has of them. They are worked out of the PTX, in a file and beside it: two arrays are equal whether
// or not that was done yet.
struct KnownMembers {
    std::shared_ptr<const Members> of;
    bool operator==(const KnownMembers&) const { return true; }
};

// The member that has a byte of the struct; null for bytes between members.
const Member* member_at(const Members& members, uint32_t offset);
// "x", "d+4" of the member's fifth byte, "+12" of a byte between members.
std::string member_name(const Members& members, uint32_t offset);
// The type of elements of which no member has a part: the members' own where all have it, else bits.
ElementType element_of(const Members& members);

}  // namespace tilescope
