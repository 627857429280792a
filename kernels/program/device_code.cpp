#include "kernels/program/device_code.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/file.h"
#include "kernels/program/clusters.h"
#include "kernels/program/local_arrays.h"
#include "kernels/program/source.h"
#include "kernels/program/struct_layouts.h"
#include "kernels/program/whole_copies.h"

namespace tilescope::program {

namespace {

namespace fs = std::filesystem;

// PTX 7.0 knows all instructions that our headers use; newer devices ask for more, and LLVM ends where they get less.
std::string ptx_feature(const std::string& arch) {
    const int capability = capability_of(arch);
    return capability == 88 || capability == 110   ? "+ptx90"
           : capability == 103 || capability > 120 ? "+ptx88"
           : capability == 120                     ? "+ptx87"
           : capability >= 100                     ? "+ptx86"
           : arch == "sm_90a"                      ? "+ptx80"
           : capability >= 89                      ? "+ptx78"
           : capability >= 86                      ? "+ptx71"
                                                   : "+ptx70";
}

// The flags of clang that nvcc has too: folders of headers and macros.
std::vector<std::string> nvcc_words(const Tools& tools, const fs::path& source, const fs::path& out) {
    const Flags& flags = tools.flags;
    std::string standard = flags.standard;
    if (standard.rfind("gnu", 0) == 0) standard.replace(0, 3, "c");
    std::vector<std::string> words = {tools.nvcc.path, "-ptx", "-lineinfo", "-std=" + standard};
    // Newer ones know no older devices than they start from where nothing is said.
    if (flags.arch != Flags().arch) words.push_back("-arch=" + flags.arch);
    if (!flags.warnings) words.push_back("-w");
    for (size_t at = 0; at < flags.compile.size(); ++at) {
        const std::string& flag = flags.compile[at];
        if (flag == "-fcuda-approx-transcendentals") words.push_back("-use_fast_math");
        for (const char* kept : {"-I", "-D", "-U", "-isystem", "-include"}) {
            if (flag.rfind(kept, 0) != 0) continue;
            words.push_back(flag);
            if (flag == kept && at + 1 < flags.compile.size()) words.push_back(flags.compile[++at]);
            break;
        }
    }
    words.insert(words.end(), {"-o", out.string(), file_word(source)});
    return words;
}

// The device's code, up to where LLVM begins to optimise it.
std::vector<std::string> device_words(const Tools& tools, const fs::path& source, const fs::path& out) {
    std::vector<std::string> words = cuda_words(tools);
    if (tools.arch != tools.flags.arch)  // what the program asks by #if
        words.insert(words.end(), {"-U__CUDA_ARCH__",
                                   fmt::format("-D__CUDA_ARCH__={}0", capability_of(tools.flags.arch))});
    words.insert(words.end(), {"--cuda-device-only", "-O3", "-gline-tables-only", "-Xclang",
                               "-disable-llvm-passes", "-Xclang", "-target-feature", "-Xclang",
                               ptx_feature(tools.arch), "-Xclang", "-fdump-record-layouts-canonical",
                               "-emit-llvm", "-S", "-o", out.string(), file_word(source)});
    return words;
}

// What becomes of loops. They stay loops, so that a memory instruction of the PTX is an access of the source
// (kernels/textbook/make_ptx.sh); or those of few trips whose number is known are unrolled whole (local_arrays.h).
enum class Loops { Kept, Unrolled };

// The rest of the way, from that to PTX, as the driver of clang would go it in one step.
std::vector<std::string> ptx_words(const Tools& tools, const fs::path& ir, const fs::path& out, Loops loops) {
    std::vector<std::string> words = {tools.compiler.path, "-cc1", "-triple", "nvptx64-nvidia-cuda"};
    words.insert(words.end(),
                 {"-w", "-x", "ir", "-O3", "-vectorize-loops", "-vectorize-slp", "-fno-dwarf-directory-asm",
                  "-target-cpu", tools.arch, "-target-feature", ptx_feature(tools.arch)});
    std::string contract = "-ffp-contract=fast";  // as for CUDA where nothing is said
    for (const std::string& flag : tools.flags.compile)
        if (flag.starts_with("-ffp-contract=")) contract = flag;
    if (contract.starts_with("-ffp-contract=fast"))
        words.insert(words.end(), {"-mllvm", "-nvptx-fma-level=2"});
    const bool kept = loops == Loops::Kept;
    for (const char* flag :
         {kept ? "-unroll-threshold=0" : "-unroll-threshold=3000",
          kept ? "-unroll-full-max-count=1" : "-unroll-full-max-count=64", "-unroll-max-count=1",
          "-unroll-runtime=0", "-disable-vector-combine"})  // which makes several loads of one of a vector
        words.insert(words.end(), {"-mllvm", flag});
    words.insert(words.end(), {"-S", "-o", out.string(), ir.string()});
    return words;
}

// PTX of the IR of a .cu file, whose other files begin with `stem`.
Result<std::string> ptx_of(const Tools& tools, const fs::path& source, const std::string& text,
                           const std::string& stem, Loops loops, const CompileOptions& options,
                           std::string& said) {
    const std::string ir = stem + ".ll", ptx = stem + ".ptx";
    if (const std::string why = write_whole(ir, text); !why.empty())
        return Error{fmt::format("'{}' cannot be written: {}; make room in the cache", ir, why)};
    if (auto made = call(ptx_words(tools, ir, ptx, loops), options, source.string(), said); !made)
        return made.error();
    return read_whole(ptx, kLargestText);
}

// The same, with loops unrolled in the kernels that have less in local memory then.
Result<std::string> best_ptx_of(const Tools& tools, const fs::path& source, const std::string& text,
                                const std::string& stem, const CompileOptions& options, std::string& said) {
    const std::string whole = with_whole_copies(text);
    auto kept = ptx_of(tools, source, whole, stem, Loops::Kept, options, said);
    if (!kept || !has_local_arrays(whole)) return kept;
    // The kernels that have less in local memory with their loops unrolled; all of the others' stay.
    const auto before = local_bytes(*kept);
    const auto none_local = [&](const std::string& kernel) { return before.at(kernel) == 0; };
    if (std::ranges::all_of(before, [&](const auto& one) { return none_local(one.first); })) return kept;
    auto unrolled = ptx_of(tools, source, with_loops_kept(whole, before, none_local), stem, Loops::Unrolled,
                           options, said);
    if (!unrolled) return kept;
    auto after = local_bytes(*unrolled);
    const auto not_less = [&](const std::string& kernel) { return after[kernel] >= before.at(kernel); };
    const auto in_vain = [&](const auto& one) { return one.second > 0 && not_less(one.first); };
    if (std::ranges::all_of(before, [&](const auto& one) { return not_less(one.first); })) return kept;
    if (std::ranges::none_of(before, in_vain)) return unrolled;
    return ptx_of(tools, source, with_loops_kept(whole, before, not_less), stem, Loops::Unrolled, options,
                  said);
}

}  // namespace

Result<std::vector<std::string>> overlay_of(const fs::path& source, const fs::path& stem) {
    const auto text = read_whole(source.string(), kLargestText);
    if (!text) return text.error();
    auto mended = with_whole_brackets(*text);
    if (auto more = as_nvcc_reads_it(mended ? *mended : *text)) mended = std::move(more);
    if (!mended) return std::vector<std::string>{};
    const std::string copy = stem.string() + ".mended.cu", overlay = stem.string() + ".yaml";
    std::error_code error;
    const nlohmann::json file = {{"name", fs::absolute(source, error).lexically_normal().string()},
                                 {"type", "file"},
                                 {"external-contents", copy}};
    const nlohmann::json map = {
        {"version", 0}, {"use-external-names", false}, {"roots", nlohmann::json::array({file})}};
    const std::string json = map.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    for (const auto& [path, words] : {std::pair{copy, *mended}, {overlay, json}})
        if (const std::string why = write_whole(path, words); !why.empty())
            return Error{fmt::format("'{}' cannot be written: {}; make room in the cache", path, why)};
    return std::vector<std::string>{"-ivfsoverlay", overlay};
}

Result<std::string> device_ptx(const Tools& tools, const fs::path& source, const std::string& stem,
                               const std::vector<std::string>& overlay, const CompileOptions& options,
                               std::string& said) {
    const std::string ir = stem + ".ll", ptx = stem + ".ptx";
    if (!tools.nvcc.path.empty()) {
        std::vector<std::string> words = nvcc_words(tools, source, ptx);
        words.insert(words.end(), overlay.begin(), overlay.end());
        if (auto made = call(std::move(words), options, source.string(), said); !made) return made.error();
        return read_whole(ptx, kLargestText);
    }
    std::vector<std::string> words = device_words(tools, source, ir);
    words.insert(words.end(), overlay.begin(), overlay.end());
    std::string layouts;
    if (auto made = call(std::move(words), options, source.string(), said, &layouts); !made)
        return made.error();
    const auto text = read_whole(ir, kLargestText);
    if (!text) return text.error();
    auto made = best_ptx_of(tools, source, without_annotations(*text), stem, options, said);
    if (!made) return made;
    *made = with_clusters(std::move(*made), *text);
    const auto written = read_whole(source.string(), kLargestText);
    *made += struct_comments(layouts, *text, *made, written ? *written : "");
    return made;
}

}  // namespace tilescope::program
