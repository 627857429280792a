#include "kernels/capture/ptx_caches.h"

#include <cstdlib>
#include <cstring>
#include <system_error>

#include <unistd.h>

#include "core/base/file.h"
#include "kernels/launched/captured.h"

namespace tilescope::capture {

namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 3;                          // folders below a root: DEVICE/HASH
constexpr uint64_t kMostCubin = uint64_t{64} << 20;  // bytes of a file that is read
constexpr uint64_t kMostPtx = uint64_t{64} << 20;

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

std::vector<CacheRoot> cache_roots() {
    std::vector<CacheRoot> roots;
    if (const std::string kept = environment(launched::kKeptVariable); !kept.empty())
        roots.push_back({kept, "that XLA compiled", true});
    const std::string triton = environment("TRITON_CACHE_DIR"), home = environment("TRITON_HOME");
    const std::string user = home.empty() ? environment("HOME") : home;
    if (!triton.empty()) roots.push_back({triton, "in Triton's cache"});
    if (!user.empty()) roots.push_back({fs::path(user) / ".triton" / "cache", "in Triton's cache"});
    if (const std::string inductor = environment("TORCHINDUCTOR_CACHE_DIR"); !inductor.empty())
        roots.push_back({fs::path(inductor) / "triton", "in torch.compile's cache"});
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    for (const auto& entry : fs::directory_iterator(error ? "/tmp" : temporary, error))
        if (entry.path().filename().string().starts_with("torchinductor_"))
            roots.push_back({entry.path() / "triton", "in torch.compile's cache"});
    return roots;
}

void PtxCaches::read_folder(const fs::path& folder, const CacheRoot& root, int depth) {
    if (read_.contains(folder)) return;
    std::error_code error;
    bool cubins = false;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        std::error_code asked;
        if (at->is_directory(asked) && depth < kDeepest) read_folder(at->path(), root, depth + 1);
        if (at->path().extension() != ".cubin") continue;
        if (root.grows && !read_.insert(at->path()).second) continue;
        const uint64_t bytes = at->file_size(asked);
        if (asked) continue;
        by_bytes_.emplace(bytes, CachedCubin{at->path(), root.where});
        cubins = true;
    }
    if (cubins && !root.grows) read_.insert(folder);
}

std::optional<CachedPtx> PtxCaches::look(std::span<const std::byte> cubin) {
    const auto [first, last] = by_bytes_.equal_range(cubin.size());
    for (auto at = first; at != last; ++at) {
        const auto bytes = read_whole(at->second.path.string(), kMostCubin);
        if (!bytes || bytes->size() != cubin.size() ||
            std::memcmp(bytes->data(), cubin.data(), cubin.size()) != 0)
            continue;
        fs::path beside = at->second.path;
        auto text = read_whole(beside.replace_extension(".ptx").string(), kMostPtx);
        if (text) return CachedPtx{std::move(*text), at->second.where};
    }
    return std::nullopt;
}

std::optional<CachedPtx> PtxCaches::find(std::span<const std::byte> cubin) {
    if (auto known = look(cubin)) return known;
    for (const CacheRoot& root : roots_()) read_folder(root.folder, root, 0);
    return look(cubin);
}

}  // namespace tilescope::capture
