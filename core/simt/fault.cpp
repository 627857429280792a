// Faults in words: which thread, where in the source, which element of which array.
#include <cstring>

#include <fmt/format.h>

#include "core/base/words.h"
#include "core/simt/machine.h"

namespace tilescope::simt {

using ptx::StateSpace;

std::string Machine::thread_name(const Warp& warp, int lane) const {
    return tilescope::thread_name(launch_.block,
                                  uint64_t{warp.number} * kWarpSize + static_cast<uint64_t>(lane));
}

std::string Machine::thread_text(const Warp& warp, int lane) const {
    return fmt::format("{} of {}", thread_name(warp, lane),
                       block_name(launch_.grid, {block_.x, block_.y, block_.z}));
}

std::string Machine::named_outside(uint64_t address) const {
    return options_.name_outside ? options_.name_outside(address) : std::string();
}

std::string Machine::line_text(const MicroOp& op) const {
    for (const ptx::Site& site : program_.sites)
        if (site.instruction == op.instruction && site.line) return fmt::format("line {}", site.line);
    if (const uint32_t line = program_.source_lines[op.instruction]) return fmt::format("line {}", line);
    return fmt::format("PTX line {}", program_.ptx_lines[op.instruction]);
}

bool Machine::raise(Fault::Kind kind, const Warp& warp, int lane, const MicroOp& op, std::string message) {
    Fault f;
    f.kind = kind;
    f.block = block_;
    f.thread = warp.number * kWarpSize + static_cast<uint32_t>(lane);
    f.line = program_.source_lines[op.instruction];
    for (const ptx::Site& site : program_.sites)
        if (site.instruction == op.instruction) f.site = static_cast<int32_t>(site.id), f.line = site.line;
    f.message = std::move(message);
    fault = std::move(f);
    return false;
}

namespace {

// Bytes between an address and an array; 0 inside. Differences are taken modulo 2^64: an address may be any.
uint64_t distance(const Array& array, int64_t address) {
    const auto at = static_cast<uint64_t>(address), end = array.base + array.bytes();
    if (address < static_cast<int64_t>(array.base)) return array.base - at;
    return address < static_cast<int64_t>(end) ? 0 : at - end + 1;
}

std::string element_text(const Array& array, int64_t address) {
    const auto bytes = static_cast<int64_t>(static_cast<uint64_t>(address) - array.base);
    const int64_t size = array.element_bytes();
    return element_name(array, bytes / size - (bytes % size < 0 ? 1 : 0));
}

// The array that a pointer points into, or right behind; none for other numbers.
const Array* pointed_to(const Launch& launch, uint64_t pointer) {
    for (const Array& array : launch.arrays)
        if (array.space == Space::Global && pointer >= array.base && pointer <= array.base + array.bytes())
            return &array;
    return nullptr;
}

// The one array that the addresses of a site are made from; none where there are none or several.
const Array* array_of(const Launch& launch, const Program& program, uint32_t instruction) {
    const Array* found = nullptr;
    for (const ptx::Site& site : program.sites) {
        if (site.instruction != instruction) continue;
        for (const Program::AddressBase& base : program.address_bases[site.id]) {
            const Array* array = nullptr;
            if (base.parameter >= 0 && static_cast<size_t>(base.parameter) < launch.arguments.size()) {
                const Argument& argument = launch.arguments[static_cast<size_t>(base.parameter)];
                uint64_t pointer = launch.bits_of(argument);
                const auto offset = static_cast<uint64_t>(base.offset);
                if (!argument.object.empty()) {
                    if (offset + sizeof pointer > argument.object.size()) continue;
                    std::memcpy(&pointer, argument.object.data() + offset, sizeof pointer);
                }
                array = pointed_to(launch, pointer);
            } else if (base.parameter < 0) {
                for (const Array& one : launch.arrays)
                    if (!one.symbol.empty() && one.symbol == base.symbol) array = &one;
            }
            if (array == nullptr) continue;
            if (found != nullptr && found != array) return nullptr;
            found = array;
        }
    }
    return found;
}

}  // namespace

void Machine::raise_access(Warp& warp, const MicroOp& op, const MemoryAccess& access, StateSpace space,
                           int lane, bool misaligned) {
    const uint64_t address = address_[static_cast<size_t>(lane)];
    const bool is_load = op.kind == MicroOp::Kind::Load;
    const uint32_t bytes = uint32_t{access.element_bytes} * access.elements;
    const std::string start = thread_text(warp, lane) + (is_load                            ? " reads "
                                                         : op.kind == MicroOp::Kind::Atomic ? " updates "
                                                                                            : " writes ");
    const std::string where = " at " + line_text(op);
    const bool shared = space == StateSpace::Shared;
    // Offsets in shared memory are small; a huge one is a negative one, of 32 or 64 bits.
    const int64_t signed_address = shared && !access.wide_address
                                       ? int64_t{static_cast<int32_t>(static_cast<uint32_t>(address))}
                                       : static_cast<int64_t>(address);

    // Farther from every array than this, an address is no index gone astray.
    constexpr uint64_t kFar = uint64_t{1} << 40;
    const Array* nearest = nullptr;
    uint64_t least = kFar;
    if (shared || space == StateSpace::Global)
        for (const Array& array : launch_.arrays) {
            if ((array.space == Space::Shared) != shared) continue;
            const uint64_t d = distance(array, signed_address);
            if (d < least) least = d, nearest = &array;
        }

    // What the address was made from tells better which array is meant than what lies near.
    if (const Array* const meant = array_of(launch_, program_, op.instruction);
        meant && (meant->space == Space::Shared) == shared && (shared || space == StateSpace::Global)) {
        const uint64_t d = distance(*meant, signed_address);
        if (d < kFar && (d != 0 || !nearest || least != 0)) least = d, nearest = meant;
    }

    const std::string outside =
        space == StateSpace::Global && !misaligned ? named_outside(address) : std::string();
    std::string message;
    Fault::Kind kind = misaligned ? Fault::Kind::Misaligned : Fault::Kind::OutOfBounds;
    if (misaligned) {
        const std::string what =
            nearest
                ? fmt::format("{} bytes near {} at {} {:#x}", bytes, element_text(*nearest, signed_address),
                              shared ? "offset" : "address", address)
                : fmt::format("{} bytes at {} {:#x}", bytes, shared ? "offset" : "address", address);
        message = fmt::format("{}{}{}, which is not a multiple of {}", start, what, where, bytes);
    } else if (!outside.empty()) {
        kind = Fault::Kind::BadAddress;
        message = fmt::format("{}{} bytes at address {:#x}{}, {}", start, bytes, address, where, outside);
    } else if (nearest && least != 0) {
        message =
            fmt::format("{}{}{}, outside {}'s {} elements", start, element_text(*nearest, signed_address),
                        where, name_in({}, *nearest), extents_text(*nearest));
    } else if (shared) {
        message = fmt::format("{}byte {} of shared memory{}, outside the block's {} bytes", start,
                              signed_address, where, shared_bytes_);
    } else if (space == StateSpace::Local || space == StateSpace::Const) {
        const char* name = space == StateSpace::Local ? "local" : "constant";
        message = fmt::format("{}byte {} of {} memory{}, outside its {} bytes", start, signed_address, name,
                              where, space == StateSpace::Local ? program_.local_bytes : constants_.size());
    } else if (nearest) {
        message = fmt::format("{}{}{}, whose {} bytes reach outside its buffer", start,
                              element_text(*nearest, signed_address), where, bytes);
    } else {
        bool near_buffer = false;
        for (const View& view : views_) {
            const uint64_t d = address < view.base ? view.base - address : address - (view.base + view.bytes);
            near_buffer |= d < kFar;
        }
        if (!near_buffer) kind = Fault::Kind::BadAddress;
        message = fmt::format("{}{} bytes at address {:#x}{}, which is in no buffer of the launch", start,
                              bytes, address, where);
    }
    raise(kind, warp, lane, op, std::move(message));
    fault->address = address;
}

}  // namespace tilescope::simt
