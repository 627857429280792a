#include "kernels/launched/filled.h"

#include <algorithm>
#include <cstring>

namespace tilescope::launched {

namespace {
uint64_t words_of(uint64_t bytes) { return bytes / 4 + 1; }
}  // namespace

FilledMap::FilledMap(uint64_t bytes)
    : bytes_(bytes), words_(static_cast<uint8_t*>(std::calloc(words_of(bytes), 1))) {}

FilledMap FilledMap::copy() const {
    FilledMap made(bytes_);
    if (made.words_) std::memcpy(made.words_.get(), words_.get(), words_of(bytes_));
    made.whole_to_ = whole_to_;
    return made;
}

void FilledMap::set(uint64_t at, uint64_t bytes, bool filled) {
    if (!filled) whole_to_ = std::min(whole_to_, at);
    const uint64_t end = std::min(bytes_, at + bytes);
    for (; at < end;) {
        if (at % 4 == 0 && end - at >= 4) {
            const uint64_t words = (end - at) / 4;
            std::memset(words_.get() + at / 4, filled ? 15 : 0, words);
            at += words * 4;
            continue;
        }
        const auto bit = static_cast<uint8_t>(1u << at % 4);
        uint8_t& word = words_[at / 4];
        word = static_cast<uint8_t>(filled ? word | bit : word & ~bit);
        ++at;
    }
}

bool FilledMap::whole() {
    while (whole_to_ < bytes_) {
        if (whole_to_ % 4 == 0 && bytes_ - whole_to_ >= 4 && words_[whole_to_ / 4] == 15)
            whole_to_ += 4;
        else if (is_filled(whole_to_))
            ++whole_to_;
        else
            return false;
    }
    return true;
}

bool FilledMap::rest_is_zero(const std::byte* data) const {
    for (uint64_t at = 0; at < bytes_; ++at) {
        if (at % 4 == 0 && words_[at / 4] == 15)
            at += 3;
        else if (data[at] != std::byte{0} && !is_filled(at))
            return false;
    }
    return true;
}

}  // namespace tilescope::launched
