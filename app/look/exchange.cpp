#include "app/look/exchange.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <optional>

#include <fmt/format.h>

#include "core/base/words.h"
#include "core/ptx/ops.h"

namespace tilescope::look {
namespace {

using ptx::Exchange;

uint64_t count_of(uint32_t lanes) { return static_cast<uint64_t>(std::popcount(lanes)); }

// What an instruction that uses a register takes it for; none where it only moves it on or takes bits.
std::optional<ElementType> taken_for(const ptx::Instruction& user) {
    if (user.op == ptx::Op::Mov || ptx::rule_of(user.op).unit == ptx::SmUnit::Lanes) return std::nullopt;
    const ElementType type = user.op == ptx::Op::Cvt ? user.type2 : user.type;
    if (is_float(type) || is_signed(type)) return type;
    const bool plain = type == ElementType::U32 && user.op != ptx::Op::Shf;
    return plain ? std::optional(type) : std::nullopt;
}

template <class Visit>
void each_register(const ptx::Operand& operand, const Visit& visit) {
    if (operand.reg >= 0) visit(operand.reg);
    for (const ptx::Operand& element : operand.elements) each_register(element, visit);
}

// What uses and what makes each register.
struct Neighbours {
    std::vector<std::vector<uint32_t>> users, makers;

    explicit Neighbours(const ptx::Kernel& kernel)
        : users(kernel.registers.size()), makers(kernel.registers.size()) {
        for (uint32_t at = 0; at < kernel.instructions.size(); ++at) {
            const ptx::Instruction& made = kernel.instructions[at];
            for (size_t i = 0; i < made.operands.size(); ++i)
                each_register(made.operands[i], [&](int32_t reg) {
                    (i < made.destinations ? makers : users)[static_cast<size_t>(reg)].push_back(at);
                });
        }
    }
};

// What the values of registers are taken for: followed through moves, other exchanges and choices to what uses
// them, else by what makes the first ones.
ElementType type_of(const ptx::Kernel& kernel, const Neighbours& near, const std::vector<int32_t>& first) {
    std::vector<bool> seen(kernel.registers.size(), false);
    std::vector<int32_t> open;
    const auto enter = [&](int32_t reg) {
        if (!seen[static_cast<size_t>(reg)]) open.push_back(reg);
        seen[static_cast<size_t>(reg)] = true;
    };
    for (const int32_t reg : first) enter(reg);
    std::optional<ElementType> integer;
    while (!open.empty()) {
        const auto reg = static_cast<size_t>(open.back());
        open.pop_back();
        if (const ElementType own = kernel.registers[reg].type; is_float(own)) return own;
        for (const uint32_t at : near.users[reg]) {
            const ptx::Instruction& user = kernel.instructions[at];
            // A half of something wider is no number by itself.
            if (user.op == ptx::Op::Mov && user.operands[1].kind == ptx::Operand::Kind::Vector)
                return ElementType::B32;
            if (const auto type = taken_for(user)) {
                if (is_float(*type) && size_of(*type) == 4) return *type;
                if (!integer || is_signed(*type)) integer = type;
            } else if (user.op == ptx::Op::Mov || user.op == ptx::Op::Shfl) {
                for (size_t d = 0; d < user.destinations && d < user.operands.size(); ++d)
                    each_register(user.operands[d], enter);
            }
        }
    }
    for (const int32_t reg : first)
        for (const uint32_t at : near.makers[static_cast<size_t>(reg)]) {
            const ptx::Instruction& maker = kernel.instructions[at];
            if (maker.op == ptx::Op::Mov && maker.operands[0].kind == ptx::Operand::Kind::Vector)
                return ElementType::B32;
            const ElementType type = maker.type;
            if (!integer && (is_float(type) || is_signed(type) || type == ElementType::U32)) integer = type;
        }
    return integer && size_of(*integer) == 4 ? *integer : ElementType::B32;
}

std::string value_words(Value value, ElementType type) {
    if (size_of(type) == size_of(value.type)) value.type = type;
    return short_value(value);
}

// The lane that all of them read; none where they read several.
std::optional<uint32_t> only_source(const ExchangeView& view) {
    const uint32_t readers = view.mask & ~view.outside;
    if (readers == 0) return std::nullopt;
    const uint32_t first = view.from[static_cast<size_t>(std::countr_zero(readers))];
    bool same = true;
    for_lanes(readers, [&](uint32_t lane) { same = same && view.from[lane] == first; });
    return same ? std::optional(first) : std::nullopt;
}

const char* reduced_by(ptx::Atomic how) {
    switch (how) {
        case ptx::Atomic::Add: return "adds up its lanes' values";
        case ptx::Atomic::Min: return "finds the least of its lanes' values";
        case ptx::Atomic::Max: return "finds the greatest of its lanes' values";
        case ptx::Atomic::And: return "ands its lanes' values";
        case ptx::Atomic::Or: return "ors its lanes' values";
        default: return "xors its lanes' values";
    }
}

// "all 32 lanes", "20 of 32 lanes"
std::string out_of(uint64_t some, uint64_t all) {
    return some == all ? fmt::format("all {}", counted(all, "lane"))
           : some == 0 ? fmt::format("none of {}", counted(all, "lane"))
                       : fmt::format("{} of {}", some, counted(all, "lane"));
}

// What a vote of one group comes to.
std::string outcome_of(const ExchangeView& view) {
    const bool all = view.yes == view.mask, any = view.yes != 0;
    if (view.what == Exchange::VoteBallot) return fmt::format("each gets the mask {:#010x}", view.yes);
    const bool holds = view.what == Exchange::VoteAll   ? all
                       : view.what == Exchange::VoteAny ? any
                                                        : all || !any;
    return holds ? "each gets true" : "each gets false";
}

}  // namespace

uint32_t ExchangeView::moved() const {
    uint32_t lanes = 0;
    if (shuffles())
        for_lanes(mask & ~outside & ~absent,
                  [&](uint32_t lane) { lanes |= from[lane] != lane ? 1u << lane : 0u; });
    return lanes;
}

std::optional<uint32_t> ExchangeView::distance() const {
    if (!shuffles() || what == Exchange::ShuffleIdx) return std::nullopt;
    std::optional<uint32_t> all;
    bool same = true;
    for_lanes(mask & ~outside, [&](uint32_t lane) {
        const uint32_t here = what == Exchange::ShuffleUp     ? lane - from[lane]
                              : what == Exchange::ShuffleDown ? from[lane] - lane
                                                              : from[lane] ^ lane;
        same = same && here == all.value_or(here);
        all = here;
    });
    return same ? all : std::nullopt;
}

ExchangeView exchange_view(const trace::Trace& trace, const BlockIndex& index,
                           const playback::BlockReplay* replay, uint32_t step) {
    ExchangeView view;
    if (step >= index.steps) return view;
    const trace::Access access = trace::decode(trace, index.first + step);
    const ptx::Site& site = trace.sites[access.site];
    if (site.kind != ptx::SiteKind::Exchange) return view;
    view.what = site.exchange;
    view.how = site.atomic;
    if (const ptx::Kernel* const kernel = trace.module ? trace::kernel_of(trace, *trace.module) : nullptr;
        kernel != nullptr && view.what == Exchange::Multiply &&
        site.instruction < kernel->instructions.size())
        view.form = matrix_form(kernel->instructions[site.instruction]);
    for (uint32_t before = access.site; before > 0 && goes_on(trace.sites[before - 1], trace.sites[before]);
         --before)
        ++view.tiles;
    view.mask = access.mask;
    std::vector<std::pair<uint64_t, uint32_t>>
        groups;  // what their lanes have in common, and which these are
    for_lanes(access.mask, [&](uint32_t lane) {
        const uint64_t of = access.offset[lane];
        const uint32_t bit = 1u << lane;
        view.from[lane] = static_cast<uint32_t>(of % kWarpSize);
        if (ptx::is_vote(view.what)) {
            view.from[lane] = lane;
            view.yes |= static_cast<uint32_t>(of) & bit;
        } else if (view.shuffles()) {
            if (of >= ptx::kOutside) view.outside |= bit;
            if ((access.mask >> view.from[lane] & 1) == 0) view.absent |= bit;
            return;
        }
        const auto known = std::ranges::find(groups, of, &std::pair<uint64_t, uint32_t>::first);
        if (known == groups.end())
            groups.emplace_back(of, bit);
        else
            known->second |= bit;
    });
    for (const auto& [common, lanes] : groups) view.groups.push_back(lanes);
    // What lanes hold of a product is more than one value each.
    if (replay == nullptr || step >= replay->steps() || view.what == Exchange::Multiply) return view;
    view.valued = true;
    const ElementType type =
        access.site < index.exchanged.size() ? index.exchanged[access.site] : ElementType::B32;
    for_lanes(access.mask, [&](uint32_t lane) {
        const Value got = replay->value(step, lane, 0), gave = replay->value(step, lane, 1);
        const bool mask = view.what == Exchange::VoteBallot || ptx::is_match(view.what);
        const bool truth = ptx::is_vote(view.what);
        view.gives[lane] = truth ? (gave.bits != 0 ? "true" : "false") : value_words(gave, type);
        view.gets[lane] = mask    ? fmt::format("{:#010x}", got.bits)
                          : truth ? (got.bits != 0 ? "true" : "false")
                                  : value_words(got, type);
    });
    return view;
}

uint32_t giver_of(uint32_t lane, uint32_t element) {
    const ptx::MovedPlace at = ptx::moved_place(lane, element, true);
    return 4u * at.row + at.column / 2;  // as the matrix lies that is given
}

std::vector<ElementType> exchanged_types(const trace::Trace& trace) {
    std::vector<ElementType> types(trace.sites.size(), ElementType::B32);
    const ptx::Kernel* const kernel = trace.module ? trace::kernel_of(trace, *trace.module) : nullptr;
    if (kernel == nullptr || !ptx::has_exchanges(trace.sites)) return types;
    const Neighbours near(*kernel);
    for (const ptx::Site& site : trace.sites) {
        if (site.kind != ptx::SiteKind::Exchange || site.instruction >= kernel->instructions.size()) continue;
        const ptx::Instruction& made = kernel->instructions[site.instruction];
        if (site.exchange == Exchange::Reduce) types[site.id] = made.type;
        if (!ptx::is_shuffle(site.exchange) && !ptx::is_match(site.exchange)) continue;
        std::vector<int32_t> first;  // what is given and, of a shuffle, what is got
        each_register(made.operands[made.destinations], [&](int32_t reg) { first.push_back(reg); });
        if (ptx::is_shuffle(site.exchange))
            each_register(made.operands[0], [&](int32_t reg) { first.push_back(reg); });
        types[site.id] = type_of(*kernel, near, first);
    }
    return types;
}

std::string exchange_title(const ExchangeView& view) {
    switch (view.what) {
        case Exchange::ShuffleUp:
        case Exchange::ShuffleDown: {
            const char* const way = view.what == Exchange::ShuffleUp ? "up" : "down";
            const auto distance = view.distance();
            return distance ? fmt::format("shuffles {} by {}", way, *distance)
                            : fmt::format("shuffles {}", way);
        }
        case Exchange::ShuffleXor: {
            const auto distance = view.distance();
            return distance ? fmt::format("shuffles by xor {}", *distance) : "shuffles by xor";
        }
        case Exchange::ShuffleIdx: {
            const auto lane = only_source(view);
            return lane ? fmt::format("shuffles from lane {}", *lane) : "shuffles by lane number";
        }
        case Exchange::VoteAll: return "votes: all?";
        case Exchange::VoteAny: return "votes: any?";
        case Exchange::VoteUni: return "votes: all the same?";
        case Exchange::VoteBallot: return "votes by ballot";
        case Exchange::MatchAny: return "matches its lanes' values";
        case Exchange::MatchAll: return "matches: all the same?";
        case Exchange::Transpose: return "transposes a matrix";
        case Exchange::Multiply:
            return view.form
                       ? fmt::format("multiplies {} × {} × {}", view.form->m, view.form->n, view.form->k)
                   : view.tiles > 0 ? "multiplies its rows of a warpgroup's matrices"
                                    : "multiplies matrices";
        default: return reduced_by(view.how);
    }
}

namespace {

// Which fragments the lanes give to a product; what is not theirs lies in shared memory.
const char* given_fragments(const ExchangeView& view) {
    return view.tiles == 0 ? "A, B and C" : view.tiles == 1 ? "A and C" : "C";
}

// The verdict without its cost.
std::string exchange_words(const ExchangeView& view) {
    const uint64_t all = count_of(view.mask);
    std::string text;
    if (view.shuffles()) {
        const uint64_t moved = count_of(view.moved()), absent = count_of(view.absent),
                       own = all - moved - absent;
        if (moved > 0)
            text = fmt::format("{} {} another lane's value", counted(moved, "lane"),
                               moved == 1 ? "gets" : "get");
        if (own > 0 && moved > 0)
            text += fmt::format(", {} {} own", own, own == 1 ? "keeps its" : "keep their");
        if (own > 0 && moved == 0)
            text =
                fmt::format("{} {} own value", counted(own, "lane"), own == 1 ? "keeps its" : "keep their");
        if (absent > 0)
            text += fmt::format("{}{} {} a lane that takes no part: what {} is undefined",
                                text.empty() ? "" : "; ", counted(absent, "lane"),
                                absent == 1 ? "reads" : "read", absent == 1 ? "it gets" : "they get");
    } else if (ptx::is_vote(view.what)) {
        const uint64_t yes = count_of(view.yes);
        text = fmt::format("{} {} for it", out_of(yes, all), yes == 1 ? "votes" : "vote");
        text += view.groups.size() == 1 ? ", " + outcome_of(view)
                                        : fmt::format(", in {} teams, each for itself", view.groups.size());
    } else if (view.what == Exchange::Transpose) {
        text = fmt::format("{} give two elements of 8 × 8 each, and get those of the transposed matrix",
                           counted(all, "lane"));
    } else if (view.what == Exchange::Multiply) {
        text = fmt::format("{} give their fragments of {}, and each gets its own of D", counted(all, "lane"),
                           given_fragments(view));
    } else if (ptx::is_match(view.what)) {
        const uint64_t values = view.groups.size();
        text = values == 1 ? fmt::format("{} hold one value", out_of(all, all))
                           : fmt::format("{} hold {} different values", counted(all, "lane"), values);
        text += view.what == Exchange::MatchAny ? ", each gets the mask of those that hold its own"
                : values == 1                   ? ", each gets their mask"
                                                : ", each gets an empty mask";
    } else {
        text = view.groups.size() == 1
                   ? fmt::format("{} {}", counted(all, "lane"),
                                 all == 1 ? "gets its own value"
                                          : "give a value each, and each gets what these make together")
                   : fmt::format("{} teams of lanes, whose values become one each", view.groups.size());
    }
    return text;
}

}  // namespace

std::string exchange_verdict(const ExchangeView& view) {
    if (view.tiles > 0)
        return fmt::format("{}; {} from shared memory: 1 instruction", exchange_words(view),
                           view.tiles == 1 ? "B comes" : "A and B come");
    return exchange_words(view) + ": 1 instruction, no memory";
}

std::string exchange_of_lane(const ExchangeView& view, uint32_t lane) {
    if ((view.mask >> lane & 1) == 0) return "";
    const bool valued = view.valued;
    if (view.shuffles()) {
        const uint32_t from = view.from[lane];
        if (view.absent >> lane & 1)
            return fmt::format("lane {} reads lane {}, which takes no part", lane, from);
        if (from == lane)
            return fmt::format("lane {} keeps its own{}", lane, valued ? " " + view.gets[lane] : " value");
        return fmt::format("lane {} gets lane {}'s {}", lane, from, valued ? view.gets[lane] : "value");
    }
    if (ptx::is_vote(view.what))
        return fmt::format("lane {} votes {}{}", lane, view.yes >> lane & 1 ? "for it" : "against it",
                           valued ? fmt::format(" and gets {}", view.gets[lane]) : "");
    if (view.what == Exchange::Multiply)
        return fmt::format("lane {} gives its fragments of {} and gets its own of D", lane,
                           given_fragments(view));
    if (view.what == Exchange::Transpose)
        return fmt::format("lane {} gets the {} halves of lanes {} and {}{}", lane,
                           ptx::moved_place(lane, 0, true).column % 2 == 0 ? "lower" : "upper",
                           giver_of(lane, 0), giver_of(lane, 1), valued ? ": " + view.gets[lane] : "");
    if (!valued) return fmt::format("lane {} gives its value", lane);
    return fmt::format("lane {} gives {} and gets {}", lane, view.gives[lane], view.gets[lane]);
}

std::string exchange_caption(const ExchangeView& view, uint32_t warp) {
    const std::string title = fmt::format("Warp {} {}", warp, exchange_title(view));
    const char* const mark = title.ends_with('?') ? " " : ": ";
    const uint32_t moved = view.moved();
    if (!view.shuffles() || moved == 0) {
        std::string verdict = exchange_words(view);
        if (*mark == ' ')
            verdict[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(verdict[0])));
        if (view.what == Exchange::Reduce && view.valued && view.groups.size() == 1)
            verdict = fmt::format("each of {} gets {}", counted(count_of(view.mask), "lane"),
                                  view.gets[static_cast<size_t>(std::countr_zero(view.mask))]);
        return fmt::format("{}{}{}.", title, mark, verdict);
    }
    const auto first = static_cast<uint32_t>(std::countr_zero(moved));
    std::string text = fmt::format("{}: {}", title, exchange_of_lane(view, first));
    if (const uint32_t rest = moved & (moved - 1); rest != 0) {
        const auto second = static_cast<uint32_t>(std::countr_zero(rest));
        text += ", " + exchange_of_lane(view, second);
        if ((rest & (rest - 1)) != 0) text += " and so on";
    }
    const uint64_t kept = count_of(view.mask & ~moved & ~view.absent), absent = count_of(view.absent);
    if (kept > 0)
        text += fmt::format("; {} {} own", counted(kept, "lane"), kept == 1 ? "keeps its" : "keep their");
    if (absent > 0)
        text += fmt::format("; {} {} one that takes no part", counted(absent, "lane"),
                            absent == 1 ? "reads" : "read");
    return text + ".";
}

}  // namespace tilescope::look
