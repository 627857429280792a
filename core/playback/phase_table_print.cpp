// The phase table as text, CSV and Markdown.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/words.h"
#include "core/playback/phase_table.h"

namespace tilescope::playback {
namespace {

std::string join(const std::vector<std::string>& parts, const char* separator) {
    return fmt::format("{}", fmt::join(parts, separator));
}

// Breaks a cell behind its separators into lines of at most `width` columns where it can.
std::vector<std::string> wrapped(const std::string& text, const std::string& separator, size_t width) {
    std::vector<std::string> lines(1);
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(separator, at), text.size());
        const std::string part = text.substr(at, end - at);
        const bool more = end < text.size();
        // A separator's last character is a space, which a line's end does without.
        const size_t needed = part.size() + (more ? separator.size() - 1 : 0);
        if (!lines.back().empty() && lines.back().size() + needed > width) lines.emplace_back();
        lines.back() += part + (more ? separator : "");
        at = more ? end + separator.size() : end;
    }
    for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
    return lines;
}

// What a block of a grid with depth has behind its x and y: ",2"; else nothing.
template <class Text>
std::string depth_text(const PhaseTable& table, const Text& z) {
    return table.grid.z > 1 ? fmt::format(",{}", z) : "";
}

std::string text_of(const PhaseTable& table) {
    std::string out =
        fmt::format("block {},{}{}: {}, {}\n", table.block_x, table.block_y, depth_text(table, table.block_z),
                    counted(table.phases, "phase"), counted(table.rows.size(), "thread"));
    for (uint32_t p = 0; p < table.phases; ++p) {
        size_t thread_width = 6, loads_width = 5;  // those of the headings
        for (const PhaseTable::ThreadRow& row : table.rows) {
            thread_width = std::max(thread_width, row.thread.size());
            loads_width = std::max(loads_width, join(row.phase[p].loads, ", ").size());
        }
        loads_width = std::min(loads_width, kTextWidth / 2);
        const size_t multiplies_width = kTextWidth - thread_width - loads_width - 6;
        out += fmt::format("\n{}\n  {:<{}}  {:<{}}  {}\n", phase_name(p, table.notation), "thread",
                           thread_width, "loads", loads_width, heading_of(table));
        for (const PhaseTable::ThreadRow& row : table.rows) {
            const TableCell& cell = row.phase[p];
            const auto loads = wrapped(join(cell.loads, ", "), ", ", loads_width);
            const auto multiplies = wrapped(cell.multiplies, " + ", multiplies_width);
            for (size_t i = 0; i < std::max(loads.size(), multiplies.size()); ++i) {
                std::string line = fmt::format("  {:<{}}  {:<{}}  {}", i == 0 ? row.thread : "", thread_width,
                                               i < loads.size() ? loads[i] : "", loads_width,
                                               i < multiplies.size() ? multiplies[i] : "");
                line.erase(line.find_last_not_of(' ') + 1);
                out += line + "\n";
            }
        }
    }
    return out;
}

std::string csv_of(const PhaseTable& table) {
    const bool deep = !table.rows.empty() && table.rows.back().z > 0;
    std::string out = fmt::format("block_x,block_y{},{}thread_y,thread_x,phase,loads,{}\r\n",
                                  depth_text(table, "block_z"), deep ? "thread_z," : "", heading_of(table));
    for (const PhaseTable::ThreadRow& row : table.rows)
        for (uint32_t p = 0; p < table.phases; ++p)
            out += fmt::format("{},{}{},{}{},{},{},{},{}\r\n", table.block_x, table.block_y,
                               depth_text(table, table.block_z), deep ? fmt::format("{},", row.z) : "", row.y,
                               row.x, p, csv_cell(join(row.phase[p].loads, "; ")),
                               csv_cell(row.phase[p].multiplies));
    return out;
}

std::string markdown_of(const PhaseTable& table) {
    std::string head = "| thread |", rule = "|---|", out;
    for (uint32_t p = 0; p < table.phases; ++p) {
        head += fmt::format(" {0} loads | {0} {1} |", phase_name(p, table.notation), heading_of(table));
        rule += "---|---|";
    }
    for (const PhaseTable::ThreadRow& row : table.rows) {
        out += fmt::format("| {} |", row.thread);
        for (uint32_t p = 0; p < table.phases; ++p)
            out += fmt::format(" {} | {} |", markdown_code(join(row.phase[p].loads, ", ")),
                               markdown_code(row.phase[p].multiplies));
        out += "\n";
    }
    return head + "\n" + rule + "\n" + out;
}

}  // namespace

std::string print(const PhaseTable& table, TableFormat format) {
    switch (format) {
        case TableFormat::Csv: return csv_of(table);
        case TableFormat::Markdown: return markdown_of(table);
        case TableFormat::Text: break;
    }
    return text_of(table);
}

}  // namespace tilescope::playback
