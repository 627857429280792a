#include "kernels/alone/guess.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/cluster.h"
#include "core/base/contents.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "core/ptx/large.h"
#include "core/ptx/parse.h"
#include "core/ptx/tensor_map.h"
#include "kernels/alone/probe.h"
#include "kernels/alone/sizes.h"

namespace tilescope::kernels {

namespace {

using Given = GivenKind;
using Fill = GivenFill;

// A parameter, and what is said of it.
struct ParameterSlot {
    KernelParameter parameter;
    const GivenArgument* given = nullptr;
    bool used = false;  // the kernel reads it
    Given kind = Given::Number;
    bool is_integer_input() const {
        return kind == Given::Array && parameter.reads && !is_float(parameter.type) && !given;
    }
};

class LaunchGuesser {
public:
    LaunchGuesser(const Alone& alone, const Description& said, const std::atomic<bool>* stop)
        : alone_(alone), ptx_(alone.ptx), said_(said), stop_(stop) {}

    Result<GuessedLaunch> run() {
        auto module = read();
        if (!module) return module.error();
        const auto kernel = choose(*module);
        if (!kernel) return kernel.error();
        auto program = simt::prepare(*module, (*kernel)->name);
        if (!program) return program.error();
        program_ = *program;
        if (auto ok = make_slots(*module, **kernel); !ok) return ok.error();
        entry_ = (*kernel)->name;
        cluster_ =
            said_.cluster.value_or(ptx::size_directive(**kernel, ".reqnctapercluster").value_or(Dim3{}));
        if (const std::string why = why_not_in_clusters(said_.grid.value_or(cluster_), cluster_);
            !why.empty())
            return Error{why};
        if (said_.written) return as_written();
        const auto& symbols = (*kernel)->symbols;
        const auto dynamic = std::find_if(symbols.begin(), symbols.end(), [](const ptx::Symbol& symbol) {
            return symbol.space == ptx::StateSpace::Shared && symbol.count == 0;
        });
        if (dynamic != symbols.end()) dynamic_at_ = simt::shared_offset(*program_, dynamic->name);
        indices_ = std::any_of(slots_.begin(), slots_.end(),
                               [](const ParameterSlot& slot) { return slot.is_integer_input(); });
        reads_ = reads_of(**kernel);
        find_sizes();
        std::vector<Dim3> blocks = blocks_for(*module, **kernel, alone_.source);
        if (said_.block) blocks = {*said_.block};
        return best_of(blocks);
    }

private:
    // The kernels one of which is meant, the first that can be read.
    Result<std::vector<std::string>> meant() const {
        constexpr size_t kMostTried = 16;
        std::vector<std::string> names = ptx::kernel_names(ptx_);
        if (names.size() > kMostTried) names.resize(kMostTried);
        if (said_.kernel.empty()) return names;
        const auto heads = ptx::parse_heads(ptx_, alone_.ptx_name);
        if (!heads) return heads.error();
        const auto kernel = choose(*heads);
        if (!kernel) return kernel.error();
        return std::vector{(*kernel)->name};
    }

    // The module, whole or without the kernels that are not meant.
    Result<ptx::Module> read() {
        if (!ptx::is_large(ptx_)) {
            auto whole = ptx::parse(ptx_, alone_.ptx_name);
            if (whole && (choose(*whole) || ptx::kernel_names(ptx_).empty())) return whole;
        }
        const auto names = meant();
        if (!names) return names.error();
        std::optional<Error> why;
        for (const std::string& name : *names) {
            std::string text = ptx_;
            auto made = ptx::parse_for(text, alone_.ptx_name, name);
            if (made && ptx::find_kernel(*made, name)) {
                ptx_ = std::move(text);
                return made;
            }
            const std::string* const refusal = made ? ptx::refusal_of(*made, name) : nullptr;
            if (!why && (!made || refusal)) why = made ? Error{*refusal} : made.error();
        }
        return why ? Result<ptx::Module>(*why) : ptx::parse(ptx_, alone_.ptx_name);
    }

    Result<const ptx::Kernel*> choose(const ptx::Module& module) const {
        const std::string& name = said_.kernel;
        if (name.empty()) {
            if (!module.kernels.empty()) return &module.kernels.front();
            return Error{!module.refused.empty() ? module.refused.front().why
                         : alone_.source_name.empty()
                             ? alone_.ptx_name + " holds no kernel; name another file"
                             : alone_.source_name +
                                   " holds no kernel that is compiled: a template is "
                                   "one only where something calls it; name another file"};
        }
        if (const ptx::Kernel* kernel = ptx::find_kernel(module, name)) return kernel;
        if (const std::string* why = ptx::refusal_of(module, name)) return Error{*why};
        std::vector<const ptx::Kernel*> found;
        for (const ptx::Kernel& kernel : module.kernels)
            if (plain_name(kernel.name) == name) found.push_back(&kernel);
        if (found.size() == 1) return found.front();
        for (const ptx::Refusal& refusal : module.refused)
            if (found.empty() && plain_name(refusal.kernel) == name) return Error{refusal.why};
        std::vector<std::string> names;
        for (const ptx::Kernel& kernel : module.kernels)
            if (found.empty() || plain_name(kernel.name) == name)
                names.push_back(found.empty() ? plain_name(kernel.name) : kernel.name);
        return Error{one_sentence(fmt::format("{} holds {} kernel '{}'; choose one of {}", alone_.ptx_name,
                                              found.empty() ? "no" : "more than one", one_line(name),
                                              fmt::join(names, ", ")))};
    }

    Result<void> fit(ParameterSlot& slot, const GivenArgument& argument) const {
        const KernelParameter& parameter = slot.parameter;
        const auto no = [&](std::string_view what) {
            return Error{fmt::format("parameter '{}' {}, and '{}' was given", one_line(parameter.name), what,
                                     one_line(value_text(argument)))};
        };
        const bool scalar = size_of(parameter.type) == parameter.bytes;
        switch (argument.kind) {
            case Given::Null:
            case Given::Array:
                // A pointer of which neither name nor source says that it is one.
                if (!parameter.pointer && parameter.bytes != 8)
                    return no(fmt::format("is a value of {}", bytes_text(parameter.bytes)));
                break;
            case Given::Tensor:
                if (parameter.bytes != ptx::kTensorMapBytes)
                    return no(fmt::format("takes {}, and a tensor map has {}", bytes_text(parameter.bytes),
                                          bytes_text(ptx::kTensorMapBytes)));
                if (const auto map = map_for(argument); !map) return map.error();
                break;
            case Given::Object:
                if (argument.object.size() != parameter.bytes)
                    return no(fmt::format("takes {}", bytes_text(parameter.bytes)));
                break;
            case Given::Number:
                if (parameter.pointer) return no("is a pointer: give it an array, such as float[1024]");
                if (!scalar) return no("is a struct: give its bytes as bytes:HEX");
                break;
        }
        slot.given = &argument;
        slot.kind = argument.kind;
        return {};
    }

    Result<void> make_slots(const ptx::Module& module, const ptx::Kernel& kernel) {
        stores_boxes_ = std::ranges::any_of(kernel.instructions, [](const ptx::Instruction& instruction) {
            return instruction.op == ptx::Op::TensorToGlobal || instruction.op == ptx::Op::TensorReduce;
        });
        const std::vector<KernelParameter> parameters = parameters_of(module, kernel, alone_.source);
        for (size_t i = 0; i < parameters.size(); ++i) {
            ParameterSlot slot;
            slot.parameter = parameters[i];
            for (const ptx::Instruction& instruction : kernel.instructions)
                for (const ptx::Operand& operand : instruction.operands)
                    slot.used |= operand.symbol == kernel.parameters[i];
            const bool scalar = size_of(slot.parameter.type) == slot.parameter.bytes;
            slot.kind = slot.parameter.pointer ? Given::Array : scalar ? Given::Number : Given::Object;
            // Triton and torch end the list with pointers to scratch memory that most kernels do not have.
            if (slot.parameter.pointer && !slot.used) slot.kind = Given::Null;
            slots_.push_back(std::move(slot));
        }
        const std::string what = fmt::format("kernel '{}'", plain_name(kernel.name));
        if (said_.written) return fit_written(what);
        std::vector<std::string> names;
        for (const ParameterSlot& slot : slots_) names.push_back(slot.parameter.name);
        for (size_t i = 0; i < said_.arguments.size(); ++i) {
            const GivenArgument& argument = said_.arguments[i];
            size_t at = 0;  // a parameter may be called by its number too
            while (at < names.size() && argument.name != fmt::format("arg{}", at + 1)) ++at;
            if (at == names.size()) {
                const auto found = parameter_of(said_.arguments, i, names, what);
                if (!found) return found.error();
                at = *found;
            }
            if (auto ok = fit(slots_[at], argument); !ok) return ok;
        }
        return {};
    }

    // Arguments that are the parameters in their order; those that are left out must be pointers to nothing.
    Result<void> fit_written(const std::string& what) {
        const std::vector<GivenArgument>& said = said_.arguments;
        if (said.size() > slots_.size())
            return Error{fmt::format("{} takes {} and was given {}", what, counted(slots_.size(), "argument"),
                                     said.size())};
        for (size_t i = 0; i < slots_.size(); ++i) {
            ParameterSlot& slot = slots_[i];
            KernelParameter& parameter = slot.parameter;
            if (i >= said.size()) {
                if (slot.used || parameter.bytes != 8)
                    return Error{fmt::format("{} takes {} and was given {}", what,
                                             counted(slots_.size(), "argument"), said.size())};
                slot.kind = Given::Null;
                continue;
            }
            if (!said[i].name.empty()) parameter.name = said[i].name;
            const bool number = said[i].kind == Given::Number;
            if (number && size_of(said[i].type) == parameter.bytes && !parameter.pointer)
                parameter.type = said[i].type;
            else if (number && is_float(said[i].type) && parameter.bytes == sizeof(float))
                parameter.type = ElementType::F32;  // Triton hands on a half as a float
            if (auto ok = fit(slot, said[i]); !ok) return ok;
        }
        return {};
    }

    GuessedLaunch as_written() const {
        Probe made;
        made.launch = launch_for({*said_.block, 1, Fill::Random});
        return finished({*said_.block, 1, Fill::Random}, std::move(made));
    }

    static bool is_whole_number(const ParameterSlot& slot) {
        return slot.kind == Given::Number && !is_float(slot.parameter.type);
    }

    // Sizes as they are said by numbers and by the extents of arrays.
    void find_sizes() {
        std::optional<uint64_t> x, y, z;
        uint64_t elements = 0;
        size_t sizes = 0;
        for (const ParameterSlot& slot : slots_) {
            if (slot.given && slot.kind == Given::Array) {
                const std::vector<uint64_t>& extents = slot.given->extents;
                uint64_t count = 1;
                for (const uint64_t extent : extents) count *= extent;
                elements = std::max(elements, count);
            }
            if (!is_whole_number(slot) || slot.parameter.bytes < 4 || (!slot.used && !slot.given)) continue;
            const Meaning meaning = meaning_of(slot.parameter.name);
            sizes += is_size(meaning);
            if (!slot.given || !slot.given->number.whole) continue;
            const auto take = [&](std::optional<uint64_t>& size) {
                size = std::max(size.value_or(1), std::min(*slot.given->number.whole, uint64_t{1} << 31));
            };
            if (meaning == Meaning::Columns) take(x);
            if (meaning == Meaning::Rows) take(y);
            if (meaning == Meaning::Slices) take(z);
        }
        for (const ParameterSlot& slot : slots_) {
            if (!slot.given || slot.kind != Given::Array) continue;
            const std::vector<uint64_t>& extents = slot.given->extents;
            if (!x) x = extents.back();
            if (!y && extents.size() > 1) y = extents[extents.size() - 2];
            if (!z && extents.size() > 2) z = extents[0];
        }
        sizes_ = sizes_for(reads_, sizes);
        // A size that is said is that of all that are not: n rows of n columns.
        const uint64_t any = x ? *x : y ? *y : z.value_or(0);
        if (any != 0) sizes_ = {any, any, std::min(any, sizes_.z)};
        if (x) sizes_.x = *x;
        if (y) sizes_.y = *y;
        if (z) sizes_.z = *z;
        sized_ = any != 0;
        items_ = elements != 0 ? std::max(elements, sizes_.x) : sizes > 1 ? sizes_.x * sizes_.y : sizes_.x;
    }

    Dim3 grid_for(const LaunchGuess& attempt) const {
        return said_.grid ? *said_.grid : in_whole_clusters(guessed_grid(attempt));
    }

    Dim3 in_whole_clusters(Dim3 grid) const {
        const auto whole = [](uint32_t& blocks, uint32_t of) { blocks = (blocks + of - 1) / of * of; };
        whole(grid.x, cluster_.x), whole(grid.y, cluster_.y), whole(grid.z, cluster_.z);
        return grid;
    }

    Dim3 guessed_grid(const LaunchGuess& attempt) const {
        const Sizes sizes = attempt.of(sizes_);
        constexpr uint64_t kMostBlocks = 4096;
        const auto covering = [&](uint64_t items, uint32_t threads) {
            return static_cast<uint32_t>(std::min((items + threads - 1) / threads, kMostBlocks));
        };
        const Dim3& block = attempt.block;
        if (!reads_.y() && !reads_.z())
            return {covering(std::max<uint64_t>(1, items_ / attempt.divided), block.x), 1, 1};
        Dim3 grid{covering(sizes.x, block.x), reads_.y() ? covering(sizes.y, block.y) : 1,
                  reads_.z() ? covering(sizes.z, block.z) : 1};
        while (grid.count() > kMostBlocks && grid.z > 1) grid.z /= 2;
        while (grid.count() > kMostBlocks && grid.y > 1) grid.y /= 2;
        return grid;
    }

    // What an array holds that nobody says more of.
    Fill guessed_fill(const ParameterSlot& slot, const LaunchGuess& attempt) const {
        if (slot.parameter.writes && !slot.parameter.reads) return Fill::Zeros;
        const bool guessed = slot.is_integer_input() || (!indices_ && !slot.parameter.writes);
        return guessed ? attempt.contents : Fill::Random;
    }

    void put_contents(Array& array, const GivenContents& contents) const {
        kernels::put_contents(array, contents, stream_of(array));
    }

    // Tells the arrays of a launch apart, and is the same each time: the place among the parameters.
    uint32_t stream_of(const Array& array) const {
        for (uint32_t i = 0; i < slots_.size(); ++i)
            if (slots_[i].parameter.name == array.name) return i;
        return 0;
    }

    Array array_for(const ParameterSlot& slot, const LaunchGuess& attempt) const {
        const KernelParameter& parameter = slot.parameter;
        Array array = slot.given ? array_of(*slot.given) : Array{};
        array.name = parameter.name;
        bool reads = parameter.reads, writes = parameter.writes;
        for (const ParameterSlot& other : slots_) {
            if (!slot.given || !other.given || other.given->shares != slot.given - said_.arguments.data())
                continue;
            reads |= other.parameter.reads;
            writes |= other.parameter.writes;
        }
        if (slot.kind == Given::Tensor) reads = true, writes = stores_boxes_;
        array.role = !writes ? ArrayRole::Input : reads ? ArrayRole::InOut : ArrayRole::Output;
        if (!slot.given) {
            constexpr uint64_t kRoom = uint64_t{1} << 20;
            array.type = parameter.type;
            array.rank = 1;
            array.extents = ExtentSource::Flat;
            array.cols = static_cast<uint32_t>(kRoom / array.element_bytes());
            put_contents(array, {guessed_fill(slot, attempt), {}});
            return array;
        }
        if (slot.given->known_shape) array.extents = ExtentSource::Known;
        GivenContents contents = slot.given->contents;
        if (contents.kind == Fill::Guessed) contents.kind = writes && !reads ? Fill::Zeros : Fill::Random;
        put_contents(array, contents);
        return array;
    }

    std::vector<std::byte> object_for(const ParameterSlot& slot) const {
        if (slot.given) return slot.given->object;
        std::vector<std::byte> bytes(slot.parameter.bytes);
        const uint32_t size = size_of(slot.parameter.type);
        if (is_bits(slot.parameter.type)) return bytes;
        const uint64_t one = bits_of(slot.parameter.type, 1);  // a vector of a known type
        for (size_t at = 0; at + size <= bytes.size(); at += size) std::memcpy(bytes.data() + at, &one, size);
        return bytes;
    }

    GivenNumber number_of(const ParameterSlot& slot, const LaunchGuess& attempt) const {
        if (slot.given) return slot.given->number;
        if (!slot.used && !is_float(slot.parameter.type)) return {0, 0};
        return guessed_number(slot.parameter.name, slot.parameter.type, attempt.of(sizes_));
    }

    Launch launch_for(const LaunchGuess& attempt) const {
        Launch launch;
        launch.entry = entry_;
        launch.block = attempt.block;
        launch.grid = grid_for(attempt);
        launch.cluster = cluster_;
        launch.dynamic_shared = said_.shared.value_or(
            dynamic_at_ < 0 ? 0
                            : static_cast<uint32_t>(kMostSharedBytes - static_cast<uint64_t>(dynamic_at_)));
        // Arrays come before what shares them: that is a later argument.
        for (const ParameterSlot& slot : slots_) {
            Argument& argument = launch.arguments.emplace_back();
            argument.name = slot.parameter.name;
            argument.type = slot.parameter.pointer ? ElementType::U64 : slot.parameter.type;
            switch (slot.kind) {
                case Given::Array:
                    if (slot.given) argument.offset = slot.given->offset;
                    if (slot.given && slot.given->shares >= 0) {
                        argument.array = launch.arguments[static_cast<size_t>(slot.given->shares)].array;
                        break;
                    }
                    argument.array = static_cast<int32_t>(launch.arrays.size());
                    launch.arrays.push_back(array_for(slot, attempt));
                    break;
                case Given::Number: argument.value = bits_in(argument.type, number_of(slot, attempt)); break;
                case Given::Tensor: {
                    const ptx::TensorMapBytes bytes = ptx::encode(*map_for(*slot.given));
                    argument.object.assign(bytes.begin(), bytes.end());
                    if (slot.given->tensor_of.empty()) {
                        argument.map_of = static_cast<int32_t>(launch.arrays.size());
                        launch.arrays.push_back(array_for(slot, attempt));
                    }
                    break;
                }
                case Given::Object: {
                    argument.object = object_for(slot);
                    if (argument.object.size() > sizeof argument.value) break;
                    std::memcpy(&argument.value, argument.object.data(), argument.object.size());
                    break;
                }
                case Given::Null: break;
            }
        }
        for (size_t i = 0; i < slots_.size(); ++i)
            if (slots_[i].kind == Given::Tensor && !slots_[i].given->tensor_of.empty())
                for (const Argument& of : launch.arguments)
                    if (of.name == slots_[i].given->tensor_of) launch.arguments[i].map_of = of.array;
        return launch;
    }

    // Of an array that another argument is, its type and extents are that one's. Its address is still to come.
    Result<ptx::TensorMap> map_for(const GivenArgument& said) const {
        const auto no = [&](const std::string& what) {
            return Error{fmt::format("'{}' {}", one_line(value_text(said)), what)};
        };
        const GivenArgument* array = &said;
        if (!said.tensor_of.empty()) {
            const auto found = std::ranges::find_if(said_.arguments, [&](const GivenArgument& one) {
                return one.name == said.tensor_of && one.kind == Given::Array;
            });
            if (found == said_.arguments.end())
                return no(
                    fmt::format("is of an argument '{}' that is no array; give that one as --arg "
                                "'{}=float[64,64]', or the array in its place",
                                one_line(said.tensor_of), one_line(said.tensor_of)));
            array = &*found;
        }
        if (array->extents.size() != said.box.size())
            return no("has a box with more or fewer sides than its array");
        ptx::TensorMap map;
        const auto type = ptx::tensor_type_of(array->type);
        if (!type) return no("is of elements that no tensor map has");
        map.type = *type;
        map.rank = static_cast<uint8_t>(said.box.size());
        uint64_t stride = size_of(array->type);
        for (size_t i = 0; i < map.rank; ++i) {
            map.extent[i] = array->extents[map.rank - 1 - i];
            map.box[i] = static_cast<uint32_t>(said.box[map.rank - 1 - i]);
            stride *= map.extent[i];
            if (i + 1 < map.rank) map.stride[i] = stride;
        }
        for (size_t i = 0; i < ptx::kSwizzles; ++i)
            if (said.swizzle == ptx::kSwizzleRules[i].name) map.swizzle = static_cast<ptx::Swizzle>(i);
        map.fills_with_nan = said.fills_with_nan;
        if (const auto ok = ptx::check(map); !ok) return no("is refused: " + ok.error().message);
        return map;
    }

    Probe try_out(const LaunchGuess& attempt, const Dim3* grid) const {
        Launch launch = launch_for(attempt);
        if (grid) launch.grid = in_whole_clusters(*grid);
        std::vector<bool> grows;
        std::vector<const ParameterSlot*> owners;
        for (const ParameterSlot& slot : slots_)
            if (slot.kind == Given::Array || (slot.kind == Given::Tensor && slot.given->tensor_of.empty()))
                grows.push_back(!slot.given), owners.push_back(&slot);
        const auto refill = [&](Array& array) {
            const ParameterSlot& slot = slots_[stream_of(array)];
            put_contents(array, {guessed_fill(slot, attempt), {}});
        };
        ProbeLimits limits;
        limits.stop = stop_;
        return probe(*program_, std::move(launch), grows, refill, limits);
    }

    // Elements of the array of which most is touched.
    static uint64_t most_touched(const Probe& made) {
        uint64_t most = 0;
        for (size_t i = 0; i < made.launch.arrays.size(); ++i)
            most = std::max(most, made.touched[i] / made.launch.arrays[i].element_bytes());
        return most;
    }

    // A row of threads that follows blocks in two dimensions may work on a tile, as Triton's blocks do: where an array
    // is touched far beyond the sizes, there are so many blocks each way that none is touched beyond them, or one.
    Probe in_tiles(const LaunchGuess& attempt, Probe made) const {
        const Sizes sizes = attempt.of(sizes_);
        const uint64_t most = sizes.x * sizes.y;
        const bool two = reads_.block_y && !reads_.thread_y && !reads_.z();
        if (said_.grid || !two || most_touched(made) <= 2 * most) return made;
        for (uint32_t side = made.launch.grid.y / 2; side > 0; side /= 2) {
            const Dim3 grid{side, side, 1};
            Probe fewer = try_out(attempt, &grid);
            if (fewer.whole() && (side == 1 || most_touched(fewer) <= most)) return fewer;
        }
        return made;
    }

    // The probe without blocks that touch nothing, and with arrays as large as what was touched.
    Probe trimmed(const LaunchGuess& attempt, Probe whole) const {
        const Dim3 busy{std::max(1u, whole.busy.x), std::max(1u, whole.busy.y), std::max(1u, whole.busy.z)};
        if (!said_.grid && busy != whole.launch.grid) {
            Probe fewer = try_out(attempt, &busy);
            if (fewer.whole()) whole = std::move(fewer);
        }
        cut(attempt, whole);
        return whole;
    }

    void cut(const LaunchGuess& attempt, Probe& made) const {
        if (!said_.shared && dynamic_at_ >= 0) {
            const auto at = static_cast<uint64_t>(dynamic_at_);
            made.launch.dynamic_shared =
                made.touched_shared > at ? static_cast<uint32_t>((made.touched_shared - at + 3) / 4 * 4) : 0;
        }
        for (size_t i = 0; i < made.launch.arrays.size(); ++i) {
            Array& array = made.launch.arrays[i];
            const ParameterSlot& slot = slots_[stream_of(array)];
            array.base = 0;
            if (slot.given) continue;
            const uint64_t bytes = std::max<uint64_t>(made.touched[i], array.element_bytes());
            array.cols = static_cast<uint32_t>((bytes + array.element_bytes() - 1) / array.element_bytes());
            put_contents(array, {guessed_fill(slot, attempt), {}});
        }
    }

    // A launch that can be tried on a GPU alone: as it is said.
    Result<GuessedLaunch> as_said(const Dim3& block) const {
        const bool arrays = std::ranges::all_of(
            slots_, [](const ParameterSlot& slot) { return slot.given || slot.kind != Given::Array; });
        if (!said_.grid || !said_.block || !arrays)
            return Error{
                simt::why_not_run(*program_) +
                "; of its launch nothing is guessed then, so give --grid, --block and --arg for each array"};
        const LaunchGuess attempt = guesses({block}, sized_, indices_).front();
        Probe made;
        made.launch = launch_for(attempt);
        cut(attempt, made);
        return finished(attempt, std::move(made));
    }

    Result<GuessedLaunch> best_of(const std::vector<Dim3>& blocks) const {
        if (!simt::why_not_run(*program_).empty()) return as_said(blocks.front());
        const Patience patience;
        std::optional<std::pair<LaunchGuess, Probe>> first;
        for (const LaunchGuess& attempt : guesses(blocks, sized_, indices_)) {
            Probe made = try_out(attempt, nullptr);
            if (made.stopped) return Error{"stopped before a launch was guessed"};
            if (made.whole()) return finished(attempt, trimmed(attempt, in_tiles(attempt, std::move(made))));
            if (!first) first.emplace(attempt, std::move(made));
            if (patience.over()) break;
        }
        if (!first->second.refusal.empty()) return Error{first->second.refusal};
        cut(first->first, first->second);
        return finished(first->first, std::move(first->second));
    }

    GuessedLaunch finished(const LaunchGuess& attempt, Probe made) const {
        GuessedLaunch guessed;
        Plan& plan = guessed.plan;
        plan.kernel = plain_name(entry_);
        plan.source_name = alone_.source_name;
        plan.source = alone_.source;
        plan.ptx_name = alone_.ptx_name;
        plan.ptx = ptx_;
        plan.launch = std::move(made.launch);
        if (made.fault) guessed.problem = made.fault->message;
        Description& whole = guessed.whole;
        const bool plain_is_enough = said_.kernel.empty() || said_.kernel == plan.kernel;
        whole.kernel = plain_is_enough ? plan.kernel : said_.kernel;
        whole.grid = plan.launch.grid;
        whole.block = plan.launch.block;
        if (said_.cluster) whole.cluster = said_.cluster;
        if (plan.launch.dynamic_shared > 0) whole.shared = plan.launch.dynamic_shared;
        for (size_t i = 0; i < slots_.size(); ++i)
            whole.arguments.push_back(said_again(slots_[i], plan.launch, plan.launch.arguments[i], attempt));
        return guessed;
    }

    GivenArgument said_again(const ParameterSlot& slot, const Launch& launch, const Argument& argument,
                             const LaunchGuess& attempt) const {
        GivenArgument again = slot.given ? *slot.given : GivenArgument{};
        again.name = slot.parameter.name;
        again.kind = slot.kind;
        if (slot.kind == Given::Number) again.number = number_of(slot, attempt);
        if (slot.kind == Given::Object) again.object = argument.object;
        if (slot.kind == Given::Array) {
            const Array& array = launch.arrays[static_cast<size_t>(argument.array)];
            again.type = array.type;
            if (!slot.given) again.extents = {array.elements()};
            if (again.contents.kind == Fill::Guessed)
                again.contents.kind = array.contents.kind == Contents::Kind::Zeros ? Fill::Zeros
                                      : array.contents.kind == Contents::Kind::SmallIntegers
                                          ? Fill::Random
                                          : attempt.contents;
        }
        return again;
    }

    const Alone& alone_;
    std::string ptx_;  // of the module, without the kernels that are not meant where it is large
    const Description& said_;
    const std::atomic<bool>* stop_;
    std::shared_ptr<const simt::Program> program_;
    std::string entry_;
    std::vector<ParameterSlot> slots_;
    bool stores_boxes_ = false;  // it copies boxes of tensors to global memory
    Reads reads_;
    Sizes sizes_;
    bool indices_ = false;     // there are input arrays of integers whose contents are guessed
    bool sized_ = false;       // sizes are said
    uint64_t items_ = 1;       // what the threads of one dimension cover
    Dim3 cluster_;             // that is said, or that the kernel is compiled for
    int64_t dynamic_at_ = -1;  // offset of dynamic shared memory; -1 where the kernel has none
};

std::string size_text_of(const Dim3& size) {
    if (size.z > 1) return fmt::format("{},{},{}", size.x, size.y, size.z);
    return size.y > 1 ? fmt::format("{},{}", size.x, size.y) : fmt::format("{}", size.x);
}

}  // namespace

Result<GuessedLaunch> guess_launch(const Alone& alone, const Description& said,
                                   const std::atomic<bool>* stop) {
    return LaunchGuesser(alone, said, stop).run();
}

std::string command_of(const std::string& file, const Description& whole) {
    std::string text = "tilescope record " + shell_word(file) + " --kernel " + shell_word(whole.kernel);
    if (whole.grid) text += " --grid " + size_text_of(*whole.grid);
    if (whole.block) text += " --block " + size_text_of(*whole.block);
    if (whole.cluster) text += " --cluster " + size_text_of(*whole.cluster);
    if (whole.shared) text += fmt::format(" --shared {}", *whole.shared);
    for (const GivenArgument& argument : whole.arguments)
        text += " --arg " + shell_word(argument.name + "=" + value_text(argument));
    return text;
}

}  // namespace tilescope::kernels
