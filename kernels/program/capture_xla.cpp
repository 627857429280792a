#include "kernels/program/capture_xla.h"

#include <system_error>

#include <fmt/format.h>

#include "core/base/file.h"

namespace tilescope::program {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDataDir = "--xla_gpu_cuda_data_dir", kGraphs = "--xla_gpu_enable_command_buffer";

// TOOL, TOOLKIT and KEPT are filled in. Of a file that ptxas made the PTX is what it read; of one that nvlink made,
// those of all the files that it read, parted by zeros.
constexpr std::string_view kScript = R"script(#!/bin/sh
tool='TOOL'
kept='KEPT'
site=$(sed -n 's|^[^/]*\(/.*/site-packages\)/.*xla_cuda_plugin.*|\1|p' "/proc/$PPID/maps" 2>/dev/null | head -n 1)
for folder in 'TOOLKIT/bin' "$site"/nvidia/cu*/bin "$site/nvidia/cuda_nvcc/bin" /usr/local/cuda/bin; do
    real=$folder/$tool
    [ -x "$real" ] && break
done
[ -x "$real" ] || real=$(PATH=$(printf %s "$PATH" | tr : '\n' | grep -v "^${0%/*}\$" | paste -sd: -) command -v "$tool")
"$real" "$@"
status=$?
[ $status = 0 ] || exit $status
out='' before='' ins=''
for word in "$@"; do
    if [ "$before" = -o ]; then
        out=$word
    elif [ "${word#-}" = "$word" ] && [ -f "$word" ]; then
        ins="$ins $word"
    fi
    before=$word
done
if [ -f "$out" ]; then
    sum=$(cksum <"$out" | tr ' ' -)
    for in in $ins; do
        from=$in
        [ "$tool" = nvlink ] && from=$kept/$(cksum <"$in" | tr ' ' -).ptx
        [ -f "$from" ] && cat "$from" && printf '\0'
    done >"$kept/$sum.$$" && cp "$out" "$kept/$$.cubin" &&
        mv "$kept/$sum.$$" "$kept/$sum.ptx" && mv "$kept/$$.cubin" "$kept/$sum.cubin"
fi
exit 0
)script";

void fill_in(std::string& text, std::string_view word, const std::string& with) {
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + with.size()))
        text.replace(at, word.size(), with);
}

}  // namespace

Result<void> write_xla_tools(const fs::path& folder, const std::string& cuda) {
    std::error_code error;
    const fs::path root = folder / "cuda", bin = root / "bin", kept = folder / "kept";
    fs::create_directories(bin, error);
    fs::create_directories(kept, error);
    const auto link_all = [&](const fs::path& from, const fs::path& to) {
        for (fs::directory_iterator at(from, error), end; !error && at != end; at.increment(error)) {
            std::error_code linked;
            fs::create_symlink(at->path(), to / at->path().filename(), linked);  // not over what is there
        }
    };
    for (const char* tool : {"ptxas", "nvlink"}) {
        std::string text(kScript);
        fill_in(text, "TOOLKIT", cuda);
        fill_in(text, "TOOL", tool);
        fill_in(text, "KEPT", kept.string());
        const fs::path path = bin / tool;
        if (const std::string why = write_whole(path.string(), text); !why.empty())
            return Error{fmt::format("'{}' cannot be written: {}; make room there", path.string(), why)};
        fs::permissions(path, fs::perms::owner_all, error);
    }
    link_all(fs::path(cuda) / "bin", bin);
    link_all(cuda, root);
    return {};
}

std::string xla_toolkit(const std::string& own_flags, const std::string& cuda_root) {
    if (!cuda_root.empty()) return cuda_root;
    const size_t at = own_flags.rfind(std::string(kDataDir) + "=");
    if (at == std::string::npos) return "/usr/local/cuda";
    const size_t begin = at + kDataDir.size() + 1;
    return own_flags.substr(begin, own_flags.find_first_of(" \t\n", begin) - begin);
}

std::string xla_flags(const std::string& own, const fs::path& folder) {
    const size_t first = own.find_first_not_of(" \t\n");
    if (first != std::string::npos && own[first] != '-') return own;
    std::string flags = own;
    const auto add = [&](const std::string& flag) { flags += (flags.empty() ? "" : " ") + flag; };
    add(fmt::format("{}={}", kDataDir, (folder / "cuda").string()));
    if (own.find(kGraphs) == std::string::npos) add(std::string(kGraphs) + "=");
    return flags;
}

}  // namespace tilescope::program
