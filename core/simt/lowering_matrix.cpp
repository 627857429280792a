// Instructions on matrices as micro-operations: requests of memory, and what the warp does with what they bring.
//
//   ldmatrix     Load of a row by each lane that gives an address, Receive
//   stmatrix     Give, Store
//   wmma.load    Addresses for each request, then their Loads; where these are ldmatrix's, Receive
//   wmma.store   the same with Give and Stores
//
// Elements of 8 bits that do not lie side by side in memory come one by one, and are put together by shifts; of 16
// bits as words of the transposed matrix, which Transpose puts right.
#include <fmt/format.h>

#include "core/simt/lowering.h"

namespace tilescope::simt {

using ptx::MatrixForm;
using ptx::MatrixRequest;
using ptx::MatrixRole;
using ptx::Op;
using ptx::Operand;
using ptx::StateSpace;
using ptx::Type;

namespace {

// The registers of a fragment: one, or a vector.
std::vector<const Operand*> registers_of(const Operand& fragment) {
    if (fragment.kind != Operand::Kind::Vector) return {&fragment};
    std::vector<const Operand*> all;
    for (const Operand& element : fragment.elements) all.push_back(&element);
    return all;
}

std::vector<Ref> new_columns(Lowering& lowering, size_t count, uint32_t bytes = 4) {
    std::vector<Ref> columns(count);
    for (Ref& column : columns) column = lowering.column(bytes);
    return columns;
}

std::vector<Ref> written(Lowering& lowering, const Operand& fragment, uint32_t bytes) {
    std::vector<Ref> columns;
    for (const Operand* one : registers_of(fragment))
        columns.push_back(one->kind == Operand::Kind::Register ? lowering.column_of(*one)
                                                               : lowering.column(bytes));
    return columns;
}

std::vector<Ref> read(Lowering& lowering, const Operand& fragment, uint32_t bytes) {
    std::vector<Ref> columns;
    for (const Operand* one : registers_of(fragment))
        columns.push_back(lowering.source(*one, bytes == 8 ? Type::B64 : Type::B32));
    return columns;
}

// Where in its tile each element lies that a fragment holds, [register][element][lane]. Of 32 elements of a bit in one
// register it is the first one's.
std::vector<uint16_t> places_of(const MatrixForm& form, MatrixRole role) {
    const bool bits = form.type(role) == ptx::MatrixType::B1;
    const uint32_t elements = bits ? 1 : form.elements(role), packed = bits ? 32 : 1;
    const uint32_t rows = form.rows(role), columns = form.columns(role);
    std::vector<uint16_t> places;
    for (uint8_t index = 0; index < form.registers(role); ++index)
        for (uint8_t element = 0; element < elements; ++element)
            for (uint8_t lane = 0; lane < kWarpSize; ++lane) {
                const ptx::MatrixPlace at = ptx::place_of(form, role, {lane, index, element});
                // Bits of B lie side by side in columns.
                const uint32_t linear = !bits ? at.row * columns + at.column
                                        : role == MatrixRole::A
                                            ? at.row * (columns / packed) + at.column / packed
                                            : at.row / packed * columns + at.column;
                places.push_back(static_cast<uint16_t>(at.product * rows * columns + linear));
            }
    return places;
}

}  // namespace

MicroOp& Lowering::emit_matrix(MatrixCode code) {
    MicroOp& op = emit(MicroOp::Kind::Matrix);
    op.target = static_cast<uint32_t>(program.matrices.size());
    program.matrices.push_back(std::move(code));
    return op;
}

void Lowering::emit_request(MicroOp::Kind kind, const MemoryAccess& access, Ref address) {
    MicroOp& op = emit(kind);
    op.a = address;
    op.target = static_cast<uint32_t>(program.accesses.size());
    program.accesses.push_back(access);
}

// The column of an address that leads to shared memory, generic or not.
Ref Lowering::shared_column(const Operand& address, MemoryAccess& access) {
    access.space = StateSpace::Shared;
    const Ref at = address_column(address, access);
    if (current->space != StateSpace::Generic) return at;
    if (!access.wide_address) fail("generic addresses have 64 bits");
    const Ref inside = column(8);
    lane(Op::Sub, Type::U64, inside, at, immediate(kSharedWindow, 8));
    return inside;
}

// ldmatrix, stmatrix
bool Lowering::move_matrices() {
    const bool load = current->op == Op::Ldmatrix;
    const MatrixRequest request = ptx::requests_of(*current)[0];
    MemoryAccess access;
    access.site = site_of[current_index];
    access.elements = 4;
    access.data_bytes.fill(4);
    access.lanes = request.lanes;
    const Ref at = shared_column(ptx::address_of(*current), access);
    MatrixCode code;
    code.kind = load ? MatrixCode::Kind::Receive : MatrixCode::Kind::Give;
    code.transposed = request.transposed;
    (load ? code.a : code.d) = new_columns(*this, 4);
    std::ranges::copy(load ? code.a : code.d, access.data.begin());
    if (load)
        code.d = written(*this, current->operands[0], 4);
    else
        code.a = read(*this, current->operands[1], 4);
    if (!problem.empty()) return false;
    if (load) {
        emit_request(MicroOp::Kind::Load, access, at);
        program.code.back().aligned = true;
        emit_matrix(std::move(code));
    } else {
        emit_matrix(std::move(code)).aligned = true;
        emit_request(MicroOp::Kind::Store, access, at);
    }
    return true;
}

bool Lowering::transpose_matrix() {
    MatrixCode code;
    code.kind = MatrixCode::Kind::Transpose;
    code.site = static_cast<uint32_t>(site_of[current_index]);
    code.d = written(*this, current->operands[0], 4);
    code.a = read(*this, current->operands[1], 4);
    if (!problem.empty()) return false;
    emit_matrix(std::move(code)).aligned = true;
    return true;
}

bool Lowering::multiply_matrices() {
    const MatrixForm form = *ptx::matrix_form(*current);
    const auto& o = current->operands;
    MatrixCode code;
    code.kind = MatrixCode::Kind::Multiply;
    code.site = static_cast<uint32_t>(site_of[current_index]);
    code.form = form;
    code.d = written(*this, o[0], form.register_bytes(MatrixRole::D));
    code.a = read(*this, o[1], form.register_bytes(MatrixRole::A));
    code.b = read(*this, o[2], form.register_bytes(MatrixRole::B));
    code.c = read(*this, o[3], form.register_bytes(MatrixRole::C));
    if (form.sparse) {
        const uint32_t selectors = ptx::selectors_of(form);
        code.metadata = source(o[4], Type::B32);
        code.selector = static_cast<uint8_t>(o[5].bits);
        if (code.selector >= selectors)
            return fail(selectors == 1
                            ? "its sparsity selector must be 0"
                            : fmt::format("its sparsity selector must be less than {}", selectors));
    }
    for (const MatrixRole role : {MatrixRole::A, MatrixRole::B, MatrixRole::C, MatrixRole::D})
        code.places[static_cast<size_t>(role)] = places_of(form, role);
    if (!problem.empty()) return false;
    emit_matrix(std::move(code)).aligned = true;
    return true;
}

// The addresses of a wmma's requests, and its accesses, without their data.
std::vector<Ref> Lowering::addresses_of(const std::vector<MatrixRequest>& requests, const MatrixForm& form,
                                        std::vector<MemoryAccess>& accesses) {
    const auto& o = current->operands;
    const MatrixRole role = ptx::matrix_role(*current);
    const bool by_rows = ptx::by_rows(*current);
    const bool shared = requests[0].matrices != 0;
    MemoryAccess base;
    base.space = current->space;
    const Operand& address = ptx::address_of(*current);
    const Ref at = shared ? shared_column(address, base) : address_column(address, base);
    const Ref stride =
        o.size() > 2 ? source(o[2], Type::U32) : immediate(ptx::natural_stride(form, role, by_rows), 4);
    std::vector<Ref> made;
    for (size_t r = 0; r < requests.size(); ++r) {
        const MatrixRequest& request = requests[r];
        MatrixCode code;
        code.kind = MatrixCode::Kind::Addresses;
        code.wide = base.wide_address;
        code.bits = static_cast<uint8_t>(ptx::bits_of(form.type(role)));
        code.a = {at}, code.b = {stride}, code.d = {column(code.wide ? 8 : 4)};
        for (size_t lane = 0; lane < kWarpSize; ++lane) {
            const ptx::MatrixPlace& place = request.place[lane];
            code.along[lane] = by_rows ? place.row : place.column;
            code.beside[lane] = by_rows ? place.column : place.row;
        }
        made.push_back(code.d[0]);
        if (!problem.empty()) return made;
        emit_matrix(std::move(code)).aligned = r == 0;
        MemoryAccess access = base;
        const auto site = static_cast<int32_t>(site_of[current_index]);
        access.site = site < 0 ? -1 : site - static_cast<int32_t>(requests.size() - 1 - r);
        access.lanes = request.lanes;
        access.element_bytes = static_cast<uint8_t>(form.register_bytes(role));
        if (request.bytes < access.element_bytes) access.element_bytes = static_cast<uint8_t>(request.bytes);
        access.elements = static_cast<uint8_t>(request.bytes / access.element_bytes);
        access.data_bytes.fill(access.element_bytes == 8 ? 8 : 4);
        accesses.push_back(access);
    }
    return made;
}

// wmma.load
bool Lowering::load_fragment() {
    const MatrixForm form = *ptx::matrix_form(*current);
    const MatrixRole role = ptx::matrix_role(*current);
    const std::vector<MatrixRequest> requests = ptx::requests_of(*current);
    std::vector<MemoryAccess> accesses;
    const std::vector<Ref> at = addresses_of(requests, form, accesses);
    const std::vector<Ref> d = written(*this, current->operands[0], form.register_bytes(role));
    if (!problem.empty()) return false;
    size_t filled = 0;  // registers, so far
    for (size_t r = 0; r < requests.size(); ++r) {
        const MatrixRequest& request = requests[r];
        MemoryAccess& access = accesses[r];
        if (request.matrices != 0) {
            MatrixCode code;
            code.kind = MatrixCode::Kind::Receive;
            code.transposed = request.transposed;
            code.a = new_columns(*this, 4);
            std::ranges::copy(code.a, access.data.begin());
            code.d.assign(d.begin() + request.first, d.begin() + request.first + request.matrices);
            emit_request(MicroOp::Kind::Load, access, at[r]);
            emit_matrix(std::move(code));
            filled = request.first + size_t{request.matrices};
            continue;
        }
        if (request.transposed) {
            access.data[0] = column(4);
            emit_request(MicroOp::Kind::Load, access, at[r]);
            MatrixCode code;
            code.kind = MatrixCode::Kind::Transpose;
            code.a = {access.data[0]}, code.d = {d[request.first]};
            emit_matrix(std::move(code));
            filled = request.first + size_t{1};
            continue;
        }
        const bool part = request.bytes < form.register_bytes(role), first = request.element == 0;
        const Ref own = part && !first ? column(4) : d[request.first];
        for (size_t i = 0; i < access.elements; ++i) access.data[i] = i == 0 ? own : d[request.first + i];
        emit_request(MicroOp::Kind::Load, access, at[r]);
        filled = request.first + size_t{access.elements};
        if (!part || first) continue;
        const uint32_t shift = request.element * ptx::bits_of(form.type(role));
        const Ref shifted = column(4);
        lane(Op::Shl, Type::B32, shifted, own, immediate(shift, 4));
        lane(Op::Or, Type::B32, d[request.first], d[request.first], shifted);
    }
    for (size_t i = filled; i < d.size(); ++i) lane(Op::Mov, Type::B32, d[i], d[i - filled]);
    return problem.empty();
}

// wmma.store
bool Lowering::store_fragment() {
    const MatrixForm form = *ptx::matrix_form(*current);
    const MatrixRole role = ptx::matrix_role(*current);
    const std::vector<MatrixRequest> requests = ptx::requests_of(*current);
    std::vector<MemoryAccess> accesses;
    const std::vector<Ref> at = addresses_of(requests, form, accesses);
    const std::vector<Ref> data = read(*this, current->operands[1], form.register_bytes(role));
    if (!problem.empty()) return false;
    for (size_t r = 0; r < requests.size(); ++r) {
        const MatrixRequest& request = requests[r];
        MemoryAccess& access = accesses[r];
        for (size_t i = 0; i < access.elements; ++i) access.data[i] = data[request.first + i];
        if (request.transposed) {
            MatrixCode code;
            code.kind = MatrixCode::Kind::Transpose;
            code.a = {access.data[0]}, code.d = {access.data[0] = column(4)};
            emit_matrix(std::move(code));
        } else if (request.element != 0) {
            access.data[0] = column(4);
            lane(Op::Shr, Type::U32, access.data[0], data[request.first],
                 immediate(request.element * ptx::bits_of(form.type(role)), 4));
        }
        emit_request(MicroOp::Kind::Store, access, at[r]);
    }
    return problem.empty();
}

}  // namespace tilescope::simt
