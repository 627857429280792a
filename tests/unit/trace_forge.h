// Trace files with any sections and right checksums: what a reader may be given that no writer writes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "core/trace/file.h"
#include "core/trace/format.h"

namespace tilescope::trace {

template <class T>
T get(const std::string& bytes, size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

template <class T>
void set(std::string& bytes, size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
}

// Makes every checksum of a file right again, so that only the checks of the structure are left.
inline void repair(std::string& bytes) {
    if (bytes.size() < kHeaderBytes) return;
    set<uint64_t>(bytes, 16, bytes.size());
    const size_t sections =
        std::min<size_t>(get<uint32_t>(bytes, 12), (bytes.size() - kHeaderBytes) / kEntryBytes);
    size_t offset = kHeaderBytes + sections * kEntryBytes;
    for (size_t i = 0; i < sections; ++i) {
        const size_t entry = kHeaderBytes + i * kEntryBytes;
        const auto stored = std::min<uint64_t>(get<uint64_t>(bytes, entry + 8), bytes.size() - offset);
        set(bytes, entry + 24, crc32c(std::string_view(bytes).substr(offset, stored)));
        offset += stored;
    }
    set(bytes, 24, crc32c(std::string_view(bytes).substr(kHeaderBytes, sections * kEntryBytes)));
    set(bytes, 28, crc32c(std::string_view(bytes).substr(0, kHeaderBytes - 4)));
}

// A section as it is stored: what it says it unpacks to, and its bytes.
struct Forged {
    SectionKind kind{};
    Encoding encoding{};
    uint64_t raw = 0;
    std::string stored;
};

inline Forged forged_raw(SectionKind kind, std::string bytes) {
    return {kind, Encoding::Raw, bytes.size(), std::move(bytes)};
}

// A zstd frame (RFC 8878, 3.1.1) that says it holds `said` bytes and holds `real` equal ones, in blocks of
// one byte that is repeated: 4 stored bytes for each 128 KiB.
inline Forged forged_equal(SectionKind kind, uint64_t said, uint64_t real, char value = 0) {
    constexpr uint64_t kBlock = 128 * 1024;
    std::string frame{"\x28\xB5\x2F\xFD", 4};
    frame += '\xE0';  // one segment, its size in 8 bytes
    frame.append(reinterpret_cast<const char*>(&said), 8);
    for (uint64_t left = real; left > 0;) {
        const uint64_t here = std::min(left, kBlock);
        left -= here;
        const uint64_t header = here << 3 | 1u << 1 | (left == 0 ? 1u : 0u);  // size, repeated byte, the last
        frame.append(reinterpret_cast<const char*>(&header), 3);
        frame += value;
    }
    return {kind, Encoding::Zstd, said, std::move(frame)};
}

inline std::vector<Forged> sections_of(const std::string& file) {
    std::vector<Forged> sections(get<uint32_t>(file, 12));
    size_t offset = kHeaderBytes + sections.size() * kEntryBytes;
    for (size_t i = 0; i < sections.size(); ++i) {
        const size_t entry = kHeaderBytes + i * kEntryBytes;
        const auto stored = get<uint64_t>(file, entry + 8);
        sections[i] = {static_cast<SectionKind>(get<uint32_t>(file, entry)),
                       static_cast<Encoding>(get<uint32_t>(file, entry + 4)), get<uint64_t>(file, entry + 16),
                       file.substr(offset, stored)};
        offset += stored;
    }
    return sections;
}

inline std::string file_of(const std::vector<Forged>& sections) {
    std::string file(kHeaderBytes + sections.size() * kEntryBytes, '\0');
    std::copy(kMagic.begin(), kMagic.end(), file.begin());
    const bool copies = std::ranges::count(sections, SectionKind::Arrivals, &Forged::kind) > 0;
    set(file, 8, copies ? kCopiesVersion : kFileVersion);
    set(file, 12, static_cast<uint32_t>(sections.size()));
    for (size_t i = 0; i < sections.size(); ++i) {
        const size_t entry = kHeaderBytes + i * kEntryBytes;
        set(file, entry, static_cast<uint32_t>(sections[i].kind));
        set(file, entry + 4, static_cast<uint32_t>(sections[i].encoding));
        set(file, entry + 8, uint64_t{sections[i].stored.size()});
        set(file, entry + 16, sections[i].raw);
        file += sections[i].stored;
    }
    repair(file);
    return file;
}

// The file of a trace, with some of its sections changed.
inline std::string forged(const Trace& trace, const std::function<void(std::vector<Forged>&)>& change) {
    std::vector<Forged> sections = sections_of(serialize(trace));
    change(sections);
    std::string file = file_of(sections);
    if (!ptx::has_exchanges(trace.sites)) return file;
    set(file, 8, kExchangesVersion);
    repair(file);
    return file;
}

}  // namespace tilescope::trace
