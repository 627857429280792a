// A trace as the bytes of its file; format.h describes them.
#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/core.h>
#include <zstd.h>

#include "core/base/file.h"
#include "core/trace/access.h"
#include "core/trace/file.h"
#include "core/trace/format.h"

namespace tilescope::trace {

namespace {

// Small sections are worth the time that the highest level takes.
constexpr int kLevel = 3, kSmallLevel = 19;
constexpr size_t kSmall = 256 * 1024;

template <class T>
void put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string_view bytes_of_column(const uint32_t* values, size_t count) {
    return {reinterpret_cast<const char*>(values), count * sizeof(uint32_t)};
}

struct SectionWriter {
    std::vector<Section> table;
    std::string stored;

    void add(SectionKind kind, std::string_view raw) {
        const size_t begin = stored.size();
        stored.resize(begin + ZSTD_compressBound(raw.size()));
        const size_t packed =
            ZSTD_compress(stored.data() + begin, stored.size() - begin, raw.data(), raw.size(),
                          kind <= SectionKind::Ptx && raw.size() <= kSmall ? kSmallLevel : kLevel);
        const bool pays = !ZSTD_isError(packed) && packed < raw.size();
        stored.resize(begin + (pays ? packed : 0));
        if (!pays) stored.append(raw);
        const uint32_t crc = crc32c(std::string_view(stored).substr(begin));
        table.push_back(
            {kind, pays ? Encoding::Zstd : Encoding::Raw, stored.size() - begin, raw.size(), crc, begin});
    }
};

struct NumbersWriter {
    std::string out;
    template <class T>
    void operator()(T value) {
        put(out, value);
    }
    template <class T, class Stored>
    void as(T value, Stored) {
        put(out, static_cast<Stored>(value));
    }
};

// One column, chunk by chunk, each made small in a copy.
template <class Transform>
void add_column(SectionWriter& writer, SectionKind kind, const Column& column, Transform transform) {
    std::vector<uint32_t> chunk;
    for (uint64_t first = 0; first < column.size(); first += kChunkSteps) {
        const uint64_t count = std::min<uint64_t>(kChunkSteps, column.size() - first);
        chunk.assign(column.begin() + static_cast<ptrdiff_t>(first),
                     column.begin() + static_cast<ptrdiff_t>(first + count));
        transform(first, chunk.data(), count);
        writer.add(kind, bytes_of_column(chunk.data(), count));
    }
}

}  // namespace

std::string serialize(const Trace& trace) {
    SectionWriter writer;
    writer.add(SectionKind::Meta, meta_to_json(trace));
    writer.add(SectionKind::Source, trace.meta.source);
    writer.add(SectionKind::Ptx, trace.meta.ptx);
    NumbersWriter forms, blocks;
    for (const Form& form : trace.forms) numbers_of_form(forms, form);
    for (const Block& block : trace.blocks) numbers_of_block(blocks, block);
    writer.add(SectionKind::Forms, forms.out);
    writer.add(SectionKind::Irregular, {reinterpret_cast<const char*>(trace.irregular.data()),
                                        trace.irregular.size() * sizeof(trace.irregular[0])});
    writer.add(SectionKind::Blocks, blocks.out);
    for (const Array& array : trace.launch.arrays) {
        if (array.contents.kind != Contents::Kind::Stored) continue;
        const std::vector<std::byte>& bytes = *array.contents.bytes;
        writer.add(SectionKind::Contents, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
    add_column(writer, SectionKind::Key, trace.key, [](uint64_t, uint32_t*, uint64_t) {});
    add_column(writer, SectionKind::Base, trace.base, [&](uint64_t first, uint32_t* bases, uint64_t count) {
        bases_to_differences(trace.key.data() + first, bases, count);
    });
    add_column(writer, SectionKind::Time, trace.time,
               [](uint64_t, uint32_t* times, uint64_t count) { times_to_differences(times, count); });
    if (!trace.returned.empty())
        writer.add(SectionKind::Returned,
                   {reinterpret_cast<const char*>(trace.returned.data()), trace.returned.size()});
    const bool copies = has_arrivals(trace);
    if (copies)
        writer.add(SectionKind::Arrivals, bytes_of_column(trace.arrival.data(), trace.arrival.size()));

    std::string table;
    for (const Section& section : writer.table) {
        put(table, static_cast<uint32_t>(section.kind));
        put(table, static_cast<uint32_t>(section.encoding));
        put(table, section.stored);
        put(table, section.raw);
        put(table, section.crc);
        put(table, uint32_t{0});
    }
    std::string file(kMagic);
    put(file, version_of(trace));
    put(file, static_cast<uint32_t>(writer.table.size()));
    put(file, uint64_t{kHeaderBytes + table.size() + writer.stored.size()});
    put(file, crc32c(table));
    put(file, crc32c(file));
    return file + table + writer.stored;
}

Result<void> write_file(const Trace& trace, const std::string& path) {
    // Before the bytes are made, which may take long.
    std::string why = why_not_writable(path);
    if (why.empty()) {
        try {
            why = write_whole(path, serialize(trace));
        } catch (const std::bad_alloc&) {
            return Error{
                fmt::format("cannot write {}: too little memory; record a smaller window of blocks", path)};
        }
    }
    if (why.empty()) return {};
    return Error{fmt::format("cannot write {}: {}; choose another place", path, why)};
}

}  // namespace tilescope::trace
