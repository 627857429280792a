// Functions that have no body in the PTX: printf and assert, as the compiler calls them.
//
//   call.uni (retval0), vprintf, (param0, param1);          the format, and where its arguments lie
//   call.uni __assertfail, (param0, ..., param4);           message, file, line, function, size of a
//   character
//
// What a call is given lies in columns, one for each .param variable. The lanes of a warp print one after the
// other, lowest first (a GPU leaves their order open).
//
// Source: CUDA C++ Programming Guide, "Formatted Output", "Assertion"; "PTX Writer's Guide to
// Interoperability", "System Calls".
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/simt/lowering.h"
#include "core/simt/printf.h"
#include "core/simt/warp_inline.h"

namespace tilescope::simt {

using ptx::Op;
using ptx::Operand;

// Wide enough for either size.
Ref Lowering::call_value(const Operand& variable) {
    const auto [known, is_new] = call_values.try_emplace({variable.symbol, variable.offset}, 0);
    if (is_new) known->second = column(8);
    return known->second;
}

// ld.param and st.param of what a call is given or returns.
bool Lowering::move_call_value() {
    const bool load = current->op == Op::Ld;
    const Operand& address = current->operands[load ? 1 : 0];
    const Operand& data = current->operands[load ? 0 : 1];
    const int bytes = ptx::size_of(current->type);
    if (current->vector > 1 || bytes < 4) return fail("calls are given single values of 32 or 64 bits here");
    const ptx::Type type = unsigned_of(bytes);
    const Ref own = call_value(address);
    if (!load) return lane(Op::Mov, type, own, source(data, type)) && problem.empty();
    if (data.kind != Operand::Kind::Register) return true;
    if (register_bytes(data) != bytes) return widen(data, current->type, own);
    return lane(Op::Mov, type, register_offset[static_cast<size_t>(data.reg)], own);
}

bool Lowering::call() {
    const auto& o = current->operands;
    const std::string& name = current->callee;
    const size_t first = current->results, given = o.size() - first;
    if (name == "vprintf" && first == 1 && given == 2) {
        const Ref format = call_value(o[1]), arguments = call_value(o[2]), result = call_value(o[0]);
        MicroOp& op = emit(MicroOp::Kind::Print);
        op.a = format, op.b = arguments, op.d = result;
        return problem.empty();
    }
    if (name == "__assertfail" && first == 0 && given == 5) {
        const Ref message = call_value(o[0]), line = call_value(o[2]);
        MicroOp& op = emit(MicroOp::Kind::Assert);
        op.a = message, op.c = line;
        return problem.empty();
    }
    if (name == "malloc" || name == "free")
        return fail("there is no heap on the device here; allocate the memory before the launch");
    return fail(
        fmt::format("the PTX has no body of function '{}'; link it in, or build the kernel without it",
                    name.substr(0, 60)));
}

// What lies at a generic address and behind it in the same memory; empty where nothing does.
std::span<const std::byte> Machine::memory_from(const Warp& warp, int lane, uint64_t address) const {
    const auto from = [](const std::byte* data, uint64_t size, uint64_t at) {
        return at < size ? std::span(data + at, size - at) : std::span<const std::byte>();
    };
    if (address >= kSharedWindow && address < kLocalWindow)
        return from(shared_, shared_bytes_, address - kSharedWindow);
    if (address >= kLocalWindow && address < kConstWindow)
        return from(warp.local + static_cast<uint64_t>(lane) * program_.local_bytes, program_.local_bytes,
                    address - kLocalWindow);
    if (address >= kConstWindow && address < kModuleWindow)
        return from(constants_.data(), constants_.size(), address - kConstWindow);
    for (const View& view : views_)
        if (const auto found = from(view.data, view.bytes, address - view.base); !found.empty()) return found;
    return {};
}

// The characters up to a zero, or to where nothing lies.
std::string Machine::text_at(const Warp& warp, int lane, uint64_t address) const {
    constexpr size_t kMostCharacters = size_t{64} << 10;
    std::string text;
    while (text.size() < kMostCharacters) {
        auto found = memory_from(warp, lane, address + text.size());
        found = found.first(std::min(found.size(), kMostCharacters - text.size()));
        const auto end = std::ranges::find(found, std::byte{0});
        text.append(reinterpret_cast<const char*>(found.data()), static_cast<size_t>(end - found.begin()));
        if (end != found.end() || found.empty()) break;
    }
    return text;
}

void Machine::print(Warp& warp, const MicroOp& op, uint32_t mask) {
    const auto* formats = reinterpret_cast<const uint64_t*>(at(warp, op.a));
    const auto* arguments = reinterpret_cast<const uint64_t*>(at(warp, op.b));
    auto* results = reinterpret_cast<int32_t*>(at(warp, op.d));
    for_lanes(mask, [&](uint32_t l) {
        const int lane = static_cast<int>(l);
        const auto argument = [&](uint64_t offset, uint64_t bytes) -> std::optional<uint64_t> {
            const auto found = memory_from(warp, lane, arguments[l] + offset);
            if (found.size() < bytes) return {};
            uint64_t bits = 0;
            std::memcpy(&bits, found.data(), bytes);
            return bits;
        };
        const auto text = [&](uint64_t address) -> std::optional<std::string> {
            if (memory_from(warp, lane, address).empty()) return {};
            return text_at(warp, lane, address);
        };
        const auto format = text(formats[l]);
        if (!format) {
            results[l] = -1;
            return;
        }
        const Printed printed = print_format(*format, argument, text);
        results[l] = printed.arguments;
        if (options_.print) options_.print(printed.text);
    });
}

void Machine::fail_assertion(Warp& warp, const MicroOp& op, uint32_t mask) {
    const int lane = std::countr_zero(mask);
    const uint64_t message = reinterpret_cast<const uint64_t*>(at(warp, op.a))[lane];
    const uint32_t line = reinterpret_cast<const uint32_t*>(at(warp, op.c))[lane];
    raise(Fault::Kind::Assert, warp, lane, op,
          fmt::format("{}: assertion `{}' failed at line {}", thread_text(warp, lane),
                      one_line(text_at(warp, lane, message)), line));
    fault->line = line;
}

}  // namespace tilescope::simt
