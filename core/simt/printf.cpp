#include "core/simt/printf.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace tilescope::simt {
namespace {

constexpr int kWidest = 4096;  // characters that a width or a precision may ask for

// One "%...": what the C library is asked for, with a size of our own.
struct Conversion {
    std::string flags;
    int width = -1, precision = -1;
    int longs = 0, shorts = 0;  // l or ll, h or hh
    char type = 0;
};

class Printer {
public:
    Printer(std::string_view format, const ReadArgument& argument, const ReadText& text)
        : format_(format), argument_(argument), text_(text) {}

    Printed print() {
        while (at_ < format_.size()) {
            if (format_[at_] != '%') {
                out_.text += format_[at_++];
                continue;
            }
            const size_t start = at_++;
            if (!convert()) out_.text += format_.substr(start, at_ - start);
        }
        return std::move(out_);
    }

private:
    char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

    std::optional<uint64_t> take(uint64_t bytes) {
        const uint64_t offset = (offset_ + bytes - 1) / bytes * bytes;
        const auto bits = argument_(offset, bytes);
        if (bits) offset_ = offset + bytes, ++out_.arguments;
        return bits;
    }

    // Digits, or '*' for an argument. False where that cannot be read.
    bool number(int& value) {
        if (peek() == '*') {
            ++at_;
            const auto bits = take(4);
            if (!bits) return false;
            value = std::clamp(static_cast<int32_t>(*bits), -kWidest, kWidest);
            return true;
        }
        for (; peek() >= '0' && peek() <= '9'; ++at_)
            value = std::min(kWidest, std::max(value, 0) * 10 + (peek() - '0'));
        return true;
    }

    template <class T>
    void add(const Conversion& c, const char* size, T value) {
        std::string form = "%" + c.flags;
        if (c.width >= 0) form += std::to_string(c.width);
        if (c.precision >= 0) form += "." + std::to_string(c.precision);
        form += size;
        form += c.type;
        const int length = std::snprintf(nullptr, 0, form.c_str(), value);
        if (length <= 0) return;
        const size_t before = out_.text.size();
        out_.text.resize(before + static_cast<size_t>(length) + 1);
        std::snprintf(out_.text.data() + before, static_cast<size_t>(length) + 1, form.c_str(), value);
        out_.text.pop_back();
    }

    bool convert() {
        Conversion c;
        for (; std::string_view("-+ #0").find(peek()) != std::string_view::npos && peek() != '\0'; ++at_)
            if (c.flags.find(peek()) == std::string::npos) c.flags += peek();
        if (!number(c.width)) return false;
        if (c.width < -1) c.flags += '-', c.width = -c.width;
        if (peek() == '.') {
            ++at_;
            c.precision = 0;
            if (!number(c.precision)) return false;
            c.precision = std::max(c.precision, -1);
        }
        for (;; ++at_)
            if (peek() == 'l' || peek() == 'z' || peek() == 'j' || peek() == 't')
                ++c.longs;
            else if (peek() == 'h')
                ++c.shorts;
            else
                break;
        c.type = peek();
        if (at_ < format_.size()) ++at_;
        switch (c.type) {
            case '%': out_.text += '%'; return true;
            case 'd':
            case 'i': {
                const auto bits = take(c.longs > 0 ? 8 : 4);
                if (!bits) return false;
                const auto value = static_cast<int64_t>(*bits);
                add(c, "ll",
                    static_cast<long long>(c.longs > 0    ? value
                                           : c.shorts > 1 ? static_cast<int8_t>(value)
                                           : c.shorts > 0 ? static_cast<int16_t>(value)
                                                          : static_cast<int32_t>(value)));
                return true;
            }
            case 'o':
            case 'u':
            case 'x':
            case 'X': {
                const auto bits = take(c.longs > 0 ? 8 : 4);
                if (!bits) return false;
                const uint64_t kept = c.shorts > 1 ? 0xFF : c.shorts > 0 ? 0xFFFF : ~uint64_t{0};
                add(c, "ll", static_cast<unsigned long long>(*bits & kept));
                return true;
            }
            case 'e':
            case 'E':
            case 'f':
            case 'F':
            case 'g':
            case 'G':
            case 'a':
            case 'A': {
                const auto bits = take(8);
                if (!bits) return false;
                add(c, "", std::bit_cast<double>(*bits));
                return true;
            }
            case 'c': {
                const auto bits = take(4);
                if (!bits) return false;
                add(c, "", static_cast<int>(*bits & 0xFF));
                return true;
            }
            case 'p': {
                const auto bits = take(8);
                if (!bits) return false;
                c.type = 'x';
                c.flags += '#';
                add(c, "ll", static_cast<unsigned long long>(*bits));
                return true;
            }
            case 's': {
                const auto address = take(8);
                if (!address) return false;
                const auto string = text_(*address);
                const std::string shown = string ? *string : *address == 0 ? "(null)" : "(unreadable)";
                add(c, "", shown.c_str());
                return true;
            }
            default: return false;
        }
    }

    std::string_view format_;
    const ReadArgument& argument_;
    const ReadText& text_;
    size_t at_ = 0;
    uint64_t offset_ = 0;
    Printed out_;
};

}  // namespace

Printed print_format(std::string_view format, const ReadArgument& argument, const ReadText& text) {
    return Printer(format, argument, text).print();
}

}  // namespace tilescope::simt
