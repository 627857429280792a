// Text on its way out: gathered to pieces of 64 KiB, so that the file is written in few large calls and no
// export holds more of itself than that.
#pragma once

#include <fmt/format.h>

#include "core/export/requests.h"

namespace tilescope::report {

class Pieces {
public:
    explicit Pieces(const Take& take) : take_(take) {}

    template <class... Values>
    void add(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
    }
    void add_text(std::string_view text) { buffer_.append(text.data(), text.data() + text.size()); }

    // Passes on what has gathered, once it is a piece; false once the taker has had enough.
    bool good() { return buffer_.size() < kPiece || flush(); }
    bool flush() {
        if (taking_ && buffer_.size() > 0) taking_ = take_({buffer_.data(), buffer_.size()});
        buffer_.clear();
        return taking_;
    }

private:
    static constexpr size_t kPiece = 64 * 1024;
    const Take& take_;
    fmt::memory_buffer buffer_;
    bool taking_ = true;
};

}  // namespace tilescope::report
