// Finds the form of a request: the shape of its 32 addresses.
//
//   lane      0   1   2   3 | 4   5   6   7 | ...           T = 4, row-major, rows 40 bytes apart:
//   offset    0   4   8  12 | 40  44  48  52 | ...          w = 4, stride = 4, stride2 = 40
//
// Only active lanes are looked at, so that a request cut off at a matrix edge still fits. Of all
// (w, stride, stride2) that fit, the one with the largest w is taken, and a stride that no two
// active lanes determine is 0: equal requests get equal forms.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/base/launch.h"
#include "core/simt/interpreter.h"
#include "core/trace/trace.h"

namespace tilescope::trace {

struct Affine {
    uint8_t width = 32;
    int32_t stride = 0, stride2 = 0;  // bytes
};

// offset: from the first active lane's address; entries of inactive lanes are not read. mask != 0.
// False where no affine form fits.
bool fit_affine(uint32_t mask, const std::array<int64_t, 32>& offset, Affine& affine);

// A request as form, base and, for irregular ones, one row of 32-bit offsets or two of their low and
// high halves. Form::irregular is the number of rows here (0, 1 or 2), not yet an index.
struct Fitted {
    Form form;
    uint32_t base = 0;
    std::array<std::array<int32_t, 32>, 2> rows{};
};

// bytes: that each lane touches.
Fitted fit(const std::vector<Array>& arrays, const simt::Request& request, uint32_t bytes);

// --- the dictionary of forms: each different form once, numbered by first use

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
