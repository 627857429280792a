// Reads the bytes of a trace file, each checked before it is used; format.h describes them.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>
#include <zstd.h>

#include "core/base/file.h"
#include "core/base/parallel.h"
#include "core/trace/access.h"
#include "core/trace/claims.h"
#include "core/trace/file.h"
#include "core/trace/format.h"

namespace tilescope::trace {

namespace {

constexpr uint32_t kTableSections = 6;  // sections before the columns

// Takes numbers off the front; the caller has checked that they are there.
struct NumbersReader {
    std::string_view left;
    bool known = true;  // all are below their ends

    template <class T>
    T take() {
        T value;
        std::memcpy(&value, left.data(), sizeof value);
        left.remove_prefix(sizeof value);
        return value;
    }
    template <class T>
    void operator()(T& out) {
        out = take<T>();
    }
    template <class T, class Stored>
    void as(T& out, Stored end) {
        const auto value = take<Stored>();
        known = known && value < end;
        out = static_cast<T>(value % end);
    }
};

// What a section of a kind may unpack to, whatever the others are.
Result<void> within_kind(const Section& section) {
    switch (section.kind) {
        case SectionKind::Meta: return within(Claim::MetaBytes, section.raw);
        case SectionKind::Source: return within(Claim::SourceBytes, section.raw);
        case SectionKind::Ptx: return within(Claim::PtxBytes, section.raw);
        default: return {};
    }
}

struct FileHeader {
    uint32_t version = 0, sections = 0;
    uint64_t size = 0;  // bytes of the file
    uint32_t table_crc = 0;
};

// begin: at least the header of a file of `size` bytes.
Result<FileHeader> read_header(std::string_view begin, uint64_t size) {
    if (begin.size() < kHeaderBytes || !begin.starts_with(kMagic)) return Error{"it does not begin as one"};
    NumbersReader reader{begin.substr(kMagic.size(), kHeaderBytes - kMagic.size())};
    FileHeader header;
    header.version = reader.take<uint32_t>();
    header.sections = reader.take<uint32_t>();
    header.size = reader.take<uint64_t>();
    header.table_crc = reader.take<uint32_t>();
    if (reader.take<uint32_t>() != crc32c(begin.substr(0, kHeaderBytes - 4)))
        return Error{"the checksum of its header is wrong"};
    const uint32_t version = header.version;
    if (version < kFileVersion || version > kWordsVersion) {
        return Error{fmt::format("it has version {}, this program reads versions {} to {}; {}", version,
                                 kFileVersion, kWordsVersion,
                                 version > kWordsVersion ? "update Tilescope" : "record it again")};
    }
    if (header.size != size) return Error{fmt::format("it has {} of its {} bytes", size, header.size)};
    return header;
}

Result<std::vector<Section>> read_sections(std::string_view bytes) {
    const auto header = read_header(bytes, bytes.size());
    if (!header) return header.error();
    const auto [version, count, size, table_crc] = *header;
    if (count < kTableSections || count > kMaxSections || kHeaderBytes + count * kEntryBytes > size)
        return Error{fmt::format("it lists {} sections, which it cannot hold", count)};
    const std::string_view table = bytes.substr(kHeaderBytes, count * kEntryBytes);
    if (crc32c(table) != table_crc) return Error{"the checksum of its section table is wrong"};
    const SectionKind last = version >= kCopiesVersion ? SectionKind::Arrivals : SectionKind::Returned;
    std::vector<Section> sections(count);
    NumbersReader reader{table};
    uint64_t offset = kHeaderBytes + table.size();
    for (Section& section : sections) {
        section.kind = static_cast<SectionKind>(reader.take<uint32_t>());
        section.encoding = static_cast<Encoding>(reader.take<uint32_t>());
        section.stored = reader.take<uint64_t>();
        section.raw = reader.take<uint64_t>();
        section.crc = reader.take<uint32_t>();
        section.offset = offset;
        const bool packed = section.encoding == Encoding::Zstd;
        if (reader.take<uint32_t>() != 0 || section.kind > last || section.encoding > Encoding::Zstd ||
            section.stored > size - offset ||
            section.raw > (packed ? most_unpacked_by_zstd(section.stored) : section.stored) ||
            (!packed && section.raw != section.stored)) {
            return Error{
                fmt::format("its section {} cannot be as large as it says", &section - sections.data())};
        }
        if (auto ok = within_kind(section); !ok) return ok.error();
        if (packed && ZSTD_getFrameContentSize(bytes.data() + offset, section.stored) != section.raw) {
            return Error{fmt::format("its section {} does not unpack to the size it says",
                                     &section - sections.data())};
        }
        offset += section.stored;
    }
    if (offset != size) return Error{"it has bytes after its last section"};
    if (version == kCopiesVersion && sections.back().kind != SectionKind::Arrivals)
        return Error{fmt::format("it has version {} and does not say where its copies arrived", version)};
    return sections;
}

std::string_view stored_bytes(std::string_view bytes, const Section& section) {
    return bytes.substr(section.offset, section.stored);
}

// Fills exactly section.raw bytes; false where checksum or content are wrong.
bool unpack(std::string_view bytes, const Section& section, uint32_t* out) {
    const std::string_view stored = stored_bytes(bytes, section);
    if (crc32c(stored) != section.crc) return false;
    if (section.encoding == Encoding::Raw) {
        std::memcpy(out, stored.data(), stored.size());
        return true;
    }
    return ZSTD_decompress(out, section.raw, stored.data(), stored.size()) == section.raw;
}

// Reads a section piece by piece into a string or a vector, which grows with what is really there.
// section.raw is a multiple of the size of its values.
template <class Values>
bool unpack(std::string_view bytes, const Section& section, Values& out) {
    constexpr size_t kSize = sizeof(typename Values::value_type);
    const std::string_view stored = stored_bytes(bytes, section);
    if (crc32c(stored) != section.crc) return false;
    if (section.encoding == Encoding::Raw) {
        out.resize(stored.size() / kSize);
        if (!stored.empty()) std::memcpy(out.data(), stored.data(), stored.size());
        return true;
    }
    const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                          ZSTD_freeDStream);
    if (!stream) throw std::bad_alloc();
    ZSTD_inBuffer in{stored.data(), stored.size(), 0};
    constexpr uint64_t kFirst = 64 * 1024;
    size_t have = 0;
    for (size_t left = 1; left != 0;) {
        if (have == section.raw && in.pos == in.size) return false;
        const size_t room = std::min<uint64_t>(section.raw, std::max<uint64_t>(2 * have, kFirst));
        out.resize((room + kSize - 1) / kSize);
        ZSTD_outBuffer to{out.data(), room, have};
        const size_t before = in.pos;
        left = ZSTD_decompressStream(stream.get(), &to, &in);
        if (ZSTD_isError(left) || (to.pos == have && in.pos == before && left != 0)) return false;
        have = to.pos;
        out.resize((have + kSize - 1) / kSize);
    }
    return have == section.raw && in.pos == in.size;
}

Result<void> check_lines(Claim claim, const std::string& text) {
    return within(claim, static_cast<uint64_t>(std::ranges::count(text, '\n')));
}

// The sections before the columns: which they are, and how many entries the steps allow them.
Result<void> check_tables_sections(const std::vector<Section>& sections) {
    bool whole = true;
    for (uint32_t i = 0; i < kTableSections; ++i)
        whole = whole && sections[i].kind == static_cast<SectionKind>(i);
    whole = whole && sections[3].raw % kFormBytes == 0 && sections[4].raw % kRowBytes == 0 &&
            sections[5].raw % kBlockBytes == 0;
    if (!whole) return Error{"its sections are not those of a recording"};
    uint64_t steps = 0;
    for (const Section& section : sections)
        if (section.kind == SectionKind::Key) steps += section.raw / sizeof(uint32_t);
    const uint64_t forms = sections[3].raw / kFormBytes, rows = sections[4].raw / kRowBytes;
    if (forms > std::min<uint64_t>(steps, kMaxForms) || rows > 2 * forms) {
        return Error{
            fmt::format("its {} steps cannot have {} forms with {} rows of offsets", steps, forms, rows)};
    }
    return {};
}

Result<void> read_tables(std::string_view bytes, const std::vector<Section>& sections, Trace& trace) {
    if (auto ok = check_tables_sections(sections); !ok) return ok;
    const Error damaged{"the checksum of one of its sections is wrong"};
    std::string raw;
    if (!unpack(bytes, sections[0], raw)) return damaged;
    if (auto ok = meta_from_json(raw, trace); !ok) return ok;
    if (auto ok = check_claims(trace.meta, trace.launch); !ok) return ok;
    const uint64_t blocks = sections[5].raw / kBlockBytes, most = blocks_of_window(trace.meta, trace.launch);
    if (blocks > most) return Error{fmt::format("it has {} blocks, and its window has {}", blocks, most)};
    if (!unpack(bytes, sections[1], trace.meta.source) || !unpack(bytes, sections[2], trace.meta.ptx))
        return damaged;
    if (auto ok = check_lines(Claim::SourceLines, trace.meta.source); !ok) return ok;
    if (auto ok = check_lines(Claim::PtxLines, trace.meta.ptx); !ok) return ok;
    if (!unpack(bytes, sections[3], raw)) return damaged;
    NumbersReader forms{raw};
    trace.forms.resize(raw.size() / kFormBytes);
    for (Form& form : trace.forms) numbers_of_form(forms, form);
    if (!forms.known) return Error{"its forms hold values that mean nothing"};
    static_assert(sizeof(trace.irregular[0]) == kRowBytes);
    if (!unpack(bytes, sections[4], trace.irregular)) return damaged;
    if (!unpack(bytes, sections[5], raw)) return damaged;
    NumbersReader numbers{raw};
    uint64_t first = 0;
    trace.blocks.resize(raw.size() / kBlockBytes);
    for (Block& block : trace.blocks) {
        numbers_of_block(numbers, block);
        block.first = std::exchange(first, first + block.count);
    }
    return {};
}

// The arrays whose contents are stored, a section each behind the tables.
Result<void> read_contents(std::string_view bytes, std::vector<Section>& sections, Trace& trace) {
    size_t at = kTableSections;
    for (Array& array : trace.launch.arrays) {
        if (array.contents.kind != Contents::Kind::Stored) continue;
        if (at == sections.size() || sections[at].kind != SectionKind::Contents ||
            sections[at].raw != array.bytes())
            return Error{fmt::format("the contents of its array '{}' are not there", array.name)};
        auto contents = std::make_shared<std::vector<std::byte>>();
        if (!unpack(bytes, sections[at], *contents))
            return Error{fmt::format("the checksum of the contents of its array '{}' is wrong", array.name)};
        array.contents.bytes = std::move(contents);
        ++at;
    }
    sections.erase(sections.begin() + kTableSections, sections.begin() + static_cast<ptrdiff_t>(at));
    return {};
}

// Sections of the columns: chunk i of column c is sections[kTableSections + c * chunks + i].
Result<void> check_chunks(const std::vector<Section>& sections, uint64_t steps, uint64_t chunks,
                          uint64_t columns) {
    for (uint64_t column = 0; column < columns; ++column) {
        for (uint64_t i = 0; i < chunks; ++i) {
            const Section& section = sections[kTableSections + column * chunks + i];
            const uint64_t count = std::min(kChunkSteps, steps - i * kChunkSteps);
            if (section.kind != static_cast<SectionKind>(static_cast<uint64_t>(SectionKind::Key) + column) ||
                section.raw != count * sizeof(uint32_t))
                return Error{"its columns of steps do not have the length of its blocks"};
        }
    }
    return {};
}

Result<void> read_columns(std::string_view bytes, const std::vector<Section>& sections,
                          const StepCheck& check_steps, StoredElements& stored, Trace& trace) {
    uint64_t steps = 0;
    for (const Block& block : trace.blocks)
        if (block.count > kMaxSteps || (steps += block.count) > kMaxSteps)
            return Error{"its blocks have more steps than a recording can"};
    const uint64_t chunks = (steps + kChunkSteps - 1) / kChunkSteps;
    const uint64_t columns = chunks == 0 ? 0 : (sections.size() - kTableSections) / chunks;
    if (sections.size() != kTableSections + columns * chunks || (chunks > 0 && columns != 2 && columns != 3))
        return Error{"it has not the columns that its steps need"};
    if (auto ok = check_chunks(sections, steps, chunks, columns); !ok) return ok;
    trace.key.resize(steps);
    trace.base.resize(steps);
    trace.time.resize(columns == 3 ? steps : 0);

    std::atomic<bool> whole = true;
    std::mutex mutex;
    std::map<uint64_t, Error> damage;  // by chunk: the first one is told
    for_each_index(chunks, std::min(threads_of(0), 8u), [&](uint64_t i) {
        if (!whole) return;
        const uint64_t first = i * kChunkSteps, count = std::min(kChunkSteps, steps - first);
        const auto column = [&](uint64_t number, Column& out) {
            return unpack(bytes, sections[kTableSections + number * chunks + i], out.data() + first);
        };
        if (!column(0, trace.key) || !column(1, trace.base) || (columns == 3 && !column(2, trace.time))) {
            whole = false;
            return;
        }
        differences_to_bases(trace.key.data() + first, trace.base.data() + first, count);
        if (columns == 3) differences_to_times(trace.time.data() + first, count);
        std::vector<uint32_t> stores;
        if (auto sound = check_steps(trace, first, first + count, &stores); !sound) {
            const std::lock_guard lock(mutex);
            damage.emplace(i, sound.error());
        } else {
            stored.enter(trace, stores);
        }
    });
    if (!whole) return Error{"the checksum of some of its steps is wrong"};
    return damage.empty() ? Result<void>{} : damage.begin()->second;
}

// Block::first_returned.
void place_returned(Trace& trace) {
    const std::vector<uint64_t> before = returned_before(trace);
    for (size_t i = 0; i < trace.blocks.size(); ++i) trace.blocks[i].first_returned = before[i];
}

Result<void> read_trace(std::string_view bytes, const std::vector<Section>& found, Trace& trace) {
    std::vector<Section> sections = found;
    if (auto ok = read_tables(bytes, sections, trace); !ok) return ok;
    if (auto ok = read_contents(bytes, sections, trace); !ok) return ok;
    const auto steps = check_tables(trace);
    if (!steps) return steps.error();
    const uint32_t wanted = version_of(trace);
    if (const auto header = read_header(bytes, bytes.size());
        header && header->version != wanted && std::max(header->version, wanted) >= kExchangesVersion)
        return Error{fmt::format(
            "it has version {}, and holds {}: recordings with exchanges have version {}, those with "
            "instructions on matrices version {}, those with barriers in memory or bulk copies version {}",
            header->version,
            wanted == kWordsVersion       ? "barriers in memory or bulk copies"
            : wanted == kMatricesVersion  ? "instructions on matrices"
            : wanted == kExchangesVersion ? "exchanges among the lanes of a warp"
                                          : "no exchanges among the lanes of a warp",
            kExchangesVersion, kMatricesVersion, kWordsVersion)};
    StoredElements stored(trace);
    const bool copies = has_arrivals(trace);
    const Section arrivals = sections.back();
    if (copies != (arrivals.kind == SectionKind::Arrivals))
        return Error{"it has copies and not where they arrived, or the other way round"};
    if (copies) sections.pop_back();
    const bool returned = sections.back().kind == SectionKind::Returned;
    const Section last = sections.back();
    if (returned) sections.pop_back();
    if (auto ok = read_columns(bytes, sections, *steps, stored, trace); !ok) return ok;
    if (returned && !unpack(bytes, last, trace.returned))
        return Error{"the checksum of what its atomics found is wrong"};
    if (returned || wanted == kWordsVersion) place_returned(trace);
    index_returned(trace);
    if (copies) {
        if (arrivals.raw % sizeof(uint32_t) != 0 || !unpack(bytes, arrivals, trace.arrival))
            return Error{"the checksum of where its copies arrived is wrong"};
        const std::vector<uint64_t> before = arrivals_before(trace);
        for (size_t i = 0; i < trace.blocks.size(); ++i) trace.blocks[i].first_arrival = before[i];
    }
    if (auto ok = check_blocks(trace); !ok) return ok;
    if (auto ok = check_rows(trace); !ok) return ok;
    stored.enter_boxes(trace);
    return derive(trace, stored);
}

// Checks that all sections together fit the memory that is allowed. Those that grow while they are read, all
// but the columns, take up to twice their size.
Result<void> check_unpacked(const std::vector<Section>& sections, uint64_t stored, uint64_t beside,
                            const std::string& name) {
    const auto limit = memory_limit();
    if (!limit) return limit.error();
    double unpacked = 0, taken = 0;
    for (const Section& section : sections) {
        unpacked += static_cast<double>(section.raw);
        taken += static_cast<double>(section.raw) *
                 (section.kind < SectionKind::Key || section.kind >= SectionKind::Returned ? 2 : 1);
    }
    if (taken <= static_cast<double>(most_unpacked(*limit, stored, beside))) return {};
    return Error{fmt::format(
        "{} unpacks to {:.1f} GB, which with what is made of it{} takes more memory than the "
        "{:g} GB that are allowed; set TILESCOPE_MAX_MEMORY={:.0f} in the environment to allow as many "
        "gigabytes",
        name, unpacked / 1e9, beside > 0 ? " and the other recording" : "", static_cast<double>(*limit) / 1e9,
        std::ceil(4 * (taken + static_cast<double>(beside)) / 3e9))};
}

Error damaged_file(const std::string& name, const Error& why) {
    return Error{fmt::format("{} is not a whole Tilescope recording: {}", name, why.message)};
}

// Bytes of a file that this machine can hold together with what is made of them.
uint64_t most_bytes() {
    const auto pages = static_cast<uint64_t>(std::max(::sysconf(_SC_PHYS_PAGES), 1L));
    return pages * static_cast<uint64_t>(std::max(::sysconf(_SC_PAGESIZE), 1L)) / 2;
}

}  // namespace

Result<Trace> deserialize(std::string_view bytes, const std::string& name, uint64_t beside) {
    const auto damaged = [&](const Error& error) { return damaged_file(name, error); };
    Trace trace;
    try {
        const auto sections = read_sections(bytes);
        if (!sections) return damaged(sections.error());
        if (auto ok = check_unpacked(*sections, bytes.size(), beside, name); !ok) return ok.error();
        if (auto ok = read_trace(bytes, *sections, trace); !ok) return damaged(ok.error());
    } catch (const std::bad_alloc&) {
        return Error{fmt::format(
            "{} is too large for this machine's memory; record a smaller window of blocks", name)};
    }
    trace.beside = beside;
    return trace;
}

Result<Trace> read_file(const std::string& path, uint64_t beside) {
    const auto bytes = read_whole(path, most_bytes(), [&](std::string_view begin, uint64_t size) {
        const auto header = read_header(begin, size);
        return header ? std::nullopt : std::optional(damaged_file(path, header.error()));
    });
    return bytes ? deserialize(*bytes, path, beside) : bytes.error();
}

}  // namespace tilescope::trace
