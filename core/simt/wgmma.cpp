// wgmma.mma_async by the four warps of a warpgroup: each multiplies the 16 rows of A and D that are its own by all of B.
// What lies in shared memory is read once for all four, when the last of them has come: a thread that has waited for its
// own product may let others overwrite what all four multiply by.
//
//   tile A     a step of each warp, where A is in shared memory: its 16 rows
//   tile B     a step of the first of the four warps
//   product    a step of each warp, which stands before it until the other three do; D is written at once
//
// On a GPU reads and writes may come at any time up to wgmma.wait_group; at once is one of them.
//
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/words.h"
#include "core/simt/machine.h"
#include "core/simt/warpgroup.h"

namespace tilescope::simt {

using ptx::MatrixRole;

namespace {

constexpr uint32_t kRowsOfWarp = ptx::kWarpgroupRows / ptx::kWarpsOfGroup;
constexpr uint32_t kChunk = 16;  // bytes that every layout keeps side by side

uint64_t uniform(const std::byte* column) { return *reinterpret_cast<const uint64_t*>(column); }

}  // namespace

ptx::MatrixDescriptor Machine::descriptor_of(Warp& warp, Ref ref) {
    return ptx::matrix_descriptor(uniform(at(warp, ref)));
}

// A step: the tile that a descriptor names is read.
bool Machine::tile_step(Warp& warp, const MicroOp& op) {
    const WgmmaCode& code = program_.wgmmas[op.target];
    const WgmmaCode::Tile& tile = op.c == 0 ? code.a_tile : code.b_tile;
    const uint64_t bits = uniform(at(warp, tile.descriptor));
    address_[0] = ptx::matrix_descriptor(bits).address;
    words_of(0)[0] = static_cast<uint32_t>(bits), words_of(0)[1] = static_cast<uint32_t>(bits >> 32);
    if (address_[0] >= shared_bytes_) {
        raise(Fault::Kind::OutOfBounds, warp, 0, op,
              fmt::format("{} names a matrix at byte {} of shared memory at {}, outside the block's {}",
                          thread_text(warp, 0), grouped(address_[0]), line_text(op),
                          counted(shared_bytes_, "byte")));
        return false;
    }
    tell_words(warp, tile.site, Space::Shared, 1);
    return true;
}

// `rows` rows of A, or columns of B, from `first` on, each with its bytes along k one behind the other.
bool Machine::gather_tile(Warp& warp, const MicroOp& op, const WgmmaCode& code, bool of_b, uint32_t first,
                          uint32_t rows, std::vector<std::byte>& bytes) {
    const WgmmaCode::Tile& tile = of_b ? code.b_tile : code.a_tile;
    const ptx::MatrixDescriptor descriptor = descriptor_of(warp, tile.descriptor);
    const uint32_t element = ptx::bits_of(code.form.type(of_b ? MatrixRole::B : MatrixRole::A));
    const uint32_t along = of_b && code.form.sparse ? 2 * ptx::kBytesAlongK : ptx::kBytesAlongK;
    const uint32_t chunk = tile.transposed ? element / 8 : kChunk, step = chunk * 8 / element;
    bytes.resize(size_t{rows} * along);
    for (uint32_t row = 0; row < rows; ++row)
        for (uint32_t at = 0; at < along; at += chunk) {
            const uint32_t from =
                ptx::address_of_element(descriptor, tile.transposed, element, first + row, at / chunk * step);
            if (from > shared_bytes_ || chunk > shared_bytes_ - from) {
                raise(Fault::Kind::OutOfBounds, warp, 0, op,
                      fmt::format("{} multiplies by a matrix that reaches to byte {} of shared memory at {}, "
                                  "outside the block's {}; look at the offsets in its descriptor",
                                  thread_text(warp, 0), grouped(from), line_text(op),
                                  counted(shared_bytes_, "byte")));
                return false;
            }
            std::memcpy(bytes.data() + size_t{row} * along + at, shared_ + from, chunk);
        }
    return true;
}

// The warp's rows of an A that it holds in registers.
void Machine::gather_registers(Warp& warp, const WgmmaCode& code, std::vector<std::byte>& bytes) {
    const uint32_t element = ptx::bits_of(code.form.type(MatrixRole::A));
    bytes.resize(size_t{kRowsOfWarp} * ptx::kBytesAlongK);
    for (uint8_t index = 0; index < code.a.size(); ++index)
        for (uint8_t lane = 0; lane < kWarpSize; ++lane) {
            // A register's elements lie side by side in their row.
            const ptx::MatrixPlace place =
                ptx::warpgroup_place(code.form, MatrixRole::A, 0, {lane, index, 0});
            std::memcpy(bytes.data() + size_t{place.row} * ptx::kBytesAlongK + place.column * element / 8,
                        reinterpret_cast<const uint32_t*>(at(warp, code.a[index])) + lane, sizeof(uint32_t));
        }
}

// Whether all warps of the warpgroup that have not ended stand before a product.
bool Machine::group_has_come(const Warp& warp) const {
    const size_t first = warp.number / ptx::kWarpsOfGroup * ptx::kWarpsOfGroup;
    const size_t end = std::min<size_t>(first + ptx::kWarpsOfGroup, warps_.size());
    return std::all_of(warps_.begin() + static_cast<std::ptrdiff_t>(first),
                       warps_.begin() + static_cast<std::ptrdiff_t>(end), [&](const Warp& one) {
                           return one.state == Warp::State::Ended ||
                                  (one.state == Warp::State::Ready &&
                                   program_.code[one.stack.back().pc].kind == MicroOp::Kind::Wgmma);
                       });
}

// For all warps of the group that stand before the product.
bool Machine::take_operands(Warp& warp, const MicroOp& op) {
    const WgmmaCode& code = program_.wgmmas[op.target];
    auto made = std::make_shared<WgmmaOperands>();
    if (code.a.empty() && !gather_tile(warp, op, code, false, 0, ptx::kWarpgroupRows, made->a)) return false;
    if (!gather_tile(warp, op, code, true, 0, code.form.n, made->b)) return false;
    const size_t first = warp.number / ptx::kWarpsOfGroup * ptx::kWarpsOfGroup;
    for (size_t w = first; w < std::min<size_t>(first + ptx::kWarpsOfGroup, warps_.size()); ++w) {
        Warp& one = warps_[w];
        if (&one == &warp || (one.state == Warp::State::Ready && one.stack.back().pc == warp.stack.back().pc))
            one.operands = made;
    }
    ++changes_;  // the others need wait no longer
    return true;
}

void Machine::wait_for_group(Warp& warp, const MicroOp& op) {
    Spin& spin = warp.spin;
    spin.at_barrier = false, spin.at_group = true;
    spin.address = 0, spin.space = Space::Shared;
    spin.mask = warp.pending_mask;
    spin.stack = warp.stack;
    spin.stack.back().pc = static_cast<uint32_t>(&op - program_.code.data()) + 1;
    yield(warp, true);
}

template <bool Values>
bool Machine::wgmma(Warp& warp, const MicroOp& op) {
    const WgmmaCode& code = program_.wgmmas[op.target];
    const uint32_t n = code.form.n, own = warp.number % ptx::kWarpsOfGroup;
    if (!warp.operands && !take_operands(warp, op)) return false;
    const std::shared_ptr<const WgmmaOperands> operands = std::move(warp.operands);
    warp.operands = nullptr;
    std::vector<std::byte> registers;
    if (!code.a.empty()) gather_registers(warp, code, registers);
    const std::span<const std::byte> a =
        code.a.empty()
            ? std::span(operands->a)
                  .subspan(size_t{own} * kRowsOfWarp * ptx::kBytesAlongK, kRowsOfWarp * ptx::kBytesAlongK)
            : std::span<const std::byte>(registers);
    const std::span<const std::byte> b = operands->b;
    const uint32_t adds =
        code.scale == kNoGuard ? 1 : *reinterpret_cast<const uint32_t*>(at(warp, code.scale)) & 1;
    const bool halves = code.form.type(MatrixRole::D) == ptx::MatrixType::F16;
    const uint32_t elements = halves ? 2 : 1, bits = 32 / elements;
    std::vector<uint32_t> sums(size_t{kRowsOfWarp} * n);
    const auto each = [&](auto visit) {
        for (uint32_t index = 0; index < code.d.size(); ++index) {
            auto* const column = reinterpret_cast<uint32_t*>(at(warp, code.d[index]));
            for (uint8_t lane = 0; lane < kWarpSize; ++lane)
                for (uint8_t e = 0; e < elements; ++e) {
                    const ptx::MatrixPlace place = ptx::warpgroup_place(
                        code.form, MatrixRole::D, 0, {lane, static_cast<uint8_t>(index), e});
                    visit(column[lane], e * bits, sums[size_t{place.row} * n + place.column]);
                }
        }
    };
    const uint32_t kept = halves ? 0xFFFFu : ~0u;
    if (adds) each([&](uint32_t& word, uint32_t shift, uint32_t& sum) { sum = word >> shift & kept; });
    std::array<uint32_t, kWarpSize> metadata{};
    if (code.form.sparse) std::memcpy(metadata.data(), at(warp, code.metadata), sizeof metadata);
    simt::multiply({code.form, code.negates, code.selector}, a, b, metadata, sums);
    each([&](uint32_t& word, uint32_t shift, uint32_t sum) {
        word = halves ? (word & ~(kept << shift)) | (sum & kept) << shift : sum;
    });
    if constexpr (Values) {
        for (const Ref ref : code.a) settle_loose(warp, origin(warp, ref), ~0u);
        for (const Ref ref : code.d) {
            const Origin chain = kComputed | ++next_chain_;
            auto* const origins = reinterpret_cast<Origin*>(warp.origins + ref);
            for (uint32_t lane = 0; lane < kWarpSize; ++lane)
                if (!adds || !(origins[lane] & kComputed)) origins[lane] = chain;
        }
        if (!ptx::is_integer(code.form.type(MatrixRole::A))) flop += code.form.flop() / ptx::kWarpsOfGroup;
    }
    if (code.site == kNoSite) return true;
    std::array<uint64_t, kWarpSize> nothing{};
    Exchange made;
    made.site = code.site, made.warp = warp.number, made.mask = ~0u, made.bytes = 0;
    made.from = nothing.data();
    if (observer_) observer_->on_exchange(made);
    ++steps_;
    return true;
}

template bool Machine::wgmma<false>(Warp&, const MicroOp&);
template bool Machine::wgmma<true>(Warp&, const MicroOp&);

}  // namespace tilescope::simt
