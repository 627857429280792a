#include "kernels/capture/code_image.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/base/file.h"

namespace tilescope::capture {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // of a container or file
constexpr size_t kMostText = size_t{64} << 20;

constexpr const char* kMachineCode =
    "only its machine code is there; Tilescope records PTX, which nvcc keeps with -gencode "
    "arch=compute_90,code=compute_90";

// The file that the bytes at an address are a part of, as long as it is loaded; "" for none.
std::string loaded_file(const void* at) {
    Dl_info info{};
    if (dladdr(at, &info) == 0 || info.dli_fname == nullptr) return "";
    return fs::path(info.dli_fname).filename().string();
}

void keep_ptx(CodeImage& image, std::span<const std::byte> container) {
    for (const FatEntry& entry : entries_of(container))
        if (entry.kind == FatEntry::Kind::Ptx) image.entries.push_back(entry);
}

CodeImage of_container(const std::byte* at) {
    CodeImage image;
    const uint64_t bytes = std::min(container_bytes(at), kMostBytes);
    const std::string file = loaded_file(at);
    if (file.empty()) {
        image.kept = std::make_shared<const std::vector<std::byte>>(at, at + bytes);
        at = image.kept->data();
    }
    keep_ptx(image, {at, bytes});
    if (image.entries.empty())
        image.without = kMachineCode;
    else
        image.where = file.empty() ? "in the fat binary that it loads" : "in the fat binary of " + file;
    return image;
}

CodeImage of_cubin(std::span<const std::byte> cubin, PtxCaches& caches) {
    CodeImage image;
    const auto found = caches.find(cubin);
    if (!found) {
        image.without = kMachineCode;
        return image;
    }
    image.where = found->where;
    image.text = found->text;
    return image;
}

// Whether it is text: its first bytes are such as PTX begins with.
bool looks_like_text(const char* at) {
    for (size_t i = 0; i < 4; ++i)
        if (at[i] == '\0' || (!std::isprint(static_cast<unsigned char>(at[i])) &&
                              !std::isspace(static_cast<unsigned char>(at[i]))))
            return false;
    return true;
}

}  // namespace

CodeImage image_at(const void* image, PtxCaches& caches) {
    CodeImage made;
    uint32_t magic = 0;
    if (image == nullptr) return made;
    std::memcpy(&magic, image, sizeof magic);
    if (magic == kFatWrapperMagic) {
        const std::byte* data = nullptr;
        std::memcpy(&data, static_cast<const std::byte*>(image) + 8, sizeof data);
        if (data != nullptr && container_bytes(data) > 0) return of_container(data);
    } else if (magic == kFatMagic && container_bytes(image) > 0) {
        return of_container(static_cast<const std::byte*>(image));
    } else if (const uint64_t bytes = elf_bytes(image); bytes > 0 && bytes <= kMostBytes) {
        return of_cubin({static_cast<const std::byte*>(image), bytes}, caches);
    } else if (looks_like_text(static_cast<const char*>(image))) {
        made.text.assign(static_cast<const char*>(image),
                         strnlen(static_cast<const char*>(image), kMostText));
        made.where = "as the program loads it";
        return made;
    }
    made.without = kMachineCode;
    return made;
}

CodeImage image_of_file(const std::string& path, PtxCaches& caches) {
    auto text = read_whole(path, kMostBytes);
    if (!text) {
        CodeImage made;
        made.without = text.error().message;
        return made;
    }
    text->append(64, '\0');  // as much as the headers of all formats take
    CodeImage made = image_at(text->data(), caches);
    if (!made.where.empty() && made.where.starts_with("as the program"))
        made.where = "in '" + fs::path(path).filename().string() + "'";
    return made;
}

bool has_entry(const std::string& ptx, const std::string& entry) {
    for (size_t at = ptx.find(entry); at != std::string::npos; at = ptx.find(entry, at + 1)) {
        const size_t behind = at + entry.size();
        const auto in_name = [&](size_t i) {
            return i < ptx.size() &&
                   (std::isalnum(static_cast<unsigned char>(ptx[i])) || ptx[i] == '_' || ptx[i] == '$');
        };
        if (at == 0 || in_name(at - 1) || in_name(behind)) continue;
        size_t before = at;
        while (before > 0 && std::isspace(static_cast<unsigned char>(ptx[before - 1]))) --before;
        constexpr std::string_view kWord = ".entry";
        if (before >= kWord.size() && ptx.compare(before - kWord.size(), kWord.size(), kWord) == 0)
            return true;
    }
    return false;
}

bool has_kernel(const CodeImage& image, const std::string& entry, uint32_t capability) {
    uint32_t made_for = 0;
    return static_cast<bool>(ptx_of(image, entry, capability, made_for));
}

Result<std::string> ptx_of(const CodeImage& image, const std::string& entry, uint32_t capability,
                           uint32_t& made_for) {
    made_for = 0;
    if (image.where.empty()) return Error{image.without};
    if (image.entries.empty()) {
        for (size_t at = 0, end = 0; at < image.text.size(); at = end + 1) {
            end = std::min(image.text.find('\0', at), image.text.size());
            const std::string one = image.text.substr(at, end - at);
            if (has_entry(one, entry)) return one;
        }
        return Error{fmt::format("the PTX {} has no kernel {}", image.where, entry)};
    }
    std::vector<FatEntry> entries = image.entries;
    std::ranges::stable_sort(entries, std::ranges::greater{}, &FatEntry::architecture);
    std::string why;
    for (const FatEntry& one : entries) {
        if (one.architecture > capability) continue;
        auto text = unpacked(one);
        if (!text) {
            why = text.error().message;
            continue;
        }
        if (!has_entry(*text, entry)) continue;
        made_for = one.architecture;
        return text;
    }
    if (!why.empty()) return Error{why};
    return Error{fmt::format("the PTX {} is for other devices, or has no kernel {}", image.where, entry)};
}

}  // namespace tilescope::capture
