// Files: read within a bound, and written whole or not at all.
//
//   to write   a file grows under a random name in the target's folder (O_EXCL: nobody else can have made
//              it), is brought to the disk, and takes the target's place by rename
//
//   target     a file that is there       replaced; its permissions are kept
//              a symbolic link            the file that it leads to is replaced, and the link stays
//              a read-only file, a folder, a device, a pipe, a file that is read as well    refused
//
// What is unfinished is removed when the program ends, also by a signal that can be caught.
//
// Source: POSIX.1-2017, open (O_EXCL), rename, fsync; "2.4.3 Signal Actions" for what a handler may call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tilescope {

// Why a file cannot be written there, such as "it is a folder"; "" where it can. inputs: files that are read
// as well, which are never written over, by whatever name or link. Writes nothing.
std::string why_not_writable(const std::string& path, const std::vector<std::string>& inputs = {});

class OutputFile {
public:
    explicit OutputFile(const std::string& path, const std::vector<std::string>& inputs = {});
    ~OutputFile();  // removes a file that was not kept
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    bool write(std::string_view bytes);  // false once the file cannot be written
    // Moves the file to its place. Returns why that failed, such as "No space left on device", or "". After a
    // failure what was there stays.
    std::string keep();

    // For a program that writes the file itself; it exists, and is empty.
    const std::string& temporary() const { return temporary_; }

private:
    std::string target_, temporary_, why_;
    int file_ = -1, slot_ = -1;
    uint32_t mode_ = 0;
};

// Writes a whole file in one call.
std::string write_whole(const std::string& path, std::string_view bytes);

// Moves a whole file, of the same file system, to its place by the same rules. Returns why that failed, or "".
std::string move_whole(const std::string& from, const std::string& path,
                       const std::vector<std::string>& inputs = {});

// From now on a signal that would end the program removes its unfinished files first. Signals that are
// ignored or handled already stay so.
void remove_unfinished_on_signals();

// The whole of a regular file of at most `most` bytes. Devices and pipes, which may never end, are not read.
// refuses: asked with the first 64 KiB of a file that is larger, and how large it is; what it gives is the
// error, and nothing more is read.
// Error: "cannot read X: " and why, and what to do where that helps.
using RefusesFile = std::function<std::optional<Error>(std::string_view begin, uint64_t size)>;
Result<std::string> read_whole(const std::string& path, uint64_t most, const RefusesFile& refuses = {});

}  // namespace tilescope
