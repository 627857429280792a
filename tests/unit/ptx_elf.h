// The sections of a cubin (64-bit ELF, little endian), as far as comparing two needs.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>

namespace tilescope::ptx::test {

inline std::map<std::string, std::string> elf_sections(const std::string& elf) {
    const auto number = [&](size_t at, size_t bytes) {
        uint64_t value = 0;
        if (at + bytes <= elf.size()) std::memcpy(&value, elf.data() + at, bytes);
        return value;
    };
    std::map<std::string, std::string> sections;
    if (elf.size() < 64 || elf.compare(0, 4,
                                       "\x7F"
                                       "ELF") != 0)
        return sections;
    const uint64_t table = number(40, 8), count = number(60, 2);
    const auto header = [&](uint64_t i) { return table + 64 * i; };
    const uint64_t names = number(header(number(62, 2)) + 24, 8);
    for (uint64_t i = 1; i < count; ++i) {
        const uint64_t type = number(header(i) + 4, 4), at = number(header(i) + 24, 8),
                       size = number(header(i) + 32, 8);
        const std::string name = elf.c_str() + names + number(header(i), 4);
        constexpr uint64_t kNoBits = 8;  // of such only the size is in the file
        sections[name] = type == kNoBits ? std::to_string(size) : elf.substr(at, size);
    }
    return sections;
}

}  // namespace tilescope::ptx::test
