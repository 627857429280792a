// The trace file, .tsc: versioned, checksummed, compressed, never trusted.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace tilescope::trace {

// The file is there whole or not at all (core/base/file.h).
Result<void> write_file(const Trace& trace, const std::string& path);

// Every length, index and checksum is checked before it is used; any damage is an Error, and what takes more
// memory than is allowed (claims.h). beside: bytes of another recording that stays open.
Result<Trace> read_file(const std::string& path, uint64_t beside = 0);

// The same to and from memory.
std::string serialize(const Trace& trace);
Result<Trace> deserialize(std::string_view bytes, const std::string& name, uint64_t beside = 0);

}  // namespace tilescope::trace
