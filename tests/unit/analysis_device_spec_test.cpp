// Device files that are damaged: every field is checked, and the sentence names the file and the field.
#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/limits/device_spec.h"
#include "tests/unit/analysis_sm.h"

namespace tilescope::analysis {
namespace {

using Json = nlohmann::json;

Json good_capability() {
    return {{"major", 8},
            {"minor", 6},
            {"warp_size", 32},
            {"threads_per_block", 1024},
            {"threads_per_sm", 1536},
            {"blocks_per_sm", 16},
            {"registers_per_sm", 65536},
            {"registers_per_block", 65536},
            {"registers_per_thread", 255},
            {"shared_per_sm", 102400},
            {"shared_per_block", 49152},
            {"shared_per_block_optin", 101376},
            {"shared_reserved", 1024},
            {"shared_sizes_kib", {0, 8, 16, 32, 64, 100}},
            {"register_unit", "warp"},
            {"register_granularity", 256},
            {"warp_granularity", 4},
            {"shared_granularity", 128},
            {"source", "a table"}};
}

Json good_limits() { return {{"schema", "tilescope.sm-limits/1"}, {"capabilities", {good_capability()}}}; }

Json good_device() {
    return {{"schema", "tilescope.device/1"},
            {"id", "one"},
            {"name", "One"},
            {"chip", "C1"},
            {"major", 8},
            {"minor", 6},
            {"sms", 82},
            {"memory_gbs", 936.2},
            {"peak_gflops", 35580},
            {"source", "a table"}};
}

std::string limits_refused(const Json& json) {
    const auto limits = sm_limits_from_json(json.dump(), "limits.json");
    EXPECT_FALSE(limits) << json.dump();
    return limits ? std::string() : limits.error().message;
}

std::string device_refused(const Json& json) {
    const auto device = device_from_json(json.dump(), "one.json", {sm_8_6()});
    EXPECT_FALSE(device) << json.dump();
    return device ? std::string() : device.error().message;
}

void expect_says(const std::string& sentence, const std::string& what) {
    EXPECT_NE(sentence.find(what), std::string::npos) << sentence;
    EXPECT_NE(sentence.find(".json'"), std::string::npos) << sentence;
    EXPECT_NE(sentence.back(), '.');
}

TEST(DeviceFiles, AGoodOneIsReadWhole) {
    const auto limits = sm_limits_from_json(good_limits().dump(), "limits.json");
    ASSERT_TRUE(limits) << limits.error().message;
    ASSERT_EQ(limits->size(), 1u);
    const SmLimits want = sm_8_6(), &got = limits->front();
    EXPECT_EQ(got.capability(), "8.6");
    EXPECT_EQ(got.threads_per_sm, want.threads_per_sm);
    EXPECT_EQ(got.blocks_per_sm, want.blocks_per_sm);
    EXPECT_EQ(got.registers_per_sm, want.registers_per_sm);
    EXPECT_EQ(got.shared_per_block_optin, want.shared_per_block_optin);
    EXPECT_EQ(got.shared_sizes, want.shared_sizes);
    EXPECT_EQ(got.register_unit, RegisterUnit::Warp);
    const auto device = device_from_json(good_device().dump(), "one.json", *limits);
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_EQ(device->sms, 82u);
    EXPECT_EQ(device->memory_gbs, 936.2);
    EXPECT_EQ(device->sm.capability(), "8.6");
    EXPECT_EQ(find_limits(*limits, 8, 7), nullptr);
}

TEST(DeviceFiles, AFieldThatIsMissingOrOfAnotherTypeIsNamed) {
    const Json whole = good_device(), capability = good_capability();
    for (const auto& [key, value] : whole.items()) {
        if (key == "schema") continue;
        for (const Json& wrong : {Json(), Json::array(), Json(value.is_string() ? Json(1) : Json("1"))}) {
            Json device = good_device();
            device[key] = wrong;
            expect_says(device_refused(device), key);
        }
        Json without = good_device();
        without.erase(key);
        expect_says(device_refused(without), key);
    }
    for (const auto& [key, value] : capability.items()) {
        Json limits = good_limits();
        limits["capabilities"][0].erase(key);
        expect_says(limits_refused(limits), key);
        limits["capabilities"][0][key] = value.is_string() ? Json(7) : Json("seven");
        expect_says(limits_refused(limits), key);
    }
}

TEST(DeviceFiles, FiguresThatCannotBeAreNamed) {
    const std::pair<const char*, Json> devices[] = {
        {"sms", 0},         {"sms", -1},        {"sms", 1u << 30}, {"memory_gbs", 0},
        {"memory_gbs", -5}, {"peak_gflops", 0}, {"id", ""},        {"name", ""},
        {"source", ""},     {"major", 0},       {"minor", 10},     {"peak_gflops", nullptr}};
    for (const auto& [key, value] : devices) {
        Json device = good_device();
        device[key] = value;
        expect_says(device_refused(device), key);
    }
    const std::pair<const char*, Json> capabilities[] = {{"warp_size", 0},
                                                         {"warp_size", 33},  // 1,536 is no number of those
                                                         {"threads_per_block", 4096},
                                                         {"threads_per_sm", 1000},
                                                         {"blocks_per_sm", 0},
                                                         {"registers_per_block", 65537},
                                                         {"shared_per_block", 200000},
                                                         {"shared_per_block_optin", 102400},
                                                         {"shared_reserved", 2048},
                                                         {"shared_sizes_kib", {0, 8, 8, 100}},
                                                         {"shared_sizes_kib", {0, 8, 96}},
                                                         {"shared_sizes_kib", {-1, 100}},
                                                         {"register_unit", "lane"},
                                                         {"source", ""}};
    for (const auto& [key, value] : capabilities) {
        Json limits = good_limits();
        limits["capabilities"][0][key] = value;
        const std::string sentence = limits_refused(limits);
        EXPECT_NE(sentence.find("entry 1"), std::string::npos) << sentence;
        EXPECT_NE(sentence.find("mend it"), std::string::npos) << sentence;
    }
}

TEST(DeviceFiles, CapabilitiesAreOnceAndInOrder) {
    Json twice = good_limits();
    twice["capabilities"].push_back(good_capability());
    expect_says(limits_refused(twice), "8.6 once and in order");
    Json backwards = good_limits();
    Json older = good_capability();
    older["major"] = 7;
    backwards["capabilities"].push_back(older);
    expect_says(limits_refused(backwards), "7.6 once and in order");
    Json device = good_device();
    device["minor"] = 7;
    expect_says(device_refused(device), "8.7, whose limits are not known");
}

TEST(DeviceFiles, WhatIsNoSuchFileIsSaid) {
    for (const char* text : {"", "nothing", "[]", "{", "7"}) {
        const auto device = device_from_json(text, "one.json", {});
        ASSERT_FALSE(device);
        expect_says(device.error().message, "is not a JSON object");
        ASSERT_FALSE(sm_limits_from_json(text, "limits.json"));
    }
    Json other = good_device();
    other["schema"] = "tilescope.device/2";
    expect_says(device_refused(other), "tilescope.device/1");
    Json none = good_limits();
    none.erase("capabilities");
    expect_says(limits_refused(none), "capabilities");
}

// No cut of a good file may be taken for one, or end in anything but a sentence.
TEST(DeviceFiles, EveryCutIsRefused) {
    const std::string device = good_device().dump(), limits = good_limits().dump();
    for (size_t length = 0; length < device.size(); ++length)
        EXPECT_FALSE(device_from_json(std::string_view(device).substr(0, length), "one.json", {sm_8_6()}));
    for (size_t length = 0; length < limits.size(); ++length)
        EXPECT_FALSE(sm_limits_from_json(std::string_view(limits).substr(0, length), "limits.json"));
}

}  // namespace
}  // namespace tilescope::analysis
