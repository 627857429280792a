// Trace files on disk (core/base/file.h).
#include "core/trace/file.h"

#include <algorithm>
#include <new>

#include <fmt/core.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/trace/format.h"

namespace tilescope::trace {
namespace {

// Bytes of a file that this machine can hold together with what is made of them.
uint64_t most_bytes() {
    const auto pages = static_cast<uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L));
    return pages * static_cast<uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 1L)) / 2;
}

}  // namespace

Result<void> write_file(const Trace& trace, const std::string& path) {
    // Before the bytes are made, which may take long.
    std::string why = why_not_writable(path);
    if (why.empty()) {
        try {
            why = write_whole(path, serialize(trace));
        } catch (const std::bad_alloc&) {
            return Error{
                fmt::format("cannot write {}: too little memory; record a smaller window of blocks", path)};
        }
    }
    if (why.empty()) return {};
    return Error{fmt::format("cannot write {}: {}; choose another place", path, why)};
}

Result<Trace> read_file(const std::string& path, uint64_t beside) {
    const auto bytes = read_whole(path, most_bytes(), kMagic);
    return bytes ? deserialize(*bytes, path, beside) : bytes.error();
}

}  // namespace tilescope::trace
