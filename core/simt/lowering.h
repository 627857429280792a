// What lowering an instruction needs: where registers, constants, temporaries and variables lie.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/simt/program.h"

namespace tilescope::simt {

// One column of a warp's registers, or several of predicates.
struct RegisterColumn {
    uint32_t offset = 0, bytes = 0;
    bool predicates = false;
};

struct Lowering {
    const ptx::Module& module;
    const ptx::Kernel& kernel;
    LaneVersion version;
    Program& program;
    const std::vector<Array>& arrays;  // of the launch; those with a symbol are variables of the module
    const ptx::Instruction* current = nullptr;
    uint32_t current_index = 0;
    std::string problem{};                         // set once something cannot be run
    std::vector<uint32_t> register_offset{};       // by register
    std::vector<uint64_t> symbol_address{};        // by symbol: in its own space; module globals: virtual
    std::vector<int32_t> parameter_of{};           // by symbol: parameter index or -1
    std::vector<int32_t> site_of{};                // by instruction
    uint32_t carry = UINT32_MAX;                   // the predicate that is the carry flag, once needed
    uint32_t next_predicate = 0, next_column = 0;  // offsets
    std::vector<RegisterColumn> columns{};         // all of them, by their offsets
    // Kind, bytes, index, type, bits of a pool column -> what refers to it.
    std::map<std::tuple<PoolColumn::Kind, uint8_t, uint16_t, ptx::Type, uint64_t>, Ref> pooled{};
    std::map<std::pair<int32_t, int64_t>, Ref> call_values{};  // symbol and offset -> its column

    Result<void> lay_out();             // registers and variables
    bool fail(const std::string& why);  // false, for `return fail(...)`

    uint32_t column(uint32_t bytes);  // a new column of a warp's registers
    uint32_t predicate();             // a new predicate word
    Ref pool(PoolColumn wanted);
    Ref immediate(uint64_t bits, int bytes);  // bytes 0: a predicate
    Ref special(ptx::SpecialRegister which, int bytes);

    // The column that holds an operand as `type` (made by extra micro-operations where the register
    // is wider or the predicate negated).
    Ref source(const ptx::Operand& operand, ptx::Type type);
    uint32_t register_bytes(const ptx::Operand& operand) const;
    Ref column_of(const ptx::Operand& r) const { return register_offset[static_cast<size_t>(r.reg)]; }

    MicroOp& emit(MicroOp::Kind kind);
    // One lane operation. True where nothing has gone wrong so far.
    bool lane(const ptx::Operation& does, Ref d, Ref a, Ref b = 0, Ref c = 0, Ref e = 0);
    // `op.type` or, for cvt, `op.type.from`.
    bool lane(ptx::Op op, ptx::Type type, Ref d, Ref a, Ref b = 0, ptx::Type from = ptx::Type::None);
    // Writes a computed column of `type` to a register that may be wider.
    bool widen(const ptx::Operand& destination, ptx::Type type, Ref value);
    // Chooses the functions of every lane operation of the finished list, and how values flow through it.
    bool choose_lanes();

    bool instruction();  // lowers *current, by the one of these that knows it (prepare.cpp)
    template <MicroOp::Kind kind>
    bool alone();
    bool branch();
    bool barrier();
    bool reduction();
    bool cluster_barrier();
    bool map_address();  // mapa
    bool rank_of_address();
    bool wait();
    bool converge();
    bool policy();
    bool opaque();
    bool not_run(const std::string& why);
    // lowering_signals.cpp
    bool signal();
    bool pending_count();
    bool bulk_copy();
    bool tensor_copy();
    bool emit_bulk(BulkCode code);
    bool completes_bytes(uint64_t bytes);
    bool store_async();
    bool bulk_wait();
    bool multiply_warpgroup();  // lowering_wgmma.cpp
    BulkCode::Side bulk_side(const ptx::Operand& address, ptx::StateSpace space, uint32_t site);
    bool elect();
    bool move();
    bool convert();
    bool compare();
    void take_half(Ref d, Ref pair, uint32_t i);
    Ref address_column(const ptx::Operand& address, MemoryAccess& access);
    bool memory();
    Ref half_of(const ptx::Operand& wide,
                uint32_t half) const;  // of a register of 128 bits: 0 is the lower one
    bool move_wide();                  // mov.b128
    bool atomic();
    bool copy();
    // lowering_matrix.cpp
    bool move_matrices();
    bool transpose_matrix();
    bool multiply_matrices();
    bool load_fragment();
    bool store_fragment();
    MicroOp& emit_matrix(MatrixCode code);
    void emit_request(MicroOp::Kind kind, const MemoryAccess& access, Ref address);
    Ref shared_column(const ptx::Operand& address, MemoryAccess& access);
    std::vector<Ref> addresses_of(const std::vector<ptx::MatrixRequest>& requests,
                                  const ptx::MatrixForm& form, std::vector<MemoryAccess>& accesses);
    bool parameter_load();
    void relocate();
    bool call();  // calls.cpp
    bool move_call_value();
    Ref call_value(const ptx::Operand& variable);
    bool address_conversion();
    bool space_test();
    bool arithmetic();
};

// What a program's code says before it runs (lookahead.cpp).
void find_runs(std::vector<MicroOp>& code);  // which Lanes run in one go (MicroOp::run)
// From where a warp comes to its next step calmly (MicroOp::calm). Paths that part must not both come to a barrier,
// as one part of a warp would wait there for the other.
void find_calm(Program& program);
void find_cleared(Program& program, const std::vector<RegisterColumn>& columns);  // Program::cleared

// Bytes of the constants that the arrays name.
void set_constants(Program& program, const std::vector<Array>& arrays);

uint32_t slot_bytes(ptx::Type type);  // 4 or 8; 0 for a predicate

}  // namespace tilescope::simt
