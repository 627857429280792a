// Caches of compilers that keep the PTX beside the machine code that they made of it:
//
//   Triton          $TRITON_CACHE_DIR, ~/.triton/cache       HASH/NAME.cubin, HASH/NAME.ptx
//   torch.compile   $TORCHINDUCTOR_CACHE_DIR/triton, /tmp/torchinductor_USER/triton       DEVICE/HASH/NAME.cubin, …
//   XLA             $TILESCOPE_KEPT_PTX                      SUM.cubin, SUM.ptx, while the command runs the program
//
// A cubin that a program loads is looked for byte for byte. The folders are read when the first one is asked for, and
// those that have come since when one is not found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace tilescope::capture {

struct CacheRoot {
    std::filesystem::path folder;
    std::string where;   // "in Triton's cache"
    bool grows = false;  // cubins come into the folder itself
};
// Those that the environment names now: programs change it while they run.
std::vector<CacheRoot> cache_roots();

struct CachedPtx {
    std::string text, where;
};

class PtxCaches {
public:
    // roots: asked for each time a cubin is looked for.
    explicit PtxCaches(std::vector<CacheRoot> (*roots)() = cache_roots) : roots_(roots) {}
    std::optional<CachedPtx> find(std::span<const std::byte> cubin);

private:
    struct CachedCubin {
        std::filesystem::path path;
        std::string where;
    };
    std::optional<CachedPtx> look(std::span<const std::byte> cubin);
    void read_folder(const std::filesystem::path& folder, const CacheRoot& root, int depth);

    std::vector<CacheRoot> (*roots_)();
    std::set<std::filesystem::path> read_;           // folders with cubins in them, which do not change
    std::multimap<uint64_t, CachedCubin> by_bytes_;  // by the size of the cubin
};

}  // namespace tilescope::capture
