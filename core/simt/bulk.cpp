// Copies in bulk: bytes that lie side by side (cp.async.bulk), or a box of a tensor (cp.async.bulk.tensor), moved by a unit
// of their own while threads go on.
//
//   the instruction     read       the bytes are read, in the order of the box's rows, and kept with the warp
//                       write      they are under way: to shared memory for a barrier, or to global memory in the group
//                                  that the lane has open; with .multicast to each block of a mask, for its own barrier
//   a wait at the barrier          what is under way for it is written, and the barrier told of its bytes (signals.cpp)
//                                  cp.reduce updates what lies there
//   bulk.wait_group N              all of the lane's groups but the latest N are written
//   the lane exits                 so are all of its groups
//
// A copy may land at any time behind where it is asked for, so that one which nobody waits for lands when others need its
// room.
//
// Source: PTX ISA, "Data Movement and Conversion Instructions: Bulk copy", "Tensor copy"; "cp.async.bulk",
// "cp.async.bulk.tensor", "cp.async.bulk.commit_group", "cp.async.bulk.wait_group".
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/base/cluster.h"
#include "core/base/words.h"
#include "core/simt/atomic.h"
#include "core/simt/machine.h"

namespace tilescope::simt {

namespace {

constexpr uint64_t kMostUnderWay = uint64_t{16} << 20;  // bytes of a block

}  // namespace

uint64_t Machine::side_address(Warp& warp, const BulkCode::Side& side, uint32_t lane) {
    const std::byte* const column = at(warp, side.address);
    if (side.wide_address)
        return reinterpret_cast<const uint64_t*>(column)[lane] + static_cast<uint64_t>(side.offset);
    return reinterpret_cast<const uint32_t*>(column)[lane] + static_cast<uint32_t>(side.offset);
}

// Null where it does not lie in one buffer, or not in the block's shared memory.
std::byte* Machine::bulk_memory(ptx::StateSpace space, uint64_t address, uint64_t bytes, bool writes) {
    if (space == ptx::StateSpace::Shared)
        return bytes <= shared_bytes_ && address <= shared_bytes_ - bytes ? shared_ + address : nullptr;
    const auto after = std::upper_bound(views_.begin(), views_.end(), address,
                                        [](uint64_t a, const View& view) { return a < view.base; });
    if (after == views_.begin()) return nullptr;
    const View& view = after[-1];
    if (view.bytes < bytes || address - view.base > view.bytes - bytes) return nullptr;
    touched[static_cast<size_t>(&view - views_.data())] |= writes ? kStores : kLoads;
    return view.data + (address - view.base);
}

bool Machine::raise_bulk(const Warp& warp, const MicroOp& op, uint32_t lane, Fault::Kind kind, bool writes,
                         uint64_t address, uint64_t bytes, const std::string& why) {
    const BulkCode& code = program_.bulks[op.target];
    const bool shared = (writes ? code.to : code.from).space == ptx::StateSpace::Shared;
    const auto l = static_cast<int>(lane);
    const std::string outside =
        kind == Fault::Kind::OutOfBounds && !shared ? named_outside(address) : std::string();
    raise(outside.empty() ? kind : Fault::Kind::BadAddress, warp, l, op,
          fmt::format("{} {} {} in bulk at {} {:#x} at {}, {}", thread_text(warp, l),
                      writes ? "writes" : "reads", counted(bytes, "byte"), shared ? "offset" : "address",
                      address, line_text(op), outside.empty() ? why : outside));
    fault->address = address;
    return false;
}

// Where bytes side by side lie, in global memory or in a block's; null after a fault.
std::byte* Machine::bulk_row(const Warp& warp, const MicroOp& op, uint32_t lane, bool writes, Machine& block,
                             uint64_t address, uint64_t bytes) {
    const BulkCode& code = program_.bulks[op.target];
    const ptx::StateSpace space = (writes ? code.to : code.from).space;
    if (bytes == 0 || bytes % ptx::kBulkBytes != 0 || address % ptx::kBulkBytes != 0) {
        raise_bulk(warp, op, lane, Fault::Kind::Misaligned, writes, address, bytes,
                   "but copies in bulk move multiples of 16 bytes between multiples of 16");
        return nullptr;
    }
    std::byte* const memory = block.bulk_memory(space, address, bytes, writes);
    if (memory == nullptr)
        raise_bulk(warp, op, lane, Fault::Kind::OutOfBounds, writes, address, bytes,
                   space == ptx::StateSpace::Shared
                       ? fmt::format("outside the block's {}", counted(shared_bytes_, "byte"))
                       : "which do not lie in one buffer of the launch");
    return memory;
}

// The lane's half of a copy of bytes that lie side by side: what it reads.
bool Machine::read_row(Warp& warp, const MicroOp& op, uint32_t lane) {
    const BulkCode& code = program_.bulks[op.target];
    const uint32_t bytes = reinterpret_cast<const uint32_t*>(at(warp, code.bytes))[lane];
    const uint64_t address = side_address(warp, code.from, lane);
    const std::byte* const from = bulk_row(warp, op, lane, false, *this, address, bytes);
    if (from == nullptr) return false;
    BulkRead& read = warp.bulk_reads[lane];
    read.bytes.assign(from, from + bytes);
    words_of(lane)[0] = bytes;
    address_[lane] = address;
    pieces_.push_back({lane, bytes, address, 0, read.bytes.data()});
    return true;
}

// Fills in the map and the box of a copy of a tensor.
bool Machine::find_map(Warp& warp, const MicroOp& op, uint32_t lane, BulkRead& read) {
    const BulkCode& code = program_.bulks[op.target];
    const auto l = static_cast<int>(lane);
    const uint64_t address = side_address(warp, code.map, lane);
    const ptx::StateSpace space =
        code.map.space == ptx::StateSpace::Generic ? space_of_generic(address) : code.map.space;
    const uint64_t offset = code.map.space == ptx::StateSpace::Generic && space != ptx::StateSpace::Global
                                ? address - window_of(space)
                                : address;
    const std::byte* bytes = nullptr;
    if (space == ptx::StateSpace::Const && constants_.size() >= ptx::kTensorMapBytes &&
        offset <= constants_.size() - ptx::kTensorMapBytes)
        bytes = constants_.data() + offset;
    if (space == ptx::StateSpace::Local && program_.local_bytes >= ptx::kTensorMapBytes &&
        offset <= program_.local_bytes - ptx::kTensorMapBytes)
        bytes = warp.local + lane * program_.local_bytes + offset;
    ptx::TensorMapBytes copied;
    std::string outside;
    if (space == ptx::StateSpace::Global) {
        bytes = bulk_memory(ptx::StateSpace::Global, offset, ptx::kTensorMapBytes, false);
        for (const PlacedMap& known : launch_.maps)
            if (!known.in_parameters && known.address == offset && known.bytes.size() == copied.size())
                bytes = known.bytes.data();
        if (bytes == nullptr) outside = named_outside(offset);
    }
    const auto bad = [&](const std::string& why) {
        raise(Fault::Kind::BadAddress, warp, l, op,
              fmt::format("{} copies a box of a tensor at {}, {}", thread_text(warp, l), line_text(op), why));
        fault->address = address;
        return false;
    };
    if (bytes != nullptr) std::memcpy(copied.data(), bytes, copied.size());
    const auto map = bytes != nullptr ? ptx::decode(copied) : std::nullopt;
    if (!outside.empty()) return bad(fmt::format("whose map's address {:#x} is {}", address, outside));
    if (!map)
        return bad(fmt::format(
            "but at address {:#x} lies no tensor map that cuTensorMapEncodeTiled or Im2col has made",
            address));
    if (const auto runs = ptx::runs_here(*map); !runs) return bad("whose map " + runs.error().message);
    read.map = *map;
    read.box = {};
    read.box.gathers = code.gathers;
    read.box.stores = code.of_group;
    for (size_t i = 0; i < code.coordinates.size(); ++i)
        read.box.at[i] = reinterpret_cast<const int32_t*>(at(warp, code.coordinates[i]))[lane];
    for (size_t i = 0; i < code.offsets.size(); ++i)
        read.box.offset[i] =
            static_cast<uint16_t>(reinterpret_cast<const uint32_t*>(at(warp, code.offsets[i]))[lane]);
    const size_t given = code.gathers ? 5 : map->rank;
    if (code.coordinates.size() != given)
        return bad(fmt::format("with {} where its map has {} dimensions",
                               counted(code.coordinates.size(), "coordinate"), map->rank));
    read.box.shared = static_cast<uint32_t>(
        offset_of_address(side_address(warp, code.of_group ? code.from : code.to, lane)));
    if (const auto ok = ptx::check(*map, read.box); !ok) return bad("and " + ok.error().message);
    uint32_t* const words = words_of(lane);
    words[0] = static_cast<uint32_t>(ptx::box_bytes(*map, code.gathers));
    const bool parameter =
        space == ptx::StateSpace::Const && program_.parameters_addressed && offset >= program_.parameter_base;
    words[2] = static_cast<uint32_t>(parameter ? offset - program_.parameter_base : address);
    words[3] = parameter ? ptx::kMapInParameters : static_cast<uint32_t>(address >> 32);
    maps_.push_back({parameter ? offset - program_.parameter_base : address, parameter,
                     std::vector<std::byte>(copied.begin(), copied.end())});
    for (size_t i = 0; i < read.box.at.size(); ++i) words[4 + i] = static_cast<uint32_t>(read.box.at[i]);
    words[9] = uint32_t{read.box.offset[0]} | uint32_t{read.box.offset[1]} << 16;
    words[10] = uint32_t{read.box.offset[2]} | uint32_t{code.gathers} << 16;
    return true;
}

// The same of a box of a tensor.
bool Machine::read_box(Warp& warp, const MicroOp& op, uint32_t lane) {
    const BulkCode& code = program_.bulks[op.target];
    BulkRead& read = warp.bulk_reads[lane];
    if (!find_map(warp, op, lane, read)) return false;
    const ptx::TensorMap& map = read.map;
    read.bytes.assign(ptx::box_bytes(map, code.gathers), std::byte{0});
    const size_t first = pieces_.size();
    const bool rounds = map.type == ptx::TensorType::TF32 || map.type == ptx::TensorType::TF32Ftz;
    address_[lane] = code.of_group ? read.box.shared : map.address;
    uint32_t place = 0;
    ptx::TensorRow row;
    for (ptx::TensorRows rows(map, read.box); rows.next(row); place += row.bytes) {
        if (code.of_group) {
            uint32_t of_row = place;
            bool inside = true;
            ptx::for_pieces(map.swizzle, row, [&](const ptx::TensorPiece& piece) {
                const std::byte* const from =
                    bulk_memory(ptx::StateSpace::Shared, piece.shared, piece.bytes, false);
                inside = inside && from != nullptr;
                if (from != nullptr) std::memcpy(read.bytes.data() + of_row, from, piece.bytes);
                if (!piece.outside) pieces_.push_back({lane, piece.bytes, piece.shared, of_row, nullptr});
                of_row += piece.bytes;
            });
            if (!inside)
                return raise_bulk(warp, op, lane, Fault::Kind::OutOfBounds, false, read.box.shared,
                                  read.bytes.size(),
                                  fmt::format("outside the block's {}", counted(shared_bytes_, "byte")));
            continue;
        }
        if (map.fills_with_nan)
            for (uint32_t at = 0; at + 2 <= row.bytes; at += 2) {
                const uint16_t fill = ptx::filled(map);
                std::memcpy(read.bytes.data() + place + at, &fill, sizeof fill);
            }
        if (row.inside_bytes == 0) continue;
        const std::byte* const from =
            bulk_memory(ptx::StateSpace::Global, row.global, row.inside_bytes, false);
        if (from == nullptr)
            return raise_bulk(warp, op, lane, Fault::Kind::OutOfBounds, false, row.global, row.inside_bytes,
                              "a row of its tensor, which does not lie in one buffer of the launch");
        std::byte* const to = read.bytes.data() + place + row.inside;
        std::memcpy(to, from, row.inside_bytes);
        for (uint32_t at = 0; rounds && at + sizeof(uint32_t) <= row.inside_bytes; at += sizeof(uint32_t)) {
            uint32_t bits = 0;
            std::memcpy(&bits, to + at, sizeof bits);
            bits = ptx::loaded(map.type, bits);
            std::memcpy(to + at, &bits, sizeof bits);
        }
        pieces_.push_back({lane, row.inside_bytes, row.global, place + row.inside, nullptr});
    }
    for (size_t i = first; i < pieces_.size(); ++i) pieces_[i].data = read.bytes.data() + pieces_[i].place;
    return true;
}

bool Machine::read_bulk(Warp& warp, const MicroOp& op, uint32_t mask) {
    const BulkCode& code = program_.bulks[op.target];
    warp.bulk_reads.resize(kWarpSize);
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(left));
        if (!(code.tensor ? read_box(warp, op, lane) : read_row(warp, op, lane)))
            return pieces_.clear(), false;
        words_of(lane)[1] =
            code.of_group ? ptx::kNoBarrier : static_cast<uint32_t>(side_address(warp, code.barrier, lane));
    }
    tell_words(warp, code.from.site, space_of(code.from.space), mask);
    return true;
}

bool Machine::write_row(Warp& warp, const MicroOp& op, uint32_t lane, BulkCopy& copy,
                        const BulkTarget& target) {
    const auto bytes = static_cast<uint32_t>(copy.bytes.size());
    std::byte* const to = bulk_row(warp, op, lane, true, *target.block, target.at, bytes);
    if (to == nullptr) return false;
    copy.pieces.push_back({to, 0, bytes});
    if (!copy.tells) return true;
    words_of(lane)[0] = bytes;
    address_[lane] = target.at + target.behind;
    pieces_.push_back({lane, bytes, address_[lane], 0, nullptr});
    return true;
}

bool Machine::write_box(Warp& warp, const MicroOp& op, uint32_t lane, BulkCopy& copy,
                        const BulkTarget& target) {
    const BulkCode& code = program_.bulks[op.target];
    const BulkRead& read = warp.bulk_reads[lane];
    const uint64_t address = code.of_group ? read.map.address : read.box.shared + target.behind;
    if (copy.tells) address_[lane] = address;
    uint32_t place = 0;
    const auto take = [&](std::byte* to, uint64_t place_there, uint32_t from, uint32_t bytes) {
        if (to == nullptr) return false;
        copy.pieces.push_back({to, from, bytes});
        if (copy.tells) pieces_.push_back({lane, bytes, place_there + target.behind, from, nullptr});
        return true;
    };
    bool inside = true;
    ptx::TensorRow row;
    for (ptx::TensorRows rows(read.map, read.box); rows.next(row); place += row.bytes) {
        if (code.of_group) {
            if (row.inside_bytes == 0) continue;
            inside = inside && take(bulk_memory(ptx::StateSpace::Global, row.global, row.inside_bytes, true),
                                    row.global, place + row.inside, row.inside_bytes);
            continue;
        }
        uint32_t of_row = place;
        ptx::for_pieces(read.map.swizzle, row, [&](const ptx::TensorPiece& piece) {
            inside = inside &&
                     take(target.block->bulk_memory(ptx::StateSpace::Shared, piece.shared, piece.bytes, true),
                          piece.shared, of_row, piece.bytes);
            of_row += piece.bytes;
        });
    }
    return inside ||
           raise_bulk(warp, op, lane, Fault::Kind::OutOfBounds, true, address, copy.bytes.size(),
                      code.of_group ? "rows of its tensor, which do not lie in one buffer of the launch"
                                    : fmt::format("outside the block's {}", counted(shared_bytes_, "byte")));
}

// Fills targets_: where the lane's copy goes.
bool Machine::find_targets(Warp& warp, const MicroOp& op, uint32_t lane) {
    const BulkCode& code = program_.bulks[op.target];
    const auto l = static_cast<int>(lane);
    targets_.clear();
    if (code.of_group) {
        targets_.push_back({this, code.tensor ? 0 : side_address(warp, code.to, lane), 0, ptx::kNoBarrier});
        return true;
    }
    const uint64_t to = kept(side_address(warp, code.to, lane)),
                   barrier = kept(side_address(warp, code.barrier, lane));
    const auto add = [&](uint64_t address, uint64_t barrier_there) {
        const bool far = program_.clusters && is_of_other_block(address);
        Machine* const block = far ? reach(warp, op, l, "copies to", address, 1) : this;
        if (!block) return false;
        const uint64_t offset = far ? offset_of_address(address) : address;
        targets_.push_back({block, offset, address - offset, static_cast<uint32_t>(barrier_there)});
        return barrier_at(warp, op, l, barrier_there) != nullptr;
    };
    if (!code.multicast) {
        if (program_.clusters) {
            const Machine* const there =
                is_of_other_block(to) ? reach(warp, op, l, "copies to", to, 1) : this;
            const Machine* const told = is_of_other_block(barrier)
                                            ? reach(warp, op, l, "signals", barrier, ptx::kBarrierBytes)
                                            : this;
            if (!there || !told) return false;
            if (there != told)
                return raise(
                    Fault::Kind::BadAddress, warp, l, op,
                    fmt::format("{} copies in bulk to {} at {}, and signals an mbarrier of {}: both must lie "
                                "in one block",
                                thread_text(warp, l), there->block_text(), line_text(op),
                                told->block_text()));
        }
        return add(to, barrier);
    }
    const uint32_t blocks = reinterpret_cast<const uint32_t*>(at(warp, code.blocks))[lane] & 0xFFFF;
    words_of(lane)[code.tensor ? ptx::kTensorWords : ptx::kRowWords] = blocks;
    for (uint32_t left = blocks; left != 0; left &= left - 1) {
        const auto rank = static_cast<uint32_t>(std::countr_zero(left));
        const auto in_block = [&](uint64_t address) {
            return rank == rank_ ? offset_of_address(address)
                                 : address_in_block(rank, offset_of_address(address));
        };
        if (!add(in_block(to), in_block(barrier))) return false;
    }
    return true;
}

// Of a copy that updates what lies there: as soon as it is asked for, as it may be.
bool Machine::update_memory(const Warp& warp, const MicroOp& op, uint32_t lane, BulkCopy& copy) {
    const BulkCode& code = program_.bulks[op.target];
    const ptx::TensorType of_map = warp.bulk_reads[lane].map.type;
    const auto access = bulk_update(code.reduces, code.tensor ? ptx::element_of(of_map) : code.element);
    if (!access) {
        const auto l = static_cast<int>(lane);
        return raise(Fault::Kind::BadAddress, warp, l, op,
                     fmt::format("{} updates a tensor at {}, whose elements are {}, which this copy cannot",
                                 thread_text(warp, l), line_text(op), ptx::name_of(of_map)));
    }
    for (const BulkCopy::Piece& piece : copy.pieces)
        update_row(*access, piece.to, copy.bytes.data() + piece.from, piece.bytes);
    copy.pieces.clear();
    return true;
}

bool Machine::copy_to(Warp& warp, const MicroOp& op, uint32_t lane, const BulkTarget& target,
                      std::vector<std::byte> bytes, bool tells) {
    const BulkCode& code = program_.bulks[op.target];
    BulkCopy copy;
    copy.step = steps_, copy.warp = warp.number, copy.lane = lane;
    copy.asker = this, copy.tells = tells;
    copy.bytes = std::move(bytes);
    if (code.of_group)
        copy.group = warp.bulk_groups.open()[lane];
    else
        copy.barrier = target.barrier;
    if (tells) words_of(lane)[1] = target.barrier;
    if (!(code.tensor ? write_box(warp, op, lane, copy, target) : write_row(warp, op, lane, copy, target)))
        return false;
    if (code.reduces != ptx::Atomic::None && !update_memory(warp, op, lane, copy)) return false;
    Machine& block = *target.block;
    block.bulk_bytes_ += copy.bytes.size();
    ++block.changes_;
    block.bulk_.push_back(std::move(copy));
    if (tells)
        for (RequestPiece& piece : pieces_)
            if (piece.lane == lane) piece.data = block.bulk_.back().bytes.data() + piece.place;
    return true;
}

bool Machine::write_bulk(Warp& warp, const MicroOp& op, uint32_t mask) {
    const BulkCode& code = program_.bulks[op.target];
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(left));
        BulkRead& read = warp.bulk_reads[lane];
        if (code.tensor && !find_map(warp, op, lane, read)) return false;
        if (!find_targets(warp, op, lane)) return pieces_.clear(), false;
        // The block knows by its own part where the copy has landed, or else by the first one.
        const auto own = std::ranges::find(targets_, this, &BulkTarget::block);
        const auto told = own == targets_.end() ? targets_.begin() : own;
        for (auto target = targets_.begin(); target != targets_.end(); ++target)
            if (!copy_to(warp, op, lane, *target,
                         target + 1 == targets_.end() ? std::move(read.bytes) : read.bytes, target == told))
                return pieces_.clear(), false;
    }
    ++changes_;
    tell_words(warp, code.to.site, space_of(code.to.space), mask);
    while (bulk_bytes_ > kMostUnderWay && bulk_.size() > 1) {
        land(bulk_.front(), bulk_.front().barrier.has_value());
        bulk_.erase(bulk_.begin());
    }
    return true;
}

// told: the observer hears of it. A barrier that it signals counts its bytes, so that it has to; of a group only where its
// thread has waited.
void Machine::land(BulkCopy& copy, bool told) {
    for (const BulkCopy::Piece& piece : copy.pieces)
        std::memcpy(piece.to, copy.bytes.data() + piece.from, piece.bytes);
    bulk_bytes_ -= copy.bytes.size();
    copy.landed = true;
    ++changes_;
    const auto with_it = [&](const BulkCopy& other) {
        return other.step == copy.step && other.asker == copy.asker && other.tells && !other.landed;
    };
    BlockObserver* const observer = told && copy.tells ? copy.asker->observer_ : nullptr;
    if (observer && std::ranges::none_of(cluster_, [&](const Machine* block) {
            return std::ranges::any_of(block->bulk_, with_it);
        }))
        observer->on_arrival(copy.step);
    if (!copy.barrier) return;
    if (const auto found = barriers_.find(*copy.barrier); found != barriers_.end())
        found->second.complete(static_cast<uint32_t>(copy.bytes.size()));
}

void Machine::land_groups(Warp& warp, uint32_t mask, uint32_t left) {
    for (BulkCopy& copy : bulk_) {
        if (copy.barrier || copy.warp != warp.number || !(mask >> copy.lane & 1)) continue;
        CopyGroups::OfLanes group{};
        group[copy.lane] = copy.group;
        if (warp.bulk_groups.arrived(group, 1u << copy.lane, left) != 0) land(copy, true);
    }
    std::erase_if(bulk_, [](const BulkCopy& copy) { return copy.landed; });
}

void Machine::leave_bulk(Warp& warp, uint32_t mask) {
    if (bulk_.empty()) return;
    for (BulkCopy& copy : bulk_)
        if (!copy.barrier && copy.warp == warp.number && (mask >> copy.lane & 1)) land(copy, false);
    std::erase_if(bulk_, [](const BulkCopy& copy) { return copy.landed; });
}

}  // namespace tilescope::simt
