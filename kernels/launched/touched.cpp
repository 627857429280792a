#include "kernels/launched/touched.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace tilescope::launched {

namespace {

constexpr unsigned kMostSeconds = 15;
constexpr uint64_t kRound = 1 << 16;  // bytes; more than any access is wide

struct Reach final : simt::BlockObserver {
    explicit Reach(const std::vector<simt::View>& of) : views(of), ends(of.size()) {}
    const std::vector<simt::View>& views;  // ascending
    std::vector<uint64_t> ends;            // behind the last byte that a lane names, from the view's base
    size_t last = 0;

    void on_barrier(uint32_t, uint32_t, uint32_t) override {}
    void on_request(const simt::Request& request) override {
        if (request.space != Space::Global) return;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            if (!(request.mask >> lane & 1)) continue;
            const uint64_t address = request.address[lane];
            if (address - views[last].base >= views[last].bytes) {
                const auto behind = std::ranges::upper_bound(views, address, {}, &simt::View::base);
                if (behind == views.begin()) continue;
                last = static_cast<size_t>(behind - views.begin()) - 1;
            }
            ends[last] = std::max(ends[last], address - views[last].base + 1);
        }
    }
};

// In the copy of the process: runs the blocks and writes how far they reach.
[[noreturn]] void look(const simt::Program& program, const Launch& launch,
                       const std::vector<simt::View>& views, const BlockWindow& window, int to) {
    alarm(kMostSeconds);
    Reach reach(views);
    simt::RunOptions options;
    options.window = window;
    options.threads = 1;
    const auto outcome =
        simt::run(program, launch, views, options, [&](const simt::BlockId&) { return &reach; });
    if (!outcome || !outcome->complete) _exit(1);
    const auto* bytes = reinterpret_cast<const char*>(reach.ends.data());
    for (size_t left = reach.ends.size() * sizeof(uint64_t); left > 0;) {
        const ssize_t written = write(to, bytes, left);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) _exit(1);
        bytes += written, left -= static_cast<size_t>(written);
    }
    _exit(0);
}

}  // namespace

std::optional<std::map<uint64_t, uint64_t>> touched_by(const simt::Program& program, const Launch& launch,
                                                       const KnownMemory& memory, const BlockWindow& window) {
    const std::vector<simt::View> views = memory.views();
    int ends[2];
    if (views.empty() || pipe(ends) != 0) return {};
    const pid_t child = fork();
    if (child == 0) look(program, launch, views, window, ends[1]);
    close(ends[1]);
    std::vector<uint64_t> reached(views.size());
    auto* bytes = reinterpret_cast<char*>(reached.data());
    size_t left = child > 0 ? reached.size() * sizeof(uint64_t) : 0;
    while (left > 0) {
        const ssize_t got = read(ends[0], bytes, left);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        bytes += got, left -= static_cast<size_t>(got);
    }
    close(ends[0]);
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child <= 0 || status != 0 || left > 0) return {};
    std::map<uint64_t, uint64_t> touched;
    for (size_t v = 0; v < views.size(); ++v)
        if (reached[v] > 0) touched[views[v].base] = reached[v];
    return touched;
}

void cut_arrays(Launch& launch, const std::map<uint64_t, uint64_t>& touched) {
    for (Array& array : launch.arrays) {
        if (array.space != Space::Global || !array.symbol.empty()) continue;
        const auto found = touched.find(array.base);
        const uint64_t reached = found == touched.end() ? 1 : found->second;
        const uint64_t wanted = (reached + kRound - 1) / kRound * kRound;
        if (wanted >= array.bytes()) continue;
        array.rank = 1, array.slices = array.rows = 1;
        array.cols = static_cast<uint32_t>(wanted / static_cast<uint64_t>(array.element_bytes()));
    }
}

uint64_t bytes_of_arrays(const Launch& launch) {
    uint64_t bytes = 0;
    for (const Array& array : launch.arrays)
        if (array.space == Space::Global) bytes += array.bytes();
    return bytes;
}

}  // namespace tilescope::launched
