// Fat binaries: what nvcc packs into a program, PTX and machine code (cubins) of one source for several
// architectures.
//
//   wrapper    magic 466243b1 | version | address of the container          what a program hands to the driver
//   container  magic ba55ed50 | version, bytes of the header (16) | bytes of what follows
//   entry      kind (1 PTX, 2 cubin) | version | bytes of the header | bytes of the payload, a multiple of 8
//              compressed bytes | … | minor, major | architecture (90) | … | flags | … | bytes when uncompressed
//   payload    as it is, or one frame of Zstandard (flag 8000), or one block of LZ4 (flag 2000)
//   entry …
//
// Nothing here is trusted: an entry that cannot be is left out.
//
// Source: fatbinary_section.h of the CUDA Toolkit (wrapper); containers of nvcc 11 to 13 (all else).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace tilescope::capture {

inline constexpr uint32_t kFatWrapperMagic = 0x466243B1, kFatMagic = 0xBA55ED50;

struct FatEntry {
    enum class Kind : uint8_t { Ptx, Cubin, Other } kind = Kind::Other;
    enum class Packing : uint8_t { Plain, Lz4, Zstd } packing = Packing::Plain;
    uint32_t architecture = 0;           // 90: compute capability 9.0
    std::span<const std::byte> payload;  // a part of the container
    uint64_t bytes = 0;                  // of the text or cubin itself
};

// Bytes of the container that begins there: its header says so. 0 where none begins there.
uint64_t container_bytes(const void* container);

// The entries, in their order; none of bytes that are no container.
std::vector<FatEntry> entries_of(std::span<const std::byte> container);

// The text or cubin. Error: it is damaged.
Result<std::string> unpacked(const FatEntry& entry);

// One block of LZ4 that gives that many bytes. Error: it does not.
// Source: LZ4 Block Format Description.
Result<std::string> lz4_block(std::span<const std::byte> packed, uint64_t bytes);

// Bytes of the ELF file that begins there, as its headers say; 0 where none does. Nothing but the 64-byte header is
// read.
uint64_t elf_bytes(const void* file);

}  // namespace tilescope::capture
