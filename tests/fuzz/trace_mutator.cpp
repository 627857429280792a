// Changes recordings inside of their sections, so that they still pass for recordings:
//
//   file -> sections, unpacked -> description, as JSON: a value, a member more or less
//                                 source, PTX, contents: bytes
//                                 forms, rows of offsets, blocks, columns: a number, a record more or less
//                              -> packed again, with lengths and checksums that are right (mostly)
#include <algorithm>
#include <array>
#include <random>

#include <nlohmann/json.hpp>
#include <zstd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/trace_forge.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace tilescope::trace {
namespace {

using nlohmann::json;

constexpr uint64_t kMostRaw = 1 << 20;  // bytes of a section that are unpacked

constexpr std::array<uint64_t, 24> kOdd = {0,
                                           1,
                                           2,
                                           3,
                                           4,
                                           16,
                                           31,
                                           32,
                                           33,
                                           63,
                                           255,
                                           256,
                                           1023,
                                           1024,
                                           1025,
                                           65535,
                                           65536,
                                           0x7FFF'FFFE,
                                           0x7FFF'FFFF,
                                           0x80000000,
                                           1 << 24,
                                           0xFFFF'FFFF,
                                           0x1'0000'0000,
                                           UINT64_MAX};

class Mutator {
public:
    explicit Mutator(unsigned seed) : random_(seed) {}

    // "" where the bytes are no file.
    std::string mutated(const std::string& file) {
        if (!read(file)) return "";
        const uint64_t changes = 1 + below(3);
        for (uint64_t i = 0; i < changes; ++i) change();
        std::vector<Forged> packed;
        for (size_t i = 0; i < kinds_.size(); ++i) packed.push_back(pack(kinds_[i], raw_[i]));
        if (below(16) == 0) claim(packed);
        std::string bytes = file_of(packed);
        // Whether there are exchanges among lanes, matrices or words, the description says alone.
        const uint32_t version = get<uint32_t>(file, 8);
        const bool other = below(32) == 0;
        if ((version > kCopiesVersion) != other) {
            set(bytes, 8, other ? kExchangesVersion + static_cast<uint32_t>(below(3)) : version);
            repair(bytes);
        }
        if (below(64) == 0) bytes[below(bytes.size())] ^= static_cast<char>(1u << below(8));  // not repaired
        return bytes;
    }

private:
    uint64_t below(uint64_t limit) { return limit == 0 ? 0 : random_() % limit; }

    bool read(const std::string& file) {
        if (file.size() < kHeaderBytes || std::string_view(file).substr(0, kMagic.size()) != kMagic)
            return false;
        const uint64_t count = get<uint32_t>(file, 12);
        if (count == 0 || count > (file.size() - kHeaderBytes) / kEntryBytes || count > 100) return false;
        uint64_t offset = kHeaderBytes + count * kEntryBytes;
        for (uint64_t i = 0; i < count; ++i) {
            const size_t entry = kHeaderBytes + i * kEntryBytes;
            const uint64_t stored = std::min<uint64_t>(get<uint64_t>(file, entry + 8), file.size() - offset);
            std::string bytes = file.substr(offset, stored);
            if (get<uint32_t>(file, entry + 4) == static_cast<uint32_t>(Encoding::Zstd)) {
                std::string raw(std::min(get<uint64_t>(file, entry + 16), kMostRaw), '\0');
                const size_t size = ZSTD_decompress(raw.data(), raw.size(), bytes.data(), bytes.size());
                if (ZSTD_isError(size)) return false;
                raw.resize(size);
                bytes = std::move(raw);
            }
            kinds_.push_back(static_cast<SectionKind>(get<uint32_t>(file, entry)));
            raw_.push_back(std::move(bytes));
            offset += stored;
        }
        return true;
    }

    static Forged pack(SectionKind kind, const std::string& raw) {
        std::string stored(ZSTD_compressBound(raw.size()), '\0');
        const size_t size = ZSTD_compress(stored.data(), stored.size(), raw.data(), raw.size(), 1);
        if (ZSTD_isError(size) || size >= raw.size()) return forged_raw(kind, raw);
        stored.resize(size);
        return {kind, Encoding::Zstd, raw.size(), std::move(stored)};
    }

    // What the table of sections says.
    void claim(std::vector<Forged>& sections) {
        const size_t at = below(sections.size());
        switch (below(6)) {
            case 0: sections[at].raw = kOdd[below(kOdd.size())]; break;
            case 1: sections[at].encoding = static_cast<Encoding>(below(3)); break;
            case 2: sections[at].kind = static_cast<SectionKind>(below(13)); break;
            case 3: sections.erase(sections.begin() + static_cast<ptrdiff_t>(at)); break;
            case 4: std::swap(sections[at], sections[below(sections.size())]); break;
            default: sections[at] = forged_equal(sections[at].kind, below(kMostRaw), below(kMostRaw)); break;
        }
        if (sections.empty()) sections.push_back(forged_raw(SectionKind::Meta, "{}"));
    }

    void change() {
        const size_t at = below(4) == 0 ? 0 : below(kinds_.size());
        switch (kinds_[at]) {
            case SectionKind::Meta: return change_description(raw_[at]);
            case SectionKind::Forms: return change_records(raw_[at], kFormBytes);
            case SectionKind::Irregular: return change_records(raw_[at], kRowBytes);
            case SectionKind::Blocks:
                return below(2) ? change_records(raw_[at], kBlockBytes) : change_steps();
            case SectionKind::Key:
            case SectionKind::Base:
            case SectionKind::Time:
            case SectionKind::Returned:
            case SectionKind::Arrivals: return below(4) ? change_number(raw_[at]) : change_steps();
            default: return change_bytes(raw_[at]);
        }
    }

    void change_bytes(std::string& bytes) {
        const size_t size = bytes.size();
        bytes.resize(size + 64);
        bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes.data()), size, bytes.size()));
    }

    // A number of 8, 4 or 1 bytes where one can stand.
    void change_number(std::string& bytes) {
        if (bytes.size() < 4) return change_bytes(bytes);
        const size_t at = below(bytes.size() / 4) * 4;
        const uint64_t value = below(4) == 0 ? random_() : kOdd[below(kOdd.size())];
        switch (below(8)) {
            case 0:
                if (at + 8 <= bytes.size()) set<uint64_t>(bytes, at, value);
                break;
            case 1:
            case 2: bytes[at + below(4)] = static_cast<char>(value); break;
            case 3: set<uint32_t>(bytes, at, get<uint32_t>(bytes, below(bytes.size() / 4) * 4)); break;
            case 4: set<uint32_t>(bytes, at, get<uint32_t>(bytes, at) + (below(2) ? 1u : ~0u)); break;
            default: set<uint32_t>(bytes, at, static_cast<uint32_t>(value)); break;
        }
    }

    void change_records(std::string& bytes, uint64_t size) {
        const uint64_t records = bytes.size() / size;
        if (records == 0 || below(4) != 0) return change_number(bytes);
        const size_t at = below(records) * size;
        if (below(2) == 0)
            bytes.erase(at, size);
        else
            bytes.insert(at, bytes.substr(below(records) * size, size));
    }

    // A block gets steps or loses some, in all columns: the files stay whole.
    void change_steps() {
        const auto blocks = std::find(kinds_.begin(), kinds_.end(), SectionKind::Blocks);
        if (blocks == kinds_.end()) return;
        std::string& table = raw_[static_cast<size_t>(blocks - kinds_.begin())];
        const uint64_t count = table.size() / kBlockBytes, block = below(count);
        if (count == 0) return;
        uint64_t first = 0;
        for (uint64_t i = 0; i < block; ++i) first += get<uint64_t>(table, i * kBlockBytes + 16);
        const uint64_t steps = get<uint64_t>(table, block * kBlockBytes + 16);
        if (first > kMostRaw || steps > kMostRaw) return;
        const uint64_t some = below(std::min<uint64_t>(steps, 64)) + 1, at = first + below(steps);
        const bool grow = below(2) == 0;
        if (!grow && some > steps) return;
        for (size_t i = 0; i < kinds_.size(); ++i) {
            if (kinds_[i] < SectionKind::Key) continue;
            const uint64_t begin = std::min<uint64_t>(at * 4, raw_[i].size()), length = some * 4;
            if (grow)
                raw_[i].insert(begin, raw_[i].substr(begin, length));
            else
                raw_[i].erase(begin, length);
        }
        set<uint64_t>(table, block * kBlockBytes + 16, grow ? steps + some : steps - some);
    }

    void gather(json& node, std::vector<json*>& all) {
        all.push_back(&node);
        if (node.is_structured())
            for (json& inner : node) gather(inner, all);
    }

    json odd_value() {
        static const std::array<const char*, 10> kTexts = {"",    "=1+1", "\x1b[31m", "a\nb", "a|b`c",
                                                           "<b>", "f32",  "u8",       "M",    "\xC3\x28"};
        switch (below(8)) {
            case 0: return -static_cast<int64_t>(kOdd[below(kOdd.size())] & INT64_MAX);
            case 1: return below(2) ? 1e300 : -0.5;
            case 2: return below(2) == 0;
            case 3: return std::string(kTexts[below(kTexts.size())]);
            case 4: return below(2) ? json::array() : json::object();
            default: return kOdd[below(kOdd.size())];
        }
    }

    void change_description(std::string& text) {
        json root = json::parse(text, nullptr, false);
        if (root.is_discarded() || below(32) == 0) return change_bytes(text);
        std::vector<json*> all;
        gather(root, all);
        json& node = *all[below(all.size())];
        if (node.is_array() && !node.empty() && below(2) == 0) {
            const size_t at = below(node.size());
            if (below(2) == 0)
                node.erase(at);
            else
                node.push_back(json(node[at]));
        } else if (node.is_object() && !node.empty() && below(4) == 0) {
            node.erase(std::next(node.begin(), static_cast<ptrdiff_t>(below(node.size()))));
        } else if (node.is_structured()) {
            if (below(16) == 0) node = odd_value();
        } else if (node.is_boolean()) {
            node = !node.get<bool>();
        } else if (node.is_string() && below(2) == 0) {
            std::string value = node.get<std::string>();
            change_bytes(value);
            node = std::move(value);
        } else if (node.is_number_integer() && below(2) == 0) {
            node = static_cast<uint64_t>(node.get<int64_t>()) + below(9) - 4;
        } else {
            node = below(3) == 0 ? json(*all[below(all.size())]) : odd_value();
        }
        text = root.dump(-1, ' ', false, json::error_handler_t::replace);
    }

    std::mt19937_64 random_;
    std::vector<SectionKind> kinds_;
    std::vector<std::string> raw_;
};

}  // namespace
}  // namespace tilescope::trace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
    using namespace tilescope::trace;
    std::string bytes(reinterpret_cast<const char*>(data), size);
    const std::string mutated = seed % 16 == 0 ? "" : Mutator(seed).mutated(bytes);
    if (!mutated.empty() && mutated.size() <= max_size) {
        std::copy(mutated.begin(), mutated.end(), data);
        return mutated.size();
    }
    size = LLVMFuzzerMutate(data, size, max_size);
    bytes.assign(reinterpret_cast<const char*>(data), size);
    if (seed % 32 != 0) repair(bytes);
    std::copy(bytes.begin(), bytes.end(), data);
    return bytes.size();
}
