#include "core/compiled/places.h"

#include <algorithm>
#include <string_view>

#include "core/ptx/ops.h"
#include "core/simt/lowering.h"

namespace tilescope::compiled {

using ptx::Op;
using ptx::Type;
using simt::MemoryAccess;
using simt::MicroOp;
using simt::Ref;
using Kind = MicroOp::Kind;

namespace {

uint8_t slot(Type type) { return static_cast<uint8_t>(simt::slot_bytes(type)); }

bool carries(const ptx::Operation& does) {
    return does.carry_out || (ptx::rule_of(does.op).suffixes & ptx::kCarryIn) != 0;
}

void lane_places(const simt::Program& program, uint32_t i, std::vector<Place>& places) {
    const MicroOp& op = program.code[i];
    const ptx::Operation& does = program.lanes[i].does;
    const std::string_view letters = ptx::rule_of(does.op).operands;
    const bool pair = letters[0] == 'e' || letters[0] == 'E';
    const auto first =
        static_cast<size_t>(std::ranges::find_if_not(letters, ptx::is_destination) - letters.begin());
    places.push_back({op.d, slot(ptx::type_of(letters[0], does)), true, false});
    if (pair || carries(does)) places.push_back({op.e, 0, true, carries(does)});
    const Ref sources[] = {op.a, op.b, op.c, op.e};
    size_t k = 0;
    for (size_t l = first; l < letters.size() && k < (pair ? 3u : 4u); ++l) {
        if (letters[l] == 'P' && !ptx::joins(does)) continue;
        if (letters[l] == 'Q') continue;  // boolean combinations are lowered to operations of their own
        places.push_back({sources[k++], slot(ptx::type_of(letters[l], does)), false, true});
    }
}

void memory_places(const simt::Program& program, const MicroOp& op, std::vector<Place>& places) {
    const MemoryAccess& access = program.accesses[op.target];
    places.push_back({op.a, static_cast<uint8_t>(access.wide_address ? 8 : 4), false, true});
    if (op.kind == Kind::Atomic) {
        const uint8_t bytes = access.element_bytes == 8 ? 8 : 4;
        places.push_back({access.data[0], bytes, true, false});
        places.push_back({access.data[1], bytes, false, true});
        if (access.atomic == ptx::Atomic::Cas) places.push_back({access.data[2], bytes, false, true});
        return;
    }
    const bool loads = op.kind == Kind::Load;
    for (size_t e = 0; e < access.elements; ++e)
        places.push_back(
            {access.data[e], static_cast<uint8_t>(access.data_bytes[e] == 8 ? 8 : 4), loads, !loads});
}

}  // namespace

bool is_own(const ptx::Operation& does) {
    switch (does.op) {
        case Op::Activemask:
        case Op::Vote:
        case Op::Match:
        case Op::Redux:
        case Op::Shfl: return false;
        default: return !carries(does);
    }
}

bool follows_converge(const simt::Program& program, uint32_t op) {
    return op > 0 && program.code[op - 1].kind == Kind::Converge && program.code[op - 1].c != 0;
}

bool places_of(const simt::Program& program, uint32_t i, std::vector<Place>& places) {
    const MicroOp& op = program.code[i];
    places.clear();
    if (op.guard != simt::kNoGuard) places.push_back({op.guard, 0, false, true});
    switch (op.kind) {
        case Kind::Lane: lane_places(program, i, places); return true;
        case Kind::Load:
        case Kind::Store:
        case Kind::Atomic: {
            memory_places(program, op, places);
            const MemoryAccess& access = program.accesses[op.target];
            const bool many = op.kind == Kind::Atomic ? simt::has_elements(access) : access.elements > 4;
            return !access.copy && op.counted && !many;
        }
        case Kind::Barrier:
            places.push_back({op.a, 4, false, true});
            if (op.c & simt::kBarrierThreads) places.push_back({op.b, 4, false, true});
            if (op.c & (simt::kBarrierCount | simt::kBarrierAll | simt::kBarrierAny)) {
                places.push_back({op.e, 0, false, true});
                places.push_back(
                    {op.d, static_cast<uint8_t>(op.c & simt::kBarrierCount ? 4 : 0), true, false});
            }
            return !(op.c & (simt::kBarrierGrid | simt::kBarrierArrives));
        case Kind::Converge: places.push_back({op.a, 4, false, true}); return true;
        case Kind::Branch:
        case Kind::Exit:
        case Kind::Trap:
        case Kind::Assert:
        case Kind::Nothing: return true;
        default: return false;
    }
}

}  // namespace tilescope::compiled
