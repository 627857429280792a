#include "core/trace/form_table.h"

#include <algorithm>

namespace tilescope::trace {

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
