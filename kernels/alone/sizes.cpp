#include "kernels/alone/sizes.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/words.h"
#include "kernels/run/source_text.h"

namespace tilescope::kernels {

namespace {

constexpr uint64_t kMostThreads = 1024;

std::string lower(std::string_view text) {
    std::string made(text);
    for (char& c : made) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return made;
}

// T of an array of T x T elements, or of T x (T + 1), whose rows are padded; 0 for others.
uint64_t tile_of(uint64_t elements) {
    for (const uint64_t t : {32u, 16u, 8u, 4u})
        if (elements == t * t || elements == t * (t + 1)) return t;
    return 0;
}

// What the shared arrays tell of the block: the tile of a two-dimensional one, the length of a row.
void from_shared(const ptx::Module& module, const ptx::Kernel& kernel, std::string_view source, bool two,
                 std::vector<uint64_t>& widths) {
    for (const auto* symbols : {&kernel.symbols, &module.variables}) {
        for (const ptx::Symbol& symbol : *symbols) {
            if (symbol.space != ptx::StateSpace::Shared || symbol.count == 0) continue;
            if (symbols == &module.variables &&
                symbol.name.find(plain_name(kernel.name)) == std::string::npos)
                continue;
            const auto declared = declaration(source, "__shared__", name_in_symbol(symbol.name));
            const uint64_t elements = symbol.bytes() / (declared ? size_of(declared->type) : 4);
            if (declared && two && declared->extents.size() == 2 && declared->extents[0] <= 32 &&
                declared->extents[0] >= 4)
                widths.push_back(declared->extents[0]);
            else if (two && tile_of(elements) != 0)
                widths.push_back(tile_of(elements));
            else if (!two && declared && declared->extents.size() == 2 && declared->extents[1] % 32 == 0)
                widths.push_back(declared->extents[1]);
            else if (!two && elements >= 32 && elements <= kMostThreads && elements % 32 == 0)
                widths.push_back(elements);
        }
    }
}

// What sources call the threads of a block, or its side.
constexpr const char* kBlockNames[] = {
    "BLOCK_SIZE", "BLOCKSIZE",         "BLOCK_DIM", "BLOCK_WIDTH", "TILE_WIDTH", "TILE_SIZE", "TILE_DIM",
    "TILE",       "THREADS",           "BLOCK",     "NUM_THREADS", "nThreads",   "blockSize", "TPB",
    "SHMEM_SIZE", "THREADS_PER_BLOCK",
};

}  // namespace

Reads reads_of(const ptx::Kernel& kernel) {
    using ptx::SpecialRegister;
    Reads reads;
    for (const ptx::Instruction& instruction : kernel.instructions)
        for (const ptx::Operand& operand : instruction.operands) {
            if (operand.kind != ptx::Operand::Kind::Special) continue;
            reads.thread_y |= operand.special == SpecialRegister::TidY;
            reads.thread_z |= operand.special == SpecialRegister::TidZ;
            reads.block_y |= operand.special == SpecialRegister::CtaidY;
            reads.block_z |= operand.special == SpecialRegister::CtaidZ;
        }
    return reads;
}

std::vector<Dim3> blocks_for(const ptx::Module& module, const ptx::Kernel& kernel, std::string_view source) {
    if (const auto required = ptx::size_directive(kernel, ".reqntid")) return {*required};
    const Reads reads = reads_of(kernel);
    const bool two = reads.thread_y, three = reads.thread_z;
    const auto most = ptx::size_directive(kernel, ".maxntid");
    const uint64_t limit = most ? std::min(most->count(), kMostThreads) : kMostThreads;
    std::vector<Dim3> blocks;
    const auto add = [&](const Dim3& block) {
        if (block.count() == 0 || block.count() > limit) return;
        if (std::find(blocks.begin(), blocks.end(), block) == blocks.end()) blocks.push_back(block);
    };
    if (most && (most->y > 1 || most->z > 1)) add(*most);
    // The launch bounds of a row of threads are its length, mostly.
    if (most && !two && most->count() % 32 == 0) add({static_cast<uint32_t>(most->count()), 1, 1});
    std::vector<uint64_t> widths;
    for (const char* name : kBlockNames)
        if (const auto value = constant_in(source, name)) widths.push_back(*value);
    from_shared(module, kernel, source, two, widths);
    for (const uint64_t width : widths) {
        const auto side = static_cast<uint32_t>(std::min<uint64_t>(width, kMostThreads));
        if (two && !three) add({side, side, 1});
        if (!two && !three && side >= 32) add({side, 1, 1});
        if (!two && !three && side < 32 && reads.block_y) add({side * side, 1, 1});
    }
    if (three)
        for (const Dim3& block : {Dim3{8, 8, 8}, Dim3{8, 8, 4}, Dim3{4, 4, 4}, Dim3{16, 4, 4}}) add(block);
    else if (two)
        for (const Dim3& block :
             {Dim3{16, 16, 1}, Dim3{32, 32, 1}, Dim3{8, 8, 1}, Dim3{32, 8, 1}, Dim3{32, 4, 1}, Dim3{4, 4, 1}})
            add(block);
    else
        for (const uint32_t threads : {256u, 128u, 64u, 32u, 512u, 1024u, 1u}) add({threads, 1, 1});
    if (blocks.empty()) blocks.push_back({static_cast<uint32_t>(limit), 1, 1});
    return blocks;
}

Sizes sizes_for(const Reads& reads, size_t sizes) {
    if (reads.z()) return {32, 32, 16};
    if (reads.y() || sizes > 1) return {64, 64, 64};
    return {1024, 1024, 1024};
}

Meaning meaning_of(std::string_view name) {
    const std::string text = lower(name);
    const auto is = [&](std::initializer_list<std::string_view> words) {
        return std::find(words.begin(), words.end(), text) != words.end();
    };
    const auto has = [&](std::initializer_list<std::string_view> words) {
        return std::any_of(words.begin(), words.end(),
                           [&](std::string_view word) { return text.find(word) != std::string::npos; });
    };
    if (has({"kernel", "filter", "mask", "window", "ksize", "taps"})) return Meaning::Window;
    if (has({"radius", "halo"}) || is({"r"})) return Meaning::One;
    if (has({"offset", "start", "begin", "first", "seed", "axis", "from", "lower", "phase"}) || is({"lo"}))
        return Meaning::Zero;
    if (has({"iter", "steps", "passes", "repeat", "batch", "channel", "heads", "bits", "depth_mult", "factor",
             "nreps"}))
        return Meaning::Few;
    if (has({"pad", "shift", "flag", "is_", "dilat", "step", "index", "idx", "exclusive", "inverse",
             "end_row", "end_col", "goal"}) ||
        is({"i", "j", "value", "target"}))
        return Meaning::One;
    if (has({"row", "height"}) || is({"m", "h", "ny", "y"})) return Meaning::Rows;
    if (has({"depth", "slices"}) || is({"d", "nz", "z"})) return Meaning::Slices;
    return Meaning::Columns;
}

bool is_size(Meaning meaning) {
    return meaning == Meaning::Columns || meaning == Meaning::Rows || meaning == Meaning::Slices;
}

uint64_t number_for(Meaning meaning, const Sizes& sizes) {
    switch (meaning) {
        case Meaning::Columns: return sizes.x;
        case Meaning::Rows: return sizes.y;
        case Meaning::Slices: return sizes.z;
        case Meaning::Zero: return 0;
        case Meaning::One: return 1;
        case Meaning::Few: return 2;
        case Meaning::Window: return 3;
    }
    return 1;
}

GivenNumber guessed_number(std::string_view name, ElementType type, const Sizes& sizes) {
    if (is_float(type)) {
        const bool small = lower(name).find("eps") != std::string::npos;
        return *parse_given_number(small ? "1e-05" : "2");
    }
    const uint64_t number = size_of(type) >= 4 ? number_for(meaning_of(name), sizes) : 1;
    return {static_cast<double>(number), number};
}

Sizes LaunchGuess::of(const Sizes& sizes) const {
    const auto part = [&](uint64_t size) { return std::max<uint64_t>(1, size / divided); };
    return {part(sizes.x), part(sizes.y), part(sizes.z)};
}

std::vector<LaunchGuess> guesses(const std::vector<Dim3>& blocks, bool sized, bool indices) {
    // Whole numbers may be indices; where there are none, numbers of any kind may be.
    std::vector<GivenFill> fills{GivenFill::Random, GivenFill::Ones};
    if (indices) fills = {GivenFill::Random, GivenFill::Iota, GivenFill::Zeros};
    std::vector<LaunchGuess> all;
    for (const uint32_t divided : {1u, 4u, 16u})
        for (const Dim3& block : blocks)
            for (const GivenFill contents : fills)
                if (divided == 1 || !sized) all.push_back({block, divided, contents});
    return all;
}

Result<size_t> parameter_of(const std::vector<GivenArgument>& said, size_t place,
                            const std::vector<std::string>& names, const std::string& what) {
    const std::string& name = said[place].name;
    const auto found = std::ranges::find(names, name);
    if (!name.empty() && found != names.end()) return static_cast<size_t>(found - names.begin());
    if (name.empty() && place < names.size()) return place;
    if (name.empty())
        return Error{fmt::format("{} takes {} and was given {}", what, counted(names.size(), "argument"),
                                 said.size())};
    return Error{one_sentence(fmt::format("{} has no parameter '{}'; its parameters are {}", what,
                                          one_line(name), fmt::join(names, ", ")))};
}

}  // namespace tilescope::kernels
