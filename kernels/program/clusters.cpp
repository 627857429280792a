#include "kernels/program/clusters.h"

#include <cctype>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace tilescope::program {

namespace {

// The line that begins with a text; "" for none.
std::string_view line_of(std::string_view ir, const std::string& begin) {
    size_t at = ir.find("\n" + begin);
    if (at == std::string_view::npos) return {};
    return ir.substr(at + 1, ir.find('\n', at + 1) - at - 1);
}

// The names behind '@' in a line, in their order.
std::vector<std::string> names_in(std::string_view line) {
    std::vector<std::string> names;
    for (size_t at = line.find('@'); at != std::string_view::npos; at = line.find('@', at + 1)) {
        size_t end = at + 1;
        while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) ||
                                     std::string_view("._$-").find(line[end]) != std::string_view::npos))
            ++end;
        names.emplace_back(line.substr(at + 1, end - at - 1));
    }
    return names;
}

// The numbers of "{ i32, i32 } { i32 2, i32 1 }", at most three; empty for others.
std::vector<unsigned> numbers_in(std::string_view line) {
    std::vector<unsigned> numbers;
    const size_t open = line.rfind('{');
    if (open == std::string_view::npos) return numbers;
    for (size_t at = line.find(' ', open + 2); at < line.size() && numbers.size() < 3;) {
        numbers.push_back(
            static_cast<unsigned>(std::strtoul(std::string(line.substr(at, 12)).c_str(), nullptr, 10)));
        at = line.find(", ", at);
        if (at != std::string_view::npos) at = line.find(' ', at + 2);
    }
    return numbers;
}

}  // namespace

std::string without_annotations(std::string ir) {
    const std::string_view line = line_of(ir, "@llvm.global.annotations");
    if (!line.empty() && ir.find("c\"tilescope.cluster\\00\"") != std::string::npos)
        ir.erase(static_cast<size_t>(line.data() - ir.data()), line.size());
    return ir;
}

std::string with_clusters(std::string ptx, std::string_view ir) {
    const std::vector<std::string> names = names_in(line_of(ir, "@llvm.global.annotations"));
    for (size_t i = 1; i + 2 < names.size(); ++i) {  // kernel, text, file, numbers
        if (line_of(ir, "@" + names[i] + " =").find("c\"tilescope.cluster\\00\"") == std::string_view::npos)
            continue;
        const std::vector<unsigned> numbers = numbers_in(line_of(ir, "@" + names[i + 2] + " ="));
        const size_t entry = ptx.find(".entry " + names[i - 1] + "(");
        if (numbers.empty() || entry == std::string::npos) continue;
        const size_t body = ptx.find("\n{", entry);
        if (body == std::string::npos) continue;
        std::string text = "\n.explicitcluster\n.reqnctapercluster ";
        for (size_t n = 0; n < numbers.size(); ++n)
            text += fmt::format("{}{}", n == 0 ? "" : ", ", numbers[n]);
        ptx.insert(body, text);
    }
    return ptx;
}

}  // namespace tilescope::program
