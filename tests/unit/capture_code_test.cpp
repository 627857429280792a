// Where a kernel's PTX is: fat binaries built by hand, caches of compilers, and whatever else a program loads.
#include <cstring>
#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <zstd.h>

#include "kernels/capture/code_image.h"
#include "tests/temp_folder.h"

namespace tilescope::capture {
namespace {

using Kind = FatEntry::Kind;
using Packing = FatEntry::Packing;

std::string ptx_for(int architecture, const std::string& entry) {
    std::string text = "//\n.version 8.0\n.target sm_" + std::to_string(architecture) +
                       "\n.address_size 64\n.visible .entry " + entry + "(\n.param .u64 p0\n)\n{\n";
    for (int i = 0; i < 20; ++i) text += "add.s64 %rd1, %rd1, " + std::to_string(i) + ";\n";
    return text + "ret;\n}\n";
}

template <class Number>
void put(std::string& out, Number value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// LZ4 with matches as they are found one byte at a time: slow, and no more than the format asks for.
std::string lz4_packed(const std::string& text) {
    std::string out, literals;
    const auto length = [&](size_t more) {
        for (; more >= 255; more -= 255) out += '\xFF';
        out += static_cast<char>(more);
    };
    const auto sequence = [&](size_t match, size_t back) {
        const size_t low = match < 4 ? 0 : std::min<size_t>(match - 4, 15);
        out += static_cast<char>(std::min<size_t>(literals.size(), 15) << 4 | low);
        if (literals.size() >= 15) length(literals.size() - 15);
        out += literals;
        literals.clear();
        if (match < 4) return;
        put(out, static_cast<uint16_t>(back));
        if (low == 15) length(match - 4 - 15);
    };
    for (size_t at = 0; at < text.size();) {
        size_t best = 0, back = 0;
        for (size_t from = at > 200 ? at - 200 : 0; from < at; ++from) {
            size_t same = 0;
            while (at + same + 5 < text.size() && text[from + same] == text[at + same]) ++same;
            if (same > best) best = same, back = at - from;
        }
        if (best >= 4) {
            sequence(best, back);
            at += best;
        } else {
            literals += text[at++];
        }
    }
    sequence(0, 0);
    return out;
}

std::string entry_of(Kind kind, uint32_t architecture, const std::string& text, Packing packing) {
    std::string payload = text;
    uint64_t flags = 0x11;
    if (packing == Packing::Lz4) payload = lz4_packed(text), flags |= 0x2000;
    if (packing == Packing::Zstd) {
        payload.resize(ZSTD_compressBound(text.size()));
        payload.resize(ZSTD_compress(payload.data(), payload.size(), text.data(), text.size(), 1));
        flags |= 0x8000;
    }
    const auto packed = static_cast<uint32_t>(packing == Packing::Plain ? 0 : payload.size());
    payload.resize((payload.size() + 7) / 8 * 8);
    std::string out;
    put<uint16_t>(out, kind == Kind::Ptx ? 1 : 2);
    put<uint16_t>(out, 0x101);
    put<uint32_t>(out, 80);
    put<uint64_t>(out, payload.size());
    put<uint32_t>(out, packed);
    put<uint32_t>(out, 64);
    put<uint32_t>(out, 0x80000);
    put<uint32_t>(out, architecture);
    put<uint64_t>(out, 0);
    put<uint64_t>(out, flags);
    put<uint64_t>(out, 0);
    put<uint64_t>(out, packed == 0 ? 0 : text.size());
    out.resize(80);
    return out + payload;
}

std::string container_of(const std::vector<std::string>& entries) {
    std::string all, out;
    for (const std::string& one : entries) all += one;
    put<uint32_t>(out, kFatMagic);
    put<uint16_t>(out, 1);
    put<uint16_t>(out, 16);
    put<uint64_t>(out, all.size());
    return out + all;
}

std::span<const std::byte> bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::vector<CacheRoot> no_roots() { return {}; }

// A cubin: an ELF header of 64 bytes whose sections begin behind it, and so many bytes in all.
std::string cubin_of(size_t bytes, char fill) {
    std::string out(
        "\x7F"
        "ELF\x02\x01\x01",
        7);
    out.resize(40);
    put<uint64_t>(out, bytes - 64);
    out.resize(58);
    put<uint16_t>(out, 64);
    put<uint16_t>(out, 1);
    out.resize(bytes, fill);
    return out;
}

std::string all_kinds() {
    return container_of({entry_of(Kind::Cubin, 90, cubin_of(200, 'c'), Packing::Plain),
                         entry_of(Kind::Ptx, 80, ptx_for(80, "add"), Packing::Zstd),
                         entry_of(Kind::Ptx, 90, ptx_for(90, "add"), Packing::Lz4),
                         entry_of(Kind::Ptx, 100, ptx_for(100, "add"), Packing::Plain)});
}

TEST(CaptureFatBinary, GivesTheTextOfEveryPacking) {
    const std::string container = all_kinds();
    EXPECT_EQ(container_bytes(container.data()), container.size());
    const auto entries = entries_of(bytes_of(container));
    ASSERT_EQ(entries.size(), 4u);
    EXPECT_EQ(entries[0].kind, Kind::Cubin);
    const uint32_t architectures[] = {90, 80, 90, 100};
    for (size_t i = 0; i < entries.size(); ++i) {
        EXPECT_EQ(entries[i].architecture, architectures[i]);
        const auto text = unpacked(entries[i]);
        ASSERT_TRUE(text) << text.error().message;
        if (i > 0) EXPECT_EQ(*text, ptx_for(static_cast<int>(architectures[i]), "add"));
    }
}

TEST(CaptureFatBinary, TakesTheNewestPtxThatTheDeviceRuns) {
    PtxCaches caches(no_roots);
    const std::string container = all_kinds();
    const CodeImage image = image_at(container.data(), caches);
    EXPECT_EQ(image.where, "in the fat binary that it loads");
    for (const auto& [capability, taken] : {std::pair{100u, 100u}, {90u, 90u}, {89u, 80u}, {75u, 0u}}) {
        uint32_t made_for = 0;
        const auto text = ptx_of(image, "add", capability, made_for);
        EXPECT_EQ(static_cast<bool>(text), taken != 0);
        EXPECT_EQ(made_for, taken);
        if (text) EXPECT_EQ(*text, ptx_for(static_cast<int>(taken), "add"));
    }
    EXPECT_TRUE(has_kernel(image, "add", 90));
    EXPECT_FALSE(has_kernel(image, "add", 75));
    EXPECT_FALSE(has_kernel(image, "ad", 90));
    uint32_t made_for = 0;
    const auto other = ptx_of(image, "ad", 90, made_for);
    ASSERT_FALSE(other);
    EXPECT_NE(other.error().message.find("no kernel ad"), std::string::npos);
}

TEST(CaptureFatBinary, DamageIsAnErrorOrLeavesEntriesOut) {
    const std::string whole = all_kinds();
    std::mt19937 random(1);
    for (size_t cut = 0; cut < whole.size(); cut += 7)
        for (const FatEntry& entry : entries_of({reinterpret_cast<const std::byte*>(whole.data()), cut}))
            (void)unpacked(entry);
    for (int i = 0; i < 3000; ++i) {
        std::string broken = whole;
        for (int changes = 0; changes < 3; ++changes)
            broken[16 + random() % (broken.size() - 16)] = static_cast<char>(random());
        for (const FatEntry& entry : entries_of(bytes_of(broken)))
            if (const auto text = unpacked(entry); !text) EXPECT_FALSE(text.error().message.empty());
    }
    // More than is read, though the payload is small.
    std::string huge = container_of({entry_of(Kind::Ptx, 90, ptx_for(90, "add"), Packing::Zstd)});
    const uint64_t bytes = uint64_t{1} << 40;
    std::memcpy(huge.data() + 16 + 56, &bytes, sizeof bytes);
    const auto entries = entries_of(bytes_of(huge));
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_FALSE(unpacked(entries[0]));
}

TEST(CaptureFatBinary, Lz4IsWhatTheSlowWayPacked) {
    std::mt19937 random(2);
    for (int turn = 0; turn < 300; ++turn) {
        std::string text;
        const size_t bytes = random() % 600;
        const unsigned letters = 1 + static_cast<unsigned>(random() % 20);
        while (text.size() < bytes) text += static_cast<char>('a' + random() % letters);
        const std::string packed = lz4_packed(text);
        const auto back = lz4_block(bytes_of(packed), text.size());
        ASSERT_TRUE(back) << turn;
        EXPECT_EQ(*back, text);
        EXPECT_FALSE(lz4_block(bytes_of(packed), text.size() + 1));
        for (int i = 0; i < 20 && !packed.empty(); ++i) {
            std::string broken = packed;
            broken[random() % broken.size()] = static_cast<char>(random());
            (void)lz4_block(bytes_of(broken), text.size());
        }
    }
}

TEST(CaptureImage, TextIsKeptAsTheProgramLoadsIt) {
    PtxCaches caches(no_roots);
    const std::string text = ptx_for(90, "_Z3addPfi");
    const CodeImage image = image_at(text.c_str(), caches);
    EXPECT_EQ(image.where, "as the program loads it");
    uint32_t made_for = 1;
    EXPECT_EQ(*ptx_of(image, "_Z3addPfi", 90, made_for), text);
    EXPECT_EQ(made_for, 0u);
    EXPECT_TRUE(has_entry(text, "_Z3addPfi"));
    EXPECT_FALSE(has_entry(text, "_Z3addPf"));
    EXPECT_FALSE(has_entry("// .entry add\n.func add()", "dd"));
}

TEST(CaptureImage, MachineCodeAloneHasASentence) {
    PtxCaches caches(no_roots);
    const std::string cubin = cubin_of(200, 'x');
    for (const std::string& bytes :
         {cubin, container_of({entry_of(Kind::Cubin, 90, cubin, Packing::Plain)}),
          std::string("\x01\x02\x03\x04 nothing that is known"), std::string(64, '\0')}) {
        const CodeImage image = image_at(bytes.c_str(), caches);
        EXPECT_TRUE(image.where.empty());
        EXPECT_NE(image.without.find("machine code"), std::string::npos);
        uint32_t made_for = 0;
        EXPECT_FALSE(ptx_of(image, "add", 90, made_for));
    }
}

namespace fs = std::filesystem;
fs::path cache_of_test;
std::vector<CacheRoot> roots_of_test() { return {{cache_of_test, "in Triton's cache"}}; }

using CaptureCache = TempFolder;

TEST_F(CaptureCache, HasACubinByItsBytes) {
    cache_of_test = folder_;
    PtxCaches caches(roots_of_test);
    const auto write = [&](const std::string& hash, const std::string& name, const std::string& bytes,
                           const std::string& ptx) {
        fs::create_directories(folder_ / hash);
        std::ofstream(folder_ / hash / (name + ".cubin"), std::ios::binary) << bytes;
        std::ofstream(folder_ / hash / (name + ".ptx")) << ptx;
    };
    write("A", "product", cubin_of(300, 'a'), ptx_for(90, "product") + "// first");
    write("B", "product", cubin_of(300, 'b'), ptx_for(90, "product") + "// second");
    const std::string second = cubin_of(300, 'b'), third = cubin_of(300, 'c');
    EXPECT_EQ(elf_bytes(second.data()), 300u);
    const CodeImage image = image_at(second.data(), caches);
    EXPECT_EQ(image.where, "in Triton's cache");
    EXPECT_NE(image.text.find("// second"), std::string::npos);
    EXPECT_TRUE(image_at(third.data(), caches).where.empty());
    write("0/C", "product", third, ptx_for(90, "product") + "// third");  // compiled meanwhile
    EXPECT_NE(image_at(third.data(), caches).text.find("// third"), std::string::npos);
}

}  // namespace
}  // namespace tilescope::capture
