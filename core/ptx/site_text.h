// What a site asks for, as PTX: the addresses of its lanes, or what an exchange moves.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ptx/ast.h"
#include "core/ptx/instrument.h"
#include "core/ptx/sites.h"

namespace tilescope::ptx {

inline constexpr const char* kNoAddress = "\n    mov.u32 %ts_lo, 0;\n    mov.u32 %ts_hi, 0;";

// Immediate operands of an exchange. A shuffle's last three are b, c and the member mask.
ExchangeOperands operands_of(const Kernel& kernel, const Site& site);

// What an exchange is recorded with, as PTX that fills %ts_lo and %ts_hi: all lanes of a team get past it together. `known`:
// its operands are constants.
std::string exchange_text(const Kernel& kernel, const Site& site, bool known);

// One request of a wmma: its lanes ask for what lies so many elements behind the instruction's address.
struct WmmaRequest {
    std::array<uint32_t, kWarpSize> along{}, beside{};  // along: times the stride
    uint32_t bits = 0;                                  // of an element
    std::string stride;                                 // as PTX
    std::optional<uint64_t> known_stride;
    uint64_t distance(size_t lane) const { return (along[lane] * *known_stride + beside[lane]) * bits / 8; }
};

// By register: the constant that its one instruction moves there, as compilers write a stride.
using Constants = std::vector<std::optional<uint64_t>>;
Constants constants_of(const Kernel& kernel);

// None where the site is no request of a wmma.
std::optional<WmmaRequest> wmma_request(const Kernel& kernel, const Constants& constants,
                                        const std::vector<Site>& sites, const Site& site);

// Instrumented::parameters.
std::vector<uint64_t> parameter_offsets(const Kernel& kernel);

// The words of a site beside its address (signal.h), as PTX that puts each into %ts_lo; the first finds the address there.
// That of a wait stands behind the instruction, where the phase has ended.
std::vector<std::string> words_text_of(const Kernel& kernel, const Site& site);

// Where the bytes are that an operand names, as PTX that fills %ts_lo and %ts_hi. clusters: generic addresses may lead to
// the shared memory of other blocks.
std::string address_text(const Kernel& kernel, const Site& site, const std::optional<WmmaRequest>& wmma,
                         bool clusters);

}  // namespace tilescope::ptx
