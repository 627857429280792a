// Which bytes of an allocation hold what somebody stored or copied there: a byte for each 4 of them, with a
// bit for each of the 4 (simt::View::filled), which takes memory page by page as it is stored to.
//
//   bytes   | 0 1 2 3 | 4 5 6 7 | 8 9 ...
//   map     | 1 1 1 1 | 0 0 0 0 | 1 0 ...      bytes 4 to 7 are nobody's yet
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace tilescope::launched {

class FilledMap {
public:
    explicit FilledMap(uint64_t bytes);
    FilledMap copy() const;

    uint8_t* words() { return words_.get(); }
    bool made() const { return words_ != nullptr; }  // false where there is no memory for it
    bool is_filled(uint64_t at) const { return words_[at / 4] >> (at % 4) & 1; }
    void set(uint64_t at, uint64_t bytes, bool filled = true);
    // Whether all is filled. It remembers how far it has looked, as what is filled stays so.
    bool whole();
    // Whether what nobody is known to have stored still holds the zeros of new memory: if not, somebody has.
    bool rest_is_zero(const std::byte* data) const;

private:
    struct Free {
        void operator()(uint8_t* words) const { std::free(words); }
    };
    uint64_t bytes_ = 0, whole_to_ = 0;
    std::unique_ptr<uint8_t[], Free> words_;
};

}  // namespace tilescope::launched
