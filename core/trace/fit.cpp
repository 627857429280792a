#include "core/trace/fit.h"

#include <bit>
#include <limits>

namespace tilescope::trace {

namespace {

bool fits_32(int64_t value) {
    return value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
}

bool is_active(uint32_t mask, int lane) { return (mask >> lane & 1) != 0; }

// The step per unit of distance where it is a whole number of bytes that fits.
bool divide(int64_t difference, int64_t distance, int32_t& stride) {
    if (difference % distance != 0 || !fits_32(difference / distance)) return false;
    stride = static_cast<int32_t>(difference / distance);
    return true;
}

bool fit_width(uint32_t mask, const std::array<int64_t, 32>& offset, int width, Affine& affine) {
    const int first = std::countr_zero(mask);
    affine = Affine{static_cast<uint8_t>(width), 0, 0};
    // stride: from the first two active lanes of one group of w.
    int previous = first;
    bool found = false;
    for (int lane = first + 1; lane < kWarpSize && !found; ++lane) {
        if (is_active(mask, lane)) {
            found = lane / width == previous / width;
            if (found && !divide(offset[lane] - offset[previous], lane - previous, affine.stride))
                return false;
            previous = lane;
        }
    }
    // stride2: from the first active lane and the next one outside its group.
    for (int lane = first + 1; lane < kWarpSize; ++lane) {
        if (is_active(mask, lane) && lane / width != first / width) {
            const int64_t within = int64_t{affine.stride} * (lane % width - first % width);
            if (!divide(offset[lane] - within, lane / width - first / width, affine.stride2)) return false;
            break;
        }
    }
    for (int lane = first; lane < kWarpSize; ++lane) {
        const int64_t expected = int64_t{affine.stride} * (lane % width - first % width) +
                                 int64_t{affine.stride2} * (lane / width - first / width);
        if (is_active(mask, lane) && offset[lane] != expected) return false;
    }
    return true;
}

bool holds(const Array& array, Space space, uint64_t address, uint32_t bytes) {
    return array.space == space && address >= array.base && array.bytes() >= bytes &&
           address - array.base <= array.bytes() - bytes;
}

// The array that all active lanes lie in, kNoArray for none.
uint8_t array_of(const std::vector<Array>& arrays, const simt::Request& request, uint32_t bytes) {
    const uint64_t start = request.address[std::countr_zero(request.mask)];
    for (size_t i = 0; i < arrays.size() && i < kNoArray; ++i) {
        if (!holds(arrays[i], request.space, start, bytes)) continue;
        for (int lane = 0; lane < kWarpSize; ++lane)
            if (is_active(request.mask, lane) &&
                !holds(arrays[i], request.space, request.address[lane], bytes))
                return kNoArray;
        return static_cast<uint8_t>(i);
    }
    return kNoArray;
}

}  // namespace

bool fit_affine(uint32_t mask, const std::array<int64_t, 32>& offset, Affine& affine) {
    // w = 1 says nothing that w = 32 does not: one stride for all lanes.
    for (const int width : {32, 16, 8, 4, 2})
        if (fit_width(mask, offset, width, affine)) return true;
    return false;
}

Fitted fit(const std::vector<Array>& arrays, const simt::Request& request, uint32_t bytes) {
    Fitted fitted;
    Form& form = fitted.form;
    form.site = request.site;
    form.mask = request.mask;
    form.space = request.space;
    form.array = array_of(arrays, request, bytes);
    form.irregular = 0;

    const uint64_t origin = form.array == kNoArray ? 0 : arrays[form.array].base;
    const uint64_t start = request.address[std::countr_zero(request.mask)];
    // A base has 40 bits. Virtual addresses have more: then the base is 0 and the offsets hold all.
    const bool near = (start - origin) >> 40 == 0;
    const uint64_t base = near ? start - origin : 0;
    fitted.base = static_cast<uint32_t>(base);
    form.base_high = static_cast<uint8_t>(base >> 32);

    std::array<int64_t, 32> offset{};
    bool narrow = near;
    for (int lane = 0; lane < kWarpSize; ++lane) {
        if (is_active(request.mask, lane)) {
            offset[lane] = static_cast<int64_t>(request.address[lane] - origin - base);
            narrow = narrow && fits_32(offset[lane]);
        }
    }
    Affine affine;
    if (near && fit_affine(request.mask, offset, affine)) {
        form.width = affine.width;
        form.stride = affine.stride;
        form.stride2 = affine.stride2;
        return fitted;
    }
    form.irregular = narrow ? 1 : 2;
    form.wide = !narrow;
    for (int lane = 0; lane < kWarpSize; ++lane) {
        fitted.rows[0][lane] = static_cast<int32_t>(static_cast<uint32_t>(offset[lane]));
        fitted.rows[1][lane] = narrow ? 0 : static_cast<int32_t>(static_cast<uint64_t>(offset[lane]) >> 32);
    }
    return fitted;
}

namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
    hash ^= value + 0x9E37'79B9'7F4A'7C15u + (hash << 6) + (hash >> 2);
    hash *= 0xBF58'476D'1CE4'E5B9u;
    return hash ^ hash >> 29;
}

uint64_t hash_of(const Form& form, const std::array<int32_t, 32>* rows, int count) {
    uint64_t hash = mix(form.site, form.mask);
    hash = mix(hash, uint64_t{form.array} << 24 | uint64_t{form.base_high} << 16 | uint64_t{form.width} << 8 |
                         static_cast<uint64_t>(form.space) << 4 | static_cast<uint64_t>(count));
    hash =
        mix(hash, uint64_t{static_cast<uint32_t>(form.stride)} << 32 | static_cast<uint32_t>(form.stride2));
    for (int row = 0; row < count; ++row)
        for (const int32_t offset : rows[row]) hash = mix(hash, static_cast<uint32_t>(offset));
    return hash;
}

}  // namespace

uint32_t intern(FormTable& table, const Form& form, const std::array<int32_t, 32>* rows) {
    const int count = form.irregular;
    const uint64_t hash = hash_of(form, rows, count);
    const auto [begin, end] = table.by_hash.equal_range(hash);
    Form wanted = form;
    for (auto it = begin; it != end; ++it) {
        const Form& known = table.forms[it->second];
        if ((known.irregular >= 0) != (count > 0)) continue;
        wanted.irregular = known.irregular;
        if (known == wanted &&
            (count == 0 || std::equal(rows, rows + count, table.irregular.begin() + known.irregular)))
            return it->second;
    }
    if (table.forms.size() >= table.limit) return kNoForm;
    wanted.irregular = count == 0 ? -1 : static_cast<int32_t>(table.irregular.size());
    table.irregular.insert(table.irregular.end(), rows, rows + count);
    const auto number = static_cast<uint32_t>(table.forms.size());
    table.forms.push_back(wanted);
    table.by_hash.emplace(hash, number);
    return number;
}

}  // namespace tilescope::trace
