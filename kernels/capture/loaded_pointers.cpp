#include "kernels/capture/loaded_pointers.h"

#include <vector>

#include "core/ptx/sites.h"

namespace tilescope::capture {

namespace {

constexpr uint8_t kBased = 1, kLoaded = 2;  // on a parameter or variable; from memory

class ValueOrigins {
public:
    explicit ValueOrigins(const ptx::Kernel& kernel) : of_(kernel.registers.size()) {
        for (bool more = true; more;) {
            more = false;
            for (const ptx::Instruction& instruction : kernel.instructions) more |= pass(instruction);
        }
    }
    uint8_t of(const ptx::Operand& operand) const {
        uint8_t bits = operand.symbol >= 0 ? kBased : 0;
        if (operand.reg >= 0) bits |= of_[static_cast<size_t>(operand.reg)];
        for (const ptx::Operand& element : operand.elements) bits |= of(element);
        return bits;
    }

private:
    bool put(const ptx::Operand& to, uint8_t bits) {
        bool more = false;
        if (to.kind == ptx::Operand::Kind::Register && to.reg >= 0) {
            uint8_t& known = of_[static_cast<size_t>(to.reg)];
            more = (known | bits) != known;
            known |= bits;
        }
        for (const ptx::Operand& element : to.elements) more |= put(element, bits);
        return more;
    }

    bool pass(const ptx::Instruction& instruction) {
        using ptx::StateSpace;
        const bool own = instruction.space == StateSpace::Shared || instruction.space == StateSpace::Local;
        uint8_t from = 0;
        if (instruction.op == ptx::Op::Ld) {
            // What a thread or block has put aside comes back as it was.
            from = instruction.space == StateSpace::Param ? kBased : own ? aside_ : kLoaded;
        } else {
            for (size_t i = instruction.destinations; i < instruction.operands.size(); ++i)
                from |= of(instruction.operands[i]);
        }
        bool more = false;
        if (instruction.op == ptx::Op::St && own) {
            const uint8_t value = of(instruction.operands.back());
            more = (aside_ | value) != aside_;
            aside_ |= value;
        }
        for (size_t i = 0; i < instruction.destinations && i < instruction.operands.size(); ++i)
            more |= put(instruction.operands[i], from);
        return more;
    }

    std::vector<uint8_t> of_;  // by register
    uint8_t aside_ = 0;        // into shared and local memory
};

}  // namespace

bool stores_through_loaded_pointers(const ptx::Kernel& kernel) {
    const ValueOrigins origins(kernel);
    for (const ptx::Instruction& instruction : kernel.instructions) {
        using ptx::Op;
        if (instruction.op != Op::St && instruction.op != Op::Atom && instruction.op != Op::Red &&
            instruction.op != Op::WmmaStore)
            continue;
        if (instruction.space != ptx::StateSpace::Global && instruction.space != ptx::StateSpace::Generic)
            continue;
        if (origins.of(ptx::address_of(instruction)) == kLoaded) return true;
    }
    return false;
}

}  // namespace tilescope::capture
