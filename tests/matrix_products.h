// Products of matrices for tests: all forms of mma, mma.sp and wmma.mma that sm_90 has, and a kernel for each that
// multiplies tiles.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/ptx/matrix.h"

namespace tilescope::test {

struct MatrixInstruction {
    std::string text;  // without operands
    ptx::MatrixForm form;
    uint32_t selector = 0;  // of a sparse A's metadata
};

inline MatrixInstruction matrix_instruction(const std::string& text) {
    ptx::Instruction made;
    made.op = text.starts_with("wmma")     ? ptx::Op::WmmaMma
              : text.starts_with("mma.sp") ? ptx::Op::MmaSp
                                           : ptx::Op::Mma;
    std::istringstream words(text.substr(text.find('.') + 1));
    for (std::string word; std::getline(words, word, '.');) made.suffixes.push_back(word);
    const auto form = ptx::matrix_form(made);
    if (!form) throw std::runtime_error(text);
    return {text, *form, 0};
}

// Of each shape all types that go together; of sparse ones with every selector.
inline std::vector<MatrixInstruction> all_products() {
    std::vector<MatrixInstruction> all;
    const auto add = [&](const std::string& text) {
        MatrixInstruction made = matrix_instruction(text);
        const uint32_t selectors = made.form.sparse ? ptx::selectors_of(made.form) : 1;
        for (; made.selector < selectors; ++made.selector) all.push_back(made);
    };
    const std::string dense = "mma.sync.aligned.", sparse = "mma.sp::ordered_metadata.sync.aligned.";
    for (const char* layouts : {"row.row", "row.col", "col.row", "col.col"})
        for (const char* types : {"f16.f16.f16.f16", "f32.f16.f16.f16", "f32.f16.f16.f32"})
            add(dense + "m8n8k4." + layouts + "." + types);
    const auto floats = [&](const std::string& name, const char* type,
                            std::initializer_list<const char*> shapes,
                            std::initializer_list<const char*> sums) {
        for (const std::string shape : shapes)
            for (const std::string sum : sums)
                add(name + shape + ".row.col." + sum + "." + type + "." + type + "." + sum);
    };
    floats(dense, "f16", {"m16n8k8", "m16n8k16"}, {"f16", "f32"});
    floats(dense, "bf16", {"m16n8k8", "m16n8k16"}, {"f32"});
    floats(dense, "tf32", {"m16n8k4", "m16n8k8"}, {"f32"});
    floats(dense, "f64", {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"}, {"f64"});
    floats(sparse, "f16", {"m16n8k16", "m16n8k32"}, {"f16", "f32"});
    floats(sparse, "bf16", {"m16n8k16", "m16n8k32"}, {"f32"});
    floats(sparse, "tf32", {"m16n8k8", "m16n8k16"}, {"f32"});
    const auto pairs = [&](const std::string& name, std::initializer_list<const char*> types,
                           std::initializer_list<const char*> shapes,
                           std::initializer_list<const char*> sums) {
        for (const std::string shape : shapes)
            for (const std::string a : types)
                for (const std::string b : types)
                    for (const std::string sum : sums)
                        add(name + shape + ".row.col." + sum + "." + a + "." + b + "." +
                            sum.substr(sum.find_last_of('.') + 1));
    };
    const auto ints = {"s32", "satfinite.s32"};
    pairs(dense, {"s8", "u8"}, {"m8n8k16", "m16n8k16", "m16n8k32"}, ints);
    pairs(dense, {"s4", "u4"}, {"m8n8k32", "m16n8k32", "m16n8k64"}, ints);
    pairs(dense, {"e4m3", "e5m2"}, {"m16n8k16", "m16n8k32"}, {"f16", "f32"});
    pairs(sparse, {"s8", "u8"}, {"m16n8k32", "m16n8k64"}, ints);
    pairs(sparse, {"s4", "u4"}, {"m16n8k64", "m16n8k128"}, ints);
    pairs(sparse, {"e4m3", "e5m2"}, {"m16n8k64"}, {"f32"});
    for (const char* shape : {"m8n8k128", "m16n8k128", "m16n8k256"})
        for (const char* how : {"xor", "and"}) add(dense + shape + ".row.col.s32.b1.b1.s32." + how + ".popc");

    const std::string wmma = "wmma.mma.sync.aligned.";
    for (const char* layouts : {"row.row.", "row.col.", "col.row.", "col.col."}) {
        for (const std::string shape : {"m16n16k16", "m32n8k16", "m8n32k16"})
            for (const char* types : {"f16.f16", "f16.f32", "f32.f16", "f32.f32", "f32.bf16.bf16.f32",
                                      "s32.s8.s8.s32", "s32.u8.u8.s32", "s32.u8.u8.s32.satfinite"})
                add(wmma + layouts + shape + "." + types);
        add(wmma + layouts + "m16n16k8.f32.tf32.tf32.f32");
        add(wmma + layouts + "m8n8k4.f64.f64.f64.f64.rn");
    }
    for (const char* types : {"s32.s4.s4.s32", "s32.u4.u4.s32", "s32.s4.s4.s32.satfinite"})
        add(wmma + "row.col.m8n8k32." + types);
    for (const char* how : {"xor", "and"})
        add("wmma.mma." + std::string(how) + ".popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32");
    return all;
}

// Registers of A, B and C, and of the metadata.
inline uint32_t factor_registers(const ptx::MatrixForm& form) {
    return form.registers(ptx::MatrixRole::A) + form.registers(ptx::MatrixRole::B) +
           form.registers(ptx::MatrixRole::C) + (form.sparse ? 1 : 0);
}

// k(in, out), each block one warp, which multiplies one tile. Its fragments A, B, C and the metadata lie behind each
// other in `in`, [register][lane], 8 bytes each; so does D in `out`.
inline std::string product_kernel(const MatrixInstruction& instruction) {
    using ptx::MatrixRole;
    const ptx::MatrixForm& form = instruction.form;
    std::string loads, stores, operands[4];
    uint32_t next = 0;
    const auto load = [&](bool wide, const std::string& reg) {
        loads += std::string("ld.global.b") + (wide ? "64 " : "32 ") + reg + ", [%i+" +
                 std::to_string(256 * next++) + "];\n";
    };
    for (const MatrixRole role : {MatrixRole::A, MatrixRole::B, MatrixRole::C, MatrixRole::D}) {
        const bool wide = form.register_bytes(role) == 8;
        std::string& text = operands[static_cast<size_t>(role)];
        for (uint32_t i = 0; i < form.registers(role); ++i) {
            const std::string reg =
                (wide ? "%d" : "%r") + std::to_string(16 * static_cast<uint32_t>(role) + i);
            text += (i == 0 ? "{" : ", ") + reg;
            if (role != MatrixRole::D)
                load(wide, reg);
            else
                stores += std::string("st.global.b") + (wide ? "64" : "32") + " [%o+" +
                          std::to_string(256 * i) + "], " + reg + ";\n";
        }
        text += "}";
    }
    std::string product =
        instruction.text + " " + operands[3] + ", " + operands[0] + ", " + operands[1] + ", " + operands[2];
    if (form.sparse) {
        load(false, "%r64");
        product += ", %r64, " + std::to_string(instruction.selector);
    }
    return R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
    .reg .b32 %t; .reg .b32 %b; .reg .b32 %r<65>; .reg .b64 %i; .reg .b64 %o; .reg .b64 %x; .reg .b64 %d<64>;
    ld.param.u64 %i, [k_0];
    ld.param.u64 %o, [k_1];
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mul.wide.u32 %x, %t, 8;
    add.s64 %i, %i, %x;
    add.s64 %o, %o, %x;
    mul.wide.u32 %x, %b, )" +
           std::to_string(256 * next) + ";\nadd.s64 %i, %i, %x;\nmul.wide.u32 %x, %b, " +
           std::to_string(256 * form.registers(MatrixRole::D)) + ";\nadd.s64 %o, %o, %x;\n" + loads +
           product + ";\n" + stores + "ret;\n}\n";
}

}  // namespace tilescope::test
