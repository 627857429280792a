#include "app/lessons/model.h"

#include <algorithm>
#include <bit>
#include <cctype>

#include <fmt/format.h>

#include "app/look/request.h"
#include "app/look/sums.h"
#include "core/base/json_fields.h"

namespace tilescope::lessons {

std::vector<std::pair<std::string_view, std::string_view>> embedded_lessons();  // made by cmake/embed.cmake

namespace {

using Json = JsonFields::Json;

LessonStop read_stop(const Json& json, const std::vector<LessonStop>& before, std::string& problem) {
    LessonStop stop;
    JsonFields fields(json, problem);
    if (json.contains("recording")) {
        fields.text("recording", stop.recording);
    } else if (json.contains("kernel")) {
        fields.text("kernel", stop.kernel);
        fields.number("m", stop.shape.m);
        fields.number("k", stop.shape.k);
        fields.number("n", stop.shape.n);
        fields.number("tile", stop.shape.tile);
    } else if (!before.empty()) {
        stop.kernel = before.back().kernel;
        stop.shape = before.back().shape;
        stop.recording = before.back().recording;
    } else {
        fields.fail("kernel");
    }
    if (json.contains("block")) {
        const Json& block = fields.inner("block", Json::value_t::array);
        if (block.size() == 2 && block[0].is_number_unsigned() && block[1].is_number_unsigned()) {
            stop.block_x = block[0].get<uint32_t>();
            stop.block_y = block[1].get<uint32_t>();
        } else {
            fields.fail("block");
        }
    }
    if (json.contains("kind")) {
        std::string kind;
        fields.text("kind", kind);
        const auto at = std::ranges::find(kKinds, kind);
        if (at == std::end(kKinds))
            fields.fail("kind");
        else
            stop.kind = static_cast<StepKind>(at - kKinds);
    }
    if (json.contains("array")) fields.text("array", stop.array);
    if (json.contains("phase")) fields.number("phase", stop.phase.emplace());
    if (json.contains("warp")) fields.number("warp", stop.warp.emplace());
    if (json.contains("nth")) fields.number("nth", stop.nth);
    if (json.contains("costly")) fields.flag("costly", stop.costly);
    if (json.contains("partial")) fields.flag("partial", stop.partial);
    if (json.contains("screen")) fields.text("screen", stop.screen);
    fields.text("say", stop.say);
    return stop;
}

bool fits(const trace::Trace& trace, const BlockIndex& index, const LessonStop& stop, uint32_t step) {
    const uint64_t at = index.first + step;
    const StepKind kind = look::kind_of(trace, at);
    if (stop.kind && *stop.kind != kind) return false;
    if (stop.phase && index.phase_at(step) != *stop.phase) return false;
    if (stop.warp && trace.warp_of(at) != *stop.warp) return false;
    if (stop.array.empty() && !stop.costly && !stop.partial) return true;
    if (kind == StepKind::Barrier) return false;
    const draw::RequestView request = look::request_view(trace, index, step);
    const bool named = request.array != trace::kNoArray;
    if (!stop.array.empty() && (!named || trace.launch.arrays[request.array].name != stop.array))
        return false;
    return (!stop.costly || !request.good) && (!stop.partial || request.mask != 0xFFFF'FFFFu);
}

std::optional<std::string> figure(const trace::Trace& trace, const analysis::Summary& sums,
                                  const BlockIndex& index, uint32_t step, std::string_view name) {
    if (name == "result") return look::result_text(trace, index.notation);
    const kernels::Shape shape =
        index.product ? kernels::shape_of(*index.product) : kernels::Shape{0, 0, 0, 0};
    uint64_t elements = 0, loads = 0, most_loads = 0;  // of the inputs, whose elements the reuse is of
    for (const analysis::Reuse& reuse : sums.reuse) {
        elements += reuse.elements;
        loads += reuse.loads;
        most_loads = std::max(most_loads, reuse.max);
    }
    std::vector<std::pair<std::string_view, uint64_t>> known = {
        {"m", shape.m},
        {"k", shape.k},
        {"n", shape.n},
        {"tile", shape.tile},
        {"threads", trace.launch.block.count()},
        {"blocks", trace.blocks.size()},
        {"warps", index.warps},
        {"phases", index.phases.phases},
        {"barriers", index.phases.barriers},
        {"elements", elements},
        {"loads", loads},
        {"most_loads", most_loads},
        {"load_requests", sums.global_load.requests},
        {"load_sectors", sums.global_load.sectors},
        {"least_load_sectors", sums.global_load.ideal_sectors},
        {"shared_reads", sums.shared_load.lanes},
        {"read_wavefronts", sums.shared_load.wavefronts},
        {"least_read_wavefronts", sums.shared_load.ideal_wavefronts},
        {"wrong", trace.meta.result.wrong},
        {"step", uint64_t{step} + 1}};
    if (step < index.steps) {
        const draw::RequestView request = look::request_view(trace, index, step);
        const auto lanes = static_cast<uint64_t>(std::popcount(request.mask));
        known.insert(known.end(),
                     {{"warp", request.warp},
                      {"lanes", lanes},
                      {"idle", 32 - lanes},
                      {"sectors", request.cost.global.sectors},
                      {"least_sectors", request.cost.global.ideal_sectors},
                      {"wavefronts", request.cost.shared.wavefronts},
                      {"least_wavefronts", request.cost.shared.ideal_wavefronts},
                      {"line", request.line},
                      {"phase", uint64_t{index.phase_at(step)} + (index.notation.phases_from_1 ? 1 : 0)}});
    }
    const auto found = std::ranges::find(known, name, &std::pair<std::string_view, uint64_t>::first);
    if (found == known.end()) return std::nullopt;
    return grouped(found->second);
}

}  // namespace

Result<Lesson> lesson_from_json(std::string_view text, std::string_view name) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return Error{fmt::format("The lesson '{}' is not JSON.", name)};
    Lesson lesson;
    std::string problem;
    JsonFields fields(json, problem);
    fields.text("name", lesson.name);
    if (json.contains("order")) fields.number("order", lesson.order);
    fields.text("title", lesson.title);
    fields.text("teaches", lesson.teaches);
    for (const Json& stop : fields.inner("stops", Json::value_t::array)) {
        if (!stop.is_object()) fields.fail("stops");
        lesson.stops.push_back(read_stop(stop, lesson.stops, problem));
    }
    if (lesson.stops.empty()) fields.fail("stops");
    if (!problem.empty()) return Error{fmt::format("The lesson '{}' cannot be used: {}.", name, problem)};
    return lesson;
}

const std::vector<Lesson>& lesson_list() {
    static const std::vector<Lesson> all = [] {
        std::vector<Lesson> read;
        for (const auto& [path, text] : embedded_lessons())
            if (auto lesson = lesson_from_json(text, path)) read.push_back(std::move(*lesson));
        std::ranges::stable_sort(read, {}, &Lesson::order);
        return read;
    }();
    return all;
}

std::optional<uint32_t> find_step(const trace::Trace& trace, const BlockIndex& index,
                                  const LessonStop& stop) {
    uint32_t before = 0;
    for (uint32_t step = 0; step < index.steps; ++step)
        if (fits(trace, index, stop, step) && before++ == stop.nth) return step;
    return std::nullopt;
}

std::string renamed(std::string_view text, const Notation& notation) {
    const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    std::string out;
    while (!text.empty()) {
        const auto end = static_cast<size_t>(std::ranges::find_if_not(text, in_word) - text.begin());
        const std::string_view word = text.substr(0, std::max<size_t>(end, 1));
        const auto other =
            std::ranges::find(notation.renamed, word, &std::pair<std::string, std::string>::first);
        out += other == notation.renamed.end() ? word : other->second;
        text.remove_prefix(word.size());
    }
    return out;
}

std::string said(const trace::Trace& trace, const analysis::Summary& sums, const BlockIndex& index,
                 uint32_t step, const std::string& say) {
    std::string out;
    for (size_t at = 0; at < say.size();) {
        const size_t open = say.find('{', at), close = say.find('}', open);
        if (open == std::string::npos || close == std::string::npos)
            return out + renamed(say.substr(at), index.notation);
        out += renamed(say.substr(at, open - at), index.notation);
        const std::string name = say.substr(open + 1, close - open - 1);
        out += figure(trace, sums, index, step, name).value_or("{" + name + "}");
        at = close + 1;
    }
    return out;
}

}  // namespace tilescope::lessons
