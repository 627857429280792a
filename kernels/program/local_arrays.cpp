#include "kernels/program/local_arrays.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "kernels/program/ir_text.h"

namespace tilescope::program {

namespace {

// Visits the lines of a text, each without its end.
template <class Visit>
void for_lines(std::string_view text, Visit visit) {
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        visit(text.substr(at, end - at));
        at = end + 1;
    }
}

// The word behind `before`, up to one of `ends`; "" where it is not there.
std::string_view word_behind(std::string_view line, std::string_view before, std::string_view ends) {
    const size_t at = line.find(before);
    if (at == std::string_view::npos) return {};
    const std::string_view word = line.substr(at + before.size());
    return word.substr(0, word.find_first_of(ends));
}

}  // namespace

bool has_local_arrays(std::string_view ir) {
    const Declarations declarations(ir);
    bool any = false;
    for_lines(ir, [&](std::string_view line) {
        if (any || !line.starts_with("  %")) return;
        const size_t type = line.find(" = alloca ");
        if (type == std::string_view::npos) return;
        any = declarations.holds_array(line.substr(type + 10, line.find(", align") - type - 10));
    });
    return any;
}

std::map<std::string, uint64_t> local_bytes(std::string_view ptx) {
    std::map<std::string, uint64_t> bytes;
    std::string kernel;
    for_lines(ptx, [&](std::string_view line) {
        if (const std::string_view name = word_behind(line, ".entry ", "( "); !name.empty())
            bytes.emplace(kernel = name, 0);
        else if (line.starts_with("}"))
            kernel.clear();
        else if (!kernel.empty() && line.find(".local ") != std::string_view::npos)
            bytes[kernel] += number_of(word_behind(line, "[", "]")).value_or(0);
    });
    return bytes;
}

std::string with_loops_kept(std::string_view ir, const std::map<std::string, uint64_t>& kernels,
                            const std::function<bool(const std::string& kernel)>& kept) {
    constexpr std::string_view kLoop = "!llvm.loop ";
    std::set<std::string, std::less<>> loops;  // "!7"
    bool inside = false;
    for_lines(ir, [&](std::string_view line) {
        if (line.starts_with("define ")) {
            const std::string name(word_behind(line, " @", "("));
            inside = kernels.contains(name) && kept(name);
        } else if (const size_t loop = line.find(kLoop); inside && loop != std::string_view::npos) {
            const std::string_view node = line.substr(loop + kLoop.size());
            loops.emplace(node.substr(0, node.find_first_of(", ")));
        }
    });
    std::string out;
    out.reserve(ir.size());
    constexpr std::string_view kOff = "!999999999";  // no file has so many pieces of metadata
    for_lines(ir, [&](std::string_view line) {
        const size_t equals = line.find(" = distinct !{");
        if (line.starts_with('!') && equals != std::string_view::npos &&
            loops.contains(line.substr(0, equals)) && line.ends_with('}'))
            out += fmt::format("{}, {}}}\n", line.substr(0, line.size() - 1), kOff);
        else
            out += fmt::format("{}\n", line);
    });
    if (!loops.empty()) out += fmt::format("{} = !{{!\"llvm.loop.unroll.disable\"}}\n", kOff);
    return out;
}

}  // namespace tilescope::program
