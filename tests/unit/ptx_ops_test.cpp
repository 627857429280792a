// The instruction table: names find their rows, letters say types, rows say how values flow and what is counted.
#include <algorithm>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "core/ptx/ops.h"

namespace tilescope::ptx {
namespace {

Instruction named(const std::string& dotted) {
    Instruction made;
    std::istringstream words(dotted);
    std::getline(words, made.mnemonic, '.');
    for (std::string word; std::getline(words, word, '.');) made.suffixes.push_back(word);
    return made;
}

struct FoundRule {
    std::string name;  // of the row; empty for none
    size_t in_name = 0;
    bool operator==(const FoundRule&) const = default;
};
FoundRule found(const std::string& dotted) {
    FoundRule result;
    const OpRule* rule = find_rule(named(dotted), result.in_name);
    if (rule) result.name = rule->name;
    return result;
}

TEST(PtxOps, RowsAreFoundByTheirNames) {
    for (int i = 0; i <= static_cast<int>(kLastOp); ++i) {
        const std::string name = rule_of(static_cast<Op>(i)).name;
        const auto words = static_cast<size_t>(std::ranges::count(name, '.'));
        EXPECT_EQ(found(name), (FoundRule{name, words}));
        EXPECT_EQ(found(name + ".f32.x"), (FoundRule{name, words})) << "what follows does not matter";
        EXPECT_EQ(name_of(static_cast<Op>(i)), name.substr(0, name.find('.')));
    }
    EXPECT_EQ(found("barrier.cta.red.popc"), (FoundRule{"bar.red", 2}));
    EXPECT_EQ(found("barrier.cta.sync"), (FoundRule{"bar", 0}));
    EXPECT_EQ(found("bar.sync.red"), (FoundRule{"bar", 0}));
    EXPECT_EQ(found("fence.acq_rel"), (FoundRule{"membar", 0}));
    EXPECT_EQ(found("cp.async.bulk.shared::cta.global.x"),
              (FoundRule{"cp.async.bulk.shared::cluster.global", 4}));
    EXPECT_EQ(found("mbarrier.arrive.expect_tx"), (FoundRule{"mbarrier.arrive.expect_tx", 2}));
    EXPECT_EQ(found("cp.reduce.async"), (FoundRule{"cp.async", 0}));
    EXPECT_EQ(found("tex.2d"), FoundRule{});
}

TEST(PtxOps, DestinationsStandBeforeSources) {
    for (int i = 0; i <= static_cast<int>(kLastOp); ++i) {
        const OpRule& rule = rule_of(static_cast<Op>(i));
        bool source = false;
        for (const char letter : std::string_view(rule.operands)) {
            EXPECT_NE(std::string_view("dwDBpoeELMFjsctTuUqQilSyaAzVPnNkfHbKOmIGgvWhrR").find(letter),
                      std::string_view::npos);
            EXPECT_FALSE(source && is_destination(letter)) << rule.name;
            source |= !is_destination(letter);
        }
        const bool touches = rule.site && asks_memory(*rule.site);
        if (touches)
            EXPECT_NE(std::string_view(rule.operands).find_first_of("am"), std::string_view::npos)
                << rule.name;
    }
}

TEST(PtxOps, LettersSayTheTypesOfSources) {
    const auto type = [](Op op, size_t source, Type first, Type second = Type::None, Half half = Half::None) {
        Instruction made;
        made.op = op, made.type = first, made.type2 = second, made.half = half;
        return source_type(made, source);
    };
    EXPECT_EQ(type(Op::Mad, 1, Type::S32, Type::None, Half::Wide), Type::S32);
    EXPECT_EQ(type(Op::Mad, 2, Type::S32, Type::None, Half::Wide), Type::S64);
    EXPECT_EQ(type(Op::Mad, 2, Type::U16, Type::None, Half::Wide), Type::U32);
    EXPECT_EQ(type(Op::Mad, 2, Type::S32, Type::None, Half::Lo), Type::S32);
    EXPECT_EQ(type(Op::Shl, 1, Type::B64), Type::U32);
    EXPECT_EQ(type(Op::Selp, 2, Type::F64), Type::Pred);
    EXPECT_EQ(type(Op::Slct, 2, Type::F64, Type::S32), Type::S32);
    EXPECT_EQ(type(Op::Set, 0, Type::U32, Type::F64), Type::F64);
    EXPECT_EQ(type(Op::Vote, 0, Type::B32), Type::Pred);
    EXPECT_EQ(type(Op::Shfl, 1, Type::B32), Type::U32);
    EXPECT_EQ(type(Op::Match, 0, Type::B64), Type::B64);
}

TEST(PtxOps, RowsSayHowValuesFlow) {
    const auto flow = [](const Operation& operation) { return static_cast<int>(flow_of(operation)); };
    const auto is = [](Dataflow kind) { return static_cast<int>(kind); };
    EXPECT_EQ(flow({.op = Op::Mov, .type = Type::B32}), is(Dataflow::Copy));
    EXPECT_EQ(flow({.op = Op::Mov, .type = Type::Pred}), is(Dataflow::None));
    EXPECT_EQ(flow({.op = Op::Cvt, .type = Type::U32, .type2 = Type::S32}), is(Dataflow::Copy));
    EXPECT_EQ(flow({.op = Op::Cvt, .type = Type::F32, .type2 = Type::S32}), is(Dataflow::Other));
    EXPECT_EQ(flow({.op = Op::Cvt, .type = Type::U64, .type2 = Type::U32}), is(Dataflow::Other));
    EXPECT_EQ(flow({.op = Op::Mul, .type = Type::U32, .half = Half::Lo}), is(Dataflow::Product));
    EXPECT_EQ(flow({.op = Op::Mul, .type = Type::U32, .half = Half::Hi}), is(Dataflow::Other));
    EXPECT_EQ(flow({.op = Op::Add, .type = Type::F32}), is(Dataflow::Sum));
    EXPECT_EQ(flow({.op = Op::Add, .type = Type::U32, .carry_out = true}), is(Dataflow::Other));
    EXPECT_EQ(flow({.op = Op::Fma, .type = Type::F64}), is(Dataflow::Fused));
    EXPECT_EQ(flow({.op = Op::Setp, .type = Type::F32}), is(Dataflow::None));
    EXPECT_EQ(flow({.op = Op::Selp, .type = Type::F32}), is(Dataflow::Choice));
}

TEST(PtxOps, RowsSayWhatIsCounted) {
    EXPECT_EQ(flops_of({.op = Op::Fma, .type = Type::F32}), 2);
    EXPECT_EQ(flops_of({.op = Op::Mad, .type = Type::F32}), 2);
    EXPECT_EQ(flops_of({.op = Op::Add, .type = Type::F64}), 1);
    EXPECT_EQ(flops_of({.op = Op::Rsqrt, .type = Type::F32}), 1);
    EXPECT_EQ(flops_of({.op = Op::Add, .type = Type::S32}), 0);
    EXPECT_EQ(flops_of({.op = Op::Max, .type = Type::F32}), 0);

    const auto is_free_one = [](Op op, Type type, Type type2 = Type::None,
                                StateSpace space = StateSpace::Generic, int32_t guard = -1) {
        Instruction made;
        made.op = op, made.type = type, made.type2 = type2, made.space = space, made.guard = guard;
        return is_free(made);
    };
    EXPECT_TRUE(is_free_one(Op::Mov, Type::F32));
    EXPECT_TRUE(is_free_one(Op::Cvta, Type::U64));
    EXPECT_TRUE(is_free_one(Op::Cvt, Type::U64, Type::U32));
    EXPECT_FALSE(is_free_one(Op::Cvt, Type::F32, Type::U32));
    EXPECT_TRUE(is_free_one(Op::Ld, Type::U64, Type::None, StateSpace::Param));
    EXPECT_FALSE(is_free_one(Op::St, Type::U64, Type::None, StateSpace::Param));
    EXPECT_FALSE(is_free_one(Op::Ld, Type::U64, Type::None, StateSpace::Const));
    EXPECT_TRUE(is_free_one(Op::Bra, Type::None));
    EXPECT_FALSE(is_free_one(Op::Bra, Type::None, Type::None, StateSpace::Generic, 1));
    EXPECT_FALSE(is_free_one(Op::Add, Type::S32));
}

}  // namespace
}  // namespace tilescope::ptx
