#include "kernels/alone/written.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "kernels/run/ready.h"

namespace tilescope::kernels {

std::string_view embedded_recipe(std::string_view path);  // made by cmake

namespace {

using Json = nlohmann::json;

constexpr int64_t kMostStride = int64_t{1} << 40, kMostOffset = int64_t{1} << 48;  // elements
constexpr size_t kMostArguments = kMostParameterBytes;
constexpr uint64_t kAlignment = 256;  // of a storage, as cudaMalloc aligns

// What a name of PyTorch, NumPy or Triton means. Complex numbers are two elements.
struct NamedType {
    const char* name;
    ElementType type;
    uint32_t count = 1;
};
constexpr NamedType kNamedTypes[] = {
    {"float32", ElementType::F32},
    {"float64", ElementType::F64},
    {"float16", ElementType::F16},
    {"bfloat16", ElementType::BF16},
    {"float8_e4m3fn", ElementType::E4M3},
    {"float8_e5m2", ElementType::E5M2},
    {"int8", ElementType::S8},
    {"int16", ElementType::S16},
    {"int32", ElementType::S32},
    {"int64", ElementType::S64},
    {"uint8", ElementType::U8},
    {"uint16", ElementType::U16},
    {"uint32", ElementType::U32},
    {"uint64", ElementType::U64},
    {"bool", ElementType::U8},
    {"complex64", ElementType::F32, 2},
    {"complex128", ElementType::F64, 2},
    {"fp32", ElementType::F32},
    {"fp64", ElementType::F64},
    {"fp16", ElementType::F16},
    {"fp8e4nv", ElementType::E4M3},
    {"fp8e5", ElementType::E5M2},
    {"i1", ElementType::U8},
    {"i8", ElementType::S8},
    {"i16", ElementType::S16},
    {"i32", ElementType::S32},
    {"i64", ElementType::S64},
    {"u1", ElementType::U8},
};

std::optional<NamedType> type_named(const std::string& name) {
    for (const NamedType& type : kNamedTypes)
        if (name == type.name) return type;
    if (const auto type = element_type_of(name)) return NamedType{"", *type};
    return std::nullopt;
}

struct Tensor {
    size_t argument = 0;
    ElementType type{};
    std::vector<uint64_t> shape;
    std::vector<int64_t> strides;  // elements
    int64_t offset = 0;            // elements of the storage before the one at index 0
    std::optional<uint64_t> storage;
    std::string contents, result;  // names of files; ""
    int64_t begin = 0, end = 0;    // bytes of the storage from the first element to behind the last
    int64_t data() const { return offset * int64_t{size_of(type)}; }
};

// The extents inside the outermost one: none, columns, or rows and columns.
using Inner = std::vector<uint64_t>;

// As it lies in memory; nothing where it is no rows of rows.
std::optional<Inner> inner_of(const Tensor& tensor) {
    struct Dimension {
        uint64_t count, stride;
    };
    std::vector<Dimension> dimensions;
    for (size_t i = 0; i < tensor.shape.size(); ++i)
        if (tensor.shape[i] > 1 && tensor.strides[i] != 0)
            dimensions.push_back({tensor.shape[i], static_cast<uint64_t>(std::abs(tensor.strides[i]))});
    std::ranges::stable_sort(dimensions, std::ranges::greater{}, &Dimension::stride);
    if (dimensions.empty()) return Inner{};
    if (dimensions.back().stride > 1) dimensions.push_back({1, 1});
    // More than three become three where the outer ones follow each other without a gap.
    while (dimensions.size() > 3) {
        const Dimension inner = dimensions[1];
        if (dimensions[0].stride != inner.count * inner.stride) return std::nullopt;
        dimensions.erase(dimensions.begin());
        dimensions.front() = {dimensions.front().count, inner.stride};
    }
    Inner inner;
    for (size_t i = 1; i < dimensions.size(); ++i) {
        const uint64_t pitch = dimensions[i - 1].stride / dimensions[i].stride;
        if (dimensions[i - 1].stride % dimensions[i].stride != 0 || pitch < dimensions[i].count)
            return std::nullopt;
        inner.push_back(pitch);
    }
    return inner;
}

Error needs(const std::string& what, std::string_view sentence) {
    return Error{fmt::format("{} of {} {}", what, kWrittenLaunch, sentence)};
}

bool is_plain_name(const std::string& name) {
    return !name.empty() && name.front() != '.' && name.find_first_of("/\\") == std::string::npos &&
           one_line(name) == name;
}

// The document's reader: the first problem ends it.
class LaunchReader {
public:
    LaunchReader(const Json& json, const ReadBeside& read_beside) : json_(json), read_beside_(read_beside) {}

    Result<WrittenLaunch> head() {
        std::string problem;
        JsonFields fields(json_, problem);
        std::string schema;
        fields.text("schema", schema);
        if (!problem.empty() || schema != kWrittenSchema)
            return Error{fmt::format("{} says no schema '{}'; it is no launch that was written down",
                                     kWrittenLaunch, kWrittenSchema)};
        fields.text("kernel", made_.said.kernel);
        if (fields.has("number")) fields.number("number", made_.number);
        if (!problem.empty()) return bad("the launch", problem);
        return made_;
    }

    Result<WrittenLaunch> whole() {
        if (auto ok = head(); !ok) return ok;
        std::string problem;
        JsonFields fields(json_, problem);
        fields.text("ptx", made_.ptx);
        if (fields.has("source")) fields.text("source", made_.source);
        uint32_t shared = 0;
        if (fields.has("shared")) fields.number("shared", shared, kMostSharedBytes);
        const Json& arguments = fields.list("arguments");
        if (!problem.empty()) return bad("the launch", problem);
        made_.said.shared = shared;
        for (const std::string* name : {&made_.ptx, &made_.source})
            if ((name == &made_.ptx || !name->empty()) && !is_plain_name(*name))
                return needs("the launch", not_a_name(*name));
        for (auto [key, to] : {std::pair{"grid", &made_.said.grid}, {"block", &made_.said.block}})
            if (!size(fields.list(key), *to)) fields.fail(key);
        if (fields.has("cluster") && !size(fields.list("cluster"), made_.said.cluster))
            fields.fail("cluster");
        if (!problem.empty()) return bad("the launch", problem);
        if (arguments.size() > kMostArguments)
            return needs("the launch", "has more arguments than a kernel can");
        for (const Json& argument : arguments)
            if (auto ok = add(argument); !ok) return ok.error();
        if (auto ok = put_together(); !ok) return ok.error();
        made_.said.written = true;
        return std::move(made_);
    }

private:
    static Error bad(const std::string& what, const std::string& problem) {
        return Error{fmt::format("{} in {}: {}; the page on captured launches lists the fields", what,
                                 kWrittenLaunch, problem)};
    }
    static std::string not_a_name(const std::string& name) {
        return fmt::format("names the file '{}'; name one in the same folder, without a path",
                           one_line(name));
    }

    static bool size(const Json& list, std::optional<Dim3>& to) {
        if (!list.is_array() || list.empty() || list.size() > 3) return false;
        uint32_t extents[3] = {1, 1, 1};
        for (size_t i = 0; i < list.size(); ++i) {
            if (!list[i].is_number_unsigned()) return false;
            const auto extent = list[i].get<uint64_t>();
            if (extent == 0 || extent > INT32_MAX) return false;
            extents[i] = static_cast<uint32_t>(extent);
        }
        to = Dim3{extents[0], extents[1], extents[2]};
        return true;
    }

    Result<void> add(const Json& json) {
        std::string problem;
        JsonFields fields(json, problem);
        GivenArgument argument;
        const std::string number = fmt::format("argument {}", made_.said.arguments.size() + 1);
        if (fields.has("name")) fields.text("name", argument.name);
        if (!problem.empty()) return bad(number, problem);
        if (argument.name.size() > kLongestName || printable(argument.name) != argument.name)
            return needs(number, "has a name that cannot be shown; choose a shorter, plain one");
        for (const GivenArgument& other : made_.said.arguments)
            if (!argument.name.empty() && other.name == argument.name)
                return needs(number, fmt::format("is called '{}' as an earlier one is; choose another name",
                                                 argument.name));
        const std::string what = argument.name.empty() ? number : fmt::format("argument '{}'", argument.name);
        const int kinds =
            fields.has("null") + fields.has("value") + fields.has("bytes") + fields.has("dtype");
        if (kinds != 1) return needs(what, "must have one of 'dtype', 'value', 'bytes' and 'null'");
        if (fields.has("null")) {
            argument.kind = GivenKind::Null;
        } else if (fields.has("bytes")) {
            std::string hex;
            fields.text("bytes", hex);
            if (!problem.empty()) return bad(what, problem);
            auto object = parse_argument("bytes:" + hex);
            if (!object || object->kind != GivenKind::Object)
                return needs(what, "needs two hexadecimal digits in 'bytes' for each byte of the struct");
            argument.kind = GivenKind::Object;
            argument.object = std::move(object->object);
        } else if (fields.has("value")) {
            if (auto ok = add_number(json, what, argument); !ok) return ok;
        } else if (auto ok = add_tensor(json, what, argument); !ok) {
            return ok;
        }
        made_.said.arguments.push_back(std::move(argument));
        return {};
    }

    static Result<void> add_number(const Json& json, const std::string& what, GivenArgument& argument) {
        std::string problem, type;
        JsonFields fields(json, problem);
        fields.text("type", type);
        if (!problem.empty()) return bad(what, problem);
        const auto named = type_named(type);
        if (!named || named->count != 1)
            return needs(what,
                         fmt::format("has the type '{}'; choose one such as int32, int64, float32 or float64",
                                     one_line(type)));
        argument.type = named->type;
        const Json& value = json["value"];
        // Text is for what JSON has no number for.
        std::optional<GivenNumber> number;
        if (value.is_string()) number = parse_given_number(value.get_ref<const std::string&>());
        if (value.is_boolean()) number = GivenNumber{value.get<bool>() ? 1.0 : 0.0, value.get<bool>()};
        if (value.is_number_integer())
            number = GivenNumber{value.get<double>(), value.is_number_unsigned()
                                                          ? value.get<uint64_t>()
                                                          : static_cast<uint64_t>(value.get<int64_t>())};
        if (value.is_number_float()) number = GivenNumber{value.get<double>(), std::nullopt};
        if (!number) return needs(what, "has a 'value' that is no number");
        if (!is_float(argument.type) && !number->whole)
            return needs(what, fmt::format("has the type '{}' and a value that is not whole", type));
        argument.number = *number;
        return {};
    }

    Result<void> add_tensor(const Json& json, const std::string& what, GivenArgument& argument) {
        std::string problem, dtype;
        JsonFields fields(json, problem);
        Tensor tensor;
        tensor.argument = made_.said.arguments.size();
        fields.text("dtype", dtype);
        const Json& shape = fields.list("shape");
        if (fields.has("contents")) fields.text("contents", tensor.contents);
        if (fields.has("result")) fields.text("result", tensor.result);
        if (uint64_t offset = 0; fields.has("offset")) {
            fields.number("offset", offset, kMostOffset);
            tensor.offset = static_cast<int64_t>(offset);
        }
        if (uint64_t storage = 0; fields.has("storage")) {
            fields.number("storage", storage);
            tensor.storage = storage;
        }
        const bool strided = fields.has("strides");
        const Json& strides = strided ? fields.list("strides") : shape;
        if (!problem.empty()) return bad(what, problem);
        const auto named = type_named(dtype);
        if (!named)
            return needs(
                what,
                fmt::format("has the dtype '{}'; choose one such as float32, float16, bfloat16, int64 or "
                            "uint8",
                            one_line(dtype)));
        for (const std::string* name : {&tensor.contents, &tensor.result})
            if (!name->empty() && !is_plain_name(*name)) return needs(what, not_a_name(*name));
        tensor.type = named->type;
        if (strides.size() != shape.size())
            return needs(what, "has another number of strides than its shape has extents");
        constexpr size_t kMostDimensions = 64;
        if (shape.size() > kMostDimensions) return needs(what, "has more dimensions than 64");
        bool empty = false;
        for (size_t i = 0; i < shape.size(); ++i) {
            if (!shape[i].is_number_unsigned() || shape[i].get<uint64_t>() > kMostArrayElements)
                return needs(what, "has an extent in 'shape' that is no whole number up to 2^31");
            tensor.shape.push_back(shape[i].get<uint64_t>());
            empty = empty || tensor.shape.back() == 0;
            if (!strided) continue;
            if (!strides[i].is_number_integer() || strides[i].get<int64_t>() > kMostStride ||
                strides[i].get<int64_t>() < -kMostStride)
                return needs(what, "has a stride that is no whole number of elements");
            tensor.strides.push_back(strides[i].get<int64_t>() * named->count);
        }
        if (empty) {  // no memory
            argument.kind = GivenKind::Null;
            return {};
        }
        if (!strided) {
            tensor.strides.assign(tensor.shape.size(), 1);
            for (size_t i = tensor.shape.size(); i-- > 1;)
                tensor.strides[i - 1] =
                    std::min<int64_t>(kMostStride, tensor.strides[i] * static_cast<int64_t>(tensor.shape[i]));
            for (int64_t& stride : tensor.strides) stride *= named->count;
        }
        if (named->count > 1) {
            tensor.offset *= named->count;
            tensor.shape.push_back(named->count);
            tensor.strides.push_back(1);
        }
        int64_t before = 0, behind = 1;
        for (size_t i = 0; i < tensor.shape.size(); ++i) {
            const auto count = static_cast<int64_t>(tensor.shape[i]) - 1;
            const int64_t stride = tensor.strides[i];
            if (count > 0 && std::abs(stride) > static_cast<int64_t>(kMostArrayElements) / count)
                return needs(what, "spans more than 2^31 elements");
            (stride < 0 ? before : behind) += count * stride;
            if (behind - before > static_cast<int64_t>(kMostArrayElements))
                return needs(what, "spans more than 2^31 elements");
        }
        const int64_t size = size_of(tensor.type);
        tensor.begin = (tensor.offset + before) * size;
        tensor.end = (tensor.offset + behind) * size;
        if (tensor.begin < 0)
            return needs(what, "has strides below 0 that lead before its storage; give its 'offset'");
        argument.kind = GivenKind::Array;
        argument.type = tensor.type;
        tensors_.push_back(std::move(tensor));
        return {};
    }

    // Tensors of one storage whose bytes overlap become one array: that of the first of them among the arguments.
    Result<void> put_together() {
        std::vector<Tensor*> sorted;
        for (Tensor& tensor : tensors_) sorted.push_back(&tensor);
        const auto place = [](const Tensor* tensor) {
            return std::tuple(tensor->storage.has_value(), tensor->storage.value_or(tensor->argument),
                              tensor->begin);
        };
        std::ranges::sort(sorted, {}, place);
        for (size_t i = 0; i < sorted.size();) {
            std::vector<Tensor*> group{sorted[i]};
            int64_t end = sorted[i]->end;
            for (++i; i < sorted.size() && sorted[i]->storage && sorted[i]->storage == group[0]->storage &&
                      sorted[i]->begin < end;
                 ++i) {
                group.push_back(sorted[i]);
                end = std::max(end, sorted[i]->end);
            }
            if (auto ok = make_array(group, end); !ok) return ok;
        }
        return {};
    }

    Result<void> make_array(const std::vector<Tensor*>& group, int64_t end) {
        const Tensor& first = **std::ranges::min_element(group, {}, &Tensor::argument);
        GivenArgument& owner = made_.said.arguments[first.argument];
        const std::string what = fmt::format("argument '{}'", owner.name);
        const int64_t begin = group.front()->begin, size = size_of(first.type);
        const std::optional<Inner> inner = inner_of(first);
        const bool alike = inner && std::ranges::all_of(group, [&](const Tensor* other) {
                               return other->type == first.type && inner_of(*other) == inner;
                           });
        int64_t start = 0;
        owner.known_shape = alike && lay_out(begin, end, *inner, size, start, owner.extents);
        if (!owner.known_shape && !lay_out(begin, end, {}, size, start, owner.extents))
            return needs(what, "and what shares its storage span more than 2^31 elements");
        uint64_t bytes = static_cast<uint64_t>(size);
        for (const uint64_t extent : owner.extents) bytes *= extent;
        // What is given must be a good part of what is then allocated.
        constexpr uint64_t kFree = uint64_t{64} << 20, kTimes = 4;
        uint64_t given = 0;
        for (const Tensor* tensor : group)
            if (!tensor->contents.empty()) given += static_cast<uint64_t>(tensor->end - tensor->begin);
        if (given > 0 && bytes > kFree && bytes / kTimes > given)
            return needs(
                what,
                fmt::format("has contents for {} of {}; give those of all that share its storage, or none",
                            bytes_text(given), bytes_text(bytes)));
        std::shared_ptr<std::vector<std::byte>> contents;
        for (const Tensor* tensor : group) {
            GivenArgument& argument = made_.said.arguments[tensor->argument];
            argument.offset = static_cast<uint64_t>(tensor->data() - start);
            if (tensor != &first) argument.shares = static_cast<int32_t>(first.argument);
            const auto at = static_cast<ptrdiff_t>(tensor->begin - start);
            if (!tensor->contents.empty()) {
                const auto read = bytes_of(*tensor, tensor->contents);
                if (!read) return read.error();
                if (!contents) contents = std::make_shared<std::vector<std::byte>>(bytes);
                std::ranges::copy(*read, contents->begin() + at);
            }
            if (tensor->result.empty()) continue;
            auto read = bytes_of(*tensor, tensor->result);
            if (!read) return read.error();
            made_.results.push_back({first.argument, static_cast<uint64_t>(at), std::move(*read)});
        }
        if (contents) owner.contents = {GivenFill::Stored, {}, std::move(contents)};
        return {};
    }

    // Where the array begins, and its extents. False where these are too many elements.
    static bool lay_out(int64_t begin, int64_t end, const Inner& inner, int64_t size, int64_t& start,
                        std::vector<uint64_t>& extents) {
        int64_t unit = size;  // bytes of what the outermost extent counts
        for (const uint64_t extent : inner) unit *= static_cast<int64_t>(extent);
        const int64_t whole = std::lcm(static_cast<int64_t>(kAlignment), unit);
        start = begin % static_cast<int64_t>(kAlignment) == 0 ? begin : begin - begin % whole;
        const int64_t outer = (end - start + unit - 1) / unit;
        extents = inner;
        extents.insert(extents.begin(), static_cast<uint64_t>(outer));
        return outer * unit / size <= static_cast<int64_t>(kMostArrayElements);
    }

    Result<std::vector<std::byte>> bytes_of(const Tensor& tensor, const std::string& file) const {
        const auto most = static_cast<uint64_t>(tensor.end - tensor.begin);
        const auto text = read_beside_(file, most);
        if (!text) return text.error();
        if (text->size() != most)
            return Error{fmt::format(
                "'{}' has {}, and argument '{}' spans {}; write its memory from the first to the last "
                "element",
                file, bytes_text(text->size()), made_.said.arguments[tensor.argument].name,
                bytes_text(most))};
        const auto* const data = reinterpret_cast<const std::byte*>(text->data());
        return std::vector<std::byte>(data, data + text->size());
    }

    const Json& json_;
    const ReadBeside& read_beside_;
    WrittenLaunch made_;
    std::vector<Tensor> tensors_;
};

Result<Json> parsed(std::string_view text) {
    if (text.size() > kMostWrittenText)
        return Error{fmt::format("{} is larger than the {} that are read", kWrittenLaunch,
                                 bytes_text(kMostWrittenText))};
    Json json = Json::parse(text, nullptr, false);
    if (json.is_object()) return json;
    return Error{fmt::format("{} is no JSON object; it cannot be read", kWrittenLaunch)};
}

// The magnitude in whose last place errors are counted, and the largest of an array.
double ulp_of(ElementType type, double magnitude) {
    const int fraction = type == ElementType::F64    ? 52
                         : type == ElementType::F32  ? 23
                         : type == ElementType::F16  ? 10
                         : type == ElementType::BF16 ? 7
                         : type == ElementType::E4M3 ? 3
                                                     : 2;
    return std::ldexp(magnitude, -fraction);
}

trace::Verification compare(const Array& array, const std::byte* has, const WrittenResult& result) {
    const uint32_t size = array.element_bytes();
    const uint64_t first = (result.offset + size - 1) / size;
    const uint64_t count = (result.offset + result.bytes.size()) / size - first;
    const std::byte* const wanted = result.bytes.data() + (first * size - result.offset);
    has += first * size;
    double largest = 0;
    if (is_float(array.type))
        for (uint64_t i = 0; i < count; ++i) {
            const double magnitude = std::fabs(number_of(value_at(array.type, wanted + i * size)));
            if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
        }
    trace::Verification made;
    made.checked = true;
    for (uint64_t i = 0; i < count; ++i) {
        if (std::memcmp(has + i * size, wanted + i * size, size) == 0) continue;
        bool right = false;
        if (is_float(array.type)) {
            const Value is = value_at(array.type, has + i * size),
                        be = value_at(array.type, wanted + i * size);
            const double error = std::fabs(number_of(is) - number_of(be));
            right = (is_nan(is) && is_nan(be)) || error <= kUlps * ulp_of(array.type, largest);
            if (std::isfinite(error)) made.max_abs_error = std::max(made.max_abs_error, error);
        }
        if (right) continue;
        const auto element = static_cast<int64_t>(first + i);
        if (made.wrong++ == 0) made.first_wrong = element;
        if (made.wrong_elements.size() < trace::kMostWrongElements)
            made.wrong_elements.push_back(static_cast<uint64_t>(element));
    }
    made.verified = made.wrong == 0;
    return made;
}

}  // namespace

std::string_view capture_recipe() { return embedded_recipe("assets/capture_launch.py"); }

std::string_view capture_site() { return embedded_recipe("assets/capture_site.py"); }

Result<WrittenLaunch> parse_written(std::string_view json, const ReadBeside& read_beside) {
    const auto document = parsed(json);
    return document ? LaunchReader(*document, read_beside).whole() : Result<WrittenLaunch>(document.error());
}

Result<WrittenLaunch> parse_written_head(std::string_view json) {
    const auto document = parsed(json);
    return document ? LaunchReader(*document, {}).head() : Result<WrittenLaunch>(document.error());
}

Description described_by_metadata(std::string_view json) {
    Description said;
    const auto document = parsed(json);
    if (!document) return said;
    std::string problem;
    JsonFields fields(*document, problem);
    uint32_t warps = 0, shared = 0;
    constexpr uint32_t kMostWarps = 32;
    fields.number("num_warps", warps, kMostWarps);
    fields.number("shared", shared, kMostSharedBytes);
    if (!problem.empty() || warps == 0) return said;
    said.block = Dim3{warps * kWarpSize, 1, 1};
    said.shared = shared;
    return said;
}

Check check_of(const WrittenLaunch& written) {
    if (written.results.empty()) return {};
    const auto results = std::make_shared<const std::vector<WrittenResult>>(written.results);
    return [results](const trace::Trace& trace, const simt::GlobalMemory& memory, unsigned,
                     const std::atomic<bool>*) {
        trace::Verification all;
        const Launch& launch = trace.launch;
        if (!trace.meta.complete || trace.blocks.size() != launch.grid.count()) return all;
        for (const WrittenResult& result : *results) {
            if (result.argument >= launch.arguments.size() || launch.arguments[result.argument].array < 0)
                continue;
            const auto index = static_cast<size_t>(launch.arguments[result.argument].array);
            const Array& array = launch.arrays[index];
            if (!array.writes()) continue;  // what an array that is only read holds afterwards says nothing
            const auto& bytes = memory.buffers[buffer_of(launch.arrays, index)].bytes;
            if (result.offset + result.bytes.size() > bytes.size()) continue;
            trace::Verification one = compare(array, bytes.data(), result);
            one.array = static_cast<uint8_t>(index);
            if (!all.checked || all.verified) std::swap(all, one);
        }
        return all;
    };
}

}  // namespace tilescope::kernels
