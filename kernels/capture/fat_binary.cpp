#include "kernels/capture/fat_binary.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <zstd.h>

#include "core/base/words.h"

namespace tilescope::capture {

namespace {

constexpr uint64_t kHeader = 16, kShortestEntry = 64;
constexpr uint64_t kLz4Flag = 0x2000, kZstdFlag = 0x8000;
constexpr uint64_t kMostUnpacked = uint64_t{64} << 20;  // as much PTX as a file may have

template <class Number>
Number number_at(const std::byte* at) {
    Number value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

Error damaged(const char* what) {
    return Error{fmt::format("{} in the program's fat binary is damaged; build the program again", what)};
}

}  // namespace

uint64_t container_bytes(const void* container) {
    const auto* at = static_cast<const std::byte*>(container);
    if (number_at<uint32_t>(at) != kFatMagic || number_at<uint16_t>(at + 6) != kHeader) return 0;
    return kHeader + number_at<uint64_t>(at + 8);
}

std::vector<FatEntry> entries_of(std::span<const std::byte> container) {
    std::vector<FatEntry> entries;
    if (container.size() < kHeader || number_at<uint32_t>(container.data()) != kFatMagic) return entries;
    for (uint64_t at = kHeader; container.size() - at >= kShortestEntry;) {
        const std::byte* const header = container.data() + at;
        const auto header_bytes = number_at<uint32_t>(header + 4);
        const auto padded = number_at<uint64_t>(header + 8);
        if (header_bytes < kShortestEntry || header_bytes > container.size() - at ||
            padded > container.size() - at - header_bytes)
            break;
        FatEntry entry;
        const auto kind = number_at<uint16_t>(header);
        entry.kind = kind == 1   ? FatEntry::Kind::Ptx
                     : kind == 2 ? FatEntry::Kind::Cubin
                                 : FatEntry::Kind::Other;
        const auto packed = number_at<uint32_t>(header + 16);
        const auto flags = number_at<uint64_t>(header + 40);
        entry.architecture = number_at<uint32_t>(header + 28);
        entry.packing = flags & kZstdFlag  ? FatEntry::Packing::Zstd
                        : flags & kLz4Flag ? FatEntry::Packing::Lz4
                                           : FatEntry::Packing::Plain;
        const bool plain = entry.packing == FatEntry::Packing::Plain;
        const uint64_t held = plain ? padded : packed;
        entry.bytes = plain ? padded : number_at<uint64_t>(header + 56);
        if (held <= padded) {
            entry.payload = container.subspan(at + header_bytes, held);
            entries.push_back(entry);
        }
        at += header_bytes + padded;
    }
    return entries;
}

Result<std::string> lz4_block(std::span<const std::byte> packed, uint64_t bytes) {
    const auto broken = [] { return damaged("a compressed part"); };
    std::string out;
    out.reserve(bytes);
    size_t at = 0;
    const auto length = [&](uint64_t low) -> uint64_t {  // 15 goes on in bytes, of which 255 goes on
        if (low < 15) return low;
        for (uint8_t byte = 255; byte == 255 && at < packed.size(); low += byte)
            byte = static_cast<uint8_t>(packed[at++]);
        return low;
    };
    while (at < packed.size()) {
        const auto token = static_cast<uint8_t>(packed[at++]);
        const uint64_t literals = length(token >> 4);
        if (literals > packed.size() - at || literals > bytes - out.size()) return broken();
        out.append(reinterpret_cast<const char*>(packed.data() + at), literals);
        at += literals;
        if (at == packed.size()) break;  // the last sequence has no match
        if (packed.size() - at < 2) return broken();
        const auto back = number_at<uint16_t>(packed.data() + at);
        at += 2;
        const uint64_t match = length(token & 15) + 4;
        if (back == 0 || back > out.size() || match > bytes - out.size()) return broken();
        for (uint64_t i = 0; i < match; ++i) out += out[out.size() - back];  // it may reach into itself
    }
    if (out.size() != bytes) return broken();
    return out;
}

Result<std::string> unpacked(const FatEntry& entry) {
    const char* const what = entry.kind == FatEntry::Kind::Ptx ? "PTX" : "machine code";
    if (entry.bytes > kMostUnpacked)
        return Error{fmt::format("{} in the program's fat binary has {}, more than the {} that are read",
                                 what, bytes_text(entry.bytes), bytes_text(kMostUnpacked))};
    std::string text;
    if (entry.packing == FatEntry::Packing::Lz4) {
        auto made = lz4_block(entry.payload, entry.bytes);
        if (!made) return made;
        text = std::move(*made);
    } else if (entry.packing == FatEntry::Packing::Zstd) {
        text.resize(entry.bytes);
        const size_t got =
            ZSTD_decompress(text.data(), text.size(), entry.payload.data(), entry.payload.size());
        if (ZSTD_isError(got) || got != text.size()) return damaged(what);
    } else {
        text.assign(reinterpret_cast<const char*>(entry.payload.data()), entry.payload.size());
    }
    if (entry.kind == FatEntry::Kind::Ptx) text.resize(text.find_last_not_of('\0') + 1);  // the padding
    return text;
}

uint64_t elf_bytes(const void* file) {
    const auto* at = static_cast<const std::byte*>(file);
    constexpr char kMagic[] = {0x7F, 'E', 'L', 'F', 2};  // of 64 bits
    if (std::memcmp(at, kMagic, sizeof kMagic) != 0) return 0;
    const auto programs = number_at<uint64_t>(at + 32), sections = number_at<uint64_t>(at + 40);
    const uint64_t behind_programs =
        programs + uint64_t{number_at<uint16_t>(at + 54)} * number_at<uint16_t>(at + 56);
    const uint64_t behind_sections =
        sections + uint64_t{number_at<uint16_t>(at + 58)} * number_at<uint16_t>(at + 60);
    return std::max(behind_programs, behind_sections);
}

}  // namespace tilescope::capture
