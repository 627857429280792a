#include "kernels/program/flags.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "core/base/shell_words.h"

namespace tilescope::program {

namespace {

// nvcc's flags that change nothing here: what they ask for is always there, or of no use.
constexpr std::array kIgnored = {"-lineinfo",
                                 "--generate-line-info",
                                 "-G",
                                 "--device-debug",
                                 "-g",
                                 "--debug",
                                 "--extended-lambda",
                                 "-extended-lambda",
                                 "--expt-extended-lambda",
                                 "-expt-extended-lambda",
                                 "--expt-relaxed-constexpr",
                                 "-expt-relaxed-constexpr",
                                 "-Xptxas",
                                 "--ptxas-options",
                                 "-v",
                                 "--verbose",
                                 "-m64",
                                 "-dc",
                                 "-c",
                                 "-rdc=false",
                                 "--threads",
                                 "-t",
                                 "-ccbin",
                                 "--resource-usage",
                                 "-res-usage",
                                 "-lcudart",
                                 "-lcudart_static",
                                 "-lcuda",
                                 "-lcudadevrt",
                                 "-lcublas",
                                 "-lcublas_static",
                                 "-lcublasLt",
                                 "-lcublasLt_static",
                                 "-lcurand",
                                 "-lcurand_static",
                                 "-lculibos",
                                 "-lnvToolsExt",
                                 "-lrt"};
// Of those, the ones whose next word belongs to them.
constexpr std::array kIgnoredWithWord = {"-Xptxas", "--ptxas-options", "--threads", "-t", "-ccbin"};
// clang's flags whose next word belongs to them.
constexpr std::array kTwoWords = {"-I",       "-D",         "-U",      "-include",
                                  "-isystem", "-idirafter", "-iquote", "-Xclang"};

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
        if (is_in(kIgnored, word)) {
            if (is_in(kIgnoredWithWord, word) && at + 1 < words.size()) ++at;
        } else if (word.rfind("-Xptxas", 0) == 0 || word.rfind("--maxrregcount", 0) == 0 ||
                   word.rfind("-maxrregcount", 0) == 0) {
            if (word.find('=') == std::string::npos && at + 1 < words.size()) ++at;
        } else if (is_file(word)) {
            flags.files.push_back(word);
        } else if (word == "-rdc=true" || word == "--relocatable-device-code=true" || word == "-dlink") {
            return Error{
                fmt::format("the flag {} asks for device code that is linked, which Tilescope does not "
                            "do; put the device functions that a kernel calls into its own file",
                            word)};
        } else if (const auto arch = value_of({"-arch", "--gpu-architecture", "-gencode", "--generate-code",
                                               "--cuda-gpu-arch", "--offload-arch", "-code", "--gpu-code"},
                                              words, at)) {
            if (const std::string found = arch_in(*arch); !found.empty()) flags.arch = found;
        } else if (const auto standard = value_of({"-std", "--std"}, words, at)) {
            flags.standard = *standard;
        } else if (const auto host = value_of({"-Xcompiler", "--compiler-options"}, words, at)) {
            std::string one;
            for (const char c : *host + ",")
                if (c != ',')
                    one += c;
                else if (!one.empty())
                    flags.compile.push_back(std::exchange(one, ""));
        } else if (word == "--use_fast_math" || word == "-use_fast_math") {
            flags.compile.push_back("-fcuda-approx-transcendentals");
        } else if (word == "-o" || word == "-x") {
            if (at + 1 < words.size()) ++at;  // ours to say
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
