#include "kernels/program/flags.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/shell_words.h"

namespace tilescope::program {

namespace {

// What becomes of a flag of nvcc that means nothing to clang.
enum class NvccFlag {
    Ignored,           // what it asks for is always there, or of no use
    IgnoredWithValue,  // the same, with a value behind it: "-Xptxas -v", "-Xptxas=-v"
    Refused,           // it asks for something else than a program that runs
};
struct NvccFlags {
    NvccFlag kind;
    const char* names;
};
// In the order of "Command Option Description".
constexpr NvccFlags kNvccFlags[] = {
    {NvccFlag::Refused,
     "--cuda -cuda --cubin -cubin --fatbin -fatbin --ptx -ptx --optix-ir -optix-ir --ltoir -ltoir "
     "--preprocess -E "
     "--generate-dependencies -M --generate-nonsystem-dependencies -MM --lib -lib --dryrun -dryrun "
     "--clean-targets -clean --list-gpu-code -code-ls --list-gpu-arch -arch-ls --help -h --version -V "
     "--options-file -optf"},
    {NvccFlag::Ignored,
     "--compile -c --device-c -dc --device-w -dw --device-link -dlink --link -link --run -run "
     "--generate-dependencies-with-compile -MD --generate-nonsystem-dependencies-with-compile -MMD "
     "--generate-dependency-targets -MP --objdir-as-tempdir -objtemp --allow-unsupported-compiler "
     "-allow-unsupported-compiler --use-local-env -use-local-env --force-cl-env-setup -force-cl-env-setup "
     "--profile -pg --debug -g --device-debug -G --generate-line-info -lineinfo --dlink-time-opt -dlto --lto "
     "-lto "
     "--gen-opt-lto -gen-opt-lto --no-exceptions -noeh --no-host-device-initializer-list -nohdinitlist "
     "--no-host-device-move-forward -nohdmoveforward --expt-relaxed-constexpr -expt-relaxed-constexpr "
     "--extended-lambda -extended-lambda --expt-extended-lambda -expt-extended-lambda --m64 -m64 "
     "--forward-unknown-to-host-compiler -forward-unknown-to-host-compiler --forward-unknown-to-host-linker "
     "-forward-unknown-to-host-linker --forward-unknown-opts -forward-unknown-opts --dont-use-profile "
     "-noprof "
     "--verbose -v --fdevice-syntax-only -fdevice-syntax-only --keep -keep --save-temps -save-temps "
     "--no-align-double --no-device-link -nodlink --extra-device-vectorization -extra-device-vectorization "
     "--disable-warnings -w --keep-device-functions -keep-device-functions --source-in-ptx -src-in-ptx "
     "--restrict "
     "-restrict --Wreorder -Wreorder --Wdefault-stream-launch -Wdefault-stream-launch "
     "--Wmissing-launch-bounds "
     "-Wmissing-launch-bounds --Wext-lambda-captures-this -Wext-lambda-captures-this "
     "--Wno-deprecated-declarations --Wno-deprecated-gpu-targets -Wno-deprecated-gpu-targets "
     "--resource-usage "
     "-res-usage --extensible-whole-program -ewp --no-compress -no-compress --display-error-number -err-no "
     "--no-display-error-number -no-err-no --augment-host-linker-script -aug-hls --relocatable-link "
     "--relocatable-ptx -reloc-ptx --jobserver -jobserver --shared -shared "
     "-lcudart -lcudart_static -lcudadevrt -lcuda -lcublas -lcublas_static -lcublasLt -lcublasLt_static "
     "-lcurand -lcurand_static -lculibos "
     "-lnvToolsExt "
     "-lrt"},
    {NvccFlag::IgnoredWithValue,
     "--dependency-output -MF --dependency-target-name -MT --output-directory -odir --compiler-bindir -ccbin "
     "--archiver-binary -arbin --cudart -cudart --cudadevrt -cudadevrt --libdevice-directory -ldir "
     "--target-directory -target-dir --optimization-info -opt-info --optimize --Ofast-compile -Ofc --dopt "
     "-dopt "
     "--machine -m --archive-options -Xarchive --ptxas-options -Xptxas -Xcudafe --nvlink-options -Xnvlink "
     "--static-global-template-stub -static-global-template-stub --device-entity-has-hidden-visibility "
     "-device-entity-has-hidden-visibility --threads -t --split-compile -split-compile "
     "--split-compile-extended "
     "-split-compile-extended --fdevice-time-trace -fdevice-time-trace --keep-dir -keep-dir --time -time "
     "--run-args -run-args --input-drive-prefix -idp --dependency-drive-prefix -ddp --drive-prefix -dp "
     "--relocatable-device-code -rdc --entries -e --maxrregcount -maxrregcount --prec-div -prec-div "
     "--prec-sqrt "
     "-prec-sqrt --default-stream -default-stream --Werror --qpp-config -qpp-config --compile-as-tools-patch "
     "-astoolspatch --diag-error -diag-error --diag-suppress -diag-suppress --diag-warn -diag-warn "
     "--host-linker-script -hls --brief-diagnostics -brief-diag --jump-table-density -jtd "
     "--device-stack-protector -device-stack-protector --compress-mode -compress-mode --frandom-seed "
     "-frandom-seed --sanitize -sanitize"},
};
// Flags that clang has too, by nvcc's long names; their values are lists.
constexpr std::pair<const char*, const char*> kLongNames[] = {
    {"--include-path", "-I"},      {"--define-macro", "-D"}, {"--undefine-macro", "-U"},
    {"--library", "-l"},           {"--library-path", "-L"}, {"--system-include", "-isystem"},
    {"--pre-include", "-include"},
};
// clang's flags whose next word belongs to them.
constexpr std::array kTwoWords = {"-I",       "-D",         "-U",      "-include",
                                  "-isystem", "-idirafter", "-iquote", "-Xclang"};

constexpr std::string_view kOldestArch = "sm_70";  // the PTX for which Tilescope's headers are written

template <class List>
bool is_in(const List& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

std::string ending_of(const std::string& word) {
    std::string ending = std::filesystem::path(word).extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return ending;
}

bool is_file(const std::string& word) {
    static constexpr std::array kEndings = {".cu", ".cpp", ".cc", ".cxx", ".c", ".o", ".a", ".so"};
    return word[0] != '-' && is_in(kEndings, ending_of(word));
}

// "sm_80" of -arch=sm_80, compute_80 or a -gencode's arch=compute_80,code=sm_80; "native" keeps ours.
std::string arch_in(std::string_view text) {
    for (const std::string_view word : {"sm_", "compute_"}) {
        const size_t at = text.find(word);
        if (at == std::string_view::npos) continue;
        std::string digits;
        for (size_t c = at + word.size();
             c < text.size() && std::isalnum(static_cast<unsigned char>(text[c])); ++c)
            digits += text[c];
        if (!digits.empty()) return "sm_" + digits;
    }
    return "";
}

// The text behind `name` in "name=text", or the next word; none where it is another flag.
std::optional<std::string> value_of(std::initializer_list<std::string_view> names,
                                    const std::vector<std::string>& words, size_t& at) {
    for (const std::string_view name : names) {
        if (words[at] == name && at + 1 < words.size()) return words[++at];
        if (words[at].size() > name.size() && words[at].compare(0, name.size(), name) == 0 &&
            words[at][name.size()] == '=')
            return words[at].substr(name.size() + 1);
    }
    return std::nullopt;
}

// The number in "sm_90a".
int capability_in(const std::string& arch) { return std::atoi(arch.c_str() + 3); }

// A flag with its value in one word for which Tilescope has its own: how much is optimised, files, threads.
bool is_ours(std::string_view word) {
    for (const std::string_view name : {"-O", "-o=", "--output-file=", "-x=", "--x="})
        if (word.starts_with(name)) return true;
    return word.size() > 2 && word.starts_with("-t") &&
           std::ranges::all_of(word.substr(2), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Whether a blank-separated list of names has this one.
bool is_named(std::string_view names, std::string_view word) {
    for (size_t at = 0; at < names.size();) {
        const size_t end = std::min(names.find(' ', at), names.size());
        if (names.substr(at, end - at) == word) return true;
        at = end + 1;
    }
    return false;
}

std::optional<NvccFlag> nvcc_flag(std::string_view word) {
    const std::string_view name = word.substr(0, word.find('='));
    for (const NvccFlags& row : kNvccFlags)
        if (is_named(row.names, row.kind == NvccFlag::Ignored ? word : name)) return row.kind;
    return std::nullopt;
}

// Parts of a list such as "-Wall,-O1".
std::vector<std::string> in_list(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text)
        if (c == ',')
            parts.emplace_back();
        else
            parts.back() += c;
    std::erase(parts, "");
    return parts;
}

// What the host's compiler or linker is given through nvcc, and nvcc's long names for clang's flags.
bool take_list(const std::vector<std::string>& words, size_t& at, Flags& flags) {
    if (const auto host = value_of({"-Xcompiler", "--compiler-options"}, words, at)) {
        for (std::string& one : in_list(*host)) flags.compile.push_back(std::move(one));
        return true;
    }
    if (const auto linker = value_of({"-Xlinker", "--linker-options"}, words, at)) {
        flags.link.push_back("-Wl," + *linker);
        return true;
    }
    for (const auto& [name, short_name] : kLongNames) {
        const auto values = value_of({name}, words, at);
        if (!values) continue;
        const bool of_linker = is_named("-l -L", short_name);
        for (const std::string& one : in_list(*values)) {
            if (of_linker && !nvcc_flag(short_name + one)) flags.link.push_back(short_name + one);
            if (!of_linker) flags.compile.insert(flags.compile.end(), {short_name, one});
        }
        return true;
    }
    return false;
}

// What changes the code that is made; "true" or "false" is the value of some.
bool take_code(const std::vector<std::string>& words, size_t& at, Flags& flags) {
    const std::string& word = words[at];
    if (const auto arch = value_of({"-arch", "--gpu-architecture", "-gencode", "--generate-code",
                                    "--cuda-gpu-arch", "--offload-arch", "-code", "--gpu-code"},
                                   words, at)) {
        // The newest of several; "native" and "all" keep ours.
        const std::string found = arch_in(*arch);
        if (found.size() >= kOldestArch.size() && capability_in(found) >= capability_in(flags.arch))
            flags.arch = found;
    } else if (const auto standard = value_of({"-std", "--std"}, words, at)) {
        flags.standard = *standard;
    } else if (word == "--use_fast_math" || word == "-use_fast_math") {
        flags.compile.push_back("-fcuda-approx-transcendentals");
    } else if (const auto fused = value_of({"--fmad", "-fmad"}, words, at)) {
        if (*fused == "false") flags.compile.push_back("-ffp-contract=off");
    } else if (const auto flushed = value_of({"--ftz", "-ftz"}, words, at)) {
        if (*flushed == "true") flags.compile.push_back("-fcuda-flush-denormals-to-zero");
    } else {
        return false;
    }
    return true;
}

}  // namespace

Result<std::vector<std::string>> split_words(std::string_view text) {
    if (text.find('\0') != std::string_view::npos) return Error{"the flags hold a zero byte; leave it out"};
    ShellWords split = shell_words(text, Backslash::Posix);
    if (split.open == '\\')
        return Error{"the flags end with a backslash; write what it is to quote behind it"};
    if (split.open != 0)
        return Error{fmt::format("the flags have a {} that is not closed; close it", split.open)};
    return std::move(split.words);
}

Result<Flags> flags_of(const std::vector<std::string>& words) {
    Flags flags;
    for (size_t at = 0; at < words.size(); ++at) {
        const bool apart = words[at] == "-l" && at + 1 < words.size();  // "-l name" is "-lname"
        const std::string word = apart ? "-l" + words[at + 1] : words[at];
        if (apart) ++at;
        if (word.empty()) continue;
        const auto of_nvcc = nvcc_flag(word);
        if (of_nvcc == NvccFlag::Refused)
            return Error{fmt::format(
                "the flag {} asks the compiler for something else than a program that runs; leave it out",
                word)};
        if (of_nvcc) {
            if (of_nvcc == NvccFlag::IgnoredWithValue && word.find('=') == std::string::npos &&
                at + 1 < words.size())
                ++at;
        } else if (is_file(word)) {
            flags.files.push_back(word);
        } else if (take_list(words, at, flags) || take_code(words, at, flags)) {
            continue;
        } else if (word == "-o" || word == "-x" || word == "--output-file" || word == "--x" || word == "-O") {
            if (at + 1 < words.size()) ++at;  // ours to say
        } else if (is_ours(word)) {
            continue;
        } else if (word == "-Werror" && at + 1 < words.size() && words[at + 1][0] != '-' &&
                   !is_file(words[at + 1])) {
            ++at;  // nvcc's, which names the kinds of warnings
        } else if (word.rfind("-l", 0) == 0 || word.rfind("-L", 0) == 0 || word.rfind("-Wl,", 0) == 0) {
            flags.link.push_back(word);
            if (word.size() == 2 && at + 1 < words.size()) flags.link.push_back(words[++at]);
        } else {
            flags.warnings |= word.rfind("-W", 0) == 0 && word.rfind("-Wno", 0) != 0;
            flags.compile.push_back(word);
            if (is_in(kTwoWords, word) && at + 1 < words.size()) flags.compile.push_back(words[++at]);
        }
    }
    return flags;
}

bool names_files(std::string_view text) {
    const auto words = split_words(text);
    const auto flags = words ? flags_of(*words) : Result<Flags>(words.error());
    return flags && !flags->files.empty();
}

}  // namespace tilescope::program
