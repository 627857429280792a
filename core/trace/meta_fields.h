// The fields of the section Meta, each in one row: its key, its member, and what it may hold. Whatever passes
// over them goes by these rows: what writes them and what reads them (meta_json.cpp), and what holds text to
// the lengths that are allowed (claims.cpp).
//
//   f(key, member, limit)   the member's type says how it stands in the file. limit: of an enum its last value; of
//                           a number its highest one (that of its type); of text its claim (NameBytes); of a
//                           real number what stands for infinity and NaN, which JSON does not have
//   f.has(key, told)        whether the field is there: in the file that is read; in one that is written, `told`:
//                           a field that holds its usual value is left out
//   f.put(member, value)    what follows from a field's being there
//
// How to add one: CONTRIBUTING.md, "Add a field to the file format".
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>

#include "core/ptx/tensor_map.h"
#include "core/trace/claims.h"
#include "core/trace/trace.h"

namespace tilescope::trace {

// A T that is read, or a const T that is written.
template <class Value, class T>
concept Some = std::same_as<std::remove_const_t<Value>, T>;

template <class F>
void fields_of(F& f, Some<BlockWindow> auto& window) {
    f("x0", window.x0);
    f("x1", window.x1);
    f("y0", window.y0);
    f("y1", window.y1);
}

template <class F>
void fields_of(F& f, Some<Schedule> auto& schedule) {
    f("kind", schedule.kind, Schedule::Kind::Recorded);
    f("seed", schedule.seed);
}

template <class F>
void fields_of(F& f, Some<Verification> auto& result) {
    f("checked", result.checked);
    f("verified", result.verified);
    f("array", result.array);
    f("max_abs_error", result.max_abs_error, std::numeric_limits<double>::max());
    f("wrong", result.wrong);
    f("first_wrong", result.first_wrong, std::numeric_limits<int64_t>::max());
    if (f.has("wrong_elements", !result.wrong_elements.empty()))
        f("wrong_elements", result.wrong_elements, kMostWrongElements);
}

template <class F>
void fields_of(F& f, Some<BarrierFault> auto& fault) {
    f.put(fault.is, true);
    f("x", fault.x);
    f("y", fault.y);
    f("z", fault.z);
    f("thread", fault.thread);
    f("line", fault.line);
}

template <class F>
void fields_of(F& f, Some<Finding> auto& finding) {
    f("kind", finding.kind, Finding::Kind::SharedBytes);
    f("remark", finding.remark);
    f("array", finding.array);
    f("line", finding.line);
    f("other_line", finding.other_line);
    f("blocks", finding.blocks);
    f("count", finding.count);
    f("sentence", finding.sentence, Claim::ReasonBytes);
}

template <class F>
void fields_of(F& f, Some<Price> auto& price) {
    f("plain_ms", price.plain_ms, 0.0);
    f("recorded_ms", price.recorded_ms, 0.0);
    f("launches", price.launches);
    f("device_bytes", price.device_bytes);
    f("clock_mhz", price.clock_mhz, 0.0);
}
inline bool is_priced(const Price& p) {
    return p.plain_ms > 0 || p.recorded_ms > 0 || p.launches > 0 || p.device_bytes > 0 || p.clock_mhz > 0;
}

template <class F>
void fields_of(F& f, Some<Meta> auto& meta) {
    f("tool_version", meta.tool_version);
    f("kernel", meta.kernel);
    f("source_name", meta.source_name);
    f("ptx_name", meta.ptx_name);
    f("backend", meta.backend, Backend::Gpu);
    f("device", meta.device);
    f("driver", meta.driver);
    f("recorded_at", meta.recorded_at);
    f("window", meta.window);
    f("schedule", meta.schedule);
    f("complete", meta.complete);
    f("incomplete_reason", meta.incomplete_reason, Claim::ReasonBytes);
    f("result", meta.result);
    if (f.has("barrier_fault", meta.barrier_fault.is)) f("barrier_fault", meta.barrier_fault);
    if (f.has("price", is_priced(meta.price))) f("price", meta.price);
    if (f.has("findings", !meta.findings.empty())) f("findings", meta.findings);
}

template <class F>
void fields_of(F& f, Some<Argument> auto& argument) {
    f("name", argument.name);
    f("type", argument.type);
    if (!f.has("array", argument.array >= 0)) {
        f("value", argument.value);
    } else {
        f("array", argument.array, kNoArray);
        if (f.has("offset", argument.offset != 0)) f("offset", argument.offset);
    }
    if (f.has("object", !argument.object.empty()))  // of one that points to no array
        f("object", argument.object, argument.array < 0 ? int64_t{kMostParameterBytes} : -1);
}

template <class F>
void fields_of(F& f, Some<Array> auto& array) {
    f("name", array.name);
    f("space", array.space, Space::Const);
    f("role", array.role, ArrayRole::Shared);
    f("type", array.type);
    f("rows", array.rows);
    f("cols", array.cols);
    f("base", array.base);
    if (f.has("rank", array.rank != 2)) f("rank", array.rank, 3);
    if (f.has("slices", array.slices != 1)) f("slices", array.slices);
    if (f.has("extents", array.extents != ExtentSource::Known))
        f("extents", array.extents, ExtentSource::Flat);
    if (f.has("symbol", !array.symbol.empty())) f("symbol", array.symbol);
    auto& contents = array.contents;
    bool stored = contents.kind == Contents::Kind::Stored;
    if (f.has("stored", stored)) f("stored", stored);
    if (stored) f.put(contents.kind, Contents::Kind::Stored);
    if (!stored && f.has("seed", contents.kind == Contents::Kind::SmallIntegers)) {
        f.put(contents.kind, Contents::Kind::SmallIntegers);
        f("seed", contents.seed);
        f("stream", contents.stream);
    }
}

template <class F>
void fields_of(F& f, Some<PlacedMap> auto& map) {
    f("address", map.address);
    f("in_parameters", map.in_parameters);
    f("bytes", map.bytes, int64_t{ptx::kTensorMapBytes});
}

template <class F>
void fields_of(F& f, Some<Launch> auto& launch) {
    f("entry", launch.entry);
    f("grid", launch.grid);
    f("block", launch.block);
    if (f.has("cluster", launch.cluster.count() > 1)) f("cluster", launch.cluster);
    if (f.has("dynamic_shared", launch.dynamic_shared > 0)) f("dynamic_shared", launch.dynamic_shared);
    f("arguments", launch.arguments);
    f("arrays", launch.arrays);
    if (f.has("maps", !launch.maps.empty())) f("maps", launch.maps);
}

template <class F>
void fields_of(F& f, Some<ptx::Site> auto& site) {
    f("instruction", site.instruction);
    f("kind", site.kind, ptx::SiteKind::Signal);
    f("space", site.space, Space::Const);
    if (f.has("exchange", site.kind == ptx::SiteKind::Exchange))
        f("exchange", site.exchange, ptx::Exchange::Multiply);
    if (f.has("atomic", site.atomic != ptx::Atomic::None)) f("atomic", site.atomic, ptx::Atomic::Cas);
    if (f.has("copy", site.copy)) f("copy", site.copy);
    if (f.has("signal", site.signal != ptx::Signal::None)) f("signal", site.signal, ptx::Signal::Wait);
    if (f.has("box", site.box != ptx::Box::None)) f("box", site.box, ptx::Box::Tile);
    if (f.has("words", site.words != 0)) f("words", site.words, uint64_t{ptx::kMostStepWords});
    if (f.has("matrices", site.matrices != 0)) f("matrices", site.matrices, 4);
    if (f.has("transposed", site.transposed)) f("transposed", site.transposed);
    f("bytes", site.bytes, ptx::kMostOfLane);
    f("line", site.line);
    f("column", site.column);
    f("ptx_line", site.ptx_line);
}

template <class F>
void fields_of(F& f, Some<Trace> auto& trace) {
    fields_of(f, trace.meta);
    f("launch", trace.launch);
    f("sites", trace.sites);
}

}  // namespace tilescope::trace
