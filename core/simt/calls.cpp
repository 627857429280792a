// Functions that have no body in the PTX: printf, assert, malloc and free, as the compiler calls them, and
// the barrier of the grid, as our headers do.
//
//   call.uni (retval0), vprintf, (param0, param1);          the format, and where its arguments lie
//   call.uni __assertfail, (param0, ..., param4);           message, file, line, function, bytes a character
//   call.uni (retval0), malloc, (param0);                   bytes
//   call.uni free, (param0);                                an address
//   call.uni cudaCGSynchronizeGrid, ();
//
// What a call is given lies in columns, one for each .param variable. The lanes of a warp print one after the
// other, lowest first (a GPU leaves their order open).
//
// Source: CUDA C++ Programming Guide, "Formatted Output", "Assertion", "Dynamic Global Memory Allocation and
// Operations"; "PTX Writer's Guide to Interoperability", "System Calls".
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/simt/lowering.h"
#include "core/simt/machine.h"
#include "core/simt/printf.h"

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
    const Operand& address = ptx::address_of(*current);
    const Operand& data = current->operands[load ? 0 : 1];
    const uint32_t bytes = size_of(current->type);
    if (current->vector > 1 || bytes < 4) return fail("calls are given single values of 32 or 64 bits here");
    const ptx::Type type = integer_of_size(bytes);
    const Ref own = call_value(address);
    if (!load) return lane(Op::Mov, type, own, source(data, type));
    if (data.kind != Operand::Kind::Register) return true;
    if (register_bytes(data) != bytes) return widen(data, current->type, own);
    return lane(Op::Mov, type, column_of(data), own);
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
    if (name == ptx::kGridBarrier && o.empty()) {
        const Ref number = immediate(kGridBarrierNumber, 4);
        MicroOp& op = emit(MicroOp::Kind::Barrier);
        op.a = number, op.c = kBarrierGrid;
        op.target = static_cast<uint32_t>(site_of[current_index]);
        program.grid_barrier = true;
        return problem.empty();
    }
    if (name == "malloc" && first == 1 && given == 1) {
        const Ref bytes = call_value(o[1]), result = call_value(o[0]);
        MicroOp& op = emit(MicroOp::Kind::Allocate);
        op.a = bytes, op.d = result;
        return problem.empty();
    }
    if (name == "free" && first == 0 && given == 1) {
        const Ref address = call_value(o[0]);
        emit(MicroOp::Kind::Free).a = address;
        return problem.empty();
    }
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

bool Machine::allocate(Warp& warp, const MicroOp& op, uint32_t mask) {
    const bool is_free = op.kind == MicroOp::Kind::Free;
    if (is_free ? !options_.release : !options_.allocate) {
        const int lane = std::countr_zero(mask);
        raise(Fault::Kind::Trap, warp, lane, op,
              fmt::format("{} calls {} at {}, and there is no heap here; run the kernel in its program",
                          thread_text(warp, lane), is_free ? "free" : "malloc", line_text(op)));
        return false;
    }
    const auto* given = reinterpret_cast<const uint64_t*>(at(warp, op.a));
    for_lanes(mask, [&](uint32_t lane) {
        if (is_free)
            options_.release(given[lane]);
        else
            reinterpret_cast<uint64_t*>(at(warp, op.d))[lane] = options_.allocate(given[lane]);
    });
    return true;
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
