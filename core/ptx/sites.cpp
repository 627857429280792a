#include "core/ptx/sites.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "core/ptx/forms.h"
#include "core/ptx/matrix.h"
#include "core/ptx/ops.h"

namespace tilescope::ptx {

const Operand& address_of(const Instruction& instruction) {
    return instruction.operands[address_at(instruction)];
}

const Operand& address_of(const Instruction& instruction, const Site& site) {
    if (site.box == Box::Tile && site.operand < instruction.operands.size())
        return instruction.operands[site.operand];
    if (!site.past_registers() || site.kind != SiteKind::Load) return address_of(instruction);
    for (const char letter : {'A', 'H', 'm'})
        if (const Operand* const from = operand_of(instruction, letter)) return *from;
    return instruction.operands[1];
}

uint32_t groups_left(const Instruction& wait) {
    return wait.operands.empty() ? kAllGroups : static_cast<uint32_t>(wait.operands[0].bits);
}

namespace {

// "function_name $L__info_string0, inlined_at 1 15 5": where the call stands.
SourceLocation call_of(const std::string& inlined) {
    SourceLocation call;
    const size_t at = inlined.rfind("inlined_at");
    if (at == std::string::npos) return call;
    std::istringstream numbers(inlined.substr(at + 10));
    numbers >> call.file >> call.line >> call.column;
    return call;
}

// The space of a memory site; none for parameters. Generic addresses: global.
std::optional<Space> space_of(StateSpace space) {
    switch (space) {
        case StateSpace::Global:
        case StateSpace::Generic: return Space::Global;
        case StateSpace::Shared: return Space::Shared;
        case StateSpace::Local: return Space::Local;
        case StateSpace::Const: return Space::Const;
        default: return std::nullopt;
    }
}

std::optional<SiteKind> kind_of(const Instruction& instruction) {
    if (instruction.op == Op::Call && instruction.callee == kGridBarrier) return SiteKind::Barrier;
    return rule_of(instruction.op).site;
}

}  // namespace

Exchange exchange_of(const Operation& operation) {
    if (rule_of(operation.op).unit == SmUnit::Tensor) return Exchange::Multiply;
    if (operation.op == Op::Movmatrix) return Exchange::Transpose;
    switch (operation.mode) {
        case Mode::Up: return Exchange::ShuffleUp;
        case Mode::Down: return Exchange::ShuffleDown;
        case Mode::Bfly: return Exchange::ShuffleXor;
        case Mode::Idx: return Exchange::ShuffleIdx;
        case Mode::All: return operation.op == Op::Match ? Exchange::MatchAll : Exchange::VoteAll;
        case Mode::Any: return operation.op == Op::Match ? Exchange::MatchAny : Exchange::VoteAny;
        case Mode::Uni: return Exchange::VoteUni;
        case Mode::Ballot: return Exchange::VoteBallot;
        default: return Exchange::Reduce;
    }
}

uint32_t source_file_of(const Kernel& kernel) {
    uint32_t any = 0;
    for (const Instruction& instruction : kernel.instructions) {
        const SourceLocation& at = instruction.source;
        if (at.line != 0 && at.inlined == 0) return at.file;
        if (at.line != 0 && any == 0) any = at.file;
    }
    return any;
}

std::vector<Site> sites_of(const Kernel& kernel, bool exchanges) {
    std::vector<Site> sites;
    const uint32_t file = source_file_of(kernel);
    uint32_t line = 0, column = 0;
    for (size_t i = 0; i < kernel.instructions.size(); ++i) {
        const Instruction& instruction = kernel.instructions[i];
        SourceLocation at = instruction.source;
        // Code of another file, as of a function in a header, stands at the line that calls it.
        if (at.file != file && at.inlined != 0) at = call_of(kernel.inlined[at.inlined - 1]);
        if (at.line != 0 && at.file == file) line = at.line, column = at.column;
        const auto kind = kind_of(instruction);
        if (!kind || (*kind == SiteKind::Exchange && !exchanges && !is_wgmma(instruction.op))) continue;
        const auto space = asks_memory(*kind)          ? space_of(instruction.space)
                           : *kind == SiteKind::Signal ? std::optional(Space::Shared)
                                                       : std::optional(Space::Global);
        if (!space) continue;
        Site site;
        site.id = static_cast<uint32_t>(sites.size());
        site.instruction = static_cast<uint32_t>(i);
        site.kind = *kind;
        site.space = *space;
        if (asks_memory(*kind)) site.bytes = size_of(instruction.type) * instruction.vector;
        site.atomic = instruction.atomic;
        site.signal = signal_of(instruction.op);
        if (*kind == SiteKind::Signal) site.bytes = kBarrierBytes, site.words = words_of(site.signal);
        if (is_bulk_copy(instruction.op))
            site.bytes = kBulkBytes, site.box = Box::Row, site.words = kRowWords;
        if (is_tensor_copy(instruction.op))
            site.bytes = kBulkBytes, site.box = Box::Tensor, site.words = kTensorWords;
        if (site.box != Box::None && has_suffix(instruction, {"multicast::cluster"})) ++site.words;
        if (*kind == SiteKind::Exchange) site.exchange = exchange_of(instruction);
        site.line = line;
        site.column = column;
        site.ptx_line = instruction.text_line;
        if (is_wgmma(instruction.op)) {
            Site tile = site;
            tile.kind = SiteKind::Load, tile.exchange = Exchange::None;
            tile.space = Space::Shared, tile.bytes = kBulkBytes;
            tile.box = Box::Tile, tile.words = kTileWords;
            for (const Operand* const descriptor :
                 {descriptor_of_a(instruction), descriptor_of_b(instruction)}) {
                if (descriptor == nullptr) continue;
                tile.operand = static_cast<uint8_t>(descriptor - instruction.operands.data());
                tile.id = site.id++;
                sites.push_back(tile);
            }
            if (!exchanges) continue;
        }
        if (rule_of(instruction.op).unit == SmUnit::Copy) {
            site.copy = true;
            Site from = site;
            from.kind = SiteKind::Load;
            from.space =
                source_space_of(instruction.op) == StateSpace::Shared ? Space::Shared : Space::Global;
            from.atomic = Atomic::None;
            sites.push_back(from);
            ++site.id;
        }
        const std::vector<MatrixRequest> requests = requests_of(instruction);
        for (const MatrixRequest& request : requests) {
            site.space =
                instruction.space == StateSpace::Generic && request.matrices != 0 ? Space::Shared : *space;
            site.bytes = request.bytes;
            site.matrices = request.matrices;
            site.transposed = request.transposed;
            sites.push_back(site);
            ++site.id;
        }
        if (requests.empty()) sites.push_back(site);
    }
    return sites;
}

bool has_exchanges(const std::vector<Site>& sites) {
    return std::ranges::find(sites, SiteKind::Exchange, &Site::kind) != sites.end();
}

std::vector<Site> sites_like(const Kernel& kernel, const std::vector<Site>& recorded) {
    return sites_of(kernel, has_exchanges(recorded));
}

bool same_sites(const std::vector<Site>& a, const std::vector<Site>& b) {
    return std::ranges::equal(a, b, [](const Site& one, const Site& other) {
        return one.instruction == other.instruction && one.kind == other.kind && one.copy == other.copy &&
               one.exchange == other.exchange;
    });
}

}  // namespace tilescope::ptx
