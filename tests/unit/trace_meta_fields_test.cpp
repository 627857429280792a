// The fields of the section Meta: what is missing or of another kind is told by its name, and the page about
// the format names all of them.
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/trace/format.h"
#include "tests/file_text.h"

namespace tilescope::trace {
namespace {

using nlohmann::json;

// Says all that a recording can: no field holds its usual value.
Trace with_every_field() {
    Trace trace;
    trace.meta.barrier_fault = {true, 1, 0, 0, 3, 4};
    trace.meta.price = {1, 2, 3, 4, 1000};
    trace.meta.result.wrong_elements = {5, 7};
    trace.meta.findings = {{Finding::Kind::AbsentLanes, true, 1, 8, 9, 2, 3, "lanes do not come"}};
    Array stored, made;
    stored.name = "in";
    stored.type = ElementType::F64;
    stored.rank = 3;
    stored.slices = 2;
    stored.cols = made.cols = 4;
    stored.extents = ExtentSource::Flat;
    stored.symbol = "_in";
    stored.contents.kind = Contents::Kind::Stored;
    made.name = "M";
    made.contents = {Contents::Kind::SmallIntegers, 9, 1, nullptr};
    trace.launch.arrays = {stored, made};
    trace.launch.grid = {2, 1, 1};
    trace.launch.cluster = {2, 1, 1};
    trace.launch.dynamic_shared = 64;
    trace.launch.arguments = {{"in", ElementType::U64, 0, 0, 8},
                              {"n", ElementType::U32, 12},
                              {"by_value", ElementType::B8, 0, -1, 0, {std::byte{0xAB}, std::byte{1}}}};
    trace.sites = {{.id = 0, .kind = ptx::SiteKind::Atomic, .bytes = 4, .atomic = ptx::Atomic::Add},
                   {.id = 1, .bytes = 4, .copy = true}};
    return trace;
}

// Calls visit(object, key) for each member of each object inside, which may change or remove it.
template <class Visit>
void each_member(json& at, const Visit& visit) {
    if (at.is_array())
        for (json& item : at) each_member(item, visit);
    if (!at.is_object()) return;
    std::vector<std::string> keys;
    for (const auto& [key, value] : at.items()) keys.push_back(key);
    for (const std::string& key : keys) {
        each_member(at[key], visit);
        const json kept = at[key];
        visit(at, key);
        at[key] = kept;
    }
}

std::string refusal_of_meta(const json& meta) {
    Trace trace;
    const auto read = meta_from_json(meta.dump(), trace);
    return read ? "" : read.error().message;
}

std::string refusal_of(const std::string& key) {
    return "its field '" + key + "' is missing or holds what it cannot";
}

TEST(MetaFields, ComeBackAsTheyWereWritten) {
    const Trace trace = with_every_field();
    const std::string text = meta_to_json(trace);
    Trace read;
    ASSERT_TRUE(meta_from_json(text, read));
    EXPECT_EQ(meta_to_json(read), text);
    EXPECT_EQ(read.launch.arguments, trace.launch.arguments);
    EXPECT_EQ(read.launch.arrays[1], trace.launch.arrays[1]);
    EXPECT_EQ(read.meta.result.wrong_elements, trace.meta.result.wrong_elements);
    EXPECT_EQ(read.sites[1].id, 1u);
    EXPECT_TRUE(read.meta.barrier_fault.is);
    EXPECT_NE(meta_to_json({}).find("\"arguments\":[]"), std::string::npos) << "an empty list is one";
}

TEST(MetaFields, OfAnotherKindAreRefusedByName) {
    json meta = json::parse(meta_to_json(with_every_field()));
    size_t members = 0;
    each_member(meta, [&](json& object, const std::string& key) {
        const bool list = object[key].is_array();
        const bool real = key == "max_abs_error" || key.ends_with("_ms") || key == "clock_mhz";
        for (const json& wrong : {json(nullptr), json(-2), json(1e300), json::array({json::array()})}) {
            if ((real && wrong.is_number_float()) || (list && wrong.is_array())) continue;
            object[key] = wrong;
            EXPECT_EQ(refusal_of_meta(meta), refusal_of(key)) << wrong;
        }
        ++members;
    });
    EXPECT_GT(members, 75u);
}

TEST(MetaFields, ThatAreMissingAreToldUnlessTheyHaveAUsualValue) {
    const std::set<std::string> usual{"wrong_elements", "barrier_fault", "price",  "offset",
                                      "object",         "findings",      "rank",   "slices",
                                      "extents",        "symbol",        "stored", "seed",
                                      "dynamic_shared", "atomic",        "copy",   "cluster"};
    json meta = json::parse(meta_to_json(with_every_field()));
    ASSERT_EQ(refusal_of_meta(meta), "");
    each_member(meta, [&](json& object, const std::string& key) {
        const bool of_schedule = key == "seed" && object.contains("kind");
        const bool points = key == "array" && object.contains("offset");
        object.erase(key);
        const std::string told =
            usual.contains(key) && !of_schedule ? "" : refusal_of(points ? "value" : key);
        EXPECT_EQ(refusal_of_meta(meta), told);
    });
}

TEST(MetaFields, StandInTheDocs) {
    json meta = json::parse(meta_to_json(with_every_field()));
    const std::string docs = file_text(std::string(TILESCOPE_SOURCE_DIR) + "/docs/file-format.md");
    std::set<std::string> keys;
    each_member(meta, [&](json&, const std::string& key) { keys.insert(key); });
    for (const std::string& key : keys) EXPECT_NE(docs.find("`" + key + "`"), std::string::npos) << key;
}

}  // namespace
}  // namespace tilescope::trace
