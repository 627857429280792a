// The dictionary of forms: each different form once, numbered by first use.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/trace/fit.h"
#include "core/trace/trace.h"

namespace tilescope::trace {

inline constexpr uint32_t kNoForm = UINT32_MAX;

struct FormTable {
    uint32_t limit = kMaxForms;
    std::vector<Form> forms;
    std::vector<std::array<int32_t, 32>> irregular;
    std::unordered_multimap<uint64_t, uint32_t> by_hash;  // hash of form and rows -> form
};

// The number of a form, new or known; kNoForm where the table is full. form.irregular is the number
// of rows, as fit() leaves it.
uint32_t intern(FormTable& table, const Form& form, const std::array<int32_t, 32>* rows);

}  // namespace tilescope::trace
