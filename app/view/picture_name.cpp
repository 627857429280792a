#include "app/view/picture_name.h"

#include <cctype>

#include <fmt/format.h>

namespace tilescope::view {

std::string_view picture_ending(std::string_view path) {
    for (const std::string_view ending : {".png", ".svg"})
        if (path.size() >= ending.size() && path.substr(path.size() - ending.size()) == ending) return ending;
    return "";
}

std::string picture_name(const trace::Trace& trace, const playback::Cursor& cursor, std::string_view ending,
                         int number) {
    const trace::Meta& meta = trace.meta;
    std::string name = meta.kernel.empty() ? "recording" : meta.kernel;
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-') c = '_';
    name += fmt::format("-{}x{}x{}-t{}", meta.m, meta.k, meta.n, meta.tile);
    if (cursor.block < trace.blocks.size())
        name += fmt::format("-step{}", trace.blocks[cursor.block].first + cursor.step + 1);
    if (number > 1) name += fmt::format("-{}", number);
    return name + std::string(ending);
}

}  // namespace tilescope::view
