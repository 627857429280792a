#include "kernels/capture/record.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/analysis/array_shapes.h"
#include "core/base/words.h"
#include "core/ptx/forms.h"
#include "core/ptx/parse.h"
#include "core/trace/access.h"
#include "core/trace/claims.h"
#include "core/trace/file.h"
#include "kernels/alone/written.h"
#include "kernels/capture/loaded_pointers.h"
#include "kernels/capture/saved_memory.h"
#include "kernels/gpu/record_gpu.h"
#include "kernels/launched/record.h"
#include "kernels/launched/silence.h"
#include "kernels/launched/tensor_maps.h"

namespace tilescope::capture {

namespace {

using launched::Allocation;

// A recording in the making.
struct Recorder {
    const CaptureApi& api;
    gpu::Device& device;
    const ModuleToRecord& of;
    const SeenLaunch& launch;
    const launched::Orders& orders;
    launched::LoadedModule module{};
    launched::LoadedKernel kernel{};
    const ptx::Kernel* code = nullptr;
    std::vector<std::vector<std::byte>> arguments{};
    std::map<uint64_t, std::string> pointers{};       // among them, with the argument's name
    std::map<uint64_t, Array> tensors{};              // those that the program has named, by address
    std::map<uint64_t, uint64_t> allocations{};       // that these lie in: bytes by base
    std::vector<PlacedMap> maps{};                    // tensor maps in memory
    std::map<uint64_t, ElementType> mapped{};         // where maps lead to, and the elements there
    std::vector<std::vector<std::byte>> variables{};  // what the module's variables hold
};

uint64_t alignment_of(const ptx::Symbol& symbol) {
    return std::max<uint64_t>({symbol.alignment, symbol.is_array ? 1 : size_of(symbol.type), 1});
}

Result<void> look_up(Recorder& r) {
    r.module.text = r.of.ptx;
    r.module.name = r.of.name;
    if (!r.module.parse()) return Error{r.module.problem};
    r.kernel.module = &r.module;
    r.kernel.entry = r.of.entry;
    r.kernel.name = kernels::plain_name(r.of.entry);
    if (!r.kernel.look_up("")) return Error{r.kernel.problem};
    r.code = ptx::find_kernel(r.kernel.ptx_module(), r.of.entry);
    if (auto source = launched::source_file_of(r.kernel.ptx_module(), *r.code)) {
        r.kernel.own_file = std::move(source->first);
        r.kernel.source = std::move(source->second);
        r.kernel.parameters = kernels::parameters_of(r.kernel.ptx_module(), *r.code, r.kernel.source);
    }
    if (r.kernel.uses_heap)
        return Error{"it takes memory from the device's heap, which a second run would take again"};
    if (ptx::sites_of(*r.code).empty()) return Error{"it uses no memory, so that there is nothing to record"};
    if (stores_through_loaded_pointers(*r.code))
        return Error{
            "it stores through pointers that it finds in memory, so that what it overwrites cannot be saved"};
    std::vector<uint64_t> sizes, alignments;
    for (const int32_t parameter : r.code->parameters) {
        const ptx::Symbol& symbol = r.code->symbols[static_cast<size_t>(parameter)];
        sizes.push_back(symbol.bytes());
        alignments.push_back(alignment_of(symbol));
    }
    r.arguments = parameter_bytes(r.launch, sizes, alignments);
    if (r.arguments.size() != sizes.size()) return Error{"its arguments cannot be read"};
    return {};
}

// The allocation that an address lies in: base and bytes.
std::optional<std::pair<uint64_t, uint64_t>> allocation_at(const CaptureApi& api, uint64_t address) {
    uint64_t base = 0, bytes = 0;
    if (address < 4096 || api.pointer_attribute(&base, kRangeStart, address) != 0 ||
        api.pointer_attribute(&bytes, kRangeBytes, address) != 0 || base == 0 || address - base >= bytes)
        return std::nullopt;
    return std::pair{base, bytes};
}

// The tensor that a map leads to, as an array of this name.
void take_tensor(Recorder& r, const ptx::TensorMap& map, const std::string& name) {
    const auto in = allocation_at(r.api, map.address);
    if (!in) return;
    r.allocations.insert(*in);
    r.pointers.emplace(map.address, name);
    r.mapped.emplace(map.address, ptx::element_of(map.type));
    auto tensor = launched::tensor_of(map);
    if (!tensor || tensor->bytes() > in->first + in->second - map.address) return;
    tensor->name = name;
    r.tensors.emplace(map.address, std::move(*tensor));
}

// Tensor maps that lie in memory, where an argument points to.
Result<void> find_maps(Recorder& r) {
    if (std::ranges::none_of(r.code->instructions,
                             [](const ptx::Instruction& one) { return ptx::map_of(one) != nullptr; }))
        return {};
    const std::map<uint64_t, std::string> pointers = r.pointers;
    for (const auto& [pointer, name] : pointers) {
        const auto in = allocation_at(r.api, pointer);
        if (!in) continue;
        std::vector<std::byte> bytes(
            std::min(in->first + in->second - pointer, launched::kMapsBehindPointer));
        if (auto ok = r.device.read(bytes.data(), pointer, bytes.size()); !ok) return ok;
        for (const launched::FoundMap& one : launched::maps_in(bytes, *r.launch.maps)) {
            r.maps.push_back(launched::placed_map(pointer + one.at, one.map));
            take_tensor(r, one.map, one.at == 0 ? "*" + name : fmt::format("*{}+{}", name, one.at));
        }
    }
    return {};
}

Result<void> find_allocations(Recorder& r) {
    for (size_t i = 0; i < r.arguments.size(); ++i) {
        std::vector<std::byte>& argument = r.arguments[i];
        const auto maps = launched::maps_in(argument, *r.launch.maps);
        const std::string& name = r.kernel.parameters[i].name;
        for (const launched::FoundMap& one : maps)
            take_tensor(r, one.map,
                        argument.size() == ptx::kTensorMapBytes ? name : fmt::format("{}+{}", name, one.at));
        launched::write_own(argument, maps);
        for (size_t at = 0; at + 8 <= argument.size(); at += 8) {
            uint64_t word = 0;
            std::memcpy(&word, argument.data() + at, 8);
            const auto found = allocation_at(r.api, word);
            if (!found) continue;
            r.allocations.insert(*found);
            r.pointers.emplace(word, name);
        }
    }
    return find_maps(r);
}

// Names of the arguments, and the tensors among them, as the program has told them.
void take_told(Recorder& r) {
    if (r.launch.told.empty()) return;
    const auto no_files = [](const std::string&, uint64_t) -> Result<std::string> {
        return Error{"not there"};
    };
    const auto told = kernels::parse_written(r.launch.told, no_files);
    if (!told || told->said.kernel != r.of.entry || told->said.arguments.size() > r.arguments.size()) return;
    for (size_t i = 0; i < told->said.arguments.size(); ++i) {
        const kernels::GivenArgument& argument = told->said.arguments[i];
        r.kernel.parameters[i].name = argument.name;
        if (argument.kind != kernels::GivenKind::Array || argument.shares >= 0 || r.arguments[i].size() != 8)
            continue;
        uint64_t address = 0;
        std::memcpy(&address, r.arguments[i].data(), 8);
        address -= argument.offset;
        Array tensor = kernels::array_of(argument);
        tensor.name = argument.name;
        const auto in = allocation_at(r.api, address);
        if (in && tensor.bytes() > 0 && tensor.bytes() <= in->first + in->second - address)
            r.tensors[address] = tensor;
    }
}

// Gives the arrays of tensors their shapes.
void shape_tensors(const Recorder& r, Launch& launch) {
    for (Array& array : launch.arrays) {
        const auto tensor = r.tensors.find(array.base);
        if (array.space != Space::Global || tensor == r.tensors.end()) continue;
        const Array& like = tensor->second;
        if (like.bytes() != array.bytes()) continue;
        array.name = like.name;
        array.type = like.type;
        array.rank = like.rank;
        array.slices = like.slices, array.rows = like.rows, array.cols = like.cols;
        array.extents = ExtentSource::Known;
    }
}

// The memory as arrays are made of it: tensors, and from each other pointer to the next one; or whole allocations.
launched::KnownMemory memory_of(Recorder& r, bool whole) {
    launched::KnownMemory memory;
    constexpr uint64_t kMost = 0xFFFF'0000;  // bytes of an array: its elements are counted in 32 bits
    const auto add = [&](uint64_t base, uint64_t bytes) {
        Allocation one;
        one.base = base;
        one.bytes = std::min(bytes, kMost);
        memory.add(std::move(one));
    };
    std::set<uint64_t> starts;
    for (const auto& [pointer, name] : r.pointers) starts.insert(pointer);
    if (!whole)
        for (const auto& [base, tensor] : r.tensors) {
            add(base, tensor.bytes());
            starts.insert(base);
        }
    for (const auto& [base, bytes] : r.allocations) {
        if (whole) {
            add(base, bytes);
            continue;
        }
        const uint64_t end = base + bytes;
        for (auto at = starts.lower_bound(base); at != starts.end() && *at < end; ++at) {
            const auto next = std::next(at);
            if (!memory.find(*at)) add(*at, (next == starts.end() ? end : std::min(*next, end)) - *at);
        }
    }
    return memory;
}

// The module's variables with what the program's own hold.
Result<void> add_variables(Recorder& r, launched::KnownMemory& memory) {
    for (const ptx::Symbol& symbol : r.code->symbols) {
        if (symbol.module_variable < 0 ||
            (symbol.space != ptx::StateSpace::Global && symbol.space != ptx::StateSpace::Const))
            continue;
        uint64_t address = 0;
        size_t bytes = 0;
        if (r.api.module_global(&address, &bytes, r.of.module, symbol.name.c_str()) != 0) continue;
        auto& held = r.variables.emplace_back(bytes);
        if (auto ok = r.device.read(held.data(), address, bytes); !ok) return ok;
        Allocation one;
        one.base = address;
        one.bytes = bytes;
        one.kind = launched::MemoryKind::Variable;
        one.symbol = symbol.name;
        one.place = held.data();
        memory.add(std::move(one));
        r.module.bases[symbol.name] = address;
    }
    return {};
}

kernels::Plan plan_of(const Recorder& r, Launch launch) {
    kernels::Plan plan;
    plan.kernel = r.kernel.name;
    plan.launch = std::move(launch);
    plan.ptx = r.kernel.ptx_text();
    plan.ptx_name = r.of.name;
    if (!r.kernel.own_file.empty()) {
        plan.source_name = std::filesystem::path(r.kernel.own_file).filename().string();
        plan.source = r.kernel.source;
    }
    return plan;
}

// What the arrays hold now, read from the device.
Result<void> read_contents(Recorder& r, launched::KnownMemory& memory, Launch& launch) {
    for (Array& array : launch.arrays) {
        if (array.space != Space::Global) continue;
        array.contents.kind = Contents::Kind::Stored;
        std::vector<std::byte> bytes(array.bytes());
        const Allocation* const one = memory.find(array.base);
        if (one && one->place)
            std::copy_n(one->place, std::min<uint64_t>(bytes.size(), one->bytes), bytes.data());
        else if (auto ok = r.device.read(bytes.data(), array.base, bytes.size()); !ok)
            return ok;
        array.contents.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    }
    return {};
}

Result<trace::Trace> run_recorded(Recorder& r, SavedMemory& saved, const kernels::Plan& plan, bool little) {
    gpu::GpuRecordOptions options;
    options.common.window = r.orders.window;
    options.common.little_of_arrays = little;
    if (little) options.common.max_instructions_per_warp = 1u << 20;  // of a block that finds zeros
    options.timeout_s = 600;
    options.restore = [&] { return saved.restore(); };
    for (const Array& array : plan.launch.arrays) {
        const bool placed = array.space == Space::Global && array.symbol.empty();
        options.places.push_back(placed ? gpu::ArrayPlace{array.base, nullptr, true} : gpu::ArrayPlace{});
    }
    if (options.places.empty()) options.places.emplace_back();
    const bool prints = std::ranges::any_of(r.code->instructions, [](const ptx::Instruction& one) {
        return one.op == ptx::Op::Call && one.callee == "vprintf";
    });
    std::optional<launched::Silence> silence;
    if (prints) silence.emplace(r.device);
    return gpu::record_gpu(r.device, plan, options);
}

// By array: bytes from its first one to the last one that the recording touches.
std::vector<uint64_t> touched_bytes(const trace::Trace& trace) {
    std::vector<uint64_t> touched(trace.launch.arrays.size());
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const trace::Form& form = trace.form_of(step);
        const ptx::Site& site = trace.sites[form.site];
        if (!ptx::asks_memory(site.kind) || form.array == trace::kNoArray) continue;
        uint64_t& end = touched[form.array];
        trace::for_pieces(
            trace, step, trace::decode(trace, step),
            [&](uint32_t, uint64_t offset, uint64_t bytes) { end = std::max(end, offset + bytes); });
    }
    return touched;
}

// Cuts the arrays behind what is touched. Of one that is not, an element stays.
void cut_arrays(Launch& launch, const std::vector<uint64_t>& touched) {
    for (size_t i = 0; i < launch.arrays.size(); ++i) {
        Array& array = launch.arrays[i];
        if (array.space != Space::Global || !array.symbol.empty() || array.extents == ExtentSource::Known)
            continue;
        const uint64_t element = array.element_bytes();
        const uint64_t elements =
            std::clamp<uint64_t>((touched[i] + element - 1) / element, 1, array.elements());
        array.cols = static_cast<uint32_t>(elements);
        if (!array.contents.bytes) continue;
        const auto& whole = *array.contents.bytes;
        array.contents.bytes = std::make_shared<const std::vector<std::byte>>(
            whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(elements * element));
    }
}

uint64_t bytes_of_arrays(const Launch& launch) {
    uint64_t bytes = 0;
    for (const Array& array : launch.arrays) bytes += array.space == Space::Global ? array.bytes() : 0;
    return bytes;
}

// Records with such arrays. Where all that they may hold is much, a first run finds out what of it is touched.
Result<trace::Trace> record_arrays(Recorder& r, SavedMemory& saved, bool whole) {
    launched::KnownMemory memory = memory_of(r, whole);
    if (auto ok = add_variables(r, memory); !ok) return ok.error();
    std::vector<std::span<const std::byte>> arguments(r.arguments.begin(), r.arguments.end());
    Launch launch =
        launched::describe(memory, r.kernel, *r.code,
                           {r.launch.shape.grid, r.launch.shape.block, r.launch.shape.shared}, arguments);
    launch.cluster = ptx::size_directive(*r.code, ".reqnctapercluster").value_or(r.launch.cluster);
    for (const auto& [base, type] : r.mapped)
        if (const Allocation* const one = memory.find(base))
            launched::add_array(launch, *one, r.pointers.at(base), type);
    launch.maps = r.maps;
    if (!whole) shape_tensors(r, launch);
    const auto limit = trace::memory_limit();
    if (!limit) return limit.error();
    if (bytes_of_arrays(launch) > *limit / 8) {
        auto first = run_recorded(r, saved, plan_of(r, launch), true);
        if (auto ok = saved.restore(); !ok) return ok.error();
        if (!first) return first;
        cut_arrays(launch, touched_bytes(*first));
    }
    if (auto ok = read_contents(r, memory, launch); !ok) return ok.error();
    auto trace = run_recorded(r, saved, plan_of(r, std::move(launch)), false);
    if (auto ok = saved.restore(); !ok) return ok.error();
    if (trace) cut_arrays(trace->launch, touched_bytes(*trace));
    return trace;
}

// What the recording asks for outside its arrays.
struct OutsideAccesses {
    bool saved = false;                  // in memory that was saved
    bool reads = false, writes = false;  // elsewhere
};
OutsideAccesses outside_of(const Recorder& r, const trace::Trace& trace) {
    OutsideAccesses outside;
    if (launched::inside_arrays(trace)) return outside;
    const auto is_saved = [&](uint64_t address) {
        const auto after = r.allocations.upper_bound(address);
        return after != r.allocations.begin() && address - std::prev(after)->first < std::prev(after)->second;
    };
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const trace::Form& form = trace.form_of(step);
        const ptx::Site& site = trace.sites[form.site];
        if (!ptx::asks_memory(site.kind) || form.space != Space::Global || form.array != trace::kNoArray)
            continue;
        const trace::Access access = trace::decode(trace, step);
        for_lanes(access.mask, [&](uint32_t lane) {
            if (is_saved(access.offset[lane]))
                outside.saved = true;
            else
                (ptx::writes(site.kind) ? outside.writes : outside.reads) = true;
        });
    }
    return outside;
}

Result<trace::Trace> record_trace(Recorder& r) {
    if (auto found = look_up(r); !found) return found.error();
    if (r.api.context_synchronize() != 0) return Error{"the GPU's work before it has failed"};
    take_told(r);
    if (auto found = find_allocations(r); !found) return found.error();
    auto saved = SavedMemory::of(r.device, r.allocations);
    if (!saved) return saved.error();
    auto trace = record_arrays(r, *saved, false);
    if (trace && outside_of(r, *trace).saved) trace = record_arrays(r, *saved, true);
    return trace;
}

}  // namespace

std::vector<std::vector<std::byte>> parameter_bytes(const SeenLaunch& launch,
                                                    const std::vector<uint64_t>& sizes,
                                                    const std::vector<uint64_t>& alignments) {
    std::vector<std::vector<std::byte>> all;
    const std::byte* buffer = nullptr;
    size_t held = 0;
    if (!launch.parameters && launch.extra) {
        void** at = launch.extra;
        for (; reinterpret_cast<uintptr_t>(*at) != kExtraEnd; at += 2) {
            const auto name = reinterpret_cast<uintptr_t>(*at);
            if (name == kExtraBuffer) buffer = static_cast<const std::byte*>(at[1]);
            if (name == kExtraSize) held = *static_cast<const size_t*>(at[1]);
        }
    }
    uint64_t offset = 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
        const std::byte* from = nullptr;
        if (launch.parameters) {
            from = static_cast<const std::byte*>(launch.parameters[i]);
        } else if (buffer) {
            offset = (offset + alignments[i] - 1) / alignments[i] * alignments[i];
            if (offset + sizes[i] <= held) from = buffer + offset;
            offset += sizes[i];
        }
        if (!from) return {};
        all.emplace_back(from, from + sizes[i]);
    }
    return all;
}

std::string why_not_recorded(const SeenLaunch& launch) {
    if (launch.cooperative)
        return "its blocks may wait for each other (it was launched as a cooperative grid), so that a second "
               "run beside "
               "it may never end";
    return "";
}

launched::CapturedLaunch record_launch(const CaptureApi& api, gpu::Device& device, const ModuleToRecord& of,
                                       const SeenLaunch& launch, const launched::Orders& orders,
                                       uint64_t number) {
    const auto start = std::chrono::steady_clock::now();
    launched::CapturedLaunch done;
    done.number = number;
    Recorder r{.api = api, .device = device, .of = of, .launch = launch, .orders = orders};
    auto trace = record_trace(r);
    if (!trace) {
        done.unrecorded = trace.error().message;
    } else {
        const OutsideAccesses outside = outside_of(r, *trace);
        if (outside.writes)
            done.remark =
                "it stores through pointers that lie in memory, which was not saved: what the program "
                "computes "
                "from then on may be wrong";
        else if (outside.reads)
            done.remark =
                "it reads memory that none of its arguments leads to, whose contents are not in the "
                "recording";
        analysis::infer_arrays(*trace);
        const std::string path =
            (std::filesystem::path(orders.folder) / launched::file_name(r.kernel.name, number)).string();
        if (const auto written = trace::write_file(*trace, path); written)
            done.recorded = path;
        else
            done.unrecorded = written.error().message;
    }
    done.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return done;
}

}  // namespace tilescope::capture
