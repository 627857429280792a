#include "kernels/program/whole_copies.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/program/ir_text.h"

namespace tilescope::program {
namespace {

constexpr uint64_t kVector = 16;  // bytes of the widest access of a thread, and its alignment
constexpr uint64_t kMostVectors = 8;

// In their order; none where the copy says nothing of them, or members share bytes, as those of a union.
std::vector<Scalar> members_of(std::string_view ir, std::string_view tbaa_struct, bool typed_pointers) {
    const std::vector<std::string_view> words = parts_of(metadata(ir, tbaa_struct));
    std::vector<Scalar> members;
    for (size_t w = 0; w + 2 < words.size(); w += 3) {
        const auto at = number_of(words[w].substr(std::min<size_t>(4, words[w].size()))),
                   bytes = number_of(words[w + 1].substr(std::min<size_t>(4, words[w + 1].size())));
        if (!at || !bytes || *bytes == 0) return {};
        if (!members.empty() && *at < members.back().at + members.back().bytes) return {};
        const std::vector<std::string_view> tag = parts_of(metadata(ir, words[w + 2]));
        const std::string_view name = tag.size() < 2 ? std::string_view() : metadata(ir, tag[1]);
        const bool pointer = name.starts_with("!\"any pointer\"") || name.starts_with("!\"p1 ");
        const std::string_view type = pointer && *bytes == 8 ? (typed_pointers ? "i8*" : "ptr")
                                      : *bytes == 4 && name.starts_with("!\"float\"")  ? "float"
                                      : *bytes == 8 && name.starts_with("!\"double\"") ? "double"
                                      : *bytes == 8                                    ? "i64"
                                      : *bytes == 4                                    ? "i32"
                                      : *bytes == 2                                    ? "i16"
                                      : *bytes == 1                                    ? "i8"
                                                                                       : "";
        members.push_back({*at, *bytes, type});
    }
    return members;
}

// A load and a store that are a part of a copy.
struct Piece {
    uint64_t at = 0;
    std::string type;
    uint64_t alignment = 1;
};

// Members one by one, and those of one type side by side as a vector where their place allows one.
std::vector<Piece> pieces_of(const std::vector<Scalar>& members, uint64_t alignment) {
    std::vector<Piece> pieces;
    for (size_t m = 0; m < members.size();) {
        const Scalar& first = members[m];
        uint64_t lanes = 1;
        for (const uint64_t wanted : {4, 2}) {
            const uint64_t bytes = wanted * first.bytes;
            if (bytes > std::min(kVector, alignment) || first.at % bytes != 0) continue;
            if (m + wanted > members.size()) continue;
            bool alike = true;
            for (uint64_t l = 1; l < wanted; ++l)
                alike &= members[m + l].type == first.type && members[m + l].at == first.at + l * first.bytes;
            if (alike) lanes = wanted;
            if (alike) break;
        }
        const uint64_t bytes = lanes * first.bytes;
        pieces.push_back({first.at,
                          lanes == 1 ? std::string(first.type) : fmt::format("<{} x {}>", lanes, first.type),
                          std::min(alignment, first.at == 0 ? bytes : first.at & -first.at)});
        m += lanes;
    }
    return pieces;
}

// A variable of a function, which lies on the thread's stack until it is found to fit into registers.
struct Local {
    std::set<std::string, std::less<>> members;  // that are named alone: "i32 1"
    std::string_view type;                       // "%struct.float4"
    bool whole = false;                          // whether it is used in another way too
};

// What the pointers of one function point into.
struct Pointee {
    std::string local;     // name of the variable of the function; "" for other memory
    bool scalars = false;  // an array of numbers, whose alignment says nothing of a struct that it is cast to
};

class Function {
public:
    // The text from "define" to the brace that ends it, or further.
    Function(std::string_view text, const Declarations& declarations) : declarations_(declarations) {
        text = text.substr(0, text.find("\n}"));
        for (size_t at = 0; at < text.size();) {
            const size_t end = std::min(text.find('\n', at), text.size());
            read(text.substr(at, end - at));
            at = end + 1;
        }
    }

    Pointee of(const PointerArgument& argument) const {
        const auto found = pointees_.find(argument.value);
        if (found != pointees_.end()) return found->second;
        return {"", names_array(argument.value)};
    }
    const Local* local(const Pointee& pointee) const {
        const auto found = locals_.find(pointee.local);
        return found == locals_.end() ? nullptr : &found->second;
    }

private:
    // Visits the values that a line names, "%5" and the like, types aside.
    template <class Visit>
    static void for_values(std::string_view text, Visit visit) {
        for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1))
            visit(text.substr(at, text.find_first_of(" ,*)]}>", at) - at));
    }

    void read(std::string_view line) {
        const size_t equals = line.find(" = ");
        const bool makes = line.starts_with("  %") && equals != std::string_view::npos;
        const std::string name(makes ? line.substr(2, equals - 2) : std::string_view());
        const std::string_view made = makes ? line.substr(equals + 3) : line;
        const bool element = made.starts_with("getelementptr ");
        if (made.starts_with("alloca ")) {
            const std::string_view type = made.substr(7, made.find(", align") - 7);
            locals_.emplace(name, Local{{}, type, false});
            pointees_.emplace(name, Pointee{name, made.starts_with("alloca [")});
        } else if (element || made.starts_with("bitcast ") || made.starts_with("addrspacecast ")) {
            point(name, made, element);
        } else if (made.find("@llvm.memcpy.") == std::string_view::npos &&
                   made.find("@llvm.lifetime.") == std::string_view::npos) {
            use(made);
        } else if (const auto parts = parts_of(made.substr(std::min(made.find('('), made.size() - 1) + 1));
                   parts.size() > 1 && made.find("memcpy") != std::string_view::npos) {
            use(parts[1]);  // where it is copied from
        }
    }

    // Another pointer into the same.
    void point(const std::string& name, std::string_view made, bool element) {
        Pointee pointee;
        for_values(made, [&](std::string_view value) {
            const auto found = pointees_.find(value);
            if (found != pointees_.end() && pointee.local.empty()) pointee = found->second;
        });
        pointee.scalars |= names_array(made);
        if (element) {
            const std::string_view type = made.substr(0, made.find(','));
            pointee.scalars |=
                type.find('[') != std::string_view::npos && type.find('%') == std::string_view::npos;
            const std::vector<std::string_view> parts = parts_of(made.substr(0, made.find(", !dbg")));
            const auto found = locals_.find(pointee.local);
            if (found != locals_.end() && parts.size() == 4) found->second.members.emplace(parts[3]);
            if (found != locals_.end() && parts.size() != 4) found->second.whole = true;
        }
        pointees_.emplace(name, pointee);
    }

    // Whether the text names a variable of the module that is an array of numbers.
    bool names_array(std::string_view text) const {
        const size_t at = text.find('@');
        return at != std::string_view::npos &&
               declarations_.is_array_of_scalars(text.substr(at, text.find_first_of(" ,)", at) - at));
    }

    // A load or a store of a member, which is counted already, or something else with a variable whole.
    void use(std::string_view text) {
        for_values(text, [&](std::string_view value) {
            if (const auto found = locals_.find(value); found != locals_.end()) found->second.whole = true;
        });
    }

    const Declarations& declarations_;
    std::map<std::string, Pointee, std::less<>> pointees_;
    std::map<std::string, Local, std::less<>> locals_;
};

// One copy: a call of llvm.memcpy.
struct Copy {
    PointerArgument to, from;
    uint64_t bytes = 0;
    std::vector<Scalar> members;
    std::string where;  // ", !dbg !9"
};

std::optional<Copy> copy_in(std::string_view ir, std::string_view line) {
    const size_t open = line.find('('), close = line.rfind("i1 false)");
    if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
    const std::vector<std::string_view> arguments = parts_of(line.substr(open + 1, close + 8 - open - 1));
    if (arguments.size() != 4) return std::nullopt;
    const auto to = pointer_of(arguments[0]), from = pointer_of(arguments[1]);
    const size_t blank = arguments[2].find(' ');
    const auto bytes =
        blank == std::string_view::npos ? std::nullopt : number_of(arguments[2].substr(blank + 1));
    if (!to || !from || !bytes || *bytes == 0 || *bytes > kMostVectors * kVector) return std::nullopt;
    Copy copy{*to, *from, *bytes, {}, ""};
    for (const std::string_view note : parts_of(line.substr(close + 9))) {
        if (note.starts_with("!dbg ")) copy.where = fmt::format(", {}", note);
        if (note.starts_with("!tbaa.struct ")) copy.members = members_of(ir, note.substr(13), to->typed);
    }
    return copy;
}

// The alignment of what is copied, which both sides share. A cast of an array of floats to float4 keeps that of the
// array; where both sides are such casts, they are taken to be aligned as vectors have to be.
uint64_t alignment_of(const Copy& copy, const Pointee& to, const Pointee& from) {
    constexpr uint64_t kPacked = 4;  // less is a struct that its author packed
    const uint64_t least = std::min(copy.to.alignment, copy.from.alignment);
    if (least < kPacked || (!to.scalars && !from.scalars)) return least;
    if (!to.scalars) return copy.to.alignment;
    if (!from.scalars) return copy.from.alignment;
    return std::min(kVector, copy.bytes & -copy.bytes);
}

// The copy's members, with the elements of those that are arrays, as the variable's type has them.
std::vector<Scalar> with_elements(const std::vector<Scalar>& members, const Declarations& declarations,
                                  const Local* local) {
    if (local == nullptr) return members;
    const std::vector<Scalar> all = declarations.scalars_of(local->type);
    if (members.empty()) return all;  // of a union, those of its largest member
    std::vector<Scalar> made;
    for (const Scalar& member : members) {
        const size_t before = made.size();
        if (member.type.empty())
            for (const Scalar& one : all)
                if (one.at >= member.at && one.at + one.bytes <= member.at + member.bytes)
                    made.push_back(one);
        if (made.size() == before) made.push_back(member);
    }
    return made;
}

// How a copy is done; nothing where it stays a call.
std::vector<Piece> pieces_of(const Copy& copy, const Function& function, const Declarations& declarations) {
    const Pointee to = function.of(copy.to), from = function.of(copy.from);
    const Local* const local = function.local(to) ? function.local(to) : function.local(from);
    const std::vector<Scalar> members = with_elements(copy.members, declarations, local);
    const uint64_t alignment = alignment_of(copy, to, from);
    const bool known = !members.empty() && members.back().at + members.back().bytes <= copy.bytes &&
                       std::ranges::none_of(members, [](const Scalar& one) { return one.type.empty(); });
    const bool of_local = !to.local.empty() || !from.local.empty();
    std::vector<Piece> pieces;
    if (known) pieces = pieces_of(members, alignment);
    const bool alike =
        known && std::ranges::all_of(pieces, [&](const Piece& one) { return one.type == pieces[0].type; });
    if (known && (of_local || alike)) {
        // Of a struct of which one member alone is used, that alone is loaded.
        const Local* const filled = function.local(to);
        const bool one = filled && !filled->whole && filled->members.size() == 1;
        return one && pieces.size() == 1 ? std::vector<Piece>() : pieces;
    }
    if (alignment < kVector || copy.bytes % kVector != 0) return {};
    for (const Pointee* side : {&to, &from})
        if (const Local* const one = function.local(*side); one && !one->members.empty()) return {};
    pieces.clear();
    for (uint64_t at = 0; at < copy.bytes; at += kVector) pieces.push_back({at, "<4 x i32>", kVector});
    return pieces;
}

// The lines in place of a call; "" where it stays.
std::string copies_in_place_of(const Copy& copy, const Function& function, const Declarations& declarations,
                               uint64_t& made) {
    std::string text;
    // The pointer `behind` bytes behind an argument, as one to the type.
    const auto pointer = [&](const PointerArgument& of, uint64_t behind, std::string_view type) {
        std::string value(of.value);
        const std::string held = of.typed ? fmt::format("i8{}*", of.space) : fmt::format("ptr{}", of.space);
        if (behind > 0) {
            const std::string moved = fmt::format("%tilescope.{}", ++made);
            text += fmt::format("  {} = getelementptr i8, {} {}, i64 {}{}\n", moved, held, value, behind,
                                copy.where);
            value = moved;
        }
        if (!of.typed) return fmt::format("{} {}", held, value);
        const std::string cast = fmt::format("%tilescope.{}", ++made),
                          wanted = fmt::format("{}{}*", type, of.space);
        text += fmt::format("  {} = bitcast {} {} to {}{}\n", cast, held, value, wanted, copy.where);
        return fmt::format("{} {}", wanted, cast);
    };
    std::string stores;
    for (const Piece& piece : pieces_of(copy, function, declarations)) {
        const std::string source = pointer(copy.from, piece.at, piece.type),
                          target = pointer(copy.to, piece.at, piece.type);
        const std::string value = fmt::format("%tilescope.{}", ++made);
        text += fmt::format("  {} = load {}, {}, align {}{}\n", value, piece.type, source, piece.alignment,
                            copy.where);
        stores += fmt::format("  store {} {}, {}, align {}{}\n", piece.type, value, target, piece.alignment,
                              copy.where);
    }
    return text + stores;
}

}  // namespace

std::string with_whole_copies(std::string_view ir) {
    constexpr std::string_view kCall = "call void @llvm.memcpy.";
    std::string out;
    out.reserve(ir.size() + ir.size() / 16);
    uint64_t made = 0;
    const Declarations declarations(ir);
    std::optional<Function> function;
    for (size_t at = 0; at < ir.size();) {
        const size_t end = std::min(ir.find('\n', at), ir.size() - 1) + 1;
        const std::string_view line = ir.substr(at, end - at);
        if (line.starts_with("define ")) function.emplace(ir.substr(at), declarations);
        at = end;
        std::string copies;
        if (function && line.find(kCall) != std::string_view::npos)
            if (const auto copy = copy_in(ir, line.substr(0, line.find('\n'))))
                copies = copies_in_place_of(*copy, *function, declarations, made);
        out += copies.empty() ? line : std::string_view(copies);
    }
    return out;
}

}  // namespace tilescope::program
