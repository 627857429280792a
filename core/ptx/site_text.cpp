// Addresses and operands as PTX.
#include "core/ptx/site_text.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "core/ptx/forms.h"
#include "core/ptx/matrix.h"
#include "core/ptx/ops.h"
#include "core/ptx/parse.h"
#include "core/ptx/tensor_map.h"

namespace tilescope::ptx {
namespace {

std::string symbol_name(const Kernel& kernel, const Operand& operand) {
    return kernel.symbols[operand.symbol].name;
}

// Adds to the address in %ts_d0 what lies before the lane's element. Rows and columns are sums of what the bits of
// the lane's number are worth.
std::string wmma_text(const WmmaRequest& request) {
    if (request.known_stride)  // of the lowest lane
        return request.distance(0) == 0
                   ? ""
                   : fmt::format("\n    add.s64 %ts_d0, %ts_d0, {};", request.distance(0));
    std::string text =
        fmt::format("\n    mov.u32 %ts_t1, {};\n    mov.u32 %ts_t2, {};\n    mov.u32 %ts_lo, %laneid;",
                    request.along[0], request.beside[0]);
    for (uint32_t bit = 0; bit < 5; ++bit) {
        text += fmt::format("\n    bfe.u32 %ts_t0, %ts_lo, {}, 1;", bit);
        const auto add = [&](const char* to, const std::array<uint32_t, kWarpSize>& of) {
            if (of[size_t{1} << bit] != of[0])
                text +=
                    fmt::format("\n    mad.lo.u32 {0}, %ts_t0, {1}, {0};", to, of[size_t{1} << bit] - of[0]);
        };
        add("%ts_t1", request.along);
        add("%ts_t2", request.beside);
    }
    return text + fmt::format(R"(
    mul.wide.u32 %ts_d1, %ts_t1, {};
    cvt.u64.u32 %ts_d2, %ts_t2;
    add.s64 %ts_d1, %ts_d1, %ts_d2;
    {}.u64 %ts_d1, %ts_d1, {};
    add.s64 %ts_d0, %ts_d0, %ts_d1;)",
                              request.stride, request.bits >= 8 ? "mul.lo" : "div",
                              request.bits >= 8 ? request.bits / 8 : 8 / request.bits);
}

}  // namespace

ExchangeOperands operands_of(const Kernel& kernel, const Site& site) {
    ExchangeOperands made;
    if (site.kind != SiteKind::Exchange) return made;
    if (is_of_matrices(site.exchange)) return made.known = true, made;
    const std::vector<Operand>& operands = kernel.instructions[site.instruction].operands;
    const auto from_end = [&](size_t i) -> const Operand& { return operands[operands.size() - i]; };
    const auto is_known = [&](size_t i) { return from_end(i).kind == Operand::Kind::Immediate; };
    if (is_known(1)) made.members = static_cast<uint32_t>(from_end(1).bits);
    if (is_shuffle(site.exchange)) {
        made.known = is_known(2) && is_known(3);
        if (made.known)
            made.b = static_cast<uint32_t>(from_end(3).bits),
            made.c = static_cast<uint32_t>(from_end(2).bits);
    } else {
        made.known = is_known(1) && !is_match(site.exchange);
    }
    return made;
}

std::string exchange_text(const Kernel& kernel, const Site& site, bool known) {
    if (is_of_matrices(site.exchange)) return kNoAddress;
    const Instruction& instruction = kernel.instructions[site.instruction];
    const std::vector<Operand>& operands = instruction.operands;
    const std::string members = print(kernel, operands.back());
    const auto source = [&](size_t i) { return print(kernel, operands[instruction.destinations + i]); };
    constexpr const char* kNoHigh = "\n    mov.u32 %ts_hi, 0;";
    if (is_vote(site.exchange))
        return fmt::format("\n    vote.sync.ballot.b32 %ts_lo, {}, {};", source(0), members) + kNoHigh;
    if (is_match(site.exchange))
        return fmt::format("\n    match.any.sync.b{} %ts_lo, {}, {};", 8 * size_of(instruction.type),
                           source(0), members) +
               kNoHigh;
    // A vote and no bar.warp.sync, which would wait where a mask names lanes that do not come: machine code waits
    // before a vote only where it does so before the exchange.
    const std::string meet = fmt::format(
        "\n    setp.eq.u32 %ts_q, %ts_full, %ts_full;\n    vote.sync.ballot.b32 %ts_lo, %ts_q, {};", members);
    if (known) return meet + kNoAddress;
    if (is_shuffle(site.exchange))
        return meet + fmt::format("\n    mov.b32 %ts_lo, {};\n    mov.b32 %ts_hi, {};", source(1), source(2));
    return meet + kNoHigh;
}

Constants constants_of(const Kernel& kernel) {
    Constants constants(kernel.registers.size());
    std::vector<bool> written(kernel.registers.size(), false);
    const auto write = [&](const Operand& to, std::optional<uint64_t> value) {
        if (to.kind != Operand::Kind::Register) return;
        const auto reg = static_cast<size_t>(to.reg);
        constants[reg] = written[reg] ? std::nullopt : value;
        written[reg] = true;
    };
    for (const Instruction& one : kernel.instructions)
        for (size_t d = 0; d < one.destinations; ++d) {
            const bool moved =
                one.op == Op::Mov && one.guard < 0 && one.operands[1].kind == Operand::Kind::Immediate;
            write(one.operands[d], moved ? std::optional(one.operands[1].bits) : std::nullopt);
            for (const Operand& element : one.operands[d].elements) write(element, std::nullopt);
        }
    return constants;
}

std::optional<WmmaRequest> wmma_request(const Kernel& kernel, const Constants& constants,
                                        const std::vector<Site>& sites, const Site& site) {
    const Instruction& instruction = kernel.instructions[site.instruction];
    if (instruction.op != Op::WmmaLoad && instruction.op != Op::WmmaStore) return std::nullopt;
    const auto form = matrix_form(instruction);
    const MatrixRole role = matrix_role(instruction);
    const bool rows = by_rows(instruction);
    uint32_t first = site.id;
    while (first > 0 && sites[first - 1].instruction == site.instruction) --first;
    const MatrixRequest request = requests_of(instruction)[site.id - first];
    WmmaRequest made;
    made.bits = bits_of(form->type(role));
    for (size_t lane = 0; lane < kWarpSize; ++lane) {
        const MatrixPlace& at = request.place[lane];
        made.along[lane] = rows ? at.row : at.column;
        made.beside[lane] = rows ? at.column : at.row;
    }
    if (instruction.operands.size() < 3)
        made.known_stride = natural_stride(*form, role, rows);
    else if (instruction.operands[2].kind == Operand::Kind::Immediate)
        made.known_stride = static_cast<uint32_t>(instruction.operands[2].bits);
    else if (const auto& constant = constants[static_cast<size_t>(instruction.operands[2].reg)])
        made.known_stride = static_cast<uint32_t>(*constant);
    made.stride =
        made.known_stride ? std::to_string(*made.known_stride) : print(kernel, instruction.operands[2]);
    return made;
}

namespace {

// What an address may turn out to be. InCluster: any, and shared memory of other blocks.
enum class Generic : uint8_t { No, Shared, Any, InCluster };

std::string address_text(const Kernel& kernel, const Operand& operand, Generic generic,
                         const std::optional<WmmaRequest>& wmma) {
    const bool narrow = operand.reg >= 0 && size_of(kernel.registers[operand.reg].type) == 4;
    if (narrow && !wmma) {
        const std::string& name = kernel.registers[operand.reg].name;
        return (operand.offset != 0 ? fmt::format("\n    add.u32 %ts_lo, {}, {};", name, operand.offset)
                                    : fmt::format("\n    mov.b32 %ts_lo, {};", name)) +
               "\n    mov.u32 %ts_hi, 0;";
    }
    std::string text, from;
    if (narrow) {
        from = "%ts_d0";
        text = fmt::format("\n    cvt.u64.u32 %ts_d0, {};", kernel.registers[operand.reg].name);
    } else if (operand.reg >= 0) {
        from = kernel.registers[operand.reg].name;
    } else {
        from = "%ts_d0";
        text = operand.symbol >= 0
                   ? fmt::format("\n    mov.u64 %ts_d0, {};", symbol_name(kernel, operand))
                   : fmt::format("\n    mov.u64 %ts_d0, {};", static_cast<int64_t>(operand.bits));
    }
    if (operand.offset != 0) {
        text += fmt::format("\n    add.s64 %ts_d0, {}, {};", from, operand.offset);
        from = "%ts_d0";
    }
    if (wmma) {
        if (from != "%ts_d0") text += fmt::format("\n    mov.u64 %ts_d0, {};", from);
        from = "%ts_d0";
        text += wmma_text(*wmma);
    }
    if (generic == Generic::Shared) {
        text += fmt::format("\n    cvta.to.shared.u64 %ts_d0, {};", from);
        from = "%ts_d0";
    } else if (generic != Generic::No) {
        text += fmt::format("\n    mov.u64 %ts_d1, {};", from);
        const char* const shared = generic == Generic::InCluster ? "shared::cluster" : "shared";
        for (const auto& [space, mark] :
             {std::pair{shared, kGenericShared}, {"local", kGenericLocal}, {"const", kGenericConst}})
            text += fmt::format(R"(
    isspacep.{0} %ts_q, {1};
    cvta.to.{0}.u64 %ts_d2, {1};
    or.b64 %ts_d2, %ts_d2, {2};
    selp.b64 %ts_d1, %ts_d2, %ts_d1, %ts_q;)",
                                space, from, mark);
        from = "%ts_d1";
    }
    return text + fmt::format("\n    mov.b64 {{%ts_lo, %ts_hi}}, {};", from);
}

std::string parity_text(const Kernel& kernel, const Instruction& wait) {
    if (waits_for_parity(wait.op))
        return fmt::format("\n    mov.b32 %ts_lo, {};\n    and.b32 %ts_lo, %ts_lo, 1;",
                           print(kernel, *phase_of(wait)));
    // The phase that has just ended is the state's: the next one cannot end before this thread goes on, as a state may
    // not be older than the phase before the current one.
    return R"(
    mbarrier.test_wait.parity.shared.b64 %ts_p1, [%ts_lo], 1;
    selp.b32 %ts_lo, 1, 0, %ts_p1;)";
}

// A map's address in %ts_lo and %ts_hi becomes its place among the parameters where it lies in one. Each parameter is asked
// for its own address: how far they lie apart on a device is not what their sizes say.
std::string place_in_parameters(const Kernel& kernel) {
    const std::vector<uint64_t> offsets = parameter_offsets(kernel);
    std::string text;
    for (size_t i = 0; i < kernel.parameters.size(); ++i) {
        const Symbol& parameter = kernel.symbols[static_cast<size_t>(kernel.parameters[i])];
        if (parameter.bytes() < kTensorMapBytes) continue;
        text += fmt::format(R"(
    mov.u64 %ts_d1, {};
    cvta.param.u64 %ts_d1, %ts_d1;
    sub.s64 %ts_d1, %ts_d0, %ts_d1;
    setp.lt.u64 %ts_p1, %ts_d1, {};
    cvt.u32.u64 %ts_t0, %ts_d1;
    add.u32 %ts_t0, %ts_t0, {};
    selp.b32 %ts_lo, %ts_t0, %ts_lo, %ts_p1;
    selp.b32 %ts_hi, {}, %ts_hi, %ts_p1;)",
                            parameter.name, parameter.bytes(), offsets[i], kMapInParameters);
    }
    return text.empty() ? text : "\n    mov.b64 %ts_d0, {%ts_lo, %ts_hi};" + text;
}

// Of a tile of shared memory: the descriptor has the address by sixteen in its lowest bits.
// Source: PTX ISA, "Matrix-descriptor format".
std::string tile_text(const Kernel& kernel, const Operand& descriptor) {
    return fmt::format(R"(
    mov.b64 {{%ts_lo, %ts_hi}}, {};
    and.b32 %ts_lo, %ts_lo, 16383;
    shl.b32 %ts_lo, %ts_lo, 4;
    mov.u32 %ts_hi, 0;)",
                       print(kernel, descriptor));
}

// The words of a copy of a box behind its barrier: two of the map, which a parameter's place stands for where it is one,
// coordinates, offsets, and whether it gathers.
std::vector<std::string> tensor_words(const Kernel& kernel, const Instruction& copy) {
    std::string map = address_text(kernel, *map_of(copy), Generic::No, std::nullopt);
    map += place_in_parameters(kernel);
    std::vector<std::string> words = {map, "\n    mov.b32 %ts_lo, %ts_hi;"};
    const std::vector<Operand>& at = coordinates_of(copy)->elements;
    for (size_t i = 0; i < kMostDimensions; ++i)
        words.push_back("\n    mov.b32 %ts_lo, " + (i < at.size() ? print(kernel, at[i]) : "0") + ";");
    const Operand* const offsets = offsets_operand_of(copy);
    const auto offset = [&](size_t i, const char* to) {
        const bool given = offsets != nullptr && i < offsets->elements.size();
        return fmt::format("\n    mov.u16 %ts_found16, {};\n    cvt.u32.u16 {}, %ts_found16;",
                           given ? print(kernel, offsets->elements[i]) : "0", to);
    };
    words.push_back(offset(0, "%ts_lo") + offset(1, "%ts_t0") +
                    "\n    shl.b32 %ts_t0, %ts_t0, 16;\n    or.b32 %ts_lo, %ts_lo, %ts_t0;");
    const bool gathers = has_suffix(copy, {"tile::gather4", "tile::scatter4"});
    words.push_back(offset(2, "%ts_lo") + (gathers ? "\n    or.b32 %ts_lo, %ts_lo, 65536;" : ""));
    return words;
}

}  // namespace

std::vector<uint64_t> parameter_offsets(const Kernel& kernel) {
    std::vector<uint64_t> offsets;
    uint64_t bytes = 0;
    for (const int32_t parameter : kernel.parameters) {
        const Symbol& symbol = kernel.symbols[static_cast<size_t>(parameter)];
        const uint64_t alignment = std::max<uint64_t>(symbol.alignment, size_of(symbol.type));
        bytes = (bytes + alignment - 1) / alignment * alignment;
        offsets.push_back(bytes);
        bytes += symbol.bytes();
    }
    offsets.push_back(bytes);
    return offsets;
}

std::vector<std::string> words_text_of(const Kernel& kernel, const Site& site) {
    const Instruction& instruction = kernel.instructions[site.instruction];
    const auto word = [&](const Operand* operand, const std::string& otherwise) {
        return fmt::format("\n    mov.b32 %ts_lo, {};", operand ? print(kernel, *operand) : otherwise);
    };
    const std::string count = word(arrivals_of(instruction), "1"),
                      bytes = word(bytes_operand_of(instruction), "0");
    if (site.box == Box::Tile) {
        const std::string descriptor = print(kernel, address_of(instruction, site));
        return {fmt::format("\n    mov.b64 {{%ts_lo, %ts_hi}}, {};", descriptor),
                "\n    mov.b32 %ts_lo, %ts_hi;"};
    }
    if (site.box != Box::None) {
        const Operand* const barrier = barrier_of(instruction);
        std::vector<std::string> words = {bytes,
                                          barrier ? address_text(kernel, *barrier, Generic::No, std::nullopt)
                                                  : word(nullptr, std::to_string(kNoBarrier))};
        if (site.box == Box::Tensor)
            std::ranges::move(tensor_words(kernel, instruction), std::back_inserter(words));
        if (is_multicast(site.box, site.words))
            words.push_back(
                fmt::format("\n    mov.u16 %ts_found16, {};\n    cvt.u32.u16 %ts_lo, %ts_found16;",
                            print(kernel, *blocks_of(instruction))));
        return words;
    }
    switch (site.signal) {
        case Signal::Init: return {count};
        case Signal::Arrive:
        case Signal::Drop: return {count, bytes};
        case Signal::Expect:
        case Signal::Complete: return {bytes};
        case Signal::CopyArrive: return {word(nullptr, has_suffix(instruction, {"noinc"}) ? "1" : "0")};
        case Signal::Wait: return {parity_text(kernel, instruction)};
        default: return {};
    }
}

std::string address_text(const Kernel& kernel, const Site& site, const std::optional<WmmaRequest>& wmma,
                         bool clusters) {
    if (site.kind == SiteKind::Barrier) return kNoAddress;
    const Instruction& instruction = kernel.instructions[site.instruction];
    if (site.box == Box::Tile) return tile_text(kernel, address_of(instruction, site));
    const bool shared = site.matrices != 0 || site.signal != Signal::None;
    const bool known = instruction.space != StateSpace::Generic || site.box != Box::None;
    const Generic generic = known      ? Generic::No
                            : shared   ? Generic::Shared
                            : clusters ? Generic::InCluster
                                       : Generic::Any;
    return address_text(kernel, address_of(instruction, site), generic, wmma);
}

}  // namespace tilescope::ptx
