// A recording as one JSON object, schema tilescope.trace/1, written as it goes:
//
//   { "schema": "tilescope.trace/1",
//     "tool_version", "kernel", "backend": "cpu" or "gpu", "device", "driver",
//     "time": "SM clocks since the block's first step" or "none: the order of the steps",
//     "clock_mhz"           GPU recordings that state it
//     "launch": {"m","k","n","tile","grid":[x,y,z],"block":[x,y,z]}      of a product; of any other launch
//               {"entry","grid","block","dynamic_shared","arguments":
//               [{"name","type","value" or "array","offset"}]},
//     "seed"                where arrays were filled from one
//     "complete", "incomplete_reason"     as in tilescope.report/1
//     "arrays": [{"name","space","rows","cols","element_bytes","base"}],
//               and "type" where it is not "f32", "slices" of three extents, "rank": 1 of one
//     "sites":  [{"id","kind","space","bytes","line","column","ptx_line"}],
//     "blocks": [{"index","x","y","z","first_step","steps","dropped","sm","clock"}],
//     "steps":  [{"step","block","clock","warp","site","array","mask","address","element","phase",
//                 "sectors","least_sectors" or "wavefronts","least_wavefronts"}] }
//
// "step" counts from 1; "block" is the index in "blocks", "site" and "array" those in theirs (no "array"
// where the request lies in none). "address" and "element" ([row, col], or as many indices as the array has
// extents) are the first active lane's; a barrier has neither. "phase" is a number from 0, null behind the
// loop. "mask" is a number, lane 0 its lowest bit.
// An array of structs has "struct", and requests of it "member", "[1].x", the first active lane's; with lanes
// "members" of all.
// An exchange among the lanes of a warp has neither; its site says "exchange", "shuffle_down", and the step "from",
// with 32 entries: the lane that each one reads, or the lowest of those that are together, null for lanes
// that are not active; "outside", of a shuffle, is the mask of those that keep their own value; "yes", of a
// vote in place of "from", that of those that vote for.
// With lanes, "addresses" and "elements" hold 32 entries each, null for lanes that are not active (and for
// addresses that are not those of an element), in place of "address" and "element".
//
// A change that would break readers gets another number in "schema"; readers skip keys that they do not know.
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/base/words.h"
#include "core/export/report.h"
#include "core/export/requests.h"

namespace tilescope::report {
namespace {

using Json = nlohmann::ordered_json;

Json struct_json(const Members& members) {
    Json json = object_of("name", members.name, "bytes", members.bytes);
    json["members"] = Json::array();
    for (const Member& member : members.members)
        json["members"].push_back(
            object_of("offset", member.offset, "type", name_of(member.type), "name", member.name));
    return json;
}

Json head_of(const analysis::Recording& recording) {
    const trace::Trace& trace = *recording.trace;
    const trace::Meta& meta = trace.meta;
    Json json = object_of(
        "schema", "tilescope.trace/1", "tool_version", meta.tool_version, "kernel", meta.kernel, "backend",
        meta.backend == trace::Backend::Cpu ? "cpu" : "gpu", "device", meta.device, "driver", meta.driver,
        "time", timed(trace) ? "SM clocks since the block's first step" : "none: the order of the steps");
    if (timed(trace) && meta.price.clock_mhz > 0) json["clock_mhz"] = meta.price.clock_mhz;
    json["launch"] = launch_to_json(recording);
    for (const Array& array : trace.launch.arrays) {
        if (array.contents.kind != Contents::Kind::SmallIntegers) continue;
        json["seed"] = array.contents.seed;
        break;
    }
    json["complete"] = whole(trace);
    if (!whole(trace)) json["incomplete_reason"] = why_not_whole(trace);
    json["arrays"] = Json::array();
    for (const Array& a : trace.launch.arrays) {
        Json array = {{"name", a.name}, {"space", name_of(a.space)},          {"rows", a.rows},
                      {"cols", a.cols}, {"element_bytes", a.element_bytes()}, {"base", a.base}};
        if (a.type != ElementType::F32) array["type"] = name_of(a.type);
        if (a.rank > 2) array["slices"] = a.slices;
        if (a.rank < 2) array["rank"] = a.rank;
        if (has_structs(a)) array["struct"] = struct_json(*a.members.of);
        json["arrays"].push_back(std::move(array));
    }
    json["sites"] = Json::array();
    for (const ptx::Site& s : trace.sites) {
        json["sites"].push_back(object_of("id", s.id, "kind", name_of(s.kind), "space", name_of(s.space),
                                          "bytes", s.bytes, "line", s.line, "column", s.column, "ptx_line",
                                          s.ptx_line));
        if (s.past_registers()) json["sites"].back()["copy"] = true;
        if (s.kind == ptx::SiteKind::Exchange) json["sites"].back()["exchange"] = name_of(s.exchange);
        if (s.signal != ptx::Signal::None) json["sites"].back()["signal"] = name_of(s.signal);
        if (s.box != ptx::Box::None) json["sites"].back()["box"] = name_of(s.box);
    }
    return json;
}

void write_blocks(Pieces& out, const trace::Trace& trace) {
    out.add_text(",\n\"blocks\":[");
    for (size_t i = 0; i < trace.blocks.size(); ++i) {
        const trace::Block& b = trace.blocks[i];
        Json json = object_of("index", i, "x", b.x, "y", b.y, "z", b.z, "first_step", b.first + 1, "steps",
                              b.count, "dropped", b.dropped);
        if (timed(trace)) json["sm"] = b.sm, json["clock"] = b.clock;
        out.add("{}\n{}", i == 0 ? "" : ",", json_text(json));
        if (!out.good()) return;
    }
    out.add_text("]");
}

void write_element(Pieces& out, const trace::Trace& trace, uint8_t array, uint64_t offset) {
    const auto element = element_at(trace, array, offset);
    out.add_text(element ? position_text(trace.launch.arrays[array], static_cast<int64_t>(*element))
                         : "null");
}

// "[1].x"
void write_member(Pieces& out, const trace::Trace& trace, uint8_t array, uint64_t offset) {
    const auto element = element_at(trace, array, offset);
    out.add_text(element
                     ? json_text(Json(index_text(trace.launch.arrays[array], static_cast<int64_t>(*element))))
                     : "null");
}

void write_lanes(Pieces& out, const trace::Trace& trace, const StepRow& row) {
    const trace::Access access = trace::decode(trace, row.step);
    const Array* array = trace.array_of(*row.form);
    const uint64_t base = array ? array->base : 0;
    const auto list = [&](const char* key, auto&& one) {
        out.add(",\"{}\":[", key);
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
            if (lane > 0) out.add_text(",");
            if (access.mask >> lane & 1)
                one(access.offset[lane]);
            else
                out.add_text("null");
        }
        out.add_text("]");
    };
    list("addresses", [&](uint64_t offset) { out.add("{}", base + offset); });
    list("elements", [&](uint64_t offset) { write_element(out, trace, access.array, offset); });
    if (array && has_structs(*array))
        list("members", [&](uint64_t offset) { write_member(out, trace, access.array, offset); });
}

void write_exchange(Pieces& out, const trace::Trace& trace, const StepRow& row) {
    const trace::Access access = trace::decode(trace, row.step);
    if (ptx::is_vote(row.site->exchange)) return out.add(",\"yes\":{}", trace::votes_for(access));
    uint32_t outside = 0;
    out.add_text(",\"from\":[");
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        if (lane > 0) out.add_text(",");
        if ((access.mask >> lane & 1) == 0) {
            out.add_text("null");
            continue;
        }
        const uint64_t from = access.offset[lane];
        if (from >= ptx::kOutside) outside |= 1u << lane;
        out.add("{}", from % kWarpSize);
    }
    out.add_text("]");
    if (ptx::is_shuffle(row.site->exchange)) out.add(",\"outside\":{}", outside);
}

// By active lane, the lowest first: what its site's signal or box says of them (core/ptx/signal.h).
void write_words(Pieces& out, const trace::Trace& trace, const StepRow& row) {
    bool first = true;
    out.add_text(",\"words\":[");
    for_lanes(row.form->mask, [&](uint32_t lane) {
        const auto words = trace::words_of(trace, row.step, lane);
        for (uint32_t i = 0; i < row.site->words; ++i)
            out.add("{}{}", i > 0 ? "," : first ? "[" : ",[", words[i]);
        out.add_text("]");
        first = false;
    });
    out.add_text("]");
    if (row.site->signal != ptx::Signal::None) out.add(",\"barrier\":{}", first_address(trace, row));
}

void write_step(Pieces& out, const trace::Trace& trace, const StepRow& row, bool lanes) {
    out.add("{{\"step\":{},\"block\":{}", row.step + 1, row.block);
    if (timed(trace)) out.add(",\"clock\":{}", trace.time[row.step]);
    out.add(",\"warp\":{},\"site\":{},\"mask\":{}", trace.warp_of(row.step), row.form->site, row.form->mask);
    if (row.phase == analysis::kAfter)
        out.add_text(",\"phase\":null");
    else
        out.add(",\"phase\":{}", row.phase);
    if (row.exchange()) write_exchange(out, trace, row);
    if (row.site->words != 0) write_words(out, trace, row);
    if (row.memory()) {
        if (trace.array_of(*row.form)) out.add(",\"array\":{}", row.form->array);
        if (lanes) {
            write_lanes(out, trace, row);
        } else {
            out.add(",\"address\":{},\"element\":", first_address(trace, row));
            write_element(out, trace, row.form->array, first_offset(trace, row));
        }
        add_costs(out, trace, *row.form, *row.cost);
        const Array* const array = trace.array_of(*row.form);
        if (!lanes && array && has_structs(*array)) {
            out.add_text(",\"member\":");
            write_member(out, trace, row.form->array, first_offset(trace, row));
        }
    }
    out.add_text("}");
}

}  // namespace

bool write_trace_json(const analysis::Recording& recording, const Selected& selected, bool lanes,
                      const Take& take, ExportProgress progress) {
    const trace::Trace& trace = *recording.trace;
    Pieces out(take);
    std::string head = json_text(head_of(recording));
    head.pop_back();  // its closing brace: more keys follow
    out.add_text(head);
    write_blocks(out, trace);
    out.add_text(",\n\"steps\":[");
    bool first = true;
    const bool all = each_step(recording, selected, progress, [&](const StepRow& row) {
        out.add_text(first ? "\n" : ",\n");
        first = false;
        write_step(out, trace, row, lanes);
        return out.good();
    });
    if (!all) return false;
    out.add_text("]}\n");
    return out.flush();
}

}  // namespace tilescope::report
